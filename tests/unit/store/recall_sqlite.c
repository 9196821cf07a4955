/*
 * Memory in the SQLite file: migration, the index, clearing away, SIGKILL, several processes, a disk that
 * fails. What every store promises is in recall.c.
 */
#include "store/sqlite.h"
#include "support/faulty_vfs.h"
#include "support/stores.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static rig r;

static int set_up(void **state) {
    (void)state;
    rig_init_fast(&r);
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    rig_finish(&r);
    return 0;
}

static int64_t sql(const char *text) {
    sqlite3 *db;
    sqlite3_stmt *st;
    int64_t value = -1;
    assert_int_equal(sqlite3_open(r.path, &db), SQLITE_OK);
    sqlite3_busy_timeout(db, 5000);
    while (*text) {
        if (sqlite3_prepare_v2(db, text, -1, &st, &text) != SQLITE_OK)
            fail_msg("%s: %s", text, sqlite3_errmsg(db));
        int rc = st ? sqlite3_step(st) : SQLITE_DONE;
        if (rc == SQLITE_ROW) value = sqlite3_column_int64(st, 0);
        if (rc != SQLITE_ROW && rc != SQLITE_DONE) fail_msg("%s", sqlite3_errmsg(db));
        sqlite3_finalize(st);
    }
    sqlite3_close(db);
    return value;
}

/* The index says of every item exactly its terms, and the counts are right. */
static void assert_sound(void) {
    sql("INSERT INTO memory_terms(memory_terms, rank) VALUES('integrity-check', 1)");
    assert_int_equal(sql("SELECT count(*) FROM tenant t WHERE items <> "
                         "(SELECT count(*) FROM memory m WHERE m.tenant = t.num) OR bytes <> "
                         "(SELECT ifnull(sum(length(CAST(text AS BLOB))), 0) FROM memory m "
                         " WHERE m.tenant = t.num)"),
                     0);
}

static void add_some(hob_store *s, int n) {
    char id[16], text[64];
    for (int i = 0; i < n; i++) {
        snprintf(id, sizeof(id), "m%d", i);
        snprintf(text, sizeof(text), "tea number %d", i);
        assert_int_equal(rig_remember_text(&r, s, id, text), 0);
    }
}

static void test_store_recall_sqlite__a_file_without_memory_gets_one(void **state) {
    (void)state;
    hob_store *s = rig_sqlite(&r, "first");
    assert_int_equal(rig_own(&r, s, "a", HOB_OWN_CREATE), 0);
    assert_int_equal(rig_append(&r, s, "a", 0, HOB_STR("{}")), 0);
    s->ops->close(s);
    sql(RIG_DROP_LATER "PRAGMA user_version = 4"); /* as the hob before memory made it */
    s = rig_sqlite(&r, "second");
    assert_int_equal(rig_remember_text(&r, s, "m", "tea"), 0);
    assert_int_equal(rig_recall_text(&r, s, "tea"), 0);
    assert_int_equal(r.last.n, 1);
    assert_int_equal(rig_read(&r, s, "a", 0), 0);
    assert_int_equal(r.last.n, 1);
    s->ops->close(s);
    assert_int_equal(sql("PRAGMA user_version"), HOB_SQLITE_VERSION);
    assert_sound();
}

static void test_store_recall_sqlite__the_index_follows_every_change(void **state) {
    (void)state;
    hob_store *s = rig_sqlite(&r, "first");
    add_some(s, 20);
    for (int i = 0; i < 10; i += 2) {
        char id[16];
        snprintf(id, sizeof(id), "m%d", i);
        assert_int_equal(rig_forget(&r, s, "u", id), 0);
        snprintf(id, sizeof(id), "m%d", i + 1);
        assert_int_equal(rig_remember_text(&r, s, id, "coffee now"), 0);
    }
    s->ops->close(s);
    assert_sound();
    assert_int_equal(sql("SELECT count(*) FROM memory"), 15);
}

