/* Streams of events: no gap and no double, whoever writes, whenever one comes or goes. */
#include "support/check.h"
#include "support/desk.h"

#include <hob/session.h>

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static const char script[] =
    "{'rules':[{'when':{'user':{'prefix':'long'}},'reply':[{'repeat':{'times':200,'reply':"
    "[{'text':'0123456789abcdef'}]}}]},"
    "{'when':{'user':{'prefix':'tool'},'step':{'max':4}},'reply':[{'tool':'read','args':{'path':'script.json'}}]},"
    "{'when':{'user':{'prefix':'paced'}},'reply':[{'text':'a b c d e f g h i j','chunk':2,"
    "'delay_ms':15}]},"
    "{'when':{'user':'hang'},'reply':[{'text':'so far'},{'wait':true}]}],"
    "'otherwise':[{'text':'hello there'}]}";

static int setup(void **state) {
    return desk_setup(state, script);
}

/* Reads until the stream ends or an event of that name comes; each number follows the one before. */
static uint64_t follow(tail *t, uint64_t after, const char *until) {
    while (tail_next(t)) {
        if (!tail_seq(t)) continue;
        if (tail_seq(t) != after + 1)
            fail_msg("event %llu after %llu", (unsigned long long)tail_seq(t),
                     (unsigned long long)after);
        after = tail_seq(t);
        if (until && !strcmp(tail_event(t), until)) return after;
    }
    if (until) fail_msg("the stream ended before %s", until);
    return after;
}

/* ---- coming before, in the middle of and after a run -------------------------------------------------------------- */

static void test_serve_events__attached_before_a_run(void **state) {
    desk *d = *state;
    desk_session(d, "one");
    tail *t = desk_tail(d, "one", 0, "");
    follow(t, 0, "session_opened");
    desk_prompt(d, "one", "tool please");
    follow(t, 1, "settled");
    tail_close(t);
}

static void test_serve_events__attached_in_the_middle_gets_the_text_so_far(void **state) {
    desk *d = *state;
    char text[64] = "";
    desk_session(d, "one");
    desk_prompt(d, "one", "hang");
    tail *first = desk_tail(d, "one", 0, "");
    assert_true(tail_until(first, "text_delta"));
    tail *t = desk_tail(d, "one", 0, "");
    follow(t, 0, "model_call_started");
    while (strcmp(text, "so far") != 0) {
        char piece[64] = "", path[32] = "data.text";
        assert_int_equal(tail_next(t), 1);
        if (!strcmp(tail_event(t), "message_open"))
            snprintf(path, sizeof path, "data.blocks.0.text");
        if (hob_json_field(tail_data(t), path, piece, sizeof piece) > 0) strcat(text, piece);
    }
    assert_int_equal(desk_post(d, "{}", "/api/sessions/one/cancel"), 204);
    follow(t, 4, "settled");
    tail_close(first);
    tail_close(t);
}

static void test_serve_events__attached_after_the_run(void **state) {
    desk *d = *state;
    desk_session(d, "one");
    desk_prompt(d, "one", "tool please");
    desk_settle(d, "one");
    tail *t = desk_tail(d, "one", 0, "&until=settled");
    uint64_t last = follow(t, 0, NULL);
    tail_close(t);
    t = desk_tail(d, "one", last, "&until=settled");
    assert_int_equal(tail_next(t), 0);
    tail_close(t);
}

/* What is no work does not begin any: who comes back after it need not wait for the end of a run. */
static void test_serve_events__nothing_to_wait_for_but_news(void **state) {
    desk *d = *state;
    desk_session(d, "one");
    tail *t = desk_tail(d, "one", 0, "&until=settled");
    assert_int_equal(follow(t, 0, NULL), 1);
    tail_close(t);
    desk_prompt(d, "one", "hi");
    desk_settle(d, "one");
    assert_status(d, desk_get(d, "/api/sessions/one"), 200);
    uint64_t last = strtoull(client_field(&d->c, "last_seq"), NULL, 10);
    assert_status(d, desk_call(d, "PATCH", "{\"delta\":{\"a\":1}}", "/api/sessions/one/state"),
                  200);
    t = desk_tail(d, "one", last, "&until=settled");
    assert_int_equal(follow(t, last, NULL), last + 1);
    tail_close(t);
}

