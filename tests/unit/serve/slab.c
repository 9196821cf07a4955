/* Stored events as text that streams share: the same to the byte as one by one, and never another session's. */
#include "support/check.h"
#include "support/desk.h"

#include "serve/outlet.h"
#include "serve/slab.h"
#include "session/session.h"

#include <hob/event.h>
#include <stdio.h>
#include <string.h>

/* ---- a slab ------------------------------------------------------------------------------------------------- */

#define LINE(seq, type, data)                                                                      \
    "{\"v\":1,\"seq\":" #seq ",\"ts\":\"2026-01-02T03:04:05.678Z\",\"type\":\"" type               \
    "\",\"session_id\":\"s\",\"data\":" data "}"

static hob_page *page_of(const char *const *rows, size_t n) {
    hob_page *p = hob_page_create();
    for (size_t i = 0; i < n; i++) hob_page_add(p, hob_str_z(rows[i]));
    return p;
}

static void test_serve_slab__is_what_the_events_would_be_one_by_one(void **state) {
    (void)state;
    static const char *const rows[] = {
        LINE(7, "run_started", "{}"), LINE(8, "user_message", "{\"text\":\"\\\"type\\\"\"}"),
        /* by another hand: the same, in another order and with blanks */
        "{ \"type\":\"settled\", \"seq\":9,\"v\":1,\"ts\":\"2026-01-02T03:04:05.678Z\",\"session_id\":\"s\",\"data\":{}}"};
    hob_page *p = page_of(rows, 3);
    hob_buf want;
    hob_slab *s;
    hob_event *e;
    hob_buf_init(&want, 1 << 20);
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(hob_event_from_json(hob_str_z(rows[i]), &e, NULL), HOB_OK);
        hob_sse_add(&want, hob_event_seq(e), hob_event_name(e), hob_event_json(e));
        hob_event_unref(e);
    }
    assert_int_equal(hob_slab_create(p, 6, &s), HOB_OK);
    assert_str(hob_buf_str(&s->text), hob_buf_z(&want));
    assert_int_equal(s->last, 9);
    assert_int_equal(s->settled, 1);
    hob_slab_unref(s);
    hob_page_destroy(p);
    hob_buf_finish(&want);
}

static void test_serve_slab__says_whether_the_session_is_at_work(void **state) {
    (void)state;
    static const char *const works[] = {LINE(1, "settled", "{}"), LINE(2, "run_started", "{}")};
    static const char *const silent[] = {LINE(3, "user_message", "{\"text\":\"settled\"}")};
    hob_page *p = page_of(works, 2), *q = page_of(silent, 1);
    hob_slab *s;
    assert_int_equal(hob_slab_create(p, 0, &s), HOB_OK);
    assert_int_equal(s->settled, 0);
    hob_slab_unref(s);
    assert_int_equal(hob_slab_create(q, 2, &s), HOB_OK);
    assert_int_equal(s->settled, -1);
    hob_slab_unref(s);
    hob_page_destroy(p);
    hob_page_destroy(q);
}

static void test_serve_slab__what_was_not_asked_for_is_an_error(void **state) {
    (void)state;
    static const char *const gap[] = {LINE(1, "settled", "{}"), LINE(3, "settled", "{}")};
    static const char *const torn[] = {"{\"v\":1,\"seq\":1,\"ts\":\"2026-01-02T03:0"};
    static const char *const huge[] = {LINE(99999999999999999999, "settled", "{}")};
    hob_page *a = page_of(gap, 2), *b = page_of(torn, 1), *c = page_of(huge, 1);
    hob_slab *s;
    assert_int_equal(hob_slab_create(a, 0, &s), HOB_EPROTO);
    assert_int_equal(hob_slab_create(a, 1, &s), HOB_EPROTO);
    assert_int_equal(hob_slab_create(b, 0, &s), HOB_EPARSE);
    assert_int_equal(hob_slab_create(c, 0, &s), HOB_EPROTO);
    hob_page_destroy(a);
    hob_page_destroy(b);
    hob_page_destroy(c);
}

