/* A real session as a shared one: its conversation as each agent sees it, its state, going on from there. */
#include "support/check.h"
#include "support/stateful.h"
#include "support/tell.h"

#include "log/shared.h"

#include <stdio.h>

static const char script[] =
    "{'rules':[{'when':{'user':'go','step':1},'reply':[{'text':'see'},"
    "{'tool':'set','args':{'delta':{'k':1,'temp:t':1},'read':'a'}},{'tool':'set','args':{}}]},"
    "{'reply':[{'text':'done'}]}]}";

static const char *const roles[] = {"user", "model", "tool"};

/* "role author: content", a line each. */
static void read_history(const hob_shared_snapshot *p, const char *agent, hob_shared_policy policy,
                         char *out, size_t cap) {
    hob_shared_history_opts ho = HOB_SHARED_HISTORY_OPTS_INIT;
    hob_shared_history *h;
    hob_error err;
    ho.agent = hob_str_z(agent);
    ho.policy = policy;
    out[0] = 0;
    assert_ok(hob_shared_snapshot_history(p, &ho, &h, &err), err);
    for (size_t i = 0; i < hob_shared_history_count(h); i++) {
        const hob_shared_content *c = hob_shared_history_at(h, i);
        size_t n = strlen(out);
        snprintf(out + n, cap - n, "%s %.*s: %.*s\n", roles[c->role], HOB_FMT(c->author),
                 HOB_FMT(c->content));
    }
    hob_shared_history_destroy(h);
}

static void test_session_share__conversation_and_state(void **state) {
    hob_shared_snapshot *p;
    hob_tool tool;
    host r;
    hob_str value;
    char text[4096];
    (void)state;
    host_init(&r, script);
    stateful_tool(&r, &tool);
    host_open(&r);
    assert_string_equal(host_prompt(&r, "go"), "completed");
    assert_ok(hob_session_share(r.s, &p, &r.err), r.err);
    host_finish(&r); /* the snapshot outlives the session */
    assert_int_equal(hob_shared_snapshot_len(p), 4);
    assert_int_equal(hob_shared_snapshot_get(p, hob_str_z("k"), &value), 0);
    assert_str(value, "1");
    assert_int_equal(hob_shared_snapshot_get(p, hob_str_z("temp:t"), &value), HOB_ENOENT);
    read_history(p, "model", HOB_SHARED_ISOLATE, text, sizeof text);
    char *calls = strstr(text, "model model: [");
    assert_non_null(calls);
    assert_non_null(strstr(text, "user user: [{\"type\":\"text\",\"text\":\"go\"}]\n"));
    assert_non_null(
        strstr(calls, "\ntool model: [{\"type\":\"tool_result\",\"call\":\"m4.0\",\"name\":\"set\","
                      "\"content\":[{\"type\":\"text\",\"text\":\"absent\"}]},"
                      "{\"type\":\"tool_result\",\"call\":\"m4.1\",\"name\":\"set\",\"content\":"
                      "[{\"type\":\"text\",\"text\":\"absent\"}]}]\n"
                      "model model: [{\"type\":\"text\",\"text\":\"done\"}]\n"));
    hob_shared_snapshot_unref(p);
}

static void test_session_share__another_agent_is_told(void **state) {
    hob_shared_snapshot *p;
    hob_tool tool;
    host r;
    char text[4096];
    (void)state;
    host_init(&r, script);
    stateful_tool(&r, &tool);
    host_open(&r);
    assert_string_equal(host_prompt(&r, "hi"), "completed");
    assert_ok(hob_session_share(r.s, &p, &r.err), r.err);
    read_history(p, "other", HOB_SHARED_ISOLATE, text, sizeof text);
    assert_string_equal(text, "user user: [{\"type\":\"text\",\"text\":\"hi\"}]\n");
    read_history(p, "other", HOB_SHARED_NARRATE, text, sizeof text);
    assert_string_equal(text, "user user: [{\"type\":\"text\",\"text\":\"hi\"}]\n"
                              "user model: [{\"type\":\"text\",\"text\":\"For context:\"},"
                              "{\"type\":\"text\",\"text\":\"[model] said: done\"}]\n");
    hob_shared_snapshot_unref(p);
    host_finish(&r);
}

static void test_session_share__a_shared_session_goes_on_from_it(void **state) {
    hob_shared_opts so = HOB_SHARED_OPTS_INIT;
    hob_shared_snapshot *p;
    hob_shared *shared;
    hob_tool tool;
    host r;
    (void)state;
    host_init(&r, script);
    stateful_tool(&r, &tool);
    host_open(&r);
    assert_string_equal(host_prompt(&r, "go"), "completed");
    assert_ok(hob_session_share(r.s, &p, &r.err), r.err);
    so.snapshot = p;
    so.id = hob_str_z("x");
    assert_ok(hob_shared_create(&so, &shared, &r.err), r.err);
    assert_ok(hob_shared_append_to_history(shared, hob_str_z("user"),
                                           hob_str_z("[{\"type\":\"text\",\"text\":\"more\"}]"),
                                           &r.err),
              r.err);
    assert_int_equal(hob_shared_events_len(shared), 5);
    hob_shared_unref(shared);
    hob_shared_snapshot_unref(p);
    host_finish(&r);
}

