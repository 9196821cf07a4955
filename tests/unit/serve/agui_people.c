/* AG-UI over HTTP: several questions at once, a run that is paused, tools that come and go, and who is at work. */
#include "support/thread.h"

static const char script[] =
    "{'rules':["
    "{'when':{'system':'You write drafts','user':'hang'},'reply':[{'text':'a'},{'wait':true}]},"
    "{'when':{'system':'You write drafts'},'reply':[{'text':'a draft'}]},"
    "{'when':{'system':'work as a sub-agent','user':'ask','step':1},'reply':[{'tool':'write','args':"
    "{'path':'c.txt','content':'c'}}]},"
    "{'when':{'system':'work as a sub-agent'},'reply':[{'text':'b'},{'wait':true}]},"
    "{'when':{'user':'delegate ask','step':1},'reply':[{'tool':'task','args':{'agent':'general',"
    "'prompt':'ask'}}]},"
    "{'when':{'user':'delegate','step':1},'reply':[{'tool':'task','args':{'agent':'general',"
    "'prompt':'hang'}}]},"
    "{'when':{'user':'two','step':1},'reply':["
    "{'tool':'write','args':{'path':'a.txt','content':'a'}},"
    "{'tool':'write','args':{'path':'b.txt','content':'b'}}]},"
    "{'when':{'user':'read','step':1},'reply':[{'delay_ms':1200},{'tool':'read','args':{'path':"
    "'script.json'}}]},"
    "{'when':{'offers':'pick_colour'},'reply':[{'text':'I can pick'}]}],"
    "'otherwise':[{'text':'done'}]}";

static hob_definitions *definitions;

static int setup(void **state) {
    desk *d = hob_alloc(sizeof *d);
    desk_init(d, script);
    hob_test_mkdir(&d->folder, "agents");
    hob_test_file(&d->folder, "agents/writer.md",
                  HOB_STR("---\nname: writer\ndescription: Writes\noutput_key: draft\n---\n"
                          "You write drafts.\n"));
    hob_test_file(&d->folder, "agents/pair.yaml",
                  HOB_STR("name: pair\ndescription: Two\nkind: sequential\nagents:\n  - writer\n"
                          "  - name: editor\n    description: Edits\n    prompt: Edit.\n"));
    assert_ok(hob_definitions_create(NULL, &definitions, &d->err), d->err);
    assert_ok(hob_agents_register_dir(definitions, hob_test_path(&d->folder, "agents"), &d->err),
              d->err);
    d->so.definitions = definitions;
    desk_start(d);
    *state = d;
    return 0;
}

static int teardown(void **state) {
    desk *d = *state;
    desk_finish(d);
    hob_definitions_destroy(definitions);
    hob_free(d);
    return 0;
}

static tail *say(desk *d, const char *run, const char *messages, const char *more) {
    return begin(d, "/agui/default", input("t1", run, messages, more));
}

/* ---- several questions ---------------------------------------------------------------------------------------------- */

static const char *two_calls(const char ids[2][100]) {
    static char text[1000];
    snprintf(text, sizeof text,
             SAY("u1", "two") ",{'id':'m4','role':'assistant','toolCalls':["
                              "{'id':'%s','type':'function','function':{'name':'write',"
                              "'arguments':'{}'}},"
                              "{'id':'%s','type':'function','function':{'name':'write',"
                              "'arguments':'{}'}}]}",
             ids[0], ids[1]);
    return text;
}

static void ask_two(desk *d, const char *thread, char ids[2][100]) {
    tail *t = begin(d, "/agui/default", input(thread, "r1", SAY("u1", "two"), NULL));
    types(t);
    assert_string_equal(field(t, "outcome.type"), "interrupt");
    snprintf(ids[0], 100, "%s", field(t, "outcome.interrupts.0.id"));
    snprintf(ids[1], 100, "%s", field(t, "outcome.interrupts.1.id"));
    assert_string_equal(field(t, "outcome.interrupts.0.toolCallId"), ids[0]);
    assert_string_equal(field(t, "outcome.interrupts.1.toolCallId"), ids[1]);
    assert_string_equal(field(t, "outcome.interrupts.2"), "");
    tail_close(t);
}

#define ENTRY(yes) "{'interruptId':'%s','status':'resolved','payload':{'approved':" yes "}}"

