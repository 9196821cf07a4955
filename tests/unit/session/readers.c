/* Several readers of one session, each at its own pace. */
/* ctest: labels=threads */
#include "session/session.h"
#include "support/check.h"
#include "support/host.h"

static const char hello[] = "{'otherwise':[{'text':'hello there, whoever you are','chunk':3}]}";

/* A reader with what it got: "seq" of durable events, joined text, and every answer as a whole. */
typedef struct audience {
    hob_reader *r;
    uint64_t last;
    hob_buf text;
    int deltas, answers, opens;
    pthread_mutex_t lock;
    pthread_cond_t cond;
    int calls; /* of ready */
} audience;

static void on_ready(void *user) {
    audience *a = user;
    pthread_mutex_lock(&a->lock);
    a->calls++;
    pthread_cond_signal(&a->cond);
    pthread_mutex_unlock(&a->lock);
}

static void audience_init(audience *a, hob_session *s, uint64_t after) {
    hob_error err;
    *a = (audience){.last = after};
    hob_buf_init(&a->text, 64u << 20);
    pthread_mutex_init(&a->lock, NULL);
    pthread_cond_init(&a->cond, NULL);
    assert_ok(hob_session_reader(s, after, on_ready, a, &a->r, &err), err);
}

static void audience_finish(audience *a) {
    hob_reader_close(a->r);
    hob_buf_finish(&a->text);
    pthread_cond_destroy(&a->cond);
    pthread_mutex_destroy(&a->lock);
}

static void see_delta(audience *a, hob_event *e) {
    hob_arena *arena = hob_arena_create(0);
    const hob_json *d = hob_event_parse(e, arena);
    assert_int_equal(hob_json_get_int(d, "offset", -1), a->text.n); /* no gap, no double */
    hob_buf_add(&a->text, hob_json_get_str(d, "text"));
    a->deltas++;
    hob_arena_destroy(arena);
}

static void see(audience *a, hob_event *e) {
    hob_event_type type = hob_event_type_of(e);
    if (hob_event_seq(e)) assert_int_equal(hob_event_seq(e), ++a->last);
    if (type == HOB_EVENT_MESSAGE_OPEN) hob_buf_reset(&a->text), a->opens++;
    if (type == HOB_EVENT_TEXT_DELTA) see_delta(a, e);
    if (type == HOB_EVENT_ASSISTANT_MESSAGE) a->answers++;
}

/* What is there; the type of the last event. */
static hob_event_type take_all(audience *a, int *rc) {
    hob_event *e;
    hob_event_type last = HOB_EVENT_UNKNOWN;
    while ((*rc = hob_reader_next(a->r, &e)) == 1) {
        see(a, e);
        last = hob_event_type_of(e);
        hob_event_unref(e);
    }
    return last;
}

static void wait_ready(audience *a, int seen) {
    pthread_mutex_lock(&a->lock);
    while (a->calls == seen) pthread_cond_wait(&a->cond, &a->lock);
    pthread_mutex_unlock(&a->lock);
}

static int calls_of(audience *a) {
    pthread_mutex_lock(&a->lock);
    int n = a->calls;
    pthread_mutex_unlock(&a->lock);
    return n;
}

/* Reads until the session is settled. */
static void read_until_settled(audience *a) {
    int rc, seen = calls_of(a);
    while (take_all(a, &rc) != HOB_EVENT_SETTLED) {
        assert_int_equal(rc, 0);
        wait_ready(a, seen);
        seen = calls_of(a);
    }
}

/* All that the log has, from the first event on, whenever it comes. */
static void test_session_readers__each_has_all(void **state) {
    host r;
    audience early, late, from_start;
    int rc;
    (void)state;
    host_init(&r, hello);
    host_open(&r);
    audience_init(&early, r.s, 0);
    host_prompt(&r, "one");
    read_until_settled(&early);
    audience_init(&from_start, r.s, 0);
    audience_init(&late, r.s, early.last);
    read_until_settled(&from_start);
    assert_int_equal(from_start.last, early.last);
    assert_int_equal(from_start.deltas, 0); /* history */
    assert_true(early.deltas > 0);
    assert_string_equal(hob_buf_z(&early.text), "hello there, whoever you are");
    take_all(&late, &rc);
    assert_int_equal(rc, 0);
    host_prompt(&r, "two");
    read_until_settled(&early);
    read_until_settled(&late);
    read_until_settled(&from_start);
    assert_int_equal(early.answers, 2);
    assert_int_equal(late.answers, 1);
    assert_int_equal(from_start.last, late.last);
    assert_string_equal(hob_buf_z(&late.text), "hello there, whoever you are");
    audience_finish(&early), audience_finish(&late), audience_finish(&from_start);
    host_finish(&r);
}

