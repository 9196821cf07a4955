/* ctest: labels=threads */
/* What the editor may depend on: a call is told of before anything about it, a session stays what it was told to be. */
#include "support/check.h"
#include "support/editor.h"

#include <stdio.h>

static const char script[] =
    "{'defaults':{'usage':{'input_tokens':7,'output_tokens':3}},'rules':["
    "{'when':{'user':'read','step':1},'reply':[{'tool':'read','args':{'path':'a.txt'}}]},"
    "{'when':{'user':'run','step':1},'reply':[{'tool':'bash','args':{'command':'make'}}]},"
    "{'when':{'user':'write','step':1},'reply':[{'tool':'write','args':{'path':'a.txt','content':'one'}},"
    "{'tool':'read','args':{'path':'a.txt'}}]},"
    "{'when':{'user':'give','step':1},'reply':[{'tool':'task','args':{'agent':'general','prompt':'write'}}]}],"
    "'otherwise':[{'text':'<{{result}}>'}]}";

static int setup(void **state) {
    return hob_test_editor_setup(state, script);
}

static void say(hob_test_editor *e, const char *text) {
    char params[300];
    snprintf(params, sizeof params, "{'sessionId':'@S','prompt':[{'type':'text','text':'%s'}]}",
             text);
    hob_test_editor_call(e, "session/prompt", params);
}

static void again(hob_test_editor *e) {
    hob_test_editor_stop(e);
    hob_test_editor_start(e);
}

#define WHERE "{'sessionId':'@S','cwd':'@D','mcpServers':[]}"

/* Each of them comes after the one before it. */
static void assert_order(const char *seen, const char *const *parts, size_t n) {
    const char *at = seen;
    for (size_t i = 0; i < n; i++) {
        at = strstr(at, parts[i]);
        if (!at) fail_msg("%s does not come where it should in\n%s", parts[i], seen);
        at += strlen(parts[i]);
    }
}
#define ASSERT_ORDER(seen, ...)                                                                    \
    do {                                                                                           \
        const char *const parts_[] = {__VA_ARGS__};                                                \
        assert_order(seen, parts_, HOB_ARRAY_LEN(parts_));                                         \
    } while (0)

/* ---- calls ----------------------------------------------------------------------------------------- */

static void test_acp_order__a_file_is_asked_for_when_its_call_is_known(void **state) {
    hob_test_editor *e = *state;
    e->offers = "{'fs':{'readTextFile':true}}";
    hob_test_editor_ready(state);
    hob_test_editor_begin(e, "read");
    hob_test_editor_until(e, "'fs/read_text_file'");
    ASSERT_ORDER(hob_test_editor_seen(e), "'tool_call','toolCallId':'m4.0'",
                 "'toolCallId':'m4.0','status':'in_progress'", "'fs/read_text_file'");
    hob_test_editor_stop(e);
}

static void test_acp_order__a_terminal_is_made_when_its_call_is_known(void **state) {
    hob_test_editor *e = *state;
    e->offers = "{'terminal':true}";
    e->h.so.permission_mode = "yolo";
    hob_test_editor_ready(state);
    hob_test_editor_begin(e, "run");
    hob_test_editor_until(e, "'terminal/create'");
    ASSERT_ORDER(hob_test_editor_seen(e), "'tool_call','toolCallId':'m4.0'",
                 "'toolCallId':'m4.0','status':'in_progress'", "'terminal/create'");
    hob_test_editor_stop(e);
}

static void test_acp_order__a_call_of_a_sub_agent_is_told_of_first(void **state) {
    hob_test_editor *e = hob_test_editor_ready(state);
    say(e, "give");
    ASSERT_ORDER(hob_test_editor_seen(e), "'tool_call','toolCallId':'task-",
                 "'title':'Write a.txt','name':'write','kind':'edit'",
                 "'session/request_permission'", "/m4.0','status':'in_progress'}",
                 "/m4.0','status':'completed'}");
    hob_test_editor_stop(e);
}

