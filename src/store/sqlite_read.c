/*
 * sqlite_read.c - everything that only reads. Runs on a pool thread with a read-only connection, or on
 * the writer when the pool has no room.
 *
 * What comes back is what was written, or an error: each event has a sum, and sequence numbers have no
 * gaps.
 */
#include "store/sqlite.h"

hob_str hob_sqlite_bytes(sqlite3_stmt *st, int at, hob_arena *mem) {
    const char *p = sqlite3_column_blob(st, at); /* bytes as they are; no conversion */
    return hob_arena_dup(mem, hob_str_n(p, (size_t)sqlite3_column_bytes(st, at)));
}

/* Columns from `at`: owner, its name. An owner that is dead holds nothing. */
static hob_str holder_of(hob_sqlite *s, sqlite3_stmt *st, int at, hob_arena *mem) {
    hob_str owner = hob_str_z((const char *)sqlite3_column_text(st, at));
    if (owner.n == 0) return HOB_STR_NULL;
    if (!hob_str_eqz(owner, s->owner.id) && !hob_owner_alive(s->owners_path, owner))
        return HOB_STR_NULL;
    return hob_sqlite_bytes(st, at + 1, mem);
}

/* Columns as in HOB_SQL_SESSION. */
void hob_sqlite_row(hob_sqlite *s, sqlite3_stmt *st, hob_arena *mem, hob_store_session *out) {
    *out = (hob_store_session){
        .id = hob_sqlite_bytes(st, 1, mem),
        .cwd = hob_sqlite_bytes(st, 2, mem),
        .title = hob_sqlite_bytes(st, 3, mem),
        .model = hob_sqlite_bytes(st, 4, mem),
        .parent = hob_sqlite_bytes(st, 5, mem),
        .state = hob_sqlite_bytes(st, 6, mem),
        .owner = holder_of(s, st, 7, mem),
        .epoch = (uint64_t)sqlite3_column_int64(st, 10),
        .created_ms = sqlite3_column_int64(st, 11),
        .updated_ms = sqlite3_column_int64(st, 12),
        .last_seq = (uint64_t)sqlite3_column_int64(st, 13),
        .messages = sqlite3_column_int64(st, 14),
        .child = sqlite3_column_int(st, 15),
        .app = hob_sqlite_bytes(st, 16, mem),
        .user = hob_sqlite_bytes(st, 17, mem),
        .number = (uint64_t)sqlite3_column_int64(st, 0),
    };
}

/* Columns as in HOB_SQL_RUN. */
static void run_row(hob_sqlite *s, sqlite3_stmt *st, hob_arena *mem, hob_store_run *out) {
    *out = (hob_store_run){
        .id = hob_sqlite_bytes(st, 1, mem),
        .session = hob_sqlite_bytes(st, 2, mem),
        .status = hob_sqlite_bytes(st, 3, mem),
        .reason = hob_sqlite_bytes(st, 4, mem),
        .prompt = hob_sqlite_bytes(st, 5, mem),
        .started_ms = sqlite3_column_int64(st, 6),
        .finished_ms = sqlite3_column_int64(st, 7),
        .app = hob_sqlite_bytes(st, 10, mem),
        .user = hob_sqlite_bytes(st, 11, mem),
        .first_seq = (uint64_t)sqlite3_column_int64(st, 12),
        .last_seq = (uint64_t)sqlite3_column_int64(st, 13),
    };
    if (!out->finished_ms) out->owner = holder_of(s, st, 8, mem);
}

/* ---- events ------------------------------------------------------------------------------- */

int hob_sqlite_read_blob(hob_sqlite_conn *c, int64_t num, hob_arena *mem, hob_str *out,
                         hob_error *err) {
    sqlite3_stmt *st = hob_sqlite_stmt(c, HOB_SQL_BLOB_BODY);
    if (!st) return hob_sqlite_fail(c, err);
    sqlite3_bind_int64(st, 1, num);
    int step = sqlite3_step(st), rc = 0;
    if (step == SQLITE_ROW)
        *out = hob_sqlite_bytes(st, 0, mem);
    else if (step == SQLITE_DONE)
        rc = hob_sqlite_damaged(c, "content that is named is missing", err);
    else
        rc = hob_sqlite_fail(c, err);
    sqlite3_reset(st);
    return rc;
}

