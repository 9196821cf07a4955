/*
 * request.h - a call on its way through a store.
 *
 * Both stores turn every call into one request: the inputs copied into the same block of memory, the
 * answer filled in by whoever does the work, the callback called once by hob_store_req_finish(). What
 * is wrong with the inputs is found when the request is made (code < 0 from the start); it still
 * travels with the others, so that answers keep the order of the calls.
 */
#ifndef HOB_SRC_STORE_REQUEST_H
#define HOB_SRC_STORE_REQUEST_H

#include <hob/ext/store.h>

#include "base/base.h"

#define HOB_STORE_EVENT_MAX ((size_t)64 << 20)  /* bytes of one event */
#define HOB_STORE_BATCH_MAX ((size_t)256 << 20) /* bytes of one commit */
#define HOB_STORE_LOAD_MAX ((size_t)512 << 20)  /* bytes waiting; over it: HOB_EAGAIN */
#define HOB_STORE_COUNT_MAX ((size_t)100000)    /* events, appends or runs of one commit */
#define HOB_STORE_TEXT_MAX ((size_t)64 << 10)   /* bytes of one string of an index row */
#define HOB_STORE_HEAD_MAX ((size_t)32 << 20)   /* bytes of the head of a snapshot */
#define HOB_STORE_PART_MAX ((size_t)128 << 20)  /* … of one of its parts */
#define HOB_STORE_READ_MAX ((size_t)64 << 20)   /* bytes of one page, but for its first event */
#define HOB_STORE_MEMORY_MAX ((size_t)8 << 10)  /* bytes of the text of a memory */
#define HOB_STORE_QUERY_MAX ((size_t)4 << 10)   /* bytes of what is looked for in memory */
#define HOB_STORE_TAGS_MAX ((size_t)16)         /* tags of a memory */
#define HOB_STORE_TAG_MAX ((size_t)64)          /* bytes of a tag, a kind */
#define HOB_STORE_NAME_MAX ((size_t)256)        /* bytes of an application's or a user's name */
#define HOB_STORE_SHELF_MAX 10000               /* versions of artifacts of a session, of a user */
#define HOB_STORE_CLAIM_MAX ((size_t)4096)      /* names of one claim */

typedef enum hob_store_op {
    HOB_OP_OWN,
    HOB_OP_RELEASE,
    HOB_OP_COMMIT,
    HOB_OP_READ,
    HOB_OP_RECALL,
    HOB_OP_STATES,
    HOB_OP_SESSIONS,
    HOB_OP_RUNS,
    HOB_OP_REMOVE,
    HOB_OP_MEMORIES,
    HOB_OP_ARTIFACTS,
    HOB_OP_CLAIM,
    HOB_OP_SEARCH
} hob_store_op;

typedef struct hob_store_front hob_store_front;

typedef struct hob_store_req {
    hob_list link; /* in the queue it stands in */
    hob_store_front *front;
    hob_store_op op;
    size_t load; /* bytes of this block */

    /* inputs; strings and arrays follow this struct in the same block */
    hob_str session;
    int flags;
    uint64_t epoch, after;
    size_t limit, max_bytes;
    hob_store_session row; /* of a session to be made, complete; of others only app and user */
    hob_store_append *appends;
    size_t nappends, nevents, bytes; /* bytes: of all events */
    hob_store_query query;
    hob_str app, tenant;              /* of states: tenant is the user */
    hob_store_memory_change *changes; /* of memory */
    size_t nchanges;
    hob_store_memory_query wanted;
    hob_store_artifact_query shelf; /* artifacts, and where to claim */
    hob_str *names;                 /* to claim */
    size_t nnames;

    hob_store_search look;

    /* answer; what it points to lives in mem or in the store */
    int code;
    hob_error *err;
    hob_arena *mem;
    hob_store_session *rows;
    hob_store_run *runs;
    hob_store_event *events;
    hob_store_snapshot *snapshot;
    hob_store_state *states;
    hob_store_memory *memories;
    hob_store_tenant stats;
    hob_store_artifact *artifacts;
    int64_t *versions; /* claimed */
    hob_store_hit *hits;
    size_t n;
    int more;
    hob_str next;

    union {
        hob_store_done_fn done;
        hob_store_own_fn own;
        hob_store_events_fn events;
        hob_store_recall_fn recall;
        hob_store_states_fn states;
        hob_store_sessions_fn sessions;
        hob_store_runs_fn runs;
        hob_store_memories_fn memories;
        hob_store_artifacts_fn artifacts;
        hob_store_claim_fn claim;
        hob_store_hits_fn hits;
    } call;
    void *user;

    /* used by the SQLite store */
    hob_list order;             /* among the reads under way */
    bool refused;               /* its inputs were wrong: it is only answered */
    bool started;               /* a read that was handed to a thread */
    bool at_writer;             /* a read that the writer does itself */
    bool again;                 /* a search: one slice was done, and there is more to take in */
    int64_t reached;            /* … sessions up to this number are */
    struct hob_store_read *job; /* the read on its way through the pool */
    unsigned char *hashes;      /* SHA-256 of each event and artifact that becomes a blob */
} hob_store_req;

