/*
 * hub_help.c - small services of the hub for streams and rooms: things that live as long as a session is open, nudges,
 * errands.
 */
#include "serve/hub_parts.h"

/* ---- things of a room --------------------------------------------------------------------------------------- */

typedef struct thing {
    hob_list link;
    void *it;
    void (*destroy)(void *it);
} thing;

void hob_room_give(hob_room *room, void *it, void (*destroy)(void *it)) {
    thing *t = HOB_NEW(thing);
    t->it = it;
    t->destroy = destroy;
    pthread_mutex_lock(&room->hub->lock);
    hob_list_push(&room->things, &t->link);
    pthread_mutex_unlock(&room->hub->lock);
}

void hob_room_drop_things(hob_room *room) {
    HOB_LIST_EACH_SAFE (it, &room->things) {
        thing *t = HOB_CONTAINER(it, thing, link);
        t->destroy(t->it);
        hob_free(t);
    }
}

/* ---- nudges --------------------------------------------------------------------------------------------------- */

void hob_hub_nudge(hob_hub *h, hob_nudge *n) {
    pthread_mutex_lock(&h->lock);
    if (!n->on) hob_list_push(&h->nudges, &n->link);
    n->on = true;
    if (!h->poll_soon) {
        h->poll_soon = true;
        hob_loop_post(h->loop, &h->soon);
    }
    pthread_mutex_unlock(&h->lock);
}

void hob_hub_unnudge(hob_hub *h, hob_nudge *n) {
    pthread_mutex_lock(&h->lock);
    if (n->on) hob_list_remove(&n->link);
    n->on = false;
    pthread_mutex_unlock(&h->lock);
}

bool hob_hub_tell_nudges(hob_hub *h) {
    pthread_mutex_lock(&h->lock);
    bool any = !hob_list_empty(&h->nudges);
    HOB_LIST_EACH (it, &h->nudges) {
        hob_nudge *n = HOB_CONTAINER(it, hob_nudge, link);
        n->fn(n->user);
    }
    pthread_mutex_unlock(&h->lock);
    return any;
}

/* ---- errands --------------------------------------------------------------------------------------------------- */

typedef struct hob_errand_part {
    hob_msg msg;
    hob_work work;
    hob_errand *errand;
} part;

static void on_work(hob_work *w) {
    hob_errand *e = HOB_CONTAINER(w, part, work)->errand;
    e->run(e);
}

static void on_done(hob_work *w) {
    part *p = HOB_CONTAINER(w, part, work);
    hob_errand *e = p->errand;
    hob_free(p);
    e->part = NULL;
    e->done(e);
}

static void on_sent(hob_msg *m) {
    part *p = HOB_CONTAINER(m, part, msg);
    hob_hub *h = p->errand->hub;
    p->work = (hob_work){.work = on_work, .done = on_done};
    if (hob_pool_submit(h->pool, h->loop, &p->work) < 0) on_done(&p->work);
}

void hob_hub_send(hob_hub *h, hob_errand *e) {
    part *p = HOB_NEW(part);
    p->msg.fn = on_sent;
    p->errand = e;
    e->hub = h;
    e->part = p;
    hob_loop_post(h->loop, &p->msg);
}

hob_runtime *hob_hub_runtime(const hob_hub *h) {
    return h->rt;
}
