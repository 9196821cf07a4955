/*
 * wake.h - a bell from any thread to the loop. Ringing it again before it was heard does nothing, and
 * it may be destroyed while it still rings: the loop then finds nobody at home.
 */
#ifndef HOB_SRC_STORE_WAKE_H
#define HOB_SRC_STORE_WAKE_H

#include "loop/loop.h"

typedef struct hob_wake hob_wake;

hob_wake *hob_wake_create(hob_loop *l, void (*fn)(void *owner), void *owner);
void hob_wake_ring(hob_wake *w);    /* [any]; fn runs on the loop, later */
void hob_wake_destroy(hob_wake *w); /* [loop], when no other thread can ring any more */

#endif
