/*
 * tls.c - see the header. The few functions needed are declared here as libssl 3 has them.
 */
#include "support/tls.h"

#include "base/base.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#define FILES HOB_SOURCE_DIR "/tests/support/tls/"

struct tls {
    void *ctx;
    bool http2;
    void *(*new_stream)(void *ctx);
    void (*free_stream)(void *ssl);
    int (*set_fd)(void *ssl, int fd);
    int (*accept)(void *ssl);
    int (*read)(void *ssl, void *to, int n);
    int (*write)(void *ssl, const void *from, int n);
    void (*free_ctx)(void *ctx);
};

struct tls_stream {
    tls *t;
    void *ssl;
};

static void *need(void *so, const char *name) {
    void *f = so ? dlsym(so, name) : NULL;
    if (f) return f;
    fprintf(stderr, "tls: %s: %s\n", name, dlerror());
    abort();
}

#define FIND(so, to, name) *(void **)&(to) = need(so, name)

/* SSL_CTX_set_alpn_select_cb's callback; 0 = chosen, 3 = none. `in` is a list of length-prefixed
 * names. */
static int choose(void *ssl, const unsigned char **out, unsigned char *outlen,
                  const unsigned char *in, unsigned n, void *user) {
    tls *t = user;
    hob_str want = t->http2 ? HOB_STR("h2") : HOB_STR("http/1.1");
    (void)ssl;
    for (unsigned at = 0; at < n; at += 1u + in[at]) {
        if (!hob_str_eq(hob_str_n((const char *)in + at + 1, in[at]), want)) continue;
        *out = in + at + 1;
        *outlen = in[at];
        return 0;
    }
    return 3;
}

static void configure(tls *t, void *so) {
    void *(*method)(void), *(*ctx_new)(void *);
    int (*use_cert)(void *, const char *), (*use_key)(void *, const char *, int);
    void (*set_alpn)(void *, __typeof__(choose) *, void *);
    FIND(so, method, "TLS_server_method");
    FIND(so, ctx_new, "SSL_CTX_new");
    FIND(so, use_cert, "SSL_CTX_use_certificate_chain_file");
    FIND(so, use_key, "SSL_CTX_use_PrivateKey_file");
    FIND(so, set_alpn, "SSL_CTX_set_alpn_select_cb");
    t->ctx = ctx_new(method());
    if (use_cert(t->ctx, FILES "cert.pem") != 1 || use_key(t->ctx, FILES "key.pem", 1) != 1)
        abort();
    set_alpn(t->ctx, choose, t);
}

tls *tls_create(bool http2) {
    void *so = dlopen("libssl.so.3", RTLD_LAZY | RTLD_LOCAL);
    tls *t = HOB_NEW(tls);
    t->http2 = http2;
    FIND(so, t->new_stream, "SSL_new");
    FIND(so, t->free_stream, "SSL_free");
    FIND(so, t->set_fd, "SSL_set_fd");
    FIND(so, t->accept, "SSL_accept");
    FIND(so, t->read, "SSL_read");
    FIND(so, t->write, "SSL_write");
    FIND(so, t->free_ctx, "SSL_CTX_free");
    configure(t, so);
    return t;
}

void tls_destroy(tls *t) {
    if (!t) return;
    t->free_ctx(t->ctx);
    hob_free(t);
}

const char *tls_ca_file(void) {
    return FILES "cert.pem";
}

tls_stream *tls_accept(tls *t, int fd) {
    tls_stream *s = HOB_NEW(tls_stream);
    s->t = t;
    s->ssl = t->new_stream(t->ctx);
    t->set_fd(s->ssl, fd);
    if (t->accept(s->ssl) == 1) return s;
    tls_close(s);
    return NULL;
}

ssize_t tls_read(tls_stream *s, void *to, size_t n) {
    return s->t->read(s->ssl, to, (int)n);
}

ssize_t tls_write(tls_stream *s, const void *from, size_t n) {
    return s->t->write(s->ssl, from, (int)n);
}

void tls_close(tls_stream *s) {
    if (!s) return;
    s->t->free_stream(s->ssl);
    hob_free(s);
}
