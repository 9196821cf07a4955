/* Where hob-exec comes from. */
#include "exec/exec.h"
#include "support/check.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct fixture {
    hob_loop *loop;
    char folder[64]; /* holds a `hob-exec` that only says which one it is */
    hob_buf output;
    bool ended;
} fixture;

static int setup(void **state) {
    fixture *f = HOB_NEW(fixture);
    char path[100];
    hob_buf_init(&f->output, 1000);
    snprintf(f->folder, sizeof(f->folder), "/tmp/hob-find-XXXXXX");
    if (!mkdtemp(f->folder)) return -1;
    snprintf(path, sizeof(path), "%s/hob-exec", f->folder);
    FILE *script = fopen(path, "w");
    fputs("#!/bin/sh\necho the one in the folder\necho exit 0 >&3\n", script);
    fclose(script);
    chmod(path, 0755);
    *state = f;
    return hob_loop_create(NULL, &f->loop, NULL);
}

static int teardown(void **state) {
    fixture *f = *state;
    char path[100];
    snprintf(path, sizeof(path), "%s/hob-exec", f->folder);
    unlink(path);
    rmdir(f->folder);
    hob_loop_destroy(f->loop);
    hob_buf_finish(&f->output);
    hob_free(f);
    return 0;
}

static void on_output(void *user, hob_str chunk) {
    fixture *f = user;
    hob_buf_add(&f->output, chunk);
}

static void on_ended(void *user, const hob_job_result *r) {
    fixture *f = user;
    (void)r;
    f->ended = true;
}

static void assert_runs(fixture *f, const hob_exec_opts *o, const char *output) {
    static const hob_job_handler handler = {on_output, on_ended};
    const char *argv[] = {"/bin/echo", "the real one", NULL}, *envp[] = {"PATH=/bin", NULL};
    hob_job_opts job = {.argv = argv, .envp = envp, .cwd = "/", .timeout_ms = 60000};
    hob_exec *x;
    hob_job *j;
    hob_error err;
    assert_ok(hob_exec_create(f->loop, o, &x, &err), err);
    assert_ok(hob_job_start(x, &job, &handler, f, &j, &err), err);
    while (!f->ended) hob_loop_run_once(f->loop, -1);
    assert_str(hob_buf_str(&f->output), output);
    hob_job_destroy(j);
    hob_exec_destroy(x);
}

static void test_exec_find__the_option_comes_first(void **state) {
    fixture *f = *state;
    char helper[100];
    snprintf(helper, sizeof(helper), "%s/hob-exec", f->folder);
    hob_exec_opts o = {.helper = helper, .libexec_dir = HOB_BINARY_DIR};
    assert_runs(f, &o, "the one in the folder\n");
}

static void test_exec_find__then_the_libexec_folder(void **state) {
    fixture *f = *state;
    hob_exec_opts o = {.libexec_dir = f->folder};
    assert_runs(f, &o, "the one in the folder\n");
}

static void test_exec_find__then_the_copy_in_the_library(void **state) {
    fixture *f = *state;
    hob_exec_opts o = {.libexec_dir = "/no/such/folder"};
    assert_runs(f, &o, "the real one\n");
}

static void test_exec_find__without_options_it_is_the_copy(void **state) {
    assert_runs(*state, NULL, "the real one\n");
}

static void test_exec_find__never_the_current_folder_or_path(void **state) {
    fixture *f = *state;
    char *before = getcwd(NULL, 0);
    hob_exec_opts o = {.libexec_dir = "."};
    assert_int_equal(chdir(f->folder), 0);
    setenv("PATH", f->folder, 1);
    assert_runs(f, &o, "the real one\n");
    assert_int_equal(chdir(before), 0);
    free(before);
}

static void refused(fixture *f, const char *helper, int code) {
    hob_exec_opts o = {.helper = helper};
    hob_exec *x = NULL;
    hob_error err = {0};
    assert_int_equal(hob_exec_create(f->loop, &o, &x, &err), code);
    assert_null(x);
    assert_true(strlen(err.message) > 0);
}

static void test_exec_find__an_option_that_does_not_work_is_an_error(void **state) {
    refused(*state, "/no/such/hob-exec", HOB_ENOENT);
    refused(*state, "/etc/passwd", HOB_ENOENT);
    refused(*state, "hob-exec", HOB_EINVAL);
}

#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        T(test_exec_find__the_option_comes_first),
        T(test_exec_find__then_the_libexec_folder),
        T(test_exec_find__then_the_copy_in_the_library),
        T(test_exec_find__without_options_it_is_the_copy),
        T(test_exec_find__never_the_current_folder_or_path),
        T(test_exec_find__an_option_that_does_not_work_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
