/* Sub-agents as rows: those of the task tool, and those of the host's own making. */
#include "support/check.h"
#include "support/crowd.h"
#include "support/host.h"

#include <stdio.h>

typedef struct desk {
    host r;
    crowd c;
    hob_tracker *t;
    int told;
    char row[4096];
} desk;

static void on_cancel(const char *id, void *user) {
    (void)id;
    ++*(int *)user;
}

static void desk_init(desk *d, const char *script) {
    memset(d, 0, sizeof *d);
    crowd_init(&d->c);
    host_init(&d->r, script);
    d->r.ro.store = "sqlite";
    d->r.so.tools = &d->c.tool;
    d->r.so.ntools = 1;
    host_open(&d->r);
    d->t = hob_session_subagent_tracker(d->r.s);
}

static void desk_finish(desk *d) {
    host_finish(&d->r);
    crowd_finish(&d->c);
}

static int start(desk *d, const char *id) {
    hob_tracked x = HOB_TRACKED_INIT;
    x.id = id;
    x.agent = "own";
    x.prompt = "do it";
    x.cancel = on_cancel;
    x.user = &d->told;
    return hob_tracker_start(d->t, &x, &d->r.err);
}

/* "status text finished?" of one row; "" = there is none. */
static const char *row(desk *d, const char *id) {
    hob_page *p;
    char status[16] = "", text[64] = "", finished[32] = "", progress[64] = "";
    d->row[0] = 0;
    if (hob_session_subagent_task(d->r.s, hob_str_z(id), &p, &d->r.err) < 0) return d->row;
    hob_str json = hob_page_row(p, 0);
    hob_json_field(json, "status", status, sizeof status);
    hob_json_field(json, "text", text, sizeof text);
    hob_json_field(json, "progress.0", progress, sizeof progress);
    bool ended = hob_json_field(json, "finished", finished, sizeof finished) > 0;
    snprintf(d->row, sizeof d->row, "%s %s%s%s%s", status, text, ended ? " finished" : "",
             progress[0] ? " " : "", progress);
    hob_page_destroy(p);
    return d->row;
}

static size_t count(desk *d, int (*list)(hob_session *, hob_page **, hob_error *)) {
    hob_page *p;
    assert_ok(list(d->r.s, &p, &d->r.err), d->r.err);
    size_t n = hob_page_count(p);
    hob_page_destroy(p);
    return n;
}

static const char quiet[] = "{'rules':[{'reply':[{'text':'hi'}]}]}";

static void test_session_tracker__case_36_start_progress_end(void **state) {
    desk d;
    (void)state;
    desk_init(&d, quiet);
    assert_ok(start(&d, "c1"), d.r.err);
    assert_string_equal(row(&d, "c1"), "running ");
    assert_ok(hob_tracker_progress(d.t, "c1", hob_str_z("half way"), &d.r.err), d.r.err);
    assert_string_equal(row(&d, "c1"), "running  half way");
    assert_ok(hob_tracker_end(d.t, "c1", "completed", hob_str_z("found"), &d.r.err), d.r.err);
    assert_string_equal(row(&d, "c1"), "completed found finished");
    assert_int_equal(hob_tracker_end(d.t, "c1", "failed", hob_str_z(""), &d.r.err), HOB_EEXIST);
    desk_finish(&d);
}

static void test_session_tracker__case_37_an_end_before_a_start_is_in_no_list(void **state) {
    desk d;
    (void)state;
    desk_init(&d, quiet);
    assert_ok(hob_tracker_end(d.t, "c1", "failed", hob_str_z("early"), &d.r.err), d.r.err);
    assert_string_equal(row(&d, "c1"), "failed early finished");
    assert_int_equal(count(&d, hob_session_subagent_tasks), 0);
    desk_finish(&d);
}

static void test_session_tracker__case_38_cancelled_stays_cancelled(void **state) {
    desk d;
    (void)state;
    desk_init(&d, quiet);
    assert_ok(start(&d, "c1"), d.r.err);
    assert_int_equal(hob_session_cancel_subagent_task(d.r.s, hob_str_z("c1"), &d.r.err), 1);
    assert_int_equal(d.told, 1);
    assert_string_equal(row(&d, "c1"), "cancelled ");
    assert_int_equal(hob_session_cancel_subagent_task(d.r.s, hob_str_z("c1"), &d.r.err), 0);
    assert_ok(hob_tracker_end(d.t, "c1", "failed", hob_str_z("late"), &d.r.err), d.r.err);
    assert_string_equal(row(&d, "c1"), "cancelled late finished");
    desk_finish(&d);
}

static void test_session_tracker__case_39_one_that_cannot_be_told(void **state) {
    desk d;
    (void)state;
    desk_init(&d, quiet);
    assert_ok(start(&d, "c1"), d.r.err);
    assert_ok(hob_tracker_clear(d.t, "c1", &d.r.err), d.r.err);
    assert_int_equal(hob_session_cancel_subagent_task(d.r.s, hob_str_z("c1"), &d.r.err), 0);
    assert_int_equal(hob_session_cancel_subagent_task(d.r.s, hob_str_z("none"), &d.r.err), 0);
    assert_int_equal(d.told, 0);
    assert_string_equal(row(&d, "c1"), "running ");
    assert_string_equal(row(&d, "none"), "");
    desk_finish(&d);
}

