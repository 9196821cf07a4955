/* Copies of sessions, conversations with holes, and what is kept when a session goes on elsewhere. */
/* ctest: labels=snapshots */
#include "session/session.h"
#include "support/check.h"
#include "support/host.h"
#include "support/stores.h"

static const char one_call[] =
    "{'rules':[{'when':{'user':'go','step':1},'reply':[{'text':'looking'},{'tool':'a','args':{}}]},"
    "{'reply':[{'text':'turn {{turn}}: {{result}}'}]}]}";

static bool has(hob_str row, const char *word) {
    return hob_str_find(row, hob_str_z(word)) >= 0;
}

static int count_rows(hob_page *p, const char *word) {
    int n = 0;
    for (size_t i = 0; i < hob_page_count(p); i++) n += has(hob_page_row(p, i), word);
    return n;
}

static void open_with_gate(host *r, gate *g) {
    host_init(r, one_call);
    r->ro.store = "sqlite";
    gate_init(g, "a", HOB_TOOL_READ_ONLY);
    r->so.tools = &g->tool;
    r->so.ntools = 1;
    host_open(r);
    hob_session_id(r->s, r->id, sizeof r->id);
}

static hob_session *fork_it(host *r) {
    hob_session_opts o = r->so;
    hob_session *copy;
    o.choice = HOB_SESSION_OPEN;
    o.id = r->id;
    o.flags = HOB_SESSION_FORK;
    assert_ok(hob_session_create(r->rt, &o, &copy, &r->err), r->err);
    return copy;
}

/* IMP-45: copied in mid-call. The call's result is not known, the copy says so, and works. */
static void test_session_copy__a_call_without_result_gets_one(void **state) {
    host r;
    gate g;
    (void)state;
    open_with_gate(&r, &g);
    assert_ok(hob_session_prompt(r.s, hob_str_z("go"), &r.err), r.err);
    gate_wait_started(&g, 1);
    hob_event_unref(host_until(&r, HOB_EVENT_TOOL_STARTED, NULL, NULL));
    hob_session *original = r.s;
    r.s = fork_it(&r);
    assert_string_equal(host_prompt(&r, "and?"), "completed");
    assert_non_null(strstr(host_log(&r), "tool_finished m3.0 a unknown \"unknown: no result"));
    assert_int_equal(host_count(&r, "tool_finished"), 1);
    hob_session_detach(r.s);
    r.s = original; /* it goes on */
    gate_answer(&g, "found");
    assert_string_equal(host_wait(&r), "completed");
    assert_non_null(strstr(host_text(&r), "found"));
    host_finish(&r);
    gate_finish(&g);
}

/* Ids are unique in the copy, and its calls and results belong together. */
static void test_session_copy__ids_are_its_own(void **state) {
    host r;
    gate g;
    hob_page *p;
    (void)state;
    open_with_gate(&r, &g);
    assert_ok(hob_session_prompt(r.s, hob_str_z("go"), &r.err), r.err);
    gate_wait_started(&g, 1);
    gate_answer(&g, "found");
    host_wait(&r);
    hob_session_detach(r.s);
    r.s = fork_it(&r);
    assert_ok(hob_session_history(r.s, &p, &r.err), r.err);
    assert_int_equal(hob_page_count(p), 4); /* go, looking, found, turn 1 */
    assert_true(has(hob_page_row(p, 1), "\"message\":\"m3\""));
    assert_true(has(hob_page_row(p, 1), "\"call\":\"m3.0\""));
    assert_true(has(hob_page_row(p, 2), "\"call\":\"m3.0\""));
    assert_true(has(hob_page_row(p, 3), "\"message\":\"m5\""));
    hob_page_destroy(p);
    assert_string_equal(host_prompt(&r, "next"), "completed");
    assert_ok(hob_session_entries(r.s, 0, &p, &r.err), r.err);
    assert_int_equal(count_rows(p, "\"run_id\""), 6); /* what was copied belongs to no run */
    hob_page_destroy(p);
    host_finish(&r);
    gate_finish(&g);
}

