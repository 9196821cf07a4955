/* Cases 34 to 41: what the provider is asked. */
#include "observe.h"
#include "support/check.h"

#include <stdio.h>

static const modeld_rule call_then_say[] = {
    {.when = "quick result", .text = "done"}, {.when = "I am", .tool = "look"}, {.text = NULL}};

static hob_agent *flagged(const char *name, unsigned flags) {
    char instruction[80];
    hob_agent_opts o = HOB_AGENT_OPTS_INIT;
    snprintf(instruction, sizeof instruction, "I am %s", name);
    o.name = name;
    o.instruction = instruction;
    o.flags = flags;
    return llm_with(&o);
}

static void with_tool(trial *t, hob_tool *tool) {
    t->h.so.tools = tool;
    t->h.so.ntools = 1;
}

static void case_34(void) {
    const modeld_rule rules[] = {
        {.when = "I am a", .text = "r1"}, {.when = "I am b", .text = "r2"}, {.text = NULL}};
    trial t;
    trial_init(&t, rules);
    trial_open(&t, in_order("both", am("a"), am("b"), NULL));
    host_prompt(&t.h, "go");
    see_lines("the first agent", modeld_talk(t.m, "I am a", 0));
    see_lines("the second agent", modeld_talk(t.m, "I am b", 0));
    host_prompt(&t.h, "more");
    see_lines("the second agent in the next run", modeld_talk(t.m, "I am b", 1));
    trial_finish(&t);
}

/* What a tool returned is each side's own. */
static const char *cut(const char *lines) {
    static char text[8192];
    static const char mark[] = "returned result: ";
    const char *at = strstr(lines, mark);
    if (!at) return lines;
    at += sizeof mark - 1;
    snprintf(text, sizeof text, "%.*s…%s", (int)(at - lines), lines, strchr(at, '\n'));
    return text;
}

static void case_35(void) {
    const modeld_rule rules[] = {
        {.when = "I am root", .tool = "transfer_to_agent", .args = "{'agent_name':'child'}"},
        {.when = "I am child", .text = "mine"},
        {.text = NULL}};
    hob_agent_opts o = HOB_AGENT_OPTS_INIT;
    hob_agent *child = am("child");
    trial t;
    trial_init(&t, rules);
    o.name = "root";
    o.instruction = "I am root";
    trial_open(&t, made_of(&o, &child, 1));
    host_prompt(&t.h, "go");
    see_lines("the agent that was handed over to", cut(modeld_talk(t.m, "I am child", 0)));
    trial_finish(&t);
}

static void order(const hob_tool_call *call, hob_reply *reply, void *user) {
    snprintf(user, 64, "%.*s", HOB_FMT(call->call));
    hob_reply_text(reply, HOB_OUTCOME_OK, hob_str_z("ticket 7"));
}

static void case_36(void) {
    const modeld_rule rules[] = {{.when = "a parcel", .text = "it came"},
                                 {.when = "any news", .text = "not yet"},
                                 {.when = "ticket 7", .text = "ordered"},
                                 {.when = "I am", .tool = "order"},
                                 {.text = NULL}};
    char id[64];
    trial t;
    hob_tool tool = host_tool("order", HOB_TOOL_UNSAFE, NULL);
    tool.run = order;
    tool.user = id;
    tool.flags = HOB_TOOL_LONG_RUNNING;
    trial_init(&t, rules);
    with_tool(&t, &tool);
    trial_open(&t, NULL);
    host_prompt(&t.h, "buy");
    see_int("model calls until the receipt", (int64_t)modeld_count(t.m));
    host_prompt(&t.h, "any news?");
    assert_ok(hob_session_tool_update(t.h.s, hob_str_z(id), HOB_UPDATE_RESULT,
                                      hob_str_z("[{\"type\":\"text\",\"text\":\"a parcel\"}]"),
                                      &t.h.err),
              t.h.err);
    host_wait(&t.h);
    see_lines("the prompt with the result", modeld_talk(t.m, "a parcel", 0));
    trial_finish(&t);
}

static void case_37(void) {
    int ran = 0;
    char call[64];
    hob_page *p;
    trial t;
    hob_tool tool = host_tool("look", HOB_TOOL_UNSAFE, &ran);
    trial_init(&t, call_then_say);
    with_tool(&t, &tool);
    t.h.so.permission_mode = "ask";
    t.h.so.approver = HOB_APPROVER_HOST;
    trial_open(&t, NULL);
    assert_ok(hob_session_prompt(t.h.s, hob_str_z("go"), &t.h.err), t.h.err);
    hob_event_unref(host_until(&t.h, HOB_EVENT_APPROVAL_REQUESTED, NULL, NULL));
    see_int("times it ran before it was allowed", ran);
    assert_ok(hob_session_pending_confirmations(t.h.s, &p, &t.h.err), t.h.err);
    assert_int_equal(sscanf(hob_page_row(p, 0).p, "{\"call\":\"%63[^\"]", call), 1);
    hob_page_destroy(p);
    assert_ok(hob_session_confirm_tool_use(t.h.s, hob_str_z(call), HOB_VERDICT_ALLOW, hob_str_z(""),
                                           &t.h.err),
              t.h.err);
    host_wait(&t.h);
    see_int("times it ran after that", ran);
    see_lines("the prompt with the result", modeld_talk(t.m, "quick result", 0));
    see_lines("answers", said(&t.h));
    trial_finish(&t);
}

