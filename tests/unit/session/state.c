/* State of real sessions, in both stores. Each test is named after its case of the conformance list. */
#include "support/check.h"
#include "support/stateful.h"

#include <stdio.h>

static const char *store; /* of the group that runs */

typedef struct fixture {
    host r;
    hob_tool tool;
    char got[65536];
} fixture;

static const char script[] =
    "{'rules':[{'when':{'user':'set','step':1},'reply':[{'tool':'set','args':"
    "{'delta':{'k':1,'app:x':1,'user:y':1,'temp:z':1,'n':null}}}]},"
    "{'when':{'user':'wait','step':1},'reply':[{'tool':'wait','args':{}}]},"
    "{'reply':[{'text':'done'}]}]}";

static void init(fixture *f) {
    host_init(&f->r, script);
    f->r.ro.store = store;
    stateful_tool(&f->r, &f->tool);
}

static void open_state(fixture *f, const char *state) {
    init(f);
    f->r.so.state = hob_str_z(state);
    host_open(&f->r);
}

/* Lets go of it and opens it again; a file in a new runtime. */
static void reload(fixture *f) {
    host *r = &f->r;
    r->so.state = hob_str_z("");
    if (!strcmp(store, "sqlite")) {
        host_reopen(r, HOB_UNFINISHED_SETTLE);
        return;
    }
    hob_session_id(r->s, r->id, sizeof r->id);
    hob_session_detach(r->s);
    r->so.choice = HOB_SESSION_OPEN;
    r->so.id = r->id;
    host_open(r);
}

static int add_pair(hob_str key, hob_str value, void *user) {
    fixture *f = user;
    size_t n = strlen(f->got);
    snprintf(f->got + n, sizeof f->got - n, "%s%.*s=%.*s", n ? " " : "", HOB_FMT(key),
             HOB_FMT(value));
    return 0;
}

static const char *all_of(fixture *f, hob_session *s) {
    f->got[0] = 0;
    assert_int_equal(hob_session_state_iterate(s, HOB_SCOPE_ALL, add_pair, f), 0);
    return f->got;
}

static const char *all(fixture *f) {
    return all_of(f, f->r.s);
}

static int set(fixture *f, const char *key, const char *value) {
    return hob_session_state_set(f->r.s, hob_str_z(key), hob_str_z(value), &f->r.err);
}

static int apply(fixture *f, const char *delta, const char *removed) {
    return hob_session_apply_state_delta(f->r.s, hob_str_z(delta), hob_str_z(removed), &f->r.err);
}

/* Another session of the same runtime. */
static hob_session *another(fixture *f, const char *app, const char *user) {
    hob_session_opts so = f->r.so;
    hob_session *s;
    so.choice = HOB_SESSION_NEW;
    so.id = NULL;
    so.state = hob_str_z("");
    so.app_name = app ? hob_str_z(app) : (hob_str){0};
    so.user_id = user ? hob_str_z(user) : (hob_str){0};
    assert_ok(hob_session_create(f->r.rt, &so, &s, &f->r.err), f->r.err);
    return s;
}

/* ---- beginnings -------------------------------------------------------------------------------------- */

static void test_session_state__case_1_temp_keys_of_the_beginning_are_not_kept(void **state) {
    fixture f;
    (void)state;
    open_state(&f, "{\"k\":1,\"app:a\":2,\"user:u\":3,\"temp:t\":4}");
    assert_string_equal(all(&f), "app:a=2 k=1 user:u=3");
    reload(&f);
    assert_string_equal(all(&f), "app:a=2 k=1 user:u=3");
    host_finish(&f.r);
}

static void test_session_state__case_2_an_application_shares_its_keys_a_user_his(void **state) {
    fixture f;
    (void)state;
    open_state(&f, "{\"k\":1,\"app:a\":2,\"user:u\":3}");
    hob_session *same = another(&f, NULL, NULL), *bob = another(&f, NULL, "bob"),
                *other = another(&f, "shop", NULL);
    assert_string_equal(all_of(&f, same), "app:a=2 user:u=3");
    assert_string_equal(all_of(&f, bob), "app:a=2");
    assert_string_equal(all_of(&f, other), "");
    hob_session_close(same);
    hob_session_close(bob);
    hob_session_close(other);
    host_finish(&f.r);
}

