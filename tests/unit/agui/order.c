/* Order rules inside a run: what is open, what was used, whose it is. A refusal sends nothing. */
#include "support/agui.h"
#include "support/check.h"

#include <stdio.h>

#define Z(text) hob_str_z(text)

static test_wire wire;
static hob_error err;

static hob_agui_session *running(void) {
    hob_agui_session *s = test_wire_open(&wire, HOB_AGUI_AS_JSON);
    assert_ok(hob_agui_run_start_ids(s, Z("r"), Z(""), &err), err);
    hob_buf_reset(&wire.lines);
    return s;
}

static hob_agui_session *running_with(const char *members) {
    char json[1000];
    hob_agui_session *s = test_wire_open(&wire, HOB_AGUI_AS_JSON);
    snprintf(json, sizeof json, "{\"threadId\":\"t\",\"runId\":\"r\",%s}", members);
    hob_agui_input *in = test_input(json);
    assert_ok(hob_agui_run_start(s, in, &err), err);
    hob_agui_input_destroy(in);
    hob_buf_reset(&wire.lines);
    return s;
}

static hob_agui_extra of(const char *subagent) {
    hob_agui_extra x = HOB_AGUI_EXTRA_INIT;
    x.subagent = Z(subagent);
    return x;
}

static void test_agui_order__nothing_without_a_run(void **state) {
    (void)state;
    char id[37];
    hob_agui_session *s = test_wire_open(&wire, HOB_AGUI_AS_JSON);
    const int got[] = {
        hob_agui_message_start(s, Z("m"), NULL, &err),
        hob_agui_message_content(s, Z("m"), Z("x"), &err),
        hob_agui_message_end(s, Z("m"), &err),
        hob_agui_tool_call_start(s, Z("c"), Z("x"), NULL, &err),
        hob_agui_tool_call_args(s, Z("c"), Z("x"), &err),
        hob_agui_tool_call_end(s, Z("c"), &err),
        hob_agui_tool_call_result(s, Z("m"), Z("c"), Z("x"), &err),
        hob_agui_tool_call_result_parts(s, Z("m"), Z("c"), Z("[]"), &err),
        hob_agui_start_thinking(s, Z("x"), id, &err),
        hob_agui_reasoning_start(s, Z("m"), NULL, &err),
        hob_agui_reasoning_end(s, Z("m"), &err),
        hob_agui_reasoning_message_start(s, Z("m"), NULL, &err),
        hob_agui_reasoning_message_content(s, Z("m"), Z("x"), &err),
        hob_agui_reasoning_message_end(s, Z("m"), &err),
        hob_agui_reasoning_encrypted(s, HOB_AGUI_OF_MESSAGE, Z("m"), Z("x"), &err),
        hob_agui_messages_snapshot(s, Z("[]"), &err),
        hob_agui_state_snapshot(s, Z("{}"), &err),
        hob_agui_state_delta(s, Z("[]"), &err),
        hob_agui_state_set(s, Z("1"), &err),
        hob_agui_activity_snapshot(s, Z("a"), Z("x"), Z("{}"), &err),
        hob_agui_activity_delta(s, Z("a"), Z("[]"), &err),
        hob_agui_step_start(s, Z("p"), NULL, &err),
        hob_agui_step_finish(s, Z("p"), Z(""), &err),
        hob_agui_subagent_start(s, Z("a"), Z("x"), NULL, &err),
        hob_agui_subagent_finish(s, Z("a"), Z(""), &err),
        hob_agui_subagent_suspend(s, Z("a"), Z(""), &err),
        hob_agui_subagent_error(s, Z("a"), Z("x"), Z(""), &err),
        hob_agui_custom(s, Z("x"), Z("1"), NULL, &err),
        hob_agui_raw(s, Z("1"), Z(""), NULL, &err),
        hob_agui_run_usage(s, Z("[]"), &err),
        hob_agui_run_cancelled(s, &err),
        hob_agui_run_interrupt(s, Z(""), Z(""), NULL, &err),
    };
    for (size_t i = 0; i < HOB_ARRAY_LEN(got); i++) assert_int_equal(got[i], HOB_EIDLE);
    test_wire_silent(&wire);
    test_wire_close(&wire, s);
}

