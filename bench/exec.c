/*
 * bench/exec.c - what it costs to run a command under hob-exec.
 *
 * CPU of this process and of all its children, per command, best of several rounds. The floor is a
 * bare posix_spawn of the same command.
 */
#include "exec/exec.h"

#include "table.h"

#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>

#define ROUNDS 7
#define TIMES 50
/* Of a whole shell tool turn: the command must leave room for the rest. */
#define PROMISE_MS 3.0

static const char *const environment[] = {"PATH=/usr/bin:/bin", NULL};

static double milliseconds(struct timeval t) {
    return (double)t.tv_sec * 1e3 + (double)t.tv_usec / 1e3;
}

static double cpu_ms(void) {
    struct rusage self, children;
    getrusage(RUSAGE_SELF, &self);
    getrusage(RUSAGE_CHILDREN, &children);
    return milliseconds(self.ru_utime) + milliseconds(self.ru_stime) +
           milliseconds(children.ru_utime) + milliseconds(children.ru_stime);
}

static bool run_bare(hob_exec *x, const char *const *argv) {
    pid_t pid;
    int status;
    (void)x;
    return posix_spawn(&pid, argv[0], NULL, NULL, (char *const *)argv,
                       (char *const *)environment) == 0 &&
           waitpid(pid, &status, 0) == pid && status == 0;
}

static hob_loop *loop;

static void on_output(void *user, hob_str chunk) {
    (void)user, (void)chunk;
}

static void on_ended(void *user, const hob_job_result *r) {
    *(int *)user = r->end == HOB_JOB_EXITED && r->status == 0 ? 1 : -1;
}

static bool run_hob(hob_exec *x, const char *const *argv) {
    static const hob_job_handler handler = {on_output, on_ended};
    hob_job_opts o = {.argv = argv, .envp = environment, .cwd = "/", .timeout_ms = 60000};
    hob_job *j;
    int ended = 0;
    if (hob_job_start(x, &o, &handler, &ended, &j, NULL) < 0) return false;
    while (!ended) hob_loop_run_once(loop, -1);
    hob_job_destroy(j);
    return ended > 0;
}

static bool cost(hob_exec *x, const char *const *argv, bool (*run)(hob_exec *, const char *const *),
                 bench_samples *cpu) {
    double start = cpu_ms();
    for (int i = 0; i < TIMES; i++) {
        if (!run(x, argv)) return false;
    }
    bench_add(cpu, (cpu_ms() - start) / TIMES);
    return true;
}

static void row(const char *name, hob_exec *x, const char *const *argv) {
    bench_samples hob = {0}, bare = {0};
    for (int i = 0; i < ROUNDS; i++) {
        if (!cost(x, argv, run_hob, &hob) || !cost(x, argv, run_bare, &bare)) {
            bench_failed(name, "the command failed");
            return;
        }
    }
    bench_row((bench_line){
        .name = name, .samples = &hob, .unit = "ms", .max = PROMISE_MS, .floor_of = &bare});
}

int main(int argc, char **argv) {
    bench_table_init(argc, argv);
    static const char *const program[] = {"/bin/true", NULL};
    static const char *const sh[] = {"/bin/sh", "-c", "true", NULL};
    static const char *const bash[] = {"/bin/bash", "-c", "true", NULL};
    hob_exec_opts o = {.libexec_dir = HOB_BINARY_DIR};
    hob_exec *x;
    if (hob_loop_create(NULL, &loop, NULL) < 0 || hob_exec_create(loop, &o, &x, NULL) < 0) return 1;
    row("exec.true", x, program);
    row("exec.sh", x, sh);
    row("exec.bash", x, bash);
    hob_exec_destroy(x);
    hob_loop_destroy(loop);
    return bench_table_finish();
}
