/*
 * telemetry.c - spans on their way to an OpenTelemetry collector: OTLP over HTTP, as JSON.
 *
 * Every durable event goes through a fold a session (log/trace.h); spans that end wait in one batch, which is sent after a
 * second or when it is large, one request at a time. Nothing here ever holds up a session: a collector that is slow or
 * gone costs the batch's ceiling, then spans are dropped, counted, and that is said once a failure.
 */
#include "base/host.h"
#include "log/trace.h"
#include "net/http.h"
#include "session/session.h"

enum {
    BATCH_SPANS = 512,     /* sent at once */
    QUEUE_BYTES = 4 << 20, /* kept while the collector does not answer */
    DELAY_MS = 1000,
    TRIES = 5,
    LAST_MS = 2000 /* for what is left when the runtime goes */
};

typedef struct hob_telemetry {
    hob_runtime *rt;
    char *url;
    hob_buf headers;  /* lines, a NUL behind each */
    hob_buf resource; /* the member "resource" */
    hob_map *traces;  /* session -> hob_trace */
    hob_arena *arena;
    hob_buf queue; /* spans, a comma between them */
    size_t queued, dropped;
    hob_buf body; /* being sent */
    hob_str part; /* the same, as the client wants it */
    size_t sent;  /* spans in it */
    hob_http_call *call;
    int status, tries;
    bool last; /* the runtime goes: what is not taken now is not tried again */
    hob_timer timer;
    bool idle; /* under rt->lock: nothing is left to send */
} hob_telemetry;

/* ---- settings -------------------------------------------------------------------------------------------------- */

static hob_str unescape(hob_arena *a, hob_str s) {
    char *p = hob_arena_bytes(a, s.n + 1);
    size_t n = 0;
    for (size_t i = 0; p && i < s.n; i++) {
        int c = hob_percent_decode(s, &i);
        p[n++] = c < 0 ? '%' : (char)c;
    }
    return hob_str_n(p, n);
}

/* "k=v,k2=v2", percent-encoded as the specification has it; each pair is given to fn. */
static void each_pair(hob_str list, void (*fn)(hob_telemetry *t, hob_str key, hob_str value),
                      hob_telemetry *t) {
    hob_str pair;
    while (hob_str_split(&list, ',', &pair)) {
        ptrdiff_t at = hob_str_chr(pair, '=');
        if (at <= 0) continue;
        hob_str value = unescape(t->arena, hob_str_trim(hob_str_skip(pair, (size_t)at + 1)));
        fn(t, hob_str_trim(hob_str_first(pair, (size_t)at)), value);
    }
}

static bool plain(hob_str s) {
    for (size_t i = 0; i < s.n; i++)
        if ((unsigned char)s.p[i] < ' ' || s.p[i] == 127) return false;
    return true;
}

static void add_header(hob_telemetry *t, hob_str key, hob_str value) {
    if (!plain(key) || !plain(value)) return;
    hob_buf_addf(&t->headers, "%.*s: %.*s", HOB_FMT(key), HOB_FMT(value));
    hob_buf_addc(&t->headers, 0);
}

static void add_resource(hob_telemetry *t, hob_str key, hob_str value) {
    hob_jsonw w;
    if (t->resource.n) hob_buf_addc(&t->resource, ',');
    hob_jsonw_init(&w, &t->resource);
    hob_jsonw_object(&w);
    hob_jsonw_kstr(&w, "key", key);
    hob_jsonw_key(&w, "value");
    hob_jsonw_object(&w);
    hob_jsonw_kstr(&w, "stringValue", value);
    hob_jsonw_object_end(&w);
    hob_jsonw_object_end(&w);
}

static char *traces_url(const hob_config *c) {
    hob_str own = hob_config_str(c, "telemetry.traces_endpoint");
    hob_str base = hob_config_str(c, "telemetry.endpoint");
    hob_buf url;
    if (own.n) return hob_dupz(own);
    hob_buf_init(&url, 4096);
    hob_buf_add(&url, base);
    while (url.n && url.p[url.n - 1] == '/') url.n--;
    hob_buf_addz(&url, "/v1/traces");
    char *z = hob_dupz(hob_buf_str(&url));
    hob_buf_finish(&url);
    return z;
}

