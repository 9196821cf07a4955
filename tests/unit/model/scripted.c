/* Replies of the scripted model: step kinds, templates, time, cancelling, resuming. */
#include "support/talk.h"

#include "support/check.h"

#include <stdio.h>

/* One request of "hi" to a script that always gives this reply. */
static const char *reply_to_hi(talk *t, const char *reply) {
    char script[4096];
    snprintf(script, sizeof(script), "{'otherwise': %s}", reply);
    talk_init(t, script);
    talk_user(t, "hi");
    return talk_ask(t);
}

static void assert_reply(const char *reply, const char *content) {
    talk t;
    assert_string_equal(reply_to_hi(&t, reply), content);
    assert_int_equal(t.outcome.code, HOB_OK);
    assert_int_equal(t.ended, 1);
    talk_finish(&t);
}

/* ---- blocks --------------------------------------------------------------------------------- */

static void test_model_scripted__text_is_one_block(void **state) {
    (void)state;
    assert_reply("[{'text': 'one '}, {'text': 'two'}]", "[{'type':'text','text':'one two'}]");
}

static void test_model_scripted__new_block_parts_texts(void **state) {
    (void)state;
    assert_reply("[{'text': 'one'}, {'text': 'two', 'new_block': true}]",
                 "[{'type':'text','text':'one'},{'type':'text','text':'two'}]");
}

static void test_model_scripted__thinking_is_signed(void **state) {
    (void)state;
    assert_reply(
        "[{'thinking': 'a'}, {'thinking': 'b', 'signature': 'S'}, {'thinking': 'c'}]",
        "[{'type':'thinking','text':'ab','signature':'S'},{'type':'thinking','text':'c'}]");
}

static void test_model_scripted__calls_get_ids_and_the_stop_reason(void **state) {
    (void)state;
    talk t;
    const char *said =
        reply_to_hi(&t, "[{'text': 'I look.'},"
                        " {'tool': 'read', 'args': {'path': 'a', /* why */ 'n': 1,}},"
                        " {'tool': 'ls', 'id': 'mine'}]");
    assert_string_equal(said,
                        "[{'type':'text','text':'I look.'},"
                        "{'type':'tool_call','call':'m.0','id':'call_1_1','name':'read',"
                        "'args':{'path':'a','n':1}},"
                        "{'type':'tool_call','call':'m.1','id':'mine','name':'ls','args':{}}]");
    assert_int_equal(t.answer->stop, HOB_STOP_TOOLS);
    talk_finish(&t);
}

static void test_model_scripted__ids_of_calls_differ_between_turns(void **state) {
    (void)state;
    talk t;
    talk_init(&t, "{'otherwise': [{'tool': 'ls'}]}");
    talk_user(&t, "hi");
    talk_answer(&t, "[{'type':'tool_call','call':'m1.0','id':'call_1_1','name':'ls','args':{}}]");
    talk_result(&t, 0, "ok", "a.c");
    assert_string_equal(talk_ask(&t), "[{'type':'tool_call','call':'m.0','id':'call_2_1',"
                                      "'name':'ls','args':{}}]");
    talk_finish(&t);
}

static void test_model_scripted__broken_arguments_are_kept(void **state) {
    (void)state;
    assert_reply("[{'tool': 'read', 'args_text': '[1, {'}]",
                 "[{'type':'tool_call','call':'m.0','id':'call_1_1','name':'read',"
                 "'args_text':'[1, {'}]");
}

static void test_model_scripted__opaque_blocks(void **state) {
    (void)state;
    assert_reply("[{'text': 'a'}, {'opaque': {'type': 'x', 'n': 1.50}}, {'text': 'b'}]",
                 "[{'type':'text','text':'a'},{'type':'opaque','provider':'scripted',"
                 "'raw':{'type':'x','n':1.50}},{'type':'text','text':'b'}]");
}

