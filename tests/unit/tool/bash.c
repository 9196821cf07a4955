/* ctest: labels=threads timeout=180 */
#include "support/check.h"
#include "support/process.h"
#include "support/tools.h"

#include <stdio.h>
#include <sys/resource.h>

static void assert_answer(hob_test_tools *t, const char *args, hob_outcome outcome,
                          const char *text) {
    assert_str(hob_test_tool(t, "bash", args), text);
    assert_int_equal(t->outcome, outcome);
}

static void test_tool_bash__gives_the_output(void **state) {
    hob_test_tools *t = *state;
    assert_answer(t, "{\"command\":\"echo out; echo err >&2\"}", HOB_OUTCOME_OK, "out\nerr\n");
    assert_int_equal(t->exit_code, 0);
    assert_false(t->truncated);
}

static void test_tool_bash__no_output_is_said(void **state) {
    assert_answer(*state, "{\"command\":\"true\"}", HOB_OUTCOME_OK, "(no output)");
}

static void test_tool_bash__a_failure_is_an_error_with_its_code(void **state) {
    hob_test_tools *t = *state;
    assert_answer(t, "{\"command\":\"echo before; exit 7\"}", HOB_OUTCOME_ERROR,
                  "before\nexit code 7");
    assert_int_equal(t->exit_code, 7);
    assert_answer(t, "{\"command\":\"printf x; exit 1\"}", HOB_OUTCOME_ERROR, "x\nexit code 1");
    assert_answer(t, "{\"command\":\"exit 2\"}", HOB_OUTCOME_ERROR, "exit code 2");
}

static void test_tool_bash__a_signal_is_named(void **state) {
    assert_answer(*state, "{\"command\":\"kill -SEGV $$\"}", HOB_OUTCOME_ERROR,
                  "exit code 139 (SIGSEGV)");
}

static void test_tool_bash__it_is_bash(void **state) {
    assert_answer(*state, "{\"command\":\"[[ -n $BASH_VERSION ]] && cat <(echo yes)\"}",
                  HOB_OUTCOME_OK, "yes\n");
}

static void test_tool_bash__runs_in_the_root_or_a_folder_beneath(void **state) {
    hob_test_tools *t = *state;
    char expected[200];
    hob_test_mkdir(&t->folder, "proj/sub");
    snprintf(expected, sizeof(expected), "%s\n", hob_test_path(&t->folder, "proj"));
    assert_answer(t, "{\"command\":\"pwd\"}", HOB_OUTCOME_OK, expected);
    snprintf(expected, sizeof(expected), "%s\n", hob_test_path(&t->folder, "proj/sub"));
    assert_answer(t, "{\"command\":\"pwd\",\"cwd\":\"sub\"}", HOB_OUTCOME_OK, expected);
}

static void test_tool_bash__does_not_run_outside(void **state) {
    hob_test_tools *t = *state;
    hob_test_link(&t->folder, "/tmp", "proj/link");
    assert_answer(t, "{\"command\":\"pwd\",\"cwd\":\"..\"}", HOB_OUTCOME_ERROR,
                  "not run: .. leads outside the workspace (by '..' or a symbolic link)");
    assert_answer(t, "{\"command\":\"pwd\",\"cwd\":\"link\"}", HOB_OUTCOME_ERROR,
                  "not run: link leads outside the workspace (by '..' or a symbolic link)");
    assert_answer(t, "{\"command\":\"pwd\",\"cwd\":\"none\"}", HOB_OUTCOME_ERROR,
                  "not run: no such file: none");
}

static void test_tool_bash__reads_stdin(void **state) {
    assert_answer(*state, "{\"command\":\"tr a-z A-Z\",\"stdin\":\"shout\\n\"}", HOB_OUTCOME_OK,
                  "SHOUT\n");
    assert_answer(*state, "{\"command\":\"cat\"}", HOB_OUTCOME_OK, "(no output)");
}

static void test_tool_bash__every_call_is_a_fresh_shell(void **state) {
    hob_test_tool(*state, "bash", "{\"command\":\"cd /; X=1\"}");
    assert_answer(*state, "{\"command\":\"echo [$X]\"}", HOB_OUTCOME_OK, "[]\n");
}

static void test_tool_bash__what_it_leaves_behind_is_gone(void **state) {
    hob_test_tools *t = *state;
    assert_answer(t, "{\"command\":\"sleep 100 & echo started\"}", HOB_OUTCOME_OK, "started\n");
    assert_int_equal(hob_test_processes_with(t->token), 0);
}

static void test_tool_bash__a_time_out_keeps_the_output(void **state) {
    hob_test_tools *t = *state;
    assert_answer(t, "{\"command\":\"echo so far; sleep 100\",\"timeout_s\":1}", HOB_OUTCOME_ERROR,
                  "so far\ntimed out after 1 s, all its processes were killed; a larger timeout_s "
                  "(at most 3600) gives it more time");
    assert_int_equal(t->exit_code, -1);
    assert_int_equal(hob_test_processes_with(t->token), 0);
}

