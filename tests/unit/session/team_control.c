/* Steering, follow-ups, cancelling and limits, when several agents are at work. */
#include "support/agents.h"
#include "support/check.h"

#include <stdio.h>

static hob_agent *two(void) {
    return side_by_side("par", worker("w1", "one", "a"), worker("w2", "two", "b"), NULL);
}

static void count_ends(host *h, int agents) {
    assert_int_equal(host_count(h, "agent_started"), agents);
    assert_int_equal(host_count(h, "agent_finished"), agents);
    assert_int_equal(host_count(h, "run_finished"), host_count(h, "run_started"));
}

/* ---- steering ---------------------------------------------------------------------------------------------- */

/* w1 is in a tool, w2's answer is being made: both hear it, w2 behind the answer that did not know of it. */
static void test_session_team_control__steering_reaches_all_who_are_at_work(void **state) {
    host h;
    gate g;
    (void)state;
    gate_init(&g, "gate", HOB_TOOL_READ_ONLY);
    host_init(&h, "{'rules':["
                  "{'when':{'system':'one','user':'be brief','step':1},'reply':[{'text':'1'}]},"
                  "{'when':{'system':'two','user':'be brief','step':1},'reply':[{'text':'2'}]},"
                  "{'when':{'system':'one'},'reply':[{'tool':'gate'}]},"
                  "{'when':{'system':'two'},'reply':[{'delay_ms':150},{'text':'at length'}]}]}");
    h.so.tools = &g.tool;
    h.so.ntools = 1;
    team_open(&h, two());
    assert_ok(hob_session_prompt(h.s, hob_str_z("go"), &h.err), h.err);
    gate_wait_started(&g, 1);
    assert_ok(hob_session_steer(h.s, hob_str_z("be brief"), &h.err), h.err);
    gate_answer(&g, "let go");
    assert_string_equal(host_wait(&h), "completed");
    assert_string_equal(team_state(&h, "a"), "\"1\"");
    assert_string_equal(team_state(&h, "b"), "\"2\"");
    assert_int_equal(host_count(&h, "steer_delivered"), 1);
    team_finish(&h);
    gate_finish(&g);
}

static void hold(const hob_agent_call *call, hob_reply *reply, void *user) {
    gate *g = user;
    (void)call;
    pthread_mutex_lock(&g->lock);
    g->reply = reply;
    g->started++;
    pthread_cond_broadcast(&g->cond);
    pthread_mutex_unlock(&g->lock);
}

static void let_go(const hob_agent_call *call, int hard, void *user) {
    gate *g = user;
    (void)call, (void)hard;
    pthread_mutex_lock(&g->lock);
    hob_reply *reply = g->reply;
    g->reply = NULL;
    g->cancelled++;
    pthread_mutex_unlock(&g->lock);
    if (reply) hob_reply_text(reply, HOB_OUTCOME_CANCELLED, hob_str_z("stopped"));
}

static hob_agent *custom(gate *g) {
    hob_agent_opts o = HOB_AGENT_OPTS_INIT;
    o.name = "mine";
    o.kind = HOB_AGENT_CUSTOM;
    o.run = hold;
    o.cancel = let_go;
    o.user = g;
    return made_of(&o, NULL, 0);
}

/* Nobody is there to hear it but a function; when that is done the agents begin again with what was said. */
static void test_session_team_control__steering_a_function_is_heard_afterwards(void **state) {
    host h;
    gate g;
    (void)state;
    gate_init(&g, "unused", HOB_TOOL_READ_ONLY);
    host_init(&h, "{'otherwise':[{'text':'{{user}}'}]}");
    team_open(&h, in_order("all", worker("first", "first", NULL), custom(&g), NULL));
    assert_ok(hob_session_prompt(h.s, hob_str_z("go"), &h.err), h.err);
    gate_wait_started(&g, 1);
    assert_ok(hob_session_steer(h.s, hob_str_z("once more"), &h.err), h.err);
    gate_answer(&g, "mine one");
    gate_wait_started(&g, 2);
    gate_answer(&g, "mine two");
    assert_string_equal(host_wait(&h), "completed");
    assert_string_equal(host_text(&h), "mine two");
    count_ends(&h, 6);
    team_finish(&h);
    gate_finish(&g);
}

