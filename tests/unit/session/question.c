/* The tool ask_user: a question that only a person answers, kept like any approval. */
/* ctest: labels=snapshots */
#include "support/agents.h"
#include "support/check.h"
#include "support/definitions.h"
#include "support/host.h"

#include <string.h>

static const char script[] =
    "{'rules':[{'when':{'step':1},'reply':[{'tool':'ask_user','args':{'question':'Which colour?',"
    "'schema':{'type':'object','properties':{'colour':{'enum':['red','blue']}},"
    "'required':['colour']}}}]},"
    "{'when':{'failed':true},'reply':[{'text':'no: {{result}}'}]},"
    "{'reply':[{'text':'got {{result}}'}]}]}";

static const char plain[] =
    "{'rules':[{'when':{'step':1},'reply':[{'tool':'ask_user','args':{'question':'Your name?'}}]},"
    "{'reply':[{'text':'got {{result}}'}]}]}";

static void ask_init(host *h, const char *text, hob_approver approver) {
    host_init(h, text);
    h->so.approver = approver;
    h->ro.store = "sqlite";
    host_open(h);
}

static void ask(host *h) {
    assert_ok(hob_session_prompt(h->s, hob_str_z("go"), &h->err), h->err);
    hob_event_unref(host_until(h, HOB_EVENT_APPROVAL_REQUESTED, NULL, NULL));
}

static int answer(host *h, const char *call, const char *json) {
    return hob_session_answer(h->s, hob_str_z(call), hob_str_z(json), &h->err);
}

static void test_session_question__the_answer_is_the_result(void **state) {
    host h;
    (void)state;
    ask_init(&h, script, HOB_APPROVER_HOST);
    ask(&h);
    assert_int_equal(hob_session_is_parked(h.s), 1);
    assert_ok(answer(&h, "m4.0", " {\"colour\":\n\"blue\"} "), h.err);
    assert_string_equal(host_wait(&h), "completed");
    assert_string_equal(host_text(&h), "got {\"colour\": \"blue\"}");
    assert_string_equal(host_log(&h), "session_opened\n"
                                      "run_started prompt\n"
                                      "user_message \"go\"\n"
                                      "model_call_started\n"
                                      "assistant_message tools\n"
                                      "tool_decided m4.0 ask_user ask\n"
                                      "approval_requested m4.0 ask_user\n"
                                      "approval_resolved m4.0 true\n"
                                      "tool_started m4.0 ask_user\n"
                                      "tool_finished m4.0 ask_user ok \"{\"colour\": \"blue\"}\"\n"
                                      "model_call_started\n"
                                      "assistant_message done \"got {\"colour\": \"blue\"}\"\n"
                                      "run_finished completed\n"
                                      "settled completed\n");
    host_finish(&h);
}

static void test_session_question__a_text_is_told_as_it_is(void **state) {
    host h;
    (void)state;
    ask_init(&h, plain, HOB_APPROVER_HOST);
    ask(&h);
    assert_int_equal(answer(&h, "m4.0", "7"), HOB_EINVAL);
    assert_ok(answer(&h, "m4.0", "\"J\\u00f6rg\""), h.err);
    assert_string_equal(host_wait(&h), "completed");
    assert_string_equal(host_text(&h), "got J\xc3\xb6rg");
    host_finish(&h);
}

static void test_session_question__waits_until_the_answer_fits(void **state) {
    host h;
    (void)state;
    ask_init(&h, script, HOB_APPROVER_HOST);
    ask(&h);
    assert_int_equal(answer(&h, "m4.0", "{\"colour\":\"pink\"}"), HOB_EINVAL);
    assert_string_equal(h.err.message,
                        "the answer does not fit: colour must be one of [\"red\",\"blue\"]");
    assert_int_equal(answer(&h, "m4.0", ""), HOB_EINVAL);
    assert_int_equal(hob_session_confirm_tool_use(h.s, hob_str_z("m4.0"), HOB_VERDICT_ALLOW,
                                                  hob_str_z(""), &h.err),
                     HOB_EINVAL);
    assert_non_null(strstr(h.err.message, "is a question"));
    assert_int_equal(hob_session_is_parked(h.s), 1);
    assert_int_equal(host_count(&h, "approval_resolved"), 0);
    host_finish(&h);
}

