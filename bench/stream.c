/*
 * bench/stream.c - what streamed text costs: CPU per 1,000 deltas, over that of a run of one answer.
 *
 * In a burst the client reads many deltas at once; paced, one each 5 ms, it is woken for each.
 */
#include "rig.h"
#include "table.h"

#include <sys/stat.h>

#define DELTA_BYTES 5

typedef bench_run (*run_fn)(bench_rig *r, const bench_ask *a);

typedef struct stream {
    const char *name;
    bench_ask ask;
    unsigned deltas;
    int rounds;
    double max, ratio; /* ratio: to the floor; 0 = no promise */
} stream;

static const char *const json_flags[] = {"--output-format", "stream-json", NULL};

static const stream streams[] = {
    {"stream.burst.anthropic", {BENCH_ANTHROPIC, "deltas-20000", NULL, false}, 20000, 5, 3, 0},
    {"stream.burst.chat", {BENCH_CHAT, "deltas-20000", NULL, false}, 20000, 5, 3, 0},
    {"stream.burst.json_out", {BENCH_ANTHROPIC, "deltas-20000", json_flags, false}, 20000, 5, 3, 0},
    {"stream.paced", {BENCH_ANTHROPIC, "paced-600", NULL, false}, 600, 3, 40, 1.8},
};

/* Everything that was streamed must have come out. */
static bool all_printed(const bench_rig *r, unsigned deltas) {
    struct stat st;
    return stat(bench_rig_path(r, "out"), &st) == 0 && st.st_size >= (off_t)deltas * DELTA_BYTES;
}

static bool sample(bench_rig *r, run_fn run, const stream *s, bench_samples *cpu) {
    bench_ask small = s->ask;
    small.model = "text-8";
    bench_run one = run(r, &small), all = run(r, &s->ask);
    if (one.status != 0 || all.status != 0 || !all_printed(r, s->deltas)) return false;
    bench_add(cpu, (all.cpu_ms - one.cpu_ms) / s->deltas * 1000);
    return true;
}

static void measure(bench_rig *r, const stream *s) {
    bench_samples hob = {0}, bare = {0};
    for (int i = 0; i < s->rounds; i++) {
        if (!sample(r, bench_rig_hob, s, &hob) || !sample(r, bench_rig_floor, s, &bare)) {
            bench_failed(s->name, "a streamed answer did not come through");
            return;
        }
    }
    bench_row((bench_line){
        .name = s->name, .samples = &hob, .unit = "ms/1k", .max = s->max, .floor_of = &bare});
    if (s->ratio <= 0) return;
    bench_row((bench_line){.name = "stream.paced_ratio",
                           .value = bench_median(&hob) / bench_median(&bare),
                           .unit = "x",
                           .max = s->ratio});
}

int main(int argc, char **argv) {
    bench_rig r;
    bench_table_init(argc, argv);
    bench_rig_init(&r);
    for (size_t i = 0; i < HOB_ARRAY_LEN(streams); i++) measure(&r, &streams[i]);
    bench_rig_finish(&r);
    return bench_table_finish();
}
