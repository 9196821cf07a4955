/* Functions of the host around the model and the tools, the session's and the agents', on the scripted model. */
#include "support/check.h"
#include "support/stateful.h"
#include "support/voice.h"

#include <stdio.h>
#include <string.h>

/* ---- order ------------------------------------------------------------------------------------------------- */

static void run_noted(const hob_tool_call *call, hob_reply *reply, void *user) {
    (void)call;
    voice_note(user, "tool");
    hob_reply_text(reply, HOB_OUTCOME_OK, hob_str_z("done"));
}

static void show_order(const char *store) {
    talked f;
    voice own, none;
    talked_init(&f, store);
    voice_init(&own, "A", f.journal);
    voice_init(&none, "", f.journal);
    f.tool.run = run_noted;
    f.tool.user = &none;
    talked_open(&f, voice_agent("one", &own));
    assert_string_equal(host_prompt(&f.h, "go"), "completed");
    assert_string_equal(f.journal, "P.before_agent A.before_agent "
                                   "P.before_model A.before_model P.after_model A.after_model "
                                   "P.before_tool A.before_tool tool P.after_tool A.after_tool "
                                   "P.before_model A.before_model P.after_model A.after_model "
                                   "P.after_agent A.after_agent ");
    assert_string_equal(host_text(&f.h), "seen: done");
    talked_finish(&f);
    voice_finish(&own);
    voice_finish(&none);
}

static void test_session_callbacks__case_52_the_order_of_all(void **state) {
    (void)state;
    show_order("memory");
    show_order("sqlite");
}

static void test_session_callbacks__case_52_the_sessions_answer_comes_before_the_agents(
    void **state) {
    talked f;
    voice own;
    (void)state;
    talked_init(&f, "memory");
    voice_init(&own, "A", f.journal);
    voice_only(&f.plugin, BEFORE_MODEL);
    voice_only(&own, BEFORE_MODEL);
    f.plugin.says[BEFORE_MODEL] = "no need to ask";
    talked_open(&f, voice_agent("one", &own));
    assert_string_equal(host_prompt(&f.h, "go"), "completed");
    assert_string_equal(f.journal, "P.before_model ");
    assert_string_equal(host_text(&f.h), "no need to ask");
    talked_finish(&f);
    voice_finish(&own);
}

/* ---- the model ----------------------------------------------------------------------------------------------- */

static void test_session_callbacks__case_51_content_before_the_model_skips_after_model(
    void **state) {
    talked f;
    (void)state;
    talked_init(&f, "memory");
    f.plugin.says[BEFORE_MODEL] = "cached";
    host_open(&f.h);
    assert_string_equal(host_prompt(&f.h, "go"), "completed");
    assert_string_equal(f.journal, "P.before_model ");
    assert_string_equal(host_text(&f.h), "cached");
    assert_non_null(
        strstr(stateful_event(&f.h, "assistant_message", 0), "\"callback\":\"before_model\""));
    f.plugin.says[BEFORE_MODEL] = NULL; /* the conversation goes on with it */
    host_script(&f.h, "{'rules':[{'when':{'user':'and'},'reply':[{'text':'more'}]}]}");
    assert_string_equal(host_prompt(&f.h, "and"), "completed");
    talked_finish(&f);
}

static void test_session_callbacks__case_51_content_before_an_agent_lets_the_next_run(
    void **state) {
    talked f;
    voice own;
    (void)state;
    talked_init(&f, "memory");
    f.h.so.callbacks = NULL;
    voice_init(&own, "A", f.journal);
    own.says[BEFORE_AGENT] = "not me";
    host_script(&f.h, "{'rules':[{'when':{'system':'two'},'reply':[{'text':'two'}]}]}");
    hob_agent_opts o = HOB_AGENT_OPTS_INIT;
    o.name = "two";
    o.instruction = "two";
    talked_open(&f, in_order("all", voice_agent("one", &own), llm_with(&o), NULL));
    assert_string_equal(host_prompt(&f.h, "go"), "completed");
    assert_string_equal(f.journal, "A.before_agent A.after_agent ");
    assert_string_equal(host_text(&f.h), "two");
    talked_finish(&f);
    voice_finish(&own);
}

