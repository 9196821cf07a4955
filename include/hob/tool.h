/*
 * hob/tool.h - tools of the host, in C.
 *
 * A tool is a name, a description and a JSON schema for the model, a class that says what repeating it would
 * do, and a function that starts the work and returns at once. The work is answered with a `hob_reply`: now or
 * later, from any thread, exactly once. No answer within the tool's time-out is an error result; an answer after
 * a cancel or time-out is ignored. A tool function is called on the loop thread and must not block.
 */
#ifndef HOB_TOOL_H
#define HOB_TOOL_H

#include <hob/state.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What happens to a call whose outcome is unknown after a crash. */
typedef enum hob_tool_class {
    HOB_TOOL_UNSAFE = 0,     /* never repeated silently: reported as unknown */
    HOB_TOOL_IDEMPOTENT = 1, /* repeated with the same key */
    HOB_TOOL_READ_ONLY = 2   /* repeated freely; may run beside other read-only calls */
} hob_tool_class;

enum {
    HOB_TOOL_PARALLEL = 1, /* may run beside other such calls, though it does more than read */
    HOB_TOOL_LONG_RUNNING =
        2 /* an answer that is ok is a receipt: the work goes on elsewhere, the run (in a workflow:
                                 the agent) ends, and hob_session_tool_update() brings the result and goes on */
};

typedef enum hob_outcome {
    HOB_OUTCOME_OK,
    HOB_OUTCOME_ERROR,
    HOB_OUTCOME_SKIPPED,
    HOB_OUTCOME_DENIED,
    HOB_OUTCOME_CANCELLED,
    HOB_OUTCOME_UNKNOWN
} hob_outcome;

typedef struct hob_reply hob_reply;

typedef struct hob_tool_call {
    size_t size;
    hob_str session, run, call; /* call: unique in the session; also the idempotency key */
    hob_str tool;
    hob_str args; /* JSON object, already checked against the schema */
    hob_str cwd;
    const hob_state
        *state; /* the session's, as it was when the call started; lives as the slices */
} hob_tool_call;

typedef struct hob_tool {
    size_t size;
    const char *name;        /* [A-Za-z0-9_-]{1,64} */
    const char *description; /* for the model */
    const char *schema;      /* JSON schema of the arguments (an object); NULL = no arguments */
    hob_tool_class class_;
    int64_t timeout_ms; /* 0 = 10 minutes; time spent waiting for approval does not count */
    /* Slices in `call` live until the answer. */
    void (*run)(const hob_tool_call *call, hob_reply *reply, void *user);
    /* Optional: the call is no longer wanted; answer soon (what was done so far, outcome CANCELLED). `hard`:
     * the answer is not waited for; it may come after a soft one. Called on the loop thread, also when an answer
     * is already on its way. */
    void (*cancel)(const hob_tool_call *call, int hard, void *user);
    void *user;
    unsigned flags; /* HOB_TOOL_PARALLEL, HOB_TOOL_LONG_RUNNING */
} hob_tool;
#define HOB_TOOL_INIT                                                                              \
    { sizeof(hob_tool), NULL, NULL, NULL, HOB_TOOL_UNSAFE, 0, NULL, NULL, NULL, 0 }

/* Answers; the reply must not be used afterwards. [any] Text must be UTF-8; broken bytes become U+FFFD. */
HOB_API void hob_reply_text(hob_reply *r, hob_outcome outcome, hob_str text);
/* As above with content blocks: a JSON array of {"type":"text",…} and {"type":"image",…}. */
HOB_API void hob_reply_content(hob_reply *r, hob_outcome outcome, hob_str content_json);
/* Nothing to say, go on: the answer of a callback (hob/agent.h) that lets things take their course. Of a tool it is an
 * empty result. */
HOB_API void hob_reply_pass(hob_reply *r);
/* Output while the work goes on; becomes tool_output_delta. Before the answer only. [any] */
HOB_API void hob_reply_output(hob_reply *r, hob_str chunk);

/* ---- what a tool may ask for besides its answer: before it, as often as it likes. [any] ------------------ */

/* Keys to set (JSON object) and to remove (JSON array of names), either may be "". Happens when all calls of the model's
 * answer are done, together with what the others change: on the same key the later call counts. Of `temp:` keys only
 * the names are stored. HOB_EINVAL (a key), HOB_EPARSE, HOB_ETOOBIG (4,096 keys, 4 MiB a call): then nothing is
 * changed. */
HOB_API int hob_reply_state(hob_reply *r, hob_str delta_json, hob_str removed_json, hob_error *err);
/* Ends the nearest loop of agents. */
HOB_API void hob_reply_escalate(hob_reply *r);
/* Another agent goes on. */
HOB_API int hob_reply_transfer(hob_reply *r, hob_str agent, hob_error *err);
/* The result is the answer: if every call of the batch says so, the model is not asked again. */
HOB_API void hob_reply_skip_summarization(hob_reply *r);
/* A version of an artifact was made, elsewhere; recorded with the result. hob_reply_artifact_save (hob/artifact.h) keeps
 * the artifact itself. */
HOB_API int hob_reply_artifact(hob_reply *r, hob_str name, int64_t version, hob_error *err);

#ifdef __cplusplus
}
#endif

#endif
