/* ctest: labels=threads timeout=600 */
/*
 * Kills a program with callbacks and with a tool whose work goes on elsewhere at every point where something is about to
 * happen or has just happened, and looks whether anything was lost, doubled or left open.
 *
 * The session's callbacks change the state at every point, and after_tool takes out what nobody may see. The model makes a
 * call that may not be repeated, then one of which there is only a receipt; the program brings the result. For every
 * point the program dies, is started again, and comes to its end. Then
 *   - the call that may not be repeated ran at most once, the one that went on elsewhere has exactly one last word;
 *   - what after_tool took out is nowhere in the log;
 *   - the state and the final answer are the same as undisturbed.
 */
#include "support/check.h"
#include "support/crash.h"
#include "support/wire_rules.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static const char script[] = "{'rules':[{'when':{'step':1},'reply':[{'tool':'danger'}]},"
                             "{'when':{'step':2},'reply':[{'tool':'order'}]},"
                             "{'when':{'tool':'order','result':'a parcel'},"
                             "'reply':[{'text':'it came'}]}]}";

/* ---- the program ------------------------------------------------------------------------------------------- */

static void run_tool(const hob_tool_call *call, hob_reply *reply, void *user) {
    bool order = hob_str_eqz(call->tool, "order");
    FILE *out = fopen(hob_test_path(user, order ? "orders" : "effects"), "a");
    if (!out) _exit(3);
    fputs("ran\n", out);
    fclose(out);
    hob_reply_text(reply, HOB_OUTCOME_OK, hob_str_z(order ? "ticket" : "the number is 4711"));
}

static void set(hob_reply *reply, const char *delta) {
    hob_error err;
    crash_must(hob_reply_state(reply, hob_str_z(delta), hob_str_z(""), &err), &err, "state");
}

static void before_model(const hob_agent_call *call, hob_reply *reply, void *user) {
    (void)call, (void)user;
    set(reply, "{\"asked\":true}");
    hob_reply_pass(reply);
}

static void after_model(const hob_agent_call *call, hob_reply *reply, void *user) {
    (void)call, (void)user;
    set(reply, "{\"answered\":true}");
    hob_reply_pass(reply);
}

static void before_tool(const hob_agent_call *call, hob_reply *reply, void *user) {
    (void)call, (void)user;
    set(reply, "{\"called\":true}");
    hob_reply_pass(reply);
}

static void after_tool(const hob_agent_call *call, hob_reply *reply, void *user) {
    (void)user;
    if (hob_str_find(call->content, HOB_STR("4711")) >= 0)
        hob_reply_text(reply, HOB_OUTCOME_OK, hob_str_z("the number is there"));
    else
        hob_reply_pass(reply);
}

static const hob_agent_callbacks callbacks = {
    .size = sizeof callbacks,
    .before_model = before_model,
    .after_model = after_model,
    .before_tool = before_tool,
    .after_tool = after_tool,
};

static void bring_result(hob_session *s) {
    static const char parcel[] = "[{\"type\":\"text\",\"text\":\"a parcel\"}]";
    hob_page *p;
    hob_error err;
    crash_must(hob_session_pending_calls(s, &p, &err), &err, "pending");
    for (size_t i = 0; i < hob_page_count(p); i++) {
        hob_arena *a = hob_arena_create(0);
        const hob_json *row;
        crash_must(hob_json_parse(a, hob_page_row(p, i), NULL, &row, &err), &err, "row");
        crash_must(hob_session_tool_update(s, hob_json_get_str(row, "call"), HOB_UPDATE_RESULT,
                                           hob_str_z(parcel), &err),
                   &err, "update");
        crash_must(hob_session_wait(s, -1, NULL, &err), &err, "wait");
        hob_arena_destroy(a);
    }
    hob_page_destroy(p);
}

static void work(host *h) {
    hob_tool tools[2] = {host_tool("danger", HOB_TOOL_UNSAFE, NULL),
                         host_tool("order", HOB_TOOL_IDEMPOTENT, NULL)};
    for (size_t i = 0; i < 2; i++) {
        tools[i].run = run_tool;
        tools[i].user = &h->folder;
    }
    tools[1].flags = HOB_TOOL_LONG_RUNNING;
    h->so.tools = tools;
    h->so.ntools = 2;
    h->so.permission_mode = "yolo";
    h->so.flags = HOB_SESSION_NO_BUILTIN_TOOLS;
    h->so.callbacks = &callbacks;
    h->ro.store = "sqlite";
    crash_open(h, "one");
    if (!crash_write_log(h->s, NULL))
        crash_must(hob_session_prompt(h->s, hob_str_z("go"), &h->err), &h->err, "prompt");
    crash_must(hob_session_wait(h->s, -1, NULL, &h->err), &h->err, "wait");
    bring_result(h->s);
    crash_leave_log(h);
    host_close(h);
}

/* ---- what it left behind ------------------------------------------------------------------------------------ */

typedef struct facts {
    hob_view *view;
    int runs, ends, last_words, dangers, receipts;
    char answer[64];
} facts;

static void note(const hob_event *e, const hob_json *d, void *user) {
    facts *f = user;
    hob_str tool = hob_json_get_str(d, "tool");
    f->runs += e->type == HOB_EVENT_RUN_STARTED;
    f->ends += e->type == HOB_EVENT_RUN_FINISHED;
    f->last_words += e->type == HOB_EVENT_TOOL_UPDATED && hob_json_get_bool(d, "final", false);
    if (e->type == HOB_EVENT_TOOL_FINISHED) {
        f->dangers += hob_str_eqz(tool, "danger");
        f->receipts += hob_json_get_bool(d, "pending", false);
    }
    if (e->type == HOB_EVENT_ASSISTANT_MESSAGE) hob_event_text(e, f->answer, sizeof f->answer);
}

static void read_log(host *h, facts *f) {
    *f = (facts){.view = hob_view_create()};
    assert_true(hob_str_find(hob_test_content(&h->folder, "log"), HOB_STR("4711")) < 0);
    crash_read_log(h, f->view, note, f);
}

static size_t lines(host *h, const char *name) {
    return hob_test_content(&h->folder, name).n / strlen("ran\n");
}

static void check_end(host *h, const facts *f) {
    static const char *const keys[] = {"asked", "answered", "called"};
    hob_str value;
    for (size_t i = 0; i < HOB_ARRAY_LEN(keys); i++)
        if (i < 2 || f->receipts) /* before_tool of a call that is unknown may have been lost */
            assert_int_equal(hob_state_get(&f->view->state, hob_str_z(keys[i]), &value), HOB_OK);
    assert_true(lines(h, "effects") <= 1);
    assert_int_equal(f->dangers, 1);
    assert_int_equal(f->receipts, 1);
    assert_int_equal(f->last_words, 1);
    assert_int_equal(f->runs, f->ends);
    assert_string_equal(f->answer, "it came");
    hob_test_wire_rules(f->view->history);
}

static bool walk_point(long at) {
    host h;
    facts f;
    host_init(&h, script);
    bool killed = crash_fork(&h, work, at);
    if (killed) assert_false(crash_fork(&h, work, 0));
    read_log(&h, &f);
    check_end(&h, &f);
    hob_view_destroy(f.view);
    host_finish(&h);
    return killed;
}

static void test_harness_crash_callbacks__every_point(void **state) {
    long k = crash_step(1), n, points = 0;
    (void)state;
    for (n = 1; walk_point(n); n += k) points++;
    print_message("crash points: %ld walked, every %ld-th of about %ld\n", points, k, n - 1);
    assert_true(points * k > 40);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_harness_crash_callbacks__every_point),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
