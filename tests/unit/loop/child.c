#include "loop/loop.h"
#include "support/check.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

typedef struct fixture {
    hob_loop *loop;
    int out[2]; /* what the child writes to its fd 1 comes out of out[0] */
    int status, calls;
    bool destroy_in_callback;
} fixture;

static int setup(void **state) {
    fixture *f = HOB_NEW(fixture);
    *state = f;
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, f->out) < 0) return -1;
    return hob_loop_create(NULL, &f->loop, NULL);
}

static int teardown(void **state) {
    fixture *f = *state;
    hob_loop_destroy(f->loop);
    close(f->out[0]);
    close(f->out[1]);
    hob_free(f);
    return 0;
}

static void on_exit_status(hob_child *c, int status, void *user) {
    fixture *f = user;
    f->status = status;
    f->calls++;
    if (f->destroy_in_callback) hob_child_destroy(c);
}

static hob_child *start_with(fixture *f, const char *script, const int *fds, size_t nfds) {
    const char *argv[] = {"sh", "-c", script, NULL};
    const char *envp[] = {"PATH=/usr/bin:/bin", "MARK=here", NULL};
    hob_child_opts o = {.path = "/bin/sh", .argv = argv, .envp = envp, .fds = fds, .nfds = nfds};
    hob_child *c = NULL;
    hob_error err;
    assert_ok(hob_child_start(f->loop, &o, on_exit_status, f, &c, &err), err);
    return c;
}

static hob_child *start(fixture *f, const char *script) {
    int fds[] = {-1, f->out[1], -1};
    return start_with(f, script, fds, 3);
}

static void wait_exit(fixture *f) {
    while (!f->calls) hob_loop_run_once(f->loop, -1);
}

/* All that was written so far; the child has ended, so it is all there. */
static const char *output(fixture *f) {
    static char text[8192];
    ssize_t n = recv(f->out[0], text, sizeof(text) - 1, MSG_DONTWAIT);
    text[n > 0 ? n : 0] = '\0';
    return text;
}

static bool gone(int pid) {
    return kill(pid, 0) < 0 && errno == ESRCH;
}

static void test_loop_child__reports_the_exit_code(void **state) {
    fixture *f = *state;
    hob_child *c = start(f, "exit 7");
    int pid = hob_child_pid(c);
    assert_int_equal(f->calls, 0);
    wait_exit(f);
    assert_int_equal(f->status, 7);
    assert_int_equal(hob_child_kill(c, SIGTERM), HOB_ENOENT);
    assert_true(gone(pid));
    hob_child_destroy(c);
}

static void test_loop_child__reports_the_signal(void **state) {
    fixture *f = *state;
    hob_child *c = start(f, "exec sleep 1000");
    assert_int_equal(hob_child_kill(c, SIGTERM), HOB_OK);
    wait_exit(f);
    assert_int_equal(f->status, 128 + SIGTERM);
    hob_child_destroy(c);
}

static void test_loop_child__gets_exactly_the_given_environment(void **state) {
    fixture *f = *state;
    hob_child *c = start(f, "tr '\\0' ' ' </proc/$$/environ");
    wait_exit(f);
    assert_string_equal(output(f), "PATH=/usr/bin:/bin MARK=here ");
    hob_child_destroy(c);
}

