/* Histories of a shared session: who is shown what. Cases of the conformance list carry their number. */
#include "shared_tools.h"

#define CALL(name) "[{'type':'tool_call','call':'" name "','name':'look','args':{'n':1}}]"
#define RESULT(name, text)                                                                         \
    "[{'type':'tool_result','call':'" name "','content':[{'type':'text','text':'" text "'}]}]"
#define MISSING(name)                                                                              \
    "[{'type':'tool_result','call':'" name                                                         \
    "','name':'look','content':[{'type':'text','text':'No result of this call was recorded.'}],"   \
    "'failed':true}]"

static void test_log_views__adk_27_others_are_left_out(void **state) {
    (void)state;
    talk t;
    talk_init(&t, NULL);
    say(&t, "user", "q");
    call(&t, "A", "c1");
    result(&t, "A", "c1", "r");
    say(&t, "B", "b");
    assert_string_equal(history(&t, "B", NULL), "user q | model b");
    assert_string_equal(history(&t, NULL, NULL),
                        "user q | model " CALL("c1") " | tool " RESULT("c1", "r") " | model b");
    talk_finish(&t);
}

static void test_log_views__adk_28_an_agent_sees_its_earlier_turns(void **state) {
    (void)state;
    talk t;
    talk_init(&t, NULL);
    say(&t, "user", "q");
    say(&t, "A", "a1");
    hob_shared_event e = event_of(&t, "A", NULL);
    e.transfer = HOB_STR("B");
    must_append(&t, &e);
    say(&t, "B", "b1");
    e.author = HOB_STR("B");
    e.transfer = HOB_STR("A");
    must_append(&t, &e);
    say(&t, "A", "a2");
    assert_string_equal(history(&t, "A", NULL), "user q | model a1 | model a2");
    assert_string_equal(history(&t, "B", NULL), "user q | model b1");
    talk_finish(&t);
}

static void test_log_views__adk_29_a_summary_stands_for_its_range(void **state) {
    (void)state;
    talk t;
    talk_init(&t, NULL);
    say(&t, "user", "t1");
    say(&t, "A", "t2");
    say(&t, "A", "t3");
    sum_up(&t, 1, 2, "S1");
    assert_string_equal(history(&t, NULL, NULL), "user S1 | model t3");
    say(&t, "A", "t4");
    sum_up(&t, 1, 3, "S2");
    assert_string_equal(history(&t, NULL, NULL), "user S2 | model t4");
    talk_finish(&t);
}

static void test_log_views__summaries_of_other_ranges_both_stand(void **state) {
    (void)state;
    talk t;
    talk_init(&t, NULL);
    say(&t, "user", "t1");
    say(&t, "A", "t2");
    sum_up(&t, 1, 2, "S1");
    say(&t, "user", "t4");
    say(&t, "A", "t5");
    sum_up(&t, 4, 4, "S2");
    assert_string_equal(history(&t, NULL, NULL), "user S1 | user S2 | model t5");
    talk_finish(&t);
}

static void test_log_views__a_summary_is_for_its_agent_and_branch(void **state) {
    (void)state;
    talk t;
    talk_init(&t, NULL);
    say(&t, "user", "q");
    say(&t, "A@p.a", "a");
    say(&t, "B@p.b", "b");
    hob_shared_event e = event_of(&t, "A", NULL);
    e.compaction = (hob_shared_compaction){1, 3, quoted(&t, "[{'type':'text','text':'S'}]"),
                                           HOB_STR("A"), HOB_STR("p.a")};
    must_append(&t, &e);
    assert_string_equal(history(&t, "A", "p.a"), "user S");
    assert_string_equal(history(&t, "B", "p.b"), "user q | model b");
    assert_string_equal(history(&t, NULL, "p.a"), "user q | model a");
    assert_string_equal(history(&t, NULL, NULL), "user q | model a | model b");
    talk_finish(&t);
}

