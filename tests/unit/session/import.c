/* A session as lines and back: the same, or under other ids; and logs that somebody made up. */
#include "support/check.h"
#include "support/host.h"

#include <hob/artifact.h>

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static host r;
static hob_buf text; /* of the last export */

static int set_up(void **state) {
    (void)state;
    host_init(&r, "{'otherwise':[{'text':'got {{user}}'}]}");
    r.ro.store = "sqlite";
    hob_buf_init(&text, 128u << 20);
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    host_finish(&r);
    hob_buf_finish(&text);
    return 0;
}

static int put_line(hob_str line, void *user) {
    hob_buf_add(user, line);
    hob_buf_addc(user, '\n');
    return 0;
}

static const char *export_of(const char *id) {
    hob_buf_reset(&text);
    assert_ok(hob_runtime_export_session(r.rt, id, NULL, put_line, &text, &r.err), r.err);
    return hob_buf_z(&text);
}

/* Into the store that is open. */
static int import_text(hob_str lines, const hob_tenant *into, hob_page **out) {
    hob_import *im;
    hob_str line;
    assert_ok(hob_import_create(r.rt, into, &im, &r.err), r.err);
    int rc = HOB_OK;
    while (rc >= 0 && lines.n && hob_str_split(&lines, '\n', &line))
        rc = hob_import_line(im, line, &r.err);
    if (rc >= 0) rc = hob_import_commit(im, out, &r.err);
    hob_import_destroy(im);
    return rc;
}

static size_t count_sessions(void) {
    hob_page_opts q = HOB_PAGE_OPTS_INIT;
    hob_page *p;
    q.flags = HOB_PAGE_ALL;
    q.limit = 1000;
    assert_ok(hob_runtime_sessions(r.rt, &q, &p, &r.err), r.err);
    size_t n = hob_page_count(p);
    hob_page_destroy(p);
    return n;
}

static void talk(void) {
    r.so.id = "a";
    host_open(&r);
    host_prompt(&r, "one");
    host_prompt(&r, "two");
    assert_ok(hob_session_state_set(r.s, HOB_STR("k"), HOB_STR("1"), &r.err), r.err);
    hob_session_detach(r.s);
    r.s = NULL;
}

static void field(const hob_page *p, size_t i, const char *key, char out[200]) {
    if (hob_json_field(hob_page_row(p, i), key, out, 200) < 0) out[0] = 0;
}

static void test_session_import__a_session_comes_back_as_it_was(void **state) {
    hob_page *p;
    char id[200];
    (void)state;
    talk();
    char *before = hob_dupz(hob_str_z(export_of("a")));
    assert_ok(hob_runtime_remove_session(r.rt, "a", &r.err), r.err);
    assert_ok(import_text(hob_str_z(before), NULL, &p), r.err);
    field(p, 0, "id", id);
    assert_string_equal(id, "a");
    field(p, 0, "from", id);
    assert_string_equal(id, "");
    hob_page_destroy(p);
    assert_string_equal(export_of("a"), before);
    assert_ok(hob_runtime_find_run(r.rt, "run-a-2", NULL, &p, &r.err), r.err);
    field(p, 0, "status", id);
    assert_string_equal(id, "completed");
    hob_page_destroy(p);
    r.so.choice = HOB_SESSION_OPEN;
    assert_ok(hob_session_create(r.rt, &r.so, &r.s, &r.err), r.err);
    assert_string_equal(host_prompt(&r, "three"), "completed");
    assert_string_equal(host_text(&r), "got three");
    hob_free(before);
}

static void test_session_import__an_id_that_is_taken_is_replaced_everywhere(void **state) {
    hob_page *p;
    char id[200], from[200];
    (void)state;
    talk();
    export_of("a");
    char *before = hob_dupz(hob_buf_str(&text));
    assert_ok(import_text(hob_str_z(before), NULL, &p), r.err);
    field(p, 0, "id", id);
    field(p, 0, "from", from);
    assert_string_equal(from, "a");
    assert_string_not_equal(id, "a");
    hob_page_destroy(p);
    const char *copy = export_of(id);
    assert_null(strstr(copy, "\"a\""));
    assert_null(strstr(copy, "run-a-"));
    assert_int_equal(count_sessions(), 2);
    assert_string_equal(export_of("a"), before);
    hob_free(before);
}

