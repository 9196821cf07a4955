/*
 * run.h - the agent loop, pure.
 *
 *     apply(state, event)           the only thing that changes state
 *     decide(state, input) -> event changes nothing; what should be written next, given this input
 *     pending(state) -> effects     decided, intent written, outcome not yet known
 *
 * Whoever holds a run (session/) does no more than this:
 *
 *     decide(input)                 until it has said everything about the input,
 *     decide(HOB_INPUT_NEXT)        until there is nothing more to say,
 *     append and apply each event said, commit them together,
 *     perform what pending() lists and is not under way; feed each outcome back as an input.
 *
 * Resume is fold + pending: after a crash the same three functions run on the same events, so there is no
 * recovery code. decide() says one event at a time, because each decision may depend on the one before; the
 * effects of a decision are what pending() lists after it was applied and did not before.
 *
 * Inputs are whole outcomes; streamed text never enters. Each input is contained in the event it leads to. Time
 * (`now`) and chance (`jitter`) are inputs too. Ids made here derive from sequence numbers.
 */
#ifndef HOB_SRC_RUN_H
#define HOB_SRC_RUN_H

#include <hob/tool.h>

#include "log/view.h"
#include "policy/policy.h"

#define HOB_MESSAGE_MAX (32u << 20)     /* bytes of one message of the user */
#define HOB_QUEUE_MAX 64                /* waiting messages of each kind */
#define HOB_QUEUE_BYTES_MAX (16u << 20) /* of all of them: handed back, they fit into one event */
#define HOB_RUN_CHILDREN_MAX 1024       /* sub-agents at work for one run */
enum { HOB_REPEATS_WARN = 3, HOB_REPEATS_REFUSE = 4 }; /* identical calls in a row */

/* ---- state ----------------------------------------------------------------------------------- */

typedef enum hob_phase {
    HOB_PHASE_IDLE,   /* no run */
    HOB_PHASE_PROMPT, /* the run started, its message comes next */
    HOB_PHASE_READY,  /* between steps: nothing is under way */
    HOB_PHASE_MODEL,  /* the model was asked */
    HOB_PHASE_FAILED, /* it failed; retry or give up? */
    HOB_PHASE_RETRY,  /* waiting to ask again */
    HOB_PHASE_TOOLS,  /* calls of the last answer are being worked off */
    HOB_PHASE_AGENTS  /* the agents of a workflow are at work, each a strand of its own */
} hob_phase;

typedef enum hob_call_state {
    HOB_CALL_NEW,
    HOB_CALL_ALLOWED,
    HOB_CALL_ASK, /* someone must be asked when its turn comes */
    HOB_CALL_DENIED,
    HOB_CALL_WAITING, /* asked; the run is parked */
    HOB_CALL_STARTED,
    HOB_CALL_LOST, /* was started by a process that is gone */
    HOB_CALL_DONE
} hob_call_state;

typedef struct hob_call {
    hob_str call, name, args; /* args "" = were not a JSON object */
    hob_call_state state;
    hob_tool_class class_;
    uint64_t started_seq;
    bool warn;      /* third identical call in a row */
    bool approved;  /* by a person */
    bool invalid;   /* denied because the call itself is wrong: an error, not a refusal */
    bool beside;    /* its tool may run beside its like, though it does more than read */
    bool question;  /* what it waits for, or got, is an answer and not only a yes */
    bool declined;  /* it got none: a person said no */
    hob_str reason; /* of a denial */
    hob_str rule;   /* by which somebody was asked */
    hob_str answer; /* JSON; "" = none */
    /* what it asked for with its result; JSON as in tool_finished.actions, "" = nothing */
    hob_str delta, removed, temp; /* temp: names; the values are never written down */
    hob_str transfer;
    bool escalate, skip_summarization;
    bool pending; /* its result is a receipt */
} hob_call;