/* How much of an answer streamed, the text so far of who came in the middle included. */
static size_t streamed(tail *t) {
    size_t n = 0;
    char text[65536], offset[24];
    while (tail_next(t) && strcmp(tail_event(t), "assistant_message") != 0) {
        bool delta = !strcmp(tail_event(t), "text_delta");
        const char *path = delta ? "data.text" : "data.blocks.0.text";
        int got = hob_json_field(tail_data(t), path, text, sizeof text);
        if (delta) {
            assert_true(hob_json_field(tail_data(t), "data.offset", offset, sizeof offset) > 0);
            assert_int_equal(atoi(offset), (int)n);
        }
        n += (size_t)HOB_MAX(got, 0);
    }
    return n;
}

static void test_serve_events__the_deltas_add_up_to_the_answer(void **state) {
    desk *d = *state;
    size_t n = 0;
    desk_session(d, "one");
    tail *t = desk_tail(d, "one", 0, "");
    for (int tries = 0; !n && tries < 10; tries++) { /* the answer may be over before it is read */
        desk_prompt(d, "one", "long please");
        n = streamed(t);
        assert_true(tail_until(t, "settled"));
    }
    assert_int_equal(n, 3200);
    tail_close(t);
}

/* ---- coming back ---------------------------------------------------------------------------------------------------- */

/* A connection for each event: the next one begins where the last ended, by query or by header. */
static void test_serve_events__reconnecting_at_every_event(void **state) {
    desk *d = *state;
    uint64_t at = 0;
    char header[64], last[32] = "";
    desk_session(d, "one");
    desk_prompt(d, "one", "tool please");
    while (strcmp(last, "settled") != 0) {
        snprintf(header, sizeof header, "Last-Event-ID: %llu\r\n", (unsigned long long)at);
        tail *t = at % 2 ? tail_open(d->port, DESK_TOKEN, "/api/sessions/one/events", header)
                         : desk_tail(d, "one", at, "");
        do assert_int_equal(tail_next(t), 1);
        while (!tail_seq(t));
        assert_int_equal(tail_seq(t), at + 1);
        at = tail_seq(t);
        snprintf(last, sizeof last, "%s", tail_event(t));
        tail_close(t);
    }
    assert_true(at > 10);
}

static void test_serve_events__the_header_counts_more_than_the_query(void **state) {
    desk *d = *state;
    desk_session(d, "one");
    desk_prompt(d, "one", "hi");
    desk_settle(d, "one");
    tail *t =
        tail_open(d->port, DESK_TOKEN, "/api/sessions/one/events?after=1", "Last-Event-ID: 5\r\n");
    assert_int_equal(tail_next(t), 1);
    assert_int_equal(tail_seq(t), 6);
    tail_close(t);
    t = tail_open(d->port, DESK_TOKEN, "/api/sessions/one/events", "Last-Event-ID: x\r\n");
    assert_int_equal(tail_status(t), 400);
    tail_close(t);
}

static void test_serve_events__a_restart_in_the_middle(void **state) {
    desk *d = *state;
    desk_session(d, "one");
    tail *t = desk_tail(d, "one", 0, "");
    desk_prompt(d, "one", "hang");
    uint64_t at = follow(t, 0, "model_call_started");
    desk_stop(d);
    at = follow(t, at, NULL); /* the stream ends with the server */
    tail_close(t);
    desk_start(d); /* and the run goes on: it was a server's */
    t = desk_tail(d, "one", at, "");
    at = follow(t, at, "model_call_started");
    assert_int_equal(desk_post(d, "{}", "/api/sessions/one/cancel"), 204);
    follow(t, at, "settled");
    tail_close(t);
}

/* ---- a session that goes and comes -------------------------------------------------------------------------------------- */

static void test_serve_events__a_stream_stays_when_the_session_is_closed_and_opened(void **state) {
    desk *d = *state;
    desk_session(d, "one");
    tail *t = desk_tail(d, "one", 0, "");
    uint64_t at = follow(t, 0, "session_opened");
    for (int i = 0; i < 5; i++) {
        desk_prompt(d, "one", "tool please");
        at = follow(t, at, "settled");
        assert_int_equal(desk_post(d, NULL, "/api/sessions/one/close"), 204);
        at = follow(t, at, "session_closed");
    }
    tail_close(t);
}

