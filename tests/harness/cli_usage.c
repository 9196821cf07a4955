/* The command line: options, words, help, and what is wrong with it. */
#include "support/cli.h"

#include "support/check.h"

#define ECHO "{'otherwise': [{'text': '{{user}}'}]}"

static int setup(void **state) {
    hob_test_cli_setup(state);
    hob_test_quoted_file(*state, "echo.json", ECHO);
    return 0;
}

static void test_cli_usage__unknown_option_suggests_the_nearest(void **state) {
    hob_test_cli *c = *state;
    assert_int_equal(HOB_RUN(c, NULL, "-p", "--modle", "x", "hi"), 2);
    assert_out(c, "");
    assert_string_equal(hob_buf_z(&c->err), "hob: unknown option --modle; did you mean --model?\n");
}

static void test_cli_usage__unknown_option_without_a_near_one(void **state) {
    hob_test_cli *c = *state;
    assert_int_equal(HOB_RUN(c, NULL, "-p", "--xyzzyplugh", "hi"), 2);
    assert_err_has(c, "unknown option --xyzzyplugh; --help lists them all");
}

static void test_cli_usage__options_that_do_not_exist_yet_are_unknown(void **state) {
    hob_test_cli *c = *state;
    assert_int_equal(HOB_RUN(c, NULL, "-p", "--mcp-config", "x", "hi"), 2);
    assert_int_equal(HOB_RUN(c, NULL, "-p", "--json-schema", "x", "hi"), 2);
}

static void test_cli_usage__a_wrong_option_still_ends_with_a_result(void **state) {
    hob_test_cli *c = *state;
    assert_int_equal(HOB_RUN(c, NULL, "-p", "--bogus", "--json", "hi"), 2);
    assert_int_equal(hob_test_lines(c), 1);
    const hob_json *r = hob_test_line(c, -1), *error = hob_json_get(r, "error");
    assert_str(hob_json_get_str(r, "type"), "result");
    assert_str(hob_json_get_str(r, "status"), "failed");
    assert_str(hob_json_get_str(error, "code"), "HOB_EINVAL");
}

static void test_cli_usage__a_value_that_looks_like_an_option_is_a_value(void **state) {
    hob_test_cli *c = *state;
    assert_int_equal(
        HOB_RUN(c, NULL, "-p", "-m", "scripted:echo.json", "--system-prompt", "--help", "hi"), 0);
    assert_out(c, "hi\n");
}

static void test_cli_usage__two_dashes_end_the_options(void **state) {
    hob_test_cli *c = *state;
    assert_int_equal(HOB_RUN(c, NULL, "-p", "-m", "scripted:echo.json", "--", "--help", "@x", "-"),
                     0);
    assert_out(c, "--help @x -\n");
}

static void test_cli_usage__options_may_follow_the_prompt(void **state) {
    hob_test_cli *c = *state;
    assert_int_equal(HOB_RUN(c, NULL, "two", "words", "-p", "--model=scripted:echo.json"), 0);
    assert_out(c, "two words\n");
}

static void test_cli_usage__values_are_checked(void **state) {
    hob_test_cli *c = *state;
    assert_int_equal(HOB_RUN(c, NULL, "-p", "hi", "-m"), 2);
    assert_err_has(c, "-m needs a value");
    assert_int_equal(HOB_RUN(c, NULL, "-p", "hi", "--max-turns", "many"), 2);
    assert_err_has(c, "--max-turns must be a whole number of at least 1, not 'many'");
    assert_int_equal(HOB_RUN(c, NULL, "-p", "hi", "--timeout", "0"), 2);
    assert_err_has(c, "--timeout must be a number above 0");
    assert_int_equal(HOB_RUN(c, NULL, "-p", "hi", "--thinking", "deep"), 2);
    assert_err_has(c, "--thinking must be one of off|minimal|low|medium|high|xhigh, not 'deep'");
    assert_int_equal(HOB_RUN(c, NULL, "-p", "hi", "--print=yes"), 2);
    assert_err_has(c, "--print takes no value");
}

static void test_cli_usage__contradictions_are_refused(void **state) {
    hob_test_cli *c = *state;
    assert_int_equal(HOB_RUN(c, NULL, "-p", "hi", "-c", "-r", "abc"), 2);
    assert_int_equal(HOB_RUN(c, NULL, "-p", "hi", "--fork"), 2);
    assert_int_equal(HOB_RUN(c, NULL, "-p", "hi", "--no-session", "-c"), 2);
    assert_int_equal(HOB_RUN(c, NULL, "-p", "hi", "--session-id", "a", "-c"), 2);
    assert_int_equal(HOB_RUN(c, NULL, "-p", "hi", "--session-id", "../a"), 2);
    assert_int_equal(
        HOB_RUN(c, NULL, "-p", "hi", "--input-format", "stream-json", "--output-format", "text"),
        2);
}

