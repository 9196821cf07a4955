/*
 * crash.c - kill points of the crash harness, in test builds only.
 *
 * HOB_CRASH_AT=n   the n-th point reached by the process raises SIGKILL in it.
 * HOB_CRASH_LOG=f  a line "n name" is appended to f at each point, before the kill.
 */
#include "base/base.h"

#ifdef HOB_TEST_POINTS

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static pthread_once_t once = PTHREAD_ONCE_INIT;
static atomic_llong points;
static int64_t kill_at;
static int log_fd = -1;

static void read_environment(void) {
    hob_str at = hob_str_z(getenv("HOB_CRASH_AT"));
    if (hob_str_int(at, &kill_at) < 0) kill_at = 0;
    const char *path = getenv("HOB_CRASH_LOG");
    if (path && *path) log_fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
}

static void note(long long n, const char *name) {
    char line[160];
    int len = snprintf(line, sizeof(line), "%lld %.128s\n", n, name);
    if (write(log_fd, line, (size_t)len) != len) hob_log(HOB_LOG_ERROR, "crash", "log is full");
}

void hob_crash_point(const char *name) {
    pthread_once(&once, read_environment);
    long long n = atomic_fetch_add(&points, 1) + 1;
    if (log_fd >= 0) note(n, name);
    if (n == kill_at) raise(SIGKILL);
}

#else

typedef int hob_crash_points_are_off; /* a translation unit may not be empty */

#endif
