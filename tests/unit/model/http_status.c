/* ctest: labels=threads timeout=120 */
/* Answers that are refusals: what they mean, and when to come back. */
#include "client.h"

#include <stdlib.h>
#include <unistd.h>

/* ---- statuses ------------------------------------------------------------------------------------------- */

static void assert_reply(int status, const char *headers, const char *body, const char *expected) {
    reply r = {status, headers, body};
    client c;
    client_init(&c, serve_reply, &r);
    client_provider(
        &c, hob_provider_anthropic_create,
        (hob_provider_config){.api_key = HOB_STR(KEY), .key_source = HOB_STR("LAB_KEY")});
    client_ask(&c);
    assert_outcome(&c, expected);
    client_finish(&c);
}

static void test_model_http_status__refused_keys(void **state) {
    (void)state;
    assert_reply(
        401, NULL, ERROR("authentication_error", "invalid x-api-key"),
        "HOB_EAUTH 401: lab refused the key from LAB_KEY (401: invalid x-api-key): check it");
    assert_reply(403, NULL, ERROR("permission_error", "no"),
                 "HOB_EAUTH 403: lab refused the key from LAB_KEY (403: no): check it");
    assert_reply(
        401, NULL,
        "{\"error\":{\"type\":\"invalid_request_error\",\"code\":\"invalid_api_key\","
        "\"message\":\"Incorrect API key: " KEY "\"}}",
        "HOB_EAUTH 401: lab refused the key from LAB_KEY (401: Incorrect API key: ***): check it");
}

static void test_model_http_status__refused_requests(void **state) {
    (void)state;
    assert_reply(400, NULL, ERROR("invalid_request_error", "max_tokens: wrong"),
                 "HOB_EREFUSED 400: lab refused the request (400: max_tokens: wrong)");
    assert_reply(413, NULL, ERROR("request_too_large", "too large"),
                 "HOB_EREFUSED 413: lab refused the request (413: too large)");
    assert_reply(422, NULL, "{\"detail\":\"no such field\"}",
                 "HOB_EREFUSED 422: lab refused the request (422: no such field)");
    assert_reply(
        400, NULL, ERROR("invalid_request_error", "prompt is too long: 9 > 8"),
        "HOB_ETOOBIG 400: the conversation does not fit m-1 (400: prompt is too long: 9 > 8)");
    assert_reply(402, NULL, ERROR("billing_error", "no credit"),
                 "HOB_EREFUSED 402: lab wants to be paid first (402: no credit)");
    assert_reply(429, NULL, "{\"error\":{\"message\":\"quota\",\"code\":\"insufficient_quota\"}}",
                 "HOB_EREFUSED 429: lab wants to be paid first (429: quota)");
}

static void test_model_http_status__unknown_model(void **state) {
    (void)state;
    reply r = {404, NULL, ERROR("not_found_error", "model: m-1")};
    client c;
    client_init(&c, serve_reply, &r);
    client_provider(&c, hob_provider_anthropic_create,
                    (hob_provider_config){.api_key = HOB_STR(KEY)});
    client_ask(&c);
    assert_int_equal(c.outcome.code, HOB_ENOENT);
    assert_int_equal(c.outcome.retryable, 0);
    assert_non_null(
        strstr(c.outcome.error.message, "lab does not know model m-1 (404: model: m-1)"));
    client_finish(&c);
}

static void test_model_http_status__failures_that_may_pass(void **state) {
    (void)state;
    assert_reply(429, NULL, ERROR("rate_limit_error", "slow down"),
                 "HOB_ERATE 429 retryable: lab limits the rate (429: slow down)");
    assert_reply(500, NULL, ERROR("api_error", "oops"),
                 "HOB_EOVERLOAD 500 retryable: lab failed (500: oops)");
    assert_reply(529, NULL, ERROR("overloaded_error", "Overloaded"),
                 "HOB_EOVERLOAD 529 retryable: lab failed (529: Overloaded)");
    assert_reply(408, NULL, "", "HOB_EOVERLOAD 408 retryable: lab failed (408: no reason given)");
    assert_reply(409, NULL, "busy\n", "HOB_EOVERLOAD 409 retryable: lab failed (409: busy)");
    assert_reply(502, NULL, "<html><body>Bad gateway</body></html>",
                 "HOB_EOVERLOAD 502 retryable: lab failed (502: an HTML page)");
}

static void test_model_http_status__retry_after_is_passed_on(void **state) {
    (void)state;
    const char *e = ERROR("rate_limit_error", "slow");
    assert_reply(429, "Retry-After: 7\r\n", e,
                 "HOB_ERATE 429 retryable after 7000: lab limits the rate (429: slow); "
                 "it asks to wait 7.0 s");
    assert_reply(429, "retry-after: 1.5\r\n", e,
                 "HOB_ERATE 429 retryable after 1500: lab limits the rate (429: slow); "
                 "it asks to wait 1.5 s");
    assert_reply(429, "retry-after-ms: 250\r\nretry-after: 9\r\n", e,
                 "HOB_ERATE 429 retryable after 250: lab limits the rate (429: slow); "
                 "it asks to wait 0.2 s");
    assert_reply(429, "Retry-After: Sun, 06 Nov 1994 08:49:37 GMT\r\n", e,
                 "HOB_ERATE 429 retryable after 0: lab limits the rate (429: slow)");
    assert_reply(429, "Retry-After: soon\r\n", e,
                 "HOB_ERATE 429 retryable: lab limits the rate (429: slow)");
}

