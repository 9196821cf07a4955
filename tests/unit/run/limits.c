/* Limits: checked before the step that would pass them. */
#include "support/check.h"
#include "support/sim.h"

static void test_run_limits__turns(void **state) {
    (void)state;
    sim s;
    sim_init(&s);
    s.env.limits.turns = 2;
    sim_prompt(&s, "go");
    sim_calls(&s, "look:a");
    sim_ok(&s, "m3.0");
    sim_log(&s);
    sim_calls(&s, "look:b");
    sim_ok(&s, "m8.0");
    assert_log(&s, "9 assistant_message m8 tools look(m8.0)\n"
                   "10 tool_decided m8.0 look allow mode:yolo\n"
                   "11 tool_started m8.0 look read_only\n"
                   "12 tool_finished m8.0 ok 'ok'\n"
                   "13 limit_reached turns value=2 max=2\n"
                   "14 run_finished limit reason=turns turns=2 tool_calls=2\n"
                   "15 settled limit\n");
    sim_finish(&s);
}

/* Asking again is the same turn. */
static void test_run_limits__turns_allow_a_retry_of_the_last(void **state) {
    (void)state;
    sim s;
    sim_init(&s);
    s.env.limits.turns = 1;
    sim_prompt(&s, "go");
    sim_fail(&s, HOB_ENET, -1, false);
    sim_log(&s);
    sim_tick(&s, 500);
    sim_done(&s, "gone");
    assert_log(&s, "6 model_call_started m6 turn=1 attempt=2\n"
                   "7 assistant_message m6 done 'gone'\n"
                   "8 run_finished completed turns=1 tool_calls=0\n"
                   "9 settled completed\n");
    sim_finish(&s);
}

static void test_run_limits__tokens_end_the_run_before_they_are_passed(void **state) {
    (void)state;
    sim s;
    sim_init(&s);
    s.env.limits.tokens = 2000;
    s.usage = (hob_usage){.input_tokens = 800, .output_tokens = 200};
    sim_prompt(&s, "go");
    sim_log(&s);
    sim_calls(&s, "look:a");
    sim_result(&s, "m3.0", HOB_OUTCOME_OK, "");
    assert_log(&s, "4 assistant_message m3 tools look(m3.0)\n"
                   "5 tool_decided m3.0 look allow mode:yolo\n"
                   "6 tool_started m3.0 look read_only\n"
                   "7 tool_finished m3.0 ok \n"
                   "8 limit_reached tokens value=2000 max=2000\n"
                   "9 run_finished limit reason=tokens turns=1 tool_calls=1\n"
                   "10 settled limit\n");
    sim_finish(&s);
}

/* 1000 spent, 1000 in the prompt again, 100 left. */
static void test_run_limits__tokens_are_reserved_before_the_call(void **state) {
    (void)state;
    sim s;
    sim_init(&s);
    s.env.limits.tokens = 2100;
    s.usage = (hob_usage){.input_tokens = 800, .output_tokens = 200};
    sim_prompt(&s, "go");
    assert_string_equal(sim_line(&s, 2), "3 model_call_started m3 turn=1");
    sim_calls(&s, "look:a");
    sim_result(&s, "m3.0", HOB_OUTCOME_OK, "");
    assert_string_equal(sim_line(&s, 7), "8 model_call_started m8 turn=2 output_limit=100");
    assert_non_null(strstr(sim_json(&s, 7), "\"reserved_tokens\":1100,"));
    sim_finish(&s);
}

/* The last token of the budget may be used, not one more. */
static void test_run_limits__tokens_to_the_last(void **state) {
    (void)state;
    static const struct {
        int64_t limit;
        const char *then;
    } rows[] = {{2001, "8 model_call_started m8 turn=2 output_limit=1"},
                {2000, "8 limit_reached tokens value=2000 max=2000"}};
    for (size_t i = 0; i < HOB_ARRAY_LEN(rows); i++) {
        sim s;
        sim_init(&s);
        s.env.limits.tokens = rows[i].limit;
        s.usage = (hob_usage){.input_tokens = 800, .output_tokens = 200};
        sim_prompt(&s, "go");
        sim_calls(&s, "look:a");
        sim_result(&s, "m3.0", HOB_OUTCOME_OK, "");
        assert_string_equal(sim_line(&s, 7), rows[i].then);
        sim_finish(&s);
    }
}

