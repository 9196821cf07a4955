/*
 * Connections over real sockets: malformed bytes (SEC-55), several requests on one, slow clients (REL-16), clients that go.
 */
#include "support/check.h"
#include "support/webd.h"

#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

static int setup(void **state) {
    *state = webd_start(NULL);
    return 0;
}

static int teardown(void **state) {
    webd_free(*state);
    return 0;
}

static void sendf(int fd, const char *fmt, ...) HOB_PRINTF(2, 3);
static void sendf(int fd, const char *fmt, ...) {
    char text[4096];
    va_list ap;
    va_start(ap, fmt);
    int n = vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    webd_send(fd, hob_str_n(text, (size_t)n));
}

static int receive_status(int fd) {
    webd_answer a;
    webd_receive(fd, &a);
    webd_answer_finish(&a);
    return a.status;
}

/* ---- malformed ------------------------------------------------------------------------------------------- */

typedef struct raw_case {
    const char *what;
    hob_str bytes; /* after it a second request that must never be seen */
    int status;
} raw_case;
#define RAW(what, bytes, status)                                                                   \
    { what, {"" bytes, sizeof(bytes) - 1}, status }
#define H "Host: 127.0.0.1\r\n"

static void test_serve_conn__malformed_requests_are_refused_and_the_connection_ends(void **state) {
    static const raw_case cases[] = {
        RAW("length and chunks",
            "POST /echo HTTP/1.1\r\n" H
            "Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
            400),
        RAW("two lengths",
            "POST /echo HTTP/1.1\r\n" H "Content-Length: 0\r\nContent-Length: 44\r\n\r\n", 400),
        RAW("folded", "GET /ping HTTP/1.1\r\n" H "X: 1\r\n two\r\n\r\n", 400),
        RAW("LF alone",
            "GET /ping HTTP/1.1\n"
            "Host: 127.0.0.1\n\n",
            400),
        RAW("NUL", "GET /ping HTTP/1.1\r\n" H "X: a\0b\r\n\r\n", 400),
        RAW("HTTP/2", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 505),
        RAW("TLS", "\026\003\001\002\000\001\000\001\374\003\003", 400),
        RAW("coding", "POST /echo HTTP/1.1\r\n" H "Transfer-Encoding: identity\r\n\r\n", 501),
    };
    for (size_t i = 0; i < HOB_ARRAY_LEN(cases); i++) {
        webd_answer a;
        hob_buf b;
        hob_buf_init(&b, 4096);
        hob_buf_add(&b, cases[i].bytes);
        hob_buf_addz(&b, "GET /ping HTTP/1.1\r\n" H "\r\n");
        webd_raw(*state, hob_buf_str(&b), &a);
        if (a.status != cases[i].status || !a.closed) fail_msg("%s: %d", cases[i].what, a.status);
        assert_true(hob_str_find(hob_buf_str(&a.raw), HOB_STR("pong")) < 0);
        webd_answer_finish(&a);
        hob_buf_finish(&b);
    }
}

static void test_serve_conn__long_heads_are_refused_before_they_end(void **state) {
    webd_answer a;
    hob_buf b;
    hob_buf_init(&b, 1 << 20);
    hob_buf_addz(&b, "GET /ping HTTP/1.1\r\n" H "X: ");
    while (b.n < 64 * 1024) hob_buf_addc(&b, 'x');
    webd_raw(*state, hob_buf_str(&b), &a);
    assert_int_equal(a.status, 431);
    assert_true(a.closed);
    webd_answer_finish(&a);
    hob_buf_finish(&b);
}

static void test_serve_conn__broken_chunks_end_the_connection(void **state) {
    webd *d = *state;
    int fd = webd_connect(d);
    sendf(fd,
          "POST /any HTTP/1.1\r\n%s" WEBD_AUTH
          "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\nzz\r\n",
          d->host);
    assert_int_equal(receive_status(fd), 400);
    assert_true(webd_closed(fd));
    close(fd);
}

/* ---- requests on one connection ---------------------------------------------------------------------------- */

