/* Artifacts of real sessions, in both stores: by the host, by tools, read back by whoever may. */
/* ctest: labels=threads */
#include "support/check.h"
#include "support/host.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static const char *store; /* of the group that runs */

static const char script[] = "{'rules':[{'when':{'step':1},'reply':[{'tool':'make','args':{}}]}],"
                             "'otherwise':[{'text':'it says: {{result}}'}]}";

typedef struct fixture {
    host r;
    hob_tool tool;
    const char *names[4]; /* that the tool saves, in this order */
    char got[4096];
} fixture;

static int give(hob_reply *reply, const char *name, const char *bytes) {
    hob_artifact_item item = HOB_ARTIFACT_ITEM_INIT;
    item.name = hob_str_z(name);
    item.bytes = hob_str_z(bytes);
    return hob_reply_artifact_save(reply, &item, NULL);
}

static void make(const hob_tool_call *call, hob_reply *reply, void *user) {
    fixture *f = user;
    char bytes[16];
    (void)call;
    for (size_t i = 0; i < HOB_ARRAY_LEN(f->names) && f->names[i]; i++) {
        snprintf(bytes, sizeof bytes, "made %zu", i);
        if (give(reply, f->names[i], bytes) < 0) break;
    }
    hob_reply_text(reply, HOB_OUTCOME_OK, hob_str_z("made"));
}

static void init(fixture *f) {
    *f = (fixture){.names = {"f.txt"}};
    host_init(&f->r, script);
    f->r.ro.store = store;
    f->tool = host_tool("make", HOB_TOOL_READ_ONLY, NULL);
    f->tool.run = make;
    f->tool.user = f;
    f->r.so.tools = &f->tool;
    f->r.so.ntools = 1;
}

static void open_host(fixture *f) {
    init(f);
    host_open(&f->r);
}

static int64_t save_in(fixture *f, hob_session *s, const char *name, const char *bytes) {
    hob_artifact_item item = HOB_ARTIFACT_ITEM_INIT;
    int64_t version = -7;
    item.name = hob_str_z(name);
    item.bytes = hob_str_z(bytes);
    item.mime = "text/plain";
    int rc = hob_session_artifact_save(s, &item, &version, &f->r.err);
    return rc < 0 ? rc : version;
}

static int64_t save(fixture *f, const char *name, const char *bytes) {
    return save_in(f, f->r.s, name, bytes);
}

static const char *show(fixture *f, int rc, hob_artifact *a) {
    if (rc < 0) return hob_error_name(rc);
    snprintf(f->got, sizeof f->got, "%.*s", HOB_FMT(hob_artifact_bytes(a)));
    hob_artifact_destroy(a);
    return f->got;
}

static const char *text_in(fixture *f, hob_session *s, const char *name, int64_t version) {
    hob_artifact *a = NULL;
    int rc = hob_session_artifact_load(s, hob_str_z(name), version, &a, &f->r.err);
    return show(f, rc, a);
}

static const char *text(fixture *f, const char *name, int64_t version) {
    return text_in(f, f->r.s, name, version);
}

/* "NAME@VERSION …" */
static const char *rows(fixture *f, int rc, hob_page *p) {
    if (rc < 0) return hob_error_name(rc);
    f->got[0] = 0;
    for (size_t i = 0; i < hob_page_count(p); i++) {
        char name[520], version[24];
        size_t n = strlen(f->got);
        assert_true(hob_json_field(hob_page_row(p, i), "name", name, sizeof name) > 0);
        assert_true(hob_json_field(hob_page_row(p, i), "version", version, sizeof version) > 0);
        snprintf(f->got + n, sizeof f->got - n, "%s%s@%s", n ? " " : "", name, version);
    }
    hob_page_destroy(p);
    return f->got;
}

static const char *listed(fixture *f, hob_session *s, const char *name) {
    hob_artifact_query q = HOB_ARTIFACT_QUERY_INIT;
    hob_page *p = NULL;
    q.name = hob_str_z(name);
    int rc = hob_session_artifacts(s, &q, &p, &f->r.err);
    return rows(f, rc, p);
}