static void test_tool_bash__the_host_sets_the_usual_time_out(void **state) {
    hob_test_tools *t = *state;
    hob_tool_env env = {.loop = t->loop,
                        .pool = t->pool,
                        .exec = t->exec,
                        .workspace = t->workspace,
                        .envp = t->envp,
                        .timeout_ms = 150};
    hob_builtins_destroy(t->builtins);
    hob_tools_destroy(t->tools);
    t->tools = hob_tools_create();
    assert_int_equal(hob_builtins_create(&env, t->tools, &t->builtins, NULL), 0);
    hob_str got = hob_test_tool(t, "bash", "{\"command\":\"sleep 100\"}");
    assert_true(hob_str_starts(got, HOB_STR("timed out after 0.15 s, ")));
    assert_answer(t, "{\"command\":\"sleep 0.3\",\"timeout_s\":60.0}", HOB_OUTCOME_OK,
                  "(no output)");
}

static void cancel(hob_test_tools *t, int hard) {
    hob_test_tool_start(t, "bash", "{\"command\":\"echo so far; sleep 100\"}");
    hob_test_tool_until(t, "so far");
    hob_test_tool_cancel(t, hard);
    hob_test_tool_wait(t);
    assert_str(hob_buf_str(&t->text), "so far\ncancelled");
    assert_int_equal(t->outcome, HOB_OUTCOME_CANCELLED);
    assert_int_equal(hob_test_processes_with(t->token), 0);
}

static void test_tool_bash__a_cancel_keeps_the_output(void **state) {
    cancel(*state, 0);
    cancel(*state, 1);
}

static void test_tool_bash__a_cancel_of_another_call_changes_nothing(void **state) {
    hob_test_tools *t = *state;
    hob_test_tool_start(t, "bash", "{\"command\":\"echo ready; sleep 0.2; echo done\"}");
    hob_test_tool_until(t, "ready");
    t->call.call = HOB_STR("m9.9");
    hob_test_tool_cancel(t, 1);
    hob_test_tool_wait(t);
    assert_str(hob_buf_str(&t->text), "ready\ndone\n");
}

static void test_tool_bash__output_comes_while_it_runs(void **state) {
    hob_test_tools *t = *state;
    hob_test_tool_start(t, "bash", "{\"command\":\"echo one; sleep 0.2; echo two\"}");
    hob_test_tool_until(t, "one\n");
    hob_test_tool_wait(t);
    assert_str(hob_buf_str(&t->output), "one\ntwo\n");
}

static void test_tool_bash__live_output_is_throttled(void **state) {
    hob_test_tools *t = *state;
    hob_test_tool(t, "bash", "{\"command\":\"yes | head -c 20000000\"}");
    assert_true(t->output.n < 2000000);
    assert_true(t->outputs < 100);
}

static void test_tool_bash__long_output_keeps_both_ends(void **state) {
    hob_test_tools *t = *state;
    hob_str got = hob_test_tool(t, "bash", "{\"command\":\"seq 1 100000\"}");
    assert_true(t->truncated);
    assert_int_equal(t->outcome, HOB_OUTCOME_OK);
    assert_true(got.n < 65 * 1024);
    assert_true(hob_str_starts(got, HOB_STR("1\n2\n3\n")));
    assert_true(hob_str_ends(got, HOB_STR("99999\n100000\n")));
    ptrdiff_t cut = hob_str_find(got, HOB_STR("\n[… "));
    assert_true(cut > 0);
    /* 588895 bytes in all: what is shown and what is left out add up */
    hob_str mark = hob_str_skip(got, (size_t)cut + strlen("\n[… "));
    long long left_out = 0;
    assert_int_equal(sscanf(mark.p, "%lld bytes left out …]", &left_out), 1);
    char line[64];
    int n = snprintf(line, sizeof(line), "[… %lld bytes left out …]\n", left_out);
    assert_int_equal(left_out + (long long)got.n - n, 588895);
}

static long peak_kib(void) {
    struct rusage r;
    getrusage(RUSAGE_SELF, &r);
    return r.ru_maxrss;
}

static void test_tool_bash__a_gib_of_output_needs_no_memory(void **state) {
    hob_test_tools *t = *state;
    hob_test_tool(t, "bash", "{\"command\":\"true\"}");
    long before = peak_kib();
    hob_str got = hob_test_tool(t, "bash", "{\"command\":\"head -c 1G /dev/zero | tr '\\\\0' a\"}");
    assert_int_equal(t->outcome, HOB_OUTCOME_OK);
    assert_true(hob_str_find(got, HOB_STR("[… 1073676288 bytes left out …]")) > 0);
    assert_true(peak_kib() - before <= 16 * 1024);
}

static void test_tool_bash__output_that_is_not_utf8_is_repaired(void **state) {
    assert_answer(*state, "{\"command\":\"printf 'a\\\\377b\\\\000c'\"}", HOB_OUTCOME_OK,
                  "a\xEF\xBF\xBD"
                  "b\xEF\xBF\xBD"
                  "c");
}

