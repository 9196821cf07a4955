/* The sessions API over real sockets: every route, happy and not. */
#include "support/check.h"
#include "support/desk.h"

#include <hob/artifact.h>

#include <stdio.h>
#include <string.h>

static const char script[] =
    "{'rules':[{'when':{'user':{'prefix':'write'},'step':1},'reply':[{'tool':'write','args':"
    "{'path':'a.txt','content':'b'}}]},"
    "{'when':{'user':'hang'},'reply':[{'wait':true}]}],"
    "'otherwise':[{'text':'hello there'}]}";

static int setup(void **state) {
    return desk_setup(state, script);
}

/* ---- sessions ---------------------------------------------------------------------------------------------------- */

static void test_serve_api__a_session_is_made_listed_shown_and_removed(void **state) {
    desk *d = *state;
    assert_status(d, desk_post(d, "{'id':'one','title':'first'}", "/api/sessions"), 201);
    assert_field(d, "id", "one");
    assert_field(d, "title", "first");
    assert_field(d, "live.permission_mode", "ask");
    assert_status(d, desk_get(d, "/api/sessions"), 200);
    assert_field(d, "sessions.0.id", "one");
    assert_field(d, "next", "null");
    assert_status(d, desk_get(d, "/api/sessions/one"), 200);
    assert_field(d, "live.running", "false");
    assert_status(d, desk_call(d, "DELETE", NULL, "/api/sessions/one"), 204);
    assert_status(d, desk_get(d, "/api/sessions/one"), 404);
    assert_field(d, "error.code", "not_found");
}

static void test_serve_api__what_a_session_may_be_is_checked(void **state) {
    static const struct {
        const char *body;
        int status;
    } cases[] = {
        {"{'id':'a b'}", 400},
        {"{'titel':'x'}", 400},
        {"{'title':7}", 400},
        {"{'cwd':'relative'}", 400},
        {"{'cwd':'/'}", 403},
        {"{'cwd':'/nowhere/at/all'}", 403},
        {"{'permission_mode':'x'}", 400},
        {"{'permission_mode':'yolo'}", 403},
        {"{'agent':'nobody'}", 404},
        {"{'model':'no/such'}", 404},
        {"{'model':'scripted:/dev/ptmx'}", 403}, /* files of the server are no models */
        {"{'model':'recorded:/etc/passwd'}", 403},
        {"{'state':7}", 400},
        {"[]", 400},
        {"{", 400},
    };
    desk *d = *state;
    for (size_t i = 0; i < HOB_ARRAY_LEN(cases); i++)
        assert_status(d, desk_post(d, cases[i].body, "/api/sessions"), cases[i].status);
    assert_status(d, desk_get(d, "/api/sessions"), 200);
    assert_field(d, "sessions.0.id", "");
}

/* An id that no session can have leaves nothing behind. */
static void test_serve_api__an_id_that_is_too_long_is_refused(void **state) {
    desk *d = *state;
    char id[301], body[400];
    memset(id, 'x', 300);
    id[300] = 0;
    snprintf(body, sizeof body, "{'id':'%s'}", id);
    for (int i = 0; i < 3; i++) assert_status(d, desk_post(d, body, "/api/sessions"), 400);
    assert_status(d, desk_post(d, "{'text':'hi'}", "/api/sessions/%s/prompt", id), 404);
    id[129] = 0;
    assert_status(d, desk_post(d, "{'text':'hi'}", "/api/sessions/%s/prompt", id), 404);
}

static void test_serve_api__an_id_is_given_once(void **state) {
    desk *d = *state;
    desk_session(d, "one");
    assert_status(d, desk_post(d, "{'id':'one'}", "/api/sessions"), 409);
}

