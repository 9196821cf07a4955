#include "tool/excerpt.h"

void hob_excerpt_init(hob_excerpt *p, int64_t offset, int64_t limit, size_t max_bytes) {
    *p = (hob_excerpt){.offset = offset, .limit = limit};
    hob_buf_init(&p->text, max_bytes);
}

void hob_excerpt_finish(hob_excerpt *p) {
    hob_buf_finish(&p->text);
}

static void keep_line(hob_excerpt *p) {
    p->kept++;
    p->whole = p->text.n;
    p->full = p->kept == p->limit;
}

/* A piece of a line, whole with its newline or not. */
static void keep(hob_excerpt *p, hob_str piece, bool ends) {
    if (p->text.n + piece.n > p->text.max) {
        p->full = true;
        if (p->whole == 0) p->long_line = p->text.n + piece.n;
        p->text.n = p->whole;
        return;
    }
    hob_buf_add(&p->text, piece);
    if (ends) keep_line(p);
}

static void add_piece(hob_excerpt *p, hob_str piece, bool ends) {
    int64_t line = p->lines + 1;
    if (!p->full && line >= p->offset)
        keep(p, piece, ends);
    else if (p->long_line && line == p->offset)
        p->long_line += piece.n;
    p->open = !ends;
    p->lines += ends;
}

void hob_excerpt_add(hob_excerpt *p, hob_str bytes) {
    while (bytes.n > 0) {
        const char *newline = memchr(bytes.p, '\n', bytes.n);
        size_t n = newline ? (size_t)(newline - bytes.p) + 1 : bytes.n;
        add_piece(p, hob_str_first(bytes, n), newline != NULL);
        bytes = hob_str_skip(bytes, n);
    }
}

void hob_excerpt_end(hob_excerpt *p) {
    if (!p->open) return;
    p->open = false;
    p->lines++;
    if (!p->full && p->text.n > p->whole) keep_line(p);
}
