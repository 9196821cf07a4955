/* Conditional agents, and the conditions that are text. */
#include "support/check.h"
#include "support/sim_agents.h"
#include "support/sim_play.h"

/* ---- conditions ----------------------------------------------------------------------------------- */

static const struct {
    const char *key, *value;
} kept[] = {
    {"yes", "true"},
    {"no", "false"},
    {"null", "null"},
    {"zero", "0"},
    {"one", "1"},
    {"empty", "\"\""},
    {"text", "\"a != b\""},
    {"none", "[]"},
    {"list", "[1,2.0]"},
    {"void", "{}"},
    {"tree", "{\"a\":[1],\"b\":\"\\u00e9\"}"},
    {"app:k", "5"},
    {"user:k", "\"u\""},
    {"big", "9007199254740993"},
};

static bool holds(const char *condition) {
    hob_state state = {.count = 0};
    hob_error err;
    for (size_t i = 0; i < HOB_ARRAY_LEN(kept); i++)
        hob_state_assign(&state, hob_str_z(kept[i].key), hob_str_z(kept[i].value));
    assert_ok(hob_condition_check(hob_str_z(condition), &err), err);
    bool yes = hob_condition_holds(hob_str_z(condition), &state);
    hob_state_finish(&state);
    return yes;
}

static void test_agent_choice__conditions_that_hold(void **state) {
    static const char *const all[] = {"yes",
                                      " one ",
                                      "text",
                                      "list",
                                      "tree",
                                      "app:k",
                                      "user:k",
                                      "!no",
                                      "! null",
                                      "!zero",
                                      "!empty",
                                      "!none",
                                      "!void",
                                      "!missing",
                                      "one == 1",
                                      "one == 1.0",
                                      "one==1",
                                      "one != 2",
                                      "text == \"a != b\"",
                                      "text != \"a == b\"",
                                      "list == [1, 2]",
                                      "tree == {\"b\":\"\xc3\xa9\",\"a\":[1.0]}",
                                      "null == null",
                                      "no == false",
                                      "missing != 1",
                                      "missing != null",
                                      "app:k == 5",
                                      "big == 9007199254740993",
                                      "void == {}",
                                      "list != [2,1]"};
    (void)state;
    for (size_t i = 0; i < HOB_ARRAY_LEN(all); i++)
        if (!holds(all[i])) fail_msg("%s does not hold", all[i]);
}

static void test_agent_choice__conditions_that_do_not(void **state) {
    static const char *const all[] = {"no",
                                      "null",
                                      "zero",
                                      "empty",
                                      "none",
                                      "void",
                                      "missing",
                                      "!yes",
                                      "!text",
                                      "one == \"1\"",
                                      "one == 2",
                                      "one != 1",
                                      "missing == null",
                                      "null == false",
                                      "list == [1]",
                                      "list == {}",
                                      "tree == {\"a\":[1]}",
                                      "k == 5",
                                      "zero == null",
                                      "yes == \"true\""};
    (void)state;
    for (size_t i = 0; i < HOB_ARRAY_LEN(all); i++)
        if (holds(all[i])) fail_msg("%s holds", all[i]);
}

static void test_agent_choice__what_is_no_condition_is_refused(void **state) {
    static const char *const all[] = {
        "",        "  ",     "!",   "== 1",    "key ==",      "key == text", "key = 1",
        "key > 1", "a && b", "a b", "!a == 1", "a == 1 == 2", "a/b",         "..",
        "temp:",   "a == {", "(a)", "a||b",    "!!a"};
    (void)state;
    for (size_t i = 0; i < HOB_ARRAY_LEN(all); i++) {
        hob_error err = {0};
        if (hob_condition_check(hob_str_z(all[i]), &err) != HOB_EINVAL)
            fail_msg("%s passes", all[i]);
        assert_true(err.message[0]);
    }
}

/* ---- agents ---------------------------------------------------------------------------------------- */

static void begin(sim *s, hob_agent *root) {
    sim_init(s);
    sim_agents(s, root);
    sim_prompt(s, "go");
}

