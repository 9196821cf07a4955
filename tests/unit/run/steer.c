/* Steering: a message that enters the running work. */
#include "support/check.h"
#include "support/sim.h"

static void test_run_steer__while_idle_is_refused(void **state) {
    (void)state;
    sim s;
    sim_init(&s);
    assert_int_equal(sim_steer(&s, "left"), HOB_EIDLE);
    sim_prompt(&s, "go");
    sim_done(&s, "gone");
    assert_int_equal(sim_steer(&s, "left"), HOB_EIDLE);
    sim_prompt(&s, "again");
    assert_string_equal(sim_history(&s), "user 'go' | model 'gone' | user 'again'");
    sim_finish(&s);
}

static void test_run_steer__during_a_tool_skips_the_rest(void **state) {
    (void)state;
    sim s;
    sim_init(&s);
    sim_prompt(&s, "go");
    sim_calls(&s, "bash:a bash:b bash:c");
    sim_log(&s);
    assert_int_equal(sim_steer(&s, "stop that"), HOB_SAID_LAST);
    assert_string_equal(sim_pending(&s), "run_tool m3.0 after 8");
    sim_ok(&s, "m3.0");
    sim_done(&s, "stopped");
    assert_log(&s, "9 steer_queued q9 'stop that'\n"
                   "10 tool_finished m3.1 skipped 'skipped: the user steered'\n"
                   "11 tool_finished m3.2 skipped 'skipped: the user steered'\n"
                   "12 tool_finished m3.0 ok 'ok'\n"
                   "13 steer_delivered q9 'stop that'\n"
                   "14 model_call_started m14 turn=2\n"
                   "15 assistant_message m14 done 'stopped'\n"
                   "16 run_finished completed turns=2 tool_calls=1\n"
                   "17 settled completed\n");
    assert_string_equal(sim_history(&s),
                        "user 'go' | model bash(m3.0) bash(m3.1) bash(m3.2) >'ok' "
                        "!'skipped: the user steered' !'skipped: the user steered' "
                        "| user 'stop that' | model 'stopped'");
    sim_finish(&s);
}

static void test_run_steer__can_wait_for_the_whole_batch(void **state) {
    (void)state;
    sim s;
    sim_init(&s);
    s.env.after_batch = true;
    sim_prompt(&s, "go");
    sim_calls(&s, "bash:a bash:b bash:c");
    sim_log(&s);
    sim_steer(&s, "then left");
    sim_ok(&s, "m3.0");
    sim_ok(&s, "m3.1");
    sim_ok(&s, "m3.2");
    assert_log(&s, "9 steer_queued q9 'then left'\n"
                   "10 tool_finished m3.0 ok 'ok'\n"
                   "11 tool_started m3.1 bash unsafe\n"
                   "12 tool_finished m3.1 ok 'ok'\n"
                   "13 tool_started m3.2 bash unsafe\n"
                   "14 tool_finished m3.2 ok 'ok'\n"
                   "15 steer_delivered q9 'then left'\n"
                   "16 model_call_started m16 turn=2\n");
    sim_finish(&s);
}

static void test_run_steer__beside_a_parallel_batch_stops_no_tool(void **state) {
    (void)state;
    sim s;
    sim_init(&s);
    sim_prompt(&s, "go");
    sim_calls(&s, "look:a look:b");
    sim_log(&s);
    sim_steer(&s, "left");
    assert_string_equal(sim_pending(&s), "run_tool m3.0, run_tool m3.1");
    sim_ok(&s, "m3.1");
    sim_ok(&s, "m3.0");
    assert_log(&s, "9 steer_queued q9 'left'\n"
                   "10 tool_finished m3.1 ok 'ok'\n"
                   "11 tool_finished m3.0 ok 'ok'\n"
                   "12 steer_delivered q9 'left'\n"
                   "13 model_call_started m13 turn=2\n");
    sim_finish(&s);
}

static void test_run_steer__while_text_streams_stands_after_it(void **state) {
    (void)state;
    sim s;
    sim_init(&s);
    sim_prompt(&s, "go");
    sim_steer(&s, "left");
    assert_string_equal(sim_pending(&s), "call_model m3");
    sim_done(&s, "going");
    sim_done(&s, "left it is");
    assert_log(&s, "1 run_started run-s1-1 prompt\n"
                   "2 user_message 'go'\n"
                   "3 model_call_started m3 turn=1\n"
                   "4 steer_queued q4 'left'\n"
                   "5 assistant_message m3 done 'going'\n"
                   "6 steer_delivered q4 'left'\n"
                   "7 model_call_started m7 turn=2\n"
                   "8 assistant_message m7 done 'left it is'\n"
                   "9 run_finished completed turns=2 tool_calls=0\n"
                   "10 settled completed\n");
    assert_string_equal(sim_history(&s),
                        "user 'go' | model 'going' | user 'left' | model 'left it is'");
    sim_finish(&s);
}

