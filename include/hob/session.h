/*
 * hob/session.h - a session: a conversation in which a model works with tools, and of which nothing is lost.
 *
 * Life cycle: hob_session_create -> hob_session_prompt -> events -> hob_session_close. A prompt starts a run; the run
 * ends with run_finished; when nothing is queued any more the session is settled. Everything that happens is an event
 * in the session's log (hob/event.h). What a call returns and what a reader sees is durable: it survives kill -9.
 *
 * Reading events is optional: nothing depends on anybody reading. A reader that is slow gets streamed text in larger
 * pieces; it never holds up the work.
 *
 * Every call is [any] unless marked. Handles are not reference counted: close once, last. Calls of other threads that
 * wait at that time come back with HOB_ECANCELLED; none may begin afterwards.
 */
#ifndef HOB_SESSION_H
#define HOB_SESSION_H

#include <hob/agent.h>
#include <hob/definitions.h>
#include <hob/runtime.h>
#include <hob/shared.h>
#include <hob/tool.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct hob_session hob_session;

typedef enum hob_choice {
    HOB_SESSION_NEW,
    HOB_SESSION_CONTINUE, /* the newest one of cwd; HOB_ENOENT if there is none */
    HOB_SESSION_OPEN,     /* `id`, or a unique prefix of one */
    HOB_SESSION_IN_MEMORY /* gone when closed */
} hob_choice;

/* What to do with a run that a dead process left unfinished. A run that waits for an approval is not unfinished: it
 * goes on waiting, whatever is chosen here. */
typedef enum hob_on_unfinished {
    HOB_UNFINISHED_RESUME, /* continue it */
    HOB_UNFINISHED_SETTLE, /* end it; calls whose outcome is not known become `unknown` */
    HOB_UNFINISHED_LEAVE /* decide later: hob_session_resume, or a prompt or cancel, which settle it;
                              closing leaves it as it is */
} hob_on_unfinished;

typedef enum hob_approver {
    HOB_APPROVER_NONE, /* nobody can be asked: calls that need an approval are denied */
    HOB_APPROVER_HOST  /* the host answers (hob/approval.h), also what the model asks the user */
} hob_approver;

enum {
    HOB_SESSION_NO_BUILTIN_TOOLS = 1,
    HOB_SESSION_CONTEXT_FILES =
        2, /* read AGENTS.md / CLAUDE.md of cwd and its parents into the system prompt */
    HOB_SESSION_STEER_AFTER_BATCH =
        4, /* steering waits for all calls of the answer instead of skipping the rest */
    HOB_SESSION_STEER_ALL = 8, /* deliver all steering messages at once */
    HOB_SESSION_FORK = 16,     /* OPEN or CONTINUE: work on a copy, the original stays as it is */
    HOB_SESSION_NO_DELEGATION = 32, /* the model is not offered the task tool */
    HOB_SESSION_NO_MEMORY = 64,     /* hob/memory.h: neither for the host nor for the model */
    HOB_SESSION_KEEP_MODE =
        128, /* the permission mode that its log has, unless permission_mode is given and narrower */
    HOB_SESSION_KEEP_LIMITS =
        256 /* max_… and timeout_ms are its own from now on: whoever opens it */
};

typedef struct hob_session_opts {
    size_t size;
    hob_choice choice;
    const char *id;  /* OPEN: which; NEW: the id to give it (NULL = made) */
    const char *cwd; /* absolute; the first root of the tools. NULL: none for files and commands */
    const char *const *add_dirs; /* further roots, NULL-terminated; may be NULL */
    const char *model;           /* hint; NULL = the session's, else the configuration's */
    const char *thinking; /* off minimal low medium high xhigh; NULL = the model's or session's */
    const char *system_prompt; /* replaces hob's own; NULL = the session's, else hob's own */
    const char *append_system_prompt;
    const char *permission_mode; /* ask accept-edits plan yolo; NULL = the configuration's */
    const char *const *allow;    /* rules, NULL-terminated; may be NULL */
    const char *const *deny;
    hob_approver approver;
    hob_on_unfinished on_unfinished;
    unsigned flags;
    int64_t max_turns, max_tokens, max_tool_calls,
        timeout_ms; /* 0 = the configuration's, else none */
    double max_cost_usd;
    const hob_tool *tools; /* tools of the host */
    size_t ntools;
    hob_definitions *definitions; /* agents, skills and commands for its runs; NULL = none */
    const char *agent_name; /* of those, the one to be; "" = hob's own, NULL = the session's */
    hob_agent
        *team; /* agents that do the work of its runs (hob/agent.h); NULL = it does so itself */
    hob_str app_name,
        user_id; /* whose app: and user: state it shares; NULL = hob, local. 1 to 512 bytes of UTF-8
                                  without NUL. An existing session has its own: another's is HOB_ENOENT */
    hob_str
        state; /* JSON object: what a new session (or a copy, over what it copies) begins with; temp: keys in it
                      are left out */
    /* Called before the agents' own, whichever agent works (docs/callbacks.md). Without a team before_agent and
     * after_agent are not called. */
    const hob_agent_callbacks *callbacks;
    const struct hob_backend_ops
        *backend; /* who does the work of the built-in tools (hob/ext/backend.h); NULL = hob */
    void *backend_user;
    const char
        *key; /* NEW: by which the host knows it again, at most 128 bytes; in session_opened */
} hob_session_opts;
#define HOB_SESSION_OPTS_INIT                                                                      \
    { .size = sizeof(hob_session_opts) }