static void test_session_state__case_3_an_id_is_given_once(void **state) {
    fixture f;
    hob_session *s;
    (void)state;
    init(&f);
    f.r.so.id = "mine";
    f.r.so.state = hob_str_z("{\"k\":1}");
    host_open(&f.r);
    f.r.so.state = hob_str_z("{\"k\":2}");
    assert_int_equal(hob_session_create(f.r.rt, &f.r.so, &s, NULL), HOB_EBUSY);
    hob_session_detach(f.r.s);
    assert_int_equal(hob_session_create(f.r.rt, &f.r.so, &s, NULL), HOB_EEXIST);
    f.r.so.state = hob_str_z("");
    f.r.so.choice = HOB_SESSION_OPEN;
    host_open(&f.r);
    assert_string_equal(all(&f), "k=1");
    host_finish(&f.r);
}

static void test_session_state__case_4_a_session_of_another_is_not_there(void **state) {
    fixture f;
    hob_session *s;
    (void)state;
    init(&f);
    f.r.so.id = "mine";
    f.r.so.user_id = hob_str_z("ann");
    f.r.so.state = hob_str_z("{\"k\":1}");
    host_open(&f.r);
    hob_session_detach(f.r.s);
    hob_session_opts bob = f.r.so;
    bob.user_id = hob_str_z("bob");
    assert_int_equal(hob_session_create(f.r.rt, &bob, &s, NULL), HOB_EEXIST);
    bob.choice = HOB_SESSION_OPEN;
    bob.state = hob_str_z("");
    assert_int_equal(hob_session_create(f.r.rt, &bob, &s, NULL), HOB_ENOENT);
    f.r.so.choice = HOB_SESSION_OPEN;
    f.r.so.state = hob_str_z("");
    host_open(&f.r);
    assert_string_equal(all(&f), "k=1");
    f.r.so.user_id = (hob_str){0};
    reload(&f); /* it knows whose it is */
    char user[16];
    hob_session_user_id(f.r.s, user, sizeof user);
    assert_string_equal(user, "ann");
    host_finish(&f.r);
}

static void test_session_state__a_beginning_is_for_new_sessions(void **state) {
    fixture f;
    hob_session *s;
    (void)state;
    open_state(&f, "{\"k\":1}");
    hob_session_opts so = f.r.so;
    so.choice = HOB_SESSION_OPEN;
    so.id = "x";
    assert_int_equal(hob_session_create(f.r.rt, &so, &s, NULL), HOB_EINVAL);
    so.choice = HOB_SESSION_NEW;
    so.state = hob_str_z("{\"a/b\":1}");
    assert_int_equal(hob_session_create(f.r.rt, &so, &s, NULL), HOB_EINVAL);
    so.state = hob_str_z("[1]");
    assert_int_equal(hob_session_create(f.r.rt, &so, &s, NULL), HOB_EPARSE);
    host_finish(&f.r);
}

static void test_session_state__a_copy_has_the_state_and_goes_its_own_way(void **state) {
    fixture f;
    (void)state;
    open_state(&f, "{\"k\":1,\"l\":1,\"app:a\":2}");
    assert_string_equal(host_prompt(&f.r, "hi"), "completed");
    hob_session *original = f.r.s;
    hob_session_id(original, f.r.id, sizeof f.r.id);
    f.r.so.choice = HOB_SESSION_OPEN;
    f.r.so.id = f.r.id;
    f.r.so.flags |= HOB_SESSION_FORK;
    f.r.so.state = hob_str_z("{\"l\":9}");
    host_open(&f.r);
    assert_string_equal(all(&f), "app:a=2 k=1 l=9");
    assert_int_equal(set(&f, "k", "2"), 0);
    assert_string_equal(all_of(&f, original), "app:a=2 k=1 l=1");
    hob_session_detach(original);
    f.r.so.flags = 0;
    reload(&f);
    assert_string_equal(all(&f), "app:a=2 k=2 l=9");
    host_finish(&f.r);
}