/* Somebody else, with the same store: another runtime, as another process would be. */
static void write_elsewhere(desk *d, const char *id, const char *text) {
    hob_runtime *rt;
    hob_session *s;
    hob_session_opts o = HOB_SESSION_OPTS_INIT;
    assert_ok(hob_runtime_create(&d->ro, &rt, &d->err), d->err);
    o.choice = HOB_SESSION_OPEN;
    o.id = id;
    assert_ok(hob_session_create(rt, &o, &s, &d->err), d->err);
    assert_ok(hob_session_prompt_and_wait(s, hob_str_z(text), -1, NULL, &d->err), d->err);
    hob_session_detach(s);
    hob_runtime_destroy(rt);
}

static void test_serve_events__what_another_program_writes_comes_too(void **state) {
    desk *d = *state;
    desk_session(d, "one");
    tail *t = desk_tail(d, "one", 0, "");
    uint64_t at = follow(t, 0, "session_opened");
    assert_int_equal(desk_post(d, NULL, "/api/sessions/one/close"), 204);
    at = follow(t, at, "session_closed");
    write_elsewhere(d, "one", "tool please");
    at = follow(t, at, "settled");
    desk_prompt(d, "one", "hi"); /* and then it is ours again */
    follow(t, at, "settled");
    tail_close(t);
}

static void test_serve_events__a_removed_session_ends_its_streams(void **state) {
    desk *d = *state;
    desk_session(d, "one");
    tail *t = desk_tail(d, "one", 0, "");
    follow(t, 0, "session_opened");
    assert_int_equal(desk_call(d, "DELETE", NULL, "/api/sessions/one"), 204);
    assert_int_equal(tail_next(t), 1);
    assert_string_equal(tail_event(t), "error");
    assert_int_equal(tail_next(t), 0);
    tail_close(t);
}

/* ---- many, and slow ones --------------------------------------------------------------------------------------------------- */

enum { READERS = 50 };

static void test_serve_events__fifty_readers_see_the_same(void **state) {
    desk *d = *state;
    tail *t[READERS];
    desk_session(d, "one");
    for (int i = 0; i < READERS / 2; i++) t[i] = desk_tail(d, "one", 0, "");
    desk_prompt(d, "one", "tool please, paced");
    for (int i = READERS / 2; i < READERS; i++) t[i] = desk_tail(d, "one", 0, "");
    uint64_t last = follow(t[0], 0, "settled");
    for (int i = 1; i < READERS; i++) assert_int_equal(follow(t[i], 0, "settled"), last);
    for (int i = 0; i < READERS; i++) tail_close(t[i]);
}

/* Nothing is taken from the socket until the run is over: others are not held up, and in the end nothing is missing. */
static void test_serve_events__a_reader_that_does_not_read_holds_up_nobody(void **state) {
    desk *d = *state;
    int small = 4096;
    desk_session(d, "one");
    tail *slow = desk_tail(d, "one", 0, "");
    setsockopt(tail_fd(slow), SOL_SOCKET, SO_RCVBUF, &small, sizeof small);
    for (int i = 0; i < 20; i++) {
        desk_prompt(d, "one", "long please");
        tail *fast = desk_tail(d, "one", 0, "&until=settled");
        follow(fast, 0, NULL);
        tail_close(fast);
    }
    uint64_t last = 0;
    for (int i = 0; i < 20; i++) last = follow(slow, last, "settled");
    tail_close(slow);
}

/* A model's answers, one after the other, while readers come and go all the time. */
typedef struct visitor {
    desk *d;
    atomic_bool *stop;
    unsigned seed;
    int visits;
    bool bad;
} visitor;

static void *visit(void *user) {
    visitor *v = user;
    uint64_t at = 0;
    char path[100];
    while (!*v->stop) {
        snprintf(path, sizeof path, "/api/sessions/one/events?after=%llu", (unsigned long long)at);
        tail *t = tail_open(v->d->port, DESK_TOKEN, path, NULL);
        int n = (int)(rand_r(&v->seed) % 12);
        for (int i = 0; i < n && tail_next_within(t, 50); i++) {
            if (tail_seq(t) && tail_seq(t) != at + 1) v->bad = true;
            if (tail_seq(t)) at = tail_seq(t);
        }
        tail_close(t);
        v->visits++;
    }
    return NULL;
}

