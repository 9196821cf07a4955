/*
 * str.c - slices. None of these allocate; results borrow from their arguments.
 */
#include "base/base.h"

#include <endian.h>

bool hob_str_eq(hob_str a, hob_str b) {
    return a.n == b.n && (a.n == 0 || memcmp(a.p, b.p, a.n) == 0);
}

bool hob_str_eqz(hob_str a, const char *z) {
    return hob_str_eq(a, hob_str_z(z));
}

static unsigned char lower(char c) {
    unsigned char u = (unsigned char)c;
    return u >= 'A' && u <= 'Z' ? (unsigned char)(u + 32) : u;
}

bool hob_str_ieq(hob_str a, hob_str b) {
    if (a.n != b.n) return false;
    for (size_t i = 0; i < a.n; i++) {
        if (lower(a.p[i]) != lower(b.p[i])) return false;
    }
    return true;
}

int hob_str_cmp(hob_str a, hob_str b) {
    size_t n = HOB_MIN(a.n, b.n);
    int c = n ? memcmp(a.p, b.p, n) : 0;
    if (c != 0) return c;
    return (a.n > b.n) - (a.n < b.n);
}

bool hob_str_starts(hob_str s, hob_str prefix) {
    return s.n >= prefix.n && hob_str_eq(hob_str_first(s, prefix.n), prefix);
}

bool hob_str_ends(hob_str s, hob_str suffix) {
    return s.n >= suffix.n && hob_str_eq(hob_str_skip(s, s.n - suffix.n), suffix);
}

hob_str hob_str_skip(hob_str s, size_t n) {
    if (n == 0) return s;
    n = HOB_MIN(n, s.n);
    return hob_str_n(s.p ? s.p + n : NULL, s.n - n);
}

hob_str hob_str_first(hob_str s, size_t n) {
    return hob_str_n(s.p, HOB_MIN(n, s.n));
}

static bool is_space(char c) {
    return c == ' ' || (c >= '\t' && c <= '\r');
}

hob_str hob_str_trim(hob_str s) {
    size_t from = 0, to = s.n;
    while (from < to && is_space(s.p[from])) from++;
    while (to > from && is_space(s.p[to - 1])) to--;
    return hob_str_skip(hob_str_first(s, to), from);
}

ptrdiff_t hob_str_find(hob_str s, hob_str needle) {
    if (needle.n == 0) return 0;
    if (needle.n > s.n) return -1;
    const char *hit = memmem(s.p, s.n, needle.p, needle.n);
    return hit ? hit - s.p : -1;
}

ptrdiff_t hob_str_chr(hob_str s, char c) {
    const char *hit = s.n ? memchr(s.p, c, s.n) : NULL;
    return hit ? hit - s.p : -1;
}

bool hob_str_split(hob_str *rest, char sep, hob_str *part) {
    if (!rest->p) return false;
    ptrdiff_t at = hob_str_chr(*rest, sep);
    if (at < 0) {
        *part = *rest;
        *rest = HOB_STR_NULL;
        return true;
    }
    *part = hob_str_first(*rest, (size_t)at);
    *rest = hob_str_skip(*rest, (size_t)at + 1);
    return true;
}

int hob_str_int(hob_str s, int64_t *out) {
    bool negative = s.n > 0 && s.p[0] == '-';
    size_t i = s.n > 0 && (s.p[0] == '-' || s.p[0] == '+') ? 1 : 0;
    if (i == s.n) return HOB_EPARSE;
    int64_t v = 0; /* counts downwards: INT64_MIN has no positive twin */
    for (; i < s.n; i++) {
        if (s.p[i] < '0' || s.p[i] > '9') return HOB_EPARSE;
        if (__builtin_mul_overflow(v, 10, &v)) return HOB_EPARSE;
        if (__builtin_sub_overflow(v, s.p[i] - '0', &v)) return HOB_EPARSE;
    }
    if (!negative && v == INT64_MIN) return HOB_EPARSE;
    *out = negative ? v : -v;
    return HOB_OK;
}

uint64_t hob_str_hash(hob_str s) {
    uint64_t h = 0xcbf29ce484222325u;
    for (size_t i = 0; i < s.n; i++) h = (h ^ (unsigned char)s.p[i]) * 0x100000001b3u;
    return h;
}

static uint64_t stir(uint64_t h, const char *p, size_t n) {
    uint64_t word = 0;
    memcpy(&word, p, n);
    h = (h ^ le64toh(word)) * 0xff51afd7ed558ccdu;
    return h ^ h >> 32;
}

uint64_t hob_sum(uint64_t seed, hob_str bytes) {
    uint64_t h = seed ^ bytes.n;
    size_t i = 0;
    for (; i + 8 <= bytes.n; i += 8) h = stir(h, bytes.p + i, 8);
    if (i < bytes.n) h = stir(h, bytes.p + i, bytes.n - i);
    return h * 0xc4ceb9fe1a85ec53u;
}

#define NEAREST_MAX 64 /* nobody mistypes longer names in a way worth guessing */

/* Edits (insert, delete, replace, swap of neighbours) that turn a into b; both within the limit. */
static size_t edit_distance(hob_str a, hob_str b) {
    size_t rows[3][NEAREST_MAX + 1];
    size_t *before = rows[0], *above = rows[1], *row = rows[2];
    for (size_t j = 0; j <= b.n; j++) above[j] = j;
    for (size_t i = 1; i <= a.n; i++) {
        row[0] = i;
        for (size_t j = 1; j <= b.n; j++) {
            bool same = lower(a.p[i - 1]) == lower(b.p[j - 1]);
            size_t best = HOB_MIN(HOB_MIN(above[j], row[j - 1]) + 1, above[j - 1] + (same ? 0 : 1));
            bool swap = i > 1 && j > 1 && a.p[i - 1] == b.p[j - 2] && a.p[i - 2] == b.p[j - 1];
            row[j] = swap ? HOB_MIN(best, before[j - 2] + 1) : best;
        }
        size_t *spare = before;
        before = above;
        above = row;
        row = spare;
    }
    return above[b.n];
}

const char *hob_str_nearest(hob_str word, const char *const *candidates, size_t n) {
    if (word.n == 0 || word.n > NEAREST_MAX) return NULL;
    const char *best = NULL;
    size_t limit = HOB_MAX(word.n / 3, (size_t)1) + 1; /* a distance below it counts as near */
    for (size_t i = 0; i < n; i++) {
        hob_str c = hob_str_z(candidates[i]);
        if (c.n == 0 || c.n > NEAREST_MAX) continue;
        size_t d = edit_distance(word, c);
        if (d >= limit || d >= HOB_MAX(word.n, c.n)) continue;
        limit = d;
        best = candidates[i];
        if (d == 0) break;
    }
    return best;
}
