/*
 * memory_recall.c - what tenants remember, in the store that forgets: items in the order of remembering, and
 * for each term the items that have it, in the same order.
 */
#include "store/memory.h"
#include "store/recall.h"

typedef struct item {
    int64_t num; /* rises with every remembering */
    hob_store_memory *m;
} item;

typedef struct items { /* ordered by num */
    item **at;
    size_t n, cap;
} items;

typedef struct hob_ram_tenant {
    hob_map *by_id, *terms; /* of item, of items */
    items all;
    int64_t bytes, last_num;
} tenant;

/* ---- ordered lists ------------------------------------------------------------------------ */

/* The first one that is not below num. */
static size_t place(const items *l, int64_t num) {
    size_t low = 0, high = l->n;
    while (low < high) {
        size_t mid = (low + high) / 2;
        if (l->at[mid]->num < num)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

static bool holds(const items *l, const item *it) {
    size_t at = place(l, it->num);
    return at < l->n && l->at[at] == it;
}

static void push(items *l, item *it) {
    if (l->n && l->at[l->n - 1] == it) return; /* a word that comes twice */
    if (l->n == l->cap) {
        l->cap = HOB_MAX(l->cap * 2, (size_t)4);
        l->at = hob_realloc(l->at, l->cap * sizeof(item *));
    }
    l->at[l->n++] = it;
}

static void drop(items *l, const item *it) {
    size_t at = place(l, it->num);
    if (at == l->n || l->at[at] != it) return;
    l->n--;
    memmove(l->at + at, l->at + at + 1, (l->n - at) * sizeof(item *));
}

/* ---- tenants ------------------------------------------------------------------------------ */

static tenant *find_tenant(hob_ram *m, hob_str app, hob_str user, bool make) {
    hob_buf key;
    hob_buf_init(&key, 2 * HOB_STORE_NAME_MAX + 1);
    hob_buf_add(&key, app);
    hob_buf_addc(&key, '\0');
    hob_buf_add(&key, user);
    tenant *t = hob_map_get(m->tenants, hob_buf_str(&key));
    if (!t && make) {
        t = HOB_NEW(tenant);
        t->by_id = hob_map_create();
        t->terms = hob_map_create();
        hob_map_put(m->tenants, hob_buf_str(&key), t);
    }
    hob_buf_finish(&key);
    return t;
}

static void empty_tenant(tenant *t) {
    size_t at = 0;
    void *list;
    for (size_t i = 0; i < t->all.n; i++) {
        hob_free(t->all.at[i]->m);
        hob_free(t->all.at[i]);
    }
    while (hob_map_next(t->terms, &at, NULL, &list)) {
        hob_free(((items *)list)->at);
        hob_free(list);
    }
    hob_free(t->all.at);
    hob_map_destroy(t->terms);
    hob_map_destroy(t->by_id);
}

void hob_ram_tenant_destroy(void *value) {
    empty_tenant(value);
    hob_free(value);
}

static void clear(tenant *t) {
    empty_tenant(t);
    *t = (tenant){.by_id = hob_map_create(), .terms = hob_map_create(), .last_num = t->last_num};
}

/* ---- changes ------------------------------------------------------------------------------ */

typedef void (*list_fn)(tenant *t, hob_str term, item *it);

static void list_term(tenant *t, hob_str term, item *it) {
    items *l = hob_map_get(t->terms, term);
    if (!l) {
        l = HOB_NEW(items);
        hob_map_put(t->terms, term, l);
    }
    push(l, it);
}

static void unlist_term(tenant *t, hob_str term, item *it) {
    items *l = hob_map_get(t->terms, term);
    if (!l) return;
    drop(l, it);
    if (l->n) return;
    hob_map_take(t->terms, term);
    hob_free(l->at);
    hob_free(l);
}

static void each_term(tenant *t, item *it, list_fn fn) {
    hob_buf terms;
    hob_str rest, term;
    hob_buf_init(&terms, HOB_TERMS_MAX);
    hob_terms_of_item(&terms, 0, it->m);
    rest = hob_buf_str(&terms);
    while (hob_str_split(&rest, ' ', &term)) fn(t, term, it);
    hob_buf_finish(&terms);
}

static void forget(tenant *t, hob_str id) {
    item *it = hob_map_take(t->by_id, id);
    if (!it) return;
    each_term(t, it, unlist_term);
    drop(&t->all, it);
    t->bytes -= (int64_t)it->m->text.n;
    hob_free(it->m);
    hob_free(it);
}

static void remember(tenant *t, const hob_store_memory *m) {
    const item *old = hob_map_get(t->by_id, m->id);
    item *it = HOB_NEW(item);
    it->num = ++t->last_num;
    it->m = hob_store_memory_dup(m);
    if (old) it->m->created_ms = old->m->created_ms;
    forget(t, it->m->id);
    hob_map_put(t->by_id, it->m->id, it);
    push(&t->all, it);
    each_term(t, it, list_term);
    t->bytes += (int64_t)m->text.n;
}

int hob_ram_check_changes(hob_ram *m, hob_store_req *r) {
    for (size_t i = 0; i < r->nchanges; i++) {
        const hob_store_memory_change *c = &r->changes[i];
        tenant *t = find_tenant(m, c->app, c->user, false);
        if (c->op != HOB_STORE_REMEMBER || !c->max_items) continue;
        if (t && hob_map_get(t->by_id, c->item.id)) continue;
        if ((t ? t->all.n : 0) + i >= c->max_items)
            return hob_store_say_memory_full(hob_store_req_err(r), c->max_items);
    }
    return 0;
}

void hob_ram_change(hob_ram *m, const hob_store_memory_change *c) {
    tenant *t = find_tenant(m, c->app, c->user, true);
    switch (c->op) {
    case HOB_STORE_REMEMBER: remember(t, &c->item); break;
    case HOB_STORE_FORGET: forget(t, c->item.id); break;
    case HOB_STORE_CLEAR: clear(t); break;
    }
}

/* ---- recall ------------------------------------------------------------------------------- */

/* The shortest list that everything found must be in; NULL: there is none such. */
static const items *shortest(const tenant *t, const hob_str *terms, size_t n) {
    const items *best = &t->all;
    for (size_t i = 0; i < n; i++) {
        const items *l = hob_map_get(t->terms, terms[i]);
        if (!l) return NULL;
        if (l->n < best->n) best = l;
    }
    return best;
}

static ptrdiff_t find(void *user, const hob_str *terms, size_t n, int64_t below, int64_t *nums,
                      size_t max) {
    const tenant *t = user;
    const items *l = shortest(t, terms, n);
    size_t found = 0;
    for (size_t i = l ? place(l, below) : 0; i > 0 && found < max; i--) {
        bool all = true;
        for (size_t k = 0; k < n && all; k++)
            all = holds(hob_map_get(t->terms, terms[k]), l->at[i - 1]);
        if (all) nums[found++] = l->at[i - 1]->num;
    }
    return (ptrdiff_t)found;
}

static int look(void *user, int64_t num, hob_store_memory *out) {
    const tenant *t = user;
    *out = *t->all.at[place(&t->all, num)]->m;
    return 0;
}

static void answer_one(const tenant *t, hob_store_req *r) {
    const item *it = hob_map_get(t->by_id, r->wanted.id);
    if (!it) return;
    r->memories = it->m;
    r->n = 1;
}

static void answer_many(tenant *t, hob_store_req *r) {
    hob_recall_source source = {find, look, t, 0, t->all.n};
    hob_found *found;
    size_t n = (size_t)hob_recall_find(&source, r, &found); /* neither of the two fails */
    r->memories = hob_arena_alloc(hob_store_req_mem(r), (n + 1) * sizeof(*r->memories));
    for (; r->n < n; r->n++) {
        look(t, found[r->n].num, &r->memories[r->n]);
        r->memories[r->n].relevance = found[r->n].relevance;
        r->memories[r->n].score = found[r->n].score;
    }
}

int hob_ram_memories(hob_ram *m, hob_store_req *r) {
    const hob_store_memory_query *q = &r->wanted;
    tenant *t = find_tenant(m, q->app, q->user, false);
    if (t && q->id.n) answer_one(t, r);
    if (t && !q->id.n) answer_many(t, r);
    if (t && t->all.n)
        r->stats = (hob_store_tenant){(int64_t)t->all.n, t->bytes, t->all.at[0]->m->updated_ms,
                                      t->all.at[t->all.n - 1]->m->updated_ms};
    return q->id.n && !r->n ? hob_store_say_no_memory(hob_store_req_err(r), q->id) : 0;
}
