/* Approvals: a durable wait. */
/* ctest: labels=snapshots */
#include "support/check.h"
#include "support/host.h"

static const char script[] =
    "{'rules':[{'when':{'step':1},'reply':[{'tool':'danger','args':{'n':1}}]},"
    "{'when':{'failed':true},'reply':[{'text':'refused: {{result}}'}]},"
    "{'reply':[{'text':'done: {{result}}'}]}]}";

typedef struct danger {
    host r;
    int ran;
    hob_tool tool;
    char id[64];
} danger;

static void run_danger(const hob_tool_call *call, hob_reply *reply, void *user) {
    (void)call;
    ++*(int *)user;
    hob_reply_text(reply, HOB_OUTCOME_OK, hob_str_z("boom"));
}

static void danger_init(danger *d, hob_approver approver) {
    host_init(&d->r, script);
    d->ran = 0;
    d->tool = (hob_tool)HOB_TOOL_INIT;
    d->tool.name = "danger";
    d->tool.description = "does something that cannot be undone";
    d->tool.schema = "{\"type\":\"object\",\"properties\":{\"n\":{\"type\":\"integer\"}}}";
    d->tool.run = run_danger;
    d->tool.user = &d->ran;
    d->r.so.tools = &d->tool;
    d->r.so.ntools = 1;
    d->r.so.approver = approver;
    d->r.ro.store = "sqlite";
    host_open(&d->r);
    hob_session_id(d->r.s, d->id, sizeof d->id);
}

static void danger_reopen(danger *d) {
    host_close(&d->r);
    d->r.so.choice = HOB_SESSION_OPEN;
    d->r.so.id = d->id;
    host_open(&d->r);
}

static void danger_ask(danger *d) {
    assert_ok(hob_session_prompt(d->r.s, hob_str_z("go"), &d->r.err), d->r.err);
    hob_event_unref(host_until(&d->r, HOB_EVENT_APPROVAL_REQUESTED, NULL, NULL));
}

static void test_session_approval__nobody_to_ask_is_a_denied_result(void **state) {
    danger d;
    (void)state;
    danger_init(&d, HOB_APPROVER_NONE);
    assert_string_equal(host_prompt(&d.r, "go"), "completed");
    assert_int_equal(d.ran, 0);
    assert_non_null(
        strstr(host_text(&d.r), "refused: denied: it needs an approval and nobody can be asked"));
    assert_non_null(strstr(host_log(&d.r), "tool_decided m4.0 danger deny"));
    host_finish(&d.r);
}

static void test_session_approval__approved_runs_once(void **state) {
    danger d;
    hob_page *p;
    (void)state;
    danger_init(&d, HOB_APPROVER_HOST);
    danger_ask(&d);
    assert_int_equal(hob_session_is_parked(d.r.s), 1);
    assert_ok(hob_session_pending_confirmations(d.r.s, &p, &d.r.err), d.r.err);
    assert_int_equal(hob_page_count(p), 1);
    hob_page_destroy(p);
    assert_ok(hob_session_confirm_tool_use(d.r.s, hob_str_z("m4.0"), HOB_VERDICT_ALLOW,
                                           hob_str_z(""), &d.r.err),
              d.r.err);
    assert_string_equal(host_wait(&d.r), "completed");
    assert_string_equal(host_text(&d.r), "done: boom");
    assert_int_equal(d.ran, 1);
    host_finish(&d.r);
}

static void test_session_approval__denied_with_a_reason(void **state) {
    danger d;
    (void)state;
    danger_init(&d, HOB_APPROVER_HOST);
    danger_ask(&d);
    assert_ok(hob_session_confirm_tool_use(d.r.s, hob_str_z("m4.0"), HOB_VERDICT_DENY,
                                           hob_str_z("not today"), &d.r.err),
              d.r.err);
    assert_string_equal(host_wait(&d.r), "completed");
    assert_string_equal(host_text(&d.r), "refused: denied: not today");
    assert_int_equal(d.ran, 0);
    host_finish(&d.r);
}

