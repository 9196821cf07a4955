/* Delegation: the task tool, what the parent's log says of its children, and how they end. */
#include "support/check.h"
#include "support/crowd.h"
#include "support/host.h"

#include <stdio.h>

/* A child is told what to do in its prompt; a parent answers with what came back. */
#define CHILD "'system':{'contains':'work as a sub-agent'}"
#define TASK(prompt) "{'tool':'task','args':{'agent':'general','prompt':'" prompt "'}}"
#define BESIDE(prompt)                                                                             \
    "{'tool':'task','args':{'agent':'general','prompt':'" prompt "','background':true}}"
#define GOT "{'reply':[{'text':'got: {{result}}'}]}"

static const char plain[] = "{'rules':["
                            "{'when':{" CHILD "},'reply':[{'text':'the sum is 5'}]},"
                            "{'when':{'step':1},'reply':[" TASK("add 2 and 3") "]}," GOT "]}";

static void open_host(host *r, const char *script) {
    host_init(r, script);
    r->ro.store = "sqlite";
    host_open(r);
}

static void test_session_task__a_child_answers_in_the_foreground(void **state) {
    host r;
    (void)state;
    open_host(&r, plain);
    assert_string_equal(host_prompt(&r, "go"), "completed");
    const char *text = host_text(&r);
    assert_non_null(strstr(text, "got: sub-agent general (task-"));
    assert_non_null(strstr(text, "): completed, 1 turn\n"));
    assert_non_null(strstr(text, "\n> the sum is 5\n"));
    assert_int_equal(host_count(&r, "child_started"), 1);
    assert_int_equal(host_count(&r, "child_finished"), 1);
    const char *log = host_log(&r), *started = strstr(log, "child_started"),
               *ended = strstr(log, "child_finished"), *call = strstr(log, "tool_finished");
    assert_true(started && ended && call && started < ended && ended < call);
    host_finish(&r);
}

/* ---- side by side --------------------------------------------------------------------------------------- */

typedef struct meeting {
    host r;
    crowd g;
} meeting;

/* Children wait at a gate; the test sees how many are there at once. */
static void meet(meeting *m, const char *script) {
    crowd_init(&m->g);
    host_init(&m->r, script);
    m->r.ro.store = "sqlite";
    m->r.so.tools = &m->g.tool;
    m->r.so.ntools = 1;
    host_open(&m->r);
}

static void meeting_finish(meeting *m) {
    host_finish(&m->r);
    crowd_finish(&m->g);
}

static const char three[] = "{'rules':["
                            "{'when':{" CHILD ",'step':1},'reply':[{'tool':'gate'}]},"
                            "{'when':{" CHILD "},'reply':[{'text':'{{user}} done'}]},"
                            "{'when':{'step':1},'reply':[" TASK("one") "," TASK("two") "," TASK(
                                "three") "]},"
                                         "{'reply':[{'text':'all: {{result}}'}]}]}";

static void test_session_task__calls_of_one_answer_run_side_by_side(void **state) {
    meeting m;
    (void)state;
    meet(&m, three);
    assert_ok(hob_session_prompt(m.r.s, hob_str_z("go"), &m.r.err), m.r.err);
    crowd_wait(&m.g, 3); /* nobody was let go yet: they are there at once */
    crowd_let_go(&m.g, "go on");
    assert_string_equal(host_wait(&m.r), "completed");
    assert_int_equal(host_count(&m.r, "child_finished"), 3);
    assert_non_null(strstr(host_text(&m.r), "> three done"));
    meeting_finish(&m);
}

/* ---- in the background -------------------------------------------------------------------------------------- */

static const char beside[] =
    "{'rules':["
    "{'when':{" CHILD ",'step':1},'reply':[{'tool':'gate'}]},"
    "{'when':{" CHILD "},'reply':[{'text':'found it'}]},"
    "{'when':{'user':'A task in the background has ended'},'reply':[{'text':'told: {{user}}'}]},"
    "{'when':{'user':'hello'},'reply':[{'text':'I wait for it'}]},"
    "{'when':{'step':1},'reply':[" BESIDE(
        "search") "]},"
                  "{'reply':[{'text':'meanwhile: {{result}}'}]}]}";