int hob_sqlite_event(hob_sqlite_conn *c, int64_t session, uint64_t seq, hob_arena *mem,
                     hob_str *out) {
    sqlite3_stmt *st = hob_sqlite_stmt(c, HOB_SQL_EVENT_ONE);
    if (!st) return -1;
    sqlite3_bind_int64(st, 1, session);
    sqlite3_bind_int64(st, 2, (int64_t)seq);
    int step = sqlite3_step(st), rc = 0;
    if (step == SQLITE_ROW && sqlite3_column_type(st, 1) == SQLITE_NULL)
        *out = hob_sqlite_bytes(st, 0, mem);
    else if (step == SQLITE_ROW)
        rc = hob_sqlite_read_blob(c, sqlite3_column_int64(st, 1), mem, out, NULL);
    return hob_sqlite_end(st, step) < 0 || rc < 0 ? -1 : 0;
}

static int event_row(hob_sqlite_conn *c, sqlite3_stmt *st, hob_store_req *r, uint64_t seq) {
    hob_error *err = hob_store_req_err(r);
    hob_store_event *e = &r->events[r->n];
    int rc = 0;
    if ((uint64_t)sqlite3_column_int64(st, 0) != seq)
        return hob_sqlite_damaged(c, "an event is missing", err);
    if (sqlite3_column_type(st, 2) == SQLITE_NULL)
        e->json = hob_sqlite_bytes(st, 1, r->mem);
    else
        rc = hob_sqlite_read_blob(c, sqlite3_column_int64(st, 2), r->mem, &e->json, err);
    if (rc < 0) return rc;
    if (!e->json.p)
        return hob_fail(err, HOB_ETOOBIG, 0, "no memory for event %llu", (unsigned long long)seq);
    if (sqlite3_column_int(st, 3) != hob_sqlite_sum(seq, e->json))
        return hob_sqlite_damaged(c, "an event is not what was written", err);
    e->seq = seq;
    r->n++;
    return 0;
}

/* Bytes of the event the statement stands at, found without reading them. */
static int weigh(hob_sqlite_conn *c, sqlite3_stmt *st, hob_store_req *r, size_t *bytes) {
    int64_t n = sqlite3_column_bytes(st, 1);
    if (sqlite3_column_type(st, 2) != SQLITE_NULL &&
        hob_sqlite_ask(c, HOB_SQL_BLOB_SIZE, sqlite3_column_int64(st, 2), &n) < 0)
        return hob_sqlite_fail(c, hob_store_req_err(r));
    *bytes += (size_t)HOB_MAX(n, (int64_t)0);
    return 0;
}

static int event_rows(hob_sqlite_conn *c, sqlite3_stmt *st, hob_store_req *r, size_t room) {
    size_t bytes = 0;
    int step = SQLITE_DONE, rc = 0;
    while (r->n < room && (step = sqlite3_step(st)) == SQLITE_ROW) {
        rc = weigh(c, st, r, &bytes);
        if (rc < 0 || (r->n > 0 && bytes > r->max_bytes)) return rc;
        rc = event_row(c, st, r, r->after + 1 + r->n);
        if (rc < 0) return rc;
    }
    if (step != SQLITE_ROW && step != SQLITE_DONE) return hob_sqlite_fail(c, hob_store_req_err(r));
    if (r->n < room)
        return hob_sqlite_damaged(c, "events at the end of a session are missing",
                                  hob_store_req_err(r));
    return 0;
}

