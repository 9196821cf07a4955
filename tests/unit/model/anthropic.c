/* The decoder of Anthropic's stream. */
#include "stream.h"

#define START                                                                                      \
    "event: message_start\n"                                                                       \
    "data: {\"type\":\"message_start\",\"message\":{\"id\":\"msg_1\",\"content\":[],"              \
    "\"stop_reason\":null,\"usage\":{\"input_tokens\":11,\"cache_read_input_tokens\":5,"           \
    "\"cache_creation_input_tokens\":2,\"output_tokens\":1}}}\n\n"
#define BLOCK(i, json)                                                                             \
    "event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":" #i            \
    ",\"content_block\":" json "}\n\n"
#define DELTA(i, json)                                                                             \
    "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":" #i            \
    ",\"delta\":" json "}\n\n"
#define STOP(i)                                                                                    \
    "event: content_block_stop\ndata: {\"type\":\"content_block_stop\",\"index\":" #i "}\n\n"
#define PING "event: ping\ndata: {\"type\":\"ping\"}\n\n"
#define TEXT(i, t)                                                                                 \
    BLOCK(i, "{\"type\":\"text\",\"text\":\"\"}")                                                  \
    DELTA(i, "{\"type\":\"text_delta\",\"text\":\"" t "\"}") STOP(i)
#define END(reason)                                                                                \
    "event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"" reason \
    "\"},\"usage\":{\"output_tokens\":42}}\n\n"                                                    \
    "event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n"
#define USAGE "in=11 out=42 read=5 write=2 think=0 "

static void check(const char *stream, const char *expected) {
    assert_stream(hob_decoder_anthropic_create, stream, expected);
}

static void test_model_anthropic__reads_text_and_usage(void **state) {
    (void)state;
    check(PING START PING TEXT(0, "Hi \\u00e4") PING END("end_turn"),
          "done " USAGE "[{\"type\":\"text\",\"text\":\"Hi \xc3\xa4\"}]");
}

static void test_model_anthropic__message_delta_may_restate_input_tokens(void **state) {
    (void)state;
    check(START
          "data: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"},\"usage\":"
          "{\"input_tokens\":100,\"cache_read_input_tokens\":50,\"output_tokens\":3}}\n\n"
          "data: {\"type\":\"message_stop\"}\n\n",
          "done in=100 out=3 read=50 write=2 think=0 []");
}

static void test_model_anthropic__reads_thinking_with_signature(void **state) {
    (void)state;
    check(START BLOCK(0, "{\"type\":\"thinking\",\"thinking\":\"\",\"signature\":\"\"}")
              DELTA(0, "{\"type\":\"thinking_delta\",\"thinking\":\"Hm\"}")
                  DELTA(0, "{\"type\":\"signature_delta\",\"signature\":\"sig==\"}") STOP(0)
                      END("end_turn"),
          "done " USAGE "[{\"type\":\"thinking\",\"text\":\"Hm\",\"signature\":\"sig==\"}]");
}

static void test_model_anthropic__keeps_omitted_thinking_for_its_signature(void **state) {
    (void)state;
    check(START BLOCK(0, "{\"type\":\"thinking\",\"thinking\":\"\",\"signature\":\"s\"}") STOP(0)
              END("end_turn"),
          "done " USAGE "[{\"type\":\"thinking\",\"text\":\"\",\"signature\":\"s\"}]");
}

static void test_model_anthropic__reads_calls(void **state) {
    (void)state;
    check(START BLOCK(0, "{\"type\":\"tool_use\",\"id\":\"t1\",\"name\":\"f\",\"input\":{}}")
              DELTA(0, "{\"type\":\"input_json_delta\",\"partial_json\":\"\"}")
                  DELTA(0, "{\"type\":\"input_json_delta\",\"partial_json\":\"{\\\"a\\\":\"}")
                      DELTA(0, "{\"type\":\"input_json_delta\",\"partial_json\":\"[1]}\"}") STOP(0)
                          END("tool_use"),
          "tools " USAGE "[{\"type\":\"tool_call\",\"call\":\"m1.0\",\"id\":\"t1\",\"name\":\"f\","
          "\"args\":{\"a\":[1]}}]");
}

static void test_model_anthropic__call_without_arguments_is_an_empty_object(void **state) {
    (void)state;
    check(START BLOCK(0, "{\"type\":\"tool_use\",\"id\":\"t1\",\"name\":\"f\",\"input\":{}}")
              DELTA(0, "{\"type\":\"input_json_delta\",\"partial_json\":\"\"}") STOP(0)
                  END("tool_use"),
          "tools " USAGE "[{\"type\":\"tool_call\",\"call\":\"m1.0\",\"id\":\"t1\",\"name\":\"f\","
          "\"args\":{}}]");
}

static void test_model_anthropic__call_may_start_with_its_whole_input(void **state) {
    (void)state;
    check(START BLOCK(0, "{\"type\":\"tool_use\",\"id\":\"t\",\"name\":\"f\",\"input\":{\"a\":1}}")
              STOP(0) END("tool_use"),
          "tools " USAGE "[{\"type\":\"tool_call\",\"call\":\"m1.0\",\"id\":\"t\",\"name\":\"f\","
          "\"args\":{\"a\":1}}]");
}

