/* Files: which ones, what is wrong with them, and what they may say. */
#include "support/scratch.h"
#include "support/settings.h"

#include <sys/wait.h>

typedef struct fixture {
    scratch s;
    hob_config *c;
    char home[PATH_MAX + 8];
    const char *env[8];
    hob_config_load_opts o;
    hob_error err;
} fixture;

/* A home, a workspace and an administrator's file, none of them with anything in it. */
static int setup(void **state) {
    fixture *f = HOB_NEW(fixture);
    scratch_init(&f->s);
    snprintf(f->home, sizeof(f->home), "HOME=%s", scratch_mkdir(&f->s, "home"));
    f->env[0] = f->home;
    f->o = (hob_config_load_opts)HOB_CONFIG_LOAD_OPTS_INIT;
    f->o.envp = f->env;
    f->o.cwd = hob_dupz(hob_str_z(scratch_mkdir(&f->s, "ws")));
    f->o.admin_file = hob_dupz(hob_str_z(scratch_path(&f->s, "etc/config.json")));
    f->c = hob_config_create();
    *state = f;
    return 0;
}

static int teardown(void **state) {
    fixture *f = *state;
    hob_free((void *)f->o.cwd);
    hob_free((void *)f->o.admin_file);
    hob_config_destroy(f->c);
    scratch_finish(&f->s);
    hob_free(f);
    return 0;
}

#define USER_FILE "home/.config/hob/config.json"
#define WORKSPACE_FILE "ws/.hob/config.json"
#define ADMIN_FILE "etc/config.json"

static void load(fixture *f) {
    assert_ok(hob_config_load(f->c, &f->o, &f->err), f->err);
}

/* Loading fails; the message, with the test's folder shown as @, is this one. */
static void load_fails(fixture *f, const char *message) {
    assert_int_equal(hob_config_load(f->c, &f->o, &f->err), HOB_ECONFIG);
    char shown[600], *at = strstr(f->err.message, f->s.dir);
    snprintf(shown, sizeof(shown), "%s", f->err.message);
    if (at)
        snprintf(shown, sizeof(shown), "%.*s@%s", (int)(at - f->err.message), f->err.message,
                 at + strlen(f->s.dir));
    assert_string_equal(shown, message);
    assert_settings(f->c, ""); /* all or nothing */
}

static void assert_source(fixture *f, const char *path, hob_origin origin, const char *source) {
    hob_str got;
    assert_int_equal(hob_config_origin(f->c, path, &got), origin);
    assert_str(got, source);
}

static void test_config_load__works_without_any_file(void **state) {
    fixture *f = *state;
    load(f);
    assert_settings(f->c, "");
    assert_str(hob_config_file(f->c), scratch_path(&f->s, USER_FILE));
    assert_str(hob_config_state_dir(f->c), scratch_path(&f->s, "home/.local/state/hob"));
    assert_str(hob_config_cache_dir(f->c), scratch_path(&f->s, "home/.cache/hob"));
}

static void test_config_load__says_file_and_line_of_each_value(void **state) {
    fixture *f = *state;
    const char *admin = scratch_write(&f->s, ADMIN_FILE, "{\"budget\": {\n\"turns\": 9}}");
    const char *user = scratch_write(&f->s, USER_FILE,
                                     "// mine\n{\n  \"$schema\": \"x\", /* a\n b */\n  \"model\": "
                                     "\"lab/m\",\n  \"permissions\": {\n    \"deny\": [\n      "
                                     "\"bash(rm:*)\", // no\n    ],\n  },\n}\n");
    load(f);
    char line[PATH_MAX * 2];
    snprintf(line, sizeof(line), "%s:2", admin);
    assert_source(f, "budget.turns", HOB_ORIGIN_ADMIN, line);
    snprintf(line, sizeof(line), "%s:5", user);
    assert_source(f, "model", HOB_ORIGIN_USER, line);
    snprintf(line, sizeof(line), "%s:7", user);
    assert_source(f, "permissions.deny", HOB_ORIGIN_USER, line);
    assert_setting(f->c, "permissions.deny", "[\"bash(rm:*)\"]");
    assert_int_equal(hob_config_warnings(f->c), 0);
}