/* What readers get of an answer, in the order in which it came. */
static void read_deltas(host *h, char *out, size_t cap) {
    hob_event *e;
    char text[256];
    out[0] = 0;
    while (hob_session_next_event(h->s, 5000, &e) == 1) {
        size_t n = strlen(out);
        if (hob_event_type_of(e) == HOB_EVENT_TEXT_DELTA &&
            hob_event_text(e, text, sizeof text) > 0)
            snprintf(out + n, cap - n, "%s|", text);
        hob_event_unref(e);
    }
}

static void test_session_callbacks__an_answer_that_is_replaced_is_shown_to_nobody(void **state) {
    talked f;
    char deltas[512];
    (void)state;
    talked_init(&f, "memory");
    host_script(&f.h, "{'otherwise':[{'text':'the secret is 1234'}]}");
    voice_only(&f.plugin, AFTER_MODEL);
    f.plugin.says[AFTER_MODEL] = "the secret is out of sight";
    host_open(&f.h);
    assert_string_equal(host_prompt(&f.h, "go"), "completed");
    assert_non_null(strstr(f.plugin.content, "the secret is 1234"));
    assert_string_equal(host_text(&f.h), "the secret is out of sight");
    read_deltas(&f.h, deltas, sizeof deltas);
    assert_string_equal(deltas, "the secret is out of sight|");
    assert_null(strstr(host_log(&f.h), "1234"));
    assert_null(strstr(stateful_event(&f.h, "assistant_message", 0), "1234"));
    talked_finish(&f);
}

static void test_session_callbacks__a_replaced_answer_makes_no_calls(void **state) {
    talked f;
    (void)state;
    talked_init(&f, "memory");
    voice_only(&f.plugin, AFTER_MODEL);
    f.plugin.says[AFTER_MODEL] = "rather not";
    host_open(&f.h);
    assert_string_equal(host_prompt(&f.h, "go"), "completed");
    assert_non_null(strstr(f.plugin.content, "\"tool_call\""));
    assert_int_equal(f.ran, 0);
    assert_string_equal(host_text(&f.h), "rather not");
    talked_finish(&f);
}

static void test_session_callbacks__a_failure_before_the_model_fails_the_run(void **state) {
    talked f;
    (void)state;
    talked_init(&f, "memory");
    f.plugin.says[BEFORE_MODEL] = "the guard is asleep";
    f.plugin.outcome[BEFORE_MODEL] = HOB_OUTCOME_ERROR;
    host_open(&f.h);
    assert_string_equal(host_prompt(&f.h, "go"), "failed");
    assert_int_equal(hob_result_code(f.h.result), HOB_EAGENT);
    assert_non_null(strstr(stateful_event(&f.h, "run_finished", 0), "the guard is asleep"));
    assert_int_equal(host_count(&f.h, "retry_scheduled"), 0);
    f.plugin.says[BEFORE_MODEL] = NULL; /* the next prompt works */
    assert_string_equal(host_prompt(&f.h, "again"), "completed");
    talked_finish(&f);
}

/* ---- tools -------------------------------------------------------------------------------------------------------- */

static void test_session_callbacks__content_before_a_tool_replaces_the_call(void **state) {
    talked f;
    (void)state;
    talked_init(&f, "memory");
    f.plugin.says[BEFORE_TOOL] = "from the cache";
    host_open(&f.h);
    assert_string_equal(host_prompt(&f.h, "go"), "completed");
    assert_int_equal(f.ran, 0);
    assert_string_equal(host_text(&f.h), "seen: from the cache");
    assert_non_null(strstr(f.journal, "P.before_tool P.after_tool ")); /* it sees every result */
    talked_finish(&f);
}

static void test_session_callbacks__a_result_is_replaced(void **state) {
    talked f;
    (void)state;
    talked_init(&f, "memory");
    voice_only(&f.plugin, AFTER_TOOL);
    f.plugin.says[AFTER_TOOL] = "shorter";
    host_open(&f.h);
    assert_string_equal(host_prompt(&f.h, "go"), "completed");
    assert_int_equal(f.ran, 1);
    assert_non_null(strstr(f.plugin.content, "quick result"));
    assert_string_equal(f.plugin.args, "{}");
    assert_string_equal(host_text(&f.h), "seen: shorter");
    assert_null(strstr(stateful_event(&f.h, "tool_finished", 0), "quick result"));
    talked_finish(&f);
}