static void test_session_task__case_56_a_task_in_the_background_reports_when_it_ends(void **state) {
    meeting m;
    (void)state;
    meet(&m, beside);
    assert_ok(hob_session_prompt(m.r.s, hob_str_z("go"), &m.r.err), m.r.err);
    hob_event *e = host_until(&m.r, HOB_EVENT_ASSISTANT_MESSAGE, "stop", "done");
    char text[400];
    hob_event_text(e, text, sizeof text);
    assert_non_null(strstr(text, "meanwhile: started in the background as task-"));
    hob_event_unref(e);
    crowd_wait(&m.g, 1);
    assert_int_equal(hob_session_is_running(m.r.s), 1); /* the run does not end without it */
    crowd_let_go(&m.g, "here");
    assert_string_equal(host_wait(&m.r), "completed");
    assert_non_null(strstr(host_text(&m.r), "told: A task in the background has ended. This "
                                            "message comes from hob, not from the user."));
    assert_non_null(strstr(host_text(&m.r), "> found it"));
    assert_int_equal(host_count(&m.r, "child_reported"), 1);
    assert_int_equal(host_count(&m.r, "run_finished"), 1);
    meeting_finish(&m);
}

static void test_session_task__steering_reaches_a_parent_that_waits(void **state) {
    meeting m;
    (void)state;
    meet(&m, beside);
    assert_ok(hob_session_prompt(m.r.s, hob_str_z("go"), &m.r.err), m.r.err);
    hob_event_unref(host_until(&m.r, HOB_EVENT_ASSISTANT_MESSAGE, "stop", "done"));
    crowd_wait(&m.g, 1);
    assert_ok(hob_session_steer(m.r.s, hob_str_z("hello?"), &m.r.err), m.r.err);
    hob_event_unref(host_until(&m.r, HOB_EVENT_STEER_DELIVERED, NULL, NULL));
    crowd_let_go(&m.g, "here");
    assert_string_equal(host_wait(&m.r), "completed");
    meeting_finish(&m);
}

/* ---- stopping --------------------------------------------------------------------------------------------------- */

static void expect_all_ended(host *r, int n) {
    assert_int_equal(host_count(r, "child_started"), n);
    assert_int_equal(host_count(r, "child_finished"), n);
    assert_int_equal(host_count(r, "run_finished"), 1);
}

static void test_session_task__case_68_cancel_ends_the_tree(void **state) {
    meeting m;
    (void)state;
    meet(&m, three);
    assert_ok(hob_session_prompt(m.r.s, hob_str_z("go"), &m.r.err), m.r.err);
    crowd_wait(&m.g, 3);
    assert_ok(hob_session_abort(m.r.s, &m.r.err), m.r.err);
    assert_string_equal(host_wait(&m.r), "cancelled");
    expect_all_ended(&m.r, 3);
    assert_non_null(strstr(host_log(&m.r), "child_finished cancelled"));
    meeting_finish(&m);
}

static void test_session_task__cancel_ends_what_works_in_the_background(void **state) {
    meeting m;
    (void)state;
    meet(&m, beside);
    assert_ok(hob_session_prompt(m.r.s, hob_str_z("go"), &m.r.err), m.r.err);
    crowd_wait(&m.g, 1);
    assert_ok(hob_session_abort(m.r.s, &m.r.err), m.r.err);
    assert_string_equal(host_wait(&m.r), "cancelled");
    expect_all_ended(&m.r, 1);
    meeting_finish(&m);
}

static void test_session_task__closing_the_parent_ends_the_children(void **state) {
    meeting m;
    char id[64];
    (void)state;
    meet(&m, beside);
    hob_session_id(m.r.s, id, sizeof id);
    assert_ok(hob_session_prompt(m.r.s, hob_str_z("go"), &m.r.err), m.r.err);
    crowd_wait(&m.g, 1);
    crowd_let_go(&m.g, "late"); /* so that closing need not wait for its time-out */
    hob_session_close(m.r.s);
    m.r.s = NULL;
    host_close(&m.r);
    m.r.so.choice = HOB_SESSION_OPEN;
    m.r.so.id = id;
    host_open(&m.r);
    expect_all_ended(&m.r, 1);
    meeting_finish(&m);
}

/* ---- letting go, and coming back ------------------------------------------------------------------------------- */

static void test_session_task__children_go_on_with_a_parent_that_is_opened_again(void **state) {
    meeting m;
    (void)state;
    meet(&m, three);
    assert_ok(hob_session_prompt(m.r.s, hob_str_z("go"), &m.r.err), m.r.err);
    crowd_wait(&m.g, 3);
    host_reopen(&m.r, HOB_UNFINISHED_RESUME);
    crowd_wait(&m.g, 6); /* read-only: asked again, by the same three children */
    crowd_let_go(&m.g, "go on");
    assert_string_equal(host_wait(&m.r), "completed");
    assert_int_equal(host_count(&m.r, "child_started"), 3);
    assert_int_equal(host_count(&m.r, "child_finished"), 3);
    assert_non_null(strstr(host_text(&m.r), "> three done"));
    meeting_finish(&m);
}