static int calls;

static void script_one_call(const hob_tool *wait) {
    host_script(&r, "{'rules':[{'when':{'step':1},'reply':[{'tool':'wait','args':{}}]},{'reply':["
                    "{'text':'done'}]}]}");
    r.so.tools = wait;
    r.so.ntools = 1;
}

static void test_session_import__what_a_run_continues_is_called_anew_with_it(void **state) {
    hob_page_opts q = HOB_PAGE_OPTS_INIT;
    hob_page *p, *runs;
    char id[200], prompt[200];
    hob_tool wait = host_silent_tool("wait", HOB_TOOL_IDEMPOTENT);
    hob_tool counting = host_tool("wait", HOB_TOOL_IDEMPOTENT, &calls);
    (void)state;
    calls = 0;
    script_one_call(&wait);
    r.so.permission_mode = "yolo";
    host_run_and_kill(&r, "remember me", HOB_EVENT_TOOL_STARTED, NULL, NULL);
    r.so.tools = &counting;
    host_open(&r);
    assert_string_equal(host_wait(&r), "completed"); /* resumed */
    assert_ok(import_text(hob_str_z(export_of(r.so.id)), NULL, &p), r.err);
    field(p, 0, "id", id);
    q.session = id;
    assert_ok(hob_runtime_runs(r.rt, &q, &runs, &r.err), r.err);
    assert_int_equal(hob_page_count(runs), 2);
    for (size_t i = 0; i < 2; i++) {
        field(runs, i, "prompt", prompt);
        assert_string_equal(prompt, "remember me");
    }
    hob_page_destroy(runs);
    hob_page_destroy(p);
}

static void test_session_import__it_becomes_the_tenants(void **state) {
    hob_tenant ann = HOB_TENANT_INIT;
    hob_page *p;
    (void)state;
    talk();
    export_of("a");
    assert_ok(hob_runtime_remove_session(r.rt, "a", &r.err), r.err);
    ann.app_name = "app";
    ann.user_id = "ann";
    assert_ok(import_text(hob_buf_str(&text), &ann, &p), r.err);
    hob_page_destroy(p);
    assert_ok(hob_runtime_find_session_of(r.rt, "a", &ann, &p, &r.err), r.err);
    hob_page_destroy(p);
    r.so.choice = HOB_SESSION_OPEN; /* its log says the same */
    r.so.app_name = HOB_STR("app");
    r.so.user_id = HOB_STR("ann");
    assert_ok(hob_session_create(r.rt, &r.so, &r.s, &r.err), r.err);
}

/* ---- sub-agents ---------------------------------------------------------------------------------------------- */

static const char nested[] =
    "{'rules':[{'when':{'system':{'contains':'work as a sub-agent'}},'reply':[{'text':'five'}]},"
    "{'when':{'step':1},'reply':[{'tool':'task','args':{'agent':'general','prompt':'add'}}]},"
    "{'reply':[{'text':'done'}]}]}";

static void test_session_import__sub_agents_come_with_it(void **state) {
    hob_page *p;
    char root[200], child[200], parent[200];
    (void)state;
    host_script(&r, nested);
    r.so.id = "root";
    host_open(&r);
    assert_string_equal(host_prompt(&r, "go"), "completed");
    hob_session_detach(r.s);
    r.s = NULL;
    char *before = hob_dupz(hob_str_z(export_of("root")));
    assert_ok(import_text(hob_str_z(before), NULL, &p), r.err);
    assert_int_equal(hob_page_count(p), 2);
    field(p, 0, "id", root);
    field(p, 1, "id", child);
    hob_page_destroy(p);
    assert_ok(hob_runtime_find_session(r.rt, child, &p, &r.err), r.err);
    field(p, 0, "parent", parent);
    assert_string_equal(parent, root);
    hob_page_destroy(p);
    assert_non_null(strstr(export_of(root), child)); /* its events name the new one */
    assert_null(strstr(hob_buf_z(&text), "\"root\""));
    assert_ok(hob_runtime_remove_session(r.rt, "root", &r.err), r.err);
    assert_ok(import_text(hob_str_z(before), NULL, &p), r.err);
    hob_page_destroy(p);
    assert_string_equal(export_of("root"), before);
    hob_free(before);
}

