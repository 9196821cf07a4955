/* Sub-agents of a run: what is granted to them, and that the run waits. */
#include "support/check.h"
#include "support/sim.h"

#include <stdio.h>

static void start(sim *s, const char *id, const char *more) {
    char data[200];
    snprintf(data, sizeof data, "{'child':'%s','agent':'a','depth':1,'prompt':'p'%s}", id, more);
    assert_int_equal(sim_apply(s, "child_started", s->run.id, data), HOB_OK);
}

static void end(sim *s, const char *id, const char *more) {
    char data[300];
    snprintf(data, sizeof data,
             "{'child':'%s','agent':'a','status':'completed','usage':{'output_tokens':30},"
             "'cost_usd':0,'turns':2,'tool_calls':1,'children':0%s}",
             id, more);
    assert_int_equal(sim_apply(s, "child_finished", s->run.id, data), HOB_OK);
}

static void test_run_children__a_run_waits_for_them(void **state) {
    (void)state;
    sim s;
    sim_init(&s);
    sim_prompt(&s, "go");
    start(&s, "c1", ",'background':true");
    sim_done(&s, "meanwhile");
    assert_int_equal(sim_count(&s, HOB_EVENT_RUN_FINISHED), 0);
    end(&s, "c1", "");
    end(&s, "c1", ""); /* the first end wins */
    sim_tick(&s, 1);
    assert_int_equal(sim_count(&s, HOB_EVENT_RUN_FINISHED), 1);
    assert_int_equal(s.run.spent.turns, 3);
    sim_drop(&s);
}

static void test_run_children__a_report_asks_the_model_again(void **state) {
    (void)state;
    sim s;
    sim_init(&s);
    sim_prompt(&s, "go");
    start(&s, "c1", ",'background':true");
    sim_done(&s, "meanwhile");
    end(&s, "c1", ",'report':[{'type':'text','text':'found'}]");
    sim_tick(&s, 1);
    assert_int_equal(sim_count(&s, HOB_EVENT_CHILD_REPORTED), 1);
    assert_int_equal(sim_count(&s, HOB_EVENT_MODEL_CALL_STARTED), 2);
    sim_done(&s, "thanks");
    assert_int_equal(sim_count(&s, HOB_EVENT_RUN_FINISHED), 1);
    sim_drop(&s);
}

static void test_run_children__what_is_left_is_shared(void **state) {
    (void)state;
    sim s;
    hob_limits part;
    sim_init(&s);
    s.env.limits = (hob_limits){.tokens = 10000, .turns = 9, .ms = 5000};
    sim_prompt(&s, "go");
    assert_null(hob_run_grant(&s.run, s.env.now, &part));
    assert_int_equal(part.tokens, 5000);
    assert_int_equal(part.turns, 4); /* one is the run's own */
    assert_int_equal(part.tool_calls, 0);
    assert_int_equal(part.ms, 5000);
    start(&s, "c1", ",'background':true,'allotment':{'tokens':10000,'turns':4}");
    assert_string_equal(hob_run_grant(&s.run, s.env.now, &part), "tokens");
    end(&s, "c1", "");
    assert_null(hob_run_grant(&s.run, s.env.now, &part));
    assert_int_equal(part.tokens, (10000 - 30) / 2);
    sim_drop(&s);
}

static void test_run_children__one_that_asks_parks_the_run(void **state) {
    (void)state;
    sim s;
    sim_init(&s);
    sim_prompt(&s, "go");
    start(&s, "c1", ",'background':true");
    sim_done(&s, "meanwhile");
    assert_false(hob_run_parked(&s.run));
    const char *ask = "{'call':'c1/m4.0','tool':'bash','args':{},'child':'c1'}";
    assert_int_equal(sim_apply(&s, "approval_requested", s.run.id, ask), HOB_OK);
    assert_true(hob_run_parked(&s.run));
    start(&s, "c2", ",'background':true"); /* and one that works */
    assert_false(hob_run_parked(&s.run));
    end(&s, "c2", "");
    const char *answer = "{'call':'c1/m4.0','approved':true,'by':'user','child':'c1'}";
    assert_int_equal(sim_apply(&s, "approval_resolved", s.run.id, answer), HOB_OK);
    assert_false(hob_run_parked(&s.run));
    sim_drop(&s);
}

#define T(name) cmocka_unit_test(test_run_children__##name)
int main(void) {
    const struct CMUnitTest tests[] = {T(a_run_waits_for_them), T(a_report_asks_the_model_again),
                                       T(what_is_left_is_shared), T(one_that_asks_parks_the_run)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
