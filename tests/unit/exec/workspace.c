/* ctest: timeout=180 */
#include "exec/workspace.h"
#include "support/check.h"
#include "support/folder.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include <sys/socket.h>

/* base/
 *   proj/          the workspace
 *     a.txt  sub/b.txt  inner -> sub/b.txt  out -> ../secret  absolute -> BASE/secret  up -> ..
 *   proj-evil/c.txt
 *   second/d.txt   the second root
 *   secret         */
typedef struct fixture {
    hob_test_folder base;
    hob_workspace *w;
} fixture;

static int setup(void **state) {
    fixture *f = HOB_NEW(fixture);
    hob_test_folder_make(&f->base);
    hob_test_mkdir(&f->base, "proj");
    hob_test_mkdir(&f->base, "proj/sub");
    hob_test_mkdir(&f->base, "proj-evil");
    hob_test_mkdir(&f->base, "second");
    hob_test_file(&f->base, "proj/a.txt", HOB_STR("a"));
    hob_test_file(&f->base, "proj/sub/b.txt", HOB_STR("b"));
    hob_test_file(&f->base, "proj-evil/c.txt", HOB_STR("c"));
    hob_test_file(&f->base, "second/d.txt", HOB_STR("d"));
    hob_test_file(&f->base, "secret", HOB_STR("secret"));
    hob_test_link(&f->base, "sub/b.txt", "proj/inner");
    hob_test_link(&f->base, "../secret", "proj/out");
    hob_test_link(&f->base, hob_test_path(&f->base, "secret"), "proj/absolute");
    hob_test_link(&f->base, "..", "proj/up");
    hob_test_link(&f->base, "proj", "alias");
    hob_str roots[] = {hob_str_z(hob_test_path(&f->base, "proj")),
                       hob_str_z(hob_test_path(&f->base, "second"))};
    *state = f;
    return hob_workspace_open(roots, 2, &f->w, NULL);
}

static int setup_walk(void **state) {
    int r = setup(state);
    hob_workspace_without_openat2(((fixture *)*state)->w);
    return r;
}

static int teardown(void **state) {
    fixture *f = *state;
    hob_workspace_close(f->w);
    hob_test_folder_remove(&f->base);
    hob_free(f);
    return 0;
}

/* The first byte of the file, or the error. */
static int first_byte(fixture *f, hob_str path, hob_error *err) {
    int fd = -1;
    char c = 0;
    int r = hob_workspace_open_file(f->w, path, &fd, err);
    if (r < 0) return r;
    if (read(fd, &c, 1) != 1) c = 0;
    close(fd);
    return c;
}

static int opens(fixture *f, const char *path) {
    hob_error err = {0};
    int r = first_byte(f, hob_str_z(path), &err);
    if (r < 0) assert_true(strlen(err.message) > 0);
    return r;
}

static void test_exec_workspace__opens_what_is_beneath(void **state) {
    fixture *f = *state;
    assert_int_equal(opens(f, "a.txt"), 'a');
    assert_int_equal(opens(f, "./sub//b.txt"), 'b');
    assert_int_equal(opens(f, hob_test_path(&f->base, "proj/a.txt")), 'a');
    assert_int_equal(opens(f, hob_test_path(&f->base, "proj//sub/./b.txt")), 'b');
    assert_int_equal(opens(f, hob_test_path(&f->base, "second/d.txt")), 'd');
}

static void test_exec_workspace__follows_links_and_dots_that_stay_beneath(void **state) {
    fixture *f = *state;
    assert_int_equal(opens(f, "inner"), 'b');
    assert_int_equal(opens(f, "sub/../a.txt"), 'a');
}

static void test_exec_workspace__refuses_what_is_outside(void **state) {
    fixture *f = *state;
    static const char *const paths[] = {"../secret", "sub/../../secret", "out",         "absolute",
                                        "up/secret", "up/proj/a.txt",    "/etc/passwd", "/",
                                        "..",        "/../../etc/passwd"};
    for (size_t i = 0; i < HOB_ARRAY_LEN(paths); i++)
        if (opens(f, paths[i]) != HOB_EACCES) fail_msg("%s: %d", paths[i], opens(f, paths[i]));
    assert_int_equal(opens(f, hob_test_path(&f->base, "secret")), HOB_EACCES);
    assert_int_equal(opens(f, hob_test_path(&f->base, "proj/../secret")), HOB_EACCES);
}

