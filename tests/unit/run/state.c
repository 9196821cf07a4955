/* What calls do besides answering: state, and how it goes on. */
#include "support/check.h"
#include "support/sim.h"

static void start(sim *s, const char *calls) {
    sim_init(s);
    sim_prompt(s, "go");
    sim_calls(s, calls);
    sim_log(s);
}

static void test_run_state__case_41_deltas_merge_in_call_order(void **state) {
    (void)state;
    sim s;
    start(&s, "look:a look:b look:c");
    sim_actions(&s, "m3.2", "{'state_delta':{'k':3,'c':1},'removed':['gone']}");
    sim_actions(&s, "m3.0", "{'state_delta':{'k':1,'gone':1,'a':[1]}}");
    sim_ok(&s, "m3.1");
    assert_log(&s, "11 tool_finished m3.2 ok 'ok'\n"
                   "12 tool_finished m3.0 ok 'ok'\n"
                   "13 tool_finished m3.1 ok 'ok'\n"
                   "14 state_changed {\"a\":[1],\"c\":1,\"k\":3} removed=[\"gone\"]\n"
                   "15 model_call_started m15 turn=2\n");
    sim_done(&s, "x");
    sim_finish(&s);
}

static void test_run_state__one_call_is_named(void **state) {
    (void)state;
    sim s;
    start(&s, "look:a look:b");
    sim_ok(&s, "m3.0");
    sim_actions(&s, "m3.1", "{'state_delta':{'k':null}}");
    assert_string_equal(sim_line(&s, s.n - 2), "11 state_changed {\"k\":null} call=m3.1");
    assert_str(s.log[s.n - 2].event->cause, "m3");
    sim_done(&s, "x");
    sim_finish(&s);
}

static void test_run_state__nothing_asked_nothing_said(void **state) {
    (void)state;
    sim s;
    start(&s, "look:a");
    sim_actions(&s, "m3.0", "{'escalate':true}");
    assert_int_equal(sim_count(&s, HOB_EVENT_STATE_CHANGED), 0);
    assert_true(s.run.escalate);
    sim_done(&s, "x");
    sim_finish(&s);
}

static void test_run_state__only_names_of_temp_keys_are_said(void **state) {
    (void)state;
    sim s;
    start(&s, "look:a look:b");
    sim_actions(&s, "m3.0", "{'temp':['temp:b','temp:a']}");
    sim_actions(&s, "m3.1", "{'temp':['temp:b'],'state_delta':{'k':1}}");
    assert_string_equal(sim_line(&s, s.n - 2),
                        "11 state_changed {\"k\":1} temp=[\"temp:a\",\"temp:b\"]");
    assert_true(s.run.temp_named);
    sim_done(&s, "x");
    assert_false(s.run.temp_named);
    sim_finish(&s);
}

static void test_run_state__a_resumed_run_says_once_that_temp_is_lost(void **state) {
    (void)state;
    sim s;
    start(&s, "look:a");
    sim_actions(&s, "m3.0", "{'temp':['temp:a']}");
    sim_crash(&s, s.n);
    s.env.temp_kept = false;
    sim_log(&s);
    sim_reopen(&s);
    sim_done(&s, "x");
    assert_log(&s, "10 run_finished interrupted turns=2 tool_calls=1\n"
                   "11 run_started run-s1-11 resume continues=run-s1-1\n"
                   "12 warning temp_lost\n"
                   "13 turn_discarded m9\n"
                   "14 model_call_started m14 turn=2\n"
                   "15 assistant_message m14 done 'x'\n"
                   "16 run_finished completed turns=2 tool_calls=1\n"
                   "17 settled completed\n");
    sim_finish(&s);
}

static void test_run_state__a_parked_run_says_that_temp_is_lost(void **state) {
    (void)state;
    sim s;
    sim_init(&s);
    sim_policy(&s, HOB_MODE_YOLO, "bash", NULL);
    sim_prompt(&s, "go");
    sim_calls(&s, "look:a");
    sim_actions(&s, "m3.0", "{'temp':['temp:a']}");
    sim_calls(&s, "bash:b");
    assert_true(hob_run_parked(&s.run));
    sim_crash(&s, s.n);
    s.env.temp_kept = false;
    sim_log(&s);
    sim_verdict(&s, "m9.0", true, "");
    assert_log(&s, "13 approval_resolved m9.0 true user\n"
                   "14 warning temp_lost\n"
                   "15 tool_started m9.0 bash unsafe\n");
    sim_ok(&s, "m9.0");
    sim_done(&s, "x");
    sim_finish(&s);
}