static void test_run_steer__while_calls_stream_starts_none_of_them(void **state) {
    (void)state;
    sim s;
    sim_init(&s);
    sim_prompt(&s, "go");
    sim_steer(&s, "left");
    sim_log(&s);
    sim_calls(&s, "look:a bash:b");
    assert_log(&s, "5 assistant_message m3 tools look(m3.0) bash(m3.1)\n"
                   "6 tool_finished m3.0 skipped 'skipped: the user steered'\n"
                   "7 tool_finished m3.1 skipped 'skipped: the user steered'\n"
                   "8 steer_delivered q4 'left'\n"
                   "9 model_call_started m9 turn=2\n");
    sim_finish(&s);
}

static void test_run_steer__while_parked_withdraws_the_question(void **state) {
    (void)state;
    sim s;
    sim_init(&s);
    sim_policy(&s, HOB_MODE_ASK, NULL, NULL);
    sim_prompt(&s, "go");
    sim_calls(&s, "bash:a");
    assert_true(hob_run_parked(&s.run));
    sim_log(&s);
    sim_steer(&s, "never mind");
    assert_log(&s, "7 steer_queued q7 'never mind'\n"
                   "8 approval_resolved m3.0 false steer\n"
                   "9 tool_finished m3.0 skipped 'skipped: the user steered'\n"
                   "10 steer_delivered q7 'never mind'\n"
                   "11 model_call_started m11 turn=2\n");
    assert_string_equal(
        sim_json(&s, 7),
        "{\"call\":\"m3.0\",\"approved\":false,\"reason\":\"skipped: the user steered\","
        "\"by\":\"steer\"}");
    assert_int_equal(sim_verdict(&s, "m3.0", true, ""), HOB_EEXIST);
    sim_finish(&s);
}

static void test_run_steer__two_arrive_one_a_turn(void **state) {
    (void)state;
    sim s;
    sim_init(&s);
    sim_prompt(&s, "go");
    sim_steer(&s, "one");
    sim_steer(&s, "two");
    sim_log(&s);
    sim_done(&s, "going");
    sim_done(&s, "done one");
    sim_done(&s, "done two");
    assert_log(&s, "6 assistant_message m3 done 'going'\n"
                   "7 steer_delivered q4 'one'\n"
                   "8 model_call_started m8 turn=2\n"
                   "9 assistant_message m8 done 'done one'\n"
                   "10 steer_delivered q5 'two'\n"
                   "11 model_call_started m11 turn=3\n"
                   "12 assistant_message m11 done 'done two'\n"
                   "13 run_finished completed turns=3 tool_calls=0\n"
                   "14 settled completed\n");
    sim_finish(&s);
}

static void test_run_steer__two_can_arrive_together(void **state) {
    (void)state;
    sim s;
    sim_init(&s);
    s.env.steer_all = true;
    sim_prompt(&s, "go");
    sim_steer(&s, "one");
    sim_steer(&s, "two");
    sim_log(&s);
    sim_done(&s, "going");
    assert_log(&s, "6 assistant_message m3 done 'going'\n"
                   "7 steer_delivered q4 'one'\n"
                   "8 steer_delivered q5 'two'\n"
                   "9 model_call_started m9 turn=2\n");
    sim_finish(&s);
}

/* Known by id, not by text. */
static void test_run_steer__the_same_text_twice_stays_two(void **state) {
    (void)state;
    sim s;
    sim_init(&s);
    s.env.steer_all = true;
    sim_prompt(&s, "go");
    sim_steer(&s, "left");
    sim_steer(&s, "left");
    sim_done(&s, "going");
    assert_string_equal(sim_history(&s), "user 'go' | model 'going' | user 'left' | user 'left'");
    sim_finish(&s);
}

static void test_run_steer__queue_is_bounded(void **state) {
    (void)state;
    sim s;
    sim_init(&s);
    sim_prompt(&s, "go");
    for (int i = 0; i < HOB_QUEUE_MAX; i++) assert_int_equal(sim_steer(&s, "x"), HOB_SAID_LAST);
    assert_int_equal(sim_steer(&s, "x"), HOB_ETOOBIG);
    assert_int_equal(sim_follow_up(&s, "x"), HOB_SAID_LAST);
    sim_finish(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_run_steer__while_idle_is_refused),
        cmocka_unit_test(test_run_steer__during_a_tool_skips_the_rest),
        cmocka_unit_test(test_run_steer__can_wait_for_the_whole_batch),
        cmocka_unit_test(test_run_steer__beside_a_parallel_batch_stops_no_tool),
        cmocka_unit_test(test_run_steer__while_text_streams_stands_after_it),
        cmocka_unit_test(test_run_steer__while_calls_stream_starts_none_of_them),
        cmocka_unit_test(test_run_steer__while_parked_withdraws_the_question),
        cmocka_unit_test(test_run_steer__two_arrive_one_a_turn),
        cmocka_unit_test(test_run_steer__two_can_arrive_together),
        cmocka_unit_test(test_run_steer__the_same_text_twice_stays_two),
        cmocka_unit_test(test_run_steer__queue_is_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
