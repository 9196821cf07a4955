/*
 * webd.c - the server and the client of webd.h.
 */
#include "support/check.h"
#include "support/webd_routes.h"

#include "loop/loop.h"
#include "serve/server.h"
#include "serve/web.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

/* ---- time: real, and as much more as the test says -------------------------------------------------------- */

static _Atomic int64_t ahead;

static int64_t mono(hob_clock *c) {
    (void)c;
    hob_clock *real = hob_clock_real();
    return real->mono_ms(real) + atomic_load(&ahead);
}

static int64_t wall(hob_clock *c) {
    (void)c;
    hob_clock *real = hob_clock_real();
    return real->wall_ms(real) + atomic_load(&ahead);
}

static hob_clock test_clock = {.mono_ms = mono, .wall_ms = wall};

void webd_nap(void) {
    struct timespec ms = {.tv_nsec = 1000000};
    nanosleep(&ms, NULL);
}

typedef struct knock {
    hob_msg msg;
    _Atomic bool heard;
} knock;

static void on_knock(hob_msg *m) {
    atomic_store(&HOB_CONTAINER(m, knock, msg)->heard, true);
}

/* Returns when a round of the server's loop has seen the new time: its timers come after what is posted. */
void webd_advance(webd *d, int64_t ms) {
    atomic_fetch_add(&ahead, ms);
    for (int round = 0; round < 2; round++) {
        knock k = {.msg.fn = on_knock};
        hob_loop_post(d->server->web->loop, &k.msg);
        while (!atomic_load(&k.heard)) webd_nap();
    }
}

int webd_advance_until(webd *d, int fd, int most) {
    struct pollfd p = {.fd = fd, .events = POLLIN};
    for (int second = 0; second <= most; second++) {
        if (poll(&p, 1, 5) > 0) return second;
        webd_advance(d, 1000);
    }
    return -1;
}

/* ---- the server ------------------------------------------------------------------------------------------- */

static void on_log(hob_str line, void *user) {
    webd *d = user;
    hob_buf_add(&d->log, line);
    hob_buf_addc(&d->log, '\n');
}

webd *webd_start(const hob_server_opts *o) {
    webd *d = HOB_NEW(webd);
    hob_server_opts own = HOB_SERVER_OPTS_INIT;
    hob_server_ground ground = {
        .routes = webd_routes, .nroutes = webd_nroutes, .clock = &test_clock};
    hob_runtime_opts ro = HOB_RUNTIME_OPTS_INIT;
    hob_error err;
    char url[128];
    if (o) own = *o;
    if (!own.listen) own.listen = "127.0.0.1:0";
    if (!own.token_file && !own.token) own.token = WEBD_TOKEN;
    own.on_log = on_log;
    own.user = d;
    hob_buf_init(&d->log, 64 << 20);
    ro.store = "memory";
    assert_ok(hob_runtime_create(&ro, &d->rt, &err), err);
    assert_ok(hob_server_create_on(d->rt, &own, &ground, &d->server, &err), err);
    hob_server_url(d->server, url, sizeof url);
    const char *colon = strrchr(url, ':');
    d->port = colon ? (int)strtol(colon + 1, NULL, 10) : 0;
    snprintf(d->host, sizeof d->host, "Host: 127.0.0.1:%d\r\n", d->port);
    return d;
}

void webd_stop(webd *d) {
    hob_server_destroy(d->server);
    hob_runtime_destroy(d->rt);
    d->server = NULL;
    d->rt = NULL;
}

void webd_free(webd *d) {
    if (d->server) webd_stop(d);
    hob_buf_finish(&d->log);
    hob_free(d);
}

/* ---- the client ------------------------------------------------------------------------------------------- */

int webd_connect(const webd *d) {
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons((uint16_t)d->port)};
    struct timeval patience = {.tv_sec = 30};
    int one = 1, fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    if (connect(fd, (struct sockaddr *)&a, sizeof a) < 0) {
        close(fd);
        return -1;
    }
    return fd;
}

