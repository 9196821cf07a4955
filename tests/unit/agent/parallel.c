/* Agents side by side: branches, failures, questions, and what they do to the state. */
#include "support/check.h"
#include "support/sim_agents.h"
#include "support/sim_play.h"

#include <stdio.h>

static void begin(sim *s, hob_agent *root) {
    sim_init(s);
    sim_agents(s, root);
    sim_prompt(s, "go");
}

static void keeps(sim *s, const char *agent, const char *key) {
    char actions[100];
    snprintf(actions, sizeof actions, "{'state_delta':{'%s':'%s'}}", key, agent);
    agent_calls(s, agent, "keep:x");
    agent_acts(s, agent, 0, actions);
}

static void test_agent_parallel__case_43_branches_and_a_joiner(void **state) {
    sim s;
    (void)state;
    begin(&s, in_order("all", side_by_side("par", keeper("w1", "one"), keeper("w2", "two"), NULL),
                       llm("joiner", NULL), NULL));
    agent_says(&s, "w2", "b");
    agent_says(&s, "w1", "a");
    assert_log(&s, "1 run_started run-s1-1 prompt\n"
                   "2 user_message 'go'\n"
                   "3 agent_started [all] sequential\n"
                   "4 agent_started [par] parallel\n"
                   "5 agent_started [w1] on par.w1 llm\n"
                   "6 agent_started [w2] on par.w2 llm\n"
                   "7 model_call_started [w1] on par.w1 m7 turn=1\n"
                   "8 model_call_started [w2] on par.w2 m8 turn=1\n"
                   "9 assistant_message [w2] on par.w2 m8 done 'b'\n"
                   "10 state_changed [w2] on par.w2 {\"two\":\"b\"}\n"
                   "11 agent_finished [w2] on par.w2 completed\n"
                   "12 assistant_message [w1] on par.w1 m7 done 'a'\n"
                   "13 state_changed [w1] on par.w1 {\"one\":\"a\"}\n"
                   "14 agent_finished [w1] on par.w1 completed\n"
                   "15 agent_finished [par] completed\n"
                   "16 agent_started [joiner] llm\n"
                   "17 model_call_started [joiner] m17 turn=1\n");
    agent_says(&s, "joiner", "both");
    sim_finish(&s);
}

static void test_agent_parallel__nested_branches_have_the_names_on_the_way(void **state) {
    sim s;
    (void)state;
    begin(&s, side_by_side("p", side_by_side("q", llm("a", NULL), llm("b", NULL), NULL),
                           in_order("s", llm("c", NULL), NULL), NULL));
    assert_log(&s, "1 run_started run-s1-1 prompt\n"
                   "2 user_message 'go'\n"
                   "3 agent_started [p] parallel\n"
                   "4 agent_started [q] on p.q parallel\n"
                   "5 agent_started [s] on p.s sequential\n"
                   "6 agent_started [a] on p.q.q.a llm\n"
                   "7 agent_started [b] on p.q.q.b llm\n"
                   "8 model_call_started [a] on p.q.q.a m8 turn=1\n"
                   "9 model_call_started [b] on p.q.q.b m9 turn=1\n"
                   "10 agent_started [c] on p.s llm\n"
                   "11 model_call_started [c] on p.s m11 turn=1\n");
    sim_play_out(&s);
    sim_finish(&s);
}

static void test_agent_parallel__case_44_state_is_not_of_a_branch(void **state) {
    sim s;
    hob_str value;
    (void)state;
    begin(&s,
          side_by_side(
              "par", llm("w1", NULL),
              in_order("s", llm("w2", NULL),
                       either("if", "k == \"w1\"", llm("yes", NULL), llm("no", NULL), NULL), NULL),
              NULL));
    keeps(&s, "w1", "k");
    assert_true(hob_state_find(&s.view->state, HOB_STR("k"), &value));
    agent_says(&s, "w2", "and?");
    sim_log(&s);
    agent_says(&s, "yes", "seen");
    assert_log(&s, "20 assistant_message [yes] on par.s m19 done 'seen'\n"
                   "21 agent_finished [yes] on par.s completed\n"
                   "22 agent_finished [if] on par.s completed\n"
                   "23 agent_finished [s] on par.s completed\n");
    sim_play_out(&s);
    sim_finish(&s);
}

