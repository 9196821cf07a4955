/* Budgets of a tree: a child asks for more, and what hosts' own children spend is their parent's. */
#include "support/check.h"
#include "support/host.h"

#include <stdio.h>
#include <stdlib.h>

#define CHILD "'system':{'contains':'work as a sub-agent'}"
#define TASK(agent) "{'tool':'task','args':{'agent':'" agent "','prompt':'x'}}"
#define GOT "{'reply':[{'text':'got: {{result}}'}]}"
#define READ "{'tool':'read','args':{'path':'no-{{turn}}'}}"
/* A child that works for n turns before it answers. */
#define WORKS(n)                                                                                   \
    "{'rules':[{'when':{" CHILD ",'step':" n "},'reply':[{'text':'done at last'}]},"               \
    "{'when':{" CHILD "},'reply':[" READ "]},"                                                     \
    "{'when':{'step':1},'reply':[" TASK("general") "]}," GOT "]}"

/* Lines "type granted more.turns limits.turns" of the events about budgets in one session's log. */
static const char *budgets(host *r, const char *session) {
    static char lines[2000];
    hob_page *p;
    size_t n = 0;
    lines[0] = 0;
    assert_ok(hob_runtime_events(r->rt, session, 0, 1000, &p, &r->err), r->err);
    for (size_t i = 0; i < hob_page_count(p); i++) {
        hob_arena *a = hob_arena_create(0);
        const hob_json *e = NULL;
        hob_json_parse(a, hob_page_row(p, i), NULL, &e, NULL);
        const hob_json *d = hob_json_get(e, "data");
        hob_str type = hob_json_get_str(e, "type");
        if (hob_str_starts(type, HOB_STR("budget_re")))
            n += (size_t)snprintf(
                lines + n, sizeof lines - n, "%.*s%s +%lld =%lld\n", HOB_FMT(type),
                hob_json_get_bool(d, "granted", false) ? " yes" : "",
                (long long)hob_json_get_int(hob_json_get(d, "more"), "turns", 0),
                (long long)hob_json_get_int(hob_json_get(d, "limits"), "turns", 0));
        hob_arena_destroy(a);
    }
    hob_page_destroy(p);
    return lines;
}

static void child_id(host *r, char out[130]) {
    hob_page *p;
    assert_ok(hob_session_subagent_tasks(r->s, &p, &r->err), r->err);
    assert_int_equal(hob_page_count(p), 1);
    hob_json_field(hob_page_row(p, 0), "id", out, 130);
    hob_page_destroy(p);
}

static void assert_logs(host *r, const char *parent, const char *child) {
    char id[130];
    hob_session_id(r->s, r->id, sizeof r->id);
    assert_string_equal(budgets(r, r->id), parent);
    child_id(r, id);
    assert_string_equal(budgets(r, id), child);
}

static long long turns_of(host *r) {
    char text[32] = "";
    hob_json_field(hob_result_json(r->result), "turns", text, sizeof text);
    return atoll(text);
}

/* ---- more -------------------------------------------------------------------------------------------------- */

static void open_host(host *r, const char *script, int64_t turns) {
    host_init(r, script);
    r->ro.store = "sqlite";
    r->so.max_turns = turns;
    host_open(r);
}

/* Of eight turns one is spent; the child gets three, and then one and one more, as it needs them. */
static void test_session_budget__a_child_asks_and_gets_more(void **state) {
    host r;
    (void)state;
    open_host(&r, WORKS("5"), 8);
    assert_string_equal(host_prompt(&r, "go"), "completed");
    assert_non_null(strstr(host_text(&r), "> done at last"));
    assert_logs(&r, "budget_resolved yes +1 =0\nbudget_resolved yes +1 =0\n",
                "budget_requested +0 =0\nbudget_resolved yes +0 =4\n"
                "budget_requested +0 =0\nbudget_resolved yes +0 =5\n");
    assert_int_equal(turns_of(&r), 7);
    host_finish(&r);
}

