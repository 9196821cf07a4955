/* Delegation: the task tool, what the parent's log says of its children, and what they may. */
#include "support/check.h"
#include "support/host.h"

#include <stdio.h>

/* A child is told what to do in its prompt; a parent answers with what came back. */
#define CHILD "'system':{'contains':'work as a sub-agent'}"
static const char plain[] =
    "{'rules':["
    "{'when':{" CHILD ",'user':'add'},'reply':[{'text':'the sum is 5'}]},"
    "{'when':{'step':1},'reply':[{'tool':'task','args':{'agent':'general','prompt':'add 2 and 3'}}]},"
    "{'reply':[{'text':'got: {{result}}'}]}]}";

static void test_session_task__a_child_answers_in_the_foreground(void **state) {
    host r;
    (void)state;
    host_init(&r, plain);
    host_open(&r);
    assert_string_equal(host_prompt(&r, "go"), "completed");
    const char *text = host_text(&r);
    assert_non_null(strstr(text, "got: sub-agent general (task-"));
    assert_non_null(strstr(text, "): completed, 1 turn\n"));
    assert_non_null(strstr(text, "\n> the sum is 5\n"));
    assert_int_equal(host_count(&r, "child_started"), 1);
    assert_int_equal(host_count(&r, "child_finished"), 1);
    const char *log = host_log(&r), *started = strstr(log, "child_started"),
               *ended = strstr(log, "child_finished"), *call = strstr(log, "tool_finished");
    assert_true(started && ended && call && started < ended && ended < call);
    host_finish(&r);
}

#define T(name) cmocka_unit_test(test_session_task__##name)
int main(void) {
    const struct CMUnitTest tests[] = {T(a_child_answers_in_the_foreground)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
