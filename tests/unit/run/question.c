/* Questions to the user: an approval with an answer, which nothing but a person gives. */
#include "support/check.h"
#include "support/sim.h"

static void start(sim *s, const char *calls) {
    sim_init(s); /* in yolo mode */
    sim_prompt(s, "go");
    sim_calls(s, calls);
}

static void test_run_question__is_an_approval_with_an_answer(void **state) {
    (void)state;
    sim s;
    start(&s, "ask:a");
    assert_true(hob_run_parked(&s.run));
    assert_int_equal(sim_reply_to(&s, "m3.0", "{\"n\":1}"), HOB_SAID_LAST);
    assert_string_equal(sim_pending(&s), "run_tool m3.0");
    assert_string_equal(hob_run_call(&s.run, HOB_STR("m3.0"))->answer.p, "{\"n\":1}");
    sim_ok(&s, "m3.0");
    sim_done(&s, "thanks");
    assert_log(&s, "1 run_started run-s1-1 prompt\n"
                   "2 user_message 'go'\n"
                   "3 model_call_started m3 turn=1\n"
                   "4 assistant_message m3 tools ask(m3.0)\n"
                   "5 tool_decided m3.0 ask ask question\n"
                   "6 approval_requested m3.0 ask\n"
                   "7 approval_resolved m3.0 true user\n"
                   "8 tool_started m3.0 ask read_only\n"
                   "9 tool_finished m3.0 ok 'ok'\n"
                   "10 model_call_started m10 turn=2\n"
                   "11 assistant_message m10 done 'thanks'\n"
                   "12 run_finished completed turns=2 tool_calls=1\n"
                   "13 settled completed\n");
    sim_finish(&s);
}

static void test_run_question__the_log_has_question_and_answer(void **state) {
    (void)state;
    sim s;
    start(&s, "ask:a");
    sim_reply_to(&s, "m3.0", "\"blue\"");
    assert_string_equal(
        sim_json(&s, 5),
        "{\"call\":\"m3.0\",\"tool\":\"ask\",\"args\":{\"x\":\"a\"},"
        "\"args_hash\":\"b5b6c3be5767da32\",\"rule\":\"question\",\"class\":\"read_only\",\"question\":\"\"}");
    assert_string_equal(sim_json(&s, 6), "{\"call\":\"m3.0\",\"approved\":true,"
                                         "\"answer\":\"blue\",\"by\":\"user\"}");
    sim_finish(&s);
}

/* Whatever the mode, whatever the rules: what would run without asking is asked about. */
static void test_run_question__no_mode_and_no_rule_answers(void **state) {
    static const hob_mode modes[] = {HOB_MODE_ASK, HOB_MODE_ACCEPT_EDITS, HOB_MODE_PLAN,
                                     HOB_MODE_YOLO};
    (void)state;
    for (size_t i = 0; i < HOB_ARRAY_LEN(modes); i++) {
        hob_str rule = HOB_STR("ask");
        hob_policy_opts o = {.mode = modes[i], .allow = &rule, .nallow = 1};
        sim s;
        sim_init(&s);
        assert_ok(hob_policy_create(&o, &s.policies[s.npolicies], &s.err), s.err);
        s.env.policy = s.policies[s.npolicies++];
        sim_prompt(&s, "go");
        sim_calls(&s, "ask:a");
        assert_true(hob_run_parked(&s.run));
        assert_string_equal(sim_line(&s, 4), "5 tool_decided m3.0 ask ask question");
        sim_finish(&s);
    }
}

static void test_run_question__can_be_forbidden(void **state) {
    (void)state;
    sim s;
    sim_init(&s);
    sim_policy(&s, HOB_MODE_YOLO, NULL, "ask");
    sim_prompt(&s, "go");
    sim_calls(&s, "ask:a");
    assert_string_equal(sim_line(&s, 4), "5 tool_decided m3.0 ask deny deny: ask");
    sim_finish(&s);
}

static void test_run_question__yes_and_answer_belong_together(void **state) {
    (void)state;
    sim s;
    start(&s, "ask:a");
    assert_int_equal(sim_verdict(&s, "m3.0", true, ""), HOB_EINVAL);
    assert_string_equal(s.err.message,
                        "the call m3.0 is a question: a yes needs an answer with it");
    assert_int_equal(sim_input(&s, &(hob_input){.kind = HOB_INPUT_VERDICT,
                                                .call = HOB_STR("m3.0"),
                                                .answer = HOB_STR("1")}),
                     HOB_EINVAL);
    assert_true(hob_run_parked(&s.run));
    sim_reply_to(&s, "m3.0", "1");
    assert_int_equal(sim_reply_to(&s, "m3.0", "2"), HOB_EEXIST);
    sim_ok(&s, "m3.0");
    sim_finish(&s);
}

