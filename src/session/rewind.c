/*
 * rewind.c - back to before a run: the conversation as it was then, and the session's own state.
 *
 * The log is read from its beginning up to the run's start, for two things only: where the conversation stood, and what
 * the state was. Then two events lead there: branch_moved and, if something differs, one state_changed. Nothing is
 * taken out of the log. `app:` and `user:` keys stay as they are: others share them.
 *
 * A run that continues an interrupted one belongs to it: rewinding goes to before the first of them.
 */
#include "session/session.h"

enum { PAGE = 512 };

typedef struct rewinding {
    hob_op op;
    hob_str run;
    uint64_t after;  /* the last event looked at */
    uint64_t leaf;   /* where the conversation stands there; 0 = before its beginning */
    hob_state state; /* and the state */
    struct {
        uint64_t leaf;
        hob_state state;
    } before; /* the run at hand, and those it continues */
    bool found;
} rewinding;

static void read_page(rewinding *r);

/* ---- the fold --------------------------------------------------------------------------------------------- */

static void run_started(rewinding *r, const hob_event *e, const hob_json *data) {
    bool again = hob_str_eqz(hob_json_get_str(data, "origin"), "resume");
    if (!again) {
        r->before.leaf = r->leaf;
        hob_state_finish(&r->before.state);
        hob_state_copy(&r->before.state, &r->state);
    }
    r->found = hob_str_eq(e->run_id, r->run);
}

static void look_at(rewinding *r, const hob_event *e, const hob_json *data) {
    r->after = e->seq;
    if (e->type == HOB_EVENT_RUN_STARTED) run_started(r, e, data);
    if (e->type == HOB_EVENT_STATE_CHANGED) hob_state_fold(&r->state, data);
    if (e->type == HOB_EVENT_BRANCH_MOVED)
        r->leaf = hob_entry_seq(hob_json_get_str(data, "to"));
    else if (e->entry.n)
        r->leaf = e->seq;
}

static int look_at_page(rewinding *r, const hob_store_event *events, size_t n, hob_error *err) {
    hob_arena *scratch = r->op.rt->scratch;
    const hob_json *data;
    hob_event *e;
    for (size_t i = 0; i < n && !r->found; i++) {
        hob_arena_reset(scratch);
        int rc = hob_event_read(events[i].json, scratch, &e, &data, err);
        if (rc < 0) return rc;
        look_at(r, e, data);
        hob_event_unref(e);
    }
    return HOB_OK;
}

/* ---- the two events --------------------------------------------------------------------------------------- */

static int say_moved(rewinding *r, hob_error *err) {
    char to[24] = "";
    hob_draft d;
    hob_jsonw w;
    if (r->before.leaf) snprintf(to, sizeof to, "e%llu", (unsigned long long)r->before.leaf);
    hob_draft_init(&d, HOB_EVENT_BRANCH_MOVED);
    hob_jsonw_init(&w, &d.data);
    hob_jsonw_object(&w);
    hob_jsonw_kstr(&w, "to", hob_str_z(to));
    hob_jsonw_kstr(&w, "before", r->run);
    hob_jsonw_object_end(&w);
    return hob_session_append(r->op.s, &d, err);
}

static int go_back(rewinding *r, hob_error *err) {
    hob_session *s = r->op.s;
    hob_state back = {.count = 0};
    int rc = hob_session_usable(s, err);
    if (rc >= 0 && hob_session_active(s))
        rc = hob_fail(err, HOB_EBUSY, 0, "a run is under way: cancel it or wait before rewinding");
    if (rc >= 0) rc = say_moved(r, err);
    hob_overlay_diff(&s->view->state, &r->before.state, HOB_SCOPE_SESSION, &back);
    if (rc >= 0 && back.count) rc = hob_session_say_state(s, &back, err);
    hob_state_finish(&back);
    return rc;
}

static void end(rewinding *r, int rc, hob_error *err) {
    hob_session *s = r->op.s;
    if (rc >= 0 && !r->found)
        rc = hob_fail(err, HOB_ENOENT, 0, "there is no run %.*s in this session", HOB_FMT(r->run));
    if (rc >= 0) rc = go_back(r, err);
    hob_session_commit(s);
    if (rc < 0)
        hob_op_done(&r->op, rc, err);
    else
        hob_session_op_after(s, &r->op);
}

/* ---- reading ------------------------------------------------------------------------------------------------ */

static void on_page(int code, const hob_error *err, const hob_store_event *events, size_t n,
                    int more, void *user) {
    rewinding *r = user;
    hob_error e = {.code = code};
    if (err) e = *err;
    if (!hob_session_arrived(r->op.s) && code >= 0)
        code = hob_fail(&e, HOB_ECANCELLED, 0, "the session is being closed");
    if (code >= 0) code = look_at_page(r, events, n, &e);
    if (code >= 0 && more && !r->found)
        read_page(r);
    else
        end(r, code, &e);
}

static void read_page(rewinding *r) {
    hob_session *s = r->op.s;
    s->inflight++;
    s->store->ops->read(s->store, hob_str_z(s->id), r->after, PAGE, 0, on_page, r);
}

static void start(hob_op *op) {
    rewinding *r = HOB_CONTAINER(op, rewinding, op);
    hob_error err;
    if (!hob_session_thaw(op->s, op)) return;
    int rc = hob_session_usable(op->s, &err);
    if (rc >= 0 && hob_session_active(op->s))
        rc = hob_fail(&err, HOB_EBUSY, 0, "a run is under way: cancel it or wait before rewinding");
    if (rc < 0)
        hob_op_done(op, rc, &err);
    else
        read_page(r);
}

int hob_session_rewind(hob_session *s, hob_str run, hob_error *err) {
    rewinding r = {.op = {.start = start}, .run = run};
    int rc = hob_session_run(s, &r.op, err);
    hob_state_finish(&r.state);
    hob_state_finish(&r.before.state);
    return rc;
}
