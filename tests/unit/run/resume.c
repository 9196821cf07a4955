/* A process dies; another takes up what it left. */
#include "support/check.h"
#include "support/scenario.h"

static void test_run_resume__a_lost_answer_is_asked_for_again(void **state) {
    (void)state;
    sim s;
    sim_init(&s);
    sim_prompt(&s, "go");
    sim_log(&s);
    sim_crash(&s, s.n);
    assert_true(hob_run_unfinished(&s.run));
    assert_int_equal(sim_resume(&s), HOB_SAID_MORE);
    sim_done(&s, "gone");
    assert_log(&s, "4 run_finished interrupted turns=1 tool_calls=0\n"
                   "5 run_started run-s1-5 resume continues=run-s1-1\n"
                   "6 turn_discarded m3\n"
                   "7 model_call_started m7 turn=1\n"
                   "8 assistant_message m7 done 'gone'\n"
                   "9 run_finished completed turns=1 tool_calls=0\n"
                   "10 settled completed\n");
    assert_non_null(
        strstr(sim_json(&s, 4), "\"carried\":{\"turns\":1,\"tool_calls\":0,\"tokens\":0}"));
    sim_finish(&s);
}

static void test_run_resume__nothing_left_is_refused(void **state) {
    (void)state;
    sim s;
    sim_init(&s);
    assert_int_equal(sim_resume(&s), HOB_EIDLE);
    sim_prompt(&s, "go");
    sim_done(&s, "gone");
    sim_crash(&s, s.n);
    assert_false(hob_run_unfinished(&s.run));
    assert_int_equal(sim_resume(&s), HOB_EIDLE);
    sim_finish(&s);
}

static void test_run_resume__an_unsafe_call_is_not_repeated(void **state) {
    (void)state;
    sim s;
    sim_init(&s);
    sim_prompt(&s, "go");
    sim_calls(&s, "bash:a bash:b");
    sim_log(&s);
    sim_crash(&s, s.n);
    sim_resume(&s);
    assert_log(&s, "8 run_finished interrupted turns=1 tool_calls=1\n"
                   "9 run_started run-s1-9 resume continues=run-s1-1\n"
                   "10 tool_finished m3.0 unknown 'unknown: the program stopped..'\n"
                   "11 tool_started m3.1 bash unsafe\n");
    assert_int_equal(sim_ok(&s, "m3.0"), HOB_EEXIST);
    sim_finish(&s);
}

/* Decided, and the process died before the first call started. */
static void test_run_resume__calls_not_yet_started_start(void **state) {
    (void)state;
    sim s;
    sim_init(&s);
    sim_prompt(&s, "go");
    sim_calls(&s, "bash:a bash:b");
    for (size_t kept = 4; kept <= 6; kept++) { /* none, one, both decided */
        sim_crash(&s, kept);
        assert_true(hob_run_unfinished(&s.run));
        sim_resume(&s);
        assert_string_equal(s.run.id, kept == 4 ? "run-s1-6" : kept == 5 ? "run-s1-7" : "run-s1-8");
        assert_string_equal(sim_line(&s, s.n - 1), "9 tool_started m3.0 bash unsafe");
        sim_check(&s);
        sim_crash(&s, 0);
        sim_prompt(&s, "go");
        sim_calls(&s, "bash:a bash:b");
    }
    sim_finish(&s);
}

/* A limit ended it before the lost answer was asked for again; what comes later starts anew. */
static void test_run_resume__leaves_nothing_to_the_next_run(void **state) {
    (void)state;
    sim s;
    sim_init(&s);
    sim_prompt(&s, "go");
    sim_crash(&s, s.n);
    s.env.limits.tokens = 1;
    sim_resume(&s);
    assert_string_equal(s.run.last_status, "limit");
    s.env.limits.tokens = 0;
    sim_log(&s);
    sim_prompt(&s, "again");
    assert_log(&s, "10 run_started run-s1-10 prompt\n"
                   "11 user_message 'again'\n"
                   "12 model_call_started m12 turn=1\n");
    sim_finish(&s);
}

