/* Runs of real sessions that stand still and go on, and messages in batches: ADK-69, ADK-70. */
#include "support/agents.h"
#include "support/check.h"

typedef struct fixture {
    host h;
    gate g;
} fixture;

/* One call of the gate, then the answer. */
static void init(fixture *f, const char *store) {
    gate_init(&f->g, "gate", HOB_TOOL_READ_ONLY);
    host_init(&f->h, "{'rules':[{'when':{'user':'go','step':1},'reply':[{'tool':'gate'}]},"
                     "{'when':{'user':'go'},'reply':[{'text':'got {{result}}'}]}],"
                     "'otherwise':[{'text':'heard {{user}}'}]}");
    f->h.ro.store = store;
    f->h.so.tools = &f->g.tool;
    f->h.so.ntools = 1;
}

static void begin(fixture *f, const char *store) {
    init(f, store);
    host_open(&f->h);
    assert_ok(hob_session_prompt(f->h.s, hob_str_z("go"), &f->h.err), f->h.err);
    gate_wait_started(&f->g, 1);
}

static void finish(fixture *f) {
    host_finish(&f->h);
    gate_finish(&f->g);
}

static void pause_and_let_go(fixture *f) {
    assert_ok(hob_session_pause(f->h.s, &f->h.err), f->h.err);
    assert_int_equal(hob_session_is_paused(f->h.s), 1);
    assert_int_equal(hob_session_is_parked(f->h.s), 0); /* the call is at work */
    gate_answer(&f->g, "it");
    hob_event_unref(host_until(&f->h, HOB_EVENT_TOOL_FINISHED, NULL, NULL));
}

/* ---- standing still ----------------------------------------------------------------------------------- */

static void show_pause(const char *store) {
    fixture f;
    begin(&f, store);
    pause_and_let_go(&f);
    assert_string_equal(host_wait(&f.h), "parked"); /* nobody is there to resume: it says so */
    assert_int_equal(hob_result_code(f.h.result), HOB_EBUSY);
    assert_int_equal(hob_session_prompt(f.h.s, hob_str_z("other"), &f.h.err), HOB_EBUSY);
    assert_ok(hob_session_resume(f.h.s, &f.h.err), f.h.err);
    assert_string_equal(host_wait(&f.h), "completed");
    assert_string_equal(host_text(&f.h), "got it");
    assert_int_equal(hob_session_is_paused(f.h.s), 0);
    assert_int_equal(hob_session_resume(f.h.s, &f.h.err), HOB_EIDLE);
    finish(&f);
}

static void test_session_pause__case_69_a_paused_run_resumes(void **state) {
    (void)state;
    show_pause("memory");
    show_pause("sqlite");
}

static void test_session_pause__case_69_in_another_process_too(void **state) {
    fixture f;
    hob_page *p;
    (void)state;
    begin(&f, "sqlite");
    pause_and_let_go(&f);
    host_reopen(&f.h, HOB_UNFINISHED_RESUME); /* what was paused is not unfinished */
    assert_int_equal(hob_session_is_paused(f.h.s), 1);
    assert_string_equal(host_wait(&f.h), "parked");
    hob_page_opts o = HOB_PAGE_OPTS_INIT;
    o.status = "parked";
    assert_ok(hob_runtime_runs(f.h.rt, &o, &p, &f.h.err), f.h.err);
    assert_int_equal(hob_page_count(p), 1);
    hob_page_destroy(p);
    assert_ok(hob_session_resume(f.h.s, &f.h.err), f.h.err);
    assert_string_equal(host_wait(&f.h), "completed");
    assert_string_equal(host_text(&f.h), "got it");
    assert_int_equal(host_count(&f.h, "run_started"), 1);
    finish(&f);
}

/* The call was at work when the process died: it is made again only when the run goes on. */
static void test_session_pause__a_call_lost_with_its_process_waits(void **state) {
    fixture f;
    (void)state;
    begin(&f, "sqlite");
    assert_ok(hob_session_pause(f.h.s, &f.h.err), f.h.err);
    host_reopen(&f.h, HOB_UNFINISHED_RESUME);
    assert_string_equal(host_wait(&f.h), "parked");
    assert_int_equal(f.g.started, 1);
    assert_ok(hob_session_resume(f.h.s, &f.h.err), f.h.err);
    gate_wait_started(&f.g, 2);
    gate_answer(&f.g, "it");
    assert_string_equal(host_wait(&f.h), "completed");
    finish(&f);
}

static void test_session_pause__left_alone_and_paused_is_one_resume(void **state) {
    fixture f;
    (void)state;
    begin(&f, "sqlite");
    assert_ok(hob_session_pause(f.h.s, &f.h.err), f.h.err);
    host_reopen(&f.h, HOB_UNFINISHED_LEAVE);
    assert_ok(hob_session_resume(f.h.s, &f.h.err), f.h.err);
    gate_wait_started(&f.g, 2);
    gate_answer(&f.g, "it");
    assert_string_equal(host_wait(&f.h), "completed");
    finish(&f);
}

static void test_session_pause__can_be_cancelled(void **state) {
    fixture f;
    (void)state;
    begin(&f, "memory");
    pause_and_let_go(&f);
    assert_ok(hob_session_cancel_and_settle(f.h.s, HOB_QUEUED_RETURN, 5000, &f.h.err), f.h.err);
    assert_string_equal(host_wait(&f.h), "cancelled");
    assert_string_equal(host_prompt(&f.h, "and now"), "completed");
    finish(&f);
}