static void test_model_anthropic__message_may_start_with_whole_blocks(void **state) {
    (void)state;
    check(
        "data: {\"type\":\"message_start\",\"message\":{\"id\":\"m\",\"content\":[{\"type\":"
        "\"tool_use\",\"id\":\"t\",\"name\":\"f\",\"input\":{\"a\":1}}],\"stop_reason\":\"tool_use\","
        "\"usage\":{\"input_tokens\":1,\"output_tokens\":2}}}\n\n"
        "data: {\"type\":\"message_stop\"}\n\n",
        "tools in=1 out=2 read=0 write=0 think=0 [{\"type\":\"tool_call\",\"call\":\"m1.0\","
        "\"id\":\"t\",\"name\":\"f\",\"args\":{\"a\":1}}]");
}

static void test_model_anthropic__keeps_unknown_blocks_byte_for_byte(void **state) {
    (void)state;
    check(START BLOCK(0, "{\"type\":\"redacted_thinking\", \"data\":\"\\u0041=\",\"n\":1.0}")
              STOP(0)
                  BLOCK(1, "{\"type\":\"server_tool_use\",\"id\":\"s\",\"input\":{},\"x\":[ 1 ]}")
                      DELTA(1, "{\"type\":\"input_json_delta\",\"partial_json\":\"{\\\"q\\\": \"}")
                          DELTA(1, "{\"type\":\"input_json_delta\",\"partial_json\":\"1}\"}")
                              STOP(1) END("end_turn"),
          "done " USAGE "[{\"type\":\"opaque\",\"provider\":\"lab\",\"raw\":{\"type\":"
          "\"redacted_thinking\", \"data\":\"\\u0041=\",\"n\":1.0}},"
          "{\"type\":\"opaque\",\"provider\":\"lab\",\"raw\":{\"type\":\"server_tool_use\",\"id\":"
          "\"s\",\"input\":{\"q\": 1},\"x\":[ 1 ]}}]");
}

static void test_model_anthropic__keeps_citations(void **state) {
    (void)state;
    check(START BLOCK(0, "{\"type\":\"text\",\"text\":\"\",\"citations\":[]}")
              DELTA(0, "{\"type\":\"citations_delta\",\"citation\":{\"a\":1}}")
                  DELTA(0, "{\"type\":\"citations_delta\",\"citation\":{\"b\":2}}")
                      DELTA(0, "{\"type\":\"text_delta\",\"text\":\"T\"}") STOP(0) END("end_turn"),
          "done " USAGE "[{\"type\":\"text\",\"text\":\"T\",\"citations\":[{\"a\":1},{\"b\":2}]}]");
}

static void test_model_anthropic__maps_stop_reasons(void **state) {
    (void)state;
    check(START END("stop_sequence"), "done " USAGE "[]");
    check(START END("max_tokens"), "length " USAGE "[]");
    check(START END("model_context_window_exceeded"), "length " USAGE "[]");
    check(START END("refusal"), "refusal " USAGE "[]");
    check(START END("pause_turn"), "continue " USAGE "[]");
    check(START END("of_a_later_version"), "done " USAGE "[]");
}

static void test_model_anthropic__says_why_it_refused(void **state) {
    (void)state;
    hob_answer *a = hob_answer_create();
    hob_decoder *d = hob_decoder_anthropic_create(a, &stream_who);
    stream_feed(d,
                HOB_STR(START
                        "data: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"refusal\","
                        "\"stop_details\":{\"explanation\":\"not this\"}}}\n\n"
                        "data: {\"type\":\"message_stop\"}\n\n"),
                SIZE_MAX);
    assert_int_equal(hob_decoder_end(d), HOB_OK);
    assert_str(a->detail, "not this");
    hob_decoder_destroy(d);
    hob_answer_destroy(a);
}

static void test_model_anthropic__calls_make_any_end_a_tool_stop(void **state) {
    (void)state;
    check(START BLOCK(0, "{\"type\":\"tool_use\",\"id\":\"t\",\"name\":\"f\",\"input\":{}}") STOP(0)
              END("end_turn"),
          "tools " USAGE "[{\"type\":\"tool_call\",\"call\":\"m1.0\",\"id\":\"t\",\"name\":\"f\","
          "\"args\":{}}]");
}

static void test_model_anthropic__ignores_what_it_does_not_know(void **state) {
    (void)state;
    check(START "event: weather\ndata: {\"type\":\"weather\",\"rain\":true}\n\n" TEXT(0, "x")
              DELTA(0, "{\"type\":\"shiny_delta\",\"text\":\"y\"}") ": comment\n\n"
                                                                    "event: empty\ndata:\n\n" END(
                                                                        "end_turn"),
          "done " USAGE "[{\"type\":\"text\",\"text\":\"x\"}]");
}