static void test_session_task__a_background_task_goes_on_after_a_restart(void **state) {
    meeting m;
    (void)state;
    meet(&m, beside);
    assert_ok(hob_session_prompt(m.r.s, hob_str_z("go"), &m.r.err), m.r.err);
    hob_event_unref(host_until(&m.r, HOB_EVENT_ASSISTANT_MESSAGE, "stop", "done"));
    crowd_wait(&m.g, 1);
    host_reopen(&m.r, HOB_UNFINISHED_RESUME);
    crowd_wait(&m.g, 2);
    crowd_let_go(&m.g, "here");
    assert_string_equal(host_wait(&m.r), "completed");
    assert_int_equal(host_count(&m.r, "child_started"), 1);
    assert_int_equal(host_count(&m.r, "child_finished"), 1);
    assert_int_equal(host_count(&m.r, "child_reported"), 1);
    meeting_finish(&m);
}

static void test_session_task__settling_settles_the_children(void **state) {
    meeting m;
    (void)state;
    meet(&m, three);
    assert_ok(hob_session_prompt(m.r.s, hob_str_z("go"), &m.r.err), m.r.err);
    crowd_wait(&m.g, 3);
    host_reopen(&m.r, HOB_UNFINISHED_SETTLE);
    assert_string_equal(host_wait(&m.r), "interrupted");
    assert_int_equal(host_count(&m.r, "child_started"), 3);
    assert_int_equal(host_count(&m.r, "child_finished"), 3);
    assert_int_equal(m.g.started, 3); /* and did nothing more */
    meeting_finish(&m);
}

/* ---- what goes wrong ---------------------------------------------------------------------------------------------- */

static void test_session_task__an_unknown_agent_is_an_error_result(void **state) {
    host r;
    (void)state;
    open_host(&r, "{'rules':[{'when':{'step':1},'reply':[{'tool':'task','args':{'agent':'nobody',"
                  "'prompt':'x','background':true}}]}," GOT "]}");
    assert_string_equal(host_prompt(&r, "go"), "completed");
    assert_non_null(
        strstr(host_text(&r), "got: error: there is no agent nobody; there are: general"));
    assert_int_equal(host_count(&r, "child_started"), 0);
    host_finish(&r);
}

static void test_session_task__a_child_that_fails_ends_once(void **state) {
    host r;
    (void)state;
    open_host(&r, "{'rules':[{'when':{" CHILD
                  "},'reply':[{'text':'half'},{'error':{'code':'refused','message':'no'}}]},"
                  "{'when':{'step':1},'reply':[" TASK("x") "]}," GOT "]}");
    assert_string_equal(host_prompt(&r, "go"), "completed");
    assert_non_null(strstr(host_text(&r), "): failed"));
    assert_int_equal(host_count(&r, "child_finished"), 1);
    host_finish(&r);
}

static void test_session_task__case_67_a_child_at_its_limit_is_an_error_result(void **state) {
    host r;
    (void)state;
    host_init(&r, "{'rules':[{'when':{" CHILD "},'reply':[{'text':'on and on'},{'tool':'read',"
                  "'args':{'path':'no-{{turn}}'}}]},"
                  "{'when':{'step':1},'reply':[" TASK("x") "]}," GOT "]}");
    r.so.max_turns = 6;
    host_open(&r);
    assert_string_equal(host_prompt(&r, "go"), "completed");
    assert_non_null(strstr(host_text(&r), "): limit, 4 turns"));
    assert_non_null(strstr(host_text(&r), "> a limit ended the run: turns"));
    host_finish(&r);
}

/* What a child spends is spent of its parent's. */
static void test_session_task__limits_bind_the_tree(void **state) {
    host r;
    char usage[64];
    (void)state;
    open_host(&r, plain);
    assert_string_equal(host_prompt(&r, "go"), "completed");
    const char *key = "turns";
    assert_true(hob_json_field(hob_result_json(r.result), key, usage, sizeof usage) > 0);
    assert_string_equal(usage, "3"); /* two of the parent, one of the child */
    host_finish(&r);
}

#define T(name) cmocka_unit_test(test_session_task__##name)
int main(void) {
    const struct CMUnitTest tests[] = {T(a_child_answers_in_the_foreground),
                                       T(calls_of_one_answer_run_side_by_side),
                                       T(case_56_a_task_in_the_background_reports_when_it_ends),
                                       T(steering_reaches_a_parent_that_waits),
                                       T(case_68_cancel_ends_the_tree),
                                       T(cancel_ends_what_works_in_the_background),
                                       T(closing_the_parent_ends_the_children),
                                       T(children_go_on_with_a_parent_that_is_opened_again),
                                       T(a_background_task_goes_on_after_a_restart),
                                       T(settling_settles_the_children),
                                       T(an_unknown_agent_is_an_error_result),
                                       T(a_child_that_fails_ends_once),
                                       T(case_67_a_child_at_its_limit_is_an_error_result),
                                       T(limits_bind_the_tree)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
