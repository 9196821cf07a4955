/* Cases 53 to 61: what a run does with failures, limits, streams and stores that fail. */
#include "observe.h"
#include "support/check.h"

#include <stdio.h>

static void case_53(void) {
    const modeld_rule rules[] = {{.when = "good", .text = "fine"}, {.text = NULL}};
    trial t;
    trial_init(&t, rules); /* what no rule fits is an error of the provider */
    trial_open(&t, NULL);
    see_bool("the run fails", strcmp(host_prompt(&t.h, "bad"), "completed") != 0);
    see_bool("the next run fails", strcmp(host_prompt(&t.h, "good"), "completed") != 0);
    see_lines("the prompt of the next run", modeld_talk(t.m, "good", 0));
    trial_finish(&t);
}

static void case_54(void) {
    const modeld_rule rules[] = {{.tool = "look", .args = "{'n':#}"}, {.text = NULL}};
    hob_tool look = host_tool("look", HOB_TOOL_READ_ONLY, NULL);
    trial t;
    look.schema = "{\"type\":\"object\"}";
    trial_init(&t, rules);
    t.h.so.tools = &look;
    t.h.so.ntools = 1;
    t.h.so.max_turns = 3;
    trial_open(&t, NULL);
    bool ended = !strcmp(host_prompt(&t.h, "go"), "limit");
    see_int("model calls", (int64_t)modeld_count(t.m));
    see_bool("the run ends with an error", ended && hob_result_code(t.h.result) < 0);
    trial_finish(&t);
}

static void broken(const hob_tool_call *call, hob_reply *reply, void *user) {
    (void)call, (void)user;
    hob_reply_text(reply, HOB_OUTCOME_ERROR, hob_str_z("error: it broke"));
}

static void see_failing(const char *name, const char *told, const char *answer) {
    const modeld_rule rules[] = {
        {.when = "tool_result", .text = "I see"}, {.tool = name}, {.text = NULL}};
    hob_tool look = host_tool("look", HOB_TOOL_READ_ONLY, NULL);
    trial t;
    look.run = broken;
    trial_init(&t, rules);
    t.h.so.tools = &look;
    t.h.so.ntools = 1;
    trial_open(&t, NULL);
    host_prompt(&t.h, "go");
    see_bool(told, hob_str_find(modeld_body(t.m, "tool_result", 0), HOB_STR("rror")) >= 0);
    see_lines(answer, said(&t.h));
    trial_finish(&t);
}

static void case_55(void) {
    see_failing("nosuch", "unknown tool: the model is told", "unknown tool: answer");
    see_failing("look", "failing tool: the model is told", "failing tool: answer");
}

static void case_56(void) {
    static const char *const names[] = {"user", "a b", "1a", "", "a-b", "ok_1"};
    for (size_t i = 0; i < HOB_ARRAY_LEN(names); i++) {
        hob_agent_opts o = HOB_AGENT_OPTS_INIT;
        hob_agent *a = NULL;
        char what[32];
        o.name = names[i];
        snprintf(what, sizeof what, "name \"%s\"", names[i]);
        see_refused(what, hob_agent_create(&o, &a, NULL));
        hob_agent_unref(a);
    }
}

/* ---- final events ------------------------------------------------------------------------------------------------ */

static void summarised(const hob_tool_call *call, hob_reply *reply, void *user) {
    (void)call, (void)user;
    hob_reply_skip_summarization(reply);
    hob_reply_text(reply, HOB_OUTCOME_OK, hob_str_z("the answer"));
}

/* Whether the nth event of this type in the run was final. */
static void see_final(host *h, const char *prompt, hob_event_type type, const char *what) {
    assert_ok(hob_session_prompt(h->s, hob_str_z(prompt), &h->err), h->err);
    hob_event *e = host_until(h, type, NULL, NULL);
    see_bool(what, hob_event_is_final(e) > 0);
    hob_event_unref(e);
    host_wait(h);
    while (hob_session_next_event(h->s, 1000, &e) == 1) hob_event_unref(e);
}

static void case_57(void) {
    hob_tool tools[2] = {host_tool("look", HOB_TOOL_READ_ONLY, NULL),
                         host_tool("tell", HOB_TOOL_READ_ONLY, NULL)};
    host h;
    tools[1].run = summarised;
    host_init(&h,
              "{'rules':[{'when':{'user':'look','step':1},'reply':[{'text':'x'},{'tool':'look'}]},"
              "{'when':{'user':'tell','step':1},'reply':[{'tool':'tell'}]},"
              "{'when':{'user':'nothing'},'reply':[]}],'otherwise':[{'text':'x'}]}");
    h.so.tools = tools;
    h.so.ntools = 2;
    team_open(&h, am("a"));
    see_final(&h, "say", HOB_EVENT_ASSISTANT_MESSAGE, "an answer");
    see_final(&h, "nothing", HOB_EVENT_ASSISTANT_MESSAGE, "an answer without content");
    see_final(&h, "say", HOB_EVENT_TEXT_DELTA, "a piece of an answer");
    see_final(&h, "look", HOB_EVENT_ASSISTANT_MESSAGE, "an answer with a call");
    see_final(&h, "look", HOB_EVENT_TOOL_FINISHED, "a result");
    see_final(&h, "tell", HOB_EVENT_TOOL_FINISHED, "a result that is the answer");
    team_finish(&h);
}

/* ---- artifacts ------------------------------------------------------------------------------------------------------ */

