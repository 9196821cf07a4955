#include "support/wire_rules.h"

#include "model/encode.h"
#include "support/check.h"

static bool is_type(const hob_json *b, const char *t) {
    return hob_str_eqz(hob_json_get_str(b, "type"), t);
}

/* Each tool_use is answered, first thing, in the next user message; roles alternate; nothing is empty. */
static void check_anthropic(const hob_json *messages) {
    const hob_json *before = NULL;
    for (const hob_json *m = hob_json_first(messages); m; before = m, m = hob_json_next(m)) {
        const hob_json *content = hob_json_get(m, "content"), *r = hob_json_first(content);
        assert_true(hob_json_count(content) > 0);
        if (!before) assert_str(hob_json_get_str(m, "role"), "user");
        if (before)
            assert_false(hob_str_eq(hob_json_get_str(before, "role"), hob_json_get_str(m, "role")));
        for (const hob_json *b = hob_json_first(hob_json_get(before, "content")); b;
             b = hob_json_next(b)) {
            if (!is_type(b, "tool_use")) continue;
            assert_true(r && is_type(r, "tool_result"));
            assert_true(hob_str_eq(hob_json_get_str(r, "tool_use_id"), hob_json_get_str(b, "id")));
            r = hob_json_next(r);
        }
        for (; r; r = hob_json_next(r)) assert_false(is_type(r, "tool_result"));
    }
    for (const hob_json *b = hob_json_first(hob_json_get(before, "content")); b;
         b = hob_json_next(b))
        assert_false(is_type(b, "tool_use"));
}

/* Each tool_call is answered by a tool message right behind its message, and by no other. */
static void check_openai(const hob_json *messages) {
    for (const hob_json *m = hob_json_first(messages); m; m = hob_json_next(m)) {
        const hob_json *next = hob_json_next(m);
        if (hob_str_eqz(hob_json_get_str(m, "role"), "tool")) continue;
        for (const hob_json *t = hob_json_first(hob_json_get(m, "tool_calls")); t;
             t = hob_json_next(t)) {
            assert_true(next && hob_str_eqz(hob_json_get_str(next, "role"), "tool"));
            assert_true(
                hob_str_eq(hob_json_get_str(next, "tool_call_id"), hob_json_get_str(t, "id")));
            next = hob_json_next(next);
        }
        if (next) assert_false(hob_str_eqz(hob_json_get_str(next, "role"), "tool"));
    }
}

static void check_wire(const hob_history *h, hob_encode_fn encode,
                       void (*check)(const hob_json *)) {
    hob_wire *wire = NULL;
    hob_model_request rq = {
        .size = sizeof rq, .model = hob_str_z("m"), .max_output = 100, .history = h, .wire = &wire};
    hob_encode_opts o = {.provider = hob_str_z("p")};
    hob_body body;
    hob_buf text;
    hob_error err;
    hob_arena *a = hob_arena_create(0);
    const hob_json *v;
    hob_buf_init(&text, 64u << 20);
    if (!hob_history_count(h)) goto out;
    assert_ok(encode(&rq, &o, &body, &err), err);
    for (size_t i = 0; i < body.nparts; i++) hob_buf_add(&text, body.part[i]);
    hob_body_finish(&body);
    assert_ok(hob_json_parse(a, hob_buf_str(&text), NULL, &v, &err), err);
    check(hob_json_get(v, "messages"));
out:
    hob_wire_destroy(wire);
    hob_buf_finish(&text);
    hob_arena_destroy(a);
}

void hob_test_wire_rules(const hob_history *h) {
    check_wire(h, hob_encode_anthropic, check_anthropic);
    check_wire(h, hob_encode_openai_chat, check_openai);
}