static void test_serve_conn__requests_may_come_before_the_answers(void **state) {
    webd *d = *state;
    hob_buf in = {.max = 0};
    int fd = webd_connect(d);
    for (int i = 0; i < 3; i++)
        sendf(fd,
              "POST /echo HTTP/1.1\r\n%s" WEBD_AUTH
              "Content-Type: application/json\r\nContent-Length: 7\r\n\r\n{\"n\":%d}"
              "GET /ping HTTP/1.1\r\n%s\r\n",
              d->host, i, d->host);
    sendf(fd, "GET /item/a/b HTTP/1.1\r\n%sConnection: close\r\n" WEBD_AUTH "\r\n", d->host);
    assert_true(webd_read_until(fd, &in, "\"part\":\"b\"}"));
    hob_str all = hob_buf_str(&in);
    ptrdiff_t at = 0;
    static const char *const order[] = {"{\"n\":0}", "pong", "{\"n\":1}", "pong",
                                        "{\"n\":2}", "pong", "{\"id\""};
    for (size_t i = 0; i < HOB_ARRAY_LEN(order); i++) {
        at = hob_str_find(all, hob_str_z(order[i]));
        if (at < 0) fail_msg("%s is missing or too early", order[i]);
        all = hob_str_skip(all, (size_t)at + strlen(order[i]));
    }
    assert_true(webd_closed(fd));
    close(fd);
    hob_buf_finish(&in);
}

static size_t count(hob_str all, hob_str text) {
    size_t n = 0;
    for (ptrdiff_t at; (at = hob_str_find(all, text)) >= 0; n++)
        all = hob_str_skip(all, (size_t)at + text.n);
    return n;
}

/* More than a connection keeps: what has no room waits in the socket. */
static void test_serve_conn__many_requests_may_wait_behind_one_at_work(void **state) {
    webd *d = *state;
    char padding[1001];
    hob_buf b, in = {.max = 0};
    webd_answer a;
    memset(padding, 'x', 1000);
    padding[1000] = 0;
    hob_buf_init(&b, 1 << 20);
    for (int i = 0; i < 135; i++) {
        if (i % 45 == 0) hob_buf_addf(&b, "GET /block HTTP/1.1\r\n%s" WEBD_AUTH "\r\n", d->host);
        hob_buf_addf(&b, "GET /ping HTTP/1.1\r\n%sX: %s\r\n\r\n", d->host, padding);
    }
    hob_buf_addf(&b, "GET /item/a/b HTTP/1.1\r\n%sConnection: close\r\n" WEBD_AUTH "\r\n", d->host);
    int fd = webd_connect(d);
    webd_send(fd, hob_buf_str(&b));
    for (int i = 0; i < 3; i++) {
        webd_wait(webd_blocked() == 1);
        webd_call(d, "GET /ping", NULL, NULL, &a); /* the server has read what it reads */
        webd_answer_finish(&a);
        webd_release(1);
    }
    assert_true(webd_read_until(fd, &in, "\"part\":\"b\"}"));
    assert_int_equal(count(hob_buf_str(&in), HOB_STR("pong")), 135);
    assert_int_equal(count(hob_buf_str(&in), HOB_STR("released")), 3);
    close(fd);
    hob_buf_finish(&b);
    hob_buf_finish(&in);
}

static void test_serve_conn__a_body_may_come_byte_by_byte(void **state) {
    webd *d = *state;
    hob_str body = HOB_STR("5\r\nhello\r\n1\r\n!\r\n0\r\n\r\n");
    webd_answer a;
    int fd = webd_connect(d);
    sendf(fd,
          "POST /any HTTP/1.1\r\n%s" WEBD_AUTH
          "Transfer-Encoding: chunked\r\nExpect: 100-continue\r\n\r\n",
          d->host);
    assert_int_equal(receive_status(fd), 100);
    for (size_t i = 0; i < body.n; i++) webd_send(fd, hob_str_n(body.p + i, 1));
    webd_receive(fd, &a);
    assert_int_equal(a.status, 201);
    assert_str(a.body, "{\"bytes\":6}");
    webd_answer_finish(&a);
    close(fd);
}

