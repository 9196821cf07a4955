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
#include "exec/worktree.h"

#include "exec/git.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define LONG_MS (15 * 60 * 1000) /* to fill or to empty a large tree */
#define RM "/bin/rm"
enum { SAID_MAX = 200 };

typedef enum step {
    TREE,
    HEAD,
    FOLDER,
    CLEAR,
    ADD,
    FILTERS,
    FILL,
    STATUS,
    TIPS,
    COUNT,
    DROP_TREE,
    DROP_BRANCH,
    UNDO_TREE,
    UNDO_BRANCH,
    OVER
} step;

struct hob_worktree_op {
    hob_worktree_env env;
    hob_arena *arena;
    hob_git *git;
    step at;
    bool looks; /* not makes */
    const char *cwd;
    hob_worktree w;
    const char *admin, *lock, *ref; /* made from w */
    hob_worktree_news news;
    hob_timer later;
};

static void run(hob_worktree_op *op);

static const char *text(hob_worktree_op *op, const char *before, const char *between,
                        const char *after) {
    hob_buf b;
    hob_buf_init(&b, 3 * PATH_MAX);
    hob_buf_addf(&b, "%s%s%s", before, between, after);
    const char *z = hob_arena_dup(op->arena, hob_buf_str(&b)).p;
    hob_buf_finish(&b);
    return z;
}

static const char *keep(hob_worktree_op *op, hob_str s) {
    return hob_arena_dup(op->arena, s).p;
}

/* ---- its end ------------------------------------------------------------------------------- */

void hob_worktree_op_destroy(hob_worktree_op *op) {
    if (!op) return;
    hob_timer_stop(&op->later);
    hob_git_destroy(op->git);
    hob_arena_destroy(op->arena);
    hob_free(op);
}

static void on_later(hob_timer *t) {
    hob_worktree_op *op = HOB_CONTAINER(t, hob_worktree_op, later);
    if (op->at != OVER) {
        run(op);
        return;
    }
    op->news.found = op->w;
    op->env.done(op->env.user, &op->news);
    hob_worktree_op_destroy(op);
}

static void go_to(hob_worktree_op *op, step next) {
    op->at = next;
    hob_timer_start(&op->later, hob_loop_now(hob_exec_loop(op->env.exec)));
}

static bool undoes(step s) {
    return s == ADD || s == FILL;
}

/* The first failure is the one that is told. */
static void fail(hob_worktree_op *op, const hob_error *err) {
    bool first = op->news.code >= 0;
    if (first) op->news.err = *err;
    if (first) op->news.code = err->code;
    bool made = undoes(op->at) || (op->at == FILTERS && !op->looks);
    go_to(op, made ? UNDO_TREE : op->at == UNDO_TREE ? UNDO_BRANCH : OVER);
}

/* What git said, in one line. */
static void fail_said(hob_worktree_op *op, int code, const char *what, hob_str output) {
    hob_error err;
    hob_str line = hob_str_trim(output);
    ptrdiff_t end = hob_str_chr(line, '\n');
    if (end >= 0) line.n = (size_t)end;
    line = hob_str_first(line, hob_utf8_prefix(line, SAID_MAX));
    hob_fail(&err, code, 0, "%s: %.*s", what, HOB_FMT(line.n ? line : HOB_STR("git says no more")));
    fail(op, &err);
}

static void fail_words(hob_worktree_op *op, int code, const char *what) {
    hob_error err;
    hob_fail(&err, code, 0, "%s", what);
    fail(op, &err);
}

/* ---- find ---------------------------------------------------------------------------------- */

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
        fail_said(op, HOB_EINVAL, "no worktree can be made here", output);
        return;
    }
    fail(op, &err);
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

static void take_tree(hob_worktree_op *op, int status, hob_str output) {
    hob_str top, common, prefix = HOB_STR_NULL;
    if (status) {
        say_no_tree(op, output);
        return;
    }
    hob_str_split(&output, '\n', &top);
    hob_str_split(&output, '\n', &common);
    hob_str_split(&output, '\n', &prefix);
    if (prefix.n && prefix.p[prefix.n - 1] == '/') prefix.n--;
    op->w.top = keep(op, top);
    op->w.repository = keep(op, common);
    op->w.prefix = keep(op, prefix);
    if (common.n && common.p[0] == '/' && is_around(op))
        go_to(op, HEAD);
    else
        fail_words(op, HOB_EINVAL, "the git repository here says that its files are elsewhere");
}

