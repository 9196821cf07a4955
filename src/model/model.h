/*
 * model.h - models: answers under construction, providers, the catalogue, credentials.
 *
 * answer.c             hob_answer: what a provider writes, what deltas are ranges of
 * anthropic*, openai_chat*, provider_http.c, wire.c   the providers over HTTP
 * scripted*.c          the provider that plays a script
 * catalogue.c          what is known of models
 * registry.c, resolve.c, providers.c   configuration -> models; hint -> model; model -> provider
 */
#ifndef HOB_SRC_MODEL_H
#define HOB_SRC_MODEL_H

#include <hob/ext/provider.h>

#include "base/json.h"
#include "config/config.h"
#include "loop/loop.h"
#include "net/http.h"

/* ---- answer.c ----------------------------------------------------------------------------- */
#define HOB_ANSWER_MAX (16u << 20) /* bytes of all blocks */

typedef struct hob_block {
    hob_block_kind kind;
    hob_buf text; /* text, thinking, or argument JSON */
    hob_buf
        signature; /* thinking; of a text block: its citations, JSON values with commas between */
    hob_str id, name; /* tool call; owned by the answer's arena */
    hob_str raw;      /* opaque */
} hob_block;

struct hob_answer {
    hob_arena *arena;
    hob_block *blocks;
    size_t nblocks, cap;
    size_t bytes; /* of all blocks */
    hob_stop stop;
    hob_usage usage;
    hob_str response_id;
    hob_str detail; /* why it stopped, in the provider's words (a refusal); "" if it said nothing */
    bool shown;     /* text, thinking or arguments arrived */
};
hob_answer *hob_answer_create(void);
void hob_answer_destroy(hob_answer *a);
/* Why the answer stopped, for people. */
void hob_answer_detail(hob_answer *a, hob_str words);
/* The content array of an assistant_message (docs/messages.md). The k-th tool_call gets "call":"<message>.<k>";
 * arguments that are not a JSON object are kept as "args_text". `whole` false = cut off: unfinished calls
 * (arguments that do not parse) and blocks without content are left out. */
int hob_answer_content(const hob_answer *a, hob_str message, hob_str provider, bool whole,
                       hob_buf *out);

/* ---- providers ---------------------------------------------------------------------------- */
typedef struct hob_provider_env {
    hob_loop *loop;
    hob_http *http;
    hob_pool *pool;
} hob_provider_env;

/* How a model is told to think. */
typedef enum hob_thinking_style {
    HOB_THINKS_BY_NAME,  /* what its name suggests */
    HOB_THINKS_NOT,      /* never told */
    HOB_THINKS_BUDGET,   /* anthropic: a budget of tokens */
    HOB_THINKS_ADAPTIVE, /* anthropic: adaptive, with an effort */
    HOB_THINKS_EFFORT    /* openai-chat: reasoning_effort */
} hob_thinking_style;

typedef struct hob_model_quirks {
    hob_str model;
    hob_thinking_style thinking;
    bool echo_reasoning; /* openai-chat: wants its reasoning_content back beside its calls */
} hob_model_quirks;

typedef struct hob_provider_config {
    hob_str name;           /* as configured: "anthropic", "lab" */
    hob_str base_url;       /* a given /v1 is not doubled */
    hob_str api_key;        /* "" = none is sent */
    const hob_str *headers; /* extra "name: value" */
    size_t nheaders;
    int64_t connect_timeout_ms, idle_timeout_ms;
    hob_str key_source; /* where api_key came from, for messages: "ANTHROPIC_API_KEY" */
    hob_str
        api_key_cmd; /* run by /bin/sh when the first request needs a key; used if api_key is "" */
    bool old_max_tokens;            /* openai-chat: the server knows max_tokens only */
    const hob_model_quirks *quirks; /* by model */
    size_t nquirks;
} hob_provider_config;

int hob_provider_anthropic_create(const hob_provider_env *env, const hob_provider_config *c,
                                  hob_provider **out, hob_error *err);
int hob_provider_openai_chat_create(const hob_provider_env *env, const hob_provider_config *c,
                                    hob_provider **out, hob_error *err);
/* Whether it can make the request from what is encoded already and the messages that follow it: those before need not
 * be in memory. Providers that keep no wire of ours (wire.h) cannot. */
bool hob_provider_continues(hob_provider *p, const hob_model_request *rq, const hob_wire *w);
/* `script` is the text of a script file (docs/scripted-model.md); errors carry line and column. */
int hob_provider_scripted_create(const hob_provider_env *env, hob_str script, hob_provider **out,
                                 hob_error *err);

/* ---- registry.c: which model, whose key ---------------------------------------------------- */
typedef struct hob_model_info {
    hob_str provider, id; /* "anthropic", "claude-sonnet-4-5" */
    hob_str api;          /* anthropic | openai-chat | scripted | … */
    hob_str script;       /* scripted: the file's path */
    int64_t context, output;
    bool images, known; /* known: in the catalogue or configured */
    bool priced;
    double input_usd, output_usd, cache_read_usd, cache_write_usd; /* a million tokens */
    hob_thinking thinking; /* from the hint's :LEVEL; HOB_THINKING_DEFAULT if absent */
} hob_model_info;

typedef struct hob_models hob_models;
/* Built from configuration: providers, their models, keys. The library reads no variable here; what comes from
 * the environment was put into the configuration by hob_config_load(). */
int hob_models_create(const hob_config *cfg, hob_models **out, hob_error *err);
void hob_models_destroy(hob_models *m);
/* "scripted:FILE", "provider/model[:level]", "model[:level]"; "" = the first provider with a key.
 * HOB_ENOENT with the nearest names, HOB_EAMBIGUOUS with the candidates, HOB_ENOSYS for an api of a later version,
 * HOB_EAUTH (only for "") naming the variables looked for. Slices in *out live as long as m. */
int hob_models_resolve(hob_models *m, hob_str hint, hob_model_info *out, hob_error *err);
/* The provider object for a resolved model, made on first use and kept. */
int hob_models_provider(hob_models *m, const hob_provider_env *env, const hob_model_info *info,
                        hob_provider **out, hob_error *err);
/* Every model that is known, with whether its provider has a key. */
void hob_models_each(const hob_models *m,
                     void (*fn)(const hob_model_info *info, bool key, void *user), void *user);
/* HOB_OK, or HOB_EAUTH saying which variables were looked for and how to go on. */
int hob_models_check_key(hob_models *m, const hob_model_info *info, hob_error *err);
/* Price of a call, or a negative number if the model's price is unknown. */
double hob_model_cost(const hob_model_info *info, const hob_usage *u);
int hob_thinking_from(hob_str word, hob_thinking *out); /* HOB_EINVAL */
const char *hob_thinking_name(hob_thinking t);

#endif
