/*
 * conn.c - a connection: heads and bodies in, answers out.
 *
 * One state, and one step for each state; hob_conn_run() takes steps until one of them has to wait for the client, for a
 * worker or for time. A step that closes the connection says "no further", and nobody touches it afterwards.
 *
 * Time: every state has a deadline. The timer is not moved each time the deadline is: it fires early, looks, and is set
 * again. A head has ten seconds in all, so that one byte a second is no way to keep a place (REL-16).
 */
#include "serve/web.h"

#include <errno.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

/* ---- time ----------------------------------------------------------------------------------------------- */

void hob_conn_until(hob_conn *c, int64_t deadline) {
    c->deadline = deadline;
    if (deadline == INT64_MAX) return;
    if (!hob_timer_started(&c->timer) || c->timer.at > deadline)
        hob_timer_start(&c->timer, deadline);
}

static void wait_for(hob_conn *c, int64_t ms) {
    hob_conn_until(c, hob_loop_now(c->web->loop) + ms);
}

/* ---- the end -------------------------------------------------------------------------------------------- */

/* The request is over, or has no client any more; a worker that still has it gives it back later. */
static void drop_request(hob_conn *c) {
    hob_web_request *r = c->request;
    if (!r) return;
    c->request = NULL;
    r->conn = NULL;
    if (c->state == HOB_CONN_WORK) return;
    hob_web_log_request(r);
    hob_request_destroy(r);
}

static void unseat(hob_conn *c) {
    if (c->caller) hob_caller_turns(c->caller)->conns--;
    hob_caller_unref(c->caller);
    c->caller = NULL;
}

/* A connection counts for who spoke there last, and nobody has more than half of all while there are other callers,
 * whatever it does with them. False: that was answered. */
static bool seat(hob_conn *c, hob_web_request *r) {
    const hob_web *w = c->web;
    hob_caller_turn *t = hob_caller_turns(r->caller);
    if (c->caller && hob_caller_turns(c->caller) == t) return true;
    unseat(c);
    if (t->conns >= w->max_conns / 2 && hob_callers_count(w->server->callers) > 1) {
        r->close = true;
        hob_web_answer_header(r, "Retry-After", HOB_STR("5"));
        hob_web_fail(r, 429, "limit", "'%.*s' has %zu connections: close some, or use them again",
                     HOB_FMT(r->caller->name), t->conns);
        return false;
    }
    c->caller = hob_caller_ref(r->caller);
    t->conns++;
    return true;
}

void hob_conn_close(hob_conn *c) {
    hob_web *w = c->web;
    drop_request(c);
    unseat(c);
    hob_timer_stop(&c->timer);
    hob_io_destroy(c->io);
    close(c->fd);
    hob_buf_finish(&c->in);
    hob_buf_finish(&c->out);
    hob_buf_finish(&c->content);
    hob_list_remove(&c->link);
    hob_list_remove(&c->unknown);
    w->nconns--;
    hob_metric_add(w->metrics, HOB_METRIC_CONNECTIONS, -1);
    hob_free(c);
}

/* Closing with unread bytes would reset the connection, and the answer could be lost with it. */
static bool linger(hob_conn *c) {
    bool unread = c->request->close || c->in.n;
    drop_request(c);
    hob_buf_finish(&c->in);
    if (!unread || c->eof || shutdown(c->fd, SHUT_WR) < 0) {
        hob_conn_close(c);
        return false;
    }
    c->state = HOB_CONN_LINGER;
    wait_for(c, HOB_WEB_LINGER_MS);
    hob_io_want(c->io, HOB_IO_READ);
    return false;
}

/* ---- out ------------------------------------------------------------------------------------------------ */

static ssize_t send_some(hob_conn *c) {
    struct iovec parts[2];
    size_t from = c->sent;
    int n = 0;
    if (from < c->out.n) parts[n++] = (struct iovec){c->out.p + from, c->out.n - from};
    from = from > c->out.n ? from - c->out.n : 0;
    if (from < c->content.n) parts[n++] = (struct iovec){c->content.p + from, c->content.n - from};
    struct msghdr m = {.msg_iov = parts, .msg_iovlen = (size_t)n};
    return sendmsg(c->fd, &m, MSG_NOSIGNAL | MSG_DONTWAIT);
}

