/*
 * session.h - the object users hold, from the inside.
 *
 * Everything here lives on the loop thread. Calls from other threads arrive as operations (op.c); events leave
 * through mailboxes (mailbox.c). The way of an event:
 *
 *     say (decide) -> append (seq, views change) -> commit -> durable -> readers, effects, operations
 *
 * append.c owns that way. Several agents may be at work at once, each a strand (strand.h). perform.c compares what
 * pending() lists with what is under way; each effect has its own file (perform_model.c, perform_tool.c,
 * perform_timer.c).
 */
#ifndef HOB_SRC_SESSION_H
#define HOB_SRC_SESSION_H

#include <hob/session.h>
#include <hob/stored.h>
#include <hob/subagent.h>

#include "log/trace.h"
#include "session/definitions.h"
#include "session/strand.h"
#include "store/store.h"

#include <pthread.h>
#include <stdio.h>

/* ---- runtime.c ------------------------------------------------------------------------------ */

struct hob_runtime {
    /* immutable after create */
    const hob_config *config;
    hob_config *own_config; /* when the host gave none */
    hob_loop_mode mode;
    hob_loop *loop;
    hob_pool *pool;
    hob_http *http;
    hob_exec *exec;
    hob_models *models;
    hob_store *store, *memory;          /* memory: for IN_MEMORY sessions, made on first use */
    hob_store *memory_store;            /* memory.file; NULL: memory is in `store` */
    struct hob_memory_ops *host_memory; /* NULL: the host keeps none */
    char **envp;                        /* environment of commands */
    char *exec_helper, *libexec_dir;
    char *state_dir;  /* "" = none */
    pthread_t thread; /* the loop's: own, or the one that created the runtime */
    /* loop thread only */
    int64_t clock_base; /* wall time less monotonic time: sessions agree on what is newer */
    hob_list sessions;
    hob_list memory_replies;         /* of the host, that are waited for */
    hob_list watchers;               /* watch.c */
    struct hob_telemetry *telemetry; /* telemetry.c; NULL = nobody wants traces */
    unsigned depth;                  /* > 0 while callbacks of the host run */
    hob_arena *scratch;              /* data of the event being folded */
    char fact_error[700];            /* about the call being decided */
    /* protected by lock */
    pthread_mutex_t lock;
    pthread_cond_t cond;
    bool stopping;
    atomic_bool woken;
};

int64_t hob_runtime_clock_base(hob_runtime *rt);
int hob_runtime_exec(hob_runtime *rt, hob_exec **out, hob_error *err); /* made on first use */
int hob_runtime_memory(hob_runtime *rt, hob_store **out, hob_error *err);

/* ---- op.c: calls from any thread, done on the loop -------------------------------------------- */

typedef struct hob_op hob_op;
struct hob_op {
    hob_msg msg;
    hob_list link; /* waiting for a seq to become durable */
    hob_runtime *rt;
    hob_session *s;
    void (*start)(hob_op *op); /* on the loop; ends with hob_op_done, now or later */
    void *user;
    void (*then)(
        hob_op *op); /* nobody waits: called on the loop at its end, from the loop itself */
    uint64_t after;  /* done when this is durable */
    /* protected by rt->lock */
    bool done;
    int rc;
    hob_error err;
};
/* Runs op->start on the loop and waits for its end. HOB_EDEADLK inside a callback. */
int hob_op_run(hob_runtime *rt, hob_op *op, hob_error *err);
void hob_op_done(hob_op *op, int rc, const hob_error *err); /* [loop] */
/* For an operation with `then`: ready to be given to whoever ends it. [loop] */
void hob_op_prepare(hob_runtime *rt, hob_op *op, void (*then)(hob_op *op));
bool hob_on_loop(hob_runtime *rt);
bool hob_inside_callback(hob_runtime *rt);
/* Waits until the predicate is true; pumps the loop where that is ours to do. The predicate runs under rt->lock.
 * timeout_ms < 0 = none. HOB_OK, HOB_ETIMEDOUT, HOB_EAGAIN (woken; not when firmly), HOB_EDEADLK. */
