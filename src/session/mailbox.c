/*
 * mailbox.c - events on their way from the loop to one reader on any thread.
 *
 * Durable events are never dropped: the loop looks whether there is room (hob_mailbox_full) and otherwise leaves them
 * in the log, where the reader's cursor finds them later. Deltas join the newest letter of the same stream if no event came after it, so that a
 * slow reader gets fewer, larger ones; beyond a ceiling they are refused. Whoever leaves something behind for lack of
 * room says so (hob_mailbox_hold), and the reader asks for it when it has read what is there.
 */
#include "session/session.h"

#include <sys/eventfd.h>
#include <unistd.h>

enum {
    LETTERS = HOB_MAILBOX_EVENTS * 2, /* half for events, half for deltas between them */
    STREAMS = 32                      /* that are looked through for one to join */
};

void hob_mailbox_init(hob_mailbox *m) {
    *m = (hob_mailbox){.fd = -1, .ended = true};
    pthread_mutex_init(&m->lock, NULL);
}

static hob_letter *at(hob_mailbox *m, size_t i) {
    return &m->ring[(m->head + i) % m->cap];
}

static void clear(hob_letter *l) {
    hob_event_unref(l->event);
    if (l->piece) {
        hob_buf_finish(&l->piece->text);
        hob_free(l->piece->agent);
        hob_free(l->piece->branch);
    }
    hob_free(l->piece);
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
    m->held = false;
    m->taken = true;
    pthread_mutex_unlock(&m->lock);
}

void hob_mailbox_finish(hob_mailbox *m) {
    empty(m);
    if (m->fd >= 0) close(m->fd);
    pthread_mutex_destroy(&m->lock);
}

/* The reader would not wait: there is something to take or to ask for, or an end to be seen. */
static bool has_news(const hob_mailbox *m) {
    return m->count || m->held || m->ended || m->error;
}

/* Only a change costs a system call. */
static void signal_fd(hob_mailbox *m) {
    uint64_t one = 1;
    bool news = has_news(m);
    if (m->fd < 0 || news == m->lit) return;
    ssize_t n = news ? write(m->fd, &one, sizeof one) : read(m->fd, &one, sizeof one);
    m->lit = n > 0 ? news : m->lit;
}

bool hob_mailbox_full(hob_mailbox *m) {
    pthread_mutex_lock(&m->lock);
    bool full = m->count >= HOB_MAILBOX_EVENTS;
    pthread_mutex_unlock(&m->lock);
    return full;
}

void hob_mailbox_hold(hob_mailbox *m) {
    pthread_mutex_lock(&m->lock);
    m->held = true;
    signal_fd(m);
    pthread_mutex_unlock(&m->lock);
}

bool hob_mailbox_unhold(hob_mailbox *m) {
    pthread_mutex_lock(&m->lock);
    bool held = m->held;
    m->held = false;
    m->taken = m->taken || held;
    signal_fd(m);
    pthread_mutex_unlock(&m->lock);
    return held;
}

