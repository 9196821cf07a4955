/*
 * sqlite_memory.c - what tenants remember, in SQLite.
 *
 * `memory` has the items, `memory_terms` is a full-text index (FTS5) of their terms (recall.h), which are kept
 * beside the item, so that what leaves the index is exactly what went into it, whichever version made it.
 * A tenant that is cleared gets a new number with its next memory: its old lists are out of reach at once and
 * are cleared away piece by piece (sqlite_keep.c).
 */
#include "store/recall.h"
#include "store/sqlite.h"

/* ---- tenants ------------------------------------------------------------------------------ */

typedef struct tenant {
    int64_t num, items, bytes; /* num 0: there is none */
} tenant;

static int find_tenant(hob_sqlite_conn *c, hob_str app, hob_str user, tenant *out) {
    *out = (tenant){0};
    sqlite3_stmt *st = hob_sqlite_stmt(c, HOB_SQL_TENANT_FIND);
    if (!st) return -1;
    hob_sqlite_bind_str(st, 1, app);
    hob_sqlite_bind_str(st, 2, user);
    int rc = sqlite3_step(st);
    if (rc == SQLITE_ROW)
        *out = (tenant){sqlite3_column_int64(st, 0), sqlite3_column_int64(st, 1),
                        sqlite3_column_int64(st, 2)};
    return hob_sqlite_end(st, rc);
}

static int make_tenant(hob_sqlite_conn *c, hob_str app, hob_str user, tenant *out) {
    if (find_tenant(c, app, user, out) < 0) return -1;
    if (out->num) return 0;
    sqlite3_stmt *st = hob_sqlite_stmt(c, HOB_SQL_TENANT_ADD);
    if (!st) return -1;
    hob_sqlite_bind_str(st, 1, app);
    hob_sqlite_bind_str(st, 2, user);
    int rc = hob_sqlite_run(st);
    out->num = sqlite3_last_insert_rowid(c->db);
    return rc;
}

static int count(hob_sqlite_conn *c, int64_t num, int64_t items, int64_t bytes) {
    sqlite3_stmt *st = hob_sqlite_stmt(c, HOB_SQL_TENANT_COUNT);
    if (!st) return -1;
    sqlite3_bind_int64(st, 1, num);
    sqlite3_bind_int64(st, 2, items);
    sqlite3_bind_int64(st, 3, bytes);
    return hob_sqlite_run(st);
}

/* ---- changes ------------------------------------------------------------------------------ */

/* An item as far as taking it away needs to know it. */
typedef struct old {
    int64_t num, bytes, created_ms; /* num 0: there is none */
} old;

static int find_old(hob_sqlite_conn *c, int64_t in, hob_str id, old *out) {
    *out = (old){0};
    sqlite3_stmt *st = hob_sqlite_stmt(c, HOB_SQL_MEMORY_FIND);
    if (!st) return -1;
    sqlite3_bind_int64(st, 1, in);
    hob_sqlite_bind_str(st, 2, id);
    int rc = sqlite3_step(st);
    if (rc == SQLITE_ROW)
        *out = (old){sqlite3_column_int64(st, 0), sqlite3_column_int64(st, 1),
                     sqlite3_column_int64(st, 2)};
    return hob_sqlite_end(st, rc);
}

static int run_with(hob_sqlite_conn *c, int sql, int64_t number) {
    sqlite3_stmt *st = hob_sqlite_stmt(c, sql);
    if (!st) return -1;
    sqlite3_bind_int64(st, 1, number);
    return hob_sqlite_run(st);
}

int hob_sqlite_memory_erase(hob_sqlite_conn *c, int64_t num) {
    if (run_with(c, HOB_SQL_TERMS_DELETE, num) < 0) return -1;
    return run_with(c, HOB_SQL_MEMORY_DELETE, num);
}

static int forget(hob_sqlite_conn *c, const hob_store_memory_change *ch) {
    tenant t;
    old was = {0};
    if (find_tenant(c, ch->app, ch->user, &t) < 0) return -1;
    if (t.num && find_old(c, t.num, ch->item.id, &was) < 0) return -1;
    if (!was.num) return 0;
    if (hob_sqlite_memory_erase(c, was.num) < 0) return -1;
    return count(c, t.num, -1, -was.bytes);
}

static void join_tags(hob_buf *out, const hob_store_memory *m) {
    for (size_t i = 0; i < m->ntags; i++) {
        if (i) hob_buf_addc(out, '\n');
        hob_buf_add(out, m->tags[i]);
    }
}

