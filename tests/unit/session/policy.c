/* The administrator's policy binds a session's options, too. */
#include "support/check.h"
#include "support/host.h"

#include <stdio.h>
#include <unistd.h>

static const char reads[] = "{'rules':[{'when':{'step':{'max':6}},"
                            "'reply':[{'tool':'read','args':{'path':'f{{step}}'}}]}],"
                            "'otherwise':[{'text':'done'}]}";
static const char writes[] = "{'rules':[{'when':{'step':1},"
                             "'reply':[{'tool':'write','args':{'path':'f','content':'x'}}]}],"
                             "'otherwise':[{'text':'done'}]}";

static void open_under(host *r, const char *script, const char *policy) {
    hob_config_load_opts o = HOB_CONFIG_LOAD_OPTS_INIT;
    host_init(r, script);
    hob_test_file(&r->folder, "admin.json", hob_str_z(policy));
    o.admin_file = hob_test_path(&r->folder, "admin.json");
    assert_ok(hob_config_load(r->config, &o, &r->err), r->err);
}

static void test_session_policy__options_do_not_raise_a_limit(void **state) {
    host r;
    (void)state;
    open_under(&r, reads, "{\"policy\":{\"budget\":{\"tool_calls\":2}}}");
    r.so.max_tool_calls = 100;
    host_open(&r);
    assert_string_equal(host_prompt(&r, "go"), "limit");
    assert_int_equal(host_count(&r, "tool_started"), 2);
    host_finish(&r);
}

static void test_session_policy__options_may_lower_a_limit(void **state) {
    host r;
    (void)state;
    open_under(&r, reads, "{\"policy\":{\"budget\":{\"tool_calls\":4}}}");
    r.so.max_tool_calls = 1;
    r.so.max_turns = INT64_MAX;
    r.so.timeout_ms = INT64_MAX;
    host_open(&r);
    assert_string_equal(host_prompt(&r, "go"), "limit");
    assert_int_equal(host_count(&r, "tool_started"), 1);
    host_finish(&r);
}

static void test_session_policy__options_do_not_widen_the_mode(void **state) {
    host r;
    (void)state;
    open_under(&r, writes, "{\"policy\":{\"permissions\":{\"mode\":\"plan\"}}}");
    r.so.permission_mode = "yolo";
    host_open(&r);
    assert_string_equal(host_prompt(&r, "go"), "completed");
    assert_int_equal(host_count(&r, "tool_started"), 0);
    assert_int_equal(hob_test_content(&r.folder, "f").n, 0);
    host_finish(&r);
}

static void test_session_policy__a_guard_that_does_not_exist_is_refused(void **state) {
    static const char *const files[] = {"{\"policy\":{\"sandbox\":{\"level\":\"full\"}}}",
                                        "{\"sandbox\":{\"level\":\"landlock\"}}",
                                        "{\"hooks\":[{\"event\":\"tool\"}]}"};
    (void)state;
    for (size_t i = 0; i < HOB_ARRAY_LEN(files); i++) {
        host r;
        hob_session *s = NULL;
        open_under(&r, writes, files[i]);
        assert_ok(hob_runtime_create(&r.ro, &r.rt, &r.err), r.err);
        assert_int_equal(hob_session_create(r.rt, &r.so, &s, &r.err), HOB_ECONFIG);
        assert_non_null(strstr(r.err.message, "not available in this version"));
        host_finish(&r);
    }
}

