/*
 * The SQLite store and its file: versions, damage, permissions, links, blobs, the WAL, the lock.
 */
#include "store/sqlite.h"
#include "store/filelock.h"
#include "support/stores.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

static rig r;

static int set_up(void **state) {
    (void)state;
    rig_init(&r);
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    rig_finish(&r);
    return 0;
}

static void shut(hob_store *s) {
    s->ops->close(s);
}

/* A store with one session "a" of n events, closed. */
static void make_store(int n) {
    hob_store *s = rig_sqlite(&r, "maker");
    assert_int_equal(rig_own(&r, s, "a", HOB_OWN_CREATE), 0);
    hob_store_event *e = hob_alloc((size_t)n * sizeof(*e));
    char *json = hob_alloc((size_t)n * 32);
    for (int i = 0; i < n; i++) {
        int len = snprintf(json + i * 32, 32, "{\"marker\":\"event-%06d\"}", i);
        e[i] = (hob_store_event){(uint64_t)i + 1, hob_str_n(json + i * 32, (size_t)len)};
    }
    hob_store_append a = {.session = HOB_STR("a"), .epoch = 1, .events = e, .nevents = (size_t)n};
    assert_int_equal(rig_commit(&r, s, &a, 1), 0);
    hob_free(e);
    hob_free(json);
    shut(s);
}

static int64_t sql(const char *text) {
    sqlite3 *db;
    sqlite3_stmt *st;
    int64_t value = -1;
    assert_int_equal(sqlite3_open(r.path, &db), SQLITE_OK);
    while (*text) {
        if (sqlite3_prepare_v2(db, text, -1, &st, &text) != SQLITE_OK)
            fail_msg("%s: %s", text, sqlite3_errmsg(db));
        if (st && sqlite3_step(st) == SQLITE_ROW) value = sqlite3_column_int64(st, 0);
        sqlite3_finalize(st);
    }
    sqlite3_close(db); /* the last one: copies the WAL into the file */
    return value;
}

static hob_buf slurp(const char *path) {
    hob_buf b;
    ssize_t n;
    hob_buf_init(&b, 64u << 20);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    assert_true(fd >= 0);
    while ((n = read(fd, hob_buf_reserve(&b, 65536), 65536)) > 0) b.n += (size_t)n;
    close(fd);
    return b;
}

static void spew(const char *path, const hob_buf *b) {
    int fd = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, b->p, b->n), b->n);
    close(fd);
}

/* ---- life ---------------------------------------------------------------------------------- */

static void test_store_sqlite__everything_is_there_after_reopening(void **state) {
    (void)state;
    make_store(100);
    hob_store *s = rig_sqlite(&r, "again");
    assert_int_equal(rig_own(&r, s, "a", 0), 0);
    assert_int_equal(r.last.rows->last_seq, 100);
    assert_int_equal(r.last.rows->epoch, 2);
    assert_int_equal(rig_read(&r, s, "a", 0), 0);
    assert_int_equal(r.last.n, 100);
    assert_str(r.last.events[99].json, "{\"marker\":\"event-000099\"}");
    shut(s);
}

static void test_store_sqlite__works_without_a_pool(void **state) {
    (void)state;
    hob_store *s;
    hob_sqlite_opts o = {.path = hob_str_z(r.path)};
    assert_int_equal(hob_store_sqlite_open(r.loop, &o, &s, NULL), 0);
    assert_int_equal(rig_own(&r, s, "a", HOB_OWN_CREATE), 0);
    assert_int_equal(rig_append(&r, s, "a", 0, HOB_STR("{}")), 0);
    assert_int_equal(rig_read(&r, s, "a", 0), 0);
    assert_int_equal(r.last.n, 1);
    assert_int_equal(rig_sessions(&r, s, &(hob_store_query){0}), 0);
    assert_int_equal(r.last.n, 1);
    shut(s);
}

/* The pool goes away while it holds reads: they are answered all the same. */
static void test_store_sqlite__survives_its_pool(void **state) {
    (void)state;
    answer a[20] = {0};
    make_store(10);
    hob_store *s = rig_sqlite(&r, "");
    assert_int_equal(rig_read(&r, s, "a", 0), 0);
    for (int i = 0; i < 20; i++) s->ops->sessions(s, &(hob_store_query){0}, on_sessions, &a[i]);
    hob_pool_destroy(r.pool);
    r.pool = NULL;
    for (int i = 0; i < 20; i++) {
        rig_wait(&r, &a[i]);
        assert_int_equal(a[i].code, 0);
        answer_finish(&a[i]);
    }
    shut(s);
}

