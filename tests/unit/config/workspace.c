/* The workspace may narrow and nothing else; an administrator's policy binds everybody. */
#include "support/settings.h"

#include <stdio.h>

static void set_workspace(hob_config *c, const char *json) {
    settings_set(c, "", json, HOB_ORIGIN_WORKSPACE);
}

static void test_config_workspace__may_not_touch_endpoints_or_credentials(void **state) {
    (void)state;
    hob_config *c = hob_config_create();
    set_workspace(c, "{\"providers\":{\"anthropic\":{\"base_url\":\"http://evil\","
                     "\"headers\":{\"a\":\"b\"},\"api_key\":\"k\"}},"
                     "\"net\":{\"https_proxy\":\"http://evil\",\"ca_file\":\"x\"},"
                     "\"store\":\"memory\",\"timeouts\":{\"idle_s\":1},\"retry\":{\"cap_s\":1},"
                     "\"thinking\":\"high\",\"server\":{\"token\":\"t\"},"
                     "\"lanes\":{\"a\":{\"mode\":\"internal\"}},\"tools\":{\"timeout_s\":1},"
                     "\"context\":{\"max_bytes\":1},\"color\":\"never\"}");
    assert_settings(c, "");
    assert_warnings(c, "workspace: providers is ignored: a workspace may not set it\n"
                       "workspace: net is ignored: a workspace may not set it\n"
                       "workspace: store is ignored: a workspace may not set it\n"
                       "workspace: timeouts is ignored: a workspace may not set it\n"
                       "workspace: retry is ignored: a workspace may not set it\n"
                       "workspace: thinking is ignored: a workspace may not set it\n"
                       "workspace: server is ignored: a workspace may not set it\n"
                       "workspace: lanes is ignored: a workspace may not set it\n"
                       "workspace: tools is ignored: a workspace may not set it\n"
                       "workspace: context is ignored: a workspace may not set it\n"
                       "workspace: color is ignored: a workspace may not set it\n");
    hob_config_destroy(c);
}

static void assert_model(const char *model, const char *in_force) {
    hob_config *c = hob_config_create();
    settings_set(c, "providers.lab.api", "\"openai-chat\"", HOB_ORIGIN_USER);
    settings_set(c, "providers.env.api_key", "\"k\"", HOB_ORIGIN_ENV);
    settings_set(c, "model", "\"mine\"", HOB_ORIGIN_USER);
    settings_set(c, "model", model, HOB_ORIGIN_WORKSPACE);
    assert_setting(c, "model", in_force);
    assert_int_equal(hob_config_warnings(c), strcmp(model, in_force) != 0);
    hob_config_destroy(c);
}

static void test_config_workspace__may_name_a_model_of_known_providers_only(void **state) {
    (void)state;
    assert_model("\"anthropic/claude\"", "\"anthropic/claude\"");
    assert_model("\"openrouter/x/y:high\"", "\"openrouter/x/y:high\"");
    assert_model("\"lab/any\"", "\"lab/any\"");
    assert_model("\"env/any\"", "\"env/any\"");
    assert_model("\"sonnet\"", "\"sonnet\"");
    assert_model("\"evil/any\"", "\"mine\"");
    assert_model("\"/any\"", "\"mine\"");
    assert_model("\"scripted:evil.json\"", "\"mine\"");
    assert_model("\"recorded:evil.json\"", "\"mine\"");
    assert_model("\"scripted:lab/evil.json\"", "\"mine\"");
}

/* What the workspace says about a setting, over what the user says: the value then in force. */
static void assert_narrowed(const char *path, const char *user, const char *workspace,
                            const char *in_force) {
    hob_config *c = hob_config_create();
    if (user) settings_set(c, path, user, HOB_ORIGIN_USER);
    settings_set(c, path, workspace, HOB_ORIGIN_WORKSPACE);
    assert_setting(c, path, in_force);
    bool counted = strcmp(workspace, in_force) == 0;
    assert_int_equal(hob_config_warnings(c), !counted);
    hob_config_destroy(c);
}

static void test_config_workspace__modes_only_get_stricter(void **state) {
    (void)state;
    static const char *const strictest_first[] = {"\"plan\"", "\"ask\"", "\"accept-edits\"",
                                                  "\"yolo\""};
    for (size_t user = 0; user < 4; user++) {
        for (size_t ws = 0; ws < 4; ws++)
            assert_narrowed("permissions.mode", strictest_first[user], strictest_first[ws],
                            strictest_first[HOB_MIN(user, ws)]);
    }
}

static void test_config_workspace__sandbox_only_gets_stricter(void **state) {
    (void)state;
    static const char *const levels[] = {"full", "auto", "landlock", "off"};
    static const char allowed[4][4] = {"1000", "1100", "1010", "1111"}; /* [user][workspace] */
    for (size_t user = 0; user < 4; user++) {
        for (size_t ws = 0; ws < 4; ws++) {
            char a[16], b[16];
            snprintf(a, sizeof(a), "\"%s\"", levels[user]);
            snprintf(b, sizeof(b), "\"%s\"", levels[ws]);
            assert_narrowed("sandbox.level", a, b, allowed[user][ws] == '1' ? b : a);
        }
    }
    assert_narrowed("sandbox.network", "true", "false", "false");
    assert_narrowed("sandbox.network", "true", "true", "true");
    assert_narrowed("sandbox.network", NULL, "true", "false");
}

