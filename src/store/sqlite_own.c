/*
 * sqlite_own.c - whose session it is: taking, giving back, removing. Inside a transaction of the writer,
 * under the lock of the store, so two processes never decide about one session at the same time.
 */
#include "store/sqlite.h"

#include <stdio.h>
#include <unistd.h>

typedef struct holder {
    int64_t num, pid; /* num 0: no such session */
    uint64_t epoch;
    bool mine, alive; /* neither: nobody's */
    bool of_others;   /* it is not whose the request says */
    char name[128];
} holder;

static hob_str column(sqlite3_stmt *st, int at) {
    return hob_str_z((const char *)sqlite3_column_text(st, at));
}

/* Who holds it; what a dead owner left is cleared away. */
static int look(hob_sqlite *s, const hob_store_req *r, holder *h) {
    hob_str session = r->session;
    *h = (holder){0};
    sqlite3_stmt *st = hob_sqlite_stmt(s->conn, HOB_SQL_SESSION_BY_ID);
    if (!st || hob_sqlite_seat_forget(s, session) < 0) return -1;
    hob_sqlite_bind_str(st, 1, session);
    int rc = sqlite3_step(st);
    if (rc == SQLITE_ROW) {
        hob_str owner = column(st, 7);
        h->num = sqlite3_column_int64(st, 0);
        h->pid = sqlite3_column_int64(st, 9);
        h->epoch = (uint64_t)sqlite3_column_int64(st, 10);
        h->mine = hob_str_eqz(owner, s->owner.id);
        h->alive = owner.n && !h->mine && hob_owner_alive(s->owners_path, owner);
        if (owner.n && !h->mine && !h->alive) hob_owner_forget(s->owners_path, owner);
        hob_store_session of = {.app = column(st, 16), .user = column(st, 17)};
        h->of_others = !hob_store_req_may(r, &of);
        hob_str name = column(st, 8);
        name.n = hob_utf8_prefix(name, sizeof(h->name) - 1);
        memcpy(h->name, name.p, name.n);
    }
    return hob_sqlite_end(st, rc);
}

static int say_busy(hob_error *err, hob_str session, const holder *h) {
    char pid[40] = ""; /* a process without a name of its own is named by its id already */
    if (!hob_str_starts(hob_str_z(h->name), HOB_STR("pid ")))
        snprintf(pid, sizeof pid, " (pid %lld)", (long long)h->pid);
    return hob_fail(
        err, HOB_EBUSY, 0,
        "session %.*s is in use by %s%s: go on there, end that process, or fork the session",
        HOB_FMT(session), h->name, pid);
}

/* A statement on one session, with the owner as its second parameter if it has one. */
static int run_for(hob_sqlite *s, int sql, int64_t num) {
    sqlite3_stmt *st = hob_sqlite_stmt(s->conn, sql);
    if (!st) return -1;
    sqlite3_bind_int64(st, 1, num);
    if (sqlite3_bind_parameter_count(st) > 1) hob_sqlite_bind_str(st, 2, hob_str_z(s->owner.id));
    return hob_sqlite_run(st);
}

static int add(hob_sqlite *s, const hob_store_req *r) {
    sqlite3_stmt *st = hob_sqlite_stmt(s->conn, HOB_SQL_SESSION_ADD);
    if (!st) return -1;
    const hob_store_session *row = &r->row;
    hob_sqlite_bind_str(st, 1, r->session);
    hob_sqlite_bind_str(st, 2, row->cwd);
    hob_sqlite_bind_str(st, 3, row->title);
    hob_sqlite_bind_str(st, 4, row->model);
    hob_sqlite_bind_str(st, 5, row->parent);
    hob_sqlite_bind_str(st, 6, row->state);
    hob_sqlite_bind_str(st, 7, hob_str_z(s->owner_name));
    sqlite3_bind_int64(st, 8, getpid());
    sqlite3_bind_int64(st, 9, row->created_ms);
    sqlite3_bind_int64(st, 10, row->updated_ms);
    sqlite3_bind_int64(st, 11, row->messages);
    sqlite3_bind_int64(st, 12, row->child);
    hob_sqlite_bind_str(st, 13, row->app);
    hob_sqlite_bind_str(st, 14, row->user);
    if (hob_sqlite_run(st) < 0) return -1;
    return run_for(s, HOB_SQL_HEAD_ADD, sqlite3_last_insert_rowid(s->conn->db));
}

