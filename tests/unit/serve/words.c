/* What is refused, in which words, and what the same request again gets. */
#include "support/check.h"
#include "support/desk.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#define ANN "ann-0123456789abcdef"

static const char script[] =
    "{'rules':[{'when':{'user':'hang'},'reply':[{'text':'so far'},{'wait':true}]},"
    "{'when':{'user':{'prefix':'write'},'step':1},'reply':[{'tool':'write','args':"
    "{'path':'a.txt','content':'b'}}]}],'otherwise':[{'text':'hi'}]}";

static int setup(void **state) {
    return desk_setup(state, script);
}

static int setup_tokens(void **state) {
    desk *d = HOB_NEW(desk);
    desk_init(d, script);
    desk_tokens(d, "{'tokens':[{'name':'ann','token':'" ANN "','max_mode':'ask',"
                   "'limits':{'per_minute':100,'sessions':1}}]}");
    desk_start(d);
    d->c.token = ANN;
    *state = d;
    return 0;
}

static void expect_words(desk *d, int status, int wanted, const char *code, const char *words) {
    assert_status(d, status, wanted);
    assert_field(d, "error.code", code);
    if (!strstr(client_field(&d->c, "error.message"), words))
        fail_msg("'%s' is not in %s", words, hob_buf_z(&d->c.body));
}

/* ---- queries ------------------------------------------------------------------------------------------------------ */

static void test_serve_words__a_parameter_that_means_nothing_is_refused(void **state) {
    desk *d = *state;
    desk_session(d, "one");
    expect_words(d, desk_get(d, "/api/sessions/one/events?aftr=3"), 400, "unknown_parameter",
                 "perhaps after");
    expect_words(d, desk_get(d, "/api/sessions/one/events?after=0&x=%%ff"), 400,
                 "unknown_parameter", "means nothing here");
    expect_words(d, desk_get(d, "/api/models?limit=3"), 400, "unknown_parameter", "limit");
    expect_words(d, desk_post(d, "{'text':'hi'}", "/api/sessions/one/prompt?wait=1"), 400,
                 "unknown_parameter", "wait");
    assert_status(d, desk_get(d, "/api/sessions/one/events?&after=0&"), 200);
    assert_status(d, desk_get(d, "/api/sessions/one/events?%%61fter=0"), 200);
    assert_status(d, desk_get(d, "/healthz?probe=1"), 200);
}

static void test_serve_words__a_filter_takes_only_its_words(void **state) {
    desk *d = *state;
    desk_session(d, "one");
    expect_words(
        d, desk_get(d, "/api/sessions/one/runs?status=finished"), 400, "bad_query",
        "status can be: running, parked, completed, failed, cancelled, interrupted, limit");
    expect_words(d, desk_get(d, "/api/sessions/one/runs?status="), 400, "bad_query", "status can");
    expect_words(d, desk_get(d, "/api/sessions/one/events?until=parked"), 400, "bad_query",
                 "until can be: settled");
    assert_status(d, desk_get(d, "/api/sessions/one/runs?status=limit"), 200);
    assert_status(d, desk_get(d, "/api/sessions/one/runs?status=p%%61rked"), 200);
    assert_status(d, desk_get(d, "/openapi.json"), 200);
    assert_non_null(strstr(hob_buf_z(&d->c.body),
                           "{\"type\":\"string\",\"enum\":[\"running\",\"parked\",\"completed\","
                           "\"failed\",\"cancelled\",\"interrupted\",\"limit\"]}"));
}

/* ---- what is written down ------------------------------------------------------------------------------------------ */

static void test_serve_words__headers_that_count_are_in_the_document(void **state) {
    static const char *const names[] = {"Idempotency-Key", "Last-Event-ID", "If-Match",
                                        "If-None-Match"};
    desk *d = *state;
    char wanted[100];
    assert_status(d, desk_get(d, "/openapi.json"), 200);
    for (size_t i = 0; i < HOB_ARRAY_LEN(names); i++) {
        snprintf(wanted, sizeof wanted, "{\"name\":\"%s\",\"in\":\"header\"", names[i]);
        if (!strstr(hob_buf_z(&d->c.body), wanted)) fail_msg("%s is missing", names[i]);
    }
}

/* ---- codes -------------------------------------------------------------------------------------------------------- */

