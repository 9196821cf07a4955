/* The HTTP client against a server that behaves. */
#include "net/http_internal.h"
#include "support/check.h"
#include "support/http_calls.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* ---- plain success ------------------------------------------------------------------------------ */

static void test_net_http__get(void **state) {
    http_fixture *f = *state;
    http_result r;
    f->answer = http_say_hello;
    http_get(f, &r);
    http_assert_ok(&r);
    assert_int_equal(r.status, 200);
    assert_int_equal(r.heads, 1);
    assert_str(hob_buf_str(&r.body), "hello");
    assert_str(hob_buf_str(&r.headers), "X-One: 1\nx-two:  2 \nContent-Length: 5\n");
    http_finish(&r);
}

static void test_net_http__header_lookup_ignores_case(void **state) {
    (void)state;
    hob_str lines[] = {HOB_STR("Retry-After:  7 "), HOB_STR("X:"), HOB_STR("no colon")};
    hob_http_head head = {200, lines, 3};
    assert_str(hob_http_header(&head, "retry-after"), "7");
    assert_str(hob_http_header(&head, "x"), "");
    assert_str(hob_http_header(&head, "no colon"), "");
}

static void test_net_http__post_sends_the_segments_and_headers(void **state) {
    http_fixture *f = *state;
    http_result r;
    f->answer = http_echo;
    http_init(&r, f);
    hob_str body[] = {HOB_STR("{\"a\":"), HOB_STR(""), HOB_STR("1"), HOB_STR("}")};
    hob_str headers[] = {HOB_STR("X-Key: secret"), HOB_STR("Content-Type: application/json"),
                         HOB_STR("X-Empty:")};
    http_start(&r,
               (hob_http_request){
                   .method = "POST", .body = body, .nbody = 4, .headers = headers, .nheaders = 3});
    memset(headers, 0, sizeof(headers)); /* the arrays are copied, only the body's bytes are not */
    memset(body, 0, sizeof(body));
    http_wait(&r);
    assert_str(hob_buf_str(&r.body), "{\"a\":1}");
    http_stop_server(f);
    const char *head = hob_buf_z(&f->seen);
    const char *expected[] = {
        "POST /path?q=1 HTTP/1.1\r\n",        "X-Key: secret\r\n",     "X-Empty:\r\n",
        "Content-Type: application/json\r\n", "Content-Length: 7\r\n", "Host: 127.0.0.1:",
        "User-Agent: hob/" HOB_VERSION "\r\n"};
    for (size_t i = 0; i < HOB_ARRAY_LEN(expected); i++) assert_non_null(strstr(head, expected[i]));
    assert_null(strstr(head, "Expect:"));
    http_finish(&r);
}

static void test_net_http__large_body_in_many_segments(void **state) {
    http_fixture *f = *state;
    enum { SEGMENTS = 999, SIZE = 4093 };
    static hob_str segments[SEGMENTS];
    static char bytes[SEGMENTS * SIZE];
    http_result r;
    f->answer = http_echo;
    http_init(&r, f);
    for (size_t i = 0; i < sizeof(bytes); i++) bytes[i] = (char)('a' + i % 23);
    for (size_t i = 0; i < SEGMENTS; i++) segments[i] = hob_str_n(bytes + i * SIZE, SIZE);
    http_start(&r, (hob_http_request){.method = "PUT", .body = segments, .nbody = SEGMENTS});
    http_wait(&r);
    http_assert_ok(&r);
    assert_true(hob_str_eq(hob_buf_str(&r.body), hob_str_n(bytes, sizeof(bytes))));
    http_stop_server(f);
    assert_non_null(strstr(hob_buf_z(&f->seen), "PUT /path"));
    assert_null(strstr(hob_buf_z(&f->seen), "Content-Type"));
    assert_null(strstr(hob_buf_z(&f->seen), "Expect"));
    http_finish(&r);
}

static void test_net_http__stream(void **state) {
    http_fixture *f = *state;
    http_result r;
    f->answer = http_stream;
    http_get(f, &r);
    http_assert_ok(&r);
    assert_str(hob_buf_str(&r.body), http_stream_text);
    http_finish(&r);
}

static void stream_bytewise(httpd_exchange *x, void *user) {
    httpd_bytewise(x);
    http_stream(x, user);
}

static void test_net_http__stream_in_single_bytes(void **state) {
    http_fixture *f = *state;
    http_result r;
    f->answer = stream_bytewise;
    http_get(f, &r);
    http_assert_ok(&r);
    assert_str(hob_buf_str(&r.body), http_stream_text);
    http_finish(&r);
}

static void test_net_http__connection_is_used_again(void **state) {
    http_fixture *f = *state;
    f->answer = http_say_hello;
    for (int i = 0; i < 5; i++) {
        http_result r;
        http_get(f, &r);
        http_assert_ok(&r);
        http_finish(&r);
    }
    assert_int_equal(httpd_connections(f->server), 1);
}

