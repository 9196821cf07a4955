/* Prompting, steering, following up: cases 1-9, 15, 16 and 22-24 of the list in tests/cases.tsv. */
#include "support/check.h"
#include "support/host.h"

static const char hello[] = "{'otherwise':[{'text':'hello there'}]}";

static void test_session_control__a_prompt_is_answered(void **state) {
    host r;
    (void)state;
    host_init(&r, hello);
    host_open(&r);
    assert_string_equal(host_prompt(&r, "hi"), "completed");
    assert_string_equal(host_text(&r), "hello there");
    assert_string_equal(host_log(&r), "session_opened\n"
                                      "run_started prompt\n"
                                      "user_message \"hi\"\n"
                                      "model_call_started\n"
                                      "assistant_message done \"hello there\"\n"
                                      "run_finished completed\n"
                                      "settled completed\n");
    host_finish(&r);
}

static void test_session_control__the_host_loop_works_too(void **state) {
    host r;
    (void)state;
    host_init(&r, hello);
    r.ro.loop = HOB_LOOP_HOST;
    host_open(&r);
    assert_string_equal(host_prompt(&r, "hi"), "completed");
    assert_string_equal(host_prompt(&r, "again"), "completed");
    assert_string_equal(host_text(&r), "hello there");
    host_finish(&r);
}

static void test_session_control__sqlite_keeps_it(void **state) {
    host r;
    char id[64];
    (void)state;
    host_init(&r, hello);
    r.ro.store = "sqlite";
    host_open(&r);
    assert_string_equal(host_prompt(&r, "hi"), "completed");
    hob_session_id(r.s, id, sizeof id);
    host_close(&r);
    r.so.choice = HOB_SESSION_OPEN;
    r.so.id = id;
    host_open(&r);
    assert_string_equal(host_prompt(&r, "again"), "completed");
    assert_int_equal(host_count(&r, "user_message"), 2);
    assert_int_equal(host_count(&r, "session_opened"), 1);
    host_finish(&r);
}

/* IMP-1 */
static void test_session_control__steer_when_idle_is_refused(void **state) {
    host r;
    (void)state;
    host_init(&r, hello);
    host_open(&r);
    assert_int_equal(hob_session_steer(r.s, hob_str_z("x"), &r.err), HOB_EIDLE);
    assert_int_equal(hob_session_follow_up(r.s, hob_str_z("x"), &r.err), HOB_EIDLE);
    host_prompt(&r, "hi");
    assert_int_equal(hob_session_steer(r.s, hob_str_z("x"), &r.err), HOB_EIDLE);
    assert_int_equal(host_count(&r, "steer_queued"), 0);
    host_finish(&r);
}

static const char three_calls[] =
    "{'rules':["
    "{'when':{'user':'go','step':1},'reply':[{'tool':'a','args':{}},{'tool':'b','args':{}},"
    "{'tool':'b','args':{}}]},"
    "{'when':{'user':'go'},'reply':[{'text':'done'}]},"
    "{'reply':[{'text':'steered: {{user}}'}]}]}";

static void quick(const hob_tool_call *call, hob_reply *reply, void *user) {
    (void)call;
    ++*(int *)user;
    hob_reply_text(reply, HOB_OUTCOME_OK, hob_str_z("quick"));
}

typedef struct pair {
    gate a;
    int ran;
    hob_tool tools[2];
} pair;

static void pair_init(host *r, pair *p, hob_tool_class class_) {
    gate_init(&p->a, "a", class_);
    p->ran = 0;
    p->tools[0] = p->a.tool;
    p->tools[1] = (hob_tool)HOB_TOOL_INIT;
    p->tools[1].name = "b";
    p->tools[1].description = "answers at once";
    p->tools[1].class_ = class_;
    p->tools[1].run = quick;
    p->tools[1].user = &p->ran;
    r->so.tools = p->tools;
    r->so.ntools = 2;
    r->so.permission_mode = "yolo";
}

/* IMP-2 */
static void test_session_control__a_second_prompt_is_busy(void **state) {
    host r;
    pair p;
    (void)state;
    host_init(&r, three_calls);
    pair_init(&r, &p, HOB_TOOL_UNSAFE);
    host_open(&r);
    assert_ok(hob_session_prompt(r.s, hob_str_z("go"), &r.err), r.err);
    gate_wait_started(&p.a, 1);
    assert_int_equal(hob_session_prompt(r.s, hob_str_z("another"), &r.err), HOB_EBUSY);
    assert_non_null(strstr(r.err.message, "steer"));
    assert_int_equal(hob_session_is_running(r.s), 1);
    gate_answer(&p.a, "a done");
    assert_string_equal(host_wait(&r), "completed");
    assert_int_equal(host_count(&r, "user_message"), 1);
    assert_int_equal(p.ran, 2);
    host_finish(&r);
    gate_finish(&p.a);
}

/* IMP-3 */
static void test_session_control__steer_skips_the_rest_of_the_batch(void **state) {
    host r;
    pair p;
    (void)state;
    host_init(&r, three_calls);
    pair_init(&r, &p, HOB_TOOL_UNSAFE);
    host_open(&r);
    assert_ok(hob_session_prompt(r.s, hob_str_z("go"), &r.err), r.err);
    gate_wait_started(&p.a, 1);
    assert_ok(hob_session_steer(r.s, hob_str_z("left"), &r.err), r.err);
    gate_answer(&p.a, "a done");
    assert_string_equal(host_wait(&r), "completed");
    assert_string_equal(host_text(&r), "steered: left");
    assert_int_equal(p.ran, 0);
    assert_non_null(strstr(host_log(&r),
                           "steer_queued q10 \"left\"\n"
                           "tool_finished m4.1 b skipped \"skipped: the user steered\"\n"
                           "tool_finished m4.2 b skipped \"skipped: the user steered\"\n"
                           "tool_finished m4.0 a ok \"a done\"\n"
                           "steer_delivered q10 \"left\"\n"
                           "model_call_started\n"));
    host_finish(&r);
    gate_finish(&p.a);
}

