/*
 * The bytes of a request: what is understood, and what is refused because two programs could understand it differently.
 */
#include "serve/wire.h"
#include "support/check.h"

/* The status of what is wrong with it; 0 = it is fine, 1 = it is not all there. */
static int status_of(hob_str bytes, hob_head *h) {
    const hob_wire_error *why = NULL;
    size_t scanned = 0;
    ptrdiff_t end = hob_head_end(bytes, &scanned, &why);
    if (end > 0) why = hob_head_parse(hob_str_first(bytes, (size_t)end), h);
    return end == 0 ? 1 : why ? why->status : 0;
}

static void test_serve_wire__a_head_is_read(void **state) {
    (void)state;
    hob_head h;
    assert_int_equal(status_of(HOB_STR("POST /a/b%20c?x=1&y HTTP/1.1\r\nHost: localhost:1\r\n"
                                       "Content-Length: 12\r\nX-One:\t two words \t\r\nX-None:\r\n"
                                       "Expect: 100-continue\r\n\r\nbody"),
                               &h),
                     0);
    assert_str(h.method, "POST");
    assert_str(h.path, "/a/b%20c");
    assert_str(h.query, "x=1&y");
    assert_str(h.host, "localhost:1");
    assert_int_equal(h.length, 12);
    assert_true(h.keep_alive && h.expects && !h.chunked && h.minor == 1);
    assert_str(hob_head_field(&h, "x-ONE"), "two words");
    assert_str(hob_head_field(&h, "x-none"), "");
    assert_non_null(hob_head_field(&h, "x-none").p);
    assert_null(hob_head_field(&h, "x-two").p);
}

static void test_serve_wire__connections_end_as_they_are_told(void **state) {
    (void)state;
    hob_head h;
    assert_int_equal(
        status_of(HOB_STR("GET / HTTP/1.1\r\nHost: a\r\nConnection: foo, Close\r\n\r\n"), &h), 0);
    assert_false(h.keep_alive);
    assert_int_equal(status_of(HOB_STR("GET / HTTP/1.0\r\n\r\n"), &h), 0);
    assert_false(h.keep_alive);
    assert_int_equal(status_of(HOB_STR("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n"), &h), 0);
    assert_true(h.keep_alive);
}

#define H "Host: a\r\n"
typedef struct raw_case {
    const char *what;
    hob_str bytes;
    int status;
} raw_case;
#define RAW(what, bytes, status)                                                                   \
    { what, {"" bytes, sizeof(bytes) - 1}, status }

