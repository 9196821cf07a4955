/*
 * interrupt.c - a run that ends with questions.
 */
#include "agui/agui.h"

enum { INTERRUPTS_MAX = 1024 };

static int check_call(const hob_agui_session *s, hob_str id, hob_error *err) {
    const hob_agui_call *c = hob_agui_known_call(s, id);
    hob_str shown = hob_str_first(id, hob_utf8_prefix(id, 100));
    if (!c) return hob_fail(err, HOB_ENOENT, 0, "the thread has no call \"%.*s\"", HOB_FMT(shown));
    if (!c->answered) return 0;
    return hob_fail(err, HOB_EEXIST, 0, "the call \"%.*s\" has its result", HOB_FMT(shown));
}

static int check(hob_agui_session *s, const hob_agui_interrupt *q, hob_error *err) {
    if (q->size < sizeof *q)
        return hob_fail(err, HOB_EINVAL, 0, "the interrupt has no size; begin with its INIT");
    int rc = q->id.n ? hob_agui_need_id("interrupt's id", q->id, err) : 0;
    if (rc == 0 && q->tool_call.n) rc = check_call(s, q->tool_call, err);
    if (rc == 0 && q->response_schema.n)
        rc = hob_agui_need_json(s, "response schema", q->response_schema, HOB_JSON_OBJECT, NULL,
                                err);
    if (rc == 0 && q->metadata.n)
        rc = hob_agui_need_json(s, "interrupt's metadata", q->metadata, HOB_JSON_OBJECT, NULL, err);
    return rc;
}

static int check_all(hob_agui_session *s, const hob_agui_interrupt *all, size_t n, hob_error *err) {
    if (!n || n > INTERRUPTS_MAX)
        return hob_fail(err, n ? HOB_ETOOBIG : HOB_EINVAL, 0, "1 to %d interrupts end a run",
                        INTERRUPTS_MAX);
    hob_map *ids = hob_map_create();
    int rc = 0;
    for (size_t i = 0; i < n && rc == 0; i++) {
        rc = check(s, &all[i], err);
        if (rc == 0 && all[i].id.n && hob_map_put(ids, all[i].id, s))
            rc = hob_fail(err, HOB_EEXIST, 0, "two interrupts have the same id");
    }
    hob_map_destroy(ids);
    return rc;
}

static void put(hob_jsonw *w, const hob_agui_interrupt *q) {
    char made[37];
    hob_agui_make_id(made);
    hob_jsonw_object(w);
    hob_jsonw_kstr(w, "id", q->id.n ? q->id : hob_str_z(made));
    hob_jsonw_kstr(w, "reason", q->reason.n ? q->reason : HOB_STR("confirmation"));
    hob_jsonw_kstr_opt(w, "message", q->message);
    hob_jsonw_kstr_opt(w, "toolCallId", q->tool_call);
    if (q->response_schema.n) hob_jsonw_kraw(w, "responseSchema", q->response_schema);
    hob_jsonw_kstr_opt(w, "expiresAt", q->expires_at);
    if (q->metadata.n) hob_jsonw_kraw(w, "metadata", q->metadata);
    hob_jsonw_kstr_opt(w, "subagentRunId", q->subagent);
    hob_jsonw_object_end(w);
}

int hob_agui_run_interrupt_all(hob_agui_session *s, const hob_agui_interrupt *all, size_t n,
                               hob_error *err) {
    int rc = hob_agui_need_run(s, err);
    if (rc == 0) rc = check_all(s, all, n, err);
    if (rc == 0) rc = hob_agui_item_close_all(s, NULL, HOB_WHY_INTERRUPT, err);
    if (rc < 0) return rc;
    hob_jsonw *w = hob_agui_begin_finished(s);
    hob_jsonw_key(w, "outcome");
    hob_jsonw_object(w);
    hob_jsonw_kstr(w, "type", HOB_STR("interrupt"));
    hob_jsonw_key(w, "interrupts");
    hob_jsonw_array(w);
    for (size_t i = 0; i < n; i++) put(w, &all[i]);
    hob_jsonw_array_end(w);
    hob_jsonw_object_end(w);
    return hob_agui_send_end(s, HOB_PHASE_FINISHED, err);
}

/* Metadata is an object; another payload becomes a member of one. */
static int with_payload(hob_agui_session *s, hob_agui_interrupt *q, hob_str payload,
                        hob_error *err) {
    const hob_json *v = NULL;
    hob_arena_reset(s->scratch);
    int rc = payload.n ? hob_agui_need_json(s, "payload", payload, -1, &v, err) : 0;
    if (rc < 0) return rc;
    hob_buf wrapped;
    hob_buf_init(&wrapped, HOB_AGUI_FRAME_MAX);
    if (v && !hob_json_is(v, HOB_JSON_OBJECT)) {
        hob_buf_addz(&wrapped, "{\"payload\":");
        hob_buf_add(&wrapped, payload);
        hob_buf_addz(&wrapped, "}");
        payload = hob_buf_str(&wrapped);
    }
    q->metadata = payload;
    rc = wrapped.err ? hob_fail(err, HOB_ETOOBIG, 0, "the payload is too large")
                     : hob_agui_run_interrupt_all(s, q, 1, err);
    hob_buf_finish(&wrapped);
    return rc;
}

int hob_agui_run_interrupt_with_id(hob_agui_session *s, hob_str id, hob_str reason, hob_str payload,
                                   hob_error *err) {
    hob_agui_interrupt q = HOB_AGUI_INTERRUPT_INIT;
    int rc = hob_agui_need_id("interrupt's id", id, err);
    if (rc < 0) return rc;
    q.id = id;
    q.reason = reason;
    return with_payload(s, &q, payload, err);
}

int hob_agui_run_interrupt(hob_agui_session *s, hob_str reason, hob_str payload, char *id,
                           hob_error *err) {
    char made[37];
    hob_agui_make_id(made);
    int rc = hob_agui_run_interrupt_with_id(s, hob_str_z(made), reason, payload, err);
    if (id && hob_agui_happened(rc)) memcpy(id, made, sizeof made);
    return rc;
}
