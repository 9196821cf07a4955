/* Stopping a run, in each of its phases. */
#include "support/check.h"
#include "support/sim.h"

static int cancel(sim *s) {
    return sim_cancel(s, HOB_ENDING_CANCEL, HOB_QUEUE_RETURN);
}

static void test_run_cancel__before_the_first_token(void **state) {
    (void)state;
    sim s;
    sim_init(&s);
    sim_prompt(&s, "go");
    assert_int_equal(cancel(&s), HOB_SAID_LAST);
    assert_string_equal(sim_pending(&s), "call_model m3 !cancel");
    sim_stopped(&s, "", NULL);
    assert_log(&s, "1 run_started run-s1-1 prompt\n"
                   "2 user_message 'go'\n"
                   "3 model_call_started m3 turn=1\n"
                   "4 cancel_requested cancel return\n"
                   "5 model_call_failed m3 HOB_ECANCELLED\n"
                   "6 run_finished cancelled reason=the user stopped it turns=1 tool_calls=0\n"
                   "7 settled cancelled\n");
    assert_string_equal(sim_history(&s), "user 'go'");
    sim_finish(&s);
}

static void test_run_cancel__mid_stream_keeps_the_partial_text(void **state) {
    (void)state;
    sim s;
    sim_init(&s);
    sim_prompt(&s, "go");
    cancel(&s);
    sim_log(&s);
    sim_stopped(&s, "I was go", NULL);
    assert_log(&s, "5 assistant_message m3 aborted 'I was go'\n"
                   "6 run_finished cancelled reason=the user stopped it turns=1 tool_calls=0\n"
                   "7 settled cancelled\n");
    assert_string_equal(sim_history(&s), "user 'go'");
    assert_int_equal(s.view->usage.output_tokens, 5);
    sim_finish(&s);
}

static void test_run_cancel__mid_stream_ends_the_calls_of_the_partial_answer(void **state) {
    (void)state;
    sim s;
    sim_init(&s);
    sim_prompt(&s, "go");
    cancel(&s);
    sim_log(&s);
    sim_stopped(&s, "I was", "bash:a");
    assert_log(&s, "5 assistant_message m3 aborted 'I was' bash(m3.0)\n"
                   "6 tool_finished m3.0 cancelled 'cancelled: the user stopped ..'\n"
                   "7 run_finished cancelled reason=the user stopped it turns=1 tool_calls=0\n"
                   "8 settled cancelled\n");
    sim_finish(&s);
}

/* The transport broke in the same moment: what was shown is kept all the same. */
static void test_run_cancel__keeps_the_partial_text_whatever_ended_it(void **state) {
    (void)state;
    sim s;
    sim_init(&s);
    sim_prompt(&s, "go");
    cancel(&s);
    sim_log(&s);
    sim_input(&s, &(hob_input){.kind = HOB_INPUT_MODEL_FAILED,
                               .code = HOB_ENET,
                               .retryable = true,
                               .shown = true,
                               .retry_after = -1,
                               .text = HOB_STR("reset"),
                               .content = HOB_STR("[{\"type\":\"text\",\"text\":\"half\"}]")});
    assert_log(&s, "5 assistant_message m3 aborted 'half'\n"
                   "6 run_finished cancelled reason=the user stopped it turns=1 tool_calls=0\n"
                   "7 settled cancelled\n");
    sim_finish(&s);
}

static void test_run_cancel__of_an_answer_that_came_whole(void **state) {
    (void)state;
    sim s;
    sim_init(&s);
    sim_prompt(&s, "go");
    cancel(&s);
    sim_log(&s);
    sim_calls(&s, "look:a");
    assert_log(&s, "5 assistant_message m3 tools look(m3.0)\n"
                   "6 tool_finished m3.0 cancelled 'cancelled: the user stopped ..'\n"
                   "7 run_finished cancelled reason=the user stopped it turns=1 tool_calls=0\n"
                   "8 settled cancelled\n");
    sim_finish(&s);
}

static void test_run_cancel__during_a_tool_starts_nothing_more(void **state) {
    (void)state;
    sim s;
    sim_init(&s);
    sim_prompt(&s, "go");
    sim_calls(&s, "bash:a bash:b");
    sim_log(&s);
    cancel(&s);
    assert_string_equal(sim_pending(&s), "run_tool m3.0 after 7 !cancel");
    sim_result(&s, "m3.0", HOB_OUTCOME_CANCELLED, "so far");
    assert_log(&s, "8 cancel_requested cancel return\n"
                   "9 tool_finished m3.1 cancelled 'cancelled: the user stopped ..'\n"
                   "10 tool_finished m3.0 cancelled 'so far'\n"
                   "11 run_finished cancelled reason=the user stopped it turns=1 tool_calls=1\n"
                   "12 settled cancelled\n");
    sim_finish(&s);
}

