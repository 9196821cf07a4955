/*
 * rig.h - hob and the bare program, run against the mock server in a folder of their own.
 *
 * The folder is on the disk of the build, since commits are as fast as the disk they go to.
 */
#ifndef HOB_BENCH_RIG_H
#define HOB_BENCH_RIG_H

#include "child.h"
#include "mock.h"

typedef struct bench_rig {
    bench_mock *mock;
    char dir[256]; /* config.json, state/, work/ with notes.txt, floor.db, out */
} bench_rig;

void bench_rig_init(bench_rig *r); /* exits the program when it cannot */
void bench_rig_finish(bench_rig *r);
const char *bench_rig_path(const bench_rig *r,
                           const char *name); /* in one of a few static buffers */

typedef enum bench_api { BENCH_ANTHROPIC, BENCH_CHAT } bench_api;

typedef struct bench_ask {
    bench_api api;
    const char *model;        /* the script, see mock.h */
    const char *const *flags; /* further flags of hob, NULL-terminated; nullable */
    bool resume;              /* go on with the conversation of the run before */
} bench_ask;

/* `hob -p …` / the bare program, until it is gone. The mock is reset first. */
bench_run bench_rig_hob(bench_rig *r, const bench_ask *a);
bench_run bench_rig_floor(bench_rig *r, const bench_ask *a);
/* A program of the build with one argument. */
bench_run bench_rig_program(bench_rig *r, const char *name, const char *argument);

/* From the spawn until the first request was whole at the mock, ms; negative: there was none. */
double bench_rig_to_request(const bench_rig *r, const bench_run *run);
/* From the end of answer i until request i + 1 was whole, ms. */
double bench_rig_gap(const bench_rig *r, unsigned i);

#endif
