/* Events that the loop did not say: of other runs, too late, out of place, out of range. */
#include "support/check.h"
#include "support/sim.h"

/* The state without the number of the last event. */
static char *state_of(sim *s) {
    return hob_dupz(hob_str_z(strstr(sim_state(s), " id=")));
}

static void assert_no_change(sim *s, const char *type, const char *run, const char *data) {
    char *before = state_of(s);
    assert_int_equal(sim_apply(s, type, run, data), HOB_OK);
    char *after = state_of(s);
    assert_string_equal(after, before);
    hob_free(before);
    hob_free(after);
}

/* One event of every kind that means something to a run. */
static const struct {
    const char *type, *data;
} steps[] = {
    {"run_finished", "{'status':'completed'}"},
    {"settled", "{'status':'completed'}"},
    {"cancel_requested", "{'mode':'abort','queue':'drop'}"},
    {"user_message", "{'content':[1]}"},
    {"steer_queued", "{'item':'q1','content':[1]}"},
    {"steer_delivered", "{'item':'q1','content':[1]}"},
    {"follow_up_queued", "{'item':'q1','content':[1]}"},
    {"model_call_started", "{'message':'m9','attempt':2,'model':'x'}"},
    {"assistant_message",
     "{'message':'m9','stop':'done','content':[1],'usage':{'input_tokens':7}}"},
    {"model_call_failed", "{'message':'m9','code':'HOB_ENET','usage':{'input_tokens':7}}"},
    {"retry_scheduled", "{'due':5}"},
    {"turn_discarded", "{'message':'m9'}"},
    {"limit_reached", "{'limit':'turns'}"},
    {"budget_threshold", "{'limit':'tokens'}"},
    {"tool_decided", "{'call':'m3.0','decision':'deny'}"},
    {"approval_requested", "{'call':'m3.0'}"},
    {"approval_resolved", "{'call':'m3.0','approved':true}"},
    {"tool_started", "{'call':'m3.0'}"},
    {"tool_finished", "{'call':'m3.0','outcome':'ok','content':[1]}"},
};

static void test_run_apply__steps_of_no_run_and_of_another_change_nothing(void **state) {
    (void)state;
    sim s;
    sim_init(&s);
    sim_prompt(&s, "go");
    sim_calls(&s, "bash:a");
    for (size_t i = 0; i < HOB_ARRAY_LEN(steps); i++) {
        assert_no_change(&s, steps[i].type, "", steps[i].data);
        assert_no_change(&s, steps[i].type, "run-s1-2", steps[i].data);
    }
    assert_no_change(&s, "run_started", "", "{'origin':'prompt'}");
    sim_drop(&s);
}

/* The first end counts. */
static void test_run_apply__a_run_that_has_ended_stays_ended(void **state) {
    (void)state;
    sim s;
    sim_init(&s);
    sim_prompt(&s, "go");
    sim_done(&s, "gone");
    for (size_t i = 0; i < HOB_ARRAY_LEN(steps); i++)
        assert_no_change(&s, steps[i].type, s.run.id, steps[i].data);
    sim_drop(&s);
}

static void test_run_apply__calls_that_are_not_there_change_nothing(void **state) {
    (void)state;
    static const char *const types[] = {"tool_decided", "approval_requested", "approval_resolved",
                                        "tool_started", "tool_finished"};
    sim s;
    sim_init(&s);
    sim_prompt(&s, "go");
    sim_calls(&s, "bash:a");
    for (size_t i = 0; i < HOB_ARRAY_LEN(types); i++) {
        assert_no_change(&s, types[i], s.run.id,
                         "{'call':'m3.1','decision':'allow','approved':true}");
        assert_no_change(&s, types[i], s.run.id, "{}");
    }
    sim_drop(&s);
}

