/*
 * openai_chat_encode.c - a request of OpenAI's Chat Completions API.
 *
 * The system prompt is the first message and part of the head, so that it may change without the history being
 * encoded again. An answer is followed by one tool message a call, and by one user message with the images that
 * tools returned (a tool message holds text only). Nothing of this changes later: there is no tail but the ends.
 * Every message in the kept text has its comma before it.
 */
#include "model/encode.h"

/* ---- text ------------------------------------------------------------------------------------------------ */

/* The text blocks as one JSON string, joined by blank lines; `otherwise` if they say nothing. */
static void write_joined(hob_jsonw *w, const hob_json *content, const char *otherwise) {
    bool any = false;
    for (const hob_json *b = hob_json_first(content); b; b = hob_json_next(b)) {
        const hob_json *text = hob_block_text(b);
        if (!text) continue;
        if (!any)
            hob_jsonw_raw(w, HOB_STR("\""));
        else
            hob_buf_addz(w->out, "\\n\\n");
        hob_buf_add(w->out, hob_json_inner(text));
        any = true;
    }
    if (any)
        hob_buf_addc(w->out, '"');
    else
        hob_jsonw_raw(w, hob_str_z(otherwise));
}

static size_t count_of(const hob_json *content, const char *type) {
    size_t n = 0;
    for (const hob_json *b = hob_json_first(content); b; b = hob_json_next(b))
        n += hob_block_is(b, type);
    return n;
}

static void write_image(hob_jsonw *w, const hob_json *b) {
    hob_jsonw_object(w);
    hob_jsonw_kstr(w, "type", HOB_STR("image_url"));
    hob_jsonw_key(w, "image_url");
    hob_jsonw_object(w);
    hob_jsonw_key(w, "url");
    hob_jsonw_raw(w, HOB_STR("\"data:"));
    hob_buf_add(w->out, hob_json_inner(hob_json_get(b, "media_type")));
    hob_buf_addz(w->out, ";base64,");
    hob_buf_add(w->out, hob_json_inner(hob_json_get(b, "data")));
    hob_buf_addc(w->out, '"');
    hob_jsonw_object_end(w);
    hob_jsonw_object_end(w);
}

static void write_text_part(hob_jsonw *w, hob_str json) {
    hob_jsonw_object(w);
    hob_jsonw_kstr(w, "type", HOB_STR("text"));
    hob_jsonw_kraw(w, "text", json);
    hob_jsonw_object_end(w);
}

static void open_message(hob_jsonw *w, hob_buf *out, const char *role) {
    hob_buf_addc(out, ',');
    hob_jsonw_init(w, out);
    hob_jsonw_object(w);
    hob_jsonw_kstr(w, "role", hob_str_z(role));
}

/* ---- messages --------------------------------------------------------------------------------------------- */

static void write_parts(hob_jsonw *w, const hob_json *content) {
    hob_jsonw_array(w);
    for (const hob_json *b = hob_json_first(content); b; b = hob_json_next(b)) {
        const hob_json *text = hob_block_text(b);
        if (text)
            write_text_part(w, hob_json_raw(text));
        else if (hob_block_is(b, "image"))
            write_image(w, b);
    }
    hob_jsonw_array_end(w);
}

static bool says_something(const hob_json *content) {
    for (const hob_json *b = hob_json_first(content); b; b = hob_json_next(b)) {
        if (hob_block_text(b) || hob_block_is(b, "image")) return true;
    }
    return false;
}

static int write_user(hob_encoder *e, size_t i) {
    const hob_json *content;
    hob_jsonw w;
    int rc = hob_encoder_content(e, hob_history_content(e->rq->history, i), &content);
    if (rc < 0 || !says_something(content)) return rc;
    open_message(&w, &e->wire->text, "user");
    hob_jsonw_key(&w, "content");
    if (count_of(content, "image"))
        write_parts(&w, content);
    else
        write_joined(&w, content, "\"\"");
    hob_jsonw_object_end(&w);
    return HOB_OK;
}

/* Arguments that are no object go back as an empty one: servers that parse them again would refuse this
 * and every later request. The result says what was wrong with them. */
