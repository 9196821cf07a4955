#include "loop/loop.h"
#include "support/check.h"

#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <unistd.h>

typedef struct job {
    hob_work work;
    pthread_t thread;
    int result;
    int done;
    bool signals_blocked;
    pthread_barrier_t *gate; /* waits for the others, or NULL */
    int pipe_fd;             /* reads a byte first, or -1 */
    sem_t *ended;            /* posted when it was abandoned */
} job;

static void work(hob_work *w) {
    job *j = HOB_CONTAINER(w, job, work);
    char byte;
    sigset_t mask;
    pthread_sigmask(SIG_SETMASK, NULL, &mask);
    j->signals_blocked = sigismember(&mask, SIGINT) && sigismember(&mask, SIGCHLD);
    j->thread = pthread_self();
    if (j->gate) pthread_barrier_wait(j->gate);
    if (j->pipe_fd >= 0 && read(j->pipe_fd, &byte, 1) != 1) j->result = -1;
    j->result++;
}

static void work_done(hob_work *w) {
    HOB_CONTAINER(w, job, work)->done++;
}

static void init(job *j) {
    *j = (job){.work = {.work = work, .done = work_done}, .pipe_fd = -1};
}

static void test_loop_pool__runs_on_another_thread_and_comes_back(void **state) {
    (void)state;
    hob_loop *l;
    hob_pool *p;
    hob_loop_create(NULL, &l, NULL);
    hob_pool_create(1, 4, &p, NULL);
    job j;
    init(&j);
    assert_int_equal(hob_pool_submit(p, l, &j.work), 0);
    assert_int_equal(j.done, 0);
    assert_int_equal(hob_loop_run_once(l, -1), 1);
    assert_int_equal(j.done, 1);
    assert_int_equal(j.result, 1);
    assert_false(pthread_equal(j.thread, pthread_self()));
    assert_true(j.signals_blocked);
    hob_pool_destroy(p);
    hob_loop_destroy(l);
}

/* All of them must be inside work() at the same time, or the barrier never opens. */
static void test_loop_pool__uses_its_threads_in_parallel(void **state) {
    (void)state;
    hob_loop *l;
    hob_pool *p;
    pthread_barrier_t gate;
    job jobs[3];
    hob_loop_create(NULL, &l, NULL);
    hob_pool_create(3, 8, &p, NULL);
    pthread_barrier_init(&gate, NULL, 3);
    for (int i = 0; i < 3; i++) {
        init(&jobs[i]);
        jobs[i].gate = &gate;
        assert_int_equal(hob_pool_submit(p, l, &jobs[i].work), 0);
    }
    while (jobs[0].done + jobs[1].done + jobs[2].done < 3) hob_loop_run_once(l, -1);
    hob_pool_destroy(p);
    hob_loop_destroy(l);
    pthread_barrier_destroy(&gate);
}

static void test_loop_pool__full_queue_is_refused(void **state) {
    (void)state;
    hob_loop *l;
    hob_pool *p;
    int fds[2];
    job jobs[4];
    assert_int_equal(pipe(fds), 0);
    hob_loop_create(NULL, &l, NULL);
    hob_pool_create(1, 2, &p, NULL);
    int accepted = 0;
    for (int i = 0; i < 4; i++) {
        init(&jobs[i]);
        jobs[i].pipe_fd = fds[0];
        accepted += hob_pool_submit(p, l, &jobs[i].work) == 0;
    }
    assert_in_range(accepted, 2, 3); /* two places, and one more if the thread took one already */
    assert_int_equal(hob_pool_submit(p, l, &jobs[3].work), HOB_EAGAIN);
    assert_int_equal(write(fds[1], "xxxx", 4), 4);
    for (int ran = 0; ran < accepted;) ran += hob_loop_run_once(l, -1);
    hob_pool_destroy(p);
    hob_loop_destroy(l);
    close(fds[0]);
    close(fds[1]);
}

static void *destroy(void *pool) {
    hob_pool_destroy(pool);
    return NULL;
}

/* One work is running and held back, two are queued; destroy waits for the first on a thread. */
static void test_loop_pool__destroy_drops_queued_work_but_reports_it(void **state) {
    (void)state;
    hob_loop *l;
    hob_pool *p;
    pthread_barrier_t gate;
    pthread_t destroyer;
    int fds[2];
    job jobs[3];
    assert_int_equal(pipe(fds), 0);
    pthread_barrier_init(&gate, NULL, 2);
    hob_loop_create(NULL, &l, NULL);
    hob_pool_create(1, 8, &p, NULL);
    for (int i = 0; i < 3; i++) {
        init(&jobs[i]);
        if (i == 0) jobs[0].gate = &gate;
        if (i == 0) jobs[0].pipe_fd = fds[0];
        hob_pool_submit(p, l, &jobs[i].work);
    }
    pthread_barrier_wait(&gate);
    pthread_create(&destroyer, NULL, destroy, p);
    while (jobs[1].done + jobs[2].done < 2) hob_loop_run_once(l, -1);
    assert_int_equal(jobs[0].done, 0);
    assert_int_equal(write(fds[1], "x", 1), 1);
    pthread_join(destroyer, NULL);
    assert_int_equal(hob_loop_run_once(l, -1), 1);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(jobs[i].done, 1);
        assert_int_equal(jobs[i].result, i == 0 ? 1 : 0);
        assert_int_equal(jobs[i].work.dropped, i > 0);
    }
    hob_loop_destroy(l);
    pthread_barrier_destroy(&gate);
    close(fds[0]);
    close(fds[1]);
}

