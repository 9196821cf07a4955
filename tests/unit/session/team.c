/* Agents that work together in one session, on the scripted model. */
#include "support/agents.h"
#include "support/check.h"
#include "support/host.h"

#include <stdio.h>
#include <string.h>

static void test_session_team__case_42_a_follower_reads_what_was_put_into_the_state(void **state) {
    host h;
    (void)state;
    host_init(&h, "{'rules':[{'when':{'system':'write'},'reply':[{'text':'a long text'}]},"
                  "{'when':{'system':'Shorten: a long text'},'reply':[{'text':'short'}]}]}");
    team_open(&h, in_order("desk", worker("writer", "write", "draft"),
                           worker("editor", "Shorten: {draft}", NULL), NULL));
    assert_string_equal(host_prompt(&h, "a page"), "completed");
    assert_string_equal(host_text(&h), "short");
    team_finish(&h);
}

static void test_session_team__case_43_agents_side_by_side_are_isolated_and_joined(void **state) {
    host h;
    (void)state;
    host_init(
        &h,
        "{'rules':["
        "{'when':{'system':'join one says and two says'},'reply':[{'text':'joined'}]},"
        "{'when':{'system':'one','user':{'absent':'two says'}},'reply':[{'text':'one says'}]},"
        "{'when':{'system':'two','user':{'absent':'one says'}},'reply':[{'text':'two says'}]}]}");
    team_open(
        &h, in_order("all",
                     side_by_side("par", worker("w1", "one", "a"), worker("w2", "two", "b"), NULL),
                     worker("joiner", "join {a} and {b}", NULL), NULL));
    assert_string_equal(host_prompt(&h, "go"), "completed");
    assert_string_equal(host_text(&h), "joined");
    assert_int_equal(host_count(&h, "agent_started"), 5);
    assert_int_equal(host_count(&h, "agent_finished"), 5);
    team_finish(&h);
}

static void test_session_team__case_35_who_is_handed_over_to_goes_on(void **state) {
    host h;
    (void)state;
    host_init(
        &h,
        "{'rules':["
        "{'when':{'system':'root','step':1},'reply':[{'tool':'transfer_to_agent','args':{'agent_name':'child'}}]},"
        "{'when':{'system':'child','user':'[root] called tool `transfer_to_agent`'},'reply':[{'text':'I see'}]},"
        "{'when':{'system':'child'},'reply':[{'text':'still me'}]}]}");
    hob_agent_opts o = HOB_AGENT_OPTS_INIT;
    hob_agent *child = worker("child", "child", NULL);
    o.name = "root";
    o.instruction = "root";
    team_open(&h, made_of(&o, &child, 1));
    assert_string_equal(host_prompt(&h, "hi"), "completed");
    assert_string_equal(host_text(&h), "I see");
    assert_string_equal(host_prompt(&h, "and now"), "completed"); /* case 50 */
    assert_string_equal(host_text(&h), "still me");
    team_finish(&h);
}

static void test_session_team__case_48_a_missing_key_fails_before_the_model_is_asked(void **state) {
    host h;
    (void)state;
    host_init(&h, "{'otherwise':[{'text':'asked'}]}");
    team_open(&h, worker("one", "Use {missing}", NULL));
    assert_string_equal(host_prompt(&h, "go"), "failed");
    assert_int_equal(host_count(&h, "assistant_message"), 0);
    team_finish(&h);
}

static void answer_for(const hob_agent_call *call, hob_reply *reply, void *user) {
    hob_error err;
    hob_str value;
    (void)user;
    bool there = hob_state_get(call->state, hob_str_z("seen"), &value) >= 0;
    assert_int_equal(hob_reply_state(reply, hob_str_z("{\"seen\":true}"), hob_str_z(""), &err),
                     HOB_OK);
    hob_reply_text(reply, HOB_OUTCOME_OK, hob_str_z(there ? "again" : "first"));
}

static void test_session_team__a_custom_agent_answers_and_changes_the_state(void **state) {
    host h;
    (void)state;
    hob_agent_opts o = HOB_AGENT_OPTS_INIT;
    o.name = "mine";
    o.kind = HOB_AGENT_CUSTOM;
    o.run = answer_for;
    host_init(&h, "{'otherwise':[{'text':'asked'}]}");
    team_open(&h, again("twice", 2, made_of(&o, NULL, 0), NULL));
    assert_string_equal(host_prompt(&h, "go"), "completed");
    assert_string_equal(host_text(&h), "again");
    assert_int_equal(host_count(&h, "callback_finished"), 2);
    team_finish(&h);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_session_team__case_42_a_follower_reads_what_was_put_into_the_state),
        cmocka_unit_test(test_session_team__case_43_agents_side_by_side_are_isolated_and_joined),
        cmocka_unit_test(test_session_team__case_35_who_is_handed_over_to_goes_on),
        cmocka_unit_test(test_session_team__case_48_a_missing_key_fails_before_the_model_is_asked),
        cmocka_unit_test(test_session_team__a_custom_agent_answers_and_changes_the_state),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
