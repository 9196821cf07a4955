/*
 * json_scan.c - strings with their escapes, numbers, literals, comments.
 */
#include "base/json_scan.h"

#include "base/utf8.h"

hob_scan_result hob_scan_comment(hob_scan *s) {
    const char *open = s->p;
    if (s->end - open >= 2 && open[1] == '/') {
        const char *newline = memchr(open, '\n', (size_t)(s->end - open));
        s->p = newline ? newline + 1 : s->end;
        return HOB_SCAN_OK;
    }
    if (s->end - open < 2 || open[1] != '*') return hob_scan_bad(s, open, "unexpected '/'");
    const char *close = memmem(open + 2, (size_t)(s->end - open - 2), "*/", 2);
    if (!close) return hob_scan_bad(s, open, "this comment is never closed");
    s->p = close + 2;
    return HOB_SCAN_OK;
}

static int hex_value(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* The four hex digits at p: their value, -1 if one is wrong, -2 if the text ends before. */
static int32_t hex4(const char *p, const char *end) {
    int32_t v = 0;
    for (int i = 0; i < 4; i++) {
        if (p + i >= end) return -2;
        int d = hex_value(p[i]);
        if (d < 0) return -1;
        v = v << 4 | d;
    }
    return v;
}

static bool is_high(int32_t v) {
    return v >= 0xd800 && v <= 0xdbff;
}

static bool is_low(int32_t v) {
    return v >= 0xdc00 && v <= 0xdfff;
}

/* Could the text from p on be the start of the \uDC00…\uDFFF that completes a pair? */
static bool low_may_follow(const char *p, const char *end) {
    static const char start[] = "\\u";
    for (int i = 0; i < 2; i++) {
        if (p + i >= end) return true;
        if (p[i] != start[i]) return false;
    }
    return hex4(p + 2, end) == -2;
}

/* The character that a backslash and c stand for; 0 if they stand for none (or for \u). */
static char short_escape(char c) {
    switch (c) {
    case '"':
    case '\\':
    case '/': return c;
    case 'b': return '\b';
    case 'f': return '\f';
    case 'n': return '\n';
    case 'r': return '\r';
    case 't': return '\t';
    }
    return 0;
}

/* *at is at the backslash; moved behind the escape. */
static hob_scan_result scan_escape(hob_scan *s, const char **at) {
    const char *p = *at, *end = s->end;
    if (p + 1 >= end) {
        return HOB_SCAN_END;
    }
    if (short_escape(p[1])) {
        *at = p + 2;
        return HOB_SCAN_OK;
    }
    if (p[1] != 'u') {
        return hob_scan_bad(s, p, "unknown escape");
    }
    int32_t v = hex4(p + 2, end);
    if (v == -2) return HOB_SCAN_END;
    if (v < 0) return hob_scan_bad(s, p, "\\u needs four hex digits");
    /* Half a pair at the end of the text is unfinished, not lone. */
    if (is_high(v) && low_may_follow(p + 6, end)) return HOB_SCAN_END;
    *at = p + 6;
    return HOB_SCAN_OK;
}

/* *at is at a byte >= 0x80; moved behind all such characters. */
static hob_scan_result scan_utf8(hob_scan *s, const char **at) {
    while (*at < s->end && (unsigned char)**at >= 0x80) {
        hob_utf8_step step = hob_utf8_check(*at, s->end);
        if (step.cut) return HOB_SCAN_END;
        if (!step.valid) return hob_scan_bad(s, *at, "invalid UTF-8");
        *at += step.n;
    }
    return HOB_SCAN_OK;
}

hob_scan_result hob_scan_string(hob_scan *s, bool *escaped) {
    const char *p = hob_scan_plain(s->p + 1, s->end);
    hob_scan_result r = HOB_SCAN_OK;
    *escaped = false;
    while (r == HOB_SCAN_OK && p < s->end && *p != '"') {
        if ((unsigned char)*p >= 0x80) {
            r = scan_utf8(s, &p);
        } else if (*p == '\\') {
            *escaped = true;
            r = scan_escape(s, &p);
        } else {
            return hob_scan_bad(s, p, "a control character in a string must be escaped");
        }
        if (r == HOB_SCAN_OK) p = hob_scan_plain(p, s->end);
    }
    if (r == HOB_SCAN_BAD) return r;
    if (r == HOB_SCAN_END || p == s->end) {
        s->safe = p;
        return HOB_SCAN_END;
    }
    s->p = p + 1;
    return HOB_SCAN_OK;
}

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

/* At least one digit, at *at. */
static hob_scan_result scan_digits(hob_scan *s, const char **at, const char *why) {
    const char *p = *at;
    if (p >= s->end) return HOB_SCAN_END;
    if (!is_digit(*p)) return hob_scan_bad(s, p, why);
    while (p < s->end && is_digit(*p)) p++;
    *at = p;
    return HOB_SCAN_OK;
}

hob_scan_result hob_scan_number(hob_scan *s) {
    const char *p = s->p, *end = s->end;
    if (*p == '-') p++;
    const char *first = p;
    hob_scan_result r = scan_digits(s, &p, "expected a digit after '-'");
    if (r != HOB_SCAN_OK) return r;
    if (*first == '0' && p - first > 1)
        return hob_scan_bad(s, first, "a number has a leading zero");
    if (p < end && *p == '.') {
        p++;
        r = scan_digits(s, &p, "expected a digit after '.'");
        if (r != HOB_SCAN_OK) return r;
    }
    if (p < end && (*p == 'e' || *p == 'E')) {
        p++;
        if (p < end && (*p == '+' || *p == '-')) p++;
        r = scan_digits(s, &p, "expected a digit in the exponent");
        if (r != HOB_SCAN_OK) return r;
    }
    if (p == end && s->more) return HOB_SCAN_END;
    s->p = p;
    return HOB_SCAN_OK;
}

hob_scan_result hob_scan_literal(hob_scan *s, hob_str word) {
    size_t room = (size_t)(s->end - s->p);
    if (memcmp(s->p, word.p, HOB_MIN(room, word.n)) != 0) {
        return hob_scan_bad(s, s->p, "expected a value");
    }
    if (room < word.n) return HOB_SCAN_END;
    s->p += word.n;
    return HOB_SCAN_OK;
}

/* The \u escape at *p (known to be well-formed), or the pair of them, as a code point. */
static uint32_t unescape_unicode(const char **p, const char *end) {
    int32_t v = hex4(*p + 2, end);
    *p += 6;
    if (is_high(v) && end - *p >= 6 && (*p)[0] == '\\' && (*p)[1] == 'u') {
        int32_t low = hex4(*p + 2, end);
        if (is_low(low)) {
            *p += 6;
            return (uint32_t)(0x10000 + ((v - 0xd800) << 10) + (low - 0xdc00));
        }
    }
    return (uint32_t)v; /* hob_utf8_put turns a lone surrogate into U+FFFD */
}

size_t hob_scan_unescape(char *to, hob_str content) {
    const char *p = content.p, *end = content.p + content.n;
    char *start = to;
    while (p < end) {
        const char *slash = memchr(p, '\\', (size_t)(end - p));
        size_t run = (size_t)((slash ? slash : end) - p);
        memcpy(to, p, run);
        to += run;
        p += run;
        if (p == end) {
            break;
        }
        if (p[1] != 'u') {
            *to++ = short_escape(p[1]);
            p += 2;
            continue;
        }
        char utf8[4];
        size_t n = hob_utf8_put(utf8, unescape_unicode(&p, end));
        memcpy(to, utf8, n);
        to += n;
    }
    return (size_t)(to - start);
}
