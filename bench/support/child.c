#include "child.h"

#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>

int64_t bench_now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static double milliseconds(struct timeval t) {
    return (double)t.tv_sec * 1e3 + (double)t.tv_usec / 1e3;
}

static int exit_status(int status) {
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static void open_for(posix_spawn_file_actions_t *a, int fd, const char *path) {
    posix_spawn_file_actions_addopen(a, fd, path ? path : "/dev/null", O_WRONLY | O_CREAT | O_TRUNC,
                                     0600);
}

/* posix_spawn shares memory with the child until it execs, so that the size of this program does
 * not weigh on the time of the start. */
static int start(const bench_child_opts *o, pid_t *pid) {
    posix_spawn_file_actions_t a;
    posix_spawn_file_actions_init(&a);
    posix_spawn_file_actions_addopen(&a, 0, "/dev/null", O_RDONLY, 0);
    open_for(&a, 1, o->output);
    open_for(&a, 2, o->errors);
    int rc = posix_spawn(pid, o->argv[0], &a, NULL, (char *const *)o->argv, (char *const *)o->envp);
    posix_spawn_file_actions_destroy(&a);
    return rc;
}

/* The last lines of what it said. */
static void show_errors(const bench_child_opts *o) {
    char text[1001];
    FILE *f = o->errors ? fopen(o->errors, "re") : NULL;
    if (!f) return;
    if (fseek(f, -1000, SEEK_END) != 0) rewind(f);
    text[fread(text, 1, sizeof(text) - 1, f)] = 0;
    fclose(f);
    fprintf(stderr, "bench: %s failed:\n%s\n", o->argv[0], text);
}

bench_run bench_child_run(const bench_child_opts *o) {
    bench_run r = {.status = -1, .spawned_ns = bench_now()};
    struct rusage usage;
    int status;
    pid_t pid;
    if (start(o, &pid) != 0 || wait4(pid, &status, 0, &usage) != pid) return r;
    r.gone_ns = bench_now();
    r.wall_ms = (double)(r.gone_ns - r.spawned_ns) / 1e6;
    r.cpu_ms = milliseconds(usage.ru_utime) + milliseconds(usage.ru_stime);
    r.rss_mb = (double)usage.ru_maxrss / 1024;
    r.status = exit_status(status);
    if (r.status != 0) show_errors(o);
    return r;
}