static bool wanted(const hob_config *c) {
    hob_str exporter = hob_config_str(c, "telemetry.exporter");
    if (hob_str_eqz(exporter, "none")) return false;
    return hob_config_str(c, "telemetry.endpoint").n ||
           hob_config_str(c, "telemetry.traces_endpoint").n;
}

static void on_timer(hob_timer *timer);

int hob_telemetry_open(hob_runtime *rt, hob_error *err) {
    const hob_config *c = rt->config;
    hob_str service = hob_config_str(c, "telemetry.service");
    (void)err;
    if (!wanted(c)) return HOB_OK;
    hob_telemetry *t = rt->telemetry = HOB_NEW(hob_telemetry);
    t->rt = rt;
    t->idle = true;
    t->url = traces_url(c);
    t->arena = hob_arena_create(0);
    t->traces = hob_map_create();
    hob_buf_init(&t->headers, 16384);
    hob_buf_init(&t->resource, 65536);
    hob_buf_init(&t->queue, QUEUE_BYTES);
    hob_buf_init(&t->body, QUEUE_BYTES + 131072);
    hob_timer_init(&t->timer, rt->loop, on_timer);
    add_header(t, HOB_STR("content-type"), HOB_STR("application/json"));
    each_pair(hob_config_str(c, "telemetry.headers"), add_header, t);
    add_resource(t, HOB_STR("service.name"), service.n ? service : HOB_STR("hob"));
    add_resource(t, HOB_STR("service.version"), hob_str_z(hob_version()));
    each_pair(hob_config_str(c, "telemetry.resource"), add_resource, t);
    hob_arena_reset(t->arena);
    return HOB_OK;
}

/* ---- sending ---------------------------------------------------------------------------------------------------- */

static void set_idle(hob_telemetry *t) {
    pthread_mutex_lock(&t->rt->lock);
    t->idle = !t->call && !t->queued && !t->body.n;
    pthread_cond_broadcast(&t->rt->cond);
    pthread_mutex_unlock(&t->rt->lock);
}

static void pack(hob_telemetry *t) {
    hob_buf_reset(&t->body);
    hob_buf_addf(&t->body, "{\"resourceSpans\":[{\"resource\":{\"attributes\":[");
    hob_buf_add(&t->body, hob_buf_str(&t->resource));
    hob_buf_addf(&t->body,
                 "]},\"scopeSpans\":[{\"scope\":{\"name\":\"hob\",\"version\":\"%s\"},\"spans\":[",
                 hob_version());
    hob_buf_add(&t->body, hob_buf_str(&t->queue));
    hob_buf_addz(&t->body, "]}]}]}");
    t->sent = t->queued;
    t->queued = 0;
    t->tries = 0;
    hob_buf_reset(&t->queue);
}

static void on_head(void *user, const hob_http_head *head) {
    ((hob_telemetry *)user)->status = head->status;
}

static int on_data(void *user, hob_str chunk) {
    (void)user, (void)chunk;
    return HOB_OK;
}

static bool worth_a_retry(int code, int status) {
    return code < 0 || status == 429 || status == 502 || status == 503 || status == 504;
}

static void give_up(hob_telemetry *t, const char *why) {
    hob_log(HOB_LOG_WARN, "telemetry", "%zu spans were not taken by %s: %s", t->sent + t->dropped,
            t->url, why);
    t->dropped = 0;
    hob_buf_reset(&t->body);
}

static void start_later(hob_telemetry *t, int64_t ms) {
    if (!hob_timer_started(&t->timer)) hob_timer_start(&t->timer, hob_loop_now(t->rt->loop) + ms);
}

static void on_done(void *user, int code, const hob_error *err) {
    hob_telemetry *t = user;
    char status[32];
    bool taken = code >= 0 && t->status >= 200 && t->status < 300;
    snprintf(status, sizeof status, "it answered %d", t->status);
    t->call = NULL;
    if (taken)
        hob_buf_reset(&t->body);
    else if (t->last || !worth_a_retry(code, t->status) || ++t->tries >= TRIES)
        give_up(t, code < 0 && err ? err->message : status);
    if (t->body.n || t->queued) start_later(t, t->last ? 0 : (int64_t)DELAY_MS << t->tries);
    set_idle(t);
}

