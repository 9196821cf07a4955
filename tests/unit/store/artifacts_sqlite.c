/* Artifacts in a file: crashes, faults, blobs, damage, two processes, an older file. */
/* ctest: timeout=600 */
#include "store/sqlite_sql.h"
#include "support/faulty_vfs.h"
#include "support/stores.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static rig r;
static hob_store *s;
static char body[200000];

static int set_up(void **state) {
    (void)state;
    rig_init_fast(&r);
    s = rig_sqlite(&r, "first");
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

static const hob_store_artifact_query where = {
    .app = {"hob", 3}, .user = {"ann", 3}, .session = {"a", 1}};

/* Small ones, and blobs that differ by version. */
static hob_str content(int64_t version) {
    return hob_str_n(body + version, version % 2 ? 100000 : 100);
}

/* The two steps of a save; the code of the one that failed. */
static int save(hob_store *in, const char *name, uint64_t after, uint64_t epoch) {
    hob_str names[] = {hob_str_z(name)};
    int rc = rig_claim(&r, in, &where, names, 1);
    if (rc < 0) return rc;
    hob_store_artifact a = {.app = where.app,
                            .user = where.user,
                            .name = names[0],
                            .version = r.last.versions[0],
                            .bytes = content(r.last.versions[0])};
    hob_store_event e = {.seq = after + 1, .json = HOB_STR("{}")};
    hob_store_append ap = {.session = HOB_STR("a"), .epoch = epoch, .after_seq = after};
    ap.events = &e;
    ap.nevents = 1;
    ap.artifacts = &a;
    ap.nartifacts = 1;
    return rig_commit(&r, in, &ap, 1);
}

static int drop(const char *name, uint64_t after) {
    hob_store_artifact a = {.app = where.app, .user = where.user, .removed = 1};
    hob_store_append ap = {.session = HOB_STR("a"), .epoch = 1, .after_seq = after};
    a.name = hob_str_z(name);
    ap.artifacts = &a;
    ap.nartifacts = 1;
    return rig_commit(&r, s, &ap, 1);
}

static int64_t sql(const char *text) {
    sqlite3 *db;
    sqlite3_stmt *st;
    int64_t got = -1;
    assert_int_equal(sqlite3_open(r.path, &db), SQLITE_OK);
    for (const char *rest = text; *rest;) {
        assert_int_equal(sqlite3_prepare_v2(db, rest, -1, &st, &rest), SQLITE_OK);
        if (sqlite3_step(st) == SQLITE_ROW) got = sqlite3_column_int64(st, 0);
        sqlite3_finalize(st);
    }
    sqlite3_close(db);
    return got;
}

/* All versions of f are there, 0 … n-1, as they were written. */
static size_t count(hob_store *in) {
    hob_store_artifact_query q = where;
    q.want = HOB_STORE_VERSIONS;
    q.name = HOB_STR("f");
    int rc = rig_artifacts(&r, in, &q);
    if (rc == HOB_ENOENT) return 0;
    assert_int_equal(rc, 0);
    size_t n = r.last.n;
    q.want = HOB_STORE_ARTIFACT;
    for (q.version = 0; q.version < (int64_t)n; q.version++) {
        assert_int_equal(rig_artifacts(&r, in, &q), 0);
        assert_true(hob_str_eq(r.last.artifacts[0].bytes, content(q.version)));
    }
    return n;
}

static void close_store(void) {
    s->ops->close(s);
    s = NULL;
}

/* ---- the file ------------------------------------------------------------------------------ */

static void test_store_artifacts_sqlite__an_older_file_gets_the_table(void **state) {
    (void)state;
    close_store();
    sql(RIG_DROP_SEARCH "DROP TABLE artifact; PRAGMA user_version = 6");
    s = rig_sqlite(&r, "second");
    assert_int_equal(rig_own(&r, s, "a", 0), 0);
    assert_int_equal(save(s, "f", 0, 2), 0);
    assert_int_equal(count(s), 1);
}

static void test_store_artifacts_sqlite__lists_use_the_index(void **state) {
    (void)state;
    const int all[] = {
        HOB_SQL_ARTIFACT_NEXT,     HOB_SQL_ARTIFACT_COUNT,      HOB_SQL_ARTIFACT_CLAIMS,
        HOB_SQL_ARTIFACT_THERE,    HOB_SQL_ARTIFACT_DELETE,     HOB_SQL_ARTIFACT_NAMES,
        HOB_SQL_ARTIFACT_VERSIONS, HOB_SQL_ARTIFACT_ONE,        HOB_SQL_ARTIFACT_NEWEST,
        HOB_SQL_TRASH_ARTIFACTS,   HOB_SQL_ARTIFACT_UNCLAIM_ALL};
    sqlite3 *db;
    sqlite3_stmt *st;
    char text[1024];
    assert_int_equal(sqlite3_open(r.path, &db), SQLITE_OK);
    for (size_t i = 0; i < HOB_ARRAY_LEN(all); i++) {
        snprintf(text, sizeof text, "EXPLAIN QUERY PLAN %s", hob_sqlite_sql(all[i]));
        assert_int_equal(sqlite3_prepare_v2(db, text, -1, &st, NULL), SQLITE_OK);
        while (sqlite3_step(st) == SQLITE_ROW) {
            const char *step = (const char *)sqlite3_column_text(st, 3);
            bool scans = strstr(step, "SCAN artifact") || strstr(step, "TEMP B-TREE");
            if (scans) fail_msg("%s: %s", text, step);
        }
        sqlite3_finalize(st);
    }
    sqlite3_close(db);
}

static void test_store_artifacts_sqlite__blobs_go_with_the_last_that_names_them(void **state) {
    (void)state;
    for (uint64_t i = 0; i < 4; i++) assert_int_equal(save(s, "f", i, 1), 0);
    for (uint64_t i = 4; i < 6; i++) assert_int_equal(save(s, "user:f", i, 1), 0);
    assert_int_equal(sql("SELECT count(*) FROM blob"), 2);
    assert_int_equal(drop("f", 6), 0);
    assert_int_equal(sql("SELECT count(*) FROM blob"), 1);      /* of user:f@1 */
    assert_int_equal(rig_append(&r, s, "a", 6, content(1)), 0); /* the same bytes */
    assert_int_equal(drop("user:f", 7), 0);
    assert_int_equal(sql("SELECT count(*) FROM blob"), 1);
    assert_int_equal(rig_read(&r, s, "a", 6), 0);
    assert_true(hob_str_eq(r.last.events[0].json, content(1)));
}

/* More of them than one piece. */
static void test_store_artifacts_sqlite__a_removed_session_leaves_nothing(void **state) {
    (void)state;
    for (uint64_t i = 0; i < 150; i++) assert_int_equal(save(s, "f", i, 1), 0);
    assert_int_equal(save(s, "user:f", 150, 1), 0);
    assert_int_equal(rig_release(&r, s, "a", 1), 0);
    assert_int_equal(rig_remove(&r, s, "a"), 0);
    close_store();
    for (int i = 0; i < 200 && sql("SELECT count(*) FROM trash"); i++) {
        s = rig_sqlite(&r, "sweeper"); /* what was not cleared away at close is, now */
        rig_own(&r, s, "none", HOB_OWN_READ);
        close_store();
    }
    assert_int_equal(sql("SELECT count(*) FROM trash"), 0);
    assert_int_equal(sql("SELECT count(*) FROM artifact"), 1);
    assert_int_equal(sql("SELECT count(*) FROM blob"), 0);
    assert_int_equal(sql("SELECT count(*) FROM event"), 0);
}

static void test_store_artifacts_sqlite__damage_is_found(void **state) {
    (void)state;
    hob_store_artifact_query q = where;
    q.want = HOB_STORE_ARTIFACT;
    q.name = HOB_STR("f");
    q.version = -1;
    assert_int_equal(save(s, "f", 0, 1), 0);
    sql("UPDATE artifact SET body = zeroblob(100)");
    assert_int_equal(rig_artifacts(&r, s, &q), HOB_ESTORE);
    assert_int_equal(save(s, "f", 1, 1), 0);
    sql("DELETE FROM blob");
    assert_int_equal(rig_artifacts(&r, s, &q), HOB_ESTORE);
}

/* ---- several processes --------------------------------------------------------------------- */

static void test_store_artifacts_sqlite__two_processes_never_get_the_same_number(void **state) {
    (void)state;
    const hob_str name[] = {HOB_STR("user:f")};
    hob_store *other = rig_sqlite(&r, "second");
    for (int64_t i = 0; i < 6; i++) {
        assert_int_equal(rig_claim(&r, i % 2 ? other : s, &where, name, 1), 0);
        assert_int_equal(r.last.versions[0], i);
    }
    other->ops->close(other); /* and gives back 1, 3, 5 */
    assert_int_equal(sql("SELECT count(*) FROM artifact"), 3);
    assert_int_equal(rig_claim(&r, s, &where, name, 1), 0);
    assert_int_equal(r.last.versions[0], 5);
}

/* The process that claims and is gone. */
static int claim_and_go(const char *path) {
    const hob_str name[] = {HOB_STR("f")};
    rig_fork(&r);
    snprintf(r.path, sizeof(r.path), "%s", path);
    s = rig_sqlite(&r, "victim");
    _exit(rig_claim(&r, s, &where, name, 1) == 0 ? 0 : 1);
}

static void test_store_artifacts_sqlite__the_claims_of_the_dead_are_free(void **state) {
    (void)state;
    const hob_str name[] = {HOB_STR("f")};
    char *argv[] = {"artifacts", r.path, "claim", NULL};
    int status;
    pid_t pid = fork();
    if (pid == 0) {
        execv("/proc/self/exe", argv);
        _exit(127);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
    assert_int_equal(sql("SELECT count(*) FROM artifact WHERE owner IS NOT NULL"), 1);
    assert_int_equal(rig_claim(&r, s, &where, name, 1), 0);
    assert_int_equal(r.last.versions[0], 0);
}

/* ---- crashes and faults -------------------------------------------------------------------- */

/* The process that is killed: three saves, a deletion, three more. */
static int live(const char *path) {
    rig_fork(&r);
    snprintf(r.path, sizeof(r.path), "%s", path);
    s = rig_sqlite(&r, "victim");
    if (rig_own(&r, s, "a", HOB_OWN_CREATE) < 0) return 2;
    for (uint64_t i = 0; i < 3; i++)
        if (save(s, "f", i, 1) < 0) return 3;
    if (drop("f", 3) < 0) return 4;
    for (uint64_t i = 3; i < 6; i++)
        if (save(s, "f", i, 1) < 0) return 5;
    s->ops->close(s);
    return 0;
}

static int run_until(int point) {
    char at[48];
    int status;
    snprintf(at, sizeof(at), "HOB_CRASH_AT=%d", point);
    char *argv[] = {"artifacts", r.path, NULL}, *envp[] = {at, "ASAN_OPTIONS=detect_leaks=0", NULL};
    pid_t pid = fork();
    if (pid == 0) {
        execve("/proc/self/exe", argv, envp);
        _exit(127);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    return status;
}

/* As many versions as events tell of, but for those before the deletion; the next number follows without a gap. */
static void assert_whole(void) {
    if (rig_own(&r, s, "a", 0) < 0) return;
    uint64_t events = r.last.rows->last_seq, epoch = r.last.rows->epoch;
    size_t n = count(s);
    assert_true(n == events || n + 3 == events);
    assert_int_equal(save(s, "f", events, epoch), 0);
    assert_int_equal(count(s), n + 1);
    assert_int_equal(sql("SELECT count(*) FROM artifact WHERE owner IS NOT NULL"), 0);
}

static void test_store_artifacts_sqlite__killed_at_every_point(void **state) {
    (void)state;
    int points = 0;
    for (bool ended = false; !ended;) {
        rig_init_fast(&r);
        int status = run_until(points + 1);
        ended = WIFEXITED(status);
        if (ended) assert_int_equal(WEXITSTATUS(status), 0);
        s = rig_sqlite(&r, "heir");
        assert_whole();
        close_store();
        rig_finish(&r);
        points += !ended;
    }
    print_message("%d kill points\n", points);
    assert_true(points > 30);
}

/* A life with the n-th call failing; false when there was none. What was acknowledged is there. */
static bool live_with(const faulty_plan *p) {
    size_t saved = 0;
    rig_init_fast(&r);
    s = rig_sqlite(&r, "first");
    assert_int_equal(rig_own(&r, s, "a", HOB_OWN_CREATE), 0);
    faulty_arm(p);
    for (int i = 0; i < 4; i++) {
        int rc = save(s, "f", saved, 1);
        if (rc < 0) assert_int_equal(rc, HOB_ESTORE);
        if (rc < 0) break;
        saved++;
    }
    int hits = faulty_disarm();
    assert_int_equal(rig_own(&r, s, "a", 0), 0);
    uint64_t events = r.last.rows->last_seq, epoch = r.last.rows->epoch;
    assert_in_range(events, saved, saved + 1);
    assert_int_equal(count(s), events);
    assert_int_equal(save(s, "f", events, epoch), 0);
    close_store();
    rig_finish(&r);
    return hits > 0;
}

static void test_store_artifacts_sqlite__the_disk_fails_at_every_point(void **state) {
    (void)state;
    const struct {
        faulty_call call;
        int code;
    } kinds[] = {{FAULTY_WRITE, SQLITE_IOERR_WRITE},
                 {FAULTY_WRITE, SQLITE_FULL},
                 {FAULTY_SYNC, SQLITE_IOERR_FSYNC}};
    int points = 0;
    for (size_t i = 0; i < HOB_ARRAY_LEN(kinds); i++) {
        faulty_plan p = {.call = kinds[i].call, .code = kinds[i].code, .nth = 1};
        while (live_with(&p)) {
            points++;
            p.nth += 1 + p.nth / 10;
        }
    }
    assert_true(points > 20);
}

#define T(name)                                                                                    \
    cmocka_unit_test_setup_teardown(test_store_artifacts_sqlite__##name, set_up, tear_down)

int main(int argc, char **argv) {
    for (size_t i = 0; i < sizeof(body); i++) body[i] = (char)('a' + i % 23);
    if (argc > 2) return claim_and_go(argv[1]);
    if (argc > 1) return live(argv[1]);
    faulty_install();
    const struct CMUnitTest tests[] = {
        T(an_older_file_gets_the_table),
        T(lists_use_the_index),
        T(blobs_go_with_the_last_that_names_them),
        T(a_removed_session_leaves_nothing),
        T(damage_is_found),
        T(two_processes_never_get_the_same_number),
        T(the_claims_of_the_dead_are_free),
        cmocka_unit_test(test_store_artifacts_sqlite__killed_at_every_point),
        cmocka_unit_test(test_store_artifacts_sqlite__the_disk_fails_at_every_point),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