int hob_conn_send(hob_conn *c) {
    while (c->sent < c->out.n + c->content.n) {
        ssize_t n = send_some(c);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return 0;
        if (n < 0) {
            hob_conn_close(c);
            return -1;
        }
        c->sent += (size_t)n;
        if (c->request) c->request->sent += (uint64_t)n;
    }
    hob_buf_finish(&c->content);
    c->out.n = 0;
    c->sent = 0;
    if (c->out.cap > 1024) hob_buf_finish(&c->out);
    return 1;
}

/* Nothing more comes, and nothing that came waits. */
static bool is_last(const hob_conn *c) {
    return c->eof && !c->in.n;
}

static void begin_answer(hob_conn *c) {
    hob_web_request *r = c->request;
    c->keep_alive = c->keep_alive && !r->close && !is_last(c) && !c->web->stopping;
    hob_answer_head(r, &c->out, false, c->keep_alive);
    if (!hob_str_eqz(r->head->method, "HEAD") && r->status != 304) {
        c->content = r->content;
        hob_buf_init(&r->content, 0);
    }
    c->state = HOB_CONN_ANSWER;
    wait_for(c, HOB_WEB_STALL_MS);
}

static void begin_stream(hob_conn *c) {
    hob_web_request *r = c->request;
    c->framed = r->head->minor > 0;
    c->keep_alive = c->keep_alive && c->framed && !r->close && !c->eof;
    hob_answer_head(r, &c->out, c->framed, c->keep_alive);
    r->stream->conn = c;
    hob_arena_destroy(r->arena);
    r->arena = NULL;
    r->head = NULL;
    hob_buf_finish(&r->body);
    hob_buf_finish(&r->fields);
    c->spoke = hob_loop_now(c->web->loop);
    c->state = HOB_CONN_STREAM;
    wait_for(c, HOB_WEB_ALIVE_MS);
}

/* The body is not needed any more, the answer is kept until it was read. */
static void keep_answer(hob_web_request *r) {
    hob_error err;
    hob_buf_finish(&r->body);
    hob_request_keep(r, 0, NULL);
    if (r->stream || hob_request_keep(r, r->content.n, &err) >= 0) return;
    hob_buf_finish(&r->content);
    hob_buf_init(&r->content, HOB_WEB_ANSWER_MAX);
    hob_buf_reset(&r->fields);
    r->answered = false;
    hob_web_answer_header(r, "Retry-After", HOB_STR("1"));
    hob_web_fail_hob(r, HOB_ELIMIT, &err);
}

/* The handler is done with it, or it never got there. */
static bool answer_now(hob_conn *c) {
    hob_web_request *r = c->request;
    if (!r->answered) hob_web_fail(r, 500, "internal", "the handler of this route gave no answer");
    r->replied = hob_loop_now(c->web->loop);
    keep_answer(r);
    if (r->stream)
        begin_stream(c);
    else
        begin_answer(c);
    return true;
}

static bool next_request(hob_conn *c) {
    drop_request(c);
    c->state = HOB_CONN_HEAD;
    if (!c->in.n) hob_buf_finish(&c->in);
    hob_io_want(c->io, HOB_IO_READ);
    wait_for(c, c->in.n ? HOB_WEB_HEAD_MS : HOB_WEB_IDLE_MS);
    return true;
}

static bool step_answer(hob_conn *c) {
    size_t before = c->sent;
    int r = hob_conn_send(c);
    if (r < 0) return false;
    if (r == 0) {
        if (c->sent > before) wait_for(c, HOB_WEB_STALL_MS);
        hob_io_want(c->io, HOB_IO_WRITE);
        return false;
    }
    return c->keep_alive ? next_request(c) : linger(c);
}

/* ---- in ------------------------------------------------------------------------------------------------- */

static bool refuse(hob_conn *c, const hob_wire_error *why) {
    hob_web_request *r = hob_request_create(c, HOB_STR_NULL, NULL);
    c->request = r;
    r->close = true;
    hob_web_fail(r, why->status, why->code, "%s", why->message);
    return answer_now(c);
}

static bool begin_body(hob_conn *c) {
    const hob_head *h = c->request->head;
    int64_t now = hob_loop_now(c->web->loop);
    c->state = HOB_CONN_BODY;
    c->chunked = (hob_chunked){.state = HOB_CHUNK_SIZE};
    c->limit = now + HOB_WEB_UPLOAD_MS;
    hob_conn_until(c, now + HOB_WEB_BODY_MS);
    if (h->expects && !c->in.n) hob_buf_addz(&c->out, "HTTP/1.1 100 Continue\r\n\r\n");
    return hob_conn_send(c) >=
           0; /* twenty-five bytes: what does not go out now goes with the answer */
}

