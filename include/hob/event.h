/*
 * hob/event.h - what happened in a session, one event at a time.
 *
 * A session is an append-only log of events. Durable events have a sequence number (`seq`, from 1, per
 * session, without gaps) and are delivered only after they are safely stored. Ephemeral events (seq 0)
 * show work in progress: text as it streams, output as it comes. Losing one loses nothing: the durable
 * event that follows holds the whole.
 *
 * Events are immutable and reference counted; a reference may be used and dropped on any thread.
 * Every accessor returns slices that live as long as the reference. All calls here are [any].
 */
#ifndef HOB_EVENT_H
#define HOB_EVENT_H

#include <hob/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/* X(NAME, name, durable, what it says, fields of data) - docs/events.md is made from this list. */
#define HOB_EVENTS(X)                                                                              \
    X(SESSION_OPENED, session_opened, 1, "The session was created.",                               \
      "cwd, version, model?, thinking?, permission_mode?, system_prompt?, agent?, limits?{}, "     \
      "app_name?, user_id?, forked_from?{session, seq}, parent?{session, call?, agent, depth}, "   \
      "key?")                                                                                      \
    X(CONFIG_CHANGED, config_changed, 1, "A setting that matters for later runs changed.",         \
      "model?, thinking?, system_prompt?, permission_mode?, agent?, title?, limits?{}")            \
    X(RUN_STARTED, run_started, 1, "A run began. Continuing an interrupted run names it.",         \
      "model, origin(prompt|resume|follow_up|update), continues?, limits{}, carried?{}, "          \
      "traceparent?, payer?, key?")                                                                \
    X(USER_MESSAGE, user_message, 1, "The user's words entered the conversation.", "content[]")    \
    X(STEER_QUEUED, steer_queued, 1, "A steering message waits for the running step.",             \
      "item, content[], key?")                                                                     \
    X(STEER_DELIVERED, steer_delivered, 1, "It entered the conversation.", "item, content[]")      \
    X(FOLLOW_UP_QUEUED, follow_up_queued, 1, "A message waits for the work to end.",               \
      "item, content[], payer?, key?")                                                             \
    X(FOLLOW_UP_DELIVERED, follow_up_delivered, 1, "It became the prompt of the next run.",        \
      "item")                                                                                      \
    X(QUEUE_RETURNED, queue_returned, 1, "Queued messages went back to the caller.",               \
      "reason, items[{item, kind, content[]}]")                                                    \
    X(CANCEL_REQUESTED, cancel_requested, 1, "The run is to stop.",                                \
      "mode(cancel|abort|settle), queue(return|keep|drop)")                                        \
    X(RUN_PAUSED, run_paused, 1,                                                                   \
      "The run comes to a stand when what is under way is done, and waits until it is resumed.",   \
      "")                                                                                          \
    X(RUN_RESUMED, run_resumed, 1, "A paused run goes on.", "")                                    \
    X(MODEL_CALL_STARTED, model_call_started, 1, "A request to the model was decided.",            \
      "model, attempt, message, reserved_tokens, output_limit, reserved_usd?")                     \
    X(ASSISTANT_MESSAGE, assistant_message, 1, "A whole answer of the model.",                     \
      "message, model, stop(done|tools|length|refusal|continue|aborted), content[], usage{}, "     \
      "cost_usd, payer?, response_id?, by?(before|run|after), "                                    \
      "callback?(before_model|after_model), actions?{transfer, escalate}")                         \
    X(MODEL_CALL_FAILED, model_call_failed, 1, "A request to the model failed.",                   \
      "message, attempt, code, status?, error, retryable, shown, retry_after_ms?, jitter, "        \
      "usage?{}, cost_usd?, payer?")                                                               \
    X(RETRY_SCHEDULED, retry_scheduled, 1, "It will be tried again.",                              \
      "attempt, attempts, delay_ms, due, error")                                                   \
    X(TURN_DISCARDED, turn_discarded, 1, "Text that was shown is not part of the conversation.",   \
      "message, reason")                                                                           \
    X(TOOL_DECIDED, tool_decided, 1, "May this call run?",                                         \
      "call, tool, decision(allow|ask|deny), by, reason?, class(read_only|idempotent|unsafe), "    \
      "nobody_to_ask?, invalid?, warning?, parallel?")                                             \
    X(APPROVAL_REQUESTED, approval_requested, 1,                                                   \
      "Someone is asked; the run waits, parked. With `child`: a sub-agent asks.",                  \
      "call, tool, args, args_hash, rule, reason?, class(read_only|idempotent|unsafe), "           \
      "question?, schema?{}, child?, agent?")                                                      \
    X(APPROVAL_RESOLVED, approval_resolved, 1, "The answer, once.",                                \
      "call, approved, reason?, answer?, by, child?")                                              \
    X(TOOL_STARTED, tool_started, 1, "A call starts now.",                                         \
      "call, tool, args, class(read_only|idempotent|unsafe), again?")                              \
    X(TOOL_FINISHED, tool_finished, 1, "The one end of a call.",                                   \
      "call, tool, outcome(ok|error|skipped|denied|cancelled|unknown), content[], "                \
      "exit_code?, duration_ms?, truncated?, warning?, pending?, actions?{state_delta, removed, "  \
      "temp, artifact_delta, transfer, narrow{by, tools[]}, escalate, skip_summarization}")        \
    X(TOOL_UPDATED, tool_updated, 1,                                                               \
      "What became of a pending call: it takes the place of its result. `final`: the last one.",   \
      "call, tool, outcome(ok|error), content[], final")                                           \
    X(STATE_CHANGED, state_changed, 1, "State changed; temp: keys are only named.",                \
      "delta?{}, removed?[], temp?[], call?, output?")                                             \
    X(ARTIFACT_CHANGED, artifact_changed, 1, "The host saved or deleted artifacts.",               \
      "artifact_delta?{}, removed?[]")                                                             \
    X(CHILD_STARTED, child_started, 1, "A sub-agent started: a session of its own, `child`.",      \
      "child, agent, depth, prompt, call?, turn?, background?, host?, allotment?{}, "              \
      "worktree?{repository, top, prefix, base, folder, branch}")                                  \
    X(CHILD_PLACED, child_placed, 1,                                                               \
      "The git worktree of a sub-agent was made; or it is unchanged, and is removed now.",         \
      "child, state(made|unchanged)")                                                              \
    X(CHILD_REUSED, child_reused, 1, "A sub-agent was sent another message.",                      \
      "child, agent, turn")                                                                        \
    X(CHILD_FINISHED, child_finished, 1, "The one end of a sub-agent's work.",                     \
      "child, agent, host?, status(completed|failed|cancelled|interrupted|limit), reason?, "       \
      "usage{}, "                                                                                  \
      "cost_usd, turns, tool_calls, children, text?, truncated?, report?[], nobody_to_ask?, "      \
      "worktree?{state(removed|kept), folder, branch, base, files?, commits?, reason?}")           \
    X(CHILD_REPORTED, child_reported, 1,                                                           \
      "What a sub-agent in the background ended with entered the conversation.",                   \
      "item, child, agent, content[]")                                                             \
    X(AGENT_STARTED, agent_started, 1, "An agent of a workflow begins.",                           \
      "agent, kind(llm|sequential|parallel|loop|conditional|custom), slot?, iteration?, from?")    \
    X(AGENT_FINISHED, agent_finished, 1, "The one end of it.",                                     \
      "agent, status(completed|failed|cancelled|interrupted|limit|transferred), reason?, "         \
      "transfer?, escalate?, error?{}")                                                            \
    X(CALLBACK_STARTED, callback_started, 1, "A C function of an agent is called.",                \
      "agent, point(before|run|after), again?")                                                    \
    X(CALLBACK_FINISHED, callback_finished, 1, "It answered.",                                     \
      "agent, point, outcome(ok|error|cancelled|unknown), spoke, escalate?, transfer?, reason?")   \
    X(COMPACTED, compacted, 1, "Older history was replaced by a summary.", "summary, first_kept")  \
    X(BRANCH_MOVED, branch_moved, 1, "The conversation continues from another entry.",             \
      "to, from?, before?")                                                                        \
    X(LABEL_SET, label_set, 1, "An entry was labelled.", "target, label")                          \
    X(NOTE, note, 1, "A remark of the host, not shown to the model.", "kind, text, value?")        \
    X(LIMIT_REACHED, limit_reached, 1, "A limit ended the run.",                                   \
      "limit(turns|tokens|cost|tool_calls|time|repeated_action|quota_tokens|quota_cost), value, "  \
      "max, scope?(agent)")                                                                        \
    X(BUDGET_THRESHOLD, budget_threshold, 1, "A part of the budget is used up.",                   \
      "limit, percent, value, max")                                                                \
    X(BUDGET_REQUESTED, budget_requested, 1,                                                       \
      "A sub-agent used up what it was granted and asks its caller for more.",                     \
      "limit(turns|tokens|cost|tool_calls), value, max, need")                                     \
    X(BUDGET_RESOLVED, budget_resolved, 1,                                                         \
      "The answer, once. With `child`: what a caller granted, out of what it had left.",           \
      "request, granted, limits?{}, child?, more?{}")                                              \
    X(WARNING, warning, 1, "Something the user should know.", "code, text")                        \
    X(RUN_FINISHED, run_finished, 1, "The one end of a run.",                                      \
      "status(completed|failed|cancelled|interrupted|limit), reason?, text?, error?{}, turns, "    \
      "tool_calls, usage{}, cost_usd, duration_ms")                                                \
    X(SETTLED, settled, 1, "No run, no queue, nothing under way.", "status")                       \
    X(SESSION_CLOSED, session_closed, 1, "The owner closed the session.", "")                      \
    X(MESSAGE_OPEN, message_open, 0, "An answer began; with the text so far on attach.",           \
      "message, blocks?[]")                                                                        \
    X(TEXT_DELTA, text_delta, 0, "More text of an open answer.", "message, block, offset, text")   \
    X(THINKING_DELTA, thinking_delta, 0, "More thinking of an open answer.",                       \
      "message, block, offset, text")                                                              \
    X(TOOL_ARGS_DELTA, tool_args_delta, 0, "More of a call's arguments.",                          \
      "message, block, offset, text, tool, call")                                                  \
    X(TOOL_OUTPUT_DELTA, tool_output_delta, 0, "Output of a running call.", "call, offset, text")  \
    X(PROGRESS, progress, 0, "A remark on long work.", "text, value?, max?")

