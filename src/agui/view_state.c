/*
 * view_state.c - state of the session that changed, made part of what the client holds.
 *
 * Only keys that changed are touched: a client may keep things of its own beside them. Values of temp: keys are in no log.
 * What the client holds is compared if it is small, so that little is sent. Of a large state the keys that changed are
 * sent as they are: a change costs what it says, and not what there is, for each of the clients that look on.
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

/* ---- of a state that is not kept ------------------------------------------------------------------------ */

static bool say(hob_jsonw *w, const char *op, hob_str key, hob_str value) {
    hob_buf path;
    hob_buf_init(&path, HOB_AGUI_FRAME_MAX);
    hob_patch_add_token(&path, key);
    hob_jsonw_object(w);
    hob_jsonw_kstr(w, "op", hob_str_z(op));
    hob_jsonw_kstr(w, "path", hob_buf_str(&path));
    if (value.p) hob_jsonw_kraw(w, "value", value);
    hob_jsonw_object_end(w);
    bool safe = !hob_patch_refused(hob_buf_str(&path));
    hob_buf_finish(&path);
    return safe;
}

/* Whether the client has a key is not known: one that is added first can be removed. */
static bool write_changes(hob_jsonw *w, const hob_json *d) {
    const hob_json *removed = hob_json_get(d, "removed"), *delta = hob_json_get(d, "delta");
    bool safe = true;
    for (const hob_json *m = hob_json_first(delta); m && safe; m = hob_json_next(m))
        safe = is_temp(hob_json_key(m)) || say(w, "add", hob_json_key(m), hob_json_raw(m));
    for (const hob_json *k = hob_json_first(removed); k && safe; k = hob_json_next(k)) {
        hob_str key = hob_json_str(k);
        if (is_temp(key)) continue;
        safe = say(w, "add", key, HOB_STR("null")) && say(w, "remove", key, HOB_STR_NULL);
    }
    return safe;
}

static int tell_keys(hob_agui_view *v, const hob_json *d, hob_error *err) {
    hob_buf patch;
    hob_jsonw w;
    hob_buf_init(&patch, HOB_AGUI_FRAME_MAX);
    hob_jsonw_init(&w, &patch);
    hob_jsonw_array(&w);
    bool safe = write_changes(&w, d);
    hob_jsonw_array_end(&w);
    int rc = !safe || patch.err ? HOB_ETOOBIG : HOB_OK;
    if (rc >= 0 && patch.n > 2)
        rc = hob_view_said(hob_agui_state_tell(v->out, hob_buf_str(&patch), err));
    hob_buf_finish(&patch);
    return rc == HOB_ETOOBIG ? tell(v, err) : rc;
}

/* ---- of one that is ---------------------------------------------------------------------------------------- */

int hob_view_state(hob_agui_view *v, const hob_json *d, hob_error *err) {
    if (!hob_agui_state(v->out).n) return tell_keys(v, d, err);
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
