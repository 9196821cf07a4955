/*
 * sqlite_snapshot.c - snapshots of sessions: bytes that the store keeps for whoever opens a session next.
 *
 * They are written with a commit, so they never stand at an event that is not stored. Nothing depends on them: what
 * cannot be read, for whatever reason, is taken as absent, and the log is read from its beginning.
 */
#include "store/sqlite.h"

static int run_for(hob_sqlite *s, int sql, int64_t session) {
    sqlite3_stmt *st = hob_sqlite_stmt(s->conn, sql);
    if (!st) return -1;
    sqlite3_bind_int64(st, 1, session);
    return hob_sqlite_run(st);
}

/* An empty blob is not NULL. */
static void bind_bytes(sqlite3_stmt *st, int at, hob_str s) {
    sqlite3_bind_blob64(st, at, s.n ? s.p : "", s.n, SQLITE_STATIC);
}

static int add_part(hob_sqlite *s, int64_t session, hob_str part) {
    sqlite3_stmt *st = hob_sqlite_stmt(s->conn, HOB_SQL_PART_ADD);
    if (!st) return -1;
    sqlite3_bind_int64(st, 1, session);
    bind_bytes(st, 2, part);
    return hob_sqlite_run(st);
}

int hob_sqlite_put_snapshot(hob_sqlite *s, int64_t session, const hob_store_snapshot *snap) {
    hob_crash_point("store.snapshot.before");
    if (snap->restart && run_for(s, HOB_SQL_PARTS_DELETE, session) < 0) return -1;
    for (size_t i = 0; i < snap->nparts; i++) {
        if (add_part(s, session, snap->parts[i]) < 0) return -1;
    }
    sqlite3_stmt *st = hob_sqlite_stmt(s->conn, HOB_SQL_SNAPSHOT_PUT);
    if (!st) return -1;
    sqlite3_bind_int64(st, 1, session);
    sqlite3_bind_int64(st, 2, (int64_t)snap->seq);
    sqlite3_bind_int64(st, 3, (int64_t)snap->after);
    bind_bytes(st, 4, snap->head);
    int rc = hob_sqlite_run(st);
    hob_crash_point("store.snapshot.after");
    return rc;
}

static int read_head(hob_sqlite_conn *c, int64_t session, hob_arena *mem, hob_store_snapshot *out) {
    sqlite3_stmt *st = hob_sqlite_stmt(c, HOB_SQL_SNAPSHOT_HEAD);
    if (!st) return -1;
    sqlite3_bind_int64(st, 1, session);
    int step = sqlite3_step(st);
    if (step == SQLITE_ROW) {
        out->seq = (uint64_t)sqlite3_column_int64(st, 0);
        out->after = (uint64_t)sqlite3_column_int64(st, 1);
        out->head = hob_sqlite_bytes(st, 2, mem);
    }
    return hob_sqlite_end(st, step) < 0 || step != SQLITE_ROW ? -1 : 0;
}

static int read_parts(hob_sqlite_conn *c, int64_t session, hob_arena *mem,
                      hob_store_snapshot *out) {
    int64_t count;
    if (hob_sqlite_ask(c, HOB_SQL_PARTS_COUNT, session, &count) < 0) return -1;
    hob_str *parts = hob_arena_alloc(mem, (size_t)(count + 1) * sizeof(*parts));
    sqlite3_stmt *st = hob_sqlite_stmt(c, HOB_SQL_PARTS);
    if (!st || !parts) return -1;
    sqlite3_bind_int64(st, 1, session);
    int step;
    bool whole = true;
    while ((step = sqlite3_step(st)) == SQLITE_ROW && out->nparts < (size_t)count) {
        hob_str part = parts[out->nparts++] = hob_sqlite_bytes(st, 0, mem);
        whole = whole && part.n == (size_t)sqlite3_column_bytes(st, 0);
    }
    out->parts = parts;
    return hob_sqlite_end(st, step) < 0 || !whole ? -1 : 0;
}

void hob_sqlite_read_snapshot(hob_sqlite_conn *c, int64_t session, hob_store_req *r) {
    hob_arena *mem = hob_store_req_mem(r);
    hob_store_snapshot snap = {0};
    if (read_head(c, session, mem, &snap) < 0 || read_parts(c, session, mem, &snap) < 0 ||
        snap.after > snap.seq || snap.seq > INT64_MAX)
        return;
    r->snapshot = HOB_ARENA_NEW(mem, hob_store_snapshot);
    if (!r->snapshot) return;
    *r->snapshot = snap;
    r->after = snap.after;
}