static void test_model_scripted__repeats_count_their_rounds(void **state) {
    (void)state;
    assert_reply("[{'repeat': {'times': 2, 'reply': [{'text': '{{repeat}}('},"
                 "{'repeat': {'times': 3, 'reply': [{'text': '{{repeat}}'}]}}, {'text': ')'}]}}]",
                 "[{'type':'text','text':'1(123)2(123)'}]");
}

/* Five, one after the other: only nesting is limited. */
static void test_model_scripted__repeats_may_follow_each_other(void **state) {
    (void)state;
    talk t;
#define AGAIN "{'repeat': {'times': 2, 'reply': [{'text': 'a'}]}}"
    reply_to_hi(&t, "[" AGAIN "," AGAIN "," AGAIN "," AGAIN "," AGAIN ", {'cut': true}]");
    assert_str(hob_buf_str(&t.answer->blocks[0].text), "aaaaaaaaaa");
    assert_int_equal(t.outcome.code, HOB_EPROTO);
    talk_finish(&t);
}

static void test_model_scripted__stop_reasons(void **state) {
    (void)state;
    static const struct {
        const char *reply;
        hob_stop stop;
    } cases[] = {
        {"[]", HOB_STOP_DONE},
        {"[{'text': 'a'}]", HOB_STOP_DONE},
        {"[{'text': 'a'}, {'stop': 'length'}]", HOB_STOP_LENGTH},
        {"[{'stop': 'refusal'}, {'text': 'a'}]", HOB_STOP_REFUSAL},
        {"[{'tool': 'ls'}, {'stop': 'length'}]", HOB_STOP_LENGTH},
        {"[{'stop': 'continue'}]", HOB_STOP_CONTINUE},
        {"[{'tool': 'ls'}, {'stop': 'done'}]", HOB_STOP_DONE},
        {"[{'stop': 'tools'}]", HOB_STOP_TOOLS},
    };
    for (size_t i = 0; i < HOB_ARRAY_LEN(cases); i++) {
        talk t;
        reply_to_hi(&t, cases[i].reply);
        assert_int_equal(t.answer->stop, cases[i].stop);
        talk_finish(&t);
    }
}

/* ---- ends ----------------------------------------------------------------------------------- */

static void test_model_scripted__an_error_is_told_as_a_provider_would(void **state) {
    (void)state;
    talk t;
    reply_to_hi(&t, "[{'text': 'half'}, {'error': {'status': 529, 'message': 'Overloaded',"
                    " 'retry_after_ms': 1500}}]");
    assert_int_equal(t.outcome.code, HOB_EOVERLOAD);
    assert_int_equal(t.outcome.status, 529);
    assert_int_equal(t.outcome.retryable, 1);
    assert_int_equal(t.outcome.retry_after_ms, 1500);
    assert_int_equal(t.outcome.error.code, HOB_EOVERLOAD);
    assert_int_equal(t.outcome.error.sub, 529);
    assert_string_equal(t.outcome.error.message, "Overloaded");
    assert_string_equal(talk_said(&t), "[{'type':'text','text':'half'}]");
    assert_int_equal(t.ended, 1);
    talk_finish(&t);
}

static void test_model_scripted__status_and_code_say_which_error(void **state) {
    (void)state;
    static const struct {
        const char *error;
        int code, retryable;
    } cases[] = {
        {"{'status': 400}", HOB_EREFUSED, 0},
        {"{'status': 401}", HOB_EAUTH, 0},
        {"{'status': 404}", HOB_ENOENT, 0},
        {"{'status': 429}", HOB_ERATE, 1},
        {"{'status': 500}", HOB_EOVERLOAD, 1},
        {"{'status': 429, 'retryable': false}", HOB_ERATE, 0},
        {"{'status': 400, 'code': 'too_big'}", HOB_ETOOBIG, 0},
        {"{'code': 'network'}", HOB_ENET, 1},
        {"{'code': 'timeout'}", HOB_ETIMEDOUT, 1},
        {"{'code': 'refused', 'retryable': true}", HOB_EREFUSED, 1},
    };
    for (size_t i = 0; i < HOB_ARRAY_LEN(cases); i++) {
        talk t;
        char reply[200];
        snprintf(reply, sizeof(reply), "[{'error': %s}]", cases[i].error);
        reply_to_hi(&t, reply);
        assert_int_equal(t.outcome.code, cases[i].code);
        assert_int_equal(t.outcome.retryable, cases[i].retryable);
        assert_int_equal(t.outcome.retry_after_ms, -1);
        talk_finish(&t);
    }
}

