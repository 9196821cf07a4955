#include "store/wake.h"

#include <stdatomic.h>

struct hob_wake {
    hob_msg msg;
    hob_loop *loop;
    void (*fn)(void *owner);
    void *owner; /* NULL: destroyed while the message was under way */
    atomic_bool rung;
};

static void on_message(hob_msg *m) {
    hob_wake *w = HOB_CONTAINER(m, hob_wake, msg);
    if (!w->owner) {
        hob_free(w);
        return;
    }
    atomic_store(&w->rung, false); /* before fn looks: what comes after rings again */
    w->fn(w->owner);
}

hob_wake *hob_wake_create(hob_loop *l, void (*fn)(void *owner), void *owner) {
    hob_wake *w = HOB_NEW(hob_wake);
    hob_list_init(&w->msg.link);
    w->msg.fn = on_message;
    w->loop = l;
    w->fn = fn;
    w->owner = owner;
    return w;
}

void hob_wake_ring(hob_wake *w) {
    if (!atomic_exchange(&w->rung, true)) hob_loop_post(w->loop, &w->msg);
}

void hob_wake_destroy(hob_wake *w) {
    if (!w) return;
    w->owner = NULL;
    if (!atomic_load(&w->rung)) hob_free(w);
}
