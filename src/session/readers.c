/*
 * readers.c - further readers of a session, each at its own pace.
 *
 * The reader is the host's, its mailbox is filled on the loop. Neither end waits for the other: a reader that finds
 * nothing says so and is told once when there is something; one that let things pile up asks for the rest with a
 * message. Closing is a message too, so that whatever was under way for the reader comes before it. A session that goes
 * away leaves the reader behind, empty.
 */
#include "session/session.h"

/* ---- telling ------------------------------------------------------------------------------------------------ */

void hob_reader_tell(hob_reader *r) {
    if (!hob_mailbox_rouse(&r->box)) return;
    pthread_mutex_lock(&r->lock);
    r->rt->depth++;
    if (r->ready) r->ready(r->user);
    r->rt->depth--;
    pthread_mutex_unlock(&r->lock);
}

void hob_session_tell_readers(hob_session *s) {
    HOB_LIST_EACH_SAFE (it, &s->readers) {
        hob_reader *r = HOB_CONTAINER(it, hob_reader, link);
        if (r != &s->reader) hob_reader_tell(r);
    }
}

void hob_session_drop_readers(hob_session *s) {
    HOB_LIST_EACH_SAFE (it, &s->readers) {
        hob_reader *r = HOB_CONTAINER(it, hob_reader, link);
        if (r == &s->reader) continue;
        hob_list_remove(&r->link);
        hob_reader_forget_sent(r);
        r->s = NULL;
        hob_mailbox_close(&r->box);
        hob_reader_tell(r);
    }
}

/* ---- asking for more ---------------------------------------------------------------------------------------- */

static void on_refill(hob_msg *m) {
    hob_reader *r = HOB_CONTAINER(m, hob_reader, refill);
    atomic_store(&r->refilling, false);
    if (!r->s) return;
    hob_session_deliver(r->s);
}

static void refill(hob_reader *r) {
    if (!atomic_exchange(&r->refilling, true)) hob_loop_post(r->rt->loop, &r->refill);
}

int hob_reader_next(hob_reader *r, hob_event **out) {
    bool ended, held, closed;
    int error;
    for (;;) {
        if (hob_mailbox_take(&r->box, hob_str_z(r->session_id), out, &ended, &error)) return 1;
        if (error) return error;
        if (hob_mailbox_await(&r->box, &held, &closed)) continue;
        if (held) refill(r);
        return closed ? HOB_ECANCELLED : 0;
    }
}

/* ---- coming and going --------------------------------------------------------------------------------------- */

void hob_reader_free(hob_reader *r) {
    hob_reader_finish(r);
    pthread_mutex_destroy(&r->lock);
    hob_free(r->session_id);
    hob_free(r);
}

static void on_bye(hob_msg *m) {
    hob_reader *r = HOB_CONTAINER(m, hob_reader, bye);
    r->closed = true;
    hob_list_remove(&r->link);
    if (!r->reading_cold) hob_reader_free(r);
}

void hob_reader_close(hob_reader *r) {
    if (!r) return;
    pthread_mutex_lock(&r->lock);
    r->ready = NULL;
    pthread_mutex_unlock(&r->lock);
    hob_loop_post(r->rt->loop, &r->bye);
}

/* The callback may close its reader. */
static void init_lock(pthread_mutex_t *lock) {
    pthread_mutexattr_t a;
    pthread_mutexattr_init(&a);
    pthread_mutexattr_settype(&a, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(lock, &a);
    pthread_mutexattr_destroy(&a);
}

typedef struct opening {
    hob_op op;
    uint64_t after;
    hob_reader *r;
} opening;

static void start_reader(hob_op *op) {
    opening *o = HOB_CONTAINER(op, opening, op);
    hob_session *s = op->s;
    hob_reader_init(o->r, s);
    o->r->session_id = hob_dupz(hob_str_z(s->id));
    hob_reader_seek(o->r, o->after);
    hob_session_deliver(s);
    hob_op_done(op, HOB_OK, NULL);
}

int hob_session_reader(hob_session *s, uint64_t after, hob_ready_fn ready, void *user,
                       hob_reader **out, hob_error *err) {
    hob_reader *r = HOB_NEW(hob_reader);
    opening o = {.op = {.start = start_reader}, .after = after, .r = r};
    r->rt = s->rt;
    r->ready = ready;
    r->user = user;
    r->refill.fn = on_refill;
    r->bye.fn = on_bye;
    init_lock(&r->lock);
    int rc = hob_session_run(s, &o.op, err);
    if (rc < 0) {
        pthread_mutex_destroy(&r->lock);
        hob_free(r);
        return rc;
    }
    *out = r;
    return HOB_OK;
}
