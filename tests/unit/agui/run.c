/* Runs on the wire: how they start and end, and what the older dialect is spared. */
#include "support/agui.h"
#include "support/check.h"

#define Z(text) hob_str_z(text)
#define STARTED(run)                                                                               \
    "{\"type\":\"RUN_STARTED\",\"threadId\":\"t\",\"runId\":\"" run                                \
    "\",\"protocolVersion\":\"1.0\"}\n"
#define FINISHED(run) "{\"type\":\"RUN_FINISHED\",\"threadId\":\"t\",\"runId\":\"" run "\"}\n"

static test_wire wire;
static hob_error err;

static hob_agui_session *running(void) {
    hob_agui_session *s = test_wire_open(&wire, HOB_AGUI_AS_JSON);
    assert_ok(hob_agui_run_start_ids(s, Z("r1"), Z(""), &err), err);
    test_wire_expect(&wire, STARTED("r1"));
    return s;
}

static hob_agui_session *running_older(void) {
    hob_agui_session *s = test_wire_open(&wire, HOB_AGUI_AS_JSON);
    hob_agui_input *in = test_input("{\"threadId\":\"t\",\"runId\":\"r1\",\"messages\":[]}");
    assert_ok(hob_agui_run_start(s, in, &err), err);
    test_wire_expect(&wire, STARTED("r1"));
    hob_agui_input_destroy(in);
    return s;
}

static void test_agui_run__starts_and_finishes(void **state) {
    (void)state;
    hob_agui_session *s = running();
    assert_true(hob_agui_is_running(s));
    assert_str(hob_agui_run_id(s), "r1");
    assert_ok(hob_agui_run_finish(s, Z("{\"a\":\n1}"), &err), err);
    test_wire_expect(&wire, "{\"type\":\"RUN_FINISHED\",\"threadId\":\"t\",\"runId\":\"r1\","
                            "\"result\":{\"a\": 1}}\n");
    assert_false(hob_agui_is_running(s));
    assert_str(hob_agui_run_id(s), "");
    test_wire_close(&wire, s);
}

static void test_agui_run__a_second_start_is_busy(void **state) {
    (void)state;
    hob_agui_session *s = running();
    assert_int_equal(hob_agui_run_start_ids(s, Z("r2"), Z(""), &err), HOB_EBUSY);
    test_wire_silent(&wire);
    assert_str(hob_agui_run_id(s), "r1");
    test_wire_close(&wire, s);
}

static void test_agui_run__an_id_is_used_once(void **state) {
    (void)state;
    hob_agui_session *s = running();
    assert_ok(hob_agui_run_finish(s, Z(""), &err), err);
    test_wire_expect(&wire, FINISHED("r1"));
    assert_int_equal(hob_agui_run_start_ids(s, Z("r1"), Z(""), &err), HOB_EEXIST);
    test_wire_silent(&wire);
    assert_ok(hob_agui_run_start_ids(s, Z("r2"), Z("r1"), &err), err);
    test_wire_expect(&wire, "{\"type\":\"RUN_STARTED\",\"threadId\":\"t\",\"runId\":\"r2\","
                            "\"protocolVersion\":\"1.0\",\"parentRunId\":\"r1\"}\n");
    test_wire_close(&wire, s);
}

static void test_agui_run__an_input_names_thread_and_run(void **state) {
    (void)state;
    hob_agui_sink sink = {0};
    hob_agui_session *s = test_wire_open(&wire, HOB_AGUI_AS_JSON);
    hob_agui_input *in = test_input(
        "{\"threadId\":\"other\",\"runId\":\"r\",\"messages\":[],\"protocolVersion\":\"1.0\"}");
    assert_int_equal(hob_agui_run_start(s, in, &err), HOB_EINVAL); /* the session is of thread t */
    test_wire_silent(&wire);
    assert_int_equal(hob_agui_session_create(&sink, NULL, &err), HOB_EINVAL); /* no write */
    hob_agui_input_destroy(in);
    test_wire_close(&wire, s);
}