static void test_store_sqlite__the_path_must_be_one(void **state) {
    (void)state;
    hob_store *s;
    hob_error err;
    hob_sqlite_opts o = {.path = HOB_STR("")};
    assert_int_equal(hob_store_sqlite_open(r.loop, &o, &s, &err), HOB_EINVAL);
    o.path = HOB_STR("a\0b");
    assert_int_equal(hob_store_sqlite_open(r.loop, &o, &s, &err), HOB_EINVAL);
}

/* Opens the store and a session with that many file descriptors; 0, or the error. */
static int open_within(rlim_t fds, hob_error *err) {
    hob_store *s = NULL;
    hob_sqlite_opts o = {.path = hob_str_z(r.path)};
    struct rlimit old, few;
    getrlimit(RLIMIT_NOFILE, &old);
    few = (struct rlimit){fds, old.rlim_max};
    setrlimit(RLIMIT_NOFILE, &few);
    int code = hob_store_sqlite_open(r.loop, &o, &s, err);
    if (code >= 0) {
        code = rig_own(&r, s, "a", HOB_OWN_CREATE);
        *err = r.last.err;
        shut(s);
    }
    setrlimit(RLIMIT_NOFILE, &old);
    return code;
}

/* Whichever file is the one too many: the message says that, and blames no rights. */
static void test_store_sqlite__too_many_open_files(void **state) {
    (void)state;
    int lowest = open("/dev/null", O_RDONLY | O_CLOEXEC), failed = 0;
    hob_error err = {0};
    close(lowest);
    for (rlim_t fds = (rlim_t)lowest; open_within(fds, &err) < 0; fds++, failed++)
        if (!strcasestr(err.message, "too many open files") || strstr(err.message, "may write"))
            fail_msg("%s", err.message);
    assert_true(failed > 2);
}

/* ---- versions and damage ------------------------------------------------------------------- */

/* Opening fails with that code, for reads and writes alike; the file keeps every byte. */
static void assert_refused(int code, const char *why) {
    hob_buf before = slurp(r.path);
    hob_store *s = rig_sqlite(&r, "");
    assert_int_equal(rig_sessions(&r, s, &(hob_store_query){0}), code);
    assert_int_equal(rig_own(&r, s, "b", HOB_OWN_CREATE), code);
    if (!strstr(r.last.err.message, r.path) || !strstr(r.last.err.message, why))
        fail_msg("not said: %s: %s", why, r.last.err.message);
    assert_int_equal(rig_read(&r, s, "a", 0), code);
    shut(s);
    hob_buf after = slurp(r.path);
    assert_int_equal(before.n, after.n);
    assert_memory_equal(before.p, after.p, after.n);
    hob_buf_finish(&before);
    hob_buf_finish(&after);
}

static void test_store_sqlite__a_newer_version_is_refused_untouched(void **state) {
    (void)state;
    make_store(3);
    sql("PRAGMA user_version = 99");
    assert_refused(HOB_EVERSION, "newer");
    assert_int_equal(r.last.err.sub, 99);
}

/* What the first version made, this one reads, and lists. */
static void test_store_sqlite__a_file_of_version_1_is_stepped_up(void **state) {
    (void)state;
    make_store(3);
    sql(RIG_DROP_LATER
        "DROP INDEX session_updated; DROP INDEX session_cwd; DROP INDEX session_parent;"
        "ALTER TABLE session DROP COLUMN child; DROP TABLE snapshot; DROP TABLE snapshot_part;"
        "DROP TABLE state;"
        "CREATE INDEX session_updated ON session(updated_ms);"
        "CREATE INDEX session_cwd ON session(cwd, updated_ms);"
        "PRAGMA user_version = 1");
    hob_store *s = rig_sqlite(&r, "tester");
    assert_int_equal(rig_sessions(&r, s, &(hob_store_query){0}), 0);
    assert_int_equal(r.last.n, 1);
    assert_int_equal(rig_read(&r, s, "a", 0), 0);
    assert_int_equal(r.last.n, 3);
    shut(s);
}

