/* Spans that go to a collector, and the trace context that goes along. */
#include "support/check.h"
#include "support/host.h"
#include "support/httpd.h"

#include <poll.h>
#include <stdio.h>

static const char script[] =
    "{'rules':[{'when':{'user':'work','step':1},'reply':[{'text':'I look.'},"
    "{'tool':'quick','args':{}}]}],'otherwise':[{'text':'done'}]}";

/* What came in, and what is answered: `fails` requests with 503 first. */
typedef struct collector {
    httpd *d;
    pthread_mutex_t lock;
    hob_buf bodies;
    char head[4096];
    int fails, requests;
    char answer[2048]; /* of the model, if this is one */
} collector;

static void collect(httpd_exchange *x, void *user) {
    collector *c = user;
    pthread_mutex_lock(&c->lock);
    bool fail = c->requests++ < c->fails;
    if (!fail) hob_buf_add(&c->bodies, httpd_body(x));
    hob_str_out(httpd_head(x), c->head, sizeof c->head);
    pthread_mutex_unlock(&c->lock);
    if (c->answer[0])
        httpd_reply(x, 200, "Content-Type: text/event-stream\r\n", hob_str_z(c->answer));
    else
        httpd_reply(x, fail ? 503 : 200, "Content-Type: application/json\r\n", HOB_STR("{}"));
}

static void collector_init(collector *c, host *r, int fails) {
    char url[128], json[160];
    *c = (collector){.fails = fails};
    pthread_mutex_init(&c->lock, NULL);
    hob_buf_init(&c->bodies, 16u << 20);
    c->d = httpd_start(collect, c);
    snprintf(json, sizeof json, "\"%s\"", httpd_url(c->d, "", url, sizeof url));
    if (!r) return;
    host_config(r, "telemetry.endpoint", json);
    host_config(r, "telemetry.headers", "\"x-key=a%20b,x-other=c\"");
    host_config(r, "telemetry.service", "\"lab\"");
}

static void collector_finish(collector *c) {
    httpd_stop(c->d);
    hob_buf_finish(&c->bodies);
    pthread_mutex_destroy(&c->lock);
}

/* How often the words stand in what was collected. */
static int seen(collector *c, const char *words) {
    int n = 0;
    for (const char *p = hob_buf_z(&c->bodies); (p = strstr(p, words)); p++) n++;
    return n;
}

static void test_session_telemetry__spans_arrive(void **state) {
    host r;
    collector c;
    int calls = 0;
    (void)state;
    host_init(&r, script);
    collector_init(&c, &r, 0);
    hob_tool tool = host_tool("quick", HOB_TOOL_READ_ONLY, &calls);
    r.so.tools = &tool;
    r.so.ntools = 1;
    host_open(&r);
    assert_string_equal(host_prompt(&r, "work"), "completed");
    host_finish(&r); /* what is left goes out when the runtime goes */
    assert_int_equal(seen(&c, "\"name\":\"chat "), 2);
    assert_int_equal(seen(&c, "\"name\":\"execute_tool quick\""), 1);
    assert_int_equal(seen(&c, "\"name\":\"invoke_agent\""), 1);
    assert_int_equal(seen(&c, "\"key\":\"service.name\",\"value\":{\"stringValue\":\"lab\"}"), 1);
    assert_non_null(strstr(c.head, "POST /v1/traces "));
    assert_non_null(strstr(c.head, "x-key: a b"));
    assert_non_null(strstr(c.head, "x-other: c"));
    collector_finish(&c);
}

/* One that cannot now is asked again, and nothing is lost or doubled. */
static void test_session_telemetry__tries_again(void **state) {
    host r;
    collector c;
    (void)state;
    host_init(&r, script);
    collector_init(&c, &r, 1);
    host_open(&r);
    host_prompt(&r, "hi");
    while (true) {
        pthread_mutex_lock(&c.lock);
        bool there = c.bodies.n > 0;
        pthread_mutex_unlock(&c.lock);
        if (there) break;
        poll(NULL, 0, 10);
    }
    host_finish(&r);
    assert_int_equal(seen(&c, "\"name\":\"invoke_agent\""), 1);
    assert_int_equal(c.requests, 2);
    collector_finish(&c);
}

