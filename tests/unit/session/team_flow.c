/* Agents that work together: their state, loops, conditions, and what each has of its own. */
#include "support/agents.h"
#include "support/check.h"

#include <stdio.h>

/* ---- state ------------------------------------------------------------------------------------------------ */

static void set_k(const hob_tool_call *call, hob_reply *reply, void *user) {
    hob_error err;
    (void)call, (void)user;
    assert_int_equal(
        hob_reply_state(reply, hob_str_z("{\"k\":\"w1 was here\"}"), hob_str_z(""), &err), HOB_OK);
    hob_reply_text(reply, HOB_OUTCOME_OK, hob_str_z("set"));
}

static void read_k(const hob_tool_call *call, hob_reply *reply, void *user) {
    hob_str value = HOB_STR("nothing");
    (void)user;
    hob_state_get(call->state, hob_str_z("k"), &value);
    hob_reply_text(reply, HOB_OUTCOME_OK, value);
}

/* w2 asks its model once more only after w1 has written: its first call waits for that. */
static void test_session_team_flow__case_44_state_is_not_branch_scoped(void **state) {
    host h;
    hob_tool tools[2] = {host_tool("set", HOB_TOOL_UNSAFE, NULL),
                         host_tool("look", HOB_TOOL_READ_ONLY, NULL)};
    (void)state;
    tools[0].run = set_k;
    tools[1].run = read_k;
    host_init(&h,
              "{'rules':["
              "{'when':{'system':'one','step':1},'reply':[{'tool':'set'}]},"
              "{'when':{'system':'one'},'reply':[{'text':'done'}]},"
              "{'when':{'system':'two','result':'w1 was here'},'reply':[{'text':'seen'}]},"
              "{'when':{'system':'two','step':1},'reply':[{'delay_ms':200},{'tool':'look'}]}]}");
    h.so.tools = tools;
    h.so.ntools = 2;
    h.so.permission_mode = "yolo";
    team_open(&h, side_by_side("par", worker("w1", "one", NULL), worker("w2", "two", "r"), NULL));
    assert_string_equal(host_prompt(&h, "go"), "completed");
    assert_string_equal(team_state(&h, "r"), "\"seen\"");
    team_finish(&h);
}

static void test_session_team_flow__a_key_set_on_two_branches_is_said(void **state) {
    host h;
    (void)state;
    host_init(&h, "{'rules':[{'when':{'system':'two'},'reply':[{'delay_ms':50},{'text':'late'}]}],"
                  "'otherwise':[{'text':'early'}]}");
    team_open(&h, side_by_side("par", worker("w1", "one", "k"), worker("w2", "two", "k"), NULL));
    assert_string_equal(host_prompt(&h, "go"), "completed");
    assert_string_equal(team_state(&h, "k"), "\"late\"");
    assert_string_equal(team_log(&h, "warning", NULL), "warning state_conflict\n");
    team_finish(&h);
}

static void test_session_team_flow__case_49_placeholders(void **state) {
    host h;
    (void)state;
    host_init(
        &h,
        "{'rules':[{'when':{'system':'<> <{bad key}> <{\\'n\\':1}>'},'reply':[{'text':'fits'}]},"
        "{'when':{'system':'first'},'reply':[{'text':'{\\'n\\':1}'}]}]}");
    hob_agent_opts o = HOB_AGENT_OPTS_INIT;
    o.name = "first";
    o.instruction = "first";
    o.output_key = "obj";
    o.output_schema = "{\"type\":\"object\"}";
    team_open(&h, in_order("all", llm_with(&o),
                           worker("second", "<{opt?}> <{bad key}> <{obj}>", NULL), NULL));
    assert_string_equal(host_prompt(&h, "go"), "completed");
    assert_string_equal(host_text(&h), "fits");
    team_finish(&h);
}

static void test_session_team_flow__an_answer_that_breaks_its_schema_fails(void **state) {
    host h;
    (void)state;
    host_init(&h, "{'otherwise':[{'text':'not json'}]}");
    hob_agent_opts o = HOB_AGENT_OPTS_INIT;
    o.name = "first";
    o.instruction = "first";
    o.output_key = "obj";
    o.output_schema = "{\"type\":\"object\"}";
    team_open(&h, in_order("all", llm_with(&o), worker("second", "second", NULL), NULL));
    assert_string_equal(host_prompt(&h, "go"), "failed");
    assert_int_equal(hob_result_code(h.result), HOB_EAGENT);
    assert_string_equal(team_state(&h, "obj"), "");
    assert_int_equal(host_count(&h, "agent_started"), 2); /* the second was not begun */
    team_finish(&h);
}

