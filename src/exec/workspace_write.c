/*
 * workspace_write.c - a file is replaced whole or not at all.
 *
 * The new content goes to a file without a name (O_TMPFILE), is synced, gets a temporary name and is
 * renamed over the old one. A kill at any moment leaves the old or the new file; only between the two
 * last steps can a `.hob-…` file stay behind.
 *
 * A symbolic link is kept: its target is replaced, if that is beneath the roots. Of a file with
 * several names only the one written to changes.
 */
#include "exec/internal.h"
#include "exec/workspace.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAX_CONTENT (64 * 1024 * 1024)
#define FOLDER (O_PATH | O_DIRECTORY)

/* ---- the folder ---------------------------------------------------------------------------- */

/* Makes what is missing, one component after the other; each is opened from the root again, so that
 * the kernel decides on links and `..`. */
static int make_folders(const hob_workspace *w, const hob_root *root, char *rel) {
    int at = hob_workspace_openat(w, root, ".", FOLDER);
    for (char *p = rel; at >= 0 && *p;) {
        char *end = p + strcspn(p, "/"), kept = *end;
        *end = '\0';
        int next = hob_workspace_openat(w, root, rel, FOLDER);
        if (next < 0 && errno == ENOENT && (mkdirat(at, p, 0777) == 0 || errno == EEXIST))
            next = hob_workspace_openat(w, root, rel, FOLDER);
        *end = kept;
        int e = errno;
        close(at);
        errno = e;
        at = next;
        p = end + strspn(end, "/");
    }
    return at;
}

static int open_folder(const hob_workspace *w, const hob_root *root, char *rel) {
    int fd = hob_workspace_openat(w, root, rel, FOLDER);
    return fd < 0 && errno == ENOENT ? make_folders(w, root, rel) : fd;
}

/* ---- the file ------------------------------------------------------------------------------ */

typedef struct target {
    int dir;
    char leaf[NAME_MAX + 1];
    bool exists;
    struct stat st;  /* of what exists */
    char temp[32];   /* temporary name */
    bool temp_named; /* it is in the folder */
} target;

static int open_temp(target *t) {
    uint64_t random;
    if (hob_random(&random, sizeof(random)) < 0) return -1;
    snprintf(t->temp, sizeof(t->temp), ".hob-%016llx", (unsigned long long)random);
    mode_t mode = t->exists ? 0600 : 0666;
    /* A file without a name gets one through /proc. */
    bool nameable = access("/proc/self/fd", F_OK) == 0;
    int fd = nameable ? openat(t->dir, ".", O_TMPFILE | O_WRONLY | O_CLOEXEC, mode) : -1;
    bool unknown = !nameable || errno == EOPNOTSUPP || errno == EISDIR || errno == EINVAL;
    if (fd >= 0 || !unknown) return fd;
    fd = openat(t->dir, t->temp, O_CREAT | O_EXCL | O_NOFOLLOW | O_WRONLY | O_CLOEXEC, mode);
    t->temp_named = fd >= 0;
    return fd;
}

static int name_temp(target *t, int fd) {
    char link[32];
    if (t->temp_named) return 0;
    snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
    int r = linkat(AT_FDCWD, link, t->dir, t->temp, AT_SYMLINK_FOLLOW);
    t->temp_named = r == 0;
    return r;
}

/* The new file takes the place of the old one: its mode, and its owner if we may. */
static int take_over(const target *t, int fd) {
    if (!t->exists) return 0;
    if ((t->st.st_uid != geteuid() || t->st.st_gid != getegid()) &&
        fchown(fd, t->st.st_uid, t->st.st_gid) < 0)
        hob_log(HOB_LOG_DEBUG, "exec", "%s: the owner could not be kept", t->leaf);
    return fchmod(fd, t->st.st_mode & 0777);
}

static int put(target *t, hob_str content) {
    int fd = open_temp(t);
    if (fd < 0) return -1;
    int r = hob_exec_write(fd, content);
    if (r == 0) r = take_over(t, fd);
    if (r == 0) r = fsync(fd);
    if (r == 0) r = name_temp(t, fd);
    if (r == 0) r = renameat(t->dir, t->temp, t->dir, t->leaf);
    int e = errno;
    if (r < 0 && t->temp_named) unlinkat(t->dir, t->temp, 0);
    close(fd);
    errno = e;
    return r;
}

