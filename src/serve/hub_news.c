/*
 * hub_news.c - what the runtime tells the hub: events that became durable, of rooms and of what works for them.
 *
 * Called on the loop of the sessions: notes are taken, nothing is done that waits. A bell is rung for the streams of a
 * session that no room has (a sub-agent's): those of rooms have readers of their own.
 */
#include "serve/hub_parts.h"

#include "serve/callers.h"
#include "serve/feed.h"
#include "serve/web.h"

#include <stdio.h>
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

/* What an answer of a model took of the tokens and the money of who pays: that stands in the event, also in those of
 * sub-agents, which have no room. What was begun elsewhere, without a payer, is charged to who lets it go on here. */
static void book(hob_hub *h, const hob_room *room, const hob_event *e) {
    char payer[160] = "", cost[40];
    double usd = 0;
    int64_t tokens = field_int(e, "usage.input_tokens") + field_int(e, "usage.output_tokens");
    if (hob_event_field(e, "cost_usd", cost, sizeof cost) > 0) usd = strtod(cost, NULL);
    hob_event_field(e, "payer", payer, sizeof payer);
    hob_str name = hob_str_z(payer);
    if (!name.n && room && room->payer) name = room->payer->name;
    if (name.n) hob_callers_spend(h->server->callers, name, tokens, (int64_t)(usd * 1e6 + 0.5));
}

/* A run that nobody answers for yet: one that is taken up at the start, or was quicker than the one before settled. */
static void adopt(hob_room *room, const hob_event *e) {
    char payer[160] = "";
    if (room->payer || hob_event_field(e, "payer", payer, sizeof payer) <= 0) return;
    room->payer = hob_callers_named(room->hub->server->callers, hob_str_z(payer));
    if (room->payer) hob_caller_give(room->payer, HOB_QUOTA_RUNS, -1);
}

/* ---- queued work whose payer has nothing left ------------------------------------------------------------------ */

typedef struct unpaid {
    hob_errand errand;
    hob_room *room;
    hob_quota_opts spent;
    char run[64], payer[160];
} unpaid;

/* Unless it is over, and somebody else's is under way. */
static void stop_run(hob_errand *e) {
    unpaid *u = HOB_CONTAINER(e, unpaid, errand);
    hob_error err;
    int rc = hob_session_end_spent(u->room->s, &u->spent, &err);
    if (rc == HOB_EIDLE) return;
    hob_web_log(e->hub->server->web, "warn",
                "session %s: what '%s' may spend is used up: its run %s was %s%s", u->room->id,
                u->payer, u->run, rc < 0 ? "not stopped: " : "stopped",
                rc < 0 ? err.message : ", and what was queued went back");
}

static void stopped_run(hob_errand *e) {
    unpaid *u = HOB_CONTAINER(e, unpaid, errand);
    hob_hub_leave(u->room);
    hob_free(u);
}

/* Which of the two is used up, if one is. */
static bool is_spent(const hob_caller *c, hob_quota_opts *out) {
    static const struct {
        hob_quota quota;
        const char *name;
    } all[] = {{HOB_QUOTA_TOKENS, "quota_tokens"}, {HOB_QUOTA_COST, "quota_cost"}};
    for (size_t i = 0; i < HOB_ARRAY_LEN(all); i++) {
        hob_quota q = all[i].quota;
        int64_t taken = hob_caller_taken(c, q);
        if (!c->limits[q] || taken < c->limits[q]) continue;
        double unit = (double)hob_quota_unit(q);
        *out = (hob_quota_opts){.size = sizeof *out,
                                .limit = hob_str_z(all[i].name),
                                .value = (double)taken / unit,
                                .max = (double)c->limits[q] / unit};
        return true;
    }
    return false;
}

/* A run that began now was admitted when it was queued: what came between may have taken the rest. */
static void stop_unpaid(hob_room *room, const hob_event *e) {
    hob_callers *callers = room->hub->server->callers;
    char payer[160] = "";
    if (hob_event_field(e, "payer", payer, sizeof payer) <= 0) return;
    const hob_caller *c = hob_callers_named(callers, hob_str_z(payer));
    hob_quota_opts over;
    bool stop = c && is_spent(c, &over);
    hob_caller_unref(c);
    hob_callers_count_run(callers, hob_str_z(payer));
    if (!stop || room->state != HOB_ROOM_OPEN) return;
    unpaid *u = HOB_NEW(unpaid);
    u->errand = (hob_errand){.run = stop_run, .done = stopped_run};
    u->room = room;
    snprintf(u->run, sizeof u->run, "%.*s", HOB_FMT(hob_event_run(e)));
    u->spent = over;
    u->spent.run = hob_str_z(u->run);
    snprintf(u->payer, sizeof u->payer, "%s", payer);
    room->users++;
    hob_hub_send(room->hub, &u->errand);
}

