/* ctest: labels=threads timeout=120 */
/* Requests and streams over real HTTP, whole and broken. */
#include "client.h"

#include <stdlib.h>
#include <unistd.h>

/* ---- well behaved ------------------------------------------------------------------------------------- */

static void test_model_http__anthropic_request_and_answer(void **state) {
    (void)state;
    seen s = {0};
    client c;
    hob_str extra[] = {HOB_STR("x-extra: yes"), HOB_STR("Accept: text/event-stream, */*")};
    client_init(&c, serve_anthropic, &s);
    client_provider(
        &c, hob_provider_anthropic_create,
        (hob_provider_config){.api_key = HOB_STR(KEY), .headers = extra, .nheaders = 2});
    client_ask(&c);
    assert_hello(&c);
    assert_string_equal(c.provider->ops->name, "anthropic");
    assert_sent(&s, "POST /v1/messages HTTP/1.1\r\n");
    assert_sent(&s, "\r\nx-api-key: " KEY "\r\n");
    assert_sent(&s, "\r\nanthropic-version: 2023-06-01\r\n");
    assert_sent(&s, "\r\ncontent-type: application/json\r\n");
    assert_sent(&s, "\r\nx-extra: yes\r\n");
    assert_sent(&s, "\r\nAccept: text/event-stream, */*\r\n");
    assert_null(strstr(s.head, "accept: text/event-stream\r\n"));
    assert_string_equal(s.body,
                        "{\"model\":\"m-1\",\"max_tokens\":1000,\"stream\":true,\"system\":[{"
                        "\"type\":\"text\",\"text\":\"Be \\\"good\\\".\",\"cache_control\":{"
                        "\"type\":\"ephemeral\"}}],\"messages\":[{\"role\":\"user\",\"content\":"
                        "[{\"type\":\"text\",\"text\":\"hi\",\"cache_control\":{\"type\":"
                        "\"ephemeral\"}}]}]}");
    client_finish(&c);
}

static void test_model_http__chat_request_and_answer(void **state) {
    (void)state;
    seen s = {0};
    client c;
    client_init(&c, serve_chat, &s);
    client_provider(&c, hob_provider_openai_chat_create,
                    (hob_provider_config){.api_key = HOB_STR(KEY)});
    client_ask(&c);
    assert_hello(&c);
    assert_sent(&s, "POST /chat/completions HTTP/1.1\r\n");
    assert_sent(&s, "\r\nauthorization: Bearer " KEY "\r\n");
    client_finish(&c);
}

static void test_model_http__no_key_is_no_header(void **state) {
    (void)state;
    seen s = {0};
    client c;
    client_init(&c, serve_chat, &s);
    client_provider(&c, hob_provider_openai_chat_create, (hob_provider_config){0});
    client_ask(&c);
    assert_hello(&c);
    assert_null(strcasestr(s.head, "authorization"));
    client_finish(&c);
}

static void assert_path(create_fn create, httpd_fn fn, const char *suffix, const char *expected) {
    seen s = {0};
    client c;
    client_init(&c, fn, &s);
    strncat(c.url, suffix, sizeof c.url - strlen(c.url) - 1);
    client_provider(&c, create, (hob_provider_config){.api_key = HOB_STR(KEY)});
    client_ask(&c);
    assert_sent(&s, expected);
    client_finish(&c);
}

static void test_model_http__base_url_is_not_doubled(void **state) {
    (void)state;
    assert_path(hob_provider_anthropic_create, serve_anthropic, "/v1", "POST /v1/messages ");
    assert_path(hob_provider_anthropic_create, serve_anthropic, "/x/", "POST /x/v1/messages ");
    assert_path(hob_provider_anthropic_create, serve_anthropic, "/v1/messages",
                "POST /v1/messages ");
    assert_path(hob_provider_openai_chat_create, serve_chat, "/v1/", "POST /v1/chat/completions ");
}

static void test_model_http__any_split_is_the_same(void **state) {
    (void)state;
    client c;
    client_init(&c, serve_bytewise, A_START A_TEXT A_END);
    client_provider(&c, hob_provider_anthropic_create,
                    (hob_provider_config){.api_key = HOB_STR(KEY)});
    client_ask(&c);
    assert_hello(&c);
    client_finish(&c);
    client_init(&c, serve_bytewise, C_TEXT C_END);
    client_provider(&c, hob_provider_openai_chat_create,
                    (hob_provider_config){.api_key = HOB_STR(KEY)});
    client_ask(&c);
    assert_hello(&c);
    client_finish(&c);
}

static void test_model_http__the_connection_is_kept(void **state) {
    (void)state;
    client c;
    client_init(&c, serve_anthropic, NULL);
    client_provider(&c, hob_provider_anthropic_create,
                    (hob_provider_config){.api_key = HOB_STR(KEY)});
    for (int i = 0; i < 5; i++) {
        client_ask(&c);
        assert_hello(&c);
        talk_answer(&c.talk, "lab/m-1", "m", SAID("Hello"));
        talk_user(&c.talk, SAID("again"));
    }
    assert_int_equal(httpd_requests(c.server), 5);
    assert_int_equal(httpd_connections(c.server), 1);
    client_finish(&c);
}

static void test_model_http__an_answer_that_ended_is_not_waited_for(void **state) {
    (void)state;
    client c;
    client_init(&c, serve_and_hang, A_START A_TEXT A_END);
    client_provider(&c, hob_provider_anthropic_create,
                    (hob_provider_config){.api_key = HOB_STR(KEY)});
    client_ask(&c);
    assert_hello(&c);
    client_finish(&c);
}

/* ---- 200, but … --------------------------------------------------------------------------------------------- */

