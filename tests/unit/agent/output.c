/* The final answer of an agent as a value of the state. */
#include "support/check.h"
#include "support/sim_agents.h"
#include "support/sim_play.h"

static void begin(sim *s, hob_agent *root) {
    sim_init(s);
    sim_agents(s, root);
    sim_prompt(s, "go");
    sim_log(s);
}

static hob_agent *bound(const char *key) {
    hob_agent_opts o = HOB_AGENT_OPTS_INIT;
    o.name = "a";
    o.output_key = key;
    o.output_schema =
        "{\"type\":\"object\",\"properties\":{\"n\":{\"type\":\"integer\"}},\"required\":[\"n\"]}";
    return made_of(&o, NULL, 0);
}

static void test_agent_output__case_42_is_there_for_the_next_one(void **state) {
    sim s;
    hob_error err;
    hob_buf out;
    (void)state;
    begin(&s, in_order("seq", keeper("a", "x"), llm("b", NULL), NULL));
    agent_says(&s, "a", "a \"draft\"");
    assert_string_equal(sim_pending(&s), "[b] call_model m10");
    hob_buf_init(&out, 1000);
    assert_ok(hob_instruction_expand(HOB_STR("Shorten: {x}"), &s.view->state, &out, &err), err);
    assert_string_equal(hob_buf_z(&out), "Shorten: a \"draft\"");
    hob_buf_finish(&out);
    sim_play_out(&s);
    sim_finish(&s);
}

static void test_agent_output__is_the_text_of_the_last_answer(void **state) {
    sim s;
    (void)state;
    begin(&s, keeper("a", "x"));
    sim_as(&s, "a");
    sim_answer(&s, "let me look", "look:x", HOB_STOP_TOOLS);
    agent_acts(&s, "a", 0, NULL);
    sim_as(&s, "a");
    sim_content(
        &s,
        "[{'type':'thinking','text':'hm'},{'type':'text','text':'one '},{'type':'text','text':'two'}]",
        HOB_STOP_DONE);
    assert_log(&s, "5 assistant_message [a] m4 tools 'let me look' look(m4.0)\n"
                   "6 tool_decided [a] m4.0 look allow mode:yolo\n"
                   "7 tool_started [a] m4.0 look read_only\n"
                   "8 tool_finished [a] m4.0 ok 'ok'\n"
                   "9 model_call_started [a] m9 turn=2\n"
                   "10 assistant_message [a] m9 done 'hm' 'one ' 'two'\n"
                   "11 state_changed [a] {\"x\":\"one two\"}\n"
                   "12 agent_finished [a] completed\n"
                   "13 run_finished completed turns=2 tool_calls=1\n"
                   "14 settled completed\n");
    sim_finish(&s);
}

static void test_agent_output__of_a_schema_is_json(void **state) {
    sim s;
    (void)state;
    begin(&s, bound("x"));
    agent_says(&s, "a", " {\n  \"n\": 3\n}\n");
    assert_log(&s, "5 assistant_message [a] m4 done ' {\n"
                   "  \"n\": 3\n"
                   "}\n"
                   "'\n"
                   "6 state_changed [a] {\"x\":{   \"n\": 3 }}\n"
                   "7 agent_finished [a] completed\n"
                   "8 run_finished completed turns=1 tool_calls=0\n"
                   "9 settled completed\n");
    sim_finish(&s);
}

static void test_agent_output__that_does_not_fit_fails_the_agent(void **state) {
    static const char *const wrong[] = {"{\"n\":\"three\"}", "three", "{}", "",
                                        "{\"n\":3} and more"};
    (void)state;
    for (size_t i = 0; i < HOB_ARRAY_LEN(wrong); i++) {
        sim s;
        begin(&s, bound("x"));
        agent_says(&s, "a", wrong[i]);
        assert_string_equal(s.run.last_status, "failed");
        assert_int_equal(s.run.fail.code, HOB_EAGENT);
        assert_non_null(strstr(s.run.fail.message, "output_schema"));
        assert_int_equal(sim_count(&s, HOB_EVENT_STATE_CHANGED), 0);
        sim_finish(&s);
    }
}

static void test_agent_output__a_schema_binds_without_a_key(void **state) {
    sim s;
    (void)state;
    begin(&s, bound(NULL));
    agent_says(&s, "a", "{\"n\":3}");
    assert_string_equal(s.run.last_status, "completed");
    assert_int_equal(sim_count(&s, HOB_EVENT_STATE_CHANGED), 0);
    sim_prompt(&s, "again");
    agent_says(&s, "a", "no");
    assert_string_equal(s.run.last_status, "failed");
    sim_finish(&s);
}

static void test_agent_output__of_temp_is_named_only(void **state) {
    sim s;
    (void)state;
    begin(&s, keeper("a", "temp:x"));
    agent_says(&s, "a", "secret");
    assert_log(&s, "5 assistant_message [a] m4 done 'secret'\n"
                   "6 state_changed [a] temp=[\"temp:x\"]\n"
                   "7 agent_finished [a] completed\n"
                   "8 run_finished completed turns=1 tool_calls=0\n"
                   "9 settled completed\n");
    assert_int_equal(hob_str_find(s.log[s.n - 4].event->json, HOB_STR("secret")), -1);
    sim_finish(&s);
}

static void test_agent_output__is_not_set_by_one_that_was_handed_over_to(void **state) {
    sim s;
    hob_agent_opts o = HOB_AGENT_OPTS_INIT;
    (void)state;
    o.name = "a";
    o.output_key = "x";
    hob_agent *child = llm("child", NULL);
    begin(&s, made_of(&o, &child, 1));
    agent_calls(&s, "a", "hand:x");
    agent_acts(&s, "a", 0, "{'transfer':'child'}");
    agent_says(&s, "child", "mine");
    assert_int_equal(sim_count(&s, HOB_EVENT_STATE_CHANGED), 0);
    sim_finish(&s);
}

static void test_agent_output__is_not_set_by_one_that_failed(void **state) {
    sim s;
    (void)state;
    begin(&s, keeper("a", "x"));
    sim_as(&s, "a");
    sim_answer(&s, "half", NULL, HOB_STOP_LENGTH);
    assert_log(&s, "5 assistant_message [a] m4 length 'half'\n"
                   "6 agent_finished [a] limit reason=length\n"
                   "7 run_finished limit reason=length turns=1 tool_calls=0\n"
                   "8 settled limit\n");
    sim_finish(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_agent_output__case_42_is_there_for_the_next_one),
        cmocka_unit_test(test_agent_output__is_the_text_of_the_last_answer),
        cmocka_unit_test(test_agent_output__of_a_schema_is_json),
        cmocka_unit_test(test_agent_output__that_does_not_fit_fails_the_agent),
        cmocka_unit_test(test_agent_output__a_schema_binds_without_a_key),
        cmocka_unit_test(test_agent_output__of_temp_is_named_only),
        cmocka_unit_test(test_agent_output__is_not_set_by_one_that_was_handed_over_to),
        cmocka_unit_test(test_agent_output__is_not_set_by_one_that_failed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
