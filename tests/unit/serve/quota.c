/*
 * Who pays: every answer of a model is charged to who began the work, whoever lets it go on, and a caller that has
 * spent what it may spend begins nothing any more.
 */
#include "serve/callers.h"
#include "serve/hub.h"
#include "support/check.h"
#include "support/desk.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define ANN "0000000000000000000000000000ann"
#define BOB "0000000000000000000000000000bob"

/* Two callers of one owner: what they do in one session is told apart. Each answer takes 10 tokens of ann's 1000. */
static const char tokens[] = "{'tokens':[{'name':'ann','token':'" ANN
                             "','tenant':'a','principal':'p','limits':{'tokens':%d,'runs':9}},"
                             "{'name':'bob','token':'" BOB "','tenant':'a','principal':'p',"
                             "'limits':{'tokens':1000}}]}";

static const char script[] =
    "{'defaults':{'usage':{'input_tokens':7,'output_tokens':3}},"
    "'rules':[{'when':{'user':{'prefix':'write'},'step':1},'reply':[{'tool':'write','args':"
    "{'path':'a.txt','content':'b'}}]},"
    "{'when':{'user':'hang'},'reply':[{'text':'so far'},{'wait':true}]},"
    "{'when':{'user':'give','step':1},'reply':[{'tool':'task','args':{'agent':'general','prompt':'hi'}}]},"
    "{'when':{'user':'pass on','step':1},'reply':[{'tool':'task','args':{'agent':'general','prompt':'write'}}]}],"
    "'otherwise':[{'text':'hello there'}]}";

/* After which what hung goes on. */
static const char later[] =
    "{\"defaults\":{\"usage\":{\"input_tokens\":7,\"output_tokens\":3}},"
    "\"rules\":[{\"when\":{\"step\":1},\"reply\":[{\"tool\":\"read\",\"args\":"
    "{\"path\":\"script.json\"}}]}],\"otherwise\":[{\"text\":\"hello there\"}]}";

static void begin(desk *d, int limit) {
    char text[sizeof tokens + 40];
    desk_init(d, script);
    snprintf(text, sizeof text, tokens, limit);
    desk_tokens(d, text);
    desk_start(d);
    d->c.token = ANN;
}

static int setup(void **state) {
    desk *d = hob_alloc(sizeof *d);
    begin(d, 1000);
    *state = d;
    return 0;
}

static int setup_poor(void **state) { /* one answer, and all is spent */
    desk *d = hob_alloc(sizeof *d);
    begin(d, 10);
    *state = d;
    return 0;
}

static int setup_some(void **state) {
    desk *d = hob_alloc(sizeof *d);
    begin(d, 60);
    *state = d;
    return 0;
}

static int64_t used(desk *d, const char *token, const char *what) {
    const char *before = d->c.token;
    char path[60];
    int64_t n = -1;
    d->c.token = token;
    assert_int_equal(desk_get(d, "/api/server"), 200);
    snprintf(path, sizeof path, "limits.%s.used", what);
    assert_ok(hob_str_int(hob_str_z(client_field(&d->c, path)), &n), (hob_error){.code = 0});
    d->c.token = before;
    return n;
}

static void expect(desk *d, int got, int wanted) {
    if (got != wanted) fail_msg("%d instead of %d: %s", got, wanted, hob_buf_z(&d->c.body));
}

/* Who reads of the end of a run may be told before the hub is. */
static void await_used(desk *d, const char *token, const char *what, int64_t wanted) {
    for (int i = 0; i < 2000 && used(d, token, what) != wanted; i++) usleep(5000);
    assert_int_equal(used(d, token, what), wanted);
}

static void await_field(desk *d, const char *id, const char *path, const char *value) {
    for (int i = 0; i < 2000; i++) {
        expect(d, desk_get(d, "/api/sessions/%s", id), 200);
        if (!strcmp(client_field(&d->c, path), value)) return;
        usleep(5000);
    }
    fail_msg("%s does not become %s: %s", path, value, hob_buf_z(&d->c.body));
}

/* Its run has begun for everybody, and does not end by itself. */
static void begin_hanging(desk *d, const char *id) {
    desk_prompt(d, id, "hang");
    tail *t = desk_tail(d, id, 0, "");
    assert_true(tail_until(t, "text_delta"));
    tail_close(t);
}

static void approve(desk *d, const char *id, int wanted) {
    char call[200];
    const char *p;
    hob_buf b;
    await_field(d, id, "live.parked", "true");
    expect(d, desk_get(d, "/api/sessions/%s/approvals", id), 200);
    snprintf(call, sizeof call, "%s", client_field(&d->c, "approvals.0.call"));
    hob_buf_init(&b, 1000);
    for (p = call; *p; p++) hob_buf_addz(&b, *p == '/' ? "%2F" : (char[]){*p, 0});
    expect(d, desk_post(d, "{'approved':true}", "/api/sessions/%s/approvals/%s", id, hob_buf_z(&b)),
           wanted);
    hob_buf_finish(&b);
}