static void test_model_anthropic__ignores_what_follows_the_end(void **state) {
    (void)state;
    check(START TEXT(0, "first") END("end_turn") START TEXT(0, "second")
              END("max_tokens") "data: not even JSON\n\n",
          "done " USAGE "[{\"type\":\"text\",\"text\":\"first\"}]");
}

static void test_model_anthropic__broken_order_fails(void **state) {
    (void)state;
    check(START TEXT(0, "a") START TEXT(1, "b") END("end_turn"),
          "HOB_EPROTO retryable lab started a second message inside the first");
    check(START TEXT(0, "a") TEXT(0, "b") END("end_turn"),
          "HOB_EPROTO retryable lab started a block out of order");
    check(TEXT(0, "a") END("end_turn"), "HOB_EPROTO retryable lab sent content before its message");
    check(START DELTA(3, "{\"type\":\"text_delta\",\"text\":\"y\"}") END("end_turn"),
          "HOB_EPROTO retryable lab sent a piece of a block never started");
}

static void test_model_anthropic__an_end_without_message_stop_fails(void **state) {
    (void)state;
    check("", "HOB_EPROTO retryable lab ended early: its answer is not whole");
    check(START TEXT(0, "a"), "HOB_EPROTO retryable lab ended early: its answer is not whole");
    check(START TEXT(0, "a") "data: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":"
                             "\"end_turn\"}}\n\n",
          "HOB_EPROTO retryable lab ended early: its answer is not whole");
    check(START TEXT(0, "a") "data: {\"type\":\"message_stop\"}\n\n",
          "HOB_EPROTO retryable lab ended its answer without saying why");
}

static void test_model_anthropic__broken_json_fails(void **state) {
    (void)state;
    check(START "data: {\"type\":\"content_block_\n\n" END("end_turn"),
          "HOB_EPROTO retryable lab sent broken JSON (line 1, column 24: the text ends before "
          "the value does): {\"type\":\"content_block_");
    check(START "data: [1]\n\n" END("end_turn"),
          "HOB_EPROTO retryable lab sent broken JSON (not an object): [1]");
}

static void error_event(const char *type, const char *message, const char *expected) {
    hob_buf b;
    hob_buf_init(&b, 4096);
    hob_buf_addf(&b,
                 START "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"%s\","
                       "\"message\":\"%s\"}}\n\n" END("end_turn"),
                 type, message);
    check(hob_buf_z(&b), expected);
    hob_buf_finish(&b);
}

static void test_model_anthropic__error_events_fail_by_their_kind(void **state) {
    (void)state;
    error_event("overloaded_error", "Overloaded",
                "HOB_EOVERLOAD retryable lab failed (Overloaded)");
    error_event("api_error", "Oops", "HOB_EOVERLOAD retryable lab failed (Oops)");
    error_event("rate_limit_error", "slow", "HOB_ERATE retryable lab limits the rate (slow)");
    error_event("invalid_request_error", "bad", "HOB_EREFUSED lab refused the request (bad)");
    error_event("invalid_request_error", "prompt is too long: 9 tokens > 8 maximum",
                "HOB_ETOOBIG the conversation does not fit m-1 (prompt is too long: 9 tokens > 8 "
                "maximum)");
    error_event("authentication_error", "no", "HOB_EAUTH lab wants a key and none is set (no)");
    error_event("unheard_of", "hm", "HOB_EOVERLOAD retryable lab failed (hm)");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_model_anthropic__reads_text_and_usage),
        cmocka_unit_test(test_model_anthropic__message_delta_may_restate_input_tokens),
        cmocka_unit_test(test_model_anthropic__reads_thinking_with_signature),
        cmocka_unit_test(test_model_anthropic__keeps_omitted_thinking_for_its_signature),
        cmocka_unit_test(test_model_anthropic__reads_calls),
        cmocka_unit_test(test_model_anthropic__call_without_arguments_is_an_empty_object),
        cmocka_unit_test(test_model_anthropic__call_may_start_with_its_whole_input),
        cmocka_unit_test(test_model_anthropic__message_may_start_with_whole_blocks),
        cmocka_unit_test(test_model_anthropic__keeps_unknown_blocks_byte_for_byte),
        cmocka_unit_test(test_model_anthropic__keeps_citations),
        cmocka_unit_test(test_model_anthropic__maps_stop_reasons),
        cmocka_unit_test(test_model_anthropic__says_why_it_refused),
        cmocka_unit_test(test_model_anthropic__calls_make_any_end_a_tool_stop),
        cmocka_unit_test(test_model_anthropic__ignores_what_it_does_not_know),
        cmocka_unit_test(test_model_anthropic__ignores_what_follows_the_end),
        cmocka_unit_test(test_model_anthropic__broken_order_fails),
        cmocka_unit_test(test_model_anthropic__an_end_without_message_stop_fails),
        cmocka_unit_test(test_model_anthropic__broken_json_fails),
        cmocka_unit_test(test_model_anthropic__error_events_fail_by_their_kind),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
