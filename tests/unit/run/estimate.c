/* How large the next prompt will be: what the provider counted, and what came after by its size. */
#include "support/check.h"
#include "support/sim.h"

#include <stdio.h>

/* reserved_tokens of the last call without its output. */
static int64_t estimate(sim *s) {
    for (size_t i = s->n; i-- > 0;) {
        char text[40];
        int64_t n = 0;
        if (s->log[i].event->type != HOB_EVENT_MODEL_CALL_STARTED) continue;
        hob_event_field(s->log[i].event, "reserved_tokens", text, sizeof(text));
        assert_int_equal(hob_str_int(hob_str_z(text), &n), HOB_OK);
        assert_int_equal(s->run.output_limit, 1000);
        return n - 1000;
    }
    return -1;
}

/* 400 bytes of fixed text, and a message: two brackets, and a block of 29 bytes with its comma. */
enum { FIXED = 400, MESSAGE = 2 + 27 + 1 };

static void test_run_estimate__at_first_everything_by_its_size(void **state) {
    (void)state;
    sim s;
    sim_init(&s);
    sim_prompt(&s, "ab");
    assert_int_equal(estimate(&s), (FIXED + MESSAGE) / 4);
    sim_finish(&s);
}

static void test_run_estimate__then_what_the_provider_counted(void **state) {
    (void)state;
    sim s;
    sim_init(&s);
    s.usage = (hob_usage){.input_tokens = 100, .output_tokens = 20, .cache_read_tokens = 3};
    sim_prompt(&s, "ab");
    sim_done(&s, "a long answer that was counted already");
    sim_prompt(&s, "cd");
    assert_int_equal(estimate(&s), 123 + MESSAGE / 4);
    sim_finish(&s);
}

static void test_run_estimate__adds_results_and_steering(void **state) {
    (void)state;
    sim s;
    sim_init(&s);
    s.usage = (hob_usage){.input_tokens = 100};
    sim_prompt(&s, "ab");
    sim_calls(&s, "look:a");
    sim_steer(&s, "cd");
    sim_result(&s, "m3.0", HOB_OUTCOME_OK, "ef");
    assert_int_equal(estimate(&s), 100 + 2 * MESSAGE / 4);
    sim_finish(&s);
}

static void test_run_estimate__adds_answers_that_were_not_counted(void **state) {
    (void)state;
    sim s;
    sim_init(&s);
    s.usage = (hob_usage){.input_tokens = 0};
    sim_prompt(&s, "ab");
    sim_answer(&s, "cd", NULL, HOB_STOP_CONTINUE);
    assert_int_equal(estimate(&s), (FIXED + 2 * MESSAGE) / 4);
    sim_finish(&s);
}

/* A failed call is paid for, but it is not part of the conversation. */
static void test_run_estimate__leaves_failures_out(void **state) {
    (void)state;
    sim s;
    sim_init(&s);
    sim_prompt(&s, "ab");
    sim_input(&s, &(hob_input){.kind = HOB_INPUT_MODEL_FAILED,
                               .code = HOB_ENET,
                               .retryable = true,
                               .text = HOB_STR("x"),
                               .usage = {.input_tokens = 5000},
                               .cost_usd = -1});
    assert_int_equal(estimate(&s), (FIXED + MESSAGE) / 4);
    sim_finish(&s);
}

/* Decides only: what the sim keeps is not told of these events. */
static int64_t estimate_of_a_prompt(sim *s) {
    int64_t prompt, output;
    s->env.path_bytes = s->view->history->bytes;
    hob_run_reserve(&s->run, &s->env, &prompt, &output);
    return prompt;
}

/* Messages that were copied from another session were never counted by a provider. */
static void test_run_estimate__counts_a_copied_conversation(void **state) {
    (void)state;
    sim s;
    sim_init(&s);
    sim_apply(&s, "user_message", "", "{\"content\":[{\"type\":\"text\",\"text\":\"ab\"}]}");
    assert_int_equal(estimate_of_a_prompt(&s), (FIXED + MESSAGE) / 4);
    sim_drop(&s);
}

/* After a move to another branch, what was counted was another conversation. */
static void test_run_estimate__begins_anew_on_another_branch(void **state) {
    (void)state;
    sim s;
    sim_init(&s);
    s.usage = (hob_usage){.input_tokens = 100000};
    sim_prompt(&s, "ab");
    sim_done(&s, "cd");
    assert_int_equal(estimate_of_a_prompt(&s), 100000);
    sim_apply(&s, "branch_moved", "", "{\"to\":\"e2\"}");
    assert_int_equal(estimate_of_a_prompt(&s), (FIXED + MESSAGE) / 4);
    sim_drop(&s);
}

/* What a batch needs is given back when the next one comes. */
static void test_run_estimate__a_run_needs_no_more_memory_with_each_turn(void **state) {
    (void)state;
    sim s;
    sim_init(&s);
    sim_prompt(&s, "ab");
    for (int i = 0; i < 100; i++) {
        char call[40];
        snprintf(call, sizeof(call), "%s.0", s.run.message);
        sim_calls(&s, i % 2 ? "look:a" : "look:b");
        sim_ok(&s, call);
    }
    assert_in_range(hob_arena_used(s.run.arena), 1, 1000);
    sim_finish(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_run_estimate__at_first_everything_by_its_size),
        cmocka_unit_test(test_run_estimate__then_what_the_provider_counted),
        cmocka_unit_test(test_run_estimate__adds_results_and_steering),
        cmocka_unit_test(test_run_estimate__adds_answers_that_were_not_counted),
        cmocka_unit_test(test_run_estimate__leaves_failures_out),
        cmocka_unit_test(test_run_estimate__counts_a_copied_conversation),
        cmocka_unit_test(test_run_estimate__begins_anew_on_another_branch),
        cmocka_unit_test(test_run_estimate__a_run_needs_no_more_memory_with_each_turn),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
