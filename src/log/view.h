/*
 * view.h - what a session is, as a fold over its events: settings, conversation, totals.
 *
 * Throw it away and fold the events again and it is the same. The state of a run at work is in run/.
 */
#ifndef HOB_SRC_VIEW_H
#define HOB_SRC_VIEW_H

#include "log/history.h"

typedef struct hob_view {
    hob_arena *arena; /* settings: small, replaced rarely */
    hob_history *history;
    uint64_t last_seq;
    int64_t opened_ts, last_ts;
    hob_str id, cwd, model, thinking, title, permission_mode, system_prompt;
    hob_str forked_from;
    hob_str first_prompt; /* its beginning: the title of a session without one */
    int64_t messages;     /* user messages and answers */
    hob_usage usage;      /* of all runs */
    double cost_usd;
    bool cost_known; /* every answer so far had a price */
} hob_view;

hob_view *hob_view_create(void);
void hob_view_destroy(hob_view *v);
int hob_view_apply(hob_view *v, const hob_event *e, const hob_json *data, hob_error *err);

/* usage.c: usage in events */
void hob_usage_read(const hob_json *usage, hob_usage *out); /* absent members are 0 */
void hob_usage_write(hob_jsonw *w, const char *key, const hob_usage *u);
void hob_usage_add(hob_usage *sum, const hob_usage *u);
int64_t hob_usage_total(const hob_usage *u); /* tokens that count against a budget */

#endif
