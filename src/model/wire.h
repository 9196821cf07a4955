/*
 * wire.h - the encoded history of a session, kept between requests.
 *
 * A conversation only grows, so what was encoded for the last request is the start of the next one: it is kept
 * as text and sent from where it lies. That makes a turn cost what is new in it, however long the session, and
 * keeps the prefix that providers cache the same to the byte. The text is thrown away when the history changed
 * before its end (its generation), and when the model or the dialect is another.
 *
 * `text` holds items [0, covered) of the history. Each encoder says whether the results of the last one's calls
 * are among them, and whether the text may end inside an open message (`role`).
 */
#ifndef HOB_SRC_MODEL_WIRE_H
#define HOB_SRC_MODEL_WIRE_H

#include "model/model.h"

#define HOB_WIRE_MAX (64u << 20) /* bytes of one request body */

/* Call ids sent so far and whose they are, both by their hash: small, and the same after a restart. Two ids with one
 * hash are taken for the same one; then the later call is sent under a name of ours. In the order they came. */
typedef struct hob_wire_id {
    uint64_t id, call;
} hob_wire_id;

typedef struct hob_wire_ids {
    hob_wire_id *at;
    size_t n, cap;
    uint32_t *index; /* number + 1; 0 = free */
    size_t places;   /* a power of two */
    uint64_t seed;   /* chosen ids cannot make it slow */
} hob_wire_ids;
void hob_wire_ids_finish(hob_wire_ids *t);
const hob_wire_id *hob_wire_ids_get(const hob_wire_ids *t, uint64_t id); /* NULL if absent */
void hob_wire_ids_add(hob_wire_ids *t, hob_wire_id one);                 /* absent so far */

struct hob_wire {
    const char *api; /* whose text this is */
    hob_buf key;     /* hob_encode_key() */
    uint64_t generation;
    size_t covered;
    hob_buf text;
    int role;          /* hob_role of the message left open, -1 = none */
    bool thinks_first; /* the last answer covered begins with thinking */
    hob_wire_ids ids;
    hob_buf tools; /* encoded, of tools_version */
    uint64_t tools_version;
    size_t tools_n;
    size_t encoded; /* bytes encoded ever; what tests count */
    unsigned users; /* requests under way that send from here */
    bool unowned;   /* the last user frees it */
    struct {
        size_t text, ids; /* how much of them is stored */
        unsigned parts;   /* in how many parts; 0 = nothing of this text is */
        uint64_t sum;     /* of all of them */
    } kept;
};

/* The wire to encode with, emptied if it does not fit; a fresh one if the slot's is being sent from or the slot
 * is NULL. Give it back with hob_wire_release() when the request is over. */
hob_wire *hob_wire_acquire(hob_wire **slot, const char *api, hob_str key, const hob_history *h);
void hob_wire_release(hob_wire *w);
void hob_wire_destroy(hob_wire *w);

/* Whether it is the start of a request in this dialect, for this key, of this history. */
bool hob_wire_fits(const hob_wire *w, const char *api, hob_str key, const hob_history *h);

/* ---- wire_keep.c: a wire outlives its process ----------------------------------------------------------- */
/* What came to it since the last ones, as further parts: slices of it and of the arena. Returns how many. */
size_t hob_wire_parts(hob_wire *w, hob_arena *a, const hob_str **out);
void hob_wire_forget_parts(hob_wire *w);                /* nothing of it is stored */
void hob_wire_write(const hob_wire *w, hob_jsonw *out); /* all but the parts; an object */
/* HOB_EPARSE if that is not what was written. */
int hob_wire_read(const hob_json *v, const hob_str *parts, size_t n, hob_wire **out);
hob_wire *hob_wire_create(void);

/* The id under which a tool_call block is known to this provider: the one it was given if that can be sent and
 * no other call has it, else one made of hob's own name of the call. `own` = this very model wrote it. */
hob_str hob_wire_call_id(hob_wire *w, hob_arena *a, const hob_json *block, bool own);

#endif
