/*
 * http_internal.h - storage of the HTTP client, for its own files and its tests.
 *
 *   http_start.c   a request is checked, copied and prepared
 *   http.c         the client: loading libcurl, handing calls over, ending and cancelling them
 *   http_engine.c  libcurl's multi interface on the loop
 *   http_call.c    one request as a libcurl easy handle: options and callbacks
 *   http_error.c   libcurl's errors in our words
 *
 * libcurl must not be entered from its own callbacks, but our users may start and cancel calls
 * from theirs. While `in_curl` is set such changes are only noted in `todo`, and carried out by
 * hob_http_settle as soon as libcurl has returned.
 */
#ifndef HOB_SRC_HTTP_INTERNAL_H
#define HOB_SRC_HTTP_INTERNAL_H

#include "net/curl_table.h"
#include "net/http.h"
#include "net/resolve.h"
#include "net/url.h"

/* Two multi handles. TLS hosts that speak HTTP/2 share a few connections, many streams on each. For
 * others such a cap would let one long stream keep the next from starting, so they get a connection
 * a call. Which kind a TLS host is, is learned from its first answer. */
typedef enum hob_engine_kind { HOB_ENGINE_SHARED, HOB_ENGINE_SINGLE, HOB_ENGINES } hob_engine_kind;

typedef struct hob_engine {
    hob_http *http;
    CURLM *multi; /* NULL until needed */
    hob_timer timer;
} hob_engine;

typedef struct hob_http_load hob_http_load;

typedef enum hob_load_state { HOB_LOAD_NONE, HOB_LOAD_RUNNING, HOB_LOAD_READY } hob_load_state;

struct hob_http {
    hob_loop *loop;
    hob_pool *pool;
    char *ca_file, *proxy, *no_proxy; /* NULL = not set */
    hob_url proxy_url;                /* of proxy */
    bool http1_only;

    hob_load_state load_state;
    hob_http_load *load; /* while running */
    hob_curl curl;       /* when ready */
    hob_resolver *resolver;
    hob_engine engines[HOB_ENGINES];
    int epoll_fd;
    hob_io *io;
    unsigned char *want; /* by socket number: see http_engine.c */
    size_t nwant;
    bool in_curl;

    hob_list calls, todo;
    size_t ncalls;
    hob_map *http1_hosts; /* "host:port" of TLS servers without HTTP/2 */
};

typedef enum hob_call_state {
    HOB_CALL_PREPARING, /* libcurl is being loaded or a name looked up */
    HOB_CALL_QUEUED,    /* libcurl has it; connecting, or waiting for a connection */
    HOB_CALL_SENT,      /* the request is going out or has gone out */
    HOB_CALL_FAILING,   /* known to have failed; on_done comes in the next round */
    HOB_CALL_ENDED      /* cancelled, or on_done is running */
} hob_call_state;

/* A host that libcurl will connect to or, for some proxies, look up. */
typedef struct hob_call_target {
    hob_lookup lookup;
    hob_http_call *call;
    hob_str host;
    int port;
    char *addresses; /* NULL until known */
} hob_call_target;

struct hob_http_call {
    hob_http *http;
    hob_list link, todo;
    hob_call_state state;
    hob_http_handler handler;
    void *user;

    char *url, *method;
    hob_url parsed; /* of url */
    char peer[300]; /* host:port, for messages and as a key */
    bool proxied;
    hob_buf headers; /* the request's, each NUL-terminated */
    hob_str *body;
    size_t nbody, body_size, segment, offset;

    hob_call_target targets[2];
    size_t ntargets, unresolved;
    CURL *easy;
    bool sent_again;
    hob_engine *engine; /* the one it was added to, or NULL */
    struct curl_slist *header_list, *resolve_list;
    char curl_error[CURL_ERROR_SIZE];

    int64_t connect_ms, idle_ms, last_byte;
    hob_timer watch;

    hob_buf head_text;
    hob_str *head_lines;
    hob_http_head head;
    bool head_done;
    size_t received, max_body;
    hob_error err; /* code < 0: why we stopped it ourselves */
};

/* http.c */
void hob_call_prepare(hob_http_call *c); /* goes on as soon as all it needs is there */
void hob_call_fail_later(hob_http_call *c, const hob_error *err);
void hob_call_on_watch(hob_timer *t);
void hob_http_settle(hob_http *h);
void hob_http_learn_http1(hob_http_call *c); /* its server has no HTTP/2 */

/* http_engine.c */
int hob_engines_init(hob_http *h, hob_error *err);
void hob_engines_finish(hob_http *h);
int hob_engine_add(hob_engine *e, hob_http_call *c, hob_error *err);
void hob_engine_remove(hob_http_call *c); /* when not added: nothing */

/* http_call.c */
int hob_call_configure(hob_http_call *c, hob_error *err); /* makes the easy handle */
void hob_call_rewind(hob_http_call *c); /* before it is added to an engine, again or first */
void hob_http_call_finish(hob_http_call *c);

/* http_error.c */
int hob_http_explain(const hob_http_call *c, CURLcode result, hob_error *err);
int hob_http_explain_timeout(const hob_http_call *c, hob_error *err);

#endif
