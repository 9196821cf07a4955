/* ctest: labels=threads */
/* Sessions over the protocol: several at once, what is stored, and editors that go away. */
#include "support/check.h"
#include "support/editor.h"

#include <stdio.h>

static const char script[] =
    "{'defaults':{'usage':{'input_tokens':7,'output_tokens':3}},'rules':["
    "{'when':{'user':'write','step':1},'reply':[{'tool':'write','args':{'path':'a.txt','content':'one'}}]},"
    "{'when':{'user':'write'},'reply':[{'text':'done: {{result}}'}]},"
    "{'when':{'user':'give','step':1},'reply':[{'tool':'task','args':{'agent':'general','prompt':'write'}}]},"
    "{'when':{'user':'wait'},'reply':[{'text':'hm'},{'wait':true}]}],"
    "'otherwise':[{'text':'Hello {{user}}'}]}";

static int setup(void **state) {
    return hob_test_editor_setup(state, script);
}

static void assert_has(const char *text, const char *part) {
    if (!strstr(text, part)) fail_msg("%s\nis not in\n%s", part, text);
}

static void say(hob_test_editor *e, const char *session, const char *text) {
    char params[300];
    snprintf(params, sizeof params, "{'sessionId':'%s','prompt':[{'type':'text','text':'%s'}]}",
             session, text);
    hob_test_editor_call(e, "session/prompt", params);
}

#define WHERE "{'sessionId':'@S','cwd':'@D','mcpServers':[]}"

/* ---- several --------------------------------------------------------------------------------- */

static void test_acp_sessions__one_answers_while_another_waits(void **state) {
    hob_test_editor *e = hob_test_editor_ready(state);
    hob_test_editor_session(e);
    hob_test_editor_begin(e, "wait");
    hob_test_editor_until(e, "'text':'hm'");
    say(e, "@T", "you");
    const char *seen = hob_test_editor_seen(e);
    assert_has(seen, "'sessionId':'T','update':{'sessionUpdate':'agent_message_chunk','content':"
                     "{'type':'text','text':'Hello you'}");
    assert_null(strstr(seen, "{'id':77,"));
    hob_test_editor_stop(e);
}

static void test_acp_sessions__close_ends_the_turn_then_answers(void **state) {
    hob_test_editor *e = hob_test_editor_ready(state);
    hob_test_editor_begin(e, "wait");
    hob_test_editor_until(e, "'text':'hm'");
    hob_test_editor_call(e, "session/close", "{'sessionId':'@S'}");
    const char *seen = hob_test_editor_seen(e);
    assert_has(seen, "{'id':77,'result':{'stopReason':'cancelled'");
    assert_has(seen, "'result':{}}");
    say(e, "@S", "you");
    assert_has(hob_test_editor_seen(e), "'error':{'code':-32002,");
    hob_test_editor_stop(e);
}

static void test_acp_sessions__what_a_sub_agent_asks_is_asked_and_ends(void **state) {
    hob_test_editor *e = hob_test_editor_ready(state);
    say(e, "@S", "give");
    const char *seen = hob_test_editor_seen(e);
    const char *asked = strstr(seen, "'toolCall':{'toolCallId':'task-");
    if (!asked) fail_msg("nothing was asked: %s", seen);
    assert_has(asked, "/m4.0','status':'in_progress'}");
    assert_has(asked, "/m4.0','status':'completed'}");
    assert_str(hob_test_content(&e->h.folder, "a.txt"), "one");
    e->option = "reject";
    say(e, "@S", "give");
    assert_has(hob_test_editor_seen(e), "/m4.0','status':'failed'}");
    hob_test_editor_stop(e);
}

/* ---- what is stored --------------------------------------------------------------------------- */

