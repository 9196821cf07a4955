/*
 * recall.c - terms, candidates and their order.
 */
#include "store/recall.h"

#include <stdlib.h>

enum { LABELS_MAX = 3 + 16, TERM_MAX = 24 + HOB_WORD_MAX };

/* ---- terms -------------------------------------------------------------------------------- */

static void add_word(hob_buf *out, int64_t tenant, hob_str word) {
    hob_buf_addf(out, "%lldw", (long long)tenant);
    hob_buf_add(out, word);
}

/* A label may hold anything: its hash stands for it, and what is found is compared. */
static void add_label(hob_buf *out, int64_t tenant, char class_, hob_str value) {
    hob_buf_addf(out, "%lld%c%016llx", (long long)tenant, class_,
                 (unsigned long long)hob_str_hash(value));
}

static void add_blank(hob_buf *out) {
    if (out->n) hob_buf_addc(out, ' ');
}

void hob_terms_of_item(hob_buf *out, int64_t tenant, const hob_store_memory *m) {
    const hob_str labels[] = {m->kind, m->by, m->session, m->text};
    hob_word_scan w;
    hob_str word;
    for (size_t i = 0; i < HOB_ARRAY_LEN(labels); i++) {
        if (!labels[i].n) continue;
        add_blank(out);
        add_label(out, tenant, "kbsx"[i], labels[i]);
    }
    for (size_t i = 0; i < m->ntags; i++) {
        add_blank(out);
        add_label(out, tenant, 'g', m->tags[i]);
    }
    hob_word_scan_init(&w, m->text);
    while (hob_word_scan_next(&w, &word)) {
        add_blank(out);
        add_word(out, tenant, word);
    }
}

/* The terms that everything found must have, and room for one word. */
typedef struct wanted {
    hob_str terms[LABELS_MAX + 1];
    size_t n;
    hob_buf bytes;
} wanted;

static void want(wanted *w, int64_t tenant, char class_, hob_str value) {
    size_t before = w->bytes.n;
    if (!value.n || w->n == LABELS_MAX) return;
    add_label(&w->bytes, tenant, class_, value);
    w->terms[w->n++] = hob_str_n(w->bytes.p + before, w->bytes.n - before);
}

static void wanted_init(wanted *w, int64_t tenant, const hob_store_memory_query *q) {
    w->n = 0;
    hob_buf_init(&w->bytes, LABELS_MAX * TERM_MAX);
    hob_buf_reserve(&w->bytes, LABELS_MAX * TERM_MAX); /* terms point into it */
    want(w, tenant, 'k', q->kind);
    want(w, tenant, 'b', q->by);
    want(w, tenant, 's', q->session);
    for (size_t i = 0; i < q->ntags; i++) want(w, tenant, 'g', q->tags[i]);
}

/* ---- checking ----------------------------------------------------------------------------- */

static bool fits(hob_str filter, hob_str value) {
    return filter.n == 0 || hob_str_eq(filter, value);
}

static bool has_tag(const hob_store_memory *m, hob_str tag) {
    for (size_t i = 0; i < m->ntags; i++) {
        if (hob_str_eq(m->tags[i], tag)) return true;
    }
    return false;
}

static bool is_wanted(const hob_store_memory_query *q, const hob_store_memory *m) {
    for (size_t i = 0; i < q->ntags; i++) {
        if (!has_tag(m, q->tags[i])) return false;
    }
    return fits(q->kind, m->kind) && fits(q->by, m->by) && fits(q->session, m->session);
}

/* ---- candidates --------------------------------------------------------------------------- */

typedef struct gathering {
    const hob_recall_source *source;
    const hob_store_memory_query *q;
    hob_rank rank;
    int64_t *lists[HOB_RANK_WORDS]; /* of each word, in the arena */
    int64_t *nums;                  /* candidates */
    size_t n;
} gathering;

