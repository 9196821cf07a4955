/* Cases 42 to 52: agents that work together, their state, loops, placeholders and callbacks. */
#include "observe.h"
#include "support/check.h"
#include "support/voice.h"

#include <stdio.h>

static void case_42(void) {
    const modeld_rule rules[] = {
        {.when = "I am a", .text = "r1"}, {.when = "shorten", .text = "r2"}, {.text = NULL}};
    trial t;
    trial_init(&t, rules);
    trial_open(
        &t, in_order("all", worker("a", "I am a", "x"), worker("b", "shorten <{x}>", NULL), NULL));
    host_prompt(&t.h, "go");
    see_bool("the instruction has the value", modeld_body(t.m, "shorten <r1>", 0).n > 0);
    see_state("state", t.h.s);
    trial_finish(&t);
}

/* The branches in the log, sorted: there are two. */
static void see_branches(const char *what, host *h) {
    bool one = strstr(host_log(h), "[w1 par.w1]") != NULL;
    bool two = strstr(host_log(h), "[w2 par.w2]") != NULL;
    see_lines(what, one && two ? "par.w1\npar.w2\n" : host_log(h));
}

static void case_43(void) {
    const modeld_rule rules[] = {{.when = "I am w1", .text = "one"},
                                 {.when = "I am w2", .text = "two"},
                                 {.when = "join", .text = "joined"},
                                 {.text = NULL}};
    trial t;
    trial_init(&t, rules);
    trial_open(&t, in_order("all",
                            side_by_side("par", worker("w1", "I am w1", "a"),
                                         worker("w2", "I am w2", "b"), NULL),
                            worker("joiner", "join {a} and {b}", NULL), NULL));
    host_prompt(&t.h, "go");
    see_branches("branches", &t.h);
    see_lines("what w2 sees", modeld_talk(t.m, "I am w2", 0));
    const char *joined = modeld_talk(t.m, "join one and two", 0);
    bool both =
        strstr(joined, "user: [w1] said: one\n") && strstr(joined, "user: [w2] said: two\n");
    see_lines("what the joiner sees", both ? "user: [w1] said: one\nuser: [w2] said: two\n"
                                           : only(joined, " said: ", false));
    see_state("state", t.h.s);
    trial_finish(&t);
}

/* ---- state beside each other ----------------------------------------------------------------------------------- */

static gate waiting; /* w2's first call: until w1 is done */

static void set_k(const hob_tool_call *call, hob_reply *reply, void *user) {
    (void)call, (void)user;
    hob_reply_state(reply, hob_str_z("{\"k\":\"w1 was here\"}"), hob_str_z(""), NULL);
    hob_reply_text(reply, HOB_OUTCOME_OK, hob_str_z("has set k"));
}

static void read_k(const hob_tool_call *call, hob_reply *reply, void *user) {
    char text[80];
    hob_str value = HOB_STR("\"nothing\"");
    (void)user;
    hob_state_get(call->state, hob_str_z("k"), &value);
    snprintf(text, sizeof text, "k is %.*s", (int)value.n - 2, value.p + 1);
    hob_reply_text(reply, HOB_OUTCOME_OK, hob_str_z(text));
}

static void case_44(void) {
    const modeld_rule rules[] = {
        {.when = "has set k", .text = "done"}, {.when = "I am w1", .tool = "set"},
        {.when = "k is", .text = "seen"},      {.when = "go on", .tool = "read"},
        {.when = "I am w2", .tool = "wait"},   {.text = NULL}};
    hob_tool tools[3] = {host_tool("set", HOB_TOOL_UNSAFE, NULL),
                         host_tool("read", HOB_TOOL_READ_ONLY, NULL)};
    trial t;
    tools[0].run = set_k;
    tools[1].run = read_k;
    gate_init(&waiting, "wait", HOB_TOOL_READ_ONLY);
    tools[2] = waiting.tool;
    trial_init(&t, rules);
    t.h.so.tools = tools;
    t.h.so.ntools = 3;
    trial_open(&t, side_by_side("par", am("w1"), am("w2"), NULL));
    assert_ok(hob_session_prompt(t.h.s, hob_str_z("go"), &t.h.err), t.h.err);
    hob_event_unref(host_until(&t.h, HOB_EVENT_AGENT_FINISHED, NULL, NULL)); /* w1's */
    gate_wait_started(&waiting, 1);
    gate_answer(&waiting, "go on");
    host_wait(&t.h);
    see_lines("what the other one reads", only(modeld_talk(t.m, "k is", 0), "result k is", true));
    trial_finish(&t);
    gate_finish(&waiting);
}

/* ---- loops ------------------------------------------------------------------------------------------------------- */

