/*
 * httpd.c - the misbehaving server. Plain blocking sockets and threads: nothing of the code under
 * test is used but buffers.
 */
#include "support/httpd.h"

#include "support/wire.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#define MAX_MESSAGE ((size_t)256 << 20)

typedef struct connection {
    hob_list link;
    struct httpd *server;
    pthread_t thread;
    int fd;
    unsigned number;
    tls_stream *tls; /* NULL = plain */
} connection;

struct httpd {
    httpd_fn fn;
    httpd_raw_fn raw; /* instead of fn */
    void *user;
    tls *tls; /* NULL = plain */
    int listen_fd, port;
    pthread_t acceptor;
    pthread_mutex_t lock; /* guards the list and every fd in it */
    hob_list connections;
    atomic_uint requests, accepted;
    atomic_bool stopping;
};

struct httpd_exchange {
    connection *conn;
    hob_buf in; /* the request; what follows its end belongs to the next */
    size_t head_size, body_size;
    unsigned number;
    bool gone, bytewise;
};

static void die(const char *what) {
    perror(what);
    abort();
}

/* ---- the answer ------------------------------------------------------------------------------ */

static ssize_t write_some(connection *c, const char *p, size_t n) {
    return c->tls ? tls_write(c->tls, p, n) : send(c->fd, p, n, MSG_NOSIGNAL);
}

static ssize_t read_some(connection *c, char *to, size_t n) {
    return c->tls ? tls_read(c->tls, to, n) : recv(c->fd, to, n, 0);
}

static void put(httpd_exchange *x, const char *p, size_t n) {
    while (n > 0 && !x->gone) {
        ssize_t sent = write_some(x->conn, p, x->bytewise ? 1 : n);
        if (sent < 0 && errno == EINTR) continue;
        if (sent <= 0) x->gone = true;
        if (sent <= 0) return;
        p += sent;
        n -= (size_t)sent;
    }
}

void httpd_raw(httpd_exchange *x, hob_str bytes) {
    put(x, bytes.p, bytes.n);
}

static void put_head(httpd_exchange *x, int status, const char *headers, const char *framing) {
    hob_buf b;
    hob_buf_init(&b, 1 << 20);
    hob_buf_addf(&b, "HTTP/1.1 %d Status\r\n%s%s\r\n", status, headers ? headers : "", framing);
    httpd_raw(x, hob_buf_str(&b));
    hob_buf_finish(&b);
}

void httpd_reply(httpd_exchange *x, int status, const char *headers, hob_str body) {
    char length[64];
    snprintf(length, sizeof(length), "Content-Length: %zu\r\n", body.n);
    put_head(x, status, headers, length);
    httpd_raw(x, body);
}

void httpd_begin(httpd_exchange *x, int status, const char *headers) {
    put_head(x, status, headers, "Transfer-Encoding: chunked\r\n");
}

void httpd_send(httpd_exchange *x, hob_str piece) {
    hob_buf b;
    if (piece.n == 0) return;
    hob_buf_init(&b, MAX_MESSAGE);
    hob_buf_addf(&b, "%zx\r\n", piece.n);
    hob_buf_add(&b, piece);
    hob_buf_addz(&b, "\r\n");
    httpd_raw(x, hob_buf_str(&b));
    hob_buf_finish(&b);
}

void httpd_sendf(httpd_exchange *x, const char *fmt, ...) {
    char text[8192];
    va_list args;
    va_start(args, fmt);
    int n = vsnprintf(text, sizeof(text), fmt, args);
    va_end(args);
    httpd_send(x, hob_str_n(text, HOB_MIN((size_t)n, sizeof(text) - 1)));
}

void httpd_end(httpd_exchange *x) {
    httpd_raw(x, HOB_STR("0\r\n\r\n"));
}

/* ---- misbehaviour ------------------------------------------------------------------------------ */

void httpd_bytewise(httpd_exchange *x) {
    x->bytewise = true;
}

void httpd_hang(httpd_exchange *x) {
    httpd_sleep(x, -1);
}

