/* Who goes on with the next prompt, and what becomes of the others when an agent fails. */
#include "support/agents.h"
#include "support/check.h"

#include <stdio.h>

/* ---- who goes on with the next prompt --------------------------------------------------------------------------- */

static void continue_after_transfer(unsigned child_flags, const char *second) {
    host h;
    hob_agent_opts root = HOB_AGENT_OPTS_INIT, o = HOB_AGENT_OPTS_INIT;
    host_init(&h, "{'rules':["
                  "{'when':{'system':'root','messages':1,'step':1},"
                  "'reply':[{'tool':'transfer_to_agent','args':{'agent_name':'child'}}]},"
                  "{'when':{'system':'root'},'reply':[{'text':'the root'}]},"
                  "{'when':{'system':'child'},'reply':[{'text':'the child'}]}]}");
    h.ro.store = "sqlite";
    o.name = "child";
    o.instruction = "child";
    o.flags = child_flags;
    hob_agent *child = llm_with(&o);
    root.name = "root";
    root.instruction = "root";
    team_open(&h, made_of(&root, &child, 1));
    assert_string_equal(host_prompt(&h, "hi"), "completed");
    assert_string_equal(host_text(&h), "the child");
    host_reopen(&h, HOB_UNFINISHED_RESUME); /* who spoke last is in the log */
    assert_string_equal(host_prompt(&h, "and now"), "completed");
    assert_string_equal(host_text(&h), second);
    team_finish(&h);
}

static void test_session_team_next__case_50_who_was_handed_over_to_goes_on(void **state) {
    (void)state;
    continue_after_transfer(0, "the child");
    continue_after_transfer(HOB_AGENT_NO_PARENT_TRANSFER, "the root");
}

static void test_session_team_next__case_50_a_workflow_begins_anew(void **state) {
    host h;
    (void)state;
    host_init(&h, "{'otherwise':[{'text':'ok'}]}");
    team_open(&h, in_order("all", worker("a", "a", NULL), worker("b", "b", NULL), NULL));
    assert_string_equal(host_prompt(&h, "one"), "completed");
    assert_string_equal(host_prompt(&h, "two"), "completed");
    assert_int_equal(host_count(&h, "agent_started"), 6);
    team_finish(&h);
}

static void test_session_team_next__agents_that_hand_over_for_ever_are_stopped(void **state) {
    host h;
    hob_agent_opts root = HOB_AGENT_OPTS_INIT;
    (void)state;
    host_init(
        &h,
        "{'rules':["
        "{'when':{'system':'I am root'},'reply':[{'tool':'transfer_to_agent','args':{'agent_name':'child'}}]},"
        "{'when':{'system':'I am child'},'reply':[{'tool':'transfer_to_agent','args':{'agent_name':'root'}}]}]}");
    hob_agent *child = worker("child", "I am child", NULL);
    root.name = "root";
    root.instruction = "I am root";
    team_open(&h, made_of(&root, &child, 1));
    assert_string_equal(host_prompt(&h, "go"), "failed");
    assert_int_equal(hob_result_code(h.result), HOB_EAGENT);
    assert_int_equal(host_count(&h, "agent_started"), host_count(&h, "agent_finished"));
    team_finish(&h);
}

/* ADK-21, for agents: the child spoke last, in a run that is undone. */
static void test_session_team_next__case_21_who_spoke_in_a_rewound_run_does_not_go_on(
    void **state) {
    host h;
    hob_agent_opts root = HOB_AGENT_OPTS_INIT;
    char run[64];
    (void)state;
    host_init(&h, "{'rules':["
                  "{'when':{'system':'root','user':'over','step':1},"
                  "'reply':[{'tool':'transfer_to_agent','args':{'agent_name':'child'}}]},"
                  "{'when':{'system':'root'},'reply':[{'text':'the root, {{messages}}'}]},"
                  "{'when':{'system':'child'},'reply':[{'text':'the child'}]}]}");
    h.ro.store = "sqlite";
    hob_agent *child = worker("child", "child", "k");
    root.name = "root";
    root.instruction = "root";
    team_open(&h, made_of(&root, &child, 1));
    assert_string_equal(host_prompt(&h, "one"), "completed");
    assert_int_equal(hob_session_seek(h.s, 0), HOB_OK);
    hob_event_unref(host_until(&h, HOB_EVENT_RUN_FINISHED, NULL, NULL));
    assert_string_equal(host_prompt(&h, "over"), "completed");
    assert_string_equal(host_text(&h), "the child");
    assert_string_equal(team_state(&h, "k"), "\"the child\"");
    hob_event *e = host_until(&h, HOB_EVENT_RUN_FINISHED, NULL, NULL);
    snprintf(run, sizeof run, "%.*s", HOB_FMT(hob_event_run(e)));
    hob_event_unref(e);
    assert_ok(hob_session_rewind(h.s, hob_str_z(run), &h.err), h.err);
    assert_string_equal(team_state(&h, "k"), "");
    host_reopen(&h, HOB_UNFINISHED_RESUME);
    assert_string_equal(host_prompt(&h, "three"), "completed");
    assert_string_equal(host_text(&h), "the root, 2"); /* nor is it in the conversation */
    team_finish(&h);
}

