/*
 * hob/runtime.h - the runtime: one loop, one store, any number of sessions.
 *
 * Life cycle: hob_config_create (and hob_config_load, if hob's usual files and variables are wanted) ->
 * hob_runtime_create -> sessions (hob/session.h) -> hob_runtime_destroy, which closes what is still open.
 *
 * Two ways to live in a program:
 *   own thread   (default) the runtime runs its loop on a thread of its own; calls may come from any thread.
 *   host loop    the host polls hob_runtime_fd() for reading, at most hob_runtime_timeout() milliseconds, and calls
 *                hob_runtime_process(). Blocking calls made on that thread run the loop meanwhile; made inside one
 *                of hob's callbacks they return HOB_EDEADLK.
 *
 * Thread rule: calls are marked [any], [loop] (the thread that drives the loop) or [setup] (before the first session).
 * The library installs no signal handlers, writes to no standard stream, and starts no thread but the loop's (own
 * thread mode), the store's writer, and at most `workers` workers.
 */
#ifndef HOB_RUNTIME_H
#define HOB_RUNTIME_H

#include <hob/config.h>
#include <hob/event.h>
#include <hob/state.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct hob_runtime hob_runtime;

typedef enum hob_loop_mode { HOB_LOOP_OWN_THREAD, HOB_LOOP_HOST } hob_loop_mode;

typedef struct hob_runtime_opts {
    size_t size;
    const hob_config *config; /* must outlive the runtime; NULL = built-in defaults */
    hob_loop_mode loop;
    const char *store; /* sqlite | sqlite:FILE | memory; NULL = the configuration's, else memory */
    const char *state_dir; /* where `sqlite` lives; NULL = the configuration's */
    const char
        *exec_helper; /* path of hob-exec; NULL = libexec_dir, else the copy inside the library */
    const char *libexec_dir;
    const char *const *envp; /* variables that commands may see (filtered); NULL = a bare PATH */
    unsigned workers;        /* worker threads at most; 0 = 4 */
    const struct hob_memory_ops
        *memory; /* memory that the host keeps (hob/ext/memory.h); NULL = here */
} hob_runtime_opts;
#define HOB_RUNTIME_OPTS_INIT                                                                      \
    { sizeof(hob_runtime_opts), NULL, HOB_LOOP_OWN_THREAD, NULL, NULL, NULL, NULL, NULL, 0, NULL }

HOB_API int hob_runtime_create(const hob_runtime_opts *o, hob_runtime **out, hob_error *err);
/* Closes every session (parked and running work stays resumable), then frees. Not inside a callback. */
HOB_API void hob_runtime_destroy(hob_runtime *rt);

/* Called on the loop thread for every event that became durable, of all sessions open here, sub-agents too, whether
 * anybody reads them or not. It only takes note: no call that waits. */
typedef void (*hob_watch_fn)(hob_event *e, void *user);
HOB_API int hob_runtime_watch(hob_runtime *rt, hob_watch_fn fn, void *user, hob_error *err);
/* When it has returned, fn is not called any more. [any] */
HOB_API int hob_runtime_unwatch(hob_runtime *rt, hob_watch_fn fn, void *user, hob_error *err);
HOB_API const hob_config *hob_runtime_config(hob_runtime *rt); /* in force; the runtime's. [any] */

/* Host loop mode. [loop] */
HOB_API int hob_runtime_fd(hob_runtime *rt);
HOB_API int hob_runtime_timeout(hob_runtime *rt); /* ms, -1 = none */
HOB_API int hob_runtime_process(hob_runtime *rt);
/* Makes one call that waits for events or for the end of the work look around: HOB_EAGAIN; the next one, if none does.
 * [any], async-signal-safe. */
HOB_API void hob_runtime_wake(hob_runtime *rt);

/* ---- what is stored: no session needs to be open ------------------------------------------- */

/* A page of rows: JSON objects, newest first. */
typedef struct hob_page hob_page;
HOB_API size_t hob_page_count(const hob_page *p);
HOB_API hob_str hob_page_row(const hob_page *p, size_t i); /* one JSON object */
HOB_API hob_str hob_page_next(const hob_page *p); /* cursor of the next page, "" = the last */
HOB_API void hob_page_destroy(hob_page *p);

typedef struct hob_page_opts {
    size_t size;
    const char *cwd;     /* sessions of this folder only */
    const char *session; /* runs of this session only */
    const char *status;  /* runs with this status only */
    const char *cursor;
    size_t limit;         /* 0 = 50 */
    const char *parent;   /* sessions that work for this one, the newest made first */
    unsigned flags;       /* HOB_PAGE_… */
    const char *app_name; /* of this application only; rows have "app" and "user" */
    const char *user_id;  /* and of this user of it only */
} hob_page_opts;
#define HOB_PAGE_OPTS_INIT                                                                         \
    { .size = sizeof(hob_page_opts) }
