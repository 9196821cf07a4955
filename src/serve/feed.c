#include "serve/feed.h"

#include "serve/hub_parts.h"

#include <stdio.h>

enum { PAGE = 256 };

typedef enum feed_state {
    FEED_ASKED,   /* somebody of the hub will look for more */
    FEED_READER,  /* the session is open here */
    FEED_PAGE,    /* stored events are at hand */
    FEED_SLAB,    /* as text */
    FEED_WAITING, /* for the bell */
    FEED_FAILED
} feed_state;

struct hob_feed {
    hob_list link; /* in its bell; under hub->lock */
    hob_hub *hub;
    char *id;
    uint64_t number;
    char *log; /* its name on the shelf; NULL: no text is wanted */
    hob_wake_fn wake;
    void *user;
    hob_msg msg; /* both of FEED_ASKED */
    hob_work work;
    feed_state found; /* what the look found */
    int looked;       /* and why not: HOB_E… */
    bool near;        /* it found the end of what is stored */
    pthread_mutex_t lock;
    /* under the lock; in FEED_ASKED the sources are the looker's */
    feed_state state;
    bool rung;     /* the bell was rung since the look began */
    bool orphaned; /* nobody wants it any more: the looker frees it */
    uint64_t cursor;
    hob_reader *reader;
    hob_page *page;
    size_t at;
    hob_slab *slab;
    int error;
};

/* ---- asking the hub to look ------------------------------------------------------------------------------- */

static void free_feed(hob_feed *f) {
    hob_reader_close(f->reader);
    hob_page_destroy(f->page);
    hob_slab_unref(f->slab);
    pthread_mutex_destroy(&f->lock);
    hob_free(f->log);
    hob_free(f->id);
    hob_free(f);
}

/* Locked. */
static void ask(hob_feed *f) {
    f->state = FEED_ASKED;
    f->rung = false;
    hob_loop_post(f->hub->loop, &f->msg);
}

/* Locked. What others read lately need not be looked for. */
static void go_on(hob_feed *f) {
    f->slab = f->log ? hob_shelf_find(f->hub->shelf, hob_str_z(f->log), f->cursor) : NULL;
    if (f->slab)
        f->state = FEED_SLAB;
    else
        ask(f);
}

static void on_ready(void *user) {
    hob_feed *f = user;
    f->wake(f->user);
}

/* The session as it is open here, if it is: its reader goes on from there. */
static bool attach(hob_feed *f, uint64_t after) {
    hob_room *room = hob_hub_peek(f->hub, NULL, hob_str_z(f->id));
    hob_reader *r = NULL;
    if (!room) return false;
    int rc = hob_session_reader(hob_room_session(room), after, on_ready, f, &r, NULL);
    hob_hub_leave(room);
    if (rc < 0) return false;
    f->reader = r;
    return true;
}

/* 1: stored events are at hand; 0: there is none behind the cursor. */
static int turn_page(hob_feed *f) {
    hob_error err;
    hob_page *page;
    int rc = hob_runtime_events(f->hub->rt, f->id, f->cursor, PAGE, &page, &err);
    if (rc < 0) return rc;
    f->near = !hob_page_next(page).n;
    if (!hob_page_count(page)) {
        hob_page_destroy(page);
        return 0;
    }
    f->page = page;
    f->at = 0;
    return 1;
}

/* The same as text. */
static int cut_slab(hob_feed *f) {
    hob_error err;
    hob_page *page;
    size_t room = hob_slab_room(f->cursor), n;
    int rc = hob_runtime_events(f->hub->rt, f->id, f->cursor, room, &page, &err);
    if (rc < 0) return rc;
    n = hob_page_count(page);
    f->near = !hob_page_next(page).n;
    if (n) rc = hob_slab_create(page, f->cursor, &f->slab);
    hob_page_destroy(page);
    return rc < 0 || !n ? rc : 1;
}

