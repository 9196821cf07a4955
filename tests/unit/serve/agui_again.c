/* AG-UI over HTTP: inputs that come again, clients that are behind or gone. Nothing is done twice, and nothing is missed. */
#include "support/thread.h"

#include <stdlib.h>

static const char script[] =
    "{'rules':[{'when':{'user':'write','step':1},'reply':[{'tool':'write','args':{'path':'a.txt',"
    "'content':'b'}}]},"
    "{'when':{'user':'hang'},'reply':[{'text':'so far'},{'wait':true}]}],"
    "'otherwise':[{'text':'hello there'}]}";

#define YES ",'resume':[{'interruptId':'m4.0','status':'resolved','payload':{'approved':true%s}}]"

static int setup(void **state) {
    int rc = desk_setup(state, script);
    desk_session(*state, "t1");
    return rc;
}

/* The types of its events. */
static const char *run(desk *d, const char *id, const char *messages, const char *more) {
    static char all[4000];
    tail *t = begin(d, "/agui/default", input("t1", id, messages, more));
    snprintf(all, sizeof all, "%s", types(t));
    tail_close(t);
    return all;
}

static int last_seq(desk *d) {
    assert_status(d, desk_get(d, "/api/sessions/t1"), 200);
    return atoi(client_field(&d->c, "last_seq"));
}

/* A client that saw no answer sends its input again. */
static void test_serve_agui_again__the_id_of_a_run_is_used_once(void **state) {
    desk *d = *state;
    run(d, "r1", SAY("u1", "hi"), NULL);
    int last = last_seq(d);
    assert_status(d, desk_post(d, input("t1", "r1", SAY("u1", "hi"), NULL), "/agui/default"), 409);
    assert_field(d, "error.code", "exists");
    assert_field(d, "error.message",
                 "the run r1 of this thread was begun before: POST /agui/AGENT/connect shows what "
                 "became of it; a new run needs an id of its own");
    assert_status(d, desk_post(d, input("t1", "r1", SAY("u2", "more"), NULL), "/agui/default"),
                  409);
    desk_stop(d);
    desk_start(d);
    assert_status(d, desk_post(d, input("t1", "r1", SAY("u1", "hi"), NULL), "/agui/default"), 409);
    assert_int_equal(last_seq(d), last);
    assert_non_null(strstr(run(d, "r2", SAY("u2", "more"), NULL), "RUN_FINISHED"));
}

/* What was refused was not begun. */
static void test_serve_agui_again__a_run_that_was_refused_can_be_tried_again(void **state) {
    desk *d = *state;
    tail *t = begin(d, "/agui/default", input("t1", "r1", SAY("u1", "hang"), NULL));
    until(t, "TEXT_MESSAGE_CONTENT");
    assert_status(d, desk_post(d, input("t1", "r2", SAY("u2", "hi"), NULL), "/agui/default"), 409);
    assert_field(d, "error.code", "busy");
    assert_status(d, desk_post(d, "{'threadId':'t1'}", "/agui/default/cancel"), 204);
    assert_non_null(strstr(types(t), "RUN_FINISHED"));
    tail_close(t);
    assert_non_null(strstr(run(d, "r2", SAY("u2", "hi"), NULL), "RUN_FINISHED"));
}

/* Of a client that does not keep what it saw, and one that sends its answer twice. */
static void test_serve_agui_again__an_answer_sent_again_starts_nothing(void **state) {
    desk *d = *state;
    char yes[200];
    snprintf(yes, sizeof yes, YES, "");
    run(d, "r1", SAY("u1", "write"), NULL);
    tail *t = begin(d, "/agui/default", input("t1", "r2", SAY("u1", "write"), yes));
    until(t, "MESSAGES_SNAPSHOT");
    bool shown = !strcmp(field(t, "messages.2.toolCallId"), "m4.0"); /* it was quick */
    assert_string_equal(field(t, "messages.1.toolCalls.0.id"), "m4.0");
    assert_true(shown != (strstr(types(t), "TOOL_CALL_RESULT") != NULL));
    tail_close(t);
    int last = last_seq(d);
    assert_string_equal(run(d, "r3", SAY("u1", "write"), yes),
                        "RUN_STARTED CUSTOM MESSAGES_SNAPSHOT STATE_SNAPSHOT RUN_FINISHED ");
    assert_int_equal(last_seq(d), last);
}

