/*
 * h2d.c - see the header. libnghttp2 is there because libcurl needs it; it is opened by name and the
 * few functions needed are declared here as version 14 of its interface has them.
 */
#include "support/h2d.h"

#include "support/httpd.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct frame_head {
    size_t length;
    int32_t stream_id;
    uint8_t type, flags, reserved;
} frame_head;

typedef struct field {
    const char *name, *value;
    size_t namelen, valuelen;
    uint8_t flags;
} field;

typedef struct connection connection;
typedef ssize_t (*read_fn)(void *session, int32_t id, uint8_t *to, size_t n, uint32_t *flags,
                           void **source, connection *c);
typedef struct provider {
    void *source;
    read_fn read;
} provider;

enum { HEADERS = 1, END_STREAM = 1, DEFERRED = -508, INTERNAL_ERROR = 2 };

/* X(result, name, parameters) of nghttp2_name */
#define FUNCTIONS(X)                                                                               \
    X(int, session_callbacks_new, (void **))                                                       \
    X(void, session_callbacks_del, (void *))                                                       \
    X(void, session_callbacks_set_send_callback, (void *, void *))                                 \
    X(void, session_callbacks_set_on_header_callback, (void *, void *))                            \
    X(void, session_callbacks_set_on_frame_recv_callback, (void *, void *))                        \
    X(void, session_callbacks_set_on_stream_close_callback, (void *, void *))                      \
    X(int, session_server_new, (void **, void *, void *))                                          \
    X(void, session_del, (void *))                                                                 \
    X(int, session_set_stream_user_data, (void *, int32_t, void *))                                \
    X(void *, session_get_stream_user_data, (void *, int32_t))                                     \
    X(int, submit_settings, (void *, uint8_t, const void *, size_t))                               \
    X(int, submit_response, (void *, int32_t, const field *, size_t, const provider *))            \
    X(int, submit_rst_stream, (void *, uint8_t, int32_t, uint32_t))                                \
    X(ssize_t, session_mem_recv, (void *, const uint8_t *, size_t))                                \
    X(int, session_send, (void *))

struct h2d {
    httpd *server;
    atomic_uint streams, cancelled;
#define X(result, name, parameters) result(*name) parameters;
    FUNCTIONS(X)
#undef X
};

struct connection {
    h2d *d;
    tls_stream *stream;
};

static const char half[] = "half", hello[] = "hello", hang[] = "", reset[] = "reset";

/* The body: `source` is what the path asked for, and "" once it has been said. */
static ssize_t read_body(void *session, int32_t id, uint8_t *to, size_t n, uint32_t *flags,
                         void **source, connection *c) {
    const char *what = *source;
    const char *text = what == hello ? hello : half;
    if (what == hang) return DEFERRED;
    if (n < strlen(text)) abort();
    memcpy(to, text, strlen(text));
    if (what == hello) *flags = 1; /* the end */
    if (what == reset) c->d->submit_rst_stream(session, 0, id, INTERNAL_ERROR);
    *source = (void *)hang;
    return (ssize_t)strlen(text);
}

static int on_header(void *session, const frame_head *f, const char *name, size_t namelen,
                     const char *value, size_t valuelen, uint8_t flags, connection *c) {
    hob_str path = hob_str_n(value, valuelen);
    const char *what = hang;
    (void)flags;
    if (!hob_str_eqz(hob_str_n(name, namelen), ":path")) return 0;
    if (hob_str_eqz(path, "/hello")) what = hello;
    if (hob_str_eqz(path, "/half")) what = half;
    if (hob_str_eqz(path, "/reset")) what = reset;
    return c->d->session_set_stream_user_data(session, f->stream_id, (void *)what);
}

static int on_frame(void *session, const frame_head *f, connection *c) {
    field status = {":status", "200", 7, 3, 0};
    if (!(f->flags & END_STREAM) || f->type > HEADERS) return 0; /* 0 is DATA */
    c->d->streams++;
    void *what = c->d->session_get_stream_user_data(session, f->stream_id);
    provider body = {what, read_body};
    if (what == hang) return 0;
    return c->d->submit_response(session, f->stream_id, &status, 1, &body);
}

static int on_close(void *session, int32_t id, uint32_t error, connection *c) {
    (void)session, (void)id;
    if (error != 0 && error != INTERNAL_ERROR) c->d->cancelled++; /* that one is ours */
    return 0;
}

static ssize_t on_send(void *session, const uint8_t *p, size_t n, int flags, connection *c) {
    (void)session, (void)flags;
    return tls_write(c->stream, p, n) == (ssize_t)n ? (ssize_t)n : -902; /* callback failure */
}

static void *create_session(connection *c) {
    h2d *d = c->d;
    void *callbacks, *session;
    d->session_callbacks_new(&callbacks);
    d->session_callbacks_set_send_callback(callbacks, (void *)on_send);
    d->session_callbacks_set_on_header_callback(callbacks, (void *)on_header);
    d->session_callbacks_set_on_frame_recv_callback(callbacks, (void *)on_frame);
    d->session_callbacks_set_on_stream_close_callback(callbacks, (void *)on_close);
    d->session_server_new(&session, callbacks, c);
    d->session_callbacks_del(callbacks);
    d->submit_settings(session, 0, NULL, 0);
    return session;
}

static void serve(int fd, tls_stream *stream, unsigned number, void *user) {
    connection c = {user, stream};
    uint8_t block[16384];
    void *session = create_session(&c);
    ssize_t n;
    (void)fd, (void)number;
    while (c.d->session_send(session) == 0 && (n = tls_read(stream, block, sizeof(block))) > 0) {
        if (c.d->session_mem_recv(session, block, (size_t)n) != n) break;
    }
    c.d->session_del(session);
}

h2d *h2d_start(void) {
    void *so = dlopen("libnghttp2.so.14", RTLD_LAZY | RTLD_LOCAL);
    h2d *d = HOB_NEW(h2d);
    if (!so) abort();
#define X(result, name, parameters)                                                                \
    *(void **)&d->name = dlsym(so, "nghttp2_" #name);                                              \
    if (!d->name) abort();
    FUNCTIONS(X)
#undef X
    d->server = httpd_start_raw(serve, d, tls_create(true));
    return d;
}

void h2d_stop(h2d *d) {
    if (!d) return;
    httpd_stop(d->server);
    hob_free(d);
}

int h2d_port(const h2d *d) {
    return httpd_port(d->server);
}

unsigned h2d_connections(const h2d *d) {
    return httpd_connections(d->server);
}

unsigned h2d_streams(const h2d *d) {
    return d->streams;
}

unsigned h2d_cancelled(const h2d *d) {
    return d->cancelled;
}