/* Two sources swap their numbers, and a stray descriptor without close-on-exec is open beyond. */
static void test_loop_child__descriptors_are_moved_and_the_rest_closed(void **state) {
    fixture *f = *state;
    int a[2], b[2], fds[64];
    char script[256], expected[256] = "AB\n";
    assert_int_equal(pipe(a), 0);
    assert_int_equal(pipe(b), 0);
    int stray = dup(a[0]);
    assert_true(a[0] < b[0] && b[0] < stray && stray < 64);
    assert_int_equal(write(a[1], "A\n", 2), 2);
    assert_int_equal(write(b[1], "B\n", 2), 2);
    for (int i = 0; i <= b[0]; i++) {
        size_t at = strlen(expected);
        fds[i] = i == 1 ? f->out[1] : i == a[0] ? b[0] : i == b[0] ? a[0] : -1;
        snprintf(expected + at, sizeof(expected) - at, "%d\n", i);
    }
    snprintf(script, sizeof(script),
             "read x </proc/$$/fd/%d; read y </proc/$$/fd/%d; echo $x$y; "
             "ls -1v /proc/$$/fd; :",
             b[0], a[0]);
    hob_child *c = start_with(f, script, fds, (size_t)b[0] + 1);
    wait_exit(f);
    assert_string_equal(output(f), expected);
    hob_child_destroy(c);
    int used[] = {stray, a[0], a[1], b[0], b[1]};
    for (size_t i = 0; i < HOB_ARRAY_LEN(used); i++) close(used[i]);
}

static void test_loop_child__missing_descriptor_is_dev_null(void **state) {
    fixture *f = *state;
    hob_child *c = start(f, "readlink /proc/$$/fd/0; read x || echo end");
    wait_exit(f);
    assert_string_equal(output(f), "/dev/null\nend\n");
    hob_child_destroy(c);
}

static void test_loop_child__signals_are_as_after_boot(void **state) {
    fixture *f = *state;
    sigset_t block, old;
    struct sigaction ignore = {.sa_handler = SIG_IGN}, old_pipe;
    sigemptyset(&block);
    sigaddset(&block, SIGUSR1);
    sigprocmask(SIG_BLOCK, &block, &old);
    sigaction(SIGPIPE, &ignore, &old_pipe);
    hob_child *c = start(f, "sed -n 's/^Sig\\(Blk\\|Ign\\):.//p' /proc/self/status");
    sigaction(SIGPIPE, &old_pipe, NULL);
    sigprocmask(SIG_SETMASK, &old, NULL);
    wait_exit(f);
    unsigned long long blocked = 1, ignored = 1;
    assert_int_equal(sscanf(output(f), "%llx\n%llx\n", &blocked, &ignored), 2);
    assert_int_equal(blocked, 0);
    /* libc itself ignores its two internal signals, 32 and 33, in what it spawns */
    assert_int_equal(ignored & ~(3ull << 31), 0);
    hob_child_destroy(c);
}

static void test_loop_child__start_failures_are_told_apart(void **state) {
    fixture *f = *state;
    const char *argv[] = {"x", NULL}, *envp[] = {NULL};
    int fds[] = {-1, -1, -1};
    hob_child_opts o = {.argv = argv, .envp = envp, .fds = fds, .nfds = 3};
    hob_child *c = NULL;
    hob_error err;
    o.path = "/nonexistent/program";
    assert_int_equal(hob_child_start(f->loop, &o, on_exit_status, f, &c, &err), HOB_ENOENT);
    assert_string_equal(err.message,
                        "cannot start /nonexistent/program: No such file or directory");
    o.path = "/dev/null";
    assert_int_equal(hob_child_start(f->loop, &o, on_exit_status, f, &c, &err), HOB_EACCES);
    o.path = "sh";
    assert_int_equal(hob_child_start(f->loop, &o, on_exit_status, f, &c, &err), HOB_EINVAL);
    o.path = "/bin/sh";
    fds[0] = 9999;
    assert_int_equal(hob_child_start(f->loop, &o, on_exit_status, f, &c, &err), HOB_EIO);
    assert_null(c);
}