static void test_run_limits__are_written_down(void **state) {
    (void)state;
    sim s;
    sim_init(&s);
    s.env.limits =
        (hob_limits){.turns = 1, .tokens = 20000, .tool_calls = 3, .ms = 4, .cost_usd = 5.5};
    s.env.priced = true;
    s.env.input_usd = s.env.output_usd = 0.001;
    sim_prompt(&s, "go");
    assert_string_equal(sim_json(&s, 0),
                        "{\"model\":\"lab/one\",\"origin\":\"prompt\",\"limits\":{\"turns\":1,"
                        "\"tokens\":20000,\"tool_calls\":3,\"ms\":4,\"cost_usd\":5.5}}");
    sim_finish(&s);
}

static void test_run_limits__eighty_percent_is_said_once(void **state) {
    (void)state;
    sim s;
    sim_init(&s);
    s.env.limits.tokens = 100;
    s.env.fixed_bytes = 0;
    s.env.max_output = 20;
    s.usage = (hob_usage){.output_tokens = 1};
    sim_prompt(&s, "go");
    sim_input(&s, &(hob_input){.kind = HOB_INPUT_MODEL_FAILED,
                               .code = HOB_ENET,
                               .retryable = true,
                               .retry_after = -1,
                               .text = HOB_STR("x"),
                               .usage = {.input_tokens = 80},
                               .cost_usd = -1});
    sim_log(&s);
    sim_tick(&s, 500);
    sim_answer(&s, "", NULL, HOB_STOP_CONTINUE);
    assert_log(&s, "6 budget_threshold tokens value=80 max=100\n"
                   "7 model_call_started m7 turn=1 attempt=2 output_limit=13\n"
                   "8 assistant_message m7 continue \n"
                   "9 model_call_started m9 turn=2 output_limit=18\n");
    sim_finish(&s);
}

static void test_run_limits__eighty_percent_is_said_by_each_run(void **state) {
    (void)state;
    sim s;
    sim_init(&s);
    s.env.limits.tokens = 1000;
    s.usage = (hob_usage){.output_tokens = 1};
    for (int i = 0; i < 2; i++) {
        sim_prompt(&s, "go");
        sim_input(&s, &(hob_input){.kind = HOB_INPUT_MODEL_FAILED,
                                   .code = HOB_ENET,
                                   .retryable = true,
                                   .retry_after = 0,
                                   .text = HOB_STR("x"),
                                   .usage = {.input_tokens = 800},
                                   .cost_usd = -1});
        sim_done(&s, "gone");
    }
    assert_int_equal(sim_count(&s, HOB_EVENT_BUDGET_THRESHOLD), 2);
    sim_finish(&s);
}

/* An image is a few hundred tokens, not as many as its bytes. */
static void test_run_limits__an_image_does_not_count_by_its_bytes(void **state) {
    (void)state;
    enum { BYTES = 1 << 20 };
    hob_buf b;
    sim s;
    sim_init(&s);
    s.env.limits.tokens = 20000;
    hob_buf_init(&b, 2 * BYTES);
    hob_buf_addz(&b, "[{\"type\":\"image\",\"media_type\":\"image/png\",\"data\":\"");
    for (int i = 0; i < BYTES; i++) hob_buf_addc(&b, 'A');
    hob_buf_addz(&b, "\"}]");
    sim_input(&s, &(hob_input){.kind = HOB_INPUT_PROMPT, .content = hob_buf_str(&b)});
    hob_buf_finish(&b);
    assert_string_equal(sim_line(&s, s.n - 1), "3 model_call_started m3 turn=1");
    assert_non_null(strstr(sim_json(&s, 2), "\"reserved_tokens\":2700,"));
    sim_finish(&s);
}

static void test_run_limits__cost_of_an_unknown_price_is_refused(void **state) {
    (void)state;
    sim s;
    sim_init(&s);
    s.env.limits.cost_usd = 1;
    assert_int_equal(sim_prompt(&s, "go"), HOB_EINVAL);
    assert_non_null(strstr(s.err.message, "lab/one"));
    assert_log(&s, "");
    sim_finish(&s);
}

static void set_price(sim *s) {
    s->env.priced = true;
    s->env.input_usd = 1; /* a million tokens */
    s->env.output_usd = 10;
    s->env.limits.cost_usd = 0.01;
    s->cost = 0.004;
}