static void test_serve_api__pages_follow_each_other(void **state) {
    desk *d = *state;
    char path[300], seen[200] = "";
    desk_session(d, "a1");
    desk_session(d, "a2");
    desk_session(d, "a3");
    snprintf(path, sizeof path, "/api/sessions?limit=2");
    for (int i = 0; i < 2; i++) {
        assert_status(d, desk_get(d, "%s", path), 200);
        strcat(seen, client_field(&d->c, "sessions.0.id"));
        strcat(seen, client_field(&d->c, "sessions.1.id"));
        snprintf(path, sizeof path, "/api/sessions?limit=2&cursor=%s", client_field(&d->c, "next"));
    }
    assert_string_equal(seen, "a3a2a1");
    assert_status(d, desk_get(d, "/api/sessions?limit=0"), 400);
}

static void test_serve_api__title_and_thinking_change(void **state) {
    desk *d = *state;
    desk_session(d, "one");
    assert_status(d, desk_call(d, "PATCH", "{'title':'new','thinking':'low'}", "/api/sessions/one"),
                  200);
    assert_field(d, "title", "new");
    assert_field(d, "live.thinking", "low");
    assert_status(d, desk_call(d, "PATCH", "{'thinking':'deep'}", "/api/sessions/one"), 400);
    assert_status(d, desk_call(d, "PATCH", "{'model':'no/such'}", "/api/sessions/one"), 404);
}

static void test_serve_api__a_copy_has_the_conversation_and_its_own_id(void **state) {
    desk *d = *state;
    char copy[100];
    desk_session(d, "one");
    desk_prompt(d, "one", "hi");
    desk_settle(d, "one");
    assert_status(d, desk_post(d, "{'title':'copy'}", "/api/sessions/one/fork"), 201);
    snprintf(copy, sizeof copy, "%s", client_field(&d->c, "id"));
    assert_string_not_equal(copy, "one");
    assert_field(d, "forked_from", "one");
    assert_status(d, desk_get(d, "/api/sessions/%s/messages", copy), 200);
    assert_field(d, "messages.1.data.content.0.text", "hello there");
    desk_prompt(d, copy, "again");
    desk_settle(d, copy);
    assert_status(d, desk_get(d, "/api/sessions/one/messages"), 200);
    assert_field(d, "messages.2.type", "");
}

static void test_serve_api__a_copy_may_end_at_an_entry(void **state) {
    desk *d = *state;
    char entry[40], body[100];
    desk_session(d, "one");
    for (int i = 0; i < 2; i++) {
        desk_prompt(d, "one", "hi");
        desk_settle(d, "one");
    }
    assert_status(d, desk_get(d, "/api/sessions/one/messages"), 200);
    snprintf(entry, sizeof entry, "%s", client_field(&d->c, "messages.1.entry"));
    snprintf(body, sizeof body, "{'entry':'%s','id':'copy'}", entry);
    assert_status(d, desk_post(d, body, "/api/sessions/one/fork"), 201);
    assert_field(d, "id", "copy");
    assert_status(d, desk_get(d, "/api/sessions/copy/messages"), 200);
    assert_field(d, "messages.1.type", "assistant_message");
    assert_field(d, "messages.2.type", "");
    assert_status(d, desk_post(d, body, "/api/sessions/one/fork"), 409);
    assert_status(d, desk_post(d, "{'entry':'e999'}", "/api/sessions/one/fork"), 404);
}

static void test_serve_api__messages_are_found_by_their_words(void **state) {
    desk *d = *state;
    desk_session(d, "one");
    desk_prompt(d, "one", "a giraffe please");
    desk_settle(d, "one");
    assert_status(d, desk_get(d, "/api/search?q=giraffe"), 200);
    assert_field(d, "matches.0.session", "one");
    assert_status(d, desk_get(d, "/api/search?q=zebra"), 200);
    assert_field(d, "matches.0.session", "");
    assert_status(d, desk_get(d, "/api/search"), 400);
}