typedef enum hob_ending {
    HOB_ENDING_NONE,
    HOB_ENDING_CANCEL, /* the user: let tools wind down */
    HOB_ENDING_ABORT,  /* the user: kill */
    HOB_ENDING_SETTLE, /* an unfinished run of a dead process is put to rest */
    HOB_ENDING_LIMIT,
    HOB_ENDING_FAILED
} hob_ending;

typedef enum hob_queue_fate { HOB_QUEUE_RETURN, HOB_QUEUE_KEEP, HOB_QUEUE_DROP } hob_queue_fate;

typedef struct hob_queued {
    char item[24];
    char *content; /* JSON array, heap */
    char *payer;   /* of the run that it becomes; heap, NULL = nobody */
} hob_queued;

typedef struct hob_queue {
    hob_queued *at; /* room for HOB_QUEUE_MAX once something waits; heap */
    size_t n;
} hob_queue;

/* 0 = no limit, for each. */
typedef struct hob_limits {
    int64_t turns, tokens, tool_calls, ms;
    double cost_usd;
} hob_limits;

typedef struct hob_spent {
    int64_t turns, tool_calls, ms;
    hob_usage usage;
    double cost_usd;
    bool cost_known;
} hob_spent;
/* say.c: turns, tool_calls, usage and cost_usd (null if it is not known), as they stand in events and results. */
void hob_spent_write(hob_jsonw *w, const hob_spent *s);

typedef struct hob_run_child { /* a sub-agent at work */
    char id[129], call[64];
    bool background;
    bool host; /* the host's own: it spends of the run, but the run does not wait for it */
    int asks;  /* of its questions to a person that are open */
    hob_limits granted;
} hob_run_child;

typedef struct hob_fault {
    int code, sub;
    bool retryable, shown;
    int64_t retry_after;
    unsigned jitter;
    char message[500];
} hob_fault;

typedef struct hob_run {
    hob_phase phase;
    bool strand; /* one agent's part of a run: it ends with its agent, agent/flow.h sees to that */
    hob_str agent, branch; /* whose, and where; "" = the run itself */
    bool agents_parked;    /* AGENTS: all that is left waits for a person */
    struct {
        int64_t tokens;
        double usd;
    } reserved; /* by calls to the model under way in strands */
    uint64_t last_seq;
    hob_str session_id;
    /* the run */
    char id[64], continues[64];
    char trace[56];  /* W3C trace context that it is part of; "" = none */
    char payer[129]; /* who pays for its calls to the model, and for its sub-agents'; "" = nobody */
    bool unfinished; /* the run before was interrupted and can be continued */
    hob_phase left;  /* the phase it was left in */
    bool settled;
    bool paused; /* nothing new begins; cancelling goes before it */
    hob_limits limits;
    hob_spent spent;
    int64_t last_ts, started_ts, active_since; /* active_since 0 = the clock stands (parked) */
    char last_status[16];
    /* the step */
    char caller[72]; /* the agent that goes on, since its pending call has its result; "" = none */
    int turn, attempt;
    char message[24]; /* of the last model call */
    char model[1200]; /* that was asked */
    bool want_model;  /* the conversation waits for an answer */
    bool steered;     /* a steering message was delivered since the last answer */
    bool unheard;     /* of a strand: another one's delivery, while this one's answer was made */
    bool lost_model;  /* the answer was being made by a process that is gone */
    bool redo;        /* ask again within the same turn */
    int64_t output_limit;
    int64_t due;            /* RETRY: when to ask again */
    int64_t context_tokens; /* of the conversation as the provider last counted it; 0 = not known */
    size_t fresh_bytes;     /* added to it since then */
    /* the batch */
    hob_arena *arena; /* of the batch and of `end` */
    hob_call *calls;
    size_t ncalls;
    bool cut;         /* the answer was cut off: none of its calls may run */
    bool state_due;   /* all calls are done and what they do to the state is not said yet */
    bool escalate;    /* once all are done: one of them asked to end the nearest loop */
    hob_str transfer; /* and the agent that is to go on; the last call's wish; arena */
    bool temp_named; /* the log names temp: keys of this run: their values are in memory, or lost */
    /* what was taken away until the run ends (narrow.c) */
    char *narrows; /* JSON objects {"by","tools"[]}, a comma between them; heap */
    size_t nnarrows;
    uint64_t narrow_seq; /* of the event that said the last of them; 0 = none */
    bool narrow_all;     /* there were too many: nothing may be called any more */
    /* repeat guard */
    uint64_t repeat_hash;
    int repeats;
    bool stuck; /* a call was refused by it: the run ends with this batch */
    /* the end, once it is certain */
    hob_ending ending; /* the first reason stays */
    bool hard;         /* what is under way is to be killed */
    hob_queue_fate fate;
    char end_reason[64];
    hob_fault fail; /* of the last model call that failed */
    int thresholds; /* bits: 1 tokens, 2 cost */
    struct {
        uint64_t seq; /* of the event; 0 = not asked, or answered */
        char limit[16];
        double need;
    } asked;      /* of whoever granted the limits: more */
    bool refused; /* and not got: what is there is all there is */
    /* queues */
    hob_queue steer, follow;
    hob_queued next_prompt; /* a delivered follow-up on its way to become a message */
    /* sub-agents */
    hob_run_child *kids; /* heap */
    size_t nkids;
    hob_queue reports; /* of those that ended in the background */
} hob_run;

