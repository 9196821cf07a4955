/* Cases 1 to 16: what is kept of a session, in both stores; lists of events without a run are hob/shared.h. */
#include "observe.h"
#include "support/check.h"
#include "support/stateful.h"

#include <stdio.h>

static host h;
static hob_tool tool;

static const char script[] = "{'rules':[{'when':{'step':1},'reply':[{'tool':'set','args':{'delta':"
                             "{'k':1,'app:x':1,'user:y':1,'temp:z':1,'n':null}}}]},"
                             "{'reply':[{'text':'done'}]}]}";

static void begin(const char *state) {
    host_init(&h, script);
    h.ro.store = on_store();
    h.so.id = "s1";
    h.so.user_id = hob_str_z("ann");
    h.so.state = hob_str_z(state);
    h.so.permission_mode = "yolo";
    stateful_tool(&h, &tool);
    host_open(&h);
}

static void reload(void) {
    h.so.state = hob_str_z("");
    if (!strcmp(on_store(), "sqlite")) {
        host_reopen(&h, HOB_UNFINISHED_SETTLE);
        return;
    }
    hob_session_detach(h.s);
    h.so.choice = HOB_SESSION_OPEN;
    host_open(&h);
}

static int apply(const char *delta) {
    return hob_session_apply_state_delta(h.s, hob_str_z(delta), hob_str_z(""), &h.err);
}

static void case_1(void) {
    begin("{\"k\":1,\"app:a\":2,\"user:u\":3,\"temp:t\":4}");
    see_state("state at the beginning", h.s);
    reload();
    see_state("state after a reload", h.s);
    host_finish(&h);
}

static void see_another(const char *what, const char *app, const char *user) {
    hob_session_opts so = h.so;
    hob_session *s;
    so.id = NULL;
    so.state = hob_str_z("");
    so.app_name = app ? hob_str_z(app) : (hob_str){0};
    so.user_id = hob_str_z(user);
    assert_ok(hob_session_create(h.rt, &so, &s, &h.err), h.err);
    see_state(what, s);
    hob_session_close(s);
}

static void case_2(void) {
    begin("{\"k\":1,\"app:a\":2,\"user:u\":3}");
    see_another("a new session of the same user", NULL, "ann");
    see_another("a new session of another user", NULL, "bob");
    see_another("a new session of another application", "shop", "ann");
    host_finish(&h);
}

static void case_3(void) {
    hob_session *s;
    begin("{\"k\":1}");
    h.so.state = hob_str_z("{\"k\":2}");
    hob_session_detach(h.s);
    see_refused("an id that exists", hob_session_create(h.rt, &h.so, &s, NULL));
    h.so.choice = HOB_SESSION_OPEN;
    h.so.state = hob_str_z("");
    host_open(&h);
    see_state("the old state", h.s);
    host_finish(&h);
}

static void case_4(void) {
    hob_session *s;
    begin("{\"k\":1}");
    hob_session_opts bob = h.so;
    bob.user_id = hob_str_z("bob");
    bob.state = hob_str_z("{\"k\":2}");
    hob_session_detach(h.s);
    see_refused("the same id for another user", hob_session_create(h.rt, &bob, &s, NULL));
    h.so.choice = HOB_SESSION_OPEN;
    h.so.state = hob_str_z("");
    host_open(&h);
    see_state("state of the first", h.s);
    host_finish(&h);
}

static void case_5(void) {
    begin("");
    assert_string_equal(host_prompt(&h, "set"), "completed");
    reload();
    see_state("state after a reload", h.s);
    see_bool("a temp: value is stored",
             strstr(stateful_event(&h, "state_changed", 0), "\"temp:z\":") != NULL);
    host_finish(&h);
}

static void case_6(void) {
    char delta[] = "{\"k\":1,\"temp:z\":1}";
    begin("");
    apply(delta);
    see_bool("what the caller gave is unchanged", !strcmp(delta, "{\"k\":1,\"temp:z\":1}"));
    host_finish(&h);
}

/* ---- lists of events ------------------------------------------------------------------------------------------- */

static hob_shared *list;

static void list_begin(void) {
    hob_shared_opts o = HOB_SHARED_OPTS_INIT;
    hob_error err;
    o.id = hob_str_z("s1");
    assert_ok(hob_shared_create(&o, &list, &err), err);
}

