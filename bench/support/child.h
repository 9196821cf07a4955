/*
 * child.h - one run of a program, measured: CPU and peak memory from wait4, wall time around it.
 */
#ifndef HOB_BENCH_CHILD_H
#define HOB_BENCH_CHILD_H

#include "base/base.h"

typedef struct bench_run {
    int64_t spawned_ns, gone_ns; /* on bench_now()'s clock */
    double wall_ms, cpu_ms;      /* cpu: of it and of the children it waited for */
    double rss_mb;               /* the largest its memory ever was */
    int status;                  /* exit status, 128 + signal, or -1: it could not be started */
} bench_run;

int64_t bench_now(void); /* ns, monotonic */

typedef struct bench_child_opts {
    const char *const *argv; /* argv[0] is the path */
    const char *const *envp;
    const char *output; /* file for standard output, NULL = nowhere */
    const char *errors; /* the same for standard error; shown when the program fails */
} bench_child_opts;

/* Standard input is empty. */
bench_run bench_child_run(const bench_child_opts *o);

#endif