static void test_agent_choice__the_first_if_it_holds(void **state) {
    sim s;
    (void)state;
    begin(&s, in_order("seq", keeper("a", "mood"),
                       either("if", "mood == \"good\"", llm("sing", NULL), llm("weep", NULL), NULL),
                       NULL));
    sim_log(&s);
    agent_says(&s, "a", "good");
    agent_says(&s, "sing", "la");
    assert_log(&s, "6 assistant_message [a] m5 done 'good'\n"
                   "7 state_changed [a] {\"mood\":\"good\"}\n"
                   "8 agent_finished [a] completed\n"
                   "9 agent_started [if] conditional\n"
                   "10 agent_started [sing] llm\n"
                   "11 model_call_started [sing] m11 turn=1\n"
                   "12 assistant_message [sing] m11 done 'la'\n"
                   "13 agent_finished [sing] completed\n"
                   "14 agent_finished [if] completed\n"
                   "15 agent_finished [seq] completed\n"
                   "16 run_finished completed turns=2 tool_calls=0\n"
                   "17 settled completed\n");
    sim_finish(&s);
}

static void test_agent_choice__else_the_second(void **state) {
    sim s;
    (void)state;
    begin(&s, either("if", "mood == \"good\"", llm("sing", NULL), llm("weep", NULL), NULL));
    agent_says(&s, "weep", "oh");
    assert_log(&s, "1 run_started run-s1-1 prompt\n"
                   "2 user_message 'go'\n"
                   "3 agent_started [if] conditional\n"
                   "4 agent_started [weep] llm\n"
                   "5 model_call_started [weep] m5 turn=1\n"
                   "6 assistant_message [weep] m5 done 'oh'\n"
                   "7 agent_finished [weep] completed\n"
                   "8 agent_finished [if] completed\n"
                   "9 run_finished completed turns=1 tool_calls=0\n"
                   "10 settled completed\n");
    sim_finish(&s);
}

static void test_agent_choice__or_nothing(void **state) {
    sim s;
    (void)state;
    begin(&s, either("if", "mood == \"good\"", llm("sing", NULL), NULL));
    assert_log(&s, "1 run_started run-s1-1 prompt\n"
                   "2 user_message 'go'\n"
                   "3 agent_started [if] conditional\n"
                   "4 agent_finished [if] completed\n"
                   "5 run_finished completed turns=0 tool_calls=0\n"
                   "6 settled completed\n");
    sim_finish(&s);
}

static int has_more(const hob_state *state, void *user) {
    hob_str value;
    ++*(int *)user;
    return hob_state_get(state, HOB_STR("more"), &value) >= 0 && hob_str_eqz(value, "true");
}

static hob_agent *by_function(hob_agent *first, int *asked) {
    hob_agent_opts o = HOB_AGENT_OPTS_INIT;
    o.name = "if";
    o.kind = HOB_AGENT_CONDITIONAL;
    o.holds = has_more;
    o.user = asked;
    return made_of(&o, &first, 1);
}

static void test_agent_choice__a_function_is_asked_once(void **state) {
    sim s;
    int asked = 0;
    (void)state;
    begin(&s, in_order("seq", llm("a", NULL), by_function(llm("b", NULL), &asked), NULL));
    agent_calls(&s, "a", "keep:x");
    agent_acts(&s, "a", 0, "{'state_delta':{'more':true}}");
    agent_says(&s, "a", "");
    assert_int_equal(asked, 1);
    agent_calls(&s, "b", "keep:x");
    agent_acts(&s, "b", 0, "{'state_delta':{'more':false}}");
    agent_says(&s, "b", "");
    assert_int_equal(asked, 1);
    assert_string_equal(s.run.last_status, "completed");
    sim_finish(&s);
}

static void test_agent_choice__what_fails_fails_it(void **state) {
    sim s;
    (void)state;
    begin(&s, either("if", "!k", llm("a", NULL), NULL));
    sim_log(&s);
    agent_fails(&s, "a", HOB_EAUTH);
    assert_log(&s, "6 model_call_failed [a] m5 HOB_EAUTH\n"
                   "7 agent_finished [a] failed\n"
                   "8 agent_finished [if] failed reason=a did not complete\n"
                   "9 run_finished failed reason=a did not complete turns=1 tool_calls=0\n"
                   "10 settled failed\n");
    sim_finish(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_agent_choice__conditions_that_hold),
        cmocka_unit_test(test_agent_choice__conditions_that_do_not),
        cmocka_unit_test(test_agent_choice__what_is_no_condition_is_refused),
        cmocka_unit_test(test_agent_choice__the_first_if_it_holds),
        cmocka_unit_test(test_agent_choice__else_the_second),
        cmocka_unit_test(test_agent_choice__or_nothing),
        cmocka_unit_test(test_agent_choice__a_function_is_asked_once),
        cmocka_unit_test(test_agent_choice__what_fails_fails_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