static void test_session_question__is_answered_once(void **state) {
    host h;
    (void)state;
    ask_init(&h, script, HOB_APPROVER_HOST);
    ask(&h);
    assert_int_equal(answer(&h, "m9.9", "1"), HOB_ENOENT);
    assert_ok(answer(&h, "m4.0", "{\"colour\":\"red\"}"), h.err);
    assert_true(answer(&h, "m4.0", "{\"colour\":\"blue\"}") < 0);
    assert_string_equal(host_wait(&h), "completed");
    assert_string_equal(host_text(&h), "got {\"colour\":\"red\"}");
    assert_int_equal(host_count(&h, "approval_resolved"), 1);
    host_finish(&h);
}

static void test_session_question__declined_says_why(void **state) {
    host h;
    (void)state;
    ask_init(&h, script, HOB_APPROVER_HOST);
    ask(&h);
    assert_ok(hob_session_confirm_tool_use(h.s, hob_str_z("m4.0"), HOB_VERDICT_DENY,
                                           hob_str_z("ask me later"), &h.err),
              h.err);
    assert_string_equal(host_wait(&h), "completed");
    assert_string_equal(host_text(&h), "no: the user did not answer: ask me later");
    host_finish(&h);
}

static void test_session_question__row_has_question_and_schema(void **state) {
    host h;
    hob_page *p;
    char id[64];
    (void)state;
    static const char row[] =
        ",\"question\":\"Which colour?\",\"schema\":{\"type\":\"object\",\"properties\":{\"colour\""
        ":{\"enum\":[\"red\",\"blue\"]}},\"required\":[\"colour\"]}}";
    ask_init(&h, script, HOB_APPROVER_HOST);
    ask(&h);
    hob_session_id(h.s, id, sizeof id);
    assert_ok(hob_session_pending_confirmations(h.s, &p, &h.err), h.err);
    assert_non_null(strstr(hob_page_row(p, 0).p, row));
    hob_page_destroy(p);
    assert_ok(hob_runtime_pending_confirmations(h.rt, id, &p, &h.err), h.err);
    assert_non_null(strstr(hob_page_row(p, 0).p, row)); /* as the store has it */
    hob_page_destroy(p);
    host_finish(&h);
}

static void test_session_question__no_mode_and_no_rule_answers(void **state) {
    static const char *const allow[] = {"ask_user", NULL};
    host h;
    (void)state;
    host_init(&h, script);
    h.so.approver = HOB_APPROVER_HOST;
    h.so.permission_mode = "yolo";
    h.so.allow = allow;
    host_open(&h);
    ask(&h);
    assert_int_equal(hob_session_is_parked(h.s), 1);
    host_finish(&h);
}

/* ---- nobody is there ----------------------------------------------------------------------------- */

static bool is_offered(host *h) {
    hob_page *p;
    bool found = false;
    assert_ok(hob_session_tools(h->s, &p, &h->err), h->err);
    for (size_t i = 0; i < hob_page_count(p); i++)
        found = found || strstr(hob_page_row(p, i).p, "\"name\":\"ask_user\"");
    hob_page_destroy(p);
    return found;
}

static void test_session_question__is_offered_where_somebody_answers(void **state) {
    static const struct {
        hob_approver approver;
        unsigned flags;
        bool offered;
    } cases[] = {{HOB_APPROVER_HOST, 0, true},
                 {HOB_APPROVER_HOST, HOB_SESSION_NO_BUILTIN_TOOLS, false},
                 {HOB_APPROVER_NONE, 0, false}};
    (void)state;
    for (size_t i = 0; i < HOB_ARRAY_LEN(cases); i++) {
        host h;
        host_init(&h, script);
        h.so.approver = cases[i].approver;
        h.so.flags |= cases[i].flags;
        host_open(&h);
        assert_int_equal(is_offered(&h), cases[i].offered);
        host_finish(&h);
    }
}

static void test_session_question__nobody_there_is_a_result(void **state) {
    host h;
    (void)state;
    ask_init(&h, script, HOB_APPROVER_NONE);
    assert_string_equal(host_prompt(&h, "go"), "completed");
    assert_non_null(strstr(host_text(&h), "no: denied: nobody is there to answer: go on with"));
    host_finish(&h);
}