static int drop(hob_agui_kind kind, hob_str bytes, void *user) {
    (void)kind;
    (void)bytes;
    (void)user;
    return 0;
}

static void test_agui_run__a_session_without_a_name_takes_the_inputs(void **state) {
    (void)state;
    hob_agui_sink sink = {sizeof sink, HOB_AGUI_AS_JSON, drop, NULL, NULL};
    hob_agui_session *s;
    hob_agui_input *in = test_input("{\"threadId\":\"mine\",\"runId\":\"r\",\"messages\":[]}");
    assert_ok(hob_agui_session_create(&sink, &s, &err), err);
    assert_int_equal(hob_agui_thread_id(s).n, 36);
    assert_ok(hob_agui_run_start(s, in, &err), err);
    assert_str(hob_agui_thread_id(s), "mine");
    hob_agui_session_destroy(s);
    hob_agui_input_destroy(in);
}

static void test_agui_run__finish_without_a_run_does_nothing(void **state) {
    (void)state;
    hob_agui_session *s = test_wire_open(&wire, HOB_AGUI_AS_JSON);
    assert_int_equal(hob_agui_run_finish(s, Z(""), &err), 0);
    test_wire_silent(&wire);
    test_wire_close(&wire, s);
}

static void test_agui_run__finish_closes_what_is_open_newest_first(void **state) {
    (void)state;
    hob_agui_session *s = running();
    assert_ok(hob_agui_step_start(s, Z("plan"), NULL, &err), err);
    assert_ok(hob_agui_reasoning_start(s, Z("span"), NULL, &err), err);
    assert_ok(hob_agui_reasoning_message_start(s, Z("think"), NULL, &err), err);
    assert_ok(hob_agui_message_start(s, Z("m"), NULL, &err), err);
    assert_ok(hob_agui_tool_call_start(s, Z("c"), Z("read"), NULL, &err), err);
    assert_ok(hob_agui_subagent_start(s, Z("sub"), Z("helper"), NULL, &err), err);
    hob_buf_reset(&wire.lines);
    assert_ok(hob_agui_run_finish(s, Z("null"), &err), err);
    test_wire_expect(&wire,
                     "{\"type\":\"SUBAGENT_FINISHED\",\"subagentRunId\":\"sub\"}\n"
                     "{\"type\":\"TOOL_CALL_END\",\"toolCallId\":\"c\"}\n"
                     "{\"type\":\"TEXT_MESSAGE_END\",\"messageId\":\"m\"}\n"
                     "{\"type\":\"REASONING_MESSAGE_END\",\"messageId\":\"think\"}\n"
                     "{\"type\":\"REASONING_END\",\"messageId\":\"span\"}\n"
                     "{\"type\":\"STEP_FINISHED\",\"stepName\":\"plan\"}\n"
                     "{\"type\":\"RUN_FINISHED\",\"threadId\":\"t\",\"runId\":\"r1\",\"outcome\":"
                     "{\"type\":\"success\",\"pendingToolCallIds\":[\"c\"]}}\n");
    test_wire_close(&wire, s);
}

static void test_agui_run__pending_calls_are_those_without_a_result_in_order(void **state) {
    (void)state;
    hob_agui_session *s = running();
    const char *const ids[] = {"c1", "c2", "c3"};
    for (size_t i = 0; i < 3; i++) {
        assert_ok(hob_agui_tool_call_start(s, Z(ids[i]), Z("x"), NULL, &err), err);
        assert_ok(hob_agui_tool_call_end(s, Z(ids[i]), &err), err);
    }
    assert_ok(hob_agui_tool_call_result(s, Z("m1"), Z("c2"), Z("ok"), &err), err);
    hob_buf_reset(&wire.lines);
    assert_ok(hob_agui_run_finish(s, Z(""), &err), err);
    test_wire_expect(&wire,
                     "{\"type\":\"RUN_FINISHED\",\"threadId\":\"t\",\"runId\":\"r1\",\"outcome\":"
                     "{\"type\":\"success\",\"pendingToolCallIds\":[\"c1\",\"c3\"]}}\n");
    test_wire_close(&wire, s);
}

