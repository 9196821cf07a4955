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

#include <hob/agents.h>
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
/* From now on it cannot be told to stop. */
HOB_API int hob_tracker_clear(hob_tracker *t, const char *id, hob_error *err);
/* `status`: completed, failed, cancelled, interrupted or limit. One that was cancelled stays cancelled, whatever it ends
 * with. HOB_EEXIST: it has ended. One that never started is kept, but in nobody's list. */
HOB_API int hob_tracker_end(hob_tracker *t, const char *id, const char *status, hob_str text,
                            hob_error *err);

#ifdef __cplusplus
}
#endif

#endif