static void test_serve_agui_people__all_questions_are_answered_at_once(void **state) {
    desk *d = *state;
    char ids[2][100], more[400];
    ask_two(d, "t1", ids);
    snprintf(more, sizeof more, ",'tools':[],'resume':[" ENTRY("false") "," ENTRY("true") "]",
             ids[1], ids[0]);
    tail *t = say(d, "r2", two_calls(ids), more);
    types(t);
    assert_string_equal(field(t, "type"), "RUN_FINISHED");
    assert_string_equal(field(t, "outcome.interrupts"), "");
    tail_close(t);
    assert_str(hob_test_content(&d->folder, "a.txt"), "a");
    assert_str(hob_test_content(&d->folder, "b.txt"), "");
}

/* What is answered counts, in any order; the rest is asked again. A call still waits for its turn. */
static void answer_some(desk *d, const char *thread, int first) {
    char ids[2][100], more[400];
    ask_two(d, thread, ids);
    snprintf(more, sizeof more, ",'tools':[],'resume':[" ENTRY("true") "]", ids[first]);
    tail *t = begin(d, "/agui/default", input(thread, "r2", two_calls(ids), more));
    const char *all = types(t);
    assert_int_equal(strstr(all, "TOOL_CALL_RESULT") != NULL, first == 0);
    assert_string_equal(field(t, "outcome.interrupts.0.id"), ids[!first]);
    assert_string_equal(field(t, "outcome.interrupts.1"), "");
    tail_close(t);
    snprintf(more, sizeof more, ",'tools':[],'resume':[" ENTRY("false") "]", ids[!first]);
    t = begin(d, "/agui/default", input(thread, "r3", two_calls(ids), more));
    types(t);
    assert_string_equal(field(t, "type"), "RUN_FINISHED");
    assert_string_equal(field(t, "outcome.interrupts"), "");
    tail_close(t);
}

static void test_serve_agui_people__some_of_the_questions_are_answered(void **state) {
    desk *d = *state;
    answer_some(d, "t1", 0);
    assert_str(hob_test_content(&d->folder, "a.txt"), "a");
    assert_str(hob_test_content(&d->folder, "b.txt"), "");
    answer_some(d, "t2", 1);
    assert_str(hob_test_content(&d->folder, "b.txt"), "b");
}

static void test_serve_agui_people__what_waits_is_shown_to_those_who_connect(void **state) {
    desk *d = *state;
    char ids[2][100];
    ask_two(d, "t1", ids);
    for (int i = 0; i < 2; i++) {
        tail *t = begin(d, "/agui/default/connect", input("t1", "r2", "", NULL));
        types(t);
        assert_string_equal(field(t, "outcome.interrupts.1.id"), ids[1]);
        tail_close(t);
        desk_stop(d);
        desk_start(d);
    }
}

/* ---- paused --------------------------------------------------------------------------------------------------------------- */

/* A run that was paused while its first answer was made. */
static void pause_it(desk *d) {
    char run[100];
    desk_session(d, "t1");
    tail *t = say(d, "r1", SAY("u1", "read"), NULL);
    until(t, "STATE_SNAPSHOT");
    assert_int_equal(desk_get(d, "/api/sessions/t1"), 200);
    snprintf(run, sizeof run, "%s", client_field(&d->c, "live.run_id"));
    assert_int_equal(desk_post(d, NULL, "/api/sessions/t1/runs/%s/pause", run), 204);
    types(t);
    assert_string_equal(field(t, "type"), "RUN_FINISHED");
    assert_string_equal(field(t, "outcome.interrupts.0.id"), "hob:paused");
    assert_string_equal(field(t, "outcome.interrupts.0.reason"), "hob:paused");
    tail_close(t);
}

#define GO_ON(rest) ",'tools':[],'resume':[{'interruptId':'hob:paused'," rest "}]"

static void test_serve_agui_people__a_paused_run_is_an_interrupt_that_is_resumed(void **state) {
    desk *d = *state;
    pause_it(d);
    tail *t = begin(d, "/agui/default/connect", input("t1", "r2", "", NULL));
    types(t);
    assert_string_equal(field(t, "outcome.interrupts.0.reason"), "hob:paused");
    tail_close(t);
    t = say(d, "r3", SAY("u1", "read") "," SAY("u2", "hurry"), NULL); /* it does not go on so */
    types(t);
    assert_string_equal(field(t, "outcome.interrupts.0.reason"), "hob:paused");
    tail_close(t);
    t = say(d, "r4", SAY("u1", "read"), GO_ON("'status':'resolved','payload':{'approved':false}"));
    types(t);
    assert_string_equal(field(t, "outcome.interrupts.0.reason"), "hob:paused");
    tail_close(t);
    t = say(d, "r5",
            SAY("u1", "read") ",{'id':'m4','role':'assistant','toolCalls':[{'id':'m4.0','type':"
                              "'function','function':{'name':'read','arguments':'{}'}}]}",
            GO_ON("'status':'resolved'"));
    const char *all = types(t);
    assert_non_null(strstr(all, "TOOL_CALL_RESULT"));
    assert_non_null(strstr(all, "TEXT_MESSAGE_CONTENT"));
    assert_string_equal(field(t, "type"), "RUN_FINISHED");
    assert_string_equal(field(t, "outcome.interrupts"), "");
    tail_close(t);
}