static void test_model_scripted__a_cut_is_a_broken_stream(void **state) {
    (void)state;
    talk t;
    reply_to_hi(&t, "[{'text': 'half'}, {'cut': true}]");
    assert_int_equal(t.outcome.code, HOB_EPROTO);
    assert_int_equal(t.outcome.retryable, 1);
    assert_int_equal(t.answer->stop, HOB_STOP_NONE);
    talk_finish(&t);
}

static void test_model_scripted__an_unmatched_request_is_named(void **state) {
    (void)state;
    talk t;
    talk_init(&t, "{'rules': [{'when': {'user': 'no'}, 'reply': []}]}");
    talk_user(&t, "fix the \"tests\"");
    talk_answer(&t, "[{'type':'tool_call','call':'m1.0','id':'1','name':'bash','args':{}}]");
    talk_result(&t, 0, "error", "exit 1");
    talk_ask(&t);
    assert_int_equal(t.outcome.code, HOB_EREFUSED);
    assert_int_equal(t.outcome.retryable, 0);
    assert_string_equal(
        t.outcome.error.message,
        "no rule of the script matches this request (user \"fix the \\\"tests\\\"\","
        " step 2, turn 2, messages 1, attempt 1, tool \"bash\" failed with \"exit 1\")"
        ": add a rule or \"otherwise\"");
    talk_finish(&t);
}

static void test_model_scripted__a_reply_over_the_ceiling_of_answers_fails(void **state) {
    (void)state;
    talk t;
    reply_to_hi(&t, "[{'repeat': {'times': 17000, 'reply': [{'text': '{{repeat}}', 'chunk': 0},"
                    "{'repeat': {'times': 16, 'reply': [{'text': '0123456789abcdef0123456789abcdef"
                    "0123456789abcdef0123456789abcdef', 'chunk': 0}]}}]}}]");
    assert_int_equal(t.outcome.code, HOB_ETOOBIG);
    assert_int_equal(t.outcome.retryable, 0);
    talk_finish(&t);
}

/* ---- usage ---------------------------------------------------------------------------------- */

static void assert_usage(const talk *t, const hob_usage *want) {
    assert_memory_equal(&t->answer->usage, want, sizeof(*want));
}

static void test_model_scripted__usage_is_estimated_from_bytes(void **state) {
    (void)state;
    talk t;
    talk_init(&t, "{'otherwise': [{'thinking': '12345'}, {'text': '1234'}]}");
    talk_user(&t, "hi"); /* [{"type":"text","text":"hi"}] has 29 bytes */
    t.rq.system = HOB_STR("0123456789");
    talk_ask(&t);
    assert_usage(&t, &(hob_usage){.input_tokens = 10, .output_tokens = 3, .reasoning_tokens = 2});
    talk_finish(&t);
}

static void test_model_scripted__usage_is_what_the_script_says(void **state) {
    (void)state;
    talk t;
    talk_init(&t, "{'defaults': {'usage': {'input_tokens': 7, 'cache_read_tokens': 5}},"
                  "'otherwise': [{'text': '1234'}, {'usage': {'cache_read_tokens': 6}},"
                  "{'usage': {'output_tokens': 99}}]}");
    talk_user(&t, "hi");
    talk_ask(&t);
    assert_usage(&t, &(hob_usage){.input_tokens = 7, .output_tokens = 99, .cache_read_tokens = 6});
    talk_finish(&t);
}

