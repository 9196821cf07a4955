/* Another permission mode for a session that is open. */
#include "support/check.h"
#include "support/host.h"

static const char script[] =
    "{'rules':["
    "{'when':{'user':'write','step':1},'reply':[{'tool':'write','args':{'path':'a.txt','content':"
    "'x'}}]},"
    "{'when':{'user':'secret','step':1},'reply':[{'tool':'write','args':{'path':'secret','content':"
    "'x'}}]}],"
    "'otherwise':[{'text':'{{result}}'}]}";

static int setup(void **state) {
    host *r = HOB_NEW(host);
    host_init(r, script);
    *state = r;
    return 0;
}

static int teardown(void **state) {
    host_finish(*state);
    hob_free(*state);
    return 0;
}

static void assert_mode(host *r, const char *expected) {
    char mode[32];
    hob_page *page;
    assert_ok(hob_session_info(r->s, &page, &r->err), r->err);
    hob_json_field(hob_page_row(page, 0), "permission_mode", mode, sizeof mode);
    hob_page_destroy(page);
    assert_string_equal(mode, expected);
}

static void test_session_mode__counts_for_the_next_call(void **state) {
    host *r = *state;
    host_open(r);
    host_prompt(r, "write");
    assert_non_null(strstr(host_text(r), "denied")); /* nobody to ask */
    assert_ok(hob_session_set_permission_mode(r->s, "accept-edits", &r->err), r->err);
    host_prompt(r, "write");
    assert_string_equal(host_text(r), "created a.txt (1 bytes)");
    assert_ok(hob_session_set_permission_mode(r->s, "plan", &r->err), r->err);
    host_prompt(r, "write");
    assert_non_null(strstr(host_text(r), "denied"));
    assert_mode(r, "plan");
}

static void test_session_mode__is_in_the_log(void **state) {
    host *r = *state;
    host_open(r);
    host_prompt(r, "hi");
    assert_ok(hob_session_set_permission_mode(r->s, "yolo", &r->err), r->err);
    assert_int_equal(host_count(r, "config_changed"), 1);
    assert_ok(hob_session_set_permission_mode(r->s, "yolo", &r->err), r->err);
    assert_int_equal(host_count(r, "config_changed"), 1);
}

static void test_session_mode__rules_of_the_caller_stay(void **state) {
    static const char *const deny[] = {"write(secret)", NULL};
    host *r = *state;
    r->so.deny = deny;
    host_open(r);
    assert_ok(hob_session_set_permission_mode(r->s, "yolo", &r->err), r->err);
    host_prompt(r, "secret");
    assert_non_null(strstr(host_text(r), "denied"));
    host_prompt(r, "write");
    assert_string_equal(host_text(r), "created a.txt (1 bytes)");
}

static void test_session_mode__what_is_no_mode_changes_nothing(void **state) {
    host *r = *state;
    host_open(r);
    assert_int_equal(hob_session_set_permission_mode(r->s, "wild", &r->err), HOB_EINVAL);
    assert_int_equal(hob_session_set_permission_mode(r->s, NULL, &r->err), HOB_EINVAL);
    assert_mode(r, "ask");
}

static void test_session_mode__no_wider_than_its_agent(void **state) {
    host *r = *state;
    hob_definitions *d = NULL;
    hob_definition x = HOB_DEFINITION_INIT;
    x.kind = HOB_DEFINITION_AGENT;
    x.name = HOB_STR("looker");
    x.description = HOB_STR("looks");
    x.text = HOB_STR("Look.");
    x.permission_mode = HOB_STR("plan");
    assert_ok(hob_definitions_create(NULL, &d, &r->err), r->err);
    assert_ok(hob_agents_register_worker(d, &x, &r->err), r->err);
    r->so.definitions = d;
    r->so.agent_name = "looker";
    host_open(r);
    assert_int_equal(hob_session_set_permission_mode(r->s, "yolo", &r->err), HOB_EACCES);
    assert_mode(r, "plan");
    host_prompt(r, "write");
    assert_non_null(strstr(host_text(r), "denied"));
    assert_ok(hob_session_set_permission_mode(r->s, "plan", &r->err), r->err);
    hob_definitions_destroy(d);
}

#define TEST(name) cmocka_unit_test_setup_teardown(test_session_mode__##name, setup, teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(counts_for_the_next_call), TEST(is_in_the_log),
        TEST(rules_of_the_caller_stay), TEST(what_is_no_mode_changes_nothing),
        TEST(no_wider_than_its_agent),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
