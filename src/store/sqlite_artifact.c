/*
 * sqlite_artifact.c - artifacts in SQLite.
 *
 * The event that tells of a version is written in the transaction of its row, and names it. So the number is claimed first,
 * in a transaction of its own: a row with an owner, which nobody reads, keeps others from taking it. The commit puts the
 * real row in its place. What a process that died had claimed is free again.
 */
#include "log/artifact.h"
#include "store/sqlite.h"

#include <sodium.h>
#include <stdio.h>

enum { CLAIMS_AT_ONCE = 64, PURGE_AT_ONCE = 64 };

hob_sqlite_place hob_sqlite_place_of(int64_t session, const hob_store_artifact *a) {
    return (hob_sqlite_place){hob_artifact_is_shared(a->name) ? 0 : session, a->app, a->user,
                              a->name};
}

/* The statement with its first three or four parameters. */
sqlite3_stmt *hob_sqlite_at(hob_sqlite_conn *c, int sql, const hob_sqlite_place *p) {
    sqlite3_stmt *st = hob_sqlite_stmt(c, sql);
    if (!st) return NULL;
    sqlite3_bind_int64(st, 1, p->session);
    hob_sqlite_bind_str(st, 2, p->app);
    hob_sqlite_bind_str(st, 3, p->user);
    if (p->name.n) hob_sqlite_bind_str(st, 4, p->name);
    return st;
}

static int run_with(hob_sqlite_conn *c, int sql, int64_t number) {
    sqlite3_stmt *st = hob_sqlite_stmt(c, sql);
    if (!st) return -1;
    sqlite3_bind_int64(st, 1, number);
    return hob_sqlite_run(st);
}

/* Steps to the end; the blobs that were named go, unless somebody else names them. How many rows, or -1. */
static int delete_rows(hob_sqlite_conn *c, sqlite3_stmt *st) {
    int64_t blob;
    hob_buf blobs;
    int rc, n = 0;
    hob_buf_init(&blobs, (HOB_STORE_SHELF_MAX + HOB_STORE_CLAIM_MAX) * sizeof(blob));
    for (; (rc = sqlite3_step(st)) == SQLITE_ROW; n++) {
        blob = sqlite3_column_int64(st, 0);
        if (sqlite3_column_type(st, 0) != SQLITE_NULL)
            hob_buf_add(&blobs, hob_str_n((const char *)&blob, sizeof(blob)));
    }
    rc = hob_sqlite_end(st, rc);
    for (size_t i = 0; rc == 0 && i + sizeof(blob) <= blobs.n; i += sizeof(blob)) {
        memcpy(&blob, blobs.p + i, sizeof(blob));
        rc = run_with(c, HOB_SQL_TRASH_BLOB, blob);
    }
    hob_buf_finish(&blobs);
    return rc < 0 ? -1 : n;
}

/* ---- claiming ----------------------------------------------------------------------------- */

/* Those of processes that are gone. */
static int drop_dead(hob_sqlite *s, const hob_sqlite_place *p) {
    int64_t dead[CLAIMS_AT_ONCE];
    size_t n = 0;
    int rc;
    sqlite3_stmt *st = hob_sqlite_at(s->conn, HOB_SQL_ARTIFACT_CLAIMS, p);
    if (!st) return -1;
    sqlite3_bind_int64(st, 5, CLAIMS_AT_ONCE);
    while ((rc = sqlite3_step(st)) == SQLITE_ROW && n < CLAIMS_AT_ONCE) {
        hob_str owner = hob_str_z((const char *)sqlite3_column_text(st, 1));
        if (!hob_str_eqz(owner, s->owner.id) && !hob_owner_alive(s->owners_path, owner))
            dead[n++] = sqlite3_column_int64(st, 0);
    }
    rc = hob_sqlite_end(st, rc);
    for (size_t i = 0; i < n && rc == 0; i++)
        rc = run_with(s->conn, HOB_SQL_ARTIFACT_UNCLAIM, dead[i]);
    return rc;
}

