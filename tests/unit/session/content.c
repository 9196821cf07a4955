/* What people and tools say, of any size and in any bytes: it becomes valid events, or is refused whole. */
#include "session/session.h"
#include "support/check.h"
#include "support/host.h"

static const char hello[] = "{'otherwise':[{'text':'got {{user}}'}]}";

static void open_host(host *r) {
    host_init(r, hello);
    host_open(r);
}

static int prompt_content(host *r, const char *json) {
    return hob_session_prompt_content(r->s, hob_str_z(json), &r->err);
}

/* Every stored event is one line of valid JSON. */
static void assert_valid_log(host *r) {
    hob_page *p;
    assert_ok(hob_session_entries(r->s, 0, &p, &r->err), r->err);
    for (size_t i = 0; i < hob_page_count(p); i++) {
        hob_str row = hob_page_row(p, i);
        hob_arena *a = hob_arena_create(0);
        const hob_json *v;
        assert_int_equal(hob_json_parse(a, row, NULL, &v, NULL), HOB_OK);
        assert_true(hob_utf8_valid(row));
        assert_int_equal(hob_str_chr(row, '\n'), -1);
        hob_arena_destroy(a);
    }
    hob_page_destroy(p);
}

static void test_session_content__broken_utf8_is_repaired(void **state) {
    host r;
    (void)state;
    open_host(&r);
    assert_string_equal(host_prompt(&r, "a\xff\xc3(\xe2\x82 b"), "completed");
    assert_string_equal(host_text(&r), "got a\xef\xbf\xbd\xef\xbf\xbd(\xef\xbf\xbd b");
    assert_ok(hob_session_set_title(r.s, hob_str_z("t\xff"), &r.err), r.err);
    assert_valid_log(&r);
    host_finish(&r);
}

static void test_session_content__nul_and_control_bytes_survive(void **state) {
    host r;
    (void)state;
    open_host(&r);
    assert_ok(hob_session_prompt(r.s, HOB_STR("a\0b\x1b[31m\x7f"), &r.err), r.err);
    host_wait(&r);
    hob_str got = hob_result_text(r.result);
    assert_int_equal(got.n, 4 + 9);
    assert_memory_equal(got.p, "got a\0b\x1b[31m\x7f", got.n);
    assert_valid_log(&r);
    host_finish(&r);
}

static void test_session_content__nothing_to_say_is_refused(void **state) {
    static const char *const nothing[] = {"",
                                          "[]",
                                          "{}",
                                          "null",
                                          "[1]",
                                          "[{}]",
                                          "[{\"type\":\"text\"}]",
                                          "[{\"type\":\"text\",\"text\":7}]",
                                          "[{\"type\":\"text\",\"text\":\"\"}]",
                                          "[{\"type\":\"text\",\"text\":\" \\n\"}]",
                                          "[{\"type\":\"image\"}]",
                                          "[{\"type\":\"tool_call\",\"name\":\"bash\"}]",
                                          "[{\"type\":\"text\",\"text\":\"x\"}",
                                          "[{\"type\":\"text\",\"text\":\"\xff\"}]",
                                          NULL};
    host r;
    (void)state;
    open_host(&r);
    for (int i = 0; nothing[i]; i++) {
        r.err.message[0] = 0;
        int rc = prompt_content(&r, nothing[i]);
        if (rc >= 0 || !r.err.message[0]) fail_msg("%s was taken", nothing[i]);
    }
    assert_int_equal(hob_session_prompt(r.s, hob_str_z(" \n\t"), &r.err), HOB_EINVAL);
    assert_int_equal(hob_session_steer(r.s, hob_str_z(""), &r.err), HOB_EINVAL);
    assert_int_equal(hob_session_prompt_and_wait(r.s, HOB_STR_NULL, 0, NULL, &r.err), HOB_EINVAL);
    assert_string_equal(host_log(&r), "");
    host_finish(&r);
}

static void test_session_content__blocks_become_one_line(void **state) {
    host r;
    (void)state;
    open_host(&r);
    assert_ok(prompt_content(&r, "[\n  {\"type\": \"text\",\r\n\t\"text\": \"hi\"},\n"
                                 "{\"type\":\"image\",\"media_type\":\"image/png\","
                                 "\"data\":\"aGk=\"}\n]\n"),
              r.err);
    assert_string_equal(host_wait(&r), "completed");
    assert_string_equal(host_text(&r), "got hi");
    assert_valid_log(&r);
    host_finish(&r);
}

/* ---- size ------------------------------------------------------------------------------------------ */

static char *many(char c, size_t n) {
    char *p = hob_alloc(n + 1);
    memset(p, c, n);
    return p;
}

