/* A shared session: events, state and invocations. Cases of the conformance list carry their number. */
#include "shared_tools.h"

/* ---- events and state ------------------------------------------------------------------------- */

static void test_log_shared__adk_1_temp_keys_of_the_beginning_are_not_kept(void **state) {
    (void)state;
    talk t;
    talk_init(&t, "{'app:a':1,'user:u':2,'temp:t':3,'k':4}");
    reload(&t);
    assert_string_equal(state_line(&t, HOB_SCOPE_ALL), "app:a=1 k=4 user:u=2 ");
    talk_finish(&t);
}

static void test_log_shared__adk_5_temp_is_in_neither_state_nor_event(void **state) {
    (void)state;
    talk t;
    talk_init(&t, NULL);
    assert_ok(hob_shared_begin(t.s, hob_str_z("i1"), &t.err), t.err);
    hob_shared_event e = event_of(&t, "a", NULL);
    e.invocation = hob_str_z("i1");
    e.state_delta = quoted(&t, "{'k':1,'app:x':'A','user:y':[ ],'temp:z':true,'n':null}");
    e.removed = quoted(&t, "['old','temp:q']");
    must_append(&t, &e);
    assert_string_equal(value_of(&t, "temp:z"), "true");
    assert_string_equal(
        exported(&t),
        "{'id':'s-1','app_name':'app','user_id':'ann','state':{'app:x':'A','k':1,"
        "'n':null,'user:y':[ ]},'events':[{'id':'s1','invocation':'i1','author':'a',"
        "'state_delta':{'app:x':'A','k':1,'n':null,'user:y':[ ]},'removed':['old']}]}");
    reload(&t);
    assert_string_equal(state_line(&t, HOB_SCOPE_ALL), "app:x=\"A\" k=1 n=null user:y=[ ] ");
    talk_finish(&t);
}

static void test_log_shared__adk_6_the_callers_event_is_not_modified(void **state) {
    (void)state;
    talk t;
    talk_init(&t, NULL);
    assert_ok(hob_shared_begin(t.s, hob_str_z("i1"), &t.err), t.err);
    hob_shared_event e = event_of(&t, "a", "[{'type':'text','text':'x'}]");
    e.state_delta = quoted(&t, "{'temp:z':1,'k':1}");
    hob_shared_event before = e;
    must_append(&t, &e);
    assert_memory_equal(&e, &before, sizeof e);
    assert_str(e.state_delta, "{\"temp:z\":1,\"k\":1}");
    talk_finish(&t);
}

static void test_log_shared__adk_7_a_partial_event_leaves_nothing(void **state) {
    (void)state;
    talk t;
    uint64_t seq = 9;
    talk_init(&t, NULL);
    hob_shared_event e = event_of(&t, "a", "[{'type':'text','text':'hal'}]");
    e.flags = HOB_SHARED_PARTIAL;
    e.state_delta = quoted(&t, "{'k':1}");
    assert_ok(hob_shared_append_event(t.s, &e, &seq, &t.err), t.err);
    assert_int_equal(seq, 0);
    assert_int_equal(hob_shared_events_len(t.s), 0);
    assert_int_equal(hob_shared_revision(t.s), 0);
    assert_string_equal(value_of(&t, "k"), "-");
    talk_finish(&t);
}

static void test_log_shared__adk_8_an_event_id_is_taken_once(void **state) {
    (void)state;
    talk t;
    talk_init(&t, NULL);
    hob_shared_event e = event_of(&t, "a", NULL);
    e.id = hob_str_z("one");
    e.state_delta = quoted(&t, "{'k':1}");
    must_append(&t, &e);
    e.state_delta = quoted(&t, "{'k':2}");
    assert_int_equal(append(&t, &e), HOB_EEXIST);
    assert_int_equal(hob_shared_events_len(t.s), 1);
    assert_string_equal(value_of(&t, "k"), "1");
    e.id = hob_str_z("s7"); /* would be in the way of the seventh event */
    assert_int_equal(append(&t, &e), HOB_EINVAL);
    talk_finish(&t);
}

