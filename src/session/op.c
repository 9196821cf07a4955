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

void hob_op_done(hob_op *op, int rc, const hob_error *err) {
    hob_runtime *rt = op->rt;
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

static int pump(hob_runtime *rt, bool (*ready)(void *), void *user, int64_t deadline,
                bool wakeable) {
    for (;;) {
        pthread_mutex_lock(&rt->lock);
        bool yes = ready(user);
        pthread_mutex_unlock(&rt->lock);
        if (yes) return HOB_OK;
        if (wakeable && atomic_exchange(&rt->woken, false)) return HOB_EAGAIN;
        int64_t left = deadline < 0 ? -1 : deadline - mono_ms(rt);
        if (deadline >= 0 && left <= 0) return HOB_ETIMEDOUT;
        hob_loop_run_once(rt->loop, left);
    }
}

static int block(hob_runtime *rt, bool (*ready)(void *), void *user, int64_t timeout_ms) {
    struct timespec until;
    int rc = HOB_OK;
    clock_gettime(CLOCK_MONOTONIC, &until);
    if (timeout_ms >= 0) {
        until.tv_sec += timeout_ms / 1000;
        until.tv_nsec += (timeout_ms % 1000) * 1000000;
        until.tv_sec += until.tv_nsec / 1000000000;
        until.tv_nsec %= 1000000000;
    }
    pthread_mutex_lock(&rt->lock);
    while (!ready(user)) {
        int e = timeout_ms < 0 ? pthread_cond_wait(&rt->cond, &rt->lock)
                               : pthread_cond_timedwait(&rt->cond, &rt->lock, &until);
        if (e && !ready(user)) {
            rc = HOB_ETIMEDOUT;
            break;
        }
    }
    pthread_mutex_unlock(&rt->lock);
    return rc;
}

static int wait_here(hob_runtime *rt, bool (*ready)(void *), void *user, int64_t timeout_ms,
                     bool wakeable) {
    if (!hob_on_loop(rt)) return block(rt, ready, user, timeout_ms);
    if (rt->depth || rt->mode == HOB_LOOP_OWN_THREAD) return HOB_EDEADLK;
    return pump(rt, ready, user, timeout_ms < 0 ? -1 : mono_ms(rt) + timeout_ms, wakeable);
}

int hob_wait_for(hob_runtime *rt, bool (*ready)(void *), void *user, int64_t timeout_ms) {
    return wait_here(rt, ready, user, timeout_ms, true);
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
    if (hob_on_loop(rt) && (rt->depth || rt->mode == HOB_LOOP_OWN_THREAD))
        return hob_fail(
            err, HOB_EDEADLK, 0,
            "this call waits for the loop and was made inside one of its callbacks: make it later");
    if (hob_on_loop(rt))
        op->start(op);
    else
        hob_loop_post(rt->loop, &op->msg);
    wait_here(rt, op_ready, op, -1, false);
    if (op->rc < 0 && err) *err = op->err;
    return op->rc;
}