static void test_run_resume__harmless_calls_are_repeated(void **state) {
    (void)state;
    sim s;
    sim_init(&s);
    s.env.limits.tool_calls = 1;
    sim_prompt(&s, "go");
    sim_calls(&s, "put:a");
    sim_log(&s);
    sim_crash(&s, s.n);
    sim_resume(&s);
    assert_string_equal(sim_pending(&s), "run_tool m3.0 after 9");
    sim_ok(&s, "m3.0");
    sim_done(&s, "gone");
    assert_log(&s, "7 run_finished interrupted turns=1 tool_calls=1\n"
                   "8 run_started run-s1-8 resume continues=run-s1-1\n"
                   "9 tool_started m3.0 put idempotent again\n"
                   "10 tool_finished m3.0 ok 'ok'\n"
                   "11 model_call_started m11 turn=2\n"
                   "12 assistant_message m11 done 'gone'\n"
                   "13 run_finished completed turns=2 tool_calls=1\n"
                   "14 settled completed\n");
    sim_finish(&s);
}

/* What was done is done: only the other call is repeated. */
static void test_run_resume__results_of_a_broken_batch_are_kept(void **state) {
    (void)state;
    sim s;
    sim_init(&s);
    sim_prompt(&s, "go");
    sim_calls(&s, "look:a look:b");
    sim_result(&s, "m3.0", HOB_OUTCOME_OK, "A");
    sim_log(&s);
    sim_crash(&s, s.n);
    sim_resume(&s);
    sim_result(&s, "m3.1", HOB_OUTCOME_OK, "B");
    assert_log(&s, "10 run_finished interrupted turns=1 tool_calls=2\n"
                   "11 run_started run-s1-11 resume continues=run-s1-1\n"
                   "12 tool_started m3.1 look read_only again\n"
                   "13 tool_finished m3.1 ok 'B'\n"
                   "14 model_call_started m14 turn=2\n");
    assert_string_equal(sim_history(&s), "user 'go' | model look(m3.0) look(m3.1) >'A' >'B'");
    sim_finish(&s);
}

static void test_run_resume__a_wait_for_a_retry_goes_on(void **state) {
    (void)state;
    sim s;
    sim_init(&s);
    sim_prompt(&s, "go");
    sim_fail(&s, HOB_ERATE, 5000, false);
    sim_log(&s);
    sim_crash(&s, s.n);
    sim_resume(&s);
    assert_string_equal(sim_pending(&s), "timer +4000");
    sim_tick(&s, 4000);
    assert_log(&s, "6 run_finished interrupted turns=1 tool_calls=0\n"
                   "7 run_started run-s1-7 resume continues=run-s1-1\n"
                   "8 model_call_started m8 turn=1 attempt=2\n");
    sim_finish(&s);
}

/* The user had stopped it: it is not taken up, it ends, and what its tool did is not known. */
static void test_run_resume__a_cancelled_run_only_ends(void **state) {
    (void)state;
    sim s;
    sim_init(&s);
    sim_prompt(&s, "go");
    sim_follow_up(&s, "F");
    sim_calls(&s, "bash:a");
    sim_cancel(&s, HOB_ENDING_CANCEL, HOB_QUEUE_KEEP);
    sim_log(&s);
    sim_crash(&s, s.n);
    assert_int_equal(sim_resume(&s), HOB_SAID_LAST);
    assert_log(&s, "9 cancel_requested settle keep\n"
                   "10 tool_finished m3.0 unknown 'unknown: the program stopped..'\n"
                   "11 run_finished cancelled reason=the user stopped it turns=1 tool_calls=1\n"
                   "12 settled cancelled\n");
    assert_int_equal(s.run.follow.n, 1);
    sim_finish(&s);
}

static void test_run_resume__a_run_stopped_by_a_limit_only_ends(void **state) {
    (void)state;
    sim s;
    sim_init(&s);
    s.env.limits.ms = 100;
    sim_prompt(&s, "go");
    sim_tick(&s, 100);
    sim_log(&s);
    sim_crash(&s, s.n);
    sim_resume(&s);
    assert_log(&s, "5 cancel_requested settle return\n"
                   "6 turn_discarded m3\n"
                   "7 run_finished limit reason=time turns=1 tool_calls=0\n"
                   "8 settled limit\n");
    sim_finish(&s);
}