static void test_model_scripted__usage_so_far_is_known_when_cancelled(void **state) {
    (void)state;
    talk t;
    talk_init(&t, "{'otherwise': [{'text': '12345678'}, {'wait': true}]}");
    talk_user(&t, "hi");
    talk_start(&t);
    talk_run(&t);
    talk_cancel(&t);
    assert_usage(&t, &(hob_usage){.input_tokens = 8, .output_tokens = 2});
    talk_finish(&t);
}

static void test_model_scripted__an_error_at_once_uses_nothing(void **state) {
    (void)state;
    talk t;
    reply_to_hi(&t, "[{'error': {'status': 529}}]");
    assert_usage(&t, &(hob_usage){0});
    assert_int_equal(t.grown, 0);
    talk_finish(&t);
}

/* ---- time ----------------------------------------------------------------------------------- */

static void test_model_scripted__chunks_come_one_a_delay(void **state) {
    (void)state;
    talk t;
    talk_init(&t, "{'defaults': {'chunk': 4, 'delay_ms': 10}, 'otherwise':"
                  "[{'text': '123456789'}, {'delay_ms': 500}, {'text': 'ab', 'delay_ms': 0}]}");
    talk_user(&t, "hi");
    talk_ask(&t);
    static const int64_t want[] = {10, 20, 30, 530};
    assert_int_equal(t.grown, 4);
    assert_memory_equal(t.grown_at, want, sizeof(want));
    talk_finish(&t);
}

static void test_model_scripted__chunks_do_not_split_characters(void **state) {
    (void)state;
    talk t;
    talk_init(&t, "{'otherwise': [{'text': 'aä€😀b', 'chunk': 3, 'delay_ms': 1}, {'wait': true}]}");
    talk_user(&t, "hi");
    talk_start(&t);
    static const char *const so_far[] = {"aä", "aä€", "aä€😀", "aä€😀b"};
    for (size_t i = 0; i < HOB_ARRAY_LEN(so_far); i++) {
        while ((size_t)t.grown == i) hob_loop_run_once(t.loop, 10);
        assert_str(hob_buf_str(&t.answer->blocks[0].text), so_far[i]);
    }
    talk_finish(&t);
}

static void test_model_scripted__a_long_stream_leaves_room_between(void **state) {
    (void)state;
    talk t;
    talk_init(&t, "{'otherwise': [{'repeat': {'times': 20000, 'reply': [{'text': 'word '}]}}]}");
    talk_user(&t, "hi");
    talk_ask(&t);
    assert_int_equal(t.answer->nblocks, 1);
    assert_int_equal(t.answer->blocks[0].text.n, 100000);
    assert_true(t.grown > 1000);
    assert_int_equal(hob_loop_now(t.loop), t.asked_at);
    talk_finish(&t);
}

/* ---- cancelling ----------------------------------------------------------------------------- */

static void test_model_scripted__silence_lasts_until_cancelled(void **state) {
    (void)state;
    talk t;
    talk_init(&t, "{'otherwise': [{'text': 'so far'}, {'wait': true}]}");
    talk_user(&t, "hi");
    talk_start(&t);
    talk_run(&t);
    assert_int_equal(t.ended, 0);
    assert_int_equal(t.grown, 1);
    talk_cancel(&t);
    assert_string_equal(talk_said(&t), "[{'type':'text','text':'so far'}]");
    talk_finish(&t);
}

static void test_model_scripted__cancel_in_a_delay_is_the_last_word(void **state) {
    (void)state;
    talk t;
    talk_init(&t, "{'otherwise': [{'text': 'ab', 'chunk': 1, 'delay_ms': 10}]}");
    talk_user(&t, "hi");
    talk_start(&t);
    while (!t.grown) hob_loop_run_once(t.loop, 100);
    talk_cancel(&t);
    assert_int_equal(hob_loop_run_once(t.loop, 1000), 0);
    assert_int_equal(t.grown, 1);
    assert_int_equal(t.ended, 0);
    talk_finish(&t);
}