static void test_serve_api__artifacts_are_listed_and_fetched(void **state) {
    desk *d = *state;
    hob_artifact_item item = HOB_ARTIFACT_ITEM_INIT;
    desk_session(d, "one");
    assert_status(d, desk_post(d, NULL, "/api/sessions/one/close"), 204);
    item.name = HOB_STR("a/b.html");
    item.mime = "text/html";
    for (int i = 0; i < 2; i++) {
        item.bytes = i ? HOB_STR("<b>two</b>") : HOB_STR("one");
        assert_ok(hob_runtime_artifact_save(d->rt, "one", NULL, &item, &d->err), d->err);
    }
    assert_status(d, desk_get(d, "/api/sessions/one/artifacts"), 200);
    assert_field(d, "artifacts.0.name", "a/b.html");
    assert_field(d, "artifacts.0.version", "1");
    assert_status(d, desk_get(d, "/api/sessions/one/artifacts/x?name=a%%2Fb.html"), 200);
    assert_str(hob_buf_str(&d->c.body), "<b>two</b>");
    assert_non_null(strstr(hob_buf_z(&d->c.head), "Content-Disposition: attachment"));
    assert_status(d, desk_get(d, "/api/sessions/one/artifacts/x?name=a%%2Fb.html&version=0"), 200);
    assert_str(hob_buf_str(&d->c.body), "one");
    assert_status(d, desk_get(d, "/api/sessions/one/artifacts/none"), 404);
    assert_status(d, desk_get(d, "/api/sessions/one/artifacts/a%%2Fb.html?version=0"), 200);
    assert_str(hob_buf_str(&d->c.body), "one");
    assert_status(d, desk_get(d, "/api/sessions/one/artifacts/a/b.html"), 404);
    assert_status(d, desk_get(d, "/api/sessions/one/artifacts/..%%2F..%%2Fb.html"), 400);
}

static void test_serve_api__only_calls_and_artifacts_have_slashes(void **state) {
    static const char *const paths[] = {
        "/api/sessions/a%2Fone",
        "/api/sessions/..%2Fone",
        "/api/sessions/one%2Fstate",
        "/api/sessions/one/runs/a%2fb",
        "/api/sessions/one%2F/approvals",
        "/agui/a%2Fb/capabilities",
        "/api/sessions/one/artifacts/a%00b",
    };
    desk *d = *state;
    desk_session(d, "one");
    for (size_t i = 0; i < HOB_ARRAY_LEN(paths); i++)
        assert_status(d, desk_get(d, "%s", paths[i]), 400);
}

/* A session that was refused is not there, also not without its title. */
static void test_serve_api__a_bad_title_makes_no_session(void **state) {
    desk *d = *state;
    char body[1200] = "{'id':'two','title':'";
    size_t n = strlen(body);
    memset(body + n, 'x', 1001);
    memcpy(body + n + 1001, "'}", 3);
    desk_session(d, "one");
    static const char *const paths[] = {"/api/sessions", "/api/sessions/one/fork"};
    for (size_t i = 0; i < HOB_ARRAY_LEN(paths); i++) {
        assert_status(d, desk_post(d, "{'id':'two','title':'x\\ny'}", "%s", paths[i]), 400);
        assert_status(d, desk_post(d, body, "%s", paths[i]), 413);
        assert_status(d, desk_get(d, "/api/sessions/two"), 404);
    }
}

static void test_serve_api__a_title_needs_no_open_session(void **state) {
    desk *d = *state;
    desk_session(d, "one");
    assert_status(d, desk_post(d, NULL, "/api/sessions/one/close"), 204);
    assert_status(d, desk_call(d, "PATCH", "{'title':'new'}", "/api/sessions/one"), 200);
    assert_field(d, "title", "new");
    assert_field(d, "live", "null");
}

static void test_serve_api__a_closed_session_can_be_talked_to_again(void **state) {
    desk *d = *state;
    desk_session(d, "one");
    desk_prompt(d, "one", "hang");
    assert_status(d, desk_post(d, NULL, "/api/sessions/one/close"), 204);
    assert_status(d, desk_get(d, "/api/sessions/one"), 200);
    assert_field(d, "live", "null");
    assert_field(d, "state", "idle");
    desk_prompt(d, "one", "hi");
    desk_settle(d, "one");
}

