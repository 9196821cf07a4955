/*
 * sse.h - reader of text/event-stream. Pure: bytes in, events out.
 *
 * Accepts LF, CR and CRLF (split anywhere), a leading BOM, comments, multi-line data, fields with and
 * without the space. An event without its final blank line at the end of input is dropped, and so is
 * one without any data line. Bytes are handed on as they came: UTF-8 is not checked here.
 * How the input is cut into pieces never changes the events or the result.
 */
#ifndef HOB_SRC_SSE_H
#define HOB_SRC_SSE_H

#include "base/base.h"

typedef struct hob_sse_event {
    hob_str event; /* "" if not given */
    hob_str data;  /* lines joined by LF */
    hob_str id;    /* last id seen, "" if none */
} hob_sse_event;

/* The slices live until it returns; negative stops hob_sse_feed. */
typedef int (*hob_sse_fn)(const hob_sse_event *e, void *user);

typedef struct hob_sse {
    hob_buf line, data, event, id;
    hob_sse_fn fn;
    void *user;
    bool after_cr, bom_checked, has_data;
    size_t bom_seen;
    int err; /* once negative, every feed returns it */
} hob_sse;

/* max_event: ceiling on a line and on the data of one event; 0 = 16 MiB. */
void hob_sse_init(hob_sse *s, size_t max_event, hob_sse_fn fn, void *user);
int hob_sse_feed(hob_sse *s, hob_str bytes); /* HOB_ETOOBIG, or what fn returned */
void hob_sse_finish(hob_sse *s);

#endif
