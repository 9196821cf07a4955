/* Stopping: cases 10-14 of tests/cases.tsv. */
#include "support/check.h"
#include "support/host.h"
#include "support/process.h"

#include <stdio.h>
#include <unistd.h>

static void start(host *r, const char *script) {
    host_init(r, script);
    r->so.permission_mode = "yolo";
}

/* IMP-10 */
static void test_session_cancel__a_silent_stream_ends(void **state) {
    host r;
    (void)state;
    start(&r, "{'otherwise':[{'text':'so far'},{'wait':true}]}");
    host_open(&r);
    assert_ok(hob_session_prompt(r.s, hob_str_z("go"), &r.err), r.err);
    hob_event_unref(host_until(&r, HOB_EVENT_TEXT_DELTA, "text", "so far"));
    assert_ok(hob_session_cancel_and_settle(r.s, HOB_QUEUED_RETURN, 10000, &r.err), r.err);
    assert_string_equal(host_wait(&r), "cancelled");
    assert_string_equal(host_text(&r), "so far");
    assert_non_null(strstr(host_log(&r), "assistant_message aborted \"so far\"\n"
                                         "run_finished cancelled the user stopped it\n"
                                         "settled cancelled\n"));
    host_finish(&r);
}

static void test_session_cancel__before_the_first_token_leaves_a_mark_not_a_message(void **state) {
    host r;
    (void)state;
    start(&r, "{'otherwise':[{'wait':true}]}");
    host_open(&r);
    assert_ok(hob_session_prompt(r.s, hob_str_z("go"), &r.err), r.err);
    hob_event_unref(host_until(&r, HOB_EVENT_MODEL_CALL_STARTED, NULL, NULL));
    assert_ok(hob_session_cancel_and_settle(r.s, HOB_QUEUED_RETURN, 10000, &r.err), r.err);
    assert_int_equal(host_count(&r, "assistant_message"), 0);
    assert_non_null(
        strstr(host_log(&r), "model_call_failed HOB_ECANCELLED\nrun_finished cancelled"));
    host_finish(&r);
}

/* What was cut off is kept for people and not sent to the model again. */
static void test_session_cancel__the_partial_answer_is_not_sent_again(void **state) {
    host r;
    hob_page *p;
    (void)state;
    start(
        &r,
        "{'rules':[{'when':{'user':'go'},'reply':[{'text':'half'},{'wait':true}]},{'reply':[{'text':'whole'}]}]}");
    host_open(&r);
    assert_ok(hob_session_prompt(r.s, hob_str_z("go"), &r.err), r.err);
    hob_event_unref(host_until(&r, HOB_EVENT_TEXT_DELTA, NULL, NULL));
    assert_ok(hob_session_cancel_and_settle(r.s, HOB_QUEUED_RETURN, 10000, &r.err), r.err);
    assert_string_equal(host_prompt(&r, "next"), "completed");
    assert_ok(hob_session_history(r.s, &p, &r.err), r.err);
    assert_int_equal(hob_page_count(p), 3); /* go, next, whole */
    hob_page_destroy(p);
    host_finish(&r);
}

static const char two_calls[] =
    "{'rules':[{'when':{'step':1},'reply':[{'tool':'a','args':{}},{'tool':'a','args':{'n':2}}]},"
    "{'reply':[{'text':'done'}]}]}";

static void with_gate(host *r, gate *g) {
    gate_init(g, "a", HOB_TOOL_UNSAFE);
    g->tool.schema = "{\"type\":\"object\"}";
    r->so.tools = &g->tool;
    r->so.ntools = 1;
}

/* IMP-11 */
static void test_session_cancel__reaches_a_running_tool(void **state) {
    host r;
    gate g;
    (void)state;
    start(&r, two_calls);
    with_gate(&r, &g);
    host_open(&r);
    assert_ok(hob_session_prompt(r.s, hob_str_z("go"), &r.err), r.err);
    gate_wait_started(&g, 1);
    assert_ok(hob_session_cancel_and_settle(r.s, HOB_QUEUED_RETURN, 10000, &r.err), r.err);
    assert_int_equal(g.started, 1);
    assert_int_equal(g.cancelled, 1);
    assert_non_null(
        strstr(host_log(&r), "tool_finished m4.0 a cancelled \"stopped by the gate\"\n"));
    assert_non_null(
        strstr(host_log(&r), "tool_finished m4.1 a cancelled \"cancelled: the user stopped"));
    host_finish(&r);
    gate_finish(&g);
}

