/*
 * sqlite_conn.c - a connection: how it is set up, its statements, what its errors mean.
 */
#include "store/sqlite.h"

#include <errno.h>

const char *hob_sqlite_sql(int sql) {
    static const char *const texts[] = {
#define HOB_X(name, text) text,
        HOB_SQL(HOB_X) HOB_SQL_ARTIFACTS(HOB_X)
#undef HOB_X
    };
    return texts[sql];
}

/* ---- opening ------------------------------------------------------------------------------ */

static int note_wal_pages(void *user, sqlite3 *db, const char *schema, int pages) {
    (void)db, (void)schema;
    ((hob_sqlite_conn *)user)->wal_pages = pages;
    return SQLITE_OK;
}

/* Nothing here writes: the version is not known yet. A hook in place of the automatic checkpoint, and
 * none on close: checkpoints are made by the writer alone, under the lock of the store. */
static int set_up(hob_sqlite_conn *c, hob_sqlite_mode mode) {
    sqlite3_extended_result_codes(c->db, 1);
    sqlite3_busy_timeout(c->db, HOB_SQLITE_BUSY_MS);
    sqlite3_db_config(c->db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
    sqlite3_db_config(c->db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    sqlite3_db_config(c->db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
    sqlite3_wal_hook(c->db, note_wal_pages, c);
    if (mode == HOB_SQLITE_READER)
        return sqlite3_exec(c->db, "PRAGMA cache_size=-512; PRAGMA temp_store=MEMORY", NULL, NULL,
                            NULL);
    return sqlite3_exec(c->db,
                        "PRAGMA synchronous=FULL; PRAGMA secure_delete=OFF; "
                        "PRAGMA cache_size=-3072; PRAGMA temp_store=MEMORY",
                        NULL, NULL, NULL);
}

int hob_sqlite_conn_open(const char *path, hob_sqlite_mode mode, hob_sqlite_conn **out,
                         hob_error *err) {
    hob_sqlite_conn *c = HOB_NEW(hob_sqlite_conn);
    c->path = path;
    c->st = hob_alloc(HOB_SQL_COUNT_ * sizeof(sqlite3_stmt *));
    int flags = mode == HOB_SQLITE_READER ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE;
    if (sqlite3_open_v2(path, &c->db, flags | SQLITE_OPEN_NOMUTEX, NULL) != SQLITE_OK ||
        set_up(c, mode) != SQLITE_OK) {
        int rc = hob_sqlite_fail(c, err);
        hob_sqlite_conn_close(c);
        return rc;
    }
    *out = c;
    return 0;
}

void hob_sqlite_conn_close(hob_sqlite_conn *c) {
    if (!c) return;
    for (int i = 0; i < HOB_SQL_COUNT_; i++) sqlite3_finalize(c->st[i]);
    sqlite3_close(c->db);
    hob_free(c->st);
    hob_free(c);
}

/* ---- statements --------------------------------------------------------------------------- */

sqlite3_stmt *hob_sqlite_stmt(hob_sqlite_conn *c, int sql) {
    if (!c->st[sql])
        sqlite3_prepare_v3(c->db, hob_sqlite_sql(sql), -1, SQLITE_PREPARE_PERSISTENT, &c->st[sql],
                           NULL);
    return c->st[sql];
}

int hob_sqlite_end(sqlite3_stmt *st, int rc) {
    sqlite3_reset(st);
    return rc == SQLITE_DONE || rc == SQLITE_ROW ? 0 : -1;
}

int hob_sqlite_run(sqlite3_stmt *st) {
    int rc;
    do rc = sqlite3_step(st);
    while (rc == SQLITE_ROW);
    return hob_sqlite_end(st, rc);
}

int hob_sqlite_exec(hob_sqlite_conn *c, int sql) {
    sqlite3_stmt *st = hob_sqlite_stmt(c, sql);
    return st ? hob_sqlite_run(st) : -1;
}

int hob_sqlite_commit(hob_sqlite_conn *c) {
    hob_crash_point("store.commit.before");
    int rc = hob_sqlite_exec(c, HOB_SQL_COMMIT);
    hob_crash_point("store.commit.after");
    return rc;
}

int hob_sqlite_ask(hob_sqlite_conn *c, int sql, int64_t with, int64_t *out) {
    sqlite3_stmt *st = hob_sqlite_stmt(c, sql);
    if (!st) return -1;
    if (sqlite3_bind_parameter_count(st) > 0) sqlite3_bind_int64(st, 1, with);
    int rc = sqlite3_step(st);
    *out = rc == SQLITE_ROW ? sqlite3_column_int64(st, 0) : -1;
    return hob_sqlite_end(st, rc);
}

/* Bound memory stays where it is until the statement has run. */
void hob_sqlite_bind_str(sqlite3_stmt *st, int at, hob_str s) {
    sqlite3_bind_text64(st, at, s.p ? s.p : "", s.n, SQLITE_STATIC, SQLITE_UTF8);
}

void hob_sqlite_bind_text(sqlite3_stmt *st, int at, hob_str s) {
    if (s.n)
        hob_sqlite_bind_str(st, at, s);
    else
        sqlite3_bind_null(st, at);
}

void hob_sqlite_bind_number(sqlite3_stmt *st, int at, int64_t n) {
    if (n >= 0)
        sqlite3_bind_int64(st, at, n);
    else
        sqlite3_bind_null(st, at);
}

/* ---- errors ------------------------------------------------------------------------------- */

int hob_sqlite_damaged(const hob_sqlite_conn *c, const char *what, hob_error *err) {
    return hob_fail(
        err, HOB_ESTORE, EILSEQ,
        "the store %s is damaged (%s): put it aside together with %s-wal and bring back "
        "a copy, or let \"sqlite3 %s .recover\" save what can be read",
        c->path, what, c->path, c->path);
}

/* What the system said last about the WAL: SQLite itself does not pass it on. */
static int errno_of_wal(const hob_sqlite_conn *c) {
    sqlite3_file *wal = NULL;
    int why = 0;
    sqlite3_file_control(c->db, "main", SQLITE_FCNTL_JOURNAL_POINTER, &wal);
    if (wal && wal->pMethods) wal->pMethods->xFileControl(wal, SQLITE_FCNTL_LAST_ERRNO, &why);
    return why;
}

static int fail_access(const hob_sqlite_conn *c, hob_error *err) {
    char text[128];
    int why = sqlite3_system_errno(c->db);
    bool rights = !why || why == EACCES || why == EPERM || why == EROFS;
    return hob_fail(err, HOB_ESTORE, why ? why : EACCES, "cannot write the store %s (%s%s%s)%s",
                    c->path, sqlite3_errmsg(c->db), why ? ", " : "",
                    why ? strerror_r(why, text, sizeof(text)) : "",
                    rights ? ": check that this user may write the file and its folder" : "");
}

static int fail_io(const hob_sqlite_conn *c, hob_error *err) {
    char text[128];
    int why = sqlite3_system_errno(c->db);
    if (!why) why = errno_of_wal(c);
    if (!why) why = EIO;
    return hob_fail(err, HOB_ESTORE, why,
                    "reading or writing the store %s failed (%s, %s): check the disk and try again",
                    c->path, sqlite3_errmsg(c->db), strerror_r(why, text, sizeof(text)));
}

bool hob_sqlite_sync_failed(const hob_sqlite_conn *c) {
    int rc = sqlite3_extended_errcode(c->db);
    return rc == SQLITE_IOERR_FSYNC || rc == SQLITE_IOERR_DIR_FSYNC;
}

int hob_sqlite_fail(const hob_sqlite_conn *c, hob_error *err) {
    if (!c->db) return hob_fail(err, HOB_ESTORE, ENOMEM, "no memory to open the store %s", c->path);
    const char *what = sqlite3_errmsg(c->db);
    switch (sqlite3_errcode(c->db) & 0xff) {
    case SQLITE_FULL:
        return hob_fail(
            err, HOB_ESTORE, ENOSPC,
            "the disk is full and nothing of this was stored in %s: free some space and "
            "try again",
            c->path);
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB: return hob_sqlite_damaged(c, what, err);
    case SQLITE_READONLY:
    case SQLITE_CANTOPEN:
    case SQLITE_PERM: return fail_access(c, err);
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
        return hob_fail(err, HOB_ESTORE, EBUSY,
                        "another program keeps the store %s locked: end it and try again", c->path);
    case SQLITE_IOERR: return fail_io(c, err);
    default: return hob_fail(err, HOB_ESTORE, 0, "the store %s: %s", c->path, what);
    }
}
