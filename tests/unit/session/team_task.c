/* Agents of a team that hand tasks to sub-agents. */
#include "support/agents.h"
#include "support/check.h"
#include "support/definitions.h"
#include "support/host.h"

#include <stdio.h>
#include <string.h>

static hob_agent *speaker(const char *name, const char *instruction) {
    hob_agent_opts o = HOB_AGENT_OPTS_INIT;
    o.name = name;
    o.instruction = instruction;
    return llm_with(&o);
}

static const char script[] =
    "{'rules':["
    "{'when':{'system':'You are number one','user':{'contains':'the child says'}},'reply':[{'text':'heard'}]},"
    "{'when':{'system':'You are number one','step':1},'reply':[{'tool':'task','args':{'agent':'general',"
    "'prompt':'look','background':true}}]},"
    "{'when':{'system':'You are number one'},'reply':[{'text':'waiting'}]},"
    "{'when':{'system':'You are number two'},'reply':[{'text':'the end'}]}],"
    "'otherwise':[{'delay_ms':20},{'text':'the child says so'}]}";

static const char *place(const char *log, const char *what) {
    const char *at = strstr(log, what);
    assert_non_null(at);
    return at;
}

/* The one who started it hears of it, before the next one begins; the work does not begin anew. */
static void test_session_team_task__a_task_in_the_background_is_its_agents(void **state) {
    host h;
    (void)state;
    host_init(&h, script);
    h.so.team = in_order("both", speaker("one", "You are number one"),
                         speaker("two", "You are number two"), NULL);
    hob_agent *team = h.so.team;
    host_open(&h);
    assert_string_equal(host_prompt(&h, "go"), "completed");
    assert_string_equal(host_text(&h), "the end");
    const char *log = host_log(&h);
    assert_int_equal(host_count(&h, "agent_started"), 3);
    assert_int_equal(host_count(&h, "child_finished"), 1);
    log = host_log(&h);
    assert_true(place(log, "child_finished") < place(log, "the end"));
    assert_true(place(log, "child_reported") < place(log, "heard"));
    assert_true(place(log, "heard") < place(log, "the end"));
    host_finish(&h);
    hob_agent_unref(team);
}

/* ---- a child of an agent asks ------------------------------------------------------------------------------- */

/* One of two branches hands on a task that needs an approval; the other has its answer long before. */
static const char asking[] =
    "{'rules':["
    "{'when':{'system':{'contains':'work as a sub-agent'},'step':1},'reply':[{'tool':'danger'}]},"
    "{'when':{'system':{'contains':'work as a sub-agent'}},'reply':[{'text':'child got {{result}}'}]},"
    "{'when':{'system':'You are number one','step':1},'reply':[{'tool':'task','args':{'agent':'general',"
    "'prompt':'look'}}]},"
    "{'when':{'system':'You are number one'},'reply':[{'text':'one got {{result}}'}]},"
    "{'when':{'system':'You are number two'},'reply':[{'text':'two is done'}]}],"
    "'otherwise':[{'text':'the end'}]}";

static void run_danger(const hob_tool_call *call, hob_reply *reply, void *user) {
    host *h = user;
    char path[300];
    (void)call;
    snprintf(path, sizeof path, "%s/effects", h->dir);
    FILE *f = fopen(path, "a"); /* it outlives the process */
    fputs("x", f);
    fclose(f);
    hob_reply_text(reply, HOB_OUTCOME_OK, hob_str_z("danger"));
}

static void asking_init(host *h, hob_tool *tool) {
    host_init(h, asking);
    *tool = host_tool("danger", HOB_TOOL_UNSAFE, NULL);
    tool->run = run_danger;
    tool->user = h;
    h->so.tools = tool;
    h->so.ntools = 1;
    h->so.approver = HOB_APPROVER_HOST;
    h->ro.store = "sqlite";
    h->so.team = in_order("all",
                          side_by_side("both", speaker("one", "You are number one"),
                                       speaker("two", "You are number two"), NULL),
                          speaker("last", "You are the last"), NULL);
}

static void answer(host *h) {
    hob_page *p;
    char call[200];
    assert_ok(hob_session_pending_confirmations(h->s, &p, &h->err), h->err);
    assert_int_equal(hob_page_count(p), 1);
    hob_json_field(hob_page_row(p, 0), "call", call, sizeof call);
    hob_page_destroy(p);
    assert_non_null(strchr(call, '/'));
    assert_ok(hob_session_confirm_tool_use(h->s, hob_str_z(call), HOB_VERDICT_ALLOW, hob_str_z(""),
                                           &h->err),
              h->err);
}

static void check_answered(host *h) {
    assert_string_equal(host_wait(h), "completed");
    assert_string_equal(host_text(h), "the end");
    assert_int_equal(hob_test_content(&h->folder, "effects").n, 1);
    assert_int_equal(host_count(h, "approval_requested"), 1);
    assert_int_equal(host_count(h, "approval_resolved"), 1);
    assert_int_equal(host_count(h, "child_started"), 1);
    assert_int_equal(host_count(h, "child_finished"), 1);
    assert_int_equal(host_count(h, "agent_started"), host_count(h, "agent_finished"));
    team_finish(h);
}