/* IMP-4 */
static void test_session_control__steer_after_the_batch_by_choice(void **state) {
    host r;
    pair p;
    (void)state;
    host_init(&r, three_calls);
    pair_init(&r, &p, HOB_TOOL_UNSAFE);
    r.so.flags = HOB_SESSION_STEER_AFTER_BATCH;
    host_open(&r);
    assert_ok(hob_session_prompt(r.s, hob_str_z("go"), &r.err), r.err);
    gate_wait_started(&p.a, 1);
    assert_ok(hob_session_steer(r.s, hob_str_z("left"), &r.err), r.err);
    gate_answer(&p.a, "a done");
    assert_string_equal(host_wait(&r), "completed");
    assert_int_equal(p.ran, 2);
    assert_string_equal(host_text(&r), "steered: left");
    host_finish(&r);
    gate_finish(&p.a);
}

/* IMP-5 */
static void test_session_control__steer_kills_no_parallel_call(void **state) {
    host r;
    pair p;
    (void)state;
    host_init(&r, three_calls);
    pair_init(&r, &p, HOB_TOOL_READ_ONLY);
    host_open(&r);
    assert_ok(hob_session_prompt(r.s, hob_str_z("go"), &r.err), r.err);
    gate_wait_started(&p.a, 1);
    assert_ok(hob_session_steer(r.s, hob_str_z("left"), &r.err), r.err);
    gate_answer(&p.a, "a done");
    assert_string_equal(host_wait(&r), "completed");
    assert_int_equal(p.ran, 2);
    assert_null(strstr(host_log(&r), "skipped"));
    assert_string_equal(host_text(&r), "steered: left");
    host_finish(&r);
    gate_finish(&p.a);
}

/* IMP-7 */
static void test_session_control__follow_ups_come_after_all_work(void **state) {
    host r;
    pair p;
    (void)state;
    host_init(&r, three_calls);
    pair_init(&r, &p, HOB_TOOL_UNSAFE);
    host_open(&r);
    assert_ok(hob_session_prompt(r.s, hob_str_z("go"), &r.err), r.err);
    gate_wait_started(&p.a, 1);
    assert_ok(hob_session_follow_up(r.s, hob_str_z("F1"), &r.err), r.err);
    assert_ok(hob_session_follow_up(r.s, hob_str_z("F2"), &r.err), r.err);
    assert_ok(hob_session_steer(r.s, hob_str_z("S"), &r.err), r.err);
    gate_answer(&p.a, "a done");
    assert_string_equal(host_wait(&r), "completed");
    const char *log = host_log(&r);
    const char *s = strstr(log, "\"steered: S\""), *f1 = strstr(log, "\"steered: F1\""),
               *f2 = strstr(log, "\"steered: F2\"");
    assert_true(s && f1 && f2 && s < f1 && f1 < f2);
    assert_int_equal(host_count(&r, "run_finished"), 3);
    assert_int_equal(host_count(&r, "settled"), 1);
    host_finish(&r);
    gate_finish(&p.a);
}

/* IMP-15, TRAP-2 */
static void test_session_control__nobody_needs_to_read(void **state) {
    host r;
    (void)state;
    host_init(&r,
              "{'otherwise':[{'repeat':{'times':10000,'reply':[{'text':'word ','chunk':5}]}}]}");
    host_open(&r);
    assert_string_equal(host_prompt(&r, "talk"), "completed");
    assert_int_equal(hob_result_text(r.result).n, 50000);
    host_finish(&r);
}

/* IMP-16 */
static void test_session_control__no_more_is_said_every_time(void **state) {
    host r;
    hob_event *e;
    int n = 0, rc;
    (void)state;
    host_init(&r, hello);
    host_open(&r);
    assert_int_equal(hob_session_next_event(r.s, 0, &e), 0);
    host_prompt(&r, "hi");
    while ((rc = hob_session_next_event(r.s, 1000, &e)) == 1) {
        n += hob_event_seq(e) > 0;
        hob_event_unref(e);
    }
    assert_int_equal(rc, 0);
    assert_int_equal(n, 7);
    assert_int_equal(hob_session_next_event(r.s, -1, &e), 0);
    assert_int_equal(hob_session_next_event(r.s, -1, &e), 0);
    host_finish(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_session_control__a_prompt_is_answered),
        cmocka_unit_test(test_session_control__the_host_loop_works_too),
        cmocka_unit_test(test_session_control__sqlite_keeps_it),
        cmocka_unit_test(test_session_control__steer_when_idle_is_refused),
        cmocka_unit_test(test_session_control__a_second_prompt_is_busy),
        cmocka_unit_test(test_session_control__steer_skips_the_rest_of_the_batch),
        cmocka_unit_test(test_session_control__steer_after_the_batch_by_choice),
        cmocka_unit_test(test_session_control__steer_kills_no_parallel_call),
        cmocka_unit_test(test_session_control__follow_ups_come_after_all_work),
        cmocka_unit_test(test_session_control__nobody_needs_to_read),
        cmocka_unit_test(test_session_control__no_more_is_said_every_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
