/*
 * sqlite_schema.c - tables, versions, and what is checked when a file is opened.
 *
 * The version is SQLite's user_version. The steps to the newest one are one transaction together with
 * its number, so a crash leaves the file at one version or the other. A file of a newer version is refused
 * before anything is written to it.
 *
 * `event` is append-only and in the order of arrival; (session, seq) is an index beside it. That is three
 * times as fast as a table ordered by session, and reading a session is still one range of the index.
 * `head` is what every commit checks and moves, so its rows are small and apart from the index row.
 */
#include "store/sqlite.h"

#include <errno.h>
#include <stdio.h>

static const char version_1[] =
    "CREATE TABLE session("
    " num INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, cwd TEXT NOT NULL,"
    " title TEXT NOT NULL, model TEXT NOT NULL, parent TEXT NOT NULL, state TEXT NOT NULL,"
    " owner_name TEXT NOT NULL, owner_pid INTEGER NOT NULL, created_ms INTEGER NOT NULL,"
    " updated_ms INTEGER NOT NULL, messages INTEGER NOT NULL);"
    "CREATE INDEX session_updated ON session(updated_ms);"
    "CREATE INDEX session_cwd ON session(cwd, updated_ms);"
    "CREATE TABLE head("
    " session INTEGER PRIMARY KEY, owner TEXT, epoch INTEGER NOT NULL, last_seq INTEGER NOT NULL);"
    "CREATE INDEX head_owner ON head(owner) WHERE owner IS NOT NULL;"
    "CREATE TABLE event("
    " num INTEGER PRIMARY KEY, session INTEGER NOT NULL, seq INTEGER NOT NULL, body TEXT,"
    " blob INTEGER, sum INTEGER NOT NULL);"
    "CREATE UNIQUE INDEX event_seq ON event(session, seq);"
    "CREATE INDEX event_blob ON event(blob) WHERE blob IS NOT NULL;"
    "CREATE TABLE blob(num INTEGER PRIMARY KEY, hash BLOB NOT NULL UNIQUE, body BLOB NOT NULL);"
    "CREATE TABLE run("
    " num INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, session INTEGER NOT NULL,"
    " status TEXT NOT NULL, reason TEXT NOT NULL, prompt TEXT NOT NULL,"
    " started_ms INTEGER NOT NULL, finished_ms INTEGER NOT NULL);"
    "CREATE INDEX run_started ON run(started_ms);"
    "CREATE INDEX run_session ON run(session, started_ms);"
    "CREATE INDEX run_status ON run(status, started_ms);"
    "CREATE TABLE trash(session INTEGER PRIMARY KEY);"
    "PRAGMA application_id = 0x686f6273;";

/* Children are found by their parent; the lists that move with every commit hold the others only. */
static const char version_2[] =
    "ALTER TABLE session ADD COLUMN child INTEGER NOT NULL DEFAULT 0;"
    "DROP INDEX session_updated;"
    "DROP INDEX session_cwd;"
    "CREATE INDEX session_updated ON session(updated_ms) WHERE child = 0;"
    "CREATE INDEX session_cwd ON session(cwd, updated_ms) WHERE child = 0;"
    "CREATE INDEX session_parent ON session(parent) WHERE child = 1;";

/* Parts only grow at their end, as the session does; the head is small and written anew each time. */
static const char version_3[] =
    "CREATE TABLE snapshot("
    " session INTEGER PRIMARY KEY, seq INTEGER NOT NULL, after INTEGER NOT NULL,"
    " head BLOB NOT NULL);"
    "CREATE TABLE snapshot_part("
    " num INTEGER PRIMARY KEY, session INTEGER NOT NULL, body BLOB NOT NULL);"
    "CREATE INDEX snapshot_part_session ON snapshot_part(session);";