static int read_events(hob_sqlite_conn *c, hob_store_req *r) {
    sqlite3_stmt *st = hob_sqlite_stmt(c, HOB_SQL_SEAT_BY_ID);
    if (!st) return hob_sqlite_fail(c, hob_store_req_err(r));
    hob_sqlite_bind_str(st, 1, r->session);
    int step = sqlite3_step(st);
    int64_t session = step == SQLITE_ROW ? sqlite3_column_int64(st, 0) : 0;
    uint64_t last = step == SQLITE_ROW ? (uint64_t)sqlite3_column_int64(st, 3) : 0;
    if (hob_sqlite_end(st, step) < 0) return hob_sqlite_fail(c, hob_store_req_err(r));
    if (step == SQLITE_DONE) return hob_store_say_absent(hob_store_req_err(r), r->session);
    if (r->op == HOB_OP_RECALL) hob_sqlite_read_snapshot(c, session, r);
    st = hob_sqlite_stmt(c, HOB_SQL_EVENTS);
    if (!st) return hob_sqlite_fail(c, hob_store_req_err(r));
    uint64_t left = last > r->after ? last - r->after : 0;
    size_t room = (size_t)HOB_MIN(left, (uint64_t)r->limit);
    r->events = hob_arena_alloc(hob_store_req_mem(r), (room + 1) * sizeof(*r->events));
    sqlite3_bind_int64(st, 1, session);
    sqlite3_bind_int64(st, 2, (int64_t)r->after);
    sqlite3_bind_int64(st, 3, (int64_t)room);
    int rc = event_rows(c, st, r, room);
    sqlite3_reset(st);
    r->more = r->n < left;
    return rc;
}

/* ---- lists -------------------------------------------------------------------------------- */

static int session_read(hob_sqlite *s, hob_sqlite_conn *c, hob_store_req *r) {
    sqlite3_stmt *st = hob_sqlite_stmt(c, HOB_SQL_SESSION_BY_ID);
    if (!st) return hob_sqlite_fail(c, hob_store_req_err(r));
    hob_sqlite_bind_str(st, 1, r->session);
    int step = sqlite3_step(st);
    if (step == SQLITE_ROW) {
        r->rows = HOB_ARENA_NEW(hob_store_req_mem(r), hob_store_session);
        hob_sqlite_row(s, st, r->mem, r->rows);
        r->n = 1;
    }
    if (hob_sqlite_end(st, step) < 0) return hob_sqlite_fail(c, hob_store_req_err(r));
    bool there = r->n && hob_store_req_may(r, r->rows);
    return there ? 0 : hob_store_say_absent(hob_store_req_err(r), r->session);
}

static int list_sql(const hob_store_req *r) {
    const hob_store_query *q = &r->query;
    bool tenant = q->user.n > 0; /* the application alone leads no index */
    if (r->op == HOB_OP_SESSIONS) {
        if (q->parent.n) return HOB_SQL_SESSIONS_OF;
        if (q->all) return tenant ? HOB_SQL_SESSIONS_TENANT_ALL : HOB_SQL_SESSIONS_ALL;
        return q->cwd.n ? HOB_SQL_SESSIONS_CWD
               : tenant ? HOB_SQL_SESSIONS_TENANT
                        : HOB_SQL_SESSIONS;
    }
    if (q->run.n) return HOB_SQL_RUN_BY_ID;
    if (q->session.n) return HOB_SQL_RUNS_SESSION;
    return tenant ? HOB_SQL_RUNS_TENANT : q->status.n ? HOB_SQL_RUNS_STATUS : HOB_SQL_RUNS;
}

/* Every list has the same parameters, and uses some of them. */
static void bind_query(sqlite3_stmt *st, const hob_store_req *r) {
    const hob_store_query *q = &r->query;
    bool sessions = r->op == HOB_OP_SESSIONS;
    int64_t ms, id;
    hob_store_cursor_parse(q->cursor, &ms, &id, NULL); /* was checked when it came in */
    sqlite3_bind_int64(st, 1, ms);
    sqlite3_bind_int64(st, 2, id);
    sqlite3_bind_int64(st, 3, (int64_t)r->limit + 1); /* one more: is there a next page? */
    hob_str which = sessions ? (q->parent.n ? q->parent : q->cwd) : q->run.n ? q->run : q->session;
    hob_sqlite_bind_str(st, 4, which);
    hob_sqlite_bind_text(st, 5, q->status);
    hob_sqlite_bind_text(st, 6, q->app);
    hob_sqlite_bind_text(st, 7, q->user);
}