static void test_config_load__orders_admin_user_workspace_environment(void **state) {
    fixture *f = *state;
    scratch_write(&f->s, ADMIN_FILE, "{\"model\":\"openai/admin\",\"thinking\":\"low\"}");
    load(f);
    assert_setting(f->c, "model", "\"openai/admin\"");
    scratch_write(&f->s, USER_FILE, "{\"model\":\"openai/user\"}");
    load(f);
    assert_setting(f->c, "model", "\"openai/user\"");
    scratch_write(&f->s, WORKSPACE_FILE, "{\"model\":\"openai/workspace\"}");
    load(f);
    assert_setting(f->c, "model", "\"openai/workspace\"");
    f->env[1] = "HOB_MODEL=openai/environment";
    load(f);
    assert_setting(f->c, "model", "\"openai/environment\"");
    settings_set(f->c, "model", "\"openai/flag\"", HOB_ORIGIN_FLAG);
    assert_setting(f->c, "model", "\"openai/flag\"");
    load(f); /* flags stay */
    assert_setting(f->c, "model", "\"openai/flag\"");
    assert_setting(f->c, "thinking", "\"low\"");
}

static void test_config_load__names_line_and_column_of_broken_json(void **state) {
    fixture *f = *state;
    scratch_write(&f->s, USER_FILE, "{\n  \"model\": \"x\"\n  \"store\": 1\n}");
    load_fails(f, "@/home/.config/hob/config.json:3:3: expected ',' or '}' after a member");
    scratch_write(&f->s, USER_FILE, "{}");
    scratch_write(&f->s, WORKSPACE_FILE, "{\"permissions\":");
    load_fails(f, "@/ws/.hob/config.json:1:16: the text ends before the value does");
    scratch_write(&f->s, WORKSPACE_FILE, "[]");
    load_fails(f, "@/ws/.hob/config.json:1: the configuration must be an object");
}

static void test_config_load__names_the_line_of_a_wrong_type(void **state) {
    fixture *f = *state;
    scratch_write(&f->s, USER_FILE, "{\n\"retry\": {\n\"attempts\": \"five\"}}");
    load_fails(f, "@/home/.config/hob/config.json:3: retry.attempts must be a whole number, at "
                  "least 0 and at most 100, not \"five\"");
    scratch_write(&f->s, USER_FILE, "{\"permissions\": {\"deny\": [1]}}");
    load_fails(f, "@/home/.config/hob/config.json:1: permissions.deny must be an array of strings");
    scratch_write(&f->s, USER_FILE, "{\"retry\": 5}");
    load_fails(f, "@/home/.config/hob/config.json:1: retry must be an object");
}

static void test_config_load__remarks_on_unknown_names(void **state) {
    fixture *f = *state;
    const char *path = scratch_write(&f->s, USER_FILE,
                                     "{\"modle\": 1,\n\"retry\":{\"atempts\":1},"
                                     "\n\"zzzzzz\":{}}");
    load(f);
    char want[PATH_MAX * 4];
    snprintf(want, sizeof(want),
             "%s:1: modle is not a setting; did you mean model? (ignored)\n"
             "%s:2: retry.atempts is not a setting; did you mean attempts? (ignored)\n"
             "%s:3: zzzzzz is not a setting (ignored)\n",
             path, path, path);
    assert_warnings(f->c, want);
}

/* A limit that is misspelt does not hold: better not to start. */
static void test_config_load__refuses_unknown_names_where_limits_stand(void **state) {
    fixture *f = *state;
    scratch_write(&f->s, USER_FILE, "{\"permissions\": {\"denny\": []}}");
    load_fails(f, "@/home/.config/hob/config.json:1: permissions.denny is not a setting; did you "
                  "mean deny?");
    scratch_write(&f->s, USER_FILE, "{\"budget\": {\"token\": 5}}");
    load_fails(f, "@/home/.config/hob/config.json:1: budget.token is not a setting; did you mean "
                  "tokens?");
}

static void test_config_load__refuses_a_name_given_twice(void **state) {
    fixture *f = *state;
    scratch_write(&f->s, USER_FILE, "{\"permissions\": {\"deny\": [\"a\"],\n\"deny\": []}}");
    load_fails(f, "@/home/.config/hob/config.json:2: permissions.deny is there twice");
}

