/*
 * What is kept for a caller has a limit: answers that it does not read, bodies that it does not end, streams that it does not
 * take. Over it that caller waits, and nobody else.
 */
#include "support/check.h"
#include "support/desk.h"

#include <arpa/inet.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define GREEDY "0000000000000000000000000greedy"
#define OTHER "00000000000000000000000000other"

enum { KEYS = 20, KEY_BYTES = 1000 * 1000 };

static const char tokens[] =
    "{'tokens':[{'name':'greedy','token':'" GREEDY "','tenant':'a','principal':'p',"
    "'limits':{'buffer_mib':24}},"
    "{'name':'other','token':'" OTHER "','tenant':'a','principal':'p'}]}";

/* A session with a state of 20 MB: more than two sockets take by themselves. */
static void fill(desk *d) {
    char *body = hob_alloc(KEY_BYTES + 100);
    desk_session(d, "one");
    for (int i = 0; i < KEYS; i++) {
        int n = snprintf(body, 100, "{'delta':{'k%d':'", i);
        memset(body + n, 'x', KEY_BYTES);
        memcpy(body + n + KEY_BYTES, "'}}", 4);
        assert_int_equal(desk_call(d, "PATCH", body, "/api/sessions/one/state"), 200);
    }
    hob_free(body);
}

static int setup(void **state) {
    desk *d = hob_alloc(sizeof *d);
    desk_init(d, "{'otherwise':[{'text':'hello'}]}");
    desk_tokens(d, tokens);
    desk_start(d);
    d->c.token = OTHER;
    fill(d);
    d->c.token = GREEDY;
    *state = d;
    return 0;
}

static int teardown(void **state) {
    desk *d = *state;
    desk_finish(d);
    hob_free(d);
    return 0;
}

/* ---- a client that does not do its part ----------------------------------------------------------------------------- */

static int ask(desk *d, const char *head) {
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons((uint16_t)d->port)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), small = 4096;
    char text[600];
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &small, sizeof small);
    assert_int_equal(connect(fd, (struct sockaddr *)&at, sizeof at), 0);
    int n = snprintf(text, sizeof text,
                     "%s HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nAuthorization: Bearer " GREEDY "\r\n",
                     head, d->port);
    assert_int_equal(send(fd, text, (size_t)n, MSG_NOSIGNAL), n);
    return fd;
}

static int get(desk *d, const char *path) {
    char head[200];
    snprintf(head, sizeof head, "GET %s", path);
    int fd = ask(d, head);
    assert_int_equal(send(fd, "\r\n", 2, MSG_NOSIGNAL), 2);
    return fd;
}

static int status_of(int fd) {
    char text[32] = "";
    struct pollfd p = {.fd = fd, .events = POLLIN};
    assert_int_equal(poll(&p, 1, 30000), 1);
    assert_true(recv(fd, text, 16, MSG_PEEK) >= 12);
    return (text[9] - '0') * 100 + (text[10] - '0') * 10 + text[11] - '0';
}

static double held(desk *d) {
    double n = -1;
    assert_int_equal(desk_get(d, "/api/server"), 200);
    assert_int_equal(sscanf(client_field(&d->c, "limits.buffer_mib.used"), "%lf", &n), 1);
    return n;
}

static void await_held(desk *d, double least, double most) {
    double n = -1;
    for (int i = 0; i < 2000; i++) {
        n = held(d);
        if (n >= least && n <= most) return;
        usleep(5000);
    }
    fail_msg("%f MiB are kept, not %f to %f", n, least, most);
}

static void expect_others_served(desk *d) {
    d->c.token = OTHER;
    assert_int_equal(desk_get(d, "/api/sessions/one/state"), 200);
    d->c.token = GREEDY;
}

/* ---- cases ------------------------------------------------------------------------------------------------------------ */

static void test_serve_buffer__unread_answers_are_bounded(void **state) {
    desk *d = *state;
    int first = get(d, "/api/sessions/one/state");
    assert_int_equal(status_of(first), 200);
    await_held(d, 19, 20);
    int second = get(d, "/api/sessions/one/state");
    assert_int_equal(status_of(second), 429);
    expect_others_served(d);
    close(second);
    await_held(d, 19, 20);
    close(first); /* and when it was read or given up, there is room again */
    await_held(d, 0, 0);
    assert_int_equal(desk_get(d, "/api/sessions/one/state"), 200);
    await_held(d, 0, 0);
}

static int upload(desk *d, size_t bytes) {
    static char piece[65536];
    int fd = ask(d, "POST /api/sessions/one/prompt");
    static const char rest[] = "Content-Type: application/json\r\nContent-Length: 30000000\r\n\r\n";
    assert_int_equal(send(fd, rest, sizeof rest - 1, MSG_NOSIGNAL), sizeof rest - 1);
    memset(piece, ' ', sizeof piece);
    for (size_t i = 0; i < bytes / sizeof piece; i++)
        if (send(fd, piece, sizeof piece, MSG_NOSIGNAL) < 0) break; /* refused */
    return fd;
}

static void test_serve_buffer__bodies_without_an_end_are_bounded(void **state) {
    desk *d = *state;
    int first = upload(d, 20 << 20);
    await_held(d, 19, 20);
    int second = upload(d, 20 << 20);
    assert_int_equal(status_of(second), 429);
    await_held(d, 19, 20);
    expect_others_served(d);
    close(first);
    close(second);
    await_held(d, 0, 0);
}

/* Each stuck stream keeps what it took last; one too many ends, and could come back. */
static void test_serve_buffer__stuck_streams_are_bounded(void **state) {
    desk *d = *state;
    int fds[40];
    size_t n = HOB_ARRAY_LEN(fds);
    double most = 0;
    for (size_t i = 0; i < n; i++) {
        char head[100];
        snprintf(head, sizeof head, "GET /api/sessions/one/events?after=%zu", i % KEYS);
        fds[i] = ask(d, head);
        assert_int_equal(send(fds[i], "Accept: text/event-stream\r\n\r\n", 29, MSG_NOSIGNAL), 29);
        assert_int_equal(status_of(fds[i]), 200);
        double now = held(d);
        if (now > most) most = now;
    }
    await_held(d, 1, 24);
    assert_true(most <= 24);
    expect_others_served(d);
    for (size_t i = 0; i < n; i++) close(fds[i]);
    await_held(d, 0, 0);
}

#define T(name) cmocka_unit_test_setup_teardown(test_serve_buffer__##name, setup, teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        T(unread_answers_are_bounded),
        T(bodies_without_an_end_are_bounded),
        T(stuck_streams_are_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