static void test_acp_sessions__load_replays_what_was_said(void **state) {
    hob_test_editor *e = hob_test_editor_ready(state);
    say(e, "@S", "write");
    hob_test_editor_stop(e);
    hob_test_editor_start(e);
    hob_test_editor_call(e, "session/load", WHERE);
    const char *seen = hob_test_editor_seen(e), *at = seen;
    const char *const order[] = {
        "'user_message_chunk','content':{'type':'text','text':'write'}",
        "'tool_call','toolCallId':'m4.0'",
        "'tool_call_update','toolCallId':'m4.0','status':'completed'",
        "'agent_message_chunk','content':{'type':'text','text':'done: created a.txt (3 bytes)'}",
        "'result':{'modes':{'currentModeId':'ask'",
    };
    for (size_t i = 0; i < HOB_ARRAY_LEN(order); i++) {
        at = strstr(at, order[i]);
        if (!at) fail_msg("%s is not in its place in\n%s", order[i], seen);
    }
    hob_test_editor_stop(e);
}

static void test_acp_sessions__one_that_is_open_is_shown_once_more(void **state) {
    hob_test_editor *e = hob_test_editor_ready(state);
    say(e, "@S", "you");
    hob_test_editor_seen(e);
    hob_test_editor_call(e, "session/load", WHERE);
    assert_has(hob_test_editor_seen(e), "'user_message_chunk'");
    say(e, "@S", "me");
    assert_has(hob_test_editor_seen(e), "Hello me");
    hob_test_editor_stop(e);
}

static void test_acp_sessions__the_beginning_of_an_id_is_none(void **state) {
    hob_test_editor *e = hob_test_editor_ready(state);
    char params[200];
    say(e, "@S", "you");
    snprintf(params, sizeof params, "{'sessionId':'%.20s','cwd':'@D','mcpServers':[]}", e->ids[0]);
    hob_test_editor_call(e, "session/load", params);
    assert_has(hob_test_editor_seen(e), "'error':{'code':-32002,");
    hob_test_editor_stop(e);
}

static void test_acp_sessions__those_of_another_user_are_not_there(void **state) {
    hob_test_editor *e = hob_test_editor_ready(state);
    say(e, "@S", "you");
    hob_test_editor_stop(e);
    e->acp.user_id = "somebody";
    hob_test_editor_start(e);
    hob_test_editor_call(e, "session/list", "{}");
    assert_has(hob_test_editor_seen(e), "'result':{'sessions':[]}");
    hob_test_editor_call(e, "session/load", WHERE);
    assert_has(hob_test_editor_seen(e), "'error':{'code':-32002,");
    hob_test_editor_call(e, "session/delete", "{'sessionId':'@S'}");
    hob_test_editor_stop(e);
    e->acp.user_id = NULL;
    hob_test_editor_start(e);
    hob_test_editor_call(e, "session/list", "{}");
    assert_has(hob_test_editor_seen(e), "{'sessionId':'S','cwd':'D','title':'you',");
    hob_test_editor_stop(e);
}

/* ---- editors that go away --------------------------------------------------------------------- */

static void test_acp_sessions__a_question_is_asked_again_after_the_editor_was_gone(void **state) {
    hob_test_editor *e = hob_test_editor_ready(state);
    e->option = NULL;
    hob_test_editor_begin(e, "write");
    hob_test_editor_until(e, "session/request_permission");
    hob_test_editor_stop(e);
    e->option = "allow";
    hob_test_editor_start(e);
    hob_test_editor_call(e, "session/resume", WHERE);
    hob_test_editor_until(e, "session/request_permission");
    hob_test_editor_until(e, "'text':'done: created a.txt (3 bytes)'");
    hob_test_editor_stop(e);
    assert_str(hob_test_content(&e->h.folder, "a.txt"), "one");
}

static void test_acp_sessions__a_run_that_was_cut_off_is_settled_by_the_next_prompt(void **state) {
    hob_test_editor *e = hob_test_editor_ready(state);
    hob_test_editor_begin(e, "wait");
    hob_test_editor_until(e, "'text':'hm'");
    hob_test_editor_stop(e);
    e->offers = "{'session':{'notices':{}}}";
    hob_test_editor_start(e);
    hob_test_editor_call(e, "session/load", WHERE);
    hob_test_editor_until(e, "'sessionUpdate':'notice','severity':'info','title':'The last run");
    say(e, "@S", "you");
    assert_has(hob_test_editor_seen(e), "'stopReason':'end_turn'");
    hob_test_editor_stop(e);
}

/* ---- wrong use --------------------------------------------------------------------------------- */