static void test_log_views__a_summary_covers_what_its_branch_saw(void **state) {
    (void)state;
    talk t;
    talk_init(&t, NULL);
    say(&t, "user", "u");
    say(&t, "A@p.a", "pa");
    say(&t, "P@p", "p");
    hob_shared_event e = event_of(&t, "P", NULL);
    e.compaction = (hob_shared_compaction){1, 3, quoted(&t, "[{'type':'text','text':'S'}]"),
                                           HOB_STR_NULL, HOB_STR("p")};
    must_append(&t, &e);
    assert_string_equal(history(&t, NULL, "p.a"), "user S | model pa");
    assert_string_equal(history(&t, NULL, "p.b"), "user S");
    assert_string_equal(history(&t, NULL, "q"), "user u");
    talk_finish(&t);
}

static void test_log_views__a_summary_of_others_is_for_those_who_are_told(void **state) {
    (void)state;
    talk t;
    talk_init(&t, NULL);
    say(&t, "user", "q");
    say(&t, "B", "b1");
    say(&t, "A", "a1");
    sum_up(&t, 2, 2, "S");
    assert_string_equal(history(&t, "A", NULL), "user q | model a1");
    assert_string_equal(narration(&t, "A"), "user q | user S | model a1");
    talk_finish(&t);
}

static void test_log_views__words_beside_a_result_stay_in_their_place(void **state) {
    (void)state;
    talk t;
    talk_init(&t, NULL);
    call(&t, "a", "c1");
    say(&t, "user", "q");
    hob_shared_event e = event_of(&t, "a",
                                  "[{'type':'tool_result','call':'c1','content':[]},"
                                  "{'type':'text','text':'and so'}]");
    must_append(&t, &e);
    assert_string_equal(history(&t, "a", NULL),
                        "model " CALL("c1") " | tool [{'type':'tool_result','call':'c1','content':"
                                            "[]}] | user q | model and so");
    talk_finish(&t);
}

static void test_log_views__an_open_call_is_not_summed_up(void **state) {
    (void)state;
    talk t;
    talk_init(&t, NULL);
    say(&t, "user", "q");
    call(&t, "A", "c1");
    result(&t, "A", "c1", "r1");
    call(&t, "A", "c2");
    sum_up(&t, 1, 4, "S");
    assert_string_equal(history(&t, "A", NULL),
                        "user S | model " CALL("c2") " | tool " MISSING("c2"));
    result(&t, "A", "c2", "r2");
    assert_string_equal(history(&t, "A", NULL),
                        "user S | model " CALL("c2") " | tool " RESULT("c2", "r2"));
    talk_finish(&t);
}

static void test_log_views__adk_30_branches(void **state) {
    (void)state;
    talk t;
    talk_init(&t, NULL);
    say(&t, "A@p.a", "pa");
    say(&t, "B@p.b", "pb");
    say(&t, "P@p", "p");
    say(&t, "user", "root");
    assert_string_equal(history(&t, NULL, "p.a"), "model pa | model p | user root");
    assert_string_equal(history(&t, NULL, "p"), "model p | user root");
    say(&t, "C@agent_1", "one");
    say(&t, "D@agent_10", "ten");
    assert_string_equal(history(&t, NULL, "agent_1"), "user root | model one");
    assert_string_equal(history(&t, NULL, "agent_10"), "user root | model ten");
    assert_string_equal(history(&t, NULL, NULL),
                        "model pa | model pb | model p | user root | model one | model ten");
    talk_finish(&t);
}

static void test_log_views__adk_31_an_event_of_state_alone_is_no_entry(void **state) {
    (void)state;
    talk t;
    talk_init(&t, NULL);
    say(&t, "user", "q");
    hob_shared_event e = event_of(&t, "A", NULL);
    e.state_delta = HOB_STR("{\"k\":1}");
    must_append(&t, &e);
    assert_string_equal(history(&t, "A", NULL), "user q");
    assert_int_equal(hob_shared_events_len(t.s), 2);
    talk_finish(&t);
}