int hob_wait_for(hob_runtime *rt, bool (*ready)(void *user), void *user, int64_t timeout_ms);
int hob_wait_firmly(hob_runtime *rt, bool (*ready)(void *user), void *user, int64_t timeout_ms);

/* A session is not freed while a call on it is under way. HOB_ECANCELLED when it is being let go of. */
int hob_session_enter(hob_session *s, hob_error *err);
void hob_session_hold(hob_session *s); /* the same, whatever becomes of it */
void hob_session_leave(hob_session *s);
int hob_session_run(hob_session *s, hob_op *op, hob_error *err); /* hob_op_run between the two */

/* ---- mailbox.c: events on their way to one reader ------------------------------------------------ */

enum {
    HOB_MAILBOX_EVENTS = 256,
    HOB_MAILBOX_BYTES = 256 * 1024, /* of deltas */
    HOB_UNREAD_EVENTS = 32,         /* of which nobody ever took one */
    HOB_UNREAD_BYTES = 32 * 1024,
    HOB_TAIL_EVENTS = 1024
};

typedef struct hob_delta {
    hob_event_type type;
    char key[32]; /* message or call id */
    int block;
    size_t offset;
    hob_str tool;          /* name, for arguments; copied */
    int call;              /* the call's place among those of its message */
    hob_str agent, branch; /* of the envelope; copied */
} hob_delta;

typedef struct hob_piece { /* a delta that may still grow */
    hob_delta delta;
    char tool[72], run[64];
    char *agent, *branch; /* heap, or NULL */
    int64_t ts;
    hob_buf text;
} hob_piece;

typedef struct hob_letter { /* one of the two */
    hob_event *event;
    hob_piece *piece;
} hob_letter;

typedef struct hob_mailbox {
    pthread_mutex_t lock;
    hob_letter *ring;
    size_t head, count, cap, delta_bytes;
    int fd;       /* eventfd, -1 until asked for */
    bool lit;     /* it is readable */
    bool held;    /* something was left behind for lack of room */
    bool taken;   /* somebody took or asked for something once */
    bool awaited; /* the reader found nothing and wants to be told */
    bool closed;  /* there is no session any more */
    bool ended;   /* nothing more will come until another run starts */
    int error;    /* the session failed */
} hob_mailbox;
void hob_mailbox_init(hob_mailbox *m);
void hob_mailbox_finish(hob_mailbox *m);
void hob_mailbox_clear(hob_mailbox *m); /* forgets what was not taken: the reader goes elsewhere */
bool hob_mailbox_full(hob_mailbox *m);
/* True: much is there that nobody takes. It was thrown away and is held back. */
bool hob_mailbox_forsake(hob_mailbox *m);
void hob_mailbox_put(hob_mailbox *m, hob_event *e);
void hob_mailbox_hold(hob_mailbox *m);
bool hob_mailbox_unhold(hob_mailbox *m); /* whether it was held */
/* Joins the newest letter if it is the same stream. False: too much is unread, nothing was put; not with `force`. */
bool hob_mailbox_put_delta(hob_mailbox *m, const hob_delta *d, hob_str run, int64_t ts,
                           hob_str text, bool force);
void hob_mailbox_end(hob_mailbox *m, bool ended, int error);
/* 1 and an event, 0 = empty; *ended and *error as they are. The session id completes a delta's envelope. */
int hob_mailbox_take(hob_mailbox *m, hob_str session_id, hob_event **out, bool *ended, int *error);
bool hob_mailbox_ready(hob_mailbox *m);
/* For a reader that found nothing. True: now there is something to take. Otherwise it waits from now on; `held`: more
 * was left behind, and is to be asked for (once); `closed`: nothing will come. */
