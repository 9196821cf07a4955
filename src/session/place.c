/*
 * place.c - a git worktree for a child that is to work apart from its parent.
 *
 * It lies in the state folder, never in a tree of the user: worktrees/PARENT/CHILD, on the branch hob/CHILD, and begins
 * with the commit at which the parent's own tree stands. Made and removed like any effect:
 *
 *     child_started{worktree}     intent: where, and from which commit
 *     child_placed{made}          outcome; from now on what is there is the child's
 *     child_placed{unchanged}     intent: nothing is in it that the commit does not have, it is removed
 *     child_finished{worktree}    outcome: removed, or kept, and where
 *
 * After a crash the log says what to do: one that was made is found again, or its child fails; any other is made afresh,
 * since nobody has worked in it. The note beside it, CHILD.json, is for whoever removes the session later (remove.c).
 */
#include "session/place.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static const struct {
    const char *name;
    size_t at;
} members[] = {
    {"repository", offsetof(hob_worktree, repository)}, {"top", offsetof(hob_worktree, top)},
    {"prefix", offsetof(hob_worktree, prefix)},         {"base", offsetof(hob_worktree, base)},
    {"folder", offsetof(hob_worktree, folder)},         {"branch", offsetof(hob_worktree, branch)},
};

static const char **member(hob_worktree *w, size_t i) {
    return (const char **)(void *)((char *)w + members[i].at);
}

void hob_place_write(const hob_worktree *w, hob_jsonw *to) {
    hob_worktree copy = *w;
    hob_jsonw_object(to);
    for (size_t i = 0; i < HOB_ARRAY_LEN(members); i++)
        hob_jsonw_kstr(to, members[i].name, hob_str_z(*member(&copy, i)));
    hob_jsonw_object_end(to);
}

bool hob_place_read(const hob_json *from, hob_arena *a, hob_worktree *w) {
    *w = (hob_worktree){.folder = NULL};
    for (size_t i = 0; i < HOB_ARRAY_LEN(members); i++)
        *member(w, i) = hob_arena_dup(a, hob_json_get_str(from, members[i].name)).p;
    return w->repository[0] == '/' && w->folder[0] == '/' && *w->base && *w->branch;
}

/* ---- where ---------------------------------------------------------------------------------------------------- */

static int no_folder(const hob_runtime *rt, hob_error *err) {
    return hob_fail_errno(err, HOB_EIO, "no folder for worktrees can be made in %s", rt->state_dir);
}

