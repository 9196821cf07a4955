/*
 * task.h - sub-agents: sessions that work for another session, in the same program.
 *
 * The parent's log says that a child started (child_started) and how it ended (child_finished, exactly once); the
 * child's own log has the rest. A hob_task is the live side of one that is open in the parent's log:
 *
 *     new -> announced -> opening -> at work -> ended
 *
 * and if it works apart (place.c): new -> finding -> new -> announced -> placing -> opening -> at work -> leaving -> ended
 *
 * It is made by the task tool, or after a restart by hob_tasks_perform(), from what the log says. Nothing is written
 * and nothing started before all that can be refused was checked (task_tool.c). The id of a child follows from its
 * parent and the call that started it, so a call that is repeated after a crash finds the child again.
 *
 * A child's questions to a person stand in the parent's log as well, so that whoever watches the parent can answer
 * them there (task_ask.c). Its end is task_end.c. What it has of the parent: inherit.c, and nowhere else.
 */
#ifndef HOB_SRC_TASK_H
#define HOB_SRC_TASK_H

#include "exec/worktree.h"
#include "session/session.h"

enum {
    HOB_TASK_TEXT_MAX = 64 * 1024, /* bytes of what a child ended with */
    HOB_TASK_PROMPT_MAX = 1 << 20, /* bytes of what it is told */
    HOB_TASK_DEPTH = 8,            /* unless configured: budget.depth, … */
    HOB_TASK_CHILDREN = 16,
    HOB_TASK_DESCENDANTS = 256
};

/* ---- inherit.c -------------------------------------------------------------------------------------- */

/* What a child has of its parent. Everything lies in the arena, but the policy. */
struct hob_inherited {
    hob_session *parent;
    hob_definition agent;
    bool builtin; /* hob's own, which is in no list of definitions */
    hob_str call;
    int depth;
    hob_policy *policy;
    hob_limits limits;
    hob_session_opts opts;
};
/* The one place where a child's rights are made: never more than its parent's. */
void hob_child_inherit(hob_session *parent, const hob_definition *agent, hob_arena *a,
                       hob_inherited *out);
/* The same rights in a worktree: every folder and rule as if it were the tree that it was made from. */
int hob_child_move(hob_session *parent, const hob_worktree *w, hob_arena *a, hob_inherited *in,
                   hob_error *err);
/* May another one be started below this session? HOB_EDEPTH, HOB_ELIMIT. */
int hob_child_check(hob_session *parent, hob_error *err);

/* ---- task.c ------------------------------------------------------------------------------------------ */

typedef enum hob_task_stage {
    HOB_TASK_NEW,
    HOB_TASK_FINDING,   /* of which repository and commit its worktree will be */
    HOB_TASK_ANNOUNCED, /* child_started is on its way to the disk */
    HOB_TASK_PLACING,   /* its worktree is being made */
    HOB_TASK_OPENING,
    HOB_TASK_AT_WORK,
    HOB_TASK_LEAVING, /* its worktree is looked at, and removed if it is unchanged */
    HOB_TASK_ENDED    /* its end is in the parent's log; the session is being let go of */
} hob_task_stage;

typedef struct hob_ask hob_ask; /* task_ask.c */

typedef struct hob_left { /* what became of its worktree */
    const char *state;    /* "removed", "kept"; NULL = there was none */
    int64_t files, commits;
    char why[300]; /* it was kept although nobody knows of changes; "" = they are known */
} hob_left;

struct hob_task {
    hob_list link; /* of the parent's */
    hob_session *parent, *s;
    hob_task_stage stage;
    char id[129];
    hob_arena *arena;
    hob_inherited given;
    hob_str prompt;
    bool background;
    bool known;   /* its start stands in the log already */
    bool dropped; /* nobody wants it any more: let go of, without an end */
    bool nobody;  /* a call of it was denied because nobody could be asked */
    bool apart;   /* it works in a worktree of its own */
    hob_worktree place;
    hob_worktree_op *git; /* under way */
    hob_left left;
    hob_limits allotment; /* as it began */
    bool granting;        /* the answer to a request for more is on its way to the disk */
    int failed;           /* why it ends, if its session did not get to its own end */
    hob_error why;
    hob_ending stopping;
    hob_reply *reply; /* who waits for its end, NULL = nobody */
    hob_op op;
    hob_timer look;
    hob_list asks; /* hob_ask */
    hob_list ops;  /* answers to its questions that came before it was open */
};

