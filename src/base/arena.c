/*
 * arena.c - bump allocation in chunks.
 *
 * Chunks double from 1 KiB to 1 MiB, so a small request costs one small block and a large document
 * few large ones. A request too large for the next chunk gets a block of its own, put behind the
 * current chunk so that the room left there is not lost. The ceiling counts bytes handed out.
 */
#include "base/mem.h"

#define CHUNK_MIN ((size_t)1024)
#define CHUNK_MAX ((size_t)1 << 20)
#define DEFAULT_MAX ((size_t)1 << 30)
#define ALIGN ((size_t)16)

typedef struct chunk {
    struct chunk *next;
    size_t cap;
    _Alignas(16) char bytes[];
} chunk;

struct hob_arena {
    chunk *chunks; /* the first is the one in use */
    char *at, *end;
    size_t used, max, next_cap;
};

hob_arena *hob_arena_create(size_t max) {
    hob_arena *a = HOB_NEW(hob_arena);
    a->max = max ? HOB_MIN(max, SIZE_MAX / 4) : DEFAULT_MAX;
    a->next_cap = CHUNK_MIN - sizeof(chunk);
    return a;
}

static void free_chunks(chunk *c) {
    while (c) {
        chunk *next = c->next;
        hob_free(c);
        c = next;
    }
}

void hob_arena_destroy(hob_arena *a) {
    if (!a) return;
    free_chunks(a->chunks);
    hob_free(a);
}

void hob_arena_reset(hob_arena *a) {
    a->used = 0;
    if (!a->chunks) return;
    free_chunks(a->chunks->next);
    a->chunks->next = NULL;
    a->at = a->chunks->bytes;
    a->end = a->at + a->chunks->cap;
}

static chunk *chunk_create(size_t cap) {
    chunk *c = hob_mem_resize(NULL, sizeof(chunk) + cap);
    if (!c) return NULL;
    c->next = NULL;
    c->cap = cap;
    return c;
}

/* A block for one large object. */
static char *block_alone(hob_arena *a, size_t n) {
    chunk *c = chunk_create(n);
    if (!c) return NULL;
    if (a->chunks) {
        c->next = a->chunks->next;
        a->chunks->next = c;
    } else {
        a->chunks = c;
        a->at = a->end = c->bytes + n;
    }
    return c->bytes;
}

static char *block_from_new_chunk(hob_arena *a, size_t n) {
    if (n > a->next_cap / 2) return block_alone(a, n);
    chunk *c = chunk_create(a->next_cap);
    if (!c) return NULL;
    c->next = a->chunks;
    a->chunks = c;
    a->at = c->bytes + n;
    a->end = c->bytes + c->cap;
    a->next_cap = HOB_MIN((c->cap + sizeof(chunk)) * 2, CHUNK_MAX) - sizeof(chunk);
    return c->bytes;
}

static char *take(hob_arena *a, size_t n, size_t align) {
    if (n > a->max - a->used) return NULL;
    size_t pad = a->at ? (size_t)(-(uintptr_t)a->at & (align - 1)) : 0;
    char *p;
    if ((size_t)(a->end - a->at) >= pad && (size_t)(a->end - a->at) - pad >= n && a->at) {
        p = a->at + pad;
        a->at = p + n;
    } else {
        p = block_from_new_chunk(a, n);
        if (!p) return NULL;
    }
    a->used += n;
    return p;
}

void *hob_arena_alloc(hob_arena *a, size_t n) {
    char *p = take(a, n, ALIGN);
    return p ? memset(p, 0, n) : NULL;
}

void *hob_arena_bytes(hob_arena *a, size_t n) {
    return take(a, n, 1);
}

hob_str hob_arena_dup(hob_arena *a, hob_str s) {
    char *p = s.n < SIZE_MAX ? take(a, s.n + 1, 1) : NULL;
    if (!p) return HOB_STR_NULL;
    if (s.n) memcpy(p, s.p, s.n);
    p[s.n] = '\0';
    return hob_str_n(p, s.n);
}

size_t hob_arena_used(const hob_arena *a) {
    return a->used;
}
