/*
 * bench/size.c - how large what is installed is.
 */
#include "rig.h"
#include "table.h"

#include <stdio.h>
#include <sys/stat.h>

static void measure(const bench_rig *r, const char *name, const char *file, double max) {
    static const char *const envp[] = {"PATH=/usr/bin:/bin", NULL};
    char path[512];
    struct stat st;
    snprintf(path, sizeof(path), "%s/%s", HOB_BINARY_DIR, file);
    const char *small = bench_rig_path(r, "stripped");
    const char *argv[] = {"/usr/bin/strip", "-o", small, path, NULL};
    if (bench_child_run(&(bench_child_opts){.argv = argv, .envp = envp}).status != 0 ||
        stat(small, &st) != 0) {
        bench_failed(name, "it could not be stripped");
        return;
    }
    bench_row(
        (bench_line){.name = name, .value = (double)st.st_size / 1e6, .unit = "MB", .max = max});
}

int main(int argc, char **argv) {
    bench_rig r;
    bench_table_init(argc, argv);
    bench_rig_init(&r);
    measure(&r, "size.libhob.so", "libhob.so", 1.5);
    measure(&r, "size.hob", "hob", 0);
    bench_rig_finish(&r);
    return bench_table_finish();
}
