/* Functions of the host: custom agents, and what is called before and after an agent. */
#include "support/check.h"
#include "support/sim_agents.h"
#include "support/sim_play.h"

static void begin(sim *s, hob_agent *root) {
    sim_init(s);
    sim_agents(s, root);
    sim_prompt(s, "go");
}

/* A workflow agent with callbacks. */
static hob_agent *watched_group(hob_agent_opts o, hob_agent *a) {
    hob_agent_callbacks c = watchers();
    o.callbacks = &c;
    return made_of(&o, &a, 1);
}

static void passes(sim *s, const char *agent) {
    assert_int_equal(sim_answered(s, agent, HOB_OUTCOME_OK, NULL, NULL), HOB_SAID_LAST);
    sim_refold(s);
}

/* ---- custom agents ------------------------------------------------------------------------------ */

static void test_agent_custom__answers_and_sets_state(void **state) {
    sim s;
    (void)state;
    begin(&s, in_order("seq", custom("c", 0), llm("a", NULL), NULL));
    assert_string_equal(sim_pending(&s), "[c] call_agent run after 5");
    sim_answered(&s, "c", HOB_OUTCOME_OK, "forty-two", "{'n':42,'temp:x':1}");
    sim_refold(&s);
    assert_log(&s, "1 run_started run-s1-1 prompt\n"
                   "2 user_message 'go'\n"
                   "3 agent_started [seq] sequential\n"
                   "4 agent_started [c] custom\n"
                   "5 callback_started [c] run\n"
                   "6 state_changed [c] {\"n\":42} temp=[\"temp:x\"]\n"
                   "7 assistant_message [c] m7 done 'forty-two'\n"
                   "8 callback_finished [c] run ok spoke\n"
                   "9 agent_finished [c] completed\n"
                   "10 agent_started [a] llm\n"
                   "11 model_call_started [a] m11 turn=1\n");
    assert_string_equal(sim_history(&s), "user 'go' | model 'forty-two'");
    assert_int_equal(sim_answered(&s, "c", HOB_OUTCOME_OK, "again", NULL), HOB_EEXIST);
    sim_play_out(&s);
    sim_finish(&s);
}

static void test_agent_custom__that_fails_says_why(void **state) {
    sim s;
    (void)state;
    begin(&s, in_order("seq", custom("c", 0), llm("never", NULL), NULL));
    sim_log(&s);
    sim_answered(&s, "c", HOB_OUTCOME_ERROR, "the disk is full", "{'n':1}");
    assert_log(&s, "6 callback_finished [c] run error\n"
                   "7 agent_finished [c] failed\n"
                   "8 agent_finished [seq] failed reason=c did not complete\n"
                   "9 run_finished failed reason=c did not complete turns=0 tool_calls=0\n"
                   "10 settled failed\n");
    assert_string_equal(s.run.fail.message, "the disk is full");
    assert_int_equal(s.run.fail.code, HOB_EAGENT);
    sim_finish(&s);
}

static void test_agent_custom__ends_a_loop(void **state) {
    sim s;
    (void)state;
    begin(&s, again("loop", 3, llm("a", NULL), custom("judge", 0), NULL));
    agent_says(&s, "a", "one");
    passes(&s, "judge");
    agent_says(&s, "a", "two");
    sim_log(&s);
    sim_reply(&s, "judge", (hob_flow_answer){.outcome = HOB_OUTCOME_OK, .escalate = true}, NULL);
    assert_log(&s, "18 callback_finished [judge] run ok escalate\n"
                   "19 agent_finished [judge] completed escalate\n"
                   "20 agent_finished [loop] completed\n"
                   "21 run_finished completed turns=2 tool_calls=0\n"
                   "22 settled completed\n");
    sim_finish(&s);
}

static void test_agent_custom__hands_over_to_nobody(void **state) {
    sim s;
    (void)state;
    begin(&s, in_order("seq", custom("c", 0), llm("a", NULL), NULL));
    sim_reply(&s, "c", (hob_flow_answer){.outcome = HOB_OUTCOME_OK, .transfer = HOB_STR("a")},
              NULL);
    assert_string_equal(s.run.last_status, "failed");
    sim_finish(&s);
}

static void test_agent_custom__whose_process_died_is_unknown(void **state) {
    sim s;
    (void)state;
    begin(&s, custom("c", 0));
    sim_log(&s);
    sim_crash(&s, s.n);
    assert_true(hob_run_unfinished(&s.run));
    sim_reopen(&s);
    assert_log(&s, "5 run_finished interrupted turns=0 tool_calls=0\n"
                   "6 run_started run-s1-6 resume continues=run-s1-1\n"
                   "7 callback_finished [c] run unknown\n"
                   "8 agent_finished [c] failed\n"
                   "9 run_finished failed turns=0 tool_calls=0\n"
                   "10 settled failed\n");
    sim_finish(&s);
}

