/*
 * io.c - readiness of file descriptors, through libuv.
 *
 * libuv tells the kernel about a change of interest only in its next poll. A host that waits on
 * hob_loop_fd() by itself would miss it, so the change is noted in `dirty`, and hob_loop_timeout()
 * then sends the host straight back into hob_loop_process().
 */
#include "loop/internal.h"

#include <errno.h>
#include <fcntl.h>

struct hob_io {
    uv_poll_t poll;
    hob_loop *loop;
    int want;
    hob_io_fn fn;
    void *user;
};

static void on_poll(uv_poll_t *poll, int status, int uv_events);

static int apply(hob_io *io) {
    int uv_events = 0;
    if (io->want & HOB_IO_READ) uv_events |= UV_READABLE;
    if (io->want & HOB_IO_WRITE) uv_events |= UV_WRITABLE;
    io->loop->dirty = true;
    int r = uv_events ? uv_poll_start(&io->poll, uv_events, on_poll) : uv_poll_stop(&io->poll);
    return r < 0 ? HOB_EIO : HOB_OK;
}

/* On an error condition libuv reports no events and stops watching. Whoever reads or writes then
 * gets the error itself, so it counts as being ready for all that is wanted. */
static void on_poll(uv_poll_t *poll, int status, int uv_events) {
    hob_io *io = poll->data;
    int events = 0;
    if (uv_events & UV_READABLE) events |= HOB_IO_READ;
    if (uv_events & UV_WRITABLE) events |= HOB_IO_WRITE;
    if (status < 0) events = io->want;
    if (!events) return;
    io->loop->ran++;
    io->fn(io, events, io->user);
    if (status < 0 && !uv_is_closing((uv_handle_t *)poll)) apply(io);
}

/* uv_poll_init makes the descriptor non-blocking, which would leak into other processes that share
 * it (a terminal). Readiness needs no such thing, so the flags are put back. */
static int init_poll(hob_loop *l, uv_poll_t *poll, int fd) {
    int flags = fcntl(fd, F_GETFL);
    if (flags < 0) return -errno;
    int r = uv_poll_init(&l->uv, poll, fd);
    if (!(flags & O_NONBLOCK)) fcntl(fd, F_SETFL, flags);
    return r;
}

int hob_io_create(hob_loop *l, int fd, hob_io_fn fn, void *user, hob_io **out, hob_error *err) {
    hob_io *io = HOB_NEW(hob_io);
    int r = init_poll(l, &io->poll, fd);
    if (r < 0) {
        hob_free(io);
        if (r == UV_EPERM)
            return hob_fail(err, HOB_ENOSYS, EPERM,
                            "file descriptor %d cannot be waited for: it is a regular file, "
                            "read it directly",
                            fd);
        errno = -r;
        return hob_fail_errno(err, HOB_EIO, "cannot watch file descriptor %d", fd);
    }
    io->poll.data = io;
    io->loop = l;
    io->fn = fn;
    io->user = user;
    *out = io;
    return HOB_OK;
}

int hob_io_want(hob_io *io, int events) {
    if (io->want == events) return HOB_OK;
    io->want = events;
    return apply(io);
}

static void on_closed(uv_handle_t *handle) {
    hob_free(handle->data);
}

void hob_io_destroy(hob_io *io) {
    if (!io) return;
    uv_poll_stop(&io->poll); /* forgets the fd at once: the caller may close it now */
    uv_close((uv_handle_t *)&io->poll, on_closed);
}