static void test_store_sqlite__a_foreign_database_is_refused(void **state) {
    (void)state;
    sql("CREATE TABLE other(x)");
    assert_refused(HOB_ESTORE, "another program");
}

static void test_store_sqlite__a_broken_header_is_refused(void **state) {
    (void)state;
    make_store(3);
    sql("PRAGMA wal_checkpoint(TRUNCATE)");
    hob_buf b = slurp(r.path);
    memset(b.p, 'x', 100);
    spew(r.path, &b);
    hob_buf_finish(&b);
    assert_refused(HOB_ESTORE, "damaged");
}

static void test_store_sqlite__a_missing_table_is_refused(void **state) {
    (void)state;
    make_store(3);
    sql("DROP TABLE trash");
    assert_refused(HOB_ESTORE, "damaged");
}

static void test_store_sqlite__an_inconsistent_end_is_refused(void **state) {
    (void)state;
    make_store(3);
    sql("UPDATE head SET last_seq = 2");
    assert_refused(HOB_ESTORE, "damaged");
    sql("UPDATE head SET last_seq = 3; UPDATE event SET body = '{}' WHERE seq = 3");
    assert_refused(HOB_ESTORE, "damaged");
}

static void test_store_sqlite__a_cut_file_gives_no_garbage(void **state) {
    (void)state;
    make_store(2000);
    sql("PRAGMA wal_checkpoint(TRUNCATE)");
    hob_buf b = slurp(r.path);
    b.n = b.n / 2 / 4096 * 4096;
    spew(r.path, &b);
    hob_buf_finish(&b);
    hob_store *s = rig_sqlite(&r, "");
    assert_int_equal(rig_read(&r, s, "a", 0), HOB_ESTORE);
    shut(s);
}

static void test_store_sqlite__a_changed_byte_is_noticed(void **state) {
    (void)state;
    make_store(50);
    sql("PRAGMA wal_checkpoint(TRUNCATE)");
    hob_buf b = slurp(r.path);
    ptrdiff_t at = hob_str_find(hob_buf_str(&b), HOB_STR("event-000007"));
    assert_true(at > 0);
    b.p[at + 7] ^= 1;
    spew(r.path, &b);
    hob_buf_finish(&b);
    hob_store *s = rig_sqlite(&r, "");
    assert_int_equal(rig_read_some(&r, s, "a", 0, 7, 0), 0);
    assert_int_equal(rig_read(&r, s, "a", 0), HOB_ESTORE);
    assert_non_null(strstr(r.last.err.message, "not what was written"));
    assert_int_equal(rig_read(&r, s, "a", 8), 0); /* the rest can be had */
    shut(s);
}

static void test_store_sqlite__missing_events_are_noticed(void **state) {
    (void)state;
    make_store(5);
    sql("DELETE FROM event WHERE seq = 3");
    hob_store *s = rig_sqlite(&r, "");
    assert_int_equal(rig_read(&r, s, "a", 0), HOB_ESTORE);
    shut(s);
}

/* ---- permissions and links ----------------------------------------------------------------- */

static void assert_mode(const char *path, mode_t mode) {
    struct stat st;
    if (stat(path, &st) < 0) fail_msg("%s: %s", path, strerror(errno));
    if ((st.st_mode & 07777) != mode) fail_msg("%s: mode %o", path, st.st_mode & 07777);
}

static void test_store_sqlite__files_are_for_their_user_alone(void **state) {
    (void)state;
    char path[160];
    snprintf(path, sizeof(path), "%s/one/two", r.dir);
    snprintf(r.path, sizeof(r.path), "%s/one/two/hob.db", r.dir);
    mode_t before = umask(0);
    hob_store *s = rig_sqlite(&r, "");
    assert_int_equal(rig_own(&r, s, "a", HOB_OWN_CREATE), 0);
    umask(before);
    assert_mode(path, 0700);
    *strrchr(path, '/') = '\0';
    assert_mode(path, 0700);
    const char *ends[] = {"", "-wal", "-shm", ".lock"};
    for (size_t i = 0; i < HOB_ARRAY_LEN(ends); i++) {
        snprintf(path, sizeof(path), "%s%s", r.path, ends[i]);
        assert_mode(path, 0600);
    }
    snprintf(path, sizeof(path), "%s.owners", r.path);
    assert_mode(path, 0700);
    shut(s);
    assert_int_equal(rmdir(path), 0); /* the owner took its file with it */
}

