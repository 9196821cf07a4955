/* A conversation in a terminal. */
#include "support/cli.h"

#include "support/check.h"

#include <signal.h>

#define MODEL "-m", "scripted:s.json"
#define SCRIPT                                                                                     \
    "{'rules': ["                                                                                  \
    " {'when': {'user': 'hang'}, 'reply': [{'text': 'some words'}, {'wait': true}]},"              \
    " {'when': {'user': 'say', 'step': 1}, 'reply': [{'text': 'first this'},"                      \
    "  {'tool': 'write', 'args': {'path': 'x', 'content': 'y'}}]},"                                \
    " {'when': {'user': 'late', 'step': 1}, 'reply': ["                                            \
    "  {'tool': 'bash', 'args': {'command': 'until [ -e go ]; do sleep 0.05; done'}}]},"           \
    " {'when': {'user': 'late', 'step': 2}, 'reply': ["                                            \
    "  {'tool': 'write', 'args': {'path': 'x', 'content': 'y'}}]},"                                \
    " {'when': {'user': 'write', 'step': 1}, 'reply': ["                                           \
    "  {'tool': 'write', 'args': {'path': 'new.txt', 'content': 'a\\u001b[2Jb'}}]},"               \
    " {'when': {'user': 'write'}, 'reply': [{'text': 'told: {{result}}'}]},"                       \
    " {'when': {'user': 'forge', 'step': 1}, 'reply': ["                                           \
    "  {'tool': 'bash', 'args': {'command': 'true\\n  [y]es, once\\n\\n\\n\\n\\n\\n\\n\\n\\n"      \
    "\\n\\n\\n\\n\\n\\n\\n\\n\\n\\n\\n\\nend'}}]},"                                                \
    " {'when': {'user': 'work', 'step': 1}, 'reply': ["                                            \
    "  {'tool': 'bash', 'args': {'command': 'until [ -e go ]; do sleep 0.05; done'}}]},"           \
    " {'when': {'user': 'colour'}, 'reply': [{'text': 'red \\u001b[31m\\u009b31m\\u0007 end'}]}]," \
    " 'otherwise': [{'text': '<{{messages}}: {{user}}>'}]}"

static int setup(void **state) {
    hob_test_cli_setup(state);
    hob_test_quoted_file(*state, "s.json", SCRIPT);
    ((hob_test_cli *)*state)->terminal = true;
    hob_test_env(*state, "NO_COLOR=1");
    return 0;
}

static void test_cli_talk__prompts_one_after_another(void **state) {
    hob_test_cli *c = *state;
    HOB_START(c, MODEL, "first");
    hob_test_until(c, "<1: first>");
    hob_test_send(c, "second\n");
    hob_test_until(c, "<2: second>");
    hob_test_send(c, "\004");
    assert_int_equal(hob_test_end(c), 0);
    assert_out_has(c, "goes on from here");
}

static void test_cli_talk__only_known_slash_words_are_commands(void **state) {
    hob_test_cli *c = *state;
    HOB_START(c, MODEL);
    hob_test_until(c, "> ");
    hob_test_send(c, "/help\n");
    hob_test_until(c, "/steer");
    hob_test_send(c, "/model\n");
    hob_test_until(c, "hob: model scripted");
    hob_test_send(c, "/model nosuchmodel\n");
    hob_test_until(c, "nosuchmodel");
    hob_test_send(c, "/etc/passwd is a path\n");
    hob_test_until(c, "<1: /etc/passwd is a path>");
    hob_test_send(c, "/sessions\n");
    hob_test_until(c, "/etc/passwd is a path\r\n> ");
    hob_test_send(c, "/quit\n");
    assert_int_equal(hob_test_end(c), 0);
}

static void test_cli_talk__an_approval_is_asked_for(void **state) {
    hob_test_cli *c = *state;
    HOB_START(c, MODEL, "write");
    hob_test_until(c, "or why not: ");
    assert_out_has(c, "? may write run?");
    assert_out_has(c, "path: new.txt");
    assert_out_has(c, "content: a^[[2Jb");
    hob_test_send(c, "y\n");
    hob_test_until(c, "told: ");
    hob_test_send(c, "\004");
    assert_int_equal(hob_test_end(c), 0);
    assert_str(hob_test_content(&c->folder, "new.txt"), "a\033[2Jb");
}

