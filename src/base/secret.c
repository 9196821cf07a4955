#include "base/secret.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

static int from_file(int fd, const char *file, char *text, size_t cap, hob_error *err) {
    struct stat st;
    if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
        return hob_fail(err, HOB_ECONFIG, 0, "%s is not a file", file);
    if (st.st_mode & 077)
        return hob_fail(err, HOB_EACCES, 0,
                        "others can read %s: chmod 600 it, or remove it to have a new one", file);
    ssize_t n = read(fd, text, cap - 1);
    if (n < 0) return hob_fail_errno(err, HOB_ECONFIG, "%s cannot be read", file);
    hob_str word = hob_str_trim(hob_str_n(text, (size_t)n));
    if (!word.n)
        return hob_fail(err, HOB_ECONFIG, 0, "%s is empty: remove it to have a new one", file);
    memmove(text, word.p, word.n);
    text[word.n] = 0;
    return HOB_OK;
}

static int make_text(char *text, hob_error *err) {
    unsigned char rnd[HOB_SECRET_DIGITS / 2];
    if (hob_random(rnd, sizeof rnd) < 0)
        return hob_fail(err, HOB_EIO, 0, "the kernel gives no random bytes");
    for (size_t i = 0; i < sizeof rnd; i++) snprintf(text + 2 * i, 3, "%02x", rnd[i]);
    return HOB_OK;
}

/* Written beside it and linked into its place: two that start at once have the same one. */
static int make_file(const char *file, char *text, hob_error *err) {
    char beside[4300];
    int rc = make_text(text, err);
    if (rc < 0) return rc;
    snprintf(beside, sizeof beside, "%s.%ld", file, (long)getpid());
    int fd = open(beside, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0) return hob_fail_errno(err, HOB_ECONFIG, "%s cannot be written", beside);
    size_t n = strlen(text);
    bool whole = write(fd, text, n) == (ssize_t)n && write(fd, "\n", 1) == 1 && fsync(fd) == 0;
    close(fd);
    int linked = whole ? link(beside, file) : -1, why = errno;
    unlink(beside);
    if (linked < 0 && why == EEXIST) return HOB_EEXIST;
    errno = why;
    return linked < 0 ? hob_fail_errno(err, HOB_ECONFIG, "%s cannot be written", file) : 1;
}

int hob_secret_get(const char *file, char *text, size_t cap, hob_error *err) {
    for (int i = 0; i < 2; i++) {
        int fd = open(file, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
        if (fd >= 0) {
            int r = from_file(fd, file, text, cap, err);
            close(fd);
            return r;
        }
        if (errno != ENOENT) return hob_fail_errno(err, HOB_ECONFIG, "%s cannot be read", file);
        int r = make_file(file, text, err);
        if (r != HOB_EEXIST) return r;
    }
    return hob_fail(err, HOB_ECONFIG, 0, "%s comes and goes", file);
}
