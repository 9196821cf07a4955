/*
 * sessions.h - the parts of `hob sessions`: one verb, one function.
 */
#ifndef HOB_SRC_CLI_SESSIONS_H
#define HOB_SRC_CLI_SESSIONS_H

#include <hob/stored.h>

#include "cli/cli.h"

typedef struct hob_sessions_opts {
    hob_common common; /* first: hob_cli_parse relies on it */
    bool json, all;
    int64_t limit;
    const char *cursor, *app, *user, *entry, *session_id, *format, *file;
} hob_sessions_opts;

/* A verb that is carried out. */
typedef struct hob_sessions_job {
    hob_cli *cli;
    const hob_sessions_opts *o;
    const hob_words *words; /* behind the verb */
    hob_tenant of;
} hob_sessions_job;

/* The row of the session that is meant: by id or its beginning, else (NULL) the newest of this folder. */
int hob_sessions_find(hob_sessions_job *j, const char *wanted, hob_page **out, hob_error *err);
/* The same, its whole id. The caller frees it. */
int hob_sessions_find_id(hob_sessions_job *j, const char *wanted, char **out, hob_error *err);
const char *hob_sessions_word(const hob_sessions_job *j, size_t i); /* NULL = not given */

/* sessions_state.c, sessions_tree.c, sessions_change.c */
int hob_sessions_state(void *job, hob_error *err);
int hob_sessions_tree(void *job, hob_error *err);
int hob_sessions_fork(void *job, hob_error *err);
int hob_sessions_rename(void *job, hob_error *err);
int hob_sessions_delete(void *job, hob_error *err);
int hob_sessions_export(void *job, hob_error *err); /* sessions_move.c */
int hob_sessions_import(void *job, hob_error *err);
/* sessions_text.c: the conversation as Markdown */
int hob_sessions_markdown(hob_sessions_job *j, hob_str row, hob_out *out, hob_error *err);
int hob_sessions_search(void *job, hob_error *err); /* sessions_search.c */

#endif