static void test_session_question__a_tool_of_the_hosts_takes_its_place(void **state) {
    hob_tool tool = host_tool("ask_user", HOB_TOOL_READ_ONLY, NULL);
    host h;
    (void)state;
    host_init(&h, "{'rules':[{'when':{'step':1},'reply':[{'tool':'ask_user'}]},"
                  "{'reply':[{'text':'got {{result}}'}]}]}");
    h.so.approver = HOB_APPROVER_HOST;
    h.so.tools = &tool;
    h.so.ntools = 1;
    host_open(&h);
    assert_string_equal(host_prompt(&h, "go"), "completed");
    assert_string_equal(host_text(&h), "got quick result");
    host_finish(&h);
}

/* ---- what cannot be asked ------------------------------------------------------------------------ */

static void test_session_question__a_broken_schema_goes_back_to_the_model(void **state) {
    host h;
    (void)state;
    ask_init(&h,
             "{'rules':[{'when':{'step':1},'reply':[{'tool':'ask_user','args':{'question':'Which?',"
             "'schema':{'type':'colour'}}}]},{'reply':[{'text':'{{result}}'}]}]}",
             HOB_APPROVER_HOST);
    assert_string_equal(host_prompt(&h, "go"), "completed");
    assert_string_equal(host_text(&h), "error: the schema's \"type\" is unknown: \"colour\"");
    assert_int_equal(host_count(&h, "approval_requested"), 0);
    host_finish(&h);
}

/* ---- other processes ------------------------------------------------------------------------------ */

static void test_session_question__survives_restart(void **state) {
    host h;
    (void)state;
    ask_init(&h, script, HOB_APPROVER_HOST);
    ask(&h);
    host_reopen(&h, HOB_UNFINISHED_RESUME);
    assert_int_equal(hob_session_is_parked(h.s), 1);
    assert_ok(answer(&h, "m4.0", "{\"colour\":\"red\"}"), h.err);
    assert_string_equal(host_wait(&h), "completed");
    assert_string_equal(host_text(&h), "got {\"colour\":\"red\"}");
    assert_int_equal(host_count(&h, "approval_requested"), 1);
    assert_int_equal(host_count(&h, "run_started"), 1);
    host_finish(&h);
}

/* ---- sub-agents ------------------------------------------------------------------------------------ */

static const char team[] =
    "{'rules':["
    "{'when':{'system':{'contains':'work as a sub-agent'},'step':1},'reply':[{'tool':'ask_user',"
    "'args':{'question':'Which?','schema':{'enum':['a','b']}}}]},"
    "{'when':{'system':{'contains':'work as a sub-agent'}},'reply':[{'text':'child got {{result}}'}]},"
    "{'when':{'step':1},'reply':[{'tool':'task','args':{'agent':'general','prompt':'look'}}]}],"
    "'otherwise':[{'text':'the end: {{result}}'}]}";

static void call_of(host *h, char *out, size_t cap) {
    hob_page *p;
    assert_ok(hob_session_pending_confirmations(h->s, &p, &h->err), h->err);
    assert_int_equal(hob_page_count(p), 1);
    assert_non_null(strstr(hob_page_row(p, 0).p,
                           ",\"question\":\"Which?\",\"schema\":{\"enum\":[\"a\",\"b\"]}"));
    assert_true(hob_json_field(hob_page_row(p, 0), "call", out, cap) > 0);
    hob_page_destroy(p);
}

static void test_session_question__of_a_child_is_asked_at_its_parent(void **state) {
    host h;
    char call[300];
    (void)state;
    ask_init(&h, team, HOB_APPROVER_HOST);
    ask(&h);
    call_of(&h, call, sizeof call);
    assert_int_equal(answer(&h, call, "\"c\""), HOB_EINVAL);
    host_reopen(&h, HOB_UNFINISHED_RESUME);
    call_of(&h, call, sizeof call);
    assert_ok(answer(&h, call, "\"b\""), h.err);
    assert_string_equal(host_wait(&h), "completed");
    assert_non_null(strstr(host_text(&h), "child got b"));
    assert_int_equal(host_count(&h, "approval_requested"), 1);
    host_finish(&h);
}

