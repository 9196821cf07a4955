/* ctest: labels=threads timeout=900 */
/*
 * Kills the program at every point while a child uses up what it was granted and asks for more, twice; resumes it until
 * it has ended. Then each request has one answer on both sides, what was granted was granted once, and the whole tree is
 * within its limit.
 *
 * Every second point in `make test`, all of them with HOB_LONG=1.
 */
#include <hob/hob.h>

#include "support/check.h"
#include "support/cli.h"
#include "support/crash.h"

#include <stdio.h>
#include <stdlib.h>

#define CHILD "'system':{'contains':'work as a sub-agent'}"

static const char script[] =
    "{'rules':["
    "{'when':{" CHILD ",'step':5},'reply':[{'text':'done at last'}]},"
    "{'when':{" CHILD "},'reply':[{'tool':'read','args':{'path':'no-{{turn}}'}}]},"
    "{'when':{'step':1},'reply':[{'tool':'task','args':{'agent':'general','prompt':'x'}}]},"
    "{'reply':[{'text':'got {{result}}'}]}]}";

#define ARGS "-p", "--json", "--max-turns", "8", "-m", "scripted:script.json"

static int count(const hob_test_cli *c, const char *word) {
    hob_str log = hob_buf_str(&c->out);
    int n = 0;
    for (ptrdiff_t at; (at = hob_str_find(log, hob_str_z(word))) >= 0; n++)
        log = hob_str_skip(log, (size_t)at + 1);
    return n;
}

static void show(hob_test_cli *c, const char *session) {
    HOB_RUN(c, NULL, "sessions", "show", "--json", session);
}

static void check_end(hob_test_cli *c) {
    char child[64] = "";
    show(c, "asker");
    assert_int_equal(count(c, "\"type\":\"settled\""), 1);
    assert_int_equal(count(c, "\"type\":\"child_finished\""), 1);
    assert_int_equal(count(c, "\"type\":\"budget_resolved\""), 2);
    assert_int_equal(count(c, "\"granted\":true,\"more\":{\"turns\":1}"), 2);
    const hob_json *last =
        hob_test_typed(c, "run_finished", (size_t)count(c, "\"run_finished\"") - 1);
    assert_str(hob_json_get_str(hob_json_get(last, "data"), "status"), "completed");
    assert_int_equal(hob_json_get_int(hob_json_get(last, "data"), "turns", 0), 7);
    const hob_json *end = hob_json_get(hob_test_typed(c, "child_finished", 0), "data");
    hob_str_out(hob_json_get_str(end, "child"), child, sizeof child);
    assert_str(hob_json_get_str(end, "status"), "completed");
    assert_int_equal(hob_json_get_int(end, "turns", 0), 5);
    show(c, child);
    assert_int_equal(count(c, "\"type\":\"budget_requested\""), 2);
    assert_int_equal(count(c, "\"type\":\"budget_resolved\""), 2);
    assert_int_equal(count(c, "\"granted\":true"), 2);
}

static bool walk_point(hob_test_cli *c, long n) {
    crash_desk(c, script, n);
    bool killed = HOB_RUN(c, NULL, ARGS, "--session-id", "asker", "go") == 137;
    c->nenv = 0;
    show(c, "asker");
    if (killed && !count(c, "\"type\":\"run_started\"")) return true;
    if (killed && !count(c, "\"type\":\"settled\""))
        assert_int_equal(HOB_RUN(c, NULL, ARGS, "-r", "asker"), 0);
    check_end(c);
    return killed;
}

static void test_harness_crash_budget__every_point(void **state) {
    hob_test_cli *c = *state;
    long k = getenv("HOB_LONG") ? 1 : 2, n, points = 0;
    for (n = 1; walk_point(c, n); n += k) points++;
    print_message("crash points with requests for more: %ld walked, every %ld-th of about %ld\n",
                  points, k, n - 1);
    assert_true(points * k > 100);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test_setup_teardown(
        test_harness_crash_budget__every_point, hob_test_cli_setup, hob_test_cli_teardown)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
