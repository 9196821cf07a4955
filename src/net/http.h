/*
 * http.h - HTTP client on libcurl's multi interface.
 *
 * libcurl is loaded on first need (one function table, dlopen) and its sockets live in a private
 * epoll fd watched by the loop. Host names are resolved on our pool and pinned. A transfer is never
 * paused: the response has a ceiling instead. All calls and callbacks are [loop].
 *
 * A call lives until its on_done returns or it is cancelled, whichever comes first. Callbacks may
 * start and cancel calls, this one and others; they may not destroy the client.
 * Nothing is read from the environment: proxies and CA files are options. Redirects are not followed.
 */
#ifndef HOB_SRC_HTTP_H
#define HOB_SRC_HTTP_H

#include "loop/loop.h"

typedef struct hob_http hob_http;           /* one per loop */
typedef struct hob_http_call hob_http_call; /* one request under way */

typedef struct hob_http_opts {
    hob_pool *pool; /* required: name resolution, loading libcurl */
    const char
        *ca_file;      /* NULL = libcurl's default; honours SSL_CERT_FILE when the host passes it */
    const char *proxy; /* NULL = none; e.g. http://127.0.0.1:3128, socks5h://… */
    const char *no_proxy; /* as curl's NO_PROXY */
    bool http1_only;      /* never HTTP/2 */
} hob_http_opts;

int hob_http_create(hob_loop *l, const hob_http_opts *o, hob_http **out, hob_error *err);
void hob_http_destroy(hob_http *h); /* cancels what is under way; before the pool and the loop */
/* Starts loading libcurl on the pool so that the first request does not wait for it. */
void hob_http_preload(hob_http *h);

typedef struct hob_http_request {
    const char *method;     /* "POST" */
    hob_str url;            /* http or https only */
    const hob_str *headers; /* "name: value" */
    size_t nheaders;
    const hob_str *body; /* segments, sent one after the other; bytes BORROWED until on_done */
    size_t nbody;
    int64_t connect_timeout_ms; /* looking up and connecting; 0 = 15 s */
    int64_t idle_timeout_ms;    /* no byte either way for so long -> HOB_ETIMEDOUT; 0 = 90 s */
    size_t max_body;            /* ceiling on the response; 0 = 64 MiB */
} hob_http_request;

typedef struct hob_http_head {
    int status;
    const hob_str *headers; /* raw "Name: value" lines without CRLF, of the final response */
    size_t nheaders;
} hob_http_head;
/* Value of a header by name (case ignored), or the empty slice. */
hob_str hob_http_header(const hob_http_head *head, const char *name);

typedef struct hob_http_handler {
    void (*on_head)(void *user, const hob_http_head *head); /* head lives until on_done */
    int (*on_data)(void *user, hob_str chunk); /* negative = stop, on_done gets that code */
    /* HOB_OK (err is NULL; any HTTP status, see on_head) or HOB_E…; exactly once. */
    void (*on_done)(void *user, int code, const hob_error *err);
} hob_http_handler;

/* Errors known at once (bad URL) are returned; everything later arrives at on_done. The handler may
 * be on the caller's stack. HOB_EAGAIN when too many calls are under way. */
int hob_http_start(hob_http *h, const hob_http_request *rq, const hob_http_handler *handler,
                   void *user, hob_http_call **out, hob_error *err);
void hob_http_cancel(hob_http_call *c); /* closes the connection or stream; no callback after it */

#endif
