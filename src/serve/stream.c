/*
 * stream.c - an answer that is pulled piece by piece, for as long as the client stays.
 *
 * A piece goes from read() through the server's one scratch buffer into the socket. Only what the socket does not take is
 * kept, and nothing more is read before that is gone: a stuck client holds one piece, and after a minute of it its
 * place is given to others. It lost nothing: streams of events go on where the client says it was.
 */
#include "serve/web.h"

#include <errno.h>
#include <stdio.h>
#include <sys/socket.h>

enum {
    FRONT = 16,  /* room for the size of a chunk before its bytes */
    AT_ONCE = 8, /* pieces before others have their turn */
    PIECE = HOB_WEB_SCRATCH - FRONT - 2
};

/* ---- life ----------------------------------------------------------------------------------------------- */

static int admit(hob_web_request *r, hob_error *err) {
    if (atomic_load(&r->web->server->draining))
        return hob_fail(err, HOB_EAGAIN, 0, "the server is stopping; try again in a moment");
    return r->caller ? hob_caller_take(r->caller, HOB_QUOTA_STREAMS, 1, err) : HOB_OK;
}

hob_web_stream *hob_web_answer_stream(hob_web_request *r, const char *type,
                                      const hob_web_stream_ops *ops, void *user) {
    hob_error err;
    bool head_only = hob_str_eqz(r->head->method, "HEAD");
    int rc = head_only ? HOB_OK : admit(r, &err);
    if (rc < 0 || head_only) {
        if (rc < 0)
            hob_web_fail_hob(r, rc, &err);
        else
            hob_web_answer(r, 200, type, HOB_STR_NULL);
        ops->closed(user);
        return NULL;
    }
    hob_web_stream *st = HOB_NEW(hob_web_stream);
    hob_list_init(&st->woken);
    st->web = r->web;
    st->ops = *ops;
    st->user = user;
    st->caller = r->caller ? hob_caller_ref(r->caller) : NULL;
    st->events = !strncmp(type, "text/event-stream", 17);
    r->answered = true;
    r->status = 200;
    r->type = hob_str_z(type);
    r->stream = st;
    hob_metric_add(r->web->metrics, HOB_METRIC_STREAMS, 1);
    return st;
}

void hob_stream_destroy(hob_web_stream *st) {
    if (!st) return;
    hob_web *w = st->web;
    if (!st->over && st->ops.left) st->ops.left(st->user);
    st->ops.closed(st->user); /* after it nobody wakes this stream */
    pthread_mutex_lock(&w->wake_lock);
    hob_list_remove(&st->woken);
    pthread_mutex_unlock(&w->wake_lock);
    if (st->caller) hob_caller_give(st->caller, HOB_QUOTA_STREAMS, 1);
    hob_caller_unref(st->caller);
    hob_metric_add(w->metrics, HOB_METRIC_STREAMS, -1);
    hob_free(st);
}

void hob_web_wake(hob_web_stream *st) {
    hob_web *w = st->web;
    pthread_mutex_lock(&w->wake_lock);
    bool post = false;
    if (!st->is_woken) {
        st->is_woken = true;
        hob_list_push(&w->woken, &st->woken);
        post = !w->wake_posted;
        w->wake_posted = true;
    }
    pthread_mutex_unlock(&w->wake_lock);
    if (post) hob_loop_post(w->loop, &w->wake_msg);
}

static void forget_wake(hob_web_stream *st) {
    pthread_mutex_lock(&st->web->wake_lock);
    if (st->is_woken) hob_list_remove(&st->woken);
    st->is_woken = false;
    pthread_mutex_unlock(&st->web->wake_lock);
}

/* ---- pieces --------------------------------------------------------------------------------------------- */

/* The n bytes at FRONT of the scratch buffer, as a chunk or as they are. */
static hob_str frame(hob_conn *c, size_t n) {
    char *data = c->web->scratch + FRONT, size[FRONT + 1];
    if (!c->framed) return hob_str_n(data, n);
    int digits = snprintf(size, sizeof size, "%zx\r\n", n);
    memcpy(data - digits, size, (size_t)digits);
    memcpy(data + n, "\r\n", 2);
    return hob_str_n(data - digits, n + (size_t)digits + 2);
}

/* What the socket does not take stays in c->out. Errors show when that is sent. */
static void put(hob_conn *c, hob_str bytes) {
    c->spoke = hob_loop_now(c->web->loop);
    ssize_t n = send(c->fd, bytes.p, bytes.n, MSG_NOSIGNAL | MSG_DONTWAIT);
    size_t taken = n > 0 ? (size_t)n : 0;
    c->request->sent += taken;
    hob_buf_add(&c->out, hob_str_skip(bytes, taken));
}

static int reading(const hob_conn *c) {
    return c->in.n > HOB_HEAD_MAX ? 0 : HOB_IO_READ;
}

static bool blocked(hob_conn *c, size_t before) {
    if (c->sent > before) c->spoke = hob_loop_now(c->web->loop);
    hob_conn_until(c, c->spoke + HOB_WEB_STUCK_MS);
    hob_io_want(c->io, reading(c) | HOB_IO_WRITE);
    return false;
}

static bool idle(hob_conn *c) {
    hob_conn_until(c, c->spoke + HOB_WEB_ALIVE_MS);
    hob_io_want(c->io, reading(c));
    return false;
}

static bool end(hob_conn *c) {
    hob_web_request *r = c->request;
    r->stream->over = true;
    hob_stream_destroy(r->stream);
    r->stream = NULL;
    if (c->framed) hob_buf_addz(&c->out, "0\r\n\r\n");
    c->state = HOB_CONN_ANSWER;
    hob_conn_until(c, hob_loop_now(c->web->loop) + HOB_WEB_STALL_MS);
    return true;
}

bool hob_stream_revoked(const hob_web_stream *st) {
    return st->caller && hob_caller_gone(st->caller);
}

bool hob_stream_pump(hob_conn *c) {
    hob_web_stream *st = c->request->stream;
    for (int i = 0; i < AT_ONCE; i++) {
        size_t before = c->sent;
        int sent = hob_conn_send(c);
        if (sent < 0) return false;
        if (sent == 0) return blocked(c, before);
        if (c->web->stopping || hob_stream_revoked(st)) return end(c);
        forget_wake(st);
        ssize_t n = st->ops.read(st->user, c->web->scratch + FRONT, PIECE);
        if (n == 0) return idle(c);
        if (n < 0) return end(c);
        put(c, frame(c, (size_t)n));
    }
    if (c->out.n) return blocked(c, c->sent); /* no wake helps: its socket calls */
    hob_web_wake(st);
    return false;
}

bool hob_stream_alive(hob_conn *c) {
    static const char comment[] = ": keep-alive\n\n";
    if (c->out.n) { /* stuck */
        hob_conn_close(c);
        return false;
    }
    if (c->request->stream->events) {
        memcpy(c->web->scratch + FRONT, comment, sizeof comment - 1);
        put(c, frame(c, sizeof comment - 1));
    } else {
        c->spoke = hob_loop_now(c->web->loop);
    }
    return true;
}
