/* Questions over HTTP: listed with what is wanted, answered once, checked. */
#include "support/check.h"
#include "support/desk.h"

#include <stdio.h>
#include <string.h>

static const char script[] =
    "{'rules':[{'when':{'user':'ask','step':1},'reply':[{'tool':'ask_user','args':{'question':"
    "'Which colour?','schema':{'type':'object','properties':{'colour':{'enum':['red','blue']}},"
    "'required':['colour']}}}]},"
    "{'when':{'user':'give','step':1},'reply':[{'tool':'task','args':{'agent':'general','prompt':'ask'}}]}],"
    "'otherwise':[{'text':'told: {{result}}.'}]}";

static int setup(void **state) {
    return desk_setup(state, script);
}

/* The call as it stands in a path: the / of a sub-agent's is escaped. */
static void begin(desk *d, const char *prompt, char call[200]) {
    char id[160];
    desk_session(d, "one");
    desk_prompt(d, "one", prompt);
    tail *t = desk_tail(d, "one", 0, "");
    assert_true(tail_until(t, "approval_requested"));
    hob_json_field(tail_data(t), "data.call", id, sizeof id);
    tail_close(t);
    char *slash = strchr(id, '/');
    if (slash) *slash = 0;
    snprintf(call, 200, "%s%s%s", id, slash ? "%2F" : "", slash ? slash + 1 : "");
}

static int answer(desk *d, const char *call, const char *body) {
    return desk_post(d, body, "/api/sessions/one/approvals/%s", call);
}

static void test_serve_question__is_listed_with_what_is_wanted(void **state) {
    desk *d = *state;
    char call[200];
    begin(d, "ask", call);
    assert_status(d, desk_get(d, "/api/sessions/one/approvals"), 200);
    assert_field(d, "approvals.0.call", call);
    assert_field(d, "approvals.0.tool", "ask_user");
    assert_field(d, "approvals.0.question", "Which colour?");
    assert_field(d, "approvals.0.schema.properties.colour.enum.1", "blue");
}

static void test_serve_question__is_answered_once_with_what_fits(void **state) {
    desk *d = *state;
    char call[200];
    begin(d, "ask", call);
    assert_status(d, answer(d, call, "{'approved':true}"), 400);
    assert_true(strstr(client_field(&d->c, "error.message"), "a yes needs an answer with it"));
    assert_status(d, answer(d, call, "{'approved':true,'answer':{'colour':'pink'}}"), 400);
    assert_field(d, "error.code", "bad_request");
    assert_true(strstr(client_field(&d->c, "error.message"), "colour must be one of"));
    assert_status(d, answer(d, call, "{'approved':false,'answer':{'colour':'red'}}"), 400);
    assert_status(d, answer(d, call, "{'answer':{'colour':'red'}}"), 400);
    assert_status(d, answer(d, call, "{'approved':true,'answer':{'colour':'red'}}"), 204);
    assert_status(d, answer(d, call, "{'approved':true,'answer':{'colour':'blue'}}"), 409);
    assert_field(d, "error.code", "already_decided");
    desk_settle(d, "one");
    assert_status(d, desk_get(d, "/api/sessions/one/messages"), 200);
    assert_non_null(strstr(hob_buf_z(&d->c.body), "told: {\\\"colour\\\":\\\"red\\\"}."));
}

static void test_serve_question__is_declined_with_a_reason(void **state) {
    desk *d = *state;
    char call[200];
    begin(d, "ask", call);
    assert_status(d, answer(d, call, "{'approved':false,'reason':'not now'}"), 204);
    desk_settle(d, "one");
    assert_status(d, desk_get(d, "/api/sessions/one/messages"), 200);
    assert_non_null(strstr(hob_buf_z(&d->c.body), "told: the user did not answer: not now."));
}

static void test_serve_question__of_a_sub_agent_is_asked_at_the_root(void **state) {
    desk *d = *state;
    char call[200];
    begin(d, "give", call);
    assert_status(d, desk_get(d, "/api/sessions/one/approvals"), 200);
    assert_field(d, "approvals.0.agent", "general");
    assert_field(d, "approvals.0.question", "Which colour?");
    assert_status(d, answer(d, call, "{'approved':true,'answer':{'colour':'pink'}}"), 400);
    assert_status(d, answer(d, call, "{'approved':true,'answer':{'colour':'blue'}}"), 204);
    desk_settle(d, "one");
}

static void test_serve_question__survives_a_restart(void **state) {
    desk *d = *state;
    char call[200];
    begin(d, "ask", call);
    desk_stop(d);
    desk_start(d);
    assert_status(d, desk_get(d, "/api/sessions/one/approvals"), 200);
    assert_field(d, "approvals.0.question", "Which colour?");
    assert_status(d, answer(d, call, "{'approved':true,'answer':{'colour':'blue'}}"), 204);
    desk_settle(d, "one");
}

#define T(name) cmocka_unit_test_setup_teardown(test_serve_question__##name, setup, desk_teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        T(is_listed_with_what_is_wanted),
        T(is_answered_once_with_what_fits),
        T(is_declined_with_a_reason),
        T(of_a_sub_agent_is_asked_at_the_root),
        T(survives_a_restart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
