/*
 * A crash after every event: for each workflow and each beginning of its log, what is left is resumed, or put to rest,
 * and comes to an end that keeps the promises (sim_check), follows from its inputs (sim_replay) and folds to the same
 * state.
 */
#include "support/check.h"
#include "support/sim_agents.h"
#include "support/sim_play.h"

typedef hob_agent *(*maker)(void);

static void begin(sim *s, maker make, const char *ask) {
    sim_init(s);
    if (ask) sim_policy(s, HOB_MODE_YOLO, ask, NULL);
    sim_agents(s, make());
    assert_int_equal(sim_prompt(s, "go"), HOB_SAID_MORE);
}

static void reopen(sim *s, bool settle) {
    if (settle && hob_run_unfinished(&s->run))
        sim_settle(s);
    else
        sim_reopen(s);
}

/* What is put to rest is not begun again. */
static void check_settled(sim *s, size_t from) {
    for (size_t i = from; i < s->n; i++) {
        hob_event_type t = s->log[i].event->type;
        assert_false(t == HOB_EVENT_AGENT_STARTED || t == HOB_EVENT_MODEL_CALL_STARTED);
        assert_false(t == HOB_EVENT_TOOL_STARTED || t == HOB_EVENT_CALLBACK_STARTED);
    }
}

static void crash_at(maker make, const char *ask, size_t kept, bool settle) {
    sim s;
    begin(&s, make, ask);
    sim_play_out(&s);
    sim_crash(&s, kept);
    bool rests = settle && hob_run_unfinished(&s.run);
    reopen(&s, settle);
    sim_play_out(&s);
    if (rests) check_settled(&s, kept);
    sim_refold(&s);
    sim_finish(&s);
}

/* And once more while it is taken up again. */
static void crash_twice(maker make, const char *ask, size_t kept) {
    sim s;
    begin(&s, make, ask);
    sim_play_out(&s);
    sim_crash(&s, kept);
    reopen(&s, false);
    sim_effect list[SIM_EFFECTS_MAX];
    if (sim_effects(&s, list)) sim_play(&s, &list[0]);
    sim_crash(&s, s.n - HOB_MIN(kept % 3, s.n));
    reopen(&s, kept % 2);
    sim_play_out(&s);
    sim_refold(&s);
    sim_finish(&s);
}

static void crash_everywhere(maker make, const char *ask) {
    sim s;
    begin(&s, make, ask);
    sim_play_out(&s);
    size_t n = s.n;
    sim_refold(&s);
    sim_finish(&s);
    for (size_t kept = 0; kept <= n; kept++) {
        crash_at(make, ask, kept, false);
        crash_at(make, ask, kept, true);
        crash_twice(make, ask, kept);
    }
}

/* ---- workflows ------------------------------------------------------------------------------------ */

static hob_agent *a_sequence(void) {
    return in_order("seq", llm("tool_user", NULL), watched("writer", "draft"), llm("last", NULL),
                    NULL);
}

static hob_agent *a_fan(void) {
    return in_order(
        "all", side_by_side("par", llm("t1", NULL), watched("w2", "out"), llm("s3", NULL), NULL),
        llm("joiner", NULL), NULL);
}

static hob_agent *a_loop(void) {
    return again("loop", 3, llm("a", NULL), again("inner", 2, llm("t", NULL), NULL), NULL);
}

static hob_agent *an_escape(void) {
    return in_order("seq",
                    again("loop", 4, llm("a", NULL), llm("q", NULL), llm("never", NULL), NULL),
                    llm("z", NULL), NULL);
}

static hob_agent *a_choice(void) {
    return in_order("seq", llm("s", NULL),
                    either("if", "k == \"s\"", llm("t", NULL), llm("no", NULL), NULL),
                    either("nothing", "k == 1", llm("nor", NULL), NULL), NULL);
}

static hob_agent *hands(void) {
    return in_order("seq", llm("h1", llm("h2", llm("t3", NULL), NULL), llm("peer", NULL), NULL),
                    side_by_side("par", llm("h4", llm("t5", NULL), NULL), llm("w", NULL), NULL),
                    NULL);
}

static hob_agent *there_and_back(void) {
    return llm("h", llm("b", NULL), NULL);
}

static hob_agent *functions(void) {
    return side_by_side("par", custom("once", 0), custom("again", HOB_AGENT_RESTARTABLE),
                        in_order("s", custom("first", 0), watched("w", NULL), NULL), NULL);
}

static hob_agent *nested(void) {
    return side_by_side(
        "p", side_by_side("q", llm("t1", NULL), llm("s2", NULL), NULL),
        again("l", 2, side_by_side("r", llm("s3", NULL), llm("w4", NULL), NULL), NULL), NULL);
}

#define CRASH(name, make, ask)                                                                     \
    static void test_agent_crash__##name(void **state) {                                           \
        (void)state;                                                                               \
        crash_everywhere(make, ask);                                                               \
    }
CRASH(in_a_sequence, a_sequence, NULL)
CRASH(side_by_side, a_fan, NULL)
CRASH(in_loops, a_loop, NULL)
CRASH(in_a_loop_that_is_left, an_escape, NULL)
CRASH(in_a_choice, a_choice, NULL)
CRASH(while_handing_over, hands, NULL)
CRASH(beside_functions_of_the_host, functions, NULL)
CRASH(in_nested_branches, nested, NULL)
CRASH(with_questions_in_branches, a_fan, "send")
CRASH(with_questions_while_handing_over, hands, "hand")

/* h and b hand over to each other for ever: the end is a failure, wherever it is interrupted. */
static void test_agent_crash__while_agents_hand_over_without_end(void **state) {
    sim s;
    (void)state;
    begin(&s, there_and_back, NULL);
    sim_play_out(&s);
    assert_string_equal(s.run.last_status, "failed");
    size_t n = s.n;
    sim_finish(&s);
    for (size_t kept = n - 40; kept <= n; kept++) {
        crash_at(there_and_back, NULL, kept, false);
        crash_at(there_and_back, NULL, kept, true);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_agent_crash__in_a_sequence),
        cmocka_unit_test(test_agent_crash__side_by_side),
        cmocka_unit_test(test_agent_crash__in_loops),
        cmocka_unit_test(test_agent_crash__in_a_loop_that_is_left),
        cmocka_unit_test(test_agent_crash__in_a_choice),
        cmocka_unit_test(test_agent_crash__while_handing_over),
        cmocka_unit_test(test_agent_crash__while_agents_hand_over_without_end),
        cmocka_unit_test(test_agent_crash__beside_functions_of_the_host),
        cmocka_unit_test(test_agent_crash__in_nested_branches),
        cmocka_unit_test(test_agent_crash__with_questions_in_branches),
        cmocka_unit_test(test_agent_crash__with_questions_while_handing_over),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
