/* How an answer ended decides what follows. */
#include "support/check.h"
#include "support/sim.h"

static void test_run_stop__length_runs_none_of_the_calls(void **state) {
    (void)state;
    sim s;
    sim_init(&s);
    sim_prompt(&s, "go");
    sim_log(&s);
    sim_answer(&s, "I", "look:a bash:b", HOB_STOP_LENGTH);
    assert_string_equal(sim_pending(&s), "call_model m7");
    assert_log(&s, "4 assistant_message m3 length 'I' look(m3.0) bash(m3.1)\n"
                   "5 tool_finished m3.0 error 'error: the answer was cut of..'\n"
                   "6 tool_finished m3.1 error 'error: the answer was cut of..'\n"
                   "7 model_call_started m7 turn=2\n");
    assert_string_equal(
        sim_json(&s, 4),
        "{\"call\":\"m3.0\",\"tool\":\"look\",\"outcome\":\"error\",\"content\":[{\"type\":\"text\",\"text\":\"error: the answer "
        "was cut off at its length limit, so none of its calls was run; make the call again, in smaller pieces\"}]}");
    sim_finish(&s);
}

static void test_run_stop__length_without_calls_ends_the_run(void **state) {
    (void)state;
    sim s;
    sim_init(&s);
    sim_prompt(&s, "go");
    sim_log(&s);
    sim_answer(&s, "a long st", NULL, HOB_STOP_LENGTH);
    assert_log(&s, "4 assistant_message m3 length 'a long st'\n"
                   "5 run_finished limit reason=length turns=1 tool_calls=0\n"
                   "6 settled limit\n");
    assert_string_equal(sim_history(&s), "user 'go' | model 'a long st'");
    sim_finish(&s);
}

static void test_run_stop__refusal_fails_the_run(void **state) {
    (void)state;
    sim s;
    sim_init(&s);
    sim_prompt(&s, "go");
    sim_follow_up(&s, "more");
    sim_log(&s);
    sim_answer(&s, "no", NULL, HOB_STOP_REFUSAL);
    assert_log(&s, "5 assistant_message m3 refusal 'no'\n"
                   "6 run_finished failed reason=refusal turns=1 tool_calls=0\n"
                   "7 queue_returned failed follow_up:q4:'more'\n"
                   "8 settled failed\n");
    assert_non_null(strstr(sim_json(&s, 5),
                           "\"error\":{\"code\":\"HOB_EREFUSED\",\"message\":\"the model "
                           "refused to answer\",\"retryable\":false}"));
    sim_finish(&s);
}

/* What an attempt before it failed of is not the reason. */
static void test_run_stop__refusal_after_a_failure_has_its_own_reason(void **state) {
    (void)state;
    sim s;
    sim_init(&s);
    sim_prompt(&s, "go");
    sim_input(&s, &(hob_input){.kind = HOB_INPUT_MODEL_FAILED,
                               .code = HOB_ERATE,
                               .sub = 429,
                               .retryable = true,
                               .text = HOB_STR("slow down")});
    sim_answer(&s, "no", NULL, HOB_STOP_REFUSAL);
    assert_non_null(strstr(sim_json(&s, s.n - 2),
                           "\"error\":{\"code\":\"HOB_EREFUSED\",\"message\":\"the "
                           "model refused to answer\",\"retryable\":false}"));
    sim_finish(&s);
}

static void test_run_stop__refusal_runs_none_of_the_calls(void **state) {
    (void)state;
    sim s;
    sim_init(&s);
    sim_prompt(&s, "go");
    sim_log(&s);
    sim_answer(&s, "no", "bash:a", HOB_STOP_REFUSAL);
    assert_log(&s, "4 assistant_message m3 refusal 'no' bash(m3.0)\n"
                   "5 tool_finished m3.0 skipped 'skipped: the run failed befo..'\n"
                   "6 run_finished failed reason=refusal turns=1 tool_calls=0\n"
                   "7 settled failed\n");
    sim_finish(&s);
}

static void test_run_stop__continue_asks_again(void **state) {
    (void)state;
    sim s;
    sim_init(&s);
    sim_prompt(&s, "go");
    sim_log(&s);
    sim_answer(&s, "wait", NULL, HOB_STOP_CONTINUE);
    sim_done(&s, "there");
    assert_log(&s, "4 assistant_message m3 continue 'wait'\n"
                   "5 model_call_started m5 turn=2\n"
                   "6 assistant_message m5 done 'there'\n"
                   "7 run_finished completed turns=2 tool_calls=0\n"
                   "8 settled completed\n");
    sim_finish(&s);
}

/* Never a success, and no call of it runs. */
static void test_run_stop__without_an_end_mark_it_is_a_failure(void **state) {
    (void)state;
    sim s;
    sim_init(&s);
    sim_prompt(&s, "go");
    sim_log(&s);
    sim_answer(&s, "half", "bash:a", HOB_STOP_NONE);
    assert_log(&s, "4 model_call_failed m3 HOB_EPROTO retryable shown\n"
                   "5 turn_discarded m3\n"
                   "6 retry_scheduled attempt=2 delay_ms=500\n");
    sim_finish(&s);
}

static void test_run_stop__without_an_end_mark_and_content_nothing_was_shown(void **state) {
    (void)state;
    sim s;
    sim_init(&s);
    sim_prompt(&s, "go");
    sim_log(&s);
    sim_answer(&s, "", NULL, HOB_STOP_NONE);
    assert_log(&s, "4 model_call_failed m3 HOB_EPROTO retryable\n"
                   "5 retry_scheduled attempt=2 delay_ms=500\n");
    sim_finish(&s);
}

/* Nobody cancelled, and yet the transport says so: that is no end of an answer either. */
static void test_run_stop__cancelled_by_nobody_is_a_failure(void **state) {
    (void)state;
    sim s;
    sim_init(&s);
    sim_prompt(&s, "go");
    sim_log(&s);
    sim_stopped(&s, "half", "bash:a");
    assert_log(&s, "4 model_call_failed m3 HOB_ECANCELLED shown\n"
                   "5 turn_discarded m3\n"
                   "6 run_finished failed turns=1 tool_calls=0\n"
                   "7 settled failed\n");
    sim_finish(&s);
}

static void test_run_stop__an_empty_answer_ends_the_run(void **state) {
    (void)state;
    sim s;
    sim_init(&s);
    sim_prompt(&s, "go");
    sim_log(&s);
    sim_done(&s, "");
    assert_log(&s, "4 assistant_message m3 done \n"
                   "5 run_finished completed turns=1 tool_calls=0\n"
                   "6 settled completed\n");
    sim_finish(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_run_stop__length_runs_none_of_the_calls),
        cmocka_unit_test(test_run_stop__length_without_calls_ends_the_run),
        cmocka_unit_test(test_run_stop__refusal_fails_the_run),
        cmocka_unit_test(test_run_stop__refusal_after_a_failure_has_its_own_reason),
        cmocka_unit_test(test_run_stop__refusal_runs_none_of_the_calls),
        cmocka_unit_test(test_run_stop__continue_asks_again),
        cmocka_unit_test(test_run_stop__without_an_end_mark_it_is_a_failure),
        cmocka_unit_test(test_run_stop__without_an_end_mark_and_content_nothing_was_shown),
        cmocka_unit_test(test_run_stop__cancelled_by_nobody_is_a_failure),
        cmocka_unit_test(test_run_stop__an_empty_answer_ends_the_run),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
