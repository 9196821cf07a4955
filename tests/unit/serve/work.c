/* Several clients and one session: what happens when it is busy, and who may decide. */
#include "support/check.h"
#include "support/desk.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const char script[] =
    "{'rules':[{'when':{'user':{'prefix':'write'},'step':1},'reply':[{'tool':'write','args':"
    "{'path':'a.txt','content':'b'}}]},"
    "{'when':{'user':{'prefix':'write'}},'reply':[{'text':'{{result}}'}]},"
    "{'when':{'user':'hang'},'reply':[{'text':'so far'},{'wait':true}]},"
    "{'when':{'user':'give','step':1},'reply':[{'tool':'task','args':{'agent':'general','prompt':'write'}}]},"
    "{'when':{'user':'work','step':1},'reply':[{'tool':'bash','args':{'command':'sleep 0.3'}}]}],"
    "'otherwise':[{'text':'hello there'}]}";

static int setup(void **state) {
    return desk_setup(state, script);
}

/* ---- when_busy --------------------------------------------------------------------------------------------------- */

static void begin_hanging(desk *d) {
    desk_session(d, "one");
    desk_prompt(d, "one", "hang");
    tail *t = desk_tail(d, "one", 0, "");
    assert_true(tail_until(t, "text_delta"));
    tail_close(t);
}

static void test_serve_work__reject_is_the_default(void **state) {
    desk *d = *state;
    begin_hanging(d);
    assert_status(d, desk_post(d, "{'text':'hi'}", "/api/sessions/one/prompt"), 409);
    assert_field(d, "error.code", "busy");
    assert_status(d, desk_post(d, "{'text':'hi','when_busy':'reject'}", "/api/sessions/one/prompt"),
                  409);
}

static void test_serve_work__enqueue_waits_for_its_turn(void **state) {
    desk *d = *state;
    begin_hanging(d);
    assert_status(
        d, desk_post(d, "{'text':'hi','when_busy':'enqueue'}", "/api/sessions/one/prompt"), 202);
    assert_field(d, "status", "queued");
    assert_status(d, desk_post(d, "{'queue':'keep'}", "/api/sessions/one/cancel"), 204);
    desk_settle(d, "one");
    assert_status(d, desk_get(d, "/api/sessions/one"), 200);
    assert_string_not_equal(client_field(&d->c, "live.follow_ups.0"), "");
    assert_status(
        d, desk_post(d, "{'text':'hi','when_busy':'enqueue'}", "/api/sessions/one/prompt"), 202);
    assert_field(d, "status", "started"); /* nothing was under way */
}

static void test_serve_work__interrupt_stops_what_runs(void **state) {
    desk *d = *state;
    begin_hanging(d);
    assert_status(
        d, desk_post(d, "{'text':'hi','when_busy':'interrupt'}", "/api/sessions/one/prompt"), 202);
    assert_field(d, "status", "started");
    desk_settle(d, "one");
    assert_status(d, desk_get(d, "/api/sessions/one/runs"), 200);
    assert_field(d, "runs.0.status", "completed");
    assert_field(d, "runs.1.status", "cancelled");
}

static void test_serve_work__steer_joins_the_run(void **state) {
    desk *d = *state;
    desk_session(d, "one");
    assert_status(d, desk_post(d, "{'text':'hi','when_busy':'steer'}", "/api/sessions/one/prompt"),
                  202);
    assert_field(d, "status", "started");
    desk_settle(d, "one");
    assert_status(d, desk_call(d, "PATCH", "{'title':'x'}", "/api/sessions/one"), 200);
    desk_prompt(d, "one", "hang");
    assert_status(d, desk_post(d, "{'text':'hi','when_busy':'steer'}", "/api/sessions/one/prompt"),
                  202);
    assert_field(d, "status", "steering");
}

enum { CLIENTS = 8, EACH = 5 };

typedef struct talker {
    desk *d;
    int started, queued, other;
} talker;

