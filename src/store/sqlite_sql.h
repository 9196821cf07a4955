/*
 * sqlite_sql.h - every statement of the SQLite store, in one place. Prepared once a connection.
 *
 * Lists page by key (time, number), never by offset, so every page costs the same; tests ask SQLite
 * for the plan of each.
 */
#ifndef HOB_SRC_STORE_SQLITE_SQL_H
#define HOB_SRC_STORE_SQLITE_SQL_H

#define HOB_SQL_SESSION_COLUMNS 18 /* and from there on what `from` adds to them */
#define HOB_SQL_SESSION_OF(from)                                                                   \
    "SELECT s.num, s.id, s.cwd, s.title, s.model, s.parent, s.state, owner, s.owner_name, "        \
    "s.owner_pid, epoch, s.created_ms, s.updated_ms, last_seq, s.messages, s.child, s.app, "       \
    "s.user" from
#define HOB_SQL_SESSION                                                                            \
    HOB_SQL_SESSION_OF(" FROM session s CROSS JOIN head ON head.session = s.num WHERE ")
#define HOB_SQL_RUN                                                                                \
    "r.num, r.id, s.id, r.status, r.reason, r.prompt, r.started_ms, r.finished_ms, h.owner, "      \
    "s.owner_name, r.app, r.user, r.first_seq, r.last_seq "                                        \
    "FROM run r CROSS JOIN session s ON s.num = r.session CROSS JOIN head h ON h.session = s.num WHERE "
#define HOB_SQL_RUN_PAGE                                                                           \
    "(r.started_ms, r.num) < (?1, ?2) ORDER BY r.started_ms DESC, r.num DESC LIMIT ?3"

/* Of a tenant, where another index than the tenant's leads. */
#define HOB_SQL_TENANT "(?6 IS NULL OR app = ?6) AND (?7 IS NULL OR user = ?7) AND "
#define HOB_SQL_RUN_TENANT "(?6 IS NULL OR r.app = ?6) AND (?7 IS NULL OR r.user = ?7) AND "

#define HOB_SQL_MEMORY                                                                             \
    "SELECT id, text, kind, maker, session, run, tags, importance, created_ms, updated_ms "        \
    "FROM memory WHERE "

