/*
 * encode.h - a model request -> the text of a request body.
 *
 * The body is sent as parts that lie one behind the other: head (parameters, tools), the wire's kept text, the
 * tail that may still change, the foot. Only what is new is encoded (see wire.h).
 */
#ifndef HOB_SRC_MODEL_ENCODE_H
#define HOB_SRC_MODEL_ENCODE_H

#include "model/wire.h"

typedef struct hob_body {
    hob_buf head, tail;
    hob_wire *wire; /* borrowed from until hob_body_finish() */
    hob_str part[3];
    size_t nparts;
} hob_body;

/* What encoders need besides the request. */
typedef struct hob_encode_opts {
    hob_str provider; /* as configured: with the model it says whose signatures these are */
    hob_thinking_style thinking;
    bool echo_reasoning;
    bool old_max_tokens;
    bool cache_key; /* send the session id for cache affinity */
} hob_encode_opts;

typedef int (*hob_encode_fn)(const hob_model_request *rq, const hob_encode_opts *o, hob_body *b,
                             hob_error *err);
/* HOB_ETOOBIG: over HOB_WIRE_MAX; HOB_EPARSE: the history is not what docs/messages.md says. On failure the body
 * is finished already. */
int hob_encode_anthropic(const hob_model_request *rq, const hob_encode_opts *o, hob_body *b,
                         hob_error *err);
int hob_encode_openai_chat(const hob_model_request *rq, const hob_encode_opts *o, hob_body *b,
                           hob_error *err);
void hob_body_finish(hob_body *b);

/* What the text of a message depends on besides the message: "provider/model", and more if it is not the usual. */
void hob_encode_key(const hob_encode_opts *o, hob_str model, hob_buf *out);

/* ---- shared by the encoders ------------------------------------------------------------------------- */
typedef struct hob_encoder {
    const hob_model_request *rq;
    const hob_encode_opts *opts;
    hob_str self; /* "provider/model" */
    hob_wire *wire;
    hob_arena *arena; /* of this request */
    hob_error *err;
} hob_encoder;

/* Takes the wire and prepares b. */
void hob_encoder_init(hob_encoder *e, const hob_model_request *rq, const hob_encode_opts *o,
                      const char *api, hob_body *b);
/* Ends with rc, or with what the buffers say; counts what was encoded since `before` bytes of kept text. */
int hob_encoder_finish(hob_encoder *e, hob_body *b, size_t before, int rc);

/* Message i, or result k of it, as a JSON array. HOB_EPARSE. */
int hob_encoder_content(hob_encoder *e, hob_str json, const hob_json **out);
bool hob_encoder_own(const hob_encoder *e, size_t i); /* this very model wrote message i */
bool hob_block_is(const hob_json *block, const char *type);
/* The text of a block, or NULL if it is none or says nothing but blanks. */
const hob_json *hob_block_text(const hob_json *block);
/* A JSON string without its quotes, as written. */
hob_str hob_json_inner(const hob_json *string);
/* A name that every provider takes: [A-Za-z0-9_-]{1,64}. */
hob_str hob_call_name(hob_arena *a, hob_str name);

/* ---- thinking.c --------------------------------------------------------------------------------------- */
/* The members "thinking" and "output_config", or nothing. */
void hob_thinking_anthropic(hob_jsonw *w, const hob_model_request *rq, hob_thinking_style style,
                            bool thought_first);
/* The value of reasoning_effort, or NULL = leave it out. */
const char *hob_thinking_effort(hob_str model, hob_thinking_style style, hob_thinking level);

#endif
