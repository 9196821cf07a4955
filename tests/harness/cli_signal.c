/* Signals: the run is cancelled and recorded, the result is printed, the exit code says which. */
#include "support/cli.h"

#include "support/check.h"
#include "support/process.h"

#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#define MODEL "-m", "scripted:s.json"
#define SCRIPT                                                                                     \
    "{'rules': [{'when': {'user': 'hang'}, 'reply': [{'text': 'some words'}, {'wait': true}]},"    \
    " {'when': {'user': 'flood'}, 'reply': [{'repeat': {'times': 20000, 'reply': [{'chunk': 0,"    \
    "   'text': '0123456789012345678901234567890123456789'}]}}, {'wait': true}]},"                 \
    " {'when': {'user': 'stubborn', 'step': 1}, 'reply': [{'tool': 'bash', 'args': {'command':"    \
    "   'trap : TERM INT; echo began; while :; do sleep 1; done'}}]}],"                            \
    " 'otherwise': [{'text': '{{user}}'}]}"

static int setup(void **state) {
    hob_test_cli_setup(state);
    hob_test_quoted_file(*state, "s.json", SCRIPT);
    return 0;
}

static void stop_with(hob_test_cli *c, int number, int code) {
    HOB_START(c, "-p", "--json", "--session-id", "a", MODEL, "hang");
    hob_test_close_in(c);
    hob_test_until(c, "some words");
    kill(c->pid, number);
    assert_int_equal(hob_test_end(c), code);
    const hob_json *r = hob_test_line(c, -1);
    assert_str(hob_json_get_str(r, "type"), "result");
    assert_str(hob_json_get_str(r, "status"), "cancelled");
    assert_str(hob_json_get_str(r, "text"), "some words");
}

static void test_cli_signal__interrupt(void **state) {
    hob_test_cli *c = *state;
    stop_with(c, SIGINT, 130);
    assert_int_equal(HOB_RUN(c, NULL, "sessions", "show", "a", "--json"), 0);
    const hob_json *end = hob_json_get(hob_test_typed(c, "run_finished", 0), "data");
    assert_str(hob_json_get_str(end, "status"), "cancelled");
}

static void test_cli_signal__terminate(void **state) {
    stop_with(*state, SIGTERM, 143);
}

static void test_cli_signal__the_second_one_aborts(void **state) {
    hob_test_cli *c = *state;
    char token[64];
    snprintf(token, sizeof token, "HOB_TEST_TOKEN=cli-%d", (int)getpid());
    hob_test_env(c, token);
    HOB_START(c, "-p", "--json", "--permission-mode", "yolo", MODEL, "stubborn");
    hob_test_close_in(c);
    hob_test_until(c, "\"tool_output_delta\"");
    kill(c->pid, SIGINT);
    hob_test_until(c, "\"cancel_requested\"");
    kill(c->pid, SIGINT);
    assert_int_equal(hob_test_end(c), 130);
    assert_str(hob_json_get_str(hob_test_line(c, -1), "status"), "cancelled");
    assert_true(hob_test_processes_gone(token));
}

/* Sends it, and waits until the program sleeps again: then it has taken note. */
static void signal_and_settle(hob_test_cli *c, int number) {
    char path[64], state = 'R';
    snprintf(path, sizeof path, "/proc/%d/stat", (int)c->pid);
    kill(c->pid, number);
    for (int i = 0; i < 1000 && state != 'S' && state != 'Z'; i++) {
        FILE *f = fopen(path, "re");
        if (!f || fscanf(f, "%*d (%*[^)]) %c", &state) != 1) state = 'Z';
        if (f) fclose(f);
        usleep(10000);
    }
}

/* Nobody reads: the result cannot be printed, and the third signal does not wait for that. */
static void test_cli_signal__the_third_one_ends_it_on_the_spot(void **state) {
    hob_test_cli *c = *state;
    int status = 0, ended = 0;
    HOB_START(c, "-p", "--json", MODEL, "flood");
    hob_test_close_in(c);
    hob_test_until(c, "\"text_delta\"");
    for (int i = 0; i < 3; i++) signal_and_settle(c, SIGTERM);
    for (int i = 0; i < 1000 && !ended; i++) {
        ended = waitpid(c->pid, &status, WNOHANG);
        usleep(10000);
    }
    if (!ended) fail_msg("it still runs");
    c->pid = 0;
    assert_int_equal(WEXITSTATUS(status), 143);
}

static void test_cli_signal__while_standard_input_is_read(void **state) {
    hob_test_cli *c = *state;
    HOB_START(c, "-p", "--json", MODEL);
    hob_test_send(c, "begun");
    /* Whether it has read that or not: the signal ends the waiting, or comes before it. */
    kill(c->pid, SIGTERM);
    int code = hob_test_end(c);
    assert_int_equal(code, 143);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, hob_test_cli_teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_cli_signal__interrupt),
        TEST(test_cli_signal__terminate),
        TEST(test_cli_signal__the_second_one_aborts),
        TEST(test_cli_signal__the_third_one_ends_it_on_the_spot),
        TEST(test_cli_signal__while_standard_input_is_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
