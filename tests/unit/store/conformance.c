/*
 * What every store promises: own, commit, read, remove, close. Run on each of them (see lists.c for
 * listing).
 */
#include "support/stores.h"

#include <stdio.h>
#include <stdlib.h>

typedef struct opener {
    const char *name;
    hob_store *(*open)(rig *r, const char *owner_name);
    bool shared; /* two stores can stand on the same data */
} opener;

static const opener openers[] = {
    {"memory", rig_memory, false},
    {"sqlite", rig_sqlite, true},
};

static const opener *using; /* the store under test */
static rig r;
static hob_store *s;

static int set_up(void **state) {
    (void)state;
    rig_init(&r);
    s = using->open(&r, "first");
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    if (s) s->ops->close(s);
    s = NULL;
    rig_finish(&r);
    return 0;
}

/* ---- own ----------------------------------------------------------------------------------- */

static void test_store_conformance__create_answers_the_row(void **state) {
    (void)state;
    hob_store_session row = {.id = HOB_STR("a"),
                             .cwd = HOB_STR("/w"),
                             .title = HOB_STR("t"),
                             .model = HOB_STR("m"),
                             .parent = HOB_STR("p"),
                             .state = HOB_STR("running"),
                             .created_ms = 1000,
                             .updated_ms = 2000,
                             .messages = 3};
    assert_int_equal(rig_own_row(&r, s, HOB_OWN_CREATE, &row), 0);
    const hob_store_session *got = r.last.rows;
    assert_str(got->id, "a");
    assert_str(got->cwd, "/w");
    assert_str(got->title, "t");
    assert_str(got->model, "m");
    assert_str(got->parent, "p");
    assert_str(got->state, "running");
    assert_int_equal(got->created_ms, 1000);
    assert_int_equal(got->updated_ms, 2000);
    assert_int_equal(got->messages, 3);
    assert_int_equal(got->last_seq, 0);
    assert_int_equal(got->epoch, 1);
    assert_true(got->owner.n > 0);
}

static void test_store_conformance__create_fills_in_state_and_times(void **state) {
    (void)state;
    s->ops->own(s, HOB_STR("a"), HOB_OWN_CREATE, NULL, on_own, &r.last);
    rig_wait(&r, &r.last);
    assert_int_equal(r.last.code, 0);
    assert_str(r.last.rows->state, "idle");
    assert_str(r.last.rows->cwd, "");
    assert_true(r.last.rows->created_ms > 1600000000000);
    assert_int_equal(r.last.rows->created_ms, r.last.rows->updated_ms);
}

static void test_store_conformance__create_refuses_what_exists(void **state) {
    (void)state;
    assert_int_equal(rig_own(&r, s, "a", HOB_OWN_CREATE), 0);
    assert_int_equal(rig_own(&r, s, "a", HOB_OWN_CREATE), HOB_EEXIST);
}

static void test_store_conformance__absent_session_is_not_found(void **state) {
    (void)state;
    assert_int_equal(rig_own(&r, s, "a", 0), HOB_ENOENT);
    assert_int_equal(rig_own(&r, s, "a", HOB_OWN_READ), HOB_ENOENT);
    assert_int_equal(rig_release(&r, s, "a", 1), HOB_ENOENT);
    assert_int_equal(rig_read(&r, s, "a", 0), HOB_ENOENT);
    assert_int_equal(rig_append(&r, s, "a", 0, HOB_STR("{}")), HOB_ENOENT);
    assert_int_equal(rig_remove(&r, s, "a"), HOB_ENOENT);
}

static void test_store_conformance__wrong_ids_and_flags_are_refused(void **state) {
    (void)state;
    assert_int_equal(rig_own(&r, s, "", HOB_OWN_CREATE), HOB_EINVAL);
    assert_int_equal(rig_own(&r, s, "../a", HOB_OWN_CREATE), HOB_EINVAL);
    assert_int_equal(rig_own(&r, s, "a", HOB_OWN_CREATE | HOB_OWN_READ), HOB_EINVAL);
    assert_int_equal(rig_read(&r, s, "a b", 0), HOB_EINVAL);
}

static void test_store_conformance__own_again_keeps_the_epoch(void **state) {
    (void)state;
    assert_int_equal(rig_own(&r, s, "a", HOB_OWN_CREATE), 0);
    assert_int_equal(rig_own(&r, s, "a", 0), 0);
    assert_int_equal(r.last.rows->epoch, 1);
}

