#include "loop/loop.h"
#include "support/check.h"

#include <pthread.h>
#include <signal.h>

enum { THREADS = 4, EACH = 500 };

typedef struct numbered {
    hob_msg msg;
    int thread, number;
    struct receiver *to;
} numbered;

typedef struct receiver {
    hob_loop *loop;
    int next[THREADS]; /* number expected from each thread */
    int got;
} receiver;

static numbered all[THREADS][EACH];

static int setup(void **state) {
    receiver *r = HOB_NEW(receiver);
    *state = r;
    return hob_loop_create(NULL, &r->loop, NULL);
}

static int teardown(void **state) {
    receiver *r = *state;
    hob_loop_destroy(r->loop);
    hob_free(r);
    return 0;
}

static void on_number(hob_msg *m) {
    numbered *n = HOB_CONTAINER(m, numbered, msg);
    assert_int_equal(n->number, n->to->next[n->thread]);
    n->to->next[n->thread]++;
    n->to->got++;
}

static void *post_all(void *arg) {
    numbered *mine = arg;
    for (int i = 0; i < EACH; i++) hob_loop_post(mine[i].to->loop, &mine[i].msg);
    return NULL;
}

static void test_loop_post__each_once_and_in_order_from_many_threads(void **state) {
    receiver *r = *state;
    pthread_t threads[THREADS];
    for (int t = 0; t < THREADS; t++) {
        for (int i = 0; i < EACH; i++)
            all[t][i] = (numbered){.msg.fn = on_number, .thread = t, .number = i, .to = r};
        assert_int_equal(pthread_create(&threads[t], NULL, post_all, all[t]), 0);
    }
    while (r->got < THREADS * EACH) hob_loop_run_once(r->loop, -1);
    for (int t = 0; t < THREADS; t++) pthread_join(threads[t], NULL);
    assert_int_equal(hob_loop_run_once(r->loop, 0), 0);
    assert_int_equal(r->got, THREADS * EACH);
}

static void on_repost(hob_msg *m) {
    numbered *n = HOB_CONTAINER(m, numbered, msg);
    if (++n->to->got < 3) hob_loop_post(n->to->loop, m);
}

static void test_loop_post__from_a_callback_runs_in_the_next_round(void **state) {
    receiver *r = *state;
    numbered n = {.msg.fn = on_repost, .to = r};
    hob_loop_post(r->loop, &n.msg);
    assert_int_equal(r->got, 0);
    assert_int_equal(hob_loop_process(r->loop), 1);
    assert_int_equal(hob_loop_timeout(r->loop), 0);
    assert_int_equal(hob_loop_run_once(r->loop, -1), 1);
    assert_int_equal(hob_loop_run_once(r->loop, -1), 1);
    assert_int_equal(r->got, 3);
}

static void on_free(hob_msg *m) {
    numbered *n = HOB_CONTAINER(m, numbered, msg);
    n->to->got++;
    hob_free(n);
}

static void test_loop_post__queued_messages_run_when_the_loop_ends(void **state) {
    receiver *r = *state;
    for (int i = 0; i < 3; i++) {
        numbered *n = HOB_NEW(numbered);
        *n = (numbered){.msg.fn = on_free, .to = r};
        hob_loop_post(r->loop, &n->msg);
    }
    hob_loop_destroy(r->loop);
    r->loop = NULL;
    assert_int_equal(r->got, 3);
}

static void *wake(void *arg) {
    hob_loop_wake(arg);
    return NULL;
}

static void test_loop_post__wake_ends_a_wait(void **state) {
    receiver *r = *state;
    pthread_t thread;
    pthread_create(&thread, NULL, wake, r->loop);
    assert_int_equal(hob_loop_run_once(r->loop, -1), 0); /* hangs if the wake is lost */
    pthread_join(thread, NULL);
}

static hob_loop *signalled;

static void on_signal(int number) {
    (void)number;
    hob_loop_wake(signalled);
}

static void test_loop_post__wake_works_in_a_signal_handler(void **state) {
    receiver *r = *state;
    signalled = r->loop;
    struct sigaction sa = {.sa_handler = on_signal}, old;
    sigaction(SIGUSR1, &sa, &old);
    raise(SIGUSR1);
    assert_int_equal(hob_loop_run_once(r->loop, -1), 0);
    sigaction(SIGUSR1, &old, NULL);
}

#define T(name) cmocka_unit_test_setup_teardown(test_loop_post__##name, setup, teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        T(each_once_and_in_order_from_many_threads), T(from_a_callback_runs_in_the_next_round),
        T(queued_messages_run_when_the_loop_ends),   T(wake_ends_a_wait),
        T(wake_works_in_a_signal_handler),
    };
    return cmocka_run_group_tests_name("loop/post", tests, NULL, NULL);
}
