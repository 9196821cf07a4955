/* The loop inside a host's own poll(2) loop: only fd, timeout and process are used here. */
#include "loop/loop.h"
#include "support/check.h"

#include <poll.h>
#include <pthread.h>
#include <sys/socket.h>
#include <unistd.h>

static int events_seen;

static void on_ready(hob_io *io, int events, void *user) {
    char byte;
    (void)io;
    events_seen |= events;
    assert_int_equal(read(*(int *)user, &byte, 1), 1);
}

static void on_fire(hob_timer *t) {
    t->fn = NULL;
}

static void on_message(hob_msg *m) {
    m->fn = NULL;
}

/* One turn of the host; returns what process said. */
static int turn(hob_loop *l) {
    struct pollfd p = {.fd = hob_loop_fd(l), .events = POLLIN};
    assert_true(poll(&p, 1, hob_loop_timeout(l)) >= 0);
    return hob_loop_process(l);
}

static void test_loop_embed__timer(void **state) {
    (void)state;
    hob_loop *l;
    hob_timer t;
    hob_loop_create(NULL, &l, NULL);
    hob_timer_init(&t, l, on_fire);
    while (turn(l) > 0) {
    }
    assert_int_equal(hob_loop_timeout(l), -1);
    int64_t at = hob_loop_now(l) + 5;
    hob_timer_start(&t, at);
    assert_in_range(hob_loop_timeout(l), 0, 5);
    while (t.fn) turn(l);
    assert_true(hob_loop_now(l) >= at);
    hob_loop_destroy(l);
}

static void test_loop_embed__interest_set_outside_is_not_missed(void **state) {
    (void)state;
    hob_loop *l;
    hob_io *io;
    int fds[2];
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
    hob_loop_create(NULL, &l, NULL);
    turn(l);
    assert_int_equal(hob_io_create(l, fds[0], on_ready, &fds[0], &io, NULL), 0);
    hob_io_want(io, HOB_IO_READ);
    assert_int_equal(hob_loop_timeout(l), 0);
    turn(l);
    assert_int_equal(hob_loop_timeout(l), -1);
    assert_int_equal(write(fds[1], "x", 1), 1);
    while (!events_seen) turn(l);
    assert_int_equal(events_seen, HOB_IO_READ);
    hob_io_destroy(io);
    hob_loop_destroy(l);
    close(fds[0]);
    close(fds[1]);
}

typedef struct posting {
    hob_loop *loop;
    hob_msg msg;
} posting;

static void *post(void *arg) {
    posting *p = arg;
    hob_loop_post(p->loop, &p->msg);
    return NULL;
}

static void test_loop_embed__message_from_a_thread(void **state) {
    (void)state;
    posting p = {.msg.fn = on_message};
    pthread_t thread;
    hob_loop_create(NULL, &p.loop, NULL);
    turn(p.loop);
    pthread_create(&thread, NULL, post, &p);
    while (p.msg.fn) turn(p.loop);
    pthread_join(thread, NULL);
    hob_loop_destroy(p.loop);
}

static void test_loop_embed__virtual_time_needs_no_waiting(void **state) {
    (void)state;
    hob_fake_clock clock;
    hob_loop *l;
    hob_timer t;
    hob_fake_clock_init(&clock, 0);
    hob_loop_create(&clock.base, &l, NULL);
    hob_timer_init(&t, l, on_fire);
    hob_timer_start(&t, 3600 * 1000);
    while (t.fn) turn(l);
    assert_int_equal(clock.mono, 3600 * 1000);
    hob_loop_destroy(l);
}

/* With a hold the other side lives in real time: 20 ms of the clock take 20 real ones. */
static void test_loop_embed__held_virtual_time_follows_real_time(void **state) {
    (void)state;
    hob_clock *real = hob_clock_real();
    hob_fake_clock clock;
    hob_loop *l;
    hob_timer t;
    hob_fake_clock_init(&clock, 0);
    hob_loop_create(&clock.base, &l, NULL);
    hob_timer_init(&t, l, on_fire);
    hob_timer_start(&t, 20);
    hob_loop_hold(l);
    int64_t start = real->mono_ms(real);
    while (t.fn) turn(l);
    assert_true(real->mono_ms(real) - start >= 19);
    hob_loop_release(l);
    t.fn = on_fire;
    hob_timer_start(&t, 3600 * 1000);
    while (t.fn) hob_loop_run_once(l, -1);
    assert_int_equal(clock.mono, 3600 * 1000);
    hob_loop_destroy(l);
}

static void leave_ready(hob_io *io, int events, void *user) {
    (void)io, (void)events, (void)user;
}

/* Something is ready in every round, as with a process that talks all the time. */
static void test_loop_embed__held_virtual_time_passes_in_a_busy_loop(void **state) {
    (void)state;
    hob_clock *real = hob_clock_real();
    hob_fake_clock clock;
    hob_loop *l;
    hob_timer t;
    hob_io *io;
    int fds[2];
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
    assert_int_equal(write(fds[1], "x", 1), 1);
    hob_fake_clock_init(&clock, 0);
    hob_loop_create(&clock.base, &l, NULL);
    assert_int_equal(hob_io_create(l, fds[0], leave_ready, NULL, &io, NULL), 0);
    hob_io_want(io, HOB_IO_READ);
    hob_loop_hold(l);
    for (int i = 0; i < 2; i++) {
        hob_timer_init(&t, l, on_fire);
        hob_timer_start(&t, clock.mono + 10);
        int64_t give_up = real->mono_ms(real) + 5000;
        while (t.fn && real->mono_ms(real) < give_up) {
            if (i == 0)
                turn(l);
            else
                hob_loop_run_once(l, -1);
        }
        assert_null(t.fn);
    }
    assert_int_equal(clock.mono, 20);
    hob_loop_release(l);
    hob_io_destroy(io);
    hob_loop_destroy(l);
    close(fds[0]);
    close(fds[1]);
}

#define T(name) cmocka_unit_test(test_loop_embed__##name)

int main(void) {
    const struct CMUnitTest tests[] = {
        T(timer),
        T(interest_set_outside_is_not_missed),
        T(message_from_a_thread),
        T(virtual_time_needs_no_waiting),
        T(held_virtual_time_follows_real_time),
        T(held_virtual_time_passes_in_a_busy_loop),
    };
    return cmocka_run_group_tests_name("loop/embed", tests, NULL, NULL);
}