static void test_config_load__takes_blank_files_and_a_byte_order_mark(void **state) {
    fixture *f = *state;
    scratch_write(&f->s, USER_FILE, " \n");
    scratch_write(&f->s, WORKSPACE_FILE, "\xef\xbb\xbf{\"budget\":{\"turns\":2}}");
    load(f);
    assert_setting(f->c, "budget.turns", "2");
}

static void test_config_load__hob_config_has_to_be_there(void **state) {
    fixture *f = *state;
    char var[PATH_MAX * 2];
    scratch_write(&f->s, USER_FILE, "{\"model\":\"openai/not-me\"}");
    snprintf(var, sizeof(var), "HOB_CONFIG=%s", scratch_path(&f->s, "mine.json"));
    f->env[1] = var;
    load_fails(f, "HOB_CONFIG: @/mine.json does not exist; name a file that is there, or unset "
                  "HOB_CONFIG");
    scratch_write(&f->s, "mine.json", "{\"model\":\"openai/me\"}");
    load(f);
    assert_setting(f->c, "model", "\"openai/me\"");
    assert_str(hob_config_file(f->c), scratch_path(&f->s, "mine.json"));
}

static void test_config_load__hob_config_may_be_no_file_at_all(void **state) {
    fixture *f = *state;
    scratch_write(&f->s, USER_FILE, "{\"model\":\"openai/not-me\"}");
    f->env[1] = "HOB_CONFIG=/dev/null";
    load(f);
    assert_settings(f->c, "");
    char var[PATH_MAX * 2];
    snprintf(var, sizeof(var), "HOB_CONFIG=%s", f->s.dir);
    f->env[1] = var;
    load_fails(f, "@ is not a regular file");
}

static void test_config_load__refuses_what_cannot_be_read(void **state) {
    fixture *f = *state;
    const char *path = scratch_write(&f->s, USER_FILE, "{}");
    if (geteuid() == 0) { /* root reads everything: a loop of links nobody can follow */
        assert_int_equal(unlink(path), 0);
        assert_int_equal(symlink(path, path), 0);
        load_fails(f, "@/home/.config/hob/config.json cannot be opened: Too many levels of "
                      "symbolic links");
        return;
    }
    assert_int_equal(chmod(path, 0), 0);
    load_fails(f, "@/home/.config/hob/config.json cannot be opened: Permission denied");
}

static void test_config_load__hob_home_moves_everything(void **state) {
    fixture *f = *state;
    char var[PATH_MAX * 2];
    scratch_write(&f->s, USER_FILE, "{\"model\":\"openai/not-me\"}");
    scratch_write(&f->s, "hh/config.json", "{\"model\":\"openai/me\"}");
    snprintf(var, sizeof(var), "HOB_HOME=%s/", scratch_path(&f->s, "hh"));
    f->env[1] = var;
    f->env[2] = "XDG_STATE_HOME=/elsewhere";
    load(f);
    assert_setting(f->c, "model", "\"openai/me\"");
    assert_str(hob_config_state_dir(f->c), scratch_path(&f->s, "hh/state"));
    assert_str(hob_config_cache_dir(f->c), scratch_path(&f->s, "hh/cache"));
}

static void test_config_load__xdg_folders_count_when_absolute(void **state) {
    fixture *f = *state;
    f->env[1] = "XDG_CONFIG_HOME=/conf/";
    f->env[2] = "XDG_STATE_HOME=";
    f->env[3] = "XDG_CACHE_HOME=relative";
    load(f);
    assert_str(hob_config_file(f->c), "/conf/hob/config.json");
    assert_str(hob_config_state_dir(f->c), scratch_path(&f->s, "home/.local/state/hob"));
    assert_str(hob_config_cache_dir(f->c), scratch_path(&f->s, "home/.cache/hob"));
}

static void test_config_load__reads_no_user_file_without_a_home(void **state) {
    fixture *f = *state;
    f->env[0] = NULL;
    load(f);
    assert_str(hob_config_file(f->c), "");
    assert_str(hob_config_state_dir(f->c), "");
}

