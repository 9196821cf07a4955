/*
 * close.c - letting go. Nothing is freed while the store still owes an answer.
 */
#include "session/session.h"

enum { DRAIN_MS = 5000 };

static void on_gone(int code, const hob_error *err, void *user) {
    hob_session *s = user;
    hob_op *op = s->close_op;
    if (code < 0 && err) hob_log(HOB_LOG_WARN, "session", "%s: %s", s->id, err->message);
    hob_session_free(s);
    hob_op_done(op, HOB_OK, NULL);
}

static void on_released(int code, const hob_error *err, void *user) {
    hob_session *s = user;
    if (s->fresh && code >= 0) /* never used: leave no trace */
        s->store->ops->remove(s->store, hob_str_z(s->id), on_gone, s);
    else
        on_gone(code, err, s);
}

static void release(hob_session *s) {
    s->closed = true;
    s->store->ops->release(s->store, hob_str_z(s->id), s->epoch, on_released, s);
}

bool hob_session_arrived(hob_session *s) {
    s->inflight--;
    if (!s->close_op) return true;
    if (!s->inflight) release(s);
    return false;
}

static void start_detach(hob_op *op) {
    hob_session *s = op->s;
    s->closing = true;
    s->close_op = op;
    hob_session_drop_flights(s);
    hob_timer_stop(&s->kick);
    if (!s->inflight) release(s);
}

void hob_session_detach(hob_session *s) {
    hob_op op = {.start = start_detach, .s = s};
    if (s) hob_op_run(s->rt, &op, NULL);
}

static void start_goodbye(hob_op *op) {
    hob_draft d;
    hob_error err;
    int rc = HOB_OK;
    if (op->s->view->last_seq && !op->s->failed) {
        hob_draft_init(&d, HOB_EVENT_SESSION_CLOSED);
        rc = hob_session_append(op->s, &d, &err);
    }
    hob_session_commit(op->s);
    if (rc < 0)
        hob_op_done(op, rc, &err);
    else
        hob_session_op_after(op->s, op);
}

void hob_session_close(hob_session *s) {
    hob_op op = {.start = start_goodbye, .s = s};
    if (!s) return;
    hob_session_cancel_and_settle(s, HOB_QUEUED_RETURN, DRAIN_MS, NULL);
    hob_op_run(s->rt, &op, NULL);
    hob_session_detach(s);
}
