/*
 * workspace.c - files beneath held folders.
 *
 * Names are text that a model wrote; a decision made on text can be wrong by the time the file is
 * opened. So the text only selects a root. Whether the rest stays beneath it is decided by the kernel
 * while it opens (openat2 with RESOLVE_BENEATH), and all further questions - is it a regular file,
 * where is it - are asked of the open descriptor.
 *
 * After hob_workspace_open() nothing changes any more, so workers may share a workspace.
 */
#include "exec/workspace.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#define MAX_ROOTS 64
#define MAX_RETRIES 1000 /* openat2 says EAGAIN when folders were being renamed meanwhile */
#define SHOWN 200

hob_str hob_workspace_shown(hob_str path) {
    return hob_str_first(path, hob_utf8_prefix(path, SHOWN));
}

int hob_workspace_fail(hob_str path, hob_error *err) {
    hob_str p = hob_workspace_shown(path);
    switch (errno) {
    case ENOENT:
    case ENOTDIR: return hob_fail(err, HOB_ENOENT, errno, "no such file: %.*s", HOB_FMT(p));
    case EXDEV:
        return hob_fail(err, HOB_EACCES, errno,
                        "%.*s leads outside the workspace (by '..' or a symbolic link)",
                        HOB_FMT(p));
    case ELOOP:
        return hob_fail(err, HOB_EACCES, errno, "%.*s goes through links that are not followed",
                        HOB_FMT(p));
    case EACCES:
    case EPERM:
    case EROFS: return hob_fail_errno(err, HOB_EACCES, "%.*s", HOB_FMT(p));
    case EISDIR:
        return hob_fail(err, HOB_EACCES, errno, "%.*s is a folder, not a file", HOB_FMT(p));
    case ENAMETOOLONG: return hob_fail_errno(err, HOB_EINVAL, "%.*s", HOB_FMT(p));
    case EAGAIN:
        return hob_fail(err, HOB_EAGAIN, errno, "%.*s: its folders keep changing; try again",
                        HOB_FMT(p));
    default: return hob_fail_errno(err, HOB_EIO, "%.*s", HOB_FMT(p));
    }
}

/* ---- roots --------------------------------------------------------------------------------- */

static int open_root(hob_root *root, hob_str given, hob_error *err) {
    char *path = hob_dupz(given), canonical[PATH_MAX];
    root->fd = -1;
    if (given.n == 0 || given.p[0] != '/' || strlen(path) != given.n)
        hob_fail(err, HOB_EINVAL, 0, "a workspace folder is given by absolute path, not '%s'",
                 path);
    else if (!realpath(path, canonical) ||
             (root->fd = open(canonical, O_PATH | O_DIRECTORY | O_CLOEXEC)) < 0)
        hob_fail_errno(err, HOB_ENOENT, "cannot use the folder %s", path);
    if (root->fd < 0) {
        hob_free(path);
        return given.n && given.p[0] == '/' ? HOB_ENOENT : HOB_EINVAL;
    }
    root->given = path;
    root->path = hob_dupz(hob_str_z(canonical));
    return HOB_OK;
}

static void close_root(hob_root *root) {
    close(root->fd);
    hob_free(root->path);
    hob_free(root->given);
}

static bool has_openat2(int fd) {
    struct open_how how = {.flags = O_PATH | O_CLOEXEC, .resolve = RESOLVE_BENEATH};
    int got = (int)syscall(SYS_openat2, fd, ".", &how, sizeof(how));
    if (got >= 0) close(got);
    return got >= 0;
}

static size_t beneath(hob_str path, const char *root);

static void add_readable(hob_workspace *w, hob_str path) {
    hob_root root;
    if (open_root(&root, path, NULL) < 0) return;
    bool there = false;
    for (size_t i = 0; i < w->n; i++)
        there = there || beneath(hob_str_z(root.path), w->roots[i].path);
    if (there)
        close_root(&root);
    else
        w->roots[w->n++] = root;
}

