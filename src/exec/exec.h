/*
 * exec.h - commands, and files beneath held folders.
 *
 * A command runs under `hob-exec`, a small helper that hob starts with posix_spawn. It holds a
 * life-line socket: when our end closes - cancel, crash, kill -9 - it kills everything that it
 * started, also what called setsid or was orphaned (it is a child subreaper, so nothing gets away from
 * it; see helper/hob-exec.c). The helper is found by: runtime option -> libexec folder -> the copy
 * embedded in the library (memfd). Never by PATH or the current folder.
 *
 * All calls are [loop], callbacks run on the loop; but a workspace may be used from any thread once it
 * is open.
 */
#ifndef HOB_SRC_EXEC_H
#define HOB_SRC_EXEC_H

#include "loop/loop.h"

typedef struct hob_exec hob_exec;
typedef struct hob_job hob_job;

typedef struct hob_exec_opts {
    const char *helper;      /* explicit path of hob-exec; NULL = look it up */
    const char *libexec_dir; /* configured folder; NULL = none */
} hob_exec_opts;
int hob_exec_create(hob_loop *l, const hob_exec_opts *o, hob_exec **out, hob_error *err);
/* Every job must have ended or been destroyed; waits a moment for trees still being killed. */
void hob_exec_destroy(hob_exec *x);
hob_loop *hob_exec_loop(hob_exec *x);

typedef struct hob_job_opts {
    const char *const
        *argv; /* argv[0] is an absolute path; for a shell: {"/bin/sh","-c",command} */
    const char *const *envp; /* the whole environment of the command */
    const char *cwd;         /* absolute */
    hob_str input;           /* what stdin reads; "" = /dev/null */
    int64_t timeout_ms;      /* > 0 */
} hob_job_opts;

typedef enum hob_job_end {
    HOB_JOB_EXITED,    /* `status` is the exit code, or 128 + signal */
    HOB_JOB_TIMED_OUT, /* the tree was killed, as by a soft cancel */
    HOB_JOB_CANCELLED,
    HOB_JOB_FAILED /* could not be started; `error` says why */
} hob_job_end;

typedef struct hob_job_result {
    hob_job_end end;
    int status;
    int64_t duration_ms;
    hob_error error; /* code 0, unless FAILED, or HOB_EBUSY: something could not be killed */
} hob_job_result;

typedef struct hob_job_handler {
    /* stdout and stderr as they come, raw bytes. Never paused: keep only what you can hold. */
    void (*output)(void *user, hob_str chunk);
    /* Once. Every process of the tree is gone by then. */
    void (*ended)(void *user, const hob_job_result *r);
} hob_job_handler;

int hob_job_start(hob_exec *x, const hob_job_opts *o, const hob_job_handler *h, void *user,
                  hob_job **out, hob_error *err);
void hob_job_cancel(hob_job *j, bool hard); /* soft: TERM, 2 s, KILL; hard: KILL. ended() follows */
void hob_job_destroy(hob_job *j);           /* kills what still runs; no callback */

/* ---- workspace.c: files beneath held folders ----------------------------------------------- */
/* Paths are resolved with openat2(RESOLVE_BENEATH) from folders held open: symbolic links and `..`
 * cannot lead out. The first root is the workspace; relative paths are relative to it. */
typedef struct hob_workspace hob_workspace;
int hob_workspace_open(const hob_str *roots, size_t n, hob_workspace **out, hob_error *err);
/* The same with further folders of which files can be read and nothing else. Those that are not there, or beneath the
 * others, are left out. */
int hob_workspace_open_with(const hob_str *roots, size_t n, const hob_str *readable, size_t m,
                            hob_workspace **out, hob_error *err);
/* Workers hold a reference while they use it. [any] */
hob_workspace *hob_workspace_ref(hob_workspace *w);
void hob_workspace_close(
    hob_workspace *w); /* gives one reference back; the last one closes. [any] */
hob_str hob_workspace_root(const hob_workspace *w, size_t i); /* canonical */
size_t hob_workspace_roots(const hob_workspace *w);           /* without those for reading only */
/* A regular file for reading (never blocks on a FIFO). HOB_ENOENT, HOB_EACCES (outside the roots,
 * not a regular file). The fd is the caller's. */
int hob_workspace_open_file(hob_workspace *w, hob_str path, int *fd, hob_error *err);
/* Atomically replaces or creates a file (temporary file in the same folder, fsync, rename); makes
 * missing folders; keeps the mode of an existing file. Returns one of: */
enum {
    HOB_WRITE_CREATED,
    HOB_WRITE_REPLACED,
    HOB_WRITE_SPLIT /* replaced; the file had more names (hard links), which keep the old content */
};
int hob_workspace_write(hob_workspace *w, hob_str path, hob_str content, hob_error *err);
/* The absolute name of a file, as the host names its folder, without dots; HOB_EACCES: outside, or for reading only. */
typedef enum hob_workspace_use { HOB_WORKSPACE_READ, HOB_WORKSPACE_WRITE } hob_workspace_use;
int hob_workspace_name(const hob_workspace *w, hob_str path, hob_workspace_use use, hob_buf *out,
                       hob_error *err);
/* Where the path leads if a symbolic link stands on the way: 1, and it is appended to out as a path without
 * links, relative to the first root or as the host names the others. 0 = no link. */
int hob_workspace_follow(hob_workspace *w, hob_str path, hob_buf *out, hob_error *err);
/* Is this folder beneath a root? `out` gets its canonical path. "" is the first root. */
int hob_workspace_folder(hob_workspace *w, hob_str path, hob_buf *out, hob_error *err);

#endif
