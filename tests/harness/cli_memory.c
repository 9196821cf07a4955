/* ctest: labels=threads timeout=300 */
/*
 * `hob memory`, and memory of the program killed at every point of a run that remembers.
 */
#include "support/check.h"
#include "support/cli.h"

#include <signal.h>
#include <stdio.h>
#include <sys/stat.h>

#define MODEL "-m", "scripted:s.json"
#define SCRIPT                                                                                     \
    "{'rules': ["                                                                                  \
    "{'when': {'user': {'prefix': 'keep '}, 'step': 1},"                                           \
    " 'reply': [{'tool': 'remember', 'args': {'text': '{{rest}}'}}]},"                             \
    "{'when': {'user': {'prefix': 'find '}, 'step': 1},"                                           \
    " 'reply': [{'tool': 'recall', 'args': {'query': '{{rest}}'}}]}],"                             \
    " 'otherwise': [{'text': '{{result}}'}]}"

static int setup(void **state) {
    hob_test_cli_setup(state);
    hob_test_quoted_file(*state, "s.json", SCRIPT);
    return 0;
}

static char *added(hob_test_cli *c) {
    hob_str id = hob_str_trim(hob_buf_str(&c->out));
    assert_true(hob_str_starts(id, HOB_STR("m-")));
    return hob_dupz(id);
}

static void test_cli_memory__add_find_show_forget(void **state) {
    hob_test_cli *c = *state;
    assert_int_equal(HOB_RUN(c, NULL, "memory", "add", "Likes", "green tea", "--tag", "Drinks"), 0);
    char *id = added(c);
    assert_int_equal(HOB_RUN(c, NULL, "memory", "search", "TEA", "--json"), 0);
    assert_int_equal(hob_test_lines(c), 1);
    assert_str(hob_json_get_str(hob_test_line(c, 0), "text"), "Likes green tea");
    assert_str(hob_json_get_str(hob_test_line(c, 0), "by"), "user");
    assert_int_equal(HOB_RUN(c, NULL, "memory", "show", id), 0);
    assert_out(c, "Likes green tea\n");
    assert_int_equal(HOB_RUN(c, NULL, "memory"), 0);
    assert_out_has(c, "drinks");
    assert_int_equal(HOB_RUN(c, NULL, "memory", "forget", id), 0);
    assert_int_equal(HOB_RUN(c, NULL, "memory", "forget", id), 7);
    assert_err_has(c, "there is no memory");
    assert_int_equal(HOB_RUN(c, NULL, "memory", "list"), 0);
    assert_out(c, "");
    assert_err_has(c, "nothing is remembered");
    hob_free(id);
}

static void test_cli_memory__users_are_apart(void **state) {
    hob_test_cli *c = *state;
    assert_int_equal(HOB_RUN(c, NULL, "memory", "add", "tea", "--user", "ada"), 0);
    char *id = added(c);
    assert_int_equal(HOB_RUN(c, NULL, "memory", "show", id), 7);
    assert_int_equal(HOB_RUN(c, NULL, "memory", "search", "tea", "--json"), 0);
    assert_int_equal(hob_test_lines(c), 0);
    assert_int_equal(HOB_RUN(c, NULL, "memory", "stats", "--json", "--user", "ada"), 0);
    assert_int_equal(hob_json_get_int(hob_test_line(c, 0), "items", -1), 1);
    hob_free(id);
}

static void test_cli_memory__wrong_use_is_said(void **state) {
    hob_test_cli *c = *state;
    assert_int_equal(HOB_RUN(c, NULL, "memory", "ad", "x"), 2);
    assert_int_equal(HOB_RUN(c, NULL, "memory", "add"), 2);
    assert_int_equal(HOB_RUN(c, NULL, "memory", "forget"), 2);
    assert_err_has(c, "what is to be forgotten?");
    assert_int_equal(HOB_RUN(c, NULL, "memory", "add", "x", "--importance", "3"), 2);
    assert_int_equal(HOB_RUN(c, NULL, "memory", "list", "--cursor", "nonsense"), 2);
}