static int list_append(const char *id, int64_t time, const char *delta, unsigned flags) {
    hob_shared_event e = HOB_SHARED_EVENT_INIT;
    e.id = hob_str_z(id);
    e.time = time;
    e.author = hob_str_z("a");
    e.content = hob_str_z("[{\"type\":\"text\",\"text\":\"x\"}]");
    e.state_delta = hob_str_z(delta);
    e.flags = flags;
    return hob_shared_append_event(list, &e, NULL, NULL);
}

/* Written out and read again. */
static void list_reload(void) {
    static char text[65536];
    hob_shared_opts o = HOB_SHARED_OPTS_INIT;
    hob_shared_snapshot *p;
    hob_error err;
    assert_int_equal(hob_shared_events_snapshot(list, &p), HOB_OK);
    assert_true(hob_shared_export(p, text, sizeof text) < (int)sizeof text);
    hob_shared_snapshot_unref(p);
    hob_shared_unref(list);
    o.exported = hob_str_z(text);
    assert_ok(hob_shared_create(&o, &list, &err), err);
}

static void see_list(const char *what) {
    char lines[1024] = "";
    hob_shared_snapshot *p;
    assert_int_equal(hob_shared_events_snapshot(list, &p), HOB_OK);
    for (size_t i = 0; i < hob_shared_snapshot_len(p); i++) {
        size_t n = strlen(lines);
        snprintf(lines + n, sizeof lines - n, "%.*s\n",
                 HOB_FMT(hob_shared_snapshot_event(p, i)->id));
    }
    see_lines(what, lines);
    hob_shared_snapshot_unref(p);
}

static void case_7(void) {
    char value[16];
    list_begin();
    list_append("e", 1, "{\"k\":1}", HOB_SHARED_PARTIAL);
    see_list("events after a partial one");
    bool set = hob_shared_state_get(list, hob_str_z("k"), value, sizeof value) >= 0;
    see_json("state after a partial one", hob_str_z(set ? "{\"k\":1}" : "{}"));
    hob_shared_unref(list);
}

static void case_8(void) {
    list_begin();
    list_append("e", 1, "", 0);
    see_refused("the same event id again", list_append("e", 2, "", 0));
    list_reload();
    see_list("events");
    hob_shared_unref(list);
}

static void case_10(void) {
    static const char *const ids[] = {"e1", "e2", "e3", "e4"};
    list_begin();
    for (size_t i = 0; i < 4; i++) list_append(ids[i], 1000, "", 0);
    list_reload();
    see_list("events of one time");
    hob_shared_unref(list);
}

static void case_11(void) {
    static const char *const ids[] = {"e1", "e2", "e3", "e4"};
    list_begin();
    for (size_t i = 0; i < 4; i++) list_append(ids[i], 4000 - (int64_t)i * 1000, "", 0);
    list_reload();
    see_list("events whose times go back");
    hob_shared_unref(list);
}

/* ---- events of sessions ---------------------------------------------------------------------------------------- */

/* The keys that the events behind this one set. */
static void see_behind(const char *what, uint64_t after) {
    char lines[256] = "";
    hob_page *p;
    assert_ok(hob_session_entries(h.s, after, &p, &h.err), h.err);
    for (size_t i = 0; i < hob_page_count(p); i++) {
        hob_str row = hob_page_row(p, i);
        const char *key = memmem(row.p, row.n, "\"delta\":{\"", 10);
        size_t n = strlen(lines);
        if (key) snprintf(lines + n, sizeof lines - n, "%.2s\n", key + 10);
    }
    hob_page_destroy(p);
    see_lines(what, lines);
}

static uint64_t last_seq(void) {
    hob_page *p;
    assert_ok(hob_session_entries(h.s, 0, &p, &h.err), h.err);
    uint64_t n = hob_page_count(p);
    hob_page_destroy(p);
    return n;
}

static void case_9(void) {
    char delta[32];
    begin("");
    for (int i = 1; i <= 5; i++) {
        snprintf(delta, sizeof delta, "{\"f%d\":1}", i);
        assert_ok(apply(delta), h.err);
    }
    reload();
    see_behind("the newest two of five", last_seq() - 2);
    see_behind("behind the third", last_seq() - 2);
    host_finish(&h);
}

