/* Request bodies: golden texts, the byte-stable prefix, and what a turn costs. */
#include "talk.h"

static const hob_encode_opts lab = {.provider = {"lab", 3}};

#define TOOLS                                                                                      \
    "[{\"name\":\"read\",\"description\":\"Reads\",\"schema\":{\"type\":\"object\"}},"             \
    "{\"name\":\"ls\",\"description\":\"Lists\",\"schema\":{\"type\":\"object\",\"x\":1.0}}]"
#define MARK "\"cache_control\":{\"type\":\"ephemeral\"}"
#define SAID(t) "[{\"type\":\"text\",\"text\":\"" t "\"}]"

static void assert_body(const hob_model_request *rq, const hob_encode_opts *o, hob_encode_fn fn,
                        const char *expected) {
    hob_buf b = talk_body(rq, o, fn);
    assert_string_equal(hob_buf_z(&b), expected);
    hob_buf_finish(&b);
}

static const char *messages_in(hob_buf *b) {
    const char *at = strstr(hob_buf_z(b), "\"messages\":[");
    assert_non_null(at);
    return at + strlen("\"messages\":");
}

static void assert_messages(const hob_model_request *rq, const hob_encode_opts *o, hob_encode_fn fn,
                            const char *expected) {
    hob_buf b = talk_body(rq, o, fn);
    assert_string_equal(messages_in(&b), expected);
    hob_buf_finish(&b);
}

/* Thinking, an opaque block, two calls of which one failed, an image in a result, then the user again. */
static void long_talk(talk *t) {
    talk_user(t,
              "[{\"type\":\"text\",\"text\":\"look \\u00e4\"},{\"type\":\"image\",\"media_type\":"
              "\"image/png\",\"data\":\"QUJD\"},{\"type\":\"text\",\"text\":\" \"}]");
    talk_answer(
        t, "lab/m-1", "m2",
        "[{\"type\":\"thinking\",\"text\":\"hm\",\"signature\":\"sig\"},"
        "{\"type\":\"opaque\",\"provider\":\"lab\",\"raw\":{\"type\":\"redacted_thinking\", "
        "\"data\":\"x\"}},{\"type\":\"text\",\"text\":\"So.\"},"
        "{\"type\":\"tool_call\",\"call\":\"m2.0\",\"id\":\"c1\",\"name\":\"read\",\"args\":"
        "{\"path\": \"a\"}},{\"type\":\"tool_call\",\"call\":\"m2.1\",\"id\":\"c2\",\"name\":"
        "\"ls\",\"args_text\":\"{oops\"}]");
    talk_result(t, "m2.1", "error", SAID("bad \\\"args\\\""));
    talk_result(
        t, "m2.0", "ok",
        "[{\"type\":\"text\",\"text\":\"A\"},{\"type\":\"image\",\"media_type\":\"image/gif\","
        "\"data\":\"R0lG\"}]");
    talk_user(t, SAID("and?"));
}

/* ---- Anthropic --------------------------------------------------------------------------------- */

