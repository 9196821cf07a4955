/*
 * hub_parts.h - the hub as its own files see it.
 *
 * Locks, in the order in which they are taken: hub->lock, then a feed's. No call of the runtime that waits is made
 * under either: what a session's loop tells us (hub_list.c, feed.c) takes hub->lock, too.
 */
#ifndef HOB_SRC_SERVE_HUB_PARTS_H
#define HOB_SRC_SERVE_HUB_PARTS_H

#include "loop/loop.h"
#include "serve/hub.h"
#include "serve/slab.h"

#include <pthread.h>

enum {
    HOB_HUB_ROOMS = 20000, /* open at the same time */
    HOB_HUB_SOON_MS = 100, /* after work of our own that changes a row */
    HOB_HUB_THREADS = 8    /* for opening, reading pages, letting go */
};

typedef enum hob_room_state { HOB_ROOM_OPENING, HOB_ROOM_OPEN, HOB_ROOM_CLOSING } hob_room_state;

struct hob_room {
    hob_hub *hub;
    char id[129];
    char *tenant, *principal;
    const hob_caller *caller; /* whose quota of sessions it counts for; NULL = nobody's */
    /* under hub->lock */
    hob_list link; /* hub->by_use */
    hob_room_state state;
    hob_session *s;
    unsigned users;
    int64_t used_ms;         /* monotonic */
    const hob_caller *payer; /* whose quota of runs is taken; NULL = nobody's */
    bool busy;               /* by what its log says: a run is under way */
    bool heard;              /* its log has said so since it is open */
    unsigned beginning;      /* requests between hob_room_begin and hob_room_begun */
    bool over;     /* meanwhile it settled: the last of them gives back what the run took */
    bool paused;   /* with any event that follows it may come to a stand */
    size_t queued; /* follow-ups that wait */
    bool marked;
    char mode[16]; /* permission mode */
    uint64_t news; /* events that became durable since it is open */
    char *shown;   /* hub_shown.c: of that many news, from then; NULL = nothing is kept */
    uint64_t shown_news;
    int64_t shown_ms;
    hob_list things; /* hub_help.c: what its session needs */
    hob_list keys;   /* hub_answers.c: keys of requests, and what was answered */
    size_t nkeys;
    bool keys_read; /* those of the log are among them */
    hob_work work;  /* letting go */
};

typedef struct hob_bell { /* whoever waits for news of one session */
    hob_list feeds;
    uint64_t told; /* the feeds know that there is so much */
    char id[];
} hob_bell;

struct hob_hub {
    hob_server *server;
    hob_runtime *rt;
    hob_loop *loop; /* of the hub's thread */
    hob_pool *pool;
    pthread_t thread;
    _Atomic bool quit;
    hob_timer tick;
    int64_t next_ms;      /* when it is time to look around; hub's thread */
    int marked, going_on; /* at the start: sessions that are looked at, that go on; hub's thread */
    struct hob_marks *marks; /* NULL: nothing survives */
    pthread_mutex_t moding;  /* around the change of a session's mode; before `lock` */
    pthread_mutex_t lock;
    pthread_cond_t cond; /* a room changed its state, or lost a user */
    bool stopping;
    hob_map *rooms;  /* id -> hob_room */
    hob_list by_use; /* rooms, the one used longest ago first */
    hob_map *bells;  /* id -> hob_bell */
    size_t waiting;  /* feeds that wait for a bell */
    hob_shelf *shelf;
    hob_list listeners;
    hob_list nudges;
    /* the poll for what others write: hub_poll.c; its work and cursor are used by one thread at a time */
    hob_work poll;
    bool polling;    /* hub's thread */
    bool poll_soon;  /* under the lock: `soon` is on its way */
    hob_msg soon;    /* a row has changed: do not wait for the next tick */
    int64_t seen_ms; /* newest change seen, wall time */
    size_t round;    /* where the next look at single sessions begins: a place in `bells` */
    hob_map *rows;   /* id -> hob_row_seen, of listeners; under the lock */
};

int64_t hob_hub_now(void);
/* A room for a row of the store, without a caller: at the start. */
int hob_hub_enter(hob_hub *h, const hob_caller *c, hob_str id, hob_page *row, hob_room **out,
                  hob_error *err);
bool hob_room_is_of(const hob_room *room, const hob_caller *c); /* NULL = anybody's */
void hob_hub_sweep(hob_hub *h); /* hub's thread: lets go of what nobody uses */

/* ---- hub_open.c ------------------------------------------------------------------------------------------- */
/* The session of a room that is being opened, by its row. */
int hob_room_open_session(hob_room *room, const hob_caller *c, hob_page *row, hob_error *err);
void hob_hub_fill_options(hob_hub *h, const hob_caller *c, hob_session_opts *o);
void hob_room_note_mode(hob_room *room);
bool hob_mode_within(hob_str mode, hob_str most);

/* ---- hub_news.c: what the runtime tells, and bells ----------------------------------------------------------- */
void hob_hub_on_event(hob_event *e, void *hub);
void hob_hub_ring(hob_hub *h, hob_str id); /* under lock */
void hob_room_settled(hob_room *room);     /* under lock: gives back what its run took */

/* ---- hub_poll.c ------------------------------------------------------------------------------------------- */
void hob_hub_poll(hob_hub *h); /* hub's thread: looks, unless it is looking */
void hob_hub_on_soon(hob_msg *m);

/* ---- hub_list.c -------------------------------------------------------------------------------------------- */
void hob_hub_tell_row(hob_hub *h, hob_str row); /* a row as the store has it now; locked */
void hob_hub_tell_removed(hob_hub *h, const hob_caller *c, hob_str id);
void hob_hub_forget_rows(hob_hub *h);

/* ---- hub_help.c ------------------------------------------------------------------------------------------- */
void hob_room_drop_things(hob_room *room);
bool hob_hub_tell_nudges(hob_hub *h); /* hub's thread; false: there are none */

/* ---- hub_answers.c ------------------------------------------------------------------------------------------ */
void hob_room_drop_keys(hob_room *room);

/* ---- marks.c: which sessions are to be taken up again ------------------------------------------------------------- */
typedef struct hob_marks hob_marks;
/* A folder of its own beneath `dir`; one for each store. */
int hob_marks_open(const char *dir, hob_str store, hob_marks **out, hob_error *err);
void hob_marks_close(hob_marks *m);
int hob_marks_set(hob_marks *m, const char *id, hob_error *err); /* durable when it returns */
bool hob_marks_has(const hob_marks *m, const char *id);          /* NULL is fine */
void hob_marks_clear(hob_marks *m, const char *id);
/* Calls fn for each. */
int hob_marks_each(hob_marks *m, void (*fn)(const char *id, void *user), void *user,
                   hob_error *err);

#endif