static void test_agent_custom__that_may_is_called_again(void **state) {
    sim s;
    (void)state;
    begin(&s, custom("c", HOB_AGENT_RESTARTABLE));
    sim_log(&s);
    sim_crash(&s, s.n);
    sim_reopen(&s);
    assert_string_equal(sim_pending(&s), "[c] call_agent run after 7");
    sim_answered(&s, "c", HOB_OUTCOME_OK, "at last", NULL);
    assert_log(&s, "5 run_finished interrupted turns=0 tool_calls=0\n"
                   "6 run_started run-s1-6 resume continues=run-s1-1\n"
                   "7 callback_started [c] run again\n"
                   "8 assistant_message [c] m8 done 'at last'\n"
                   "9 callback_finished [c] run ok spoke\n"
                   "10 agent_finished [c] completed\n"
                   "11 run_finished completed turns=0 tool_calls=0\n"
                   "12 settled completed\n");
    sim_finish(&s);
}

static void test_agent_custom__is_told_to_stop(void **state) {
    sim s;
    (void)state;
    begin(&s, custom("c", 0));
    sim_log(&s);
    sim_cancel(&s, HOB_ENDING_CANCEL, HOB_QUEUE_RETURN);
    assert_string_equal(sim_pending(&s), "[c] call_agent run after 4 !cancel");
    sim_cancel(&s, HOB_ENDING_ABORT, HOB_QUEUE_RETURN);
    assert_string_equal(sim_pending(&s), "[c] call_agent run after 4 !abort");
    sim_answered(&s, "c", HOB_OUTCOME_CANCELLED, "stopped", NULL);
    assert_log(&s, "5 cancel_requested cancel return\n"
                   "6 cancel_requested abort return\n"
                   "7 callback_finished [c] run cancelled\n"
                   "8 agent_finished [c] cancelled reason=the user stopped it\n"
                   "9 run_finished cancelled reason=the user stopped it turns=0 tool_calls=0\n"
                   "10 settled cancelled\n");
    sim_finish(&s);
}

/* ---- before and after --------------------------------------------------------------------------- */

static void test_agent_custom__callbacks_stand_around_an_agent(void **state) {
    sim s;
    (void)state;
    begin(&s, watched("a", NULL));
    passes(&s, "a");
    agent_says(&s, "a", "hi");
    passes(&s, "a");
    assert_log(&s, "1 run_started run-s1-1 prompt\n"
                   "2 user_message 'go'\n"
                   "3 agent_started [a] llm\n"
                   "4 callback_started [a] before\n"
                   "5 callback_finished [a] before ok\n"
                   "6 model_call_started [a] m6 turn=1\n"
                   "7 assistant_message [a] m6 done 'hi'\n"
                   "8 callback_started [a] after\n"
                   "9 callback_finished [a] after ok\n"
                   "10 agent_finished [a] completed\n"
                   "11 run_finished completed turns=1 tool_calls=0\n"
                   "12 settled completed\n");
    sim_finish(&s);
}

static void test_agent_custom__case_51_before_answers_and_the_next_one_works(void **state) {
    sim s;
    (void)state;
    begin(&s, in_order("seq", watched("a", "out"), llm("b", NULL), NULL));
    sim_log(&s);
    sim_answered(&s, "a", HOB_OUTCOME_OK, "instead", NULL);
    sim_refold(&s);
    assert_log(&s, "6 assistant_message [a] m6 done 'instead'\n"
                   "7 callback_finished [a] before ok spoke\n"
                   "8 callback_started [a] after\n"); /* and `out` is not set */
    sim_play_out(&s);
    sim_finish(&s);
}

static void test_agent_custom__after_replaces_what_came(void **state) {
    sim s;
    hob_str value;
    (void)state;
    begin(&s, watched("a", "out"));
    passes(&s, "a");
    agent_says(&s, "a", "draft");
    sim_log(&s);
    sim_answered(&s, "a", HOB_OUTCOME_OK, "final", NULL);
    assert_log(&s, "10 assistant_message [a] m10 done 'final'\n"
                   "11 callback_finished [a] after ok spoke\n"
                   "12 state_changed [a] {\"out\":\"final\"}\n"
                   "13 agent_finished [a] completed\n"
                   "14 run_finished completed turns=1 tool_calls=0\n"
                   "15 settled completed\n");
    assert_true(hob_state_find(&s.view->state, HOB_STR("out"), &value));
    assert_true(hob_str_eqz(value, "\"final\""));
    sim_finish(&s);
}

static void test_agent_custom__before_sets_state_and_lets_it_go_on(void **state) {
    sim s;
    (void)state;
    begin(&s, watched("a", NULL));
    sim_log(&s);
    sim_answered(&s, "a", HOB_OUTCOME_OK, NULL, "{'k':1}");
    assert_log(&s, "5 state_changed [a] {\"k\":1}\n"
                   "6 callback_finished [a] before ok\n"
                   "7 model_call_started [a] m7 turn=1\n");
    sim_play_out(&s);
    sim_finish(&s);
}