/* The run that event `seq` of a session starts: no other run of any session has the same. */
void hob_run_id(hob_str session, uint64_t seq, char out[64]);
void hob_run_init(hob_run *r, hob_str session_id);
void hob_run_finish(hob_run *r);
int hob_run_apply(hob_run *r, const hob_event *e, const hob_json *data, hob_error *err);

bool hob_run_active(const hob_run *r); /* a run is under way (also parked) */
/* Nothing is under way, it waits for a person: for an answer, or to be resumed. */
bool hob_run_parked(const hob_run *r);
bool hob_run_held(const hob_run *r); /* paused, and not ending */
/* After a fold: the work of a process that is gone, to be resumed or settled. A parked run is not. */
bool hob_run_unfinished(const hob_run *r);
const hob_call *hob_run_call(const hob_run *r, hob_str call); /* NULL if not in the batch */

/* keep.c: a run at rest, written and read back; the rest is in the log only. */
bool hob_run_keeps(const hob_run *r);
void hob_run_write(const hob_run *r, hob_jsonw *w);
int hob_run_read(hob_run *r, const hob_json *o); /* into a fresh one; HOB_EPARSE */

/* ---- sub-agents: whoever starts them writes child_started with what this grants ------------------- */

/* The part of the limits that a child may have; 0 = no limit. NULL, or the limit of which nothing is left. */
const char *hob_run_grant(const hob_run *r, int64_t now, hob_limits *out);
/* More for one that asks: of this limit, at least `need`; some is left for the run itself. */
bool hob_run_grant_more(const hob_run *r, hob_str limit, double need, hob_limits *out);
bool hob_run_stops_children(const hob_run *r); /* it is ending, and waits for them */

/* ---- what decide needs to know besides the state ------------------------------------------------ */

typedef struct hob_tool_facts {
    bool known;
    bool beside;   /* may run beside its like */
    bool question; /* its result is what a person answers: no rule and no mode does so instead */
    hob_tool_class class_;
    const char
        *error; /* arguments do not fit, or the tool is unknown: text for the model; else NULL */
} hob_tool_facts;