static void test_serve_conn__who_is_refused_need_not_send_the_body(void **state) {
    webd *d = *state;
    int fd = webd_connect(d);
    sendf(fd, "POST /any HTTP/1.1\r\n%sContent-Length: 5000000\r\nExpect: 100-continue\r\n\r\n",
          d->host);
    assert_int_equal(receive_status(fd), 401);
    assert_true(webd_closed(fd));
    close(fd);
}

/* Five million bytes on their way when the answer goes out: it arrives all the same. */
static void test_serve_conn__a_refusal_reaches_who_is_still_sending(void **state) {
    webd *d = *state;
    hob_buf b;
    hob_buf_init(&b, 8 << 20);
    hob_buf_addf(&b, "POST /any HTTP/1.1\r\n%sContent-Length: 5000000\r\n\r\n", d->host);
    while (b.n < 400000) hob_buf_addz(&b, "0123456789012345678901234567890123456789");
    int fd = webd_connect(d);
    webd_send(fd, hob_buf_str(&b));
    assert_int_equal(receive_status(fd), 401);
    close(fd);
    hob_buf_finish(&b);
}

static void test_serve_conn__a_large_body_and_its_ceiling(void **state) {
    webd *d = *state;
    webd_answer a;
    hob_buf b;
    hob_buf_init(&b, 16 << 20);
    while (b.n < 5000000)
        hob_buf_addz(&b, "0123456789012345678901234567890123456789012345678901234567890123");
    webd_call(d, "POST /any", WEBD_AUTH, hob_buf_z(&b), &a);
    assert_int_equal(a.status, 201);
    webd_answer_finish(&a);
    int fd = webd_connect(d);
    sendf(fd, "POST /any HTTP/1.1\r\n%s" WEBD_AUTH "Transfer-Encoding: chunked\r\n\r\n", d->host);
    for (int i = 0; i < 2; i++) {
        sendf(fd, "%zx\r\n", b.n);
        webd_send(fd, hob_buf_str(&b));
        sendf(fd, "\r\n");
    }
    assert_int_equal(receive_status(fd), 413);
    close(fd);
    hob_buf_finish(&b);
}

static void test_serve_conn__head_has_no_body(void **state) {
    webd *d = *state;
    hob_buf in = {.max = 0};
    int fd = webd_connect(d);
    sendf(fd, "HEAD /ping HTTP/1.1\r\n%s\r\nGET /ping HTTP/1.1\r\n%sX-Mark: 1\r\n\r\n", d->host,
          d->host);
    assert_true(webd_read_until(fd, &in, "pong"));
    hob_str all = hob_buf_str(&in);
    ptrdiff_t end = hob_str_find(all, HOB_STR("\r\n\r\n"));
    assert_true(hob_str_find(hob_str_first(all, (size_t)end), HOB_STR("Content-Length: 4\r\n")) >
                0);
    assert_true(hob_str_starts(hob_str_skip(all, (size_t)end + 4), HOB_STR("HTTP/1.1 200 OK\r\n")));
    close(fd);
    hob_buf_finish(&in);
}

static void test_serve_conn__what_is_unchanged_is_not_sent_again(void **state) {
    webd_answer a;
    char field[200];
    webd_call(*state, "GET /tagged", WEBD_AUTH, NULL, &a);
    ptrdiff_t at = hob_str_find(a.head, HOB_STR("ETag: "));
    assert_true(at > 0);
    hob_str tag = hob_str_skip(a.head, (size_t)at + 6);
    tag = hob_str_first(tag, (size_t)hob_str_chr(tag, '\r'));
    snprintf(field, sizeof field, WEBD_AUTH "If-None-Match: \"x\", %.*s\r\n", HOB_FMT(tag));
    webd_answer_finish(&a);
    webd_call(*state, "GET /tagged", field, NULL, &a);
    assert_int_equal(a.status, 304);
    assert_int_equal(a.body.n, 0);
    webd_answer_finish(&a);
}

