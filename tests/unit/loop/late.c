/* A thread that gets no CPU for a while between starting to wait and waiting. */
#include "loop/loop.h"
#include "support/check.h"

#include <signal.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#define ROUNDS 500

/* Stands for a busy machine: whatever was going on is held up longer than the wait asked for. */
static void hold_up(int sig) {
    struct timespec pause = {0, 3 * 1000 * 1000};
    (void)sig;
    nanosleep(&pause, NULL);
}

static void hangs(int sig) {
    static const char words[] = "the loop waits longer than it was told to\n";
    (void)sig;
    (void)!write(STDERR_FILENO, words, sizeof(words) - 1);
    _exit(1);
}

static timer_t start_watchdog(void) {
    timer_t watchdog;
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGVTALRM};
    struct itimerspec limit = {.it_value = {60, 0}};
    signal(SIGVTALRM, hangs);
    timer_create(CLOCK_MONOTONIC, &event, &watchdog);
    timer_settime(watchdog, 0, &limit, NULL);
    return watchdog;
}

static void test_loop_late__a_wait_that_is_over_before_it_begins_ends(void **state) {
    hob_loop *loop;
    hob_error err;
    timer_t watchdog = start_watchdog();
    (void)state;
    assert_ok(hob_loop_create(NULL, &loop, &err), err);
    sigaction(SIGALRM, &(struct sigaction){.sa_handler = hold_up, .sa_flags = SA_RESTART}, NULL);
    for (int i = 0; i < ROUNDS; i++) {
        struct itimerval soon = {.it_value = {0, 1 + i % 12}};
        setitimer(ITIMER_REAL, &soon, NULL);
        hob_loop_run_once(loop, 1);
    }
    signal(SIGALRM, SIG_IGN);
    timer_delete(watchdog);
    hob_loop_destroy(loop);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_loop_late__a_wait_that_is_over_before_it_begins_ends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
