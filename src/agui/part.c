/*
 * part.c - steps, sub-agents, and events that the protocol leaves to its users.
 */
#include "agui/agui.h"

int hob_agui_step_start(hob_agui_session *s, hob_str name, const hob_agui_extra *x,
                        hob_error *err) {
    int rc = hob_agui_need_run(s, err);
    if (rc == 0) rc = hob_agui_need_extra(s, x, err);
    if (rc == 0) rc = hob_agui_item_may(s, HOB_SPACE_STEP, hob_agui_owner(x), name, err);
    if (rc < 0) return rc;
    hob_jsonw *w = hob_agui_begin(s, HOB_AGUI_STEP_STARTED);
    hob_jsonw_kstr(w, "stepName", name);
    hob_agui_put_extra(s, x);
    rc = hob_agui_send(s, err);
    if (hob_agui_happened(rc)) hob_agui_item_add(s, HOB_SPACE_STEP, hob_agui_owner(x), name);
    return rc;
}

int hob_agui_step_finish(hob_agui_session *s, hob_str name, hob_str subagent, hob_error *err) {
    int rc = hob_agui_need_run(s, err);
    if (rc < 0) return rc;
    hob_agui_item *item = hob_agui_item_get(s, HOB_SPACE_STEP, subagent, name);
    if (!item) return hob_fail(err, HOB_ENOENT, 0, "that agent has no such step open");
    return hob_agui_item_close(s, item, HOB_WHY_FINISH, err);
}

/* ---- sub-agents ------------------------------------------------------------------------------------------ */

static int may_send_out(hob_agui_session *s, hob_str id, const hob_agui_extra *x, hob_error *err) {
    int rc = hob_agui_item_may(s, HOB_SPACE_SUBAGENT, HOB_STR_NULL, id, err);
    if (rc < 0) return rc;
    if (hob_map_get(s->subagents, id))
        return hob_fail(err, HOB_EEXIST, 0, "the run had that sub-agent already; take a new id");
    if (hob_map_count(s->subagents) >= HOB_AGUI_KNOWN_MAX)
        return hob_fail(err, HOB_ETOOBIG, 0, "the run had %d sub-agents", HOB_AGUI_KNOWN_MAX);
    if (x && x->parent_subagent.n && !hob_map_get(s->subagents, x->parent_subagent))
        return hob_fail(err, HOB_ENOENT, 0, "its parent was not started in this run");
    return 0;
}

int hob_agui_subagent_start(hob_agui_session *s, hob_str id, hob_str name, const hob_agui_extra *x,
                            hob_error *err) {
    int rc = hob_agui_need_run(s, err);
    if (rc == 0) rc = hob_agui_need_extra(s, x, err);
    if (rc == 0) rc = hob_agui_need_id("sub-agent's name", name, err);
    if (rc == 0) rc = may_send_out(s, id, x, err);
    if (rc < 0) return rc;
    hob_jsonw *w = hob_agui_begin(s, HOB_AGUI_SUBAGENT_STARTED);
    hob_jsonw_kstr(w, "subagentRunId", id);
    hob_jsonw_kstr(w, "name", name);
    if (x) {
        hob_jsonw_kstr_opt(w, "description", x->description);
        hob_jsonw_kstr_opt(w, "parentSubagentRunId", x->parent_subagent);
        hob_jsonw_kstr_opt(w, "parentToolCallId", x->tool_call);
        hob_jsonw_kstr_opt(w, "parentMessageId", x->parent);
        if (x->metadata.n) hob_jsonw_kraw(w, "metadata", x->metadata);
    }
    rc = hob_agui_send(s, err);
    if (!hob_agui_happened(rc)) return rc;
    hob_map_put(s->subagents, id, s);
    hob_agui_item_add(s, HOB_SPACE_SUBAGENT, HOB_STR_NULL, id);
    return rc;
}

/* Its own things are closed; then the event that ends it can be built. */
static int may_end(hob_agui_session *s, hob_str id, hob_agui_item **out, hob_agui_why why,
                   hob_error *err) {
    int rc = hob_agui_item_need(s, HOB_SPACE_SUBAGENT, id, out, err);
    return rc < 0 ? rc : hob_agui_item_close_all(s, &(*out)->id, why, err);
}

static int send_end(hob_agui_session *s, hob_agui_item *item, hob_error *err) {
    int rc = hob_agui_send(s, err);
    if (hob_agui_happened(rc)) hob_agui_item_remove(s, item);
    return rc;
}

