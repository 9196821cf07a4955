/*
 * provider_http.c - one model call over HTTP.
 *
 *   WAITING    for the key that a command prints
 *   ASKED      the request is under way, no head yet
 *   STREAMING  200 with an event stream: the decoder gets every byte
 *   REFUSED    another status: the body says why
 *   MISTAKEN   200 with something else: a proxy, a portal, a wrong address
 *
 * The call ends when the transport does, and no later than LINGER_MS after the decoder saw the end mark: waiting
 * for the server's own end keeps the connection for the next turn, waiting for ever would hang on a server that
 * leaves it open. The call is freed before `done` is called; `progress` and `done` may cancel and start calls.
 */
#include "model/provider_http.h"

#include <stdio.h>

#define LINGER_MS 300
#define MAX_ERROR_BODY 65536u
#define MAX_RESPONSE                                                                               \
    ((size_t)512 << 20) /* the answer's own ceiling is far below: events are wordy */
#define MAX_HEADERS 64u

enum { WAITING, ASKED, STREAMING, REFUSED, MISTAKEN };

/* ---- end ---------------------------------------------------------------------------------------- */

static void call_destroy(hob_model_call *c) {
    hob_list_remove(&c->link);
    hob_timer_stop(&c->linger);
    if (c->http) hob_http_cancel(c->http);
    hob_decoder_destroy(c->decoder);
    hob_body_finish(&c->body);
    hob_buf_finish(&c->text);
    hob_arena_destroy(c->arena);
    hob_free(c);
}

static void redact(const hob_provider_http *p, hob_error *err) {
    hob_error_redact(err, p->key);
    for (size_t i = 0; i < p->config.nheaders; i++) {
        hob_str h = p->config.headers[i];
        hob_error_redact(err, hob_str_trim(hob_str_skip(h, (size_t)(hob_str_chr(h, ':') + 1))));
    }
}

void hob_call_end(hob_model_call *c, hob_model_outcome *o) {
    hob_model_handler handler = c->handler;
    hob_provider_http *p = c->p;
    void *user = c->user;
    if (o->code) redact(p, &o->error);
    if (o->code == HOB_EAUTH && p->config.api_key_cmd.n)
        p->key = HOB_STR_NULL; /* it may be renewed */
    call_destroy(c);
    handler.done(o, user);
}

static void on_linger(hob_timer *t) {
    hob_model_call *c = HOB_CONTAINER(t, hob_model_call, linger);
    hob_model_outcome o = c->outcome;
    hob_call_end(c, &o);
}

/* ---- what the answer was ------------------------------------------------------------------------- */

/* Without it nobody would know why a wait over the cap ends the run at once. */
static void say_wait(hob_error *err, int64_t ms) {
    size_t n = strlen(err->message);
    if (ms > 0)
        snprintf(err->message + n, sizeof err->message - n, "; it asks to wait %.1f s",
                 (double)ms / 1000);
}

static void judge_refusal(hob_model_call *c, hob_model_outcome *o) {
    if (o->status >= 300 && o->status < 400) {
        hob_outcome_fail(o, HOB_EPROTO, false, "%.*s is not at %.*s (%d%s%.*s): change base_url",
                         HOB_FMT(c->who.provider), HOB_FMT(c->who.url), o->status,
                         c->location.n ? ", see " : "", HOB_FMT(hob_str_first(c->location, 200)));
        return;
    }
    int64_t wait = o->retry_after_ms;
    hob_outcome_from_error(o, &c->who, o->status, hob_buf_str(&c->text));
    o->retry_after_ms = wait;
    say_wait(&o->error, wait);
    if (c->should_retry >= 0) o->retryable = c->should_retry;
}

static bool is_error_object(hob_str text) {
    hob_arena *a = hob_arena_create(0);
    const hob_json *v = NULL;
    bool is = hob_json_parse(a, text, NULL, &v, NULL) == HOB_OK && hob_json_get(v, "error");
    hob_arena_destroy(a);
    return is;
}

static void judge_mistake(hob_model_call *c, hob_model_outcome *o) {
    int status = o->status;
    if (is_error_object(hob_buf_str(&c->text))) {
        hob_outcome_from_error(o, &c->who, 0, hob_buf_str(&c->text));
        o->status = o->error.sub = status;
        return;
    }
    hob_outcome_fail(
        o, HOB_EPROTO, false,
        "%.*s answered with %.*s, not an event stream: a proxy or captive portal? check "
        "base_url %.*s",
        HOB_FMT(c->who.provider), HOB_FMT(hob_str_first(c->content_type, 80)), HOB_FMT(c->who.url));
}