static void test_exec_workspace__a_sibling_with_the_same_prefix_is_outside(void **state) {
    fixture *f = *state;
    assert_int_equal(opens(f, hob_test_path(&f->base, "proj-evil/c.txt")), HOB_EACCES);
    assert_int_equal(opens(f, "../proj-evil/c.txt"), HOB_EACCES);
}

static void test_exec_workspace__percent_signs_are_just_that(void **state) {
    fixture *f = *state;
    assert_int_equal(opens(f, "%2e%2e/secret"), HOB_ENOENT);
}

static void test_exec_workspace__the_given_name_of_a_root_works_as_the_real_one(void **state) {
    fixture *f = *state;
    hob_str root = hob_str_z(hob_test_path(&f->base, "alias/"));
    hob_workspace *w;
    hob_error err;
    int fd;
    assert_ok(hob_workspace_open(&root, 1, &w, &err), err);
    assert_str(hob_workspace_root(w, 0), hob_test_path(&f->base, "proj"));
    assert_ok(
        hob_workspace_open_file(w, hob_str_z(hob_test_path(&f->base, "alias/a.txt")), &fd, &err),
        err);
    close(fd);
    assert_ok(
        hob_workspace_open_file(w, hob_str_z(hob_test_path(&f->base, "proj/a.txt")), &fd, &err),
        err);
    close(fd);
    hob_workspace_close(w);
}

static void test_exec_workspace__refuses_impossible_paths(void **state) {
    fixture *f = *state;
    hob_error err = {0};
    char *big = hob_alloc(5000);
    memset(big, 'x', 5000);
    assert_int_equal(first_byte(f, HOB_STR(""), &err), HOB_EINVAL);
    assert_int_equal(first_byte(f, HOB_STR("a.txt\0.png"), &err), HOB_EINVAL);
    assert_int_equal(first_byte(f, hob_str_n(big, 4095), &err), HOB_EINVAL);
    assert_int_equal(first_byte(f, hob_str_n(big, 4096), &err), HOB_EINVAL);
    assert_int_equal(first_byte(f, hob_str_n(big, 5000), &err), HOB_EINVAL);
    for (int i = 0; i < 2500; i++) memcpy(big + 2 * i, "./", 2);
    assert_int_equal(first_byte(f, hob_str_n(big, 5000), &err), HOB_EINVAL);
    hob_free(big);
}

static void test_exec_workspace__opens_regular_files_only(void **state) {
    fixture *f = *state;
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int s = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    snprintf(address.sun_path, sizeof(address.sun_path), "%s",
             hob_test_path(&f->base, "proj/socket"));
    assert_int_equal(bind(s, (struct sockaddr *)&address, sizeof(address)), 0);
    assert_int_equal(mkfifo(hob_test_path(&f->base, "proj/fifo"), 0600), 0);
    assert_int_equal(opens(f, "fifo"), HOB_EACCES); /* and does not hang */
    assert_int_equal(opens(f, "sub"), HOB_EACCES);
    assert_int_equal(opens(f, "."), HOB_EACCES);
    assert_true(opens(f, "socket") < 0);
    close(s);
}

static void test_exec_workspace__a_workspace_of_everything_hides_devices_and_proc(void **state) {
    (void)state;
    hob_str root = HOB_STR("/");
    fixture f = {.w = NULL};
    assert_int_equal(hob_workspace_open(&root, 1, &f.w, NULL), 0);
    assert_int_equal(opens(&f, "/dev/zero"), HOB_EACCES);
    assert_int_equal(opens(&f, "/dev/null"), HOB_EACCES);
    assert_int_equal(opens(&f, "/proc/self/environ"), HOB_EACCES);
    assert_int_equal(opens(&f, "/proc/1/cmdline"), HOB_EACCES);
    assert_int_equal(opens(&f, "proc/self/mem"), HOB_EACCES);
    assert_true(opens(&f, "/etc/passwd") > 0);
    hob_workspace_close(f.w);
}