/* ---- what was under way -------------------------------------------------------------------------------------- */

static void import_unfinished(void) {
    hob_page *p;
    assert_ok(hob_runtime_create(&r.ro, &r.rt, &r.err), r.err);
    export_of(r.id);
    assert_ok(hob_runtime_remove_session(r.rt, r.id, &r.err), r.err);
    assert_ok(import_text(hob_buf_str(&text), NULL, &p), r.err);
    hob_page_destroy(p);
    export_of(r.id);
}

/* Opened with everything that lets it go on, it does not. */
static void assert_nothing_goes_on(hob_tool *tool) {
    r.so.tools = tool;
    r.so.ntools = 1;
    r.so.permission_mode = "yolo";
    r.so.on_unfinished = HOB_UNFINISHED_RESUME;
    assert_ok(hob_session_create(r.rt, &r.so, &r.s, &r.err), r.err);
    assert_int_equal(hob_session_is_running(r.s), 0);
    host_wait(&r);
    assert_int_equal(calls, 0);
}

static void test_session_import__a_run_without_an_end_gets_one(void **state) {
    hob_tool wait = host_silent_tool("wait", HOB_TOOL_IDEMPOTENT);
    hob_tool counting = host_tool("wait", HOB_TOOL_IDEMPOTENT, &calls);
    (void)state;
    calls = 0;
    script_one_call(&wait);
    r.so.permission_mode = "yolo";
    host_run_and_kill(&r, "go", HOB_EVENT_TOOL_STARTED, NULL, NULL);
    import_unfinished();
    assert_non_null(strstr(hob_buf_z(&text), "\"reason\":\"imported\""));
    assert_non_null(strstr(hob_buf_z(&text), "{\"permission_mode\":\"ask\"}"));
    assert_nothing_goes_on(&counting);
    assert_string_equal(host_prompt(&r, "and now?"), "completed");
}

static void test_session_import__a_call_that_waits_for_a_person_is_over(void **state) {
    hob_tool wait = host_silent_tool("wait", HOB_TOOL_UNSAFE);
    hob_tool counting = host_tool("wait", HOB_TOOL_UNSAFE, &calls);
    (void)state;
    calls = 0;
    script_one_call(&wait);
    r.so.approver = HOB_APPROVER_HOST;
    host_run_and_kill(&r, "go", HOB_EVENT_APPROVAL_REQUESTED, NULL, NULL);
    import_unfinished();
    assert_nothing_goes_on(&counting);
    assert_int_equal(hob_session_is_parked(r.s), 0);
}

/* ---- artifacts -------------------------------------------------------------------------------------------------- */

static void save(const char *name, hob_str bytes, const char *meta) {
    hob_artifact_item item = HOB_ARTIFACT_ITEM_INIT;
    item.name = hob_str_z(name);
    item.bytes = bytes;
    item.meta = hob_str_z(meta);
    assert_true(hob_runtime_artifact_save(r.rt, "a", NULL, &item, &r.err) >= 0);
}

/* "NAME@VERSION …" of a session. */
static const char *shelf_of(const char *id) {
    static char list[400];
    hob_artifact_query q = HOB_ARTIFACT_QUERY_INIT;
    hob_page *p;
    char name[200], version[200];
    q.session = id;
    assert_ok(hob_runtime_artifacts(r.rt, &q, &p, &r.err), r.err);
    list[0] = 0;
    for (size_t i = 0; i < hob_page_count(p); i++) {
        field(p, i, "name", name);
        field(p, i, "version", version);
        snprintf(list + strlen(list), sizeof list - strlen(list), "%s@%s ", name, version);
    }
    hob_page_destroy(p);
    return list;
}

