/*
 * job.h - a loop and an exec to run commands with, and what came of one command.
 */
#ifndef HOB_TESTS_JOB_H
#define HOB_TESTS_JOB_H

#include "exec/exec.h"

typedef struct hob_test_job {
    hob_loop *loop;
    hob_exec *exec;
    char token[64]; /* "HOB_TEST_TOKEN=…", in the environment of every command */
    hob_job *job;
    hob_buf output; /* the first MiB of it */
    size_t bytes;   /* all of it */
    int ended;      /* calls of ended() */
    hob_job_result result;
} hob_test_job;

int hob_test_job_setup(void **state); /* cmocka: *state is a hob_test_job */
int hob_test_job_teardown(void **state);
hob_exec *hob_test_exec(hob_loop *l); /* with the hob-exec of this build */

hob_job_opts hob_test_job_opts(hob_test_job *t, const char **argv, const char **envp);
void hob_test_job_start(hob_test_job *t, const char *script);
void hob_test_job_start_opts(hob_test_job *t, const hob_job_opts *o);
void hob_test_job_until(hob_test_job *t, const char *word); /* until it printed the word */
void hob_test_job_wait(hob_test_job *t);                    /* until it ended */

#endif
