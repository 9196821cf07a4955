/*
 * known.h - every setting there is: its place, its type, and which of two values is the stricter.
 *
 * One row a setting (known.c). What a workspace may say and what an administrator's policy binds
 * follows from the row's `bound`, so a new setting is closed to workspaces until its row says else.
 */
#ifndef HOB_SRC_CONFIG_KNOWN_H
#define HOB_SRC_CONFIG_KNOWN_H

#include "config/tree.h"

typedef enum hob_kind {
    HOB_KIND_WORD, /* one of `words` */
    HOB_KIND_BOOL,
    HOB_KIND_INT,    /* min..max */
    HOB_KIND_NUMBER, /* min..max */
    HOB_KIND_URL,    /* http or https */
    HOB_KIND_STORE,
    HOB_KIND_NAME,    /* goes into a header or a request line: no control characters, not empty */
    HOB_KIND_STRINGS, /* array of strings */
    HOB_KIND_OBJECTS, /* array of objects */
    HOB_KIND_OBJECT,  /* an object taken as a whole */
    HOB_KIND_NULL     /* null, or an object described by further rows */
} hob_kind;

typedef enum hob_bound {
    HOB_BOUND_NONE,  /* no order: a workspace may not set it, a policy replaces it */
    HOB_BOUND_MODEL, /* a workspace may choose among the providers of others */
    HOB_BOUND_TRUST, /* a workspace may add, once it is trusted, but not change what is there */
    HOB_BOUND_RULES, /* more rules are stricter: those of all layers hold */
    HOB_BOUND_GRANTS, /* rules that allow: those of all layers but the workspace; a policy replaces */
    HOB_BOUND_MODE,   /* plan < ask < accept-edits < yolo */
    HOB_BOUND_LEVEL, /* full < auto, landlock < off */
    HOB_BOUND_FALSE, /* false is stricter */
    HOB_BOUND_PATHS, /* some of the paths in force; not folders in them, which could be links */
    HOB_BOUND_LOWER  /* a lower number is stricter, null is none at all */
} hob_bound;

enum {
    HOB_KNOWN_SECRET = 1,   /* shown as "***" */
    HOB_KNOWN_VARIABLE = 2, /* "$NAME" in it is looked up in the environment */
    HOB_KNOWN_NULLABLE = 4,
    HOB_KNOWN_CONCAT = 8 /* arrays of several layers are joined, not replaced */
};

#define HOB_KNOWN_ANY 9e15 /* as a maximum: none. Every integer up to here is exact as a double. */

typedef struct hob_known {
    const char *path; /* "*" stands for any key */
    hob_kind kind;
    hob_bound bound;
    unsigned flags;
    const char *const *words;
    double min, max;
} hob_known;

const hob_known *hob_known_at(size_t i); /* all rows, one after the other; NULL behind the last */
/* The row of a leaf, or NULL. */
const hob_known *hob_known_find(const hob_path *p);
/* Settings exist below this path. */
bool hob_known_inside(const hob_path *p);
/* A workspace may say something there. */
bool hob_known_open(const hob_path *p);
/* The name that p's last key was probably meant to be, or NULL. */
const char *hob_known_nearest(const hob_path *p);
/* A mistake here must not pass with a remark: limits that do not hold are worse than no start. */
bool hob_known_guarded(const hob_path *p);
/* HOB_ECONFIG with what was expected appended to `why`, e.g. `must be true or false, not "x"`. */
int hob_known_check(const hob_known *k, const hob_json *v, hob_buf *why);
bool hob_url_valid(hob_str url);

extern const char hob_builtin_settings[]; /* the defaults, as a configuration file */

#endif
