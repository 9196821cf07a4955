/*
 * view.c - one event of a session at a time.
 */
#include "agui/view.h"

#include <stdio.h>

int hob_agui_view_create(hob_agui_session *out, hob_agui_view **view, hob_error *err) {
    if (!hob_agui_is_running(out))
        return hob_fail(err, HOB_EIDLE, 0, "start a run before its view is made");
    hob_agui_view *v = HOB_NEW(hob_agui_view);
    v->out = out;
    v->scratch = hob_arena_create(0);
    hob_list_init(&v->answers);
    hob_list_init(&v->asks);
    hob_list_init(&v->kids);
    *view = v;
    return 0;
}

void hob_agui_view_destroy(hob_agui_view *v) {
    if (!v) return;
    hob_view_answers_finish(v);
    hob_view_asks_finish(v);
    hob_view_kids_finish(v);
    hob_view_end_finish(v);
    hob_arena_destroy(v->scratch);
    hob_free(v);
}

int hob_agui_view_stale(hob_agui_view *v) {
    bool stale = v->stale;
    v->stale = false;
    return stale;
}

/* ---- what was said to the session ------------------------------------------------------------------------------- */

typedef struct saying {
    hob_agui_view *v;
    hob_str name;
    hob_error *err;
} saying;

/* A message of the user that this client did not send itself. */
static int say(hob_str id, const hob_json *first, const hob_json *end, void *user) {
    saying *s = user;
    hob_agui_extra x = HOB_AGUI_EXTRA_INIT;
    hob_buf text;
    x.role = HOB_STR("user");
    x.name = s->name;
    int rc = hob_agui_message_start(s->v->out, id, &x, s->err);
    if (rc == HOB_EEXIST) return 0;
    hob_buf_init(&text, HOB_AGUI_FRAME_MAX);
    for (const hob_json *b = first; b != end; b = hob_json_next(b)) {
        hob_str typed = hob_json_get_str(b, "typed");
        if (hob_agui_hidden(b)) continue;
        if (text.n) hob_buf_addc(&text, '\n');
        hob_buf_add(&text, typed.n ? typed : hob_json_get_str(b, "text"));
    }
    if (hob_agui_happened(rc) && text.n)
        rc = hob_agui_message_content(s->v->out, id, hob_buf_str(&text), s->err);
    hob_buf_finish(&text);
    if (hob_agui_happened(rc)) rc = hob_agui_message_end(s->v->out, id, s->err);
    return hob_view_said(rc);
}

static int said(hob_agui_view *v, const hob_event *e, const hob_json *d, hob_error *err) {
    bool report = e->type == HOB_EVENT_CHILD_REPORTED;
    saying s = {v, report ? hob_json_get_str(d, "agent") : HOB_STR_NULL, err};
    return hob_agui_each_said(hob_json_get(d, "content"), e->entry, say, &s);
}

/* What has no form of its own: hob:KIND with the event's data. */
static int custom(hob_agui_view *v, const hob_event *e, hob_error *err) {
    char name[80];
    snprintf(name, sizeof name, "hob:%.*s", HOB_FMT(hob_str_first(e->name, 70)));
    return hob_view_said(hob_agui_custom(v->out, hob_str_z(name), e->data, NULL, err));
}

static int discarded(hob_agui_view *v, const hob_event *e, const hob_json *d, hob_error *err) {
    hob_view_add_usage(v, HOB_STR_NULL, hob_json_get(d, "usage"));
    int rc = hob_view_discarded(v, d, err);
    return rc < 0 ? rc : custom(v, e, err);
}

static int answered(hob_agui_view *v, const hob_event *e, const hob_json *d, hob_error *err) {
    hob_view_add_usage(v, hob_json_get_str(d, "model"), hob_json_get(d, "usage"));
    return hob_view_answered(v, e, d, err);
}

static int resolved(hob_agui_view *v, const hob_event *e, const hob_json *d, hob_error *err) {
    hob_view_resolved(v, d);
    return custom(v, e, err);
}

