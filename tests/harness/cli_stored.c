/* The commands that change what is stored: sessions fork, rename, delete; runs show, events, cancel. */
#include "support/cli.h"

#include "support/check.h"

#include <signal.h>

#define MODEL "-m", "scripted:s.json"
#define SCRIPT                                                                                     \
    "{'rules': [{'when': {'user': 'slow', 'step': 1}, 'reply': [{'text': 'starting'},"             \
    "  {'tool': 'bash', 'args': {'command': 'sleep 60'}}]}],"                                      \
    " 'otherwise': [{'text': 'you said {{user}}'}]}"

static int setup(void **state) {
    hob_test_cli_setup(state);
    hob_test_quoted_file(*state, "s.json", SCRIPT);
    return 0;
}

/* "a" with two messages and their answers: e3, e5, e9, e11. */
static void talk(hob_test_cli *c) {
    assert_int_equal(HOB_RUN(c, NULL, "-p", "--session-id", "a", MODEL, "one"), 0);
    assert_int_equal(HOB_RUN(c, NULL, "-p", "-r", "a", "two"), 0);
}

static void test_cli_stored__fork_at_the_end_and_at_a_message(void **state) {
    hob_test_cli *c = *state;
    talk(c);
    assert_int_equal(HOB_RUN(c, NULL, "sessions", "show", "-v", "a"), 0);
    assert_out_has(c, "e9\n> two\n");
    assert_int_equal(HOB_RUN(c, NULL, "sessions", "fork", "a", "--session-id", "b"), 0);
    assert_out(c, "b\n");
    assert_int_equal(HOB_RUN(c, NULL, "sessions", "fork", "a", "--at", "e5", "--json"), 0);
    assert_str(hob_json_get_str(hob_test_line(c, 0), "forked_from"), "a");
    assert_int_equal(hob_json_get_int(hob_test_line(c, 0), "messages", 0), 2);
    assert_int_equal(HOB_RUN(c, NULL, "-p", "-r", "b", "three"), 0);
    assert_out(c, "you said three\n");
    assert_int_equal(HOB_RUN(c, NULL, "sessions", "show", "a"), 0);
    assert_false(hob_test_out_has(c, "three"));
    assert_int_equal(HOB_RUN(c, NULL, "sessions", "fork", "a", "--at", "e4"), 7);
    assert_err_has(c, "there is no entry e4 in session a");
    assert_int_equal(HOB_RUN(c, NULL, "sessions", "fork", "a", "--session-id", "b"), 2);
    assert_err_has(c, "session b exists already");
}

static void test_cli_stored__rename(void **state) {
    hob_test_cli *c = *state;
    talk(c);
    assert_int_equal(HOB_RUN(c, NULL, "sessions", "rename", "a", "A", "longer", "title"), 0);
    assert_int_equal(HOB_RUN(c, NULL, "sessions", "list"), 0);
    assert_out_has(c, "  A longer title\n");
    assert_int_equal(HOB_RUN(c, NULL, "sessions", "rename", "a"), 2);
    assert_int_equal(HOB_RUN(c, NULL, "sessions", "rename", "none", "x"), 7);
}

static void test_cli_stored__delete_all_or_none(void **state) {
    hob_test_cli *c = *state;
    talk(c);
    assert_int_equal(HOB_RUN(c, NULL, "-p", "--session-id", "b", MODEL, "x"), 0);
    assert_int_equal(HOB_RUN(c, NULL, "sessions", "delete", "a", "none"), 7);
    assert_int_equal(HOB_RUN(c, NULL, "sessions", "list", "--json"), 0);
    assert_int_equal(hob_test_lines(c), 2);
    assert_int_equal(HOB_RUN(c, NULL, "sessions", "delete", "a", "b"), 0);
    assert_err_has(c, "deleted session a");
    assert_int_equal(HOB_RUN(c, NULL, "sessions", "list", "--json"), 0);
    assert_out(c, "");
    assert_int_equal(HOB_RUN(c, NULL, "runs", "list", "--json"), 0);
    assert_out(c, "");
    assert_int_equal(HOB_RUN(c, NULL, "sessions", "delete"), 2); /* never the newest by itself */
}

