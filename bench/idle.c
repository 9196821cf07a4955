/*
 * bench/idle.c - sessions that wait, many in one process: their memory and the CPU they take.
 *
 * Each was used once (a prompt, a scripted answer, all of it in SQLite) and then left alone, as a
 * server leaves those whose users think. The rest of the 10,000 are opened and not used yet.
 */
#include "rig.h"
#include "table.h"

#include <hob/hob.h>

#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#define FIRST 500
#define USED 1000
#define ALL 10000

static double rss_kb(void) {
    long pages = 0;
    FILE *f = fopen("/proc/self/statm", "re");
    if (!f || fscanf(f, "%*s %ld", &pages) != 1) pages = 0;
    if (f) fclose(f);
    return (double)pages * (double)sysconf(_SC_PAGESIZE) / 1024;
}

static double cpu_ms(void) {
    struct rusage u;
    getrusage(RUSAGE_SELF, &u);
    return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) * 1e3 +
           (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) / 1e3;
}

typedef struct fleet {
    hob_runtime *rt;
    hob_session_opts opts;
    hob_session **sessions;
    size_t n;
} fleet;

/* A prompt, an answer, and its events read to the end as a server does. */
static int use_one(hob_session *s, hob_error *err) {
    hob_event *e;
    int rc = hob_session_prompt_and_wait(s, HOB_STR("greet Ada"), 10000, NULL, err);
    if (rc < 0) return rc;
    while ((rc = hob_session_next_event(s, 10000, &e)) == 1) hob_event_unref(e);
    return rc < 0 ? hob_fail(err, rc, 0, "the events cannot be read") : rc;
}

static bool add_one(fleet *f, bool use) {
    hob_error err;
    hob_session **s = &f->sessions[f->n];
    int rc = hob_session_create(f->rt, &f->opts, s, &err);
    if (rc >= 0) {
        f->n++;
        if (use) rc = use_one(*s, &err);
    }
    if (rc < 0) fprintf(stderr, "bench/idle: %s\n", err.message);
    return rc >= 0;
}

static bool add(fleet *f, size_t upto, bool use) {
    while (f->n < upto) {
        if (!add_one(f, use)) return false;
    }
    return true;
}

static void measure(fleet *f) {
    if (!add(f, FIRST, true)) { /* what the first ones bring along is not theirs: caches fill */
        bench_failed("idle.used", "a session could not be used");
        return;
    }
    double start = rss_kb();
    if (!add(f, FIRST + USED, true)) {
        bench_failed("idle.used", "a session could not be used");
        return;
    }
    double used = rss_kb();
    if (!add(f, ALL, false)) {
        bench_failed("idle.fresh", "a session could not be opened");
        return;
    }
    double all = rss_kb(), cpu = cpu_ms();
    sleep(1);
    cpu = cpu_ms() - cpu;
    bench_row(
        (bench_line){.name = "idle.used", .value = (used - start) / USED, .unit = "KB", .max = 16});
    bench_row((bench_line){.name = "idle.fresh",
                           .value = (all - used) / (ALL - FIRST - USED),
                           .unit = "KB",
                           .max = 16});
    bench_row(
        (bench_line){.name = "idle.10000.rss", .value = all / 1024, .unit = "MB", .max = 256});
    bench_row((bench_line){.name = "idle.10000.cpu", .value = cpu, .unit = "ms/s", .max = 1});
}

static bool fleet_init(fleet *f, const bench_rig *r) {
    static char store[320], model[320];
    hob_runtime_opts o = HOB_RUNTIME_OPTS_INIT;
    hob_error err;
    FILE *script = fopen(bench_rig_path(r, "greet.json"), "we");
    if (!script) return false;
    fputs("{\"otherwise\": [{\"text\": \"Hello, Ada!\"}]}\n", script);
    fclose(script);
    snprintf(store, sizeof(store), "sqlite:%s", bench_rig_path(r, "idle.db"));
    snprintf(model, sizeof(model), "scripted:%s", bench_rig_path(r, "greet.json"));
    o.store = store;
    o.libexec_dir = HOB_BINARY_DIR;
    if (hob_runtime_create(&o, &f->rt, &err) < 0) {
        fprintf(stderr, "bench/idle: %s\n", err.message);
        return false;
    }
    f->opts = (hob_session_opts)HOB_SESSION_OPTS_INIT;
    f->opts.cwd = bench_rig_path(r, "work");
    f->opts.model = model;
    f->sessions = hob_alloc(ALL * sizeof(hob_session *));
    return true;
}

/* The store is thrown away with its folder: nothing is closed one by one. */
int main(int argc, char **argv) {
    bench_rig r;
    fleet f = {0};
    bench_table_init(argc, argv);
    bench_rig_init(&r);
    if (fleet_init(&f, &r)) {
        measure(&f);
    } else {
        bench_failed("idle.used", "no runtime");
    }
    bench_rig_finish(&r);
    return bench_table_finish();
}
