/* What is stored, changed without being opened for work: titles, copies, an end to runs nobody works on. */
#include "support/check.h"
#include "support/host.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static host r;

static int set_up(void **state) {
    (void)state;
    host_init(&r, "{'otherwise':[{'text':'got {{user}}'}]}");
    r.ro.store = "sqlite";
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    host_finish(&r);
    return 0;
}

static void leave(void) {
    hob_session_id(r.s, r.id, sizeof r.id);
    hob_session_detach(r.s);
    r.s = NULL;
}

/* A field of the row of a session. */
static const char *row(const char *id, const char *key) {
    static char value[400];
    hob_page *p;
    assert_ok(hob_runtime_find_session(r.rt, id, &p, &r.err), r.err);
    if (hob_json_field(hob_page_row(p, 0), key, value, sizeof value) < 0) value[0] = 0;
    hob_page_destroy(p);
    return value;
}

/* The texts of a stored conversation, each behind a stroke. */
static const char *conversation(const char *id) {
    static char all[2000];
    hob_page *p;
    all[0] = 0;
    assert_ok(hob_runtime_history(r.rt, id, &p, &r.err), r.err);
    for (size_t i = 0; i < hob_page_count(p); i++) {
        hob_event *e;
        char text[400];
        assert_ok(hob_event_from_json(hob_page_row(p, i), &e, &r.err), r.err);
        hob_event_text(e, text, sizeof text);
        snprintf(all + strlen(all), sizeof all - strlen(all), "|%s", text);
        hob_event_unref(e);
    }
    hob_page_destroy(p);
    return all;
}

/* The stored session cannot be opened for work: its model is not there any more. */
static void lose_the_model(void) {
    hob_test_file(&r.folder, "script.json", HOB_STR("no script"));
    assert_int_equal(unlink(r.model + strlen("scripted:")), 0);
}

/* ---- titles ---------------------------------------------------------------------------------------------- */

static void test_session_stored__a_title_needs_no_model(void **state) {
    (void)state;
    host_open(&r);
    host_prompt(&r, "one");
    leave();
    char seq[32];
    snprintf(seq, sizeof seq, "%s", row(r.id, "last_seq"));
    lose_the_model();
    assert_string_equal(row(r.id, "title"), "one");
    assert_ok(hob_runtime_rename_session(r.rt, r.id, NULL, HOB_STR("A better name"), &r.err),
              r.err);
    assert_string_equal(row(r.id, "title"), "A better name");
    assert_int_equal(atoi(row(r.id, "last_seq")), atoi(seq) + 1); /* nothing else was said */
    assert_string_equal(row(r.id, "owner"), "");
    assert_int_equal(hob_runtime_rename_session(r.rt, r.id, NULL, HOB_STR("two\nlines"), &r.err),
                     HOB_EINVAL);
    assert_int_equal(hob_runtime_rename_session(r.rt, "none", NULL, HOB_STR("x"), &r.err),
                     HOB_ENOENT);
}

static void test_session_stored__what_is_open_is_its_owners(void **state) {
    (void)state;
    host_open(&r);
    host_prompt(&r, "one");
    hob_session_id(r.s, r.id, sizeof r.id);
    assert_int_equal(hob_runtime_rename_session(r.rt, r.id, NULL, HOB_STR("x"), &r.err), HOB_EBUSY);
    assert_ok(hob_session_set_title(r.s, HOB_STR("mine"), &r.err), r.err);
    assert_string_equal(row(r.id, "title"), "mine");
}

static void test_session_stored__what_is_anothers_is_not_there(void **state) {
    hob_tenant of = HOB_TENANT_INIT;
    hob_fork_opts o = HOB_FORK_OPTS_INIT;
    hob_page *p;
    (void)state;
    r.so.id = "a";
    host_open(&r);
    host_prompt(&r, "one");
    leave();
    of.app_name = "hob";
    of.user_id = "somebody";
    o.session = r.id;
    o.of = &of;
    const char *run = "run-a-2";
    assert_int_equal(hob_runtime_rename_session(r.rt, r.id, &of, HOB_STR("x"), &r.err), HOB_ENOENT);
    assert_int_equal(hob_runtime_fork_session(r.rt, &o, &p, &r.err), HOB_ENOENT);
    assert_int_equal(hob_runtime_cancel_run(r.rt, run, &of, &r.err), HOB_ENOENT);
    assert_int_equal(hob_runtime_remove_session_of(r.rt, r.id, &of, NULL, &r.err), HOB_ENOENT);
    of.user_id = "local";
    assert_int_equal(hob_runtime_cancel_run(r.rt, run, &of, &r.err), HOB_EIDLE);
    assert_ok(hob_runtime_fork_session(r.rt, &o, &p, &r.err), r.err);
    hob_page_destroy(p);
    assert_ok(hob_runtime_remove_session_of(r.rt, r.id, &of, NULL, &r.err), r.err);
}