static void test_model_wire__anthropic_body(void **state) {
    (void)state;
    talk t;
    talk_init(&t);
    long_talk(&t);
    hob_model_request rq = talk_request(&t);
    rq.tools = HOB_STR(TOOLS);
    assert_body(
        &rq, &lab, hob_encode_anthropic,
        "{\"model\":\"m-1\",\"max_tokens\":1000,\"stream\":true,"
        "\"system\":[{\"type\":\"text\",\"text\":\"Be \\\"good\\\".\"," MARK "}],"
        "\"tools\":[{\"name\":\"read\",\"description\":\"Reads\",\"input_schema\":{\"type\":\"object\"}},"
        "{\"name\":\"ls\",\"description\":\"Lists\",\"input_schema\":{\"type\":\"object\",\"x\":1.0}," MARK
        "}],"
        "\"messages\":[{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"look \\u00e4\"},"
        "{\"type\":\"image\",\"source\":{\"type\":\"base64\",\"media_type\":\"image/png\",\"data\":"
        "\"QUJD\"}}]},"
        "{\"role\":\"assistant\",\"content\":[{\"type\":\"thinking\",\"thinking\":\"hm\",\"signature\":"
        "\"sig\"},{\"type\":\"redacted_thinking\", \"data\":\"x\"},{\"type\":\"text\",\"text\":\"So.\"},"
        "{\"type\":\"tool_use\",\"id\":\"c1\",\"name\":\"read\",\"input\":{\"path\": \"a\"}},"
        "{\"type\":\"tool_use\",\"id\":\"c2\",\"name\":\"ls\",\"input\":{}}]},"
        "{\"role\":\"user\",\"content\":[{\"type\":\"tool_result\",\"tool_use_id\":\"c1\",\"content\":"
        "[{\"type\":\"text\",\"text\":\"A\"},{\"type\":\"image\",\"source\":{\"type\":\"base64\","
        "\"media_type\":\"image/gif\",\"data\":\"R0lG\"}}]},"
        "{\"type\":\"tool_result\",\"tool_use_id\":\"c2\",\"content\":[{\"type\":\"text\",\"text\":"
        "\"bad \\\"args\\\"\"}],\"is_error\":true},"
        "{\"type\":\"text\",\"text\":\"and?\"," MARK "}]}]}");
    talk_finish(&t);
}

static void test_model_wire__anthropic_drops_what_another_model_signed(void **state) {
    (void)state;
    talk t;
    talk_init(&t);
    talk_user(&t, SAID("hi"));
    talk_answer(&t, "lab/m-2", "m2",
                "[{\"type\":\"thinking\",\"text\":\"hm\",\"signature\":\"sig\"},"
                "{\"type\":\"opaque\",\"provider\":\"lab\",\"raw\":{\"type\":\"x\"}},"
                "{\"type\":\"text\",\"text\":\"T\",\"citations\":[{\"a\":1}]}]");
    talk_answer(&t, "lab/m-1", "m3",
                "[{\"type\":\"thinking\",\"text\":\"unsigned\"},"
                "{\"type\":\"text\",\"text\":\"U\",\"citations\":[{\"b\":1}]}]");
    talk_answer(&t, "lab/m-2", "m4",
                "[{\"type\":\"thinking\",\"text\":\"x\",\"signature\":\"y\"}]");
    talk_user(&t, SAID("more"));
    hob_model_request rq = talk_request(&t);
    assert_messages(&rq, &lab, hob_encode_anthropic,
                    "[{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"hi\"}]},"
                    "{\"role\":\"assistant\",\"content\":[{\"type\":\"text\",\"text\":\"T\"},"
                    "{\"type\":\"text\",\"text\":\"U\",\"citations\":[{\"b\":1}]}]},"
                    "{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"more\"," MARK
                    "}]}]}");
    talk_finish(&t);
}

static void test_model_wire__anthropic_merges_what_one_side_says(void **state) {
    (void)state;
    talk t;
    talk_init(&t);
    talk_user(&t, SAID("a"));
    talk_user(&t, SAID("b"));
    talk_answer(&t, "lab/m-2", "m3",
                "[{\"type\":\"thinking\",\"text\":\"x\",\"signature\":\"y\"}]");
    talk_user(&t, SAID(""));
    talk_user(&t, SAID("c"));
    hob_model_request rq = talk_request(&t);
    assert_messages(&rq, &lab, hob_encode_anthropic,
                    "[{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"a\"},"
                    "{\"type\":\"text\",\"text\":\"b\"},{\"type\":\"text\",\"text\":\"c\"," MARK
                    "}]}]}");
    talk_finish(&t);
}

