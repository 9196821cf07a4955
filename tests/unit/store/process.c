/*
 * Several processes on one file: killed ones, owners that die, many writers, one WAL.
 *
 * Children are forked before this process opens a store, and talk back through a pipe: one struct a
 * acknowledged event.
 */
/* ctest: timeout=300 */
#include "support/stores.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static rig r;

static int set_up(void **state) {
    (void)state;
    rig_init(&r);
    hob_pool_destroy(r.pool); /* no threads here when children are forked */
    r.pool = NULL;
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    rig_finish(&r);
    return 0;
}

typedef struct child {
    pid_t pid;
    int out; /* what it says */
    int in;  /* closing it says: end */
} child;

typedef struct said {
    int32_t code; /* of an answer that was not expected */
    uint32_t number;
    uint64_t seq; /* last acknowledged */
} said;

static child start(void (*fn)(int in, int out, int number), int number) {
    int in[2], out[2];
    assert_int_equal(pipe2(in, O_CLOEXEC), 0);
    assert_int_equal(pipe2(out, O_CLOEXEC), 0);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        close(in[1]);
        close(out[0]);
        rig_fork(&r);
        fn(in[0], out[1], number);
        _exit(0);
    }
    close(in[0]);
    close(out[1]);
    return (child){.pid = pid, .out = out[0], .in = in[1]};
}

static void say(int out, said what) {
    if (write(out, &what, sizeof(what)) != sizeof(what)) _exit(9);
}

static bool hear(const child *c, said *what) {
    ssize_t n;
    do n = read(c->out, what, sizeof(*what));
    while (n < 0 && errno == EINTR);
    return n == sizeof(*what);
}

/* Reads to the end; the last word. */
static said hear_all(const child *c) {
    said last = {0}, next;
    while (hear(c, &next)) last = next;
    return last;
}

static int reap(child *c, int signal) {
    int status;
    if (signal) kill(c->pid, signal);
    close(c->in);
    assert_int_equal(waitpid(c->pid, &status, 0), c->pid);
    close(c->out);
    return status;
}

static int64_t now_ms(void) {
    return hob_clock_real()->mono_ms(hob_clock_real());
}

/* ---- what children do ---------------------------------------------------------------------- */

static char session_of(int number, char out[16]) {
    snprintf(out, 16, "s%d", number);
    return out[0];
}

/* Own a session and say so; then wait for the end. */
static void hold(int in, int out, int number) {
    char id[16], byte;
    session_of(number, id);
    hob_store *s = rig_sqlite(&r, "holder");
    int code = rig_own(&r, s, id, HOB_OWN_CREATE);
    if (code == HOB_EEXIST) code = rig_own(&r, s, id, 0);
    say(out, (said){.code = code, .number = (uint32_t)number, .seq = r.last.rows->epoch});
    if (read(in, &byte, 1) < 0) _exit(8);
    s->ops->close(s);
}

static char filler[3000];

/* Append one event after the other until the pipe closes or the time is over; say each. */
static void append_for(int in, int out, int number, int64_t ms) {
    char id[16];
    session_of(number, id);
    fcntl(in, F_SETFL, O_NONBLOCK);
    memset(filler, 'f', sizeof(filler));
    hob_store *s = rig_sqlite(&r, "appender");
    int code = rig_own(&r, s, id, HOB_OWN_CREATE);
    if (code == HOB_EEXIST) code = rig_own(&r, s, id, 0);
    uint64_t seq = code < 0 ? 0 : r.last.rows->last_seq, epoch = code < 0 ? 0 : r.last.rows->epoch;
    int64_t end = now_ms() + ms;
    char byte;
    while (code >= 0 && now_ms() < end && read(in, &byte, 1) < 0) {
        hob_store_event e[4];
        for (uint64_t i = 0; i < 4; i++) {
            size_t n = (seq + i) % 7 == 0 ? sizeof(filler) : 200;
            e[i] = (hob_store_event){seq + i + 1, hob_str_n(filler, n)};
        }
        hob_store_append a = {.session = hob_str_z(id), .epoch = epoch, .after_seq = seq};
        a.events = e;
        a.nevents = 4;
        code = rig_commit(&r, s, &a, 1);
        if (code >= 0) seq += 4;
        say(out, (said){.code = code, .number = (uint32_t)number, .seq = seq});
    }
    if (code < 0) fprintf(stderr, "child %d: %s\n", number, r.last.err.message);
    s->ops->close(s);
}

