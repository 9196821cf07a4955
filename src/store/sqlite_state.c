/*
 * sqlite_state.c - values that sessions of one application or user share.
 *
 * They change in the transaction of the events that say so: after a crash both are there, or neither.
 */
#include "store/sqlite.h"

#define STATES_MAX ((size_t)256 << 20) /* bytes of one answer; sessions keep far below */

static int put(hob_sqlite *s, const hob_store_state *state) {
    sqlite3_stmt *st =
        hob_sqlite_stmt(s->conn, state->removed ? HOB_SQL_STATE_DELETE : HOB_SQL_STATE_PUT);
    if (!st) return -1;
    hob_sqlite_bind_str(st, 1, state->app);
    hob_sqlite_bind_str(st, 2, state->user);
    hob_sqlite_bind_str(st, 3, state->key);
    if (!state->removed) hob_sqlite_bind_str(st, 4, state->value);
    return hob_sqlite_run(st);
}

int hob_sqlite_put_states(hob_sqlite *s, const hob_store_state *states, size_t n) {
    if (!n) return 0;
    hob_crash_point("store.state.before");
    for (size_t i = 0; i < n; i++) {
        if (put(s, &states[i]) < 0) return -1;
    }
    hob_crash_point("store.state.after");
    return 0;
}

static int too_much(hob_store_req *r) {
    return hob_fail(hob_store_req_err(r), HOB_ETOOBIG, 0,
                    "the values that sessions of %.*s share are over %zu bytes: remove some",
                    HOB_FMT(r->app), STATES_MAX);
}

/* Room doubles: how many there are is not known before. */
static bool add_row(hob_store_req *r, size_t *cap, hob_arena *mem) {
    if (r->n < *cap) return true;
    size_t more = *cap ? 2 * *cap : 64;
    hob_store_state *rows = hob_arena_alloc(mem, more * sizeof(*rows));
    if (!rows) return false;
    if (r->n) memcpy(rows, r->states, r->n * sizeof(*rows));
    r->states = rows;
    *cap = more;
    return true;
}

static int read_rows(sqlite3_stmt *st, hob_store_req *r, int *step) {
    hob_arena *mem = hob_store_req_mem(r);
    size_t cap = 0;
    while ((*step = sqlite3_step(st)) == SQLITE_ROW) {
        if (!add_row(r, &cap, mem)) return too_much(r);
        hob_store_state *row = &r->states[r->n++];
        row->app = hob_sqlite_bytes(st, 0, mem);
        row->user = hob_sqlite_bytes(st, 1, mem);
        row->key = hob_sqlite_bytes(st, 2, mem);
        row->value = hob_sqlite_bytes(st, 3, mem);
        if (!row->value.p || hob_arena_used(mem) > STATES_MAX) return too_much(r);
    }
    return 0;
}

int hob_sqlite_read_states(hob_sqlite_conn *c, hob_store_req *r) {
    sqlite3_stmt *st = hob_sqlite_stmt(c, HOB_SQL_STATES);
    int step = SQLITE_DONE;
    if (!st) return hob_sqlite_fail(c, hob_store_req_err(r));
    hob_sqlite_bind_str(st, 1, r->app);
    hob_sqlite_bind_str(st, 2, r->tenant);
    int rc = read_rows(st, r, &step);
    if (hob_sqlite_end(st, step) < 0 && rc >= 0) rc = hob_sqlite_fail(c, hob_store_req_err(r));
    return rc;
}