/* The rule is about a file, not about one of its names. */
static void test_session_policy__a_link_does_not_lead_around_a_rule(void **state) {
    static const char *const deny[] = {"read(secrets/**)", "write(.env)", NULL};
    host r;
    (void)state;
    host_init(&r, "{'rules':[{'when':{'step':1},'reply':["
                  "{'tool':'read','args':{'path':'public/key'}},"
                  "{'tool':'write','args':{'path':'notes','content':'mine'}},"
                  "{'tool':'read','args':{'path':'notes'}}]}],"
                  "'otherwise':[{'text':'done'}]}");
    hob_test_mkdir(&r.folder, "secrets");
    hob_test_file(&r.folder, "secrets/key", HOB_STR("K"));
    hob_test_file(&r.folder, ".env", HOB_STR("E"));
    hob_test_link(&r.folder, "secrets", "public");
    hob_test_link(&r.folder, ".env", "notes");
    r.so.permission_mode = "yolo";
    r.so.deny = deny;
    host_open(&r);
    assert_string_equal(host_prompt(&r, "go"), "completed");
    const char *log = host_log(&r);
    assert_non_null(strstr(log, "refused: public/key is a link that leads to secrets/key: the"));
    assert_non_null(strstr(log, "refused: notes is a link that leads to .env: the rule write("));
    assert_non_null(strstr(log, "\"E\"")); /* reading it was not forbidden */
    assert_str(hob_test_content(&r.folder, ".env"), "E");
    host_finish(&r);
}

/* What is allowed by a rule is allowed where the rule says, and not where a link leads. */
static void test_session_policy__a_link_does_not_carry_an_allowance(void **state) {
    static const char *const allow[] = {"write(src/**)", NULL};
    host r;
    (void)state;
    host_init(&r, "{'rules':[{'when':{'step':1},'reply':["
                  "{'tool':'write','args':{'path':'src/link','content':'x'}},"
                  "{'tool':'write','args':{'path':'src/plain','content':'x'}}]}],"
                  "'otherwise':[{'text':'done'}]}");
    hob_test_mkdir(&r.folder, "src");
    hob_test_file(&r.folder, "Makefile", HOB_STR("all:"));
    hob_test_link(&r.folder, "../Makefile", "src/link");
    r.so.allow = allow;
    host_open(&r);
    assert_string_equal(host_prompt(&r, "go"), "completed");
    assert_non_null(strstr(host_log(&r), "refused: src/link is a link that leads to Makefile: "));
    assert_str(hob_test_content(&r.folder, "Makefile"), "all:");
    assert_str(hob_test_content(&r.folder, "src/plain"), "x");
    host_finish(&r);
}

/* accept-edits does not free what makes programs run, by its name or behind a link, there already or not yet. */
static void test_session_policy__accepted_edits_make_nothing_run(void **state) {
    host r;
    (void)state;
    host_init(&r, "{'rules':[{'when':{'step':1},'reply':["
                  "{'tool':'write','args':{'path':'.git/config','content':'x'}},"
                  "{'tool':'write','args':{'path':'settings','content':'x'}},"
                  "{'tool':'write','args':{'path':'own/hooks/run','content':'x'}},"
                  "{'tool':'write','args':{'path':'.HOB/config.json','content':'x'}},"
                  "{'tool':'write','args':{'path':'plain','content':'x'}}]}],"
                  "'otherwise':[{'text':'done'}]}");
    hob_test_mkdir(&r.folder, ".git");
    hob_test_file(&r.folder, ".git/config", HOB_STR("[core]"));
    hob_test_link(&r.folder, ".git/config", "settings");
    hob_test_link(&r.folder, ".git", "own");
    r.so.permission_mode = "accept-edits";
    host_open(&r);
    assert_string_equal(host_prompt(&r, "go"), "completed");
    const char *log = host_log(&r);
    assert_non_null(strstr(log, "refused: settings is a link that leads to .git/config: "));
    assert_non_null(strstr(log, "refused: own/hooks/run is a link that leads to .git/"));
    assert_int_equal(host_count(&r, "tool_started"), 3); /* the two links and plain */
    assert_str(hob_test_content(&r.folder, ".git/config"), "[core]");
    assert_int_equal(hob_test_entries(&r.folder, ".git"), 1);
    assert_str(hob_test_content(&r.folder, "plain"), "x");
    host_finish(&r);
}