static void test_agui_run__older_clients_are_not_told_of_pending_calls(void **state) {
    (void)state;
    hob_agui_session *s = running_older();
    assert_ok(hob_agui_tool_call_start(s, Z("c"), Z("x"), NULL, &err), err);
    assert_ok(hob_agui_tool_call_end(s, Z("c"), &err), err);
    hob_buf_reset(&wire.lines);
    assert_ok(hob_agui_run_finish(s, Z(""), &err), err);
    test_wire_expect(&wire, FINISHED("r1"));
    test_wire_close(&wire, s);
}

static void test_agui_run__cancelled_closes_and_says_so(void **state) {
    (void)state;
    hob_agui_session *s = running();
    assert_ok(hob_agui_subagent_start(s, Z("sub"), Z("helper"), NULL, &err), err);
    assert_ok(hob_agui_message_start(s, Z("m"), NULL, &err), err);
    hob_buf_reset(&wire.lines);
    assert_ok(hob_agui_run_cancelled(s, &err), err);
    test_wire_expect(&wire, "{\"type\":\"TEXT_MESSAGE_END\",\"messageId\":\"m\"}\n"
                            "{\"type\":\"SUBAGENT_ERROR\",\"subagentRunId\":\"sub\","
                            "\"message\":\"cancelled\",\"code\":\"cancelled\"}\n"
                            "{\"type\":\"RUN_FINISHED\",\"threadId\":\"t\",\"runId\":\"r1\","
                            "\"outcome\":{\"type\":\"cancelled\"}}\n");
    test_wire_close(&wire, s);
}

static void test_agui_run__older_clients_get_an_error_for_cancelled(void **state) {
    (void)state;
    hob_agui_session *s = running_older();
    assert_ok(hob_agui_message_start(s, Z("m"), NULL, &err), err);
    hob_buf_reset(&wire.lines);
    assert_ok(hob_agui_run_cancelled(s, &err), err);
    test_wire_expect(&wire, "{\"type\":\"TEXT_MESSAGE_END\",\"messageId\":\"m\"}\n"
                            "{\"type\":\"RUN_ERROR\",\"message\":\"the run was cancelled\","
                            "\"code\":\"cancelled\"}\n");
    test_wire_close(&wire, s);
}

static void test_agui_run__an_error_abandons_what_is_open(void **state) {
    (void)state;
    hob_agui_session *s = running();
    assert_ok(hob_agui_message_start(s, Z("m"), NULL, &err), err);
    hob_buf_reset(&wire.lines);
    assert_ok(hob_agui_run_error_with_code(s, Z("no model"), Z("AUTH"), &err), err);
    test_wire_expect(&wire,
                     "{\"type\":\"RUN_ERROR\",\"message\":\"no model\",\"code\":\"AUTH\"}\n");
    assert_int_equal(hob_agui_run_error(s, Z("again"), &err), HOB_EIDLE);
    assert_int_equal(hob_agui_message_content(s, Z("m"), Z("x"), &err), HOB_EIDLE);
    test_wire_silent(&wire);
    assert_ok(hob_agui_run_start_ids(s, Z("r2"), Z(""), &err), err);
    assert_int_equal(hob_agui_message_content(s, Z("m"), Z("x"), &err), HOB_ENOENT);
    test_wire_close(&wire, s);
}

static void test_agui_run__an_error_may_come_first_and_once_after_the_end(void **state) {
    (void)state;
    hob_agui_session *s = test_wire_open(&wire, HOB_AGUI_AS_JSON);
    assert_ok(hob_agui_run_error(s, Z("not today"), &err), err);
    assert_int_equal(hob_agui_run_error(s, Z("not today"), &err), HOB_EIDLE);
    test_wire_expect(&wire, "{\"type\":\"RUN_ERROR\",\"message\":\"not today\"}\n");
    test_wire_close(&wire, s);
    s = running();
    assert_ok(hob_agui_run_finish(s, Z(""), &err), err);
    assert_ok(hob_agui_run_error(s, Z("late"), &err), err);
    assert_int_equal(hob_agui_run_error(s, Z("later"), &err), HOB_EIDLE);
    test_wire_expect(&wire, FINISHED("r1") "{\"type\":\"RUN_ERROR\",\"message\":\"late\"}\n");
    test_wire_close(&wire, s);
}