/* A request that arrives meanwhile is not an end: only a hang-up is. */
void httpd_sleep(httpd_exchange *x, int ms) {
    struct pollfd p = {.fd = x->conn->fd, .events = POLLRDHUP};
    if (x->gone) return;
    while (poll(&p, 1, ms) < 0 && errno == EINTR) {
    }
    if (p.revents) x->gone = true;
}

void httpd_endless(httpd_exchange *x, hob_str piece) {
    while (!x->gone) httpd_send(x, piece);
}

void httpd_close(httpd_exchange *x) {
    shutdown(x->conn->fd, SHUT_RDWR);
    x->gone = true;
}

/* Closing with a zero linger time sends RST; a new socket takes the number's place. */
void httpd_reset(httpd_exchange *x) {
    struct linger hard = {.l_onoff = 1, .l_linger = 0};
    int fd = x->conn->fd;
    pthread_mutex_lock(&x->conn->server->lock);
    setsockopt(fd, SOL_SOCKET, SO_LINGER, &hard, sizeof(hard));
    int dead = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    dup3(dead, fd, O_CLOEXEC);
    close(dead);
    pthread_mutex_unlock(&x->conn->server->lock);
    x->gone = true;
}

bool httpd_gone(const httpd_exchange *x) {
    return x->gone;
}

/* ---- the request ------------------------------------------------------------------------------- */

hob_str httpd_head(const httpd_exchange *x) {
    return hob_str_n(x->in.p, x->head_size);
}

static hob_str word(const httpd_exchange *x, int index) {
    hob_str rest = httpd_head(x), part = HOB_STR("");
    for (int i = 0; i <= index; i++) hob_str_split(&rest, ' ', &part);
    return part;
}

hob_str httpd_method(const httpd_exchange *x) {
    return word(x, 0);
}

hob_str httpd_path(const httpd_exchange *x) {
    return word(x, 1);
}

hob_str httpd_body(const httpd_exchange *x) {
    return hob_str_n(x->in.p + x->head_size, x->body_size);
}

hob_str httpd_header(const httpd_exchange *x, const char *name) {
    hob_str rest = httpd_head(x), line;
    while (hob_str_split(&rest, '\n', &line)) {
        ptrdiff_t colon = hob_str_chr(line, ':');
        if (colon > 0 && hob_str_ieq(hob_str_first(line, (size_t)colon), hob_str_z(name)))
            return hob_str_trim(hob_str_skip(line, (size_t)colon + 1));
    }
    return HOB_STR("");
}

unsigned httpd_number(const httpd_exchange *x) {
    return x->number;
}

static bool read_more(httpd_exchange *x) {
    char *to = hob_buf_reserve(&x->in, 65536);
    if (!to) return false;
    ssize_t n;
    do {
        n = read_some(x->conn, to, 65536);
    } while (n < 0 && errno == EINTR);
    if (n > 0) x->in.n += (size_t)n;
    return n > 0;
}

/* Content-Length only: our client always knows the size of what it sends. */
static bool read_request(httpd_exchange *x) {
    ptrdiff_t end;
    int64_t length = 0;
    x->head_size = x->body_size = 0;
    while ((end = hob_str_find(hob_buf_str(&x->in), HOB_STR("\r\n\r\n"))) < 0) {
        if (!read_more(x)) return false;
    }
    x->head_size = (size_t)end + 4;
    if (hob_str_int(httpd_header(x, "content-length"), &length) < 0) length = 0;
    while (x->in.n < x->head_size + (size_t)length) {
        if (!read_more(x)) return false;
    }
    x->body_size = (size_t)length;
    return true;
}

/* ---- threads ------------------------------------------------------------------------------------ */

/* libssl writes without MSG_NOSIGNAL; blocked, the signal is an EPIPE. */
static bool start_connection(connection *c) {
    sigset_t pipe_signal;
    sigemptyset(&pipe_signal);
    sigaddset(&pipe_signal, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &pipe_signal, NULL);
    if (!c->server->tls) return true;
    c->tls = tls_accept(c->server->tls, c->fd);
    return c->tls != NULL;
}

static void serve_requests(connection *c) {
    httpd_exchange x = {.conn = c};
    hob_buf_init(&x.in, MAX_MESSAGE);
    while (!x.gone && !c->server->stopping && read_request(&x)) {
        x.number = ++c->server->requests;
        x.bytewise = false;
        c->server->fn(&x, c->server->user);
        hob_buf_consume(&x.in, x.head_size + x.body_size);
    }
    hob_buf_finish(&x.in);
}

