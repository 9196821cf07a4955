/*
 * Streams: pulled, woken, kept alive, bounded, and ended properly (REL-17).
 */
#include "support/check.h"
#include "support/folder.h"
#include "support/webd.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

static int setup(void **state) {
    *state = webd_start(NULL);
    return 0;
}

static int teardown(void **state) {
    webd_free(*state);
    return 0;
}

/* A connection on which that stream is open; `in` has what came so far. */
static int open_stream(webd *d, const char *path, const char *version, hob_buf *in) {
    char text[512];
    int fd = webd_connect(d);
    unsigned before = webd_streams_open();
    int n = snprintf(text, sizeof text, "GET %s HTTP/%s\r\n%s" WEBD_AUTH "\r\n", path, version,
                     d->host);
    webd_send(fd, hob_str_n(text, (size_t)n));
    memset(in, 0, sizeof *in);
    assert_true(webd_read_until(fd, in, "\r\n\r\n"));
    webd_wait(webd_streams_open() == before + 1);
    return fd;
}

static bool has(const hob_buf *in, const char *text) {
    return hob_str_find(hob_buf_str(in), hob_str_z(text)) >= 0;
}

static void test_serve_stream__pieces_come_as_they_are_made(void **state) {
    hob_buf in;
    int fd = open_stream(*state, "/stream", "1.1", &in);
    assert_true(has(&in, "\r\nTransfer-Encoding: chunked\r\n") &&
                has(&in, "\r\nX-Accel-Buffering: no\r\n"));
    assert_true(has(&in, "\r\nContent-Type: text/event-stream\r\n") &&
                has(&in, "\r\nCache-Control: no-store\r\n"));
    webd_push("data: one\n\n");
    assert_true(webd_read_until(fd, &in, "\r\n\r\nb\r\ndata: one\n\n\r\n"));
    webd_push("data: two\n\n");
    assert_true(webd_read_until(fd, &in, "data: two\n\n\r\n"));
    webd_end_streams();
    assert_true(webd_read_until(fd, &in, "data: two\n\n\r\n0\r\n\r\n"));
    webd_wait(webd_streams_open() == 0);
    webd_answer a; /* and the connection goes on */
    char text[200];
    int n = snprintf(text, sizeof text, "GET /ping HTTP/1.1\r\n%s\r\n", ((webd *)*state)->host);
    webd_send(fd, hob_str_n(text, (size_t)n));
    webd_receive(fd, &a);
    assert_int_equal(a.status, 200);
    webd_answer_finish(&a);
    close(fd);
    hob_buf_finish(&in);
}

static void test_serve_stream__old_clients_read_until_the_end(void **state) {
    hob_buf in;
    int fd = open_stream(*state, "/stream", "1.0", &in);
    assert_false(has(&in, "chunked"));
    webd_push("data: one\n\n");
    webd_end_streams();
    assert_true(webd_read_until(fd, &in, "\r\n\r\ndata: one\n\n"));
    assert_true(webd_closed(fd));
    close(fd);
    hob_buf_finish(&in);
}

static void test_serve_stream__silence_is_broken_by_a_comment(void **state) {
    hob_buf in;
    int fd = open_stream(*state, "/stream", "1.1", &in);
    for (int i = 0; i < 3; i++) {
        hob_buf_reset(&in);
        int seconds = webd_advance_until(*state, fd, 20);
        assert_in_range(seconds, 10, 20);
        assert_true(webd_read_until(fd, &in, "e\r\n: keep-alive\n\n\r\n"));
    }
    close(fd);
    webd_wait(webd_streams_open() == 0);
    hob_buf_finish(&in);
}

/* A client that goes away is noticed at once, in silence too. */
static void test_serve_stream__a_client_that_leaves_frees_its_place(void **state) {
    hob_buf in, in2;
    int fd = open_stream(*state, "/stream", "1.1", &in),
        reset = open_stream(*state, "/stream", "1.1", &in2);
    close(fd);
    webd_wait(webd_streams_open() == 1);
    struct linger now = {.l_onoff = 1};
    setsockopt(reset, SOL_SOCKET, SO_LINGER, &now, sizeof now);
    close(reset);
    webd_wait(webd_streams_open() == 0);
    hob_buf_finish(&in);
    hob_buf_finish(&in2);
}

