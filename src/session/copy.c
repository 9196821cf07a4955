/*
 * copy.c - a conversation taken over: into another session's log, or from a log that somebody else wrote.
 *
 * Messages are copied as events that belong to no run. Ids of messages and calls derive from sequence numbers, so a copy
 * gets new ones: they stay unique in their session. A call without a result gets one that says so, in the log, where
 * people see it too.
 */
#include "session/crew.h"
#include "session/session.h"

/* ---- one event with other ids -------------------------------------------------------------------------- */

/* The members of `from` as they stand, but for one. */
static void write_members(hob_jsonw *w, const hob_json *from, const char *key, hob_str value) {
    hob_jsonw_object(w);
    for (const hob_json *v = hob_json_first(from); v; v = hob_json_next(v)) {
        hob_jsonw_key_n(w, hob_json_key(v));
        if (hob_str_eqz(hob_json_key(v), key))
            hob_jsonw_str(w, value);
        else
            hob_jsonw_raw(w, hob_json_raw(v));
    }
    hob_jsonw_object_end(w);
}

static hob_str call_id(char out[64], const char *message, size_t k) {
    return hob_str_n(out, (size_t)snprintf(out, 64, "%s.%zu", message, k));
}

static void write_content(hob_jsonw *w, const hob_json *content, const char *message) {
    char id[64];
    size_t calls = 0;
    hob_jsonw_array(w);
    for (const hob_json *b = hob_json_first(content); b; b = hob_json_next(b)) {
        if (hob_str_eqz(hob_json_get_str(b, "type"), "tool_call"))
            write_members(w, b, "call", call_id(id, message, calls++));
        else
            hob_jsonw_raw(w, hob_json_raw(b));
    }
    hob_jsonw_array_end(w);
}

static void write_answer(hob_jsonw *w, const hob_json *data, const char *message) {
    hob_jsonw_object(w);
    for (const hob_json *v = hob_json_first(data); v; v = hob_json_next(v)) {
        hob_jsonw_key_n(w, hob_json_key(v));
        if (hob_str_eqz(hob_json_key(v), "message"))
            hob_jsonw_str(w, hob_str_z(message));
        else if (hob_str_eqz(hob_json_key(v), "content"))
            write_content(w, v, message);
        else
            hob_jsonw_raw(w, hob_json_raw(v));
    }
    hob_jsonw_object_end(w);
}

/* ---- calls without a result ------------------------------------------------------------------------------ */

static hob_str tool_of(const hob_node *n, size_t k, hob_arena *a) {
    const hob_json *content = hob_json_get(hob_event_parse(n->event, a), "content");
    for (const hob_json *b = hob_json_first(content); b; b = hob_json_next(b))
        if (hob_str_eqz(hob_json_get_str(b, "type"), "tool_call") && !k--)
            return hob_json_get_str(b, "name");
    return HOB_STR_NULL;
}

static int say_missing(hob_session *s, const hob_node *n, size_t k, hob_str call, hob_error *err) {
    static const char content[] =
        "[{\"type\":\"text\",\"text\":\"unknown: no result of this call was recorded; it may have "
        "had some, all or none of its effects; look before repeating it\"}]";
    hob_arena *a = hob_arena_create(0);
    hob_draft d;
    hob_jsonw w;
    hob_draft_init(&d, HOB_EVENT_TOOL_FINISHED);
    hob_jsonw_init(&w, &d.data);
    hob_jsonw_object(&w);
    hob_jsonw_kstr(&w, "call", call);
    hob_jsonw_kstr(&w, "tool", tool_of(n, k, a));
    hob_jsonw_kstr(&w, "outcome", HOB_STR("unknown"));
    hob_jsonw_kraw(&w, "content", hob_str_z(content));
    hob_jsonw_object_end(&w);
    hob_arena_destroy(a);
    return hob_session_append(s, &d, err);
}

static int repair_node(hob_session *s, const hob_node *n, hob_error *err) {
    char id[64], message[40];
    int rc = HOB_OK;
    snprintf(message, sizeof message, "%.*s", HOB_FMT(n->message));
    for (size_t k = 0; rc >= 0 && k < n->nresults; k++)
        if (!n->results[k].event) rc = say_missing(s, n, k, call_id(id, message, k), err);
    return rc;
}

int hob_session_repair(hob_session *s, hob_error *err) {
    const hob_history *h = s->view->history;
    int rc = HOB_OK;
    if (s->whole) return HOB_OK;
    for (size_t i = 0; rc >= 0 && i < h->npath; i++)
        rc = repair_node(s, &h->nodes[h->path[i]], err);
    s->whole = rc >= 0;
    return rc;
}