static feed_state look_around(hob_feed *f) {
    bool text =
        f->log &&
        !f->near; /* far behind: what is stored is read as it is, whoever has the session open */
    f->looked = text ? cut_slab(f) : 0;
    if (f->looked > 0) {
        if (f->near)
            attach(f, f->slab->last); /* at once, so that nothing of what streams is missed */
        return FEED_SLAB;
    }
    if (f->looked < 0 || attach(f, f->cursor)) return FEED_READER;
    f->looked = turn_page(f);
    return f->looked > 0 ? FEED_PAGE : FEED_WAITING;
}

/* Whatever was found was found by an id. After it: is that still the session that it was? */
static int check_session(hob_feed *f) {
    uint64_t number;
    int rc = hob_runtime_session_number(f->hub->rt, f->id, &number, NULL);
    return rc < 0 ? rc : number == f->number ? HOB_OK : HOB_ENOENT;
}

static void look(hob_work *w) {
    hob_feed *f = HOB_CONTAINER(w, hob_feed, work);
    f->found = look_around(f);
    if (f->looked < 0) return;
    int rc = check_session(f);
    if (rc < 0)
        f->looked = rc;
    else if (f->found == FEED_SLAB)
        hob_shelf_put(f->hub->shelf, hob_str_z(f->log), f->cursor, f->slab);
}

/* Hub's thread: its owner is told, unless there was news in the meantime and nothing was found. */
static void on_looked(hob_work *w) {
    hob_feed *f = HOB_CONTAINER(w, hob_feed, work);
    pthread_mutex_lock(&f->lock);
    bool orphaned = f->orphaned;
    f->error = w->dropped ? HOB_ECANCELLED : HOB_MIN(f->looked, 0);
    f->state = f->error ? FEED_FAILED : f->found;
    if (!orphaned && f->state == FEED_WAITING && f->rung)
        ask(f);
    else if (!orphaned)
        f->wake(f->user);
    pthread_mutex_unlock(&f->lock);
    if (orphaned) free_feed(f);
}

static void on_asked(hob_msg *m) {
    hob_feed *f = HOB_CONTAINER(m, hob_feed, msg);
    f->work = (hob_work){.work = look, .done = on_looked};
    if (hob_pool_submit(f->hub->pool, f->hub->loop, &f->work) >= 0) return;
    f->work.dropped = true;
    on_looked(&f->work);
}

/* ---- the bell ----------------------------------------------------------------------------------------------- */

hob_feed *hob_feed_of_link(hob_list *link) {
    return HOB_CONTAINER(link, hob_feed, link);
}

void hob_feed_ring(hob_feed *f) {
    pthread_mutex_lock(&f->lock);
    if (f->state == FEED_WAITING)
        ask(f);
    else
        f->rung = true;
    pthread_mutex_unlock(&f->lock);
}

void hob_feed_told(hob_feed *f, uint64_t last_seq) {
    pthread_mutex_lock(&f->lock);
    if (f->state == FEED_WAITING && last_seq > f->cursor)
        ask(f);
    else
        f->rung =
            true; /* a look that is under way may have come too early; any later one does not */
    pthread_mutex_unlock(&f->lock);
}

static void hang_bell(hob_feed *f) {
    hob_hub *h = f->hub;
    size_t n = strlen(f->id) + 1;
    pthread_mutex_lock(&h->lock);
    hob_bell *bell = hob_map_get(h->bells, hob_str_z(f->id));
    if (!bell) {
        bell = hob_alloc(sizeof *bell + n);
        memcpy(bell->id, f->id, n);
        hob_list_init(&bell->feeds);
        hob_map_put(h->bells, hob_str_z(f->id), bell);
    }
    hob_list_push(&bell->feeds, &f->link);
    h->waiting++;
    pthread_mutex_unlock(&h->lock);
}

static void take_down_bell(hob_feed *f) {
    hob_hub *h = f->hub;
    pthread_mutex_lock(&h->lock);
    hob_bell *bell = hob_map_get(h->bells, hob_str_z(f->id));
    hob_list_remove(&f->link);
    h->waiting--;
    if (bell && hob_list_empty(&bell->feeds)) {
        hob_map_take(h->bells, hob_str_z(f->id));
        hob_free(bell);
    }
    pthread_mutex_unlock(&h->lock);
}

/* ---- for its owner --------------------------------------------------------------------------------------------- */