int hob_workspace_open_with(const hob_str *roots, size_t n, const hob_str *readable, size_t m,
                            hob_workspace **out, hob_error *err) {
    if (n < 1 || n > MAX_ROOTS || m > MAX_ROOTS)
        return hob_fail(err, HOB_EINVAL, 0, "a workspace has 1 to %d folders, not %zu", MAX_ROOTS,
                        HOB_MAX(n, m));
    hob_workspace *w = hob_alloc(sizeof(*w) + (n + m) * sizeof(hob_root));
    atomic_init(&w->refs, 1);
    for (; w->n < n; w->n++) {
        int r = open_root(&w->roots[w->n], roots[w->n], err);
        if (r < 0) {
            hob_workspace_close(w);
            return r;
        }
    }
    w->writable = w->n;
    for (size_t i = 0; i < m; i++) add_readable(w, readable[i]);
    w->walk = !has_openat2(w->roots[0].fd);
    *out = w;
    return HOB_OK;
}

int hob_workspace_open(const hob_str *roots, size_t n, hob_workspace **out, hob_error *err) {
    return hob_workspace_open_with(roots, n, NULL, 0, out, err);
}

hob_workspace *hob_workspace_ref(hob_workspace *w) {
    atomic_fetch_add(&w->refs, 1);
    return w;
}

void hob_workspace_close(hob_workspace *w) {
    if (!w || atomic_fetch_sub(&w->refs, 1) > 1) return;
    for (size_t i = 0; i < w->n; i++) close_root(&w->roots[i]);
    hob_free(w);
}

hob_str hob_workspace_root(const hob_workspace *w, size_t i) {
    return i < w->writable ? hob_str_z(w->roots[i].path) : HOB_STR_NULL;
}

size_t hob_workspace_roots(const hob_workspace *w) {
    return w->writable;
}

#ifdef HOB_TEST_POINTS
void hob_workspace_without_openat2(hob_workspace *w) {
    w->walk = true;
}
#endif

/* ---- which root ---------------------------------------------------------------------------- */

/* Length of `root` if path is that folder or beneath it: /proj, /proj/x, but not /proj-evil. */
static size_t beneath(hob_str path, const char *root) {
    hob_str r = hob_str_z(root);
    while (r.n > 0 && r.p[r.n - 1] == '/') r.n--;
    if (!hob_str_starts(path, r)) return 0;
    if (path.n > r.n && path.p[r.n] != '/') return 0;
    return r.n > 0 ? r.n : 1;
}

static int find_root(const hob_workspace *w, hob_str *path, const hob_root **out, hob_error *err) {
    size_t best = 0;
    for (size_t i = 0; i < w->n; i++) {
        size_t n = HOB_MAX(beneath(*path, w->roots[i].path), beneath(*path, w->roots[i].given));
        if (n <= best) continue;
        best = n;
        *out = &w->roots[i];
    }
    if (best == 0)
        return hob_fail(err, HOB_EACCES, 0, "%.*s is outside the workspace %s",
                        HOB_FMT(hob_workspace_shown(*path)), w->roots[0].path);
    *path = hob_str_skip(*path, best);
    while (path->n > 0 && path->p[0] == '/') *path = hob_str_skip(*path, 1);
    return HOB_OK;
}

int hob_workspace_locate(const hob_workspace *w, hob_str path, hob_place *out, hob_error *err) {
    if (path.n == 0 || memchr(path.p, '\0', path.n))
        return hob_fail(err, HOB_EINVAL, 0, "a path must not be empty or contain a NUL byte");
    if (path.n >= HOB_PATH_MAX)
        return hob_fail(err, HOB_EINVAL, ENAMETOOLONG, "a path has at most %d bytes, not %zu",
                        HOB_PATH_MAX - 1, path.n);
    const hob_root *root = &w->roots[0];
    if (path.p[0] == '/') {
        int r = find_root(w, &path, &root, err);
        if (r < 0) return r;
    }
    if (path.n == 0) path = HOB_STR(".");
    out->root = root;
    memcpy(out->rel, path.p, path.n);
    out->rel[path.n] = '\0';
    return HOB_OK;
}

