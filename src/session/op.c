/*
 * op.c - calls from any thread, done on the loop.
 *
 * An operation lives on the stack of the caller, who waits for it. On the loop's own thread (host loop mode) waiting
 * means driving the loop; inside a callback of the host that would deadlock, and is refused.
 */
#include "session/session.h"

#include <time.h>

bool hob_on_loop(hob_runtime *rt) {
    return pthread_equal(pthread_self(), rt->thread) != 0;
}

static void on_then(hob_msg *m) {
    hob_op *op = HOB_CONTAINER(m, hob_op, msg);
    op->then(op);
}

void hob_op_prepare(hob_runtime *rt, hob_op *op, void (*then)(hob_op *op)) {
    op->rt = rt;
    op->then = then;
    op->msg.fn = on_then;
    op->done = false;
    op->rc = HOB_OK;
    hob_list_init(&op->link);
}

void hob_op_done(hob_op *op, int rc, const hob_error *err) {
    hob_runtime *rt = op->rt;
    if (op->then) {
        op->rc = rc;
        if (err && rc < 0) op->err = *err;
        op->done = true;
        hob_loop_post(rt->loop, &op->msg);
        return;
    }
    pthread_mutex_lock(&rt->lock);
    op->rc = rc;
    if (err && rc < 0) op->err = *err;
    op->done = true;
    pthread_cond_broadcast(&rt->cond);
    pthread_mutex_unlock(&rt->lock);
}

static bool op_ready(void *user) {
    return ((hob_op *)user)->done;
}

/* ---- waiting ---------------------------------------------------------------------------------- */

static int64_t mono_ms(hob_runtime *rt) {
    hob_clock *c = hob_loop_clock(rt->loop);
    return c->mono_ms(c);
}

/* Waiting here would wait for ourselves: a callback of the loop, or of the host, is what makes the call. */
bool hob_inside_callback(hob_runtime *rt) {
    return hob_on_loop(rt) &&
           (rt->depth || rt->mode == HOB_LOOP_OWN_THREAD || hob_loop_inside(rt->loop));
}

typedef struct wait {
    hob_runtime *rt;
    bool (*ready)(void *user);
    void *user;
    int64_t timeout_ms;
    bool wakeable;
} wait;

static bool was_woken(const wait *w) {
    return w->wakeable && atomic_exchange(&w->rt->woken, false);
}

static int pump(const wait *w) {
    hob_runtime *rt = w->rt;
    int64_t deadline = w->timeout_ms < 0 ? -1 : mono_ms(rt) + w->timeout_ms;
    for (;;) {
        pthread_mutex_lock(&rt->lock);
        bool yes = w->ready(w->user);
        pthread_mutex_unlock(&rt->lock);
        if (yes) return HOB_OK;
        if (was_woken(w)) return HOB_EAGAIN;
        int64_t left = deadline < 0 ? -1 : deadline - mono_ms(rt);
        if (deadline >= 0 && left <= 0) return HOB_ETIMEDOUT;
        hob_loop_run_once(rt->loop, left);
    }
}

static struct timespec deadline_after(int64_t ms) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    t.tv_sec += ms / 1000;
    t.tv_nsec += (ms % 1000) * 1000000;
    t.tv_sec += t.tv_nsec / 1000000000;
    t.tv_nsec %= 1000000000;
    return t;
}

static int block(const wait *w) {
    hob_runtime *rt = w->rt;
    struct timespec until = deadline_after(HOB_MAX(w->timeout_ms, 0));
    int rc = HOB_OK, e = 0;
    pthread_mutex_lock(&rt->lock);
    while (!w->ready(w->user)) {
        rc = was_woken(w) ? HOB_EAGAIN : e ? HOB_ETIMEDOUT : HOB_OK;
        if (rc < 0) break;
        e = w->timeout_ms < 0 ? pthread_cond_wait(&rt->cond, &rt->lock)
                              : pthread_cond_timedwait(&rt->cond, &rt->lock, &until);
    }
    pthread_mutex_unlock(&rt->lock);
    return rc;
}

static int wait_here(wait w) {
    static const int64_t years = INT64_C(1000) * 3600 * 24 * 3650;
    if (w.timeout_ms > years) w.timeout_ms = -1;
    if (!hob_on_loop(w.rt)) return block(&w);
    return hob_inside_callback(w.rt) ? HOB_EDEADLK : pump(&w);
}

int hob_wait_for(hob_runtime *rt, bool (*ready)(void *), void *user, int64_t timeout_ms) {
    return wait_here((wait){rt, ready, user, timeout_ms, true});
}

int hob_wait_firmly(hob_runtime *rt, bool (*ready)(void *), void *user, int64_t timeout_ms) {
    return wait_here((wait){rt, ready, user, timeout_ms, false});
}

/* ---- running an operation ---------------------------------------------------------------------- */

static void on_msg(hob_msg *m) {
    hob_op *op = HOB_CONTAINER(m, hob_op, msg);
    op->start(op);
}

int hob_op_run(hob_runtime *rt, hob_op *op, hob_error *err) {
    op->rt = rt;
    op->msg.fn = on_msg;
    hob_list_init(&op->link);
    if (hob_inside_callback(rt))
        return hob_fail(
            err, HOB_EDEADLK, 0,
            "this call waits for the loop and was made inside one of its callbacks: make it later");
    if (hob_on_loop(rt))
        op->start(op);
    else
        hob_loop_post(rt->loop, &op->msg);
    hob_wait_firmly(rt, op_ready, op, -1);
    if (op->rc < 0 && err) *err = op->err;
    return op->rc;
}

/* ---- calls on a session: it is not freed while one is under way ------------------------------------ */

void hob_session_hold(hob_session *s) {
    pthread_mutex_lock(&s->rt->lock);
    s->callers++;
    pthread_mutex_unlock(&s->rt->lock);
}

int hob_session_enter(hob_session *s, hob_error *err) {
    pthread_mutex_lock(&s->rt->lock);
    bool leaving = s->pub.leaving;
    if (!leaving) s->callers++;
    pthread_mutex_unlock(&s->rt->lock);
    return leaving ? hob_fail(err, HOB_ECANCELLED, 0, "the session is being closed") : HOB_OK;
}

void hob_session_leave(hob_session *s) {
    hob_runtime *rt = s->rt;
    pthread_mutex_lock(&rt->lock);
    s->callers--;
    pthread_cond_broadcast(&rt->cond);
    pthread_mutex_unlock(&rt->lock);
}

int hob_session_run(hob_session *s, hob_op *op, hob_error *err) {
    int rc = hob_session_enter(s, err);
    if (rc < 0) return rc;
    op->s = s;
    rc = hob_op_run(s->rt, op, err);
    hob_session_leave(s);
    return rc;
}
