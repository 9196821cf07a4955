/*
 * sqlite_apply.c - one request inside a transaction of the writer.
 *
 * A request is checked as a whole before its first write, so a refusal (fenced, wrong seq) leaves nothing
 * to undo and never hurts its neighbours in the group. What was read of a session holds until the
 * transaction ends, since nobody else can write meanwhile; its last_seq is written once a group.
 */
#include "store/sqlite.h"

#include <sodium.h>

#define SEATS_MAX 4096

/* ---- seats -------------------------------------------------------------------------------- */

static int seat_load(hob_sqlite *s, hob_str session, hob_sqlite_seat *seat) {
    int sql = seat->num ? HOB_SQL_SEAT_BY_NUM : HOB_SQL_SEAT_BY_ID;
    sqlite3_stmt *st = hob_sqlite_stmt(s->conn, sql);
    if (!st) return -1;
    if (seat->num)
        sqlite3_bind_int64(st, 1, seat->num);
    else
        hob_sqlite_bind_str(st, 1, session);
    int rc = sqlite3_step(st);
    seat->exists = rc == SQLITE_ROW;
    seat->num = seat->exists ? sqlite3_column_int64(st, 0) : 0;
    if (seat->exists) {
        const char *owner = (const char *)sqlite3_column_text(st, 1);
        seat->mine = owner && strcmp(owner, s->owner.id) == 0;
        seat->epoch = (uint64_t)sqlite3_column_int64(st, 2);
        seat->last_seq = seat->written = (uint64_t)sqlite3_column_int64(st, 3);
    }
    return hob_sqlite_end(st, rc);
}

static hob_sqlite_seat *seat_find(hob_sqlite *s, hob_str session) {
    hob_sqlite_seat *seat = hob_map_get(s->seats, session);
    if (seat) return seat;
    seat = HOB_NEW(hob_sqlite_seat);
    hob_list_init(&seat->link);
    hob_map_put(s->seats, session, seat);
    return seat;
}

int hob_sqlite_seat_get(hob_sqlite *s, hob_str session, hob_sqlite_seat **out) {
    hob_sqlite_seat *seat = *out = seat_find(s, session);
    if (seat->group == s->group) return 0;
    bool by_num = seat->num != 0;
    int rc = seat_load(s, session, seat);
    if (rc == 0 && by_num && !seat->exists) /* removed; perhaps made again with another number */
        rc = seat_load(s, session, seat);
    if (rc == 0) seat->group = s->group;
    return rc;
}

static int seat_write(hob_sqlite *s, hob_sqlite_seat *seat) {
    hob_list_remove(&seat->link);
    seat->dirty = false;
    seat->written = seat->last_seq;
    sqlite3_stmt *st = hob_sqlite_stmt(s->conn, HOB_SQL_HEAD_SEQ);
    if (!st) return -1;
    sqlite3_bind_int64(st, 1, seat->num);
    sqlite3_bind_int64(st, 2, (int64_t)seat->last_seq);
    return hob_sqlite_run(st);
}

int hob_sqlite_seats_write(hob_sqlite *s) {
    int rc = 0;
    while (rc == 0 && !hob_list_empty(&s->dirty))
        rc = seat_write(s, HOB_LIST_FIRST(&s->dirty, hob_sqlite_seat, link));
    return rc;
}

int hob_sqlite_seat_forget(hob_sqlite *s, hob_str session) {
    hob_sqlite_seat *seat = hob_map_get(s->seats, session);
    if (!seat) return 0;
    int rc = seat->dirty ? seat_write(s, seat) : 0;
    seat->group = 0;
    return rc;
}

void hob_sqlite_seats_destroy(hob_sqlite *s) {
    size_t at = 0;
    void *seat;
    while (s->seats && hob_map_next(s->seats, &at, NULL, &seat)) hob_free(seat);
    hob_map_destroy(s->seats);
    s->seats = NULL;
    hob_list_init(&s->dirty);
}

void hob_sqlite_seats_trim(hob_sqlite *s) {
    if (s->seats && hob_map_count(s->seats) > SEATS_MAX) hob_sqlite_seats_destroy(s);
    if (!s->seats) s->seats = hob_map_create();
}

/* ---- commit: checks ----------------------------------------------------------------------- */

/* A run that exists must be of this session. */
static int check_run(hob_sqlite *s, hob_store_req *r, hob_str id, int64_t session) {
    sqlite3_stmt *st = hob_sqlite_stmt(s->conn, HOB_SQL_RUN_FIND);
    if (!st) return -1;
    hob_sqlite_bind_str(st, 1, id);
    int rc = sqlite3_step(st);
    if (rc == SQLITE_ROW && sqlite3_column_int64(st, 0) != session)
        r->code = hob_store_say_foreign_run(hob_store_req_err(r), id);
    return hob_sqlite_end(st, rc);
}