static void test_session_team_control__a_follow_up_is_worked_off_by_the_whole_team(void **state) {
    host h;
    gate g;
    (void)state;
    gate_init(&g, "gate", HOB_TOOL_READ_ONLY);
    host_init(
        &h, "{'rules':[{'when':{'system':'first','user':'go','step':1},'reply':[{'tool':'gate'}]}],"
            "'otherwise':[{'text':'{{user}}'}]}");
    h.so.tools = &g.tool;
    h.so.ntools = 1;
    team_open(&h, in_order("all", worker("a", "first", "x"), worker("b", "second", NULL), NULL));
    assert_ok(hob_session_prompt(h.s, hob_str_z("go"), &h.err), h.err);
    gate_wait_started(&g, 1);
    assert_ok(hob_session_follow_up(h.s, hob_str_z("and then"), &h.err), h.err);
    gate_answer(&g, "let go");
    assert_string_equal(host_wait(&h), "completed");
    assert_string_equal(team_state(&h, "x"), "\"and then\"");
    count_ends(&h, 6);
    team_finish(&h);
    gate_finish(&g);
}

/* ---- stopping ------------------------------------------------------------------------------------------------ */

static void stop_all(bool hard) {
    host h;
    gate g, f;
    gate_init(&g, "gate", HOB_TOOL_READ_ONLY);
    gate_init(&f, "unused", HOB_TOOL_READ_ONLY);
    host_init(&h, "{'rules':["
                  "{'when':{'user':'again'},'reply':[{'text':'here we are'}]},"
                  "{'when':{'system':'one'},'reply':[{'text':'I be'},{'wait':true}]},"
                  "{'when':{'system':'two'},'reply':[{'tool':'gate'}]}],"
                  "'otherwise':[{'text':'never'}]}");
    h.so.tools = &g.tool;
    h.so.ntools = 1;
    team_open(&h, in_order("all",
                           side_by_side("par", worker("w1", "one", "a"), worker("w2", "two", "b"),
                                        custom(&f), NULL),
                           worker("joiner", "join", NULL), NULL));
    assert_ok(hob_session_prompt(h.s, hob_str_z("go"), &h.err), h.err);
    gate_wait_started(&g, 1);
    gate_wait_started(&f, 1);
    if (hard)
        assert_ok(hob_session_abort(h.s, &h.err), h.err);
    else
        assert_ok(hob_session_cancel(h.s, HOB_QUEUED_RETURN, &h.err), h.err);
    assert_string_equal(host_wait(&h), "cancelled");
    assert_int_equal(g.cancelled >= 1 && f.cancelled >= 1, 1);
    count_ends(&h, 5); /* not the joiner */
    assert_null(strstr(team_log(&h, "agent_finished", NULL), "completed"));
    assert_ok(hob_session_prompt(h.s, hob_str_z("again"), &h.err), h.err);
    gate_wait_started(&f, 2);
    gate_answer(&f, "fine");
    assert_string_equal(host_wait(&h), "completed");
    team_finish(&h);
    gate_finish(&g);
    gate_finish(&f);
}

static void test_session_team_control__cancel_ends_every_agent(void **state) {
    (void)state;
    stop_all(false);
}

static void test_session_team_control__abort_ends_every_agent(void **state) {
    (void)state;
    stop_all(true);
}

static void test_session_team_control__detaching_leaves_it_to_be_resumed(void **state) {
    host h;
    gate g;
    (void)state;
    gate_init(&g, "gate", HOB_TOOL_READ_ONLY);
    host_init(&h,
              "{'rules':[{'when':{'system':'one','step':1},'reply':[{'tool':'gate'}]},"
              "{'when':{'system':'two','step':1},'reply':[{'delay_ms':60000},{'text':'never'}]}],"
              "'otherwise':[{'text':'done'}]}");
    h.ro.store = "sqlite";
    h.so.tools = &g.tool;
    h.so.ntools = 1;
    team_open(&h, two());
    assert_ok(hob_session_prompt(h.s, hob_str_z("go"), &h.err), h.err);
    gate_wait_started(&g, 1);
    host_script(&h, "{'rules':[{'when':{'system':'one','step':1},'reply':[{'tool':'gate'}]}],"
                    "'otherwise':[{'text':'done'}]}");
    host_reopen(&h, HOB_UNFINISHED_RESUME);
    gate_wait_started(&g, 2); /* it only reads: called again */
    gate_answer(&g, "let go");
    assert_string_equal(host_wait(&h), "completed");
    assert_string_equal(team_state(&h, "a"), "\"done\"");
    assert_string_equal(team_state(&h, "b"), "\"done\"");
    count_ends(&h, 3);
    team_finish(&h);
    gate_finish(&g);
}