/* All or nothing. HOB_EBUSY (open in another process, or in this one: the message names it), HOB_ENOENT,
 * HOB_EAMBIGUOUS, HOB_EEXIST (an id to give that is taken), HOB_EINVAL, HOB_EAUTH, HOB_ECONFIG, HOB_EVERSION,
 * HOB_ESTORE. Blocking. */
HOB_API int hob_session_create(hob_runtime *rt, const hob_session_opts *o, hob_session **out,
                               hob_error *err);
/* Stops admitting, cancels what runs, denies what waits for an approval, drains (at most 5 s, then kills), flushes,
 * frees. Not inside a callback: there it does nothing. */
HOB_API void hob_session_close(hob_session *s);
/* Lets go of the session and frees the handle without ending anything: a run under way stays unfinished in the log and
 * can be resumed, one that waits for an approval goes on waiting. Not inside a callback: there it does nothing. */
HOB_API void hob_session_detach(hob_session *s);

/* ---- work ---------------------------------------------------------------------------------------- */

/* Starts a run and returns when that is durable. HOB_EBUSY: a run is under way. A text that begins with /NAME of a
 * command or skill of the definitions, or with /skill:NAME, becomes what that stands for; so it is with steering and
 * follow-ups. */
HOB_API int hob_session_prompt(hob_session *s, hob_str text, hob_error *err);
/* The same with content blocks (docs/messages.md): a JSON array of text and image blocks. */
HOB_API int hob_session_prompt_content(hob_session *s, hob_str content_json, hob_error *err);
/* Delivered after the running tool; the calls of the answer not yet started are skipped. HOB_EIDLE when idle. */
HOB_API int hob_session_steer(hob_session *s, hob_str text, hob_error *err);
/* Delivered when all current work is done; survives a restart. HOB_EIDLE when idle. */
HOB_API int hob_session_follow_up(hob_session *s, hob_str text, hob_error *err);
/* Several, in this order and in one commit; all of them or, if one cannot be taken, none. At most 64 wait at once. */
HOB_API int hob_session_steer_all(hob_session *s, const hob_str *texts, size_t n, hob_error *err);
/* Returns when that is durable. What is under way (an answer, calls, sub-agents) comes to its end, nothing new
 * begins; then the run is parked, in this process or another, until it is resumed or cancelled, and its clock stands.
 * Steering and approvals are taken meanwhile and count later. Twice is fine. HOB_EIDLE: no run; HOB_ENOSYS: of
 * HOB_SESSION_IN_MEMORY, where nothing can go on later. */
HOB_API int hob_session_pause(hob_session *s, hob_error *err);
/* Continues a paused run, or an unfinished one (HOB_UNFINISHED_LEAVE). HOB_EIDLE if there is none. */
HOB_API int hob_session_resume(hob_session *s, hob_error *err);

/* What a message became. */
typedef struct hob_receipt {
    size_t size;
    char run[64]; /* the run that it started, or is queued in */
    uint64_t seq; /* the first event about it: run_started, steer_queued or follow_up_queued */
} hob_receipt;
#define HOB_RECEIPT_INIT                                                                           \
    { .size = sizeof(hob_receipt) }

typedef enum hob_send { HOB_SEND_PROMPT, HOB_SEND_STEER, HOB_SEND_FOLLOW_UP } hob_send;
/* Any of the three with content blocks, telling what became of it; `out` is nullable. Errors as there. */
HOB_API int hob_session_send(hob_session *s, hob_send how, hob_str content_json, hob_receipt *out,
                             hob_error *err);

typedef enum hob_update {
    HOB_UPDATE_PROGRESS, /* how it stands; the call stays pending */
    HOB_UPDATE_RESULT,   /* the result: the work goes on with it */
    HOB_UPDATE_FAILURE,  /* it failed; the model is told, and goes on */
    HOB_UPDATE_RESULT_HELD,
    HOB_UPDATE_FAILURE_HELD /* the same, but nothing starts: more are to come */
} hob_update;

