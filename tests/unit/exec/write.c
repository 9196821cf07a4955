#include "exec/workspace.h"
#include "support/check.h"
#include "support/folder.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct fixture {
    hob_test_folder base; /* base/proj is the workspace */
    hob_workspace *w;
} fixture;

static int setup(void **state) {
    fixture *f = HOB_NEW(fixture);
    hob_test_folder_make(&f->base);
    hob_test_mkdir(&f->base, "proj");
    hob_test_mkdir(&f->base, "outside");
    hob_str root = hob_str_z(hob_test_path(&f->base, "proj"));
    *state = f;
    return hob_workspace_open(&root, 1, &f->w, NULL);
}

static int teardown(void **state) {
    fixture *f = *state;
    hob_workspace_close(f->w);
    hob_test_folder_remove(&f->base);
    hob_free(f);
    return 0;
}

static int put(fixture *f, const char *path, const char *content) {
    return hob_workspace_write(f->w, hob_str_z(path), hob_str_z(content), NULL);
}

static struct stat stat_of(fixture *f, const char *name) {
    struct stat st;
    assert_int_equal(lstat(hob_test_path(&f->base, name), &st), 0);
    return st;
}

static void test_exec_write__creates_and_replaces(void **state) {
    fixture *f = *state;
    assert_int_equal(put(f, "a.txt", "one"), HOB_WRITE_CREATED);
    assert_str(hob_test_content(&f->base, "proj/a.txt"), "one");
    assert_int_equal(put(f, "a.txt", "the second"), HOB_WRITE_REPLACED);
    assert_str(hob_test_content(&f->base, "proj/a.txt"), "the second");
    assert_int_equal(put(f, "a.txt", ""), HOB_WRITE_REPLACED);
    assert_int_equal(stat_of(f, "proj/a.txt").st_size, 0);
    assert_int_equal(hob_test_entries(&f->base, "proj"), 1);
}

static void test_exec_write__makes_missing_folders(void **state) {
    fixture *f = *state;
    assert_int_equal(put(f, "x/y//z/a.txt", "deep"), HOB_WRITE_CREATED);
    assert_str(hob_test_content(&f->base, "proj/x/y/z/a.txt"), "deep");
    assert_int_equal(put(f, hob_test_path(&f->base, "proj/x/q/../b.txt"), "b"), HOB_WRITE_CREATED);
    assert_str(hob_test_content(&f->base, "proj/x/b.txt"), "b");
}

static void test_exec_write__makes_missing_folders_without_openat2(void **state) {
    fixture *f = *state;
    hob_workspace_without_openat2(f->w);
    assert_int_equal(put(f, "x/y//z/a.txt", "deep"), HOB_WRITE_CREATED);
    assert_str(hob_test_content(&f->base, "proj/x/y/z/a.txt"), "deep");
    assert_true(put(f, "../outside/a.txt", "x") < 0);
}

static void test_exec_write__keeps_the_mode(void **state) {
    fixture *f = *state;
    mode_t mask = umask(027);
    assert_int_equal(put(f, "run.sh", "new"), HOB_WRITE_CREATED);
    umask(mask);
    assert_int_equal(stat_of(f, "proj/run.sh").st_mode & 07777, 0640);
    chmod(hob_test_path(&f->base, "proj/run.sh"), 04755);
    assert_int_equal(put(f, "run.sh", "newer"), HOB_WRITE_REPLACED);
    assert_int_equal(stat_of(f, "proj/run.sh").st_mode & 07777, 0755);
}

static void test_exec_write__keeps_the_owner(void **state) {
    fixture *f = *state;
    if (geteuid() != 0) skip(); /* files of others are root's business */
    assert_int_equal(put(f, "a.txt", "x"), HOB_WRITE_CREATED);
    assert_int_equal(chown(hob_test_path(&f->base, "proj/a.txt"), 1234, 2345), 0);
    assert_int_equal(put(f, "a.txt", "y"), HOB_WRITE_REPLACED);
    assert_int_equal(stat_of(f, "proj/a.txt").st_uid, 1234);
    assert_int_equal(stat_of(f, "proj/a.txt").st_gid, 2345);
}

static void test_exec_write__refuses_what_is_outside(void **state) {
    fixture *f = *state;
    hob_test_link(&f->base, "../outside", "proj/door");
    hob_test_link(&f->base, "../outside/new", "proj/leaf");
    assert_int_equal(put(f, "../outside/a", "x"), HOB_EACCES);
    assert_int_equal(put(f, "door/a", "x"), HOB_EACCES);
    assert_int_equal(put(f, "door/sub/a", "x"), HOB_EACCES);
    assert_int_equal(put(f, "leaf", "x"), HOB_EACCES);
    assert_int_equal(put(f, hob_test_path(&f->base, "outside/a"), "x"), HOB_EACCES);
    assert_int_equal(put(f, hob_test_path(&f->base, "proj-evil/a"), "x"), HOB_EACCES);
    assert_int_equal(hob_test_entries(&f->base, "outside"), 0);
}

