/* The decoder of the Chat Completions stream, in the dialects that have been seen. */
#include "stream.h"

#define CHUNK(delta) "data: {\"id\":\"c1\",\"choices\":[{\"index\":0,\"delta\":" delta "}]}\n\n"
#define FINISH(reason)                                                                             \
    "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"" reason "\"}]}\n\n"
#define USAGE(json) "data: {\"choices\":[],\"usage\":" json "}\n\n"
#define DONE "data: [DONE]\n\n"
#define NOTHING "in=0 out=0 read=0 write=0 think=0 "
#define TEXT(t) "{\"type\":\"text\",\"text\":\"" t "\"}"
#define THINKING(t) "{\"type\":\"thinking\",\"text\":\"" t "\"}"
#define CALL(k, id, name, args)                                                                    \
    "{\"type\":\"tool_call\",\"call\":\"m1." k "\",\"id\":\"" id "\",\"name\":\"" name             \
    "\",\"args\":" args "}"

static void check(const char *stream, const char *expected) {
    assert_stream(hob_decoder_openai_chat_create, stream, expected);
}

static void test_model_openai_chat__reads_text(void **state) {
    (void)state;
    check(CHUNK("{\"role\":\"assistant\",\"content\":\"\"}") CHUNK("{\"content\":\"He\"}")
              CHUNK("{\"content\":\"llo\"}") FINISH("stop") DONE,
          "done " NOTHING "[" TEXT("Hello") "]");
}

static void test_model_openai_chat__normalises_usage(void **state) {
    (void)state;
    /* prompt_tokens contain the cached ones, completion_tokens the reasoning ones */
    check(FINISH("stop")
              USAGE("{\"prompt_tokens\":100,\"completion_tokens\":50,\"total_tokens\":150,"
                    "\"prompt_tokens_details\":{\"cached_tokens\":80},"
                    "\"completion_tokens_details\":{\"reasoning_tokens\":30}}") DONE,
          "done in=20 out=50 read=80 write=0 think=30 []");
    /* reasoning beside completion: the total tells */
    check(FINISH("stop") USAGE("{\"prompt_tokens\":10,\"completion_tokens\":5,\"total_tokens\":22,"
                               "\"completion_tokens_details\":{\"reasoning_tokens\":7}}") DONE,
          "done in=10 out=12 read=0 write=0 think=7 []");
    check(FINISH("stop") USAGE("{\"prompt_tokens\":10,\"completion_tokens\":5,"
                               "\"prompt_cache_hit_tokens\":4}") DONE,
          "done in=6 out=5 read=4 write=0 think=0 []");
    check(FINISH("stop") USAGE("null") "data: {\"choices\":[],\"x_groq\":{\"usage\":"
                                       "{\"prompt_tokens\":3,\"completion_tokens\":2}}}\n\n" DONE,
          "done in=3 out=2 read=0 write=0 think=0 []");
}

static void test_model_openai_chat__usage_may_come_with_content(void **state) {
    (void)state;
    check(
        "data: {\"choices\":[{\"delta\":{\"content\":\"a\"},\"finish_reason\":\"stop\"}],\"usage\":"
        "{\"prompt_tokens\":1,\"completion_tokens\":2}}\n\n",
        "done in=1 out=2 read=0 write=0 think=0 [" TEXT("a") "]");
}

