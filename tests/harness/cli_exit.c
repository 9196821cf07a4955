/* Exit codes: each row of the table in docs/cli.md. */
#include "support/cli.h"

#include "support/check.h"

#define MODEL "-m", "scripted:s.json"

#define SCRIPT                                                                                                \
    "{'rules': ["                                                                                             \
    " {'when': {'user': 'auth'}, 'reply': [{'error': {'status': 401, 'message': 'bad key'}}]},"               \
    " {'when': {'user': 'broken'}, 'reply': [{'error': {'code': 'refused', 'message': 'no'}}]},"              \
    " {'when': {'user': 'silence'}, 'reply': [{'wait': true}]},"                                              \
    " {'when': {'user': 'loop', 'failed': true}, 'reply': [{'tool': 'read', 'args': {'path': '{{step}}'}}]}," \
    " {'when': {'user': 'loop'}, 'reply': [{'tool': 'read', 'args': {'path': 'x{{step}}'}}]},"                \
    " {'when': {'user': 'stuck'}, 'reply': [{'tool': 'read', 'args': {'path': 'x'}}]},"                       \
    " {'when': {'user': 'write', 'step': 1}, 'reply': ["                                                      \
    "  {'tool': 'write', 'args': {'path': 'new.txt', 'content': 'x'}}]},"                                     \
    " {'when': {'user': 'write'}, 'reply': [{'text': 'then not: {{result}}'}]}],"                             \
    " 'otherwise': [{'text': '{{user}}'}]}"

static int setup(void **state) {
    hob_test_cli_setup(state);
    hob_test_quoted_file(*state, "s.json", SCRIPT);
    return 0;
}

static void test_cli_exit__0_completed(void **state) {
    assert_int_equal(HOB_RUN(*state, NULL, "-p", MODEL, "hi"), 0);
}

static void test_cli_exit__1_the_run_failed(void **state) {
    hob_test_cli *c = *state;
    assert_int_equal(HOB_RUN(c, NULL, "-p", MODEL, "broken"), 1);
    assert_out(c, "");
    assert_err_has(c, "hob: ");
}

static void test_cli_exit__3_credentials_refused_at_once(void **state) {
    hob_test_cli *c = *state;
    assert_int_equal(HOB_RUN(c, NULL, "-p", "--json", MODEL, "auth"), 3);
    assert_null(hob_test_typed(c, "retry_scheduled", 0));
    assert_str(hob_json_get_str(hob_json_get(hob_test_line(c, -1), "error"), "code"), "HOB_EAUTH");
}

static void test_cli_exit__4_turns(void **state) {
    hob_test_cli *c = *state;
    assert_int_equal(HOB_RUN(c, NULL, "-p", "--json", "--max-turns", "2", MODEL, "loop"), 4);
    assert_str(hob_json_get_str(hob_test_line(c, -1), "status"), "limit");
    assert_int_equal(hob_json_get_int(hob_test_line(c, -1), "turns", 0), 2);
}

static void test_cli_exit__4_tool_calls(void **state) {
    assert_int_equal(HOB_RUN(*state, NULL, "-p", "--max-tool-calls", "1", MODEL, "loop"), 4);
}

static void test_cli_exit__4_tokens(void **state) {
    hob_test_cli *c = *state;
    assert_int_equal(HOB_RUN(c, NULL, "-p", "--max-tokens", "10", MODEL, "hi"), 4);
    assert_string_equal(hob_buf_z(&c->err), "hob: a limit ended the run: tokens, at most 10\n");
}

static void test_cli_exit__4_time(void **state) {
    hob_test_cli *c = *state;
    assert_int_equal(HOB_RUN(c, NULL, "-p", "--json", "--timeout", "0.2", MODEL, "silence"), 4);
    assert_str(hob_json_get_str(hob_test_line(c, -1), "status"), "limit");
}

static void test_cli_exit__4_the_same_call_again_and_again(void **state) {
    hob_test_cli *c = *state;
    assert_int_equal(HOB_RUN(c, NULL, "-p", MODEL, "stuck"), 4);
    assert_err_has(c, "the model made the same call 4 times in a row");
}

static void test_cli_exit__5_nobody_could_be_asked(void **state) {
    hob_test_cli *c = *state;
    assert_int_equal(HOB_RUN(c, NULL, "-p", MODEL, "write"), 5);
    assert_out_has(c, "then not: ");
    assert_err_has(c, "! write: denied: it needs an approval");
    assert_err_has(c, "--permission-mode lets such calls run");
    assert_int_equal(hob_test_content(&c->folder, "new.txt").n, 0);
}

static void test_cli_exit__5_replaces_only_0(void **state) {
    assert_int_equal(HOB_RUN(*state, NULL, "-p", "--max-turns", "1", MODEL, "write"), 4);
}

static void test_cli_exit__5_not_when_it_is_allowed(void **state) {
    hob_test_cli *c = *state;
    assert_int_equal(HOB_RUN(c, NULL, "-p", "--permission-mode", "accept-edits", MODEL, "write"),
                     0);
    assert_str(hob_test_content(&c->folder, "new.txt"), "x");
}

static void test_cli_exit__7_no_such_session(void **state) {
    hob_test_cli *c = *state;
    assert_int_equal(HOB_RUN(c, NULL, "-p", "-r", "nosuch", MODEL, "hi"), 7);
    assert_err_has(c, "nosuch");
    assert_int_equal(HOB_RUN(c, NULL, "-p", "-c", MODEL, "hi"), 7);
    assert_int_equal(HOB_RUN(c, NULL, "sessions", "show", "nosuch"), 7);
    assert_int_equal(HOB_RUN(c, NULL, "runs", "resume", "nosuch"), 7);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, hob_test_cli_teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_cli_exit__0_completed),
        TEST(test_cli_exit__1_the_run_failed),
        TEST(test_cli_exit__3_credentials_refused_at_once),
        TEST(test_cli_exit__4_turns),
        TEST(test_cli_exit__4_tool_calls),
        TEST(test_cli_exit__4_tokens),
        TEST(test_cli_exit__4_time),
        TEST(test_cli_exit__4_the_same_call_again_and_again),
        TEST(test_cli_exit__5_nobody_could_be_asked),
        TEST(test_cli_exit__5_replaces_only_0),
        TEST(test_cli_exit__5_not_when_it_is_allowed),
        TEST(test_cli_exit__7_no_such_session),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