static void test_cli_stored__what_belongs_to_others_is_not_there(void **state) {
    hob_test_cli *c = *state;
    talk(c);
    assert_int_equal(HOB_RUN(c, NULL, "sessions", "delete", "--user", "eve", "a"), 7);
    assert_int_equal(HOB_RUN(c, NULL, "sessions", "rename", "--app", "x", "a", "t"), 7);
    assert_int_equal(HOB_RUN(c, NULL, "sessions", "list", "--user", "eve", "--json"), 0);
    assert_out(c, "");
    assert_int_equal(HOB_RUN(c, NULL, "runs", "list", "--user", "local", "--json"), 0);
    assert_int_equal(hob_test_lines(c), 2);
    assert_int_equal(HOB_RUN(c, NULL, "sessions", "show", "--user", "local", "a"), 0);
}

static void test_cli_stored__search(void **state) {
    hob_test_cli *c = *state;
    talk(c);
    assert_int_equal(HOB_RUN(c, NULL, "sessions", "search", "you", "sai"), 0);
    assert_out_has(c, "  assistant  one\n    you said two\n");
    assert_int_equal(HOB_RUN(c, NULL, "sessions", "search", "you said", "--limit", "1", "--json"),
                     0);
    assert_int_equal(hob_test_lines(c), 2);
    assert_str(hob_json_get_str(hob_test_line(c, 0), "snippet"), "you said two");
    char *cursor = hob_dupz(hob_json_get_str(hob_test_line(c, 1), "cursor"));
    assert_int_equal(
        HOB_RUN(c, NULL, "sessions", "search", "you said", "--cursor", cursor, "--json"), 0);
    assert_int_equal(hob_test_lines(c), 1);
    assert_int_equal(hob_json_get_int(hob_test_line(c, 0), "seq", 0), 5);
    hob_free(cursor);
    assert_int_equal(HOB_RUN(c, NULL, "sessions", "search", "nowhere"), 0);
    assert_out(c, "");
    assert_err_has(c, "no message or title has all of these words");
    assert_int_equal(HOB_RUN(c, NULL, "sessions", "search", "one", "--user", "eve"), 0);
    assert_out(c, "");
    assert_int_equal(HOB_RUN(c, NULL, "sessions", "search", "..."), 2);
    assert_int_equal(HOB_RUN(c, NULL, "sessions", "search"), 2);
}

static void test_cli_stored__a_session_as_a_file(void **state) {
    hob_test_cli *c = *state;
    talk(c);
    assert_int_equal(HOB_RUN(c, NULL, "sessions", "export", "a", "-o", "a.jsonl"), 0);
    assert_out(c, "");
    assert_int_equal(HOB_RUN(c, NULL, "sessions", "export", "a", "-o", "a.jsonl"),
                     2); /* is there */
    assert_int_equal(HOB_RUN(c, NULL, "sessions", "export", "a"), 0);
    assert_str(hob_json_get_str(hob_test_line(c, 0), "type"), "hob_export");
    assert_str(hob_json_get_str(hob_test_line(c, -1), "type"), "end");
    char *text = hob_dupz(hob_buf_str(&c->out));
    assert_int_equal(HOB_RUN(c, NULL, "sessions", "import", "a.jsonl", "--json"), 0);
    assert_str(hob_json_get_str(hob_test_line(c, 0), "from"), "a");
    assert_int_equal(HOB_RUN(c, NULL, "sessions", "delete", "a"), 0);
    assert_int_equal(HOB_RUN(c, text, "sessions", "import", "-"), 0);
    assert_out(c, "a\n");
    assert_int_equal(HOB_RUN(c, NULL, "sessions", "export", "a"), 0);
    assert_out(c, text);
    assert_int_equal(HOB_RUN(c, NULL, "-p", "-r", "a", "three"), 0);
    assert_int_equal(HOB_RUN(c, NULL, "sessions", "export", "a", "--format", "markdown"), 0);
    assert_out_has(c, "## User\n\ntwo\n\n## Assistant\n\nyou said two\n");
    hob_free(text);
}

