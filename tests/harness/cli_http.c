/* A real provider over real HTTP, and the ways in which it can misbehave. */
#include "support/cli.h"

#include "support/check.h"
#include "support/httpd.h"

#include <stdio.h>
#include <unistd.h>

#define HEADERS "Content-Type: text/event-stream\r\n"
#define CHAT(text)                                                                                 \
    "data: {\"id\":\"c1\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"" text                \
    "\"},\"finish_reason\":null}]}\n\n"
#define CHAT_END                                                                                    \
    "data: {\"id\":\"c1\",\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n" \
    "data: [DONE]\n\n"
#define ANTHROPIC                                                                                               \
    "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"m\",\"role\":\"assistant\"," \
    "\"content\":[],\"usage\":{\"input_tokens\":3,\"output_tokens\":1}}}\n\n"                                   \
    "event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":"        \
    "{\"type\":\"text\",\"text\":\"\"}}\n\n"                                                                    \
    "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":"                \
    "{\"type\":\"text_delta\",\"text\":\"Hello, wörld\"}}\n\n"                                                 \
    "event: content_block_stop\ndata: {\"type\":\"content_block_stop\",\"index\":0}\n\n"                        \
    "event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"},"         \
    "\"usage\":{\"output_tokens\":5}}\n\n"                                                                      \
    "event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n"

static const char *retry_cap = "0.05"; /* seconds */

static httpd *start(hob_test_cli *c, httpd_fn fn, const char *api) {
    char text[1000];
    httpd *d = httpd_start(fn, NULL);
    snprintf(
        text, sizeof text,
        "{'model': 'lab/m', 'retry': {'attempts': 3, 'cap_s': %s}, 'timeouts': {'connect_s': 2, 'idle_s': 0.3},"
        " 'providers': {'lab': {'api': '%s', 'base_url': 'http://127.0.0.1:%d/v1', 'api_key': 'k',"
        " 'models': {'m': {'context': 100000, 'output': 1000}}}}}",
        retry_cap, api, httpd_port(d));
    hob_test_quoted_file(c, "home/config.json", text);
    return d;
}

/* Runs one prompt against the server; how many requests there were. */
static unsigned ask(hob_test_cli *c, httpd_fn fn, const char *api) {
    httpd *d = start(c, fn, api);
    HOB_RUN(c, NULL, "-p", "--json", "--permission-mode", "yolo", "hi");
    unsigned n = httpd_requests(d);
    httpd_stop(d);
    return n;
}

static const hob_json *error_of(hob_test_cli *c) {
    return hob_json_get(hob_test_line(c, -1), "error");
}

/* ---- well behaved ---------------------------------------------------------------------------- */

static void chat_bytewise(httpd_exchange *x, void *user) {
    (void)user;
    httpd_begin(x, 200, HEADERS);
    httpd_bytewise(x);
    httpd_send(x, HOB_STR(CHAT("Hello, ") CHAT("wörld") CHAT_END));
    httpd_end(x);
}

static void test_cli_http__openai_stream_split_at_every_byte(void **state) {
    hob_test_cli *c = *state;
    assert_int_equal(ask(c, chat_bytewise, "openai-chat"), 1);
    assert_int_equal(c->code, 0);
    assert_str(hob_json_get_str(hob_test_line(c, -1), "text"), "Hello, wörld");
}

static void anthropic_bytewise(httpd_exchange *x, void *user) {
    (void)user;
    httpd_begin(x, 200, HEADERS);
    httpd_bytewise(x);
    httpd_send(x, HOB_STR(ANTHROPIC));
    httpd_end(x);
}

static void test_cli_http__anthropic_stream_split_at_every_byte(void **state) {
    hob_test_cli *c = *state;
    assert_int_equal(ask(c, anthropic_bytewise, "anthropic"), 1);
    assert_int_equal(c->code, 0);
    assert_str(hob_json_get_str(hob_test_line(c, -1), "text"), "Hello, wörld");
}

/* ---- refusals -------------------------------------------------------------------------------- */

static void unauthorized(httpd_exchange *x, void *user) {
    (void)user;
    httpd_reply(x, 401, "Content-Type: application/json\r\n",
                HOB_STR("{\"error\":{\"message\":\"wrong key\"}}"));
}

static void test_cli_http__401_ends_at_once(void **state) {
    hob_test_cli *c = *state;
    assert_int_equal(ask(c, unauthorized, "openai-chat"), 1);
    assert_int_equal(c->code, 3);
    assert_err_has(c, "wrong key");
    assert_int_equal(hob_json_get_int(error_of(c), "status", 0), 401);
}

static void forbidden(httpd_exchange *x, void *user) {
    (void)user;
    httpd_reply(x, 403, NULL, HOB_STR(""));
}

static void test_cli_http__403_ends_at_once(void **state) {
    hob_test_cli *c = *state;
    assert_int_equal(ask(c, forbidden, "anthropic"), 1);
    assert_int_equal(c->code, 3);
}

static void not_found(httpd_exchange *x, void *user) {
    (void)user;
    httpd_reply(x, 404, NULL, HOB_STR("{\"error\":{\"message\":\"model m does not exist\"}}"));
}

static void test_cli_http__404_says_what_was_not_found(void **state) {
    hob_test_cli *c = *state;
    assert_int_equal(ask(c, not_found, "openai-chat"), 1);
    assert_int_equal(c->code, 7);
    assert_err_has(c, "model m does not exist");
}

/* ---- failures that pass ---------------------------------------------------------------------- */

static void busy_once(httpd_exchange *x, void *user) {
    if (httpd_number(x) == 1)
        httpd_reply(x, 429, "Retry-After: 1\r\n",
                    HOB_STR("{\"error\":{\"message\":\"slow down\"}}"));
    else
        chat_bytewise(x, user);
}

static void test_cli_http__429_obeys_retry_after(void **state) {
    hob_test_cli *c = *state;
    retry_cap = "2";
    unsigned requests = ask(c, busy_once, "openai-chat");
    retry_cap = "0.05";
    assert_int_equal(requests, 2);
    assert_int_equal(c->code, 0);
    const hob_json *retry = hob_json_get(hob_test_typed(c, "retry_scheduled", 0), "data");
    assert_int_equal(hob_json_get_int(retry, "delay_ms", 0), 1000);
}

static void broken(httpd_exchange *x, void *user) {
    (void)user;
    httpd_reply(x, 500, NULL, HOB_STR("oops"));
}

static void test_cli_http__500_is_tried_again_then_fails(void **state) {
    hob_test_cli *c = *state;
    assert_int_equal(ask(c, broken, "openai-chat"), 3);
    assert_int_equal(c->code, 1);
    assert_err_has(c, "500");
}

static void overloaded(httpd_exchange *x, void *user) {
    (void)user;
    httpd_reply(
        x, 529, NULL,
        HOB_STR(
            "{\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"Overloaded\"}}"));
}

static void test_cli_http__529_is_tried_again_then_fails(void **state) {
    hob_test_cli *c = *state;
    assert_int_equal(ask(c, overloaded, "anthropic"), 3);
    assert_int_equal(c->code, 1);
    assert_err_has(c, "Overloaded");
}

/* ---- broken answers: never a success --------------------------------------------------------- */

static void html(httpd_exchange *x, void *user) {
    (void)user;
    httpd_reply(x, 200, "Content-Type: text/html\r\n", HOB_STR("<html>please log in</html>"));
}

static void test_cli_http__html_is_named_as_such(void **state) {
    hob_test_cli *c = *state;
    ask(c, html, "openai-chat");
    assert_int_equal(c->code, 1);
    assert_err_has(c, "text/html");
}

static void bad_json(httpd_exchange *x, void *user) {
    (void)user;
    httpd_begin(x, 200, HEADERS);
    httpd_send(x, HOB_STR(CHAT("begin") "data: {\"id\":\n\n" CHAT_END));
    httpd_end(x);
}

static void test_cli_http__broken_json_is_a_failure(void **state) {
    hob_test_cli *c = *state;
    ask(c, bad_json, "openai-chat");
    assert_int_equal(c->code, 1);
}

static void error_event(httpd_exchange *x, void *user) {
    (void)user;
    httpd_begin(x, 200, HEADERS);
    httpd_send(
        x,
        HOB_STR(
            "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"invalid_request_error\","
            "\"message\":\"the pipes burst\"}}\n\n"));
    httpd_end(x);
}

static void test_cli_http__error_event_ends_with_its_message(void **state) {
    hob_test_cli *c = *state;
    ask(c, error_event, "anthropic");
    assert_int_equal(c->code, 1);
    assert_err_has(c, "the pipes burst");
}

static void cut(httpd_exchange *x, void *user) {
    (void)user;
    httpd_begin(x, 200, HEADERS);
    httpd_send(x, HOB_STR(CHAT("half")));
    httpd_send(x,
               HOB_STR("data: {\"id\":\"c1\",\"choices\":[{\"index\":0,\"delta\":{\"tool_calls\":[{"
                       "\"index\":0,\"id\":\"x\",\"function\":{\"name\":\"bash\",\"arguments\":"
                       "\"{\\\"command\\\":\\\"touch ran\\\"}\"}}]}}]}\n\n"));
    httpd_reset(x);
}

static void test_cli_http__cut_stream_runs_none_of_its_calls(void **state) {
    hob_test_cli *c = *state;
    assert_int_equal(ask(c, cut, "openai-chat"), 3);
    assert_int_equal(c->code, 1);
    assert_non_null(hob_test_typed(c, "turn_discarded", 0));
    assert_null(hob_test_typed(c, "tool_started", 0));
    assert_true(access(hob_test_path(&c->folder, "ran"), F_OK) != 0);
}

static void clean_end(httpd_exchange *x, void *user) {
    (void)user;
    httpd_begin(x, 200, HEADERS);
    httpd_send(x, HOB_STR(CHAT("half")));
    httpd_end(x);
}

static void test_cli_http__clean_end_without_the_final_event_is_a_failure(void **state) {
    hob_test_cli *c = *state;
    ask(c, clean_end, "openai-chat");
    assert_int_equal(c->code, 1);
}

static void silence(httpd_exchange *x, void *user) {
    (void)user;
    httpd_begin(x, 200, HEADERS);
    httpd_send(x, HOB_STR(CHAT("half")));
    httpd_hang(x);
}

static void test_cli_http__silence_ends_at_the_idle_limit(void **state) {
    hob_test_cli *c = *state;
    ask(c, silence, "openai-chat");
    assert_int_equal(c->code, 1);
}

static void unanswered(httpd_exchange *x, void *user) {
    (void)user;
    httpd_hang(x);
}

static void test_cli_http__a_request_never_answered_ends_at_its_limit(void **state) {
    hob_test_cli *c = *state;
    ask(c, unanswered, "anthropic");
    assert_int_equal(c->code, 1);
}

static void test_cli_http__nobody_there(void **state) {
    hob_test_cli *c = *state;
    httpd *d = start(c, unanswered, "openai-chat");
    char port[16];
    snprintf(port, sizeof port, ":%d", httpd_port(d));
    httpd_stop(d); /* the port is free now, and nobody listens */
    assert_int_equal(HOB_RUN(c, NULL, "-p", "hi"), 1);
    assert_err_has(c, "127.0.0.1");
    assert_err_has(c, port);
    assert_err_has(c, "(3/3)");
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, hob_test_cli_setup, hob_test_cli_teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_cli_http__openai_stream_split_at_every_byte),
        TEST(test_cli_http__anthropic_stream_split_at_every_byte),
        TEST(test_cli_http__401_ends_at_once),
        TEST(test_cli_http__403_ends_at_once),
        TEST(test_cli_http__404_says_what_was_not_found),
        TEST(test_cli_http__429_obeys_retry_after),
        TEST(test_cli_http__500_is_tried_again_then_fails),
        TEST(test_cli_http__529_is_tried_again_then_fails),
        TEST(test_cli_http__html_is_named_as_such),
        TEST(test_cli_http__broken_json_is_a_failure),
        TEST(test_cli_http__error_event_ends_with_its_message),
        TEST(test_cli_http__cut_stream_runs_none_of_its_calls),
        TEST(test_cli_http__clean_end_without_the_final_event_is_a_failure),
        TEST(test_cli_http__silence_ends_at_the_idle_limit),
        TEST(test_cli_http__a_request_never_answered_ends_at_its_limit),
        TEST(test_cli_http__nobody_there),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
