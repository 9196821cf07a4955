/*
 * bare.c - a stored session that is opened only to be changed: it gets a title, a run nobody works on gets its end, it
 * is copied.
 *
 * A bare session is what its log says, and has nothing to work with: no model, no tools, no folder. So nothing that is
 * missing now (a key, an agent's file, the folder) stands in the way, and its log says nothing of settings that it
 * never used. Its children are opened the same way.
 */
#include "session/bare.h"
#include "session/task.h"

int hob_session_fit_bare(hob_session *s, hob_error *err) {
    const hob_view *v = s->view;
    int rc = s->given ? HOB_OK : hob_session_read_policy(s, s->rt->config, &s->policy, err);
    if (rc < 0) return rc;
    if (s->given) s->policy = hob_policy_ref(s->given->policy);
    s->mode = hob_policy_mode(s->policy);
    hob_mode_from(v->permission_mode, &s->mode); /* of a newer hob: the process's own */
    hob_thinking_from(v->thinking, &s->thinking);
    hob_free(s->model_name);
    s->model_name = hob_dupz(v->model);
    snprintf(s->agent_name, sizeof s->agent_name, "%.*s", HOB_FMT(v->agent));
    hob_buf_reset(&s->system);
    hob_buf_add(&s->system, v->system_prompt);
    return HOB_OK;
}

/* ---- state as it was -------------------------------------------------------------------------------------- */

enum { PAGE = 512 };

typedef struct looking {
    hob_session *s;
    hob_str from;   /* heap */
    uint64_t entry; /* nothing from the next entry on counts */
    uint64_t after;
    bool passed;
    hob_state state;
    hob_loaded_fn done;
    void *user;
} looking;

static void read_page(looking *l);

static int look_at(looking *l, hob_str json, hob_error *err) {
    hob_arena *scratch = l->s->rt->scratch;
    const hob_json *data;
    hob_event *e;
    hob_arena_reset(scratch);
    int rc = hob_event_read(json, scratch, &e, &data, err);
    if (rc < 0) return rc;
    l->after = e->seq;
    l->passed = e->entry.n && e->seq > l->entry;
    if (!l->passed && e->type != HOB_EVENT_RUN_STARTED) /* the next entry's, perhaps */
        l->s->forked_ts = e->ts;
    if (!l->passed && e->type == HOB_EVENT_STATE_CHANGED) hob_state_fold(&l->state, data);
    hob_event_unref(e);
    return HOB_OK;
}

/* What it shares with others stays as it is now. */
static void replace_state(looking *l) {
    hob_state *state = &l->s->view->state;
    hob_str key = HOB_STR_NULL, value;
    hob_state_drop(state, HOB_SCOPE_SESSION);
    while (hob_state_next(&l->state, key, &key, &value))
        if (hob_state_scope(key) == HOB_SCOPE_SESSION) hob_state_assign(state, key, value);
}

static void on_page(int code, const hob_error *err, const hob_store_event *events, size_t n,
                    int more, void *user) {
    looking *l = user;
    hob_error e;
    l->s->inflight--;
    for (size_t i = 0; code >= 0 && i < n && !l->passed; i++)
        if ((code = look_at(l, events[i].json, &e)) < 0) err = &e;
    if (code >= 0 && more && !l->passed) {
        read_page(l);
        return;
    }
    if (code >= 0) replace_state(l);
    hob_state_finish(&l->state);
    l->done(l->s, code, err, l->user);
    hob_free((char *)l->from.p);
    hob_free(l);
}

static void read_page(looking *l) {
    l->s->inflight++;
    l->s->store->ops->read(l->s->store, l->from, l->after, PAGE, 0, on_page, l);
}

/* ---- the conversation as it was ---------------------------------------------------------------------------- */

static int move_history(hob_session *s, const char *entry, hob_error *err) {
    hob_draft d;
    hob_jsonw w;
    hob_event *e;
    hob_draft_init(&d, HOB_EVENT_BRANCH_MOVED);
    hob_jsonw_init(&w, &d.data);
    hob_jsonw_object(&w);
    hob_jsonw_kstr(&w, "to", hob_str_z(entry));
    hob_jsonw_object_end(&w);
    int rc = hob_event_encode(&d, s->view->id, s->view->last_seq + 1, s->view->last_ts, &e, err);
    hob_draft_finish(&d);
    if (rc < 0) return rc;
    hob_arena_reset(s->rt->scratch);
    rc = hob_history_apply(s->view->history, e, hob_event_parse(e, s->rt->scratch), err);
    hob_event_unref(e);
    return rc;
}

int hob_session_go_back(hob_session *s, hob_str from, const char *entry, hob_loaded_fn done,
                        void *user, hob_error *err) {
    uint64_t seq = hob_entry_seq(hob_str_z(entry));
    if (!seq || !hob_history_find(s->view->history, seq))
        return hob_fail(err, HOB_ENOENT, 0, "there is no entry %.64s in session %.*s", entry,
                        HOB_FMT(from));
    int rc = move_history(s, entry, err);
    if (rc < 0) return rc;
    looking *l = HOB_NEW(looking);
    *l = (looking){.s = s, .entry = seq, .done = done, .user = user};
    l->from = hob_str_n(hob_dupz(from), from.n);
    read_page(l);
    return HOB_OK;
}
