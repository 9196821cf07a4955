/*
 * file.c - reading a small file that others may have put there.
 *
 * A file in a workspace can be a link to anything, a pipe, or a device. It is first opened without
 * being opened (O_PATH): what it is and where it really lies is asked of that descriptor, and the
 * same descriptor is then read, so that nothing can be exchanged in between.
 */
#include "config/file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

bool hob_path_beneath(hob_str path, hob_str folder) {
    while (folder.n > 0 && folder.p[folder.n - 1] == '/') folder.n--;
    if (!hob_str_starts(path, folder)) return false;
    return path.n == folder.n || path.p[folder.n] == '/';
}

int hob_path_canonical(const char *path, char *out) {
    return realpath(path, out) ? HOB_OK : HOB_ENOENT;
}

static int open_failed(hob_error *err) {
    if (errno == ENOENT || errno == ENOTDIR)
        return hob_fail(err, HOB_ENOENT, errno, "does not exist");
    return hob_fail_errno(err, HOB_EIO, "cannot be opened");
}

static int check_place(int fd, const char *beneath, hob_error *err) {
    char link[64], target[PATH_MAX];
    snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
    ssize_t n = readlink(link, target, sizeof(target));
    if (n < 0 || (size_t)n == sizeof(target))
        return hob_fail(err, HOB_EACCES, errno, "cannot be placed (is /proc mounted?)");
    if (!hob_path_beneath(hob_str_n(target, (size_t)n), hob_str_z(beneath)))
        return hob_fail(err, HOB_EACCES, 0, "is a link that leaves %s", beneath);
    return HOB_OK;
}

/* A descriptor to read from, or an error. The O_PATH one is used up. */
static int reopen(int place, hob_error *err) {
    char link[64];
    snprintf(link, sizeof(link), "/proc/self/fd/%d", place);
    int fd = open(link, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    int code = fd < 0 ? open_failed(err) : HOB_OK;
    close(place);
    return code < 0 ? code : fd;
}

static int open_beneath(const hob_file_opts *o, hob_error *err) {
    int fd = open(o->path, O_PATH | O_CLOEXEC);
    struct stat st;
    if (fd < 0) return open_failed(err);
    int code = HOB_OK;
    if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
        code = hob_fail(err, HOB_EINVAL, 0, "is not a regular file");
    else
        code = check_place(fd, o->beneath, err);
    if (code == HOB_OK) return reopen(fd, err);
    close(fd);
    return code;
}

static int open_any(const hob_file_opts *o, hob_error *err) {
    int fd = open(o->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    return fd < 0 ? open_failed(err) : fd;
}

static int read_all(int fd, const hob_file_opts *o, hob_buf *out, hob_error *err) {
    size_t left = o->max;
    char chunk[16384];
    for (;;) {
        ssize_t n = read(fd, chunk, sizeof(chunk));
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return hob_fail_errno(err, HOB_EIO, "cannot be read");
        if (n == 0) return HOB_OK;
        if ((size_t)n > left && !o->cut)
            return hob_fail(err, HOB_ETOOBIG, 0, "is larger than %zu bytes", o->max);
        size_t take = HOB_MIN((size_t)n, left);
        if (hob_buf_add(out, hob_str_n(chunk, take)) < 0)
            return hob_fail(err, HOB_ETOOBIG, 0, "is too large");
        left -= take;
        if (take < (size_t)n) return HOB_OK;
    }
}

int hob_file_read(const hob_file_opts *o, hob_buf *out, hob_file_info *info, hob_error *err) {
    int fd = o->beneath ? open_beneath(o, err) : open_any(o, err);
    if (fd < 0) return fd;
    struct stat st;
    int code = HOB_OK;
    bool none = false;
    if (fstat(fd, &st) < 0)
        code = hob_fail_errno(err, HOB_EIO, "cannot be looked at");
    else
        none = S_ISCHR(st.st_mode) && st.st_rdev == makedev(1, 3) && !o->beneath;
    if (code == HOB_OK && !S_ISREG(st.st_mode) && !none)
        code = hob_fail(err, HOB_EINVAL, 0, "is not a regular file");
    if (code == HOB_OK && !none) code = read_all(fd, o, out, err);
    close(fd);
    if (code == HOB_OK && info)
        *info = (hob_file_info){st.st_dev, st.st_ino, (uint64_t)st.st_size, st.st_uid, st.st_mode};
    return code;
}
