/*
 * internal.h - what the files of exec/ share.
 */
#ifndef HOB_SRC_EXEC_INTERNAL_H
#define HOB_SRC_EXEC_INTERNAL_H

#include "exec/exec.h"

#define HOB_EXEC_READ (64 * 1024) /* bytes of output taken at once: what a pipe holds */

struct hob_exec {
    hob_loop *loop;
    char *path; /* of hob-exec; "/proc/self/fd/N" for the embedded copy */
    int image;  /* that memfd, or -1 */
    hob_list guards;
    char *buffer; /* HOB_EXEC_READ bytes, shared by the jobs */
};

/* One running hob-exec. It outlives a job that is destroyed early: hob-exec then still has a tree to
 * kill, and must not be killed itself before it is done. */
typedef struct hob_guard {
    hob_exec *exec;
    hob_job *job; /* NULL: nobody waits for it any more */
    hob_child *child;
    hob_list link;
} hob_guard;

int hob_exec_write(int fd, hob_str s); /* all of it; -1 and errno */

#endif
