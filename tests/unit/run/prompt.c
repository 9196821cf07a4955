/* A prompt, its answer, and what may be said meanwhile. */
#include "support/check.h"
#include "support/sim.h"

#include <stdio.h>

static void test_run_prompt__is_answered(void **state) {
    (void)state;
    sim s;
    sim_init(&s);
    assert_int_equal(sim_prompt(&s, "hello"), HOB_SAID_MORE);
    assert_string_equal(sim_pending(&s), "call_model m3");
    assert_int_equal(sim_done(&s, "hi"), HOB_SAID_LAST);
    assert_log(&s, "1 run_started run-s1-1 prompt\n"
                   "2 user_message 'hello'\n"
                   "3 model_call_started m3 turn=1\n"
                   "4 assistant_message m3 done 'hi'\n"
                   "5 run_finished completed turns=1 tool_calls=0\n"
                   "6 settled completed\n");
    assert_string_equal(sim_history(&s), "user 'hello' | model 'hi'");
    assert_string_equal(sim_pending(&s), "");
    sim_finish(&s);
}

static void test_run_prompt__second_one_is_a_run_of_its_own(void **state) {
    (void)state;
    sim s;
    sim_init(&s);
    sim_prompt(&s, "one");
    sim_done(&s, "1");
    sim_log(&s);
    sim_prompt(&s, "two");
    sim_done(&s, "2");
    assert_log(&s, "7 run_started run-s1-7 prompt\n"
                   "8 user_message 'two'\n"
                   "9 model_call_started m9 turn=1\n"
                   "10 assistant_message m9 done '2'\n"
                   "11 run_finished completed turns=1 tool_calls=0\n"
                   "12 settled completed\n");
    assert_string_equal(sim_history(&s), "user 'one' | model '1' | user 'two' | model '2'");
    sim_finish(&s);
}

static void test_run_prompt__while_running_is_busy(void **state) {
    (void)state;
    sim s;
    sim_init(&s);
    sim_prompt(&s, "one");
    sim_log(&s);
    assert_int_equal(sim_prompt(&s, "two"), HOB_EBUSY);
    assert_non_null(strstr(s.err.message, "steer"));
    assert_non_null(strstr(s.err.message, "follow-up"));
    assert_non_null(strstr(s.err.message, "cancel"));
    assert_log(&s, "");
    sim_finish(&s);
}

/* The model may be changed between two calls; an answer names the one that was asked. */
static void test_run_prompt__answer_names_the_model_that_was_asked(void **state) {
    (void)state;
    sim s;
    sim_init(&s);
    sim_prompt(&s, "one");
    s.env.model = HOB_STR("lab/two");
    sim_calls(&s, "look:a");
    sim_ok(&s, "m3.0");
    sim_done(&s, "done");
    assert_string_equal(
        sim_json(&s, 3),
        "{\"message\":\"m3\",\"model\":\"lab/one\",\"stop\":\"tools\",\"content\":[{\"type\":\"tool_call\","
        "\"call\":\"m3.0\",\"id\":\"t0\",\"name\":\"look\",\"args\":{\"x\":\"a\"}}],\"usage\":{\"input_tokens\":10,"
        "\"output_tokens\":5,\"cache_read_tokens\":0,\"cache_write_tokens\":0,\"reasoning_tokens\":0},"
        "\"cost_usd\":null,\"response_id\":\"r1\"}");
    assert_string_equal(sim_line(&s, 7), "8 model_call_started m8 turn=2");
    assert_non_null(strstr(sim_json(&s, 7), "\"model\":\"lab/two\""));
    assert_non_null(strstr(sim_json(&s, 8), "\"model\":\"lab/two\""));
    sim_finish(&s);
}

static void test_run_prompt__what_costs_nothing_is_not_unknown(void **state) {
    (void)state;
    sim s;
    sim_init(&s);
    s.cost = 0;
    sim_prompt(&s, "go");
    sim_done(&s, "gone");
    assert_non_null(strstr(sim_json(&s, 3), "\"cost_usd\":0,"));
    assert_non_null(strstr(sim_json(&s, 4), "\"cost_usd\":0,"));
    s.cost = -1;
    sim_prompt(&s, "again");
    sim_done(&s, "gone");
    assert_non_null(strstr(sim_json(&s, 9), "\"cost_usd\":null,"));
    assert_non_null(strstr(sim_json(&s, 10), "\"cost_usd\":null,"));
    sim_finish(&s);
}

static void make_run_id(const char *session, char out[64]) {
    hob_run r;
    hob_draft d;
    sim s;
    sim_init(&s);
    hob_run_init(&r, hob_str_z(session));
    hob_input in = {.kind = HOB_INPUT_PROMPT,
                    .content = HOB_STR("[{\"type\":\"text\",\"text\":\"x\"}]")};
    assert_int_equal(hob_run_decide(&r, &s.env, &in, &d, NULL), HOB_SAID_MORE);
    snprintf(out, 64, "%.*s", HOB_FMT(d.run_id));
    hob_draft_finish(&d);
    hob_run_finish(&r);
    sim_drop(&s);
}

/* Runs of all sessions share one table. */
static void test_run_prompt__run_ids_of_two_sessions_differ(void **state) {
    (void)state;
    char a[64], b[64];
    make_run_id("first-nightly-build", a);
    make_run_id("other-nightly-build", b);
    assert_string_not_equal(a, b);
    make_run_id("nightly", a);
    assert_string_equal(a, "run-nightly-1");
    assert_true(hob_id_valid(hob_str_z(a)) && hob_id_valid(hob_str_z(b)));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_run_prompt__is_answered),
        cmocka_unit_test(test_run_prompt__second_one_is_a_run_of_its_own),
        cmocka_unit_test(test_run_prompt__while_running_is_busy),
        cmocka_unit_test(test_run_prompt__answer_names_the_model_that_was_asked),
        cmocka_unit_test(test_run_prompt__what_costs_nothing_is_not_unknown),
        cmocka_unit_test(test_run_prompt__run_ids_of_two_sessions_differ),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
