/*
 * tls.h - the server's side of TLS, for the test servers. libssl is there because libcurl needs it;
 * it is opened by name, so that no development package is needed.
 * The certificate is for 127.0.0.1 and localhost; tls_ca_file() is what a client must trust.
 */
#ifndef HOB_TESTS_TLS_H
#define HOB_TESTS_TLS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

typedef struct tls tls;
typedef struct tls_stream tls_stream;

tls *tls_create(bool http2); /* offers h2 by ALPN, or only HTTP/1.1; aborts when it cannot */
void tls_destroy(tls *t);
const char *tls_ca_file(void);

tls_stream *tls_accept(tls *t, int fd);              /* the handshake; NULL when it fails */
ssize_t tls_read(tls_stream *s, void *to, size_t n); /* <= 0: over */
ssize_t tls_write(tls_stream *s, const void *from, size_t n);
void tls_close(tls_stream *s); /* without a goodbye; the fd stays open */

#endif
