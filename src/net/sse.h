/*
 * sse.h - reader of text/event-stream. Pure: bytes in, events out.
 *
 * Accepts LF, CR and CRLF (split anywhere), a leading BOM, comments, multi-line data, fields with and
 * without the space. An event without its final blank line at the end of input is dropped.
 */
#ifndef HOB_SRC_SSE_H
#define HOB_SRC_SSE_H

#include "base/base.h"

typedef struct hob_sse_event {
    hob_str event; /* "" if not given */
    hob_str data;  /* lines joined by LF */
    hob_str id;    /* last id seen, "" if none */
} hob_sse_event;

typedef int (*hob_sse_fn)(const hob_sse_event *e, void *user); /* negative stops hob_sse_feed */

typedef struct hob_sse {
    hob_buf line, data, event, id;
    hob_sse_fn fn;
    void *user;
    bool after_cr, bom_checked, has_data;
    size_t bom_seen;
} hob_sse;

void hob_sse_init(hob_sse *s, size_t max_event, hob_sse_fn fn, void *user); /* 0 = 16 MiB */
int hob_sse_feed(hob_sse *s, hob_str bytes); /* HOB_ETOOBIG, or what fn returned */
void hob_sse_finish(hob_sse *s);

#endif