static void *serve(void *arg) {
    connection *c = arg;
    httpd *d = c->server;
    bool up = start_connection(c);
    if (up && d->raw)
        d->raw(c->fd, c->tls, c->number, d->user);
    else if (up)
        serve_requests(c);
    tls_close(c->tls);
    pthread_mutex_lock(&d->lock);
    close(c->fd);
    c->fd = -1;
    pthread_mutex_unlock(&d->lock);
    return NULL;
}

static void add_connection(httpd *d, int fd) {
    connection *c = HOB_NEW(connection);
    int on = 1;
    *c = (connection){.server = d, .fd = fd, .number = ++d->accepted};
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    pthread_mutex_lock(&d->lock);
    hob_list_push(&d->connections, &c->link);
    if (pthread_create(&c->thread, NULL, serve, c) != 0) die("httpd: pthread_create");
    pthread_mutex_unlock(&d->lock);
}

static void *accept_all(void *arg) {
    httpd *d = arg;
    while (!d->stopping) {
        int fd = accept4(d->listen_fd, NULL, NULL, SOCK_CLOEXEC);
        if (fd >= 0)
            add_connection(d, fd);
        else if (errno != EINTR && errno != ECONNABORTED)
            break;
    }
    return NULL;
}

static httpd *start(httpd_fn fn, httpd_raw_fn raw, void *user, tls *t) {
    httpd *d = HOB_NEW(httpd);
    struct sockaddr_in a = {.sin_family = AF_INET};
    socklen_t size = sizeof(a);
    d->fn = fn;
    d->raw = raw;
    d->user = user;
    d->tls = t;
    hob_list_init(&d->connections);
    pthread_mutex_init(&d->lock, NULL);
    d->listen_fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    inet_pton(AF_INET, wire_listened(), &a.sin_addr);
    if (bind(d->listen_fd, (struct sockaddr *)&a, sizeof(a)) < 0) die("httpd: bind");
    if (listen(d->listen_fd, 1024) < 0) die("httpd: listen");
    getsockname(d->listen_fd, (struct sockaddr *)&a, &size);
    d->port = ntohs(a.sin_port);
    if (pthread_create(&d->acceptor, NULL, accept_all, d) != 0) die("httpd: pthread_create");
    return d;
}

httpd *httpd_start(httpd_fn fn, void *user) {
    return start(fn, NULL, user, NULL);
}

httpd *httpd_start_tls(httpd_fn fn, void *user) {
    return start(fn, NULL, user, tls_create(false));
}

httpd *httpd_start_raw(httpd_raw_fn fn, void *user, tls *t) {
    return start(NULL, fn, user, t);
}

void httpd_stop(httpd *d) {
    if (!d) return;
    d->stopping = true;
    shutdown(d->listen_fd, SHUT_RDWR);
    pthread_join(d->acceptor, NULL);
    close(d->listen_fd);
    pthread_mutex_lock(&d->lock);
    HOB_LIST_EACH (it, &d->connections) {
        connection *c = HOB_CONTAINER(it, connection, link);
        if (c->fd >= 0) shutdown(c->fd, SHUT_RDWR);
    }
    pthread_mutex_unlock(&d->lock);
    while (!hob_list_empty(&d->connections)) {
        connection *c = HOB_LIST_FIRST(&d->connections, connection, link);
        pthread_join(c->thread, NULL);
        hob_list_remove(&c->link);
        hob_free(c);
    }
    pthread_mutex_destroy(&d->lock);
    tls_destroy(d->tls);
    hob_free(d);
}

int httpd_port(const httpd *d) {
    return d->port;
}

const char *httpd_url(const httpd *d, const char *path, char *out, size_t size) {
    snprintf(out, size, "http%s://127.0.0.1:%d%s", d->tls ? "s" : "", d->port, path);
    return out;
}

unsigned httpd_requests(const httpd *d) {
    return d->requests;
}

unsigned httpd_connections(const httpd *d) {
    return d->accepted;
}
