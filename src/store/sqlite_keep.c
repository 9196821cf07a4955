/*
 * sqlite_keep.c - what the writer does between groups: copying the WAL into the database, and clearing
 * away removed sessions piece by piece, so that neither makes anybody wait long.
 *
 * SQLite before 3.51.3 can lose pages when two connections reset and checkpoint one WAL at the same
 * moment. Here every commit and every checkpoint of every process holds the lock of the store, so the
 * moment does not exist.
 */
#include "store/sqlite.h"

#define WAL_LONG 1024  /* pages: copy what can be copied without waiting */
#define WAL_LEFT 256   /* pages: more are not left behind: whoever opens the file next reads them */
#define WAL_HUGE 16384 /* pages: try to cut the file too */
#define PURGE_ITEMS 128 /* of a cleared memory at a time */
#define PAGE_STEP                                                                                  \
    1024 /* pages: how much later the next try comes after one that did not get through */

/* A reader that needs old pages is not waited for: later is soon enough. */
static int checkpoint(hob_sqlite_conn *c, int mode, int *pages, int *copied) {
    hob_crash_point("store.checkpoint.before");
    int rc = sqlite3_wal_checkpoint_v2(c->db, NULL, mode, pages, copied);
    hob_crash_point("store.checkpoint.after");
    return rc;
}

/* Nobody waits for an answer here: it is said in the log, and what broke is opened anew. */
static void give_up(hob_sqlite *s, const char *what) {
    hob_error err;
    hob_sqlite_fail(s->conn, &err);
    hob_log(HOB_LOG_WARN, "store", "%s: %s", what, err.message);
    bool broken = hob_sqlite_sync_failed(s->conn);
    if (!sqlite3_get_autocommit(s->conn->db)) hob_sqlite_exec(s->conn, HOB_SQL_ROLLBACK);
    if (broken) hob_sqlite_file_abandon(s);
}

void hob_sqlite_checkpoint(hob_sqlite *s) {
    hob_sqlite_conn *c = s->conn;
    hob_error err;
    if (s->checkpoint_at < WAL_LONG) s->checkpoint_at = WAL_LONG;
    if (!c || c->wal_pages < WAL_LONG) {
        s->checkpoint_at = WAL_LONG; /* it started again from its beginning */
        return;
    }
    if (c->wal_pages < s->checkpoint_at || hob_filelock_take(&s->lock, s->lock_wait_ms, &err) < 0)
        return;
    int mode = c->wal_pages < WAL_HUGE ? SQLITE_CHECKPOINT_PASSIVE : SQLITE_CHECKPOINT_TRUNCATE;
    int pages = 0, copied = 0;
    sqlite3_busy_handler(c->db, NULL, NULL);
    int rc = checkpoint(c, mode, &pages, &copied);
    sqlite3_busy_timeout(c->db, HOB_SQLITE_BUSY_MS);
    hob_filelock_drop(&s->lock);
    s->checkpoint_at = c->wal_pages + PAGE_STEP;
    if (rc != SQLITE_OK && (rc & 0xff) != SQLITE_BUSY)
        give_up(s, "copying the log into the database");
}

/* Whoever else has the file open is not waited for: then it is theirs to do. */
void hob_sqlite_checkpoint_last(hob_sqlite *s) {
    hob_sqlite_conn *c = s->conn;
    int pages, copied;
    hob_error err;
    if (!c || c->wal_pages < WAL_LEFT || hob_filelock_take(&s->lock, s->lock_wait_ms, &err) < 0)
        return;
    sqlite3_busy_handler(c->db, NULL, NULL);
    int rc = checkpoint(c, SQLITE_CHECKPOINT_TRUNCATE, &pages, &copied);
    hob_filelock_drop(&s->lock);
    if (rc != SQLITE_OK && (rc & 0xff) != SQLITE_BUSY)
        hob_log(HOB_LOG_WARN, "store", "copying the log into the database: %s",
                sqlite3_errmsg(c->db));
}

int hob_sqlite_checkpoint_all(hob_sqlite *s, hob_error *err) {
    int pages, copied;
    int rc = checkpoint(s->conn, SQLITE_CHECKPOINT_TRUNCATE, &pages, &copied);
    return rc == SQLITE_OK ? 0 : hob_sqlite_fail(s->conn, err);
}

/* ---- the trash ---------------------------------------------------------------------------- */

static int run_with(hob_sqlite_conn *c, int sql, int64_t number) {
    sqlite3_stmt *st = hob_sqlite_stmt(c, sql);
    if (!st) return -1;
    sqlite3_bind_int64(st, 1, number);
    return hob_sqlite_run(st);
}

