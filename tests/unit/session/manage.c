/* What is stored, seen without opening it: lists of sessions and runs, models. */
#include "session/session.h"
#include "support/check.h"
#include "support/host.h"
#include "support/stores.h"

#include <sqlite3.h>

static const char hello[] = "{'otherwise':[{'text':'got {{user}}'}]}";

static bool has(hob_str row, const char *word) {
    return hob_str_find(row, hob_str_z(word)) >= 0;
}

/* ---- sessions ----------------------------------------------------------------------------------------- */

enum { MANY = 1000 };

/* A store with many sessions, and the log of one cannot be read any more. */
static void make_many(host *r) {
    rig g = {.last = {0}};
    sqlite3 *db;
    char id[32];
    rig_init(&g);
    snprintf(g.path, sizeof g.path, "%s/hob.db", r->dir);
    hob_store *store = rig_sqlite(&g, "maker");
    for (int i = 0; i < MANY; i++) {
        snprintf(id, sizeof id, "s%d", i);
        assert_int_equal(rig_own(&g, store, id, HOB_OWN_CREATE), HOB_OK);
    }
    assert_int_equal(rig_append(&g, store, "s7", 0, HOB_STR("{\"v\":1,\"seq\":1}")), HOB_OK);
    assert_int_equal(rig_append(&g, store, "s7", 1, HOB_STR("{\"v\":1,\"seq\":2}")), HOB_OK);
    store->ops->close(store);
    rig_finish(&g);
    assert_int_equal(sqlite3_open(hob_test_path(&r->folder, "hob.db"), &db), SQLITE_OK);
    assert_int_equal(
        sqlite3_exec(db, "UPDATE event SET body = 'x' WHERE seq = 1", NULL, NULL, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_changes(db), 1);
    sqlite3_close(db);
}

/* IMP-47: pages of index rows, newest first, each session once; no log is read. */
static void test_session_manage__a_list_reads_no_log(void **state) {
    host r;
    hob_page *p;
    hob_page_opts o = HOB_PAGE_OPTS_INIT;
    char cursor[256] = "";
    int n = 0;
    (void)state;
    host_init(&r, hello);
    r.ro.store = "sqlite";
    make_many(&r);
    assert_ok(hob_runtime_create(&r.ro, &r.rt, &r.err), r.err);
    do {
        o.cursor = cursor;
        o.limit = 300;
        assert_ok(hob_runtime_sessions(r.rt, &o, &p, &r.err), r.err);
        n += (int)hob_page_count(p);
        hob_str next = hob_page_next(p);
        snprintf(cursor, sizeof cursor, "%.*s", (int)next.n, next.n ? next.p : "");
        hob_page_destroy(p);
    } while (cursor[0]);
    assert_int_equal(n, MANY);
    assert_ok(hob_runtime_find_session(r.rt, "s7", &p, &r.err), r.err);
    hob_page_destroy(p);
    assert_int_equal(hob_runtime_events(r.rt, "s7", 0, 0, &p, &r.err), HOB_ESTORE);
    hob_runtime_destroy(r.rt);
    r.rt = NULL;
    host_finish(&r);
}

static void test_session_manage__an_open_session_is_not_removed(void **state) {
    host r;
    (void)state;
    host_init(&r, hello);
    host_open(&r);
    host_prompt(&r, "hi");
    hob_session_id(r.s, r.id, sizeof r.id);
    assert_int_equal(hob_runtime_remove_session(r.rt, r.id, &r.err), HOB_EBUSY);
    assert_string_equal(host_prompt(&r, "hi"), "completed");
    hob_session_detach(r.s);
    r.s = NULL;
    assert_ok(hob_runtime_remove_session(r.rt, r.id, &r.err), r.err);
    assert_int_equal(hob_runtime_remove_session(r.rt, r.id, &r.err), HOB_ENOENT);
    host_finish(&r);
}

/* ---- runs ------------------------------------------------------------------------------------------------ */

/* The row of a run tells its own prompt, also when it was queued. */
static void test_session_manage__a_run_is_listed_with_its_prompt(void **state) {
    host r;
    gate g;
    hob_page *p;
    (void)state;
    host_init(&r, "{'rules':[{'when':{'user':'first','step':1},'reply':[{'tool':'a','args':{}}]},"
                  "{'reply':[{'text':'ok'}]}]}");
    gate_init(&g, "a", HOB_TOOL_READ_ONLY);
    r.so.tools = &g.tool;
    r.so.ntools = 1;
    host_open(&r);
    assert_ok(hob_session_prompt(r.s, hob_str_z("first"), &r.err), r.err);
    gate_wait_started(&g, 1);
    assert_ok(hob_session_follow_up(r.s, hob_str_z("second"), &r.err), r.err);
    gate_answer(&g, "done");
    assert_string_equal(host_wait(&r), "completed");
    assert_ok(hob_runtime_runs(r.rt, NULL, &p, &r.err), r.err);
    assert_int_equal(hob_page_count(p), 2);
    assert_true(has(hob_page_row(p, 0), "\"prompt\":\"second\""));
    assert_true(has(hob_page_row(p, 1), "\"prompt\":\"first\""));
    assert_true(has(hob_page_row(p, 1), "\"status\":\"completed\""));
    hob_page_destroy(p);
    host_finish(&r);
    gate_finish(&g);
}

/* ---- models ------------------------------------------------------------------------------------------------ */

static void *list_models(void *arg) {
    host *r = arg;
    for (int i = 0; i < 200; i++) {
        hob_page *p;
        if (hob_runtime_models(r->rt, &p, NULL) >= 0) hob_page_destroy(p);
    }
    return NULL;
}

/* The row that a session gets which names no model. */
static void expect_default(const char *model, const char *name) {
    host r;
    hob_page *p;
    char wanted[100];
    int found = 0;
    host_init(&r, hello);
    host_config(&r, "providers.openai.api_key", "\"sk\"");
    if (model) host_config(&r, "model", model);
    host_open(&r);
    assert_ok(hob_runtime_models(r.rt, &p, &r.err), r.err);
    snprintf(wanted, sizeof wanted, "\"name\":\"%s\"", name);
    for (size_t i = 0; i < hob_page_count(p); i++) {
        if (!has(hob_page_row(p, i), "\"default\":true")) continue;
        found++;
        assert_true(has(hob_page_row(p, i), wanted));
    }
    assert_int_equal(found, name[0] != 0);
    hob_page_destroy(p);
    host_finish(&r);
}

static void test_session_manage__the_default_model_is_marked(void **state) {
    (void)state;
    expect_default(NULL, "openai/gpt-5.1");
    expect_default("\"openai/gpt-5.1:low\"", "openai/gpt-5.1");
    expect_default("\"gpt-5.1\"", "openai/gpt-5.1");
    expect_default("\"scripted:any.json\"", "");
}

/* From any thread, while sessions choose models. */
static void test_session_manage__models_can_be_listed_meanwhile(void **state) {
    host r;
    pthread_t thread;
    char model[400];
    (void)state;
    host_init(&r, hello);
    host_open(&r);
    pthread_create(&thread, NULL, list_models, &r);
    for (int i = 0; i < 50; i++) {
        snprintf(model, sizeof model, "script%d.json", i);
        hob_test_file(&r.folder, model, hob_str_z("{\"otherwise\":[{\"text\":\"x\"}]}"));
        snprintf(model, sizeof model, "scripted:%s/script%d.json", r.dir, i);
        assert_ok(hob_session_set_model(r.s, model, &r.err), r.err);
    }
    pthread_join(thread, NULL);
    host_finish(&r);
}

/* ---- budgets -------------------------------------------------------------------------------------------------- */

/* A copy's conversation counts before the provider has counted it. */
static void test_session_manage__a_copied_conversation_counts_against_the_budget(void **state) {
    host r;
    static char big[40001];
    (void)state;
    memset(big, 'x', sizeof big - 1);
    host_init(&r, "{'otherwise':[{'text':'ok'}]}");
    r.ro.store = "sqlite";
    host_open(&r);
    assert_string_equal(host_prompt(&r, big), "completed");
    r.so.flags = HOB_SESSION_FORK;
    r.so.max_tokens = 5000;
    host_reopen(&r, HOB_UNFINISHED_RESUME);
    assert_string_equal(host_prompt(&r, "and now?"), "limit");
    assert_int_equal(host_count(&r, "model_call_started"), 0);
    host_finish(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_session_manage__a_list_reads_no_log),
        cmocka_unit_test(test_session_manage__an_open_session_is_not_removed),
        cmocka_unit_test(test_session_manage__a_run_is_listed_with_its_prompt),
        cmocka_unit_test(test_session_manage__the_default_model_is_marked),
        cmocka_unit_test(test_session_manage__models_can_be_listed_meanwhile),
        cmocka_unit_test(test_session_manage__a_copied_conversation_counts_against_the_budget),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
