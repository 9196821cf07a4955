/*
 * hub.c - rooms: opened by the first who comes, shared, swept when nobody was inside for a while.
 *
 * A room is OPENING while its session is made ready, by the thread that wanted it; others wait. It is CLOSING from the
 * moment when it is decided to let go of it until the session is gone; others wait for that, too, and open it anew.
 */
#include "serve/hub_parts.h"

#include <stdio.h>
#include <sys/prctl.h>
#include <time.h>

enum { ALONE_MS = 3000 }; /* for others to leave a room that is to be closed */

int64_t hob_hub_now(void) {
    hob_clock *c = hob_clock_real();
    return c->mono_ms(c);
}

/* ---- rooms, under the lock -------------------------------------------------------------------------------- */

static hob_room *add_room(hob_hub *h, hob_str id, hob_str tenant, hob_str principal) {
    hob_room *room = HOB_NEW(hob_room);
    room->hub = h;
    snprintf(room->id, sizeof room->id, "%.*s", HOB_FMT(id));
    room->tenant = hob_dupz(tenant);
    room->principal = hob_dupz(principal);
    room->state = HOB_ROOM_OPENING;
    hob_list_init(&room->things);
    hob_list_init(&room->keys);
    hob_map_put(h->rooms, id, room);
    hob_list_push(&h->by_use, &room->link);
    return room;
}

static void remove_room(hob_room *room) {
    hob_hub *h = room->hub;
    hob_map_take(h->rooms, hob_str_z(room->id));
    hob_list_remove(&room->link);
    hob_room_settled(room);
    hob_hub_ring(h, hob_str_z(room->id)); /* what was written last is in the store now */
    if (room->caller) hob_caller_give(room->caller, HOB_QUOTA_SESSIONS, 1);
    hob_caller_unref(room->caller);
    hob_room_drop_things(room);
    hob_room_drop_keys(room);
    hob_free(room->tenant);
    hob_free(room->principal);
    hob_free(room->shown);
    hob_free(room);
    pthread_cond_broadcast(&h->cond);
}

bool hob_room_is_of(const hob_room *room, const hob_caller *c) {
    return !c ||
           (hob_str_eqz(c->tenant, room->tenant) && hob_str_eqz(c->principal, room->principal));
}

static void touch(hob_room *room) {
    room->used_ms = hob_hub_now();
    hob_list_remove(&room->link);
    hob_list_push(&room->hub->by_use, &room->link);
}

static void step_in(hob_room *room) {
    room->users++;
    touch(room);
}

/* Waits while it changes: then it is open, or not there. */
static hob_room *settle_room(hob_hub *h, hob_str id) {
    hob_room *room;
    while ((room = hob_map_get(h->rooms, id)) && room->state != HOB_ROOM_OPEN)
        pthread_cond_wait(&h->cond, &h->lock);
    return room;
}

/* ---- letting go -------------------------------------------------------------------------------------------- */

static void on_let_go(hob_work *w) {
    hob_session_detach(HOB_CONTAINER(w, hob_room, work)->s);
}

/* What is settled needs no mark any more: the next server has nothing to take up. */
static void forget_room(hob_room *room) {
    hob_hub *h = room->hub;
    pthread_mutex_lock(&h->lock);
    bool clear = room->marked && !room->busy;
    pthread_mutex_unlock(&h->lock);
    if (clear) hob_marks_clear(h->marks, room->id);
    pthread_mutex_lock(&h->lock);
    remove_room(room);
    pthread_mutex_unlock(&h->lock);
}

static void on_gone(hob_work *w) {
    hob_room *room = HOB_CONTAINER(w, hob_room, work);
    if (w->dropped) hob_session_detach(room->s);
    forget_room(room);
}

static bool can_go(const hob_room *room) {
    return room->state == HOB_ROOM_OPEN && !room->users &&
           (!hob_session_is_running(room->s) || hob_session_is_parked(room->s));
}

/* On the hub's thread, locked. */
static void dismiss(hob_room *room) {
    room->state = HOB_ROOM_CLOSING;
    room->work = (hob_work){.work = on_let_go, .done = on_gone};
    if (hob_pool_submit(room->hub->pool, room->hub->loop, &room->work) < 0)
        room->state = HOB_ROOM_OPEN; /* later */
}

void hob_hub_sweep(hob_hub *h) {
    int64_t before = hob_hub_now() - h->server->idle_ms;
    pthread_mutex_lock(&h->lock);
    HOB_LIST_EACH_SAFE (it, &h->by_use) {
        hob_room *room = HOB_CONTAINER(it, hob_room, link);
        if (room->used_ms > before && hob_map_count(h->rooms) < HOB_HUB_ROOMS) break;
        if (can_go(room))
            dismiss(room);
        else if (room->state == HOB_ROOM_OPEN && room->used_ms <= before)
            touch(room);
    }
    pthread_mutex_unlock(&h->lock);
}