static int list(hob_sqlite *s, hob_sqlite_conn *c, hob_store_req *r) {
    sqlite3_stmt *st = hob_sqlite_stmt(c, list_sql(r));
    if (!st) return hob_sqlite_fail(c, hob_store_req_err(r));
    hob_arena *mem = hob_store_req_mem(r);
    bool sessions = r->op == HOB_OP_SESSIONS;
    r->rows = sessions ? hob_arena_alloc(mem, r->limit * sizeof(*r->rows)) : NULL;
    r->runs = sessions ? NULL : hob_arena_alloc(mem, r->limit * sizeof(*r->runs));
    int64_t ms = 0, num = 0;
    int step;
    bind_query(st, r);
    while ((step = sqlite3_step(st)) == SQLITE_ROW && r->n < r->limit) {
        num = sqlite3_column_int64(st, 0);
        ms = sqlite3_column_int64(st, sessions ? 12 : 6);
        if (sessions)
            hob_sqlite_row(s, st, mem, &r->rows[r->n++]);
        else
            run_row(s, st, mem, &r->runs[r->n++]);
    }
    if (step == SQLITE_ROW) r->next = hob_store_cursor_make(mem, ms, num);
    return hob_sqlite_end(st, step) < 0 ? hob_sqlite_fail(c, hob_store_req_err(r)) : 0;
}

/* ---- a read as a whole -------------------------------------------------------------------- */

static int carry_out(hob_sqlite *s, hob_sqlite_conn *c, hob_store_req *r) {
    switch (r->op) {
    case HOB_OP_OWN: return session_read(s, c, r);
    case HOB_OP_READ:
    case HOB_OP_RECALL: return read_events(c, r);
    case HOB_OP_STATES: return hob_sqlite_read_states(c, r);
    case HOB_OP_SESSIONS:
    case HOB_OP_RUNS: return list(s, c, r);
    case HOB_OP_MEMORIES: return hob_sqlite_memories(c, r);
    case HOB_OP_ARTIFACTS: return hob_sqlite_artifacts(c, r);
    case HOB_OP_CLAIM:
    case HOB_OP_COMMIT:
    case HOB_OP_RELEASE:
    case HOB_OP_SEARCH:
    case HOB_OP_REMOVE: break; /* not here */
    }
    return HOB_EINVAL;
}

/* In one transaction, so that its parts fit together; ended at once, so that it holds up nothing. */
void hob_sqlite_read(hob_sqlite *s, hob_sqlite_conn *c, hob_store_req *r) {
    if (hob_sqlite_exec(c, HOB_SQL_BEGIN_READ) < 0) {
        r->code = hob_sqlite_fail(c, hob_store_req_err(r));
        return;
    }
    r->code = carry_out(s, c, r);
    if (!sqlite3_get_autocommit(c->db)) hob_sqlite_exec(c, HOB_SQL_COMMIT);
}

static hob_sqlite_conn *take_reader(hob_sqlite *s, hob_error *err) {
    hob_sqlite_conn *c = NULL;
    pthread_mutex_lock(&s->mu);
    unsigned gen = s->gen;
    if (s->nidle) c = s->idle[--s->nidle];
    pthread_mutex_unlock(&s->mu);
    if (!c && hob_sqlite_conn_open(s->path, HOB_SQLITE_READER, &c, err) == 0) c->gen = gen;
    return c;
}

static void give_reader(hob_sqlite *s, hob_sqlite_conn *c) {
    pthread_mutex_lock(&s->mu);
    if (c->gen == s->gen && s->nidle < HOB_SQLITE_READERS) {
        s->idle[s->nidle++] = c;
        c = NULL;
    }
    pthread_mutex_unlock(&s->mu);
    hob_sqlite_conn_close(c);
}

void hob_sqlite_read_any(hob_sqlite *s, hob_store_req *r) {
    hob_sqlite_conn *c = take_reader(s, hob_store_req_err(r));
    if (!c) {
        r->code = HOB_ESTORE;
        return;
    }
    hob_sqlite_read(s, c, r);
    give_reader(s, c);
}

void hob_sqlite_readers_close(hob_sqlite *s) {
    hob_sqlite_conn *old[HOB_SQLITE_READERS];
    pthread_mutex_lock(&s->mu);
    size_t n = s->nidle;
    memcpy(old, s->idle, sizeof(old));
    s->nidle = 0;
    s->gen++;
    pthread_mutex_unlock(&s->mu);
    for (size_t i = 0; i < n; i++) hob_sqlite_conn_close(old[i]);
}