static void test_session_budget__nothing_left_is_the_typed_limit(void **state) {
    host r;
    (void)state;
    open_host(&r, WORKS("9"), 5);
    assert_string_equal(host_prompt(&r, "go"), "completed");
    assert_non_null(strstr(host_text(&r), "> a limit ended the run: turns"));
    assert_logs(&r, "budget_resolved yes +1 =0\nbudget_resolved +0 =0\n",
                "budget_requested +0 =0\nbudget_resolved yes +0 =3\n"
                "budget_requested +0 =0\nbudget_resolved +0 =0\n");
    assert_true(turns_of(&r) <= 5);
    host_finish(&r);
}

static void test_session_budget__an_agents_own_limit_is_not_raised(void **state) {
    host r;
    hob_definition x = HOB_DEFINITION_INIT;
    (void)state;
    host_init(&r, "{'rules':[{'when':{" CHILD "},'reply':[" READ "]},"
                  "{'when':{'step':1},'reply':[" TASK("brief") "]}," GOT "]}");
    x.name = hob_str_z("brief");
    x.description = hob_str_z("is brief");
    x.text = hob_str_z("You work as a sub-agent.");
    x.max_turns = 2;
    r.so.max_turns = 50;
    host_open(&r);
    assert_ok(hob_session_register_worker_agent(r.s, &x, &r.err), r.err);
    assert_string_equal(host_prompt(&r, "go"), "completed");
    assert_non_null(strstr(host_text(&r), "): limit, 2 turns"));
    host_finish(&r);
}

static void test_session_budget__calls_and_tokens_too(void **state) {
    host r;
    (void)state;
    host_init(&r, WORKS("6"));
    r.so.max_tool_calls = 8; /* one of the parent's, then three; the child makes five */
    host_open(&r);
    assert_string_equal(host_prompt(&r, "go"), "completed");
    assert_non_null(strstr(host_text(&r), "> done at last"));
    assert_true(host_count(&r, "budget_resolved") > 0);
    host_finish(&r);
    host_init(&r, WORKS("6"));
    r.so.max_tokens = 14000;
    host_open(&r);
    assert_string_equal(host_prompt(&r, "go"), "completed");
    assert_non_null(strstr(host_text(&r), "> done at last"));
    assert_true(host_count(&r, "budget_resolved") > 0);
    host_finish(&r);
}

static void test_session_budget__is_granted_once_though_killed(void **state) {
    host r;
    (void)state;
    host_init(&r, WORKS("5"));
    r.ro.store = "sqlite";
    r.so.max_turns = 8;
    host_run_and_kill(&r, "go", HOB_EVENT_BUDGET_RESOLVED, NULL, NULL);
    r.so.on_unfinished = HOB_UNFINISHED_RESUME;
    host_open(&r);
    assert_string_equal(host_wait(&r), "completed");
    assert_logs(&r, "budget_resolved yes +1 =0\nbudget_resolved yes +1 =0\n",
                "budget_requested +0 =0\nbudget_resolved yes +0 =4\n"
                "budget_requested +0 =0\nbudget_resolved yes +0 =5\n");
    host_finish(&r);
}

/* ---- the host's own ------------------------------------------------------------------------------------------- */

typedef struct lab {
    host r;
    gate g;
} lab;

static void lab_open(lab *l, int64_t turns) {
    host_init(&l->r, "{'rules':[{'when':{'user':'work','step':1},'reply':[{'tool':'gate'}]},"
                     "{'when':{'user':'long'},'reply':[" READ "]},{'reply':[{'text':'yes'}]}]}");
    gate_init(&l->g, "gate", HOB_TOOL_READ_ONLY);
    l->r.so.tools = &l->g.tool;
    l->r.so.ntools = 1;
    l->r.so.max_turns = turns;
    host_open(&l->r);
    assert_ok(hob_session_prompt(l->r.s, hob_str_z("work"), &l->r.err), l->r.err);
    gate_wait_started(&l->g, 1);
}

static void lab_close(lab *l) {
    host_finish(&l->r);
    gate_finish(&l->g);
}

static hob_subagent *talk_to(lab *l) {
    hob_subagent_opts o = HOB_SUBAGENT_OPTS_INIT;
    hob_subagent *a;
    o.parent = l->r.s;
    assert_ok(hob_subagent_create(NULL, &o, &a, &l->r.err), l->r.err);
    return a;
}