/* A field of the last event with this name. */
static const char *said(fixture *f, const char *type, const char *path) {
    static char value[512];
    char name[64];
    hob_page *p;
    assert_ok(hob_session_entries(f->r.s, 0, &p, &f->r.err), f->r.err);
    value[0] = 0;
    for (size_t i = 0; i < hob_page_count(p); i++) {
        hob_json_field(hob_page_row(p, i), "type", name, sizeof name);
        if (!strcmp(name, type)) hob_json_field(hob_page_row(p, i), path, value, sizeof value);
    }
    hob_page_destroy(p);
    return value;
}

static hob_session *another(fixture *f, const char *user) {
    hob_session_opts so = f->r.so;
    hob_session *s;
    so.user_id = hob_str_z(user);
    assert_ok(hob_session_create(f->r.rt, &so, &s, &f->r.err), f->r.err);
    return s;
}

/* ---- by the host -------------------------------------------------------------------------------------- */

static void test_session_artifacts__adk_58_versions_and_scopes(void **state) {
    fixture f;
    (void)state;
    open_host(&f);
    assert_int_equal(save(&f, "f.txt", "first"), 0);
    assert_int_equal(save(&f, "f.txt", "second"), 1);
    assert_int_equal(save(&f, "user:me", "mine"), 0);
    assert_string_equal(text(&f, "f.txt", HOB_ARTIFACT_NEWEST), "second");
    assert_string_equal(text(&f, "f.txt", 0), "first");
    assert_string_equal(text(&f, "f.txt", 2), "HOB_ENOENT");
    assert_string_equal(listed(&f, f.r.s, ""), "f.txt@1 user:me@0");
    assert_string_equal(listed(&f, f.r.s, "f.txt"), "f.txt@0 f.txt@1");
    hob_session *same = another(&f, "local"), *bob = another(&f, "bob");
    assert_string_equal(text_in(&f, same, "user:me", -1), "mine");
    assert_string_equal(text_in(&f, same, "f.txt", -1), "HOB_ENOENT");
    assert_string_equal(text_in(&f, bob, "user:me", -1), "HOB_ENOENT");
    assert_int_equal(save_in(&f, same, "user:me", "changed"), 1);
    assert_int_equal(save_in(&f, bob, "user:me", "his"), 0);
    assert_string_equal(text(&f, "user:me", -1), "changed");
    hob_session_close(same);
    hob_session_close(bob);
    host_finish(&f.r);
}

static void test_session_artifacts__one_is_what_was_saved(void **state) {
    fixture f;
    hob_artifact_item item = HOB_ARTIFACT_ITEM_INIT;
    hob_artifact *a;
    (void)state;
    open_host(&f);
    item.name = hob_str_z("out/a.bin");
    item.bytes = hob_str_n("\0\1\2", 3);
    item.meta = hob_str_z("{\"k\": 1}");
    assert_ok(hob_session_artifact_save(f.r.s, &item, NULL, &f.r.err), f.r.err);
    assert_ok(hob_session_artifact_load(f.r.s, item.name, -1, &a, &f.r.err), f.r.err);
    assert_str(hob_artifact_name(a), "out/a.bin");
    assert_str(hob_artifact_mime(a), "application/octet-stream");
    assert_str(hob_artifact_meta(a), "{\"k\": 1}");
    assert_int_equal(hob_artifact_version(a), 0);
    assert_true(hob_artifact_time(a) > 1600000000000);
    assert_int_equal(hob_artifact_bytes(a).n, 3);
    assert_memory_equal(hob_artifact_bytes(a).p, "\0\1\2", 3);
    hob_artifact_destroy(a);
    hob_artifact_destroy(NULL);
    host_finish(&f.r);
}

static void test_session_artifacts__an_event_tells_of_each(void **state) {
    fixture f;
    (void)state;
    open_host(&f);
    save(&f, "f.txt", "0");
    save(&f, "f.txt", "1");
    assert_string_equal(said(&f, "artifact_changed", "data.artifact_delta"), "{\"f.txt\":1}");
    assert_string_equal(said(&f, "artifact_changed", "author"), "host");
    assert_ok(hob_session_artifact_delete(f.r.s, hob_str_z("f.txt"), &f.r.err), f.r.err);
    assert_string_equal(said(&f, "artifact_changed", "data.removed"), "[\"f.txt\"]");
    assert_int_equal(host_count(&f.r, "artifact_changed"), 3);
    assert_string_equal(listed(&f, f.r.s, ""), "");
    host_finish(&f.r);
}

