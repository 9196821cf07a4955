/*
 * bench/store.c - durable appends against raw SQLite on the same disk in the same run.
 *
 * Both append 300-byte events spread over 1,000 sessions at synchronous=FULL. Raw SQLite is one loop in
 * one thread, one transaction for 64 rows, the same tables, checkpoints as SQLite makes them by itself.
 * hob gets one event a commit through its interface, 512 of them under way, and makes its own groups.
 * Rounds alternate; the best of each counts, since other programs use the disk too.
 */
#include "store/sqlite.h"
#include "table.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>

#define ROUNDS 5
#define EVENTS 32000
#define SESSIONS 1000
#define UNDER_WAY 512
#define PROMISE_RATE 50000.0
#define PROMISE_SHARE 60.0
#define PROMISE_FIRST_MS 10.0

static char dir[64], path[96], body[300];
static hob_loop *loop;
static hob_pool *pool;

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void keep_least(double *best, double value) {
    if (value < *best) *best = value;
}

static void keep_most(double *best, double value) {
    if (value > *best) *best = value;
}

static int remove_one(const char *name, const struct stat *st, int flag, struct FTW *ftw) {
    (void)st, (void)flag, (void)ftw;
    return remove(name);
}

static void make_folder(void) {
    const char *tmp = getenv("TMPDIR");
    snprintf(dir, sizeof(dir), "%s/hob-bench-XXXXXX", tmp && strlen(tmp) < 40 ? tmp : "/var/tmp");
    if (!mkdtemp(dir)) exit(1);
    snprintf(path, sizeof(path), "%s/hob.db", dir);
}