/* ---- the shelf ---------------------------------------------------------------------------------------------- */

static hob_slab *slab_until(uint64_t last, size_t bytes) {
    hob_slab *s = HOB_NEW(hob_slab);
    s->refs = 1;
    s->last = last;
    hob_list_init(&s->link);
    hob_buf_init(&s->text, 1 << 24);
    assert_non_null(hob_buf_reserve(&s->text, bytes));
    return s;
}

static void put(hob_shelf *f, const char *log, uint64_t after, uint64_t last, size_t bytes) {
    hob_slab *s = slab_until(last, bytes);
    hob_shelf_put(f, hob_str_z(log), after, s);
    hob_slab_unref(s);
}

static uint64_t found(hob_shelf *f, const char *log, uint64_t after) {
    hob_slab *s = hob_shelf_find(f, hob_str_z(log), after);
    uint64_t last = s ? s->last : 0;
    hob_slab_unref(s);
    return last;
}

static void test_serve_slab__the_longer_one_stays(void **state) {
    (void)state;
    hob_shelf *f = hob_shelf_create();
    put(f, "a", 512, 600, 100);
    put(f, "a", 512, 550, 100);
    assert_int_equal(found(f, "a", 512), 600);
    put(f, "a", 512, 1024, 100);
    assert_int_equal(found(f, "a", 512), 1024);
    put(f, "a", 600, 700, 100); /* begins where none does */
    assert_int_equal(found(f, "a", 600), 0);
    assert_int_equal(found(f, "b", 512), 0);
    hob_shelf_destroy(f);
}

static void test_serve_slab__the_one_used_longest_ago_goes_first(void **state) {
    (void)state;
    hob_shelf *f = hob_shelf_create();
    char name[16];
    put(f, "kept", 0, 512, 500000);
    for (int i = 0; i < 100; i++) {
        snprintf(name, sizeof name, "log%d", i);
        put(f, name, 0, 512, 500000);
        assert_int_equal(found(f, "kept", 0), 512);
    }
    assert_int_equal(found(f, "log0", 0), 0);
    assert_int_equal(found(f, "log99", 0), 512);
    put(f, "large", 0, 512, 3 << 20); /* would push out many */
    assert_int_equal(found(f, "large", 0), 0);
    hob_shelf_destroy(f);
}

/* ---- streams ------------------------------------------------------------------------------------------------- */

enum { PROMPTS = 230 }; /* more than two slabs of events */

static const char script[] =
    "{'rules':[{'when':{'user':'hang'},'reply':[{'text':'so far'},{'wait':true}]}],"
    "'otherwise':[{'text':'hello there'}]}";

static int setup(void **state) {
    return desk_setup(state, script);
}

static void fill(desk *d, const char *id) {
    desk_session(d, id);
    for (int i = 0; i < PROMPTS; i++)
        assert_int_equal(
            desk_post(d, "{'text':'hi','when_busy':'enqueue'}", "/api/sessions/%s/prompt", id),
            202);
    desk_settle(d, id);
}

/* Each number follows the one before, to the end. */
static uint64_t follow(desk *d, const char *id, uint64_t after) {
    tail *t = desk_tail(d, id, after, "&until=settled");
    while (tail_next(t)) {
        if (!tail_seq(t)) continue;
        assert_int_equal(tail_seq(t), after + 1);
        after++;
    }
    tail_close(t);
    return after;
}

static void check_cursors(desk *d, uint64_t last) {
    static const uint64_t cursors[] = {0, 1, 511, 512, 513, 700, 1023, 1024, 1025};
    assert_true(last > 1025);
    for (size_t i = 0; i < sizeof cursors / sizeof *cursors; i++)
        assert_int_equal(follow(d, "one", cursors[i]), last);
    assert_int_equal(follow(d, "one", last - 1), last);
    assert_int_equal(follow(d, "one", last), last);
}