static void *talk(void *user) {
    talker *t = user;
    client c;
    client_init(&c, t->d->port, DESK_TOKEN);
    for (int i = 0; i < EACH; i++) {
        int status = client_call(&c, "POST", "/api/sessions/one/prompt",
                                 "{'text':'hi','when_busy':'enqueue'}");
        const char *became = client_field(&c, "status");
        if (status == 202 && !strcmp(became, "started"))
            t->started++;
        else if (status == 202 && !strcmp(became, "queued"))
            t->queued++;
        else
            t->other++;
    }
    client_finish(&c);
    return NULL;
}

static void test_serve_work__no_message_of_many_clients_is_lost(void **state) {
    desk *d = *state;
    static talker t[CLIENTS];
    pthread_t threads[CLIENTS];
    int started = 0, queued = 0, said = 0;
    desk_session(d, "one");
    for (int i = 0; i < CLIENTS; i++) {
        t[i] = (talker){.d = d};
        pthread_create(&threads[i], NULL, talk, &t[i]);
    }
    for (int i = 0; i < CLIENTS; i++) {
        pthread_join(threads[i], NULL);
        started += t[i].started;
        queued += t[i].queued;
        assert_int_equal(t[i].other, 0);
    }
    assert_int_equal(started + queued, CLIENTS * EACH);
    tail *s = desk_tail(d, "one", 0, "");
    while (said < CLIENTS * EACH && tail_next(s)) said += !strcmp(tail_event(s), "user_message");
    assert_int_equal(said, CLIENTS * EACH);
    tail_close(s);
}

/* ---- keys --------------------------------------------------------------------------------------------------------- */

static int send_keyed(desk *d, const char *what, const char *body) {
    char path[100];
    snprintf(path, sizeof path, "/api/sessions/one/%s", what);
    return client_call_with(&d->c, "POST", path, "Idempotency-Key: k1\r\n", body);
}

static void test_serve_work__a_key_is_not_for_another_message(void **state) {
    desk *d = *state;
    desk_session(d, "one");
    assert_status(d, send_keyed(d, "prompt", "{'text':'hang'}"), 202);
    assert_status(d, send_keyed(d, "prompt", "{'text':'hi','when_busy':'enqueue'}"), 422);
    assert_field(d, "error.code", "idempotency_key_reused");
    assert_status(d, send_keyed(d, "follow_up", "{'text':'hang'}"), 422);
    assert_status(d, send_keyed(d, "prompt", "{'text':'hang'}"), 202);
    assert_status(d, desk_post(d, "{}", "/api/sessions/one/cancel"), 204);
    desk_settle(d, "one");
    assert_status(d, desk_get(d, "/api/sessions/one/runs"), 200);
    assert_field(d, "runs.1.id", "");
}

/* What was refused is forgotten: the key is free for a better request. */
static void test_serve_work__a_key_of_a_refused_message_is_free(void **state) {
    desk *d = *state;
    desk_session(d, "one");
    assert_status(d, send_keyed(d, "steer", "{'text':'hi'}"), 409);
    assert_status(d, send_keyed(d, "prompt", "{'text':'hi'}"), 202);
    desk_settle(d, "one");
}