static void test_run_question__other_calls_take_no_answer(void **state) {
    (void)state;
    sim s;
    sim_init(&s);
    sim_policy(&s, HOB_MODE_ASK, NULL, NULL);
    sim_prompt(&s, "go");
    sim_calls(&s, "bash:a");
    assert_int_equal(sim_reply_to(&s, "m3.0", "1"), HOB_EINVAL);
    assert_string_equal(s.err.message, "the call m3.0 wants a yes or a no, not an answer");
    sim_verdict(&s, "m3.0", true, "");
    sim_finish(&s);
}

static void test_run_question__declined_is_a_result(void **state) {
    (void)state;
    sim s;
    start(&s, "ask:a ask:b");
    sim_log(&s);
    sim_verdict(&s, "m3.0", false, "ask later");
    sim_verdict(&s, "m3.1", false, "");
    assert_log(&s, "9 approval_resolved m3.0 false user\n"
                   "10 tool_finished m3.0 denied 'the user did not answer: ask..'\n"
                   "11 approval_resolved m3.1 false user\n"
                   "12 tool_finished m3.1 denied 'the user did not answer'\n"
                   "13 model_call_started m13 turn=2\n");
    sim_finish(&s);
}

static void test_run_question__nobody_there_is_a_result(void **state) {
    (void)state;
    sim s;
    sim_init(&s);
    s.env.can_ask = false;
    sim_prompt(&s, "go");
    sim_calls(&s, "ask:a");
    assert_string_equal(sim_line(&s, 4), "5 tool_decided m3.0 ask deny question nobody_to_ask");
    assert_non_null(strstr(sim_json(&s, 5), "denied: nobody is there to answer: go on with the "
                                            "best assumption"));
    sim_finish(&s);
}

/* Wherever the process dies between question and result: asked once, answered once, told once. */
static void test_run_question__survives_a_crash_at_every_event(void **state) {
    (void)state;
    for (size_t kept = 4; kept <= 9; kept++) {
        sim s;
        start(&s, "ask:a");
        sim_reply_to(&s, "m3.0", "\"blue\"");
        sim_ok(&s, "m3.0");
        sim_crash(&s, kept);
        sim_reopen(&s);
        if (hob_run_parked(&s.run)) sim_reply_to(&s, "m3.0", "\"blue\"");
        const hob_call *c = hob_run_call(&s.run, HOB_STR("m3.0"));
        if (c && c->state == HOB_CALL_STARTED) {
            assert_string_equal(c->answer.p, "\"blue\"");
            sim_ok(&s, "m3.0");
        }
        sim_done(&s, "thanks");
        assert_int_equal(sim_count(&s, HOB_EVENT_APPROVAL_REQUESTED), 1);
        assert_int_equal(sim_count(&s, HOB_EVENT_APPROVAL_RESOLVED), 1);
        assert_int_equal(sim_count(&s, HOB_EVENT_TOOL_FINISHED), 1);
        assert_string_equal(s.run.last_status, "completed");
        sim_finish(&s);
    }
}

/* It was answered before: nobody need be there for the rest. */
static void test_run_question__an_answer_holds_where_nobody_is(void **state) {
    (void)state;
    sim s;
    start(&s, "ask:a");
    sim_reply_to(&s, "m3.0", "\"blue\"");
    sim_crash(&s, 7);
    s.env.can_ask = false;
    sim_reopen(&s);
    assert_string_equal(sim_pending(&s), "run_tool m3.0");
    sim_ok(&s, "m3.0");
    sim_finish(&s);
}

static void test_run_question__a_new_rule_counts_more_than_the_answer(void **state) {
    (void)state;
    sim s;
    start(&s, "ask:a");
    sim_crash(&s, s.n);
    sim_policy(&s, HOB_MODE_YOLO, NULL, "ask");
    sim_log(&s);
    sim_reply_to(&s, "m3.0", "1");
    assert_log(&s, "7 approval_resolved m3.0 true user\n"
                   "8 tool_decided m3.0 ask deny deny: ask\n"
                   "9 tool_finished m3.0 denied 'denied: the rule ask forbids..'\n"
                   "10 model_call_started m10 turn=2\n");
    sim_finish(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_run_question__is_an_approval_with_an_answer),
        cmocka_unit_test(test_run_question__the_log_has_question_and_answer),
        cmocka_unit_test(test_run_question__no_mode_and_no_rule_answers),
        cmocka_unit_test(test_run_question__can_be_forbidden),
        cmocka_unit_test(test_run_question__yes_and_answer_belong_together),
        cmocka_unit_test(test_run_question__other_calls_take_no_answer),
        cmocka_unit_test(test_run_question__declined_is_a_result),
        cmocka_unit_test(test_run_question__nobody_there_is_a_result),
        cmocka_unit_test(test_run_question__survives_a_crash_at_every_event),
        cmocka_unit_test(test_run_question__an_answer_holds_where_nobody_is),
        cmocka_unit_test(test_run_question__a_new_rule_counts_more_than_the_answer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
