/* ctest: labels=threads */
#include "support/check.h"
#include "support/editor.h"

#include <stdio.h>

static const char script[] =
    "{'defaults':{'usage':{'input_tokens':7,'output_tokens':3}},'rules':["
    "{'when':{'user':'write','step':1},'reply':[{'thinking':'hm'},{'text':'will do'},"
    "{'tool':'write','args':{'path':'a.txt','content':'one'}}]},"
    "{'when':{'user':'write'},'reply':[{'text':'done: {{result}}'}]},"
    "{'when':{'user':'long'},'reply':[{'text':'half'},{'stop':'length'}]},"
    "{'when':{'user':'refuse'},'reply':[{'text':'no'},{'stop':'refusal'}]},"
    "{'when':{'user':'fail'},'reply':[{'error':{'status':400,'message':'no way'}}]},"
    "{'when':{'user':'key'},'reply':[{'error':{'status':401,'message':'wrong key'}}]},"
    "{'when':{'user':'wait'},'reply':[{'text':'hm'},{'wait':true}]}],"
    "'otherwise':[{'text':'Hello {{user}}'}]}";

static int setup(void **state) {
    return hob_test_editor_setup(state, script);
}

static void say(hob_test_editor *e, const char *text) {
    char params[300];
    snprintf(params, sizeof params, "{'sessionId':'@S','prompt':[{'type':'text','text':'%s'}]}",
             text);
    hob_test_editor_call(e, "session/prompt", params);
}

#define UPDATE(kind)                                                                               \
    "{'method':'session/update','params':{'sessionId':'S','update':{'sessionUpdate':'" kind "',"

static void assert_has(const char *text, const char *part) {
    if (!strstr(text, part)) fail_msg("%s\nis not in\n%s", part, text);
}

/* ---- a turn ---------------------------------------------------------------------------------- */

static void test_acp_prompt__an_answer_streams_and_ends_the_turn(void **state) {
    hob_test_editor *e = hob_test_editor_ready(state);
    say(e, "you");
    assert_string_equal(
        hob_test_editor_seen(e),
        UPDATE("agent_message_chunk") "'content':{'type':'text','text':'Hello you'},"
                                      "'messageId':'m4'}}}\n" /* clang-format off */
        UPDATE("usage_update") "'used':10,'size':200000}}}\n"
        UPDATE("session_info_update") "'title':'you'}}}\n"
        "{'id':'q3','result':{'stopReason':'end_turn','usage':{'totalTokens':10,'inputTokens':7,"
        "'outputTokens':3,'cachedReadTokens':0,'cachedWriteTokens':0,'thoughtTokens':0}}}\n");
    /* clang-format on */
    hob_test_editor_stop(e);
    assert_int_equal(e->served, HOB_OK);
}

static void test_acp_prompt__a_tool_is_asked_for_and_shown(void **state) {
    hob_test_editor *e = hob_test_editor_ready(state);
    say(e, "write");
    const char *seen = hob_test_editor_seen(e);
    assert_has(seen, UPDATE("agent_thought_chunk") "'content':{'type':'text','text':'hm'},"
                                                   "'messageId':'m4'}}}\n");
    assert_has(seen,
               UPDATE("tool_call") "'toolCallId':'m4.0','status':'pending','title':'Write a.txt',"
                                   "'name':'write','kind':'edit','locations':[{'path':'D/a.txt'}],"
                                   "'rawInput':{'path':'a.txt','content':'one'}}}}\n");
    assert_has(seen, "{'id':1,'method':'session/request_permission','params':{"
                     "'sessionId':'S','toolCall':{'toolCallId':'m4.0',"
                     "'status':'pending','title':'Write a.txt','name':'write',"
                     "'kind':'edit','locations':[{'path':'D/a.txt'}],"
                     "'rawInput':{'path':'a.txt','content':'one'},'content':["
                     "{'type':'diff','path':'D/a.txt','oldText':null,"
                     "'newText':'one'}]},'options':["
                     "{'optionId':'allow','name':'Allow','kind':'allow_once'},"
                     "{'optionId':'reject','name':'Reject','kind':'reject_once'}"
                     "]}}\n");
    assert_has(seen, UPDATE("tool_call_update") "'toolCallId':'m4.0','status':'in_progress'}}}\n");
    assert_has(seen, UPDATE("tool_call_update") "'toolCallId':'m4.0','status':'completed',");
    assert_has(seen, "done: created a.txt (3 bytes)");
    assert_str(hob_test_content(&e->h.folder, "a.txt"), "one");
    hob_test_editor_stop(e);
}

