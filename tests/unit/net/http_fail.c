/* The HTTP client against a server on its bad days. */
#include "net/http_internal.h"
#include "support/check.h"
#include "support/http_calls.h"

#include <stdio.h>
#include <sys/socket.h>

/* ---- errors known at once ------------------------------------------------------------------------ */

static void expect_refused(http_fixture *f, hob_http_request rq, const char *part) {
    hob_http_call *c = NULL;
    hob_error err;
    hob_http_handler none = {.on_head = NULL};
    assert_int_equal(hob_http_start(f->http, &rq, &none, NULL, &c, &err), HOB_EINVAL);
    assert_non_null(strstr(err.message, part));
    assert_null(c);
}

static void test_net_http_fail__bad_requests_are_refused(void **state) {
    http_fixture *f = *state;
    hob_str broken = HOB_STR("A: b\r\nInjected: c"), nameless = HOB_STR(": x");
    hob_str url = HOB_STR("http://x/");
    expect_refused(f, (hob_http_request){.method = "GET", .url = HOB_STR("ftp://x/")},
                   "'ftp' URLs");
    expect_refused(f, (hob_http_request){.method = "GET", .url = HOB_STR("x/y")},
                   "must begin with");
    expect_refused(f, (hob_http_request){.method = "", .url = url}, "needs a method");
    expect_refused(
        f, (hob_http_request){.method = "GET", .url = url, .headers = &broken, .nheaders = 1},
        "line break");
    expect_refused(
        f, (hob_http_request){.method = "GET", .url = url, .headers = &nameless, .nheaders = 1},
        "name: value");
}

/* ---- bad days ---------------------------------------------------------------------------------- */

static void half_then_close(httpd_exchange *x, void *user) {
    (void)user;
    httpd_begin(x, 200, NULL);
    httpd_send(x, HOB_STR("half"));
    httpd_close(x);
}

static void half_then_reset(httpd_exchange *x, void *user) {
    (void)user;
    httpd_begin(x, 200, NULL);
    httpd_send(x, HOB_STR("half"));
    httpd_reset(x);
}

static void close_at_once(httpd_exchange *x, void *user) {
    (void)user;
    httpd_close(x);
}

static void expect_error(http_result *r, int code, const char *message) {
    assert_string_equal(r->err.message, message);
    assert_int_equal(r->code, code);
    assert_int_equal(r->err.code, code);
    http_finish(r);
}

static void test_net_http_fail__connection_refused(void **state) {
    http_fixture *f = *state;
    http_result r;
    char url[64], message[128];
    int port = http_unused_port();
    http_init(&r, f);
    snprintf(url, sizeof(url), "http://127.0.0.1:%d/", port);
    http_start(&r, (hob_http_request){.method = "GET", .url = hob_str_z(url)});
    assert_int_equal(r.dones, 0); /* never from inside the call */
    http_wait(&r);
    snprintf(message, sizeof(message),
             "connection refused by 127.0.0.1:%d: is the server running? check base_url", port);
    expect_error(&r, HOB_ENET, message);
}

static void test_net_http_fail__localhost_needs_no_lookup(void **state) {
    http_fixture *f = *state;
    http_result r;
    char url[64];
    f->answer = http_say_hello;
    http_init(&r, f);
    snprintf(url, sizeof(url), "http://localhost:%d/", httpd_port(f->server));
    http_start(&r, (hob_http_request){.method = "GET", .url = hob_str_z(url)});
    assert_int_equal(r.call->ntargets, 0);
    http_wait(&r);
    http_assert_ok(&r);
    http_finish(&r);
}

static void test_net_http_fail__names_are_pinned(void **state) {
    http_fixture *f = *state;
    http_result r;
    char url[64];
    f->answer = http_say_hello;
    hob_resolver_pin(f->http->resolver, HOB_STR("pinned.invalid"), "127.0.0.1");
    http_init(&r, f);
    snprintf(url, sizeof(url), "http://pinned.invalid:%d/", httpd_port(f->server));
    http_start(&r, (hob_http_request){.method = "GET", .url = hob_str_z(url)});
    http_wait(&r);
    http_assert_ok(&r);
    assert_str(hob_buf_str(&r.body), "hello");
    http_finish(&r);
}

static void test_net_http_fail__unknown_name(void **state) {
    http_fixture *f = *state;
    http_result r;
    http_init(&r, f);
    http_start(&r, (hob_http_request){.method = "GET", .url = HOB_STR("http://nobody.invalid/")});
    http_wait(&r);
    assert_int_equal(r.code, HOB_ENET);
    assert_non_null(strstr(r.err.message, "cannot look up 'nobody.invalid'"));
    http_finish(&r);
}

