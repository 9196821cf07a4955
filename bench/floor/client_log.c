#include "client.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void floor_die(const char *what) {
    fprintf(stderr, "bench/floor: %s\n", what);
    exit(1);
}

static void reserve(floor_text *t, size_t n) {
    if (t->n + n + 1 <= t->cap) return;
    t->cap = (t->n + n + 1) * 2;
    t->p = realloc(t->p, t->cap);
    if (!t->p) floor_die("out of memory");
}

void floor_add(floor_text *t, const char *p, size_t n) {
    reserve(t, n);
    memcpy(t->p + t->n, p, n);
    t->n += n;
    t->p[t->n] = 0;
}

void floor_addf(floor_text *t, const char *fmt, ...) {
    va_list ap, again;
    va_start(ap, fmt);
    va_copy(again, ap);
    size_t n = (size_t)vsnprintf(NULL, 0, fmt, ap);
    reserve(t, n);
    vsnprintf(t->p + t->n, n + 1, fmt, again);
    t->n += n;
    va_end(again);
    va_end(ap);
}

static void sql(floor_log *l, const char *text) {
    if (sqlite3_exec(l->db, text, NULL, NULL, NULL) != SQLITE_OK) floor_die(sqlite3_errmsg(l->db));
}

static void read_rows(floor_log *l, floor_text *body, int *messages) {
    sqlite3_stmt *s;
    if (sqlite3_prepare_v2(l->db, "SELECT seq, body FROM event ORDER BY seq", -1, &s, NULL) !=
        SQLITE_OK)
        floor_die(sqlite3_errmsg(l->db));
    for (; sqlite3_step(s) == SQLITE_ROW; ++*messages) {
        l->seq = (long)sqlite3_column_int64(s, 0);
        const char *text = sqlite3_column_blob(s, 1);
        floor_add(body, text, (size_t)sqlite3_column_bytes(s, 1));
    }
    sqlite3_finalize(s);
}

void floor_log_open(floor_log *l, const char *path, bool resume, floor_text *body, int *messages) {
    if (sqlite3_open(path, &l->db) != SQLITE_OK) floor_die("the store cannot be opened");
    sql(l, "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA secure_delete=OFF;"
           "CREATE TABLE IF NOT EXISTS event (id INTEGER PRIMARY KEY, session TEXT, seq INTEGER,"
           " body BLOB); CREATE UNIQUE INDEX IF NOT EXISTS by_seq ON event (session, seq)");
    if (resume) {
        read_rows(l, body, messages);
    } else {
        sql(l, "DELETE FROM event");
    }
    if (sqlite3_prepare_v2(l->db, "INSERT INTO event (session, seq, body) VALUES ('s', ?, ?)", -1,
                           &l->insert, NULL) != SQLITE_OK)
        floor_die(sqlite3_errmsg(l->db));
}

void floor_log_append(floor_log *l, const char *p, size_t n) {
    sqlite3_bind_int64(l->insert, 1, ++l->seq);
    sqlite3_bind_blob(l->insert, 2, p, (int)n, SQLITE_STATIC);
    if (sqlite3_step(l->insert) != SQLITE_DONE) floor_die(sqlite3_errmsg(l->db));
    sqlite3_reset(l->insert);
}

void floor_log_close(floor_log *l) {
    sqlite3_finalize(l->insert);
    sqlite3_close(l->db);
}
