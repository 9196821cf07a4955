/* Stopping one call that is at work: the run goes on with what it did, of the session itself and of a sub-agent. */
#include "support/check.h"
#include "support/desk.h"

#include <stdio.h>
#include <string.h>

static const char script[] =
    "{'rules':[{'when':{'user':'sleep','step':1},'reply':[{'tool':'bash','args':"
    "{'command':'echo begun; sleep 600'}}]},"
    "{'when':{'user':'sleep'},'reply':[{'text':'it said {{result}}'}]},"
    "{'when':{'user':'give','step':1},'reply':[{'tool':'task','args':"
    "{'agent':'general','prompt':'sleep'}}]},"
    "{'when':{'user':'give'},'reply':[{'text':'done: {{result}}'}]}],"
    "'otherwise':[{'text':'hello there'}]}";

static int setup(void **state) {
    return desk_setup(state, script);
}

/* The call that waits for an approval, as a path has it. */
static void take_call(desk *d, char *call, size_t cap) {
    assert_int_equal(desk_get(d, "/api/sessions/one/approvals"), 200);
    snprintf(call, cap, "%s", client_field(&d->c, "approvals.0.call"));
    char *slash = strchr(call, '/');
    if (!slash) return;
    memmove(slash + 3, slash + 1, strlen(slash));
    memcpy(slash, "%2F", 3);
}

/* Until the command itself speaks. */
static tail *begin(desk *d, const char *text, char *call, size_t cap) {
    desk_session(d, "one");
    desk_prompt(d, "one", text);
    tail *t = desk_tail(d, "one", 0, "");
    assert_true(tail_until(t, "approval_requested"));
    take_call(d, call, cap);
    assert_int_equal(desk_post(d, "{}", "/api/sessions/one/calls/%s/cancel", call), 404);
    assert_int_equal(desk_post(d, "{'approved':true}", "/api/sessions/one/approvals/%s", call),
                     204);
    return t;
}

static void test_serve_calls__one_is_stopped_and_the_run_goes_on(void **state) {
    desk *d = *state;
    char call[100], text[400];
    tail *t = begin(d, "sleep", call, sizeof call);
    assert_true(tail_until(t, "tool_output_delta"));
    assert_int_equal(desk_post(d, "{}", "/api/sessions/one/calls/%s/cancel", call), 204);
    assert_true(tail_until(t, "tool_finished"));
    hob_json_field(tail_data(t), "data.outcome", text, sizeof text);
    assert_string_equal(text, "cancelled");
    assert_true(tail_until(t, "assistant_message"));
    hob_json_field(tail_data(t), "data.content.0.text", text, sizeof text);
    assert_non_null(strstr(text, "it said begun"));
    assert_true(tail_until(t, "run_finished"));
    hob_json_field(tail_data(t), "data.status", text, sizeof text);
    assert_string_equal(text, "completed");
    assert_int_equal(desk_post(d, "{}", "/api/sessions/one/calls/%s/cancel", call), 404);
    assert_int_equal(desk_post(d, "{}", "/api/sessions/two/calls/%s/cancel", call), 404);
    tail_close(t);
}

/* The child's call takes a moment to begin after the answer: asked again until it has. */
static void test_serve_calls__of_a_sub_agent(void **state) {
    desk *d = *state;
    char call[200], text[400];
    int status = 404;
    tail *t = begin(d, "give", call, sizeof call);
    for (int i = 0; i < 10000 && status == 404; i++)
        status = desk_post(d, "{}", "/api/sessions/one/calls/%s/cancel", call);
    assert_int_equal(status, 204);
    assert_true(tail_until(t, "child_finished"));
    hob_json_field(tail_data(t), "data.status", text, sizeof text);
    assert_string_equal(text, "completed");
    assert_true(tail_until(t, "run_finished"));
    tail_close(t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_serve_calls__one_is_stopped_and_the_run_goes_on, setup,
                                        desk_teardown),
        cmocka_unit_test_setup_teardown(test_serve_calls__of_a_sub_agent, setup, desk_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