/* The log says what was done: a client that did not see the answer asks again, also after the server died. */
static void test_serve_work__a_key_is_known_after_a_restart(void **state) {
    desk *d = *state;
    char first[400], second[400];
    desk_session(d, "one");
    assert_status(d, send_keyed(d, "prompt", "{'text':'hi'}"), 202);
    snprintf(first, sizeof first, "%s", hob_buf_z(&d->c.body));
    desk_settle(d, "one");
    desk_stop(d);
    desk_start(d);
    assert_status(d, send_keyed(d, "prompt", "{'text':'hi'}"), 202);
    assert_string_equal(hob_buf_z(&d->c.body), first);
    assert_non_null(strstr(hob_buf_z(&d->c.head), "Idempotency-Replayed: true"));
    assert_status(d, send_keyed(d, "prompt", "{'text':'other'}"), 422);
    assert_status(d,
                  client_call_with(&d->c, "POST", "/api/sessions/one/prompt",
                                   "Idempotency-Key: k2\r\n", "{'text':'hang'}"),
                  202);
    assert_status(d,
                  client_call_with(&d->c, "POST", "/api/sessions/one/steer",
                                   "Idempotency-Key: k3\r\n", "{'text':'more'}"),
                  202);
    snprintf(second, sizeof second, "%s", hob_buf_z(&d->c.body));
    desk_stop(d);
    desk_start(d);
    assert_status(d,
                  client_call_with(&d->c, "POST", "/api/sessions/one/steer",
                                   "Idempotency-Key: k3\r\n", "{'text':'more'}"),
                  202);
    assert_string_equal(hob_buf_z(&d->c.body), second);
    assert_field(d, "status", "steering");
    assert_status(d, desk_post(d, "{}", "/api/sessions/one/cancel"), 204);
    desk_settle(d, "one");
}

static void test_serve_work__keys_go_with_their_session(void **state) {
    desk *d = *state;
    for (int i = 0; i < 2; i++) {
        desk_session(d, "one");
        assert_status(d, send_keyed(d, "prompt", "{'text':'hi'}"), 202);
        assert_null(strstr(hob_buf_z(&d->c.head), "Idempotency-Replayed"));
        desk_settle(d, "one");
        assert_status(d, desk_get(d, "/api/sessions/one/runs"), 200);
        assert_field(d, "runs.0.status", "completed");
        assert_status(d, desk_call(d, "DELETE", NULL, "/api/sessions/one"), 204);
    }
}

/* ---- approvals ----------------------------------------------------------------------------------------------------- */

static void begin_asking(desk *d, char call[100]) {
    desk_session(d, "one");
    desk_prompt(d, "one", "write it");
    tail *t = desk_tail(d, "one", 0, "");
    assert_true(tail_until(t, "approval_requested"));
    hob_json_field(tail_data(t), "data.call", call, 100);
    tail_close(t);
}

static void test_serve_work__an_approval_is_listed_and_answered(void **state) {
    desk *d = *state;
    char call[100];
    begin_asking(d, call);
    assert_status(d, desk_get(d, "/api/sessions/one/approvals"), 200);
    assert_field(d, "approvals.0.call", call);
    assert_field(d, "approvals.0.args.path", "a.txt");
    assert_status(d, desk_post(d, "{'approved':'yes'}", "/api/sessions/one/approvals/%s", call),
                  400);
    assert_status(d, desk_post(d, "{'approved':true}", "/api/sessions/one/approvals/nope"), 404);
    assert_status(d, desk_post(d, "{'approved':true}", "/api/sessions/one/approvals/%s", call),
                  204);
    desk_settle(d, "one");
    assert_str(hob_test_content(&d->folder, "a.txt"), "b");
    assert_status(d, desk_get(d, "/api/sessions/one/approvals"), 200);
    assert_field(d, "approvals.0.call", "");
}

/* Its call has a "/" in its id; clients send that as %2F. */
static void test_serve_work__a_sub_agents_approval_is_answered_at_the_root(void **state) {
    desk *d = *state;
    char call[200], *slash;
    desk_session(d, "one");
    desk_prompt(d, "one", "give");
    tail *t = desk_tail(d, "one", 0, "");
    assert_true(tail_until(t, "approval_requested"));
    tail_close(t);
    assert_status(d, desk_get(d, "/api/sessions/one/approvals"), 200);
    snprintf(call, sizeof call, "%s", client_field(&d->c, "approvals.0.call"));
    assert_non_null(slash = strchr(call, '/'));
    *slash++ = 0;
    static const char path[] = "/api/sessions/one/approvals/%s%s%s";
    assert_status(d, desk_post(d, "{'approved':true}", path, call, "/", slash), 404);
    assert_status(d, desk_post(d, "{'approved':true}", path, call, "%2F", slash), 204);
    desk_settle(d, "one");
    assert_str(hob_test_content(&d->folder, "a.txt"), "b");
    assert_status(d, desk_post(d, "{'approved':false}", path, call, "%2f", slash), 409);
    assert_field(d, "error.code", "already_decided");
    assert_field(d, "error.approved", "true");
}

