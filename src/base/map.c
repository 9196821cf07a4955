/*
 * map.c - string map: entries in insertion order, an open-addressing index of their numbers.
 *
 * Keys come from outside (header names, ids), so the hash is SipHash-1-3 with a seed per map: chosen
 * keys cannot make it slow. Iteration follows insertion, whatever the seed. Removing leaves a hole
 * that the next growth sweeps up; so take during an iteration is fine, put is not.
 */
#include "base/sip.h"

typedef struct entry {
    char *key; /* NULL: removed */
    size_t key_n;
    uint64_t hash;
    void *value;
} entry;

struct hob_map {
    entry *entries;
    uint32_t *index; /* entry number + 1; 0 = free. A removed entry keeps its place. */
    size_t cap;      /* places in index, a power of two; entries has room for 3/4 of it */
    size_t filled;   /* entries used, holes included */
    size_t count;
    uint64_t seed[2];
};

hob_map *hob_map_create(void) {
    hob_map *m = HOB_NEW(hob_map);
    if (hob_random(m->seed, sizeof(m->seed)) < 0) m->seed[0] = (uint64_t)(uintptr_t)m;
    return m;
}

void hob_map_destroy(hob_map *m) {
    if (!m) return;
    for (size_t i = 0; i < m->filled; i++) hob_free(m->entries[i].key);
    hob_free(m->entries);
    hob_free(m->index);
    hob_free(m);
}

static uint64_t rotate(uint64_t x, int bits) {
    return (x << bits) | (x >> (64 - bits));
}

static void sip_round(uint64_t v[4]) {
    v[0] += v[1];
    v[1] = rotate(v[1], 13) ^ v[0];
    v[0] = rotate(v[0], 32);
    v[2] += v[3];
    v[3] = rotate(v[3], 16) ^ v[2];
    v[0] += v[3];
    v[3] = rotate(v[3], 21) ^ v[0];
    v[2] += v[1];
    v[1] = rotate(v[1], 17) ^ v[2];
    v[2] = rotate(v[2], 32);
}

uint64_t hob_sip_hash(const uint64_t seed[2], hob_str s) {
    uint64_t v[4] = {seed[0] ^ 0x736f6d6570736575u, seed[1] ^ 0x646f72616e646f6du,
                     seed[0] ^ 0x6c7967656e657261u, seed[1] ^ 0x7465646279746573u};
    for (size_t i = 0; i <= s.n / 8; i++) {
        uint64_t word = 0;
        size_t left = HOB_MIN(s.n - i * 8, (size_t)8);
        if (left) memcpy(&word, s.p + i * 8, left);
        if (i == s.n / 8) word |= (uint64_t)s.n << 56;
        v[3] ^= word;
        sip_round(v);
        v[0] ^= word;
    }
    v[2] ^= 0xff;
    for (int i = 0; i < 3; i++) sip_round(v);
    return v[0] ^ v[1] ^ v[2] ^ v[3];
}

/* The place of key in the index, or the free place where the search ended. */
static size_t find(const hob_map *m, hob_str key, uint64_t hash) {
    size_t at = hash & (m->cap - 1);
    for (; m->index[at]; at = (at + 1) & (m->cap - 1)) {
        const entry *e = &m->entries[m->index[at] - 1];
        if (e->key && e->hash == hash && hob_str_eq(hob_str_n(e->key, e->key_n), key)) break;
    }
    return at;
}

static entry *lookup(const hob_map *m, hob_str key) {
    if (m->count == 0) return NULL;
    size_t at = find(m, key, hob_sip_hash(m->seed, key));
    return m->index[at] ? &m->entries[m->index[at] - 1] : NULL;
}

void *hob_map_get(const hob_map *m, hob_str key) {
    const entry *e = lookup(m, key);
    return e ? e->value : NULL;
}

/* Makes room for one more entry: closes the holes, doubles if it is really full. */
static void rebuild(hob_map *m) {
    if (m->count >= m->cap / 2) m->cap = m->cap ? m->cap * 2 : 16;
    entry *old = m->entries;
    size_t n = m->filled;
    m->entries = hob_alloc(m->cap / 4 * 3 * sizeof(entry));
    hob_free(m->index);
    m->index = hob_alloc(m->cap * sizeof(*m->index));
    m->filled = 0;
    for (size_t i = 0; i < n; i++) {
        if (!old[i].key) continue;
        size_t at = find(m, hob_str_n(old[i].key, old[i].key_n), old[i].hash);
        m->entries[m->filled] = old[i];
        m->index[at] = (uint32_t)++m->filled;
    }
    hob_free(old);
}

void *hob_map_put(hob_map *m, hob_str key, void *value) {
    entry *e = lookup(m, key);
    if (e) {
        void *replaced = e->value;
        e->value = value;
        return replaced;
    }
    if (m->filled == m->cap / 4 * 3) rebuild(m);
    uint64_t hash = hob_sip_hash(m->seed, key);
    size_t at = find(m, key, hash);
    m->entries[m->filled] =
        (entry){.key = hob_dupz(key), .key_n = key.n, .hash = hash, .value = value};
    m->index[at] = (uint32_t)++m->filled;
    m->count++;
    return NULL;
}

void *hob_map_take(hob_map *m, hob_str key) {
    entry *e = lookup(m, key);
    if (!e) return NULL;
    void *value = e->value;
    hob_free(e->key);
    *e = (entry){0};
    m->count--;
    return value;
}

size_t hob_map_count(const hob_map *m) {
    return m->count;
}

bool hob_map_next(const hob_map *m, size_t *pos, hob_str *key, void **value) {
    while (*pos < m->filled && !m->entries[*pos].key) ++*pos;
    if (*pos >= m->filled) return false;
    const entry *e = &m->entries[(*pos)++];
    if (key) *key = hob_str_n(e->key, e->key_n);
    if (value) *value = e->value;
    return true;
}