static void test_serve_api__a_session_at_work_is_not_removed(void **state) {
    desk *d = *state;
    desk_session(d, "one");
    desk_prompt(d, "one", "hang");
    assert_status(d, desk_call(d, "DELETE", NULL, "/api/sessions/one"), 409);
    assert_status(d, desk_post(d, "{}", "/api/sessions/one/cancel"), 204);
    desk_settle(d, "one");
    assert_status(d, desk_call(d, "DELETE", NULL, "/api/sessions/one"), 204);
}

/* ---- messages ------------------------------------------------------------------------------------------------------ */

static void test_serve_api__a_prompt_says_its_run(void **state) {
    desk *d = *state;
    char run[80], seq[24];
    desk_session(d, "one");
    assert_status(d, desk_post(d, "{'text':'hi'}", "/api/sessions/one/prompt"), 202);
    assert_field(d, "status", "started");
    snprintf(run, sizeof run, "%s", client_field(&d->c, "run_id"));
    snprintf(seq, sizeof seq, "%s", client_field(&d->c, "seq"));
    desk_settle(d, "one");
    assert_status(d, desk_get(d, "/api/sessions/one/runs/%s", run), 200);
    assert_field(d, "status", "completed");
    assert_field(d, "first_seq", seq);
    assert_field(d, "result.status", "completed");
    assert_field(d, "result.text", "hello there");
    assert_field(d, "result.turns", "1");
    assert_status(d, desk_get(d, "/api/sessions/one/runs/%s/events", run), 200);
    assert_field(d, "events.0.type", "run_started");
    assert_field(d, "events.0.seq", seq);
    assert_field(d, "events.4.type", "run_finished");
    assert_field(d, "events.5.type", "settled");
    assert_field(d, "events.6.type", "");
    assert_field(d, "next", "null");
}

static void test_serve_api__events_of_a_run_come_in_pages(void **state) {
    desk *d = *state;
    char run[80], next[24] = "0";
    int n = 0;
    desk_session(d, "one");
    desk_prompt(d, "one", "hi");
    snprintf(run, sizeof run, "%s", client_field(&d->c, "run_id"));
    desk_settle(d, "one");
    while (strcmp(next, "null") != 0) {
        assert_status(
            d, desk_get(d, "/api/sessions/one/runs/%s/events?limit=1&after=%s", run, next), 200);
        n += client_field(&d->c, "events.0.type")[0] != 0;
        snprintf(next, sizeof next, "%s", client_field(&d->c, "next"));
    }
    assert_int_equal(n, 6);
}

static void test_serve_api__what_is_no_message_is_refused(void **state) {
    static const char *const bodies[] = {
        "{}",
        "{'text':''}",
        "{'text':7}",
        "{'text':'a','content':[]}",
        "{'content':{}}",
        "{'content':[{'type':'sound'}]}",
        "{'text':'a','when_busy':'later'}",
        "{'text':'a','whenbusy':'reject'}",
    };
    desk *d = *state;
    desk_session(d, "one");
    for (size_t i = 0; i < HOB_ARRAY_LEN(bodies); i++)
        assert_status(d, desk_post(d, bodies[i], "/api/sessions/one/prompt"), 400);
    assert_status(d, desk_post(d, "{'text':'a'}", "/api/sessions/one/steer"), 409);
    assert_field(d, "error.code", "idle");
    assert_status(d, desk_post(d, "{'text':'a'}", "/api/sessions/one/follow_up"), 409);
    assert_status(d, desk_post(d, "{'queue':'burn'}", "/api/sessions/one/cancel"), 400);
}

static void test_serve_api__blocks_are_a_message_too(void **state) {
    desk *d = *state;
    desk_session(d, "one");
    assert_status(
        d, desk_post(d, "{'content':[{'type':'text','text':'hi'}]}", "/api/sessions/one/prompt"),
        202);
    desk_settle(d, "one");
}

static void test_serve_api__the_same_key_is_the_same_message(void **state) {
    desk *d = *state;
    char first[400];
    desk_session(d, "one");
    for (int i = 0; i < 3; i++) {
        assert_status(d,
                      client_call_with(&d->c, "POST", "/api/sessions/one/prompt",
                                       "Idempotency-Key: k1\r\n", "{'text':'hi'}"),
                      202);
        if (i == 0) snprintf(first, sizeof first, "%s", hob_buf_z(&d->c.body));
        assert_string_equal(hob_buf_z(&d->c.body), first);
    }
    desk_settle(d, "one");
    assert_status(d, desk_get(d, "/api/sessions/one/runs"), 200);
    assert_field(d, "runs.1.id", "");
}