typedef struct hob_task_start {
    hob_definition agent;
    hob_str call, prompt;
    bool builtin, background, known, apart;
    hob_reply *reply;
} hob_task_start;
/* Nothing changes before everything was checked. */
int hob_task_begin(hob_session *parent, const hob_task_start *how, hob_error *err);
/* Run, agent and branch of an event about a child; the slices live until the next event is folded. */
void hob_task_envelope(hob_session *parent, hob_str child, hob_str call, hob_draft *d);
void hob_task_id(hob_session *parent, hob_str call, char out[129]);
hob_task *hob_task_find(hob_session *parent, hob_str id); /* NULL if it is not live */
/* The same; one that the log says is open is made live. */
hob_task *hob_task_get(hob_session *parent, hob_str id);
void hob_task_stop(hob_task *t, hob_ending how);
void hob_task_end(hob_task *t);     /* after child_finished */
void hob_task_changed(hob_task *t); /* the child's session has news */
/* Beside what the run has under way: takes up and stops children as the log says. */
void hob_tasks_perform(hob_session *s);
void hob_tasks_let_go(hob_session *s); /* all of them, as they are; see hob_tasks_gone */
bool hob_tasks_gone(const hob_session *s);

/* ---- task_start.c ------------------------------------------------------------------------------------------ */
int hob_task_allot(hob_task *t, hob_error *err); /* HOB_ELIMIT */
int hob_task_announce(hob_task *t, hob_error *err);
void hob_task_write_allotment(hob_jsonw *w,
                              const hob_limits *l); /* a member, unless nothing is limited */
void hob_task_on_look(hob_timer *timer);
void hob_task_free(hob_task *t);

/* ---- task_budget.c ------------------------------------------------------------------------------------------ */
void hob_task_answer_request(hob_task *t); /* if it has asked for more */
hob_limits hob_task_limits(const hob_task *t,
                           const hob_limits *allotment); /* with what it got since */

/* ---- task_end.c ---------------------------------------------------------------------------------------- */
/* The child is at rest, or failed: says so in the parent's log and answers who waits. */
void hob_task_conclude(hob_task *t);
void hob_task_fail(hob_task *t, int code, const hob_error *err);
/* One that cannot be taken up again. */
void hob_task_lost(hob_session *parent, const hob_kid *kid, int code, const hob_error *why);
/* Answers again with what the log says of its end. */
void hob_task_answer_again(hob_session *parent, const hob_kid *kid, hob_reply *reply);

/* ---- task_ask.c ----------------------------------------------------------------------------------------- */
void hob_task_note(hob_task *t, const hob_event *e, const hob_json *data); /* from the fold */
int hob_task_pass_on(hob_task *t, hob_error *err); /* questions and answers to the parent's log */
void hob_task_drop_asks(hob_task *t);
/* "CHILD/CALL": the live child and the rest of the name; NULL if it is no such name, or unknown. */
hob_task *hob_task_of_call(hob_session *parent, hob_str call, hob_str *rest);

/* ---- subagent.c ------------------------------------------------------------------------------------------ */
void hob_subagent_changed(hob_subagent *a); /* its session has news */

/* ---- tracker.c: children of the host's own making -------------------------------------------------------- */
typedef struct hob_tracked_child hob_tracked_child;
typedef struct hob_tracked_start {
    hob_str id, agent, prompt;
    int depth, turn;          /* turn: how many it had before */
    const hob_limits *limits; /* its part of those of the run; NULL = none */
} hob_tracked_start;
typedef struct hob_tracked_end {
    hob_str id, status, reason, text;
    const hob_spent *spent; /* NULL = not known */
    int64_t children;
} hob_tracked_end;
int hob_tracked_say_started(hob_session *s, const hob_tracked_start *x, hob_error *err);
int hob_tracked_say_ended(hob_session *s, const hob_tracked_end *x, hob_error *err);
void hob_tracked_add(hob_session *s, hob_str id, void (*cancel)(const char *, void *), void *user);
void hob_tracked_drop(hob_session *s, hob_str id);
hob_tracked_child *hob_tracked_find(const hob_session *s, hob_str id);
bool hob_tracked_cancel(hob_session *s, hob_str id); /* false: there is nobody to tell */
bool hob_tracked_cancelled(const hob_session *s, hob_str id);
void hob_tracked_write_remarks(const hob_session *s, hob_str id, hob_jsonw *w);
void hob_tracker_stop(hob_session *s); /* tells all of them */
int hob_tracker_close(hob_session *s, bool all, hob_error *err);
void hob_tracker_finish(hob_session *s);

/* ---- task_tool.c ----------------------------------------------------------------------------------------- */
int hob_task_tool_add(hob_session *s,
                      hob_error *err); /* again = with the agents that there are now */
/* 1 = hob's own, which is in no list. */
int hob_task_agent(hob_session *s, hob_str name, hob_arena *a, hob_definition *out, hob_error *err);
/* Can it work where it wants to? HOB_ENOSYS. */
int hob_task_check_place(const hob_definition *x, hob_error *err);
void hob_task_refuse(hob_reply *r, const hob_error *err);
void hob_task_say_started(hob_reply *r,
                          const char *id); /* the answer to a call in the background */

#endif