/* ---- copies ---------------------------------------------------------------------------------------------- */

static hob_page *fork_at(const char *entry, const char *id) {
    hob_fork_opts o = HOB_FORK_OPTS_INIT;
    hob_page *p;
    o.session = r.id;
    o.entry = entry;
    o.id = id;
    assert_ok(hob_runtime_fork_session(r.rt, &o, &p, &r.err), r.err);
    return p;
}

static const char *value_of(const char *id, const char *key) {
    static char value[100];
    hob_state *s;
    hob_str json;
    assert_ok(hob_runtime_session_state(r.rt, id, &s, &r.err), r.err);
    int rc = hob_state_get(s, hob_str_z(key), &json);
    snprintf(value, sizeof value, "%.*s", rc < 0 ? 0 : (int)json.n, rc < 0 ? "" : json.p);
    hob_state_destroy(s);
    return value;
}

/* Three messages and their answers, and a state that changed behind each. */
static void talk(void) {
    static const char *const said[] = {"one", "two", "three"};
    host_open(&r);
    for (size_t i = 0; i < 3; i++) {
        char number[8];
        host_prompt(&r, said[i]);
        snprintf(number, sizeof number, "%zu", i + 1);
        assert_ok(hob_session_state_set(r.s, HOB_STR("n"), hob_str_z(number), &r.err), r.err);
        assert_ok(hob_session_state_set(r.s, HOB_STR("user:n"), hob_str_z(number), &r.err), r.err);
    }
    assert_ok(hob_session_set_title(r.s, HOB_STR("Counting"), &r.err), r.err);
    leave();
}

/* The entry of the k-th message of the conversation. */
static const char *entry(size_t k) {
    static char id[32];
    hob_page *p;
    assert_ok(hob_runtime_history(r.rt, r.id, &p, &r.err), r.err);
    assert_true(hob_json_field(hob_page_row(p, k), "entry", id, sizeof id) > 0);
    hob_page_destroy(p);
    return id;
}

static void test_session_stored__a_copy_of_all(void **state) {
    (void)state;
    talk();
    lose_the_model();
    hob_page_destroy(fork_at(NULL, "copy"));
    assert_string_equal(conversation("copy"), "|one|got one|two|got two|three|got three");
    assert_string_equal(row("copy", "forked_from"), r.id);
    assert_string_equal(row("copy", "title"), "Counting (copy)");
    assert_string_equal(row("copy", "model"), row(r.id, "model"));
    assert_string_equal(row("copy", "cwd"), r.dir);
    assert_string_equal(value_of("copy", "n"), "3");
    assert_string_equal(conversation(r.id), "|one|got one|two|got two|three|got three");
}

static void test_session_stored__a_copy_up_to_an_entry_has_the_state_of_then(void **state) {
    (void)state;
    talk();
    hob_page_destroy(fork_at(entry(3), "after-two"));
    assert_string_equal(conversation("after-two"), "|one|got one|two|got two");
    assert_string_equal(value_of("after-two", "n"), "2");
    assert_string_equal(value_of("after-two", "user:n"), "3"); /* others share it */
    hob_page_destroy(fork_at(entry(2), "in-two"));
    assert_string_equal(conversation("in-two"), "|one|got one|two");
    assert_string_equal(value_of("in-two", "n"), "1");
    assert_string_equal(value_of(r.id, "n"), "3");
}

static void test_session_stored__a_copy_goes_on_by_itself(void **state) {
    (void)state;
    talk();
    hob_page_destroy(fork_at(entry(1), "copy"));
    r.so.choice = HOB_SESSION_OPEN;
    r.so.id = "copy";
    assert_ok(hob_session_create(r.rt, &r.so, &r.s, &r.err), r.err);
    assert_string_equal(host_prompt(&r, "four"), "completed");
    assert_string_equal(conversation("copy"), "|one|got one|four|got four");
}