static int check_append(hob_sqlite *s, hob_store_req *r, const hob_store_append *a) {
    hob_sqlite_seat *seat;
    if (hob_sqlite_seat_get(s, a->session, &seat) < 0) return -1;
    if (!seat->exists)
        r->code = hob_store_say_absent(hob_store_req_err(r), a->session);
    else if (!seat->mine || seat->epoch != a->epoch)
        r->code = hob_store_say_fenced(hob_store_req_err(r), a, seat->epoch);
    else if (seat->last_seq != a->after_seq)
        r->code = hob_store_say_seq(hob_store_req_err(r), a, seat->last_seq);
    for (size_t i = 0; i < a->nruns && r->code >= 0; i++) {
        if (check_run(s, r, a->runs[i].id, seat->num) < 0) return -1;
    }
    return r->code < 0 ? 0 : hob_sqlite_artifacts_check(s, r, a, seat->num);
}

/* The usual case in one statement: events for a session that is known and as the caller believes. All
 * checks are in its condition; if it does not hold, nothing happened and check_append says why. */
static int claim(hob_sqlite *s, const hob_store_append *a) {
    hob_sqlite_seat *seat = seat_find(s, a->session);
    if (seat->group == s->group || !seat->num || a->nruns || !a->nevents || a->nartifacts) return 0;
    sqlite3_stmt *st = hob_sqlite_stmt(s->conn, HOB_SQL_HEAD_SEQ_IF);
    if (!st) return -1;
    sqlite3_bind_int64(st, 1, seat->num);
    sqlite3_bind_int64(st, 2, (int64_t)(a->after_seq + a->nevents));
    sqlite3_bind_int64(st, 3, (int64_t)a->after_seq);
    sqlite3_bind_int64(st, 4, (int64_t)a->epoch);
    hob_sqlite_bind_str(st, 5, hob_str_z(s->owner.id));
    if (hob_sqlite_run(st) < 0) return -1;
    if (sqlite3_changes(s->conn->db) == 0) return 0;
    seat->group = s->group;
    seat->exists = seat->mine = true;
    seat->epoch = a->epoch;
    seat->last_seq = a->after_seq;
    seat->written = a->after_seq + a->nevents;
    return 0;
}

/* ---- commit: writes ----------------------------------------------------------------------- */

static void hash_one(hob_store_req *r, size_t *n, hob_str body) {
    size_t size = crypto_hash_sha256_BYTES;
    if (body.n <= HOB_SQLITE_INLINE_MAX) return;
    r->hashes = hob_realloc(r->hashes, (*n + 1) * size);
    crypto_hash_sha256(r->hashes + (*n)++ * size, (const unsigned char *)body.p, body.n);
}

/* In the order in which they are written. */
void hob_sqlite_hash(hob_store_req *r) {
    size_t n = 0;
    for (size_t i = 0; i < r->nappends; i++) {
        const hob_store_append *a = &r->appends[i];
        for (size_t k = 0; k < a->nevents; k++) hash_one(r, &n, a->events[k].json);
        for (size_t k = 0; k < a->nartifacts; k++) hash_one(r, &n, a->artifacts[k].bytes);
    }
}

int hob_sqlite_put_blob(hob_sqlite *s, const unsigned char *hash, hob_str body, int64_t *num) {
    sqlite3_stmt *st = hob_sqlite_stmt(s->conn, HOB_SQL_BLOB_FIND);
    if (!st) return -1;
    sqlite3_bind_blob(st, 1, hash, crypto_hash_sha256_BYTES, SQLITE_STATIC);
    int rc = sqlite3_step(st);
    *num = rc == SQLITE_ROW ? sqlite3_column_int64(st, 0) : 0;
    if (hob_sqlite_end(st, rc) < 0 || *num) return *num ? 0 : -1;
    st = hob_sqlite_stmt(s->conn, HOB_SQL_BLOB_ADD);
    if (!st) return -1;
    sqlite3_bind_blob(st, 1, hash, crypto_hash_sha256_BYTES, SQLITE_STATIC);
    sqlite3_bind_blob64(st, 2, body.p, body.n, SQLITE_STATIC);
    rc = hob_sqlite_run(st);
    *num = sqlite3_last_insert_rowid(s->conn->db);
    return rc;
}

static int add_event(hob_sqlite *s, int64_t session, const hob_store_event *e,
                     const unsigned char **hash) {
    int64_t blob = 0;
    if (e->json.n > HOB_SQLITE_INLINE_MAX) {
        if (hob_sqlite_put_blob(s, *hash, e->json, &blob) < 0) return -1;
        *hash += crypto_hash_sha256_BYTES;
    }
    sqlite3_stmt *st = hob_sqlite_stmt(s->conn, HOB_SQL_EVENT_ADD);
    if (!st) return -1;
    sqlite3_bind_int64(st, 1, session);
    sqlite3_bind_int64(st, 2, (int64_t)e->seq);
    if (blob) {
        sqlite3_bind_null(st, 3);
        sqlite3_bind_int64(st, 4, blob);
    } else {
        hob_sqlite_bind_str(st, 3, e->json);
        sqlite3_bind_null(st, 4);
    }
    sqlite3_bind_int(st, 5, hob_sqlite_sum(e->seq, e->json));
    return hob_sqlite_run(st);
}