static void test_serve_agui_people__a_paused_run_that_is_given_up_is_cancelled(void **state) {
    desk *d = *state;
    pause_it(d);
    tail *t = say(d, "r2", SAY("u1", "read"), GO_ON("'status':'cancelled'"));
    types(t);
    assert_string_equal(field(t, "outcome.type"), "cancelled");
    tail_close(t);
    t = say(d, "r3", SAY("u1", "read") "," SAY("u2", "hi"), NULL);
    types(t);
    assert_string_equal(field(t, "type"), "RUN_FINISHED");
    assert_string_equal(field(t, "outcome"), "");
    tail_close(t);
}

static void test_serve_agui_people__a_run_is_paused_after_a_restart_too(void **state) {
    desk *d = *state;
    pause_it(d);
    desk_stop(d);
    desk_start(d);
    tail *t = begin(d, "/agui/default/connect", input("t1", "r2", "", NULL));
    types(t);
    assert_string_equal(field(t, "outcome.interrupts.0.reason"), "hob:paused");
    tail_close(t);
    t = say(d, "r3", SAY("u1", "read"), GO_ON("'status':'resolved'"));
    types(t);
    assert_string_equal(field(t, "outcome.interrupts"), "");
    assert_string_equal(field(t, "type"), "RUN_FINISHED");
    tail_close(t);
}

/* ---- the client's tools ------------------------------------------------------------------------------------------------- */

/* What the model said to an input with these tools. */
static const char *answer_with(desk *d, const char *run, const char *tools) {
    char messages[100], path[60];
    snprintf(messages, sizeof messages, "{'id':'u-%s','role':'user','content':'hi'}", run);
    tail *t = say(d, run, messages, tools);
    types(t);
    tail_close(t);
    assert_int_equal(desk_get(d, "/api/sessions/t1/messages"), 200);
    snprintf(path, sizeof path, "messages.%d.data.content.0.text", 2 * (run[1] - '0') - 1);
    return client_field(&d->c, path);
}

#define TOOL(name, parameters)                                                                     \
    ",'tools':[{'name':'" name "','description':'d','parameters':" parameters "}]"

static void test_serve_agui_people__tools_are_those_of_the_last_input(void **state) {
    desk *d = *state;
    desk_session(d, "t1");
    assert_string_equal(answer_with(d, "r1", TOOL("pick_colour", "{'type':'object'}")),
                        "I can pick");
    assert_string_equal(answer_with(d, "r2", ",'tools':[]"), "done");
    assert_string_equal(answer_with(d, "r3", TOOL("pick_colour", "{'type':'object'}")),
                        "I can pick");
    assert_string_equal(answer_with(d, "r4", TOOL("other", "{'type':'object'}")), "done");
    assert_int_equal(desk_get(d, "/api/sessions/t1/tools"), 200);
    assert_non_null(strstr(hob_buf_z(&d->c.body), "\"other\""));
    assert_null(strstr(hob_buf_z(&d->c.body), "\"pick_colour\""));
    assert_non_null(strstr(hob_buf_z(&d->c.body), "\"read\""));
    answer_with(d, "r5", TOOL("other", "{'type':'object','properties':{'n':{'type':'number'}}}"));
    assert_int_equal(desk_get(d, "/api/sessions/t1/tools"), 200);
    assert_non_null(strstr(hob_buf_z(&d->c.body), "\"number\"")); /* as it is now */
}

static void test_serve_agui_people__a_tool_of_the_session_is_not_replaced(void **state) {
    desk *d = *state;
    desk_session(d, "t1");
    answer_with(d, "r1", TOOL("read", "{'type':'object'}"));
    answer_with(d, "r2", ",'tools':[]");
    assert_int_equal(desk_get(d, "/api/sessions/t1/tools"), 200);
    assert_non_null(strstr(hob_buf_z(&d->c.body), "\"read\""));
}

