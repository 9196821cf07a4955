/* A conversation with one sub-agent: sent to again, bracketed, transactional. */
#include "support/check.h"
#include "support/crowd.h"
#include "support/host.h"

#include <stdio.h>

static const char script[] =
    "{'rules':["
    "{'when':{'user':'fail'},'reply':[{'text':'half'},{'error':{'code':'refused','message':'no'}}]},"
    "{'when':{'user':'wait','step':1},'reply':[{'tool':'gate'}]},"
    "{'when':{'system':'twice twice'},'reply':[{'text':'seeded twice'}]},"
    "{'reply':[{'text':'{{messages}}: {{user}}'}]}]}";

typedef struct desk {
    host r;
    crowd c;
    hob_definitions *defs;
    hob_subagent *a;
    hob_result *result;
    hob_subagent_opts o;
    char seen[4000]; /* what the sink saw of the bracket */
} desk;

static void on_event(hob_subagent *a, hob_event *e, void *user) {
    desk *d = user;
    char turn[16] = "", status[16] = "";
    (void)a;
    hob_event_type t = hob_event_type_of(e);
    if (t != HOB_EVENT_CHILD_STARTED && t != HOB_EVENT_CHILD_REUSED &&
        t != HOB_EVENT_CHILD_FINISHED && t != HOB_EVENT_RUN_STARTED)
        return;
    hob_event_field(e, "turn", turn, sizeof turn);
    hob_event_field(e, "status", status, sizeof status);
    size_t n = strlen(d->seen);
    snprintf(d->seen + n, sizeof d->seen - n, "%.*s%s%s\n", (int)hob_event_name(e).n,
             hob_event_name(e).p, turn, status);
}

static void define(desk *d) {
    hob_definition x = HOB_DEFINITION_INIT;
    assert_ok(hob_definitions_create(NULL, &d->defs, &d->r.err), d->r.err);
    x.name = hob_str_z("helper");
    x.description = hob_str_z("helps");
    x.text = hob_str_z("twice");
    assert_ok(hob_agents_register_worker(d->defs, &x, &d->r.err), d->r.err);
}

static void desk_init(desk *d) {
    memset(d, 0, sizeof *d);
    crowd_init(&d->c);
    host_init(&d->r, script);
    define(d);
    d->r.so.definitions = d->defs;
    d->r.so.tools = &d->c.tool;
    d->r.so.ntools = 1;
    host_open(&d->r);
    d->o = (hob_subagent_opts)HOB_SUBAGENT_OPTS_INIT;
    d->o.parent = d->r.s;
    d->o.agent_name = "helper";
    d->o.on_event = on_event;
    d->o.user = d;
}

static void desk_open(desk *d) {
    assert_ok(hob_subagent_create(d->r.rt, &d->o, &d->a, &d->r.err), d->r.err);
}

static void desk_finish(desk *d) {
    hob_subagent_destroy(d->a);
    hob_result_destroy(d->result);
    hob_definitions_destroy(d->defs);
    host_finish(&d->r);
    crowd_finish(&d->c);
}

static int send(desk *d, const char *text) {
    hob_result_destroy(d->result);
    d->result = NULL;
    return hob_subagent_send(d->a, hob_str_z(text), 20000, &d->result, &d->r.err);
}

static size_t transcript(desk *d) {
    hob_page *p;
    assert_ok(hob_subagent_transcript(d->a, &p, &d->r.err), d->r.err);
    size_t n = hob_page_count(p);
    hob_page_destroy(p);
    return n;
}

static void assert_said(desk *d, const char *text) {
    assert_str(hob_result_text(d->result), text);
}