static void test_model_wire__anthropic_sends_back_a_paused_answer(void **state) {
    (void)state;
    talk t;
    talk_init(&t);
    talk_user(&t, SAID("a"));
    talk_answer(&t, "lab/m-1", "m2",
                "[{\"type\":\"opaque\",\"provider\":\"lab\",\"raw\":{\"type\":\"s\"}}]");
    hob_model_request rq = talk_request(&t);
    assert_messages(&rq, &lab, hob_encode_anthropic,
                    "[{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"a\"," MARK
                    "}]},"
                    "{\"role\":\"assistant\",\"content\":[{\"type\":\"s\"}]}]}");
    talk_finish(&t);
}

static void test_model_wire__anthropic_result_without_words(void **state) {
    (void)state;
    talk t;
    talk_init(&t);
    talk_answer(
        &t, "lab/m-1", "m1",
        "[{\"type\":\"tool_call\",\"call\":\"m1.0\",\"id\":\"c\",\"name\":\"no such/tool\",\"args\":{}}]");
    talk_result(&t, "m1.0", "ok", "[{\"type\":\"text\",\"text\":\"\"}]");
    hob_model_request rq = talk_request(&t);
    assert_messages(
        &rq, &lab, hob_encode_anthropic,
        "[{\"role\":\"assistant\",\"content\":[{\"type\":\"tool_use\",\"id\":\"c\",\"name\":"
        "\"no_such_tool\",\"input\":{}}]},{\"role\":\"user\",\"content\":[{\"type\":"
        "\"tool_result\",\"tool_use_id\":\"c\"," MARK "}]}]}");
    talk_finish(&t);
}

static void assert_thinking(hob_str model, hob_thinking level, int64_t max, const char *expected) {
    talk t;
    talk_init(&t);
    talk_user(&t, SAID("a"));
    hob_model_request rq = talk_request(&t);
    rq.model = model;
    rq.thinking = level;
    rq.max_output = max;
    hob_buf b = talk_body(&rq, &lab, hob_encode_anthropic);
    char *from = strstr(hob_buf_z(&b), "}],");
    assert_non_null(from);
    *strstr(from, "\"messages\"") = '\0';
    assert_string_equal(from + 3, expected);
    hob_buf_finish(&b);
    talk_finish(&t);
}

static void test_model_wire__anthropic_thinking(void **state) {
    (void)state;
    const hob_str old = HOB_STR("claude-sonnet-4-5-20250929"), new = HOB_STR("claude-opus-4-6");
    assert_thinking(old, HOB_THINKING_DEFAULT, 64000, "");
    assert_thinking(old, HOB_THINKING_OFF, 64000, "");
    assert_thinking(old, HOB_THINKING_MEDIUM, 64000,
                    "\"thinking\":{\"type\":\"enabled\",\"budget_tokens\":8192},");
    /* the answer keeps 1024 tokens; below a budget of 1024 there is none */
    assert_thinking(old, HOB_THINKING_HIGH, 4096,
                    "\"thinking\":{\"type\":\"enabled\",\"budget_tokens\":3072},");
    assert_thinking(old, HOB_THINKING_HIGH, 2047, "");
    assert_thinking(HOB_STR("claude-opus-4-20250514"), HOB_THINKING_MINIMAL, 9000,
                    "\"thinking\":{\"type\":\"enabled\",\"budget_tokens\":1024},");
    assert_thinking(HOB_STR("claude-3-5-haiku-20241022"), HOB_THINKING_HIGH, 8192, "");
    assert_thinking(new, HOB_THINKING_LOW, 64000,
                    "\"thinking\":{\"type\":\"adaptive\"},\"output_config\":{\"effort\":\"low\"},");
    assert_thinking(
        new, HOB_THINKING_XHIGH, 64000,
        "\"thinking\":{\"type\":\"adaptive\"},\"output_config\":{\"effort\":\"high\"},");
    assert_thinking(
        HOB_STR("claude-fable-5"), HOB_THINKING_XHIGH, 64000,
        "\"thinking\":{\"type\":\"adaptive\"},\"output_config\":{\"effort\":\"xhigh\"},");
}