int hob_agui_subagent_finish(hob_agui_session *s, hob_str id, hob_str result_json, hob_error *err) {
    const hob_json *result = NULL;
    hob_agui_item *item;
    int rc = hob_agui_need_run(s, err);
    if (rc == 0 && result_json.n)
        rc = hob_agui_need_json(s, "result", result_json, -1, &result, err);
    if (rc == 0) rc = may_end(s, id, &item, HOB_WHY_FINISH, err);
    if (rc < 0) return rc;
    hob_jsonw *w = hob_agui_begin(s, HOB_AGUI_SUBAGENT_FINISHED);
    hob_jsonw_kstr(w, "subagentRunId", id);
    if (result && !hob_json_is(result, HOB_JSON_NULL)) hob_jsonw_kraw(w, "result", result_json);
    hob_jsonw_kraw(w, "outcome", HOB_STR("{\"type\":\"success\"}"));
    return send_end(s, item, err);
}

int hob_agui_subagent_suspend(hob_agui_session *s, hob_str id, hob_str interrupt_ids,
                              hob_error *err) {
    const hob_json *ids = NULL;
    hob_agui_item *item;
    int rc = hob_agui_need_run(s, err);
    if (rc == 0 && interrupt_ids.n)
        rc = hob_agui_need_json(s, "list of interrupts", interrupt_ids, HOB_JSON_ARRAY, &ids, err);
    for (const hob_json *v = hob_json_first(ids); v && rc == 0; v = hob_json_next(v))
        if (!hob_json_is(v, HOB_JSON_STRING))
            rc = hob_fail(err, HOB_EINVAL, 0, "an interrupt's id is a string");
    if (rc == 0) rc = may_end(s, id, &item, HOB_WHY_INTERRUPT, err);
    if (rc < 0) return rc;
    hob_jsonw *w = hob_agui_begin(s, HOB_AGUI_SUBAGENT_FINISHED);
    hob_jsonw_kstr(w, "subagentRunId", id);
    hob_jsonw_key(w, "outcome");
    hob_jsonw_object(w);
    hob_jsonw_kstr(w, "type", HOB_STR("suspended"));
    if (ids) hob_jsonw_kraw(w, "interruptIds", interrupt_ids);
    hob_jsonw_object_end(w);
    return send_end(s, item, err);
}

int hob_agui_subagent_error(hob_agui_session *s, hob_str id, hob_str message, hob_str code,
                            hob_error *err) {
    hob_agui_item *item;
    int rc = hob_agui_need_run(s, err);
    if (rc == 0) rc = may_end(s, id, &item, HOB_WHY_FINISH, err);
    if (rc < 0) return rc;
    hob_jsonw *w = hob_agui_begin(s, HOB_AGUI_SUBAGENT_ERROR);
    hob_jsonw_kstr(w, "subagentRunId", id);
    hob_jsonw_kstr(w, "message", message.n ? message : HOB_STR("the sub-agent failed"));
    hob_jsonw_kstr_opt(w, "code", code);
    return send_end(s, item, err);
}

/* ---- whatever else --------------------------------------------------------------------------------------- */

int hob_agui_custom(hob_agui_session *s, hob_str name, hob_str value_json, const hob_agui_extra *x,
                    hob_error *err) {
    int rc = hob_agui_need_run(s, err);
    if (rc == 0) rc = hob_agui_need_extra(s, x, err);
    if (rc == 0) rc = hob_agui_need_id("event's name", name, err);
    if (rc == 0 && value_json.n) rc = hob_agui_need_json(s, "value", value_json, -1, NULL, err);
    if (rc < 0) return rc;
    hob_jsonw *w = hob_agui_begin(s, HOB_AGUI_CUSTOM);
    hob_jsonw_kstr(w, "name", name);
    hob_jsonw_kraw(w, "value", value_json);
    hob_agui_put_extra(s, x);
    return hob_agui_send(s, err);
}

int hob_agui_raw(hob_agui_session *s, hob_str event_json, hob_str source, const hob_agui_extra *x,
                 hob_error *err) {
    int rc = hob_agui_need_run(s, err);
    if (rc == 0) rc = hob_agui_need_extra(s, x, err);
    if (rc == 0) rc = hob_agui_need_json(s, "event", event_json, -1, NULL, err);
    if (rc < 0) return rc;
    hob_jsonw *w = hob_agui_begin(s, HOB_AGUI_RAW);
    hob_jsonw_kraw(w, "event", event_json);
    hob_jsonw_kstr_opt(w, "source", source);
    hob_agui_put_extra(s, x);
    return hob_agui_send(s, err);
}
