/*
 * Snapshots in every store: what a commit leaves is what recall gives back, with the events after it; and in the file
 * of the SQLite store: older files, damage, clearing away.
 */
#include "support/stores.h"

#include <fcntl.h>
#include <sqlite3.h>
#include <stdio.h>
#include <unistd.h>

static hob_store *(*open_store)(rig *r, const char *owner_name);
static rig r;
static hob_store *s;

static int set_up(void **state) {
    (void)state;
    rig_init(&r);
    s = open_store(&r, "first");
    assert_int_equal(rig_own(&r, s, "a", HOB_OWN_CREATE), 0);
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    if (s) s->ops->close(s);
    s = NULL;
    rig_finish(&r);
    return 0;
}

static void append(uint64_t from, uint64_t to) {
    char json[32];
    for (uint64_t seq = from; seq <= to; seq++) {
        snprintf(json, sizeof(json), "{\"n\":%llu}", (unsigned long long)seq);
        assert_int_equal(rig_append(&r, s, "a", seq - 1, hob_str_z(json)), 0);
    }
}

static int put(uint64_t last, const hob_store_snapshot *snap) {
    hob_store_append a = {.session = HOB_STR("a"), .epoch = 1, .after_seq = last, .snapshot = snap};
    return rig_commit(&r, s, &a, 1);
}

/* "SEQ AFTER HEAD|PART|…: first event .. n, more", or "none: …" */
static const char *recalled(size_t limit) {
    static char text[256];
    assert_int_equal(rig_recall(&r, s, "a", limit), 0);
    const hob_store_snapshot *snap = r.last.snapshot;
    int n = 0, size = sizeof(text);
    if (!snap)
        n = snprintf(text, sizeof(text), "none");
    else
        n = snprintf(text, sizeof(text), "%d %d %.*s", (int)snap->seq, (int)snap->after,
                     HOB_FMT(snap->head));
    for (size_t i = 0; snap && i < snap->nparts; i++)
        n += snprintf(text + n, (size_t)(size - n), "|%.*s", HOB_FMT(snap->parts[i]));
    snprintf(text + n, (size_t)(size - n), ": %d+%d%s", r.last.n ? (int)r.last.events[0].seq : 0,
             (int)r.last.n, r.last.more ? " more" : "");
    return text;
}

/* ---- every store --------------------------------------------------------------------------- */

static void test_store_snapshot__none_is_the_whole_log(void **state) {
    (void)state;
    append(1, 3);
    assert_string_equal(recalled(0), "none: 1+3");
    assert_string_equal(recalled(2), "none: 1+2 more");
    assert_int_equal(rig_recall(&r, s, "b", 0), HOB_ENOENT);
}

static void test_store_snapshot__comes_with_the_events_after_it(void **state) {
    (void)state;
    hob_str parts[] = {HOB_STR("one"), HOB_STR("")};
    append(1, 5);
    assert_int_equal(
        put(5,
            &(hob_store_snapshot){
                .seq = 4, .after = 3, .head = HOB_STR("h"), .parts = parts, .nparts = 2}),
        0);
    assert_string_equal(recalled(0), "4 3 h|one|: 4+2");
    append(6, 6);
    assert_string_equal(recalled(2), "4 3 h|one|: 4+2 more");
}

static void test_store_snapshot__the_head_is_replaced_and_parts_are_added(void **state) {
    (void)state;
    hob_str one = HOB_STR("one"), two = HOB_STR("two");
    hob_store_snapshot snap = {.seq = 1, .head = HOB_STR("h1"), .parts = &one, .nparts = 1};
    append(1, 2);
    assert_int_equal(put(2, &snap), 0);
    snap = (hob_store_snapshot){
        .seq = 2, .after = 2, .head = HOB_STR("h2"), .parts = &two, .nparts = 1};
    assert_int_equal(put(2, &snap), 0);
    assert_string_equal(recalled(0), "2 2 h2|one|two: 0+0");
    snap.nparts = 0;
    assert_int_equal(put(2, &snap), 0);
    assert_string_equal(recalled(0), "2 2 h2|one|two: 0+0");
    snap.restart = 1;
    snap.nparts = 1;
    assert_int_equal(put(2, &snap), 0);
    assert_string_equal(recalled(0), "2 2 h2|two: 0+0");
}