static void test_exec_workspace__tells_missing_from_forbidden(void **state) {
    fixture *f = *state;
    hob_error err = {0};
    assert_int_equal(first_byte(f, HOB_STR("no.txt"), &err), HOB_ENOENT);
    assert_string_equal(err.message, "no such file: no.txt");
    assert_int_equal(first_byte(f, HOB_STR("a.txt/x"), &err), HOB_ENOENT);
}

static int folder(fixture *f, const char *path, hob_buf *out) {
    hob_buf_reset(out);
    return hob_workspace_folder(f->w, hob_str_z(path), out, NULL);
}

static void test_exec_workspace__tells_the_real_path_of_a_folder(void **state) {
    fixture *f = *state;
    hob_buf out;
    hob_buf_init(&out, 4096);
    assert_int_equal(folder(f, "", &out), 0);
    assert_str(hob_buf_str(&out), hob_test_path(&f->base, "proj"));
    assert_int_equal(folder(f, "./sub/", &out), 0);
    assert_str(hob_buf_str(&out), hob_test_path(&f->base, "proj/sub"));
    assert_int_equal(folder(f, hob_test_path(&f->base, "second"), &out), 0);
    assert_str(hob_buf_str(&out), hob_test_path(&f->base, "second"));
    assert_int_equal(folder(f, "up", &out), HOB_EACCES);
    assert_int_equal(folder(f, "..", &out), HOB_EACCES);
    assert_int_equal(folder(f, "/tmp", &out), HOB_EACCES);
    assert_int_equal(folder(f, "a.txt", &out), HOB_EACCES);
    assert_int_equal(folder(f, "none", &out), HOB_ENOENT);
    hob_buf_finish(&out);
}

static void assert_follows(fixture *f, const char *path, const char *real) {
    hob_buf out;
    hob_buf_init(&out, 4096);
    assert_int_equal(hob_workspace_follow(f->w, hob_str_z(path), &out, NULL), *real ? 1 : 0);
    assert_string_equal(hob_buf_z(&out), real);
    hob_buf_finish(&out);
}

static void test_exec_workspace__tells_where_a_link_leads(void **state) {
    fixture *f = *state;
    char known[128];
    hob_test_link(&f->base, "sub", "proj/sublink");
    hob_test_link(&f->base, ".", "proj/here");
    hob_test_link(&f->base, "d.txt", "second/link");
    assert_follows(f, "a.txt", "");
    assert_follows(f, "sub/b.txt", "");
    assert_follows(f, "none/x", "");
    assert_follows(f, "inner", "sub/b.txt");
    assert_follows(f, "sublink/b.txt", "sub/b.txt");
    assert_follows(f, "sublink//new/deep", "sub/new/deep");
    assert_follows(f, hob_test_path(&f->base, "proj/inner"), "sub/b.txt");
    assert_follows(f, "here", ".");
    assert_follows(f, "here/new", "new");
    assert_follows(f, "here/sublink/../sublink/b.txt", "sub/b.txt");
    snprintf(known, sizeof known, "%s", hob_test_path(&f->base, "second/d.txt"));
    assert_follows(f, hob_test_path(&f->base, "second/link"), known);
    hob_buf out;
    hob_buf_init(&out, 4096);
    assert_int_equal(hob_workspace_follow(f->w, HOB_STR("out"), &out, NULL), HOB_EACCES);
    assert_int_equal(hob_workspace_follow(f->w, HOB_STR("up/secret"), &out, NULL), HOB_EACCES);
    hob_buf_finish(&out);
}