static int64_t save(hob_session *s, const char *name, const char *text) {
    hob_artifact_item item = HOB_ARTIFACT_ITEM_INIT;
    hob_error err;
    int64_t version = -1;
    item.name = hob_str_z(name);
    item.bytes = hob_str_z(text);
    assert_ok(hob_session_artifact_save(s, &item, &version, &err), err);
    return version;
}

/* "" = it is not there. */
static const char *loaded(hob_session *s, const char *name, int64_t version) {
    static char text[64];
    hob_artifact *a;
    text[0] = 0;
    if (hob_session_artifact_load(s, hob_str_z(name), version, &a, NULL) < 0) return text;
    snprintf(text, sizeof text, "%.*s", HOB_FMT(hob_artifact_bytes(a)));
    hob_artifact_destroy(a);
    return text;
}

static void case_58(void) {
    char versions[32];
    hob_session *other;
    host h;
    host_init(&h, "{'otherwise':[]}");
    host_open(&h);
    assert_ok(hob_session_create(h.rt, &h.so, &other, &h.err), h.err);
    int64_t first = save(h.s, "plan", "one"), second = save(h.s, "plan", "two");
    snprintf(versions, sizeof versions, "[%lld,%lld]", (long long)first, (long long)second);
    see_json("versions", hob_str_z(versions));
    see_text("the newest", loaded(h.s, "plan", HOB_ARTIFACT_NEWEST));
    see_text("an older one", loaded(h.s, "plan", 0));
    see_bool("one that is not there", !*loaded(h.s, "nosuch", HOB_ARTIFACT_NEWEST));
    save(h.s, "user:plan", "mine");
    see_bool("in another session", *loaded(other, "plan", HOB_ARTIFACT_NEWEST) != 0);
    see_text("the user's in another session", loaded(other, "user:plan", HOB_ARTIFACT_NEWEST));
    hob_session_close(other);
    host_finish(&h);
}

/* ---- streams and stores -------------------------------------------------------------------------------------------- */

static void case_59(void) {
    char text[64] = "", piece[64];
    hob_event *e;
    host h;
    host_init(&h, "{'defaults':{'chunk':4},'otherwise':[{'text':'a long answer'}]}");
    team_open(&h, worker("a", "I am a", "x"));
    host_prompt(&h, "go");
    int changes = 0;
    while (hob_session_next_event(h.s, 1000, &e) == 1) {
        size_t n = strlen(text);
        if (hob_event_type_of(e) == HOB_EVENT_TEXT_DELTA &&
            hob_event_text(e, piece, sizeof piece) > 0)
            snprintf(text + n, sizeof text - n, "%s", piece);
        changes += hob_event_type_of(e) == HOB_EVENT_STATE_CHANGED;
        hob_event_unref(e);
    }
    see_text("pieces add up to", text);
    see_int("pieces that change state", changes - 1); /* the one is of the whole answer */
    see_lines("stored answers", said(&h));
    see_state("state", h.s);
    team_finish(&h);
}

static void case_60(void) {
    int rc, told = 0, calls = 0;
    hob_event *e;
    gate g;
    host h;
    gate_init(&g, "look", HOB_TOOL_READ_ONLY);
    host_init(&h, "{'rules':[{'when':{'step':1},'reply':[{'tool':'look'}]}],"
                  "'otherwise':[{'text':'done'}]}");
    h.ro.store = "sqlite";
    h.so.tools = &g.tool;
    h.so.ntools = 1;
    team_open(&h, am("a"));
    assert_ok(hob_session_prompt(h.s, hob_str_z("go"), &h.err), h.err);
    gate_wait_started(&g, 1);
    host_disk_full(true);
    gate_answer(&g, "quick result");
    while ((rc = hob_session_next_event(h.s, 60000, &e)) == 1) {
        told += hob_event_type_of(e) == HOB_EVENT_TOOL_FINISHED;
        calls += hob_event_type_of(e) == HOB_EVENT_MODEL_CALL_STARTED;
        hob_event_unref(e);
    }
    host_disk_full(false);
    see_bool("the run ends with an error", rc == HOB_ESTORE);
    see_int("results told after it", told);
    see_int("model calls", calls);
    team_finish(&h);
    gate_finish(&g);
}

static void case_61(void) {
    host h;
    host_init(
        &h,
        "{'rules':["
        "{'when':{'system':'I am w1'},'reply':[{'delay_ms':50},{'text':'kept'}]},"
        "{'when':{'system':'I am w2'},'reply':[{'error':{'status':400,'message':'w2 broke'}}]},"
        "{'when':{'system':'I am w3'},'reply':[{'error':{'status':400,'message':'w3 broke'}}]}],"
        "'otherwise':[{'text':'joined'}]}");
    team_open(&h,
              in_order("all",
                       side_by_side("par", worker("w1", "I am w1", "a"), am("w2"), am("w3"), NULL),
                       am("joiner"), NULL));
    see_bool("the run fails", !strcmp(host_prompt(&h, "go"), "failed"));
    hob_str json = hob_result_json(h.result);
    see_text("who is named", hob_str_find(json, HOB_STR("w2 broke")) >= 0 ? "w2" : "another");
    see_state("what the sibling left", h.s);
    see_bool("the one behind runs", *only(said(&h), "joiner: ", true) != 0);
    team_finish(&h);
}

const case_row run_cases[] = {
    {"ADK-53", case_53, false}, {"ADK-54", case_54, false}, {"ADK-55", case_55, false},
    {"ADK-56", case_56, false}, {"ADK-57", case_57, false}, {"ADK-58", case_58, false},
    {"ADK-59", case_59, false}, {"ADK-60", case_60, false}, {"ADK-61", case_61, false},
    {NULL, NULL, false},
};
