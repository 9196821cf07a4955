/* What is in the log after everything went wrong: cases 17-19, 28, 29, 34, 45-48 of tests/cases.tsv. */
/* ctest: labels=snapshots */
#include "support/check.h"
#include "support/host.h"

#include <stdio.h>
#include <unistd.h>

static const char hello[] = "{'otherwise':[{'text':'hello there'}]}";

/* IMP-29 */
static void test_session_persist__a_killed_prompt_is_still_there(void **state) {
    host r;
    (void)state;
    host_init(&r, "{'rules':[{'when':{'turn':1},'reply':[{'text':'late','delay_ms':200}]}]}");
    r.ro.store = "sqlite";
    host_run_and_kill(&r, "remember me", HOB_EVENT_USER_MESSAGE, NULL, NULL);
    host_open(&r);
    assert_string_equal(host_wait(&r), "completed"); /* resumed */
    assert_string_equal(host_text(&r), "late");
    assert_string_equal(host_log(&r), "session_opened\n"
                                      "run_started prompt\n"
                                      "user_message \"remember me\"\n"
                                      "model_call_started\n"
                                      "run_finished interrupted\n"
                                      "run_started resume\n"
                                      "turn_discarded the program that was receiving it stopped\n"
                                      "model_call_started\n"
                                      "assistant_message done \"late\"\n"
                                      "run_finished completed\n"
                                      "settled completed\n");
    host_finish(&r);
}

/* IMP-46 */
static void test_session_persist__a_finished_sibling_is_kept(void **state) {
    host r;
    hob_tool tools[2];
    (void)state;
    host_init(
        &r,
        "{'rules':[{'when':{'step':1},'reply':[{'tool':'quick','args':{}},{'tool':'slow','args':{}}]},"
        "{'reply':[{'text':'done'}]}]}");
    r.ro.store = "sqlite";
    tools[0] = host_tool("quick", HOB_TOOL_READ_ONLY, NULL);
    tools[1] = host_silent_tool("slow", HOB_TOOL_READ_ONLY);
    r.so.tools = tools;
    r.so.ntools = 2;
    host_run_and_kill(&r, "go", HOB_EVENT_TOOL_FINISHED, "call", "m4.0");
    tools[1].run = tools[0].run;
    host_open(&r);
    assert_string_equal(host_wait(&r), "completed");
    assert_non_null(
        strstr(host_log(&r), "tool_started m4.1 slow true\ntool_finished m4.1 slow ok"));
    int finished = 0;
    for (const char *p = r.log; (p = strstr(p, "tool_finished m4.0")); p++) finished++;
    assert_int_equal(finished, 1); /* the sibling did not run again */
    host_finish(&r);
}

static void test_session_persist__an_unsafe_call_is_never_repeated(void **state) {
    host r;
    int ran = 0;
    hob_tool t = host_silent_tool("danger", HOB_TOOL_UNSAFE);
    (void)state;
    host_init(
        &r,
        "{'rules':[{'when':{'step':1},'reply':[{'tool':'danger','args':{}}]},{'reply':[{'text':'{{result}}'}]}]}");
    r.ro.store = "sqlite";
    r.so.permission_mode = "yolo";
    r.so.tools = &t;
    r.so.ntools = 1;
    host_run_and_kill(&r, "go", HOB_EVENT_TOOL_STARTED, NULL, NULL);
    t = host_tool("danger", HOB_TOOL_UNSAFE, &ran);
    host_open(&r);
    assert_string_equal(host_wait(&r), "completed");
    assert_int_equal(ran, 0);
    assert_non_null(
        strstr(host_text(&r), "unknown: the program stopped while this call was running"));
    host_finish(&r);
}

static void test_session_persist__settle_ends_what_was_left(void **state) {
    host r;
    hob_tool t = host_silent_tool("look", HOB_TOOL_READ_ONLY);
    (void)state;
    host_init(
        &r,
        "{'rules':[{'when':{'user':'go','step':1},'reply':[{'tool':'look','args':{}}]},{'reply':[{'text':'fine'}]}]}");
    r.ro.store = "sqlite";
    r.so.tools = &t;
    r.so.ntools = 1;
    host_run_and_kill(&r, "go", HOB_EVENT_TOOL_STARTED, NULL, NULL);
    r.so.on_unfinished = HOB_UNFINISHED_SETTLE;
    host_open(&r);
    assert_int_equal(hob_session_is_running(r.s), 0);
    assert_string_equal(host_prompt(&r, "next"), "completed");
    assert_non_null(strstr(host_log(&r), "cancel_requested settle\n"
                                         "tool_finished m4.0 look unknown"));
    assert_non_null(strstr(r.log, "run_finished interrupted"));
    host_finish(&r);
}