/* ---- coming in ------------------------------------------------------------------------------------------------ */

static int refuse_more(hob_error *err) {
    return hob_fail(err, HOB_EAGAIN, 0,
                    "the server has %d sessions open and all of them work: try again later",
                    HOB_HUB_ROOMS);
}

static int check_admission(hob_hub *h, hob_error *err) {
    if (h->stopping)
        return hob_fail(err, HOB_EAGAIN, 0, "the server is stopping: try again when it is back");
    return hob_map_count(h->rooms) >= HOB_HUB_ROOMS ? refuse_more(err) : HOB_OK;
}

static int use_room(hob_room *room, const hob_caller *c, hob_room **out, hob_error *err) {
    if (!hob_room_is_of(room, c))
        return hob_fail(err, HOB_ENOENT, 0, "there is no session %s", room->id);
    if (c && !hob_mode_within(hob_str_z(room->mode), c->max_mode))
        return hob_fail(
            err, HOB_EACCES, 0,
            "the session is open in the permission mode %s, and this token may use %.*s "
            "at most",
            room->mode, HOB_FMT(c->max_mode));
    step_in(room);
    *out = room;
    return HOB_OK;
}

/* The quota of who opens it. */
static int charge(hob_room *room, const hob_caller *c, hob_error *err) {
    if (!c) return HOB_OK;
    int rc = hob_caller_take(c, HOB_QUOTA_SESSIONS, 1, err);
    if (rc >= 0) room->caller = hob_caller_ref(c);
    return rc;
}

/* It is ready, or it is not and nobody was inside but us. */
static int open_doors(hob_room *room, int rc, hob_room **out) {
    hob_hub *h = room->hub;
    if (rc >= 0) hob_room_note_mode(room);
    pthread_mutex_lock(&h->lock);
    if (rc < 0) {
        remove_room(room);
    } else {
        room->state = HOB_ROOM_OPEN;
        if (!room->heard) room->busy = hob_session_is_running(room->s) > 0; /* taken up again */
        step_in(room);
        *out = room;
        hob_hub_ring(h, hob_str_z(room->id));
        pthread_cond_broadcast(&h->cond);
    }
    pthread_mutex_unlock(&h->lock);
    return rc;
}

int hob_hub_enter(hob_hub *h, const hob_caller *c, hob_str id, hob_page *row, hob_room **out,
                  hob_error *err) {
    char app[520], user[520];
    hob_json_field(hob_page_row(row, 0), "app", app, sizeof app);
    hob_json_field(hob_page_row(row, 0), "user", user, sizeof user);
    pthread_mutex_lock(&h->lock);
    hob_room *room = settle_room(h, id);
    int rc = room ? use_room(room, c, out, err) : check_admission(h, err);
    bool fresh = !room && rc >= 0;
    if (fresh) room = add_room(h, id, hob_str_z(app), hob_str_z(user));
    pthread_mutex_unlock(&h->lock);
    if (!fresh) return rc;
    rc = charge(room, c, err);
    if (rc >= 0) rc = hob_room_open_session(room, c, row, err);
    return open_doors(room, rc, out);
}

hob_room *hob_hub_peek(hob_hub *h, const hob_caller *c, hob_str id) {
    pthread_mutex_lock(&h->lock);
    hob_room *room = hob_map_get(h->rooms, id);
    bool here = room && room->state == HOB_ROOM_OPEN && hob_room_is_of(room, c);
    if (here) step_in(room);
    pthread_mutex_unlock(&h->lock);
    return here ? room : NULL;
}

int hob_hub_open(hob_hub *h, const hob_caller *c, hob_str id, hob_room **out, hob_error *err) {
    hob_page *row;
    pthread_mutex_lock(&h->lock);
    hob_room *room = hob_map_get(h->rooms, id);
    bool here = room && room->state == HOB_ROOM_OPEN && !h->stopping;
    int rc = here ? use_room(room, c, out, err) : HOB_OK;
    pthread_mutex_unlock(&h->lock);
    if (here) return rc;
    rc = hob_hub_find(h, c, id, &row, err);
    if (rc < 0) return rc;
    rc = hob_hub_enter(h, c, id, row, out, err);
    hob_page_destroy(row);
    return rc;
}

/* A wished id is taken from the beginning, so that nobody else opens it in between. Who wishes for one that is being made
 * waits until it is: then it is stored, and whoever made it is known. */