/* ---- loops -------------------------------------------------------------------------------------------------- */

static void test_session_team_flow__case_45_escalating_ends_the_nearest_loop(void **state) {
    host h;
    (void)state;
    host_init(
        &h,
        "{'rules':["
        "{'when':{'system':'critic','messages':{'min':2},'step':1},'reply':[{'tool':'exit_loop'}]},"
        "{'when':{'system':'critic'},'reply':[{'text':'good'}]},"
        "{'when':{'system':'writer'},'reply':[{'text':'draft'}]},"
        "{'when':{'system':'after'},'reply':[{'text':'goes on'}]}]}");
    team_open(&h,
              again("outer", 2,
                    again("inner", 5, worker("writer", "writer", NULL),
                          worker("critic", "critic", NULL), worker("last", "after", NULL), NULL),
                    worker("outside", "after", NULL), NULL));
    assert_string_equal(host_prompt(&h, "go"), "completed");
    assert_string_equal(team_log(&h, "agent_started", NULL),
                        "agent_started [outer]\n"
                        "agent_started [inner]\nagent_started [writer]\nagent_started [critic]\n"
                        "agent_started [outside]\n"
                        "agent_started [inner]\nagent_started [writer]\nagent_started [critic]\n"
                        "agent_started [outside]\n");
    team_finish(&h);
}

static void test_session_team_flow__case_45_a_loop_ends_at_its_maximum(void **state) {
    host h;
    (void)state;
    host_init(&h, "{'otherwise':[{'text':'round {{messages}}'}]}");
    team_open(&h, again("loop", 3, worker("a", "a", NULL), NULL));
    assert_string_equal(host_prompt(&h, "go"), "completed");
    assert_int_equal(host_count(&h, "assistant_message"), 3);
    team_finish(&h);
}

static void test_session_team_flow__case_46_a_loop_without_rounds_cannot_be_made(void **state) {
    hob_agent_opts o = HOB_AGENT_OPTS_INIT;
    hob_agent *one = worker("a", "a", NULL), *none = NULL;
    hob_error err;
    (void)state;
    o.name = "loop";
    o.kind = HOB_AGENT_LOOP;
    o.agents = &one;
    o.nagents = 1;
    assert_int_equal(hob_agent_create(&o, &none, &err), HOB_EINVAL);
    assert_null(none);
    hob_agent_unref(one);
}

static void escalating(const hob_tool_call *call, hob_reply *reply, void *user) {
    (void)call, (void)user;
    hob_reply_escalate(reply);
    hob_reply_text(reply, HOB_OUTCOME_OK, hob_str_z("up it goes"));
}

static void escalate_in_sequence(unsigned flags, int answers) {
    host h;
    host_init(&h, "{'rules':[{'when':{'system':'first','step':1},'reply':[{'tool':'up'}]}],"
                  "'otherwise':[{'text':'ok'}]}");
    hob_agent_opts o = HOB_AGENT_OPTS_INIT;
    hob_agent *two[] = {worker("a", "first", NULL), worker("b", "second", NULL)};
    o.name = "seq";
    o.kind = HOB_AGENT_SEQUENTIAL;
    o.flags = flags;
    hob_tool up = host_tool("up", HOB_TOOL_READ_ONLY, NULL);
    up.run = escalating;
    h.so.tools = &up;
    h.so.ntools = 1;
    team_open(&h, made_of(&o, two, 2));
    assert_string_equal(host_prompt(&h, "go"), "completed");
    assert_int_equal(host_count(&h, "assistant_message"), answers);
    team_finish(&h);
}

static void test_session_team_flow__case_47_a_sequence_stops_only_if_it_says_so(void **state) {
    (void)state;
    escalate_in_sequence(0, 3);
    escalate_in_sequence(HOB_AGENT_STOP_ON_ESCALATE, 2);
}

/* ---- this one or that one --------------------------------------------------------------------------------------- */

