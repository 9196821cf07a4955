/*
 * client.h - a provider over real HTTP against a server on loopback that behaves as told.
 */
#ifndef HOB_TESTS_MODEL_CLIENT_H
#define HOB_TESTS_MODEL_CLIENT_H

#include "talk.h"

#include "model/provider_http.h"
#include "support/httpd.h"

#define SAID(t) "[{\"type\":\"text\",\"text\":\"" t "\"}]"
#define EVENT_STREAM "Content-Type: text/event-stream; charset=utf-8\r\n"
#define A_START                                                                                    \
    "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"m\",\"usage\":" \
    "{\"input_tokens\":7,\"output_tokens\":1}}}\n\n"
#define A_TEXT                                                                                     \
    "event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":0,"             \
    "\"content_block\":{\"type\":\"text\",\"text\":\"\"}}\n\n"                                     \
    "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":"   \
    "{\"type\":\"text_delta\",\"text\":\"Hello \xe2\x82\xac\"}}\n\n"                               \
    "event: content_block_stop\ndata: {\"type\":\"content_block_stop\",\"index\":0}\n\n"
#define A_END                                                                                      \
    "event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":"          \
    "\"end_turn\"},\"usage\":{\"output_tokens\":3}}\n\n"                                           \
    "event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n"
#define C_TEXT                                                                                     \
    "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Hello \xe2\x82\xac\"}}]}\n\n"
#define C_END                                                                                      \
    "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n"              \
    "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":7,\"completion_tokens\":3}}\n\n"           \
    "data: [DONE]\n\n"
#define KEY "sk-test-0123456789abcdef"

#define ERROR(type, message)                                                                       \
    "{\"type\":\"error\",\"error\":{\"type\":\"" type "\",\"message\":\"" message "\"}}"

/* ---- a client --------------------------------------------------------------------------------------- */

typedef int (*create_fn)(const hob_provider_env *, const hob_provider_config *, hob_provider **,
                         hob_error *);

typedef struct client {
    hob_loop *loop;
    hob_pool *pool;
    hob_http *http;
    httpd *server;
    hob_provider *provider;
    talk talk;
    hob_answer *answer;
    hob_model_call *call;
    unsigned progress, done;
    hob_model_outcome outcome;
    bool cancel_on_progress;
    char url[128];
} client;

static inline void client_init(client *c, httpd_fn fn, void *user) {
    hob_error err;
    *c = (client){0};
    assert_ok(hob_loop_create(NULL, &c->loop, &err), err);
    assert_ok(hob_pool_create(2, 64, &c->pool, &err), err);
    hob_http_opts o = {.pool = c->pool};
    assert_ok(hob_http_create(c->loop, &o, &c->http, &err), err);
    if (fn) c->server = httpd_start(fn, user);
    if (fn) (void)httpd_url(c->server, "", c->url, sizeof c->url);
    talk_init(&c->talk);
    talk_user(&c->talk, SAID("hi"));
}

static inline void client_provider(client *c, create_fn create, hob_provider_config config) {
    hob_provider_env env = {c->loop, c->http, c->pool};
    hob_error err;
    if (!config.name.n) config.name = HOB_STR("lab");
    if (!config.base_url.n) config.base_url = hob_str_z(c->url);
    if (!config.idle_timeout_ms) config.idle_timeout_ms = 20000;
    assert_ok(create(&env, &config, &c->provider, &err), err);
}

static inline void client_finish(client *c) {
    if (c->call) c->provider->ops->cancel(c->call);
    hob_answer_destroy(c->answer);
    talk_finish(&c->talk);
    if (c->provider) c->provider->ops->destroy(c->provider);
    hob_http_destroy(c->http);
    hob_pool_destroy(c->pool);
    hob_loop_destroy(c->loop);
    if (c->server) httpd_stop(c->server);
}

static inline void on_progress(void *user) {
    client *c = user;
    c->progress++;
    if (!c->cancel_on_progress || !c->call) return;
    c->provider->ops->cancel(c->call);
    c->call = NULL;
    hob_answer_destroy(c->answer);
    c->answer = NULL;
}

static inline void on_done(const hob_model_outcome *o, void *user) {
    client *c = user;
    c->done++;
    c->call = NULL;
    c->outcome = *o;
}

static inline int client_start(client *c, hob_error *err) {
    static const hob_model_handler handler = {on_progress, on_done};
    hob_model_request rq = talk_request(&c->talk);
    hob_answer_destroy(c->answer);
    c->answer = hob_answer_create();
    c->done = c->progress = 0;
    return c->provider->ops->start(c->provider, &rq, c->answer, &handler, c, &c->call, err);
}

static inline void client_ask(client *c) {
    hob_error err;
    assert_ok(client_start(c, &err), err);
    assert_int_equal(c->done, 0);
    while (!c->done) hob_loop_run_once(c->loop, -1);
    assert_int_equal(c->done, 1);
}

/* code, status, retryable, retry-after, message */
static inline void assert_outcome(const client *c, const char *expected) {
    hob_buf b;
    hob_buf_init(&b, 4096);
    const hob_model_outcome *o = &c->outcome;
    if (o->code == HOB_OK)
        hob_buf_addz(&b, "HOB_OK");
    else
        hob_buf_addf(&b, "%s %d%s%s", hob_error_name(o->code), o->status,
                     o->retryable ? " retryable" : "", o->retry_after_ms >= 0 ? " after" : "");
    if (o->code && o->retry_after_ms >= 0) hob_buf_addf(&b, " %lld", (long long)o->retry_after_ms);
    if (o->code) hob_buf_addf(&b, ": %s", o->error.message);
    assert_string_equal(hob_buf_z(&b), expected);
    hob_buf_finish(&b);
}

static inline void assert_hello(const client *c) {
    assert_outcome(c, "HOB_OK");
    assert_int_equal(c->answer->nblocks, 1);
    assert_str(hob_buf_str(&c->answer->blocks[0].text), "Hello \xe2\x82\xac");
    assert_int_equal(c->answer->usage.input_tokens, 7);
    assert_int_equal(c->answer->usage.output_tokens, 3);
    assert_true(c->progress > 0);
}

/* ---- servers ------------------------------------------------------------ */

typedef struct seen {
    char head[2048], body[2048];
} seen;

static inline void note(httpd_exchange *x, seen *s) {
    if (!s) return;
    (void)snprintf(s->head, sizeof s->head, "%.*s", HOB_FMT(httpd_head(x)));
    (void)snprintf(s->body, sizeof s->body, "%.*s", HOB_FMT(httpd_body(x)));
}

static inline void serve_anthropic(httpd_exchange *x, void *user) {
    note(x, user);
    httpd_begin(x, 200, EVENT_STREAM);
    httpd_send(x, HOB_STR(A_START A_TEXT A_END));
    httpd_end(x);
}

static inline void serve_chat(httpd_exchange *x, void *user) {
    note(x, user);
    httpd_begin(x, 200, EVENT_STREAM);
    httpd_send(x, HOB_STR(C_TEXT C_END));
    httpd_end(x);
}

static inline void assert_sent(const seen *s, const char *line) {
    if (!strstr(s->head, line)) fail_msg("%s\nis not in\n%s", line, s->head);
}

static inline void serve_bytewise(httpd_exchange *x, void *user) {
    httpd_begin(x, 200, EVENT_STREAM);
    httpd_bytewise(x);
    httpd_send(x, hob_str_z(user));
    httpd_end(x);
}

static inline void serve_and_hang(httpd_exchange *x, void *user) {
    httpd_begin(x, 200, EVENT_STREAM);
    httpd_send(x, hob_str_z(user));
    httpd_hang(x);
}

typedef struct reply {
    int status;
    const char *headers, *body;
} reply;

static inline void serve_reply(httpd_exchange *x, void *user) {
    const reply *r = user;
    httpd_reply(x, r->status, r->headers, hob_str_z(r->body));
}

#endif