static int reserve(hob_hub *h, const hob_caller *c, const char *id, hob_room **out,
                   hob_error *err) {
    hob_str name = hob_str_z(id);
    if (!hob_id_valid(name)) /* before a room is kept under a name that it cannot have */
        return hob_fail(err, HOB_EINVAL, 0,
                        "an id has 1 to 128 letters, digits, dots, underscores or hyphens");
    pthread_mutex_lock(&h->lock);
    bool there = settle_room(h, name) != NULL;
    int rc = check_admission(h, err);
    if (rc >= 0 && there) rc = hob_fail(err, HOB_EEXIST, 0, "there is a session %s already", id);
    if (rc >= 0) *out = add_room(h, name, c->tenant, c->principal);
    pthread_mutex_unlock(&h->lock);
    return rc;
}

int hob_hub_make(hob_hub *h, const hob_caller *c, hob_session_opts *o, hob_room **out,
                 hob_error *err) {
    char made[129];
    hob_room *room = NULL;
    hob_uuid7_new(hob_clock_real(), made);
    if (!o->id) o->id = made;
    int rc = reserve(h, c, o->id, &room, err);
    if (rc < 0) return rc;
    hob_hub_fill_options(h, c, o);
    rc = charge(room, c, err);
    if (rc >= 0) rc = hob_session_create(h->rt, o, &room->s, err);
    if (rc >= 0) rc = hob_session_save(room->s, err);
    if (rc < 0) hob_session_detach(room->s);
    return open_doors(room, rc, out);
}

/* ---- going out ------------------------------------------------------------------------------------------------ */

void hob_hub_leave(hob_room *room) {
    hob_hub *h = room->hub;
    pthread_mutex_lock(&h->lock);
    room->users--;
    touch(room);
    pthread_cond_broadcast(&h->cond);
    pthread_mutex_unlock(&h->lock);
}

/* False: it is too late. */
static bool wait_until(hob_hub *h, int64_t until) {
    struct timespec t;
    int64_t left = until - hob_hub_now();
    if (left <= 0) return false;
    clock_gettime(CLOCK_MONOTONIC, &t);
    t.tv_sec += left / 1000;
    t.tv_nsec += left % 1000 * 1000000;
    t.tv_sec += t.tv_nsec / 1000000000;
    t.tv_nsec %= 1000000000;
    pthread_cond_timedwait(&h->cond, &h->lock, &t);
    return true;
}

/* Nobody comes in any more; whoever is inside is about to leave. True: we are alone. */
static bool wait_alone(hob_room *room) {
    int64_t until = hob_hub_now() + ALONE_MS;
    if (room->state != HOB_ROOM_OPEN) return false;
    room->state = HOB_ROOM_CLOSING;
    while (room->users > 1 && wait_until(room->hub, until)) {
    }
    if (room->users == 1) return true;
    room->state = HOB_ROOM_OPEN;
    hob_hub_ring(room->hub, hob_str_z(room->id));
    return false;
}

int hob_hub_end(hob_room *room, hob_farewell how, hob_error *err) {
    hob_hub *h = room->hub;
    pthread_mutex_lock(&h->lock);
    bool alone = wait_alone(room);
    room->users--;
    pthread_cond_broadcast(&h->cond);
    pthread_mutex_unlock(&h->lock);
    if (!alone)
        return hob_fail(err, HOB_EBUSY, 0, "another request is at work in this session: try again");
    if (how == HOB_FAREWELL_CLOSE)
        hob_session_close(room->s);
    else
        hob_session_detach(room->s);
    forget_room(room);
    return HOB_OK;
}

hob_session *hob_room_session(const hob_room *room) {
    return room->s;
}

const char *hob_room_id(const hob_room *room) {
    return room->id;
}

bool hob_hub_stopping(hob_hub *h) {
    pthread_mutex_lock(&h->lock);
    bool yes = h->stopping;
    pthread_mutex_unlock(&h->lock);
    return yes;
}

size_t hob_hub_count(hob_hub *h) {
    pthread_mutex_lock(&h->lock);
    size_t n = hob_map_count(h->rooms);
    pthread_mutex_unlock(&h->lock);
    return n;
}

void hob_hub_at_work(hob_hub *h, size_t *working, size_t *waiting) {
    *working = *waiting = 0;
    pthread_mutex_lock(&h->lock);
    HOB_LIST_EACH (it, &h->by_use) {
        const hob_room *room = HOB_CONTAINER(it, hob_room, link);
        if (room->state != HOB_ROOM_OPEN || hob_session_is_running(room->s) <= 0) continue;
        ++*(hob_session_is_parked(room->s) > 0 ? waiting : working);
    }
    pthread_mutex_unlock(&h->lock);
}

/* ---- life ------------------------------------------------------------------------------------------------------- */

