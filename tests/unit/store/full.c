/*
 * Disks that take no more: full, limited, read-only. Each in a child, whose limits and rights are its
 * own. What was acknowledged stays readable, what was not is not there, and when there is room again the
 * same store goes on.
 */
#include "support/stores.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static rig r;

static int set_up(void **state) {
    (void)state;
    rig_init(&r);
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    rig_finish(&r);
    return 0;
}

enum { SKIPPED = 77 };

/* Runs fn in a child; a failed check there ends it with an abort. */
static int in_child(void (*fn)(void)) {
    int status;
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        setenv("CMOCKA_TEST_ABORT", "1", 1);
        rig_fork(&r);
        fn();
        _exit(0);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    if (!WIFEXITED(status)) fail_msg("the child ended by signal %d", WTERMSIG(status));
    return WEXITSTATUS(status);
}

static char body[20000];

/* Appends until it fails for good: after a failure the store may find room in its own WAL. Returns how
 * many were acknowledged. */
static uint64_t fill(hob_store *s) {
    uint64_t n = 0;
    memset(body, 'b', sizeof(body));
    for (int failures = 0; failures < 3 && n < 10000;) {
        int code = rig_append(&r, s, "a", n, hob_str_n(body, sizeof(body)));
        failures = code < 0 ? failures + 1 : 0;
        n += code >= 0;
    }
    assert_int_equal(r.last.code, HOB_ESTORE);
    return n;
}

static void assert_there(hob_store *s, uint64_t n) {
    uint64_t at = 0;
    do {
        assert_int_equal(rig_read(&r, s, "a", at), 0);
        for (size_t i = 0; i < r.last.n; i++)
            assert_memory_equal(r.last.events[i].json.p, body, sizeof(body));
        at += r.last.n;
    } while (r.last.more);
    assert_int_equal(at, n);
}

/* Full, then room again, with the same store; then opened anew. */
static void fill_and_go_on(int sub, void (*make_room)(void)) {
    hob_store *s = rig_sqlite(&r, "");
    assert_int_equal(rig_own(&r, s, "a", HOB_OWN_CREATE), 0);
    uint64_t n = fill(s);
    assert_true(n > 0);
    assert_int_equal(r.last.err.sub, sub);
    assert_there(s, n);
    make_room();
    assert_int_equal(rig_append(&r, s, "a", n, hob_str_n(body, sizeof(body))), 0);
    s->ops->close(s);
    s = rig_sqlite(&r, "");
    assert_there(s, n + 1);
    s->ops->close(s);
}

/* ---- a file size limit --------------------------------------------------------------------- */

static void set_limit(rlim_t bytes) {
    struct rlimit l;
    getrlimit(RLIMIT_FSIZE, &l);
    l.rlim_cur = bytes;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &l), 0);
}

static void lift_limit(void) {
    set_limit(RLIM_INFINITY);
}

/* The limit's signal would end the process if the writer did not keep its hands off signals. */
static void under_limit(void) {
    set_limit(1 << 20);
    fill_and_go_on(EFBIG, lift_limit);
}

static void test_store_full__a_file_size_limit(void **state) {
    (void)state;
    assert_int_equal(in_child(under_limit), 0);
}

/* ---- a full disk --------------------------------------------------------------------------- */

static void write_ballast(void) {
    char path[96];
    snprintf(path, sizeof(path), "%s/ballast", r.dir);
    int fd = open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
    for (int i = 0; i < 64; i++) assert_int_equal(write(fd, body, sizeof(body)), sizeof(body));
    close(fd);
}

static void drop_ballast(void) {
    char path[96];
    snprintf(path, sizeof(path), "%s/ballast", r.dir);
    assert_int_equal(unlink(path), 0);
}

static void on_small_disk(void) {
    if (unshare(CLONE_NEWNS) < 0 || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
        mount("tmpfs", r.dir, "tmpfs", 0, "size=3m") < 0)
        _exit(SKIPPED);
    write_ballast();
    fill_and_go_on(ENOSPC, drop_ballast);
}

static void test_store_full__a_full_disk(void **state) {
    (void)state;
    int status = in_child(on_small_disk);
    if (status == SKIPPED) {
        print_message("no right to mount a small disk: the file size limit stands for it\n");
        skip();
    }
    assert_int_equal(status, 0);
}

static void open_on_full_disk(void) {
    if (unshare(CLONE_NEWNS) < 0 || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
        mount("tmpfs", r.dir, "tmpfs", 0, "size=12k") < 0)
        _exit(SKIPPED);
    hob_store *s = rig_sqlite(&r, "");
    assert_int_equal(rig_own(&r, s, "a", HOB_OWN_CREATE), HOB_ESTORE);
    assert_int_equal(rig_own(&r, s, "a", HOB_OWN_CREATE), HOB_ESTORE);
    s->ops->close(s);
    assert_int_equal(mount("none", r.dir, NULL, MS_REMOUNT, "size=1m"), 0);
    s = rig_sqlite(&r, "");
    assert_int_equal(rig_own(&r, s, "a", HOB_OWN_CREATE), 0); /* what was half made is finished */
    s->ops->close(s);
}

static void test_store_full__opening_on_a_full_disk(void **state) {
    (void)state;
    int status = in_child(open_on_full_disk);
    if (status == SKIPPED) {
        print_message("no right to mount a small disk\n");
        skip();
    }
    assert_int_equal(status, 0);
}

/* ---- a read-only folder -------------------------------------------------------------------- */

static void become_nobody(void) {
    if (getuid() == 0 && (setgid(65534) < 0 || setuid(65534) < 0)) _exit(SKIPPED);
}

static void in_read_only_folder(void) {
    become_nobody();
    hob_store *s = rig_sqlite(&r, "");
    assert_int_equal(rig_own(&r, s, "a", HOB_OWN_CREATE), HOB_ESTORE);
    assert_int_equal(r.last.err.sub, EACCES);
    assert_non_null(strstr(r.last.err.message, r.path));
    assert_int_equal(rig_sessions(&r, s, &(hob_store_query){0}), HOB_ESTORE);
    s->ops->close(s);
}

static void test_store_full__a_read_only_folder(void **state) {
    (void)state;
    assert_int_equal(chmod(r.dir, 0555), 0);
    assert_int_equal(in_child(in_read_only_folder), 0);
    assert_int_equal(chmod(r.dir, 0700), 0);
}

static void test_store_full__a_read_only_file(void **state) {
    (void)state;
    char path[128];
    snprintf(path, sizeof(path), "%s.lock", r.path);
    hob_store *s = rig_sqlite(&r, "");
    assert_int_equal(rig_own(&r, s, "a", HOB_OWN_CREATE), 0);
    s->ops->close(s);
    assert_int_equal(chmod(r.dir, 0777), 0);
    assert_int_equal(chmod(path, 0666), 0);
    assert_int_equal(chmod(r.path, 0444), 0);
    assert_int_equal(in_child(in_read_only_folder), 0);
}

#define T(name) cmocka_unit_test_setup_teardown(test_store_full__##name, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        T(a_file_size_limit),  T(a_full_disk),      T(opening_on_a_full_disk),
        T(a_read_only_folder), T(a_read_only_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