bool hob_mailbox_await(hob_mailbox *m, bool *held, bool *closed);
/* Whether there is something for a reader that waits; once. */
bool hob_mailbox_rouse(hob_mailbox *m);
/* The session is gone: nothing is added any more. */
void hob_mailbox_close(hob_mailbox *m);
int hob_mailbox_fd(hob_mailbox *m);

/* ---- reader.c: who reads the events of a session ------------------------------------------------- */

struct hob_reader {
    hob_list link;  /* of the session's */
    hob_session *s; /* NULL: it is gone, this one is not yet */
    hob_mailbox box;
    uint64_t cursor, cold_from;
    uint64_t live_from; /* messages after this come with deltas; those before are history */
    hob_list sent;      /* hob_sent: messages of which the reader has some */
    bool reading;       /* events are put into the mailbox: somebody reads, or may still begin to */
    bool reading_cold;
    bool closed; /* to be freed when the store has answered */
    /* the handle's own */
    hob_event_fn on_event;
    void *on_event_user;
    /* all others (readers.c) */
    hob_runtime *rt;
    char *session_id;
    hob_msg refill, bye;
    atomic_bool refilling; /* the message is on its way */
    pthread_mutex_t lock;  /* held while ready is called */
    hob_ready_fn ready;    /* NULL once it was closed */
    void *user;
};
void hob_reader_init(hob_reader *r, hob_session *s);
void hob_reader_finish(hob_reader *r);
void hob_reader_begin(hob_reader *r, uint64_t seq); /* with what follows `seq`, all of it live */
/* Goes to the event after `seq`; what is there already is history. */
void hob_reader_seek(hob_reader *r, uint64_t seq);
void hob_reader_forget_sent(hob_reader *r); /* it begins anew */
/* The log may have become shorter: what was appended was not committed. */
void hob_session_recall_readers(hob_session *s);
/* readers.c: all but the handle's own are told, if they wait for something and it is there. */
void hob_reader_tell(hob_reader *r);
void hob_session_tell_readers(hob_session *s);
void hob_reader_free(hob_reader *r);
void hob_session_drop_readers(hob_session *s); /* it is gone; they learn so */

/* ---- the session ------------------------------------------------------------------------------------ */

typedef struct hob_inherited hob_inherited; /* task.h */
typedef struct hob_task hob_task;
struct hob_tracker { /* tracker.c */
    hob_list children;
};
typedef struct hob_flight hob_flight; /* an effect under way */
struct hob_flight {
    hob_list link;
    hob_session *s;
    hob_strand *strand; /* whose effect it is */
    hob_effect_kind kind;
    char key[64];
    hob_ending stopping;
    bool seen;
    bool told; /* that this one call is not wanted any more */
    void *impl;
    hob_timer later; /* an outcome that must not be given from inside start() or stop() */
    int code;
    hob_error err;
};

typedef struct hob_agent_choice hob_agent_choice; /* agent.c */
typedef struct hob_thaw hob_thaw;

/* Values of temp: keys that a call has set, until its batch is done. */
typedef struct hob_temp {
    hob_list link;
    char call[64];
    hob_state overlay;
} hob_temp;

