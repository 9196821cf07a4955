/* Approvals: the run waits, parked; asked once, answered once. */
#include "support/check.h"
#include "support/sim.h"

static void start(sim *s, const char *calls) {
    sim_init(s);
    sim_policy(s, HOB_MODE_ASK, NULL, NULL);
    sim_prompt(s, "go");
    sim_calls(s, calls);
}

static void test_run_approval__parks_the_run_until_it_is_answered(void **state) {
    (void)state;
    sim s;
    start(&s, "bash:a");
    assert_true(hob_run_parked(&s.run));
    assert_string_equal(sim_pending(&s), "");
    sim_tick(&s, 3600000);
    assert_int_equal(sim_verdict(&s, "m3.0", true, ""), HOB_SAID_LAST);
    assert_false(hob_run_parked(&s.run));
    sim_ok(&s, "m3.0");
    sim_done(&s, "gone");
    assert_log(&s, "1 run_started run-s1-1 prompt\n"
                   "2 user_message 'go'\n"
                   "3 model_call_started m3 turn=1\n"
                   "4 assistant_message m3 tools bash(m3.0)\n"
                   "5 tool_decided m3.0 bash ask mode:ask\n"
                   "6 approval_requested m3.0 bash\n"
                   "7 approval_resolved m3.0 true user\n"
                   "8 tool_started m3.0 bash unsafe\n"
                   "9 tool_finished m3.0 ok 'ok'\n"
                   "10 model_call_started m10 turn=2\n"
                   "11 assistant_message m10 done 'gone'\n"
                   "12 run_finished completed turns=2 tool_calls=1\n"
                   "13 settled completed\n");
    sim_finish(&s);
}

static void test_run_approval__shows_what_is_to_run(void **state) {
    (void)state;
    sim s;
    start(&s, "bash:a");
    assert_string_equal(
        sim_json(&s, 5),
        "{\"call\":\"m3.0\",\"tool\":\"bash\",\"args\":{\"x\":\"a\"},"
        "\"args_hash\":\"66fb17904ec3a605\",\"rule\":\"mode:ask\",\"class\":\"unsafe\"}");
    sim_finish(&s);
}

static void test_run_approval__is_answered_once(void **state) {
    (void)state;
    sim s;
    start(&s, "bash:a");
    assert_int_equal(sim_verdict(&s, "m3.1", true, ""), HOB_ENOENT);
    assert_int_equal(sim_verdict(&s, "m3.0", true, ""), HOB_SAID_LAST);
    assert_int_equal(sim_verdict(&s, "m3.0", false, ""), HOB_EEXIST);
    sim_ok(&s, "m3.0");
    assert_int_equal(sim_verdict(&s, "m3.0", false, ""), HOB_EEXIST);
    sim_done(&s, "gone");
    assert_int_equal(sim_verdict(&s, "m3.0", false, ""), HOB_ENOENT);
    sim_finish(&s);
}

static void test_run_approval__refused_is_a_result(void **state) {
    (void)state;
    sim s;
    start(&s, "bash:a");
    sim_log(&s);
    sim_verdict(&s, "m3.0", false, "not here");
    assert_log(&s, "7 approval_resolved m3.0 false user\n"
                   "8 tool_finished m3.0 denied 'denied: not here'\n"
                   "9 model_call_started m9 turn=2\n");
    sim_finish(&s);
}

static void test_run_approval__refused_without_a_word(void **state) {
    (void)state;
    sim s;
    start(&s, "bash:a");
    sim_verdict(&s, "m3.0", false, "");
    assert_string_equal(sim_line(&s, 7),
                        "8 tool_finished m3.0 denied 'denied: the user refused it'");
    sim_finish(&s);
}

/* Answered in any order; the calls keep theirs. */
static void test_run_approval__questions_of_one_answer_are_asked_together(void **state) {
    (void)state;
    sim s;
    start(&s, "look:a bash:b look:c bash:d");
    sim_log(&s);
    assert_int_equal(sim_verdict(&s, "m3.1", true, ""), HOB_EEXIST); /* not yet */
    sim_ok(&s, "m3.0");
    sim_verdict(&s, "m3.3", true, "");
    assert_true(hob_run_parked(&s.run));
    sim_verdict(&s, "m3.1", false, "no");
    sim_ok(&s, "m3.2");
    assert_log(&s, "10 tool_finished m3.0 ok 'ok'\n"
                   "11 approval_requested m3.1 bash\n"
                   "12 approval_requested m3.3 bash\n"
                   "13 approval_resolved m3.3 true user\n"
                   "14 approval_resolved m3.1 false user\n"
                   "15 tool_finished m3.1 denied 'denied: no'\n"
                   "16 tool_started m3.2 look read_only\n"
                   "17 tool_finished m3.2 ok 'ok'\n"
                   "18 tool_started m3.3 bash unsafe\n");
    sim_finish(&s);
}

