/*
 * pool.c - bounded worker threads for blocking work.
 *
 * Threads are started when there is work and none is idle, at most max_threads, and live until the
 * pool is destroyed. They block all signals: those belong to the host's threads.
 *
 * Every accepted work comes back through its loop exactly once, by done(), also when the pool goes
 * away before it ran (dropped).
 */
#include "loop/internal.h"

#include <errno.h>
#include <signal.h>

struct hob_pool {
    pthread_mutex_t lock; /* guards what follows */
    pthread_cond_t wake;
    hob_list queue; /* of hob_work.msg.link */
    size_t nqueued, max_queued;
    unsigned nthreads, nidle, max_threads;
    bool stopping;
    pthread_t threads[];
};

int hob_pool_create(unsigned max_threads, size_t max_queued, hob_pool **out, hob_error *err) {
    if (max_threads < 1 || max_threads > 1024 || max_queued < 1)
        return hob_fail(err, HOB_EINVAL, 0,
                        "a pool needs 1 to 1024 threads and a queue, not %u threads and %zu places",
                        max_threads, max_queued);
    hob_pool *p = hob_alloc(sizeof(hob_pool) + max_threads * sizeof(pthread_t));
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

static void *worker(void *arg) {
    hob_pool *p = arg;
    pthread_mutex_lock(&p->lock);
    for (;;) {
        while (!p->stopping && hob_list_empty(&p->queue)) {
            p->nidle++;
            pthread_cond_wait(&p->wake, &p->lock);
            p->nidle--;
        }
        if (p->stopping) break;
        hob_work *w = take_work(p);
        pthread_mutex_unlock(&p->lock);
        w->work(w);
        hob_loop_post(w->loop, &w->msg);
        pthread_mutex_lock(&p->lock);
    }
    pthread_mutex_unlock(&p->lock);
    return NULL;
}

static int start_thread(hob_pool *p) {
    sigset_t all, old;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    int r = pthread_create(&p->threads[p->nthreads], NULL, worker, p);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    if (r != 0) return HOB_EAGAIN;
    pthread_setname_np(p->threads[p->nthreads], "hob-pool");
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
    w->loop = l;
    w->msg.fn = on_done;
    w->dropped = false;
    pthread_mutex_lock(&p->lock);
    int r = enqueue(p, w);
    pthread_mutex_unlock(&p->lock);
    if (r == HOB_OK) l->works++;
    return r;
}

void hob_pool_destroy(hob_pool *p) {
    if (!p) return;
    pthread_mutex_lock(&p->lock);
    p->stopping = true;
    while (!hob_list_empty(&p->queue)) {
        hob_work *w = take_work(p);
        w->dropped = true;
        hob_loop_post(w->loop, &w->msg);
    }
    pthread_cond_broadcast(&p->wake);
    pthread_mutex_unlock(&p->lock);
    for (unsigned i = 0; i < p->nthreads; i++) pthread_join(p->threads[i], NULL);
    pthread_cond_destroy(&p->wake);
    pthread_mutex_destroy(&p->lock);
    hob_free(p);
}
