/*
 * kids.h - the sub-agents of a session, as a fold over its events: who was started, who ended and how, and what they
 * ask a person.
 *
 * The first end wins. A sub-agent that is sent another message (child_started with the same id again) is open again.
 * An end without a start is kept as well, but belongs to nobody's list (`orphan`).
 */
#ifndef HOB_SRC_LOG_KIDS_H
#define HOB_SRC_LOG_KIDS_H

#include "log/event.h"

#include <hob/ext/provider.h>

#define HOB_KIDS_MAX 4096    /* remembered; the oldest that ended are forgotten first */
#define HOB_KID_ASKS_MAX 256 /* open questions of one */

typedef struct hob_kid_ask {
    char *call; /* "CHILD/CALL", as the parent's events have it; heap */
    hob_event *event;
} hob_kid_ask;

/* Of a git worktree: what the log says of it. */
typedef enum hob_kid_place {
    HOB_PLACE_NONE,
    HOB_PLACE_WANTED,
    HOB_PLACE_MADE,
    HOB_PLACE_UNCHANGED, /* being removed */
    HOB_PLACE_REMOVED,
    HOB_PLACE_KEPT
} hob_kid_place;

typedef struct hob_kid {
    char id[129], agent[72], call[64], run[64], status[16];
    char prompt[208], text[208]; /* beginnings: of what it was told, of what it ended with */
    hob_event *started;          /* while it is open: its child_started */
    uint64_t ended_seq;          /* of its child_finished; 0 = it is open */
    bool open, background, host, orphan;
    hob_kid_place place;
    int depth, turn;
    int64_t started_ts, ended_ts;
    hob_usage usage; /* of all its turns */
    double cost_usd;
    bool cost_known;
    int64_t turns, tool_calls, children; /* children: of its own, at all depths */
    /* while it is open: what it asked for last, the answer, and all it got beyond its allotment */
    struct {
        uint64_t request;
        bool granted;
        int64_t turns, tokens, tool_calls;
        double cost_usd;
    } more;
    hob_kid_ask *asks;
    size_t nasks;
} hob_kid;

typedef struct hob_kids {
    hob_kid **at; /* in the order of their first start */
    size_t n, cap;
    size_t forgotten;
} hob_kids;

void hob_kids_finish(hob_kids *k);
void hob_kids_apply(hob_kids *k, const hob_event *e, const hob_json *data);
hob_kid *hob_kids_find(const hob_kids *k, hob_str id); /* NULL if unknown */
/* Sub-agents at all depths, as far as the log says it. */
int64_t hob_kids_in_all(const hob_kids *k);

#endif
