#include "rig.h"

#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define NOTES 100 /* lines */

const char *bench_rig_path(const bench_rig *r, const char *name) {
    static char paths[8][320];
    static unsigned next;
    char *p = paths[next++ % HOB_ARRAY_LEN(paths)];
    snprintf(p, sizeof(paths[0]), "%s/%s", r->dir, name);
    return p;
}

static FILE *create(const bench_rig *r, const char *name) {
    FILE *f = fopen(bench_rig_path(r, name), "we");
    if (!f) {
        perror("bench: cannot write into its folder");
        exit(1);
    }
    return f;
}

static void write_files(const bench_rig *r) {
    FILE *f = create(r, "config.json");
    fprintf(
        f,
        "{\"providers\": {\n"
        "  \"mock\": {\"api\": \"anthropic\", \"base_url\": \"http://127.0.0.1:%d\", \"api_key\": \"k\"},\n"
        "  \"chat\": {\"api\": \"openai-chat\", \"base_url\": \"http://127.0.0.1:%d/v1\", "
        "\"api_key\": \"k\"}\n}}\n",
        r->mock->port, r->mock->port);
    fclose(f);
    f = create(r, "work/notes.txt");
    for (int i = 1; i <= NOTES; i++)
        fprintf(f, "line %d: what was noted about the work of that day\n", i);
    fclose(f);
}

void bench_rig_init(bench_rig *r) {
    r->mock = bench_mock_start();
    snprintf(r->dir, sizeof(r->dir), "%s/bench-XXXXXX", HOB_BINARY_DIR);
    if (!mkdtemp(r->dir) || mkdir(bench_rig_path(r, "work"), 0700) != 0) {
        perror("bench: cannot make its folder");
        exit(1);
    }
    write_files(r);
}

static int remove_entry(const char *path, const struct stat *st, int kind, struct FTW *at) {
    (void)st, (void)kind, (void)at;
    return remove(path);
}

void bench_rig_finish(bench_rig *r) {
    bench_mock_stop(r->mock);
    nftw(r->dir, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
}

static bench_run run(bench_rig *r, const char *const *argv) {
    char home[320], hob_home[320];
    const char *envp[] = {"PATH=/usr/local/bin:/usr/bin:/bin", "LANG=C.UTF-8", home, hob_home,
                          NULL};
    bench_child_opts o = {.argv = argv,
                          .envp = envp,
                          .output = bench_rig_path(r, "out"),
                          .errors = bench_rig_path(r, "err")};
    snprintf(home, sizeof(home), "HOME=%s", r->dir);
    snprintf(hob_home, sizeof(hob_home), "HOB_HOME=%s", r->dir);
    bench_mock_reset(r->mock);
    return bench_child_run(&o);
}

bench_run bench_rig_hob(bench_rig *r, const bench_ask *a) {
    char model[64];
    const char *argv[24] = {
        HOB_BINARY_DIR "/hob", "-p",  "-m", model, "-C", bench_rig_path(r, "work"),
        "--permission-mode",   "yolo"};
    size_t n = 8;
    snprintf(model, sizeof(model), "%s/%s", a->api == BENCH_CHAT ? "chat" : "mock", a->model);
    for (size_t i = 0; a->flags && a->flags[i] && n < 20; i++) argv[n++] = a->flags[i];
    if (a->resume) argv[n++] = "-c";
    argv[n++] = "hello";
    return run(r, argv);
}

bench_run bench_rig_floor(bench_rig *r, const bench_ask *a) {
    char url[96];
    const char *argv[] = {HOB_BINARY_DIR "/bench/floor/client",
                          url,
                          a->model,
                          bench_rig_path(r, "floor.db"),
                          bench_rig_path(r, "work/notes.txt"),
                          a->resume ? "resume" : NULL,
                          NULL};
    snprintf(url, sizeof(url), "http://127.0.0.1:%d/v1/%s", r->mock->port,
             a->api == BENCH_CHAT ? "chat/completions" : "messages");
    return run(r, argv);
}

bench_run bench_rig_program(bench_rig *r, const char *name, const char *argument) {
    char path[320];
    const char *argv[] = {path, argument, NULL};
    snprintf(path, sizeof(path), "%s/%s", HOB_BINARY_DIR, name);
    return run(r, argv);
}

double bench_rig_to_request(const bench_rig *r, const bench_run *run_) {
    if (!atomic_load(&r->mock->count)) return -1;
    return (double)(r->mock->x[0].whole_ns - run_->spawned_ns) / 1e6;
}

double bench_rig_gap(const bench_rig *r, unsigned i) {
    return (double)(r->mock->x[i + 1].whole_ns - r->mock->x[i].answered_ns) / 1e6;
}
