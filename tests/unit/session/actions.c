/* What tools ask for besides their answer, in a real session: state, temp:, the end of the run. */
#include "support/check.h"
#include "support/stateful.h"

#include <signal.h>
#include <stdio.h>

typedef struct fixture {
    host r;
    hob_tool tool;
    char script[4096];
} fixture;

/* `steps`: the model's answers, one array of blocks each; then it says the result. */
static void open_with(fixture *f, const char *steps) {
    snprintf(f->script, sizeof f->script, "{'rules':[%s,{'reply':[{'text':'{{result}}'}]}]}",
             steps);
    host_init(&f->r, f->script);
    stateful_tool(&f->r, &f->tool);
    f->r.ro.store = "sqlite";
    host_open(&f->r);
}

#define SET(args) "{'tool':'set','args':" args "}"
#define STEP(n, calls) "{'when':{'step':" #n "},'reply':[" calls "]}"

static void test_session_actions__case_41_later_calls_win(void **state) {
    fixture f;
    (void)state;
    open_with(&f, STEP(1, SET("{'delta':{'k':1,'a':1}}") "," SET("{'delta':{'k':2}}")) "," STEP(
                      2, SET("{'read':'k'}")));
    assert_string_equal(host_prompt(&f.r, "go"), "completed");
    assert_string_equal(host_text(&f.r), "2");
    assert_string_equal(stateful_event(&f.r, "state_changed", 0), "{\"delta\":{\"a\":1,\"k\":2}}");
    assert_string_equal(stateful_event(&f.r, "state_changed", 1), "");
    host_finish(&f.r);
}

static void test_session_actions__survive_a_restart(void **state) {
    fixture f;
    (void)state;
    open_with(&f, "{'when':{'user':'a','step':1},'reply':[" SET(
                      "{'delta':{'k':[1,2]}}") "]},"
                                               "{'when':{'user':'b','step':1},'reply':[" SET(
                                                   "{'read':'k'}") "]}");
    assert_string_equal(host_prompt(&f.r, "a"), "completed");
    host_reopen(&f.r, HOB_UNFINISHED_RESUME);
    assert_string_equal(host_prompt(&f.r, "b"), "completed");
    assert_string_equal(host_text(&f.r), "[1,2]");
    host_finish(&f.r);
}

static void test_session_actions__temp_is_seen_and_never_written(void **state) {
    fixture f;
    (void)state;
    open_with(&f, STEP(1, SET("{'delta':{'temp:t':'secret','k':1}}")) "," STEP(
                      2, SET("{'read':'temp:t'}")));
    assert_string_equal(host_prompt(&f.r, "go"), "completed");
    assert_string_equal(host_text(&f.r), "\"secret\"");
    assert_string_equal(stateful_event(&f.r, "state_changed", 0),
                        "{\"delta\":{\"k\":1},\"temp\":[\"temp:t\"],\"call\":\"m4.0\"}");
    assert_non_null(strstr(stateful_event(&f.r, "tool_finished", 0),
                           "\"actions\":{\"state_delta\":{\"k\":1},\"temp\":[\"temp:t\"]}"));
    host_finish(&f.r);
}

static void test_session_actions__temp_ends_with_the_run(void **state) {
    fixture f;
    (void)state;
    open_with(&f, "{'when':{'user':'a','step':1},'reply':[" SET(
                      "{'delta':{'temp:t':1}}") "]},"
                                                "{'when':{'user':'b','step':1},'reply':[" SET(
                                                    "{'read':'temp:t'}") "]}");
    assert_string_equal(host_prompt(&f.r, "a"), "completed");
    assert_string_equal(host_prompt(&f.r, "b"), "completed");
    assert_string_equal(host_text(&f.r), "absent");
    host_finish(&f.r);
}

