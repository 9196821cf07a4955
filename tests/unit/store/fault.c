/*
 * A disk that fails at the n-th write, sync, truncate or read, for every n: once, and for good.
 *
 * Whatever happens: nothing acknowledged is lost, nothing that is there is wrong, and the store goes on
 * (or can be opened again) as soon as the disk works.
 */
/* ctest: timeout=600 */
#include "support/faulty_vfs.h"
#include "support/stores.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

static rig r;
static char body[1 << 20];
static bool large; /* enough for a checkpoint, else only a few events */

/* Small ones, and blobs. */
static hob_str event(uint64_t seq) {
    size_t n = seq % 3 ? 100 : large ? sizeof(body) - 100 : 70000;
    return hob_str_n(body + seq, n);
}

/* What a session does after a failed commit: ask the store where it stands. At most the event that was
 * under way may be there besides what was acknowledged. */
static bool refresh(hob_store *s, uint64_t *acknowledged, uint64_t *epoch) {
    if (rig_own(&r, s, "a", 0) < 0) return false;
    assert_in_range(r.last.rows->last_seq, *acknowledged, *acknowledged + 1);
    *acknowledged = r.last.rows->last_seq;
    *epoch = r.last.rows->epoch;
    return true;
}

static int append(hob_store *s, uint64_t seq, uint64_t epoch) {
    hob_store_event e = {.seq = seq, .json = event(seq)};
    hob_store_append a = {.session = HOB_STR("a"), .epoch = epoch, .after_seq = seq - 1};
    hob_store_snapshot snap = {.seq = seq, .head = event(seq), .parts = &e.json, .nparts = 1};
    snap.restart = seq % 3 == 0;
    a.events = &e;
    a.nevents = 1;
    a.snapshot = &snap;
    return rig_commit(&r, s, &a, 1);
}

static uint64_t work(hob_store *s, uint64_t *epoch) {
    uint64_t acknowledged = 0;
    if (rig_own(&r, s, "a", HOB_OWN_CREATE) < 0) {
        assert_int_equal(r.last.code, HOB_ESTORE);
        return 0;
    }
    *epoch = 1;
    for (int i = 0; i < (large ? 16 : 7); i++) {
        if (append(s, acknowledged + 1, *epoch) >= 0) {
            acknowledged++;
            continue;
        }
        assert_int_equal(r.last.code, HOB_ESTORE);
        refresh(s, &acknowledged, epoch);
    }
    return acknowledged;
}

/* The disk works again: the same store goes on, unless it could not be opened at all. */
static void go_on(hob_store *s, uint64_t *acknowledged, uint64_t *epoch) {
    int code = rig_own(&r, s, "a", 0);
    if (code == HOB_ENOENT) code = rig_own(&r, s, "a", HOB_OWN_CREATE);
    if (code < 0 && *acknowledged == 0) return; /* its opening had failed */
    assert_int_equal(code, 0);
    assert_true(refresh(s, acknowledged, epoch));
    assert_int_equal(append(s, *acknowledged + 1, *epoch), 0);
    ++*acknowledged;
}