static void test_serve_words__a_stale_state_is_not_a_busy_session(void **state) {
    desk *d = *state;
    desk_session(d, "one");
    expect_words(d,
                 desk_call(d, "PATCH", "{'delta':{'a':1},'revision':7}", "/api/sessions/one/state"),
                 409, "stale", "look again");
    expect_words(d,
                 client_call_with(&d->c, "PATCH", "/api/sessions/one/state", "If-Match: \"7\"\r\n",
                                  "{'delta':{'a':1}}"),
                 412, "stale", "look again");
    desk_prompt(d, "one", "hang");
    expect_words(d, desk_post(d, "{'text':'hi'}", "/api/sessions/one/prompt"), 409, "busy",
                 "when_busy");
    expect_words(d, desk_post(d, "{'id':'one'}", "/api/sessions"), 409, "exists", "");
}

/* ---- who says no -------------------------------------------------------------------------------------------------- */

static void test_serve_words__a_mode_over_the_servers(void **state) {
    desk *d = *state;
    expect_words(d, desk_post(d, "{'permission_mode':'yolo'}", "/api/sessions"), 403, "forbidden",
                 "this server gives the permission mode accept-edits at most");
    expect_words(d, desk_post(d, "{'cwd':'/'}", "/api/sessions"), 403, "forbidden",
                 "added to the server's roots");
}

/* Only of its own folders the server says what is in them. */
static void test_serve_words__a_folder_that_is_not_there(void **state) {
    desk *d = *state;
    char body[PATH_MAX + 100];
    desk_session(d, "one");
    snprintf(body, sizeof body, "{'cwd':'%s/absent/deep'}", client_field(&d->c, "cwd"));
    expect_words(d, desk_post(d, body, "/api/sessions"), 404, "not_found", "there is no folder");
    expect_words(d, desk_post(d, "{'cwd':'/absent/deep'}", "/api/sessions"), 403, "forbidden",
                 "not beneath");
}

/* ---- bodies ------------------------------------------------------------------------------------------------------- */

static void test_serve_words__a_member_that_means_nothing_is_refused(void **state) {
    desk *d = *state;
    desk_session(d, "one");
    expect_words(d, desk_post(d, "{'txt':'hi'}", "/api/sessions/one/prompt"), 400, "unknown_member",
                 "perhaps text");
    expect_words(d, desk_post(d, "{'prompt':'hi'}", "/api/sessions/one/prompt"), 400,
                 "unknown_member", "there are text, content, when_busy, model");
    expect_words(d, desk_post(d, "{'text':''}", "/api/sessions/one/prompt"), 400, "bad_request",
                 "the text is empty");
}

static void test_serve_words__a_mode_over_the_tokens(void **state) {
    desk *d = *state;
    expect_words(d, desk_post(d, "{'permission_mode':'accept-edits'}", "/api/sessions"), 403,
                 "forbidden", "the token 'ann' may use the permission mode ask at most");
}

static void test_serve_words__limits_say_what_is_used_and_what_frees(void **state) {
    desk *d = *state;
    assert_status(d, desk_get(d, "/api/server"), 200);
    assert_field(d, "limits.per_minute.used", "1");
    assert_field(d, "limits.per_minute.limit", "100");
    assert_field(d, "limits.streams.limit", "1000");
    desk_session(d, "one");
    expect_words(d, desk_post(d, "{'id':'two'}", "/api/sessions"), 429, "limit", "/close");
    assert_status(d, desk_post(d, NULL, "/api/sessions/one/close"), 204);
    assert_status(d, desk_post(d, "{'id':'two'}", "/api/sessions"), 201);
}

/* ---- the same request again --------------------------------------------------------------------------------------- */

static int make(desk *d, const char *key, const char *body) {
    char header[100];
    snprintf(header, sizeof header, "Idempotency-Key: %s\r\n", key);
    return client_call_with(&d->c, "POST", "/api/sessions", header, body);
}

static bool replayed(desk *d) {
    return strstr(hob_buf_z(&d->c.head), "Idempotency-Replayed: true") != NULL;
}

static void make_twice(desk *d, const char *body) {
    char id[200];
    assert_status(d, make(d, "k1", body), 201);
    assert_false(replayed(d));
    snprintf(id, sizeof id, "%s", client_field(&d->c, "id"));
    assert_status(d, make(d, "k1", body), 201);
    assert_true(replayed(d));
    assert_field(d, "id", id);
    desk_stop(d);
    desk_start(d);
    d->c.token = d->tokens ? ANN : DESK_TOKEN;
    assert_status(d, make(d, "k1", body), 201);
    assert_true(replayed(d));
    assert_field(d, "id", id);
    assert_field(d, "title", "first");
    assert_status(d, desk_get(d, "/api/sessions"), 200);
    assert_field(d, "sessions.1.id", "");
}