static void test_net_http_fail__closed_without_an_answer(void **state) {
    http_fixture *f = *state;
    http_result r;
    char message[128];
    f->answer = close_at_once;
    http_get(f, &r);
    snprintf(message, sizeof(message), "127.0.0.1:%d closed the connection without an answer",
             httpd_port(f->server));
    expect_error(&r, HOB_ENET, message);
}

static void test_net_http_fail__cut_off_in_the_middle(void **state) {
    http_fixture *f = *state;
    http_result r;
    f->answer = half_then_close;
    http_get(f, &r);
    assert_int_equal(r.code, HOB_ENET);
    assert_str(hob_buf_str(&r.body), "half");
    assert_non_null(strstr(r.err.message, "in the middle of"));
    http_finish(&r);
}

static void test_net_http_fail__cut_off_in_the_head(void **state) {
    http_fixture *f = *state;
    const hob_str answer = HOB_STR("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
    f->answer = http_raw;
    for (size_t n = 1; n < answer.n; n++) {
        http_result r;
        f->piece = hob_str_first(answer, n);
        http_get(f, &r);
        if (r.code != HOB_ENET && r.code != HOB_EPROTO) fail_msg("%d after %zu bytes", r.code, n);
        assert_int_equal(r.heads, 0);
        http_finish(&r);
    }
}

static void test_net_http_fail__reset_in_the_middle(void **state) {
    http_fixture *f = *state;
    http_result r;
    f->answer = half_then_reset;
    http_get(f, &r);
    assert_int_equal(r.code, HOB_ENET);
    assert_non_null(strstr(r.err.message, "broke in the middle of the answer"));
    http_finish(&r);
}

/* The first connection answers once and is reset as soon as the next request begins to arrive, in the
 * middle of its large body; the second connection reads all of it. */
static void die_on_second_request(int fd, tls_stream *stream, unsigned number, void *user) {
    static const char ok[] = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
    struct linger hard = {.l_onoff = 1, .l_linger = 0};
    size_t left = number == 1 ? 1 : *(size_t *)user;
    char block[65536];
    (void)stream;
    for (ssize_t n; left > 0 && (n = recv(fd, block, sizeof(block), 0)) > 0;) {
        left -= HOB_MIN(left, (size_t)n);
    }
    send(fd, ok, sizeof(ok) - 1, MSG_NOSIGNAL);
    recv(fd, block, 1, 0); /* the next request, or the end */
    if (number == 1) setsockopt(fd, SOL_SOCKET, SO_LINGER, &hard, sizeof(hard));
}

static void test_net_http_fail__reset_of_a_kept_connection_is_repaired(void **state) {
    http_fixture *f = *state;
    static char bytes[8 << 20];
    size_t size = sizeof(bytes);
    hob_str body = hob_str_n(bytes, sizeof(bytes));
    http_result r;
    http_stop_server(f);
    f->server = httpd_start_raw(die_on_second_request, &size, NULL);
    http_get(f, &r);
    http_assert_ok(&r);
    http_finish(&r);
    http_init(&r, f);
    http_start(&r, (hob_http_request){.method = "POST", .body = &body, .nbody = 1});
    http_wait(&r);
    http_assert_ok(&r);
    assert_str(hob_buf_str(&r.body), "ok");
    assert_int_equal(httpd_connections(f->server), 2);
    http_finish(&r);
}

static void test_net_http_fail__not_http_at_all(void **state) {
    http_fixture *f = *state;
    http_result r;
    f->answer = http_raw;
    f->piece = HOB_STR("SSH-2.0-OpenSSH_9.2\r\n");
    http_get(f, &r);
    assert_int_equal(r.code, HOB_EPROTO);
    assert_non_null(strstr(r.err.message, "does not answer in HTTP"));
    http_finish(&r);
}

/* The server takes the first bytes of TLS for a request without end, and answers in plain text. */
static void test_net_http_fail__tls_to_a_plain_server(void **state) {
    http_fixture *f = *state;
    http_result r;
    char url[64];
    http_client(f,
                (hob_http_opts){.ca_file = tls_ca_file()}); /* a bare machine has none of its own */
    http_init(&r, f);
    snprintf(url, sizeof(url), "https://127.0.0.1:%d/", httpd_port(f->server));
    http_start(
        &r, (hob_http_request){.method = "GET", .url = hob_str_z(url), .connect_timeout_ms = 50});
    http_wait(&r);
    assert_int_equal(r.code, HOB_ETIMEDOUT);
    assert_non_null(strstr(r.err.message, "no connection to 127.0.0.1:"));
    http_finish(&r);
}

static void test_net_http_fail__never_answered(void **state) {
    http_fixture *f = *state;
    http_result r;
    char message[128];
    f->answer = http_hang;
    http_init(&r, f);
    http_start(&r, (hob_http_request){.method = "GET", .idle_timeout_ms = 30});
    http_wait(&r);
    snprintf(message, sizeof(message),
             "127.0.0.1:%d did not answer for 30 ms: it may be overloaded or gone",
             httpd_port(f->server));
    expect_error(&r, HOB_ETIMEDOUT, message);
}

static void test_net_http_fail__falls_silent(void **state) {
    http_fixture *f = *state;
    http_result r;
    f->answer = http_half_then_hang;
    http_init(&r, f);
    http_start(&r, (hob_http_request){.method = "GET", .idle_timeout_ms = 200});
    http_wait(&r);
    assert_str(hob_buf_str(&r.body), "half");
    assert_int_equal(r.code, HOB_ETIMEDOUT);
    assert_non_null(strstr(r.err.message, "sent nothing more for 200 ms"));
    http_finish(&r);
}

/* Twenty pauses of 20 ms are longer than the limit together, but none is alone. */
static void test_net_http_fail__slow_is_not_silent(void **state) {
    http_fixture *f = *state;
    http_result r;
    f->answer = http_slow;
    http_init(&r, f);
    http_start(&r, (hob_http_request){.method = "GET", .idle_timeout_ms = 250});
    http_wait(&r);
    http_assert_ok(&r);
    assert_str(hob_buf_str(&r.body), "xxxxxxxxxxxxxxxxxxxx");
    http_finish(&r);
}

/* 192.0.2.0/24 is for documentation: packets vanish, or there is no route at all. */
static void test_net_http_fail__connect_timeout(void **state) {
    http_fixture *f = *state;
    http_result r;
    http_init(&r, f);
    http_start(&r, (hob_http_request){.method = "GET",
                                      .url = HOB_STR("http://192.0.2.1:9/"),
                                      .connect_timeout_ms = 40});
    http_wait(&r);
    assert_true(r.code == HOB_ETIMEDOUT || r.code == HOB_ENET);
    assert_non_null(strstr(r.err.message, "192.0.2.1:9"));
    http_finish(&r);
}

static void test_net_http_fail__endless_answer_hits_the_ceiling(void **state) {
    http_fixture *f = *state;
    http_result r;
    f->answer = http_endless;
    http_init(&r, f);
    http_start(&r, (hob_http_request){.method = "GET", .max_body = 100000});
    http_wait(&r);
    assert_int_equal(r.code, HOB_ETOOBIG);
    assert_true(r.body.n <= 100000);
    assert_non_null(strstr(r.err.message, "larger than the limit of 100000 bytes"));
    http_finish(&r);
}

static void many_headers(httpd_exchange *x, void *user) {
    (void)user;
    httpd_raw(x, HOB_STR("HTTP/1.1 200 OK\r\n"));
    while (!httpd_gone(x)) httpd_raw(x, HOB_STR("X-Header: value\r\n"));
}

static void test_net_http_fail__endless_headers_hit_the_ceiling(void **state) {
    http_fixture *f = *state;
    http_result r;
    f->answer = many_headers;
    http_get(f, &r);
    assert_int_equal(r.code, HOB_ETOOBIG);
    assert_int_equal(r.heads, 0);
    http_finish(&r);
}

static void test_net_http_fail__receiver_can_stop(void **state) {
    http_fixture *f = *state;
    http_result r;
    f->answer = http_endless;
    http_init(&r, f);
    r.stop_with = HOB_EPARSE;
    http_start(&r, (hob_http_request){.method = "GET"});
    http_wait(&r);
    assert_int_equal(r.code, HOB_EPARSE);
    http_finish(&r);
}

#define T(name)                                                                                    \
    cmocka_unit_test_setup_teardown(test_net_http_fail__##name, http_setup, http_teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        T(bad_requests_are_refused),
        T(connection_refused),
        T(localhost_needs_no_lookup),
        T(names_are_pinned),
        T(unknown_name),
        T(closed_without_an_answer),
        T(cut_off_in_the_middle),
        T(cut_off_in_the_head),
        T(reset_in_the_middle),
        T(reset_of_a_kept_connection_is_repaired),
        T(not_http_at_all),
        T(tls_to_a_plain_server),
        T(never_answered),
        T(falls_silent),
        T(slow_is_not_silent),
        T(connect_timeout),
        T(endless_answer_hits_the_ceiling),
        T(endless_headers_hit_the_ceiling),
        T(receiver_can_stop),
    };
    return cmocka_run_group_tests_name("net/http_fail", tests, NULL, NULL);
}
