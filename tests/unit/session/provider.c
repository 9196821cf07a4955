/* A whole tool turn against a server that speaks the real wire formats; retries, failures, time-outs. */
#include "support/check.h"
#include "support/host.h"
#include "support/httpd.h"

#include <stdio.h>

#define STREAM "Content-Type: text/event-stream\r\n"

/* ---- two wire formats, one conversation -------------------------------------------------------------- */

static const char anthropic_call[] =
    "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"m1\",\"usage\":{\"input_tokens\":9}}}\n\n"
    "event: ping\ndata: {\"type\":\"ping\"}\n\n"
    "event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"tool_use\","
    "\"id\":\"toolu_1\",\"name\":\"look\",\"input\":{}}}\n\n"
    "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"input_json_delta\","
    "\"partial_json\":\"{}\"}}\n\n"
    "event: content_block_stop\ndata: {\"type\":\"content_block_stop\",\"index\":0}\n\n"
    "event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"tool_use\"},\"usage\":{\"output_tokens\":5}}\n\n"
    "event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n";
static const char anthropic_text[] =
    "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"m2\",\"usage\":{\"input_tokens\":9}}}\n\n"
    "event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":\"\"}}\n\n"
    "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"gr\xc3\xbc\xc3\x9f "
    "dich\"}}\n\n"
    "event: content_block_stop\ndata: {\"type\":\"content_block_stop\",\"index\":0}\n\n"
    "event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"},\"usage\":{\"output_tokens\":5}}\n\n"
    "event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n";
static const char chat_call[] =
    "data: {\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\",\"tool_calls\":[{\"index\":0,\"id\":\"call_1\",\"type\":\"function\","
    "\"function\":{\"name\":\"look\",\"arguments\":\"{}\"}}]}}]}\n\n"
    "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"tool_calls\"}]}\n\n"
    "data: [DONE]\n\n";
static const char chat_text[] =
    "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"gr\xc3\xbc\xc3\x9f dich\"}}]}\n\n"
    "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n"
    "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":9,\"completion_tokens\":5}}\n\n"
    "data: [DONE]\n\n";

typedef struct server {
    bool bytewise, crlf;
    int fail_first; /* this many requests fail with `status` */
    int status;
    const char *headers;
    const char *mode; /* NULL, "html", "cut", "hang", "early" */
} server;

static void send_stream(httpd_exchange *x, const server *s, const char *text) {
    httpd_begin(x, 200, STREAM);
    if (s->bytewise) httpd_bytewise(x);
    httpd_send(x, hob_str_z(text));
    httpd_end(x);
}

static bool has_result(httpd_exchange *x) {
    return hob_str_find(httpd_body(x), hob_str_z("tool_result")) >= 0 ||
           hob_str_find(httpd_body(x), hob_str_z("tool_call_id")) >= 0;
}

static void answer(httpd_exchange *x, void *user) {
    const server *s = user;
    bool chat = hob_str_ends(httpd_path(x), hob_str_z("/chat/completions"));
    if ((int)httpd_number(x) <= s->fail_first) {
        httpd_reply(
            x, s->status, s->headers,
            hob_str_z("{\"type\":\"error\",\"error\":{\"type\":\"x\",\"message\":\"no luck\"}}"));
        return;
    }
    if (s->mode && !strcmp(s->mode, "html")) {
        httpd_reply(x, 200, "Content-Type: text/html\r\n", hob_str_z("<html>log in</html>"));
    } else if (s->mode && !strcmp(s->mode, "hang")) {
        httpd_hang(x);
    } else if (s->mode && !strcmp(s->mode, "early")) {
        httpd_begin(x, 200, STREAM);
        httpd_send(x, hob_str_first(hob_str_z(anthropic_text), 500));
        httpd_end(x);
    } else if (has_result(x)) {
        send_stream(x, s, chat ? chat_text : anthropic_text);
    } else {
        send_stream(x, s, chat ? chat_call : anthropic_call);
    }
}