static void test_session_subagent__case_62_two_sends_share_the_conversation(void **state) {
    desk d;
    (void)state;
    desk_init(&d);
    desk_open(&d);
    assert_int_equal(hob_subagent_turns(d.a), 0);
    assert_int_equal(transcript(&d), 0);
    assert_int_equal(send(&d, "q1"), HOB_OK);
    assert_said(&d, "1: q1");
    assert_int_equal(send(&d, "q2"), HOB_OK);
    assert_said(&d, "2: q2"); /* it saw both questions, and its instruction once */
    assert_int_equal(hob_subagent_turns(d.a), 2);
    assert_int_equal(transcript(&d), 5);
    assert_string_equal(d.seen, "child_started0\nrun_started\nchild_finishedcompleted\n"
                                "child_started1\nchild_reused1\nrun_started\n"
                                "child_finishedcompleted\n");
    assert_int_equal(host_count(&d.r, "child_started"), 2);
    assert_int_equal(host_count(&d.r, "child_reused"), 1);
    assert_int_equal(host_count(&d.r, "child_finished"), 2);
    desk_finish(&d);
}

static void test_session_subagent__case_63_reset_begins_anew(void **state) {
    desk d;
    (void)state;
    desk_init(&d);
    desk_open(&d);
    send(&d, "q1");
    assert_ok(hob_subagent_reset(d.a, &d.r.err), d.r.err);
    assert_int_equal(transcript(&d), 0);
    assert_int_equal(hob_subagent_turns(d.a), 0);
    assert_int_equal(send(&d, "q2"), HOB_OK);
    assert_said(&d, "1: q2");
    assert_null(strstr(d.seen, "child_reused"));
    desk_finish(&d);
}

static void test_session_subagent__case_64_a_send_that_fails_is_taken_back(void **state) {
    desk d;
    (void)state;
    desk_init(&d);
    desk_open(&d);
    assert_true(send(&d, "fail") < 0);
    assert_int_equal(transcript(&d), 0);
    assert_int_equal(hob_subagent_turns(d.a), 0);
    assert_string_equal(d.seen, "child_started0\nrun_started\nchild_finishedfailed\n");
    assert_int_equal(send(&d, "q1"), HOB_OK);
    assert_said(&d, "1: q1");
    desk_finish(&d);
}

static void test_session_subagent__case_64_or_kept_by_choice(void **state) {
    desk d;
    (void)state;
    desk_init(&d);
    d.o.flags = HOB_SUBAGENT_KEEP;
    desk_open(&d);
    assert_true(send(&d, "fail") < 0);
    assert_true(transcript(&d) > 0);
    assert_int_equal(hob_subagent_turns(d.a), 0);
    assert_int_equal(send(&d, "q1"), HOB_OK);
    assert_said(&d, "2: q1");
    desk_finish(&d);
}

static void test_session_subagent__case_65_too_deep_changes_nothing(void **state) {
    desk d;
    (void)state;
    desk_init(&d);
    d.o.max_depth = 1;
    d.o.parent_depth = 1;
    desk_open(&d);
    assert_int_equal(send(&d, "q1"), HOB_EDEPTH);
    assert_int_equal(d.r.err.sub, 1);
    assert_int_equal(transcript(&d), 0);
    assert_string_equal(d.seen, "");
    assert_int_equal(host_count(&d.r, "child_started"), 0);
    hob_subagent_with_parent_depth(d.a, 0);
    assert_int_equal(send(&d, "q1"), HOB_OK);
    desk_finish(&d);
}

static void test_session_subagent__case_66_two_conversations_with_one_agent(void **state) {
    desk d;
    hob_agent_opts ao = HOB_AGENT_OPTS_INIT;
    hob_agent *agent;
    hob_subagent *b;
    hob_result *r = NULL;
    char one[128], two[128];
    (void)state;
    desk_init(&d);
    ao.name = "shared";
    ao.instruction = "twice";
    assert_ok(hob_agent_create(&ao, &agent, &d.r.err), d.r.err);
    d.o.agent_name = NULL;
    d.o.agent = agent;
    desk_open(&d);
    assert_ok(hob_subagent_create(NULL, &d.o, &b, &d.r.err), d.r.err);
    assert_ptr_equal(hob_subagent_subagent(d.a), agent);
    assert_int_equal(send(&d, "q1"), HOB_OK);
    assert_int_equal(hob_subagent_send(b, hob_str_z("q1"), 20000, &r, &d.r.err), HOB_OK);
    assert_ptr_equal(hob_subagent_subagent(d.a), hob_subagent_subagent(b));
    hob_json_field(hob_result_json(d.result), "run_id", one, sizeof one);
    hob_json_field(hob_result_json(r), "run_id", two, sizeof two);
    assert_string_not_equal(one, two);
    hob_result_destroy(r);
    hob_subagent_destroy(b);
    hob_agent_unref(agent);
    desk_finish(&d);
}