static void test_model_http__html_is_no_answer(void **state) {
    (void)state;
    reply r = {200, "Content-Type: text/html; charset=utf-8\r\n",
               "<html>Log in to the hotel network</html>"};
    client c;
    client_init(&c, serve_reply, &r);
    client_provider(&c, hob_provider_openai_chat_create,
                    (hob_provider_config){.api_key = HOB_STR(KEY)});
    client_ask(&c);
    char expected[400];
    (void)snprintf(
        expected, sizeof expected,
        "HOB_EPROTO 200: lab answered with text/html, not an event stream: a proxy or captive "
        "portal? check base_url 127.0.0.1:%d",
        httpd_port(c.server));
    assert_outcome(&c, expected);
    client_finish(&c);
}

static void assert_stream(const char *stream, const char *expected) {
    client c;
    reply r = {200, EVENT_STREAM, stream};
    client_init(&c, serve_reply, &r);
    client_provider(&c, hob_provider_anthropic_create,
                    (hob_provider_config){.api_key = HOB_STR(KEY)});
    client_ask(&c);
    assert_outcome(&c, expected);
    client_finish(&c);
}

static void test_model_http__broken_streams(void **state) {
    (void)state;
    assert_stream(A_START A_TEXT,
                  "HOB_EPROTO 200 retryable: lab ended early: its answer is not whole");
    assert_stream("", "HOB_EPROTO 200 retryable: lab ended early: its answer is not whole");
    assert_stream(
        A_START "event: error\ndata: " ERROR("overloaded_error", "Overloaded") "\n\n" A_TEXT A_END,
        "HOB_EOVERLOAD 200 retryable: lab failed (Overloaded)");
    assert_stream(
        A_START "data: {oops\n\n" A_END,
        "HOB_EPROTO 200 retryable: lab sent broken JSON (line 1, column 2: expected a key in double quotes): {oops");
}

static void serve_and_reset(httpd_exchange *x, void *user) {
    httpd_begin(x, 200, EVENT_STREAM);
    httpd_send(x, hob_str_z(user));
    httpd_sleep(x, 50); /* a reset overtakes what was sent */
    httpd_reset(x);
}

static void assert_reset(create_fn create, char *stream, int code) {
    client c;
    client_init(&c, serve_and_reset, stream);
    client_provider(&c, create, (hob_provider_config){.api_key = HOB_STR(KEY)});
    client_ask(&c);
    assert_int_equal(c.outcome.code, code);
    if (code) assert_int_equal(c.outcome.retryable, 1);
    client_finish(&c);
}

static void test_model_http__a_reset_is_a_failure_unless_the_answer_had_ended(void **state) {
    (void)state;
    assert_reset(hob_provider_anthropic_create, A_START A_TEXT, HOB_ENET);
    assert_reset(hob_provider_anthropic_create, A_START A_TEXT A_END, HOB_OK);
    assert_reset(hob_provider_openai_chat_create, C_TEXT, HOB_ENET);
    assert_reset(hob_provider_openai_chat_create, C_TEXT C_END, HOB_OK);
}

static void serve_nothing(httpd_exchange *x, void *user) {
    (void)user;
    httpd_hang(x);
}

static void test_model_http__silence_ends_by_time_out(void **state) {
    (void)state;
    client c;
    client_init(&c, serve_and_hang, A_START A_TEXT);
    client_provider(&c, hob_provider_anthropic_create,
                    (hob_provider_config){.api_key = HOB_STR(KEY), .idle_timeout_ms = 150});
    client_ask(&c);
    assert_int_equal(c.outcome.code, HOB_ETIMEDOUT);
    assert_int_equal(c.outcome.retryable, 1);
    client_finish(&c);
    client_init(&c, serve_nothing, NULL);
    client_provider(&c, hob_provider_anthropic_create,
                    (hob_provider_config){.api_key = HOB_STR(KEY), .idle_timeout_ms = 150});
    client_ask(&c);
    assert_int_equal(c.outcome.code, HOB_ETIMEDOUT);
    assert_int_equal(c.outcome.status, 0);
    client_finish(&c);
}

static void test_model_http__nobody_there(void **state) {
    (void)state;
    client c;
    client_init(&c, NULL, NULL);
    httpd *gone = httpd_start(serve_nothing, NULL);
    (void)httpd_url(gone, "", c.url, sizeof c.url);
    httpd_stop(gone);
    client_provider(&c, hob_provider_anthropic_create,
                    (hob_provider_config){.api_key = HOB_STR(KEY)});
    client_ask(&c);
    assert_int_equal(c.outcome.code, HOB_ENET);
    assert_int_equal(c.outcome.retryable, 1);
    assert_memory_equal(c.outcome.error.message, "lab: connection refused by 127.0.0.1", 35);
    client_finish(&c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_model_http__anthropic_request_and_answer),
        cmocka_unit_test(test_model_http__chat_request_and_answer),
        cmocka_unit_test(test_model_http__no_key_is_no_header),
        cmocka_unit_test(test_model_http__base_url_is_not_doubled),
        cmocka_unit_test(test_model_http__any_split_is_the_same),
        cmocka_unit_test(test_model_http__the_connection_is_kept),
        cmocka_unit_test(test_model_http__an_answer_that_ended_is_not_waited_for),
        cmocka_unit_test(test_model_http__html_is_no_answer),
        cmocka_unit_test(test_model_http__broken_streams),
        cmocka_unit_test(test_model_http__a_reset_is_a_failure_unless_the_answer_had_ended),
        cmocka_unit_test(test_model_http__silence_ends_by_time_out),
        cmocka_unit_test(test_model_http__nobody_there),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