static void test_agui_run__usage_goes_out_with_the_end(void **state) {
    (void)state;
    hob_agui_session *s = running();
    assert_int_equal(hob_agui_run_usage(s, Z("[{\"inputTokens\":-1}]"), &err), HOB_EINVAL);
    assert_int_equal(hob_agui_run_usage(s, Z("[{\"tokens\":1}]"), &err), HOB_EINVAL);
    assert_int_equal(hob_agui_run_usage(s, Z("{}"), &err), HOB_EINVAL);
    assert_ok(hob_agui_run_usage(s, Z("[{\"model\":\"m\",\"inputTokens\":3}]"), &err), err);
    test_wire_silent(&wire);
    assert_ok(hob_agui_run_finish(s, Z(""), &err), err);
    test_wire_expect(&wire, "{\"type\":\"RUN_FINISHED\",\"threadId\":\"t\",\"runId\":\"r1\","
                            "\"usage\":[{\"model\":\"m\",\"inputTokens\":3}]}\n");
    test_wire_close(&wire, s);
}

/* ---- interrupts ------------------------------------------------------------------------------------------ */

static void test_agui_run__an_interrupt_has_id_and_reason(void **state) {
    (void)state;
    hob_agui_session *s = running();
    assert_ok(hob_agui_run_interrupt_with_id(s, Z("q1"), Z(""), Z("{\"to\":\"x\"}"), &err), err);
    test_wire_expect(&wire,
                     "{\"type\":\"RUN_FINISHED\",\"threadId\":\"t\",\"runId\":\"r1\",\"outcome\":"
                     "{\"type\":\"interrupt\",\"interrupts\":[{\"id\":\"q1\","
                     "\"reason\":\"confirmation\",\"metadata\":{\"to\":\"x\"}}]}}\n");
    assert_int_equal(hob_agui_run_interrupt_with_id(s, Z("q2"), Z(""), Z(""), &err), HOB_EIDLE);
    assert_ok(hob_agui_run_start_ids(s, Z("r2"), Z(""), &err), err);
    hob_buf_reset(&wire.lines);
    char id[37];
    assert_ok(hob_agui_run_interrupt(s, Z("hob:x"), Z("7"), id, &err), err);
    assert_true(hob_str_find(hob_buf_str(&wire.lines), Z(id)) > 0);
    assert_true(hob_str_find(hob_buf_str(&wire.lines), Z("\"metadata\":{\"payload\":7}")) > 0);
    test_wire_close(&wire, s);
}

static void test_agui_run__interrupts_are_checked_before_anything_is_sent(void **state) {
    (void)state;
    hob_agui_session *s = running();
    hob_agui_interrupt two[2] = {HOB_AGUI_INTERRUPT_INIT, HOB_AGUI_INTERRUPT_INIT};
    assert_ok(hob_agui_message_start(s, Z("m"), NULL, &err), err);
    hob_buf_reset(&wire.lines);
    two[0].id = two[1].id = Z("same");
    assert_int_equal(hob_agui_run_interrupt_all(s, two, 2, &err), HOB_EEXIST);
    two[1].id = Z("another");
    two[1].tool_call = Z("nothing");
    assert_int_equal(hob_agui_run_interrupt_all(s, two, 2, &err), HOB_ENOENT);
    two[1].tool_call = Z("");
    two[1].response_schema = Z("true");
    assert_int_equal(hob_agui_run_interrupt_all(s, two, 2, &err), HOB_EINVAL);
    assert_int_equal(hob_agui_run_interrupt_all(s, two, 0, &err), HOB_EINVAL);
    test_wire_silent(&wire);
    assert_true(hob_agui_is_running(s));
    test_wire_close(&wire, s);
}

