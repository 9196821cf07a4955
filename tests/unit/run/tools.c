/* The calls of one answer. */
#include "support/check.h"
#include "support/sim.h"

#include <stdio.h>

static void test_run_tools__call_is_decided_started_finished(void **state) {
    (void)state;
    sim s;
    sim_init(&s);
    sim_prompt(&s, "look");
    sim_answer(&s, "I look.", "look:a", HOB_STOP_TOOLS);
    assert_string_equal(sim_pending(&s), "run_tool m3.0");
    sim_ok(&s, "m3.0");
    sim_done(&s, "seen");
    assert_log(&s, "1 run_started run-s1-1 prompt\n"
                   "2 user_message 'look'\n"
                   "3 model_call_started m3 turn=1\n"
                   "4 assistant_message m3 tools 'I look.' look(m3.0)\n"
                   "5 tool_decided m3.0 look allow mode:yolo\n"
                   "6 tool_started m3.0 look read_only\n"
                   "7 tool_finished m3.0 ok 'ok'\n"
                   "8 model_call_started m8 turn=2\n"
                   "9 assistant_message m8 done 'seen'\n"
                   "10 run_finished completed turns=2 tool_calls=1\n"
                   "11 settled completed\n");
    assert_string_equal(sim_history(&s),
                        "user 'look' | model 'I look.' look(m3.0) >'ok' | model 'seen'");
    sim_finish(&s);
}

static void test_run_tools__that_only_read_run_side_by_side(void **state) {
    (void)state;
    sim s;
    sim_init(&s);
    sim_prompt(&s, "look");
    sim_calls(&s, "look:a look:b look:c");
    assert_string_equal(sim_pending(&s), "run_tool m3.0, run_tool m3.1, run_tool m3.2");
    sim_log(&s);
    sim_result(&s, "m3.2", HOB_OUTCOME_OK, "c");
    sim_result(&s, "m3.0", HOB_OUTCOME_ERROR, "a");
    sim_result(&s, "m3.1", HOB_OUTCOME_OK, "b");
    assert_log(&s, "11 tool_finished m3.2 ok 'c'\n"
                   "12 tool_finished m3.0 error 'a'\n"
                   "13 tool_finished m3.1 ok 'b'\n"
                   "14 model_call_started m14 turn=2\n");
    assert_string_equal(sim_history(&s),
                        "user 'look' | model look(m3.0) look(m3.1) look(m3.2) !'a' >'b' >'c'");
    sim_finish(&s);
}

static void test_run_tools__at_most_sixteen_at_once(void **state) {
    (void)state;
    char calls[300] = "", call[24];
    sim s;
    sim_init(&s);
    sim_prompt(&s, "look");
    for (int i = 0; i < 20; i++) snprintf(calls + strlen(calls), 12, "look:%d ", i);
    sim_calls(&s, calls);
    assert_int_equal(sim_count(&s, HOB_EVENT_TOOL_STARTED), 16);
    sim_ok(&s, "m3.7");
    assert_int_equal(sim_count(&s, HOB_EVENT_TOOL_STARTED), 17);
    for (int i = 0; i < 20; i++) {
        snprintf(call, sizeof(call), "m3.%d", i);
        if (i != 7) assert_int_equal(sim_ok(&s, call), HOB_SAID_LAST);
    }
    assert_int_equal(sim_count(&s, HOB_EVENT_TOOL_STARTED), 20);
    assert_int_equal(sim_count(&s, HOB_EVENT_MODEL_CALL_STARTED), 2);
    sim_finish(&s);
}

static void test_run_tools__one_that_changes_things_makes_it_one_after_the_other(void **state) {
    (void)state;
    sim s;
    sim_init(&s);
    sim_prompt(&s, "go");
    sim_calls(&s, "look:a bash:b look:c look:d");
    assert_string_equal(sim_pending(&s), "run_tool m3.0");
    sim_log(&s);
    sim_ok(&s, "m3.0");
    assert_string_equal(sim_pending(&s), "run_tool m3.1 after 11");
    sim_ok(&s, "m3.1");
    sim_ok(&s, "m3.3");
    sim_ok(&s, "m3.2");
    assert_log(&s, "10 tool_finished m3.0 ok 'ok'\n"
                   "11 tool_started m3.1 bash unsafe\n"
                   "12 tool_finished m3.1 ok 'ok'\n"
                   "13 tool_started m3.2 look read_only\n"
                   "14 tool_started m3.3 look read_only\n"
                   "15 tool_finished m3.3 ok 'ok'\n"
                   "16 tool_finished m3.2 ok 'ok'\n"
                   "17 model_call_started m17 turn=2\n");
    sim_finish(&s);
}

