/*
 * base64.c - RFC 4648 section 4. Decoding is strict: padding required, no line breaks, spare bits
 * zero, so that each byte string has exactly one text.
 */
#include "base/base.h"

static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

int hob_base64_encode(hob_buf *out, hob_str bytes) {
    if (bytes.n / 3 >= SIZE_MAX / 8) return out->err = HOB_ETOOBIG;
    char *to = hob_buf_reserve(out, (bytes.n + 2) / 3 * 4);
    if (!to) return out->err;
    const unsigned char *u = (const unsigned char *)bytes.p;
    char *start = to;
    for (size_t i = 0; i < bytes.n; i += 3) {
        size_t left = bytes.n - i;
        uint32_t v = (uint32_t)u[i] << 16;
        if (left > 1) v |= (uint32_t)u[i + 1] << 8;
        if (left > 2) v |= u[i + 2];
        *to++ = digits[v >> 18];
        *to++ = digits[v >> 12 & 63];
        *to++ = left > 1 ? digits[v >> 6 & 63] : '=';
        *to++ = left > 2 ? digits[v & 63] : '=';
    }
    out->n += (size_t)(to - start);
    return HOB_OK;
}

static int digit_value(char c) {
    if (c >= 'A' && c <= 'Z') return c - 'A';
    if (c >= 'a' && c <= 'z') return c - 'a' + 26;
    if (c >= '0' && c <= '9') return c - '0' + 52;
    return c == '+' ? 62 : c == '/' ? 63 : -1;
}

/* The value of `n` digits (2 to 4), left-aligned in 24 bits, or -1. */
static int32_t quad_value(const char *p, size_t n) {
    int32_t v = 0;
    for (size_t i = 0; i < 4; i++) {
        int d = i < n ? digit_value(p[i]) : 0;
        if (d < 0) return -1;
        v = v << 6 | d;
    }
    return v;
}

int hob_base64_decode(hob_buf *out, hob_str text) {
    if (text.n % 4 != 0) return HOB_EPARSE;
    if (text.n == 0) return out->err;
    size_t pad = text.p[text.n - 1] != '=' ? 0 : text.p[text.n - 2] != '=' ? 1 : 2;
    unsigned char *to = (unsigned char *)hob_buf_reserve(out, text.n / 4 * 3 - pad);
    if (!to) return out->err;
    for (size_t i = 0; i < text.n; i += 4) {
        size_t spare = i + 4 == text.n ? pad : 0;
        int32_t v = quad_value(text.p + i, 4 - spare);
        if (v < 0 || (v & ((1 << (8 * spare)) - 1)) != 0) return HOB_EPARSE;
        *to++ = (unsigned char)(v >> 16);
        if (spare < 2) *to++ = (unsigned char)(v >> 8 & 0xff);
        if (spare < 1) *to++ = (unsigned char)(v & 0xff);
    }
    out->n += text.n / 4 * 3 - pad;
    return HOB_OK;
}