static void test_acp_prompt__a_rejected_tool_is_not_run_and_the_turn_goes_on(void **state) {
    hob_test_editor *e = hob_test_editor_ready(state);
    e->option = "reject";
    say(e, "write");
    const char *seen = hob_test_editor_seen(e);
    assert_has(seen, UPDATE("tool_call_update") "'toolCallId':'m4.0','status':'failed',");
    assert_has(seen, "done: denied: the user said no");
    assert_has(seen, "'stopReason':'end_turn'");
    assert_str(hob_test_content(&e->h.folder, "a.txt"), "");
    hob_test_editor_stop(e);
}

/* ---- how it ends ------------------------------------------------------------------------------- */

static void test_acp_prompt__each_end_has_its_reason(void **state) {
    hob_test_editor *e = hob_test_editor_ready(state);
    say(e, "long");
    assert_has(hob_test_editor_seen(e), "{'stopReason':'max_tokens',");
    say(e, "refuse");
    assert_has(hob_test_editor_seen(e), "{'stopReason':'refusal',");
    hob_test_editor_stop(e);
}

static void test_acp_prompt__a_limit_is_a_reason_not_an_error(void **state) {
    hob_test_editor *e = *state;
    e->h.so.max_turns = 1;
    hob_test_editor_ready(state);
    say(e, "write");
    assert_has(hob_test_editor_seen(e), "{'stopReason':'max_turn_requests',");
    hob_test_editor_stop(e);
}

static void test_acp_prompt__a_failed_run_is_an_error(void **state) {
    hob_test_editor *e = hob_test_editor_ready(state);
    say(e, "fail");
    assert_has(hob_test_editor_seen(e),
               "'error':{'code':-32603,'message':'no way','data':{'code':'HOB_EREFUSED',"
               "'retryable':false}}}");
    say(e, "key");
    assert_has(hob_test_editor_seen(e), "'error':{'code':-32000,'message':");
    say(e, "you");
    assert_has(hob_test_editor_seen(e), "'stopReason':'end_turn'");
    hob_test_editor_stop(e);
}

/* ---- cancel ------------------------------------------------------------------------------------ */

static void begin_waiting(hob_test_editor *e, const char *id) {
    char line[300];
    snprintf(line, sizeof line,
             "{'jsonrpc':'2.0','id':%s,'method':'session/prompt','params':"
             "{'sessionId':'@S','prompt':[{'type':'text','text':'wait'}]}}",
             id);
    hob_test_editor_send(e, line);
    hob_test_editor_until(e, "'text':'hm'");
}

static void test_acp_prompt__cancel_ends_the_turn_as_cancelled(void **state) {
    hob_test_editor *e = hob_test_editor_ready(state);
    begin_waiting(e, "77");
    hob_test_editor_send(e,
                         "{'jsonrpc':'2.0','method':'session/cancel','params':{'sessionId':'@S'}}");
    hob_test_editor_until(e, "{'id':77,'result':{'stopReason':'cancelled',");
    say(e, "you");
    assert_has(hob_test_editor_seen(e), "'stopReason':'end_turn'");
    hob_test_editor_stop(e);
}

static void test_acp_prompt__a_request_can_be_taken_back_by_its_id(void **state) {
    hob_test_editor *e = hob_test_editor_ready(state);
    begin_waiting(e, "'p'");
    hob_test_editor_send(
        e, "{'jsonrpc':'2.0','method':'$/cancel_request','params':{'requestId':'p'}}");
    hob_test_editor_until(e, "{'id':'p','result':{'stopReason':'cancelled',");
    hob_test_editor_stop(e);
}