static bool dispatch(hob_conn *c) {
    hob_web_request *r = c->request;
    c->state = HOB_CONN_WORK;
    hob_conn_until(c, INT64_MAX);
    if (r->route->flags & HOB_ROUTE_INLINE) r->route->handle(r);
    if (r->answered || (r->route->quick && r->route->quick(r))) return answer_now(c);
    return hob_web_dispatch(r) ? false : answer_now(c);
}

static bool begin_request(hob_conn *c, size_t head) {
    const hob_wire_error *why = NULL;
    hob_web_request *r = hob_request_create(c, hob_str_n(c->in.p, head), &why);
    hob_buf_consume(&c->in, head);
    if (!r) return refuse(c, why);
    c->request = r;
    c->keep_alive = r->head->keep_alive;
    bool body = r->head->chunked || r->head->length > 0;
    if (!hob_door_pass(r) || (r->caller && !seat(c, r))) {
        r->close |= body;
        return answer_now(c);
    }
    if (r->caller) hob_list_remove(&c->unknown);
    return body ? begin_body(c) : dispatch(c);
}

static bool step_head(hob_conn *c) {
    const hob_wire_error *why = NULL;
    ptrdiff_t end = c->in.n ? hob_head_end(hob_buf_str(&c->in), &c->scanned, &why) : 0;
    if (end < 0) return refuse(c, why);
    return end > 0 ? begin_request(c, (size_t)end) : false;
}

static bool body_failed(hob_conn *c, int status, const char *code, const char *message) {
    c->request->close = true;
    hob_web_fail(c->request, status, code, "%s", message);
    return answer_now(c);
}

static bool step_body(hob_conn *c) {
    hob_web_request *r = c->request;
    hob_error err;
    const hob_head *h = r->head;
    hob_str in = hob_buf_str(&c->in);
    if (h->chunked) {
        hob_chunked_feed(&c->chunked, &in, &r->body);
    } else {
        size_t wanted = (size_t)h->length - r->body.n;
        hob_buf_add(&r->body, hob_str_first(in, wanted));
        in = hob_str_skip(in, HOB_MIN(wanted, in.n));
    }
    hob_buf_consume(&c->in, c->in.n - in.n);
    if (c->chunked.state == HOB_CHUNK_BROKEN)
        return body_failed(c, 400, "bad_request", "the chunks of the body are broken");
    if (r->body.err)
        return body_failed(c, 413, "too_large", "the body is over the limit of this route");
    if (hob_request_keep(r, r->body.n, &err) < 0) return body_failed(c, 429, "limit", err.message);
    bool whole = h->chunked ? c->chunked.state == HOB_CHUNK_END : r->body.n == (size_t)h->length;
    return whole ? dispatch(c) : false;
}

/* ---- steps ---------------------------------------------------------------------------------------------- */

static bool step(hob_conn *c) {
    switch (c->state) {
    case HOB_CONN_HEAD: return step_head(c);
    case HOB_CONN_BODY: return step_body(c);
    case HOB_CONN_WORK: return c->request->done ? answer_now(c) : false;
    case HOB_CONN_ANSWER: return step_answer(c);
    case HOB_CONN_STREAM: return hob_stream_pump(c);
    case HOB_CONN_LINGER: return false;
    }
    return false;
}

void hob_conn_run(hob_conn *c) {
    while (step(c)) {
    }
}

/* The client says no more. What it asked for still goes out. */
static void on_eof(hob_conn *c) {
    bool reads_on = c->state == HOB_CONN_WORK || c->state == HOB_CONN_ANSWER;
    c->eof = true;
    if (!reads_on) {
        hob_conn_close(c);
        return;
    }
    c->keep_alive = c->keep_alive && !is_last(c);
    hob_io_want(c->io, c->state == HOB_CONN_ANSWER ? HOB_IO_WRITE : 0);
}

/* Until the next request has its turn. */
static void listen_later(hob_conn *c) {
    hob_io_want(c->io, c->out.n ? HOB_IO_WRITE : 0);
}

