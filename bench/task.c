/*
 * bench/task.c - sub-agents: what starting one costs, and the memory of one at work.
 *
 * The model is scripted, everything is in SQLite. task.start is a whole run that asks one sub-agent and answers with what
 * it said; its floor is the same run with a call to a tool that does nothing. For task.memory sixteen of them wait at
 * once.
 */
#include "rig.h"
#include "table.h"

#include <hob/hob.h>

#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define RUNS 200
#define AT_ONCE 16

static const char script[] =
    "{\"rules\":["
    "{\"when\":{\"system\":{\"contains\":\"work as a sub-agent\"},\"user\":\"stay\",\"step\":1},"
    "\"reply\":[{\"tool\":\"gate\"}]},"
    "{\"when\":{\"system\":{\"contains\":\"work as a sub-agent\"}},\"reply\":[{\"text\":\"done\"}]},"
    "{\"when\":{\"user\":\"nothing\",\"step\":1},\"reply\":[{\"tool\":\"nothing\"}]},"
    "{\"when\":{\"user\":\"many\",\"step\":1},\"reply\":[{\"repeat\":{\"times\":16,\"reply\":[{\"tool\":"
    "\"task\",\"args\":{\"agent\":\"general\",\"prompt\":\"stay {{repeat}}\"}}]}}]},"
    "{\"when\":{\"step\":1},\"reply\":[{\"tool\":\"task\",\"args\":{\"agent\":\"general\",\"prompt\":"
    "\"go\"}}]},"
    "{\"reply\":[{\"text\":\"ok\"}]}]}";

static hob_reply *waiting[AT_ONCE];
static _Atomic int arrived;

static void run_gate(const hob_tool_call *call, hob_reply *reply, void *user) {
    (void)call, (void)user;
    waiting[arrived] = reply;
    arrived++;
}

static void run_nothing(const hob_tool_call *call, hob_reply *reply, void *user) {
    (void)call, (void)user;
    hob_reply_text(reply, HOB_OUTCOME_OK, hob_str_z("nothing"));
}

static double now_ms(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static double rss_kb(void) {
    long pages = 0;
    FILE *f = fopen("/proc/self/statm", "re");
    if (!f || fscanf(f, "%*s %ld", &pages) != 1) pages = 0;
    if (f) fclose(f);
    return (double)pages * (double)sysconf(_SC_PAGESIZE) / 1024;
}

static void must(int rc, const hob_error *err) {
    if (rc >= 0) return;
    fprintf(stderr, "bench/task: %s\n", err->message);
    exit(1);
}

/* Milliseconds of one run of this prompt, on the mean. */
static double time_runs(hob_session *s, const char *prompt, int n) {
    hob_error err;
    double start = now_ms();
    for (int i = 0; i < n; i++)
        must(hob_session_prompt_and_wait(s, hob_str_z(prompt), 60000, NULL, &err), &err);
    return (now_ms() - start) / n;
}

static double memory_of_one(hob_session *s) {
    hob_error err;
    time_runs(s, "go", 20); /* what grows once has grown */
    double before = rss_kb();
    must(hob_session_prompt(s, hob_str_z("many"), &err), &err);
    while (arrived < AT_ONCE) usleep(1000);
    double kb = (rss_kb() - before) / AT_ONCE;
    for (int i = 0; i < AT_ONCE; i++)
        hob_reply_text(waiting[i], HOB_OUTCOME_OK, hob_str_z("go on"));
    must(hob_session_wait(s, 60000, NULL, &err), &err);
    return kb;
}

static hob_tool tool(const char *name, void (*run)(const hob_tool_call *, hob_reply *, void *)) {
    hob_tool t = HOB_TOOL_INIT;
    t.name = name;
    t.description = "for the bench";
    t.class_ = HOB_TOOL_READ_ONLY;
    t.run = run;
    return t;
}

static void measure(hob_runtime *rt, const bench_rig *r, const char *model) {
    hob_tool tools[] = {tool("gate", run_gate), tool("nothing", run_nothing)};
    hob_session_opts so = HOB_SESSION_OPTS_INIT;
    hob_session *s;
    hob_error err;
    so.cwd = bench_rig_path(r, "work");
    so.model = model;
    so.tools = tools;
    so.ntools = 2;
    must(hob_session_create(rt, &so, &s, &err), &err);
    double kb = memory_of_one(s), floor = time_runs(s, "nothing", RUNS);
    double ms = time_runs(s, "go", RUNS);
    bench_row((bench_line){.name = "task.start", .value = ms, .unit = "ms", .floor = floor});
    bench_row((bench_line){.name = "task.memory", .value = kb, .unit = "KB"});
    hob_session_close(s);
}

int main(int argc, char **argv) {
    char store[320], model[320];
    bench_rig r;
    hob_runtime_opts o = HOB_RUNTIME_OPTS_INIT;
    hob_runtime *rt;
    hob_error err;
    bench_table_init(argc, argv);
    bench_rig_init(&r);
    FILE *f = fopen(bench_rig_path(&r, "task.json"), "we");
    if (!f) return 1;
    fputs(script, f);
    fclose(f);
    snprintf(store, sizeof store, "sqlite:%s", bench_rig_path(&r, "task.db"));
    snprintf(model, sizeof model, "scripted:%s", bench_rig_path(&r, "task.json"));
    o.store = store;
    o.libexec_dir = HOB_BINARY_DIR;
    must(hob_runtime_create(&o, &rt, &err), &err);
    measure(rt, &r, model);
    hob_runtime_destroy(rt);
    bench_rig_finish(&r);
    return bench_table_finish();
}
