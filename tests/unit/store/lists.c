/*
 * Listing sessions and runs, on every store; and that SQLite does it without reading events.
 */
#include "store/sqlite.h"
#include "support/stores.h"

#include <stdio.h>
#include <stdlib.h>

static hob_store *(*open_store)(rig *r, const char *owner_name);
static rig r;
static hob_store *s;

static int set_up(void **state) {
    (void)state;
    rig_init(&r);
    s = open_store(&r, "lister");
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    s->ops->close(s);
    rig_finish(&r);
    return 0;
}

/* Session i of n: updated at i / 3 (ties), every fourth in /b. All at once, without waiting. */
static void make_sessions(int n) {
    answer *a = hob_alloc((size_t)n * sizeof(*a));
    for (int i = 0; i < n; i++) {
        char id[16];
        snprintf(id, sizeof(id), "s%04d", i);
        hob_store_session row = {.cwd = i % 4 ? HOB_STR("/a") : HOB_STR("/b")};
        row.created_ms = 1000 + i;
        row.updated_ms = 1000 + i / 3;
        s->ops->own(s, hob_str_z(id), HOB_OWN_CREATE, &row, on_own, &a[i]);
    }
    for (int i = 0; i < n; i++) {
        rig_wait(&r, &a[i]);
        assert_int_equal(a[i].code, 0);
        answer_finish(&a[i]);
    }
    hob_free(a);
}

/* Pages through everything; returns how many there were, checks the order and that none comes twice. */
static int page_through(const char *cwd, size_t limit) {
    hob_store_query q = {.cwd = hob_str_z(cwd), .limit = limit};
    int64_t before = INT64_MAX;
    int last = 1 << 30, n = 0;
    do {
        assert_int_equal(rig_sessions(&r, s, &q), 0);
        assert_true(r.last.n <= (limit ? limit : 50));
        for (size_t i = 0; i < r.last.n; i++, n++) {
            const hob_store_session *row = &r.last.rows[i];
            int number = atoi(row->id.p + 1);
            assert_true(row->updated_ms <= before);
            assert_true(number < last); /* made in this order, and ties: newest first */
            if (*cwd) assert_str(row->cwd, cwd);
            before = row->updated_ms;
            last = number;
        }
        q.cursor = r.last.next;
    } while (q.cursor.n);
    return n;
}

static void test_store_lists__pages_a_thousand_sessions(void **state) {
    (void)state;
    make_sessions(1000);
    assert_int_equal(page_through("", 0), 1000);
    assert_int_equal(page_through("", 7), 1000);
    assert_int_equal(page_through("", 100000), 1000); /* at most 1000 a page */
    assert_int_equal(page_through("/b", 33), 250);
    assert_int_equal(page_through("/none", 0), 0);
}

static void test_store_lists__a_page_that_is_just_full_has_no_next(void **state) {
    (void)state;
    make_sessions(10);
    assert_int_equal(rig_sessions(&r, s, &(hob_store_query){.limit = 10}), 0);
    assert_int_equal(r.last.n, 10);
    assert_int_equal(r.last.next.n, 0);
    assert_int_equal(rig_sessions(&r, s, &(hob_store_query){.limit = 9}), 0);
    assert_int_equal(r.last.n, 9);
    assert_true(r.last.next.n > 0);
}

static void test_store_lists__rows_are_whole(void **state) {
    (void)state;
    hob_store_session row = {.id = HOB_STR("a"),
                             .cwd = HOB_STR("/w"),
                             .title = HOB_STR("t"),
                             .model = HOB_STR("m"),
                             .parent = HOB_STR("p"),
                             .messages = 2};
    assert_int_equal(rig_own_row(&r, s, HOB_OWN_CREATE, &row), 0);
    assert_int_equal(rig_append(&r, s, "a", 0, HOB_STR("{}")), 0);
    assert_int_equal(rig_sessions(&r, s, &(hob_store_query){0}), 0);
    assert_int_equal(r.last.n, 1);
    const hob_store_session *got = r.last.rows;
    assert_str(got->id, "a");
    assert_str(got->cwd, "/w");
    assert_str(got->title, "t");
    assert_str(got->model, "m");
    assert_str(got->parent, "p");
    assert_str(got->state, "idle");
    assert_true(got->owner.n > 0);
    assert_int_equal(got->last_seq, 1);
    assert_int_equal(got->epoch, 1);
    assert_int_equal(got->messages, 2);
}

