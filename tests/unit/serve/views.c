/* What a client sees of a session, and that it can depend on it: revisions, references, cursors, filters. */
#include "support/check.h"
#include "support/desk.h"
#include "support/repo.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const char script[] =
    "{'rules':[{'when':{'user':'hang'},'reply':[{'text':'so far'},{'wait':true}]},"
    "{'when':{'user':'work','step':1},'reply':[{'tool':'bash','args':{'command':"
    "'until test -e go; do sleep 0.01; done'}}]},"
    "{'when':{'user':'work'},'reply':[{'text':'so far'},{'wait':true}]}],"
    "'otherwise':[{'text':'hello there'}]}";

static int setup(void **state) {
    return desk_setup(state, script);
}

static void close_session(desk *d, const char *id) {
    assert_status(d, desk_post(d, NULL, "/api/sessions/%s/close", id), 204);
}

/* ---- state ------------------------------------------------------------------------------------------------------- */

static void guarded(desk *d, const char *revision, int wanted) {
    char body[120];
    snprintf(body, sizeof body, "{'delta':{'b':2},'revision':%s}", revision);
    assert_status(d, desk_call(d, "PATCH", body, "/api/sessions/one/state"), wanted);
}

static void test_serve_views__a_closed_session_has_a_revision_that_guards(void **state) {
    desk *d = *state;
    char revision[32];
    assert_status(d, desk_post(d, "{'id':'one','state':{'a':1,'user:x':2}}", "/api/sessions"), 201);
    close_session(d, "one");
    assert_status(d, desk_get(d, "/api/sessions/one/state"), 200);
    snprintf(revision, sizeof revision, "%s", client_field(&d->c, "revision"));
    guarded(d, revision, 200);
    guarded(d, revision, 409);
    assert_string_not_equal(client_field(&d->c, "error.message"), "");
}

/* Open, let go of, or after a restart: the same state has the same revision. */
static void test_serve_views__a_revision_is_of_what_the_state_is(void **state) {
    desk *d = *state;
    char open[32], closed[32];
    assert_status(d, desk_post(d, "{'id':'one','state':{'a':1}}", "/api/sessions"), 201);
    assert_status(d, desk_get(d, "/api/sessions/one/state"), 200);
    snprintf(open, sizeof open, "%s", client_field(&d->c, "revision"));
    close_session(d, "one");
    assert_status(d, desk_get(d, "/api/sessions/one/state"), 200);
    snprintf(closed, sizeof closed, "%s", client_field(&d->c, "revision"));
    assert_string_equal(open, closed);
    desk_stop(d);
    desk_start(d);
    guarded(d, open, 200);
    assert_string_not_equal(client_field(&d->c, "revision"), open);
}

static void test_serve_views__if_match_is_the_same_guard(void **state) {
    static const char path[] = "/api/sessions/one/state";
    desk *d = *state;
    char header[80], bad[] = "If-Match: \"x\"\r\n";
    desk_session(d, "one");
    assert_status(d, desk_get(d, path), 200);
    snprintf(header, sizeof header, "If-Match: \"%s\"\r\n", client_field(&d->c, "revision"));
    const char *body = "{'delta':{'a':1}}";
    assert_status(d, client_call_with(&d->c, "PATCH", path, header, body), 200);
    assert_status(d, client_call_with(&d->c, "PATCH", path, header, body), 412);
    assert_status(d, client_call_with(&d->c, "PATCH", path, bad, body), 400);
    assert_status(d, client_call_with(&d->c, "PATCH", path, "If-Match: *\r\n", body), 200);
}

/* ---- messages ---------------------------------------------------------------------------------------------------- */