static void test_agui_order__a_message_in_pieces(void **state) {
    (void)state;
    hob_agui_session *s = running();
    hob_agui_extra x = HOB_AGUI_EXTRA_INIT;
    x.role = Z("user");
    x.name = Z("Ann");
    x.metadata = Z("{\"k\":1}");
    assert_ok(hob_agui_message_start(s, Z("m"), &x, &err), err);
    assert_ok(hob_agui_message_content(s, Z("m"), Z("h\xc3\xa9\n\"\xe2\x80\xa8"), &err), err);
    assert_ok(hob_agui_message_content(s, Z("m"), Z(""), &err), err);
    assert_ok(hob_agui_message_end(s, Z("m"), &err), err);
    test_wire_expect(&wire,
                     "{\"type\":\"TEXT_MESSAGE_START\",\"messageId\":\"m\",\"role\":\"user\","
                     "\"name\":\"Ann\",\"metadata\":{\"k\":1}}\n"
                     "{\"type\":\"TEXT_MESSAGE_CONTENT\",\"messageId\":\"m\","
                     "\"delta\":\"h\xc3\xa9\\n\\\"\xe2\x80\xa8\"}\n"
                     "{\"type\":\"TEXT_MESSAGE_CONTENT\",\"messageId\":\"m\",\"delta\":\"\"}\n"
                     "{\"type\":\"TEXT_MESSAGE_END\",\"messageId\":\"m\"}\n");
    test_wire_close(&wire, s);
}

static void test_agui_order__open_content_close(void **state) {
    (void)state;
    hob_agui_session *s = running();
    assert_int_equal(hob_agui_message_content(s, Z("m"), Z("x"), &err), HOB_ENOENT);
    assert_int_equal(hob_agui_message_end(s, Z("m"), &err), HOB_ENOENT);
    assert_int_equal(hob_agui_tool_call_args(s, Z("m"), Z("x"), &err), HOB_ENOENT);
    assert_int_equal(hob_agui_reasoning_message_content(s, Z("m"), Z("x"), &err), HOB_ENOENT);
    assert_int_equal(hob_agui_reasoning_end(s, Z("m"), &err), HOB_ENOENT);
    assert_int_equal(hob_agui_step_finish(s, Z("m"), Z(""), &err), HOB_ENOENT);
    assert_int_equal(hob_agui_subagent_finish(s, Z("m"), Z(""), &err), HOB_ENOENT);
    test_wire_silent(&wire);
    assert_ok(hob_agui_message_start(s, Z("m"), NULL, &err), err);
    assert_ok(hob_agui_step_start(s, Z("p"), NULL, &err), err);
    hob_buf_reset(&wire.lines);
    assert_int_equal(hob_agui_message_start(s, Z("m"), NULL, &err), HOB_EEXIST);
    assert_int_equal(hob_agui_step_start(s, Z("p"), NULL, &err), HOB_EEXIST);
    assert_int_equal(hob_agui_tool_call_end(s, Z("m"), &err), HOB_ENOENT); /* spaces differ */
    test_wire_silent(&wire);
    test_wire_close(&wire, s);
}

static void test_agui_order__items_interleave(void **state) {
    (void)state;
    hob_agui_session *s = running();
    assert_ok(hob_agui_message_start(s, Z("a"), NULL, &err), err);
    assert_ok(hob_agui_message_start(s, Z("b"), NULL, &err), err);
    assert_ok(hob_agui_tool_call_start(s, Z("c"), Z("x"), NULL, &err), err);
    assert_ok(hob_agui_message_content(s, Z("a"), Z("1"), &err), err);
    assert_ok(hob_agui_tool_call_args(s, Z("c"), Z("{}"), &err), err);
    assert_ok(hob_agui_message_end(s, Z("a"), &err), err);
    assert_ok(hob_agui_message_content(s, Z("b"), Z("2"), &err), err);
    assert_int_equal(wire.events, 8);
    test_wire_close(&wire, s);
}

static void test_agui_order__an_id_of_the_thread_is_not_streamed_again(void **state) {
    (void)state;
    hob_agui_session *s = running_with(
        "\"messages\":[{\"id\":\"u\",\"role\":\"user\",\"content\":\"x\"},{\"id\":\"a\",\"role\":"
        "\"assistant\",\"toolCalls\":[{\"id\":\"c\",\"type\":\"function\",\"function\":{\"name\":"
        "\"x\",\"arguments\":\"{}\"}}]}]");
    assert_int_equal(hob_agui_message_start(s, Z("u"), NULL, &err), HOB_EEXIST);
    assert_int_equal(hob_agui_reasoning_message_start(s, Z("u"), NULL, &err), HOB_EEXIST);
    assert_int_equal(hob_agui_tool_call_start(s, Z("c"), Z("x"), NULL, &err), HOB_EEXIST);
    assert_int_equal(hob_agui_tool_call_result(s, Z("a"), Z("c"), Z("x"), &err), HOB_EEXIST);
    test_wire_silent(&wire);
    /* A span may have the id of a message, a message that is only somebody's parent may begin. */
    hob_agui_extra x = HOB_AGUI_EXTRA_INIT;
    x.parent = Z("later");
    assert_ok(hob_agui_reasoning_start(s, Z("u"), NULL, &err), err);
    assert_ok(hob_agui_tool_call_start(s, Z("d"), Z("x"), &x, &err), err);
    assert_ok(hob_agui_message_start(s, Z("later"), NULL, &err), err);
    /* More of something that the client has is asked for by name. */
    x = (hob_agui_extra)HOB_AGUI_EXTRA_INIT;
    x.flags = HOB_AGUI_REOPEN;
    assert_ok(hob_agui_message_start(s, Z("a"), &x, &err), err);
    assert_ok(hob_agui_tool_call_start(s, Z("c"), Z("x"), &x, &err), err);
    assert_int_equal(hob_agui_message_start(s, Z("unheard"), &x, &err), HOB_ENOENT);
    test_wire_close(&wire, s);
}

