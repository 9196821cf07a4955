/*
 * hob/agui.h - speaking AG-UI 1.0 from any C program, with or without hob's own loop.
 *
 * A hob_agui_session is the producer's side of one thread: it knows which run is under way, what is open in it and what
 * the other side holds as state, and it refuses whatever would break the protocol. A call that is refused returns an
 * error and nothing reaches the wire. Ending a run closes what is open.
 *
 *     hob_agui_session_create_with_thread_id(&sink, input_thread, &s, &err);
 *     hob_agui_run_start(s, input, &err);
 *     hob_agui_message_start(s, id, NULL, &err);
 *     hob_agui_message_content(s, id, hob_str_z("Hello"), &err);
 *     hob_agui_run_finish(s, hob_str_z(""), &err);         (closes the message, then RUN_FINISHED)
 *
 * Events leave through a sink, encoded one by one: as bare JSON, as server-sent events, or as protobuf frames. The sink may
 * say that it is full: the call then returns HOB_EAGAIN and may be repeated as it was. Or that nobody listens any more:
 * calls then return HOB_ECLOSED, but the session goes on counting, so that a run can be ended in good order.
 *
 * What a call may return: HOB_EIDLE (no run), HOB_EBUSY (a run is under way), HOB_EEXIST (an id that is open or was used),
 * HOB_ENOENT (an id that is not open), HOB_EINVAL, HOB_EPARSE (JSON), HOB_ETOOBIG, HOB_EAGAIN, HOB_ECLOSED.
 *
 * Ids are opaque: 1 to 1,024 bytes. Texts are UTF-8 in whole characters. JSON texts that are optional may be "".
 * Thread rule: a session is used by one thread at a time; no call blocks. docs/ag-ui.md is the tour.
 */
#ifndef HOB_AGUI_H
#define HOB_AGUI_H

#include <hob/agui_input.h>