/* Every parent_entry is the entry of a row before it. */
static void expect_closed(desk *d) {
    char path[40], parent[40], last[40] = "";
    for (int i = 0;; i++) {
        snprintf(path, sizeof path, "messages.%d.entry", i);
        if (!*client_field(&d->c, path)) break;
        snprintf(path, sizeof path, "messages.%d.parent_entry", i);
        snprintf(parent, sizeof parent, "%s", client_field(&d->c, path));
        assert_string_equal(parent, last);
        snprintf(path, sizeof path, "messages.%d.entry", i);
        snprintf(last, sizeof last, "%s", client_field(&d->c, path));
    }
    assert_string_not_equal(last, "");
}

static void cut_off(desk *d) {
    desk_prompt(d, "one", "hang");
    tail *t = desk_tail(d, "one", 0, "");
    assert_true(tail_until(t, "text_delta"));
    assert_status(d, desk_post(d, NULL, "/api/sessions/one/cancel"), 204);
    assert_true(tail_until(t, "settled"));
    tail_close(t);
}

static void test_serve_views__an_answer_that_was_cut_off_is_a_message(void **state) {
    desk *d = *state;
    desk_session(d, "one");
    cut_off(d);
    desk_prompt(d, "one", "hi");
    desk_settle(d, "one");
    for (int open = 1; open >= 0; open--) {
        assert_status(d, desk_get(d, "/api/sessions/one/messages"), 200);
        assert_field(d, "messages.1.data.stop", "aborted");
        assert_field(d, "messages.1.data.content.0.text", "so far");
        assert_field(d, "messages.3.data.content.0.text", "hello there");
        assert_field(d, "messages.4.entry", "");
        expect_closed(d);
        if (open) close_session(d, "one");
    }
}

/* The same rows of a session that is open and of one that is not, which it stays. */
static void test_serve_views__looking_at_the_tree_opens_nothing(void **state) {
    desk *d = *state;
    char rows[2000];
    desk_session(d, "one");
    for (int i = 0; i < 2; i++) {
        desk_prompt(d, "one", "hi");
        desk_settle(d, "one");
        assert_status(d, desk_post(d, "{'entry':''}", "/api/sessions/one/move"), 204);
    }
    assert_status(d, desk_get(d, "/api/sessions/one/tree"), 200);
    assert_field(d, "entries.3.text", "hello there");
    assert_field(d, "entries.2.parent", "");
    assert_true(d->c.body.n < sizeof rows);
    snprintf(rows, sizeof rows, "%s", hob_buf_z(&d->c.body));
    close_session(d, "one");
    assert_status(d, desk_get(d, "/api/sessions/one/tree"), 200);
    assert_string_equal(hob_buf_z(&d->c.body), rows);
    assert_status(d, desk_get(d, "/api/sessions/one"), 200);
    assert_field(d, "live", "null");
}

/* ---- cursors ----------------------------------------------------------------------------------------------------- */

static void test_serve_views__a_cursor_beyond_the_log_is_refused(void **state) {
    desk *d = *state;
    char run[80], path[200];
    desk_session(d, "one");
    desk_prompt(d, "one", "hi");
    snprintf(run, sizeof run, "%s", client_field(&d->c, "run_id"));
    desk_settle(d, "one");
    assert_status(d, desk_get(d, "/api/sessions/one"), 200);
    int last = atoi(client_field(&d->c, "last_seq"));
    assert_status(d, desk_get(d, "/api/sessions/one/events?after=%d", last), 200);
    assert_status(d, desk_get(d, "/api/sessions/one/events?after=%d", last + 1), 409);
    assert_field(d, "error.code", "cursor_ahead");
    snprintf(path, sizeof path, "ends with event %d,", last);
    assert_non_null(strstr(client_field(&d->c, "error.message"), path));
    assert_status(d, desk_get(d, "/api/sessions/one/runs/%s/events?after=999", run), 409);
    tail *t = tail_open(d->port, DESK_TOKEN, "/api/sessions/one/events?after=999", NULL);
    assert_int_equal(tail_status(t), 409);
    tail_close(t);
    t = tail_open(d->port, DESK_TOKEN, "/api/sessions/one/events", "Last-Event-ID: 999\r\n");
    assert_int_equal(tail_status(t), 409);
    tail_close(t);
}

