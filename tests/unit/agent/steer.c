/* What the user says while agents work: all of them hear it. */
#include "support/check.h"
#include "support/sim_agents.h"
#include "support/sim_play.h"

static void begin(sim *s, hob_agent *root) {
    sim_init(s);
    sim_agents(s, root);
    sim_prompt(s, "go");
    sim_log(s);
}

static hob_agent *two(void) {
    return side_by_side("par", llm("w1", NULL), llm("w2", NULL), NULL);
}

static void test_agent_steer__every_strand_hears_it(void **state) {
    sim s;
    (void)state;
    begin(&s, two());
    sim_steer(&s, "in French");
    agent_says(&s, "w1", "one");
    agent_says(&s, "w2", "two"); /* was under way when it was delivered: is asked again */
    assert_log(&s, "8 steer_queued q8 'in French'\n"
                   "9 assistant_message [w1] on par.w1 m6 done 'one'\n"
                   "10 steer_delivered q8 'in French'\n"
                   "11 model_call_started [w1] on par.w1 m11 turn=2\n"
                   "12 assistant_message [w2] on par.w2 m7 done 'two'\n"
                   "13 model_call_started [w2] on par.w2 m13 turn=2\n");
    agent_says(&s, "w1", "un");
    agent_says(&s, "w2", "deux");
    assert_log(&s, "14 assistant_message [w1] on par.w1 m11 done 'un'\n"
                   "15 agent_finished [w1] on par.w1 completed\n"
                   "16 assistant_message [w2] on par.w2 m13 done 'deux'\n"
                   "17 agent_finished [w2] on par.w2 completed\n"
                   "18 agent_finished [par] completed\n"
                   "19 run_finished completed turns=4 tool_calls=0\n"
                   "20 settled completed\n");
    sim_finish(&s);
}

static void test_agent_steer__calls_of_other_strands_are_skipped_too(void **state) {
    sim s;
    (void)state;
    begin(&s, two());
    agent_calls(&s, "w1", "send:a send:b");
    agent_calls(&s, "w2", "send:c send:d");
    sim_log(&s);
    sim_steer(&s, "stop that");
    agent_acts(&s, "w1", 0, NULL);
    agent_acts(&s, "w2", 0, NULL);
    assert_log(&s, "16 steer_queued q16 'stop that'\n"
                   "17 tool_finished [w1] on par.w1 m6.1 skipped 'skipped: the user steered'\n"
                   "18 tool_finished [w2] on par.w2 m7.1 skipped 'skipped: the user steered'\n"
                   "19 tool_finished [w1] on par.w1 m6.0 ok 'ok'\n"
                   "20 steer_delivered q16 'stop that'\n"
                   "21 model_call_started [w1] on par.w1 m21 turn=2\n"
                   "22 tool_finished [w2] on par.w2 m7.0 ok 'ok'\n"
                   "23 model_call_started [w2] on par.w2 m23 turn=2\n");
    sim_play_out(&s);
    sim_finish(&s);
}

static void test_agent_steer__calls_of_an_answer_that_did_not_hear_it_are_skipped(void **state) {
    sim s;
    (void)state;
    begin(&s, two());
    sim_steer(&s, "stop that");
    agent_says(&s, "w1", "one");
    sim_log(&s);
    agent_calls(&s, "w2", "send:c");
    assert_log(&s, "12 assistant_message [w2] on par.w2 m7 tools send(m7.0)\n"
                   "13 tool_finished [w2] on par.w2 m7.0 skipped 'skipped: the user steered'\n"
                   "14 model_call_started [w2] on par.w2 m14 turn=2\n");
    sim_play_out(&s);
    sim_finish(&s);
}

static void test_agent_steer__after_the_batch_if_it_is_to_wait(void **state) {
    sim s;
    (void)state;
    begin(&s, two());
    s.env.after_batch = true;
    agent_calls(&s, "w1", "send:a send:b");
    sim_steer(&s, "later");
    sim_log(&s);
    agent_acts(&s, "w1", 0, NULL);
    agent_acts(&s, "w1", 1, NULL);
    assert_log(&s, "13 tool_finished [w1] on par.w1 m6.0 ok 'ok'\n"
                   "14 tool_started [w1] on par.w1 m6.1 send unsafe\n"
                   "15 tool_finished [w1] on par.w1 m6.1 ok 'ok'\n"
                   "16 steer_delivered q12 'later'\n"
                   "17 model_call_started [w1] on par.w1 m17 turn=2\n");
    sim_play_out(&s);
    sim_finish(&s);
}

static void test_agent_steer__a_question_is_withdrawn(void **state) {
    sim s;
    (void)state;
    sim_init(&s);
    sim_policy(&s, HOB_MODE_YOLO, "send", NULL);
    sim_agents(&s, two());
    sim_prompt(&s, "go");
    agent_calls(&s, "w1", "send:a");
    sim_log(&s);
    sim_steer(&s, "do not");
    assert_log(&s, "11 steer_queued q11 'do not'\n"
                   "12 approval_resolved [w1] on par.w1 m6.0 false steer\n"
                   "13 tool_finished [w1] on par.w1 m6.0 skipped 'skipped: the user steered'\n"
                   "14 steer_delivered q11 'do not'\n"
                   "15 model_call_started [w1] on par.w1 m15 turn=2\n");
    sim_play_out(&s);
    sim_finish(&s);
}

