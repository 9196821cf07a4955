/*
 * reader.c - what the reader gets next: durable events in order, and between them the text that streams (stream.c).
 *
 * The reader's cursor is a seq, and an offset a block of each message that is being made. Events come from the tail that the session keeps, or from the
 * store when the reader is further behind. A handle that is never read keeps a little, for a reader who is late, and then
 * nothing: its cursor goes back to where it began, and what follows stands in the store.
 */
#include "session/task.h"

/* ---- durable events ------------------------------------------------------------------------------------ */

/* False: there was no room for the text that goes before it. */
static bool put_event(hob_session *s, hob_event *e) {
    if (!hob_session_stream_before(s, e)) return false;
    hob_mailbox_put(&s->box, e);
    s->cursor++;
    return true;
}

/* How many of the page were put; negative: it is not what was asked for. */
static int put_page(hob_session *s, const hob_store_event *events, size_t n) {
    hob_event *e;
    int put = 0;
    bool room = true;
    if (!n) return HOB_ESTORE;
    for (size_t i = 0; i < n && room && !hob_mailbox_full(&s->box); i++) {
        if (events[i].seq != s->cursor + 1) return HOB_ESTORE;
        int rc = hob_event_decode(events[i].json, &e, NULL);
        if (rc < 0) return put ? put : rc;
        room = put_event(s, e);
        put += room;
        hob_event_unref(e);
    }
    return put;
}

static void on_page(int code, const hob_error *err, const hob_store_event *events, size_t n,
                    int more, void *user) {
    hob_session *s = user;
    (void)err, (void)more;
    if (!hob_session_arrived(s)) return;
    s->reading_cold = false;
    if (code >= 0 && s->cursor == s->cold_from) /* else the reader went elsewhere meanwhile */
        code = put_page(s, events, n);
    if (code < 0) {
        hob_mailbox_end(&s->box, true, code);
        hob_session_publish(s);
        return;
    }
    hob_session_deliver(s);
}

static void read_cold(hob_session *s) {
    if (s->reading_cold) return;
    s->reading_cold = true;
    s->cold_from = s->cursor;
    s->inflight++;
    s->store->ops->read(s->store, hob_str_z(s->id), s->cursor, HOB_MAILBOX_EVENTS, 0, on_page, s);
}

static bool in_tail(hob_session *s, uint64_t seq) {
    return s->ntail && seq >= s->tail_base && seq < s->tail_base + s->ntail;
}

static bool put_next(hob_session *s) {
    if (s->cursor >= s->durable || s->reading_cold) return false;
    if (!s->reading || hob_mailbox_full(&s->box)) {
        hob_mailbox_hold(&s->box);
        return false;
    }
    if (!in_tail(s, s->cursor + 1)) {
        read_cold(s);
        return false;
    }
    return put_event(s, s->tail[s->cursor + 1 - s->tail_base]);
}

/* Nothing will happen by itself, and all that happened is durable. */
static bool settled(hob_session *s) {
    bool alone = hob_session_parked(s) && s->approver == HOB_APPROVER_NONE;
    return (hob_session_idle(s) || alone || s->left_alone) && s->durable == s->view->last_seq;
}

static void call_back(hob_session *s) {
    hob_event *e;
    bool ended;
    int error;
    while (s->on_event && hob_mailbox_take(&s->box, hob_str_z(s->id), &e, &ended, &error)) {
        s->rt->depth++;
        s->on_event(s, e, s->on_event_user);
        s->rt->depth--;
        hob_event_unref(e);
    }
}

static bool more_for_callback(hob_session *s) {
    if (!s->on_event || s->reading_cold) return false;
    return s->cursor < s->durable || hob_mailbox_unhold(&s->box);
}

/* Nobody took anything since the handle was made: what was put by for a reader goes back to the store. */
static void give_up_waiting(hob_session *s) {
    if (!s->reading || s->on_event || !hob_mailbox_forsake(&s->box)) return;
    s->reading = false;
    s->cursor = s->live_from;
    hob_session_forget_sent(s);
}

void hob_session_deliver(hob_session *s) {
    if (s->let_go) return;
    give_up_waiting(s);
    do {
        while (put_next(s)) {
        }
        hob_session_stream(s);
        hob_mailbox_end(&s->box, s->cursor >= s->durable && settled(s), s->failed);
        call_back(s);
    } while (more_for_callback(s));
    hob_session_trim_tail(s);
    hob_session_publish(s);
}

void hob_session_publish(hob_session *s) {
    hob_runtime *rt = s->rt;
    pthread_mutex_lock(&rt->lock);
    s->pub.running = hob_session_active(s) && !s->left_alone;
    s->pub.parked = hob_session_parked(s) && s->durable == s->view->last_seq;
    s->pub.settled = settled(s);
    s->pub.failed = s->failed != 0;
    pthread_cond_broadcast(&rt->cond);
    pthread_mutex_unlock(&rt->lock);
    if (s->task) hob_task_changed(s->task);
    if (s->conversation) hob_subagent_changed(s->conversation);
}
