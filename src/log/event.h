/*
 * log/event.h - the envelope: one immutable, reference-counted block a event.
 *
 * The JSON line is the event; the fields below are slices of it. `data` is parsed when somebody needs it,
 * into an arena of theirs, so that a kept event costs its text and little more. Unknown kinds and unknown
 * fields stay in the text, byte for byte.
 */
#ifndef HOB_SRC_LOG_EVENT_H
#define HOB_SRC_LOG_EVENT_H

#include <hob/event.h>

#include "base/json.h"

#include <stdatomic.h>

#define HOB_EVENT_VERSION 1
#define HOB_EVENT_MAX (64u << 20) /* bytes of data a event */
#define HOB_EVENT_LINE_MAX (HOB_EVENT_MAX + 4096u)
enum { HOB_TURN_MAX = 1000000000 }; /* a larger number is no turn */

struct hob_event {
    atomic_uint refs;
    hob_event_type type;
    uint64_t seq;
    int64_t ts;
    int turn;     /* 0 = not in a turn */
    hob_str json; /* the whole line */
    hob_str data; /* slice of json: the data object */
    hob_str name; /* slices of json, "" if absent */
    hob_str session_id, run_id, parent_run, agent, branch, author, entry, parent_entry, cause;
};

/* What decide() says should be appended; the envelope is completed when it is. */
typedef struct hob_draft {
    hob_event_type type;
    int turn;
    hob_str run_id, parent_run, agent, branch, author, parent_entry, cause;
    bool is_entry; /* a node of the session tree: gets the id e<seq> */
    hob_buf data;  /* JSON object text; owned by the draft */
    char id[64];   /* room for a run id made with the draft */
    hob_buf made;  /* and for other text of its envelope */
} hob_draft;
void hob_draft_init(hob_draft *d, hob_event_type type);
void hob_draft_finish(hob_draft *d);

/* HOB_ETOOBIG if data is over HOB_EVENT_MAX (or its buffer failed), HOB_EPARSE if it is not an object. Line breaks
 * between its tokens become blanks. seq 0 = ephemeral. */
int hob_event_encode(const hob_draft *d, hob_str session_id, uint64_t seq, int64_t ts,
                     hob_event **out, hob_error *err);
/* From a stored line. HOB_EPARSE, HOB_ETOOBIG. One whose v is newer than HOB_EVENT_VERSION is read as far as
 * possible: only an unreadable envelope fails. */
int hob_event_decode(hob_str json, hob_event **out, hob_error *err);
/* The same, with data parsed into the arena on the way: for folding a log. */
int hob_event_read(hob_str json, hob_arena *a, hob_event **out, const hob_json **data,
                   hob_error *err);
/* Parses data into the arena; never NULL for a well-formed event (an empty object otherwise). */
const hob_json *hob_event_parse(const hob_event *e, hob_arena *a);
/* A string value as a slice of the event's own text, so that it lives as long as the event. One that was written
 * with escapes is given as written: ids and names never are. */
hob_str hob_event_own(const hob_event *e, const hob_json *v);
const char *hob_event_type_name(hob_event_type t);
hob_event_type hob_event_type_from(hob_str name);
bool hob_event_type_durable(hob_event_type t);

#endif