static void wait_parked(host *h) {
    while (!hob_session_is_parked(h->s)) {
        hob_event *e;
        assert_true(hob_session_next_event(h->s, 60000, &e) >= 0);
        hob_event_unref(e);
    }
}

static void test_session_team_task__a_strand_waits_for_the_question_of_its_child(void **state) {
    host h;
    hob_tool tool;
    (void)state;
    asking_init(&h, &tool);
    host_open(&h);
    assert_ok(hob_session_prompt(h.s, hob_str_z("go"), &h.err), h.err);
    hob_event_unref(host_until(&h, HOB_EVENT_APPROVAL_REQUESTED, "tool", "danger"));
    wait_parked(&h);
    answer(&h);
    check_answered(&h);
}

static void test_session_team_task__and_after_the_process_was_killed(void **state) {
    host h;
    hob_tool tool;
    (void)state;
    asking_init(&h, &tool);
    host_run_and_kill(&h, "go", HOB_EVENT_APPROVAL_REQUESTED, "tool", "danger");
    h.so.on_unfinished = HOB_UNFINISHED_RESUME;
    host_open(&h);
    wait_parked(&h);
    answer(&h);
    check_answered(&h);
}

/* ---- a workflow as a child ------------------------------------------------------------------------------------- */

static const char delegating[] =
    "{'rules':["
    "{'when':{'system':{'contains':'Write.'}},'reply':[{'text':'a long draft'}]},"
    "{'when':{'system':{'contains':'Shorten: a long draft'}},'reply':[{'text':'short'}]},"
    "{'when':{'step':1},'reply':[{'tool':'task','args':{'agent':'desk','prompt':'about hobs'}}]}],"
    "'otherwise':[{'text':'got: {{result}}'}]}";

static void desk_init(host *r) {
    host_init(r, delegating);
    r->ro.store = "sqlite";
    hob_test_mkdir(&r->folder, "agents");
    hob_test_file(&r->folder, "agents/desk.yaml",
                  hob_str_z("name: desk\nkind: sequential\ndescription: writes and shortens\n"
                            "agents:\n  - name: writer\n    description: w\n    prompt: Write.\n"
                            "    output_key: draft\n  - name: editor\n    description: e\n"
                            "    prompt: 'Shorten: {draft}'\n"));
    assert_int_equal(
        hob_agents_register_dir(host_definitions(r), hob_test_path(&r->folder, "agents"), &r->err),
        1);
}

/* The child's log has the agents, each with one end; the caller's has the child. */
static void check_desk(host *r) {
    hob_page *p;
    char child[130];
    int began = 0, ended = 0;
    assert_non_null(strstr(host_text(r), "): completed, 2 turns"));
    assert_non_null(strstr(host_text(r), "> short"));
    assert_int_equal(host_count(r, "child_finished"), 1);
    assert_int_equal(host_count(r, "agent_started"), 0);
    assert_ok(hob_session_subagent_tasks(r->s, &p, &r->err), r->err);
    hob_json_field(hob_page_row(p, 0), "id", child, sizeof child);
    hob_page_destroy(p);
    assert_ok(hob_runtime_events(r->rt, child, 0, 1000, &p, &r->err), r->err);
    for (size_t i = 0; i < hob_page_count(p); i++) {
        char type[40];
        hob_json_field(hob_page_row(p, i), "type", type, sizeof type);
        began += !strcmp(type, "agent_started");
        ended += !strcmp(type, "agent_finished");
    }
    hob_page_destroy(p);
    assert_true(began >= 3);
    assert_int_equal(began, ended);
    host_define_end(r);
}

static void test_session_team_task__a_workflow_is_a_child_like_any_other(void **state) {
    host r;
    (void)state;
    desk_init(&r);
    host_open(&r);
    assert_string_equal(host_prompt(&r, "go"), "completed");
    check_desk(&r);
}

static void test_session_team_task__a_workflow_as_a_child_goes_on_after_a_crash(void **state) {
    host r;
    (void)state;
    desk_init(&r);
    host_run_and_kill(&r, "go", HOB_EVENT_CHILD_STARTED, NULL, NULL);
    r.so.on_unfinished = HOB_UNFINISHED_RESUME;
    host_open(&r);
    assert_string_equal(host_wait(&r), "completed");
    check_desk(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_session_team_task__a_task_in_the_background_is_its_agents),
        cmocka_unit_test(test_session_team_task__a_strand_waits_for_the_question_of_its_child),
        cmocka_unit_test(test_session_team_task__and_after_the_process_was_killed),
        cmocka_unit_test(test_session_team_task__a_workflow_is_a_child_like_any_other),
        cmocka_unit_test(test_session_team_task__a_workflow_as_a_child_goes_on_after_a_crash),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