static void test_session_artifacts__what_is_not_there_cannot_be_deleted(void **state) {
    fixture f;
    (void)state;
    open_host(&f);
    assert_int_equal(hob_session_artifact_delete(f.r.s, hob_str_z("f"), &f.r.err), HOB_ENOENT);
    save(&f, "f", "x");
    assert_int_equal(hob_session_artifact_delete(f.r.s, hob_str_z("f"), &f.r.err), 0);
    assert_int_equal(hob_session_artifact_delete(f.r.s, hob_str_z("f"), &f.r.err), HOB_ENOENT);
    assert_int_equal(save(&f, "f", "again"), 0);
    assert_int_equal(host_count(&f.r, "artifact_changed"), 3);
    host_finish(&f.r);
}

static void test_session_artifacts__wrong_ones_are_refused_before_anything(void **state) {
    fixture f;
    hob_artifact_item item = HOB_ARTIFACT_ITEM_INIT;
    (void)state;
    open_host(&f);
    assert_int_equal(save(&f, "../f", "x"), HOB_EINVAL);
    assert_int_equal(save(&f, "", "x"), HOB_EINVAL);
    assert_string_equal(text(&f, "a/../b", -1), "HOB_EINVAL");
    item.name = hob_str_z("f");
    item.meta = hob_str_z("1");
    assert_int_equal(hob_session_artifact_save(f.r.s, &item, NULL, NULL), HOB_EINVAL);
    item.meta = hob_str_z("{");
    assert_int_equal(hob_session_artifact_save(f.r.s, &item, NULL, NULL), HOB_EPARSE);
    item.meta = hob_str_z("");
    item.bytes.n = ((size_t)64 << 20) + 1;
    assert_int_equal(hob_session_artifact_save(f.r.s, &item, NULL, NULL), HOB_ETOOBIG);
    item.size = 1;
    assert_int_equal(hob_session_artifact_save(f.r.s, &item, NULL, NULL), HOB_EINVAL);
    assert_int_equal(host_count(&f.r, "artifact_changed"), 0);
    host_finish(&f.r);
}

static void *save_many(void *user) {
    fixture *f = user;
    for (int i = 0; i < 20; i++) {
        if (save_in(&(fixture){0}, f->r.s, i % 2 ? "f" : "user:f", "x") < 0) return user;
    }
    return NULL;
}

static void test_session_artifacts__threads_get_numbers_of_their_own(void **state) {
    fixture f;
    pthread_t threads[4];
    void *failed;
    (void)state;
    open_host(&f);
    for (int i = 0; i < 4; i++) pthread_create(&threads[i], NULL, save_many, &f);
    for (int i = 0; i < 4; i++) {
        pthread_join(threads[i], &failed);
        assert_null(failed);
    }
    assert_string_equal(listed(&f, f.r.s, ""), "f@39 user:f@39");
    host_finish(&f.r);
}

/* ---- by tools ----------------------------------------------------------------------------------------- */

static void test_session_artifacts__a_tool_saves_with_its_result(void **state) {
    fixture f;
    (void)state;
    init(&f);
    const char *names[] = {"f.txt", "user:g", "f.txt", NULL};
    memcpy(f.names, names, sizeof names);
    host_open(&f.r);
    assert_string_equal(host_prompt(&f.r, "go"), "completed");
    assert_string_equal(host_text(&f.r), "it says: made");
    assert_string_equal(said(&f, "tool_finished", "data.actions.artifact_delta"),
                        "{\"f.txt\":1,\"user:g\":0}");
    assert_string_equal(listed(&f, f.r.s, ""), "f.txt@1 user:g@0");
    assert_string_equal(text(&f, "f.txt", 0), "made 0");
    assert_string_equal(text(&f, "f.txt", 1), "made 2");
    assert_string_equal(text(&f, "user:g", -1), "made 1");
    assert_int_equal(host_count(&f.r, "artifact_changed"), 0);
    host_finish(&f.r);
}

