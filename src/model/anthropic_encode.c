/*
 * anthropic_encode.c - a request of Anthropic's Messages API.
 *
 * Messages alternate: all blocks of one side that follow each other are one message. The last group of user
 * blocks (the results of the last answer's calls, then what the user said) may still grow and carries the moving
 * cache mark, so it is the tail; all before it is kept. Cache marks stand on the last tool, on the system prompt
 * and on the last block of the last user message; the kept text has none.
 */
#include "model/encode.h"

#define MARK ",\"cache_control\":{\"type\":\"ephemeral\"}"

/* Where blocks go: the wire's text or the tail, with the message that is open there. */
typedef struct sink {
    hob_encoder *e;
    hob_buf *out;
    int role; /* hob_role, -1 = none */
} sink;

static void open_block(sink *s, hob_role role) {
    if (s->role == (int)role) {
        hob_buf_addc(s->out, ',');
        return;
    }
    if (s->role >= 0) hob_buf_addz(s->out, "]},");
    hob_buf_addz(s->out, role == HOB_ROLE_USER ? "{\"role\":\"user\",\"content\":["
                                               : "{\"role\":\"assistant\",\"content\":[");
    s->role = (int)role;
}

/* ---- blocks ------------------------------------------------------------------------------------------- */

static void write_text(hob_jsonw *w, const hob_json *text, const hob_json *citations) {
    hob_jsonw_object(w);
    hob_jsonw_kstr(w, "type", HOB_STR("text"));
    hob_jsonw_kraw(w, "text", hob_json_raw(text));
    if (citations) hob_jsonw_kraw(w, "citations", hob_json_raw(citations));
    hob_jsonw_object_end(w);
}

static void write_image(hob_jsonw *w, const hob_json *block) {
    hob_jsonw_object(w);
    hob_jsonw_kstr(w, "type", HOB_STR("image"));
    hob_jsonw_key(w, "source");
    hob_jsonw_object(w);
    hob_jsonw_kstr(w, "type", HOB_STR("base64"));
    hob_jsonw_kraw(w, "media_type", hob_json_raw(hob_json_get(block, "media_type")));
    hob_jsonw_kraw(w, "data", hob_json_raw(hob_json_get(block, "data")));
    hob_jsonw_object_end(w);
    hob_jsonw_object_end(w);
}

static void write_thinking(hob_jsonw *w, const hob_json *block) {
    hob_jsonw_object(w);
    hob_jsonw_kstr(w, "type", HOB_STR("thinking"));
    hob_jsonw_kraw(w, "thinking", hob_json_raw(hob_json_get(block, "text")));
    hob_jsonw_kraw(w, "signature", hob_json_raw(hob_json_get(block, "signature")));
    hob_jsonw_object_end(w);
}

/* Arguments that are no object cannot be sent here; the result says what was wrong with them. */
static void write_call(hob_jsonw *w, hob_encoder *e, const hob_json *block, bool own) {
    const hob_json *args = hob_json_get(block, "args");
    hob_jsonw_object(w);
    hob_jsonw_kstr(w, "type", HOB_STR("tool_use"));
    hob_jsonw_kstr(w, "id", hob_wire_call_id(e->wire, e->arena, block, own));
    hob_jsonw_kstr(w, "name", hob_call_name(e->arena, hob_json_get_str(block, "name")));
    hob_jsonw_kraw(w, "input",
                   hob_json_is(args, HOB_JSON_OBJECT) ? hob_json_raw(args) : HOB_STR("{}"));
    hob_jsonw_object_end(w);
}

/* ---- messages ----------------------------------------------------------------------------------------- */

static int write_user(sink *s, size_t i) {
    const hob_json *content;
    int rc = hob_encoder_content(s->e, hob_history_content(s->e->rq->history, i), &content);
    for (const hob_json *b = rc < 0 ? NULL : hob_json_first(content); b; b = hob_json_next(b)) {
        const hob_json *text = hob_block_text(b);
        hob_jsonw w;
        if (!text && !hob_block_is(b, "image")) continue;
        open_block(s, HOB_ROLE_USER);
        hob_jsonw_init(&w, s->out);
        if (text)
            write_text(&w, text, NULL);
        else
            write_image(&w, b);
    }
    return rc;
}

static bool may_send(const hob_json *block, bool own) {
    if (hob_block_is(block, "text")) return hob_block_text(block) != NULL;
    if (hob_block_is(block, "thinking")) return own && hob_json_get_str(block, "signature").n > 0;
    if (hob_block_is(block, "opaque"))
        return own && hob_json_is(hob_json_get(block, "raw"), HOB_JSON_OBJECT);
    return hob_block_is(block, "tool_call");
}

