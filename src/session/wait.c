/*
 * wait.c - waiting for events and for the end of the work.
 */
#include "session/session.h"

/* ---- events ---------------------------------------------------------------------------------------------- */

static bool box_ready(void *user) {
    hob_session *s = user;
    return s->pub.leaving || hob_mailbox_ready(&s->reader.box);
}

static void start_refill(hob_op *op) {
    op->s->reader.reading = true;
    hob_session_deliver(op->s);
    hob_op_done(op, HOB_OK, NULL);
}

static bool is_leaving(hob_session *s) {
    pthread_mutex_lock(&s->rt->lock);
    bool yes = s->pub.leaving;
    pthread_mutex_unlock(&s->rt->lock);
    return yes;
}

/* More was held back while the mailbox was full. */
static int refill(hob_session *s) {
    hob_op op = {.start = start_refill, .s = s};
    return hob_op_run(s->rt, &op, NULL);
}

static int next_event(hob_session *s, int64_t timeout_ms, hob_event **out) {
    bool ended;
    int error, rc = HOB_OK;
    while (rc >= 0) {
        if (hob_mailbox_take(&s->reader.box, hob_str_z(s->id), out, &ended, &error)) return 1;
        if (error) return error;
        if (is_leaving(s)) return HOB_ECANCELLED;
        if (hob_mailbox_unhold(&s->reader.box))
            rc = refill(s);
        else if (ended)
            return 0;
        else
            rc = hob_wait_for(s->rt, box_ready, s, timeout_ms);
    }
    return rc;
}

int hob_session_next_event(hob_session *s, int64_t timeout_ms, hob_event **out) {
    int rc = hob_session_enter(s, NULL);
    if (rc < 0) return rc;
    rc = next_event(s, timeout_ms, out);
    hob_session_leave(s);
    return rc;
}

int hob_session_fd(hob_session *s) {
    return hob_mailbox_fd(&s->reader.box);
}

typedef struct reading {
    hob_op op;
    uint64_t seq;
    hob_event_fn fn;
    void *user;
} reading;

static void start_seek(hob_op *op) {
    reading *r = HOB_CONTAINER(op, reading, op);
    hob_reader_seek(&op->s->reader, r->seq);
    hob_session_deliver(op->s);
    hob_op_done(op, HOB_OK, NULL);
}

int hob_session_seek(hob_session *s, uint64_t seq) {
    reading r = {.op = {.start = start_seek}, .seq = seq};
    return hob_session_run(s, &r.op, NULL);
}

static void start_on_event(hob_op *op) {
    reading *r = HOB_CONTAINER(op, reading, op);
    hob_reader *own = &op->s->reader;
    own->reading = r->fn != NULL;
    own->on_event = r->fn;
    own->on_event_user = r->user;
    hob_session_kick(op->s);
    hob_op_done(op, HOB_OK, NULL);
}

int hob_session_on_event(hob_session *s, hob_event_fn fn, void *user) {
    reading r = {.op = {.start = start_on_event}, .fn = fn, .user = user};
    return hob_session_run(s, &r.op, NULL);
}

/* ---- the end of the work ------------------------------------------------------------------------------------ */

bool hob_session_at_rest(void *user) {
    hob_session *s = user;
    return s->pub.settled || s->pub.failed;
}

static bool done_waiting(void *user) {
    return hob_session_at_rest(user) || ((hob_session *)user)->pub.leaving;
}

/* Who does not want to wait is told how it stands, also when someone could still answer. */
static bool done_waiting_or_parked(void *user) {
    return done_waiting(user) || ((hob_session *)user)->pub.parked;
}

typedef struct resulting {
    hob_op op;
    hob_result *result;
} resulting;

static void start_result(hob_op *op) {
    HOB_CONTAINER(op, resulting, op)->result = hob_session_result(op->s);
    hob_op_done(op, HOB_OK, NULL);
}

static int wait_for_result(hob_session *s, int64_t timeout_ms, hob_result **out, hob_error *err) {
    resulting r = {.op = {.start = start_result, .s = s}};
    int rc = hob_wait_for(s->rt, timeout_ms ? done_waiting : done_waiting_or_parked, s, timeout_ms);
    if (rc >= 0 && is_leaving(s)) rc = HOB_ECANCELLED;
    if (rc < 0) return hob_fail(err, rc, 0, "%s", hob_error_text(rc));
    if (!out) return HOB_OK;
    rc = hob_op_run(s->rt, &r.op, err);
    if (rc >= 0) *out = r.result;
    return rc;
}

int hob_session_wait(hob_session *s, int64_t timeout_ms, hob_result **out, hob_error *err) {
    int rc = hob_session_enter(s, err);
    if (rc < 0) return rc;
    rc = wait_for_result(s, timeout_ms, out, err);
    hob_session_leave(s);
    return rc;
}

int hob_session_prompt_and_wait(hob_session *s, hob_str text, int64_t timeout_ms, hob_result **out,
                                hob_error *err) {
    int rc = hob_session_prompt(s, text, err);
    return rc < 0 ? rc : hob_session_wait(s, timeout_ms, out, err);
}

static int look(hob_session *s, const bool *flag) {
    pthread_mutex_lock(&s->rt->lock);
    bool yes = *flag;
    pthread_mutex_unlock(&s->rt->lock);
    return yes;
}

int hob_session_is_running(hob_session *s) {
    return look(s, &s->pub.running);
}

int hob_session_is_parked(hob_session *s) {
    return look(s, &s->pub.parked);
}

uint64_t hob_session_parked_at(hob_session *s) {
    pthread_mutex_lock(&s->rt->lock);
    uint64_t seq = s->pub.parked_at;
    pthread_mutex_unlock(&s->rt->lock);
    return seq;
}

int hob_session_is_paused(hob_session *s) {
    return look(s, &s->pub.paused);
}