static void test_serve_wire__what_can_be_read_in_two_ways_is_refused(void **state) {
    (void)state;
    static const raw_case cases[] = {
        RAW("LF alone", "GET / HTTP/1.1\nHost: a\n\n", 400),
        RAW("LF alone in fields", "GET / HTTP/1.1\r\nHost: a\nX: 1\r\n\r\n", 400),
        RAW("CR alone", "GET / HTTP/1.1\r\nHost: a\rX: 1\r\n\r\n", 400),
        RAW("CR CR LF", "GET / HTTP/1.1\r\r\nHost: a\r\n\r\n", 400),
        RAW("folded", "GET / HTTP/1.1\r\n" H "X: 1\r\n two\r\n\r\n", 400),
        RAW("folded with a tab", "GET / HTTP/1.1\r\n" H "X: 1\r\n\ttwo\r\n\r\n", 400),
        RAW("folded first", "GET / HTTP/1.1\r\n " H "\r\n", 400),
        RAW("NUL in a value", "GET / HTTP/1.1\r\n" H "X: a\0b\r\n\r\n", 400),
        RAW("NUL in the path", "GET /a\0b HTTP/1.1\r\n" H "\r\n", 400),
        RAW("control", "GET / HTTP/1.1\r\n" H "X: a\001b\r\n\r\n", 400),
        RAW("DEL", "GET / HTTP/1.1\r\n" H "X: a\177b\r\n\r\n", 400),
        RAW("blank before the colon", "GET / HTTP/1.1\r\nHost : a\r\n\r\n", 400),
        RAW("no colon", "GET / HTTP/1.1\r\n" H "X\r\n\r\n", 400),
        RAW("no name", "GET / HTTP/1.1\r\n" H ": x\r\n\r\n", 400),
        RAW("a name of other bytes", "GET / HTTP/1.1\r\n" H "X\xC3\xA4: x\r\n\r\n", 400),
        RAW("two lengths", "POST / HTTP/1.1\r\n" H "Content-Length: 1\r\nContent-Length: 2\r\n\r\n",
            400),
        RAW("the same twice",
            "POST / HTTP/1.1\r\n" H "Content-Length: 1\r\ncontent-length: 1\r\n\r\n", 400),
        RAW("lengths in a list", "POST / HTTP/1.1\r\n" H "Content-Length: 1, 1\r\n\r\n", 400),
        RAW("signed", "POST / HTTP/1.1\r\n" H "Content-Length: +1\r\n\r\n", 400),
        RAW("negative", "POST / HTTP/1.1\r\n" H "Content-Length: -1\r\n\r\n", 400),
        RAW("hexadecimal", "POST / HTTP/1.1\r\n" H "Content-Length: 0x1\r\n\r\n", 400),
        RAW("empty length", "POST / HTTP/1.1\r\n" H "Content-Length:\r\n\r\n", 400),
        RAW("huge length", "POST / HTTP/1.1\r\n" H "Content-Length: 9999999999999999999\r\n\r\n",
            400),
        RAW("length and chunks",
            "POST / HTTP/1.1\r\n" H "Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n", 400),
        RAW("chunks and length",
            "POST / HTTP/1.1\r\n" H "Transfer-Encoding: chunked\r\nContent-Length: 1\r\n\r\n", 400),
        RAW("chunked twice", "POST / HTTP/1.1\r\n" H "Transfer-Encoding: chunked, chunked\r\n\r\n",
            501),
        RAW("another coding", "POST / HTTP/1.1\r\n" H "Transfer-Encoding: gzip, chunked\r\n\r\n",
            501),
        RAW("vertical tab", "POST / HTTP/1.1\r\n" H "Transfer-Encoding: \013chunked\r\n\r\n", 400),
        RAW("two codings",
            "POST / HTTP/1.1\r\n" H "Transfer-Encoding: chunked\r\nTransfer-Encoding: x\r\n\r\n",
            400),
        RAW("chunks in 1.0", "POST / HTTP/1.0\r\n" H "Transfer-Encoding: chunked\r\n\r\n", 501),
        RAW("no host", "GET / HTTP/1.1\r\n\r\n", 400),
        RAW("two hosts", "GET / HTTP/1.1\r\n" H "Host: b\r\n\r\n", 400),
        RAW("two tokens", "GET / HTTP/1.1\r\n" H "Authorization: a\r\nauthorization: b\r\n\r\n",
            400),
        RAW("two origins", "GET / HTTP/1.1\r\n" H "Origin: a\r\nOrigin: b\r\n\r\n", 400),
        RAW("an empty line first", "\r\nGET / HTTP/1.1\r\n" H "\r\n", 400),
        RAW("two blanks", "GET  / HTTP/1.1\r\n" H "\r\n", 400),
        RAW("a blank at the end", "GET / HTTP/1.1 \r\n" H "\r\n", 400),
        RAW("a tab between", "GET\t/ HTTP/1.1\r\n" H "\r\n", 400),
        RAW("HTTP/0.9", "GET /\r\n\r\n", 400),
        RAW("HTTP/2.0", "GET / HTTP/2.0\r\n" H "\r\n", 505),
        RAW("HTTP/1.2", "GET / HTTP/1.2\r\n" H "\r\n", 505),
        RAW("HTTP/1.01", "GET / HTTP/1.01\r\n" H "\r\n", 505),
        RAW("the preface of HTTP/2", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 505),
        RAW("a whole URL", "GET http://a/ HTTP/1.1\r\n" H "\r\n", 400),
        RAW("an authority", "CONNECT a:80 HTTP/1.1\r\n" H "\r\n", 400),
        RAW("an asterisk", "OPTIONS * HTTP/1.1\r\n" H "\r\n", 400),
        RAW("a fragment", "GET /#a HTTP/1.1\r\n" H "\r\n", 400),
        RAW("other bytes in the path", "GET /\xC3\xA4 HTTP/1.1\r\n" H "\r\n", 400),
        RAW("a backslash", "GET /a\\b HTTP/1.1\r\n" H "\r\n", 400),
        RAW("another expectation", "GET / HTTP/1.1\r\n" H "Expect: miracles\r\n\r\n", 417),
        RAW("WebSocket", "GET / HTTP/1.1\r\n" H "Upgrade: h2c, WebSocket\r\n\r\n", 400),
        RAW("TLS", "\026\003\001\002\000\001\000\001\374\003\003", 400),
    };
    for (size_t i = 0; i < HOB_ARRAY_LEN(cases); i++) {
        hob_head h;
        int status = status_of(cases[i].bytes, &h);
        if (status != cases[i].status)
            fail_msg("%s: %d, not %d", cases[i].what, status, cases[i].status);
    }
}