/* ---- agents ------------------------------------------------------------------------------------------ */

/* An agent whose file lists the tool among those that it may use has not answered itself. */
static void test_session_question__sec_08_a_list_of_tools_answers_nothing(void **state) {
    host h;
    (void)state;
    host_init(&h, script);
    host_define(&h, "agents", "asker",
                "tools: AskUserQuestion\npermissionMode: bypassPermissions\n", "You ask.");
    h.so.agent_name = "asker";
    h.so.approver = HOB_APPROVER_HOST;
    h.so.permission_mode = "yolo";
    host_open(&h);
    assert_true(is_offered(&h));
    ask(&h);
    assert_int_equal(hob_session_is_parked(h.s), 1);
    assert_ok(answer(&h, "m4.0", "{\"colour\":\"red\"}"), h.err);
    assert_string_equal(host_wait(&h), "completed");
    host_define_end(&h);
}

static hob_agent *member(const char *name) {
    hob_agent_opts o = HOB_AGENT_OPTS_INIT;
    o.name = name;
    o.instruction = "You ask.";
    return llm_with(&o);
}

static void test_session_question__an_agent_of_a_workflow_asks(void **state) {
    host h;
    (void)state;
    host_init(&h, plain);
    h.so.approver = HOB_APPROVER_HOST;
    h.so.team = in_order("both", member("one"), NULL);
    hob_agent *agents = h.so.team;
    host_open(&h);
    hob_event *e;
    char call[64];
    assert_ok(hob_session_prompt(h.s, hob_str_z("go"), &h.err), h.err);
    e = host_until(&h, HOB_EVENT_APPROVAL_REQUESTED, NULL, NULL);
    hob_event_field(e, "call", call, sizeof call);
    hob_event_unref(e);
    assert_int_equal(answer(&h, call, "1"), HOB_EINVAL);
    assert_ok(answer(&h, call, "\"Eva\""), h.err);
    assert_string_equal(host_wait(&h), "completed");
    assert_string_equal(host_text(&h), "got Eva");
    host_finish(&h);
    hob_agent_unref(agents);
}

/* Neither is a member of a team that nobody can answer told of it. */
static void test_session_question__no_agent_of_a_workflow_is_offered_what_nobody_answers(
    void **state) {
    host h;
    (void)state;
    host_init(&h, "{'rules':[{'when':{'offers':'ask_user'},'reply':[{'text':'I can ask'}]}],"
                  "'otherwise':[{'text':'I cannot'}]}");
    h.so.team = in_order("both", member("one"), NULL);
    hob_agent *agents = h.so.team;
    host_open(&h);
    assert_string_equal(host_prompt(&h, "go"), "completed");
    assert_string_equal(host_text(&h), "I cannot");
    host_finish(&h);
    hob_agent_unref(agents);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_session_question__the_answer_is_the_result),
        cmocka_unit_test(test_session_question__a_text_is_told_as_it_is),
        cmocka_unit_test(test_session_question__waits_until_the_answer_fits),
        cmocka_unit_test(test_session_question__is_answered_once),
        cmocka_unit_test(test_session_question__declined_says_why),
        cmocka_unit_test(test_session_question__row_has_question_and_schema),
        cmocka_unit_test(test_session_question__no_mode_and_no_rule_answers),
        cmocka_unit_test(test_session_question__is_offered_where_somebody_answers),
        cmocka_unit_test(test_session_question__nobody_there_is_a_result),
        cmocka_unit_test(test_session_question__a_tool_of_the_hosts_takes_its_place),
        cmocka_unit_test(test_session_question__a_broken_schema_goes_back_to_the_model),
        cmocka_unit_test(test_session_question__survives_restart),
        cmocka_unit_test(test_session_question__of_a_child_is_asked_at_its_parent),
        cmocka_unit_test(test_session_question__sec_08_a_list_of_tools_answers_nothing),
        cmocka_unit_test(test_session_question__an_agent_of_a_workflow_asks),
        cmocka_unit_test(
            test_session_question__no_agent_of_a_workflow_is_offered_what_nobody_answers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