static void test_serve_conn__answers_that_travel_are_made_smaller(void **state) {
    webd_answer a;
    static const char *const as_it_is[] = {
        WEBD_AUTH "Accept-Encoding: gzip\r\n", /* on this machine */
        WEBD_AUTH "Via: 1.1 proxy\r\n",
        WEBD_AUTH "Via: 1.1 proxy\r\nAccept-Encoding: br, gzip;q=0\r\n",
    };
    for (size_t i = 0; i < HOB_ARRAY_LEN(as_it_is); i++) {
        webd_call(*state, "GET /long", as_it_is[i], NULL, &a);
        assert_false(webd_has(&a, "content-encoding"));
        assert_true(a.body.n > 100000 && a.body.p[0] == '[');
        webd_answer_finish(&a);
    }
    webd_call(*state, "GET /long",
              WEBD_AUTH "X-Forwarded-For: 10.1.2.3\r\nAccept-Encoding: br, gzip;q=0.5\r\n", NULL,
              &a);
    assert_true(webd_has(&a, "\r\nContent-Encoding: gzip\r\n") && webd_has(&a, "\r\nETag: W/\""));
    assert_true(a.body.n < 10000 && !memcmp(a.body.p, "\x1f\x8b", 2));
    webd_answer_finish(&a);
    webd_call(*state, "GET /tagged", WEBD_AUTH "Via: 1.1 proxy\r\nAccept-Encoding: gzip\r\n", NULL,
              &a);
    assert_false(webd_has(&a, "content-encoding")); /* too short to be worth it */
    webd_answer_finish(&a);
}

static void test_serve_conn__a_handler_without_an_answer_is_an_error(void **state) {
    webd_answer a;
    webd_call(*state, "GET /silent", WEBD_AUTH, NULL, &a);
    assert_int_equal(a.status, 500);
    webd_answer_finish(&a);
}

/* ---- time ------------------------------------------------------------------------------------------------- */

/* REL-16: many clients that send a byte now and then lose their places; one that behaves is served all the while. */
static void test_serve_conn__slow_heads_lose_their_place(void **state) {
    webd *d = *state;
    int slow[200];
    for (size_t i = 0; i < HOB_ARRAY_LEN(slow); i++) {
        slow[i] = webd_connect(d);
        webd_send(slow[i], HOB_STR("GET /pi"));
    }
    for (int second = 0; second < 9; second++) {
        webd_answer a;
        for (size_t i = 0; i < HOB_ARRAY_LEN(slow); i++) webd_send(slow[i], HOB_STR("n"));
        webd_call(d, "GET /ping", NULL, NULL, &a);
        assert_int_equal(a.status, 200);
        webd_answer_finish(&a);
        webd_advance(d, 1000);
    }
    for (size_t i = 0; i < HOB_ARRAY_LEN(slow); i++) {
        assert_in_range(webd_advance_until(d, slow[i], 12), 0, 12);
        assert_int_equal(receive_status(slow[i]), 408);
        assert_true(webd_closed(slow[i]));
        close(slow[i]);
    }
}

static void test_serve_conn__slow_bodies_and_silence_end(void **state) {
    webd *d = *state;
    int body = webd_connect(d), silent = webd_connect(d), idle = webd_connect(d);
    sendf(body, "POST /any HTTP/1.1\r\n%s" WEBD_AUTH "Content-Length: 10\r\n\r\nx", d->host);
    sendf(idle, "GET /ping HTTP/1.1\r\n%s\r\n", d->host);
    assert_int_equal(receive_status(idle), 200);
    assert_in_range(webd_advance_until(d, silent, 15), 5, 15);
    assert_true(webd_closed(silent));
    sendf(idle, "GET /ping HTTP/1.1\r\n%s\r\n", d->host);
    assert_int_equal(receive_status(idle), 200);
    assert_in_range(webd_advance_until(d, body, 40), 10, 40);
    assert_int_equal(receive_status(body), 408);
    assert_in_range(webd_advance_until(d, idle, 70), 10, 70);
    assert_true(webd_closed(idle));
    close(body);
    close(silent);
    close(idle);
}

/* ---- clients that go ---------------------------------------------------------------------------------------- */