static void judge_stream(hob_model_call *c, hob_model_outcome *o) {
    if (hob_decoder_end(c->decoder) == HOB_OK) return;
    int status = o->status;
    *o = c->decoder->outcome;
    o->status = o->error.sub = status;
}

static void transport_failed(hob_model_call *c, hob_model_outcome *o, int code,
                             const hob_error *err) {
    hob_outcome_fail(o, code, hob_error_retryable(code), "%.*s: %s", HOB_FMT(c->who.provider),
                     err ? err->message : hob_error_text(code));
}

static void on_done(void *user, int code, const hob_error *err) {
    hob_model_call *c = user;
    hob_model_outcome o = c->outcome;
    bool failed = c->decoder->outcome.code != HOB_OK;
    c->http = NULL;
    switch (c->state) {
    case STREAMING:
        if (code < 0 && !failed && !c->decoder->done)
            transport_failed(c, &o, code, err);
        else
            judge_stream(c, &o);
        break;
    case REFUSED: judge_refusal(c, &o); break;
    case MISTAKEN: judge_mistake(c, &o); break;
    case WAITING:
    case ASKED: transport_failed(c, &o, code < 0 ? code : HOB_EPROTO, err); break;
    }
    hob_call_end(c, &o);
}

/* ---- what comes ------------------------------------------------------------------------------------ */

static hob_str media_type(hob_str header) {
    ptrdiff_t end = hob_str_chr(header, ';');
    return hob_str_trim(end < 0 ? header : hob_str_first(header, (size_t)end));
}

static void on_head(void *user, const hob_http_head *head) {
    hob_model_call *c = user;
    hob_clock *clock = hob_loop_clock(c->p->env.loop);
    hob_str type = media_type(hob_http_header(head, "content-type"));
    hob_str retry = hob_http_header(head, "x-should-retry");
    c->outcome.status = head->status;
    c->outcome.retry_after_ms = hob_retry_after(head, clock->wall_ms(clock));
    c->should_retry = hob_str_eqz(retry, "true") ? 1 : hob_str_eqz(retry, "false") ? 0 : -1;
    c->content_type = hob_arena_dup(c->arena, type);
    c->location = hob_arena_dup(c->arena, hob_http_header(head, "location"));
    bool stream = type.n == 0 || hob_str_ieq(type, HOB_STR("text/event-stream"));
    c->state = head->status < 200 || head->status > 299 ? REFUSED : stream ? STREAMING : MISTAKEN;
}

/* Tells of progress at most once a read; HOB_ECANCELLED if that was the end of the call. */
static int feed(hob_model_call *c, hob_str chunk) {
    size_t bytes = c->answer->bytes, blocks = c->answer->nblocks;
    int rc = hob_decoder_feed(c->decoder, chunk);
    if (c->answer->bytes != bytes || c->answer->nblocks != blocks) {
        c->busy = true;
        if (c->handler.progress) c->handler.progress(c->user);
        c->busy = false;
        if (c->cancelled) {
            call_destroy(c);
            return HOB_ECANCELLED;
        }
    }
    if (rc == HOB_OK && c->decoder->done && !c->linger.slot && c->answer->stop != HOB_STOP_NONE)
        hob_timer_start(&c->linger, hob_loop_now(c->p->env.loop) + LINGER_MS);
    return rc;
}

static int keep(hob_model_call *c, hob_str chunk) {
    hob_str part = hob_str_first(chunk, MAX_ERROR_BODY - c->text.n);
    hob_buf_add(&c->text, part);
    return part.n < chunk.n ? HOB_ETOOBIG : HOB_OK; /* enough to know why */
}

static int on_data(void *user, hob_str chunk) {
    hob_model_call *c = user;
    switch (c->state) {
    case STREAMING: return feed(c, chunk);
    case REFUSED:
    case MISTAKEN: return keep(c, chunk);
    case WAITING:
    case ASKED: return HOB_EPROTO;
    }
    return HOB_EPROTO;
}

/* ---- start -------------------------------------------------------------------------------------------- */

static hob_str header_name(hob_str line) {
    ptrdiff_t colon = hob_str_chr(line, ':');
    return hob_str_trim(hob_str_first(line, colon < 0 ? line.n : (size_t)colon));
}

/* What the user configured replaces what we would send. */
static void add_header(const hob_provider_config *c, hob_str *list, size_t *n, hob_str line) {
    for (size_t i = 0; i < c->nheaders; i++) {
        if (hob_str_ieq(header_name(c->headers[i]), header_name(line))) return;
    }
    list[(*n)++] = line;
}

static hob_str key_line(hob_model_call *c) {
    hob_str prefix = hob_str_z(c->p->dialect->key_header), key = c->p->key;
    char *p = hob_arena_bytes(c->arena, prefix.n + key.n);
    memcpy(p, prefix.p, prefix.n);
    memcpy(p + prefix.n, key.p, key.n);
    return hob_str_n(p, prefix.n + key.n);
}