static void test_agui_order__a_call_has_one_result_after_its_end(void **state) {
    (void)state;
    hob_agui_session *s = running();
    assert_int_equal(hob_agui_tool_call_result(s, Z("m"), Z("c"), Z("x"), &err), HOB_ENOENT);
    assert_ok(hob_agui_tool_call_start(s, Z("c"), Z("x"), NULL, &err), err);
    assert_int_equal(hob_agui_tool_call_result(s, Z("m"), Z("c"), Z("x"), &err), HOB_EINVAL);
    assert_ok(hob_agui_tool_call_end(s, Z("c"), &err), err);
    hob_buf_reset(&wire.lines);
    assert_ok(hob_agui_tool_call_result(s, Z("m"), Z("c"), Z("7\n"), &err), err);
    test_wire_expect(&wire,
                     "{\"type\":\"TOOL_CALL_RESULT\",\"messageId\":\"m\",\"toolCallId\":\"c\","
                     "\"content\":\"7\\n\",\"role\":\"tool\"}\n");
    assert_int_equal(hob_agui_tool_call_result(s, Z("n"), Z("c"), Z("x"), &err), HOB_EEXIST);
    test_wire_silent(&wire);
    test_wire_close(&wire, s);
}

static void test_agui_order__parts_of_a_result_are_text_for_older_clients(void **state) {
    (void)state;
    static const char parts[] =
        "[{\"type\":\"text\",\"text\":\"a\"},{\"type\":\"image\",\"source\":{\"type\":\"data\","
        "\"value\":\"eA==\",\"mimeType\":\"image/png\"}},{\"type\":\"text\",\"text\":\"b\"}]";
    hob_agui_session *s = running_with("\"messages\":[]");
    assert_ok(hob_agui_tool_call_start(s, Z("c"), Z("x"), NULL, &err), err);
    assert_ok(hob_agui_tool_call_end(s, Z("c"), &err), err);
    hob_buf_reset(&wire.lines);
    assert_int_equal(
        hob_agui_tool_call_result_parts(s, Z("m"), Z("c"), Z("[{\"type\":\"x\"}]"), &err),
        HOB_EINVAL);
    assert_int_equal(hob_agui_tool_call_result_parts(s, Z("m"), Z("c"), Z("\"x\""), &err),
                     HOB_EINVAL);
    assert_ok(hob_agui_tool_call_result_parts(s, Z("m"), Z("c"), Z(parts), &err), err);
    test_wire_expect(&wire,
                     "{\"type\":\"TOOL_CALL_RESULT\",\"messageId\":\"m\",\"toolCallId\":\"c\","
                     "\"content\":\"ab\",\"role\":\"tool\"}\n");
    test_wire_close(&wire, s);
    s = running();
    assert_ok(hob_agui_tool_call_start(s, Z("c"), Z("x"), NULL, &err), err);
    assert_ok(hob_agui_tool_call_end(s, Z("c"), &err), err);
    hob_buf_reset(&wire.lines);
    assert_ok(hob_agui_tool_call_result_parts(s, Z("m"), Z("c"), Z(parts), &err), err);
    assert_true(hob_str_find(hob_buf_str(&wire.lines), Z(parts)) > 0);
    test_wire_close(&wire, s);
}

