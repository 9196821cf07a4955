/*
 * reader.c - what the reader gets next: durable events in order, and between them the text that is being streamed.
 *
 * The reader's cursor is (seq, message, offset a block). Events come from the tail that the session keeps, or from the
 * store when the reader is further behind. Streamed text is a range of the answer's own buffer, so a reader that comes
 * late or reads slowly gets everything since its offset as one delta.
 */
#include "session/session.h"

/* ---- streamed text ----------------------------------------------------------------------------------- */

static hob_event_type delta_type(hob_block_kind k) {
    switch (k) {
    case HOB_BLOCK_TEXT: return HOB_EVENT_TEXT_DELTA;
    case HOB_BLOCK_THINKING: return HOB_EVENT_THINKING_DELTA;
    case HOB_BLOCK_TOOL_CALL: return HOB_EVENT_TOOL_ARGS_DELTA;
    case HOB_BLOCK_OPAQUE: break;
    }
    return HOB_EVENT_UNKNOWN;
}

static void put_delta(hob_session *s, hob_delta *d, hob_str text) {
    memcpy(d->key, s->answer_message, sizeof s->answer_message);
    hob_mailbox_put_delta(&s->box, d, hob_str_z(s->answer_run), hob_session_now(s), text);
}

static void open_message(hob_session *s) {
    if (!strcmp(s->sent_message, s->answer_message)) return;
    memcpy(s->sent_message, s->answer_message, sizeof s->sent_message);
    memset(s->sent, 0, sizeof s->sent);
    put_delta(s, &(hob_delta){.type = HOB_EVENT_MESSAGE_OPEN}, HOB_STR_NULL);
}

static void put_answer(hob_session *s) {
    const hob_answer *a = s->answer;
    open_message(s);
    for (size_t i = 0; i < a->nblocks && i < HOB_MAX_BLOCKS; i++) {
        const hob_block *b = &a->blocks[i];
        hob_delta d = {.type = delta_type(b->kind), .block = (int)i, .offset = s->sent[i]};
        if (d.type == HOB_EVENT_UNKNOWN || b->text.n <= s->sent[i]) continue;
        if (b->kind == HOB_BLOCK_TOOL_CALL) d.tool = b->name;
        put_delta(s, &d, hob_str_skip(hob_buf_str(&b->text), s->sent[i]));
        s->sent[i] = b->text.n;
    }
}

/* The answer's text is all out once its durable end is. */
static void close_answer(hob_session *s) {
    hob_answer_destroy(s->answer);
    s->answer = NULL;
}

static bool ends_answer(hob_session *s, const hob_event *e) {
    if (!s->answer || !s->answer_done) return false;
    if (e->type != HOB_EVENT_ASSISTANT_MESSAGE && e->type != HOB_EVENT_MODEL_CALL_FAILED)
        return false;
    return e->seq > s->answer_seq;
}

void hob_session_tool_output(hob_session *s, hob_str call, size_t offset, hob_str text) {
    hob_delta d = {.type = HOB_EVENT_TOOL_OUTPUT_DELTA, .offset = offset};
    if (s->cursor < s->durable) return; /* the reader has not seen the call start yet */
    memcpy(d.key, call.p, HOB_MIN(call.n, sizeof d.key - 1));
    hob_mailbox_put_delta(&s->box, &d, hob_str_z(s->run.id), hob_session_now(s), text);
    hob_session_publish(s);
}

/* ---- durable events ------------------------------------------------------------------------------------ */

static void on_page(int code, const hob_error *err, const hob_store_event *events, size_t n,
                    int more, void *user) {
    hob_session *s = user;
    hob_event *e;
    (void)more;
    if (!hob_session_arrived(s)) return;
    s->reading_cold = false;
    if (code < 0) {
        hob_mailbox_end(&s->box, true, err->code);
        hob_session_publish(s);
        return;
    }
    for (size_t i = 0; i < n && !hob_mailbox_full(&s->box) && events[i].seq == s->cursor + 1; i++) {
        if (hob_event_decode(events[i].json, &e, NULL) < 0) break;
        hob_mailbox_put(&s->box, e);
        hob_event_unref(e);
        s->cursor++;
    }
    hob_session_deliver(s);
}

static void read_cold(hob_session *s) {
    if (s->reading_cold) return;
    s->reading_cold = true;
    s->inflight++;
    s->store->ops->read(s->store, hob_str_z(s->id), s->cursor, HOB_MAILBOX_EVENTS, 0, on_page, s);
}

static bool in_tail(hob_session *s, uint64_t seq) {
    return s->ntail && seq >= s->tail_base && seq < s->tail_base + s->ntail;
}

static bool put_next(hob_session *s) {
    if (s->cursor >= s->durable || s->reading_cold) return false;
    if (hob_mailbox_full(&s->box)) {
        atomic_store(&s->starved, true);
        return false;
    }
    if (!in_tail(s, s->cursor + 1)) {
        read_cold(s);
        return false;
    }
    hob_event *e = s->tail[s->cursor + 1 - s->tail_base];
    bool last_of_answer = ends_answer(s, e);
    if (last_of_answer) put_answer(s);
    hob_mailbox_put(&s->box, e);
    s->cursor++;
    if (last_of_answer) close_answer(s);
    return true;
}

static bool settled(hob_session *s) {
    return !hob_run_active(&s->run) && s->run.settled && s->durable == s->view->last_seq;
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

void hob_session_deliver(hob_session *s) {
    do {
        while (put_next(s)) {
        }
        bool caught_up = s->cursor >= s->durable;
        if (caught_up && s->answer && s->durable >= s->answer_seq) put_answer(s);
        hob_mailbox_end(&s->box, caught_up && settled(s), s->failed);
        if (s->on_event) call_back(s);
    } while (s->on_event && s->cursor < s->durable && !s->reading_cold);
    hob_session_publish(s);
}

void hob_session_publish(hob_session *s) {
    hob_runtime *rt = s->rt;
    pthread_mutex_lock(&rt->lock);
    s->pub.running = hob_run_active(&s->run);
    s->pub.parked = hob_run_parked(&s->run) && s->durable == s->view->last_seq;
    s->pub.settled = settled(s);
    s->pub.failed = s->failed != 0;
    pthread_cond_broadcast(&rt->cond);
    pthread_mutex_unlock(&rt->lock);
}
