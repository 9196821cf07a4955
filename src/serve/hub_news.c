/*
 * hub_news.c - what the runtime tells the hub: events that became durable, of rooms and of what works for them.
 *
 * Called on the loop of the sessions: notes are taken, nothing is done that waits. A bell is rung for the streams of a
 * session that no room has (a sub-agent's): those of rooms have readers of their own.
 */
#include "serve/hub_parts.h"

#include "serve/feed.h"

#include <stdlib.h>

void hob_room_settled(hob_room *room) {
    if (room->payer) hob_caller_give(room->payer, HOB_QUOTA_RUNS, 1);
    hob_caller_unref(room->payer);
    room->payer = NULL;
}

static int64_t field_int(const hob_event *e, const char *path) {
    char text[32];
    int64_t n = 0;
    if (hob_event_field(e, path, text, sizeof text) > 0) hob_str_int(hob_str_z(text), &n);
    return n;
}

/* What is spent is spent, also over a limit. */
static void spend(const hob_caller *c, hob_quota q, int64_t n) {
    hob_caller_give(c, q, -n);
}

/* What an answer took of the tokens and the money of who pays; over the limit the next run is refused. */
static void book(const hob_room *room, const hob_event *e) {
    char cost[40];
    if (!room->payer) return;
    int64_t tokens = field_int(e, "usage.input_tokens") + field_int(e, "usage.output_tokens");
    spend(room->payer, HOB_QUOTA_TOKENS, tokens);
    if (hob_event_field(e, "cost_usd", cost, sizeof cost) > 0)
        spend(room->payer, HOB_QUOTA_COST, (int64_t)(strtod(cost, NULL) * 1e6 + 0.5));
}

static void note(hob_room *room, const hob_event *e) {
    room->news++;
    switch (hob_event_type_of(e)) {
    case HOB_EVENT_RUN_STARTED: room->busy = true; break;
    case HOB_EVENT_ASSISTANT_MESSAGE: book(room, e); break;
    case HOB_EVENT_SETTLED:
        room->busy = false;
        hob_room_settled(room);
        break;
    default: break; /* the other events are nothing to the hub */
    }
}

static bool changes_row(const hob_event *e) {
    switch (hob_event_type_of(e)) {
    case HOB_EVENT_SESSION_OPENED:
    case HOB_EVENT_CONFIG_CHANGED:
    case HOB_EVENT_RUN_STARTED:
    case HOB_EVENT_RUN_FINISHED:
    case HOB_EVENT_APPROVAL_REQUESTED:
    case HOB_EVENT_APPROVAL_RESOLVED:
    case HOB_EVENT_ASSISTANT_MESSAGE:
    case HOB_EVENT_SETTLED: return true;
    default: return false;
    }
}

void hob_hub_ring(hob_hub *h, hob_str id) {
    hob_bell *bell = hob_map_get(h->bells, id);
    if (!bell) return;
    HOB_LIST_EACH (it, &bell->feeds) hob_feed_ring(hob_feed_of_link(it));
}

void hob_hub_on_event(hob_event *e, void *hub) {
    hob_hub *h = hub;
    hob_str id = hob_event_session(e);
    pthread_mutex_lock(&h->lock);
    hob_room *room = hob_map_get(h->rooms, id);
    if (room) note(room, e);
    if (!room || room->state != HOB_ROOM_OPEN) hob_hub_ring(h, id);
    if (changes_row(e) && !hob_list_empty(&h->listeners) && !h->poll_soon) {
        h->poll_soon = true;
        hob_loop_post(h->loop, &h->soon);
    }
    pthread_mutex_unlock(&h->lock);
}

/* ---- the beginning of work ------------------------------------------------------------------------------------- */

static int check_left(const hob_caller *c, hob_quota q, const char *what, hob_error *err) {
    if (!c->limits[q] || hob_caller_taken(c, q) < c->limits[q]) return HOB_OK;
    return hob_fail(err, HOB_ELIMIT, 0, "the %s that this token may spend are used up", what);
}

static int take_run(hob_room *room, const hob_caller *c, hob_error *err) {
    hob_hub *h = room->hub;
    pthread_mutex_lock(&h->lock);
    bool paid = room->payer != NULL;
    pthread_mutex_unlock(&h->lock);
    if (paid || !c) return HOB_OK;
    int rc = check_left(c, HOB_QUOTA_TOKENS, "tokens", err);
    if (rc >= 0) rc = check_left(c, HOB_QUOTA_COST, "dollars", err);
    if (rc >= 0) rc = hob_caller_take(c, HOB_QUOTA_RUNS, 1, err);
    if (rc < 0) return rc;
    pthread_mutex_lock(&h->lock);
    if (room->payer)
        hob_caller_give(c, HOB_QUOTA_RUNS, 1);
    else
        room->payer = hob_caller_ref(c);
    pthread_mutex_unlock(&h->lock);
    return HOB_OK;
}

int hob_room_begin(hob_room *room, const hob_caller *c, hob_error *err) {
    hob_hub *h = room->hub;
    int rc = take_run(room, c, err);
    pthread_mutex_lock(&h->lock);
    bool mark = rc >= 0 && h->marks && !room->marked;
    pthread_mutex_unlock(&h->lock);
    if (!mark) return rc;
    rc = hob_marks_set(h->marks, room->id, err);
    pthread_mutex_lock(&h->lock);
    if (rc >= 0) room->marked = true;
    pthread_mutex_unlock(&h->lock);
    if (rc < 0) hob_room_unbegin(room);
    return rc;
}

void hob_room_unbegin(hob_room *room) {
    pthread_mutex_lock(&room->hub->lock);
    if (!room->busy) hob_room_settled(room);
    pthread_mutex_unlock(&room->hub->lock);
}

void hob_hub_removed(hob_hub *h, const hob_caller *c, hob_str id) {
    pthread_mutex_lock(&h->lock);
    hob_hub_ring(h, id);
    pthread_mutex_unlock(&h->lock);
    hob_hub_tell_removed(h, c, id);
    char *name = hob_dupz(id);
    if (h->marks) hob_marks_clear(h->marks, name);
    hob_free(name);
}
