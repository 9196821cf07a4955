/* The conversation as each agent of a workflow sees it. */
#include "log/history_view.h"
#include "support/check.h"
#include "support/sim_agents.h"
#include "support/sim_play.h"

#include <stdlib.h>

static void begin(sim *s, hob_agent *root) {
    sim_init(s);
    sim_agents(s, root);
    sim_prompt(s, "go");
}

static hob_viewer viewer(sim *s, const char *agent, unsigned flags) {
    const hob_frame *fr = &s->flow->frames[hob_flow_index(s->flow, hob_str_z(agent))];
    hob_viewer who = {.agent = hob_agent_name(fr->agent), .branch = hob_str_z(fr->branch)};
    who.isolate = flags & HOB_AGENT_ISOLATE;
    who.keep_responses = flags & HOB_AGENT_KEEP_RESPONSES;
    who.current_only = flags & HOB_AGENT_NO_CONTENTS;
    if (fr->run && fr->run->phase == HOB_PHASE_MODEL)
        who.asked = strtoull(fr->run->message + 1, NULL, 10);
    return who;
}

/* What its model is asked with now. */
static const char *sight(sim *s, const char *agent, unsigned flags) {
    hob_viewer who = viewer(s, agent, flags);
    hob_history_view v;
    hob_history_view_init(&v);
    hob_history_view_update(&v, s->view->history, &who);
    const char *text = sim_told(s, v.seen);
    hob_history_view_finish(&v);
    return text;
}

static void uses_a_tool(sim *s, const char *agent) {
    sim_as(s, agent);
    sim_answer(s, "let me see", "look:x", HOB_STOP_TOOLS);
    agent_acts(s, agent, 0, NULL);
}

/* ---- others ------------------------------------------------------------------------------------- */

static void test_agent_sight__case_34_others_are_told(void **state) {
    sim s;
    (void)state;
    begin(&s, in_order("seq", llm("a", NULL), llm("b", NULL), NULL));
    agent_says(&s, "a", "r1");
    assert_string_equal(sight(&s, "b", 0), "user 'go' | user 'For context:' '[a] said: r1'");
    sim_play_out(&s);
    sim_finish(&s);
}

static void test_agent_sight__case_27_others_are_left_out(void **state) {
    sim s;
    (void)state;
    begin(&s, in_order("seq", llm("a", NULL), llm("b", NULL), NULL));
    uses_a_tool(&s, "a");
    agent_says(&s, "a", "done");
    assert_string_equal(sight(&s, "b", HOB_AGENT_ISOLATE), "user 'go'");
    assert_string_equal(sight(&s, "b", HOB_AGENT_ISOLATE | HOB_AGENT_KEEP_RESPONSES),
                        "user 'go' | user 'For context:' '[a] tool `look` returned res..'");
    assert_string_equal(
        sight(&s, "b", 0),
        "user 'go' | user 'For context:' '[a] said: let me see' '[a] called tool `look` with ..' '[a] tool `look` returned res..' | user 'For context:' '[a] said: done'");
    sim_play_out(&s);
    sim_finish(&s);
}

static void test_agent_sight__case_28_an_agent_sees_its_earlier_turns(void **state) {
    sim s;
    (void)state;
    begin(&s, again("loop", 2, llm("a", NULL), llm("b", NULL), NULL));
    agent_says(&s, "a", "a1");
    agent_says(&s, "b", "b1");
    assert_string_equal(sight(&s, "a", 0),
                        "user 'go' | model 'a1' | user 'For context:' '[b] said: b1'");
    assert_string_equal(sight(&s, "a", HOB_AGENT_ISOLATE),
                        "user 'go' | model 'a1' | user 'It is your turn again. Go on..'");
    sim_play_out(&s);
    sim_finish(&s);
}

static void test_agent_sight__case_30_branches(void **state) {
    sim s;
    (void)state;
    begin(&s, in_order("all",
                       side_by_side("p", in_order("s", llm("a_1", NULL), llm("b", NULL), NULL),
                                    llm("a_10", NULL), NULL),
                       llm("joiner", NULL), NULL));
    agent_says(&s, "a_1", "one");
    agent_says(&s, "a_10", "ten");
    assert_string_equal(sight(&s, "b", 0), "user 'go' | user 'For context:' '[a_1] said: one'");
    agent_says(&s, "b", "two");
    assert_string_equal(
        sight(&s, "joiner", 0),
        "user 'go' | user 'For context:' '[a_1] said: one' | user 'For context:' '[a_10] said: ten' | user 'For context:' '[b] said: two'");
    sim_play_out(&s);
    sim_finish(&s);
}

