/*
 * sqlite.h - the inside of the SQLite store.
 *
 * Three kinds of threads meet here. The loop (sqlite.c) takes calls, keeps their order and calls back.
 * The writer (sqlite_writer.c) is one thread with its own connection; everything that changes the file
 * happens there, in groups. Readers (sqlite_read.c) run on the pool with read-only connections. The parts
 * of the struct below say who may touch them.
 */
#ifndef HOB_SRC_STORE_SQLITE_H
#define HOB_SRC_STORE_SQLITE_H

#include "store/filelock.h"
#include "store/owner.h"
#include "store/request.h"
#include "store/sqlite_sql.h"
#include "store/store.h"
#include "store/wake.h"

#include <pthread.h>
#include <sqlite3.h>

#define HOB_SQLITE_INLINE_MAX ((size_t)64 << 10) /* longer events become blobs */
#define HOB_SQLITE_GROUP_EVENTS ((size_t)64)
#define HOB_SQLITE_GROUP_BYTES ((size_t)1 << 20)
#define HOB_SQLITE_READERS 4    /* idle connections kept */
#define HOB_SQLITE_BUSY_MS 5000 /* for other programs on the file; our own wait at the lock */

/* ---- sqlite_conn.c: a connection and its statements --------------------------------------- */

typedef struct hob_sqlite_conn {
    sqlite3 *db;
    const char *path; /* borrowed */
    unsigned gen;     /* readers: of which opening of the file */
    int wal_pages;    /* the writer: length of the WAL after the last commit */
    sqlite3_stmt **st;
} hob_sqlite_conn;

typedef enum hob_sqlite_mode { HOB_SQLITE_WRITER, HOB_SQLITE_READER } hob_sqlite_mode;

int hob_sqlite_conn_open(const char *path, hob_sqlite_mode mode, hob_sqlite_conn **out,
                         hob_error *err);
void hob_sqlite_conn_close(hob_sqlite_conn *c);
/* The statement, ready for binding; NULL if it cannot be prepared. Prepared once a connection. */
sqlite3_stmt *hob_sqlite_stmt(hob_sqlite_conn *c, int sql);
int hob_sqlite_run(sqlite3_stmt *st);             /* steps to the end; 0 or -1 */
int hob_sqlite_exec(hob_sqlite_conn *c, int sql); /* without parameters; 0 or -1 */
int hob_sqlite_end(sqlite3_stmt *st, int rc);     /* after the last step; 0 or -1 */
int hob_sqlite_commit(hob_sqlite_conn *c);        /* of a writing transaction; 0 or -1 */
/* One number with at most one parameter; *out is -1 if there is no row. 0 or -1. */
int hob_sqlite_ask(hob_sqlite_conn *c, int sql, int64_t with, int64_t *out);
void hob_sqlite_bind_str(sqlite3_stmt *st, int at, hob_str s);
void hob_sqlite_bind_text(sqlite3_stmt *st, int at, hob_str s); /* "" binds NULL: leave as it is */
void hob_sqlite_bind_number(sqlite3_stmt *st, int at, int64_t n); /* negative binds NULL */
/* Says what went wrong last on the connection: always HOB_ESTORE. */
int hob_sqlite_fail(const hob_sqlite_conn *c, hob_error *err);
/* … and whether it was an fsync: then nothing in memory is to be trusted (sqlite_open.c). */
bool hob_sqlite_sync_failed(const hob_sqlite_conn *c);
int hob_sqlite_damaged(const hob_sqlite_conn *c, const char *what, hob_error *err);

/* ---- sqlite_schema.c ---------------------------------------------------------------------- */

enum { HOB_SQLITE_VERSION = 9, HOB_SQLITE_APPLICATION = 0x686f6273 /* "hobs" */ };

int hob_sqlite_migrate(hob_sqlite_conn *c, hob_error *err); /* HOB_EVERSION: the file is newer */
int hob_sqlite_verify(hob_sqlite_conn *c, hob_error *err);  /* cheap: what an open can afford */
int32_t hob_sqlite_sum(uint64_t seq, hob_str json); /* kept beside each event, checked on reading */

/* ---- the store ---------------------------------------------------------------------------- */

typedef struct hob_sqlite hob_sqlite;