static void test_serve_work__an_approval_is_answered_once(void **state) {
    desk *d = *state;
    char call[100];
    begin_asking(d, call);
    assert_status(
        d, desk_post(d, "{'approved':false,'reason':'no'}", "/api/sessions/one/approvals/%s", call),
        204);
    assert_status(d, desk_post(d, "{'approved':true}", "/api/sessions/one/approvals/%s", call),
                  409);
    assert_field(d, "error.code", "already_decided");
    assert_field(d, "error.approved", "false");
    desk_settle(d, "one");
    assert_status(d, desk_post(d, "{'approved':true}", "/api/sessions/one/approvals/%s", call),
                  409);
    assert_int_equal(hob_test_content(&d->folder, "a.txt").n, 0);
}

static void test_serve_work__an_approval_after_a_cancel_is_late(void **state) {
    desk *d = *state;
    char call[100];
    begin_asking(d, call);
    assert_status(d, desk_post(d, "{}", "/api/sessions/one/cancel"), 204);
    desk_settle(d, "one");
    assert_status(d, desk_post(d, "{'approved':true}", "/api/sessions/one/approvals/%s", call),
                  409);
    assert_field(d, "error.approved", "false");
    assert_int_equal(hob_test_content(&d->folder, "a.txt").n, 0);
}

typedef struct voter {
    desk *d;
    const char *call;
    bool approve;
    int status;
} voter;

static void *vote(void *user) {
    voter *v = user;
    client c;
    char path[200];
    client_init(&c, v->d->port, DESK_TOKEN);
    snprintf(path, sizeof path, "/api/sessions/one/approvals/%s", v->call);
    v->status =
        client_call(&c, "POST", path, v->approve ? "{'approved':true}" : "{'approved':false}");
    client_finish(&c);
    return NULL;
}

static void test_serve_work__of_two_clients_one_decides(void **state) {
    desk *d = *state;
    char call[100];
    voter v[6];
    pthread_t threads[6];
    int won = 0, lost = 0, approved = 0;
    begin_asking(d, call);
    for (int i = 0; i < 6; i++) {
        v[i] = (voter){.d = d, .call = call, .approve = i % 2};
        pthread_create(&threads[i], NULL, vote, &v[i]);
    }
    for (int i = 0; i < 6; i++) {
        pthread_join(threads[i], NULL);
        won += v[i].status == 204;
        lost += v[i].status == 409;
        approved += v[i].status == 204 && v[i].approve;
    }
    assert_int_equal(won, 1);
    assert_int_equal(lost, 5);
    desk_settle(d, "one");
    assert_int_equal(hob_test_content(&d->folder, "a.txt").n, approved ? 1 : 0);
}

static void test_serve_work__an_approval_survives_a_restart(void **state) {
    desk *d = *state;
    char call[100];
    begin_asking(d, call);
    desk_stop(d);
    desk_start(d);
    assert_status(d, desk_get(d, "/api/sessions/one/approvals"), 200);
    assert_field(d, "approvals.0.call", call);
    assert_status(d, desk_post(d, "{'approved':true}", "/api/sessions/one/approvals/%s", call),
                  204);
    desk_settle(d, "one");
    assert_str(hob_test_content(&d->folder, "a.txt"), "b");
}

