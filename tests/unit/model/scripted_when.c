/* Conditions: which rule answers a request. */
#include "support/talk.h"

#include "support/check.h"

#include <stdio.h>

/* Does a rule with this condition answer what the conversation asks? */
static bool holds(void (*say)(talk *), const char *when) {
    char script[1000];
    talk t;
    snprintf(script, sizeof(script),
             "{'rules': [{'when': %s, 'reply': [{'text': 'yes'}]}], 'otherwise': [{'text': 'no'}]}",
             when);
    talk_init(&t, script);
    say(&t);
    talk_ask(&t);
    assert_int_equal(t.outcome.code, HOB_OK);
    bool yes = hob_str_eqz(hob_buf_str(&t.answer->blocks[0].text), "yes");
    talk_finish(&t);
    return yes;
}

typedef struct row {
    const char *when;
    bool holds;
} row;

static void check_rows(void (*say)(talk *), const row *rows, size_t n) {
    for (size_t i = 0; i < n; i++) {
        if (holds(say, rows[i].when) != rows[i].holds)
            fail_msg("%s: expected %s", rows[i].when, rows[i].holds ? "true" : "false");
    }
}
#define CHECK_ROWS(say, ...)                                                                       \
    do {                                                                                           \
        static const row rows_[] = {__VA_ARGS__};                                                  \
        check_rows(say, rows_, HOB_ARRAY_LEN(rows_));                                              \
    } while (0)

#define CALL(call, name)                                                                           \
    "{'type':'tool_call','call':'" call "','id':'i','name':'" name "','args':{}}"

static void say_fix(talk *t) {
    talk_user(t, "please fix it");
}

static void test_model_scripted_when__user_texts(void **state) {
    (void)state;
    CHECK_ROWS(say_fix, {"{}", true}, {"{'user': 'fix'}", true}, {"{'user': 'Fix'}", false},
               {"{'user': {'contains': 'fix'}}", true}, {"{'user': {'contains': 'fax'}}", false},
               {"{'user': {'contains': ['fix', 'it']}}", true},
               {"{'user': {'contains': ['fix', 'ot']}}", false},
               {"{'user': {'equals': 'please fix it'}}", true},
               {"{'user': {'equals': 'fix'}}", false}, {"{'user': {'prefix': 'please'}}", true},
               {"{'user': {'prefix': 'fix'}}", false}, {"{'user': {'suffix': 'it'}}", true},
               {"{'user': {'suffix': 'fix'}}", false}, {"{'user': {'absent': 'fax'}}", true},
               {"{'user': {'absent': 'fix'}}", false},
               {"{'user': {'absent': ['a', 'please']}}", false},
               {"{'user': {'prefix': 'please', 'suffix': 'it'}}", true},
               {"{'user': {'prefix': 'please', 'suffix': 'at'}}", false});
}

static void test_model_scripted_when__all_conditions_must_hold(void **state) {
    (void)state;
    CHECK_ROWS(say_fix, {"{'user': 'fix', 'step': 1, 'turn': 1, 'attempt': 1}", true},
               {"{'user': 'fix', 'step': 2}", false});
}

static void say_two_blocks(talk *t) {
    talk_user(t, "one");
    talk_answer(t, "[{'type':'text','text':'x'}]");
    talk_user(t, "two");
}

static void test_model_scripted_when__only_the_last_user_message_counts(void **state) {
    (void)state;
    CHECK_ROWS(say_two_blocks, {"{'user': {'equals': 'two'}}", true}, {"{'user': 'one'}", false});
}

static void say_steered(talk *t) {
    talk_user(t, "go");
    talk_answer(t, "[" CALL("m1.0", "read") "]");
    talk_result(t, 0, "ok", "text");
    talk_answer(t, "[" CALL("m2.0", "bash") "]");
    talk_result(t, 0, "error", "exit 1");
}

static void test_model_scripted_when__counts(void **state) {
    (void)state;
    CHECK_ROWS(say_steered, {"{'step': 3}", true}, {"{'step': 2}", false}, {"{'turn': 3}", true},
               {"{'messages': 1}", true}, {"{'messages': 2}", false},
               {"{'step': {'min': 3}}", true}, {"{'step': {'min': 4}}", false},
               {"{'step': {'max': 3}}", true}, {"{'step': {'max': 2}}", false},
               {"{'step': {'min': 2, 'max': 4}}", true});
}

static void say_steered_on(talk *t) {
    say_steered(t);
    talk_user(t, "stop that");
    talk_answer(t, "[{'type':'text','text':'fine'}]");
}

static void test_model_scripted_when__a_user_message_starts_the_steps_anew(void **state) {
    (void)state;
    CHECK_ROWS(say_steered_on, {"{'step': 2, 'turn': 4, 'messages': 2}", true},
               {"{'tool': 'bash'}", false}, {"{'failed': true}", false}, {"{'result': ''}", false});
}