static void assert_log(uint64_t acknowledged) {
    hob_store *s = rig_sqlite(&r, "later");
    int code = rig_own(&r, s, "a", HOB_OWN_READ);
    uint64_t last = code < 0 ? 0 : r.last.rows->last_seq;
    if (code < 0) assert_int_equal(code, HOB_ENOENT);
    assert_in_range(last, acknowledged, acknowledged + 1);
    for (uint64_t at = 0; at < last; at += r.last.n) {
        assert_int_equal(rig_read(&r, s, "a", at), 0);
        for (size_t i = 0; i < r.last.n; i++) {
            hob_str expected = event(at + i + 1);
            assert_int_equal(r.last.events[i].json.n, expected.n);
            assert_memory_equal(r.last.events[i].json.p, expected.p, expected.n);
        }
    }
    if (last) {
        assert_int_equal(rig_recall(&r, s, "a", 0), 0);
        assert_non_null(r.last.snapshot);
        assert_int_equal(r.last.snapshot->seq, last);
        assert_true(hob_str_eq(r.last.snapshot->head, event(last)));
        assert_int_equal(r.last.snapshot->nparts, last < 3 ? last : last % 3 + 1);
    }
    s->ops->close(s);
    sqlite3 *db;
    sqlite3_stmt *st;
    assert_int_equal(sqlite3_open_v2(r.path, &db, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_prepare_v2(db, "PRAGMA integrity_check", -1, &st, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_step(st), SQLITE_ROW);
    assert_string_equal((const char *)sqlite3_column_text(st, 0), "ok");
    sqlite3_finalize(st);
    sqlite3_close(db);
}

/* One life with the n-th call failing; false when there was no n-th call. */
static bool live(const faulty_plan *p) {
    uint64_t epoch = 0;
    rig_init_fast(&r);
    faulty_arm(p);
    hob_store *s = rig_sqlite(&r, "first");
    uint64_t acknowledged = work(s, &epoch);
    int hits = faulty_disarm();
    if (hits) go_on(s, &acknowledged, &epoch);
    s->ops->close(s);
    assert_log(acknowledged);
    rig_finish(&r);
    return hits > 0;
}

/* Every n at first, where the file is made, then every few; more of them with HOB_LONG=1. */
static int step(int nth) {
    if (getenv("HOB_LONG")) return large ? 1 + nth / 32 : 1;
    return 1 + nth / (large ? 2 : 10);
}

static void at_every(faulty_call call, int code) {
    int points = 0;
    for (int kind = 0; kind < 4; kind++) {
        faulty_plan p = {.call = call, .code = code, .nth = 1, .forever = kind & 1};
        large = kind & 2;
        while (live(&p)) {
            points++;
            p.nth += step(p.nth);
        }
    }
    print_message("%d points\n", points);
    assert_true(points > 0);
}

static void test_store_fault__writes_fail(void **state) {
    (void)state;
    at_every(FAULTY_WRITE, SQLITE_IOERR_WRITE);
}

static void test_store_fault__the_disk_is_full(void **state) {
    (void)state;
    at_every(FAULTY_WRITE, SQLITE_FULL);
}

static void test_store_fault__syncs_fail(void **state) {
    (void)state;
    at_every(FAULTY_SYNC, SQLITE_IOERR_FSYNC);
}

static void test_store_fault__truncates_fail(void **state) {
    (void)state;
    at_every(FAULTY_TRUNCATE, SQLITE_IOERR_TRUNCATE);
}

static void test_store_fault__reads_fail(void **state) {
    (void)state;
    at_every(FAULTY_READ, SQLITE_IOERR_READ);
}

/* After a failed fsync the next commit stands on pages that were written and synced anew. */
static void test_store_fault__a_failed_sync_starts_the_wal_anew(void **state) {
    (void)state;
    struct stat before, after;
    rig_init_fast(&r);
    large = false;
    hob_store *s = rig_sqlite(&r, "first");
    assert_int_equal(rig_own(&r, s, "a", HOB_OWN_CREATE), 0);
    for (uint64_t seq = 1; seq < 6; seq++) assert_int_equal(append(s, seq, 1), 0);
    assert_int_equal(stat(r.path, &before), 0); /* everything is in the WAL */
    faulty_arm(&(faulty_plan){FAULTY_SYNC, SQLITE_IOERR_FSYNC, 1, false});
    assert_int_equal(append(s, 6, 1), HOB_ESTORE);
    assert_int_equal(faulty_disarm(), 1);
    assert_int_equal(rig_own(&r, s, "a", 0), 0);
    assert_int_equal(append(s, r.last.rows->last_seq + 1, 1), 0);
    assert_int_equal(stat(r.path, &after), 0);
    assert_true(after.st_size > before.st_size + 70000);
    s->ops->close(s);
    rig_finish(&r);
}

int main(void) {
    for (size_t i = 0; i < sizeof(body); i++) body[i] = (char)('a' + i % 23);
    faulty_install();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_store_fault__writes_fail),
        cmocka_unit_test(test_store_fault__the_disk_is_full),
        cmocka_unit_test(test_store_fault__syncs_fail),
        cmocka_unit_test(test_store_fault__truncates_fail),
        cmocka_unit_test(test_store_fault__reads_fail),
        cmocka_unit_test(test_store_fault__a_failed_sync_starts_the_wal_anew),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
