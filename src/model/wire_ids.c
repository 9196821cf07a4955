#include "model/wire.h"

enum { PLACES_MIN = 64 };

void hob_wire_ids_finish(hob_wire_ids *t) {
    hob_free(t->at);
    hob_free(t->index);
    *t = (hob_wire_ids){0};
}

/* Where the id is, or the free place where it would stand. At least a quarter is free. */
static size_t find(const hob_wire_ids *t, uint64_t id) {
    uint64_t mixed = (id ^ t->seed) * 0x9e3779b97f4a7c15u;
    size_t place = (size_t)(mixed ^ mixed >> 32) & (t->places - 1);
    while (t->index[place] && t->at[t->index[place] - 1].id != id)
        place = (place + 1) & (t->places - 1);
    return place;
}

const hob_wire_id *hob_wire_ids_get(const hob_wire_ids *t, uint64_t id) {
    uint32_t number = t->places ? t->index[find(t, id)] : 0;
    return number ? &t->at[number - 1] : NULL;
}

static void grow(hob_wire_ids *t) {
    if (!t->places && hob_random(&t->seed, sizeof t->seed) < 0) t->seed = (uint64_t)(uintptr_t)t;
    t->places = t->places ? t->places * 2 : PLACES_MIN;
    t->cap = t->places / 4 * 3;
    t->at = hob_realloc(t->at, t->cap * sizeof *t->at);
    hob_free(t->index);
    t->index = hob_alloc(t->places * sizeof *t->index);
    for (size_t i = 0; i < t->n; i++) t->index[find(t, t->at[i].id)] = (uint32_t)(i + 1);
}

void hob_wire_ids_add(hob_wire_ids *t, hob_wire_id one) {
    if (t->n == t->cap) grow(t);
    size_t place = find(t, one.id);
    t->at[t->n++] = one;
    t->index[place] = (uint32_t)t->n;
}
