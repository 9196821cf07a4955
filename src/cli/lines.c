/*
 * lines.c - standard input, line by line, without ever waiting: pump.c says when there is something
 * to read.
 *
 * A line over the ceiling is left out as a whole and reported once; reading goes on after it.
 */
#include "cli/cli.h"

#include <errno.h>
#include <unistd.h>

#define CHUNK 65536

void hob_lines_init(hob_lines *l, int fd) {
    *l = (hob_lines){.fd = fd};
    hob_buf_init(&l->buf, (size_t)HOB_LINE_MAX + CHUNK);
}

void hob_lines_finish(hob_lines *l) {
    hob_buf_finish(&l->buf);
}

void hob_lines_read(hob_lines *l) {
    hob_buf_consume(&l->buf, l->taken);
    l->taken = 0;
    if (l->buf.n > HOB_LINE_MAX) return; /* to be taken first */
    char *room = hob_buf_reserve(&l->buf, CHUNK);
    if (!room) return;
    ssize_t n = read(l->fd, room, CHUNK);
    if (n > 0)
        l->buf.n += (size_t)n;
    else if (n == 0 || (errno != EINTR && errno != EAGAIN))
        l->ended = true;
}

static hob_str unread(const hob_lines *l) {
    return hob_str_skip(hob_buf_str(&l->buf), l->taken);
}

bool hob_lines_ready(const hob_lines *l) {
    hob_str s = unread(l);
    return l->ended || s.n > HOB_LINE_MAX || hob_str_chr(s, '\n') >= 0;
}

/* Drops what belongs to a line that is too long; its end may not have come yet. */
static int leave_out(hob_lines *l, ptrdiff_t end) {
    l->skipping = end < 0;
    l->taken = end < 0 ? l->buf.n : l->taken + (size_t)end + 1;
    return HOB_ETOOBIG;
}

int hob_lines_take(hob_lines *l, hob_str *out) {
    hob_str s = unread(l);
    ptrdiff_t end = hob_str_chr(s, '\n');
    if (l->skipping) {
        leave_out(l, end);
        s = unread(l);
        end = hob_str_chr(s, '\n');
    }
    if (end > HOB_LINE_MAX || (end < 0 && s.n > HOB_LINE_MAX)) return leave_out(l, end);
    if (end < 0 && !l->ended) return HOB_EAGAIN;
    if (end < 0 && !s.n) return 0;
    *out = end < 0 ? s : hob_str_first(s, (size_t)end);
    l->taken += out->n + (end >= 0);
    return 1;
}
