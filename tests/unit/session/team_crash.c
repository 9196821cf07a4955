/* Agents that work together, and programs that die: approvals that wait on branches, functions of the host, a store that
 * fails in the middle. The walk over all points of death is harness/crash_team. */
#include "log/view.h"
#include "support/agents.h"
#include "support/check.h"
#include "support/wire_rules.h"

#include <stdio.h>

static const char asking[] =
    "{'rules':[{'when':{'step':1},'reply':[{'tool':'danger'}]},"
    "{'when':{'result':'done'},'reply':[{'text':'it is done'}]}],'otherwise':[{'text':'refused'}]}";

/* Each call leaves a line in a file: it outlives the process. */
static void run_danger(const hob_tool_call *call, hob_reply *reply, void *user) {
    host *h = user;
    char path[300];
    (void)call;
    snprintf(path, sizeof path, "%s/effects", h->dir);
    FILE *f = fopen(path, "a");
    fputs("done\n", f);
    fclose(f);
    hob_reply_text(reply, HOB_OUTCOME_OK, hob_str_z("done"));
}

typedef struct danger {
    host h;
    hob_tool tool;
} danger;

static void danger_init(danger *d, const char *script) {
    host_init(&d->h, script);
    d->tool = host_tool("danger", HOB_TOOL_UNSAFE, NULL);
    d->tool.run = run_danger;
    d->tool.user = &d->h;
    d->h.so.tools = &d->tool;
    d->h.so.ntools = 1;
    d->h.so.approver = HOB_APPROVER_HOST;
    d->h.ro.store = "sqlite";
}

static size_t effects(danger *d) {
    return hob_test_content(&d->h.folder, "effects").n / strlen("done\n");
}

/* The calls that wait, oldest first. */
static size_t waiting(host *h, char calls[4][64]) {
    hob_page *p;
    assert_ok(hob_session_pending_confirmations(h->s, &p, &h->err), h->err);
    size_t n = hob_page_count(p);
    for (size_t i = 0; i < n && i < 4; i++) {
        hob_arena *a = hob_arena_create(0);
        const hob_json *row;
        assert_true(hob_json_parse(a, hob_page_row(p, i), NULL, &row, NULL) >= 0);
        snprintf(calls[i], 64, "%.*s", HOB_FMT(hob_json_get_str(row, "call")));
        hob_arena_destroy(a);
    }
    hob_page_destroy(p);
    return n;
}

static int decide(host *h, const char *call, hob_verdict v) {
    return hob_session_confirm_tool_use(h->s, hob_str_z(call), v, hob_str_z(""), &h->err);
}

static hob_agent *two_and_one(void) {
    return in_order(
        "all",
        side_by_side("par", worker("w1", "I am one", "a"), worker("w2", "I am two", "b"), NULL),
        worker("joiner", "join {a} and {b}", NULL), NULL);
}

/* ADK-37 on branches: two questions wait, are answered once each, and only then anything happens. */
static void test_session_team_crash__case_37_questions_of_two_branches_wait(void **state) {
    danger d;
    host *h = &d.h;
    char calls[4][64];
    (void)state;
    danger_init(&d, asking);
    team_open(h, two_and_one());
    assert_ok(hob_session_prompt(h->s, hob_str_z("go"), &h->err), h->err);
    hob_event_unref(host_until(h, HOB_EVENT_APPROVAL_REQUESTED, NULL, NULL));
    hob_event_unref(host_until(h, HOB_EVENT_APPROVAL_REQUESTED, NULL, NULL));
    assert_int_equal(waiting(h, calls), 2);
    assert_int_equal(hob_session_is_parked(h->s), 1);
    assert_int_equal(effects(&d), 0);
    assert_ok(decide(h, calls[1], HOB_VERDICT_DENY), h->err);
    assert_true(decide(h, calls[1], HOB_VERDICT_ALLOW) < 0); /* once */
    assert_ok(decide(h, calls[0], HOB_VERDICT_ALLOW), h->err);
    hob_event_unref(host_until(h, HOB_EVENT_APPROVAL_REQUESTED, NULL, NULL)); /* the joiner's */
    assert_int_equal(waiting(h, calls), 1);
    assert_ok(decide(h, calls[0], HOB_VERDICT_ALLOW), h->err);
    assert_string_equal(host_wait(h), "completed");
    assert_int_equal(effects(&d), 2);
    assert_int_equal(host_count(h, "approval_requested"), 3);
    assert_int_equal(host_count(h, "approval_resolved"), 3);
    team_finish(h);
}