static void test_acp_sessions__lines_that_are_no_messages_are_answered(void **state) {
    hob_test_editor *e = hob_test_editor_ready(state);
    hob_test_editor_send(e, "no JSON");
    hob_test_editor_until(e, "{'id':null,'error':{'code':-32700,");
    hob_test_editor_send(e, "[{'jsonrpc':'2.0','method':'x'}]");
    hob_test_editor_until(e, "{'id':null,'error':{'code':-32600,'message':'batches");
    hob_test_editor_send(e, "{'jsonrpc':'2.0','id':5,'result':{}}"); /* of nothing that was asked */
    hob_test_editor_send(e, "{'jsonrpc':'2.0','method':'_private/note'}");
    hob_test_editor_call(e, "_private/call", "{}");
    assert_has(hob_test_editor_seen(e), "'error':{'code':-32601,");
    hob_test_editor_stop(e);
    assert_int_equal(e->served, HOB_OK);
}

static void test_acp_sessions__initialize_comes_first(void **state) {
    hob_test_editor *e = *state;
    e->offers = NULL;
    hob_test_editor_start(e);
    hob_test_editor_call(e, "session/list", "{}");
    assert_has(hob_test_editor_seen(e),
               "'error':{'code':-32600,'message':'session/list: `initialize`");
    hob_test_editor_call(e, "initialize", "{'protocolVersion':99}");
    assert_has(hob_test_editor_seen(e), "'result':{'protocolVersion':1,");
    hob_test_editor_call(e, "initialize", "{}");
    assert_has(hob_test_editor_seen(e), "'error':{'code':-32602,");
    hob_test_editor_call(e, "session/new", "{'cwd':'here','mcpServers':[]}");
    assert_has(hob_test_editor_seen(e),
               "'error':{'code':-32602,'message':'`cwd` must be an absolute");
    hob_test_editor_call(e, "session/new", "{'cwd':'@D/none','mcpServers':[]}");
    assert_has(hob_test_editor_seen(e), "'error':{'code':-32002,");
    hob_test_editor_stop(e);
}

static void test_acp_sessions__tool_servers_are_told_about_in_the_first_turn(void **state) {
    hob_test_editor *e = *state;
    hob_test_editor_start(e);
    const hob_json *m = hob_test_editor_call(
        e, "session/new",
        "{'cwd':'@D','mcpServers':[{'name':'files','command':'x','args':[],'env':[]}]}");
    hob_str_out(hob_json_get_str(hob_json_get(m, "result"), "sessionId"), e->ids[0], 64);
    say(e, "@S", "you");
    assert_has(hob_test_editor_seen(e), "MCP servers are not available in this version of hob; not "
                                        "used: files*");
    say(e, "@S", "you");
    assert_null(strstr(hob_test_editor_seen(e), "MCP"));
    hob_test_editor_stop(e);
}

static void test_acp_sessions__a_runtime_with_a_thread_of_its_own_is_refused(void **state) {
    hob_test_editor *e = *state;
    hob_runtime_opts ro = HOB_RUNTIME_OPTS_INIT;
    hob_runtime *rt;
    assert_ok(hob_runtime_create(&ro, &rt, &e->h.err), e->h.err);
    assert_int_equal(hob_acp_serve(rt, &e->acp, &e->h.err), HOB_EINVAL);
    hob_runtime_destroy(rt);
}

#define TEST(name)                                                                                 \
    cmocka_unit_test_setup_teardown(test_acp_sessions__##name, setup, hob_test_editor_teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(one_answers_while_another_waits),
        TEST(close_ends_the_turn_then_answers),
        TEST(what_a_sub_agent_asks_is_asked_and_ends),
        TEST(load_replays_what_was_said),
        TEST(one_that_is_open_is_shown_once_more),
        TEST(the_beginning_of_an_id_is_none),
        TEST(those_of_another_user_are_not_there),
        TEST(a_question_is_asked_again_after_the_editor_was_gone),
        TEST(a_run_that_was_cut_off_is_settled_by_the_next_prompt),
        TEST(lines_that_are_no_messages_are_answered),
        TEST(initialize_comes_first),
        TEST(tool_servers_are_told_about_in_the_first_turn),
        TEST(a_runtime_with_a_thread_of_its_own_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