static void test_serve_conn__a_client_that_leaves_stops_no_handler(void **state) {
    webd *d = *state;
    int fd = webd_connect(d);
    sendf(fd, "GET /block HTTP/1.1\r\n%s" WEBD_AUTH "\r\n", d->host);
    webd_wait(webd_blocked() == 1);
    struct linger now = {.l_onoff = 1};
    setsockopt(fd, SOL_SOCKET, SO_LINGER, &now, sizeof now);
    close(fd); /* with a reset */
    webd_answer a;
    webd_call(d, "GET /ping", NULL, NULL, &a);
    assert_int_equal(a.status, 200);
    webd_answer_finish(&a);
    assert_int_equal(webd_blocked(), 1);
    webd_release(1);
    webd_wait(webd_blocked() == 0);
}

static void test_serve_conn__who_sends_no_more_still_gets_the_answer(void **state) {
    webd *d = *state;
    int fd = webd_connect(d);
    sendf(fd, "GET /block HTTP/1.1\r\n%s" WEBD_AUTH "\r\n", d->host);
    webd_wait(webd_blocked() == 1);
    shutdown(fd, SHUT_WR);
    webd_release(1);
    assert_int_equal(receive_status(fd), 200);
    assert_true(webd_closed(fd));
    close(fd);
}

static void test_serve_conn__who_sends_no_more_gets_all_answers(void **state) {
    webd *d = *state;
    hob_buf in = {.max = 0};
    int fd = webd_connect(d);
    sendf(fd,
          "GET /block HTTP/1.1\r\n%s" WEBD_AUTH "\r\nGET /item/a/b HTTP/1.1\r\n%s" WEBD_AUTH
          "\r\nGET /ping HTTP/1.1\r\n%s\r\nGET /pi",
          d->host, d->host, d->host);
    webd_wait(webd_blocked() == 1);
    shutdown(fd, SHUT_WR);
    webd_release(1);
    assert_true(webd_read_until(fd, &in, "pong"));
    assert_int_equal(count(hob_buf_str(&in), HOB_STR("HTTP/1.1 200")), 3);
    assert_true(webd_closed(fd));
    close(fd);
    hob_buf_finish(&in);
}

/* Where all places are taken by strangers, the oldest of them makes room. */
static void test_serve_conn__strangers_make_room(void **state) {
    (void)state;
    hob_server_opts o = HOB_SERVER_OPTS_INIT;
    o.max_connections = 8;
    webd *d = webd_start(&o);
    int known = webd_connect(d), strangers[20];
    sendf(known, "GET /tagged HTTP/1.1\r\n%s" WEBD_AUTH "\r\n", d->host);
    assert_int_equal(receive_status(known), 200);
    for (size_t i = 0; i < HOB_ARRAY_LEN(strangers); i++) strangers[i] = webd_connect(d);
    webd_answer a;
    webd_call(d, "GET /ping", NULL, NULL, &a);
    assert_int_equal(a.status, 200);
    webd_answer_finish(&a);
    assert_true(webd_closed(strangers[0]));
    sendf(known, "GET /tagged HTTP/1.1\r\n%s" WEBD_AUTH "\r\n", d->host);
    assert_int_equal(receive_status(known), 200);
    for (size_t i = 0; i < HOB_ARRAY_LEN(strangers); i++) close(strangers[i]);
    close(known);
    webd_free(d);
}

int main(void) {
#define T(name) cmocka_unit_test_setup_teardown(test_serve_conn__##name, setup, teardown)
    const struct CMUnitTest tests[] = {
        T(malformed_requests_are_refused_and_the_connection_ends),
        T(long_heads_are_refused_before_they_end),
        T(broken_chunks_end_the_connection),
        T(requests_may_come_before_the_answers),
        T(many_requests_may_wait_behind_one_at_work),
        T(a_body_may_come_byte_by_byte),
        T(who_is_refused_need_not_send_the_body),
        T(a_refusal_reaches_who_is_still_sending),
        T(a_large_body_and_its_ceiling),
        T(head_has_no_body),
        T(what_is_unchanged_is_not_sent_again),
        T(answers_that_travel_are_made_smaller),
        T(a_handler_without_an_answer_is_an_error),
        T(slow_heads_lose_their_place),
        T(slow_bodies_and_silence_end),
        T(a_client_that_leaves_stops_no_handler),
        T(who_sends_no_more_still_gets_the_answer),
        T(who_sends_no_more_gets_all_answers),
        cmocka_unit_test(test_serve_conn__strangers_make_room),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
