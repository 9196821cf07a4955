/* A disk that is full: case 33, REL-13 at the level a host sees. */
#include "support/check.h"
#include "support/host.h"

#include <stdio.h>

static void open_full(host *r, const char *script) {
    host_init(r, script);
    r->ro.store = "sqlite";
    host_open(r);
}

/* IMP-33 */
static void test_session_disk__full_is_an_error_and_nothing_is_lost(void **state) {
    host r;
    hob_page *info;
    char before[sizeof r.log];
    (void)state;
    open_full(&r, "{'otherwise':[{'text':'hello'}]}");
    assert_string_equal(host_prompt(&r, "one"), "completed");
    snprintf(before, sizeof before, "%s", host_log(&r));
    host_disk_full(true);
    for (int i = 0; i < 20;
         i++) { /* who is refused may ask at once: what was refused does not run */
        assert_int_equal(hob_session_prompt(r.s, hob_str_z("two"), &r.err), HOB_ESTORE);
        assert_int_equal(hob_session_is_running(r.s), 0);
    }
    assert_true(strlen(r.err.message) > 10);
    assert_ok(hob_session_info(r.s, &info, &r.err), r.err);
    assert_non_null(strstr(hob_page_row(info, 0).p, "\"running\":false"));
    hob_page_destroy(info);
    host_disk_full(false);
    assert_string_equal(host_log(&r), before); /* nothing half written, nothing lost */
    assert_string_equal(host_prompt(&r, "three"), "completed");
    assert_int_equal(host_count(&r, "user_message"), 2);
    assert_null(strstr(r.log, "\"two\""));
    host_finish(&r);
}

/* The disk fills up while a tool runs: the run ends with an error, and can be gone on with when there is room. */
static void test_session_disk__full_in_mid_run_ends_the_run(void **state) {
    host r;
    gate g;
    hob_event *e;
    int rc;
    (void)state;
    host_init(
        &r,
        "{'rules':[{'when':{'user':'go','step':1},'reply':[{'tool':'a','args':{}}]},{'reply':[{'text':'fine'}]}]}");
    gate_init(&g, "a", HOB_TOOL_READ_ONLY);
    r.so.tools = &g.tool;
    r.so.ntools = 1;
    r.ro.store = "sqlite";
    host_open(&r);
    assert_ok(hob_session_prompt(r.s, hob_str_z("go"), &r.err), r.err);
    gate_wait_started(&g, 1);
    hob_event_unref(host_until(&r, HOB_EVENT_TOOL_STARTED, NULL, NULL));
    host_disk_full(true);
    gate_answer(&g, "done");
    while ((rc = hob_session_next_event(r.s, 30000, &e)) == 1) hob_event_unref(e);
    assert_int_equal(rc, HOB_ESTORE);
    assert_string_equal(host_wait(&r), "failed");
    assert_int_equal(hob_result_code(r.result), HOB_ESTORE);
    host_disk_full(false);
    assert_string_equal(host_prompt(&r, "next"), "completed");
    assert_string_equal(host_text(&r), "fine");
    assert_non_null(strstr(host_log(&r), "tool_finished m4.0 a unknown"));
    assert_int_equal(host_count(&r, "run_finished"), 2);
    host_finish(&r);
    gate_finish(&g);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_session_disk__full_is_an_error_and_nothing_is_lost),
        cmocka_unit_test(test_session_disk__full_in_mid_run_ends_the_run),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
