/* Calls that must not run: each has a result that says why, and the work goes on. */
#include "support/check.h"
#include "support/sim.h"

static void test_run_refused__unknown_tool(void **state) {
    (void)state;
    sim s;
    sim_init(&s);
    sim_prompt(&s, "go");
    sim_log(&s);
    sim_calls(&s, "none:a look:b");
    sim_ok(&s, "m3.1");
    sim_done(&s, "gone");
    assert_log(&s, "4 assistant_message m3 tools none(m3.0) look(m3.1)\n"
                   "5 tool_decided m3.0 none deny tool invalid\n"
                   "6 tool_decided m3.1 look allow mode:yolo\n"
                   "7 tool_finished m3.0 error 'error: there is no tool none'\n"
                   "8 tool_started m3.1 look read_only\n"
                   "9 tool_finished m3.1 ok 'ok'\n"
                   "10 model_call_started m10 turn=2\n"
                   "11 assistant_message m10 done 'gone'\n"
                   "12 run_finished completed turns=2 tool_calls=1\n"
                   "13 settled completed\n");
    sim_finish(&s);
}

static void test_run_refused__arguments_that_do_not_fit(void **state) {
    (void)state;
    sim s;
    sim_init(&s);
    sim_prompt(&s, "go");
    sim_log(&s);
    sim_calls(&s, "look:bad");
    assert_log(&s, "4 assistant_message m3 tools look(m3.0)\n"
                   "5 tool_decided m3.0 look deny tool invalid\n"
                   "6 tool_finished m3.0 error 'error: x must not be bad'\n"
                   "7 model_call_started m7 turn=2\n");
    sim_finish(&s);
}

static void test_run_refused__arguments_that_are_no_object(void **state) {
    (void)state;
    sim s;
    sim_init(&s);
    sim_prompt(&s, "go");
    sim_log(&s);
    sim_calls(&s, "bash:~");
    assert_log(&s, "4 assistant_message m3 tools bash(m3.0)\n"
                   "5 tool_decided m3.0 bash deny tool invalid\n"
                   "6 tool_finished m3.0 error 'error: the arguments are not..'\n"
                   "7 model_call_started m7 turn=2\n");
    sim_finish(&s);
}

static void test_run_refused__by_a_rule(void **state) {
    (void)state;
    sim s;
    sim_init(&s);
    sim_policy(&s, HOB_MODE_YOLO, NULL, "bash");
    sim_prompt(&s, "go");
    sim_log(&s);
    sim_calls(&s, "bash:a");
    assert_log(&s, "4 assistant_message m3 tools bash(m3.0)\n"
                   "5 tool_decided m3.0 bash deny deny: bash\n"
                   "6 tool_finished m3.0 denied 'denied: the rule bash forbid..'\n"
                   "7 model_call_started m7 turn=2\n");
    sim_finish(&s);
}

static void test_run_refused__because_nobody_can_be_asked(void **state) {
    (void)state;
    sim s;
    sim_init(&s);
    s.env.can_ask = false;
    sim_policy(&s, HOB_MODE_ASK, NULL, NULL);
    sim_prompt(&s, "go");
    sim_log(&s);
    sim_calls(&s, "bash:a");
    assert_log(&s, "4 assistant_message m3 tools bash(m3.0)\n"
                   "5 tool_decided m3.0 bash deny mode:ask nobody_to_ask\n"
                   "6 tool_finished m3.0 denied 'denied: it needs an approval..'\n"
                   "7 model_call_started m7 turn=2\n");
    sim_finish(&s);
}

/* Whatever its length, the reason reaches the model whole. */
static void test_run_refused__with_a_long_reason(void **state) {
    (void)state;
    char reason[3000];
    memset(reason, 'x', sizeof(reason));
    memcpy(reason + sizeof(reason) - 5, "END\xc3\xa9", 5);
    sim s;
    sim_init(&s);
    sim_policy(&s, HOB_MODE_ASK, NULL, NULL);
    sim_prompt(&s, "go");
    sim_calls(&s, "bash:a");
    sim_input(&s, &(hob_input){.kind = HOB_INPUT_VERDICT,
                               .call = HOB_STR("m3.0"),
                               .text = hob_str_n(reason, sizeof(reason))});
    assert_string_equal(sim_line(&s, 7),
                        "8 tool_finished m3.0 denied 'denied: xxxxxxxxxxxxxxxxxxxx..'");
    assert_non_null(strstr(sim_json(&s, 7), "xEND\xc3\xa9\""));
    sim_finish(&s);
}

/* Allowed once, not started, and meanwhile forbidden. */
static void test_run_refused__by_a_rule_that_came_before_its_turn(void **state) {
    (void)state;
    sim s;
    sim_init(&s);
    sim_prompt(&s, "go");
    sim_calls(&s, "bash:a bash:b");
    sim_crash(&s, s.n);
    sim_policy(&s, HOB_MODE_YOLO, NULL, "bash");
    sim_log(&s);
    sim_reopen(&s);
    assert_log(&s, "8 run_finished interrupted turns=1 tool_calls=1\n"
                   "9 run_started run-s1-9 resume continues=run-s1-1\n"
                   "10 tool_finished m3.0 unknown 'unknown: the program stopped..'\n"
                   "11 tool_decided m3.1 bash deny deny: bash\n"
                   "12 tool_finished m3.1 denied 'denied: the rule bash forbid..'\n"
                   "13 model_call_started m13 turn=2\n");
    sim_finish(&s);
}

/* What may have happened cannot be denied any more, but it is not repeated. */
static void test_run_refused__to_be_repeated(void **state) {
    (void)state;
    sim s;
    sim_init(&s);
    sim_prompt(&s, "go");
    sim_calls(&s, "look:a");
    sim_crash(&s, s.n);
    sim_policy(&s, HOB_MODE_YOLO, NULL, "look");
    sim_log(&s);
    sim_reopen(&s);
    assert_log(&s, "7 run_finished interrupted turns=1 tool_calls=1\n"
                   "8 run_started run-s1-8 resume continues=run-s1-1\n"
                   "9 tool_finished m3.0 unknown 'unknown: the program stopped..'\n"
                   "10 model_call_started m10 turn=2\n");
    sim_finish(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_run_refused__unknown_tool),
        cmocka_unit_test(test_run_refused__arguments_that_do_not_fit),
        cmocka_unit_test(test_run_refused__arguments_that_are_no_object),
        cmocka_unit_test(test_run_refused__by_a_rule),
        cmocka_unit_test(test_run_refused__because_nobody_can_be_asked),
        cmocka_unit_test(test_run_refused__with_a_long_reason),
        cmocka_unit_test(test_run_refused__by_a_rule_that_came_before_its_turn),
        cmocka_unit_test(test_run_refused__to_be_repeated),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
