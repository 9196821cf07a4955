/*
 * json_scan.h - the words of JSON: white space, strings, numbers, literals.
 *
 * Shared by the reader, the checker and the partial reader. A scanner function starts at the first
 * byte of its word and leaves `p` behind it. It tells three outcomes apart, which is all that
 * partial mode needs: fine, wrong, and "fine so far, but the text ends here".
 */
#ifndef HOB_SRC_JSON_SCAN_H
#define HOB_SRC_JSON_SCAN_H

#include "base/base.h"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

typedef enum hob_scan_result {
    HOB_SCAN_OK,
    HOB_SCAN_BAD, /* p is where, why says what */
    HOB_SCAN_END
} hob_scan_result;

typedef struct hob_scan {
    const char *p, *end;
    const char *why;
    const char *safe; /* after HOB_SCAN_END in a string: its content is whole up to here */
    bool comments;    /* comments and trailing commas are allowed */
    bool more;        /* the text may go on behind `end`: a number that touches it is unfinished */
} hob_scan;

hob_scan_result hob_scan_comment(hob_scan *s);
hob_scan_result hob_scan_string(hob_scan *s, bool *escaped);
hob_scan_result hob_scan_number(hob_scan *s);
hob_scan_result hob_scan_literal(hob_scan *s, hob_str word);
/* Undoes the escapes of a string's content that was scanned; `to` has room for content.n bytes. */
size_t hob_scan_unescape(char *to, hob_str content);

static inline hob_scan_result hob_scan_bad(hob_scan *s, const char *p, const char *why) {
    s->p = p;
    s->why = why;
    return HOB_SCAN_BAD;
}

/* White space, and comments where they are allowed. HOB_SCAN_END never comes from here. */
static inline hob_scan_result hob_scan_space(hob_scan *s) {
    while (s->p < s->end) {
        char c = *s->p;
        if (c == ' ' || c == '\n' || c == '\r' || c == '\t') {
            s->p++;
        } else if (c == '/' && s->comments) {
            if (hob_scan_comment(s) != HOB_SCAN_OK) return HOB_SCAN_BAD;
        } else {
            break;
        }
    }
    return HOB_SCAN_OK;
}

/* The first byte that a JSON string cannot just contain: a quote, a backslash, a control character;
 * also the first that is not ASCII, for the UTF-8 check. */
static inline const char *hob_scan_plain_portable(const char *p, const char *end) {
    while (p < end) {
        unsigned char c = (unsigned char)*p;
        if (c < 0x20 || c >= 0x80 || c == '"' || c == '\\') break;
        p++;
    }
    return p;
}

static inline const char *hob_scan_plain(const char *p, const char *end) {
#if defined(__SSE2__)
    const __m128i quote = _mm_set1_epi8('"'), slash = _mm_set1_epi8('\\');
    const __m128i space = _mm_set1_epi8(0x20);
    while (end - p >= 16) {
        __m128i v = _mm_loadu_si128((const __m128i *)(const void *)p);
        __m128i hit = _mm_or_si128(_mm_cmpeq_epi8(v, quote), _mm_cmpeq_epi8(v, slash));
        /* Signed: bytes from 0x80 on are negative, so one comparison finds both kinds. */
        hit = _mm_or_si128(hit, _mm_cmplt_epi8(v, space));
        unsigned mask = (unsigned)_mm_movemask_epi8(hit);
        if (mask) return p + __builtin_ctz(mask);
        p += 16;
    }
#endif
    return hob_scan_plain_portable(p, end);
}

#endif