/* X(NAME, text) */
#define HOB_SQL(X)                                                                                     \
    X(BEGIN, "BEGIN IMMEDIATE")                                                                        \
    X(BEGIN_READ, "BEGIN")                                                                             \
    X(COMMIT, "COMMIT")                                                                                \
    X(ROLLBACK, "ROLLBACK")                                                                            \
    X(SESSION_BY_ID, HOB_SQL_SESSION "id = ?1")                                                        \
    X(SEAT_BY_ID, "SELECT num, owner, epoch, last_seq FROM session "                                   \
                  "CROSS JOIN head ON head.session = session.num WHERE id = ?1")                       \
    X(SEAT_BY_NUM, "SELECT session, owner, epoch, last_seq FROM head WHERE session = ?1")              \
    X(SESSION_ADD,                                                                                     \
      "INSERT INTO session(id, cwd, title, model, parent, state, owner_name, owner_pid, "              \
      "created_ms, updated_ms, messages, child, app, user) "                                           \
      "VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14)")                           \
    X(SESSION_HOLDER, "UPDATE session SET owner_name = ?2, owner_pid = ?3 WHERE num = ?1")             \
    X(HEAD_ADD, "INSERT INTO head(session, owner, epoch, last_seq) VALUES(?1, ?2, 1, 0)")              \
    X(HEAD_OWN, "UPDATE head SET owner = ?2, epoch = epoch + 1 WHERE session = ?1")                    \
    X(HEAD_RELEASE, "UPDATE head SET owner = NULL WHERE session = ?1")                                 \
    X(HEAD_RELEASE_ALL, "UPDATE head SET owner = NULL WHERE owner = ?1")                               \
    X(HEAD_SEQ, "UPDATE head SET last_seq = ?2 WHERE session = ?1")                                    \
    X(HEAD_SEQ_IF, "UPDATE head SET last_seq = ?2 WHERE session = ?1 AND last_seq = ?3 AND "           \
                   "epoch = ?4 AND owner = ?5")                                                        \
    X(HEAD_DELETE, "DELETE FROM head WHERE session = ?1")                                              \
    X(SESSION_ROW, "UPDATE session SET cwd = coalesce(?2, cwd), title = coalesce(?3, title), "         \
                   "model = coalesce(?4, model), parent = coalesce(?5, parent), "                      \
                   "state = coalesce(?6, state), created_ms = coalesce(?7, created_ms), "              \
                   "updated_ms = coalesce(?8, updated_ms), messages = coalesce(?9, messages) "         \
                   "WHERE num = ?1")                                                                   \
    X(SESSION_DELETE, "DELETE FROM session WHERE num = ?1")                                            \
    X(EVENT_ADD, "INSERT INTO event(session, seq, body, blob, sum) VALUES(?1, ?2, ?3, ?4, ?5)")        \
    X(BLOB_FIND, "SELECT num FROM blob WHERE hash = ?1")                                               \
    X(BLOB_ADD, "INSERT INTO blob(hash, body) VALUES(?1, ?2)")                                         \
    X(RUN_FIND, "SELECT session FROM run WHERE id = ?1")                                               \
    X(RUN_PUT,                                                                                         \
      "INSERT INTO run(id, session, status, reason, prompt, started_ms, finished_ms, app, user, "      \
      "first_seq, last_seq) "                                                                          \
      "SELECT ?1, ?2, coalesce(?3, ''), coalesce(?4, ''), coalesce(?5, "                               \
      "(SELECT prompt FROM run WHERE id = ?8 AND session = ?2), ''), coalesce(?6, 0), "                \
      "coalesce(?7, 0), app, user, ?9, ?10 FROM session WHERE num = ?2 "                               \
      "ON CONFLICT(id) DO UPDATE SET status = coalesce(?3, status), "                                  \
      "reason = coalesce(?4, reason), prompt = coalesce(?5, prompt), "                                 \
      "started_ms = coalesce(?6, started_ms), finished_ms = coalesce(?7, finished_ms), "               \
      "first_seq = coalesce(nullif(?9, 0), first_seq), "                                               \
      "last_seq = coalesce(nullif(?10, 0), last_seq)")                                                 \
    X(RUN_DELETE, "DELETE FROM run WHERE session = ?1")                                                \
    X(TRASH_ADD, "INSERT INTO trash(session) VALUES(?1)")                                              \
    X(TRASH_NEXT, "SELECT session FROM trash LIMIT 1")                                                 \
    X(TRASH_CUT, "SELECT seq FROM event WHERE session = ?1 ORDER BY seq LIMIT 1 OFFSET 255")           \
    X(TRASH_EVENTS, "DELETE FROM event WHERE session = ?1 AND seq <= ?2 RETURNING blob")               \
    X(TRASH_BLOB,                                                                                      \
      "DELETE FROM blob WHERE num = ?1 AND NOT EXISTS (SELECT 1 FROM event WHERE blob = ?1) "          \
      "AND NOT EXISTS (SELECT 1 FROM artifact WHERE blob = ?1)")                                       \
    X(TRASH_DONE, "DELETE FROM trash WHERE session = ?1")                                              \
    X(EVENTS, "SELECT seq, body, blob, sum FROM event WHERE session = ?1 AND seq > ?2 "                \
              "ORDER BY seq LIMIT ?3")                                                                 \
    X(BLOB_BODY, "SELECT body FROM blob WHERE num = ?1")                                               \
    X(BLOB_SIZE, "SELECT length(body) FROM blob WHERE num = ?1")                                       \
    X(SNAPSHOT_PUT,                                                                                    \
      "INSERT OR REPLACE INTO snapshot(session, seq, after, head) VALUES(?1, ?2, ?3, ?4)")             \
    X(SNAPSHOT_DELETE, "DELETE FROM snapshot WHERE session = ?1")                                      \
    X(SNAPSHOT_HEAD, "SELECT seq, after, head FROM snapshot WHERE session = ?1")                       \
    X(PART_ADD, "INSERT INTO snapshot_part(session, body) VALUES(?1, ?2)")                             \
    X(PARTS_DELETE, "DELETE FROM snapshot_part WHERE session = ?1")                                    \
    X(PARTS, "SELECT body FROM snapshot_part WHERE session = ?1 ORDER BY num")                         \
    X(PARTS_COUNT, "SELECT count(*) FROM snapshot_part WHERE session = ?1")                            \
    X(STATE_PUT, "INSERT OR REPLACE INTO state(app, user, key, value) VALUES(?1, ?2, ?3, ?4)")         \
    X(STATE_DELETE, "DELETE FROM state WHERE app = ?1 AND user = ?2 AND key = ?3")                     \
    X(STATES, "SELECT app, user, key, value FROM state WHERE app = ?1 AND user IN ('', ?2) "           \
              "ORDER BY user, key")                                                                    \
    X(LAST_EVENT, "SELECT e.seq, e.body, e.sum, h.last_seq, t.session FROM event e "                   \
                  "LEFT JOIN head h ON h.session = e.session "                                         \
                  "LEFT JOIN trash t ON t.session = e.session "                                        \
                  "ORDER BY e.num DESC LIMIT 1")                                                       \
    X(SESSIONS, HOB_SQL_SESSION HOB_SQL_TENANT "child = 0 AND (updated_ms, num) < (?1, ?2) "           \
                                               "ORDER BY updated_ms DESC, num DESC LIMIT ?3")          \
    X(SESSIONS_CWD,                                                                                    \
      HOB_SQL_SESSION HOB_SQL_TENANT "child = 0 AND cwd = ?4 AND (updated_ms, num) < (?1, ?2) "        \
                                     "ORDER BY updated_ms DESC, num DESC LIMIT ?3")                    \
    X(SESSIONS_TENANT,                                                                                 \
      HOB_SQL_SESSION "child = 0 AND app = ?6 AND user = ?7 AND (updated_ms, num) < (?1, ?2) "         \
                      "ORDER BY updated_ms DESC, num DESC LIMIT ?3")                                   \
    X(SESSIONS_ALL, HOB_SQL_SESSION HOB_SQL_TENANT "num < ?2 ORDER BY num DESC LIMIT ?3")              \
    X(SESSIONS_TENANT_ALL,                                                                             \
      HOB_SQL_SESSION "app = ?6 AND user = ?7 AND num < ?2 ORDER BY num DESC LIMIT ?3")                \
    X(SESSIONS_OF, HOB_SQL_SESSION HOB_SQL_TENANT                                                      \
      "child = 1 AND parent = ?4 AND num < ?2 ORDER BY num DESC LIMIT ?3")                             \
    X(RUNS, "SELECT " HOB_SQL_RUN HOB_SQL_RUN_TENANT HOB_SQL_RUN_PAGE)                                 \
    X(RUNS_STATUS, "SELECT " HOB_SQL_RUN HOB_SQL_RUN_TENANT "r.status = ?5 AND " HOB_SQL_RUN_PAGE)     \
    X(RUNS_TENANT, "SELECT " HOB_SQL_RUN "r.app = ?6 AND r.user = ?7 AND "                             \
                   "(?5 IS NULL OR r.status = ?5) AND " HOB_SQL_RUN_PAGE)                              \
    X(RUNS_SESSION, "SELECT " HOB_SQL_RUN HOB_SQL_RUN_TENANT                                           \
                    "r.session = (SELECT num FROM session WHERE id = ?4) AND "                         \
                    "(?5 IS NULL OR r.status = ?5) AND " HOB_SQL_RUN_PAGE)                             \
    X(RUN_BY_ID, "SELECT " HOB_SQL_RUN HOB_SQL_RUN_TENANT "r.id = ?4 AND " HOB_SQL_RUN_PAGE)           \
    X(SEARCH_TENANT, "SELECT num FROM search_tenant WHERE app = ?1 AND user = ?2")                     \
    X(SEARCH_TENANT_ADD, "INSERT OR IGNORE INTO search_tenant(app, user) VALUES(?1, ?2)")              \
    X(SEARCH_BEHIND,                                                                                   \
      "SELECT s.num, h.last_seq, coalesce(i.seq, 0), s.updated_ms, s.title <> coalesce(i.title, ''), " \
      "s.title FROM session s CROSS JOIN head h ON h.session = s.num "                                 \
      "LEFT JOIN search_head i ON i.session = s.num WHERE s.app = ?1 AND s.user = ?2 AND "             \
      "s.num > ?3 AND (h.last_seq > coalesce(i.seq, 0) OR s.title <> coalesce(i.title, '')) "          \
      "ORDER BY s.num LIMIT 1")                                                                        \
    X(SEARCH_HEAD_PUT,                                                                                 \
      "INSERT OR REPLACE INTO search_head(session, seq, title) VALUES(?1, ?2, ?3)")                    \
    X(SEARCH_HEAD_DELETE, "DELETE FROM search_head WHERE session = ?1")                                \
    X(SEARCH_DOC_ADD,                                                                                  \
      "INSERT OR IGNORE INTO search_doc(num, session, seq, terms) VALUES(?1, ?2, ?3, ?4)")             \
    X(SEARCH_TERMS_ADD,                                                                                \
      "INSERT INTO search_terms(rowid, terms) SELECT num, terms FROM search_doc "                      \
      "WHERE num = ?1")                                                                                \
    X(SEARCH_TERMS_DELETE, "INSERT INTO search_terms(search_terms, rowid, terms) "                     \
                           "SELECT 'delete', num, terms FROM search_doc WHERE num = ?1")               \
    X(SEARCH_DOC_DELETE, "DELETE FROM search_doc WHERE num = ?1")                                      \
    X(SEARCH_DOCS_OF, "SELECT num FROM search_doc WHERE session = ?1 LIMIT 128")                       \
    X(SEARCH_TITLE_DOC, "SELECT num FROM search_doc WHERE session = ?1 AND seq = 0")                   \
    X(SEARCH_MATCH, "SELECT rowid FROM search_terms WHERE search_terms MATCH ?1 AND rowid < ?2 "       \
                    "ORDER BY rowid DESC")                                                             \
    X(SEARCH_DOC,                                                                                      \
      HOB_SQL_SESSION_OF(", d.seq FROM search_doc d CROSS JOIN session s ON s.num = d.session "        \
                         "CROSS JOIN head ON head.session = s.num ") "WHERE d.num = ?1")               \
    X(EVENT_ONE, "SELECT body, blob FROM event WHERE session = ?1 AND seq = ?2")                       \
    X(TENANT_FIND, "SELECT num, items, bytes FROM tenant WHERE app = ?1 AND user = ?2")                \
    X(TENANT_ADD, "INSERT INTO tenant(app, user, items, bytes) VALUES(?1, ?2, 0, 0)")                  \
    X(TENANT_COUNT, "UPDATE tenant SET items = items + ?2, bytes = bytes + ?3 WHERE num = ?1")         \
    X(TENANT_DELETE, "DELETE FROM tenant WHERE num = ?1")                                              \
    X(TENANT_TRASH, "INSERT INTO tenant_trash(tenant) VALUES(?1)")                                     \
    X(TENANT_TRASH_NEXT, "SELECT tenant FROM tenant_trash LIMIT 1")                                    \
    X(TENANT_TRASH_DONE, "DELETE FROM tenant_trash WHERE tenant = ?1")                                 \
    X(MEMORY_FIND, "SELECT num, length(CAST(text AS BLOB)), created_ms FROM memory "                   \
                   "WHERE tenant = ?1 AND id = ?2")                                                    \
    X(MEMORY_ADD,                                                                                      \
      "INSERT INTO memory(tenant, id, text, kind, maker, session, run, tags, terms, importance, "      \
      "created_ms, updated_ms) VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)")             \
    X(MEMORY_DELETE, "DELETE FROM memory WHERE num = ?1")                                              \
    X(TERMS_ADD, "INSERT INTO memory_terms(rowid, terms) SELECT num, terms FROM memory "               \
                 "WHERE num = ?1")                                                                     \
    X(TERMS_DELETE, "INSERT INTO memory_terms(memory_terms, rowid, terms) "                            \
                    "SELECT 'delete', num, terms FROM memory WHERE num = ?1")                          \
    X(TERMS_MATCH, "SELECT rowid FROM memory_terms WHERE memory_terms MATCH ?1 AND rowid < ?2 "        \
                   "ORDER BY rowid DESC LIMIT ?3")                                                     \
    X(MEMORY_NEWEST, "SELECT num FROM memory WHERE tenant = ?1 AND num < ?2 "                          \
                     "ORDER BY num DESC LIMIT ?3")                                                     \
    X(MEMORY_BY_NUM, HOB_SQL_MEMORY "num = ?1")                                                        \
    X(MEMORY_OLDEST_MS, "SELECT updated_ms FROM memory WHERE tenant = ?1 ORDER BY num LIMIT 1")        \
    X(MEMORY_NEWEST_MS, "SELECT updated_ms FROM memory WHERE tenant = ?1 ORDER BY num DESC LIMIT 1")