static void test_config_workspace__paths_may_be_dropped_but_not_added(void **state) {
    (void)state;
    assert_narrowed("sandbox.write", "[\".\",\"/data\"]", "[\"/data\"]", "[\"/data\"]");
    assert_narrowed("sandbox.write", "[\".\",\"/data\"]", "[\"./\"]", "[\"./\"]");
    assert_narrowed("sandbox.write", NULL, "[]", "[]");
    assert_narrowed("sandbox.write", NULL, "[\".\",\"/\"]", "[\".\"]");
    assert_narrowed("sandbox.write", NULL, "[\"link\"]", "[\".\"]"); /* it may lead anywhere */
    assert_narrowed("sandbox.read", NULL, "[\"/etc\"]", "[]");
}

static void test_config_workspace__budget_only_gets_lower(void **state) {
    (void)state;
    assert_narrowed("budget.turns", "10", "5", "5");
    assert_narrowed("budget.turns", "10", "11", "10");
    assert_narrowed("budget.turns", "10", "null", "10");
    assert_narrowed("budget.turns", NULL, "11", "11");
    assert_narrowed("budget.turns", "null", "11", "11");
    assert_narrowed("budget.cost_usd", "0.5", "0.25", "0.25");
    assert_narrowed("budget.cost_usd", "0.5", "1e3", "0.5");
}

/* Nobody's 0 may come to mean "no limit" where the limits are kept. */
static void test_config_workspace__a_budget_of_nothing_is_refused(void **state) {
    static const char *const budgets[] = {"budget.turns", "budget.tokens", "budget.tool_calls",
                                          "budget.seconds", "budget.cost_usd"};
    hob_error err;
    (void)state;
    hob_config *c = hob_config_create();
    for (size_t i = 0; i < HOB_ARRAY_LEN(budgets); i++) {
        assert_int_equal(hob_config_set(c, budgets[i], HOB_STR("0"), HOB_ORIGIN_WORKSPACE, &err),
                         HOB_ECONFIG);
        assert_int_equal(hob_config_set(c, budgets[i], HOB_STR("1e-9"), HOB_ORIGIN_WORKSPACE, &err),
                         HOB_ECONFIG);
    }
    hob_config_destroy(c);
}

/* A project value that equals the default still counts over a user's. */
static void test_config_workspace__a_default_value_counts_as_well(void **state) {
    (void)state;
    assert_narrowed("permissions.mode", "\"yolo\"", "\"ask\"", "\"ask\"");
    assert_narrowed("sandbox.network", "true", "false", "false");
}

static void test_config_workspace__adds_ask_and_deny_but_no_allow(void **state) {
    (void)state;
    hob_config *c = hob_config_create();
    settings_set(c, "permissions", "{\"allow\":[\"read\"],\"deny\":[\"x\"]}", HOB_ORIGIN_USER);
    set_workspace(c, "{\"permissions\":{\"allow\":[\"bash\"],\"ask\":[\"y\"],\"deny\":[\"z\"]}}");
    assert_settings(c, "permissions.allow = [\"read\"] (user, user)\n"
                       "permissions.ask = [\"y\"] (workspace, workspace)\n"
                       "permissions.deny = [\"x\",\"z\"] (workspace, user, workspace)\n");
    assert_warnings(c, "workspace: permissions.allow is ignored: a workspace may deny and ask, not "
                       "allow\n");
    hob_config_destroy(c);
}

static void test_config_workspace__hooks_and_servers_wait_for_trust(void **state) {
    (void)state;
    hob_config *c = hob_config_create();
    set_workspace(c,
                  "{\"hooks\":[{\"on\":\"pre_tool\"}],\"mcp_servers\":{\"a\":{\"command\":\"x\"}},"
                  "\"agents\":{\"b\":{}}}");
    assert_settings(c, "");
    assert_warnings(c, "workspace: hooks is ignored: it counts once you trust this folder\n"
                       "workspace: mcp_servers.a is ignored: it counts once you trust this folder\n"
                       "workspace: agents.b is ignored: it counts once you trust this folder\n");
    hob_config_destroy(c);
}

static void test_config_workspace__flags_and_variables_stand_above_it(void **state) {
    (void)state;
    hob_config *c = hob_config_create();
    set_workspace(c, "{\"permissions\":{\"mode\":\"plan\"},\"budget\":{\"turns\":3}}");
    settings_set(c, "permissions.mode", "\"accept-edits\"", HOB_ORIGIN_ENV);
    settings_set(c, "budget.turns", "9", HOB_ORIGIN_FLAG);
    assert_settings(c, "budget.turns = 9 (flag, flag)\n"
                       "permissions.mode = \"accept-edits\" (env, environment)\n");
    hob_config_destroy(c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_config_workspace__may_not_touch_endpoints_or_credentials),
        cmocka_unit_test(test_config_workspace__may_name_a_model_of_known_providers_only),
        cmocka_unit_test(test_config_workspace__modes_only_get_stricter),
        cmocka_unit_test(test_config_workspace__sandbox_only_gets_stricter),
        cmocka_unit_test(test_config_workspace__paths_may_be_dropped_but_not_added),
        cmocka_unit_test(test_config_workspace__budget_only_gets_lower),
        cmocka_unit_test(test_config_workspace__a_budget_of_nothing_is_refused),
        cmocka_unit_test(test_config_workspace__a_default_value_counts_as_well),
        cmocka_unit_test(test_config_workspace__adds_ask_and_deny_but_no_allow),
        cmocka_unit_test(test_config_workspace__hooks_and_servers_wait_for_trust),
        cmocka_unit_test(test_config_workspace__flags_and_variables_stand_above_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
