/*
 * json_number.c - decimal text and binary numbers.
 *
 * strtod and printf obey the locale of the host, which may write 1,5. So the text handed to strtod
 * never has a decimal point (15e-1), and of what printf writes only the digits are used.
 */
#include "base/json_number.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* A number as digits × 10^exp, without leading zeros. The digits lie in the text, maybe around a
 * point. */
typedef struct decimal {
    const char *first, *end; /* first significant digit, end of the digits */
    size_t n;                /* significant digits */
    int64_t exp;
    bool negative;
} decimal;

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

/* Ten to the 18 is beyond any text we read, so the exponent saturates there. */
static int64_t read_exponent(const char *p, const char *end) {
    bool negative = *p == '-';
    if (*p == '-' || *p == '+') p++;
    int64_t v = 0;
    for (; p < end; p++) v = HOB_MIN(v * 10 + (*p - '0'), INT64_C(1000000000000000));
    return negative ? -v : v;
}

static decimal split(hob_str text) {
    const char *p = text.p, *end = text.p + text.n;
    decimal d = {.negative = *p == '-'};
    if (d.negative) p++;
    bool fraction = false;
    for (; p < end && (is_digit(*p) || *p == '.'); p++) {
        if (*p == '.') {
            fraction = true;
            continue;
        }
        if (fraction) d.exp--;
        if (!d.first && *p != '0') d.first = p;
        if (d.first) d.n++;
    }
    d.end = p;
    if (p < end) d.exp += read_exponent(p + 1, end);
    return d;
}

/* Drops zeros at the end of the digits. */
static void trim_zeros(decimal *d) {
    while (d->n > 0 && (d->end[-1] == '0' || d->end[-1] == '.')) {
        if (d->end[-1] == '0') {
            d->n--;
            d->exp++;
        }
        d->end--;
    }
}

int hob_number_int(hob_str text, int64_t *out) {
    decimal d = split(text);
    int64_t v = 0; /* counts downwards: INT64_MIN has no positive twin */
    if (d.n > 0) {
        trim_zeros(&d);
        if (d.exp < 0 || d.exp > 18 || d.n > 19) return HOB_EINVAL;
        for (const char *p = d.first; p < d.end; p++) {
            if (*p == '.') continue;
            if (__builtin_mul_overflow(v, 10, &v)) return HOB_EINVAL;
            if (__builtin_sub_overflow(v, *p - '0', &v)) return HOB_EINVAL;
        }
        for (; d.exp > 0; d.exp--) {
            if (__builtin_mul_overflow(v, 10, &v)) return HOB_EINVAL;
        }
    }
    if (!d.negative && v == INT64_MIN) return HOB_EINVAL;
    *out = d.negative ? v : -v;
    return HOB_OK;
}

/* Exact when the digits fit 53 bits and the power of ten is itself a double: one rounding. */
static bool simple_double(const decimal *d, double *out) {
    static const double tens[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                  1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                  1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    if (d->n > 18 || d->exp > 22 || d->exp < -22) return false;
    uint64_t digits = 0;
    for (const char *p = d->first; p < d->end; p++) {
        if (*p != '.') digits = digits * 10 + (uint64_t)(*p - '0');
    }
    if (digits > UINT64_C(1) << 53) return false;
    double v = (double)digits;
    *out = d->exp < 0 ? v / tens[-d->exp] : v * tens[d->exp];
    return true;
}

/* More digits than this cannot change the rounding except by being there at all. */
#define DIGITS_MAX 800

static double exact_double(const decimal *d) {
    char text[DIGITS_MAX + 32];
    size_t n = 0;
    bool rest = false;
    for (const char *p = d->first; p < d->end; p++) {
        if (*p == '.') continue;
        if (n < DIGITS_MAX)
            text[n++] = *p;
        else if (*p != '0')
            rest = true;
    }
    int64_t exp = d->exp + (int64_t)(d->n - n);
    if (rest) text[n - 1] = '1'; /* replaces a digit far behind the last that counts */
    exp = HOB_MIN(HOB_MAX(exp, INT64_C(-100000)), INT64_C(100000));
    snprintf(text + n, sizeof(text) - n, "e%d", (int)exp);
    return strtod(text, NULL);
}

double hob_number_double(hob_str text) {
    decimal d = split(text);
    double v = 0;
    if (d.n > 0 && !simple_double(&d, &v)) v = exact_double(&d);
    return d.negative ? -v : v;
}

/* ---- writing ------------------------------------------------------------------------------- */

/* 0.d1d2d3… × 10^point */
typedef struct shortest {
    char digits[20];
    int n, point;
} shortest;

static shortest digits_of(double v, int precision) {
    char text[64];
    shortest s = {0};
    snprintf(text, sizeof(text), "%.*e", precision - 1, v);
    const char *p = text;
    for (; *p != 'e'; p++) {
        if (is_digit(*p) && s.n < (int)sizeof(s.digits)) s.digits[s.n++] = *p;
    }
    s.point = (int)strtol(p + 1, NULL, 10) + 1;
    while (s.n > 1 && s.digits[s.n - 1] == '0') s.n--;
    return s;
}

static bool reads_back(const shortest *s, double v) {
    char text[HOB_NUMBER_TEXT];
    int n = snprintf(text, sizeof(text), "%.*se%d", s->n, s->digits, s->point - s->n);
    return hob_number_double(hob_str_n(text, (size_t)n)) == v;
}

/* The next decimal of 16 digits. Just above a power of two the numbers lie twice as far apart as
 * below it, so the decimal nearest to v may miss it while its upper neighbour reads back. */
static bool next_up(shortest *s) {
    while (s->n < 16) s->digits[s->n++] = '0';
    int i = s->n - 1;
    while (i >= 0 && s->digits[i] == '9') s->digits[i--] = '0';
    if (i < 0) return false;
    s->digits[i]++;
    return true;
}

static shortest shorten(double v) {
    /* Any decimal of 15 digits survives the way through a normal double. */
    int from = v < 2.3e-308 ? 1 : 15;
    for (int precision = from; precision <= 16; precision++) {
        shortest s = digits_of(v, precision);
        if (reads_back(&s, v)) return s;
        if (precision == 16 && next_up(&s) && reads_back(&s, v)) return s;
    }
    return digits_of(v, 17);
}

static int layout(const shortest *s, char *out, size_t size) {
    int n = s->n, point = s->point;
    if (point > 21 || point < -5) {
        const char *dot = n > 1 ? "." : "";
        return snprintf(out, size, "%c%s%.*se%d", s->digits[0], dot, n - 1, s->digits + 1,
                        point - 1);
    }
    if (point <= 0) return snprintf(out, size, "0.%.*s%.*s", -point, "00000", n, s->digits);
    if (n <= point) {
        return snprintf(out, size, "%.*s%.*s", n, s->digits, point - n, "000000000000000000000");
    }
    return snprintf(out, size, "%.*s.%.*s", point, s->digits, n - point, s->digits + point);
}

size_t hob_number_format(double v, char out[HOB_NUMBER_TEXT]) {
    char *to = out;
    if (signbit(v)) *to++ = '-';
    if (v == 0) {
        *to++ = '0';
        return (size_t)(to - out);
    }
    shortest s = shorten(fabs(v));
    return (size_t)(to - out + layout(&s, to, HOB_NUMBER_TEXT - 1));
}