/* Nothing of ours is made through a link. */
static int enter(int dir, const char *name) {
    int fd = mkdirat(dir, name, 0700) < 0 && errno != EEXIST
                 ? -1
                 : openat(dir, name, O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    int e = errno;
    if (dir != AT_FDCWD) close(dir);
    errno = e;
    return fd;
}

int hob_place_folder(hob_runtime *rt, const char *parent, hob_buf *out, hob_error *err) {
    char real[PATH_MAX];
    if (!*rt->state_dir)
        return hob_fail(err, HOB_ECONFIG, 0,
                        "a worktree needs a state folder to lie in: set state_dir");
    int fd = open(rt->state_dir, O_DIRECTORY | O_CLOEXEC);
    if (fd >= 0 && realpath(rt->state_dir, real)) fd = enter(enter(fd, "worktrees"), parent);
    if (fd < 0) return no_folder(rt, err);
    close(fd);
    hob_buf_addf(out, "%s/worktrees/%s", real, parent);
    return out->err ? hob_fail(err, HOB_ETOOBIG, 0, "the name of the state folder is too long")
                    : HOB_OK;
}

bool hob_place_find_folder(hob_runtime *rt, hob_str parent, hob_buf *out) {
    char real[PATH_MAX];
    struct stat st;
    if (!realpath(rt->state_dir, real)) return false;
    hob_buf_addf(out, "%s/worktrees/%.*s", real, HOB_FMT(parent));
    return !out->err && lstat(hob_buf_z(out), &st) == 0 && S_ISDIR(st.st_mode);
}

static bool is_beneath(const char *path, const char *folder) {
    size_t n = strlen(folder);
    return !strncmp(path, folder, n) && (path[n] == '/' || !path[n] || (n && folder[n - 1] == '/'));
}

/* The rest of where it will be. */
static int choose(hob_task *t, const hob_worktree *found, hob_error *err) {
    hob_buf b;
    hob_worktree *w = &t->place;
    hob_buf_init(&b, PATH_MAX + 300);
    int rc = hob_place_folder(t->parent->rt, t->parent->id, &b, err);
    if (rc >= 0) {
        hob_buf_addf(&b, "/%s", t->id);
        *w = (hob_worktree){.repository = hob_arena_dup(t->arena, hob_str_z(found->repository)).p,
                            .top = hob_arena_dup(t->arena, hob_str_z(found->top)).p,
                            .prefix = hob_arena_dup(t->arena, hob_str_z(found->prefix)).p,
                            .base = hob_arena_dup(t->arena, hob_str_z(found->base)).p,
                            .folder = hob_arena_dup(t->arena, hob_buf_str(&b)).p};
        hob_buf_reset(&b);
        hob_buf_addf(&b, "hob/%s", t->id);
        w->branch = hob_arena_dup(t->arena, hob_buf_str(&b)).p;
    }
    hob_buf_finish(&b);
    if (rc >= 0 && (is_beneath(w->folder, w->top) || is_beneath(w->folder, w->repository)))
        rc = hob_fail(err, HOB_ECONFIG, 0,
                      "the state folder %s lies inside the repository %s, where no worktree is "
                      "made: set state_dir elsewhere",
                      t->parent->rt->state_dir, w->top);
    return rc;
}

/* ---- the note ---------------------------------------------------------------------------------------------------- */

static void note_path(const char *folder, hob_buf *out) {
    hob_buf_init(out, PATH_MAX + 300);
    hob_buf_addf(out, "%s.json", folder);
}

int hob_place_note(const hob_worktree *w, hob_error *err) {
    hob_buf path, text;
    hob_jsonw json;
    note_path(w->folder, &path);
    hob_buf_init(&text, 64 * 1024);
    hob_jsonw_init(&json, &text);
    hob_place_write(w, &json);
    int fd = open(hob_buf_z(&path), O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
    bool good = fd >= 0 && write(fd, text.p, text.n) == (ssize_t)text.n && fsync(fd) == 0;
    int rc = good ? HOB_OK : hob_fail_errno(err, HOB_EIO, "cannot write %s", hob_buf_z(&path));
    if (fd >= 0) close(fd);
    hob_buf_finish(&path);
    hob_buf_finish(&text);
    return rc;
}

/* Then the folder of the parent's, if it was the last one. */
void hob_place_forget(const hob_worktree *w) {
    hob_buf path;
    note_path(w->folder, &path);
    unlink(hob_buf_z(&path));
    hob_buf_reset(&path);
    hob_buf_add(&path, hob_str_n(w->folder, (size_t)(strrchr(w->folder, '/') - w->folder)));
    rmdir(hob_buf_z(&path));
    hob_buf_finish(&path);
}

/* ---- steps of a task ------------------------------------------------------------------------------------------- */

static int env_of(hob_task *t, hob_worktree_fn done, hob_worktree_env *out, hob_error *err) {
    hob_runtime *rt = t->parent->rt;
    *out = (hob_worktree_env){.envp = (const char *const *)rt->envp, .done = done, .user = t};
    return hob_runtime_exec(rt, &out->exec, err);
}

static void on_found(void *user, const hob_worktree_news *n) {
    hob_task *t = user;
    hob_error err = n->err;
    t->git = NULL;
    int rc = n->code < 0 ? n->code : choose(t, &n->found, &err);
    hob_task_found(t, rc, &err);
}

int hob_place_find(hob_task *t, hob_error *err) {
    hob_worktree_env env;
    if (!t->parent->cwd)
        return hob_fail(err, HOB_EINVAL, 0, "the session has no folder, so there is no worktree");
    if (hob_policy_mode(t->parent->policy) == HOB_MODE_PLAN)
        return hob_fail(err, HOB_EACCES, 0,
                        "in plan mode nothing is changed, and no worktree is made: work without "
                        "isolation");
    int rc = env_of(t, on_found, &env, err);
    return rc < 0 ? rc : hob_worktree_find(&env, t->parent->cwd, &t->git, err);
}

static void on_made(void *user, const hob_worktree_news *n) {
    hob_task *t = user;
    t->git = NULL;
    if (n->code < 0) hob_place_forget(&t->place);
    hob_task_placed(t, n->code, &n->err);
}

int hob_place_make(hob_task *t, hob_error *err) {
    const hob_kid *k = hob_kids_find(&t->parent->view->kids, hob_str_z(t->id));
    hob_worktree_env env;
    struct stat st;
    hob_buf folder;
    if (k && k->place == HOB_PLACE_MADE) {
        if (lstat(t->place.folder, &st) == 0 && S_ISDIR(st.st_mode)) return 1;
        return hob_fail(err, HOB_ENOENT, 0, "its worktree %s is gone", t->place.folder);
    }
    hob_buf_init(&folder, PATH_MAX + 300);
    int rc = hob_place_folder(t->parent->rt, t->parent->id, &folder, err);
    hob_buf_finish(&folder);
    if (rc >= 0) rc = hob_place_note(&t->place, err);
    if (rc >= 0) rc = env_of(t, on_made, &env, err);
    return rc < 0 ? rc : hob_worktree_make(&env, &t->place, &t->git, err);
}

static void keep(hob_task *t, const hob_error *why) {
    t->left.state = "kept";
    if (why) hob_str_out(hob_str_z(why->message), t->left.why, sizeof t->left.why);
}

static void on_looked(void *user, const hob_worktree_news *n) {
    hob_task *t = user;
    t->git = NULL;
    t->left.files = n->files;
    t->left.commits = n->commits;
    bool unchanged = n->code >= 0 && !n->changed;
    if (!unchanged) keep(t, n->code < 0 ? &n->err : NULL);
    hob_task_looked(t, unchanged);
}

void hob_place_look(hob_task *t) {
    hob_worktree_env env;
    hob_error err;
    int rc = env_of(t, on_looked, &env, &err);
    if (rc >= 0) rc = hob_worktree_look(&env, &t->place, &t->git, &err);
    if (rc >= 0) return;
    keep(t, &err);
    hob_task_looked(t, false);
}

static void on_removed(void *user, const hob_worktree_news *n) {
    hob_task *t = user;
    t->git = NULL;
    if (n->code < 0) {
        keep(t, &n->err);
    } else {
        t->left.state = "removed";
        hob_place_forget(&t->place);
    }
    hob_task_left(t);
}

void hob_place_remove(hob_task *t) {
    hob_worktree_env env;
    hob_error err;
    int rc = env_of(t, on_removed, &env, &err);
    if (rc >= 0) rc = hob_worktree_remove(&env, &t->place, &t->git, &err);
    if (rc >= 0) return;
    keep(t, &err);
    hob_task_left(t);
}
