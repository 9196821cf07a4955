#include "support/check.h"
#include "tool/tool.h"

#include <stdio.h>

static void run(const hob_tool_call *call, hob_reply *reply, void *user) {
    (void)call, (void)user;
    hob_reply_text(reply, HOB_OUTCOME_OK, HOB_STR("ran"));
}

static hob_tool make(const char *name) {
    hob_tool tool = HOB_TOOL_INIT;
    tool.name = name;
    tool.description = "does \"things\"";
    tool.run = run;
    return tool;
}

static int setup(void **state) {
    *state = hob_tools_create();
    return 0;
}

static int teardown(void **state) {
    hob_tools_destroy(*state);
    return 0;
}

static int add(hob_tools *t, const char *name) {
    hob_tool tool = make(name);
    return hob_tools_add(t, &tool, NULL);
}

static void test_tool_registry__finds_what_was_added(void **state) {
    hob_tools *t = *state;
    char name[] = "greet";
    assert_int_equal(add(t, name), 0);
    name[0] = 'X'; /* the registry has its own copy */
    const hob_tool *found = hob_tools_find(t, HOB_STR("greet"));
    assert_non_null(found);
    assert_string_equal(found->name, "greet");
    assert_ptr_equal(found->run, run);
    assert_null(hob_tools_find(t, HOB_STR("Greet")));
    assert_null(hob_tools_find(t, HOB_STR("gree")));
}

static void test_tool_registry__lists_in_order(void **state) {
    hob_tools *t = *state;
    hob_tool tool = make("b");
    tool.schema = " {\"type\": \"object\"} ";
    assert_str(hob_tools_json(t), "[]");
    assert_int_equal(hob_tools_add(t, &tool, NULL), 0);
    assert_int_equal(add(t, "a"), 0);
    assert_str(hob_tools_json(t),
               "[{\"name\":\"b\",\"description\":\"does \\\"things\\\"\",\"schema\":{\"type\": "
               "\"object\"}},{\"name\":\"a\",\"description\":\"does \\\"things\\\"\",\"schema\":"
               "{\"type\":\"object\",\"properties\":{},\"additionalProperties\":false}}]");
    assert_int_equal(hob_tools_remove(t, HOB_STR("b")), 0);
    assert_str(hob_tools_json(t),
               "[{\"name\":\"a\",\"description\":\"does \\\"things\\\"\",\"schema\":{\"type\":"
               "\"object\",\"properties\":{},\"additionalProperties\":false}}]");
}

static void test_tool_registry__version_tells_of_changes(void **state) {
    hob_tools *t = *state;
    uint64_t first = hob_tools_version(t);
    add(t, "a");
    uint64_t second = hob_tools_version(t);
    assert_true(second != first);
    hob_tools_find(t, HOB_STR("a"));
    hob_tools_json(t);
    assert_int_equal(hob_tools_version(t), second);
    hob_tools_remove(t, HOB_STR("a"));
    assert_true(hob_tools_version(t) != second);
}

static void test_tool_registry__a_name_is_taken_once(void **state) {
    hob_tools *t = *state;
    assert_int_equal(add(t, "a"), 0);
    assert_int_equal(add(t, "a"), HOB_EEXIST);
    assert_int_equal(hob_tools_remove(t, HOB_STR("a")), 0);
    assert_int_equal(hob_tools_remove(t, HOB_STR("a")), HOB_ENOENT);
    assert_int_equal(add(t, "a"), 0);
}

static void test_tool_registry__refuses_bad_names(void **state) {
    hob_tools *t = *state;
    char longest[66] = {0};
    memset(longest, 'n', 65);
    const char *bad[] = {NULL, "", "with space", "dotted.name", "\xc3\xa4", "a/b", longest};
    for (size_t i = 0; i < HOB_ARRAY_LEN(bad); i++) assert_int_equal(add(t, bad[i]), HOB_EINVAL);
    longest[64] = '\0';
    assert_int_equal(add(t, longest), 0);
    assert_int_equal(add(t, "mcp__server__tool-2"), 0);
}

static void test_tool_registry__refuses_incomplete_tools(void **state) {
    hob_tools *t = *state;
    hob_tool good = make("a"), tool = good;
    tool.run = NULL;
    assert_int_equal(hob_tools_add(t, &tool, NULL), HOB_EINVAL);
    tool = good;
    tool.size = 0;
    assert_int_equal(hob_tools_add(t, &tool, NULL), HOB_EINVAL);
    tool = good;
    tool.description = NULL;
    assert_int_equal(hob_tools_add(t, &tool, NULL), HOB_EINVAL);
    tool = good;
    tool.timeout_ms = -1;
    assert_int_equal(hob_tools_add(t, &tool, NULL), HOB_EINVAL);
    assert_str(hob_tools_json(t), "[]");
}

