/*
 * worktree_clear.c - one at a time, and on clean ground.
 *
 * git looks at all worktrees of a repository when it makes one, and gives up if another is half made, now or by a
 * process that was killed. So of all programs of ours one at a time makes or removes one (a lock on the repository's
 * folder, which ends with its holder), and who holds the lock first removes what others of our kind left half made.
 */
#include "exec/worktree_op.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define LOCK_POLL_MS 10
enum { LEFT_MAX = 64 };

/* False: another one has it, or it took too long. A file system without locks is gone on with. */
bool hob_worktree_lock(hob_worktree_op *op) {
    int64_t now = hob_loop_now(hob_exec_loop(op->env.exec));
    if (op->lock_fd >= 0) return true;
    if (!op->lock_since) op->lock_since = now;
    int fd = open(op->w.repository, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) return true; /* git has better words for it */
    if (flock(fd, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK) {
        op->lock_fd = fd;
        return true;
    }
    close(fd);
    if (now - op->lock_since > HOB_WORKTREE_MS)
        hob_worktree_fail_words(op, HOB_ETIMEDOUT,
                                "another program keeps making worktrees of this repository");
    else
        hob_worktree_later(op, LOCK_POLL_MS);
    return false;
}

void hob_worktree_unlock(hob_worktree_op *op) {
    if (op->lock_fd >= 0) close(op->lock_fd);
    op->lock_fd = -1;
}

/* ---- what is in the way --------------------------------------------------------------------- */

/* Folders of a repository that are links lead to where nothing of it should be written. */
const char *hob_worktree_find_link(hob_worktree_op *op) {
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
        const char *path = hob_worktree_text(op, op->w.repository, folders[i], "");
        if (lstat(path, &st) == 0 && S_ISLNK(st.st_mode)) return path;
    }
    return NULL;
}

bool hob_worktree_is_there(const char *path) {
    struct stat st;
    return lstat(path, &st) == 0;
}

/* git writes these first, and cannot do without. */
static bool is_half(hob_worktree_op *op, const char *admin) {
    static const char *const files[] = {"/gitdir", "/commondir", "/HEAD"};
    struct stat st;
    for (size_t i = 0; i < HOB_ARRAY_LEN(files); i++)
        if (stat(hob_worktree_text(op, admin, files[i], ""), &st) < 0 || !st.st_size) return true;
    return false;
}

/* Of those that have names like ours; of ours, whatever there is. */
void hob_worktree_find_left(hob_worktree_op *op) {
    const char *folder = hob_worktree_text(op, op->w.repository, "/worktrees/", "");
    const char *own[] = {op->w.folder, op->admin, op->lock};
    size_t n = 2;
    op->left = hob_arena_alloc(op->arena, (LEFT_MAX + 8) * sizeof *op->left);
    op->left[0] = "-rf";
    op->left[1] = "--";
    for (size_t i = 0; i < HOB_ARRAY_LEN(own); i++)
        if (hob_worktree_is_there(own[i])) op->left[n++] = own[i];
    DIR *d = opendir(folder);
    const struct dirent *e;
    while (d && n < LEFT_MAX && (e = readdir(d))) {
        const char *admin = hob_worktree_text(op, folder, e->d_name, "");
        bool like_ours = !strncmp(e->d_name, "task-", 5) && strcmp(admin, op->admin) != 0;
        if (like_ours && is_half(op, admin)) op->left[n++] = admin;
    }
    if (d) closedir(d);
    if (n == 2) op->left = NULL;
}