/* What became of a call of a HOB_TOOL_LONG_RUNNING tool; content: a JSON array of text and image blocks. It takes the
 * place of the receipt in the conversation. RESULT and FAILURE start a run, with the agent that made the call. HOB_ENOENT: no such
 * call in this conversation; HOB_EEXIST: it has its result; HOB_EBUSY: a run is under way. */
HOB_API int hob_session_tool_update(hob_session *s, hob_str call, hob_update what,
                                    hob_str content_json, hob_error *err);

/* Calls that wait for their result: rows {"call","tool","args","agent"?}. */
HOB_API int hob_session_pending_calls(hob_session *s, hob_page **out, hob_error *err);

typedef enum hob_queue_choice {
    HOB_QUEUED_RETURN, /* waiting messages come back in a queue_returned event */
    HOB_QUEUED_KEEP,   /* they stay for the next run */
    HOB_QUEUED_DROP
} hob_queue_choice;

/* Asks the run to stop and returns when that is durable; nothing is a success too. Tools get up to 5 s to wind down. */
HOB_API int hob_session_cancel(hob_session *s, hob_queue_choice q, hob_error *err);
/* Cancels and waits until the session is settled. */
HOB_API int hob_session_cancel_and_settle(hob_session *s, hob_queue_choice q, int64_t timeout_ms,
                                          hob_error *err);
/* One call of a tool that is at work, the run goes on with what it says then; again: without grace. Of a sub-agent:
 * "CHILD/CALL". HOB_ENOENT: no such call is. */
HOB_API int hob_session_cancel_call(hob_session *s, hob_str call, hob_error *err);
/* Cancel without grace: processes are killed, tools that do not answer become `unknown`. Usable at once. */
HOB_API int hob_session_abort(hob_session *s, hob_error *err);
HOB_API int hob_session_is_running(
    hob_session *s); /* 1 also while parked, 0 when left unfinished */
/* 1 while it waits for an approval only, or was paused and nothing is under way any more. */
HOB_API int hob_session_is_parked(hob_session *s);
HOB_API int hob_session_is_paused(hob_session *s); /* 1 from pausing to resuming */

/* ---- results ---------------------------------------------------------------------------------------- */

/* How the last prompt (with its follow-ups) ended. */
typedef struct hob_result hob_result;
HOB_API hob_str hob_result_json(const hob_result *r); /* the result as docs/cli.md has it */
HOB_API hob_str
hob_result_status(const hob_result *r); /* completed failed cancelled interrupted limit parked */
HOB_API hob_str hob_result_text(const hob_result *r);
HOB_API int hob_result_code(const hob_result *r); /* HOB_OK when completed, else the HOB_E code */
HOB_API void hob_result_destroy(hob_result *r);

/* Waits until the session is settled, or parked with HOB_APPROVER_NONE; timeout_ms < 0 = for ever, 0 = not at
 * all: then parked is an answer with any approver. HOB_ETIMEDOUT; HOB_EAGAIN after hob_runtime_wake. `out` may be
 * NULL. */
HOB_API int hob_session_wait(hob_session *s, int64_t timeout_ms, hob_result **out, hob_error *err);
HOB_API int hob_session_prompt_and_wait(hob_session *s, hob_str text, int64_t timeout_ms,
                                        hob_result **out, hob_error *err);

/* ---- events ----------------------------------------------------------------------------------------- */

/* The next event: 1 and *out (to be unref'ed); 0 = no more: everything was read and nothing will happen by itself (the
 * session is settled, left unfinished, or parked with HOB_APPROVER_NONE); HOB_ETIMEDOUT; HOB_EAGAIN after
 * hob_runtime_wake; HOB_ESTORE when the store failed. Starts with the first event after the handle was created, unless
 * hob_session_seek says otherwise. An answer comes as message_open and deltas that add up to it, and then as
 * assistant_message, however late it is read; history that hob_session_seek goes back to has no deltas. */
HOB_API int hob_session_next_event(hob_session *s, int64_t timeout_ms, hob_event **out);
/* Becomes readable when hob_session_next_event would not wait. The fd stays the session's. */
HOB_API int hob_session_fd(hob_session *s);
/* Reads on from the event after `seq`; 0 = from the beginning of the log. */
HOB_API int hob_session_seek(hob_session *s, uint64_t seq);
/* Instead of hob_session_next_event: called on the loop thread for each event; must not block. NULL = off. */
typedef void (*hob_event_fn)(hob_session *s, hob_event *e, void *user);
HOB_API int hob_session_on_event(hob_session *s, hob_event_fn fn, void *user);