static void test_agent_sight__case_35_a_hand_over_is_told(void **state) {
    sim s;
    (void)state;
    begin(&s, llm("root", llm("child", NULL), NULL));
    agent_calls(&s, "root", "hand:child");
    agent_acts(&s, "root", 0, "{'transfer':'child'}");
    assert_string_equal(
        sight(&s, "child", 0),
        "user 'go' | user 'For context:' '[root] called tool `hand` wi..' '[root] tool `hand` returned ..'");
    sim_play_out(&s);
    sim_finish(&s);
}

/* ---- the current turn ---------------------------------------------------------------------------- */

static void test_agent_sight__case_39_the_current_turn_only(void **state) {
    sim s;
    (void)state;
    begin(&s, llm("a", NULL));
    agent_says(&s, "a", "one");
    sim_prompt(&s, "and two?");
    uses_a_tool(&s, "a");
    assert_string_equal(sight(&s, "a", HOB_AGENT_NO_CONTENTS),
                        "user 'and two?' | model 'let me see' look(m12.0) >'ok'");
    sim_play_out(&s);
    sim_finish(&s);
}

static void test_agent_sight__case_40_siblings_do_not_begin_a_turn(void **state) {
    sim s;
    (void)state;
    begin(&s, side_by_side("par", llm("a", NULL), llm("b", NULL), NULL));
    uses_a_tool(&s, "a");
    agent_says(&s, "b", "meanwhile");
    assert_string_equal(sight(&s, "a", HOB_AGENT_NO_CONTENTS),
                        "user 'go' | model 'let me see' look(m6.0) >'ok'");
    sim_play_out(&s);
    sim_finish(&s);
}

/* Others that are left out begin no turn: there would be nothing to answer. */
static void test_agent_sight__the_current_turn_of_one_that_sees_no_others(void **state) {
    sim s;
    (void)state;
    begin(&s, in_order("seq", llm("a", NULL), llm("b", NULL), NULL));
    agent_says(&s, "a", "one");
    assert_string_equal(sight(&s, "b", HOB_AGENT_NO_CONTENTS),
                        "user 'For context:' '[a] said: one'");
    assert_string_equal(sight(&s, "b", HOB_AGENT_NO_CONTENTS | HOB_AGENT_ISOLATE), "user 'go'");
    sim_play_out(&s);
    sim_finish(&s);
}

/* ---- what is new ------------------------------------------------------------------------------------ */

static void test_agent_sight__steering_stands_behind_the_answer_that_did_not_hear_it(void **state) {
    sim s;
    (void)state;
    begin(&s, side_by_side("par", llm("a", NULL), llm("b", NULL), NULL));
    sim_steer(&s, "in French");
    agent_says(&s, "a", "one");
    agent_says(&s, "b", "two");
    assert_string_equal(sight(&s, "a", 0), "user 'go' | model 'one' | user 'in French'");
    assert_string_equal(sight(&s, "b", 0), "user 'go' | model 'two' | user 'in French'");
    sim_play_out(&s);
    sim_finish(&s);
}

static void test_agent_sight__one_that_is_asked_again_has_something_to_answer(void **state) {
    sim s;
    (void)state;
    begin(&s, again("loop", 3, llm("a", NULL), NULL));
    agent_says(&s, "a", "one");
    assert_string_equal(sight(&s, "a", 0),
                        "user 'go' | model 'one' | user 'It is your turn again. Go on..'");
    agent_says(&s, "a", "two");
    assert_string_equal(
        sight(&s, "a", 0),
        "user 'go' | model 'one' | user 'It is your turn again. Go on..' | model 'two' | user 'It is your turn again. Go on..'");
    sim_play_out(&s);
    sim_finish(&s);
}

/* What a callback says for the agent was not asked for. */
static void test_agent_sight__two_answers_without_a_question_stand_together(void **state) {
    sim s;
    (void)state;
    begin(&s, in_order("seq", watched("a", NULL), again("loop", 1, llm("b", NULL), NULL), NULL));
    sim_answered(&s, "a", HOB_OUTCOME_OK, NULL, NULL);
    agent_says(&s, "a", "draft");
    sim_answered(&s, "a", HOB_OUTCOME_OK, "final", NULL);
    agent_says(&s, "b", "so so");
    sim_prompt(&s, "again");
    sim_answered(&s, "a", HOB_OUTCOME_OK, NULL, NULL);
    assert_string_equal(sight(&s, "a", HOB_AGENT_ISOLATE),
                        "user 'go' | model 'draft' | model 'final' | user 'again'");
    sim_play_out(&s);
    sim_finish(&s);
}

