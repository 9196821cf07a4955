/*
 * bench/start.c - how long until hob works: --version, the first request, a whole run of one turn.
 *
 * hob and the bare program take turns, so that both meet the same weather. Both find their store and
 * their pages warm: the first run of each is not counted.
 */
#include "rig.h"
#include "table.h"

#define ROUNDS 21

typedef struct side {
    bench_samples wall, request, cpu, rss;
} side;

static bool take(bench_rig *r, side *s, bench_run run, bool asks) {
    double request = asks ? bench_rig_to_request(r, &run) : 0;
    if (run.status != 0 || request < 0) return false;
    bench_add(&s->wall, run.wall_ms);
    bench_add(&s->request, request);
    bench_add(&s->cpu, run.cpu_ms);
    bench_add(&s->rss, run.rss_mb);
    return true;
}

static void measure_version(bench_rig *r) {
    side hob = {0}, bare = {0};
    bench_rig_program(r, "hob", "--version");
    for (int i = 0; i < ROUNDS; i++) {
        if (!take(r, &hob, bench_rig_program(r, "hob", "--version"), false) ||
            !take(r, &bare, bench_rig_program(r, "bench/floor/version", NULL), false)) {
            bench_failed("start.version", "hob --version failed");
            return;
        }
    }
    bench_row((bench_line){.name = "start.version",
                           .samples = &hob.wall,
                           .unit = "ms",
                           .max = 4,
                           .floor_of = &bare.wall});
}

static void print_run(const side *hob, const side *bare) {
    bench_row((bench_line){.name = "start.request",
                           .samples = &hob->request,
                           .unit = "ms",
                           .max = 14,
                           .floor_of = &bare->request});
    bench_row((bench_line){.name = "start.request_ratio",
                           .value = bench_median(&hob->request) / bench_median(&bare->request),
                           .unit = "x",
                           .max = 1.5});
    bench_row((bench_line){
        .name = "run.wall", .samples = &hob->wall, .unit = "ms", .floor_of = &bare->wall});
    bench_row((bench_line){
        .name = "run.cpu", .samples = &hob->cpu, .unit = "ms", .max = 18, .floor_of = &bare->cpu});
    bench_row((bench_line){
        .name = "run.rss", .samples = &hob->rss, .unit = "MB", .max = 16, .floor_of = &bare->rss});
}

static void measure_run(bench_rig *r) {
    static const bench_ask ask = {.api = BENCH_ANTHROPIC, .model = "text-8"};
    side hob = {0}, bare = {0};
    bench_rig_hob(r, &ask);
    bench_rig_floor(r, &ask);
    for (int i = 0; i < ROUNDS; i++) {
        if (!take(r, &hob, bench_rig_hob(r, &ask), true) ||
            !take(r, &bare, bench_rig_floor(r, &ask), true)) {
            bench_failed("start.request", "a run of one turn failed");
            return;
        }
    }
    print_run(&hob, &bare);
}

int main(int argc, char **argv) {
    bench_rig r;
    bench_table_init(argc, argv);
    bench_rig_init(&r);
    measure_version(&r);
    measure_run(&r);
    bench_rig_finish(&r);
    return bench_table_finish();
}
