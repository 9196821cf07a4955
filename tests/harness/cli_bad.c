/* Bad input: each a clear message, the right exit code, no hang, never a false success. */
#include "support/cli.h"

#include "support/check.h"

#include <unistd.h>

#define ECHO "{'otherwise': [{'text': '{{user}}'}]}"

static int setup(void **state) {
    hob_test_cli_setup(state);
    hob_test_quoted_file(*state, "echo.json", ECHO);
    return 0;
}

static void test_cli_bad__config_with_line_and_column(void **state) {
    hob_test_cli *c = *state;
    hob_test_quoted_file(c, "home/config.json", "{\n  'model': 'a/b'\n  'thinking': 'low'\n}\n");
    assert_int_equal(HOB_RUN(c, NULL, "-p", "hi"), 2);
    assert_err_has(c, "home/config.json:3:3: expected ',' or '}'");
    assert_int_equal(HOB_RUN(c, NULL, "config", "show"), 2);
}

static void test_cli_bad__config_that_is_named_must_be_there(void **state) {
    hob_test_cli *c = *state;
    hob_test_env(c, "HOB_CONFIG=nowhere.json");
    assert_int_equal(HOB_RUN(c, NULL, "-p", "hi"), 2);
    assert_err_has(c, "nowhere.json");
}

static void test_cli_bad__setting_that_does_not_exist_is_named(void **state) {
    hob_test_cli *c = *state;
    hob_test_quoted_file(c, "home/config.json", "{'modle': 'a/b'}");
    assert_int_equal(HOB_RUN(c, NULL, "-p", "-m", "scripted:echo.json", "hi"), 0);
    assert_err_has(c, "modle is not a setting; did you mean model?");
}

static void test_cli_bad__script_with_line_and_column(void **state) {
    hob_test_cli *c = *state;
    hob_test_quoted_file(c, "wrong.json", "{\n 'otherwize': []\n}");
    assert_int_equal(HOB_RUN(c, NULL, "-p", "-m", "scripted:wrong.json", "hi"), 2);
    assert_err_has(c, "wrong.json");
    assert_err_has(c, "line 2");
}

static void test_cli_bad__unknown_model_with_the_nearest(void **state) {
    hob_test_cli *c = *state;
    hob_test_env(c, "ANTHROPIC_API_KEY=sk-x");
    assert_int_equal(HOB_RUN(c, NULL, "-p", "-m", "anthropik/claude-sonnet-4-5", "hi"), 7);
    assert_err_has(c, "anthropik");
    assert_err_has(c, "anthropic/");
    assert_err_has(c, "there is no such provider (providers: anthropic, ");
}

static void test_cli_bad__no_key_names_the_variables(void **state) {
    hob_test_cli *c = *state;
    assert_int_equal(HOB_RUN(c, NULL, "-p", "--json", "hi"), 3);
    assert_err_has(c, "ANTHROPIC_API_KEY");
    assert_err_has(c, "OPENAI_API_KEY");
    assert_str(hob_json_get_str(hob_json_get(hob_test_line(c, -1), "error"), "code"), "HOB_EAUTH");
    assert_int_equal(HOB_RUN(c, NULL, "-p", "-m", "anthropic/claude-sonnet-4-5", "hi"), 3);
    assert_err_has(c, "ANTHROPIC_API_KEY");
}

static void test_cli_bad__store_that_cannot_be_written(void **state) {
    hob_test_cli *c = *state;
    hob_test_file(&c->folder, "home/state", HOB_STR("a file where a folder should be"));
    assert_int_equal(HOB_RUN(c, NULL, "-p", "--json", "-m", "scripted:echo.json", "hi"), 1);
    assert_err_has(c, "hob: ");
    assert_str(hob_json_get_str(hob_json_get(hob_test_line(c, -1), "error"), "code"), "HOB_ESTORE");
}

/* Without a folder there is nothing that could keep the session: not said by a success. */
static void test_cli_bad__no_home(void **state) {
    hob_test_cli *c = *state;
    assert_int_equal(
        hob_test_shell(c, "env -u HOME -u HOB_HOME \"$HOB\" -p -m scripted:echo.json hi"), 2);
    assert_err_has(c, "set HOME or HOB_HOME, or give --no-session");
    assert_int_equal(
        hob_test_shell(c,
                       "env -u HOME -u HOB_HOME \"$HOB\" -p --no-session -m scripted:echo.json hi"),
        0);
    assert_out(c, "hi\n");
}

static void test_cli_bad__cost_limit_on_a_model_without_a_price(void **state) {
    hob_test_cli *c = *state;
    int code = HOB_RUN(c, NULL, "-p", "--max-cost", "1", "-m", "scripted:echo.json", "hi");
    if (code == 0) fail_msg("a limit that cannot be kept was accepted: %s", hob_buf_z(&c->out));
    assert_err_has(c, "price");
}

static void test_cli_bad__full_standard_output(void **state) {
    hob_test_cli *c = *state;
    if (access("/dev/full", W_OK) != 0) skip();
    int code = hob_test_shell(c, "\"$HOB\" -p -m scripted:echo.json hi >/dev/full");
    assert_int_equal(code, 1);
    assert_err_has(c, "writing to standard output failed");
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, hob_test_cli_teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_cli_bad__config_with_line_and_column),
        TEST(test_cli_bad__config_that_is_named_must_be_there),
        TEST(test_cli_bad__setting_that_does_not_exist_is_named),
        TEST(test_cli_bad__script_with_line_and_column),
        TEST(test_cli_bad__unknown_model_with_the_nearest),
        TEST(test_cli_bad__no_key_names_the_variables),
        TEST(test_cli_bad__store_that_cannot_be_written),
        TEST(test_cli_bad__no_home),
        TEST(test_cli_bad__cost_limit_on_a_model_without_a_price),
        TEST(test_cli_bad__full_standard_output),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
