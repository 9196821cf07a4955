/* Handing the conversation over, and who goes on with it. */
#include "support/agents.h"
#include "support/check.h"
#include "support/sim_play.h"

#include <stdio.h>

static void begin(sim *s, hob_agent *root) {
    sim_init(s);
    sim_agents(s, root);
    sim_prompt(s, "go");
}

static void hands(sim *s, const char *from, const char *to) {
    char actions[100];
    snprintf(actions, sizeof actions, "{'transfer':'%s'}", to);
    agent_calls(s, from, "hand:x");
    agent_acts(s, from, 0, actions);
}

static hob_agent *flagged(const char *name, unsigned flags) {
    hob_agent_opts o = HOB_AGENT_OPTS_INIT;
    o.name = name;
    o.flags = flags;
    return made_of(&o, NULL, 0);
}

static void test_agent_transfer__to_its_own_agent(void **state) {
    sim s;
    (void)state;
    begin(&s, llm("root", llm("child", NULL), NULL));
    hands(&s, "root", "child");
    agent_says(&s, "child", "here I am");
    assert_log(&s, "1 run_started run-s1-1 prompt\n"
                   "2 user_message 'go'\n"
                   "3 agent_started [root] llm\n"
                   "4 model_call_started [root] m4 turn=1\n"
                   "5 assistant_message [root] m4 tools hand(m4.0)\n"
                   "6 tool_decided [root] m4.0 hand allow mode:yolo\n"
                   "7 tool_started [root] m4.0 hand unsafe\n"
                   "8 tool_finished [root] m4.0 ok 'ok'\n"
                   "9 agent_finished [root] transferred transfer=child\n"
                   "10 agent_started [child] llm slot=root\n"
                   "11 model_call_started [child] m11 turn=1\n"
                   "12 assistant_message [child] m11 done 'here I am'\n"
                   "13 agent_finished [child] completed\n"
                   "14 run_finished completed turns=2 tool_calls=1\n"
                   "15 settled completed\n");
    sim_finish(&s);
}

static void test_agent_transfer__to_a_peer_and_back_to_the_parent(void **state) {
    sim s;
    (void)state;
    begin(&s, llm("root", llm("a", NULL), llm("b", NULL), NULL));
    hands(&s, "root", "a");
    hands(&s, "a", "b");
    sim_log(&s);
    hands(&s, "b", "root");
    agent_says(&s, "root", "again");
    assert_log(&s, "19 assistant_message [b] m18 tools hand(m18.0)\n"
                   "20 tool_decided [b] m18.0 hand allow mode:yolo\n"
                   "21 tool_started [b] m18.0 hand unsafe\n"
                   "22 tool_finished [b] m18.0 ok 'ok'\n"
                   "23 agent_finished [b] transferred transfer=root\n"
                   "24 agent_started [root] llm\n"
                   "25 model_call_started [root] m25 turn=1\n"
                   "26 assistant_message [root] m25 done 'again'\n"
                   "27 agent_finished [root] completed\n"
                   "28 run_finished completed turns=4 tool_calls=3\n"
                   "29 settled completed\n");
    sim_finish(&s);
}

static void test_agent_transfer__flags_narrow_it(void **state) {
    (void)state;
    hob_agent *root = llm("root", flagged("kept", HOB_AGENT_NO_PARENT_TRANSFER),
                          flagged("alone", HOB_AGENT_NO_PEER_TRANSFER),
                          llm("free", llm("below", NULL), NULL), NULL);
    hob_flow *f = hob_flow_create(root);
    hob_agent_unref(root);
    static const char *const names[] = {"root", "kept", "alone", "free", "below"};
    static const char *const may[] = {"-111-", "--11-", "1----", "111-1", "---1-"};
    for (size_t i = 0; i < 5; i++)
        for (size_t k = 0; k < 5; k++) {
            assert_int_equal(hob_flow_index(f, hob_str_z(names[i])), i);
            if (hob_flow_may_transfer(f, i, k) != (may[i][k] == '1'))
                fail_msg("%s to %s", names[i], names[k]);
        }
    hob_flow_destroy(f);
}

