/* Stopping a workflow: everything ends, nothing begins, every agent has its end. */
#include "support/check.h"
#include "support/sim_agents.h"
#include "support/sim_play.h"

static hob_agent *team(void) {
    return in_order("all",
                    side_by_side("par", llm("t1", NULL), watched("w2", "out"), custom("c3", 0),
                                 again("l4", 2, llm("h5", llm("x6", NULL), NULL), NULL), NULL),
                    llm("z", NULL), NULL);
}

static void begin(sim *s, hob_agent *root) {
    sim_init(s);
    sim_agents(s, root);
    sim_prompt(s, "go");
    sim_log(s);
}

static void test_agent_stop__cancel_ends_every_strand(void **state) {
    sim s;
    (void)state;
    begin(&s, in_order("all", side_by_side("par", llm("a", NULL), llm("b", NULL), NULL),
                       llm("z", NULL), NULL));
    agent_calls(&s, "b", "send:x look:y");
    sim_log(&s);
    sim_cancel(&s, HOB_ENDING_CANCEL, HOB_QUEUE_RETURN);
    assert_string_equal(sim_pending(&s),
                        "[a] call_model m7 !cancel, [b] run_tool m8.0 after 12 !cancel");
    sim_as(&s, "b");
    sim_result(&s, "m8.0", HOB_OUTCOME_CANCELLED, "stopped");
    sim_as(&s, "a");
    sim_stopped(&s, "half", NULL);
    assert_log(&s, "13 cancel_requested cancel return\n"
                   "14 tool_finished [b] on par.b m8.1 cancelled 'cancelled: the user stopped ..'\n"
                   "15 tool_finished [b] on par.b m8.0 cancelled 'stopped'\n"
                   "16 agent_finished [b] on par.b cancelled reason=the user stopped it\n"
                   "17 assistant_message [a] on par.a m7 aborted 'half'\n"
                   "18 agent_finished [a] on par.a cancelled reason=the user stopped it\n"
                   "19 agent_finished [par] cancelled reason=the user stopped it\n"
                   "20 agent_finished [all] cancelled reason=the user stopped it\n"
                   "21 run_finished cancelled reason=the user stopped it turns=2 tool_calls=1\n"
                   "22 settled cancelled\n");
    sim_finish(&s);
}

static void test_agent_stop__abort_kills(void **state) {
    sim s;
    (void)state;
    begin(&s, side_by_side("par", llm("a", NULL), custom("c", 0), NULL));
    sim_cancel(&s, HOB_ENDING_ABORT, HOB_QUEUE_RETURN);
    assert_string_equal(sim_pending(&s),
                        "[a] call_model m6 !abort, [c] call_agent run after 7 !abort");
    sim_play_out(&s);
    assert_log(&s, "8 cancel_requested abort return\n"
                   "9 assistant_message [a] on par.a m6 aborted 'half'\n"
                   "10 agent_finished [a] on par.a cancelled reason=the user stopped it\n"
                   "11 callback_finished [c] on par.c run cancelled\n"
                   "12 agent_finished [c] on par.c cancelled reason=the user stopped it\n"
                   "13 agent_finished [par] cancelled reason=the user stopped it\n"
                   "14 run_finished cancelled reason=the user stopped it turns=1 tool_calls=0\n"
                   "15 settled cancelled\n");
    sim_finish(&s);
}

