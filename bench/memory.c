/*
 * bench/memory.c - recall in a memory of 100,000 items against one of 1,000, in SQLite.
 *
 * Texts are made of 20 words from a vocabulary in which few words are frequent and most are rare, as in language. A
 * query has two rare words and two frequent ones. What is promised is the ratio of the two: a search must not cost more
 * because the memory is large. Another tenant's 100,000 items must not be felt at all.
 */
#include "child.h"
#include "store/store.h"
#include "table.h"

#include <ftw.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

enum { SMALL = 1000, LARGE = 100000, BATCH = 500, WORDS = 20, VOCABULARY = 20000, SEARCHES = 100 };
#define ROUNDS 5
#define PROMISE_RATIO 3.0

static char dir[64], path[96];
static hob_loop *loop;
static hob_pool *pool;
static hob_store *store;
static uint64_t seed = 88172645463325252u;

static uint64_t next_random(void) {
    seed ^= seed << 13;
    seed ^= seed >> 7;
    return seed ^= seed << 17;
}

/* The n-th word is about n times as rare as the first. */
static int some_word(void) {
    double u = (double)(next_random() >> 11) / 9007199254740992.0;
    return (int)pow((double)VOCABULARY, u);
}

static void write_text(hob_buf *out) {
    for (int i = 0; i < WORDS; i++) hob_buf_addf(out, "w%d ", some_word());
}

static int remove_one(const char *name, const struct stat *st, int flag, struct FTW *ftw) {
    (void)st, (void)flag, (void)ftw;
    return remove(name);
}

/* ---- calls -------------------------------------------------------------------------------------------------- */

static int answered, code;
static size_t found;

static void on_done(int rc, const hob_error *err, void *user) {
    (void)user;
    if (rc < 0) fprintf(stderr, "bench/memory: %s\n", err->message);
    code = rc;
    answered = 1;
}

static void on_found(int rc, const hob_error *err, const hob_store_memory *items, size_t n,
                     const hob_store_tenant *numbers, hob_str next, void *user) {
    (void)items, (void)numbers, (void)next;
    found += n;
    on_done(rc, err, user);
}

static void wait_for_it(void) {
    while (!answered) hob_loop_run_once(loop, -1);
    answered = 0;
    if (code < 0) exit(1);
}

static void fill(const char *user, size_t n) {
    static hob_store_memory_change changes[BATCH];
    static char ids[BATCH][24];
    static hob_buf texts[BATCH];
    for (size_t done = 0; done < n; done += BATCH) {
        for (size_t i = 0; i < BATCH; i++) {
            snprintf(ids[i], sizeof ids[i], "m-%zu", done + i);
            hob_buf_init(&texts[i], 4096);
            write_text(&texts[i]);
            changes[i] = (hob_store_memory_change){.op = HOB_STORE_REMEMBER, .app = HOB_STR("app")};
            changes[i].user = hob_str_z(user);
            changes[i].item.id = hob_str_z(ids[i]);
            changes[i].item.text = hob_buf_str(&texts[i]);
            changes[i].item.importance = 0.5;
        }
        store->ops->commit(store, &(hob_store_batch){.memory = changes, .nmemory = BATCH}, on_done,
                           NULL);
        wait_for_it();
        for (size_t i = 0; i < BATCH; i++) hob_buf_finish(&texts[i]);
    }
}

/* Milliseconds of one search, the mean of many. */
static double search(const char *user) {
    char query[200];
    int64_t from = bench_now();
    for (int i = 0; i < SEARCHES; i++) {
        snprintf(query, sizeof query, "what is w%d and w%d of w%d in w%d", 1 + i % 7, 2 + i % 11,
                 5000 + i * 31, 9000 + i * 17);
        hob_store_memory_query q = {.app = HOB_STR("app"), .limit = 10};
        q.user = hob_str_z(user);
        q.query = hob_str_z(query);
        store->ops->memories(store, &q, on_found, NULL);
        wait_for_it();
    }
    return (double)(bench_now() - from) / 1e6 / SEARCHES;
}

static void open_all(void) {
    hob_error err;
    const char *tmp = getenv("TMPDIR");
    snprintf(dir, sizeof dir, "%s/hob-bench-XXXXXX", tmp && strlen(tmp) < 40 ? tmp : "/var/tmp");
    if (!mkdtemp(dir)) exit(1);
    snprintf(path, sizeof path, "%s/hob.db", dir);
    hob_sqlite_opts o = {.path = hob_str_z(path)};
    if (hob_loop_create(NULL, &loop, &err) < 0 || hob_pool_create(1, 64, &pool, &err) < 0) exit(1);
    o.pool = pool;
    if (hob_store_sqlite_open(loop, &o, &store, &err) < 0) exit(1);
}

static void close_all(void) {
    store->ops->close(store);
    hob_pool_destroy(pool);
    hob_loop_destroy(loop);
    nftw(dir, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

int main(int argc, char **argv) {
    bench_samples small = {.n = 0}, beside = {.n = 0}, large = {.n = 0};
    bench_table_init(argc, argv);
    open_all();
    fill("small", SMALL);
    for (int i = 0; i < ROUNDS; i++) bench_add(&small, search("small"));
    int64_t from = bench_now();
    fill("large", LARGE);
    double rate = LARGE / ((double)(bench_now() - from) / 1e9);
    for (int i = 0; i < ROUNDS; i++) {
        bench_add(&beside, search("small"));
        bench_add(&large, search("large"));
    }
    close_all();
    if (!found) bench_failed("memory.recall", "nothing was found");
    bench_row(
        (bench_line){.name = "memory.add", .unit = "/s", .value = rate, .note = "500 a commit"});
    bench_row((bench_line){.name = "memory.recall.1k", .unit = "ms", .samples = &small});
    bench_row((bench_line){.name = "memory.recall.100k", .unit = "ms", .samples = &large});
    bench_row((bench_line){.name = "memory.recall.100k/1k",
                           .unit = "x",
                           .value = bench_min(&large) / bench_min(&small),
                           .max = PROMISE_RATIO});
    bench_row((bench_line){.name = "memory.recall.beside",
                           .unit = "x",
                           .value = bench_min(&beside) / bench_min(&small),
                           .max = 2,
                           .note = "1,000 items beside another's 100,000"});
    return bench_table_finish();
}