static int send_request(hob_model_call *c, hob_error *err) {
    static const hob_http_handler handler = {on_head, on_data, on_done};
    const hob_provider_config *config = &c->p->config;
    hob_str headers[MAX_HEADERS + 5];
    size_t n = 0;
    add_header(config, headers, &n, HOB_STR("content-type: application/json"));
    add_header(config, headers, &n, HOB_STR("accept: text/event-stream"));
    if (c->p->key.n) add_header(config, headers, &n, key_line(c));
    if (c->p->dialect->header) add_header(config, headers, &n, hob_str_z(c->p->dialect->header));
    if (c->trace_line.n) add_header(config, headers, &n, c->trace_line);
    for (size_t i = 0; i < config->nheaders; i++) headers[n++] = config->headers[i];
    hob_http_request rq = {.method = "POST",
                           .url = c->p->url,
                           .headers = headers,
                           .nheaders = n,
                           .body = c->body.part,
                           .nbody = c->body.nparts,
                           .connect_timeout_ms = config->connect_timeout_ms,
                           .idle_timeout_ms = config->idle_timeout_ms,
                           .max_body = MAX_RESPONSE};
    c->state = ASKED;
    return hob_http_start(c->p->env.http, &rq, &handler, c, &c->http, err);
}

void hob_call_begin(hob_model_call *c) {
    hob_error err;
    int rc = send_request(c, &err);
    if (rc >= 0) return;
    hob_model_outcome o = c->outcome;
    transport_failed(c, &o, rc, &err);
    hob_call_end(c, &o);
}

static hob_encode_opts encode_opts(const hob_provider_http *p, hob_str model) {
    const char *host = p->dialect->cache_host;
    hob_encode_opts o = {.provider = p->config.name,
                         .old_max_tokens = p->config.old_max_tokens,
                         .cache_key = host && hob_str_find(p->url, hob_str_z(host)) >= 0};
    for (size_t i = 0; i < p->config.nquirks; i++) {
        const hob_model_quirks *q = &p->config.quirks[i];
        if (!hob_str_eq(q->model, model)) continue;
        o.thinking = q->thinking;
        o.echo_reasoning = q->echo_reasoning;
    }
    return o;
}

bool hob_provider_continues(hob_provider *base, const hob_model_request *rq, const hob_wire *w) {
    hob_provider_http *p = (hob_provider_http *)base;
    if (!w || w->users || base->ops->wire_destroy != hob_wire_destroy) return false;
    hob_encode_opts o = encode_opts(p, rq->model);
    hob_buf key;
    hob_buf_init(&key, HOB_WIRE_MAX);
    hob_encode_key(&o, rq->model, &key);
    bool fits = hob_wire_fits(w, p->dialect->api, hob_buf_str(&key), rq->history);
    hob_buf_finish(&key);
    return fits;
}

static hob_str trace_line(hob_arena *a, hob_str traceparent) {
    static const char name[] = "traceparent: ";
    size_t n = sizeof name - 1 + traceparent.n;
    char *p = hob_arena_bytes(a, n);
    memcpy(p, name, sizeof name - 1);
    memcpy(p + sizeof name - 1, traceparent.p, traceparent.n);
    return hob_str_n(p, n);
}

static hob_model_call *call_create(hob_provider_http *p, const hob_model_request *rq,
                                   hob_answer *a) {
    hob_model_call *c = HOB_NEW(hob_model_call);
    c->p = p;
    c->answer = a;
    c->arena = hob_arena_create(1u << 20);
    c->should_retry = -1;
    c->who = (hob_asked){.provider = p->config.name,
                         .model = hob_arena_dup(c->arena, rq->model),
                         .url = p->shown_url,
                         .key_source = p->config.key_source};
    c->decoder = p->dialect->decoder(a, &c->who);
    if (rq->traceparent.n) c->trace_line = trace_line(c->arena, rq->traceparent);
    hob_outcome_init(&c->outcome);
    hob_buf_init(&c->text, MAX_ERROR_BODY);
    hob_list_init(&c->link);
    hob_timer_init(&c->linger, p->env.loop, on_linger);
    return c;
}

static int start(hob_provider *base, const hob_model_request *rq, hob_answer *answer,
                 const hob_model_handler *h, void *user, hob_model_call **out, hob_error *err) {
    hob_provider_http *p = (hob_provider_http *)base;
    hob_encode_opts o = encode_opts(p, rq->model);
    hob_model_call *c = call_create(p, rq, answer);
    c->handler = *h;
    c->user = user;
    int rc = p->dialect->encode(rq, &o, &c->body, err);
    if (rc == HOB_OK && p->key.n == 0 && p->config.api_key_cmd.n) {
        hob_list_push(&p->waiting, &c->link);
        rc = hob_key_job_start(p, err);
    } else if (rc == HOB_OK) {
        rc = send_request(c, err);
    }
    if (rc < 0) {
        if (err) redact(p, err);
        call_destroy(c);
        return rc;
    }
    *out = c;
    return HOB_OK;
}

