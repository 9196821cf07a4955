#include "support/job.h"
#include "support/check.h"

#include <stdio.h>
#include <unistd.h>

hob_exec *hob_test_exec(hob_loop *l) {
    hob_exec_opts o = {.libexec_dir = HOB_BINARY_DIR};
    hob_exec *x = NULL;
    hob_error err;
    assert_ok(hob_exec_create(l, &o, &x, &err), err);
    return x;
}

int hob_test_job_setup(void **state) {
    hob_test_job *t = HOB_NEW(hob_test_job);
    uint64_t random;
    hob_random(&random, sizeof(random));
    snprintf(t->token, sizeof(t->token), "HOB_TEST_TOKEN=%d-%016llx", (int)getpid(),
             (unsigned long long)random);
    if (hob_loop_create(NULL, &t->loop, NULL) < 0) return -1;
    t->exec = hob_test_exec(t->loop);
    hob_buf_init(&t->output, 1 << 20);
    *state = t;
    return 0;
}

int hob_test_job_teardown(void **state) {
    hob_test_job *t = *state;
    hob_job_destroy(t->job);
    hob_exec_destroy(t->exec);
    hob_loop_destroy(t->loop);
    hob_buf_finish(&t->output);
    hob_free(t);
    return 0;
}

static void on_output(void *user, hob_str chunk) {
    hob_test_job *t = user;
    t->bytes += chunk.n;
    hob_buf_add(&t->output, hob_str_first(chunk, HOB_MIN(chunk.n, t->output.max - t->output.n)));
}

static void on_ended(void *user, const hob_job_result *r) {
    hob_test_job *t = user;
    t->ended++;
    t->result = *r;
}

hob_job_opts hob_test_job_opts(hob_test_job *t, const char **argv, const char **envp) {
    envp[0] = "PATH=/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin";
    envp[1] = t->token;
    envp[2] = NULL;
    return (hob_job_opts){.argv = argv, .envp = envp, .cwd = "/", .timeout_ms = 60 * 1000};
}

void hob_test_job_start_opts(hob_test_job *t, const hob_job_opts *o) {
    static const hob_job_handler handler = {on_output, on_ended};
    hob_error err;
    hob_job_destroy(t->job);
    hob_buf_reset(&t->output);
    t->job = NULL;
    t->bytes = 0;
    t->ended = 0;
    assert_ok(hob_job_start(t->exec, o, &handler, t, &t->job, &err), err);
}

void hob_test_job_start(hob_test_job *t, const char *script) {
    const char *argv[] = {"/bin/bash", "-c", script, NULL}, *envp[3];
    hob_job_opts o = hob_test_job_opts(t, argv, envp);
    hob_test_job_start_opts(t, &o);
}

void hob_test_job_until(hob_test_job *t, const char *word) {
    while (!t->ended && hob_str_find(hob_buf_str(&t->output), hob_str_z(word)) < 0)
        hob_loop_run_once(t->loop, -1);
    assert_false(t->ended);
}

void hob_test_job_wait(hob_test_job *t) {
    while (!t->ended) hob_loop_run_once(t->loop, -1);
}