static void test_store_sqlite__a_link_is_refused(void **state) {
    (void)state;
    char target[160];
    struct stat st;
    snprintf(target, sizeof(target), "%s/target", r.dir);
    assert_int_equal(symlink(target, r.path), 0);
    hob_store *s = rig_sqlite(&r, "");
    assert_int_equal(rig_own(&r, s, "a", HOB_OWN_CREATE), HOB_ESTORE);
    assert_non_null(strstr(r.last.err.message, "symbolic link"));
    assert_int_equal(r.last.err.sub, ELOOP);
    shut(s);
    assert_int_equal(stat(target, &st), -1);
}

/* ---- blobs --------------------------------------------------------------------------------- */

static void test_store_sqlite__equal_content_is_kept_once(void **state) {
    (void)state;
    char *p = hob_alloc(100000);
    hob_str big = hob_str_n(memset(p, 'x', 100000), 100000);
    hob_store *s = rig_sqlite(&r, "");
    assert_int_equal(rig_own(&r, s, "a", HOB_OWN_CREATE), 0);
    assert_int_equal(rig_own(&r, s, "b", HOB_OWN_CREATE), 0);
    assert_int_equal(rig_append(&r, s, "a", 0, big), 0);
    assert_int_equal(rig_append(&r, s, "a", 1, big), 0);
    assert_int_equal(rig_append(&r, s, "b", 0, big), 0);
    assert_int_equal(rig_append(&r, s, "b", 1, hob_str_first(big, 65536)), 0);
    shut(s);
    assert_int_equal(sql("SELECT count(*) FROM blob"), 1);
    assert_int_equal(sql("SELECT count(*) FROM event WHERE blob IS NULL"), 1);
    hob_free(p);
}

static int64_t left_of_a(void) {
    return sql("SELECT (SELECT count(*) FROM trash) + (SELECT count(*) FROM blob) + "
               "(SELECT count(*) FROM event WHERE session = 1)");
}

/* Events of a removed session are cleared away piece by piece, its blobs when nobody else has them. */
static void test_store_sqlite__a_removed_session_leaves_nothing(void **state) {
    (void)state;
    char *p = hob_alloc(70000);
    hob_str big = hob_str_n(memset(p, 'x', 70000), 70000);
    make_store(1000);
    hob_store *s = rig_sqlite(&r, "");
    assert_int_equal(rig_own(&r, s, "b", HOB_OWN_CREATE), 0);
    assert_int_equal(rig_append(&r, s, "b", 0, big), 0);
    assert_int_equal(rig_append(&r, s, "b", 1, HOB_STR("{}")), 0);
    assert_int_equal(rig_remove(&r, s, "a"), 0);
    assert_int_equal(rig_release(&r, s, "b", 1), 0);
    shut(s);
    assert_true(sql("SELECT count(*) FROM trash") <= 1);
    for (int i = 0; i < 1000 && left_of_a() > 1; i++) { /* whoever opens the file goes on */
        s = rig_sqlite(&r, "");
        assert_int_equal(rig_own(&r, s, "b", HOB_OWN_READ), 0);
        shut(s);
    }
    assert_int_equal(left_of_a(), 1); /* the blob of b */
    s = rig_sqlite(&r, "");
    assert_int_equal(rig_read(&r, s, "b", 0), 0);
    assert_int_equal(r.last.n, 2);
    assert_int_equal(rig_remove(&r, s, "b"), 0);
    shut(s);
    for (int i = 0; i < 1000 && left_of_a() > 0; i++) {
        s = rig_sqlite(&r, "");
        assert_int_equal(rig_own(&r, s, "b", HOB_OWN_READ), HOB_ENOENT);
        shut(s);
    }
    assert_int_equal(left_of_a(), 0);
    hob_free(p);
}

/* ---- the WAL and the lock ------------------------------------------------------------------ */

