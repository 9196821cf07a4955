/* AG-UI over HTTP: runs, threads, interrupts, the client's tools, coming back. */
#include "support/check.h"
#include "support/desk.h"
#include "support/thread.h"

#include <stdio.h>
#include <string.h>

static const char script[] =
    "{'rules':[{'when':{'user':{'prefix':'write'},'step':1},'reply':[{'tool':'write','args':"
    "{'path':'a.txt','content':'b'}}]},"
    "{'when':{'user':'colour','step':1},'reply':[{'tool':'pick_colour','args':{'of':'sky'}}]},"
    "{'when':{'tool':'pick_colour'},'reply':[{'text':'it is {{result}}'}]},"
    "{'when':{'user':'slow'},'reply':[{'delay_ms':3000},{'text':'at last'}]},"
    "{'when':{'user':'hang'},'reply':[{'text':'so far'},{'wait':true}]}],"
    "'otherwise':[{'text':'hello there'}]}";

static int setup(void **state) {
    return desk_setup(state, script);
}

#define ANSWER "{'id':'m4-0','role':'assistant','content':'hello there'}"

/* ---- runs -------------------------------------------------------------------------------------------------------- */

static void test_serve_agui__a_run_is_a_stream_that_ends(void **state) {
    desk *d = *state;
    tail *t = begin(d, "/agui/default", input("t1", "r1", SAY("u1", "hi"), NULL));
    assert_string_equal(types(t), "RUN_STARTED STATE_SNAPSHOT TEXT_MESSAGE_START "
                                  "TEXT_MESSAGE_CONTENT TEXT_MESSAGE_END RUN_FINISHED ");
    assert_string_equal(field(t, "threadId"), "t1");
    assert_string_equal(field(t, "runId"), "r1");
    tail_close(t);
}

static void test_serve_agui__a_thread_goes_on(void **state) {
    desk *d = *state;
    tail *t = begin(d, "/agui/default", input("t1", "r1", SAY("u1", "hi"), NULL));
    types(t);
    tail_close(t);
    t = begin(d, "/agui/default",
              input("t1", "r2", SAY("u1", "hi") "," ANSWER "," SAY("u2", "again"), NULL));
    types(t);
    tail_close(t);
    t = begin(d, "/agui/default/connect", input("t1", "r3", "", NULL));
    assert_true(tail_next(t) && tail_next(t));
    assert_string_equal(field(t, "type"), "MESSAGES_SNAPSHOT");
    assert_string_equal(field(t, "messages.0.id"), "u1");
    assert_string_equal(field(t, "messages.2.id"), "u2");
    assert_string_equal(field(t, "messages.3.content"), "hello there");
    assert_string_equal(types(t), "STATE_SNAPSHOT RUN_FINISHED ");
    tail_close(t);
}

static void test_serve_agui__a_session_can_be_a_thread(void **state) {
    desk *d = *state;
    desk_session(d, "one");
    tail *t = begin(d, "/agui/default", input("one", "r1", SAY("u1", "hi"), NULL));
    types(t);
    tail_close(t);
    assert_int_equal(desk_get(d, "/api/sessions/one/messages"), 200);
    assert_string_equal(client_field(&d->c, "messages.1.data.content.0.text"), "hello there");
}

static void test_serve_agui__what_is_no_input_is_refused(void **state) {
    desk *d = *state;
    assert_int_equal(desk_post(d, "{}", "/agui/default"), 400);
    assert_int_equal(desk_post(d, "{'threadId':7}", "/agui/default"), 400);
    assert_int_equal(desk_post(d, input("t1", "r1", SAY("u1", "hi"), NULL), "/agui/nobody"), 404);
    assert_int_equal(desk_post(d, input("t1", "r1", "", NULL), "/agui/default/connect"), 404);
    assert_int_equal(desk_post(d, "{'threadId':'t1'}", "/agui/default/cancel"), 404);
    assert_int_equal(desk_post(d, "{}", "/agui/default/cancel"), 400);
    assert_int_equal(desk_get(d, "/agui/default/capabilities"), 200);
    assert_string_equal(client_field(&d->c, "transport.streaming"), "true");
    assert_int_equal(desk_get(d, "/agui/nobody/capabilities"), 404);
}

