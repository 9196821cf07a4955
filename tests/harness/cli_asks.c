/* Who asks in a terminal, and that the work goes on after the answer: sub-agents and agents of a workflow. */
#include "support/check.h"
#include "support/cli.h"

static const char script[] =
    "{'rules': ["
    " {'when': {'system': 'work as a sub-agent', 'user': 'deeper', 'step': 1}, 'reply': ["
    "  {'tool': 'task', 'args': {'agent': 'general', 'prompt': 'leaf'}}]},"
    " {'when': {'system': 'work as a sub-agent', 'step': 1}, 'reply': ["
    "  {'tool': 'write', 'args': {'path': '{{user}}.txt', 'content': 'x'}}]},"
    " {'when': {'system': 'work as a sub-agent'}, 'reply': [{'text': 'child done'}]},"
    " {'when': {'system': 'I am the writer', 'step': 1}, 'reply': ["
    "  {'tool': 'write', 'args': {'path': 'w.txt', 'content': 'x'}}]},"
    " {'when': {'user': 'one', 'step': 1}, 'reply': ["
    "  {'tool': 'task', 'args': {'agent': 'general', 'prompt': 'a'}}]},"
    " {'when': {'user': 'two', 'step': 1}, 'reply': ["
    "  {'tool': 'task', 'args': {'agent': 'general', 'prompt': 'a'}},"
    "  {'tool': 'task', 'args': {'agent': 'general', 'prompt': 'b'}}]},"
    " {'when': {'user': 'deep', 'step': 1}, 'reply': ["
    "  {'tool': 'task', 'args': {'agent': 'general', 'prompt': 'deeper'}}]}],"
    " 'otherwise': [{'text': 'all is done'}]}";

static int setup(void **state) {
    if (hob_test_cli_setup(state) != 0) return -1;
    hob_test_cli *c = *state;
    hob_test_quoted_file(c, "s.json", script);
    hob_test_mkdir(&c->folder, "home/agents");
    hob_test_file(&c->folder, "home/agents/duo.yaml",
                  HOB_STR("name: duo\ndescription: d\nkind: sequential\nagents:\n"
                          "  - {name: writer, description: w, prompt: I am the writer}\n"));
    c->terminal = true;
    hob_test_env(c, "NO_COLOR=1");
    return 0;
}

static size_t times(const hob_test_cli *c, const char *text) {
    size_t n = 0;
    for (const char *p = hob_buf_z((hob_buf *)&c->out); (p = strstr(p, text)); p++) n++;
    return n;
}

static void leave(hob_test_cli *c) {
    hob_test_until(c, "all is done");
    hob_test_until(c, "\n> ");
    hob_test_send(c, "\004");
    assert_int_equal(hob_test_end(c), 0);
}

static void test_cli_asks__a_run_goes_on_after_a_sub_agents_answer(void **state) {
    hob_test_cli *c = *state;
    HOB_START(c, "-m", "scripted:s.json", "one");
    hob_test_until(c, "or why not: ");
    assert_out_has(c, "? sub-agent general (task-");
    assert_out_has(c, ") asks: may write run?");
    hob_test_send(c, "y\n");
    leave(c);
    assert_int_equal(times(c, "may write run?"), 1);
    assert_str(hob_test_content(&c->folder, "a.txt"), "x");
}

/* Each is asked about once, whatever is told meanwhile. */
static void test_cli_asks__each_of_two_sub_agents_is_asked_about_once(void **state) {
    hob_test_cli *c = *state;
    HOB_START(c, "-m", "scripted:s.json", "two");
    hob_test_until(c, "path: a.txt");
    hob_test_until(c, "or why not: ");
    hob_test_send(c, "y\n");
    hob_test_until(c, "path: b.txt");
    hob_test_send(c, "y\n");
    leave(c);
    assert_int_equal(times(c, "may write run?"), 2);
    assert_str(hob_test_content(&c->folder, "a.txt"), "x");
    assert_str(hob_test_content(&c->folder, "b.txt"), "x");
}

static void test_cli_asks__a_sub_agent_of_a_sub_agent_is_asked_about_once(void **state) {
    hob_test_cli *c = *state;
    HOB_START(c, "-m", "scripted:s.json", "--allow", "task", "deep");
    hob_test_until(c, "or why not: ");
    hob_test_send(c, "y\n");
    leave(c);
    assert_int_equal(times(c, "may write run?"), 1);
    assert_str(hob_test_content(&c->folder, "leaf.txt"), "x");
}

static void test_cli_asks__an_agent_of_a_workflow_is_named(void **state) {
    hob_test_cli *c = *state;
    HOB_START(c, "-m", "scripted:s.json", "--agent", "duo", "go");
    hob_test_until(c, "or why not: ");
    assert_out_has(c, "? agent writer asks: may write run?");
    hob_test_send(c, "y\n");
    leave(c);
    assert_str(hob_test_content(&c->folder, "w.txt"), "x");
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, hob_test_cli_teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_cli_asks__a_run_goes_on_after_a_sub_agents_answer),
        TEST(test_cli_asks__each_of_two_sub_agents_is_asked_about_once),
        TEST(test_cli_asks__a_sub_agent_of_a_sub_agent_is_asked_about_once),
        TEST(test_cli_asks__an_agent_of_a_workflow_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
