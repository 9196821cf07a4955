/* Events on their way to one reader: order, ceilings, and what the fd says. */
#include "session/session.h"
#include "support/check.h"

#include <poll.h>

static const hob_str session_id = {"s1", 2};

typedef struct letters {
    hob_mailbox box;
    bool ended;
    int error;
} letters;

static hob_event *make_event(uint64_t seq) {
    hob_draft d;
    hob_event *e = NULL;
    hob_draft_init(&d, HOB_EVENT_NOTE);
    assert_int_equal(hob_event_encode(&d, session_id, seq, 1000, &e, NULL), HOB_OK);
    hob_draft_finish(&d);
    return e;
}

static void put_event(letters *l, uint64_t seq) {
    hob_event *e = make_event(seq);
    hob_mailbox_put(&l->box, e);
    hob_event_unref(e);
}

static bool put_text(letters *l, const char *key, size_t offset, hob_str text) {
    hob_delta d = {.type = HOB_EVENT_TEXT_DELTA, .offset = offset};
    snprintf(d.key, sizeof d.key, "%s", key);
    return hob_mailbox_put_delta(&l->box, &d, HOB_STR("run-1"), 1000, text, false);
}

/* The next letter as text: "#seq" for an event, "key+offset:text" for a delta; "" = none. */
static const char *take(letters *l) {
    static char got[4096];
    char key[32], offset[32], text[4000];
    hob_event *e;
    got[0] = 0;
    if (!hob_mailbox_take(&l->box, session_id, &e, &l->ended, &l->error)) return got;
    if (hob_event_seq(e)) {
        snprintf(got, sizeof got, "#%d", (int)hob_event_seq(e));
    } else {
        assert_str(hob_event_run(e), "run-1");
        hob_event_field(e, "message", key, sizeof key);
        hob_event_field(e, "offset", offset, sizeof offset);
        hob_event_field(e, "text", text, sizeof text);
        snprintf(got, sizeof got, "%s+%s:%s", key, offset, text);
    }
    hob_event_unref(e);
    return got;
}

/* Places are used again and again, for events and for text in turn. */
static void test_session_mailbox__order_is_kept_as_the_ring_goes_round(void **state) {
    letters l;
    char want[32];
    (void)state;
    hob_mailbox_init(&l.box);
    put_event(&l, 1);
    put_event(&l, 2);
    for (int i = 3; i < 60; i++) {
        if (i % 3) {
            put_event(&l, (uint64_t)i);
        } else {
            snprintf(want, sizeof want, "m%d", i);
            put_text(&l, want, 0, HOB_STR("x"));
        }
        int due = i - 2;
        if (due % 3)
            snprintf(want, sizeof want, "#%d", due);
        else
            snprintf(want, sizeof want, "m%d+0:x", due);
        assert_string_equal(take(&l), want);
    }
    hob_mailbox_finish(&l.box);
}

static void test_session_mailbox__text_of_one_stream_grows_in_its_place(void **state) {
    letters l;
    (void)state;
    hob_mailbox_init(&l.box);
    assert_true(put_text(&l, "m1", 0, HOB_STR("one ")));
    assert_true(put_text(&l, "m1", 4, HOB_STR("two")));
    put_event(&l, 7);
    assert_true(put_text(&l, "m2", 0, HOB_STR("three")));
    assert_string_equal(take(&l), "m1+0:one two");
    assert_string_equal(take(&l), "#7");
    assert_string_equal(take(&l), "m2+0:three");
    assert_string_equal(take(&l), "");
    hob_mailbox_finish(&l.box);
}

/* Two agents answer at once and nobody reads: two letters, not one for each word. An event keeps its place. */
static void test_session_mailbox__streams_grow_side_by_side(void **state) {
    letters l;
    (void)state;
    hob_mailbox_init(&l.box);
    assert_true(put_text(&l, "m1", 0, HOB_STR("one ")));
    assert_true(put_text(&l, "m2", 0, HOB_STR("uno ")));
    assert_true(put_text(&l, "m1", 4, HOB_STR("two")));
    assert_true(put_text(&l, "m2", 4, HOB_STR("due")));
    put_event(&l, 7);
    assert_true(put_text(&l, "m1", 7, HOB_STR(" three")));
    assert_string_equal(take(&l), "m1+0:one two");
    assert_string_equal(take(&l), "m2+0:uno due");
    assert_string_equal(take(&l), "#7");
    assert_string_equal(take(&l), "m1+7: three");
    assert_string_equal(take(&l), "");
    hob_mailbox_finish(&l.box);
}

/* Text that finds no room is refused, so that its sender can give all of it later. */
static void test_session_mailbox__unread_text_has_a_ceiling(void **state) {
    letters l;
    static char piece[4096];
    size_t taken = 0;
    (void)state;
    hob_mailbox_init(&l.box);
    memset(piece, 'x', sizeof piece);
    for (int i = 0; i < 1000; i++) {
        if (!put_text(&l, "m1", taken, hob_str_n(piece, sizeof piece))) break;
        taken += sizeof piece;
    }
    assert_true(taken >= HOB_MAILBOX_BYTES / 2 && taken <= HOB_MAILBOX_BYTES + sizeof piece);
    hob_mailbox_finish(&l.box);
}

static void test_session_mailbox__many_streams_have_a_ceiling_too(void **state) {
    letters l;
    char key[32];
    int taken = 0;
    (void)state;
    hob_mailbox_init(&l.box);
    for (int i = 0; i < 5000; i++) {
        snprintf(key, sizeof key, "m%d", i);
        taken += put_text(&l, key, 0, HOB_STR("x"));
    }
    assert_true(taken <= HOB_MAILBOX_EVENTS * 2);
    hob_mailbox_finish(&l.box);
}

static bool readable(int fd) {
    struct pollfd p = {.fd = fd, .events = POLLIN};
    return poll(&p, 1, 0) == 1;
}

/* Readable exactly when the reader would not wait: something is there, or held back, or nothing will come. */
static void test_session_mailbox__the_fd_says_when_to_read(void **state) {
    letters l;
    (void)state;
    hob_mailbox_init(&l.box);
    hob_mailbox_end(&l.box, false, 0);
    int fd = hob_mailbox_fd(&l.box);
    assert_false(readable(fd));
    put_event(&l, 1);
    put_event(&l, 2);
    assert_true(readable(fd));
    take(&l);
    assert_true(readable(fd));
    take(&l);
    assert_false(readable(fd));
    hob_mailbox_hold(&l.box); /* more stands in the log */
    assert_true(readable(fd));
    assert_true(hob_mailbox_ready(&l.box));
    assert_true(hob_mailbox_unhold(&l.box));
    assert_false(hob_mailbox_unhold(&l.box));
    assert_false(readable(fd));
    hob_mailbox_end(&l.box, true, 0);
    assert_true(readable(fd));
    hob_mailbox_finish(&l.box);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_session_mailbox__order_is_kept_as_the_ring_goes_round),
        cmocka_unit_test(test_session_mailbox__text_of_one_stream_grows_in_its_place),
        cmocka_unit_test(test_session_mailbox__streams_grow_side_by_side),
        cmocka_unit_test(test_session_mailbox__unread_text_has_a_ceiling),
        cmocka_unit_test(test_session_mailbox__many_streams_have_a_ceiling_too),
        cmocka_unit_test(test_session_mailbox__the_fd_says_when_to_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
