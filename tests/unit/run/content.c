/* What a user may say: refused before anything is written, if it could not be written down. */
#include "support/check.h"
#include "support/sim.h"

static const hob_input_kind kinds[] = {HOB_INPUT_PROMPT, HOB_INPUT_STEER, HOB_INPUT_FOLLOW_UP};

static int say(sim *s, hob_input_kind kind, hob_str content) {
    return sim_input(s, &(hob_input){.kind = kind, .content = content});
}

/* A sim in which this kind of message is welcome. */
static void start(sim *s, hob_input_kind kind) {
    sim_init(s);
    if (kind != HOB_INPUT_PROMPT) sim_prompt(s, "go");
    sim_log(s);
}

static void test_run_content__must_be_an_array_of_blocks(void **state) {
    (void)state;
    static const char *const wrong[] = {
        "",         "[]",  " [ ] ",   "{}",       "{\"type\":\"text\"}",
        "\"text\"", "[{]", "[1],[2]", "[\"\n\"]", "[1] x"};
    for (size_t k = 0; k < HOB_ARRAY_LEN(kinds); k++) {
        sim s;
        start(&s, kinds[k]);
        for (size_t i = 0; i < HOB_ARRAY_LEN(wrong); i++)
            assert_int_equal(say(&s, kinds[k], hob_str_z(wrong[i])), HOB_EINVAL);
        assert_log(&s, "");
        sim_finish(&s);
    }
}

static void test_run_content__may_stand_on_many_lines(void **state) {
    (void)state;
    sim s;
    sim_init(&s);
    say(&s, HOB_INPUT_PROMPT, HOB_STR("\n[\n  {\"type\": \"text\",\r\n   \"text\": \"hi\"}\n]\n"));
    assert_string_equal(sim_json(&s, 1),
                        "{\"content\":[   {\"type\": \"text\",     \"text\": \"hi\"} ]}");
    sim_finish(&s);
}

static hob_str nested(hob_buf *b, int depth) {
    hob_buf_reset(b);
    for (int i = 0; i < depth; i++) hob_buf_addc(b, '[');
    hob_buf_addc(b, '1');
    for (int i = 0; i < depth; i++) hob_buf_addc(b, ']');
    return hob_buf_str(b);
}

static void test_run_content__may_be_64_deep(void **state) {
    (void)state;
    hob_buf b;
    hob_buf_init(&b, 1000);
    for (size_t k = 0; k < HOB_ARRAY_LEN(kinds); k++) {
        sim s;
        start(&s, kinds[k]);
        assert_int_equal(say(&s, kinds[k], nested(&b, 65)), HOB_EINVAL);
        assert_true(say(&s, kinds[k], nested(&b, 64)) > 0);
        sim_finish(&s);
    }
    hob_buf_finish(&b);
}

/* A text block of this many bytes in all. */
static hob_str block(hob_buf *b, size_t bytes) {
    static const char before[] = "[{\"type\":\"text\",\"text\":\"", after[] = "\"}]";
    size_t n = bytes - (sizeof(before) - 1) - (sizeof(after) - 1);
    hob_buf_reset(b);
    hob_buf_addz(b, before);
    memset(hob_buf_reserve(b, n), 'x', n);
    b->n += n;
    hob_buf_addz(b, after);
    assert_int_equal(b->n, bytes);
    return hob_buf_str(b);
}

static void test_run_content__of_a_prompt_has_a_ceiling(void **state) {
    (void)state;
    hob_buf b;
    sim s;
    sim_init(&s);
    hob_buf_init(&b, HOB_EVENT_MAX);
    assert_int_equal(say(&s, HOB_INPUT_PROMPT, block(&b, (size_t)HOB_MESSAGE_MAX + 1)),
                     HOB_ETOOBIG);
    assert_int_equal(say(&s, HOB_INPUT_PROMPT, block(&b, HOB_MESSAGE_MAX)), HOB_SAID_MORE);
    hob_buf_finish(&b);
    sim_drop(&s);
}

/* Together they must fit into the event that hands them back. */
static void test_run_content__of_a_queue_has_a_ceiling(void **state) {
    (void)state;
    enum { PART = HOB_QUEUE_BYTES_MAX / 4 };
    hob_buf b;
    sim s;
    sim_init(&s);
    hob_buf_init(&b, HOB_EVENT_MAX);
    sim_prompt(&s, "go");
    for (int i = 0; i < 4; i++) {
        assert_int_equal(say(&s, HOB_INPUT_STEER, block(&b, PART)), HOB_SAID_LAST);
        assert_int_equal(say(&s, HOB_INPUT_FOLLOW_UP, block(&b, PART)), HOB_SAID_LAST);
    }
    assert_int_equal(sim_steer(&s, "x"), HOB_ETOOBIG);
    assert_int_equal(sim_follow_up(&s, "x"), HOB_ETOOBIG);
    sim_cancel(&s, HOB_ENDING_CANCEL, HOB_QUEUE_RETURN);
    sim_stopped(&s, "", NULL);
    assert_int_equal(sim_count(&s, HOB_EVENT_QUEUE_RETURNED), 1);
    assert_true(s.run.settled);
    hob_buf_finish(&b);
    sim_drop(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_run_content__must_be_an_array_of_blocks),
        cmocka_unit_test(test_run_content__may_stand_on_many_lines),
        cmocka_unit_test(test_run_content__may_be_64_deep),
        cmocka_unit_test(test_run_content__of_a_prompt_has_a_ceiling),
        cmocka_unit_test(test_run_content__of_a_queue_has_a_ceiling),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
