/*
 * hob/ext/provider.h - the ring for model providers. Stable for a minor version only.
 *
 * A provider turns a conversation into one streamed answer. It gets the history as neutral content blocks
 * (docs/messages.md), sends it its own way, and writes what comes back into a `hob_answer`, block by block, as
 * it comes. All calls and callbacks are on the loop thread and must not block; callbacks never run from inside
 * start().
 */
#ifndef HOB_EXT_PROVIDER_H
#define HOB_EXT_PROVIDER_H

#include <hob/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- the conversation so far -------------------------------------------------------------- */
typedef struct hob_history hob_history;
typedef enum hob_role { HOB_ROLE_USER, HOB_ROLE_ASSISTANT } hob_role;

HOB_API size_t hob_history_count(const hob_history *h);
HOB_API hob_role hob_history_role(const hob_history *h, size_t i);
/* The content blocks of message i: JSON array text. */
HOB_API hob_str hob_history_content(const hob_history *h, size_t i);
/* Which model wrote assistant message i, "provider/model"; thinking signatures bind to it. */
HOB_API hob_str hob_history_model(const hob_history *h, size_t i);
/* Results of the tool_call blocks of message i, in source order: as many as it has such blocks. In a history
 * handed to a provider every call has one. */
HOB_API size_t hob_history_results(const hob_history *h, size_t i);
HOB_API hob_str hob_history_result_content(const hob_history *h, size_t i,
                                           size_t k); /* JSON array */
HOB_API int hob_history_result_failed(const hob_history *h, size_t i,
                                      size_t k); /* outcome other than ok */
/* Changes whenever messages before the end changed; while it stays, the history only grew. */
HOB_API uint64_t hob_history_generation(const hob_history *h);

/* ---- the answer under construction --------------------------------------------------------- */
typedef struct hob_answer hob_answer;

typedef enum hob_block_kind {
    HOB_BLOCK_TEXT,
    HOB_BLOCK_THINKING,
    HOB_BLOCK_TOOL_CALL,
    HOB_BLOCK_OPAQUE /* something only this provider understands: kept and sent back byte for byte */
} hob_block_kind;

typedef enum hob_stop {
    HOB_STOP_NONE, /* not known yet: an answer that ends so is broken */
    HOB_STOP_DONE,
    HOB_STOP_TOOLS,
    HOB_STOP_LENGTH,
    HOB_STOP_REFUSAL,
    HOB_STOP_CONTINUE
} hob_stop;

typedef struct hob_usage {
    int64_t input_tokens, output_tokens, cache_read_tokens, cache_write_tokens, reasoning_tokens;
} hob_usage;

/* Opens the next block and returns its index, or HOB_ETOOBIG. */
HOB_API int hob_answer_open(hob_answer *a, hob_block_kind kind);
/* Text, thinking text or raw argument JSON, as it comes. */
HOB_API int hob_answer_append(hob_answer *a, int block, hob_str bytes);
HOB_API int hob_answer_signature(hob_answer *a, int block, hob_str bytes); /* appended */
HOB_API int hob_answer_call(hob_answer *a, int block, hob_str id,
                            hob_str name); /* "" leaves as is */
HOB_API int hob_answer_opaque(hob_answer *a, int block, hob_str raw_json);
HOB_API void hob_answer_usage(hob_answer *a, const hob_usage *u); /* cumulative; negative = leave */
HOB_API void hob_answer_stop(hob_answer *a, hob_stop stop);
HOB_API void hob_answer_id(hob_answer *a, hob_str response_id);

/* ---- the provider ------------------------------------------------------------------------- */
typedef struct hob_provider hob_provider; /* backends put this first in their own struct */
typedef struct hob_model_call hob_model_call;
typedef struct hob_wire hob_wire; /* provider's own cache of the encoded history, one a session */

typedef enum hob_thinking {
    HOB_THINKING_DEFAULT,
    HOB_THINKING_OFF,
    HOB_THINKING_MINIMAL,
    HOB_THINKING_LOW,
    HOB_THINKING_MEDIUM,
    HOB_THINKING_HIGH,
    HOB_THINKING_XHIGH
} hob_thinking;

typedef struct hob_model_request {
    size_t size;
    hob_str model; /* as the provider names it */
    hob_str system;
    hob_str tools;          /* JSON array of {"name","description","schema"}; "" = none */
    uint64_t tools_version; /* changes when tools do */
    hob_thinking thinking;
    int64_t max_output; /* tokens; > 0 */
    int64_t context;    /* window of the model, 0 = unknown */
    int attempt;        /* 1, 2, … of the same turn */
    const hob_history *history;
    hob_wire **wire;     /* slot of the session; the provider may keep a cache there */
    hob_str session;     /* session id, for cache affinity */
    hob_str traceparent; /* W3C trace context of this call; "" = nobody traces */
} hob_model_request;

typedef struct hob_model_outcome {
    size_t size;
    int code;   /* HOB_OK: the answer is whole; HOB_E…: it is not */
    int status; /* HTTP status, 0 if none */
    int retryable;
    int64_t retry_after_ms; /* asked for by the provider; -1 = not said */
    hob_error error;
} hob_model_outcome;

typedef struct hob_model_handler {
    void (*progress)(void *user); /* the answer grew; at most once a network read */
    /* Exactly once, unless cancelled; the call is gone by then and must not be cancelled any more. */
    void (*done)(const hob_model_outcome *o, void *user);
} hob_model_handler;

typedef struct hob_provider_ops {
    size_t size;
    const char *name; /* "anthropic" */
    /* Mandatory. Slices of rq live only during the call; history and answer until done or cancel (history is
     * not changed meanwhile). */
    int (*start)(hob_provider *p, const hob_model_request *rq, hob_answer *answer,
                 const hob_model_handler *h, void *user, hob_model_call **out, hob_error *err);
    void (*cancel)(
        hob_model_call *c); /* mandatory; closes the transport, frees; no callback after it */
    void (*wire_destroy)(hob_wire *w); /* optional */
    void (*destroy)(hob_provider *p);  /* mandatory */
} hob_provider_ops;

struct hob_provider {
    const hob_provider_ops *ops;
};

#ifdef __cplusplus
}
#endif

#endif