static void test_exec_workspace__further_folders_are_for_reading_only(void **state) {
    fixture *f = *state;
    char path[2][320];
    hob_error err = {0};
    hob_buf out;
    hob_str roots[] = {hob_str_z(hob_test_path(&f->base, "proj"))};
    snprintf(path[0], sizeof path[0], "%s/second", f->base.path);
    snprintf(path[1], sizeof path[1], "%s/proj/sub", f->base.path);
    hob_str readable[] = {hob_str_z(path[0]), hob_str_z(path[1]), HOB_STR("/no/such/folder")};
    hob_workspace_close(f->w);
    assert_ok(hob_workspace_open_with(roots, 1, readable, 3, &f->w, &err), err);
    assert_int_equal(opens(f, hob_test_path(&f->base, "second/d.txt")), 'd');
    assert_int_equal(opens(f, hob_test_path(&f->base, "second/../secret")), HOB_EACCES);
    assert_int_equal(hob_workspace_write(f->w, hob_str_z(hob_test_path(&f->base, "second/d.txt")),
                                         HOB_STR("x"), &err),
                     HOB_EACCES);
    assert_non_null(strstr(err.message, "for reading only"));
    hob_buf_init(&out, 4096);
    assert_int_equal(hob_workspace_folder(f->w, hob_str_z(path[0]), &out, &err), HOB_EACCES);
    hob_buf_finish(&out);
    assert_int_equal(hob_workspace_roots(f->w), 1);
    /* what lies in the workspace stays what it was */
    assert_ok(hob_workspace_write(f->w, HOB_STR("sub/b.txt"), HOB_STR("x"), &err), err);
    assert_ok(hob_workspace_write(f->w, hob_str_z(hob_test_path(&f->base, "proj/sub/b.txt")),
                                  HOB_STR("y"), &err),
              err);
}

static void test_exec_workspace__needs_a_real_folder_as_root(void **state) {
    fixture *f = *state;
    hob_workspace *w = NULL;
    hob_str bad[] = {HOB_STR("relative"), HOB_STR(""), HOB_STR("/no/such"),
                     hob_str_z(hob_test_path(&f->base, "secret"))};
    int codes[] = {HOB_EINVAL, HOB_EINVAL, HOB_ENOENT, HOB_ENOENT};
    for (size_t i = 0; i < HOB_ARRAY_LEN(bad); i++) {
        hob_error err = {0};
        assert_int_equal(hob_workspace_open(&bad[i], 1, &w, &err), codes[i]);
        assert_int_equal(err.code, codes[i]);
    }
    assert_int_equal(hob_workspace_open(bad, 0, &w, NULL), HOB_EINVAL);
    assert_null(w);
}

/* ---- without openat2 ----------------------------------------------------------------------- */

static void test_exec_workspace__the_walk_opens_what_is_beneath(void **state) {
    fixture *f = *state;
    assert_int_equal(opens(f, "a.txt"), 'a');
    assert_int_equal(opens(f, "./sub//b.txt"), 'b');
    assert_int_equal(opens(f, hob_test_path(&f->base, "second/d.txt")), 'd');
}

static void test_exec_workspace__the_walk_follows_no_link_and_no_dots(void **state) {
    fixture *f = *state;
    assert_true(opens(f, "inner") < 0);
    assert_true(opens(f, "out") < 0);
    assert_true(opens(f, "absolute") < 0);
    assert_true(opens(f, "up/secret") < 0);
    assert_true(opens(f, "../secret") < 0);
    assert_true(opens(f, "sub/../a.txt") < 0);
    assert_true(opens(f, "sub/") < 0);
}

/* ---- a race for the link -------------------------------------------------------------------- */

typedef struct race {
    fixture *f;
    _Atomic bool stop;
} race;

/* `door` is now a folder of the workspace, now a link to the outside. */
static void *swap_door(void *arg) {
    race *r = arg;
    char a[512], b[512];
    snprintf(a, sizeof(a), "%s", hob_test_path(&r->f->base, "proj/door"));
    snprintf(b, sizeof(b), "%s", hob_test_path(&r->f->base, "proj/trap"));
    while (!r->stop) syscall(SYS_renameat2, AT_FDCWD, a, AT_FDCWD, b, 2 /* RENAME_EXCHANGE */);
    return NULL;
}

