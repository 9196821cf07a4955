/*
 * provider_http.h - what providers over HTTP share: one call from start to outcome.
 *
 * A provider is a dialect (how to encode, how to decode, where to send) on this machinery.
 */
#ifndef HOB_SRC_MODEL_PROVIDER_HTTP_H
#define HOB_SRC_MODEL_PROVIDER_HTTP_H

#include "model/decoder.h"
#include "model/encode.h"

typedef struct hob_dialect {
    const char *api;         /* "anthropic" */
    const char *root, *path; /* behind base_url: root (unless it ends so), then path */
    const char *key_header;  /* "x-api-key: ": the key follows */
    const char *header;      /* one more, or NULL */
    const char *cache_host;  /* "://host/" of the server that takes a cache key, or NULL */
    hob_encode_fn encode;
    hob_decoder *(*decoder)(hob_answer *a, const hob_asked *who);
} hob_dialect;

int hob_provider_http_create(const hob_dialect *d, const hob_provider_env *env,
                             const hob_provider_config *c, hob_provider **out, hob_error *err);

/* ---- the provider's inside, for provider_http.c and http_key.c --------------------------------- */
typedef struct hob_provider_http hob_provider_http;
typedef struct hob_key_job hob_key_job;

struct hob_provider_http {
    hob_provider base;
    hob_provider_ops ops; /* named after the dialect */
    const hob_dialect *dialect;
    hob_provider_env env;
    hob_arena *arena;
    hob_provider_config config; /* its slices live in the arena */
    hob_str url, shown_url;     /* shown_url has no user name and password */
    hob_str key;                /* "" = none, or not known yet */
    hob_buf fetched;            /* the key that api_key_cmd printed */
    hob_list waiting;           /* calls that wait for it */
    hob_key_job *job;
};

struct hob_model_call {
    hob_provider_http *p;
    hob_list link; /* in p->waiting */
    int state;     /* of provider_http.c */
    hob_model_handler handler;
    void *user;
    hob_arena *arena;
    hob_asked who;
    hob_str trace_line; /* "traceparent: …", or empty */
    hob_answer *answer;
    hob_decoder *decoder;
    hob_body body;
    hob_http_call *http;
    hob_timer linger;
    hob_model_outcome outcome; /* status and when to come back, as the head said */
    int should_retry;          /* x-should-retry: 1, 0, -1 = not said */
    hob_str content_type, location;
    hob_buf text; /* the body of an answer that is no stream */
    bool busy;    /* inside `progress`: a cancel there takes effect behind it */
    bool cancelled;
};

/* The key is there (or never will be: err): go on. */
void hob_call_begin(hob_model_call *c);
void hob_call_end(hob_model_call *c, hob_model_outcome *o);

/* ---- key_cmd.c --------------------------------------------------------------------------------- */
/* Runs the command with /bin/sh and takes the first line it prints. Blocks; for the pool. HOB_EAUTH. */
int hob_key_cmd_run(const char *command, int64_t timeout_ms, hob_buf *key, hob_error *err);
/* Fetches p's key on the pool; calls in p->waiting go on, or end, when it is there. */
int hob_key_job_start(hob_provider_http *p, hob_error *err);
void hob_key_job_forget(hob_key_job *j); /* its provider goes away */

#endif
