/*
 * wire.h - HTTP/1.1 as bytes, the request side. Pure.
 *
 * Stricter than the RFCs ask for, on purpose: whatever two programs could read in two ways is refused, so that a proxy in
 * front of the server and the server never disagree about where a request ends or what it says (SEC-55). Lines end in
 * CR LF and nothing else; no control characters; no folded lines; no blank before a colon; one Host, one
 * Content-Length, never beside Transfer-Encoding, which is "chunked" or nothing; no chunk extensions, no trailers.
 */
#ifndef HOB_SRC_SERVE_WIRE_H
#define HOB_SRC_SERVE_WIRE_H

#include "base/base.h"

enum {
    HOB_HEAD_MAX = 16 * 1024, /* request line and fields */
    HOB_TARGET_MAX = 8 * 1024,
    HOB_HEAD_FIELDS = 64
};

/* ---- head.c ------------------------------------------------------------------------------------------ */

typedef struct hob_field {
    hob_str name, value; /* as written; the value without blanks around it */
} hob_field;

typedef struct hob_head {
    hob_str method;
    hob_str path, query; /* as written, not decoded; the query without its "?", p == NULL: none */
    hob_str host;        /* of the Host field; "" in HTTP/1.0 without one */
    int minor;           /* HTTP/1.0 or HTTP/1.1 */
    bool keep_alive, chunked, expects; /* expects: waits for 100 before it sends the body */
    int64_t length;                    /* of the body; 0 when chunked */
    size_t nfields;
    hob_field fields[HOB_HEAD_FIELDS];
} hob_head;

/* What is wrong with a request, as the answer says it. */
typedef struct hob_wire_error {
    int status;
    const char *code, *message;
} hob_wire_error;

/* Where the head ends: its length with the empty line, 0 = not all there yet, -1 = refused (*why is set). *scanned
 * remembers how far it looked and begins with 0: every byte is looked at once, however slowly they come. */
ptrdiff_t hob_head_end(hob_str bytes, size_t *scanned, const hob_wire_error **why);
/* A whole head; slices borrow from it. NULL, or what is wrong with it. */
const hob_wire_error *hob_head_parse(hob_str head, hob_head *out);
hob_str hob_head_field(const hob_head *h, const char *name); /* the first; p == NULL: none */
bool hob_head_token(hob_str s); /* letters, digits and !#$%&'*+-.^_`|~ */

/* ---- chunked.c --------------------------------------------------------------------------------------- */

typedef enum hob_chunk_state {
    HOB_CHUNK_SIZE,    /* in the digits of a size */
    HOB_CHUNK_SIZE_LF, /* after the CR behind them */
    HOB_CHUNK_DATA,
    HOB_CHUNK_DATA_CR, /* after the last byte of a chunk */
    HOB_CHUNK_DATA_LF,
    HOB_CHUNK_LAST_CR, /* after the size 0 and its line end */
    HOB_CHUNK_LAST_LF,
    HOB_CHUNK_END,
    HOB_CHUNK_BROKEN
} hob_chunk_state;

typedef struct hob_chunked {
    hob_chunk_state state;
    unsigned digits;
    uint64_t left; /* of the chunk */
} hob_chunked;
/* Takes bytes off the front of *in and appends what they carry to `body` (its ceiling holds: look at body->err).
 * Stops at the end of the body or when it is broken; zeroed storage is a fresh reader. */
void hob_chunked_feed(hob_chunked *c, hob_str *in, hob_buf *body);

#endif