static void write_call(hob_jsonw *w, hob_encoder *e, const hob_json *b, bool own) {
    const hob_json *args = hob_json_get(b, "args");
    hob_jsonw_object(w);
    hob_jsonw_kstr(w, "id", hob_wire_call_id(e->wire, e->arena, b, own));
    hob_jsonw_kstr(w, "type", HOB_STR("function"));
    hob_jsonw_key(w, "function");
    hob_jsonw_object(w);
    hob_jsonw_kstr(w, "name", hob_call_name(e->arena, hob_json_get_str(b, "name")));
    hob_jsonw_kstr(w, "arguments",
                   hob_json_is(args, HOB_JSON_OBJECT) ? hob_json_raw(args) : HOB_STR("{}"));
    hob_jsonw_object_end(w);
    hob_jsonw_object_end(w);
}

static void write_calls(hob_jsonw *w, hob_encoder *e, const hob_json *content, bool own) {
    hob_jsonw_key(w, "tool_calls");
    hob_jsonw_array(w);
    for (const hob_json *b = hob_json_first(content); b; b = hob_json_next(b)) {
        if (hob_block_is(b, "tool_call")) write_call(w, e, b, own);
    }
    hob_jsonw_array_end(w);
}

static void write_reasoning(hob_jsonw *w, const hob_json *content) {
    if (count_of(content, "thinking") == 0) return;
    hob_jsonw_key(w, "reasoning_content");
    hob_jsonw_raw(w, HOB_STR("\""));
    for (const hob_json *b = hob_json_first(content); b; b = hob_json_next(b)) {
        if (hob_block_is(b, "thinking"))
            hob_buf_add(w->out, hob_json_inner(hob_json_get(b, "text")));
    }
    hob_buf_addc(w->out, '"');
}

static void write_answer(hob_encoder *e, size_t i, const hob_json *content) {
    hob_jsonw w;
    bool own = hob_encoder_own(e, i);
    size_t calls = count_of(content, "tool_call");
    if (!calls && !says_something(content)) return;
    open_message(&w, &e->wire->text, "assistant");
    hob_jsonw_key(&w, "content");
    write_joined(&w, content, "null");
    if (calls && own && e->opts->echo_reasoning) write_reasoning(&w, content);
    if (calls) write_calls(&w, e, content, own);
    hob_jsonw_object_end(&w);
}

/* ---- results ------------------------------------------------------------------------------------------------ */

static void write_result(hob_encoder *e, hob_str id, const hob_json *content) {
    hob_jsonw w;
    bool image = count_of(content, "image") > 0;
    open_message(&w, &e->wire->text, "tool");
    hob_jsonw_kstr(&w, "tool_call_id", id);
    hob_jsonw_key(&w, "content");
    write_joined(&w, content, image ? "\"(the image follows)\"" : "\"(no output)\"");
    hob_jsonw_object_end(&w);
}

/* Images of all results of one answer, each behind the name of its call. */
static void write_result_images(hob_jsonw *w, hob_encoder *e, hob_str id, const hob_json *content) {
    if (count_of(content, "image") == 0) return;
    if (w->depth == 0) {
        open_message(w, &e->wire->text, "user");
        hob_jsonw_key(w, "content");
        hob_jsonw_array(w);
    }
    hob_buf label;
    hob_buf_init(&label, 256);
    hob_buf_addf(&label, "Image returned by tool call %.*s:", HOB_FMT(hob_str_first(id, 100)));
    hob_jsonw_object(w);
    hob_jsonw_kstr(w, "type", HOB_STR("text"));
    hob_jsonw_kstr(w, "text", hob_buf_str(&label));
    hob_jsonw_object_end(w);
    for (const hob_json *b = hob_json_first(content); b; b = hob_json_next(b)) {
        if (hob_block_is(b, "image")) write_image(w, b);
    }
    hob_buf_finish(&label);
}

/* Pass 1 writes the tool messages, pass 2 the message with their images: it must follow them all. */
static int write_results(hob_encoder *e, size_t i, const hob_json *content, int pass) {
    const hob_history *h = e->rq->history;
    size_t k = 0, n = hob_history_results(h, i);
    hob_jsonw images = {0};
    for (const hob_json *b = hob_json_first(content); b && k < n; b = hob_json_next(b)) {
        const hob_json *result;
        if (!hob_block_is(b, "tool_call")) continue;
        int rc = hob_encoder_content(e, hob_history_result_content(h, i, k++), &result);
        if (rc < 0) return rc;
        hob_str id = hob_wire_call_id(e->wire, e->arena, b, hob_encoder_own(e, i));
        if (pass == 1)
            write_result(e, id, result);
        else
            write_result_images(&images, e, id, result);
    }
    if (images.depth) {
        hob_jsonw_array_end(&images);
        hob_jsonw_object_end(&images);
    }
    return HOB_OK;
}

