/*
 * sqlite_artifact_read.c - lists of artifacts, and their bytes. What comes back is what was written, or an error.
 */
#include "log/artifact.h"
#include "store/sqlite.h"

#include <stdio.h>

/* ---- reading ------------------------------------------------------------------------------ */

/* Columns as in HOB_SQL_LABEL. */
static void label(sqlite3_stmt *st, hob_store_req *r) {
    hob_arena *mem = r->mem;
    r->artifacts[r->n++] = (hob_store_artifact){
        .app = r->shelf.app,
        .user = r->shelf.user,
        .name = hob_sqlite_bytes(st, 0, mem),
        .version = sqlite3_column_int64(st, 1),
        .mime = hob_sqlite_bytes(st, 2, mem),
        .meta = hob_sqlite_bytes(st, 3, mem),
        .created_ms = sqlite3_column_int64(st, 4),
        .size = (size_t)sqlite3_column_int64(st, 5),
    };
}

/* Adds what there is room for. `more`: there was no room for all. */
static int read_page(sqlite3_stmt *st, hob_store_req *r, bool *more) {
    int step;
    while ((step = sqlite3_step(st)) == SQLITE_ROW) {
        *more = r->n == r->limit;
        if (*more) break;
        label(st, r);
    }
    return hob_sqlite_end(st, step);
}

static int list_names(hob_sqlite_conn *c, hob_store_req *r, int64_t session) {
    hob_str cursor = r->shelf.cursor;
    bool more = false, shared_only = hob_artifact_is_shared(cursor);
    for (int i = session && !shared_only ? 0 : 1; i < 2 && !more; i++) {
        hob_sqlite_place p = {i ? 0 : session, r->shelf.app, r->shelf.user, HOB_STR_NULL};
        sqlite3_stmt *st = hob_sqlite_at(c, HOB_SQL_ARTIFACT_NAMES, &p);
        if (!st) return -1;
        hob_sqlite_bind_str(st, 4, i == 1 && !shared_only ? HOB_STR("") : cursor);
        sqlite3_bind_int64(st, 5, (int64_t)(r->limit - r->n) + 1);
        if (read_page(st, r, &more) < 0) return -1;
    }
    if (more) r->next = r->artifacts[r->n - 1].name;
    return 0;
}

static int list_versions(hob_sqlite_conn *c, hob_store_req *r, const hob_sqlite_place *p) {
    int64_t after = -1;
    bool more = false;
    sqlite3_stmt *st = hob_sqlite_at(c, HOB_SQL_ARTIFACT_VERSIONS, p);
    if (!st) return -1;
    if (r->shelf.cursor.n) hob_str_int(r->shelf.cursor, &after); /* checked when it came in */
    sqlite3_bind_int64(st, 5, after);
    sqlite3_bind_int64(st, 6, (int64_t)r->limit + 1);
    if (read_page(st, r, &more) < 0) return -1;
    char text[24];
    if (!more) return 0;
    int n = snprintf(text, sizeof text, "%lld", (long long)r->artifacts[r->n - 1].version);
    r->next = hob_arena_dup(r->mem, hob_str_n(text, (size_t)n));
    return 0;
}

/* Columns behind the label: sum, blob, body. */
static int read_bytes(hob_sqlite_conn *c, sqlite3_stmt *st, hob_store_req *r) {
    hob_store_artifact *a = &r->artifacts[0];
    hob_error *err = hob_store_req_err(r);
    int rc = 0;
    if (sqlite3_column_type(st, 7) == SQLITE_NULL)
        a->bytes = hob_sqlite_bytes(st, 8, r->mem);
    else
        rc = hob_sqlite_read_blob(c, sqlite3_column_int64(st, 7), r->mem, &a->bytes, err);
    if (rc < 0) return rc;
    if (!a->bytes.p) return hob_fail(err, HOB_ETOOBIG, 0, "no memory for an artifact");
    if (a->bytes.n != a->size ||
        sqlite3_column_int(st, 6) != hob_sqlite_sum((uint64_t)a->version, a->bytes))
        return hob_sqlite_damaged(c, "an artifact is not what was written", err);
    return 0;
}

static int read_one(hob_sqlite_conn *c, hob_store_req *r, const hob_sqlite_place *p) {
    bool newest = r->shelf.version < 0;
    sqlite3_stmt *st = hob_sqlite_at(c, newest ? HOB_SQL_ARTIFACT_NEWEST : HOB_SQL_ARTIFACT_ONE, p);
    if (!st) return -1;
    if (!newest) sqlite3_bind_int64(st, 5, r->shelf.version);
    int step = sqlite3_step(st);
    if (step == SQLITE_ROW) {
        label(st, r);
        r->code = read_bytes(c, st, r);
    }
    int rc = hob_sqlite_end(st, step);
    return r->code < 0 ? 0 : rc;
}

/* The number of the session that is asked about: 0 = the user alone, -1 = the file failed. */
static int64_t find_session(hob_sqlite_conn *c, hob_store_req *r) {
    int64_t num;
    if (!r->shelf.session.n) return 0;
    sqlite3_stmt *st = hob_sqlite_stmt(c, HOB_SQL_SEAT_BY_ID);
    if (st) hob_sqlite_bind_str(st, 1, r->shelf.session);
    if (hob_sqlite_ask_at(st, &num, 0) < 0) return -1;
    if (!num) r->code = hob_store_say_absent(hob_store_req_err(r), r->shelf.session);
    return num;
}

static int look(hob_sqlite_conn *c, hob_store_req *r, int64_t session) {
    const hob_store_artifact_query *q = &r->shelf;
    hob_store_artifact a = {.app = q->app, .user = q->user, .name = q->name};
    hob_sqlite_place p = hob_sqlite_place_of(session, &a);
    bool nobodys = !session && !hob_artifact_is_shared(q->name);
    int rc = 0;
    switch (q->want) {
    case HOB_STORE_NAMES: return list_names(c, r, session);
    case HOB_STORE_VERSIONS: rc = nobodys ? 0 : list_versions(c, r, &p); break;
    case HOB_STORE_ARTIFACT: rc = nobodys ? 0 : read_one(c, r, &p); break;
    }
    if (rc == 0 && r->code >= 0 && !r->n && !q->cursor.n)
        r->code = hob_store_say_no_artifact(hob_store_req_err(r), q);
    return rc;
}

int hob_sqlite_artifacts(hob_sqlite_conn *c, hob_store_req *r) {
    int64_t session = find_session(c, r);
    hob_arena *mem = hob_store_req_mem(r);
    if (r->code < 0) return r->code;
    r->artifacts = hob_arena_alloc(mem, (r->limit + 1) * sizeof(*r->artifacts));
    if (session < 0 || look(c, r, session) < 0) return hob_sqlite_fail(c, hob_store_req_err(r));
    return r->code;
}
