#include "log/view.h"

/* Settings that were replaced stay in the arena until it is half full; then those in force move to a new one. */
enum { SETTING_MAX = 4 << 20, ARENA_MAX = 128 << 20 };

hob_view *hob_view_create(void) {
    hob_view *v = HOB_NEW(hob_view);
    v->arena = hob_arena_create(ARENA_MAX);
    v->history = hob_history_create();
    v->cost_known = true;
    return v;
}

void hob_view_destroy(hob_view *v) {
    if (!v) return;
    hob_kids_finish(&v->kids);
    hob_working_finish(&v->working);
    hob_history_destroy(v->history);
    hob_state_finish(&v->state);
    hob_arena_destroy(v->arena);
    hob_free(v);
}

static void make_room(hob_view *v) {
    hob_str *const fields[] = {
        &v->id,           &v->cwd,           &v->model,           &v->thinking,
        &v->title,        &v->system_prompt, &v->permission_mode, &v->forked_from,
        &v->first_prompt, &v->app_name,      &v->user_id,         &v->parent,
        &v->agent,        &v->limits};
    if (hob_arena_used(v->arena) < ARENA_MAX / 2) return;
    hob_arena *room = hob_arena_create(ARENA_MAX);
    for (size_t i = 0; i < HOB_ARRAY_LEN(fields); i++) *fields[i] = hob_arena_dup(room, *fields[i]);
    hob_arena_destroy(v->arena);
    v->arena = room;
}

static void keep(hob_view *v, hob_str *field, hob_str s) {
    make_room(v);
    *field = hob_arena_dup(v->arena, hob_str_first(s, hob_utf8_prefix(s, SETTING_MAX)));
}

/* A setting changes only when the event names it. */
static void set(hob_view *v, hob_str *field, const hob_json *data, const char *key) {
    const hob_json *value = hob_json_get(data, key);
    if (hob_json_is(value, HOB_JSON_STRING) && !hob_str_eq(*field, hob_json_str(value)))
        keep(v, field, hob_json_str(value));
}

static void open_session(hob_view *v, const hob_event *e, const hob_json *data) {
    keep(v, &v->id, e->session_id);
    v->opened_ts = e->ts;
    set(v, &v->cwd, data, "cwd");
    set(v, &v->app_name, data, "app_name");
    set(v, &v->user_id, data, "user_id");
    const hob_json *parent = hob_json_get(data, "parent");
    set(v, &v->forked_from, hob_json_get(data, "forked_from"), "session");
    set(v, &v->parent, parent, "session");
    v->depth = (int)HOB_MIN(HOB_MAX(hob_json_get_int(parent, "depth", 0), 0), 1000);
}

static void change_settings(hob_view *v, const hob_json *data) {
    set(v, &v->model, data, "model");
    set(v, &v->thinking, data, "thinking");
    set(v, &v->title, data, "title");
    set(v, &v->permission_mode, data, "permission_mode");
    set(v, &v->system_prompt, data, "system_prompt");
    set(v, &v->agent, data, "agent");
    const hob_json *limits = hob_json_get(data, "limits");
    if (hob_json_is(limits, HOB_JSON_OBJECT)) keep(v, &v->limits, hob_json_raw(limits));
}

static void note_prompt(hob_view *v, const hob_json *data) {
    v->messages++;
    if (v->first_prompt.n) return;
    const hob_json *first = hob_json_at(hob_json_get(data, "content"), 0);
    hob_str typed = hob_json_get_str(first, "typed");
    hob_str text = typed.n ? typed : hob_json_get_str(first, "text");
    keep(v, &v->first_prompt, hob_str_first(text, hob_utf8_prefix(text, 200)));
}

static void book(hob_view *v, const hob_json *data) {
    hob_usage u;
    const hob_json *cost = hob_json_get(data, "cost_usd");
    hob_usage_read(hob_json_get(data, "usage"), &u);
    hob_usage_add(&v->usage, &u);
    if (hob_json_is(cost, HOB_JSON_NUMBER))
        v->cost_usd += hob_json_double(cost);
    else if (hob_usage_total(&u))
        v->cost_known = false;
}

/* Somebody else's log may hold anything: keys that could not be set are passed over, and what is temporary is over. */
static bool may_keep(hob_str key) {
    return hob_state_check_key(key, NULL) >= 0 && hob_state_scope(key) != HOB_SCOPE_TEMP;
}

void hob_state_fold(hob_state *s, const hob_json *data) {
    const hob_json *delta = hob_json_get(data, "delta"), *removed = hob_json_get(data, "removed");
    for (const hob_json *m = hob_json_first(delta); m; m = hob_json_next(m))
        if (may_keep(hob_json_key(m))) hob_state_assign(s, hob_json_key(m), hob_json_raw(m));
    for (const hob_json *k = hob_json_first(removed); k; k = hob_json_next(k))
        hob_state_remove(s, hob_json_str(k));
}

static void change_state(hob_view *v, const hob_json *data) {
    hob_state_fold(&v->state, data);
    v->state_revision++;
}

static void end_temp(hob_view *v) {
    size_t before = v->state.count;
    hob_state_drop_temp(&v->state);
    v->state_revision += v->state.count != before;
}

int hob_view_apply(hob_view *v, const hob_event *e, const hob_json *data, hob_error *err) {
    v->last_seq = e->seq;
    v->last_ts = e->ts;
    if (e->type == HOB_EVENT_SESSION_OPENED) open_session(v, e, data);
    if (e->type == HOB_EVENT_SESSION_OPENED || e->type == HOB_EVENT_CONFIG_CHANGED)
        change_settings(v, data);
    if (e->type == HOB_EVENT_USER_MESSAGE || e->type == HOB_EVENT_STEER_DELIVERED)
        note_prompt(v, data);
    if (e->type == HOB_EVENT_ASSISTANT_MESSAGE) v->messages++;
    if (e->type == HOB_EVENT_ASSISTANT_MESSAGE || e->type == HOB_EVENT_MODEL_CALL_FAILED ||
        e->type == HOB_EVENT_CHILD_FINISHED)
        book(v, data);
    if (e->type == HOB_EVENT_STATE_CHANGED) change_state(v, data);
    if (e->type == HOB_EVENT_RUN_FINISHED) end_temp(v);
    hob_kids_apply(&v->kids, e, data);
    hob_working_apply(&v->working, e);
    return hob_history_apply(v->history, e, data, err);
}
