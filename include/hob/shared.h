/*
 * hob/shared.h - one conversation and its state, shared by several agents.
 *
 * A shared session holds an ordered list of events and a map of JSON values. An event and the change of state it
 * carries become visible together: a reader sees both or neither. Readers hold snapshots, which never change and cost
 * the same whatever the session's size. Order is the sequence number; times are data.
 *
 * State keys have a scope by their prefix: `app:`, `user:`, none (the session) and `temp:`. `temp:` keys live as long
 * as the open invocation, are seen by all of its agents and are never exported. null is a value; removing a key is an
 * operation of its own. Values are replaced whole and kept byte for byte.
 *
 * All calls are [any]: from any thread, on a reference that the caller holds. docs/shared-state.md is the tour.
 */
#ifndef HOB_SHARED_H
#define HOB_SHARED_H

#include <hob/state.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct hob_shared hob_shared;
typedef struct hob_shared_snapshot hob_shared_snapshot;
typedef struct hob_shared_history hob_shared_history;

/* ---- events ------------------------------------------------------------------------------- */

enum {
    HOB_SHARED_PARTIAL = 1,  /* a chunk on its way: checked, then neither kept nor applied */
    HOB_SHARED_ESCALATE = 2, /* ends the nearest loop */
    HOB_SHARED_SKIP_SUMMARIZATION = 4 /* the result is the answer */
};

/* A summary that stands for the events start..end (sequence numbers) in the histories of `agent` ("" = of all) at
 * `branch` and below ("" = everywhere). */
typedef struct hob_shared_compaction {
    uint64_t start, end; /* end 0 = the event is no compaction */
    hob_str content;     /* JSON array of blocks */
    hob_str agent, branch;
} hob_shared_compaction;

/* To append: slices of the caller's, which are copied and never changed. From a snapshot: they live as long as it. */
typedef struct hob_shared_event {
    size_t size;
    unsigned flags; /* HOB_SHARED_… */
    uint64_t seq;   /* from 1, without gaps; given by append */
    int64_t time;   /* Unix time in ms; never an order */
    hob_str id;     /* unique in the session; "" = made: s<seq> */
    hob_str invocation;
    hob_str author; /* "user" or the name of an agent */
    hob_str branch; /* "a.b": dot-delimited; "" = on no branch */
    hob_str
        content; /* JSON array of blocks, docs/messages.md and docs/shared-state.md; "" = none */
    hob_str state_delta;    /* JSON object: keys set */
    hob_str removed;        /* JSON array: keys removed */
    hob_str artifact_delta; /* JSON object: name -> version */
    hob_str transfer;       /* the agent that goes on */
    hob_shared_compaction compaction;
} hob_shared_event;
#define HOB_SHARED_EVENT_INIT                                                                      \
    {                                                                                              \
        sizeof(hob_shared_event), 0, 0, 0, {0, 0}, {0, 0}, {0, 0}, {0, 0}, {0, 0}, {0, 0}, {0, 0}, \
            {0, 0}, {0, 0}, {                                                                      \
            0, 0, {0, 0}, {0, 0}, {                                                                \
                0, 0                                                                               \
            }                                                                                      \
        }                                                                                          \
    }

/* ---- life --------------------------------------------------------------------------------- */

typedef struct hob_shared_opts {
    size_t size;
    hob_str id, app_name, user_id;       /* not checked here: see try_identity */
    hob_str state;                       /* JSON object; `temp:` keys in it are left out */
    const hob_shared_snapshot *snapshot; /* begins with its state and events, then `state` */
    hob_str exported;                    /* or with this text of hob_shared_export() */
    size_t max_keys;                     /* 0 = 65,536 */
    size_t max_state_bytes;              /* keys and values; 0 = 64 MiB */
    size_t max_events;                   /* 0 = 4,000,000 */
    size_t max_event_bytes;              /* of all events; 0 = 1 GiB */
} hob_shared_opts;
#define HOB_SHARED_OPTS_INIT                                                                       \
    { sizeof(hob_shared_opts), {0, 0}, {0, 0}, {0, 0}, {0, 0}, NULL, {0, 0}, 0, 0, 0, 0 }

/* HOB_EINVAL, HOB_EPARSE, HOB_ETOOBIG. With `exported` and no id, the identity is that of the export. */
HOB_API int hob_shared_create(const hob_shared_opts *opts, hob_shared **out, hob_error *err);
HOB_API hob_shared *hob_shared_ref(hob_shared *s);
HOB_API void hob_shared_unref(hob_shared *s); /* NULL is fine */

HOB_API hob_str hob_shared_id(const hob_shared *s);
HOB_API hob_str hob_shared_app_name(const hob_shared *s);
HOB_API hob_str hob_shared_user_id(const hob_shared *s);

typedef struct hob_shared_identity {
    hob_str app_name, user_id, id;
} hob_shared_identity;
/* Each of app name, user id, session id, in that order, is not empty, at most 512 bytes, without NUL; the first
 * that is not fails with HOB_EINVAL. Nothing is trimmed, no character is special. */
HOB_API int hob_shared_try_identity(const hob_shared *s, hob_shared_identity *out, hob_error *err);

/* ---- invocations: one at a time ----------------------------------------------------------- */

/* HOB_EBUSY while one is open: runs on one session never interleave. */
HOB_API int hob_shared_begin(hob_shared *s, hob_str invocation, hob_error *err);
/* Also `temp:` ends. HOB_EIDLE if that invocation is not open. */
HOB_API int hob_shared_end(hob_shared *s, hob_str invocation, hob_error *err);

/* ---- writing ------------------------------------------------------------------------------ */

