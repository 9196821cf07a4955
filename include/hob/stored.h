/*
 * hob/stored.h - what is stored, changed as a whole: sessions get titles, copies and an end, runs nobody works on too.
 *
 * No session is opened for work: no model, key, folder or agent needs to be there. A session that is open, here or in
 * another process, is its owner's to change: HOB_EBUSY names who has it (copying only reads, and goes on beside it).
 * `of` limits a call to what belongs to an application and user; what is another's is not there (HOB_ENOENT), and NULL
 * is whoever's. Sessions are named by id or unique prefix, runs by id.
 *
 * Looking at what is stored: hob/runtime.h. All calls block. [any]
 */
#ifndef HOB_STORED_H
#define HOB_STORED_H

#include <hob/runtime.h>

#ifdef __cplusplus
extern "C" {
#endif

/* One line of at most 1000 bytes. HOB_EINVAL, HOB_ETOOBIG. */
HOB_API int hob_runtime_rename_session(hob_runtime *rt, const char *session, const hob_tenant *of,
                                       hob_str title, hob_error *err);

/* hob_runtime_remove_session, by its whole id. *kept (nullable): the git worktrees that stay, rows {"folder","branch"?}. */
HOB_API int hob_runtime_remove_session_of(hob_runtime *rt, const char *session,
                                          const hob_tenant *of, hob_page **kept, hob_error *err);

typedef struct hob_fork_opts {
    size_t size;
    const char *session;  /* which */
    const hob_tenant *of; /* whose it must be; the copy is theirs, too */
    const char *entry;    /* the last message of the copy ("e12"); NULL = where it stands */
    const char *id;       /* of the copy; NULL = a new one. HOB_EEXIST */
} hob_fork_opts;
#define HOB_FORK_OPTS_INIT                                                                         \
    { .size = sizeof(hob_fork_opts) }
/* A copy of the conversation up to an entry, with the settings and the state of then; the original stays as it is.
 * *out has the row of the copy. */
HOB_API int hob_runtime_fork_session(hob_runtime *rt, const hob_fork_opts *o, hob_page **out,
                                     hob_error *err);

/* Ends a run that a process left, or that waits for an approval, with everything that works for it: calls whose outcome
 * is not known become `unknown`, what waits is denied. HOB_EIDLE: it is over. One that is at work is cancelled by its
 * owner (hob_session_cancel). */
HOB_API int hob_runtime_cancel_run(hob_runtime *rt, const char *run, const hob_tenant *of,
                                   hob_error *err);

typedef struct hob_search_opts {
    size_t size;
    const char *query;    /* all of its words must be there; the last may be the beginning of one */
    const hob_tenant *of; /* NULL = hob's own: a search is always of one application and user */
    const char *cursor;
    size_t limit; /* 0 = 20 */
} hob_search_opts;
#define HOB_SEARCH_OPTS_INIT                                                                       \
    { .size = sizeof(hob_search_opts) }
/* Messages of user and model, and titles, that have these words, newest first: rows {"session","title","cwd","parent"?,
 * "role","seq"?,"time","snippet"}. Words are compared as hob/memory.h does. The first search of a store reads all that it
 * is about, later ones what is new. */
HOB_API int hob_runtime_search(hob_runtime *rt, const hob_search_opts *o, hob_page **out,
                               hob_error *err);

/* Stored events of one run with seq > after, as hob_runtime_events gives those of a session. */
HOB_API int hob_runtime_run_events(hob_runtime *rt, const char *run, uint64_t after, size_t limit,
                                   hob_page **out, hob_error *err);

/* A run as hob_runtime_find_run has it; one that is over with `result`: the text of its answer, and what its run_finished
 * says (usage, cost, turns). */
HOB_API int hob_runtime_run_result(hob_runtime *rt, const char *run, const hob_tenant *of,
                                   hob_page **out, hob_error *err);

/* ---- from one store to another ------------------------------------------------------------------ */

enum { HOB_EXPORT_VERSION = 1 };

/* One line of JSON without its newline; negative = stop, which becomes the answer of the call. */
typedef int (*hob_line_fn)(hob_str line, void *user);
/* A session and all that worked for it, as lines (docs/export.md), with their artifacts. What it shares with others (app:
 * and user: state, user: artifacts, memory) is not part of it. `fn` is called on the thread that calls. */
HOB_API int hob_runtime_export_session(hob_runtime *rt, const char *session, const hob_tenant *of,
                                       hob_line_fn fn, void *user, hob_error *err);

/* Lines of an export, given one by one and judged at once: HOB_EPARSE, HOB_EVERSION, HOB_ETOOBIG with the number of the
 * line. The sessions become those of `into` (NULL = hob, local). Nothing is stored before hob_import_commit. One thread
 * at a time; to be destroyed before the runtime. */
typedef struct hob_import hob_import;
HOB_API int hob_import_create(hob_runtime *rt, const hob_tenant *into, hob_import **out,
                              hob_error *err);
HOB_API int hob_import_line(hob_import *im, hob_str line, hob_error *err);
/* All or nothing. Ids that are taken are replaced: rows {"id","from"?,"parent"?,"events","artifacts"?}, the session first, then
 * its sub-agents. What was under way in it is ended: nothing of an import goes on by itself. */
HOB_API int hob_import_commit(hob_import *im, hob_page **out, hob_error *err);
HOB_API void hob_import_destroy(hob_import *im);

#ifdef __cplusplus
}
#endif

#endif