static bool is_hash(hob_str s) {
    bool good = s.n == 40 || s.n == 64;
    for (size_t i = 0; good && i < s.n; i++)
        good = (s.p[i] >= '0' && s.p[i] <= '9') || (s.p[i] >= 'a' && s.p[i] <= 'f');
    return good;
}

static void take_head(hob_worktree_op *op, int status, hob_str output) {
    hob_str hash = hob_str_trim(output);
    if (status || !is_hash(hash)) {
        fail_words(
            op, HOB_EINVAL,
            "the git repository has no commit yet, so there can be no worktree of it: commit "
            "first");
        return;
    }
    op->w.base = keep(op, hash);
    go_to(op, *op->w.prefix ? FOLDER : OVER);
}

static void take_folder(hob_worktree_op *op, int status, hob_str output) {
    if (!status && hob_str_eqz(hob_str_trim(output), "tree"))
        go_to(op, OVER);
    else
        fail_words(op, HOB_EINVAL,
                   "the folder is not in the last commit, so it would not be in a worktree: commit "
                   "it first");
}

/* ---- make ---------------------------------------------------------------------------------- */

/* Folders of a repository that are links lead to where nothing of it should be written. */
static const char *find_link(hob_worktree_op *op) {
    static const char *const folders[] = {"",
                                          "/worktrees",
                                          "/refs",
                                          "/refs/heads",
                                          "/refs/heads/hob",
                                          "/logs",
                                          "/logs/refs",
                                          "/logs/refs/heads",
                                          "/logs/refs/heads/hob"};
    struct stat st;
    for (size_t i = 0; i < HOB_ARRAY_LEN(folders); i++) {
        const char *path = text(op, op->w.repository, folders[i], "");
        if (lstat(path, &st) == 0 && S_ISLNK(st.st_mode)) return path;
    }
    return NULL;
}

static bool is_there(const char *path) {
    struct stat st;
    return lstat(path, &st) == 0;
}

