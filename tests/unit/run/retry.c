/* A model that fails: again, or not. */
#include "support/check.h"
#include "support/sim.h"

static void test_run_retry__after_a_while(void **state) {
    (void)state;
    sim s;
    sim_init(&s);
    sim_prompt(&s, "go");
    sim_fail(&s, HOB_EOVERLOAD, -1, false);
    assert_string_equal(sim_pending(&s), "timer +500");
    sim_tick(&s, 499);
    assert_string_equal(sim_pending(&s), "timer +1");
    sim_tick(&s, 1);
    sim_done(&s, "gone");
    assert_log(&s, "1 run_started run-s1-1 prompt\n"
                   "2 user_message 'go'\n"
                   "3 model_call_started m3 turn=1\n"
                   "4 model_call_failed m3 HOB_EOVERLOAD retryable\n"
                   "5 retry_scheduled attempt=2 delay_ms=500\n"
                   "6 model_call_started m6 turn=1 attempt=2\n"
                   "7 assistant_message m6 done 'gone'\n"
                   "8 run_finished completed turns=1 tool_calls=0\n"
                   "9 settled completed\n");
    sim_finish(&s);
}

static void test_run_retry__is_bounded_and_waits_twice_as_long_each_time(void **state) {
    (void)state;
    sim s;
    sim_init(&s);
    sim_prompt(&s, "go");
    sim_fail(&s, HOB_ENET, -1, false);
    sim_tick(&s, 500);
    sim_log(&s);
    sim_fail(&s, HOB_ENET, -1, false);
    sim_tick(&s, 1000);
    sim_fail(&s, HOB_ENET, -1, false);
    assert_log(&s, "7 model_call_failed m6 HOB_ENET retryable\n"
                   "8 retry_scheduled attempt=3 delay_ms=1000\n"
                   "9 model_call_started m9 turn=1 attempt=3\n"
                   "10 model_call_failed m9 HOB_ENET retryable\n"
                   "11 run_finished failed turns=1 tool_calls=0\n"
                   "12 settled failed\n");
    assert_non_null(strstr(sim_json(&s, 10),
                           "\"error\":{\"code\":\"HOB_ENET\",\"message\":\"network error\","
                           "\"retryable\":true}"));
    sim_finish(&s);
}

static void test_run_retry__does_not_wait_longer_than_the_cap(void **state) {
    (void)state;
    sim s;
    sim_init(&s);
    s.env.retry_attempts = 1000;
    s.env.retry_cap_ms = 1700;
    sim_prompt(&s, "go");
    for (int i = 0; i < 80; i++) {
        sim_fail(&s, HOB_ENET, -1, false);
        sim_tick(&s, 1700);
    }
    assert_string_equal(sim_line(&s, s.n - 2), "242 retry_scheduled attempt=81 delay_ms=1700");
    sim_finish(&s);
}

static void test_run_retry__does_as_the_provider_asks(void **state) {
    (void)state;
    sim s;
    sim_init(&s);
    sim_prompt(&s, "go");
    sim_fail(&s, HOB_ERATE, 7000, false);
    assert_string_equal(sim_line(&s, s.n - 1), "5 retry_scheduled attempt=2 delay_ms=7000");
    sim_finish(&s);
}

static void test_run_retry__asked_for_beyond_the_cap_fails_now(void **state) {
    (void)state;
    sim s;
    sim_init(&s);
    sim_prompt(&s, "go");
    sim_log(&s);
    sim_fail(&s, HOB_ERATE, 60001, false);
    assert_log(&s, "4 model_call_failed m3 HOB_ERATE retryable\n"
                   "5 run_finished failed turns=1 tool_calls=0\n"
                   "6 settled failed\n");
    sim_finish(&s);
}

/* At once, if that is what it says; and as long as the cap, if it says that. */
static void test_run_retry__takes_the_provider_at_its_word(void **state) {
    (void)state;
    sim s;
    sim_init(&s);
    sim_prompt(&s, "go");
    sim_log(&s);
    sim_fail(&s, HOB_ERATE, 0, false);
    sim_fail(&s, HOB_ERATE, 60000, false);
    assert_log(&s, "4 model_call_failed m3 HOB_ERATE retryable\n"
                   "5 retry_scheduled attempt=2 delay_ms=0\n"
                   "6 model_call_started m6 turn=1 attempt=2\n"
                   "7 model_call_failed m6 HOB_ERATE retryable\n"
                   "8 retry_scheduled attempt=3 delay_ms=60000\n");
    sim_finish(&s);
}

static void test_run_retry__failure_is_told_whole(void **state) {
    (void)state;
    sim s;
    sim_init(&s);
    sim_prompt(&s, "go");
    sim_input(&s, &(hob_input){.kind = HOB_INPUT_MODEL_FAILED,
                               .code = HOB_ERATE,
                               .sub = 429,
                               .retryable = true,
                               .retry_after = 90000,
                               .text = HOB_STR("slow down"),
                               .jitter = 7});
    assert_string_equal(
        sim_json(&s, 3),
        "{\"message\":\"m3\",\"attempt\":1,\"code\":\"HOB_ERATE\",\"status\":429,\"error\":\"slow down\","
        "\"retryable\":true,\"shown\":false,\"retry_after_ms\":90000,\"jitter\":7}");
    assert_string_equal(
        sim_json(&s, 4),
        "{\"status\":\"failed\",\"error\":{\"code\":\"HOB_ERATE\",\"status\":429,\"message\":\"slow down\","
        "\"retryable\":true},\"turns\":1,\"tool_calls\":0,\"usage\":{\"input_tokens\":0,\"output_tokens\":0,"
        "\"cache_read_tokens\":0,\"cache_write_tokens\":0,\"reasoning_tokens\":0},\"cost_usd\":0,\"duration_ms\":0}");
    sim_finish(&s);
}