static void test_log_views__adk_32_chunks_do_not_show(void **state) {
    (void)state;
    talk t;
    talk_init(&t, NULL);
    say(&t, "user", "q");
    for (int i = 0; i < 3; i++) {
        hob_shared_event e = event_of(&t, "A", "[{'type':'text','text':'chu'}]");
        e.flags = HOB_SHARED_PARTIAL;
        must_append(&t, &e);
    }
    say(&t, "A", "chunks");
    assert_string_equal(history(&t, "A", NULL), "user q | model chunks");
    talk_finish(&t);
}

static void test_log_views__adk_34_narrate_tells_what_others_said(void **state) {
    (void)state;
    talk t;
    talk_init(&t, NULL);
    say(&t, "user", "q");
    say(&t, "a", "r1 \\'x\\' \\u00e9");
    say(&t, "b", "mine");
    assert_string_equal(narration(&t, "b"),
                        "user q | user [{'type':'text','text':'For context:'},{'type':'text',"
                        "'text':'[a] said: r1 \\'x\\' \\u00e9'}] | model mine");
    talk_finish(&t);
}

static void test_log_views__adk_35_narrate_tells_calls_as_words(void **state) {
    (void)state;
    talk t;
    talk_init(&t, NULL);
    say(&t, "user", "q");
    call(&t, "root", "c1");
    result(&t, "root", "c1", "r");
    assert_string_equal(
        narration(&t, "child"),
        "user q | user [{'type':'text','text':'For context:'},{'type':'text','text':'[root] called "
        "tool `look` with parameters: {\\'n\\':1}'}] | user [{'type':'text','text':'For "
        "context:'},{'type':'text','text':'[root] tool `look` returned result: "
        "[{\\'type\\':\\'text\\',\\'text\\':\\'r\\'}]'}]");
    talk_finish(&t);
}

static void test_log_views__narrate_keeps_thoughts_to_their_thinker(void **state) {
    (void)state;
    talk t;
    talk_init(&t, NULL);
    hob_shared_event e = event_of(&t, "a", "[{'type':'thinking','text':'hm'}]");
    must_append(&t, &e);
    assert_string_equal(narration(&t, "b"), "");
    assert_string_equal(narration(&t, "a"), "model [{'type':'thinking','text':'hm'}]");
    talk_finish(&t);
}

static void test_log_views__isolate_can_keep_responses(void **state) {
    (void)state;
    hob_shared_history_opts o = HOB_SHARED_HISTORY_OPTS_INIT;
    talk t;
    talk_init(&t, NULL);
    say(&t, "user", "q");
    say(&t, "a", "hidden");
    call(&t, "a", "c1");
    result(&t, "a", "c1", "r");
    o.agent = HOB_STR("b");
    o.flags = HOB_SHARED_KEEP_RESPONSES;
    assert_string_equal(history_line(&t, &o),
                        "user q | user [{'type':'text','text':'For context:'},{'type':'text',"
                        "'text':'[a] tool `look` returned result: "
                        "[{\\'type\\':\\'text\\',\\'text\\':\\'r\\'}]'}]");
    talk_finish(&t);
}

static void test_log_views__adk_36_the_real_result_replaces_the_pending_one(void **state) {
    (void)state;
    talk t;
    talk_init(&t, NULL);
    say(&t, "user", "q");
    call(&t, "a", "c1");
    result(&t, "a", "c1", "pending");
    say(&t, "a", "wait");
    say(&t, "user", "and?");
    say(&t, "a", "still waiting");
    result(&t, "user", "c1", "done");
    assert_string_equal(history(&t, "a", NULL),
                        "user q | model " CALL("c1") " | tool " RESULT("c1", "done"));
    say(&t, "a", "it is done"); /* later turns see the whole again */
    assert_string_equal(history(&t, "a", NULL),
                        "user q | model " CALL("c1") " | tool " RESULT(
                            "c1", "done") " | model wait | user and? | model still waiting | "
                                          "model it is done");
    talk_finish(&t);
}

