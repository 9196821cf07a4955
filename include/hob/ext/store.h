/*
 * hob/ext/store.h - the ring for store backends. Stable for a minor version only.
 *
 * A store keeps the logs of many sessions, and a few index rows so that listing never reads a log. Every call
 * completes later, on the loop the store was opened with, and never from inside the call itself.
 * A commit is all or nothing and is acknowledged only when durable. Calls complete in the order they were
 * made, per session.
 *
 * Ownership: one process owns a session, by liveness. own() takes it (epoch + 1 when it was another's whose
 * process is gone) or fails with HOB_EBUSY naming the owner. Every commit carries the epoch and fails with
 * HOB_EFENCED if it is no longer the current one, HOB_EEXIST if `after_seq` is not the last stored seq.
 */
#ifndef HOB_EXT_STORE_H
#define HOB_EXT_STORE_H

#include <hob/base.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct hob_store hob_store; /* backends put this first in their own struct */

/* The index row of a session. In a commit, empty strings and negative numbers mean "leave as it is". */
typedef struct hob_store_session {
    hob_str id, cwd, title, model, parent; /* parent: whose child, or copy, it is */
    hob_str state;                         /* idle | running | parked | interrupted */
    hob_str owner;                         /* who holds it now; "" = nobody (answers only) */
    int64_t created_ms, updated_ms;
    uint64_t last_seq, epoch; /* answers only */
    int64_t messages;         /* user and assistant messages so far */
    int child;                /* 1 = works for `parent`; said when it is made, never changed */
    hob_str app, user;        /* whose it is; said when it is made, never changed */
    uint64_t number; /* answers only: no other session of the store has it, or ever had it */
} hob_store_session;

typedef struct hob_store_run {
    hob_str id, session, status;     /* status: running | parked | or that of run_finished */
    hob_str reason, prompt;          /* prompt: its first 200 bytes, whole characters */
    int64_t started_ms, finished_ms; /* finished 0 = not yet; in a commit negative = leave */
    uint64_t first_seq,
        last_seq; /* run_started and run_finished; 0 = not known, in a commit leave */
    /* answers only: */
    hob_str owner;     /* who holds the session of a run without an end; "" = nobody */
    hob_str app, user; /* of its session */
    /* In a commit that makes it: the run of the same session whose prompt is its own, too; "" = none. */
    hob_str continues;
} hob_store_run;

typedef struct hob_store_event {
    uint64_t seq;
    hob_str json; /* the whole event line; comes back byte for byte. At most 64 MiB. */
} hob_store_event;

/* A value that sessions share: of an application (user "") or of one of its users. */
typedef struct hob_store_state {
    hob_str app, user, key;
    hob_str value; /* JSON; comes back byte for byte */
    int removed;   /* in a commit: 1 = the key goes away, which is not the value null */
} hob_store_state;

/* What a session is at one of its events, so that opening it need not read all of them. A cache that the caller makes
 * of the log and checks itself: the store keeps its bytes and knows nothing of them. */
typedef struct hob_store_snapshot {
    uint64_t seq;   /* the event it stands at */
    uint64_t after; /* whoever has it needs the events after this one only; <= seq */
    hob_str head;   /* replaces the one before */
    const hob_str
        *parts; /* in a commit: put behind those that are there; answers: all, oldest first */
    size_t nparts;
    int restart; /* in a commit: the parts that are there are dropped first */
} hob_store_snapshot;

/* Bytes with a name, kept in versions. A name that begins with "user:" belongs to the user of the application, any other
 * to the session, and goes with it. */
typedef struct hob_store_artifact {
    hob_str app, user;
    hob_str name;    /* a key, at most 512 bytes; no path */
    int64_t version; /* from 0; in a commit: one that claim() gave */
    hob_str mime;    /* may be "" */
    hob_str meta;    /* a JSON object, or ""; comes back byte for byte */
    int64_t created_ms;
    hob_str bytes; /* at most 64 MiB; answers: only to HOB_STORE_ARTIFACT */
    size_t size;   /* answers: of the bytes */
    int removed;   /* in a commit: every version of the name goes; not there is fine */
} hob_store_artifact;

/* In the first commit of a copy: the artifacts of the session it is a copy of, as they were then. */
typedef struct hob_store_copy {
    hob_str from;      /* that session; one that is not there has none */
    hob_str app, user; /* whose the copy is */
    int64_t until_ms;  /* what was created later stays behind; names of the user do, too */
} hob_store_copy;

typedef struct hob_store_append {
    hob_str session;
    uint64_t epoch, after_seq;
    const hob_store_event *events; /* seq after_seq+1, +2, … */
    size_t nevents;
    const hob_store_session *row; /* nullable index update */
    const hob_store_run *runs;    /* upserted by id */
    size_t nruns;
    const hob_store_state *states; /* in this order; the last one of a key counts */
    size_t nstates;
    const hob_store_snapshot *snapshot; /* nullable; of an event stored before or with this */
    /* In this order. HOB_EEXIST if a version is there already. */
    const hob_store_artifact *artifacts;
    size_t nartifacts;
    const hob_store_copy *copy; /* nullable; for a session that has no artifacts */
} hob_store_append;