static void send_batch(hob_telemetry *t) {
    static const hob_http_handler handler = {on_head, on_data, on_done};
    hob_str headers[32];
    size_t n = 0;
    hob_error err;
    if (t->call) return;
    if (!t->body.n && t->queued) pack(t);
    if (!t->body.n) return;
    for (hob_str rest = hob_buf_str(&t->headers); rest.n && n < HOB_ARRAY_LEN(headers);) {
        headers[n] = hob_str_z(rest.p);
        rest = hob_str_skip(rest, headers[n++].n + 1);
    }
    t->part = hob_buf_str(&t->body);
    t->status = 0;
    hob_http_request rq = {.method = "POST",
                           .url = hob_str_z(t->url),
                           .headers = headers,
                           .nheaders = n,
                           .body = &t->part,
                           .nbody = 1,
                           .idle_timeout_ms = 10000,
                           .max_body = 1 << 20};
    int rc = hob_http_start(t->rt->http, &rq, &handler, t, &t->call, &err);
    if (rc < 0) give_up(t, err.message);
}

static void on_timer(hob_timer *timer) {
    hob_telemetry *t = HOB_CONTAINER(timer, hob_telemetry, timer);
    send_batch(t);
    set_idle(t);
}

/* ---- seeing ------------------------------------------------------------------------------------------------------ */

static void on_ended(const hob_span *s, void *user) {
    hob_telemetry *t = user;
    size_t before = t->queue.n;
    hob_jsonw w;
    if (before) hob_buf_addc(&t->queue, ',');
    hob_jsonw_init(&w, &t->queue);
    hob_span_write_otlp(s, &w);
    if (t->queue.err) { /* over the ceiling: this one is left out */
        t->queue.err = 0;
        t->queue.n = before;
        t->dropped++;
        return;
    }
    t->queued++;
}

void hob_telemetry_see(hob_runtime *rt, const hob_event *e) {
    hob_telemetry *t = rt->telemetry;
    if (!t) return;
    hob_trace *trace = hob_map_get(t->traces, e->session_id);
    if (!trace && e->type != HOB_EVENT_RUN_STARTED) return;
    if (!trace) hob_map_put(t->traces, e->session_id, trace = hob_trace_create());
    hob_trace_apply(trace, e, hob_event_parse(e, t->arena), on_ended, t);
    hob_arena_reset(t->arena);
    if (hob_trace_idle(trace)) hob_trace_destroy(hob_map_take(t->traces, e->session_id));
    if (!t->queued) return;
    if (t->queued >= BATCH_SPANS && !t->body.n) hob_timer_stop(&t->timer);
    start_later(t, t->queued >= BATCH_SPANS && !t->body.n ? 0 : DELAY_MS);
    set_idle(t);
}

/* ---- the end ------------------------------------------------------------------------------------------------------ */

static void start_flush(hob_op *op) {
    hob_telemetry *t = op->rt->telemetry;
    t->last = true;
    hob_timer_stop(&t->timer);
    send_batch(t);
    set_idle(t);
    hob_op_done(op, HOB_OK, NULL);
}

static bool is_idle(void *user) {
    return ((hob_telemetry *)user)->idle;
}

void hob_telemetry_flush(hob_runtime *rt) {
    hob_op op = {.start = start_flush};
    if (!rt->telemetry) return;
    hob_op_run(rt, &op, NULL);
    hob_wait_firmly(rt, is_idle, rt->telemetry, LAST_MS);
}

void hob_telemetry_close(hob_runtime *rt) {
    hob_telemetry *t = rt->telemetry;
    size_t pos = 0;
    hob_str key;
    void *trace;
    if (!t) return;
    if (t->call) hob_http_cancel(t->call);
    if (t->queued || t->body.n) give_up(t, "the program ends");
    hob_timer_stop(&t->timer);
    while (hob_map_next(t->traces, &pos, &key, &trace)) hob_trace_destroy(trace);
    hob_map_destroy(t->traces);
    hob_arena_destroy(t->arena);
    hob_buf_finish(&t->headers);
    hob_buf_finish(&t->resource);
    hob_buf_finish(&t->queue);
    hob_buf_finish(&t->body);
    hob_free(t->url);
    hob_free(t);
    rt->telemetry = NULL;
}