/* ---- changes ------------------------------------------------------------------------------------------ */

static void test_session_state__case_5_temp_is_in_neither_state_nor_event(void **state) {
    fixture f;
    hob_page *p;
    (void)state;
    open_state(&f, "");
    assert_string_equal(host_prompt(&f.r, "set"), "completed");
    assert_string_equal(all(&f), "app:x=1 k=1 n=null user:y=1");
    reload(&f);
    assert_string_equal(all(&f), "app:x=1 k=1 n=null user:y=1");
    assert_ok(hob_session_entries(f.r.s, 0, &p, &f.r.err), f.r.err);
    for (size_t i = 0; i < hob_page_count(p); i++) {
        hob_str row = hob_page_row(p, i);
        bool from_model = hob_str_find(row, HOB_STR("assistant_message")) >= 0 ||
                          hob_str_find(row, HOB_STR("tool_started")) >= 0;
        if (!from_model) assert_int_equal(hob_str_find(row, HOB_STR("\"temp:z\":")), -1);
    }
    hob_page_destroy(p);
    host_finish(&f.r);
}

static void test_session_state__case_6_what_the_caller_gives_is_not_modified(void **state) {
    fixture f;
    char delta[] = "{\"k\":1,\"app:a\":1}", removed[] = "[\"x\"]";
    (void)state;
    open_state(&f, "");
    assert_ok(apply(&f, delta, removed), f.r.err);
    assert_string_equal(delta, "{\"k\":1,\"app:a\":1}");
    assert_string_equal(removed, "[\"x\"]");
    host_finish(&f.r);
}

static void run_never(const hob_tool_call *call, hob_reply *reply, void *user) {
    (void)call;
    hob_reply_state(reply, hob_str_z("{\"k\":1}"), hob_str_z(""), NULL);
    hob_reply_output(reply, hob_str_z("half"));
    *(hob_reply **)user = reply;
}

/* What is on its way is no event. */
static void test_session_state__case_7_what_is_not_finished_changes_nothing(void **state) {
    hob_reply *late = NULL;
    fixture f;
    (void)state;
    init(&f);
    f.tool.run = run_never;
    f.tool.user = &late;
    host_open(&f.r);
    assert_ok(hob_session_prompt(f.r.s, hob_str_z("set"), &f.r.err), f.r.err);
    hob_event_unref(host_until(&f.r, HOB_EVENT_TOOL_STARTED, NULL, NULL));
    assert_string_equal(all(&f), "");
    assert_ok(hob_session_abort(f.r.s, &f.r.err), f.r.err);
    hob_reply_text(late, HOB_OUTCOME_OK, hob_str_z("too late"));
    assert_string_equal(all(&f), "");
    assert_int_equal(host_count(&f.r, "state_changed"), 0);
    host_finish(&f.r);
}

static void test_session_state__case_9_and_10_events_come_in_their_order(void **state) {
    fixture f;
    hob_page *p;
    char want[32];
    (void)state;
    open_state(&f, "{\"k\":0}"); /* session_opened, state_changed */
    for (int i = 3; i <= 7; i++) {
        snprintf(want, sizeof want, "%d", i);
        assert_ok(set(&f, "k", want), f.r.err); /* within one millisecond, mostly */
    }
    reload(&f);
    assert_ok(hob_session_entries(f.r.s, 5, &p, &f.r.err), f.r.err);
    assert_int_equal(hob_page_count(p), 2);
    for (size_t i = 0; i < 2; i++) {
        snprintf(want, sizeof want, "{\"delta\":{\"k\":%d}}", (int)i + 6);
        assert_true(hob_str_find(hob_page_row(p, i), hob_str_z(want)) >= 0);
    }
    hob_page_destroy(p);
    assert_string_equal(all(&f), "k=7");
    host_finish(&f.r);
}

