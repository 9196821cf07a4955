/* Workflows without a session: who works when, and what the log says of it. */
#include "support/check.h"
#include "support/sim_agents.h"
#include "support/sim_play.h"

#include <stdio.h>

static void test_agent_flow__a_sequence_goes_on_with_what_was_said(void **state) {
    sim s;
    (void)state;
    sim_init(&s);
    sim_agents(&s, in_order("desk", keeper("writer", "draft"), llm("editor", NULL), NULL));
    sim_prompt(&s, "a page");
    agent_says(&s, "writer", "long");
    agent_says(&s, "editor", "short");
    assert_log(&s, "1 run_started run-s1-1 prompt\n"
                   "2 user_message 'a page'\n"
                   "3 agent_started [desk] sequential\n"
                   "4 agent_started [writer] llm\n"
                   "5 model_call_started [writer] m5 turn=1\n"
                   "6 assistant_message [writer] m5 done 'long'\n"
                   "7 state_changed [writer] {\"draft\":\"long\"}\n"
                   "8 agent_finished [writer] completed\n"
                   "9 agent_started [editor] llm\n"
                   "10 model_call_started [editor] m10 turn=1\n"
                   "11 assistant_message [editor] m10 done 'short'\n"
                   "12 agent_finished [editor] completed\n"
                   "13 agent_finished [desk] completed\n"
                   "14 run_finished completed turns=2 tool_calls=0\n"
                   "15 settled completed\n");
    sim_finish(&s);
}

static void test_agent_flow__agents_side_by_side_have_branches(void **state) {
    sim s;
    (void)state;
    sim_init(&s);
    sim_agents(&s, in_order("all", side_by_side("par", llm("w1", NULL), llm("w2", NULL), NULL),
                            llm("joiner", NULL), NULL));
    sim_prompt(&s, "go");
    assert_log(&s, "1 run_started run-s1-1 prompt\n"
                   "2 user_message 'go'\n"
                   "3 agent_started [all] sequential\n"
                   "4 agent_started [par] parallel\n"
                   "5 agent_started [w1] on par.w1 llm\n"
                   "6 agent_started [w2] on par.w2 llm\n"
                   "7 model_call_started [w1] on par.w1 m7 turn=1\n"
                   "8 model_call_started [w2] on par.w2 m8 turn=1\n");
    agent_says(&s, "w2", "two");
    agent_says(&s, "w1", "one");
    assert_log(&s, "9 assistant_message [w2] on par.w2 m8 done 'two'\n"
                   "10 agent_finished [w2] on par.w2 completed\n"
                   "11 assistant_message [w1] on par.w1 m7 done 'one'\n"
                   "12 agent_finished [w1] on par.w1 completed\n"
                   "13 agent_finished [par] completed\n"
                   "14 agent_started [joiner] llm\n"
                   "15 model_call_started [joiner] m15 turn=1\n");
    agent_says(&s, "joiner", "both");
    assert_int_equal(s.run.spent.turns, 3);
    assert_true(s.run.settled);
    sim_finish(&s);
}

static void test_agent_flow__a_failed_sibling_is_waited_for_and_named(void **state) {
    sim s;
    (void)state;
    sim_init(&s);
    sim_agents(&s, side_by_side("par", llm("w1", NULL), llm("w2", NULL), llm("w3", NULL), NULL));
    sim_prompt(&s, "go");
    sim_log(&s);
    sim_as(&s, "w3");
    sim_fail(&s, HOB_EAUTH, -1, false);
    sim_as(&s, "w2");
    sim_fail(&s, HOB_EREFUSED, -1, false);
    assert_false(s.run.settled);
    agent_says(&s, "w1", "one");
    assert_log(&s, "10 model_call_failed [w3] on par.w3 m9 HOB_EAUTH\n"
                   "11 agent_finished [w3] on par.w3 failed\n"
                   "12 model_call_failed [w2] on par.w2 m8 HOB_EREFUSED\n"
                   "13 agent_finished [w2] on par.w2 failed\n"
                   "14 assistant_message [w1] on par.w1 m7 done 'one'\n"
                   "15 agent_finished [w1] on par.w1 completed\n"
                   "16 agent_finished [par] failed reason=w2 did not complete\n"
                   "17 run_finished failed reason=w2 did not complete turns=3 tool_calls=0\n"
                   "18 settled failed\n");
    assert_int_equal(s.run.fail.code, HOB_EREFUSED);
    sim_finish(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_agent_flow__a_sequence_goes_on_with_what_was_said),
        cmocka_unit_test(test_agent_flow__agents_side_by_side_have_branches),
        cmocka_unit_test(test_agent_flow__a_failed_sibling_is_waited_for_and_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
