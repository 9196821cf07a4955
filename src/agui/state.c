/*
 * state.c - the state that the client holds, and activities: values that are patched.
 */
#include "agui/agui.h"

#include "agui/patch.h"

hob_str hob_agui_state(const hob_agui_session *s) {
    return hob_buf_str(&s->state);
}

void hob_agui_state_keep(hob_agui_session *s, size_t max) {
    s->state_max = HOB_MIN(max, HOB_AGUI_FRAME_MAX);
    if (s->state.n > s->state_max) hob_buf_finish(&s->state);
}

/* One that is no object has no members to be told: null is as good a beginning for a change of the whole. */
void hob_agui_state_note(hob_agui_session *s, hob_str json) {
    bool large = json.n > s->state_max;
    hob_buf_reset(&s->state);
    if (large) hob_buf_finish(&s->state);
    if (large && hob_str_starts(hob_str_trim(json), HOB_STR("{"))) return;
    hob_buf_add(&s->state, large ? HOB_STR("null") : json);
}

static int send_snapshot(hob_agui_session *s, hob_str json, hob_error *err) {
    hob_jsonw *w = hob_agui_begin(s, HOB_AGUI_STATE_SNAPSHOT);
    hob_jsonw_kraw(w, "snapshot", json);
    int rc = hob_agui_send(s, err);
    if (hob_agui_happened(rc)) hob_agui_state_note(s, json);
    hob_agui_tidy(s);
    return rc;
}

static int send_delta(hob_agui_session *s, hob_str patch, hob_str after, hob_error *err) {
    hob_jsonw *w = hob_agui_begin(s, HOB_AGUI_STATE_DELTA);
    hob_jsonw_kraw(w, "delta", patch);
    int rc = hob_agui_send(s, err);
    if (hob_agui_happened(rc) && after.p) hob_agui_state_note(s, after);
    hob_agui_tidy(s);
    return rc;
}

int hob_agui_state_tell(hob_agui_session *s, hob_str patch, hob_error *err) {
    int rc = hob_agui_need_run(s, err);
    return rc < 0 ? rc : send_delta(s, patch, HOB_STR_NULL, err);
}

/* Against a state that is not kept only its form can be looked at. */
static int tell_checked(hob_agui_session *s, hob_str patch, hob_error *err) {
    const hob_json *ops;
    int rc = hob_patch_parse(s->scratch, "the patch", patch, &ops, err);
    if (rc == 0) rc = hob_patch_check(ops, err);
    return rc < 0 ? rc : send_delta(s, patch, HOB_STR_NULL, err);
}

int hob_agui_state_snapshot(hob_agui_session *s, hob_str json, hob_error *err) {
    int rc = hob_agui_need_run(s, err);
    if (rc == 0) rc = hob_agui_need_json(s, "state", json, -1, NULL, err);
    return rc < 0 ? rc : send_snapshot(s, json, err);
}

int hob_agui_state_delta(hob_agui_session *s, hob_str patch_json, hob_error *err) {
    hob_agui_json *after;
    int rc = hob_agui_need_run(s, err);
    if (rc == 0 && !s->state.n) return tell_checked(s, patch_json, err);
    if (rc == 0) rc = hob_agui_patch_apply(hob_agui_state(s), patch_json, &after, err);
    if (rc < 0) return rc;
    hob_str text = hob_agui_json_text(after);
    rc = text.n > s->state.max ? hob_fail(err, HOB_ETOOBIG, 0, "the state would be too large")
                               : send_delta(s, patch_json, text, err);
    hob_agui_json_destroy(after);
    return rc;
}

/* What has changed, or "" when only a snapshot will do. */
static int find_changes(hob_agui_session *s, const hob_json *to, hob_buf *patch, hob_error *err) {
    const hob_json *from;
    int rc = hob_agui_need_json(s, "state", hob_agui_state(s), -1, &from, err);
    if (rc < 0) return rc;
    hob_tree *p = hob_tree_make(s->scratch, from), *q = hob_tree_make(s->scratch, to);
    hob_jsonw w;
    bool unsafe = false;
    hob_jsonw_init(&w, patch);
    hob_jsonw_array(&w);
    rc = p && q ? hob_patch_find(s->scratch, p, q, &w, &unsafe) : HOB_ETOOBIG;
    hob_jsonw_array_end(&w);
    if (rc < 0 || unsafe || patch->err) hob_buf_reset(patch);
    return 0;
}

