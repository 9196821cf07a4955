/* Everything a command starts dies with the call, with a cancel and with hob. */
/* ctest: timeout=180 */
#include "exec/exec.h"
#include "support/check.h"
#include "support/job.h"
#include "support/process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

/* Each leaves processes behind that a kill of the process group would miss, then prints "ready". */
static const char *const TREES[] = {
    /* a child in the background */
    "sleep 1000 & echo ready; wait",
    /* a daemon: forked twice, its own session, no stdio */
    "(setsid sh -c 'sleep 1000 </dev/null >/dev/null 2>&1 &' &) ; echo ready; sleep 1000",
    /* nobody listens to TERM, INT or HUP */
    "trap '' TERM INT HUP; sh -c 'sleep 1000 & wait' & echo ready; sleep 1000; sleep 1000",
    /* fifty processes, as deep as they are many */
    "deep() { [ $1 = 0 ] && echo ready && sleep 1000 || (deep $(($1 - 1)); :); }; deep 50",
    /* fifty side by side, every other one in its own session */
    "for i in $(seq 25); do sleep 1000 & setsid sleep 1000 & done; echo ready; wait",
    /* a process that stopped itself */
    "sh -c 'kill -STOP $$; sleep 1000' & echo ready; wait",
    /* new orphans all the time */
    "echo ready; while :; do (setsid sleep 1000 &); done",
};

#define EACH_TREE(script)                                                                          \
    for (size_t i_ = 0; i_ < HOB_ARRAY_LEN(TREES) && ((script) = TREES[i_]); i_++)

static void assert_tree_gone(hob_test_job *t) {
    int left = hob_test_processes_with(t->token);
    if (left) fail_msg("%d processes are left", left);
}

static void test_exec_tree__hard_cancel_leaves_nothing(void **state) {
    hob_test_job *t = *state;
    const char *script;
    EACH_TREE(script) {
        hob_test_job_start(t, script);
        hob_test_job_until(t, "ready");
        assert_true(hob_test_processes_with(t->token) > 0);
        hob_job_cancel(t->job, true);
        hob_test_job_wait(t);
        assert_int_equal(t->result.end, HOB_JOB_CANCELLED);
        assert_int_equal(t->result.error.code, 0);
        assert_tree_gone(t);
    }
}

static void test_exec_tree__soft_cancel_leaves_nothing(void **state) {
    hob_test_job *t = *state;
    const char *script;
    EACH_TREE(script) {
        hob_test_job_start(t, script);
        hob_test_job_until(t, "ready");
        hob_job_cancel(t->job, false);
        hob_test_job_wait(t);
        assert_int_equal(t->result.end, HOB_JOB_CANCELLED);
        assert_tree_gone(t);
    }
}

static void test_exec_tree__destroying_a_job_leaves_nothing(void **state) {
    hob_test_job *t = *state;
    const char *script;
    EACH_TREE(script) {
        hob_test_job_start(t, script);
        hob_test_job_until(t, "ready");
        hob_job_destroy(t->job);
        t->job = NULL;
        assert_true(hob_test_processes_gone(t->token));
    }
}

static void test_exec_tree__destroying_the_runtime_leaves_nothing(void **state) {
    hob_test_job *t = *state;
    hob_test_job_start(t, TREES[4]);
    hob_test_job_until(t, "ready");
    hob_job_destroy(t->job);
    hob_exec_destroy(t->exec);
    assert_tree_gone(t);
    t->job = NULL;
    t->exec = hob_test_exec(t->loop);
}

static void test_exec_tree__time_out_leaves_nothing(void **state) {
    hob_test_job *t = *state;
    const char *argv[] = {"/bin/bash", "-c", TREES[1], NULL}, *envp[3];
    hob_job_opts o = hob_test_job_opts(t, argv, envp);
    o.timeout_ms = 100;
    hob_test_job_start_opts(t, &o);
    hob_test_job_wait(t);
    assert_int_equal(t->result.end, HOB_JOB_TIMED_OUT);
    assert_tree_gone(t);
}