typedef struct hob_run_env {
    int64_t now; /* ms, does not jump */
    const hob_policy *policy;
    /* Pure: the registry does not change while it is asked. `error` lives until the next call. */
    void (*tool)(void *user, hob_str name, hob_str args, hob_tool_facts *out);
    void *user;
    bool can_ask;       /* someone is there to approve */
    bool can_ask_more;  /* who granted the limits may grant more */
    bool temp_kept;     /* the values of temp: keys are there */
    bool after_batch;   /* steering waits for the whole batch instead of skipping its rest */
    bool steer_all;     /* deliver all steering messages at once */
    hob_limits limits;  /* for a run that starts now */
    int retry_attempts; /* tries in all */
    int64_t retry_cap_ms;
    hob_str model;      /* "provider/id" */
    hob_str trace;      /* W3C trace context for a run that starts now; "" = none */
    hob_str payer;      /* of a run that starts or is queued now; "" = nobody */
    hob_str key;        /* by which the sender knows its message again; "" = none */
    int64_t max_output; /* tokens */
    bool priced;
    double input_usd, output_usd; /* a million tokens */
    size_t fixed_bytes;           /* system prompt and tool descriptions */
    size_t path_bytes;            /* weight of the conversation (hob_history.bytes) */
    bool agents;                  /* a workflow does the work, not the run itself */
    const hob_run *root;          /* of a strand: limits, totals and queues are the run's */
    bool
        others_first; /* of a strand: a limit that ends the run is not said while others can go on */
} hob_run_env;

/* ---- inputs ---------------------------------------------------------------------------------------- */

typedef enum hob_input_kind {
    HOB_INPUT_NEXT,      /* nothing new; what follows from the state? also when a timer fired */
    HOB_INPUT_PROMPT,    /* content */
    HOB_INPUT_STEER,     /* content, or several: batch, nbatch and the last_seq they come after */
    HOB_INPUT_FOLLOW_UP, /* content */
    HOB_INPUT_CANCEL,    /* ending (CANCEL, ABORT, SETTLE), fate */
    HOB_INPUT_QUOTA, /* call = the run, text = the limit, value, max: the host's own limit ends it */
    HOB_INPUT_RESUME,
    HOB_INPUT_PAUSE,
    HOB_INPUT_UNPAUSE,
    HOB_INPUT_VERDICT, /* call, approved, text = reason, by; answer, which was checked */
    HOB_INPUT_BUDGET,  /* approved, limits = all that is granted by now */
    HOB_INPUT_MODEL_FINISHED, /* content, stop, usage, cost, response_id; by = the function of the host that answered
                                 instead, actions */
    HOB_INPUT_MODEL_FAILED, /* code, sub, retryable, shown, retry_after, text, usage, cost, jitter, content of
                                 what was shown (kept if the run is ending) */
    HOB_INPUT_TOOL_FINISHED, /* call, outcome, content, exit_code, truncated, actions, pending */
    HOB_INPUT_TOOL_UPDATED /* call, tool, outcome, content, final, held, by = the agent that made the call, text = a note for
                                the conversation; that the call is pending was checked */
} hob_input_kind;

typedef struct hob_input {
    hob_input_kind kind;
    hob_str content; /* JSON array of blocks */
    const hob_str *batch;
    size_t nbatch;
    uint64_t after;
    hob_str call, tool, text, by, response_id;
    hob_str actions; /* JSON object, or "" */
    hob_str answer;  /* JSON, or "" */
    hob_ending ending;
    hob_queue_fate fate;
    bool approved, retryable, shown, truncated, pending, final;
    bool held; /* final, but no run begins with it */
    int code, sub, exit_code;
    int64_t retry_after, duration_ms;
    unsigned jitter; /* 0..1000 */
    hob_stop stop;
    hob_outcome outcome;
    hob_usage usage;
    double cost_usd; /* negative = unknown */
    hob_limits limits;
    double value, max;
} hob_input;

/* Returns HOB_SAID_NOTHING, HOB_SAID_LAST or HOB_SAID_MORE (give the same input again after applying), or why the
 * input is refused: HOB_EBUSY, HOB_EIDLE, HOB_ENOENT, HOB_EEXIST, HOB_ETOOBIG, HOB_EINVAL. The draft is filled
 * (and then the caller's to finish) only when something was said. */
