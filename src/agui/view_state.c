/*
 * view_state.c - state of the session that changed, made part of what the client holds.
 *
 * Only keys that changed are touched: a client may keep things of its own beside them. Values of temp: keys are in no log.
 */
#include "agui/view.h"

#include "agui/patch.h"

static bool is_temp(hob_str key) {
    return hob_str_starts(key, HOB_STR("temp:"));
}

static void take_out(hob_tree *object, hob_str key) {
    hob_tree *old = hob_tree_member(object, key);
    if (old) hob_tree_remove(object, old);
}

static bool put(hob_arena *a, hob_tree *object, const hob_json *member) {
    hob_tree *value = hob_tree_make(a, member),
             *old = hob_tree_member(object, hob_json_key(member));
    hob_tree *after = old ? old->next : NULL;
    if (!value) return false;
    value->key = hob_json_key(member);
    if (old) hob_tree_remove(object, old);
    hob_tree_insert(object, after, value);
    return true;
}

static bool change(hob_arena *a, hob_tree *object, const hob_json *d) {
    const hob_json *removed = hob_json_get(d, "removed"), *delta = hob_json_get(d, "delta");
    for (const hob_json *m = hob_json_first(delta); m; m = hob_json_next(m))
        if (!is_temp(hob_json_key(m)) && !put(a, object, m)) return false;
    for (const hob_json *k = hob_json_first(removed); k; k = hob_json_next(k))
        take_out(object, hob_json_str(k));
    return true;
}

/* What the client holds, if that is an object. */
static hob_tree *held(hob_agui_view *v) {
    const hob_json *now = NULL;
    hob_str text = hob_arena_dup(v->scratch, hob_agui_state(v->out));
    hob_json_parse(v->scratch, text, NULL, &now, NULL);
    if (hob_json_is(now, HOB_JSON_OBJECT)) return hob_tree_make(v->scratch, now);
    return hob_tree_object(v->scratch);
}

/* What cannot be shown is no reason to end the run. */
static int tell(hob_agui_view *v, hob_error *err) {
    static const char words[] =
        "{\"code\":\"state\",\"message\":\"the state changed, and is too large to be shown\"}";
    return hob_view_said(
        hob_agui_custom(v->out, HOB_STR("hob:warning"), hob_str_z(words), NULL, err));
}

int hob_view_state(hob_agui_view *v, const hob_json *d, hob_error *err) {
    hob_tree *t = held(v);
    hob_buf text;
    hob_jsonw w;
    if (!t || !change(v->scratch, t, d)) return tell(v, err);
    hob_buf_init(&text, HOB_AGUI_FRAME_MAX);
    hob_jsonw_init(&w, &text);
    int rc = hob_tree_write(&w, t, 0);
    rc = rc < 0 ? hob_fail(err, rc, 0, "the state is too large for an event")
                : hob_view_said(hob_agui_state_set(v->out, hob_buf_str(&text), err));
    hob_buf_finish(&text);
    return rc == HOB_ETOOBIG ? tell(v, err) : rc;
}