/* Stopped while a question was open, and then the process died. */
static void test_run_resume__a_cancelled_question_is_withdrawn(void **state) {
    (void)state;
    sim s;
    sim_init(&s);
    sim_policy(&s, HOB_MODE_ASK, NULL, NULL);
    sim_prompt(&s, "go");
    sim_calls(&s, "bash:a");
    sim_cancel(&s, HOB_ENDING_CANCEL, HOB_QUEUE_RETURN);
    sim_crash(&s, 7);
    assert_string_equal(sim_line(&s, s.n - 1), "7 cancel_requested cancel return");
    assert_true(hob_run_unfinished(&s.run));
    sim_log(&s);
    sim_resume(&s);
    assert_log(&s, "8 cancel_requested settle return\n"
                   "9 approval_resolved m3.0 false end\n"
                   "10 tool_finished m3.0 cancelled 'cancelled: the user stopped ..'\n"
                   "11 run_finished cancelled reason=the user stopped it turns=1 tool_calls=0\n"
                   "12 settled cancelled\n");
    sim_finish(&s);
}

/* The run was written, its message was not: nobody was told of it. */
static void test_run_resume__without_its_message_a_run_only_ends(void **state) {
    (void)state;
    sim s;
    sim_init(&s);
    sim_prompt(&s, "go");
    sim_crash(&s, 1);
    sim_log(&s);
    sim_resume(&s);
    assert_log(&s, "2 cancel_requested settle return\n"
                   "3 run_finished interrupted reason=the program stopped turns=0 tool_calls=0\n"
                   "4 settled interrupted\n");
    sim_prompt(&s, "go again");
    assert_string_equal(sim_history(&s), "user 'go again'");
    sim_finish(&s);
}

static void test_run_resume__between_its_own_two_events(void **state) {
    (void)state;
    sim s;
    sim_init(&s);
    sim_prompt(&s, "go");
    sim_calls(&s, "bash:a");
    sim_crash(&s, s.n);
    sim_resume(&s);
    sim_crash(&s, 7);
    assert_string_equal(sim_line(&s, s.n - 1), "7 run_finished interrupted turns=1 tool_calls=1");
    assert_true(hob_run_unfinished(&s.run));
    assert_int_equal(sim_prompt(&s, "other"), HOB_EBUSY);
    sim_log(&s);
    sim_resume(&s);
    assert_log(&s, "8 run_started run-s1-8 resume continues=run-s1-1\n"
                   "9 tool_finished m3.0 unknown 'unknown: the program stopped..'\n"
                   "10 model_call_started m10 turn=2\n");
    sim_finish(&s);
}

/* ---- everywhere ------------------------------------------------------------------------------- */

static void test_run_resume__scenario_as_it_is_meant(void **state) {
    (void)state;
    sim s;
    scenario_init(&s);
    scenario_run(&s);
    assert_log(&s, "1 run_started run-s1-1 prompt\n"
                   "2 user_message 'go'\n"
                   "3 model_call_started m3 turn=1\n"
                   "4 assistant_message m3 tools look(m3.0) look(m3.1)\n"
                   "5 tool_decided m3.0 look allow mode:yolo\n"
                   "6 tool_decided m3.1 look allow mode:yolo\n"
                   "7 tool_started m3.0 look read_only\n"
                   "8 tool_started m3.1 look read_only\n"
                   "9 tool_finished m3.1 ok 'ok'\n"
                   "10 tool_finished m3.0 ok 'ok'\n"
                   "11 model_call_started m11 turn=2\n"
                   "12 assistant_message m11 tools send(m11.0) put(m11.1)\n"
                   "13 tool_decided m11.0 send ask ask: send\n"
                   "14 tool_decided m11.1 put allow mode:yolo\n"
                   "15 approval_requested m11.0 send\n"
                   "16 follow_up_queued q16 'then that'\n"
                   "17 approval_resolved m11.0 true user\n"
                   "18 tool_started m11.0 send unsafe\n"
                   "19 tool_finished m11.0 ok 'ok'\n"
                   "20 tool_started m11.1 put idempotent\n"
                   "21 tool_finished m11.1 ok 'ok'\n"
                   "22 model_call_started m22 turn=3\n"
                   "23 assistant_message m22 tools look(m22.0)\n"
                   "24 tool_decided m22.0 look allow mode:yolo\n"
                   "25 tool_started m22.0 look read_only\n"
                   "26 steer_queued q26 'left'\n"
                   "27 tool_finished m22.0 ok 'ok'\n"
                   "28 steer_delivered q26 'left'\n"
                   "29 model_call_started m29 turn=4\n"
                   "30 assistant_message m29 done 'done'\n"
                   "31 run_finished completed turns=4 tool_calls=5\n"
                   "32 follow_up_delivered q16\n"
                   "33 run_started run-s1-33 follow_up continues=run-s1-1\n"
                   "34 user_message 'then that'\n"
                   "35 model_call_started m35 turn=5\n"
                   "36 assistant_message m35 done 'done'\n"
                   "37 run_finished completed turns=5 tool_calls=5\n"
                   "38 settled completed\n");
    sim_finish(&s);
}

