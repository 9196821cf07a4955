/* Questions of the model: in a terminal, as commands, and where nobody is. */
#include "support/cli.h"

#include "support/check.h"

#define MODEL "-m", "scripted:s.json"
#define SCRIPT                                                                                     \
    "{'rules': ["                                                                                  \
    " {'when': {'user': 'pick', 'step': 1}, 'reply': [{'tool': 'ask_user', 'args': {"              \
    "  'question': 'Which\\u001b[2J?', 'schema': {'enum': ['red', 'blue']}}}]},"                   \
    " {'when': {'user': 'form', 'step': 1}, 'reply': [{'tool': 'ask_user', 'args': {"              \
    "  'question': 'How?', 'schema': {'type': 'object', 'properties': {'n': {'type': 'integer',"   \
    "  'maximum': 5}, 'ok': {'type': 'boolean'}}, 'required': ['n', 'ok']}}}]},"                   \
    " {'when': {'user': 'name', 'step': 1}, 'reply': [{'tool': 'ask_user', 'args': {"              \
    "  'question': 'Your name?'}}]}],"                                                             \
    " 'otherwise': [{'text': 'told: {{result}}.'}]}"

static int setup(void **state) {
    hob_test_cli_setup(state);
    hob_test_quoted_file(*state, "s.json", SCRIPT);
    hob_test_env(*state, "NO_COLOR=1");
    return 0;
}

static void leave(hob_test_cli *c) {
    hob_test_until(c, "> ");
    hob_test_send(c, "\004");
    assert_int_equal(hob_test_end(c), 0);
}

static void test_cli_question__a_choice_is_numbered(void **state) {
    hob_test_cli *c = *state;
    c->terminal = true;
    HOB_START(c, MODEL, "--permission-mode", "yolo", "--allow", "ask_user", "pick");
    hob_test_until(c, "/no and why: ");
    assert_out_has(c, "? Which^[[2J?\r\n    1) red\r\n    2) blue\r\n  the number of one; ");
    hob_test_send(c, "7\n");
    hob_test_until(c, "there is no choice 7: 1 to 2");
    hob_test_send(c, "2\n");
    hob_test_until(c, "told: blue.");
    leave(c);
}

static void test_cli_question__an_answer_that_does_not_fit_is_asked_for_again(void **state) {
    hob_test_cli *c = *state;
    c->terminal = true;
    HOB_START(c, MODEL, "form");
    hob_test_until(c, "  n\r\n  a number; /no and why: ");
    hob_test_send(c, "9\n");
    hob_test_until(c, "  ok\r\n  [y]es or [n]o; /no and why: ");
    hob_test_send(c, "y\n");
    hob_test_until(c, "the answer does not fit: n must be at most 5");
    hob_test_until(c, "a number; /no and why: ");
    hob_test_send(c, "4\n");
    hob_test_until(c, "[y]es or [n]o; /no and why: ");
    hob_test_send(c, "n\n");
    hob_test_until(c, "told: {\"n\":4,\"ok\":false}.");
    leave(c);
}

static void test_cli_question__can_be_declined(void **state) {
    hob_test_cli *c = *state;
    c->terminal = true;
    HOB_START(c, MODEL, "name");
    hob_test_until(c, "your answer; /no and why: ");
    hob_test_send(c, "/no not your business\n");
    hob_test_until(c, "told: the user did not answer: not your business.");
    leave(c);
}

static void test_cli_question__stays_open_for_another_process(void **state) {
    hob_test_cli *c = *state;
    c->terminal = true;
    HOB_START(c, MODEL, "--session-id", "s1", "name");
    hob_test_until(c, "your answer; ");
    hob_test_send(c, "\004");
    assert_int_equal(hob_test_end(c), 0);
    assert_out_has(c, "the question stays open");
    HOB_START(c, "-r", "s1");
    hob_test_until(c, "? Your name?");
    hob_test_until(c, "your answer; ");
    hob_test_send(c, "Eva\n");
    hob_test_until(c, "told: Eva.");
    leave(c);
}

static void test_cli_question__nobody_is_there(void **state) {
    hob_test_cli *c = *state;
    assert_int_equal(HOB_RUN(c, NULL, "-p", MODEL, "--json", "pick"), 5);
    assert_out_has(c, "\"by\":\"question\"");
    assert_out_has(c, "\"nobody_to_ask\":true");
    assert_out_has(c, "denied: nobody is there to answer: go on with the best assumption");
    assert_err_has(c, "the model asked a question and nobody was there to answer");
    assert_null(strstr(hob_buf_z(&c->err), "--allow RULE"));
    assert_int_equal(HOB_RUN(c, NULL, "-p", MODEL, "--output-format", "json", "pick"), 5);
    assert_out_has(c, ",\"error\":null,\"nobody_to_ask\":true}\n");
}

static void test_cli_question__is_answered_by_a_command(void **state) {
    hob_test_cli *c = *state;
    HOB_START(c, "-p", MODEL, "--input-format", "stream-json", "pick");
    hob_test_until(c, "\"question\":\"Which");
    hob_test_send(c, "{\"type\":\"approve\",\"call\":\"m4.0\",\"approved\":true}\n");
    hob_test_until(c, "a yes needs an answer with it");
    hob_test_send(c, "{\"type\":\"approve\",\"call\":\"m4.0\",\"approved\":true,\"answer\":"
                     "\"pink\"}\n");
    hob_test_until(c, "must be one of");
    hob_test_send(c, "{\"type\":\"approve\",\"call\":\"m4.0\",\"approved\":false,\"answer\":"
                     "\"red\"}\n");
    hob_test_until(c, "an answer goes with");
    hob_test_send(c, "{\"type\":\"approve\",\"call\":\"m4.0\",\"approved\":true,\"answer\":"
                     "\"red\"}\n");
    hob_test_until(c, "told: red.");
    hob_test_close_in(c);
    assert_int_equal(hob_test_end(c), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_cli_question__a_choice_is_numbered, setup,
                                        hob_test_cli_teardown),
        cmocka_unit_test_setup_teardown(
            test_cli_question__an_answer_that_does_not_fit_is_asked_for_again, setup,
            hob_test_cli_teardown),
        cmocka_unit_test_setup_teardown(test_cli_question__can_be_declined, setup,
                                        hob_test_cli_teardown),
        cmocka_unit_test_setup_teardown(test_cli_question__stays_open_for_another_process, setup,
                                        hob_test_cli_teardown),
        cmocka_unit_test_setup_teardown(test_cli_question__nobody_is_there, setup,
                                        hob_test_cli_teardown),
        cmocka_unit_test_setup_teardown(test_cli_question__is_answered_by_a_command, setup,
                                        hob_test_cli_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
