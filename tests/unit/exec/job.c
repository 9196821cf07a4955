#include "support/job.h"
#include "exec/exec.h"
#include "support/check.h"
#include "support/process.h"

#include <signal.h>
#include <unistd.h>

static void run(hob_test_job *t, const char *script) {
    hob_test_job_start(t, script);
    hob_test_job_wait(t);
}

static void test_exec_job__gives_output_and_exit_code(void **state) {
    hob_test_job *t = *state;
    run(t, "echo out; echo err >&2; echo out again; exit 7");
    assert_str(hob_buf_str(&t->output), "out\nerr\nout again\n");
    assert_int_equal(t->result.end, HOB_JOB_EXITED);
    assert_int_equal(t->result.status, 7);
    assert_int_equal(t->ended, 1);
}

static void test_exec_job__reports_a_signal_as_128_and_more(void **state) {
    hob_test_job *t = *state;
    run(t, "kill -SEGV $$");
    assert_int_equal(t->result.end, HOB_JOB_EXITED);
    assert_int_equal(t->result.status, 128 + 11);
}

static void test_exec_job__runs_in_the_folder_with_the_environment_given(void **state) {
    hob_test_job *t = *state;
    const char *argv[] = {"/usr/bin/env", NULL}, *envp[3];
    hob_job_opts o = hob_test_job_opts(t, argv, envp);
    envp[0] = "ONLY=this";
    envp[1] = NULL;
    hob_test_job_start_opts(t, &o);
    hob_test_job_wait(t);
    assert_str(hob_buf_str(&t->output), "ONLY=this\n");

    const char *pwd[] = {"/bin/pwd", NULL};
    o = hob_test_job_opts(t, pwd, envp);
    o.cwd = "/usr/bin";
    hob_test_job_start_opts(t, &o);
    hob_test_job_wait(t);
    assert_str(hob_buf_str(&t->output), "/usr/bin\n");
}

static void run_with_input(hob_test_job *t, const char *script, hob_str input) {
    const char *argv[] = {"/bin/sh", "-c", script, NULL}, *envp[3];
    hob_job_opts o = hob_test_job_opts(t, argv, envp);
    o.input = input;
    hob_test_job_start_opts(t, &o);
    hob_test_job_wait(t);
}

static void test_exec_job__stdin_is_the_input_or_empty(void **state) {
    hob_test_job *t = *state;
    run_with_input(t, "cat; cat /dev/stdin", HOB_STR_NULL);
    assert_str(hob_buf_str(&t->output), "");
    run_with_input(t, "cat", HOB_STR("two\nlines"));
    assert_str(hob_buf_str(&t->output), "two\nlines");
    run_with_input(t, "cat /dev/stdin", HOB_STR("by name"));
    assert_str(hob_buf_str(&t->output), "by name");
}

static void test_exec_job__input_larger_than_a_pipe_reaches_the_command(void **state) {
    hob_test_job *t = *state;
    hob_str input = {hob_alloc(4 << 20), 4 << 20};
    run_with_input(t, "wc -c", input);
    assert_str(hob_str_trim(hob_buf_str(&t->output)), "4194304");
    hob_free((char *)input.p);
}

static void test_exec_job__input_that_nobody_reads_does_no_harm(void **state) {
    hob_test_job *t = *state;
    hob_str input = {hob_alloc(1 << 20), 1 << 20};
    run_with_input(t, "echo done", input);
    assert_str(hob_buf_str(&t->output), "done\n");
    hob_free((char *)input.p);
}

static void test_exec_job__stdout_can_be_opened_by_name(void **state) {
    hob_test_job *t = *state;
    run(t, "echo a >/dev/stdout; echo b >/dev/stderr");
    assert_str(hob_buf_str(&t->output), "a\nb\n");
}

/* Three for stdio, one for the folder that ls itself reads. */
static void test_exec_job__command_inherits_no_other_descriptor(void **state) {
    hob_test_job *t = *state;
    run(t, "exec ls /proc/self/fd");
    assert_str(hob_buf_str(&t->output), "0\n1\n2\n3\n");
}

static void test_exec_job__command_starts_clean(void **state) {
    hob_test_job *t = *state;
    signal(SIGPIPE, SIG_IGN);
    run(t, "grep -E 'SigBlk|NoNewPrivs' /proc/self/status; ulimit -c; "
           "(yes; echo yes: $? >&2) | true; "
           "[ $(cut -d' ' -f6 /proc/$$/stat) = $$ ] && echo own session");
    signal(SIGPIPE, SIG_DFL);
    assert_str(hob_buf_str(&t->output), "SigBlk:\t0000000000000000\n"
                                        "NoNewPrivs:\t1\n"
                                        "0\n"
                                        "yes: 141\n"
                                        "own session\n");
}

/* What a pid namespace without its own /proc would break. */
static void test_exec_job__pids_of_the_command_are_those_in_proc(void **state) {
    hob_test_job *t = *state;
    run(t, "cat /proc/$$/comm; sleep 100 & "
           "[ $(cut -d' ' -f4 /proc/$!/stat) = $$ ] && echo child");
    assert_str(hob_buf_str(&t->output), "bash\nchild\n");
}

static void test_exec_job__helper_does_not_show_the_command_line(void **state) {
    hob_test_job *t = *state;
    run(t, "tr '\\0' ' ' </proc/$PPID/cmdline");
    assert_str(hob_str_trim(hob_buf_str(&t->output)), "hob-exec");
}

