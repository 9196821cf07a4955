/* Calls whose tool works on elsewhere: the run ends with a receipt, and another begins with the result. */
#include "support/check.h"
#include "support/sim.h"

static const char blocks[] = "[{\"type\":\"text\",\"text\":\"42\"}]";

static int receipt(sim *s, const char *call, hob_outcome outcome) {
    return sim_input(s,
                     &(hob_input){.kind = HOB_INPUT_TOOL_FINISHED,
                                  .call = hob_str_z(call),
                                  .outcome = outcome,
                                  .exit_code = -1,
                                  .pending = true,
                                  .content = HOB_STR("[{\"type\":\"text\",\"text\":\"wait\"}]")});
}

static int update(sim *s, const char *call, bool final) {
    return sim_input(s, &(hob_input){.kind = HOB_INPUT_TOOL_UPDATED,
                                     .call = hob_str_z(call),
                                     .tool = HOB_STR("look"),
                                     .outcome = HOB_OUTCOME_OK,
                                     .final = final,
                                     .content = hob_str_z(blocks)});
}

static void start(sim *s, const char *calls) {
    sim_init(s);
    sim_prompt(s, "go");
    sim_calls(s, calls);
    sim_log(s);
}

static void test_run_pending__a_receipt_ends_the_run(void **state) {
    (void)state;
    sim s;
    start(&s, "look:a");
    receipt(&s, "m3.0", HOB_OUTCOME_OK);
    assert_log(&s, "7 tool_finished m3.0 ok 'wait'\n"
                   "8 run_finished completed turns=1 tool_calls=1\n"
                   "9 settled completed\n");
    sim_finish(&s);
}

static void test_run_pending__the_other_calls_come_to_their_end(void **state) {
    (void)state;
    sim s;
    start(&s, "look:a look:b");
    receipt(&s, "m3.0", HOB_OUTCOME_OK);
    assert_true(hob_run_active(&s.run));
    sim_ok(&s, "m3.1");
    assert_false(hob_run_active(&s.run));
    sim_finish(&s);
}

static void test_run_pending__a_failure_is_no_receipt(void **state) {
    (void)state;
    sim s;
    start(&s, "look:a");
    receipt(&s, "m3.0", HOB_OUTCOME_ERROR);
    assert_log(&s, "7 tool_finished m3.0 error 'wait'\n"
                   "8 model_call_started m8 turn=2\n");
    sim_done(&s, "x");
    sim_finish(&s);
}

static void test_run_pending__the_result_begins_a_run(void **state) {
    (void)state;
    sim s;
    start(&s, "look:a");
    receipt(&s, "m3.0", HOB_OUTCOME_OK);
    sim_log(&s);
    assert_true(update(&s, "m3.0", true) >= 0);
    assert_log(&s, "10 run_started run-s1-10 update\n"
                   "11 tool_updated m3.0 ok '42'\n"
                   "12 model_call_started m12 turn=1\n");
    sim_done(&s, "x");
    sim_finish(&s);
}

static void test_run_pending__progress_begins_nothing(void **state) {
    (void)state;
    sim s;
    start(&s, "look:a");
    receipt(&s, "m3.0", HOB_OUTCOME_OK);
    sim_log(&s);
    assert_true(update(&s, "m3.0", false) >= 0);
    assert_log(&s, "10 tool_updated m3.0 ok '42'\n");
    assert_false(hob_run_active(&s.run));
    sim_finish(&s);
}

static void test_run_pending__a_held_result_begins_nothing(void **state) {
    (void)state;
    sim s;
    start(&s, "look:a look:b");
    receipt(&s, "m3.0", HOB_OUTCOME_OK);
    receipt(&s, "m3.1", HOB_OUTCOME_OK);
    sim_log(&s);
    sim_input(&s, &(hob_input){.kind = HOB_INPUT_TOOL_UPDATED,
                               .call = HOB_STR("m3.0"),
                               .tool = HOB_STR("look"),
                               .outcome = HOB_OUTCOME_OK,
                               .final = true,
                               .held = true,
                               .content = hob_str_z(blocks)});
    assert_false(hob_run_active(&s.run));
    update(&s, "m3.1", true);
    assert_true(hob_run_active(&s.run));
    sim_finish(&s);
}

static void test_run_pending__not_while_a_run_is_under_way(void **state) {
    (void)state;
    sim s;
    start(&s, "look:a");
    receipt(&s, "m3.0", HOB_OUTCOME_OK);
    sim_prompt(&s, "and?");
    assert_int_equal(update(&s, "m3.0", true), HOB_EBUSY);
    assert_int_equal(update(&s, "m3.0", false), HOB_EBUSY);
    sim_done(&s, "x");
    sim_finish(&s);
}

static void test_run_pending__steering_is_answered_with_the_receipt(void **state) {
    (void)state;
    sim s;
    start(&s, "look:a");
    sim_steer(&s, "hurry");
    receipt(&s, "m3.0", HOB_OUTCOME_OK);
    assert_true(hob_run_active(&s.run));
    sim_done(&s, "x");
    assert_false(hob_run_active(&s.run));
    sim_finish(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_run_pending__a_receipt_ends_the_run),
        cmocka_unit_test(test_run_pending__the_other_calls_come_to_their_end),
        cmocka_unit_test(test_run_pending__a_failure_is_no_receipt),
        cmocka_unit_test(test_run_pending__the_result_begins_a_run),
        cmocka_unit_test(test_run_pending__progress_begins_nothing),
        cmocka_unit_test(test_run_pending__a_held_result_begins_nothing),
        cmocka_unit_test(test_run_pending__not_while_a_run_is_under_way),
        cmocka_unit_test(test_run_pending__steering_is_answered_with_the_receipt),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
