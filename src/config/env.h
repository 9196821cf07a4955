/*
 * env.h - the environment as the host hands it over, and what hob reads from it.
 */
#ifndef HOB_SRC_CONFIG_ENV_H
#define HOB_SRC_CONFIG_ENV_H

#include "config/tree.h"

/* False for a variable that is not there or empty. */
bool hob_env_get(const char *const *envp, const char *name, hob_str *out);
/* Variables into a layer. HOB_ECONFIG naming the variable. */
int hob_env_read(const char *const *envp, hob_setting *layer, hob_notes *notes, hob_error *err);

/* Appends s with $NAME and ${NAME} put in, "$$" as "$". The first name that has no value is returned
 * in `missing` (borrowed from s) and stays as written. HOB_EINVAL: "${" without "}". */
int hob_expand(hob_str s, const char *const *envp, hob_buf *out, hob_str *missing);

/* roots.c: the user's folders. Absolute, or NULL where the environment names none. */
typedef struct hob_roots {
    char *home; /* HOME */
    char *config_dir, *state_dir, *cache_dir;
    char *file;      /* the user's file */
    bool file_named; /* by HOB_CONFIG: it has to be there */
} hob_roots;
int hob_roots_find(const char *const *envp, hob_roots *out, hob_error *err);
void hob_roots_finish(hob_roots *r);

#endif