static void test_agent_stop__a_question_in_a_branch_is_withdrawn(void **state) {
    sim s;
    (void)state;
    sim_init(&s);
    sim_policy(&s, HOB_MODE_YOLO, "send", NULL);
    sim_agents(&s, side_by_side("par", llm("a", NULL), llm("b", NULL), NULL));
    sim_prompt(&s, "go");
    agent_calls(&s, "a", "send:x");
    agent_says(&s, "b", "done");
    sim_log(&s);
    sim_cancel(&s, HOB_ENDING_CANCEL, HOB_QUEUE_RETURN);
    assert_log(&s, "13 cancel_requested cancel return\n"
                   "14 approval_resolved [a] on par.a m6.0 false end\n"
                   "15 tool_finished [a] on par.a m6.0 cancelled 'cancelled: the user stopped ..'\n"
                   "16 agent_finished [a] on par.a cancelled reason=the user stopped it\n"
                   "17 agent_finished [par] cancelled reason=the user stopped it\n"
                   "18 run_finished cancelled reason=the user stopped it turns=2 tool_calls=0\n"
                   "19 settled cancelled\n");
    sim_finish(&s);
}

/* Between handing over and beginning only a crash can come; then it is put to rest. */
static void test_agent_stop__settled_while_handing_over(void **state) {
    sim s;
    (void)state;
    begin(&s, llm("root", llm("child", NULL), NULL));
    agent_calls(&s, "root", "hand:x");
    agent_acts(&s, "root", 0, "{'transfer':'child'}");
    assert_string_equal(sim_line(&s, 8), "9 agent_finished [root] transferred transfer=child");
    sim_crash(&s, 9);
    sim_settle(&s);
    assert_string_equal(
        sim_line(&s, s.n - 2),
        "11 run_finished interrupted reason=the program stopped turns=1 tool_calls=1");
    sim_finish(&s);
}

static void test_agent_stop__the_next_prompt_begins_anew(void **state) {
    sim s;
    (void)state;
    begin(&s, again("loop", 2, llm("a", NULL), NULL));
    agent_says(&s, "a", "one");
    sim_cancel(&s, HOB_ENDING_CANCEL, HOB_QUEUE_RETURN);
    sim_as(&s, "a");
    sim_stopped(&s, "", NULL);
    sim_log(&s);
    sim_prompt(&s, "again");
    assert_log(&s, "16 run_started run-s1-16 prompt\n"
                   "17 user_message 'again'\n"
                   "18 agent_started [loop] loop\n"
                   "19 agent_started [a] llm iteration=1\n"
                   "20 model_call_started [a] m20 turn=1\n");
    sim_play_out(&s);
    sim_finish(&s);
}

/* ---- at every point -------------------------------------------------------------------------------- */

/* Plays `steps` outcomes, then stops it; what is under way ends as stopped, or well all the same. */
static bool stop_after(int steps, hob_ending how, bool late) {
    sim s;
    sim_effect list[SIM_EFFECTS_MAX];
    begin(&s, team());
    for (int i = 0; i < steps; i++) {
        size_t n = sim_effects(&s, list);
        if (n) sim_play(&s, &list[(size_t)i % n]);
    }
    bool active = hob_run_active(&s.run);
    sim_cancel(&s, how, HOB_QUEUE_DROP);
    for (size_t n; (n = sim_effects(&s, list)) > 0;) {
        assert_true(list[0].stop);
        list[0].stop = !late;
        sim_play(&s, &list[0]);
    }
    assert_true(s.run.settled);
    assert_string_equal(s.run.last_status, active ? "cancelled" : "completed");
    sim_refold(&s);
    sim_finish(&s);
    return active;
}

static void test_agent_stop__at_every_point(void **state) {
    (void)state;
    for (int late = 0; late < 2; late++) {
        int steps = 0;
        while (stop_after(steps, HOB_ENDING_CANCEL, late)) steps++;
        assert_in_range(steps, 10, 100);
        for (int i = 0; i < steps; i++) stop_after(i, HOB_ENDING_ABORT, late);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_agent_stop__cancel_ends_every_strand),
        cmocka_unit_test(test_agent_stop__abort_kills),
        cmocka_unit_test(test_agent_stop__a_question_in_a_branch_is_withdrawn),
        cmocka_unit_test(test_agent_stop__settled_while_handing_over),
        cmocka_unit_test(test_agent_stop__the_next_prompt_begins_anew),
        cmocka_unit_test(test_agent_stop__at_every_point),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