int hob_agui_state_set(hob_agui_session *s, hob_str json, hob_error *err) {
    const hob_json *to;
    int rc = hob_agui_need_run(s, err);
    if (rc == 0) rc = hob_agui_need_json(s, "state", json, -1, &to, err);
    if (rc < 0) return rc;
    if (!s->state.n) return send_snapshot(s, json, err);
    hob_buf patch;
    hob_buf_init(&patch, json.n + 64); /* a longer one is worth less than a snapshot */
    rc = find_changes(s, to, &patch, err);
    if (rc == 0 && !hob_str_eqz(hob_buf_str(&patch), "[]"))
        rc = patch.n ? send_delta(s, hob_buf_str(&patch), json, err) : send_snapshot(s, json, err);
    hob_buf_finish(&patch);
    return rc;
}

/* ---- activities ------------------------------------------------------------------------------------------ */

typedef struct activity {
    char *type;
    hob_buf content;
} activity;

static activity *add_activity(hob_agui_session *s, hob_str id) {
    activity *a = hob_map_get(s->activities, id);
    if (a) return a;
    a = HOB_NEW(activity);
    hob_buf_init(&a->content, HOB_AGUI_FRAME_MAX);
    hob_map_put(s->activities, id, a);
    return a;
}

void hob_agui_activities_clear(hob_agui_session *s) {
    size_t pos = 0;
    void *value;
    hob_str key;
    while (hob_map_next(s->activities, &pos, &key, &value)) {
        activity *a = value;
        hob_free(a->type);
        hob_buf_finish(&a->content);
        hob_free(a);
    }
    hob_map_destroy(s->activities);
    s->activities = hob_map_create();
}

static int may_show(hob_agui_session *s, hob_str id, hob_error *err) {
    int rc = hob_agui_need_id("activity's id", id, err);
    if (rc < 0 || hob_map_get(s->activities, id)) return rc;
    if (hob_map_count(s->activities) >= HOB_AGUI_ACTIVITIES_MAX)
        return hob_fail(err, HOB_ETOOBIG, 0, "a run has at most %d activities",
                        HOB_AGUI_ACTIVITIES_MAX);
    return hob_agui_known_room(s, err);
}

int hob_agui_activity_snapshot(hob_agui_session *s, hob_str id, hob_str type, hob_str content_json,
                               hob_error *err) {
    int rc = hob_agui_need_run(s, err);
    if (rc == 0) rc = may_show(s, id, err);
    if (rc == 0) rc = hob_agui_need_id("activity's type", type, err);
    if (rc == 0) rc = hob_agui_need_json(s, "activity", content_json, HOB_JSON_OBJECT, NULL, err);
    if (rc < 0) return rc;
    hob_jsonw *w = hob_agui_begin(s, HOB_AGUI_ACTIVITY_SNAPSHOT);
    hob_jsonw_kstr(w, "messageId", id);
    hob_jsonw_kstr(w, "activityType", type);
    hob_jsonw_kraw(w, "content", content_json);
    rc = hob_agui_send(s, err);
    if (!hob_agui_happened(rc)) return rc;
    activity *a = add_activity(s, id);
    hob_free(a->type);
    a->type = hob_dupz(type);
    hob_buf_reset(&a->content);
    hob_buf_add(&a->content, content_json);
    hob_agui_known_add_message(s, id, HOB_STR_NULL, true);
    return rc;
}

static int send_activity(hob_agui_session *s, activity *a, hob_str id, hob_str patch,
                         hob_error *err) {
    hob_agui_json *after;
    int rc = hob_agui_patch_apply(hob_buf_str(&a->content), patch, &after, err);
    if (rc < 0) return rc;
    hob_str text = hob_agui_json_text(after);
    rc = hob_agui_need_json(s, "patched activity", text, HOB_JSON_OBJECT, NULL, err);
    if (rc == 0) {
        hob_jsonw *w = hob_agui_begin(s, HOB_AGUI_ACTIVITY_DELTA);
        hob_jsonw_kstr(w, "messageId", id);
        hob_jsonw_kstr(w, "activityType", hob_str_z(a->type));
        hob_jsonw_kraw(w, "patch", patch);
        rc = hob_agui_send(s, err);
        if (hob_agui_happened(rc)) {
            hob_buf_reset(&a->content);
            hob_buf_add(&a->content, text);
        }
    }
    hob_agui_json_destroy(after);
    return rc;
}

int hob_agui_activity_delta(hob_agui_session *s, hob_str id, hob_str patch_json, hob_error *err) {
    int rc = hob_agui_need_run(s, err);
    if (rc < 0) return rc;
    activity *a = hob_map_get(s->activities, id);
    if (!a) return hob_fail(err, HOB_ENOENT, 0, "the run has shown no such activity");
    return send_activity(s, a, id, patch_json, err);
}
