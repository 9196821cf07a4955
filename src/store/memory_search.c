/*
 * memory_search.c - searching in the memory store: it looks at every message.
 */
#include "store/memory.h"
#include "store/search.h"

#include <stdlib.h>

typedef struct gathering {
    hob_search_query q;
    hob_search_doc doc;
    int64_t below;
    hob_store_hit *hits;
    int64_t *keys;
    size_t n, cap;
    hob_arena *mem;
} gathering;

typedef struct place {
    int64_t key;
    size_t at;
} place;

static void consider(gathering *g, const hob_ram_log *log, uint64_t seq) {
    hob_str text = hob_buf_str(&g->doc.text);
    int64_t key = hob_search_key(g->doc.ms, seq);
    if (key >= g->below || !hob_search_fits(&g->q, text)) return;
    if (g->n == g->cap) {
        g->cap = g->cap ? 2 * g->cap : 64;
        g->hits = hob_realloc(g->hits, g->cap * sizeof(*g->hits));
        g->keys = hob_realloc(g->keys, g->cap * sizeof(*g->keys));
    }
    g->keys[g->n] = key;
    g->hits[g->n++] =
        (hob_store_hit){.session = log->row, .seq = seq, .ms = g->doc.ms, .role = g->doc.role};
}

static void look_at(gathering *g, const hob_ram_log *log) {
    for (size_t i = 0; i < log->nevents; i++)
        if (hob_search_read(&g->doc, log->events[i].json)) consider(g, log, log->events[i].seq);
    if (!log->row.title.n) return;
    hob_search_title(&g->doc, log->row.title, log->row.updated_ms);
    consider(g, log, 0);
}

static int newest_first(const void *a, const void *b) {
    const place *x = a, *y = b;
    if (x->key != y->key) return x->key < y->key ? 1 : -1;
    return (x->at > y->at) - (x->at < y->at);
}

/* Only what is given out is shown: its text is read again. */
static void show(gathering *g, hob_ram *m, hob_store_hit *hit) {
    const hob_ram_log *log = hob_map_get(m->logs, hit->session.id);
    if (hit->seq)
        hob_search_read(&g->doc, log->events[hit->seq - 1].json);
    else
        hob_search_title(&g->doc, hit->session.title, hit->ms);
    hit->snippet = hob_search_snippet(&g->q, hob_buf_str(&g->doc.text), g->mem);
}

/* Two of one key go out together: a page may be longer by them. */
static void answer(gathering *g, hob_ram *m, hob_store_req *r) {
    place *order = hob_alloc((g->n + 1) * sizeof(*order));
    for (size_t i = 0; i < g->n; i++) order[i] = (place){g->keys[i], i};
    if (g->n > 1) qsort(order, g->n, sizeof(*order), newest_first);
    size_t n = HOB_MIN(g->n, r->limit);
    while (n && n < g->n && order[n].key == order[n - 1].key) n++;
    r->hits = hob_arena_alloc(g->mem, (n + 1) * sizeof(*r->hits));
    for (r->n = 0; r->n < n; r->n++) {
        r->hits[r->n] = g->hits[order[r->n].at];
        show(g, m, &r->hits[r->n]);
    }
    if (n < g->n) r->next = hob_store_cursor_make(g->mem, order[n - 1].key, 0);
    hob_free(order);
}

int hob_ram_search(hob_ram *m, hob_store_req *r) {
    gathering g = {.mem = hob_store_req_mem(r)};
    size_t at = 0;
    int64_t none;
    void *value;
    hob_store_cursor_parse(r->look.cursor, &g.below, &none, NULL);
    hob_search_parse(&g.q, r->look.query);
    hob_search_doc_init(&g.doc);
    while (hob_map_next(m->logs, &at, NULL, &value)) {
        const hob_ram_log *log = value;
        if (hob_str_eq(log->row.app, r->look.app) && hob_str_eq(log->row.user, r->look.user))
            look_at(&g, log);
    }
    answer(&g, m, r);
    hob_search_doc_finish(&g.doc);
    hob_free(g.hits);
    hob_free(g.keys);
    return 0;
}
