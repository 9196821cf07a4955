#include "support/client.h"

#include "support/check.h"
#include "support/wire.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { PATIENCE_MS = 30000 };

/* ---- bytes --------------------------------------------------------------------------------------------------- */

static int dial(int port) {
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), on = 1;
    assert_int_equal(inet_pton(AF_INET, wire_dialled(), &to.sin_addr), 1);
    assert_true(fd >= 0);
    if (connect(fd, (struct sockaddr *)&to, sizeof to) < 0)
        fail_msg("connect: %s", strerror(errno));
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    return fd;
}

static void send_all(int fd, hob_str s) {
    while (s.n) {
        ssize_t n = send(fd, s.p, s.n, MSG_NOSIGNAL);
        if (n < 0) return; /* the answer says why */
        s = hob_str_skip(s, (size_t)n);
    }
}

/* 1: something came; 0: the end, or nothing within that time. */
static int receive(int fd, hob_buf *into, int ms) {
    struct pollfd p = {.fd = fd, .events = POLLIN};
    if (poll(&p, 1, ms) <= 0) return 0;
    char *room = hob_buf_reserve(into, 65536);
    ssize_t n = recv(fd, room, 65536, 0);
    if (n <= 0) return 0;
    into->n += (size_t)n;
    return 1;
}

static int port_of(int fd) {
    struct sockaddr_in to;
    socklen_t n = sizeof to;
    assert_int_equal(getpeername(fd, (struct sockaddr *)&to, &n), 0);
    return ntohs(to.sin_port);
}

static void send_request(int fd, const char *token, const char *method, const char *path,
                         const char *headers, hob_str body) {
    hob_buf b;
    hob_buf_init(&b, 64u << 20);
    hob_buf_addf(&b, "%s %s HTTP/1.1\r\nHost: 127.0.0.1:%d\r\n", method, path, port_of(fd));
    if (token) hob_buf_addf(&b, "Authorization: Bearer %s\r\n", token);
    if (headers) hob_buf_addz(&b, headers);
    bool typed = headers && strstr(headers, "Content-Type:");
    if (body.p && !typed) hob_buf_addz(&b, "Content-Type: application/json\r\n");
    if (body.p) hob_buf_addf(&b, "Content-Length: %zu\r\n", body.n);
    hob_buf_addz(&b, "\r\n");
    hob_buf_add(&b, body);
    send_all(fd, hob_buf_str(&b));
    hob_buf_finish(&b);
}

/* ---- calls ----------------------------------------------------------------------------------------------------- */

void client_init(client *c, int port, const char *token) {
    memset(c, 0, sizeof *c);
    c->port = port;
    c->token = token;
    hob_buf_init(&c->head, 1u << 20);
    hob_buf_init(&c->body, 256u << 20);
}

void client_finish(client *c) {
    hob_buf_finish(&c->head);
    hob_buf_finish(&c->body);
}

static ptrdiff_t head_end(const hob_buf *b) {
    ptrdiff_t at = hob_str_find(hob_buf_str(b), HOB_STR("\r\n\r\n"));
    return at < 0 ? at : at + 4;
}

static int64_t content_length(hob_str head) {
    hob_str line;
    int64_t n = 0;
    while (hob_str_split(&head, '\n', &line))
        if (line.n > 15 && hob_str_ieq(hob_str_first(line, 15), HOB_STR("content-length:")))
            hob_str_int(hob_str_trim(hob_str_skip(line, 15)), &n);
    return n;
}

static void read_answer(client *c, int fd) {
    hob_buf_reset(&c->head);
    hob_buf_reset(&c->body);
    c->status = 0;
    ptrdiff_t end;
    while ((end = head_end(&c->head)) < 0)
        if (!receive(fd, &c->head, PATIENCE_MS)) return;
    c->status = atoi(hob_buf_z(&c->head) + 9);
    hob_buf_add(&c->body, hob_str_skip(hob_buf_str(&c->head), (size_t)end));
    c->head.n = (size_t)end;
    int64_t n = content_length(hob_buf_str(&c->head));
    while ((int64_t)c->body.n < n && receive(fd, &c->body, PATIENCE_MS)) {
    }
}

int client_call_with(client *c, const char *method, const char *path, const char *headers,
                     const char *body) {
    hob_buf b;
    int fd = dial(c->port);
    hob_buf_init(&b, 64u << 20);
    for (const char *p = body; p && *p; p++) hob_buf_addc(&b, *p == '\'' ? '"' : *p);
    send_request(fd, c->token, method, path, headers,
                 body ? hob_str_n(b.p ? b.p : "", b.n) : HOB_STR_NULL);
    hob_buf_finish(&b);
    read_answer(c, fd);
    close(fd);
    return c->status;
}

int client_call(client *c, const char *method, const char *path, const char *body) {
    return client_call_with(c, method, path, NULL, body);
}

void client_expect(client *k, int wanted, const char *method, const char *body, const char *fmt,
                   const char *id) {
    char path[300];
    snprintf(path, sizeof path, fmt, id);
    int got = client_call(k, method, path, body);
    if (got != wanted) fail_msg("%s %s: %d %s", method, path, got, hob_buf_z(&k->body));
}

