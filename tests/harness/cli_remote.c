/* Commands on standard input: --input-format stream-json. */
#include "support/cli.h"

#include "support/check.h"

#include <stdio.h>

#define START "--input-format", "stream-json", "-m", "scripted:s.json"
#define SCRIPT                                                                                     \
    "{'rules': ["                                                                                  \
    " {'when': {'user': 'hang'}, 'reply': [{'text': 'waiting'}, {'wait': true}]},"                 \
    " {'when': {'user': 'write', 'step': 1}, 'reply': ["                                           \
    "  {'tool': 'write', 'args': {'path': 'new.txt', 'content': 'x'}}]},"                          \
    " {'when': {'user': 'work', 'step': 1}, 'reply': ["                                            \
    "  {'tool': 'bash', 'args': {'command': 'until [ -e go ]; do sleep 0.05; done'}}]},"           \
    " {'when': {'user': 'write'}, 'reply': [{'text': '{{result}}'}]}],"                            \
    " 'otherwise': [{'text': '{{messages}}: {{user}}'}]}"

static int setup(void **state) {
    hob_test_cli_setup(state);
    hob_test_quoted_file(*state, "s.json", SCRIPT);
    return 0;
}

static void send(hob_test_cli *c, const char *quoted) {
    char line[1000];
    size_t n = 0;
    for (; quoted[n]; n++) line[n] = quoted[n] == '\'' ? '"' : quoted[n];
    line[n++] = '\n';
    line[n] = 0;
    hob_test_send(c, line);
}

static void test_cli_remote__two_prompts_two_results(void **state) {
    hob_test_cli *c = *state;
    HOB_START(c, START);
    send(c, "{'type': 'prompt', 'text': 'one'}");
    hob_test_until(c, "\"type\":\"result\"");
    send(c, "{'type': 'prompt', 'content': [{'type': 'text', 'text': 'two'}]}");
    hob_test_close_in(c);
    assert_int_equal(hob_test_end(c), 0);
    assert_str(hob_json_get_str(hob_test_typed(c, "result", 0), "text"), "1: one");
    assert_str(hob_json_get_str(hob_test_typed(c, "result", 1), "text"), "2: two");
    assert_str(hob_json_get_str(hob_test_line(c, 0), "type"), "session");
    assert_str(hob_json_get_str(hob_test_line(c, -1), "type"), "result");
}

static void test_cli_remote__a_prompt_argument_comes_first(void **state) {
    hob_test_cli *c = *state;
    assert_int_equal(HOB_RUN(c, "", START, "from the command line"), 0);
    assert_str(hob_json_get_str(hob_test_line(c, -1), "text"), "1: from the command line");
}

/* ADK-69 from outside: it stands when the command is done, survives the process, and goes on without a prompt. */
static void test_cli_remote__case_69_a_paused_run_goes_on(void **state) {
    hob_test_cli *c = *state;
    HOB_START(c, START, "--permission-mode", "yolo");
    send(c, "{'type': 'prompt', 'text': 'work'}");
    hob_test_until(c, "\"type\":\"tool_started\"");
    send(c, "{'type': 'pause'}");
    hob_test_until(c, "\"type\":\"run_paused\"");
    hob_test_file(&c->folder, "go", HOB_STR(""));
    hob_test_until(c, "\"type\":\"tool_finished\"");
    hob_test_close_in(c);
    assert_int_equal(hob_test_end(c), 5);
    assert_str(hob_json_get_str(hob_test_line(c, -1), "status"), "parked");
    assert_err_has(c, "the run is paused");
    assert_int_equal(HOB_RUN(c, NULL, "-p", "-c", "-m", "scripted:s.json"), 0);
    assert_out_has(c, "1: work");
}

/* ADK-70: what nobody could answer later is denied at once. */
static void test_cli_remote__case_70_without_a_session_nothing_waits(void **state) {
    hob_test_cli *c = *state;
    HOB_START(c, START, "--no-session");
    send(c, "{'type': 'prompt', 'text': 'write'}");
    hob_test_until(c, "\"type\":\"approval_requested\"");
    send(c, "{'type': 'pause', 'id': 1}");
    hob_test_until(c, "\"type\":\"error\"");
    hob_test_close_in(c);
    hob_test_end(c);
    assert_str(hob_json_get_str(hob_test_line(c, -1), "status"), "completed");
    assert_err_has(c, "nobody is left to ask");
}

static void test_cli_remote__bad_lines_are_answered_and_it_lives(void **state) {
    hob_test_cli *c = *state;
    HOB_START(c, START);
    send(c, "{'type': 'prompt', ");
    send(c, "[1]");
    send(c, "{'type': 'promt', 'id': 7}");
    send(c, "{'type': 'steer', 'id': 'x', 'text': 'left'}");
    send(c, "{'type': 'prompt'}");
    send(c, "");
    send(c, "{'type': 'prompt', 'text': 'still here'}");
    hob_test_close_in(c);
    assert_int_equal(hob_test_end(c), 0);
    static const char *const codes[] = {"HOB_EPARSE", "HOB_EPARSE", "HOB_EINVAL", "HOB_EIDLE",
                                        "HOB_EINVAL"};
    for (size_t i = 0; i < HOB_ARRAY_LEN(codes); i++)
        assert_str(hob_json_get_str(hob_test_typed(c, "error", i), "code"), codes[i]);
    assert_null(hob_test_typed(c, "error", HOB_ARRAY_LEN(codes)));
    assert_str(hob_json_raw(hob_json_get(hob_test_typed(c, "error", 2), "id")), "7");
    assert_str(hob_json_get_str(hob_test_typed(c, "error", 2), "message"),
               "unknown command 'promt'; did you mean 'prompt'?");
    assert_str(hob_json_get_str(hob_test_typed(c, "error", 3), "id"), "x");
    assert_str(hob_json_get_str(hob_test_line(c, -1), "text"), "1: still here");
}

