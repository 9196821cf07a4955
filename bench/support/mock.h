/*
 * mock.h - a model server for benchmarks, in a process of its own.
 *
 * It speaks the streams of Anthropic (…/messages) and OpenAI chat (…/chat/completions), as fast as
 * the client takes them, and notes when each request came. What it answers is the model's name:
 *
 *     text-8            a text of 8 deltas
 *     turns-200-read    200 answers that call `read`, each for another line of notes.txt; then a text
 *     turns-200-bash    the same with `bash`: "echo 1", "echo 2", …
 *     deltas-20000      a text of that many deltas, all at once
 *     paced-2000        the same, one delta each 5 ms
 *
 * The n-th request since bench_mock_reset() gets the n-th answer. The notes are in memory that both
 * processes share; read them when the client is gone.
 */
#ifndef HOB_BENCH_MOCK_H
#define HOB_BENCH_MOCK_H

#include "base/base.h"

#include <stdatomic.h>

#define BENCH_EXCHANGES 4096

typedef struct bench_exchange {
    int64_t first_ns;    /* the first byte of the request came */
    int64_t whole_ns;    /* the last one */
    int64_t answered_ns; /* the last byte of the answer is about to be written */
    size_t bytes;        /* of the request's body */
    size_t messages;     /* in it; counted in the first request after a reset only */
} bench_exchange;

typedef struct bench_mock { /* shared */
    int pid, port;
    atomic_uint count;
    bench_exchange x[BENCH_EXCHANGES];
} bench_mock;

bench_mock *bench_mock_start(void); /* exits the program when it cannot */
void bench_mock_stop(bench_mock *m);
void bench_mock_reset(bench_mock *m);
unsigned bench_mock_requests(bench_mock *m); /* since then */

/* ---- inside the mock: script.c --------------------------------------------------------------- */
typedef struct bench_script {
    bool chat;      /* OpenAI's dialect */
    bool bash;      /* which tool */
    unsigned turns; /* answers that call it */
    unsigned deltas;
    unsigned pace_ms; /* between deltas; 0 = none */
} bench_script;

/* By the path of the request and the model's name. */
bench_script bench_script_of(hob_str path, hob_str model);
/* Parts of the answer number `step` (from 0), as chunks of HTTP. */
void bench_script_head(const bench_script *s, unsigned step, hob_buf *out);
void bench_script_delta(const bench_script *s, unsigned i, hob_buf *out);
void bench_script_tail(const bench_script *s, unsigned step, hob_buf *out);

#endif