struct hob_session {
    hob_list link;
    hob_runtime *rt;
    hob_store *store;
    char id[129], forked_from[129];
    uint64_t forked_seq;
    int64_t forked_ts; /* of the last event that counts; 0 = of that one */
    /* options */
    unsigned flags;
    hob_approver approver;
    hob_limits limits;
    hob_limits own_limits; /* of its log: they narrow those of whoever opens it */
    hob_policy *policy;
    hob_mode mode;
    char **allow, **deny; /* rules of the caller, for a policy of another mode; NULL = none */
    hob_agent_callbacks callbacks;                /* size 0 = none */
    hob_definitions *definitions;                 /* NULL = none */
    char agent_name[HOB_DEFINITION_NAME_MAX + 1]; /* the one of them that it is; "" = hob's own */
    bool skills_offered;                          /* the skill tool is there */
    hob_agent_choice *choice;                     /* while options are applied */
    char *cwd;
    hob_buf system; /* the system prompt in force */
    hob_buf context_origins;
    /* parts */
    hob_workspace *workspace;
    hob_tools *tools;
    hob_builtins *builtins;
    hob_tool_env tool_env;
    hob_backend_ops backend; /* size 0 = none */
    void *backend_user;
    hob_model_info model;
    char *model_name; /* provider/id, or scripted:FILE; heap */
    hob_provider *provider;
    hob_thinking thinking;
    struct hob_memory *memory; /* NULL = none */
    hob_list memory_calls;     /* of its tools, under way */
    hob_list taught;           /* changes of memory that wait for the event of their call */
    hob_list shelved;          /* artifacts that wait for theirs (artifact.h) */
    const hob_error
        *memory_error;  /* while it is being opened: why there is none; code HOB_OK = it is fine */
    char *init_warning; /* NULL = none */
    bool warned;        /* the log has it */
    /* views */
    hob_view *view;
    hob_run run;
    hob_list temps;           /* hob_temp */
    bool temp_kept;           /* the values of temp: keys that the log names are in the view */
    char *app_name, *user_id; /* whose state it shares; NULL = not known yet */
    bool reading_scopes;      /* what is shared is on its way from the store */
    bool scopes_stale;        /* and changed meanwhile */
    /* who is at work */
    hob_strand own;
    hob_list strands;      /* own is the first */
    struct hob_crew *crew; /* the agents of its workflow; NULL = it has none */
    /* the log's way */
    uint64_t epoch, durable, submitted;
    hob_event **tail; /* events [tail_base .. tail_base + ntail), the newest ones */
    uint64_t tail_base;
    size_t ntail, tail_cap;
    bool fresh;         /* nothing was stored yet */
    hob_list ops;       /* operations that wait for durability */
    int64_t clock_base; /* session time = clock_base + monotonic time */
    int failed;         /* HOB_E… once a commit failed; until refolded */
    hob_error fail_error;
    bool refolding;
    uint64_t kept_seq; /* where the last snapshot stands */
    bool keeping;      /* one is being stored */
    hob_thaw *thaw;    /* the conversation is being read */
    bool closing;      /* no new work is admitted */
    bool let_go;       /* nothing is written and nothing performed any more */
    bool whole;        /* every call of the conversation has a result, or its run will see to it */
    bool used;         /* something was written since it was opened */
    bool bare;         /* bare.c: opened only to be changed */
    bool left_alone;   /* an unfinished run that is neither resumed nor settled yet */
    unsigned inflight; /* store calls not yet answered */
    bool released;     /* given back to the store, or about to be */
    hob_op *close_op;  /* waits until they are, and until children are gone */
    /* sub-agents (task.h) */
    hob_list tasks;             /* those at work */
    hob_tracker tracker;        /* those that the host makes itself */
    hob_task *task;             /* what it is to its parent; NULL = nobody's child */
    const hob_inherited *given; /* what it has of it; while it is opened */
    const hob_inherited *line;  /* the same, as long as it lives */
    hob_subagent *conversation; /* that a host holds with it; NULL = none */
    int depth;                  /* 0 = nobody's child */
    hob_definitions *agents;    /* registered with this session; NULL = none */
    /* protected by rt->lock: what other threads may ask without waiting */
    struct {
        bool running, parked, paused, failed;
        uint64_t parked_at; /* the event that it is parked with; 0 = it is not */
        bool settled;       /* nothing will happen by itself */
        bool leaving;       /* no call may begin, and those that wait come back */
        bool gone;          /* let go of; to be freed */
    } pub;
    unsigned callers; /* calls under way */
    /* effects */
    hob_list flights;
    hob_timer kick;
    /* who reads */
    hob_reader reader; /* the handle's own */
    hob_list readers;  /* that one is the first */
    char trace[56];    /* W3C trace context for the next run; "" = none */
    char payer[129];   /* of the message that is being taken; "" = nobody */
    hob_str key;       /* the same */
    /* the result */
    uint64_t result_seq; /* the last answer since the prompt */
};

