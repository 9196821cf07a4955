/*
 * view.h - what a session is, as a fold over its events: settings, conversation, totals.
 *
 * Throw it away and fold the events again and it is the same. The state of a run at work is in run/.
 *
 * One part is more than a fold: `state`. Its keys without prefix are one (state_changed alone changes them). Those with
 * `app:` and `user:` belong to all sessions of the application or user; the log says what this session did to them, and
 * the store what they are, so they are replaced after the log was folded (session/load.c). Values of `temp:` keys are in
 * no log; they are there while the run lives that set them. A stored copy of a view carries the keys without prefix,
 * state_revision, app_name and user_id, and none of the rest of the state.
 */
#ifndef HOB_SRC_VIEW_H
#define HOB_SRC_VIEW_H

#include "log/history.h"
#include "log/kids.h"
#include "log/state.h"
#include "log/working.h"

typedef struct hob_view {
    hob_arena *arena; /* settings: small, replaced rarely */
    hob_history *history;
    uint64_t last_seq;
    int64_t opened_ts, last_ts;
    hob_str id, cwd, model, thinking, title, permission_mode, system_prompt;
    hob_str agent; /* by name, of the definitions; "" = hob's own */
    hob_str forked_from;
    hob_str limits;       /* of each of its runs, as JSON; "" = none of its own */
    hob_str parent;       /* the session it works for, "" = none */
    int depth;            /* of a child: 1 = its parent is nobody's */
    hob_kids kids;        /* those that work for it */
    hob_working working;  /* agents of a workflow that have begun and not ended */
    hob_str first_prompt; /* its beginning: the title of a session without one */
    int64_t messages;     /* user messages and answers */
    hob_usage usage;      /* of all runs */
    double cost_usd;
    bool cost_known; /* every answer so far had a price */
    hob_str app_name, user_id;
    hob_state state;         /* copies cost nothing: readers get one */
    uint64_t state_revision; /* grows with every visible change */
} hob_view;

hob_view *hob_view_create(void);
void hob_view_destroy(hob_view *v);
/* What the data of a state_changed does to keys without a prefix, and to app: and user: ones. */
void hob_state_fold(hob_state *s, const hob_json *data);
int hob_view_apply(hob_view *v, const hob_event *e, const hob_json *data, hob_error *err);

/* usage.c: usage in events */
void hob_usage_read(const hob_json *usage, hob_usage *out); /* absent members are 0 */
void hob_usage_write(hob_jsonw *w, const char *key, const hob_usage *u);
void hob_usage_add(hob_usage *sum, const hob_usage *u);
void hob_usage_sub(hob_usage *sum, const hob_usage *u);
int64_t hob_usage_total(const hob_usage *u); /* tokens that count against a budget */

#endif
