/*
 * share.c - a session's conversation and state as a snapshot of hob/shared.h.
 *
 * On the loop only references are taken; the snapshot is made on the caller's thread.
 */
#include "session/session.h"

#include "log/shared.h"

typedef struct sharing {
    hob_op op;
    hob_event **events;
    size_t n, cap;
    hob_state state;
} sharing;

static void add(sharing *sh, hob_event *e) {
    if (!e) return;
    if (sh->n == sh->cap) {
        sh->cap = sh->cap ? 2 * sh->cap : 64;
        sh->events = hob_realloc(sh->events, sh->cap * sizeof *sh->events);
    }
    sh->events[sh->n++] = hob_event_ref(e);
}

static void start(hob_op *op) {
    sharing *sh = HOB_CONTAINER(op, sharing, op);
    hob_error err;
    if (!hob_session_thaw(op->s, op)) return;
    int rc = hob_session_usable(op->s, &err);
    if (rc < 0) {
        hob_op_done(op, rc, &err);
        return;
    }
    const hob_history *h = op->s->view->history;
    for (size_t i = 0; i < h->npath; i++) {
        const hob_node *n = &h->nodes[h->path[i]];
        add(sh, n->event);
        for (size_t k = 0; k < n->nresults; k++) add(sh, n->results[k].event);
    }
    hob_state_copy(&sh->state, &op->s->view->state);
    hob_session_op_after(op->s, op);
}

static int make(hob_session *s, sharing *sh, hob_shared_snapshot **out, hob_error *err) {
    hob_ledger l = {.limits = HOB_LEDGER_LIMITS};
    hob_shared_name *name;
    int rc = hob_shared_name_create(hob_str_z(s->id), hob_str_z(s->app_name), hob_str_z(s->user_id),
                                    &name, err);
    if (rc < 0) return rc;
    rc = hob_ledger_add_log(&l, sh->events, sh->n, err);
    hob_state_drop_temp(&sh->state);
    hob_state_copy(&l.state, &sh->state);
    if (rc >= 0) *out = hob_ledger_snapshot(&l, name);
    hob_shared_name_unref(name);
    hob_ledger_finish(&l);
    return rc;
}

int hob_session_share(hob_session *s, hob_shared_snapshot **out, hob_error *err) {
    sharing sh = {.op = {.start = start}};
    int rc = hob_session_run(s, &sh.op, err);
    if (rc >= 0) rc = make(s, &sh, out, err);
    for (size_t i = 0; i < sh.n; i++) hob_event_unref(sh.events[i]);
    hob_free(sh.events);
    hob_state_finish(&sh.state);
    return rc;
}