static void test_agent_parallel__case_61_the_first_in_order_says_why(void **state) {
    sim s;
    (void)state;
    begin(&s, in_order("all",
                       side_by_side("par", llm("w1", NULL), llm("w2", NULL), llm("w3", NULL), NULL),
                       llm("never", NULL), NULL));
    sim_log(&s);
    agent_fails(&s, "w3", HOB_EAUTH);
    agent_fails(&s, "w2", HOB_EREFUSED);
    agent_says(&s, "w1", "well");
    assert_log(&s, "11 model_call_failed [w3] on par.w3 m10 HOB_EAUTH\n"
                   "12 agent_finished [w3] on par.w3 failed\n"
                   "13 model_call_failed [w2] on par.w2 m9 HOB_EREFUSED\n"
                   "14 agent_finished [w2] on par.w2 failed\n"
                   "15 assistant_message [w1] on par.w1 m8 done 'well'\n"
                   "16 agent_finished [w1] on par.w1 completed\n"
                   "17 agent_finished [par] failed reason=w2 did not complete\n"
                   "18 agent_finished [all] failed reason=par: w2 did not complete\n"
                   "19 run_finished failed reason=par: w2 did not complete turns=3 tool_calls=0\n"
                   "20 settled failed\n");
    assert_int_equal(s.run.fail.code, HOB_EREFUSED);
    sim_finish(&s);
}

static void test_agent_parallel__case_61_a_branch_asks_again_while_others_go_on(void **state) {
    sim s;
    (void)state;
    begin(&s, side_by_side("par", llm("w1", NULL), llm("w2", NULL), NULL));
    sim_log(&s);
    agent_fails(&s, "w1", HOB_ENET);
    assert_string_equal(sim_pending(&s), "[w1] timer +500, [w2] call_model m7");
    agent_says(&s, "w2", "well");
    sim_tick(&s, 500);
    agent_says(&s, "w1", "too");
    assert_log(&s, "8 model_call_failed [w1] on par.w1 m6 HOB_ENET retryable\n"
                   "9 retry_scheduled [w1] on par.w1 attempt=2 delay_ms=500\n"
                   "10 assistant_message [w2] on par.w2 m7 done 'well'\n"
                   "11 agent_finished [w2] on par.w2 completed\n"
                   "12 model_call_started [w1] on par.w1 m12 turn=1 attempt=2\n"
                   "13 assistant_message [w1] on par.w1 m12 done 'too'\n"
                   "14 agent_finished [w1] on par.w1 completed\n"
                   "15 agent_finished [par] completed\n"
                   "16 run_finished completed turns=2 tool_calls=0\n"
                   "17 settled completed\n");
    sim_finish(&s);
}

/* ---- state ------------------------------------------------------------------------------------ */

static void test_agent_parallel__a_conflict_is_said_once(void **state) {
    sim s;
    (void)state;
    begin(&s, side_by_side("par", llm("w1", NULL), llm("w2", NULL), llm("w3", NULL), NULL));
    sim_log(&s);
    keeps(&s, "w1", "k");
    keeps(&s, "w2", "other");
    keeps(&s, "w3", "k");
    keeps(&s, "w1", "k");
    assert_log(&s, "10 assistant_message [w1] on par.w1 m7 tools keep(m7.0)\n"
                   "11 tool_decided [w1] on par.w1 m7.0 keep allow mode:yolo\n"
                   "12 tool_started [w1] on par.w1 m7.0 keep unsafe\n"
                   "13 tool_finished [w1] on par.w1 m7.0 ok 'ok'\n"
                   "14 state_changed [w1] on par.w1 {\"k\":\"w1\"} call=m7.0\n"
                   "15 model_call_started [w1] on par.w1 m15 turn=2\n"
                   "16 assistant_message [w2] on par.w2 m8 tools keep(m8.0)\n"
                   "17 tool_decided [w2] on par.w2 m8.0 keep allow mode:yolo\n"
                   "18 tool_started [w2] on par.w2 m8.0 keep unsafe\n"
                   "19 tool_finished [w2] on par.w2 m8.0 ok 'ok'\n"
                   "20 state_changed [w2] on par.w2 {\"other\":\"w2\"} call=m8.0\n"
                   "21 model_call_started [w2] on par.w2 m21 turn=2\n"
                   "22 assistant_message [w3] on par.w3 m9 tools keep(m9.0)\n"
                   "23 tool_decided [w3] on par.w3 m9.0 keep allow mode:yolo\n"
                   "24 tool_started [w3] on par.w3 m9.0 keep unsafe\n"
                   "25 tool_finished [w3] on par.w3 m9.0 ok 'ok'\n"
                   "26 state_changed [w3] on par.w3 {\"k\":\"w3\"} call=m9.0\n"
                   "27 warning state_conflict\n"
                   "28 model_call_started [w3] on par.w3 m28 turn=2\n"
                   "29 assistant_message [w1] on par.w1 m15 tools keep(m15.0)\n"
                   "30 tool_decided [w1] on par.w1 m15.0 keep allow mode:yolo\n"
                   "31 tool_started [w1] on par.w1 m15.0 keep unsafe\n"
                   "32 tool_finished [w1] on par.w1 m15.0 ok 'ok'\n"
                   "33 state_changed [w1] on par.w1 {\"k\":\"w1\"} call=m15.0\n"
                   "34 model_call_started [w1] on par.w1 m34 turn=3\n");
    assert_string_equal(
        sim_json(&s, 26),
        "{\"code\":\"state_conflict\",\"text\":\"set by agents that work side by side, the later one counts: \\\"k\\\"\"}");
    keeps(&s, "w3", "k");
    assert_int_equal(sim_count(&s, HOB_EVENT_WARNING), 1);
    sim_play_out(&s);
    sim_finish(&s);
}

