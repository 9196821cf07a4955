/*
 * table.h - the rows a benchmark prints: name, value, promise, verdict, floor.
 *
 * The value of a measure taken several times is the median, with the best of them beside it: the
 * verdict is on the median, and the best shows what other work on the machine added. The floor is
 * the bare program on the same libraries, measured in the same run.
 *
 *     int main(int argc, char **argv) {
 *         bench_table_init(argc, argv);
 *         bench_row((bench_line){.name = "start.version", .value = v, .unit = "ms", .max = 4});
 *         return bench_table_finish();
 *     }
 *
 * `--json` prints one object a line instead. A broken promise is always printed as MISS; it is the
 * exit status only with HOB_BENCH_STRICT=1, since a shared machine breaks promises by itself.
 */
#ifndef HOB_BENCH_TABLE_H
#define HOB_BENCH_TABLE_H

#include "base/base.h"

/* ---- samples ------------------------------------------------------------------------------- */
#define BENCH_SAMPLES 64

typedef struct bench_samples {
    double v[BENCH_SAMPLES];
    size_t n;
} bench_samples;

void bench_add(bench_samples *s, double v); /* what is over BENCH_SAMPLES is left out */
double bench_median(const bench_samples *s);
double bench_min(const bench_samples *s);

/* ---- rows ---------------------------------------------------------------------------------- */
typedef struct bench_line {
    const char *name; /* "start.request" */
    const char *unit;
    double value;
    const bench_samples *samples;  /* instead of value */
    double max, min;               /* the promise; 0 = none */
    const bench_samples *floor_of; /* nullable */
    double floor;                  /* or this; 0 = none */
    const char *note;              /* nullable: what is not as the contract says */
} bench_line;

void bench_table_init(int argc, char **argv);
void bench_row(bench_line l);
/* A row that could not be measured: counts as a broken promise. */
void bench_failed(const char *name, const char *why);
int bench_table_finish(void); /* the exit status */

#endif
