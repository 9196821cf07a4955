/*
 * prompt.c - session/prompt: from the editor's blocks to hob's, and from the end of the run to a stop reason; and
 * session/cancel.
 */
#include "acp/acp.h"

#define CONTENT_MAX (32u << 20)

/* ---- content -------------------------------------------------------------------------------- */

static void write_text(hob_jsonw *w, hob_str text) {
    hob_jsonw_object(w);
    hob_jsonw_kstr(w, "type", HOB_STR("text"));
    hob_jsonw_kstr(w, "text", text);
    hob_jsonw_object_end(w);
}

static int write_image(hob_jsonw *w, hob_str type, hob_str data, hob_error *err) {
    static const char *const types[] = {"image/png", "image/jpeg", "image/gif", "image/webp"};
    size_t i = 0;
    while (i < HOB_ARRAY_LEN(types) && !hob_str_eqz(type, types[i])) i++;
    if (i == HOB_ARRAY_LEN(types) || !data.n)
        return hob_fail(err, HOB_EINVAL, 0,
                        "an image of type '%.*s' cannot be put into a prompt: png, jpeg, gif and "
                        "webp can",
                        HOB_FMT(hob_str_first(type, hob_utf8_prefix(type, 60))));
    hob_jsonw_object(w);
    hob_jsonw_kstr(w, "type", HOB_STR("image"));
    hob_jsonw_kstr(w, "media_type", type);
    hob_jsonw_kstr(w, "data", data);
    hob_jsonw_object_end(w);
    return HOB_OK;
}

/* A file that the user pointed at: the model opens it if it wants to. */
static void write_link(hob_jsonw *w, const hob_json *block) {
    hob_buf text;
    hob_buf_init(&text, 64 * 1024);
    hob_buf_addf(&text, "[@%.*s](%.*s)", HOB_FMT(hob_json_get_str(block, "name")),
                 HOB_FMT(hob_json_get_str(block, "uri")));
    write_text(w, hob_buf_str(&text));
    hob_buf_finish(&text);
}

static void write_embedded(hob_jsonw *w, hob_str uri, hob_str content) {
    hob_buf text;
    hob_buf_init(&text, CONTENT_MAX);
    hob_buf_addf(&text, "<resource uri=\"%.*s\">\n", HOB_FMT(uri));
    hob_buf_add(&text, content);
    hob_buf_addz(&text, hob_str_ends(content, HOB_STR("\n")) ? "</resource>" : "\n</resource>");
    write_text(w, hob_buf_str(&text));
    if (text.err) w->out->err = text.err;
    hob_buf_finish(&text);
}

static int write_resource(hob_jsonw *w, const hob_json *r, hob_error *err) {
    hob_str uri = hob_json_get_str(r, "uri"), type = hob_json_get_str(r, "mimeType");
    if (hob_json_is(hob_json_get(r, "text"), HOB_JSON_STRING)) {
        write_embedded(w, uri, hob_json_get_str(r, "text"));
        return HOB_OK;
    }
    if (!hob_str_starts(type, HOB_STR("image/")))
        return hob_fail(err, HOB_EINVAL, 0,
                        "a resource of type %.*s cannot be put into a prompt: text and images can",
                        HOB_FMT(hob_str_first(type, hob_utf8_prefix(type, 60))));
    return write_image(w, type, hob_json_get_str(r, "blob"), err);
}

static int write_block(hob_jsonw *w, const hob_json *b, hob_error *err) {
    hob_str type = hob_json_get_str(b, "type");
    if (hob_str_eqz(type, "text"))
        write_text(w, hob_json_get_str(b, "text"));
    else if (hob_str_eqz(type, "image"))
        return write_image(w, hob_json_get_str(b, "mimeType"), hob_json_get_str(b, "data"), err);
    else if (hob_str_eqz(type, "resource_link"))
        write_link(w, b);
    else if (hob_str_eqz(type, "resource"))
        return write_resource(w, hob_json_get(b, "resource"), err);
    else
        return hob_fail(err, HOB_EINVAL, 0,
                        "a block of type '%.*s' cannot be put into a prompt: text, image, "
                        "resource_link and resource can",
                        HOB_FMT(hob_str_first(type, hob_utf8_prefix(type, 60))));
    return HOB_OK;
}

static int read_content(const hob_json *prompt, hob_buf *out, hob_error *err) {
    hob_jsonw w;
    int code = HOB_OK;
    if (!hob_json_first(prompt)) return hob_fail(err, HOB_EINVAL, 0, "`prompt` is empty");
    hob_jsonw_init(&w, out);
    hob_jsonw_array(&w);
    for (const hob_json *b = hob_json_first(prompt); b && code >= 0; b = hob_json_next(b))
        code = write_block(&w, b, err);
    hob_jsonw_array_end(&w);
    if (code < 0) return code;
    return out->err ? hob_fail(err, HOB_ETOOBIG, 0, "the prompt is over %u MiB", CONTENT_MAX >> 20)
                    : HOB_OK;
}

/* ---- the prompt ----------------------------------------------------------------------------- */