static void test_run_cancel__while_parked_withdraws_the_question(void **state) {
    (void)state;
    sim s;
    sim_init(&s);
    sim_policy(&s, HOB_MODE_ASK, NULL, NULL);
    sim_prompt(&s, "go");
    sim_calls(&s, "bash:a");
    sim_log(&s);
    cancel(&s);
    assert_log(&s, "7 cancel_requested cancel return\n"
                   "8 approval_resolved m3.0 false end\n"
                   "9 tool_finished m3.0 cancelled 'cancelled: the user stopped ..'\n"
                   "10 run_finished cancelled reason=the user stopped it turns=1 tool_calls=0\n"
                   "11 settled cancelled\n");
    assert_int_equal(sim_verdict(&s, "m3.0", true, ""), HOB_ENOENT);
    sim_finish(&s);
}

static void test_run_cancel__while_waiting_to_ask_again(void **state) {
    (void)state;
    sim s;
    sim_init(&s);
    sim_prompt(&s, "go");
    sim_fail(&s, HOB_ENET, -1, false);
    assert_int_equal(s.run.phase, HOB_PHASE_RETRY);
    sim_log(&s);
    cancel(&s);
    assert_log(&s, "6 cancel_requested cancel return\n"
                   "7 run_finished cancelled reason=the user stopped it turns=1 tool_calls=0\n"
                   "8 settled cancelled\n");
    sim_finish(&s);
}

static void test_run_cancel__twice_after_the_end_and_idle_does_nothing(void **state) {
    (void)state;
    sim s;
    sim_init(&s);
    assert_int_equal(cancel(&s), HOB_SAID_NOTHING);
    sim_prompt(&s, "go");
    assert_int_equal(cancel(&s), HOB_SAID_LAST);
    sim_log(&s);
    assert_int_equal(cancel(&s), HOB_SAID_NOTHING);
    assert_log(&s, "");
    sim_stopped(&s, "", NULL);
    sim_log(&s);
    assert_int_equal(cancel(&s), HOB_SAID_NOTHING);
    assert_int_equal(sim_cancel(&s, HOB_ENDING_ABORT, HOB_QUEUE_RETURN), HOB_SAID_NOTHING);
    assert_log(&s, "");
    sim_finish(&s);
}

static void test_run_cancel__abort_is_harder(void **state) {
    (void)state;
    sim s;
    sim_init(&s);
    sim_prompt(&s, "go");
    sim_calls(&s, "bash:a");
    sim_log(&s);
    cancel(&s);
    assert_int_equal(sim_cancel(&s, HOB_ENDING_ABORT, HOB_QUEUE_RETURN), HOB_SAID_LAST);
    assert_string_equal(sim_pending(&s), "run_tool m3.0 after 6 !abort");
    sim_result(&s, "m3.0", HOB_OUTCOME_UNKNOWN, "killed");
    sim_prompt(&s, "again");
    assert_log(&s, "7 cancel_requested cancel return\n"
                   "8 cancel_requested abort return\n"
                   "9 tool_finished m3.0 unknown 'killed'\n"
                   "10 run_finished cancelled reason=the user stopped it turns=1 tool_calls=1\n"
                   "11 settled cancelled\n"
                   "12 run_started run-s1-12 prompt\n"
                   "13 user_message 'again'\n"
                   "14 model_call_started m14 turn=1\n");
    sim_finish(&s);
}

/* A run that ends by itself, but whose tool does not, can still be killed; its verdict stays. */
static void test_run_cancel__abort_hastens_a_run_that_is_ending(void **state) {
    (void)state;
    sim s;
    sim_init(&s);
    s.env.limits.ms = 1000;
    sim_prompt(&s, "go");
    sim_calls(&s, "bash:a");
    sim_tick(&s, 1000);
    sim_log(&s);
    assert_string_equal(sim_pending(&s), "run_tool m3.0 after 6 !limit");
    assert_int_equal(cancel(&s), HOB_SAID_NOTHING);
    assert_int_equal(sim_cancel(&s, HOB_ENDING_ABORT, HOB_QUEUE_RETURN), HOB_SAID_LAST);
    assert_string_equal(sim_pending(&s), "run_tool m3.0 after 6 !abort");
    sim_result(&s, "m3.0", HOB_OUTCOME_UNKNOWN, "killed");
    assert_log(&s, "8 cancel_requested abort return\n"
                   "9 tool_finished m3.0 unknown 'killed'\n"
                   "10 run_finished limit reason=time turns=1 tool_calls=1\n"
                   "11 settled limit\n");
    sim_finish(&s);
}