/* ---- failures ----------------------------------------------------------------------------------------------------- */

static void test_session_team_next__case_53_after_a_model_error_the_next_prompt_works(
    void **state) {
    host h;
    (void)state;
    host_init(&h,
              "{'rules':[{'when':{'user':'bad'},'reply':[{'error':{'status':400,'message':'no'}}]},"
              "{'when':{'user':'good','turn':1},'reply':[{'text':'fine'}]}]}");
    team_open(&h, in_order("all", worker("a", "a", NULL), NULL));
    assert_string_equal(host_prompt(&h, "bad"), "failed");
    assert_int_equal(host_count(&h, "model_call_failed"), 1);
    assert_string_equal(
        team_log(&h, "agent_finished", NULL),
        "agent_finished [a] failed\nagent_finished [all] failed a did not complete\n");
    assert_string_equal(host_prompt(&h, "good"), "completed"); /* turn 1: no empty answer before */
    assert_string_equal(host_text(&h), "fine");
    team_finish(&h);
}

static void test_session_team_next__case_54_turns_of_the_run_and_of_an_agent_are_limited(
    void **state) {
    host h;
    int calls = 0;
    hob_tool quick = host_tool("quick", HOB_TOOL_READ_ONLY, &calls);
    (void)state;
    quick.schema = "{\"type\":\"object\"}";
    host_init(&h, "{'otherwise':[{'tool':'quick','args':{'n':'{{turn}}'}}]}");
    h.so.tools = &quick;
    h.so.ntools = 1;
    h.so.max_turns = 3;
    team_open(&h, in_order("all", worker("a", "a", NULL), worker("b", "b", NULL), NULL));
    assert_string_equal(host_prompt(&h, "go"), "limit");
    assert_int_equal(host_count(&h, "model_call_started"), 3);
    assert_string_equal(team_log(&h, "limit_reached", "run_finished", NULL),
                        "limit_reached [a] turns\nrun_finished limit turns\n");
    team_finish(&h);
}

static void throwing(const hob_tool_call *call, hob_reply *reply, void *user) {
    (void)call, (void)user;
    hob_reply_text(reply, HOB_OUTCOME_ERROR, hob_str_z("error: it broke"));
}

static void test_session_team_next__case_55_unknown_and_failing_tools_are_results(void **state) {
    host h;
    hob_tool broken = host_tool("broken", HOB_TOOL_READ_ONLY, NULL);
    (void)state;
    broken.run = throwing;
    host_init(&h,
              "{'rules':[{'when':{'step':1},'reply':[{'tool':'nosuch'}]},"
              "{'when':{'step':2,'result':'there is no tool nosuch'},'reply':[{'tool':'broken'}]},"
              "{'when':{'step':3,'result':'it broke','failed':true},'reply':[{'text':'I see'}]}]}");
    h.so.tools = &broken;
    h.so.ntools = 1;
    team_open(&h, in_order("all", worker("a", "a", NULL), NULL));
    assert_string_equal(host_prompt(&h, "go"), "completed");
    assert_string_equal(host_text(&h), "I see");
    team_finish(&h);
}

/* ADK-61: all come to their end, the first in order that failed says why. */
static void test_session_team_next__case_61_siblings_of_one_that_fails_finish(void **state) {
    host h;
    (void)state;
    host_init(
        &h,
        "{'rules':["
        "{'when':{'system':'one'},'reply':[{'delay_ms':80},{'text':'kept'}]},"
        "{'when':{'system':'two'},'reply':[{'delay_ms':40},{'error':{'status':400,'message':'second broke'}}]},"
        "{'when':{'system':'three'},'reply':[{'error':{'status':400,'message':'third broke'}}]}]}");
    team_open(&h, in_order("all",
                           side_by_side("par", worker("w1", "one", "a"), worker("w2", "two", "b"),
                                        worker("w3", "three", "c"), NULL),
                           worker("joiner", "join", NULL), NULL));
    assert_string_equal(host_prompt(&h, "go"), "failed");
    assert_string_equal(team_state(&h, "a"), "\"kept\"");
    hob_str json = hob_result_json(h.result);
    assert_true(hob_str_find(json, HOB_STR("second broke")) >= 0);
    assert_true(hob_str_find(json, HOB_STR("third broke")) < 0);
    assert_int_equal(host_count(&h, "agent_started"), 5); /* not the joiner */
    assert_int_equal(host_count(&h, "agent_finished"), 5);
    team_finish(&h);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_session_team_next__case_50_who_was_handed_over_to_goes_on),
        cmocka_unit_test(test_session_team_next__case_21_who_spoke_in_a_rewound_run_does_not_go_on),
        cmocka_unit_test(test_session_team_next__case_50_a_workflow_begins_anew),
        cmocka_unit_test(test_session_team_next__agents_that_hand_over_for_ever_are_stopped),
        cmocka_unit_test(test_session_team_next__case_53_after_a_model_error_the_next_prompt_works),
        cmocka_unit_test(
            test_session_team_next__case_54_turns_of_the_run_and_of_an_agent_are_limited),
        cmocka_unit_test(test_session_team_next__case_55_unknown_and_failing_tools_are_results),
        cmocka_unit_test(test_session_team_next__case_61_siblings_of_one_that_fails_finish),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
