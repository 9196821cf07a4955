/*
 * stores.h - stores for tests: one opener a kind, and calls that run the loop until they are answered.
 */
#ifndef HOB_TESTS_STORES_H
#define HOB_TESTS_STORES_H

#include "store/store.h"
#include "support/check.h"

/* What a call was answered, copied out of the callback. */
typedef struct answer {
    int calls; /* how often it was called back */
    int code;
    hob_error err;
    hob_arena *mem;
    hob_store_session *rows;
    hob_store_run *runs;
    hob_store_event *events;
    hob_store_snapshot *snapshot;
    hob_store_state *states;
    hob_store_memory *memories;
    hob_store_tenant stats;
    hob_store_artifact *artifacts;
    int64_t versions[8]; /* claimed */
    hob_store_hit *hits;
    size_t n;
    int more;
    hob_str next;
} answer;
void answer_finish(answer *a);

/* A loop, a pool and a folder of its own for one test. */
typedef struct rig {
    hob_loop *loop;
    hob_pool *pool;
    char dir[64], path[96]; /* path: of the database */
    answer last;            /* of the calls below */
} rig;
void rig_init(rig *r);
void rig_init_fast(rig *r); /* in memory if possible: for tests that make hundreds of stores */
void rig_finish(rig *r);    /* removes the folder */
void rig_fork(rig *r);      /* in a forked child: a loop and a pool of its own */

hob_store *rig_sqlite(rig *r, const char *owner_name);
hob_store *rig_memory(rig *r, const char *owner_name);

/* Each waits for its answer, leaves it in r->last and returns its code. */
int rig_own(rig *r, hob_store *s, const char *session, int flags);
int rig_own_row(rig *r, hob_store *s, int flags, const hob_store_session *row);
int rig_release(rig *r, hob_store *s, const char *session, uint64_t epoch);
int rig_commit(rig *r, hob_store *s, const hob_store_append *appends, size_t n);
int rig_append(rig *r, hob_store *s, const char *session, uint64_t after,
               hob_str json); /* epoch 1 */
int rig_read(rig *r, hob_store *s, const char *session, uint64_t after);
int rig_read_some(rig *r, hob_store *s, const char *session, uint64_t after, size_t limit,
                  size_t max_bytes);
int rig_recall(rig *r, hob_store *s, const char *session, size_t limit);
int rig_states(rig *r, hob_store *s, const char *app, const char *user);
int rig_sessions(rig *r, hob_store *s, const hob_store_query *q);
int rig_runs(rig *r, hob_store *s, const hob_store_query *q);
int rig_remove(rig *r, hob_store *s, const char *session);
int rig_search(rig *r, hob_store *s, const hob_store_search *q);
/* What the formats after 4 added to a file, taken back: for tests that need an older one. */
#define RIG_DROP_PLACES                                                                            \
    "ALTER TABLE run DROP COLUMN first_seq; ALTER TABLE run DROP COLUMN last_seq;"
#define RIG_DROP_SEARCH                                                                            \
    RIG_DROP_PLACES                                                                                \
    "DROP TABLE search_terms; DROP TABLE search_doc; DROP TABLE search_head;"                      \
    "DROP TABLE search_tenant;"
#define RIG_DROP_TENANTS                                                                           \
    RIG_DROP_SEARCH                                                                                \
    "DROP TABLE artifact;"                                                                         \
    "DROP INDEX session_tenant; DROP INDEX session_tenant_all; DROP INDEX run_tenant;"             \
    "ALTER TABLE session DROP COLUMN app; ALTER TABLE session DROP COLUMN user;"                   \
    "ALTER TABLE run DROP COLUMN app; ALTER TABLE run DROP COLUMN user;"
#define RIG_DROP_LATER                                                                             \
    RIG_DROP_TENANTS                                                                               \
    "DROP TABLE memory_terms; DROP TABLE memory; DROP TABLE tenant; DROP TABLE tenant_trash;"

/* Memory of the tenant ("app", user). */
int rig_change(rig *r, hob_store *s, const hob_store_memory_change *changes, size_t n);
int rig_remember(rig *r, hob_store *s, const char *user, const hob_store_memory *m);
int rig_remember_text(rig *r, hob_store *s, const char *id, const char *text); /* of "u", at 1000 */
int rig_forget(rig *r, hob_store *s, const char *user, const char *id);
int rig_memories(rig *r, hob_store *s, const hob_store_memory_query *q);
int rig_recall_text(rig *r, hob_store *s, const char *query); /* of "u", now 1000 */
/* Artifacts. */
int rig_artifacts(rig *r, hob_store *s, const hob_store_artifact_query *q);
int rig_claim(rig *r, hob_store *s, const hob_store_artifact_query *where, const hob_str *names,
              size_t n);
void rig_wait(rig *r, const answer *a); /* until it was called back */

/* Callbacks that copy into an answer. */
void on_done(int code, const hob_error *err, void *user);
void on_own(int code, const hob_error *err, const hob_store_session *row, void *user);
void on_events(int code, const hob_error *err, const hob_store_event *events, size_t n, int more,
               void *user);
void on_recall(int code, const hob_error *err, const hob_store_snapshot *snapshot,
               const hob_store_event *events, size_t n, int more, void *user);
void on_states(int code, const hob_error *err, const hob_store_state *rows, size_t n, void *user);
void on_sessions(int code, const hob_error *err, const hob_store_session *rows, size_t n,
                 hob_str next, void *user);
void on_runs(int code, const hob_error *err, const hob_store_run *rows, size_t n, hob_str next,
             void *user);
void on_hits(int code, const hob_error *err, const hob_store_hit *hits, size_t n, hob_str next,
             void *user);
void on_memories(int code, const hob_error *err, const hob_store_memory *items, size_t n,
                 const hob_store_tenant *tenant, hob_str next, void *user);
void on_artifacts(int code, const hob_error *err, const hob_store_artifact *items, size_t n,
                  hob_str next, void *user);
void on_claim(int code, const hob_error *err, const int64_t *versions, size_t n, void *user);

#endif
