/* State as a fold: what state_changed does to a view, overlays, and what readers hold. */
#include "support/check.h"
#include "support/tell.h"

#include "log/view.h"

#include <stdio.h>

static const char *text_of(const hob_state *s) {
    static char line[4096];
    hob_buf b;
    hob_jsonw w;
    hob_buf_init(&b, sizeof line - 1);
    hob_jsonw_init(&w, &b);
    hob_state_write(s, HOB_SCOPE_ALL, &w);
    snprintf(line, sizeof line, "%.*s", HOB_FMT(hob_buf_str(&b)));
    hob_buf_finish(&b);
    return line;
}

static void test_log_fold_state__sets_and_removes(void **state) {
    (void)state;
    tell t;
    tell_init(&t);
    tell_event(&t, "state_changed", NULL, "{'delta':{'b':2,'a':{'x': 1},'n':null}}");
    tell_event(&t, "state_changed", NULL, "{'delta':{'b':3},'removed':['a','never']}");
    assert_string_equal(text_of(&t.view->state), "{\"b\":3,\"n\":null}");
    assert_int_equal(t.view->state_revision, 2);
    tell_finish(&t);
}

static void test_log_fold_state__case_33_a_copy_stays_as_it_was(void **state) {
    (void)state;
    tell t;
    hob_state held = {.count = 0};
    tell_init(&t);
    tell_event(&t, "state_changed", NULL, "{'delta':{'a':1,'b':1}}");
    hob_state_copy(&held, &t.view->state);
    tell_event(&t, "state_changed", NULL, "{'delta':{'a':2},'removed':['b']}");
    assert_string_equal(text_of(&held), "{\"a\":1,\"b\":1}");
    assert_string_equal(text_of(&t.view->state), "{\"a\":2}");
    hob_state_finish(&held);
    tell_finish(&t);
}

static void test_log_fold_state__a_foreign_log_changes_what_it_may(void **state) {
    (void)state;
    tell t;
    tell_init(&t);
    tell_event(&t, "state_changed", NULL,
               "{'delta':{'a/b':1,'':1,'temp:t':1,'k':1},'removed':[7,null,'']}");
    tell_event(&t, "state_changed", NULL, "{'delta':[1],'removed':{'k':1},'temp':7}");
    assert_string_equal(text_of(&t.view->state), "{\"k\":1}");
    tell_finish(&t);
}

/* Histories have branches, state has none: what one agent sets beside others, all see. */
static void test_log_fold_state__case_44_state_is_not_bound_to_branches(void **state) {
    (void)state;
    static const char json[] =
        "{\"v\":1,\"seq\":1,\"ts\":\"2026-01-02T03:04:05.000Z\",\"type\":\"state_changed\","
        "\"session_id\":\"s\",\"agent\":\"w1\",\"branch\":\"p.w1\",\"data\":{\"delta\":{\"k\":1}}}";
    hob_arena *a = hob_arena_create(0);
    hob_event *e;
    tell t;
    tell_init(&t);
    assert_ok(hob_event_decode(hob_str_z(json), &e, &t.err), t.err);
    assert_ok(hob_view_apply(t.view, e, hob_event_parse(e, a), &t.err), t.err);
    assert_string_equal(text_of(&t.view->state), "{\"k\":1}");
    hob_event_unref(e);
    hob_arena_destroy(a);
    tell_finish(&t);
}

static void test_log_fold_state__temp_ends_with_its_run(void **state) {
    (void)state;
    tell t;
    tell_init(&t);
    tell_event(&t, "state_changed", NULL, "{'delta':{'k':1},'temp':['temp:t']}");
    hob_state_assign(&t.view->state, HOB_STR("temp:t"), HOB_STR("1"));
    tell_event(&t, "run_finished", NULL, "{'status':'completed'}");
    assert_string_equal(text_of(&t.view->state), "{\"k\":1}");
    assert_int_equal(t.view->state_revision, 2);
    tell_finish(&t);
}

static void test_log_fold_state__who_it_belongs_to(void **state) {
    (void)state;
    tell t;
    tell_init(&t);
    tell_event(&t, "session_opened", NULL, "{'cwd':'/','app_name':'shop','user_id':'ann'}");
    assert_str(t.view->app_name, "shop");
    assert_str(t.view->user_id, "ann");
    tell_finish(&t);
}

/* ---- overlays ---------------------------------------------------------------------------------- */

static void lay(hob_state *o, const char *delta, const char *removed) {
    hob_arena *a = hob_arena_create(0);
    hob_change c;
    assert_int_equal(hob_change_init(&c, a, hob_str_z(delta), hob_str_z(removed), NULL), 0);
    hob_overlay_add(o, &c);
    hob_change_finish(&c);
    hob_arena_destroy(a);
}

