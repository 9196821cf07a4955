/*
 * outlet.h - a stream to one client, made of pieces of text: what is between something that has news now and then and
 * hob_web_stream, which asks for bytes when the client can take some.
 *
 * The outlet keeps what was made and not yet taken, which is about one piece: it asks for the next when that is gone.
 */
#ifndef HOB_SRC_SERVE_OUTLET_H
#define HOB_SRC_SERVE_OUTLET_H

#include "serve/http.h"

typedef struct hob_outlet hob_outlet;

typedef struct hob_outlet_ops {
    /* Server's thread, once, before the first fill: from here on the outlet may be woken. */
    void (*begin)(void *user);
    /* Server's thread, never blocks: appends to `out`, about HOB_OUTLET_PIECE at most, or lends (hob_outlet_lend). 0:
     * nothing more now; -1: what is in `out` is the end. */
    int (*fill)(void *user, hob_buf *out);
    /* Once, server's thread or the handler's: nobody wants it any more. */
    void (*end)(void *user);
    /* Before it: because the client left. May be NULL. */
    void (*left)(void *user);
} hob_outlet_ops;

enum {
    HOB_OUTLET_PIECE = 32 * 1024,
    HOB_OUTLET_MAX = 160 << 20 /* one event can have 64 MiB, and needs room to grow */
};

hob_outlet *hob_outlet_create(const hob_outlet_ops *ops, void *user);
/* [handler] Answers the request with it. The outlet is the stream's from here on; `end` comes in every case. */
void hob_outlet_answer(hob_outlet *o, hob_web_request *r, const char *type);
/* [handler] Instead of hob_outlet_answer: `end` comes, and nothing was answered. */
void hob_outlet_drop(hob_outlet *o);
/* [any] There may be something to fill. Only between begin() and end(). */
void hob_outlet_wake(hob_outlet *o);
/* Within fill, once and with `out` empty: this is what comes next. `give_back` when it was taken, or nobody wants it. */
void hob_outlet_lend(hob_outlet *o, hob_str text, void (*give_back)(void *owner), void *owner);

/* "id: SEQ\nevent: NAME\ndata: JSON\n\n"; seq 0 = no id. The JSON is one line. */
void hob_sse_add(hob_buf *out, uint64_t seq, hob_str name, hob_str json);
void hob_sse_fail(hob_buf *out, const char *code, const char *message); /* event: error */

#endif