/* Resuming shows nothing of before; what goes on is told of like anything new, also what follows the question. */
static void test_acp_order__a_call_of_before_is_told_of_when_it_goes_on(void **state) {
    hob_test_editor *e = *state;
    e->option = NULL;
    e->offers = "{'fs':{'readTextFile':true}}";
    hob_test_editor_ready(state);
    hob_test_editor_begin(e, "write");
    hob_test_editor_until(e, "'session/request_permission'");
    again(e);
    e->option = "allow";
    hob_test_editor_call(e, "session/resume", WHERE);
    hob_test_editor_until(e, "'fs/read_text_file'");
    ASSERT_ORDER(hob_test_editor_seen(e), "'tool_call','toolCallId':'m4.0'",
                 "'session/request_permission'", "'toolCallId':'m4.0','status':'completed'",
                 "'tool_call','toolCallId':'m4.1'", "'toolCallId':'m4.1','status':'in_progress'",
                 "'fs/read_text_file'");
    hob_test_editor_stop(e);
}

/* ---- a run that was paused elsewhere ------------------------------------------------------------------ */

static void pause_elsewhere(hob_test_editor *e) {
    hob_runtime_opts ro = e->h.ro;
    hob_session_opts so = e->h.so;
    hob_runtime *rt;
    hob_session *s;
    ro.loop = HOB_LOOP_OWN_THREAD;
    so.choice = HOB_SESSION_OPEN;
    so.id = e->ids[0];
    so.approver = HOB_APPROVER_HOST;
    assert_ok(hob_runtime_create(&ro, &rt, &e->h.err), e->h.err);
    assert_ok(hob_session_create(rt, &so, &s, &e->h.err), e->h.err);
    assert_ok(hob_session_pause(s, &e->h.err), e->h.err);
    hob_session_detach(s);
    hob_runtime_destroy(rt);
}

static void test_acp_order__the_next_prompt_goes_on_with_a_paused_run(void **state) {
    hob_test_editor *e = *state;
    e->option = NULL;
    e->offers = "{'session':{'notices':{}}}";
    hob_test_editor_ready(state);
    hob_test_editor_begin(e, "write");
    hob_test_editor_until(e, "'session/request_permission'");
    hob_test_editor_stop(e);
    pause_elsewhere(e);
    hob_test_editor_start(e);
    e->option = "allow";
    hob_test_editor_call(e, "session/resume", WHERE);
    hob_test_editor_until(e, "The last run is paused");
    say(e, "go on");
    const char *seen = hob_test_editor_seen(e);
    ASSERT_ORDER(seen, "'toolCallId':'m4.0','status':'completed'", "'stopReason':'end_turn'");
    assert_null(strstr(seen, "user_message_chunk"));
    assert_str(hob_test_content(&e->h.folder, "a.txt"), "one");
    hob_test_editor_stop(e);
}

/* ---- the mode ---------------------------------------------------------------------------------------- */

static void expect_mode(hob_test_editor *e, const char *method, const char *mode) {
    char text[60];
    hob_test_editor_call(e, method, WHERE);
    snprintf(text, sizeof text, "'currentModeId':'%s'", mode);
    ASSERT_ORDER(hob_test_editor_seen(e), text);
}

static void test_acp_order__a_session_keeps_its_mode(void **state) {
    hob_test_editor *e = hob_test_editor_ready(state);
    hob_test_editor_call(e, "session/set_mode", "{'sessionId':'@S','modeId':'yolo'}");
    say(e, "hi");
    again(e);
    expect_mode(e, "session/load", "yolo");
    again(e);
    expect_mode(e, "session/resume", "yolo");
    hob_test_editor_call(e, "session/set_mode", "{'sessionId':'@S','modeId':'plan'}");
    say(e, "hi");
    again(e);
    expect_mode(e, "session/resume", "plan");
    hob_test_editor_stop(e);
}

