/*
 * scope.c - app: and user: state, which a session shares with others.
 *
 * The truth is in the store, in rows that change in the commit of the event that says so. A session reads them when it
 * is opened and puts them into its view. Sessions of the same program tell each other what became durable, so they see
 * it at once; other programs see it when they open a session.
 *
 * Commits are answered in the order in which they happened. So when another session's change arrives here while one of
 * our own to the same key is still on its way, ours comes later in the store, too, and stays.
 */
#include "session/session.h"

/* ---- whose session it is ------------------------------------------------------------------------------------ */

static bool adopt(char **name, hob_str of_log, const char *otherwise) {
    if (!of_log.n) of_log = hob_str_z(*name ? *name : otherwise);
    if (*name && !hob_str_eqz(of_log, *name)) return false;
    if (!*name) *name = hob_dupz(of_log);
    return true;
}

int hob_session_identify(hob_session *s, hob_error *err) {
    const hob_view *v = s->view;
    /* a log without names is of a session that had none */
    hob_str app = v->id.n && !v->app_name.n ? HOB_STR("hob") : v->app_name;
    hob_str user = v->id.n && !v->user_id.n ? HOB_STR("local") : v->user_id;
    if (adopt(&s->app_name, app, "hob") && adopt(&s->user_id, user, "local")) return HOB_OK;
    return hob_fail(err, HOB_ENOENT, 0, "there is no session %.*s of user %s of %s", HOB_FMT(v->id),
                    s->user_id ? s->user_id : "local", s->app_name ? s->app_name : "hob");
}

int hob_session_app_name(hob_session *s, char *buf, size_t cap) {
    return hob_str_out(hob_str_z(s->app_name), buf, cap);
}

int hob_session_user_id(hob_session *s, char *buf, size_t cap) {
    return hob_str_out(hob_str_z(s->user_id), buf, cap);
}

/* ---- from the store ------------------------------------------------------------------------------------------ */

typedef struct reading {
    hob_session *s;
    hob_scopes_fn done;
    void *user;
} reading;

static void ask(reading *r);

static void replace(hob_session *s, const hob_store_state *rows, size_t n) {
    hob_state_drop(&s->view->state, HOB_SCOPE_APP | HOB_SCOPE_USER);
    for (size_t i = 0; i < n; i++) {
        unsigned scope = rows[i].user.n ? HOB_SCOPE_USER : HOB_SCOPE_APP;
        if (hob_state_scope(rows[i].key) == scope)
            hob_state_assign(&s->view->state, rows[i].key, rows[i].value);
    }
    s->view->state_revision++;
}

static void on_states(int code, const hob_error *err, const hob_store_state *rows, size_t n,
                      void *user) {
    reading *r = user;
    hob_session *s = r->s;
    hob_error gone;
    s->reading_scopes = false;
    if (!hob_session_arrived(s) && code >= 0) {
        code = hob_fail(&gone, HOB_ECANCELLED, 0, "the session was closed while it was read");
        err = &gone;
    }
    if (code >= 0 && s->scopes_stale) {
        ask(r);
        return;
    }
    if (code >= 0) replace(s, rows, n);
    r->done(s, code, err, r->user);
    hob_free(r);
}

static void ask(reading *r) {
    hob_session *s = r->s;
    s->inflight++;
    s->reading_scopes = true;
    s->scopes_stale = false;
    s->store->ops->states(s->store, hob_str_z(s->app_name), hob_str_z(s->user_id), on_states, r);
}

void hob_session_read_scopes(hob_session *s, hob_scopes_fn done, void *user) {
    reading *r = HOB_NEW(reading);
    *r = (reading){s, done, user};
    ask(r);
}

/* ---- to the store --------------------------------------------------------------------------------------------- */

static bool is_shared(hob_str key) {
    return hob_state_scope(key) & (HOB_SCOPE_APP | HOB_SCOPE_USER) &&
           hob_state_check_key(key, NULL) >= 0;
}

