/*
 * worktree.h - a git worktree for one sub-agent: found out about, made, looked at, removed.
 *
 *     find    what a folder belongs to: repository, tree, commit. Changes nothing.
 *     make    a branch and a tree beside the caller's, from a commit. What an attempt that did not end left there is
 *             removed first: until it was made nobody works in it.
 *     look    has anything changed since? Not sure counts as changed.
 *     remove  the tree and the branch; the branch only while it stands where it began.
 *
 * Each is a chain of commands (git.h), one operation. Once it is made, git is told where the worktree's own data is: the
 * `.git` file in the tree is within reach of whoever works there, and is not believed.
 */
#ifndef HOB_SRC_EXEC_WORKTREE_H
#define HOB_SRC_EXEC_WORKTREE_H

#include "exec/exec.h"

typedef struct hob_worktree {
    const char *repository; /* its .git folder, the one that all its trees share */
    const char *top;        /* the tree that it is made from */
    const char *prefix;     /* the caller's folder in it: "" or "src/lib" */
    const char *base;       /* the commit it begins with */
    const char *folder;     /* where it is; the last part of it is its name */
    const char *branch;
} hob_worktree;

typedef struct hob_worktree_news {
    int code; /* >= 0, or why it failed */
    hob_error err;
    hob_worktree found;     /* find: without folder and branch */
    bool changed;           /* look */
    int64_t files, commits; /* look: not committed; committed since */
} hob_worktree_news;

typedef struct hob_worktree_op hob_worktree_op;
/* From the loop itself, once, when the operation is over; it is gone then. */
typedef void (*hob_worktree_fn)(void *user, const hob_worktree_news *n);

typedef struct hob_worktree_env {
    hob_exec *exec;
    const char *const *envp; /* where PATH and the user's settings are found */
    hob_worktree_fn done;
    void *user;
} hob_worktree_env;

/* What they are given is copied. */
int hob_worktree_find(const hob_worktree_env *env, const char *cwd, hob_worktree_op **out,
                      hob_error *err);
int hob_worktree_make(const hob_worktree_env *env, const hob_worktree *w, hob_worktree_op **out,
                      hob_error *err);
int hob_worktree_look(const hob_worktree_env *env, const hob_worktree *w, hob_worktree_op **out,
                      hob_error *err);
int hob_worktree_remove(const hob_worktree_env *env, const hob_worktree *w, hob_worktree_op **out,
                        hob_error *err);
/* make: stops it and removes what there is of it; done follows, with HOB_ECANCELLED unless it had failed before. */
void hob_worktree_op_cancel(hob_worktree_op *op);
void hob_worktree_op_destroy(hob_worktree_op *op); /* kills what runs; done is not called */

#endif
