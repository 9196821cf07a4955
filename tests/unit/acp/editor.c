/* ctest: labels=threads */
/* Files and terminals of the editor, also of one that refuses, or says nothing sensible. */
#include "support/editor.h"
#include "support/check.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

static const char script[] =
    "{'rules':["
    "{'when':{'user':'read','step':1},'reply':[{'tool':'read','args':{'path':'a.txt'}}]},"
    "{'when':{'user':'write','step':1},'reply':[{'tool':'write','args':{'path':'a.txt','content':"
    "'new'}}]},"
    "{'when':{'user':'run','step':1},'reply':[{'tool':'bash','args':{'command':'make'}}]}],"
    "'otherwise':[{'text':'<{{result}}>'}]}";

static int setup(void **state) {
    int rc = hob_test_editor_setup(state, script);
    hob_test_editor *e = *state;
    hob_test_file(&e->h.folder, "a.txt", HOB_STR("disk\n"));
    e->offers = "{'fs':{'readTextFile':true,'writeTextFile':true},'terminal':true}";
    e->h.so.permission_mode = "yolo";
    return rc;
}

static void assert_has(const char *text, const char *part) {
    if (!strstr(text, part)) fail_msg("%s\nis not in\n%s", part, text);
}

static void begin(void **state, const char *text) {
    hob_test_editor_begin(hob_test_editor_ready(state), text);
}

/* Waits for this request and answers it. */
static void serve(hob_test_editor *e, const char *request, const char *answer) {
    char line[500];
    const hob_json *m = hob_test_editor_until(e, request);
    snprintf(line, sizeof line, "{'jsonrpc':'2.0','id':%.*s,%s}",
             HOB_FMT(hob_json_raw(hob_json_get(m, "id"))), answer);
    hob_test_editor_send(e, line);
}

#define ERROR "'error':{'code':-32603,'message':'not my file'}"

static const char *end(hob_test_editor *e) {
    hob_test_editor_until(e, "{'id':77,");
    const char *seen = hob_test_editor_seen(e);
    hob_test_editor_stop(e);
    return seen;
}

/* ---- files ------------------------------------------------------------------------------------- */

static void test_acp_editor__read_is_what_it_shows(void **state) {
    hob_test_editor *e = *state;
    begin(state, "read");
    serve(e, "'fs/read_text_file','params':{'sessionId':'S','path':'D/a.txt'}}",
          "'result':{'content':'buffer'}");
    assert_has(end(e), "'text':'<buffer>'");
}

static void test_acp_editor__read_that_it_refuses_is_the_disk(void **state) {
    begin(state, "read");
    serve(*state, "fs/read_text_file", ERROR);
    assert_has(end(*state), "<disk\\n\\n[this is what the disk has; the editor did not give its "
                            "view: not my file]>");
}

static void test_acp_editor__read_without_content_is_the_disk(void **state) {
    begin(state, "read");
    serve(*state, "fs/read_text_file", "'result':{}");
    assert_has(end(*state), "the editor did not give its view: its answer has no `content`");
}

static void test_acp_editor__write_shows_the_change_and_writes_there(void **state) {
    hob_test_editor *e = *state;
    begin(state, "write");
    serve(e, "'fs/write_text_file','params':{'sessionId':'S','path':'D/a.txt','content':'new'}}",
          "'result':{}");
    assert_has(end(e), "'status':'completed','content':[{'type':'diff','path':'D/a.txt','oldText':"
                       "'disk\\n','newText':'new'}]");
    assert_str(hob_test_content(&e->h.folder, "a.txt"), "disk\n");
}

static void test_acp_editor__write_that_it_refuses_is_a_failed_call(void **state) {
    begin(state, "write");
    serve(*state, "fs/write_text_file", ERROR);
    assert_has(end(*state), "<not written: the editor: not my file>");
}

/* ---- terminals ---------------------------------------------------------------------------------- */

static void test_acp_editor__a_command_goes_through_all_its_stages(void **state) {
    hob_test_editor *e = *state;
    begin(state, "run");
    serve(e, "'args':['-c','make'],'cwd':'D','outputByteLimit':65536}}",
          "'result':{'terminalId':'t'}");
    serve(e, "'terminal/wait_for_exit','params':{'sessionId':'S','terminalId':'t'}}",
          "'result':{'exitCode':null,'signal':'SIGTERM'}");
    serve(e, "'terminal/output'", "'result':{'output':'built','truncated':false}");
    serve(e, "'terminal/release'", "'result':{}");
    const char *seen = end(e);
    assert_has(seen, "'content':[{'type':'terminal','terminalId':'t'}]");
    assert_has(seen, "<built\\nexit code 143 (SIGTERM)>");
}