typedef enum hob_event_type {
    HOB_EVENT_UNKNOWN = 0, /* written by a newer version; hob_event_name() still has its name */
#define HOB_X(NAME, name, durable, what, fields) HOB_EVENT_##NAME,
    HOB_EVENTS(HOB_X)
#undef HOB_X
        HOB_EVENT_COUNT_
} hob_event_type;

typedef struct hob_event hob_event;

/* From one line of JSON, as hob_event_json gives it and hob_runtime_events has rows. HOB_EPARSE, HOB_ETOOBIG. */
HOB_API int hob_event_from_json(hob_str json, hob_event **out, hob_error *err);
HOB_API hob_event *hob_event_ref(hob_event *e);
HOB_API void hob_event_unref(hob_event *e); /* NULL is fine */

HOB_API hob_event_type hob_event_type_of(const hob_event *e);
HOB_API hob_str hob_event_name(const hob_event *e); /* "assistant_message" */
HOB_API uint64_t hob_event_seq(const hob_event *e); /* 0 = ephemeral */
HOB_API int64_t hob_event_time(const hob_event *e); /* Unix time, ms; never an order */
HOB_API hob_str hob_event_session(const hob_event *e);
HOB_API hob_str hob_event_run(const hob_event *e);    /* "" if it belongs to no run */
HOB_API hob_str hob_event_entry(const hob_event *e);  /* "" if it is no entry of the tree */
HOB_API hob_str hob_event_agent(const hob_event *e);  /* of a workflow; "" = the session's own */
HOB_API hob_str hob_event_branch(const hob_event *e); /* where it works: "team.writer"; "" = none */
/* The whole event as one line of JSON, without a newline. */
HOB_API hob_str hob_event_json(const hob_event *e);
/* The `data` object as JSON text. */
HOB_API hob_str hob_event_data(const hob_event *e);
/* A string or number inside data by a dotted path ("usage.output_tokens", "content.0.text"), decoded
 * into buf (NUL-terminated, cut at cap). Returns the full length, or HOB_ENOENT. */
HOB_API int hob_event_field(const hob_event *e, const char *path, char *buf, size_t cap);
/* All text blocks of data.content joined, or data.text; same return rule. */
HOB_API int hob_event_text(const hob_event *e, char *buf, size_t cap);
/* 1: somebody's last word for now: an answer that is whole and makes no calls, the receipt of a call that is pending, or
 * a result that its tool says is the answer. A run may have several: each agent of a workflow ends with one. */
HOB_API int hob_event_is_final(const hob_event *e);

#ifdef __cplusplus
}
#endif

#endif
