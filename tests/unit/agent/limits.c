/* Limits bind the sum of all strands, with what their calls under way may still use. */
#include "support/check.h"
#include "support/sim_agents.h"
#include "support/sim_play.h"

#include <stdio.h>

static void begin(sim *s, hob_agent *root, hob_limits limits) {
    sim_init(s);
    s->env.limits = limits;
    s->env.fixed_bytes = 0;
    sim_agents(s, root);
    sim_prompt(s, "go");
}

static hob_agent *two(void) {
    return side_by_side("par", llm("w1", NULL), llm("w2", NULL), NULL);
}

static hob_agent *short_lived(const char *name, int64_t turns) {
    hob_agent_opts o = HOB_AGENT_OPTS_INIT;
    o.name = name;
    o.max_turns = turns;
    return made_of(&o, NULL, 0);
}

static void test_agent_limits__turns_of_all_strands_count(void **state) {
    sim s;
    (void)state;
    begin(&s, two(), (hob_limits){.turns = 3});
    agent_calls(&s, "w1", "look:a");
    agent_acts(&s, "w1", 0, NULL); /* the third turn */
    sim_log(&s);
    agent_calls(&s, "w2", "look:a");
    agent_acts(&s, "w2", 0, NULL); /* waits: w1 is at work, within the limit */
    assert_string_equal(sim_pending(&s), "[w1] call_model m12");
    agent_says(&s, "w1", "done");
    assert_log(&s, "13 assistant_message [w2] on par.w2 m7 tools look(m7.0)\n"
                   "14 tool_decided [w2] on par.w2 m7.0 look allow mode:yolo\n"
                   "15 tool_started [w2] on par.w2 m7.0 look read_only\n"
                   "16 tool_finished [w2] on par.w2 m7.0 ok 'ok'\n"
                   "17 assistant_message [w1] on par.w1 m12 done 'done'\n"
                   "18 agent_finished [w1] on par.w1 completed\n"
                   "19 limit_reached [w2] on par.w2 turns value=3 max=3\n"
                   "20 agent_finished [w2] on par.w2 limit reason=turns\n"
                   "21 agent_finished [par] limit reason=turns\n"
                   "22 run_finished limit reason=turns turns=3 tool_calls=2\n"
                   "23 settled limit\n");
    sim_finish(&s);
}

static void test_agent_limits__a_sequence_stops_before_the_step_that_passes_it(void **state) {
    sim s;
    (void)state;
    begin(&s, in_order("seq", llm("a", NULL), llm("b", NULL), NULL), (hob_limits){.turns = 1});
    sim_log(&s);
    agent_says(&s, "a", "done");
    assert_log(&s, "6 assistant_message [a] m5 done 'done'\n"
                   "7 agent_finished [a] completed\n"
                   "8 agent_started [b] llm\n"
                   "9 limit_reached [b] turns value=1 max=1\n"
                   "10 agent_finished [b] limit reason=turns\n"
                   "11 agent_finished [seq] limit reason=turns\n"
                   "12 run_finished limit reason=turns turns=1 tool_calls=0\n"
                   "13 settled limit\n");
    sim_finish(&s);
}

/* 1,000 tokens of output are reserved for each call, until its answer says what it was. */
static void test_agent_limits__tokens_reserved_by_another_strand_are_waited_for(void **state) {
    sim s;
    (void)state;
    begin(&s, two(), (hob_limits){.tokens = 1200});
    s.usage = (hob_usage){.input_tokens = 20, .output_tokens = 80};
    assert_int_equal(s.run.reserved.tokens, 1200);
    assert_log(&s, "1 run_started run-s1-1 prompt\n"
                   "2 user_message 'go'\n"
                   "3 agent_started [par] parallel\n"
                   "4 agent_started [w1] on par.w1 llm\n"
                   "5 agent_started [w2] on par.w2 llm\n"
                   "6 model_call_started [w1] on par.w1 m6 turn=1\n"
                   "7 model_call_started [w2] on par.w2 m7 turn=1 output_limit=186\n");
    agent_says(&s, "w1", "short");
    agent_says(&s, "w2", "short");
    assert_int_equal(hob_usage_total(&s.run.spent.usage), 200);
    assert_int_equal(s.run.reserved.tokens, 0);
    assert_string_equal(s.run.last_status, "completed");
    sim_finish(&s);
}

