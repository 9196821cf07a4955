/*
 * Protobuf: bytes that @ag-ui/proto wrote, and every kind of event for it to read. With HOB_AGUI_DUMP=FILE the events go
 * to FILE, each as a line of JSON and a line of hexadecimal: tests/oracle/agui.sh has the real package read them.
 */
#include "support/agui.h"
#include "support/check.h"

#include <stdio.h>
#include <stdlib.h>

#define Z(text) hob_str_z(text)

static hob_error err;
static hob_buf hex;

static int to_hex(hob_agui_kind kind, hob_str bytes, void *user) {
    (void)kind;
    (void)user;
    hob_buf_reset(&hex);
    for (size_t i = 0; i < bytes.n; i++) hob_buf_addf(&hex, "%02x", (unsigned char)bytes.p[i]);
    return 0;
}

static void test_agui_proto__the_vectors_of_the_reference(void **state) {
    (void)state;
    hob_agui_sink sink = {sizeof sink, HOB_AGUI_AS_PROTO, to_hex, NULL, NULL};
    hob_agui_session *s;
    hob_buf_init(&hex, 1 << 20);
    assert_ok(hob_agui_session_create_with_thread_id(&sink, Z("t"), &s, &err), err);
    assert_ok(hob_agui_run_start_ids(s, Z("r"), Z(""), &err), err);
    assert_string_equal(hob_buf_z(&hex), "00000011620f0a02080b1201741a01723203312e30");
    assert_ok(hob_agui_message_start(s, Z("m"), NULL, &err), err);
    assert_ok(hob_agui_message_content(s, Z("m"), Z("hi"), &err), err);
    assert_string_equal(hob_buf_z(&hex), "0000000d120b0a02080112016d1a026869");
    assert_ok(hob_agui_run_finish(s, Z(""), &err), err);
    assert_string_equal(hob_buf_z(&hex), "0000000c6a0a0a02080c1201741a0172");
    assert_ok(hob_agui_run_start_ids(s, Z("q"), Z(""), &err), err);
    assert_ok(hob_agui_tool_call_start(s, Z("c"), Z("x"), NULL, &err), err);
    assert_ok(hob_agui_run_finish(s, Z(""), &err), err);
    assert_string_equal(hob_buf_z(&hex),
                        "000000186a160a02080c1201741a01712a0773756363657373420163");
    hob_agui_session_destroy(s);
    hob_buf_finish(&hex);
}

/* ---- all kinds -------------------------------------------------------------------------------------------------- */

static const char messages[] =
    "[{\"id\":\"u\",\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"a\"},{\"type\":"
    "\"image\",\"source\":{\"type\":\"data\",\"value\":\"eA==\",\"mimeType\":\"image/png\"}},"
    "{\"type\":\"document\",\"id\":\"d\",\"metadata\":[1],\"source\":{\"type\":\"url\",\"value\":"
    "\"u\"}},{\"type\":\"audio\",\"source\":{\"type\":\"file\",\"value\":\"f\",\"provider\":\"p\"}}]},"
    "{\"id\":\"s\",\"role\":\"system\",\"content\":\"be good\"},"
    "{\"id\":\"as\",\"role\":\"assistant\",\"name\":\"n\",\"toolCalls\":[{\"id\":\"tc\",\"type\":"
    "\"function\",\"function\":{\"name\":\"f\",\"arguments\":\"{}\"},\"metadata\":{\"z\":null}}]},"
    "{\"id\":\"tm\",\"role\":\"tool\",\"toolCallId\":\"tc\",\"content\":\"no\",\"error\":\"e\"},"
    "{\"id\":\"rm\",\"role\":\"reasoning\",\"content\":\"hm\",\"encryptedValue\":\"x\"},"
    "{\"id\":\"ac\",\"role\":\"activity\",\"activityType\":\"s\",\"content\":{\"n\":[1.5,true]}}]";