/* Thinking by budget may not be switched on between an answer that did not think and the results of its calls. */
static void test_model_wire__anthropic_thinking_waits_for_the_next_turn(void **state) {
    (void)state;
    talk t;
    talk_init(&t);
    hob_model_request rq = talk_request(&t);
    rq.model = HOB_STR("claude-sonnet-4-5");
    rq.thinking = HOB_THINKING_LOW;
    rq.max_output = 8192;
    talk_user(&t, SAID("a"));
    talk_answer(
        &t, "other/m", "m2",
        "[{\"type\":\"tool_call\",\"call\":\"m2.0\",\"id\":\"c\",\"name\":\"f\",\"args\":{}}]");
    talk_result(&t, "m2.0", "ok", SAID("r"));
    hob_buf b = talk_body(&rq, &lab, hob_encode_anthropic);
    assert_null(strstr(hob_buf_z(&b), "budget_tokens"));
    hob_buf_finish(&b);
    talk_answer(
        &t, "lab/claude-sonnet-4-5", "m4",
        "[{\"type\":\"thinking\",\"text\":\"x\",\"signature\":\"y\"},{\"type\":\"tool_call\","
        "\"call\":\"m4.0\",\"id\":\"d\",\"name\":\"f\",\"args\":{}}]");
    talk_result(&t, "m4.0", "ok", SAID("r"));
    b = talk_body(&rq, &lab, hob_encode_anthropic);
    assert_non_null(strstr(hob_buf_z(&b), "\"budget_tokens\":2048"));
    hob_buf_finish(&b);
    talk_finish(&t);
}

/* ---- Chat Completions ----------------------------------------------------------------------------- */

static void test_model_wire__openai_chat_body(void **state) {
    (void)state;
    talk t;
    talk_init(&t);
    long_talk(&t);
    hob_model_request rq = talk_request(&t);
    rq.tools = HOB_STR(TOOLS);
    rq.thinking = HOB_THINKING_MEDIUM;
    assert_body(
        &rq, &lab, hob_encode_openai_chat,
        "{\"model\":\"m-1\",\"max_completion_tokens\":1000,\"stream\":true,\"stream_options\":"
        "{\"include_usage\":true},\"tools\":[{\"type\":\"function\",\"function\":{\"name\":\"read\","
        "\"description\":\"Reads\",\"parameters\":{\"type\":\"object\"}}},{\"type\":\"function\","
        "\"function\":{\"name\":\"ls\",\"description\":\"Lists\",\"parameters\":{\"type\":\"object\","
        "\"x\":1.0}}}],\"reasoning_effort\":\"medium\","
        "\"messages\":[{\"role\":\"system\",\"content\":\"Be \\\"good\\\".\"},"
        "{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"look \\u00e4\"},{\"type\":"
        "\"image_url\",\"image_url\":{\"url\":\"data:image/png;base64,QUJD\"}}]},"
        "{\"role\":\"assistant\",\"content\":\"So.\",\"tool_calls\":[{\"id\":\"c1\",\"type\":"
        "\"function\",\"function\":{\"name\":\"read\",\"arguments\":\"{\\\"path\\\": \\\"a\\\"}\"}},"
        "{\"id\":\"c2\",\"type\":\"function\",\"function\":{\"name\":\"ls\",\"arguments\":\"{}\"}}]},"
        "{\"role\":\"tool\",\"tool_call_id\":\"c1\",\"content\":\"A\"},"
        "{\"role\":\"tool\",\"tool_call_id\":\"c2\",\"content\":\"bad \\\"args\\\"\"},"
        "{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"Image returned by tool call "
        "c1:\"},{\"type\":\"image_url\",\"image_url\":{\"url\":\"data:image/gif;base64,R0lG\"}}]},"
        "{\"role\":\"user\",\"content\":\"and?\"}]}");
    talk_finish(&t);
}