static void test_session_actions__a_resumed_run_says_that_temp_is_lost(void **state) {
    fixture f;
    hob_tool tools[2];
    (void)state;
    snprintf(
        f.script, sizeof f.script,
        "{'rules':[" STEP(1, SET("{'delta':{'temp:t':1}}")) "," STEP(2, "{'tool':'wait','args':{}}") "," STEP(
            3, SET("{'read':'temp:t'}")) ",{'reply':[{'text':'{{result}}'}]}]}");
    host_init(&f.r, f.script);
    stateful_tool(&f.r, &tools[0]);
    f.r.ro.store = "sqlite";
    tools[1] = host_silent_tool("wait", HOB_TOOL_READ_ONLY);
    f.r.so.tools = tools;
    f.r.so.ntools = 2;
    host_run_and_kill(&f.r, "go", HOB_EVENT_TOOL_STARTED, "tool", "wait");
    tools[1] = host_tool("wait", HOB_TOOL_READ_ONLY, NULL);
    f.r.so.on_unfinished = HOB_UNFINISHED_RESUME;
    host_open(&f.r);
    assert_string_equal(host_wait(&f.r), "completed");
    assert_string_equal(host_text(&f.r), "absent");
    assert_non_null(strstr(stateful_event(&f.r, "warning", 0), "temp_lost"));
    assert_string_equal(stateful_event(&f.r, "warning", 1), "");
    host_finish(&f.r);
}

/* Killed as soon as the event is durable: the value that others share is, too. */
static void test_session_actions__case_22_killed_with_the_event(void **state) {
    fixture f;
    char got[8];
    (void)state;
    snprintf(
        f.script, sizeof f.script,
        "{'rules':[" STEP(1, SET("{'delta':{'k':1,'app:x':1}}")) ",{'reply':[{'text':'x'}]}]}");
    host_init(&f.r, f.script);
    stateful_tool(&f.r, &f.tool);
    f.r.ro.store = "sqlite";
    host_run_and_kill(&f.r, "go", HOB_EVENT_STATE_CHANGED, NULL, NULL);
    f.r.so.on_unfinished = HOB_UNFINISHED_SETTLE;
    host_open(&f.r);
    assert_int_equal(hob_session_state_get(f.r.s, hob_str_z("k"), got, sizeof got), 1);
    assert_int_equal(hob_session_state_get(f.r.s, hob_str_z("app:x"), got, sizeof got), 1);
    host_finish(&f.r);
}

static void test_session_actions__results_as_the_answer(void **state) {
    fixture f;
    (void)state;
    open_with(&f, STEP(1, "{'text':'let me see'}," SET("{'skip':true,'read':'a'}") "," SET(
                              "{'skip':true,'read':'b'}")));
    assert_string_equal(host_prompt(&f.r, "go"), "completed");
    assert_string_equal(host_text(&f.r), "absent\nabsent");
    assert_int_equal(host_count(&f.r, "model_call_started"), 1);
    assert_string_equal(host_prompt(&f.r, "again"), "completed"); /* the conversation is whole */
    host_finish(&f.r);
}

static void test_session_actions__case_19_a_bad_key_is_told_to_the_tool(void **state) {
    fixture f;
    (void)state;
    open_with(&f, STEP(1, SET("{'delta':{'a/b':1,'good':1}}")));
    assert_string_equal(host_prompt(&f.r, "go"), "completed");
    assert_string_equal(host_text(&f.r),
                        "the state key 'a/b' has a slash or backslash: choose another");
    assert_string_equal(stateful_event(&f.r, "state_changed", 0), "");
    host_finish(&f.r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_session_actions__case_41_later_calls_win),
        cmocka_unit_test(test_session_actions__survive_a_restart),
        cmocka_unit_test(test_session_actions__temp_is_seen_and_never_written),
        cmocka_unit_test(test_session_actions__temp_ends_with_the_run),
        cmocka_unit_test(test_session_actions__a_resumed_run_says_that_temp_is_lost),
        cmocka_unit_test(test_session_actions__case_22_killed_with_the_event),
        cmocka_unit_test(test_session_actions__results_as_the_answer),
        cmocka_unit_test(test_session_actions__case_19_a_bad_key_is_told_to_the_tool),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