static int list_word(gathering *g, wanted *w, size_t i, hob_arena *mem) {
    char term[TERM_MAX];
    hob_buf b;
    hob_rank_word *word = &g->rank.words[i];
    hob_buf_init(&b, sizeof(term));
    add_word(&b, g->source->tenant, hob_str_n(word->bytes, word->n));
    w->terms[w->n] = hob_buf_str(&b);
    g->lists[i] = hob_arena_alloc(mem, HOB_RECALL_CANDIDATES * sizeof(int64_t));
    ptrdiff_t n = g->source->find(g->source->user, w->terms, w->n + 1, INT64_MAX, g->lists[i],
                                  HOB_RECALL_CANDIDATES);
    word->having = n < 0 ? 0 : (size_t)n;
    hob_buf_finish(&b);
    return n < 0 ? -1 : 0;
}

static size_t rarest(const gathering *g, uint64_t taken) {
    size_t best = g->rank.n;
    for (size_t i = 0; i < g->rank.n; i++) {
        if (taken >> i & 1) continue;
        if (best == g->rank.n || g->rank.words[i].having < g->rank.words[best].having) best = i;
    }
    return best;
}

static int by_number(const void *a, const void *b) {
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* The lists of rare words first, until there are enough. */
static void merge(gathering *g) {
    uint64_t taken = 0;
    for (size_t k = 0; k < g->rank.n && g->n < HOB_RECALL_CANDIDATES; k++) {
        size_t i = rarest(g, taken);
        taken |= (uint64_t)1 << i;
        memcpy(g->nums + g->n, g->lists[i], g->rank.words[i].having * sizeof(*g->nums));
        g->n += g->rank.words[i].having;
    }
    if (g->n > 1) qsort(g->nums, g->n, sizeof(*g->nums), by_number);
    size_t kept = 0;
    for (size_t i = 0; i < g->n; i++) {
        if (!kept || g->nums[kept - 1] != g->nums[i]) g->nums[kept++] = g->nums[i];
    }
    g->n = kept;
}

static int gather(gathering *g, wanted *w, hob_arena *mem) {
    g->nums = hob_arena_alloc(mem, (size_t)2 * HOB_RECALL_CANDIDATES * sizeof(*g->nums));
    hob_rank_init(&g->rank, g->q->query);
    if (!g->q->query.n) {
        ptrdiff_t n = g->source->find(g->source->user, w->terms, w->n, INT64_MAX, g->nums,
                                      HOB_RECALL_CANDIDATES);
        g->n = n < 0 ? 0 : (size_t)n;
        return n < 0 ? -1 : 0;
    }
    for (size_t i = 0; i < g->rank.n; i++) {
        if (list_word(g, w, i, mem) < 0) return -1;
    }
    hob_rank_weigh(&g->rank, g->source->items);
    merge(g);
    return 0;
}

/* ---- the order ---------------------------------------------------------------------------- */

static int best_first(const void *a, const void *b) {
    const hob_found *x = a, *y = b;
    if (x->score != y->score) return x->score < y->score ? 1 : -1;
    return (x->num < y->num) - (x->num > y->num); /* the newer one */
}

static int judge(gathering *g, hob_found *found, size_t *n) {
    for (size_t i = 0; i < g->n; i++) {
        hob_store_memory m;
        if (g->source->look(g->source->user, g->nums[i], &m) < 0) return -1;
        if (!is_wanted(g->q, &m)) continue;
        double relevance = hob_rank_relevance(&g->rank, m.text);
        if (relevance <= 0) continue;
        double score = hob_rank_score(relevance, m.importance, g->q->now_ms - m.updated_ms);
        found[(*n)++] = (hob_found){g->nums[i], relevance, score};
    }
    return 0;
}

static ptrdiff_t find_best(const hob_recall_source *s, hob_store_req *r, hob_found **out) {
    hob_arena *mem = hob_store_req_mem(r);
    gathering *g = HOB_ARENA_NEW(mem, gathering);
    wanted w;
    size_t n = 0;
    g->source = s;
    g->q = &r->wanted;
    wanted_init(&w, s->tenant, &r->wanted);
    int rc = gather(g, &w, mem);
    hob_buf_finish(&w.bytes);
    hob_found *found = hob_arena_alloc(mem, (g->n + 1) * sizeof(*found));
    if (rc == 0) rc = judge(g, found, &n);
    if (rc < 0) return -1;
    if (n > 1) qsort(found, n, sizeof(*found), best_first);
    *out = found;
    return (ptrdiff_t)HOB_MIN(n, r->limit);
}

/* ---- pages -------------------------------------------------------------------------------- */

/* A page may be short or even empty with another behind it: only if hashes of labels collide. */
static ptrdiff_t find_recent(const hob_recall_source *s, hob_store_req *r, hob_found **out) {
    hob_arena *mem = hob_store_req_mem(r);
    int64_t ms, below, *nums = hob_arena_alloc(mem, (r->limit + 1) * sizeof(*nums));
    wanted w;
    size_t kept = 0;
    hob_store_cursor_parse(r->wanted.cursor, &ms, &below, NULL); /* was checked when it came in */
    wanted_init(&w, s->tenant, &r->wanted);
    ptrdiff_t n = s->find(s->user, w.terms, w.n, below, nums, r->limit + 1);
    hob_buf_finish(&w.bytes);
    if (n < 0) return -1;
    bool more = (size_t)n > r->limit;
    if (more) r->next = hob_store_cursor_make(mem, 0, nums[r->limit - 1]);
    hob_found *found = *out = hob_arena_alloc(mem, (r->limit + 1) * sizeof(*found));
    for (ptrdiff_t i = 0; i < n - more; i++) {
        hob_store_memory m;
        if (s->look(s->user, nums[i], &m) < 0) return -1;
        if (is_wanted(&r->wanted, &m))
            found[kept++] = (hob_found){
                nums[i], 1, hob_rank_score(1, m.importance, r->wanted.now_ms - m.updated_ms)};
    }
    return (ptrdiff_t)kept;
}

/* The newest one with exactly this text. */
static ptrdiff_t find_same(const hob_recall_source *s, hob_store_req *r, hob_found **out) {
    int64_t nums[8];
    hob_store_memory m;
    hob_buf b;
    hob_buf_init(&b, TERM_MAX);
    add_label(&b, s->tenant, 'x', r->wanted.same);
    hob_str term = hob_buf_str(&b);
    ptrdiff_t n = s->find(s->user, &term, 1, INT64_MAX, nums, HOB_ARRAY_LEN(nums));
    hob_buf_finish(&b);
    *out = HOB_ARENA_NEW(hob_store_req_mem(r), hob_found);
    for (ptrdiff_t i = 0; i < n; i++) {
        if (s->look(s->user, nums[i], &m) < 0) return -1;
        if (!hob_str_eq(m.text, r->wanted.same)) continue;
        **out = (hob_found){.num = nums[i], .relevance = 1};
        return 1;
    }
    return HOB_MIN(n, (ptrdiff_t)0);
}

ptrdiff_t hob_recall_find(const hob_recall_source *s, hob_store_req *r, hob_found **out) {
    if (r->wanted.same.n) return find_same(s, r, out);
    return r->wanted.recent ? find_recent(s, r, out) : find_best(s, r, out);
}

int hob_store_say_no_memory(hob_error *err, hob_str id) {
    return hob_fail(err, HOB_ENOENT, 0, "there is no memory %.*s", HOB_FMT(id));
}

int hob_store_say_memory_full(hob_error *err, size_t max) {
    return hob_fail(err, HOB_ELIMIT, 0,
                    "the memory is full (%zu items): forget something first, or raise "
                    "memory.max_items",
                    max);
}
