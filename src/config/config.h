/*
 * config.h - what the other folders need of settings beyond <hob/config.h>.
 */
#ifndef HOB_SRC_CONFIG_H
#define HOB_SRC_CONFIG_H

#include <hob/config.h>

#include "base/json.h"

/* Typed look-ups by dotted path. */
hob_str hob_config_str(const hob_config *c, const char *path); /* decoded, "" if unset */
int64_t hob_config_int(const hob_config *c, const char *path, int64_t otherwise);
double hob_config_double(const hob_config *c, const char *path, double otherwise);
bool hob_config_bool(const hob_config *c, const char *path, bool otherwise);
const hob_json *hob_config_json(const hob_config *c, const char *path); /* NULL if unset */

/* The variable that the value at `path` refers to and that was not there ("LAB_KEY"); "" = none. */
hob_str hob_config_missing(const hob_config *c, const char *path);
/* The variable that sets the key of a standard provider ("ANTHROPIC_API_KEY"), or NULL. */
const char *hob_config_key_variable(hob_str provider);
/* The folder of the user's file and AGENTS.md, and HOME, after load; "" before. */
hob_str hob_config_dir(const hob_config *c);
hob_str hob_config_home(const hob_config *c);
/* A configuration of one's own to set things in, for a session that differs from its runtime: flags set in it
 * meet the same policy as any others. */
hob_config *hob_config_dup(const hob_config *c);

/* context.c: AGENTS.md / CLAUDE.md chain. Appends each file found as a labelled block, outermost first. */
typedef struct hob_context_opts {
    const char *cwd;
    const char *config_dir; /* the user's own AGENTS.md lives here; NULL = none */
    size_t max_total;       /* 0 = 32 KiB */
    hob_context_fn fn;      /* told of each file, too; may be NULL */
    void *user;
} hob_context_opts;
/* Names of the files used (and of those cut or left out, with why) are appended to `origins`, one a line. */
int hob_context_load(const hob_context_opts *o, hob_buf *text, hob_buf *origins);

#endif
