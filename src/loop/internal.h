/*
 * internal.h - the loop's own storage, for the files of this folder only.
 */
#ifndef HOB_SRC_LOOP_INTERNAL_H
#define HOB_SRC_LOOP_INTERNAL_H

#include "loop/loop.h"

#include <pthread.h>
#include <stdatomic.h>
#include <uv.h>

struct hob_loop {
    uv_loop_t uv;
    uv_timer_t bound; /* ends a wait; no user's timer ever lives in libuv */
    uv_poll_t wake;
    int wake_fd;
    hob_clock *clock;

    bool bound_fired;
    bool dirty; /* an fd's interest changed after the kernel was last told */
    int ran;    /* callbacks run in this call of process or run_once */
    atomic_bool woken;
    atomic_uintptr_t inside; /* the thread that is running callbacks, 0 = none */

    pthread_mutex_t lock; /* guards posted, nothing else */
    hob_list posted;

    hob_timer **heap;
    size_t nheap, heap_cap;
    uint64_t order;

    unsigned works; /* pool works whose done() has not run: virtual time stands still */
    unsigned holds; /* hob_loop_hold: virtual time goes no faster than real time */
    int64_t real_anchor, virtual_anchor; /* real and virtual time when that began */

    hob_list dying; /* hob_child: killed, destroyed by their owner, not reaped yet */
};

/* timer.c */
hob_timer *hob_timers_next(const hob_loop *l); /* NULL if none is started */
void hob_timers_fire(hob_loop *l);             /* those due now, in order */

/* child.c */
void hob_children_reap(hob_loop *l); /* at the end of the loop: waits for the dying, bounded */

#endif
