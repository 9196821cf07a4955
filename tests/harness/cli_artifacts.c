/* ctest: labels=threads */
/*
 * `hob artifacts`: what a session keeps, saved, listed, read and deleted from the outside.
 */
#include "support/check.h"
#include "support/cli.h"

#include <stdio.h>

#define MODEL "-m", "scripted:s.json"

static int setup(void **state) {
    hob_test_cli_setup(state);
    hob_test_quoted_file(*state, "s.json", "{'rules':[{'reply':[{'text':'hello'}]}]}");
    assert_int_equal(HOB_RUN(*state, NULL, "-p", MODEL, "--session-id", "one", "hi"), 0);
    return 0;
}

static void test_cli_artifacts__save_list_get_delete(void **state) {
    hob_test_cli *c = *state;
    hob_test_quoted_file(c, "r.txt", "first");
    assert_int_equal(HOB_RUN(c, NULL, "artifacts", "save", "one", "out/r.txt", "r.txt"), 0);
    assert_out(c, "0\n");
    assert_int_equal(HOB_RUN(c, "second", "artifacts", "save", "one", "out/r.txt", "-", "--meta",
                             "{\"by\":\"me\"}"),
                     0);
    assert_out(c, "1\n");
    assert_int_equal(HOB_RUN(c, NULL, "artifacts", "get", "one", "out/r.txt"), 0);
    assert_out(c, "second");
    assert_int_equal(HOB_RUN(c, NULL, "artifacts", "get", "one", "out/r.txt", "--version", "0"), 0);
    assert_out(c, "first");
    assert_int_equal(HOB_RUN(c, NULL, "artifacts", "one", "--json"), 0);
    assert_int_equal(hob_test_lines(c), 1);
    assert_str(hob_json_get_str(hob_test_line(c, 0), "name"), "out/r.txt");
    assert_int_equal(hob_json_get_int(hob_test_line(c, 0), "version", -1), 1);
    assert_str(hob_json_get_str(hob_json_get(hob_test_line(c, 0), "meta"), "by"), "me");
    assert_str(hob_json_get_str(hob_test_line(c, 0), "mime"), "text/plain; charset=utf-8");
    assert_int_equal(HOB_RUN(c, NULL, "artifacts"), 0); /* the newest session of this folder */
    assert_out_has(c, "out/r.txt");
    assert_int_equal(HOB_RUN(c, NULL, "artifacts", "versions", "one", "out/r.txt", "--json"), 0);
    assert_int_equal(hob_test_lines(c), 2);
    assert_int_equal(HOB_RUN(c, NULL, "artifacts", "delete", "one", "out/r.txt"), 0);
    assert_int_equal(HOB_RUN(c, NULL, "artifacts", "get", "one", "out/r.txt"), 7);
    assert_err_has(c, "there is no artifact");
    assert_int_equal(HOB_RUN(c, NULL, "artifacts", "list", "one"), 0);
    assert_out(c, "");
    assert_err_has(c, "no artifacts in session one");
}

static void test_cli_artifacts__into_a_file(void **state) {
    hob_test_cli *c = *state;
    assert_int_equal(HOB_RUN(c, "a\001b", "artifacts", "save", "one", "b", "-", "--mime", "x/y"),
                     0);
    assert_int_equal(HOB_RUN(c, NULL, "artifacts", "get", "one", "b", "-o", "copy"), 0);
    assert_out(c, "");
    assert_int_equal(HOB_RUN(c, NULL, "artifacts", "save", "one", "c", "copy"), 0);
    assert_int_equal(HOB_RUN(c, NULL, "artifacts", "get", "one", "c"), 0);
    assert_out(c, "a\001b");
    assert_int_equal(HOB_RUN(c, NULL, "artifacts", "list", "one", "--limit", "1", "--json"), 0);
    assert_int_equal(hob_test_lines(c), 2); /* a row, and where the next page begins */
    assert_str(hob_json_get_str(hob_test_line(c, 0), "mime"), "x/y");
}

static void test_cli_artifacts__of_a_user_in_every_session(void **state) {
    hob_test_cli *c = *state;
    assert_int_equal(HOB_RUN(c, NULL, "-p", MODEL, "--session-id", "two", "hi"), 0);
    assert_int_equal(HOB_RUN(c, "x", "artifacts", "save", "one", "user:me", "-"), 0);
    assert_int_equal(HOB_RUN(c, NULL, "artifacts", "get", "two", "user:me"), 0);
    assert_out(c, "x");
    assert_int_equal(HOB_RUN(c, NULL, "artifacts", "get", "two", "user:me", "--user", "bob"), 7);
    assert_int_equal(HOB_RUN(c, NULL, "sessions", "delete", "one"), 0);
    assert_int_equal(HOB_RUN(c, NULL, "artifacts", "get", "two", "user:me"), 0);
    assert_int_equal(HOB_RUN(c, NULL, "artifacts", "one"), 7);
}

static void test_cli_artifacts__wrong_use_is_said(void **state) {
    hob_test_cli *c = *state;
    assert_int_equal(HOB_RUN(c, NULL, "artifacts", "get", "one"), 2);
    assert_int_equal(HOB_RUN(c, NULL, "artifacts", "one", "two"), 2);
    assert_int_equal(HOB_RUN(c, NULL, "artifacts", "get", "one", "f", "--version", "-1"), 2);
    assert_int_equal(HOB_RUN(c, NULL, "artifacts", "get", "one", "../f"), 2);
    assert_int_equal(HOB_RUN(c, "x", "artifacts", "save", "one", "a/../b", "-"), 2);
    assert_err_has(c, "an artifact has a name");
    assert_int_equal(HOB_RUN(c, NULL, "artifacts", "save", "one", "f", "none.txt"), 2);
    assert_int_equal(HOB_RUN(c, "x", "artifacts", "save", "one", "f", "-", "--meta", "[]"), 2);
    assert_int_equal(HOB_RUN(c, NULL, "artifacts", "none"), 7);
}

#define T(name)                                                                                    \
    cmocka_unit_test_setup_teardown(test_cli_artifacts__##name, setup, hob_test_cli_teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        T(save_list_get_delete),
        T(into_a_file),
        T(of_a_user_in_every_session),
        T(wrong_use_is_said),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