static int check_state(const hob_acp_session *s, hob_error *err) {
    switch (s->state) {
    case HOB_ACP_IDLE: return HOB_OK;
    case HOB_ACP_WORKING:
        return hob_fail(err, HOB_EBUSY, 0,
                        "a prompt is under way in this session: wait for its answer, or cancel it");
    case HOB_ACP_CLOSING: return hob_fail(err, HOB_EBUSY, 0, "the session is being closed");
    }
    return HOB_EINVAL;
}

static void tell_remarks(hob_acp_session *s) {
    if (!s->remarks.n) return;
    hob_acp_tell(s, "warning", hob_buf_z(&s->remarks));
    hob_buf_reset(&s->remarks);
}

static void begin(hob_acp_session *s, hob_str id) {
    s->state = HOB_ACP_WORKING;
    s->begun = false;
    s->stop[0] = s->status[0] = s->limit[0] = 0;
    s->failure = (hob_error){.code = HOB_OK};
    hob_buf_reset(&s->usage);
    hob_buf_reset(&s->waiting);
    hob_buf_add(&s->waiting, id);
}

/* A run that was paused elsewhere goes on, and the prompt follows it: the protocol knows no other way to say so. */
static int go_on(hob_acp_session *s, hob_str content, hob_error *err) {
    int code = hob_session_send(s->s, HOB_SEND_FOLLOW_UP, content, NULL, err);
    if (code >= 0) code = hob_session_resume(s->s, err);
    return code;
}

int hob_acp_prompt(hob_acp_request *q, hob_error *err) {
    hob_acp_session *s = q->s;
    hob_buf content;
    int code = check_state(s, err);
    if (code < 0) return code;
    hob_buf_init(&content, CONTENT_MAX);
    code = read_content(hob_json_get(q->params, "prompt"), &content, err);
    bool paused = code >= 0 && hob_acp_is_paused(s);
    if (code >= 0)
        code = paused ? go_on(s, hob_buf_str(&content), err)
                      : hob_session_prompt_content(s->s, hob_buf_str(&content), err);
    hob_buf_finish(&content);
    if (code < 0) return code;
    begin(s, q->id);
    s->begun = paused;
    tell_remarks(s);
    return HOB_OK;
}

/* ---- its end -------------------------------------------------------------------------------- */

/* An answer that was cut at its length is a limit of the model's, of which there is no event. */
static const char *limit_reason(const hob_acp_session *s) {
    bool cut = !s->limit[0] && !strcmp(s->stop, "length");
    bool tokens = !strcmp(s->limit, "tokens") || !strcmp(s->limit, "quota_tokens");
    return cut || tokens ? "max_tokens" : "max_turn_requests";
}

/* NULL: it failed. */
static const char *stop_reason(const hob_acp_session *s) {
    if (!strcmp(s->status, "cancelled")) return "cancelled";
    if (!strcmp(s->status, "limit")) return limit_reason(s);
    if (!strcmp(s->stop, "refusal")) return "refusal";
    return strcmp(s->status, "completed") ? NULL : "end_turn";
}

static void answer(hob_acp_session *s, const char *reason) {
    hob_buf b;
    hob_jsonw w;
    hob_buf_init(&b, 8192);
    hob_jsonw_init(&w, &b);
    hob_jsonw_object(&w);
    hob_jsonw_kstr(&w, "stopReason", hob_str_z(reason));
    if (s->usage.n) hob_jsonw_kraw(&w, "usage", hob_buf_str(&s->usage));
    hob_jsonw_object_end(&w);
    hob_acp_result(s->acp, hob_buf_str(&s->waiting), hob_buf_str(&b));
    hob_buf_finish(&b);
}

void hob_acp_prompt_end(hob_acp_session *s) {
    const char *reason = stop_reason(s);
    if (!reason && !s->failure.code)
        hob_fail(&s->failure, HOB_EAGENT, 0, "the run ended without an answer (%s)", s->status);
    if (reason)
        answer(s, reason);
    else
        hob_acp_refuse(s->acp, hob_buf_str(&s->waiting), &s->failure);
    s->state = HOB_ACP_IDLE;
}

void hob_acp_prompt_cancelled(hob_acp_session *s) {
    answer(s, "cancelled");
    s->state = HOB_ACP_IDLE;
}

/* ---- cancel --------------------------------------------------------------------------------- */

int hob_acp_cancel(hob_acp_request *q, hob_error *err) {
    if (hob_session_is_running(q->s->s) <= 0) return HOB_OK;
    return hob_session_cancel(q->s->s, HOB_QUEUED_DROP, err);
}

/* Of our requests only a prompt takes long enough to be taken back. */
int hob_acp_cancel_request(hob_acp_request *q, hob_error *err) {
    hob_str id = hob_json_raw(hob_json_get(q->params, "requestId"));
    HOB_LIST_EACH (it, &q->acp->sessions) {
        hob_acp_session *s = HOB_CONTAINER(it, hob_acp_session, link);
        if (s->state != HOB_ACP_WORKING || !hob_str_eq(id, hob_buf_str(&s->waiting))) continue;
        return hob_session_cancel(s->s, HOB_QUEUED_DROP, err);
    }
    return HOB_OK;
}