static void test_serve_agui__protobuf_for_those_who_ask(void **state) {
    desk *d = *state;
    int status =
        client_call_with(&d->c, "POST", "/agui/default",
                         "Accept: application/vnd.ag-ui.event+proto\r\nConnection: close\r\n",
                         input("t1", "r1", SAY("u1", "hi"), NULL));
    assert_int_equal(status, 200);
    assert_non_null(strstr(hob_buf_z(&d->c.head), "application/vnd.ag-ui.event+proto"));
}

/* ---- busy -------------------------------------------------------------------------------------------------------- */

static tail *begin_hanging(desk *d) {
    tail *t = begin(d, "/agui/default", input("t1", "r1", SAY("u1", "hang"), NULL));
    do assert_int_equal(tail_next(t), 1);
    while (strcmp(field(t, "type"), "TEXT_MESSAGE_CONTENT") != 0);
    return t;
}

static void test_serve_agui__a_second_run_is_refused_unless_it_may_interrupt(void **state) {
    desk *d = *state;
    tail *t = begin_hanging(d);
    const char *second = input("t1", "r2", SAY("u1", "hang") "," SAY("u2", "hi"), NULL);
    assert_int_equal(desk_post(d, second, "/agui/default"), 409);
    char body[4096];
    snprintf(body, sizeof body, "%s", second);
    char *props = strstr(body, "'forwardedProps':{}");
    char end[200];
    snprintf(end, sizeof end, "%s", props + strlen("'forwardedProps':{}"));
    snprintf(props, sizeof body - (size_t)(props - body),
             "'forwardedProps':{'when_busy':'interrupt'}%s", end);
    tail *u = begin(d, "/agui/default", body); /* its own run, and nothing of the other */
    assert_string_equal(types(u), "RUN_STARTED STATE_SNAPSHOT TEXT_MESSAGE_START "
                                  "TEXT_MESSAGE_CONTENT TEXT_MESSAGE_END RUN_FINISHED ");
    assert_string_equal(field(u, "outcome.type"), ""); /* all is well */
    tail_close(u);
    types(t);
    assert_string_equal(field(t, "outcome.type"), "cancelled");
    tail_close(t);
}

static void test_serve_agui__a_stopped_run_ends_cancelled(void **state) {
    desk *d = *state;
    tail *t = begin_hanging(d);
    assert_int_equal(desk_post(d, "{'threadId':'t1'}", "/agui/default/cancel"), 204);
    types(t);
    assert_string_equal(field(t, "type"), "RUN_FINISHED");
    assert_string_equal(field(t, "outcome.type"), "cancelled");
    tail_close(t);
}

/* ---- coming back ----------------------------------------------------------------------------------------------------- */

static void test_serve_agui__a_run_goes_on_without_its_client(void **state) {
    desk *d = *state;
    tail_close(begin_hanging(d));
    tail *t = begin(d, "/agui/default/connect", input("t1", "r2", "", NULL));
    char text[100] = "";
    while (strcmp(text, "so far") != 0) { /* what was said before comes again, once */
        assert_int_equal(tail_next(t), 1);
        if (!strcmp(field(t, "type"), "TEXT_MESSAGE_CONTENT")) strcat(text, field(t, "delta"));
    }
    assert_int_equal(desk_post(d, "{'threadId':'t1'}", "/agui/default/cancel"), 204);
    types(t);
    assert_string_equal(field(t, "outcome.type"), "cancelled");
    tail_close(t);
}

static void test_serve_agui__a_thread_survives_a_restart(void **state) {
    desk *d = *state;
    tail *t = begin_hanging(d);
    desk_stop(d);
    tail_close(t);
    desk_start(d);
    t = begin(d, "/agui/default/connect", input("t1", "r2", "", NULL));
    while (strcmp(field(t, "type"), "TEXT_MESSAGE_CONTENT") != 0) assert_int_equal(tail_next(t), 1);
    assert_int_equal(desk_post(d, "{'threadId':'t1'}", "/agui/default/cancel"), 204);
    types(t);
    assert_string_equal(field(t, "type"), "RUN_FINISHED");
    tail_close(t);
}

static void test_serve_agui__looking_on_opens_nothing(void **state) {
    desk *d = *state;
    desk_session(d, "one");
    desk_prompt(d, "one", "hi");
    desk_settle(d, "one");
    assert_int_equal(desk_post(d, NULL, "/api/sessions/one/close"), 204);
    tail *t = begin(d, "/agui/default/connect", input("one", "r1", "", NULL));
    assert_true(tail_next(t) && tail_next(t));
    assert_string_equal(field(t, "messages.1.content"), "hello there");
    assert_string_equal(types(t), "STATE_SNAPSHOT RUN_FINISHED ");
    tail_close(t);
    assert_int_equal(desk_get(d, "/api/sessions/one"), 200);
    assert_string_equal(client_field(&d->c, "live"), "null");
}