bool hob_mailbox_forsake(hob_mailbox *m) {
    pthread_mutex_lock(&m->lock);
    bool much = m->count >= HOB_UNREAD_EVENTS || m->delta_bytes >= HOB_UNREAD_BYTES;
    bool forsaken = much && !m->taken;
    if (forsaken) {
        empty(m);
        m->held = true;
        signal_fd(m);
    }
    pthread_mutex_unlock(&m->lock);
    return forsaken;
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

static bool continues(const hob_letter *l, const hob_delta *d) {
    const hob_piece *p = l->piece;
    return p && p->delta.type == d->type && p->delta.block == d->block &&
           !strcmp(p->delta.key, d->key) && p->delta.offset + p->text.n == d->offset;
}

static hob_piece *start_piece(const hob_delta *d, hob_str run, int64_t ts) {
    hob_piece *p = HOB_NEW(hob_piece);
    p->delta = *d;
    p->ts = ts;
    memcpy(p->run, run.p, HOB_MIN(run.n, sizeof p->run - 1));
    if (d->tool.n) memcpy(p->tool, d->tool.p, HOB_MIN(d->tool.n, sizeof p->tool - 1));
    if (d->agent.n) p->agent = hob_dupz(d->agent);
    if (d->branch.n) p->branch = hob_dupz(d->branch);
    hob_buf_init(&p->text, HOB_EVENT_MAX);
    return p;
}

/* The letter that this text joins: the newest one of its message, if only text of others came after it. */
static hob_piece *find_piece(hob_mailbox *m, const hob_delta *d) {
    for (size_t i = m->count, n = 0; i-- > 0 && n < STREAMS; n++) {
        hob_letter *l = at(m, i);
        if (!l->piece) return NULL;
        if (!strcmp(l->piece->delta.key, d->key)) return continues(l, d) ? l->piece : NULL;
    }
    return NULL;
}

/* Text of any size may enter when no other waits: an answer that is looked at late comes as one piece. */
static bool has_room(const hob_mailbox *m, hob_str text) {
    return m->count < LETTERS && (!m->delta_bytes || m->delta_bytes + text.n <= HOB_MAILBOX_BYTES);
}

bool hob_mailbox_put_delta(hob_mailbox *m, const hob_delta *d, hob_str run, int64_t ts,
                           hob_str text, bool force) {
    pthread_mutex_lock(&m->lock);
    bool room = force || has_room(m, text);
    if (room) {
        hob_piece *p = find_piece(m, d);
        if (!p) p = push(m)->piece = start_piece(d, run, ts);
        hob_buf_add(&p->text, text);
        m->delta_bytes += text.n;
        signal_fd(m);
    }
    pthread_mutex_unlock(&m->lock);
    return room;
}

void hob_mailbox_end(hob_mailbox *m, bool ended, int error) {
    pthread_mutex_lock(&m->lock);
    m->ended = ended;
    m->error = error;
    signal_fd(m);
    pthread_mutex_unlock(&m->lock);
}

/* ---- the reader's side ------------------------------------------------------------------------------ */

static void write_delta(hob_jsonw *w, const hob_piece *p) {
    bool output = p->delta.type == HOB_EVENT_TOOL_OUTPUT_DELTA;
    hob_jsonw_object(w);
    hob_jsonw_kstr(w, output ? "call" : "message", hob_str_z(p->delta.key));
    if (p->delta.type != HOB_EVENT_MESSAGE_OPEN) {
        if (!output) hob_jsonw_kint(w, "block", p->delta.block);
        hob_jsonw_kint(w, "offset", (int64_t)p->delta.offset);
        hob_jsonw_kstr(w, "text", hob_buf_str(&p->text));
    }
    if (p->tool[0]) {
        char call[64];
        snprintf(call, sizeof call, "%s.%d", p->delta.key, p->delta.call);
        hob_jsonw_kstr(w, "tool", hob_str_z(p->tool));
        hob_jsonw_kstr(w, "call", hob_str_z(call));
    }
    hob_jsonw_object_end(w);
}

static hob_event *make_delta(const hob_piece *p, hob_str session_id) {
    hob_draft d;
    hob_jsonw w;
    hob_event *e = NULL;
    hob_draft_init(&d, p->delta.type);
    d.run_id = hob_str_z(p->run);
    d.agent = hob_str_z(p->agent);
    d.branch = hob_str_z(p->branch);
    hob_jsonw_init(&w, &d.data);
    write_delta(&w, p);
    int rc = hob_event_encode(&d, session_id, 0, p->ts, &e, NULL);
    hob_draft_finish(&d);
    return rc < 0 ? NULL : e;
}

static bool take_letter(hob_mailbox *m, hob_letter *out) {
    if (!m->count) return false;
    *out = *at(m, 0);
    *at(m, 0) = (hob_letter){.event = NULL}; /* the place is used again */
    m->head = (m->head + 1) % m->cap;
    m->count--;
    m->taken = true;
    if (out->piece) m->delta_bytes -= HOB_MIN(m->delta_bytes, out->piece->text.n);
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
        hob_event *e = l.event ? hob_event_ref(l.event) : make_delta(l.piece, session_id);
        clear(&l);
        if (!e) continue; /* a delta over the size limit: the whole text follows */
        *out = e;
        return 1;
    }
}

bool hob_mailbox_await(hob_mailbox *m, bool *held, bool *closed) {
    pthread_mutex_lock(&m->lock);
    bool any = m->count || m->error;
    *held = !any && m->held;
    *closed = m->closed;
    if (*held) m->held = false;
    m->awaited = !any;
    m->taken = true;
    pthread_mutex_unlock(&m->lock);
    return any;
}

bool hob_mailbox_rouse(hob_mailbox *m) {
    pthread_mutex_lock(&m->lock);
    bool news = m->count || m->held || m->error || m->closed;
    bool yes = m->awaited && news;
    if (yes) m->awaited = false;
    pthread_mutex_unlock(&m->lock);
    return yes;
}

void hob_mailbox_close(hob_mailbox *m) {
    pthread_mutex_lock(&m->lock);
    m->closed = true;
    pthread_mutex_unlock(&m->lock);
}

bool hob_mailbox_ready(hob_mailbox *m) {
    pthread_mutex_lock(&m->lock);
    bool yes = has_news(m);
    pthread_mutex_unlock(&m->lock);
    return yes;
}

int hob_mailbox_fd(hob_mailbox *m) {
    pthread_mutex_lock(&m->lock);
    if (m->fd < 0) m->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    signal_fd(m);
    int fd = m->fd < 0 ? HOB_EIO : m->fd;
    pthread_mutex_unlock(&m->lock);
    return fd;
}
