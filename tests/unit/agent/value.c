/* Agents as values: what is refused when they are made. */
#include "agent/value.h"

#include "support/check.h"
#include "support/sim_agents.h"

#include <stdio.h>

static int make(hob_agent_opts o, hob_error *err) {
    hob_agent *a = NULL;
    int rc = hob_agent_create(&o, &a, err);
    assert_int_equal(a != NULL, rc >= 0);
    hob_agent_unref(a);
    return rc;
}

static void refused(hob_agent_opts o, int code, const char *word) {
    hob_error err = {0};
    assert_int_equal(make(o, &err), code);
    assert_int_equal(err.code, code);
    if (!strstr(err.message, word)) fail_msg("\"%s\" does not say %s", err.message, word);
}

static hob_agent_opts named(const char *name) {
    hob_agent_opts o = HOB_AGENT_OPTS_INIT;
    o.name = name;
    return o;
}

static void test_agent_value__case_56_names(void **state) {
    static const char *const wrong[] = {"user", "a b", "1a", "", "-a", "a.b", "\xc3\xa9t\xc3\xa9",
                                        "a/b"};
    static const char *const right[] = {"a", "_", "a-b_9", "User", "users"};
    char longest[66] = "";
    hob_error err;
    (void)state;
    for (size_t i = 0; i < HOB_ARRAY_LEN(wrong); i++)
        refused(named(wrong[i]), HOB_EINVAL, "no name");
    refused(named(NULL), HOB_EINVAL, "no name");
    for (size_t i = 0; i < HOB_ARRAY_LEN(right); i++) assert_ok(make(named(right[i]), &err), err);
    memset(longest, 'x', 65);
    refused(named(longest), HOB_EINVAL, "at most 64");
    longest[64] = 0;
    assert_ok(make(named(longest), &err), err);
}

static void test_agent_value__a_name_stands_once_in_a_tree(void **state) {
    hob_agent *deep = in_order("seq", llm("twin", NULL), NULL), *twin = llm("twin", NULL);
    hob_agent *both[] = {deep, twin}, *same[] = {twin, twin};
    hob_agent_opts o = named("root");
    (void)state;
    o.agents = both;
    o.nagents = 2;
    refused(o, HOB_EEXIST, "twin");
    o.agents = same;
    refused(o, HOB_EEXIST, "twin");
    o.agents = &deep;
    o.nagents = 1;
    o.name = "twin";
    refused(o, HOB_EEXIST, "twin");
    hob_agent_unref(deep);
    hob_agent_unref(twin);
}

static void test_agent_value__case_46_a_loop_has_an_end(void **state) {
    hob_agent *a = llm("a", NULL);
    hob_agent_opts o = named("loop");
    (void)state;
    o.kind = HOB_AGENT_LOOP;
    o.agents = &a;
    o.nagents = 1;
    refused(o, HOB_EINVAL, "max_iterations");
    o.max_iterations = -1;
    refused(o, HOB_EINVAL, "max_iterations");
    hob_agent_unref(a);
}

static int always(const hob_state *state, void *user) {
    (void)state;
    (void)user;
    return 1;
}

static void test_agent_value__each_kind_has_what_it_needs(void **state) {
    hob_agent *three[] = {llm("a", NULL), llm("b", NULL), llm("c", NULL)};
    hob_agent *hole[] = {three[0], NULL};
    hob_agent_opts o = named("x");
    (void)state;
    for (int kind = HOB_AGENT_SEQUENTIAL; kind <= HOB_AGENT_PARALLEL; kind++) {
        o.kind = (hob_agent_kind)kind;
        refused(o, HOB_EINVAL, "1 to 256");
    }
    o.kind = HOB_AGENT_CUSTOM;
    refused(o, HOB_EINVAL, "`run`");
    o.run = watchers().before_agent;
    o.agents = three;
    o.nagents = 1;
    refused(o, HOB_EINVAL, "0 to 0");
    o.kind = HOB_AGENT_CONDITIONAL;
    o.nagents = 3;
    refused(o, HOB_EINVAL, "condition");
    o.condition = "a b";
    refused(o, HOB_EINVAL, "key");
    o.condition = "k";
    refused(o, HOB_EINVAL, "1 to 2");
    o.holds = always;
    refused(o, HOB_EINVAL, "as text or as a function");
    o.kind = (hob_agent_kind)99;
    refused(o, HOB_EINVAL, "unknown kind");
    o.kind = HOB_AGENT_PARALLEL;
    o.agents = hole;
    o.nagents = 2;
    refused(o, HOB_EINVAL, "NULL");
    o.agents = NULL;
    refused(o, HOB_EINVAL, "NULL");
    for (size_t i = 0; i < 3; i++) hob_agent_unref(three[i]);
}

static void test_agent_value__what_is_an_llms_is_refused_elsewhere(void **state) {
    hob_agent *a = llm("a", NULL);
    hob_agent_opts o = named("seq");
    (void)state;
    o.kind = HOB_AGENT_SEQUENTIAL;
    o.agents = &a;
    o.nagents = 1;
    o.output_key = "k";
    refused(o, HOB_EINVAL, "LLM");
    hob_agent_unref(a);
}