static void test_agui_run__an_interrupt_suspends_sub_agents_and_keeps_calls(void **state) {
    (void)state;
    hob_agui_session *s = running();
    hob_agui_interrupt q = HOB_AGUI_INTERRUPT_INIT;
    assert_ok(hob_agui_subagent_start(s, Z("sub"), Z("helper"), NULL, &err), err);
    assert_ok(hob_agui_tool_call_start(s, Z("c"), Z("rm"), NULL, &err), err);
    hob_buf_reset(&wire.lines);
    q.id = Z("q");
    q.reason = Z("tool_call");
    q.tool_call = Z("c");
    assert_ok(hob_agui_run_interrupt_all(s, &q, 1, &err), err);
    test_wire_expect(&wire,
                     "{\"type\":\"TOOL_CALL_END\",\"toolCallId\":\"c\"}\n"
                     "{\"type\":\"SUBAGENT_FINISHED\",\"subagentRunId\":\"sub\","
                     "\"outcome\":{\"type\":\"suspended\"}}\n"
                     "{\"type\":\"RUN_FINISHED\",\"threadId\":\"t\",\"runId\":\"r1\",\"outcome\":"
                     "{\"type\":\"interrupt\",\"interrupts\":[{\"id\":\"q\","
                     "\"reason\":\"tool_call\",\"toolCallId\":\"c\"}]}}\n");
    /* The next run answers the call of this one. */
    assert_ok(hob_agui_run_start_ids(s, Z("r2"), Z(""), &err), err);
    assert_ok(hob_agui_tool_call_result(s, Z("m"), Z("c"), Z("done"), &err), err);
    test_wire_close(&wire, s);
}

/* ---- sinks ------------------------------------------------------------------------------------------------ */

static void test_agui_run__a_full_sink_changes_nothing_and_can_be_tried_again(void **state) {
    (void)state;
    hob_agui_session *s = running();
    assert_ok(hob_agui_message_start(s, Z("m"), NULL, &err), err);
    assert_ok(hob_agui_step_start(s, Z("p"), NULL, &err), err);
    hob_buf_reset(&wire.lines);
    wire.limited = true;
    assert_int_equal(hob_agui_message_content(s, Z("m"), Z("x"), &err), HOB_EAGAIN);
    assert_int_equal(hob_agui_message_start(s, Z("n"), NULL, &err), HOB_EAGAIN);
    wire.room = 1;
    assert_int_equal(hob_agui_run_finish(s, Z(""), &err), HOB_EAGAIN); /* the step was closed */
    assert_true(hob_agui_is_running(s));
    wire.room = 9;
    assert_ok(hob_agui_run_finish(s, Z(""), &err), err);
    test_wire_expect(&wire, "{\"type\":\"STEP_FINISHED\",\"stepName\":\"p\"}\n"
                            "{\"type\":\"TEXT_MESSAGE_END\",\"messageId\":\"m\"}\n" FINISHED("r1"));
    test_wire_close(&wire, s);
}

static void test_agui_run__a_session_counts_on_when_nobody_listens(void **state) {
    (void)state;
    hob_agui_session *s = running();
    assert_true(hob_agui_is_connected(s));
    wire.gone = true;
    assert_int_equal(hob_agui_message_start(s, Z("m"), NULL, &err), HOB_ECLOSED);
    assert_false(hob_agui_is_connected(s));
    assert_int_equal(hob_agui_message_start(s, Z("m"), NULL, &err), HOB_EEXIST);
    assert_int_equal(hob_agui_run_finish(s, Z(""), &err), HOB_ECLOSED);
    assert_false(hob_agui_is_running(s));
    test_wire_silent(&wire);
    test_wire_close(&wire, s);
}