static void test_session_callbacks__case_55_a_refusal_before_a_tool_is_its_result(void **state) {
    talked f;
    (void)state;
    talked_init(&f, "memory");
    f.plugin.says[BEFORE_TOOL] = "not on a Sunday";
    f.plugin.outcome[BEFORE_TOOL] = HOB_OUTCOME_DENIED;
    host_open(&f.h);
    assert_string_equal(host_prompt(&f.h, "go"), "completed");
    assert_int_equal(f.ran, 0);
    assert_string_equal(host_text(&f.h), "seen: not on a Sunday");
    assert_non_null(strstr(stateful_event(&f.h, "tool_finished", 0), "\"outcome\":\"denied\""));
    talked_finish(&f);
}

static const char by_a_child[] =
    "{'rules':[{'when':{'system':{'contains':'work as a sub-agent'},'step':1},"
    "'reply':[{'tool':'quick','args':{}}]},"
    "{'when':{'system':{'contains':'work as a sub-agent'}},'reply':[{'text':'child: {{result}}'}]},"
    "{'when':{'step':1},'reply':[{'tool':'task','args':{'agent':'general','prompt':'go'}}]},"
    "{'reply':[{'text':'{{result}}'}]}]}";

static void refuse_quick(const hob_agent_call *call, hob_reply *reply, void *user) {
    (void)user;
    if (hob_str_eqz(call->tool, "quick"))
        hob_reply_text(reply, HOB_OUTCOME_DENIED, hob_str_z("not this one"));
    else
        hob_reply_pass(reply);
}

static void test_session_callbacks__what_guards_a_session_guards_its_children(void **state) {
    talked f;
    (void)state;
    talked_init(&f, "sqlite");
    host_script(&f.h, by_a_child);
    voice_only(&f.plugin, BEFORE_TOOL);
    f.plugin.callbacks.before_tool = refuse_quick;
    host_open(&f.h);
    assert_string_equal(host_prompt(&f.h, "go"), "completed");
    assert_non_null(strstr(host_text(&f.h), "child: not this one"));
    assert_int_equal(f.ran, 0);
    talked_finish(&f);
}

/* ---- what they ask for ------------------------------------------------------------------------------------------ */

static void test_session_callbacks__an_instruction_reads_what_before_model_set(void **state) {
    talked f;
    voice own;
    (void)state;
    talked_init(&f, "memory");
    f.h.so.callbacks = NULL;
    voice_init(&own, "A", f.journal);
    own.delta[BEFORE_MODEL] = "{\"city\":\"Lyon\",\"temp:t\":1}";
    own.reads = "temp:t"; /* seen by those that come later */
    host_script(&f.h, "{'rules':[{'when':{'system':'in Lyon'},'reply':[{'text':'yes'}]}]}");
    hob_agent_opts o = HOB_AGENT_OPTS_INIT;
    o.name = "one";
    o.instruction = "in {city}";
    o.callbacks = &own.callbacks;
    talked_open(&f, llm_with(&o));
    assert_string_equal(host_prompt(&f.h, "go"), "completed");
    assert_string_equal(host_text(&f.h), "yes");
    assert_string_equal(own.read, "1");
    assert_string_equal(stateful_event(&f.h, "state_changed", 0),
                        "{\"delta\":{\"city\":\"Lyon\"},\"temp\":[\"temp:t\"]}");
    talked_finish(&f);
    voice_finish(&own);
}

static void test_session_callbacks__a_tool_reads_what_before_tool_set(void **state) {
    talked f;
    (void)state;
    talked_init(&f, "memory");
    host_script(&f.h, "{'rules':[{'when':{'step':1},'reply':[{'tool':'set','args':{'read':'k',"
                      "'delta':{'k':2}}}]},{'reply':[{'text':'{{result}}'}]}]}");
    stateful_tool(&f.h, &f.tool);
    f.plugin.delta[BEFORE_TOOL] = "{\"k\":1,\"b\":1}";
    f.plugin.delta[AFTER_TOOL] = "{\"a\":1}";
    f.plugin.reads = "k";
    host_open(&f.h);
    assert_string_equal(host_prompt(&f.h, "go"), "completed");
    assert_string_equal(host_text(&f.h), "1");
    assert_string_equal(f.plugin.read, "2"); /* after_model, at the end */
    assert_non_null(strstr(stateful_event(&f.h, "tool_finished", 0),
                           "\"actions\":{\"state_delta\":{\"a\":1,\"b\":1,\"k\":2}}"));
    assert_string_equal(stateful_event(&f.h, "state_changed", 1), ""); /* one for all */
    talked_finish(&f);
}

