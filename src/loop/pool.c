/*
 * pool.c - bounded worker threads for blocking work.
 *
 * Threads are started when there is work and none is idle, at most max_threads, and live until the
 * pool is destroyed. They block all signals: those belong to the host's threads.
 *
 * Every accepted work comes back through its loop exactly once, by done(), also when the pool goes
 * away before it ran (dropped). The one exception is work that says it may be abandoned and is
 * running when the pool is destroyed: a host name that no server answers for must not hold up the
 * end of a program.
 */
#include "loop/internal.h"

#include <errno.h>
#include <signal.h>

typedef struct worker {
    hob_pool *pool;
    pthread_t thread;
    hob_work *running; /* NULL = idle */
    bool detached;     /* the pool is gone but for this and its like */
} worker;

struct hob_pool {
    pthread_mutex_t lock; /* guards what follows */
    pthread_cond_t wake;
    hob_list queue; /* of hob_work.msg.link */
    size_t nqueued, max_queued;
    unsigned nthreads, nidle, max_threads;
    unsigned ndetached;
    bool stopping;
    worker workers[];
};

int hob_pool_create(unsigned max_threads, size_t max_queued, hob_pool **out, hob_error *err) {
    if (max_threads < 1 || max_threads > 1024 || max_queued < 1)
        return hob_fail(err, HOB_EINVAL, 0,
                        "a pool needs 1 to 1024 threads and a queue, not %u threads and %zu places",
                        max_threads, max_queued);
    hob_pool *p = hob_alloc(sizeof(hob_pool) + max_threads * sizeof(worker));
    pthread_mutex_init(&p->lock, NULL);
    pthread_cond_init(&p->wake, NULL);
    hob_list_init(&p->queue);
    p->max_threads = max_threads;
    p->max_queued = max_queued;
    *out = p;
    return HOB_OK;
}

static void on_done(hob_msg *m) {
    hob_work *w = HOB_CONTAINER(m, hob_work, msg);
    w->loop->works--;
    w->done(w);
}

static hob_work *take_work(hob_pool *p) {
    hob_work *w = HOB_LIST_FIRST(&p->queue, hob_work, msg.link);
    hob_list_remove(&w->msg.link);
    p->nqueued--;
    return w;
}

static void free_pool(hob_pool *p) {
    pthread_cond_destroy(&p->wake);
    pthread_mutex_destroy(&p->lock);
    hob_free(p);
}

/* Waits for work; NULL when the pool is being destroyed. Locked. */
static hob_work *next_work(hob_pool *p) {
    while (!p->stopping && hob_list_empty(&p->queue)) {
        p->nidle++;
        pthread_cond_wait(&p->wake, &p->lock);
        p->nidle--;
    }
    return p->stopping ? NULL : take_work(p);
}

static void *run_worker(void *arg) {
    worker *me = arg;
    hob_pool *p = me->pool;
    hob_work *w;
    pthread_mutex_lock(&p->lock);
    while (!me->detached && (w = next_work(p))) {
        me->running = w;
        pthread_mutex_unlock(&p->lock);
        w->work(w);
        pthread_mutex_lock(&p->lock);
        me->running = NULL;
        bool abandoned = me->detached;
        pthread_mutex_unlock(&p->lock);
        if (abandoned)
            w->abandoned(w);
        else
            hob_loop_post(w->loop, &w->msg);
        pthread_mutex_lock(&p->lock);
    }
    bool last = me->detached && --p->ndetached == 0;
    pthread_mutex_unlock(&p->lock);
    if (last) free_pool(p);
    return NULL;
}

static int start_thread(hob_pool *p) {
    sigset_t all, old;
    worker *next = &p->workers[p->nthreads];
    next->pool = p;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    int r = pthread_create(&next->thread, NULL, run_worker, next);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    if (r != 0) return HOB_EAGAIN;
    pthread_setname_np(next->thread, "hob-pool");
    p->nthreads++;
    return HOB_OK;
}

static int enqueue(hob_pool *p, hob_work *w) {
    if (p->stopping || p->nqueued >= p->max_queued) return HOB_EAGAIN;
    /* A thread that was woken but has not run yet still counts as idle: compare with the queue. */
    if (p->nidle <= p->nqueued && p->nthreads < p->max_threads) {
        if (start_thread(p) < 0 && p->nthreads == 0) return HOB_EAGAIN;
    }
    hob_list_push(&p->queue, &w->msg.link);
    p->nqueued++;
    pthread_cond_signal(&p->wake);
    return HOB_OK;
}

int hob_pool_submit(hob_pool *p, hob_loop *l, hob_work *w) {
    if (!p) return HOB_EAGAIN; /* its owner ends */
    w->loop = l;
    w->msg.fn = on_done;
    w->dropped = false;
    pthread_mutex_lock(&p->lock);
    int r = enqueue(p, w);
    pthread_mutex_unlock(&p->lock);
    if (r == HOB_OK) l->works++;
    return r;
}

static void drop_queue(hob_pool *p) {
    while (!hob_list_empty(&p->queue)) {
        hob_work *w = take_work(p);
        w->dropped = true;
        hob_loop_post(w->loop, &w->msg);
    }
}

/* Lets go of those that run what may be abandoned. The last of them frees the pool. */
static void detach_blocked(hob_pool *p) {
    for (unsigned i = 0; i < p->nthreads; i++) {
        worker *x = &p->workers[i];
        if (!x->running || !x->running->abandoned) continue;
        x->running->loop->works--;
        x->detached = true;
        p->ndetached++;
        pthread_detach(x->thread);
    }
}

void hob_pool_destroy(hob_pool *p) {
    if (!p) return;
    pthread_mutex_lock(&p->lock);
    p->stopping = true;
    p->ndetached = 1; /* our own part */
    drop_queue(p);
    detach_blocked(p);
    pthread_cond_broadcast(&p->wake);
    pthread_mutex_unlock(&p->lock);
    for (unsigned i = 0; i < p->nthreads; i++) {
        if (!p->workers[i].detached) pthread_join(p->workers[i].thread, NULL);
    }
    pthread_mutex_lock(&p->lock);
    bool last = --p->ndetached == 0;
    pthread_mutex_unlock(&p->lock);
    if (last) free_pool(p);
}