const char *client_field(client *c, const char *path) {
    if (hob_json_field(hob_buf_str(&c->body), path, c->text, sizeof c->text) < 0) c->text[0] = 0;
    return c->text;
}

/* ---- streams ----------------------------------------------------------------------------------------------------- */

struct tail {
    int fd, status;
    hob_buf raw;  /* as it came, after the head */
    hob_buf text; /* without the chunks' frames */
    size_t chunk; /* bytes of the chunk that are still to come */
    bool ended;
    uint64_t seq;
    char event[64];
    hob_buf data;
};

static tail *open_tail(int port, const char *token, const char *path, const char *headers,
                       const char *body) {
    tail *t = HOB_NEW(tail);
    hob_buf more, text;
    hob_buf_init(&t->raw, 256u << 20);
    hob_buf_init(&t->text, 256u << 20);
    hob_buf_init(&t->data, 256u << 20);
    hob_buf_init(&more, 65536);
    hob_buf_addf(&more, "Accept: text/event-stream\r\n%s", headers ? headers : "");
    t->fd = dial(port);
    hob_buf_init(&text, 64u << 20);
    for (const char *p = body; p && *p; p++) hob_buf_addc(&text, *p == '\'' ? '"' : *p);
    send_request(t->fd, token, body ? "POST" : "GET", path, hob_buf_z(&more),
                 body ? hob_buf_str(&text) : HOB_STR_NULL);
    hob_buf_finish(&text);
    hob_buf_finish(&more);
    ptrdiff_t end;
    while ((end = head_end(&t->raw)) < 0)
        if (!receive(t->fd, &t->raw, PATIENCE_MS)) {
            t->ended = true;
            return t;
        }
    t->status = atoi(hob_buf_z(&t->raw) + 9);
    hob_buf_consume(&t->raw, (size_t)end);
    return t;
}

tail *tail_open(int port, const char *token, const char *path, const char *headers) {
    return open_tail(port, token, path, headers, NULL);
}

tail *tail_post(int port, const char *token, const char *path, const char *headers,
                const char *body) {
    return open_tail(port, token, path, headers, body);
}

int tail_status(tail *t) {
    return t->status;
}

/* Takes frames off what came; the chunk of length 0 is the end. */
static void unframe(tail *t) {
    for (;;) {
        if (t->chunk) {
            size_t n = HOB_MIN(t->chunk, t->raw.n), text = n;
            if (!n) return;
            if (t->chunk - n < 2) text -= HOB_MIN(text, 2 - (t->chunk - n)); /* its CRLF */
            hob_buf_add(&t->text, hob_str_n(t->raw.p, text));
            t->chunk -= n;
            hob_buf_consume(&t->raw, n);
            continue;
        }
        ptrdiff_t line = hob_str_find(hob_buf_str(&t->raw), HOB_STR("\r\n"));
        if (line < 0) return;
        t->chunk = strtoul(hob_buf_z(&t->raw), NULL, 16);
        hob_buf_consume(&t->raw, (size_t)line + 2);
        if (!t->chunk) {
            t->ended = true;
            return;
        }
        t->chunk += 2;
    }
}

static void take_line(tail *t, hob_str line) {
    int64_t n;
    if (hob_str_starts(line, HOB_STR("id: "))) {
        assert_true(hob_str_int(hob_str_skip(line, 4), &n) >= 0);
        t->seq = (uint64_t)n;
    } else if (hob_str_starts(line, HOB_STR("event: "))) {
        snprintf(t->event, sizeof t->event, "%.*s", HOB_FMT(hob_str_skip(line, 7)));
    } else if (hob_str_starts(line, HOB_STR("data: "))) {
        hob_buf_add(&t->data, hob_str_skip(line, 6));
    }
}

static bool take_event(tail *t) {
    for (;;) {
        ptrdiff_t end = hob_str_find(hob_buf_str(&t->text), HOB_STR("\n\n"));
        if (end < 0) return false;
        hob_str rest = hob_str_n(t->text.p, (size_t)end), line;
        t->seq = 0;
        t->event[0] = 0;
        hob_buf_reset(&t->data);
        bool comment = hob_str_starts(rest, HOB_STR(":"));
        while (hob_str_split(&rest, '\n', &line)) take_line(t, line);
        hob_buf_consume(&t->text, (size_t)end + 2);
        if (!comment) return true;
    }
}

int tail_next_within(tail *t, int ms) {
    for (;;) {
        unframe(t);
        if (take_event(t)) return 1;
        if (t->ended || !receive(t->fd, &t->raw, ms)) return 0;
    }
}

int tail_next(tail *t) {
    return tail_next_within(t, PATIENCE_MS);
}

uint64_t tail_seq(const tail *t) {
    return t->seq;
}

const char *tail_event(const tail *t) {
    return t->event;
}

hob_str tail_data(const tail *t) {
    return hob_buf_str(&t->data);
}

int tail_until(tail *t, const char *event) {
    while (tail_next(t))
        if (!strcmp(t->event, event)) return 1;
    return 0;
}

int tail_fd(const tail *t) {
    return t->fd;
}

void tail_close(tail *t) {
    if (!t) return;
    close(t->fd);
    hob_buf_finish(&t->raw);
    hob_buf_finish(&t->text);
    hob_buf_finish(&t->data);
    hob_free(t);
}