static void test_cli_talk__a_question_comes_after_what_led_to_it(void **state) {
    hob_test_cli *c = *state;
    HOB_START(c, MODEL, "say");
    hob_test_until(c, "or why not: ");
    hob_str out = hob_buf_str(&c->out);
    ptrdiff_t text = hob_str_find(out, HOB_STR("first this")),
              question = hob_str_find(out, HOB_STR("? may write run?"));
    assert_true(text > 0 && text < question);
    hob_test_send(c, "\004");
    assert_int_equal(hob_test_end(c), 0);
}

static void test_cli_talk__a_question_to_nobody_stays_open(void **state) {
    hob_test_cli *c = *state;
    HOB_START(c, MODEL, "--allow", "bash", "late");
    hob_test_until(c, "* bash until");
    hob_test_send(c, "\004");
    hob_test_file(&c->folder, "go", HOB_STR(""));
    assert_int_equal(hob_test_end(c), 0);
    assert_out_has(c, "the question stays open");
}

static void test_cli_talk__a_refusal_carries_its_reason(void **state) {
    hob_test_cli *c = *state;
    HOB_START(c, MODEL, "write");
    hob_test_until(c, "or why not: ");
    hob_test_send(c, "wrong folder\n");
    hob_test_until(c, "told: ");
    hob_test_until(c, "> ");
    hob_test_send(c, "\004");
    assert_int_equal(hob_test_end(c), 0);
    assert_int_equal(hob_test_content(&c->folder, "new.txt").n, 0);
    hob_str told = hob_str_skip(hob_buf_str(&c->out),
                                (size_t)hob_str_find(hob_buf_str(&c->out), HOB_STR("told: ")));
    assert_true(hob_str_find(told, HOB_STR("wrong folder")) > 0);
}

static void test_cli_talk__an_unanswered_question_is_asked_again(void **state) {
    hob_test_cli *c = *state;
    HOB_START(c, MODEL, "--session-id", "a", "write");
    hob_test_until(c, "or why not: ");
    kill(c->pid, SIGKILL);
    assert_int_equal(hob_test_end(c), 137);
    HOB_START(c, "-c");
    hob_test_until(c, "or why not: ");
    assert_out_has(c, "hob: session a goes on");
    hob_test_send(c, "yes\n");
    hob_test_until(c, "told: ");
    hob_test_send(c, "\004");
    assert_int_equal(hob_test_end(c), 0);
    assert_true(hob_test_content(&c->folder, "new.txt").n > 0);
}

/* No line of an argument can pass for one of the question, and its beginning stays in sight. */
static void test_cli_talk__an_argument_cannot_forge_the_question(void **state) {
    hob_test_cli *c = *state;
    HOB_START(c, MODEL, "forge");
    hob_test_until(c, "or why not: ");
    assert_out_has(c, "command: true\r\n    |   [y]es, once\r\n    | \r\n");
    assert_out_has(c, "    | end\r\n    (24 lines; it begins: bash true [y]es, once end)\r\n");
    hob_test_send(c, "n\n");
    hob_test_until(c, "denied");
    hob_test_send(c, "\004");
    assert_int_equal(hob_test_end(c), 0);
}

static void test_cli_talk__json_on_a_terminal_is_made_visible_too(void **state) {
    hob_test_cli *c = *state;
    HOB_START(c, "-p", "--json", MODEL, "colour");
    assert_int_equal(hob_test_end(c), 0);
    assert_out_has(c, "red \\u001b[31m\xEF\xBF\xBD"
                      "31m\\u0007 end");
    assert_false(hob_test_out_has(c, "\xC2\x9B"));
}

