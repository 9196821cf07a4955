/* Back to before a run, in both stores. */
#include "support/check.h"
#include "support/stateful.h"

#include <stdio.h>

static const char *store;

typedef struct fixture {
    host r;
    hob_tool tool;
    char got[1024], run[3][80];
} fixture;

static const char script[] =
    "{'rules':["
    "{'when':{'user':'one','step':1},'reply':[{'tool':'set','args':{'delta':{'first':1,'app:a':1}}}]},"
    "{'when':{'user':'two','step':1},'reply':[{'tool':'set','args':{'delta':{'made':2,'begun':2,"
    "'first':2,'app:a':2,'user:u':2},'removed':['gone']}}]},"
    "{'when':{'user':'wait','step':1},'reply':[{'tool':'wait','args':{}}]},"
    "{'reply':[{'text':'said {{user}}'}]}]}";

static int add_pair(hob_str key, hob_str value, void *user) {
    fixture *f = user;
    size_t n = strlen(f->got);
    snprintf(f->got + n, sizeof f->got - n, "%s%.*s=%.*s", n ? " " : "", HOB_FMT(key),
             HOB_FMT(value));
    return 0;
}

static const char *all(fixture *f) {
    f->got[0] = 0;
    assert_int_equal(hob_session_state_iterate(f->r.s, HOB_SCOPE_ALL, add_pair, f), 0);
    return f->got;
}

static const char *messages(fixture *f) {
    hob_page *p;
    char text[64];
    f->got[0] = 0;
    assert_ok(hob_session_history(f->r.s, &p, &f->r.err), f->r.err);
    for (size_t i = 0; i < hob_page_count(p); i++) {
        hob_arena *a = hob_arena_create(0);
        const hob_json *e;
        assert_true(hob_json_parse(a, hob_page_row(p, i), NULL, &e, NULL) >= 0);
        const hob_json *content = hob_json_get(hob_json_get(e, "data"), "content");
        hob_str_out(hob_json_get_str(hob_json_first(content), "text"), text, sizeof text);
        size_t n = strlen(f->got);
        if (text[0]) snprintf(f->got + n, sizeof f->got - n, "%s%s", n ? " | " : "", text);
        hob_arena_destroy(a);
    }
    hob_page_destroy(p);
    return f->got;
}

static void prompt(fixture *f, int i, const char *text) {
    assert_string_equal(host_prompt(&f->r, text), "completed");
    assert_true(
        hob_json_field(hob_result_json(f->r.result), "run_id", f->run[i], sizeof f->run[i]) > 0);
}

static void three_runs(fixture *f) {
    host_init(&f->r, script);
    f->r.ro.store = store;
    stateful_tool(&f->r, &f->tool);
    f->r.so.state = hob_str_z("{\"begun\":0,\"gone\":0}");
    host_open(&f->r);
    f->r.so.state = hob_str_z("");
    prompt(f, 0, "one");
    prompt(f, 1, "two");
    prompt(f, 2, "three");
}

static int rewind_to(fixture *f, const char *run) {
    return hob_session_rewind(f->r.s, hob_str_z(run), &f->r.err);
}

static void test_session_rewind__case_21_before_the_second_run(void **state) {
    fixture f;
    (void)state;
    three_runs(&f);
    assert_ok(rewind_to(&f, f.run[1]), f.r.err);
    for (int i = 0; i < 2; i++) {
        assert_string_equal(all(&f), "app:a=2 begun=0 first=1 gone=0 user:u=2");
        assert_string_equal(messages(&f), "one | absent | said one");
        if (!strcmp(store, "sqlite")) host_reopen(&f.r, HOB_UNFINISHED_SETTLE);
    }
    assert_int_equal(host_count(&f.r, "branch_moved"), 1);
    assert_int_equal(host_count(&f.r, "state_changed"), 4);
    assert_string_equal(host_prompt(&f.r, "four"), "completed");
    assert_string_equal(messages(&f), "one | absent | said one | four | said four");
    host_finish(&f.r);
}

static void test_session_rewind__before_the_first_nothing_was_said(void **state) {
    fixture f;
    (void)state;
    three_runs(&f);
    assert_ok(rewind_to(&f, f.run[0]), f.r.err);
    assert_string_equal(all(&f), "app:a=2 begun=0 gone=0 user:u=2");
    assert_string_equal(messages(&f), "");
    assert_string_equal(host_prompt(&f.r, "four"), "completed");
    host_finish(&f.r);
}

static void test_session_rewind__and_back_again(void **state) {
    fixture f;
    (void)state;
    three_runs(&f);
    assert_ok(rewind_to(&f, f.run[1]), f.r.err);
    prompt(&f, 0, "four");
    assert_ok(rewind_to(&f, f.run[2]), f.r.err); /* on the path that was left */
    assert_string_equal(all(&f), "app:a=2 begun=2 first=2 made=2 user:u=2");
    assert_string_equal(messages(&f), "one | absent | said one | two | absent | said two");
    host_finish(&f.r);
}

static void test_session_rewind__where_nothing_differs_no_state_is_said(void **state) {
    fixture f;
    (void)state;
    three_runs(&f);
    assert_ok(rewind_to(&f, f.run[2]), f.r.err);
    assert_int_equal(host_count(&f.r, "state_changed"), 3);
    host_finish(&f.r);
}

static void test_session_rewind__refusals(void **state) {
    fixture f;
    gate g;
    (void)state;
    three_runs(&f);
    assert_int_equal(rewind_to(&f, "run-none"), HOB_ENOENT);
    assert_int_equal(host_count(&f.r, "branch_moved"), 0);
    gate_init(&g, "wait", HOB_TOOL_READ_ONLY);
    assert_ok(hob_session_add_tool(f.r.s, &g.tool, &f.r.err), f.r.err);
    assert_ok(hob_session_prompt(f.r.s, hob_str_z("wait"), &f.r.err), f.r.err);
    gate_wait_started(&g, 1);
    assert_int_equal(rewind_to(&f, f.run[1]), HOB_EBUSY);
    gate_answer(&g, "x");
    host_wait(&f.r);
    gate_finish(&g);
    host_finish(&f.r);
}

#define T(name) cmocka_unit_test(test_session_rewind__##name)

int main(void) {
    const struct CMUnitTest tests[] = {
        T(case_21_before_the_second_run),
        T(before_the_first_nothing_was_said),
        T(and_back_again),
        T(where_nothing_differs_no_state_is_said),
        T(refusals),
    };
    store = "memory";
    int failed = cmocka_run_group_tests_name("memory", tests, NULL, NULL);
    store = "sqlite";
    return failed + cmocka_run_group_tests_name("sqlite", tests, NULL, NULL);
}