/* git wrote where it was told to, and nowhere else. */
static bool is_registered(hob_worktree_op *op) {
    char line[PATH_MAX + 16];
    const char *file = text(op, op->admin, "/gitdir", "");
    int fd = open(file, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    ssize_t n = fd < 0 ? -1 : read(fd, line, sizeof line);
    if (fd >= 0) close(fd);
    hob_str said = n > 0 ? hob_str_trim(hob_str_n(line, (size_t)n)) : HOB_STR_NULL;
    return hob_str_eqz(said, text(op, op->w.folder, "/.git", ""));
}

static void take_add(hob_worktree_op *op, int status, hob_str output) {
    if (status)
        fail_said(op, HOB_EIO, "git could not make a worktree", output);
    else if (is_registered(op))
        go_to(op, FILTERS);
    else
        fail_words(op, HOB_EIO, "git made a worktree elsewhere than it was told to");
}

static void take_filters(hob_worktree_op *op, int status, hob_str output) {
    hob_error err;
    if (status > 1)
        fail_said(op, HOB_EIO, "the settings of the worktree cannot be read", output);
    else if (hob_git_refuse_filters(op->git, status ? HOB_STR_NULL : output, &err) < 0)
        fail(op, &err);
    else
        go_to(op, op->looks ? STATUS : FILL);
}

static void take_fill(hob_worktree_op *op, int status, hob_str output) {
    if (status)
        fail_said(op, HOB_EIO, "git could not fill the worktree", output);
    else
        go_to(op, OVER);
}

/* ---- look ---------------------------------------------------------------------------------- */

static void take_status(hob_worktree_op *op, int status, hob_str output) {
    if (status) {
        fail_said(op, HOB_EIO, "git cannot tell what changed in the worktree", output);
        return;
    }
    for (size_t i = 0; i < output.n; i++) op->news.files += !output.p[i];
    bool modules = is_there(text(op, op->admin, "/modules", ""));
    op->news.changed = output.n > 0 || modules;
    go_to(op, TIPS);
}

static void take_tips(hob_worktree_op *op, int status, hob_str output) {
    hob_str head = HOB_STR_NULL, branch = HOB_STR_NULL;
    hob_str_split(&output, '\n', &head);
    hob_str_split(&output, '\n', &branch);
    bool moved = status || !hob_str_eqz(head, op->w.base) || !hob_str_eqz(branch, op->w.base);
    op->news.changed = op->news.changed || moved;
    go_to(op, moved ? COUNT : OVER);
}

static void take_count(hob_worktree_op *op, int status, hob_str output) {
    if (!status) hob_str_int(hob_str_trim(output), &op->news.commits);
    go_to(op, OVER);
}

/* ---- remove -------------------------------------------------------------------------------- */

static void take_drop(hob_worktree_op *op, int status, hob_str output) {
    if (status)
        fail_said(op, HOB_EIO, "git does not remove the worktree", output);
    else
        go_to(op, DROP_BRANCH);
}

static void take_branch(hob_worktree_op *op, int status, hob_str output) {
    if (status)
        fail_said(op, HOB_EIO, "the worktree is gone, its branch is not", output);
    else
        go_to(op, OVER);
}

/* ---- steps --------------------------------------------------------------------------------- */

static void take(hob_worktree_op *op, int status, hob_str output) {
    switch (op->at) {
    case TREE: take_tree(op, status, output); break;
    case HEAD: take_head(op, status, output); break;
    case FOLDER: take_folder(op, status, output); break;
    case CLEAR: go_to(op, ADD); break; /* what is still there makes ADD fail, with better words */
    case ADD: take_add(op, status, output); break;
    case FILTERS: take_filters(op, status, output); break;
    case FILL: take_fill(op, status, output); break;
    case STATUS: take_status(op, status, output); break;
    case TIPS: take_tips(op, status, output); break;
    case COUNT: take_count(op, status, output); break;
    case DROP_TREE: take_drop(op, status, output); break;
    case DROP_BRANCH: take_branch(op, status, output); break;
    case UNDO_TREE: go_to(op, UNDO_BRANCH); break;
    case UNDO_BRANCH: go_to(op, OVER); break;
    case OVER: break;
    }
}

static void on_done(void *user, int status, hob_str output, const hob_error *err) {
    hob_worktree_op *op = user;
    if (status < 0)
        fail(op, err);
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
    case TREE:
        return ARGS("rev-parse", "--path-format=absolute", "--show-toplevel", "--git-common-dir",
                    "--show-prefix");
    case HEAD: return ARGS("rev-parse", "--verify", "--end-of-options", "HEAD^{commit}");
    case FOLDER: return ARGS("cat-file", "-t", text(op, w->base, ":", w->prefix));
    case CLEAR:
    case UNDO_TREE: return ARGS("-rf", "--", w->folder, op->admin, op->lock);
    case ADD:
        return ARGS("worktree", "add", "--quiet", "--no-checkout", "--no-track", "-B", w->branch,
                    "--", w->folder, w->base);
    case FILTERS: return ARGS("config", "--null", "--name-only", "--get-regexp", "^filter\\.");
    case FILL: return ARGS("reset", "--hard", "--quiet", "--no-recurse-submodules");
    case STATUS:
        return ARGS("status", "--porcelain", "-z", "--no-renames", "--untracked-files=normal",
                    "--ignore-submodules=dirty");
    case TIPS: return ARGS("rev-parse", "HEAD", op->ref);
    case COUNT: return ARGS("rev-list", "--count", text(op, w->base, "..", "HEAD"), "--");
    case DROP_TREE: return ARGS("worktree", "remove", "--force", "--", w->folder);
    case DROP_BRANCH:
    case UNDO_BRANCH: return ARGS("update-ref", "-d", op->ref, w->base);
    case OVER: break;
    }
    return ARGS("--version");
}

