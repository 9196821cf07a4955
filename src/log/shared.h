/*
 * log/shared.h - the shared session without its lock: events, state and views as plain values.
 *
 * hob_record     an event, checked and indexed when it was made, immutable afterwards, one block of memory;
 * hob_records    the list: chunks that are only ever written behind their last record, so that whoever holds a count
 *                and the directory of chunks holds an immutable prefix;
 * hob_ledger     list, state and look-up tables; every change goes through it, and happens whole or not at all;
 * hob_shared_snapshot   list and state of one instant.
 *
 * Making a record needs no ledger: in session/shared.c that part happens before the lock is taken. Only finding the
 * calls that its results belong to, and giving it its number, happens with it.
 */
#ifndef HOB_SRC_LOG_SHARED_H
#define HOB_SRC_LOG_SHARED_H

#include <hob/shared.h>

#include "log/branch.h"
#include "log/state.h"

#define HOB_SHARED_EVENT_MAX ((size_t)64 << 20)  /* bytes of one event */
#define HOB_SHARED_EXPORT_MAX ((size_t)2 << 30)  /* bytes of an export */
#define HOB_SHARED_HISTORY_MAX ((size_t)1 << 30) /* bytes of text made for one history */
enum { HOB_SHARED_NAME_MAX = 1024 };             /* ids, names, branches */
enum { HOB_SHARED_IDENTITY_MAX = 65536 };        /* what is kept; try_identity is stricter */

/* ---- records (shared_record.c) ---------------------------------------------------------------- */

typedef enum hob_part_kind {
    HOB_PART_TEXT,
    HOB_PART_THINKING,
    HOB_PART_CALL,
    HOB_PART_RESULT,
    HOB_PART_OTHER
} hob_part_kind;

typedef struct hob_part {
    hob_part_kind kind;
    hob_str raw;         /* the block */
    hob_str body;        /* JSON: the text, the arguments, the result's content */
    hob_str name;        /* JSON string: the tool */
    hob_str call;        /* what pairs a call and its result, as written */
    uint32_t call_event; /* of a result: index of the record with its call */
    uint32_t call_slot;  /* and the call's place among the calls there */
} hob_part;

typedef struct hob_record {
    atomic_uint refs;
    hob_shared_event event;
    hob_part *blocks;
    uint32_t nblocks, ncalls, nresults;
    size_t bytes;
    char made_id[24];
    _Atomic(struct hob_told *) told; /* the event as others are told it; made when first needed */
} hob_record;

typedef struct hob_told {
    size_t n; /* 0 = there is nothing to say */
    char text[];
} hob_told;

/* `c` is the record's change of state, so that temp: keys stay out of its text. */
int hob_record_create(const hob_shared_event *e, const hob_change *c, hob_arena *a,
                      hob_record **out, hob_error *err);
void hob_record_unref(hob_record *r);

/* ---- the list (shared_list.c) ------------------------------------------------------------------- */

enum { HOB_CHUNK = 256 };

typedef struct hob_chunk {
    atomic_uint refs;
    hob_record *records[HOB_CHUNK];
} hob_chunk;

typedef struct hob_directory {
    atomic_uint refs;
    size_t cap;
    hob_chunk *chunks[];
} hob_directory;

typedef struct hob_records {
    hob_directory *dir;
    size_t n;
} hob_records;

void hob_records_copy(hob_records *to, const hob_records *from);
void hob_records_finish(hob_records *l);
void hob_records_give(hob_records *l, hob_record *r);
static inline hob_record *hob_records_at(const hob_records *l, size_t i) {
    return l->dir->chunks[i / HOB_CHUNK]->records[i % HOB_CHUNK];
}

/* ---- look-up (shared_table.c): keys borrowed, the newest of equal keys counts --------------------- */

typedef struct hob_table {
    struct hob_place {
        hob_str key;
        uint64_t hash;
        uint32_t event, slot;
    } * places;
    size_t n, cap;
} hob_table;
void hob_table_finish(hob_table *t);
void hob_table_put(hob_table *t, hob_str key, uint32_t event, uint32_t slot);
const struct hob_place *hob_table_get(const hob_table *t, hob_str key);

/* ---- the ledger (shared_ledger.c) ------------------------------------------------------------------ */

typedef struct hob_ledger_limits {
    hob_state_limits state;
    size_t events, event_bytes;
} hob_ledger_limits;

#define HOB_LEDGER_LIMITS                                                                          \
    ((hob_ledger_limits){HOB_STATE_LIMITS, 4000000, (size_t)1 << 30}) /* unless said otherwise */

typedef struct hob_ledger {
    hob_ledger_limits limits;
    hob_state state;
    hob_records records;
    hob_table ids, calls;
    size_t bytes; /* of the records */
    uint64_t revision;
    char *invocation; /* the open one or NULL */
} hob_ledger;

void hob_ledger_finish(hob_ledger *l);
int hob_ledger_change(hob_ledger *l, const hob_change *c, hob_error *err);
/* Gives the record its number. On success the ledger owns it. `revision`: the one that must hold; NULL = any. */
int hob_ledger_append(hob_ledger *l, hob_record *r, const hob_change *c, const uint64_t *revision,
                      hob_error *err);
/* All checks of an append and nothing else: for partial events. */
int hob_ledger_check(const hob_ledger *l, hob_record *r, const hob_change *c,
                     const uint64_t *revision, hob_error *err);
int hob_ledger_begin(hob_ledger *l, hob_str invocation, hob_error *err);
int hob_ledger_end(hob_ledger *l, hob_str invocation, hob_error *err);
/* Begins an empty ledger with the records and the stored state of a snapshot; the rest is shared with it. */
int hob_ledger_adopt(hob_ledger *l, const hob_shared_snapshot *p, hob_error *err);

/* shared_log.c: messages of a session's log, each followed by the results of its calls in their order. */
struct hob_event;
int hob_ledger_add_log(hob_ledger *l, struct hob_event *const *events, size_t n, hob_error *err);

/* ---- snapshots (shared_snapshot.c, shared_json.c) ---------------------------------------------------- */

struct hob_shared_snapshot {
    atomic_uint refs;
    hob_state state;
    hob_records records;
    uint64_t revision;
    struct hob_shared_name *name;
};

/* Who the session is; outlives it for the sake of its snapshots. */
typedef struct hob_shared_name {
    atomic_uint refs;
    hob_str id, app_name, user_id;
} hob_shared_name;
int hob_shared_name_create(hob_str id, hob_str app_name, hob_str user_id, hob_shared_name **out,
                           hob_error *err);
void hob_shared_name_unref(hob_shared_name *n);
hob_shared_snapshot *hob_ledger_snapshot(const hob_ledger *l, hob_shared_name *name);

/* Reads an export into an empty ledger; the names are slices of the arena. */
int hob_ledger_import(hob_ledger *l, hob_arena *a, hob_str text, hob_shared_identity *name,
                      hob_error *err);

/* ---- histories (shared_view.c, shared_tell.c) ---------------------------------------------------------- */

/* Blocks of another agent's event as words of the user; false if there is nothing to say. `results_only`: its tool
 * results alone. `l`: for the names of tools that results leave out. */
bool hob_tell_foreign(const hob_record *r, const hob_records *l, bool results_only, hob_buf *out);
/* The same, all of it, kept with the record: whoever is told an event is told it in the same words. */
hob_str hob_record_told(const hob_record *r, const hob_records *l, hob_buf *scratch);
/* The result of a call that has none. */
void hob_tell_missing(const hob_part *call, hob_buf *out);

#endif
