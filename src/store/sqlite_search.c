/*
 * sqlite_search.c - the full-text index of messages and titles, in SQLite.
 *
 * It is filled when somebody searches, never when a session is written to: an index row in the commit of each message
 * would triple what that commit writes. `search_head` says up to which event (and with which title) a session is in it;
 * a search first takes in what its tenant's sessions have beyond that, in slices between which other commits get their
 * turn (the request is put back into the queue), and then looks. So it sees every commit that was called before it.
 *
 * `search_doc` keeps the terms of each document, so that what leaves the index is exactly what went into it. A document
 * is gone with its session: it is out of reach at once, and cleared away with the session's events.
 */
#include "store/search.h"
#include "store/sqlite.h"

enum {
    SLICE_EVENTS = 1000, /* looked at in one transaction */
    SLICE_BYTES = 4 << 20,
    TERMS_MAX = 1 << 20, /* bytes of the terms of a document: every other byte may be a word */
    KEY_TRIES = 4096,    /* documents of one millisecond and number */
    LOOK_MAX = 20000     /* documents of removed sessions that a search passes over */
};

static int run_with(hob_sqlite_conn *c, int sql, int64_t a, int64_t b) {
    sqlite3_stmt *st = hob_sqlite_stmt(c, sql);
    if (!st) return -1;
    sqlite3_bind_int64(st, 1, a);
    if (sqlite3_bind_parameter_count(st) > 1) sqlite3_bind_int64(st, 2, b);
    return hob_sqlite_run(st);
}

static int tenant_of(hob_sqlite_conn *c, const hob_store_search *q, int64_t *out) {
    static const int both[] = {HOB_SQL_SEARCH_TENANT, HOB_SQL_SEARCH_TENANT_ADD,
                               HOB_SQL_SEARCH_TENANT};
    *out = 0;
    for (size_t i = 0; i < HOB_ARRAY_LEN(both) && !*out; i++) {
        sqlite3_stmt *st = hob_sqlite_stmt(c, both[i]);
        if (!st) return -1;
        hob_sqlite_bind_str(st, 1, q->app);
        hob_sqlite_bind_str(st, 2, q->user);
        int rc = sqlite3_step(st);
        if (rc == SQLITE_ROW) *out = sqlite3_column_int64(st, 0);
        if (hob_sqlite_end(st, rc) < 0) return -1;
    }
    return 0;
}

/* ---- taking in ---------------------------------------------------------------------------- */

/* A session that has more than the index. */
typedef struct behind {
    int64_t num, last_seq, seq, updated_ms;
    bool retitled;
    hob_buf title;
} behind;

typedef struct slice {
    hob_sqlite_conn *c;
    int64_t tenant;
    hob_search_doc doc;
    hob_buf terms;
    size_t events, bytes;
} slice;

static bool is_full(const slice *s) {
    return s->events >= SLICE_EVENTS || s->bytes >= SLICE_BYTES;
}

/* The next key that is free, from the document's own on. */
static int add_doc(slice *s, int64_t session, uint64_t seq) {
    hob_buf_reset(&s->terms);
    hob_search_terms(&s->terms, s->tenant, hob_buf_str(&s->doc.text));
    if (!s->terms.n || s->terms.err) return 0;
    int64_t key = hob_search_key(s->doc.ms, seq);
    for (int i = 0; i < KEY_TRIES; i++, key++) {
        sqlite3_stmt *st = hob_sqlite_stmt(s->c, HOB_SQL_SEARCH_DOC_ADD);
        if (!st) return -1;
        sqlite3_bind_int64(st, 1, key);
        sqlite3_bind_int64(st, 2, session);
        sqlite3_bind_int64(st, 3, (int64_t)seq);
        hob_sqlite_bind_str(st, 4, hob_buf_str(&s->terms));
        if (hob_sqlite_run(st) < 0) return -1;
        if (sqlite3_changes(s->c->db)) return run_with(s->c, HOB_SQL_SEARCH_TERMS_ADD, key, 0);
    }
    return 0; /* thousands in one millisecond are no conversation */
}

int hob_sqlite_search_erase(hob_sqlite_conn *c, int64_t doc) {
    if (run_with(c, HOB_SQL_SEARCH_TERMS_DELETE, doc, 0) < 0) return -1;
    return run_with(c, HOB_SQL_SEARCH_DOC_DELETE, doc, 0);
}

int hob_sqlite_search_purge(hob_sqlite_conn *c, int64_t session) {
    int64_t docs[128];
    size_t n = 0;
    int rc;
    sqlite3_stmt *st = hob_sqlite_stmt(c, HOB_SQL_SEARCH_DOCS_OF);
    if (!st) return -1;
    sqlite3_bind_int64(st, 1, session);
    while ((rc = sqlite3_step(st)) == SQLITE_ROW && n < HOB_ARRAY_LEN(docs))
        docs[n++] = sqlite3_column_int64(st, 0);
    if (hob_sqlite_end(st, rc) < 0) return -1;
    for (size_t i = 0; i < n; i++)
        if (hob_sqlite_search_erase(c, docs[i]) < 0) return -1;
    return n == HOB_ARRAY_LEN(docs); /* perhaps there are more */
}