static void note(hob_room *room, const hob_event *e) {
    room->news++;
    switch (hob_event_type_of(e)) {
    case HOB_EVENT_RUN_STARTED:
        room->busy = room->heard = true;
        room->over = room->paused = false;
        adopt(room, e);
        stop_unpaid(room, e);
        break;
    case HOB_EVENT_RUN_PAUSED: room->paused = true; break;
    case HOB_EVENT_RUN_RESUMED: room->paused = false; break;
    case HOB_EVENT_FOLLOW_UP_QUEUED: room->queued++; break;
    case HOB_EVENT_FOLLOW_UP_DELIVERED: room->queued -= room->queued > 0; break;
    case HOB_EVENT_QUEUE_RETURNED: room->queued = 0; break;
    case HOB_EVENT_SETTLED:
        room->busy = room->paused = false;
        room->heard = true;
        room->queued = 0;
        room->over = room->beginning > 0;
        if (!room->over) hob_room_settled(room);
        break;
    default: break; /* the other events are nothing to the hub */
    }
}

static bool costs(const hob_event *e) {
    hob_event_type type = hob_event_type_of(e);
    return type == HOB_EVENT_ASSISTANT_MESSAGE || type == HOB_EVENT_MODEL_CALL_FAILED;
}

static bool changes_row(const hob_event *e) {
    switch (hob_event_type_of(e)) {
    case HOB_EVENT_SESSION_OPENED:
    case HOB_EVENT_CONFIG_CHANGED:
    case HOB_EVENT_RUN_STARTED:
    case HOB_EVENT_RUN_FINISHED:
    case HOB_EVENT_RUN_PAUSED:
    case HOB_EVENT_RUN_RESUMED:
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
    if (costs(e)) book(h, room, e);
    if (room) note(room, e);
    if (!room || room->state != HOB_ROOM_OPEN) hob_hub_ring(h, id);
    bool changes = changes_row(e) || (room && room->paused);
    if (changes && !hob_list_empty(&h->listeners) && !h->poll_soon) {
        h->poll_soon = true;
        hob_loop_post(h->loop, &h->soon);
    }
    pthread_mutex_unlock(&h->lock);
}

/* ---- the beginning of work ------------------------------------------------------------------------------------- */

/* What waits in the session counts as much as a run of this caller took up to now. */
static int check_left(const hob_room *room, const hob_caller *c, hob_quota q, hob_error *err) {
    const char *what = q == HOB_QUOTA_TOKENS ? "tokens" : "dollars";
    int64_t taken = hob_caller_taken(c, q), runs = hob_caller_runs(c);
    int64_t queued = runs ? taken / runs * (int64_t)room->queued : 0;
    if (!c->limits[q] || taken + queued < c->limits[q]) return HOB_OK;
    if (taken < c->limits[q])
        return hob_fail(err, HOB_ELIMIT, 0,
                        "the %s that '%.*s' may spend are used up by the %zu messages that wait "
                        "in this session: nothing is added to them",
                        what, HOB_FMT(c->name), room->queued);
    return hob_fail(err, HOB_ELIMIT, 0,
                    "the %s that '%.*s' may spend are used up: nothing new begins; what is under "
                    "way can be cancelled",
                    what, HOB_FMT(c->name));
}

static int take_run(hob_room *room, const hob_caller *c, hob_error *err) {
    hob_hub *h = room->hub;
    pthread_mutex_lock(&h->lock);
    int rc = check_left(room, c, HOB_QUOTA_TOKENS, err);
    if (rc >= 0) rc = check_left(room, c, HOB_QUOTA_COST, err);
    if (rc >= 0 && !room->payer) {
        rc = hob_caller_take(c, HOB_QUOTA_RUNS, 1, err);
        if (rc >= 0) room->payer = hob_caller_ref(c);
    }
    if (rc >= 0) room->beginning++;
    pthread_mutex_unlock(&h->lock);
    return rc;
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
    if (rc < 0) hob_room_begun(room, rc);
    return rc;
}

static const hob_caller *payer_of(hob_room *room) {
    hob_page *info;
    char name[160] = "";
    if (hob_session_info(room->s, &info, NULL) < 0) return NULL;
    hob_json_field(hob_page_row(info, 0), "payer", name, sizeof name);
    hob_page_destroy(info);
    return *name ? hob_callers_named(room->hub->server->callers, hob_str_z(name)) : NULL;
}

int hob_room_go_on(hob_room *room, const hob_caller *c, hob_error *err) {
    const hob_caller *payer = payer_of(room);
    int rc = hob_room_begin(room, payer ? payer : c, err);
    hob_caller_unref(payer);
    return rc;
}

void hob_room_begun(hob_room *room, int rc) {
    pthread_mutex_lock(&room->hub->lock);
    if (!--room->beginning && !room->busy && (rc < 0 || room->over)) hob_room_settled(room);
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