static void test_serve_words__a_session_is_made_once_a_key(void **state) {
    desk *d = *state;
    make_twice(d, "{'title':'first'}");
    assert_status(d, make(d, "k1", "{'title':'second'}"), 422);
    assert_field(d, "error.code", "idempotency_key_reused");
    assert_status(d, make(d, "k2", "{'title':'first'}"), 201);
    assert_false(replayed(d));
}

static void test_serve_words__also_one_with_an_id_of_its_own(void **state) {
    desk *d = *state;
    make_twice(d, "{'id':'one','title':'first'}");
    assert_status(d, make(d, "k2", "{'id':'one','title':'first'}"), 409);
    assert_status(d, make(d, "k1", "{'id':'one'}"), 422);
    assert_status(d, desk_post(d, "{'id':'one','title':'first'}", "/api/sessions"), 409);
}

/* Its limit of one session is used up by the first: the second is not one more. */
static void test_serve_words__over_a_limit_the_answer_comes_again(void **state) {
    make_twice(*state, "{'id':'one','title':'first'}");
}

/* ---- names -------------------------------------------------------------------------------------------------------- */

static void test_serve_words__a_copy_has_a_name_of_its_own(void **state) {
    desk *d = *state;
    assert_status(d, desk_post(d, "{'id':'one','title':'first'}", "/api/sessions"), 201);
    desk_prompt(d, "one", "hi");
    desk_settle(d, "one");
    assert_status(d, desk_post(d, "{}", "/api/sessions/one/fork"), 201);
    assert_field(d, "title", "first (copy)");
    assert_status(d, desk_post(d, "{'title':'second'}", "/api/sessions/one/fork"), 201);
    assert_field(d, "title", "second");
}

static void test_serve_words__a_download_has_a_safe_name(void **state) {
    static const struct {
        const char *path, *name;
    } cases[] = {
        {"plan.txt", "filename=\"plan.txt\"; filename*=UTF-8''plan.txt\r\n"},
        {"plots%2Fone.png", "filename=\"one.png\"; filename*=UTF-8''one.png\r\n"},
        {"a%22b%3Bc", "filename=\"a_b_c\"; filename*=UTF-8''a%22b%3Bc\r\n"},
        {"%C3%BC.md", "filename=\"__.md\"; filename*=UTF-8''%C3%BC.md\r\n"},
    };
    desk *d = *state;
    char path[200];
    desk_session(d, "one");
    for (size_t i = 0; i < HOB_ARRAY_LEN(cases); i++) {
        snprintf(path, sizeof path, "/api/sessions/one/artifacts/%s", cases[i].path);
        assert_status(d, client_call_with(&d->c, "PUT", path, "Content-Type: text/plain\r\n", "x"),
                      201);
        assert_status(d, client_call(&d->c, "GET", path, NULL), 200);
        if (!strstr(hob_buf_z(&d->c.head), cases[i].name))
            fail_msg("%s: %s", cases[i].path, hob_buf_z(&d->c.head));
    }
}

int main(void) {
#define T(name) cmocka_unit_test_setup_teardown(test_serve_words__##name, setup, desk_teardown)
#define TOKENS(name)                                                                               \
    cmocka_unit_test_setup_teardown(test_serve_words__##name, setup_tokens, desk_teardown)
    const struct CMUnitTest tests[] = {
        T(a_parameter_that_means_nothing_is_refused),
        T(a_filter_takes_only_its_words),
        T(headers_that_count_are_in_the_document),
        T(a_stale_state_is_not_a_busy_session),
        T(a_mode_over_the_servers),
        T(a_folder_that_is_not_there),
        T(a_member_that_means_nothing_is_refused),
        TOKENS(a_mode_over_the_tokens),
        TOKENS(limits_say_what_is_used_and_what_frees),
        T(a_session_is_made_once_a_key),
        T(also_one_with_an_id_of_its_own),
        TOKENS(over_a_limit_the_answer_comes_again),
        T(a_copy_has_a_name_of_its_own),
        T(a_download_has_a_safe_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