static void test_session_subagent__a_send_can_be_steered_and_cancelled(void **state) {
    desk d;
    (void)state;
    desk_init(&d);
    desk_open(&d);
    assert_ok(hob_subagent_start(d.a, hob_str_z("wait"), &d.r.err), d.r.err);
    crowd_wait(&d.c, 1);
    assert_int_equal(hob_subagent_start(d.a, hob_str_z("more"), &d.r.err), HOB_EBUSY);
    assert_int_equal(hob_subagent_reset(d.a, &d.r.err), HOB_EBUSY);
    assert_ok(hob_subagent_steer(d.a, hob_str_z("hurry"), &d.r.err), d.r.err);
    assert_ok(hob_subagent_cancel(d.a, &d.r.err), d.r.err);
    assert_ok(hob_subagent_wait(d.a, 20000, &d.result, &d.r.err), d.r.err);
    assert_str(hob_result_status(d.result), "cancelled");
    assert_int_equal(transcript(&d), 0);
    assert_non_null(strstr(d.seen, "child_finishedcancelled"));
    desk_finish(&d);
}

static void test_session_subagent__it_is_listed_and_cancelled_with_the_rest(void **state) {
    desk d;
    hob_page *p;
    char id[128];
    (void)state;
    desk_init(&d);
    desk_open(&d);
    assert_ok(hob_subagent_start(d.a, hob_str_z("wait"), &d.r.err), d.r.err);
    crowd_wait(&d.c, 1);
    assert_ok(hob_session_pending_subagent_tasks(d.r.s, &p, &d.r.err), d.r.err);
    assert_int_equal(hob_page_count(p), 1);
    hob_json_field(hob_page_row(p, 0), "id", id, sizeof id);
    hob_page_destroy(p);
    assert_int_equal(hob_session_cancel_subagent_task(d.r.s, hob_str_z(id), &d.r.err), 1);
    assert_ok(hob_subagent_wait(d.a, 20000, &d.result, &d.r.err), d.r.err);
    assert_int_equal(hob_session_cancel_subagent_task(d.r.s, hob_str_z(id), &d.r.err), 0);
    assert_int_equal(host_count(&d.r, "child_finished"), 1);
    desk_finish(&d);
}

static void test_session_subagent__destroying_it_ends_its_turn(void **state) {
    desk d;
    (void)state;
    desk_init(&d);
    desk_open(&d);
    assert_ok(hob_subagent_start(d.a, hob_str_z("wait"), &d.r.err), d.r.err);
    crowd_wait(&d.c, 1);
    hob_subagent_destroy(d.a);
    d.a = NULL;
    assert_int_equal(host_count(&d.r, "child_started"), 1);
    assert_int_equal(host_count(&d.r, "child_finished"), 1);
    desk_finish(&d);
}

static void test_session_subagent__without_a_parent(void **state) {
    desk d;
    (void)state;
    desk_init(&d);
    d.o.parent = NULL;
    d.o.session = &d.r.so;
    desk_open(&d);
    assert_int_equal(send(&d, "q1"), HOB_OK);
    assert_said(&d, "1: q1");
    assert_non_null(strstr(d.seen, "child_finishedcompleted"));
    desk_finish(&d);
}

#define T(name) cmocka_unit_test(test_session_subagent__##name)
int main(void) {
    const struct CMUnitTest tests[] = {T(case_62_two_sends_share_the_conversation),
                                       T(case_63_reset_begins_anew),
                                       T(case_64_a_send_that_fails_is_taken_back),
                                       T(case_64_or_kept_by_choice),
                                       T(case_65_too_deep_changes_nothing),
                                       T(case_66_two_conversations_with_one_agent),
                                       T(a_send_can_be_steered_and_cancelled),
                                       T(it_is_listed_and_cancelled_with_the_rest),
                                       T(destroying_it_ends_its_turn),
                                       T(without_a_parent)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