static void test_exec_write__writes_through_a_link_that_stays_beneath(void **state) {
    fixture *f = *state;
    put(f, "sub/AGENTS.md", "old");
    hob_test_link(&f->base, "sub/AGENTS.md", "proj/CLAUDE.md");
    assert_int_equal(put(f, "CLAUDE.md", "new"), HOB_WRITE_REPLACED);
    assert_true(S_ISLNK(stat_of(f, "proj/CLAUDE.md").st_mode));
    assert_str(hob_test_content(&f->base, "proj/sub/AGENTS.md"), "new");
}

static void test_exec_write__refuses_a_link_to_nowhere(void **state) {
    fixture *f = *state;
    hob_test_link(&f->base, "missing", "proj/link");
    assert_int_equal(put(f, "link", "x"), HOB_ENOENT);
    assert_true(S_ISLNK(stat_of(f, "proj/link").st_mode));
}

static void test_exec_write__leaves_other_names_of_the_file_alone(void **state) {
    fixture *f = *state;
    hob_test_file(&f->base, "outside/secret", HOB_STR("secret"));
    assert_int_equal(
        link(hob_test_path(&f->base, "outside/secret"), hob_test_path(&f->base, "proj/innocent")),
        0);
    assert_int_equal(put(f, "innocent", "x"), HOB_WRITE_SPLIT);
    assert_str(hob_test_content(&f->base, "outside/secret"), "secret");
    assert_str(hob_test_content(&f->base, "proj/innocent"), "x");
}

static void test_exec_write__refuses_what_is_no_file(void **state) {
    fixture *f = *state;
    hob_test_mkdir(&f->base, "proj/sub");
    assert_int_equal(mkfifo(hob_test_path(&f->base, "proj/fifo"), 0600), 0);
    assert_int_equal(put(f, "sub", "x"), HOB_EACCES);
    assert_int_equal(put(f, "fifo", "x"), HOB_EACCES);
    assert_int_equal(put(f, ".", "x"), HOB_EACCES);
    assert_int_equal(put(f, "sub/..", "x"), HOB_EACCES);
    assert_int_equal(put(f, "sub/", "x"), HOB_EINVAL);
    assert_int_equal(put(f, "", "x"), HOB_EINVAL);
    assert_true(S_ISFIFO(stat_of(f, "proj/fifo").st_mode));
}

static void test_exec_write__a_file_in_the_place_of_a_folder_is_an_error(void **state) {
    fixture *f = *state;
    put(f, "a", "file");
    assert_true(put(f, "a/b", "x") < 0);
    assert_true(put(f, "a/b/c", "x") < 0);
    assert_str(hob_test_content(&f->base, "proj/a"), "file");
}

static void assert_failed_write_leaves_old(fixture *f, int expected) {
    hob_error err = {0};
    char *big = hob_alloc(1 << 20);
    int r = hob_workspace_write(f->w, HOB_STR("a.txt"), hob_str_n(big, 1 << 20), &err);
    hob_free(big);
    assert_int_equal(r, expected);
    assert_str(hob_test_content(&f->base, "proj/a.txt"), "old");
    assert_int_equal(hob_test_entries(&f->base, "proj"), 1);
}

/* A limit on the size of files behaves as a full disk does. */
static void test_exec_write__a_write_that_fails_changes_nothing(void **state) {
    fixture *f = *state;
    struct rlimit limit, before;
    put(f, "a.txt", "old");
    signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &before);
    limit = before;
    limit.rlim_cur = 1000;
    setrlimit(RLIMIT_FSIZE, &limit);
    assert_failed_write_leaves_old(f, HOB_EIO);
    setrlimit(RLIMIT_FSIZE, &before);
}

static void test_exec_write__has_a_ceiling(void **state) {
    fixture *f = *state;
    hob_str content = hob_str_n("", ((size_t)64 << 20) + 1);
    assert_int_equal(hob_workspace_write(f->w, HOB_STR("a"), content, NULL), HOB_ETOOBIG);
    assert_int_equal(hob_test_entries(&f->base, "proj"), 0);
}

#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        T(test_exec_write__creates_and_replaces),
        T(test_exec_write__makes_missing_folders),
        T(test_exec_write__makes_missing_folders_without_openat2),
        T(test_exec_write__keeps_the_mode),
        T(test_exec_write__keeps_the_owner),
        T(test_exec_write__refuses_what_is_outside),
        T(test_exec_write__writes_through_a_link_that_stays_beneath),
        T(test_exec_write__refuses_a_link_to_nowhere),
        T(test_exec_write__leaves_other_names_of_the_file_alone),
        T(test_exec_write__refuses_what_is_no_file),
        T(test_exec_write__a_file_in_the_place_of_a_folder_is_an_error),
        T(test_exec_write__a_write_that_fails_changes_nothing),
        T(test_exec_write__has_a_ceiling),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
