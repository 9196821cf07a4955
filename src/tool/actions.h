/*
 * actions.h - what a tool asks for besides its answer (docs/state.md).
 */
#ifndef HOB_SRC_TOOL_ACTIONS_H
#define HOB_SRC_TOOL_ACTIONS_H

#include <hob/tool.h>

#include "log/state.h"

#include <pthread.h>

enum { HOB_ACTIONS_KEYS_MAX = 4096, HOB_ACTIONS_BYTES_MAX = 4 << 20 }; /* of one call */

typedef struct hob_actions {
    pthread_mutex_t lock; /* until the answer */
    hob_state changes;    /* an overlay, temp: keys with their values */
    hob_state artifacts;  /* name -> version */
    char *transfer;
    char *narrow; /* JSON: what may be used from now on (run/narrow.c) */
    bool escalate, skip_summarization;
} hob_actions;

void hob_actions_init(hob_actions *a);
void hob_actions_finish(hob_actions *a);
/* What was asked for later: it counts more. Both are answered. */
void hob_actions_add(hob_actions *a, const hob_actions *later);
bool hob_actions_any(const hob_actions *a);
/* As tool_finished has them: temp: keys by name only. */
void hob_actions_write(const hob_actions *a, hob_jsonw *w);

#endif
