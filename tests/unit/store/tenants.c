/*
 * Sessions and runs belong to an application and a user of it: lists of one tenant hold nothing of another's, and what
 * is another's is not there. On every store; and how SQLite finds them.
 */
#include "store/sqlite.h"
#include "support/stores.h"

#include <stdio.h>

static hob_store *(*open_store)(rig *r, const char *owner_name);
static rig r;
static hob_store *s;

static int set_up(void **state) {
    (void)state;
    rig_init(&r);
    s = open_store(&r, "host");
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    s->ops->close(s);
    rig_finish(&r);
    return 0;
}

static void make(const char *id, const char *app, const char *user, const char *parent) {
    static int64_t now = 1000;
    hob_store_session row = {.id = hob_str_z(id),
                             .app = hob_str_z(app),
                             .user = hob_str_z(user),
                             .cwd = HOB_STR("/w"),
                             .parent = hob_str_z(parent),
                             .child = *parent != 0};
    row.created_ms = row.updated_ms = ++now;
    assert_int_equal(rig_own_row(&r, s, HOB_OWN_CREATE, &row), 0);
    hob_store_run run = {.status = HOB_STR("running"), .started_ms = now};
    char name[32];
    snprintf(name, sizeof(name), "run-%s", id);
    run.id = hob_str_z(name);
    hob_store_append a = {.session = row.id, .epoch = 1, .runs = &run, .nruns = 1};
    assert_int_equal(rig_commit(&r, s, &a, 1), 0);
}

/* a1, a2 of ann; b1 of bob, who has a child; o1 of ann of another application. */
static void make_all(void) {
    make("a1", "app", "ann", "");
    make("b1", "app", "bob", "");
    make("b2", "app", "bob", "b1");
    make("a2", "app", "ann", "");
    make("o1", "other", "ann", "");
}

/* The ids of what is listed, in pages of one. */
static void assert_listed(hob_store_query q, const char *sessions, const char *runs) {
    const char *want[] = {sessions, runs};
    q.limit = 1;
    for (int i = 0; i < 2; i++) {
        hob_buf got;
        hob_buf_init(&got, 4096);
        q.cursor = HOB_STR_NULL;
        do {
            assert_int_equal((i ? rig_runs : rig_sessions)(&r, s, &q), 0);
            if (r.last.n) hob_buf_addc(&got, ' ');
            if (r.last.n) hob_buf_add(&got, i ? r.last.runs->id : r.last.rows->id);
            q.cursor = r.last.next;
        } while (q.cursor.n);
        assert_string_equal(hob_buf_z(&got), want[i]);
        hob_buf_finish(&got);
    }
}

static void test_store_tenants__lists_hold_nothing_of_others(void **state) {
    (void)state;
    hob_str app = HOB_STR("app"), ann = HOB_STR("ann"), bob = HOB_STR("bob");
    make_all();
    assert_listed((hob_store_query){.app = app, .user = ann}, " a2 a1", " run-a2 run-a1");
    assert_listed((hob_store_query){.app = app, .user = bob}, " b1", " run-b2 run-b1");
    assert_listed((hob_store_query){.app = app, .user = bob, .all = 1}, " b2 b1", " run-b2 run-b1");
    assert_listed((hob_store_query){.app = app}, " a2 b1 a1", " run-a2 run-b2 run-b1 run-a1");
    assert_listed((hob_store_query){.app = app, .all = 1}, " a2 b2 b1 a1",
                  " run-a2 run-b2 run-b1 run-a1");
    assert_listed((hob_store_query){.app = HOB_STR("none"), .user = ann}, "", "");
    hob_store_query here = {.app = app, .user = ann, .cwd = HOB_STR("/w")};
    assert_listed(here, " a2 a1", " run-a2 run-a1");
    hob_store_query children = {.app = app, .user = bob, .parent = HOB_STR("b1")};
    assert_listed(children, " b2", " run-b2 run-b1");
    children.user = ann;
    assert_listed(children, "", " run-a2 run-a1");
}

static void test_store_tenants__runs_by_tenant_and_status(void **state) {
    (void)state;
    make_all();
    hob_store_query q = {.app = HOB_STR("app"), .user = HOB_STR("ann")};
    q.status = HOB_STR("running");
    assert_listed(q, " a2 a1", " run-a2 run-a1");
    q.status = HOB_STR("failed");
    assert_listed(q, " a2 a1", "");
    q.status = HOB_STR_NULL;
    q.session = HOB_STR("b1"); /* not ann's */
    assert_listed(q, " a2 a1", "");
    q.user = HOB_STR("bob");
    assert_listed(q, " b1", " run-b1");
}

static void test_store_tenants__a_run_by_its_id(void **state) {
    (void)state;
    make_all();
    hob_store_query q = {.run = HOB_STR("run-b2")};
    assert_int_equal(rig_runs(&r, s, &q), 0);
    assert_int_equal(r.last.n, 1);
    assert_str(r.last.runs->session, "b2");
    assert_str(r.last.runs->app, "app");
    assert_str(r.last.runs->user, "bob");
    q.app = HOB_STR("app");
    q.user = HOB_STR("ann");
    assert_int_equal(rig_runs(&r, s, &q), 0);
    assert_int_equal(r.last.n, 0);
    q.run = HOB_STR("not/an/id");
    assert_int_equal(rig_runs(&r, s, &q), HOB_EINVAL);
}