/* ---- a host ------------------------------------------------------------------------------------------- */

static void look(const hob_tool_call *call, hob_reply *reply, void *user) {
    (void)call, (void)user;
    hob_reply_text(reply, HOB_OUTCOME_OK, hob_str_z("seen"));
}

typedef struct trial {
    host r;
    httpd *d;
    hob_tool tool;
} trial;

static void trial_open(trial *t, server *s, const char *api) {
    char text[300];
    t->d = httpd_start(answer, s);
    host_init(&t->r, "{'otherwise':[]}");
    snprintf(text, sizeof text, "{\"api\":\"%s\",\"base_url\":\"http://127.0.0.1:%d/v1\"}", api,
             httpd_port(t->d));
    host_config(&t->r, "providers.lab", text);
    host_config(&t->r, "retry.cap_s", "2");
    host_config(&t->r, "timeouts.idle_s", "1");
    t->tool = (hob_tool)HOB_TOOL_INIT;
    t->tool.name = "look";
    t->tool.description = "looks";
    t->tool.class_ = HOB_TOOL_READ_ONLY;
    t->tool.run = look;
    t->r.so.tools = &t->tool;
    t->r.so.ntools = 1;
    t->r.so.model = "lab/any-name";
    host_open(&t->r);
}

static void trial_close(trial *t) {
    host_finish(&t->r);
    httpd_stop(t->d);
}

static void whole_turn(const char *api, bool bytewise) {
    server s = {.bytewise = bytewise};
    trial t;
    trial_open(&t, &s, api);
    assert_string_equal(host_prompt(&t.r, "go"), "completed");
    assert_string_equal(host_text(&t.r), "gr\xc3\xbc\xc3\x9f dich");
    assert_int_equal(httpd_requests(t.d), 2);
    assert_non_null(strstr(host_log(&t.r), "tool_finished m4.0 look ok \"seen\""));
    trial_close(&t);
}

static void test_session_provider__anthropic_bytewise(void **state) {
    (void)state;
    whole_turn("anthropic", false);
    whole_turn("anthropic", true);
}

static void test_session_provider__openai_chat_bytewise(void **state) {
    (void)state;
    whole_turn("openai-chat", false);
    whole_turn("openai-chat", true);
}

/* ---- retries and failures --------------------------------------------------------------------------------- */

/* IMP-25 */
static void test_session_provider__a_failing_server_is_asked_again(void **state) {
    server s = {.fail_first = 2, .status = 500};
    trial t;
    (void)state;
    trial_open(&t, &s, "anthropic");
    assert_string_equal(host_prompt(&t.r, "go"), "completed");
    assert_int_equal(host_count(&t.r, "retry_scheduled"), 2);
    assert_int_equal(httpd_requests(t.d), 4);
    trial_close(&t);
}

static void fails(server *s, int code, unsigned requests, const char *word) {
    trial t;
    trial_open(&t, s, "anthropic");
    assert_string_equal(host_prompt(&t.r, "go"), "failed");
    assert_int_equal(hob_result_code(t.r.result), code);
    assert_int_equal(httpd_requests(t.d), requests);
    hob_str json = hob_result_json(t.r.result);
    if (hob_str_find(json, hob_str_z(word)) < 0)
        fail_msg("no '%s' in %.*s", word, (int)json.n, json.p);
    trial_close(&t);
}

static void test_session_provider__a_refused_key_ends_at_once(void **state) {
    (void)state;
    fails(&(server){.fail_first = 9, .status = 401}, HOB_EAUTH, 1, "no luck");
    fails(&(server){.fail_first = 9, .status = 403}, HOB_EAUTH, 1, "no luck");
}

static void test_session_provider__an_unknown_model_ends_at_once(void **state) {
    (void)state;
    fails(&(server){.fail_first = 9, .status = 404}, HOB_ENOENT, 1, "any-name");
}