static void test_session_state__case_12_an_open_session_is_not_deleted(void **state) {
    fixture f;
    hob_session *s;
    (void)state;
    open_state(&f, "{\"k\":1,\"app:a\":1}");
    hob_session_id(f.r.s, f.r.id, sizeof f.r.id);
    assert_int_equal(hob_runtime_remove_session(f.r.rt, f.r.id, NULL), HOB_EBUSY);
    assert_ok(set(&f, "k", "2"), f.r.err);
    hob_session_detach(f.r.s);
    assert_ok(hob_runtime_remove_session(f.r.rt, f.r.id, &f.r.err), f.r.err);
    f.r.so.choice = HOB_SESSION_OPEN;
    f.r.so.id = f.r.id;
    f.r.so.state = hob_str_z("");
    assert_int_equal(hob_session_create(f.r.rt, &f.r.so, &s, NULL), HOB_ENOENT);
    f.r.s = another(&f, NULL, NULL);
    assert_string_equal(all(&f), "app:a=1"); /* is the application's */
    host_finish(&f.r);
}

static void test_session_state__case_13_a_snapshot_stays_as_it_was(void **state) {
    fixture f;
    hob_state *held;
    hob_str value;
    (void)state;
    open_state(&f, "{\"k\":{\"deep\":[1,2]}}");
    assert_ok(hob_session_state(f.r.s, &held, NULL, &f.r.err), f.r.err);
    assert_ok(apply(&f, "{\"new\":1}", "[\"k\"]"), f.r.err);
    assert_int_equal(hob_state_count(held), 1);
    assert_int_equal(hob_state_get(held, hob_str_z("k"), &value), 0);
    assert_str(value, "{\"deep\":[1,2]}");
    assert_int_equal(hob_state_get(held, hob_str_z("new"), &value), HOB_ENOENT);
    hob_state *copy = hob_state_dup(held);
    hob_state_destroy(held);
    hob_session_detach(f.r.s);
    f.r.s = NULL;
    assert_int_equal(hob_state_get(copy, hob_str_z("k"), &value), 0); /* outlives the session */
    hob_state_destroy(copy);
    host_finish(&f.r);
}

static void test_session_state__case_14_keys_and_values_come_back_as_written(void **state) {
    fixture f;
    (void)state;
    open_state(&f, "");
    assert_ok(apply(&f,
                    "{\"snake_case\":{\"camelCase\": 1.50, \"x\\u00e9\":[ ]},\"camelCase\":1e3,"
                    "\"user:m\":{\"a_b\":\"\\/\"}}",
                    ""),
              f.r.err);
    const char want[] = "camelCase=1e3 snake_case={\"camelCase\": 1.50, \"x\\u00e9\":[ ]} "
                        "user:m={\"a_b\":\"\\/\"}";
    assert_string_equal(all(&f), want);
    reload(&f);
    assert_string_equal(all(&f), want);
    host_finish(&f.r);
}

static void test_session_state__case_16_a_stale_writer_looks_again(void **state) {
    fixture f;
    hob_state *snapshot;
    uint64_t revision;
    (void)state;
    open_state(&f, "{\"k\":1}");
    assert_ok(hob_session_state(f.r.s, &snapshot, &revision, &f.r.err), f.r.err);
    hob_state_destroy(snapshot);
    assert_ok(set(&f, "other", "1"), f.r.err);
    const hob_str delta = hob_str_z("{\"k\":2}"), none = hob_str_z("");
    assert_int_equal(hob_session_apply_state_delta_at(f.r.s, revision, delta, none, NULL),
                     HOB_EBUSY);
    assert_string_equal(all(&f), "k=1 other=1");
    assert_ok(hob_session_state(f.r.s, &snapshot, &revision, &f.r.err), f.r.err);
    hob_state_destroy(snapshot);
    assert_ok(hob_session_apply_state_delta_at(f.r.s, revision, delta, none, &f.r.err), f.r.err);
    assert_string_equal(all(&f), "k=2 other=1");
    host_finish(&f.r);
}