static void test_run_retry__never_of_what_will_not_change(void **state) {
    (void)state;
    sim s;
    sim_init(&s);
    sim_prompt(&s, "go");
    sim_log(&s);
    sim_fail(&s, HOB_EAUTH, -1, false);
    assert_log(&s, "4 model_call_failed m3 HOB_EAUTH\n"
                   "5 run_finished failed turns=1 tool_calls=0\n"
                   "6 settled failed\n");
    sim_finish(&s);
}

static int64_t delay_with(unsigned jitter) {
    sim s;
    sim_init(&s);
    sim_prompt(&s, "go");
    sim_input(&s, &(hob_input){.kind = HOB_INPUT_MODEL_FAILED,
                               .code = HOB_ENET,
                               .retryable = true,
                               .retry_after = -1,
                               .text = HOB_STR("x"),
                               .jitter = jitter});
    int64_t delay = s.run.due - s.env.now;
    sim_finish(&s);
    return delay;
}

/* Chance is an input; it takes up to a quarter off. */
static void test_run_retry__leaves_a_quarter_to_chance(void **state) {
    (void)state;
    assert_int_equal(delay_with(0), 500);
    assert_int_equal(delay_with(400), 450);
    assert_int_equal(delay_with(1000), 375);
}

static void test_run_retry__discards_what_was_shown(void **state) {
    (void)state;
    sim s;
    sim_init(&s);
    sim_prompt(&s, "go");
    sim_log(&s);
    sim_fail(&s, HOB_EPROTO, -1, true);
    assert_log(&s, "4 model_call_failed m3 HOB_EPROTO retryable shown\n"
                   "5 turn_discarded m3\n"
                   "6 retry_scheduled attempt=2 delay_ms=500\n");
    assert_string_equal(sim_history(&s), "user 'go'");
    sim_finish(&s);
}

static void test_run_retry__gives_up_and_discards_what_was_shown(void **state) {
    (void)state;
    sim s;
    sim_init(&s);
    s.env.retry_attempts = 1;
    sim_prompt(&s, "go");
    sim_log(&s);
    sim_fail(&s, HOB_EPROTO, -1, true);
    assert_log(&s, "4 model_call_failed m3 HOB_EPROTO retryable shown\n"
                   "5 turn_discarded m3\n"
                   "6 run_finished failed turns=1 tool_calls=0\n"
                   "7 settled failed\n");
    sim_finish(&s);
}

static void test_run_retry__begins_anew_with_each_turn(void **state) {
    (void)state;
    sim s;
    sim_init(&s);
    s.env.retry_attempts = 2;
    sim_prompt(&s, "go");
    sim_fail(&s, HOB_ENET, -1, false);
    sim_tick(&s, 500);
    sim_calls(&s, "look:a");
    sim_ok(&s, "m6.0");
    sim_fail(&s, HOB_ENET, -1, false);
    assert_string_equal(sim_line(&s, s.n - 1), "13 retry_scheduled attempt=2 delay_ms=500");
    sim_finish(&s);
}

static void test_run_retry__books_what_the_failure_cost(void **state) {
    (void)state;
    sim s;
    sim_init(&s);
    sim_prompt(&s, "go");
    sim_input(&s, &(hob_input){.kind = HOB_INPUT_MODEL_FAILED,
                               .code = HOB_ENET,
                               .retryable = true,
                               .retry_after = -1,
                               .text = HOB_STR("x"),
                               .usage = {.input_tokens = 7},
                               .cost_usd = 0.25});
    assert_int_equal(s.run.spent.usage.input_tokens, 7);
    assert_true(s.run.spent.cost_usd == 0.25 && s.view->cost_usd == 0.25);
    sim_finish(&s);
}

static void test_run_retry__late_answer_is_refused(void **state) {
    (void)state;
    sim s;
    sim_init(&s);
    sim_prompt(&s, "go");
    sim_fail(&s, HOB_ENET, -1, false);
    assert_int_equal(sim_done(&s, "late"), HOB_EEXIST);
    assert_int_equal(sim_fail(&s, HOB_ENET, -1, false), HOB_EEXIST);
    sim_finish(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_run_retry__after_a_while),
        cmocka_unit_test(test_run_retry__is_bounded_and_waits_twice_as_long_each_time),
        cmocka_unit_test(test_run_retry__does_not_wait_longer_than_the_cap),
        cmocka_unit_test(test_run_retry__does_as_the_provider_asks),
        cmocka_unit_test(test_run_retry__asked_for_beyond_the_cap_fails_now),
        cmocka_unit_test(test_run_retry__takes_the_provider_at_its_word),
        cmocka_unit_test(test_run_retry__failure_is_told_whole),
        cmocka_unit_test(test_run_retry__never_of_what_will_not_change),
        cmocka_unit_test(test_run_retry__leaves_a_quarter_to_chance),
        cmocka_unit_test(test_run_retry__discards_what_was_shown),
        cmocka_unit_test(test_run_retry__gives_up_and_discards_what_was_shown),
        cmocka_unit_test(test_run_retry__begins_anew_with_each_turn),
        cmocka_unit_test(test_run_retry__books_what_the_failure_cost),
        cmocka_unit_test(test_run_retry__late_answer_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