static int purge_events(hob_sqlite_conn *c, int64_t session, int64_t upto, hob_buf *blobs) {
    sqlite3_stmt *st = hob_sqlite_stmt(c, HOB_SQL_TRASH_EVENTS);
    if (!st) return -1;
    sqlite3_bind_int64(st, 1, session);
    sqlite3_bind_int64(st, 2, upto);
    int rc;
    while ((rc = sqlite3_step(st)) == SQLITE_ROW) {
        int64_t blob = sqlite3_column_int64(st, 0);
        if (sqlite3_column_type(st, 0) != SQLITE_NULL)
            hob_buf_add(blobs, hob_str_n((const char *)&blob, sizeof(blob)));
    }
    return hob_sqlite_end(st, rc);
}

/* A piece of one session; a blob goes with the last event that names it. */
static int purge_piece(hob_sqlite *s, int64_t session) {
    hob_sqlite_conn *c = s->conn;
    int64_t cut, blob;
    if (hob_sqlite_ask(c, HOB_SQL_TRASH_CUT, session, &cut) < 0) return -1;
    hob_buf blobs;
    hob_buf_init(&blobs, 256 * sizeof(blob));
    int rc = purge_events(c, session, cut < 0 ? INT64_MAX : cut, &blobs);
    for (size_t i = 0; rc == 0 && i + sizeof(blob) <= blobs.n; i += sizeof(blob)) {
        memcpy(&blob, blobs.p + i, sizeof(blob));
        rc = run_with(c, HOB_SQL_TRASH_BLOB, blob);
    }
    hob_buf_finish(&blobs);
    if (rc == 0 && cut < 0) rc = hob_sqlite_search_purge(c, session);
    if (rc == 0 && cut < 0) rc = hob_sqlite_artifacts_purge(c, session);
    if (rc > 0) return 0; /* the rest of them next time */
    if (rc == 0 && cut < 0) rc = run_with(c, HOB_SQL_PARTS_DELETE, session);
    if (rc == 0 && cut < 0) rc = run_with(c, HOB_SQL_TRASH_DONE, session);
    return rc;
}

/* Some of what a tenant remembered before it was cleared. */
static int purge_tenant(hob_sqlite *s, int64_t tenant) {
    int64_t nums[PURGE_ITEMS];
    size_t n = 0;
    int rc;
    sqlite3_stmt *st = hob_sqlite_stmt(s->conn, HOB_SQL_MEMORY_NEWEST);
    if (!st) return -1;
    sqlite3_bind_int64(st, 1, tenant);
    sqlite3_bind_int64(st, 2, INT64_MAX);
    sqlite3_bind_int64(st, 3, PURGE_ITEMS);
    while ((rc = sqlite3_step(st)) == SQLITE_ROW && n < PURGE_ITEMS)
        nums[n++] = sqlite3_column_int64(st, 0);
    if (hob_sqlite_end(st, rc) < 0) return -1;
    for (size_t i = 0; i < n; i++) {
        if (hob_sqlite_memory_erase(s->conn, nums[i]) < 0) return -1;
    }
    return n < PURGE_ITEMS ? run_with(s->conn, HOB_SQL_TENANT_TRASH_DONE, tenant) : 0;
}

/* What is waiting: a session, or a tenant. False: nothing, or it cannot be known. */
static bool find_trash(hob_sqlite_conn *c, int64_t *session, int64_t *tenant) {
    *session = *tenant = -1;
    if (hob_sqlite_ask(c, HOB_SQL_TRASH_NEXT, 0, session) < 0) return false;
    if (*session >= 0) return true;
    return hob_sqlite_ask(c, HOB_SQL_TENANT_TRASH_NEXT, 0, tenant) == 0 && *tenant >= 0;
}

void hob_sqlite_purge(hob_sqlite *s) {
    hob_sqlite_conn *c = s->conn;
    int64_t session, tenant;
    hob_error err;
    if (!c || !find_trash(c, &session, &tenant) ||
        hob_filelock_take(&s->lock, s->lock_wait_ms, &err) < 0) {
        s->trash = false; /* nothing to do, or left to the next who opens the file */
        return;
    }
    if (hob_sqlite_exec(c, HOB_SQL_BEGIN) < 0 ||
        (session >= 0 ? purge_piece(s, session) : purge_tenant(s, tenant)) < 0 ||
        hob_sqlite_commit(c) < 0) {
        s->trash = false;
        give_up(s, session >= 0 ? "clearing away a removed session" : "clearing away a memory");
    }
    hob_filelock_drop(&s->lock);
}