static void test_store_conformance__reading_the_row_takes_nothing(void **state) {
    (void)state;
    assert_int_equal(rig_own(&r, s, "a", HOB_OWN_CREATE), 0);
    assert_int_equal(rig_release(&r, s, "a", 1), 0);
    assert_int_equal(rig_own(&r, s, "a", HOB_OWN_READ), 0);
    assert_int_equal(r.last.rows->epoch, 1);
    assert_int_equal(r.last.rows->owner.n, 0);
}

static void test_store_conformance__a_released_session_is_fenced(void **state) {
    (void)state;
    assert_int_equal(rig_own(&r, s, "a", HOB_OWN_CREATE), 0);
    assert_int_equal(rig_append(&r, s, "a", 0, HOB_STR("{}")), 0);
    assert_int_equal(rig_append(&r, s, "a", 1, HOB_STR("{}")), 0);
    assert_int_equal(rig_release(&r, s, "a", 7), HOB_EFENCED);
    assert_int_equal(rig_release(&r, s, "a", 1), 0);
    assert_int_equal(rig_release(&r, s, "a", 1), HOB_EFENCED);
    assert_int_equal(rig_append(&r, s, "a", 2, HOB_STR("{}")), HOB_EFENCED);
    assert_int_equal(rig_own(&r, s, "a", 0), 0);
    assert_int_equal(r.last.rows->epoch, 2);
    assert_int_equal(rig_append(&r, s, "a", 2, HOB_STR("{}")), HOB_EFENCED); /* epoch 1 */
    assert_int_equal(rig_read(&r, s, "a", 0), 0);
    assert_int_equal(r.last.n, 2);
}

static void test_store_conformance__a_live_owner_is_named(void **state) {
    (void)state;
    if (!using->shared) return;
    assert_int_equal(rig_own(&r, s, "a", HOB_OWN_CREATE), 0);
    hob_store *other = using->open(&r, "second");
    assert_int_equal(rig_own(&r, other, "a", 0), HOB_EBUSY);
    assert_non_null(strstr(r.last.err.message, "first"));
    assert_non_null(strstr(r.last.err.message, "pid"));
    assert_int_equal(rig_remove(&r, other, "a"), HOB_EBUSY);
    assert_int_equal(rig_own(&r, other, "a", HOB_OWN_READ), 0);
    assert_str(r.last.rows->owner, "first");
    assert_int_equal(rig_append(&r, other, "a", 0, HOB_STR("{}")), HOB_EFENCED);
    other->ops->close(other);
}

static void test_store_conformance__a_session_can_be_taken_after_close(void **state) {
    (void)state;
    if (!using->shared) return;
    assert_int_equal(rig_own(&r, s, "a", HOB_OWN_CREATE), 0);
    assert_int_equal(rig_append(&r, s, "a", 0, HOB_STR("{\"n\":1}")), 0);
    hob_store *other = using->open(&r, "second");
    assert_int_equal(rig_own(&r, other, "a", 0), HOB_EBUSY);
    s->ops->close(s);
    s = other;
    assert_int_equal(rig_own(&r, s, "a", 0), 0);
    assert_int_equal(r.last.rows->epoch, 2);
    assert_int_equal(r.last.rows->last_seq, 1);
    assert_str(r.last.rows->owner, "second");
}

/* ---- commit -------------------------------------------------------------------------------- */

static void test_store_conformance__events_come_back_in_order(void **state) {
    (void)state;
    hob_store_event e[] = {{1, HOB_STR("{\"n\":1}")}, {2, HOB_STR("{\"n\":2}")}, {3, HOB_STR("")}};
    hob_store_append a = {.session = HOB_STR("a"), .epoch = 1, .events = e, .nevents = 3};
    assert_int_equal(rig_own(&r, s, "a", HOB_OWN_CREATE), 0);
    assert_int_equal(rig_commit(&r, s, &a, 1), 0);
    assert_int_equal(rig_append(&r, s, "a", 3, HOB_STR("{\"n\":4}")), 0);
    assert_int_equal(rig_read(&r, s, "a", 0), 0);
    assert_int_equal(r.last.n, 4);
    assert_int_equal(r.last.more, 0);
    for (size_t i = 0; i < 4; i++) assert_int_equal(r.last.events[i].seq, i + 1);
    assert_str(r.last.events[0].json, "{\"n\":1}");
    assert_str(r.last.events[1].json, "{\"n\":2}");
    assert_str(r.last.events[2].json, "");
    assert_str(r.last.events[3].json, "{\"n\":4}");
}