static void test_agent_limits__one_waits_until_there_is_room_again(void **state) {
    sim s;
    (void)state;
    begin(&s, two(), (hob_limits){.tokens = 1000});
    s.usage = (hob_usage){.input_tokens = 20, .output_tokens = 80};
    assert_string_equal(sim_pending(&s), "[w1] call_model m6");
    sim_log(&s);
    agent_says(&s, "w1", "short");
    assert_log(&s, "7 assistant_message [w1] on par.w1 m6 done 'short'\n"
                   "8 agent_finished [w1] on par.w1 completed\n"
                   "9 model_call_started [w2] on par.w2 m9 turn=1 output_limit=885\n");
    sim_play_out(&s);
    assert_string_equal(s.run.last_status, "completed");
    sim_finish(&s);
}

static void test_agent_limits__tokens_that_are_gone_end_the_run(void **state) {
    sim s;
    (void)state;
    begin(&s, two(), (hob_limits){.tokens = 1000});
    s.usage = (hob_usage){.input_tokens = 500, .output_tokens = 499};
    sim_log(&s);
    agent_says(&s, "w1", "long");
    assert_log(&s, "7 assistant_message [w1] on par.w1 m6 done 'long'\n"
                   "8 agent_finished [w1] on par.w1 completed\n"
                   "9 limit_reached [w2] on par.w2 tokens value=1014 max=1000\n"
                   "10 agent_finished [w2] on par.w2 limit reason=tokens\n"
                   "11 agent_finished [par] limit reason=tokens\n"
                   "12 run_finished limit reason=tokens turns=1 tool_calls=0\n"
                   "13 settled limit\n");
    sim_finish(&s);
}

/* A call whose process is gone uses nothing any more. */
static void test_agent_limits__what_was_reserved_is_free_after_a_crash(void **state) {
    sim s;
    (void)state;
    begin(&s, two(), (hob_limits){.tokens = 2100});
    sim_crash(&s, s.n);
    sim_log(&s);
    sim_reopen(&s);
    assert_log(&s, "8 run_finished interrupted turns=2 tool_calls=0\n"
                   "9 run_started run-s1-9 resume continues=run-s1-1\n"
                   "10 turn_discarded [w1] on par.w1 m6\n"
                   "11 model_call_started [w1] on par.w1 m11 turn=1\n"
                   "12 turn_discarded [w2] on par.w2 m7\n"
                   "13 model_call_started [w2] on par.w2 m13 turn=1\n");
    assert_int_equal(s.run.reserved.tokens, 2014);
    sim_play_out(&s);
    assert_int_equal(s.run.reserved.tokens, 0);
    sim_finish(&s);
}

static void test_agent_limits__cost_of_all_strands_counts(void **state) {
    sim s;
    (void)state;
    sim_init(&s);
    s.env.limits.cost_usd = 0.015;
    s.env.priced = true;
    s.env.input_usd = 1;
    s.env.output_usd = 10;
    s.cost = 0.012;
    sim_agents(&s, two());
    sim_prompt(&s, "go");
    assert_log(
        &s,
        "1 run_started run-s1-1 prompt\n"
        "2 user_message 'go'\n"
        "3 agent_started [par] parallel\n"
        "4 agent_started [w1] on par.w1 llm\n"
        "5 agent_started [w2] on par.w2 llm\n"
        "6 model_call_started [w1] on par.w1 m6 turn=1\n"
        "7 model_call_started [w2] on par.w2 m7 turn=1 output_limit=478\n"); /* the second has what the first leaves */
    agent_says(&s, "w2", "dear");
    sim_log(&s);
    agent_calls(&s, "w1", "look:x");
    agent_acts(&s, "w1", 0, NULL);
    assert_log(&s, "10 assistant_message [w1] on par.w1 m6 tools look(m6.0)\n"
                   "11 tool_decided [w1] on par.w1 m6.0 look allow mode:yolo\n"
                   "12 tool_started [w1] on par.w1 m6.0 look read_only\n"
                   "13 tool_finished [w1] on par.w1 m6.0 ok 'ok'\n"
                   "14 limit_reached [w1] on par.w1 cost value=0.024 max=0.015\n"
                   "15 agent_finished [w1] on par.w1 limit reason=cost\n"
                   "16 agent_finished [par] limit reason=cost\n"
                   "17 run_finished limit reason=cost turns=2 tool_calls=1\n"
                   "18 settled limit\n");
    sim_finish(&s);
}