/* Under another id and for another user, with every version as it was; one that is too large for a line takes several. */
static void test_session_import__artifacts_come_with_it(void **state) {
    enum { LARGE = 25 << 20 };
    hob_tenant bob = {sizeof bob, "hob", "bob"};
    hob_artifact_query q = HOB_ARTIFACT_QUERY_INIT;
    hob_artifact *one;
    hob_page *p;
    char id[200], n[200], *large = hob_alloc(LARGE);
    (void)state;
    for (size_t i = 0; i < LARGE; i++) large[i] = (char)(i * 7 + i / 1000);
    talk();
    save("x/a b", HOB_STR("first"), "{\"k\": [1]}");
    save("x/a b", hob_str_n(large, 0), "");
    save("z", hob_str_n(large, LARGE), "");
    save("user:u", HOB_STR("mine"), "");
    char *before = hob_dupz(hob_str_z(export_of("a")));
    assert_null(strstr(before, "user:u\",\"version"));
    assert_ok(import_text(hob_str_z(before), &bob, &p), r.err);
    field(p, 0, "id", id);
    field(p, 0, "artifacts", n);
    assert_string_equal(n, "3");
    hob_page_destroy(p);
    assert_string_equal(shelf_of(id), "x/a b@1 z@0 ");
    q.session = id;
    q.name = HOB_STR("z");
    assert_ok(hob_runtime_artifact_load(r.rt, &q, &one, &r.err), r.err);
    assert_int_equal(hob_artifact_bytes(one).n, LARGE);
    assert_memory_equal(hob_artifact_bytes(one).p, large, LARGE);
    hob_artifact_destroy(one);
    assert_ok(hob_runtime_remove_session(r.rt, "a", &r.err), r.err);
    assert_ok(import_text(hob_str_z(before), NULL, &p), r.err);
    hob_page_destroy(p);
    assert_true(!strcmp(export_of("a"), before));
    hob_free(before);
    hob_free(large);
}

/* ---- lines that are wrong -------------------------------------------------------------------------------------- */

#define HEAD "{'type':'hob_export','v':1}\n"
#define SESSION(n) "{'type':'session','id':'x','events':" #n "}\n"
#define EVENT(seq, type, more)                                                                     \
    "{'v':1,'seq':" #seq ",'ts':'2026-01-01T00:00:00.000Z','type':'" type                          \
    "','session_id':'x'" more "}\n"
#define OPENED EVENT(1, "session_opened", ",'data':{}")
#define ARTIFACT(name, version, size, bytes)                                                       \
    "{'type':'artifact','name':'" name "','version':" #version                                     \
    ",'created':'2026-01-01T00:00:00.000Z','size':" #size ",'base64':'" bytes "'}\n"
#define MORE(bytes) "{'type':'more','base64':'" bytes "'}\n"
#define END(s, e) "{'type':'end','sessions':" #s ",'events':" #e "}\n"

static int import_quoted(const char *quoted) {
    hob_page *p = NULL;
    char *z = hob_dupz(hob_str_z(quoted));
    for (char *c = z; *c; c++)
        if (*c == '\'') *c = '"';
    int rc = import_text(hob_str_z(z), NULL, &p);
    hob_page_destroy(p);
    hob_free(z);
    return rc;
}

