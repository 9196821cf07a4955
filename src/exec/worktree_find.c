/*
 * worktree_find.c - what the answers about a folder mean: which repository, which tree, which commit.
 */
#include "exec/worktree_op.h"

#include <limits.h>
#include <stdlib.h>

static void say_no_tree(hob_worktree_op *op, hob_str output) {
    hob_error err;
    if (hob_str_find(output, HOB_STR("not a git repository")) >= 0)
        hob_fail(&err, HOB_EINVAL, 0,
                 "%s is not in a git repository, so there can be no worktree of it: run git init "
                 "and commit, or work without isolation",
                 op->cwd);
    else if (hob_str_find(output, HOB_STR("dubious ownership")) >= 0)
        hob_fail(&err, HOB_EACCES, 0,
                 "the git repository of %s belongs to another user: allow it with git config "
                 "--global --add safe.directory FOLDER",
                 op->cwd);
    else {
        hob_worktree_fail_said(op, HOB_EINVAL, "no worktree can be made here", output);
        return;
    }
    hob_worktree_fail(op, &err);
}

/* The tree must be the one around the folder, whatever the repository's settings say. */
static bool is_around(hob_worktree_op *op) {
    char real[PATH_MAX];
    hob_str top = hob_str_z(op->w.top), prefix = hob_str_z(op->w.prefix);
    if (!realpath(op->cwd, real)) return false;
    hob_str rest = hob_str_z(real);
    if (!top.n || top.p[0] != '/' || !hob_str_starts(rest, top)) return false;
    rest = hob_str_skip(rest, top.n);
    if (rest.n && rest.p[0] == '/') rest = hob_str_skip(rest, 1);
    return hob_str_eq(rest, prefix);
}

void hob_worktree_take_tree(hob_worktree_op *op, int status, hob_str output) {
    hob_str top, common, prefix = HOB_STR_NULL;
    if (status) {
        say_no_tree(op, output);
        return;
    }
    hob_str_split(&output, '\n', &top);
    hob_str_split(&output, '\n', &common);
    hob_str_split(&output, '\n', &prefix);
    if (prefix.n && prefix.p[prefix.n - 1] == '/') prefix.n--;
    op->w.top = hob_worktree_keep(op, top);
    op->w.repository = hob_worktree_keep(op, common);
    op->w.prefix = hob_worktree_keep(op, prefix);
    if (common.n && common.p[0] == '/' && is_around(op))
        hob_worktree_go_to(op, WT_HEAD);
    else
        hob_worktree_fail_words(op, HOB_EINVAL,
                                "the git repository here says that its files are elsewhere");
}

static bool is_hash(hob_str s) {
    bool good = s.n == 40 || s.n == 64;
    for (size_t i = 0; good && i < s.n; i++)
        good = (s.p[i] >= '0' && s.p[i] <= '9') || (s.p[i] >= 'a' && s.p[i] <= 'f');
    return good;
}

void hob_worktree_take_head(hob_worktree_op *op, int status, hob_str output) {
    hob_str hash = hob_str_trim(output);
    if (status || !is_hash(hash)) {
        hob_worktree_fail_words(
            op, HOB_EINVAL,
            "the git repository has no commit yet, so there can be no worktree of it: commit "
            "first");
        return;
    }
    op->w.base = hob_worktree_keep(op, hash);
    hob_worktree_go_to(op, *op->w.prefix ? WT_FOLDER : WT_OVER);
}

void hob_worktree_take_folder(hob_worktree_op *op, int status, hob_str output) {
    if (!status && hob_str_eqz(hob_str_trim(output), "tree"))
        hob_worktree_go_to(op, WT_OVER);
    else
        hob_worktree_fail_words(
            op, HOB_EINVAL,
            "the folder is not in the last commit, so it would not be in a worktree: commit "
            "it first");
}
