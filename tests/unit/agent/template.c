/* Arguments in texts. */
#include "agent/definition.h"

#include "support/check.h"

static void assert_expands(const char *text, const char *arguments, const char *want) {
    hob_buf b;
    hob_buf_init(&b, 1 << 16);
    assert_int_equal(hob_template_expand(hob_str_z(text), hob_str_z(arguments), &b), HOB_OK);
    assert_string_equal(hob_buf_z(&b), want);
    hob_buf_finish(&b);
}

static void test_agent_template__puts_arguments_in_place(void **state) {
    (void)state;
    assert_expands("do $ARGUMENTS now", " a  b ", "do a  b now");
    assert_expands("$2 before $1.", "a b", "b before a.");
    assert_expands("[$3]", "a b", "[]");
    assert_expands("${1:-x} ${2:-y} ${3}", "a", "a y ");
    assert_expands("${1:-}", "", "");
}

static void test_agent_template__words_are_quoted_as_in_a_shell(void **state) {
    (void)state;
    assert_expands("$1|$2|$3", "'a b' \"c \\\" d\" e\\ f", "a b|c \" d|e f");
    assert_expands("$1|$2", "'open end", "open end|");
    assert_expands("$1|$2", "$(id) `id`", "$(id)|`id`");
}

static void test_agent_template__what_was_put_in_is_not_expanded_again(void **state) {
    (void)state;
    assert_expands("$1 $ARGUMENTS", "$2 x", "$2 $2 x");
}

static void test_agent_template__leaves_everything_else(void **state) {
    (void)state;
    assert_expands("$ $0 $10 $x ${HOME} ${1:=x} ${1 !`rm -rf x` @file $", "",
                   "$ $0 $10 $x ${HOME} ${1:=x} ${1 !`rm -rf x` @file $");
}

static void test_agent_template__arguments_nobody_asked_for_come_last(void **state) {
    (void)state;
    assert_expands("text", "a b", "text\n\nARGUMENTS: a b");
    assert_expands("text", "  ", "text");
}

static void test_agent_template__has_a_ceiling(void **state) {
    (void)state;
    hob_buf b;
    hob_buf_init(&b, 16);
    assert_int_equal(hob_template_expand(HOB_STR("$1$1$1$1"), HOB_STR("longer"), &b), HOB_ETOOBIG);
    hob_buf_finish(&b);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_agent_template__puts_arguments_in_place),
        cmocka_unit_test(test_agent_template__words_are_quoted_as_in_a_shell),
        cmocka_unit_test(test_agent_template__what_was_put_in_is_not_expanded_again),
        cmocka_unit_test(test_agent_template__leaves_everything_else),
        cmocka_unit_test(test_agent_template__arguments_nobody_asked_for_come_last),
        cmocka_unit_test(test_agent_template__has_a_ceiling),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
