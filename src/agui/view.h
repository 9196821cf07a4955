/*
 * view.h - a session's events on their way into one AG-UI run, from the inside.
 *
 * The view keeps only what spans events: answers that are being streamed (how much of each block went out), approvals that
 * wait, sub-agents at work, usage so far, and how the run ended. Everything else is in the producer (agui.h), which also
 * knows what the client has; "it is there already" (HOB_EEXIST) means that nothing needs to be said.
 */
#ifndef HOB_SRC_AGUI_VIEW_H
#define HOB_SRC_AGUI_VIEW_H

#include <hob/agui_project.h>

#include "agui/agui.h"
#include "agui/content.h"
#include "log/event.h"
#include "log/view.h"

enum {
    HOB_VIEW_BLOCKS = 1024,  /* of an answer; later ones are sent when it is whole */
    HOB_VIEW_ANSWERS = 1024, /* at once */
    HOB_VIEW_ASKS = 1024,
    HOB_VIEW_KIDS = 4096,
    HOB_VIEW_MODELS = 32
};

typedef enum hob_view_kind {
    HOB_VIEW_NONE,
    HOB_VIEW_TEXT,
    HOB_VIEW_THINKING,
    HOB_VIEW_CALL
} hob_view_kind;

typedef struct hob_view_block {
    hob_view_kind kind;
    size_t sent;
    bool open, had; /* had: the client has it already */
    char call[HOB_AGUI_MADE_ID];
} hob_view_block;

typedef struct hob_view_answer {
    hob_list link;
    char *message, *agent;
    hob_view_block *blocks;
    size_t nblocks;
    bool foreign; /* the client has something else under one of its names: a snapshot says it */
} hob_view_answer;

typedef struct hob_view_ask {
    hob_list link;
    char *call, *tool, *args, *child, *agent;
    char *question, *schema; /* of what the model asks the user; "" = none */
} hob_view_ask;

typedef struct hob_view_kid {
    hob_list link;
    char *child, *id;
} hob_view_kid;

typedef struct hob_view_model {
    char *name;
    hob_usage usage;
} hob_view_model;

struct hob_agui_view {
    hob_agui_session *out;
    int64_t time;       /* of what was told last */
    hob_arena *scratch; /* of the event under way */
    hob_list answers, asks, kids;
    size_t nanswers, nasks, nkids;
    hob_view_model models[HOB_VIEW_MODELS];
    size_t nmodels;
    char *status, *code, *reason; /* of the last run_finished */
    bool paused;
    bool stale, ended;
};

/* Nobody listens, or the client has it: as good as sent. */
static inline int hob_view_had(int rc) {
    return rc == HOB_ECLOSED || rc == HOB_EEXIST ? 0 : rc;
}
static inline int hob_view_said(int rc) {
    return rc == HOB_ECLOSED ? 0 : rc;
}

/* view_answer.c */
int hob_view_delta(hob_agui_view *v, const hob_event *e, const hob_json *d, hob_error *err);
int hob_view_answered(hob_agui_view *v, const hob_event *e, const hob_json *d, hob_error *err);
int hob_view_discarded(hob_agui_view *v, const hob_json *d, hob_error *err);
void hob_view_answers_finish(hob_agui_view *v);

/* view_tool.c */
int hob_view_result(hob_agui_view *v, const hob_event *e, const hob_json *d, hob_error *err);
int hob_view_asked(hob_agui_view *v, const hob_json *d, hob_error *err);
void hob_view_resolved(hob_agui_view *v, const hob_json *d);
void hob_view_asks_finish(hob_agui_view *v);

/* view_team.c */
int hob_view_step(hob_agui_view *v, const hob_event *e, const hob_json *d, hob_error *err);
int hob_view_child_started(hob_agui_view *v, const hob_json *d, hob_error *err);
int hob_view_child_finished(hob_agui_view *v, const hob_json *d, hob_error *err);
int hob_view_suspend_children(hob_agui_view *v, hob_error *err);
hob_str hob_view_child_id(hob_agui_view *v, hob_str child); /* on the wire */
void hob_view_kids_finish(hob_agui_view *v);

/* view_end.c */
void hob_view_add_usage(hob_agui_view *v, hob_str model, const hob_json *usage);
void hob_view_note_end(hob_agui_view *v, const hob_json *d);
int hob_view_end(hob_agui_view *v, hob_error *err);
int hob_view_put_usage(hob_agui_view *v, hob_error *err);
void hob_view_end_finish(hob_agui_view *v);

/* view_state.c */
int hob_view_state(hob_agui_view *v, const hob_json *d, hob_error *err);

#endif
