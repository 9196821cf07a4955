/*
 * thaw.c - a session that was opened from a snapshot gets the rest of its conversation.
 *
 * Whoever needs more of it than the snapshot left (another model, the tree, moving) asks for the whole and waits: the
 * log is folded into a history of its own, page by page, which then takes the place of the cold one. Meanwhile the
 * session lives on; what it appends is folded into both.
 */
#include "session/session.h"

enum { PAGE = 512 };

struct hob_thaw {
    hob_session *s;
    const hob_view *view; /* whose history it is; the session may be read again meanwhile */
    hob_history *whole;
    uint64_t after; /* the last event folded */
    hob_list ops;   /* that wait */
};

static void read_page(hob_thaw *t);

static void end_ops(hob_list *ops, int code, const hob_error *err) {
    while (!hob_list_empty(ops)) {
        hob_op *op = HOB_LIST_FIRST(ops, hob_op, link);
        hob_list_remove(&op->link);
        if (code < 0)
            hob_op_done(op, code, err);
        else
            op->start(op);
    }
}

static void finish(hob_thaw *t, int code, const hob_error *err) {
    hob_session *s = t->s;
    s->thaw = NULL;
    hob_history_destroy(t->whole);
    if (code < 0 && code != HOB_ECANCELLED) hob_session_fail(s, code, err);
    end_ops(&t->ops, code, err);
    hob_free(t);
    if (code >= 0) hob_session_kick(s);
}

static int fold(hob_thaw *t, hob_event *e, const hob_json *data, hob_error *err) {
    if (e->seq != t->after + 1)
        return hob_fail(err, HOB_ESTORE, 0, "the log of session %s has a gap after event %llu",
                        t->s->id, (unsigned long long)t->after);
    t->after = e->seq;
    return hob_history_apply(t->whole, e, data, err);
}

static int fold_page(hob_thaw *t, const hob_store_event *events, size_t n, hob_error *err) {
    hob_arena *scratch = t->s->rt->scratch;
    const hob_json *data;
    hob_event *e;
    int rc = HOB_OK;
    for (size_t i = 0; i < n && rc >= 0; i++) {
        hob_arena_reset(scratch);
        rc = hob_event_read(events[i].json, scratch, &e, &data, err);
        if (rc < 0) break;
        rc = fold(t, e, data, err);
        hob_event_unref(e);
    }
    return rc;
}

/* What is not durable yet is in the session's hands. */
static int fold_tail(hob_thaw *t, hob_error *err) {
    hob_session *s = t->s;
    int rc = HOB_OK;
    for (size_t i = 0; i < s->ntail && rc >= 0; i++) {
        if (s->tail[i]->seq <= t->after) continue;
        hob_arena_reset(s->rt->scratch);
        rc = fold(t, s->tail[i], hob_event_parse(s->tail[i], s->rt->scratch), err);
    }
    return rc;
}

static int take_place(hob_thaw *t, hob_error *err) {
    int rc = fold_tail(t, err);
    if (rc < 0) return rc;
    hob_history *whole = t->whole;
    t->whole = NULL;
    if (hob_history_thaw(t->s->view->history, whole)) return HOB_OK;
    return hob_fail(err, HOB_ESTORE, 0,
                    "the snapshot of session %s does not agree with its log: send the prompt again",
                    t->s->id);
}

static void on_page(int code, const hob_error *err, const hob_store_event *events, size_t n,
                    int more, void *user) {
    hob_thaw *t = user;
    hob_session *s = t->s;
    hob_error e;
    bool open = hob_session_arrived(s), same = open && s->view == t->view && !s->refolding;
    if (code < 0) e = *err;
    if (!open)
        code = hob_fail(&e, HOB_ECANCELLED, 0, "the session is being closed");
    else if (!same) /* it was read again, all of it */
        code = HOB_OK;
    if (same && code >= 0) code = fold_page(t, events, n, &e);
    if (same && code >= 0 && (more || t->after < s->durable)) {
        read_page(t);
        return;
    }
    if (same && code >= 0) code = take_place(t, &e);
    finish(t, code, &e);
}

static void read_page(hob_thaw *t) {
    t->s->inflight++;
    t->s->store->ops->read(t->s->store, hob_str_z(t->s->id), t->after, PAGE, 0, on_page, t);
}

static void start(hob_session *s) {
    hob_thaw *t = s->thaw = HOB_NEW(hob_thaw);
    t->s = s;
    t->view = s->view;
    t->whole = hob_history_create();
    hob_list_init(&t->ops);
    read_page(t);
}

bool hob_session_thaw(hob_session *s, hob_op *op) {
    hob_error err;
    if (!s->view->history->cold.count) return true;
    int rc = hob_session_usable(s, &err);
    if (rc >= 0 && !s->thaw) start(s);
    if (op && rc >= 0)
        hob_list_push(&s->thaw->ops, &op->link);
    else if (op)
        hob_op_done(op, rc, &err);
    return false;
}