static void test_serve_agui__a_thread_id_is_enough_to_connect(void **state) {
    static const char *const wrong[] = {"{}",
                                        "{'threadId':7}",
                                        "{'threadId':''}",
                                        "[]",
                                        "{'threadId':'t1','messages':7}",
                                        "{'threadId':'t1','runId':7}"};
    desk *d = *state;
    tail *t = begin(d, "/agui/default", input("t1", "r1", SAY("u1", "hi"), NULL));
    types(t);
    tail_close(t);
    t = begin(d, "/agui/default/connect", " {'threadId':'t1' }\n");
    assert_true(tail_next(t));
    assert_string_equal(field(t, "threadId"), "t1");
    assert_int_equal(strlen(field(t, "runId")), 36);
    assert_true(tail_next(t));
    assert_string_equal(field(t, "messages.1.content"), "hello there");
    assert_string_equal(types(t), "STATE_SNAPSHOT RUN_FINISHED ");
    tail_close(t);
    for (size_t i = 0; i < HOB_ARRAY_LEN(wrong); i++)
        assert_int_equal(desk_post(d, wrong[i], "/agui/default/connect"), 400);
    assert_int_equal(desk_post(d, "{'threadId':'t1'}", "/agui/default"), 400);
}

/* ---- people and tools ------------------------------------------------------------------------------------------------- */

static void test_serve_agui__an_approval_is_an_interrupt_that_is_resumed(void **state) {
    desk *d = *state;
    char more[300], id[100], messages[1000];
    tail *t = begin(d, "/agui/default", input("t1", "r1", SAY("u1", "write it"), NULL));
    types(t);
    assert_string_equal(field(t, "outcome.type"), "interrupt");
    snprintf(id, sizeof id, "%s", field(t, "outcome.interrupts.0.id"));
    tail_close(t);
    snprintf(messages, sizeof messages,
             SAY("u1", "write it") ",{'id':'m4','role':'assistant','toolCalls':[{'id':'%s','type':"
                                   "'function','function':{'name':'write','arguments':'{}'}}]}",
             id);
    t = begin(d, "/agui/default", input("t1", "r2", messages, NULL));
    types(t); /* without an answer it asks again */
    assert_string_equal(field(t, "outcome.interrupts.0.id"), id);
    tail_close(t);
    snprintf(more, sizeof more,
             ",'tools':[],'resume':[{'interruptId':'%s','status':'resolved','payload':{'approved':"
             "true}}]",
             id);
    t = begin(d, "/agui/default", input("t1", "r3", messages, more));
    const char *all = types(t);
    if (!strstr(all, "TOOL_CALL_RESULT ")) fail_msg("%s %.*s", all, HOB_FMT(tail_data(t)));
    assert_string_equal(field(t, "type"), "RUN_FINISHED");
    assert_string_equal(field(t, "outcome.interrupts"), "");
    tail_close(t);
    assert_str(hob_test_content(&d->folder, "a.txt"), "b");
}

static void test_serve_agui__what_is_said_along_with_an_answer_is_heard(void **state) {
    desk *d = *state;
    char id[100], messages[1000], more[300];
    tail *t = begin(d, "/agui/default", input("t1", "r1", SAY("u1", "write it"), NULL));
    types(t);
    snprintf(id, sizeof id, "%s", field(t, "outcome.interrupts.0.id"));
    tail_close(t);
    snprintf(messages, sizeof messages,
             SAY("u1", "write it") ",{'id':'m4','role':'assistant','toolCalls':[{'id':'%s','type':"
                                   "'function','function':{'name':'write','arguments':'{}'}}]}"
                                   "," SAY("u2", "never mind"),
             id);
    snprintf(more, sizeof more,
             ",'tools':[],'resume':[{'interruptId':'%s','status':'resolved','payload':{'approved':"
             "false}}]",
             id);
    t = begin(d, "/agui/default", input("t1", "r2", messages, more));
    types(t);
    assert_string_equal(field(t, "type"), "RUN_FINISHED");
    tail_close(t);
    t = begin(d, "/agui/default/connect", input("t1", "r3", "", NULL));
    assert_true(tail_next(t) && tail_next(t));
    if (hob_str_find(tail_data(t), HOB_STR("never mind")) < 0)
        fail_msg("%.*s", HOB_FMT(tail_data(t)));
    tail_close(t);
}

