/* A run that stands still and goes on: ADK-69, in the loop itself. */
#include "support/check.h"
#include "support/sim.h"

static void begin(sim *s) {
    sim_init(s);
    sim_policy(s, HOB_MODE_YOLO, NULL, NULL);
    sim_prompt(s, "go");
    sim_log(s);
}

static void test_run_pause__case_69_an_answer_under_way_is_the_last_thing(void **state) {
    sim s;
    (void)state;
    begin(&s);
    assert_int_equal(sim_pause(&s, true), HOB_SAID_LAST);
    assert_false(hob_run_parked(&s.run)); /* the model is at work */
    assert_int_equal(sim_calls(&s, "look:a bash:b"), HOB_SAID_LAST);
    assert_log(&s, "4 run_paused\n5 assistant_message m3 tools look(m3.0) bash(m3.1)\n");
    assert_true(hob_run_parked(&s.run));
    assert_string_equal(sim_pending(&s), "");
    assert_int_equal(sim_pause(&s, false), HOB_SAID_LAST);
    assert_string_equal(sim_pending(&s), "run_tool m3.0");
    sim_ok(&s, "m3.0");
    sim_ok(&s, "m3.1");
    sim_done(&s, "done");
    sim_finish(&s);
}

static void test_run_pause__case_69_it_is_not_reported_completed(void **state) {
    sim s;
    (void)state;
    begin(&s);
    sim_pause(&s, true);
    sim_done(&s, "all done"); /* there is nothing left to do, and still it waits */
    assert_log(&s, "4 run_paused\n5 assistant_message m3 done 'all done'\n");
    assert_true(hob_run_active(&s.run));
    sim_pause(&s, false);
    assert_log(
        &s, "6 run_resumed\n7 run_finished completed turns=1 tool_calls=0\n8 settled completed\n");
    sim_finish(&s);
}

static void test_run_pause__calls_at_work_end_others_do_not_begin(void **state) {
    sim s;
    (void)state;
    begin(&s);
    sim_calls(&s, "bash:a bash:b");
    sim_log(&s);
    sim_pause(&s, true);
    assert_false(hob_run_parked(&s.run));
    sim_ok(&s, "m3.0");
    assert_log(&s, "8 run_paused\n9 tool_finished m3.0 ok 'ok'\n");
    assert_true(hob_run_parked(&s.run));
    sim_pause(&s, false);
    assert_log(&s, "10 run_resumed\n11 tool_started m3.1 bash unsafe\n");
    sim_ok(&s, "m3.1");
    sim_done(&s, "done");
    sim_finish(&s);
}

static void test_run_pause__the_clock_stands(void **state) {
    sim s;
    (void)state;
    sim_init(&s);
    sim_policy(&s, HOB_MODE_YOLO, NULL, NULL);
    s.env.limits.ms = 10000;
    sim_prompt(&s, "go");
    sim_pause(&s, true);
    sim_calls(&s, "look:a");
    assert_int_equal(sim_tick(&s, 3600000), HOB_SAID_NOTHING);
    assert_string_equal(sim_pending(&s), "");
    sim_pause(&s, false);
    sim_ok(&s, "m3.0");
    sim_done(&s, "in time");
    assert_string_equal(s.run.last_status, "completed");
    sim_finish(&s);
}

static void test_run_pause__a_retry_waits_too(void **state) {
    sim s;
    (void)state;
    begin(&s);
    sim_fail(&s, HOB_ENET, -1, false);
    sim_log(&s);
    sim_pause(&s, true);
    assert_string_equal(sim_pending(&s), ""); /* no timer */
    sim_tick(&s, 60000);
    assert_log(&s, "6 run_paused\n");
    sim_pause(&s, false);
    assert_log(&s, "7 run_resumed\n8 model_call_started m8 turn=1 attempt=2\n");
    sim_done(&s, "done");
    sim_finish(&s);
}

static void test_run_pause__steering_is_heard_when_it_goes_on(void **state) {
    sim s;
    (void)state;
    begin(&s);
    sim_pause(&s, true);
    sim_done(&s, "so far");
    assert_int_equal(sim_steer(&s, "also"), HOB_SAID_LAST);
    assert_true(hob_run_parked(&s.run));
    sim_log(&s);
    sim_pause(&s, false);
    assert_log(&s, "7 run_resumed\n8 steer_delivered q6 'also'\n9 model_call_started m9 turn=2\n");
    sim_done(&s, "done");
    sim_finish(&s);
}