/* One thing remembered. Memory belongs to a tenant, (app, user); tenants never see each other's. */
typedef struct hob_store_memory {
    hob_str id;                     /* a name that the caller makes; unique for the tenant */
    hob_str text;                   /* UTF-8, found by its words */
    hob_str kind, by, session, run; /* who said it, and where; may be "" */
    const hob_str *tags;
    size_t ntags;
    double importance; /* 0 … 1 */
    int64_t created_ms, updated_ms;
    double relevance, score; /* answers only */
} hob_store_memory;

typedef enum hob_store_memory_op {
    HOB_STORE_REMEMBER, /* the item, in place of one with its id (whose created_ms stays) */
    HOB_STORE_FORGET,   /* item.id; not there is fine */
    HOB_STORE_CLEAR     /* everything of the tenant */
} hob_store_memory_op;

typedef struct hob_store_memory_change {
    hob_store_memory_op op;
    hob_str app, user;
    hob_store_memory item;
    size_t max_items; /* REMEMBER: HOB_ELIMIT instead of having more than these; 0 = no limit */
} hob_store_memory_change;

typedef struct hob_store_batch {
    const hob_store_append *appends; /* one a session */
    size_t nappends;
    const hob_store_memory_change *memory; /* carried out in this order */
    size_t nmemory;
} hob_store_batch;

typedef struct hob_store_memory_query {
    hob_str app, user;
    hob_str id;                /* this one alone, or HOB_ENOENT; nothing else is looked at */
    hob_str same;              /* or: the newest with exactly this text */
    hob_str query;             /* or: with one of its words at least; "" = all */
    hob_str kind, by, session; /* only of these; "" = any */
    const hob_str *tags;       /* with all of these */
    size_t ntags;
    int recent;     /* newest first, in pages, instead of best first; `query` is not looked at */
    hob_str cursor; /* recent: `next` of the page before; "" = from the newest */
    size_t limit;   /* 0 = 10, at most 1000 */
    int64_t now_ms; /* what ages are counted from */
} hob_store_memory_query;

typedef struct hob_store_tenant {
    int64_t items, bytes;         /* bytes: of texts */
    int64_t oldest_ms, newest_ms; /* when remembered last; 0 = there is none */
} hob_store_tenant;

typedef enum hob_store_shelf {
    HOB_STORE_NAMES,    /* the newest version of each, by name: the session's, then the user's */
    HOB_STORE_VERSIONS, /* all of one name, from the first; HOB_ENOENT: there is none */
    HOB_STORE_ARTIFACT  /* one of them, with its bytes; HOB_ENOENT */
} hob_store_shelf;

typedef struct hob_store_artifact_query {
    hob_store_shelf want;
    hob_str app, user;
    hob_str session; /* HOB_ENOENT: there is none. "": the user's only */
    hob_str name;    /* VERSIONS, ARTIFACT */
    int64_t version; /* ARTIFACT; negative = the newest */
    hob_str cursor;  /* `next` of the page before */
    size_t limit;    /* 0 = 50, at most 1000 */
} hob_store_artifact_query;

typedef struct hob_store_query {
    hob_str cwd;     /* sessions: only of this folder; "" = all */
    hob_str session; /* runs: only of this session; "" = all */
    hob_str status;  /* runs: only with this status; "" = all */
    hob_str cursor;  /* `next` of the page before; "" = from the newest */
    size_t limit;    /* 0 = 50, at most 1000 */
    hob_str parent;  /* sessions: the children of this one, the newest made first */
    int all;         /* sessions: with all children, the newest made first; `cwd` does not count */
    hob_str app;     /* only of this application; "" = all */
    hob_str user;    /* … and this user of it; "" = all; not without `app` */
    hob_str run;     /* runs: this one alone */
} hob_store_query;

/* Sessions found by the words of their titles and messages. */
typedef struct hob_store_search {
    hob_str app, user; /* whose; both are needed */
    hob_str
        query; /* its words must all be in one message, or in a title; the last may be the beginning of one */
    hob_str cursor;
    size_t limit; /* 0 = 20, at most 1000 */
} hob_store_search;

typedef struct hob_store_hit {
    hob_store_session session;
    uint64_t seq;    /* of the message; 0 = it is the title */
    int64_t ms;      /* when it was said */
    hob_str role;    /* user | assistant | title */
    hob_str snippet; /* a line of about 200 bytes around the first word */
} hob_store_hit;

/* Results are valid during the callback only. `err` is NULL when code >= 0. */
typedef void (*hob_store_done_fn)(int code, const hob_error *err, void *user);
typedef void (*hob_store_own_fn)(int code, const hob_error *err, const hob_store_session *row,
                                 void *user);