static void test_agent_limits__tool_calls_of_all_strands_count(void **state) {
    sim s;
    (void)state;
    begin(&s, two(), (hob_limits){.tool_calls = 2});
    agent_calls(&s, "w1", "send:a");
    agent_calls(&s, "w2", "send:b send:c");
    sim_log(&s);
    agent_acts(&s, "w2", 0, NULL); /* the third waits for w1, which is within the limit */
    assert_string_equal(sim_pending(&s), "[w1] run_tool m6.0 after 10");
    agent_acts(&s, "w1", 0, NULL);
    agent_says(&s, "w1", "done");
    assert_log(&s, "15 tool_finished [w2] on par.w2 m7.0 ok 'ok'\n"
                   "16 tool_finished [w1] on par.w1 m6.0 ok 'ok'\n"
                   "17 model_call_started [w1] on par.w1 m17 turn=2\n"
                   "18 assistant_message [w1] on par.w1 m17 done 'done'\n"
                   "19 agent_finished [w1] on par.w1 completed\n"
                   "20 limit_reached [w2] on par.w2 tool_calls value=2 max=2\n"
                   "21 tool_finished [w2] on par.w2 m7.1 skipped 'skipped: the run reached a l..'\n"
                   "22 agent_finished [w2] on par.w2 limit reason=tool_calls\n"
                   "23 agent_finished [par] limit reason=tool_calls\n"
                   "24 run_finished limit reason=tool_calls turns=3 tool_calls=2\n"
                   "25 settled limit\n");
    sim_finish(&s);
}

static void test_agent_limits__time_is_up_for_all(void **state) {
    sim s;
    (void)state;
    begin(&s, side_by_side("par", llm("w1", NULL), custom("c", 0), NULL), (hob_limits){.ms = 5000});
    assert_string_equal(sim_pending(&s),
                        "timer +5000, [w1] call_model m6, [c] call_agent run after 7");
    sim_log(&s);
    sim_tick(&s, 5000);
    assert_string_equal(sim_pending(&s),
                        "[w1] call_model m6 !limit, [c] call_agent run after 7 !limit");
    sim_play_out(&s);
    assert_log(&s, "8 limit_reached time value=5000 max=5000\n"
                   "9 assistant_message [w1] on par.w1 m6 aborted 'half'\n"
                   "10 agent_finished [w1] on par.w1 limit reason=time\n"
                   "11 callback_finished [c] on par.c run cancelled\n"
                   "12 agent_finished [c] on par.c limit reason=time\n"
                   "13 agent_finished [par] limit reason=time\n"
                   "14 run_finished limit reason=time turns=1 tool_calls=0\n"
                   "15 settled limit\n");
    sim_finish(&s);
}

/* Time before a crash counts up to the last event, whoever wrote it. */
static void test_agent_limits__time_of_strands_counts_over_a_crash(void **state) {
    sim s;
    (void)state;
    begin(&s, two(), (hob_limits){.ms = 60000});
    s.env.now += 700;
    agent_calls(&s, "w1", "send:a");
    sim_crash(&s, s.n);
    sim_reopen(&s);
    assert_int_equal(s.run.spent.ms, 700);
    sim_play_out(&s);
    sim_finish(&s);
}