static void test_serve_wire__a_head_has_a_ceiling(void **state) {
    (void)state;
    hob_buf b;
    hob_head h;
    hob_buf_init(&b, 1 << 20);
    hob_buf_addz(&b, "GET / HTTP/1.1\r\nHost: a\r\nX: ");
    while (b.n < 64 * 1024) hob_buf_addc(&b, 'x');
    assert_int_equal(status_of(hob_buf_str(&b), &h), 431);
    hob_buf_reset(&b);
    hob_buf_addz(&b, "GET / HTTP/1.1\r\nHost: a\r\n");
    for (int i = 0; i < HOB_HEAD_FIELDS; i++) hob_buf_addz(&b, "X: y\r\n");
    hob_buf_addz(&b, "\r\n");
    assert_int_equal(status_of(hob_buf_str(&b), &h), 431);
    hob_buf_reset(&b);
    hob_buf_addz(&b, "GET /");
    while (b.n < HOB_TARGET_MAX + 5) hob_buf_addc(&b, 'x');
    hob_buf_addz(&b, " HTTP/1.1\r\nHost: a\r\n\r\n");
    assert_int_equal(status_of(hob_buf_str(&b), &h), 414);
    hob_buf_finish(&b);
}

/* Byte by byte nothing is looked at twice, and the answer is the same. */
static void test_serve_wire__a_head_may_come_in_pieces(void **state) {
    (void)state;
    hob_str all = HOB_STR("GET / HTTP/1.1\r\nHost: a\r\n\r\nrest");
    size_t scanned = 0;
    const hob_wire_error *why = NULL;
    for (size_t n = 1; n < all.n - 4; n++) {
        assert_int_equal(hob_head_end(hob_str_first(all, n), &scanned, &why), 0);
        assert_int_equal(scanned, n);
    }
    assert_int_equal(hob_head_end(hob_str_first(all, all.n - 4), &scanned, &why), all.n - 4);
    assert_int_equal(scanned, 0);
}

/* ---- chunks -------------------------------------------------------------------------------------------- */

static hob_chunk_state feed(hob_str bytes, size_t piece, hob_buf *body, size_t *left) {
    hob_chunked c = {.state = HOB_CHUNK_SIZE};
    hob_buf_reset(body);
    while (bytes.n && c.state != HOB_CHUNK_END && c.state != HOB_CHUNK_BROKEN) {
        hob_str part = hob_str_first(bytes, piece);
        size_t before = part.n;
        hob_chunked_feed(&c, &part, body);
        bytes = hob_str_skip(bytes, before - part.n);
    }
    *left = bytes.n;
    return c.state;
}

static void test_serve_wire__chunks_in_any_pieces(void **state) {
    (void)state;
    hob_buf body;
    size_t left;
    hob_str bytes = HOB_STR("5\r\nhello\r\n0A\r\n, world!!!\r\n0\r\n\r\nGET");
    hob_buf_init(&body, 1000);
    for (size_t piece = 1; piece <= bytes.n; piece++) {
        assert_int_equal(feed(bytes, piece, &body, &left), HOB_CHUNK_END);
        assert_str(hob_buf_str(&body), "hello, world!!!");
        assert_int_equal(left, 3);
    }
    hob_buf_finish(&body);
}

static void test_serve_wire__broken_chunks(void **state) {
    (void)state;
    static const char *const bad[] = {"\r\n",
                                      "5\nhello\r\n",
                                      "5;a=b\r\nhello\r\n",
                                      "5 \r\nhello\r\n",
                                      " 5\r\nhello",
                                      "0x5\r\nhello",
                                      "-1\r\n",
                                      "123456789\r\n",
                                      "5\r\nhello!\r\n",
                                      "5\r\nhello\n",
                                      "5\r\nhello\rx",
                                      "0\r\nTrailer: x\r\n\r\n",
                                      "0\r\n\n",
                                      "0\r\n\rx",
                                      "g\r\n",
                                      "5\r\nhello\r\n\r\n"};
    hob_buf body;
    size_t left;
    hob_buf_init(&body, 1000);
    for (size_t i = 0; i < HOB_ARRAY_LEN(bad); i++)
        if (feed(hob_str_z(bad[i]), 1000, &body, &left) != HOB_CHUNK_BROKEN) fail_msg("%s", bad[i]);
    hob_buf_finish(&body);
}

static void test_serve_wire__chunks_have_the_ceiling_of_the_body(void **state) {
    (void)state;
    hob_buf body;
    hob_chunked c = {.state = HOB_CHUNK_SIZE};
    hob_str bytes = HOB_STR("5\r\nhello\r\n5\r\nworld\r\n0\r\n\r\n");
    hob_buf_init(&body, 9);
    hob_chunked_feed(&c, &bytes, &body);
    assert_int_equal(body.err, HOB_ETOOBIG);
    hob_buf_finish(&body);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_serve_wire__a_head_is_read),
        cmocka_unit_test(test_serve_wire__connections_end_as_they_are_told),
        cmocka_unit_test(test_serve_wire__what_can_be_read_in_two_ways_is_refused),
        cmocka_unit_test(test_serve_wire__a_head_has_a_ceiling),
        cmocka_unit_test(test_serve_wire__a_head_may_come_in_pieces),
        cmocka_unit_test(test_serve_wire__chunks_in_any_pieces),
        cmocka_unit_test(test_serve_wire__broken_chunks),
        cmocka_unit_test(test_serve_wire__chunks_have_the_ceiling_of_the_body),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