int64_t hob_session_now(hob_session *s);

/* ---- append.c ----------------------------------------------------------------------------------------- */
/* hob_strand_input for the session's own strand; a verdict goes to the strand that has the call. */
int hob_session_input(hob_session *s, hob_input *in, hob_error *err);
void hob_session_outcome(hob_session *s, hob_input *in);
/* A draft of the session's own (settings, notes). */
int hob_session_append(hob_session *s, hob_draft *d, hob_error *err);
/* A state_changed with what a function of the host changed: values of temp: keys join the state here. */
int hob_session_append_changes(hob_session *s, hob_draft *d, const hob_state *changes,
                               hob_error *err);
/* Applies to the views; `data` is the event's, parsed. */
int hob_session_fold(hob_session *s, hob_event *e, const hob_json *data, hob_error *err);
void hob_session_commit(hob_session *s);
void hob_session_fill_row(const hob_view *v, hob_str id, hob_str state, hob_store_session *row);
/* 1, or 0: the event tells of none. s is NULL when nobody works on it. */
size_t hob_session_fill_run(const hob_session *s, const hob_event *e, hob_arena *a,
                            hob_store_run *run);
void hob_session_rest(hob_session *s); /* one that is settled lets go of what it can make again */
void hob_session_trim_tail(hob_session *s);
int hob_session_usable(hob_session *s, hob_error *err); /* or why nothing can be written now */
void hob_session_fail(hob_session *s, int code, const hob_error *err);
void hob_session_publish(hob_session *s); /* pub.*, and wakes who waits */
/* Ends op when everything appended so far is durable. */
void hob_session_op_after(hob_session *s, hob_op *op);

/* ---- state.c -------------------------------------------------------------------------------------------- */
/* What a tool asked for, as the event has it; values of temp: keys are put aside. A change that the state has no room
 * for is left out, and `content` (a JSON array) says so. */
void hob_strand_take_actions(hob_strand *st, const char *call, const hob_actions *a, hob_buf *out,
                             hob_buf *content);
void hob_content_add_words(hob_buf *content, const char *words); /* a block more in the array */
/* An event was appended, by this process: values that it only names join the view, or end. */
void hob_session_note_temp(hob_session *s, const hob_event *e, const hob_json *data);
void hob_session_drop_temps(hob_session *s);
/* One state_changed of the host's; says settings first if the log is empty. */
int hob_session_say_state(hob_session *s, const hob_state *overlay, hob_error *err);
/* What a new session begins with: the session's own keys of another, under `json`. */
int hob_session_begin_state(hob_session *s, const hob_state *inherited, hob_str json,
                            hob_error *err);

/* ---- scope.c: app: and user: state ---------------------------------------------------------------------- */
/* Whose session it is, by its log, or by its options if nothing is written yet. HOB_ENOENT: another's. */
int hob_session_identify(hob_session *s, hob_error *err);
/* Puts what the store has of both scopes into the view. */
typedef void (*hob_scopes_fn)(hob_session *s, int code, const hob_error *err, void *user);
void hob_session_read_scopes(hob_session *s, hob_scopes_fn done, void *user);
/* The rows that an event changes, added to rows (grown in the arena). */
typedef struct hob_scope_rows {
    hob_store_state *at;
    size_t n, cap;
} hob_scope_rows;
void hob_session_scope_rows(hob_session *s, const hob_event *e, hob_arena *a, hob_scope_rows *rows);
/* The events up to this one have become durable: other sessions of this program learn what they changed. */
void hob_session_tell_scopes(hob_session *s, uint64_t upto);

void hob_row_question(hob_jsonw *w, const hob_json *from); /* look.c: of a row of approvals */
int hob_question_tool_add(hob_session *s, hob_error *err); /* question_tool.c */