static void fails_to_start(hob_test_job *t, const char *program, const char *cwd, int code,
                           const char *message) {
    const char *argv[] = {program, NULL}, *envp[3];
    hob_job_opts o = hob_test_job_opts(t, argv, envp);
    o.cwd = cwd;
    hob_test_job_start_opts(t, &o);
    hob_test_job_wait(t);
    assert_int_equal(t->result.end, HOB_JOB_FAILED);
    assert_int_equal(t->result.error.code, code);
    assert_string_equal(t->result.error.message, message);
}

static void test_exec_job__says_why_a_command_cannot_start(void **state) {
    hob_test_job *t = *state;
    fails_to_start(t, "/no/such", "/", HOB_ENOENT,
                   "cannot run /no/such: No such file or directory");
    fails_to_start(t, "/etc/passwd", "/", HOB_EACCES, "cannot run /etc/passwd: Permission denied");
    fails_to_start(t, "/bin/true", "/no/folder", HOB_ENOENT,
                   "cannot enter the folder /no/folder: No such file or directory");
}

static void refused(hob_test_job *t, hob_job_opts o, int code) {
    static const hob_job_handler none = {NULL, NULL};
    hob_job *j = NULL;
    hob_error err = {0};
    assert_int_equal(hob_job_start(t->exec, &o, &none, NULL, &j, &err), code);
    assert_null(j);
    assert_int_equal(err.code, code);
}

static void test_exec_job__refuses_what_it_cannot_run_safely(void **state) {
    hob_test_job *t = *state;
    const char *argv[] = {"/bin/true", NULL}, *relative[] = {"true", NULL}, *envp[3];
    hob_job_opts good = hob_test_job_opts(t, argv, envp), o = good;
    o.argv = relative;
    refused(t, o, HOB_EINVAL);
    o = good;
    o.cwd = "here";
    refused(t, o, HOB_EINVAL);
    o = good;
    o.timeout_ms = 0;
    refused(t, o, HOB_EINVAL);
    o = good;
    o.input = hob_str_n("", (size_t)1 << 30);
    refused(t, o, HOB_ETOOBIG);
}

static void test_exec_job__an_argument_beyond_the_kernels_limit_is_an_error(void **state) {
    hob_test_job *t = *state;
    char *big = hob_alloc(200 * 1024);
    memset(big, 'x', 200 * 1024 - 1);
    const char *argv[] = {"/bin/true", big, NULL}, *envp[3];
    refused(t, hob_test_job_opts(t, argv, envp), HOB_ETOOBIG);
    hob_free(big);
}

static void test_exec_job__output_of_a_process_that_closed_stdout_still_ends(void **state) {
    hob_test_job *t = *state;
    run(t, "echo first; exec >&- 2>&-; exit 3");
    assert_str(hob_buf_str(&t->output), "first\n");
    assert_int_equal(t->result.status, 3);
}

static void destroy_at_first_byte(void *user, hob_str chunk) {
    hob_test_job *t = user;
    (void)chunk;
    hob_job_destroy(t->job);
    t->job = NULL;
}

static void never(void *user, const hob_job_result *r) {
    (void)user, (void)r;
    fail();
}

static void test_exec_job__can_be_destroyed_in_its_callback(void **state) {
    static const hob_job_handler handler = {destroy_at_first_byte, never};
    hob_test_job *t = *state;
    const char *argv[] = {"/bin/sh", "-c", "yes", NULL}, *envp[3];
    hob_job_opts o = hob_test_job_opts(t, argv, envp);
    hob_error err;
    assert_ok(hob_job_start(t->exec, &o, &handler, t, &t->job, &err), err);
    while (t->job) hob_loop_run_once(t->loop, -1);
    assert_true(hob_test_processes_gone(t->token));
}

static void test_exec_job__many_run_side_by_side(void **state) {
    enum { JOBS = 20 };
    hob_test_job *t = *state, many[JOBS];
    for (int i = 0; i < JOBS; i++) {
        many[i] = *t;
        many[i].job = NULL;
        hob_buf_init(&many[i].output, 1000);
        hob_test_job_start(&many[i], "read x </dev/null; echo $$");
    }
    for (int i = 0; i < JOBS; i++) {
        hob_test_job_wait(&many[i]);
        assert_int_equal(many[i].result.end, HOB_JOB_EXITED);
        assert_true(many[i].output.n > 1);
        hob_job_destroy(many[i].job);
        hob_buf_finish(&many[i].output);
    }
}

#define T(name) cmocka_unit_test_setup_teardown(name, hob_test_job_setup, hob_test_job_teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        T(test_exec_job__gives_output_and_exit_code),
        T(test_exec_job__reports_a_signal_as_128_and_more),
        T(test_exec_job__runs_in_the_folder_with_the_environment_given),
        T(test_exec_job__stdin_is_the_input_or_empty),
        T(test_exec_job__input_larger_than_a_pipe_reaches_the_command),
        T(test_exec_job__input_that_nobody_reads_does_no_harm),
        T(test_exec_job__stdout_can_be_opened_by_name),
        T(test_exec_job__command_inherits_no_other_descriptor),
        T(test_exec_job__command_starts_clean),
        T(test_exec_job__pids_of_the_command_are_those_in_proc),
        T(test_exec_job__helper_does_not_show_the_command_line),
        T(test_exec_job__says_why_a_command_cannot_start),
        T(test_exec_job__refuses_what_it_cannot_run_safely),
        T(test_exec_job__an_argument_beyond_the_kernels_limit_is_an_error),
        T(test_exec_job__output_of_a_process_that_closed_stdout_still_ends),
        T(test_exec_job__can_be_destroyed_in_its_callback),
        T(test_exec_job__many_run_side_by_side),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
