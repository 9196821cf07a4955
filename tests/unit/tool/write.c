/* ctest: labels=threads */
#include "support/check.h"
#include "support/tools.h"

#include <unistd.h>

static void assert_answer(hob_test_tools *t, const char *args, hob_outcome outcome,
                          const char *text) {
    assert_str(hob_test_tool(t, "write", args), text);
    assert_int_equal(t->outcome, outcome);
}

static void test_tool_write__says_what_it_did(void **state) {
    hob_test_tools *t = *state;
    assert_answer(t, "{\"path\":\"a.txt\",\"content\":\"one\\n\"}", HOB_OUTCOME_OK,
                  "created a.txt (4 bytes)");
    assert_str(hob_test_content(&t->folder, "proj/a.txt"), "one\n");
    assert_answer(t, "{\"path\":\"a.txt\",\"content\":\"\"}", HOB_OUTCOME_OK,
                  "overwrote a.txt (0 bytes)");
    assert_str(hob_test_content(&t->folder, "proj/a.txt"), "");
}

static void test_tool_write__makes_folders(void **state) {
    hob_test_tools *t = *state;
    assert_answer(t, "{\"path\":\"x/y/a.txt\",\"content\":\"\\u00e4\"}", HOB_OUTCOME_OK,
                  "created x/y/a.txt (2 bytes)");
    assert_str(hob_test_content(&t->folder, "proj/x/y/a.txt"), "ä");
}

static void test_tool_write__again_with_the_same_arguments_changes_nothing(void **state) {
    hob_test_tools *t = *state;
    assert_int_equal(hob_tools_find(t->tools, HOB_STR("write"))->class_, HOB_TOOL_IDEMPOTENT);
    for (int i = 0; i < 2; i++) {
        hob_test_tool(t, "write", "{\"path\":\"a.txt\",\"content\":\"same\"}");
        assert_str(hob_test_content(&t->folder, "proj/a.txt"), "same");
        assert_int_equal(hob_test_entries(&t->folder, "proj"), 1);
    }
}

static void test_tool_write__outside_is_refused(void **state) {
    hob_test_tools *t = *state;
    assert_answer(t, "{\"path\":\"../evil\",\"content\":\"x\"}", HOB_OUTCOME_ERROR,
                  "not written: ../evil leads outside the workspace (by '..' or a symbolic link)");
    assert_int_equal(access(hob_test_path(&t->folder, "evil"), F_OK), -1);
}

static void test_tool_write__a_broken_hard_link_is_said(void **state) {
    hob_test_tools *t = *state;
    hob_test_file(&t->folder, "proj/a", HOB_STR("old"));
    assert_int_equal(link(hob_test_path(&t->folder, "proj/a"), hob_test_path(&t->folder, "other")),
                     0);
    assert_answer(
        t, "{\"path\":\"a\",\"content\":\"new\"}", HOB_OUTCOME_OK,
        "overwrote a (3 bytes); the file had other names (hard links), which keep the old "
        "content");
}

static void test_tool_write__needs_both_arguments(void **state) {
    hob_test_tools *t = *state;
    assert_string_equal(hob_test_tool_check(t, "write", "{\"path\":\"a\"}"),
                        "wrong arguments for write: content is missing");
    assert_string_equal(hob_test_tool_check(t, "write", "{\"path\":\"\",\"content\":\"\"}"),
                        "wrong arguments for write: path must have at least 1 characters");
}

#define T(name) cmocka_unit_test_setup_teardown(name, hob_test_tools_setup, hob_test_tools_teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        T(test_tool_write__says_what_it_did),
        T(test_tool_write__makes_folders),
        T(test_tool_write__again_with_the_same_arguments_changes_nothing),
        T(test_tool_write__outside_is_refused),
        T(test_tool_write__a_broken_hard_link_is_said),
        T(test_tool_write__needs_both_arguments),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