static void test_store_sqlite__the_wal_stays_short(void **state) {
    (void)state;
    char wal[128], *p = hob_alloc(60000);
    struct stat st;
    hob_store *s = rig_sqlite(&r, "");
    assert_int_equal(rig_own(&r, s, "a", HOB_OWN_CREATE), 0);
    for (uint64_t i = 0; i < 400; i++) /* 24 MB */
        assert_int_equal(rig_append(&r, s, "a", i, hob_str_n(memset(p, 'x', 60000), 60000)), 0);
    snprintf(wal, sizeof(wal), "%s-wal", r.path);
    assert_int_equal(stat(wal, &st), 0);
    assert_in_range(st.st_size, 1, 8 << 20);
    shut(s);
    hob_free(p);
}

/* Who opens the file next has little to read; a short one is not worth the fsync. */
static void test_store_sqlite__a_long_wal_is_not_left_behind(void **state) {
    (void)state;
    char wal[128], *p = hob_alloc(60000);
    struct stat st;
    uint64_t n = 0;
    snprintf(wal, sizeof(wal), "%s-wal", r.path);
    for (int round = 0; round < 2; round++) {
        hob_store *s = rig_sqlite(&r, "");
        assert_int_equal(rig_own(&r, s, "a", round ? 0 : HOB_OWN_CREATE), 0);
        for (int i = 0; i < (round ? 30 : 2); i++) { /* some 15 pages each */
            hob_store_event e = {n + 1, hob_str_n(memset(p, 'x', 60000), 60000)};
            hob_store_append a = {.session = HOB_STR("a"), .events = &e, .nevents = 1};
            a.epoch = (uint64_t)round + 1;
            a.after_seq = n++;
            assert_int_equal(rig_commit(&r, s, &a, 1), 0);
        }
        shut(s);
        assert_int_equal(stat(wal, &st), 0);
        assert_true((st.st_size == 0) == (round == 1));
    }
    hob_store *s = rig_sqlite(&r, "");
    assert_int_equal(rig_read(&r, s, "a", 0), 0);
    assert_int_equal(r.last.n, 32);
    shut(s);
    hob_free(p);
}

static void test_store_sqlite__a_stuck_lock_is_waited_for_but_not_for_ever(void **state) {
    (void)state;
    char path[128];
    hob_filelock other;
    hob_store *s;
    hob_sqlite_opts o = {.path = hob_str_z(r.path), .pool = r.pool, .lock_wait_ms = 50};
    assert_int_equal(hob_store_sqlite_open(r.loop, &o, &s, NULL), 0);
    assert_int_equal(rig_own(&r, s, "a", HOB_OWN_CREATE), 0);
    snprintf(path, sizeof(path), "%s.lock", r.path);
    assert_int_equal(hob_filelock_open(&other, path, NULL), 0);
    assert_int_equal(hob_filelock_take(&other, 1000, NULL), 0);
    assert_int_equal(rig_append(&r, s, "a", 0, HOB_STR("{}")), HOB_ESTORE);
    assert_int_equal(r.last.err.sub, ETIMEDOUT);
    assert_int_equal(rig_own(&r, s, "a", HOB_OWN_READ), 0); /* reading goes on */
    hob_filelock_drop(&other);
    assert_int_equal(rig_append(&r, s, "a", 0, HOB_STR("{}")), 0);
    hob_filelock_close(&other);
    shut(s);
}

#define T(name) cmocka_unit_test_setup_teardown(test_store_sqlite__##name, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        T(everything_is_there_after_reopening),
        T(works_without_a_pool),
        T(survives_its_pool),
        T(the_path_must_be_one),
        T(too_many_open_files),
        T(a_newer_version_is_refused_untouched),
        T(a_file_of_version_1_is_stepped_up),
        T(a_foreign_database_is_refused),
        T(a_broken_header_is_refused),
        T(a_missing_table_is_refused),
        T(an_inconsistent_end_is_refused),
        T(a_cut_file_gives_no_garbage),
        T(a_changed_byte_is_noticed),
        T(missing_events_are_noticed),
        T(files_are_for_their_user_alone),
        T(a_link_is_refused),
        T(equal_content_is_kept_once),
        T(a_removed_session_leaves_nothing),
        T(the_wal_stays_short),
        T(a_long_wal_is_not_left_behind),
        T(a_stuck_lock_is_waited_for_but_not_for_ever),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
