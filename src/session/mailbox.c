/*
 * mailbox.c - events on their way from the loop to one reader on any thread.
 *
 * Durable events are never dropped: the loop looks whether there is room (hob_mailbox_full) and otherwise leaves them
 * in the log, where the reader's cursor finds them later. Deltas join the newest letter of the same stream, so that a
 * slow reader gets fewer, larger ones; beyond a ceiling they are dropped, because the whole text follows.
 */
#include "session/session.h"

#include <sys/eventfd.h>
#include <unistd.h>

enum { LETTERS = HOB_MAILBOX_EVENTS * 2 }; /* half for events, half for deltas between them */

void hob_mailbox_init(hob_mailbox *m) {
    *m = (hob_mailbox){.fd = -1, .ended = true};
    pthread_mutex_init(&m->lock, NULL);
}

static hob_letter *at(hob_mailbox *m, size_t i) {
    return &m->ring[(m->head + i) % m->cap];
}

static void clear(hob_letter *l) {
    hob_event_unref(l->event);
    hob_buf_finish(&l->text);
    *l = (hob_letter){.event = NULL};
}

static void empty(hob_mailbox *m) {
    for (size_t i = 0; i < m->count; i++) clear(at(m, i));
    hob_free(m->ring);
    m->ring = NULL;
    m->head = m->count = m->cap = m->delta_bytes = 0;
}

void hob_mailbox_clear(hob_mailbox *m) {
    pthread_mutex_lock(&m->lock);
    empty(m);
    pthread_mutex_unlock(&m->lock);
}

void hob_mailbox_finish(hob_mailbox *m) {
    empty(m);
    if (m->fd >= 0) close(m->fd);
    pthread_mutex_destroy(&m->lock);
}

/* The fd is readable as long as there is something to take, or an end to be seen. */
static void signal_fd(hob_mailbox *m) {
    uint64_t one = 1;
    ssize_t n;
    if (m->fd < 0) return;
    if (m->count || m->ended || m->error)
        n = write(m->fd, &one, sizeof one);
    else
        n = read(m->fd, &one, sizeof one);
    (void)n; /* a full or empty counter is the wanted state already */
}

bool hob_mailbox_full(hob_mailbox *m) {
    pthread_mutex_lock(&m->lock);
    bool full = m->count >= HOB_MAILBOX_EVENTS;
    pthread_mutex_unlock(&m->lock);
    return full;
}

/* An empty mailbox holds no memory: a session that nobody looks at costs nothing here. */
static hob_letter *push(hob_mailbox *m) {
    if (m->count == m->cap) {
        size_t cap = m->cap ? m->cap * 2 : 8;
        hob_letter *ring = hob_alloc(cap * sizeof *ring);
        for (size_t i = 0; i < m->count; i++) ring[i] = *at(m, i);
        hob_free(m->ring);
        m->ring = ring;
        m->cap = cap;
        m->head = 0;
    }
    return at(m, m->count++);
}

void hob_mailbox_put(hob_mailbox *m, hob_event *e) {
    pthread_mutex_lock(&m->lock);
    push(m)->event = hob_event_ref(e);
    signal_fd(m);
    pthread_mutex_unlock(&m->lock);
}

static bool same_stream(const hob_letter *l, const hob_delta *d) {
    return !l->event && l->delta.type == d->type && l->delta.block == d->block &&
           !strcmp(l->delta.key, d->key);
}

static void start_letter(hob_letter *l, const hob_delta *d, hob_str run, int64_t ts) {
    l->delta = *d;
    l->ts = ts;
    memcpy(l->run, run.p, HOB_MIN(run.n, sizeof l->run - 1));
    if (d->tool.n) memcpy(l->tool, d->tool.p, HOB_MIN(d->tool.n, sizeof l->tool - 1));
    hob_buf_init(&l->text, HOB_EVENT_MAX);
}

