/* Wrong scripts: where, and what was expected. */
#include "base/fault.h"
#include "support/talk.h"

#include "support/check.h"

#include <stdio.h>

#define REPLY(steps) "{'otherwise': [" steps "]}"
#define WHEN(when) "{'rules': [{'when': {" when "}, 'reply': []}]}"

typedef struct row {
    const char *script, *error;
} row;

static void check_rows(const row *rows, size_t n) {
    for (size_t i = 0; i < n; i++) {
        char want[600];
        snprintf(want, sizeof(want), "HOB_ECONFIG %s", rows[i].error);
        assert_string_equal(talk_script_error(rows[i].script), want);
    }
}
#define CHECK_ROWS(...)                                                                            \
    do {                                                                                           \
        static const row rows_[] = {__VA_ARGS__};                                                  \
        check_rows(rows_, HOB_ARRAY_LEN(rows_));                                                   \
    } while (0)

static void test_model_scripted_read__positions(void **state) {
    (void)state;
    CHECK_ROWS(
        {"{\n  // a comment\n  'rules': [\n    {'when': {'usr': 'a'}, 'reply': []}\n  ]\n}",
         "line 4, column 15: unknown key \"usr\" in \"when\"; did you mean \"user\"?"},
        {"{'otherwise': [{'text': 'ä'}, {'txt': 'b'}]}",
         "line 1, column 32: unknown key \"txt\" in \"step\"; did you mean \"text\"?"},
        {"{'otherwise': [\n{'text':\n7}]}", "line 3, column 1: \"text\": expected a string"});
    assert_non_null(
        strstr(talk_script_error("{'rules': [\n,]}"), "HOB_ECONFIG line 2, column 1: "));
}

static void test_model_scripted_read__the_frame(void **state) {
    (void)state;
    CHECK_ROWS(
        {"[]", "line 1, column 1: \"script\": expected an object"},
        {"{}", "line 1, column 1: a script needs \"rules\", \"otherwise\" or both"},
        {"{'rule': []}",
         "line 1, column 2: unknown key \"rule\" in \"script\"; did you mean \"rules\"?"},
        {"{'zzzzzz': []}", "line 1, column 2: unknown key \"zzzzzz\" in \"script\"; expected one"
                           " of \"defaults\", \"rules\", \"otherwise\""},
        {"{'rules': {}}", "line 1, column 11: \"rules\": expected an array of rules"},
        {"{'rules': [1]}", "line 1, column 12: \"rule\": expected an object"},
        {"{'rules': [{'when': {}}]}", "line 1, column 12: a rule needs \"reply\""},
        {"{'rules': [], 'rules': []}", "line 1, column 15: \"rules\" is given twice in \"script\""},
        {"{'otherwise': {}}", "line 1, column 15: \"otherwise\": expected an array of steps"},
        {"{'defaults': {'chunk': -1}, 'otherwise': []}",
         "line 1, column 24: \"chunk\": expected a whole number from 0 to 16777216"},
        {"{'defaults': {'delay': 1}, 'otherwise': []}",
         "line 1, column 15: unknown key \"delay\" in \"defaults\"; expected one of "
         "\"chunk\", \"delay_ms\", \"usage\""});
}

static void test_model_scripted_read__conditions(void **state) {
    (void)state;
    CHECK_ROWS(
        {WHEN("'user': 1"), "line 1, column 30: \"user\": expected a string or an object with "
                            "equals, prefix, suffix, contains or absent"},
        {WHEN("'user': {'contain': 'a'}"), "line 1, column 31: unknown key \"contain\" in "
                                           "\"user\"; did you mean \"contains\"?"},
        {WHEN("'user': {'equals': ['a']}"), "line 1, column 41: \"equals\": expected a string"},
        {WHEN("'step': 0"),
         "line 1, column 30: \"step\": expected a whole number from 1 to 2147483647"},
        {WHEN("'step': {'min': 3, 'max': 2}"),
         "line 1, column 30: \"step\": \"min\" is above \"max\""},
        {WHEN("'failed': 'yes'"), "line 1, column 32: \"failed\": expected true or false"});
}

static void test_model_scripted_read__steps(void **state) {
    (void)state;
    CHECK_ROWS(
        {REPLY("1"), "line 1, column 16: \"step\": expected an object"},
        {REPLY("{}"),
         "line 1, column 16: a step needs one of text, thinking, tool, opaque, delay_ms, "
         "wait, error, cut, usage, stop, repeat"},
        {REPLY("{'text': 'a', 'tool': 'b'}"),
         "line 1, column 30: unknown key \"tool\" in \"text\"; "
         "expected one of \"text\", \"chunk\", \"delay_ms\", "
         "\"new_block\""},
        {REPLY("{'text': '{{usr}}'}"),
         "line 1, column 25: unknown template \"usr\"; did you mean \"user\"?"},
        {REPLY("{'tool': ''}"), "line 1, column 25: \"tool\": the name is empty"},
        {REPLY("{'tool': 'a', 'args': []}"), "line 1, column 38: \"args\": expected an object (for "
                                             "anything else use \"args_text\")"},
        {REPLY("{'tool': 'a', 'args': {}, 'args_text': ''}"),
         "line 1, column 55: a call has \"args\" or \"args_text\", not both"},
        {REPLY("{'wait': false}"),
         "line 1, column 25: expected true: leave the step out to do nothing"},
        {REPLY("{'cut': true}, {'text': 'a'}"), "line 1, column 31: nothing can follow \"cut\""},
        {REPLY("{'stop': 'lenght'}"),
         "line 1, column 25: unknown stop reason \"lenght\"; did you mean \"length\"?"},
        {REPLY("{'usage': {'tokens': 1}}"),
         "line 1, column 27: unknown key \"tokens\" in \"usage\"; expected one of \"input_tokens\", "
         "\"output_tokens\", \"cache_read_tokens\", \"cache_write_tokens\", \"reasoning_tokens\""},
        {REPLY("{'delay_ms': 3600001}"),
         "line 1, column 29: \"delay_ms\": expected a whole number from 0 to 3600000"},
        {REPLY("{'opaque': 1}"), "line 1, column 27: \"opaque\": expected an object"});
}