static void test_agent_steer__while_only_a_function_works_it_comes_behind_it(void **state) {
    sim s;
    (void)state;
    begin(&s, in_order("seq", llm("a", NULL), custom("c", 0), NULL));
    sim_steer(&s, "first");
    agent_says(&s, "a", "one");
    agent_says(&s, "a", "two");
    sim_steer(&s, "second");
    sim_log(&s);
    sim_answered(&s, "c", HOB_OUTCOME_OK, "done", NULL);
    assert_log(&s,
               "15 assistant_message [c] m15 done 'done'\n"
               "16 callback_finished [c] run ok spoke\n"
               "17 agent_finished [c] completed\n"
               "18 agent_finished [seq] completed\n"
               "19 steer_delivered q14 'second'\n"
               "20 agent_started [seq] sequential\n"
               "21 agent_started [a] llm\n"
               "22 model_call_started [a] m22 turn=1\n"); /* the workflow begins again, with it */
    sim_play_out(&s);
    sim_finish(&s);
}

static void test_agent_steer__two_come_one_after_the_other(void **state) {
    sim s;
    (void)state;
    begin(&s, in_order("seq", llm("a", NULL), llm("b", NULL), NULL));
    sim_steer(&s, "first");
    sim_steer(&s, "second");
    agent_says(&s, "a", "one");
    agent_says(&s, "a", "two");
    agent_says(&s, "a", "three");
    assert_log(&s, "6 steer_queued q6 'first'\n"
                   "7 steer_queued q7 'second'\n"
                   "8 assistant_message [a] m5 done 'one'\n"
                   "9 steer_delivered q6 'first'\n"
                   "10 model_call_started [a] m10 turn=2\n"
                   "11 assistant_message [a] m10 done 'two'\n"
                   "12 steer_delivered q7 'second'\n"
                   "13 model_call_started [a] m13 turn=3\n"
                   "14 assistant_message [a] m13 done 'three'\n"
                   "15 agent_finished [a] completed\n"
                   "16 agent_started [b] llm\n"
                   "17 model_call_started [b] m17 turn=1\n");
    sim_play_out(&s);
    sim_finish(&s);
}

static void test_agent_steer__follow_ups_begin_the_workflow_again(void **state) {
    sim s;
    (void)state;
    begin(&s, in_order("seq", llm("a", NULL), llm("b", NULL), NULL));
    sim_follow_up(&s, "and then?");
    agent_says(&s, "a", "one");
    sim_log(&s);
    agent_says(&s, "b", "two");
    assert_log(&s, "11 assistant_message [b] m10 done 'two'\n"
                   "12 agent_finished [b] completed\n"
                   "13 agent_finished [seq] completed\n"
                   "14 run_finished completed turns=2 tool_calls=0\n"
                   "15 follow_up_delivered q6\n"
                   "16 run_started run-s1-16 follow_up continues=run-s1-1\n"
                   "17 user_message 'and then?'\n"
                   "18 agent_started [seq] sequential\n"
                   "19 agent_started [a] llm\n"
                   "20 model_call_started [a] m20 turn=1\n");
    sim_play_out(&s);
    sim_finish(&s);
}

static void test_agent_steer__what_is_left_when_it_fails_comes_back(void **state) {
    sim s;
    (void)state;
    begin(&s, two());
    sim_follow_up(&s, "and then?");
    sim_steer(&s, "quick");
    sim_log(&s);
    sim_as(&s, "w1");
    sim_fail(&s, HOB_EAUTH, -1, false);
    sim_as(&s, "w2");
    sim_fail(&s, HOB_EAUTH, -1, false);
    assert_log(&s, "10 model_call_failed [w1] on par.w1 m6 HOB_EAUTH\n"
                   "11 agent_finished [w1] on par.w1 failed\n"
                   "12 model_call_failed [w2] on par.w2 m7 HOB_EAUTH\n"
                   "13 agent_finished [w2] on par.w2 failed\n"
                   "14 agent_finished [par] failed reason=w1 did not complete\n"
                   "15 run_finished failed reason=w1 did not complete turns=2 tool_calls=0\n"
                   "16 queue_returned failed steer:q9:'quick' follow_up:q8:'and then?'\n"
                   "17 settled failed\n");
    sim_finish(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_agent_steer__every_strand_hears_it),
        cmocka_unit_test(test_agent_steer__calls_of_other_strands_are_skipped_too),
        cmocka_unit_test(test_agent_steer__calls_of_an_answer_that_did_not_hear_it_are_skipped),
        cmocka_unit_test(test_agent_steer__after_the_batch_if_it_is_to_wait),
        cmocka_unit_test(test_agent_steer__a_question_is_withdrawn),
        cmocka_unit_test(test_agent_steer__while_only_a_function_works_it_comes_behind_it),
        cmocka_unit_test(test_agent_steer__two_come_one_after_the_other),
        cmocka_unit_test(test_agent_steer__follow_ups_begin_the_workflow_again),
        cmocka_unit_test(test_agent_steer__what_is_left_when_it_fails_comes_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
