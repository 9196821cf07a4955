/*
 * plan.h - a plan from the inside.
 */
#ifndef HOB_SRC_AGUI_PLAN_H
#define HOB_SRC_AGUI_PLAN_H

#include <hob/agui_project.h>

#include "base/base.h"

enum { HOB_PLAN_WARNINGS = 32 };

typedef struct hob_plan_place { /* a message of the log */
    hob_str entry;              /* the node it belongs to */
    hob_str before;             /* the node before that */
} hob_plan_place;

struct hob_agui_plan {
    hob_arena *arena;
    const hob_agui_input *in;
    hob_map *known; /* ids of the log's messages -> where they stand */
    hob_map *calls; /* ids of its calls -> where they were made */
    hob_str last;   /* the entry that the conversation ends with */
    hob_agui_todo todo;
    hob_agui_pause pause;
    hob_agui_step *steps;
    size_t nsteps;
    hob_str content, to;
    bool moves, lost, foreign;
    hob_str warnings[HOB_PLAN_WARNINGS];
    size_t nwarnings;
};

int hob_plan_read_history(hob_agui_plan *p, const hob_page *history, hob_error *err);

#endif