/* ---- perform.c ------------------------------------------------------------------------------------------ */
void hob_session_perform(hob_session *s);
void hob_session_kick(hob_session *s); /* perform later, from the loop */
void hob_session_drop_flights(hob_session *s);
typedef struct hob_performer {
    int (*start)(hob_flight *f, const hob_effect *e);
    void (*stop)(hob_flight *f, bool hard);
    void (*destroy)(hob_flight *f);
} hob_performer;
extern const hob_performer hob_perform_call_model, hob_perform_run_tool, hob_perform_timer,
    hob_perform_call_agent;
/* Gives the outcome on the next turn of the loop. */
void hob_flight_fail(hob_flight *f, int code, const hob_error *err);
void hob_flight_end(hob_flight *f);                      /* unlinks and destroys */
int hob_session_stop_call(hob_session *s, hob_str call); /* HOB_ENOENT: it is not at work */
/* What failed or never started, as an input. */
void hob_model_failed(hob_flight *f);
void hob_tool_failed(hob_flight *f);
void hob_agent_failed(hob_flight *f);

/* ---- command.c ------------------------------------------------------------------------------------------- */
int hob_content_check(hob_str json, hob_error *err); /* text and image blocks, and not empty */
/* The words of the user as content: one block, or what the command that they name stands for. */
int hob_session_users_text(hob_session *s, hob_str text, hob_buf *out, hob_error *err);
int hob_session_admit(hob_session *s, hob_error *err); /* no new work once it is being closed */
/* Ends an operation with what hob_session_input or a settings call said. */
void hob_op_conclude(hob_op *op, int rc, const hob_error *err);

/* ---- reader.c, stream.c ----------------------------------------------------------------------------------- */
void hob_session_deliver(hob_session *s); /* durable events and deltas into the mailboxes */
void hob_reader_stream(hob_reader *r);
/* Deltas that go before this event. False: no room now. */
bool hob_reader_stream_before(hob_reader *r, const hob_event *e);
void hob_session_drop_answers(hob_session *s); /* of which every reader has all */

/* ---- command.c: "TITLE (copy)", so that a list tells the two apart; a first message, on the loop ------------------ */
int hob_session_say_copied(hob_session *s, const hob_view *original, hob_error *err);
int hob_session_begin(hob_session *s, hob_str text, hob_error *err);

/* ---- wait.c: a predicate for hob_wait_for ----------------------------------------------------------------- */
bool hob_session_at_rest(void *session);

void hob_session_tell_watchers(hob_session *s, uint64_t upto); /* watch.c; not durable yet */
void hob_runtime_drop_watchers(hob_runtime *rt);

/* ---- telemetry.c: spans on their way to a collector ------------------------------------------------------- */
int hob_telemetry_open(hob_runtime *rt, hob_error *err); /* if the configuration names one */
void hob_telemetry_close(hob_runtime *rt);               /* [loop] */
void hob_telemetry_see(hob_runtime *rt, const hob_event *e);
void hob_telemetry_flush(hob_runtime *rt); /* sends what there is, and waits a little */

/* ---- result.c ------------------------------------------------------------------------------------------- */
void hob_session_note_result(hob_session *s, const hob_event *e, const hob_json *data);
hob_result *hob_session_result(hob_session *s);

/* ---- prompt.c: the system prompt ------------------------------------------------------------------------- */
int hob_session_build_prompt(hob_session *s, const hob_session_opts *o, hob_error *err);

/* ---- page.c, look.c, manage.c ---------------------------------------------------------------------------- */
hob_page *hob_page_create(void);
void hob_page_add(hob_page *p, hob_str row);
void hob_page_set_next(hob_page *p, hob_str next);
void hob_page_add_session(hob_page *p, const hob_store_session *row);
void hob_page_add_run(hob_page *p, const hob_store_run *row);
void hob_page_add_history(hob_page *p, const hob_history *h);
void hob_page_add_tree(hob_page *p, const hob_history *h);
void hob_page_add_under_way(hob_page *p, const hob_working *agents, const hob_kids *kids);
int hob_tenant_take(const hob_tenant *given, hob_str *app, hob_str *user, hob_error *err);
int hob_session_say_matches(hob_str prefix, int n, hob_error *err); /* none, or too many */
int hob_store_events_page(hob_runtime *rt, hob_store *store, hob_str session, uint64_t after,
                          size_t limit, hob_page **out, hob_error *err);