/* ---- runs ---------------------------------------------------------------------------------------------------------- */

static void test_serve_api__a_run_is_cancelled_once(void **state) {
    desk *d = *state;
    char run[80];
    desk_session(d, "one");
    desk_prompt(d, "one", "hang");
    snprintf(run, sizeof run, "%s", client_field(&d->c, "run_id"));
    assert_status(d, desk_post(d, NULL, "/api/sessions/one/runs/nope/cancel"), 404);
    assert_status(d, desk_post(d, NULL, "/api/sessions/one/runs/%s/cancel", run), 204);
    desk_settle(d, "one");
    assert_status(d, desk_post(d, NULL, "/api/sessions/one/runs/%s/cancel", run), 409);
    assert_status(d, desk_post(d, NULL, "/api/sessions/one/runs/%s/resume", run), 409);
    assert_status(d, desk_get(d, "/api/sessions/one/runs?status=cancelled"), 200);
    assert_field(d, "runs.0.id", run);
}

static void test_serve_api__a_run_of_another_session_is_not_there(void **state) {
    desk *d = *state;
    char run[80];
    desk_session(d, "one");
    desk_session(d, "two");
    desk_prompt(d, "one", "hi");
    snprintf(run, sizeof run, "%s", client_field(&d->c, "run_id"));
    assert_status(d, desk_get(d, "/api/sessions/two/runs/%s", run), 404);
    assert_status(d, desk_get(d, "/api/sessions/two/runs/%s/events", run), 404);
}

/* ---- views ----------------------------------------------------------------------------------------------------------- */

static void test_serve_api__state_changes_under_its_revision(void **state) {
    desk *d = *state;
    char revision[24], body[100];
    assert_status(d, desk_post(d, "{'id':'one','state':{'a':1}}", "/api/sessions"), 201);
    assert_status(d, desk_get(d, "/api/sessions/one/state"), 200);
    assert_field(d, "state.a", "1");
    snprintf(revision, sizeof revision, "%s", client_field(&d->c, "revision"));
    snprintf(body, sizeof body, "{'delta':{'b':[2]},'removed':['a'],'revision':%s}", revision);
    assert_status(d, desk_call(d, "PATCH", body, "/api/sessions/one/state"), 200);
    assert_field(d, "state.b.0", "2");
    assert_field(d, "state.a", "");
    assert_status(d, desk_call(d, "PATCH", body, "/api/sessions/one/state"), 409);
    assert_status(d, desk_call(d, "PATCH", "{'delta':[]}", "/api/sessions/one/state"), 400);
    assert_status(d, desk_call(d, "PATCH", "{}", "/api/sessions/one/state"), 400);
}

static void test_serve_api__a_session_shows_its_tools_tree_and_commands(void **state) {
    desk *d = *state;
    desk_session(d, "one");
    desk_prompt(d, "one", "hi");
    desk_settle(d, "one");
    assert_status(d, desk_get(d, "/api/sessions/one/tools"), 200);
    assert_string_not_equal(client_field(&d->c, "tools.0.schema.type"), "");
    assert_status(d, desk_get(d, "/api/sessions/one/tree"), 200);
    assert_field(d, "entries.1.text", "hello there");
    assert_status(d, desk_get(d, "/api/sessions/one/commands"), 200);
    assert_status(d, desk_get(d, "/api/sessions/one/subagents"), 200);
    assert_field(d, "subagents.0.id", "");
    assert_status(d, desk_post(d, NULL, "/api/sessions/one/subagents/none/cancel"), 404);
    assert_status(d, desk_get(d, "/api/sessions/one/calls"), 200);
    assert_status(d, desk_post(d, "{'outcome':'ok','text':'x'}", "/api/sessions/one/calls/none"),
                  404);
    assert_status(d, desk_post(d, "{'outcome':'x','text':'x'}", "/api/sessions/one/calls/none"),
                  400);
    assert_status(d, desk_get(d, "/api/models"), 200);
    assert_status(d, desk_get(d, "/api/agents"), 200);
}