static void test_run_cancel__hands_queued_messages_back(void **state) {
    (void)state;
    sim s;
    sim_init(&s);
    sim_prompt(&s, "go");
    sim_follow_up(&s, "F");
    sim_steer(&s, "S");
    sim_log(&s);
    cancel(&s);
    sim_stopped(&s, "", NULL);
    sim_prompt(&s, "again");
    assert_log(&s, "6 cancel_requested cancel return\n"
                   "7 model_call_failed m3 HOB_ECANCELLED\n"
                   "8 run_finished cancelled reason=the user stopped it turns=1 tool_calls=0\n"
                   "9 queue_returned cancelled steer:q5:'S' follow_up:q4:'F'\n"
                   "10 settled cancelled\n"
                   "11 run_started run-s1-11 prompt\n"
                   "12 user_message 'again'\n"
                   "13 model_call_started m13 turn=1\n");
    assert_string_equal(sim_history(&s), "user 'go' | user 'again'");
    sim_finish(&s);
}

static void test_run_cancel__can_keep_the_queue_for_the_next_run(void **state) {
    (void)state;
    sim s;
    sim_init(&s);
    sim_prompt(&s, "go");
    sim_follow_up(&s, "F");
    sim_cancel(&s, HOB_ENDING_CANCEL, HOB_QUEUE_KEEP);
    sim_stopped(&s, "", NULL);
    assert_string_equal(sim_line(&s, s.n - 1), "8 settled cancelled");
    sim_prompt(&s, "again");
    sim_done(&s, "gone");
    sim_done(&s, "f");
    assert_string_equal(sim_history(&s),
                        "user 'go' | user 'again' | model 'gone' | user 'F' | model 'f'");
    sim_finish(&s);
}

static void test_run_cancel__can_drop_the_queue(void **state) {
    (void)state;
    sim s;
    sim_init(&s);
    sim_prompt(&s, "go");
    sim_follow_up(&s, "F");
    sim_cancel(&s, HOB_ENDING_CANCEL, HOB_QUEUE_DROP);
    sim_log(&s);
    sim_stopped(&s, "", NULL);
    assert_log(&s, "6 model_call_failed m3 HOB_ECANCELLED\n"
                   "7 run_finished cancelled reason=the user stopped it turns=1 tool_calls=0\n"
                   "8 queue_returned dropped follow_up:q4:'F'\n"
                   "9 settled cancelled\n");
    sim_finish(&s);
}

static void test_run_cancel__the_last_word_on_the_queue_counts(void **state) {
    (void)state;
    sim s;
    sim_init(&s);
    sim_prompt(&s, "go");
    sim_follow_up(&s, "F");
    sim_cancel(&s, HOB_ENDING_CANCEL, HOB_QUEUE_KEEP);
    sim_log(&s);
    sim_cancel(&s, HOB_ENDING_ABORT, HOB_QUEUE_DROP);
    sim_stopped(&s, "", NULL);
    assert_log(&s, "6 cancel_requested abort drop\n"
                   "7 model_call_failed m3 HOB_ECANCELLED\n"
                   "8 run_finished cancelled reason=the user stopped it turns=1 tool_calls=0\n"
                   "9 queue_returned dropped follow_up:q4:'F'\n"
                   "10 settled cancelled\n");
    sim_finish(&s);
}

static void test_run_cancel__nothing_can_be_queued_while_it_ends(void **state) {
    (void)state;
    sim s;
    sim_init(&s);
    sim_prompt(&s, "go");
    cancel(&s);
    assert_int_equal(sim_steer(&s, "S"), HOB_EIDLE);
    assert_int_equal(sim_follow_up(&s, "F"), HOB_EIDLE);
    sim_finish(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_run_cancel__before_the_first_token),
        cmocka_unit_test(test_run_cancel__mid_stream_keeps_the_partial_text),
        cmocka_unit_test(test_run_cancel__mid_stream_ends_the_calls_of_the_partial_answer),
        cmocka_unit_test(test_run_cancel__keeps_the_partial_text_whatever_ended_it),
        cmocka_unit_test(test_run_cancel__of_an_answer_that_came_whole),
        cmocka_unit_test(test_run_cancel__during_a_tool_starts_nothing_more),
        cmocka_unit_test(test_run_cancel__while_parked_withdraws_the_question),
        cmocka_unit_test(test_run_cancel__while_waiting_to_ask_again),
        cmocka_unit_test(test_run_cancel__twice_after_the_end_and_idle_does_nothing),
        cmocka_unit_test(test_run_cancel__abort_is_harder),
        cmocka_unit_test(test_run_cancel__abort_hastens_a_run_that_is_ending),
        cmocka_unit_test(test_run_cancel__hands_queued_messages_back),
        cmocka_unit_test(test_run_cancel__can_keep_the_queue_for_the_next_run),
        cmocka_unit_test(test_run_cancel__can_drop_the_queue),
        cmocka_unit_test(test_run_cancel__the_last_word_on_the_queue_counts),
        cmocka_unit_test(test_run_cancel__nothing_can_be_queued_while_it_ends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
