/* Values that sessions share, in every store: they change with the commit that says so, whole or not at all. */
#include "support/stores.h"

#include <signal.h>
#include <sqlite3.h>
#include <stdio.h>
#include <sys/wait.h>
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

#define SET(user_, key_, value_)                                                                   \
    {                                                                                              \
        .app = HOB_STR("hob"), .user = HOB_STR(user_), .key = HOB_STR(key_),                       \
        .value = HOB_STR(value_)                                                                   \
    }
#define REMOVE(user_, key_)                                                                        \
    { .app = HOB_STR("hob"), .user = HOB_STR(user_), .key = HOB_STR(key_), .removed = 1 }

static int put(uint64_t after, const hob_store_state *states, size_t n) {
    hob_store_event e = {.seq = after + 1, .json = HOB_STR("{}")};
    hob_store_append a = {.session = HOB_STR("a"), .epoch = 1, .after_seq = after};
    a.events = &e;
    a.nevents = 1;
    a.states = states;
    a.nstates = n;
    return rig_commit(&r, s, &a, 1);
}

/* "USER/KEY=VALUE …" */
static const char *seen(const char *app, const char *user) {
    static char text[512];
    int n = 0;
    assert_int_equal(rig_states(&r, s, app, user), 0);
    text[0] = 0;
    for (size_t i = 0; i < r.last.n; i++) {
        const hob_store_state *row = &r.last.states[i];
        assert_str(row->app, app);
        n += snprintf(text + n, sizeof(text) - (size_t)n, "%s%.*s/%.*s=%.*s", n ? " " : "",
                      HOB_FMT(row->user), HOB_FMT(row->key), HOB_FMT(row->value));
    }
    return text;
}

/* ---- every store --------------------------------------------------------------------------- */

static void test_store_state__none_at_first(void **state) {
    (void)state;
    assert_string_equal(seen("hob", "ann"), "");
}

static void test_store_state__of_the_application_and_of_the_user(void **state) {
    (void)state;
    const hob_store_state states[] = {SET("ann", "user:k", "1"), SET("", "app:b", "2"),
                                      SET("", "app:a", "null"), SET("bob", "user:k", "3")};
    assert_int_equal(put(0, states, 4), 0);
    assert_string_equal(seen("hob", "ann"), "/app:a=null /app:b=2 ann/user:k=1");
    assert_string_equal(seen("hob", "bob"), "/app:a=null /app:b=2 bob/user:k=3");
    assert_string_equal(seen("hob", "cy"), "/app:a=null /app:b=2");
    assert_string_equal(seen("other", "ann"), "");
}

static void test_store_state__the_later_one_counts(void **state) {
    (void)state;
    const hob_store_state first[] = {SET("", "app:a", "1"), SET("", "app:a", "2"),
                                     SET("", "app:b", "1")};
    const hob_store_state then[] = {REMOVE("", "app:a"), REMOVE("ann", "user:none"),
                                    SET("", "app:b", "{\"x\": [1]}")};
    assert_int_equal(put(0, first, 3), 0);
    assert_string_equal(seen("hob", "ann"), "/app:a=2 /app:b=1");
    assert_int_equal(put(1, then, 3), 0);
    assert_string_equal(seen("hob", "ann"), "/app:b={\"x\": [1]}");
}

static void test_store_state__a_refused_commit_changes_nothing(void **state) {
    (void)state;
    const hob_store_state states[] = {SET("", "app:a", "1")};
    assert_int_equal(put(7, states, 1), HOB_EEXIST);
    assert_string_equal(seen("hob", "ann"), "");
    assert_int_equal(put(0, &(hob_store_state){.key = HOB_STR("app:a")}, 1), HOB_EINVAL);
    assert_int_equal(rig_read(&r, s, "a", 0), 0);
    assert_int_equal(r.last.n, 0);
}

static void test_store_state__outlives_its_session(void **state) {
    (void)state;
    const hob_store_state states[] = {SET("", "app:a", "1")};
    assert_int_equal(put(0, states, 1), 0);
    assert_int_equal(rig_release(&r, s, "a", 1), 0);
    assert_int_equal(rig_remove(&r, s, "a"), 0);
    assert_string_equal(seen("hob", "ann"), "/app:a=1");
}

static void test_store_state__names_are_bytes(void **state) {
    (void)state;
    const hob_store_state odd = {.app = HOB_STR("o:t/a@v2"),
                                 .user = HOB_STR("  x '%"),
                                 .key = HOB_STR("user:\xc3\xa9"),
                                 .value = HOB_STR("\"\xc3\xa9\"")};
    assert_int_equal(put(0, &odd, 1), 0);
    assert_string_equal(seen("o:t/a@v2", "  x '%"), "  x '%/user:\xc3\xa9=\"\xc3\xa9\"");
    assert_string_equal(seen("o:t/a@v2", "x '%"), "");
    assert_int_equal(rig_states(&r, s, "", "ann"), HOB_EINVAL);
}

