/*
 * hub.h - the sessions that are open in this server.
 *
 * A session is opened when somebody wants to act on it, and let go of when nobody did for a while: looking at a session
 * opens nothing, so that a terminal can go on with what a page shows. Letting go ends nothing. A run keeps its session
 * open; one that only waits for an answer does not.
 *
 * A room is one open session. Whoever is inside (hob_hub_open, hob_hub_make, hob_hub_peek) may use the session until
 * hob_hub_leave. Rooms of other tenants are not there: HOB_ENOENT, as for ids that nobody has.
 *
 * Every call is [any] and may block unless marked.
 */
#ifndef HOB_SRC_SERVE_HUB_H
#define HOB_SRC_SERVE_HUB_H

#include "serve/server.h"

#include <hob/session.h>

typedef struct hob_room hob_room;

/* Its threads start; nothing is opened before hob_hub_start. */
int hob_hub_create(hob_server *sv, hob_hub **out, hob_error *err);
/* Takes up the runs that a server was busy with when it ended. Returns at once; sv->not_ready is cleared when it is known
 * which they are. */
void hob_hub_start(hob_hub *h);
/* Opens nothing more, waits for who is inside (not longer than that), lets go of everything: runs stay as they are and
 * can be resumed. */
void hob_hub_stop(hob_hub *h, int64_t timeout_ms);
void hob_hub_destroy(hob_hub *h); /* after hob_hub_stop and after the last stream; NULL is fine */

/* ---- sessions ------------------------------------------------------------------------------------------ */

/* The row of a session of this caller by its whole id. */
int hob_hub_find(hob_hub *h, const hob_caller *c, hob_str id, hob_page **row, hob_error *err);
/* Opens it if need be. HOB_ENOENT; HOB_EBUSY: elsewhere; HOB_EACCES: its folder or its mode is beyond this caller;
 * HOB_ELIMIT: the caller's quota; HOB_EAGAIN: the server is full or stops. */
int hob_hub_open(hob_hub *h, const hob_caller *c, hob_str id, hob_room **out, hob_error *err);
/* NULL: it is not open here. Never blocks. */
hob_room *hob_hub_peek(hob_hub *h, const hob_caller *c, hob_str id);
/* A new session: tenant, approver, definitions and the caller's limits are filled in. */
int hob_hub_make(hob_hub *h, const hob_caller *c, hob_session_opts *o, hob_room **out,
                 hob_error *err);
void hob_hub_leave(hob_room *room);
hob_session *hob_room_session(const hob_room *room);
/* hob_session_set_permission_mode of it; what hob_hub_mode gave to the caller. */
int hob_room_set_mode(hob_room *room, const char *mode, hob_error *err);
const char *hob_room_id(const hob_room *room);

typedef enum hob_farewell { HOB_FAREWELL_LET_GO, HOB_FAREWELL_CLOSE } hob_farewell;
/* Instead of hob_hub_leave: the session is let go of or closed once nobody else is inside. HOB_EBUSY: somebody stays
 * inside; then the room is left all the same. */
int hob_hub_end(hob_room *room, hob_farewell how, hob_error *err);
/* It was removed from the store: streams of it end. */
void hob_hub_removed(hob_hub *h, const hob_caller *c, hob_str id);

/* Before work begins that is to be taken up again should the server die: a mark outside of the process. `c` asks for it,
 * and unless somebody does already it has one run more under way until the session is settled. HOB_ELIMIT: that is too
 * many, or what it may spend is used up. */
int hob_room_begin(hob_room *room, const hob_caller *c, hob_error *err);
/* The same for work that goes on, by an approval, a result or a resume: it is and stays the work of who began it, who is
 * asked to pay; `c`, if nobody did or they are gone. */
int hob_room_go_on(hob_room *room, const hob_caller *c, hob_error *err);
/* After each of the two that succeeded: the work began, or did not after all (`rc` is negative). */
void hob_room_begun(hob_room *room, int rc);