static int put_run(hob_sqlite *s, int64_t session, const hob_store_run *run) {
    sqlite3_stmt *st = hob_sqlite_stmt(s->conn, HOB_SQL_RUN_PUT);
    if (!st) return -1;
    hob_sqlite_bind_str(st, 1, run->id);
    sqlite3_bind_int64(st, 2, session);
    hob_sqlite_bind_text(st, 3, run->status);
    hob_sqlite_bind_text(st, 4, run->reason);
    hob_sqlite_bind_text(st, 5, run->prompt);
    hob_sqlite_bind_number(st, 6, run->started_ms);
    hob_sqlite_bind_number(st, 7, run->finished_ms);
    hob_sqlite_bind_text(st, 8, run->continues);
    sqlite3_bind_int64(st, 9, (int64_t)run->first_seq);
    sqlite3_bind_int64(st, 10, (int64_t)run->last_seq);
    return hob_sqlite_run(st);
}

static int put_row(hob_sqlite *s, int64_t session, const hob_store_session *row) {
    sqlite3_stmt *st = hob_sqlite_stmt(s->conn, HOB_SQL_SESSION_ROW);
    if (!st) return -1;
    sqlite3_bind_int64(st, 1, session);
    hob_sqlite_bind_text(st, 2, row->cwd);
    hob_sqlite_bind_text(st, 3, row->title);
    hob_sqlite_bind_text(st, 4, row->model);
    hob_sqlite_bind_text(st, 5, row->parent);
    hob_sqlite_bind_text(st, 6, row->state);
    hob_sqlite_bind_number(st, 7, row->created_ms);
    hob_sqlite_bind_number(st, 8, row->updated_ms);
    hob_sqlite_bind_number(st, 9, row->messages);
    return hob_sqlite_run(st);
}

static int write_append(hob_sqlite *s, const hob_store_append *a, const unsigned char **hash) {
    hob_sqlite_seat *seat;
    if (hob_sqlite_seat_get(s, a->session, &seat) < 0) return -1;
    for (size_t i = 0; i < a->nevents; i++) {
        if (add_event(s, seat->num, &a->events[i], hash) < 0) return -1;
    }
    seat->last_seq += a->nevents;
    if (a->row && put_row(s, seat->num, a->row) < 0) return -1;
    if (seat->last_seq != seat->written && !seat->dirty) {
        seat->dirty = true;
        hob_list_push(&s->dirty, &seat->link);
    }
    for (size_t i = 0; i < a->nruns; i++) {
        if (put_run(s, seat->num, &a->runs[i]) < 0) return -1;
    }
    if (hob_sqlite_put_states(s, a->states, a->nstates) < 0) return -1;
    if (hob_sqlite_put_artifacts(s, a, seat->num, hash) < 0) return -1;
    return a->snapshot ? hob_sqlite_put_snapshot(s, seat->num, a->snapshot) : 0;
}

static int commit(hob_sqlite *s, hob_store_req *r) {
    if (r->nappends == 1 && !r->nchanges && claim(s, &r->appends[0]) < 0) return -1;
    for (size_t i = 0; i < r->nappends && r->code >= 0; i++) {
        if (check_append(s, r, &r->appends[i]) < 0) return -1;
    }
    if (r->nchanges && r->code >= 0 && hob_sqlite_memory_check(s, r) < 0) return -1;
    const unsigned char *hash = r->hashes;
    for (size_t i = 0; i < r->nappends && r->code >= 0; i++) {
        if (write_append(s, &r->appends[i], &hash) < 0) return -1;
    }
    for (size_t i = 0; i < r->nchanges && r->code >= 0; i++) {
        if (hob_sqlite_memory_change(s, &r->changes[i]) < 0) return -1;
    }
    return 0;
}

int hob_sqlite_apply(hob_sqlite *s, hob_store_req *r) {
    switch (r->op) {
    case HOB_OP_COMMIT: return commit(s, r);
    case HOB_OP_OWN: return hob_sqlite_own(s, r);
    case HOB_OP_RELEASE: return hob_sqlite_release(s, r);
    case HOB_OP_REMOVE: return hob_sqlite_remove(s, r);
    case HOB_OP_SEARCH: return hob_sqlite_search(s, r);
    case HOB_OP_CLAIM: return hob_sqlite_claim(s, r);
    case HOB_OP_READ:
    case HOB_OP_RECALL:
    case HOB_OP_STATES:
    case HOB_OP_SESSIONS:
    case HOB_OP_RUNS:
    case HOB_OP_MEMORIES:
    case HOB_OP_ARTIFACTS: break; /* not here */
    }
    return 0;
}
