/*
 * excerpt.h - some lines of a text, gathered while all of it goes by.
 */
#ifndef HOB_SRC_TOOL_EXCERPT_H
#define HOB_SRC_TOOL_EXCERPT_H

#include "base/base.h"

typedef struct hob_excerpt {
    int64_t offset, limit; /* first line wanted, from 1; lines wanted at most */
    hob_buf text;          /* what was kept; its ceiling is that of the page */
    int64_t kept;          /* whole lines in it */
    size_t whole;          /* their bytes; behind them is the start of a line still coming */
    bool full;             /* no more is kept */
    size_t long_line;      /* bytes of the first line wanted, if it alone is over the ceiling */
    int64_t lines;         /* whole lines that went by, kept or not */
    bool open;             /* a line without its end is going by */
} hob_excerpt;

void hob_excerpt_init(hob_excerpt *p, int64_t offset, int64_t limit, size_t max_bytes);
void hob_excerpt_finish(hob_excerpt *p);
void hob_excerpt_add(hob_excerpt *p, hob_str bytes);
void hob_excerpt_end(hob_excerpt *p); /* the last line may have no newline */

#endif
