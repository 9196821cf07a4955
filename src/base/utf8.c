/*
 * utf8.c - UTF-8 as in RFC 3629: no overlong forms, no surrogates, nothing above U+10FFFF.
 */
#include "base/utf8.h"

/* The range allowed for the second byte after this first byte; it is what keeps out overlong forms,
 * surrogates and values above U+10FFFF. */
static bool second_ok(unsigned char first, unsigned char second) {
    switch (first) {
    case 0xe0: return second >= 0xa0 && second <= 0xbf;
    case 0xed: return second >= 0x80 && second <= 0x9f;
    case 0xf0: return second >= 0x90 && second <= 0xbf;
    case 0xf4: return second >= 0x80 && second <= 0x8f;
    }
    return second >= 0x80 && second <= 0xbf;
}

static size_t length_of(unsigned char first) {
    if (first < 0x80) return 1;
    if (first < 0xc2 || first > 0xf4) return 0;
    return first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
}

hob_utf8_step hob_utf8_check(const char *p, const char *end) {
    const unsigned char *u = (const unsigned char *)p;
    size_t room = (size_t)(end - p);
    size_t want = room ? length_of(u[0]) : 0;
    if (want <= 1) return (hob_utf8_step){.n = 1, .valid = want == 1};
    size_t n = 1;
    while (n < want && n < room && (n == 1 ? second_ok(u[0], u[1]) : (u[n] & 0xc0) == 0x80)) n++;
    return (hob_utf8_step){.n = n, .valid = n == want, .cut = n < want && n == room};
}

/* The first byte that is not ASCII. */
static const char *skip_ascii(const char *p, const char *end) {
    uint64_t word;
    while (end - p >= 8) {
        memcpy(&word, p, 8);
        if (word & 0x8080808080808080u) break;
        p += 8;
    }
    while (p < end && (unsigned char)*p < 0x80) p++;
    return p;
}

bool hob_utf8_valid(hob_str s) {
    if (s.n == 0) return true;
    const char *end = s.p + s.n;
    for (const char *p = skip_ascii(s.p, end); p < end; p = skip_ascii(p, end)) {
        hob_utf8_step step = hob_utf8_check(p, end);
        if (!step.valid) return false;
        p += step.n;
    }
    return true;
}

static bool continues(char c) {
    return ((unsigned char)c & 0xc0) == 0x80;
}

/* The character that a cut at `at` would split starts here; `at` itself if it splits none. */
static size_t start_of(hob_str s, size_t at) {
    for (size_t back = 1; back <= 3 && back <= at && continues(s.p[at - back + 1]); back++) {
        size_t from = at - back;
        if (continues(s.p[from])) continue;
        hob_utf8_step step = hob_utf8_check(s.p + from, s.p + s.n);
        return step.valid && step.n > back ? from : at;
    }
    return at;
}

size_t hob_utf8_prefix(hob_str s, size_t max) {
    return s.n <= max ? s.n : start_of(s, max);
}

size_t hob_utf8_suffix(hob_str s, size_t max) {
    if (s.n <= max) return s.n;
    size_t at = s.n - max;
    if (max == 0) return 0;
    size_t from = start_of(s, at);
    return from == at ? max : s.n - from - hob_utf8_check(s.p + from, s.p + s.n).n;
}

size_t hob_utf8_complete(hob_str s) {
    for (size_t back = 1; back <= 3 && back <= s.n; back++) {
        const char *p = s.p + s.n - back;
        if (continues(*p)) continue;
        return hob_utf8_check(p, s.p + s.n).cut ? s.n - back : s.n;
    }
    return s.n;
}

int hob_utf8_repair(hob_buf *out, hob_str s) {
    if (s.n == 0) return out->err;
    const char *end = s.p + s.n, *run = s.p;
    for (const char *p = skip_ascii(run, end); p < end; p = skip_ascii(p, end)) {
        hob_utf8_step step = hob_utf8_check(p, end);
        if (!step.valid) {
            hob_buf_add(out, hob_str_n(run, (size_t)(p - run)));
            hob_buf_add(out, HOB_STR("\xef\xbf\xbd"));
            run = p + step.n;
        }
        p += step.n;
    }
    return hob_buf_add(out, hob_str_n(run, (size_t)(end - run)));
}

size_t hob_utf8_put(char out[4], uint32_t cp) {
    if (cp > 0x10ffff || (cp >= 0xd800 && cp <= 0xdfff)) cp = 0xfffd;
    if (cp < 0x80) {
        out[0] = (char)cp;
        return 1;
    }
    size_t n = cp < 0x800 ? 2 : cp < 0x10000 ? 3 : 4;
    for (size_t i = n - 1; i > 0; i--, cp >>= 6) out[i] = (char)(0x80 | (cp & 0x3f));
    static const unsigned char lead[5] = {0, 0, 0xc0, 0xe0, 0xf0};
    out[0] = (char)(lead[n] | cp);
    return n;
}

uint32_t hob_utf8_next(hob_str s, size_t *at) {
    hob_utf8_step step = hob_utf8_check(s.p + *at, s.p + s.n);
    const unsigned char *u = (const unsigned char *)s.p + *at;
    *at += step.valid ? step.n : 1;
    if (!step.valid) return 0xfffd;
    if (step.n == 1) return u[0];
    uint32_t cp = u[0] & (0x7fu >> step.n);
    for (size_t i = 1; i < step.n; i++) cp = cp << 6 | (u[i] & 0x3fu);
    return cp;
}
