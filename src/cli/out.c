/*
 * out.c - standard output that never holds up a run.
 *
 * The file description behind fd 1 is shared with whoever started us, so it is not made
 * non-blocking. Instead at most PIPE_BUF bytes are written at a time, and only when poll() says
 * that they fit: a pipe then takes them without waiting.
 */
#include "cli/cli.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

#define MAX_PENDING (256u << 20) /* far over HOB_OUT_FULL and one event */

void hob_out_init(hob_out *o, int fd) {
    *o = (hob_out){.fd = fd, .tty = isatty(fd) == 1};
    hob_buf_init(&o->pending, MAX_PENDING);
}

void hob_out_finish(hob_out *o) {
    hob_buf_finish(&o->pending);
}

static void give_up(hob_out *o, int error) {
    o->err = error;
    o->done = 0;
    hob_buf_reset(&o->pending);
}

void hob_out_add(hob_out *o, hob_str s) {
    if (o->err) return;
    if (hob_buf_add(&o->pending, s) < 0) give_up(o, EOVERFLOW);
}

void hob_out_addf(hob_out *o, const char *fmt, ...) {
    char small[1024];
    va_list ap;
    va_start(ap, fmt);
    int n = vsnprintf(small, sizeof small, fmt, ap);
    va_end(ap);
    if (n > 0) hob_out_add(o, hob_str_n(small, HOB_MIN((size_t)n, sizeof small - 1)));
}

size_t hob_out_waiting(const hob_out *o) {
    return o->pending.n - o->done;
}

/* 1 = wrote some, 0 = not now, -1 = it failed (and err is set). */
static int write_piece(hob_out *o) {
    struct pollfd p = {.fd = o->fd, .events = POLLOUT};
    if (poll(&p, 1, 0) == 0) return 0;
    size_t n = HOB_MIN(hob_out_waiting(o), (size_t)PIPE_BUF);
    ssize_t wrote = write(o->fd, o->pending.p + o->done, n);
    if (wrote < 0 && (errno == EINTR || errno == EAGAIN)) return 0;
    if (wrote < 0) {
        give_up(o, errno);
        return -1;
    }
    o->done += (size_t)wrote;
    return 1;
}

void hob_out_write(hob_out *o) {
    while (hob_out_waiting(o) && write_piece(o) > 0) continue;
    if (o->done && !hob_out_waiting(o)) {
        o->done = 0;
        hob_buf_reset(&o->pending);
    }
}

void hob_out_flush(hob_out *o) {
    struct pollfd p = {.fd = o->fd, .events = POLLOUT};
    while (hob_out_waiting(o)) {
        hob_out_write(o);
        if (hob_out_waiting(o) && poll(&p, 1, -1) < 0 && hob_signals_waiting()) return;
    }
}