/* What sessions of one application, or of one user of it, share; user '' = the application itself. */
static const char version_4[] =
    "CREATE TABLE state("
    " app TEXT NOT NULL, user TEXT NOT NULL, key TEXT NOT NULL, value TEXT NOT NULL,"
    " PRIMARY KEY(app, user, key)) WITHOUT ROWID;";

/* The index keeps neither positions nor lengths: an item has a term or has it not. */
static const char version_5[] =
    "CREATE TABLE tenant("
    " num INTEGER PRIMARY KEY AUTOINCREMENT, app TEXT NOT NULL, user TEXT NOT NULL,"
    " items INTEGER NOT NULL, bytes INTEGER NOT NULL, UNIQUE(app, user));"
    "CREATE TABLE tenant_trash(tenant INTEGER PRIMARY KEY);"
    "CREATE TABLE memory("
    " num INTEGER PRIMARY KEY AUTOINCREMENT, tenant INTEGER NOT NULL, id TEXT NOT NULL,"
    " text TEXT NOT NULL, kind TEXT NOT NULL, maker TEXT NOT NULL, session TEXT NOT NULL,"
    " run TEXT NOT NULL, tags TEXT NOT NULL, terms TEXT NOT NULL, importance REAL NOT NULL,"
    " created_ms INTEGER NOT NULL, updated_ms INTEGER NOT NULL, UNIQUE(tenant, id));"
    "CREATE INDEX memory_tenant ON memory(tenant);"
    "CREATE VIRTUAL TABLE memory_terms USING fts5("
    " terms, content='memory', content_rowid='num', tokenize='ascii', detail='none',"
    " columnsize=0);";

/* Whose a session is stood in its first event only. Runs have it too: a list is one range of one index. */
#define FIRST_EVENT_SAYS(key, otherwise)                                                                  \
    "coalesce((SELECT json_extract(line, '$.data." key "') FROM (SELECT "                                 \
    "coalesce(e.body, CAST(b.body AS TEXT)) AS line FROM event e LEFT JOIN blob b "                       \
    "ON b.num = e.blob WHERE e.session = session.num AND e.seq = 1) WHERE json_valid(line)), '" otherwise \
    "')"
static const char version_6[] =
    "ALTER TABLE session ADD COLUMN app TEXT NOT NULL DEFAULT '';"
    "ALTER TABLE session ADD COLUMN user TEXT NOT NULL DEFAULT '';"
    "ALTER TABLE run ADD COLUMN app TEXT NOT NULL DEFAULT '';"
    "ALTER TABLE run ADD COLUMN user TEXT NOT NULL DEFAULT '';"
    "UPDATE session SET app = " FIRST_EVENT_SAYS("app_name", "hob") ", user = " FIRST_EVENT_SAYS(
        "user_id",
        "local") ";"
                 "UPDATE run SET (app, user) = (SELECT app, user FROM session WHERE num = run.session);"
                 "CREATE INDEX session_tenant ON session(app, user, updated_ms) WHERE child = 0;"
                 "CREATE INDEX session_tenant_all ON session(app, user);"
                 "CREATE INDEX run_tenant ON run(app, user, started_ms);";

/* session 0: the user's, whichever session made it. A row with an owner is a claim: a version that a process will write, or
 * has died over. The body stands last, so that lists do not read it. */
static const char version_7[] =
    "CREATE TABLE artifact("
    " num INTEGER PRIMARY KEY, session INTEGER NOT NULL, app TEXT NOT NULL, user TEXT NOT NULL,"
    " name TEXT NOT NULL, version INTEGER NOT NULL, owner TEXT, mime TEXT NOT NULL,"
    " meta TEXT NOT NULL, created_ms INTEGER NOT NULL, size INTEGER NOT NULL,"
    " sum INTEGER NOT NULL, blob INTEGER, body BLOB);"
    "CREATE UNIQUE INDEX artifact_version ON artifact(session, app, user, name, version);"
    "CREATE INDEX artifact_blob ON artifact(blob) WHERE blob IS NOT NULL;"
    "CREATE INDEX artifact_owner ON artifact(owner) WHERE owner IS NOT NULL;";

