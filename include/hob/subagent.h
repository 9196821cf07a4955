/*
 * hob/subagent.h - sub-agents: sessions that work for another session.
 *
 * Three ways to have one:
 *   the model     calls the tool `task`, in the foreground or in the background; the agents it can name are those of the
 *                 session's definitions and those registered here
 *   the host      holds a conversation with one (hob_subagent_…, below): send, and send again
 *   the host's    children of its own making, reported to hob_tracker, so that they are listed and cancelled like the rest
 *
 * Whichever way, the parent's log has child_started and exactly one child_finished, and the child is never stronger than
 * its parent: rules, folders, approver, budget and depth come down to it (docs/agents.md).
 *
 * Every call is [any] and waits for the loop; not inside a callback.
 */
#ifndef HOB_SUBAGENT_H
#define HOB_SUBAGENT_H

#include <hob/agent.h>
#include <hob/definitions.h>
#include <hob/session.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- agents that the tool `task` can name --------------------------------------------------------- */

/* Live for the next call, in this session and its children; nearer than the definitions given with the options, which
 * stay as they are. Returns how many files of the folder are live; as hob_agents_register_dir. */
HOB_API int hob_session_register_agent_dir(hob_session *s, const char *dir, hob_error *err);
HOB_API int hob_session_register_worker_agent(hob_session *s, const hob_definition *agent,
                                              hob_error *err);
/* All of them or none. */
HOB_API int hob_session_register_worker_agents(hob_session *s, const hob_definition *agents,
                                               size_t n, hob_error *err);

/* ---- those at work, and those that were ------------------------------------------------------------ */

/* Rows {"id","agent","status","prompt","depth","background","started","finished"?,"turns","tool_calls","usage",
 * "cost_usd","text"?,"call"?}, oldest first; "status" is running, parked or that of child_finished. While one runs,
 * "tool" is what it has under way and "text" the end of what it says; afterwards the beginning of its result. */
HOB_API int hob_session_subagent_tasks(hob_session *s, hob_page **out, hob_error *err);
HOB_API int hob_session_pending_subagent_tasks(hob_session *s, hob_page **out, hob_error *err);
/* One row. HOB_ENOENT. */
HOB_API int hob_session_subagent_task(hob_session *s, hob_str id, hob_page **out, hob_error *err);
/* 1: told to stop. 0: there is none, it has ended, or it cannot be told. The first verdict stays. */
HOB_API int hob_session_cancel_subagent_task(hob_session *s, hob_str id, hob_error *err);

/* ---- children of the host's own making ----------------------------------------------------------------- */

typedef struct hob_tracker hob_tracker;
/* Lives as long as the session. */
HOB_API hob_tracker *hob_session_subagent_tracker(hob_session *s);

typedef struct hob_tracked {
    size_t size;
    const char *id; /* [A-Za-z0-9._-]{1,128}, unique in the session */
    const char *agent, *prompt;
    void (*cancel)(const char *id, void *user); /* on the loop thread; NULL = cannot be told */
    void *user;
} hob_tracked;
#define HOB_TRACKED_INIT                                                                           \
    { .size = sizeof(hob_tracked) }

/* HOB_EEXIST: it is running already. HOB_ELIMIT: too many. */
HOB_API int hob_tracker_start(hob_tracker *t, const hob_tracked *child, hob_error *err);
/* A remark for its row; the last 16 are kept. HOB_ENOENT: it is not running. */
HOB_API int hob_tracker_progress(hob_tracker *t, const char *id, hob_str remark, hob_error *err);
/* What it has spent so far, all in all: with its end it is booked to the run that was under way when it started, and to
 * the session. HOB_ENOENT: it is not running. */
typedef struct hob_tracked_spent {
    size_t size;
    int64_t turns, tool_calls, input_tokens, output_tokens;
    double cost_usd; /* negative = not known */
} hob_tracked_spent;
#define HOB_TRACKED_SPENT_INIT                                                                     \
    { .size = sizeof(hob_tracked_spent) }
HOB_API int hob_tracker_spent(hob_tracker *t, const char *id, const hob_tracked_spent *spent,
                              hob_error *err);
/* From now on it cannot be told to stop. */
HOB_API int hob_tracker_clear(hob_tracker *t, const char *id, hob_error *err);
/* `status`: completed, failed, cancelled, interrupted or limit. One that was cancelled stays cancelled, whatever it ends
 * with. HOB_EEXIST: it has ended. One that never started is kept, but in nobody's list. */
HOB_API int hob_tracker_end(hob_tracker *t, const char *id, const char *status, hob_str text,
                            hob_error *err);

