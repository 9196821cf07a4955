/*
 * hob/memory.h - what is remembered from one session to the next.
 *
 * Memory belongs to a tenant: an application and one of its users (hob_session_opts.app_name, user_id). No call reaches
 * another tenant's; their ids are not found. By default it is kept in the runtime's store, beside the sessions. A host
 * may bring its own (hob/ext/memory.h).
 *
 * An item is a text with a kind, tags, an importance and its origin. It is found by any of its words, whatever their
 * case; the best comes first: relevance x (0.7 importance + 0.3 e^(-age / 30 days)). Remembering a text again renews the
 * item that has it. What comes back is data that somebody, perhaps a model, once wrote down; it is no instruction.
 *
 * Every call is [any] and blocks until its answer is durable. HOB_EDEADLK inside a callback, HOB_ESTORE, HOB_ETOOBIG
 * (over the limits below), HOB_EINVAL (no UTF-8, control characters), HOB_ECANCELLED while the session is being closed.
 */
#ifndef HOB_MEMORY_H
#define HOB_MEMORY_H

#include <hob/session.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct hob_memory hob_memory;

enum {
    HOB_MEMORY_TEXT_MAX = 8192,  /* bytes of an item */
    HOB_MEMORY_TAGS_MAX = 16,    /* tags of an item */
    HOB_MEMORY_TAG_MAX = 64,     /* bytes of a tag, and of a kind */
    HOB_MEMORY_QUERY_MAX = 4096, /* bytes of a search */
    HOB_MEMORY_LIMIT_MAX = 1000, /* rows of a page */
    HOB_MEMORY_ID_SIZE = 32      /* bytes of an id with its NUL */
};

/* The memory of the session's tenant: lives as long as the session. NULL when it has none: memory.enabled is false,
 * HOB_SESSION_NO_MEMORY, a session in memory only, or hob_session_init_warning says why. */
HOB_API hob_memory *hob_session_memory(hob_session *s);
/* What went wrong at opening and can be lived with, NUL-terminated, cut at cap; the full length, 0 = nothing. */
HOB_API int hob_session_init_warning(hob_session *s, char *buf, size_t cap);

/* The memory of any tenant, without a session. NULL for the names: "hob", "local". Close it before the runtime. */
HOB_API int hob_memory_open(hob_runtime *rt, const char *app_name, const char *user_id,
                            hob_memory **out, hob_error *err);
/* Not for a session's memory: there it does nothing. */
HOB_API void hob_memory_close(hob_memory *m);

typedef struct hob_memory_item {
    size_t size;
    hob_str text;
    const char *kind;        /* a word of yours, such as fact, preference, procedure; NULL = note */
    const char *const *tags; /* NULL-terminated; case is ignored; may be NULL */
    double importance;       /* up to 1; 0 = 0.5 */
    const char *by;          /* who says so; NULL = host */
    const char *key;         /* the same key again replaces what it named before; NULL = none */
} hob_memory_item;
#define HOB_MEMORY_ITEM_INIT                                                                       \
    { sizeof(hob_memory_item), {NULL, 0}, NULL, NULL, 0, NULL, NULL }
/* 1: a new item; 0: one with this text or key was there and is renewed. Its id is written to `id` (may be NULL).
 * HOB_ELIMIT: the tenant has memory.max_items already. */
HOB_API int hob_memory_remember(hob_memory *m, const hob_memory_item *item,
                                char id[HOB_MEMORY_ID_SIZE], hob_error *err);

typedef enum hob_memory_order {
    HOB_MEMORY_BEST,  /* by score */
    HOB_MEMORY_RECENT /* newest first, in pages; `text` must be empty */
} hob_memory_order;

typedef struct hob_memory_query {
    size_t size;
    hob_str text;                    /* words to look for; "" = everything */
    const char *const *tags;         /* with all of these; may be NULL */
    const char *kind, *by, *session; /* only of these; NULL = any */
    hob_memory_order order;
    const char *cursor; /* RECENT: hob_page_next of the page before */
    size_t limit;       /* 0 = 10 */
} hob_memory_query;
#define HOB_MEMORY_QUERY_INIT                                                                      \
    { sizeof(hob_memory_query), {NULL, 0}, NULL, NULL, NULL, NULL, HOB_MEMORY_BEST, NULL, 0 }
/* Rows {"id","text","kind","tags","importance","by","session","run","created","updated","relevance","score"}. `q` may
 * be NULL: the ten best. */
HOB_API int hob_memory_recall(hob_memory *m, const hob_memory_query *q, hob_page **out,
                              hob_error *err);
HOB_API int hob_memory_get(hob_memory *m, const char *id, hob_page **out,
                           hob_error *err); /* one row, or HOB_ENOENT */
HOB_API int hob_memory_forget(hob_memory *m, const char *id, hob_error *err); /* HOB_ENOENT */
/* Everything with these tags, kind, author, session (one of them at least; no text), in pieces: how many. */
HOB_API int hob_memory_forget_where(hob_memory *m, const hob_memory_query *q, hob_error *err);
HOB_API int hob_memory_clear(hob_memory *m, hob_error *err); /* everything */
/* One row {"app_name","user_id","items","bytes","max_items","oldest","newest"}. */
HOB_API int hob_memory_stats(hob_memory *m, hob_page **out, hob_error *err);

#ifdef __cplusplus
}
#endif

#endif