static void test_run_state__the_results_are_the_answer_if_all_say_so(void **state) {
    (void)state;
    sim s;
    start(&s, "look:a look:b");
    sim_actions(&s, "m3.0", "{'skip_summarization':true}");
    sim_actions(&s, "m3.1", "{'skip_summarization':true,'state_delta':{'k':1}}");
    assert_log(&s, "9 tool_finished m3.0 ok 'ok'\n"
                   "10 tool_finished m3.1 ok 'ok'\n"
                   "11 state_changed {\"k\":1} call=m3.1\n"
                   "12 run_finished completed turns=1 tool_calls=2\n"
                   "13 settled completed\n");
    sim_finish(&s);
}

static void test_run_state__one_that_wants_a_summary_is_enough(void **state) {
    (void)state;
    sim s;
    start(&s, "look:a look:b");
    sim_actions(&s, "m3.0", "{'skip_summarization':true}");
    sim_ok(&s, "m3.1");
    assert_string_equal(sim_line(&s, s.n - 1), "11 model_call_started m11 turn=2");
    sim_done(&s, "x");
    sim_finish(&s);
}

static void test_run_state__steering_asks_the_model_all_the_same(void **state) {
    (void)state;
    sim s;
    start(&s, "bash:a");
    sim_steer(&s, "wait");
    sim_actions(&s, "m3.0", "{'skip_summarization':true}");
    assert_string_equal(sim_line(&s, s.n - 1), "10 model_call_started m10 turn=2");
    sim_done(&s, "x");
    sim_finish(&s);
}

static void test_run_state__wishes_last_until_the_next_answer(void **state) {
    (void)state;
    sim s;
    start(&s, "look:a look:b");
    sim_actions(&s, "m3.0", "{'transfer':'one','escalate':true}");
    sim_actions(&s, "m3.1", "{'transfer':'two'}");
    assert_str(s.run.transfer, "two");
    assert_true(s.run.escalate);
    sim_refold(&s);
    assert_str(s.run.transfer, "two");
    sim_done(&s, "x");
    assert_str(s.run.transfer, "");
    assert_false(s.run.escalate);
    sim_finish(&s);
}

static void test_run_state__a_run_that_is_cancelled_keeps_what_was_done(void **state) {
    (void)state;
    sim s;
    start(&s, "bash:a bash:b");
    sim_cancel(&s, HOB_ENDING_CANCEL, HOB_QUEUE_RETURN);
    sim_log(&s);
    sim_actions(&s, "m3.0", "{'state_delta':{'k':1}}");
    assert_log(&s, "10 tool_finished m3.0 ok 'ok'\n"
                   "11 state_changed {\"k\":1} call=m3.0\n"
                   "12 run_finished cancelled reason=the user stopped it turns=1 tool_calls=1\n"
                   "13 settled cancelled\n");
    sim_finish(&s);
}

static void test_run_state__a_crash_before_it_was_said_loses_nothing(void **state) {
    (void)state;
    sim s;
    start(&s, "look:a");
    sim_actions(&s, "m3.0", "{'state_delta':{'k':1}}");
    assert_string_equal(sim_line(&s, s.n - 3), "7 tool_finished m3.0 ok 'ok'");
    sim_crash(&s, 7);
    sim_log(&s);
    sim_reopen(&s);
    assert_log(&s, "8 run_finished interrupted turns=1 tool_calls=1\n"
                   "9 run_started run-s1-9 resume continues=run-s1-1\n"
                   "10 state_changed {\"k\":1} call=m3.0\n"
                   "11 model_call_started m11 turn=2\n");
    sim_done(&s, "x");
    sim_finish(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_run_state__case_41_deltas_merge_in_call_order),
        cmocka_unit_test(test_run_state__one_call_is_named),
        cmocka_unit_test(test_run_state__nothing_asked_nothing_said),
        cmocka_unit_test(test_run_state__only_names_of_temp_keys_are_said),
        cmocka_unit_test(test_run_state__a_resumed_run_says_once_that_temp_is_lost),
        cmocka_unit_test(test_run_state__a_parked_run_says_that_temp_is_lost),
        cmocka_unit_test(test_run_state__the_results_are_the_answer_if_all_say_so),
        cmocka_unit_test(test_run_state__one_that_wants_a_summary_is_enough),
        cmocka_unit_test(test_run_state__steering_asks_the_model_all_the_same),
        cmocka_unit_test(test_run_state__wishes_last_until_the_next_answer),
        cmocka_unit_test(test_run_state__a_run_that_is_cancelled_keeps_what_was_done),
        cmocka_unit_test(test_run_state__a_crash_before_it_was_said_loses_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
