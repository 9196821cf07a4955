/*
 * state_calls.c - state as a host sees it: snapshots of what is durable, and changes that are events.
 */
#include "session/session.h"

typedef struct call {
    hob_op op;
    hob_change change;
    const uint64_t *expected; /* the revision that must hold; NULL = any */
    hob_state *state;
    uint64_t revision;
} call;

/* ---- looking ------------------------------------------------------------------------------------------------- */

/* The snapshot is of now; the call ends when everything in it is durable. */
static void start_look(hob_op *op) {
    call *c = HOB_CONTAINER(op, call, op);
    hob_error err;
    int rc = hob_session_usable(op->s, &err);
    if (rc < 0) {
        hob_op_done(op, rc, &err);
        return;
    }
    c->state = hob_state_dup(&op->s->view->state);
    c->revision = op->s->view->state_revision;
    hob_session_op_after(op->s, op);
}

int hob_session_state(hob_session *s, hob_state **out, uint64_t *revision, hob_error *err) {
    call c = {.op = {.start = start_look}};
    int rc = hob_session_run(s, &c.op, err);
    if (rc < 0) {
        hob_state_destroy(c.state);
        return rc;
    }
    *out = c.state;
    if (revision) *revision = c.revision;
    return rc;
}

int hob_session_state_get(hob_session *s, hob_str key, char *buf, size_t cap) {
    hob_state *state;
    hob_str value;
    int rc = hob_session_state(s, &state, NULL, NULL);
    if (rc < 0) return rc;
    rc = hob_state_get(state, key, &value);
    if (rc >= 0) rc = hob_str_out(value, buf, cap);
    hob_state_destroy(state);
    return rc;
}

int hob_session_state_iterate(hob_session *s, unsigned scopes, hob_state_fn fn, void *user) {
    hob_str key = HOB_STR_NULL, value;
    hob_state *state;
    int rc = hob_session_state(s, &state, NULL, NULL);
    if (rc < 0) return rc;
    while (rc == 0 && hob_state_next(state, key, &key, &value))
        if (hob_state_scope(key) & scopes) rc = fn(key, value, user);
    hob_state_destroy(state);
    return rc;
}

/* ---- changing ------------------------------------------------------------------------------------------------- */

static int check(hob_session *s, const call *c, hob_error *err) {
    const hob_state_limits limits = HOB_STATE_LIMITS;
    int rc = hob_session_usable(s, err);
    if (rc >= 0 && s->closing) rc = hob_fail(err, HOB_ECANCELLED, 0, "the session is being closed");
    if (rc >= 0 && c->expected && *c->expected != s->view->state_revision)
        rc = hob_fail(
            err, HOB_EBUSY, 0, "the state is at revision %llu, no longer at %llu: look again",
            (unsigned long long)s->view->state_revision, (unsigned long long)*c->expected);
    return rc < 0 ? rc : hob_change_check(&c->change, &s->view->state, &limits, err);
}

static void start_change(hob_op *op) {
    call *c = HOB_CONTAINER(op, call, op);
    hob_session *s = op->s;
    hob_state overlay = {.count = 0};
    hob_error err;
    int rc = check(s, c, &err);
    hob_overlay_add(&overlay, &c->change);
    if (rc >= 0 && overlay.count) rc = hob_session_say_state(s, &overlay, &err);
    hob_state_finish(&overlay);
    hob_session_commit(s);
    if (rc < 0)
        hob_op_done(op, rc, &err);
    else
        hob_session_op_after(s, op);
}

static int change(hob_session *s, call *c, hob_error *err) {
    c->op.start = start_change;
    int rc = hob_session_run(s, &c->op, err);
    hob_change_finish(&c->change);
    return rc;
}

int hob_session_state_set(hob_session *s, hob_str key, hob_str value, hob_error *err) {
    call c = {.state = NULL};
    int rc = hob_change_init_set(&c.change, key, value, err);
    return rc < 0 ? rc : change(s, &c, err);
}

int hob_session_state_delete(hob_session *s, hob_str key, hob_error *err) {
    call c = {.state = NULL};
    int rc = hob_change_init_remove(&c.change, key, err);
    return rc < 0 ? rc : change(s, &c, err);
}

static int apply(hob_session *s, call *c, hob_str delta, hob_str removed, hob_error *err) {
    hob_arena *a = hob_arena_create(0);
    int rc = hob_change_init(&c->change, a, delta, removed, err);
    hob_arena_destroy(a);
    return rc < 0 ? rc : change(s, c, err);
}

int hob_session_apply_state_delta(hob_session *s, hob_str delta, hob_str removed, hob_error *err) {
    call c = {.state = NULL};
    return apply(s, &c, delta, removed, err);
}

int hob_session_apply_state_delta_at(hob_session *s, uint64_t revision, hob_str delta,
                                     hob_str removed, hob_error *err) {
    call c = {.expected = &revision};
    return apply(s, &c, delta, removed, err);
}