static void test_model_scripted_when__the_last_result(void **state) {
    (void)state;
    CHECK_ROWS(say_steered, {"{'tool': 'bash'}", true}, {"{'tool': 'bas'}", false},
               {"{'tool': {'prefix': 'ba'}}", true}, {"{'tool': 'read'}", false},
               {"{'result': 'exit'}", true}, {"{'result': {'equals': 'exit 1'}}", true},
               {"{'result': {'absent': 'exit'}}", false}, {"{'failed': true}", true},
               {"{'failed': false}", false});
}

static void test_model_scripted_when__without_a_result_nothing_about_it_holds(void **state) {
    (void)state;
    CHECK_ROWS(say_fix, {"{'failed': false}", false}, {"{'failed': true}", false},
               {"{'result': {'absent': 'x'}}", false}, {"{'tool': {'absent': 'x'}}", false});
}

static void say_batch(talk *t) {
    talk_user(t, "go");
    talk_answer(t,
                "[{'type':'text','text':'both'}," CALL("m1.0", "read") "," CALL("m1.1", "ls") "]");
    talk_result(t, 1, "ok", "second");
    talk_result(t, 0, "error", "first");
}

static void test_model_scripted_when__results_are_in_the_order_of_their_calls(void **state) {
    (void)state;
    CHECK_ROWS(say_batch,
               {"{'tool': 'ls', 'result': {'equals': 'second'}, 'failed': false}", true});
}

static void say_request(talk *t) {
    talk_user(t, "go");
    t->rq.system = HOB_STR("You are a tester.");
    t->rq.model = HOB_STR("big");
    t->rq.attempt = 2;
    t->rq.thinking = HOB_THINKING_HIGH;
    t->rq.tools = HOB_STR("[{\"name\":\"read\",\"description\":\"bash\",\"schema\":{}},"
                          "{\"name\":\"write\",\"description\":\"\",\"schema\":{}}]");
}

static void test_model_scripted_when__the_request_itself(void **state) {
    (void)state;
    CHECK_ROWS(say_request, {"{'system': 'tester'}", true}, {"{'system': 'poet'}", false},
               {"{'model': 'big'}", true}, {"{'model': 'bi'}", false},
               {"{'model': {'prefix': 'bi'}}", true}, {"{'attempt': 2}", true},
               {"{'attempt': 1}", false}, {"{'thinking': 'high'}", true},
               {"{'thinking': 'low'}", false}, {"{'offers': 'read'}", true},
               {"{'offers': ['read', 'write']}", true}, {"{'offers': ['read', 'bash']}", false});
}

static void test_model_scripted_when__the_first_rule_that_matches_wins(void **state) {
    (void)state;
    talk t;
    talk_init(&t, "{'rules': [{'when': {'user': 'b'}, 'reply': [{'text': '1'}]},"
                  "{'when': {'user': 'a'}, 'reply': [{'text': '2'}]},"
                  "{'reply': [{'text': '3'}]}], 'otherwise': [{'text': '4'}]}");
    talk_user(&t, "a b");
    assert_string_equal(talk_ask(&t), "[{'type':'text','text':'1'}]");
    talk_user(&t, "a");
    assert_string_equal(talk_ask(&t), "[{'type':'text','text':'2'}]");
    talk_user(&t, "c");
    assert_string_equal(talk_ask(&t), "[{'type':'text','text':'3'}]");
    talk_finish(&t);
}

static void test_model_scripted_when__rest_follows_the_words_asked_for(void **state) {
    (void)state;
    talk t;
    talk_init(&t, "{'rules': [{'when': {'user': 'say'}, 'reply': [{'text': '<{{rest}}>'}]}],"
                  "'otherwise': [{'text': '[{{rest}}]'}]}");
    talk_user(&t, "now say  a b ");
    assert_string_equal(talk_ask(&t), "[{'type':'text','text':'<a b>'}]");
    talk_user(&t, "none");
    assert_string_equal(talk_ask(&t), "[{'type':'text','text':'[none]'}]");
    talk_finish(&t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_model_scripted_when__user_texts),
        cmocka_unit_test(test_model_scripted_when__all_conditions_must_hold),
        cmocka_unit_test(test_model_scripted_when__only_the_last_user_message_counts),
        cmocka_unit_test(test_model_scripted_when__counts),
        cmocka_unit_test(test_model_scripted_when__a_user_message_starts_the_steps_anew),
        cmocka_unit_test(test_model_scripted_when__the_last_result),
        cmocka_unit_test(test_model_scripted_when__without_a_result_nothing_about_it_holds),
        cmocka_unit_test(test_model_scripted_when__results_are_in_the_order_of_their_calls),
        cmocka_unit_test(test_model_scripted_when__the_request_itself),
        cmocka_unit_test(test_model_scripted_when__the_first_rule_that_matches_wins),
        cmocka_unit_test(test_model_scripted_when__rest_follows_the_words_asked_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
