/*
 * SIGKILL at every kill point of the store (around each commit and checkpoint), in a real process on a
 * real file. The process says what was acknowledged; afterwards that is there, and the file is sound.
 */
#include "support/stores.h"

#include <fcntl.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static rig r;
static char body[1 << 20];

static hob_str event(uint64_t seq) {
    return hob_str_n(body + seq, seq % 2 ? 100 : sizeof(body) - 100);
}

/* Stands at the last event; every fourth drops the parts before it. */
static void snapshot_of(uint64_t seq, hob_store_snapshot *out) {
    static hob_str part;
    part = event(seq);
    *out = (hob_store_snapshot){.seq = seq, .after = seq - 1, .head = event(seq + 1)};
    out->restart = seq % 4 == 1;
    out->parts = &part;
    out->nparts = 1;
}

/* ---- the process that is killed ------------------------------------------------------------ */

static void tell(uint64_t acknowledged) {
    if (write(STDOUT_FILENO, &acknowledged, sizeof(acknowledged)) != sizeof(acknowledged)) _exit(9);
}

static int live(const char *path) {
    rig_fork(&r);
    snprintf(r.path, sizeof(r.path), "%s", path);
    hob_store *s = rig_sqlite(&r, "victim");
    if (rig_own(&r, s, "gone", HOB_OWN_CREATE) < 0) return 2;
    if (rig_append(&r, s, "gone", 0, event(2)) < 0) return 3;
    if (rig_own(&r, s, "a", HOB_OWN_CREATE) < 0) return 4;
    for (uint64_t seq = 1; seq <= 12; seq++) {
        hob_store_event e = {.seq = seq, .json = event(seq)};
        hob_store_snapshot snap;
        hob_store_session row = {.state = HOB_STR("running"), .created_ms = -1, .messages = 1};
        hob_store_append a = {.session = HOB_STR("a"), .epoch = 1, .after_seq = seq - 1};
        a.events = &e;
        a.nevents = 1;
        a.row = &row;
        snapshot_of(seq, &snap);
        a.snapshot = &snap;
        if (rig_commit(&r, s, &a, 1) < 0) return 5;
        tell(seq);
    }
    if (rig_release(&r, s, "gone", 1) < 0 || rig_remove(&r, s, "gone") < 0) return 6;
    tell(100);
    s->ops->close(s);
    return 0;
}

/* ---- the test ------------------------------------------------------------------------------ */

static int run_until(int crash_at, uint64_t *acknowledged) {
    int out[2], status;
    char at[48];
    snprintf(at, sizeof(at), "HOB_CRASH_AT=%d", crash_at);
    char *argv[] = {"crash", r.path, NULL};
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

static void assert_sound(uint64_t acknowledged) {
    hob_store *s = rig_sqlite(&r, "heir");
    int code = rig_own(&r, s, "a", 0);
    if (code < 0) {
        assert_int_equal(code, HOB_ENOENT);
        assert_int_equal(acknowledged, 0);
        assert_int_equal(rig_own(&r, s, "a", HOB_OWN_CREATE), 0);
    }
    uint64_t last = r.last.rows->last_seq, told = HOB_MIN(acknowledged, (uint64_t)12);
    assert_in_range(last, told, HOB_MIN(told + 1, (uint64_t)12));
    for (uint64_t at = 0; at < last; at += r.last.n) {
        assert_int_equal(rig_read(&r, s, "a", at), 0);
        for (size_t i = 0; i < r.last.n; i++) {
            hob_str expected = event(at + i + 1);
            assert_int_equal(r.last.events[i].json.n, expected.n);
            assert_memory_equal(r.last.events[i].json.p, expected.p, expected.n);
        }
    }
    if (acknowledged == 100) assert_int_equal(rig_own(&r, s, "gone", HOB_OWN_READ), HOB_ENOENT);
    s->ops->close(s);
}

static bool same(hob_str a, hob_str b) {
    return a.n == b.n && !memcmp(a.p, b.p, a.n);
}

/* As whole as the commit it came with. */
static void assert_snapshot(void) {
    hob_store *s = rig_sqlite(&r, "reader");
    int code = rig_own(&r, s, "a", HOB_OWN_READ);
    uint64_t last = code < 0 ? 0 : r.last.rows->last_seq;
    if (last) {
        assert_int_equal(rig_recall(&r, s, "a", 0), 0);
        const hob_store_snapshot *snap = r.last.snapshot;
        assert_non_null(snap);
        assert_int_equal(snap->seq, last);
        assert_int_equal(r.last.n, 1);
        assert_true(same(snap->head, event(last + 1)));
        assert_int_equal(snap->nparts, (last - 1) % 4 + 1);
        for (size_t i = 0; i < snap->nparts; i++)
            assert_true(same(snap->parts[i], event(last - (snap->nparts - 1 - i))));
    }
    s->ops->close(s);
}

static void assert_integrity(void) {
    sqlite3 *db;
    sqlite3_stmt *st;
    assert_int_equal(sqlite3_open_v2(r.path, &db, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_prepare_v2(db, "PRAGMA integrity_check", -1, &st, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_step(st), SQLITE_ROW);
    assert_string_equal((const char *)sqlite3_column_text(st, 0), "ok");
    sqlite3_finalize(st);
    sqlite3_close(db);
}

static void test_store_crash__killed_at_every_point(void **state) {
    (void)state;
    int points = 0;
    for (bool ended = false; !ended;) {
        uint64_t acknowledged;
        rig_init_fast(&r);
        int status = run_until(points + 1, &acknowledged);
        ended = WIFEXITED(status);
        if (ended)
            assert_int_equal(WEXITSTATUS(status), 0);
        else
            assert_int_equal(WTERMSIG(status), SIGKILL);
        assert_sound(acknowledged);
        assert_snapshot();
        assert_integrity();
        rig_finish(&r);
        points += !ended;
    }
    print_message("%d kill points\n", points);
    assert_true(points > 30);
}

int main(int argc, char **argv) {
    for (size_t i = 0; i < sizeof(body); i++) body[i] = (char)('a' + i % 23);
    if (argc > 1) return live(argv[1]);
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_store_crash__killed_at_every_point)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
