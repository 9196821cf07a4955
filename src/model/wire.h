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

struct hob_wire {
    const char *api; /* whose text this is */
    hob_buf key;     /* "provider/model" */
    uint64_t generation;
    size_t covered;
    hob_buf text;
    int role;          /* hob_role of the message left open, -1 = none */
    bool thinks_first; /* the last answer covered begins with thinking */
    hob_map *ids;      /* call ids sent so far -> whose they are */
    hob_buf tools;     /* encoded, of tools_version */
    uint64_t tools_version;
    size_t tools_n;
    size_t encoded; /* bytes encoded ever; what tests count */
    unsigned users; /* requests under way that send from here */
    bool unowned;   /* the last user frees it */
};

/* The wire to encode with, emptied if it does not fit; a fresh one if the slot's is being sent from or the slot
 * is NULL. Give it back with hob_wire_release() when the request is over. */
hob_wire *hob_wire_acquire(hob_wire **slot, const char *api, hob_str key, const hob_history *h);
void hob_wire_release(hob_wire *w);
void hob_wire_destroy(hob_wire *w);

/* The id under which a tool_call block is known to this provider: the one it was given if that can be sent and
 * no other call has it, else one made of hob's own name of the call. `own` = this very model wrote it. */
hob_str hob_wire_call_id(hob_wire *w, hob_arena *a, const hob_json *block, bool own);

#endif
