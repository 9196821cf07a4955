/* ctest: labels=threads timeout=900 */
/*
 * Kills the program at every point while two children work in git worktrees of their own, one of which changes
 * something; resumes it until it has ended. Then
 *   - the repository has the worktree and the branch of the one with changes, and no other;
 *   - what that one wrote is there, and the caller's files are as they were;
 *   - every child has exactly one end in the parent's log, and its worktree is said to be made once.
 *
 * The points between the commands of git are walked, too; a command itself is killed with the program. Every seventh
 * point in `make test`, all of them with HOB_LONG=1.
 */
#include <hob/hob.h>

#include "support/check.h"
#include "support/cli.h"
#include "support/crash.h"
#include "support/repo.h"

#include <stdio.h>
#include <stdlib.h>

#define CHILD "'system':{'contains':'work as a sub-agent'}"
#define APART(prompt)                                                                              \
    "{'tool':'task','args':{'agent':'general','prompt':'" prompt "','isolation':'worktree'}}"

static const char script[] =
    "{'rules':["
    "{'when':{" CHILD ",'user':'change','step':1},"
    "'reply':[{'tool':'write','args':{'path':'a.txt','content':'mine'}}]},"
    "{'when':{" CHILD ",'step':1},'reply':[{'tool':'read','args':{'path':'a.txt'}}]},"
    "{'when':{" CHILD "},'reply':[{'text':'done'}]},"
    "{'when':{'step':1},'reply':[" APART("change") "," APART(
        "look") "]},"
                "{'reply':[{'text':'both are done'}]}]}";

#define RUN                                                                                        \
    "cd project && exec \"$HOB\" -p --json --permission-mode yolo -m scripted:../script.json "

static int count(hob_str log, const char *word) {
    int n = 0;
    for (ptrdiff_t at; (at = hob_str_find(log, hob_str_z(word))) >= 0; n++)
        log = hob_str_skip(log, (size_t)at + 1);
    return n;
}

static bool has_session(hob_test_cli *c) {
    hob_test_shell(c, "cd project && exec \"$HOB\" sessions show --json apart");
    return count(hob_buf_str(&c->out), "\"type\":\"run_started\"") > 0;
}

static void check_end(hob_test_cli *c) {
    assert_true(has_session(c));
    hob_str log = hob_buf_str(&c->out);
    assert_int_equal(count(log, "\"type\":\"settled\""), 1);
    assert_int_equal(count(log, "\"type\":\"child_started\""), 2);
    assert_int_equal(count(log, "\"type\":\"child_finished\""), 2);
    if (count(log, "\"status\":\"completed\"") != 4) fail_msg("%s", hob_buf_z(&c->out));
    assert_int_equal(count(log, "\"state\":\"kept\""), 1);
    assert_int_equal(count(log, "\"state\":\"removed\""), 1);
    assert_string_equal(
        repo_says(&c->folder, "project",
                  "git worktree list | wc -l; git branch --list 'hob/*' | wc -l; "
                  "git status -s; cat a.txt; ls ../home/state/worktrees/apart | wc -l; "
                  "cat ../home/state/worktrees/apart/task-*/a.txt"),
        "2\n1\none\n2\nmine");
}

static bool walk_point(hob_test_cli *c, long n) {
    crash_desk(c, script, n);
    repo_make(&c->folder, "project");
    bool killed = hob_test_shell(c, RUN "--session-id apart go") == 137;
    c->nenv = 0;
    if (killed && !has_session(c)) return true; /* it died before the prompt was accepted */
    if (killed && !hob_test_out_has(c, "\"type\":\"settled\""))
        assert_int_equal(hob_test_shell(c, RUN "-r apart"), 0);
    check_end(c);
    return killed;
}

static void test_harness_crash_worktree__every_point(void **state) {
    hob_test_cli *c = *state;
    long k = getenv("HOB_LONG") ? 1 : 7, n, points = 0;
    for (n = 1; walk_point(c, n); n += k) points++;
    print_message("crash points with worktrees: %ld walked, every %ld-th of about %ld\n", points, k,
                  n - 1);
    assert_true(points * k > 100);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test_setup_teardown(
        test_harness_crash_worktree__every_point, hob_test_cli_setup, hob_test_cli_teardown)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