/* A yes to other arguments is no yes to these. */
static void test_serve_agui_again__changed_arguments_are_not_passed_over(void **state) {
    desk *d = *state;
    char yes[200];
    snprintf(yes, sizeof yes, YES, ",'editedArgs':{'path':'c.txt','content':'d'}");
    run(d, "r1", SAY("u1", "write"), NULL);
    assert_status(d, desk_post(d, input("t1", "r2", SAY("u1", "write"), yes), "/agui/default"),
                  400);
    assert_field(d, "error.message",
                 "the arguments of m4.0 cannot be changed (editedArgs): approve the call as it is, "
                 "or say no and in `reason` what to do instead");
    assert_str(hob_test_content(&d->folder, "a.txt"), "");
    assert_status(d, desk_get(d, "/api/sessions/t1/approvals"), 200);
    assert_field(d, "approvals.0.call", "m4.0");
}

static void test_serve_agui_again__a_state_that_is_no_object_is_told(void **state) {
    desk *d = *state;
    tail *t = begin(d, "/agui/default",
                    "{'threadId':'t1','runId':'r1','protocolVersion':'1.0','state':[1],"
                    "'messages':[" SAY("u1", "hi") "]}");
    until(t, "CUSTOM");
    assert_string_equal(
        field(t, "value.message"),
        "a session's state is an object, so what the client has was left out: state");
    until(t, "RUN_FINISHED");
    tail_close(t);
}

/* ---- conversations larger than an event -------------------------------------------------------------------------- */

enum { IMAGE = 4 << 20 };

static void say_with_image(desk *d, int i) {
    hob_buf b;
    hob_buf_init(&b, 32u << 20);
    hob_buf_addf(&b,
                 "{'threadId':'t1','runId':'r%d','protocolVersion':'1.0','messages':[{'id':'u%d',"
                 "'role':'user','content':[{'type':'text','text':'look %d'},{'type':'image',"
                 "'source':{'type':'data','mimeType':'image/png','value':'",
                 i, i, i);
    memset(hob_buf_reserve(&b, IMAGE), 'A', IMAGE);
    b.n += IMAGE;
    hob_buf_addz(&b, "'}}]}]}");
    tail *t = begin(d, "/agui/default", hob_buf_z(&b));
    assert_non_null(strstr(types(t), "RUN_FINISHED"));
    tail_close(t);
    hob_buf_finish(&b);
}

static void test_serve_agui_again__a_large_conversation_is_shown_in_brief(void **state) {
    desk *d = *state;
    for (int i = 0; i < 3; i++) say_with_image(d, i);
    tail *t = begin(d, "/agui/default/connect", "{'threadId':'t1'}");
    until(t, "MESSAGES_SNAPSHOT");
    assert_string_equal(field(t, "messages.0.content"),
                        "look 0\n[image left out: the conversation is too large]");
    assert_string_equal(field(t, "messages.4.content.0.text"), "look 2");
    assert_string_equal(field(t, "messages.4.content.1.type"), "image");
    assert_string_equal(field(t, "messages.5.content"), "hello there");
    until(t, "CUSTOM");
    assert_string_equal(field(t, "value.message"),
                        "the conversation is too large to be shown whole: older images, long texts "
                        "or messages were left out");
    until(t, "RUN_FINISHED");
    tail_close(t);
}

/* ---- clients that leave --------------------------------------------------------------------------------------------- */

/* The stop of most front ends is to close the connection. */
static void hang_up(desk *d, const char *policy) {
    char body[400];
    snprintf(body, sizeof body,
             "{'threadId':'t1','runId':'r1','protocolVersion':'1.0','messages':[" SAY(
                 "u1", "hang") "],'forwardedProps':{%s}}",
             policy);
    tail *t = begin(d, "/agui/default", body);
    until(t, "TEXT_MESSAGE_CONTENT");
    tail_close(t);
}

