/*
 * http_calls.c - see the header.
 */
#include "support/http_calls.h"

#include "support/check.h"

#include <stdio.h>

static void run_answer(httpd_exchange *x, void *user) {
    http_fixture *f = user;
    f->answer(x, f);
}

void http_client(http_fixture *f, hob_http_opts o) {
    hob_error err;
    o.pool = f->pool;
    hob_http_destroy(f->http);
    f->http = NULL;
    assert_ok(hob_http_create(f->loop, &o, &f->http, &err), err);
}

int http_setup(void **state) {
    http_fixture *f = HOB_NEW(http_fixture);
    *state = f;
    hob_buf_init(&f->seen, 1 << 24);
    if (hob_loop_create(NULL, &f->loop, NULL) < 0) return -1;
    if (hob_pool_create(2, 64, &f->pool, NULL) < 0) return -1;
    http_client(f, (hob_http_opts){.proxy = NULL});
    f->server = httpd_start(run_answer, f);
    return 0;
}

void http_stop_server(http_fixture *f) {
    httpd_stop(f->server);
    f->server = NULL;
}

int http_teardown(void **state) {
    http_fixture *f = *state;
    hob_http_destroy(f->http);
    http_stop_server(f);
    hob_pool_destroy(f->pool);
    hob_loop_destroy(f->loop);
    hob_buf_finish(&f->seen);
    hob_free(f);
    return 0;
}

/* ---- calls ----------------------------------------------------------------------------------- */

static void cancel_if(http_result *r, http_place place) {
    http_result *victim = r->victim ? r->victim : r;
    if (r->cancel_in != place || !victim->call) return;
    hob_http_cancel(victim->call);
    victim->call = NULL;
}

static void start_if(http_result *r, http_place place) {
    http_result *next = r->next;
    if (r->start_in != place || !next) return;
    r->next = NULL;
    http_start(next, (hob_http_request){.method = "GET"});
}

static void on_head(void *user, const hob_http_head *head) {
    http_result *r = user;
    r->heads++;
    r->status = head->status;
    for (size_t i = 0; i < head->nheaders; i++) {
        hob_buf_add(&r->headers, head->headers[i]);
        hob_buf_addc(&r->headers, '\n');
    }
    start_if(r, HTTP_IN_HEAD);
    cancel_if(r, HTTP_IN_HEAD);
}

static int on_data(void *user, hob_str chunk) {
    http_result *r = user;
    hob_buf_add(&r->body, chunk);
    start_if(r, HTTP_IN_DATA);
    cancel_if(r, HTTP_IN_DATA);
    return r->stop_with;
}

static void on_done(void *user, int code, const hob_error *err) {
    http_result *r = user;
    r->dones++;
    r->code = code;
    if (err) r->err = *err;
    cancel_if(r, HTTP_IN_DONE);
    r->call = NULL;
    start_if(r, HTTP_IN_DONE);
}

void http_init(http_result *r, http_fixture *f) {
    *r = (http_result){.f = f};
    hob_buf_init(&r->headers, 1 << 20);
    hob_buf_init(&r->body, 1 << 26);
}

void http_finish(http_result *r) {
    hob_buf_finish(&r->headers);
    hob_buf_finish(&r->body);
}

void http_start(http_result *r, hob_http_request rq) {
    static const hob_http_handler handler = {on_head, on_data, on_done};
    char url[128];
    hob_error err;
    if (rq.url.n == 0) rq.url = hob_str_z(httpd_url(r->f->server, "/path?q=1", url, sizeof(url)));
    assert_ok(hob_http_start(r->f->http, &rq, &handler, r, &r->call, &err), err);
}

void http_wait(const http_result *r) {
    while (!r->dones) hob_loop_run_once(r->f->loop, -1);
    assert_int_equal(r->dones, 1);
}

void http_get(http_fixture *f, http_result *r) {
    http_init(r, f);
    http_start(r, (hob_http_request){.method = "GET"});
    http_wait(r);
}

void http_assert_ok(const http_result *r) {
    if (r->code != HOB_OK) fail_msg("%s: %s", hob_error_name(r->code), r->err.message);
}

void http_wait_requests(http_fixture *f, unsigned n) {
    while (httpd_requests(f->server) < n) hob_loop_run_once(f->loop, 1);
}

/* ---- answers --------------------------------------------------------------------------------- */

void http_say_hello(httpd_exchange *x, void *user) {
    (void)user;
    httpd_reply(x, 200, "X-One: 1\r\nx-two:  2 \r\n", HOB_STR("hello"));
}

void http_echo(httpd_exchange *x, void *user) {
    http_fixture *f = user;
    hob_buf_add(&f->seen, httpd_head(x));
    httpd_reply(x, 200, NULL, httpd_body(x));
}

void http_hang(httpd_exchange *x, void *user) {
    (void)user;
    httpd_hang(x);
}

void http_half_then_hang(httpd_exchange *x, void *user) {
    (void)user;
    httpd_begin(x, 200, NULL);
    httpd_send(x, HOB_STR("half"));
    httpd_hang(x);
}

void http_endless(httpd_exchange *x, void *user) {
    (void)user;
    char block[4096];
    memset(block, 'x', sizeof(block));
    httpd_begin(x, 200, NULL);
    httpd_endless(x, hob_str_n(block, sizeof(block)));
}

void http_slow(httpd_exchange *x, void *user) {
    (void)user;
    httpd_begin(x, 200, NULL);
    for (int i = 0; i < 20; i++) {
        httpd_sleep(x, 20);
        httpd_send(x, HOB_STR("x"));
    }
    httpd_end(x);
}

void http_raw(httpd_exchange *x, void *user) {
    http_fixture *f = user;
    httpd_raw(x, f->piece);
    httpd_close(x);
}

#define TEN(x) x x x x x x x x x x
#define EVENT "event: delta\ndata: {\"text\":\"\xE2\x82\xAC\"}\n\n"
const char http_stream_text[] = TEN(TEN(EVENT));

void http_stream(httpd_exchange *x, void *user) {
    (void)user;
    httpd_begin(x, 200, "Content-Type: text/event-stream\r\n");
    for (int i = 0; i < 100; i++) httpd_send(x, HOB_STR(EVENT));
    httpd_end(x);
}

int http_unused_port(void) {
    httpd *d = httpd_start(NULL, NULL);
    int port = httpd_port(d);
    httpd_stop(d);
    return port;
}