static void test_acp_editor__a_terminal_that_fails_is_released_all_the_same(void **state) {
    hob_test_editor *e = *state;
    begin(state, "run");
    serve(e, "'terminal/create'", "'result':{'terminalId':'t'}");
    serve(e, "'terminal/wait_for_exit'", "'error':{'code':-32603,'message':'lost it'}");
    serve(e, "'terminal/release'", "'result':{}");
    assert_has(end(e), "<not run: the editor: lost it>");
}

static void test_acp_editor__a_terminal_that_cannot_be_made_says_why(void **state) {
    begin(state, "run");
    serve(*state, "'terminal/create'", "'error':{'code':-32603,'message':'no terminals today'}");
    assert_has(end(*state), "<not run: the editor: no terminals today>");
}

static void test_acp_editor__cancel_kills_and_releases(void **state) {
    hob_test_editor *e = *state;
    begin(state, "run");
    serve(e, "'terminal/create'", "'result':{'terminalId':'t'}");
    const hob_json *waiting = hob_test_editor_until(e, "'terminal/wait_for_exit'");
    char line[200];
    hob_test_editor_send(e,
                         "{'jsonrpc':'2.0','method':'session/cancel','params':{'sessionId':'@S'}}");
    serve(e, "'terminal/kill'", "'result':{}");
    snprintf(line, sizeof line, "{'jsonrpc':'2.0','id':%.*s,'result':{'exitCode':137}}",
             HOB_FMT(hob_json_raw(hob_json_get(waiting, "id"))));
    hob_test_editor_send(e, line);
    serve(e, "'terminal/output'", "'result':{'output':'half','truncated':false}");
    hob_test_editor_until(e, "'terminal/release'");
    assert_has(end(e), "{'id':77,'result':{'stopReason':'cancelled'");
}

/* It goes away in the middle of its work: nothing waits for it. */
static void test_acp_editor__gone_in_the_middle(void **state) {
    static const char *const requests[] = {"write", "run", "read"};
    static const char *const calls[] = {"fs/write_text_file", "terminal/create",
                                        "fs/read_text_file"};
    for (size_t i = 0; i < HOB_ARRAY_LEN(requests); i++) {
        hob_test_editor *e = *state;
        e->ids[0][0] = 0;
        begin(state, requests[i]);
        hob_test_editor_until(e, calls[i]);
        hob_test_editor_stop(e);
        assert_int_equal(e->served, HOB_OK);
    }
}

/* It says no more, and reads later: far more waits for it than a pipe takes. */
static void test_acp_editor__who_says_no_more_gets_all_answers(void **state) {
    enum { REQUESTS = 2000 };
    hob_test_editor *e = *state;
    int answers = 0;
    hob_test_editor_start(e);
    for (int i = 0; i < REQUESTS; i++)
        hob_test_editor_send(e, "{'jsonrpc':'2.0','id':5000,'method':'x/unknown','params':{}}");
    close(e->to);
    e->to = open("/dev/null", O_WRONLY | O_CLOEXEC);
    while (hob_test_editor_next(e)) answers++;
    hob_test_editor_stop(e);
    assert_int_equal(answers, REQUESTS);
    assert_int_equal(e->served, HOB_OK);
}

/* ---- questions ----------------------------------------------------------------------------------- */

static void test_acp_editor__a_question_that_it_cannot_ask_is_a_no(void **state) {
    hob_test_editor *e = *state;
    e->h.so.permission_mode = "ask";
    e->option = NULL;
    begin(state, "run");
    serve(e, "session/request_permission", "'error':{'code':-32601,'message':'no such method'}");
    assert_has(end(e), "the editor could not ask the user: no such method");
}

#define TEST(name)                                                                                 \
    cmocka_unit_test_setup_teardown(test_acp_editor__##name, setup, hob_test_editor_teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(read_is_what_it_shows),
        TEST(read_that_it_refuses_is_the_disk),
        TEST(read_without_content_is_the_disk),
        TEST(write_shows_the_change_and_writes_there),
        TEST(write_that_it_refuses_is_a_failed_call),
        TEST(a_command_goes_through_all_its_stages),
        TEST(a_terminal_that_fails_is_released_all_the_same),
        TEST(a_terminal_that_cannot_be_made_says_why),
        TEST(cancel_kills_and_releases),
        TEST(gone_in_the_middle),
        TEST(who_says_no_more_gets_all_answers),
        TEST(a_question_that_it_cannot_ask_is_a_no),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