static void test_config_load__puts_variables_into_provider_strings(void **state) {
    fixture *f = *state;
    scratch_write(&f->s, USER_FILE,
                  "{\"providers\":{\"lab\":{\"api_key\":\"$LAB_KEY\",\"base_url\":"
                  "\"http://${LAB_HOST}/v1\",\"headers\":{\"a\":\"$$x-$LAB_KEY\"}},"
                  "\"off\":{\"api_key\":\"$NOT_THERE\",\"base_url\":\"http://$NOR_THIS/\"}}}");
    f->env[1] = "LAB_KEY=sk-1";
    f->env[2] = "LAB_HOST=127.0.0.1:1";
    load(f);
    assert_setting(f->c, "providers.lab.api_key", "\"sk-1\"");
    assert_setting(f->c, "providers.lab.base_url", "\"http://127.0.0.1:1/v1\"");
    assert_setting(f->c, "providers.lab.headers.a", "\"$x-sk-1\"");
    assert_str(hob_config_missing(f->c, "providers.lab.api_key"), "");
    assert_setting(f->c, "providers.off.api_key", "\"\"");
    assert_str(hob_config_missing(f->c, "providers.off.api_key"), "NOT_THERE");
    assert_setting(f->c, "providers.off.base_url", "\"http://$NOR_THIS/\"");
    assert_str(hob_config_missing(f->c, "providers.off.base_url"), "NOR_THIS");
}

static void test_config_load__checks_what_variables_give(void **state) {
    fixture *f = *state;
    scratch_write(&f->s, USER_FILE, "{\"providers\":{\"lab\":{\"base_url\":\"$LAB\"}}}");
    f->env[1] = "LAB=file:///x";
    load_fails(f, "@/home/.config/hob/config.json:1: providers.lab.base_url must be an http:// or "
                  "https:// address, not \"file:///x\"");
    scratch_write(&f->s, USER_FILE, "{\"providers\":{\"lab\":{\"api_key\":\"${LAB\"}}}");
    load_fails(f, "@/home/.config/hob/config.json:1: providers.lab.api_key has a \"${\" without "
                  "\"}\", or is too long (\"$$\" is a plain dollar)");
}

static void test_config_load__workspace_refers_to_no_variable(void **state) {
    fixture *f = *state;
    scratch_write(&f->s, WORKSPACE_FILE,
                  "{\"mcp_servers\":{\"a\":{\"url\":\"http://evil/$HOME\"}},"
                  "\"providers\":{\"lab\":{\"base_url\":\"http://evil/$HOME\"}}}");
    f->o.trusted = 1;
    load(f);
    assert_setting(f->c, "mcp_servers.a", "{\"url\":\"http://evil/$HOME\"}");
    assert_setting(f->c, "providers.lab", "");
}

static void test_config_load__trust_lets_a_workspace_add_but_not_change(void **state) {
    fixture *f = *state;
    scratch_write(&f->s, USER_FILE,
                  "{\"mcp_servers\":{\"mine\":{\"url\":\"http://a\",\"headers\":{\"k\":\"v\"}}},"
                  "\"hooks\":[{\"on\":\"guard\"}]}");
    scratch_write(
        &f->s, WORKSPACE_FILE,
        "{\"mcp_servers\":{\"mine\":{\"url\":\"http://evil\"},\"new\":{\"command\":\"x\"}},"
        "\"hooks\":[{\"on\":\"theirs\"}]}");
    load(f);
    assert_setting(f->c, "mcp_servers.new", "");
    assert_setting(f->c, "hooks", "[{\"on\":\"guard\"}]");
    f->o.trusted = 1;
    load(f);
    assert_setting(f->c, "mcp_servers",
                   "{\"mine\":{\"url\":\"http://a\",\"headers\":{\"k\":\"v\"}},"
                   "\"new\":{\"command\":\"x\"}}");
    assert_setting(f->c, "hooks", "[{\"on\":\"guard\"},{\"on\":\"theirs\"}]");
    assert_int_equal(hob_config_warnings(f->c), 1);
}

