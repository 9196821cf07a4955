/*
 * httpd.h - a small real HTTP/1.1 server on loopback that misbehaves on demand. For tests.
 *
 * One thread a connection; the handler runs on it, once a request, and answers by writing pieces.
 * Connections are kept alive unless the handler closes. A handler must not use cmocka's assertions
 * (it is not on the test's thread): note what was seen and check it after httpd_stop.
 *
 *     static void answer(httpd_exchange *x, void *user) {
 *         httpd_begin(x, 200, "Content-Type: text/event-stream\r\n");
 *         httpd_send(x, HOB_STR("data: hello\n\n"));
 *         httpd_end(x);
 *     }
 *     httpd *d = httpd_start(answer, NULL);
 *     … http://127.0.0.1:<httpd_port(d)>/ …
 *     httpd_stop(d);
 */
#ifndef HOB_TESTS_HTTPD_H
#define HOB_TESTS_HTTPD_H

#include "base/base.h"
#include "support/tls.h"

typedef struct httpd httpd;
typedef struct httpd_exchange httpd_exchange;
typedef void (*httpd_fn)(httpd_exchange *x, void *user);

httpd *httpd_start(httpd_fn fn, void *user);     /* aborts when it cannot listen */
httpd *httpd_start_tls(httpd_fn fn, void *user); /* https; the client must trust tls_ca_file() */
/* A server that speaks no HTTP of its own: fn has the connection (number from 1) until it returns.
 * t, if given, is taken over, and fn gets the stream after the handshake. */
typedef void (*httpd_raw_fn)(int fd, tls_stream *stream, unsigned number, void *user);
httpd *httpd_start_raw(httpd_raw_fn fn, void *user, tls *t);
void httpd_stop(httpd *d); /* ends every connection and thread */
int httpd_port(const httpd *d);
const char *httpd_url(const httpd *d, const char *path, char *out, size_t size);
unsigned httpd_requests(const httpd *d);    /* so far */
unsigned httpd_connections(const httpd *d); /* so far */

/* ---- the request --------------------------------------------------------------------------- */
hob_str httpd_method(const httpd_exchange *x);
hob_str httpd_path(const httpd_exchange *x); /* with the query */
hob_str httpd_body(const httpd_exchange *x);
hob_str httpd_head(const httpd_exchange *x); /* request line and headers as they came */
hob_str httpd_header(const httpd_exchange *x, const char *name);
unsigned httpd_number(const httpd_exchange *x); /* of this request on the server, from 1 */

/* ---- the answer; `headers` are lines ending in CRLF, or NULL --------------------------------- */
/* All at once, with Content-Length. */
void httpd_reply(httpd_exchange *x, int status, const char *headers, hob_str body);
/* In pieces (chunked). */
void httpd_begin(httpd_exchange *x, int status, const char *headers);
void httpd_send(httpd_exchange *x, hob_str piece);
void httpd_sendf(httpd_exchange *x, const char *fmt, ...) HOB_PRINTF(2, 3);
void httpd_end(httpd_exchange *x);
/* Bytes as they are: for broken answers. */
void httpd_raw(httpd_exchange *x, hob_str bytes);

/* ---- misbehaviour --------------------------------------------------------------------------- */
void httpd_bytewise(httpd_exchange *x); /* from now on one byte a packet */
void httpd_hang(httpd_exchange *x);     /* says nothing until the client or httpd_stop ends it */
void httpd_sleep(httpd_exchange *x, int ms); /* or until the client or httpd_stop ends it */
void httpd_endless(httpd_exchange *x, hob_str piece); /* sends it until the client hangs up */
void httpd_close(httpd_exchange *x);                  /* FIN now */
void httpd_reset(httpd_exchange *x);                  /* RST now */
bool httpd_gone(const httpd_exchange *x);             /* a write failed, or it was closed */

#endif