/* Grows with every visible change. */
HOB_API uint64_t hob_shared_revision(hob_shared *s);
/* The event and its change of state, or on failure neither. `seq` is nullable; 0 for a partial event.
 * HOB_EEXIST: the id is taken. HOB_ENOENT: a result of no known call. HOB_EBUSY: another invocation is open.
 * HOB_EIDLE: a `temp:` key without an open invocation. HOB_EINVAL, HOB_EPARSE, HOB_ETOOBIG. */
HOB_API int hob_shared_append_event(hob_shared *s, const hob_shared_event *e, uint64_t *seq,
                                    hob_error *err);
/* The same if the session is still at `revision`, otherwise HOB_EBUSY and nothing happened: look again. */
HOB_API int hob_shared_append_event_at(hob_shared *s, uint64_t revision, const hob_shared_event *e,
                                       uint64_t *seq, hob_error *err);
/* An event with this author and content and nothing else. */
HOB_API int hob_shared_append_to_history(hob_shared *s, hob_str author, hob_str content,
                                         hob_error *err);
/* A JSON object of keys set and a JSON array of keys removed, either may be ""; all or nothing. Errors as append. */
HOB_API int hob_shared_apply_state_delta(hob_shared *s, hob_str delta, hob_str removed,
                                         hob_error *err);

/* ---- state -------------------------------------------------------------------------------- */

/* The JSON text, NUL-terminated and cut at cap. Returns its full length, or HOB_ENOENT. */
HOB_API int hob_shared_state_get(hob_shared *s, hob_str key, char *buf, size_t cap);
HOB_API int hob_shared_state_set(hob_shared *s, hob_str key, hob_str value, hob_error *err);
HOB_API int hob_shared_state_delete(hob_shared *s, hob_str key,
                                    hob_error *err);                        /* absent is fine */
typedef int (*hob_shared_state_fn)(hob_str key, hob_str value, void *user); /* not 0 = stop */
/* In the order of the keys' bytes, over a snapshot: `fn` may use the session. Returns what fn returned last. */
HOB_API int hob_shared_state_iterate(hob_shared *s, unsigned scopes, hob_shared_state_fn fn,
                                     void *user);

/* ---- snapshots: state and events of one instant ------------------------------------------- */

HOB_API size_t hob_shared_events_len(hob_shared *s);
HOB_API int hob_shared_events_snapshot(hob_shared *s, hob_shared_snapshot **out);
HOB_API hob_shared_snapshot *hob_shared_snapshot_ref(hob_shared_snapshot *p);
HOB_API void hob_shared_snapshot_unref(hob_shared_snapshot *p); /* NULL is fine */
HOB_API uint64_t hob_shared_snapshot_revision(const hob_shared_snapshot *p);
HOB_API size_t hob_shared_snapshot_len(const hob_shared_snapshot *p);
/* Borrowed; NULL beyond the end. */
HOB_API const hob_shared_event *hob_shared_snapshot_event(const hob_shared_snapshot *p, size_t i);
/* HOB_ENOENT if there is no such key. */
HOB_API int hob_shared_snapshot_get(const hob_shared_snapshot *p, hob_str key, hob_str *value);
/* The first key behind `after` ("" = the first of all): 1, or 0 at the end. */
HOB_API int hob_shared_snapshot_next(const hob_shared_snapshot *p, hob_str after, hob_str *key,
                                     hob_str *value);
/* Everything but `temp:` as one JSON object, for storing. The same return rule as state_get; HOB_ETOOBIG. */
HOB_API int hob_shared_export(const hob_shared_snapshot *p, char *buf, size_t cap);

/* ---- history: what an agent's model is shown ----------------------------------------------- */

typedef enum hob_shared_role { HOB_SHARED_USER, HOB_SHARED_MODEL, HOB_SHARED_TOOL } hob_shared_role;

typedef enum hob_shared_policy {
    HOB_SHARED_ISOLATE, /* what other agents did is left out */
    HOB_SHARED_NARRATE  /* it is told as the user's words: "For context:", "[a] said: …" */
} hob_shared_policy;

enum { HOB_SHARED_KEEP_RESPONSES = 1 }; /* isolate: other agents' tool results are told */

typedef struct hob_shared_history_opts {
    size_t size;
    hob_str agent;  /* "" = no agent: everything, nobody is another */
    hob_str branch; /* sees itself, its ancestors and what is on no branch; "" sees all */
    hob_shared_policy policy;
    unsigned flags;
} hob_shared_history_opts;
#define HOB_SHARED_HISTORY_OPTS_INIT                                                               \
    { sizeof(hob_shared_history_opts), {0, 0}, {0, 0}, HOB_SHARED_ISOLATE, 0 }

typedef struct hob_shared_content {
    hob_shared_role role;
    hob_str content; /* JSON array of blocks */
    hob_str author;
    uint64_t seq; /* of the event it comes from */
} hob_shared_content;

HOB_API int hob_shared_conversation_history(hob_shared *s, hob_shared_history **out,
                                            hob_error *err);
/* Policy isolate, on no branch. */
HOB_API int hob_shared_conversation_history_for_agent(hob_shared *s, hob_str agent,
                                                      hob_shared_history **out, hob_error *err);
HOB_API int hob_shared_conversation_history_scoped(hob_shared *s,
                                                   const hob_shared_history_opts *opts,
                                                   hob_shared_history **out, hob_error *err);
HOB_API int hob_shared_snapshot_history(const hob_shared_snapshot *p,
                                        const hob_shared_history_opts *opts,
                                        hob_shared_history **out, hob_error *err);
HOB_API void hob_shared_history_destroy(hob_shared_history *h);
HOB_API size_t hob_shared_history_count(const hob_shared_history *h);
/* Borrowed; NULL beyond the end. */
HOB_API const hob_shared_content *hob_shared_history_at(const hob_shared_history *h, size_t i);

#ifdef __cplusplus
}
#endif

#endif