static void test_run_limits__cost_lowers_the_output_limit(void **state) {
    (void)state;
    sim s;
    sim_init(&s);
    set_price(&s);
    sim_prompt(&s, "go");
    sim_answer(&s, "", NULL, HOB_STOP_CONTINUE);
    sim_answer(&s, "", NULL, HOB_STOP_CONTINUE);
    s.cost = 0.002;
    sim_answer(&s, "", NULL, HOB_STOP_CONTINUE);
    assert_log(&s, "1 run_started run-s1-1 prompt\n"
                   "2 user_message 'go'\n"
                   "3 model_call_started m3 turn=1 output_limit=989\n"
                   "4 assistant_message m3 continue \n"
                   "5 model_call_started m5 turn=2 output_limit=598\n"
                   "6 assistant_message m5 continue \n"
                   "7 budget_threshold cost value=0.008 max=0.01\n"
                   "8 model_call_started m8 turn=3 output_limit=198\n"
                   "9 assistant_message m8 continue \n"
                   "10 limit_reached cost value=0.01 max=0.01\n"
                   "11 run_finished limit reason=cost turns=3 tool_calls=0\n"
                   "12 settled limit\n");
    sim_finish(&s);
}

/* Where output costs nothing, what is left limits only whether there is another call. */
static void test_run_limits__cost_of_free_output(void **state) {
    (void)state;
    sim s;
    sim_init(&s);
    set_price(&s);
    s.env.output_usd = 0;
    s.cost = 0.00999;
    sim_prompt(&s, "go");
    sim_log(&s);
    sim_answer(&s, "", NULL, HOB_STOP_CONTINUE); /* 15 tokens of context: 0.000015 dollars */
    assert_log(&s, "4 assistant_message m3 continue \n"
                   "5 limit_reached cost value=0.00999 max=0.01\n"
                   "6 run_finished limit reason=cost turns=1 tool_calls=0\n"
                   "7 settled limit\n");
    s.cost = 0.0099;
    sim_prompt(&s, "again");
    sim_log(&s);
    sim_answer(&s, "", NULL, HOB_STOP_CONTINUE);
    assert_log(&s, "11 assistant_message m10 continue \n"
                   "12 budget_threshold cost value=0.0099 max=0.01\n"
                   "13 model_call_started m13 turn=2\n");
    sim_finish(&s);
}

/* An output token costs 0.00001 dollars: room for one, and for not quite one. */
static void test_run_limits__cost_to_the_last_token(void **state) {
    (void)state;
    static const struct {
        double cost;
        const char *then;
    } rows[] = {{0.009973, "6 model_call_started m6 turn=2 output_limit=1"},
                {0.009976, "5 limit_reached cost value=0.009976 max=0.01"}};
    for (size_t i = 0; i < HOB_ARRAY_LEN(rows); i++) {
        sim s;
        sim_init(&s);
        set_price(&s);
        s.cost = rows[i].cost;
        sim_prompt(&s, "go");
        sim_answer(&s, "", NULL, HOB_STOP_CONTINUE);
        assert_string_equal(sim_line(&s, i == 0 ? 5 : 4), rows[i].then);
        sim_finish(&s);
    }
}

/* A limit that cannot be checked any more is not ignored. */
static void test_run_limits__cost_after_a_change_to_an_unknown_price(void **state) {
    (void)state;
    sim s;
    sim_init(&s);
    set_price(&s);
    sim_prompt(&s, "go");
    s.env.priced = false;
    s.env.input_usd = s.env.output_usd = 0;
    sim_log(&s);
    sim_answer(&s, "", NULL, HOB_STOP_CONTINUE);
    assert_log(&s, "4 assistant_message m3 continue \n"
                   "5 limit_reached cost value=0.004 max=0.01\n"
                   "6 run_finished limit reason=cost turns=1 tool_calls=0\n"
                   "7 settled limit\n");
    sim_finish(&s);
}

static void test_run_limits__cost_of_an_unknown_price_is_refused_to_resume(void **state) {
    (void)state;
    sim s;
    sim_init(&s);
    set_price(&s);
    sim_prompt(&s, "go");
    sim_log(&s);
    sim_crash(&s, s.n);
    s.env.priced = false;
    assert_int_equal(sim_resume(&s), HOB_EINVAL);
    assert_log(&s, "");
    s.env.limits.cost_usd = 0;
    assert_int_equal(sim_resume(&s), HOB_SAID_MORE);
    sim_finish(&s);
}

static void test_run_limits__tool_calls(void **state) {
    (void)state;
    sim s;
    sim_init(&s);
    s.env.limits.tool_calls = 1;
    sim_prompt(&s, "go");
    sim_calls(&s, "bash:a bash:b");
    sim_log(&s);
    sim_ok(&s, "m3.0");
    assert_log(&s, "8 tool_finished m3.0 ok 'ok'\n"
                   "9 limit_reached tool_calls value=1 max=1\n"
                   "10 tool_finished m3.1 skipped 'skipped: the run reached a l..'\n"
                   "11 run_finished limit reason=tool_calls turns=1 tool_calls=1\n"
                   "12 settled limit\n");
    sim_finish(&s);
}