enum {
    HOB_SAID_NOTHING = 0,
    HOB_SAID_LAST = 1,
    HOB_SAID_MORE = 2,
    HOB_SAID_END = 3 /* of a strand: nothing is left to do; no draft */
};
int hob_run_decide(const hob_run *r, const hob_run_env *env, const hob_input *in, hob_draft *out,
                   hob_error *err);

/* ---- agents.c: a run whose work is done by the agents of a workflow ------------------------------------ */
void hob_run_strand_begin(hob_run *r, const hob_run *root, hob_str agent, hob_str branch);
void hob_run_strand_resume(hob_run *r,
                           const hob_run *root); /* its process is gone; the run goes on */
void hob_run_agents_begin(hob_run *root);
/* How it ended; `failed` has what was wrong, else NULL. */
void hob_run_agents_end(hob_run *root, const hob_run *failed);
void hob_run_agents_park(hob_run *root, bool parked, int64_t ts);
/* What a strand spent since. */
void hob_run_agents_book(hob_run *root, const hob_spent *before, const hob_spent *now);
const char *hob_run_status(const hob_run *r); /* completed, failed, cancelled, interrupted, limit */
void hob_say_error(hob_jsonw *w, const hob_fault *f); /* the member "error" */
/* Whose limits and queues count. */
const hob_run *hob_run_purse(const hob_run *r, const hob_run_env *env);

/* ---- effects --------------------------------------------------------------------------------------- */

/* X(NAME, name) - session/ has one file and one table row for each. */
#define HOB_EFFECTS(X)                                                                             \
    X(CALL_MODEL, call_model)                                                                      \
    X(RUN_TOOL, run_tool)                                                                          \
    X(CALL_AGENT, call_agent)                                                                      \
    X(TIMER, timer)

typedef enum hob_effect_kind {
#define HOB_X(NAME, name) HOB_EFFECT_##NAME,
    HOB_EFFECTS(HOB_X)
#undef HOB_X
        HOB_EFFECT_COUNT_
} hob_effect_kind;

typedef struct hob_effect {
    hob_effect_kind kind;
    uint64_t after_seq; /* start only when this is durable; 0 = at once */
    hob_str key;        /* message id or call id: what makes it this effect */
    const hob_call *call;
    int64_t due;     /* TIMER */
    hob_ending stop; /* not NONE: end it (ABORT: hard); the outcome is still owed */
} hob_effect;

#define HOB_PARALLEL_MAX 16 /* read-only calls at work at once */
#define HOB_EFFECTS_MAX (HOB_PARALLEL_MAX + 4)
/* Fills out, returns how many. Slices live until the state changes. */
size_t hob_run_pending(const hob_run *r, hob_effect out[HOB_EFFECTS_MAX]);

/* ---- narrow.c ----------------------------------------------------------------------------------------- */
enum { HOB_NARROWS_MAX = 32, HOB_NARROWS_BYTES = 1 << 20 };
/* What is left of `base` after what the run was told; a reference of the caller's. */
hob_policy *hob_run_narrow_policy(const hob_run *r, const hob_policy *base);
void hob_run_narrow(hob_run *r, uint64_t seq, const hob_json *narrow);
void hob_run_narrow_by_content(hob_run *r, uint64_t seq, const hob_json *content);
void hob_run_widen(hob_run *r); /* the next run begins without */