static int add_item(hob_sqlite_conn *c, int64_t in, const hob_store_memory *m, int64_t created) {
    sqlite3_stmt *st = hob_sqlite_stmt(c, HOB_SQL_MEMORY_ADD);
    if (!st) return -1;
    hob_buf tags, terms;
    hob_buf_init(&tags, HOB_STORE_TAGS_MAX * (HOB_STORE_TAG_MAX + 1));
    hob_buf_init(&terms, HOB_TERMS_MAX);
    join_tags(&tags, m);
    hob_terms_of_item(&terms, in, m);
    const hob_str texts[] = {m->id,
                             m->text,
                             m->kind,
                             m->by,
                             m->session,
                             m->run,
                             hob_buf_str(&tags),
                             hob_buf_str(&terms)};
    sqlite3_bind_int64(st, 1, in);
    for (size_t i = 0; i < HOB_ARRAY_LEN(texts); i++) hob_sqlite_bind_str(st, 2 + (int)i, texts[i]);
    sqlite3_bind_double(st, 10, m->importance);
    sqlite3_bind_int64(st, 11, created);
    sqlite3_bind_int64(st, 12, m->updated_ms);
    int rc = hob_sqlite_run(st);
    hob_buf_finish(&tags);
    hob_buf_finish(&terms);
    if (rc < 0) return -1;
    return run_with(c, HOB_SQL_TERMS_ADD, sqlite3_last_insert_rowid(c->db));
}

static int remember(hob_sqlite_conn *c, const hob_store_memory_change *ch) {
    tenant t;
    old was;
    if (make_tenant(c, ch->app, ch->user, &t) < 0) return -1;
    if (find_old(c, t.num, ch->item.id, &was) < 0) return -1;
    if (was.num && hob_sqlite_memory_erase(c, was.num) < 0) return -1;
    int64_t created = was.num ? was.created_ms : ch->item.created_ms;
    if (add_item(c, t.num, &ch->item, created) < 0) return -1;
    return count(c, t.num, was.num ? 0 : 1, (int64_t)ch->item.text.n - was.bytes);
}

static int clear(hob_sqlite *s, const hob_store_memory_change *ch) {
    tenant t;
    if (find_tenant(s->conn, ch->app, ch->user, &t) < 0) return -1;
    if (!t.num) return 0;
    if (run_with(s->conn, HOB_SQL_TENANT_DELETE, t.num) < 0) return -1;
    s->trash = true;
    return run_with(s->conn, HOB_SQL_TENANT_TRASH, t.num);
}

int hob_sqlite_memory_change(hob_sqlite *s, const hob_store_memory_change *ch) {
    switch (ch->op) {
    case HOB_STORE_REMEMBER: return remember(s->conn, ch);
    case HOB_STORE_FORGET: return forget(s->conn, ch);
    case HOB_STORE_CLEAR: return clear(s, ch);
    }
    return 0;
}

int hob_sqlite_memory_check(hob_sqlite *s, hob_store_req *r) {
    for (size_t i = 0; i < r->nchanges && r->code >= 0; i++) {
        const hob_store_memory_change *ch = &r->changes[i];
        tenant t;
        old was = {0};
        if (ch->op != HOB_STORE_REMEMBER || !ch->max_items) continue;
        if (find_tenant(s->conn, ch->app, ch->user, &t) < 0) return -1;
        if (t.num && find_old(s->conn, t.num, ch->item.id, &was) < 0) return -1;
        if (!was.num && (size_t)t.items + i >= ch->max_items)
            r->code = hob_store_say_memory_full(hob_store_req_err(r), ch->max_items);
    }
    return 0;
}

/* ---- reading ------------------------------------------------------------------------------ */

static hob_str column(sqlite3_stmt *st, int at) {
    const char *p = sqlite3_column_blob(st, at); /* bytes as they are */
    return hob_str_n(p, (size_t)sqlite3_column_bytes(st, at));
}

static size_t split_tags(hob_str joined, hob_str tags[HOB_STORE_TAGS_MAX]) {
    size_t n = 0;
    hob_str rest = joined;
    while (joined.n && n < HOB_STORE_TAGS_MAX && hob_str_split(&rest, '\n', &tags[n])) n++;
    return n;
}

/* Columns as in HOB_SQL_MEMORY. What it points to is SQLite's, until the statement is reset. */
static void item_row(sqlite3_stmt *st, hob_str tags[HOB_STORE_TAGS_MAX], hob_store_memory *out) {
    *out = (hob_store_memory){
        .id = column(st, 0),
        .text = column(st, 1),
        .kind = column(st, 2),
        .by = column(st, 3),
        .session = column(st, 4),
        .run = column(st, 5),
        .tags = tags,
        .ntags = split_tags(column(st, 6), tags),
        .importance = sqlite3_column_double(st, 7),
        .created_ms = sqlite3_column_int64(st, 8),
        .updated_ms = sqlite3_column_int64(st, 9),
    };
}

static void keep_item(hob_arena *mem, hob_store_memory *m) {
    hob_str *all[] = {&m->id, &m->text, &m->kind, &m->by, &m->session, &m->run};
    for (size_t i = 0; i < HOB_ARRAY_LEN(all); i++) *all[i] = hob_arena_dup(mem, *all[i]);
    hob_str *tags = hob_arena_alloc(mem, (m->ntags + 1) * sizeof(*tags));
    for (size_t i = 0; i < m->ntags; i++) tags[i] = hob_arena_dup(mem, m->tags[i]);
    m->tags = tags;
}