static void test_session_approval__is_answered_once(void **state) {
    danger d;
    (void)state;
    danger_init(&d, HOB_APPROVER_HOST);
    danger_ask(&d);
    assert_int_equal(hob_session_confirm_tool_use(d.r.s, hob_str_z("m9.9"), HOB_VERDICT_ALLOW,
                                                  hob_str_z(""), &d.r.err),
                     HOB_ENOENT);
    assert_ok(hob_session_confirm_tool_use(d.r.s, hob_str_z("m4.0"), HOB_VERDICT_ALLOW,
                                           hob_str_z(""), &d.r.err),
              d.r.err);
    assert_true(hob_session_confirm_tool_use(d.r.s, hob_str_z("m4.0"), HOB_VERDICT_DENY,
                                             hob_str_z(""), &d.r.err) < 0);
    assert_string_equal(host_wait(&d.r), "completed");
    assert_int_equal(host_count(&d.r, "approval_resolved"), 1);
    assert_int_equal(d.ran, 1);
    host_finish(&d.r);
}

static void test_session_approval__survives_restart(void **state) {
    danger d;
    (void)state;
    danger_init(&d, HOB_APPROVER_HOST);
    danger_ask(&d);
    danger_reopen(&d);
    assert_int_equal(hob_session_is_parked(d.r.s), 1);
    assert_ok(hob_session_confirm_tool_use(d.r.s, hob_str_z("m4.0"), HOB_VERDICT_ALLOW,
                                           hob_str_z(""), &d.r.err),
              d.r.err);
    assert_string_equal(host_wait(&d.r), "completed");
    assert_int_equal(d.ran, 1);
    assert_int_equal(host_count(&d.r, "approval_requested"), 1); /* asked exactly once */
    assert_int_equal(host_count(&d.r, "run_started"), 1);        /* the same run */
    host_finish(&d.r);
}

static void test_session_approval__cancel_withdraws_the_question(void **state) {
    danger d;
    (void)state;
    danger_init(&d, HOB_APPROVER_HOST);
    danger_ask(&d);
    assert_ok(hob_session_cancel_and_settle(d.r.s, HOB_QUEUED_RETURN, 10000, &d.r.err), d.r.err);
    assert_non_null(strstr(host_log(&d.r), "tool_finished m4.0 danger cancelled"));
    assert_int_equal(d.ran, 0);
    host_finish(&d.r);
}

static void test_session_approval__all_questions_can_be_withdrawn(void **state) {
    danger d;
    (void)state;
    danger_init(&d, HOB_APPROVER_HOST);
    danger_ask(&d);
    assert_int_equal(hob_session_cancel_confirmations(d.r.s, &d.r.err), 1);
    assert_string_equal(host_wait(&d.r), "completed");
    assert_int_equal(hob_session_cancel_confirmations(d.r.s, &d.r.err), 0);
    assert_int_equal(d.ran, 0);
    host_finish(&d.r);
}

static void test_session_approval__steer_answers_by_itself(void **state) {
    danger d;
    (void)state;
    danger_init(&d, HOB_APPROVER_HOST);
    danger_ask(&d);
    host_script(&d.r, script);
    assert_ok(hob_session_steer(d.r.s, hob_str_z("rather not"), &d.r.err), d.r.err);
    hob_event_unref(host_until(&d.r, HOB_EVENT_STEER_DELIVERED, NULL, NULL));
    assert_non_null(strstr(host_log(&d.r), "tool_finished m4.0 danger skipped"));
    assert_int_equal(d.ran, 0);
    assert_ok(hob_session_abort(d.r.s, &d.r.err), d.r.err);
    host_finish(&d.r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_session_approval__nobody_to_ask_is_a_denied_result),
        cmocka_unit_test(test_session_approval__approved_runs_once),
        cmocka_unit_test(test_session_approval__denied_with_a_reason),
        cmocka_unit_test(test_session_approval__is_answered_once),
        cmocka_unit_test(test_session_approval__survives_restart),
        cmocka_unit_test(test_session_approval__cancel_withdraws_the_question),
        cmocka_unit_test(test_session_approval__all_questions_can_be_withdrawn),
        cmocka_unit_test(test_session_approval__steer_answers_by_itself),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