/* The name is in the folder; make that durable, too. A folder we cannot read cannot be synced. */
static void sync_folder(int dir) {
    int fd = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) return;
    fsync(fd);
    close(fd);
}

/* Takes the last name off `rel`, which then is the folder. */
static int split_leaf(target *t, char *rel) {
    char *slash = strrchr(rel, '/');
    const char *leaf = slash ? slash + 1 : rel;
    errno = strlen(leaf) > NAME_MAX ? ENAMETOOLONG : EISDIR;
    if (strlen(leaf) > NAME_MAX || !strcmp(leaf, ".") || !strcmp(leaf, "..")) return -1;
    memcpy(t->leaf, leaf, strlen(leaf) + 1);
    if (slash)
        *slash = '\0';
    else
        memcpy(rel, ".", 2);
    return 0;
}

static int open_target(const hob_workspace *w, hob_place *place, target *t) {
    if (split_leaf(t, place->rel) < 0) return -1;
    t->dir = open_folder(w, place->root, place->rel);
    if (t->dir < 0) return -1;
    t->exists = fstatat(t->dir, t->leaf, &t->st, AT_SYMLINK_NOFOLLOW) == 0;
    return t->exists || errno == ENOENT ? 0 : -1;
}

static int write_target(target *t, hob_str path, hob_str content, hob_error *err) {
    if (t->exists && !S_ISREG(t->st.st_mode))
        return hob_fail(err, HOB_EACCES, 0, "%.*s is %s", HOB_FMT(hob_workspace_shown(path)),
                        S_ISDIR(t->st.st_mode) ? "a folder" : "not a regular file");
    if (put(t, content) < 0) return hob_workspace_fail(path, err);
    sync_folder(t->dir);
    if (!t->exists) return HOB_WRITE_CREATED;
    return t->st.st_nlink > 1 ? HOB_WRITE_SPLIT : HOB_WRITE_REPLACED;
}

static int check(hob_str path, hob_str content, hob_error *err) {
    if (path.n > 0 && path.p[path.n - 1] == '/')
        return hob_fail(err, HOB_EINVAL, 0, "%.*s names a folder, not a file",
                        HOB_FMT(hob_workspace_shown(path)));
    if (content.n > MAX_CONTENT)
        return hob_fail(err, HOB_ETOOBIG, 0, "a file of %zu bytes is too big to write (at most %d)",
                        content.n, MAX_CONTENT);
    return HOB_OK;
}

/* Where a link leads, as a path without links. */
static int follow(const hob_workspace *w, const hob_place *place, hob_buf *out) {
    int fd = hob_workspace_openat(w, place->root, place->rel, O_PATH);
    if (fd < 0) return -1;
    int r = hob_workspace_path_of(fd, out);
    close(fd);
    errno = EIO;
    return r;
}

static int write_once(hob_workspace *w, hob_str path, hob_str content, hob_buf *link,
                      hob_error *err) {
    hob_place place;
    int r = hob_workspace_locate_work(w, path, &place, err);
    if (r < 0) return r;
    hob_place whole = place;
    target t = {.dir = -1};
    if (open_target(w, &place, &t) < 0)
        r = hob_workspace_fail(path, err);
    else if (t.exists && S_ISLNK(t.st.st_mode) && link)
        r = follow(w, &whole, link) < 0 ? hob_workspace_fail(path, err) : HOB_OK;
    else
        r = write_target(&t, path, content, err);
    if (t.dir >= 0) close(t.dir);
    return r;
}

int hob_workspace_write(hob_workspace *w, hob_str path, hob_str content, hob_error *err) {
    hob_buf link;
    int r = check(path, content, err);
    if (r < 0) return r;
    hob_buf_init(&link, HOB_PATH_MAX);
    r = write_once(w, path, content, &link, err);
    if (r >= 0 && link.n > 0) r = write_once(w, hob_buf_str(&link), content, NULL, err);
    hob_buf_finish(&link);
    return r;
}
