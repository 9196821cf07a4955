#include "loop/loop.h"
#include "support/check.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

typedef struct fixture {
    hob_loop *loop;
    int fds[2];
    hob_io *io;
    int events, calls;
    bool destroy_in_callback;
} fixture;

static int setup(void **state) {
    fixture *f = HOB_NEW(fixture);
    *state = f;
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, f->fds) < 0) return -1;
    return hob_loop_create(NULL, &f->loop, NULL);
}

static int teardown(void **state) {
    fixture *f = *state;
    hob_io_destroy(f->io);
    hob_loop_destroy(f->loop);
    for (int i = 0; i < 2; i++)
        if (f->fds[i] >= 0) close(f->fds[i]);
    hob_free(f);
    return 0;
}

static void on_ready(hob_io *io, int events, void *user) {
    fixture *f = user;
    f->events = events;
    f->calls++;
    if (f->destroy_in_callback) {
        hob_io_destroy(io);
        f->io = NULL;
    }
}

static void watch(fixture *f) {
    hob_error err;
    assert_ok(hob_io_create(f->loop, f->fds[0], on_ready, f, &f->io, &err), err);
}

static void test_loop_io__tells_only_what_is_wanted(void **state) {
    fixture *f = *state;
    watch(f);
    assert_int_equal(write(f->fds[1], "x", 1), 1);
    assert_int_equal(hob_loop_run_once(f->loop, 0), 0);
    hob_io_want(f->io, HOB_IO_READ);
    assert_int_equal(hob_loop_run_once(f->loop, -1), 1);
    assert_int_equal(f->events, HOB_IO_READ);
    hob_io_want(f->io, HOB_IO_READ | HOB_IO_WRITE);
    hob_loop_run_once(f->loop, -1);
    assert_int_equal(f->events, HOB_IO_READ | HOB_IO_WRITE);
    hob_io_want(f->io, 0);
    assert_int_equal(hob_loop_run_once(f->loop, 0), 0);
}

static void test_loop_io__stays_ready_until_read(void **state) {
    fixture *f = *state;
    char byte;
    watch(f);
    hob_io_want(f->io, HOB_IO_READ);
    assert_int_equal(write(f->fds[1], "x", 1), 1);
    hob_loop_run_once(f->loop, -1);
    hob_loop_run_once(f->loop, -1);
    assert_int_equal(f->calls, 2);
    assert_int_equal(read(f->fds[0], &byte, 1), 1);
    assert_int_equal(hob_loop_run_once(f->loop, 0), 0);
}

static void test_loop_io__hang_up_is_readable(void **state) {
    fixture *f = *state;
    watch(f);
    hob_io_want(f->io, HOB_IO_READ);
    close(f->fds[1]);
    f->fds[1] = -1;
    hob_loop_run_once(f->loop, -1);
    assert_int_equal(f->events, HOB_IO_READ);
}

/* The writing end of a pipe without a reader is in error, and stays so. */
static void test_loop_io__error_is_reported_as_wanted_and_again(void **state) {
    fixture *f = *state;
    int fds[2];
    assert_int_equal(pipe(fds), 0);
    assert_int_equal(hob_io_create(f->loop, fds[1], on_ready, f, &f->io, NULL), 0);
    hob_io_want(f->io, HOB_IO_WRITE);
    close(fds[0]);
    hob_loop_run_once(f->loop, -1);
    assert_int_equal(f->events, HOB_IO_WRITE);
    hob_loop_run_once(f->loop, -1);
    assert_int_equal(f->calls, 2);
    hob_io_destroy(f->io);
    f->io = NULL;
    close(fds[1]);
}

static void test_loop_io__may_be_destroyed_in_its_callback(void **state) {
    fixture *f = *state;
    f->destroy_in_callback = true;
    watch(f);
    hob_io_want(f->io, HOB_IO_WRITE);
    assert_int_equal(hob_loop_run_once(f->loop, -1), 1);
    assert_int_equal(hob_loop_run_once(f->loop, 0), 0);
}

static void test_loop_io__fd_may_be_closed_and_reused_after_destroy(void **state) {
    fixture *f = *state;
    watch(f);
    hob_io_want(f->io, HOB_IO_READ);
    hob_loop_run_once(f->loop, 0);
    hob_io_destroy(f->io);
    close(f->fds[0]);
    int other[2];
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, other), 0);
    assert_int_equal(other[0], f->fds[0]);
    watch(f);
    hob_io_want(f->io, HOB_IO_READ);
    assert_int_equal(write(other[1], "x", 1), 1);
    assert_int_equal(hob_loop_run_once(f->loop, -1), 1);
    close(other[1]);
}

static void test_loop_io__leaves_the_flags_alone(void **state) {
    fixture *f = *state;
    int before = fcntl(f->fds[0], F_GETFL);
    watch(f);
    assert_int_equal(fcntl(f->fds[0], F_GETFL), before);
}

static void test_loop_io__refuses_files_and_bad_descriptors(void **state) {
    fixture *f = *state;
    hob_error err;
    hob_io *io = NULL;
    char name[] = "/tmp/hob-io-XXXXXX";
    int file = mkstemp(name);
    unlink(name);
    assert_int_equal(hob_io_create(f->loop, file, on_ready, f, &io, &err), HOB_ENOSYS);
    close(file);
    assert_int_equal(hob_io_create(f->loop, file, on_ready, f, &io, &err), HOB_EIO);
    assert_non_null(strstr(err.message, "Bad file descriptor"));
    assert_null(io);
}

#define T(name) cmocka_unit_test_setup_teardown(test_loop_io__##name, setup, teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        T(tells_only_what_is_wanted),
        T(stays_ready_until_read),
        T(hang_up_is_readable),
        T(error_is_reported_as_wanted_and_again),
        T(may_be_destroyed_in_its_callback),
        T(fd_may_be_closed_and_reused_after_destroy),
        T(leaves_the_flags_alone),
        T(refuses_files_and_bad_descriptors),
    };
    return cmocka_run_group_tests_name("loop/io", tests, NULL, NULL);
}