/* What stands in the way is said in the result, and the work goes on. */
static void test_session_artifacts__a_full_shelf_is_said_in_the_result(void **state) {
    fixture f;
    (void)state;
    if (strcmp(store, "memory")) return; /* ten thousand commits */
    open_host(&f);
    for (int i = 0; i < 10000; i++) assert_int_equal(save(&f, "f.txt", ""), i);
    assert_int_equal(save(&f, "f.txt", ""), HOB_ELIMIT);
    assert_string_equal(host_prompt(&f.r, "go"), "completed");
    assert_non_null(strstr(host_text(&f.r), "made"));
    assert_non_null(strstr(host_text(&f.r), "warning: nothing was saved: this session has 10000"));
    assert_string_equal(said(&f, "tool_finished", "data.actions"), "");
    host_finish(&f.r);
}

static void save_around(const hob_agent_call *call, hob_reply *reply, void *user) {
    (void)user;
    assert_int_equal(give(reply, call->content.n ? "after" : "before", "x"), 0);
    hob_reply_pass(reply);
}

static void save_at_model(const hob_agent_call *call, hob_reply *reply, void *user) {
    (void)call;
    *(int *)user = give(reply, "f", "x");
    hob_reply_pass(reply);
}

static void test_session_artifacts__functions_around_a_tool_save_too(void **state) {
    fixture f;
    int at_model = 0;
    hob_agent_callbacks around = HOB_AGENT_CALLBACKS_INIT;
    (void)state;
    init(&f);
    around.before_tool = around.after_tool = save_around;
    around.before_model = save_at_model;
    around.user = &at_model;
    f.r.so.callbacks = &around;
    host_open(&f.r);
    assert_string_equal(host_prompt(&f.r, "go"), "completed");
    assert_string_equal(listed(&f, f.r.s, ""), "after@0 before@0 f.txt@0");
    assert_int_equal(at_model, HOB_ENOSYS);
    host_finish(&f.r);
}

/* before_tool has saved; the tool never answers. */
static void test_session_artifacts__a_call_that_times_out_saves_what_was_asked_before(
    void **state) {
    fixture f;
    gate g;
    hob_agent_callbacks around = HOB_AGENT_CALLBACKS_INIT;
    (void)state;
    init(&f);
    around.before_tool = save_around;
    f.r.so.callbacks = &around;
    gate_init(&g, "make", HOB_TOOL_READ_ONLY);
    f.tool = g.tool;
    f.tool.timeout_ms = 20;
    host_open(&f.r);
    assert_string_equal(host_prompt(&f.r, "go"), "completed");
    assert_string_equal(said(&f, "tool_finished", "data.outcome"), "error");
    assert_string_equal(listed(&f, f.r.s, ""), "before@0");
    gate_answer(&g, "too late");
    host_finish(&f.r);
    gate_finish(&g);
}

static void ask_inside(const hob_tool_call *call, hob_reply *reply, void *user) {
    fixture *f = user;
    hob_artifact *a;
    (void)call;
    assert_int_equal(save(f, "f", "x"), HOB_EDEADLK);
    assert_int_equal(hob_session_artifact_load(f->r.s, hob_str_z("f"), -1, &a, NULL), HOB_EDEADLK);
    hob_reply_text(reply, HOB_OUTCOME_OK, hob_str_z("asked"));
}

static void test_session_artifacts__calls_that_wait_are_refused_inside_a_tool(void **state) {
    fixture f;
    (void)state;
    init(&f);
    f.tool.run = ask_inside;
    host_open(&f.r);
    assert_string_equal(host_prompt(&f.r, "go"), "completed");
    assert_string_equal(host_text(&f.r), "it says: asked");
    host_finish(&f.r);
}

/* ---- of stored sessions ------------------------------------------------------------------------------- */

static const char *stored(fixture *f, const hob_artifact_query *q) {
    hob_artifact *a = NULL;
    int rc = hob_runtime_artifact_load(f->r.rt, q, &a, &f->r.err);
    return show(f, rc, a);
}

static const char *stored_list(fixture *f, const hob_artifact_query *q) {
    hob_page *p = NULL;
    int rc = hob_runtime_artifacts(f->r.rt, q, &p, &f->r.err);
    return rows(f, rc, p);
}

