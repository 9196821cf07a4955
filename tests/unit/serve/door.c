/*
 * Who comes in: tokens (SEC-50), hosts and origins (SEC-51), upgrades (SEC-52), rights, rates, bodies.
 */
#include "support/check.h"
#include "support/folder.h"
#include "support/webd.h"

#include <stdio.h>
#include <sys/stat.h>

static int setup(void **state) {
    *state = webd_start(NULL);
    return 0;
}

static int teardown(void **state) {
    webd_free(*state);
    return 0;
}

static int status_of(const webd *d, const char *request, const char *fields, const char *body) {
    webd_answer a;
    webd_call(d, request, fields, body, &a);
    webd_answer_finish(&a);
    return a.status;
}

/* ---- tokens ---------------------------------------------------------------------------------------------- */

static void test_serve_door__nothing_but_the_open_routes_without_a_token(void **state) {
    static const char *const closed[] = {"GET /item/a/b", "POST /echo",  "POST /any",
                                         "GET /block",    "GET /stream", "GET /flood",
                                         "GET /tagged",   "GET /silent", "DELETE /admin"};
    static const char *const wrong[] = {
        NULL,
        "Authorization: Bearer a-token-for-tests-onlY\r\n",
        "Authorization: Bearer a-token-for-tests-only2\r\n",
        "Authorization: Bearer a-token-for-tests-onl\r\n",
        "Authorization: Bearer \r\n",
        "Authorization: Basic " WEBD_TOKEN "\r\n",
        "Authorization: " WEBD_TOKEN "\r\n",
        "X-Api-Key: " WEBD_TOKEN "\r\n",
        "Cookie: token=" WEBD_TOKEN "\r\n",
    };
    for (size_t i = 0; i < HOB_ARRAY_LEN(closed); i++)
        for (size_t k = 0; k < HOB_ARRAY_LEN(wrong); k++)
            if (status_of(*state, closed[i], wrong[k], NULL) != 401)
                fail_msg("%s with %s", closed[i], wrong[k]);
    assert_int_equal(status_of(*state, "GET /ping", NULL, NULL), 200);
    assert_int_equal(
        status_of(*state, "GET /tagged", "authorization: bearer   " WEBD_TOKEN "\r\n", NULL), 200);
}

static void test_serve_door__a_401_says_what_is_wanted(void **state) {
    webd_answer a;
    webd_call(*state, "GET /tagged", NULL, NULL, &a);
    assert_true(webd_has(&a, "\r\nWWW-Authenticate: Bearer realm=\"hob\"\r\n"));
    assert_str(
        a.body,
        "{\"error\":{\"code\":\"unauthorized\",\"message\":\"a token is needed: Authorization: Bearer "
        "TOKEN\"}}");
    webd_answer_finish(&a);
}

static void test_serve_door__a_token_in_the_url_is_refused(void **state) {
    assert_int_equal(status_of(*state, "GET /tagged?token=" WEBD_TOKEN, NULL, NULL), 400);
    assert_int_equal(status_of(*state, "GET /tagged?a=b&access_token=x", WEBD_AUTH, NULL), 400);
    assert_int_equal(status_of(*state, "GET /tagged?a&%74oken=x", WEBD_AUTH, NULL), 400);
}

/* ---- hosts and origins ----------------------------------------------------------------------------------- */

static void test_serve_door__hosts(void **state) {
    webd *d = *state;
    const struct {
        const char *host;
        int status;
    } cases[] = {
        {"127.0.0.1:%d", 200},      {"localhost:%d", 200},      {"LOCALHOST:%d", 200},
        {"localhost.:%d", 200},     {"[::1]:%d", 200},          {"127.0.0.1", 421},
        {"localhost:1", 421},       {"evil.example:%d", 421},   {"127.0.0.1.evil:%d", 421},
        {"localhost.evil:%d", 421}, {"evil.localhost:%d", 421}, {"0x7f000001:%d", 421},
        {"0.0.0.0:%d", 421},        {"127.1:%d", 421},          {"user@localhost:%d", 421},
        {"localhost:%d/x", 421},    {"localhost:%d,evil", 421}, {"", 421},
    };
    for (size_t i = 0; i < HOB_ARRAY_LEN(cases); i++) {
        char name[100], field[140];
        snprintf(name, sizeof name, cases[i].host, d->port);
        snprintf(field, sizeof field, "Host: %s\r\n", name);
        int status = status_of(d, "GET /ping", field, NULL);
        if (status != cases[i].status) fail_msg("%s: %d", name, status);
    }
}