/* ADK-69 over HTTP: an answer is taken meanwhile, and nothing is done until somebody lets it go on. */
static void test_serve_work__a_paused_run_stays_so_over_a_restart(void **state) {
    desk *d = *state;
    char call[100], run[100];
    begin_asking(d, call);
    assert_status(d, desk_get(d, "/api/sessions/one/runs"), 200);
    snprintf(run, sizeof run, "%s", client_field(&d->c, "runs.0.id"));
    assert_status(d, desk_post(d, NULL, "/api/sessions/one/runs/%s/pause", run), 204);
    assert_status(d, desk_post(d, "{'approved':true}", "/api/sessions/one/approvals/%s", call),
                  204);
    desk_stop(d);
    desk_start(d);
    while (desk_get(d, "/readyz") != 200) {
    }
    assert_status(d, desk_get(d, "/api/sessions/one/runs/%s", run), 200);
    assert_field(d, "status", "parked");
    assert_int_equal(hob_test_content(&d->folder, "a.txt").n, 0);
    assert_status(d, desk_post(d, NULL, "/api/sessions/one/runs/%s/resume", run), 202);
    assert_field(d, "run_id", run); /* it is the same one */
    desk_settle(d, "one");
    assert_str(hob_test_content(&d->folder, "a.txt"), "b");
    assert_status(d, desk_post(d, NULL, "/api/sessions/one/runs/%s/pause", run), 409);
}

/* What it has begun to take up, or would have, is left to the next. */
static void test_serve_work__a_stop_right_after_the_start(void **state) {
    desk *d = *state;
    char id[8];
    for (int i = 0; i < 6; i++) {
        snprintf(id, sizeof id, "s%d", i);
        desk_session(d, id);
        desk_prompt(d, id, "hang");
    }
    for (int i = 0; i < 12; i++) {
        desk_stop(d);
        desk_start(d);
    }
    tail *t = desk_tail(d, "s5", 0, "");
    assert_true(tail_until(t, "model_call_started"));
    tail_close(t);
}

/* ---- restarts ------------------------------------------------------------------------------------------------------------ */

static void test_serve_work__what_a_terminal_left_is_the_terminals(void **state) {
    desk *d = *state;
    hob_session *s;
    hob_session_opts o = HOB_SESSION_OPTS_INIT;
    o.id = "mine";
    o.cwd = d->folder.path;
    assert_ok(hob_session_create(d->rt, &o, &s, &d->err), d->err);
    assert_ok(hob_session_prompt(s, HOB_STR("hang"), &d->err), d->err);
    hob_session_detach(s);
    desk_stop(d);
    desk_start(d);
    while (desk_get(d, "/readyz") != 200) {
    }
    assert_status(d, desk_get(d, "/api/sessions/mine"), 200);
    assert_field(d, "live", "null");
    assert_field(d, "owner", "");
    assert_status(d, desk_get(d, "/api/sessions/mine/runs"), 200);
    char run[100];
    snprintf(run, sizeof run, "%s", client_field(&d->c, "runs.0.id"));
    assert_status(d, desk_post(d, NULL, "/api/sessions/mine/runs/%s/resume", run), 202);
    assert_string_not_equal(client_field(&d->c, "run_id"), run);
    assert_status(d, desk_post(d, "{}", "/api/sessions/mine/cancel"), 204);
    desk_settle(d, "mine");
}

static void test_serve_work__a_run_that_goes_on_has_the_prompt_it_continues(void **state) {
    desk *d = *state;
    char run[100];
    begin_hanging(d);
    for (int before = 1; before <= 2; before++) {
        desk_stop(d);
        desk_start(d);
        tail *t = desk_tail(d, "one", 0, "");
        for (int i = 0; i <= before; i++) assert_true(tail_until(t, "run_started"));
        tail_close(t);
    }
    assert_status(d, desk_get(d, "/api/sessions/one/runs?status=running"), 200);
    assert_field(d, "runs.0.prompt", "hang");
    snprintf(run, sizeof run, "%s", client_field(&d->c, "runs.0.id"));
    assert_status(d, desk_get(d, "/api/sessions/one/runs/%s", run), 200);
    assert_field(d, "prompt", "hang");
}

