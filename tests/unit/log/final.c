/* Which events are somebody's last word: the truth table. */
#include "log/event.h"
#include "support/check.h"

static int is_final(hob_event_type type, const char *data) {
    hob_draft d;
    hob_event *e = NULL;
    hob_error err;
    hob_draft_init(&d, type);
    hob_buf_addz(&d.data, data);
    assert_ok(hob_event_encode(&d, HOB_STR("s"), 1, 1, &e, &err), err);
    hob_draft_finish(&d);
    int final = hob_event_is_final(e);
    hob_event_unref(e);
    return final;
}

static int answer(const char *data) {
    return is_final(HOB_EVENT_ASSISTANT_MESSAGE, data);
}

static int result(const char *data) {
    return is_final(HOB_EVENT_TOOL_FINISHED, data);
}

#define TEXT "{\"type\":\"text\",\"text\":\"x\"}"
#define CALL "{\"type\":\"tool_call\",\"call\":\"m1.0\",\"name\":\"t\",\"args\":{}}"

static void test_log_final__case_57_answers(void **state) {
    (void)state;
    assert_int_equal(answer("{\"stop\":\"done\",\"content\":[" TEXT "]}"), 1);
    assert_int_equal(answer("{\"stop\":\"done\",\"content\":[]}"), 1); /* without content, too */
    assert_int_equal(answer("{\"stop\":\"refusal\",\"content\":[" TEXT "]}"), 1);
    assert_int_equal(answer("{\"stop\":\"length\",\"content\":[" TEXT "]}"), 1);
    assert_int_equal(answer("{\"stop\":\"tools\",\"content\":[" CALL "]}"), 0);
    assert_int_equal(answer("{\"stop\":\"tools\",\"content\":[" TEXT "," CALL "]}"), 0);
    assert_int_equal(answer("{\"stop\":\"continue\",\"content\":[" TEXT "]}"), 0);
    assert_int_equal(answer("{\"stop\":\"aborted\",\"content\":[" TEXT "]}"), 0);
}

static void test_log_final__case_57_results(void **state) {
    (void)state;
    assert_int_equal(result("{\"outcome\":\"ok\",\"content\":[" TEXT "]}"), 0);
    assert_int_equal(result("{\"outcome\":\"ok\",\"content\":[" TEXT "],\"pending\":true}"), 1);
    assert_int_equal(result("{\"outcome\":\"ok\",\"content\":[],\"actions\":{"
                            "\"skip_summarization\":true}}"),
                     1);
    assert_int_equal(result("{\"outcome\":\"ok\",\"content\":[],\"actions\":{\"escalate\":true}}"),
                     0);
}

static void test_log_final__case_57_nothing_else_is(void **state) {
    (void)state;
    for (int t = HOB_EVENT_UNKNOWN + 1; t < HOB_EVENT_COUNT_; t++)
        if (t != HOB_EVENT_ASSISTANT_MESSAGE && t != HOB_EVENT_TOOL_FINISHED)
            assert_int_equal(
                is_final((hob_event_type)t, "{\"stop\":\"done\",\"pending\":true,\"content\":[]}"),
                0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_log_final__case_57_answers),
        cmocka_unit_test(test_log_final__case_57_results),
        cmocka_unit_test(test_log_final__case_57_nothing_else_is),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