/* ---- the list as a stream ---------------------------------------------------------------------------------------- */

static void make_in(desk *d, const char *id, const char *folder) {
    char body[500];
    snprintf(body, sizeof body, "{'id':'%s','cwd':'%s%s'}", id, d->folder.path, folder);
    assert_status(d, desk_post(d, body, "/api/sessions"), 201);
}

static void expect_row(tail *t, const char *id) {
    char got[80];
    assert_true(tail_next(t));
    assert_string_equal(tail_event(t), "session");
    hob_json_field(tail_data(t), "id", got, sizeof got);
    assert_string_equal(got, id);
}

static void test_serve_views__the_live_list_keeps_to_its_folder(void **state) {
    desk *d = *state;
    char path[600], real[500];
    snprintf(path, sizeof path, "%s/sub", d->folder.path);
    assert_int_equal(mkdir(path, 0700), 0);
    make_in(d, "a1", "");
    make_in(d, "b1", "/sub");
    assert_status(d, desk_get(d, "/api/sessions/b1"), 200);
    snprintf(real, sizeof real, "%s", client_field(&d->c, "cwd"));
    snprintf(path, sizeof path, "/api/sessions?cwd=%s", real);
    tail *t = tail_open(d->port, DESK_TOKEN, path, NULL);
    expect_row(t, "b1");
    make_in(d, "a2", "");
    make_in(d, "b2", "/sub");
    do {
        assert_true(tail_next(t)); /* b1 may come again */
        hob_json_field(tail_data(t), "id", path, sizeof path);
        assert_int_equal(path[0], 'b');
    } while (strcmp(path, "b2") != 0);
    tail_close(t);
}

static void test_serve_views__the_live_list_begins_at_its_cursor(void **state) {
    desk *d = *state;
    char path[200];
    desk_session(d, "a1");
    desk_session(d, "a2");
    desk_session(d, "a3");
    assert_status(d, desk_get(d, "/api/sessions?limit=2"), 200);
    snprintf(path, sizeof path, "/api/sessions?cursor=%s", client_field(&d->c, "next"));
    tail *t = tail_open(d->port, DESK_TOKEN, path, NULL);
    expect_row(t, "a1");
    tail_close(t);
    t = tail_open(d->port, DESK_TOKEN, "/api/sessions?cursor=nonsense", NULL);
    assert_int_equal(tail_status(t), 400);
    tail_close(t);
}

/* Nothing looks around by itself here: what comes was told. */
static int setup_told(void **state) {
    desk *d = HOB_NEW(desk);
    desk_init(d, script);
    d->tick_ms = INT64_C(1000) * 3600;
    desk_start(d);
    *state = d;
    return 0;
}

static void await_state(tail *t, const char *wanted) {
    char got[40] = "";
    while (strcmp(got, wanted) != 0) {
        assert_true(tail_next_within(t, 10000)); /* before the next sign of life */
        hob_json_field(tail_data(t), "state", got, sizeof got);
    }
}

static void test_serve_views__the_live_list_knows_what_stands_and_goes_on(void **state) {
    desk *d = *state;
    char run[100], call[100];
    desk_session(d, "one");
    tail *t = tail_open(d->port, DESK_TOKEN, "/api/sessions", NULL);
    expect_row(t, "one");
    desk_prompt(d, "one", "work");
    await_state(t, "parked");
    assert_status(d, desk_get(d, "/api/sessions/one/approvals"), 200);
    snprintf(call, sizeof call, "%s", client_field(&d->c, "approvals.0.call"));
    snprintf(run, sizeof run, "%s", client_field(&d->c, "approvals.0.run_id"));
    assert_status(d, desk_post(d, "{'approved':true}", "/api/sessions/one/approvals/%s", call),
                  204);
    await_state(t, "running");
    assert_status(d, desk_post(d, NULL, "/api/sessions/one/runs/%s/pause", run), 204);
    hob_test_file(&d->folder, "go", HOB_STR("now"));
    await_state(t, "parked"); /* when the call is done */
    assert_status(d, desk_post(d, NULL, "/api/sessions/one/runs/%s/resume", run), 202);
    await_state(t, "running");
    tail_close(t);
}