void hob_mailbox_put_delta(hob_mailbox *m, const hob_delta *d, hob_str run, int64_t ts,
                           hob_str text) {
    pthread_mutex_lock(&m->lock);
    hob_letter *last = m->count ? at(m, m->count - 1) : NULL;
    bool join = last && same_stream(last, d) && last->delta.offset + last->text.n == d->offset;
    bool room = m->count < LETTERS &&
                (m->delta_bytes < HOB_MAILBOX_BYTES || d->type != HOB_EVENT_TOOL_OUTPUT_DELTA);
    if (!join && room) {
        last = push(m);
        start_letter(last, d, run, ts);
    }
    if (join || room) {
        hob_buf_add(&last->text, text);
        m->delta_bytes += text.n;
    }
    signal_fd(m);
    pthread_mutex_unlock(&m->lock);
}

void hob_mailbox_end(hob_mailbox *m, bool ended, int error) {
    pthread_mutex_lock(&m->lock);
    m->ended = ended;
    m->error = error;
    signal_fd(m);
    pthread_mutex_unlock(&m->lock);
}

/* ---- the reader's side ------------------------------------------------------------------------------ */

static void write_delta(hob_jsonw *w, const hob_letter *l) {
    bool output = l->delta.type == HOB_EVENT_TOOL_OUTPUT_DELTA;
    hob_jsonw_object(w);
    hob_jsonw_kstr(w, output ? "call" : "message", hob_str_z(l->delta.key));
    if (l->delta.type != HOB_EVENT_MESSAGE_OPEN) {
        if (!output) hob_jsonw_kint(w, "block", l->delta.block);
        hob_jsonw_kint(w, "offset", (int64_t)l->delta.offset);
        hob_jsonw_kstr(w, "text", hob_buf_str(&l->text));
    }
    if (l->tool[0]) hob_jsonw_kstr(w, "tool", hob_str_z(l->tool));
    hob_jsonw_object_end(w);
}

static hob_event *make_delta(const hob_letter *l, hob_str session_id) {
    hob_draft d;
    hob_jsonw w;
    hob_event *e = NULL;
    hob_draft_init(&d, l->delta.type);
    d.run_id = hob_str_z(l->run);
    hob_jsonw_init(&w, &d.data);
    write_delta(&w, l);
    int rc = hob_event_encode(&d, session_id, 0, l->ts, &e, NULL);
    hob_draft_finish(&d);
    return rc < 0 ? NULL : e;
}

static bool take_letter(hob_mailbox *m, hob_letter *out) {
    if (!m->count) return false;
    *out = *at(m, 0);
    m->head = (m->head + 1) % m->cap;
    m->count--;
    m->delta_bytes -= HOB_MIN(m->delta_bytes, out->text.n);
    if (!m->count) empty(m);
    signal_fd(m);
    return true;
}

int hob_mailbox_take(hob_mailbox *m, hob_str session_id, hob_event **out, bool *ended, int *error) {
    hob_letter l;
    for (;;) {
        pthread_mutex_lock(&m->lock);
        bool any = take_letter(m, &l);
        *ended = m->ended;
        *error = m->error;
        pthread_mutex_unlock(&m->lock);
        if (!any) return 0;
        hob_event *e = l.event ? hob_event_ref(l.event) : make_delta(&l, session_id);
        clear(&l);
        if (!e) continue; /* a delta over the size limit: the whole text follows */
        *out = e;
        return 1;
    }
}

bool hob_mailbox_ready(hob_mailbox *m) {
    pthread_mutex_lock(&m->lock);
    bool yes = m->count || m->ended || m->error;
    pthread_mutex_unlock(&m->lock);
    return yes;
}

int hob_mailbox_fd(hob_mailbox *m) {
    pthread_mutex_lock(&m->lock);
    if (m->fd < 0) m->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    signal_fd(m);
    int fd = m->fd;
    pthread_mutex_unlock(&m->lock);
    return fd;
}
