/*
 * words.h - the words of a text, by which memory finds it again. Pure.
 *
 * What the two stores agree on: both index these words and look for these words, so a text is found in one
 * exactly when it is found in the other. Words are folded: case, accents of Latin letters, the plural s. In
 * scripts that are written without spaces every character is a word. What is no letter and no digit parts
 * words. The index keeps folded words: a change here is a change of the store's format.
 */
#ifndef HOB_SRC_LOG_WORDS_H
#define HOB_SRC_LOG_WORDS_H

#include "base/base.h"

enum { HOB_WORD_MAX = 64 }; /* bytes; the rest of a longer word is not looked at */

typedef struct hob_word_scan {
    hob_str text;
    size_t at;
    size_t n;
    char word[HOB_WORD_MAX + 4];
} hob_word_scan;

void hob_word_scan_init(hob_word_scan *w, hob_str text); /* any bytes; broken UTF-8 parts words */
/* The next word: letters and digits of UTF-8, nothing else. Valid until the next call. */
bool hob_word_scan_next(hob_word_scan *w, hob_str *out);

#endif