static void test_serve_door__origins(void **state) {
    webd *d = *state;
    const struct {
        const char *origin;
        int status;
    } cases[] = {
        {"http://127.0.0.1:%d", 200},
        {"https://127.0.0.1:%d", 200},
        {"http://localhost:%d", 403},
        {"http://127.0.0.1:1", 403},
        {"http://127.0.0.1", 403},
        {"null", 403},
        {"http://localhost.evil:%d", 403},
        {"http://127.0.0.1.evil:%d", 403},
        {"https://evil.example", 403},
        {"chrome-extension://abc", 403},
        {"http://127.0.0.1:%d/", 403},
        {"*", 403},
        {"", 403},
    };
    for (size_t i = 0; i < HOB_ARRAY_LEN(cases); i++) {
        char name[100], field[200];
        snprintf(name, sizeof name, cases[i].origin, d->port);
        snprintf(field, sizeof field, "Origin: %s\r\n" WEBD_AUTH, name);
        int status = status_of(d, "GET /tagged", field, NULL);
        if (status != cases[i].status) fail_msg("%s: %d", name, status);
    }
}

static void test_serve_door__what_the_browser_says_of_the_page(void **state) {
    assert_int_equal(status_of(*state, "GET /ping", "Sec-Fetch-Site: same-origin\r\n", NULL), 200);
    assert_int_equal(status_of(*state, "GET /ping", "Sec-Fetch-Site: none\r\n", NULL), 200);
    assert_int_equal(status_of(*state, "GET /ping", "Sec-Fetch-Site: same-site\r\n", NULL), 403);
    assert_int_equal(status_of(*state, "GET /ping", "Sec-Fetch-Site: cross-site\r\n", NULL), 403);
    assert_int_equal(
        status_of(
            *state, "GET /ping",
            "Sec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: navigate\r\nSec-Fetch-Dest: document\r\n",
            NULL),
        403);
    assert_int_equal(status_of(*state, "GET /ping", "Sec-Fetch-Site: anything\r\n", NULL), 403);
}

static void test_serve_door__no_page_elsewhere_is_let_in_by_default(void **state) {
    webd_answer a;
    webd_call(*state, "OPTIONS /tagged",
              "Origin: https://app.example\r\nAccess-Control-Request-Method: GET\r\n", NULL, &a);
    assert_int_equal(a.status, 403);
    assert_false(webd_has(&a, "access-control-"));
    webd_answer_finish(&a);
    webd_call(*state, "OPTIONS /tagged", "Access-Control-Request-Method: GET\r\n", NULL, &a);
    assert_int_equal(a.status, 405);
    assert_true(webd_has(&a, "\r\nAllow: GET, HEAD\r\n"));
    assert_false(webd_has(&a, "access-control-"));
    webd_answer_finish(&a);
}

static void test_serve_door__an_allowed_origin_is_exact(void **state) {
    (void)state;
    static const char *const origins[] = {"https://app.example", NULL};
    static const char *const hosts[] = {"hob.example", NULL};
    hob_server_opts o = HOB_SERVER_OPTS_INIT;
    webd_answer a;
    o.allow_origins = origins;
    o.allow_hosts = hosts;
    webd *d = webd_start(&o);
    webd_call(d, "OPTIONS /tagged",
              "Origin: https://app.example\r\nAccess-Control-Request-Method: GET\r\n", NULL, &a);
    assert_int_equal(a.status, 204);
    assert_true(webd_has(&a, "\r\nAccess-Control-Allow-Origin: https://app.example\r\n"));
    assert_false(webd_has(&a, "access-control-allow-credentials"));
    webd_answer_finish(&a);
    assert_int_equal(
        status_of(d, "GET /tagged",
                  "Origin: https://app.example\r\nSec-Fetch-Site: cross-site\r\n" WEBD_AUTH, NULL),
        200);
    assert_int_equal(status_of(d, "GET /tagged", "Origin: https://app.example\r\n", NULL), 401);
    assert_int_equal(
        status_of(d, "GET /tagged", "Origin: https://a.app.example\r\n" WEBD_AUTH, NULL), 403);
    assert_int_equal(status_of(d, "GET /tagged", "Origin: http://app.example\r\n" WEBD_AUTH, NULL),
                     403);
    assert_int_equal(
        status_of(d, "GET /tagged", "Origin: https://app.example.evil\r\n" WEBD_AUTH, NULL), 403);
    assert_int_equal(
        status_of(d, "GET /ping", "Host: hob.example\r\nOrigin: https://hob.example\r\n", NULL),
        200);
    assert_int_equal(status_of(d, "GET /ping", "Host: hob.example.evil\r\n", NULL), 421);
    webd_free(d);
}

