/* Artifacts over HTTP: bytes in, bytes out, each time a version. */
#include "support/check.h"
#include "support/desk.h"

#include <stdio.h>
#include <string.h>

static int setup(void **state) {
    return desk_setup(
        state,
        "{'rules':[{'when':{'user':'hang'},'reply':[{'wait':true}]}],'otherwise':[{'text':'hi'}]}");
}

static int put(desk *d, const char *name, const char *headers, const char *body) {
    char path[300];
    snprintf(path, sizeof path, "/api/sessions/one/artifacts/%s", name);
    return client_call_with(&d->c, "PUT", path, headers, body);
}

static void test_serve_artifacts__each_put_is_a_version(void **state) {
    desk *d = *state;
    desk_session(d, "one");
    assert_status(d, put(d, "plan.txt", "Content-Type: text/plain\r\n", "two seats"), 201);
    assert_string_equal(hob_buf_z(&d->c.body), "{\"name\":\"plan.txt\",\"version\":0,\"mime\":"
                                               "\"text/plain\",\"size\":9}");
    assert_status(d, put(d, "plan.txt", "Content-Type: text/csv\r\n", "three"), 201);
    assert_field(d, "version", "1");
    assert_status(d, desk_get(d, "/api/sessions/one/artifacts/plan.txt"), 200);
    assert_string_equal(hob_buf_z(&d->c.body), "three");
    assert_non_null(strstr(hob_buf_z(&d->c.head), "Content-Type: text/csv\r\n"));
    assert_status(d, desk_get(d, "/api/sessions/one/artifacts/plan.txt?version=0"), 200);
    assert_string_equal(hob_buf_z(&d->c.body), "two seats");
    assert_status(d, desk_get(d, "/api/sessions/one/artifacts"), 200);
    assert_field(d, "artifacts.0.version", "1");
}

/* Closed, and while it works: an upload waits for nobody. */
static void test_serve_artifacts__a_put_at_any_time(void **state) {
    desk *d = *state;
    desk_session(d, "one");
    assert_status(d, desk_post(d, NULL, "/api/sessions/one/close"), 204);
    assert_status(d, put(d, "a%2Fb.bin", "Content-Type: image/png\r\n", "x"), 201);
    assert_field(d, "name", "a/b.bin");
    desk_prompt(d, "one", "hang");
    assert_status(d, put(d, "a%2Fb.bin", "Content-Type: image/png\r\n", "y"), 201);
    assert_field(d, "version", "1");
    assert_status(d, desk_get(d, "/api/sessions/one"), 200);
    assert_field(d, "live.running", "true");
}

static void test_serve_artifacts__without_a_type_they_are_bytes(void **state) {
    desk *d = *state;
    desk_session(d, "one");
    assert_status(d, put(d, "a", "Content-Type: \r\n", "x"), 201);
    assert_field(d, "mime", "application/octet-stream");
    assert_status(d, desk_get(d, "/api/sessions/one/artifacts/a"), 200);
    assert_non_null(strstr(hob_buf_z(&d->c.head), "Content-Type: application/octet-stream\r\n"));
}

static void test_serve_artifacts__what_cannot_be_saved(void **state) {
    static const char text[] = "Content-Type: text/plain\r\n";
    desk *d = *state;
    desk_session(d, "one");
    assert_status(d, put(d, "..", text, "x"), 400);
    assert_status(d, put(d, "a%5Cb", text, "x"), 400);
    assert_status(d, put(d, "a", "Content-Type: text/plain\r\nIf-Match: \"0\"\r\n", "x"), 400);
    assert_status(d, put(d, "a", "Content-Type: text/plain\r\nIf-None-Match: *\r\n", "x"), 400);
    assert_status(d, put(d, "a", "Content-Encoding: gzip\r\n", "x"), 415);
    assert_field(d, "error.code", "bad_encoding");
    assert_status(d, client_call_with(&d->c, "PUT", "/api/sessions/no/artifacts/a", text, "x"),
                  404);
    assert_status(d, desk_get(d, "/api/sessions/one/artifacts"), 200);
    assert_field(d, "artifacts.0.name", "");
}

