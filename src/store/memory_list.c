/*
 * memory_list.c - reading and listing in the memory store.
 */
#include "store/memory.h"

#include <stdlib.h>

int hob_ram_read(hob_ram *m, hob_store_req *r) {
    hob_ram_log *g = hob_map_get(m->logs, r->session);
    if (!g) return hob_store_say_absent(hob_store_req_err(r), r->session);
    size_t first = (size_t)HOB_MIN(r->after, (uint64_t)g->nevents);
    size_t bytes = 0, n = 0;
    for (; first + n < g->nevents && n < r->limit; n++) {
        bytes += g->events[first + n].json.n;
        if (n > 0 && bytes > r->max_bytes) break;
    }
    r->events = n ? g->events + first : NULL;
    r->n = n;
    r->more = first + n < g->nevents;
    return 0;
}

typedef struct place {
    int64_t ms, id;
    const void *item;
} place;

static int newest_first(const void *a, const void *b) {
    const place *x = a, *y = b;
    if (x->ms != y->ms) return x->ms < y->ms ? 1 : -1;
    return (x->id < y->id) - (x->id > y->id);
}

/* Sorts what was found and cuts it to a page; says where the next one starts. */
static size_t cut_page(hob_store_req *r, place *found, size_t n) {
    if (n > 1) qsort(found, n, sizeof(*found), newest_first);
    if (n <= r->limit) return n;
    const place *last = &found[r->limit - 1];
    r->next = hob_store_cursor_make(hob_store_req_mem(r), last->ms, last->id);
    return r->limit;
}

static bool is_below(int64_t ms, int64_t id, const place *top) {
    return ms < top->ms || (ms == top->ms && id < top->id);
}

static bool wants(hob_str filter, hob_str value) {
    return filter.n == 0 || hob_str_eq(filter, value);
}

/* Lists of children, and of all, go by when they were made. */
static bool by_number(const hob_store_query *q) {
    return q->parent.n || q->all;
}

static bool is_of(const hob_store_query *q, const hob_store_session *row) {
    return wants(q->app, row->app) && wants(q->user, row->user);
}

static bool fits(const hob_store_query *q, const hob_store_session *row) {
    if (!is_of(q, row)) return false;
    if (q->parent.n) return row->child && hob_str_eq(q->parent, row->parent);
    return q->all || (!row->child && wants(q->cwd, row->cwd));
}

int hob_ram_sessions(hob_ram *m, hob_store_req *r) {
    place top, *found = hob_alloc((hob_map_count(m->logs) + 1) * sizeof(*found));
    size_t n = 0, at = 0;
    void *value;
    hob_store_cursor_parse(r->query.cursor, &top.ms, &top.id, NULL);
    while (hob_map_next(m->logs, &at, NULL, &value)) {
        hob_ram_log *g = value;
        int64_t ms = by_number(&r->query) ? g->id : g->row.updated_ms;
        if (fits(&r->query, &g->row) && is_below(ms, g->id, &top))
            found[n++] = (place){ms, g->id, &g->row};
    }
    r->n = cut_page(r, found, n);
    r->rows = hob_arena_alloc(hob_store_req_mem(r), (r->n + 1) * sizeof(*r->rows));
    for (size_t i = 0; i < r->n; i++) r->rows[i] = *(const hob_store_session *)found[i].item;
    hob_free(found);
    return 0;
}

/* One that is named is that one, whatever its status. */
static bool run_fits(const hob_store_query *q, const hob_ram_run *k) {
    if (!is_of(q, &k->log->row)) return false;
    if (q->run.n) return hob_str_eq(q->run, k->run.id);
    return wants(q->session, k->run.session) && wants(q->status, k->run.status);
}

int hob_ram_runs(hob_ram *m, hob_store_req *r) {
    place top, *found = hob_alloc((hob_map_count(m->runs) + 1) * sizeof(*found));
    size_t n = 0, at = 0;
    void *value;
    hob_store_cursor_parse(r->query.cursor, &top.ms, &top.id, NULL);
    while (hob_map_next(m->runs, &at, NULL, &value)) {
        hob_ram_run *k = value;
        if (run_fits(&r->query, k) && is_below(k->run.started_ms, k->id, &top))
            found[n++] = (place){k->run.started_ms, k->id, k};
    }
    r->n = cut_page(r, found, n);
    r->runs = hob_arena_alloc(hob_store_req_mem(r), (r->n + 1) * sizeof(*r->runs));
    for (size_t i = 0; i < r->n; i++) {
        const hob_ram_run *k = found[i].item;
        r->runs[i] = k->run;
        r->runs[i].app = k->log->row.app;
        r->runs[i].user = k->log->row.user;
        if (!k->run.finished_ms) r->runs[i].owner = k->log->row.owner;
    }
    hob_free(found);
    return 0;
}