static void race_for_the_door(fixture *f, int rounds) {
    race r = {.f = f};
    pthread_t thread;
    hob_test_mkdir(&f->base, "proj/door");
    hob_test_mkdir(&f->base, "outside");
    hob_test_file(&f->base, "proj/door/x", HOB_STR("inside"));
    hob_test_file(&f->base, "outside/x", HOB_STR("outside"));
    hob_test_link(&f->base, "../outside", "proj/trap");
    pthread_create(&thread, NULL, swap_door, &r);
    int inside = 0;
    for (int i = 0; i < rounds; i++) {
        int c = opens(f, "door/x");
        if (c == 'o') fail_msg("got out after %d rounds", i);
        inside += c == 'i';
        if (i % 100 == 0) hob_workspace_write(f->w, HOB_STR("door/y"), HOB_STR("z"), NULL);
    }
    r.stop = true;
    pthread_join(thread, NULL);
    assert_true(inside > 0);
    assert_int_equal(hob_test_entries(&f->base, "outside"), 1);
    assert_str(hob_test_content(&f->base, "outside/x"), "outside");
}

static void test_exec_workspace__a_link_swapped_meanwhile_never_leads_out(void **state) {
    race_for_the_door(*state, 20000);
}

static void test_exec_workspace__a_link_swapped_during_a_walk_never_leads_out(void **state) {
    race_for_the_door(*state, 20000);
}

#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
#define TW(name) cmocka_unit_test_setup_teardown(name, setup_walk, teardown)

/* ---- names --------------------------------------------------------------------------------- */

static void expect_name(fixture *f, const char *path, hob_workspace_use use, const char *expected) {
    hob_buf name;
    hob_buf_init(&name, 4096);
    int code = hob_workspace_name(f->w, hob_str_z(path), use, &name, NULL);
    if (expected)
        assert_string_equal(hob_buf_z(&name), hob_test_path(&f->base, expected));
    else
        assert_int_equal(code, HOB_EACCES);
    hob_buf_finish(&name);
}

static void test_exec_workspace__names_are_absolute_and_without_dots(void **state) {
    fixture *f = *state;
    expect_name(f, "a.txt", HOB_WORKSPACE_READ, "proj/a.txt");
    expect_name(f, "./sub//x/../b.txt", HOB_WORKSPACE_WRITE, "proj/sub/b.txt");
    expect_name(f, hob_test_path(&f->base, "second/d.txt"), HOB_WORKSPACE_READ, "second/d.txt");
    expect_name(f, ".", HOB_WORKSPACE_READ, "proj");
}

static void test_exec_workspace__names_outside_are_refused(void **state) {
    fixture *f = *state;
    expect_name(f, "../secret", HOB_WORKSPACE_READ, NULL);
    expect_name(f, "sub/../../secret", HOB_WORKSPACE_WRITE, NULL);
    expect_name(f, hob_test_path(&f->base, "secret"), HOB_WORKSPACE_READ, NULL);
    expect_name(f, hob_test_path(&f->base, "second/../secret"), HOB_WORKSPACE_READ, NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        T(test_exec_workspace__names_are_absolute_and_without_dots),
        T(test_exec_workspace__names_outside_are_refused),
        T(test_exec_workspace__opens_what_is_beneath),
        T(test_exec_workspace__follows_links_and_dots_that_stay_beneath),
        T(test_exec_workspace__refuses_what_is_outside),
        T(test_exec_workspace__a_sibling_with_the_same_prefix_is_outside),
        T(test_exec_workspace__percent_signs_are_just_that),
        T(test_exec_workspace__the_given_name_of_a_root_works_as_the_real_one),
        T(test_exec_workspace__refuses_impossible_paths),
        T(test_exec_workspace__opens_regular_files_only),
        T(test_exec_workspace__a_workspace_of_everything_hides_devices_and_proc),
        T(test_exec_workspace__tells_missing_from_forbidden),
        T(test_exec_workspace__tells_the_real_path_of_a_folder),
        T(test_exec_workspace__tells_where_a_link_leads),
        T(test_exec_workspace__further_folders_are_for_reading_only),
        T(test_exec_workspace__needs_a_real_folder_as_root),
        TW(test_exec_workspace__the_walk_opens_what_is_beneath),
        TW(test_exec_workspace__the_walk_follows_no_link_and_no_dots),
        T(test_exec_workspace__a_link_swapped_meanwhile_never_leads_out),
        TW(test_exec_workspace__a_link_swapped_during_a_walk_never_leads_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