static int stored(host *h) {
    hob_page *p;
    assert_ok(hob_session_entries(h->s, 0, &p, &h->err), h->err);
    int n = (int)hob_page_count(p);
    hob_page_destroy(p);
    return n;
}

static void case_38(void) {
    const modeld_rule rules[] = {{.when = "I am", .text = "fine"}, {.text = NULL}};
    trial t;
    trial_init(&t, rules);
    trial_open(&t, NULL);
    host_prompt(&t.h, "go");
    int before = stored(&t.h);
    see_refused("a result of no call",
                hob_session_tool_update(t.h.s, hob_str_z("nosuch"), HOB_UPDATE_RESULT,
                                        hob_str_z("[{\"type\":\"text\",\"text\":\"x\"}]"), NULL));
    see_int("events it leaves", stored(&t.h) - before);
    see_text("the next turn",
             strcmp(host_prompt(&t.h, "more"), "completed") ? "refused" : "accepted");
    see_lines("the prompt of the next turn", modeld_talk(t.m, "more", 0));
    trial_finish(&t);
}

static void case_39(void) {
    hob_tool look = host_tool("look", HOB_TOOL_READ_ONLY, NULL);
    trial t;
    trial_init(&t, call_then_say);
    with_tool(&t, &look);
    trial_open(&t, flagged("a", HOB_AGENT_NO_CONTENTS));
    host_prompt(&t.h, "first");
    host_prompt(&t.h, "second");
    see_lines("the second turn", modeld_talk(t.m, "I am a", 2));
    see_lines("the second turn with its result", modeld_talk(t.m, "I am a", 3));
    trial_finish(&t);
}

static void case_40(void) {
    hob_tool look = host_tool("look", HOB_TOOL_READ_ONLY, NULL);
    trial t;
    trial_init(&t, call_then_say);
    with_tool(&t, &look);
    trial_open(&t, side_by_side("par", flagged("a", HOB_AGENT_NO_CONTENTS),
                                flagged("b", HOB_AGENT_NO_CONTENTS),
                                flagged("c", HOB_AGENT_NO_CONTENTS), NULL));
    host_prompt(&t.h, "go");
    see_lines("a after its call", modeld_talk(t.m, "I am a", 1));
    see_lines("b after its call", modeld_talk(t.m, "I am b", 1));
    see_lines("c after its call", modeld_talk(t.m, "I am c", 1));
    trial_finish(&t);
}

static void set(const hob_tool_call *call, hob_reply *reply, void *user) {
    bool first = memmem(call->args.p, call->args.n, "one", 3) != NULL;
    hob_str delta = hob_str_z(first ? "{\"k\":1,\"a\":1}" : "{\"k\":2,\"b\":2}");
    (void)user;
    hob_reply_state(reply, delta, hob_str_z(""), NULL);
    hob_reply_text(reply, HOB_OUTCOME_OK, hob_str_z(first ? "set one" : "set two"));
}

/* The results in the order in which the model gets them. */
static void see_results(const char *what, host *h) {
    char lines[1024] = "";
    hob_page *p;
    assert_ok(hob_session_history(h->s, &p, &h->err), h->err);
    for (size_t i = 0; i < hob_page_count(p); i++) {
        hob_str row = hob_page_row(p, i);
        const char *at = memmem(row.p, row.n, "\"text\":\"set ", 12);
        size_t n = strlen(lines);
        if (at) snprintf(lines + n, sizeof lines - n, "result set %.3s\n", at + 12);
    }
    hob_page_destroy(p);
    see_lines(what, lines);
}

static void case_41(void) {
    hob_tool tool = host_tool("set", HOB_TOOL_UNSAFE, NULL);
    host h;
    tool.run = set;
    tool.schema = "{\"type\":\"object\"}";
    host_init(&h, "{'rules':[{'when':{'step':1},'reply':[{'tool':'set','args':{'name':'one'}},"
                  "{'tool':'set','args':{'name':'two'}}]},{'reply':[{'text':'done'}]}]}");
    h.so.tools = &tool;
    h.so.ntools = 1;
    h.so.permission_mode = "yolo";
    team_open(&h, am("a"));
    host_prompt(&h, "go");
    see_results("results", &h);
    see_state("state", h.s);
    team_finish(&h);
}

const case_row contents_cases[] = {
    {"ADK-34", case_34, false}, {"ADK-35", case_35, false}, {"ADK-36", case_36, false},
    {"ADK-37", case_37, false}, {"ADK-38", case_38, false}, {"ADK-39", case_39, false},
    {"ADK-40", case_40, false}, {"ADK-41", case_41, false}, {NULL, NULL, false},
};