/* A change that another session made to what they share is news, too. */
static void test_session_state__case_16_others_make_a_revision_stale(void **state) {
    fixture f;
    hob_state *snapshot;
    uint64_t revision;
    (void)state;
    open_state(&f, "");
    hob_session *other = another(&f, NULL, NULL);
    assert_ok(hob_session_state(other, &snapshot, &revision, &f.r.err), f.r.err);
    hob_state_destroy(snapshot);
    assert_ok(set(&f, "app:a", "1"), f.r.err);
    assert_int_equal(hob_session_apply_state_delta_at(other, revision, hob_str_z("{\"app:a\":2}"),
                                                      hob_str_z(""), NULL),
                     HOB_EBUSY);
    hob_session_close(other);
    host_finish(&f.r);
}

static void test_session_state__case_18_identity(void **state) {
    static char longest[514];
    static const struct {
        const char *name;
        size_t n;
        int code;
    } names[] = {{"", 0, HOB_EINVAL},        {longest, 513, HOB_EINVAL}, {longest, 512, HOB_OK},
                 {"a\0b", 3, HOB_EINVAL},    {"o:t/a@v2", 8, HOB_OK},    {"  x ", 4, HOB_OK},
                 {"\xff\xfe", 2, HOB_EINVAL}};
    fixture f;
    (void)state;
    memset(longest, 'a', 513);
    init(&f);
    assert_ok(hob_runtime_create(&f.r.ro, &f.r.rt, &f.r.err), f.r.err);
    for (size_t i = 0; i < HOB_ARRAY_LEN(names); i++) {
        hob_session *s = NULL;
        f.r.so.app_name = f.r.so.user_id = hob_str_n(names[i].name, names[i].n);
        assert_int_equal(hob_session_create(f.r.rt, &f.r.so, &s, &f.r.err), names[i].code);
        if (names[i].code < 0) assert_non_null(strstr(f.r.err.message, "app_name"));
        if (s) hob_session_close(s);
    }
    f.r.so.app_name = hob_str_z("ok");
    f.r.so.user_id = hob_str_z("");
    assert_int_equal(hob_session_create(f.r.rt, &f.r.so, &f.r.s, &f.r.err), HOB_EINVAL);
    assert_string_equal(f.r.err.message, "user_id must not be empty");
    host_finish(&f.r);
}

static void test_session_state__case_19_keys_have_one_rule_everywhere(void **state) {
    static char longest[258];
    const char *const bad[] = {"", longest, "a/b", "..", "a\\b", "temp:", "app:", "user:"};
    fixture f;
    char delta[400];
    (void)state;
    memset(longest, 'k', 257);
    open_state(&f, "{\"keep\":1}");
    for (size_t i = 0; i < HOB_ARRAY_LEN(bad); i++) {
        assert_int_equal(set(&f, bad[i], "1"), HOB_EINVAL);
        assert_int_equal(hob_session_state_delete(f.r.s, hob_str_z(bad[i]), NULL), HOB_EINVAL);
        snprintf(delta, sizeof delta, "{\"ok\":1,\"%s\":1}",
                 strcmp(bad[i], "a\\b") ? bad[i] : "a\\\\b");
        assert_int_equal(apply(&f, delta, ""), HOB_EINVAL);
    }
    assert_int_equal(hob_session_state_set(f.r.s, hob_str_n("x\0", 2), hob_str_z("1"), NULL),
                     HOB_EINVAL);
    assert_int_equal(apply(&f, "{\"x\\u0000\":1}", ""), HOB_EINVAL);
    assert_int_equal(set(&f, "k", "no json"), HOB_EPARSE);
    assert_string_equal(all(&f), "keep=1");
    longest[256] = 0;
    assert_ok(set(&f, longest, "1"), f.r.err);
    host_finish(&f.r);
}