static void test_agent_parallel__one_after_the_other_is_no_conflict(void **state) {
    sim s;
    (void)state;
    begin(&s, side_by_side("p",
                           in_order("s", side_by_side("q1", llm("a", NULL), llm("b", NULL), NULL),
                                    side_by_side("q2", llm("c", NULL), NULL), llm("d", NULL), NULL),
                           llm("e", NULL), NULL));
    keeps(&s, "a", "k");
    agent_says(&s, "a", "");
    agent_says(&s, "b", "");
    keeps(&s, "c", "k");
    agent_says(&s, "c", "");
    keeps(&s, "d", "k");
    assert_int_equal(sim_count(&s, HOB_EVENT_WARNING), 0);
    keeps(&s, "e", "k"); /* beside all of them */
    assert_int_equal(sim_count(&s, HOB_EVENT_WARNING), 1);
    sim_play_out(&s);
    sim_finish(&s);
}

static void test_agent_parallel__rounds_of_a_loop_are_no_conflict(void **state) {
    sim s;
    (void)state;
    begin(&s,
          again("loop", 2, side_by_side("par", keeper("a", "x"), keeper("b", "y"), NULL), NULL));
    sim_play_out(&s);
    assert_int_equal(sim_count(&s, HOB_EVENT_WARNING), 0);
    sim_finish(&s);
}

/* ---- questions ---------------------------------------------------------------------------------- */

static void test_agent_parallel__a_question_stops_its_branch_alone(void **state) {
    sim s;
    (void)state;
    sim_init(&s);
    sim_policy(&s, HOB_MODE_YOLO, "send", NULL);
    sim_agents(&s, side_by_side("par", llm("w1", NULL), llm("w2", NULL), NULL));
    sim_prompt(&s, "go");
    sim_log(&s);
    s.env.now += 100;
    agent_calls(&s, "w1", "send:x");
    assert_false(hob_run_parked(&s.run)); /* w2 is at work */
    agent_calls(&s, "w2", "look:x");
    agent_acts(&s, "w2", 0, NULL);
    s.env.now += 100;
    agent_says(&s, "w2", "ready");
    assert_true(hob_run_parked(&s.run));
    assert_int_equal(hob_run_elapsed(&s.run, s.env.now + 60000), 200);
    assert_string_equal(sim_pending(&s), "");
    sim_crash(&s, s.n);
    assert_false(hob_run_unfinished(&s.run));
    sim_reopen(&s);
    sim_as(&s, "w1");
    sim_verdict(&s, "m6.0", true, NULL);
    assert_int_equal(hob_run_elapsed(&s.run, s.env.now + 7), 207);
    agent_acts(&s, "w1", 0, NULL);
    agent_says(&s, "w1", "sent");
    assert_log(&s, "8 assistant_message [w1] on par.w1 m6 tools send(m6.0)\n"
                   "9 tool_decided [w1] on par.w1 m6.0 send ask ask: send\n"
                   "10 approval_requested [w1] on par.w1 m6.0 send\n"
                   "11 assistant_message [w2] on par.w2 m7 tools look(m7.0)\n"
                   "12 tool_decided [w2] on par.w2 m7.0 look allow mode:yolo\n"
                   "13 tool_started [w2] on par.w2 m7.0 look read_only\n"
                   "14 tool_finished [w2] on par.w2 m7.0 ok 'ok'\n"
                   "15 model_call_started [w2] on par.w2 m15 turn=2\n"
                   "16 assistant_message [w2] on par.w2 m15 done 'ready'\n"
                   "17 agent_finished [w2] on par.w2 completed\n"
                   "18 approval_resolved [w1] on par.w1 m6.0 true user\n"
                   "19 tool_started [w1] on par.w1 m6.0 send unsafe\n"
                   "20 tool_finished [w1] on par.w1 m6.0 ok 'ok'\n"
                   "21 model_call_started [w1] on par.w1 m21 turn=2\n"
                   "22 assistant_message [w1] on par.w1 m21 done 'sent'\n"
                   "23 agent_finished [w1] on par.w1 completed\n"
                   "24 agent_finished [par] completed\n"
                   "25 run_finished completed turns=4 tool_calls=2\n"
                   "26 settled completed\n");
    sim_finish(&s);
}