static void test_agent_custom__a_callback_that_fails_ends_the_agent(void **state) {
    sim s;
    (void)state;
    begin(&s, in_order("seq", watched("a", NULL), llm("never", NULL), NULL));
    sim_log(&s);
    sim_answered(&s, "a", HOB_OUTCOME_ERROR, "not today", NULL);
    assert_log(&s, "6 callback_finished [a] before error\n"
                   "7 agent_finished [a] failed\n"
                   "8 agent_finished [seq] failed reason=a did not complete\n"
                   "9 run_finished failed reason=a did not complete turns=0 tool_calls=0\n"
                   "10 settled failed\n");
    sim_finish(&s);
}

static void test_agent_custom__a_callback_whose_process_died_is_called_again(void **state) {
    sim s;
    (void)state;
    begin(&s, watched("a", NULL));
    sim_log(&s);
    sim_crash(&s, s.n);
    sim_reopen(&s);
    passes(&s, "a");
    assert_log(&s, "5 run_finished interrupted turns=0 tool_calls=0\n"
                   "6 run_started run-s1-6 resume continues=run-s1-1\n"
                   "7 callback_started [a] before again\n"
                   "8 callback_finished [a] before ok\n"
                   "9 model_call_started [a] m9 turn=1\n");
    sim_play_out(&s);
    sim_finish(&s);
}

static void test_agent_custom__callbacks_of_a_workflow(void **state) {
    sim s;
    hob_agent_opts o = HOB_AGENT_OPTS_INIT;
    (void)state;
    o.name = "seq";
    o.kind = HOB_AGENT_SEQUENTIAL;
    begin(&s, again("loop", 3, watched_group(o, llm("a", NULL)), NULL));
    passes(&s, "seq");
    agent_says(&s, "a", "hi");
    sim_log(&s);
    sim_reply(&s, "seq", (hob_flow_answer){.outcome = HOB_OUTCOME_OK, .escalate = true}, NULL);
    assert_log(&s, "12 callback_finished [seq] after ok escalate\n"
                   "13 agent_finished [seq] completed escalate\n"
                   "14 agent_finished [loop] completed\n"
                   "15 run_finished completed turns=1 tool_calls=0\n"
                   "16 settled completed\n");
    sim_finish(&s);
}

/* What after_agent sets does not make the condition hold that did not. */
static void test_agent_custom__a_condition_is_not_asked_again_after_it(void **state) {
    sim s;
    hob_agent_opts o = HOB_AGENT_OPTS_INIT;
    (void)state;
    o.name = "if";
    o.kind = HOB_AGENT_CONDITIONAL;
    o.condition = "k";
    begin(&s, watched_group(o, llm("never", NULL)));
    passes(&s, "if");
    sim_log(&s);
    sim_answered(&s, "if", HOB_OUTCOME_OK, NULL, "{'k':1}");
    assert_log(&s, "7 state_changed [if] {\"k\":1}\n"
                   "8 callback_finished [if] after ok\n"
                   "9 agent_finished [if] completed\n"
                   "10 run_finished completed turns=0 tool_calls=0\n"
                   "11 settled completed\n");
    sim_finish(&s);
}

static void test_agent_custom__nothing_is_called_once_the_run_is_ending(void **state) {
    sim s;
    (void)state;
    begin(&s, watched("a", NULL));
    passes(&s, "a");
    sim_log(&s);
    sim_cancel(&s, HOB_ENDING_CANCEL, HOB_QUEUE_RETURN);
    sim_as(&s, "a");
    sim_stopped(&s, "half", NULL);
    assert_log(&s, "7 cancel_requested cancel return\n"
                   "8 assistant_message [a] m6 aborted 'half'\n"
                   "9 agent_finished [a] cancelled reason=the user stopped it\n"
                   "10 run_finished cancelled reason=the user stopped it turns=1 tool_calls=0\n"
                   "11 settled cancelled\n");
    sim_finish(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_agent_custom__answers_and_sets_state),
        cmocka_unit_test(test_agent_custom__that_fails_says_why),
        cmocka_unit_test(test_agent_custom__ends_a_loop),
        cmocka_unit_test(test_agent_custom__hands_over_to_nobody),
        cmocka_unit_test(test_agent_custom__whose_process_died_is_unknown),
        cmocka_unit_test(test_agent_custom__that_may_is_called_again),
        cmocka_unit_test(test_agent_custom__is_told_to_stop),
        cmocka_unit_test(test_agent_custom__callbacks_stand_around_an_agent),
        cmocka_unit_test(test_agent_custom__case_51_before_answers_and_the_next_one_works),
        cmocka_unit_test(test_agent_custom__after_replaces_what_came),
        cmocka_unit_test(test_agent_custom__before_sets_state_and_lets_it_go_on),
        cmocka_unit_test(test_agent_custom__a_callback_that_fails_ends_the_agent),
        cmocka_unit_test(test_agent_custom__a_callback_whose_process_died_is_called_again),
        cmocka_unit_test(test_agent_custom__callbacks_of_a_workflow),
        cmocka_unit_test(test_agent_custom__a_condition_is_not_asked_again_after_it),
        cmocka_unit_test(test_agent_custom__nothing_is_called_once_the_run_is_ending),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