static void test_agui_order__thinking_is_a_span_with_messages(void **state) {
    (void)state;
    char span[37];
    hob_agui_session *s = running();
    assert_ok(hob_agui_start_thinking(s, Z("Planning"), span, &err), err);
    assert_true(hob_str_find(hob_buf_str(&wire.lines), Z("\"metadata\":{\"title\":\"Planning\"}")) >
                0);
    hob_buf_reset(&wire.lines);
    assert_ok(hob_agui_reasoning_message_start(s, Z("m"), NULL, &err), err);
    assert_ok(hob_agui_reasoning_message_content(s, Z("m"), Z("hm"), &err), err);
    assert_ok(hob_agui_reasoning_message_end(s, Z("m"), &err), err);
    assert_ok(hob_agui_reasoning_encrypted(s, HOB_AGUI_OF_MESSAGE, Z("m"), Z("zz"), &err), err);
    test_wire_expect(
        &wire, "{\"type\":\"REASONING_MESSAGE_START\",\"messageId\":\"m\",\"role\":\"reasoning\"}\n"
               "{\"type\":\"REASONING_MESSAGE_CONTENT\",\"messageId\":\"m\",\"delta\":\"hm\"}\n"
               "{\"type\":\"REASONING_MESSAGE_END\",\"messageId\":\"m\"}\n"
               "{\"type\":\"REASONING_ENCRYPTED_VALUE\",\"subtype\":\"message\","
               "\"entityId\":\"m\",\"encryptedValue\":\"zz\"}\n");
    assert_int_equal(hob_agui_reasoning_encrypted(s, HOB_AGUI_OF_TOOL_CALL, Z("m"), Z("z"), &err),
                     HOB_ENOENT);
    assert_ok(hob_agui_reasoning_end(s, Z(span), &err), err);
    test_wire_close(&wire, s);
}

/* ---- sub-agents --------------------------------------------------------------------------------------------- */

static void test_agui_order__what_a_sub_agent_opens_is_tagged_to_its_end(void **state) {
    (void)state;
    hob_agui_session *s = running();
    hob_agui_extra x = of("sub");
    assert_ok(hob_agui_subagent_start(s, Z("sub"), Z("helper"), NULL, &err), err);
    assert_ok(hob_agui_message_start(s, Z("m"), &x, &err), err);
    assert_ok(hob_agui_message_content(s, Z("m"), Z("x"), &err), err);
    assert_ok(hob_agui_step_start(s, Z("p"), &x, &err), err);
    assert_ok(hob_agui_step_start(s, Z("p"), NULL, &err), err); /* the agent's own */
    hob_buf_reset(&wire.lines);
    assert_ok(hob_agui_subagent_finish(s, Z("sub"), Z("1"), &err), err);
    test_wire_expect(&wire,
                     "{\"type\":\"STEP_FINISHED\",\"stepName\":\"p\",\"subagentRunId\":\"sub\"}\n"
                     "{\"type\":\"TEXT_MESSAGE_END\",\"messageId\":\"m\","
                     "\"subagentRunId\":\"sub\"}\n"
                     "{\"type\":\"SUBAGENT_FINISHED\",\"subagentRunId\":\"sub\",\"result\":1,"
                     "\"outcome\":{\"type\":\"success\"}}\n");
    assert_ok(hob_agui_step_finish(s, Z("p"), Z(""), &err), err);
    test_wire_close(&wire, s);
}

static void test_agui_order__a_sub_agent_is_started_once_a_run(void **state) {
    (void)state;
    hob_agui_session *s = running();
    hob_agui_extra x = HOB_AGUI_EXTRA_INIT;
    x.parent_subagent = Z("nobody");
    assert_int_equal(hob_agui_subagent_start(s, Z("a"), Z("x"), &x, &err), HOB_ENOENT);
    assert_int_equal(hob_agui_subagent_start(s, Z("a"), Z(""), NULL, &err), HOB_EINVAL);
    assert_ok(hob_agui_subagent_start(s, Z("a"), Z("x"), NULL, &err), err);
    x.parent_subagent = Z("a");
    assert_ok(hob_agui_subagent_start(s, Z("b"), Z("x"), &x, &err), err);
    assert_ok(hob_agui_subagent_error(s, Z("a"), Z("no"), Z("X"), &err), err);
    assert_int_equal(hob_agui_subagent_start(s, Z("a"), Z("x"), NULL, &err), HOB_EEXIST);
    assert_ok(hob_agui_run_finish(s, Z(""), &err), err);
    assert_ok(hob_agui_run_start_ids(s, Z("r2"), Z(""), &err), err);
    assert_ok(hob_agui_subagent_start(s, Z("a"), Z("x"), NULL, &err), err);
    assert_ok(hob_agui_subagent_suspend(s, Z("a"), Z("[\"q\"]"), &err), err);
    assert_int_equal(hob_agui_subagent_suspend(s, Z("a"), Z("[1]"), &err), HOB_EINVAL);
    test_wire_close(&wire, s);
}