static void order_after_reload(const int64_t times[4]) {
    talk t;
    talk_init(&t, NULL);
    for (int i = 0; i < 4; i++) {
        char text[8];
        snprintf(text, sizeof text, "f%d", i + 1);
        hob_shared_event e = event_of(&t, "user", NULL);
        char content[64];
        snprintf(content, sizeof content, "[{'type':'text','text':'%s'}]", text);
        e.content = quoted(&t, content);
        e.time = times[i];
        must_append(&t, &e);
    }
    reload(&t);
    assert_string_equal(history(&t, NULL, NULL), "user f1 | user f2 | user f3 | user f4");
    talk_finish(&t);
}

static void test_log_shared__adk_10_equal_times_keep_the_order(void **state) {
    (void)state;
    order_after_reload((const int64_t[4]){5, 5, 5, 5});
}

static void test_log_shared__adk_11_decreasing_times_keep_the_order(void **state) {
    (void)state;
    order_after_reload((const int64_t[4]){9, 7, 5, 3});
}

static void test_log_shared__adk_14_keys_of_users_come_back_as_written(void **state) {
    (void)state;
    talk t;
    talk_init(&t, NULL);
    hob_shared_event e = event_of(
        &t, "a",
        "[{'type':'tool_call','call':'c','name':'t','args':{'snake_case':1,'camelCase':{'inner_Key':2}}}]");
    e.state_delta = quoted(&t, "{'snake_key':{'camelKey':1.50,'a_b':[1,2 ]},'camelKey':1e3}");
    must_append(&t, &e);
    reload(&t);
    assert_string_equal(state_line(&t, HOB_SCOPE_ALL),
                        "camelKey=1e3 snake_key={\"camelKey\":1.50,\"a_b\":[1,2 ]} ");
    assert_non_null(strstr(exported(&t), "'args':{'snake_case':1,'camelCase':{'inner_Key':2}}"));
    assert_non_null(
        strstr(exported(&t), "{'snake_key':{'camelKey':1.50,'a_b':[1,2 ]},'camelKey':1e3}"));
    talk_finish(&t);
}

static void test_log_shared__adk_16_a_stale_writer_is_refused(void **state) {
    (void)state;
    talk t;
    talk_init(&t, NULL);
    uint64_t seen = hob_shared_revision(t.s), seq = 0;
    hob_shared_event e = event_of(&t, "a", NULL);
    e.state_delta = quoted(&t, "{'k':1}");
    assert_ok(hob_shared_append_event_at(t.s, seen, &e, &seq, &t.err), t.err);
    assert_int_equal(seq, 1);
    e.state_delta = quoted(&t, "{'k':2}");
    assert_int_equal(hob_shared_append_event_at(t.s, seen, &e, &seq, &t.err), HOB_EBUSY);
    assert_string_equal(value_of(&t, "k"), "1");
    assert_ok(hob_shared_append_event_at(t.s, hob_shared_revision(t.s), &e, &seq, &t.err), t.err);
    assert_string_equal(value_of(&t, "k"), "2");
    talk_finish(&t);
}

static void test_log_shared__adk_17_invocations_do_not_interleave(void **state) {
    (void)state;
    talk t;
    talk_init(&t, NULL);
    assert_ok(hob_shared_begin(t.s, hob_str_z("i1"), &t.err), t.err);
    assert_int_equal(hob_shared_begin(t.s, hob_str_z("i2"), &t.err), HOB_EBUSY);
    hob_shared_event e = event_of(&t, "user", "[{'type':'text','text':'x'}]");
    e.invocation = hob_str_z("i2");
    assert_int_equal(append(&t, &e), HOB_EBUSY);
    e.invocation = hob_str_z("i1");
    must_append(&t, &e);
    assert_int_equal(hob_shared_end(t.s, hob_str_z("i2"), &t.err), HOB_EIDLE);
    assert_ok(hob_shared_end(t.s, hob_str_z("i1"), &t.err), t.err);
    assert_ok(hob_shared_begin(t.s, hob_str_z("i2"), &t.err), t.err);
    assert_int_equal(hob_shared_events_len(t.s), 1);
    talk_finish(&t);
}

