/*
 * hob/config.h - settings: where they come from, and who said so.
 *
 * The library reads no file and no environment variable by itself. A host that wants hob's usual files and
 * variables calls hob_config_load(); one that wants none of it sets values with hob_config_set().
 * A configuration is built on one thread ([setup]) and immutable once a runtime was created from it.
 *
 * Precedence: flag > environment > workspace (only what a workspace may say) > user > admin > built-in.
 */
#ifndef HOB_CONFIG_H
#define HOB_CONFIG_H

#include <hob/base.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct hob_config hob_config;

typedef enum hob_origin {
    HOB_ORIGIN_BUILTIN,
    HOB_ORIGIN_ADMIN,
    HOB_ORIGIN_USER,
    HOB_ORIGIN_WORKSPACE,
    HOB_ORIGIN_ENV,
    HOB_ORIGIN_FLAG
} hob_origin;

typedef struct hob_config_load_opts {
    size_t size;
    const char *cwd;         /* the workspace; NULL = no workspace file */
    const char *const *envp; /* the environment to read, e.g. `environ`; NULL = none */
    const char *admin_file;  /* NULL = /etc/hob/config.json */
    int trusted;             /* the user trusts the workspace: its hooks, servers, agents count */
} hob_config_load_opts;
#define HOB_CONFIG_LOAD_OPTS_INIT                                                                  \
    { sizeof(hob_config_load_opts), NULL, NULL, NULL, 0 }

HOB_API hob_config *hob_config_create(void); /* built-in defaults only */
HOB_API void hob_config_destroy(hob_config *c);
/* Files and environment, in place of all that was loaded before; flags stay. HOB_ECONFIG (file, line and column
 * in the message): then nothing has changed. */
HOB_API int hob_config_load(hob_config *c, const hob_config_load_opts *o, hob_error *err);
/* A value by dotted path ("permissions.mode"), as JSON text; origin HOB_ORIGIN_FLAG for a host's own wishes.
 * Keys with dots are quoted: providers.lab.models."gpt-4.1".context. An object is merged into what the same
 * origin said before, anything else replaces it; "" is the whole. HOB_ECONFIG says what does not fit. */
HOB_API int hob_config_set(hob_config *c, const char *path, hob_str json, hob_origin origin,
                           hob_error *err);
/* The value in force as JSON text, "" if unset; borrowed, lives until the next set or load. */
HOB_API hob_str hob_config_get(const hob_config *c, const char *path);
/* Who set it: HOB_ORIGIN_…, and its source in words ("~/.config/hob/config.json:3", "HOB_MODEL"). */
HOB_API hob_origin hob_config_origin(const hob_config *c, const char *path, hob_str *source);
/* Calls fn for every leaf in force, in path order; credentials are shown as "***". */
typedef void (*hob_config_fn)(const char *path, hob_str json, hob_origin origin, hob_str source,
                              void *user);
HOB_API void hob_config_each(const hob_config *c, hob_config_fn fn, void *user);
/* Remarks on what was ignored and why (a workspace file that tried to set an endpoint). */
HOB_API size_t hob_config_warnings(const hob_config *c);
HOB_API hob_str hob_config_warning(const hob_config *c, size_t i);
/* The user's folders after load: HOB_HOME or XDG. "" before. */
HOB_API hob_str hob_config_state_dir(const hob_config *c);
HOB_API hob_str hob_config_cache_dir(const hob_config *c);
HOB_API hob_str hob_config_file(const hob_config *c); /* the user's file */

/* The instruction files (AGENTS.md and its like) that a session in this folder reads, in their order, and what is taken
 * of each: "812 bytes", "900 of 5000 bytes, cut: …", "left out, …". Looks at the files now. */
typedef void (*hob_context_fn)(hob_str path, hob_str what, hob_origin origin, void *user);
HOB_API int hob_config_context(const hob_config *c, const char *cwd, hob_context_fn fn, void *user,
                               hob_error *err);

/* ---- trust: whose hooks, servers and agents may act ---------------------------------------- */

/* Did the user say so before, for exactly this folder? 1, 0, or an error, which means no. Pass the answer as
 * `trusted` when somebody sits there; a run on its own takes only what it was given for that run. */
HOB_API int hob_trust_check(const char *state_dir, const char *cwd, hob_error *err);
/* Remembers it. Only for a user who was asked: runs on their own never call this. */
HOB_API int hob_trust_add(const char *state_dir, const char *cwd, hob_error *err);
/* Forgets it: 1, or 0 if it was not trusted. A folder that is gone is named as it was. */
HOB_API int hob_trust_remove(const char *state_dir, const char *cwd, hob_error *err);
/* Calls fn for each trusted folder, in the order in which they were added. */
typedef void (*hob_trust_fn)(hob_str folder, void *user);
HOB_API int hob_trust_list(const char *state_dir, hob_trust_fn fn, void *user, hob_error *err);

#ifdef __cplusplus
}
#endif

#endif