/* ---- routes, rights, rates, bodies ------------------------------------------------------------------------ */

static void test_serve_door__no_websocket(void **state) {
    assert_int_equal(
        status_of(*state, "GET /stream",
                  "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
                  "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n" WEBD_AUTH,
                  NULL),
        400);
    assert_int_equal(webd_streams_open(), 0);
}

static void test_serve_door__paths(void **state) {
    webd_answer a;
    assert_int_equal(status_of(*state, "GET /nothing", WEBD_AUTH, NULL), 404);
    assert_int_equal(status_of(*state, "GET /item/a", WEBD_AUTH, NULL), 404);
    assert_int_equal(status_of(*state, "GET /item/a/b/c", WEBD_AUTH, NULL), 404);
    assert_int_equal(status_of(*state, "GET /item//b", WEBD_AUTH, NULL), 404);
    assert_int_equal(status_of(*state, "GET /ping/", WEBD_AUTH, NULL), 404);
    assert_int_equal(status_of(*state, "GET //ping", WEBD_AUTH, NULL), 404);
    assert_int_equal(status_of(*state, "GET /item/%00/b", WEBD_AUTH, NULL), 400);
    assert_int_equal(status_of(*state, "GET /item/a%2Fb/c", WEBD_AUTH, NULL), 400);
    assert_int_equal(status_of(*state, "GET /item/%zz/b", WEBD_AUTH, NULL), 400);
    assert_int_equal(status_of(*state, "GET /item/%ff/b", WEBD_AUTH, NULL), 400);
    assert_int_equal(status_of(*state, "PUT /echo", WEBD_AUTH, NULL), 405);
    webd_call(*state, "GET /item/%C3%A4%20+/..?q=a+b%26&q=c", WEBD_AUTH, NULL, &a);
    assert_str(a.body, "{\"id\":\"\xC3\xA4 +\",\"part\":\"..\",\"q\":\"a b&\"}");
    webd_answer_finish(&a);
}

static void test_serve_door__bodies(void **state) {
    webd *d = *state;
#define JSON "Content-Type: application/json\r\n" WEBD_AUTH
    assert_int_equal(status_of(d, "POST /echo", JSON, "{}"), 200);
    assert_int_equal(status_of(d, "POST /echo",
                               "Content-Type: application/json; charset=UTF-8\r\n" WEBD_AUTH, "{}"),
                     200);
    assert_int_equal(status_of(d, "POST /echo", WEBD_AUTH, NULL), 200);
    assert_int_equal(status_of(d, "POST /echo", JSON, "[]"), 400);
    assert_int_equal(status_of(d, "POST /echo", JSON, "{"), 400);
    assert_int_equal(status_of(d, "POST /echo", WEBD_AUTH, "{}"), 415);
    assert_int_equal(status_of(d, "POST /echo", "Content-Type: text/plain\r\n" WEBD_AUTH, "{}"),
                     415);
    assert_int_equal(status_of(d, "POST /echo",
                               "Content-Type: application/x-www-form-urlencoded\r\n" WEBD_AUTH,
                               "a=b"),
                     415);
    assert_int_equal(status_of(d, "POST /echo",
                               "Content-Type: multipart/form-data; boundary=x\r\n" WEBD_AUTH,
                               "--x"),
                     415);
    assert_int_equal(status_of(d, "POST /any", WEBD_AUTH, "anything"), 201);
    assert_int_equal(status_of(d, "GET /tagged", JSON, "{}"), 400);
    assert_int_equal(status_of(d, "POST /echo", JSON "Content-Length: 1048577\r\n", NULL), 413);
    assert_int_equal(status_of(d, "POST /any", WEBD_AUTH "Content-Length: 999999999999\r\n", NULL),
                     413);
}

