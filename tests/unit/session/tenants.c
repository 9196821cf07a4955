/* Sessions of several applications and users in one store, seen through the public calls. */
#include "support/check.h"
#include "support/host.h"

#include <stdio.h>

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

static void begin(const char *id, const char *app, const char *user) {
    r.so.choice = HOB_SESSION_NEW;
    r.so.id = id;
    r.so.app_name = hob_str_z(app);
    r.so.user_id = hob_str_z(user);
    if (r.rt)
        assert_ok(hob_session_create(r.rt, &r.so, &r.s, &r.err), r.err);
    else
        host_open(&r);
    assert_string_equal(host_prompt(&r, id), "completed");
}

static void leave(void) {
    hob_session_detach(r.s);
    r.s = NULL;
}

/* "anna": hob's own names; the others said whose they are. */
static void begin_all(void) {
    begin("anna", NULL, NULL);
    leave();
    begin("bert-1", "app", "bert");
    leave();
    begin("cara-1", "app", "cara");
    leave();
}

static hob_page_opts page_of(const char *app, const char *user) {
    hob_page_opts o = HOB_PAGE_OPTS_INIT;
    o.app_name = app;
    o.user_id = user;
    return o;
}

/* The value of a field of the first row; how many rows there are must be n. */
static const char *first(hob_page *p, size_t n, const char *key) {
    static char value[200];
    assert_int_equal(hob_page_count(p), n);
    assert_true(hob_json_field(hob_page_row(p, 0), key, value, sizeof value) >= 0);
    hob_page_destroy(p);
    return value;
}

static void test_session_tenants__lists(void **state) {
    hob_page *p;
    (void)state;
    begin_all();
    hob_page_opts bert = page_of("app", "bert"), app = page_of("app", NULL);
    hob_page_opts own = page_of("hob", "local"), nobody = page_of(NULL, "bert");
    assert_ok(hob_runtime_sessions(r.rt, &bert, &p, &r.err), r.err);
    assert_string_equal(first(p, 1, "id"), "bert-1");
    assert_ok(hob_runtime_runs(r.rt, &bert, &p, &r.err), r.err);
    assert_string_equal(first(p, 1, "user"), "bert");
    assert_ok(hob_runtime_sessions(r.rt, &app, &p, &r.err), r.err);
    assert_string_equal(first(p, 2, "app"), "app");
    assert_ok(hob_runtime_sessions(r.rt, &own, &p, &r.err), r.err);
    assert_string_equal(first(p, 1, "id"), "anna");
    assert_ok(hob_runtime_sessions(r.rt, NULL, &p, &r.err), r.err);
    assert_int_equal(hob_page_count(p), 3);
    hob_page_destroy(p);
    assert_int_equal(hob_runtime_sessions(r.rt, &nobody, &p, &r.err), HOB_EINVAL);
}

static void test_session_tenants__what_is_anothers_is_not_found(void **state) {
    hob_tenant bert = HOB_TENANT_INIT;
    hob_page *p;
    char run[64];
    (void)state;
    begin_all();
    bert.app_name = "app";
    bert.user_id = "bert";
    assert_ok(hob_runtime_find_session_of(r.rt, "bert", &bert, &p, &r.err), r.err);
    assert_string_equal(first(p, 1, "id"), "bert-1");
    assert_int_equal(hob_runtime_find_session_of(r.rt, "cara-1", &bert, &p, &r.err), HOB_ENOENT);
    assert_int_equal(hob_runtime_find_session_of(r.rt, "cara", &bert, &p, &r.err), HOB_ENOENT);
    hob_page_opts o = page_of("app", "cara");
    assert_ok(hob_runtime_runs(r.rt, &o, &p, &r.err), r.err);
    snprintf(run, sizeof run, "%s", first(p, 1, "id"));
    assert_ok(hob_runtime_find_run(r.rt, run, NULL, &p, &r.err), r.err);
    assert_string_equal(first(p, 1, "session"), "cara-1");
    assert_int_equal(hob_runtime_find_run(r.rt, run, &bert, &p, &r.err), HOB_ENOENT);
    assert_int_equal(hob_runtime_find_run(r.rt, "no such run", NULL, &p, &r.err), HOB_ENOENT);
}

static int open_as(const char *id, const char *user, hob_session **out) {
    hob_session_opts so = r.so;
    so.choice = HOB_SESSION_OPEN;
    so.id = id;
    so.app_name = HOB_STR("app");
    so.user_id = hob_str_z(user);
    return hob_session_create(r.rt, &so, out, &r.err);
}

static void test_session_tenants__what_is_anothers_is_not_opened(void **state) {
    hob_session *other;
    (void)state;
    begin_all();
    assert_int_equal(open_as("cara-1", "bert", &other), HOB_ENOENT);
    assert_int_equal(open_as("cara", "bert", &other), HOB_ENOENT);
    assert_ok(open_as("cara", "cara", &r.s), r.err);
    assert_int_equal(open_as("cara-1", "cara", &other), HOB_EBUSY);
    assert_int_equal(open_as("cara-1", "bert", &other), HOB_ENOENT); /* nor that it is in use */
    assert_int_equal(open_as("cara-1", NULL, &other), HOB_EBUSY);
}

static void test_session_tenants__the_newest_of_a_folder_is_ones_own(void **state) {
    char id[64];
    (void)state;
    begin_all();
    r.so.choice = HOB_SESSION_CONTINUE;
    r.so.id = NULL;
    r.so.app_name = HOB_STR("app");
    r.so.user_id = HOB_STR("bert");
    assert_ok(hob_session_create(r.rt, &r.so, &r.s, &r.err), r.err);
    hob_session_id(r.s, id, sizeof id);
    assert_string_equal(id, "bert-1");
}

#define T(name) cmocka_unit_test_setup_teardown(test_session_tenants__##name, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        T(lists),
        T(what_is_anothers_is_not_found),
        T(what_is_anothers_is_not_opened),
        T(the_newest_of_a_folder_is_ones_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
