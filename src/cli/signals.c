/*
 * signals.c - SIGINT, SIGTERM and SIGHUP as something that can be asked for.
 *
 * The handler only notes the signal and wakes whoever waits. The third one that nobody took note of
 * ends the program on the spot: then it hangs somewhere, and the person at the keyboard is right.
 */
#include "cli/cli.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <unistd.h>

#define PATIENCE 3

static volatile sig_atomic_t last_signal, untaken;
static _Atomic(hob_runtime *) woken;

static void on_signal(int number) {
    int saved = errno;
    last_signal = number;
    untaken = untaken + 1;
    if (untaken >= PATIENCE) _exit(HOB_EXIT_SIGNAL + number);
    hob_runtime *rt = atomic_load(&woken);
    if (rt) hob_runtime_wake(rt);
    errno = saved;
}

void hob_signals_watch(void) {
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
    struct sigaction now, act = {.sa_handler = on_signal};
    for (size_t i = 0; i < HOB_ARRAY_LEN(numbers); i++) {
        sigaction(numbers[i], NULL, &now);
        if (now.sa_handler != SIG_IGN) sigaction(numbers[i], &act, NULL); /* nohup stays in force */
    }
    act.sa_handler = SIG_IGN;
    sigaction(SIGPIPE, &act, NULL);
}

void hob_signals_runtime(hob_runtime *rt) {
    atomic_store(&woken, rt);
}

int hob_signals_take(void) {
    int number = last_signal;
    last_signal = 0;
    untaken = 0;
    return number;
}

bool hob_signals_waiting(void) {
    return last_signal != 0;
}
