/*
 * loop.c - one round of waiting and running.
 *
 * A round is: wait for descriptors (libuv), then messages, then timers. Every callback runs from
 * here and from nowhere else. What a callback posts or starts belongs to the next round.
 *
 * Waking up. A poster writes to the eventfd only if it put the first message in the queue and is
 * not itself the thread that runs the loop; that thread looks at the queue before it waits anyway.
 *
 * Virtual time. A clock with virtual_time is a hob_fake_clock. When nothing is ready, the loop
 * moves it to the next timer instead of waiting, but never past something that is still under way:
 *   - pool work: time stands still until its done() has run;
 *   - holds (processes, transfers): the other side lives in real time and may never answer, so a
 *     timer fires once as much real time has gone by as its delay. The clock still moves from
 *     timer to timer only, so that recorded times do not depend on the machine.
 */
#include "loop/internal.h"

#include <assert.h>
#include <errno.h>
#include <limits.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define FOREVER INT64_MAX

/* ---- life ---------------------------------------------------------------------------------- */

/* uv_run looks at timers before it polls. If the bound is over by then (this thread was not running for
 * a while), no timer is left, and only uv_stop keeps the poll from waiting for ever. */
static void on_bound(uv_timer_t *timer) {
    hob_loop *l = timer->data;
    l->bound_fired = true;
    uv_stop(&l->uv);
}

static void on_wake(uv_poll_t *poll, int status, int events) {
    hob_loop *l = poll->data;
    (void)status, (void)events;
    uint64_t n;
    while (read(l->wake_fd, &n, sizeof(n)) < 0 && errno == EINTR) {
    }
}

static int init_uv(hob_loop *l, hob_error *err) {
    int r = uv_loop_init(&l->uv);
    if (r < 0) return hob_fail(err, HOB_EIO, -r, "cannot create an event loop: %s", uv_strerror(r));
    l->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (l->wake_fd < 0) {
        uv_loop_close(&l->uv);
        return hob_fail_errno(err, HOB_EIO, "cannot create an event loop's eventfd");
    }
    uv_timer_init(&l->uv, &l->bound);
    uv_poll_init(&l->uv, &l->wake, l->wake_fd);
    l->bound.data = l->wake.data = l;
    uv_poll_start(&l->wake, UV_READABLE, on_wake);
    return HOB_OK;
}

int hob_loop_create(hob_clock *clock, hob_loop **out, hob_error *err) {
    hob_loop *l = HOB_NEW(hob_loop);
    int r = init_uv(l, err);
    if (r < 0) {
        hob_free(l);
        return r;
    }
    l->clock = clock ? clock : hob_clock_real();
    l->dirty = true;
    pthread_mutex_init(&l->lock, NULL);
    hob_list_init(&l->posted);
    hob_list_init(&l->dying);
    *out = l;
    return HOB_OK;
}

static bool has_posted(hob_loop *l) {
    pthread_mutex_lock(&l->lock);
    bool any = !hob_list_empty(&l->posted);
    pthread_mutex_unlock(&l->lock);
    return any;
}

static void run_posted(hob_loop *l);

void hob_loop_destroy(hob_loop *l) {
    if (!l) return;
    while (has_posted(l)) run_posted(l);
    hob_children_reap(l);
    uv_close((uv_handle_t *)&l->bound, NULL);
    uv_close((uv_handle_t *)&l->wake, NULL);
    uv_run(&l->uv, UV_RUN_NOWAIT);
    int busy = uv_loop_close(&l->uv);
    assert(!busy && "every hob_io must be destroyed before its loop");
    (void)busy;
    close(l->wake_fd);
    pthread_mutex_destroy(&l->lock);
    hob_free(l->heap);
    hob_free(l);
}

hob_clock *hob_loop_clock(hob_loop *l) {
    return l->clock;
}

int64_t hob_loop_now(hob_loop *l) {
    return l->clock->mono_ms(l->clock);
}

/* ---- messages ------------------------------------------------------------------------------ */

static uintptr_t this_thread(void) {
    return (uintptr_t)pthread_self();
}

static void ring(hob_loop *l) {
    uint64_t one = 1;
    while (write(l->wake_fd, &one, sizeof(one)) < 0 && errno == EINTR) {
    }
}

void hob_loop_wake(hob_loop *l) {
    int saved = errno;
    atomic_store(&l->woken, true);
    ring(l);
    errno = saved;
}

void hob_loop_post(hob_loop *l, hob_msg *m) {
    bool own = atomic_load_explicit(&l->inside, memory_order_relaxed) == this_thread();
    pthread_mutex_lock(&l->lock);
    bool first = hob_list_empty(&l->posted);
    hob_list_push(&l->posted, &m->link);
    /* Inside the lock: once the message is taken, the loop may be destroyed. */
    if (first && !own) ring(l);
    pthread_mutex_unlock(&l->lock);
}

static void run_posted(hob_loop *l) {
    hob_list batch;
    hob_list_init(&batch);
    pthread_mutex_lock(&l->lock);
    if (!hob_list_empty(&l->posted)) {
        batch = l->posted;
        batch.next->prev = batch.prev->next = &batch;
        hob_list_init(&l->posted);
    }
    pthread_mutex_unlock(&l->lock);
    while (!hob_list_empty(&batch)) {
        hob_msg *m = HOB_LIST_FIRST(&batch, hob_msg, link);
        hob_list_remove(&m->link);
        l->ran++;
        m->fn(m);
    }
}