static void test_store_conformance__a_wrong_seq_is_refused(void **state) {
    (void)state;
    assert_int_equal(rig_own(&r, s, "a", HOB_OWN_CREATE), 0);
    assert_int_equal(rig_append(&r, s, "a", 0, HOB_STR("{}")), 0);
    assert_int_equal(rig_append(&r, s, "a", 0, HOB_STR("{}")), HOB_EEXIST);
    assert_int_equal(rig_append(&r, s, "a", 2, HOB_STR("{}")), HOB_EEXIST);
    hob_store_event gap = {.seq = 3, .json = HOB_STR("{}")};
    hob_store_append a = {.session = HOB_STR("a"), .epoch = 1, .after_seq = 1, .events = &gap};
    a.nevents = 1;
    assert_int_equal(rig_commit(&r, s, &a, 1), HOB_EINVAL);
    assert_int_equal(rig_append(&r, s, "a", 1, HOB_STR("{}")), 0);
}

static void test_store_conformance__several_sessions_all_or_nothing(void **state) {
    (void)state;
    hob_store_event e = {.seq = 1, .json = HOB_STR("{}")};
    hob_store_run run = {.id = HOB_STR("r"), .status = HOB_STR("running"), .started_ms = 1};
    hob_store_append a[2] = {
        {.session = HOB_STR("a"), .epoch = 1, .events = &e, .nevents = 1, .runs = &run, .nruns = 1},
        {.session = HOB_STR("b"), .epoch = 2, .events = &e, .nevents = 1}};
    assert_int_equal(rig_own(&r, s, "a", HOB_OWN_CREATE), 0);
    assert_int_equal(rig_own(&r, s, "b", HOB_OWN_CREATE), 0);
    assert_int_equal(rig_commit(&r, s, a, 2), HOB_EFENCED);
    assert_int_equal(rig_own(&r, s, "a", HOB_OWN_READ), 0);
    assert_int_equal(r.last.rows->last_seq, 0);
    assert_int_equal(rig_runs(&r, s, &(hob_store_query){0}), 0);
    assert_int_equal(r.last.n, 0);
    a[1].epoch = 1;
    assert_int_equal(rig_commit(&r, s, a, 2), 0);
    assert_int_equal(rig_read(&r, s, "b", 0), 0);
    assert_int_equal(r.last.n, 1);
    a[0].after_seq = a[1].after_seq = 1;
    e.seq = 2;
    a[1].session = a[0].session;
    assert_int_equal(rig_commit(&r, s, a, 2), HOB_EINVAL); /* one session twice */
}

/* Requests that are committed together do not fail together. */
static void test_store_conformance__a_refusal_hurts_nobody_else(void **state) {
    (void)state;
    answer answers[30] = {0};
    char id[16];
    for (int i = 0; i < 30; i++) {
        snprintf(id, sizeof(id), "s%d", i);
        assert_int_equal(rig_own(&r, s, id, HOB_OWN_CREATE), 0);
    }
    for (int i = 0; i < 30; i++) {
        snprintf(id, sizeof(id), "s%d", i);
        hob_store_event e = {.seq = i % 3 == 1 ? 5 : 1, .json = HOB_STR("{}")};
        hob_store_append a = {.session = hob_str_z(id), .events = &e, .nevents = 1};
        a.epoch = i % 3 == 0 ? 9 : 1;
        a.after_seq = e.seq - 1;
        s->ops->commit(s, &(hob_store_batch){.appends = &a, .nappends = 1}, on_done, &answers[i]);
    }
    for (int i = 0; i < 30; i++) {
        rig_wait(&r, &answers[i]);
        int expected[] = {HOB_EFENCED, HOB_EEXIST, 0};
        assert_int_equal(answers[i].code, expected[i % 3]);
        answer_finish(&answers[i]);
    }
}

static void test_store_conformance__an_empty_append_checks_the_epoch(void **state) {
    (void)state;
    hob_store_append a = {.session = HOB_STR("a"), .epoch = 1};
    assert_int_equal(rig_own(&r, s, "a", HOB_OWN_CREATE), 0);
    assert_int_equal(rig_commit(&r, s, &a, 1), 0);
    a.epoch = 2;
    assert_int_equal(rig_commit(&r, s, &a, 1), HOB_EFENCED);
    assert_int_equal(rig_commit(&r, s, NULL, 0), 0);
}