static void say_messages(hob_agui_session *s) {
    hob_agui_extra x = HOB_AGUI_EXTRA_INIT;
    x.subagent = Z("sub");
    x.metadata = Z("{\"k\":[null,true,-1.5,\"s\",{\"o\":{}}]}");
    assert_ok(hob_agui_subagent_start(s, Z("sub"), Z("helper"), NULL, &err), err);
    assert_ok(hob_agui_message_start(s, Z("m"), &x, &err), err);
    assert_ok(hob_agui_message_content(s, Z("m"), Z("h\xc3\xa9"), &err), err);
    assert_ok(hob_agui_message_content(s, Z("m"), Z(""), &err), err);
    x.parent = Z("m");
    assert_ok(hob_agui_tool_call_start(s, Z("c"), Z("f"), &x, &err), err);
    assert_ok(hob_agui_tool_call_args(s, Z("c"), Z("{}"), &err), err);
    assert_ok(hob_agui_tool_call_end(s, Z("c"), &err), err);
    assert_ok(hob_agui_tool_call_result_parts(
                  s, Z("c1"), Z("c"), Z("[{\"type\":\"text\",\"text\":\"x\",\"id\":\"i\"}]"), &err),
              err);
    assert_ok(hob_agui_subagent_finish(s, Z("sub"), Z("{\"a\":1}"), &err), err);
    assert_ok(hob_agui_tool_call_start(s, Z("d"), Z("f"), NULL, &err), err);
    assert_ok(hob_agui_tool_call_end(s, Z("d"), &err), err);
    assert_ok(hob_agui_tool_call_result(s, Z("d1"), Z("d"), Z("ok"), &err), err);
    assert_ok(hob_agui_reasoning_start(s, Z("sp"), NULL, &err), err);
    assert_ok(hob_agui_reasoning_message_start(s, Z("th"), NULL, &err), err);
    assert_ok(hob_agui_reasoning_message_content(s, Z("th"), Z("hm"), &err), err);
    assert_ok(hob_agui_reasoning_message_end(s, Z("th"), &err), err);
    assert_ok(hob_agui_reasoning_encrypted(s, HOB_AGUI_OF_MESSAGE, Z("th"), Z("v"), &err), err);
    assert_ok(hob_agui_reasoning_end(s, Z("sp"), &err), err);
    assert_ok(hob_agui_messages_snapshot(s, Z(messages), &err), err);
}

static void say_the_rest(hob_agui_session *s) {
    hob_agui_interrupt q = HOB_AGUI_INTERRUPT_INIT;
    assert_ok(hob_agui_state_snapshot(s, Z("{\"a\":[1,2],\"b\":null,\"m\":{\"x\":1}}"), &err), err);
    assert_ok(
        hob_agui_state_delta(
            s,
            Z("[{\"op\":\"test\",\"path\":\"/b\",\"value\":null},{\"op\":\"remove\",\"path\":"
              "\"/a/0\"},{\"op\":\"move\",\"from\":\"/b\",\"path\":\"/c\"},{\"op\":\"copy\","
              "\"from\":\"/m\",\"path\":\"/n\"},{\"op\":\"add\",\"path\":\"/z\",\"value\":{}},"
              "{\"op\":\"replace\",\"path\":\"/z\",\"value\":[\"x\"]}]"),
            &err),
        err);
    assert_ok(hob_agui_activity_snapshot(s, Z("a"), Z("t"), Z("{\"n\":0}"), &err), err);
    assert_ok(hob_agui_activity_delta(
                  s, Z("a"), Z("[{\"op\":\"add\",\"path\":\"/m\",\"value\":false}]"), &err),
              err);
    assert_ok(hob_agui_step_start(s, Z("p"), NULL, &err), err);
    assert_ok(hob_agui_step_finish(s, Z("p"), Z(""), &err), err);
    assert_ok(hob_agui_custom(s, Z("n"), Z("null"), NULL, &err), err);
    assert_ok(hob_agui_raw(s, Z("{\"a\":[]}"), Z("src"), NULL, &err), err);
    assert_ok(hob_agui_subagent_start(s, Z("s2"), Z("x"), NULL, &err), err);
    assert_ok(hob_agui_subagent_error(s, Z("s2"), Z("m"), Z("c"), &err), err);
    assert_ok(hob_agui_subagent_start(s, Z("s3"), Z("x"), NULL, &err), err);
    assert_ok(hob_agui_subagent_suspend(s, Z("s3"), Z("[\"q\"]"), &err), err);
    assert_ok(hob_agui_run_usage(
                  s,
                  Z("[{\"provider\":\"p\",\"model\":\"m\",\"inputTokens\":9007199254740991,"
                    "\"outputTokens\":0,\"totalTokens\":300,\"reasoningTokens\":1,"
                    "\"cachedInputTokens\":2,\"cacheWriteInputTokens\":3}]"),
                  &err),
              err);
    q.id = Z("q");
    q.message = Z("really?");
    q.response_schema = Z("{\"type\":\"object\"}");
    q.expires_at = Z("2026-01-01T00:00:00Z");
    q.metadata = Z("{\"a\":1}");
    q.subagent = Z("s3");
    assert_ok(hob_agui_run_interrupt_all(s, &q, 1, &err), err);
}