/* Nobody listens: the work goes on, and the end does not wait for long. */
static void test_session_telemetry__a_collector_that_is_gone(void **state) {
    host r;
    (void)state;
    host_init(&r, script);
    host_config(&r, "telemetry.endpoint", "\"http://127.0.0.1:1\"");
    host_open(&r);
    for (int i = 0; i < 20; i++) assert_string_equal(host_prompt(&r, "hi"), "completed");
    host_finish(&r);
}

static const char sse[] =
    "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"hi\"},\"finish_reason\":\"stop\"}]}\n\n"
    "data: [DONE]\n\n";

/* The caller's trace goes to the provider, with the id of the call's own span, and into the log. */
static void test_session_telemetry__context_is_passed_on(void **state) {
    static const char context[] = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    host r;
    collector m;
    char url[128], json[600];
    hob_page *page;
    (void)state;
    host_init(&r, script);
    collector_init(&m, NULL, 0);
    snprintf(m.answer, sizeof m.answer, "%s", sse);
    snprintf(json, sizeof json,
             "{\"lab\":{\"api\":\"openai-chat\",\"base_url\":\"%s\",\"api_key\":\"k\"}}",
             httpd_url(m.d, "/v1", url, sizeof url));
    host_config(&r, "providers", json);
    r.so.model = "lab/any";
    host_open(&r);
    assert_int_equal(hob_session_set_traceparent(r.s, hob_str_z("nonsense"), &r.err), HOB_EINVAL);
    assert_ok(hob_session_set_traceparent(r.s, hob_str_z(context), &r.err), r.err);
    assert_string_equal(host_prompt(&r, "hi"), "completed");
    assert_non_null(strstr(m.head, "traceparent: 00-0af7651916cd43dd8448eb211c80319c-"));
    assert_null(strstr(m.head, "-b7ad6b7169203331-"));
    hob_session_id(r.s, r.id, sizeof r.id);
    assert_ok(hob_runtime_trace(r.rt, r.id, NULL, &page, &r.err), r.err);
    assert_int_equal(hob_page_count(page), 2);
    hob_str chat = hob_page_row(page, 0), run = hob_page_row(page, 1);
    assert_true(hob_str_find(run, HOB_STR("\"parent_id\":\"b7ad6b7169203331\"")) > 0);
    ptrdiff_t at = hob_str_find(chat, HOB_STR("\"span_id\":\""));
    char line[128];
    snprintf(line, sizeof line, "traceparent: 00-0af7651916cd43dd8448eb211c80319c-%.16s-01",
             chat.p + at + 11);
    assert_non_null(strstr(m.head, line));
    hob_page_destroy(page);
    host_finish(&r);
    collector_finish(&m);
}

/* Without a collector and without a context nothing is told to anybody. */
static void test_session_telemetry__silent_by_default(void **state) {
    host r;
    collector m;
    char url[128], json[600];
    (void)state;
    host_init(&r, script);
    collector_init(&m, NULL, 0);
    snprintf(m.answer, sizeof m.answer, "%s", sse);
    snprintf(json, sizeof json,
             "{\"lab\":{\"api\":\"openai-chat\",\"base_url\":\"%s\",\"api_key\":\"k\"}}",
             httpd_url(m.d, "/v1", url, sizeof url));
    host_config(&r, "providers", json);
    r.so.model = "lab/any";
    host_open(&r);
    assert_string_equal(host_prompt(&r, "hi"), "completed");
    assert_null(strstr(m.head, "traceparent"));
    assert_null(strstr(host_log(&r), "traceparent"));
    host_finish(&r);
    collector_finish(&m);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_session_telemetry__spans_arrive),
        cmocka_unit_test(test_session_telemetry__tries_again),
        cmocka_unit_test(test_session_telemetry__a_collector_that_is_gone),
        cmocka_unit_test(test_session_telemetry__context_is_passed_on),
        cmocka_unit_test(test_session_telemetry__silent_by_default),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