static void test_run_approval__the_first_call_runs_while_the_second_waits(void **state) {
    (void)state;
    sim s;
    start(&s, "bash:a bash:b");
    sim_log(&s);
    sim_verdict(&s, "m3.0", true, "");
    assert_false(hob_run_parked(&s.run));
    sim_ok(&s, "m3.0");
    assert_true(hob_run_parked(&s.run));
    sim_verdict(&s, "m3.1", true, "");
    assert_log(&s, "9 approval_resolved m3.0 true user\n"
                   "10 tool_started m3.0 bash unsafe\n"
                   "11 tool_finished m3.0 ok 'ok'\n"
                   "12 approval_resolved m3.1 true user\n"
                   "13 tool_started m3.1 bash unsafe\n");
    sim_finish(&s);
}

/* The call at work is lost; the question beside it stays, and is not asked again. */
static void test_run_approval__a_question_outlives_the_call_before_it(void **state) {
    (void)state;
    sim s;
    start(&s, "bash:a bash:b");
    sim_verdict(&s, "m3.0", true, "");
    sim_crash(&s, s.n);
    sim_log(&s);
    sim_reopen(&s);
    assert_true(hob_run_parked(&s.run));
    sim_verdict(&s, "m3.1", true, "");
    assert_log(&s, "11 run_finished interrupted turns=1 tool_calls=1\n"
                   "12 run_started run-s1-12 resume continues=run-s1-1\n"
                   "13 tool_finished m3.0 unknown 'unknown: the program stopped..'\n"
                   "14 approval_resolved m3.1 true user\n"
                   "15 tool_started m3.1 bash unsafe\n");
    sim_finish(&s);
}

static void test_run_approval__cancelled_questions_are_all_withdrawn(void **state) {
    (void)state;
    sim s;
    start(&s, "bash:a bash:b");
    sim_log(&s);
    sim_cancel(&s, HOB_ENDING_CANCEL, HOB_QUEUE_RETURN);
    assert_log(&s, "9 cancel_requested cancel return\n"
                   "10 approval_resolved m3.0 false end\n"
                   "11 tool_finished m3.0 cancelled 'cancelled: the user stopped ..'\n"
                   "12 approval_resolved m3.1 false end\n"
                   "13 tool_finished m3.1 cancelled 'cancelled: the user stopped ..'\n"
                   "14 run_finished cancelled reason=the user stopped it turns=1 tool_calls=0\n"
                   "15 settled cancelled\n");
    sim_finish(&s);
}

/* Same run, not asked again, still to be answered. */
static void test_run_approval__survives_a_crash(void **state) {
    (void)state;
    sim s;
    start(&s, "bash:a");
    sim_log(&s);
    sim_crash(&s, s.n);
    assert_true(hob_run_parked(&s.run));
    assert_string_equal(s.run.id, "run-s1-1");
    assert_int_equal(hob_run_call(&s.run, HOB_STR("m3.0"))->state, HOB_CALL_WAITING);
    assert_int_equal(sim_resume(&s), HOB_SAID_NOTHING);
    assert_int_equal(sim_prompt(&s, "other"), HOB_EBUSY);
    assert_log(&s, "");
    sim_verdict(&s, "m3.0", true, "");
    assert_log(&s, "7 approval_resolved m3.0 true user\n"
                   "8 tool_started m3.0 bash unsafe\n");
    sim_finish(&s);
}

/* Taken up again where nobody can be asked: questions not yet asked are answered with no. */
static void test_run_approval__not_asked_yet_when_nobody_is_left(void **state) {
    (void)state;
    sim s;
    start(&s, "look:a bash:b");
    sim_log(&s);
    sim_crash(&s, s.n);
    s.env.can_ask = false;
    sim_reopen(&s);
    sim_ok(&s, "m3.0");
    assert_log(&s, "8 run_finished interrupted turns=1 tool_calls=1\n"
                   "9 run_started run-s1-9 resume continues=run-s1-1\n"
                   "10 tool_started m3.0 look read_only again\n"
                   "11 tool_finished m3.0 ok 'ok'\n"
                   "12 tool_decided m3.1 bash deny mode:ask nobody_to_ask\n"
                   "13 tool_finished m3.1 denied 'denied: it needs an approval..'\n"
                   "14 model_call_started m14 turn=2\n");
    sim_finish(&s);
}