static const char *who_spoke(host *h) {
    static char names[1024];
    size_t n = 0;
    for (const char *line = said(h), *end; (end = strchr(line, '\n')); line = end + 1)
        n += (size_t)snprintf(names + n, sizeof names - n, "%.*s\n", (int)strcspn(line, ":"), line);
    names[n] = 0;
    return names;
}

static void leave(const hob_tool_call *call, hob_reply *reply, void *user) {
    (void)call, (void)user;
    hob_reply_escalate(reply);
    hob_reply_text(reply, HOB_OUTCOME_OK, hob_str_z("has escalated"));
}

/* The critic escalates in the second round. */
static void see_loop(const char *what, bool nested) {
    hob_tool tool = host_tool("leave", HOB_TOOL_READ_ONLY, NULL);
    host h;
    tool.run = leave;
    host_init(&h, "{'rules':["
                  "{'when':{'system':'I am critic','tool':'leave'},'reply':[{'text':'good'}]},"
                  "{'when':{'system':'I am critic','turn':2},'reply':[{'tool':'leave'}]}],"
                  "'otherwise':[{'text':'words'}]}");
    h.so.tools = &tool;
    h.so.ntools = 1;
    h.so.permission_mode = "yolo";
    hob_agent *team = again("inner", 5, am("writer"), am("critic"), am("last"), NULL);
    if (nested) team = again("outer", 1, team, am("outside"), NULL);
    team_open(&h, team);
    host_prompt(&h, "go");
    see_lines(what, who_spoke(&h));
    team_finish(&h);
}

static void case_45(void) {
    see_loop("who spoke", false);
    see_loop("who spoke in nested loops", true);
}

static void case_46(void) {
    hob_agent_opts o = HOB_AGENT_OPTS_INIT;
    hob_agent *one = am("a"), *none = NULL;
    o.name = "loop";
    o.kind = HOB_AGENT_LOOP;
    o.agents = &one;
    o.nagents = 1;
    see_refused("a loop of no rounds", hob_agent_create(&o, &none, NULL));
    see_int("model calls", 0);
    hob_agent_unref(none);
    hob_agent_unref(one);
}

static void case_47(void) {
    const modeld_rule rules[] = {{.when = "I am b", .text = "second"},
                                 {.when = "has escalated", .text = "first"},
                                 {.when = "I am a", .tool = "leave"},
                                 {.text = NULL}};
    hob_tool tool = host_tool("leave", HOB_TOOL_READ_ONLY, NULL);
    trial t;
    tool.run = leave;
    trial_init(&t, rules);
    t.h.so.tools = &tool;
    t.h.so.ntools = 1;
    trial_open(&t, in_order("all", am("a"), am("b"), NULL));
    host_prompt(&t.h, "go");
    see_bool("the agent behind it runs", *only(said(&t.h), "b: ", true) != 0);
    trial_finish(&t);
}

/* ---- placeholders -------------------------------------------------------------------------------------------------- */

static const modeld_rule say_words[] = {{.text = "words"}, {.text = NULL}};

static void case_48(void) {
    trial t;
    trial_init(&t, say_words);
    trial_open(&t, worker("a", "say {missing}", NULL));
    see_bool("the run fails", !strcmp(host_prompt(&t.h, "go"), "failed"));
    see_int("model calls", (int64_t)modeld_count(t.m));
    trial_finish(&t);
}

static hob_str system_of(const hob_json *body) {
    const hob_json *system = hob_json_get(body, "system");
    if (hob_json_is(system, HOB_JSON_STRING)) return hob_json_str(system);
    return hob_json_get_str(hob_json_first(system), "text");
}

static void see_instruction(const char *what, const char *instruction) {
    hob_arena *a = hob_arena_create(0);
    const hob_json *body;
    char text[128];
    trial t;
    trial_init(&t, say_words);
    t.h.so.state = hob_str_z("{\"name\":\"Ada\",\"obj\":{\"n\":1},\"n\":1,\"app:a\":\"all\"}");
    trial_open(&t, worker("a", instruction, NULL));
    host_prompt(&t.h, "go");
    assert_true(hob_json_parse(a, modeld_body(t.m, "", 0), NULL, &body, NULL) >= 0);
    hob_str s = system_of(body);
    const char *from = memchr(s.p, '<', s.n), *to = memchr(s.p, '>', s.n);
    snprintf(text, sizeof text, "%.*s", from && to ? (int)(to + 1 - from) : 0, from ? from : "");
    see_text(what, text);
    hob_arena_destroy(a);
    trial_finish(&t);
}

