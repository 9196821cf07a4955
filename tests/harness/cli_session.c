/* Which session: new, continued, named, copied, busy, left unfinished. */
#include "support/cli.h"

#include "support/check.h"

#include <signal.h>

#define MODEL "-m", "scripted:s.json"

/* Says how many user messages the conversation has; `hang` never answers, but after a restart it
 * would. */
#define SCRIPT                                                                                                                \
    "{'rules': [{'when': {'user': 'hang'}, 'reply': [{'text': 'starting'}, {'wait': true}]},"                                 \
    " {'when': {'user': 'slow', 'step': 1}, 'reply': [{'tool': 'bash', 'args': {'command': 'echo began >>log; sleep 60'}}]}," \
    " {'when': {'user': 'slow'}, 'reply': [{'text': 'after: {{result}}'}]}],"                                                 \
    " 'otherwise': [{'text': '{{messages}}: {{user}}'}]}"

static int setup(void **state) {
    hob_test_cli_setup(state);
    hob_test_quoted_file(*state, "s.json", SCRIPT);
    return 0;
}

static void test_cli_session__continue_the_newest_of_this_folder(void **state) {
    hob_test_cli *c = *state;
    hob_test_mkdir(&c->folder, "other");
    assert_int_equal(HOB_RUN(c, NULL, "-p", MODEL, "one"), 0);
    assert_int_equal(HOB_RUN(c, NULL, "-C", "other", "-p", "-m", "scripted:../s.json", "elsewhere"),
                     0);
    assert_int_equal(HOB_RUN(c, NULL, "-p", "-c", "two"), 0);
    assert_out(c, "2: two\n");
}

static void test_cli_session__resume_by_id_or_its_beginning(void **state) {
    hob_test_cli *c = *state;
    assert_int_equal(HOB_RUN(c, NULL, "-p", "--session-id", "alpha-1", MODEL, "one"), 0);
    assert_int_equal(HOB_RUN(c, NULL, "-p", "--session-id", "alpha-2", MODEL, "one"), 0);
    assert_int_equal(HOB_RUN(c, NULL, "-p", "-r", "alpha-1", "two words"), 0);
    assert_out(c, "2: two words\n");
    assert_int_equal(HOB_RUN(c, NULL, "-p", "--resume=alpha-1", "three"), 0);
    assert_out(c, "3: three\n");
    assert_int_equal(HOB_RUN(c, NULL, "-p", "-r", "alpha", "x"), 2);
    assert_err_has(c, "2 sessions begin with alpha");
}

static void test_cli_session__a_named_session_stays_in_its_folder(void **state) {
    hob_test_cli *c = *state;
    hob_test_mkdir(&c->folder, "sub");
    assert_int_equal(
        HOB_RUN(c, NULL, "-C", "sub", "-p", "--session-id", "a", "-m", "scripted:../s.json", "one"),
        0);
    assert_int_equal(HOB_RUN(c, NULL, "-p", "--json", "-r", "a", MODEL, "two"), 0);
    assert_str(hob_json_get_str(hob_test_line(c, 0), "cwd"), hob_test_path(&c->folder, "sub"));
    assert_int_equal(HOB_RUN(c, NULL, "-p", "--json", "-r", "a", "--fork", MODEL, "three"), 0);
    assert_str(hob_json_get_str(hob_test_line(c, 0), "cwd"), hob_test_path(&c->folder, "sub"));
}

static void test_cli_session__state_is_shown(void **state) {
    hob_test_cli *c = *state;
    assert_int_equal(HOB_RUN(c, NULL, "-p", "--session-id", "a", MODEL, "one"), 0);
    assert_int_equal(HOB_RUN(c, NULL, "sessions", "state", "a"), 0);
    assert_out(c, "");
    assert_err_has(c, "the session has no state");
    assert_int_equal(HOB_RUN(c, NULL, "sessions", "state", "a", "--json"), 0);
    assert_out(c, "{}\n");
    assert_int_equal(HOB_RUN(c, NULL, "sessions", "state", "none"), 7);
    assert_int_equal(HOB_RUN(c, NULL, "sessions", "state", "a", "b"), 2);
}

static void test_cli_session__an_id_is_given_once(void **state) {
    hob_test_cli *c = *state;
    assert_int_equal(HOB_RUN(c, NULL, "-p", "--session-id", "a", MODEL, "one"), 0);
    assert_int_equal(HOB_RUN(c, NULL, "-p", "--session-id", "a", MODEL, "one"), 2);
}

static void test_cli_session__a_copy_leaves_the_original_alone(void **state) {
    hob_test_cli *c = *state;
    assert_int_equal(HOB_RUN(c, NULL, "-p", "--session-id", "a", MODEL, "one"), 0);
    assert_int_equal(HOB_RUN(c, NULL, "-p", "--json", "-r", "a", "--fork", "two"), 0);
    assert_str(hob_json_get_str(hob_test_line(c, -1), "text"), "2: two");
    assert_false(hob_str_eqz(hob_json_get_str(hob_test_line(c, 0), "id"), "a"));
    assert_int_equal(HOB_RUN(c, NULL, "-p", "-r", "a", "again"), 0);
    assert_out(c, "2: again\n");
}

