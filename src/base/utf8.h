/*
 * utf8.h - one step of the UTF-8 check, for the scanners of base/.
 */
#ifndef HOB_SRC_UTF8_H
#define HOB_SRC_UTF8_H

#include "base/base.h"

typedef struct hob_utf8_step {
    size_t n;   /* bytes of the character, or of the longest start of one (at least 1) */
    bool valid; /* a whole character */
    bool cut;   /* fine so far, but the text ends inside it */
} hob_utf8_step;

/* p < end */
hob_utf8_step hob_utf8_check(const char *p, const char *end);

#endif
