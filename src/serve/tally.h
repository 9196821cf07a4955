/*
 * tally.h - what the sessions of the runtime did, counted from their events as these become durable.
 *
 * Counts begin with the server. They cover all sessions of the runtime, whoever opened them, and nothing of other
 * processes.
 */
#ifndef HOB_SRC_SERVE_TALLY_H
#define HOB_SRC_SERVE_TALLY_H

#include "base/base.h"

#include <hob/runtime.h>

typedef struct hob_tally hob_tally;

int hob_tally_create(hob_runtime *rt, hob_tally **out, hob_error *err);
void hob_tally_destroy(hob_tally *t); /* before the runtime; NULL is fine */
/* In Prometheus' text format. [any] */
void hob_tally_write(const hob_tally *t, hob_buf *out);

#endif