static void test_session_cancel__one_call_and_the_run_goes_on(void **state) {
    host r;
    gate g;
    (void)state;
    start(&r, two_calls);
    with_gate(&r, &g);
    host_open(&r);
    assert_ok(hob_session_prompt(r.s, hob_str_z("go"), &r.err), r.err);
    gate_wait_started(&g, 1);
    assert_int_equal(hob_session_cancel_call(r.s, HOB_STR("m4.1"), &r.err), HOB_ENOENT);
    assert_string_equal(r.err.message, "no call m4.1 is at work");
    assert_ok(hob_session_cancel_call(r.s, HOB_STR("m4.0"), &r.err), r.err);
    gate_wait_started(&g, 2);
    gate_answer(&g, "fine");
    assert_ok(hob_session_wait(r.s, 10000, NULL, &r.err), r.err);
    assert_int_equal(g.cancelled, 1);
    assert_non_null(
        strstr(host_log(&r), "tool_finished m4.0 a cancelled \"stopped by the gate\"\n"));
    assert_non_null(strstr(host_log(&r), "tool_finished m4.1 a ok"));
    assert_non_null(strstr(host_log(&r), "completed"));
    assert_int_equal(hob_session_cancel_call(r.s, HOB_STR("m4.0"), &r.err), HOB_ENOENT);
    host_finish(&r);
    gate_finish(&g);
}

/* IMP-12 */
static void test_session_cancel__queued_messages_come_back(void **state) {
    host r;
    gate g;
    hob_event *e;
    char text[100];
    (void)state;
    start(&r, two_calls);
    with_gate(&r, &g);
    host_open(&r);
    assert_ok(hob_session_prompt(r.s, hob_str_z("go"), &r.err), r.err);
    gate_wait_started(&g, 1);
    assert_ok(hob_session_follow_up(r.s, hob_str_z("later"), &r.err), r.err);
    assert_ok(hob_session_cancel_and_settle(r.s, HOB_QUEUED_RETURN, 10000, &r.err), r.err);
    e = host_until(&r, HOB_EVENT_QUEUE_RETURNED, NULL, NULL);
    assert_true(hob_event_field(e, "items.0.content.0.text", text, sizeof text) > 0);
    assert_string_equal(text, "later");
    hob_event_unref(e);
    assert_int_equal(host_count(&r, "follow_up_delivered"), 0);
    host_finish(&r);
    gate_finish(&g);
}

static void test_session_cancel__queued_messages_can_be_kept(void **state) {
    host r;
    gate g;
    (void)state;
    start(
        &r,
        "{'rules':[{'when':{'user':'go'},'reply':[{'tool':'a','args':{}}]},{'reply':[{'text':'re: {{user}}'}]}]}");
    with_gate(&r, &g);
    host_open(&r);
    assert_ok(hob_session_prompt(r.s, hob_str_z("go"), &r.err), r.err);
    gate_wait_started(&g, 1);
    assert_ok(hob_session_follow_up(r.s, hob_str_z("later"), &r.err), r.err);
    assert_ok(hob_session_cancel_and_settle(r.s, HOB_QUEUED_KEEP, 10000, &r.err), r.err);
    assert_int_equal(host_count(&r, "queue_returned"), 0);
    assert_string_equal(host_prompt(&r, "other"), "completed");
    assert_string_equal(host_text(&r), "re: later");
    host_finish(&r);
    gate_finish(&g);
}

static void stubborn(const hob_tool_call *call, hob_reply *reply, void *user) {
    (void)call;
    *(hob_reply **)user = reply;
}

/* IMP-13: a tool that never answers becomes unknown, and the session goes on. */
static void test_session_cancel__abort_leaves_the_session_usable(void **state) {
    host r;
    hob_reply *late = NULL;
    hob_tool t = HOB_TOOL_INIT;
    (void)state;
    start(
        &r,
        "{'rules':[{'when':{'user':'go'},'reply':[{'tool':'a','args':{}}]},{'reply':[{'text':'fine'}]}]}");
    t.name = "a";
    t.description = "never answers";
    t.run = stubborn;
    t.user = &late;
    r.so.tools = &t;
    r.so.ntools = 1;
    host_open(&r);
    assert_ok(hob_session_prompt(r.s, hob_str_z("go"), &r.err), r.err);
    hob_event_unref(host_until(&r, HOB_EVENT_TOOL_STARTED, NULL, NULL));
    assert_ok(hob_session_abort(r.s, &r.err), r.err);
    assert_non_null(strstr(host_log(&r), "tool_finished m4.0 a unknown"));
    assert_string_equal(host_prompt(&r, "next"), "completed");
    assert_string_equal(host_text(&r), "fine");
    hob_reply_text(late, HOB_OUTCOME_OK, hob_str_z("too late")); /* ignored, and safe */
    host_finish(&r);
}