/* What was shown of a session that is open here, if nothing happened since; a heap copy, or NULL. Never blocks. */
char *hob_hub_shown(hob_hub *h, const hob_caller *c, hob_str id);
/* How much has happened: asked before what is to be shown is found out, and given with it. */
uint64_t hob_room_news(hob_room *room);
void hob_room_show(hob_room *room, uint64_t news, hob_str text);

/* Something that the session needs as long as it is open: destroyed after it. */
void hob_room_give(hob_room *room, void *thing, void (*destroy)(void *thing));

/* Called again and again, about ten times a second, from another thread, until it is taken back: for what changes
 * without an event. `fn` only takes note. */
typedef struct hob_nudge {
    hob_list link; /* under the hub's lock */
    void (*fn)(void *user);
    void *user;
    bool on;
} hob_nudge;
void hob_hub_nudge(hob_hub *h, hob_nudge *n);   /* twice is fine */
void hob_hub_unnudge(hob_hub *h, hob_nudge *n); /* so is this */

/* Something that blocks, on one of the hub's threads; then `done` on the hub's. What is not begun when the hub ends is
 * done without. */
typedef struct hob_errand hob_errand;
struct hob_errand {
    void (*run)(hob_errand *e);
    void (*done)(hob_errand *e);
    hob_hub *hub;
    struct hob_errand_part *part; /* of the hub */
};
void hob_hub_send(hob_hub *h, hob_errand *e);
hob_runtime *hob_hub_runtime(const hob_hub *h);

/* May a session of this caller be in that folder? Absolute; *out is its real path. HOB_EACCES, HOB_EINVAL. */
int hob_hub_folder(const hob_hub *h, hob_str path, char *out, size_t cap, hob_error *err);
/* What a caller may ask for: *out is `wish`, or what the configuration says, if that is not wider than allowed; lives as
 * long as the caller and the configuration. HOB_EACCES, HOB_EINVAL. */
int hob_hub_mode(const hob_hub *h, const hob_caller *c, hob_str wish, const char **out,
                 hob_error *err);
bool hob_hub_stopping(hob_hub *h);
size_t hob_hub_count(hob_hub *h); /* rooms */
/* Of them: where a run is under way, and where it waits for somebody. */
void hob_hub_at_work(hob_hub *h, size_t *working, size_t *waiting);

/* ---- answers that are given again (Idempotency-Key) ------------------------------------------------------- */

enum { HOB_KEY_SIZE = 65 };
/* What stands in the log for a key: it, and what must be the same when it comes again. */
void hob_key_make(hob_str key, hob_str route, hob_str body, char out[HOB_KEY_SIZE]);
void hob_key_of_run(hob_str run, char out[HOB_KEY_SIZE]); /* of AG-UI */
/* 1: the same request; HOB_EEXIST: the same key, another request; 0: another key. */
int hob_key_compare(const char *had, const char *key);
/* The key that a session was made with, by its first event; "" = none. */
int hob_hub_key_of(hob_hub *h, const char *id, char out[HOB_KEY_SIZE], hob_error *err);
typedef struct hob_answer { /* what a message became */
    hob_send became;
    char run[64];
    uint64_t seq;
} hob_answer;
/* 1: answered before, *out is what was said; 0: go on, and say hob_room_answered; HOB_EBUSY: it is being answered;
 * HOB_EEXIST: the key was used for another request. Another error: the log cannot be read. Known are the keys of the last
 * few thousand events. */
int hob_room_asked(hob_room *room, const char *key, hob_answer *out, hob_error *err);
void hob_room_answered(hob_room *room, const char *key,
                       const hob_answer *answer); /* NULL = forget */

/* ---- rows that change (hub_list.c) --------------------------------------------------------------------------- */

typedef struct hob_listener hob_listener;
/* [any], under a lock of the hub: must not call it. `row` NULL: session `id` was removed. */
typedef void (*hob_row_fn)(hob_str id, const hob_str *row, void *user);
/* Rows of this caller's sessions, each when it changed, from now on. */
hob_listener *hob_hub_listen(hob_hub *h, const hob_caller *c, hob_row_fn fn, void *user);
void hob_hub_unlisten(hob_listener *l); /* fn is not called any more; NULL is fine */

#endif