static void test_store_lists__an_update_moves_to_the_top(void **state) {
    (void)state;
    make_sessions(20);
    hob_store_session change = {.created_ms = -1, .updated_ms = 5000, .messages = -1};
    hob_store_append a = {.session = HOB_STR("s0003"), .epoch = 1, .row = &change};
    assert_int_equal(rig_commit(&r, s, &a, 1), 0);
    assert_int_equal(rig_sessions(&r, s, &(hob_store_query){.limit = 1}), 0);
    assert_str(r.last.rows[0].id, "s0003");
}

static void test_store_lists__a_wrong_cursor_is_refused(void **state) {
    (void)state;
    const char *wrong[] = {"x", "1", "1.", ".1", "1.x", "99999999999999999999.1"};
    for (size_t i = 0; i < HOB_ARRAY_LEN(wrong); i++) {
        hob_store_query q = {.cursor = hob_str_z(wrong[i])};
        assert_int_equal(rig_sessions(&r, s, &q), HOB_EINVAL);
        assert_int_equal(rig_runs(&r, s, &q), HOB_EINVAL);
    }
}

static void make_child(const char *id, const char *parent) {
    hob_store_session row = {.id = hob_str_z(id), .parent = hob_str_z(parent), .child = 1};
    row.created_ms = row.updated_ms = 9000;
    assert_int_equal(rig_own_row(&r, s, HOB_OWN_CREATE, &row), 0);
}

static void test_store_lists__children_are_found_by_their_parent(void **state) {
    (void)state;
    make_sessions(2);
    make_child("c1", "s0000");
    make_child("c2", "s0001");
    make_child("c3", "s0000");
    assert_int_equal(page_through("", 0), 2); /* no child among them */
    hob_store_query of = {.parent = HOB_STR("s0000"), .limit = 1};
    assert_int_equal(rig_sessions(&r, s, &of), 0);
    assert_str(r.last.rows[0].id, "c3");
    assert_int_equal(r.last.rows[0].child, 1);
    of.cursor = r.last.next;
    assert_int_equal(rig_sessions(&r, s, &of), 0);
    assert_str(r.last.rows[0].id, "c1");
    assert_int_equal(r.last.next.n, 0);
    assert_int_equal(rig_sessions(&r, s, &(hob_store_query){.all = 1}), 0);
    assert_int_equal(r.last.n, 5);
    assert_str(r.last.rows[0].id, "c3");
    assert_str(r.last.rows[4].id, "s0000");
}

/* ---- runs ---------------------------------------------------------------------------------- */

static void put_run(const char *session, const hob_store_run *run) {
    hob_store_append a = {.session = hob_str_z(session), .epoch = 1, .runs = run, .nruns = 1};
    assert_int_equal(rig_commit(&r, s, &a, 1), 0);
}

static void test_store_lists__a_run_is_put_again_by_id(void **state) {
    (void)state;
    assert_int_equal(rig_own(&r, s, "a", HOB_OWN_CREATE), 0);
    assert_int_equal(rig_own(&r, s, "b", HOB_OWN_CREATE), 0);
    put_run("a", &(hob_store_run){.id = HOB_STR("r1"),
                                  .status = HOB_STR("running"),
                                  .prompt = HOB_STR("hello"),
                                  .started_ms = 10,
                                  .first_seq = 3});
    put_run("a", &(hob_store_run){.id = HOB_STR("r1"),
                                  .status = HOB_STR("failed"),
                                  .reason = HOB_STR("why"),
                                  .started_ms = -1,
                                  .finished_ms = 20,
                                  .last_seq = 9});
    assert_int_equal(rig_runs(&r, s, &(hob_store_query){0}), 0);
    assert_int_equal(r.last.n, 1);
    assert_str(r.last.runs->id, "r1");
    assert_str(r.last.runs->session, "a");
    assert_str(r.last.runs->status, "failed");
    assert_str(r.last.runs->reason, "why");
    assert_str(r.last.runs->prompt, "hello");
    assert_int_equal(r.last.runs->started_ms, 10);
    assert_int_equal(r.last.runs->finished_ms, 20);
    assert_int_equal(r.last.runs->first_seq, 3);
    assert_int_equal(r.last.runs->last_seq, 9);
    hob_store_run same = {.id = HOB_STR("r1"), .status = HOB_STR("running")};
    hob_store_append other = {.session = HOB_STR("b"), .epoch = 1, .runs = &same, .nruns = 1};
    assert_int_equal(rig_commit(&r, s, &other, 1), HOB_EEXIST); /* a run of another session */
    hob_store_run fresh = {.id = HOB_STR("r2"), .status = HOB_STR("running")};
    hob_store_append both[] = {{.session = HOB_STR("a"), .epoch = 1, .runs = &fresh, .nruns = 1},
                               {.session = HOB_STR("b"), .epoch = 1, .runs = &fresh, .nruns = 1}};
    assert_int_equal(rig_commit(&r, s, both, 2), HOB_EEXIST);
}