static void remove_folder(void) {
    nftw(dir, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

static void check(bool ok, const char *what, const char *why) {
    if (ok) return;
    fprintf(stderr, "bench/store: %s: %s\n", what, why);
    exit(1);
}

/* ---- raw SQLite ---------------------------------------------------------------------------- */

static hob_sqlite_conn *raw_open(void) {
    hob_error err;
    hob_sqlite_conn *c;
    FILE *f = fopen(path, "a"); /* hob makes the file itself */
    if (f) fclose(f);
    check(hob_sqlite_conn_open(path, HOB_SQLITE_WRITER, &c, &err) == 0, "raw open", err.message);
    check(hob_sqlite_migrate(c, &err) == 0, "raw schema", err.message);
    sqlite3_wal_autocheckpoint(c->db, 1000);
    return c;
}

static double raw_rate(void) {
    make_folder();
    hob_sqlite_conn *c = raw_open();
    sqlite3_stmt *st = hob_sqlite_stmt(c, HOB_SQL_EVENT_ADD);
    double start = now();
    for (int i = 0; i < EVENTS; i++) {
        if (i % 64 == 0) check(hob_sqlite_exec(c, HOB_SQL_BEGIN) == 0, "raw", "begin");
        sqlite3_bind_int64(st, 1, 1 + i % SESSIONS);
        sqlite3_bind_int64(st, 2, 1 + i / SESSIONS);
        hob_sqlite_bind_str(st, 3, hob_str_n(body, sizeof(body)));
        sqlite3_bind_null(st, 4);
        sqlite3_bind_int(st, 5, i);
        check(hob_sqlite_run(st) == 0, "raw", "insert");
        if (i % 64 == 63) check(hob_sqlite_exec(c, HOB_SQL_COMMIT) == 0, "raw", "commit");
    }
    double rate = EVENTS / (now() - start);
    hob_sqlite_conn_close(c);
    remove_folder();
    return rate;
}

/* From nothing to one durable event: file, tables, a session row, an event. */
static double raw_first(void) {
    make_folder();
    double start = now();
    hob_sqlite_conn *c = raw_open();
    check(
        sqlite3_exec(
            c->db,
            "BEGIN IMMEDIATE; INSERT INTO session(num, id, cwd, title, model, parent, "
            "state, owner_name, owner_pid, created_ms, updated_ms, messages) VALUES(1, 'a', '/w', "
            "'', '', '', '', '', 0, 0, 0, 0); INSERT INTO head VALUES(1, NULL, 1, 0); COMMIT; BEGIN IMMEDIATE; INSERT INTO "
            "event(session, seq, body, sum) VALUES(1, 1, '{}', 0); COMMIT",
            NULL, NULL, NULL) == SQLITE_OK,
        "raw", "first");
    double took = now() - start;
    hob_sqlite_conn_close(c);
    remove_folder();
    return took;
}

/* ---- hob ----------------------------------------------------------------------------------- */

static hob_store *store;
static int answered, sent;

static void on_own(int code, const hob_error *err, const hob_store_session *row, void *user) {
    (void)row, (void)user;
    check(code == 0, "own", err ? err->message : "");
    answered++;
}

static void on_event(int code, const hob_error *err, void *user);

static void send_one(void) {
    char id[16];
    snprintf(id, sizeof(id), "s%d", sent % SESSIONS);
    uint64_t seq = (uint64_t)(sent / SESSIONS) + 1;
    hob_store_event e = {.seq = seq, .json = hob_str_n(body, sizeof(body))};
    hob_store_append a = {.session = hob_str_z(id), .epoch = 1, .after_seq = seq - 1};
    a.events = &e;
    a.nevents = 1;
    sent++;
    store->ops->commit(store, &(hob_store_batch){.appends = &a, .nappends = 1}, on_event, NULL);
}

static void on_event(int code, const hob_error *err, void *user) {
    (void)user;
    check(code == 0, "commit", err ? err->message : "");
    answered++;
    if (sent < EVENTS) send_one();
}

static void wait_for(int n) {
    while (answered < n) hob_loop_run_once(loop, -1);
    answered = 0;
}

static void open_hob(void) {
    hob_error err;
    hob_sqlite_opts o = {.path = hob_str_z(path), .owner_name = HOB_STR("bench"), .pool = pool};
    check(hob_store_sqlite_open(loop, &o, &store, &err) == 0, "open", err.message);
}

static double hob_rate(void) {
    make_folder();
    open_hob();
    for (int i = 0; i < SESSIONS; i++) {
        char id[16];
        snprintf(id, sizeof(id), "s%d", i);
        store->ops->own(store, hob_str_z(id), HOB_OWN_CREATE, NULL, on_own, NULL);
    }
    wait_for(SESSIONS);
    sent = 0;
    double start = now();
    for (int i = 0; i < UNDER_WAY; i++) send_one();
    wait_for(EVENTS);
    double rate = EVENTS / (now() - start);
    store->ops->close(store);
    remove_folder();
    return rate;
}

static void on_first(int code, const hob_error *err, void *user) {
    (void)user;
    check(code == 0, "commit", err ? err->message : "");
    answered++;
}

/* Open, make a session, commit its first event. */
static double begin_session(const char *id) {
    hob_store_event e = {.seq = 1, .json = HOB_STR("{}")};
    hob_store_append a = {.session = hob_str_z(id), .epoch = 1, .events = &e, .nevents = 1};
    double start = now();
    open_hob();
    store->ops->own(store, hob_str_z(id), HOB_OWN_CREATE, NULL, on_own, NULL);
    wait_for(1);
    store->ops->commit(store, &(hob_store_batch){.appends = &a, .nappends = 1}, on_first, NULL);
    wait_for(1);
    double took = now() - start;
    store->ops->close(store);
    return took;
}

/* On a new file, and on one that is there, as nearly always. */
static void hob_first(double *first, double *again) {
    make_folder();
    keep_least(first, begin_session("a") * 1e3);
    keep_least(again, begin_session("b") * 1e3);
    remove_folder();
}

/* ---- reading ------------------------------------------------------------------------------- */

static uint64_t read_to;

static void on_events(int code, const hob_error *err, const hob_store_event *events, size_t n,
                      int more, void *user) {
    (void)more, (void)user;
    check(code == 0 && n > 0, "read", err ? err->message : "nothing");
    read_to = events[n - 1].seq;
    answered++;
}

/* Microseconds an event, reading a session of 100,000 in pages of 5,000. */
static double hob_replay(void) {
    enum { ALL = 100000, PART = 10000 };
    static hob_store_event e[PART];
    make_folder();
    open_hob();
    store->ops->own(store, HOB_STR("a"), HOB_OWN_CREATE, NULL, on_own, NULL);
    wait_for(1);
    for (uint64_t at = 0; at < ALL; at += PART) {
        hob_store_append a = {.session = HOB_STR("a"), .epoch = 1, .after_seq = at, .events = e};
        for (uint64_t i = 0; i < PART; i++)
            e[i] = (hob_store_event){at + i + 1, hob_str_n(body, sizeof(body))};
        a.nevents = PART;
        store->ops->commit(store, &(hob_store_batch){.appends = &a, .nappends = 1}, on_first, NULL);
        wait_for(1);
    }
    double start = now();
    for (read_to = 0; read_to < ALL;) {
        store->ops->read(store, HOB_STR("a"), read_to, 5000, 0, on_events, NULL);
        wait_for(1);
    }
    double took = now() - start;
    store->ops->close(store);
    remove_folder();
    return took / ALL * 1e6;
}

int main(int argc, char **argv) {
    double raw = 0, hob = 0, raw_ms = 1e9, hob_ms = 1e9, again_ms = 1e9;
    bench_table_init(argc, argv);
    memset(body, 'x', sizeof(body));
    if (hob_loop_create(NULL, &loop, NULL) < 0 || hob_pool_create(2, 64, &pool, NULL) < 0) return 1;
    for (int i = 0; i < ROUNDS; i++) {
        keep_most(&raw, raw_rate());
        keep_most(&hob, hob_rate());
        keep_least(&raw_ms, raw_first() * 1e3);
        hob_first(&hob_ms, &again_ms);
    }
    bench_row((bench_line){
        .name = "store.append", .value = hob, .unit = "/s", .min = PROMISE_RATE, .floor = raw});
    bench_row((bench_line){
        .name = "store.share", .value = hob / raw * 100, .unit = "%", .min = PROMISE_SHARE});
    bench_row((bench_line){.name = "store.first",
                           .value = hob_ms,
                           .unit = "ms",
                           .max = PROMISE_FIRST_MS,
                           .floor = raw_ms});
    bench_row((bench_line){.name = "store.again", .value = again_ms, .unit = "ms"});
    bench_row((bench_line){.name = "store.replay", .value = hob_replay(), .unit = "us"});
    hob_pool_destroy(pool);
    hob_loop_destroy(loop);
    return bench_table_finish();
}