static int take(hob_sqlite *s, int64_t num) {
    sqlite3_stmt *st = hob_sqlite_stmt(s->conn, HOB_SQL_SESSION_HOLDER);
    if (!st) return -1;
    sqlite3_bind_int64(st, 1, num);
    hob_sqlite_bind_str(st, 2, hob_str_z(s->owner_name));
    sqlite3_bind_int64(st, 3, getpid());
    if (hob_sqlite_run(st) < 0) return -1;
    return run_for(s, HOB_SQL_HEAD_OWN, num);
}

static int answer(hob_sqlite *s, hob_store_req *r) {
    sqlite3_stmt *st = hob_sqlite_stmt(s->conn, HOB_SQL_SESSION_BY_ID);
    if (!st) return -1;
    hob_sqlite_bind_str(st, 1, r->session);
    int rc = sqlite3_step(st);
    if (rc == SQLITE_ROW) {
        r->rows = HOB_ARENA_NEW(hob_store_req_mem(r), hob_store_session);
        hob_sqlite_row(s, st, r->mem, r->rows);
        r->n = 1;
    }
    return hob_sqlite_end(st, rc);
}

int hob_sqlite_own(hob_sqlite *s, hob_store_req *r) {
    holder h;
    bool create = (r->flags & HOB_OWN_CREATE) != 0;
    if (look(s, r, &h) < 0) return -1;
    if (h.num && create)
        r->code = hob_store_say_exists(hob_store_req_err(r), r->session);
    else if (!create && (!h.num || h.of_others))
        r->code = hob_store_say_absent(hob_store_req_err(r), r->session);
    else if (h.alive)
        r->code = say_busy(hob_store_req_err(r), r->session, &h);
    if (r->code < 0) return 0;
    int rc = create ? add(s, r) : h.mine ? 0 : take(s, h.num);
    return rc < 0 ? rc : answer(s, r);
}

int hob_sqlite_release(hob_sqlite *s, hob_store_req *r) {
    holder h;
    if (look(s, r, &h) < 0) return -1;
    hob_store_append as = {.session = r->session, .epoch = r->epoch};
    if (!h.num)
        r->code = hob_store_say_absent(hob_store_req_err(r), r->session);
    else if (!h.mine || h.epoch != r->epoch)
        r->code = hob_store_say_fenced(hob_store_req_err(r), &as, h.epoch);
    if (r->code < 0) return 0;
    return run_for(s, HOB_SQL_HEAD_RELEASE, h.num);
}

/* The session is gone at once; its events follow piece by piece (sqlite_keep.c). */
int hob_sqlite_remove(hob_sqlite *s, hob_store_req *r) {
    static const int steps[] = {HOB_SQL_RUN_DELETE,         HOB_SQL_TRASH_ADD,
                                HOB_SQL_SEARCH_HEAD_DELETE, HOB_SQL_SNAPSHOT_DELETE,
                                HOB_SQL_HEAD_DELETE,        HOB_SQL_SESSION_DELETE};
    holder h;
    if (look(s, r, &h) < 0) return -1;
    if (!h.num)
        r->code = hob_store_say_absent(hob_store_req_err(r), r->session);
    else if (h.alive || h.mine)
        r->code = say_busy(hob_store_req_err(r), r->session, &h);
    if (r->code < 0) return 0;
    for (size_t i = 0; i < HOB_ARRAY_LEN(steps); i++) {
        if (run_for(s, steps[i], h.num) < 0) return -1;
    }
    s->trash = true;
    return 0;
}
