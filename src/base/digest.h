/*
 * digest.h - names that nobody can choose: texts as fixed numbers of hexadecimal digits, without a way back or a second
 * text for the same. For what hob_str_hash is too easily led by who chooses the text.
 */
#ifndef HOB_SRC_BASE_DIGEST_H
#define HOB_SRC_BASE_DIGEST_H

#include "base/base.h"

enum { HOB_DIGEST_MAX = 64 }; /* digits */

/* `digits` (32 to HOB_DIGEST_MAX) and a NUL. With a key (its first 64 bytes; "" = none) only who has it can tell them. */
void hob_digest(hob_str key, hob_str text, char *out, size_t digits);

#endif