/* All agents of a workflow stand, wherever they are. */
static void test_session_pause__agents_stand_too(void **state) {
    fixture f;
    (void)state;
    init(&f, "sqlite");
    host_script(&f.h, "{'rules':[{'when':{'system':'I am one','step':1},'reply':[{'tool':'gate'}]},"
                      "{'when':{'system':'I am'},'reply':[{'text':'well'}]}]}");
    team_open(&f.h, in_order("all",
                             side_by_side("par", worker("w1", "I am one", NULL),
                                          worker("w2", "I am two", NULL), NULL),
                             worker("last", "I am last", NULL), NULL));
    assert_ok(hob_session_prompt(f.h.s, hob_str_z("go"), &f.h.err), f.h.err);
    gate_wait_started(&f.g, 1);
    pause_and_let_go(&f);
    assert_string_equal(host_wait(&f.h), "parked");
    int before = host_count(&f.h, "model_call_started");
    host_reopen(&f.h, HOB_UNFINISHED_RESUME);
    assert_string_equal(host_wait(&f.h), "parked");
    assert_int_equal(host_count(&f.h, "model_call_started"), before);
    assert_ok(hob_session_resume(f.h.s, &f.h.err), f.h.err);
    assert_string_equal(host_wait(&f.h), "completed");
    assert_int_equal(host_count(&f.h, "agent_started"), 5);
    assert_int_equal(host_count(&f.h, "agent_finished"), 5);
    hob_agent *team = f.h.so.team;
    finish(&f);
    hob_agent_unref(team);
}

/* ---- messages in batches -------------------------------------------------------------------------------- */

static void test_session_pause__case_69_one_that_is_not_allowed_changes_nothing(void **state) {
    hob_str bad[] = {HOB_STR("first"), HOB_STR("  "), HOB_STR("third")};
    hob_str good[] = {HOB_STR("first"), HOB_STR("second")};
    fixture f;
    (void)state;
    begin(&f, "sqlite");
    assert_int_equal(hob_session_steer_all(f.h.s, bad, 3, &f.h.err), HOB_EINVAL);
    assert_int_equal(host_count(&f.h, "steer_queued"), 0);
    assert_ok(hob_session_steer_all(f.h.s, good, 2, &f.h.err), f.h.err);
    assert_int_equal(host_count(&f.h, "steer_queued"), 2);
    gate_answer(&f.g, "it");
    assert_string_equal(host_wait(&f.h), "completed");
    assert_string_equal(host_text(&f.h), "heard second"); /* in their order */
    assert_int_equal(hob_session_steer_all(f.h.s, good, 2, &f.h.err), HOB_EIDLE);
    assert_ok(hob_session_steer_all(f.h.s, NULL, 0, &f.h.err), f.h.err);
    finish(&f);
}

/* ---- what cannot go on later -------------------------------------------------------------------------------- */

static void test_session_pause__case_70_what_cannot_go_on_later_is_refused(void **state) {
    fixture f;
    (void)state;
    init(&f, "sqlite");
    f.h.so.choice = HOB_SESSION_IN_MEMORY;
    host_open(&f.h);
    assert_ok(hob_session_prompt(f.h.s, hob_str_z("go"), &f.h.err), f.h.err);
    gate_wait_started(&f.g, 1);
    assert_int_equal(hob_session_pause(f.h.s, &f.h.err), HOB_ENOSYS);
    assert_int_equal(hob_session_is_paused(f.h.s), 0);
    gate_answer(&f.g, "it");
    assert_string_equal(host_wait(&f.h), "completed"); /* it was not even stopped */
    finish(&f);
}

static void show_receipt(hob_choice choice, const char *store, int warnings) {
    hob_tool order = host_tool("order", HOB_TOOL_UNSAFE, NULL);
    host h;
    order.flags = HOB_TOOL_LONG_RUNNING;
    host_init(&h, "{'otherwise':[{'tool':'order'}]}");
    h.ro.store = store;
    h.so.choice = choice;
    h.so.tools = &order;
    h.so.ntools = 1;
    h.so.permission_mode = "yolo";
    host_open(&h);
    assert_string_equal(host_prompt(&h, "buy"), "completed");
    assert_int_equal(host_count(&h, "warning"), warnings);
    if (warnings) assert_non_null(strstr(host_log(&h), "warning not_kept\ntool_finished"));
    host_finish(&h);
}

static void test_session_pause__case_70_a_receipt_that_is_not_kept_is_said(void **state) {
    (void)state;
    show_receipt(HOB_SESSION_IN_MEMORY, "sqlite", 1);
    show_receipt(HOB_SESSION_NEW, "sqlite", 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_session_pause__case_69_a_paused_run_resumes),
        cmocka_unit_test(test_session_pause__case_69_in_another_process_too),
        cmocka_unit_test(test_session_pause__a_call_lost_with_its_process_waits),
        cmocka_unit_test(test_session_pause__left_alone_and_paused_is_one_resume),
        cmocka_unit_test(test_session_pause__can_be_cancelled),
        cmocka_unit_test(test_session_pause__agents_stand_too),
        cmocka_unit_test(test_session_pause__case_69_one_that_is_not_allowed_changes_nothing),
        cmocka_unit_test(test_session_pause__case_70_what_cannot_go_on_later_is_refused),
        cmocka_unit_test(test_session_pause__case_70_a_receipt_that_is_not_kept_is_said),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