static const char *written(const hob_state *o) {
    static char line[4096];
    hob_buf b;
    hob_jsonw w;
    hob_buf_init(&b, sizeof line - 1);
    hob_jsonw_init(&w, &b);
    hob_jsonw_object(&w);
    hob_overlay_write(o, "delta", &w);
    hob_jsonw_object_end(&w);
    snprintf(line, sizeof line, "%.*s", HOB_FMT(hob_buf_str(&b)));
    hob_buf_finish(&b);
    return line;
}

static void test_log_fold_state__the_later_layer_counts(void **state) {
    (void)state;
    hob_state o = {.count = 0}, s = {.count = 0};
    lay(&o, "{\"a\":1,\"b\":1}", "[\"c\"]");
    lay(&o, "{\"c\":1,\"temp:t\":5}", "[\"a\",\"temp:u\"]");
    assert_string_equal(written(&o), "{\"delta\":{\"b\":1,\"c\":1},\"removed\":[\"a\"],"
                                     "\"temp\":[\"temp:t\",\"temp:u\"]}");
    hob_state_assign(&s, HOB_STR("a"), HOB_STR("0"));
    hob_state_assign(&s, HOB_STR("temp:u"), HOB_STR("0"));
    hob_overlay_apply(&o, HOB_SCOPE_ALL, &s);
    assert_string_equal(text_of(&s), "{\"b\":1,\"c\":1,\"temp:t\":5}");
    hob_state_finish(&s);
    hob_state_finish(&o);
}

static void test_log_fold_state__a_difference_leads_from_one_to_the_other(void **state) {
    (void)state;
    hob_state from = {.count = 0}, to = {.count = 0}, diff = {.count = 0};
    lay(&from, "{\"a\":1,\"b\":1,\"app:x\":1,\"c\":1}", "");
    lay(&to, "{\"a\":1,\"b\":2,\"app:y\":1,\"d\":null}", "");
    hob_overlay_diff(&from, &to, HOB_SCOPE_SESSION, &diff);
    assert_string_equal(written(&diff), "{\"delta\":{\"b\":2,\"d\":null},\"removed\":[\"c\"]}");
    hob_overlay_apply(&diff, HOB_SCOPE_ALL, &from);
    assert_string_equal(text_of(&from), "{\"a\":1,\"app:x\":1,\"b\":2,\"d\":null}");
    hob_state_finish(&diff);
    hob_state_finish(&from);
    hob_state_finish(&to);
}

static void test_log_fold_state__scopes_can_be_dropped(void **state) {
    (void)state;
    hob_state s = {.count = 0};
    lay(&s, "{\"app:a\":1,\"b\":1,\"temp:t\":1,\"user:u\":1,\"z\":1,\"app:c\":1}", "");
    hob_state_drop(&s, HOB_SCOPE_APP | HOB_SCOPE_USER);
    assert_string_equal(text_of(&s), "{\"b\":1,\"temp:t\":1,\"z\":1}");
    hob_state_finish(&s);
}

static void test_log_fold_state__an_overlay_is_weighed(void **state) {
    (void)state;
    static const hob_state_limits limits = {2, 10};
    hob_state o = {.count = 0}, s = {.count = 0};
    lay(&s, "{\"a\":1,\"b\":1}", "");
    lay(&o, "{\"c\":1}", "[\"a\"]");
    assert_int_equal(hob_overlay_check(&o, &s, &limits, NULL), HOB_OK);
    lay(&o, "{\"d\":1}", "");
    assert_int_equal(hob_overlay_check(&o, &s, &limits, NULL), HOB_ETOOBIG);
    lay(&o, "{\"c\":123456789}", "[\"d\"]");
    assert_int_equal(hob_overlay_check(&o, &s, &limits, NULL), HOB_ETOOBIG);
    hob_state_finish(&o);
    hob_state_finish(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_log_fold_state__sets_and_removes),
        cmocka_unit_test(test_log_fold_state__case_33_a_copy_stays_as_it_was),
        cmocka_unit_test(test_log_fold_state__a_foreign_log_changes_what_it_may),
        cmocka_unit_test(test_log_fold_state__case_44_state_is_not_bound_to_branches),
        cmocka_unit_test(test_log_fold_state__temp_ends_with_its_run),
        cmocka_unit_test(test_log_fold_state__who_it_belongs_to),
        cmocka_unit_test(test_log_fold_state__the_later_layer_counts),
        cmocka_unit_test(test_log_fold_state__a_difference_leads_from_one_to_the_other),
        cmocka_unit_test(test_log_fold_state__scopes_can_be_dropped),
        cmocka_unit_test(test_log_fold_state__an_overlay_is_weighed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