#ifdef __cplusplus
extern "C" {
#endif

#define HOB_AGUI_VERSION "1.0"
#define HOB_AGUI_TYPE_SSE "text/event-stream"
#define HOB_AGUI_TYPE_PROTO "application/vnd.ag-ui.event+proto"

/* X(NAME): the events that a session sends. */
#define HOB_AGUI_EVENTS(X)                                                                         \
    X(RUN_STARTED)                                                                                 \
    X(RUN_FINISHED)                                                                                \
    X(RUN_ERROR)                                                                                   \
    X(STEP_STARTED)                                                                                \
    X(STEP_FINISHED)                                                                               \
    X(TEXT_MESSAGE_START)                                                                          \
    X(TEXT_MESSAGE_CONTENT)                                                                        \
    X(TEXT_MESSAGE_END)                                                                            \
    X(TOOL_CALL_START)                                                                             \
    X(TOOL_CALL_ARGS)                                                                              \
    X(TOOL_CALL_END)                                                                               \
    X(TOOL_CALL_RESULT)                                                                            \
    X(STATE_SNAPSHOT)                                                                              \
    X(STATE_DELTA)                                                                                 \
    X(MESSAGES_SNAPSHOT)                                                                           \
    X(ACTIVITY_SNAPSHOT)                                                                           \
    X(ACTIVITY_DELTA)                                                                              \
    X(REASONING_START)                                                                             \
    X(REASONING_MESSAGE_START)                                                                     \
    X(REASONING_MESSAGE_CONTENT)                                                                   \
    X(REASONING_MESSAGE_END)                                                                       \
    X(REASONING_END)                                                                               \
    X(REASONING_ENCRYPTED_VALUE)                                                                   \
    X(SUBAGENT_STARTED)                                                                            \
    X(SUBAGENT_FINISHED)                                                                           \
    X(SUBAGENT_ERROR)                                                                              \
    X(RAW)                                                                                         \
    X(CUSTOM)

typedef enum hob_agui_kind {
#define HOB_X(NAME) HOB_AGUI_##NAME,
    HOB_AGUI_EVENTS(HOB_X)
#undef HOB_X
        HOB_AGUI_KIND_COUNT_
} hob_agui_kind;

typedef enum hob_agui_encoding {
    HOB_AGUI_AS_SSE,  /* data: {…}\n\n */
    HOB_AGUI_AS_JSON, /* {…} */
    HOB_AGUI_AS_PROTO /* length, then a protobuf Event; only for clients that speak 1.0 */
} hob_agui_encoding;

/* Where events go. */
typedef struct hob_agui_sink {
    size_t size;
    hob_agui_encoding encoding;
    /* One encoded event; the bytes live until it returns. 0 = taken, HOB_EAGAIN = no room, HOB_ECLOSED = nobody listens
     * (not asked again). Must not call into the session. */
    int (*write)(hob_agui_kind kind, hob_str bytes, void *user);
    int (*connected)(void *user); /* optional: 0 = nobody listens */
    void *user;
} hob_agui_sink;

/* ---- the session ------------------------------------------------------------------------------------- */

typedef struct hob_agui_session hob_agui_session;

/* A thread with an id of its own; the first run that is started with an input names it instead. */
HOB_API int hob_agui_session_create(const hob_agui_sink *sink, hob_agui_session **out,
                                    hob_error *err);
HOB_API int hob_agui_session_create_with_thread_id(const hob_agui_sink *sink, hob_str thread_id,
                                                   hob_agui_session **out, hob_error *err);
HOB_API void hob_agui_session_destroy(hob_agui_session *s); /* sends nothing; NULL is fine */

HOB_API hob_str hob_agui_thread_id(const hob_agui_session *s);
HOB_API hob_str hob_agui_run_id(const hob_agui_session *s); /* of the run under way, otherwise "" */
HOB_API int hob_agui_is_running(const hob_agui_session *s);
HOB_API int hob_agui_is_connected(const hob_agui_session *s);
HOB_API hob_agui_dialect hob_agui_session_dialect(const hob_agui_session *s);
/* Events from now on carry this time (Unix, ms); 0 = none, the default. */
HOB_API void hob_agui_set_time(hob_agui_session *s, int64_t unix_ms);
/* A fresh id, NUL-terminated. */
HOB_API void hob_agui_make_id(char out[37]);
HOB_API const char *hob_agui_kind_name(hob_agui_kind kind); /* "RUN_STARTED" */
/* 1 if an Accept header admits protobuf (nothing of the kind in it: 0). */
HOB_API int hob_agui_accepts_proto(hob_str accept);

/* ---- runs -------------------------------------------------------------------------------------------- */

/* With the ids, state, history and dialect of what the client sent. The input is not kept. HOB_EEXIST: this run id was. */
HOB_API int hob_agui_run_start(hob_agui_session *s, const hob_agui_input *in, hob_error *err);
/* Without an input: run_id "" = one is made; parent "" = none. State and history go on from the run before. */
HOB_API int hob_agui_run_start_ids(hob_agui_session *s, hob_str run_id, hob_str parent_run_id,
                                   hob_error *err);
/* What the run used: a JSON array of TokenUsage. It goes out with the end of the run. */
HOB_API int hob_agui_run_usage(hob_agui_session *s, hob_str usage_json, hob_error *err);

/* Each of these closes what is open first. Without a run finish does nothing and succeeds. */
HOB_API int hob_agui_run_finish(hob_agui_session *s, hob_str result_json, hob_error *err);
/* The run was stopped. A client that is older than 1.0 is told with RUN_ERROR, code "cancelled". */
HOB_API int hob_agui_run_cancelled(hob_agui_session *s, hob_error *err);
/* Abandons what is open. Also right before a run, and once after a finished one. */
HOB_API int hob_agui_run_error(hob_agui_session *s, hob_str message, hob_error *err);
HOB_API int hob_agui_run_error_with_code(hob_agui_session *s, hob_str message, hob_str code,
                                         hob_error *err);

typedef struct hob_agui_interrupt {
    size_t size;
    hob_str id;              /* unique in the run; "" = one is made */
    hob_str reason;          /* "" = confirmation */
    hob_str message;         /* the rest is optional */
    hob_str tool_call;       /* a call of this thread without a result */
    hob_str response_schema; /* JSON object */
    hob_str expires_at;      /* RFC 3339; an expired one blocks the thread in older clients */
    hob_str metadata;        /* JSON object */
    hob_str subagent;
} hob_agui_interrupt;
#define HOB_AGUI_INTERRUPT_INIT                                                                    \
    { .size = sizeof(hob_agui_interrupt) }

/* The run ends with a question; the answer comes with the next input. `payload` (JSON, "" = none) becomes metadata.
 * `id` has room for 37 bytes, or is NULL. HOB_EIDLE without a run. */
HOB_API int hob_agui_run_interrupt(hob_agui_session *s, hob_str reason, hob_str payload, char *id,
                                   hob_error *err);
HOB_API int hob_agui_run_interrupt_with_id(hob_agui_session *s, hob_str id, hob_str reason,
                                           hob_str payload, hob_error *err);
HOB_API int hob_agui_run_interrupt_all(hob_agui_session *s, const hob_agui_interrupt *all, size_t n,
                                       hob_error *err);

/* ---- what is said ------------------------------------------------------------------------------------ */

/* What an event may carry besides; each call names the fields that it reads. NULL = nothing. */
typedef struct hob_agui_extra {
    size_t size;
    hob_str
        subagent; /* whose it is; "" = the agent's own. Read by every call that takes an extra */
    hob_str metadata;  /* JSON object. The same */
    hob_str role;      /* message: assistant (the default), user, system, developer */
    hob_str name;      /* message */
    hob_str parent;    /* tool call: the message that makes it; sub-agent: the message */
    hob_str tool_call; /* sub-agent: the call that started it */
    hob_str parent_subagent;
    hob_str description; /* sub-agent */
    unsigned flags;
} hob_agui_extra;
#define HOB_AGUI_EXTRA_INIT                                                                        \
    { .size = sizeof(hob_agui_extra) }
enum { HOB_AGUI_REOPEN = 1 }; /* message, tool call, reasoning: more of one that the client has */

/* A message in pieces. */
HOB_API int hob_agui_message_start(hob_agui_session *s, hob_str id, const hob_agui_extra *x,
                                   hob_error *err);
HOB_API int hob_agui_message_content(hob_agui_session *s, hob_str id, hob_str delta,
                                     hob_error *err);
HOB_API int hob_agui_message_end(hob_agui_session *s, hob_str id, hob_error *err);

/* A call, its arguments in pieces; its result (text, or JSON array of content parts) is a message of its own. */
HOB_API int hob_agui_tool_call_start(hob_agui_session *s, hob_str id, hob_str name,
                                     const hob_agui_extra *x, hob_error *err);
HOB_API int hob_agui_tool_call_args(hob_agui_session *s, hob_str id, hob_str delta, hob_error *err);
HOB_API int hob_agui_tool_call_end(hob_agui_session *s, hob_str id, hob_error *err);
HOB_API int hob_agui_tool_call_result(hob_agui_session *s, hob_str message_id, hob_str call,
                                      hob_str text, hob_error *err);
HOB_API int hob_agui_tool_call_result_parts(hob_agui_session *s, hob_str message_id, hob_str call,
                                            hob_str parts_json, hob_error *err);

/* A span of reasoning and the messages in it. start_thinking opens a span with an id that is made; the title, if any,
 * travels as metadata. */
HOB_API int hob_agui_start_thinking(hob_agui_session *s, hob_str title, char id[37],
                                    hob_error *err);
HOB_API int hob_agui_reasoning_start(hob_agui_session *s, hob_str id, const hob_agui_extra *x,
                                     hob_error *err);
HOB_API int hob_agui_reasoning_end(hob_agui_session *s, hob_str id, hob_error *err);
HOB_API int hob_agui_reasoning_message_start(hob_agui_session *s, hob_str id,
                                             const hob_agui_extra *x, hob_error *err);
HOB_API int hob_agui_reasoning_message_content(hob_agui_session *s, hob_str id, hob_str delta,
                                               hob_error *err);
HOB_API int hob_agui_reasoning_message_end(hob_agui_session *s, hob_str id, hob_error *err);
/* What a provider wants back with a message or call, unreadable here. */
typedef enum hob_agui_entity { HOB_AGUI_OF_MESSAGE, HOB_AGUI_OF_TOOL_CALL } hob_agui_entity;
HOB_API int hob_agui_reasoning_encrypted(hob_agui_session *s, hob_agui_entity of, hob_str id,
                                         hob_str value, hob_error *err);

/* The whole conversation anew: a JSON array of messages. */
HOB_API int hob_agui_messages_snapshot(hob_agui_session *s, hob_str messages_json, hob_error *err);

/* ---- state: what the client has is known, so that changes can be found ---------------------------------- */

HOB_API hob_str hob_agui_state(const hob_agui_session *s); /* JSON, until the next call */
/* Of a state whose text has more bytes nothing is kept (hob_agui_state is ""), and changes are told without looking for
 * small ones: by whole members, or as a snapshot. For servers, which hold one for each client. */
HOB_API void hob_agui_state_keep(hob_agui_session *s, size_t max);
HOB_API int hob_agui_state_snapshot(hob_agui_session *s, hob_str json, hob_error *err);
/* A JSON patch; one that does not apply to the state that is kept is refused. */
HOB_API int hob_agui_state_delta(hob_agui_session *s, hob_str patch_json, hob_error *err);
/* Sends what has changed: a delta, a snapshot if that is shorter, or nothing. */
HOB_API int hob_agui_state_set(hob_agui_session *s, hob_str json, hob_error *err);

HOB_API int hob_agui_activity_snapshot(hob_agui_session *s, hob_str id, hob_str type,
                                       hob_str content_json, hob_error *err);
HOB_API int hob_agui_activity_delta(hob_agui_session *s, hob_str id, hob_str patch_json,
                                    hob_error *err);

/* ---- structure, and whatever else ----------------------------------------------------------------------- */

/* A step's name is unique among those that its owner (subagent, "" = the agent) has open. */
HOB_API int hob_agui_step_start(hob_agui_session *s, hob_str name, const hob_agui_extra *x,
                                hob_error *err);
HOB_API int hob_agui_step_finish(hob_agui_session *s, hob_str name, hob_str subagent,
                                 hob_error *err);
/* An id is used once in a run. Ending one closes what it has open. */
HOB_API int hob_agui_subagent_start(hob_agui_session *s, hob_str id, hob_str name,
                                    const hob_agui_extra *x, hob_error *err);
HOB_API int hob_agui_subagent_finish(hob_agui_session *s, hob_str id, hob_str result_json,
                                     hob_error *err);
/* It waits for these interrupts (JSON array of ids, "" = unnamed) and may go on in a later run. */
HOB_API int hob_agui_subagent_suspend(hob_agui_session *s, hob_str id, hob_str interrupt_ids,
                                      hob_error *err);
HOB_API int hob_agui_subagent_error(hob_agui_session *s, hob_str id, hob_str message, hob_str code,
                                    hob_error *err);
HOB_API int hob_agui_custom(hob_agui_session *s, hob_str name, hob_str value_json,
                            const hob_agui_extra *x, hob_error *err);
HOB_API int hob_agui_raw(hob_agui_session *s, hob_str event_json, hob_str source,
                         const hob_agui_extra *x, hob_error *err);

#ifdef __cplusplus
}
#endif

#endif