/* A reading of one tenant's memory. */
typedef struct reading {
    hob_sqlite_conn *c;
    int64_t tenant;
    hob_str tags[HOB_STORE_TAGS_MAX]; /* of the item looked at */
    sqlite3_stmt *open;               /* that shows it */
    hob_buf match;
} reading;

/* Every term in quotes: terms hold none, so there is nothing to escape. */
static void write_match(hob_buf *out, const hob_str *terms, size_t n) {
    hob_buf_reset(out);
    for (size_t i = 0; i < n; i++) {
        if (i) hob_buf_addz(out, " AND ");
        hob_buf_addc(out, '"');
        hob_buf_add(out, terms[i]);
        hob_buf_addc(out, '"');
    }
}

static ptrdiff_t find(void *user, const hob_str *terms, size_t n, int64_t below, int64_t *nums,
                      size_t max) {
    reading *g = user;
    size_t found = 0;
    int rc;
    sqlite3_stmt *st = hob_sqlite_stmt(g->c, n ? HOB_SQL_TERMS_MATCH : HOB_SQL_MEMORY_NEWEST);
    if (!st) return -1;
    write_match(&g->match, terms, n);
    if (n)
        hob_sqlite_bind_str(st, 1, hob_buf_str(&g->match));
    else
        sqlite3_bind_int64(st, 1, g->tenant);
    sqlite3_bind_int64(st, 2, below);
    sqlite3_bind_int64(st, 3, (int64_t)max);
    while ((rc = sqlite3_step(st)) == SQLITE_ROW && found < max)
        nums[found++] = sqlite3_column_int64(st, 0);
    return hob_sqlite_end(st, rc) < 0 ? -1 : (ptrdiff_t)found;
}

static int look(void *user, int64_t num, hob_store_memory *out) {
    reading *g = user;
    sqlite3_stmt *st = g->open = hob_sqlite_stmt(g->c, HOB_SQL_MEMORY_BY_NUM);
    if (!st) return -1;
    sqlite3_reset(st);
    sqlite3_bind_int64(st, 1, num);
    int rc = sqlite3_step(st);
    *out = (hob_store_memory){0};
    if (rc == SQLITE_ROW) item_row(st, g->tags, out);
    return rc == SQLITE_ROW || rc == SQLITE_DONE ? 0 : -1;
}

static int read_one(reading *g, hob_store_req *r) {
    old is;
    if (find_old(g->c, g->tenant, r->wanted.id, &is) < 0) return -1;
    if (!is.num) return 0;
    r->memories = HOB_ARENA_NEW(hob_store_req_mem(r), hob_store_memory);
    if (look(g, is.num, r->memories) < 0) return -1;
    keep_item(r->mem, r->memories);
    r->n = 1;
    return 0;
}

static int read_many(reading *g, hob_store_req *r, size_t items) {
    hob_recall_source source = {find, look, g, g->tenant, items};
    hob_found *found;
    ptrdiff_t n = hob_recall_find(&source, r, &found);
    if (n < 0) return -1;
    r->memories = hob_arena_alloc(hob_store_req_mem(r), ((size_t)n + 1) * sizeof(*r->memories));
    for (; r->n < (size_t)n; r->n++) {
        hob_store_memory *m = &r->memories[r->n];
        if (look(g, found[r->n].num, m) < 0) return -1;
        keep_item(r->mem, m);
        m->relevance = found[r->n].relevance;
        m->score = found[r->n].score;
    }
    return 0;
}

static int read_tenant(reading *g, const tenant *t, hob_store_req *r) {
    int rc = r->wanted.id.n ? read_one(g, r) : read_many(g, r, (size_t)t->items);
    if (g->open) sqlite3_reset(g->open);
    r->stats = (hob_store_tenant){.items = t->items, .bytes = t->bytes};
    if (rc < 0 || !t->items) return rc;
    if (hob_sqlite_ask(g->c, HOB_SQL_MEMORY_OLDEST_MS, t->num, &r->stats.oldest_ms) < 0) return -1;
    return hob_sqlite_ask(g->c, HOB_SQL_MEMORY_NEWEST_MS, t->num, &r->stats.newest_ms);
}

int hob_sqlite_memories(hob_sqlite_conn *c, hob_store_req *r) {
    reading g = {.c = c};
    tenant t;
    int rc = find_tenant(c, r->wanted.app, r->wanted.user, &t);
    g.tenant = t.num;
    hob_buf_init(&g.match, 4096);
    if (rc == 0 && t.num) rc = read_tenant(&g, &t, r);
    hob_buf_finish(&g.match);
    if (rc < 0) return hob_sqlite_fail(c, hob_store_req_err(r));
    if (r->wanted.id.n && !r->n) return hob_store_say_no_memory(hob_store_req_err(r), r->wanted.id);
    return 0;
}