int hob_workspace_locate_work(const hob_workspace *w, hob_str path, hob_place *out,
                              hob_error *err) {
    int r = hob_workspace_locate(w, path, out, err);
    if (r < 0 || out->root < w->roots + w->writable) return r;
    return hob_fail(err, HOB_EACCES, 0, "%.*s is outside the workspace %s, and for reading only",
                    HOB_FMT(hob_workspace_shown(path)), w->roots[0].path);
}

/* ---- opening ------------------------------------------------------------------------------- */

static int open_kernel(int root, const char *rel, int flags, unsigned resolve) {
    struct open_how how = {.flags = (unsigned)(flags | O_CLOEXEC),
                           .resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS | resolve};
    int fd = -1;
    for (int i = 0; i < MAX_RETRIES; i++) {
        fd = (int)syscall(SYS_openat2, root, rel, &how, sizeof(how));
        if (fd >= 0 || (errno != EAGAIN && errno != EINTR)) break;
    }
    return fd;
}

/* Without openat2: no link is followed and no `..` taken, so nothing can lead out. */
static int open_walk(int root, const char *rel, int flags) {
    hob_str rest = hob_str_z(rel), part;
    int at = fcntl(root, F_DUPFD_CLOEXEC, 0);
    while (at >= 0 && hob_str_split(&rest, '/', &part)) {
        char name[NAME_MAX + 1];
        bool last = rest.p == NULL;
        if (!last && (part.n == 0 || hob_str_eqz(part, "."))) continue;
        if (hob_str_eqz(part, "..") || part.n > NAME_MAX) {
            close(at);
            errno = part.n > NAME_MAX ? ENAMETOOLONG : EXDEV;
            return -1;
        }
        snprintf(name, sizeof(name), "%.*s", HOB_FMT(part.n ? part : HOB_STR(".")));
        int how = last ? flags : O_PATH | O_DIRECTORY;
        int next = openat(at, name, how | O_NOFOLLOW | O_CLOEXEC);
        int e = errno;
        close(at);
        at = next;
        errno = e;
    }
    return at;
}

int hob_workspace_openat(const hob_workspace *w, const hob_root *root, const char *rel, int flags) {
    return w->walk ? open_walk(root->fd, rel, flags) : open_kernel(root->fd, rel, flags, 0);
}

/* Files of /proc look regular, but they show this process: its environment, its memory. */
static int check_regular(int fd, hob_str path, hob_error *err) {
    struct stat st;
    struct statfs fs;
    hob_str p = hob_workspace_shown(path);
    if (fstat(fd, &st) < 0 || fstatfs(fd, &fs) < 0) return hob_workspace_fail(path, err);
    errno = EISDIR;
    if (S_ISDIR(st.st_mode)) return hob_workspace_fail(path, err);
    if (!S_ISREG(st.st_mode) || fs.f_type == PROC_SUPER_MAGIC)
        return hob_fail(err, HOB_EACCES, 0, "%.*s is not a regular file", HOB_FMT(p));
    return HOB_OK;
}

int hob_workspace_open_file(hob_workspace *w, hob_str path, int *out, hob_error *err) {
    hob_place place;
    int r = hob_workspace_locate(w, path, &place, err);
    if (r < 0) return r;
    int fd = hob_workspace_openat(w, place.root, place.rel, O_RDONLY | O_NONBLOCK | O_NOCTTY);
    if (fd < 0) return hob_workspace_fail(path, err);
    r = check_regular(fd, path, err);
    if (r < 0) {
        close(fd);
        return r;
    }
    *out = fd;
    return HOB_OK;
}