static void test_agent_sight__what_was_there_stays(void **state) {
    sim s;
    hob_history_view v;
    (void)state;
    hob_history_view_init(&v);
    begin(&s, again("loop", 2, llm("a", NULL), llm("b", NULL), NULL));
    hob_viewer who = viewer(&s, "a", 0);
    hob_history_view_update(&v, s.view->history, &who);
    const hob_history *seen = v.seen;
    uint64_t generation = hob_history_generation(seen);
    uses_a_tool(&s, "a");
    who = viewer(&s, "a", 0);
    hob_history_view_update(&v, s.view->history, &who);
    agent_says(&s, "a", "a1");
    agent_says(&s, "b", "b1");
    who = viewer(&s, "a", 0);
    hob_history_view_update(&v, s.view->history, &who);
    assert_ptr_equal(v.seen, seen);
    assert_int_equal(hob_history_generation(seen), generation);
    char *kept = hob_dupz(hob_str_z(sim_told(&s, seen)));
    assert_string_equal(sight(&s, "a", 0), kept);
    hob_free(kept);
    s.view->history->generation++; /* the conversation moved to another branch */
    hob_history_view_update(&v, s.view->history, &who);
    assert_int_equal(hob_history_generation(v.seen), generation + 1);
    hob_history_view_finish(&v);
    sim_play_out(&s);
    sim_finish(&s);
}

/* A call that has no result is waited for, but not for ever: its agent may be gone from the team. */
static void test_agent_sight__calls_of_a_run_that_is_over_are_not_waited_for(void **state) {
    sim s;
    (void)state;
    begin(&s, llm("gone", NULL));
    agent_calls(&s, "gone", "send:x");
    hob_flow_destroy(s.flow);
    sim_agents(&s, llm("b", NULL));
    sim_crash(&s, s.n);
    sim_settle(&s);
    sim_prompt(&s, "hello?");
    assert_string_equal(
        sight(&s, "b", 0),
        "user 'go' | user 'For context:' '[gone] called tool `send` wi..' | user 'hello?'");
    sim_play_out(&s);
    sim_drop(&s); /* that call has no end */
}

static void test_agent_sight__images_are_shown_and_thoughts_are_not_told(void **state) {
    sim s;
    (void)state;
    begin(&s, in_order("seq", llm("a", NULL), llm("b", NULL), NULL));
    sim_as(&s, "a");
    sim_content(&s,
                "[{'type':'thinking','text':'hm'},{'type':'image','data':'AA=='},"
                "{'type':'text','text':'a \\'b\\' \\u00e9\\n'}]",
                HOB_STOP_DONE);
    hob_viewer who = viewer(&s, "b", 0);
    hob_history_view v;
    hob_history_view_init(&v);
    hob_history_view_update(&v, s.view->history, &who);
    hob_str told = hob_history_content(v.seen, 1);
    assert_true(hob_json_valid(told));
    assert_true(hob_str_eqz(
        told,
        "[{\"type\":\"text\",\"text\":\"For context:\"},{\"type\":\"image\",\"data\":\"AA==\"},"
        "{\"type\":\"text\",\"text\":\"[a] said: a \\\"b\\\" \\u00e9\\n\"}]"));
    hob_history_view_finish(&v);
    sim_play_out(&s);
    sim_finish(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_agent_sight__case_34_others_are_told),
        cmocka_unit_test(test_agent_sight__case_27_others_are_left_out),
        cmocka_unit_test(test_agent_sight__case_28_an_agent_sees_its_earlier_turns),
        cmocka_unit_test(test_agent_sight__case_30_branches),
        cmocka_unit_test(test_agent_sight__case_35_a_hand_over_is_told),
        cmocka_unit_test(test_agent_sight__case_39_the_current_turn_only),
        cmocka_unit_test(test_agent_sight__case_40_siblings_do_not_begin_a_turn),
        cmocka_unit_test(test_agent_sight__the_current_turn_of_one_that_sees_no_others),
        cmocka_unit_test(test_agent_sight__steering_stands_behind_the_answer_that_did_not_hear_it),
        cmocka_unit_test(test_agent_sight__one_that_is_asked_again_has_something_to_answer),
        cmocka_unit_test(test_agent_sight__two_answers_without_a_question_stand_together),
        cmocka_unit_test(test_agent_sight__what_was_there_stays),
        cmocka_unit_test(test_agent_sight__calls_of_a_run_that_is_over_are_not_waited_for),
        cmocka_unit_test(test_agent_sight__images_are_shown_and_thoughts_are_not_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