/* ---- identity ----------------------------------------------------------------------------------- */

static int identity(hob_str app, hob_str user, hob_str id, hob_error *err) {
    hob_shared_opts o = HOB_SHARED_OPTS_INIT;
    hob_shared_identity out;
    hob_shared *s;
    o.app_name = app;
    o.user_id = user;
    o.id = id;
    assert_ok(hob_shared_create(&o, &s, err), *err);
    int rc = hob_shared_try_identity(s, &out, err);
    if (rc >= 0) assert_true(hob_str_eq(out.id, id) && hob_str_eq(out.user_id, user));
    hob_shared_unref(s);
    return rc;
}

static void test_log_shared__adk_18_identity(void **state) {
    (void)state;
    static char long_id[513];
    memset(long_id, 'x', sizeof long_id);
    hob_str ok = HOB_STR("x");
    hob_error err;
    assert_int_equal(identity(ok, ok, HOB_STR(""), &err), HOB_EINVAL);
    assert_string_equal(err.message, "SessionId must not be empty");
    assert_int_equal(identity(ok, ok, hob_str_n(long_id, 513), &err), HOB_EINVAL);
    assert_string_equal(err.message, "SessionId exceeds maximum length of 512 bytes");
    assert_int_equal(identity(ok, ok, hob_str_n(long_id, 512), &err), HOB_OK);
    assert_int_equal(identity(ok, ok, HOB_STR("a\0b"), &err), HOB_EINVAL);
    assert_string_equal(err.message, "SessionId must not contain null bytes");
    assert_int_equal(identity(ok, ok, HOB_STR("o:t/a@v2"), &err), HOB_OK);
    assert_int_equal(identity(ok, ok, HOB_STR("  x "), &err), HOB_OK);
    assert_int_equal(identity(HOB_STR(""), HOB_STR(""), HOB_STR(""), &err), HOB_EINVAL);
    assert_string_equal(err.message, "AppName must not be empty");
    assert_int_equal(identity(ok, HOB_STR("\0"), HOB_STR(""), &err), HOB_EINVAL);
    assert_string_equal(err.message, "UserId must not contain null bytes");
}

/* ---- keys ------------------------------------------------------------------------------------------ */

static void test_log_shared__adk_19_keys_have_one_rule_everywhere(void **state) {
    (void)state;
    static char key[257];
    memset(key, 'k', sizeof key);
    const hob_str bad[] = {HOB_STR(""),     hob_str_n(key, 257), HOB_STR("a/b"),  HOB_STR("a\\b"),
                           HOB_STR(".."),   HOB_STR("x\0"),      HOB_STR("app:"), HOB_STR("temp:"),
                           HOB_STR("\xff"), HOB_STR("user:")};
    talk t;
    talk_init(&t, NULL);
    for (size_t i = 0; i < HOB_ARRAY_LEN(bad); i++) {
        assert_int_equal(hob_shared_state_set(t.s, bad[i], HOB_STR("1"), &t.err), HOB_EINVAL);
        assert_int_equal(hob_shared_state_delete(t.s, bad[i], &t.err), HOB_EINVAL);
    }
    const char *const deltas[] = {"{'':1}",   "{'a/b':1}",      "{'a\\\\b':1}",
                                  "{'..':1}", "{'x\\u0000':1}", "{'ok':1,'user:':1}"};
    for (size_t i = 0; i < HOB_ARRAY_LEN(deltas); i++)
        assert_int_equal(
            hob_shared_apply_state_delta(t.s, quoted(&t, deltas[i]), HOB_STR_NULL, &t.err),
            HOB_EINVAL);
    char longer[300];
    snprintf(longer, sizeof longer, "{'%.*s':1}", 257, key);
    assert_int_equal(hob_shared_apply_state_delta(t.s, quoted(&t, longer), HOB_STR_NULL, &t.err),
                     HOB_EINVAL);
    assert_ok(hob_shared_state_set(t.s, hob_str_n(key, 256), HOB_STR("1"), &t.err), t.err);
    assert_int_equal(hob_shared_state_set(t.s, HOB_STR("k"), HOB_STR("no"), &t.err), HOB_EPARSE);
    assert_string_equal(value_of(&t, "ok"), "-");
    talk_finish(&t);
}