static void test_store_lists__a_run_that_continues_another_has_its_prompt(void **state) {
    (void)state;
    assert_int_equal(rig_own(&r, s, "a", HOB_OWN_CREATE), 0);
    assert_int_equal(rig_own(&r, s, "b", HOB_OWN_CREATE), 0);
    put_run("a",
            &(hob_store_run){.id = HOB_STR("r1"), .prompt = HOB_STR("hello"), .started_ms = 1});
    put_run("a",
            &(hob_store_run){.id = HOB_STR("r2"), .continues = HOB_STR("r1"), .started_ms = 2});
    put_run("a", &(hob_store_run){.id = HOB_STR("r3"),
                                  .continues = HOB_STR("r2"),
                                  .prompt = HOB_STR("and now"),
                                  .started_ms = 3});
    put_run("b", /* of another session: nothing is taken from there */
            &(hob_store_run){.id = HOB_STR("r4"), .continues = HOB_STR("r1"), .started_ms = 4});
    assert_int_equal(rig_runs(&r, s, &(hob_store_query){0}), 0);
    assert_int_equal(r.last.n, 4);
    assert_str(r.last.runs[0].prompt, "");
    assert_str(r.last.runs[1].prompt, "and now");
    assert_str(r.last.runs[2].prompt, "hello");
    assert_str(r.last.runs[3].prompt, "hello");
}

static int count_runs(const char *session, const char *status, size_t limit) {
    hob_store_query q = {.session = hob_str_z(session), .status = hob_str_z(status)};
    int64_t before = INT64_MAX;
    int n = 0;
    q.limit = limit;
    do {
        assert_int_equal(rig_runs(&r, s, &q), 0);
        for (size_t i = 0; i < r.last.n; i++, n++) {
            assert_true(r.last.runs[i].started_ms <= before);
            if (*session) assert_str(r.last.runs[i].session, session);
            if (*status) assert_str(r.last.runs[i].status, status);
            before = r.last.runs[i].started_ms;
        }
        q.cursor = r.last.next;
    } while (q.cursor.n);
    return n;
}

static void test_store_lists__runs_by_session_and_status(void **state) {
    (void)state;
    assert_int_equal(rig_own(&r, s, "a", HOB_OWN_CREATE), 0);
    assert_int_equal(rig_own(&r, s, "b", HOB_OWN_CREATE), 0);
    for (int i = 0; i < 40; i++) {
        char id[16];
        snprintf(id, sizeof(id), "r%d", i);
        hob_store_run run = {.id = hob_str_z(id), .started_ms = 100 + i / 2};
        run.status = i % 4 ? HOB_STR("completed") : HOB_STR("parked");
        put_run(i % 5 ? "a" : "b", &run);
    }
    assert_int_equal(count_runs("", "", 0), 40);
    assert_int_equal(count_runs("", "", 3), 40);
    assert_int_equal(count_runs("a", "", 5), 32);
    assert_int_equal(count_runs("b", "", 5), 8);
    assert_int_equal(count_runs("", "parked", 3), 10);
    assert_int_equal(count_runs("b", "parked", 1), 2);
    assert_int_equal(count_runs("none", "", 0), 0);
    assert_int_equal(count_runs("a", "none", 0), 0);
}

static void test_store_lists__a_run_without_an_end_names_who_holds_it(void **state) {
    (void)state;
    hob_store_query running = {.status = HOB_STR("running")};
    assert_int_equal(rig_own(&r, s, "a", HOB_OWN_CREATE), 0);
    put_run("a", &(hob_store_run){.id = HOB_STR("r1"), .status = HOB_STR("failed")});
    put_run("a", &(hob_store_run){.id = HOB_STR("r1"), .started_ms = 1, .finished_ms = 2});
    put_run("a", &(hob_store_run){.id = HOB_STR("r2"), .status = HOB_STR("running")});
    assert_int_equal(rig_runs(&r, s, &running), 0);
    assert_int_equal(r.last.n, 1);
    assert_true(r.last.runs->owner.n > 0);
    assert_int_equal(rig_runs(&r, s, &(hob_store_query){.status = HOB_STR("failed")}), 0);
    assert_int_equal(r.last.runs->owner.n, 0); /* nobody works on it any more */
    assert_int_equal(rig_release(&r, s, "a", 1), 0);
    assert_int_equal(rig_runs(&r, s, &running), 0);
    assert_int_equal(r.last.n, 1);
    assert_int_equal(r.last.runs->owner.n, 0);
}