static void test_serve_artifacts__a_body_over_the_limit_is_refused_before_it_comes(void **state) {
    desk *d = *state;
    desk_session(d, "one");
    assert_status(d, put(d, "a", "Content-Length: 67108865\r\n", NULL), 413);
    assert_field(d, "error.code", "too_large");
}

/* ---- deleting ------------------------------------------------------------------------------------------------------ */

static int drop(desk *d, const char *name, const char *headers) {
    char path[300];
    snprintf(path, sizeof path, "/api/sessions/one/artifacts/%s", name);
    return client_call_with(&d->c, "DELETE", path, headers, NULL);
}

static void test_serve_artifacts__what_is_deleted_stays_so(void **state) {
    static const char text[] = "Content-Type: text/plain\r\n";
    desk *d = *state;
    desk_session(d, "one");
    assert_status(d, put(d, "a%2Fb", text, "x"), 201);
    assert_status(d, put(d, "a%2Fb", text, "y"), 201);
    assert_status(d, put(d, "other", text, "z"), 201);
    assert_status(d, drop(d, "a%2Fb", "If-Match: \"0\"\r\n"), 400);
    assert_status(d, drop(d, "a%2Fb", NULL), 204);
    assert_status(d, drop(d, "a%2Fb", NULL), 404);
    assert_status(d, drop(d, "x?name=a/b", NULL), 404);
    desk_stop(d);
    desk_start(d);
    assert_status(d, desk_get(d, "/api/sessions/one/artifacts/a%%2Fb?version=0"), 404);
    assert_status(d, desk_get(d, "/api/sessions/one/artifacts"), 200);
    assert_field(d, "artifacts.0.name", "other");
    assert_field(d, "artifacts.1.name", "");
    assert_status(d, desk_get(d, "/api/sessions/one/events?limit=1000"), 200);
    assert_non_null(strstr(hob_buf_z(&d->c.body), "\"data\":{\"removed\":[\"a/b\"]}"));
}

/* ---- how much ------------------------------------------------------------------------------------------------------ */

#define ANN "0000000000000000000000000000ann"

static int setup_little(void **state) {
    desk *d = HOB_NEW(desk);
    desk_init(d, "{'otherwise':[{'text':'hi'}]}");
    desk_tokens(d, "{'tokens':[{'name':'ann','token':'" ANN
                   "','rights':['read','run'],'limits':{'artifact_mib':1}}]}");
    desk_start(d);
    d->c.token = ANN;
    *state = d;
    return 0;
}

static void test_serve_artifacts__a_caller_saves_as_much_as_it_may(void **state) {
    static const char bytes[] = "Content-Type: application/octet-stream\r\n";
    desk *d = *state;
    static char body[700 * 1024];
    memset(body, 'x', sizeof body - 1);
    desk_session(d, "one");
    assert_status(d, put(d, "..", bytes, body), 400); /* what was not saved does not count */
    assert_status(d, put(d, "a", bytes, body), 201);
    assert_status(d, put(d, "a", bytes, body), 429);
    assert_field(d, "error.code", "limit");
    assert_non_null(strstr(client_field(&d->c, "error.message"), "artifact_mib of 'ann'"));
    assert_status(d, put(d, "a", bytes, "x"), 201);
    assert_status(d, drop(d, "a", NULL), 403);
    assert_status(d, desk_get(d, "/api/server"), 200);
    assert_field(d, "limits.artifact_mib.limit", "1");
}

int main(void) {
#define T(name) cmocka_unit_test_setup_teardown(test_serve_artifacts__##name, setup, desk_teardown)
    const struct CMUnitTest tests[] = {
        T(each_put_is_a_version),
        T(a_put_at_any_time),
        T(without_a_type_they_are_bytes),
        T(what_cannot_be_saved),
        T(a_body_over_the_limit_is_refused_before_it_comes),
        T(what_is_deleted_stays_so),
        cmocka_unit_test_setup_teardown(test_serve_artifacts__a_caller_saves_as_much_as_it_may,
                                        setup_little, desk_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