static const char colour_tool[] =
    ",'tools':[{'name':'pick_colour','description':'asks','parameters':{'type':'object',"
    "'properties':{'of':{'type':'string'}}}}]";

/* A run that ends with a call of the client's tool; the messages of an input that answers it. */
static void ask_colour(desk *d, char *messages, size_t cap) {
    char call[100];
    tail *t = begin(d, "/agui/default", input("t1", "r1", SAY("u1", "colour"), colour_tool));
    const char *all = types(t);
    assert_non_null(strstr(all, "TOOL_CALL_START "));
    assert_null(strstr(all, "TOOL_CALL_RESULT "));
    assert_string_equal(field(t, "type"), "RUN_FINISHED");
    snprintf(call, sizeof call, "%s", field(t, "outcome.pendingToolCallIds.0"));
    tail_close(t);
    snprintf(messages, cap,
             SAY("u1", "colour") ",{'id':'m','role':'assistant','toolCalls':[{'id':'%s','type':"
                                 "'function','function':{'name':'pick_colour','arguments':'{}'}}]},"
                                 "{'id':'x','role':'tool','toolCallId':'%s','content':'blue'}",
             call, call);
}

static void test_serve_agui__a_tool_of_the_client_is_answered_in_the_next_input(void **state) {
    desk *d = *state;
    char messages[1000], text[100] = "";
    ask_colour(d, messages, sizeof messages);
    tail *t = begin(d, "/agui/default", input("t1", "r2", messages, colour_tool));
    while (tail_next(t))
        if (!strcmp(field(t, "type"), "TEXT_MESSAGE_CONTENT")) strcat(text, field(t, "delta"));
    assert_string_equal(text, "it is blue");
    tail_close(t);
}

/* The run would be over in three seconds: no worker waits for it. */
static void test_serve_agui__a_result_that_comes_during_a_run_is_refused(void **state) {
    desk *d = *state;
    char messages[1000];
    desk_session(d, "t1");
    ask_colour(d, messages, sizeof messages);
    desk_prompt(d, "t1", "slow");
    assert_int_equal(desk_post(d, input("t1", "r2", messages, colour_tool), "/agui/default"), 409);
    assert_string_equal(client_field(&d->c, "error.code"), "busy");
}

/* Nothing of the tools is lost then (a leak shows under ASan), and those before the refused one are there. */
static void test_serve_agui__a_tool_that_says_too_much_is_refused(void **state) {
    desk *d = *state;
    char messages[1000];
    hob_buf b;
    hob_buf_init(&b, 1 << 20);
    for (int before = 0; before < 2; before++) {
        hob_buf_reset(&b);
        hob_buf_addz(&b, "{'protocolVersion':'1.0','threadId':'t1','runId':'r0','messages':[" SAY(
                             "u0", "hi") "],'context':[],'state':{},'forwardedProps':{},'tools':[");
        if (before)
            hob_buf_addz(&b, "{'name':'pick_colour','description':'asks','parameters':{'type':"
                             "'object'}},");
        hob_buf_addz(&b, "{'name':'long','parameters':{'type':'object'},'description':'");
        for (int i = 0; i < 70000; i++) hob_buf_addc(&b, 'x');
        hob_buf_addz(&b, "'}]}");
        int status = desk_post(d, hob_buf_z(&b), "/agui/default");
        if (status != 400 && status != 413) fail_msg("%d", status);
    }
    hob_buf_finish(&b);
    ask_colour(d, messages, sizeof messages);
}

#define T(name) cmocka_unit_test_setup_teardown(test_serve_agui__##name, setup, desk_teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        T(a_run_is_a_stream_that_ends),
        T(a_thread_goes_on),
        T(a_session_can_be_a_thread),
        T(what_is_no_input_is_refused),
        T(protobuf_for_those_who_ask),
        T(a_second_run_is_refused_unless_it_may_interrupt),
        T(a_stopped_run_ends_cancelled),
        T(a_run_goes_on_without_its_client),
        T(a_thread_survives_a_restart),
        T(looking_on_opens_nothing),
        T(a_thread_id_is_enough_to_connect),
        T(an_approval_is_an_interrupt_that_is_resumed),
        T(what_is_said_along_with_an_answer_is_heard),
        T(a_tool_of_the_client_is_answered_in_the_next_input),
        T(a_result_that_comes_during_a_run_is_refused),
        T(a_tool_that_says_too_much_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