static void test_model_openai_chat__reads_thinking_in_all_dialects(void **state) {
    (void)state;
    const char *expected = "done " NOTHING "[" THINKING("ab") "," TEXT("c") "]";
    check(CHUNK("{\"reasoning_content\":\"a\",\"content\":null}")
              CHUNK("{\"reasoning_content\":\"b\"}")
                  CHUNK("{\"content\":\"c\",\"reasoning_content\":null}") FINISH("stop") DONE,
          expected);
    check(CHUNK("{\"reasoning\":\"a\"}") CHUNK("{\"reasoning\":\"b\"}") CHUNK("{\"content\":\"c\"}")
              FINISH("stop") DONE,
          expected);
    check(CHUNK("{\"reasoning_details\":[{\"type\":\"reasoning.text\",\"text\":\"a\"},{\"type\":"
                "\"reasoning.summary\",\"summary\":\"b\"}]}") CHUNK("{\"content\":\"c\"}")
              FINISH("stop") DONE,
          expected);
    check(CHUNK("{\"content\":[{\"type\":\"thinking\",\"thinking\":[{\"type\":\"text\",\"text\":"
                "\"a\"}]}]}") CHUNK("{\"content\":[{\"type\":\"thinking\",\"thinking\":\"b\"},"
                                    "{\"type\":\"text\",\"text\":\"c\"}]}") FINISH("stop") DONE,
          expected);
    /* both names for the same text are one text */
    check(CHUNK("{\"reasoning\":\"ab\",\"reasoning_details\":[{\"text\":\"ab\"}]}")
              CHUNK("{\"content\":\"c\"}") FINISH("stop") DONE,
          expected);
}

static void test_model_openai_chat__reads_calls_in_pieces(void **state) {
    (void)state;
    check(
        CHUNK("{\"tool_calls\":[{\"index\":0,\"id\":\"a\",\"type\":\"function\",\"function\":"
              "{\"name\":\"f\",\"arguments\":\"\"}}]}")
            CHUNK(
                "{\"tool_calls\":[{\"index\":1,\"id\":\"b\",\"function\":{\"name\":\"g\","
                "\"arguments\":\"{}\"}},{\"index\":0,\"function\":{\"arguments\":\"{\\\"x\\\"\"}}]}")
                CHUNK("{\"tool_calls\":[{\"index\":0,\"function\":{\"arguments\":\":1}\"}}]}")
                    FINISH("tool_calls") DONE,
        "tools " NOTHING "[" CALL("0", "a", "f", "{\"x\":1}") "," CALL("1", "b", "g", "{}") "]");
}

static void test_model_openai_chat__later_pieces_may_have_an_empty_name(void **state) {
    (void)state;
    check(
        CHUNK("{\"tool_calls\":[{\"id\":\"a\",\"function\":{\"name\":\"f\",\"arguments\":\"\"},"
              "\"index\":0}]}")
            CHUNK(
                "{\"tool_calls\":[{\"function\":{\"name\":\"\",\"arguments\":\"{}\"},\"index\":0}]}")
                FINISH("tool_calls") DONE,
        "tools " NOTHING "[" CALL("0", "a", "f", "{}") "]");
}

static void test_model_openai_chat__a_new_id_is_a_new_call(void **state) {
    (void)state;
    check(
        CHUNK(
            "{\"tool_calls\":[{\"index\":0,\"id\":\"a\",\"function\":{\"name\":\"f\",\"arguments\":"
            "\"{}\"}}]}")
            CHUNK("{\"tool_calls\":[{\"index\":0,\"id\":\"b\",\"function\":{\"name\":\"g\","
                  "\"arguments\":\"{\"}}]}")
                CHUNK(
                    "{\"tool_calls\":[{\"index\":0,\"id\":\"b\",\"function\":{\"arguments\":\"}\"}}]}")
                    FINISH("stop") DONE,
        "tools " NOTHING "[" CALL("0", "a", "f", "{}") "," CALL("1", "b", "g", "{}") "]");
}

static void test_model_openai_chat__calls_may_lack_id_and_index(void **state) {
    (void)state;
    check(CHUNK("{\"tool_calls\":[{\"function\":{\"name\":\"f\",\"arguments\":{\"a\":1}}}]}")
              FINISH("tool_calls") DONE,
          "tools " NOTHING "[" CALL("0", "", "f", "{\"a\":1}") "]");
    check(CHUNK("{\"function_call\":{\"name\":\"f\",\"arguments\":\"{}\"}}") FINISH("function_call")
              DONE,
          "tools " NOTHING "[" CALL("0", "", "f", "{}") "]");
}

