/*
 * bench/long.c - long sessions: 2,500 turns in one run, then the same session resumed.
 *
 * A gap is the time from the end of an answer to the next request, whole, at the server: what the
 * client adds to a turn. The history is sent in full each time, some 5,000 messages at the end.
 */
#include "rig.h"
#include "table.h"

#include <stdio.h>

#define ROUNDS 9
#define TURNS 2500
#define AROUND 20 /* gaps that a figure is the median of */
#define LATE 2480

typedef bench_run (*run_fn)(bench_rig *r, const bench_ask *a);

typedef struct side {
    bench_samples early, late;
    double rss, cpu_s, body_kb;
    bench_samples resume;
    size_t messages;
} side;

static bool run_long(bench_rig *r, run_fn run, side *s) {
    bench_run all = run(r, &(bench_ask){.model = "turns-2500-read"});
    if (all.status != 0 || bench_mock_requests(r->mock) != TURNS + 1) return false;
    for (unsigned i = 0; i < AROUND; i++) {
        bench_add(&s->early, bench_rig_gap(r, i));
        bench_add(&s->late, bench_rig_gap(r, LATE - AROUND / 2 + i));
    }
    s->rss = all.rss_mb;
    s->body_kb = (double)r->mock->x[LATE].bytes / 1e3;
    s->cpu_s = all.cpu_ms / 1e3;
    return true;
}

static bool run_resume(bench_rig *r, run_fn run, side *s) {
    bench_run one = run(r, &(bench_ask){.model = "text-8", .resume = true});
    double request = bench_rig_to_request(r, &one);
    if (one.status != 0 || request < 0) return false;
    bench_add(&s->resume, request);
    s->messages = r->mock->x[0].messages;
    return true;
}

static void print_long(const side *hob, const side *bare) {
    char note[64];
    snprintf(note, sizeof(note), "%.0f KB sent", hob->body_kb);
    bench_row((bench_line){
        .name = "long.gap.turn_1", .samples = &hob->early, .unit = "ms", .floor_of = &bare->early});
    bench_row((bench_line){.name = "long.gap.turn_2480",
                           .samples = &hob->late,
                           .unit = "ms",
                           .max = 2,
                           .floor_of = &bare->late,
                           .note = note});
    bench_row((bench_line){.name = "long.gap.growth",
                           .value = bench_median(&hob->late) / bench_median(&hob->early),
                           .unit = "x",
                           .max = 5,
                           .floor = bench_median(&bare->late) / bench_median(&bare->early)});
    bench_row((bench_line){
        .name = "long.rss", .value = hob->rss, .unit = "MB", .max = 24, .floor = bare->rss});
    bench_row(
        (bench_line){.name = "long.cpu", .value = hob->cpu_s, .unit = "s", .floor = bare->cpu_s});
}

static void print_resume(const side *hob, const side *bare) {
    char note[64];
    snprintf(note, sizeof(note), "%zu messages sent", hob->messages);
    if (hob->messages < 2 * TURNS) {
        bench_failed("resume.5000", "the resumed conversation was not sent");
        return;
    }
    bench_row((bench_line){.name = "resume.5000",
                           .samples = &hob->resume,
                           .unit = "ms",
                           .max = 25,
                           .floor_of = &bare->resume,
                           .note = note});
}

static void measure(bench_rig *r) {
    side hob = {0}, bare = {0};
    if (!run_long(r, bench_rig_hob, &hob) || !run_long(r, bench_rig_floor, &bare)) {
        bench_failed("long", "a run of 2,500 turns failed");
        return;
    }
    print_long(&hob, &bare);
    for (int i = 0; i < ROUNDS; i++) {
        if (!run_resume(r, bench_rig_hob, &hob) || !run_resume(r, bench_rig_floor, &bare)) {
            bench_failed("resume.5000", "the session could not be resumed");
            return;
        }
    }
    print_resume(&hob, &bare);
}

int main(int argc, char **argv) {
    bench_rig r;
    bench_table_init(argc, argv);
    bench_rig_init(&r);
    measure(&r);
    bench_rig_finish(&r);
    return bench_table_finish();
}