static void test_agent_transfer__never_out_of_a_workflow(void **state) {
    (void)state;
    hob_agent *root = in_order("seq", llm("a", llm("x", NULL), NULL), llm("b", NULL), NULL);
    hob_flow *f = hob_flow_create(root); /* seq a x b */
    hob_agent_unref(root);
    assert_true(hob_flow_may_transfer(f, 1, 2));
    assert_true(hob_flow_may_transfer(f, 2, 1));
    assert_false(hob_flow_may_transfer(f, 1, 3));
    assert_false(hob_flow_may_transfer(f, 1, 0));
    assert_false(hob_flow_may_transfer(f, 2, 3));
    assert_false(hob_flow_may_transfer(f, 0, 1));
    assert_false(hob_flow_may_transfer(f, 1, 1));
    hob_flow_destroy(f);
}

static void test_agent_transfer__to_one_that_it_cannot_reach_fails(void **state) {
    static const char *const wrong[] = {"b", "seq", "nobody", "a"};
    (void)state;
    for (size_t i = 0; i < HOB_ARRAY_LEN(wrong); i++) {
        sim s;
        begin(&s, in_order("seq", llm("a", NULL), llm("b", NULL), NULL));
        hands(&s, "a", wrong[i]);
        assert_string_equal(s.run.last_status, "failed");
        assert_int_equal(s.run.fail.code, HOB_EAGENT);
        assert_non_null(strstr(s.run.fail.message, wrong[i]));
        sim_finish(&s);
    }
}

static void test_agent_transfer__inside_a_sequence_the_next_one_waits(void **state) {
    sim s;
    (void)state;
    begin(&s, in_order("seq", llm("a", llm("x", NULL), NULL), llm("b", NULL), NULL));
    sim_log(&s);
    hands(&s, "a", "x");
    agent_says(&s, "x", "for a");
    agent_says(&s, "b", "now");
    assert_log(&s, "6 assistant_message [a] m5 tools hand(m5.0)\n"
                   "7 tool_decided [a] m5.0 hand allow mode:yolo\n"
                   "8 tool_started [a] m5.0 hand unsafe\n"
                   "9 tool_finished [a] m5.0 ok 'ok'\n"
                   "10 agent_finished [a] transferred transfer=x\n"
                   "11 agent_started [x] llm slot=a\n"
                   "12 model_call_started [x] m12 turn=1\n"
                   "13 assistant_message [x] m12 done 'for a'\n"
                   "14 agent_finished [x] completed\n"
                   "15 agent_started [b] llm\n"
                   "16 model_call_started [b] m16 turn=1\n"
                   "17 assistant_message [b] m16 done 'now'\n"
                   "18 agent_finished [b] completed\n"
                   "19 agent_finished [seq] completed\n"
                   "20 run_finished completed turns=3 tool_calls=1\n"
                   "21 settled completed\n");
    sim_finish(&s);
}

static void test_agent_transfer__inside_a_branch_it_stays_there(void **state) {
    sim s;
    (void)state;
    begin(&s, side_by_side("par", llm("a", llm("x", NULL), NULL), llm("b", NULL), NULL));
    sim_log(&s);
    hands(&s, "a", "x");
    assert_log(&s, "8 assistant_message [a] on par.a m6 tools hand(m6.0)\n"
                   "9 tool_decided [a] on par.a m6.0 hand allow mode:yolo\n"
                   "10 tool_started [a] on par.a m6.0 hand unsafe\n"
                   "11 tool_finished [a] on par.a m6.0 ok 'ok'\n"
                   "12 agent_finished [a] on par.a transferred transfer=x\n"
                   "13 agent_started [x] on par.a llm slot=a\n"
                   "14 model_call_started [x] on par.a m14 turn=1\n");
    hands(&s, "x", "a");
    agent_says(&s, "b", "done");
    agent_says(&s, "a", "done");
    assert_string_equal(s.run.last_status, "completed");
    sim_finish(&s);
}

