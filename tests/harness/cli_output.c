/* The three output formats, and what goes where. */
#include "support/cli.h"

#include "support/check.h"

#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define MODEL "-m", "scripted:s.json"
#define TEN "0123456789"
#define HUNDRED TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN

/* `read` calls the tool, `partial` breaks in the middle, anything else is echoed. */
#define SCRIPT                                                                                     \
    "{'rules': ["                                                                                  \
    " {'when': {'system': 'work as a sub-agent'}, 'reply': [{'delay_ms': 50}, {'text': 'x'}]},"    \
    " {'when': {'user': 'behind', 'step': 1}, 'reply': [{'tool': 'task',"                          \
    "  'args': {'agent': 'general', 'prompt': 'p', 'background': true}}]},"                        \
    " {'when': {'user': 'behind', 'step': 2}, 'reply': [{'text': 'it has begun'}]},"               \
    " {'when': {'user': {'contains': 'A task in the background has ended'}},"                      \
    "  'reply': [{'text': 'now it is done'}]},"                                                    \
    " {'when': {'user': 'use it', 'step': 1}, 'reply': [{'text': 'Let me see.'},"                  \
    "  {'tool': 'read', 'args': {'path': 'notes.txt'}}]},"                                         \
    " {'when': {'user': 'use it'}, 'reply': [{'text': 'It says {{result}}'}]},"                    \
    " {'when': {'user': 'partial'}, 'reply': [{'text': 'half an ans'},"                            \
    "  {'error': {'status': 400, 'message': 'no more'}}]},"                                        \
    " {'when': {'user': 'twice', 'attempt': 1}, 'reply': [{'text': 'first try'}, {'cut': true}]}," \
    " {'when': {'user': 'twice'}, 'reply': [{'text': 'second try'}]},"                             \
    " {'when': {'user': 'much'}, 'reply': [{'repeat': {'times': 5000, 'reply': [{'chunk': 0,"      \
    "  'text': '" HUNDRED HUNDRED HUNDRED HUNDRED "'}]}}]}],"                                      \
    " 'otherwise': [{'text': '{{user}}'}]}"

static int setup(void **state) {
    hob_test_cli_setup(state);
    hob_test_quoted_file(*state, "s.json", SCRIPT);
    hob_test_quoted_file(*state, "home/config.json", "{'retry': {'attempts': 2, 'cap_s': 0.01}}");
    hob_test_cli *c = *state;
    hob_test_file(&c->folder, "notes.txt", HOB_STR("forty-two"));
    return 0;
}

static void test_cli_output__text_has_only_the_answer(void **state) {
    hob_test_cli *c = *state;
    assert_int_equal(HOB_RUN(c, NULL, "-p", MODEL, "use it"), 0);
    assert_true(hob_str_starts(hob_buf_str(&c->out), HOB_STR("It says ")));
    assert_out_has(c, "forty-two");
    assert_false(hob_test_out_has(c, "Let me see."));
    assert_err_has(c, "Let me see.");
    assert_err_has(c, "* read notes.txt");
}

static void test_cli_output__a_task_in_the_background_leaves_one_answer(void **state) {
    hob_test_cli *c = *state;
    assert_int_equal(HOB_RUN(c, NULL, "-p", MODEL, "behind"), 0);
    assert_out(c, "now it is done\n");
    assert_err_has(c, "it has begun");
}

static void test_cli_output__quiet_says_nothing_but_the_answer(void **state) {
    hob_test_cli *c = *state;
    assert_int_equal(HOB_RUN(c, NULL, "-q", "-p", MODEL, "use it"), 0);
    assert_string_equal(hob_buf_z(&c->err), "");
}

static void test_cli_output__a_retry_is_visible_and_its_text_not_doubled(void **state) {
    hob_test_cli *c = *state;
    assert_int_equal(HOB_RUN(c, NULL, "-p", MODEL, "twice"), 0);
    assert_out(c, "second try\n");
    assert_err_has(c, "retrying in 0.0 s (2/2): ");
}

static void test_cli_output__a_failed_run_keeps_the_partial_text(void **state) {
    hob_test_cli *c = *state;
    assert_int_equal(HOB_RUN(c, NULL, "-p", MODEL, "partial"), 1);
    assert_out(c, "half an ans\n");
    assert_err_has(c, "hob: ");
    assert_err_has(c, "no more");
}