static void test_run_apply__a_call_that_is_done_stays_done(void **state) {
    (void)state;
    sim s;
    sim_init(&s);
    sim_prompt(&s, "go");
    sim_calls(&s, "bash:a bash:b");
    sim_ok(&s, "m3.0");
    assert_no_change(&s, "tool_finished", s.run.id,
                     "{'call':'m3.0','outcome':'error','content':[1]}");
    assert_no_change(&s, "tool_started", s.run.id, "{'call':'m3.0','class':'unsafe'}");
    sim_drop(&s);
}

static void test_run_apply__an_answer_without_a_word_is_a_no(void **state) {
    (void)state;
    sim s;
    sim_init(&s);
    sim_policy(&s, HOB_MODE_ASK, NULL, NULL);
    sim_prompt(&s, "go");
    sim_calls(&s, "bash:a");
    sim_apply(&s, "approval_resolved", s.run.id, "{'call':'m3.0'}");
    assert_int_equal(hob_run_call(&s.run, HOB_STR("m3.0"))->state, HOB_CALL_DENIED);
    sim_drop(&s);
}

/* The name of a call is its place, whatever the block says. */
static void test_run_apply__calls_are_known_by_their_place(void **state) {
    (void)state;
    sim s;
    sim_init(&s);
    sim_prompt(&s, "go");
    sim_content(
        &s,
        "[{'type':'tool_call','call':'x','name':'look','args':{}},{'type':'tool_call','call':'x',"
        "'name':'look','args':{}}]",
        HOB_STOP_TOOLS);
    assert_string_equal(sim_pending(&s), "run_tool m3.0, run_tool m3.1");
    sim_ok(&s, "m3.0");
    sim_ok(&s, "m3.1");
    assert_int_equal(s.run.phase, HOB_PHASE_MODEL);
    sim_drop(&s);
}

static void test_run_apply__numbers_stay_within_reason(void **state) {
    (void)state;
    sim s;
    sim_init(&s);
    sim_apply(
        &s, "run_started", "r1",
        "{'origin':'prompt','limits':{'turns':-1,'tokens':9223372036854775807,'ms':9223372036854775807}}");
    sim_apply(&s, "user_message", "r1", "{'content':[1]}");
    sim_apply(&s, "model_call_started", "r1", "{'message':'m3','attempt':2147483648}");
    assert_int_equal(s.run.limits.turns, 0);
    assert_string_equal(sim_pending(&s), "call_model m3, timer +1000000000000000");
    sim_apply(
        &s, "model_call_failed", "r1",
        "{'message':'m3','code':'HOB_EWHAT','retryable':true,'retry_after_ms':-5,'jitter':4294967295}");
    assert_int_equal(s.run.fail.code, HOB_EPROTO);
    assert_int_equal(s.run.fail.retry_after, 0);
    assert_int_equal(s.run.fail.jitter, 1000);
    sim_tick(&s, 0);
    assert_string_equal(s.run.last_status, "failed"); /* attempt 1000000 of 3 */
    sim_drop(&s);
}

static void test_run_apply__an_event_without_data_is_refused(void **state) {
    (void)state;
    sim s;
    hob_error err;
    sim_init(&s);
    sim_prompt(&s, "go");
    assert_int_equal(hob_run_apply(&s.run, s.log[0].event, NULL, &err), HOB_EPARSE);
    sim_drop(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_run_apply__steps_of_no_run_and_of_another_change_nothing),
        cmocka_unit_test(test_run_apply__a_run_that_has_ended_stays_ended),
        cmocka_unit_test(test_run_apply__calls_that_are_not_there_change_nothing),
        cmocka_unit_test(test_run_apply__a_call_that_is_done_stays_done),
        cmocka_unit_test(test_run_apply__an_answer_without_a_word_is_a_no),
        cmocka_unit_test(test_run_apply__calls_are_known_by_their_place),
        cmocka_unit_test(test_run_apply__numbers_stay_within_reason),
        cmocka_unit_test(test_run_apply__an_event_without_data_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
