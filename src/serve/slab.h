/*
 * slab.h - stored events as the text that streams send, made once and shared by all who want it.
 *
 * A log only grows, so its events n*512+1 … n*512+512 are the same for ever, and so is their text: a slab. Whoever reads a
 * session from its beginning, or comes back to one that others look at, passes over the same slabs. The shelf keeps
 * those that were wanted last; one that ends where its log ended then, until somebody made a longer one.
 *
 * Every call is [any] and does not block.
 */
#ifndef HOB_SRC_SERVE_SLAB_H
#define HOB_SRC_SERVE_SLAB_H

#include "base/base.h"

#include <hob/runtime.h>

#include <stdatomic.h>

enum { HOB_SLAB_EVENTS = 512 };

typedef struct hob_slab {
    atomic_uint refs;
    hob_list link; /* on the shelf; under its lock */
    char *key;     /* there */
    uint64_t last; /* number of its last event */
    int settled; /* what it says of the session's state in the end: 1 settled, 0 at work, -1 nothing */
    hob_buf text;
} hob_slab;

/* The rows of a page of events, the first of which follows `after`. HOB_EPROTO: they are not what was asked for. */
int hob_slab_create(const hob_page *page, uint64_t after, hob_slab **out);
hob_slab *hob_slab_ref(hob_slab *s);
void hob_slab_unref(hob_slab *s); /* NULL is fine */

typedef struct hob_shelf hob_shelf;
hob_shelf *hob_shelf_create(void);
void hob_shelf_destroy(hob_shelf *f); /* NULL is fine */
/* The events behind `after` of the log of this name, with a reference; NULL: they are not there. A name is used for one
 * log only, ever: a session that is made anew with an id that there was before needs another. */
hob_slab *hob_shelf_find(hob_shelf *f, hob_str log, uint64_t after);
/* Kept if it begins where slabs do and is not too large. */
void hob_shelf_put(hob_shelf *f, hob_str log, uint64_t after, hob_slab *s);

/* How many events there are at most to the end of the slab that holds the one behind `after`. */
static inline size_t hob_slab_room(uint64_t after) {
    return HOB_SLAB_EVENTS - (size_t)(after % HOB_SLAB_EVENTS);
}

#endif