static void test_agui_run__sse_is_one_data_line_and_lf(void **state) {
    (void)state;
    hob_agui_session *s = test_wire_open(&wire, HOB_AGUI_AS_SSE);
    hob_agui_set_time(s, 1700000000123);
    assert_ok(hob_agui_run_start_ids(s, Z("r"), Z(""), &err), err);
    assert_ok(hob_agui_custom(s, Z("x"), Z("{\r\n\"a\":\n[1]}"), NULL, &err), err);
    test_wire_expect(&wire, "data: {\"type\":\"RUN_STARTED\",\"timestamp\":1700000000123,"
                            "\"threadId\":\"t\",\"runId\":\"r\",\"protocolVersion\":\"1.0\"}\n\n\n"
                            "data: {\"type\":\"CUSTOM\",\"timestamp\":1700000000123,\"name\":\"x\","
                            "\"value\":{  \"a\": [1]}}\n\n\n");
    test_wire_close(&wire, s);
}

static void test_agui_run__protobuf_is_asked_for_by_name(void **state) {
    (void)state;
    static const struct {
        const char *accept;
        int yes;
    } rows[] = {
        {"text/event-stream", 0},
        {"*/*", 0},
        {"", 0},
        {"application/vnd.ag-ui.event+proto", 1},
        {"application/vnd.ag-ui.event+proto, text/event-stream", 1},
        {"text/event-stream;q=0.9, Application/Vnd.ag-ui.event+proto ; q=0.1", 1},
        {"application/vnd.ag-ui.event+proto;q=0", 0},
        {"application/vnd.ag-ui.event+proto;q=0.000, */*", 0},
    };
    for (size_t i = 0; i < HOB_ARRAY_LEN(rows); i++)
        assert_int_equal(hob_agui_accepts_proto(Z(rows[i].accept)), rows[i].yes);
    hob_agui_session *s = test_wire_open(&wire, HOB_AGUI_AS_PROTO);
    hob_agui_input *in = test_input("{\"threadId\":\"t\",\"runId\":\"r1\",\"messages\":[]}");
    assert_int_equal(hob_agui_run_start(s, in, &err), HOB_EINVAL); /* it is older than 1.0 */
    test_wire_silent(&wire);
    hob_agui_input_destroy(in);
    test_wire_close(&wire, s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_agui_run__starts_and_finishes),
        cmocka_unit_test(test_agui_run__a_second_start_is_busy),
        cmocka_unit_test(test_agui_run__an_id_is_used_once),
        cmocka_unit_test(test_agui_run__an_input_names_thread_and_run),
        cmocka_unit_test(test_agui_run__a_session_without_a_name_takes_the_inputs),
        cmocka_unit_test(test_agui_run__finish_without_a_run_does_nothing),
        cmocka_unit_test(test_agui_run__finish_closes_what_is_open_newest_first),
        cmocka_unit_test(test_agui_run__pending_calls_are_those_without_a_result_in_order),
        cmocka_unit_test(test_agui_run__older_clients_are_not_told_of_pending_calls),
        cmocka_unit_test(test_agui_run__cancelled_closes_and_says_so),
        cmocka_unit_test(test_agui_run__older_clients_get_an_error_for_cancelled),
        cmocka_unit_test(test_agui_run__an_error_abandons_what_is_open),
        cmocka_unit_test(test_agui_run__an_error_may_come_first_and_once_after_the_end),
        cmocka_unit_test(test_agui_run__usage_goes_out_with_the_end),
        cmocka_unit_test(test_agui_run__an_interrupt_has_id_and_reason),
        cmocka_unit_test(test_agui_run__interrupts_are_checked_before_anything_is_sent),
        cmocka_unit_test(test_agui_run__an_interrupt_suspends_sub_agents_and_keeps_calls),
        cmocka_unit_test(test_agui_run__a_full_sink_changes_nothing_and_can_be_tried_again),
        cmocka_unit_test(test_agui_run__a_session_counts_on_when_nobody_listens),
        cmocka_unit_test(test_agui_run__sse_is_one_data_line_and_lf),
        cmocka_unit_test(test_agui_run__protobuf_is_asked_for_by_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