static void test_session_budget__a_conversation_is_charged_to_the_run(void **state) {
    lab l;
    (void)state;
    lab_open(&l, 0);
    hob_subagent *a = talk_to(&l);
    assert_ok(hob_subagent_send(a, hob_str_z("one"), 60000, NULL, &l.r.err), l.r.err);
    assert_ok(hob_subagent_send(a, hob_str_z("two"), 60000, NULL, &l.r.err), l.r.err);
    gate_answer(&l.g, "go on");
    assert_string_equal(host_wait(&l.r), "completed");
    assert_int_equal(turns_of(&l.r), 4);
    assert_ok(hob_subagent_send(a, hob_str_z("later"), 60000, NULL, &l.r.err), l.r.err);
    hob_subagent_destroy(a);
    lab_close(&l);
}

static void test_session_budget__a_conversation_is_bound_by_the_run(void **state) {
    lab l;
    hob_result *res = NULL;
    (void)state;
    lab_open(&l, 5); /* one is spent: two for it */
    hob_subagent *a = talk_to(&l);
    assert_int_equal(hob_subagent_send(a, hob_str_z("long"), 60000, &res, &l.r.err), HOB_ELIMIT);
    assert_str(hob_result_status(res), "limit");
    hob_result_destroy(res);
    assert_ok(hob_subagent_send(a, hob_str_z("one"), 60000, NULL, &l.r.err), l.r.err);
    assert_int_equal(hob_subagent_send(a, hob_str_z("two"), 60000, NULL, &l.r.err), HOB_ELIMIT);
    assert_non_null(strstr(l.r.err.message, "nothing is left of the run's limit: turns"));
    gate_answer(&l.g, "go on");
    assert_string_equal(host_wait(&l.r), "completed");
    assert_int_equal(turns_of(&l.r), 5);
    hob_subagent_destroy(a);
    lab_close(&l);
}

static void test_session_budget__what_a_tracked_child_says_it_spent_is_charged(void **state) {
    lab l;
    hob_tracked x = HOB_TRACKED_INIT;
    hob_tracked_spent spent = HOB_TRACKED_SPENT_INIT;
    char tokens[32] = "";
    (void)state;
    lab_open(&l, 0);
    hob_tracker *t = hob_session_subagent_tracker(l.r.s);
    x.id = "mine";
    x.agent = "own";
    x.prompt = "do it";
    assert_int_equal(hob_tracker_spent(t, "mine", &spent, &l.r.err), HOB_ENOENT);
    assert_ok(hob_tracker_start(t, &x, &l.r.err), l.r.err);
    spent.turns = 7;
    spent.input_tokens = 1000000;
    assert_ok(hob_tracker_spent(t, "mine", &spent, &l.r.err), l.r.err);
    assert_ok(hob_tracker_end(t, "mine", "completed", hob_str_z("done"), &l.r.err), l.r.err);
    gate_answer(&l.g, "go on");
    assert_string_equal(host_wait(&l.r), "completed");
    assert_int_equal(turns_of(&l.r), 9);
    hob_json_field(hob_result_json(l.r.result), "usage.input_tokens", tokens, sizeof tokens);
    assert_true(atoll(tokens) > 1000000);
    lab_close(&l);
}

/* One that the host never ends does not keep a run from its end. */
static void test_session_budget__a_run_does_not_wait_for_the_hosts_children(void **state) {
    lab l;
    hob_tracked x = HOB_TRACKED_INIT;
    (void)state;
    lab_open(&l, 0);
    x.id = "mine";
    x.agent = "own";
    x.prompt = "do it";
    assert_ok(hob_tracker_start(hob_session_subagent_tracker(l.r.s), &x, &l.r.err), l.r.err);
    gate_answer(&l.g, "go on");
    assert_string_equal(host_wait(&l.r), "completed");
    lab_close(&l);
}

#define T(name) cmocka_unit_test(test_session_budget__##name)

int main(void) {
    const struct CMUnitTest tests[] = {T(a_child_asks_and_gets_more),
                                       T(nothing_left_is_the_typed_limit),
                                       T(an_agents_own_limit_is_not_raised),
                                       T(calls_and_tokens_too),
                                       T(is_granted_once_though_killed),
                                       T(a_conversation_is_charged_to_the_run),
                                       T(a_conversation_is_bound_by_the_run),
                                       T(what_a_tracked_child_says_it_spent_is_charged),
                                       T(a_run_does_not_wait_for_the_hosts_children)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