static void test_store_conformance__a_row_update_leaves_what_is_empty(void **state) {
    (void)state;
    hob_store_session first = {.id = HOB_STR("a"), .cwd = HOB_STR("/w"), .title = HOB_STR("t")};
    hob_store_session change = {.state = HOB_STR("parked"),
                                .model = HOB_STR("m"),
                                .messages = 4,
                                .created_ms = -1,
                                .updated_ms = 99};
    first.created_ms = first.updated_ms = 10;
    hob_store_append a = {.session = HOB_STR("a"), .epoch = 1, .row = &change};
    assert_int_equal(rig_own_row(&r, s, HOB_OWN_CREATE, &first), 0);
    assert_int_equal(rig_commit(&r, s, &a, 1), 0);
    assert_int_equal(rig_own(&r, s, "a", HOB_OWN_READ), 0);
    assert_str(r.last.rows->cwd, "/w");
    assert_str(r.last.rows->title, "t");
    assert_str(r.last.rows->model, "m");
    assert_str(r.last.rows->state, "parked");
    assert_int_equal(r.last.rows->created_ms, 10);
    assert_int_equal(r.last.rows->updated_ms, 99);
    assert_int_equal(r.last.rows->messages, 4);
    change.updated_ms = change.messages = -1;
    assert_int_equal(rig_commit(&r, s, &a, 1), 0);
    assert_int_equal(rig_own(&r, s, "a", HOB_OWN_READ), 0);
    assert_int_equal(r.last.rows->updated_ms, 99);
    assert_int_equal(r.last.rows->messages, 4);
}

/* ---- bytes --------------------------------------------------------------------------------- */

static hob_str filled(size_t n, unsigned seed) {
    char *p = hob_alloc(n + 1);
    for (size_t i = 0; i < n; i++) {
        seed = seed * 1103515245u + 12345u;
        p[i] = (char)(seed >> 16);
    }
    return hob_str_n(p, n);
}

static void test_store_conformance__bodies_are_kept_byte_for_byte(void **state) {
    (void)state;
    const size_t sizes[] = {0, 1, 65535, 65536, 65537, 5u << 20, 65537};
    assert_int_equal(rig_own(&r, s, "a", HOB_OWN_CREATE), 0);
    for (size_t i = 0; i < HOB_ARRAY_LEN(sizes); i++) {
        hob_str body = filled(sizes[i], sizes[i] == 65537 ? 1 : (unsigned)i);
        assert_int_equal(rig_append(&r, s, "a", i, body), 0);
        assert_int_equal(rig_read_some(&r, s, "a", i, 1, 0), 0);
        assert_int_equal(r.last.n, 1);
        assert_int_equal(r.last.events[0].json.n, body.n);
        assert_memory_equal(r.last.events[0].json.p, body.p, body.n);
        hob_free((void *)body.p);
    }
}

static void test_store_conformance__odd_text_is_kept(void **state) {
    (void)state;
    const hob_str odd[] = {HOB_STR("a\0b"), HOB_STR("\0"), HOB_STR("\xff\xfe\xed\xa0\x80"),
                           HOB_STR("\xef\xbb\xbf{}"), HOB_STR("' OR 1=1; --\n\r\t")};
    assert_int_equal(rig_own(&r, s, "a", HOB_OWN_CREATE), 0);
    for (size_t i = 0; i < HOB_ARRAY_LEN(odd); i++)
        assert_int_equal(rig_append(&r, s, "a", i, odd[i]), 0);
    assert_int_equal(rig_read(&r, s, "a", 0), 0);
    for (size_t i = 0; i < HOB_ARRAY_LEN(odd); i++) {
        assert_int_equal(r.last.events[i].json.n, odd[i].n);
        assert_memory_equal(r.last.events[i].json.p, odd[i].p, odd[i].n);
    }
}

