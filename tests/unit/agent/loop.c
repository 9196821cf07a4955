/* Loops and who ends them. */
#include "support/agents.h"
#include "support/check.h"
#include "support/sim_play.h"

static void begin(sim *s, hob_agent *root) {
    sim_init(s);
    sim_agents(s, root);
    sim_prompt(s, "go");
}

static void escalates(sim *s, const char *agent) {
    agent_calls(s, agent, "quit:x");
    agent_acts(s, agent, 0, "{'escalate':true}");
    agent_says(s, agent, "enough");
}

static hob_agent *stopping(const char *name, hob_agent *a, hob_agent *b) {
    hob_agent_opts o = HOB_AGENT_OPTS_INIT;
    hob_agent *agents[] = {a, b};
    o.name = name;
    o.kind = HOB_AGENT_SEQUENTIAL;
    o.flags = HOB_AGENT_STOP_ON_ESCALATE;
    return made_of(&o, agents, 2);
}

static void test_agent_loop__goes_round_as_often_as_it_may(void **state) {
    sim s;
    (void)state;
    begin(&s, again("loop", 2, llm("a", NULL), NULL));
    agent_says(&s, "a", "one");
    agent_says(&s, "a", "two");
    assert_log(&s, "1 run_started run-s1-1 prompt\n"
                   "2 user_message 'go'\n"
                   "3 agent_started [loop] loop\n"
                   "4 agent_started [a] llm iteration=1\n"
                   "5 model_call_started [a] m5 turn=1\n"
                   "6 assistant_message [a] m5 done 'one'\n"
                   "7 agent_finished [a] completed\n"
                   "8 agent_started [a] llm iteration=2\n"
                   "9 model_call_started [a] m9 turn=1\n"
                   "10 assistant_message [a] m9 done 'two'\n"
                   "11 agent_finished [a] completed\n"
                   "12 agent_finished [loop] completed\n"
                   "13 run_finished completed turns=2 tool_calls=0\n"
                   "14 settled completed\n");
    sim_finish(&s);
}

static void test_agent_loop__case_45_escalating_in_the_second_round_ends_it(void **state) {
    sim s;
    (void)state;
    begin(&s,
          in_order("all", again("loop", 5, llm("a", NULL), llm("b", NULL), llm("c", NULL), NULL),
                   llm("z", NULL), NULL));
    agent_says(&s, "a", "a1");
    agent_says(&s, "b", "b1");
    agent_says(&s, "c", "c1");
    agent_says(&s, "a", "a2");
    sim_log(&s);
    escalates(&s, "b");
    assert_log(&s, "23 assistant_message [b] m22 tools quit(m22.0)\n"
                   "24 tool_decided [b] m22.0 quit allow mode:yolo\n"
                   "25 tool_started [b] m22.0 quit unsafe\n"
                   "26 tool_finished [b] m22.0 ok 'ok'\n"
                   "27 model_call_started [b] m27 turn=2\n"
                   "28 assistant_message [b] m27 done 'enough'\n"
                   "29 agent_finished [b] completed escalate\n"
                   "30 agent_finished [loop] completed\n"
                   "31 agent_started [z] llm\n"
                   "32 model_call_started [z] m32 turn=1\n");
    agent_says(&s, "z", "end");
    sim_finish(&s);
}

static void test_agent_loop__case_45_only_the_nearest_loop_ends(void **state) {
    sim s;
    (void)state;
    begin(&s, again("outer", 2, again("inner", 3, llm("q", NULL), NULL), llm("z", NULL), NULL));
    sim_log(&s);
    escalates(&s, "q");
    agent_says(&s, "z", "z1");
    assert_log(&s, "7 assistant_message [q] m6 tools quit(m6.0)\n"
                   "8 tool_decided [q] m6.0 quit allow mode:yolo\n"
                   "9 tool_started [q] m6.0 quit unsafe\n"
                   "10 tool_finished [q] m6.0 ok 'ok'\n"
                   "11 model_call_started [q] m11 turn=2\n"
                   "12 assistant_message [q] m11 done 'enough'\n"
                   "13 agent_finished [q] completed escalate\n"
                   "14 agent_finished [inner] completed\n"
                   "15 agent_started [z] llm\n"
                   "16 model_call_started [z] m16 turn=1\n"
                   "17 assistant_message [z] m16 done 'z1'\n"
                   "18 agent_finished [z] completed\n"
                   "19 agent_started [inner] loop iteration=2\n"
                   "20 agent_started [q] llm iteration=1\n"
                   "21 model_call_started [q] m21 turn=1\n");
    escalates(&s, "q");
    agent_says(&s, "z", "z2");
    assert_string_equal(s.run.last_status, "completed");
    sim_finish(&s);
}

static void test_agent_loop__a_sequence_inside_passes_it_on(void **state) {
    sim s;
    (void)state;
    begin(&s, again("loop", 3, in_order("seq", llm("q", NULL), llm("b", NULL), NULL), NULL));
    sim_log(&s);
    escalates(&s, "q");
    agent_says(&s, "b", "still here");
    assert_log(&s, "7 assistant_message [q] m6 tools quit(m6.0)\n"
                   "8 tool_decided [q] m6.0 quit allow mode:yolo\n"
                   "9 tool_started [q] m6.0 quit unsafe\n"
                   "10 tool_finished [q] m6.0 ok 'ok'\n"
                   "11 model_call_started [q] m11 turn=2\n"
                   "12 assistant_message [q] m11 done 'enough'\n"
                   "13 agent_finished [q] completed escalate\n"
                   "14 agent_started [b] llm\n"
                   "15 model_call_started [b] m15 turn=1\n"
                   "16 assistant_message [b] m15 done 'still here'\n"
                   "17 agent_finished [b] completed\n"
                   "18 agent_finished [seq] completed escalate\n"
                   "19 agent_finished [loop] completed\n"
                   "20 run_finished completed turns=3 tool_calls=1\n"
                   "21 settled completed\n");
    sim_finish(&s);
}

