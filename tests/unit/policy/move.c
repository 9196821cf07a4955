/* Rules for a copy of a folder: what they say of a file they say of its copy. */
#include "support/policies.h"

static hob_decision says(const hob_policy *p, const char *tool, const char *path) {
    hob_policy_answer a;
    hob_buf args;
    hob_buf_init(&args, 4096);
    policy_args(&args, "path", hob_str_z(path));
    hob_policy_check(p, hob_str_z(tool), HOB_TOOL_UNSAFE, hob_buf_str(&args), &a);
    hob_buf_finish(&args);
    return a.decision;
}

static hob_policy *moved(hob_policy *base, const char *from, const char *to) {
    hob_policy *p;
    hob_error err;
    assert_ok(hob_policy_move(base, hob_str_z(from), hob_str_z(to), &p, &err), err);
    hob_policy_destroy(base);
    return p;
}

static void test_policy_move__a_copy_is_judged_as_what_it_copies(void **state) {
    (void)state;
    hob_policy *p = moved(policy_make(&(policy_spec){.mode = HOB_MODE_ASK,
                                                     .allow = "write(src/**)",
                                                     .ask = "write(src/ask.c)",
                                                     .deny = "write(/repo/secret/**)",
                                                     .cwd = "/repo"}),
                          "/repo", "/state/task");
    assert_int_equal(says(p, "write", "src/a.c"), HOB_ALLOW);
    assert_int_equal(says(p, "write", "/state/task/src/a.c"), HOB_ALLOW);
    assert_int_equal(says(p, "write", "/state/task/x/../src/ask.c"), HOB_ASK);
    assert_int_equal(says(p, "write", "secret/k"), HOB_DENY);
    assert_int_equal(says(p, "write", "/state/task/secret/k"), HOB_DENY);
    assert_int_equal(says(p, "write", "/state/task-2/src/a.c"), HOB_ASK); /* another folder */
    hob_policy_destroy(p);
}

static void test_policy_move__a_copy_of_a_copy_too(void **state) {
    (void)state;
    hob_policy *p = policy_make(
        &(policy_spec){.mode = HOB_MODE_YOLO, .deny = "read(/repo/secret)", .cwd = "/repo/sub"});
    p = moved(moved(p, "/repo", "/state/one"), "/state/one", "/state/two");
    assert_int_equal(says(p, "read", "/state/two/secret"), HOB_DENY);
    assert_int_equal(says(p, "read", "/state/one/secret"), HOB_DENY);
    assert_int_equal(says(p, "read", "../secret"), HOB_DENY);
    assert_int_equal(says(p, "read", "/state/two/other"), HOB_ALLOW);
    hob_policy_destroy(p);
}

static void test_policy_move__can_be_narrowed_as_before(void **state) {
    (void)state;
    const hob_str no = HOB_STR("write(docs/**)");
    const hob_narrow n = {.who = HOB_STR("agent x"), .disallowed = &no, .ndisallowed = 1};
    hob_policy *p = moved(policy_make(&(policy_spec){.mode = HOB_MODE_YOLO, .cwd = "/repo"}),
                          "/repo", "/state/task"),
               *narrow;
    hob_error err;
    assert_ok(hob_policy_narrow(p, &n, &narrow, &err), err);
    hob_policy_destroy(p);
    assert_int_equal(hob_policy_mode(narrow), HOB_MODE_YOLO);
    assert_int_equal(says(narrow, "write", "docs/a"), HOB_DENY);
    assert_int_equal(says(narrow, "write", "/state/task/docs/a"), HOB_DENY);
    assert_int_equal(says(narrow, "write", "/state/task/a"), HOB_ALLOW);
    hob_policy_destroy(narrow);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_policy_move__a_copy_is_judged_as_what_it_copies),
        cmocka_unit_test(test_policy_move__a_copy_of_a_copy_too),
        cmocka_unit_test(test_policy_move__can_be_narrowed_as_before)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