static void test_store_conformance__too_large_is_refused(void **state) {
    (void)state;
    hob_str body = hob_str_n(hob_alloc((64u << 20) + 1), (64u << 20) + 1);
    assert_int_equal(rig_own(&r, s, "a", HOB_OWN_CREATE), 0);
    assert_int_equal(rig_append(&r, s, "a", 0, body), HOB_ETOOBIG);
    hob_store_session row = {.id = HOB_STR("b"), .title = hob_str_first(body, 65537)};
    assert_int_equal(rig_own_row(&r, s, HOB_OWN_CREATE, &row), HOB_ETOOBIG);
    hob_free((void *)body.p);
}

/* ---- read ---------------------------------------------------------------------------------- */

static void test_store_conformance__pages_by_count_and_by_bytes(void **state) {
    (void)state;
    assert_int_equal(rig_own(&r, s, "a", HOB_OWN_CREATE), 0);
    for (uint64_t i = 0; i < 10; i++)
        assert_int_equal(rig_append(&r, s, "a", i, HOB_STR("0123456789")), 0);
    assert_int_equal(rig_read_some(&r, s, "a", 0, 4, 0), 0);
    assert_int_equal(r.last.n, 4);
    assert_int_equal(r.last.more, 1);
    assert_int_equal(rig_read_some(&r, s, "a", 4, 6, 0), 0);
    assert_int_equal(r.last.n, 6);
    assert_int_equal(r.last.more, 0);
    assert_int_equal(rig_read_some(&r, s, "a", 0, 0, 35), 0);
    assert_int_equal(r.last.n, 3);
    assert_int_equal(r.last.more, 1);
    assert_int_equal(rig_read_some(&r, s, "a", 7, 0, 1), 0); /* at least one */
    assert_int_equal(r.last.n, 1);
    assert_int_equal(r.last.events[0].seq, 8);
    assert_int_equal(r.last.more, 1);
    assert_int_equal(rig_read_some(&r, s, "a", 10, 0, 0), 0);
    assert_int_equal(r.last.n, 0);
    assert_int_equal(r.last.more, 0);
    assert_int_equal(rig_read(&r, s, "a", UINT64_MAX), 0);
    assert_int_equal(r.last.n, 0);
}

/* ---- order --------------------------------------------------------------------------------- */

static int order[64], norder;

static void note_done(int code, const hob_error *err, void *user) {
    (void)err;
    assert_int_equal(code, 0);
    order[norder++] = (int)(intptr_t)user;
}

static void note_events(int code, const hob_error *err, const hob_store_event *events, size_t n,
                        int more, void *user) {
    (void)events, (void)more;
    note_done(code, err, user);
    assert_int_equal(n,
                     (intptr_t)user / 2 + 1); /* sees every commit called before it, no later one */
}

/* commit, read, commit, read, … without waiting. */
static void test_store_conformance__answers_keep_the_order_of_calls(void **state) {
    (void)state;
    norder = 0;
    assert_int_equal(rig_own(&r, s, "a", HOB_OWN_CREATE), 0);
    for (intptr_t i = 0; i < 20; i += 2) {
        uint64_t after = (uint64_t)i / 2;
        hob_store_event e = {.seq = after + 1, .json = HOB_STR("{}")};
        hob_store_append a = {.session = HOB_STR("a"), .epoch = 1, .events = &e, .nevents = 1};
        a.after_seq = after;
        s->ops->commit(s, &(hob_store_batch){.appends = &a, .nappends = 1}, note_done, (void *)i);
        s->ops->read(s, HOB_STR("a"), 0, 0, 0, note_events, (void *)(i + 1));
    }
    while (norder < 20) hob_loop_run_once(r.loop, -1);
    for (int i = 0; i < 20; i++) assert_int_equal(order[i], i);
}

/* ---- remove -------------------------------------------------------------------------------- */

static void test_store_conformance__remove_takes_everything(void **state) {
    (void)state;
    hob_str big = filled(100000, 7);
    hob_store_run run = {.id = HOB_STR("r"), .status = HOB_STR("running"), .started_ms = 1};
    hob_store_append a = {.session = HOB_STR("a"), .epoch = 1, .after_seq = 1, .runs = &run};
    a.nruns = 1;
    assert_int_equal(rig_own(&r, s, "a", HOB_OWN_CREATE), 0);
    assert_int_equal(rig_append(&r, s, "a", 0, big), 0);
    assert_int_equal(rig_commit(&r, s, &a, 1), 0);
    assert_int_equal(rig_remove(&r, s, "a"), HOB_EBUSY);
    assert_int_equal(rig_release(&r, s, "a", 1), 0);
    assert_int_equal(rig_remove(&r, s, "a"), 0);
    assert_int_equal(rig_read(&r, s, "a", 0), HOB_ENOENT);
    assert_int_equal(rig_runs(&r, s, &(hob_store_query){0}), 0);
    assert_int_equal(r.last.n, 0);
    assert_int_equal(rig_own(&r, s, "a", HOB_OWN_CREATE), 0); /* the id is free again */
    assert_int_equal(r.last.rows->last_seq, 0);
    assert_int_equal(rig_append(&r, s, "a", 0, HOB_STR("{}")), 0);
    hob_free((void *)big.p);
}