static int write_turn(hob_encoder *e, size_t i) {
    const hob_json *content;
    int rc = hob_encoder_content(e, hob_history_content(e->rq->history, i), &content);
    if (rc < 0) return rc;
    write_answer(e, i, content);
    rc = write_results(e, i, content, 1);
    return rc < 0 ? rc : write_results(e, i, content, 2);
}

/* ---- the rest of the body -------------------------------------------------------------------------------------- */

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
        hob_jsonw_kstr(&j, "type", HOB_STR("function"));
        hob_jsonw_key(&j, "function");
        hob_jsonw_object(&j);
        hob_jsonw_kraw(&j, "name", hob_json_raw(hob_json_get(t, "name")));
        hob_jsonw_kraw(&j, "description", hob_json_raw(hob_json_get(t, "description")));
        hob_jsonw_kraw(&j, "parameters", hob_json_raw(hob_json_get(t, "schema")));
        hob_jsonw_object_end(&j);
        hob_jsonw_object_end(&j);
    }
    hob_jsonw_array_end(&j);
    w->tools_n = e->rq->tools.n;
    w->tools_version = e->rq->tools_version;
    return HOB_OK;
}

static void write_parameters(hob_jsonw *w, const hob_encoder *e) {
    const hob_model_request *rq = e->rq;
    const char *effort = hob_thinking_effort(rq->model, e->opts->thinking, rq->thinking);
    hob_jsonw_kstr(w, "model", rq->model);
    hob_jsonw_kint(w, e->opts->old_max_tokens ? "max_tokens" : "max_completion_tokens",
                   rq->max_output);
    hob_jsonw_kbool(w, "stream", true);
    hob_jsonw_kraw(w, "stream_options", HOB_STR("{\"include_usage\":true}"));
    if (rq->tools.n) hob_jsonw_kraw(w, "tools", hob_buf_str(&e->wire->tools));
    if (effort) hob_jsonw_kstr(w, "reasoning_effort", hob_str_z(effort));
    if (e->opts->cache_key) hob_jsonw_kstr_opt(w, "prompt_cache_key", rq->session);
}

static int write_head(hob_encoder *e, hob_buf *out) {
    const hob_model_request *rq = e->rq;
    hob_jsonw w;
    int rc = rq->tools.n ? write_tools(e) : HOB_OK;
    hob_jsonw_init(&w, out);
    hob_jsonw_object(&w);
    write_parameters(&w, e);
    hob_jsonw_key(&w, "messages");
    hob_jsonw_array(&w);
    if (hob_str_trim(rq->system).n) {
        hob_jsonw_object(&w);
        hob_jsonw_kstr(&w, "role", HOB_STR("system"));
        hob_jsonw_kstr(&w, "content", rq->system);
        hob_jsonw_object_end(&w);
    }
    return rc;
}

int hob_encode_openai_chat(const hob_model_request *rq, const hob_encode_opts *o, hob_body *b,
                           hob_error *err) {
    hob_encoder e;
    hob_encoder_init(&e, rq, o, "openai-chat", b);
    e.err = err;
    hob_wire *wire = e.wire;
    size_t before = wire->text.n;
    int rc = HOB_OK;
    for (; wire->covered < hob_history_count(rq->history) && rc == HOB_OK; wire->covered++) {
        size_t i = wire->covered;
        rc = hob_history_role(rq->history, i) == HOB_ROLE_USER ? write_user(&e, i)
                                                               : write_turn(&e, i);
    }
    if (rc == HOB_OK) rc = write_head(&e, &b->head);
    hob_buf_addz(&b->tail, "]}");
    rc = hob_encoder_finish(&e, b, before, rc);
    if (rc < 0) return rc;
    bool first =
        b->head.p[b->head.n - 1] == '['; /* no system prompt: the first comma is too much */
    b->part[0] = hob_buf_str(&b->head);
    b->part[1] = first ? hob_str_skip(hob_buf_str(&wire->text), 1) : hob_buf_str(&wire->text);
    b->part[2] = hob_buf_str(&b->tail);
    b->nparts = 3;
    return HOB_OK;
}