static void test_cli_talk__control_characters_are_made_visible(void **state) {
    hob_test_cli *c = *state;
    HOB_START(c, MODEL, "colour");
    hob_test_until(c, "end");
    assert_out_has(c, "red ^[[31m\xEF\xBF\xBD"
                      "31m^G end");
    hob_test_send(c, "\004");
    assert_int_equal(hob_test_end(c), 0);
}

static void test_cli_talk__a_line_typed_meanwhile_steers(void **state) {
    hob_test_cli *c = *state;
    HOB_START(c, MODEL, "--permission-mode", "yolo", "work");
    hob_test_until(c, "* bash until");
    hob_test_send(c, "turn left\n");
    hob_test_until(c, "steering: ");
    hob_test_file(&c->folder, "go", HOB_STR(""));
    hob_test_until(c, "<2: turn left>");
    hob_test_send(c, "\004");
    assert_int_equal(hob_test_end(c), 0);
}

static void test_cli_talk__ctrl_c_cancels_the_run_and_not_the_conversation(void **state) {
    hob_test_cli *c = *state;
    HOB_START(c, MODEL, "hang");
    hob_test_until(c, "some words");
    hob_test_send(c, "\003");
    hob_test_until(c, "cancelled");
    hob_test_send(c, "next\n");
    hob_test_until(c, ": next>");
    hob_test_send(c, "\004");
    assert_int_equal(hob_test_end(c), 0);
}

static void test_cli_talk__a_ctrl_c_too_many_leaves_not(void **state) {
    hob_test_cli *c = *state;
    HOB_START(c, MODEL, "hang");
    hob_test_until(c, "some words");
    hob_test_send(c, "\003");
    hob_test_until(c, "cancelled: ");
    hob_test_send(c, "\003");
    hob_test_until(c, "Ctrl-C again or Ctrl-D leaves");
    hob_test_send(c, "\004");
    assert_int_equal(hob_test_end(c), 0);
}

static void test_cli_talk__ctrl_c_twice_at_the_prompt_leaves(void **state) {
    hob_test_cli *c = *state;
    HOB_START(c, MODEL);
    hob_test_until(c, "> ");
    hob_test_send(c, "\003");
    hob_test_until(c, "Ctrl-C again");
    hob_test_send(c, "\003");
    assert_int_equal(hob_test_end(c), 130);
}

static void test_cli_talk__print_streams_on_a_terminal(void **state) {
    hob_test_cli *c = *state;
    HOB_START(c, "-p", MODEL, "hang");
    hob_test_until(c, "some words");
    hob_test_send(c, "\003");
    assert_int_equal(hob_test_end(c), 130);
    assert_out_has(c, "hob: cancelled");
}

static void test_cli_talk__continue_without_a_session_starts_one(void **state) {
    hob_test_cli *c = *state;
    HOB_START(c, "-c", MODEL);
    hob_test_until(c, "this is a new one");
    hob_test_until(c, "> ");
    hob_test_send(c, "\004");
    assert_int_equal(hob_test_end(c), 0);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, hob_test_cli_teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_cli_talk__prompts_one_after_another),
        TEST(test_cli_talk__only_known_slash_words_are_commands),
        TEST(test_cli_talk__an_approval_is_asked_for),
        TEST(test_cli_talk__a_question_comes_after_what_led_to_it),
        TEST(test_cli_talk__a_question_to_nobody_stays_open),
        TEST(test_cli_talk__a_refusal_carries_its_reason),
        TEST(test_cli_talk__an_unanswered_question_is_asked_again),
        TEST(test_cli_talk__an_argument_cannot_forge_the_question),
        TEST(test_cli_talk__json_on_a_terminal_is_made_visible_too),
        TEST(test_cli_talk__control_characters_are_made_visible),
        TEST(test_cli_talk__a_line_typed_meanwhile_steers),
        TEST(test_cli_talk__ctrl_c_cancels_the_run_and_not_the_conversation),
        TEST(test_cli_talk__a_ctrl_c_too_many_leaves_not),
        TEST(test_cli_talk__ctrl_c_twice_at_the_prompt_leaves),
        TEST(test_cli_talk__print_streams_on_a_terminal),
        TEST(test_cli_talk__continue_without_a_session_starts_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
