/*
 * history_view.h - the conversation as one agent of several sees it.
 *
 * A view is a history of its own, made of the path of the whole one: what the agent said itself stays as it is; what
 * others said is told as the user's words (narrate), or left out (isolate); other branches are hidden. Bringing a view up
 * to date costs what is new, and what was there stays the same to the byte, so that the encoded request can be kept.
 *
 * An answer is looked at when all its calls have results. What the user said while an answer was being made stands behind
 * it, since it did not see that. Between two answers of the agent with nothing in between stands a word to go on.
 */
#ifndef HOB_SRC_HISTORY_VIEW_H
#define HOB_SRC_HISTORY_VIEW_H

#include "log/history.h"

/* Of a whole history only: one that is cold at its beginning is thawed first (session/thaw.c). */
typedef struct hob_viewer {
    hob_str agent, branch;
    bool isolate;        /* others are left out */
    bool keep_responses; /* but for the results of their calls */
    bool current_only;   /* from the last thing that somebody else said */
    uint64_t asked;      /* its model is at work since this event; 0 = it is not */
} hob_viewer;

typedef struct hob_history_view {
    hob_history *seen;
    size_t from, upto;   /* places on the path of the whole: [from, upto) was looked at */
    size_t ahead;        /* 1 + the place of an answer that was put before what came meanwhile */
    uint64_t generation; /* of the whole */
    bool prompted;       /* ends with a word to go on, which stands in no event */
} hob_history_view;

void hob_history_view_init(hob_history_view *v);
void hob_history_view_finish(hob_history_view *v);
void hob_history_view_update(hob_history_view *v, const hob_history *all, const hob_viewer *who);

#endif
