/*
 * agui.h - the producer's side of a thread, from the inside.
 *
 * A call works in four steps: look (is it allowed now? nothing is changed), build (the event as JSON in `out`), send (encode,
 * hand to the sink), and only then note. So a refusal, a full sink or an event that is too large leave everything as it
 * was. A sink that is gone does not stop the noting: the session counts on as if somebody listened.
 *
 * What is noted: items that are open (item.c: messages, calls, reasoning, steps, sub-agents), messages and calls that the
 * thread has had (known.c), the state that the client holds (state.c), the run (run.c).
 */
#ifndef HOB_SRC_AGUI_AGUI_H
#define HOB_SRC_AGUI_AGUI_H

#include <hob/agui.h>

#include "agui/input.h"
#include "base/json.h"

#define HOB_AGUI_FRAME_MAX ((size_t)10 << 20) /* bytes: what clients take */
enum {
    HOB_AGUI_OPEN_MAX = 4096,      /* items open at a time */
    HOB_AGUI_KNOWN_MAX = 1 << 20,  /* messages, calls and runs of a thread */
    HOB_AGUI_ACTIVITIES_MAX = 1024 /* of a run */
};

typedef enum hob_agui_space {
    HOB_SPACE_TEXT,
    HOB_SPACE_CALL,
    HOB_SPACE_SPAN,    /* of reasoning */
    HOB_SPACE_THOUGHT, /* a reasoning message */
    HOB_SPACE_STEP,
    HOB_SPACE_SUBAGENT
} hob_agui_space;

typedef struct hob_agui_item {
    hob_list link; /* in the order of opening */
    hob_agui_space space;
    hob_str id, owner; /* owner: a sub-agent, "" = the agent; they follow the struct in memory */
} hob_agui_item;

typedef struct hob_agui_seen { /* a message of the thread */
    hob_str owner;
    bool begun;    /* false: only named as somebody's parent */
    unsigned told; /* after how many snapshots it was named last */
} hob_agui_seen;

typedef struct hob_agui_call {
    hob_list link; /* calls of this run, in their order */
    hob_str id, owner;
    bool answered;
} hob_agui_call;

typedef enum hob_agui_phase {
    HOB_PHASE_NEW, /* nothing was sent */
    HOB_PHASE_RUNNING,
    HOB_PHASE_FINISHED,
    HOB_PHASE_FAILED
} hob_agui_phase;

struct hob_agui_session {
    hob_agui_sink sink;
    char *thread, *run; /* run NULL = none */
    bool named;         /* the thread's id was given */
    bool gone;
    hob_agui_phase phase;
    hob_agui_dialect dialect;
    int64_t time;

    hob_buf out, frame; /* the event under way: JSON or SSE; its protobuf form */
    hob_jsonw w;
    hob_agui_kind kind;
    size_t json_at;     /* where in `out` the JSON begins */
    hob_arena *scratch; /* JSON given to the call under way */

    hob_list open;
    size_t nopen;
    hob_map *items;     /* by space, owner and id */
    hob_map *subagents; /* of this run, ended ones too */

    hob_arena *past; /* what the maps below point to */
    hob_map *messages, *calls, *runs;
    hob_list run_calls;
    unsigned snapshots; /* of messages, so far */

    hob_buf state, usage;
    size_t state_max; /* a longer one is not kept: state is empty then */
    hob_map *activities;
};

/* ---- session.c: looking and sending ------------------------------------------------------------------- */
int hob_agui_need_run(hob_agui_session *s, hob_error *err); /* HOB_EIDLE; also clears scratch */
int hob_agui_need_id(const char *what, hob_str id, hob_error *err);
/* JSON of the caller: `kind` is a hob_json_type, or -1 for any. */
int hob_agui_need_json(hob_agui_session *s, const char *what, hob_str text, int kind,
                       const hob_json **out, hob_error *err);