/* ---- load.c: folding what the store has -------------------------------------------------------------------- */
typedef void (*hob_loaded_fn)(hob_session *s, int code, const hob_error *err, void *user);
/* Folds the stored events of `from` (this session, or the one it is forked from) into fresh views; its own from a
 * snapshot, if there is one, unless the session failed. */
void hob_session_load(hob_session *s, hob_str from, hob_loaded_fn done, void *user);

/* ---- snapshot.c -------------------------------------------------------------------------------------------- */
/* What the history must be once the events up to `seq` are folded into it. */
typedef struct hob_restored {
    uint64_t seq, leaf, generation;
    size_t count, bytes;
} hob_restored;
/* Stores a snapshot if the session is at rest and it is time for one. */
void hob_session_keep(hob_session *s);
/* Fills fresh views. False: it is of no use; the views are to be thrown away. */
bool hob_session_restore(hob_session *s, const hob_store_snapshot *snap, hob_restored *out);
bool hob_session_restored(hob_session *s, const hob_restored *r); /* it is what it must be */

/* ---- thaw.c ------------------------------------------------------------------------------------------------ */
/* True: the whole conversation is in memory. False: it is being read; then op (nullable) is started again, and
 * effects are performed. */
bool hob_session_thaw(hob_session *s, hob_op *op);

/* ---- copy.c -------------------------------------------------------------------------------------------------- */
int hob_session_copy(hob_session *s, const hob_history *h, hob_error *err);
/* Gives calls of the conversation that have no result one; looks once after each load. No run may be under way. */
int hob_session_repair(hob_session *s, hob_error *err);
/* The same for calls of agents that are not of its workflow, and their end: nobody else says it, though the run goes on. */
int hob_session_repair_strangers(hob_session *s, hob_error *err);

/* ---- options.c --------------------------------------------------------------------------------------------- */
/* Copies a host's options into ours of n bytes, whichever version its header had. HOB_EINVAL for what we do not know. */
int hob_take_options(void *to, size_t n, const void *given, size_t size, hob_error *err);
int hob_session_check_options(const hob_session_opts *o, hob_error *err);

/* ---- agent.c: a session that is an agent of the definitions ------------------------------------------------- */
/* Looks it up for the rest of hob_session_apply_options; s->choice stays NULL if it is to be none. */
int hob_session_choose_agent(hob_session *s, const hob_session_opts *o, hob_error *err);
void hob_session_forget_choice(hob_session *s);
/* Policy, limits and the tools that are told of, once they are there. */
int hob_session_narrow_to_agent(hob_session *s, hob_error *err);
/* The model it asks for, if that counts now; "" = none. */
hob_str hob_session_agent_model(const hob_session *s);
void hob_session_blame_agent(const hob_session *s, hob_error *err); /* for a model that cannot be */
/* Its instruction instead of hob's own words; false = it has none. Then the skills that it names. */
bool hob_session_add_instruction(const hob_session *s, hob_buf *out);
int hob_session_add_skills(hob_session *s, hob_buf *out, hob_error *err);

/* ---- team.c: the same, if that agent is a workflow ----------------------------------------------------------- */
/* Before the log is folded: s->crew, if the agent (named, or told to a child) is no plain one. Reads skills. */
int hob_session_form_crew(hob_session *s, hob_definitions *d, hob_str name, hob_error *err);

/* ---- skill.c ------------------------------------------------------------------------------------------------ */
int hob_session_offer_skills(hob_session *s, hob_error *err); /* the tool, once there is a skill */
void hob_session_list_skills(hob_session *s, hob_buf *out);   /* for the system prompt */
size_t hob_session_skill_folders(hob_session *s, hob_arena *a, hob_str *out, size_t cap);
void hob_skill_write(const hob_definition *x, hob_str body, hob_buf *out);
void hob_definition_write_narrow(const hob_definition *x, hob_buf *out); /* {"by","tools"} */