/* One that does not read gets everything when it does, and the handle's own reader is not touched by any of it. */
static void test_session_readers__a_slow_one_holds_up_nobody(void **state) {
    host r;
    audience slow, quick;
    hob_event *e;
    int own = 0;
    (void)state;
    host_init(&r, hello);
    host_open(&r);
    audience_init(&slow, r.s, 0);
    audience_init(&quick, r.s, 0);
    for (int i = 0; i < 60; i++) {
        host_prompt(&r, "hi");
        read_until_settled(&quick);
        while (hob_session_next_event(r.s, 30000, &e) == 1) own++, hob_event_unref(e);
    }
    assert_true(slow.r->box.count <= HOB_MAILBOX_EVENTS * 2);
    read_until_settled(&slow); /* stops at the first one */
    while (slow.last < quick.last) read_until_settled(&slow);
    assert_int_equal(slow.answers, 60);
    assert_int_equal(slow.last, quick.last);
    assert_true(own > 60);
    audience_finish(&slow), audience_finish(&quick);
    host_finish(&r);
}

static const char gated[] = "{'rules':[{'when':{'step':1},'reply':[{'text':'let me see'},"
                            "{'tool':'wait','args':{}}]}],'otherwise':[{'text':'done'}]}";

/* In the middle of a run: the events so far, then what follows. */
static void test_session_readers__comes_in_the_middle(void **state) {
    host r;
    gate g;
    audience a;
    (void)state;
    host_init(&r, gated);
    gate_init(&g, "wait", HOB_TOOL_READ_ONLY);
    r.so.tools = &g.tool;
    r.so.ntools = 1;
    r.so.permission_mode = "yolo";
    host_open(&r);
    assert_ok(hob_session_prompt(r.s, hob_str_z("go"), &r.err), r.err);
    gate_wait_started(&g, 1);
    audience_init(&a, r.s, 0);
    gate_answer(&g, "there");
    read_until_settled(&a);
    assert_int_equal(a.answers, 2);
    assert_string_equal(hob_buf_z(&a.text), "done");
    audience_finish(&a);
    host_finish(&r);
    gate_finish(&g);
}

/* The session goes: what is there can still be read, then it is said. */
static void test_session_readers__outlive_the_session(void **state) {
    host r;
    audience a, b;
    int rc, seen;
    (void)state;
    host_init(&r, hello);
    host_open(&r);
    audience_init(&a, r.s, 0);
    audience_init(&b, r.s, 0);
    host_prompt(&r, "hi");
    read_until_settled(&a);
    take_all(&a, &rc);
    assert_int_equal(rc, 0);
    seen = calls_of(&a);
    hob_session_detach(r.s);
    r.s = NULL;
    wait_ready(&a, seen);
    take_all(&a, &rc);
    assert_int_equal(rc, HOB_ECANCELLED);
    take_all(&b, &rc);
    assert_int_equal(rc, HOB_ECANCELLED);
    assert_int_equal(b.last, a.last);
    audience_finish(&a), audience_finish(&b);
    host_finish(&r);
}

/* Closed while the store is being asked for it, and from inside its own callback. */
static void close_it(void *user) {
    audience *a = user;
    hob_reader_close(a->r);
    a->r = NULL;
    on_ready(a);
}

static void test_session_readers__close_at_any_time(void **state) {
    host r;
    hob_reader *cold;
    audience a;
    int rc;
    (void)state;
    host_init(&r, hello);
    r.ro.store = "sqlite";
    host_open(&r);
    for (int i = 0; i < 50; i++) host_prompt(&r, "hi");
    for (int i = 0; i < 50; i++) {
        assert_ok(hob_session_reader(r.s, (uint64_t)i, on_ready, &a, &cold, &r.err), r.err);
        hob_reader_close(cold);
    }
    audience_init(&a, r.s, 1u << 30);
    hob_reader_close(a.r);
    assert_ok(hob_session_reader(r.s, 1u << 30, close_it, &a, &a.r, &r.err), r.err);
    take_all(&a, &rc);
    assert_int_equal(rc, 0);
    host_prompt(&r, "hi");
    wait_ready(&a, 0);
    host_finish(&r);
    audience_finish(&a);
}

typedef struct crowd {
    audience a;
    pthread_t thread;
} crowd;

static void *attend(void *user) {
    crowd *c = user;
    int rc, seen = 0;
    while (c->a.answers < 20) {
        take_all(&c->a, &rc);
        assert_true(rc == 0);
        if (c->a.answers < 20) wait_ready(&c->a, seen);
        seen = calls_of(&c->a);
    }
    return NULL;
}

static void test_session_readers__many_threads(void **state) {
    enum { N = 8 };
    static crowd all[N];
    host r;
    (void)state;
    host_init(&r, hello);
    host_open(&r);
    for (int i = 0; i < N; i++) {
        audience_init(&all[i].a, r.s, 0);
        assert_int_equal(pthread_create(&all[i].thread, NULL, attend, &all[i]), 0);
    }
    for (int i = 0; i < 20; i++) host_prompt(&r, "hi");
    for (int i = 0; i < N; i++) pthread_join(all[i].thread, NULL);
    for (int i = 0; i < N; i++) assert_int_equal(all[i].a.opens, 20);
    for (int i = 0; i < N; i++) audience_finish(&all[i].a);
    host_finish(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_session_readers__each_has_all),
        cmocka_unit_test(test_session_readers__a_slow_one_holds_up_nobody),
        cmocka_unit_test(test_session_readers__comes_in_the_middle),
        cmocka_unit_test(test_session_readers__outlive_the_session),
        cmocka_unit_test(test_session_readers__close_at_any_time),
        cmocka_unit_test(test_session_readers__many_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