/* ---- what is kept for the next who asks ------------------------------------------------------------------------- */

/* Each change is seen by the first who asks after it, and by those who ask again. */
static void test_serve_views__a_session_that_changed_is_not_shown_as_it_was(void **state) {
    desk *d = *state;
    char body[60], title[24];
    desk_session(d, "one");
    for (int i = 0; i < 20; i++) {
        snprintf(title, sizeof title, "title %d", i);
        snprintf(body, sizeof body, "{'title':'%s'}", title);
        assert_status(d, desk_call(d, "PATCH", body, "/api/sessions/one"), 200);
        for (int k = 0; k < 3; k++) {
            assert_status(d, desk_get(d, "/api/sessions/one"), 200);
            assert_field(d, "title", title);
        }
    }
    desk_prompt(d, "one", "hang");
    assert_status(d, desk_get(d, "/api/sessions/one"), 200);
    assert_field(d, "live.running", "true");
    assert_field(d, "state", "running");
    close_session(d, "one");
    assert_status(d, desk_get(d, "/api/sessions/one"), 200);
    assert_field(d, "live", "null");
    assert_status(d, desk_call(d, "DELETE", NULL, "/api/sessions/one"), 204);
    assert_status(d, desk_get(d, "/api/sessions/one"), 404);
}

/* ---- what outlives a session ------------------------------------------------------------------------------------- */

static const char apart[] =
    "{'rules':[{'when':{'system':{'contains':'work as a sub-agent'},'step':1},'reply':[{'tool':'write',"
    "'args':{'path':'a.txt','content':'mine'}}]},"
    "{'when':{'system':{'contains':'work as a sub-agent'}},'reply':[{'text':'done'}]},"
    "{'when':{'step':1},'reply':[{'tool':'task','args':{'agent':'general','prompt':'go',"
    "'isolation':'worktree'}}]}],'otherwise':[{'text':'hi'}]}";

static void test_serve_views__worktrees_that_stay_are_named(void **state) {
    desk *d = *state;
    char body[200];
    desk_finish(d);
    desk_init(d, apart);
    repo_make(&d->folder, "repo");
    d->so.max_mode = "yolo";
    desk_start(d);
    snprintf(body, sizeof body, "{'id':'one','permission_mode':'yolo','cwd':'%s/repo'}",
             d->folder.path);
    assert_status(d, desk_post(d, body, "/api/sessions"), 201);
    desk_prompt(d, "one", "go");
    desk_settle(d, "one");
    assert_status(d, desk_call(d, "DELETE", NULL, "/api/sessions/one"), 200);
    char branch[100];
    snprintf(branch, sizeof branch, "%s", client_field(&d->c, "kept.0.branch"));
    const char *name = strrchr(client_field(&d->c, "kept.0.folder"), '/');
    assert_string_equal(name + 1, strrchr(branch, '/') + 1);
    assert_field(d, "kept.1.folder", "");
    assert_non_null(strstr(repo_says(&d->folder, "repo", "git branch"), branch));
}

/* ---- how free it is ----------------------------------------------------------------------------------------------- */

static const char writes[] =
    "{'rules':[{'when':{'step':1},'reply':[{'tool':'write','args':{'path':'a.txt','content':'b'}}]}],"
    "'otherwise':[{'text':'done'}]}";