static void test_cli_usage__a_sandbox_that_does_not_exist_is_refused(void **state) {
    hob_test_cli *c = *state;
    assert_int_equal(HOB_RUN(c, NULL, "-p", "hi", "--sandbox", "full"), 2);
    assert_err_has(c, "not available in this version");
    assert_int_equal(HOB_RUN(c, NULL, "-p", "hi", "--sandbox", "auto", "-m", "scripted:echo.json"),
                     0);
    hob_test_quoted_file(c, "home/config.json", "{'sandbox': {'level': 'full'}}");
    assert_int_equal(HOB_RUN(c, NULL, "-p", "hi", "-m", "scripted:echo.json"), 2);
    assert_err_has(c, "sandbox.level");
}

static void test_cli_usage__settings_of_later_versions_are_remarked_on(void **state) {
    hob_test_cli *c = *state;
    hob_test_quoted_file(c, "home/config.json", "{\n 'mcp_servers': {'a': {'command': 'x'}}}");
    assert_int_equal(HOB_RUN(c, NULL, "-p", "hi", "-m", "scripted:echo.json"), 0);
    assert_err_has(c, "config.json:2: mcp_servers.a has no effect in this version");
    hob_test_quoted_file(c, "home/config.json", "{'hooks': [{'event': 'x'}]}");
    assert_int_equal(HOB_RUN(c, NULL, "-p", "hi", "-m", "scripted:echo.json"), 2);
    assert_err_has(c, "hooks");
}

static void test_cli_usage__a_command_stands_first(void **state) {
    hob_test_cli *c = *state;
    assert_int_equal(HOB_RUN(c, NULL, "-m", "scripted:echo.json", "models"), 2);
    assert_err_has(c, "a command stands first");
    assert_int_equal(HOB_RUN(c, NULL, "-m", "scripted:echo.json", "--", "models"), 0);
    assert_out(c, "models\n");
    assert_int_equal(HOB_RUN(c, NULL, "-p", "-m", "scripted:echo.json", "models"), 0);
    assert_out(c, "models\n");
}

static void test_cli_usage__help_says_what_exists(void **state) {
    hob_test_cli *c = *state;
    assert_int_equal(HOB_RUN(c, NULL, "--help"), 0);
    assert_out_has(c, "usage: hob ");
    assert_out_has(c, "--permission-mode ask|accept-edits|plan|yolo");
    assert_out_has(c, "sessions list");
    assert_out_has(c, "resume [RUN | SESSION]\n"); /* too long for its column */
    assert_out_has(c, "serve [--listen ADDRESS:PORT]");
    assert_int_equal(HOB_RUN(c, NULL, "sessions", "-h"), 0);
    assert_out_has(c, "usage: hob sessions list | search WORDS | show [ID] | state [ID]");
}

static void test_cli_usage__the_log_of_the_library_goes_to_a_file(void **state) {
    hob_test_cli *c = *state;
    hob_test_mkdir(&c->folder, "sub");
    assert_int_equal(HOB_RUN(c, NULL, "-C", "sub", "-p", "--debug-file", "log.txt", "-m",
                             "scripted:../echo.json", "hi"),
                     0);
    assert_int_equal(hob_test_entries(&c->folder, "sub"), 1);
    assert_int_equal(HOB_RUN(c, NULL, "-p", "--debug-file", "none/log.txt", "hi"), 2);
    assert_err_has(c, "none/log.txt cannot be written");
}

static void test_cli_usage__version(void **state) {
    hob_test_cli *c = *state;
    assert_int_equal(HOB_RUN(c, NULL, "--version"), 0);
    assert_out(c, "hob " HOB_VERSION "\n");
    assert_int_equal(HOB_RUN(c, NULL, "-q", "--version"), 0);
    assert_out(c, "hob " HOB_VERSION "\n");
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, hob_test_cli_teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_cli_usage__unknown_option_suggests_the_nearest),
        TEST(test_cli_usage__unknown_option_without_a_near_one),
        TEST(test_cli_usage__options_that_do_not_exist_yet_are_unknown),
        TEST(test_cli_usage__a_wrong_option_still_ends_with_a_result),
        TEST(test_cli_usage__a_value_that_looks_like_an_option_is_a_value),
        TEST(test_cli_usage__two_dashes_end_the_options),
        TEST(test_cli_usage__options_may_follow_the_prompt),
        TEST(test_cli_usage__values_are_checked),
        TEST(test_cli_usage__contradictions_are_refused),
        TEST(test_cli_usage__a_sandbox_that_does_not_exist_is_refused),
        TEST(test_cli_usage__settings_of_later_versions_are_remarked_on),
        TEST(test_cli_usage__a_command_stands_first),
        TEST(test_cli_usage__help_says_what_exists),
        TEST(test_cli_usage__the_log_of_the_library_goes_to_a_file),
        TEST(test_cli_usage__version),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