static void test_loop_child__runs_a_program_from_a_descriptor(void **state) {
    fixture *f = *state;
    int memfd = memfd_create("program", MFD_CLOEXEC), file = open("/bin/echo", O_RDONLY);
    char block[65536], path[64];
    for (ssize_t n; (n = read(file, block, sizeof(block))) > 0;)
        assert_int_equal(write(memfd, block, (size_t)n), n);
    close(file);
    fchmod(memfd, 0700);
    snprintf(path, sizeof(path), "/proc/self/fd/%d", memfd);
    const char *argv[] = {"echo", "from a memfd", NULL}, *envp[] = {NULL};
    int fds[] = {-1, f->out[1], -1};
    hob_child_opts o = {.path = path, .argv = argv, .envp = envp, .fds = fds, .nfds = 3};
    hob_child *c = NULL;
    hob_error err;
    assert_ok(hob_child_start(f->loop, &o, on_exit_status, f, &c, &err), err);
    wait_exit(f);
    assert_string_equal(output(f), "from a memfd\n");
    hob_child_destroy(c);
    close(memfd);
}

static void test_loop_child__destroy_kills_reaps_and_is_silent(void **state) {
    fixture *f = *state;
    hob_child *c = start(f, "trap '' TERM; echo up; while :; do sleep 1000; done");
    int pid = hob_child_pid(c);
    char byte;
    assert_int_equal(recv(f->out[0], &byte, 1, 0), 1);
    hob_child_destroy(c);
    for (int i = 0; i < 1000 && !gone(pid); i++) hob_loop_run_once(f->loop, 10);
    assert_true(gone(pid));
    assert_int_equal(f->calls, 0);
}

static void test_loop_child__end_of_the_loop_reaps(void **state) {
    fixture *f = *state;
    hob_child *c = start(f, "exec sleep 1000");
    int pid = hob_child_pid(c);
    hob_child_destroy(c);
    hob_loop_destroy(f->loop);
    f->loop = NULL;
    assert_true(gone(pid));
}

static void test_loop_child__may_be_destroyed_in_its_callback(void **state) {
    fixture *f = *state;
    f->destroy_in_callback = true;
    start(f, "exit 0");
    wait_exit(f);
    assert_int_equal(f->status, 0);
}

static void test_loop_child__reaped_by_the_host_is_reported(void **state) {
    fixture *f = *state;
    hob_child *c = start(f, "exit 3");
    assert_int_equal(waitpid(hob_child_pid(c), NULL, 0), hob_child_pid(c));
    wait_exit(f);
    assert_int_equal(f->status, HOB_ENOENT);
    hob_child_destroy(c);
}

static void on_timer(hob_timer *t) {
    t->fn = NULL;
}

/* A process in virtual time: its end comes before a timer far away. */
static void test_loop_child__virtual_time_waits_for_the_process(void **state) {
    fixture *f = *state;
    hob_fake_clock clock;
    hob_timer timer;
    hob_loop_destroy(f->loop);
    hob_fake_clock_init(&clock, 0);
    hob_loop_create(&clock.base, &f->loop, NULL);
    hob_timer_init(&timer, f->loop, on_timer);
    hob_timer_start(&timer, 600 * 1000);
    hob_child *c = start(f, "exit 5");
    wait_exit(f);
    assert_int_equal(f->status, 5);
    assert_int_equal(clock.mono, 0);
    hob_child_destroy(c);
    assert_int_equal(hob_loop_run_once(f->loop, -1), 1);
    assert_int_equal(clock.mono, 600 * 1000);
}

#define T(name) cmocka_unit_test_setup_teardown(test_loop_child__##name, setup, teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        T(reports_the_exit_code),
        T(reports_the_signal),
        T(gets_exactly_the_given_environment),
        T(descriptors_are_moved_and_the_rest_closed),
        T(missing_descriptor_is_dev_null),
        T(signals_are_as_after_boot),
        T(start_failures_are_told_apart),
        T(runs_a_program_from_a_descriptor),
        T(destroy_kills_reaps_and_is_silent),
        T(end_of_the_loop_reaps),
        T(may_be_destroyed_in_its_callback),
        T(reaped_by_the_host_is_reported),
        T(virtual_time_waits_for_the_process),
    };
    return cmocka_run_group_tests_name("loop/child", tests, NULL, NULL);
}
