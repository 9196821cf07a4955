/*
 * scratch.h - a folder of one's own under TMPDIR, filled and removed by the test.
 */
#ifndef HOB_TESTS_SCRATCH_H
#define HOB_TESTS_SCRATCH_H

#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/check.h"

typedef struct scratch {
    char dir[PATH_MAX]; /* canonical */
} scratch;

static inline void scratch_init(scratch *s) {
    const char *tmp = getenv("TMPDIR");
    char made[PATH_MAX];
    snprintf(made, sizeof(made), "%s/hob-test-XXXXXX", tmp && *tmp ? tmp : "/tmp");
    assert_non_null(mkdtemp(made));
    assert_non_null(realpath(made, s->dir));
}

static inline int scratch_remove_one(const char *path, const struct stat *st, int type,
                                     struct FTW *at) {
    (void)st, (void)type, (void)at;
    return remove(path);
}

static inline void scratch_finish(scratch *s) {
    assert_int_equal(nftw(s->dir, scratch_remove_one, 16, FTW_DEPTH | FTW_PHYS), 0);
}

/* The path of a name in the folder; good until the eighth call after it. */
static inline const char *scratch_path(const scratch *s, const char *name) {
    static char ring[8][PATH_MAX * 2];
    static unsigned next;
    char *path = ring[next++ % 8];
    snprintf(path, sizeof(ring[0]), "%s/%s", s->dir, name);
    return path;
}

/* A path to keep: `out` has PATH_MAX * 2 bytes. */
static inline void scratch_keep(char *out, const char *path) {
    size_t n = strlen(path);
    assert_true(n < PATH_MAX * 2);
    memcpy(out, path, n + 1);
}

static inline const char *scratch_mkdir(const scratch *s, const char *name) {
    const char *path = scratch_path(s, name);
    char part[PATH_MAX * 2];
    for (size_t i = strlen(s->dir) + 1; i <= strlen(path); i++) {
        if (path[i] != '/' && path[i] != '\0') continue;
        memcpy(part, path, i);
        part[i] = '\0';
        mkdir(part, 0700);
    }
    return path;
}

/* Writes a file, its folders included; returns its path. */
static inline const char *scratch_write(const scratch *s, const char *name, const char *text) {
    const char *slash = strrchr(name, '/');
    if (slash) {
        char folder[PATH_MAX];
        snprintf(folder, sizeof(folder), "%.*s", (int)(slash - name), name);
        scratch_mkdir(s, folder);
    }
    const char *path = scratch_path(s, name);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    assert_int_equal(fwrite(text, 1, strlen(text), f), strlen(text));
    assert_int_equal(fclose(f), 0);
    return path;
}

#endif
