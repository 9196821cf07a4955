/* What a session is, folded from its events. */
#include "support/check.h"
#include "support/tell.h"

static void test_log_view__opened_and_changed(void **state) {
    (void)state;
    tell t;
    tell_init(&t);
    tell_event(
        &t, "session_opened", NULL,
        "{'cwd':'/home','version':'1','model':'lab/one','thinking':'low','permission_mode':'ask',"
        "'forked_from':{'session':'old','seq':9}}");
    tell_event(&t, "config_changed", NULL, "{'model':'lab/two','title':'T','system_prompt':'S'}");
    const hob_view *v = t.view;
    assert_str(v->id, "s");
    assert_str(v->cwd, "/home");
    assert_str(v->model, "lab/two");
    assert_str(v->thinking, "low");
    assert_str(v->permission_mode, "ask");
    assert_str(v->title, "T");
    assert_str(v->system_prompt, "S");
    assert_str(v->forked_from, "old");
    assert_int_equal(v->opened_ts, 1767323045001);
    assert_int_equal(v->last_ts, 1767323045002);
    assert_int_equal(v->last_seq, 2);
    tell_event(&t, "config_changed", NULL, "{'title':''}");
    assert_str(v->title, "");
    tell_event(&t, "config_changed", NULL, "{'title':7,'cwd':'/else'}");
    assert_str(v->title, "");
    assert_str(v->cwd, "/home");
    tell_finish(&t);
}

static void test_log_view__first_prompt_names_the_session(void **state) {
    (void)state;
    tell t;
    tell_init(&t);
    tell_event(&t, "user_message", "", "{'content':[{'type':'text','text':'fix the bug'}]}");
    tell_event(&t, "user_message", "e1", "{'content':[{'type':'text','text':'another'}]}");
    assert_str(t.view->first_prompt, "fix the bug");
    tell_finish(&t);
}

static void test_log_view__first_prompt_is_cut_between_characters(void **state) {
    (void)state;
    hob_buf b;
    tell t;
    tell_init(&t);
    hob_buf_init(&b, 2000);
    hob_buf_addz(&b, "{'content':[{'type':'text','text':'x");
    for (int i = 0; i < 300; i++) hob_buf_addz(&b, "\xc3\xa9");
    hob_buf_addz(&b, "'}]}");
    tell_event(&t, "user_message", "", hob_buf_z(&b));
    hob_buf_finish(&b);
    assert_int_equal(t.view->first_prompt.n, 199);
    assert_true(hob_utf8_valid(t.view->first_prompt));
    tell_finish(&t);
}

#define USAGE(in, out)                                                                             \
    "'usage':{'input_tokens':" #in ",'output_tokens':" #out                                        \
    ",'cache_read_tokens':3,'cache_write_tokens':4,'reasoning_tokens':1}"

static void test_log_view__books_answers_and_failures(void **state) {
    (void)state;
    tell t;
    tell_init(&t);
    tell_event(&t, "user_message", "", "{'content':[]}");
    tell_event(&t, "assistant_message", "e1", "{'content':[]," USAGE(10, 2) ",'cost_usd':0.5}");
    tell_event(&t, "model_call_failed", NULL, "{" USAGE(5, 1) ",'cost_usd':0.25}");
    tell_event(&t, "steer_delivered", "e2", "{'content':[]}");
    const hob_view *v = t.view;
    assert_int_equal(v->messages, 3);
    assert_int_equal(v->usage.input_tokens, 15);
    assert_int_equal(v->usage.output_tokens, 3);
    assert_int_equal(v->usage.cache_read_tokens, 6);
    assert_int_equal(v->usage.cache_write_tokens, 8);
    assert_int_equal(v->usage.reasoning_tokens, 2);
    assert_int_equal(hob_usage_total(&v->usage), 32);
    assert_true(v->cost_usd == 0.75 && v->cost_known);
    tell_event(&t, "model_call_failed", NULL, "{}"); /* nothing used: nothing unknown */
    assert_true(v->cost_known);
    tell_event(&t, "assistant_message", "e4", "{'content':[]," USAGE(1, 1) ",'cost_usd':null}");
    assert_true(v->cost_usd == 0.75 && !v->cost_known);
    tell_finish(&t);
}

/* A provider may send any number. */
static void test_log_view__sums_do_not_overflow(void **state) {
    (void)state;
    tell t;
    tell_init(&t);
    for (int i = 0; i < 5; i++)
        tell_event(&t, "model_call_failed", NULL,
                   "{" USAGE(9223372036854775807, -9223372036854775807) "}");
    assert_int_equal(t.view->usage.input_tokens, INT64_C(1) << 53);
    assert_int_equal(t.view->usage.output_tokens, 0);
    assert_true(hob_usage_total(&t.view->usage) > 0);
    tell_finish(&t);
}

/* Settings that are replaced do not fill the view's memory, so that a later one is lost. */
static void test_log_view__settings_can_change_for_ever(void **state) {
    (void)state;
    enum { SIZE = 1 << 20, TIMES = 300 };
    hob_buf b;
    tell t;
    tell_init(&t);
    tell_event(&t, "session_opened", NULL, "{'cwd':'/home','model':'lab/one'}");
    hob_buf_init(&b, 2 * SIZE);
    for (int i = 0; i < TIMES; i++) {
        hob_buf_reset(&b);
        hob_buf_addf(&b, "{'title':'%d','system_prompt':'", i);
        memset(hob_buf_reserve(&b, SIZE), 'a' + i % 26, SIZE);
        b.n += SIZE;
        hob_buf_addz(&b, "'}");
        tell_event(&t, "config_changed", NULL, hob_buf_z(&b));
        assert_int_equal(t.view->system_prompt.n, SIZE);
        assert_int_equal(t.view->system_prompt.p[SIZE - 1], 'a' + i % 26);
        assert_str(t.view->model, "lab/one");
        assert_str(t.view->cwd, "/home");
        assert_str(t.view->id, "s");
    }
    assert_str(t.view->title, "299");
    hob_buf_finish(&b);
    tell_finish(&t);
}

static void test_log_view__what_it_does_not_know_changes_nothing(void **state) {
    (void)state;
    tell t;
    tell_init(&t);
    tell_event(&t, "dream_dreamt", NULL, "{'model':'x','content':[1]," USAGE(1, 1) "}");
    assert_str(t.view->model, "");
    assert_int_equal(t.view->messages, 0);
    assert_int_equal(hob_usage_total(&t.view->usage), 0);
    assert_int_equal(t.view->last_seq, 1);
    tell_finish(&t);
    hob_view_destroy(NULL);
    hob_history_destroy(NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_log_view__opened_and_changed),
        cmocka_unit_test(test_log_view__first_prompt_names_the_session),
        cmocka_unit_test(test_log_view__first_prompt_is_cut_between_characters),
        cmocka_unit_test(test_log_view__books_answers_and_failures),
        cmocka_unit_test(test_log_view__sums_do_not_overflow),
        cmocka_unit_test(test_log_view__settings_can_change_for_ever),
        cmocka_unit_test(test_log_view__what_it_does_not_know_changes_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
