/* What the provider is asked, when several agents work in one session: whole conversations, in both wire formats. */
#include "support/agents.h"
#include "support/check.h"
#include "support/modeld.h"

#include <stdio.h>

typedef struct trial {
    host h;
    modeld *m;
} trial;

static void trial_init(trial *t, const char *api, const modeld_rule *rules) {
    host_init(&t->h, "{'otherwise':[]}");
    t->m = modeld_start(rules);
    modeld_use(t->m, &t->h, api);
    t->h.so.flags = HOB_SESSION_NO_BUILTIN_TOOLS;
}

static void trial_finish(trial *t) {
    team_finish(&t->h);
    modeld_stop(t->m);
}

static void in_both(void (*run)(const char *api)) {
    run("anthropic");
    run("openai-chat");
}

static hob_agent *flagged(const char *name, const char *instruction, unsigned flags) {
    hob_agent_opts o = HOB_AGENT_OPTS_INIT;
    o.name = name;
    o.instruction = instruction;
    o.flags = flags;
    return llm_with(&o);
}

/* ---- what others said ------------------------------------------------------------------------------------ */

static void narrate(const char *api) {
    const modeld_rule rules[] = {
        {.when = "I am a", .text = "r1"}, {.when = "I am b", .text = "r2"}, {.text = NULL}};
    trial t;
    trial_init(&t, api, rules);
    team_open(&t.h,
              in_order("both", worker("a", "I am a", NULL), worker("b", "I am b", NULL), NULL));
    assert_string_equal(host_prompt(&t.h, "go"), "completed");
    assert_string_equal(modeld_talk(t.m, "I am a", 0), "user: go\n");
    assert_string_equal(modeld_talk(t.m, "I am b", 0),
                        "user: go\nuser: For context:\nuser: [a] said: r1\n");
    assert_string_equal(host_prompt(&t.h, "more"), "completed"); /* own words stay its own */
    assert_string_equal(modeld_talk(t.m, "I am b", 1),
                        "user: go\nuser: For context:\nuser: [a] said: r1\nmodel: r2\n"
                        "user: more\nuser: For context:\nuser: [a] said: r1\n");
    trial_finish(&t);
}

static void test_session_team_words__case_34_others_are_told(void **state) {
    (void)state;
    in_both(narrate);
}

static void isolate(const char *api) {
    const modeld_rule rules[] = {{.when = "I am a", .unless = "quick result", .tool = "look"},
                                 {.when = "I am", .text = "well"},
                                 {.text = NULL}};
    hob_tool look = host_tool("look", HOB_TOOL_READ_ONLY, NULL);
    trial t;
    trial_init(&t, api, rules);
    t.h.so.tools = &look;
    t.h.so.ntools = 1;
    team_open(&t.h,
              in_order("all", worker("a", "I am a", NULL),
                       flagged("b", "I am b", HOB_AGENT_ISOLATE),
                       flagged("c", "I am c", HOB_AGENT_ISOLATE | HOB_AGENT_KEEP_RESPONSES), NULL));
    assert_string_equal(host_prompt(&t.h, "go"), "completed");
    assert_string_equal(modeld_talk(t.m, "I am b", 0), "user: go\n");
    assert_string_equal(
        modeld_talk(t.m, "I am c", 0),
        "user: go\nuser: For context:\n"
        "user: [a] tool `look` returned result: [{\"type\":\"text\",\"text\":\"quick result\"}]\n");
    trial_finish(&t);
}

static void test_session_team_words__others_are_left_out_by_choice(void **state) {
    (void)state;
    in_both(isolate);
}

static void hand_over(const char *api) {
    const modeld_rule rules[] = {
        {.when = "I am root", .tool = "transfer_to_agent", .args = "{'agent_name':'child'}"},
        {.when = "I am child", .text = "mine"},
        {.text = NULL}};
    hob_agent_opts o = HOB_AGENT_OPTS_INIT;
    hob_agent *child = worker("child", "I am child", NULL);
    trial t;
    trial_init(&t, api, rules);
    o.name = "root";
    o.instruction = "I am root";
    team_open(&t.h, made_of(&o, &child, 1));
    assert_string_equal(host_prompt(&t.h, "go"), "completed");
    assert_string_equal(
        modeld_talk(t.m, "I am child", 0),
        "user: go\nuser: For context:\n"
        "user: [root] called tool `transfer_to_agent` with parameters: {\"agent_name\":\"child\"}\n"
        "user: [root] tool `transfer_to_agent` returned result: "
        "[{\"type\":\"text\",\"text\":\"child goes on.\"}]\n");
    trial_finish(&t);
}

static void test_session_team_words__case_35_a_hand_over_is_told_not_repeated(void **state) {
    (void)state;
    in_both(hand_over);
}

/* ---- the current turn only ----------------------------------------------------------------------------------- */

static void current_turn(const char *api) {
    const modeld_rule rules[] = {
        {.when = "quick result", .text = "done"}, {.when = "I am", .tool = "look"}, {.text = NULL}};
    hob_tool look = host_tool("look", HOB_TOOL_READ_ONLY, NULL);
    trial t;
    trial_init(&t, api, rules);
    t.h.so.tools = &look;
    t.h.so.ntools = 1;
    team_open(&t.h, flagged("a", "I am a", HOB_AGENT_NO_CONTENTS));
    assert_string_equal(host_prompt(&t.h, "first"), "completed");
    assert_string_equal(host_prompt(&t.h, "second"), "completed");
    assert_string_equal(modeld_talk(t.m, "I am a", 2), "user: second\n");
    assert_string_equal(modeld_talk(t.m, "I am a", 3),
                        "user: second\ncall look {}\nresult quick result\n");
    trial_finish(&t);
}