/* ---- who is charged ------------------------------------------------------------------------------------------------ */

static void test_serve_quota__an_answer_is_charged(void **state) {
    desk *d = *state;
    desk_session(d, "one");
    desk_prompt(d, "one", "hi");
    desk_settle(d, "one");
    await_used(d, ANN, "tokens", 10);
    await_used(d, BOB, "tokens", 0);
}

static void test_serve_quota__sub_agents_are_charged_to_who_began(void **state) {
    desk *d = *state;
    desk_session(d, "one");
    desk_prompt(d, "one", "give");
    desk_settle(d, "one");
    await_used(d, ANN, "tokens", 30); /* two answers of its own, one of the child's */
}

static void test_serve_quota__an_approval_leaves_the_run_with_who_began(void **state) {
    desk *d = *state;
    desk_session(d, "one");
    desk_prompt(d, "one", "write");
    d->c.token = BOB;
    approve(d, "one", 204);
    desk_settle(d, "one");
    await_used(d, ANN, "tokens", 20);
    await_used(d, BOB, "tokens", 0);
}

static void test_serve_quota__so_does_one_in_a_sub_agent(void **state) {
    desk *d = *state;
    desk_session(d, "one");
    desk_prompt(d, "one", "pass on");
    d->c.token = BOB;
    approve(d, "one", 204);
    desk_settle(d, "one");
    await_used(d, ANN, "tokens", 40);
    await_used(d, BOB, "tokens", 0);
}

static void test_serve_quota__an_approval_after_a_restart_too(void **state) {
    desk *d = *state;
    desk_session(d, "one");
    desk_prompt(d, "one", "write");
    await_field(d, "one", "live.parked", "true");
    desk_stop(d);
    desk_start(d);
    d->c.token = BOB;
    expect(d, desk_get(d, "/api/sessions/one/approvals"), 200);
    char call[200];
    snprintf(call, sizeof call, "%s", client_field(&d->c, "approvals.0.call"));
    expect(d, desk_post(d, "{'approved':true}", "/api/sessions/one/approvals/%s", call), 204);
    desk_settle(d, "one");
    await_used(d, ANN, "tokens", 10); /* what was spent since the start */
    await_used(d, BOB, "tokens", 0);
}

static void test_serve_quota__a_run_taken_up_after_a_restart_is_its_beginners(void **state) {
    desk *d = *state;
    desk_session(d, "one");
    begin_hanging(d, "one");
    desk_stop(d);
    hob_test_file(&d->folder, "script.json", hob_str_z(later));
    desk_start(d);
    d->c.token = BOB;
    desk_settle(d, "one");
    await_used(d, ANN, "tokens", 20);
    await_used(d, ANN, "runs", 0);
    await_used(d, BOB, "tokens", 0);
}

static void test_serve_quota__a_follow_up_is_its_senders(void **state) {
    desk *d = *state;
    desk_session(d, "one");
    desk_prompt(d, "one", "write");
    d->c.token = BOB;
    await_field(d, "one", "live.parked", "true");
    expect(d, desk_post(d, "{'text':'hi'}", "/api/sessions/one/follow_up"), 202);
    expect(d, desk_post(d, "{'text':'hi','when_busy':'enqueue'}", "/api/sessions/one/prompt"), 202);
    approve(d, "one", 204);
    desk_settle(d, "one");
    await_used(d, ANN, "tokens", 20);
    await_used(d, BOB, "tokens", 20);
}

static void test_serve_quota__agui_is_charged(void **state) {
    desk *d = *state;
    tail *t = tail_post(d->port, ANN, "/agui/default", NULL,
                        "{'threadId':'t1','runId':'r1','messages':[{'id':'m1','role':'user',"
                        "'content':'give'}],'tools':[],'context':[],'state':{},"
                        "'forwardedProps':{}}");
    assert_int_equal(tail_status(t), 200);
    while (tail_next(t)) {
    }
    tail_close(t);
    await_used(d, ANN, "tokens", 30);
}

/* ---- who is refused -------------------------------------------------------------------------------------------------- */

static void spend_all(desk *d) {
    desk_session(d, "spent");
    int64_t before = used(d, ANN, "tokens");
    desk_prompt(d, "spent", "hi");
    desk_settle(d, "spent");
    await_used(d, ANN, "tokens", before + 10);
}

static void expect_refused(desk *d, int status) {
    expect(d, status, 429);
    assert_string_equal(client_field(&d->c, "error.code"), "limit");
    assert_non_null(strstr(client_field(&d->c, "error.message"), "'ann' may spend are used up"));
}