static void test_model_scripted__cancel_from_inside_progress(void **state) {
    (void)state;
    talk t;
    talk_init(&t, "{'otherwise': [{'text': 'ab', 'chunk': 1, 'delay_ms': 10}]}");
    talk_user(&t, "hi");
    t.cancel_when_grown = true;
    talk_start(&t);
    talk_run(&t);
    hob_loop_run_once(t.loop, 1000);
    assert_int_equal(t.grown, 1);
    assert_int_equal(t.ended, 0);
    talk_finish(&t);
}

static void test_model_scripted__cancel_before_anything_happened(void **state) {
    (void)state;
    talk t;
    talk_init(&t, "{'otherwise': [{'text': 'a'}]}");
    talk_user(&t, "hi");
    talk_start(&t);
    talk_cancel(&t);
    assert_int_equal(hob_loop_run_once(t.loop, 1000), 0);
    assert_int_equal(t.grown + t.ended, 0);
    talk_finish(&t);
}

/* ---- templates ------------------------------------------------------------------------------ */

static void test_model_scripted__templates_in_text(void **state) {
    (void)state;
    talk t;
    talk_init(&t, "{'rules': [{'when': {'user': {'prefix': '@echo'}}, 'reply': [{'text':"
                  "'{{user}}|{{rest}}|{{tool}}|{{result}}|{{model}}|{{session}}|"
                  "{{step}}|{{turn}}|{{messages}}|{{attempt}}|{{repeat}}'}]}]}");
    talk_user(&t, "first");
    talk_answer(&t, "[{'type':'text','text':'x'}]");
    talk_user(&t, "@echo  some words ");
    talk_answer(&t, "[{'type':'tool_call','call':'m2.0','id':'1','name':'ls','args':{}}]");
    talk_result(&t, 0, "ok", "a.c");
    t.rq.attempt = 3;
    assert_string_equal(talk_ask(&t),
                        "[{'type':'text','text':'@echo  some words |some words|ls|a.c|"
                        "test|s1|2|3|2|3|0'}]");
    talk_finish(&t);
}

static void test_model_scripted__templates_in_arguments_are_escaped(void **state) {
    (void)state;
    talk t;
    talk_init(&t, "{'otherwise': [{'tool': 'write', 'args': {'a': ['<{{user}}>'], 'n': 2}}]}");
    talk_user(&t, "a \"b\"\n\\");
    talk_ask(&t);
    assert_str(hob_buf_str(&t.answer->blocks[0].text),
               "{\"a\":[\"<a \\\"b\\\"\\n\\\\>\"],\"n\":2}");
    talk_finish(&t);
}

static void test_model_scripted__other_braces_are_text(void **state) {
    (void)state;
    assert_reply(
        "[{'text': 'int a[] = {{1}, {2}}; {{ user }} {{User}} {{}} {{{user}}} {{!user}} {{'}]",
        "[{'type':'text','text':'int a[] = {{1}, {2}}; {{ user }} {{User}} {{}} {hi} "
        "{{user}} {{'}]");
}

/* ---- resuming ------------------------------------------------------------------------------- */

static void play_two_requests(talk *t, char *out, size_t cap) {
    talk_user(t, "go");
    talk_answer(t, "[{'type':'tool_call','call':'m1.0','id':'call_1_1','name':'ls','args':{}}]");
    talk_result(t, 0, "ok", "a.c");
    snprintf(out, cap, "%s", talk_ask(t));
}