/* ---- logs with agents and branches: as a workflow writes them ------------------------------------------------ */

static hob_event *event(uint64_t seq, const char *type, const char *who, const char *data) {
    hob_buf b;
    hob_event *e;
    hob_error err;
    hob_buf_init(&b, 1u << 16);
    hob_buf_addf(&b, "{'v':1,'seq':%llu,'ts':'2026-01-02T03:04:05.000Z','type':'%s',",
                 (unsigned long long)seq, type);
    hob_buf_addf(&b, "'session_id':'s',%s'data':%s}", who, data);
    for (size_t i = 0; i < b.n; i++)
        if (b.p[i] == '\'') b.p[i] = '"';
    assert_ok(hob_event_decode(hob_buf_str(&b), &e, &err), err);
    hob_buf_finish(&b);
    return e;
}

#define SAYS(text) "{'content':[{'type':'text','text':'" text "'}]}"
#define CALLS(id) "{'content':[{'type':'tool_call','call':'" id "','name':'t','args':{}}]}"
#define RESULT(id) "{'call':'" id "','tool':'t','outcome':'error','content':[]}"

static hob_shared_snapshot *snapshot_of(hob_event **events, size_t n) {
    hob_ledger l = {.limits = HOB_LEDGER_LIMITS};
    hob_shared_name *name;
    hob_error err;
    assert_ok(hob_shared_name_create(HOB_STR("s"), HOB_STR("a"), HOB_STR("u"), &name, &err), err);
    assert_ok(hob_ledger_add_log(&l, events, n, &err), err);
    hob_shared_snapshot *p = hob_ledger_snapshot(&l, name);
    hob_shared_name_unref(name);
    hob_ledger_finish(&l);
    for (size_t i = 0; i < n; i++) hob_event_unref(events[i]);
    return p;
}

static void test_session_share__case_27_and_28_agents_of_one_log(void **state) {
    hob_event *events[] = {
        event(1, "user_message", "", SAYS("q")),
        event(2, "assistant_message", "'agent':'A',", CALLS("m2.0")),
        event(3, "tool_finished", "'agent':'A',", RESULT("m2.0")),
        event(4, "assistant_message", "'agent':'B',", SAYS("b")),
        event(5, "assistant_message", "'agent':'A',", SAYS("a2")),
    };
    char text[4096];
    (void)state;
    hob_shared_snapshot *p = snapshot_of(events, HOB_ARRAY_LEN(events));
    read_history(p, "B", HOB_SHARED_ISOLATE, text, sizeof text);
    assert_string_equal(text, "user user: [{\"type\":\"text\",\"text\":\"q\"}]\n"
                              "model B: [{\"type\":\"text\",\"text\":\"b\"}]\n");
    read_history(p, "A", HOB_SHARED_ISOLATE, text, sizeof text);
    assert_string_equal(
        text, "user user: [{\"type\":\"text\",\"text\":\"q\"}]\n"
              "model A: [{\"type\":\"tool_call\",\"call\":\"m2.0\",\"name\":\"t\",\"args\":{}}]\n"
              "tool A: [{\"type\":\"tool_result\",\"call\":\"m2.0\",\"name\":\"t\",\"content\":[],"
              "\"failed\":true}]\n"
              "model A: [{\"type\":\"text\",\"text\":\"a2\"}]\n");
    hob_shared_snapshot_unref(p);
}

static void test_session_share__case_30_branches_of_one_log(void **state) {
    hob_event *events[] = {
        event(1, "user_message", "", SAYS("q")),
        event(2, "assistant_message", "'agent':'w','branch':'p.agent_1',", SAYS("one")),
        event(3, "assistant_message", "'agent':'w','branch':'p.agent_10',", SAYS("ten")),
        event(4, "assistant_message", "'agent':'w','branch':'p',", SAYS("up")),
    };
    hob_shared_history_opts ho = HOB_SHARED_HISTORY_OPTS_INIT;
    hob_shared_history *h;
    (void)state;
    hob_shared_snapshot *p = snapshot_of(events, HOB_ARRAY_LEN(events));
    ho.branch = hob_str_z("p.agent_1");
    assert_int_equal(hob_shared_snapshot_history(p, &ho, &h, NULL), 0);
    assert_int_equal(hob_shared_history_count(h), 3);
    assert_str(hob_shared_history_at(h, 1)->content, "[{\"type\":\"text\",\"text\":\"one\"}]");
    assert_str(hob_shared_history_at(h, 2)->content, "[{\"type\":\"text\",\"text\":\"up\"}]");
    hob_shared_history_destroy(h);
    hob_shared_snapshot_unref(p);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_session_share__conversation_and_state),
        cmocka_unit_test(test_session_share__another_agent_is_told),
        cmocka_unit_test(test_session_share__a_shared_session_goes_on_from_it),
        cmocka_unit_test(test_session_share__case_27_and_28_agents_of_one_log),
        cmocka_unit_test(test_session_share__case_30_branches_of_one_log),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