static int take_title(slice *s, const behind *b) {
    int64_t old;
    if (hob_sqlite_ask(s->c, HOB_SQL_SEARCH_TITLE_DOC, b->num, &old) < 0) return -1;
    if (old >= 0 && hob_sqlite_search_erase(s->c, old) < 0) return -1;
    hob_search_title(&s->doc, hob_buf_str(&b->title), b->updated_ms);
    return add_doc(s, b->num, 0);
}

/* The line that the statement stands at; "" = it cannot be read, which is for whoever opens the session to say. */
static hob_str line_of(slice *s, sqlite3_stmt *st, hob_arena *mem) {
    hob_str json = hob_str_n(sqlite3_column_blob(st, 1), (size_t)sqlite3_column_bytes(st, 1));
    if (sqlite3_column_type(st, 2) == SQLITE_NULL) return json;
    int64_t blob = sqlite3_column_int64(st, 2);
    return hob_sqlite_read_blob(s->c, blob, mem, &json, NULL) < 0 ? HOB_STR_NULL : json;
}

/* Events after b->seq, until the slice is full; b->seq is the last one looked at. */
static int take_events(slice *s, behind *b) {
    sqlite3_stmt *st = hob_sqlite_stmt(s->c, HOB_SQL_EVENTS);
    if (!st) return -1;
    sqlite3_bind_int64(st, 1, b->num);
    sqlite3_bind_int64(st, 2, b->seq);
    sqlite3_bind_int64(st, 3, b->last_seq - b->seq);
    hob_arena *mem = hob_arena_create(0);
    int rc = SQLITE_ROW, done = 0;
    while (done == 0 && !is_full(s) && (rc = sqlite3_step(st)) == SQLITE_ROW) {
        hob_arena_reset(mem);
        hob_str json = line_of(s, st, mem);
        b->seq = sqlite3_column_int64(st, 0);
        s->events++;
        s->bytes += json.n;
        if (hob_search_read(&s->doc, json)) done = add_doc(s, b->num, (uint64_t)b->seq);
    }
    hob_arena_destroy(mem);
    if (rc == SQLITE_DONE) b->seq = b->last_seq; /* there are no more, whatever the head says */
    return hob_sqlite_end(st, rc == SQLITE_ROW ? SQLITE_DONE : rc) < 0 ? -1 : done;
}

static int note_head(slice *s, const behind *b) {
    sqlite3_stmt *st = hob_sqlite_stmt(s->c, HOB_SQL_SEARCH_HEAD_PUT);
    if (!st) return -1;
    sqlite3_bind_int64(st, 1, b->num);
    sqlite3_bind_int64(st, 2, b->seq);
    hob_sqlite_bind_str(st, 3, hob_buf_str(&b->title));
    return hob_sqlite_run(st);
}

static int take_session(slice *s, behind *b) {
    s->events++;
    if (b->retitled && take_title(s, b) < 0) return -1;
    if (take_events(s, b) < 0) return -1;
    return note_head(s, b);
}

/* The next one of the tenant with a number above `after`; num 0 = none. */
static int find_behind(slice *s, const hob_store_req *r, int64_t after, behind *b) {
    sqlite3_stmt *st = hob_sqlite_stmt(s->c, HOB_SQL_SEARCH_BEHIND);
    if (!st) return -1;
    hob_sqlite_bind_str(st, 1, r->look.app);
    hob_sqlite_bind_str(st, 2, r->look.user);
    sqlite3_bind_int64(st, 3, after);
    int rc = sqlite3_step(st);
    b->num = 0;
    hob_buf_reset(&b->title);
    if (rc == SQLITE_ROW) {
        b->num = sqlite3_column_int64(st, 0);
        b->last_seq = sqlite3_column_int64(st, 1);
        b->seq = sqlite3_column_int64(st, 2);
        b->updated_ms = sqlite3_column_int64(st, 3);
        b->retitled = sqlite3_column_int(st, 4) != 0;
        hob_buf_add(&b->title, hob_str_z((const char *)sqlite3_column_text(st, 5)));
    }
    return hob_sqlite_end(st, rc);
}