static void test_session_import__a_wrong_line_is_named_and_nothing_is_stored(void **state) {
    static const struct {
        const char *text;
        int code;
        const char *says;
    } wrong[] = {
        {"", HOB_EPARSE, "line 1: the export is not whole"},
        {"hello\n", HOB_EPARSE, "line 1: "},
        {"[1]\n", HOB_EPARSE, "line 1: an object is expected"},
        {"{'type':'session'}\n", HOB_EPARSE, "line 1: this is no export"},
        {"{'type':'hob_export','v':2}\n", HOB_EVERSION, "line 1: an export of form 2"},
        {HEAD OPENED, HOB_EPARSE, "line 2: an event before the line of its session"},
        {HEAD "\n\n" SESSION(0), HOB_EPARSE, "line 4: session x has 0 events"},
        {HEAD "{'type':'session','id':'../x','events':1}\n", HOB_EPARSE, "line 2: the session has"},
        {HEAD SESSION(1) OPENED SESSION(1), HOB_EPARSE, "line 4: session x is there twice"},
        {HEAD SESSION(1) OPENED "{'type':'session','id':'y','parent':'z','events':1}\n", HOB_EPARSE,
         "line 4: session y works for none"},
        {HEAD SESSION(2) OPENED END(1, 2), HOB_EPARSE, "line 4: session x has 1 of its 2 events"},
        {HEAD SESSION(1) OPENED EVENT(2, "note", ",'data':{}"), HOB_EPARSE,
         "line 4: session x has more events"},
        {HEAD SESSION(1) EVENT(2, "session_opened", ",'data':{}"), HOB_EPARSE,
         "line 3: event 2 of session x stands where 1 should"},
        {HEAD SESSION(1) EVENT(1, "note", ",'data':{}"), HOB_EPARSE,
         "line 3: a log begins with session_opened"},
        {HEAD SESSION(2) OPENED EVENT(2, "text_delta", ",'data':{}"), HOB_EPARSE,
         "line 4: text_delta is never stored"},
        {HEAD SESSION(2) OPENED EVENT(2, "user_message", ",'entry':'e9','data':{}"), HOB_EPARSE,
         "line 4: event 2 is the entry e2, not e9"},
        {HEAD SESSION(2) OPENED EVENT(2, "note", ",'run_id':'a b','data':{}"), HOB_EPARSE,
         "line 4: the run of the event"},
        {HEAD SESSION(2) OPENED EVENT(2, "note", ""), HOB_EPARSE, "line 4: not an event"},
        {HEAD SESSION(2) OPENED EVENT(2, "branch_moved", ",'data':{'to':'e7'}"), HOB_ENOENT,
         "line 4: "},
        {HEAD SESSION(1) "{'v':1,'seq':1,'ts':'2926-01-01T00:00:00.000Z','type':'session_opened',"
                         "'session_id':'x','data':{}}\n",
         HOB_EPARSE, "line 3: event 1 is of the future"},
        {HEAD SESSION(1) OPENED END(1, 2), HOB_EPARSE, "line 4: it should end after 1 sessions"},
        {HEAD SESSION(1) OPENED END(1, 1) "{}\n", HOB_EPARSE,
         "line 5: there is more after the end"},
        {HEAD SESSION(1) OPENED, HOB_EPARSE, "line 4: the export is not whole"},
        {HEAD ARTIFACT("a", 0, 1, "eA=="), HOB_EPARSE, "line 2: an event before the line"},
        {HEAD SESSION(2) OPENED ARTIFACT("a", 0, 1, "eA=="), HOB_EPARSE, "line 4: session x has 1"},
        {HEAD SESSION(1) OPENED ARTIFACT("../a", 0, 1, "eA=="), HOB_EINVAL, "line 4: "},
        {HEAD SESSION(1) OPENED ARTIFACT("user:a", 0, 1, "eA=="), HOB_EPARSE,
         "line 4: an artifact of a user"},
        {HEAD SESSION(1) OPENED ARTIFACT("a", -1, 1, "eA=="), HOB_EPARSE,
         "line 4: the artifact has no version"},
        {HEAD SESSION(1) OPENED ARTIFACT("a", 9000000000, 1, "eA=="), HOB_EPARSE,
         "line 4: the artifact has no version"},
        {HEAD SESSION(1) OPENED ARTIFACT("a", 0, 67108865, "eA=="), HOB_EPARSE,
         "line 4: an artifact has 0 bytes to"},
        {HEAD SESSION(1) OPENED ARTIFACT("a", 0, 1, "eHg="), HOB_EPARSE,
         "line 4: the bytes of a are not"},
        {HEAD SESSION(1) OPENED ARTIFACT("a", 0, 1, "!!!!"), HOB_EPARSE,
         "line 4: the bytes of a are not"},
        {HEAD SESSION(1) OPENED ARTIFACT("a", 0, 1, ""), HOB_EPARSE,
         "line 4: the bytes of a are not"},
        {HEAD SESSION(1) OPENED ARTIFACT("a", 0, 2, "eA==") END(1, 1), HOB_EPARSE,
         "line 5: 1 bytes of the artifact"},
        {HEAD SESSION(1) OPENED ARTIFACT("a", 0, 2, "eA==") MORE("eHg="), HOB_EPARSE,
         "line 5: the bytes of a"},
        {HEAD SESSION(1) OPENED MORE("eA=="), HOB_EPARSE, "line 4: "},
        {HEAD SESSION(1) OPENED ARTIFACT("a", 0, 1, "eA==") ARTIFACT("a", 0, 1, "eA=="), HOB_EPARSE,
         "line 5: version 0 of a is not where it belongs"},
        {HEAD SESSION(1) OPENED ARTIFACT("b", 0, 1, "eA==") ARTIFACT("a", 0, 1, "eA=="), HOB_EPARSE,
         "line 5: version 0 of a is not where it belongs"},
        {HEAD SESSION(1) OPENED ARTIFACT("a", 0, 1, "eA==") END(1, 1), HOB_EPARSE,
         "line 5: it should end after 0 artifacts, and there were 1"},
    };
    (void)state;
    assert_ok(hob_runtime_create(&r.ro, &r.rt, &r.err), r.err);
    for (size_t i = 0; i < HOB_ARRAY_LEN(wrong); i++) {
        int rc = import_quoted(wrong[i].text);
        if (rc != wrong[i].code || !strstr(r.err.message, wrong[i].says))
            fail_msg("%zu: %d %s, not %d %s", i, rc, r.err.message, wrong[i].code, wrong[i].says);
    }
    assert_int_equal(count_sessions(), 0);
    assert_ok(import_quoted(HEAD SESSION(1) OPENED END(1, 1)), r.err);
    assert_int_equal(count_sessions(), 1);
}

