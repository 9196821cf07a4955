#include "log/shared.h"

enum { DIRECTORY_MIN = 16 };

static void chunk_unref(hob_chunk *c) {
    if (!c || atomic_fetch_sub_explicit(&c->refs, 1, memory_order_acq_rel) != 1) return;
    for (size_t i = 0; i < HOB_CHUNK && c->records[i]; i++) hob_record_unref(c->records[i]);
    hob_free(c);
}

static void directory_unref(hob_directory *d) {
    if (!d || atomic_fetch_sub_explicit(&d->refs, 1, memory_order_acq_rel) != 1) return;
    for (size_t i = 0; i < d->cap && d->chunks[i]; i++) chunk_unref(d->chunks[i]);
    hob_free(d);
}

void hob_records_copy(hob_records *to, const hob_records *from) {
    *to = *from;
    if (to->dir) atomic_fetch_add_explicit(&to->dir->refs, 1, memory_order_relaxed);
}

void hob_records_finish(hob_records *l) {
    directory_unref(l->dir);
    *l = (hob_records){0};
}

/* Snapshots keep the directory they have; the chunks are shared by both. */
static void grow(hob_records *l) {
    size_t cap = l->dir ? l->dir->cap * 2 : DIRECTORY_MIN;
    hob_directory *d = hob_alloc(sizeof *d + cap * sizeof(hob_chunk *));
    atomic_init(&d->refs, 1);
    d->cap = cap;
    for (size_t i = 0; l->dir && i < l->dir->cap; i++) {
        d->chunks[i] = l->dir->chunks[i];
        atomic_fetch_add_explicit(&d->chunks[i]->refs, 1, memory_order_relaxed);
    }
    directory_unref(l->dir);
    l->dir = d;
}

void hob_records_give(hob_records *l, hob_record *r) {
    size_t chunk = l->n / HOB_CHUNK;
    if (!l->dir || chunk == l->dir->cap) grow(l);
    if (l->n % HOB_CHUNK == 0) {
        hob_chunk *c = HOB_NEW(hob_chunk);
        atomic_init(&c->refs, 1);
        l->dir->chunks[chunk] = c;
    }
    l->dir->chunks[chunk]->records[l->n % HOB_CHUNK] = r;
    l->n++;
}
