/*
 * strand.h - one agent at work: the session's own, or one of a workflow on its branch.
 *
 * A session has one log and several strands of work in it. Each strand has a run of its own, asks its own model and
 * streams its own answer; they share the log, the views and the reader. The session's own strand is always there and
 * always the first.
 *
 * A strand's parts are what its agent has of its own; what it leaves out is the session's, so a model or a tool that the
 * session gets later counts at once. Ask for them with the functions below. The parts and the run of a workflow's strand
 * are kept by whoever made the strand, and live longer than it.
 */
#ifndef HOB_SRC_STRAND_H
#define HOB_SRC_STRAND_H

#include <hob/session.h>

#include "model/model.h"
#include "run/run.h"
#include "tool/tool.h"

enum { HOB_MAX_BLOCKS = 64 };

typedef struct hob_strand {
    hob_list link; /* of the session's */
    hob_session *s;
    hob_run *run;
    char *agent, *branch; /* "" = the session's own */
    ptrdiff_t frame;      /* of the workflow (crew.h); -1 = of none */
    /* parts: NULL, or nothing, = the session's */
    hob_tools *tools;
    const hob_policy *policy;
    const hob_history *history;
    hob_str system;
    hob_provider *provider; /* with it: model and its name */
    hob_model_info model;
    const char *model_name;
    hob_thinking thinking;
    /* its policy with what its run was told that it may not use any more (narrow.c) */
    hob_policy *narrowed;
    const hob_policy *narrowed_base;
    uint64_t narrowed_seq;
    /* what the provider keeps between calls */
    hob_wire *wire;
    const hob_provider_ops *wire_owner;
    /* the answer being streamed */
    hob_answer *answer;
    char answer_message[24];
    char answer_run[64];
    bool answer_held;              /* it is not streamed: after_model will see it first */
    uint64_t answer_seq;           /* of its model_call_started */
    uint64_t answer_end;           /* of the event that ended it; 0 = it is being made */
    hob_provider *answer_provider; /* who makes it: the strand's model may change meanwhile */
    hob_model_info answer_model;
} hob_strand;

void hob_strand_init(hob_strand *st, hob_session *s, hob_run *run); /* the session's own */
void hob_strand_finish(hob_strand *st);
/* Another one, behind those that are there. The names are copied. */
hob_strand *hob_strand_create(hob_session *s, hob_run *run, hob_str agent, hob_str branch);
/* Drops what it has under way. A reader that saw the beginning of its answer gets what there is of it. */
void hob_strand_destroy(hob_strand *st);
void hob_session_drop_strands(hob_session *s); /* all but its own: their runs are about to go */

hob_tools *hob_strand_tools(const hob_strand *st);
const hob_policy *hob_strand_policy(hob_strand *st);
const hob_history *hob_strand_history(const hob_strand *st);
hob_str hob_strand_system(const hob_strand *st);
hob_provider *hob_strand_provider(const hob_strand *st);
const hob_model_info *hob_strand_model(const hob_strand *st);
const char *hob_strand_model_name(const hob_strand *st);
hob_thinking hob_strand_thinking(const hob_strand *st);

/* Its run is a part of the session's: the workflow folds it and says what comes next (agent/flow.h). */
bool hob_strand_is_part(const hob_strand *st);
void hob_strand_env(hob_strand *st, hob_run_env *env);           /* what its run needs to know */
hob_strand *hob_session_strand_of(hob_session *s, hob_str call); /* NULL if in nobody's batch */
bool hob_session_active(const hob_session *s); /* something is under way (also parked) */
bool hob_session_parked(const hob_session *s); /* nothing but answers of a person is waited for */
bool hob_session_idle(const hob_session *s);   /* nothing is under way, and that was said */

/* ---- append.c ----------------------------------------------------------------------------------------- */
/* Feeds an input to the strand's run until it and what follows from it, in all strands, are said; commits, performs.
 * The strand may be gone afterwards. */
int hob_strand_input(hob_strand *st, hob_input *in, hob_error *err);
/* The same for what nobody waits for: if it cannot be written, the session has failed. */
void hob_strand_outcome(hob_strand *st, hob_input *in);

/* ---- perform.c, perform_model.c ------------------------------------------------------------------------- */
void hob_strand_drop_flights(hob_strand *st);
void hob_strand_drop_wire(hob_strand *st);
/* Whether the model can be asked with as much of the conversation as is in memory; else it is being read first (thaw.c).
 * Only the session's own strand goes on from a wire: a view of the history (log/history_view.h) needs all of it. */
bool hob_strand_can_ask(hob_strand *st);
/* snapshot.c: the provider goes on with the wire that is there, without the messages that are cold. */
bool hob_strand_adopt_wire(hob_strand *st, hob_provider *p, const hob_model_request *rq);

/* ---- stream.c --------------------------------------------------------------------------------------------- */
void hob_strand_close_answer(hob_strand *st);
void hob_strand_drop_answer(hob_strand *st); /* readers get no more of it */
typedef struct hob_tool_output {
    hob_str call, text;
    size_t offset;
    uint64_t started; /* seq of its tool_started */
} hob_tool_output;
void hob_strand_tool_output(hob_strand *st, const hob_tool_output *o);

/* What a reader has of a message that is being streamed; gone when its end went to the reader. */
typedef struct hob_sent {
    hob_list link;
    char message[32], run[64];
    size_t upto[HOB_MAX_BLOCKS]; /* bytes of each block */
    bool all;
} hob_sent;

#endif