static void test_model_openai_chat__maps_finish_reasons(void **state) {
    (void)state;
    check(CHUNK("{\"content\":\"a\"}") FINISH("length") DONE, "length " NOTHING "[" TEXT("a") "]");
    check(CHUNK("{\"content\":\"a\"}") FINISH("content_filter") DONE,
          "refusal " NOTHING "[" TEXT("a") "]");
    check(CHUNK("{\"refusal\":\"I will not\"}") FINISH("stop") DONE,
          "refusal " NOTHING "[" TEXT("I will not") "]");
    check(FINISH("error") DONE, "HOB_EOVERLOAD retryable lab gave up in the middle of its answer");
}

static void test_model_openai_chat__other_choices_are_ignored(void **state) {
    (void)state;
    check(
        "data: {\"choices\":[{\"index\":1,\"delta\":{\"content\":\"no\"},\"finish_reason\":\"stop\"},"
        "{\"index\":0,\"delta\":{\"content\":\"yes\"}}]}\n\n" FINISH("stop") DONE,
        "done " NOTHING "[" TEXT("yes") "]");
}

static void test_model_openai_chat__an_end_before_finish_reason_fails(void **state) {
    (void)state;
    check(CHUNK("{\"content\":\"a\"}"),
          "HOB_EPROTO retryable lab ended early: its answer is not whole");
    check(CHUNK("{\"content\":\"a\"}") DONE,
          "HOB_EPROTO retryable lab ended early: no finish_reason came");
}

static void test_model_openai_chat__an_end_without_done_is_fine_after_it(void **state) {
    (void)state;
    check(CHUNK("{\"content\":\"a\"}") FINISH("stop"), "done " NOTHING "[" TEXT("a") "]");
}

static void test_model_openai_chat__errors_in_the_stream_fail(void **state) {
    (void)state;
    check(
        CHUNK(
            "{\"content\":\"a\"}") "data: {\"error\":{\"message\":\"You exceeded your quota\","
                                   "\"type\":\"insufficient_quota\",\"code\":\"insufficient_quota\"}}\n\n" DONE,
        "HOB_EREFUSED lab wants to be paid first (You exceeded your quota)");
    check("data: {\"error\":\"model crashed\"}\n\n",
          "HOB_EOVERLOAD retryable lab failed (model crashed)");
    check("data: {\"error\":{\"message\":\"too long\",\"code\":\"context_length_exceeded\","
          "\"type\":\"invalid_request_error\"}}\n\n",
          "HOB_ETOOBIG the conversation does not fit m-1 (too long)");
    check("event: error\ndata: {\"message\":\"late\"}\n\n",
          "HOB_EOVERLOAD retryable lab failed (late)");
    check("data: {\"error\":null,\"choices\":[]}\n\n" FINISH("stop") DONE, "done " NOTHING "[]");
}

static void test_model_openai_chat__broken_json_fails(void **state) {
    (void)state;
    check(
        CHUNK("{\"content\":\"a\"}") "data: {\"choices\":[{\n\n" FINISH("stop") DONE,
        "HOB_EPROTO retryable lab sent broken JSON (line 1, column 14: the text ends before the value does): "
        "{\"choices\":[{");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_model_openai_chat__reads_text),
        cmocka_unit_test(test_model_openai_chat__normalises_usage),
        cmocka_unit_test(test_model_openai_chat__usage_may_come_with_content),
        cmocka_unit_test(test_model_openai_chat__reads_thinking_in_all_dialects),
        cmocka_unit_test(test_model_openai_chat__reads_calls_in_pieces),
        cmocka_unit_test(test_model_openai_chat__later_pieces_may_have_an_empty_name),
        cmocka_unit_test(test_model_openai_chat__a_new_id_is_a_new_call),
        cmocka_unit_test(test_model_openai_chat__calls_may_lack_id_and_index),
        cmocka_unit_test(test_model_openai_chat__maps_finish_reasons),
        cmocka_unit_test(test_model_openai_chat__other_choices_are_ignored),
        cmocka_unit_test(test_model_openai_chat__an_end_before_finish_reason_fails),
        cmocka_unit_test(test_model_openai_chat__an_end_without_done_is_fine_after_it),
        cmocka_unit_test(test_model_openai_chat__errors_in_the_stream_fail),
        cmocka_unit_test(test_model_openai_chat__broken_json_fails),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
