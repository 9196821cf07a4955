/* ctest: labels=long */
/* Closing beside a tool that never answers: it takes the time that tools are given, and no longer. */
#include "support/check.h"
#include "support/host.h"

static void keep(const hob_tool_call *call, hob_reply *reply, void *user) {
    (void)call;
    *(hob_reply **)user = reply;
}

static void test_session_stubborn__closing_does_not_wait_for_ever(void **state) {
    host r;
    hob_reply *late = NULL;
    hob_tool t = host_silent_tool("a", HOB_TOOL_UNSAFE);
    (void)state;
    host_init(&r, "{'otherwise':[{'tool':'a','args':{}}]}");
    t.run = keep;
    t.user = &late;
    r.ro.store = "sqlite";
    r.so.permission_mode = "yolo";
    r.so.tools = &t;
    r.so.ntools = 1;
    host_open(&r);
    assert_ok(hob_session_prompt(r.s, hob_str_z("go"), &r.err), r.err);
    hob_event_unref(host_until(&r, HOB_EVENT_TOOL_STARTED, NULL, NULL));
    hob_session_id(r.s, r.id, sizeof r.id);
    hob_session_close(r.s);
    r.so.choice = HOB_SESSION_OPEN;
    r.so.id = r.id;
    host_open(&r);
    assert_non_null(strstr(host_log(&r), "tool_finished m4.0 a unknown"));
    assert_non_null(strstr(r.log, "run_finished cancelled the user stopped it\n"
                                  "settled cancelled\n"
                                  "session_closed\n"));
    hob_reply_text(late, HOB_OUTCOME_OK, hob_str_z("far too late"));
    host_finish(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_session_stubborn__closing_does_not_wait_for_ever),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