static void test_session_tracker__case_40_each_parent_has_its_own(void **state) {
    desk d;
    hob_session *other;
    hob_page *p;
    (void)state;
    desk_init(&d, quiet);
    assert_ok(start(&d, "c1"), d.r.err);
    assert_ok(start(&d, "c2"), d.r.err);
    assert_ok(hob_tracker_end(d.t, "c1", "completed", hob_str_z(""), &d.r.err), d.r.err);
    assert_int_equal(count(&d, hob_session_subagent_tasks), 2);
    assert_int_equal(count(&d, hob_session_pending_subagent_tasks), 1);
    assert_ok(hob_session_create(d.r.rt, &d.r.so, &other, &d.r.err), d.r.err);
    assert_ok(hob_session_subagent_tasks(other, &p, &d.r.err), d.r.err);
    assert_int_equal(hob_page_count(p), 0);
    hob_page_destroy(p);
    hob_session_close(other);
    desk_finish(&d);
}

static void test_session_tracker__closing_tells_and_ends_them(void **state) {
    desk d;
    char id[64];
    (void)state;
    desk_init(&d, quiet);
    hob_session_id(d.r.s, id, sizeof id);
    assert_ok(start(&d, "c1"), d.r.err);
    hob_session_close(d.r.s);
    d.r.s = NULL;
    host_close(&d.r);
    assert_int_equal(d.told, 1);
    d.r.so.choice = HOB_SESSION_OPEN;
    d.r.so.id = id;
    host_open(&d.r);
    assert_int_equal(host_count(&d.r, "child_finished"), 1);
    assert_string_equal(row(&d, "c1"), "cancelled  finished");
    desk_finish(&d);
}

static void test_session_tracker__those_of_a_dead_process_are_ended(void **state) {
    desk d;
    (void)state;
    desk_init(&d, quiet);
    assert_ok(start(&d, "c1"), d.r.err);
    host_reopen(&d.r, HOB_UNFINISHED_RESUME);
    assert_string_equal(row(&d, "c1"), "interrupted ");
    assert_string_equal(host_prompt(&d.r, "go"), "completed");
    assert_int_equal(host_count(&d.r, "child_finished"), 1);
    desk_finish(&d);
}

/* ---- those of the task tool ------------------------------------------------------------------------------ */

static const char busy[] =
    "{'rules':["
    "{'when':{'system':{'contains':'work as a sub-agent'},'step':1},"
    "'reply':[{'text':'I look'},{'tool':'gate'}]},"
    "{'when':{'system':{'contains':'work as a sub-agent'}},'reply':[{'text':'seen'}]},"
    "{'when':{'step':1},'reply':[{'tool':'task','args':{'agent':'general','prompt':'look'}}]},"
    "{'reply':[{'text':'got: {{result}}'}]}]}";

static void pending(desk *d, char id[64], char tool[64], char text[64]) {
    hob_page *p;
    assert_ok(hob_session_pending_subagent_tasks(d->r.s, &p, &d->r.err), d->r.err);
    assert_int_equal(hob_page_count(p), 1);
    hob_json_field(hob_page_row(p, 0), "id", id, 64);
    hob_json_field(hob_page_row(p, 0), "tool", tool, 64);
    hob_json_field(hob_page_row(p, 0), "text", text, 64);
    hob_page_destroy(p);
}

static void test_session_tracker__a_child_is_seen_at_work(void **state) {
    desk d;
    char id[64], tool[64] = "", text[64] = "";
    (void)state;
    desk_init(&d, busy);
    assert_ok(hob_session_prompt(d.r.s, hob_str_z("go"), &d.r.err), d.r.err);
    crowd_wait(&d.c, 1);
    pending(&d, id, tool, text);
    assert_string_equal(tool, "gate");
    assert_string_equal(text, "I look");
    crowd_let_go(&d.c, "go on");
    assert_string_equal(host_wait(&d.r), "completed");
    assert_string_equal(row(&d, id), "completed seen finished");
    assert_int_equal(count(&d, hob_session_pending_subagent_tasks), 0);
    desk_finish(&d);
}

static void test_session_tracker__one_child_can_be_cancelled(void **state) {
    desk d;
    char id[64], tool[64], text[64];
    (void)state;
    desk_init(&d, busy);
    assert_ok(hob_session_prompt(d.r.s, hob_str_z("go"), &d.r.err), d.r.err);
    crowd_wait(&d.c, 1);
    pending(&d, id, tool, text);
    assert_int_equal(hob_session_cancel_subagent_task(d.r.s, hob_str_z(id), &d.r.err), 1);
    assert_string_equal(host_wait(&d.r), "completed"); /* the parent goes on */
    assert_non_null(strstr(host_text(&d.r), "): cancelled"));
    assert_int_equal(d.c.cancelled, 1);
    desk_finish(&d);
}