/* ---- between the files of this folder ------------------------------------------------------------- */
int hob_run_next(const hob_run *r, const hob_run_env *env, hob_draft *out);
int hob_run_next_tools(const hob_run *r, const hob_run_env *env, hob_draft *out);
/* budget.c: which limit stops the next step, and how much of it; limit NULL = none. */
typedef struct hob_stopper {
    const char *limit;
    double value, max;
    bool own;    /* the agent's own limit, not the run's */
    double need; /* how much more would do; 0 = cannot be told */
} hob_stopper;
hob_stopper hob_run_over(const hob_run *r, const hob_run_env *env);
/* The limit ends the run, unless there is somebody to ask for more. */
int hob_run_say_over(const hob_run *r, const hob_run_env *env, hob_stopper s, hob_draft *out);
int hob_run_say_budget(const hob_run *r, bool granted, const hob_limits *limits, hob_draft *out);
void hob_run_budget_event(hob_run *r, const hob_event *e, const hob_json *d);
int64_t hob_run_elapsed(const hob_run *r, int64_t now);
bool hob_run_asks_again(const hob_run *r); /* the next call to the model belongs to the same turn */
/* Reserve for the next call: the estimated prompt, and the output limit lowered to what is left. */
void hob_run_reserve(const hob_run *r, const hob_run_env *env, int64_t *prompt, int64_t *output);
/* state.c */
void hob_run_batch_begin(hob_run *r);
void hob_run_batch_done(hob_run *r);
void hob_run_read_wishes(hob_run *r, const hob_json *actions); /* of functions around the model */
void hob_call_read_actions(hob_run *r, hob_call *c, const hob_json *actions);
void hob_run_state_changed(hob_run *r, const hob_event *e, const hob_json *d);
int hob_run_say_state(const hob_run *r, hob_draft *out);
int hob_run_say_temp_lost(const hob_run *r, hob_draft *out);
/* children.c */
void hob_run_child_event(hob_run *r, const hob_event *e, const hob_json *d);
void hob_run_forget_children(hob_run *r);
void hob_run_forget_hosts(hob_run *r);       /* the same for those that a run does not wait for */
bool hob_run_has_children(const hob_run *r); /* that it waits for */
bool hob_run_has_child(const hob_run *r, hob_str id);
int hob_run_say_report(const hob_run *r, hob_draft *out);
bool hob_run_child_waits(const hob_run *r, hob_str call); /* its child asks a person */
bool hob_run_children_wait(const hob_run *r);             /* there are some, and all of them do */
hob_limits hob_run_granted(const hob_run *r);
/* apply.c */
void hob_run_enqueue(hob_queue *q, hob_str item, hob_str content);
/* say.c: drafts */
hob_jsonw hob_say(const hob_run *r, hob_event_type type, hob_draft *out);
void hob_say_end(hob_jsonw *w);
int hob_say_result(const hob_run *r, const hob_call *c, hob_outcome o, hob_str text,
                   hob_draft *out);
int hob_say_limit(const hob_run *r, hob_stopper s, hob_draft *out);
hob_limits hob_limits_read(const hob_json *l);            /* as hob_say_limits writes them */
hob_limits hob_limits_narrow(hob_limits a, hob_limits b); /* the less of each */
void hob_say_limits(hob_jsonw *w, const char *key, const hob_limits *l);
int hob_say_started(const hob_run *r, const hob_run_env *env, const char *origin, hob_draft *out);
int hob_say_finished(const hob_run *r, const char *status, int64_t now, hob_draft *out);
void hob_say_message(const hob_run *r, hob_str content, hob_draft *out);
uint64_t hob_call_hash(const hob_call *c);
/* apply_call.c */
void hob_run_call_event(hob_run *r, const hob_event *e, const hob_json *d);
/* apply.c, for agents.c */
void hob_run_mark_lost(hob_run *r);
void hob_run_update_clock(hob_run *r, int64_t ts);
int hob_error_from(hob_str name); /* "HOB_EIO" -> HOB_EIO; HOB_EPROTO for what nobody knows */
const char *hob_outcome_name(hob_outcome o);
hob_outcome hob_outcome_from(hob_str name);
const char *hob_stop_name(hob_stop s);
hob_stop hob_stop_from(hob_str name);

#endif