static const char *status(desk *d) {
    assert_status(d, desk_get(d, "/api/sessions/t1/runs"), 200);
    return client_field(&d->c, "runs.0.status");
}

static void test_serve_agui_again__a_run_can_end_with_its_client(void **state) {
    desk *d = *state;
    hang_up(d, "'on_disconnect':'cancel'");
    desk_settle(d, "t1");
    assert_string_equal(status(d), "cancelled");
    assert_non_null(strstr(run(d, "r2", SAY("u2", "hi"), NULL), "RUN_FINISHED"));
}

/* Nobody else can be sure that it did not: so much is done here that it would have been. */
static void test_serve_agui_again__by_default_it_goes_on(void **state) {
    desk *d = *state;
    hang_up(d, "'on_disconnect':'continue'");
    for (int i = 0; i < 20; i++) assert_string_equal(status(d), "running");
    assert_status(d, desk_post(d, input("t1", "r2", SAY("u2", "hi"), NULL), "/agui/default"), 409);
    assert_status(d,
                  desk_post(d,
                            "{'threadId':'t1','runId':'r3','messages':[],'forwardedProps':"
                            "{'on_disconnect':'stop'}}",
                            "/agui/default"),
                  400);
}

/* A stop that comes too late is not for the run that came after. */
static void test_serve_agui_again__a_stop_is_for_the_run_it_names(void **state) {
    desk *d = *state;
    run(d, "r1", SAY("u1", "hi"), NULL);
    tail *t = begin(d, "/agui/default", input("t1", "r2", SAY("u2", "hang"), NULL));
    until(t, "TEXT_MESSAGE_CONTENT");
    assert_status(d, desk_post(d, "{'threadId':'t1','runId':'r1'}", "/agui/default/cancel"), 409);
    assert_field(d, "error.code", "idle");
    assert_string_equal(status(d), "running");
    desk_stop(d); /* the next server goes on with it, under another id */
    tail_close(t);
    desk_start(d);
    t = begin(d, "/agui/default/connect", "{'threadId':'t1'}");
    until(t, "TEXT_MESSAGE_CONTENT");
    assert_status(d, desk_post(d, "{'threadId':'t1','runId':'r2'}", "/agui/default/cancel"), 204);
    assert_non_null(strstr(types(t), "RUN_"));
    tail_close(t);
    assert_string_equal(status(d), "cancelled");
}

/* It is the server that goes away here: the run is parked as any other. */
static void test_serve_agui_again__a_server_that_stops_cancels_nothing(void **state) {
    desk *d = *state;
    tail *t = begin(d, "/agui/default",
                    "{'threadId':'t1','runId':'r1','messages':[" SAY(
                        "u1", "hang") "],'forwardedProps':{'on_disconnect':'cancel'}}");
    until(t, "TEXT_MESSAGE_CONTENT");
    desk_stop(d);
    tail_close(t);
    desk_start(d);
    assert_status(d, desk_get(d, "/api/sessions/t1/events?limit=1000"), 200);
    assert_null(strstr(hob_buf_z(&d->c.body), "\"cancelled\""));
}

int main(void) {
#define T(name) cmocka_unit_test_setup_teardown(test_serve_agui_again__##name, setup, desk_teardown)
    const struct CMUnitTest tests[] = {
        T(the_id_of_a_run_is_used_once),
        T(a_run_that_was_refused_can_be_tried_again),
        T(an_answer_sent_again_starts_nothing),
        T(changed_arguments_are_not_passed_over),
        T(a_state_that_is_no_object_is_told),
        T(a_large_conversation_is_shown_in_brief),
        T(a_run_can_end_with_its_client),
        T(a_stop_is_for_the_run_it_names),
        T(by_default_it_goes_on),
        T(a_server_that_stops_cancels_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
