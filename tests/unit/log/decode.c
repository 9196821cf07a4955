/*
 * Reading the envelope: the quick reader and the general one agree on every line. A space before a line is enough
 * to make it one for the general reader.
 */
#include "log/event.h"
#include "support/check.h"

static const char *const lines[] = {
    "{\"v\":1,\"seq\":8,\"ts\":\"2026-01-02T03:04:05.678Z\",\"type\":\"tool_finished\",\"session_id\":\"s-1\","
    "\"run_id\":\"run-2\",\"turn\":3,\"data\":{\"call\":\"m4.0\",\"content\":[{\"text\":\"a\\\"b}\"}],\"n\":-1.5e3}}",
    "{\"v\":1,\"seq\":5,\"ts\":\"2026-01-02T03:04:05.678Z\",\"type\":\"assistant_message\",\"session_id\":\"s\","
    "\"run_id\":\"r\",\"parent_run\":\"q\",\"turn\":1,\"agent\":\"a\",\"branch\":\"b\",\"author\":\"model\","
    "\"entry\":\"e5\",\"parent_entry\":\"e3\",\"cause\":\"c\",\"data\":{}}",
    "{\"v\":1,\"ts\":\"2026-01-02T03:04:05.678Z\",\"type\":\"text_delta\",\"session_id\":\"s\",\"data\":{}}",
};

static bool same(const hob_event *a, const hob_event *b) {
    return a->type == b->type && a->seq == b->seq && a->ts == b->ts && a->turn == b->turn &&
           hob_str_eq(a->data, b->data) && hob_str_eq(a->name, b->name) &&
           hob_str_eq(a->session_id, b->session_id) && hob_str_eq(a->run_id, b->run_id) &&
           hob_str_eq(a->parent_run, b->parent_run) && hob_str_eq(a->agent, b->agent) &&
           hob_str_eq(a->branch, b->branch) && hob_str_eq(a->author, b->author) &&
           hob_str_eq(a->entry, b->entry) && hob_str_eq(a->parent_entry, b->parent_entry) &&
           hob_str_eq(a->cause, b->cause);
}

/* True if both took it. */
static bool assert_agree(hob_str line) {
    hob_event *quick = NULL, *general = NULL;
    hob_error err[2];
    hob_buf shifted;
    hob_buf_init(&shifted, 1 << 16);
    hob_buf_addc(&shifted, ' ');
    hob_buf_add(&shifted, line);
    int a = hob_event_decode(line, &quick, &err[0]);
    int b = hob_event_decode(hob_buf_str(&shifted), &general, &err[1]);
    if (a != b || (a >= 0 && !same(quick, general)))
        fail_msg("the readers differ on %.*s", HOB_FMT(line));
    hob_event_unref(quick);
    hob_event_unref(general);
    hob_buf_finish(&shifted);
    return a >= 0;
}

static void test_log_decode__readers_agree_on_what_hob_writes(void **state) {
    (void)state;
    for (size_t i = 0; i < HOB_ARRAY_LEN(lines); i++)
        assert_true(assert_agree(hob_str_z(lines[i])));
}

static void test_log_decode__readers_agree_on_damaged_lines(void **state) {
    static const char replacements[] = "\"{}[]:, 0-.x\\\n\x80";
    (void)state;
    for (size_t i = 0; i < HOB_ARRAY_LEN(lines); i++) {
        char *line = hob_dupz(hob_str_z(lines[i]));
        size_t n = strlen(line);
        for (size_t at = 0; at < n; at++) {
            assert_agree(hob_str_n(line, at));
            for (size_t k = 0; k + 1 < sizeof(replacements); k++) {
                line[at] = replacements[k];
                assert_agree(hob_str_n(line, n));
            }
            line[at] = lines[i][at];
        }
        hob_free(line);
    }
}

static void test_log_decode__readers_agree_on_other_orders(void **state) {
    static const char *const others[] = {
        "{\"data\":{},\"ts\":\"2026-01-02T03:04:05.678Z\",\"type\":\"note\"}",
        "{\"ts\":\"2026-01-02T03:04:05.678Z\",\"type\":\"note\",\"data\":{},\"data\":{\"a\":1}}",
        "{\"ts\":\"2026-01-02T03:04:05.678Z\",\"type\":\"note\",\"data\":{} }",
        "{\"ts\":\"2026-01-02T03:04:05.678Z\",\"type\":\"note\",\"type\":\"warning\",\"data\":{}}",
        "{\"ts\":\"2026-01-02T03:04:05.678Z\",\"type\":\"note\",\"turn\":99999999999,\"data\":{}}",
        "{\"ts\":\"2026-01-02T03:04:05.678Z\",\"type\":\"n\\u006fte\",\"data\":{}}",
        "{\"ts\":\"2026-01-02T03:04:05.678Z\",\"type\":\"note\",\"later\":{\"x\":[]},\"data\":{}}",
        "{\"ts\":\"2026-01-02T03:04:05.678Z\",\"type\":\"note\",\"author\":5,\"data\":{}}",
    };
    (void)state;
    for (size_t i = 0; i < HOB_ARRAY_LEN(others); i++)
        assert_true(assert_agree(hob_str_z(others[i])));
}

static void test_log_decode__read_gives_the_parsed_data(void **state) {
    hob_arena *a = hob_arena_create(0);
    const hob_json *data = NULL;
    hob_event *e;
    hob_error err;
    (void)state;
    assert_ok(hob_event_read(hob_str_z(lines[0]), a, &e, &data, &err), err);
    assert_str(hob_json_get_str(data, "call"), "m4.0");
    hob_event_unref(e);
    assert_ok(
        hob_event_read(
            HOB_STR(" {\"data\":{\"x\":7},\"ts\":\"2026-01-02T03:04:05Z\",\"type\":\"note\"}"), a,
            &e, &data, &err),
        err);
    assert_int_equal(hob_json_get_int(data, "x", 0), 7);
    hob_event_unref(e);
    hob_arena_destroy(a);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_log_decode__readers_agree_on_what_hob_writes),
        cmocka_unit_test(test_log_decode__readers_agree_on_damaged_lines),
        cmocka_unit_test(test_log_decode__readers_agree_on_other_orders),
        cmocka_unit_test(test_log_decode__read_gives_the_parsed_data),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