static void test_session_team_words__case_39_without_contents_the_current_turn_counts(
    void **state) {
    (void)state;
    in_both(current_turn);
}

/* The others' events come in between. */
static void beside_others(const char *api) {
    const modeld_rule rules[] = {
        {.when = "quick result", .text = "done"}, {.when = "I am", .tool = "look"}, {.text = NULL}};
    hob_tool look = host_tool("look", HOB_TOOL_READ_ONLY, NULL);
    trial t;
    trial_init(&t, api, rules);
    t.h.so.tools = &look;
    t.h.so.ntools = 1;
    team_open(&t.h, side_by_side("par", flagged("a", "I am a", HOB_AGENT_NO_CONTENTS),
                                 flagged("b", "I am b", HOB_AGENT_NO_CONTENTS),
                                 flagged("c", "I am c", HOB_AGENT_NO_CONTENTS), NULL));
    assert_string_equal(host_prompt(&t.h, "go"), "completed");
    static const char *const who[] = {"I am a", "I am b", "I am c"};
    for (size_t i = 0; i < 3; i++)
        assert_string_equal(modeld_talk(t.m, who[i], 1),
                            "user: go\ncall look {}\nresult quick result\n");
    trial_finish(&t);
}

static void test_session_team_words__case_40_nor_do_siblings_hide_its_own_calls(void **state) {
    (void)state;
    in_both(beside_others);
}

/* ---- side by side ---------------------------------------------------------------------------------------------- */

static void branches(const char *api) {
    const modeld_rule rules[] = {{.when = "I am w1", .text = "one says"},
                                 {.when = "I am w2", .text = "two says"},
                                 {.when = "I join", .text = "joined"},
                                 {.when = "I am v", .text = "later"},
                                 {.text = NULL}};
    trial t;
    trial_init(&t, api, rules);
    team_open(&t.h, in_order("all",
                             side_by_side("par", worker("w1", "I am w1", "a"),
                                          worker("w2", "I am w2", "b"), NULL),
                             worker("joiner", "I join {a} and {b}", NULL),
                             side_by_side("second", worker("v1", "I am v1", NULL),
                                          worker("v2", "I am v2", NULL), NULL),
                             NULL));
    assert_string_equal(host_prompt(&t.h, "go"), "completed");
    assert_string_equal(modeld_talk(t.m, "I am w1", 0), "user: go\n");
    assert_string_equal(modeld_talk(t.m, "I am w2", 0), "user: go\n");
    const char *joined = modeld_talk(t.m, "I join one says and two says", 0);
    assert_non_null(strstr(joined, "user: [w1] said: one says\n"));
    assert_non_null(strstr(joined, "user: [w2] said: two says\n"));
    assert_non_null(strstr(modeld_talk(t.m, "I am v1", 0), "user: [joiner] said: joined\n"));
    trial_finish(&t);
}

static void test_session_team_words__case_43_branches_are_hidden_from_each_other(void **state) {
    (void)state;
    in_both(branches);
}

/* ---- calls of one answer ----------------------------------------------------------------------------------------- */

static void put(const hob_tool_call *call, hob_reply *reply, void *user) {
    char delta[80];
    hob_error err;
    snprintf(delta, sizeof delta, "{\"k\":\"%s\",\"%s\":1}", (const char *)user,
             (const char *)user);
    (void)call;
    assert_int_equal(hob_reply_state(reply, hob_str_z(delta), hob_str_z(""), &err), HOB_OK);
    hob_reply_text(reply, HOB_OUTCOME_OK, hob_str_z(user));
}

static void test_session_team_words__case_41_deltas_of_one_answer_are_merged_in_call_order(
    void **state) {
    host h;
    hob_tool tools[2];
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        tools[i] = host_tool(i ? "second" : "first", HOB_TOOL_READ_ONLY, NULL);
        tools[i].run = put;
        tools[i].user = i ? "B" : "A";
    }
    host_init(&h, "{'rules':[{'when':{'step':1},'reply':[{'tool':'first'},{'tool':'second'}]}],"
                  "'otherwise':[{'text':'ok'}]}");
    h.so.tools = tools;
    h.so.ntools = 2;
    team_open(&h, worker("a", "I am a", NULL));
    assert_string_equal(host_prompt(&h, "go"), "completed");
    assert_int_equal(host_count(&h, "state_changed"), 1);
    assert_string_equal(team_state(&h, "k"), "\"B\"");
    assert_string_equal(team_state(&h, "A"), "1");
    team_finish(&h);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_session_team_words__case_34_others_are_told),
        cmocka_unit_test(test_session_team_words__others_are_left_out_by_choice),
        cmocka_unit_test(test_session_team_words__case_35_a_hand_over_is_told_not_repeated),
        cmocka_unit_test(test_session_team_words__case_39_without_contents_the_current_turn_counts),
        cmocka_unit_test(test_session_team_words__case_40_nor_do_siblings_hide_its_own_calls),
        cmocka_unit_test(test_session_team_words__case_43_branches_are_hidden_from_each_other),
        cmocka_unit_test(
            test_session_team_words__case_41_deltas_of_one_answer_are_merged_in_call_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