static void test_session_stored__a_copy_that_cannot_be(void **state) {
    hob_fork_opts o = HOB_FORK_OPTS_INIT;
    hob_page *p;
    (void)state;
    talk();
    o.session = r.id;
    o.entry = "e9999";
    assert_int_equal(hob_runtime_fork_session(r.rt, &o, &p, &r.err), HOB_ENOENT);
    assert_non_null(strstr(r.err.message, "there is no entry e9999"));
    o.entry = "nonsense";
    assert_int_equal(hob_runtime_fork_session(r.rt, &o, &p, &r.err), HOB_ENOENT);
    o.entry = NULL;
    o.id = r.id;
    assert_int_equal(hob_runtime_fork_session(r.rt, &o, &p, &r.err), HOB_EEXIST);
    o.id = "no id";
    assert_int_equal(hob_runtime_fork_session(r.rt, &o, &p, &r.err), HOB_EINVAL);
    hob_page_opts all = HOB_PAGE_OPTS_INIT;
    assert_ok(hob_runtime_sessions(r.rt, &all, &p, &r.err), r.err);
    assert_int_equal(hob_page_count(p), 1); /* nothing is left of them */
    hob_page_destroy(p);
}

/* ---- runs ------------------------------------------------------------------------------------------------- */

static const char *run_status(const char *id) {
    static char status[64];
    hob_page *p;
    assert_ok(hob_runtime_find_run(r.rt, id, NULL, &p, &r.err), r.err);
    assert_true(hob_json_field(hob_page_row(p, 0), "status", status, sizeof status) > 0);
    hob_page_destroy(p);
    return status;
}

/* The one run that has no end. */
static const char *open_run(const char *status) {
    static char id[200];
    hob_page_opts q = HOB_PAGE_OPTS_INIT;
    hob_page *p;
    q.status = status;
    assert_ok(hob_runtime_runs(r.rt, &q, &p, &r.err), r.err);
    assert_int_equal(hob_page_count(p), 1);
    assert_true(hob_json_field(hob_page_row(p, 0), "id", id, sizeof id) > 0);
    hob_page_destroy(p);
    return id;
}

static int count_events(const char *run, const char *type) {
    hob_page *p;
    int n = 0;
    assert_ok(hob_runtime_run_events(r.rt, run, 0, 0, &p, &r.err), r.err);
    for (size_t i = 0; i < hob_page_count(p); i++) {
        char name[64];
        hob_json_field(hob_page_row(p, i), "type", name, sizeof name);
        n += !strcmp(name, type);
    }
    hob_page_destroy(p);
    return n;
}

static void open_runtime(void) {
    assert_ok(hob_runtime_create(&r.ro, &r.rt, &r.err), r.err);
}

static void test_session_stored__a_run_of_the_dead_is_ended(void **state) {
    hob_tool tool = host_silent_tool("wait", HOB_TOOL_UNSAFE);
    (void)state;
    host_script(&r, "{'otherwise':[{'tool':'wait','args':{}}]}");
    r.so.tools = &tool;
    r.so.ntools = 1;
    r.so.permission_mode = "yolo";
    host_run_and_kill(&r, "go", HOB_EVENT_TOOL_STARTED, NULL, NULL);
    lose_the_model();
    open_runtime();
    const char *run = open_run("running");
    assert_ok(hob_runtime_cancel_run(r.rt, run, NULL, &r.err), r.err);
    assert_string_equal(run_status(run), "interrupted");
    assert_string_equal(row(r.id, "state"), "idle");
    assert_int_equal(count_events(run, "run_finished"), 1);
    assert_int_equal(count_events(run, "config_changed"), 0);
    assert_int_equal(hob_runtime_cancel_run(r.rt, run, NULL, &r.err), HOB_EIDLE);
}

static void test_session_stored__a_run_that_waits_for_a_person_is_ended(void **state) {
    hob_tool tool = host_silent_tool("wait", HOB_TOOL_UNSAFE);
    (void)state;
    host_script(&r, "{'otherwise':[{'tool':'wait','args':{}}]}");
    r.so.tools = &tool;
    r.so.ntools = 1;
    r.so.approver = HOB_APPROVER_HOST;
    host_run_and_kill(&r, "go", HOB_EVENT_APPROVAL_REQUESTED, NULL, NULL);
    open_runtime();
    const char *run = open_run("parked");
    assert_ok(hob_runtime_cancel_run(r.rt, run, NULL, &r.err), r.err);
    assert_string_equal(run_status(run), "cancelled");
    assert_string_equal(row(r.id, "state"), "idle");
    assert_int_equal(count_events(run, "tool_started"), 0);
}