/* A client that does not read costs what the sockets hold, others are served, and after a minute it is let go. */
static void test_serve_stream__a_stuck_client_is_bounded(void **state) {
    hob_buf in, other;
    int stuck = open_stream(*state, "/flood", "1.1", &in),
        fd = open_stream(*state, "/stream", "1.1", &other);
    uint64_t given;
    do {
        given = webd_flooded();
        webd_push("data: still here\n\n");
        hob_buf_reset(&other);
        assert_true(webd_read_until(fd, &other, "still here"));
        for (int i = 0; i < 20; i++) webd_nap();
    } while (webd_flooded() != given);
    assert_true(given < 64u << 20);
    webd_advance(*state, 61000);
    webd_wait(webd_streams_open() == 1);
    assert_int_equal(webd_flooded(), given);
    close(stuck);
    close(fd);
    hob_buf_finish(&in);
    hob_buf_finish(&other);
}

/* Until the socket is full and nothing more is given. */
static uint64_t wait_until_full(void) {
    uint64_t given;
    do {
        given = webd_flooded();
        for (int i = 0; i < 10; i++) webd_nap();
    } while (webd_flooded() != given);
    return given;
}

/* Takes what there is until more is given for it. */
static bool read_until_more(int fd, uint64_t given) {
    static char piece[64 * 1024];
    for (int idle = 0; idle < 5000 && webd_flooded() == given; idle++) {
        if (recv(fd, piece, sizeof piece, MSG_DONTWAIT) > 0)
            idle = 0;
        else
            webd_nap();
    }
    return webd_flooded() != given;
}

/* Wherever in a turn of its stream the socket was full: who reads again gets more. */
static void test_serve_stream__a_client_that_stalls_goes_on(void **state) {
    hob_buf in;
    int fd = open_stream(*state, "/flood", "1.1", &in);
    for (int i = 0; i < 60; i++) assert_true(read_until_more(fd, wait_until_full()));
    close(fd);
    webd_wait(webd_streams_open() == 0);
    hob_buf_finish(&in);
}

/* Streams that take the server's thread long do not take it all at once. */
static void test_serve_stream__others_come_in_between(void **state) {
    enum { STREAMS = 12, PIECES = 8 }; /* in one turn of each */
    static int fds[STREAMS];
    hob_buf in;
    webd_answer a;
    for (int i = 0; i < STREAMS; i++) {
        fds[i] = open_stream(*state, "/slow", "1.1", &in);
        hob_buf_finish(&in);
    }
    uint64_t before = webd_flooded();
    webd_call(*state, "GET /ping", NULL, NULL, &a);
    assert_int_equal(a.status, 200);
    webd_answer_finish(&a);
    assert_true(webd_flooded() - before < (uint64_t)STREAMS * PIECES);
    for (int i = 0; i < STREAMS; i++) close(fds[i]);
    webd_wait(webd_streams_open() == 0);
}

/* … and one that reads slowly gets everything. */
static void test_serve_stream__a_slow_client_loses_nothing(void **state) {
    hob_buf in, want;
    char text[64];
    int fd = open_stream(*state, "/stream", "1.1", &in);
    hob_buf_init(&want, 16 << 20);
    for (int i = 0; i < 100000; i++) {
        snprintf(text, sizeof text, "data: this is event number %06d\n\n", i);
        hob_buf_addz(&want, text);
    }
    webd_push(hob_buf_z(&want));
    webd_end_streams();
    assert_true(webd_read_until(fd, &in, "\r\n0\r\n\r\n"));
    hob_str all = hob_buf_str(&in);
    all = hob_str_skip(all, (size_t)hob_str_find(all, HOB_STR("\r\n\r\n")) + 4);
    hob_buf got;
    hob_buf_init(&got, 16 << 20);
    for (;;) { /* chunks */
        char *end;
        size_t size = strtoul(all.p, &end, 16);
        if (!size) break;
        all = hob_str_skip(all, (size_t)(end - all.p) + 2);
        hob_buf_add(&got, hob_str_first(all, size));
        all = hob_str_skip(all, size + 2);
    }
    assert_int_equal(got.n, want.n);
    assert_memory_equal(got.p, want.p, want.n);
    close(fd);
    hob_buf_finish(&in);
    hob_buf_finish(&got);
    hob_buf_finish(&want);
}

