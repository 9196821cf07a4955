/*
 * capture.c - the beginning and the end of an output of any length.
 *
 * Memory is bounded by head + tail. What is left out is said in the middle, with its exact size, and
 * the cut is made at a line's end, or between characters where there is no line's end near.
 * What is shown is valid UTF-8: broken bytes and NULs become U+FFFD.
 */
#include "tool/tool.h"

void hob_capture_init(hob_capture *c, size_t max_head, size_t max_tail) {
    *c = (hob_capture){.max_tail = max_tail};
    hob_buf_init(&c->head, max_head);
}

void hob_capture_finish(hob_capture *c) {
    hob_buf_finish(&c->head);
    hob_free(c->ring);
    c->ring = NULL;
}

/* The ring holds the last bytes; `at` is where the next one goes. */
static void add_tail(hob_capture *c, hob_str s) {
    if (!c->ring) c->ring = hob_alloc(HOB_MAX(c->max_tail, 1));
    if (s.n > c->max_tail) s = hob_str_skip(s, s.n - c->max_tail);
    while (s.n > 0) {
        size_t n = HOB_MIN(s.n, c->max_tail - c->at);
        memcpy(c->ring + c->at, s.p, n);
        c->at = (c->at + n) % c->max_tail;
        c->ntail = HOB_MIN(c->ntail + n, c->max_tail);
        s = hob_str_skip(s, n);
    }
}

void hob_capture_add(hob_capture *c, hob_str s) {
    c->total += s.n;
    size_t n = HOB_MIN(s.n, c->head.max - c->head.n);
    if (n > 0) hob_buf_add(&c->head, hob_str_first(s, n));
    if (s.n > n) add_tail(c, hob_str_skip(s, n));
}

bool hob_capture_truncated(const hob_capture *c) {
    return c->total > c->head.n + c->ntail;
}

/* How much of the head to show: whole lines if that costs at most a quarter. */
static size_t cut_head(hob_str s) {
    for (size_t n = s.n; n > s.n - s.n / 4; n--)
        if (s.p[n - 1] == '\n') return n;
    return hob_utf8_complete(s);
}

/* What to leave out of the beginning of the tail. */
static size_t cut_tail(hob_str s) {
    const char *newline = s.n ? memchr(s.p, '\n', s.n / 4) : NULL;
    if (newline) return (size_t)(newline - s.p) + 1;
    size_t n = 0;
    while (n < s.n && n < 3 && ((unsigned char)s.p[n] & 0xC0) == 0x80) n++;
    return n;
}

/* The tail in order, behind the head in `out`. */
static void unroll(const hob_capture *c, hob_buf *out) {
    if (c->ntail == 0) return;
    size_t start = c->ntail < c->max_tail ? 0 : c->at;
    hob_buf_add(out, hob_str_n(c->ring + start, c->ntail - start));
    hob_buf_add(out, hob_str_n(c->ring, start));
}

/* NUL is valid UTF-8, but not every store and provider takes it. */
static void write_text(hob_buf *out, hob_str s) {
    hob_str part;
    while (hob_str_split(&s, '\0', &part)) {
        hob_utf8_repair(out, part);
        if (s.p) hob_buf_addz(out, "\xEF\xBF\xBD");
    }
}

static void write_cut(const hob_capture *c, hob_str all, hob_buf *out) {
    hob_str head = hob_str_first(all, c->head.n), tail = hob_str_skip(all, c->head.n);
    head = hob_str_first(head, cut_head(head));
    tail = hob_str_skip(tail, cut_tail(tail));
    write_text(out, head);
    if (head.n > 0 && head.p[head.n - 1] != '\n') hob_buf_addc(out, '\n');
    hob_buf_addf(out, "[… %zu bytes left out …]\n", c->total - head.n - tail.n);
    write_text(out, tail);
}

void hob_capture_write(const hob_capture *c, hob_buf *out) {
    hob_buf all;
    hob_buf_init(&all, c->head.max + c->max_tail + 1);
    hob_buf_add(&all, hob_buf_str(&c->head));
    unroll(c, &all);
    if (hob_capture_truncated(c))
        write_cut(c, hob_buf_str(&all), out);
    else
        write_text(out, hob_buf_str(&all));
    hob_buf_finish(&all);
}