static void case_12(void) {
    hob_session *s;
    begin("{\"k\":1}");
    h.so.choice = HOB_SESSION_OPEN;
    h.so.state = hob_str_z("");
    hob_session_detach(h.s);
    assert_ok(hob_runtime_remove_session(h.rt, "s1", &h.err), h.err);
    see_refused("writing to a deleted session", hob_session_create(h.rt, &h.so, &s, NULL));
    h.s = NULL;
    host_finish(&h);
}

static void case_13(void) {
    hob_shared_opts o = HOB_SHARED_OPTS_INIT;
    hob_shared_snapshot *p;
    hob_shared *copy;
    begin("{\"k\":{\"deep\":1}}");
    assert_ok(hob_session_share(h.s, &p, &h.err), h.err);
    o.snapshot = p;
    assert_ok(hob_shared_create(&o, &copy, &h.err), h.err);
    hob_str delta = hob_str_z("{\"k\":{\"deep\":2},\"more\":1}");
    assert_ok(hob_shared_apply_state_delta(copy, delta, hob_str_z(""), &h.err), h.err);
    hob_shared_unref(copy);
    hob_shared_snapshot_unref(p);
    reload();
    see_state("what is stored after a copy was changed", h.s);
    host_finish(&h);
}

static void case_14(void) {
    begin("");
    assert_ok(apply("{\"snake_case\":{\"camelCase\":1,\"snake_key\":[{\"aB\":1,\"a_b\":2}]},"
                    "\"CamelTop\":{\"x_y\":1}}"),
              h.err);
    reload();
    see_state("names of users after a reload", h.s);
    host_finish(&h);
}

static void *write_one(void *user) {
    char key[16];
    snprintf(key, sizeof key, "k%d", *(int *)user);
    *(int *)user = hob_session_state_set(h.s, hob_str_z(key), hob_str_z("1"), NULL);
    return NULL;
}

static void case_15(void) {
    pthread_t threads[50];
    int numbers[50], errors = 0;
    hob_state *state;
    begin("");
    for (int i = 0; i < 50; i++) {
        numbers[i] = i;
        assert_int_equal(pthread_create(&threads[i], NULL, write_one, &numbers[i]), 0);
    }
    for (int i = 0; i < 50; i++) {
        pthread_join(threads[i], NULL);
        errors += numbers[i] < 0;
    }
    reload();
    see_int("events of fifty writers", host_count(&h, "state_changed"));
    assert_ok(hob_session_state(h.s, &state, NULL, &h.err), h.err);
    see_int("keys of fifty writers", (int64_t)hob_state_count(state));
    see_int("errors of fifty writers", errors);
    hob_state_destroy(state);
    host_finish(&h);
}

/* It looks again and writes once more, as the header says. */
static void case_16(void) {
    hob_str b = hob_str_z("{\"b\":1}"), none = hob_str_z("");
    uint64_t seen;
    hob_state *state;
    begin("");
    assert_ok(hob_session_state(h.s, &state, &seen, &h.err), h.err);
    hob_state_destroy(state);
    assert_ok(apply("{\"a\":1}"), h.err);
    see_refused("a writer that has not seen the last event",
                hob_session_apply_state_delta_at(h.s, seen, b, none, NULL));
    assert_ok(hob_session_state(h.s, &state, &seen, &h.err), h.err);
    hob_state_destroy(state);
    assert_ok(hob_session_apply_state_delta_at(h.s, seen, b, none, &h.err), h.err);
    see_state("what that writer sees afterwards", h.s);
    reload();
    see_state("what is stored", h.s);
    host_finish(&h);
}

const case_row store_cases[] = {
    {"ADK-1", case_1, true},    {"ADK-2", case_2, true},    {"ADK-3", case_3, true},
    {"ADK-4", case_4, true},    {"ADK-5", case_5, true},    {"ADK-6", case_6, true},
    {"ADK-7", case_7, false},   {"ADK-8", case_8, false},   {"ADK-9", case_9, true},
    {"ADK-10", case_10, false}, {"ADK-11", case_11, false}, {"ADK-12", case_12, true},
    {"ADK-13", case_13, true},  {"ADK-14", case_14, true},  {"ADK-15", case_15, true},
    {"ADK-16", case_16, true},  {NULL, NULL, false},
};