static void test_session_state__case_20_a_removed_key_is_absent(void **state) {
    fixture f;
    char buf[8];
    (void)state;
    open_state(&f, "{\"k\":1,\"n\":1,\"app:a\":1,\"user:u\":1}");
    assert_ok(set(&f, "n", "null"), f.r.err);
    assert_ok(hob_session_state_delete(f.r.s, hob_str_z("k"), &f.r.err), f.r.err);
    assert_ok(apply(&f, "", "[\"app:a\",\"user:u\",\"never\"]"), f.r.err);
    for (int i = 0; i < 2; i++) {
        assert_string_equal(all(&f), "n=null");
        assert_int_equal(hob_session_state_get(f.r.s, hob_str_z("k"), buf, sizeof buf), HOB_ENOENT);
        assert_int_equal(hob_session_state_get(f.r.s, hob_str_z("n"), buf, sizeof buf), 4);
        reload(&f);
    }
    host_finish(&f.r);
}

static void test_session_state__case_23_an_empty_delta_is_nothing(void **state) {
    fixture f;
    (void)state;
    open_state(&f, "");
    assert_ok(apply(&f, "", ""), f.r.err);
    assert_ok(apply(&f, "{}", "[]"), f.r.err);
    assert_int_equal(host_count(&f.r, "state_changed"), 0);
    assert_int_equal(host_count(&f.r, "session_opened"), 0);
    host_finish(&f.r);
}

static void test_session_state__case_24_temp_is_the_runs(void **state) {
    fixture f;
    gate g;
    char buf[8];
    (void)state;
    init(&f);
    gate_init(&g, "wait", HOB_TOOL_READ_ONLY);
    f.r.so.tools = &g.tool;
    host_open(&f.r);
    assert_int_equal(set(&f, "temp:t", "1"), HOB_EIDLE);
    assert_ok(hob_session_prompt(f.r.s, hob_str_z("wait"), &f.r.err), f.r.err);
    gate_wait_started(&g, 1);
    assert_ok(set(&f, "temp:t", "1"), f.r.err);
    assert_int_equal(hob_session_state_get(f.r.s, hob_str_z("temp:t"), buf, sizeof buf), 1);
    gate_answer(&g, "x");
    assert_string_equal(host_wait(&f.r), "completed");
    assert_int_equal(hob_session_state_get(f.r.s, hob_str_z("temp:t"), buf, sizeof buf),
                     HOB_ENOENT);
    assert_string_equal(stateful_event(&f.r, "state_changed", 0), "{\"temp\":[\"temp:t\"]}");
    gate_finish(&g);
    host_finish(&f.r);
}

/* ---- what sessions share -------------------------------------------------------------------------------- */

static void test_session_state__case_26_sessions_of_one_program_see_it_at_once(void **state) {
    fixture f;
    (void)state;
    open_state(&f, "");
    hob_session *same = another(&f, NULL, NULL), *bob = another(&f, NULL, "bob");
    assert_ok(apply(&f, "{\"app:a\":1,\"user:u\":1,\"k\":1}", ""), f.r.err);
    assert_string_equal(all_of(&f, same), "app:a=1 user:u=1");
    assert_string_equal(all_of(&f, bob), "app:a=1");
    assert_ok(hob_session_state_delete(bob, hob_str_z("app:a"), &f.r.err), f.r.err);
    assert_string_equal(all(&f), "k=1 user:u=1");
    hob_session_close(same);
    hob_session_close(bob);
    host_finish(&f.r);
}

static void test_session_state__shared_keys_outlive_what_the_log_says(void **state) {
    fixture f;
    (void)state;
    open_state(&f, "{\"app:a\":1,\"app:b\":1}");
    hob_session *other = another(&f, NULL, NULL);
    hob_session_id(f.r.s, f.r.id, sizeof f.r.id);
    hob_session_detach(f.r.s);
    assert_ok(hob_session_apply_state_delta(other, hob_str_z("{\"app:a\":2}"),
                                            hob_str_z("[\"app:b\"]"), &f.r.err),
              f.r.err);
    f.r.so.choice = HOB_SESSION_OPEN;
    f.r.so.id = f.r.id;
    f.r.so.state = hob_str_z("");
    host_open(&f.r);
    assert_string_equal(all(&f), "app:a=2"); /* not 1, though its own log says so last */
    hob_session_close(other);
    host_finish(&f.r);
}

