/*
 * demo.h - the parts of `hob demo`.
 *
 *   demo.c      the story: make the folder, run, kill, resume, check
 *   demo_run.c  one child process, its events read, shown and counted; killed at a given event
 */
#ifndef HOB_SRC_CLI_DEMO_H
#define HOB_SRC_CLI_DEMO_H

#include "cli/cli.h"

#include <sys/types.h>

typedef struct hob_demo {
    hob_cli *cli;
    char exe[4096]; /* this program */
    char root[256]; /* the temporary folder */
    char work[300], home[300], script[300];
    hob_buf env_text;
    hob_words env; /* of the children: ours, with HOB_HOME in the temporary folder */
    char session[64];
    uint64_t seen; /* the highest seq that a child told us */
} hob_demo;

typedef struct hob_demo_run {
    const char *const *argv; /* what follows the program's name */
    const char *kill_at; /* a tool's name: SIGKILL when a call of it has started; NULL = never */
    bool silent;         /* only count */
} hob_demo_run;

typedef struct hob_demo_end {
    bool killed;
    int status;                 /* exit code, 128 + signal */
    char result[32];            /* status of the result line, "" if there was none */
    uint64_t first, last, gaps; /* of the sequence numbers told */
} hob_demo_end;

int hob_demo_child(hob_demo *d, const hob_demo_run *r, hob_demo_end *out, hob_error *err);
/* Runs a shell command in the work folder; its exit code. */
int hob_demo_shell(hob_demo *d, const char *command, hob_error *err);

#endif