int hob_workspace_path_of(int fd, hob_buf *out) {
    char link[32], path[HOB_PATH_MAX];
    snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
    ssize_t n = readlink(link, path, sizeof(path));
    if (n < 0) return HOB_EIO;
    if (n == sizeof(path)) return HOB_ETOOBIG;
    return hob_buf_add(out, hob_str_n(path, (size_t)n));
}

/* ---- links --------------------------------------------------------------------------------- */

/* Opens what exists of rel, the whole or a folder on the way; *rest is what does not exist, "" or "/…". */
static int open_existing(const hob_workspace *w, const hob_place *place, const char **rest) {
    char rel[HOB_PATH_MAX];
    size_t n = strlen(place->rel);
    memcpy(rel, place->rel, n + 1);
    for (;;) {
        int fd = hob_workspace_openat(w, place->root, n ? rel : ".", O_PATH);
        *rest = place->rel + n;
        if (fd >= 0 || errno != ENOENT || n == 0) return fd;
        while (n > 0 && rel[n - 1] == '/') n--;
        while (n > 0 && rel[n - 1] != '/') n--;
        while (n > 0 && rel[n - 1] == '/') n--;
        rel[n] = '\0';
    }
}

/* `real`, which is beneath the root, and `rest` as a path that the host and its rules know. */
static int add_known(const hob_workspace *w, const hob_root *root, hob_str real, const char *rest,
                     hob_buf *out) {
    size_t n = beneath(real, root->path);
    hob_str rel = hob_str_skip(real, n);
    while (rel.n && rel.p[0] == '/') rel = hob_str_skip(rel, 1);
    rest += strspn(rest, "/");
    if (!rel.n && !*rest) rest = ".";
    if (root != w->roots) hob_buf_addf(out, "%s/", root->given);
    hob_buf_addf(out, "%.*s%s%s", HOB_FMT(rel), rel.n && *rest ? "/" : "", rest);
    return n == 0 || out->err ? -1 : 0;
}

int hob_workspace_follow(hob_workspace *w, hob_str path, hob_buf *out, hob_error *err) {
    hob_place place;
    const char *rest;
    hob_buf real;
    int r = hob_workspace_locate(w, path, &place, err);
    if (r < 0 || w->walk) return r;
    int fd = open_kernel(place.root->fd, place.rel, O_PATH, RESOLVE_NO_SYMLINKS);
    bool link = fd < 0 && errno == ELOOP;
    if (fd >= 0) close(fd);
    if (!link) return 0;
    fd = open_existing(w, &place, &rest);
    if (fd < 0) return hob_workspace_fail(path, err);
    hob_buf_init(&real, HOB_PATH_MAX);
    r = hob_workspace_path_of(fd, &real);
    close(fd);
    if (r >= 0) r = add_known(w, place.root, hob_buf_str(&real), rest, out);
    hob_buf_finish(&real);
    if (r < 0)
        return hob_fail(err, HOB_EACCES, 0, "cannot tell where %.*s leads; is /proc mounted?",
                        HOB_FMT(hob_workspace_shown(path)));
    return 1;
}

int hob_workspace_folder(hob_workspace *w, hob_str path, hob_buf *out, hob_error *err) {
    hob_place place;
    int r = hob_workspace_locate_work(w, path.n ? path : HOB_STR("."), &place, err);
    if (r < 0) return r;
    int fd = hob_workspace_openat(w, place.root, place.rel, O_PATH | O_DIRECTORY);
    if (fd < 0 && errno == ENOTDIR)
        return hob_fail(err, HOB_EACCES, errno, "%.*s is not a folder",
                        HOB_FMT(hob_workspace_shown(path)));
    if (fd < 0) return hob_workspace_fail(path, err);
    r = hob_workspace_path_of(fd, out);
    close(fd);
    return r < 0 ? hob_fail(err, r, 0, "cannot tell the path of a folder; is /proc mounted?") : r;
}
