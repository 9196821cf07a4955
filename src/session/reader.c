/*
 * reader.c - what a reader gets next: durable events in order, and between them the text that streams (stream.c).
 *
 * A session has any number of readers: the handle's own and those of readers.c. A reader's cursor is a seq, and an
 * offset a block of each message that is being made. Events come from the tail that the session keeps, or from the
 * store when the reader is further behind. A handle that is never read keeps a little, for a reader who is late, and then
 * nothing: its cursor goes back to where it began, and what follows stands in the store.
 */
#include "session/task.h"

void hob_reader_init(hob_reader *r, hob_session *s) {
    r->s = s;
    hob_list_init(&r->link);
    hob_list_init(&r->sent);
    hob_mailbox_init(&r->box);
    hob_list_push(&s->readers, &r->link);
}

void hob_reader_finish(hob_reader *r) {
    hob_list_remove(&r->link);
    hob_reader_forget_sent(r);
    hob_mailbox_finish(&r->box);
}

void hob_reader_begin(hob_reader *r, uint64_t seq) {
    r->reading = true;
    r->live_from = r->cursor = seq;
}

void hob_reader_seek(hob_reader *r, uint64_t seq) {
    hob_mailbox_clear(&r->box);
    hob_reader_forget_sent(r);
    r->reading = true;
    r->live_from = r->s->durable;
    r->cursor = HOB_MIN(seq, r->s->durable);
}

void hob_session_recall_readers(hob_session *s) {
    HOB_LIST_EACH (it, &s->readers) {
        hob_reader *r = HOB_CONTAINER(it, hob_reader, link);
        r->cursor = HOB_MIN(r->cursor, s->durable);
    }
}

/* ---- durable events ------------------------------------------------------------------------------------ */

/* False: there was no room for the text that goes before it. */
static bool put_event(hob_reader *r, hob_event *e) {
    if (!hob_reader_stream_before(r, e)) return false;
    hob_mailbox_put(&r->box, e);
    r->cursor++;
    return true;
}

/* How many of the page were put; negative: it is not what was asked for. */
static int put_page(hob_reader *r, const hob_store_event *events, size_t n) {
    hob_event *e;
    int put = 0;
    bool room = true;
    if (!n) return HOB_ESTORE;
    for (size_t i = 0; i < n && room && !hob_mailbox_full(&r->box); i++) {
        if (events[i].seq != r->cursor + 1) return HOB_ESTORE;
        int rc = hob_event_decode(events[i].json, &e, NULL);
        if (rc < 0) return put ? put : rc;
        room = put_event(r, e);
        put += room;
        hob_event_unref(e);
    }
    return put;
}

static void on_page(int code, const hob_error *err, const hob_store_event *events, size_t n,
                    int more, void *user) {
    hob_reader *r = user;
    hob_session *s = r->s;
    (void)err, (void)more;
    r->reading_cold = false;
    bool closed = r->closed;
    if (closed) hob_reader_free(r);
    if (!hob_session_arrived(s) || closed) return;
    if (code >= 0 && r->cursor == r->cold_from) /* else the reader went elsewhere meanwhile */
        code = put_page(r, events, n);
    if (code < 0) {
        hob_mailbox_end(&r->box, true, code);
        hob_session_publish(s);
        hob_session_tell_readers(s);
        return;
    }
    hob_session_deliver(s);
}

static void read_cold(hob_reader *r) {
    hob_session *s = r->s;
    if (r->reading_cold) return;
    r->reading_cold = true;
    r->cold_from = r->cursor;
    s->inflight++;
    s->store->ops->read(s->store, hob_str_z(s->id), r->cursor, HOB_MAILBOX_EVENTS, 0, on_page, r);
}

static bool in_tail(hob_session *s, uint64_t seq) {
    return s->ntail && seq >= s->tail_base && seq < s->tail_base + s->ntail;
}

static bool put_next(hob_reader *r) {
    hob_session *s = r->s;
    if (r->cursor >= s->durable || r->reading_cold) return false;
    if (!r->reading || hob_mailbox_full(&r->box)) {
        hob_mailbox_hold(&r->box);
        return false;
    }
    if (!in_tail(s, r->cursor + 1)) {
        read_cold(r);
        return false;
    }
    return put_event(r, s->tail[r->cursor + 1 - s->tail_base]);
}

/* Nothing will happen by itself, and all that happened is durable. */
static bool settled(hob_session *s) {
    bool alone = hob_session_parked(s) && s->approver == HOB_APPROVER_NONE;
    return (hob_session_idle(s) || alone || s->left_alone) && s->durable == s->view->last_seq;
}

static void call_back(hob_reader *r) {
    hob_session *s = r->s;
    hob_event *e;
    bool ended;
    int error;
    while (r->on_event && hob_mailbox_take(&r->box, hob_str_z(s->id), &e, &ended, &error)) {
        s->rt->depth++;
        r->on_event(s, e, r->on_event_user);
        s->rt->depth--;
        hob_event_unref(e);
    }
}

static bool more_for_callback(hob_reader *r) {
    if (!r->on_event || r->reading_cold) return false;
    return r->cursor < r->s->durable || hob_mailbox_unhold(&r->box);
}

/* Nobody took anything since the handle was made: what was put by for a reader goes back to the store. */
static void give_up_waiting(hob_reader *r) {
    if (!r->reading || r->on_event || !hob_mailbox_forsake(&r->box)) return;
    r->reading = false;
    r->cursor = r->live_from;
    hob_reader_forget_sent(r);
}

static void deliver(hob_reader *r) {
    hob_session *s = r->s;
    if (r == &s->reader) give_up_waiting(r);
    do {
        while (put_next(r)) {
        }
        hob_reader_stream(r);
        hob_mailbox_end(&r->box, r->cursor >= s->durable && settled(s), s->failed);
        call_back(r);
    } while (more_for_callback(r));
    if (r != &s->reader) hob_reader_tell(r);
}

void hob_session_deliver(hob_session *s) {
    if (s->let_go) return;
    HOB_LIST_EACH_SAFE (it, &s->readers) deliver(HOB_CONTAINER(it, hob_reader, link));
    hob_session_drop_answers(s);
    hob_session_trim_tail(s);
    hob_session_publish(s);
}

void hob_session_publish(hob_session *s) {
    hob_runtime *rt = s->rt;
    pthread_mutex_lock(&rt->lock);
    s->pub.running = hob_session_active(s) && !s->left_alone && !s->failed;
    s->pub.parked = hob_session_parked(s) && s->durable == s->view->last_seq;
    s->pub.parked_at = s->pub.parked ? s->durable : 0;
    s->pub.paused = hob_run_active(&s->run) && hob_run_held(&s->run);
    s->pub.settled = settled(s);
    s->pub.failed = s->failed != 0;
    pthread_cond_broadcast(&rt->cond);
    pthread_mutex_unlock(&rt->lock);
    if (s->task) hob_task_changed(s->task);
    if (s->conversation) hob_subagent_changed(s->conversation);
}