static void on_bytes(hob_conn *c, hob_str bytes) {
    int64_t now = hob_loop_now(c->web->loop);
    if (c->state == HOB_CONN_LINGER) return;
    if (c->state == HOB_CONN_HEAD && !c->in.n) hob_conn_until(c, now + HOB_WEB_HEAD_MS);
    if (c->state == HOB_CONN_BODY) hob_conn_until(c, HOB_MIN(now + HOB_WEB_BODY_MS, c->limit));
    if (hob_buf_add(&c->in, bytes) < 0) { /* what is lost once makes nonsense of the rest */
        hob_conn_close(c);
        return;
    }
    if (c->state != HOB_CONN_STREAM && c->state != HOB_CONN_WORK) {
        hob_conn_run(c);
        return;
    }
    /* The next request already: it waits, and we stop listening when it is long. */
    if (c->in.n > HOB_HEAD_MAX) listen_later(c);
}

/* No more than there is room for: the rest waits in the socket. False: closed, or somebody else's turn. */
static bool read_once(hob_conn *c) {
    size_t room = HOB_MIN(sizeof c->web->scratch, HOB_WEB_IN_MAX - c->in.n);
    if (!room) {
        listen_later(c);
        return true;
    }
    ssize_t n = recv(c->fd, c->web->scratch, room, MSG_DONTWAIT);
    if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR)) return true;
    if (n < 0) {
        hob_conn_close(c);
        return false;
    }
    if (n == 0)
        on_eof(c);
    else
        on_bytes(c, hob_str_n(c->web->scratch, (size_t)n));
    return false;
}

static void on_io(hob_io *io, int events, void *user) {
    hob_conn *c = user;
    (void)io;
    if ((events & HOB_IO_READ) && !read_once(c)) return; /* what else is due comes again */
    if (events & HOB_IO_WRITE) hob_conn_run(c);
}

/* ---- time is over --------------------------------------------------------------------------------------- */

static void too_slow(hob_conn *c) {
    static const hob_wire_error late = {408, "timeout", "the request took too long to arrive"};
    if (c->state == HOB_CONN_BODY)
        body_failed(c, late.status, late.code, late.message);
    else
        refuse(c, &late);
    hob_conn_run(c);
}

static void on_time(hob_timer *t) {
    hob_conn *c = HOB_CONTAINER(t, hob_conn, timer);
    if (c->deadline > hob_loop_now(c->web->loop)) {
        hob_conn_until(c, c->deadline);
        return;
    }
    switch (c->state) {
    case HOB_CONN_HEAD:
        if (c->in.n)
            too_slow(c);
        else
            hob_conn_close(c);
        return;
    case HOB_CONN_BODY: too_slow(c); return;
    case HOB_CONN_WORK: return;
    case HOB_CONN_STREAM:
        if (hob_stream_alive(c)) hob_conn_run(c);
        return;
    case HOB_CONN_ANSWER:
    case HOB_CONN_LINGER: hob_conn_close(c); return;
    }
}

void hob_conn_stop(hob_conn *c) {
    c->keep_alive = false;
    switch (c->state) {
    case HOB_CONN_HEAD:
    case HOB_CONN_BODY: hob_conn_close(c); return;
    case HOB_CONN_STREAM: /* pump sees that the server stops, and says goodbye */
        hob_conn_run(c);
        return;
    case HOB_CONN_WORK:
    case HOB_CONN_ANSWER:
    case HOB_CONN_LINGER: return;
    }
}

void hob_conn_create(hob_web *w, int fd, const char *peer) {
    hob_conn *c = HOB_NEW(hob_conn);
    c->web = w;
    c->fd = fd;
    hob_buf_init(&c->in, HOB_WEB_IN_MAX);
    hob_buf_init(&c->out, HOB_WEB_ANSWER_MAX);
    hob_buf_init(&c->content, HOB_WEB_ANSWER_MAX);
    hob_str_out(hob_str_z(peer), c->peer, sizeof c->peer);
    if (hob_io_create(w->loop, fd, on_io, c, &c->io, NULL) < 0 ||
        hob_io_want(c->io, HOB_IO_READ) < 0) {
        hob_io_destroy(c->io);
        close(fd);
        hob_free(c);
        return;
    }
    hob_timer_init(&c->timer, w->loop, on_time);
    hob_list_push(&w->conns, &c->link);
    hob_list_push(&w->unknown, &c->unknown);
    w->nconns++;
    hob_metric_add(w->metrics, HOB_METRIC_CONNECTIONS, 1);
    wait_for(c, HOB_WEB_HEAD_MS);
}