static void test_model_wire__openai_chat_options(void **state) {
    (void)state;
    talk t;
    talk_init(&t);
    talk_user(&t, "[{\"type\":\"text\",\"text\":\"a\"},{\"type\":\"text\",\"text\":\"b\"}]");
    talk_answer(
        &t, "old/m-1", "m2",
        "[{\"type\":\"thinking\",\"text\":\"x\"},{\"type\":\"thinking\",\"text\":\"y\"},"
        "{\"type\":\"tool_call\",\"call\":\"m2.0\",\"id\":\"c\",\"name\":\"f\",\"args\":{}}]");
    talk_result(&t, "m2.0", "ok", "[]");
    talk_answer(&t, "old/m-1", "m4", "[{\"type\":\"thinking\",\"text\":\"only\"}]");
    const hob_encode_opts o = {.provider = HOB_STR("old"),
                               .echo_reasoning = true,
                               .old_max_tokens = true,
                               .cache_key = true};
    hob_model_request rq = talk_request(&t);
    rq.system = HOB_STR("");
    assert_body(
        &rq, &o, hob_encode_openai_chat,
        "{\"model\":\"m-1\",\"max_tokens\":1000,\"stream\":true,\"stream_options\":"
        "{\"include_usage\":true},\"prompt_cache_key\":\"s-1\",\"messages\":["
        "{\"role\":\"user\",\"content\":\"a\\n\\nb\"},"
        "{\"role\":\"assistant\",\"content\":null,\"reasoning_content\":\"xy\",\"tool_calls\":["
        "{\"id\":\"c\",\"type\":\"function\",\"function\":{\"name\":\"f\",\"arguments\":\"{}\"}}]},"
        "{\"role\":\"tool\",\"tool_call_id\":\"c\",\"content\":\"(no output)\"}]}");
    talk_finish(&t);
}

static void assert_effort(const char *model, hob_thinking level, const char *expected) {
    const char *got = hob_thinking_effort(hob_str_z(model), HOB_THINKS_BY_NAME, level);
    if (expected)
        assert_string_equal(got, expected);
    else
        assert_null(got);
}

static void test_model_wire__openai_chat_effort(void **state) {
    (void)state;
    assert_effort("gpt-5", HOB_THINKING_DEFAULT, NULL);
    assert_effort("gpt-5", HOB_THINKING_OFF, "minimal");
    assert_effort("gpt-5-mini", HOB_THINKING_MINIMAL, "minimal");
    assert_effort("gpt-5.1", HOB_THINKING_OFF, "none");
    assert_effort("gpt-5.1", HOB_THINKING_MINIMAL, "low");
    assert_effort("gpt-5.1", HOB_THINKING_XHIGH, "high");
    assert_effort("gpt-5.2", HOB_THINKING_XHIGH, "xhigh");
    assert_effort("gpt-4.1", HOB_THINKING_HIGH, NULL);
    assert_effort("gpt-4o-mini", HOB_THINKING_HIGH, NULL);
    assert_effort("o3", HOB_THINKING_OFF, NULL);
    assert_effort("o3", HOB_THINKING_XHIGH, "high");
    assert_effort("any-name", HOB_THINKING_LOW, "low");
}

/* ---- ids ------------------------------------------------------------------------------------------ */

