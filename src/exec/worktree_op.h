/*
 * worktree_op.h - an operation on a worktree from the inside: between worktree.c, which has the chains of commands, and
 * its parts worktree_find.c and worktree_clear.c.
 */
#ifndef HOB_SRC_EXEC_WORKTREE_OP_H
#define HOB_SRC_EXEC_WORKTREE_OP_H

#include "exec/git.h"
#include "exec/worktree.h"

#define HOB_WORKTREE_MS (15 * 60 * 1000) /* to fill or to empty a large tree */

typedef enum hob_worktree_step {
    WT_TREE,
    WT_HEAD,
    WT_FOLDER,
    WT_CLEAR,
    WT_ADD,
    WT_FILTERS,
    WT_FILL,
    WT_STATUS,
    WT_TIPS,
    WT_COUNT,
    WT_DROP_TREE,
    WT_DROP_BRANCH,
    WT_UNDO_TREE,
    WT_UNDO_BRANCH,
    WT_OVER
} hob_worktree_step;

struct hob_worktree_op {
    hob_worktree_env env;
    hob_arena *arena;
    hob_git *git;
    hob_worktree_step at;
    bool looks; /* not makes */
    const char *cwd;
    hob_worktree w;
    const char *admin, *lock, *ref; /* made from w */
    int lock_fd;                    /* -1 = not held */
    int64_t lock_since;
    const char **left; /* what CLEAR removes; NULL-terminated */
    hob_worktree_news news;
    hob_timer later;
};

/* ---- worktree.c */
const char *hob_worktree_text(hob_worktree_op *op, const char *before, const char *between,
                              const char *after); /* in the arena */
const char *hob_worktree_keep(hob_worktree_op *op, hob_str s);
void hob_worktree_later(hob_worktree_op *op, int64_t ms); /* the same step */
void hob_worktree_go_to(hob_worktree_op *op, hob_worktree_step next);
void hob_worktree_fail(hob_worktree_op *op, const hob_error *err);
void hob_worktree_fail_words(hob_worktree_op *op, int code, const char *what);
void hob_worktree_fail_said(hob_worktree_op *op, int code, const char *what, hob_str output);

/* ---- worktree_find.c */
void hob_worktree_take_tree(hob_worktree_op *op, int status, hob_str output);
void hob_worktree_take_head(hob_worktree_op *op, int status, hob_str output);
void hob_worktree_take_folder(hob_worktree_op *op, int status, hob_str output);

/* ---- worktree_clear.c */
bool hob_worktree_lock(hob_worktree_op *op); /* false: the step comes again, or it failed */
void hob_worktree_unlock(hob_worktree_op *op);
/* A folder of the repository that is a link, or NULL. */
const char *hob_worktree_find_link(hob_worktree_op *op);
void hob_worktree_find_left(hob_worktree_op *op); /* op->left; NULL if there is nothing */
bool hob_worktree_is_there(const char *path);

#endif
