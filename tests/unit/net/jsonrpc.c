#include "net/jsonrpc.h"
#include "support/check.h"

/* ---- lines ---------------------------------------------------------------------------------- */

/* Feeds `in` in pieces of `step` bytes; lines joined by |, a line that is too long is !. */
static void read_lines(hob_str in, size_t max, size_t step, hob_buf *out) {
    hob_rpc_lines l;
    hob_str line;
    int code;
    hob_rpc_lines_init(&l, max);
    for (size_t at = 0; at < in.n; at += step) {
        hob_rpc_lines_add(&l, hob_str_first(hob_str_skip(in, at), step));
        while ((code = hob_rpc_lines_take(&l, &line)) != 0) {
            if (code > 0) hob_buf_add(out, line);
            hob_buf_addc(out, code > 0 ? '|' : '!');
        }
    }
    hob_rpc_lines_finish(&l);
}

static void expect_lines(const char *in, size_t max, const char *expected) {
    for (size_t step = 1; step <= strlen(in); step++) {
        hob_buf out;
        hob_buf_init(&out, 4096);
        read_lines(hob_str_z(in), max, step, &out);
        assert_string_equal(hob_buf_z(&out), expected);
        hob_buf_finish(&out);
    }
}

static void test_net_jsonrpc__lines_come_whole_however_they_are_cut(void **state) {
    (void)state;
    expect_lines("one\ntwo\r\n\n   \nthree\nno end", 100, "one|two|three|");
}

static void test_net_jsonrpc__a_line_that_is_too_long_is_said_once_and_left_out(void **state) {
    (void)state;
    expect_lines("ab\n123456789 and more\ncd\n", 8, "ab|!cd|");
    expect_lines("12345678\n123456789\n", 8, "12345678|!");
}

/* ---- reading --------------------------------------------------------------------------------- */

static void expect(const char *line, const char *expected) {
    static const char *const kinds[] = {"invalid", "request", "notification", "result", "error"};
    hob_arena *a = hob_arena_create(0);
    hob_rpc_message m;
    hob_buf b;
    hob_buf_init(&b, 4096);
    hob_rpc_read(hob_str_z(line), a, &m);
    hob_buf_addf(&b, "%s id=%.*s %.*s %.*s", kinds[m.kind], HOB_FMT(m.id), HOB_FMT(m.method),
                 HOB_FMT(hob_json_raw(m.body)));
    if (m.kind == HOB_RPC_INVALID) hob_buf_addf(&b, "%d", m.code);
    assert_string_equal(hob_buf_z(&b), expected);
    hob_buf_finish(&b);
    hob_arena_destroy(a);
}

static void test_net_jsonrpc__reads_the_four_kinds(void **state) {
    (void)state;
    expect("{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"a/b\",\"params\":{\"x\":1}}",
           "request id=7 a/b {\"x\":1}");
    expect("{\"jsonrpc\":\"2.0\",\"id\":\"s\",\"method\":\"m\"}", "request id=\"s\" m ");
    expect("{\"jsonrpc\":\"2.0\",\"method\":\"m\",\"params\":[]}", "notification id=null m []");
    expect("{\"jsonrpc\":\"2.0\",\"id\":7,\"result\":null}", "result id=7  null");
    expect("{\"jsonrpc\":\"2.0\",\"id\":7,\"error\":{\"code\":1}}", "error id=7  {\"code\":1}");
}

static void test_net_jsonrpc__what_is_no_message_says_why(void **state) {
    (void)state;
    expect("{\"jsonrpc\":", "invalid id=null  -32700");
    expect("[{\"jsonrpc\":\"2.0\",\"method\":\"m\"}]", "invalid id=null  -32600");
    expect("7", "invalid id=null  -32600");
    expect("{\"id\":7,\"method\":\"m\"}", "invalid id=7  -32600");
    expect("{\"jsonrpc\":\"2.0\",\"id\":{},\"method\":\"m\"}", "invalid id=null  -32600");
    expect("{\"jsonrpc\":\"2.0\",\"id\":1.5,\"method\":\"m\"}", "invalid id=null  -32600");
    expect("{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":8}", "invalid id=7  -32600");
    expect("{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"m\",\"params\":3}",
           "invalid id=7 m 3-32600");
    expect("{\"jsonrpc\":\"2.0\",\"id\":7}", "invalid id=7  -32600");
    expect("{\"jsonrpc\":\"2.0\",\"result\":1}", "invalid id=null  -32600");
}

/* ---- writing --------------------------------------------------------------------------------- */

static void test_net_jsonrpc__writes_one_line_whatever_is_put_in(void **state) {
    hob_buf b;
    (void)state;
    hob_buf_init(&b, 4096);
    hob_rpc_write_request(&b, 3, "a/b", HOB_STR("{\"x\":\n1,\r\"y\":\"\\n\"}"));
    hob_rpc_write_notification(&b, "n", HOB_STR_NULL);
    hob_rpc_write_result(&b, HOB_STR("\"id\""), HOB_STR_NULL);
    hob_rpc_write_error(&b, HOB_STR("null"), -32700, HOB_STR("a \"b\"\n"), HOB_STR("{}"));
    assert_string_equal(
        hob_buf_z(&b),
        "{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"a/b\",\"params\":{\"x\": 1, \"y\":\"\\n\"}}\n"
        "{\"jsonrpc\":\"2.0\",\"method\":\"n\"}\n"
        "{\"jsonrpc\":\"2.0\",\"id\":\"id\",\"result\":{}}\n"
        "{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":-32700,\"message\":\"a \\\"b\\\"\\n\","
        "\"data\":{}}}\n");
    hob_buf_finish(&b);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_net_jsonrpc__lines_come_whole_however_they_are_cut),
        cmocka_unit_test(test_net_jsonrpc__a_line_that_is_too_long_is_said_once_and_left_out),
        cmocka_unit_test(test_net_jsonrpc__reads_the_four_kinds),
        cmocka_unit_test(test_net_jsonrpc__what_is_no_message_says_why),
        cmocka_unit_test(test_net_jsonrpc__writes_one_line_whatever_is_put_in),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