static void test_serve_api__a_conversation_goes_on_from_another_entry(void **state) {
    desk *d = *state;
    char run[80];
    desk_session(d, "one");
    desk_prompt(d, "one", "hi");
    snprintf(run, sizeof run, "%s", client_field(&d->c, "run_id"));
    desk_settle(d, "one");
    assert_status(d, desk_post(d, "{'entry':'e999'}", "/api/sessions/one/move"), 404);
    assert_status(d, desk_post(d, "{}", "/api/sessions/one/move"), 400);
    assert_status(d, desk_post(d, "{'entry':''}", "/api/sessions/one/move"), 204);
    assert_status(d, desk_get(d, "/api/sessions/one/messages"), 200);
    assert_field(d, "messages.0.type", "");
    assert_status(d, desk_post(d, "{'run':'nope'}", "/api/sessions/one/rewind"), 404);
    desk_prompt(d, "one", "hi");
    snprintf(run, sizeof run, "%s", client_field(&d->c, "run_id"));
    desk_settle(d, "one");
    assert_status(d, desk_post(d, "{}", "/api/sessions/one/rewind"), 400);
    char body[120];
    snprintf(body, sizeof body, "{'run':'%s'}", run);
    assert_status(d, desk_post(d, body, "/api/sessions/one/rewind"), 204);
}

static void test_serve_api__a_page_of_events_goes_on_where_the_one_before_ended(void **state) {
    desk *d = *state;
    char next[24] = "0";
    int n = 0;
    desk_session(d, "one");
    desk_prompt(d, "one", "hi");
    desk_settle(d, "one");
    do {
        assert_status(d, desk_get(d, "/api/sessions/one/events?limit=2&after=%s", next), 200);
        for (int i = 0; i < 2; i++) {
            char path[40], want[24];
            snprintf(path, sizeof path, "events.%d.seq", i);
            snprintf(want, sizeof want, "%d", n + 1);
            if (!client_field(&d->c, path)[0]) break;
            assert_field(d, path, want);
            n++;
        }
        snprintf(next, sizeof next, "%s", client_field(&d->c, "next"));
    } while (strcmp(next, "null") != 0);
    assert_int_equal(n, 7);
    assert_status(d, desk_get(d, "/api/sessions/one/events?after=-1"), 400);
    assert_status(d, desk_get(d, "/api/sessions/one/events?until=noon"), 400);
}

#define T(name) cmocka_unit_test_setup_teardown(test_serve_api__##name, setup, desk_teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        T(a_session_is_made_listed_shown_and_removed),
        T(what_a_session_may_be_is_checked),
        T(an_id_is_given_once),
        T(an_id_that_is_too_long_is_refused),
        T(pages_follow_each_other),
        T(title_and_thinking_change),
        T(a_copy_has_the_conversation_and_its_own_id),
        T(a_copy_may_end_at_an_entry),
        T(messages_are_found_by_their_words),
        T(artifacts_are_listed_and_fetched),
        T(only_calls_and_artifacts_have_slashes),
        T(a_bad_title_makes_no_session),
        T(a_title_needs_no_open_session),
        T(a_closed_session_can_be_talked_to_again),
        T(a_session_at_work_is_not_removed),
        T(a_prompt_says_its_run),
        T(events_of_a_run_come_in_pages),
        T(what_is_no_message_is_refused),
        T(blocks_are_a_message_too),
        T(the_same_key_is_the_same_message),
        T(a_run_is_cancelled_once),
        T(a_run_of_another_session_is_not_there),
        T(state_changes_under_its_revision),
        T(a_session_shows_its_tools_tree_and_commands),
        T(a_conversation_goes_on_from_another_entry),
        T(a_page_of_events_goes_on_where_the_one_before_ended),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
