/* AG-UI over HTTP: what the model asks the user. */
#include "support/thread.h"

static const char script[] =
    "{'rules':[{'when':{'user':'ask','step':1},'reply':[{'tool':'ask_user','args':{'question':"
    "'Which colour?','schema':{'enum':['red','blue']}}}]}],"
    "'otherwise':[{'text':'told {{result}}'}]}";

static int setup(void **state) {
    return desk_setup(state, script);
}

static void ask(desk *d, char id[100]) {
    tail *t = begin(d, "/agui/default", input("t1", "r1", SAY("u1", "ask"), NULL));
    types(t);
    assert_string_equal(field(t, "outcome.type"), "interrupt");
    assert_string_equal(field(t, "outcome.interrupts.0.reason"), "input_required");
    assert_string_equal(field(t, "outcome.interrupts.0.message"), "Which colour?");
    assert_string_equal(field(t, "outcome.interrupts.0.responseSchema.enum.1"), "blue");
    snprintf(id, 100, "%s", field(t, "outcome.interrupts.0.id"));
    assert_string_equal(field(t, "outcome.interrupts.0.toolCallId"), id);
    tail_close(t);
}

static const char *answer(const char *run, const char *id, const char *payload) {
    static char more[300], messages[500];
    snprintf(more, sizeof more,
             ",'tools':[],'resume':[{'interruptId':'%s','status':'resolved','payload':%s}]", id,
             payload);
    snprintf(messages, sizeof messages,
             SAY("u1", "ask") ",{'id':'m4','role':'assistant','toolCalls':[{'id':'%s','type':"
                              "'function','function':{'name':'ask_user','arguments':'{}'}}]}",
             id);
    return input("t1", run, messages, more);
}

static void test_serve_agui_question__the_payload_is_the_answer(void **state) {
    desk *d = *state;
    char id[100];
    ask(d, id);
    tail *t = begin(d, "/agui/default", answer("r2", id, "'blue'"));
    until(t, "TOOL_CALL_RESULT");
    assert_string_equal(field(t, "toolCallId"), id);
    assert_string_equal(field(t, "content"), "blue");
    types(t);
    assert_string_equal(field(t, "type"), "RUN_FINISHED");
    tail_close(t);
}

/* Refused before anything begins; the interrupt stays open. */
static void test_serve_agui_question__a_payload_that_does_not_fit_is_refused(void **state) {
    desk *d = *state;
    char id[100];
    ask(d, id);
    tail *t = tail_post(d->port, DESK_TOKEN, "/agui/default", NULL, answer("r2", id, "'pink'"));
    assert_int_equal(tail_status(t), 400);
    tail_close(t);
    t = begin(d, "/agui/default", answer("r3", id, "'red'"));
    types(t);
    assert_string_equal(field(t, "type"), "RUN_FINISHED");
    assert_string_equal(field(t, "outcome.interrupts"), "");
    tail_close(t);
}

#define T(name)                                                                                    \
    cmocka_unit_test_setup_teardown(test_serve_agui_question__##name, setup, desk_teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        T(the_payload_is_the_answer),
        T(a_payload_that_does_not_fit_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