static void test_agent_limits__an_agents_own_turns_end_it_alone(void **state) {
    sim s;
    (void)state;
    begin(&s, side_by_side("par", short_lived("w1", 1), llm("w2", NULL), NULL),
          (hob_limits){.turns = 9});
    sim_log(&s);
    agent_calls(&s, "w1", "look:a");
    agent_acts(&s, "w1", 0, NULL);
    assert_false(s.run.settled);
    agent_says(&s, "w2", "done");
    assert_log(&s, "8 assistant_message [w1] on par.w1 m6 tools look(m6.0)\n"
                   "9 tool_decided [w1] on par.w1 m6.0 look allow mode:yolo\n"
                   "10 tool_started [w1] on par.w1 m6.0 look read_only\n"
                   "11 tool_finished [w1] on par.w1 m6.0 ok 'ok'\n"
                   "12 limit_reached [w1] on par.w1 turns value=1 max=1 scope=agent\n"
                   "13 agent_finished [w1] on par.w1 limit reason=turns\n"
                   "14 assistant_message [w2] on par.w2 m7 done 'done'\n"
                   "15 agent_finished [w2] on par.w2 completed\n"
                   "16 agent_finished [par] failed reason=w1: turns\n"
                   "17 run_finished failed reason=w1: turns turns=2 tool_calls=1\n"
                   "18 settled failed\n");
    sim_finish(&s);
}

static void test_agent_limits__an_agents_own_turns_are_those_of_a_round(void **state) {
    sim s;
    (void)state;
    begin(&s, again("loop", 3, short_lived("a", 1), NULL), (hob_limits){.turns = 9});
    sim_play_out(&s);
    assert_string_equal(s.run.last_status, "completed");
    assert_int_equal(s.run.spent.turns, 3);
    sim_finish(&s);
}

static void test_agent_limits__the_first_reason_stays(void **state) {
    sim s;
    (void)state;
    begin(&s, two(), (hob_limits){.ms = 5000});
    sim_log(&s);
    s.env.now += 6000;
    sim_as(&s, "w2");
    sim_answer(&s, "no", NULL, HOB_STOP_REFUSAL);
    sim_play_out(&s);
    assert_log(&s, "8 assistant_message [w2] on par.w2 m7 refusal 'no'\n"
                   "9 limit_reached time value=6000 max=5000\n"
                   "10 agent_finished [w2] on par.w2 failed reason=refusal\n"
                   "11 assistant_message [w1] on par.w1 m6 aborted 'half'\n"
                   "12 agent_finished [w1] on par.w1 limit reason=time\n"
                   "13 agent_finished [par] limit reason=time\n"
                   "14 run_finished limit reason=time turns=2 tool_calls=0\n"
                   "15 settled limit\n");
    sim_finish(&s);
}

static void test_agent_limits__a_budget_is_nearly_used_up_once(void **state) {
    sim s;
    char call[16];
    (void)state;
    begin(&s, two(), (hob_limits){.tokens = 6000});
    s.usage = (hob_usage){.input_tokens = 300, .output_tokens = 100};
    for (int i = 0; i < 13; i++) {
        const char *agent = i % 2 ? "w2" : "w1";
        snprintf(call, sizeof call, "look:%d", i);
        agent_calls(&s, agent, call);
        agent_acts(&s, agent, 0, NULL);
    }
    assert_int_equal(sim_count(&s, HOB_EVENT_BUDGET_THRESHOLD), 1);
    sim_play_out(&s);
    sim_finish(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_agent_limits__turns_of_all_strands_count),
        cmocka_unit_test(test_agent_limits__a_sequence_stops_before_the_step_that_passes_it),
        cmocka_unit_test(test_agent_limits__tokens_reserved_by_another_strand_are_waited_for),
        cmocka_unit_test(test_agent_limits__one_waits_until_there_is_room_again),
        cmocka_unit_test(test_agent_limits__tokens_that_are_gone_end_the_run),
        cmocka_unit_test(test_agent_limits__what_was_reserved_is_free_after_a_crash),
        cmocka_unit_test(test_agent_limits__cost_of_all_strands_counts),
        cmocka_unit_test(test_agent_limits__tool_calls_of_all_strands_count),
        cmocka_unit_test(test_agent_limits__time_is_up_for_all),
        cmocka_unit_test(test_agent_limits__time_of_strands_counts_over_a_crash),
        cmocka_unit_test(test_agent_limits__an_agents_own_turns_end_it_alone),
        cmocka_unit_test(test_agent_limits__an_agents_own_turns_are_those_of_a_round),
        cmocka_unit_test(test_agent_limits__the_first_reason_stays),
        cmocka_unit_test(test_agent_limits__a_budget_is_nearly_used_up_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