static void test_log_shared__adk_20_a_removed_key_is_absent(void **state) {
    (void)state;
    talk t;
    talk_init(&t, "{'a':1,'b':null}");
    hob_shared_event e = event_of(&t, "x", NULL);
    e.state_delta = quoted(&t, "{'c':3}");
    e.removed = quoted(&t, "['a']");
    must_append(&t, &e);
    assert_string_equal(state_line(&t, HOB_SCOPE_ALL), "b=null c=3 ");
    assert_ok(hob_shared_state_delete(t.s, HOB_STR("b"), &t.err), t.err);
    reload(&t);
    assert_string_equal(state_line(&t, HOB_SCOPE_ALL), "c=3 ");
    assert_string_equal(value_of(&t, "a"), "-");
    talk_finish(&t);
}

/* ---- deltas ---------------------------------------------------------------------------------------- */

static void test_log_shared__adk_23_an_empty_delta_is_nothing(void **state) {
    (void)state;
    talk t;
    talk_init(&t, "{'a':1}");
    assert_ok(hob_shared_apply_state_delta(t.s, HOB_STR("{}"), HOB_STR("[]"), &t.err), t.err);
    assert_ok(hob_shared_apply_state_delta(t.s, HOB_STR_NULL, HOB_STR_NULL, &t.err), t.err);
    assert_int_equal(hob_shared_revision(t.s), 0);
    talk_finish(&t);
}

static void test_log_shared__adk_24_temp_is_the_invocations(void **state) {
    (void)state;
    talk t;
    talk_init(&t, NULL);
    hob_str delta = HOB_STR("{\"temp:t\":1,\"k\":2}");
    assert_int_equal(hob_shared_apply_state_delta(t.s, delta, HOB_STR_NULL, &t.err), HOB_EIDLE);
    assert_string_equal(value_of(&t, "k"), "-");
    assert_ok(hob_shared_begin(t.s, HOB_STR("i"), &t.err), t.err);
    assert_ok(hob_shared_apply_state_delta(t.s, delta, HOB_STR_NULL, &t.err), t.err);
    assert_string_equal(state_line(&t, HOB_SCOPE_ALL), "k=2 temp:t=1 ");
    assert_string_equal(state_line(&t, HOB_SCOPE_STORED), "k=2 ");
    assert_ok(hob_shared_end(t.s, HOB_STR("i"), &t.err), t.err);
    assert_string_equal(state_line(&t, HOB_SCOPE_ALL), "k=2 ");
    talk_finish(&t);
}

static void test_log_shared__adk_26_every_holder_sees_a_change_at_once(void **state) {
    (void)state;
    talk t;
    hob_shared_snapshot *p;
    hob_shared_opts o = HOB_SHARED_OPTS_INIT;
    hob_shared *next;
    hob_str value;
    talk_init(&t, "{'k':1}");
    say(&t, "user", "hi");
    hob_shared_events_snapshot(t.s, &p);
    o.id = HOB_STR("s-2");
    o.snapshot = p;
    assert_ok(hob_shared_create(&o, &next, &t.err), t.err);
    hob_shared *other = hob_shared_ref(next);
    char text[8];
    assert_ok(hob_shared_state_set(next, HOB_STR("k"), HOB_STR("2"), &t.err), t.err);
    assert_ok(hob_shared_append_to_history(next, HOB_STR("user"), HOB_STR("[]"), &t.err), t.err);
    assert_int_equal(hob_shared_state_get(other, HOB_STR("k"), text, sizeof text), 1);
    assert_string_equal(text, "2");
    assert_int_equal(hob_shared_events_len(other), 2);
    assert_int_equal(hob_shared_snapshot_get(p, HOB_STR("k"), &value), HOB_OK);
    assert_str(value, "1"); /* what it was made from is as it was */
    assert_string_equal(value_of(&t, "k"), "1");
    assert_int_equal(hob_shared_events_len(t.s), 1);
    hob_shared_unref(other);
    hob_shared_unref(next);
    hob_shared_snapshot_unref(p);
    talk_finish(&t);
}