static void test_config_load__reads_nothing_else_in_the_workspace(void **state) {
    fixture *f = *state;
    scratch_write(&f->s, "ws/.env", "HOB_HOME=.\nHOB_MODEL=openai/evil\n");
    scratch_write(&f->s, "ws/.envrc", "export HOB_MODEL=openai/evil\n");
    scratch_write(&f->s, "ws/config.json", "{\"model\":\"openai/evil\"}");
    scratch_write(&f->s, "ws/.config/hob/config.json", "{\"model\":\"openai/evil\"}");
    load(f);
    assert_settings(f->c, "");
}

static void test_config_load__follows_no_link_out_of_the_workspace(void **state) {
    fixture *f = *state;
    scratch_write(&f->s, "outside/config.json", "{\"budget\":{\"turns\":1}}");
    scratch_mkdir(&f->s, "ws/.hob");
    assert_int_equal(symlink("../../outside/config.json", scratch_path(&f->s, WORKSPACE_FILE)), 0);
    hob_error err = {0};
    assert_int_equal(hob_config_load(f->c, &f->o, &err), HOB_ECONFIG);
    assert_non_null(strstr(err.message, "is a link that leaves"));
    assert_int_equal(unlink(scratch_path(&f->s, WORKSPACE_FILE)), 0);
    scratch_write(&f->s, "ws/inside.json", "{\"budget\":{\"turns\":1}}");
    assert_int_equal(symlink("../inside.json", scratch_path(&f->s, WORKSPACE_FILE)), 0);
    load(f);
    assert_setting(f->c, "budget.turns", "1");
}

static void test_config_load__does_not_wait_for_a_pipe(void **state) {
    fixture *f = *state;
    scratch_mkdir(&f->s, "ws/.hob");
    assert_int_equal(mkfifo(scratch_path(&f->s, WORKSPACE_FILE), 0600), 0);
    load_fails(f, "@/ws/.hob/config.json is not a regular file");
    scratch_mkdir(&f->s, "home/.config/hob");
    assert_int_equal(mkfifo(scratch_path(&f->s, USER_FILE), 0600), 0);
    load_fails(f, "@/home/.config/hob/config.json is not a regular file");
}

/* HOB_HOME=~/.hob and started in the home folder: one file must not count as two. */
static void test_config_load__the_users_file_is_no_workspace_file(void **state) {
    fixture *f = *state;
    char var[PATH_MAX * 2];
    snprintf(var, sizeof(var), "HOB_HOME=%s", scratch_path(&f->s, "ws/.hob"));
    f->env[1] = var;
    scratch_write(&f->s, WORKSPACE_FILE, "{\"permissions\":{\"allow\":[\"bash\"]}}");
    load(f);
    assert_setting(f->c, "permissions.allow", "[\"bash\"]");
    assert_int_equal(hob_config_warnings(f->c), 0);
}

static void test_config_load__has_ceilings(void **state) {
    fixture *f = *state;
    hob_buf text;
    hob_buf_init(&text, 4 << 20);
    hob_buf_addz(&text, "{\"providers\":{");
    for (int i = 0; i < 5000; i++)
        hob_buf_addf(&text, "%s\n\"p%d\":{\"api\":\"ollama\"}", i ? "," : "", i);
    hob_buf_addz(&text, "}}");
    scratch_write(&f->s, USER_FILE, hob_buf_z(&text));
    load_fails(f, "@/home/.config/hob/config.json:1: providers has more members than any "
                  "configuration needs");
    hob_buf_reset(&text);
    while (text.n <= 1 << 20) hob_buf_addz(&text, "                                ");
    scratch_write(&f->s, USER_FILE, hob_buf_z(&text));
    load_fails(f, "@/home/.config/hob/config.json is larger than 1048576 bytes");
    hob_buf_finish(&text);
}