static bool is_stranger(const hob_session *s, hob_str agent) {
    return agent.n && (!s->crew || hob_flow_index(s->crew->flow, agent) < 0);
}

static int say_gone(hob_session *s, const hob_event *began, hob_error *err) {
    hob_draft d;
    hob_jsonw w;
    hob_draft_init(&d, HOB_EVENT_AGENT_FINISHED);
    d.run_id = hob_str_z(s->run.id);
    d.agent = began->agent;
    d.branch = began->branch;
    hob_jsonw_init(&w, &d.data);
    hob_jsonw_object(&w);
    hob_jsonw_kstr(&w, "agent", began->agent);
    hob_jsonw_kstr(&w, "status", HOB_STR("interrupted"));
    hob_jsonw_kstr(&w, "reason", HOB_STR("the program that goes on has no such agent"));
    hob_jsonw_object_end(&w);
    return hob_session_append(s, &d, err);
}

/* Those within others first. */
static int end_strangers(hob_session *s, hob_error *err) {
    int rc = HOB_OK;
    for (size_t i = s->view->working.n; rc >= 0 && i-- > 0;) {
        hob_event *began = s->view->working.at[i];
        if (!is_stranger(s, began->agent)) continue;
        hob_event_ref(began);
        rc = say_gone(s, began, err);
        hob_event_unref(began);
    }
    return rc;
}

int hob_session_repair_strangers(hob_session *s, hob_error *err) {
    const hob_history *h = s->view->history;
    int rc = HOB_OK;
    for (size_t i = 0; rc >= 0 && i < h->npath; i++) {
        const hob_node *n = &h->nodes[h->path[i]];
        if (is_stranger(s, n->event->agent)) rc = repair_node(s, n, err);
    }
    return rc < 0 ? rc : end_strangers(s, err);
}

/* ---- a whole conversation ---------------------------------------------------------------------------------- */

static int copy_message(hob_session *s, const hob_event *e, const char *message, hob_error *err) {
    hob_arena *a = hob_arena_create(0);
    hob_draft d;
    hob_jsonw w;
    hob_draft_init(&d, e->type);
    d.is_entry = true;
    d.author = e->author;
    hob_jsonw_init(&w, &d.data);
    if (e->type == HOB_EVENT_ASSISTANT_MESSAGE)
        write_answer(&w, hob_event_parse(e, a), message);
    else
        hob_jsonw_raw(&w, e->data);
    hob_arena_destroy(a);
    return hob_session_append(s, &d, err);
}

/* An update that took the place of a receipt is the result, here. */
static int copy_result(hob_session *s, const hob_slot *r, hob_str call, hob_error *err) {
    hob_arena *a = hob_arena_create(0);
    const hob_json *data = hob_event_parse(r->event, a);
    hob_draft d;
    hob_jsonw w;
    hob_draft_init(&d, HOB_EVENT_TOOL_FINISHED);
    hob_jsonw_init(&w, &d.data);
    if (r->event->type == HOB_EVENT_TOOL_FINISHED) {
        write_members(&w, data, "call", call);
    } else {
        hob_jsonw_object(&w);
        hob_jsonw_kstr(&w, "call", call);
        hob_jsonw_kstr(&w, "tool", hob_json_get_str(data, "tool"));
        hob_jsonw_kstr(&w, "outcome", hob_json_get_str(data, "outcome"));
        hob_jsonw_kraw(&w, "content", r->content);
        if (r->pending) hob_jsonw_kbool(&w, "pending", true);
        hob_jsonw_object_end(&w);
    }
    hob_arena_destroy(a);
    return hob_session_append(s, &d, err);
}

int hob_session_copy(hob_session *s, const hob_history *h, hob_error *err) {
    char id[64], message[40];
    int rc = HOB_OK;
    for (size_t i = 0; rc >= 0 && i < h->npath; i++) {
        const hob_node *n = &h->nodes[h->path[i]];
        snprintf(message, sizeof message, "m%llu", (unsigned long long)s->view->last_seq + 1);
        rc = copy_message(s, n->event, message, err);
        for (size_t k = 0; rc >= 0 && k < n->nresults; k++)
            rc = n->results[k].event ? copy_result(s, &n->results[k], call_id(id, message, k), err)
                                     : say_missing(s, n, k, call_id(id, message, k), err);
    }
    return rc;
}