/* What a store puts first in its struct to get the calls as requests. */
struct hob_store_front {
    hob_store base;
    void (*submit)(hob_store_front *f, hob_store_req *r); /* takes the request */
    hob_clock *clock;                                     /* of the loop */
    size_t load;                                          /* bytes of requests not answered yet */
};

void hob_store_front_own(hob_store *s, hob_str session, int flags, const hob_store_session *row,
                         hob_store_own_fn done, void *user);
void hob_store_front_release(hob_store *s, hob_str session, uint64_t epoch, hob_store_done_fn done,
                             void *user);
void hob_store_front_commit(hob_store *s, const hob_store_batch *batch, hob_store_done_fn done,
                            void *user);
void hob_store_front_read(hob_store *s, hob_str session, uint64_t after, size_t limit,
                          size_t max_bytes, hob_store_events_fn done, void *user);
void hob_store_front_recall(hob_store *s, hob_str session, size_t limit, hob_store_recall_fn done,
                            void *user);
void hob_store_front_sessions(hob_store *s, const hob_store_query *q, hob_store_sessions_fn done,
                              void *user);
void hob_store_front_runs(hob_store *s, const hob_store_query *q, hob_store_runs_fn done,
                          void *user);
void hob_store_front_states(hob_store *s, hob_str app, hob_str user, hob_store_states_fn done,
                            void *ctx);
void hob_store_front_remove(hob_store *s, hob_str session, hob_store_done_fn done, void *user);
void hob_store_front_memories(hob_store *s, const hob_store_memory_query *q,
                              hob_store_memories_fn done, void *user);
void hob_store_front_artifacts(hob_store *s, const hob_store_artifact_query *q,
                               hob_store_artifacts_fn done, void *user);
void hob_store_front_claim(hob_store *s, const hob_store_artifact_query *where,
                           const hob_str *names, size_t n, hob_store_claim_fn done, void *user);

void hob_store_front_search(hob_store *s, const hob_store_search *q, hob_store_hits_fn done,
                            void *user); /* search.c */

/* For the table of a store; only close is its own. */
#define HOB_STORE_FRONT_OPS                                                                        \
    .own = hob_store_front_own, .release = hob_store_front_release,                                \
    .commit = hob_store_front_commit, .read = hob_store_front_read,                                \
    .recall = hob_store_front_recall, .sessions = hob_store_front_sessions,                        \
    .runs = hob_store_front_runs, .states = hob_store_front_states,                                \
    .remove = hob_store_front_remove, .memories = hob_store_front_memories,                        \
    .artifacts = hob_store_front_artifacts, .claim = hob_store_front_claim,                        \
    .search = hob_store_front_search

hob_error *hob_store_req_err(hob_store_req *r);   /* to be filled by hob_fail */
hob_arena *hob_store_req_mem(hob_store_req *r);   /* for the answer */
bool hob_store_req_reads(const hob_store_req *r); /* changes nothing */
bool hob_store_req_touches(const hob_store_req *r, hob_str session);
/* The session is whose the request says, or it does not say. */
bool hob_store_req_may(const hob_store_req *r, const hob_store_session *row);
void hob_store_req_fail(hob_store_req *r, const hob_error *err);
void hob_store_req_finish(hob_store_req *r); /* calls back, then frees */

/* ---- what both stores say in the same words ----------------------------------------------- */
int hob_store_say_absent(hob_error *err, hob_str session);
int hob_store_say_exists(hob_error *err, hob_str session);
int hob_store_say_fenced(hob_error *err, const hob_store_append *a, uint64_t epoch);
int hob_store_say_seq(hob_error *err, const hob_store_append *a, uint64_t last);
int hob_store_say_foreign_run(hob_error *err, hob_str run);

/* ---- request_memory.c: the parts of a request that are about memory ------------------------- */
typedef struct hob_pack {
    char *base; /* NULL: only count */
    size_t n;
} hob_pack;
void *hob_pack_bytes(hob_pack *p, const void *from, size_t n, size_t align);
void hob_pack_str(hob_pack *p, hob_str *s);
void hob_store_pack_memory(hob_pack *p, hob_store_req *r);
void hob_store_check_changes(hob_store_req *r);
hob_store_memory *hob_store_memory_dup(const hob_store_memory *m); /* one block: hob_free */
void hob_store_send(hob_store *s, hob_store_req *shallow);

/* ---- request_artifact.c -------------------------------------------------------------------- */
void hob_store_pack_artifacts(hob_pack *p, hob_store_append *a);
void hob_store_pack_shelf(hob_pack *p, hob_store_req *r);
void hob_store_check_artifacts(hob_store_req *r, const hob_store_append *a);
hob_store_artifact *hob_store_artifact_dup(const hob_store_artifact *a); /* one block: hob_free */
int hob_store_say_no_artifact(hob_error *err, const hob_store_artifact_query *q);
int hob_store_say_version_there(hob_error *err, const hob_store_artifact *a);
int hob_store_say_shelf_full(hob_error *err, hob_str name);

/* A place in a list that is ordered by (ms, id), newest first. "" starts above everything. */
int hob_store_cursor_parse(hob_str cursor, int64_t *ms, int64_t *id, hob_error *err);
hob_str hob_store_cursor_make(hob_arena *a, int64_t ms, int64_t id);

#endif