static void test_agent_parallel__two_questions_are_answered_in_any_order(void **state) {
    sim s;
    (void)state;
    sim_init(&s);
    sim_policy(&s, HOB_MODE_YOLO, "send", NULL);
    sim_agents(&s, side_by_side("par", llm("w1", NULL), llm("w2", NULL), NULL));
    sim_prompt(&s, "go");
    agent_calls(&s, "w1", "send:x");
    agent_calls(&s, "w2", "send:x");
    assert_true(hob_run_parked(&s.run));
    sim_log(&s);
    sim_as(&s, "w2");
    assert_int_equal(sim_verdict(&s, "m6.0", true, NULL), HOB_ENOENT); /* that is w1's */
    sim_verdict(&s, "m7.0", false, "no");
    assert_false(hob_run_parked(&s.run)); /* w2 asks its model */
    agent_says(&s, "w2", "a pity");
    assert_true(hob_run_parked(&s.run));
    sim_as(&s, "w1");
    sim_verdict(&s, "m6.0", true, NULL);
    agent_acts(&s, "w1", 0, NULL);
    agent_says(&s, "w1", "sent");
    assert_log(&s, "14 approval_resolved [w2] on par.w2 m7.0 false user\n"
                   "15 tool_finished [w2] on par.w2 m7.0 denied 'denied: no'\n"
                   "16 model_call_started [w2] on par.w2 m16 turn=2\n"
                   "17 assistant_message [w2] on par.w2 m16 done 'a pity'\n"
                   "18 agent_finished [w2] on par.w2 completed\n"
                   "19 approval_resolved [w1] on par.w1 m6.0 true user\n"
                   "20 tool_started [w1] on par.w1 m6.0 send unsafe\n"
                   "21 tool_finished [w1] on par.w1 m6.0 ok 'ok'\n"
                   "22 model_call_started [w1] on par.w1 m22 turn=2\n"
                   "23 assistant_message [w1] on par.w1 m22 done 'sent'\n"
                   "24 agent_finished [w1] on par.w1 completed\n"
                   "25 agent_finished [par] completed\n"
                   "26 run_finished completed turns=4 tool_calls=1\n"
                   "27 settled completed\n");
    sim_finish(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_agent_parallel__case_43_branches_and_a_joiner),
        cmocka_unit_test(test_agent_parallel__nested_branches_have_the_names_on_the_way),
        cmocka_unit_test(test_agent_parallel__case_44_state_is_not_of_a_branch),
        cmocka_unit_test(test_agent_parallel__case_61_the_first_in_order_says_why),
        cmocka_unit_test(test_agent_parallel__case_61_a_branch_asks_again_while_others_go_on),
        cmocka_unit_test(test_agent_parallel__a_conflict_is_said_once),
        cmocka_unit_test(test_agent_parallel__one_after_the_other_is_no_conflict),
        cmocka_unit_test(test_agent_parallel__rounds_of_a_loop_are_no_conflict),
        cmocka_unit_test(test_agent_parallel__a_question_stops_its_branch_alone),
        cmocka_unit_test(test_agent_parallel__two_questions_are_answered_in_any_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
