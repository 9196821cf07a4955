/*
 * loop.h - the only place that waits.
 *
 * One loop belongs to one thread at a time. libuv gives readiness and wake-up; timers are our own
 * heap on the injected clock, so that tests run on virtual time. Everything here is [loop] (call it
 * on the loop's thread only) unless marked [any].
 *
 * Callbacks never run from inside the call that caused them: they run from hob_loop_process().
 */
#ifndef HOB_SRC_LOOP_H
#define HOB_SRC_LOOP_H

#include "base/base.h"

typedef struct hob_loop hob_loop;

int hob_loop_create(hob_clock *clock /* borrowed; NULL = real */, hob_loop **out, hob_error *err);
/* Runs the messages still queued, so that none is lost. Destroy pools and every hob_io before. */
void hob_loop_destroy(hob_loop *l);
hob_clock *hob_loop_clock(hob_loop *l);
int64_t hob_loop_now(hob_loop *l); /* mono_ms of the clock, read anew */

/* Embedding: poll the fd for reading, at most for that time-out (-1 = no limit), then process. */
int hob_loop_fd(hob_loop *l);
int hob_loop_timeout(hob_loop *l);
int hob_loop_process(hob_loop *l); /* runs what is due, never blocks; returns callbacks run */
/* Waits for something to do, at most max_wait_ms (-1 = no limit), then processes it; returns the
 * callbacks run. On a virtual clock it never waits for time: it jumps to the next timer when nothing
 * else is due. So does hob_loop_process; run_once with 0 runs what is due and never jumps.
 * Both return HOB_EDEADLK from inside a callback of this loop. */
int hob_loop_run_once(hob_loop *l, int64_t max_wait_ms);
/* [any] A callback of this loop is running on this thread. */
bool hob_loop_inside(const hob_loop *l);
void hob_loop_wake(hob_loop *l); /* [any], async-signal-safe: makes a waiting run_once return */
/* Between the two something lives in real time (a process, a transfer): a virtual clock then goes no
 * faster than real time. hob_child and hob_http hold by themselves; pool work stops the clock. */
void hob_loop_hold(hob_loop *l);
void hob_loop_release(hob_loop *l);

/* ---- messages: the way back onto the loop from any thread -------------------------------- */
typedef struct hob_msg hob_msg;
struct hob_msg {
    hob_list link;
    void (*fn)(hob_msg *m); /* runs on the loop; the message is the caller's again */
};
void hob_loop_post(hob_loop *l, hob_msg *m); /* [any]; in order, each exactly once */

/* ---- timers ------------------------------------------------------------------------------ */
typedef struct hob_timer hob_timer;
struct hob_timer {
    hob_loop *loop;
    void (*fn)(hob_timer *t);
    int64_t at;     /* mono_ms */
    uint64_t order; /* ties fire in the order they were started */
    size_t slot;    /* place in the heap + 1; 0 = not started */
};
void hob_timer_init(hob_timer *t, hob_loop *l, void (*fn)(hob_timer *));
void hob_timer_start(hob_timer *t, int64_t at_mono_ms); /* again = move */
void hob_timer_stop(hob_timer *t);                      /* when not started: nothing */
bool hob_timer_started(const hob_timer *t);

/* ---- file descriptors -------------------------------------------------------------------- */
enum { HOB_IO_READ = 1, HOB_IO_WRITE = 2 };
typedef struct hob_io hob_io;
typedef void (*hob_io_fn)(hob_io *io, int events, void *user);
/* The fd stays the caller's, its flags untouched; destroy before closing it. One hob_io an fd.
 * Errors and hang-ups count as ready. HOB_ENOSYS for a regular file, which is always ready. */
int hob_io_create(hob_loop *l, int fd, hob_io_fn fn, void *user, hob_io **out, hob_error *err);
int hob_io_want(hob_io *io, int events); /* 0 = nothing */
void hob_io_destroy(hob_io *io);

/* ---- pool.c: bounded worker threads for blocking work ------------------------------------ */
typedef struct hob_pool hob_pool;
typedef struct hob_work hob_work;
struct hob_work {
    hob_msg msg; /* used by the pool */
    hob_loop *loop;
    void (*work)(hob_work *w); /* on a worker thread */
    void (*done)(hob_work *w); /* on the loop, always, also when the pool is being destroyed */
    bool dropped;              /* set when the pool was destroyed before work() ran */
    /* Optional, for work that may block for a long time and cannot be stopped: hob_pool_destroy does
     * not wait for it. If it is running then, done() never comes; when work() returns at last, this
     * is called on its thread instead, to free it. Whoever waited must have let go before. */
    void (*abandoned)(hob_work *w);
};
int hob_pool_create(unsigned max_threads, size_t max_queued, hob_pool **out, hob_error *err);
/* Waits for running work (but see abandoned), drops queued work (done still comes). */
void hob_pool_destroy(hob_pool *p);
int hob_pool_submit(hob_pool *p, hob_loop *l, hob_work *w); /* HOB_EAGAIN when the queue is full */

/* ---- child.c: processes ------------------------------------------------------------------ */
/* Spawned with posix_spawn (no fork of our address space), watched by pidfd, stdio as socketpairs. */
typedef struct hob_child hob_child;
typedef struct hob_child_opts {
    const char *path;        /* absolute, or "/proc/self/fd/N": the child sees that fd as nfds */
    const char *const *argv; /* NULL-terminated */
    const char *const *envp; /* NULL-terminated; the whole environment */
    const int *fds;          /* fds[i] of this process becomes i in the child; -1 = /dev/null */
    size_t nfds;             /* at least 3; every other fd is closed in the child */
} hob_child_opts;
/* status: exit code, 128 + signal, or HOB_ENOENT when the host reaped it. May destroy c. */
typedef void (*hob_child_fn)(hob_child *c, int status, void *user);
int hob_child_start(hob_loop *l, const hob_child_opts *o, hob_child_fn on_exit, void *user,
                    hob_child **out, hob_error *err);
int hob_child_pid(const hob_child *c);
int hob_child_kill(hob_child *c, int signal); /* by pidfd: never hits a reused pid */
/* Kills (SIGKILL) if still running; no callback. Returns at once, the loop reaps. */
void hob_child_destroy(hob_child *c);

#endif
