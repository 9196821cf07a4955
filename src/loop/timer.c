/*
 * timer.c - a binary heap of timers, ordered by time and then by the order they were started in.
 *
 * A timer that is started from a timer's callback never fires in the same round, even when it is
 * due already: otherwise a timer that restarts itself with no delay would keep the loop for ever.
 */
#include "loop/internal.h"

static bool before(const hob_timer *a, const hob_timer *b) {
    return a->at != b->at ? a->at < b->at : a->order < b->order;
}

static void place(hob_loop *l, size_t i, hob_timer *t) {
    l->heap[i] = t;
    t->slot = i + 1;
}

static void sift_up(hob_loop *l, size_t i, hob_timer *t) {
    while (i > 0 && before(t, l->heap[(i - 1) / 2])) {
        place(l, i, l->heap[(i - 1) / 2]);
        i = (i - 1) / 2;
    }
    place(l, i, t);
}

static void sift_down(hob_loop *l, size_t i, hob_timer *t) {
    for (;;) {
        size_t child = 2 * i + 1;
        if (child >= l->nheap) break;
        if (child + 1 < l->nheap && before(l->heap[child + 1], l->heap[child])) child++;
        if (!before(l->heap[child], t)) break;
        place(l, i, l->heap[child]);
        i = child;
    }
    place(l, i, t);
}

/* Puts t where it belongs, given that slot i is free for it. */
static void settle(hob_loop *l, size_t i, hob_timer *t) {
    if (i > 0 && before(t, l->heap[(i - 1) / 2]))
        sift_up(l, i, t);
    else
        sift_down(l, i, t);
}

void hob_timer_init(hob_timer *t, hob_loop *l, void (*fn)(hob_timer *)) {
    *t = (hob_timer){.loop = l, .fn = fn};
}

void hob_timer_start(hob_timer *t, int64_t at_mono_ms) {
    hob_loop *l = t->loop;
    if (!t->slot) {
        if (l->nheap == l->heap_cap) {
            l->heap_cap = l->heap_cap ? 2 * l->heap_cap : 16;
            l->heap = hob_realloc(l->heap, l->heap_cap * sizeof(hob_timer *));
        }
        t->slot = ++l->nheap;
    }
    t->at = at_mono_ms;
    t->order = l->order++;
    settle(l, t->slot - 1, t);
}

void hob_timer_stop(hob_timer *t) {
    if (!t->slot) return;
    hob_loop *l = t->loop;
    size_t i = t->slot - 1;
    hob_timer *last = l->heap[--l->nheap];
    t->slot = 0;
    if (last != t) settle(l, i, last);
}

bool hob_timer_started(const hob_timer *t) {
    return t->slot != 0;
}

hob_timer *hob_timers_next(const hob_loop *l) {
    return l->nheap ? l->heap[0] : NULL;
}

void hob_timers_fire(hob_loop *l) {
    int64_t now = hob_loop_now(l);
    uint64_t limit = l->order;
    hob_timer *t;
    while ((t = hob_timers_next(l)) && t->at <= now && t->order < limit) {
        hob_timer_stop(t);
        l->ran++;
        t->fn(t);
    }
}
