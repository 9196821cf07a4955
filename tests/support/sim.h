/*
 * sim.h - a run without a session: no loop, no store, no model, no time but the test's own.
 *
 * A sim drives hob_run and hob_view the way session/ does: an input until everything about it is said, then NEXT
 * until there is nothing more; every event is encoded, kept and applied. Effects are not performed: the test gives
 * their outcomes as inputs. A crash is to forget the state and fold a part of the log again.
 *
 * sim_finish() looks at the whole log once more: the promises of the loop hold (sim_check), and the inputs that are
 * contained in the events lead to the same events again, byte for byte (sim_replay).
 *
 * Tools: `look` only reads, `put` is idempotent, `ask` is a question to the user, everything else that exists (`bash`,
 * `send`) is unsafe; `none` does not exist; the argument "bad" fits no tool. Content is written with ' for ".
 */
#ifndef HOB_TESTS_SIM_H
#define HOB_TESTS_SIM_H

#include "agent/flow.h"

typedef struct sim_entry {
    hob_event *event;
    hob_run_env env; /* what was true when it was decided */
} sim_entry;

typedef struct sim {
    hob_run run;
    hob_view *view;
    hob_run_env env; /* change it between inputs */
    hob_usage usage; /* of each answer */
    double cost;     /* of each answer; negative = unknown */
    hob_error err;   /* why the last input was refused */
    sim_entry *log;
    size_t n, cap;
    size_t shown; /* lines that sim_log() has given */
    /* a workflow, if sim_agents() gave one */
    hob_flow *flow;
    ptrdiff_t who; /* whose outcomes come next: its frame; -1 = the run's own */
    hob_policy *policies[8];
    size_t npolicies;
    hob_buf text;
} sim;

void sim_init(sim *s);
void sim_finish(sim *s);                                                   /* with all checks */
void sim_drop(sim *s);                                                     /* without */
void sim_policy(sim *s, hob_mode mode, const char *ask, const char *deny); /* rules, or NULL */
hob_str sim_session(void);

/* ---- agents ------------------------------------------------------------------------------------ */
void sim_agents(sim *s, hob_agent *root); /* before the first input; takes the reference */
void sim_as(sim *s, const char *agent);   /* the outcomes that follow are this agent's */
/* A function of the agent answered; each may be NULL. */
int sim_answered(sim *s, const char *agent, hob_outcome outcome, const char *text,
                 const char *delta);
/* The same with everything; `frame` and `changes` are filled in. */
int sim_reply(sim *s, const char *agent, hob_flow_answer a, const char *delta);
hob_run *sim_run_of(sim *s); /* of whoever sim_as() named */

/* ---- inputs: each returns what decide said of it, or why it was refused ------------------------ */
int sim_input(sim *s, const hob_input *in);
int sim_prompt(sim *s, const char *text);
int sim_steer(sim *s, const char *text);
int sim_follow_up(sim *s, const char *text);
int sim_cancel(sim *s, hob_ending how, hob_queue_fate fate);
int sim_resume(sim *s);
int sim_pause(sim *s, bool paused); /* false: it goes on */
int sim_settle(sim *s);
int sim_verdict(sim *s, const char *call, bool approved, const char *reason);
int sim_reply_to(sim *s, const char *call, const char *answer); /* a question; JSON */
int sim_tick(sim *s, int64_t ms);                               /* time passes, then NEXT */
/* A whole answer. `calls` is a list like "look:a bash:b,c": tools and their argument; NULL or "" = none. */
int sim_answer(sim *s, const char *text, const char *calls, hob_stop stop);
int sim_done(sim *s, const char *text);   /* an answer without calls */
int sim_calls(sim *s, const char *calls); /* an answer of calls only */
int sim_content(sim *s, const char *content, hob_stop stop);
int sim_fail(sim *s, int code, int64_t retry_after, bool shown);
/* The request was stopped, with this much shown; "" = nothing. */
int sim_stopped(sim *s, const char *text, const char *calls);
int sim_result(sim *s, const char *call, hob_outcome outcome, const char *text);
int sim_actions(sim *s, const char *call, const char *actions); /* the same, asking for more */
int sim_ok(sim *s, const char *call);                           /* ended well, with the text "ok" */

/* An event that somebody else wrote: applied, but not kept. Data with ' for ". */
int sim_apply(sim *s, const char *type, const char *run, const char *data);

/* ---- crashes ------------------------------------------------------------------------------------ */
void sim_crash(sim *s, size_t kept); /* only the first `kept` events were durable */
void sim_refold(sim *s);             /* folds all of it again: the state is the same */
/* What a program does that opens the session: takes up what was left, unless it waits for somebody. */
void sim_reopen(sim *s);

/* ---- looking ------------------------------------------------------------------------------------- */
/* The events that were not shown yet, a line each: "7 tool_started m4.0 bash unsafe". */
const char *sim_log(sim *s);
const char *sim_line(sim *s, size_t i); /* one event, from 0 */
const char *sim_json(sim *s, size_t i); /* its data */
/* The conversation as a model would see it: "user: hi | assistant: look(m3.0) -> ok". */
const char *sim_history(sim *s);
const char *sim_told(sim *s, const hob_history *h); /* another one than the whole */
/* "call_model m3", "run_tool m3.0 after 7", "timer 500", joined with ", "; with "!" behind what is to stop; those of
 * agents with "[agent] " before. */
const char *sim_pending(sim *s);
/* Everything that the state of a run and of its workflow consists of. */
const char *sim_state(sim *s);
size_t sim_count(const sim *s, hob_event_type type);

#define assert_log(s, ...) assert_string_equal(sim_log(s), __VA_ARGS__)

/* ---- between the files of the sim ------------------------------------------------------------------ */
/* What is said next, of the run or of its workflow; outcomes are of whoever `who` is. */
int sim_decide(sim *s, const hob_input *in, hob_draft *d);
void sim_fold(sim *s, const hob_event *e, const hob_json *data);

/* ---- sim_check.c --------------------------------------------------------------------------------- */
void sim_check(sim *s);  /* the promises, as far as the log goes */
void sim_replay(sim *s); /* the inputs in the log lead to the log */

#endif
