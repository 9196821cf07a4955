/* Questions: which can be asked, and which answers fit. */
#include "support/check.h"
#include "tool/tool.h"

#include <hob/approval.h>

static const char *asked(const char *args) {
    static hob_error err;
    return hob_question_check(hob_str_z(args), &err) < 0 ? err.message : "ok";
}

static const char *answered(const char *args, const char *answer) {
    static hob_error err;
    return hob_answer_check(hob_str_z(args), hob_str_z(answer), &err) < 0 ? err.message : "ok";
}

static void test_tool_question__says_what_is_wrong_with_it(void **state) {
    (void)state;
    assert_string_equal(asked("{\"question\":\"Which?\"}"), "ok");
    assert_string_equal(asked("{\"question\":\"Which?\",\"schema\":{\"enum\":[1,2]}}"), "ok");
    assert_string_equal(asked("{\"question\":\" \\n\"}"), "the question is empty");
    assert_string_equal(asked("{\"question\":\"Which?\",\"schema\":{\"type\":\"colour\"}}"),
                        "the schema's \"type\" is unknown: \"colour\"");
    assert_string_equal(asked("{\"question\":\"Which?\",\"schema\":{\"format\":\"email\"}}"),
                        "the schema uses \"format\", which is not supported (docs/tools.md has "
                        "the list)");
}

static void test_tool_question__has_limits(void **state) {
    (void)state;
    hob_buf b;
    hob_buf_init(&b, 1u << 20);
    hob_buf_addz(&b, "{\"question\":\"");
    for (int i = 0; i <= 8192; i++) hob_buf_addc(&b, 'x');
    hob_buf_addz(&b, "\"}");
    assert_string_equal(asked(hob_buf_z(&b)), "the question has 8193 bytes; 8 KiB are the most");
    hob_buf_reset(&b);
    hob_buf_addz(&b, "{\"question\":\"x\",\"schema\":{\"title\":\"");
    for (int i = 0; i < 33000; i++) hob_buf_addc(&b, 'x');
    hob_buf_addz(&b, "\"}}");
    assert_non_null(strstr(asked(hob_buf_z(&b)), "32 KiB are the most"));
    hob_buf_reset(&b);
    hob_buf_addc(&b, '"');
    for (int i = 0; i < HOB_ANSWER_BYTES - 2; i++) hob_buf_addc(&b, 'x');
    hob_buf_addc(&b, '"');
    assert_string_equal(answered("{\"question\":\"x\"}", hob_buf_z(&b)), "ok");
    hob_buf_addc(&b, ' ');
    assert_non_null(strstr(answered("{\"question\":\"x\"}", hob_buf_z(&b)), "64 KiB"));
    hob_buf_finish(&b);
}

static void test_tool_question__wants_a_text_unless_it_says_otherwise(void **state) {
    (void)state;
    assert_string_equal(answered("{\"question\":\"x\"}", "\"\""), "ok");
    assert_string_equal(answered("{\"question\":\"x\"}", "1"), "the answer must be a string");
    assert_non_null(strstr(answered("{\"question\":\"x\"}", "blue"), "the answer is not JSON"));
    assert_non_null(strstr(answered("{\"question\":\"x\"}", "\"a\" 1"), "the answer is not JSON"));
}

static void test_tool_question__names_the_field_that_does_not_fit(void **state) {
    static const char args[] =
        "{\"question\":\"x\",\"schema\":{\"type\":\"object\",\"properties\":{\"colour\":{\"enum\":"
        "[\"red\",\"blue\"]},\"size\":{\"type\":\"integer\"}},\"required\":[\"colour\"]}}";
    (void)state;
    assert_string_equal(answered(args, "{\"colour\":\"red\",\"size\":1}"), "ok");
    assert_string_equal(answered(args, "{\"colour\":\"pink\"}"),
                        "the answer does not fit: colour must be one of [\"red\",\"blue\"]");
    assert_string_equal(answered(args, "{\"size\":\"1\"}"),
                        "the answer does not fit: colour is missing; size must be an integer, not "
                        "a string");
    assert_string_equal(answered(args, "1"),
                        "the answer does not fit: the value must be an object, not a number");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tool_question__says_what_is_wrong_with_it),
        cmocka_unit_test(test_tool_question__has_limits),
        cmocka_unit_test(test_tool_question__wants_a_text_unless_it_says_otherwise),
        cmocka_unit_test(test_tool_question__names_the_field_that_does_not_fit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