static void test_serve_events__readers_that_come_and_go_while_the_session_does(void **state) {
    desk *d = *state;
    static visitor v[4]; /* static: a failure leaves the visitors behind */
    static atomic_bool stop;
    pthread_t threads[4];
    desk_session(d, "one");
    for (unsigned i = 0; i < 4; i++) {
        v[i] = (visitor){.d = d, .stop = &stop, .seed = i + 1};
        pthread_create(&threads[i], NULL, visit, &v[i]);
    }
    for (int i = 0; i < 12; i++) {
        desk_prompt(d, "one", i % 2 ? "tool please" : "hi");
        desk_settle(d, "one");
        if (i % 3 == 0) assert_int_equal(desk_post(d, NULL, "/api/sessions/one/close"), 204);
    }
    stop = true;
    for (int i = 0; i < 4; i++) {
        pthread_join(threads[i], NULL);
        assert_false(v[i].bad);
        assert_true(v[i].visits > 0);
    }
}

/* ---- the list --------------------------------------------------------------------------------------------------------------- */

static bool row_is(tail *t, const char *id, const char *state) {
    char got[200], is[32];
    hob_json_field(tail_data(t), "id", got, sizeof got);
    hob_json_field(tail_data(t), "state", is, sizeof is);
    return !strcmp(got, id) && (!state || !strcmp(is, state));
}

static void await_row(tail *t, const char *event, const char *id, const char *state) {
    while (tail_next(t))
        if (!strcmp(tail_event(t), event) && row_is(t, id, state)) return;
    fail_msg("no %s of %s came", event, id);
}

static void test_serve_events__the_list_of_sessions_is_live(void **state) {
    desk *d = *state;
    desk_session(d, "one");
    tail *t = tail_open(d->port, DESK_TOKEN, "/api/sessions", NULL);
    await_row(t, "session", "one", "idle");
    desk_session(d, "two");
    await_row(t, "session", "two", "idle");
    desk_prompt(d, "two", "hang");
    await_row(t, "session", "two", "running");
    assert_int_equal(desk_post(d, "{}", "/api/sessions/two/cancel"), 204);
    await_row(t, "session", "two", "idle");
    assert_int_equal(desk_call(d, "DELETE", NULL, "/api/sessions/one"), 204);
    await_row(t, "removed", "one", NULL);
    tail_close(t);
}

static void test_serve_events__the_list_begins_with_as_many_rows_as_asked(void **state) {
    static const char *const ids[] = {"a1", "a2", "a3", "a4"};
    desk *d = *state;
    char id[200];
    tail *t = tail_open(d->port, DESK_TOKEN, "/api/sessions", NULL);
    for (size_t i = 0; i < HOB_ARRAY_LEN(ids); i++) {
        desk_session(d, ids[i]);
        await_row(t, "session", ids[i], "idle"); /* so that it is no news any more */
    }
    tail *few = tail_open(d->port, DESK_TOKEN, "/api/sessions?limit=2", NULL);
    for (size_t i = 2; i < HOB_ARRAY_LEN(ids); i++) {
        assert_true(tail_next(few));
        hob_json_field(tail_data(few), "id", id, sizeof id);
        assert_string_equal(id, ids[i]);
    }
    tail_close(few);
    tail_close(t); /* not before: without anybody who looks, what was told is forgotten */
    t = tail_open(d->port, DESK_TOKEN, "/api/sessions?limit=0", NULL);
    assert_int_equal(tail_status(t), 400);
    tail_close(t);
}

#define T(name) cmocka_unit_test_setup_teardown(test_serve_events__##name, setup, desk_teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        T(attached_before_a_run),
        T(attached_in_the_middle_gets_the_text_so_far),
        T(attached_after_the_run),
        T(nothing_to_wait_for_but_news),
        T(the_deltas_add_up_to_the_answer),
        T(reconnecting_at_every_event),
        T(the_header_counts_more_than_the_query),
        T(a_restart_in_the_middle),
        T(a_stream_stays_when_the_session_is_closed_and_opened),
        T(what_another_program_writes_comes_too),
        T(a_removed_session_ends_its_streams),
        T(fifty_readers_see_the_same),
        T(a_reader_that_does_not_read_holds_up_nobody),
        T(readers_that_come_and_go_while_the_session_does),
        T(the_list_of_sessions_is_live),
        T(the_list_begins_with_as_many_rows_as_asked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
