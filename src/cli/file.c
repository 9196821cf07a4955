/*
 * file.c - files that the user names on the command line.
 */
#include "cli/cli.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static int read_fd(int fd, const char *path, size_t max, hob_buf *out, hob_error *err) {
    for (;;) {
        char *room = hob_buf_reserve(out, 65536);
        if (!room || out->n > max)
            return hob_fail(err, HOB_EINVAL, 0, "%s is over %zu MiB, which is too big", path,
                            max >> 20);
        ssize_t n = read(fd, room, 65536);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return hob_fail_errno(err, HOB_EINVAL, "%s cannot be read", path);
        if (n == 0) return HOB_OK;
        out->n += (size_t)n;
    }
}

int hob_cli_file_read(const char *path, size_t max, hob_buf *out, hob_error *err) {
    struct stat st;
    hob_buf_init(out, max + (128u << 10));
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return hob_fail_errno(err, HOB_EINVAL, "%s cannot be read", path);
    int code = fstat(fd, &st) == 0 && S_ISDIR(st.st_mode)
                   ? hob_fail(err, HOB_EINVAL, 0, "%s is a folder, not a file", path)
                   : read_fd(fd, path, max, out, err);
    close(fd);
    if (code < 0) hob_buf_finish(out);
    return code;
}

/* The folder of path, "." if it names none. */
static void folder_of(const char *path, hob_buf *out) {
    const char *slash = strrchr(path, '/');
    if (!slash)
        hob_buf_addz(out, ".");
    else if (slash == path)
        hob_buf_addz(out, "/");
    else
        hob_buf_add(out, hob_str_n(path, (size_t)(slash - path)));
}

int hob_cli_file_writable(const char *path, hob_error *err) {
    struct stat st;
    hob_buf folder;
    int code = HOB_OK;
    hob_buf_init(&folder, 65536);
    folder_of(path, &folder);
    if (stat(path, &st) == 0 && S_ISDIR(st.st_mode))
        code = hob_fail(err, HOB_EINVAL, 0, "%s is a folder, not a file", path);
    else if (access(hob_buf_z(&folder), W_OK | X_OK) != 0)
        code = hob_fail_errno(err, HOB_EINVAL, "%s cannot be written", path);
    hob_buf_finish(&folder);
    return code;
}

static int write_fd(int fd, hob_str text) {
    while (text.n) {
        ssize_t n = write(fd, text.p, text.n);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return -1;
        text = hob_str_skip(text, (size_t)n);
    }
    return fsync(fd);
}

int hob_cli_file_write(const char *path, hob_str text, hob_error *err) {
    struct stat st;
    hob_buf temp;
    char target[PATH_MAX];
    int code = HOB_OK;
    hob_buf_init(&temp, 65536);
    /* A device or a pipe is written to; it cannot be replaced. A link stays, and leads to the new
     * file; who may read the old one may read the new one, and nobody else. */
    bool exists = stat(path, &st) == 0, in_place = exists && !S_ISREG(st.st_mode);
    if (exists && !in_place && realpath(path, target)) path = target;
    hob_buf_addz(&temp, path);
    if (!in_place) hob_buf_addf(&temp, ".hob-%d", (int)getpid());
    const char *name = hob_buf_z(&temp);
    int create = in_place ? 0 : O_CREAT | O_EXCL;
    int fd = open(name, O_WRONLY | O_CLOEXEC | create, exists ? 0600 : 0666);
    if (fd < 0) {
        code = hob_fail_errno(err, HOB_EIO, "%s cannot be written", path);
        goto out;
    }
    int bad = exists && !in_place ? fchmod(fd, st.st_mode & 0777) : 0;
    if (!bad) bad = write_fd(fd, text);
    if (in_place) bad = bad && errno != EINVAL && errno != ENOTSUP; /* no fsync on a pipe */
    if (close(fd) < 0 || bad || (!in_place && rename(name, path) < 0)) {
        code = hob_fail_errno(err, HOB_EIO, "%s cannot be written", path);
        if (!in_place) unlink(name);
    }
out:
    hob_buf_finish(&temp);
    return code;
}