/* What was cleared is gone from the file, not only out of reach. */
static void test_store_recall_sqlite__what_is_cleared_is_cleared_away(void **state) {
    (void)state;
    hob_store *s = rig_sqlite(&r, "first");
    add_some(s, 300);
    hob_store_memory_change c = {
        .op = HOB_STORE_CLEAR, .app = HOB_STR("app"), .user = HOB_STR("u")};
    assert_int_equal(rig_change(&r, s, &c, 1), 0);
    for (int i = 0; i < 5000 && sql("SELECT count(*) FROM memory") > 0; i++) usleep(1000);
    assert_int_equal(sql("SELECT count(*) FROM memory"), 0);
    assert_int_equal(sql("SELECT count(*) FROM tenant"), 0);
    s->ops->close(s);
    assert_sound();
}

static void test_store_recall_sqlite__clearing_goes_on_after_a_crash(void **state) {
    (void)state;
    hob_store *s = rig_sqlite(&r, "first");
    add_some(s, 10);
    s->ops->close(s);
    sql("INSERT INTO tenant_trash SELECT num FROM tenant; DELETE FROM tenant");
    s = rig_sqlite(&r, "second");
    for (int i = 0; i < 5000 && sql("SELECT count(*) FROM memory") > 0; i++) usleep(1000);
    assert_int_equal(sql("SELECT count(*) FROM memory"), 0);
    assert_int_equal(rig_recall_text(&r, s, "tea"), 0);
    assert_int_equal(r.last.n, 0);
    s->ops->close(s);
}

static void test_store_recall_sqlite__no_recall_reads_a_whole_table(void **state) {
    (void)state;
    static const int reads[] = {HOB_SQL_TENANT_FIND,     HOB_SQL_MEMORY_FIND,
                                HOB_SQL_MEMORY_NEWEST,   HOB_SQL_MEMORY_BY_NUM,
                                HOB_SQL_TERMS_MATCH,     HOB_SQL_MEMORY_OLDEST_MS,
                                HOB_SQL_MEMORY_NEWEST_MS};
    hob_store *s = rig_sqlite(&r, "first");
    add_some(s, 1);
    s->ops->close(s);
    sqlite3 *db;
    sqlite3_stmt *st;
    char explain[600];
    assert_int_equal(sqlite3_open(r.path, &db), SQLITE_OK);
    for (size_t i = 0; i < HOB_ARRAY_LEN(reads); i++) {
        snprintf(explain, sizeof(explain), "EXPLAIN QUERY PLAN %s", hob_sqlite_sql(reads[i]));
        assert_int_equal(sqlite3_prepare_v2(db, explain, -1, &st, NULL), SQLITE_OK);
        while (sqlite3_step(st) == SQLITE_ROW) {
            const char *detail = (const char *)sqlite3_column_text(st, 3);
            bool index = strstr(detail, "VIRTUAL TABLE INDEX") != NULL;
            if (strstr(detail, "TEMP B-TREE") || (strstr(detail, "SCAN") && !index))
                fail_msg("%s: %s", explain, detail);
        }
        sqlite3_finalize(st);
    }
    sqlite3_close(db);
}

/* ---- SIGKILL ------------------------------------------------------------------------------- */

/* The event and what it taught, in one commit; then its number. */
static int teach(hob_store *s, uint64_t seq) {
    char id[32], text[64];
    int n = snprintf(id, sizeof(id), "m%llu", (unsigned long long)seq % 7);
    int len = snprintf(text, sizeof(text), "tea of event %llu", (unsigned long long)seq);
    hob_store_event e = {.seq = seq, .json = HOB_STR("{}")};
    hob_store_append a = {.session = HOB_STR("a"), .epoch = 1, .after_seq = seq - 1};
    hob_store_memory_change c = {.op = HOB_STORE_REMEMBER, .app = HOB_STR("app")};
    c.user = HOB_STR("u");
    c.item.id = hob_str_n(id, (size_t)n);
    c.item.text = hob_str_n(text, (size_t)len);
    c.item.importance = 1;
    a.events = &e;
    a.nevents = 1;
    hob_store_batch b = {.appends = &a, .nappends = 1, .memory = &c, .nmemory = 1};
    answer_finish(&r.last);
    s->ops->commit(s, &b, on_done, &r.last);
    rig_wait(&r, &r.last);
    return r.last.code;
}