static int stop_at_once(hob_str line, void *user) {
    (void)line, (void)user;
    return HOB_ECANCELLED;
}

static void test_session_import__an_export_can_be_stopped(void **state) {
    (void)state;
    talk();
    assert_int_equal(hob_runtime_export_session(r.rt, "a", NULL, stop_at_once, NULL, &r.err),
                     HOB_ECANCELLED);
    assert_int_equal(hob_runtime_export_session(r.rt, "none", NULL, stop_at_once, NULL, &r.err),
                     HOB_ENOENT);
}

/* The run of one session is named by another that comes in: that one gets a name of its own. */
static void test_session_import__takes_no_run_of_another(void **state) {
    hob_page *row;
    char session[160];
    (void)state;
    talk();
    assert_ok(import_quoted(
                  HEAD SESSION(3) OPENED EVENT(2, "run_started",
                                               ",'run_id':'run-a-2','data':{'origin':'prompt'}")
                      EVENT(3, "run_finished", ",'run_id':'run-a-2','data':{'status':'completed'}")
                          END(1, 3)),
              r.err);
    assert_int_equal(count_sessions(), 2);
    assert_ok(hob_runtime_find_run(r.rt, "run-a-2", NULL, &row, &r.err), r.err);
    hob_json_field(hob_page_row(row, 0), "session", session, sizeof session);
    assert_string_equal(session, "a");
    hob_page_destroy(row);
}

#define T(name) cmocka_unit_test_setup_teardown(test_session_import__##name, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        T(a_session_comes_back_as_it_was),
        T(an_id_that_is_taken_is_replaced_everywhere),
        T(what_a_run_continues_is_called_anew_with_it),
        T(it_becomes_the_tenants),
        T(sub_agents_come_with_it),
        T(artifacts_come_with_it),
        T(a_run_without_an_end_gets_one),
        T(a_call_that_waits_for_a_person_is_over),
        T(a_wrong_line_is_named_and_nothing_is_stored),
        T(an_export_can_be_stopped),
        T(takes_no_run_of_another),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
