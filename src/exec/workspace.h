/*
 * workspace.h - what workspace.c and workspace_write.c share.
 */
#ifndef HOB_SRC_EXEC_WORKSPACE_H
#define HOB_SRC_EXEC_WORKSPACE_H

#include "exec/exec.h"

#include <stdatomic.h>

#define HOB_PATH_MAX 4096 /* with its NUL: the kernel's limit for one path */

typedef struct hob_root {
    char *path;  /* canonical */
    char *given; /* as the host wrote it: models are told that name, too */
    int fd;      /* held for the life of the workspace */
} hob_root;

struct hob_workspace {
    atomic_int refs;
    size_t n;        /* roots, with those that are for reading only */
    size_t writable; /* the first ones */
    bool walk;       /* no openat2 here: component by component, no links at all */
    hob_root roots[];
};

/* A path taken apart: which root, and what is left, relative to it and never empty. */
typedef struct hob_place {
    const hob_root *root;
    char rel[HOB_PATH_MAX];
} hob_place;

int hob_workspace_locate(const hob_workspace *w, hob_str path, hob_place *out, hob_error *err);
/* The same in the folders that work is done in. HOB_EACCES: it is for reading only. */
int hob_workspace_locate_work(const hob_workspace *w, hob_str path, hob_place *out, hob_error *err);
/* openat beneath the root; -1 and errno (EXDEV: leads out). */
int hob_workspace_openat(const hob_workspace *w, const hob_root *root, const char *rel, int flags);
/* What errno means for that path. */
int hob_workspace_fail(hob_str path, hob_error *err);
/* The path behind an open descriptor, as the kernel sees it. */
int hob_workspace_path_of(int fd, hob_buf *out);
hob_str hob_workspace_shown(hob_str path); /* short enough for a message */

#ifdef HOB_TEST_POINTS
void hob_workspace_without_openat2(hob_workspace *w);
#endif

#endif