static void test_agui_order__a_calls_message_is_of_the_same_agent(void **state) {
    (void)state;
    hob_agui_session *s = running();
    hob_agui_extra x = of("sub"), y = HOB_AGUI_EXTRA_INIT;
    assert_ok(hob_agui_message_start(s, Z("m"), &x, &err), err);
    y.parent = Z("m");
    assert_int_equal(hob_agui_tool_call_start(s, Z("c"), Z("x"), &y, &err), HOB_EINVAL);
    y.subagent = Z("sub");
    assert_ok(hob_agui_tool_call_start(s, Z("c"), Z("x"), &y, &err), err);
    test_wire_close(&wire, s);
}

/* ---- arguments and ceilings --------------------------------------------------------------------------------- */

static void test_agui_order__arguments_are_checked(void **state) {
    (void)state;
    hob_agui_session *s = running();
    hob_agui_extra x = HOB_AGUI_EXTRA_INIT;
    char *long_id = hob_alloc(1026);
    memset(long_id, 'x', 1025);
    assert_int_equal(hob_agui_message_start(s, Z(""), NULL, &err), HOB_EINVAL);
    assert_int_equal(hob_agui_message_start(s, Z(long_id), NULL, &err), HOB_ETOOBIG);
    assert_int_equal(hob_agui_message_content(s, Z(long_id), Z("x"), &err), HOB_ENOENT);
    assert_int_equal(hob_agui_message_start(s, Z("\xff"), NULL, &err), HOB_EINVAL);
    x.role = Z("wizard");
    assert_int_equal(hob_agui_message_start(s, Z("m"), &x, &err), HOB_EINVAL);
    x.role = Z("");
    x.metadata = Z("[]");
    assert_int_equal(hob_agui_message_start(s, Z("m"), &x, &err), HOB_EINVAL);
    x.metadata = Z("{");
    assert_int_equal(hob_agui_message_start(s, Z("m"), &x, &err), HOB_EPARSE);
    assert_int_equal(hob_agui_custom(s, Z("x"), Z("nil"), NULL, &err), HOB_EPARSE);
    assert_int_equal(hob_agui_messages_snapshot(s, Z("[{\"id\":\"a\",\"role\":\"wizard\"}]"), &err),
                     HOB_EINVAL);
    assert_int_equal(hob_agui_messages_snapshot(s, Z("[{\"id\":\"a\",\"role\":\"user\"}]"), &err),
                     HOB_EINVAL);
    test_wire_silent(&wire);
    hob_free(long_id);
    test_wire_close(&wire, s);
}

static void test_agui_order__ceilings_hold(void **state) {
    (void)state;
    hob_agui_session *s = running();
    char id[16];
    int rc = 0;
    size_t n = 0;
    for (; n < 5000 && rc == 0; n++) {
        snprintf(id, sizeof id, "m%zu", n);
        rc = hob_agui_message_start(s, Z(id), NULL, &err);
    }
    assert_int_equal(rc, HOB_ETOOBIG);
    assert_int_equal(n, 4097);
    size_t big = (size_t)11 << 20;
    char *text = hob_alloc(big);
    memset(text, 'x', big);
    hob_buf_reset(&wire.lines);
    assert_int_equal(hob_agui_message_content(s, Z("m0"), hob_str_n(text, big), &err), HOB_ETOOBIG);
    test_wire_silent(&wire);
    assert_ok(hob_agui_message_content(s, Z("m0"), Z("x"), &err), err);
    hob_free(text);
    test_wire_close(&wire, s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_agui_order__nothing_without_a_run),
        cmocka_unit_test(test_agui_order__a_message_in_pieces),
        cmocka_unit_test(test_agui_order__open_content_close),
        cmocka_unit_test(test_agui_order__items_interleave),
        cmocka_unit_test(test_agui_order__an_id_of_the_thread_is_not_streamed_again),
        cmocka_unit_test(test_agui_order__a_call_has_one_result_after_its_end),
        cmocka_unit_test(test_agui_order__parts_of_a_result_are_text_for_older_clients),
        cmocka_unit_test(test_agui_order__thinking_is_a_span_with_messages),
        cmocka_unit_test(test_agui_order__what_a_sub_agent_opens_is_tagged_to_its_end),
        cmocka_unit_test(test_agui_order__a_sub_agent_is_started_once_a_run),
        cmocka_unit_test(test_agui_order__a_calls_message_is_of_the_same_agent),
        cmocka_unit_test(test_agui_order__arguments_are_checked),
        cmocka_unit_test(test_agui_order__ceilings_hold),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
