/*
 * feed.h - the events of one session from a cursor on, whoever writes them: no gap and no double, for as long as
 * somebody wants them.
 *
 * A feed has one cursor, the number of the last durable event it gave, and three sources which it changes as things
 * change: a reader of the session while it is open here, pages of the store while it is not, and a bell to wait for
 * when there is nothing more. Whatever it changes to begins at the cursor; that is why the order of such changes does
 * not matter. What streams (no number) comes from the reader only.
 *
 * hob_feed_next and hob_feed_destroy: one thread at a time, never block. What blocks happens on the hub's threads.
 */
#ifndef HOB_SRC_SERVE_FEED_H
#define HOB_SRC_SERVE_FEED_H

#include "serve/hub.h"
#include "serve/slab.h"

typedef struct hob_feed hob_feed;

/* `wake` [any]: hob_feed_next has something to say again; it comes once after each 0 at least, and
 * when a look found nothing. It takes note only. */
typedef void (*hob_wake_fn)(void *user);
typedef struct hob_feed_opts {
    hob_str session; /* the caller has seen that it is there and whose it is */
    uint64_t number; /* hob_runtime_session_number: another session of its id is not followed */
    bool text;       /* what is stored may come as text: hob_feed_text */
    uint64_t after;
    hob_wake_fn wake;
    void *user;
} hob_feed_opts;
hob_feed *hob_feed_create(hob_hub *h, const hob_feed_opts *o);
/* Many stored events at once, as server-sent events: 1 and *out (to be unref'ed); 0: ask hob_feed_next. */
int hob_feed_text(hob_feed *f, hob_slab **out);
/* 1 and *out (to be unref'ed); 0 = nothing now; HOB_ENOENT: the session was removed; another error: it cannot be read
 * now, go on with another feed from hob_feed_cursor. */
int hob_feed_next(hob_feed *f, hob_event **out);
/* After a 0: nothing is on its way either, everything that is there was given. */
bool hob_feed_is_idle(hob_feed *f);
uint64_t hob_feed_cursor(const hob_feed *f);
/* `wake` is not called any more. NULL is fine. */
void hob_feed_destroy(hob_feed *f);

/* ---- for the hub, under its lock ------------------------------------------------------------------------ */
hob_feed *hob_feed_of_link(hob_list *link);
void hob_feed_ring(hob_feed *f);                    /* there may be news */
void hob_feed_told(hob_feed *f, uint64_t last_seq); /* the store has that much; said once */

#endif
