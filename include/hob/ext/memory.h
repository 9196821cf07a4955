/*
 * hob/ext/memory.h - the ring for memory backends. Stable for a minor version only.
 *
 * A host that keeps memory elsewhere gives the runtime two functions (hob_runtime_opts.memory). Each starts the work and
 * returns at once; the answer goes to the hob_memory_reply, now or later, from any thread, exactly once. No answer within
 * 30 s is HOB_ETIMEDOUT; a later one is ignored. The functions are called on the loop thread and must not block.
 *
 * Texts, tags and names were checked; requests are valid during the call only. Keeping tenants apart is the backend's
 * work: everything it is asked names the tenant. Order and scores are its own.
 */
#ifndef HOB_EXT_MEMORY_H
#define HOB_EXT_MEMORY_H

#include <hob/ext/store.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct hob_memory_reply hob_memory_reply;

typedef struct hob_memory_ops {
    size_t size;
    const char *name;
    /* What hob_store_memory_query asks for; answered with hob_memory_found. A query with limit 1 and nothing else may
     * only want the numbers. */
    void (*find)(const hob_store_memory_query *q, hob_memory_reply *r, void *user);
    /* One change; answered with hob_memory_done. The same change may come again after a crash: it must end the same. */
    void (*change)(const hob_store_memory_change *c, hob_memory_reply *r, void *user);
    void *user;
} hob_memory_ops;

/* Everything is copied. The reply must not be used afterwards. [any] */
HOB_API void hob_memory_found(hob_memory_reply *r, const hob_store_memory *items, size_t n,
                              const hob_store_tenant *numbers, hob_str next);
HOB_API void hob_memory_done(hob_memory_reply *r);
/* `code` is a HOB_E; the message says what to do. */
HOB_API void hob_memory_failed(hob_memory_reply *r, int code, const char *message);

#ifdef __cplusplus
}
#endif

#endif