static void check_result(const hob_json *r, const char *status, const char *text) {
    static const char *const keys[] = {"type",       "status",      "text",     "session_id",
                                       "run_id",     "usage",       "cost_usd", "turns",
                                       "tool_calls", "duration_ms", "error"};
    static const char *const usage[] = {"input_tokens", "output_tokens", "cache_read_tokens",
                                        "cache_write_tokens", "reasoning_tokens"};
    for (size_t i = 0; i < HOB_ARRAY_LEN(keys); i++)
        if (!hob_json_get(r, keys[i])) fail_msg("the result has no %s", keys[i]);
    for (size_t i = 0; i < HOB_ARRAY_LEN(usage); i++)
        if (!hob_json_get(hob_json_get(r, "usage"), usage[i]))
            fail_msg("usage has no %s", usage[i]);
    assert_str(hob_json_get_str(r, "type"), "result");
    assert_str(hob_json_get_str(r, "status"), status);
    assert_str(hob_json_get_str(r, "text"), text);
}

static void test_cli_output__json_is_exactly_the_result(void **state) {
    hob_test_cli *c = *state;
    assert_int_equal(HOB_RUN(c, NULL, "-p", "--output-format", "json", MODEL, "hi"), 0);
    assert_int_equal(hob_test_lines(c), 1);
    check_result(hob_test_line(c, 0), "completed", "hi");
    assert_true(hob_json_is(hob_json_get(hob_test_line(c, 0), "error"), HOB_JSON_NULL));
    assert_true(hob_json_is(hob_json_get(hob_test_line(c, 0), "cost_usd"), HOB_JSON_NULL));
}

static void test_cli_output__json_of_a_failure_before_the_session(void **state) {
    hob_test_cli *c = *state;
    assert_int_equal(
        HOB_RUN(c, NULL, "-p", "--output-format", "json", "-m", "scripted:none.json", "hi"), 7);
    assert_int_equal(hob_test_lines(c), 1);
    check_result(hob_test_line(c, 0), "failed", "");
    assert_err_has(c, "none.json");
}

static void test_cli_output__stream_json_begins_with_the_session(void **state) {
    hob_test_cli *c = *state;
    assert_int_equal(HOB_RUN(c, NULL, "-p", "--json", "--permission-mode", "plan", "--session-id",
                             "one", MODEL, "hi"),
                     0);
    const hob_json *s = hob_test_line(c, 0);
    assert_str(hob_json_get_str(s, "type"), "session");
    assert_str(hob_json_get_str(s, "id"), "one");
    assert_str(hob_json_get_str(s, "cwd"), c->folder.path);
    assert_str(hob_json_get_str(s, "sandbox"), "none");
    assert_str(hob_json_get_str(s, "permission_mode"), "plan");
    assert_str(hob_json_get_str(s, "version"), HOB_VERSION);
    assert_true(hob_json_get_str(s, "model").n > 0);
}

static void test_cli_output__stream_json_has_every_event_in_order(void **state) {
    hob_test_cli *c = *state;
    int64_t next = 1;
    assert_int_equal(HOB_RUN(c, NULL, "-p", "--json", MODEL, "use it"), 0);
    size_t n = hob_test_lines(c);
    for (size_t i = 1; i + 1 < n; i++) {
        int64_t seq = hob_json_get_int(hob_test_line(c, (ptrdiff_t)i), "seq", 0);
        if (seq) assert_int_equal(seq, next++);
    }
    assert_non_null(hob_test_typed(c, "text_delta", 0));
    assert_non_null(hob_test_typed(c, "tool_finished", 0));
    assert_str(hob_json_get_str(hob_test_line(c, -2), "type"), "settled");
    assert_str(hob_json_get_str(hob_test_line(c, -1), "type"), "result");
}

static void test_cli_output__stream_json_ends_with_the_result_of_a_failure(void **state) {
    hob_test_cli *c = *state;
    assert_int_equal(HOB_RUN(c, NULL, "-p", "--json", MODEL, "partial"), 1);
    const hob_json *r = hob_test_line(c, -1);
    assert_str(hob_json_get_str(r, "status"), "failed");
    assert_non_null(hob_json_get(hob_json_get(r, "error"), "message"));
}

static void test_cli_output__the_answer_is_also_written_to_a_file(void **state) {
    hob_test_cli *c = *state;
    assert_int_equal(HOB_RUN(c, NULL, "-p", MODEL, "-o", "answer.txt", "hi"), 0);
    assert_str(hob_test_content(&c->folder, "answer.txt"), "hi");
    assert_int_equal(HOB_RUN(c, NULL, "-p", MODEL, "-o", "answer.txt", "partial"), 1);
    assert_str(hob_test_content(&c->folder, "answer.txt"), "hi");
    assert_int_equal(HOB_RUN(c, NULL, "-p", MODEL, "-o", "no/answer.txt", "hi"), 2);
    assert_err_has(c, "no/answer.txt cannot be written");
}

