/*
 * tree_index.c - members of large objects by their names.
 *
 * Without it whoever puts n members into an object, or compares two that are ordered differently, takes n² steps: one
 * request could hold a server's only thread for half a minute. Keys come from outside, so the hash has a seed that
 * nobody knows. Removing moves the following entries back instead of leaving marks, so only growth makes an index full;
 * the next one has twice the slots, and all of them together take no more than twice the room of the last.
 *
 * Of two members of one name the first counts. An index cannot tell which of two stands first, so it is made anew when
 * a second one comes, or one of several goes.
 */
#include "agui/tree.h"

#include "base/sip.h"

static size_t home_of(const hob_tree_index *x, hob_str key) {
    return (size_t)hob_sip_hash(x->seed, key) & (x->cap - 1);
}

/* Where the key is, or would be. */
static size_t slot_of(hob_tree_index *x, hob_str key) {
    size_t at = home_of(x, key);
    for (x->steps++; x->slots[at] && !hob_str_eq(x->slots[at]->key, key); x->steps++)
        at = (at + 1) & (x->cap - 1);
    return at;
}

static bool is_full(const hob_tree_index *x) {
    return x->n + 1 > x->cap / 4 * 3;
}

static hob_tree_index *build(const hob_tree *object) {
    hob_tree_index *x = HOB_ARENA_NEW(object->arena, hob_tree_index);
    if (!x) return NULL;
    for (x->cap = 64; x->cap / 2 <= object->n;) x->cap *= 2;
    x->slots = hob_arena_alloc(object->arena, x->cap * sizeof *x->slots);
    if (!x->slots) return NULL;
    if (hob_random(x->seed, sizeof x->seed) < 0) x->seed[0] = (uint64_t)(uintptr_t)x;
    for (hob_tree *c = object->first; c; c = c->next) {
        size_t at = slot_of(x, c->key);
        x->twice |= x->slots[at] != NULL;
        if (x->slots[at]) continue;
        x->slots[at] = c;
        x->n++;
    }
    return x;
}

/* One that is out of date has no slots: its count of steps is carried on. */
hob_tree_index *hob_tree_index_get(hob_tree *object) {
    hob_tree_index *old = object->index;
    if (old && old->slots) return old;
    if (object->n < HOB_TREE_INDEX_FROM || !object->arena) return NULL;
    hob_tree_index *x = build(object);
    if (!x) return NULL;
    if (old) x->steps += old->steps;
    object->index = x;
    return x;
}

hob_tree *hob_tree_index_find(hob_tree_index *x, hob_str key) {
    return x->slots[slot_of(x, key)];
}

void hob_tree_index_add(hob_tree *object, hob_tree *child) {
    hob_tree_index *x = object->index;
    if (!x->slots) return;
    size_t at = slot_of(x, child->key);
    if (x->slots[at] || is_full(x)) {
        x->slots = NULL;
        return;
    }
    x->slots[at] = child;
    x->n++;
}

/* Entries behind the hole that would not be found across it move into it. */
static void close_hole(hob_tree_index *x, size_t hole) {
    size_t mask = x->cap - 1;
    for (size_t at = (hole + 1) & mask; x->slots[at]; at = (at + 1) & mask) {
        x->steps++;
        size_t home = home_of(x, x->slots[at]->key);
        if (((at - home) & mask) < ((at - hole) & mask)) continue;
        x->slots[hole] = x->slots[at];
        hole = at;
    }
    x->slots[hole] = NULL;
    x->n--;
}

void hob_tree_index_drop(hob_tree *object, const hob_tree *child) {
    hob_tree_index *x = object->index;
    if (!x->slots) return;
    if (x->twice) {
        x->slots = NULL;
        return;
    }
    size_t at = slot_of(x, child->key);
    if (x->slots[at] == child) close_hole(x, at);
}