static void test_agent_loop__case_47_a_sequence_goes_on(void **state) {
    sim s;
    (void)state;
    begin(&s, in_order("seq", llm("q", NULL), llm("b", NULL), NULL));
    sim_log(&s);
    escalates(&s, "q");
    assert_log(&s, "6 assistant_message [q] m5 tools quit(m5.0)\n"
                   "7 tool_decided [q] m5.0 quit allow mode:yolo\n"
                   "8 tool_started [q] m5.0 quit unsafe\n"
                   "9 tool_finished [q] m5.0 ok 'ok'\n"
                   "10 model_call_started [q] m10 turn=2\n"
                   "11 assistant_message [q] m10 done 'enough'\n"
                   "12 agent_finished [q] completed escalate\n"
                   "13 agent_started [b] llm\n"
                   "14 model_call_started [b] m14 turn=1\n");
    agent_says(&s, "b", "still here");
    assert_string_equal(s.run.last_status, "completed");
    sim_finish(&s);
}

static void test_agent_loop__case_47_a_sequence_stops_if_it_says_so(void **state) {
    sim s;
    (void)state;
    begin(&s, again("loop", 3, stopping("seq", llm("q", NULL), llm("never", NULL)), NULL));
    sim_log(&s);
    escalates(&s, "q");
    assert_log(&s, "7 assistant_message [q] m6 tools quit(m6.0)\n"
                   "8 tool_decided [q] m6.0 quit allow mode:yolo\n"
                   "9 tool_started [q] m6.0 quit unsafe\n"
                   "10 tool_finished [q] m6.0 ok 'ok'\n"
                   "11 model_call_started [q] m11 turn=2\n"
                   "12 assistant_message [q] m11 done 'enough'\n"
                   "13 agent_finished [q] completed escalate\n"
                   "14 agent_finished [seq] completed escalate\n"
                   "15 agent_finished [loop] completed\n"
                   "16 run_finished completed turns=2 tool_calls=1\n"
                   "17 settled completed\n");
    sim_finish(&s);
}

static void test_agent_loop__one_of_several_branches_ends_it_when_all_are_done(void **state) {
    sim s;
    (void)state;
    begin(&s, again("loop", 3, side_by_side("par", llm("q", NULL), llm("w", NULL), NULL), NULL));
    sim_log(&s);
    escalates(&s, "q");
    assert_false(s.run.settled);
    agent_says(&s, "w", "done");
    assert_log(&s, "9 assistant_message [q] on par.q m7 tools quit(m7.0)\n"
                   "10 tool_decided [q] on par.q m7.0 quit allow mode:yolo\n"
                   "11 tool_started [q] on par.q m7.0 quit unsafe\n"
                   "12 tool_finished [q] on par.q m7.0 ok 'ok'\n"
                   "13 model_call_started [q] on par.q m13 turn=2\n"
                   "14 assistant_message [q] on par.q m13 done 'enough'\n"
                   "15 agent_finished [q] on par.q completed escalate\n"
                   "16 assistant_message [w] on par.w m8 done 'done'\n"
                   "17 agent_finished [w] on par.w completed\n"
                   "18 agent_finished [par] completed escalate\n"
                   "19 agent_finished [loop] completed\n"
                   "20 run_finished completed turns=3 tool_calls=1\n"
                   "21 settled completed\n");
    sim_finish(&s);
}

static void test_agent_loop__what_fails_ends_it(void **state) {
    sim s;
    (void)state;
    begin(&s, again("loop", 3, llm("a", NULL), llm("b", NULL), NULL));
    agent_says(&s, "a", "a1");
    sim_log(&s);
    agent_fails(&s, "b", HOB_EAUTH);
    assert_log(&s, "10 model_call_failed [b] m9 HOB_EAUTH\n"
                   "11 agent_finished [b] failed\n"
                   "12 agent_finished [loop] failed reason=b did not complete\n"
                   "13 run_finished failed reason=b did not complete turns=2 tool_calls=0\n"
                   "14 settled failed\n");
    assert_int_equal(s.run.fail.code, HOB_EAUTH);
    sim_finish(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_agent_loop__goes_round_as_often_as_it_may),
        cmocka_unit_test(test_agent_loop__case_45_escalating_in_the_second_round_ends_it),
        cmocka_unit_test(test_agent_loop__case_45_only_the_nearest_loop_ends),
        cmocka_unit_test(test_agent_loop__a_sequence_inside_passes_it_on),
        cmocka_unit_test(test_agent_loop__case_47_a_sequence_goes_on),
        cmocka_unit_test(test_agent_loop__case_47_a_sequence_stops_if_it_says_so),
        cmocka_unit_test(test_agent_loop__one_of_several_branches_ends_it_when_all_are_done),
        cmocka_unit_test(test_agent_loop__what_fails_ends_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
