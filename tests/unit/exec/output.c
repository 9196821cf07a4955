/* Output without end: memory stays, nobody hangs. */
/* ctest: timeout=300 */
#include "exec/exec.h"
#include "support/check.h"
#include "support/job.h"
#include "support/process.h"

#include <stdio.h>
#include <sys/resource.h>

#define MAX_GROWTH (16 * 1024) /* KiB */

static long peak_kib(void) {
    struct rusage r;
    getrusage(RUSAGE_SELF, &r);
    return r.ru_maxrss;
}

static void test_exec_output__memory_does_not_grow_with_the_output(void **state) {
    hob_test_job *t = *state;
    hob_test_job_start(t, "true");
    hob_test_job_wait(t);
    long before = peak_kib();
    hob_test_job_start(t, "head -c 128M /dev/zero | tr '\\0' a");
    hob_test_job_wait(t);
    assert_int_equal(t->bytes, 128 << 20);
    assert_int_equal(t->result.status, 0);
    assert_true(peak_kib() - before <= MAX_GROWTH);
}

static void test_exec_output__a_command_that_talks_for_ever_can_be_cancelled(void **state) {
    hob_test_job *t = *state;
    hob_test_job_start(t, "trap '' TERM; yes");
    hob_test_job_until(t, "y\ny\n");
    hob_job_cancel(t->job, true);
    hob_test_job_wait(t);
    assert_int_equal(t->result.end, HOB_JOB_CANCELLED);
}

static void test_exec_output__a_command_that_talks_for_ever_times_out(void **state) {
    hob_test_job *t = *state;
    const char *argv[] = {"/usr/bin/yes", NULL}, *envp[3];
    hob_job_opts o = hob_test_job_opts(t, argv, envp);
    o.timeout_ms = 50;
    hob_test_job_start_opts(t, &o);
    hob_test_job_wait(t);
    assert_int_equal(t->result.end, HOB_JOB_TIMED_OUT);
}

static void test_exec_output__all_of_it_comes_before_the_end(void **state) {
    hob_test_job *t = *state;
    for (int i = 0; i < 20; i++) {
        hob_test_job_start(t, "head -c 60000 /dev/zero; echo last");
        hob_test_job_wait(t);
        assert_int_equal(t->bytes, 60005);
    }
}

/* Somebody outside the tree holds the pipe open: it was handed on over a socket, say. Here this process
 * reopens it through /proc. */
static FILE *hold_output(hob_test_job *t) {
    hob_test_job_start(t, "echo /proc/$$/fd/1; echo ready; sleep 1000; :");
    hob_test_job_until(t, "ready");
    hob_str path = hob_buf_str(&t->output);
    char name[64];
    snprintf(name, sizeof(name), "%.*s", (int)hob_str_chr(path, '\n'), path.p);
    FILE *held = fopen(name, "w");
    assert_non_null(held);
    hob_job_cancel(t->job, true);
    return held;
}

static void test_exec_output__a_pipe_held_by_others_is_waited_for(void **state) {
    hob_test_job *t = *state;
    FILE *held = hold_output(t);
    while (hob_test_processes_with(t->token)) hob_loop_run_once(t->loop, 10);
    fputs("late", held);
    fclose(held);
    hob_test_job_wait(t);
    assert_true(hob_str_ends(hob_buf_str(&t->output), HOB_STR("late")));
}

static void test_exec_output__but_not_for_ever(void **state) {
    hob_test_job *t = *state;
    FILE *held = hold_output(t);
    hob_test_job_wait(t);
    assert_int_equal(t->result.end, HOB_JOB_CANCELLED);
    assert_int_equal(hob_test_processes_with(t->token), 0);
    fclose(held);
}

#define T(name) cmocka_unit_test_setup_teardown(name, hob_test_job_setup, hob_test_job_teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        T(test_exec_output__memory_does_not_grow_with_the_output),
        T(test_exec_output__a_command_that_talks_for_ever_can_be_cancelled),
        T(test_exec_output__a_command_that_talks_for_ever_times_out),
        T(test_exec_output__all_of_it_comes_before_the_end),
        T(test_exec_output__a_pipe_held_by_others_is_waited_for),
        T(test_exec_output__but_not_for_ever),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
