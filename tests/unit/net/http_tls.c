/* TLS, HTTP/2, and who shares connections with whom. */
#include "net/http_internal.h"
#include "support/check.h"
#include "support/h2d.h"
#include "support/http_calls.h"

#include <stdio.h>
#include <sys/socket.h>

enum { MANY = 20 };

/* The fixture's server becomes an https one. */
static void use_tls(http_fixture *f, httpd_fn answer) {
    http_stop_server(f);
    f->answer = answer;
    f->server = httpd_start_tls(answer, f);
    http_client(f, (hob_http_opts){.ca_file = tls_ca_file()});
}

static void test_net_http_tls__get(void **state) {
    http_fixture *f = *state;
    http_result r;
    use_tls(f, http_say_hello);
    http_get(f, &r);
    http_assert_ok(&r);
    assert_str(hob_buf_str(&r.body), "hello");
    http_finish(&r);
}

static void test_net_http_tls__unknown_certificate_is_refused(void **state) {
    http_fixture *f = *state;
    http_result r;
    use_tls(f, http_say_hello);
    http_client(f, (hob_http_opts){.ca_file = "/dev/null"});
    http_get(f, &r);
    assert_int_equal(r.code, HOB_ECONFIG);
    http_finish(&r);
    http_client(f, (hob_http_opts){.proxy = NULL});
    http_get(f, &r);
    assert_int_equal(r.code, HOB_ECONFIG);
    assert_int_equal(httpd_requests(f->server), 0);
    http_finish(&r);
}

static void test_net_http_tls__wrong_name_is_refused(void **state) {
    http_fixture *f = *state;
    http_result r;
    char url[64];
    use_tls(f, http_say_hello);
    hob_resolver_pin(f->http->resolver, HOB_STR("other.example"), "127.0.0.1");
    http_init(&r, f);
    snprintf(url, sizeof(url), "https://other.example:%d/", httpd_port(f->server));
    http_start(&r, (hob_http_request){.method = "GET", .url = hob_str_z(url)});
    http_wait(&r);
    assert_int_equal(r.code, HOB_ECONFIG);
    assert_non_null(strstr(r.err.message, "certificate of other.example:"));
    assert_int_equal(httpd_requests(f->server), 0);
    http_finish(&r);
}

static void test_net_http_tls__missing_ca_file_is_named(void **state) {
    http_fixture *f = *state;
    http_result r;
    use_tls(f, http_say_hello);
    http_client(f, (hob_http_opts){.ca_file = "/nonexistent/ca.pem"});
    http_get(f, &r);
    assert_int_equal(r.code, HOB_ECONFIG);
    assert_non_null(strstr(r.err.message, "cannot read the CA file /nonexistent/ca.pem"));
    http_finish(&r);
}

static void plain_answer(int fd, tls_stream *stream, unsigned number, void *user) {
    static const char text[] = "HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n";
    char block[4096];
    (void)stream, (void)number, (void)user;
    if (recv(fd, block, sizeof(block), 0) > 0) send(fd, text, sizeof(text) - 1, MSG_NOSIGNAL);
}

static void test_net_http_tls__https_to_a_plain_port(void **state) {
    http_fixture *f = *state;
    http_result r;
    char url[64];
    httpd *plain = httpd_start_raw(plain_answer, NULL, NULL);
    http_client(f,
                (hob_http_opts){.ca_file = tls_ca_file()}); /* a bare machine has none of its own */
    http_init(&r, f);
    snprintf(url, sizeof(url), "https://127.0.0.1:%d/", httpd_port(plain));
    http_start(&r, (hob_http_request){.method = "GET", .url = hob_str_z(url)});
    http_wait(&r);
    assert_int_equal(r.code, HOB_ENET);
    assert_non_null(strstr(r.err.message, "does it speak https? check base_url"));
    http_finish(&r);
    httpd_stop(plain);
}

/* Twenty endless streams to a TLS server without HTTP/2: none may wait for another's end. */
static void test_net_http_tls__without_http2_streams_do_not_share(void **state) {
    http_fixture *f = *state;
    http_result r[MANY];
    use_tls(f, http_half_then_hang);
    for (int i = 0; i < MANY; i++) {
        http_init(&r[i], f);
        http_start(&r[i], (hob_http_request){.method = "GET"});
    }
    for (int i = 0; i < MANY; i++) {
        while (r[i].body.n == 0) hob_loop_run_once(f->loop, -1);
        assert_int_equal(r[i].dones, 0);
    }
    assert_int_equal(hob_map_count(f->http->http1_hosts), 1);
    for (int i = 0; i < MANY; i++) {
        hob_http_cancel(r[i].call);
        http_finish(&r[i]);
    }
}

/* The peer goes away while much is being written to it through TLS: no SIGPIPE. */
static void reset_early(int fd, tls_stream *stream, unsigned number, void *user) {
    struct linger hard = {.l_onoff = 1, .l_linger = 0};
    char block[64];
    (void)number, (void)user;
    tls_read(stream, block, sizeof(block));
    setsockopt(fd, SOL_SOCKET, SO_LINGER, &hard, sizeof(hard));
}

