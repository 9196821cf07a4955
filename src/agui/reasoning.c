/*
 * reasoning.c - spans of reasoning, the messages in them, and the conversation told anew.
 */
#include "agui/agui.h"

#include "agui/shape.h"

static int start(hob_agui_session *s, hob_agui_space space, hob_str id, const hob_agui_extra *x,
                 hob_error *err) {
    bool span = space == HOB_SPACE_SPAN;
    int rc = hob_agui_need_run(s, err);
    if (rc == 0) rc = hob_agui_need_extra(s, x, err);
    if (rc == 0) rc = hob_agui_item_may(s, space, HOB_STR_NULL, id, err);
    if (rc == 0 && !span) rc = hob_agui_may_begin(s, id, x, err);
    if (rc < 0) return rc;
    hob_jsonw *w =
        hob_agui_begin(s, span ? HOB_AGUI_REASONING_START : HOB_AGUI_REASONING_MESSAGE_START);
    hob_jsonw_kstr(w, "messageId", id);
    if (!span) hob_jsonw_kstr(w, "role", HOB_STR("reasoning"));
    hob_agui_put_extra(s, x);
    rc = hob_agui_send(s, err);
    if (!hob_agui_happened(rc)) return rc;
    if (!span) hob_agui_known_add_message(s, id, hob_agui_owner(x), true);
    hob_agui_item_add(s, space, hob_agui_owner(x), id);
    return rc;
}

int hob_agui_reasoning_start(hob_agui_session *s, hob_str id, const hob_agui_extra *x,
                             hob_error *err) {
    return start(s, HOB_SPACE_SPAN, id, x, err);
}

int hob_agui_reasoning_end(hob_agui_session *s, hob_str id, hob_error *err) {
    return hob_agui_end(s, HOB_SPACE_SPAN, id, err);
}

int hob_agui_reasoning_message_start(hob_agui_session *s, hob_str id, const hob_agui_extra *x,
                                     hob_error *err) {
    return start(s, HOB_SPACE_THOUGHT, id, x, err);
}

int hob_agui_reasoning_message_content(hob_agui_session *s, hob_str id, hob_str delta,
                                       hob_error *err) {
    return hob_agui_piece(s, HOB_SPACE_THOUGHT, id, delta, err);
}

int hob_agui_reasoning_message_end(hob_agui_session *s, hob_str id, hob_error *err) {
    return hob_agui_end(s, HOB_SPACE_THOUGHT, id, err);
}

int hob_agui_start_thinking(hob_agui_session *s, hob_str title, char id[37], hob_error *err) {
    char made[37];
    hob_agui_extra x = HOB_AGUI_EXTRA_INIT;
    hob_buf metadata;
    hob_jsonw w;
    hob_agui_make_id(made);
    hob_buf_init(&metadata, 1 << 16);
    hob_jsonw_init(&w, &metadata);
    hob_jsonw_object(&w);
    hob_jsonw_kstr(&w, "title", title);
    hob_jsonw_object_end(&w);
    if (title.n) x.metadata = hob_buf_str(&metadata);
    int rc = metadata.err ? hob_fail(err, HOB_ETOOBIG, 0, "the title is too long")
                          : hob_agui_reasoning_start(s, hob_str_z(made), &x, err);
    hob_buf_finish(&metadata);
    if (hob_agui_happened(rc)) memcpy(id, made, sizeof made);
    return rc;
}

int hob_agui_reasoning_encrypted(hob_agui_session *s, hob_agui_entity of, hob_str id, hob_str value,
                                 hob_error *err) {
    bool call = of == HOB_AGUI_OF_TOOL_CALL;
    int rc = hob_agui_need_run(s, err);
    if (rc < 0) return rc;
    if (call ? !hob_agui_known_call(s, id) : !hob_agui_known_message(s, id))
        return hob_fail(err, HOB_ENOENT, 0, "the thread has no such %s", call ? "call" : "message");
    hob_jsonw *w = hob_agui_begin(s, HOB_AGUI_REASONING_ENCRYPTED_VALUE);
    hob_jsonw_kstr(w, "subtype", call ? HOB_STR("tool-call") : HOB_STR("message"));
    hob_jsonw_kstr(w, "entityId", id);
    hob_jsonw_kstr(w, "encryptedValue", value);
    return hob_agui_send(s, err);
}

/* ---- what has a shape of its own ------------------------------------------------------------------------- */

/* A member of an object by a table, and nothing in it that a client would have to pass over. */
static int need_shape(hob_agui_session *s, const hob_shape *table, const char *key, hob_str value,
                      const hob_json **out, hob_error *err) {
    hob_buf text, clean;
    hob_shape_check c;
    const hob_json *v = NULL;
    hob_buf_init(&text, HOB_AGUI_FRAME_MAX);
    hob_buf_init(&clean, HOB_AGUI_FRAME_MAX * 2);
    hob_buf_addf(&text, "{\"%s\":", key);
    hob_buf_add(&text, value);
    hob_buf_addz(&text, "}");
    hob_str whole = hob_arena_dup(s->scratch, hob_buf_str(&text));
    int rc = text.err ? hob_fail(err, HOB_ETOOBIG, 0, "the %s are too large", key)
                      : hob_agui_need_json(s, key, whole, HOB_JSON_OBJECT, &v, err);
    hob_shape_init(&c, s->scratch, &clean, err);
    c.lenient = s->dialect == HOB_AGUI_OLDER;
    if (rc == 0) rc = hob_shape_object(&c, table, v);
    if (rc == HOB_EPARSE) rc = HOB_EINVAL;
    if (rc == 0 && c.nwarnings) rc = hob_fail(err, HOB_EINVAL, 0, "%.*s", HOB_FMT(c.warnings[0]));
    if (rc == 0) *out = hob_json_get(v, key);
    hob_shape_finish(&c);
    hob_buf_finish(&text);
    hob_buf_finish(&clean);
    return rc;
}

int hob_agui_need_parts(hob_agui_session *s, hob_str parts_json, const hob_json **out,
                        hob_error *err) {
    int rc = need_shape(s, hob_shape_parts, "content", parts_json, out, err);
    if (rc == 0 && !hob_json_is(*out, HOB_JSON_ARRAY))
        return hob_fail(err, HOB_EINVAL, 0, "parts are a JSON array");
    return rc;
}

int hob_agui_messages_snapshot(hob_agui_session *s, hob_str messages_json, hob_error *err) {
    const hob_json *messages;
    int rc = hob_agui_need_run(s, err);
    if (rc == 0) rc = need_shape(s, hob_shape_messages, "messages", messages_json, &messages, err);
    if (rc == 0) rc = hob_agui_known_room(s, err);
    if (rc < 0) return rc;
    hob_jsonw *w = hob_agui_begin(s, HOB_AGUI_MESSAGES_SNAPSHOT);
    hob_jsonw_kraw(w, "messages", messages_json);
    rc = hob_agui_send(s, err);
    if (!hob_agui_happened(rc)) return rc;
    s->snapshots++;
    hob_agui_known_read(s, messages);
    hob_agui_tidy(s);
    return rc;
}