static void test_store_snapshot__is_fenced_like_events(void **state) {
    (void)state;
    hob_store_snapshot snap = {.seq = 1, .head = HOB_STR("h")};
    hob_store_append a = {.session = HOB_STR("a"), .epoch = 7, .after_seq = 1, .snapshot = &snap};
    append(1, 1);
    assert_int_equal(rig_commit(&r, s, &a, 1), HOB_EFENCED);
    assert_int_equal(put(0, &snap), HOB_EINVAL); /* stands behind the end */
    snap.seq = 0;
    assert_int_equal(put(0, &snap), HOB_EEXIST);
    snap.after = 1;
    assert_int_equal(put(1, &snap), HOB_EINVAL);
    assert_string_equal(recalled(0), "none: 1+1");
}

static void test_store_snapshot__goes_with_its_session(void **state) {
    (void)state;
    hob_str part = HOB_STR("p");
    append(1, 1);
    assert_int_equal(
        put(1, &(hob_store_snapshot){.seq = 1, .head = HOB_STR("h"), .parts = &part, .nparts = 1}),
        0);
    assert_int_equal(rig_release(&r, s, "a", 1), 0);
    assert_int_equal(rig_remove(&r, s, "a"), 0);
    assert_int_equal(rig_own(&r, s, "a", HOB_OWN_CREATE), 0);
    append(1, 1);
    assert_string_equal(recalled(0), "none: 1+1");
}

static void test_store_snapshot__bytes_are_bytes(void **state) {
    (void)state;
    char odd[300];
    for (size_t i = 0; i < sizeof(odd); i++) odd[i] = (char)i;
    hob_str part = hob_str_n(odd, sizeof(odd));
    append(1, 1);
    assert_int_equal(
        put(1, &(hob_store_snapshot){.seq = 1, .head = part, .parts = &part, .nparts = 1}), 0);
    assert_int_equal(rig_recall(&r, s, "a", 0), 0);
    assert_true(hob_str_eq(r.last.snapshot->head, part));
    assert_true(hob_str_eq(r.last.snapshot->parts[0], part));
}

/* ---- the file ------------------------------------------------------------------------------ */

static void sql(const char *text) {
    sqlite3 *db;
    assert_int_equal(sqlite3_open(r.path, &db), SQLITE_OK);
    char *why = NULL;
    if (sqlite3_exec(db, text, NULL, NULL, &why) != SQLITE_OK) fail_msg("%s: %s", text, why);
    sqlite3_close(db);
}

static void shut(void) {
    s->ops->close(s);
    s = NULL;
}

static void test_store_snapshot__an_older_file_gets_the_tables(void **state) {
    (void)state;
    append(1, 2);
    shut();
    sql(RIG_DROP_LATER
        "DROP TABLE snapshot; DROP TABLE snapshot_part; DROP TABLE state; PRAGMA user_version = 2");
    s = open_store(&r, "again");
    assert_string_equal(recalled(0), "none: 1+2");
    assert_int_equal(rig_own(&r, s, "a", 0), 0);
    hob_store_snapshot snap = {.seq = 2, .after = 1, .head = HOB_STR("h")};
    hob_store_append a = {.session = HOB_STR("a"), .epoch = 2, .after_seq = 2, .snapshot = &snap};
    assert_int_equal(rig_commit(&r, s, &a, 1), 0);
    assert_string_equal(recalled(0), "2 1 h: 2+1");
}