/* A log of somebody else, with a hole: it is filled before the model is asked. */
static void test_session_copy__a_hole_in_a_log_is_filled_and_seen(void **state) {
    static const char *const log[] = {
        "{\"v\":1,\"seq\":1,\"ts\":\"2026-01-01T00:00:00.000Z\",\"type\":\"session_opened\","
        "\"session_id\":\"holes\",\"data\":{\"cwd\":\"/\"}}",
        "{\"v\":1,\"seq\":2,\"ts\":\"2026-01-01T00:00:00.000Z\",\"type\":\"user_message\","
        "\"session_id\":\"holes\",\"entry\":\"e2\",\"data\":{\"content\":[{\"type\":\"text\","
        "\"text\":\"go\"}]}}",
        "{\"v\":1,\"seq\":3,\"ts\":\"2026-01-01T00:00:00.000Z\",\"type\":\"assistant_message\","
        "\"session_id\":\"holes\",\"entry\":\"e3\",\"parent_entry\":\"e2\",\"data\":{\"message\":"
        "\"m3\",\"stop\":\"tools\",\"content\":[{\"type\":\"tool_call\",\"call\":\"m3.0\","
        "\"name\":\"a\",\"args\":{}},{\"type\":\"tool_call\",\"call\":\"m3.1\",\"name\":\"b\","
        "\"args\":{}}]}}"};
    host r;
    rig g = {.last = {0}};
    hob_page *p;
    (void)state;
    host_init(&r, "{'otherwise':[{'text':'fine'}]}");
    r.ro.store = "sqlite";
    rig_init(&g);
    snprintf(g.path, sizeof g.path, "%s/hob.db", r.dir);
    hob_store *store = rig_sqlite(&g, "somebody");
    assert_int_equal(rig_own(&g, store, "holes", HOB_OWN_CREATE), HOB_OK);
    for (uint64_t i = 0; i < 3; i++)
        assert_int_equal(rig_append(&g, store, "holes", i, hob_str_z(log[i])), HOB_OK);
    store->ops->close(store);
    rig_finish(&g);
    r.so.choice = HOB_SESSION_OPEN;
    r.so.id = "holes";
    host_open(&r);
    assert_int_equal(host_count(&r, "tool_finished"), 0); /* looking changes nothing */
    assert_string_equal(host_prompt(&r, "go on"), "completed");
    assert_non_null(strstr(host_log(&r), "tool_finished m3.0 a unknown"));
    assert_non_null(strstr(r.log, "tool_finished m3.1 b unknown"));
    assert_ok(hob_session_history(r.s, &p, &r.err), r.err);
    assert_int_equal(hob_page_count(p), 6); /* what the model was sent, and its answer */
    assert_int_equal(count_rows(p, "no result of this call was recorded"), 2);
    hob_page_destroy(p);
    host_prompt(&r, "again");
    assert_int_equal(host_count(&r, "tool_finished"), 2);
    host_finish(&r);
}

/* ---- the system prompt ------------------------------------------------------------------------------- */

/* What was asked to be added to the system prompt is added once, however often the session is opened so. */
static void test_session_copy__words_are_added_once(void **state) {
    host r;
    hob_page *p;
    (void)state;
    host_init(&r, one_call);
    r.ro.store = "sqlite";
    r.so.append_system_prompt = "be brief";
    host_open(&r);
    for (int i = 0; i < 3; i++) {
        host_prompt(&r, "hi");
        host_reopen(&r, HOB_UNFINISHED_RESUME);
    }
    assert_ok(hob_session_entries(r.s, 0, &p, &r.err), r.err);
    assert_int_equal(count_rows(p, "be brief"), 1);
    assert_int_equal(count_rows(p, "config_changed"), 0);
    hob_page_destroy(p);
    host_finish(&r);
}

/* In another folder the model is told the folder that its tools work in, and nothing else changes. */
static void test_session_copy__the_folder_that_is_told_is_the_one_in_use(void **state) {
    host r;
    hob_page *p;
    char line[200];
    (void)state;
    host_init(&r, one_call);
    r.ro.store = "sqlite";
    host_open(&r);
    host_prompt(&r, "hi");
    hob_test_mkdir(&r.folder, "elsewhere");
    r.so.cwd = hob_test_path(&r.folder, "elsewhere");
    snprintf(line, sizeof line, "working folder: %s\\n", r.so.cwd);
    host_reopen(&r, HOB_UNFINISHED_RESUME);
    host_prompt(&r, "hi");
    assert_ok(hob_session_entries(r.s, 7, &p, &r.err), r.err);
    assert_true(has(hob_page_row(p, 0), "config_changed"));
    assert_true(has(hob_page_row(p, 0), line));
    assert_true(has(hob_page_row(p, 0), "You are hob"));
    hob_page_destroy(p);
    host_finish(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_session_copy__a_call_without_result_gets_one),
        cmocka_unit_test(test_session_copy__ids_are_its_own),
        cmocka_unit_test(test_session_copy__a_hole_in_a_log_is_filled_and_seen),
        cmocka_unit_test(test_session_copy__words_are_added_once),
        cmocka_unit_test(test_session_copy__the_folder_that_is_told_is_the_one_in_use),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