/* Those that were within the limit end as they like. */
static void test_run_limits__tool_calls_stop_no_call_within_the_limit(void **state) {
    (void)state;
    sim s;
    sim_init(&s);
    s.env.limits.tool_calls = 2;
    sim_prompt(&s, "go");
    sim_calls(&s, "look:a look:b look:c");
    sim_log(&s);
    assert_string_equal(sim_pending(&s), "run_tool m3.0, run_tool m3.1");
    sim_ok(&s, "m3.1");
    assert_string_equal(sim_pending(&s), "run_tool m3.0");
    sim_ok(&s, "m3.0");
    assert_log(&s, "10 tool_finished m3.1 ok 'ok'\n"
                   "11 tool_finished m3.0 ok 'ok'\n"
                   "12 limit_reached tool_calls value=2 max=2\n"
                   "13 tool_finished m3.2 skipped 'skipped: the run reached a l..'\n"
                   "14 run_finished limit reason=tool_calls turns=1 tool_calls=2\n"
                   "15 settled limit\n");
    sim_finish(&s);
}

static void test_run_limits__time_stops_the_model(void **state) {
    (void)state;
    sim s;
    sim_init(&s);
    s.env.limits.ms = 1000;
    sim_prompt(&s, "go");
    sim_log(&s);
    assert_string_equal(sim_pending(&s), "call_model m3, timer +1000");
    sim_tick(&s, 1000);
    assert_string_equal(sim_pending(&s), "call_model m3 !limit");
    sim_stopped(&s, "half", NULL);
    assert_log(&s, "4 limit_reached time value=1000 max=1000\n"
                   "5 assistant_message m3 aborted 'half'\n"
                   "6 run_finished limit reason=time turns=1 tool_calls=0\n"
                   "7 settled limit\n");
    assert_non_null(strstr(sim_json(&s, 5), "\"duration_ms\":1000}"));
    sim_finish(&s);
}

/* A limit that only the host knows of: what who pays may spend. */
static void test_run_limits__a_quota_ends_the_run(void **state) {
    (void)state;
    sim s;
    sim_init(&s);
    hob_input spent = {.kind = HOB_INPUT_QUOTA,
                       .call = HOB_STR("run-s1-1"),
                       .text = HOB_STR("quota_tokens"),
                       .value = 30,
                       .max = 20};
    assert_int_equal(sim_input(&s, &spent), HOB_EIDLE);
    sim_prompt(&s, "go");
    sim_follow_up(&s, "and this");
    sim_log(&s);
    spent.call = HOB_STR("run-s1-7");
    assert_int_equal(sim_input(&s, &spent), HOB_EIDLE); /* another run */
    spent.call = HOB_STR("run-s1-1");
    assert_int_equal(sim_input(&s, &spent), HOB_SAID_LAST);
    assert_int_equal(sim_input(&s, &spent), HOB_SAID_NOTHING);
    assert_string_equal(sim_pending(&s), "call_model m3 !limit");
    sim_stopped(&s, "half", NULL);
    assert_log(&s, "5 limit_reached quota_tokens value=30 max=20\n"
                   "6 assistant_message m3 aborted 'half'\n"
                   "7 run_finished limit reason=quota_tokens turns=1 tool_calls=0\n"
                   "8 queue_returned limit follow_up:q4:'and this'\n"
                   "9 settled limit\n");
    sim_finish(&s);
}

static void test_run_limits__time_stops_a_tool(void **state) {
    (void)state;
    sim s;
    sim_init(&s);
    s.env.limits.ms = 1000;
    sim_prompt(&s, "go");
    sim_calls(&s, "bash:a bash:b");
    sim_log(&s);
    sim_tick(&s, 1000);
    assert_string_equal(sim_pending(&s), "run_tool m3.0 after 7 !limit");
    sim_result(&s, "m3.0", HOB_OUTCOME_CANCELLED, "stopped");
    assert_log(&s, "8 limit_reached time value=1000 max=1000\n"
                   "9 tool_finished m3.1 skipped 'skipped: the run reached a l..'\n"
                   "10 tool_finished m3.0 cancelled 'stopped'\n"
                   "11 run_finished limit reason=time turns=1 tool_calls=1\n"
                   "12 settled limit\n");
    sim_finish(&s);
}