static void write_answer_block(sink *s, const hob_json *b, bool own) {
    hob_jsonw w;
    open_block(s, HOB_ROLE_ASSISTANT);
    hob_jsonw_init(&w, s->out);
    if (hob_block_is(b, "tool_call"))
        write_call(&w, s->e, b, own);
    else if (hob_block_is(b, "thinking"))
        write_thinking(&w, b);
    else if (hob_block_is(b, "opaque"))
        hob_jsonw_raw(&w, hob_json_raw(hob_json_get(b, "raw")));
    else
        write_text(&w, hob_json_get(b, "text"), own ? hob_json_get(b, "citations") : NULL);
}

static int write_answer(sink *s, size_t i) {
    const hob_json *content;
    bool own = hob_encoder_own(s->e, i), first = true, thinks = false;
    int rc = hob_encoder_content(s->e, hob_history_content(s->e->rq->history, i), &content);
    for (const hob_json *b = rc < 0 ? NULL : hob_json_first(content); b; b = hob_json_next(b)) {
        if (!may_send(b, own)) continue;
        if (first) thinks = hob_block_is(b, "thinking") || hob_block_is(b, "opaque");
        first = false;
        write_answer_block(s, b, own);
    }
    if (s->out == &s->e->wire->text) s->e->wire->thinks_first = thinks;
    return rc;
}

static void write_result_content(hob_jsonw *w, const hob_json *content) {
    bool any = false;
    for (const hob_json *b = hob_json_first(content); b; b = hob_json_next(b)) {
        const hob_json *text = hob_block_text(b);
        if (!text && !hob_block_is(b, "image")) continue;
        if (!any) {
            hob_jsonw_key(w, "content");
            hob_jsonw_array(w);
        }
        any = true;
        if (text)
            write_text(w, text, NULL);
        else
            write_image(w, b);
    }
    if (any) hob_jsonw_array_end(w);
}

static int write_result(sink *s, size_t i, size_t k, hob_str id) {
    const hob_history *h = s->e->rq->history;
    const hob_json *content;
    hob_jsonw w;
    int rc = hob_encoder_content(s->e, hob_history_result_content(h, i, k), &content);
    if (rc < 0) return rc;
    open_block(s, HOB_ROLE_USER);
    hob_jsonw_init(&w, s->out);
    hob_jsonw_object(&w);
    hob_jsonw_kstr(&w, "type", HOB_STR("tool_result"));
    hob_jsonw_kstr(&w, "tool_use_id", id);
    write_result_content(&w, content);
    if (hob_history_result_failed(h, i, k)) hob_jsonw_kbool(&w, "is_error", true);
    hob_jsonw_object_end(&w);
    return HOB_OK;
}

static int write_results(sink *s, size_t i) {
    const hob_history *h = s->e->rq->history;
    const hob_json *content;
    size_t k = 0, n = hob_history_results(h, i);
    if (n == 0) return HOB_OK;
    int rc = hob_encoder_content(s->e, hob_history_content(h, i), &content);
    const hob_json *b = rc < 0 ? NULL : hob_json_first(content);
    for (; b && rc == HOB_OK && k < n; b = hob_json_next(b)) {
        if (!hob_block_is(b, "tool_call")) continue;
        hob_str id = hob_wire_call_id(s->e->wire, s->e->arena, b, hob_encoder_own(s->e, i));
        rc = write_result(s, i, k++, id);
    }
    return rc;
}

/* Items [from, to), each behind the results of the one before it. */
static int write_items(sink *s, size_t from, size_t to) {
    const hob_history *h = s->e->rq->history;
    int rc = HOB_OK;
    for (size_t i = from; i < to && rc == HOB_OK; i++) {
        if (i > 0) rc = write_results(s, i - 1);
        if (rc == HOB_OK)
            rc = hob_history_role(h, i) == HOB_ROLE_USER ? write_user(s, i) : write_answer(s, i);
    }
    return rc;
}

/* ---- what is kept, what may change -------------------------------------------------------------------- */

static bool is_bare_answer(const hob_history *h, size_t i) {
    return hob_history_role(h, i) == HOB_ROLE_ASSISTANT && hob_history_results(h, i) == 0;
}

/* [*from, *to): the last group of user items. Its results are those of the item before it. Answers without calls
 * may follow it: the provider paused there and wants to go on. */
static void last_group(const hob_history *h, size_t *from, size_t *to) {
    size_t i = hob_history_count(h);
    while (i > 0 && is_bare_answer(h, i - 1)) i--;
    *to = i;
    while (i > 0 && hob_history_role(h, i - 1) == HOB_ROLE_USER) i--;
    *from = i;
}