static void test_cli_session__no_session_keeps_nothing(void **state) {
    hob_test_cli *c = *state;
    assert_int_equal(HOB_RUN(c, NULL, "-p", "--no-session", MODEL, "one"), 0);
    assert_int_equal(HOB_RUN(c, NULL, "sessions", "list", "--all", "--json"), 0);
    assert_out(c, "");
}

static void test_cli_session__nothing_to_resume_is_no_failure(void **state) {
    hob_test_cli *c = *state;
    assert_int_equal(HOB_RUN(c, NULL, "-p", MODEL, "one"), 0);
    assert_int_equal(HOB_RUN(c, NULL, "-p", "-c", "--json"), 0);
    assert_str(hob_json_get_str(hob_test_line(c, -1), "status"), "completed");
    assert_err_has(c, "nothing to resume");
}

static void test_cli_session__one_that_is_busy_elsewhere(void **state) {
    hob_test_cli *c = *state, second = *c;
    hob_buf_init(&second.out, 1u << 20);
    hob_buf_init(&second.err, 1u << 20);
    HOB_START(c, "-p", "--json", "--session-id", "a", MODEL, "hang");
    hob_test_close_in(c);
    hob_test_until(c, "starting");
    assert_int_equal(HOB_RUN(&second, NULL, "-p", "-r", "a", "hello"), 6);
    assert_err_has(&second, "hob: session a is in use by pid ");
    assert_false(hob_test_err_has(&second, "(pid"));
    hob_buf_finish(&second.out);
    hob_buf_finish(&second.err);
    kill(c->pid, SIGTERM);
    assert_int_equal(hob_test_end(c), 143);
}

static void start_and_kill(hob_test_cli *c) {
    HOB_START(c, "-p", "--json", "--session-id", "a", "--permission-mode", "yolo", MODEL, "slow");
    hob_test_close_in(c);
    hob_test_until(c, "\"tool_started\"");
    kill(c->pid, SIGKILL);
    assert_int_equal(hob_test_end(c), 137);
}

static void test_cli_session__a_killed_run_is_shown_as_unfinished(void **state) {
    hob_test_cli *c = *state;
    start_and_kill(c);
    assert_int_equal(HOB_RUN(c, NULL, "sessions", "list"), 0);
    assert_out_has(c, "  unfinished  ");
    assert_int_equal(HOB_RUN(c, NULL, "sessions", "show", "a"), 0);
    assert_out_has(c, "state       unfinished\n");
    assert_int_equal(HOB_RUN(c, NULL, "runs", "list"), 0);
    assert_out_has(c, "  unfinished  ");
    assert_int_equal(HOB_RUN(c, NULL, "runs", "list", "--json"), 0);
    assert_str(hob_json_get_str(hob_test_line(c, 0), "status"), "running");
    assert_null(hob_json_get(hob_test_line(c, 0), "owner"));
}

static void test_cli_session__a_killed_run_is_resumed(void **state) {
    hob_test_cli *c = *state;
    start_and_kill(c);
    assert_int_equal(HOB_RUN(c, NULL, "-p", "-c", "--json", "--permission-mode", "yolo"), 0);
    assert_str(
        hob_json_get_str(hob_json_get(hob_test_typed(c, "run_started", 0), "data"), "origin"),
        "resume");
    assert_str(
        hob_json_get_str(hob_json_get(hob_test_typed(c, "tool_finished", 0), "data"), "outcome"),
        "unknown");
    assert_str(hob_json_get_str(hob_test_line(c, -1), "status"), "completed");
}

static void test_cli_session__a_killed_run_is_settled_by_a_prompt(void **state) {
    hob_test_cli *c = *state;
    start_and_kill(c);
    assert_int_equal(HOB_RUN(c, NULL, "-p", "-c", "something else"), 0);
    assert_out(c, "2: something else\n");
}

static void test_cli_session__a_killed_run_is_resumed_by_its_name(void **state) {
    hob_test_cli *c = *state;
    start_and_kill(c);
    assert_int_equal(HOB_RUN(c, NULL, "runs", "list", "--json"), 0);
    char *run = hob_dupz(hob_json_get_str(hob_test_line(c, 0), "id"));
    assert_int_equal(HOB_RUN(c, NULL, "runs", "resume", run, "--json"), 0);
    assert_str(hob_json_get_str(hob_test_line(c, -1), "status"), "completed");
    hob_free(run);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, hob_test_cli_teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_cli_session__continue_the_newest_of_this_folder),
        TEST(test_cli_session__resume_by_id_or_its_beginning),
        TEST(test_cli_session__a_named_session_stays_in_its_folder),
        TEST(test_cli_session__state_is_shown),
        TEST(test_cli_session__an_id_is_given_once),
        TEST(test_cli_session__a_copy_leaves_the_original_alone),
        TEST(test_cli_session__no_session_keeps_nothing),
        TEST(test_cli_session__nothing_to_resume_is_no_failure),
        TEST(test_cli_session__one_that_is_busy_elsewhere),
        TEST(test_cli_session__a_killed_run_is_shown_as_unfinished),
        TEST(test_cli_session__a_killed_run_is_resumed),
        TEST(test_cli_session__a_killed_run_is_settled_by_a_prompt),
        TEST(test_cli_session__a_killed_run_is_resumed_by_its_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