static void test_agent_transfer__to_a_workflow(void **state) {
    sim s;
    (void)state;
    begin(&s, llm("root", side_by_side("par", llm("a", NULL), llm("b", NULL), NULL), NULL));
    sim_log(&s);
    hands(&s, "root", "par");
    agent_says(&s, "a", "1");
    agent_says(&s, "b", "2");
    assert_log(&s, "5 assistant_message [root] m4 tools hand(m4.0)\n"
                   "6 tool_decided [root] m4.0 hand allow mode:yolo\n"
                   "7 tool_started [root] m4.0 hand unsafe\n"
                   "8 tool_finished [root] m4.0 ok 'ok'\n"
                   "9 agent_finished [root] transferred transfer=par\n"
                   "10 agent_started [par] parallel slot=root\n"
                   "11 agent_started [a] on par.a llm\n"
                   "12 agent_started [b] on par.b llm\n"
                   "13 model_call_started [a] on par.a m13 turn=1\n"
                   "14 model_call_started [b] on par.b m14 turn=1\n"
                   "15 assistant_message [a] on par.a m13 done '1'\n"
                   "16 agent_finished [a] on par.a completed\n"
                   "17 assistant_message [b] on par.b m14 done '2'\n"
                   "18 agent_finished [b] on par.b completed\n"
                   "19 agent_finished [par] completed\n"
                   "20 run_finished completed turns=3 tool_calls=1\n"
                   "21 settled completed\n");
    sim_finish(&s);
}

static void test_agent_transfer__a_condition_is_asked_once(void **state) {
    sim s;
    (void)state;
    begin(&s, either("if", "!k", llm("a", llm("x", NULL), NULL), llm("no", NULL), NULL));
    hands(&s, "a", "x");
    agent_calls(&s, "x", "hand:x");
    sim_log(&s);
    agent_acts(&s, "x", 0, "{'transfer':'a','state_delta':{'k':1}}");
    agent_says(&s, "a", "still the one");
    assert_log(&s, "16 tool_finished [x] m12.0 ok 'ok'\n"
                   "17 state_changed [x] {\"k\":1} call=m12.0\n"
                   "18 agent_finished [x] transferred transfer=a\n"
                   "19 agent_started [a] llm\n"
                   "20 model_call_started [a] m20 turn=1\n"
                   "21 assistant_message [a] m20 done 'still the one'\n"
                   "22 agent_finished [a] completed\n"
                   "23 agent_finished [if] completed\n"
                   "24 run_finished completed turns=3 tool_calls=2\n"
                   "25 settled completed\n");
    sim_finish(&s);
}

static void test_agent_transfer__to_and_fro_has_an_end(void **state) {
    sim s;
    (void)state;
    begin(&s, llm("h", llm("b", NULL), NULL));
    sim_play_out(&s);
    assert_string_equal(s.run.last_status, "failed");
    assert_non_null(strstr(s.run.fail.message, "too often"));
    assert_int_equal(s.run.spent.turns, HOB_TRANSFERS_MAX + 1);
    sim_finish(&s);
}

static void test_agent_transfer__steering_comes_first(void **state) {
    sim s;
    (void)state;
    begin(&s, llm("root", llm("child", NULL), NULL));
    agent_calls(&s, "root", "hand:x");
    sim_steer(&s, "wait");
    sim_log(&s);
    agent_acts(&s, "root", 0, "{'transfer':'child'}");
    assert_log(&s, "9 tool_finished [root] m4.0 ok 'ok'\n"
                   "10 steer_delivered q8 'wait'\n"
                   "11 agent_finished [root] transferred transfer=child\n"
                   "12 agent_started [child] llm slot=root\n"
                   "13 model_call_started [child] m13 turn=1\n");
    agent_says(&s, "child", "done");
    sim_finish(&s);
}