static void test_session_artifacts__read_without_opening(void **state) {
    fixture f;
    hob_artifact_query q = HOB_ARTIFACT_QUERY_INIT;
    hob_tenant ann = HOB_TENANT_INIT, bob = HOB_TENANT_INIT;
    char id[64];
    (void)state;
    init(&f);
    f.r.so.app_name = hob_str_z("shop");
    f.r.so.user_id = hob_str_z("ann");
    host_open(&f.r);
    save(&f, "f", "0");
    save(&f, "f", "1");
    save(&f, "user:g", "2");
    hob_session_id(f.r.s, id, sizeof id);
    hob_session_close(f.r.s);
    f.r.s = NULL;
    ann.app_name = bob.app_name = "shop";
    ann.user_id = "ann";
    bob.user_id = "bob";
    q.session = id;
    assert_string_equal(stored_list(&f, &q), "f@1 user:g@0");
    q.of = &ann;
    assert_string_equal(stored_list(&f, &q), "f@1 user:g@0");
    q.limit = 1;
    assert_string_equal(stored_list(&f, &q), "f@1");
    q.cursor = "f";
    assert_string_equal(stored_list(&f, &q), "user:g@0");
    q.limit = 0;
    q.cursor = NULL;
    q.name = hob_str_z("f");
    assert_string_equal(stored_list(&f, &q), "f@0 f@1");
    assert_string_equal(stored(&f, &q), "1");
    q.version = 0;
    assert_string_equal(stored(&f, &q), "0");
    q.session = NULL;
    assert_string_equal(stored(&f, &q), "HOB_ENOENT");
    q.name = hob_str_z("user:g");
    assert_string_equal(stored(&f, &q), "2");
    q.of = &bob;
    assert_string_equal(stored(&f, &q), "HOB_ENOENT");
    q.session = id;
    assert_string_equal(stored(&f, &q), "HOB_ENOENT");
    q.name = hob_str_z("");
    assert_string_equal(stored_list(&f, &q), "HOB_ENOENT");
    q.of = NULL;
    q.session = "none";
    assert_string_equal(stored_list(&f, &q), "HOB_ENOENT");
    host_finish(&f.r);
}

static void test_session_artifacts__saved_and_deleted_without_opening(void **state) {
    fixture f;
    hob_artifact_item item = HOB_ARTIFACT_ITEM_INIT;
    hob_artifact_query q = HOB_ARTIFACT_QUERY_INIT;
    hob_tenant bob = HOB_TENANT_INIT;
    char id[64];
    (void)state;
    open_host(&f);
    save(&f, "f", "0");
    hob_session_id(f.r.s, id, sizeof id);
    hob_runtime *rt = f.r.rt;
    item.name = hob_str_z("f");
    bob.app_name = "hob";
    bob.user_id = "bob";
    q.session = id;
    assert_int_equal(hob_runtime_artifact_save(rt, id, NULL, &item, &f.r.err), HOB_EBUSY);
    hob_session_close(f.r.s);
    f.r.s = NULL;
    assert_int_equal(hob_runtime_artifact_save(rt, id, NULL, &item, &f.r.err), 1);
    assert_int_equal(hob_runtime_artifact_save(rt, id, &bob, &item, &f.r.err), HOB_ENOENT);
    assert_int_equal(hob_runtime_artifact_delete(rt, id, &bob, item.name, NULL), HOB_ENOENT);
    assert_string_equal(stored_list(&f, &q), "f@1");
    assert_int_equal(hob_runtime_artifact_delete(rt, id, NULL, item.name, NULL), 0);
    assert_int_equal(hob_runtime_artifact_delete(rt, id, NULL, item.name, NULL), HOB_ENOENT);
    assert_string_equal(stored_list(&f, &q), "");
    host_finish(&f.r);
}

static void fork_at(fixture *f, const char *entry, const char *id) {
    hob_fork_opts o = HOB_FORK_OPTS_INIT;
    hob_page *p;
    char original[64];
    hob_session_id(f->r.s, original, sizeof original);
    o.session = original;
    o.entry = entry;
    o.id = id;
    assert_ok(hob_runtime_fork_session(f->r.rt, &o, &p, &f->r.err), f->r.err);
    hob_page_destroy(p);
}

