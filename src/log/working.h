/*
 * working.h - the agents of a workflow that began and have not ended, as a fold over a session's events.
 *
 * A workflow knows its own agents (agent/flow.h). This is for a log whose workflow is not there: whoever goes on with it
 * must say how they ended.
 */
#ifndef HOB_SRC_LOG_WORKING_H
#define HOB_SRC_LOG_WORKING_H

#include "log/event.h"

#define HOB_WORKING_MAX 4096 /* more of them are not remembered */

typedef struct hob_working {
    hob_event **at; /* their agent_started, in that order; references */
    size_t n;
} hob_working;

void hob_working_finish(hob_working *w);
void hob_working_apply(hob_working *w, const hob_event *e);

#endif
