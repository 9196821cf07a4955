/*
 * worktree.c - the chains of commands.
 *
 *     find    TREE -> HEAD -> FOLDER
 *     make    CLEAR -> ADD -> FILTERS -> FILL          a failure: UNDO_TREE -> UNDO_BRANCH
 *     look    FILTERS -> STATUS -> TIPS -> COUNT
 *     remove  DROP_TREE -> DROP_BRANCH
 *
 * start() says what a step runs, take() what its answer means and which step is next.
 */
#include "exec/worktree_op.h"

#include <fcntl.h>
#include <limits.h>
#include <unistd.h>

#define RM "/bin/rm"
enum { SAID_MAX = 200 };

static void run(hob_worktree_op *op);

const char *hob_worktree_text(hob_worktree_op *op, const char *before, const char *between,
                              const char *after) {
    hob_buf b;
    hob_buf_init(&b, 3 * PATH_MAX);
    hob_buf_addf(&b, "%s%s%s", before, between, after);
    const char *z = hob_arena_dup(op->arena, hob_buf_str(&b)).p;
    hob_buf_finish(&b);
    return z;
}

const char *hob_worktree_keep(hob_worktree_op *op, hob_str s) {
    return hob_arena_dup(op->arena, s).p;
}

/* ---- its end ------------------------------------------------------------------------------- */

void hob_worktree_op_destroy(hob_worktree_op *op) {
    if (!op) return;
    hob_worktree_unlock(op);
    hob_timer_stop(&op->later);
    hob_git_destroy(op->git);
    hob_arena_destroy(op->arena);
    hob_free(op);
}

static void on_later(hob_timer *t) {
    hob_worktree_op *op = HOB_CONTAINER(t, hob_worktree_op, later);
    if (op->at != WT_OVER) {
        run(op);
        return;
    }
    op->news.found = op->w;
    op->env.done(op->env.user, &op->news);
    hob_worktree_op_destroy(op);
}

void hob_worktree_later(hob_worktree_op *op, int64_t ms) {
    hob_timer_start(&op->later, hob_loop_now(hob_exec_loop(op->env.exec)) + ms);
}

void hob_worktree_go_to(hob_worktree_op *op, hob_worktree_step next) {
    op->at = next;
    hob_worktree_later(op, 0);
}

static bool undoes(hob_worktree_step s) {
    return s == WT_ADD || s == WT_FILL;
}

/* The first failure is the one that is told. */
void hob_worktree_fail(hob_worktree_op *op, const hob_error *err) {
    bool first = op->news.code >= 0;
    if (first) op->news.err = *err;
    if (first) op->news.code = err->code;
    bool made = undoes(op->at) || (op->at == WT_FILTERS && !op->looks);
    hob_worktree_go_to(op, made ? WT_UNDO_TREE : op->at == WT_UNDO_TREE ? WT_UNDO_BRANCH : WT_OVER);
}

/* What git said, in one line. */
void hob_worktree_fail_said(hob_worktree_op *op, int code, const char *what, hob_str output) {
    hob_error err;
    hob_str line = hob_str_trim(output);
    ptrdiff_t end = hob_str_chr(line, '\n');
    if (end >= 0) line.n = (size_t)end;
    line = hob_str_first(line, hob_utf8_prefix(line, SAID_MAX));
    hob_fail(&err, code, 0, "%s: %.*s", what, HOB_FMT(line.n ? line : HOB_STR("git says no more")));
    hob_worktree_fail(op, &err);
}

void hob_worktree_fail_words(hob_worktree_op *op, int code, const char *what) {
    hob_error err;
    hob_fail(&err, code, 0, "%s", what);
    hob_worktree_fail(op, &err);
}

/* ---- make ---------------------------------------------------------------------------------- */

