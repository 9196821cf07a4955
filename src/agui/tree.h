/*
 * tree.h - JSON that can be changed, for patches: a tree in an arena, built from a hob_json.
 *
 * Scalars keep the bytes they were written with. Of duplicate keys the last one stays. Depth and size have ceilings
 * wherever the tree grows, since a patch can copy a value into itself again and again.
 *
 * Members are found by a walk in small objects, and by an index in large ones (tree_index.c), made when it is first
 * wanted. It lies in the arena; an object without one (arena NULL) is walked through.
 */
#ifndef HOB_SRC_AGUI_TREE_H
#define HOB_SRC_AGUI_TREE_H

#include "base/json.h"

#define HOB_TREE_MAX_BYTES ((size_t)32 << 20) /* of the text */
enum { HOB_TREE_MAX_DEPTH = 128 };

typedef struct hob_tree hob_tree;
typedef struct hob_tree_index hob_tree_index;
struct hob_tree {
    hob_json_type type;
    uint32_t place; /* among its siblings when it was read */
    hob_str raw;    /* scalars: as written; strings: quoted */
    hob_str str;    /* strings: decoded */
    hob_str key;    /* of a member: decoded */
    hob_tree *first, *last, *next, *prev;
    size_t n;              /* children */
    hob_arena *arena;      /* of an object: where its index may lie */
    hob_tree_index *index; /* of an object: NULL = none was wanted yet */
};

/* Open addressing; of members of one name the first stands in it. */
enum { HOB_TREE_INDEX_FROM = 33 }; /* members */
struct hob_tree_index {
    hob_tree **slots;
    size_t cap, n; /* slots, a power of two; those that are filled, at most 3/4 */
    uint64_t seed[2];
    bool twice;   /* a name stands in the object more than once */
    size_t steps; /* slots looked at since the object has had an index, for tests */
};

/* NULL: over a ceiling. The tree borrows from v, its text and the arena. */
hob_tree *hob_tree_make(hob_arena *a, const hob_json *v);
hob_tree *hob_tree_copy(hob_arena *a, const hob_tree *t, unsigned depth);
/* HOB_ETOOBIG over the buffer's ceiling or HOB_TREE_MAX_DEPTH. */
int hob_tree_write(hob_jsonw *w, const hob_tree *t, unsigned depth);
/* The same value: members in any order, numbers by their worth. */
bool hob_tree_same(hob_tree *a, hob_tree *b);

hob_tree *hob_tree_object(hob_arena *a); /* an empty one; NULL if there is no room */
/* The first of that name. */
hob_tree *hob_tree_member(hob_tree *object, hob_str key);
hob_tree *hob_tree_at(const hob_tree *array, size_t i);
void hob_tree_insert(hob_tree *parent, hob_tree *before, hob_tree *child); /* before NULL: last */
void hob_tree_remove(hob_tree *parent, hob_tree *child);
/* tree_index.c: NULL if the object is small, or there is no room. The others: a child came, or goes. */
hob_tree_index *hob_tree_index_get(hob_tree *object);
hob_tree *hob_tree_index_find(hob_tree_index *x, hob_str key);
void hob_tree_index_add(hob_tree *object, hob_tree *child);
void hob_tree_index_drop(hob_tree *object, const hob_tree *child);
/* Children in the order of their keys, in the arena; NULL if there is no room. */
hob_tree **hob_tree_sorted(hob_arena *a, const hob_tree *object);

#endif