static void test_log_views__a_result_stands_behind_its_call(void **state) {
    (void)state;
    talk t;
    talk_init(&t, NULL);
    call(&t, "a", "c1");
    say(&t, "user", "steer");
    result(&t, "a", "c1", "r");
    assert_string_equal(history(&t, "a", NULL),
                        "model " CALL("c1") " | tool " RESULT("c1", "r") " | user steer");
    talk_finish(&t);
}

static void test_log_views__results_are_in_the_order_of_calls(void **state) {
    (void)state;
    talk t;
    talk_init(&t, NULL);
    hob_shared_event e = event_of(&t, "a",
                                  "[{'type':'text','text':'two'},{'type':'tool_call','call':'c1'},"
                                  "{'type':'tool_call','call':'c2'}]");
    must_append(&t, &e);
    result(&t, "a", "c2", "r2");
    result(&t, "a", "c1", "r1");
    assert_non_null(strstr(
        history(&t, "a", NULL),
        " | tool [{'type':'tool_result','call':'c1','content':[{'type':'text','text':'r1'}]},"
        "{'type':'tool_result','call':'c2','content':[{'type':'text','text':'r2'}]}]"));
    talk_finish(&t);
}

static void test_log_views__never_a_call_or_result_alone(void **state) {
    (void)state;
    talk t;
    talk_init(&t, NULL);
    call(&t, "a", "c1");
    say(&t, "user", "go on");
    assert_string_equal(history(&t, "a", NULL),
                        "model " CALL("c1") " | tool " MISSING("c1") " | user go on");
    call(&t, "a@p.x", "c2"); /* hidden from p.y, its result is not */
    result(&t, "a", "c2", "r");
    result(&t, "user", "c1", "r1"); /* the user answers a's call: nothing to b */
    assert_string_equal(history(&t, "a", "p.y"),
                        "model " CALL("c1") " | tool " RESULT("c1", "r1") " | user go on");
    assert_string_equal(history(&t, "b", NULL), "user go on");
    talk_finish(&t);
}

static void test_log_views__an_empty_session_has_an_empty_history(void **state) {
    (void)state;
    talk t;
    talk_init(&t, NULL);
    assert_string_equal(history(&t, NULL, NULL), "");
    assert_string_equal(narration(&t, "a"), "");
    talk_finish(&t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_log_views__adk_27_others_are_left_out),
        cmocka_unit_test(test_log_views__adk_28_an_agent_sees_its_earlier_turns),
        cmocka_unit_test(test_log_views__adk_29_a_summary_stands_for_its_range),
        cmocka_unit_test(test_log_views__summaries_of_other_ranges_both_stand),
        cmocka_unit_test(test_log_views__a_summary_is_for_its_agent_and_branch),
        cmocka_unit_test(test_log_views__a_summary_covers_what_its_branch_saw),
        cmocka_unit_test(test_log_views__a_summary_of_others_is_for_those_who_are_told),
        cmocka_unit_test(test_log_views__words_beside_a_result_stay_in_their_place),
        cmocka_unit_test(test_log_views__an_open_call_is_not_summed_up),
        cmocka_unit_test(test_log_views__adk_30_branches),
        cmocka_unit_test(test_log_views__adk_31_an_event_of_state_alone_is_no_entry),
        cmocka_unit_test(test_log_views__adk_32_chunks_do_not_show),
        cmocka_unit_test(test_log_views__adk_34_narrate_tells_what_others_said),
        cmocka_unit_test(test_log_views__adk_35_narrate_tells_calls_as_words),
        cmocka_unit_test(test_log_views__narrate_keeps_thoughts_to_their_thinker),
        cmocka_unit_test(test_log_views__isolate_can_keep_responses),
        cmocka_unit_test(test_log_views__adk_36_the_real_result_replaces_the_pending_one),
        cmocka_unit_test(test_log_views__a_result_stands_behind_its_call),
        cmocka_unit_test(test_log_views__results_are_in_the_order_of_calls),
        cmocka_unit_test(test_log_views__never_a_call_or_result_alone),
        cmocka_unit_test(test_log_views__an_empty_session_has_an_empty_history),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