int hob_agui_need_extra(hob_agui_session *s, const hob_agui_extra *x, hob_error *err);
hob_jsonw *hob_agui_begin(hob_agui_session *s, hob_agui_kind kind);
/* metadata and subagentRunId, where there are any. */
void hob_agui_put_extra(hob_agui_session *s, const hob_agui_extra *x);
int hob_agui_send(hob_agui_session *s, hob_error *err);
/* Large events are few: the room that one took is given back. After it nothing of scratch may be used. */
void hob_agui_tidy(hob_agui_session *s);
static inline bool hob_agui_happened(int rc) {
    return rc >= 0 || rc == HOB_ECLOSED;
}

/* ---- run.c -------------------------------------------------------------------------------------------- */
hob_jsonw *hob_agui_begin_finished(hob_agui_session *s);
int hob_agui_send_end(hob_agui_session *s, hob_agui_phase phase, hob_error *err);

/* ---- item.c ------------------------------------------------------------------------------------------- */
hob_agui_item *hob_agui_item_get(const hob_agui_session *s, hob_agui_space space, hob_str owner,
                                 hob_str id);
int hob_agui_item_need(const hob_agui_session *s, hob_agui_space space, hob_str id,
                       hob_agui_item **out, hob_error *err); /* HOB_ENOENT */
/* May one more open? HOB_EEXIST, HOB_ETOOBIG, HOB_EINVAL. */
int hob_agui_item_may(const hob_agui_session *s, hob_agui_space space, hob_str owner, hob_str id,
                      hob_error *err);
void hob_agui_item_add(hob_agui_session *s, hob_agui_space space, hob_str owner, hob_str id);
void hob_agui_item_remove(hob_agui_session *s, hob_agui_item *item);
void hob_agui_item_clear(hob_agui_session *s);

typedef enum hob_agui_why { HOB_WHY_FINISH, HOB_WHY_INTERRUPT, HOB_WHY_CANCEL } hob_agui_why;
int hob_agui_item_close(hob_agui_session *s, hob_agui_item *item, hob_agui_why why, hob_error *err);
/* Closes what is open, newest first; of one sub-agent only if `owner` is not NULL. */
int hob_agui_item_close_all(hob_agui_session *s, const hob_str *owner, hob_agui_why why,
                            hob_error *err);

/* ---- known.c -------------------------------------------------------------------------------------------- */
void hob_agui_known_init(hob_agui_session *s);
void hob_agui_known_finish(hob_agui_session *s);
void hob_agui_known_forget(hob_agui_session *s); /* messages and calls, not runs */
hob_agui_seen *hob_agui_known_message(const hob_agui_session *s, hob_str id);
hob_agui_call *hob_agui_known_call(const hob_agui_session *s, hob_str id);
/* The client had it, and the last snapshot has not: the name is taken, but by something else. */
bool hob_agui_known_foreign(const hob_agui_session *s, hob_str id);
int hob_agui_known_room(const hob_agui_session *s, hob_error *err);
void hob_agui_known_add_message(hob_agui_session *s, hob_str id, hob_str owner, bool begun);
hob_agui_call *hob_agui_known_add_call(hob_agui_session *s, hob_str id, hob_str owner);
/* An array of messages that the client has. */
void hob_agui_known_read(hob_agui_session *s, const hob_json *messages);

/* ---- message.c, reasoning.c ----------------------------------------------------------------------------- */
/* May a message with this id begin? HOB_EEXIST, HOB_ENOENT, HOB_EINVAL. */
int hob_agui_may_begin(hob_agui_session *s, hob_str id, const hob_agui_extra *x, hob_error *err);
int hob_agui_piece(hob_agui_session *s, hob_agui_space space, hob_str id, hob_str delta,
                   hob_error *err);
int hob_agui_end(hob_agui_session *s, hob_agui_space space, hob_str id, hob_error *err);
int hob_agui_need_parts(hob_agui_session *s, hob_str parts_json, const hob_json **out,
                        hob_error *err);

/* ---- state.c -------------------------------------------------------------------------------------------- */
void hob_agui_state_note(hob_agui_session *s, hob_str json); /* that is what the client has */
/* A patch that is right whatever the client has; the state is not kept. */
int hob_agui_state_tell(hob_agui_session *s, hob_str patch, hob_error *err);
void hob_agui_activities_clear(hob_agui_session *s);
static inline hob_str hob_agui_owner(const hob_agui_extra *x) {
    return x ? x->subagent : HOB_STR_NULL;
}

#endif