static void test_session_persist__leave_decides_later(void **state) {
    host r;
    (void)state;
    host_init(&r, "{'otherwise':[{'text':'late','delay_ms':200}]}");
    r.ro.store = "sqlite";
    host_run_and_kill(&r, "go", HOB_EVENT_USER_MESSAGE, NULL, NULL);
    r.so.on_unfinished = HOB_UNFINISHED_LEAVE;
    host_open(&r);
    assert_int_equal(host_count(&r, "run_finished"), 0);
    assert_ok(hob_session_resume(r.s, &r.err), r.err);
    assert_string_equal(host_wait(&r), "completed");
    assert_int_equal(hob_session_resume(r.s, &r.err), HOB_EIDLE);
    host_finish(&r);
}

/* IMP-34 */
static void test_session_persist__a_second_owner_is_refused_by_name(void **state) {
    host r;
    char id[64];
    hob_runtime *other;
    hob_session *s;
    hob_session_opts so;
    (void)state;
    host_init(&r, hello);
    r.ro.store = "sqlite";
    host_open(&r);
    host_prompt(&r, "hi");
    hob_session_id(r.s, id, sizeof id);
    assert_ok(hob_runtime_create(&r.ro, &other, &r.err), r.err);
    so = r.so;
    so.choice = HOB_SESSION_OPEN;
    so.id = id;
    assert_int_equal(hob_session_create(other, &so, &s, &r.err), HOB_EBUSY);
    char pid[32];
    snprintf(pid, sizeof pid, "%d", (int)getpid());
    assert_non_null(strstr(r.err.message, pid));
    host_close(&r);
    assert_ok(hob_session_create(other, &so, &s, &r.err), r.err); /* free now */
    hob_session_detach(s);
    hob_runtime_destroy(other);
    host_finish(&r);
}

/* IMP-28, TRAP-1 */
static void test_session_persist__the_order_is_causal(void **state) {
    host r;
    hob_tool t = host_tool("look", HOB_TOOL_READ_ONLY, NULL);
    (void)state;
    host_init(
        &r,
        "{'rules':[{'when':{'step':1},'reply':[{'tool':'look','args':{}}]},{'reply':[{'text':'fine'}]}]}");
    r.so.tools = &t;
    r.so.ntools = 1;
    host_open(&r);
    host_prompt(&r, "go");
    assert_string_equal(host_log(&r), "session_opened\n"
                                      "run_started prompt\n"
                                      "user_message \"go\"\n"
                                      "model_call_started\n"
                                      "assistant_message tools\n"
                                      "tool_decided m4.0 look allow\n"
                                      "tool_started m4.0 look\n"
                                      "tool_finished m4.0 look ok \"quick result\"\n"
                                      "model_call_started\n"
                                      "assistant_message done \"fine\"\n"
                                      "run_finished completed\n"
                                      "settled completed\n");
    host_finish(&r);
}

/* IMP-18, IMP-19 */
static void test_session_persist__set_model(void **state) {
    host r;
    char model[400], second[400];
    (void)state;
    host_init(&r, hello);
    r.ro.store = "sqlite";
    hob_test_file(&r.folder, "other.json", hob_str_z("{\"otherwise\":[{\"text\":\"other\"}]}"));
    host_open(&r);
    host_prompt(&r, "hi");
    assert_true(hob_session_set_model(r.s, "nosuch/model", &r.err) < 0);
    hob_session_model(r.s, model, sizeof model);
    assert_string_equal(model, r.model); /* the old one is intact */
    snprintf(second, sizeof second, "scripted:%s/other.json", r.dir);
    assert_ok(hob_session_set_model(r.s, second, &r.err), r.err);
    assert_string_equal(host_prompt(&r, "hi"), "completed");
    assert_string_equal(host_text(&r), "other");
    r.so.model = NULL; /* the session remembers */
    host_reopen(&r, HOB_UNFINISHED_RESUME);
    hob_session_model(r.s, model, sizeof model);
    assert_string_equal(model, second);
    host_finish(&r);
}

/* IMP-48 */
static void test_session_persist__entries_since_a_cursor(void **state) {
    host r;
    hob_page *p;
    (void)state;
    host_init(&r, hello);
    r.ro.store = "sqlite";
    host_open(&r);
    host_prompt(&r, "one");
    host_reopen(&r, HOB_UNFINISHED_RESUME);
    host_prompt(&r, "two");
    assert_ok(hob_session_entries(r.s, 7, &p, &r.err), r.err);
    assert_int_equal(hob_page_count(p), 6);
    assert_non_null(memmem(hob_page_row(p, 0).p, hob_page_row(p, 0).n, "\"seq\":8,", 8));
    hob_page_destroy(p);
    host_finish(&r);
}