/* ---- close --------------------------------------------------------------------------------- */

static void test_store_conformance__close_delivers_what_is_outstanding(void **state) {
    (void)state;
    answer a[8] = {0};
    hob_store_event e = {.seq = 1, .json = HOB_STR("{}")};
    hob_store_append ap = {.session = HOB_STR("a"), .epoch = 1, .events = &e, .nevents = 1};
    s->ops->own(s, HOB_STR("a"), HOB_OWN_CREATE, NULL, on_own, &a[0]);
    s->ops->commit(s, &(hob_store_batch){.appends = &ap, .nappends = 1}, on_done, &a[1]);
    s->ops->read(s, HOB_STR("a"), 0, 0, 0, on_events, &a[2]);
    s->ops->commit(s, &(hob_store_batch){.appends = &ap, .nappends = 1}, on_done, &a[3]);
    s->ops->sessions(s, &(hob_store_query){0}, on_sessions, &a[4]);
    s->ops->runs(s, &(hob_store_query){.session = HOB_STR("a")}, on_runs, &a[5]);
    s->ops->read(s, HOB_STR("a"), 0, 0, 0, on_events, &a[6]);
    s->ops->release(s, HOB_STR("a"), 1, on_done, &a[7]);
    s->ops->close(s);
    s = NULL;
    const int codes[] = {0, 0, 0, HOB_EEXIST, 0, 0, 0, 0};
    for (int i = 0; i < 8; i++) {
        assert_int_equal(a[i].calls, 1);
        assert_int_equal(a[i].code, codes[i]);
    }
    assert_int_equal(a[6].n, 1);
    for (int i = 0; i < 8; i++) answer_finish(&a[i]);
}

static answer inside;

static void close_inside(int code, const hob_error *err, const hob_store_session *row, void *user) {
    (void)err, (void)user;
    assert_int_equal(code, 0);
    s->ops->close(s);
    s = NULL;
    assert_int_equal(inside.calls, 1);
    assert_str(row->id, "a"); /* still valid */
}

static void test_store_conformance__a_callback_may_close(void **state) {
    (void)state;
    s->ops->own(s, HOB_STR("a"), HOB_OWN_CREATE, NULL, close_inside, NULL);
    inside = (answer){0};
    s->ops->sessions(s, &(hob_store_query){0}, on_sessions, &inside);
    while (s) hob_loop_run_once(r.loop, -1);
    answer_finish(&inside);
}

#define T(name) cmocka_unit_test_setup_teardown(test_store_conformance__##name, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        T(create_answers_the_row),
        T(create_fills_in_state_and_times),
        T(create_refuses_what_exists),
        T(absent_session_is_not_found),
        T(wrong_ids_and_flags_are_refused),
        T(own_again_keeps_the_epoch),
        T(reading_the_row_takes_nothing),
        T(a_released_session_is_fenced),
        T(a_live_owner_is_named),
        T(a_session_can_be_taken_after_close),
        T(events_come_back_in_order),
        T(a_wrong_seq_is_refused),
        T(several_sessions_all_or_nothing),
        T(a_refusal_hurts_nobody_else),
        T(an_empty_append_checks_the_epoch),
        T(a_row_update_leaves_what_is_empty),
        T(bodies_are_kept_byte_for_byte),
        T(odd_text_is_kept),
        T(too_large_is_refused),
        T(pages_by_count_and_by_bytes),
        T(answers_keep_the_order_of_calls),
        T(remove_takes_everything),
        T(close_delivers_what_is_outstanding),
        T(a_callback_may_close),
    };
    int failed = 0;
    for (size_t i = 0; i < HOB_ARRAY_LEN(openers); i++) {
        using = &openers[i];
        failed += cmocka_run_group_tests_name(using->name, tests, NULL, NULL);
    }
    return failed;
}
