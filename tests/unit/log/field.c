/* Looking into an event without a JSON reader. */
#include "log/event.h"
#include "support/check.h"

static hob_event *event(const char *data) {
    hob_draft d;
    hob_event *e;
    hob_error err;
    hob_draft_init(&d, HOB_EVENT_NOTE);
    hob_buf_addz(&d.data, data);
    assert_ok(hob_event_encode(&d, HOB_STR("s"), 1, 0, &e, &err), err);
    hob_draft_finish(&d);
    return e;
}

static void assert_field(hob_event *e, const char *path, const char *value) {
    char buf[100];
    assert_int_equal(hob_event_field(e, path, buf, sizeof(buf)), strlen(value));
    assert_string_equal(buf, value);
}

static void test_log_field__is_found_by_its_path(void **state) {
    (void)state;
    hob_event *e = event(
        "{\"a\":\"x\\ny\",\"n\":-1.50,\"o\":{\"k\":[true,{\"z\":null}]},\"b.c\":1,\"1\":\"one\"}");
    assert_field(e, "a", "x\ny");
    assert_field(e, "n", "-1.50");
    assert_field(e, "o.k.0", "true");
    assert_field(e, "o.k.1.z", "null");
    assert_field(e, "o.k", "[true,{\"z\":null}]");
    assert_field(e, "1", "one");
    hob_event_unref(e);
}

static void test_log_field__absent_is_said_so(void **state) {
    (void)state;
    static const char *const paths[] = {"",      ".",      "b",     "a.b",  "o.",
                                        "o.k.2", "o.k.-1", "o.k.x", "a..b", "b.c"};
    hob_event *e = event("{\"a\":\"x\",\"o\":{\"k\":[1,2]},\"b.c\":1}");
    char buf[4] = "?";
    for (size_t i = 0; i < HOB_ARRAY_LEN(paths); i++)
        assert_int_equal(hob_event_field(e, paths[i], buf, sizeof(buf)), HOB_ENOENT);
    assert_string_equal(buf, "?");
    hob_event_unref(e);
}

static void test_log_field__is_cut_between_characters(void **state) {
    (void)state;
    hob_event *e = event("{\"a\":\"x\xc3\xa9y\"}");
    char buf[8];
    static const char *const cuts[] = {"", "x", "x", "x\xc3\xa9", "x\xc3\xa9y"};
    for (size_t cap = 1; cap <= 5; cap++) {
        assert_int_equal(hob_event_field(e, "a", buf, cap), 4);
        assert_string_equal(buf, cuts[cap - 1]);
    }
    assert_int_equal(hob_event_field(e, "a", NULL, 0), 4);
    hob_event_unref(e);
}

static void test_log_field__text_joins_the_text_blocks(void **state) {
    (void)state;
    char buf[100];
    hob_event *e = event(
        "{\"content\":[{\"type\":\"thinking\",\"text\":\"hm\"},{\"type\":\"text\",\"text\":\"a\"},"
        "{\"type\":\"tool_call\",\"name\":\"x\"},{\"type\":\"text\",\"text\":\"b\"}]}");
    assert_int_equal(hob_event_text(e, buf, sizeof(buf)), 2);
    assert_string_equal(buf, "ab");
    hob_event_unref(e);
}

static void test_log_field__text_of_a_delta(void **state) {
    (void)state;
    char buf[100];
    hob_event *e = event("{\"message\":\"m3\",\"text\":\"more\"}");
    assert_int_equal(hob_event_text(e, buf, sizeof(buf)), 4);
    assert_string_equal(buf, "more");
    hob_event_unref(e);
    e = event("{}");
    assert_int_equal(hob_event_text(e, buf, sizeof(buf)), 0);
    assert_string_equal(buf, "");
    hob_event_unref(e);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_log_field__is_found_by_its_path),
        cmocka_unit_test(test_log_field__absent_is_said_so),
        cmocka_unit_test(test_log_field__is_cut_between_characters),
        cmocka_unit_test(test_log_field__text_joins_the_text_blocks),
        cmocka_unit_test(test_log_field__text_of_a_delta),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