/* More than one chunk of rows. */
static void test_store_state__many(void **state) {
    (void)state;
    enum { N = 1000 };
    static hob_store_state states[N];
    static char keys[N][16];
    for (int i = 0; i < N; i++) {
        snprintf(keys[i], sizeof(keys[i]), "app:%04d", N - 1 - i);
        states[i] = (hob_store_state){.app = HOB_STR("hob"), .value = HOB_STR("1")};
        states[i].key = hob_str_z(keys[i]);
    }
    assert_int_equal(put(0, states, N), 0);
    assert_int_equal(rig_states(&r, s, "hob", "ann"), 0);
    assert_int_equal(r.last.n, N);
    for (size_t i = 0; i < N; i++) assert_str(r.last.states[i].key, keys[N - 1 - i]);
}

/* ---- the file ------------------------------------------------------------------------------- */

static void sql(const char *text) {
    sqlite3 *db;
    assert_int_equal(sqlite3_open(r.path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, text, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
}

static void test_store_state__an_older_file_gets_the_table(void **state) {
    (void)state;
    const hob_store_state states[] = {SET("", "app:a", "1")};
    s->ops->close(s);
    sql(RIG_DROP_LATER "DROP TABLE state; PRAGMA user_version = 3");
    s = open_store(&r, "again");
    assert_string_equal(seen("hob", "ann"), "");
    assert_int_equal(rig_own(&r, s, "a", 0), 0);
    hob_store_append a = {.session = HOB_STR("a"), .epoch = r.last.rows->epoch};
    a.states = states;
    a.nstates = 1;
    assert_int_equal(rig_commit(&r, s, &a, 1), 0);
    assert_string_equal(seen("hob", "ann"), "/app:a=1");
}

/* The process that is killed: one commit of an event and two values. */
static int live(const char *path) {
    const hob_store_state states[] = {SET("", "app:a", "1"), SET("ann", "user:b", "2")};
    rig_fork(&r);
    snprintf(r.path, sizeof(r.path), "%s", path);
    s = rig_sqlite(&r, "victim");
    if (rig_own(&r, s, "a", 0) < 0) return 2;
    hob_store_event e = {.seq = 1, .json = HOB_STR("{}")};
    hob_store_append a = {.session = HOB_STR("a"), .epoch = r.last.rows->epoch};
    a.events = &e;
    a.nevents = 1;
    a.states = states;
    a.nstates = 2;
    return rig_commit(&r, s, &a, 1) == 0 ? 0 : 3;
}

static int run_until(int point) {
    char at[48];
    int status;
    snprintf(at, sizeof(at), "HOB_CRASH_AT=%d", point);
    char *argv[] = {"state", r.path, NULL}, *envp[] = {at, "ASAN_OPTIONS=detect_leaks=0", NULL};
    pid_t pid = fork();
    if (pid == 0) {
        execve("/proc/self/exe", argv, envp);
        _exit(127);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    return status;
}

/* Killed at each point in turn: the event and the values are there, or neither. */
static void test_store_state__case_22_both_or_neither_after_a_crash(void **state) {
    (void)state;
    int killed = 0, point = 1;
    s->ops->close(s);
    for (bool there = false; !there; point++) {
        killed += WIFSIGNALED(run_until(point));
        s = open_store(&r, "after");
        const char *now = seen("hob", "ann");
        there = now[0] != 0;
        if (there) assert_string_equal(now, "/app:a=1 ann/user:b=2");
        assert_int_equal(rig_read(&r, s, "a", 0), 0);
        assert_int_equal(there, r.last.n == 1);
        s->ops->close(s);
        s = NULL;
        assert_true(point < 100);
    }
    assert_true(killed > 3);
}

#define T(name) cmocka_unit_test_setup_teardown(test_store_state__##name, set_up, tear_down)

int main(int argc, char **argv) {
    if (argc > 1) return live(argv[1]);
    const struct CMUnitTest both[] = {
        T(none_at_first),
        T(of_the_application_and_of_the_user),
        T(the_later_one_counts),
        T(a_refused_commit_changes_nothing),
        T(outlives_its_session),
        T(names_are_bytes),
        T(many),
    };
    const struct CMUnitTest file[] = {
        T(an_older_file_gets_the_table),
        T(case_22_both_or_neither_after_a_crash),
    };
    open_store = rig_memory;
    int failed = cmocka_run_group_tests_name("memory", both, NULL, NULL);
    open_store = rig_sqlite;
    failed += cmocka_run_group_tests_name("sqlite", both, NULL, NULL);
    return failed + cmocka_run_group_tests_name("sqlite file", file, NULL, NULL);
}