static int paused(hob_agui_view *v, const hob_event *e, hob_error *err) {
    v->paused = e->type == HOB_EVENT_RUN_PAUSED;
    return custom(v, e, err);
}

static int finished(hob_agui_view *v, const hob_json *d) {
    hob_view_note_end(v, d);
    return 0;
}

static int settled(hob_agui_view *v, hob_error *err) {
    int rc = hob_view_end(v, err);
    if (rc < 0) return rc;
    v->ended = true;
    return 1;
}

static int handle(hob_agui_view *v, const hob_event *e, const hob_json *d, hob_error *err) {
    switch (e->type) {
    case HOB_EVENT_USER_MESSAGE:
    case HOB_EVENT_STEER_DELIVERED:
    case HOB_EVENT_CHILD_REPORTED: return said(v, e, d, err);
    case HOB_EVENT_TEXT_DELTA:
    case HOB_EVENT_THINKING_DELTA:
    case HOB_EVENT_TOOL_ARGS_DELTA: return hob_view_delta(v, e, d, err);
    case HOB_EVENT_ASSISTANT_MESSAGE: return answered(v, e, d, err);
    case HOB_EVENT_MODEL_CALL_FAILED:
    case HOB_EVENT_TURN_DISCARDED: return discarded(v, e, d, err);
    case HOB_EVENT_TOOL_FINISHED:
    case HOB_EVENT_TOOL_UPDATED: return hob_view_result(v, e, d, err);
    case HOB_EVENT_APPROVAL_REQUESTED: return hob_view_asked(v, d, err);
    case HOB_EVENT_APPROVAL_RESOLVED: return resolved(v, e, d, err);
    case HOB_EVENT_RUN_PAUSED:
    case HOB_EVENT_RUN_RESUMED: return paused(v, e, err);
    case HOB_EVENT_STATE_CHANGED: return hob_view_state(v, d, err);
    case HOB_EVENT_AGENT_STARTED:
    case HOB_EVENT_AGENT_FINISHED: return hob_view_step(v, e, d, err);
    case HOB_EVENT_CHILD_STARTED:
    case HOB_EVENT_CHILD_REUSED: return hob_view_child_started(v, d, err);
    case HOB_EVENT_CHILD_FINISHED: return hob_view_child_finished(v, d, err);
    case HOB_EVENT_RUN_FINISHED: return finished(v, d);
    case HOB_EVENT_SETTLED: return settled(v, err);
    /* Nothing that a client could use: what follows says it, or it is about the session's own working. */
    case HOB_EVENT_UNKNOWN:
    case HOB_EVENT_SESSION_OPENED:
    case HOB_EVENT_RUN_STARTED:
    case HOB_EVENT_MODEL_CALL_STARTED:
    case HOB_EVENT_TOOL_DECIDED:
    case HOB_EVENT_CALLBACK_STARTED:
    case HOB_EVENT_CALLBACK_FINISHED:
    case HOB_EVENT_MESSAGE_OPEN:
    case HOB_EVENT_SESSION_CLOSED:
    case HOB_EVENT_COUNT_: return 0;
    default: return custom(v, e, err);
    }
}

int hob_agui_view_event(hob_agui_view *v, const hob_event *e, hob_error *err) {
    if (v->ended) return 1;
    hob_arena_reset(v->scratch);
    v->time = HOB_MAX(v->time, e->ts); /* what streams is sent sooner than its event is made */
    hob_agui_set_time(v->out, v->time);
    int rc = handle(v, e, hob_event_parse(e, v->scratch), err);
    hob_arena_reset(v->scratch);
    hob_agui_tidy(v->out);
    return rc;
}

int hob_agui_view_began(hob_agui_view *v, hob_str row, hob_error *err) {
    hob_event *e;
    int rc = hob_event_decode(row, &e, err);
    if (rc < 0) return rc;
    rc = hob_agui_view_event(v, e, err);
    hob_event_unref(e);
    return rc;
}