static void test_cli_memory__forgetting_many(void **state) {
    hob_test_cli *c = *state;
    assert_int_equal(HOB_RUN(c, NULL, "memory", "add", "one", "--tag", "a"), 0);
    assert_int_equal(HOB_RUN(c, NULL, "memory", "add", "two", "--tag", "a"), 0);
    assert_int_equal(HOB_RUN(c, NULL, "memory", "add", "three"), 0);
    assert_int_equal(HOB_RUN(c, NULL, "memory", "forget", "--tag", "A"), 0);
    assert_err_has(c, "2 forgotten");
    assert_int_equal(HOB_RUN(c, NULL, "memory", "forget", "--all"), 0);
    assert_int_equal(HOB_RUN(c, NULL, "memory", "list", "--json"), 0);
    assert_int_equal(hob_test_lines(c), 0);
}

static void test_cli_memory__what_one_run_keeps_the_next_finds(void **state) {
    hob_test_cli *c = *state;
    assert_int_equal(HOB_RUN(c, NULL, "-p", MODEL, "--allow", "remember", "keep Likes tea"), 0);
    assert_int_equal(HOB_RUN(c, NULL, "-p", MODEL, "find tea"), 0);
    assert_out_has(c, "\"text\":\"Likes tea\"");
    assert_int_equal(HOB_RUN(c, NULL, "-p", "--no-session", MODEL, "find tea"), 0);
    assert_out_has(c, "there is no tool recall");
}

/* Nobody can be asked: the call is refused, the run goes on, and says so with 5. */
static void test_cli_memory__remembering_is_asked_for(void **state) {
    hob_test_cli *c = *state;
    assert_int_equal(HOB_RUN(c, NULL, "-p", MODEL, "keep Likes tea"), 5);
    assert_int_equal(HOB_RUN(c, NULL, "memory", "list", "--json"), 0);
    assert_int_equal(hob_test_lines(c), 0);
}

static void test_cli_memory__one_that_cannot_be_opened_is_said(void **state) {
    hob_test_cli *c = *state;
    hob_test_mkdir(&c->folder, "folder.db");
    hob_test_quoted_file(c, "home/config.json", "{'memory': {'file': 'folder.db'}}");
    assert_int_equal(HOB_RUN(c, NULL, "-p", MODEL, "hello"), 0);
    assert_err_has(c, "this session has no memory");
    assert_int_equal(HOB_RUN(c, NULL, "memory", "list"), 1);
    assert_err_has(c, "folder.db");
}

/* Whenever the program dies: resumed, the run ends and there is one item. */
static void test_cli_memory__killed_at_every_point(void **state) {
    hob_test_cli *c = *state;
    int points = 0, code = 0;
    char at[40] = "HOB_CRASH_AT=0", id[24];
    hob_test_env(c, at);
    for (int n = 1; n == 1 || code; n++) {
        char text[40];
        snprintf(at, sizeof at, "HOB_CRASH_AT=%d", n);
        snprintf(id, sizeof id, "s%d", n);
        snprintf(text, sizeof text, "keep tea of %d", n);
        code = HOB_RUN(c, NULL, "-p", "--session-id", id, "--permission-mode", "yolo", MODEL, text);
        assert_true(code == 0 || code == 128 + SIGKILL);
        snprintf(at, sizeof at, "HOB_CRASH_AT=0");
        if (code) HOB_RUN(c, NULL, "-p", "-r", id, "--permission-mode", "yolo", MODEL);
        HOB_RUN(c, NULL, "sessions", "show", id, "--json"); /* it may have died before its prompt */
        bool begun = hob_test_typed(c, "run_started", 0) != NULL;
        assert_int_equal(HOB_RUN(c, NULL, "memory", "list", "--session", id, "--json"), 0);
        if (hob_test_lines(c) != begun) fail_msg("point %d: %zu items", n, hob_test_lines(c));
        points += begun;
    }
    print_message("%d points\n", points);
    assert_true(points > 10);
}

#define T(name)                                                                                    \
    cmocka_unit_test_setup_teardown(test_cli_memory__##name, setup, hob_test_cli_teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        T(add_find_show_forget),
        T(users_are_apart),
        T(wrong_use_is_said),
        T(forgetting_many),
        T(what_one_run_keeps_the_next_finds),
        T(remembering_is_asked_for),
        T(one_that_cannot_be_opened_is_said),
        T(killed_at_every_point),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