int hob_sqlite_ask_at(sqlite3_stmt *st, int64_t *out, int64_t otherwise) {
    if (!st) return -1;
    int rc = sqlite3_step(st);
    bool is = rc == SQLITE_ROW && sqlite3_column_type(st, 0) != SQLITE_NULL;
    *out = is ? sqlite3_column_int64(st, 0) : otherwise;
    return hob_sqlite_end(st, rc);
}

static int claim(hob_sqlite *s, const hob_sqlite_place *p, int64_t *version) {
    if (drop_dead(s, p) < 0) return -1;
    if (hob_sqlite_ask_at(hob_sqlite_at(s->conn, HOB_SQL_ARTIFACT_NEXT, p), version, -1) < 0)
        return -1;
    sqlite3_stmt *st = hob_sqlite_at(s->conn, HOB_SQL_ARTIFACT_CLAIM, p);
    if (!st) return -1;
    sqlite3_bind_int64(st, 5, ++*version);
    hob_sqlite_bind_str(st, 6, hob_str_z(s->owner.id));
    return hob_sqlite_run(st);
}

/* Is there room on this shelf for all that is claimed, wherever that will stand? */
static int check_room(hob_sqlite *s, hob_store_req *r, hob_sqlite_place p) {
    int64_t n;
    hob_str name = p.name;
    p.name = HOB_STR_NULL;
    sqlite3_stmt *st = hob_sqlite_at(s->conn, HOB_SQL_ARTIFACT_COUNT, &p);
    if (st) sqlite3_bind_int64(st, 4, HOB_STORE_SHELF_MAX);
    if (hob_sqlite_ask_at(st, &n, 0) < 0) return -1;
    if ((size_t)n + r->nnames > HOB_STORE_SHELF_MAX)
        r->code = hob_store_say_shelf_full(hob_store_req_err(r), name);
    return 0;
}

static int claim_all(hob_sqlite *s, hob_store_req *r, int64_t session) {
    hob_store_artifact a = {.app = r->shelf.app, .user = r->shelf.user};
    bool checked[2] = {false, false}; /* the session's shelf, the user's */
    for (size_t i = 0; i < r->nnames && r->code >= 0; i++) {
        a.name = r->names[i];
        bool *done = &checked[hob_artifact_is_shared(a.name)];
        if (!*done && check_room(s, r, hob_sqlite_place_of(session, &a)) < 0) return -1;
        *done = true;
    }
    r->versions = hob_arena_alloc(hob_store_req_mem(r), (r->nnames + 1) * sizeof(*r->versions));
    for (; r->code >= 0 && r->n < r->nnames; r->n++) {
        a.name = r->names[r->n];
        hob_sqlite_place p = hob_sqlite_place_of(session, &a);
        if (claim(s, &p, &r->versions[r->n]) < 0) return -1;
    }
    return 0;
}

int hob_sqlite_claim(hob_sqlite *s, hob_store_req *r) {
    hob_sqlite_seat *seat;
    int64_t session = 0;
    if (r->shelf.session.n) {
        if (hob_sqlite_seat_get(s, r->shelf.session, &seat) < 0) return -1;
        session = seat->num;
        if (!seat->exists) r->code = hob_store_say_absent(hob_store_req_err(r), r->shelf.session);
    }
    hob_crash_point("store.claim.before");
    return r->code < 0 ? 0 : claim_all(s, r, session);
}

int hob_sqlite_unclaim(hob_sqlite *s) {
    sqlite3_stmt *st = hob_sqlite_stmt(s->conn, HOB_SQL_ARTIFACT_UNCLAIM_ALL);
    if (!st) return -1;
    hob_sqlite_bind_str(st, 1, hob_str_z(s->owner.id));
    return hob_sqlite_run(st);
}

/* ---- writing ------------------------------------------------------------------------------ */

