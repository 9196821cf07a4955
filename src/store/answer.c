/*
 * answer.c - the way back of a request: its answer, its callback, its end.
 */
#include "store/request.h"

hob_error *hob_store_req_err(hob_store_req *r) {
    if (!r->err) r->err = HOB_NEW(hob_error);
    return r->err;
}

hob_arena *hob_store_req_mem(hob_store_req *r) {
    if (!r->mem) r->mem = hob_arena_create(0);
    return r->mem;
}

bool hob_store_req_reads(const hob_store_req *r) {
    switch (r->op) {
    case HOB_OP_READ:
    case HOB_OP_RECALL:
    case HOB_OP_STATES:
    case HOB_OP_SESSIONS:
    case HOB_OP_RUNS:
    case HOB_OP_MEMORIES:
    case HOB_OP_ARTIFACTS: return true;
    case HOB_OP_OWN: return (r->flags & HOB_OWN_READ) != 0;
    case HOB_OP_RELEASE:
    case HOB_OP_COMMIT:
    case HOB_OP_CLAIM:
    case HOB_OP_SEARCH:
    case HOB_OP_REMOVE: break;
    }
    return false;
}

bool hob_store_req_touches(const hob_store_req *r, hob_str session) {
    if (session.n == 0) return false;
    for (size_t i = 0; i < r->nappends; i++) {
        if (hob_str_eq(r->appends[i].session, session)) return true;
    }
    return hob_str_eq(r->session, session);
}

void hob_store_req_fail(hob_store_req *r, const hob_error *err) {
    r->code = err->code;
    *hob_store_req_err(r) = *err;
}

void hob_store_req_finish(hob_store_req *r) {
    const hob_error *err = r->code < 0 ? hob_store_req_err(r) : NULL;
    size_t n = r->code < 0 ? 0 : r->n;
    r->front->load -= r->load; /* before the callback, which may close the store */
    switch (r->op) {
    case HOB_OP_RELEASE:
    case HOB_OP_COMMIT:
    case HOB_OP_REMOVE: r->call.done(r->code, err, r->user); break;
    case HOB_OP_OWN: r->call.own(r->code, err, n ? r->rows : NULL, r->user); break;
    case HOB_OP_READ: r->call.events(r->code, err, r->events, n, n ? r->more : 0, r->user); break;
    case HOB_OP_RECALL:
        r->call.recall(r->code, err, r->code < 0 ? NULL : r->snapshot, r->events, n,
                       n ? r->more : 0, r->user);
        break;
    case HOB_OP_SESSIONS: r->call.sessions(r->code, err, r->rows, n, r->next, r->user); break;
    case HOB_OP_STATES: r->call.states(r->code, err, r->states, n, r->user); break;
    case HOB_OP_RUNS: r->call.runs(r->code, err, r->runs, n, r->next, r->user); break;
    case HOB_OP_MEMORIES:
        r->call.memories(r->code, err, r->memories, n, &r->stats, r->next, r->user);
        break;
    case HOB_OP_ARTIFACTS:
        r->call.artifacts(r->code, err, r->artifacts, n, r->next, r->user);
        break;
    case HOB_OP_SEARCH: r->call.hits(r->code, err, r->hits, n, r->next, r->user); break;
    case HOB_OP_CLAIM: r->call.claim(r->code, err, r->versions, n, r->user); break;
    }
    hob_arena_destroy(r->mem);
    hob_free(r->err);
    hob_free(r->hashes);
    hob_free(r);
}

bool hob_store_req_may(const hob_store_req *r, const hob_store_session *row) {
    return (!r->row.app.n || hob_str_eq(r->row.app, row->app)) &&
           (!r->row.user.n || hob_str_eq(r->row.user, row->user));
}

/* ---- what both stores say in the same words ----------------------------------------------- */

int hob_store_say_absent(hob_error *err, hob_str session) {
    return hob_fail(err, HOB_ENOENT, 0, "there is no session %.*s in this store", HOB_FMT(session));
}

int hob_store_say_exists(hob_error *err, hob_str session) {
    return hob_fail(err, HOB_EEXIST, 0, "session %.*s exists already: open it or choose another id",
                    HOB_FMT(session));
}

int hob_store_say_fenced(hob_error *err, const hob_store_append *a, uint64_t epoch) {
    return hob_fail(err, HOB_EFENCED, 0,
                    "session %.*s is no longer held here (epoch %llu, now %llu): open it again",
                    HOB_FMT(a->session), (unsigned long long)a->epoch, (unsigned long long)epoch);
}

int hob_store_say_seq(hob_error *err, const hob_store_append *a, uint64_t last) {
    return hob_fail(err, HOB_EEXIST, 0,
                    "session %.*s ends at event %llu, not at %llu: read what was added and decide "
                    "again",
                    HOB_FMT(a->session), (unsigned long long)last,
                    (unsigned long long)a->after_seq);
}

int hob_store_say_foreign_run(hob_error *err, hob_str run) {
    return hob_fail(err, HOB_EEXIST, 0, "run %.*s belongs to another session: choose another id",
                    HOB_FMT(run));
}

/* ---- cursors: "MS.ID" --------------------------------------------------------------------- */

int hob_store_cursor_parse(hob_str cursor, int64_t *ms, int64_t *id, hob_error *err) {
    *ms = *id = INT64_MAX;
    if (cursor.n == 0) return 0;
    ptrdiff_t dot = hob_str_chr(cursor, '.');
    if (dot > 0 && hob_str_int(hob_str_first(cursor, (size_t)dot), ms) >= 0 &&
        hob_str_int(hob_str_skip(cursor, (size_t)dot + 1), id) >= 0)
        return 0;
    return hob_fail(err, HOB_EINVAL, 0,
                    "\"%.*s\" is no cursor: pass on what the page before gave, or nothing",
                    (int)HOB_MIN(cursor.n, (size_t)80), cursor.p);
}

hob_str hob_store_cursor_make(hob_arena *a, int64_t ms, int64_t id) {
    hob_buf b;
    hob_buf_init(&b, 64);
    hob_buf_addf(&b, "%lld.%lld", (long long)ms, (long long)id);
    hob_str made = hob_arena_dup(a, hob_buf_str(&b));
    hob_buf_finish(&b);
    return made;
}