static void test_run_limits__time_ends_the_wait_for_a_retry(void **state) {
    (void)state;
    sim s;
    sim_init(&s);
    s.env.limits.ms = 1000;
    sim_prompt(&s, "go");
    sim_fail(&s, HOB_ERATE, 5000, false);
    sim_log(&s);
    assert_string_equal(sim_pending(&s), "timer +1000");
    sim_tick(&s, 1000);
    assert_log(&s, "6 limit_reached time value=1000 max=1000\n"
                   "7 run_finished limit reason=time turns=1 tool_calls=0\n"
                   "8 settled limit\n");
    sim_finish(&s);
}

static void test_run_limits__time_stands_while_parked(void **state) {
    (void)state;
    sim s;
    sim_init(&s);
    s.env.limits.ms = 1000;
    sim_policy(&s, HOB_MODE_ASK, NULL, NULL);
    sim_prompt(&s, "go");
    s.env.now += 600;
    sim_calls(&s, "bash:a");
    sim_log(&s);
    assert_string_equal(sim_pending(&s), "");
    sim_tick(&s, 86400000);
    assert_log(&s, "");
    sim_verdict(&s, "m3.0", true, "");
    assert_string_equal(sim_pending(&s), "run_tool m3.0 after 8, timer +400");
    sim_log(&s);
    sim_tick(&s, 399);
    assert_log(&s, "");
    sim_tick(&s, 1);
    assert_log(&s, "9 limit_reached time value=1000 max=1000\n");
    sim_finish(&s);
}

/* Also over a crash: only the time at work counts. */
static void test_run_limits__time_is_carried_over_a_crash(void **state) {
    (void)state;
    sim s;
    sim_init(&s);
    s.env.limits.ms = 1000;
    sim_prompt(&s, "go");
    s.env.now += 600;
    sim_calls(&s, "look:a");
    sim_crash(&s, s.n);
    s.env.now += 86400000;
    sim_reopen(&s);
    assert_string_equal(sim_pending(&s), "run_tool m3.0, timer +400");
    sim_finish(&s);
}

static void test_run_limits__bind_a_follow_up_too(void **state) {
    (void)state;
    sim s;
    sim_init(&s);
    s.env.limits.turns = 1;
    sim_prompt(&s, "go");
    sim_follow_up(&s, "more");
    sim_log(&s);
    sim_done(&s, "gone");
    assert_log(&s, "5 assistant_message m3 done 'gone'\n"
                   "6 run_finished completed turns=1 tool_calls=0\n"
                   "7 follow_up_delivered q4\n"
                   "8 run_started run-s1-8 follow_up continues=run-s1-1\n"
                   "9 user_message 'more'\n"
                   "10 limit_reached turns value=1 max=1\n"
                   "11 run_finished limit reason=turns turns=1 tool_calls=0\n"
                   "12 settled limit\n");
    sim_finish(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_run_limits__turns),
        cmocka_unit_test(test_run_limits__turns_allow_a_retry_of_the_last),
        cmocka_unit_test(test_run_limits__tokens_end_the_run_before_they_are_passed),
        cmocka_unit_test(test_run_limits__tokens_are_reserved_before_the_call),
        cmocka_unit_test(test_run_limits__tokens_to_the_last),
        cmocka_unit_test(test_run_limits__are_written_down),
        cmocka_unit_test(test_run_limits__eighty_percent_is_said_once),
        cmocka_unit_test(test_run_limits__eighty_percent_is_said_by_each_run),
        cmocka_unit_test(test_run_limits__an_image_does_not_count_by_its_bytes),
        cmocka_unit_test(test_run_limits__cost_of_an_unknown_price_is_refused),
        cmocka_unit_test(test_run_limits__cost_lowers_the_output_limit),
        cmocka_unit_test(test_run_limits__cost_of_free_output),
        cmocka_unit_test(test_run_limits__cost_to_the_last_token),
        cmocka_unit_test(test_run_limits__cost_after_a_change_to_an_unknown_price),
        cmocka_unit_test(test_run_limits__cost_of_an_unknown_price_is_refused_to_resume),
        cmocka_unit_test(test_run_limits__tool_calls),
        cmocka_unit_test(test_run_limits__tool_calls_stop_no_call_within_the_limit),
        cmocka_unit_test(test_run_limits__time_stops_the_model),
        cmocka_unit_test(test_run_limits__a_quota_ends_the_run),
        cmocka_unit_test(test_run_limits__time_stops_a_tool),
        cmocka_unit_test(test_run_limits__time_ends_the_wait_for_a_retry),
        cmocka_unit_test(test_run_limits__time_stands_while_parked),
        cmocka_unit_test(test_run_limits__time_is_carried_over_a_crash),
        cmocka_unit_test(test_run_limits__bind_a_follow_up_too),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