static void add_row(hob_session *s, hob_arena *a, hob_scope_rows *rows, hob_store_state row) {
    if (rows->n == rows->cap) {
        size_t cap = rows->cap ? 2 * rows->cap : 8;
        hob_store_state *more = hob_arena_alloc(a, cap * sizeof *more);
        if (rows->n) memcpy(more, rows->at, rows->n * sizeof *more);
        rows->at = more;
        rows->cap = cap;
    }
    row.app = hob_str_z(s->app_name);
    if (hob_state_scope(row.key) == HOB_SCOPE_USER) row.user = hob_str_z(s->user_id);
    rows->at[rows->n++] = row;
}

void hob_session_scope_rows(hob_session *s, const hob_event *e, hob_arena *a,
                            hob_scope_rows *rows) {
    if (e->type != HOB_EVENT_STATE_CHANGED) return;
    const hob_json *data = hob_event_parse(e, a);
    const hob_json *delta = hob_json_get(data, "delta"), *removed = hob_json_get(data, "removed");
    for (const hob_json *v = hob_json_first(delta); v; v = hob_json_next(v))
        if (is_shared(hob_json_key(v)))
            add_row(s, a, rows,
                    (hob_store_state){.key = hob_json_key(v), .value = hob_json_raw(v)});
    for (const hob_json *v = hob_json_first(removed); v; v = hob_json_next(v))
        if (is_shared(hob_json_str(v)))
            add_row(s, a, rows, (hob_store_state){.key = hob_json_str(v), .removed = 1});
}

/* ---- to the others of this program ------------------------------------------------------------------------------ */

static const hob_event *tail_event(const hob_session *s, uint64_t seq) {
    return seq >= s->tail_base && seq - s->tail_base < s->ntail ? s->tail[seq - s->tail_base]
                                                                : NULL;
}

static hob_scope_rows rows_of(hob_session *s, uint64_t after, uint64_t upto, hob_arena *a) {
    hob_scope_rows rows = {.n = 0};
    for (uint64_t seq = after + 1; seq <= upto; seq++) {
        const hob_event *e = tail_event(s, seq);
        if (e) hob_session_scope_rows(s, e, a, &rows);
    }
    return rows;
}

static bool changes(const hob_scope_rows *rows, const hob_store_state *row) {
    for (size_t i = 0; i < rows->n; i++)
        if (hob_str_eq(rows->at[i].key, row->key)) return true;
    return false;
}

static void learn(hob_session *s, const hob_scope_rows *rows, hob_arena *a) {
    hob_scope_rows own = rows_of(s, s->durable, s->view->last_seq, a);
    uint64_t before = s->view->state_revision;
    if (s->reading_scopes) s->scopes_stale = true;
    for (size_t i = 0; i < rows->n; i++) {
        const hob_store_state *row = &rows->at[i];
        if (row->user.n && !hob_str_eqz(row->user, s->user_id)) continue;
        if (changes(&own, row)) continue;
        hob_state_assign(&s->view->state, row->key, row->removed ? HOB_STR_NULL : row->value);
        s->view->state_revision = before + 1;
    }
}

static bool has_changes(const hob_session *s, uint64_t upto) {
    for (uint64_t seq = s->durable + 1; seq <= upto; seq++) {
        const hob_event *e = tail_event(s, seq);
        if (e && e->type == HOB_EVENT_STATE_CHANGED) return true;
    }
    return false;
}

void hob_session_tell_scopes(hob_session *s, uint64_t upto) {
    if (!has_changes(s, upto)) return;
    hob_arena *a = hob_arena_create(0);
    hob_scope_rows rows = rows_of(s, s->durable, upto, a);
    HOB_LIST_EACH (it, &s->rt->sessions) {
        hob_session *other = HOB_CONTAINER(it, hob_session, link);
        bool same = other != s && other->store == s->store && other->app_name && other->user_id;
        if (rows.n && same && !strcmp(other->app_name, s->app_name)) learn(other, &rows, a);
    }
    hob_arena_destroy(a);
}