static void test_cli_output__a_file_keeps_its_mode_and_a_link_its_place(void **state) {
    hob_test_cli *c = *state;
    struct stat st;
    hob_test_file(&c->folder, "secret.txt", HOB_STR("old"));
    chmod(hob_test_path(&c->folder, "secret.txt"), 0600);
    hob_test_link(&c->folder, "secret.txt", "link.txt");
    assert_int_equal(HOB_RUN(c, NULL, "-p", MODEL, "-o", "link.txt", "hi"), 0);
    assert_str(hob_test_content(&c->folder, "secret.txt"), "hi");
    assert_int_equal(lstat(hob_test_path(&c->folder, "secret.txt"), &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600);
    assert_int_equal(lstat(hob_test_path(&c->folder, "link.txt"), &st), 0);
    assert_true(S_ISLNK(st.st_mode));
}

static void test_cli_output__a_reader_that_leaves_stops_nothing(void **state) {
    hob_test_cli *c = *state;
    HOB_START(c, "-p", "--json", "--session-id", "left", MODEL, "use it");
    hob_test_close_in(c);
    close(c->out_fd);
    c->out_fd = -1;
    assert_int_equal(hob_test_end(c), 141);
    assert_int_equal(HOB_RUN(c, NULL, "sessions", "show", "left", "--json"), 0);
    assert_str(
        hob_json_get_str(hob_json_get(hob_test_typed(c, "run_finished", 0), "data"), "status"),
        "completed");
}

/* Another process looks into the log until it has that; a minute at most. */
static void wait_for_log(hob_test_cli *c, const char *id, const char *text) {
    hob_test_cli look = *c;
    time_t until = time(NULL) + 60;
    hob_buf_init(&look.out, 64u << 20);
    hob_buf_init(&look.err, 1u << 20);
    do {
        if (time(NULL) > until) fail_msg("'%s' does not come into the log of %s", text, id);
        HOB_RUN(&look, NULL, "sessions", "show", id, "--json");
    } while (!hob_test_out_has(&look, text));
    hob_buf_finish(&look.out);
    hob_buf_finish(&look.err);
}

static void test_cli_output__a_reader_that_stands_still_holds_up_nothing(void **state) {
    hob_test_cli *c = *state;
    int64_t next = 1;
    HOB_START(c, "-p", "--json", "--session-id", "slow", MODEL, "much");
    hob_test_close_in(c);
    wait_for_log(c, "slow", "run_finished"); /* megabytes that nobody has read yet */
    assert_int_equal(hob_test_end(c), 0);
    size_t n = hob_test_lines(c);
    for (size_t i = 1; i + 1 < n; i++) {
        int64_t seq = hob_json_get_int(hob_test_line(c, (ptrdiff_t)i), "seq", 0);
        if (seq) assert_int_equal(seq, next++);
    }
    assert_int_equal(hob_json_get_str(hob_test_line(c, -1), "text").n, 5000 * 400);
}

/* A file takes at once what a pipe takes piece by piece: nothing is left to wake the program. */
static void test_cli_output__a_long_line_into_a_file(void **state) {
    hob_test_cli *c = *state;
    int code = hob_test_shell(c, "\"$HOB\" -p --json -m scripted:s.json much >lines");
    assert_int_equal(code, 0);
    assert_int_equal(hob_test_shell(c, "tail -n 1 lines"), 0);
    assert_int_equal(hob_json_get_str(hob_test_line(c, -1), "text").n, 5000 * 400);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, hob_test_cli_teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_cli_output__text_has_only_the_answer),
        TEST(test_cli_output__a_task_in_the_background_leaves_one_answer),
        TEST(test_cli_output__quiet_says_nothing_but_the_answer),
        TEST(test_cli_output__a_retry_is_visible_and_its_text_not_doubled),
        TEST(test_cli_output__a_failed_run_keeps_the_partial_text),
        TEST(test_cli_output__json_is_exactly_the_result),
        TEST(test_cli_output__json_of_a_failure_before_the_session),
        TEST(test_cli_output__stream_json_begins_with_the_session),
        TEST(test_cli_output__stream_json_has_every_event_in_order),
        TEST(test_cli_output__stream_json_ends_with_the_result_of_a_failure),
        TEST(test_cli_output__the_answer_is_also_written_to_a_file),
        TEST(test_cli_output__a_file_keeps_its_mode_and_a_link_its_place),
        TEST(test_cli_output__a_reader_that_leaves_stops_nothing),
        TEST(test_cli_output__a_reader_that_stands_still_holds_up_nothing),
        TEST(test_cli_output__a_long_line_into_a_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