static void test_serve_quota__nothing_new_begins_when_all_is_spent(void **state) {
    desk *d = *state;
    spend_all(d);
    desk_session(d, "one");
    expect_refused(d, desk_post(d, "{'text':'hi'}", "/api/sessions/one/prompt"));
    expect_refused(d, desk_post(d,
                                "{'threadId':'t1','runId':'r1','messages':[{'id':'m1',"
                                "'role':'user','content':'hi'}],'tools':[],'context':[],"
                                "'state':{},'forwardedProps':{}}",
                                "/agui/default"));
    await_field(d, "one", "live.running", "false");
    await_used(d, ANN, "runs", 0);
}

static void test_serve_quota__nor_is_a_word_added_to_what_runs(void **state) {
    desk *d = *state;
    d->c.token = BOB;
    desk_session(d, "one");
    begin_hanging(d, "one");
    d->c.token = ANN;
    spend_all(d);
    expect_refused(d, desk_post(d, "{'text':'hi'}", "/api/sessions/one/steer"));
    expect_refused(d, desk_post(d, "{'text':'hi'}", "/api/sessions/one/follow_up"));
    expect_refused(d,
                   desk_post(d, "{'text':'hi','when_busy':'enqueue'}", "/api/sessions/one/prompt"));
    expect_refused(
        d, desk_post(d, "{'text':'hi','when_busy':'interrupt'}", "/api/sessions/one/prompt"));
    await_field(d, "one", "live.running", "true"); /* and it was not interrupted */
    expect(d, desk_post(d, "{}", "/api/sessions/one/cancel"), 204);
}

/* The call that waits was asked for with the last of the tokens: nobody lets it go on, and it can be stopped. */
static void test_serve_quota__what_waits_does_not_go_on(void **state) {
    desk *d = *state;
    desk_session(d, "one");
    desk_prompt(d, "one", "write");
    approve(d, "one", 429);
    d->c.token = BOB;
    approve(d, "one", 429); /* it would be ann's money all the same */
    assert_non_null(strstr(client_field(&d->c, "error.message"), "'ann'"));
    d->c.token = ANN;
    expect(d, desk_post(d, "{}", "/api/sessions/one/cancel"), 204);
    desk_settle(d, "one");
}

static void test_serve_quota__nor_does_what_is_paused(void **state) {
    desk *d = *state;
    char run[80];
    desk_session(d, "one");
    desk_prompt(d, "one", "write");
    await_field(d, "one", "live.parked", "true");
    snprintf(run, sizeof run, "%s", client_field(&d->c, "live.run_id"));
    expect(d, desk_post(d, "{}", "/api/sessions/one/runs/%s/pause", run), 204);
    expect_refused(d, desk_post(d, "{}", "/api/sessions/one/runs/%s/resume", run));
    await_field(d, "one", "live.paused", "true");
}

/* ---- what was queued ------------------------------------------------------------------------------------------------- */

static bool has_event(desk *d, const char *id, const char *type) {
    char wanted[80];
    snprintf(wanted, sizeof wanted, "\"type\":\"%s\"", type);
    expect(d, desk_get(d, "/api/sessions/%s/events?limit=1000", id), 200);
    return strstr(hob_buf_z(&d->c.body), wanted) != NULL;
}

/* They were admitted while there was something left. The first would hang, and it does not. */
static void test_serve_quota__what_was_queued_does_not_begin(void **state) {
    desk *d = *state;
    desk_session(d, "one");
    begin_hanging(d, "one");
    expect(d, desk_post(d, "{'text':'hang'}", "/api/sessions/one/follow_up"), 202);
    for (int i = 0; i < 5; i++)
        expect(d, desk_post(d, "{'text':'hi'}", "/api/sessions/one/follow_up"), 202);
    spend_all(d);
    expect(d, desk_post(d, "{'queue':'keep'}", "/api/sessions/one/cancel"), 204);
    await_field(d, "one", "live.running", "false");
    d->c.token = BOB;
    desk_prompt(d, "one", "hi"); /* and then it would be their turn */
    await_field(d, "one", "live.follow_ups.0", "");
    await_field(d, "one", "live.running", "false");
    d->c.token = ANN;
    assert_true(has_event(d, "one", "queue_returned"));
    assert_true(used(d, ANN, "tokens") <=
                30); /* the last: a call that had begun when it was stopped */
    await_used(d, BOB, "tokens", 10);
    await_used(d, ANN, "runs", 0);
}