/* kill -9 while both wait: they go on waiting in the next process, and are asked once. */
static void test_session_team_crash__questions_outlive_the_process(void **state) {
    danger d;
    host *h = &d.h;
    char calls[4][64];
    (void)state;
    danger_init(&d, asking);
    h->so.team = two_and_one();
    host_run_and_kill(h, "go", HOB_EVENT_APPROVAL_REQUESTED, NULL, NULL);
    host_open(h);
    while (waiting(h, calls) < 2) /* the other one's answer may have been lost with the process */
        hob_event_unref(host_until(h, HOB_EVENT_APPROVAL_REQUESTED, NULL, NULL));
    assert_ok(decide(h, calls[0], HOB_VERDICT_ALLOW), h->err);
    assert_ok(decide(h, calls[1], HOB_VERDICT_ALLOW), h->err);
    hob_event_unref(host_until(h, HOB_EVENT_AGENT_STARTED, "agent", "joiner"));
    while (waiting(h, calls) < 1)
        hob_event_unref(host_until(h, HOB_EVENT_APPROVAL_REQUESTED, NULL, NULL));
    assert_ok(decide(h, calls[0], HOB_VERDICT_DENY), h->err);
    assert_string_equal(host_wait(h), "completed");
    assert_int_equal(effects(&d), 2);
    assert_int_equal(host_count(h, "approval_requested"), 3);
    assert_int_equal(host_count(h, "agent_started"), 5);
    assert_int_equal(host_count(h, "agent_finished"), 5);
    team_finish(h);
}

/* The tool is one agent's own: the next process knows it before anything is decided. */
static void test_session_team_crash__a_question_about_a_tool_of_its_own_outlives_the_process(
    void **state) {
    danger d;
    host *h = &d.h;
    char calls[4][64];
    hob_agent_opts o = HOB_AGENT_OPTS_INIT;
    (void)state;
    danger_init(&d, asking);
    o.name = "w1";
    o.instruction = "I am one";
    o.own_tools = &d.tool;
    o.nown_tools = 1;
    h->so.ntools = 0;
    h->so.team = in_order("all", llm_with(&o), NULL);
    host_run_and_kill(h, "go", HOB_EVENT_APPROVAL_REQUESTED, NULL, NULL);
    host_open(h);
    assert_int_equal(waiting(h, calls), 1);
    assert_ok(decide(h, calls[0], HOB_VERDICT_ALLOW), h->err);
    assert_string_equal(host_wait(h), "completed");
    assert_string_equal(host_text(h), "it is done");
    assert_int_equal(effects(&d), 1);
    team_finish(h);
}

/* The conversation could be sent. */
static void check_wire(host *h) {
    hob_view *v = hob_view_create();
    hob_page *p;
    assert_ok(hob_session_entries(h->s, 0, &p, &h->err), h->err);
    for (size_t i = 0; i < hob_page_count(p); i++) {
        hob_arena *a = hob_arena_create(0);
        hob_event *e;
        assert_ok(hob_event_decode(hob_page_row(p, i), &e, &h->err), h->err);
        assert_ok(hob_view_apply(v, e, hob_event_parse(e, a), &h->err), h->err);
        hob_event_unref(e);
        hob_arena_destroy(a);
    }
    hob_test_wire_rules(v->history);
    hob_page_destroy(p);
    hob_view_destroy(v);
}

/* A program that knows nothing of the team: the session itself goes on, and nothing of the others' is left open. */
static void test_session_team_crash__a_session_is_opened_without_its_team(void **state) {
    danger d;
    host *h = &d.h;
    (void)state;
    danger_init(&d, asking);
    h->so.team = two_and_one();
    host_run_and_kill(h, "go", HOB_EVENT_APPROVAL_REQUESTED, NULL, NULL);
    hob_agent_unref(h->so.team);
    h->so.team = NULL;
    host_script(h, "{'otherwise':[{'text':'alone'}]}");
    host_open(h);
    assert_string_equal(host_wait(h), "completed");
    assert_string_equal(host_text(h), "alone");
    assert_int_equal(effects(&d), 0);
    assert_int_equal(host_count(h, "tool_decided"), host_count(h, "tool_finished"));
    assert_true(host_count(h, "agent_started") >= 3);
    assert_int_equal(host_count(h, "agent_started"), host_count(h, "agent_finished"));
    check_wire(h);
    team_finish(h);
}

/* The same with another team, and with one that has some of the agents: each has exactly one end. */
static void goes_on_with(hob_agent *other) {
    danger d;
    host *h = &d.h;
    danger_init(&d, asking);
    h->so.team = two_and_one();
    host_run_and_kill(h, "go", HOB_EVENT_APPROVAL_REQUESTED, NULL, NULL);
    hob_agent_unref(h->so.team);
    h->so.team = other;
    h->so.approver = HOB_APPROVER_NONE;
    h->so.on_unfinished = HOB_UNFINISHED_RESUME;
    host_script(h, "{'otherwise':[{'text':'ours'}]}");
    host_open(h);
    host_wait(h);
    assert_true(host_count(h, "agent_started") > 3);
    assert_int_equal(host_count(h, "agent_started"), host_count(h, "agent_finished"));
    check_wire(h);
    team_finish(h);
}

static void test_session_team_crash__a_session_is_opened_with_another_team(void **state) {
    (void)state;
    goes_on_with(in_order("others", worker("x1", "I am new", NULL), NULL));
}