static void test_session_state__of_a_stored_session_without_opening_it(void **state) {
    fixture f;
    hob_state *seen;
    hob_str key = hob_str_z(""), value;
    (void)state;
    open_state(&f, "{\"k\":1,\"gone\":1,\"app:a\":1}");
    hob_session *other = another(&f, NULL, NULL);
    assert_ok(apply(&f, "{\"k\":2}", "[\"gone\"]"), f.r.err);
    assert_ok(hob_session_state_set(other, hob_str_z("user:u"), hob_str_z("3"), &f.r.err), f.r.err);
    hob_session_id(f.r.s, f.r.id, sizeof f.r.id);
    assert_ok(hob_runtime_session_state(f.r.rt, f.r.id, &seen, &f.r.err), f.r.err);
    f.got[0] = 0;
    while (hob_state_next(seen, key, &key, &value)) add_pair(key, value, &f);
    assert_string_equal(f.got, "app:a=1 k=2 user:u=3");
    hob_state_destroy(seen);
    assert_int_equal(hob_runtime_session_state(f.r.rt, "none", &seen, NULL), HOB_ENOENT);
    hob_session_close(other);
    host_finish(&f.r);
}

static void test_session_state__ceilings_hold(void **state) {
    fixture f;
    hob_buf b;
    (void)state;
    open_state(&f, "");
    hob_buf_init(&b, 80u << 20);
    hob_buf_addc(&b, '"');
    for (int i = 0; i < 4096; i++) {
        char *p = hob_buf_reserve(&b, 16384);
        memset(p, 'x', 16384);
        b.n += 16384;
    }
    hob_buf_addc(&b, '"');
    assert_int_equal(set(&f, "big", hob_buf_z(&b)), HOB_ETOOBIG);
    assert_string_equal(all(&f), "");
    hob_buf_finish(&b);
    host_finish(&f.r);
}

#define T(name) cmocka_unit_test(test_session_state__##name)

int main(void) {
    const struct CMUnitTest tests[] = {
        T(case_1_temp_keys_of_the_beginning_are_not_kept),
        T(case_2_an_application_shares_its_keys_a_user_his),
        T(case_3_an_id_is_given_once),
        T(case_4_a_session_of_another_is_not_there),
        T(a_beginning_is_for_new_sessions),
        T(a_copy_has_the_state_and_goes_its_own_way),
        T(case_5_temp_is_in_neither_state_nor_event),
        T(case_6_what_the_caller_gives_is_not_modified),
        T(case_7_what_is_not_finished_changes_nothing),
        T(case_9_and_10_events_come_in_their_order),
        T(case_12_an_open_session_is_not_deleted),
        T(case_13_a_snapshot_stays_as_it_was),
        T(case_14_keys_and_values_come_back_as_written),
        T(case_16_a_stale_writer_looks_again),
        T(case_16_others_make_a_revision_stale),
        T(case_18_identity),
        T(case_19_keys_have_one_rule_everywhere),
        T(case_20_a_removed_key_is_absent),
        T(case_23_an_empty_delta_is_nothing),
        T(case_24_temp_is_the_runs),
        T(case_26_sessions_of_one_program_see_it_at_once),
        T(shared_keys_outlive_what_the_log_says),
        T(of_a_stored_session_without_opening_it),
        T(ceilings_hold),
    };
    store = "memory";
    int failed = cmocka_run_group_tests_name("memory", tests, NULL, NULL);
    store = "sqlite";
    return failed + cmocka_run_group_tests_name("sqlite", tests, NULL, NULL);
}