/* ---- who is at work ----------------------------------------------------------------------------------------------------- */

static void test_serve_agui_people__steps_under_way_are_shown_to_those_who_connect(void **state) {
    desk *d = *state;
    char name[100], outer[100];
    tail *t = begin(d, "/agui/pair", input("t1", "r1", SAY("u1", "hang"), NULL));
    until(t, "TEXT_MESSAGE_CONTENT");
    tail *u = begin(d, "/agui/pair/connect", input("t1", "r2", "", NULL));
    until(u, "STEP_STARTED");
    snprintf(outer, sizeof outer, "%s", field(u, "stepName"));
    until(u, "STEP_STARTED");
    snprintf(name, sizeof name, "%s", field(u, "stepName"));
    assert_non_null(strstr(name, "writer"));
    until(u, "TEXT_MESSAGE_CONTENT");
    assert_int_equal(desk_post(d, "{'threadId':'t1'}", "/agui/pair/cancel"), 204);
    until(u, "STEP_FINISHED");
    assert_string_equal(field(u, "stepName"), name);
    until(u, "STEP_FINISHED");
    assert_string_equal(field(u, "stepName"), outer);
    types(u);
    assert_string_equal(field(u, "outcome.type"), "cancelled");
    tail_close(u);
    tail_close(t);
}

static void test_serve_agui_people__sub_agents_under_way_are_shown_to_those_who_connect(
    void **state) {
    desk *d = *state;
    char id[150];
    tail *t = say(d, "r1", SAY("u1", "delegate"), NULL);
    until(t, "SUBAGENT_STARTED");
    snprintf(id, sizeof id, "%s", field(t, "subagentRunId"));
    tail *u = begin(d, "/agui/default/connect", input("t1", "r2", "", NULL));
    until(u, "SUBAGENT_STARTED");
    assert_string_equal(field(u, "subagentRunId"), id);
    assert_int_equal(desk_post(d, "{'threadId':'t1'}", "/agui/default/cancel"), 204);
    const char *all = types(u);
    assert_non_null(strstr(all, "SUBAGENT_ERROR"));
    assert_string_equal(field(u, "outcome.type"), "cancelled");
    tail_close(u);
    tail_close(t);
}

/* It is suspended with the question, and there again in the run that goes on. */
static void test_serve_agui_people__a_sub_agent_that_asks_goes_on_in_the_next_run(void **state) {
    desk *d = *state;
    char id[150], child[150], more[500], messages[1000];
    tail *t = say(d, "r1", SAY("u1", "delegate ask"), NULL);
    until(t, "SUBAGENT_FINISHED");
    assert_string_equal(field(t, "outcome.type"), "suspended");
    snprintf(child, sizeof child, "%s", field(t, "subagentRunId"));
    until(t, "RUN_FINISHED");
    snprintf(id, sizeof id, "%s", field(t, "outcome.interrupts.0.id"));
    assert_string_equal(field(t, "outcome.interrupts.0.subagentRunId"), child);
    tail_close(t);
    snprintf(messages, sizeof messages,
             SAY("u1", "delegate ask") ",{'id':'m4','role':'assistant','toolCalls':[{'id':'m4.0',"
                                       "'type':'function','function':{'name':'task',"
                                       "'arguments':'{}'}}]}");
    snprintf(more, sizeof more, ",'tools':[],'resume':[" ENTRY("false") "]", id);
    t = say(d, "r2", messages, more);
    until(t, "SUBAGENT_STARTED");
    assert_string_equal(field(t, "subagentRunId"), child);
    assert_int_equal(desk_post(d, "{'threadId':'t1'}", "/agui/default/cancel"), 204);
    types(t);
    assert_string_equal(field(t, "outcome.type"), "cancelled");
    tail_close(t);
}

#define T(name) cmocka_unit_test_setup_teardown(test_serve_agui_people__##name, setup, teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        T(all_questions_are_answered_at_once),
        T(some_of_the_questions_are_answered),
        T(what_waits_is_shown_to_those_who_connect),
        T(a_paused_run_is_an_interrupt_that_is_resumed),
        T(a_paused_run_that_is_given_up_is_cancelled),
        T(a_run_is_paused_after_a_restart_too),
        T(tools_are_those_of_the_last_input),
        T(a_tool_of_the_session_is_not_replaced),
        T(steps_under_way_are_shown_to_those_who_connect),
        T(sub_agents_under_way_are_shown_to_those_who_connect),
        T(a_sub_agent_that_asks_goes_on_in_the_next_run),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