static void test_tool_bash__commands_see_the_environment_given(void **state) {
    hob_test_tools *t = *state;
    hob_str got = hob_test_tool(t, "bash", "{\"command\":\"env | grep -c . && env | grep LC_\"}");
    /* PATH, the token, and what bash adds: PWD, SHLVL, _ */
    assert_true(hob_str_starts(got, HOB_STR("5\n")));
    assert_true(hob_str_find(got, hob_str_z(t->token)) > 0);
}

static void test_tool_bash__arguments_have_bounds(void **state) {
    hob_test_tools *t = *state;
    assert_string_equal(hob_test_tool_check(t, "bash", "{}"),
                        "wrong arguments for bash: command is missing");
    assert_string_equal(hob_test_tool_check(t, "bash", "{\"command\":\"x\",\"timeout_s\":0}"),
                        "wrong arguments for bash: timeout_s must be at least 1");
    assert_string_equal(hob_test_tool_check(t, "bash", "{\"command\":\"x\",\"timeout_s\":3601}"),
                        "wrong arguments for bash: timeout_s must be at most 3600");
    assert_string_equal(hob_test_tool_check(t, "bash", "{\"command\":\"x\",\"background\":true}"),
                        "wrong arguments for bash: background is unknown");
}

static void test_tool_bash__commands_that_cannot_run_are_errors(void **state) {
    hob_test_tools *t = *state;
    hob_buf args;
    assert_answer(t, "{\"command\":\"echo \\u0000\"}", HOB_OUTCOME_ERROR,
                  "not run: the command contains a NUL byte");
    hob_buf_init(&args, 1 << 20);
    hob_buf_addz(&args, "{\"command\":\"");
    for (int i = 0; i < 200 * 1024; i++) hob_buf_addc(&args, 'x');
    hob_buf_addz(&args, "\"}");
    assert_answer(
        t, hob_buf_z(&args), HOB_OUTCOME_ERROR,
        "not run: the command is 204800 bytes long, at most 102400 are possible; write it "
        "to a file and run that, or give the data as stdin");
    hob_buf_finish(&args);
}

static void test_tool_bash__is_unsafe(void **state) {
    hob_test_tools *t = *state;
    assert_int_equal(hob_tools_find(t->tools, HOB_STR("bash"))->class_, HOB_TOOL_UNSAFE);
}

static void test_tool_bash__a_dropped_call_goes_on_and_does_no_harm(void **state) {
    hob_test_tools *t = *state;
    hob_test_tool_start(t, "bash", "{\"command\":\"echo ready; sleep 100\"}");
    hob_test_tool_until(t, "ready");
    hob_reply_drop(t->reply);
    hob_test_tool_cancel(t, 1);
    while (hob_test_processes_with(t->token)) hob_loop_run_once(t->loop, 10);
    while (hob_loop_run_once(t->loop, 0) > 0) {
    }
    assert_int_equal(t->done, 0);
}

static void test_tool_bash__destroying_the_tools_kills_and_answers(void **state) {
    hob_test_tools *t = *state;
    hob_test_tool_start(t, "bash", "{\"command\":\"echo ready; sleep 100\"}");
    hob_test_tool_until(t, "ready");
    hob_builtins_destroy(t->builtins);
    t->builtins = NULL;
    hob_test_tool_wait(t);
    assert_int_equal(t->outcome, HOB_OUTCOME_CANCELLED);
    assert_str(hob_buf_str(&t->text), "ready\ncancelled");
    assert_true(hob_test_processes_gone(t->token));
}

#define T(name) cmocka_unit_test_setup_teardown(name, hob_test_tools_setup, hob_test_tools_teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        T(test_tool_bash__gives_the_output),
        T(test_tool_bash__no_output_is_said),
        T(test_tool_bash__a_failure_is_an_error_with_its_code),
        T(test_tool_bash__a_signal_is_named),
        T(test_tool_bash__it_is_bash),
        T(test_tool_bash__runs_in_the_root_or_a_folder_beneath),
        T(test_tool_bash__does_not_run_outside),
        T(test_tool_bash__reads_stdin),
        T(test_tool_bash__every_call_is_a_fresh_shell),
        T(test_tool_bash__what_it_leaves_behind_is_gone),
        T(test_tool_bash__a_time_out_keeps_the_output),
        T(test_tool_bash__the_host_sets_the_usual_time_out),
        T(test_tool_bash__a_cancel_keeps_the_output),
        T(test_tool_bash__a_cancel_of_another_call_changes_nothing),
        T(test_tool_bash__output_comes_while_it_runs),
        T(test_tool_bash__live_output_is_throttled),
        T(test_tool_bash__long_output_keeps_both_ends),
        T(test_tool_bash__a_gib_of_output_needs_no_memory),
        T(test_tool_bash__output_that_is_not_utf8_is_repaired),
        T(test_tool_bash__commands_see_the_environment_given),
        T(test_tool_bash__arguments_have_bounds),
        T(test_tool_bash__commands_that_cannot_run_are_errors),
        T(test_tool_bash__is_unsafe),
        T(test_tool_bash__a_dropped_call_goes_on_and_does_no_harm),
        T(test_tool_bash__destroying_the_tools_kills_and_answers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