static void test_session_tracker__removing_a_session_removes_its_children(void **state) {
    desk d;
    hob_page_opts all = HOB_PAGE_OPTS_INIT;
    hob_page *p;
    char id[64];
    (void)state;
    desk_init(&d, busy);
    hob_session_id(d.r.s, id, sizeof id);
    assert_ok(hob_session_prompt(d.r.s, hob_str_z("go"), &d.r.err), d.r.err);
    crowd_wait(&d.c, 1);
    assert_int_equal(hob_runtime_remove_session(d.r.rt, id, &d.r.err), HOB_EBUSY);
    crowd_let_go(&d.c, "go on");
    assert_string_equal(host_wait(&d.r), "completed");
    hob_session_close(d.r.s);
    d.r.s = NULL;
    all.flags = HOB_PAGE_ALL;
    assert_ok(hob_runtime_sessions(d.r.rt, &all, &p, &d.r.err), d.r.err);
    assert_int_equal(hob_page_count(p), 2);
    hob_page_destroy(p);
    assert_ok(hob_runtime_remove_session(d.r.rt, id, &d.r.err), d.r.err);
    assert_ok(hob_runtime_sessions(d.r.rt, &all, &p, &d.r.err), d.r.err);
    assert_int_equal(hob_page_count(p), 0);
    hob_page_destroy(p);
    desk_finish(&d);
}

/* ---- agents of this session --------------------------------------------------------------------------------- */

static const char asks_helper[] =
    "{'rules':["
    "{'when':{'system':'You help.'},'reply':[{'text':'helped'}]},"
    "{'when':{'step':1},'reply':[{'tool':'task','args':{'agent':'helper','prompt':'look'}}]},"
    "{'reply':[{'text':'got: {{result}}'}]}]}";

static void test_session_tracker__case_53_a_folder_is_live_at_once(void **state) {
    desk d;
    (void)state;
    desk_init(&d, asks_helper);
    assert_int_equal(hob_session_register_agent_dir(d.r.s, "/nowhere/at/all", &d.r.err), 0);
    hob_test_mkdir(&d.r.folder, "team");
    hob_test_file(&d.r.folder, "team/helper.yaml",
                  hob_str_z("name: helper\ndescription: helps\nprompt: You help.\n"));
    hob_test_file(&d.r.folder, "team/broken.yaml", hob_str_z("name: [\n"));
    char dir[300];
    snprintf(dir, sizeof dir, "%s/team", d.r.dir);
    assert_int_equal(hob_session_register_agent_dir(d.r.s, dir, &d.r.err), 1);
    assert_string_equal(host_prompt(&d.r, "go"), "completed");
    assert_non_null(strstr(host_text(&d.r), "> helped"));
    desk_finish(&d);
}

static void test_session_tracker__case_61_what_one_session_registers_no_other_has(void **state) {
    desk d;
    hob_definition x = HOB_DEFINITION_INIT;
    hob_session *other;
    hob_result *r;
    char text[300];
    (void)state;
    desk_init(&d, asks_helper);
    x.name = hob_str_z("helper");
    x.description = hob_str_z("helps");
    x.text = hob_str_z("You help.");
    assert_ok(hob_session_register_worker_agents(d.r.s, &x, 1, &d.r.err), d.r.err);
    assert_ok(hob_session_create(d.r.rt, &d.r.so, &other, &d.r.err), d.r.err);
    assert_ok(hob_session_prompt_and_wait(other, hob_str_z("go"), 20000, &r, &d.r.err), d.r.err);
    snprintf(text, sizeof text, "%.*s", (int)hob_result_text(r).n, hob_result_text(r).p);
    assert_non_null(strstr(text, "got: error: there is no agent helper; there are: "));
    hob_result_destroy(r);
    hob_session_close(other);
    desk_finish(&d);
}

static void test_session_tracker__case_55_delegation_can_be_switched_off(void **state) {
    host r;
    (void)state;
    host_init(&r, "{'rules':[{'when':{'offers':'task'},'reply':[{'text':'offered'}]},"
                  "{'reply':[{'text':'not offered'}]}]}");
    r.so.flags |= HOB_SESSION_NO_DELEGATION;
    host_open(&r);
    assert_string_equal(host_prompt(&r, "go"), "completed");
    assert_string_equal(host_text(&r), "not offered");
    host_finish(&r);
}

#define T(name) cmocka_unit_test(test_session_tracker__##name)
int main(void) {
    const struct CMUnitTest tests[] = {T(case_36_start_progress_end),
                                       T(case_37_an_end_before_a_start_is_in_no_list),
                                       T(case_38_cancelled_stays_cancelled),
                                       T(case_39_one_that_cannot_be_told),
                                       T(case_40_each_parent_has_its_own),
                                       T(closing_tells_and_ends_them),
                                       T(those_of_a_dead_process_are_ended),
                                       T(a_child_is_seen_at_work),
                                       T(one_child_can_be_cancelled),
                                       T(removing_a_session_removes_its_children),
                                       T(case_53_a_folder_is_live_at_once),
                                       T(case_61_what_one_session_registers_no_other_has),
                                       T(case_55_delegation_can_be_switched_off)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