static void on_tick(hob_timer *t) {
    hob_hub *h = HOB_CONTAINER(t, hob_hub, tick);
    int64_t now = hob_loop_now(h->loop);
    if (now >= h->next_ms) {
        hob_hub_sweep(h);
        hob_hub_poll(h);
        h->next_ms = now + h->server->tick_ms;
    }
    hob_timer_start(t, hob_hub_tell_nudges(h) ? now + HOB_HUB_SOON_MS : h->next_ms);
}

static void *run_hub(void *hub) {
    hob_hub *h = hub;
    prctl(PR_SET_NAME, "hob-hub", 0, 0, 0);
    hob_timer_init(&h->tick, h->loop, on_tick);
    hob_timer_start(&h->tick, hob_loop_now(h->loop) + h->server->tick_ms);
    while (!h->quit) hob_loop_run_once(h->loop, -1);
    hob_timer_stop(&h->tick);
    return NULL;
}

static void free_hub(hob_hub *h) {
    hob_hub_forget_rows(h);
    hob_map_destroy(h->rooms);
    hob_map_destroy(h->bells);
    hob_shelf_destroy(h->shelf);
    hob_map_destroy(h->rows);
    hob_marks_close(h->marks);
    pthread_cond_destroy(&h->cond);
    pthread_mutex_destroy(&h->moding);
    pthread_mutex_destroy(&h->lock);
    hob_free(h);
}

static hob_hub *new_hub(hob_server *sv) {
    hob_hub *h = HOB_NEW(hob_hub);
    h->server = sv;
    h->rt = sv->rt;
    pthread_mutex_init(&h->moding, NULL);
    pthread_mutex_init(&h->lock, NULL);
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&h->cond, &monotonic);
    pthread_condattr_destroy(&monotonic);
    h->rooms = hob_map_create();
    h->bells = hob_map_create();
    h->shelf = hob_shelf_create();
    h->rows = hob_map_create();
    hob_list_init(&h->by_use);
    hob_list_init(&h->listeners);
    hob_list_init(&h->nudges);
    h->soon.fn = hob_hub_on_soon;
    return h;
}

int hob_hub_create(hob_server *sv, hob_hub **out, hob_error *err) {
    hob_hub *h = new_hub(sv);
    int rc = HOB_OK;
    if (sv->state_dir)
        rc = hob_marks_open(sv->state_dir, hob_config_get(hob_runtime_config(sv->rt), "store"),
                            &h->marks, err);
    if (rc >= 0) rc = hob_loop_create(NULL, &h->loop, err);
    if (rc >= 0) rc = hob_pool_create(HOB_HUB_THREADS, 2 * HOB_HUB_ROOMS, &h->pool, err);
    if (rc >= 0) rc = hob_runtime_watch(h->rt, hob_hub_on_event, h, err);
    if (rc >= 0 && pthread_create(&h->thread, NULL, run_hub, h) != 0) {
        hob_runtime_unwatch(h->rt, hob_hub_on_event, h, NULL);
        rc = hob_fail(err, HOB_EAGAIN, 0, "no thread could be started for the server's sessions");
    }
    if (rc < 0) {
        if (h->pool) hob_pool_destroy(h->pool);
        if (h->loop) hob_loop_destroy(h->loop);
        free_hub(h);
        return rc;
    }
    *out = h;
    return HOB_OK;
}

static hob_room *next_to_end(hob_hub *h) {
    HOB_LIST_EACH (it, &h->by_use) {
        hob_room *room = HOB_CONTAINER(it, hob_room, link);
        if (room->state == HOB_ROOM_OPEN && !room->users) return room;
    }
    return NULL;
}

void hob_hub_stop(hob_hub *h, int64_t timeout_ms) {
    int64_t until = hob_hub_now() + timeout_ms;
    hob_room *room;
    pthread_mutex_lock(&h->lock);
    h->stopping = true;
    while (hob_map_count(h->rooms)) {
        room = next_to_end(h);
        if (!room && !wait_until(h, until)) break;
        if (!room) continue;
        room->state = HOB_ROOM_CLOSING;
        pthread_mutex_unlock(&h->lock);
        hob_session_detach(room->s);
        forget_room(room);
        pthread_mutex_lock(&h->lock);
    }
    pthread_mutex_unlock(&h->lock);
}

void hob_hub_destroy(hob_hub *h) {
    if (!h) return;
    hob_runtime_unwatch(h->rt, hob_hub_on_event, h, NULL);
    h->quit = true;
    hob_loop_wake(h->loop);
    pthread_join(h->thread, NULL);
    hob_pool_destroy(h->pool);
    h->pool = NULL; /* what is still posted finds nobody to do it */
    hob_loop_destroy(h->loop);
    free_hub(h);
}