static void hello_then_close(httpd_exchange *x, void *user) {
    http_say_hello(x, user);
    httpd_close(x);
}

/* The server closes a kept connection; the next request, with a body, must not notice. */
static void test_net_http__stale_connection_is_replaced(void **state) {
    http_fixture *f = *state;
    hob_str body = HOB_STR("body");
    for (int i = 0; i <= 200; i++) {
        http_result r;
        http_init(&r, f);
        f->answer = i == 200 ? http_echo : hello_then_close;
        http_start(&r, (hob_http_request){.method = "POST", .body = &body, .nbody = 1});
        http_wait(&r);
        http_assert_ok(&r);
        assert_str(hob_buf_str(&r.body), i == 200 ? "body" : "hello");
        http_finish(&r);
    }
}

/* A kept connection that ends must not keep the loop busy. */
static void test_net_http__idle_connection_that_ends_is_quiet(void **state) {
    http_fixture *f = *state;
    http_result r;
    f->answer = http_say_hello;
    http_get(f, &r);
    http_assert_ok(&r);
    http_stop_server(f);
    int busy = 0;
    while (busy < 100 && hob_loop_run_once(f->loop, 10) > 0) busy++;
    assert_in_range(busy, 0, 10);
    http_finish(&r);
}

static void test_net_http__informational_answers_are_skipped(void **state) {
    http_fixture *f = *state;
    http_result r;
    f->answer = http_raw;
    f->piece = HOB_STR("HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n"
                       "HTTP/1.1 200 OK\r\nA: b\r\nContent-Length: 2\r\n\r\nok");
    http_get(f, &r);
    assert_int_equal(r.heads, 1);
    assert_int_equal(r.status, 200);
    assert_str(hob_buf_str(&r.headers), "A: b\nContent-Length: 2\n");
    assert_str(hob_buf_str(&r.body), "ok");
    http_finish(&r);
}

static void test_net_http__trailers_are_no_second_head(void **state) {
    http_fixture *f = *state;
    http_result r;
    f->answer = http_raw;
    f->piece = HOB_STR("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
                       "2\r\nok\r\n0\r\nX-Trailer: 1\r\n\r\n");
    http_get(f, &r);
    assert_int_equal(r.heads, 1);
    assert_str(hob_buf_str(&r.headers), "Transfer-Encoding: chunked\n");
    http_finish(&r);
}

static void test_net_http__redirect_is_not_followed(void **state) {
    http_fixture *f = *state;
    http_result r;
    f->answer = http_raw;
    f->piece = HOB_STR("HTTP/1.1 302 Found\r\nLocation: /other\r\nContent-Length: 0\r\n\r\n");
    http_get(f, &r);
    http_assert_ok(&r);
    assert_int_equal(r.status, 302);
    assert_int_equal(httpd_requests(f->server), 1);
    http_finish(&r);
}

/* ---- proxies -------------------------------------------------------------------------------------- */

static void test_net_http__environment_is_not_read(void **state) {
    http_fixture *f = *state;
    http_result r;
    f->answer = http_say_hello;
    setenv("http_proxy", "http://127.0.0.1:1", 1);
    setenv("all_proxy", "http://127.0.0.1:1", 1);
    http_get(f, &r);
    http_assert_ok(&r);
    unsetenv("http_proxy");
    unsetenv("all_proxy");
    http_finish(&r);
}

static void test_net_http__proxy_gets_the_whole_url(void **state) {
    http_fixture *f = *state;
    http_result r;
    char proxy[64];
    f->answer = http_echo;
    snprintf(proxy, sizeof(proxy), "127.0.0.1:%d", httpd_port(f->server));
    http_client(f, (hob_http_opts){.proxy = proxy, .no_proxy = "other.example"});
    setenv("no_proxy", "*", 1);
    http_init(&r, f);
    http_start(&r, (hob_http_request){.method = "GET", .url = HOB_STR("http://api.example/v1")});
    http_wait(&r);
    unsetenv("no_proxy");
    http_assert_ok(&r);
    http_stop_server(f);
    assert_true(
        hob_str_starts(hob_buf_str(&f->seen), HOB_STR("GET http://api.example/v1 HTTP/1.1")));
    http_finish(&r);
}

static void test_net_http__no_proxy_goes_direct(void **state) {
    http_fixture *f = *state;
    http_result r;
    f->answer = http_say_hello;
    http_client(f, (hob_http_opts){.proxy = "http://127.0.0.1:1", .no_proxy = "127.0.0.0/8"});
    http_get(f, &r);
    http_assert_ok(&r);
    http_finish(&r);
}