/* ---- runs with sub-agents ----------------------------------------------------------------------------------- */

static const char nested[] =
    "{'rules':[{'when':{'system':{'contains':'work as a sub-agent'}},'reply':[{'tool':'wait','args':{}}]},"
    "{'when':{'step':1},'reply':[{'tool':'task','args':{'agent':'general','prompt':'wait'}},"
    "{'tool':'task','args':{'agent':'general','prompt':'wait too','background':true}}]},"
    "{'reply':[{'text':'done'}]}]}";

static size_t count_running(void) {
    hob_page_opts q = HOB_PAGE_OPTS_INIT;
    hob_page *p;
    q.status = "running";
    assert_ok(hob_runtime_runs(r.rt, &q, &p, &r.err), r.err);
    size_t n = hob_page_count(p);
    hob_page_destroy(p);
    return n;
}

/* In a process of its own, which dies when three runs are under way. */
static void run_nested_and_kill(void) {
    int status;
    pid_t pid = fork();
    if (pid == 0) {
        host_open(&r);
        if (hob_session_prompt(r.s, HOB_STR("go"), &r.err) < 0) _exit(1);
        while (count_running() < 3) usleep(1000);
        raise(SIGKILL);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFSIGNALED(status));
}

static void test_session_stored__what_worked_for_it_is_ended_with_it(void **state) {
    hob_tool tool = host_silent_tool("wait", HOB_TOOL_UNSAFE);
    hob_page_opts q = HOB_PAGE_OPTS_INIT;
    hob_page *p;
    (void)state;
    host_script(&r, nested);
    r.so.tools = &tool;
    r.so.ntools = 1;
    r.so.permission_mode = "yolo";
    r.so.id = "root";
    run_nested_and_kill();
    lose_the_model();
    open_runtime();
    assert_int_equal(count_running(), 3);
    assert_ok(hob_runtime_cancel_run(r.rt, "run-root-2", NULL, &r.err), r.err);
    assert_int_equal(count_running(), 0);
    assert_string_equal(run_status("run-root-2"), "interrupted");
    assert_int_equal(count_events("run-root-2", "child_finished"), 2);
    q.flags = HOB_PAGE_ALL;
    assert_ok(hob_runtime_sessions(r.rt, &q, &p, &r.err), r.err);
    assert_int_equal(hob_page_count(p), 3);
    for (size_t i = 0; i < 3; i++) {
        char said[64];
        assert_true(hob_json_field(hob_page_row(p, i), "state", said, sizeof said) > 0);
        assert_string_equal(said, "idle");
    }
    hob_page_destroy(p);
}

static void test_session_stored__events_of_a_run_in_pages(void **state) {
    hob_page *p;
    size_t n = 0;
    uint64_t after = 0;
    (void)state;
    r.so.id = "a";
    talk();
    for (;;) {
        assert_ok(hob_runtime_run_events(r.rt, "run-a-2", after, 2, &p, &r.err), r.err);
        assert_true(hob_page_count(p) <= 2);
        for (size_t i = 0; i < hob_page_count(p); i++, n++) {
            char run[64];
            assert_true(hob_json_field(hob_page_row(p, i), "run_id", run, sizeof run) > 0);
            assert_string_equal(run, "run-a-2");
        }
        if (!hob_page_next(p).n) break;
        after = strtoull(hob_page_next(p).p, NULL, 10);
        hob_page_destroy(p);
    }
    hob_page_destroy(p);
    assert_int_equal(n, 6); /* started, user, call, answer, finished, settled */
    assert_int_equal(hob_runtime_run_events(r.rt, "run-x-2", 0, 0, &p, &r.err), HOB_ENOENT);
}

#define T(name) cmocka_unit_test_setup_teardown(test_session_stored__##name, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        T(a_title_needs_no_model),
        T(what_is_open_is_its_owners),
        T(what_is_anothers_is_not_there),
        T(a_copy_of_all),
        T(a_copy_up_to_an_entry_has_the_state_of_then),
        T(a_copy_goes_on_by_itself),
        T(a_copy_that_cannot_be),
        T(a_run_of_the_dead_is_ended),
        T(a_run_that_waits_for_a_person_is_ended),
        T(what_worked_for_it_is_ended_with_it),
        T(events_of_a_run_in_pages),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