static void test_agent_value__fields_of_an_llm_are_checked(void **state) {
    hob_agent_opts o = named("a");
    hob_tool tool = HOB_TOOL_INIT;
    (void)state;
    o.output_key = "a/b";
    refused(o, HOB_EINVAL, "key");
    o.output_key = NULL;
    o.output_schema = "{";
    refused(o, HOB_EINVAL, "schema");
    o.output_schema = NULL;
    o.max_turns = -1;
    refused(o, HOB_EINVAL, "max_turns");
    o.max_turns = 0;
    o.own_tools = &tool;
    o.nown_tools = 1;
    hob_error err = {0};
    assert_true(make(o, &err) < 0);
    o.nown_tools = 0;
    char *text = hob_alloc(HOB_INSTRUCTION_MAX + 2);
    memset(text, 'x', HOB_INSTRUCTION_MAX + 1);
    o.instruction = text;
    refused(o, HOB_ETOOBIG, "1 MiB");
    hob_free(text);
}

static hob_agent *chain(int n) {
    char name[16];
    snprintf(name, sizeof name, "a%d", n);
    return n == 1 ? llm(name, NULL) : llm(name, chain(n - 1), NULL);
}

static void test_agent_value__a_tree_has_32_levels(void **state) {
    hob_agent *deep = chain(HOB_AGENTS_DEEP);
    hob_agent_opts o = named("top");
    (void)state;
    o.agents = &deep;
    o.nagents = 1;
    refused(o, HOB_ETOOBIG, "32 deep");
    hob_agent_unref(deep);
}

static void test_agent_value__a_tree_has_256_agents(void **state) {
    hob_agent *many[HOB_AGENTS_MAX];
    char name[16];
    hob_error err;
    hob_agent_opts o = named("top");
    (void)state;
    for (size_t i = 0; i < HOB_AGENTS_MAX; i++) {
        snprintf(name, sizeof name, "a%zu", i);
        many[i] = llm(name, NULL);
    }
    o.agents = many;
    o.nagents = HOB_AGENTS_MAX;
    refused(o, HOB_ETOOBIG, "256");
    o.nagents--;
    assert_ok(make(o, &err), err);
    for (size_t i = 0; i < HOB_AGENTS_MAX; i++) hob_agent_unref(many[i]);
}

static void test_agent_value__everything_is_copied(void **state) {
    char name[] = "writer", text[] = "Write.", key[] = "draft";
    hob_agent_opts o = named(name);
    hob_agent *a;
    hob_error err;
    (void)state;
    o.description = text;
    o.instruction = text;
    o.output_key = key;
    assert_ok(hob_agent_create(&o, &a, &err), err);
    memset(name, 'x', sizeof name - 1);
    memset(text, 'x', sizeof text - 1);
    memset(key, 'x', sizeof key - 1);
    assert_true(hob_str_eqz(hob_agent_name(a), "writer"));
    assert_true(hob_str_eqz(hob_agent_description(a), "Write."));
    assert_string_equal(a->o.instruction, "Write.");
    assert_string_equal(a->o.output_key, "draft");
    hob_agent_unref(a);
    hob_agent_unref(NULL);
}

static void test_agent_value__is_looked_into(void **state) {
    hob_agent *root = in_order("seq", llm("a", llm("b", NULL), NULL), NULL);
    (void)state;
    assert_int_equal(hob_agent_kind_of(root), HOB_AGENT_SEQUENTIAL);
    assert_int_equal(hob_agent_count(root), 1);
    assert_true(hob_str_eqz(hob_agent_name(hob_agent_at(root, 0)), "a"));
    assert_null(hob_agent_at(root, 1));
    assert_true(hob_str_eqz(hob_agent_name(hob_agent_find(root, HOB_STR("b"))), "b"));
    assert_ptr_equal(hob_agent_find(root, HOB_STR("seq")), root);
    assert_null(hob_agent_find(root, HOB_STR("nobody")));
    assert_int_equal(hob_agent_description(root).n, 0);
    hob_agent_unref(root);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_agent_value__case_56_names),
        cmocka_unit_test(test_agent_value__a_name_stands_once_in_a_tree),
        cmocka_unit_test(test_agent_value__case_46_a_loop_has_an_end),
        cmocka_unit_test(test_agent_value__each_kind_has_what_it_needs),
        cmocka_unit_test(test_agent_value__what_is_an_llms_is_refused_elsewhere),
        cmocka_unit_test(test_agent_value__fields_of_an_llm_are_checked),
        cmocka_unit_test(test_agent_value__a_tree_has_32_levels),
        cmocka_unit_test(test_agent_value__a_tree_has_256_agents),
        cmocka_unit_test(test_agent_value__everything_is_copied),
        cmocka_unit_test(test_agent_value__is_looked_into),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