static void test_serve_work__a_session_that_is_open_elsewhere_names_its_owner(void **state) {
    desk *d = *state;
    hob_runtime *rt;
    hob_session *s;
    hob_session_opts o = HOB_SESSION_OPTS_INIT;
    o.id = "mine";
    assert_ok(hob_runtime_create(&d->ro, &rt, &d->err), d->err);
    assert_ok(hob_session_create(rt, &o, &s, &d->err), d->err);
    assert_ok(hob_session_save(s, &d->err), d->err);
    assert_status(d, desk_post(d, "{'text':'hi'}", "/api/sessions/mine/prompt"), 409);
    assert_field(d, "error.code", "busy");
    assert_status(d, desk_get(d, "/api/sessions/mine/messages"), 200); /* looking takes nothing */
    hob_session_detach(s);
    assert_status(d, desk_post(d, "{'text':'hi'}", "/api/sessions/mine/prompt"), 202);
    desk_settle(d, "mine");
    hob_runtime_destroy(rt);
}

/* ---- what nobody uses ------------------------------------------------------------------------------------------------------ */

/* Where the server notes in which sessions it works. */
static const char *marks_folder(desk *d) {
    static char name[64];
    snprintf(name, sizeof name, "serve-%016llx",
             (unsigned long long)hob_str_hash(hob_config_get(d->config, "store")));
    return name;
}

static void await_owner(desk *d, const char *id, bool owned) {
    for (;;) {
        assert_status(d, desk_get(d, "/api/sessions/%s", id), 200);
        if (!!client_field(&d->c, "owner")[0] == owned) return;
    }
}

/* Streams do not hold a session; a run does; one that only waits for an answer does not. */
static void test_serve_work__what_nobody_uses_is_let_go_of(void **state) {
    desk *d = *state;
    char call[100];
    desk_stop(d);
    d->idle_ms = 1;
    desk_start(d);
    begin_asking(d, call);
    tail *t = desk_tail(d, "one", 0, "");
    desk_session(d, "busy");
    desk_prompt(d, "busy", "hang");
    desk_session(d, "two");
    await_owner(d, "two", false);
    await_owner(d, "one", false);
    await_owner(d, "busy", true);
    assert_status(d, desk_get(d, "/api/sessions/one/approvals"), 200);
    assert_field(d, "approvals.0.call", call);
    assert_status(d, desk_post(d, "{'approved':true}", "/api/sessions/one/approvals/%s", call),
                  204);
    assert_true(tail_until(t, "settled"));
    tail_close(t);
    await_owner(d, "one", false);
    for (int i = 0; i < 500 && hob_test_entries(&d->folder, marks_folder(d)) != 1; i++)
        usleep(10000); /* the mark goes a moment after the session */
    assert_int_equal(hob_test_entries(&d->folder, marks_folder(d)), 1); /* that of `busy` */
}

#define T(name) cmocka_unit_test_setup_teardown(test_serve_work__##name, setup, desk_teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        T(reject_is_the_default),
        T(enqueue_waits_for_its_turn),
        T(interrupt_stops_what_runs),
        T(steer_joins_the_run),
        T(no_message_of_many_clients_is_lost),
        T(a_key_is_not_for_another_message),
        T(a_key_of_a_refused_message_is_free),
        T(a_key_is_known_after_a_restart),
        T(keys_go_with_their_session),
        T(an_approval_is_listed_and_answered),
        T(a_sub_agents_approval_is_answered_at_the_root),
        T(an_approval_is_answered_once),
        T(an_approval_after_a_cancel_is_late),
        T(of_two_clients_one_decides),
        T(an_approval_survives_a_restart),
        T(a_paused_run_stays_so_over_a_restart),
        T(a_stop_right_after_the_start),
        T(what_a_terminal_left_is_the_terminals),
        T(a_run_that_goes_on_has_the_prompt_it_continues),
        T(a_session_that_is_open_elsewhere_names_its_owner),
        T(what_nobody_uses_is_let_go_of),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