static void cancel(hob_model_call *c) {
    if (!c) return;
    if (!c->busy) {
        call_destroy(c);
        return;
    }
    c->cancelled = true;
    if (c->http) hob_http_cancel(c->http);
    c->http = NULL;
}

/* ---- the provider ---------------------------------------------------------------------------------------- */

static void destroy(hob_provider *base) {
    hob_provider_http *p = (hob_provider_http *)base;
    hob_key_job_forget(p->job);
    if (p->fetched.p) explicit_bzero(p->fetched.p, p->fetched.n);
    hob_buf_finish(&p->fetched);
    hob_arena_destroy(p->arena);
    hob_free(p);
}

/* base_url, with root and path behind it unless it has them already. */
static hob_str full_url(hob_arena *a, hob_str base, const hob_dialect *d) {
    hob_buf b;
    hob_str root = hob_str_z(d->root), path = hob_str_z(d->path);
    while (base.n && base.p[base.n - 1] == '/') base.n--;
    hob_buf_init(&b, base.n + 256);
    hob_buf_add(&b, base);
    if (!hob_str_ends(base, path)) {
        if (!hob_str_ends(base, root)) hob_buf_add(&b, root);
        hob_buf_add(&b, path);
    }
    hob_str url = hob_arena_dup(a, hob_buf_str(&b));
    hob_buf_finish(&b);
    return url;
}

/* Without "user:password@", and short enough for a message. */
static hob_str shown(hob_arena *a, hob_str base) {
    ptrdiff_t host = hob_str_find(base, HOB_STR("://"));
    hob_str rest = hob_str_skip(base, host < 0 ? 0 : (size_t)host + 3);
    ptrdiff_t at = hob_str_chr(rest, '@');
    return hob_arena_dup(a, hob_str_first(hob_str_skip(rest, (size_t)(at + 1)), 100));
}

static void copy_config(hob_provider_http *p, const hob_provider_config *c) {
    hob_provider_config *to = &p->config;
    *to = *c;
    to->name = hob_arena_dup(p->arena, c->name);
    to->base_url = hob_arena_dup(p->arena, c->base_url);
    to->api_key = hob_arena_dup(p->arena, hob_str_trim(c->api_key));
    to->key_source = hob_arena_dup(p->arena, c->key_source);
    to->api_key_cmd = hob_arena_dup(p->arena, c->api_key_cmd);
    hob_str *headers = hob_arena_alloc(p->arena, (c->nheaders + 1) * sizeof *headers);
    for (size_t i = 0; i < c->nheaders; i++) headers[i] = hob_arena_dup(p->arena, c->headers[i]);
    hob_model_quirks *quirks = hob_arena_alloc(p->arena, (c->nquirks + 1) * sizeof *quirks);
    for (size_t i = 0; i < c->nquirks; i++) {
        quirks[i] = c->quirks[i];
        quirks[i].model = hob_arena_dup(p->arena, c->quirks[i].model);
    }
    to->headers = headers;
    to->quirks = quirks;
}

int hob_provider_http_create(const hob_dialect *d, const hob_provider_env *env,
                             const hob_provider_config *c, hob_provider **out, hob_error *err) {
    if (c->nheaders > MAX_HEADERS)
        return hob_fail(err, HOB_ECONFIG, 0, "providers.%.*s.headers: more than %u",
                        HOB_FMT(c->name), MAX_HEADERS);
    if (c->base_url.n == 0)
        return hob_fail(err, HOB_ECONFIG, 0, "providers.%.*s.base_url is not set",
                        HOB_FMT(c->name));
    hob_provider_http *p = HOB_NEW(hob_provider_http);
    p->ops = (hob_provider_ops){.size = sizeof p->ops,
                                .name = d->api,
                                .start = start,
                                .cancel = cancel,
                                .wire_destroy = hob_wire_destroy,
                                .destroy = destroy};
    p->base.ops = &p->ops;
    p->dialect = d;
    p->env = *env;
    p->arena = hob_arena_create(0);
    copy_config(p, c);
    p->url = full_url(p->arena, p->config.base_url, d);
    p->shown_url = shown(p->arena, p->config.base_url);
    p->key = p->config.api_key;
    hob_buf_init(&p->fetched, 65536);
    hob_list_init(&p->waiting);
    *out = &p->base;
    return HOB_OK;
}