static void test_log_shared__adk_33_a_snapshot_is_an_immutable_prefix(void **state) {
    (void)state;
    enum { BEFORE = 300, AFTER = 9000 };
    talk t;
    hob_shared_snapshot *p;
    hob_str value;
    talk_init(&t, "{'k':1}");
    for (int i = 0; i < BEFORE; i++) say(&t, "user", "early");
    hob_shared_events_snapshot(t.s, &p);
    const hob_shared_event *last = hob_shared_snapshot_event(p, BEFORE - 1);
    for (int i = 0; i < AFTER; i++) say(&t, "a", "late");
    assert_ok(hob_shared_state_set(t.s, HOB_STR("k"), HOB_STR("2"), &t.err), t.err);
    assert_int_equal(hob_shared_events_len(t.s), BEFORE + AFTER);
    talk_finish(&t);
    assert_int_equal(hob_shared_snapshot_len(p), BEFORE);
    assert_ptr_equal(hob_shared_snapshot_event(p, BEFORE - 1), last);
    assert_null(hob_shared_snapshot_event(p, BEFORE));
    assert_str(last->id, "s300");
    assert_str(last->content, "[{\"type\":\"text\",\"text\":\"early\"}]");
    assert_int_equal(hob_shared_snapshot_get(p, HOB_STR("k"), &value), HOB_OK);
    assert_str(value, "1");
    assert_int_equal(hob_shared_snapshot_revision(p), BEFORE);
    hob_shared_snapshot_unref(p);
}

static void test_log_shared__adk_38_a_result_of_no_call_is_refused(void **state) {
    (void)state;
    talk t;
    talk_init(&t, NULL);
    say(&t, "user", "q");
    hob_shared_event e = event_of(&t, "a", "[{'type':'tool_result','call':'nobody','content':[]}]");
    e.state_delta = quoted(&t, "{'k':1}");
    assert_int_equal(append(&t, &e), HOB_ENOENT);
    assert_string_equal(value_of(&t, "k"), "-");
    say(&t, "user", "again");
    assert_string_equal(history(&t, "a", NULL), "user q | user again");
    talk_finish(&t);
}

/* ---- what an event may be ------------------------------------------------------------------------------ */

static void test_log_shared__bad_events_change_nothing(void **state) {
    (void)state;
    static const struct {
        const char *who, *content;
        int code;
    } bad[] = {
        {"", "[]", HOB_EINVAL},
        {"a@x..y", "[]", HOB_EINVAL},
        {"a@.x", "[]", HOB_EINVAL},
        {"a", "{}", HOB_EPARSE},
        {"a", "[1]", HOB_EPARSE},
        {"a", "[{'text':'no type'}]", HOB_EPARSE},
        {"a", "[{'type':'tool_call','name':'t'}]", HOB_EINVAL},
        {"a", "[", HOB_EPARSE},
    };
    talk t;
    talk_init(&t, NULL);
    for (size_t i = 0; i < HOB_ARRAY_LEN(bad); i++) {
        hob_shared_event e = event_of(&t, bad[i].who, bad[i].content);
        e.state_delta = quoted(&t, "{'k':1}");
        assert_int_equal(append(&t, &e), bad[i].code);
    }
    hob_shared_event e = event_of(&t, "a", NULL);
    e.compaction.start = e.compaction.end = 1;
    e.compaction.content = HOB_STR("[]");
    assert_int_equal(append(&t, &e), HOB_EINVAL); /* there is no event 1 */
    assert_int_equal(hob_shared_events_len(t.s), 0);
    assert_int_equal(hob_shared_revision(t.s), 0);
    assert_string_equal(value_of(&t, "k"), "-");
    talk_finish(&t);
}