/* Git runs what the config of a folder says that has a HEAD, whatever the folder is called. */
static void test_session_policy__accepted_edits_leave_the_config_of_a_bare_repository(
    void **state) {
    host r;
    (void)state;
    host_init(&r, "{'rules':[{'when':{'step':1},'reply':["
                  "{'tool':'write','args':{'path':'bare/config','content':'x'}},"
                  "{'tool':'write','args':{'path':'bare/Config.worktree','content':'x'}},"
                  "{'tool':'write','args':{'path':'bare/commondir','content':'x'}},"
                  "{'tool':'write','args':{'path':'config/plain','content':'x'}}]}],"
                  "'otherwise':[{'text':'done'}]}");
    hob_test_mkdir(&r.folder, "bare");
    hob_test_file(&r.folder, "bare/HEAD", HOB_STR("ref: refs/heads/main"));
    r.so.permission_mode = "accept-edits";
    host_open(&r);
    assert_string_equal(host_prompt(&r, "go"), "completed");
    assert_int_equal(host_count(&r, "tool_started"), 1);
    assert_int_equal(hob_test_entries(&r.folder, "bare"), 1);
    assert_str(hob_test_content(&r.folder, "config/plain"), "x");
    host_finish(&r);
}

/* The folder is there, or not yet; the link is a folder on the way or the file itself. */
static void test_session_policy__accepted_edits_do_not_reach_settings_by_a_link(void **state) {
    static const char script[] = "{'rules':[{'when':{'step':1},'reply':["
                                 "{'tool':'write','args':{'path':'there/x','content':'x'}},"
                                 "{'tool':'write','args':{'path':'later/x','content':'x'}},"
                                 "{'tool':'write','args':{'path':'file','content':'x'}}]}],"
                                 "'otherwise':[{'text':'done'}]}";
    host r;
    (void)state;
    host_init(&r, script);
    hob_test_mkdir(&r.folder, ".config");
    hob_test_link(&r.folder, ".config", "there");
    hob_test_link(&r.folder, ".local/bin", "later");
    hob_test_link(&r.folder, ".config/new", "file");
    r.so.permission_mode = "accept-edits";
    host_open(&r);
    assert_string_equal(host_prompt(&r, "go"), "completed");
    assert_int_equal(hob_test_entries(&r.folder, ".config"), 0);
    assert_int_equal(access(hob_test_path(&r.folder, ".local"), F_OK), -1);
    host_finish(&r);
}

/* Where it leads counts for what makes programs run; rules speak of names. */
static void test_session_policy__a_workspace_behind_a_link_is_where_it_leads(void **state) {
    host r;
    char cwd[400], prompt[420];
    (void)state;
    host_init(&r, "{'rules':[{'when':{'step':1,'user':{'prefix':'go '}},'reply':["
                  "{'tool':'write','args':{'path':'x','content':'x'}},"
                  "{'tool':'write','args':{'path':'{{rest}}/y','content':'x'}}]}],"
                  "'otherwise':[{'text':'done'}]}");
    hob_test_mkdir(&r.folder, ".config");
    hob_test_link(&r.folder, ".config", "there");
    snprintf(cwd, sizeof cwd, "%s/there", r.dir);
    r.so.cwd = cwd;
    r.so.permission_mode = "accept-edits";
    host_open(&r);
    snprintf(prompt, sizeof prompt, "go %s", cwd);
    assert_string_equal(host_prompt(&r, prompt), "completed");
    assert_int_equal(host_count(&r, "tool_finished"), 2);
    assert_int_equal(hob_test_entries(&r.folder, ".config"), 0);
    host_finish(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_session_policy__options_do_not_raise_a_limit),
        cmocka_unit_test(test_session_policy__options_may_lower_a_limit),
        cmocka_unit_test(test_session_policy__options_do_not_widen_the_mode),
        cmocka_unit_test(test_session_policy__a_link_does_not_lead_around_a_rule),
        cmocka_unit_test(test_session_policy__a_link_does_not_carry_an_allowance),
        cmocka_unit_test(test_session_policy__accepted_edits_make_nothing_run),
        cmocka_unit_test(test_session_policy__accepted_edits_leave_the_config_of_a_bare_repository),
        cmocka_unit_test(test_session_policy__accepted_edits_do_not_reach_settings_by_a_link),
        cmocka_unit_test(test_session_policy__a_workspace_behind_a_link_is_where_it_leads),
        cmocka_unit_test(test_session_policy__a_guard_that_does_not_exist_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