/* A provider that has answered before and one that has just started give the same answer. */
static void test_model_scripted__the_same_history_gets_the_same_reply(void **state) {
    (void)state;
    static const char script[] =
        "{'rules': [{'when': {'step': 1}, 'reply': [{'tool': 'ls'}]},"
        "{'when': {'step': 2, 'tool': 'ls'}, 'reply': [{'text': 'saw {{result}}'}, {'tool': 'x'}]}]}";
    talk old, fresh;
    char first[400], second[400];
    talk_init(&old, script);
    talk_ask(&old); /* twice: nothing may be counted */
    talk_ask(&old);
    play_two_requests(&old, first, sizeof(first));
    talk_init(&fresh, script);
    play_two_requests(&fresh, second, sizeof(second));
    assert_string_equal(first, second);
    assert_memory_equal(&old.answer->usage, &fresh.answer->usage, sizeof(hob_usage));
    assert_non_null(strstr(first, "saw a.c"));
    talk_finish(&old);
    talk_finish(&fresh);
}

static void test_model_scripted__two_requests_at_once(void **state) {
    (void)state;
    talk t;
    talk_init(&t, "{'otherwise': [{'text': '{{user}}', 'chunk': 1, 'delay_ms': 5}]}");
    talk_user(&t, "abc");
    talk_start(&t);
    hob_answer *first = t.answer;
    t.answer = NULL;
    talk_start(&t);
    while (t.ended < 2) hob_loop_run_once(t.loop, 1000);
    assert_str(hob_buf_str(&first->blocks[0].text), "abc");
    assert_str(hob_buf_str(&t.answer->blocks[0].text), "abc");
    assert_int_equal(hob_loop_now(t.loop) - t.asked_at, 15);
    hob_answer_destroy(first);
    talk_finish(&t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_model_scripted__text_is_one_block),
        cmocka_unit_test(test_model_scripted__new_block_parts_texts),
        cmocka_unit_test(test_model_scripted__thinking_is_signed),
        cmocka_unit_test(test_model_scripted__calls_get_ids_and_the_stop_reason),
        cmocka_unit_test(test_model_scripted__ids_of_calls_differ_between_turns),
        cmocka_unit_test(test_model_scripted__broken_arguments_are_kept),
        cmocka_unit_test(test_model_scripted__opaque_blocks),
        cmocka_unit_test(test_model_scripted__repeats_count_their_rounds),
        cmocka_unit_test(test_model_scripted__repeats_may_follow_each_other),
        cmocka_unit_test(test_model_scripted__stop_reasons),
        cmocka_unit_test(test_model_scripted__an_error_is_told_as_a_provider_would),
        cmocka_unit_test(test_model_scripted__status_and_code_say_which_error),
        cmocka_unit_test(test_model_scripted__a_cut_is_a_broken_stream),
        cmocka_unit_test(test_model_scripted__an_unmatched_request_is_named),
        cmocka_unit_test(test_model_scripted__a_reply_over_the_ceiling_of_answers_fails),
        cmocka_unit_test(test_model_scripted__usage_is_estimated_from_bytes),
        cmocka_unit_test(test_model_scripted__usage_is_what_the_script_says),
        cmocka_unit_test(test_model_scripted__usage_so_far_is_known_when_cancelled),
        cmocka_unit_test(test_model_scripted__an_error_at_once_uses_nothing),
        cmocka_unit_test(test_model_scripted__chunks_come_one_a_delay),
        cmocka_unit_test(test_model_scripted__chunks_do_not_split_characters),
        cmocka_unit_test(test_model_scripted__a_long_stream_leaves_room_between),
        cmocka_unit_test(test_model_scripted__silence_lasts_until_cancelled),
        cmocka_unit_test(test_model_scripted__cancel_in_a_delay_is_the_last_word),
        cmocka_unit_test(test_model_scripted__cancel_from_inside_progress),
        cmocka_unit_test(test_model_scripted__cancel_before_anything_happened),
        cmocka_unit_test(test_model_scripted__templates_in_text),
        cmocka_unit_test(test_model_scripted__templates_in_arguments_are_escaped),
        cmocka_unit_test(test_model_scripted__other_braces_are_text),
        cmocka_unit_test(test_model_scripted__the_same_history_gets_the_same_reply),
        cmocka_unit_test(test_model_scripted__two_requests_at_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