enum { EVENTS = 38 };

/* The whole scenario, with a crash after its first `kept` events. */
static void run_with_crash(sim *s, size_t kept) {
    scenario_init(s);
    scenario_run(s);
    assert_int_equal(s->n, EVENTS);
    sim_crash(s, kept);
    sim_reopen(s);
}

/* Where the conversation must arrive, whatever happened on the way. */
static void check_arrived(sim *s) {
    const char *history;
    assert_string_equal(s->run.last_status, "completed");
    history = sim_history(s);
    assert_non_null(strstr(history, "user 'go' | model look(m"));
    assert_non_null(
        strstr(history, "| user 'left' | model 'done' | user 'then that' | model 'done'"));
    assert_null(strstr(history, "no result was recorded"));
    assert_int_equal(s->run.spent.tool_calls, 5);
    assert_int_equal(s->run.spent.turns, 5);
}

static void test_run_resume__after_a_crash_at_every_event(void **state) {
    (void)state;
    for (size_t kept = 0; kept <= EVENTS; kept++) {
        sim s;
        run_with_crash(&s, kept);
        scenario_run(&s);
        check_arrived(&s);
        sim_finish(&s);
    }
}

static void test_run_resume__after_two_crashes_at_every_pair_of_events(void **state) {
    (void)state;
    for (size_t first = 0; first <= EVENTS; first++) {
        sim s;
        run_with_crash(&s, first);
        scenario_run(&s);
        size_t total = s.n;
        for (size_t second = total; second > first;
             second--) { /* each cut is a part of the one before */
            sim_crash(&s, second);
            sim_reopen(&s);
            scenario_run(&s);
            check_arrived(&s);
            sim_check(&s);
            sim_crash(&s, second);
        }
        sim_drop(&s);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_run_resume__a_lost_answer_is_asked_for_again),
        cmocka_unit_test(test_run_resume__nothing_left_is_refused),
        cmocka_unit_test(test_run_resume__an_unsafe_call_is_not_repeated),
        cmocka_unit_test(test_run_resume__calls_not_yet_started_start),
        cmocka_unit_test(test_run_resume__leaves_nothing_to_the_next_run),
        cmocka_unit_test(test_run_resume__harmless_calls_are_repeated),
        cmocka_unit_test(test_run_resume__results_of_a_broken_batch_are_kept),
        cmocka_unit_test(test_run_resume__a_wait_for_a_retry_goes_on),
        cmocka_unit_test(test_run_resume__a_cancelled_run_only_ends),
        cmocka_unit_test(test_run_resume__a_run_stopped_by_a_limit_only_ends),
        cmocka_unit_test(test_run_resume__a_cancelled_question_is_withdrawn),
        cmocka_unit_test(test_run_resume__without_its_message_a_run_only_ends),
        cmocka_unit_test(test_run_resume__between_its_own_two_events),
        cmocka_unit_test(test_run_resume__scenario_as_it_is_meant),
        cmocka_unit_test(test_run_resume__after_a_crash_at_every_event),
        cmocka_unit_test(test_run_resume__after_two_crashes_at_every_pair_of_events),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