static void test_serve_quota__what_is_stopped_for_it_names_the_quota(void **state) {
    desk *d = *state;
    char limit[40];
    desk_session(d, "one");
    begin_hanging(d, "one");
    expect(d, desk_post(d, "{'text':'hang'}", "/api/sessions/one/follow_up"), 202);
    spend_all(d);
    expect(d, desk_post(d, "{'queue':'keep'}", "/api/sessions/one/cancel"), 204);
    desk_settle(d, "one");
    d->c.token = BOB;
    desk_prompt(d, "one", "hi"); /* and then it would be its turn */
    tail *t = desk_tail(d, "one", 0, "");
    assert_true(tail_until(t, "limit_reached"));
    assert_int_equal(hob_json_field(tail_data(t), "data.limit", limit, sizeof limit), 12);
    assert_string_equal(limit, "quota_tokens");
    hob_json_field(tail_data(t), "data.max", limit, sizeof limit);
    assert_string_equal(limit, "10");
    assert_true(tail_until(t, "settled"));
    tail_close(t);
    expect(d, desk_get(d, "/api/sessions/one/runs"), 200);
    assert_field(d, "runs.0.status", "limit");
    assert_field(d, "runs.0.reason", "quota_tokens");
}

static void test_serve_quota__what_waits_counts(void **state) {
    desk *d = *state;
    int said = 0;
    desk_session(d, "one");
    desk_prompt(d, "one", "hi"); /* 10 of 60 */
    desk_settle(d, "one");
    begin_hanging(d, "one"); /* the second run: 5 each */
    while (said < 30 && desk_post(d, "{'text':'hi'}", "/api/sessions/one/follow_up") == 202) said++;
    assert_int_equal(said, 10);
    assert_string_equal(client_field(&d->c, "error.code"), "limit");
    assert_non_null(strstr(client_field(&d->c, "error.message"), "10 messages that wait"));
    expect(d, desk_post(d, "{'queue':'drop'}", "/api/sessions/one/cancel"), 204);
    desk_settle(d, "one");
}

/* A request that comes to nothing takes nothing from one that is about to begin. */
static void test_serve_quota__runs_are_given_back_by_who_took_them_last(void **state) {
    desk *d = *state;
    hob_room *one, *two;
    hob_error err;
    desk_session(d, "one");
    desk_session(d, "two");
    hob_hub *hub = d->server->hub;
    const hob_caller *ann = hob_callers_named(d->server->callers, HOB_STR("ann"));
    expect(d, desk_get(d, "/api/sessions/one"), 200);
    char id[2][160];
    snprintf(id[0], sizeof id[0], "%s", client_field(&d->c, "id"));
    expect(d, desk_get(d, "/api/sessions/two"), 200);
    snprintf(id[1], sizeof id[1], "%s", client_field(&d->c, "id"));
    assert_ok(hob_hub_open(hub, ann, hob_str_z(id[0]), &one, &err), err);
    assert_ok(hob_hub_open(hub, ann, hob_str_z(id[1]), &two, &err), err);
    assert_ok(hob_room_begin(one, ann, &err), err);
    assert_ok(hob_room_go_on(one, ann, &err), err);
    hob_room_begun(one, HOB_ENOENT);
    assert_int_equal(hob_caller_taken(ann, HOB_QUOTA_RUNS), 1);
    assert_int_equal(hob_room_begin(two, ann, &err), HOB_OK);
    assert_int_equal(hob_caller_taken(ann, HOB_QUOTA_RUNS), 2);
    hob_room_begun(two, HOB_EBUSY);
    hob_room_begun(one, HOB_EBUSY);
    assert_int_equal(hob_caller_taken(ann, HOB_QUOTA_RUNS), 0);
    hob_hub_leave(one);
    hob_hub_leave(two);
    hob_caller_unref(ann);
}

#define T(name) cmocka_unit_test_setup_teardown(test_serve_quota__##name, setup, desk_teardown)
#define POOR(name)                                                                                 \
    cmocka_unit_test_setup_teardown(test_serve_quota__##name, setup_poor, desk_teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        T(an_answer_is_charged),
        T(sub_agents_are_charged_to_who_began),
        T(an_approval_leaves_the_run_with_who_began),
        T(so_does_one_in_a_sub_agent),
        T(an_approval_after_a_restart_too),
        T(a_run_taken_up_after_a_restart_is_its_beginners),
        T(a_follow_up_is_its_senders),
        T(agui_is_charged),
        POOR(nothing_new_begins_when_all_is_spent),
        POOR(nor_is_a_word_added_to_what_runs),
        POOR(what_waits_does_not_go_on),
        POOR(nor_does_what_is_paused),
        POOR(what_was_queued_does_not_begin),
        POOR(what_is_stopped_for_it_names_the_quota),
        cmocka_unit_test_setup_teardown(test_serve_quota__what_waits_counts, setup_some,
                                        desk_teardown),
        T(runs_are_given_back_by_who_took_them_last),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