/* Not resumed, but put to rest. */
static void test_session_team_crash__a_run_without_its_team_is_settled(void **state) {
    danger d;
    host *h = &d.h;
    (void)state;
    danger_init(&d, asking);
    h->so.team = two_and_one();
    host_run_and_kill(h, "go", HOB_EVENT_AGENT_STARTED, "agent", "w1");
    hob_agent_unref(h->so.team);
    h->so.team = NULL;
    h->so.on_unfinished = HOB_UNFINISHED_SETTLE;
    host_open(h);
    assert_string_equal(host_wait(h), "interrupted");
    assert_true(host_count(h, "agent_started") >= 3);
    assert_int_equal(host_count(h, "agent_started"), host_count(h, "agent_finished"));
    team_finish(h);
}

/* ---- functions of the host ------------------------------------------------------------------------------------- */

/* Dies the first time it is called; the second time it answers. */
static void dying(const hob_agent_call *call, hob_reply *reply, void *user) {
    host *h = user;
    (void)call;
    if (hob_test_content(&h->folder, "died").n) {
        hob_reply_text(reply, HOB_OUTCOME_OK, hob_str_z("mine"));
        return;
    }
    hob_test_file(&h->folder, "died", hob_str_z("yes"));
}

static void custom_dies(unsigned flags, const char *status, const char *finished) {
    host h;
    hob_agent_opts o = HOB_AGENT_OPTS_INIT;
    host_init(&h, "{'otherwise':[{'text':'after'}]}");
    h.ro.store = "sqlite";
    o.name = "mine";
    o.kind = HOB_AGENT_CUSTOM;
    o.flags = flags;
    o.run = dying;
    o.user = &h;
    h.so.team = in_order("all", made_of(&o, NULL, 0), worker("b", "b", NULL), NULL);
    host_run_and_kill(&h, "go", HOB_EVENT_CALLBACK_STARTED, NULL, NULL);
    hob_test_file(&h.folder, "died", hob_str_z("yes"));
    host_open(&h);
    assert_string_equal(host_wait(&h), status);
    assert_string_equal(team_log(&h, "callback_", NULL), finished);
    assert_int_equal(host_count(&h, "agent_started"), host_count(&h, "agent_finished"));
    team_finish(&h);
}

static void test_session_team_crash__a_function_whose_process_died_is_unknown(void **state) {
    (void)state;
    custom_dies(
        0, "failed",
        "callback_started [mine]\ncallback_finished [mine] unknown the program stopped while "
        "this agent was at work: it may have done some, all or none of it\n");
}

static void test_session_team_crash__or_called_again_if_that_does_no_harm(void **state) {
    (void)state;
    custom_dies(HOB_AGENT_RESTARTABLE, "completed",
                "callback_started [mine]\ncallback_started [mine] true\n"
                "callback_finished [mine] ok\n");
}

/* ---- a store that fails ------------------------------------------------------------------------------------------- */

/* ADK-60 */
static void test_session_team_crash__case_60_what_cannot_be_stored_ends_the_run(void **state) {
    host h;
    gate g;
    hob_event *e;
    int rc;
    (void)state;
    gate_init(&g, "gate", HOB_TOOL_READ_ONLY);
    host_init(&h, "{'rules':[{'when':{'system':'I am one','step':1},'reply':[{'tool':'gate'}]}],"
                  "'otherwise':[{'text':'done'}]}");
    h.ro.store = "sqlite";
    h.so.tools = &g.tool;
    h.so.ntools = 1;
    team_open(&h, two_and_one());
    assert_ok(hob_session_prompt(h.s, hob_str_z("go"), &h.err), h.err);
    gate_wait_started(&g, 1);
    host_disk_full(true);
    gate_answer(&g, "let go");
    while ((rc = hob_session_next_event(h.s, 60000, &e)) == 1) {
        assert_int_not_equal(hob_event_type_of(e), HOB_EVENT_TOOL_FINISHED); /* nothing after it */
        hob_event_unref(e);
    }
    assert_int_equal(rc, HOB_ESTORE);
    host_disk_full(false);
    host_reopen(&h, HOB_UNFINISHED_RESUME);
    gate_wait_started(&g, 2);
    gate_answer(&g, "let go");
    assert_string_equal(host_wait(&h), "completed");
    assert_int_equal(host_count(&h, "agent_started"), 5);
    assert_int_equal(host_count(&h, "agent_finished"), 5);
    team_finish(&h);
    gate_finish(&g);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_session_team_crash__case_37_questions_of_two_branches_wait),
        cmocka_unit_test(test_session_team_crash__questions_outlive_the_process),
        cmocka_unit_test(
            test_session_team_crash__a_question_about_a_tool_of_its_own_outlives_the_process),
        cmocka_unit_test(test_session_team_crash__a_session_is_opened_with_another_team),
        cmocka_unit_test(test_session_team_crash__a_run_without_its_team_is_settled),
        cmocka_unit_test(test_session_team_crash__a_session_is_opened_without_its_team),
        cmocka_unit_test(test_session_team_crash__a_function_whose_process_died_is_unknown),
        cmocka_unit_test(test_session_team_crash__or_called_again_if_that_does_no_harm),
        cmocka_unit_test(test_session_team_crash__case_60_what_cannot_be_stored_ends_the_run),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