/* What the session had when the message was written that the copy ends with; what is saved in one is not in the other. */
static void test_session_artifacts__a_copy_has_them_too(void **state) {
    fixture f;
    hob_artifact_query q = HOB_ARTIFACT_QUERY_INIT;
    hob_artifact_item item = HOB_ARTIFACT_ITEM_INIT;
    (void)state;
    open_host(&f);
    save(&f, "f", "0");
    save(&f, "user:f", "1");
    assert_string_equal(host_prompt(&f.r, "go"), "completed");
    char entry[32];
    snprintf(entry, sizeof entry, "%s", said(&f, "assistant_message", "entry"));
    usleep(2000); /* which they are is told by their time, in milliseconds */
    assert_string_equal(host_prompt(&f.r, "and on"), "completed");
    save(&f, "f", "2");
    fork_at(&f, NULL, "all");
    fork_at(&f, entry, "then");
    q.session = "all";
    assert_string_equal(stored_list(&f, &q), "f@1 f.txt@1 user:f@0");
    q.session = "then";
    assert_string_equal(stored_list(&f, &q), "f@0 f.txt@0 user:f@0");
    item.name = HOB_STR("f");
    assert_int_equal(hob_runtime_artifact_save(f.r.rt, "then", NULL, &item, &f.r.err), 1);
    assert_string_equal(text(&f, "f", 1), "2");
    host_finish(&f.r);
}

static void test_session_artifacts__removed_with_their_session(void **state) {
    fixture f;
    char id[64];
    hob_artifact_query q = HOB_ARTIFACT_QUERY_INIT;
    (void)state;
    open_host(&f);
    save(&f, "f", "0");
    save(&f, "user:f", "1");
    hob_session_id(f.r.s, id, sizeof id);
    hob_session_close(f.r.s);
    assert_ok(hob_runtime_remove_session(f.r.rt, id, &f.r.err), f.r.err);
    q.session = id;
    assert_string_equal(stored_list(&f, &q), "HOB_ENOENT");
    f.r.s = another(&f, "local");
    assert_string_equal(listed(&f, f.r.s, ""), "user:f@0");
    host_finish(&f.r);
}

static void test_session_artifacts__there_after_a_restart(void **state) {
    fixture f;
    (void)state;
    if (strcmp(store, "sqlite")) return;
    open_host(&f);
    save(&f, "f", "0");
    host_reopen(&f.r, HOB_UNFINISHED_SETTLE);
    assert_string_equal(text(&f, "f", -1), "0");
    assert_int_equal(save(&f, "f", "1"), 1);
    host_finish(&f.r);
}

/* Whatever the log tells of is there, and nothing else. */
static void test_session_artifacts__whole_after_a_kill(void **state) {
    fixture f;
    (void)state;
    if (strcmp(store, "sqlite")) return;
    init(&f);
    host_run_and_kill(&f.r, "go", HOB_EVENT_TOOL_FINISHED, NULL, NULL);
    host_open(&f.r);
    assert_string_equal(said(&f, "tool_finished", "data.actions.artifact_delta"), "{\"f.txt\":0}");
    assert_string_equal(listed(&f, f.r.s, "f.txt"), "f.txt@0");
    assert_string_equal(text(&f, "f.txt", -1), "made 0");
    host_finish(&f.r);
}

#define T(name) cmocka_unit_test(test_session_artifacts__##name)

int main(void) {
    const struct CMUnitTest tests[] = {
        T(adk_58_versions_and_scopes),
        T(one_is_what_was_saved),
        T(an_event_tells_of_each),
        T(what_is_not_there_cannot_be_deleted),
        T(wrong_ones_are_refused_before_anything),
        T(threads_get_numbers_of_their_own),
        T(a_tool_saves_with_its_result),
        T(a_full_shelf_is_said_in_the_result),
        T(functions_around_a_tool_save_too),
        T(a_call_that_times_out_saves_what_was_asked_before),
        T(calls_that_wait_are_refused_inside_a_tool),
        T(read_without_opening),
        T(saved_and_deleted_without_opening),
        T(a_copy_has_them_too),
        T(removed_with_their_session),
        T(there_after_a_restart),
        T(whole_after_a_kill),
    };
    store = "memory";
    int failed = cmocka_run_group_tests_name("memory", tests, NULL, NULL);
    store = "sqlite";
    return failed + cmocka_run_group_tests_name("sqlite", tests, NULL, NULL);
}
