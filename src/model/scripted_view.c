/*
 * scripted_view.c - what a script can know of a request.
 *
 * "Since the last user message" is the frame of everything: steps are counted from it, and tool results
 * before it are of earlier work. A steering message or a follow-up is a user message like any other.
 */
#include "model/scripted.h"

static int parse_content(hob_arena *a, hob_str content, const hob_json **out, hob_error *err) {
    *out = NULL;
    return content.n ? hob_json_parse(a, content, NULL, out, err) : HOB_OK;
}

static bool is_type(const hob_json *block, const char *type) {
    return hob_str_eqz(hob_json_get_str(block, "type"), type);
}

static int too_long(hob_error *err, int code) {
    return hob_fail(err, code, 0, "the conversation is too long for the scripted model");
}

/* The text blocks, a newline between two of them. */
static int text_of(hob_arena *a, hob_str content, hob_str *out, hob_error *err) {
    const hob_json *blocks;
    int code = parse_content(a, content, &blocks, err);
    if (code < 0) return code;
    hob_buf joined;
    hob_buf_init(&joined, HOB_ANSWER_MAX);
    size_t n = 0;
    for (const hob_json *b = hob_json_first(blocks); b; b = hob_json_next(b)) {
        if (!is_type(b, "text")) continue;
        if (n++) hob_buf_addc(&joined, '\n');
        hob_buf_add(&joined, hob_json_get_str(b, "text"));
    }
    code = joined.err;
    hob_str text = hob_arena_dup(a, hob_buf_str(&joined));
    if (code >= 0 && !text.p) code = HOB_ETOOBIG;
    hob_buf_finish(&joined);
    if (code < 0) return too_long(err, code);
    *out = text;
    return HOB_OK;
}

/* The name of the k-th call of an assistant message. */
static int call_name(hob_arena *a, hob_str content, size_t k, hob_str *out, hob_error *err) {
    const hob_json *blocks;
    int code = parse_content(a, content, &blocks, err);
    if (code < 0) return code;
    for (const hob_json *b = hob_json_first(blocks); b; b = hob_json_next(b)) {
        if (!is_type(b, "tool_call") || k-- > 0) continue;
        *out = hob_json_get_str(b, "name");
        break;
    }
    return HOB_OK;
}

static int read_result(hob_script_view *v, const hob_history *h, size_t i, hob_arena *a,
                       hob_error *err) {
    size_t k = hob_history_results(h, i) - 1;
    v->has_result = true;
    v->failed = hob_history_result_failed(h, i, k) != 0;
    int code = call_name(a, hob_history_content(h, i), k, &v->tool, err);
    return code < 0 ? code : text_of(a, hob_history_result_content(h, i, k), &v->result, err);
}

static int64_t message_bytes(const hob_history *h, size_t i) {
    size_t n = hob_history_content(h, i).n;
    for (size_t k = 0; k < hob_history_results(h, i); k++)
        n += hob_history_result_content(h, i, k).n;
    return (int64_t)n;
}

/* Counts, and finds the last user message and the last message with results behind it. */
static int read_history(hob_script_view *v, const hob_history *h, hob_arena *a, hob_error *err) {
    size_t none = SIZE_MAX, user = none, called = none;
    v->step = v->turn = 1;
    for (size_t i = 0; i < hob_history_count(h); i++) {
        v->bytes += message_bytes(h, i);
        if (hob_history_role(h, i) == HOB_ROLE_USER) {
            user = i;
            called = none;
            v->step = 1;
            v->messages++;
        } else {
            v->step++;
            v->turn++;
            if (hob_history_results(h, i)) called = i;
        }
    }
    int code = HOB_OK;
    if (user != none) code = text_of(a, hob_history_content(h, user), &v->user, err);
    if (code >= 0 && called != none) code = read_result(v, h, called, a, err);
    return code;
}

int hob_script_view_init(hob_script_view *v, const hob_model_request *rq, hob_arena *a,
                         hob_error *err) {
    *v = (hob_script_view){.system = rq->system, .attempt = rq->attempt};
    v->model = hob_arena_dup(a, rq->model);
    v->session = hob_arena_dup(a, rq->session);
    if (!v->model.p || !v->session.p) return too_long(err, HOB_ETOOBIG);
    v->thinking = hob_str_z(hob_thinking_name(rq->thinking));
    v->bytes = (int64_t)(rq->system.n + rq->tools.n);
    int code = parse_content(a, rq->tools, &v->tools, err);
    return code < 0 ? code : read_history(v, rq->history, a, err);
}

#define SHOWN 60 /* bytes of a text in an error message */

static void add_quoted(hob_buf *out, hob_str s) {
    size_t n = hob_utf8_prefix(s, SHOWN);
    hob_json_quote(out, hob_str_first(s, n));
    if (n < s.n) hob_buf_addz(out, "...");
}

void hob_script_view_describe(const hob_script_view *v, hob_buf *out) {
    hob_buf_addz(out, "user ");
    add_quoted(out, v->user);
    hob_buf_addf(out, ", step %lld, turn %lld, messages %lld, attempt %lld", (long long)v->step,
                 (long long)v->turn, (long long)v->messages, (long long)v->attempt);
    if (!v->has_result) return;
    hob_buf_addf(out, ", tool \"%.*s\" %s with ", HOB_FMT(v->tool), v->failed ? "failed" : "ended");
    add_quoted(out, v->result);
}
