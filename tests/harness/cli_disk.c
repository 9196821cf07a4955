/*
 * Disks that cannot be written: full, and read-only. The run ends with exit 1 and says why; what was
 * printed as stored is stored. Mounts are made in a namespace of this program and end with it; where
 * neither root nor everybody may do that, this is skipped.
 */
#include "support/cli.h"

#include "support/check.h"
#include "support/process.h"

#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <unistd.h>

#define MODEL "-m", "scripted:s.json"
/* `fill` writes until there is no more room. */
#define SCRIPT                                                                                     \
    "{'rules': [{'when': {'user': 'fill'}, 'reply': [{'text': 'Step {{step}}.'}, {'tool': 'bash'," \
    " 'args': {'command': 'head -c 40000 /dev/urandom | base64 -w 0; echo {{step}}'}}]}],"         \
    " 'otherwise': [{'text': 'room for {{user}}'}]}"
#define TOOLS                                                                                      \
    "{'rules': [{'when': {'step': 1}, 'reply': [{'tool': 'bash', 'args': {'command': 'true'}},"    \
    " {'tool': 'write', 'args': {'path': 'new', 'content': 'x'}}]}],"                              \
    " 'otherwise': [{'text': 'done'}]}"

static bool may_mount;

static int own_mounts(void **state) {
    (void)state;
    may_mount = hob_test_become_root() && unshare(CLONE_NEWNS) == 0 &&
                mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0;
    if (!may_mount) print_message("cli_disk: skipped: this user may not mount\n");
    return 0;
}

static int setup(void **state) {
    hob_test_cli_setup(state);
    hob_test_quoted_file(*state, "s.json", SCRIPT);
    return 0;
}

static int teardown(void **state) {
    hob_test_cli *c = *state;
    umount2(hob_test_path(&c->folder, "home"), MNT_DETACH);
    return hob_test_cli_teardown(state);
}

static void mount_home(hob_test_cli *c, unsigned long flags, const char *options) {
    const char *home = hob_test_path(&c->folder, "home");
    if (mount("none", home, "tmpfs", flags, options) < 0) fail_msg("cannot mount %s", home);
}

static void assert_failed(hob_test_cli *c, const char *why) {
    const hob_json *result = hob_test_line(c, -1), *error = hob_json_get(result, "error");
    assert_int_equal(c->code, 1);
    assert_str(hob_json_get_str(result, "type"), "result");
    assert_str(hob_json_get_str(result, "status"), "failed");
    assert_str(hob_json_get_str(error, "code"), "HOB_ESTORE");
    assert_err_has(c, why);
}

/* The numbers of the stored events in the output, up to the highest, each once and none left out. */
static int64_t last_seq(hob_test_cli *c) {
    int64_t last = 0;
    size_t n = hob_test_lines(c);
    for (size_t i = 0; i < n; i++) {
        int64_t seq = hob_json_get_int(hob_test_line(c, (ptrdiff_t)i), "seq", 0);
        if (seq) assert_int_equal(seq, ++last);
    }
    return last;
}

static int64_t stored(hob_test_cli *c) {
    assert_int_equal(HOB_RUN(c, NULL, "sessions", "show", "a", "--json"), 0);
    return last_seq(c);
}

#define FILL "-p", "--json", "--permission-mode", "yolo", "--session-id", "a", MODEL, "fill"

static void test_cli_disk__full(void **state) {
    hob_test_cli *c = *state;
    if (!may_mount) skip();
    mount_home(c, 0, "size=1m");
    HOB_RUN(c, NULL, FILL);
    assert_failed(c, "the disk is full");
    int64_t told = last_seq(c);
    assert_true(told > 10);
    assert_int_equal(HOB_RUN(c, NULL, "-p", "--json", "-c", "more"), 1);
    assert_failed(c, "the disk is full");
    assert_true(stored(c) >= told);
    mount_home(c, MS_REMOUNT, "size=64m");
    assert_true(stored(c) >= told);
    assert_int_equal(HOB_RUN(c, NULL, "-p", "-c", "more"), 0);
    assert_out(c, "room for more\n");
}

/* No room from the beginning: at every size that ends, nothing is told that is not there. */
static void test_cli_disk__hardly_any_room(void **state) {
    hob_test_cli *c = *state;
    if (!may_mount) skip();
    for (int kib = 8; kib <= 256; kib *= 2) {
        char size[32];
        snprintf(size, sizeof size, "size=%dk", kib);
        mount_home(c, 0, size);
        HOB_RUN(c, NULL, FILL);
        assert_failed(c, hob_test_err_has(c, "No space left") ? "No space left" : "disk is full");
        int64_t told = last_seq(c);
        mount_home(c, MS_REMOUNT, "size=64m");
        if (told) assert_true(stored(c) >= told);
        umount2(hob_test_path(&c->folder, "home"), MNT_DETACH);
    }
}

static void test_cli_disk__read_only(void **state) {
    hob_test_cli *c = *state;
    if (!may_mount) skip();
    mount_home(c, 0, "size=64m");
    assert_int_equal(HOB_RUN(c, NULL, "-p", "--json", "--session-id", "a", MODEL, "one"), 0);
    int64_t told = last_seq(c);
    mount_home(c, MS_REMOUNT | MS_RDONLY, "size=64m");
    HOB_RUN(c, NULL, "-p", "--json", "-c", MODEL, "two");
    assert_failed(c, "Read-only file system");
    HOB_RUN(c, NULL, "-p", "--json", MODEL, "two");
    assert_failed(c, "Read-only file system");
    assert_int_equal(HOB_RUN(c, NULL, "-p", "--no-session", MODEL, "two"), 0);
    mount_home(c, MS_REMOUNT, "size=64m");
    assert_int_equal(stored(c), told);
    assert_int_equal(HOB_RUN(c, NULL, "-p", "-c", "three"), 0);
    assert_out(c, "room for three\n");
}

static void test_cli_disk__read_only_from_the_beginning(void **state) {
    hob_test_cli *c = *state;
    if (!may_mount) skip();
    mount_home(c, MS_RDONLY, "size=64m");
    HOB_RUN(c, NULL, "-p", "--json", MODEL, "one");
    assert_failed(c, "Read-only file system");
}

/* Files can be written; commands cannot be looked after, and that is said. */
static void test_cli_disk__without_proc(void **state) {
    hob_test_cli *c = *state;
#ifdef __SANITIZE_ADDRESS__
    skip(); /* it cannot start without /proc itself */
#endif
    if (!may_mount) skip();
    hob_test_quoted_file(c, "s.json", TOOLS);
    assert_int_equal(mount("none", "/proc", "tmpfs", 0, NULL), 0);
    int code = HOB_RUN(c, NULL, "-p", "--permission-mode", "yolo", MODEL, "go");
    umount2("/proc", MNT_DETACH);
    assert_int_equal(code, 0);
    assert_err_has(c, "commands cannot be supervised without /proc; mount it");
    assert_str(hob_test_content(&c->folder, "new"), "x");
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_cli_disk__full),         TEST(test_cli_disk__hardly_any_room),
        TEST(test_cli_disk__read_only),    TEST(test_cli_disk__read_only_from_the_beginning),
        TEST(test_cli_disk__without_proc),
    };
    return cmocka_run_group_tests(tests, own_mounts, NULL);
}
