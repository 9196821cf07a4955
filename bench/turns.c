/*
 * bench/turns.c - what a tool turn costs: CPU of a run of 200 turns over that of a run of one answer.
 */
#include "rig.h"
#include "table.h"

#define ROUNDS 5
#define TURNS 200

typedef bench_run (*run_fn)(bench_rig *r, const bench_ask *a);

/* CPU of one turn; false: a run failed. */
static bool turn(bench_rig *r, run_fn run, const char *model, bench_samples *cpu) {
    bench_run one = run(r, &(bench_ask){.model = "text-8"});
    bench_run all = run(r, &(bench_ask){.model = model});
    if (one.status != 0 || all.status != 0 || bench_mock_requests(r->mock) != TURNS + 1)
        return false;
    bench_add(cpu, (all.cpu_ms - one.cpu_ms) / TURNS);
    return true;
}

static void measure(bench_rig *r, const char *name, const char *model, double max,
                    const char *note) {
    bench_samples hob = {0}, bare = {0};
    for (int i = 0; i < ROUNDS; i++) {
        if (!turn(r, bench_rig_hob, model, &hob) || !turn(r, bench_rig_floor, model, &bare)) {
            bench_failed(name, "a run of 200 turns failed");
            return;
        }
    }
    bench_row((bench_line){
        .name = name, .samples = &hob, .unit = "ms", .max = max, .floor_of = &bare, .note = note});
}

int main(int argc, char **argv) {
    bench_rig r;
    bench_table_init(argc, argv);
    bench_rig_init(&r);
    measure(&r, "turn.read.cpu", "turns-200-read", 0.6, NULL);
    measure(&r, "turn.bash.cpu", "turns-200-bash", 3, "without a sandbox rung");
    bench_rig_finish(&r);
    return bench_table_finish();
}