/* For what is decided from then on; also after the session was let go of. */
static void test_serve_views__the_permission_mode_can_be_changed(void **state) {
    desk *d = *state;
    desk_finish(d);
    desk_init(d, writes);
    desk_start(d);
    assert_status(d, desk_get(d, "/api/server"), 200);
    assert_field(d, "permission_mode", "ask");
    desk_session(d, "one");
    assert_field(d, "live.permission_mode", "ask");
    assert_status(d, desk_call(d, "PATCH", "{'permission_mode':'yolo'}", "/api/sessions/one"), 403);
    assert_status(d, desk_call(d, "PATCH", "{'permission_mode':'free'}", "/api/sessions/one"), 400);
    assert_status(
        d, desk_call(d, "PATCH", "{'permission_mode':'accept-edits'}", "/api/sessions/one"), 200);
    assert_field(d, "live.permission_mode", "accept-edits");
    desk_prompt(d, "one", "write it");
    desk_settle(d, "one");
    close_session(d, "one");
    assert_status(d, desk_call(d, "PATCH", "{'thinking':'low'}", "/api/sessions/one"), 200);
    assert_field(d, "live.permission_mode", "accept-edits");
}

/* A token that may not be as free stays outside from then on. */
static void test_serve_views__a_wider_mode_keeps_narrower_tokens_out(void **state) {
    desk *d = *state;
    desk_finish(d);
    desk_init(d, writes);
    desk_tokens(
        d, "{'tokens':[{'name':'ann','token':'ann-0123456789abcdef','principal':'us'},"
           "{'name':'bob','token':'bob-0123456789abcdef','principal':'us','max_mode':'ask'}]}");
    desk_start(d);
    d->c.token = "ann-0123456789abcdef";
    desk_session(d, "one");
    d->c.token = "bob-0123456789abcdef";
    assert_status(d, desk_call(d, "PATCH", "{'thinking':'low'}", "/api/sessions/one"), 200);
    d->c.token = "ann-0123456789abcdef";
    assert_status(
        d, desk_call(d, "PATCH", "{'permission_mode':'accept-edits'}", "/api/sessions/one"), 200);
    d->c.token = "bob-0123456789abcdef";
    assert_status(d, desk_call(d, "PATCH", "{'thinking':'low'}", "/api/sessions/one"), 403);
}

/* ---- models that are files --------------------------------------------------------------------------------------- */

static void test_serve_views__a_script_that_cannot_be_read_is_no_fault_of_the_server(void **state) {
    static const char *const paths[] = {"/script.json/x", "/absent"};
    desk *d = *state;
    char model[400];
    for (size_t i = 0; i < HOB_ARRAY_LEN(paths); i++) {
        desk_stop(d);
        snprintf(model, sizeof model, "\"scripted:%s%s\"", d->folder.path, paths[i]);
        assert_ok(hob_config_set(d->config, "model", hob_str_z(model), HOB_ORIGIN_FLAG, &d->err),
                  d->err);
        desk_start(d);
        assert_status(d, desk_post(d, "{}", "/api/sessions"), 404);
        assert_non_null(strstr(client_field(&d->c, "error.message"), "cannot read the script"));
    }
}

int main(void) {
#define T(name) cmocka_unit_test_setup_teardown(test_serve_views__##name, setup, desk_teardown)
    const struct CMUnitTest tests[] = {
        T(a_closed_session_has_a_revision_that_guards),
        T(a_revision_is_of_what_the_state_is),
        T(if_match_is_the_same_guard),
        T(an_answer_that_was_cut_off_is_a_message),
        T(looking_at_the_tree_opens_nothing),
        T(a_cursor_beyond_the_log_is_refused),
        T(the_live_list_keeps_to_its_folder),
        T(the_live_list_begins_at_its_cursor),
        cmocka_unit_test_setup_teardown(
            test_serve_views__the_live_list_knows_what_stands_and_goes_on, setup_told,
            desk_teardown),
        T(a_session_that_changed_is_not_shown_as_it_was),
        T(worktrees_that_stay_are_named),
        T(the_permission_mode_can_be_changed),
        T(a_wider_mode_keeps_narrower_tokens_out),
        T(a_script_that_cannot_be_read_is_no_fault_of_the_server),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
