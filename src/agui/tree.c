/*
 * tree.c - building, copying, comparing and writing trees.
 */
#include "agui/tree.h"

#include "base/json_number.h"

#include <stdlib.h>

void hob_tree_insert(hob_tree *parent, hob_tree *before, hob_tree *child) {
    child->next = before;
    child->prev = before ? before->prev : parent->last;
    *(child->prev ? &child->prev->next : &parent->first) = child;
    *(before ? &before->prev : &parent->last) = child;
    parent->n++;
    if (parent->index) hob_tree_index_add(parent, child);
}

void hob_tree_remove(hob_tree *parent, hob_tree *child) {
    if (parent->index) hob_tree_index_drop(parent, child);
    *(child->prev ? &child->prev->next : &parent->first) = child->next;
    *(child->next ? &child->next->prev : &parent->last) = child->prev;
    child->next = child->prev = NULL;
    parent->n--;
}

static int by_key(const void *a, const void *b) {
    const hob_tree *x = *(hob_tree *const *)a, *y = *(hob_tree *const *)b;
    int c = hob_str_cmp(x->key, y->key);
    return c ? c : (x->place > y->place) - (x->place < y->place);
}

hob_tree **hob_tree_sorted(hob_arena *a, const hob_tree *object) {
    hob_tree **all = hob_arena_alloc(a, (object->n + 1) * sizeof *all);
    size_t i = 0;
    if (!all) return NULL;
    for (hob_tree *c = object->first; c; c = c->next) all[i++] = c;
    qsort(all, i, sizeof *all, by_key);
    return all;
}

/* Members that a later one of the same name replaces. */
static bool drop_duplicates(hob_arena *a, hob_tree *object) {
    if (object->n < 2) return true;
    hob_tree **all = hob_tree_sorted(a, object);
    if (!all) return false;
    for (size_t i = 1, n = object->n; i < n; i++)
        if (hob_str_eq(all[i - 1]->key, all[i]->key)) hob_tree_remove(object, all[i - 1]);
    return true;
}

static hob_tree *make(hob_arena *a, const hob_json *v, unsigned depth) {
    hob_tree *t = depth < HOB_TREE_MAX_DEPTH ? HOB_ARENA_NEW(a, hob_tree) : NULL;
    if (!t) return NULL;
    t->type = hob_json_type_of(v);
    t->arena = a;
    t->raw = hob_json_raw(v);
    t->str = hob_json_str(v);
    for (const hob_json *c = hob_json_first(v); c; c = hob_json_next(c)) {
        hob_tree *child = make(a, c, depth + 1);
        if (!child) return NULL;
        child->key = hob_json_key(c);
        child->place = (uint32_t)t->n;
        hob_tree_insert(t, NULL, child);
    }
    if (t->type == HOB_JSON_OBJECT && !drop_duplicates(a, t)) return NULL;
    return t;
}

hob_tree *hob_tree_make(hob_arena *a, const hob_json *v) {
    return make(a, v, 0);
}

hob_tree *hob_tree_object(hob_arena *a) {
    hob_tree *t = HOB_ARENA_NEW(a, hob_tree);
    if (!t) return NULL;
    t->type = HOB_JSON_OBJECT;
    t->arena = a;
    return t;
}

hob_tree *hob_tree_copy(hob_arena *a, const hob_tree *from, unsigned depth) {
    hob_tree *t = depth < HOB_TREE_MAX_DEPTH ? HOB_ARENA_NEW(a, hob_tree) : NULL;
    if (!t) return NULL;
    t->type = from->type;
    t->arena = a;
    t->raw = from->raw;
    t->str = from->str;
    t->key = from->key;
    for (const hob_tree *c = from->first; c; c = c->next) {
        hob_tree *child = hob_tree_copy(a, c, depth + 1);
        if (!child) return NULL;
        hob_tree_insert(t, NULL, child);
    }
    return t;
}

int hob_tree_write(hob_jsonw *w, const hob_tree *t, unsigned depth) {
    if (depth >= HOB_TREE_MAX_DEPTH) return HOB_ETOOBIG;
    if (t->type != HOB_JSON_ARRAY && t->type != HOB_JSON_OBJECT) {
        hob_jsonw_raw(w, t->raw);
        return w->out->err;
    }
    bool object = t->type == HOB_JSON_OBJECT;
    if (object)
        hob_jsonw_object(w);
    else
        hob_jsonw_array(w);
    for (const hob_tree *c = t->first; c && !w->out->err; c = c->next) {
        if (object) hob_jsonw_key_n(w, c->key);
        int rc = hob_tree_write(w, c, depth + 1);
        if (rc < 0) return rc;
    }
    if (object)
        hob_jsonw_object_end(w);
    else
        hob_jsonw_array_end(w);
    return w->out->err;
}

hob_tree *hob_tree_member(hob_tree *object, hob_str key) {
    hob_tree_index *x = hob_tree_index_get(object);
    if (x) return hob_tree_index_find(x, key);
    for (hob_tree *c = object->first; c; c = c->next)
        if (hob_str_eq(c->key, key)) return c;
    return NULL;
}

hob_tree *hob_tree_at(const hob_tree *array, size_t i) {
    if (i >= array->n) return NULL;
    hob_tree *c;
    if (i > array->n / 2) {
        for (c = array->last, i = array->n - 1 - i; i; i--) c = c->prev;
        return c;
    }
    for (c = array->first; i; i--) c = c->next;
    return c;
}

static bool same_number(hob_str a, hob_str b) {
    if (hob_str_eq(a, b)) return true;
    double p = hob_number_double(a), q = hob_number_double(b);
    return !(p < q) && !(p > q);
}

/* Members mostly stand in the same order, so the neighbour is tried before all are searched. */
static bool same_members(hob_tree *a, hob_tree *b) {
    hob_tree *d = b->first;
    for (hob_tree *c = a->first; c; c = c->next) {
        if (!d || !hob_str_eq(d->key, c->key)) d = hob_tree_member(b, c->key);
        if (!d || !hob_tree_same(c, d)) return false;
        d = d->next;
    }
    return true;
}

bool hob_tree_same(hob_tree *a, hob_tree *b) {
    if (a->type != b->type || a->n != b->n) return false;
    switch (a->type) {
    case HOB_JSON_NULL: return true;
    case HOB_JSON_BOOL: return hob_str_eq(a->raw, b->raw);
    case HOB_JSON_NUMBER: return same_number(a->raw, b->raw);
    case HOB_JSON_STRING: return hob_str_eq(a->str, b->str);
    case HOB_JSON_OBJECT: return same_members(a, b);
    case HOB_JSON_ARRAY: break;
    }
    hob_tree *d = b->first;
    for (hob_tree *c = a->first; c; c = c->next, d = d->next)
        if (!hob_tree_same(c, d)) return false;
    return true;
}
