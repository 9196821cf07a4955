/* The two ways of living in a host program, and what callbacks may do. */
#include "support/check.h"
#include "support/host.h"

#include <poll.h>
#include <stdlib.h>
#include <unistd.h>

static const char hello[] = "{'otherwise':[{'text':'hello there','chunk':3}]}";

static void test_session_embed__host_loop_by_fd_timeout_process(void **state) {
    host r;
    hob_event *e;
    int rc, text = 0, seen = 0;
    (void)state;
    host_init(&r, hello);
    r.ro.loop = HOB_LOOP_HOST;
    host_open(&r);
    assert_ok(hob_session_prompt(r.s, hob_str_z("hi"), &r.err), r.err);
    for (int i = 0; i < 100000 && !seen; i++) {
        struct pollfd p = {.fd = hob_runtime_fd(r.rt), .events = POLLIN};
        poll(&p, 1, hob_runtime_timeout(r.rt));
        hob_runtime_process(r.rt);
        while ((rc = hob_session_next_event(r.s, 0, &e)) == 1) {
            text += hob_event_type_of(e) == HOB_EVENT_TEXT_DELTA;
            seen += hob_event_type_of(e) == HOB_EVENT_SETTLED;
            hob_event_unref(e);
        }
    }
    assert_int_equal(seen, 1);
    assert_true(text >= 1);
    host_finish(&r);
}

static void test_session_embed__the_fd_tells_when_to_read(void **state) {
    host r;
    hob_event *e;
    int rc = 1, seen = 0;
    (void)state;
    host_init(&r, hello);
    host_open(&r);
    int fd = hob_session_fd(r.s);
    assert_ok(hob_session_prompt(r.s, hob_str_z("hi"), &r.err), r.err);
    while (!seen) {
        struct pollfd p = {.fd = fd, .events = POLLIN};
        assert_int_equal(poll(&p, 1, 30000), 1);
        while ((rc = hob_session_next_event(r.s, 0, &e)) == 1) {
            seen += hob_event_type_of(e) == HOB_EVENT_SETTLED;
            hob_event_unref(e);
        }
    }
    assert_int_equal(rc, 0);
    host_finish(&r);
}

typedef struct counter {
    int durable, deltas, refused;
    uint64_t last;
} counter;

static void count(hob_session *s, hob_event *e, void *user) {
    counter *c = user;
    hob_error err;
    if (hob_event_seq(e)) {
        assert_int_equal(hob_event_seq(e), c->last + 1); /* no gap, no double */
        c->last = hob_event_seq(e);
        c->durable++;
    } else {
        c->deltas++;
    }
    c->refused += hob_session_steer(s, hob_str_z("x"), &err) == HOB_EDEADLK;
}

static void test_session_embed__callbacks_may_not_block(void **state) {
    host r;
    counter c = {.durable = 0};
    (void)state;
    host_init(&r, hello);
    host_open(&r);
    assert_ok(hob_session_on_event(r.s, count, &c), r.err);
    assert_string_equal(host_prompt(&r, "hi"), "completed");
    assert_ok(hob_session_on_event(r.s, NULL, NULL), r.err);
    assert_int_equal(c.durable, 7);
    assert_true(c.deltas >= 2);
    assert_int_equal(c.refused, c.durable + c.deltas);
    host_finish(&r);
}

/* The text that streams is the text of the message, whoever reads how slowly. */
static void test_session_embed__deltas_add_up_to_the_message(void **state) {
    host r;
    hob_event *e;
    char text[4096] = "", piece[4096], num[32];
    int rc;
    (void)state;
    host_init(
        &r, "{'otherwise':[{'repeat':{'times':200,'reply':[{'text':'w\xc3\xb6rd ','chunk':2}]}}]}");
    host_open(&r);
    assert_ok(hob_session_prompt(r.s, hob_str_z("hi"), &r.err), r.err);
    while ((rc = hob_session_next_event(r.s, 30000, &e)) == 1) {
        if (hob_event_type_of(e) == HOB_EVENT_TEXT_DELTA) {
            hob_event_field(e, "offset", num, sizeof num);
            assert_int_equal(atoi(num), strlen(text));
            hob_event_field(e, "text", piece, sizeof piece);
            strncat(text, piece, sizeof text - strlen(text) - 1);
        }
        hob_event_unref(e);
    }
    assert_int_equal(rc, 0);
    host_wait(&r);
    assert_string_equal(text, host_text(&r));
    assert_int_equal(strlen(text), 1200);
    host_finish(&r);
}

/* A reader far behind gets every durable event from the store. */
static void test_session_embed__a_late_reader_misses_nothing(void **state) {
    host r;
    hob_event *e;
    uint64_t last = 0;
    (void)state;
    host_init(&r, hello);
    r.ro.store = "sqlite";
    host_open(&r);
    for (int i = 0; i < 300; i++) assert_string_equal(host_prompt(&r, "hi"), "completed");
    hob_session_seek(r.s, 0);
    while (hob_session_next_event(r.s, 30000, &e) == 1) {
        if (hob_event_seq(e)) {
            assert_int_equal(hob_event_seq(e), last + 1);
            last = hob_event_seq(e);
        }
        hob_event_unref(e);
    }
    assert_int_equal(last, 1 + 300 * 6);
    host_finish(&r);
}

static void *wake(void *rt) {
    hob_runtime_wake(rt);
    return NULL;
}