static int live(const char *path) {
    rig_fork(&r);
    snprintf(r.path, sizeof(r.path), "%s", path);
    hob_store *s = rig_sqlite(&r, "victim");
    if (rig_own(&r, s, "a", HOB_OWN_CREATE) < 0) return 2;
    for (uint64_t seq = 1; seq <= 12; seq++) {
        if (teach(s, seq) < 0) return 3;
        if (write(STDOUT_FILENO, &seq, sizeof(seq)) != sizeof(seq)) return 4;
    }
    s->ops->close(s);
    return 0;
}

static int run_until(int crash_at, uint64_t *acknowledged) {
    int out[2], status;
    char at[48];
    snprintf(at, sizeof(at), "HOB_CRASH_AT=%d", crash_at);
    char *argv[] = {"recall_sqlite", r.path, NULL};
    char *envp[] = {at, "ASAN_OPTIONS=detect_leaks=0", NULL};
    assert_int_equal(pipe2(out, O_CLOEXEC), 0);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        dup2(out[1], STDOUT_FILENO);
        execve("/proc/self/exe", argv, envp);
        _exit(127);
    }
    close(out[1]);
    *acknowledged = 0;
    uint64_t next;
    while (read(out[0], &next, sizeof(next)) == sizeof(next)) *acknowledged = next;
    close(out[0]);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    return status;
}

/* The log and the memory end at the same event, which is the last acknowledged one or the one after. */
static void assert_together(uint64_t acknowledged) {
    hob_store *s = rig_sqlite(&r, "later");
    uint64_t last = 0;
    if (rig_own(&r, s, "a", HOB_OWN_READ) >= 0) last = r.last.rows->last_seq;
    assert_in_range(last, acknowledged, acknowledged + 1);
    hob_store_memory_query q = {
        .app = HOB_STR("app"), .user = HOB_STR("u"), .recent = 1, .limit = 100};
    assert_int_equal(rig_memories(&r, s, &q), 0);
    assert_int_equal(r.last.n, HOB_MIN(last, (uint64_t)7));
    if (last) {
        char text[64];
        snprintf(text, sizeof(text), "tea of event %llu", (unsigned long long)last);
        assert_str(r.last.memories[0].text, text);
    }
    s->ops->close(s);
    assert_sound();
}

static void test_store_recall_sqlite__killed_at_every_point(void **state) {
    (void)state;
    int status = -1, points = 0;
    for (int at = 1; status != 0; at++, points++) {
        uint64_t acknowledged;
        rig_finish(&r);
        rig_init_fast(&r);
        status = run_until(at, &acknowledged);
        assert_true(status == 0 || (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL));
        assert_together(acknowledged);
    }
    print_message("%d points\n", points - 1);
    assert_true(points > 20);
}

/* ---- several processes --------------------------------------------------------------------- */

enum { WRITERS = 3, EACH = 40 };

static void write_memories(int number) {
    char id[32];
    rig_fork(&r);
    hob_store *s = rig_sqlite(&r, "one of them");
    for (int i = 0; i < EACH; i++) {
        snprintf(id, sizeof(id), "p%d-%d", number, i);
        if (rig_remember_text(&r, s, id, "shared tea") < 0) _exit(2);
        if (i % 4 == 3 && rig_forget(&r, s, "u", id) < 0) _exit(3);
        if (i % 8 == 7 && rig_recall_text(&r, s, "tea") < 0) _exit(4);
    }
    s->ops->close(s);
    _exit(0);
}