static void schema_refused(hob_tools *t, const char *schema, const char *message) {
    hob_tool tool = make("a");
    hob_error err = {.message = ""};
    tool.schema = schema;
    assert_int_equal(hob_tools_add(t, &tool, &err), HOB_EINVAL);
    assert_string_equal(err.message, message);
}

static void test_tool_registry__refuses_bad_schemas(void **state) {
    hob_tools *t = *state;
    schema_refused(t, "{\"type\":\"string\"}",
                   "the tool a: its schema must say \"type\": \"object\"");
    schema_refused(t, "{}", "the tool a: its schema must say \"type\": \"object\"");
    schema_refused(t, "{\"type\":\"object\",\"allOf\":[]}",
                   "the tool a: the schema uses \"allOf\", which is not supported (docs/tools.md "
                   "has the list)");
}

static void assert_check(hob_tools *t, const char *args, const char *message) {
    hob_error err = {.message = ""};
    const hob_tool *tool = hob_tools_find(t, HOB_STR("a"));
    int r = hob_tools_check(t, tool, hob_str_z(args), &err);
    assert_int_equal(r, *message ? HOB_EINVAL : 0);
    assert_string_equal(err.message, message);
}

static void test_tool_registry__checks_arguments(void **state) {
    hob_tools *t = *state;
    hob_tool tool = make("a");
    tool.schema = "{\"type\":\"object\",\"properties\":{\"n\":{\"type\":\"integer\"}},"
                  "\"additionalProperties\":false}";
    assert_int_equal(hob_tools_add(t, &tool, NULL), 0);
    assert_check(t, "{\"n\":1}", "");
    assert_check(t, "{}", "");
    assert_check(t, "", "");
    assert_check(t, " \n", "");
    assert_check(t, "[]", "wrong arguments for a: the value must be an object, not an array");
    assert_check(t, "{\"n\":\"1\"}", "wrong arguments for a: n must be an integer, not a string");
    assert_check(t, "{\"N\":1}", "wrong arguments for a: N is unknown (did you mean n?)");
}

static void test_tool_registry__arguments_that_are_no_json_are_said_so(void **state) {
    hob_tools *t = *state;
    hob_error err = {.message = ""};
    add(t, "a");
    const hob_tool *tool = hob_tools_find(t, HOB_STR("a"));
    assert_int_equal(hob_tools_check(t, tool, HOB_STR("{\"n\":"), &err), HOB_EINVAL);
    assert_true(
        hob_str_starts(hob_str_z(err.message), HOB_STR("the arguments of a are not valid JSON: ")));
}

static void test_tool_registry__without_schema_there_are_no_arguments(void **state) {
    hob_tools *t = *state;
    add(t, "a");
    assert_check(t, "{}", "");
    assert_check(t, "{\"x\":1}", "wrong arguments for a: x is unknown");
}

static void test_tool_registry__suggests_the_nearest_name(void **state) {
    hob_tools *t = *state;
    assert_null(hob_tools_nearest(t, HOB_STR("read")));
    add(t, "read");
    add(t, "write");
    assert_string_equal(hob_tools_nearest(t, HOB_STR("raed")), "read");
    assert_null(hob_tools_nearest(t, HOB_STR("completely different")));
}

static void test_tool_registry__has_ceilings(void **state) {
    hob_tools *t = *state;
    char name[16];
    for (int i = 0; i < 1024; i++) {
        snprintf(name, sizeof(name), "t%d", i);
        assert_int_equal(add(t, name), 0);
    }
    assert_int_equal(add(t, "one-more"), HOB_ETOOBIG);
    assert_true(hob_json_valid(hob_tools_json(t)));
}

#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        T(test_tool_registry__finds_what_was_added),
        T(test_tool_registry__lists_in_order),
        T(test_tool_registry__version_tells_of_changes),
        T(test_tool_registry__a_name_is_taken_once),
        T(test_tool_registry__refuses_bad_names),
        T(test_tool_registry__refuses_incomplete_tools),
        T(test_tool_registry__refuses_bad_schemas),
        T(test_tool_registry__checks_arguments),
        T(test_tool_registry__arguments_that_are_no_json_are_said_so),
        T(test_tool_registry__without_schema_there_are_no_arguments),
        T(test_tool_registry__suggests_the_nearest_name),
        T(test_tool_registry__has_ceilings),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