/* A wait can be interrupted, in either mode, also when the interruption comes first. */
static void test_session_embed__a_wait_can_be_woken(void **state) {
    host r;
    hob_event *e;
    pthread_t thread;
    (void)state;
    for (int mode = 0; mode < 2; mode++) {
        host_init(&r, "{'otherwise':[{'wait':true}]}");
        r.ro.loop = mode ? HOB_LOOP_HOST : HOB_LOOP_OWN_THREAD;
        host_open(&r);
        assert_ok(hob_session_prompt(r.s, hob_str_z("hi"), &r.err), r.err);
        hob_event_unref(host_until(&r, HOB_EVENT_MESSAGE_OPEN, NULL, NULL));
        hob_runtime_wake(r.rt);
        assert_int_equal(hob_session_wait(r.s, -1, NULL, &r.err), HOB_EAGAIN);
        pthread_create(&thread, NULL, wake, r.rt);
        assert_int_equal(hob_session_next_event(r.s, -1, &e), HOB_EAGAIN);
        pthread_join(thread, NULL);
        assert_int_equal(hob_session_wait(r.s, 0, NULL, &r.err), HOB_ETIMEDOUT);
        hob_runtime_wake(r.rt); /* closing is not put off by it */
        hob_session_close(r.s);
        r.s = NULL;
        host_finish(&r);
    }
}

/* A runtime whose sessions rest waits for nothing: no timer ticks. */
static void test_session_embed__an_idle_runtime_has_no_timer(void **state) {
    host r;
    (void)state;
    host_init(&r, "{'rules':[{'when':{'user':'go','step':1},'reply':[{'tool':'bash','args':"
                  "{'command':'echo hi'}}]},{'reply':[{'text':'ok'}]}]}");
    r.ro.loop = HOB_LOOP_HOST;
    r.ro.store = "sqlite";
    r.so.permission_mode = "yolo";
    r.so.timeout_ms = 60000;
    host_open(&r);
    assert_string_equal(host_prompt(&r, "go"), "completed");
    for (int i = 0; i < 1000 && hob_runtime_timeout(r.rt) == 0; i++) hob_runtime_process(r.rt);
    assert_int_equal(hob_runtime_timeout(r.rt), -1);
    host_finish(&r);
}

typedef struct commander {
    hob_session *s;
    int accepted;
} commander;

static void *command(void *arg) {
    commander *c = arg;
    hob_error err;
    for (int i = 0; i < 50; i++) {
        int rc = hob_session_follow_up(c->s, hob_str_z("more"), &err);
        c->accepted += rc >= 0;
        hob_session_is_running(c->s);
        if (i % 10 == 9) hob_session_steer(c->s, hob_str_z("left"), &err);
    }
    return NULL;
}

/* Commands from any thread: each accepted one is in the log exactly once. */
static void test_session_embed__commands_from_many_threads(void **state) {
    host r;
    gate g;
    pthread_t threads[4];
    commander c[4];
    int accepted = 0;
    (void)state;
    host_init(
        &r,
        "{'rules':[{'when':{'user':'go','step':1},'reply':[{'tool':'a','args':{}}]},{'reply':[{'text':'ok'}]}]}");
    gate_init(&g, "a", HOB_TOOL_READ_ONLY);
    r.so.tools = &g.tool;
    r.so.ntools = 1;
    host_open(&r);
    assert_ok(hob_session_prompt(r.s, hob_str_z("go"), &r.err), r.err);
    gate_wait_started(&g, 1);
    for (int i = 0; i < 4; i++) {
        c[i] = (commander){.s = r.s};
        pthread_create(&threads[i], NULL, command, &c[i]);
    }
    for (int i = 0; i < 4; i++) {
        pthread_join(threads[i], NULL);
        accepted += c[i].accepted;
    }
    assert_int_equal(accepted, 64); /* the queue's ceiling */
    gate_answer(&g, "fine");
    assert_string_equal(host_wait(&r), "completed");
    assert_int_equal(host_count(&r, "follow_up_queued"), 64);
    assert_int_equal(host_count(&r, "follow_up_delivered"), 64);
    assert_int_equal(host_count(&r, "run_finished"), 65);
    host_finish(&r);
    gate_finish(&g);
}

static void test_session_embed__many_sessions_in_one_runtime(void **state) {
    host r;
    hob_session *s[50];
    hob_result *result;
    (void)state;
    host_init(&r, hello);
    r.ro.store = "sqlite";
    r.so.flags = HOB_SESSION_NO_BUILTIN_TOOLS;
    assert_ok(hob_runtime_create(&r.ro, &r.rt, &r.err), r.err);
    for (int i = 0; i < 50; i++) assert_ok(hob_session_create(r.rt, &r.so, &s[i], &r.err), r.err);
    for (int i = 0; i < 50; i++)
        assert_ok(hob_session_prompt(s[i], hob_str_z("hi"), &r.err), r.err);
    for (int i = 0; i < 50; i++) {
        assert_ok(hob_session_wait(s[i], 60000, &result, &r.err), r.err);
        assert_int_equal(hob_result_code(result), HOB_OK);
        hob_result_destroy(result);
        if (i % 2) hob_session_detach(s[i]); /* the others are closed with the runtime */
    }
    hob_runtime_destroy(r.rt);
    r.rt = NULL;
    host_open(&r);
    host_finish(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_session_embed__host_loop_by_fd_timeout_process),
        cmocka_unit_test(test_session_embed__the_fd_tells_when_to_read),
        cmocka_unit_test(test_session_embed__callbacks_may_not_block),
        cmocka_unit_test(test_session_embed__deltas_add_up_to_the_message),
        cmocka_unit_test(test_session_embed__a_late_reader_misses_nothing),
        cmocka_unit_test(test_session_embed__a_wait_can_be_woken),
        cmocka_unit_test(test_session_embed__an_idle_runtime_has_no_timer),
        cmocka_unit_test(test_session_embed__commands_from_many_threads),
        cmocka_unit_test(test_session_embed__many_sessions_in_one_runtime),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