static void test_model_http_status__x_should_retry_is_obeyed(void **state) {
    (void)state;
    assert_reply(429, "x-should-retry: false\r\n", ERROR("rate_limit_error", "day"),
                 "HOB_ERATE 429: lab limits the rate (429: day)");
    assert_reply(400, "x-should-retry: true\r\n", ERROR("invalid_request_error", "again"),
                 "HOB_EREFUSED 400 retryable: lab refused the request (400: again)");
}

static void test_model_http_status__redirects_are_not_followed(void **state) {
    (void)state;
    reply r = {307, "Location: http://elsewhere/\r\n", ""};
    client c;
    client_init(&c, serve_reply, &r);
    client_provider(&c, hob_provider_anthropic_create,
                    (hob_provider_config){.api_key = HOB_STR(KEY)});
    client_ask(&c);
    assert_int_equal(c.outcome.code, HOB_EPROTO);
    assert_int_equal(c.outcome.retryable, 0);
    assert_non_null(
        strstr(c.outcome.error.message, "(307, see http://elsewhere/): change base_url"));
    client_finish(&c);
}

static void test_model_http_status__a_redirect_to_nowhere(void **state) {
    (void)state;
    reply r = {304, NULL, ""};
    client c;
    client_init(&c, serve_reply, &r);
    client_provider(&c, hob_provider_anthropic_create,
                    (hob_provider_config){.api_key = HOB_STR(KEY)});
    client_ask(&c);
    assert_int_equal(c.outcome.code, HOB_EPROTO);
    assert_non_null(strstr(c.outcome.error.message, "(304): change base_url"));
    client_finish(&c);
}

static void serve_endless_error(httpd_exchange *x, void *user) {
    (void)user;
    httpd_begin(x, 500, "Content-Type: text/plain\r\n");
    httpd_endless(x, HOB_STR("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"));
}

static void test_model_http_status__an_endless_error_body_ends(void **state) {
    (void)state;
    client c;
    client_init(&c, serve_endless_error, NULL);
    client_provider(&c, hob_provider_anthropic_create,
                    (hob_provider_config){.api_key = HOB_STR(KEY)});
    client_ask(&c);
    assert_int_equal(c.outcome.code, HOB_EOVERLOAD);
    assert_int_equal(c.outcome.status, 500);
    client_finish(&c);
}

static void test_model_http_status__an_error_object_with_200_is_an_error(void **state) {
    (void)state;
    assert_reply(200, "Content-Type: application/json\r\n",
                 "{\"error\":{\"type\":\"overloaded_error\","
                 "\"message\":\"later\"}}",
                 "HOB_EOVERLOAD 200 retryable: lab failed (later)");
}

/* ---- dates ---------------------------------------------------------------------------------------------------------- */

static void test_model_http_status__reads_dates(void **state) {
    (void)state;
    int64_t t = 0;
    assert_int_equal(hob_http_date(HOB_STR("Sun, 06 Nov 1994 08:49:37 GMT"), &t), 0);
    assert_int_equal(t, 784111777000);
    assert_int_equal(hob_http_date(HOB_STR("Thu, 29 Feb 2024 23:59:59 GMT"), &t), 0);
    assert_int_equal(t, 1709251199000);
    assert_int_equal(hob_http_date(HOB_STR("Sun, 06 Xxx 1994 08:49:37 GMT"), &t), HOB_EPARSE);
    assert_int_equal(hob_http_date(HOB_STR("Sunday, 06-Nov-94 08:49:37 GMT"), &t), HOB_EPARSE);
    assert_int_equal(hob_http_date(HOB_STR(""), &t), HOB_EPARSE);
}

static void test_model_http_status__hides_keys_also_cut_ones(void **state) {
    (void)state;
    hob_error e;
    const hob_str key = HOB_STR(KEY);
    hob_fail(&e, HOB_EAUTH, 0, "no: " KEY ", " KEY "!");
    hob_error_redact(&e, key);
    assert_string_equal(e.message, "no: ***, ***!");
    hob_fail(&e, HOB_EAUTH, 0, "no: sk-test-0123456 (cut)");
    hob_error_redact(&e, key);
    assert_string_equal(e.message, "no: *** (cut)");
    hob_fail(&e, HOB_EAUTH, 0, "keys begin with sk-test-");
    hob_error_redact(&e, key);
    hob_error_redact(&e, HOB_STR("begin"));
    hob_error_redact(&e, HOB_STR(""));
    assert_string_equal(e.message, "keys begin with sk-test-");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_model_http_status__refused_keys),
        cmocka_unit_test(test_model_http_status__refused_requests),
        cmocka_unit_test(test_model_http_status__unknown_model),
        cmocka_unit_test(test_model_http_status__failures_that_may_pass),
        cmocka_unit_test(test_model_http_status__retry_after_is_passed_on),
        cmocka_unit_test(test_model_http_status__x_should_retry_is_obeyed),
        cmocka_unit_test(test_model_http_status__redirects_are_not_followed),
        cmocka_unit_test(test_model_http_status__a_redirect_to_nowhere),
        cmocka_unit_test(test_model_http_status__an_endless_error_body_ends),
        cmocka_unit_test(test_model_http_status__an_error_object_with_200_is_an_error),
        cmocka_unit_test(test_model_http_status__reads_dates),
        cmocka_unit_test(test_model_http_status__hides_keys_also_cut_ones),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