/* One slice of what is missing; r->again: there is more. */
static int take_in(hob_sqlite_conn *c, hob_store_req *r, int64_t tenant) {
    slice s = {.c = c, .tenant = tenant};
    behind b = {.num = 0};
    int rc = 0;
    hob_search_doc_init(&s.doc);
    hob_buf_init(&s.terms, TERMS_MAX);
    hob_buf_init(&b.title, HOB_STORE_TEXT_MAX + 1);
    do {
        rc = find_behind(&s, r, r->reached, &b);
        if (rc == 0 && b.num) rc = take_session(&s, &b);
        if (rc == 0 && b.num && b.seq >= b.last_seq) r->reached = b.num;
    } while (rc == 0 && b.num && !is_full(&s));
    r->again = rc == 0 && b.num != 0;
    hob_search_doc_finish(&s.doc);
    hob_buf_finish(&s.terms);
    hob_buf_finish(&b.title);
    return rc;
}

/* ---- looking ------------------------------------------------------------------------------ */

/* Terms are letters, digits and bytes >= 0x80: in quotes they can be no syntax. */
static void write_match(hob_buf *out, const hob_search_query *q, int64_t tenant) {
    for (size_t i = 0; i < q->n; i++)
        hob_buf_addf(out, "%s\"%lldw%s\"%s", i ? " AND " : "", (long long)tenant, q->words[i],
                     i + 1 == q->n ? " *" : "");
}

static int snippet(hob_sqlite_conn *c, const hob_search_query *q, int64_t session, hob_arena *mem,
                   hob_store_hit *hit) {
    hob_search_doc doc;
    hob_search_doc_init(&doc);
    hob_str json = HOB_STR_NULL;
    int rc = hit->seq ? hob_sqlite_event(c, session, hit->seq, mem, &json) : 0;
    if (rc == 0 && hit->seq)
        hob_search_read(&doc, json);
    else if (rc == 0)
        hob_search_title(&doc, hit->session.title, hit->session.updated_ms);
    hit->ms = doc.ms;
    hit->role = doc.role;
    hit->snippet = hob_search_snippet(q, hob_buf_str(&doc.text), mem);
    hob_search_doc_finish(&doc);
    return rc;
}

/* 1 and the document as a hit, 0: its session is gone. */
static int look_at(hob_sqlite *s, hob_store_req *r, const hob_search_query *q, int64_t doc) {
    hob_sqlite_conn *c = s->conn;
    hob_arena *mem = hob_store_req_mem(r);
    hob_store_hit *hit = &r->hits[r->n];
    sqlite3_stmt *st = hob_sqlite_stmt(c, HOB_SQL_SEARCH_DOC);
    if (!st) return -1;
    sqlite3_bind_int64(st, 1, doc);
    int rc = sqlite3_step(st), found = rc == SQLITE_ROW;
    int64_t session = 0;
    if (found) {
        *hit = (hob_store_hit){.seq = (uint64_t)sqlite3_column_int64(st, HOB_SQL_SESSION_COLUMNS)};
        session = sqlite3_column_int64(st, 0);
        hob_sqlite_row(s, st, mem, &hit->session);
        found = hob_str_eq(hit->session.app, r->look.app) &&
                hob_str_eq(hit->session.user, r->look.user);
    }
    if (hob_sqlite_end(st, rc) < 0) return -1;
    if (!found) return 0;
    return snippet(c, q, session, mem, hit) < 0 ? -1 : 1;
}

static int look(hob_sqlite *s, hob_store_req *r, const hob_search_query *q, hob_str match) {
    int64_t below, none, last = 0;
    hob_store_cursor_parse(r->look.cursor, &below, &none, NULL);
    r->hits = hob_arena_alloc(hob_store_req_mem(r), r->limit * sizeof(*r->hits));
    sqlite3_stmt *st = hob_sqlite_stmt(s->conn, HOB_SQL_SEARCH_MATCH);
    if (!st) return -1;
    hob_sqlite_bind_str(st, 1, match);
    sqlite3_bind_int64(st, 2, below);
    int rc, looked = 0, found = 0;
    while ((rc = sqlite3_step(st)) == SQLITE_ROW && r->n < r->limit && looked++ < LOOK_MAX) {
        last = sqlite3_column_int64(st, 0);
        if ((found = look_at(s, r, q, last)) < 0) break;
        r->n += (size_t)found;
    }
    if (rc == SQLITE_ROW && found >= 0) r->next = hob_store_cursor_make(r->mem, last, 0);
    return hob_sqlite_end(st, rc == SQLITE_ROW ? SQLITE_DONE : rc) < 0 || found < 0 ? -1 : 0;
}

int hob_sqlite_search(hob_sqlite *s, hob_store_req *r) {
    hob_search_query q;
    hob_buf match;
    int64_t tenant;
    r->again = false;
    r->next = HOB_STR_NULL;
    if (tenant_of(s->conn, &r->look, &tenant) < 0 || take_in(s->conn, r, tenant) < 0) return -1;
    if (r->again) return 0;
    hob_search_parse(&q, r->look.query);
    hob_buf_init(&match, HOB_SEARCH_WORDS * (HOB_WORD_MAX + 40));
    write_match(&match, &q, tenant);
    int rc = look(s, r, &q, hob_buf_str(&match));
    hob_buf_finish(&match);
    return rc;
}