static void test_serve_door__rights_and_rates(void **state) {
    (void)state;
    hob_test_folder f;
    hob_server_opts o = HOB_SERVER_OPTS_INIT;
    webd_answer a;
    hob_test_folder_make(&f);
    hob_test_file(
        &f, "t",
        HOB_STR(
            "{\"tokens\":[{\"name\":\"reader\",\"token\":\"reader-0123456789\",\"rights\":[\"read\"]},"
            "{\"name\":\"slow\",\"token\":\"slow-0123456789ab\",\"limits\":{\"per_minute\":2}}]}"));
    chmod(hob_test_path(&f, "t"), 0600);
    o.token_file = hob_test_path(&f, "t");
    webd *d = webd_start(&o);
#define READER "Authorization: Bearer reader-0123456789\r\n"
#define SLOW "Authorization: Bearer slow-0123456789ab\r\n"
    assert_int_equal(status_of(d, "GET /tagged", READER, NULL), 200);
    assert_int_equal(status_of(d, "POST /echo", READER, NULL), 403);
    webd_call(d, "DELETE /admin", READER, NULL, &a);
    assert_int_equal(a.status, 403);
    assert_str(
        a.body,
        "{\"error\":{\"code\":\"forbidden\",\"message\":\"this needs the right 'admin', which "
        "the token 'reader' does not have\"}}");
    webd_answer_finish(&a);
    assert_int_equal(status_of(d, "GET /tagged", SLOW, NULL), 200);
    assert_int_equal(status_of(d, "GET /tagged", SLOW, NULL), 200);
    webd_call(d, "GET /tagged", SLOW, NULL, &a);
    assert_int_equal(a.status, 429);
    assert_true(webd_has(&a, "\r\nRetry-After: 3"));
    webd_answer_finish(&a);
    assert_int_equal(status_of(d, "GET /tagged", READER, NULL), 200); /* others go on */
    webd_advance(d, 60000);
    assert_int_equal(status_of(d, "GET /tagged", SLOW, NULL), 200);
    webd_free(d);
    hob_test_folder_remove(&f);
}

/* SEC-54: strings made to be slow cost no more than others; the limits of a head bound them. */
static void test_serve_door__no_path_is_slow(void **state) {
    hob_buf b;
    hob_buf_init(&b, 1 << 20);
    hob_buf_addz(&b, "GET /item/");
    while (b.n < 8000) hob_buf_addz(&b, "%41");
    hob_buf_addz(&b, "/x");
    assert_int_equal(status_of(*state, hob_buf_z(&b), WEBD_AUTH, NULL), 200);
    hob_buf_reset(&b);
    hob_buf_addz(&b, "GET ");
    while (b.n < 8000) hob_buf_addz(&b, "/item");
    assert_int_equal(status_of(*state, hob_buf_z(&b), WEBD_AUTH, NULL), 404);
    hob_buf_finish(&b);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(
            test_serve_door__nothing_but_the_open_routes_without_a_token, setup, teardown),
        cmocka_unit_test_setup_teardown(test_serve_door__a_401_says_what_is_wanted, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(test_serve_door__a_token_in_the_url_is_refused, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(test_serve_door__hosts, setup, teardown),
        cmocka_unit_test_setup_teardown(test_serve_door__origins, setup, teardown),
        cmocka_unit_test_setup_teardown(test_serve_door__what_the_browser_says_of_the_page, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(test_serve_door__no_page_elsewhere_is_let_in_by_default,
                                        setup, teardown),
        cmocka_unit_test(test_serve_door__an_allowed_origin_is_exact),
        cmocka_unit_test_setup_teardown(test_serve_door__no_websocket, setup, teardown),
        cmocka_unit_test_setup_teardown(test_serve_door__paths, setup, teardown),
        cmocka_unit_test_setup_teardown(test_serve_door__bodies, setup, teardown),
        cmocka_unit_test(test_serve_door__rights_and_rates),
        cmocka_unit_test_setup_teardown(test_serve_door__no_path_is_slow, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
