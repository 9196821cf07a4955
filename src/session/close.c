/*
 * close.c - letting go.
 *
 * Nothing is freed while the store still owes an answer, or while a call of another thread is under way. Whoever lets
 * go first tells all who wait to come back, and frees the session when they have; a second one waits for that.
 */
#include "session/task.h"

enum { DRAIN_MS = 5000, KILL_MS = 1000 };

/* ---- letting go, on the loop ------------------------------------------------------------------------- */

static void on_gone(int code, const hob_error *err, void *user) {
    hob_session *s = user;
    if (code < 0 && err) hob_log(HOB_LOG_WARN, "session", "%s: %s", s->id, err->message);
    pthread_mutex_lock(&s->rt->lock);
    s->pub.gone = true;
    pthread_mutex_unlock(&s->rt->lock);
    hob_op_done(s->close_op, HOB_OK, NULL);
}

/* One that was never used, or lives in memory only, leaves no trace. */
static void on_released(int code, const hob_error *err, void *user) {
    hob_session *s = user;
    if (code >= 0 && (s->fresh || s->store == s->rt->memory))
        s->store->ops->remove(s->store, hob_str_z(s->id), on_gone, s);
    else
        on_gone(code, err, s);
}

static void release(hob_session *s) {
    s->store->ops->release(s->store, hob_str_z(s->id), s->epoch, on_released, s);
}

void hob_session_try_release(hob_session *s) {
    if (!s->close_op || s->released || s->inflight || !hob_tasks_gone(s)) return;
    s->released = true;
    release(s);
}

bool hob_session_arrived(hob_session *s) {
    s->inflight--;
    if (!s->close_op) return true;
    hob_session_try_release(s);
    return false;
}

static void start_detach(hob_op *op) {
    hob_session *s = op->s;
    s->closing = s->let_go = true;
    s->close_op = op;
    hob_session_drop_flights(s);
    hob_timer_stop(&s->kick);
    hob_tasks_let_go(s);
    hob_session_try_release(s);
}

typedef struct goodbye {
    hob_op op;
    void (*then)(void *user);
    void *user;
} goodbye;

static void on_let_go(hob_op *op) {
    goodbye *g = HOB_CONTAINER(op, goodbye, op);
    hob_session_free(op->s);
    g->then(g->user);
    hob_free(g);
}

void hob_session_let_go(hob_session *s, void (*then)(void *user), void *user) {
    goodbye *g = HOB_NEW(goodbye);
    *g = (goodbye){.then = then, .user = user};
    hob_op_prepare(s->rt, &g->op, on_let_go);
    g->op.s = s;
    start_detach(&g->op);
}

static void start_free(hob_op *op) {
    hob_session_free(op->s);
    hob_op_done(op, HOB_OK, NULL);
}

/* ---- letting go, for a caller who holds the session --------------------------------------------------- */

static bool is_gone(void *session) {
    return ((hob_session *)session)->pub.gone;
}

static bool is_alone(void *session) {
    return ((hob_session *)session)->callers == 1;
}

static bool begin_leaving(hob_session *s) {
    pthread_mutex_lock(&s->rt->lock);
    bool first = !s->pub.leaving;
    s->pub.leaving = true;
    pthread_cond_broadcast(&s->rt->cond);
    pthread_mutex_unlock(&s->rt->lock);
    return first;
}

static void let_go(hob_session *s) {
    hob_op detach = {.start = start_detach, .s = s}, end = {.start = start_free, .s = s};
    if (!begin_leaving(s)) {
        hob_wait_firmly(s->rt, is_gone, s, -1);
        hob_session_leave(s);
        return;
    }
    hob_op_run(s->rt, &detach, NULL);
    hob_wait_firmly(s->rt, is_alone, s, -1);
    hob_op_run(s->rt, &end, NULL);
}

void hob_session_detach(hob_session *s) {
    if (!s || hob_inside_callback(s->rt)) return;
    hob_session_hold(s);
    let_go(s);
}

/* ---- closing: an orderly end ---------------------------------------------------------------------------- */

/* A run that was left alone stays as it is: nobody decided about it. */
static void start_closing(hob_op *op) {
    hob_session *s = op->s;
    hob_input cancel = {.kind = HOB_INPUT_CANCEL, .ending = *(hob_ending *)op->user};
    s->closing = true;
    hob_tracker_stop(s);
    int rc = s->left_alone ? HOB_OK : hob_session_input(s, &cancel, &op->err);
    hob_session_publish(s);
    hob_op_done(op, rc, &op->err);
}

static int stop(hob_session *s, hob_ending how, int64_t timeout_ms) {
    hob_op op = {.start = start_closing, .s = s, .user = &how};
    int rc = hob_op_run(s->rt, &op, NULL);
    return rc < 0 ? rc : hob_wait_firmly(s->rt, hob_session_at_rest, s, timeout_ms);
}

static void start_goodbye(hob_op *op) {
    hob_session *s = op->s;
    hob_draft d;
    int rc = HOB_OK;
    if (!s->failed && !s->let_go && !s->left_alone) rc = hob_tracker_close(s, true, &op->err);
    if (rc >= 0 && s->used && !s->failed && !s->let_go) {
        hob_draft_init(&d, HOB_EVENT_SESSION_CLOSED);
        rc = hob_session_append(s, &d, &op->err);
    }
    hob_session_commit(s);
    s->used = false;
    if (rc < 0)
        hob_op_done(op, rc, &op->err);
    else
        hob_session_op_after(s, op);
}

void hob_session_close(hob_session *s) {
    hob_op last = {.start = start_goodbye, .s = s};
    if (!s || hob_inside_callback(s->rt)) return;
    hob_session_hold(s);
    if (stop(s, HOB_ENDING_CANCEL, DRAIN_MS) == HOB_ETIMEDOUT) stop(s, HOB_ENDING_ABORT, KILL_MS);
    hob_op_run(s->rt, &last, NULL);
    let_go(s);
}
