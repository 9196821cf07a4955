/*
 * flow.h - a workflow: which agent works when. Pure, like run/.
 *
 *     apply(flow, root, event)      the only thing that changes it
 *     next(flow, root, env)         what is written next, if anything
 *     pending(flow, frame)          effects of one agent whose outcome is owed
 *
 * Every agent of the tree has one frame. A frame is active from agent_started to agent_finished; an LLM agent's frame has
 * a strand (a hob_run of its own, see run/agents.c) while it is active. Where a workflow stands is which frames are
 * active and which are done, and that follows from the events: a crash needs no code of its own.
 *
 * A *slot* is a place in the tree where an agent works. It is held by the agent that stands there, or by the one it
 * handed the conversation over to. The root of the tree is a slot, and so is every agent of a workflow agent.
 *
 * Branches: the agents of a parallel one work on "…parallel.agent"; all others on the branch of their parent. At most
 * one strand is at work on a branch, so agent and branch in the envelope say whose event it is.
 */
#ifndef HOB_SRC_AGENT_FLOW_H
#define HOB_SRC_AGENT_FLOW_H

#include "agent/value.h"
#include "run/run.h"

enum { HOB_TRANSFERS_MAX = 32 }; /* in one slot, in one run */

typedef enum hob_frame_state {
    HOB_FRAME_IDLE,   /* not in this run, or not in this round of its loop */
    HOB_FRAME_ACTIVE, /* started */
    HOB_FRAME_DONE
} hob_frame_state;

typedef enum hob_point { /* where C functions of the host are called */
                         HOB_POINT_NONE,
                         HOB_POINT_BEFORE,
                         HOB_POINT_RUN,
                         HOB_POINT_AFTER
} hob_point;

typedef struct hob_frame {
    const hob_agent *agent;
    size_t parent; /* index; the root is its own */
    hob_frame_state state;
    size_t slot;      /* where it works: itself, or who handed over to it */
    size_t holder;    /* who works in its own place */
    int transfers;    /* in its own place */
    int iteration;    /* LOOP: the round its agents are in, from 1 */
    bool escalated;   /* it, or one of its agents */
    bool transferred; /* DONE: it handed over */
    bool completed;   /* DONE: well */
    /* functions of the host */
    hob_point point;    /* one is at work */
    uint64_t point_seq; /* since this event */
    bool lost;          /* the process that called it is gone */
    unsigned passed;    /* bits 1 << point: those that answered */
    bool said_state,
        spoke;     /* what of its answer is written; of the last one: that it had content */
    bool replaced; /* before_agent answered in its place */
    bool faulted;  /* a function failed: nothing more is done */
    char *branch;
    hob_run *run; /* strand, while active: LLM agents; others only to hold what went wrong */
    char *text;   /* of its last answer, if the state is to have it or a schema binds it; heap */
    size_t text_n;
    bool stored; /* it has it */
} hob_frame;

typedef struct hob_flow {
    hob_agent *root;
    const hob_agent_callbacks *callbacks; /* the session's, for every agent; NULL = none */
    hob_frame *frames;                    /* in the order of the tree, parents first */
    size_t n;
    bool begun;          /* agents of this run were started */
    hob_map *writers;    /* state key -> branch that set it, while agents work side by side */
    hob_arena *branches; /* of those */
    hob_buf
        conflicts; /* keys set on two branches, not said yet: a JSON array without its brackets */
} hob_flow;

hob_flow *hob_flow_create(hob_agent *root); /* holds a reference */
void hob_flow_destroy(hob_flow *f);
/* After hob_run_apply() of the root. */
int hob_flow_apply(hob_flow *f, hob_run *root, const hob_event *e, const hob_json *data,
                   hob_error *err);
ptrdiff_t hob_flow_index(const hob_flow *f, hob_str agent); /* -1 = none */
/* Something waits for a person, or all was paused; and nothing is at work. */
bool hob_flow_parked(const hob_flow *f, bool paused);
/* Whether the agent may be handed over to by the one at `from`. */
bool hob_flow_may_transfer(const hob_flow *f, size_t from, size_t to);

/* ---- deciding ------------------------------------------------------------------------------------ */

typedef struct hob_flow_env {
    int64_t now;
    const hob_state *state;
    hob_str last_agent; /* who spoke last in the conversation; "" = nobody */
    void (*strand)(void *user, size_t frame,
                   hob_run_env *out); /* what this agent has to work with */
    void *user;
} hob_flow_env;

/* The answer of a function of the host. */
typedef struct hob_flow_answer {
    size_t frame;
    hob_outcome outcome;      /* not OK: text says why */
    hob_str content;          /* JSON array of blocks; "" = none */
    const hob_state *changes; /* an overlay; NULL = none */
    hob_str transfer, text;
    bool escalate;
} hob_flow_answer;

/* As hob_run_decide: HOB_SAID_NOTHING, _LAST, _MORE. */
int hob_flow_next(const hob_flow *f, const hob_run *root, const hob_flow_env *env, hob_draft *out);
int hob_flow_answered(const hob_flow *f, const hob_run *root, const hob_flow_answer *a,
                      hob_draft *out, hob_error *err);
/* Effects of one frame: those of its strand, or the function at work (kind CALL_AGENT). */
size_t hob_flow_pending(const hob_flow *f, size_t frame, const hob_run *root,
                        hob_effect out[HOB_EFFECTS_MAX]);

/* ---- between the files of this folder -------------------------------------------------------------- */
/* Nobody works there: it was not begun, or was handed over to one that has not begun. */
bool hob_flow_slot_vacant(const hob_flow *f, size_t slot);
bool hob_flow_slot_done(const hob_flow *f, size_t slot);
const char *hob_point_name(hob_point p);
hob_jsonw hob_flow_say(const hob_run *root, const hob_frame *fr, hob_event_type type,
                       hob_draft *out);
/* What the state gets of its final answer: a JSON text. */
void hob_flow_output(const hob_frame *fr, hob_buf *out);
/* Whether a function of the host is to be called there: the agent's, or the session's. */
bool hob_flow_calls(const hob_flow *f, const hob_frame *fr, hob_point p);

#endif