static void test_session_persist__continue_finds_the_newest_here(void **state) {
    host r;
    char first[64], second[64], got[64];
    (void)state;
    host_init(&r, hello);
    r.ro.store = "sqlite";
    r.so.choice = HOB_SESSION_CONTINUE;
    assert_ok(hob_runtime_create(&r.ro, &r.rt, &r.err), r.err);
    assert_int_equal(hob_session_create(r.rt, &r.so, &r.s, &r.err), HOB_ENOENT);
    r.so.choice = HOB_SESSION_NEW;
    host_open(&r);
    host_prompt(&r, "one");
    hob_session_id(r.s, first, sizeof first);
    hob_session_detach(r.s);
    host_open(&r);
    host_prompt(&r, "two");
    hob_session_id(r.s, second, sizeof second);
    hob_session_detach(r.s);
    r.so.choice = HOB_SESSION_CONTINUE;
    host_open(&r);
    hob_session_id(r.s, got, sizeof got);
    assert_string_equal(got, second);
    host_finish(&r);
}

static void test_session_persist__a_fork_leaves_the_original_alone(void **state) {
    host r;
    char copy[64];
    hob_page *p;
    (void)state;
    host_init(&r, "{'otherwise':[{'text':'turn {{turn}}'}]}");
    r.ro.store = "sqlite";
    host_open(&r);
    host_prompt(&r, "one");
    r.so.flags = HOB_SESSION_FORK;
    host_reopen(&r, HOB_UNFINISHED_RESUME);
    hob_session_id(r.s, copy, sizeof copy);
    assert_string_not_equal(copy, r.id);
    assert_string_equal(host_prompt(&r, "two"), "completed");
    assert_string_equal(host_text(&r), "turn 2"); /* it knows the past */
    assert_ok(hob_runtime_events(r.rt, r.id, 0, 0, &p, &r.err), r.err);
    assert_int_equal(hob_page_count(p), 7);
    hob_page_destroy(p);
    host_finish(&r);
}

/* TRAP-5 */
static void test_session_persist__where_the_conversation_stands_is_written_down(void **state) {
    host r;
    (void)state;
    host_init(&r, "{'otherwise':[{'text':'turn {{turn}}'}]}");
    r.ro.store = "sqlite";
    host_open(&r);
    host_prompt(&r, "one");
    host_prompt(&r, "two");
    assert_string_equal(host_text(&r), "turn 2");
    assert_int_equal(hob_session_move(r.s, "e999", &r.err), HOB_ENOENT);
    assert_ok(hob_session_move(r.s, "e5", &r.err), r.err); /* the first answer */
    host_reopen(&r, HOB_UNFINISHED_RESUME);
    assert_string_equal(host_prompt(&r, "another two"), "completed");
    assert_string_equal(host_text(&r), "turn 2"); /* it goes on from there */
    host_finish(&r);
}

static void test_session_persist__an_unused_session_leaves_no_trace(void **state) {
    host r;
    hob_page *p;
    (void)state;
    host_init(&r, hello);
    r.ro.store = "sqlite";
    host_open(&r);
    hob_session_detach(r.s);
    r.s = NULL;
    assert_ok(hob_runtime_sessions(r.rt, NULL, &p, &r.err), r.err);
    assert_int_equal(hob_page_count(p), 0);
    hob_page_destroy(p);
    hob_runtime_destroy(r.rt);
    r.rt = NULL;
    host_open(&r);
    host_finish(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_session_persist__a_killed_prompt_is_still_there),
        cmocka_unit_test(test_session_persist__a_finished_sibling_is_kept),
        cmocka_unit_test(test_session_persist__an_unsafe_call_is_never_repeated),
        cmocka_unit_test(test_session_persist__settle_ends_what_was_left),
        cmocka_unit_test(test_session_persist__leave_decides_later),
        cmocka_unit_test(test_session_persist__a_second_owner_is_refused_by_name),
        cmocka_unit_test(test_session_persist__the_order_is_causal),
        cmocka_unit_test(test_session_persist__set_model),
        cmocka_unit_test(test_session_persist__entries_since_a_cursor),
        cmocka_unit_test(test_session_persist__continue_finds_the_newest_here),
        cmocka_unit_test(test_session_persist__a_fork_leaves_the_original_alone),
        cmocka_unit_test(test_session_persist__where_the_conversation_stands_is_written_down),
        cmocka_unit_test(test_session_persist__an_unused_session_leaves_no_trace),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