static void test_serve_slab__from_every_cursor_each_event_once(void **state) {
    desk *d = *state;
    fill(d, "one");
    uint64_t last = follow(d, "one", 0);
    check_cursors(d, last); /* open here */
    desk_stop(d);
    desk_start(d);
    check_cursors(d, last); /* not open, first looked at in the middle */
    check_cursors(d, last);
    desk_prompt(d, "one", "once more");
    desk_settle(d, "one");
    uint64_t more = follow(d, "one", 0); /* the last slab has grown */
    assert_true(more > last);
    check_cursors(d, more);
}

static void test_serve_slab__one_that_reads_from_the_start_catches_up_with_a_run(void **state) {
    desk *d = *state;
    fill(d, "one");
    uint64_t last = follow(d, "one", 0), seen = 0;
    desk_prompt(d, "one", "hang");
    tail *t = desk_tail(d, "one", 0, "");
    bool streamed = false;
    while (!streamed && tail_next(t)) {
        streamed = !tail_seq(t) && hob_str_find(tail_data(t), HOB_STR("so far")) >= 0;
        if (!tail_seq(t)) continue;
        assert_int_equal(tail_seq(t), seen + 1);
        seen++;
    }
    assert_true(streamed);
    assert_true(seen > last);
    assert_int_equal(desk_post(d, "{}", "/api/sessions/one/cancel"), 204);
    assert_true(tail_until(t, "settled"));
    tail_close(t);
}

static void test_serve_slab__an_id_that_is_used_again_shows_its_own_events(void **state) {
    desk *d = *state;
    char text[64] = "";
    fill(d, "one");
    uint64_t last = follow(d, "one", 0);
    assert_int_equal(desk_call(d, "DELETE", NULL, "/api/sessions/one"), 204);
    desk_session(d, "one");
    desk_prompt(d, "one", "another life");
    desk_settle(d, "one");
    tail *t = desk_tail(d, "one", 0, "&until=settled");
    while (tail_next(t) && strcmp(tail_event(t), "user_message") != 0) {
    }
    hob_json_field(tail_data(t), "data.content.0.text", text, sizeof text);
    assert_string_equal(text, "another life");
    tail_close(t);
    assert_true(follow(d, "one", 0) < last);
}

/* Deleted by another program while somebody looks on: the stream ends, and what comes under that id is not in it. */
static void test_serve_slab__a_stream_does_not_follow_another_session_of_its_id(void **state) {
    desk *d = *state;
    hob_runtime_opts ro = d->ro;
    hob_runtime *other;
    desk_session(d, "one");
    desk_prompt(d, "one", "hi");
    desk_settle(d, "one");
    assert_int_equal(desk_post(d, "{}", "/api/sessions/one/close"), 204);
    tail *t = desk_tail(d, "one", 0, "");
    assert_true(tail_until(t, "session_closed"));
    assert_ok(hob_runtime_create(&ro, &other, &d->err), d->err);
    assert_ok(hob_runtime_remove_session(other, "one", &d->err), d->err);
    hob_runtime_destroy(other);
    fill(d, "one");
    while (tail_next(t)) assert_int_equal(tail_seq(t), 0);
    tail_close(t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_serve_slab__is_what_the_events_would_be_one_by_one),
        cmocka_unit_test(test_serve_slab__says_whether_the_session_is_at_work),
        cmocka_unit_test(test_serve_slab__what_was_not_asked_for_is_an_error),
        cmocka_unit_test(test_serve_slab__the_longer_one_stays),
        cmocka_unit_test(test_serve_slab__the_one_used_longest_ago_goes_first),
        cmocka_unit_test_setup_teardown(test_serve_slab__from_every_cursor_each_event_once, setup,
                                        desk_teardown),
        cmocka_unit_test_setup_teardown(
            test_serve_slab__one_that_reads_from_the_start_catches_up_with_a_run, setup,
            desk_teardown),
        cmocka_unit_test_setup_teardown(
            test_serve_slab__an_id_that_is_used_again_shows_its_own_events, setup, desk_teardown),
        cmocka_unit_test_setup_teardown(
            test_serve_slab__a_stream_does_not_follow_another_session_of_its_id, setup,
            desk_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