/* What is found by its words (sqlite_search.c). Documents are filled in by whoever searches first. */
static const char version_8[] =
    "CREATE TABLE search_tenant("
    " num INTEGER PRIMARY KEY, app TEXT NOT NULL, user TEXT NOT NULL, UNIQUE(app, user));"
    "CREATE TABLE search_head("
    " session INTEGER PRIMARY KEY, seq INTEGER NOT NULL, title TEXT NOT NULL);"
    "CREATE TABLE search_doc("
    " num INTEGER PRIMARY KEY, session INTEGER NOT NULL, seq INTEGER NOT NULL,"
    " terms TEXT NOT NULL);"
    "CREATE INDEX search_doc_session ON search_doc(session, seq);"
    "CREATE VIRTUAL TABLE search_terms USING fts5("
    " terms, content='search_doc', content_rowid='num', tokenize='ascii', detail='none',"
    " columnsize=0);";

/* Where the events of a run stand, so that they are found however long the session is. */
static const char version_9[] = "ALTER TABLE run ADD COLUMN first_seq INTEGER NOT NULL DEFAULT 0;"
                                "ALTER TABLE run ADD COLUMN last_seq INTEGER NOT NULL DEFAULT 0;";

/* steps[n] leads from version n to n + 1 */
static const char *const steps[HOB_SQLITE_VERSION] = {version_1, version_2, version_3,
                                                      version_4, version_5, version_6,
                                                      version_7, version_8, version_9};

static int ask(hob_sqlite_conn *c, const char *sql, int64_t *out) {
    sqlite3_stmt *st;
    if (sqlite3_prepare_v2(c->db, sql, -1, &st, NULL) != SQLITE_OK) return -1;
    int rc = sqlite3_step(st);
    if (rc == SQLITE_ROW) *out = sqlite3_column_int64(st, 0);
    sqlite3_finalize(st);
    return rc == SQLITE_ROW ? 0 : -1;
}

/* Whose file is it? An empty one is ours to fill. */
static int identify(hob_sqlite_conn *c, int64_t *version, hob_error *err) {
    int64_t application, objects;
    if (ask(c, "PRAGMA user_version", version) < 0 ||
        ask(c, "PRAGMA application_id", &application) < 0 ||
        ask(c, "SELECT count(*) FROM sqlite_schema", &objects) < 0)
        return hob_sqlite_fail(c, err);
    if (application == HOB_SQLITE_APPLICATION && *version > HOB_SQLITE_VERSION)
        return hob_fail(err, HOB_EVERSION, (int)HOB_MIN(*version, (int64_t)INT32_MAX),
                        "the store %s was written by a newer hob (format %lld, this one knows %d): "
                        "use that version, or name another file; nothing was changed",
                        c->path, (long long)*version, HOB_SQLITE_VERSION);
    bool empty = objects == 0 && application == 0 && *version == 0;
    if (!empty && (application != HOB_SQLITE_APPLICATION || *version < 1))
        return hob_fail(
            err, HOB_ESTORE, 0,
            "%s is a database of another program, not a store of hob: name another file", c->path);
    return 0;
}

/* One transaction, one fsync, however many steps there are. */
static int step_up(hob_sqlite_conn *c, int64_t from, hob_error *err) {
    char number[64];
    snprintf(number, sizeof(number), "PRAGMA user_version = %d", HOB_SQLITE_VERSION);
    bool ok = hob_sqlite_exec(c, HOB_SQL_BEGIN) == 0;
    for (int64_t n = from; ok && n < HOB_SQLITE_VERSION; n++)
        ok = sqlite3_exec(c->db, steps[n], NULL, NULL, NULL) == SQLITE_OK;
    if (ok && sqlite3_exec(c->db, number, NULL, NULL, NULL) == SQLITE_OK &&
        hob_sqlite_commit(c) == 0)
        return 0;
    int rc = hob_sqlite_fail(c, err);
    if (!sqlite3_get_autocommit(c->db)) hob_sqlite_exec(c, HOB_SQL_ROLLBACK);
    return rc;
}