static void test_net_http__dead_proxy_is_named(void **state) {
    http_fixture *f = *state;
    http_result r;
    char proxy[64], message[160];
    int port = http_unused_port();
    snprintf(proxy, sizeof(proxy), "http://127.0.0.1:%d", port);
    http_client(f, (hob_http_opts){.proxy = proxy});
    http_get(f, &r);
    snprintf(message, sizeof(message),
             "connection refused by the proxy 127.0.0.1:%d: is the server running? check the proxy "
             "setting",
             port);
    assert_string_equal(r.err.message, message);
    assert_int_equal(r.code, HOB_ENET);
    http_finish(&r);
}

static void test_net_http__bad_options_are_refused(void **state) {
    http_fixture *f = *state;
    hob_http *h = NULL;
    hob_error err;
    hob_http_opts o = {.pool = f->pool, .proxy = "gopher://x"};
    assert_int_equal(hob_http_create(f->loop, &o, &h, &err), HOB_EINVAL);
    o = (hob_http_opts){.pool = NULL};
    assert_int_equal(hob_http_create(f->loop, &o, &h, &err), HOB_EINVAL);
    assert_null(h);
}

/* ---- other clocks and pools ---------------------------------------------------------------------- */

/* On virtual time a transfer is waited for, and a time-out still comes. */
static void test_net_http__virtual_time(void **state) {
    http_fixture *f = *state;
    hob_fake_clock clock;
    http_result r;
    hob_http_destroy(f->http);
    f->http = NULL;
    hob_loop_destroy(f->loop);
    hob_fake_clock_init(&clock, 0);
    hob_loop_create(&clock.base, &f->loop, NULL);
    http_client(f, (hob_http_opts){.proxy = NULL});
    f->answer = http_slow;
    http_get(f, &r);
    http_assert_ok(&r);
    http_finish(&r);
    f->answer = http_hang;
    http_init(&r, f);
    http_start(&r, (hob_http_request){.method = "GET", .idle_timeout_ms = 20});
    http_wait(&r);
    assert_int_equal(r.code, HOB_ETIMEDOUT);
    http_finish(&r);
}

typedef struct blocker {
    hob_work work;
    int fd;
    pthread_barrier_t *running; /* NULL for the second */
} blocker;

static void occupy(hob_work *w) {
    blocker *b = HOB_CONTAINER(w, blocker, work);
    char byte;
    if (b->running) pthread_barrier_wait(b->running);
    if (read(b->fd, &byte, 1) < 0) abort();
}

static void occupied(hob_work *w) {
    (void)w;
}

/* One work runs, one fills the queue. The client then loads libcurl itself, and says why it cannot
 * look up a name. */
static void test_net_http__full_pool(void **state) {
    http_fixture *f = *state;
    pthread_barrier_t running;
    hob_pool *small, *usual = f->pool;
    blocker b[2];
    http_result r;
    int fds[2];
    assert_int_equal(pipe(fds), 0);
    pthread_barrier_init(&running, NULL, 2);
    hob_pool_create(1, 1, &small, NULL);
    for (int i = 0; i < 2; i++) {
        b[i] = (blocker){{.work = occupy, .done = occupied}, fds[0], i == 0 ? &running : NULL};
        assert_int_equal(hob_pool_submit(small, f->loop, &b[i].work), 0);
        if (i == 0) pthread_barrier_wait(&running);
    }
    f->pool = small;
    http_client(f, (hob_http_opts){.proxy = NULL});
    f->answer = http_say_hello;
    http_get(f, &r);
    http_assert_ok(&r);
    http_finish(&r);
    http_init(&r, f);
    http_start(&r, (hob_http_request){.method = "GET", .url = HOB_STR("http://name.invalid/")});
    http_wait(&r);
    assert_int_equal(r.code, HOB_EAGAIN);
    http_finish(&r);
    hob_http_destroy(f->http);
    f->http = NULL;
    close(fds[1]);
    hob_pool_destroy(small);
    while (hob_loop_run_once(f->loop, 0) > 0) {
    }
    f->pool = usual;
    close(fds[0]);
    pthread_barrier_destroy(&running);
}

#define T(name) cmocka_unit_test_setup_teardown(test_net_http__##name, http_setup, http_teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        T(get),
        T(header_lookup_ignores_case),
        T(post_sends_the_segments_and_headers),
        T(large_body_in_many_segments),
        T(stream),
        T(stream_in_single_bytes),
        T(connection_is_used_again),
        T(stale_connection_is_replaced),
        T(idle_connection_that_ends_is_quiet),
        T(informational_answers_are_skipped),
        T(trailers_are_no_second_head),
        T(redirect_is_not_followed),
        T(environment_is_not_read),
        T(proxy_gets_the_whole_url),
        T(no_proxy_goes_direct),
        T(dead_proxy_is_named),
        T(bad_options_are_refused),
        T(virtual_time),
        T(full_pool),
    };
    return cmocka_run_group_tests_name("net/http", tests, NULL, NULL);
}
