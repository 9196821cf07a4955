/* Follow-ups: messages that wait until the work is done. */
#include "support/check.h"
#include "support/sim.h"

static void test_run_follow_up__while_idle_is_refused(void **state) {
    (void)state;
    sim s;
    sim_init(&s);
    assert_int_equal(sim_follow_up(&s, "more"), HOB_EIDLE);
    sim_finish(&s);
}

static void test_run_follow_up__waits_while_the_model_asks_for_tools(void **state) {
    (void)state;
    sim s;
    sim_init(&s);
    sim_prompt(&s, "go");
    sim_follow_up(&s, "more");
    sim_log(&s);
    sim_calls(&s, "look:a");
    sim_ok(&s, "m3.0");
    sim_calls(&s, "look:b");
    sim_ok(&s, "m9.0");
    sim_done(&s, "went");
    sim_done(&s, "and more");
    assert_log(&s, "5 assistant_message m3 tools look(m3.0)\n"
                   "6 tool_decided m3.0 look allow mode:yolo\n"
                   "7 tool_started m3.0 look read_only\n"
                   "8 tool_finished m3.0 ok 'ok'\n"
                   "9 model_call_started m9 turn=2\n"
                   "10 assistant_message m9 tools look(m9.0)\n"
                   "11 tool_decided m9.0 look allow mode:yolo\n"
                   "12 tool_started m9.0 look read_only\n"
                   "13 tool_finished m9.0 ok 'ok'\n"
                   "14 model_call_started m14 turn=3\n"
                   "15 assistant_message m14 done 'went'\n"
                   "16 run_finished completed turns=3 tool_calls=2\n"
                   "17 follow_up_delivered q4\n"
                   "18 run_started run-s1-18 follow_up continues=run-s1-1\n"
                   "19 user_message 'more'\n"
                   "20 model_call_started m20 turn=4\n"
                   "21 assistant_message m20 done 'and more'\n"
                   "22 run_finished completed turns=4 tool_calls=2\n"
                   "23 settled completed\n");
    sim_finish(&s);
}

static void test_run_follow_up__comes_after_steering_one_by_one(void **state) {
    (void)state;
    sim s;
    sim_init(&s);
    sim_prompt(&s, "go");
    sim_calls(&s, "bash:a");
    sim_follow_up(&s, "F1");
    sim_follow_up(&s, "F2");
    sim_steer(&s, "S");
    sim_ok(&s, "m3.0");
    sim_done(&s, "s");
    sim_done(&s, "f1");
    sim_done(&s, "f2");
    assert_string_equal(sim_history(&s),
                        "user 'go' | model bash(m3.0) >'ok' | user 'S' | model 's' "
                        "| user 'F1' | model 'f1' | user 'F2' | model 'f2'");
    assert_string_equal(sim_line(&s, s.n - 1), "27 settled completed");
    sim_finish(&s);
}

static void test_run_follow_up__survives_a_crash(void **state) {
    (void)state;
    sim s;
    sim_init(&s);
    sim_prompt(&s, "go");
    sim_follow_up(&s, "more");
    sim_crash(&s, s.n);
    sim_reopen(&s);
    sim_done(&s, "went");
    sim_done(&s, "and more");
    assert_string_equal(sim_history(&s),
                        "user 'go' | model 'went' | user 'more' | model 'and more'");
    sim_finish(&s);
}

/* It was taken out of the queue, and the run it starts was not written yet. */
static void test_run_follow_up__survives_a_crash_between_its_events(void **state) {
    (void)state;
    sim s;
    sim_init(&s);
    sim_prompt(&s, "go");
    sim_follow_up(&s, "more");
    sim_done(&s, "went");
    assert_string_equal(sim_line(&s, 6), "7 follow_up_delivered q4");
    for (size_t kept = 7; kept <= 9; kept++) {
        sim_crash(&s, kept);
        sim_reopen(&s);
        sim_done(&s, "and more");
        assert_string_equal(sim_history(&s),
                            "user 'go' | model 'went' | user 'more' | model 'and more'");
        sim_check(&s);
    }
    sim_finish(&s);
}

static void test_run_follow_up__a_prompt_does_not_push_it_aside(void **state) {
    (void)state;
    sim s;
    sim_init(&s);
    sim_prompt(&s, "go");
    sim_follow_up(&s, "more");
    sim_done(&s, "went");
    sim_crash(&s, 7);
    assert_int_equal(sim_prompt(&s, "other"), HOB_EBUSY);
    sim_reopen(&s);
    assert_string_equal(sim_history(&s), "user 'go' | model 'went' | user 'more'");
    sim_finish(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_run_follow_up__while_idle_is_refused),
        cmocka_unit_test(test_run_follow_up__waits_while_the_model_asks_for_tools),
        cmocka_unit_test(test_run_follow_up__comes_after_steering_one_by_one),
        cmocka_unit_test(test_run_follow_up__survives_a_crash),
        cmocka_unit_test(test_run_follow_up__survives_a_crash_between_its_events),
        cmocka_unit_test(test_run_follow_up__a_prompt_does_not_push_it_aside),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