/* A mode that the program was started with is the most that a session of before can have. */
static void test_acp_order__a_mode_is_within_what_the_program_was_told(void **state) {
    hob_test_editor *e = hob_test_editor_ready(state);
    hob_test_editor_call(e, "session/set_mode", "{'sessionId':'@S','modeId':'yolo'}");
    say(e, "hi");
    e->h.so.permission_mode = "accept-edits";
    again(e);
    expect_mode(e, "session/resume", "accept-edits");
    hob_test_editor_stop(e);
}

/* ---- what cannot be a folder --------------------------------------------------------------------------- */

static void test_acp_order__a_folder_that_is_too_long_is_refused(void **state) {
    hob_test_editor *e = *state;
    size_t n = 1200 * 1024;
    char *params = hob_alloc(n + 100), *path = hob_alloc(n + 1);
    memset(path, 'a', n);
    path[0] = '/';
    path[n] = 0;
    hob_test_editor_start(e);
    snprintf(params, n + 100, "{'cwd':'%s','mcpServers':[]}", path);
    hob_test_editor_call(e, "session/new", params);
    ASSERT_ORDER(hob_test_editor_seen(e), "'code':-32602", "`cwd` is longer than any path");
    hob_test_editor_call(e, "session/list", params);
    ASSERT_ORDER(hob_test_editor_seen(e), "'code':-32602", "`cwd`");
    hob_free(path);
    hob_free(params);
    hob_test_editor_stop(e);
}

/* ---- titles and usage ------------------------------------------------------------------------------------- */

static void test_acp_order__a_session_is_called_what_it_was_named(void **state) {
    hob_test_editor *e = hob_test_editor_ready(state);
    say(e, "hi");
    ASSERT_ORDER(hob_test_editor_seen(e), "'session_info_update','title':'hi'",
                 "'stopReason':'end_turn'");
    say(e, "you");
    assert_null(strstr(hob_test_editor_seen(e), "session_info_update"));
    hob_test_editor_call(e, "session/set_title", "{'sessionId':'@S','title':' mine '}");
    ASSERT_ORDER(hob_test_editor_seen(e), "'result':{'title':'mine'}");
    again(e);
    hob_test_editor_call(e, "session/set_title", "{'sessionId':'@S','title':'stored'}");
    hob_test_editor_call(e, "session/list", "{}");
    ASSERT_ORDER(hob_test_editor_seen(e), "'result':{'title':'stored'}", "'title':'stored'");
    hob_test_editor_call(e, "session/set_title", "{'sessionId':'none','title':'x'}");
    ASSERT_ORDER(hob_test_editor_seen(e), "'code':-32002");
    hob_test_editor_call(e, "session/set_title", "{'sessionId':'@S'}");
    ASSERT_ORDER(hob_test_editor_seen(e), "'code':-32602");
    hob_test_editor_stop(e);
}

static void test_acp_order__a_loaded_session_says_how_full_it_is(void **state) {
    hob_test_editor *e = hob_test_editor_ready(state);
    say(e, "hi");
    again(e);
    hob_test_editor_call(e, "session/load", WHERE);
    ASSERT_ORDER(hob_test_editor_seen(e), "'agent_message_chunk'",
                 "'usage_update','used':10,'size':200000", "'currentModeId'");
    hob_test_editor_stop(e);
}

int main(void) {
#define T(name)                                                                                    \
    cmocka_unit_test_setup_teardown(test_acp_order__##name, setup, hob_test_editor_teardown)
    const struct CMUnitTest tests[] = {
        T(a_file_is_asked_for_when_its_call_is_known),
        T(a_terminal_is_made_when_its_call_is_known),
        T(a_call_of_a_sub_agent_is_told_of_first),
        T(a_call_of_before_is_told_of_when_it_goes_on),
        T(the_next_prompt_goes_on_with_a_paused_run),
        T(a_session_keeps_its_mode),
        T(a_mode_is_within_what_the_program_was_told),
        T(a_folder_that_is_too_long_is_refused),
        T(a_session_is_called_what_it_was_named),
        T(a_loaded_session_says_how_full_it_is),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