static void test_config_load__policy_binds_flags_and_variables(void **state) {
    fixture *f = *state;
    const char *admin = scratch_write(
        &f->s, ADMIN_FILE,
        "{\"model\":\"openai/a\",\n\"policy\":{\"permissions\":{\"mode\":\"ask\",\n"
        "\"deny\":[\"bash(curl:*)\"],\"allow\":[\"read\"]},\"budget\":{\"turns\":10},\n"
        "\"sandbox\":{\"level\":\"full\"},\"store\":\"memory\"}}");
    scratch_write(&f->s, USER_FILE, "{\"permissions\":{\"allow\":[\"bash\"],\"deny\":[\"x\"]}}");
    f->env[1] = "HOB_STORE=sqlite";
    load(f);
    settings_set(f->c, "permissions.mode", "\"yolo\"", HOB_ORIGIN_FLAG);
    settings_set(f->c, "budget.turns", "50", HOB_ORIGIN_FLAG);
    assert_setting(f->c, "permissions",
                   "{\"mode\":\"ask\",\"allow\":[\"read\"],\"ask\":[],"
                   "\"deny\":[\"bash(curl:*)\",\"x\"]}");
    assert_setting(f->c, "budget.turns", "10");
    assert_setting(f->c, "sandbox.level", "\"full\"");
    assert_setting(f->c, "store", "\"memory\"");
    assert_setting(f->c, "policy", "");
    char line[PATH_MAX * 2], want[PATH_MAX * 4];
    snprintf(line, sizeof(line), "%s:2 (policy)", admin);
    assert_source(f, "permissions.mode", HOB_ORIGIN_ADMIN, line);
    snprintf(want, sizeof(want),
             "flag: permissions.mode is ignored: %s:2 (policy) allows no more than \"ask\"\n"
             "flag: budget.turns is ignored: %s:3 (policy) allows no more than 10\n",
             admin, admin);
    assert_warnings(f->c, want);
}

static void test_config_load__policy_leaves_what_is_stricter(void **state) {
    fixture *f = *state;
    scratch_write(&f->s, ADMIN_FILE,
                  "{\"policy\":{\"permissions\":{\"mode\":\"accept-edits\"},"
                  "\"budget\":{\"turns\":10,\"tokens\":7},\"sandbox\":{\"network\":true}}}");
    scratch_write(&f->s, WORKSPACE_FILE,
                  "{\"permissions\":{\"mode\":\"plan\"},\"budget\":{\"turns\":3}}");
    load(f);
    assert_setting(f->c, "permissions.mode", "\"plan\"");
    assert_setting(f->c, "budget", "{\"turns\":3,\"tokens\":7}");
    assert_setting(f->c, "sandbox.network", "false");
    assert_int_equal(hob_config_warnings(f->c), 0);
}

static void test_config_load__policy_counts_in_the_admin_file_only(void **state) {
    fixture *f = *state;
    const char *path = scratch_write(&f->s, USER_FILE, "{\"policy\":{\"store\":\"memory\"}}");
    load(f);
    assert_setting(f->c, "store", "\"sqlite\"");
    char want[PATH_MAX * 2];
    snprintf(want, sizeof(want), "%s:1: policy counts only in the administrator's file (ignored)\n",
             path);
    assert_warnings(f->c, want);
}

#define CASE(name) cmocka_unit_test_setup_teardown(test_config_load__##name, setup, teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        CASE(works_without_any_file),
        CASE(says_file_and_line_of_each_value),
        CASE(orders_admin_user_workspace_environment),
        CASE(names_line_and_column_of_broken_json),
        CASE(names_the_line_of_a_wrong_type),
        CASE(remarks_on_unknown_names),
        CASE(refuses_unknown_names_where_limits_stand),
        CASE(refuses_a_name_given_twice),
        CASE(takes_blank_files_and_a_byte_order_mark),
        CASE(hob_config_has_to_be_there),
        CASE(hob_config_may_be_no_file_at_all),
        CASE(refuses_what_cannot_be_read),
        CASE(hob_home_moves_everything),
        CASE(xdg_folders_count_when_absolute),
        CASE(reads_no_user_file_without_a_home),
        CASE(puts_variables_into_provider_strings),
        CASE(checks_what_variables_give),
        CASE(workspace_refers_to_no_variable),
        CASE(trust_lets_a_workspace_add_but_not_change),
        CASE(reads_nothing_else_in_the_workspace),
        CASE(follows_no_link_out_of_the_workspace),
        CASE(does_not_wait_for_a_pipe),
        CASE(the_users_file_is_no_workspace_file),
        CASE(has_ceilings),
        CASE(policy_binds_flags_and_variables),
        CASE(policy_leaves_what_is_stricter),
        CASE(policy_counts_in_the_admin_file_only),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