/* ---- artifacts ------------------------------------------------------------------------------ */

#define HOB_SQL_SHELF "FROM artifact WHERE session = ?1 AND app = ?2 AND user = ?3 "
#define HOB_SQL_NAMED HOB_SQL_SHELF "AND name = ?4 "
#define HOB_SQL_LABEL "name, version, mime, meta, created_ms, size "

#define HOB_SQL_ARTIFACTS(X)                                                                       \
    X(TRASH_ARTIFACTS, "DELETE FROM artifact WHERE num IN "                                        \
                       "(SELECT num FROM artifact WHERE session = ?1 LIMIT ?2) RETURNING blob")    \
    X(ARTIFACT_NEXT, "SELECT max(version) " HOB_SQL_NAMED)                                         \
    X(ARTIFACT_COUNT, "SELECT count(*) FROM (SELECT 1 " HOB_SQL_SHELF "LIMIT ?4)")                 \
    X(ARTIFACT_CLAIM,                                                                              \
      "INSERT INTO artifact(session, app, user, name, version, owner, mime, meta, created_ms, "    \
      "size, sum) VALUES(?1, ?2, ?3, ?4, ?5, ?6, '', '', 0, 0, 0)")                                \
    X(ARTIFACT_CLAIMS, "SELECT num, owner " HOB_SQL_NAMED "AND owner IS NOT NULL LIMIT ?5")        \
    X(ARTIFACT_UNCLAIM, "DELETE FROM artifact WHERE num = ?1")                                     \
    X(ARTIFACT_UNCLAIM_ALL, "DELETE FROM artifact WHERE owner = ?1")                               \
    X(ARTIFACT_THERE, "SELECT 1 " HOB_SQL_NAMED "AND version = ?5 AND owner IS NULL")              \
    X(ARTIFACT_PUT, "INSERT OR REPLACE INTO artifact(session, app, user, name, version, mime, "    \
                    "meta, created_ms, size, sum, blob, body) "                                    \
                    "VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)")                   \
    X(ARTIFACT_COPY, "INSERT INTO artifact(session, app, user, name, version, mime, meta, "        \
                     "created_ms, size, sum, blob, body) SELECT ?1, ?2, ?3, name, version, mime, " \
                     "meta, created_ms, size, sum, blob, body FROM artifact "                      \
                     "WHERE session = ?4 AND created_ms <= ?5 AND owner IS NULL")                  \
    X(ARTIFACT_DELETE, "DELETE " HOB_SQL_NAMED "AND owner IS NULL RETURNING blob")                 \
    X(ARTIFACT_NAMES, "SELECT name, max(version), mime, meta, created_ms, size " HOB_SQL_SHELF     \
                      "AND name > ?4 AND owner IS NULL GROUP BY name ORDER BY name LIMIT ?5")      \
    X(ARTIFACT_VERSIONS, "SELECT " HOB_SQL_LABEL HOB_SQL_NAMED                                     \
                         "AND version > ?5 AND owner IS NULL ORDER BY version LIMIT ?6")           \
    X(ARTIFACT_ONE, "SELECT " HOB_SQL_LABEL ", sum, blob, body " HOB_SQL_NAMED                     \
                    "AND version = ?5 AND owner IS NULL")                                          \
    X(ARTIFACT_NEWEST, "SELECT " HOB_SQL_LABEL ", sum, blob, body " HOB_SQL_NAMED                  \
                       "AND owner IS NULL ORDER BY version DESC LIMIT 1")

enum hob_sql {
#define HOB_X(name, text) HOB_SQL_##name,
    HOB_SQL(HOB_X) HOB_SQL_ARTIFACTS(HOB_X)
#undef HOB_X
        HOB_SQL_COUNT_
};

const char *hob_sqlite_sql(int sql); /* its text */

#endif