/* A server that has closed already is no failure of the client. */
void webd_send(int fd, hob_str bytes) {
    while (bytes.n) {
        ssize_t n = send(fd, bytes.p, bytes.n, MSG_NOSIGNAL);
        if (n <= 0) return;
        bytes = hob_str_skip(bytes, (size_t)n);
    }
}

static ssize_t more(int fd, hob_buf *in) {
    char *room = hob_buf_reserve(in, 65536);
    if (!room) return -1;
    ssize_t n = recv(fd, room, 65536, 0);
    if (n > 0) in->n += (size_t)n;
    return n;
}

bool webd_read_until(int fd, hob_buf *in, const char *text) {
    if (!in->max) hob_buf_init(in, 64 << 20);
    while (hob_str_find(hob_buf_str(in), hob_str_z(text)) < 0)
        if (more(fd, in) <= 0) return false;
    return true;
}

bool webd_closed(int fd) {
    char sink[65536];
    ssize_t n;
    while ((n = recv(fd, sink, sizeof sink, 0)) > 0) continue;
    return n == 0 || errno == ECONNRESET;
}

static hob_str field(const webd_answer *a, const char *name) {
    hob_str rest = a->head, line, wanted = hob_str_z(name);
    while (hob_str_split(&rest, '\n', &line))
        if (line.n > wanted.n && line.p[wanted.n] == ':' &&
            hob_str_ieq(hob_str_first(line, wanted.n), wanted))
            return hob_str_trim(hob_str_skip(line, wanted.n + 1));
    return HOB_STR_NULL;
}

bool webd_has(const webd_answer *a, const char *text) {
    hob_str wanted = hob_str_z(text);
    for (size_t i = 0; i + wanted.n <= a->head.n; i++)
        if (hob_str_ieq(hob_str_n(a->head.p + i, wanted.n), wanted)) return true;
    return false;
}

static void read_body(int fd, webd_answer *a, size_t head) {
    int64_t length = 0;
    hob_str text = field(a, "content-length");
    if (text.p) hob_str_int(text, &length);
    while (a->raw.n < head + (size_t)length && more(fd, &a->raw) > 0) continue;
    a->head = hob_str_n(a->raw.p, head);
    a->body = hob_str_first(hob_str_skip(hob_buf_str(&a->raw), head), (size_t)length);
}

void webd_receive(int fd, webd_answer *a) {
    memset(a, 0, sizeof *a);
    hob_buf_init(&a->raw, 64 << 20);
    if (!webd_read_until(fd, &a->raw, "\r\n\r\n")) {
        a->closed = true;
        return;
    }
    int64_t status = 0;
    size_t head = (size_t)hob_str_find(hob_buf_str(&a->raw), HOB_STR("\r\n\r\n")) + 4;
    a->head = hob_str_n(a->raw.p, head);
    hob_str_int(hob_str_n(a->raw.p + 9, 3), &status);
    a->status = (int)status;
    a->closed = webd_has(a, "\r\nconnection: close");
    read_body(fd, a, head);
}

void webd_raw(const webd *d, hob_str bytes, webd_answer *a) {
    int fd = webd_connect(d);
    assert_true(fd >= 0);
    webd_send(fd, bytes);
    webd_receive(fd, a);
    if (a->closed) assert_true(webd_closed(fd));
    close(fd);
}

void webd_call(const webd *d, const char *request, const char *fields, const char *body,
               webd_answer *a) {
    hob_buf b;
    hob_buf_init(&b, 64 << 20);
    bool host = fields && strcasestr(fields, "host:") == fields;
    hob_buf_addf(&b, "%s HTTP/1.1\r\n%s%s", request, host ? "" : d->host, fields ? fields : "");
    if (body) hob_buf_addf(&b, "Content-Length: %zu\r\n", strlen(body));
    hob_buf_addz(&b, "\r\n");
    if (body) hob_buf_addz(&b, body);
    webd_raw(d, hob_buf_str(&b), a);
    hob_buf_finish(&b);
}

void webd_answer_finish(webd_answer *a) {
    hob_buf_finish(&a->raw);
}
