#include "log/shared.h"

enum { TABLE_MIN = 64 };

void hob_table_finish(hob_table *t) {
    hob_free(t->places);
    *t = (hob_table){0};
}

/* The place of the key, or the free one where it would stand. At least a quarter is free. */
static struct hob_place *find(const hob_table *t, hob_str key, uint64_t hash) {
    size_t mask = t->cap - 1;
    for (size_t i = (size_t)hash & mask;; i = (i + 1) & mask) {
        struct hob_place *p = &t->places[i];
        if (!p->key.p || (p->hash == hash && hob_str_eq(p->key, key))) return p;
    }
}

static void grow(hob_table *t) {
    hob_table old = *t;
    t->cap = old.cap ? old.cap * 2 : TABLE_MIN;
    t->places = hob_alloc(t->cap * sizeof *t->places);
    for (size_t i = 0; i < old.cap; i++)
        if (old.places[i].key.p) *find(t, old.places[i].key, old.places[i].hash) = old.places[i];
    hob_free(old.places);
}

void hob_table_put(hob_table *t, hob_str key, uint32_t event, uint32_t slot) {
    if ((t->n + 1) * 4 > t->cap * 3) grow(t);
    uint64_t hash = hob_str_hash(key);
    struct hob_place *p = find(t, key, hash);
    t->n += !p->key.p;
    *p = (struct hob_place){key, hash, event, slot};
}

const struct hob_place *hob_table_get(const hob_table *t, hob_str key) {
    if (!t->cap) return NULL;
    const struct hob_place *p = find(t, key, hob_str_hash(key));
    return p->key.p ? p : NULL;
}