enum { HOB_PAGE_ALL = 1 }; /* sessions: sub-agents too, the newest made first; not with cwd */

/* Reads index rows only, never a log. Sessions that work for another have "parent"; they are listed only when asked
 * for. Blocking. [any] */
HOB_API int hob_runtime_sessions(hob_runtime *rt, const hob_page_opts *o, hob_page **out,
                                 hob_error *err);
HOB_API int hob_runtime_runs(hob_runtime *rt, const hob_page_opts *o, hob_page **out,
                             hob_error *err);
/* One row by id or unique prefix. HOB_ENOENT, HOB_EAMBIGUOUS. */
HOB_API int hob_runtime_find_session(hob_runtime *rt, const char *id, hob_page **out,
                                     hob_error *err);

/* Whose a session must be: what belongs to another is not there (HOB_ENOENT). NULL instead of one = whoever's. */
typedef struct hob_tenant {
    size_t size;
    const char *app_name; /* NULL = any */
    const char *user_id;  /* NULL = any; not without app_name */
} hob_tenant;
#define HOB_TENANT_INIT                                                                            \
    { sizeof(hob_tenant), NULL, NULL }
HOB_API int hob_runtime_find_session_of(hob_runtime *rt, const char *id, const hob_tenant *of,
                                        hob_page **out, hob_error *err);
/* A number that no other session of the store has, or ever had: one that was removed and made anew, or brought back from
 * an export, has another. HOB_ENOENT. */
HOB_API int hob_runtime_session_number(hob_runtime *rt, const char *id, uint64_t *out,
                                       hob_error *err);
/* One row by its whole id. HOB_ENOENT. */
HOB_API int hob_runtime_session_row(hob_runtime *rt, const char *id, const hob_tenant *of,
                                    hob_page **out, hob_error *err);
HOB_API int hob_runtime_find_run(hob_runtime *rt, const char *id, const hob_tenant *of,
                                 hob_page **out, hob_error *err);
/* Stored events with seq > after, as rows; `limit` 0 = 1000. The session may be owned by anybody. */
HOB_API int hob_runtime_events(hob_runtime *rt, const char *session, uint64_t after, size_t limit,
                               hob_page **out, hob_error *err);
/* The state of a stored session, and what it shares with others; whoever owns it. hob_state_destroy. */
HOB_API int hob_runtime_session_state(hob_runtime *rt, const char *session, hob_state **out,
                                      hob_error *err);
/* The conversation of a stored session: rows as hob_session_history has them; whoever owns it. */
HOB_API int hob_runtime_history(hob_runtime *rt, const char *session, hob_page **out,
                                hob_error *err);
/* All of its branches: rows as hob_session_tree has them; whoever owns it. */
HOB_API int hob_runtime_tree(hob_runtime *rt, const char *session, hob_page **out, hob_error *err);
/* What is under way in it: rows as hob_session_under_way has them; whoever owns it. */
HOB_API int hob_runtime_under_way(hob_runtime *rt, const char *session, hob_page **out,
                                  hob_error *err);
/* What took how long in a stored session (or one run of it; NULL = all): rows {"kind","name","trace_id","span_id",
 * "parent_id"?,"run_id","agent"?,"seq","start_ms","end_ms"?,"duration_ms"?,"status","attributes"} as they ended, those that
 * are not over last. docs/telemetry.md */
HOB_API int hob_runtime_trace(hob_runtime *rt, const char *session, const char *run, hob_page **out,
                              hob_error *err);
/* What waits for an answer in a stored session: rows as hob_session_pending_confirmations has them. */
HOB_API int hob_runtime_pending_confirmations(hob_runtime *rt, const char *session, hob_page **out,
                                              hob_error *err);
/* With its sub-agents, whose work is part of it, and their git worktrees, unless those have changes: returns how many
 * were kept (hob/stored.h names them). HOB_EBUSY: one of them is open; nothing was removed. */
HOB_API int hob_runtime_remove_session(hob_runtime *rt, const char *session, hob_error *err);
/* Names that can be given as a model: rows {"name","provider","context","output","images","priced","key","default"?}. */
HOB_API int hob_runtime_models(hob_runtime *rt, hob_page **out, hob_error *err);

#ifdef __cplusplus
}
#endif

#endif