/* Intent is durable before a tool acts, unless it only reads. */
static void test_run_tools__that_act_wait_for_their_intent(void **state) {
    (void)state;
    sim s;
    sim_init(&s);
    sim_prompt(&s, "go");
    sim_calls(&s, "put:a");
    assert_string_equal(sim_line(&s, s.n - 1), "6 tool_started m3.0 put idempotent");
    assert_string_equal(sim_pending(&s), "run_tool m3.0 after 6");
    sim_finish(&s);
}

static void test_run_tools__second_result_is_refused(void **state) {
    (void)state;
    sim s;
    sim_init(&s);
    sim_prompt(&s, "go");
    sim_calls(&s, "look:a look:b");
    sim_ok(&s, "m3.0");
    sim_log(&s);
    assert_int_equal(sim_result(&s, "m3.0", HOB_OUTCOME_ERROR, "late"), HOB_EEXIST);
    assert_int_equal(sim_ok(&s, "m3.9"), HOB_EEXIST);
    assert_log(&s, "");
    sim_finish(&s);
}

static void test_run_tools__facts_of_the_result_are_kept(void **state) {
    (void)state;
    sim s;
    sim_init(&s);
    sim_prompt(&s, "go");
    sim_calls(&s, "bash:a");
    sim_input(&s, &(hob_input){.kind = HOB_INPUT_TOOL_FINISHED,
                               .call = HOB_STR("m3.0"),
                               .outcome = HOB_OUTCOME_ERROR,
                               .content = HOB_STR("[]"),
                               .exit_code = 7,
                               .duration_ms = 12,
                               .truncated = true});
    assert_string_equal(sim_json(&s, 6),
                        "{\"call\":\"m3.0\",\"tool\":\"bash\",\"outcome\":\"error\",\"content\":[],"
                        "\"exit_code\":7,\"duration_ms\":12,\"truncated\":true}");
    sim_finish(&s);
}

static void test_run_tools__result_without_content_is_an_empty_one(void **state) {
    (void)state;
    sim s;
    sim_init(&s);
    sim_prompt(&s, "go");
    sim_calls(&s, "bash:a");
    sim_input(&s, &(hob_input){.kind = HOB_INPUT_TOOL_FINISHED, .call = HOB_STR("m3.0")});
    assert_string_equal(sim_json(&s, 6),
                        "{\"call\":\"m3.0\",\"tool\":\"bash\",\"outcome\":\"ok\",\"content\":[],"
                        "\"exit_code\":0,\"duration_ms\":0}");
    sim_finish(&s);
}

/* What a model may ask for in one answer must not cost more than it is worth. */
static void test_run_tools__thousands_of_calls_take_no_time(void **state) {
    (void)state;
    enum { CALLS = 4096 };
    hob_buf calls;
    char call[24];
    sim s;
    sim_init(&s);
    hob_buf_init(&calls, 1 << 20);
    for (int i = 0; i < CALLS; i++) hob_buf_addf(&calls, "look:%d ", i);
    sim_prompt(&s, "look");
    sim_calls(&s, hob_buf_z(&calls));
    hob_buf_finish(&calls);
    for (int i = 0; i < CALLS; i++) {
        snprintf(call, sizeof(call), "m3.%d", i);
        assert_int_equal(sim_ok(&s, call), HOB_SAID_LAST);
    }
    assert_int_equal(sim_count(&s, HOB_EVENT_TOOL_FINISHED), CALLS);
    assert_int_equal(s.run.phase, HOB_PHASE_MODEL);
    sim_drop(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_run_tools__call_is_decided_started_finished),
        cmocka_unit_test(test_run_tools__that_only_read_run_side_by_side),
        cmocka_unit_test(test_run_tools__at_most_sixteen_at_once),
        cmocka_unit_test(test_run_tools__one_that_changes_things_makes_it_one_after_the_other),
        cmocka_unit_test(test_run_tools__that_act_wait_for_their_intent),
        cmocka_unit_test(test_run_tools__second_result_is_refused),
        cmocka_unit_test(test_run_tools__facts_of_the_result_are_kept),
        cmocka_unit_test(test_run_tools__result_without_content_is_an_empty_one),
        cmocka_unit_test(test_run_tools__thousands_of_calls_take_no_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