static void *push_many(void *arg) {
    (void)arg;
    for (int i = 0; i < 2000; i++) webd_push("data: x\n\n");
    return NULL;
}

/* Wakes from several threads, while streams come and go. */
static void test_serve_stream__wakes_from_any_thread(void **state) {
    pthread_t threads[3];
    hob_buf in[8];
    int fds[8];
    for (size_t i = 0; i < 8; i++) fds[i] = open_stream(*state, "/stream", "1.1", &in[i]);
    for (size_t i = 0; i < 3; i++) pthread_create(&threads[i], NULL, push_many, NULL);
    for (size_t i = 0; i < 4; i++) close(fds[i]);
    for (size_t i = 0; i < 3; i++) pthread_join(threads[i], NULL);
    webd_end_streams();
    for (size_t i = 4; i < 8; i++) {
        size_t count = 0;
        assert_true(webd_read_until(fds[i], &in[i], "\r\n0\r\n\r\n"));
        for (hob_str rest = hob_buf_str(&in[i]);;) {
            ptrdiff_t at = hob_str_find(rest, HOB_STR("data: x\n\n"));
            if (at < 0) break;
            count++;
            rest = hob_str_skip(rest, (size_t)at + 9);
        }
        assert_int_equal(count, 6000);
        close(fds[i]);
    }
    webd_wait(webd_streams_open() == 0);
    for (size_t i = 0; i < 8; i++) hob_buf_finish(&in[i]);
}

static void test_serve_stream__a_server_that_stops_says_goodbye(void **state) {
    webd *d = *state;
    hob_buf in;
    int fd = open_stream(d, "/stream", "1.1", &in);
    webd_push("data: last\n\n");
    assert_true(webd_read_until(fd, &in, "data: last\n\n\r\n"));
    hob_server_stop(d->server, 10000);
    assert_true(webd_read_until(fd, &in, "data: last\n\n\r\n0\r\n\r\n"));
    assert_true(webd_closed(fd));
    assert_int_equal(webd_streams_open(), 0);
    assert_int_equal(webd_connect(d), -1);
    close(fd);
    hob_buf_finish(&in);
}

static void test_serve_stream__a_caller_has_so_many(void **state) {
    (void)state;
    hob_test_folder f;
    hob_server_opts o = HOB_SERVER_OPTS_INIT;
    webd_answer a;
    hob_buf in;
    hob_test_folder_make(&f);
    hob_test_file(&f, "t",
                  HOB_STR("{\"tokens\":[{\"name\":\"a\",\"token\":\"" WEBD_TOKEN
                          "\",\"limits\":{\"streams\":1}}]}"));
    chmod(hob_test_path(&f, "t"), 0600);
    o.token_file = hob_test_path(&f, "t");
    webd *d = webd_start(&o);
    int fd = open_stream(d, "/stream", "1.1", &in);
    webd_call(d, "GET /stream", WEBD_AUTH, NULL, &a);
    assert_int_equal(a.status, 429);
    webd_answer_finish(&a);
    close(fd);
    webd_wait(webd_streams_open() == 0);
    hob_buf_finish(&in);
    fd = open_stream(d, "/stream", "1.1", &in);
    close(fd);
    webd_wait(webd_streams_open() == 0);
    webd_free(d);
    hob_buf_finish(&in);
    hob_test_folder_remove(&f);
}

/* ---- tokens that are taken back --------------------------------------------------------------------------- */

#define TOKEN_OF(name) name "-and-sixteen-characters"
#define ROW(name, more) "{\"name\":\"" name "\",\"token\":\"" TOKEN_OF(name) "\"" more "}"