static void test_model_scripted_read__errors(void **state) {
    (void)state;
    CHECK_ROWS(
        {REPLY("{'error': {}}"), "line 1, column 26: an error needs \"status\", \"code\" or both"},
        {REPLY("{'error': {'status': 42}}"),
         "line 1, column 37: \"status\": expected a whole number from 100 to 599"},
        {REPLY("{'error': {'code': 'overload'}}"),
         "line 1, column 35: unknown error code \"overload\"; did you mean \"overloaded\"?"},
        {REPLY("{'error': {'code': 'auth', 'retryable': 1}}"),
         "line 1, column 56: \"retryable\": expected true or false"});
}

static void test_model_scripted_read__repeats_are_bounded(void **state) {
    (void)state;
#define AGAIN(n, steps) "{'repeat': {'times': " n ", 'reply': [" steps "]}}"
    CHECK_ROWS(
        {REPLY("{'repeat': {'times': 2}}"),
         "line 1, column 27: \"repeat\" needs \"times\" and \"reply\""},
        {REPLY(AGAIN("2", "{'wait': true}")), "line 1, column 50: \"wait\" cannot be repeated"},
        {REPLY(AGAIN("1000", AGAIN("1000", "{'text': ''}"))),
         "line 1, column 16: the reply comes to more than 1000000 steps"},
        {REPLY(AGAIN("400000", "{'text': '0123456789012345678901234567890123456789012345"
                               "678901234567890123456789012345678901234567890123456789012"
                               "345678901234567890123456789012345678901234567890123456789"
                               "012345678901234567890'}")),
         "line 1, column 16: the reply comes to more than 64 MiB of text"},
        {REPLY(AGAIN("1", AGAIN("1", AGAIN("1", AGAIN("1", AGAIN("1", "")))))),
         "line 1, column 163: at most 4 repeats within each other"});
#undef AGAIN
}

static void test_model_scripted_read__a_script_has_a_ceiling(void **state) {
    (void)state;
    size_t n = (16u << 20) + 1;
    char *text = hob_alloc(n + 1);
    memset(text, ' ', n);
    assert_string_equal(talk_script_error(text),
                        "HOB_ETOOBIG the script has 16777217 bytes, at most 16777216 are read");
    hob_free(text);
}

/* Every allocation that may fail, fails once: the script is refused, or the call ends with an error. */
static void test_model_scripted_read__memory_that_is_refused_is_an_error(void **state) {
    (void)state;
    static const char script[] =
        "{\"rules\": [{\"when\": {\"user\": \"h\\u0069\", \"step\": 1}, \"reply\": ["
        "{\"text\": \"{{user}} and {{rest}}\"}, {\"tool\": \"a\", \"args\": {\"b\": \"{{user}}\"}}]}]}";
    hob_provider_env env = {0};
    size_t n = 1, refused = 0;
    for (bool hit = true; hit; n++) {
        hob_error err = {0};
        hob_provider *p = NULL;
        hob_fault_alloc_at(n);
        int code = hob_provider_scripted_create(&env, hob_str_z(script), &p, &err);
        hit = hob_fault_alloc_hit();
        hob_fault_alloc_at(0);
        assert_int_equal(code, hit ? HOB_ETOOBIG : HOB_OK);
        assert_int_equal(err.code, code);
        refused += hit;
        if (p) p->ops->destroy(p);
    }
    assert_true(refused >= 2);
}

static void test_model_scripted_read__memory_refused_while_playing(void **state) {
    (void)state;
    size_t failed = 0;
    for (size_t n = 1;; n++) {
        talk t;
        talk_init(&t, "{'otherwise': [{'text': '{{user}} {{result}}'}]}");
        talk_user(&t, "hi");
        talk_answer(&t, "[{'type':'tool_call','call':'m1.0','id':'1','name':'ls','args':{}}]");
        talk_result(&t, 0, "ok", "a\nb");
        hob_fault_alloc_at(n);
        int code = talk_try(&t);
        bool hit = hob_fault_alloc_hit();
        hob_fault_alloc_at(0);
        assert_int_equal(code, hit ? HOB_ETOOBIG : HOB_OK);
        failed += hit;
        talk_finish(&t);
        if (!hit) break;
    }
    assert_true(failed > 2);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_model_scripted_read__positions),
        cmocka_unit_test(test_model_scripted_read__the_frame),
        cmocka_unit_test(test_model_scripted_read__conditions),
        cmocka_unit_test(test_model_scripted_read__steps),
        cmocka_unit_test(test_model_scripted_read__errors),
        cmocka_unit_test(test_model_scripted_read__repeats_are_bounded),
        cmocka_unit_test(test_model_scripted_read__a_script_has_a_ceiling),
        cmocka_unit_test(test_model_scripted_read__memory_that_is_refused_is_an_error),
        cmocka_unit_test(test_model_scripted_read__memory_refused_while_playing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
