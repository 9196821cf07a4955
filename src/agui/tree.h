/*
 * tree.h - JSON that can be changed, for patches: a tree in an arena, built from a hob_json.
 *
 * Scalars keep the bytes they were written with. Of duplicate keys the last one stays. Depth and size have ceilings
 * wherever the tree grows, since a patch can copy a value into itself again and again.
 */
#ifndef HOB_SRC_AGUI_TREE_H
#define HOB_SRC_AGUI_TREE_H

#include "base/json.h"

#define HOB_TREE_MAX_BYTES ((size_t)32 << 20) /* of the text */
enum { HOB_TREE_MAX_DEPTH = 128 };

typedef struct hob_tree hob_tree;
struct hob_tree {
    hob_json_type type;
    hob_str raw; /* scalars: as written; strings: quoted */
    hob_str str; /* strings: decoded */
    hob_str key; /* of a member: decoded */
    hob_tree *first, *last, *next, *prev;
    size_t n;     /* children */
    size_t place; /* among its siblings when it was read */
};

/* NULL: over a ceiling. The tree borrows from v, its text and the arena. */
hob_tree *hob_tree_make(hob_arena *a, const hob_json *v);
hob_tree *hob_tree_copy(hob_arena *a, const hob_tree *t, unsigned depth);
/* HOB_ETOOBIG over the buffer's ceiling or HOB_TREE_MAX_DEPTH. */
int hob_tree_write(hob_jsonw *w, const hob_tree *t, unsigned depth);
/* The same value: members in any order, numbers by their worth. */
bool hob_tree_same(const hob_tree *a, const hob_tree *b);

hob_tree *hob_tree_member(const hob_tree *object, hob_str key);
hob_tree *hob_tree_at(const hob_tree *array, size_t i);
void hob_tree_insert(hob_tree *parent, hob_tree *before, hob_tree *child); /* before NULL: last */
void hob_tree_remove(hob_tree *parent, hob_tree *child);
/* Children in the order of their keys, in the arena; NULL if there is no room. */
hob_tree **hob_tree_sorted(hob_arena *a, const hob_tree *object);

#endif
