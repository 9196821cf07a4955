/*
 * state.c - session state on its way into the log, and the part of it that never gets there.
 *
 * What a tool changes becomes part of its tool_finished; run/ makes one state_changed of it when the batch is done, and
 * the view folds that. Values of `temp:` keys are in no event: they are put aside with the call's id until that event is
 * appended, join the view then, and leave it with the run.
 */
#include "session/session.h"

enum {
    BATCH_MAX = 16 << 20
}; /* bytes of changes that wait for the end of a batch: one event holds them */

/* ---- what a tool asked for ------------------------------------------------------------------------------- */

static int check_room(const hob_strand *st, const hob_actions *a, hob_error *err) {
    const hob_state_limits limits = HOB_STATE_LIMITS;
    size_t waiting = a->changes.bytes;
    for (size_t i = 0; i < st->run->ncalls; i++)
        waiting += st->run->calls[i].delta.n + st->run->calls[i].removed.n;
    if (waiting > BATCH_MAX)
        return hob_fail(err, HOB_ETOOBIG, 0,
                        "the calls of one answer may change %d bytes of state together", BATCH_MAX);
    return hob_overlay_check(&a->changes, &st->s->view->state, &limits, err);
}

/* One more block at the end of a JSON array. */
void hob_content_add_words(hob_buf *content, const char *words) {
    while (content->n && content->p[content->n - 1] != ']') content->n--;
    if (!content->n) hob_buf_addz(content, "[]");
    content->n--;
    if (hob_str_trim(hob_buf_str(content)).n > 1) hob_buf_addc(content, ',');
    hob_buf_addz(content, "{\"type\":\"text\",\"text\":");
    hob_json_quote(content, hob_str_z(words));
    hob_buf_addz(content, "}]");
}

static void put_aside(hob_session *s, const char *call, const hob_state *changes) {
    hob_temp *t = HOB_NEW(hob_temp);
    snprintf(t->call, sizeof t->call, "%s", call);
    hob_state_copy(&t->overlay, changes);
    hob_list_push(&s->temps, &t->link);
}

void hob_strand_take_actions(hob_strand *st, const char *call, const hob_actions *a, hob_buf *out,
                             hob_buf *content) {
    hob_actions taken = *a; /* borrows; is never finished */
    char words[700];
    hob_error err;
    hob_jsonw w;
    if (check_room(st, a, &err) < 0) {
        snprintf(words, sizeof words, "warning: the change of state was refused: %s", err.message);
        hob_content_add_words(content, words);
        taken.changes = (hob_state){.count = 0};
    }
    if (!hob_actions_any(&taken)) return;
    if (taken.changes.count) put_aside(st->s, call, &taken.changes);
    hob_jsonw_init(&w, out);
    hob_actions_write(&taken, &w);
}

/* ---- temp: ------------------------------------------------------------------------------------------------ */

static void drop(hob_temp *t) {
    hob_list_remove(&t->link);
    hob_state_finish(&t->overlay);
    hob_free(t);
}

void hob_session_drop_temps(hob_session *s) {
    HOB_LIST_EACH_SAFE (it, &s->temps) drop(HOB_CONTAINER(it, hob_temp, link));
    s->temp_kept = false;
}

/* "m12.3", of message m12 -> 3; -1 = of another message. */
static int64_t place_of(const hob_temp *t, hob_str message) {
    hob_str call = hob_str_z(t->call);
    int64_t place;
    if (!hob_str_starts(call, message) || call.n <= message.n || call.p[message.n] != '.')
        return -1;
    return hob_str_int(hob_str_skip(call, message.n + 1), &place) < 0 ? -1 : place;
}

static hob_temp *first_of(hob_session *s, hob_str message) {
    hob_temp *first = NULL;
    HOB_LIST_EACH (it, &s->temps) {
        hob_temp *t = HOB_CONTAINER(it, hob_temp, link);
        int64_t place = place_of(t, message);
        if (place >= 0 && (!first || place < place_of(first, message))) first = t;
    }
    return first;
}

void hob_session_note_temp(hob_session *s, const hob_event *e, const hob_json *data) {
    if (e->type == HOB_EVENT_RUN_FINISHED) hob_session_drop_temps(s);
    if (e->type != HOB_EVENT_STATE_CHANGED) return;
    if (hob_json_count(hob_json_get(data, "temp"))) s->temp_kept = true;
    for (hob_temp *t = first_of(s, e->cause); e->cause.n && t; t = first_of(s, e->cause)) {
        hob_overlay_apply(&t->overlay, HOB_SCOPE_TEMP, &s->view->state);
        drop(t);
    }
}

/* ---- changes of the host's ----------------------------------------------------------------------------------- */

static bool has_temp(const hob_state *overlay) {
    hob_str key, value;
    return hob_state_next(overlay, HOB_STR("temp:"), &key, &value) &&
           hob_state_scope(key) == HOB_SCOPE_TEMP;
}

int hob_session_say_state(hob_session *s, const hob_state *overlay, hob_error *err) {
    bool running = hob_session_active(s) && !s->left_alone;
    hob_draft d;
    hob_jsonw w;
    if (has_temp(overlay) && !running)
        return hob_fail(err, HOB_EIDLE, 0,
                        "a temp: key lives as long as a run, and none is under way");
    int rc = s->view->id.n ? HOB_OK : hob_session_say_settings(s, err);
    if (rc < 0) return rc;
    hob_draft_init(&d, HOB_EVENT_STATE_CHANGED);
    d.author = HOB_STR("host");
    if (running) d.run_id = hob_str_z(s->run.id);
    hob_jsonw_init(&w, &d.data);
    hob_jsonw_object(&w);
    hob_overlay_write(overlay, "delta", &w);
    hob_jsonw_object_end(&w);
    rc = hob_session_append(s, &d, err);
    if (rc >= 0) hob_overlay_apply(overlay, HOB_SCOPE_TEMP, &s->view->state);
    return rc;
}

int hob_session_begin_state(hob_session *s, const hob_state *inherited, hob_str json,
                            hob_error *err) {
    const hob_state_limits limits = HOB_STATE_LIMITS;
    hob_state overlay = {.count = 0};
    hob_change c;
    hob_arena *a = hob_arena_create(0);
    int rc = hob_change_init(&c, a, json, HOB_STR_NULL, err);
    if (rc >= 0) {
        if (inherited) hob_overlay_apply(inherited, HOB_SCOPE_SESSION, &overlay);
        hob_overlay_add(&overlay, &c);
        hob_change_finish(&c);
        hob_state_drop_temp(&overlay);
        rc = hob_overlay_check(&overlay, &s->view->state, &limits, err);
    }
    if (rc >= 0 && overlay.count) rc = hob_session_say_state(s, &overlay, err);
    hob_state_finish(&overlay);
    hob_arena_destroy(a);
    return rc;
}