int hob_sqlite_artifacts_check(hob_sqlite *s, hob_store_req *r, const hob_store_append *a,
                               int64_t session) {
    for (size_t i = 0; i < a->nartifacts && r->code >= 0; i++) {
        const hob_store_artifact *x = &a->artifacts[i];
        hob_sqlite_place p = hob_sqlite_place_of(session, x);
        int64_t there;
        if (x->removed) continue;
        sqlite3_stmt *st = hob_sqlite_at(s->conn, HOB_SQL_ARTIFACT_THERE, &p);
        if (st) sqlite3_bind_int64(st, 5, x->version);
        if (hob_sqlite_ask_at(st, &there, 0) < 0) return -1;
        if (there) r->code = hob_store_say_version_there(hob_store_req_err(r), x);
    }
    return 0;
}

static int put(hob_sqlite *s, const hob_sqlite_place *p, const hob_store_artifact *a,
               int64_t blob) {
    sqlite3_stmt *st = hob_sqlite_at(s->conn, HOB_SQL_ARTIFACT_PUT, p);
    if (!st) return -1;
    sqlite3_bind_int64(st, 5, a->version);
    hob_sqlite_bind_str(st, 6, a->mime);
    hob_sqlite_bind_str(st, 7, a->meta);
    sqlite3_bind_int64(st, 8, a->created_ms);
    sqlite3_bind_int64(st, 9, (int64_t)a->bytes.n);
    sqlite3_bind_int(st, 10, hob_sqlite_sum((uint64_t)a->version, a->bytes));
    if (blob) {
        sqlite3_bind_int64(st, 11, blob);
        sqlite3_bind_null(st, 12);
    } else {
        sqlite3_bind_null(st, 11);
        sqlite3_bind_blob64(st, 12, a->bytes.n ? a->bytes.p : "", a->bytes.n, SQLITE_STATIC);
    }
    return hob_sqlite_run(st);
}

static int put_one(hob_sqlite *s, int64_t session, const hob_store_artifact *a,
                   const unsigned char **hash) {
    hob_sqlite_place p = hob_sqlite_place_of(session, a);
    int64_t blob = 0;
    if (a->bytes.n > HOB_SQLITE_INLINE_MAX) {
        if (!a->removed && hob_sqlite_put_blob(s, *hash, a->bytes, &blob) < 0) return -1;
        *hash += crypto_hash_sha256_BYTES;
    }
    if (!a->removed) return put(s, &p, a, blob);
    sqlite3_stmt *st = hob_sqlite_at(s->conn, HOB_SQL_ARTIFACT_DELETE, &p);
    return st && delete_rows(s->conn, st) >= 0 ? 0 : -1;
}

/* Large ones are shared: a blob stays while anybody names it. */
static int copy_all(hob_sqlite *s, const hob_store_copy *c, int64_t session) {
    hob_sqlite_place p = {.session = session, .app = c->app, .user = c->user};
    hob_sqlite_seat *from;
    if (hob_sqlite_seat_get(s, c->from, &from) < 0) return -1;
    if (!from->num) return 0;
    sqlite3_stmt *st = hob_sqlite_at(s->conn, HOB_SQL_ARTIFACT_COPY, &p);
    if (!st) return -1;
    sqlite3_bind_int64(st, 4, from->num);
    sqlite3_bind_int64(st, 5, c->until_ms);
    return hob_sqlite_run(st);
}

int hob_sqlite_put_artifacts(hob_sqlite *s, const hob_store_append *a, int64_t session,
                             const unsigned char **hash) {
    if (a->copy && copy_all(s, a->copy, session) < 0) return -1;
    if (!a->nartifacts) return 0;
    hob_crash_point("store.artifact.before");
    for (size_t i = 0; i < a->nartifacts; i++) {
        if (put_one(s, session, &a->artifacts[i], hash) < 0) return -1;
    }
    hob_crash_point("store.artifact.after");
    return 0;
}

int hob_sqlite_artifacts_purge(hob_sqlite_conn *c, int64_t session) {
    sqlite3_stmt *st = hob_sqlite_stmt(c, HOB_SQL_TRASH_ARTIFACTS);
    if (!st) return -1;
    sqlite3_bind_int64(st, 1, session);
    sqlite3_bind_int64(st, 2, PURGE_AT_ONCE);
    int n = delete_rows(c, st);
    return n < 0 ? -1 : n == PURGE_AT_ONCE;
}