/* `server &` does not hold up the call, and does not outlive it. */
static void test_exec_tree__what_is_left_behind_dies_with_the_call(void **state) {
    hob_test_job *t = *state;
    hob_test_job_start(t, "sleep 1000 & (setsid sh -c 'trap \"\" TERM; sleep 1000' &) ; echo done");
    hob_test_job_wait(t);
    assert_str(hob_buf_str(&t->output), "done\n");
    assert_int_equal(t->result.end, HOB_JOB_EXITED);
    assert_int_equal(t->result.status, 0);
    assert_tree_gone(t);
}

static void test_exec_tree__soft_cancel_lets_the_command_clean_up(void **state) {
    hob_test_job *t = *state;
    hob_test_job_start(
        t, "trap 'echo cleaned; exit 5' TERM; echo ready; while :; do sleep 0.01; done");
    hob_test_job_until(t, "ready");
    hob_job_cancel(t->job, false);
    hob_test_job_wait(t);
    assert_true(hob_str_find(hob_buf_str(&t->output), HOB_STR("cleaned")) >= 0);
    assert_int_equal(t->result.status, 5);
}

/* The shell dies of TERM at once; its child still gets its time. */
static void test_exec_tree__soft_cancel_lets_children_clean_up(void **state) {
    hob_test_job *t = *state;
    hob_test_job_start(t, "bash -c 'trap \"sleep 0.2; echo cleaned; exit\" TERM; echo ready; "
                          "while :; do sleep 0.01; done'; echo not reached");
    hob_test_job_until(t, "ready");
    hob_job_cancel(t->job, false);
    hob_test_job_wait(t);
    assert_true(hob_str_find(hob_buf_str(&t->output), HOB_STR("cleaned")) >= 0);
    assert_int_equal(t->result.status, 128 + SIGTERM);
    assert_tree_gone(t);
}

static void test_exec_tree__soft_cancel_wakes_what_is_stopped(void **state) {
    hob_test_job *t = *state;
    hob_test_job_start(t, "trap 'echo cleaned; exit 5' TERM; echo ready; kill -STOP $$");
    hob_test_job_until(t, "ready");
    hob_job_cancel(t->job, false);
    hob_test_job_wait(t);
    assert_str(hob_buf_str(&t->output), "ready\ncleaned\n");
}

static void test_exec_tree__cancel_hurts_nobody_else(void **state) {
    hob_test_job *t = *state, other = *t;
    hob_buf_init(&other.output, 100);
    hob_test_job_start(t, TREES[4]);
    hob_test_job_start(&other, "echo ready; sleep 1000; :");
    hob_test_job_until(t, "ready");
    hob_test_job_until(&other, "ready");
    hob_job_cancel(t->job, true);
    hob_test_job_wait(t);
    while (hob_loop_run_once(t->loop, 0) > 0) {
    }
    assert_true(hob_test_processes_with(t->token) > 0);
    assert_false(other.ended);
    hob_job_destroy(other.job);
    hob_buf_finish(&other.output);
}

static void test_exec_tree__cancel_twice_and_after_the_end_is_harmless(void **state) {
    hob_test_job *t = *state;
    hob_test_job_start(t, "echo ready; sleep 1000");
    hob_test_job_until(t, "ready");
    hob_job_cancel(t->job, false);
    hob_job_cancel(t->job, false);
    hob_job_cancel(t->job, true);
    hob_job_cancel(t->job, true);
    hob_test_job_wait(t);
    hob_job_cancel(t->job, true);
    while (hob_loop_run_once(t->loop, 0) > 0) {
    }
    assert_int_equal(t->ended, 1);
}

static void test_exec_tree__a_killed_helper_is_an_error_not_a_success(void **state) {
    hob_test_job *t = *state;
    hob_test_job_start(t, "kill -9 $PPID; sleep 1000");
    hob_test_job_wait(t);
    assert_int_equal(t->result.end, HOB_JOB_FAILED);
    assert_int_equal(t->result.error.code, HOB_EIO);
    assert_true(hob_test_processes_gone(t->token));
}

/* ---- kill -9 of the process that runs hob ---------------------------------------------------- */