/* ---- how SQLite does it -------------------------------------------------------------------- */

static void assert_plan(sqlite3 *db, int sql) {
    hob_buf text;
    sqlite3_stmt *st;
    hob_buf_init(&text, 4096);
    hob_buf_addf(&text, "EXPLAIN QUERY PLAN %s", hob_sqlite_sql(sql));
    assert_int_equal(sqlite3_prepare_v2(db, hob_buf_z(&text), -1, &st, NULL), SQLITE_OK);
    while (sqlite3_step(st) == SQLITE_ROW) {
        const char *step = (const char *)sqlite3_column_text(st, 3);
        if (strstr(step, "event") || strstr(step, "SCAN") || strstr(step, "TEMP B-TREE"))
            fail_msg("%s: %s", hob_sqlite_sql(sql), step);
        bool looks_up = strncmp(step, "SEARCH", 6) == 0;
        if (looks_up && !strstr(step, "INDEX") && !strstr(step, "INTEGER PRIMARY KEY"))
            fail_msg("%s: no index: %s", hob_sqlite_sql(sql), step);
    }
    sqlite3_finalize(st);
    hob_buf_finish(&text);
}

static void test_store_lists__sqlite_uses_an_index_and_no_events(void **state) {
    (void)state;
    const int lists[] = {HOB_SQL_SESSIONS,     HOB_SQL_SESSIONS_CWD,
                         HOB_SQL_SESSIONS_ALL, HOB_SQL_SESSIONS_OF,
                         HOB_SQL_RUNS,         HOB_SQL_RUNS_STATUS,
                         HOB_SQL_RUNS_SESSION, HOB_SQL_SESSIONS_TENANT,
                         HOB_SQL_RUNS_TENANT,  HOB_SQL_SESSIONS_TENANT_ALL,
                         HOB_SQL_RUN_BY_ID};
    make_sessions(1000);
    sqlite3 *db;
    assert_int_equal(sqlite3_open_v2(r.path, &db, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
    for (size_t i = 0; i < HOB_ARRAY_LEN(lists); i++) assert_plan(db, lists[i]);
    sqlite3_close(db);
}

/* A page in the middle costs what a page at the top costs, however many sessions there are. */
static void test_store_lists__sqlite_pages_by_key(void **state) {
    (void)state;
    make_sessions(1000);
    sqlite3 *db;
    sqlite3_stmt *st;
    assert_int_equal(sqlite3_open_v2(r.path, &db, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
    sqlite3_prepare_v2(db, hob_sqlite_sql(HOB_SQL_SESSIONS), -1, &st, NULL);
    int steps[2];
    for (int i = 0; i < 2; i++) {
        sqlite3_bind_int64(st, 1, i ? 1166 : INT64_MAX);
        sqlite3_bind_int64(st, 2, i ? 500 : INT64_MAX);
        sqlite3_bind_int64(st, 3, 51);
        while (sqlite3_step(st) == SQLITE_ROW) {
        }
        steps[i] = sqlite3_stmt_status(st, SQLITE_STMTSTATUS_VM_STEP, 1);
        assert_int_equal(sqlite3_stmt_status(st, SQLITE_STMTSTATUS_FULLSCAN_STEP, 1), 0);
        assert_int_equal(sqlite3_stmt_status(st, SQLITE_STMTSTATUS_SORT, 1), 0);
        sqlite3_reset(st);
    }
    assert_true(steps[1] < steps[0] + 100);
    sqlite3_finalize(st);
    sqlite3_close(db);
}

#define T(name) cmocka_unit_test_setup_teardown(test_store_lists__##name, set_up, tear_down)
#define ALL                                                                                        \
    T(pages_a_thousand_sessions), T(a_page_that_is_just_full_has_no_next), T(rows_are_whole),      \
        T(an_update_moves_to_the_top), T(a_wrong_cursor_is_refused), T(a_run_is_put_again_by_id),  \
        T(a_run_that_continues_another_has_its_prompt), T(runs_by_session_and_status),             \
        T(children_are_found_by_their_parent), T(a_run_without_an_end_names_who_holds_it)

int main(void) {
    const struct CMUnitTest every[] = {ALL};
    const struct CMUnitTest sqlite[] = {ALL, T(sqlite_uses_an_index_and_no_events),
                                        T(sqlite_pages_by_key)};
    open_store = rig_memory;
    int failed = cmocka_run_group_tests_name("memory", every, NULL, NULL);
    open_store = rig_sqlite;
    return failed + cmocka_run_group_tests_name("sqlite", sqlite, NULL, NULL);
}