static void case_49(void) {
    see_instruction("optional", "<{opt?}>");
    see_instruction("doubled braces", "<{{name}}>");
    see_instruction("bad key", "<{bad-key}>");
    see_instruction("object", "<{obj}>");
    see_instruction("string", "<{name}>");
    see_instruction("number", "<{n}>");
    see_instruction("another scope", "<{app:a}>");
}

/* ---- who goes on ------------------------------------------------------------------------------------------------------ */

static void see_next(const char *what, unsigned flags) {
    const modeld_rule rules[] = {
        {.when = "I am child", .text = "the child"},
        {.when = "and now", .text = "the root"},
        {.when = "I am root", .tool = "transfer_to_agent", .args = "{'agent_name':'child'}"},
        {.text = NULL}};
    hob_agent_opts root = HOB_AGENT_OPTS_INIT, o = HOB_AGENT_OPTS_INIT;
    char last[64] = "";
    trial t;
    trial_init(&t, rules);
    o.name = "child";
    o.instruction = "I am child";
    o.flags = flags;
    hob_agent *child = llm_with(&o);
    root.name = "root";
    root.instruction = "I am root";
    trial_open(&t, made_of(&root, &child, 1));
    host_prompt(&t.h, "hi");
    host_prompt(&t.h, "and now");
    for (const char *line = said(&t.h), *end; (end = strchr(line, '\n')); line = end + 1)
        snprintf(last, sizeof last, "%.*s", (int)(end - line), line);
    see_text(what, last);
    trial_finish(&t);
}

static void case_50(void) {
    see_next("after a hand-over", 0);
    see_next("after one that cannot hand back", HOB_AGENT_NO_PARENT_TRANSFER);
}

/* ---- callbacks --------------------------------------------------------------------------------------------------------- */

static void see_journal(const char *what, const char *journal) {
    char lines[JOURNAL_MAX];
    size_t n = 0;
    for (; journal[n]; n++) lines[n] = journal[n] == ' ' ? '\n' : journal[n];
    lines[n] = 0;
    see_lines(what, lines);
}

static void case_51(void) {
    const modeld_rule rules[] = {{.when = "I am two", .text = "two"}, {.text = NULL}};
    char journal[JOURNAL_MAX] = "";
    voice own;
    trial t;
    trial_init(&t, rules);
    voice_init(&own, "A", journal);
    own.says[BEFORE_AGENT] = "not me";
    trial_open(&t, in_order("all", voice_agent("one", &own), am("two"), NULL));
    host_prompt(&t.h, "go");
    see_lines("content before an agent", said(&t.h));
    trial_finish(&t);
    voice_finish(&own);
    trial_init(&t, rules);
    voice_init(&own, "A", journal);
    own.says[BEFORE_MODEL] = "cached";
    trial_open(&t, voice_agent("one", &own));
    host_prompt(&t.h, "go");
    see_lines("content before the model", said(&t.h));
    see_lines("callbacks after that", strstr(journal, "after_model") ? "after_model\n" : "");
    see_int("model calls", (int64_t)modeld_count(t.m));
    trial_finish(&t);
    voice_finish(&own);
}

static void noted(const hob_tool_call *call, hob_reply *reply, void *user) {
    (void)call;
    voice_note(user, "tool");
    hob_reply_text(reply, HOB_OUTCOME_OK, hob_str_z("quick result"));
}

static void case_52(void) {
    talked f;
    voice own, none;
    talked_init(&f, "memory");
    voice_init(&own, "A", f.journal);
    voice_init(&none, "", f.journal);
    f.tool.run = noted;
    f.tool.user = &none;
    talked_open(&f, voice_agent("one", &own));
    host_prompt(&f.h, "go");
    see_journal("order", f.journal);
    talked_finish(&f);
    voice_finish(&own);
    voice_finish(&none);
    talked_init(&f, "memory");
    voice_init(&own, "A", f.journal);
    voice_only(&f.plugin, BEFORE_MODEL);
    voice_only(&own, BEFORE_MODEL);
    f.plugin.says[BEFORE_MODEL] = "no need to ask";
    talked_open(&f, voice_agent("one", &own));
    host_prompt(&f.h, "go");
    see_journal("order when the first answers", f.journal);
    see_lines("answer when the first answers", said(&f.h));
    talked_finish(&f);
    voice_finish(&own);
}

const case_row agent_cases[] = {
    {"ADK-42", case_42, false}, {"ADK-43", case_43, false}, {"ADK-44", case_44, false},
    {"ADK-45", case_45, false}, {"ADK-46", case_46, false}, {"ADK-47", case_47, false},
    {"ADK-48", case_48, false}, {"ADK-49", case_49, false}, {"ADK-50", case_50, false},
    {"ADK-51", case_51, false}, {"ADK-52", case_52, false}, {NULL, NULL, false},
};
