/*
 * buf.c - growable bytes. The block always has one byte more than `cap` for the NUL of hob_buf_z().
 */
#include "base/mem.h"

#include <stdio.h>

#define FIRST_CAP 64

void hob_buf_init(hob_buf *b, size_t max) {
    *b = (hob_buf){.max = HOB_MIN(max, SIZE_MAX / 4)};
}

void hob_buf_finish(hob_buf *b) {
    hob_free(b->p);
    *b = (hob_buf){.max = b->max};
}

void hob_buf_reset(hob_buf *b) {
    b->n = 0;
    b->err = 0;
}

static int grow(hob_buf *b, size_t extra) {
    if (extra > b->max - b->n) return b->err = HOB_ETOOBIG;
    size_t cap = HOB_MAX(HOB_MAX(b->n + extra, b->cap * 2), (size_t)FIRST_CAP);
    cap = HOB_MIN(cap, b->max);
    char *p = hob_mem_resize(b->p, cap + 1);
    if (!p) return b->err = HOB_ETOOBIG;
    b->p = p;
    b->cap = cap;
    return HOB_OK;
}

char *hob_buf_reserve(hob_buf *b, size_t n) {
    if (b->err) return NULL;
    if ((!b->p || n > b->cap - b->n) && grow(b, n) < 0) return NULL;
    return b->p + b->n;
}

int hob_buf_add(hob_buf *b, hob_str s) {
    if (s.n == 0) return b->err;
    /* A slice of the buffer itself moves with it when it grows. */
    uintptr_t at = (uintptr_t)s.p, start = (uintptr_t)b->p;
    bool inside = b->p && at >= start && at < start + b->n;
    char *to = hob_buf_reserve(b, s.n);
    if (!to) return b->err;
    memcpy(to, inside ? b->p + (at - start) : s.p, s.n);
    b->n += s.n;
    return HOB_OK;
}

int hob_buf_addz(hob_buf *b, const char *z) {
    return hob_buf_add(b, hob_str_z(z));
}

int hob_buf_addc(hob_buf *b, char c) {
    char *to = hob_buf_reserve(b, 1);
    if (!to) return b->err;
    *to = c;
    b->n++;
    return HOB_OK;
}

int hob_buf_addf(hob_buf *b, const char *fmt, ...) {
    if (!hob_buf_reserve(b, 0)) return b->err;
    va_list args;
    va_start(args, fmt);
    int n = vsnprintf(b->p + b->n, b->cap - b->n + 1, fmt, args);
    va_end(args);
    if (n < 0) return b->err = HOB_EINVAL;
    if ((size_t)n > b->cap - b->n) {
        if (!hob_buf_reserve(b, (size_t)n)) return b->err;
        va_start(args, fmt);
        vsnprintf(b->p + b->n, (size_t)n + 1, fmt, args);
        va_end(args);
    }
    b->n += (size_t)n;
    return HOB_OK;
}

void hob_buf_consume(hob_buf *b, size_t n) {
    n = HOB_MIN(n, b->n);
    b->n -= n;
    if (b->n && n) memmove(b->p, b->p + n, b->n);
}

const char *hob_buf_z(hob_buf *b) {
    if (!b->p) return "";
    b->p[b->n] = '\0';
    return b->p;
}
