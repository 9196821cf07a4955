/* ctest: labels=threads timeout=900 */
/*
 * Kills the program at every point while three children are at work, and one more in the background; resumes it until
 * it has ended. Then
 *   - the tree is complete: every child that the parent's log has is stored, and no other;
 *   - every child has exactly one end in the parent's log, and its own runs have ended;
 *   - what a child did outside hob (a line in a file) happened at most once, and exactly once if its log says ok.
 *
 * Every third point in `make test`, all of them with HOB_LONG=1.
 */
#include <hob/hob.h>

#include "support/check.h"
#include "support/cli.h"
#include "support/crash.h"

#include <stdio.h>
#include <stdlib.h>

#define CHILD "'system':{'contains':'work as a sub-agent'}"
#define TASK(prompt, more)                                                                         \
    "{'tool':'task','args':{'agent':'general','prompt':'" prompt "'" more "}}"

static const char script[] =
    "{'rules':["
    "{'when':{" CHILD
    ",'step':1},'reply':[{'tool':'bash','args':{'command':'echo ran >> {{user}}'}}]},"
    "{'when':{" CHILD "},'reply':[{'text':'{{user}} is done'}]},"
    "{'when':{'user':'background'},'reply':[{'text':'all four are done'}]},"
    "{'when':{'step':1},'reply':[" TASK("one", "") "," TASK("two", "") "," TASK(
        "three", "") "]},"
                     "{'when':{'step':2},'reply':[" TASK(
                         "four", ",'background':true") "]},"
                                                       "{'reply':[{'text':'and now I wait'}]}]}";

enum { CHILDREN = 4 };
static const char *const names[CHILDREN] = {"one", "two", "three", "four"};

#define ARGS "-p", "--json", "--permission-mode", "yolo", "-m", "scripted:script.json"

/* ---- the log, through the library -------------------------------------------------------------------------- */

typedef struct facts {
    int top, children; /* stored sessions */
    int started, ended, runs, ends, settled, ok;
    char root[64];
} facts;

static bool is(const hob_json *e, const char *type) {
    return hob_str_eqz(hob_json_get_str(e, "type"), type);
}

static void count_events(hob_runtime *rt, const char *id, bool root, facts *f) {
    hob_page *p;
    hob_arena *a = hob_arena_create(0);
    assert_true(hob_runtime_events(rt, id, 0, 1000, &p, NULL) >= 0);
    for (size_t i = 0; i < hob_page_count(p); i++) {
        const hob_json *e;
        assert_true(hob_json_parse(a, hob_page_row(p, i), NULL, &e, NULL) >= 0);
        const hob_json *d = hob_json_get(e, "data");
        f->started += is(e, "child_started");
        f->ended += is(e, "child_finished");
        f->runs += is(e, "run_started");
        f->ends += is(e, "run_finished");
        f->settled += root && is(e, "settled");
        f->ok += is(e, "tool_finished") && hob_str_eqz(hob_json_get_str(d, "tool"), "bash") &&
                 hob_str_eqz(hob_json_get_str(d, "outcome"), "ok");
    }
    hob_page_destroy(p);
    hob_arena_destroy(a);
}

static void look(hob_test_cli *c, facts *f) {
    hob_runtime_opts o = HOB_RUNTIME_OPTS_INIT;
    hob_page_opts all = HOB_PAGE_OPTS_INIT;
    char store[256];
    hob_runtime *rt;
    hob_error err;
    hob_page *p;
    *f = (facts){.top = 0};
    snprintf(store, sizeof store, "sqlite:%s/home/state/hob.db", c->folder.path);
    if (!hob_test_content(&c->folder, "home/state/hob.db").n) return;
    o.store = store;
    assert_ok(hob_runtime_create(&o, &rt, &err), err);
    all.flags = HOB_PAGE_ALL;
    assert_ok(hob_runtime_sessions(rt, &all, &p, &err), err);
    for (size_t i = 0; i < hob_page_count(p); i++) {
        char id[64], parent[64];
        hob_json_field(hob_page_row(p, i), "id", id, sizeof id);
        bool child = hob_json_field(hob_page_row(p, i), "parent", parent, sizeof parent) > 0;
        f->children += child;
        f->top += !child;
        if (!child) snprintf(f->root, sizeof f->root, "%s", id);
        count_events(rt, id, !child, f);
    }
    hob_page_destroy(p);
    hob_runtime_destroy(rt);
}

/* ---- one point ---------------------------------------------------------------------------------------------------- */

static int count_lines(hob_str s) {
    int n = 0;
    for (size_t i = 0; i < s.n; i++) n += s.p[i] == '\n';
    return n;
}

static void check_end(hob_test_cli *c, const facts *f) {
    int ran = 0;
    for (int i = 0; i < CHILDREN; i++) {
        int lines = count_lines(hob_test_content(&c->folder, names[i]));
        assert_true(lines <= 1);
        ran += lines;
    }
    assert_int_equal(f->top, 1);
    assert_int_equal(f->settled, 1);
    assert_int_equal(f->started, CHILDREN);
    assert_int_equal(f->ended, CHILDREN);
    assert_int_equal(f->children, CHILDREN);
    assert_int_equal(f->runs, f->ends);
    assert_true(ran >= f->ok);
}

static bool walk_point(hob_test_cli *c, long n) {
    facts f;
    crash_desk(c, script, n);
    bool killed = HOB_RUN(c, NULL, ARGS, "go") == 137;
    c->nenv = 0;
    look(c, &f);
    if (!f.runs) return killed; /* it died before the prompt was accepted */
    if (!f.settled) assert_int_equal(HOB_RUN(c, NULL, ARGS, "-r", f.root), 0);
    look(c, &f);
    check_end(c, &f);
    return killed;
}

static void test_harness_crash_tree__every_point(void **state) {
    hob_test_cli *c = *state;
    long k = getenv("HOB_LONG") ? 1 : 3, n, points = 0;
    for (n = 1; walk_point(c, n); n += k) points++;
    print_message("crash points with children: %ld walked, every %ld-th of about %ld\n", points, k,
                  n - 1);
    assert_true(points * k > 100);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test_setup_teardown(
        test_harness_crash_tree__every_point, hob_test_cli_setup, hob_test_cli_teardown)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