static void append_until_killed(int in, int out, int number) {
    append_for(in, out, number, 60000);
}

static int64_t storm_ms;

static void append_in_storm(int in, int out, int number) {
    append_for(in, out, number, storm_ms);
}

/* ---- checks -------------------------------------------------------------------------------- */

/* Everything acknowledged is there, in order and whole. */
static uint64_t assert_log(hob_store *s, const char *id, uint64_t acknowledged) {
    uint64_t at = 0;
    int more = 1;
    while (more) {
        assert_int_equal(rig_read_some(&r, s, id, at, 5000, 0), 0);
        for (size_t i = 0; i < r.last.n; i++) {
            assert_int_equal(r.last.events[i].seq, at + i + 1);
            assert_int_equal(r.last.events[i].json.n, (at + i) % 7 == 0 ? sizeof(filler) : 200);
        }
        at += r.last.n;
        more = r.last.more;
    }
    assert_true(at >= acknowledged);
    return at;
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

/* ---- tests --------------------------------------------------------------------------------- */

static void test_store_process__a_killed_writer_loses_nothing_it_was_told(void **state) {
    (void)state;
    uint64_t told = 0;
    for (int round = 0; round < 8; round++) {
        child c = start(append_until_killed, 1);
        said first;
        for (int i = 0; i < 5 * round + 1; i++) {
            assert_true(hear(&c, &first));
            assert_int_equal(first.code, 0);
        }
        kill(c.pid, SIGKILL);
        said last = hear_all(&c);
        told = last.seq ? last.seq : first.seq;
        assert_true(WIFSIGNALED(reap(&c, 0)));
        hob_store *s = rig_sqlite(&r, "reader");
        assert_log(s, "s1", told);
        s->ops->close(s);
    }
    assert_true(told >= 8 * 4);
    assert_integrity();
}

static void test_store_process__a_dead_owner_is_followed_at_once(void **state) {
    (void)state;
    child c = start(hold, 1);
    said owned;
    assert_true(hear(&c, &owned));
    assert_int_equal(owned.code, 0);
    char pid[32];
    snprintf(pid, sizeof(pid), "pid %d", (int)c.pid);
    hob_store *s = rig_sqlite(&r, "heir");
    assert_int_equal(rig_own(&r, s, "s1", 0), HOB_EBUSY);
    assert_non_null(strstr(r.last.err.message, "holder"));
    assert_non_null(strstr(r.last.err.message, pid));
    kill(c.pid, SIGSTOP); /* not dead: still the owner */
    assert_int_equal(rig_own(&r, s, "s1", 0), HOB_EBUSY);
    assert_true(WIFSIGNALED(reap(&c, SIGKILL)));
    assert_int_equal(rig_own(&r, s, "s1", HOB_OWN_READ), 0);
    assert_int_equal(r.last.rows->owner.n, 0); /* a dead owner holds nothing */
    assert_int_equal(rig_own(&r, s, "s1", 0), 0);
    assert_int_equal(r.last.rows->epoch, owned.seq + 1);
    assert_str(r.last.rows->owner, "heir");
    s->ops->close(s);
    char owners[128];
    snprintf(owners, sizeof(owners), "%s.owners", r.path);
    assert_int_equal(rmdir(owners), 0); /* no file of the dead left */
}

/* The row of a dead owner names a process that lives: this one. */
static void test_store_process__a_reused_pid_means_nothing(void **state) {
    (void)state;
    child c = start(hold, 1);
    said owned;
    assert_true(hear(&c, &owned));
    reap(&c, SIGKILL);
    sqlite3 *db;
    char sql[128];
    snprintf(sql, sizeof(sql), "UPDATE session SET owner_pid = %d", (int)getpid());
    assert_int_equal(sqlite3_open(r.path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
    hob_store *s = rig_sqlite(&r, "heir");
    assert_int_equal(rig_own(&r, s, "s1", 0), 0);
    s->ops->close(s);
}

/* Taken over behind its back: the old owner's commits are refused, its file is gone. */
static void test_store_process__an_owner_without_its_file_is_fenced(void **state) {
    (void)state;
    hob_store *old = rig_sqlite(&r, "old"), *heir = rig_sqlite(&r, "heir");
    assert_int_equal(rig_own(&r, old, "a", HOB_OWN_CREATE), 0);
    assert_int_equal(rig_own(&r, heir, "a", 0), HOB_EBUSY);
    char sql[] = "UPDATE head SET owner = 'nobody-alive'";
    sqlite3 *db;
    assert_int_equal(sqlite3_open(r.path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
    assert_int_equal(rig_own(&r, heir, "a", 0), 0);
    assert_int_equal(r.last.rows->epoch, 2);
    assert_int_equal(rig_append(&r, old, "a", 0, HOB_STR("{}")), HOB_EFENCED);
    old->ops->close(old);
    assert_int_equal(rig_own(&r, heir, "a", 0), 0); /* closing the old one released nothing of it */
    assert_int_equal(r.last.rows->epoch, 2);
    heir->ops->close(heir);
}

static void test_store_process__eight_processes_on_eight_sessions(void **state) {
    (void)state;
    child c[8];
    said last[8];
    storm_ms = 700;
    for (int i = 0; i < 8; i++) c[i] = start(append_in_storm, i);
    for (int i = 0; i < 8; i++) {
        last[i] = hear_all(&c[i]);
        assert_int_equal(reap(&c[i], 0), 0);
        assert_int_equal(last[i].code, 0); /* nobody was busy, nobody was starved */
        assert_true(last[i].seq > 0);
    }
    hob_store *s = rig_sqlite(&r, "reader");
    for (int i = 0; i < 8; i++) {
        char id[16];
        session_of(i, id);
        assert_int_equal(assert_log(s, id, last[i].seq), last[i].seq);
    }
    s->ops->close(s);
}

/* Four processes append and checkpoint one WAL. HOB_LONG=1: for a minute. */
static void test_store_process__four_processes_append_and_checkpoint(void **state) {
    (void)state;
    child c[4];
    said last[4];
    uint64_t all = 0;
    storm_ms = getenv("HOB_LONG") ? 60000 : 2000;
    for (int i = 0; i < 4; i++) c[i] = start(append_in_storm, i);
    for (int i = 0; i < 4; i++) last[i] = hear_all(&c[i]);
    for (int i = 0; i < 4; i++) {
        assert_int_equal(reap(&c[i], 0), 0);
        assert_int_equal(last[i].code, 0);
    }
    assert_integrity();
    hob_store *s = rig_sqlite(&r, "reader");
    for (int i = 0; i < 4; i++) {
        char id[16];
        session_of(i, id);
        assert_int_equal(assert_log(s, id, last[i].seq), last[i].seq);
        all += last[i].seq;
    }
    s->ops->close(s);
    struct stat st; /* grows by checkpoints only */
    assert_int_equal(stat(r.path, &st), 0);
    print_message("%llu events of 4 processes in %lld ms, none lost, %lld KiB checkpointed\n",
                  (unsigned long long)all, (long long)storm_ms, (long long)st.st_size / 1024);
}

#define T(name) cmocka_unit_test_setup_teardown(test_store_process__##name, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        T(a_killed_writer_loses_nothing_it_was_told),
        T(a_dead_owner_is_followed_at_once),
        T(a_reused_pid_means_nothing),
        T(an_owner_without_its_file_is_fenced),
        T(eight_processes_on_eight_sessions),
        T(four_processes_append_and_checkpoint),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