/* Further readers, each with its own cursor and pace, beside the handle's. A slow one gets streamed text in larger pieces
 * and older events from the store; it holds up nobody and keeps little memory. `after` as with hob_session_seek: an
 * answer that is being made comes as message_open with its text so far. */
typedef struct hob_reader hob_reader;
/* On the loop thread, once after hob_reader_next returned 0: it would not now. Only takes note; may call
 * hob_reader_next and hob_reader_close. */
typedef void (*hob_ready_fn)(void *user);
HOB_API int hob_session_reader(hob_session *s, uint64_t after, hob_ready_fn ready, void *user,
                               hob_reader **out, hob_error *err);
/* Never waits: 1 and *out (to be unref'ed); 0 = nothing now; HOB_ECANCELLED = the session was closed or let go of;
 * HOB_ESTORE: close it, and go on with another from the last seq. One thread at a time. */
HOB_API int hob_reader_next(hob_reader *r, hob_event **out);
/* Before the runtime is destroyed; before or after the session is closed. `ready` is not called any more. */
HOB_API void hob_reader_close(hob_reader *r);

/* ---- settings ----------------------------------------------------------------------------------------- */

/* For the next model call; on error the old model stays. HOB_ENOENT, HOB_EAMBIGUOUS, HOB_EAUTH. */
HOB_API int hob_session_set_model(hob_session *s, const char *hint, hob_error *err);
HOB_API int hob_session_set_thinking(hob_session *s, const char *level, hob_error *err);
/* ask accept-edits plan yolo: for the calls that are decided from now on; sub-agents at work keep theirs. HOB_EINVAL,
 * HOB_ECONFIG (the administrator's policy), HOB_EACCES (wider than the agent that it is may be), HOB_EBUSY (agents of a
 * team are at work): then the old one stays. */
HOB_API int hob_session_set_permission_mode(hob_session *s, const char *mode, hob_error *err);
HOB_API int hob_session_set_title(hob_session *s, hob_str title,
                                  hob_error *err); /* one line, 1000 bytes */
/* A session in which nothing was said yet is stored, too: without this one that was never used leaves no trace. */
HOB_API int hob_session_save(hob_session *s, hob_error *err);
/* W3C trace context ("00-…") that the runs started from now on are part of; "" = none. HOB_EINVAL. docs/telemetry.md */
HOB_API int hob_session_set_traceparent(hob_session *s, hob_str traceparent, hob_error *err);
HOB_API int hob_session_add_tool(hob_session *s, const hob_tool *tool, hob_error *err);

/* ---- state (hob/state.h) -------------------------------------------------------------------------------- */

/* A snapshot; *revision (nullable) is the token for hob_session_apply_state_delta_at, as long as the session is open.
 * What it shows is durable. hob_state_destroy. */
HOB_API int hob_session_state(hob_session *s, hob_state **out, uint64_t *revision, hob_error *err);
/* The JSON text, NUL-terminated and cut at cap. Returns its full length, or HOB_ENOENT. */
HOB_API int hob_session_state_get(hob_session *s, hob_str key, char *buf, size_t cap);
typedef int (*hob_state_fn)(hob_str key, hob_str value, void *user); /* not 0 = stop */
/* In the order of the keys' bytes, over a snapshot: `fn` may use the session. Returns what fn returned last. */
HOB_API int hob_session_state_iterate(hob_session *s, unsigned scopes, hob_state_fn fn, void *user);
/* Each is one state_changed event, durable when the call returns. HOB_EINVAL (the key), HOB_EPARSE, HOB_ETOOBIG (65,536
 * keys, 64 MiB), HOB_EIDLE: a temp: key while nothing runs. Tools use hob_reply_state instead. */
HOB_API int hob_session_state_set(hob_session *s, hob_str key, hob_str value_json, hob_error *err);
HOB_API int hob_session_state_delete(hob_session *s, hob_str key,
                                     hob_error *err); /* absent is fine */
/* A JSON object of keys set and a JSON array of keys removed, either may be "": all or nothing. */
HOB_API int hob_session_apply_state_delta(hob_session *s, hob_str delta, hob_str removed,
                                          hob_error *err);
/* The same if the state is still at `revision`, otherwise HOB_EBUSY and nothing happened: look again. */
HOB_API int hob_session_apply_state_delta_at(hob_session *s, uint64_t revision, hob_str delta,
                                             hob_str removed, hob_error *err);

/* The conversation and the state (without temp:) as a snapshot of hob/shared.h: histories of single agents, isolated or
 * narrated, a shared session to go on with, an export. Its authors are the agents; the session's own is "model". */
HOB_API int hob_session_share(hob_session *s, hob_shared_snapshot **out, hob_error *err);

#ifdef __cplusplus
}
#endif

#include <hob/approval.h>
#include <hob/send.h>
#include <hob/view.h>

#endif