static void test_net_http_tls__broken_pipe_raises_no_signal(void **state) {
    http_fixture *f = *state;
    static char bytes[4 << 20];
    hob_str body = hob_str_n(bytes, sizeof(bytes));
    http_stop_server(f);
    f->server = httpd_start_raw(reset_early, NULL, tls_create(false));
    http_client(f, (hob_http_opts){.ca_file = tls_ca_file()});
    for (int i = 0; i < 5; i++) {
        http_result r;
        http_init(&r, f);
        http_start(&r, (hob_http_request){.method = "POST", .body = &body, .nbody = 1});
        http_wait(&r);
        assert_int_equal(r.code, HOB_ENET);
        http_finish(&r);
    }
}

/* ---- HTTP/2 ---------------------------------------------------------------------------------- */

static void h2_start(http_fixture *f, const h2d *d, const char *path, http_result *r) {
    char url[64];
    http_init(r, f);
    snprintf(url, sizeof(url), "https://127.0.0.1:%d%s", h2d_port(d), path);
    http_start(r, (hob_http_request){.method = "GET", .url = hob_str_z(url)});
}

static void test_net_http_tls__http2_streams_share_connections(void **state) {
    http_fixture *f = *state;
    http_result r[MANY], last;
    h2d *d = h2d_start();
    http_client(f, (hob_http_opts){.ca_file = tls_ca_file()});
    for (int i = 0; i < MANY; i++) h2_start(f, d, "/half", &r[i]);
    for (int i = 0; i < MANY; i++) {
        while (r[i].body.n == 0) hob_loop_run_once(f->loop, -1);
        assert_int_equal(r[i].status, 200);
    }
    h2_start(f, d, "/hello", &last);
    http_wait(&last);
    http_assert_ok(&last);
    assert_str(hob_buf_str(&last.body), "hello");
    assert_in_range(h2d_connections(d), 1, 8);
    assert_int_equal(hob_map_count(f->http->http1_hosts), 0);
    for (int i = 0; i < MANY; i++) {
        hob_http_cancel(r[i].call);
        http_finish(&r[i]);
    }
    http_finish(&last);
    hob_http_destroy(f->http);
    f->http = NULL;
    h2d_stop(d);
}

static void test_net_http_tls__http2_cancel_resets_the_stream_only(void **state) {
    http_fixture *f = *state;
    http_result a, b;
    h2d *d = h2d_start();
    http_client(f, (hob_http_opts){.ca_file = tls_ca_file()});
    h2_start(f, d, "/half", &a);
    while (a.body.n == 0) hob_loop_run_once(f->loop, -1);
    hob_http_cancel(a.call);
    h2_start(f, d, "/hello", &b);
    http_wait(&b);
    http_assert_ok(&b);
    assert_int_equal(h2d_connections(d), 1);
    assert_int_equal(h2d_cancelled(d), 1);
    assert_int_equal(a.dones, 0);
    http_finish(&a);
    http_finish(&b);
    hob_http_destroy(f->http);
    f->http = NULL;
    h2d_stop(d);
}

static void test_net_http_tls__http2_stream_reset_is_an_error(void **state) {
    http_fixture *f = *state;
    http_result r;
    h2d *d = h2d_start();
    http_client(f, (hob_http_opts){.ca_file = tls_ca_file()});
    h2_start(f, d, "/reset", &r);
    http_wait(&r);
    assert_int_equal(r.code, HOB_ENET);
    assert_non_null(strstr(r.err.message, "HTTP/2"));
    http_finish(&r);
    hob_http_destroy(f->http);
    f->http = NULL;
    h2d_stop(d);
}

static void test_net_http_tls__http1_only(void **state) {
    http_fixture *f = *state;
    http_result r;
    h2d *d = h2d_start();
    http_client(f, (hob_http_opts){.ca_file = tls_ca_file(), .http1_only = true});
    h2_start(f, d, "/hello", &r);
    http_wait(&r);
    assert_true(r.code < 0); /* this server has nothing else to offer */
    assert_int_equal(h2d_streams(d), 0);
    http_finish(&r);
    hob_http_destroy(f->http);
    f->http = NULL;
    h2d_stop(d);
}

#define T(name)                                                                                    \
    cmocka_unit_test_setup_teardown(test_net_http_tls__##name, http_setup, http_teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        T(get),
        T(unknown_certificate_is_refused),
        T(wrong_name_is_refused),
        T(missing_ca_file_is_named),
        T(https_to_a_plain_port),
        T(without_http2_streams_do_not_share),
        T(broken_pipe_raises_no_signal),
        T(http2_streams_share_connections),
        T(http2_cancel_resets_the_stream_only),
        T(http2_stream_reset_is_an_error),
        T(http1_only),
    };
    return cmocka_run_group_tests_name("net/http_tls", tests, NULL, NULL);
}
