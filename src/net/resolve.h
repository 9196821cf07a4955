/*
 * resolve.h - host names to addresses, on the pool, with a small cache.
 *
 * libcurl resolves in hidden threads, and cancelling such a transfer blocks for seconds. So we look the
 * name up ourselves and hand libcurl the addresses. Everything here is [loop].
 */
#ifndef HOB_SRC_RESOLVE_H
#define HOB_SRC_RESOLVE_H

#include "loop/loop.h"

typedef struct hob_resolver hob_resolver;
typedef struct hob_lookup hob_lookup;
struct hob_lookup {
    hob_list link; /* used by the resolver */
    /* addresses: "1.2.3.4,[::1]", or NULL and err. Not called after hob_lookup_cancel. */
    void (*fn)(hob_lookup *k, const char *addresses, const hob_error *err);
};

hob_resolver *hob_resolver_create(hob_loop *l, hob_pool *pool);
/* No callback comes any more. Before the pool, which does not wait for a look-up under way. */
void hob_resolver_destroy(hob_resolver *r);
/* The addresses if they are known (borrowed until the next call), else NULL: k->fn comes later. */
const char *hob_resolver_lookup(hob_resolver *r, hob_str host, hob_lookup *k);
void hob_lookup_init(hob_lookup *k, void (*fn)(hob_lookup *, const char *, const hob_error *));
void hob_lookup_cancel(hob_lookup *k); /* when not under way: nothing */
/* The answer for a name from now on, without asking anybody. */
void hob_resolver_pin(hob_resolver *r, hob_str host, const char *addresses);

#endif