static int own_for(const char *id, const char *user, int flags) {
    hob_store_session of = {
        .id = hob_str_z(id), .app = HOB_STR("app"), .user = hob_str_z(user), .cwd = HOB_STR("/x")};
    return rig_own_row(&r, s, flags, &of);
}

static void test_store_tenants__what_is_anothers_is_not_there(void **state) {
    (void)state;
    make_all();
    assert_int_equal(own_for("b1", "ann", HOB_OWN_READ), HOB_ENOENT);
    assert_int_equal(own_for("b1", "ann", 0), HOB_ENOENT);
    assert_int_equal(own_for("o1", "ann", 0), HOB_ENOENT);
    assert_int_equal(own_for("none", "ann", 0), HOB_ENOENT);
    assert_int_equal(own_for("b1", "bob", HOB_OWN_READ), 0);
    assert_str(r.last.rows->app, "app");
    assert_str(r.last.rows->user, "bob");
    assert_str(r.last.rows->cwd, "/w"); /* the rest of the row is for one that is made */
    assert_int_equal(own_for("b1", "", 0), 0);
    assert_int_equal(r.last.rows->epoch, 1);
    assert_int_equal(rig_own(&r, s, "b1", HOB_OWN_READ), 0); /* who names nobody sees all */
}

static void test_store_tenants__a_user_is_of_an_application(void **state) {
    (void)state;
    hob_store_query q = {.user = HOB_STR("ann")};
    assert_int_equal(rig_sessions(&r, s, &q), HOB_EINVAL);
    assert_int_equal(rig_runs(&r, s, &q), HOB_EINVAL);
}

static void test_store_tenants__a_row_stays_whose_it_was(void **state) {
    (void)state;
    make_all();
    hob_store_session change = {.app = HOB_STR("other"), .user = HOB_STR("eve")};
    change.created_ms = change.updated_ms = change.messages = -1;
    hob_store_append a = {.session = HOB_STR("a1"), .epoch = 1, .row = &change};
    assert_int_equal(rig_commit(&r, s, &a, 1), 0);
    assert_int_equal(rig_own(&r, s, "a1", HOB_OWN_READ), 0);
    assert_str(r.last.rows->app, "app");
    assert_str(r.last.rows->user, "ann");
}

/* ---- SQLite -------------------------------------------------------------------------------- */

static void sql(const char *text) {
    sqlite3 *db;
    char *why = NULL;
    assert_int_equal(sqlite3_open(r.path, &db), SQLITE_OK);
    if (sqlite3_exec(db, text, NULL, NULL, &why) != SQLITE_OK) fail_msg("%s", why);
    sqlite3_close(db);
}

static void say_first(const char *id, hob_str line) {
    assert_int_equal(rig_append(&r, s, id, 0, line), 0);
}

static void assert_whose(const char *id, const char *app, const char *user) {
    char run[32];
    assert_int_equal(rig_own(&r, s, id, HOB_OWN_READ), 0);
    assert_str(r.last.rows->app, app);
    assert_str(r.last.rows->user, user);
    snprintf(run, sizeof(run), "run-%s", id);
    assert_int_equal(rig_runs(&r, s, &(hob_store_query){.run = hob_str_z(run)}), 0);
    assert_str(r.last.runs->app, app);
    assert_str(r.last.runs->user, user);
}

/* A file of the hob before: whose a session is stands in its first event, or nowhere. */
static void test_store_tenants__an_older_file_learns_them_from_its_events(void **state) {
    (void)state;
    hob_buf longer;
    hob_buf_init(&longer, 1u << 20);
    hob_buf_addz(&longer, "{\"data\":{\"app_name\":\"far\",\"user_id\":\"\xC3\xBC\",\"text\":\"");
    for (int i = 0; i < 70000; i++) hob_buf_addc(&longer, 'x'); /* a blob */
    hob_buf_addz(&longer, "\"}}");
    make("named", "", "", "");
    say_first("named", HOB_STR("{\"seq\":1,\"data\":{\"app_name\":\"app\",\"user_id\":\"ann\"}}"));
    make("bare", "", "", "");
    say_first("bare", HOB_STR("{\"seq\":1,\"data\":{}}"));
    make("long", "", "", "");
    say_first("long", hob_buf_str(&longer));
    make("broken", "", "", "");
    say_first("broken", HOB_STR("{\"seq\":1,"));
    make("empty", "", "", "");
    s->ops->close(s);
    sql(RIG_DROP_TENANTS "PRAGMA user_version = 5");
    s = open_store(&r, "newer");
    assert_whose("named", "app", "ann");
    assert_whose("long", "far", "\xC3\xBC");
    assert_whose("bare", "hob", "local");
    assert_whose("broken", "hob", "local");
    assert_whose("empty", "hob", "local");
    hob_buf_finish(&longer);
}

#define T(name) cmocka_unit_test_setup_teardown(test_store_tenants__##name, set_up, tear_down)
#define ALL                                                                                        \
    T(lists_hold_nothing_of_others), T(runs_by_tenant_and_status), T(a_run_by_its_id),             \
        T(what_is_anothers_is_not_there), T(a_user_is_of_an_application),                          \
        T(a_row_stays_whose_it_was)

int main(void) {
    const struct CMUnitTest every[] = {ALL};
    const struct CMUnitTest sqlite[] = {ALL, T(an_older_file_learns_them_from_its_events)};
    open_store = rig_memory;
    int failed = cmocka_run_group_tests_name("memory", every, NULL, NULL);
    open_store = rig_sqlite;
    return failed + cmocka_run_group_tests_name("sqlite", sqlite, NULL, NULL);
}