/* Where it runs: in the caller's folder, in the worktree, or on the repository. */
static int start(hob_worktree_op *op, hob_error *err) {
    bool inside = op->at >= FILTERS && op->at <= COUNT, outside = op->at <= FOLDER;
    hob_git_call c = {.args = arguments(op), .timeout_ms = LONG_MS};
    if (op->at == CLEAR || op->at == UNDO_TREE) c.program = RM;
    c.cwd = outside ? op->cwd : inside ? op->w.folder : op->w.repository;
    c.git_dir = outside ? NULL : inside ? op->admin : op->w.repository;
    c.work_tree = inside ? op->w.folder : NULL;
    return hob_git_run(op->git, &c, on_done, op, err);
}

static void run(hob_worktree_op *op) {
    hob_error err;
    if (start(op, &err) < 0) fail(op, &err);
}

void hob_worktree_op_cancel(hob_worktree_op *op) {
    hob_error err;
    if (op->looks || op->at < CLEAR || op->at > FILL) return;
    hob_git_stop(op->git);
    hob_fail(&err, HOB_ECANCELLED, 0, "the worktree was not made: cancelled");
    op->at = ADD;
    fail(op, &err);
}

/* ---- beginning ----------------------------------------------------------------------------- */

static hob_worktree_op *create(const hob_worktree_env *env, step first) {
    hob_worktree_op *op = HOB_NEW(hob_worktree_op);
    op->env = *env;
    op->arena = hob_arena_create(4 << 20);
    op->at = first;
    hob_timer_init(&op->later, hob_exec_loop(env->exec), on_later);
    return op;
}

static int begin(hob_worktree_op *op, const char *avoid, hob_worktree_op **out, hob_error *err) {
    int rc = hob_git_create(op->env.exec, op->env.envp, hob_str_z(avoid), &op->git, err);
    if (rc < 0) {
        hob_worktree_op_destroy(op);
        return rc;
    }
    go_to(op, op->at);
    *out = op;
    return HOB_OK;
}

static void take_place(hob_worktree_op *op, const hob_worktree *w) {
    const char *slash = strrchr(w->folder, '/');
    op->w = (hob_worktree){.repository = keep(op, hob_str_z(w->repository)),
                           .top = keep(op, hob_str_z(w->top)),
                           .prefix = keep(op, hob_str_z(w->prefix)),
                           .base = keep(op, hob_str_z(w->base)),
                           .folder = keep(op, hob_str_z(w->folder)),
                           .branch = keep(op, hob_str_z(w->branch))};
    op->admin = text(op, op->w.repository, "/worktrees", slash);
    op->ref = text(op, "refs/heads/", op->w.branch, "");
    op->lock = text(op, text(op, op->w.repository, "/", op->ref), ".lock", "");
}

int hob_worktree_find(const hob_worktree_env *env, const char *cwd, hob_worktree_op **out,
                      hob_error *err) {
    hob_worktree_op *op = create(env, TREE);
    op->cwd = keep(op, hob_str_z(cwd));
    return begin(op, op->cwd, out, err);
}

int hob_worktree_make(const hob_worktree_env *env, const hob_worktree *w, hob_worktree_op **out,
                      hob_error *err) {
    hob_worktree_op *op = create(env, CLEAR);
    take_place(op, w);
    const char *link = find_link(op);
    if (link) {
        int rc = hob_fail(err, HOB_EACCES, 0,
                          "%s is a link: no worktree is made through a link in a repository", link);
        hob_worktree_op_destroy(op);
        return rc;
    }
    if (!is_there(op->w.folder) && !is_there(op->admin) && !is_there(op->lock)) op->at = ADD;
    return begin(op, op->w.top, out, err);
}

int hob_worktree_look(const hob_worktree_env *env, const hob_worktree *w, hob_worktree_op **out,
                      hob_error *err) {
    hob_worktree_op *op = create(env, FILTERS);
    take_place(op, w);
    op->looks = true;
    return begin(op, op->w.top, out, err);
}

int hob_worktree_remove(const hob_worktree_env *env, const hob_worktree *w, hob_worktree_op **out,
                        hob_error *err) {
    hob_worktree_op *op = create(env, DROP_TREE);
    take_place(op, w);
    return begin(op, op->w.top, out, err);
}