static void test_model_wire__ids_missing_or_used_twice_are_made_from_the_call(void **state) {
    (void)state;
    talk t;
    talk_init(&t);
    talk_answer(
        &t, "lab/m-1", "m1",
        "[{\"type\":\"tool_call\",\"call\":\"m1.0\",\"id\":\"\",\"name\":\"f\",\"args\":{}},"
        "{\"type\":\"tool_call\",\"call\":\"m1.1\",\"id\":\"x\",\"name\":\"f\",\"args\":{}},"
        "{\"type\":\"tool_call\",\"call\":\"m1.2\",\"id\":\"x\",\"name\":\"f\",\"args\":{}}]");
    talk_answer(
        &t, "other/m", "m2",
        "[{\"type\":\"tool_call\",\"call\":\"m2.0\",\"id\":\"functions.f:0\",\"name\":\"f\",\"args\":{}},"
        "{\"type\":\"tool_call\",\"call\":\"m2.1\",\"id\":\"call_9\",\"name\":\"f\",\"args\":{}}]");
    for (int round = 0; round < 2; round++) { /* results of the last answer are encoded again */
        hob_model_request rq = talk_request(&t);
        hob_buf b = talk_body(&rq, &lab, hob_encode_anthropic);
        const char *at = hob_buf_z(&b);
        static const char *const ids[] = {"hob_m1_0", "x", "hob_m1_2", "hob_m2_0", "call_9"};
        for (size_t i = 0; i < HOB_ARRAY_LEN(ids); i++) {
            char use[64], result[64];
            (void)snprintf(use, sizeof use, "\"tool_use\",\"id\":\"%s\"", ids[i]);
            (void)snprintf(result, sizeof result, "\"tool_use_id\":\"%s\"", ids[i]);
            assert_non_null(strstr(at, use));
            assert_non_null(strstr(strstr(at, use), result));
        }
        hob_buf_finish(&b);
    }
    talk_finish(&t);
}

/* ---- the prefix ------------------------------------------------------------------------------------- */

static void one_turn(talk *t, unsigned n) {
    char message[16], call[24], content[512];
    (void)snprintf(message, sizeof message, "m%u", n);
    (void)snprintf(call, sizeof call, "m%u.0", n);
    (void)snprintf(
        content, sizeof content,
        "[{\"type\":\"text\",\"text\":\"turn %u\"},{\"type\":\"tool_call\",\"call\":\"%s\","
        "\"id\":\"toolu_%u\",\"name\":\"read\",\"args\":{\"path\":\"file-%u.c\"}}]",
        1000 + n, call, 1000 + n, 1000 + n);
    talk_answer(t, "lab/m-1", message, content);
    talk_result(t, call, n % 3 ? "ok" : "error", SAID("what the file says, or does not say"));
    if (n % 5 == 0) talk_user(t, SAID("by the way"));
}

/* The messages without the moving mark and without the ends of the arrays. */
static hob_str prefix_of(hob_buf *b) {
    char *at = (char *)messages_in(b);
    char *mark = strstr(at, "," MARK);
    size_t n = strlen("," MARK);
    if (mark) memmove(mark, mark + n, strlen(mark + n) + 1);
    hob_str s = hob_str_z(at);
    while (s.n && strchr("]}", s.p[s.n - 1])) s.n--;
    return s;
}

static void assert_prefix_grows(hob_encode_fn fn) {
    talk t;
    talk_init(&t);
    talk_user(&t, SAID("start"));
    hob_buf last;
    hob_buf_init(&last, 16);
    for (unsigned n = 1; n <= 40; n++) {
        hob_model_request rq = talk_request(&t);
        hob_buf b = talk_body(&rq, &lab, fn);
        hob_str now = prefix_of(&b);
        if (n > 1) {
            hob_str before = prefix_of(&last);
            assert_true(now.n > before.n);
            assert_memory_equal(now.p, before.p, before.n);
        }
        hob_buf_finish(&last);
        last = b;
        one_turn(&t, n);
    }
    hob_buf_finish(&last);
    talk_finish(&t);
}

static void test_model_wire__prefix_is_stable_to_the_byte(void **state) {
    (void)state;
    assert_prefix_grows(hob_encode_anthropic);
    assert_prefix_grows(hob_encode_openai_chat);
}

/* What was kept and what is encoded at once must be the same text. */
static void assert_same_as_fresh(hob_encode_fn fn) {
    talk t;
    talk_init(&t);
    talk_user(&t, SAID("start"));
    for (unsigned n = 1; n <= 12; n++) {
        hob_wire *none = NULL;
        hob_model_request kept = talk_request(&t), fresh = kept;
        fresh.wire = &none;
        hob_buf a = talk_body(&kept, &lab, fn), b = talk_body(&fresh, &lab, fn);
        assert_string_equal(hob_buf_z(&a), hob_buf_z(&b));
        hob_buf_finish(&a);
        hob_buf_finish(&b);
        hob_wire_destroy(none);
        one_turn(&t, n);
    }
    talk_finish(&t);
}

