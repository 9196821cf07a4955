/*
 * exec.c - finding hob-exec, and outliving the last of its processes.
 */
#include "exec/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/pidfd.h>
#include <unistd.h>

#ifndef MFD_EXEC
#define MFD_EXEC 0x0010U /* Linux 6.3 */
#endif

#define LAST_WAIT_MS 5000 /* for trees that are being killed when the runtime ends */

/* Linked into the library by the build. */
extern const unsigned char hob_exec_image[];
extern const size_t hob_exec_image_size;

int hob_exec_write(int fd, hob_str s) {
    while (s.n > 0) {
        ssize_t n = write(fd, s.p, s.n);
        if (n < 0 && errno != EINTR) return -1;
        if (n > 0) s = hob_str_skip(s, (size_t)n);
    }
    return 0;
}

/* Sealed, so that the file that runs is the file that was built. */
static int image_fd(void) {
    unsigned flags = MFD_CLOEXEC | MFD_ALLOW_SEALING;
    int fd = memfd_create("hob-exec", flags | MFD_EXEC);
    if (fd < 0 && errno == EINVAL) fd = memfd_create("hob-exec", flags);
    if (fd < 0) return -1;
    hob_str image = hob_str_n((const char *)hob_exec_image, hob_exec_image_size);
    int seals = F_SEAL_WRITE | F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_SEAL;
    if (hob_exec_write(fd, image) == 0 && fcntl(fd, F_ADD_SEALS, seals) == 0) return fd;
    int e = errno;
    close(fd);
    errno = e;
    return -1;
}

static int use_image(hob_exec *x, hob_error *err) {
    x->image = image_fd();
    if (x->image < 0)
        return hob_fail_errno(err, HOB_ENOENT,
                              "hob-exec, which runs commands, is not installed and the copy in the "
                              "library cannot be used; set its path");
    char path[32];
    int n = snprintf(path, sizeof(path), "/proc/self/fd/%d", x->image);
    x->path = hob_dupz(hob_str_n(path, (size_t)n));
    return HOB_OK;
}

/* A path that the host chose is used or refused, never replaced by another. */
static int use_path(hob_exec *x, const char *path, hob_error *err) {
    if (path[0] != '/')
        return hob_fail(err, HOB_EINVAL, 0, "the path of hob-exec must be absolute, not '%s'",
                        path);
    if (access(path, X_OK) < 0)
        return hob_fail_errno(err, HOB_ENOENT, "hob-exec cannot be run from %s", path);
    x->path = hob_dupz(hob_str_z(path));
    return HOB_OK;
}

static bool use_folder(hob_exec *x, const char *folder) {
    hob_buf path;
    hob_buf_init(&path, 4096);
    hob_buf_addf(&path, "%s/hob-exec", folder);
    bool found = folder[0] == '/' && !path.err && access(hob_buf_z(&path), X_OK) == 0;
    if (found) x->path = hob_dupz(hob_buf_str(&path));
    hob_buf_finish(&path);
    return found;
}

static int find_helper(hob_exec *x, const hob_exec_opts *o, hob_error *err) {
    if (o && o->helper) return use_path(x, o->helper, err);
    if (o && o->libexec_dir && use_folder(x, o->libexec_dir)) return HOB_OK;
    return use_image(x, err);
}

int hob_exec_create(hob_loop *l, const hob_exec_opts *o, hob_exec **out, hob_error *err) {
    hob_exec *x = HOB_NEW(hob_exec);
    x->loop = l;
    x->image = -1;
    hob_list_init(&x->guards);
    int r = find_helper(x, o, err);
    if (r < 0) {
        hob_free(x);
        return r;
    }
    *out = x;
    return HOB_OK;
}

hob_loop *hob_exec_loop(hob_exec *x) {
    return x->loop;
}

/* Jobs that were destroyed while they ran: their life-line is closed, their trees are dying. */
static void await(hob_guard *g) {
    int fd = pidfd_open(hob_child_pid(g->child), 0);
    struct pollfd p = {.fd = fd, .events = POLLIN};
    if (fd >= 0 && poll(&p, 1, LAST_WAIT_MS) == 0)
        hob_log(HOB_LOG_WARN, "exec", "a command's processes do not end although killed");
    if (fd >= 0) close(fd);
}

void hob_exec_destroy(hob_exec *x) {
    if (!x) return;
    HOB_LIST_EACH_SAFE (it, &x->guards) {
        hob_guard *g = HOB_CONTAINER(it, hob_guard, link);
        await(g);
        hob_list_remove(&g->link);
        hob_child_destroy(g->child);
        hob_free(g);
    }
    if (x->image >= 0) close(x->image);
    hob_free(x->buffer);
    hob_free(x->path);
    hob_free(x);
}
