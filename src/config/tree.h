/*
 * tree.h - settings as a tree: objects have children, everything else is a leaf.
 *
 * A leaf keeps its value as JSON text without comments, and who said it. Objects are merged member by
 * member, leaves as a whole; which of the two a place is, known.h says: the definition of an MCP
 * server is one leaf, so that no two files ever share in it.
 */
#ifndef HOB_SRC_CONFIG_TREE_H
#define HOB_SRC_CONFIG_TREE_H

#include <hob/config.h>

#include "base/json.h"

#define HOB_PATH_MAX 8             /* keys in a path */
#define HOB_CONFIG_MAX_LEAVES 4096 /* in one layer */
#define HOB_CONFIG_MAX_FILE (1u << 20)
#define HOB_CONFIG_MAX_DEPTH 32u /* of JSON in a file */

/* ---- paths: "permissions.mode", providers.lab.models."gpt-4.1".context ---------------------- */
typedef struct hob_path {
    hob_str keys[HOB_PATH_MAX]; /* borrowed */
    size_t n;
} hob_path;
/* Quoted keys are decoded into the arena. HOB_EINVAL: an empty key, a quote left open, too long. */
int hob_path_parse(hob_path *p, const char *text, hob_arena *a);
/* Keys that hold anything but plain characters come out quoted, so that it reads back the same. */
void hob_path_print(const hob_path *p, hob_buf *out);

/* ---- settings ------------------------------------------------------------------------------- */
typedef struct hob_setting hob_setting;
struct hob_setting {
    hob_setting *next;         /* sibling, in the order of the file */
    hob_setting *first, *last; /* children */
    char *key;
    size_t key_n;
    bool object; /* children instead of a value */
    char *json;  /* a leaf's value */
    size_t json_n;
    hob_origin origin;
    char *source;  /* in words: "config.json:3", "HOB_MODEL" */
    char *missing; /* the variable it refers to that was not there; NULL = none */
};

hob_setting *hob_setting_create(hob_str key); /* an object without children */
void hob_setting_destroy(hob_setting *s);     /* overwrites values: some are credentials */
static inline hob_str hob_setting_key(const hob_setting *s) {
    return hob_str_n(s->key, s->key_n);
}
static inline hob_str hob_setting_json(const hob_setting *s) {
    return hob_str_n(s->json, s->json_n);
}

hob_setting *hob_setting_child(const hob_setting *s, hob_str key); /* NULL if absent */
hob_setting *hob_setting_find(const hob_setting *root, const hob_path *p);
hob_setting *hob_setting_find_z(const hob_setting *root, const char *dotted); /* plain keys only */
/* The child of that name, made if need be; s becomes an object if it was a leaf. */
hob_setting *hob_setting_ensure(hob_setting *s, hob_str key);
void hob_setting_remove(hob_setting *s, hob_str key);
/* s becomes a leaf with this value, origin and source. */
void hob_setting_put(hob_setting *s, hob_str json, hob_origin origin, hob_str source);
/* s becomes a copy of `from` (all but the key). */
void hob_setting_copy(hob_setting *s, const hob_setting *from);
hob_setting *hob_setting_dup(const hob_setting *from);
/* The leaf of the highest origin in s; s itself if it is a leaf, NULL if there is none. */
const hob_setting *hob_setting_top(const hob_setting *s);
void hob_setting_write(const hob_setting *s, hob_jsonw *w);

/* A value as it stands in a file, written again without comments. */
void hob_value_write(const hob_json *v, hob_jsonw *w);

/* ---- remarks -------------------------------------------------------------------------------- */
#define HOB_NOTES_MAX 128
typedef struct hob_notes {
    char *lines[HOB_NOTES_MAX];
    size_t n;
} hob_notes;
void hob_notes_add(hob_notes *n, const char *fmt, ...)
    HOB_PRINTF(2, 3); /* the same line once only */
void hob_notes_finish(hob_notes *n);

#endif