/* ---- limits --------------------------------------------------------------------------------------------------- */

static void test_session_team_control__limits_bind_all_agents_together(void **state) {
    host h;
    int calls = 0;
    hob_tool quick = host_tool("quick", HOB_TOOL_READ_ONLY, &calls);
    (void)state;
    host_init(
        &h,
        "{'rules':[{'when':{'step':1},'reply':[{'tool':'quick'}]}],'otherwise':[{'text':'ok'}]}");
    h.so.tools = &quick;
    h.so.ntools = 1;
    h.so.max_tool_calls = 3;
    team_open(&h, side_by_side("par", worker("a", "a", NULL), worker("b", "b", NULL),
                               worker("c", "c", NULL), worker("d", "d", NULL), NULL));
    assert_string_equal(host_prompt(&h, "go"), "limit");
    assert_int_equal(calls, 3);
    assert_int_equal(host_count(&h, "limit_reached"), 1);
    count_ends(&h, 5);
    team_finish(&h);
}

/* What one has reserved is not there for the others: they wait, and share what it gives back. The third one's answer is
 * longer than it was asked to be; the fourth is not begun. */
static void test_session_team_control__agents_do_not_overspend_side_by_side(void **state) {
    host h;
    (void)state;
    host_init(&h, "{'defaults':{'usage':{'input_tokens':10,'output_tokens':300}},"
                  "'otherwise':[{'delay_ms':20},{'text':'ok'}]}");
    h.so.max_tokens = 700;
    h.so.flags = HOB_SESSION_NO_BUILTIN_TOOLS;
    team_open(&h, side_by_side("par", worker("a", "a", NULL), worker("b", "b", NULL),
                               worker("c", "c", NULL), worker("d", "d", NULL), NULL));
    assert_string_equal(host_prompt(&h, "go"), "limit");
    assert_int_equal(host_count(&h, "model_call_started"), 3);
    assert_string_equal(team_log(&h, "limit_reached", NULL), "limit_reached [d par.d] tokens\n");
    count_ends(&h, 5);
    team_finish(&h);
}

static void test_session_team_control__an_agents_own_turns_end_it_alone(void **state) {
    host h;
    hob_tool quick = host_tool("quick", HOB_TOOL_READ_ONLY, NULL);
    hob_agent_opts o = HOB_AGENT_OPTS_INIT;
    (void)state;
    quick.schema = "{\"type\":\"object\"}";
    host_init(
        &h,
        "{'rules':[{'when':{'system':'one'},'reply':[{'tool':'quick','args':{'n':'{{turn}}'}}]}],"
        "'otherwise':[{'text':'done'}]}");
    h.so.tools = &quick;
    h.so.ntools = 1;
    o.name = "w1";
    o.instruction = "one";
    o.max_turns = 2;
    team_open(&h, side_by_side("par", llm_with(&o), worker("w2", "two", "b"), NULL));
    host_prompt(&h, "go");
    assert_string_equal(team_state(&h, "b"), "\"done\"");
    assert_string_equal(team_log(&h, "limit_reached", NULL), "limit_reached [w1 par.w1] turns\n");
    count_ends(&h, 3);
    team_finish(&h);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_session_team_control__steering_reaches_all_who_are_at_work),
        cmocka_unit_test(test_session_team_control__steering_a_function_is_heard_afterwards),
        cmocka_unit_test(test_session_team_control__a_follow_up_is_worked_off_by_the_whole_team),
        cmocka_unit_test(test_session_team_control__cancel_ends_every_agent),
        cmocka_unit_test(test_session_team_control__abort_ends_every_agent),
        cmocka_unit_test(test_session_team_control__detaching_leaves_it_to_be_resumed),
        cmocka_unit_test(test_session_team_control__limits_bind_all_agents_together),
        cmocka_unit_test(test_session_team_control__agents_do_not_overspend_side_by_side),
        cmocka_unit_test(test_session_team_control__an_agents_own_turns_end_it_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
