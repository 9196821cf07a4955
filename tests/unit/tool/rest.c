/* A registry at rest: what it let go of comes back when it is needed, and is the same. */
#include "support/check.h"
#include "tool/tool.h"

static void run(const hob_tool_call *call, hob_reply *reply, void *user) {
    (void)call, (void)reply, (void)user;
}

static hob_tools *make(void) {
    hob_tools *t = hob_tools_create();
    hob_tool tool = HOB_TOOL_INIT;
    hob_error err;
    tool.name = "count";
    tool.description = "counts";
    tool.schema =
        "{\"type\":\"object\",\"properties\":{\"n\":{\"type\":\"integer\"}},\"required\":[\"n\"]}";
    tool.run = run;
    assert_ok(hob_tools_add(t, &tool, &err), err);
    return t;
}

static void test_tool_rest__arguments_are_still_checked(void **state) {
    (void)state;
    hob_tools *t = make();
    hob_error err;
    hob_tools_rest(t);
    hob_tools_rest(t);
    const hob_tool *tool = hob_tools_find(t, HOB_STR("count"));
    assert_int_equal(hob_tools_check(t, tool, HOB_STR("{\"n\":\"x\"}"), &err), HOB_EINVAL);
    assert_ok(hob_tools_check(t, tool, HOB_STR("{\"n\":1}"), &err), err);
    hob_tools_destroy(t);
}

static void test_tool_rest__the_text_for_the_model_is_the_same(void **state) {
    (void)state;
    hob_tools *t = make();
    char *before = hob_dupz(hob_tools_json(t));
    uint64_t version = hob_tools_version(t);
    hob_tools_rest(t);
    assert_str(hob_tools_json(t), before);
    assert_int_equal(hob_tools_version(t), version);
    hob_free(before);
    hob_tools_destroy(t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tool_rest__arguments_are_still_checked),
        cmocka_unit_test(test_tool_rest__the_text_for_the_model_is_the_same),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
