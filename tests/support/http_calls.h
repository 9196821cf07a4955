/*
 * http_calls.h - a loop, a pool, an HTTP client and the misbehaving server, and calls that record all
 * that came back. For the tests of the client and of what is built on it.
 */
#ifndef HOB_TESTS_HTTP_CALLS_H
#define HOB_TESTS_HTTP_CALLS_H

#include "net/http.h"
#include "support/httpd.h"

typedef struct http_fixture {
    hob_loop *loop;
    hob_pool *pool;
    hob_http *http;
    httpd *server;
    httpd_fn answer; /* what the server does in this test; its user is the fixture */
    hob_str piece;   /* for the answer to use */
    hob_buf seen;    /* what the server saw; read it after http_stop_server */
} http_fixture;

int http_setup(void **state); /* cmocka's */
int http_teardown(void **state);
void http_client(http_fixture *f, hob_http_opts o); /* another client; its pool is filled in */
void http_stop_server(http_fixture *f);

typedef enum http_place { HTTP_NOWHERE, HTTP_IN_HEAD, HTTP_IN_DATA, HTTP_IN_DONE } http_place;

/* One call and all that came back. */
typedef struct http_result {
    http_fixture *f;
    hob_http_call *call; /* NULL when it has ended */
    int status, heads, dones, code;
    hob_buf headers, body;
    hob_error err;
    int stop_with;              /* on_data returns it */
    http_place cancel_in;       /* cancels there … */
    struct http_result *victim; /* … whom; NULL = itself */
    http_place start_in;        /* starts there … */
    struct http_result *next;   /* … this one */
} http_result;

void http_init(http_result *r, http_fixture *f);
void http_finish(http_result *r);
/* To the fixture's server, /path?q=1, unless a URL is given. */
void http_start(http_result *r, hob_http_request rq);
void http_wait(const http_result *r);                 /* until it is done */
void http_get(http_fixture *f, http_result *r);       /* init, start, wait */
void http_assert_ok(const http_result *r);            /* HOB_OK, or shows the message */
void http_wait_requests(http_fixture *f, unsigned n); /* until the server has seen so many */

/* Answers that several tests use. */
void http_say_hello(httpd_exchange *x, void *user);
void http_echo(httpd_exchange *x, void *user); /* the body back; the head goes to `seen` */
void http_hang(httpd_exchange *x, void *user);
void http_half_then_hang(httpd_exchange *x, void *user);
void http_endless(httpd_exchange *x, void *user);
void http_slow(httpd_exchange *x, void *user);   /* twenty bytes, 20 ms before each */
void http_raw(httpd_exchange *x, void *user);    /* `piece` as it is, then close */
void http_stream(httpd_exchange *x, void *user); /* a hundred events */
extern const char http_stream_text[];            /* what that sends */

int http_unused_port(void); /* on loopback */

#endif