static void say_all(hob_agui_session *s) {
    hob_agui_set_time(s, 1700000000123);
    assert_ok(hob_agui_run_start_ids(s, Z("r"), Z("before"), &err), err);
    say_messages(s);
    say_the_rest(s);
    hob_agui_set_time(s, 0);
    assert_ok(hob_agui_run_start_ids(s, Z("r2"), Z(""), &err), err);
    assert_ok(hob_agui_run_finish(s, Z("[1]"), &err), err);
    assert_ok(hob_agui_run_start_ids(s, Z("r3"), Z(""), &err), err);
    assert_ok(hob_agui_run_cancelled(s, &err), err);
    assert_ok(hob_agui_run_error_with_code(s, Z("m"), Z("c"), &err), err);
}

/* Frames laid one behind the other, each with its length: as many as there are events. */
static void test_agui_proto__every_kind_is_a_frame(void **state) {
    (void)state;
    test_wire json, proto;
    hob_agui_session *a = test_wire_open(&json, HOB_AGUI_AS_JSON);
    hob_agui_session *b = test_wire_open(&proto, HOB_AGUI_AS_PROTO);
    const char *dump = getenv("HOB_AGUI_DUMP");
    FILE *out = dump ? fopen(dump, "w") : NULL;
    say_all(a);
    say_all(b);
    assert_int_equal(json.events, proto.events);
    hob_str lines = hob_buf_str(&json.lines), bytes = hob_buf_str(&proto.lines), line;
    for (size_t i = 0; i < proto.events; i++) {
        const unsigned char *p = (const unsigned char *)bytes.p;
        size_t n = (size_t)p[0] << 24 | (size_t)p[1] << 16 | (size_t)p[2] << 8 | p[3];
        assert_true(n + 5 <= bytes.n && bytes.p[n + 4] == '\n');
        hob_str_split(&lines, '\n', &line);
        if (out) fprintf(out, "%.*s\n", HOB_FMT(line));
        for (size_t k = 0; out && k < n; k++)
            fprintf(out, "%02x%s", p[4 + k], k + 1 < n ? "" : "\n");
        bytes = hob_str_skip(bytes, n + 5);
    }
    assert_int_equal(bytes.n, 0);
    if (out) fclose(out);
    for (int kind = 0; kind < HOB_AGUI_KIND_COUNT_; kind++) {
        char type[60];
        snprintf(type, sizeof type, "{\"type\":\"%s\"", hob_agui_kind_name((hob_agui_kind)kind));
        if (hob_str_find(hob_buf_str(&json.lines), Z(type)) < 0) fail_msg("no %s", type);
    }
    test_wire_close(&json, a);
    test_wire_close(&proto, b);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_agui_proto__the_vectors_of_the_reference),
        cmocka_unit_test(test_agui_proto__every_kind_is_a_frame),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