/* git wrote where it was told to, and nowhere else. */
static bool is_registered(hob_worktree_op *op) {
    char line[PATH_MAX + 16];
    const char *file = hob_worktree_text(op, op->admin, "/gitdir", "");
    int fd = open(file, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    ssize_t n = fd < 0 ? -1 : read(fd, line, sizeof line);
    if (fd >= 0) close(fd);
    hob_str said = n > 0 ? hob_str_trim(hob_str_n(line, (size_t)n)) : HOB_STR_NULL;
    return hob_str_eqz(said, hob_worktree_text(op, op->w.folder, "/.git", ""));
}

static void take_add(hob_worktree_op *op, int status, hob_str output) {
    if (!status) hob_worktree_unlock(op);
    if (status)
        hob_worktree_fail_said(op, HOB_EIO, "git could not make a worktree", output);
    else if (is_registered(op))
        hob_worktree_go_to(op, WT_FILTERS);
    else
        hob_worktree_fail_words(op, HOB_EIO, "git made a worktree elsewhere than it was told to");
}

static void take_filters(hob_worktree_op *op, int status, hob_str output) {
    hob_error err;
    if (status > 1)
        hob_worktree_fail_said(op, HOB_EIO, "the settings of the worktree cannot be read", output);
    else if (hob_git_refuse_filters(op->git, status ? HOB_STR_NULL : output, &err) < 0)
        hob_worktree_fail(op, &err);
    else
        hob_worktree_go_to(op, op->looks ? WT_STATUS : WT_FILL);
}

static void take_fill(hob_worktree_op *op, int status, hob_str output) {
    if (status)
        hob_worktree_fail_said(op, HOB_EIO, "git could not fill the worktree", output);
    else
        hob_worktree_go_to(op, WT_OVER);
}

/* ---- look ---------------------------------------------------------------------------------- */

static void take_status(hob_worktree_op *op, int status, hob_str output) {
    if (status) {
        hob_worktree_fail_said(op, HOB_EIO, "git cannot tell what changed in the worktree", output);
        return;
    }
    for (size_t i = 0; i < output.n; i++) op->news.files += !output.p[i];
    bool modules = hob_worktree_is_there(hob_worktree_text(op, op->admin, "/modules", ""));
    op->news.changed = output.n > 0 || modules;
    hob_worktree_go_to(op, WT_TIPS);
}

static void take_tips(hob_worktree_op *op, int status, hob_str output) {
    hob_str head = HOB_STR_NULL, branch = HOB_STR_NULL;
    hob_str_split(&output, '\n', &head);
    hob_str_split(&output, '\n', &branch);
    bool moved = status || !hob_str_eqz(head, op->w.base) || !hob_str_eqz(branch, op->w.base);
    op->news.changed = op->news.changed || moved;
    hob_worktree_go_to(op, moved ? WT_COUNT : WT_OVER);
}

static void take_count(hob_worktree_op *op, int status, hob_str output) {
    if (!status) hob_str_int(hob_str_trim(output), &op->news.commits);
    hob_worktree_go_to(op, WT_OVER);
}

/* ---- remove -------------------------------------------------------------------------------- */

static void take_drop(hob_worktree_op *op, int status, hob_str output) {
    if (status)
        hob_worktree_fail_said(op, HOB_EIO, "git does not remove the worktree", output);
    else
        hob_worktree_go_to(op, WT_DROP_BRANCH);
}

static void take_branch(hob_worktree_op *op, int status, hob_str output) {
    if (status)
        hob_worktree_fail_said(op, HOB_EIO, "the worktree is gone, its branch is not", output);
    else
        hob_worktree_go_to(op, WT_OVER);
}

/* ---- steps --------------------------------------------------------------------------------- */

static void take(hob_worktree_op *op, int status, hob_str output) {
    switch (op->at) {
    case WT_TREE: hob_worktree_take_tree(op, status, output); break;
    case WT_HEAD: hob_worktree_take_head(op, status, output); break;
    case WT_FOLDER: hob_worktree_take_folder(op, status, output); break;
    case WT_CLEAR:
        hob_worktree_go_to(op, WT_ADD);
        break; /* what is still there makes WT_ADD fail, with better words */
    case WT_ADD: take_add(op, status, output); break;
    case WT_FILTERS: take_filters(op, status, output); break;
    case WT_FILL: take_fill(op, status, output); break;
    case WT_STATUS: take_status(op, status, output); break;
    case WT_TIPS: take_tips(op, status, output); break;
    case WT_COUNT: take_count(op, status, output); break;
    case WT_DROP_TREE: take_drop(op, status, output); break;
    case WT_DROP_BRANCH: take_branch(op, status, output); break;
    case WT_UNDO_TREE: hob_worktree_go_to(op, WT_UNDO_BRANCH); break;
    case WT_UNDO_BRANCH: hob_worktree_go_to(op, WT_OVER); break;
    case WT_OVER: break;
    }
}

static void on_done(void *user, int status, hob_str output, const hob_error *err) {
    hob_worktree_op *op = user;
    hob_crash_point("worktree.outcome");
    if (status < 0)
        hob_worktree_fail(op, err);
    else
        take(op, status, output);
}

#define ARGS(...) copy(op, (const char *const[]){__VA_ARGS__, NULL})

static const char *const *copy(hob_worktree_op *op, const char *const *args) {
    size_t n = 1;
    while (args[n - 1]) n++;
    const char **list = hob_arena_alloc(op->arena, n * sizeof *list);
    memcpy(list, args, n * sizeof *list);
    return list;
}

static const char *const *arguments(hob_worktree_op *op) {
    const hob_worktree *w = &op->w;
    switch (op->at) {
    case WT_TREE:
        return ARGS("rev-parse", "--path-format=absolute", "--show-toplevel", "--git-common-dir",
                    "--show-prefix");
    case WT_HEAD: return ARGS("rev-parse", "--verify", "--end-of-options", "HEAD^{commit}");
    case WT_FOLDER: return ARGS("cat-file", "-t", hob_worktree_text(op, w->base, ":", w->prefix));
    case WT_CLEAR: return op->left;
    case WT_UNDO_TREE: return ARGS("-rf", "--", w->folder, op->admin, op->lock);
    case WT_ADD:
        return ARGS("worktree", "add", "--quiet", "--no-checkout", "--no-track", "-B", w->branch,
                    "--", w->folder, w->base);
    case WT_FILTERS: return ARGS("config", "--null", "--name-only", "--get-regexp", "^filter\\.");
    case WT_FILL: return ARGS("reset", "--hard", "--quiet", "--no-recurse-submodules");
    case WT_STATUS:
        return ARGS("status", "--porcelain", "-z", "--no-renames", "--untracked-files=normal",
                    "--ignore-submodules=dirty");
    case WT_TIPS: return ARGS("rev-parse", "HEAD", op->ref);
    case WT_COUNT:
        return ARGS("rev-list", "--count", hob_worktree_text(op, w->base, "..", "HEAD"), "--");
    case WT_DROP_TREE: return ARGS("worktree", "remove", "--force", "--", w->folder);
    case WT_DROP_BRANCH:
    case WT_UNDO_BRANCH: return ARGS("update-ref", "-d", op->ref, w->base);
    case WT_OVER: break;
    }
    return ARGS("--version");
}

/* Where it runs: in the caller's folder, in the worktree, or on the repository. */
static int start(hob_worktree_op *op, hob_error *err) {
    bool inside = op->at >= WT_FILTERS && op->at <= WT_COUNT, outside = op->at <= WT_FOLDER;
    hob_git_call c = {.args = arguments(op), .timeout_ms = HOB_WORKTREE_MS};
    if (op->at == WT_CLEAR || op->at == WT_UNDO_TREE) c.program = RM;
    c.cwd = outside ? op->cwd : inside ? op->w.folder : op->w.repository;
    c.git_dir = outside ? NULL : inside ? op->admin : op->w.repository;
    c.work_tree = inside ? op->w.folder : NULL;
    return hob_git_run(op->git, &c, on_done, op, err);
}

static bool needs_lock(hob_worktree_step s) {
    return s == WT_CLEAR || s == WT_ADD || s >= WT_DROP_TREE;
}

static void run(hob_worktree_op *op) {
    hob_error err;
    if (needs_lock(op->at) && !hob_worktree_lock(op)) return;
    if (op->at == WT_CLEAR) {
        hob_worktree_find_left(op);
        if (!op->left) op->at = WT_ADD;
    }
    hob_crash_point("worktree.before");
    if (start(op, &err) < 0) hob_worktree_fail(op, &err);
    hob_crash_point("worktree.after");
}

void hob_worktree_op_cancel(hob_worktree_op *op) {
    hob_error err;
    if (op->looks || op->at < WT_CLEAR || op->at > WT_FILL) return;
    hob_git_stop(op->git);
    hob_fail(&err, HOB_ECANCELLED, 0, "the worktree was not made: cancelled");
    op->at = WT_ADD;
    hob_worktree_fail(op, &err);
}

/* ---- beginning ----------------------------------------------------------------------------- */

static hob_worktree_op *create(const hob_worktree_env *env, hob_worktree_step first) {
    hob_worktree_op *op = HOB_NEW(hob_worktree_op);
    op->env = *env;
    op->arena = hob_arena_create(4 << 20);
    op->at = first;
    op->lock_fd = -1;
    hob_timer_init(&op->later, hob_exec_loop(env->exec), on_later);
    return op;
}

static int begin(hob_worktree_op *op, const char *avoid, hob_worktree_op **out, hob_error *err) {
    int rc = hob_git_create(op->env.exec, op->env.envp, hob_str_z(avoid), &op->git, err);
    if (rc < 0) {
        hob_worktree_op_destroy(op);
        return rc;
    }
    hob_worktree_go_to(op, op->at);
    *out = op;
    return HOB_OK;
}

static void take_place(hob_worktree_op *op, const hob_worktree *w) {
    const char *slash = strrchr(w->folder, '/');
    op->w = (hob_worktree){.repository = hob_worktree_keep(op, hob_str_z(w->repository)),
                           .top = hob_worktree_keep(op, hob_str_z(w->top)),
                           .prefix = hob_worktree_keep(op, hob_str_z(w->prefix)),
                           .base = hob_worktree_keep(op, hob_str_z(w->base)),
                           .folder = hob_worktree_keep(op, hob_str_z(w->folder)),
                           .branch = hob_worktree_keep(op, hob_str_z(w->branch))};
    op->admin = hob_worktree_text(op, op->w.repository, "/worktrees", slash);
    op->ref = hob_worktree_text(op, "refs/heads/", op->w.branch, "");
    op->lock =
        hob_worktree_text(op, hob_worktree_text(op, op->w.repository, "/", op->ref), ".lock", "");
}

int hob_worktree_find(const hob_worktree_env *env, const char *cwd, hob_worktree_op **out,
                      hob_error *err) {
    hob_worktree_op *op = create(env, WT_TREE);
    op->cwd = hob_worktree_keep(op, hob_str_z(cwd));
    return begin(op, op->cwd, out, err);
}

int hob_worktree_make(const hob_worktree_env *env, const hob_worktree *w, hob_worktree_op **out,
                      hob_error *err) {
    hob_worktree_op *op = create(env, WT_CLEAR);
    take_place(op, w);
    const char *link = hob_worktree_find_link(op);
    if (link) {
        int rc = hob_fail(err, HOB_EACCES, 0,
                          "%s is a link: no worktree is made through a link in a repository", link);
        hob_worktree_op_destroy(op);
        return rc;
    }
    return begin(op, op->w.top, out, err);
}

int hob_worktree_look(const hob_worktree_env *env, const hob_worktree *w, hob_worktree_op **out,
                      hob_error *err) {
    hob_worktree_op *op = create(env, WT_FILTERS);
    take_place(op, w);
    op->looks = true;
    return begin(op, op->w.top, out, err);
}

int hob_worktree_remove(const hob_worktree_env *env, const hob_worktree *w, hob_worktree_op **out,
                        hob_error *err) {
    hob_worktree_op *op = create(env, WT_DROP_TREE);
    take_place(op, w);
    return begin(op, op->w.top, out, err);
}