static void test_store_snapshot__nonsense_in_its_row_is_none(void **state) {
    (void)state;
    append(1, 2);
    assert_int_equal(put(2, &(hob_store_snapshot){.seq = 2, .after = 1, .head = HOB_STR("h")}), 0);
    sql("UPDATE snapshot SET after = 3");
    assert_string_equal(recalled(0), "none: 1+2");
    sql("UPDATE snapshot SET after = -1");
    assert_string_equal(recalled(0), "none: 1+2");
}

/* A long part lies in a chain of pages, each with the number of the next one in front. */
static void tear_a_page(void) {
    char page[4096];
    int fd = open(r.path, O_RDWR | O_CLOEXEC), torn = 0;
    for (off_t at = 0; pread(fd, page, sizeof(page), at) == sizeof(page); at += 4096) {
        if (memcmp(page + 100, "qqqqqqqq", 8) != 0) continue;
        torn += pwrite(fd, "\xff\xff\xff\xff", 4, at) == 4;
    }
    close(fd);
    assert_true(torn > 10);
}

/* Its parts are far away from the events: a hole there costs the snapshot and nothing else. */
static void test_store_snapshot__a_damaged_page_costs_only_the_snapshot(void **state) {
    (void)state;
    char *big = hob_alloc(200000);
    memset(big, 'q', 200000);
    hob_str part = hob_str_n(big, 200000);
    append(1, 2);
    assert_int_equal(
        put(2,
            &(hob_store_snapshot){
                .seq = 2, .after = 1, .head = HOB_STR("h"), .parts = &part, .nparts = 1}),
        0);
    hob_free(big);
    shut();
    sql("PRAGMA wal_checkpoint(TRUNCATE)");
    tear_a_page();
    s = open_store(&r, "again");
    assert_string_equal(recalled(0), "none: 1+2");
}

static int count(const char *text) {
    sqlite3 *db;
    sqlite3_stmt *st;
    assert_int_equal(sqlite3_open(r.path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_prepare_v2(db, text, -1, &st, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_step(st), SQLITE_ROW);
    int n = sqlite3_column_int(st, 0);
    sqlite3_finalize(st);
    sqlite3_close(db);
    return n;
}

/* Between groups: each call that changes nothing gives the writer another turn. */
static void test_store_snapshot__removing_clears_the_parts_away(void **state) {
    (void)state;
    hob_str part = HOB_STR("p");
    append(1, 1);
    assert_int_equal(
        put(1, &(hob_store_snapshot){.seq = 1, .head = HOB_STR("h"), .parts = &part, .nparts = 1}),
        0);
    assert_int_equal(rig_release(&r, s, "a", 1), 0);
    assert_int_equal(rig_remove(&r, s, "a"), 0);
    for (int i = 0; i < 10000 && count("SELECT count(*) FROM trash"); i++)
        rig_release(&r, s, "none", 1);
    assert_int_equal(count("SELECT (SELECT count(*) FROM snapshot) + "
                           "(SELECT count(*) FROM snapshot_part) + (SELECT count(*) FROM trash)"),
                     0);
}

#define T(name) cmocka_unit_test_setup_teardown(test_store_snapshot__##name, set_up, tear_down)

int main(void) {
    const struct CMUnitTest both[] = {
        T(none_is_the_whole_log),
        T(comes_with_the_events_after_it),
        T(the_head_is_replaced_and_parts_are_added),
        T(is_fenced_like_events),
        T(goes_with_its_session),
        T(bytes_are_bytes),
    };
    const struct CMUnitTest file[] = {
        T(an_older_file_gets_the_tables),
        T(nonsense_in_its_row_is_none),
        T(a_damaged_page_costs_only_the_snapshot),
        T(removing_clears_the_parts_away),
    };
    open_store = rig_memory;
    int failed = cmocka_run_group_tests_name("memory", both, NULL, NULL);
    open_store = rig_sqlite;
    failed += cmocka_run_group_tests_name("sqlite", both, NULL, NULL);
    return failed + cmocka_run_group_tests_name("sqlite file", file, NULL, NULL);
}