static char *name_log(hob_str session, uint64_t number) {
    hob_buf b;
    hob_buf_init(&b, 512);
    hob_buf_addf(&b, "%.*s %llu", HOB_FMT(session), (unsigned long long)number);
    char *name = hob_dupz(hob_buf_str(&b));
    hob_buf_finish(&b);
    return name;
}

hob_feed *hob_feed_create(hob_hub *h, const hob_feed_opts *o) {
    hob_feed *f = HOB_NEW(hob_feed);
    f->hub = h;
    f->id = hob_dupz(o->session);
    f->number = o->number;
    f->log = o->text ? name_log(o->session, o->number) : NULL;
    f->cursor = o->after;
    f->wake = o->wake;
    f->user = o->user;
    f->msg.fn = on_asked;
    pthread_mutex_init(&f->lock, NULL);
    hang_bell(f); /* before the first look: what happens from now on is not missed */
    pthread_mutex_lock(&f->lock);
    go_on(f);
    pthread_mutex_unlock(&f->lock);
    return f;
}

void hob_feed_destroy(hob_feed *f) {
    if (!f) return;
    take_down_bell(f);
    pthread_mutex_lock(&f->lock);
    bool asked = f->state == FEED_ASKED;
    f->orphaned = true;
    pthread_mutex_unlock(&f->lock);
    if (!asked) free_feed(f);
}

uint64_t hob_feed_cursor(const hob_feed *f) {
    return f->cursor;
}

bool hob_feed_is_idle(hob_feed *f) {
    pthread_mutex_lock(&f->lock);
    bool yes = f->state == FEED_WAITING || f->state == FEED_READER;
    pthread_mutex_unlock(&f->lock);
    return yes;
}

/* Everything that has a number passes here, whatever its source: 1 = it is the next one; 0 = it was given before. */
static int admit(hob_feed *f, const hob_event *e) {
    uint64_t seq = hob_event_seq(e);
    if (!seq) return 1;
    if (seq <= f->cursor) return 0;
    if (seq != f->cursor + 1) return HOB_EPROTO;
    f->cursor = seq;
    return 1;
}

/* The session was let go of, or its reader failed: the store goes on where it stopped. */
static int next_read(hob_feed *f, hob_event **out) {
    int rc;
    while ((rc = hob_reader_next(f->reader, out)) == 1) {
        int fits = admit(f, *out);
        if (fits == 1) return 1;
        hob_event_unref(*out);
        if (fits < 0) {
            rc = fits;
            break;
        }
    }
    if (rc == 0) return 0;
    hob_reader_close(f->reader);
    f->reader = NULL;
    ask(f);
    return 0;
}

static int next_stored(hob_feed *f, hob_event **out) {
    while (f->at < hob_page_count(f->page)) {
        int rc = hob_event_from_json(hob_page_row(f->page, f->at++), out, NULL);
        if (rc < 0) return rc;
        if ((rc = admit(f, *out)) == 1) return 1;
        hob_event_unref(*out);
        if (rc < 0) return rc;
    }
    hob_page_destroy(f->page);
    f->page = NULL;
    ask(f);
    return 0;
}

int hob_feed_text(hob_feed *f, hob_slab **out) {
    pthread_mutex_lock(&f->lock);
    bool there = f->state == FEED_SLAB;
    if (there) {
        *out = f->slab;
        f->cursor = f->slab->last;
        f->slab = NULL;
        if (f->reader)
            f->state = FEED_READER;
        else
            go_on(f);
    }
    pthread_mutex_unlock(&f->lock);
    return there;
}

int hob_feed_next(hob_feed *f, hob_event **out) {
    int rc = 0;
    pthread_mutex_lock(&f->lock);
    switch (f->state) {
    case FEED_ASKED:
    case FEED_SLAB:
    case FEED_WAITING: break;
    case FEED_READER: rc = next_read(f, out); break;
    case FEED_PAGE: rc = next_stored(f, out); break;
    case FEED_FAILED: rc = f->error; break;
    }
    if (rc < 0 && f->state != FEED_FAILED) {
        f->state = FEED_FAILED;
        f->error = rc;
    }
    pthread_mutex_unlock(&f->lock);
    return rc;
}