static void choose(const char *kind, const char *expected) {
    host h;
    char script[600];
    snprintf(script, sizeof script,
             "{'rules':[{'when':{'system':'sorter'},'reply':[{'text':'%s'}]},"
             "{'when':{'system':'urgent'},'reply':[{'text':'at once'}]},"
             "{'when':{'system':'normal'},'reply':[{'text':'in time'}]}]}",
             kind);
    host_init(&h, script);
    team_open(&h, in_order("desk", worker("sorter", "sorter", "kind"),
                           either("which", "kind == \"urgent\"", worker("fast", "urgent", NULL),
                                  worker("slow", "normal", NULL), NULL),
                           NULL));
    assert_string_equal(host_prompt(&h, "go"), "completed");
    assert_string_equal(host_text(&h), expected);
    assert_int_equal(host_count(&h, "agent_started"), 4);
    team_finish(&h);
}

static void test_session_team_flow__a_condition_chooses_by_the_state(void **state) {
    (void)state;
    choose("urgent", "at once");
    choose("letter", "in time");
}

/* ---- parts of their own --------------------------------------------------------------------------------------------- */

static void test_session_team_flow__an_agent_has_its_own_model_and_tools(void **state) {
    host h;
    char other[400];
    static const char *const only[] = {"quick", NULL};
    hob_tool tools[2] = {host_tool("quick", HOB_TOOL_READ_ONLY, NULL),
                         host_tool("slow", HOB_TOOL_READ_ONLY, NULL)};
    hob_tool mine = host_tool("mine", HOB_TOOL_READ_ONLY, NULL);
    hob_agent_opts o = HOB_AGENT_OPTS_INIT;
    (void)state;
    host_init(
        &h,
        "{'rules':[{'when':{'system':'a','offers':['quick','slow']},'reply':[{'text':'both'}]}]}");
    hob_test_file(&h.folder, "other.json",
                  HOB_STR("{\"rules\":[{\"when\":{\"offers\":[\"quick\",\"mine\"]},"
                          "\"reply\":[{\"text\":\"from the other\"}]}]}"));
    snprintf(other, sizeof other, "scripted:%s/other.json", h.dir);
    h.so.tools = tools;
    h.so.ntools = 2;
    o.name = "b";
    o.instruction = "b";
    o.model = other;
    o.tools = only;
    o.own_tools = &mine;
    o.nown_tools = 1;
    team_open(&h, in_order("all", worker("a", "a", "x"), llm_with(&o), NULL));
    assert_string_equal(host_prompt(&h, "go"), "completed");
    assert_string_equal(host_text(&h), "from the other");
    assert_string_equal(team_state(&h, "x"), "\"both\"");
    team_finish(&h);
}

static void test_session_team_flow__a_tool_that_nobody_has_is_refused_at_opening(void **state) {
    static const char *const only[] = {"nosuch", NULL};
    hob_agent_opts o = HOB_AGENT_OPTS_INIT;
    host h;
    (void)state;
    host_init(&h, "{'otherwise':[]}");
    o.name = "a";
    o.tools = only;
    h.so.team = llm_with(&o);
    assert_ok(hob_runtime_create(&h.ro, &h.rt, &h.err), h.err);
    assert_int_equal(hob_session_create(h.rt, &h.so, &h.s, &h.err), HOB_ENOENT);
    assert_non_null(strstr(h.err.message, "nosuch"));
    team_finish(&h);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_session_team_flow__case_44_state_is_not_branch_scoped),
        cmocka_unit_test(test_session_team_flow__a_key_set_on_two_branches_is_said),
        cmocka_unit_test(test_session_team_flow__case_49_placeholders),
        cmocka_unit_test(test_session_team_flow__an_answer_that_breaks_its_schema_fails),
        cmocka_unit_test(test_session_team_flow__case_45_escalating_ends_the_nearest_loop),
        cmocka_unit_test(test_session_team_flow__case_45_a_loop_ends_at_its_maximum),
        cmocka_unit_test(test_session_team_flow__case_46_a_loop_without_rounds_cannot_be_made),
        cmocka_unit_test(test_session_team_flow__case_47_a_sequence_stops_only_if_it_says_so),
        cmocka_unit_test(test_session_team_flow__a_condition_chooses_by_the_state),
        cmocka_unit_test(test_session_team_flow__an_agent_has_its_own_model_and_tools),
        cmocka_unit_test(test_session_team_flow__a_tool_that_nobody_has_is_refused_at_opening),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
