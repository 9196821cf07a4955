/* hob_answer: what providers write, and the message it becomes. */
#include "model/model.h"
#include "support/check.h"

static void assert_content(const hob_answer *a, bool whole, const char *expected) {
    hob_buf out;
    hob_buf_init(&out, HOB_ANSWER_MAX);
    assert_int_equal(hob_answer_content(a, HOB_STR("m14"), HOB_STR("anthropic"), whole, &out), 0);
    assert_string_equal(hob_buf_z(&out), expected);
    hob_buf_finish(&out);
}

static int call(hob_answer *a, const char *id, const char *name, const char *args) {
    int b = hob_answer_open(a, HOB_BLOCK_TOOL_CALL);
    assert_int_equal(hob_answer_call(a, b, hob_str_z(id), hob_str_z(name)), 0);
    assert_int_equal(hob_answer_append(a, b, hob_str_z(args)), 0);
    return b;
}

static void test_model_answer__becomes_a_message(void **state) {
    (void)state;
    hob_answer *a = hob_answer_create();
    int thinking = hob_answer_open(a, HOB_BLOCK_THINKING);
    int text = hob_answer_open(a, HOB_BLOCK_TEXT);
    int opaque = hob_answer_open(a, HOB_BLOCK_OPAQUE);
    hob_answer_append(a, thinking, HOB_STR("Let me "));
    hob_answer_append(a, text, HOB_STR("I say \"hi\""));
    hob_answer_append(a, thinking, HOB_STR("see."));
    hob_answer_signature(a, thinking, HOB_STR("c2ln"));
    hob_answer_signature(a, thinking, HOB_STR("bmVk"));
    hob_answer_opaque(a, opaque, HOB_STR("{ \"type\": \"redacted_thinking\",\"data\":\"x\"}"));
    call(a, "toolu_1", "read", "{\"path\":\"a\"}");
    call(a, "toolu_2", "ls", "");
    assert_content(
        a, true,
        "[{\"type\":\"thinking\",\"text\":\"Let me see.\",\"signature\":\"c2lnbmVk\"},"
        "{\"type\":\"text\",\"text\":\"I say \\\"hi\\\"\"},"
        "{\"type\":\"opaque\",\"provider\":\"anthropic\",\"raw\":{ \"type\": "
        "\"redacted_thinking\",\"data\":\"x\"}},"
        "{\"type\":\"tool_call\",\"call\":\"m14.0\",\"id\":\"toolu_1\",\"name\":\"read\","
        "\"args\":{\"path\":\"a\"}},"
        "{\"type\":\"tool_call\",\"call\":\"m14.1\",\"id\":\"toolu_2\",\"name\":\"ls\","
        "\"args\":{}}]");
    hob_answer_destroy(a);
}

static void test_model_answer__keeps_arguments_that_are_no_object_as_text(void **state) {
    (void)state;
    hob_answer *a = hob_answer_create();
    call(a, "1", "f", "[1]");
    call(a, "2", "f", "{\"a\":");
    call(a, "3", "f", "{\"a\":1} x");
    assert_content(a, true,
                   "[{\"type\":\"tool_call\",\"call\":\"m14.0\",\"id\":\"1\",\"name\":\"f\","
                   "\"args_text\":\"[1]\"},"
                   "{\"type\":\"tool_call\",\"call\":\"m14.1\",\"id\":\"2\",\"name\":\"f\","
                   "\"args_text\":\"{\\\"a\\\":\"},"
                   "{\"type\":\"tool_call\",\"call\":\"m14.2\",\"id\":\"3\",\"name\":\"f\","
                   "\"args_text\":\"{\\\"a\\\":1} x\"}]");
    hob_answer_destroy(a);
}

static void test_model_answer__cut_off_keeps_no_unfinished_call(void **state) {
    (void)state;
    hob_answer *a = hob_answer_create();
    hob_answer_open(a, HOB_BLOCK_THINKING);
    int text = hob_answer_open(a, HOB_BLOCK_TEXT);
    hob_answer_append(a, text, HOB_STR("half"));
    call(a, "1", "f", "{\"a\":1}");
    call(a, "2", "f", "{\"a\":");
    call(a, "3", "f", "");
    hob_answer_open(a, HOB_BLOCK_OPAQUE);
    assert_content(a, false,
                   "[{\"type\":\"text\",\"text\":\"half\"},"
                   "{\"type\":\"tool_call\",\"call\":\"m14.0\",\"id\":\"1\",\"name\":\"f\","
                   "\"args\":{\"a\":1}}]");
    hob_answer_destroy(a);
}

/* Events are lines: a line break in the arguments would make two of one. */
static void test_model_answer__stays_on_one_line(void **state) {
    (void)state;
    hob_answer *a = hob_answer_create();
    call(a, "1", "f", "{\n  \"a\":\r\n\"x\\ny\"\n}");
    assert_content(a, true,
                   "[{\"type\":\"tool_call\",\"call\":\"m14.0\",\"id\":\"1\",\"name\":\"f\","
                   "\"args\":{   \"a\":  \"x\\ny\" }}]");
    hob_answer_destroy(a);
}