static void test_log_shared__ceilings_hold(void **state) {
    (void)state;
    hob_shared_opts o = HOB_SHARED_OPTS_INIT;
    hob_error err;
    hob_shared *s;
    o.max_events = 2;
    o.max_keys = 1;
    o.state = HOB_STR("{\"a\":1,\"b\":2}");
    assert_int_equal(hob_shared_create(&o, &s, &err), HOB_ETOOBIG);
    o.state = HOB_STR("{\"a\":1}");
    assert_ok(hob_shared_create(&o, &s, &err), err);
    assert_int_equal(hob_shared_state_set(s, HOB_STR("b"), HOB_STR("1"), &err), HOB_ETOOBIG);
    assert_ok(hob_shared_append_to_history(s, HOB_STR("user"), HOB_STR("[]"), &err), err);
    assert_ok(hob_shared_append_to_history(s, HOB_STR("user"), HOB_STR("[]"), &err), err);
    assert_int_equal(hob_shared_append_to_history(s, HOB_STR("user"), HOB_STR("[]"), &err),
                     HOB_ETOOBIG);
    assert_int_equal(hob_shared_events_len(s), 2);
    hob_shared_unref(s);
}

static void test_log_shared__actions_survive_storing(void **state) {
    (void)state;
    talk t;
    talk_init(&t, NULL);
    hob_shared_event e = event_of(&t, "a@p.a", NULL);
    e.id = hob_str_z("ev");
    e.time = 12;
    e.flags = HOB_SHARED_ESCALATE | HOB_SHARED_SKIP_SUMMARIZATION;
    e.transfer = hob_str_z("b");
    e.artifact_delta = quoted(&t, "{'f.txt':2}");
    must_append(&t, &e);
    e = event_of(&t, "a", NULL);
    e.compaction = (hob_shared_compaction){1, 1, quoted(&t, "[{'type':'text','text':'S'}]"),
                                           hob_str_z("a"), hob_str_z("p")};
    must_append(&t, &e);
    reload(&t);
    assert_string_equal(
        exported(&t),
        "{'id':'s-1','app_name':'app','user_id':'ann','state':{},'events':[{'id':'ev','time':12,"
        "'author':'a','branch':'p.a','artifact_delta':{'f.txt':2},'transfer':'b','escalate':true,"
        "'skip_summarization':true},{'id':'s2','author':'a','compaction':{'start':1,'end':1,"
        "'content':[{'type':'text','text':'S'}],'agent':'a','branch':'p'}}]}");
    talk_finish(&t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_log_shared__adk_1_temp_keys_of_the_beginning_are_not_kept),
        cmocka_unit_test(test_log_shared__adk_5_temp_is_in_neither_state_nor_event),
        cmocka_unit_test(test_log_shared__adk_6_the_callers_event_is_not_modified),
        cmocka_unit_test(test_log_shared__adk_7_a_partial_event_leaves_nothing),
        cmocka_unit_test(test_log_shared__adk_8_an_event_id_is_taken_once),
        cmocka_unit_test(test_log_shared__adk_10_equal_times_keep_the_order),
        cmocka_unit_test(test_log_shared__adk_11_decreasing_times_keep_the_order),
        cmocka_unit_test(test_log_shared__adk_14_keys_of_users_come_back_as_written),
        cmocka_unit_test(test_log_shared__adk_16_a_stale_writer_is_refused),
        cmocka_unit_test(test_log_shared__adk_17_invocations_do_not_interleave),
        cmocka_unit_test(test_log_shared__adk_18_identity),
        cmocka_unit_test(test_log_shared__adk_19_keys_have_one_rule_everywhere),
        cmocka_unit_test(test_log_shared__adk_20_a_removed_key_is_absent),
        cmocka_unit_test(test_log_shared__adk_23_an_empty_delta_is_nothing),
        cmocka_unit_test(test_log_shared__adk_24_temp_is_the_invocations),
        cmocka_unit_test(test_log_shared__adk_26_every_holder_sees_a_change_at_once),
        cmocka_unit_test(test_log_shared__adk_33_a_snapshot_is_an_immutable_prefix),
        cmocka_unit_test(test_log_shared__adk_38_a_result_of_no_call_is_refused),
        cmocka_unit_test(test_log_shared__bad_events_change_nothing),
        cmocka_unit_test(test_log_shared__ceilings_hold),
        cmocka_unit_test(test_log_shared__actions_survive_storing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