struct hob_sqlite {
    hob_store_front front;
    /* fixed at opening */
    hob_loop *loop;
    hob_pool *pool;
    char *path, *lock_path, *owners_path, *owner_name;
    int64_t lock_wait_ms;
    pthread_t writer;
    hob_wake *wake;

    /* the loop's */
    hob_list reads;     /* reads not answered yet */
    hob_list held;      /* requests behind a read of the same session */
    hob_list arrived;   /* answers being delivered */
    size_t outstanding; /* requests not answered yet */
    size_t writes;      /* of them, not reads */
    bool closing;
    int depth;   /* of deliver: callbacks may close */
    bool closed; /* by one of them */

    /* anybody's, under mu */
    pthread_mutex_t mu;
    pthread_cond_t work; /* for the writer: queue or stop */
    pthread_cond_t news; /* for close: done, or a job ended */
    hob_list queue, done;
    bool stop;
    bool ready; /* open, and not broken since */
    unsigned gen;
    hob_sqlite_conn *idle[HOB_SQLITE_READERS];
    size_t nidle;

    /* the writer's */
    hob_sqlite_conn *conn; /* NULL: not open, or given up after a failed fsync */
    hob_filelock lock;
    hob_owner owner;    /* its id: anybody's once ready */
    hob_error open_err; /* code < 0: the answer to everything */
    hob_map *seats;     /* sessions met so far */
    hob_list dirty;     /* seats whose last_seq is not written yet */
    uint64_t group;     /* number of the transaction */
    int checkpoint_at;  /* pages of WAL */
    bool trash;         /* removed sessions are waiting to be cleared away */
};

/* ---- sqlite_writer.c ---------------------------------------------------------------------- */

void *hob_sqlite_writer(void *store); /* the thread */

/* ---- sqlite_open.c: the file, on the writer ----------------------------------------------- */

int hob_sqlite_file_open(hob_sqlite *s, hob_error *err);
int hob_sqlite_file_reopen(hob_sqlite *s, hob_error *err);
void hob_sqlite_file_abandon(hob_sqlite *s); /* after a failed fsync: nothing cached is trusted */
void hob_sqlite_file_close(hob_sqlite *s);   /* gives up every session */

/* ---- sqlite_apply.c, sqlite_own.c: inside a transaction of the writer --------------------- */

/* What the current transaction knows of a session. */
typedef struct hob_sqlite_seat {
    hob_list link;  /* in dirty */
    int64_t num;    /* 0 = not known */
    uint64_t group; /* the transaction that read the rest */
    bool exists, mine, dirty;
    uint64_t epoch, last_seq;
    uint64_t written; /* the last_seq that the row has */
} hob_sqlite_seat;

/* 0: done or refused, r->code says which; -1: the file failed, the whole group must be undone. */
int hob_sqlite_apply(hob_sqlite *s, hob_store_req *r);
int hob_sqlite_own(hob_sqlite *s, hob_store_req *r);
int hob_sqlite_release(hob_sqlite *s, hob_store_req *r);
int hob_sqlite_remove(hob_sqlite *s, hob_store_req *r);
int hob_sqlite_seat_get(hob_sqlite *s, hob_str session, hob_sqlite_seat **out);
int hob_sqlite_seat_forget(hob_sqlite *s, hob_str session); /* writes what is dirty */
int hob_sqlite_seats_write(hob_sqlite *s);
void hob_sqlite_seats_trim(hob_sqlite *s); /* between transactions */
void hob_sqlite_seats_destroy(hob_sqlite *s);
void hob_sqlite_hash(hob_store_req *r); /* before the transaction: it takes time */
/* The number of the blob with this content, made if it is new. */
int hob_sqlite_put_blob(hob_sqlite *s, const unsigned char *hash, hob_str body, int64_t *num);

/* ---- sqlite_memory.c: what tenants remember ----------------------------------------------- */

/* Inside a transaction of the writer: what refuses the request is found before its first write. */
int hob_sqlite_memory_check(hob_sqlite *s, hob_store_req *r);
int hob_sqlite_memory_change(hob_sqlite *s, const hob_store_memory_change *ch); /* 0 or -1 */
int hob_sqlite_memory_erase(hob_sqlite_conn *c, int64_t num);                   /* 0 or -1 */
int hob_sqlite_memories(hob_sqlite_conn *c, hob_store_req *r);                  /* the code */