static void test_run_pause__a_cancel_goes_before_it(void **state) {
    sim s;
    (void)state;
    begin(&s);
    sim_pause(&s, true);
    sim_calls(&s, "look:a");
    sim_cancel(&s, HOB_ENDING_CANCEL, HOB_QUEUE_RETURN);
    assert_string_equal(s.run.last_status, "cancelled");
    assert_true(s.run.settled && !s.run.paused);
    assert_true(sim_prompt(&s, "next") > 0);
    assert_string_equal(sim_pending(&s), "call_model m12");
    sim_done(&s, "done");
    sim_finish(&s);
}

static void test_run_pause__refusals(void **state) {
    sim s;
    (void)state;
    sim_init(&s);
    assert_int_equal(sim_pause(&s, true), HOB_EIDLE);
    assert_int_equal(sim_pause(&s, false), HOB_EIDLE);
    sim_prompt(&s, "go");
    assert_int_equal(sim_pause(&s, false), HOB_EIDLE);
    assert_int_equal(sim_pause(&s, true), HOB_SAID_LAST);
    assert_int_equal(sim_pause(&s, true), HOB_SAID_NOTHING); /* it is */
    assert_int_equal(sim_prompt(&s, "other"), HOB_EBUSY);
    sim_cancel(&s, HOB_ENDING_CANCEL, HOB_QUEUE_RETURN);
    assert_int_equal(sim_pause(&s, true), HOB_EIDLE); /* it is ending */
    sim_stopped(&s, "", NULL);
    sim_finish(&s);
}

/* After every event: what a dead process had under way is looked after, and it stays paused. */
static void test_run_pause__survives_a_crash_at_any_point(void **state) {
    (void)state;
    for (size_t kept = 4; kept <= 9; kept++) {
        sim s;
        begin(&s);
        sim_calls(&s, "look:a bash:b");
        sim_pause(&s, true);
        sim_ok(&s, "m3.0");
        bool was = kept > 7;
        sim_crash(&s, kept);
        assert_int_equal(s.run.paused, was);
        sim_reopen(&s);
        assert_int_equal(s.run.paused, was);
        assert_int_equal(hob_run_parked(&s.run), was);
        sim_cancel(&s, HOB_ENDING_ABORT, HOB_QUEUE_DROP);
        sim_drop(&s);
    }
}

static void test_run_pause__case_69_a_batch_is_taken_whole_or_not_at_all(void **state) {
    hob_str good[] = {HOB_STR("[{\"type\":\"text\",\"text\":\"a\"}]"),
                      HOB_STR("[{\"type\":\"text\",\"text\":\"b\"}]")};
    hob_str bad[] = {good[0], HOB_STR("no content"), good[1]};
    hob_input in = {.kind = HOB_INPUT_STEER, .batch = bad, .nbatch = 3};
    sim s;
    (void)state;
    begin(&s);
    in.after = s.run.last_seq;
    assert_int_equal(sim_input(&s, &in), HOB_EINVAL);
    assert_int_equal(s.run.steer.n, 0);
    in.batch = good;
    in.nbatch = 2;
    assert_true(sim_input(&s, &in) > 0);
    assert_log(&s, "4 steer_queued q4 'a'\n5 steer_queued q5 'b'\n");
    for (int i = 2; i < HOB_QUEUE_MAX - 1; i++) assert_int_equal(sim_steer(&s, "x"), HOB_SAID_LAST);
    in.after = s.run.last_seq;
    assert_int_equal(sim_input(&s, &in), HOB_ETOOBIG); /* there is room for one */
    assert_int_equal(s.run.steer.n, HOB_QUEUE_MAX - 1);
    sim_drop(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_run_pause__case_69_an_answer_under_way_is_the_last_thing),
        cmocka_unit_test(test_run_pause__case_69_it_is_not_reported_completed),
        cmocka_unit_test(test_run_pause__calls_at_work_end_others_do_not_begin),
        cmocka_unit_test(test_run_pause__the_clock_stands),
        cmocka_unit_test(test_run_pause__a_retry_waits_too),
        cmocka_unit_test(test_run_pause__steering_is_heard_when_it_goes_on),
        cmocka_unit_test(test_run_pause__a_cancel_goes_before_it),
        cmocka_unit_test(test_run_pause__refusals),
        cmocka_unit_test(test_run_pause__survives_a_crash_at_any_point),
        cmocka_unit_test(test_run_pause__case_69_a_batch_is_taken_whole_or_not_at_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