static void test_model_wire__kept_text_equals_a_fresh_encoding(void **state) {
    (void)state;
    assert_same_as_fresh(hob_encode_anthropic);
    assert_same_as_fresh(hob_encode_openai_chat);
}

/* Bytes encoded a turn, at the start and after 2,000 turns. */
static void assert_flat(hob_encode_fn fn) {
    talk t;
    size_t at = 0, first = 0, last = 0;
    talk_init(&t);
    talk_user(&t, SAID("start"));
    for (unsigned n = 1; n <= 2000; n++) {
        hob_model_request rq = talk_request(&t);
        hob_body body;
        assert_int_equal(fn(&rq, &lab, &body, NULL), 0);
        last = t.wire->encoded - at;
        at = t.wire->encoded;
        if (n == 10) first = last;
        hob_body_finish(&body);
        one_turn(&t, n);
    }
    assert_in_range(last, 1, first + 64);
    talk_finish(&t);
}

static void test_model_wire__a_turn_costs_what_is_new(void **state) {
    (void)state;
    assert_flat(hob_encode_anthropic);
    assert_flat(hob_encode_openai_chat);
}

/* ---- when the kept text does not fit ------------------------------------------------------------------ */

static void test_model_wire__another_model_starts_anew(void **state) {
    (void)state;
    talk t;
    talk_init(&t);
    talk_user(&t, SAID("a"));
    talk_answer(&t, "lab/m-1", "m2",
                "[{\"type\":\"thinking\",\"text\":\"x\",\"signature\":\"y\"},"
                "{\"type\":\"text\",\"text\":\"b\"}]");
    talk_user(&t, SAID("c"));
    hob_model_request rq = talk_request(&t);
    hob_buf b = talk_body(&rq, &lab, hob_encode_anthropic);
    assert_non_null(strstr(hob_buf_z(&b), "\"signature\""));
    hob_buf_finish(&b);
    rq.model = HOB_STR("m-2");
    b = talk_body(&rq, &lab, hob_encode_anthropic);
    assert_null(strstr(hob_buf_z(&b), "\"signature\""));
    hob_buf_finish(&b);
    b = talk_body(&rq, &lab, hob_encode_openai_chat);
    assert_null(strstr(hob_buf_z(&b), "\"content\":[{\"type\":\"text\""));
    hob_buf_finish(&b);
    talk_finish(&t);
}

static void test_model_wire__another_branch_starts_anew(void **state) {
    (void)state;
    talk t;
    talk_init(&t);
    talk_user(&t, SAID("a"));
    talk_answer(&t, "lab/m-1", "m2", SAID("b"));
    talk_user(&t, SAID("c"));
    hob_model_request rq = talk_request(&t);
    hob_buf b = talk_body(&rq, &lab, hob_encode_openai_chat);
    hob_buf_finish(&b);
    talk_event(&t, HOB_EVENT_BRANCH_MOVED, "{\"to\":\"e2\"}", false);
    (void)snprintf(t.leaf, sizeof t.leaf, "e2");
    talk_user(&t, SAID("d"));
    assert_messages(
        &rq, &lab, hob_encode_openai_chat,
        "[{\"role\":\"system\",\"content\":\"Be \\\"good\\\".\"},{\"role\":\"user\","
        "\"content\":\"a\"},{\"role\":\"assistant\",\"content\":\"b\"},{\"role\":\"user\","
        "\"content\":\"d\"}]}");
    talk_finish(&t);
}