/* Decided again, such calls do not count as made again. */
static void test_run_approval__decided_again_is_no_repetition(void **state) {
    (void)state;
    sim s;
    start(&s, "look:x bash:a bash:a bash:a");
    sim_crash(&s, s.n);
    s.env.can_ask = false;
    sim_reopen(&s);
    sim_log(&s);
    sim_ok(&s, "m3.0");
    sim_done(&s, "gone");
    assert_log(&s, "13 tool_finished m3.0 ok 'ok'\n"
                   "14 tool_decided m3.1 bash deny mode:ask nobody_to_ask\n"
                   "15 tool_finished m3.1 denied 'denied: it needs an approval..'\n"
                   "16 tool_decided m3.2 bash deny mode:ask nobody_to_ask\n"
                   "17 tool_finished m3.2 denied 'denied: it needs an approval..'\n"
                   "18 tool_decided m3.3 bash deny mode:ask warning nobody_to_ask\n"
                   "19 tool_finished m3.3 denied 'denied: it needs an approval..'\n"
                   "20 model_call_started m20 turn=2\n"
                   "21 assistant_message m20 done 'gone'\n"
                   "22 run_finished completed turns=2 tool_calls=1\n"
                   "23 settled completed\n");
    sim_finish(&s);
}

/* ---- the rules in force when a call starts count ------------------------------------------------- */

static void test_run_approval__does_not_hold_against_a_new_rule(void **state) {
    (void)state;
    sim s;
    start(&s, "bash:a");
    sim_crash(&s, s.n);
    sim_policy(&s, HOB_MODE_ASK, NULL, "bash");
    sim_log(&s);
    sim_verdict(&s, "m3.0", true, "");
    assert_log(&s, "7 approval_resolved m3.0 true user\n"
                   "8 tool_decided m3.0 bash deny deny: bash\n"
                   "9 tool_finished m3.0 denied 'denied: the rule bash forbid..'\n"
                   "10 model_call_started m10 turn=2\n");
    sim_finish(&s);
}

static void test_run_approval__given_is_not_asked_for_again(void **state) {
    (void)state;
    sim s;
    start(&s, "bash:a");
    sim_verdict(&s, "m3.0", true, "");
    sim_crash(&s, 7);
    sim_log(&s);
    sim_reopen(&s);
    assert_log(&s, "8 run_finished interrupted turns=1 tool_calls=0\n"
                   "9 run_started run-s1-9 resume continues=run-s1-1\n"
                   "10 tool_started m3.0 bash unsafe\n");
    sim_finish(&s);
}

static void test_run_approval__is_not_needed_any_more(void **state) {
    (void)state;
    sim s;
    start(&s, "look:a bash:b");
    sim_crash(&s, s.n);
    sim_policy(&s, HOB_MODE_YOLO, NULL, NULL);
    sim_reopen(&s);
    sim_log(&s);
    sim_ok(&s, "m3.0");
    assert_log(&s, "11 tool_finished m3.0 ok 'ok'\n"
                   "12 tool_decided m3.1 bash allow mode:yolo\n"
                   "13 tool_started m3.1 bash unsafe\n");
    sim_finish(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_run_approval__parks_the_run_until_it_is_answered),
        cmocka_unit_test(test_run_approval__shows_what_is_to_run),
        cmocka_unit_test(test_run_approval__is_answered_once),
        cmocka_unit_test(test_run_approval__refused_is_a_result),
        cmocka_unit_test(test_run_approval__refused_without_a_word),
        cmocka_unit_test(test_run_approval__questions_of_one_answer_are_asked_together),
        cmocka_unit_test(test_run_approval__the_first_call_runs_while_the_second_waits),
        cmocka_unit_test(test_run_approval__a_question_outlives_the_call_before_it),
        cmocka_unit_test(test_run_approval__cancelled_questions_are_all_withdrawn),
        cmocka_unit_test(test_run_approval__survives_a_crash),
        cmocka_unit_test(test_run_approval__not_asked_yet_when_nobody_is_left),
        cmocka_unit_test(test_run_approval__decided_again_is_no_repetition),
        cmocka_unit_test(test_run_approval__does_not_hold_against_a_new_rule),
        cmocka_unit_test(test_run_approval__given_is_not_asked_for_again),
        cmocka_unit_test(test_run_approval__is_not_needed_any_more),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