static void mark_last_block(hob_buf *out) {
    if (out->err || out->n == 0) return;
    out->n--; /* its closing brace */
    hob_buf_addz(out, MARK "}");
}

static int encode_tail(sink *s, size_t from, size_t to) {
    int rc = from > 0 ? write_results(s, from - 1) : HOB_OK;
    for (size_t i = from; i < to && rc == HOB_OK; i++) rc = write_user(s, i);
    if (s->role == HOB_ROLE_USER) mark_last_block(s->out);
    for (size_t i = to; i < hob_history_count(s->e->rq->history) && rc == HOB_OK; i++)
        rc = write_answer(s, i);
    if (s->role >= 0) hob_buf_addz(s->out, "]}");
    hob_buf_addz(s->out, "]}"); /* of messages, of the body */
    return rc;
}

/* ---- the rest of the body ------------------------------------------------------------------------------ */

static int write_tools(hob_encoder *e) {
    hob_wire *w = e->wire;
    if (w->tools_n == e->rq->tools.n && w->tools_version == e->rq->tools_version) return HOB_OK;
    const hob_json *tools;
    hob_jsonw j;
    int rc = hob_encoder_content(e, e->rq->tools, &tools);
    if (rc < 0) return rc;
    hob_buf_reset(&w->tools);
    hob_jsonw_init(&j, &w->tools);
    hob_jsonw_array(&j);
    for (const hob_json *t = hob_json_first(tools); t; t = hob_json_next(t)) {
        hob_jsonw_object(&j);
        hob_jsonw_kraw(&j, "name", hob_json_raw(hob_json_get(t, "name")));
        hob_jsonw_kraw(&j, "description", hob_json_raw(hob_json_get(t, "description")));
        hob_jsonw_kraw(&j, "input_schema", hob_json_raw(hob_json_get(t, "schema")));
        hob_jsonw_object_end(&j);
        if (!hob_json_next(t)) mark_last_block(&w->tools);
    }
    hob_jsonw_array_end(&j);
    w->tools_n = e->rq->tools.n;
    w->tools_version = e->rq->tools_version;
    return HOB_OK;
}

static int write_head(hob_encoder *e, hob_buf *out, bool thought_first) {
    const hob_model_request *rq = e->rq;
    hob_jsonw w;
    int rc = rq->tools.n ? write_tools(e) : HOB_OK;
    hob_jsonw_init(&w, out);
    hob_jsonw_object(&w);
    hob_jsonw_kstr(&w, "model", rq->model);
    hob_jsonw_kint(&w, "max_tokens", rq->max_output);
    hob_jsonw_kbool(&w, "stream", true);
    if (hob_str_trim(rq->system).n) {
        hob_jsonw_key(&w, "system");
        hob_jsonw_array(&w);
        hob_jsonw_object(&w);
        hob_jsonw_kstr(&w, "type", HOB_STR("text"));
        hob_jsonw_kstr(&w, "text", rq->system);
        hob_jsonw_object_end(&w);
        mark_last_block(out);
        hob_jsonw_array_end(&w);
    }
    if (rq->tools.n) hob_jsonw_kraw(&w, "tools", hob_buf_str(&e->wire->tools));
    hob_thinking_anthropic(&w, rq, e->opts->thinking, thought_first);
    hob_jsonw_key(&w, "messages");
    hob_buf_addc(out, '[');
    return rc;
}

int hob_encode_anthropic(const hob_model_request *rq, const hob_encode_opts *o, hob_body *b,
                         hob_error *err) {
    hob_encoder e;
    size_t from, to;
    hob_encoder_init(&e, rq, o, "anthropic", b);
    e.err = err;
    hob_wire *wire = e.wire;
    size_t before = wire->text.n;
    last_group(rq->history, &from, &to);
    sink kept = {&e, &wire->text, wire->role};
    int rc = write_items(&kept, wire->covered, from);
    wire->role = kept.role;
    wire->covered = HOB_MAX(from, wire->covered);
    bool replies = from > 0 && hob_history_results(rq->history, from - 1) > 0;
    if (rc == HOB_OK) rc = write_head(&e, &b->head, !replies || wire->thinks_first);
    sink tail = {&e, &b->tail, wire->role};
    if (rc == HOB_OK) rc = encode_tail(&tail, from, to);
    rc = hob_encoder_finish(&e, b, before, rc);
    if (rc < 0) return rc;
    b->part[0] = hob_buf_str(&b->head);
    b->part[1] = hob_buf_str(&wire->text);
    b->part[2] = hob_buf_str(&b->tail);
    b->nparts = 3;
    return HOB_OK;
}