/* ---- who goes on ------------------------------------------------------------------------------- */

static void test_agent_transfer__case_50_who_spoke_last_goes_on(void **state) {
    sim s;
    (void)state;
    begin(&s, llm("root", llm("child", NULL), NULL));
    hands(&s, "root", "child");
    agent_says(&s, "child", "hello");
    sim_log(&s);
    sim_prompt(&s, "and now?");
    agent_says(&s, "child", "still me");
    assert_log(&s, "16 run_started run-s1-16 prompt\n"
                   "17 user_message 'and now?'\n"
                   "18 agent_started [child] llm slot=root\n"
                   "19 model_call_started [child] m19 turn=1\n"
                   "20 assistant_message [child] m19 done 'still me'\n"
                   "21 agent_finished [child] completed\n"
                   "22 run_finished completed turns=1 tool_calls=0\n"
                   "23 settled completed\n");
    sim_prompt(&s, "give me the other");
    hands(&s, "child", "root");
    agent_says(&s, "root", "yes?");
    sim_prompt(&s, "so?");
    assert_string_equal(sim_pending(&s), "[root] call_model m42");
    sim_play_out(&s);
    sim_finish(&s);
}

static void test_agent_transfer__case_50_one_that_cannot_hand_back_does_not(void **state) {
    sim s;
    (void)state;
    begin(&s, llm("root", flagged("child", HOB_AGENT_NO_PARENT_TRANSFER), NULL));
    hands(&s, "root", "child");
    agent_says(&s, "child", "hello");
    sim_log(&s);
    sim_prompt(&s, "and now?");
    assert_log(&s, "16 run_started run-s1-16 prompt\n"
                   "17 user_message 'and now?'\n"
                   "18 agent_started [root] llm\n"
                   "19 model_call_started [root] m19 turn=1\n");
    sim_play_out(&s);
    sim_finish(&s);
}

static void test_agent_transfer__case_50_a_workflow_begins_at_its_root(void **state) {
    sim s;
    (void)state;
    begin(&s, llm("root", in_order("seq", llm("a", NULL), NULL), NULL));
    hands(&s, "root", "seq");
    agent_says(&s, "a", "hello");
    sim_log(&s);
    sim_prompt(&s, "and now?");
    assert_log(&s, "18 run_started run-s1-18 prompt\n"
                   "19 user_message 'and now?'\n"
                   "20 agent_started [root] llm\n"
                   "21 model_call_started [root] m21 turn=1\n");
    sim_play_out(&s);
    sim_finish(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_agent_transfer__to_its_own_agent),
        cmocka_unit_test(test_agent_transfer__to_a_peer_and_back_to_the_parent),
        cmocka_unit_test(test_agent_transfer__flags_narrow_it),
        cmocka_unit_test(test_agent_transfer__never_out_of_a_workflow),
        cmocka_unit_test(test_agent_transfer__to_one_that_it_cannot_reach_fails),
        cmocka_unit_test(test_agent_transfer__inside_a_sequence_the_next_one_waits),
        cmocka_unit_test(test_agent_transfer__inside_a_branch_it_stays_there),
        cmocka_unit_test(test_agent_transfer__to_a_workflow),
        cmocka_unit_test(test_agent_transfer__a_condition_is_asked_once),
        cmocka_unit_test(test_agent_transfer__to_and_fro_has_an_end),
        cmocka_unit_test(test_agent_transfer__steering_comes_first),
        cmocka_unit_test(test_agent_transfer__case_50_who_spoke_last_goes_on),
        cmocka_unit_test(test_agent_transfer__case_50_one_that_cannot_hand_back_does_not),
        cmocka_unit_test(test_agent_transfer__case_50_a_workflow_begins_at_its_root),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