/* ---- expand.c ----------------------------------------------------------------------------------------------- */
/* A prompt that is a known command as a content block: 1. 0 = it is none, nothing was written. [any] */
int hob_session_expand(hob_session *s, hob_str typed, hob_buf *out, hob_error *err);
/* The same for the first of an array of blocks: *out is the whole array. */
int hob_session_expand_content(hob_session *s, hob_str content, hob_buf *out, hob_error *err);

/* ---- settings.c --------------------------------------------------------------------------------------------- */
typedef struct hob_model_found {
    hob_model_info info;
    hob_provider *provider;
    char *name; /* heap */
} hob_model_found;
int hob_session_find_model(hob_session *s, hob_str hint, hob_model_found *out, hob_error *err);
int hob_session_use_model(hob_session *s, hob_str hint, hob_error *err);
int hob_session_add_host_tool(hob_session *s, const hob_tool *tool, hob_error *err);
int hob_session_apply_options(hob_session *s, const hob_session_opts *o, hob_error *err);
/* The configuration with the caller's wishes in it. */
int hob_session_wish(hob_session *s, const hob_session_opts *o, hob_config **out, hob_error *err);
int hob_session_read_policy(const hob_session *s, const hob_config *c, hob_policy **out,
                            hob_error *err); /* mode.c */
/* Writes what a reader of the log must know: session_opened once, config_changed when something differs. */
int hob_session_say_settings(hob_session *s, hob_error *err);

/* ---- mode.c -------------------------------------------------------------------------------------------------- */
void hob_session_keep_rules(hob_session *s, const hob_session_opts *o); /* allow and deny */
void hob_session_drop_rules(hob_session *s);

/* ---- memory_open.c, memory_tool.c -------------------------------------------------------------------------------- */
void hob_memory_probe(hob_runtime *rt, hob_error *err); /* can it be used? Waits */
int hob_session_init_memory(hob_session *s, const hob_session_opts *o, hob_error *err);
int hob_session_say_warning(hob_session *s, hob_error *err); /* once */
void hob_session_drop_memory(hob_session *s);
/* The change that this event makes true: 1 and *out, strings in the arena, or 0. */
size_t hob_session_take_taught(hob_session *s, const hob_event *e, hob_arena *a,
                               hob_store_memory_change *out);
int hob_runtime_open_memory(hob_runtime *rt, const hob_runtime_opts *o, hob_error *err);
void hob_runtime_close_memory(hob_runtime *rt);

/* ---- close.c ---------------------------------------------------------------------------------------------------- */
/* hob_session_detach for a session that no host knows, without waiting. */
void hob_session_let_go(hob_session *s, void (*then)(void *user), void *user);
void hob_session_try_release(hob_session *s); /* if nothing is waited for any more */
/* A store call was answered. False: the session is being let go of, start nothing more. */
bool hob_session_arrived(hob_session *s);

/* ---- life.c, open.c ----------------------------------------------------------------------------------- */
hob_session *hob_session_new(hob_runtime *rt);
void hob_session_free(hob_session *s);
/* hob_session_create with what a parent gives; `in` lives as long as the session. */
int hob_session_create_for(hob_runtime *rt, const hob_session_opts *o, const hob_inherited *in,
                           hob_session **out, hob_error *err);
/* Opens or makes the session of a child, without waiting. `then` gets it, or NULL and why: nothing is left behind. */
typedef void (*hob_opened_fn)(hob_task *t, hob_session *s, int code, const hob_error *err);
void hob_session_open_child(hob_task *t, hob_opened_fn then);
/* What follows from the log as it was found: an unfinished run is resumed, settled or left alone. */
int hob_session_take_up(hob_session *s, hob_on_unfinished want, hob_error *err);

#endif
