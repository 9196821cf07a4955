/* A process died; what it left is put to rest instead of taken up. */
#include "support/check.h"
#include "support/scenario.h"

static void test_run_settle__open_calls_become_unknown_or_skipped(void **state) {
    (void)state;
    sim s;
    sim_init(&s);
    sim_prompt(&s, "go");
    sim_calls(&s, "bash:a look:b");
    sim_follow_up(&s, "more");
    sim_log(&s);
    sim_crash(&s, s.n);
    sim_settle(&s);
    assert_log(&s, "9 cancel_requested settle return\n"
                   "10 tool_finished m3.0 unknown 'unknown: the program stopped..'\n"
                   "11 tool_finished m3.1 skipped 'skipped: the run was interru..'\n"
                   "12 run_finished interrupted reason=the program stopped turns=1 tool_calls=1\n"
                   "13 queue_returned interrupted follow_up:q8:'more'\n"
                   "14 settled interrupted\n");
    assert_int_equal(sim_resume(&s), HOB_EIDLE);
    sim_prompt(&s, "again");
    assert_string_equal(sim_history(&s),
                        "user 'go' | model bash(m3.0) look(m3.1) !'unknown: the program stopped..' "
                        "!'skipped: the run was interru..' | user 'again'");
    sim_finish(&s);
}

static void test_run_settle__a_lost_answer_is_discarded(void **state) {
    (void)state;
    sim s;
    sim_init(&s);
    sim_prompt(&s, "go");
    sim_log(&s);
    sim_crash(&s, s.n);
    sim_settle(&s);
    assert_log(&s, "4 cancel_requested settle return\n"
                   "5 turn_discarded m3\n"
                   "6 run_finished interrupted reason=the program stopped turns=1 tool_calls=0\n"
                   "7 settled interrupted\n");
    sim_finish(&s);
}

static void test_run_settle__a_cancelled_run_stays_cancelled(void **state) {
    (void)state;
    sim s;
    sim_init(&s);
    sim_prompt(&s, "go");
    sim_calls(&s, "bash:a");
    sim_cancel(&s, HOB_ENDING_ABORT, HOB_QUEUE_RETURN);
    sim_log(&s);
    sim_crash(&s, s.n);
    sim_settle(&s);
    assert_log(&s, "8 cancel_requested settle return\n"
                   "9 tool_finished m3.0 unknown 'unknown: the program stopped..'\n"
                   "10 run_finished cancelled reason=the user stopped it turns=1 tool_calls=1\n"
                   "11 settled cancelled\n");
    sim_finish(&s);
}

/* The run has its end, its calls have not. */
static void test_run_settle__a_run_that_was_about_to_be_resumed(void **state) {
    (void)state;
    sim s;
    sim_init(&s);
    sim_prompt(&s, "go");
    sim_calls(&s, "bash:a");
    sim_crash(&s, s.n);
    sim_resume(&s);
    sim_crash(&s, 7);
    sim_log(&s);
    assert_int_equal(sim_settle(&s), HOB_SAID_MORE);
    assert_log(&s, "8 run_started run-s1-8 resume continues=run-s1-1\n"
                   "9 cancel_requested settle return\n"
                   "10 tool_finished m3.0 unknown 'unknown: the program stopped..'\n"
                   "11 run_finished interrupted reason=the program stopped turns=1 tool_calls=1\n"
                   "12 settled interrupted\n");
    sim_finish(&s);
}

static void test_run_settle__nothing_to_settle(void **state) {
    (void)state;
    sim s;
    sim_init(&s);
    assert_int_equal(sim_settle(&s), HOB_SAID_NOTHING);
    sim_prompt(&s, "go");
    sim_done(&s, "gone");
    assert_int_equal(sim_settle(&s), HOB_SAID_NOTHING);
    sim_finish(&s);
}

/* Calls that were written without a result have one afterwards, and the log shows where it comes from. */
static void test_run_settle__after_a_crash_at_every_event(void **state) {
    (void)state;
    size_t events;
    sim s;
    scenario_init(&s);
    scenario_run(&s);
    events = s.n;
    sim_drop(&s);
    for (size_t kept = 0; kept <= events; kept++) {
        scenario_init(&s);
        scenario_run(&s);
        sim_crash(&s, kept);
        sim_settle(&s);
        for (int i = 0; hob_run_active(&s.run);
             i++) { /* a follow-up may have started another run */
            assert_in_range(i, 0, 3);
            sim_done(&s, "done");
        }
        assert_true(s.run.settled);
        assert_null(strstr(sim_history(&s), "no result was recorded"));
        assert_int_equal(sim_prompt(&s, "again"), HOB_SAID_MORE);
        sim_done(&s, "and done");
        assert_string_equal(s.run.last_status, "completed");
        sim_finish(&s);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_run_settle__open_calls_become_unknown_or_skipped),
        cmocka_unit_test(test_run_settle__a_lost_answer_is_discarded),
        cmocka_unit_test(test_run_settle__a_cancelled_run_stays_cancelled),
        cmocka_unit_test(test_run_settle__a_run_that_was_about_to_be_resumed),
        cmocka_unit_test(test_run_settle__nothing_to_settle),
        cmocka_unit_test(test_run_settle__after_a_crash_at_every_event),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