static int use_wal(hob_sqlite_conn *c, hob_error *err) {
    sqlite3_stmt *st;
    if (sqlite3_prepare_v2(c->db, "PRAGMA journal_mode=WAL", -1, &st, NULL) != SQLITE_OK)
        return hob_sqlite_fail(c, err);
    int rc = 0;
    if (sqlite3_step(st) != SQLITE_ROW)
        rc = hob_sqlite_fail(c, err);
    else if (!hob_str_eqz(hob_str_z((const char *)sqlite3_column_text(st, 0)), "wal"))
        rc = hob_fail(err, HOB_ESTORE, ENOTSUP,
                      "no write-ahead log is possible for %s: put the store on a local disk",
                      c->path);
    sqlite3_finalize(st);
    return rc;
}

int hob_sqlite_migrate(hob_sqlite_conn *c, hob_error *err) {
    int64_t version;
    int rc = identify(c, &version, err);
    if (rc < 0) return rc;
    rc = use_wal(c, err);
    if (rc == 0 && version < HOB_SQLITE_VERSION) rc = step_up(c, version, err);
    return rc;
}

/* The newest event of all is the last of its session, unless that session was removed. */
static int check_last_event(hob_sqlite_conn *c, hob_error *err) {
    sqlite3_stmt *st = hob_sqlite_stmt(c, HOB_SQL_LAST_EVENT);
    if (!st) return hob_sqlite_fail(c, err);
    int step = sqlite3_step(st), rc = 0;
    if (step == SQLITE_ROW && sqlite3_column_type(st, 4) == SQLITE_NULL) {
        int64_t seq = sqlite3_column_int64(st, 0);
        bool is_inline = sqlite3_column_type(st, 1) != SQLITE_NULL;
        const char *body = sqlite3_column_blob(st, 1);
        hob_str json = hob_str_n(body, (size_t)sqlite3_column_bytes(st, 1));
        if (sqlite3_column_type(st, 3) == SQLITE_NULL || sqlite3_column_int64(st, 3) != seq)
            rc = hob_sqlite_damaged(c, "the newest event is not the last of its session", err);
        else if (is_inline && sqlite3_column_int(st, 2) != hob_sqlite_sum((uint64_t)seq, json))
            rc = hob_sqlite_damaged(c, "the newest event is not what was written", err);
    } else if (step != SQLITE_ROW && step != SQLITE_DONE) {
        rc = hob_sqlite_fail(c, err);
    }
    sqlite3_reset(st);
    return rc;
}

/* A statement that can be prepared has all its tables, columns and indices. */
int hob_sqlite_verify(hob_sqlite_conn *c, hob_error *err) {
    static const int needed[] = {HOB_SQL_SESSION_BY_ID, HOB_SQL_EVENT_ADD,   HOB_SQL_BLOB_FIND,
                                 HOB_SQL_RUN_PUT,       HOB_SQL_TRASH_NEXT,  HOB_SQL_SNAPSHOT_HEAD,
                                 HOB_SQL_STATES,        HOB_SQL_ARTIFACT_PUT};
    for (size_t i = 0; i < HOB_ARRAY_LEN(needed); i++) {
        if (!hob_sqlite_stmt(c, needed[i]))
            return (sqlite3_errcode(c->db) & 0xff) == SQLITE_ERROR
                       ? hob_sqlite_damaged(c, sqlite3_errmsg(c->db), err)
                       : hob_sqlite_fail(c, err);
    }
    return check_last_event(c, err);
}

int32_t hob_sqlite_sum(uint64_t seq, hob_str json) {
    return (int32_t)(uint32_t)(hob_sum(seq * 0x9e3779b97f4a7c15u, json) >> 32);
}