/* IMP-14 */
static void test_session_cancel__twice_or_idle_is_no_error(void **state) {
    host r;
    gate g;
    (void)state;
    start(&r, two_calls);
    with_gate(&r, &g);
    host_open(&r);
    assert_ok(hob_session_cancel(r.s, HOB_QUEUED_RETURN, &r.err), r.err);
    assert_ok(hob_session_prompt(r.s, hob_str_z("go"), &r.err), r.err);
    gate_wait_started(&g, 1);
    assert_ok(hob_session_cancel(r.s, HOB_QUEUED_RETURN, &r.err), r.err);
    assert_ok(hob_session_cancel(r.s, HOB_QUEUED_RETURN, &r.err), r.err);
    assert_string_equal(host_wait(&r), "cancelled");
    assert_ok(hob_session_cancel(r.s, HOB_QUEUED_RETURN, &r.err), r.err);
    assert_ok(hob_session_abort(r.s, &r.err), r.err);
    assert_int_equal(host_count(&r, "cancel_requested"), 1);
    assert_int_equal(host_count(&r, "run_finished"), 1);
    host_finish(&r);
    gate_finish(&g);
}

/* IMP-11, TRAP-3: the whole process tree is gone, what it said so far is kept. */
static void test_session_cancel__kills_the_tree_of_a_command(void **state) {
    host r;
    char token[64], variable[96];
    const char *env[] = {variable, "PATH=/usr/bin:/bin", NULL};
    (void)state;
    snprintf(token, sizeof token, "hob-cancel-%d", (int)getpid());
    snprintf(variable, sizeof variable, "LC_HOB_MARK=%s", token);
    start(
        &r,
        "{'otherwise':[{'tool':'bash','args':{'command':'sleep 1000 & setsid sleep 1000 & echo begun; "
        "sleep 1000'}},{'tool':'bash','args':{'command':'echo never'}}]}");
    r.ro.envp = env;
    host_open(&r);
    assert_ok(hob_session_prompt(r.s, hob_str_z("go"), &r.err), r.err);
    hob_event_unref(host_until(&r, HOB_EVENT_TOOL_OUTPUT_DELTA, "text", "begun\n"));
    assert_true(hob_test_processes_with(token) >= 3);
    assert_ok(hob_session_cancel_and_settle(r.s, HOB_QUEUED_RETURN, 20000, &r.err), r.err);
    assert_int_equal(hob_test_processes_with(token), 0);
    assert_non_null(strstr(host_log(&r), "tool_finished m4.0 bash cancelled \"begun"));
    assert_non_null(strstr(r.log, "tool_finished m4.1 bash cancelled"));
    assert_int_equal(host_count(&r, "tool_started"), 1);
    host_finish(&r);
}

static void test_session_cancel__close_cancels_and_says_goodbye(void **state) {
    host r;
    gate g;
    char id[64];
    (void)state;
    start(&r, two_calls);
    with_gate(&r, &g);
    r.ro.store = "sqlite";
    host_open(&r);
    hob_session_id(r.s, id, sizeof id);
    assert_ok(hob_session_prompt(r.s, hob_str_z("go"), &r.err), r.err);
    gate_wait_started(&g, 1);
    hob_session_close(r.s);
    r.s = NULL;
    r.so.choice = HOB_SESSION_OPEN;
    r.so.id = id;
    host_open(&r);
    assert_non_null(strstr(host_log(&r), "settled cancelled\nsession_closed\n"));
    assert_int_equal(hob_session_is_running(r.s), 0);
    host_finish(&r);
    gate_finish(&g);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_session_cancel__a_silent_stream_ends),
        cmocka_unit_test(test_session_cancel__before_the_first_token_leaves_a_mark_not_a_message),
        cmocka_unit_test(test_session_cancel__the_partial_answer_is_not_sent_again),
        cmocka_unit_test(test_session_cancel__reaches_a_running_tool),
        cmocka_unit_test(test_session_cancel__one_call_and_the_run_goes_on),
        cmocka_unit_test(test_session_cancel__queued_messages_come_back),
        cmocka_unit_test(test_session_cancel__queued_messages_can_be_kept),
        cmocka_unit_test(test_session_cancel__abort_leaves_the_session_usable),
        cmocka_unit_test(test_session_cancel__twice_or_idle_is_no_error),
        cmocka_unit_test(test_session_cancel__kills_the_tree_of_a_command),
        cmocka_unit_test(test_session_cancel__close_cancels_and_says_goodbye),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