typedef void (*hob_store_events_fn)(int code, const hob_error *err, const hob_store_event *events,
                                    size_t n, int more, void *user);
/* By user, then key: what belongs to the application comes first. */
typedef void (*hob_store_states_fn)(int code, const hob_error *err, const hob_store_state *rows,
                                    size_t n, void *user);
/* snapshot: NULL if there is none */
typedef void (*hob_store_recall_fn)(int code, const hob_error *err,
                                    const hob_store_snapshot *snapshot,
                                    const hob_store_event *events, size_t n, int more, void *user);
typedef void (*hob_store_sessions_fn)(int code, const hob_error *err, const hob_store_session *rows,
                                      size_t n, hob_str next, void *user);
typedef void (*hob_store_runs_fn)(int code, const hob_error *err, const hob_store_run *rows,
                                  size_t n, hob_str next, void *user);

typedef void (*hob_store_memories_fn)(int code, const hob_error *err, const hob_store_memory *items,
                                      size_t n, const hob_store_tenant *tenant, hob_str next,
                                      void *user);

typedef void (*hob_store_artifacts_fn)(int code, const hob_error *err,
                                       const hob_store_artifact *items, size_t n, hob_str next,
                                       void *user);
typedef void (*hob_store_claim_fn)(int code, const hob_error *err, const int64_t *versions,
                                   size_t n, void *user);

/* Newest first. */
typedef void (*hob_store_hits_fn)(int code, const hob_error *err, const hob_store_hit *hits,
                                  size_t n, hob_str next, void *user);

enum {
    HOB_OWN_CREATE = 1, /* make it and own it (HOB_EEXIST if it is there) */
    HOB_OWN_READ = 2    /* no ownership, just the row */
};

typedef struct hob_store_ops {
    size_t size;
    const char *name; /* "memory", "sqlite" */
    /* All members are mandatory. Inputs are copied before the call returns. Wrong inputs, and more than
     * the store can hold waiting (HOB_EAGAIN), are answered like everything else: later. A callback may
     * call the store again, close included. */

    /* `row` (nullable) fills a session to be made; what it leaves out gets a default. One that is there must be of
     * its `app` and `user`, if it has them: another's is HOB_ENOENT. To own what one owns already changes nothing. */
    void (*own)(hob_store *s, hob_str session, int flags, const hob_store_session *row,
                hob_store_own_fn done, void *user);
    void (*release)(hob_store *s, hob_str session, uint64_t epoch, hob_store_done_fn done,
                    void *user);
    void (*commit)(hob_store *s, const hob_store_batch *batch, hob_store_done_fn done, void *user);
    /* Events with seq > after, at most `limit` (0 = 1000) and about max_bytes (0 = 4 MiB, at least one). */
    void (*read)(hob_store *s, hob_str session, uint64_t after, size_t limit, size_t max_bytes,
                 hob_store_events_fn done, void *user);
    /* What opening a session needs, in one go: its snapshot and a page of the events after it; without one, of all
     * events. A snapshot that cannot be read is none. */
    void (*recall)(hob_store *s, hob_str session, size_t limit, hob_store_recall_fn done,
                   void *user);
    void (*sessions)(hob_store *s, const hob_store_query *q, hob_store_sessions_fn done,
                     void *user); /* without children, newest updated first; see the query */
    void (*runs)(hob_store *s, const hob_store_query *q, hob_store_runs_fn done, void *user);
    /* What sessions of this application and user share. Sees every commit called before it. */
    void (*states)(hob_store *s, hob_str app, hob_str user, hob_store_states_fn done, void *ctx);
    /* HOB_EBUSY while anybody alive owns it, the caller included. */
    void (*remove)(hob_store *s, hob_str session, hob_store_done_fn done, void *user);
    /* Waits for what was queued, releases every ownership, frees. Completions still outstanding are
     * delivered (on the loop) before it returns. */
    void (*close)(hob_store *s);
    /* What a tenant remembers, and how much. HOB_ENOSYS: this store keeps no memory; then a commit with
     * changes of memory fails with it, too. */
    void (*memories)(hob_store *s, const hob_store_memory_query *q, hob_store_memories_fn done,
                     void *user);
    void (*artifacts)(hob_store *s, const hob_store_artifact_query *q, hob_store_artifacts_fn done,
                      void *user);
    /* The next version of each name, for this process alone, so that the event that goes with it can say which one it
     * is. Names may repeat. One that is never committed is given again when this process is gone. HOB_ELIMIT: 10,000
     * versions are there, of the session or of the user. `app`, `user` and `session` of the query say where. */
    void (*claim)(hob_store *s, const hob_store_artifact_query *where, const hob_str *names,
                  size_t n, hob_store_claim_fn done, void *user);
    /* Messages and titles with these words. Sees every commit called before it. */
    void (*search)(hob_store *s, const hob_store_search *q, hob_store_hits_fn done, void *user);
} hob_store_ops;

struct hob_store {
    const hob_store_ops *ops;
};

#ifdef __cplusplus
}
#endif

#endif