/* ---- one round ----------------------------------------------------------------------------- */

/* Waits at most `wait` real milliseconds (-1 = no limit), then runs what is due. */
static void run_round(hob_loop *l, int64_t wait) {
    l->bound_fired = false;
    if (wait > 0) {
        uv_update_time(&l->uv);
        uv_timer_start(&l->bound, on_bound, (uint64_t)wait, 0);
    }
    atomic_store_explicit(&l->inside, this_thread(), memory_order_relaxed);
    l->dirty = false;
    uv_run(&l->uv, wait == 0 ? UV_RUN_NOWAIT : UV_RUN_ONCE);
    if (wait > 0) uv_timer_stop(&l->bound);
    run_posted(l);
    hob_timers_fire(l);
    atomic_store_explicit(&l->inside, 0, memory_order_relaxed);
}

bool hob_loop_inside(const hob_loop *l) {
    return atomic_load_explicit(&l->inside, memory_order_relaxed) == this_thread();
}

static int64_t next_timer_at(const hob_loop *l) {
    const hob_timer *t = hob_timers_next(l);
    return t ? t->at : FOREVER;
}

static int64_t real_ms(void) {
    hob_clock *real = hob_clock_real();
    return real->mono_ms(real);
}

static int64_t distance(int64_t now, int64_t at) {
    return at <= now ? 0 : (at == FOREVER ? -1 : at - now);
}

static bool finished(hob_loop *l) {
    return atomic_exchange(&l->woken, false) || l->ran > 0;
}

static void run_real(hob_loop *l, int64_t until) {
    for (;;) {
        int64_t now = hob_loop_now(l);
        int64_t wait = has_posted(l) ? 0 : distance(now, HOB_MIN(next_timer_at(l), until));
        run_round(l, wait);
        if (finished(l) || hob_loop_now(l) >= until) return;
        /* A clock that only its owner moves: waiting longer would not change anything. */
        if (l->bound_fired && hob_loop_now(l) == now) return;
    }
}

/* ---- virtual time -------------------------------------------------------------------------- */

void hob_loop_hold(hob_loop *l) {
    if (l->holds++ == 0) l->virtual_anchor = INT64_MIN;
}

void hob_loop_release(hob_loop *l) {
    l->holds--;
}

/* Real milliseconds to wait before virtual time may go to `target`; -1 = until something comes. */
static int64_t pace(hob_loop *l, int64_t target) {
    if (l->works || target == FOREVER) return -1;
    if (!l->holds) return 0;
    int64_t now = hob_loop_now(l), real = real_ms();
    if (l->virtual_anchor != now) {
        l->virtual_anchor = now;
        l->real_anchor = real;
    }
    return HOB_MAX(0, target - now - (real - l->real_anchor));
}

static void jump(hob_loop *l, int64_t target) {
    hob_fake_clock *c = HOB_CONTAINER(l->clock, hob_fake_clock, base);
    hob_fake_clock_advance(c, target - hob_loop_now(l));
}

/* A process that talks all the time must not keep a timer from firing. */
static void catch_up(hob_loop *l) {
    int64_t at = next_timer_at(l);
    if (l->holds && at > hob_loop_now(l) && pace(l, at) == 0) jump(l, at);
}

static void run_virtual(hob_loop *l, int64_t until) {
    for (;;) {
        catch_up(l);
        run_round(l, 0);
        int64_t now = hob_loop_now(l), target = HOB_MIN(next_timer_at(l), until);
        if (finished(l) || now >= until) return;
        if (has_posted(l)) continue;
        int64_t wait = pace(l, target);
        if (wait < 0 && until != FOREVER) wait = until - now; /* pool work: no jump afterwards */
        if (wait != 0) {
            run_round(l, wait);
            if (finished(l)) return;
            if (!l->bound_fired) continue;
            if (l->works) return;
        }
        jump(l, target);
    }
}

/* ---- the calls ----------------------------------------------------------------------------- */

int hob_loop_fd(hob_loop *l) {
    return uv_backend_fd(&l->uv);
}

int hob_loop_timeout(hob_loop *l) {
    int64_t now = hob_loop_now(l), at = next_timer_at(l);
    if (l->dirty || at <= now || has_posted(l)) return 0;
    int64_t wait = l->clock->virtual_time ? pace(l, at) : distance(now, at);
    return (int)HOB_MIN(wait, INT_MAX);
}

int hob_loop_process(hob_loop *l) {
    if (hob_loop_inside(l)) return HOB_EDEADLK;
    bool virtual_time = l->clock->virtual_time;
    l->ran = 0;
    if (virtual_time) catch_up(l);
    run_round(l, 0);
    if (virtual_time && l->ran == 0 && pace(l, next_timer_at(l)) == 0) {
        jump(l, next_timer_at(l));
        run_round(l, 0);
    }
    atomic_store(&l->woken, false);
    return l->ran;
}

int hob_loop_run_once(hob_loop *l, int64_t max_wait_ms) {
    if (hob_loop_inside(l)) return HOB_EDEADLK;
    l->ran = 0;
    int64_t now = hob_loop_now(l);
    bool forever = max_wait_ms < 0 || max_wait_ms > FOREVER - now;
    int64_t until = forever ? FOREVER : now + max_wait_ms;
    if (l->clock->virtual_time)
        run_virtual(l, until);
    else
        run_real(l, until);
    return l->ran;
}