static void test_session_content__a_prompt_has_a_ceiling(void **state) {
    host r;
    char *big = many('x', HOB_MESSAGE_MAX);
    (void)state;
    host_init(&r, "{'otherwise':[{'text':'fine'}]}");
    host_open(&r);
    assert_int_equal(hob_session_prompt(r.s, hob_str_n(big, HOB_MESSAGE_MAX), &r.err), HOB_ETOOBIG);
    assert_non_null(strstr(r.err.message, "MiB"));
    assert_string_equal(host_log(&r), ""); /* not even that it was tried */
    assert_ok(hob_session_prompt(r.s, hob_str_n(big, HOB_MESSAGE_MAX / 2), &r.err), r.err);
    assert_string_equal(host_wait(&r), "completed");
    host_finish(&r);
    hob_free(big);
}

static void test_session_content__a_title_has_a_ceiling(void **state) {
    host r;
    char *big = many('x', 2000);
    (void)state;
    open_host(&r);
    assert_int_equal(hob_session_set_title(r.s, hob_str_z(big), &r.err), HOB_ETOOBIG);
    big[1000] = 0;
    assert_ok(hob_session_set_title(r.s, hob_str_z(big), &r.err), r.err);
    assert_int_equal(hob_session_set_title(r.s, hob_str_z("a\nb"), &r.err), HOB_EINVAL);
    host_finish(&r);
    hob_free(big);
}

/* Escapes make a small answer a large event: what cannot be written is a failure, and is not asked for again. */
static void test_session_content__an_answer_too_large_to_write_fails_the_run(void **state) {
    host r;
    hob_buf script;
    (void)state;
    hob_buf_init(&script, 1u << 20);
    hob_buf_addz(&script, "{'otherwise':[{'repeat':{'times':300,'reply':[{'text':'");
    for (int i = 0; i < 40000; i++) hob_buf_addz(&script, "\\u0001");
    hob_buf_addz(&script, "','chunk':40000}]}}]}");
    host_init(&r, hob_buf_z(&script));
    host_open(&r);
    assert_string_equal(host_prompt(&r, "go"), "failed");
    assert_int_equal(hob_result_code(r.result), HOB_ETOOBIG);
    assert_int_equal(host_count(&r, "model_call_started"), 1);
    host_finish(&r);
    hob_buf_finish(&script);
}

static const char one_call[] =
    "{'rules':[{'when':{'step':1},'reply':[{'tool':'a','args':{}}]},{'reply':[{'text':'{{result}}'}]}]}";

static void answer_deep(const hob_tool_call *call, hob_reply *reply, void *user) {
    hob_buf json;
    (void)call;
    ++*(int *)user;
    hob_buf_init(&json, 1u << 20);
    hob_buf_addz(&json, "[{\"type\":\"text\",\"text\":\"deep\",\"more\":");
    for (int i = 0; i < 125; i++) hob_buf_addc(&json, '[');
    for (int i = 0; i < 125; i++) hob_buf_addc(&json, ']');
    hob_buf_addz(&json, "}]");
    hob_reply_content(reply, HOB_OUTCOME_OK, hob_buf_str(&json));
    hob_buf_finish(&json);
}

/* An answer of a tool that is deeper than any reader follows becomes an error that says so. */
static void test_session_content__a_result_nested_too_deeply_is_an_error(void **state) {
    host r;
    int ran = 0;
    hob_tool t = HOB_TOOL_INIT;
    (void)state;
    host_init(&r, one_call);
    t.name = "a";
    t.description = "answers deeply";
    t.run = answer_deep;
    t.user = &ran;
    r.so.tools = &t;
    r.so.ntools = 1;
    r.so.permission_mode = "yolo";
    host_open(&r);
    host_prompt(&r, "go");
    assert_int_equal(ran, 1);
    assert_non_null(strstr(host_log(&r), "tool_finished m4.0 a error"));
    assert_valid_log(&r);
    host_finish(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_session_content__broken_utf8_is_repaired),
        cmocka_unit_test(test_session_content__nul_and_control_bytes_survive),
        cmocka_unit_test(test_session_content__nothing_to_say_is_refused),
        cmocka_unit_test(test_session_content__blocks_become_one_line),
        cmocka_unit_test(test_session_content__a_prompt_has_a_ceiling),
        cmocka_unit_test(test_session_content__a_title_has_a_ceiling),
        cmocka_unit_test(test_session_content__an_answer_too_large_to_write_fails_the_run),
        cmocka_unit_test(test_session_content__a_result_nested_too_deeply_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
