/* A budget over HTTP: of each run of the session, whoever opens it, never more than the server and the token allow. */
#include "support/check.h"
#include "support/desk.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

static int setup(void **state) {
    return desk_setup(state, "{'otherwise':[{'tool':'read','args':{'path':'script.json'}}]}");
}

static void expect_limit(desk *d, const char *id, const char *reason) {
    desk_prompt(d, id, "go");
    desk_settle(d, id);
    assert_status(d, desk_get(d, "/api/sessions/%s/runs?limit=1", id), 200);
    assert_field(d, "runs.0.status", "limit");
    assert_field(d, "runs.0.reason", reason);
}

static void test_serve_budget__holds_for_every_run_and_after_a_restart(void **state) {
    desk *d = *state;
    assert_status(d, desk_post(d, "{'id':'one','budget':{'turns':2}}", "/api/sessions"), 201);
    assert_field(d, "live.limits.turns", "2");
    expect_limit(d, "one", "turns");
    expect_limit(d, "one", "turns");
    desk_stop(d);
    desk_start(d);
    expect_limit(d, "one", "turns");
}

static void test_serve_budget__a_copy_has_it_too(void **state) {
    desk *d = *state;
    assert_status(d, desk_post(d, "{'id':'one','budget':{'tool_calls':1}}", "/api/sessions"), 201);
    expect_limit(d, "one", "tool_calls");
    assert_status(d, desk_post(d, "{'id':'two'}", "/api/sessions/one/fork"), 201);
    expect_limit(d, "two", "tool_calls");
}

static void test_serve_budget__never_more_than_the_server_gives(void **state) {
    desk *d = *state;
    desk_stop(d);
    assert_ok(hob_config_set(d->config, "budget.turns", HOB_STR("3"), HOB_ORIGIN_FLAG, &d->err),
              d->err);
    desk_start(d);
    assert_status(d, desk_post(d, "{'id':'one','budget':{'turns':4}}", "/api/sessions"), 403);
    assert_non_null(strstr(client_field(&d->c, "error.message"), "budget.turns can be 3 at most"));
    assert_status(d, desk_post(d, "{'id':'one','budget':{'tokens':10}}", "/api/sessions"), 201);
    assert_field(d, "live.limits.turns", "3");
    assert_field(d, "live.limits.tokens", "10");
}

static void test_serve_budget__never_more_than_the_token_may_spend(void **state) {
    desk *d = *state;
    char path[200];
    desk_stop(d);
    hob_test_file(&d->folder, "tokens.json",
                  HOB_STR("{\"tokens\":[{\"name\":\"a\",\"token\":\"" DESK_TOKEN
                          "\",\"rights\":[\"read\",\"run\"],\"limits\":{\"tokens\":1000}}]}"));
    snprintf(path, sizeof path, "%s/tokens.json", d->folder.path);
    assert_int_equal(chmod(path, 0600), 0);
    d->so.token = NULL;
    d->so.token_file = path;
    desk_start(d);
    assert_status(d, desk_post(d, "{'budget':{'tokens':1001}}", "/api/sessions"), 403);
    assert_status(d, desk_post(d, "{'budget':{'tokens':1000}}", "/api/sessions"), 201);
}

static void test_serve_budget__what_is_no_budget(void **state) {
    static const char *const budgets[] = {"7",
                                          "{'turns':0}",
                                          "{'turns':1.5}",
                                          "{'turn':1}",
                                          "{'cost_usd':-1}",
                                          "{'tokens':'x'}",
                                          "{'tokens':1e99}",
                                          "{'seconds':null}"};
    desk *d = *state;
    char body[100];
    for (size_t i = 0; i < HOB_ARRAY_LEN(budgets); i++) {
        snprintf(body, sizeof body, "{'budget':%s}", budgets[i]);
        assert_status(d, desk_post(d, body, "/api/sessions"), 400);
    }
}

int main(void) {
#define T(name) cmocka_unit_test_setup_teardown(test_serve_budget__##name, setup, desk_teardown)
    const struct CMUnitTest tests[] = {
        T(holds_for_every_run_and_after_a_restart),
        T(a_copy_has_it_too),
        T(never_more_than_the_server_gives),
        T(never_more_than_the_token_may_spend),
        T(what_is_no_budget),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