static void test_cli_remote__approve(void **state) {
    hob_test_cli *c = *state;
    HOB_START(c, START, "write");
    hob_test_until(c, "approval_requested");
    const hob_json *asked = hob_json_get(hob_test_typed(c, "approval_requested", 0), "data");
    char line[300];
    snprintf(line, sizeof line, "{'type': 'approve', 'call': '%.*s', 'approved': true}",
             HOB_FMT(hob_json_get_str(asked, "call")));
    send(c, line);
    hob_test_close_in(c);
    assert_int_equal(hob_test_end(c), 0);
    assert_str(hob_test_content(&c->folder, "new.txt"), "x");
}

static void test_cli_remote__refuse_with_a_reason(void **state) {
    hob_test_cli *c = *state;
    HOB_START(c, START, "write");
    hob_test_until(c, "approval_requested");
    const hob_json *asked = hob_json_get(hob_test_typed(c, "approval_requested", 0), "data");
    char line[300];
    snprintf(line, sizeof line,
             "{'type': 'approve', 'call': '%.*s', 'approved': false, 'reason': 'not today'}",
             HOB_FMT(hob_json_get_str(asked, "call")));
    send(c, line);
    send(c, line); /* once only */
    hob_test_close_in(c);
    assert_int_equal(hob_test_end(c), 0);
    assert_out_has(c, "not today");
    assert_non_null(hob_test_typed(c, "error", 0));
    assert_int_equal(hob_test_content(&c->folder, "new.txt").n, 0);
}

static void test_cli_remote__nobody_left_to_answer_leaves_it_waiting(void **state) {
    hob_test_cli *c = *state;
    HOB_START(c, START, "--session-id", "a", "write");
    hob_test_until(c, "approval_requested");
    hob_test_close_in(c);
    assert_int_equal(hob_test_end(c), 5);
    const hob_json *result = hob_test_line(c, -1);
    assert_str(hob_json_get_str(result, "status"), "parked");
    assert_int_equal(hob_json_get_int(result, "turns", 0), 1);
    assert_true(hob_json_get_str(result, "run_id").n > 0);
    /* Without anybody to ask it stays so, with a prompt and without. */
    assert_int_equal(HOB_RUN(c, NULL, "-p", "-c"), 5);
    assert_err_has(c, "waits for an approval");
    assert_int_equal(HOB_RUN(c, NULL, "-p", "-c", "something else"), 5);
    /* And is asked again where somebody is. */
    HOB_START(c, START, "-r", "a");
    hob_test_until(c, "\"session\"");
    send(c, "{'type': 'abort'}");
    hob_test_close_in(c);
    hob_test_end(c);
    assert_str(hob_json_get_str(hob_test_line(c, -1), "status"), "cancelled");
}

static void test_cli_remote__steer_and_follow_up(void **state) {
    hob_test_cli *c = *state;
    HOB_START(c, START, "--permission-mode", "yolo", "work");
    hob_test_until(c, "\"tool_started\"");
    send(c, "{'type': 'follow_up', 'text': 'then this'}");
    send(c, "{'type': 'steer', 'text': 'left'}");
    hob_test_until(c, "\"steer_queued\"");
    hob_test_file(&c->folder, "go", HOB_STR(""));
    hob_test_close_in(c);
    assert_int_equal(hob_test_end(c), 0);
    const hob_json *first = hob_json_get(hob_test_typed(c, "assistant_message", 1), "data");
    const hob_json *second = hob_json_get(hob_test_typed(c, "assistant_message", 2), "data");
    assert_str(hob_json_get_str(hob_json_at(hob_json_get(first, "content"), 0), "text"), "2: left");
    assert_str(hob_json_get_str(hob_json_at(hob_json_get(second, "content"), 0), "text"),
               "3: then this");
    assert_null(hob_test_typed(c, "result", 1));
}

static void test_cli_remote__cancel(void **state) {
    hob_test_cli *c = *state;
    HOB_START(c, START, "hang");
    hob_test_until(c, "waiting");
    send(c, "{'type': 'cancel'}");
    hob_test_until(c, "\"type\":\"result\"");
    assert_str(hob_json_get_str(hob_test_line(c, -1), "status"), "cancelled");
    send(c, "{'type': 'prompt', 'text': 'again'}");
    hob_test_close_in(c);
    assert_int_equal(hob_test_end(c), 0);
    assert_str(hob_json_get_str(hob_test_line(c, -1), "status"), "completed");
}

static void test_cli_remote__no_prompt_at_all(void **state) {
    hob_test_cli *c = *state;
    assert_int_equal(HOB_RUN(c, "", START), 2);
    assert_str(hob_json_get_str(hob_test_line(c, -1), "type"), "result");
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, hob_test_cli_teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_cli_remote__two_prompts_two_results),
        TEST(test_cli_remote__a_prompt_argument_comes_first),
        TEST(test_cli_remote__case_69_a_paused_run_goes_on),
        TEST(test_cli_remote__case_70_without_a_session_nothing_waits),
        TEST(test_cli_remote__bad_lines_are_answered_and_it_lives),
        TEST(test_cli_remote__approve),
        TEST(test_cli_remote__refuse_with_a_reason),
        TEST(test_cli_remote__nobody_left_to_answer_leaves_it_waiting),
        TEST(test_cli_remote__steer_and_follow_up),
        TEST(test_cli_remote__cancel),
        TEST(test_cli_remote__no_prompt_at_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