static void write_tokens(hob_test_folder *f, const char *rows) {
    char text[1024];
    int n = snprintf(text, sizeof text, "{\"tokens\":[%s]}", rows);
    hob_test_file(f, "t", hob_str_n(text, (size_t)n));
    chmod(hob_test_path(f, "t"), 0600);
}

static void reload(webd *d, hob_test_folder *f, const char *rows) {
    hob_error err;
    write_tokens(f, rows);
    assert_ok(hob_server_reload(d->server, &err), err);
}

static int open_as(webd *d, const char *token, hob_buf *in) {
    char text[512];
    int fd = webd_connect(d);
    unsigned before = webd_streams_open();
    int n = snprintf(text, sizeof text,
                     "GET /stream HTTP/1.1\r\n%sAuthorization: Bearer %s\r\n\r\n", d->host, token);
    webd_send(fd, hob_str_n(text, (size_t)n));
    memset(in, 0, sizeof *in);
    assert_true(webd_read_until(fd, in, "\r\n\r\n"));
    webd_wait(webd_streams_open() == before + 1);
    return fd;
}

/* Gone, with other rights, and as before: also when it was read several times since the stream began. */
static void test_serve_stream__ends_when_its_token_is_taken_back(void **state) {
    (void)state;
    hob_test_folder f;
    hob_server_opts o = HOB_SERVER_OPTS_INIT;
    hob_buf gone, changed, same;
    webd_answer a;
    hob_test_folder_make(&f);
    write_tokens(&f, ROW("gone", "") "," ROW("changed", "") "," ROW("same", ""));
    o.token_file = hob_test_path(&f, "t");
    webd *d = webd_start(&o);
    int fds[] = {open_as(d, TOKEN_OF("gone"), &gone), open_as(d, TOKEN_OF("changed"), &changed),
                 open_as(d, TOKEN_OF("same"), &same)};
    reload(d, &f, ROW("same", "") "," ROW("changed", "") "," ROW("gone", ""));
    webd_push("data: all\n\n");
    assert_true(webd_read_until(fds[0], &gone, "data: all\n\n\r\n"));
    assert_true(webd_read_until(fds[1], &changed, "data: all\n\n\r\n"));
    reload(d, &f, ROW("same", "") "," ROW("changed", ",\"rights\":[\"run\"]"));
    webd_wait(webd_streams_open() == 1);
    webd_push("data: one\n\n");
    assert_true(webd_read_until(fds[0], &gone, "data: all\n\n\r\n0\r\n\r\n"));
    assert_true(webd_read_until(fds[1], &changed, "data: all\n\n\r\n0\r\n\r\n"));
    assert_true(webd_read_until(fds[2], &same, "data: one\n\n\r\n"));
    webd_call(d, "GET /stream", "Authorization: Bearer " TOKEN_OF("gone") "\r\n", NULL, &a);
    assert_int_equal(a.status, 401);
    webd_answer_finish(&a);
    for (size_t i = 0; i < 3; i++) close(fds[i]);
    webd_wait(webd_streams_open() == 0);
    webd_free(d);
    hob_buf_finish(&gone);
    hob_buf_finish(&changed);
    hob_buf_finish(&same);
    hob_test_folder_remove(&f);
}

int main(void) {
#define T(name) cmocka_unit_test_setup_teardown(test_serve_stream__##name, setup, teardown)
    const struct CMUnitTest tests[] = {
        T(pieces_come_as_they_are_made),
        T(old_clients_read_until_the_end),
        T(silence_is_broken_by_a_comment),
        T(a_client_that_leaves_frees_its_place),
        T(a_stuck_client_is_bounded),
        T(a_client_that_stalls_goes_on),
        T(others_come_in_between),
        T(a_slow_client_loses_nothing),
        T(wakes_from_any_thread),
        T(a_server_that_stops_says_goodbye),
        cmocka_unit_test(test_serve_stream__a_caller_has_so_many),
        cmocka_unit_test(test_serve_stream__ends_when_its_token_is_taken_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