/* IMP-26 */
static void test_session_provider__retry_after_beyond_the_cap_fails_now(void **state) {
    (void)state;
    fails(&(server){.fail_first = 9, .status = 429, .headers = "Retry-After: 30\r\n"}, HOB_ERATE, 1,
          "no luck");
}

static void test_session_provider__retry_after_is_obeyed(void **state) {
    server s = {.fail_first = 1, .status = 429, .headers = "Retry-After: 1\r\n"};
    trial t;
    hob_event *e;
    char delay[32];
    (void)state;
    trial_open(&t, &s, "anthropic");
    assert_ok(hob_session_prompt(t.r.s, hob_str_z("go"), &t.r.err), t.r.err);
    e = host_until(&t.r, HOB_EVENT_RETRY_SCHEDULED, NULL, NULL);
    hob_event_field(e, "delay_ms", delay, sizeof delay);
    assert_string_equal(delay, "1000");
    hob_event_unref(e);
    assert_string_equal(host_wait(&t.r), "completed");
    trial_close(&t);
}

static void test_session_provider__a_portal_page_is_named(void **state) {
    (void)state;
    fails(&(server){.mode = "html"}, HOB_EPROTO, 1, "text/html");
}

/* IMP-27: an answer without its end is never a success; what was shown is discarded in the log. */
static void test_session_provider__an_answer_cut_short_is_not_a_success(void **state) {
    server s = {.mode = "early"};
    trial t;
    (void)state;
    trial_open(&t, &s, "anthropic");
    assert_ok(hob_session_prompt(t.r.s, hob_str_z("go"), &t.r.err), t.r.err);
    hob_event_unref(host_until(&t.r, HOB_EVENT_TURN_DISCARDED, NULL, NULL));
    assert_ok(hob_session_abort(t.r.s, &t.r.err), t.r.err);
    assert_int_equal(host_count(&t.r, "assistant_message"), 0);
    trial_close(&t);
}

static void test_session_provider__silence_ends(void **state) {
    server s = {.mode = "hang"};
    trial t;
    (void)state;
    trial_open(&t, &s, "anthropic");
    assert_ok(hob_session_prompt(t.r.s, hob_str_z("go"), &t.r.err), t.r.err);
    hob_event_unref(host_until(&t.r, HOB_EVENT_MODEL_CALL_FAILED, "code", "HOB_ETIMEDOUT"));
    assert_ok(hob_session_abort(t.r.s, &t.r.err), t.r.err);
    trial_close(&t);
}

static void test_session_provider__nobody_listens(void **state) {
    server s = {0};
    trial t;
    (void)state;
    trial_open(&t, &s, "anthropic");
    httpd_stop(t.d);
    assert_ok(hob_session_prompt(t.r.s, hob_str_z("go"), &t.r.err), t.r.err);
    hob_event *e = host_until(&t.r, HOB_EVENT_MODEL_CALL_FAILED, NULL, NULL);
    char text[300];
    hob_event_field(e, "error", text, sizeof text);
    assert_non_null(strstr(text, "127.0.0.1"));
    hob_event_unref(e);
    assert_ok(hob_session_abort(t.r.s, &t.r.err), t.r.err);
    host_finish(&t.r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_session_provider__anthropic_bytewise),
        cmocka_unit_test(test_session_provider__openai_chat_bytewise),
        cmocka_unit_test(test_session_provider__a_failing_server_is_asked_again),
        cmocka_unit_test(test_session_provider__a_refused_key_ends_at_once),
        cmocka_unit_test(test_session_provider__an_unknown_model_ends_at_once),
        cmocka_unit_test(test_session_provider__retry_after_beyond_the_cap_fails_now),
        cmocka_unit_test(test_session_provider__retry_after_is_obeyed),
        cmocka_unit_test(test_session_provider__a_portal_page_is_named),
        cmocka_unit_test(test_session_provider__an_answer_cut_short_is_not_a_success),
        cmocka_unit_test(test_session_provider__silence_ends),
        cmocka_unit_test(test_session_provider__nobody_listens),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