static void test_cli_stored__a_file_that_is_no_export(void **state) {
    hob_test_cli *c = *state;
    talk(c);
    assert_int_equal(HOB_RUN(c, NULL, "sessions", "import", "s.json"), 1);
    assert_err_has(c, "hob: line 1: ");
    assert_int_equal(HOB_RUN(c, NULL, "sessions", "import", "none.jsonl"), 2);
    assert_err_has(c, "cannot read none.jsonl");
    assert_int_equal(HOB_RUN(c, NULL, "sessions", "export", "a"), 0);
    c->out.n -= 40; /* its end is gone */
    char *cut = hob_dupz(hob_buf_str(&c->out));
    assert_int_equal(HOB_RUN(c, cut, "sessions", "import", "-"), 1);
    assert_int_equal(HOB_RUN(c, NULL, "sessions", "list", "--all", "--json"), 0);
    assert_int_equal(hob_test_lines(c), 1);
    hob_free(cut);
}

static void test_cli_stored__one_run(void **state) {
    hob_test_cli *c = *state;
    talk(c);
    assert_int_equal(HOB_RUN(c, NULL, "runs", "show", "run-a-8"), 0);
    assert_out_has(c, "status      completed\n");
    assert_out_has(c, "\n> two\n- you said two\n");
    assert_false(hob_test_out_has(c, "> one"));
    assert_int_equal(HOB_RUN(c, NULL, "runs", "show", "run-a-8", "--json"), 0);
    assert_int_equal(hob_test_lines(c), 1);
    assert_str(hob_json_get_str(hob_test_line(c, 0), "prompt"), "two");
    assert_int_equal(HOB_RUN(c, NULL, "runs", "events", "run-a-8"), 0);
    assert_int_equal(hob_test_lines(c), 6);
    assert_str(hob_json_get_str(hob_test_line(c, 0), "type"), "run_started");
    assert_int_equal(HOB_RUN(c, NULL, "runs", "events", "run-a-3"), 7);
    assert_int_equal(HOB_RUN(c, NULL, "runs", "cancel", "run-a-8"), 0); /* it is over: fine */
    assert_err_has(c, "run run-a-8 is over (completed)");
}

static void test_cli_stored__cancel_a_run_of_the_living_and_of_the_dead(void **state) {
    hob_test_cli *c = *state, second = *c;
    hob_buf_init(&second.out, 1u << 20);
    hob_buf_init(&second.err, 1u << 20);
    HOB_START(c, "-p", "--json", "--session-id", "a", "--permission-mode", "yolo", MODEL, "slow");
    hob_test_close_in(c);
    hob_test_until(c, "\"tool_started\"");
    assert_int_equal(HOB_RUN(&second, NULL, "runs", "cancel", "run-a-2"), 6);
    assert_err_has(&second, "session a is in use by pid ");
    assert_int_equal(HOB_RUN(&second, NULL, "sessions", "fork", "a", "--session-id", "b"), 0);
    assert_int_equal(HOB_RUN(&second, NULL, "sessions", "delete", "a"), 6);
    kill(c->pid, SIGKILL);
    assert_int_equal(hob_test_end(c), 137);
    assert_int_equal(HOB_RUN(&second, NULL, "runs", "cancel", "run-a-2"), 0);
    assert_int_equal(HOB_RUN(&second, NULL, "runs", "show", "run-a-2"), 0);
    assert_out_has(&second, "status      interrupted\n");
    assert_out_has(&second, "! bash: unknown\n");
    assert_int_equal(HOB_RUN(&second, NULL, "-p", "-r", "a", "and now?"), 0);
    assert_out(&second, "you said and now?\n");
    hob_buf_finish(&second.out);
    hob_buf_finish(&second.err);
}

#define TEST(f) cmocka_unit_test_setup_teardown(test_cli_stored__##f, setup, hob_test_cli_teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(fork_at_the_end_and_at_a_message),
        TEST(rename),
        TEST(delete_all_or_none),
        TEST(what_belongs_to_others_is_not_there),
        TEST(search),
        TEST(one_run),
        TEST(a_session_as_a_file),
        TEST(a_file_that_is_no_export),
        TEST(cancel_a_run_of_the_living_and_of_the_dead),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