static void test_store_recall_sqlite__several_processes_lose_nothing(void **state) {
    (void)state;
    pid_t pids[WRITERS];
    int status;
    hob_pool_destroy(r.pool); /* no threads here when children are forked */
    r.pool = NULL;
    for (int i = 0; i < WRITERS; i++) {
        pids[i] = fork();
        assert_true(pids[i] >= 0);
        if (pids[i] == 0) write_memories(i);
    }
    for (int i = 0; i < WRITERS; i++) {
        assert_int_equal(waitpid(pids[i], &status, 0), pids[i]);
        assert_int_equal(status, 0);
    }
    assert_sound();
    assert_int_equal(sql("SELECT items FROM tenant"), WRITERS * EACH / 4 * 3);
    assert_int_equal(sql("SELECT count(*) FROM memory_terms WHERE memory_terms MATCH '\"1wtea\"'"),
                     WRITERS * EACH / 4 * 3);
}

/* ---- a disk that fails --------------------------------------------------------------------- */

/* Whatever fails: what was acknowledged is there, the rest may be, and the index fits. */
static bool live_with(const faulty_plan *p) {
    bool there[8] = {false};
    char id[16];
    rig_finish(&r);
    rig_init_fast(&r);
    hob_store *s = rig_sqlite(&r, "first");
    assert_int_equal(rig_remember_text(&r, s, "m0", "the first tea"), 0);
    there[0] = true;
    faulty_arm(p);
    for (int i = 1; i < 8; i++) {
        snprintf(id, sizeof(id), "m%d", i);
        int code = rig_remember_text(&r, s, id, "more tea");
        there[i] = code == 0;
        if (code < 0) assert_int_equal(code, HOB_ESTORE);
    }
    int hits = faulty_disarm();
    assert_int_equal(rig_remember_text(&r, s, "last", "works again"), 0);
    for (int i = 0; i < 8; i++) {
        hob_store_memory_query q = {.app = HOB_STR("app"), .user = HOB_STR("u")};
        snprintf(id, sizeof(id), "m%d", i);
        q.id = hob_str_z(id);
        int code = rig_memories(&r, s, &q);
        if (there[i]) assert_int_equal(code, 0);
    }
    s->ops->close(s);
    assert_sound();
    return hits > 0;
}

static void at_every(faulty_call call, int code) {
    int points = 0;
    for (int forever = 0; forever < 2; forever++) {
        faulty_plan p = {.call = call, .code = code, .nth = 1, .forever = forever};
        for (; live_with(&p); points++) p.nth += 1 + p.nth / 10;
    }
    print_message("%d points\n", points);
    assert_true(points > 0);
}

static void test_store_recall_sqlite__the_disk_is_full(void **state) {
    (void)state;
    at_every(FAULTY_WRITE, SQLITE_FULL);
}

static void test_store_recall_sqlite__syncs_fail(void **state) {
    (void)state;
    at_every(FAULTY_SYNC, SQLITE_IOERR_FSYNC);
}

static void test_store_recall_sqlite__a_read_that_fails_says_so(void **state) {
    (void)state;
    hob_store *s = rig_sqlite(&r, "first");
    add_some(s, 50);
    s->ops->close(s);
    s = rig_sqlite(&r, "second");
    assert_int_equal(rig_recall_text(&r, s, "tea"), 0);
    s->ops->close(s);
    for (int nth = 1;; nth++) {
        s = rig_sqlite(&r, "third");
        faulty_arm(&(faulty_plan){FAULTY_READ, SQLITE_IOERR_READ, nth, false});
        int code = rig_recall_text(&r, s, "tea");
        size_t n = r.last.n;
        int hits = faulty_disarm();
        s->ops->close(s);
        if (code < 0)
            assert_int_equal(code, HOB_ESTORE);
        else
            assert_int_equal(n, 10);
        if (!hits) break;
    }
}

#define T(name) cmocka_unit_test_setup_teardown(test_store_recall_sqlite__##name, set_up, tear_down)

int main(int argc, char **argv) {
    if (argc > 1) return live(argv[1]);
    faulty_install();
    const struct CMUnitTest tests[] = {
        T(a_file_without_memory_gets_one),
        T(the_index_follows_every_change),
        T(what_is_cleared_is_cleared_away),
        T(clearing_goes_on_after_a_crash),
        T(no_recall_reads_a_whole_table),
        T(killed_at_every_point),
        T(several_processes_lose_nothing),
        T(the_disk_is_full),
        T(syncs_fail),
        T(a_read_that_fails_says_so),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