/* A value nested to the reader's limit would make the event around it unreadable. */
static void test_model_answer__too_deep_arguments_are_text(void **state) {
    (void)state;
    hob_answer *a = hob_answer_create();
    hob_buf deep, out;
    hob_buf_init(&deep, 4096);
    hob_buf_init(&out, 4096);
    for (int i = 0; i < 100; i++) hob_buf_addz(&deep, "{\"a\":");
    hob_buf_addz(&deep, "1");
    for (int i = 0; i < 100; i++) hob_buf_addz(&deep, "}");
    call(a, "1", "f", hob_buf_z(&deep));
    hob_answer_content(a, HOB_STR("m1"), HOB_STR("x"), true, &out);
    assert_true(hob_str_find(hob_buf_str(&out), HOB_STR("\"args_text\":\"{")) > 0);
    int opaque = hob_answer_open(a, HOB_BLOCK_OPAQUE);
    assert_int_equal(hob_answer_opaque(a, opaque, hob_buf_str(&deep)), HOB_EINVAL);
    hob_buf_finish(&deep);
    hob_buf_finish(&out);
    hob_answer_destroy(a);
}

static void test_model_answer__has_a_ceiling(void **state) {
    (void)state;
    hob_answer *a = hob_answer_create();
    char *big = hob_alloc(HOB_ANSWER_MAX);
    memset(big, 'x', HOB_ANSWER_MAX);
    int b1 = hob_answer_open(a, HOB_BLOCK_TEXT), b2 = hob_answer_open(a, HOB_BLOCK_THINKING);
    assert_int_equal(hob_answer_append(a, b1, hob_str_n(big, HOB_ANSWER_MAX - 2)), 0);
    assert_int_equal(hob_answer_append(a, b2, HOB_STR("ab")), 0);
    assert_int_equal(hob_answer_append(a, b2, HOB_STR("c")), HOB_ETOOBIG);
    assert_int_equal(hob_answer_signature(a, b2, HOB_STR("c")), HOB_ETOOBIG);
    int n = 2;
    while (hob_answer_open(a, HOB_BLOCK_TEXT) >= 0) n++;
    assert_int_equal(n, 4096);
    hob_free(big);
    hob_answer_destroy(a);
}

static void test_model_answer__usage_leaves_what_is_negative(void **state) {
    (void)state;
    hob_answer *a = hob_answer_create();
    hob_answer_usage(a, &(hob_usage){10, 1, 5, 3, 0});
    hob_answer_usage(a, &(hob_usage){-1, 20, -1, -1, 7});
    const hob_usage expected = {10, 20, 5, 3, 7};
    assert_memory_equal(&a->usage, &expected, sizeof expected);
    hob_answer_destroy(a);
}

static void test_model_answer__shown_once_anything_is_there_to_see(void **state) {
    (void)state;
    hob_answer *a = hob_answer_create();
    int b = hob_answer_open(a, HOB_BLOCK_TEXT);
    hob_answer_append(a, b, HOB_STR(""));
    hob_answer_id(a, HOB_STR("msg_1"));
    assert_false(a->shown);
    hob_answer_append(a, b, HOB_STR("x"));
    assert_true(a->shown);
    hob_answer_destroy(a);
}

static void test_model_answer__refuses_what_does_not_fit(void **state) {
    (void)state;
    hob_answer *a = hob_answer_create();
    int text = hob_answer_open(a, HOB_BLOCK_TEXT), opaque = hob_answer_open(a, HOB_BLOCK_OPAQUE);
    assert_int_equal(hob_answer_append(a, 2, HOB_STR("x")), HOB_EINVAL);
    assert_int_equal(hob_answer_append(a, -1, HOB_STR("x")), HOB_EINVAL);
    assert_int_equal(hob_answer_append(a, opaque, HOB_STR("x")), HOB_EINVAL);
    assert_int_equal(hob_answer_call(a, text, HOB_STR("1"), HOB_STR("f")), HOB_EINVAL);
    assert_int_equal(hob_answer_opaque(a, opaque, HOB_STR("[]")), HOB_EINVAL);
    assert_int_equal(hob_answer_opaque(a, text, HOB_STR("{}")), HOB_EINVAL);
    hob_answer_destroy(a);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_model_answer__becomes_a_message),
        cmocka_unit_test(test_model_answer__keeps_arguments_that_are_no_object_as_text),
        cmocka_unit_test(test_model_answer__cut_off_keeps_no_unfinished_call),
        cmocka_unit_test(test_model_answer__stays_on_one_line),
        cmocka_unit_test(test_model_answer__too_deep_arguments_are_text),
        cmocka_unit_test(test_model_answer__has_a_ceiling),
        cmocka_unit_test(test_model_answer__usage_leaves_what_is_negative),
        cmocka_unit_test(test_model_answer__shown_once_anything_is_there_to_see),
        cmocka_unit_test(test_model_answer__refuses_what_does_not_fit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