/* ---- a conversation with one ----------------------------------------------------------------------------- */

/*
 * The same agent, sent to again and again, with everything that was said before:
 *
 *     hob_subagent_create(rt, &o, &a, &err);
 *     hob_subagent_send(a, hob_str_z("Which files matter?"), -1, &r, &err);
 *     hob_subagent_send(a, hob_str_z("Read the first."), -1, &r, &err);      it knows what was asked before
 *
 * Each send is bracketed: child_started, from the second on child_reused, what happens, exactly one child_finished. They
 * go to the sink and, if there is a parent, into its log. A send is transactional: if it does not complete, the
 * transcript is as it was before, unless HOB_SUBAGENT_KEEP; the log has everything either way. Underneath is a session:
 * it streams, and can be steered, asked for approvals and cancelled. What is sent while a run of the parent is under way
 * is bound by what that run has left, and charged to it.
 */
typedef struct hob_subagent hob_subagent;
typedef void (*hob_subagent_event_fn)(hob_subagent *a, hob_event *e, void *user);

enum { HOB_SUBAGENT_KEEP = 1 }; /* a send that fails stays in the transcript */

typedef struct hob_subagent_opts {
    size_t size;
    /* Who: an agent, shared with whoever else holds it, or one of the definitions (the parent's, else
     * session->definitions); neither = hob's own. */
    hob_agent *agent;
    const char *agent_name;
    hob_session *parent; /* whose child it is; must outlive it. NULL = nobody's */
    const hob_session_opts
        *session;     /* without a parent: everything else; with one only choice and id count */
    int parent_depth; /* of whoever sends; -1 = the parent's, 0 without one */
    int max_depth;    /* 0 = 8 */
    unsigned flags;
    hob_subagent_event_fn
        on_event; /* on the loop thread, must not block; then there is no next_event */
    void *user;
} hob_subagent_opts;
#define HOB_SUBAGENT_OPTS_INIT                                                                     \
    { .size = sizeof(hob_subagent_opts), .parent_depth = -1 }

/* rt may be NULL if there is a parent. As hob_session_create. */
HOB_API int hob_subagent_create(hob_runtime *rt, const hob_subagent_opts *o, hob_subagent **out,
                                hob_error *err);
/* Ends what runs (cancelled), says so, closes the session. NULL is fine. Not inside a callback. */
HOB_API void hob_subagent_destroy(hob_subagent *a);

/* Starts a turn and returns when it is under way. Before anything changes: HOB_EDEPTH (sub: the cap), HOB_EBUSY,
 * HOB_EINVAL, HOB_ELIMIT (nothing is left of the limits of the parent's run). */
HOB_API int hob_subagent_start(hob_subagent *a, hob_str text, hob_error *err);
/* Waits for its end; HOB_OK whatever the end was (hob_result_status). HOB_ETIMEDOUT, HOB_EIDLE: nothing was started. */
HOB_API int hob_subagent_wait(hob_subagent *a, int64_t timeout_ms, hob_result **out,
                              hob_error *err);
/* Both. An end other than `completed` is an error: its code; *out is set all the same. */
HOB_API int hob_subagent_send(hob_subagent *a, hob_str text, int64_t timeout_ms, hob_result **out,
                              hob_error *err);
HOB_API int hob_subagent_next_event(hob_subagent *a, int64_t timeout_ms, hob_event **out);
HOB_API int hob_subagent_steer(hob_subagent *a, hob_str text, hob_error *err);
HOB_API int hob_subagent_cancel(hob_subagent *a, hob_error *err); /* does not wait */

/* For the sends that follow: the depth of whoever sends. */
HOB_API void hob_subagent_with_parent_depth(hob_subagent *a, int depth);
/* The session underneath, for everything else (approvals, state, looking). Do not close it. */
HOB_API hob_session *hob_subagent_session(hob_subagent *a);
/* The agent it was made with: the same pointer whatever was sent; NULL = one of the definitions. */
HOB_API hob_agent *hob_subagent_subagent(hob_subagent *a);
/* The system prompt, once, and what was said: rows {"role":"system","text"} and events. Empty before the first send. */
HOB_API int hob_subagent_transcript(hob_subagent *a, hob_page **out, hob_error *err);
HOB_API int hob_subagent_turns(hob_subagent *a); /* sends that completed */
/* Forgets the transcript and the turns; the next send begins anew. HOB_EBUSY. */
HOB_API int hob_subagent_reset(hob_subagent *a, hob_error *err);

#ifdef __cplusplus
}
#endif

#endif