static void test_model_wire__tools_are_encoded_when_they_change(void **state) {
    (void)state;
    talk t;
    talk_init(&t);
    talk_user(&t, SAID("a"));
    hob_model_request rq = talk_request(&t);
    rq.tools = HOB_STR("[{\"name\":\"f\",\"description\":\"one\",\"schema\":{}}]");
    hob_buf b = talk_body(&rq, &lab, hob_encode_anthropic);
    hob_buf_finish(&b);
    rq.tools = HOB_STR("[{\"name\":\"f\",\"description\":\"two\",\"schema\":{}}]");
    rq.tools_version++;
    b = talk_body(&rq, &lab, hob_encode_anthropic);
    assert_non_null(strstr(hob_buf_z(&b), "\"two\""));
    hob_buf_finish(&b);
    talk_finish(&t);
}

/* A request that is still being sent keeps its text, whatever another one does meanwhile. */
static void test_model_wire__text_being_sent_is_left_alone(void **state) {
    (void)state;
    talk t;
    talk_init(&t);
    talk_user(&t, SAID("a"));
    hob_model_request rq = talk_request(&t);
    hob_body first, second;
    assert_int_equal(hob_encode_openai_chat(&rq, &lab, &first, NULL), 0);
    one_turn(&t, 1);
    assert_int_equal(hob_encode_openai_chat(&rq, &lab, &second, NULL), 0);
    assert_ptr_not_equal(first.wire, second.wire);
    hob_body_finish(&second);
    hob_wire_destroy(t.wire); /* the session changes its provider in the middle */
    t.wire = NULL;
    assert_str(first.part[1], ",{\"role\":\"user\",\"content\":\"a\"}");
    hob_body_finish(&first);
    talk_finish(&t);
}

static void test_model_wire__over_the_ceiling_is_an_error(void **state) {
    (void)state;
    talk t;
    talk_init(&t);
    talk_user(&t, SAID("a"));
    hob_model_request rq = talk_request(&t);
    char *big = hob_alloc(HOB_WIRE_MAX + 1);
    memset(big, 'x', HOB_WIRE_MAX + 1);
    rq.system = hob_str_n(big, HOB_WIRE_MAX + 1);
    hob_body body;
    hob_error err;
    assert_int_equal(hob_encode_anthropic(&rq, &lab, &body, &err), HOB_ETOOBIG);
    rq.system = HOB_STR("");
    assert_int_equal(hob_encode_anthropic(&rq, &lab, &body, &err), HOB_OK);
    hob_body_finish(&body);
    hob_free(big);
    talk_finish(&t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_model_wire__anthropic_body),
        cmocka_unit_test(test_model_wire__anthropic_drops_what_another_model_signed),
        cmocka_unit_test(test_model_wire__anthropic_merges_what_one_side_says),
        cmocka_unit_test(test_model_wire__anthropic_sends_back_a_paused_answer),
        cmocka_unit_test(test_model_wire__anthropic_result_without_words),
        cmocka_unit_test(test_model_wire__anthropic_thinking),
        cmocka_unit_test(test_model_wire__anthropic_thinking_waits_for_the_next_turn),
        cmocka_unit_test(test_model_wire__openai_chat_body),
        cmocka_unit_test(test_model_wire__openai_chat_options),
        cmocka_unit_test(test_model_wire__openai_chat_effort),
        cmocka_unit_test(test_model_wire__ids_missing_or_used_twice_are_made_from_the_call),
        cmocka_unit_test(test_model_wire__prefix_is_stable_to_the_byte),
        cmocka_unit_test(test_model_wire__kept_text_equals_a_fresh_encoding),
        cmocka_unit_test(test_model_wire__a_turn_costs_what_is_new),
        cmocka_unit_test(test_model_wire__another_model_starts_anew),
        cmocka_unit_test(test_model_wire__another_branch_starts_anew),
        cmocka_unit_test(test_model_wire__tools_are_encoded_when_they_change),
        cmocka_unit_test(test_model_wire__text_being_sent_is_left_alone),
        cmocka_unit_test(test_model_wire__over_the_ceiling_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
