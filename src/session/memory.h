/*
 * memory.h - a tenant's memory, from the inside. Everything but the public calls happens on the loop.
 *
 * It is kept by the runtime's store, by another store (memory.store), or by the host. What the model's tools change is
 * stored together with the event that says so, if the session's own store keeps the memory; otherwise before it, and a
 * repeated call changes nothing.
 */
#ifndef HOB_SRC_SESSION_MEMORY_H
#define HOB_SRC_SESSION_MEMORY_H

#include <hob/ext/memory.h>
#include <hob/memory.h>

#include "session/session.h"

struct hob_memory {
    hob_runtime *rt;
    hob_session *s;   /* whose it is; NULL = opened by itself */
    hob_store *store; /* NULL: the host keeps it */
    char *app, *user;
    size_t max_items;
};

/* ---- memory.c ------------------------------------------------------------------------------------------------- */
hob_memory *hob_memory_create(hob_runtime *rt, hob_session *s, hob_str app, hob_str user);
void hob_memory_destroy(hob_memory *m);
/* Both complete later. The query's and the change's tenant is filled in. */
void hob_memory_ask(hob_memory *m, hob_store_memory_query *q, hob_store_memories_fn done,
                    void *user);
void hob_memory_write(hob_memory *m, hob_store_memory_change *c, hob_store_done_fn done,
                      void *user);
int64_t hob_memory_now(const hob_memory *m);

/* A text on its way into memory. The caller fills `change.item` (without id: one is made) and gets the change that does
 * it, with the id and tags of an item that has the text already. */
typedef struct hob_remember hob_remember;
struct hob_remember {
    hob_arena *mem; /* of the strings of the change */
    hob_store_memory_change change;
    bool renew_same; /* look for the same text first */
    bool known;      /* it is there already: renewed */
    void (*ready)(hob_remember *r, int code, const hob_error *err);
};
void hob_remember_start(hob_memory *m, hob_remember *r);
/* An id that is always the same for the same two; a random one if both are empty. */
hob_str hob_memory_id(hob_arena *a, hob_str one, hob_str two);
/* Tags as they are kept; HOB_ETOOBIG, HOB_EINVAL. */
int hob_memory_tags(hob_arena *a, const hob_str *given, size_t n, hob_store_memory *out,
                    hob_error *err);
void hob_memory_write_row(hob_jsonw *w, const hob_store_memory *m, bool for_model);

/* ---- memory_host.c: the host's functions ------------------------------------------------------------------------ */
void hob_memory_host_find(hob_runtime *rt, const hob_store_memory_query *q,
                          hob_store_memories_fn done, void *user);
void hob_memory_host_change(hob_runtime *rt, const hob_store_memory_change *c,
                            hob_store_done_fn done, void *user);
void hob_memory_host_drop(hob_runtime *rt); /* those that wait get HOB_ECANCELLED */

/* ---- memory_tool.c ----------------------------------------------------------------------------------------------- */
int hob_memory_add_tools(hob_session *s, hob_error *err);

#endif