/* ---- sqlite_artifact.c, sqlite_artifact_read.c --------------------------------------------------------------------- */

/* Inside a transaction of the writer. `session` is its number; 0 or -1. */
int hob_sqlite_claim(hob_sqlite *s, hob_store_req *r);
int hob_sqlite_artifacts_check(hob_sqlite *s, hob_store_req *r, const hob_store_append *a,
                               int64_t session);
int hob_sqlite_put_artifacts(hob_sqlite *s, const hob_store_append *a, int64_t session,
                             const unsigned char **hash);
int hob_sqlite_unclaim(hob_sqlite *s); /* what this process claimed and did not write */
int hob_sqlite_artifacts_purge(hob_sqlite_conn *c, int64_t session); /* 1: perhaps more */
int hob_sqlite_artifacts(hob_sqlite_conn *c, hob_store_req *r);      /* the code */

typedef struct hob_sqlite_place {
    int64_t session; /* its number; 0 = the user's */
    hob_str app, user, name;
} hob_sqlite_place;
hob_sqlite_place hob_sqlite_place_of(int64_t session, const hob_store_artifact *a);
/* A statement with the place as its first parameters; NULL if it cannot be prepared. */
sqlite3_stmt *hob_sqlite_at(hob_sqlite_conn *c, int sql, const hob_sqlite_place *p);
/* The one number that it answers, `otherwise` for none. 0 or -1; `st` may be NULL. */
int hob_sqlite_ask_at(sqlite3_stmt *st, int64_t *out, int64_t otherwise);

/* ---- sqlite_search.c ---------------------------------------------------------------------- */

/* Inside a transaction of the writer: a slice of what the index lacks, or the answer. 0 or -1. */
int hob_sqlite_search(hob_sqlite *s, hob_store_req *r);
int hob_sqlite_search_erase(hob_sqlite_conn *c, int64_t doc);
/* Some documents of a session that is gone. 1: perhaps there are more. */
int hob_sqlite_search_purge(hob_sqlite_conn *c, int64_t session);

/* ---- sqlite_keep.c: between groups -------------------------------------------------------- */

void hob_sqlite_checkpoint(hob_sqlite *s);      /* if the WAL is long */
void hob_sqlite_checkpoint_last(hob_sqlite *s); /* at the end, if the WAL is not short */
int hob_sqlite_checkpoint_all(hob_sqlite *s, hob_error *err); /* hold the lock */
void hob_sqlite_purge(hob_sqlite *s);                         /* a piece of the trash */

/* ---- sqlite_snapshot.c -------------------------------------------------------------------- */

/* Inside a transaction of the writer. 0 or -1. */
int hob_sqlite_put_snapshot(hob_sqlite *s, int64_t session, const hob_store_snapshot *snap);
/* Sets r->snapshot and r->after; one that cannot be read is none, and r is as it was. */
void hob_sqlite_read_snapshot(hob_sqlite_conn *c, int64_t session, hob_store_req *r);

/* ---- sqlite_state.c ----------------------------------------------------------------------- */

/* Inside a transaction of the writer. 0 or -1. */
int hob_sqlite_put_states(hob_sqlite *s, const hob_store_state *states, size_t n);
int hob_sqlite_read_states(hob_sqlite_conn *c, hob_store_req *r);

/* ---- sqlite_read.c ------------------------------------------------------------------------ */

void hob_sqlite_read(hob_sqlite *s, hob_sqlite_conn *c, hob_store_req *r); /* sets r->code */
void hob_sqlite_read_any(hob_sqlite *s, hob_store_req *r); /* with a connection of its own */
void hob_sqlite_readers_close(hob_sqlite *s);              /* the idle ones; others when they end */
/* The line of one event, not checked. 0 or -1. */
int hob_sqlite_event(hob_sqlite_conn *c, int64_t session, uint64_t seq, hob_arena *mem,
                     hob_str *out);
hob_str hob_sqlite_bytes(sqlite3_stmt *st, int at, hob_arena *mem); /* of a column, copied */
int hob_sqlite_read_blob(hob_sqlite_conn *c, int64_t num, hob_arena *mem, hob_str *out,
                         hob_error *err);
void hob_sqlite_row(hob_sqlite *s, sqlite3_stmt *st, hob_arena *mem, hob_store_session *out);

#endif