static void test_session_callbacks__each_sees_what_those_before_it_changed(void **state) {
    talked f;
    voice own;
    (void)state;
    talked_init(&f, "memory");
    voice_init(&own, "A", f.journal);
    voice_only(&f.plugin, BEFORE_TOOL);
    voice_only(&own, BEFORE_TOOL);
    f.plugin.delta[BEFORE_TOOL] = "{\"k\":\"mine\"}";
    own.reads = "k";
    talked_open(&f, voice_agent("one", &own));
    assert_string_equal(host_prompt(&f.h, "go"), "completed");
    assert_string_equal(own.read, "\"mine\"");
    talked_finish(&f);
    voice_finish(&own);
}

static void test_session_callbacks__after_model_hands_over(void **state) {
    talked f;
    voice own;
    (void)state;
    talked_init(&f, "memory");
    f.h.so.callbacks = NULL;
    voice_init(&own, "A", f.journal);
    voice_only(&own, AFTER_MODEL);
    own.transfer = "child";
    host_script(&f.h, "{'rules':[{'when':{'system':'child'},'reply':[{'text':'I see'}]},"
                      "{'reply':[{'text':'hm'}]}]}");
    hob_agent_opts o = HOB_AGENT_OPTS_INIT;
    o.name = o.instruction = "child";
    hob_agent *child = llm_with(&o);
    o.name = o.instruction = "root";
    o.callbacks = &own.callbacks;
    talked_open(&f, made_of(&o, &child, 1));
    assert_string_equal(host_prompt(&f.h, "go"), "completed");
    assert_string_equal(host_text(&f.h), "I see");
    assert_non_null(strstr(stateful_event(&f.h, "agent_finished", 0), "\"transfer\":\"child\""));
    talked_finish(&f);
    voice_finish(&own);
}

static void test_session_callbacks__after_model_ends_a_loop(void **state) {
    talked f;
    voice own;
    (void)state;
    talked_init(&f, "memory");
    f.h.so.callbacks = NULL;
    voice_init(&own, "A", f.journal);
    voice_only(&own, AFTER_MODEL);
    own.escalate = true;
    host_script(&f.h, "{'otherwise':[{'text':'once'}]}");
    talked_open(&f, again("loop", 5, voice_agent("one", &own), NULL));
    assert_string_equal(host_prompt(&f.h, "go"), "completed");
    assert_int_equal(host_count(&f.h, "assistant_message"), 1);
    talked_finish(&f);
    voice_finish(&own);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_session_callbacks__case_52_the_order_of_all),
        cmocka_unit_test(
            test_session_callbacks__case_52_the_sessions_answer_comes_before_the_agents),
        cmocka_unit_test(
            test_session_callbacks__case_51_content_before_the_model_skips_after_model),
        cmocka_unit_test(test_session_callbacks__case_51_content_before_an_agent_lets_the_next_run),
        cmocka_unit_test(test_session_callbacks__an_answer_that_is_replaced_is_shown_to_nobody),
        cmocka_unit_test(test_session_callbacks__a_replaced_answer_makes_no_calls),
        cmocka_unit_test(test_session_callbacks__a_failure_before_the_model_fails_the_run),
        cmocka_unit_test(test_session_callbacks__content_before_a_tool_replaces_the_call),
        cmocka_unit_test(test_session_callbacks__a_result_is_replaced),
        cmocka_unit_test(test_session_callbacks__case_55_a_refusal_before_a_tool_is_its_result),
        cmocka_unit_test(test_session_callbacks__what_guards_a_session_guards_its_children),
        cmocka_unit_test(test_session_callbacks__an_instruction_reads_what_before_model_set),
        cmocka_unit_test(test_session_callbacks__a_tool_reads_what_before_tool_set),
        cmocka_unit_test(test_session_callbacks__each_sees_what_those_before_it_changed),
        cmocka_unit_test(test_session_callbacks__after_model_hands_over),
        cmocka_unit_test(test_session_callbacks__after_model_ends_a_loop),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