static void on_timer(hob_timer *t) {
    t->at = -1;
}

static void note_abandoned(hob_work *w) {
    job *j = HOB_CONTAINER(w, job, work);
    j->result = 42;
    sem_post(j->ended);
}

/* The work is blocked, and destroy returns all the same. */
static void test_loop_pool__abandoned_work_is_not_waited_for(void **state) {
    (void)state;
    hob_fake_clock clock;
    hob_loop *l;
    hob_pool *p;
    hob_timer timer;
    pthread_barrier_t gate;
    static sem_t ended;
    int fds[2];
    job j;
    assert_int_equal(pipe(fds), 0);
    sem_init(&ended, 0, 0);
    pthread_barrier_init(&gate, NULL, 2);
    hob_fake_clock_init(&clock, 0);
    hob_loop_create(&clock.base, &l, NULL);
    hob_pool_create(2, 4, &p, NULL);
    init(&j);
    j.work.abandoned = note_abandoned;
    j.gate = &gate;
    j.pipe_fd = fds[0];
    j.ended = &ended;
    hob_pool_submit(p, l, &j.work);
    pthread_barrier_wait(&gate);
    hob_pool_destroy(p);
    hob_timer_init(&timer, l, on_timer);
    hob_timer_start(&timer, 1);
    assert_int_equal(hob_loop_run_once(l, -1), 1); /* nor does it hold up virtual time */
    hob_loop_destroy(l);
    assert_int_equal(write(fds[1], "x", 1), 1);
    sem_wait(&ended);
    assert_int_equal(j.result, 42);
    assert_int_equal(j.done, 0);
    pthread_barrier_destroy(&gate);
    close(fds[0]);
    close(fds[1]);
}

static void test_loop_pool__finished_work_is_not_abandoned(void **state) {
    (void)state;
    hob_loop *l;
    hob_pool *p;
    job j;
    hob_loop_create(NULL, &l, NULL);
    hob_pool_create(1, 4, &p, NULL);
    init(&j);
    j.work.abandoned = note_abandoned;
    hob_pool_submit(p, l, &j.work);
    hob_loop_run_once(l, -1);
    hob_pool_destroy(p);
    hob_loop_destroy(l);
    assert_int_equal(j.done, 1);
    assert_int_equal(j.result, 1);
}

/* Virtual time waits for the work: the timer's 1 ms must not pass before it. */
static void test_loop_pool__virtual_time_stands_still_during_work(void **state) {
    (void)state;
    hob_fake_clock clock;
    hob_loop *l;
    hob_pool *p;
    hob_timer timer;
    int fds[2];
    job j;
    assert_int_equal(pipe(fds), 0);
    hob_fake_clock_init(&clock, 0);
    hob_loop_create(&clock.base, &l, NULL);
    hob_pool_create(1, 1, &p, NULL);
    hob_timer_init(&timer, l, on_timer);
    hob_timer_start(&timer, 1);
    init(&j);
    j.pipe_fd = fds[0];
    hob_pool_submit(p, l, &j.work);
    assert_int_equal(hob_loop_timeout(l), 0); /* libuv has not seen its descriptors yet */
    assert_int_equal(hob_loop_process(l), 0);
    assert_int_equal(hob_loop_timeout(l), -1);
    assert_int_equal(hob_loop_run_once(l, 5), 0);
    assert_int_equal(clock.mono, 0);
    assert_int_equal(write(fds[1], "x", 1), 1);
    assert_int_equal(hob_loop_run_once(l, -1), 1);
    assert_int_equal(j.done, 1);
    assert_int_equal(clock.mono, 0);
    assert_int_equal(hob_loop_run_once(l, -1), 1);
    assert_int_equal(timer.at, -1);
    assert_int_equal(clock.mono, 1);
    hob_pool_destroy(p);
    hob_loop_destroy(l);
    close(fds[0]);
    close(fds[1]);
}

static void test_loop_pool__refuses_silly_sizes(void **state) {
    (void)state;
    hob_pool *p = NULL;
    hob_error err;
    assert_int_equal(hob_pool_create(0, 1, &p, &err), HOB_EINVAL);
    assert_int_equal(hob_pool_create(1, 0, &p, &err), HOB_EINVAL);
    assert_null(p);
}

#define T(name) cmocka_unit_test(test_loop_pool__##name)

int main(void) {
    const struct CMUnitTest tests[] = {
        T(runs_on_another_thread_and_comes_back),
        T(uses_its_threads_in_parallel),
        T(full_queue_is_refused),
        T(destroy_drops_queued_work_but_reports_it),
        T(abandoned_work_is_not_waited_for),
        T(finished_work_is_not_abandoned),
        T(virtual_time_stands_still_during_work),
        T(refuses_silly_sizes),
    };
    return cmocka_run_group_tests_name("loop/pool", tests, NULL, NULL);
}