static void test_acp_prompt__a_second_prompt_is_refused(void **state) {
    hob_test_editor *e = hob_test_editor_ready(state);
    begin_waiting(e, "77");
    say(e, "you");
    assert_has(hob_test_editor_seen(e), "'error':{'code':-32600,'message':'a prompt is under way");
    hob_test_editor_stop(e);
}

static void test_acp_prompt__cancel_while_a_question_waits_ends_the_turn(void **state) {
    hob_test_editor *e = hob_test_editor_ready(state);
    e->option = NULL;
    hob_test_editor_send(e, "{'jsonrpc':'2.0','id':77,'method':'session/prompt','params':"
                            "{'sessionId':'@S','prompt':[{'type':'text','text':'write'}]}}");
    hob_test_editor_until(e, "session/request_permission");
    hob_test_editor_send(e,
                         "{'jsonrpc':'2.0','method':'session/cancel','params':{'sessionId':'@S'}}");
    hob_test_editor_send(e,
                         "{'jsonrpc':'2.0','id':1,'result':{'outcome':{'outcome':'cancelled'}}}");
    hob_test_editor_until(e, "{'id':77,'result':{'stopReason':'cancelled',");
    assert_str(hob_test_content(&e->h.folder, "a.txt"), "");
    hob_test_editor_stop(e);
}

/* ---- what is in a prompt ------------------------------------------------------------------------- */

static void test_acp_prompt__links_and_resources_become_text(void **state) {
    hob_test_editor *e = hob_test_editor_ready(state);
    hob_test_editor_call(
        e, "session/prompt",
        "{'sessionId':'@S','prompt':[{'type':'text','text':'look'},"
        "{'type':'resource_link','name':'a.c','uri':'file:///x/a.c'},"
        "{'type':'resource','resource':{'uri':'file:///x/b.c','text':'int b;'}}]}");
    assert_has(hob_test_editor_seen(e),
               "Hello look\\n[@a.c](file:///x/a.c)\\n"
               "<resource uri=\\'file:///x/b.c\\'>\\nint b;\\n</resource>");
    hob_test_editor_stop(e);
}

static void test_acp_prompt__what_cannot_be_put_in_is_refused(void **state) {
    hob_test_editor *e = hob_test_editor_ready(state);
    const char *const bad[] = {
        "{'sessionId':'@S','prompt':[]}",
        "{'sessionId':'@S','prompt':[{'type':'audio','data':'x','mimeType':'audio/wav'}]}",
        ("{'sessionId':'@S','prompt':[{'type':'resource','resource':"
         "{'uri':'u','blob':'x','mimeType':'application/zip'}}]}"),
        "{'sessionId':'@S','prompt':[{'type':'image','data':'x','mimeType':'text/html'}]}",
        "{'sessionId':'@S'}",
        "{'prompt':[{'type':'text','text':'hi'}]}",
    };
    for (size_t i = 0; i < HOB_ARRAY_LEN(bad); i++) {
        hob_test_editor_call(e, "session/prompt", bad[i]);
        assert_has(hob_test_editor_seen(e), "'error':{'code':-32602,");
    }
    hob_test_editor_stop(e);
}

#define TEST(name)                                                                                 \
    cmocka_unit_test_setup_teardown(test_acp_prompt__##name, setup, hob_test_editor_teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(an_answer_streams_and_ends_the_turn),
        TEST(a_tool_is_asked_for_and_shown),
        TEST(a_rejected_tool_is_not_run_and_the_turn_goes_on),
        TEST(each_end_has_its_reason),
        TEST(a_limit_is_a_reason_not_an_error),
        TEST(a_failed_run_is_an_error),
        TEST(cancel_ends_the_turn_as_cancelled),
        TEST(a_request_can_be_taken_back_by_its_id),
        TEST(a_second_prompt_is_refused),
        TEST(cancel_while_a_question_waits_ends_the_turn),
        TEST(links_and_resources_become_text),
        TEST(what_cannot_be_put_in_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