/* Starts the job, says so over the pipe, waits to be killed. */
static void live_until_killed(hob_test_job *parent, const char *script, int ready) {
    hob_test_job t = {.loop = NULL};
    prctl(PR_SET_PDEATHSIG, SIGKILL); /* a test that fails does not leave it behind */
    memcpy(t.token, parent->token, sizeof(t.token));
    if (hob_loop_create(NULL, &t.loop, NULL) < 0) _exit(1);
    t.exec = hob_test_exec(t.loop);
    hob_buf_init(&t.output, 1 << 20);
    hob_test_job_start(&t, script);
    hob_test_job_until(&t, "ready");
    if (write(ready, "r", 1) != 1) _exit(1);
    for (;;) hob_loop_run_once(t.loop, -1);
}

static void test_exec_tree__kill_9_of_hob_leaves_nothing(void **state) {
    hob_test_job *t = *state;
    const char *script;
    EACH_TREE(script) {
        int ready[2];
        char c;
        assert_int_equal(pipe2(ready, O_CLOEXEC), 0);
        pid_t hob = fork();
        if (hob == 0) live_until_killed(t, script, ready[1]);
        close(ready[1]);
        assert_int_equal(read(ready[0], &c, 1), 1);
        close(ready[0]);
        assert_true(hob_test_processes_with(t->token) > 0);
        kill(hob, SIGKILL);
        waitpid(hob, NULL, 0);
        assert_true(hob_test_processes_gone(t->token));
    }
}

/* A user other than root, so that the kernel's limit holds and only the bomb is limited. */
static void bomb(hob_test_job *parent) {
    hob_test_job t = {.loop = NULL};
    prctl(PR_SET_PDEATHSIG, SIGKILL); /* a test that fails does not leave it behind */
    memcpy(t.token, parent->token, sizeof(t.token));
    if (hob_loop_create(NULL, &t.loop, NULL) < 0) _exit(1);
    t.exec = hob_test_exec(t.loop);
    hob_buf_init(&t.output, 1 << 20);
    struct rlimit limit = {200, 200};
    if (setrlimit(RLIMIT_NPROC, &limit) < 0 || setgid(54321) < 0 || setuid(54321) < 0) _exit(2);
    hob_test_job_start(
        &t, "exec 3>&1 2>/dev/null; bomb() { echo boom >&3; bomb | bomb & }; bomb; sleep 1000");
    while (t.output.n < 5 * 100) hob_loop_run_once(t.loop, -1);
    hob_job_cancel(t.job, true);
    hob_test_job_wait(&t);
    bool good = t.result.end == HOB_JOB_CANCELLED && t.result.error.code == 0;
    _exit(good ? 0 : 3);
}

static void test_exec_tree__a_fork_bomb_is_killed(void **state) {
    hob_test_job *t = *state;
    int status;
    if (geteuid() != 0) skip(); /* cannot become another user */
    pid_t pid = fork();
    if (pid == 0) bomb(t);
    waitpid(pid, &status, 0);
    assert_int_equal(status, 0);
    assert_tree_gone(t);
}

#define T(name) cmocka_unit_test_setup_teardown(name, hob_test_job_setup, hob_test_job_teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        T(test_exec_tree__hard_cancel_leaves_nothing),
        T(test_exec_tree__soft_cancel_leaves_nothing),
        T(test_exec_tree__destroying_a_job_leaves_nothing),
        T(test_exec_tree__destroying_the_runtime_leaves_nothing),
        T(test_exec_tree__time_out_leaves_nothing),
        T(test_exec_tree__what_is_left_behind_dies_with_the_call),
        T(test_exec_tree__soft_cancel_lets_the_command_clean_up),
        T(test_exec_tree__soft_cancel_lets_children_clean_up),
        T(test_exec_tree__soft_cancel_wakes_what_is_stopped),
        T(test_exec_tree__cancel_hurts_nobody_else),
        T(test_exec_tree__cancel_twice_and_after_the_end_is_harmless),
        T(test_exec_tree__a_killed_helper_is_an_error_not_a_success),
        T(test_exec_tree__kill_9_of_hob_leaves_nothing),
        T(test_exec_tree__a_fork_bomb_is_killed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
