/* Layers: who wins, what is joined, what is refused, what is shown. */
#include "support/settings.h"

static void test_config_layers__has_the_documented_defaults(void **state) {
    (void)state;
    hob_config *c = hob_config_create();
    assert_setting(c, "retry", "{\"attempts\":5,\"cap_s\":60}");
    assert_setting(c, "timeouts", "{\"connect_s\":15,\"idle_s\":90}");
    assert_setting(c, "permissions", "{\"mode\":\"ask\",\"allow\":[],\"ask\":[],\"deny\":[]}");
    assert_setting(c, "sandbox",
                   "{\"level\":\"auto\",\"network\":false,\"write\":[\".\"],\"read\":[]}");
    assert_setting(c, "store", "\"sqlite\"");
    assert_setting(c, "context.max_bytes", "32768");
    assert_setting(c, "model", "");
    hob_str source;
    assert_int_equal(hob_config_origin(c, "retry.cap_s", &source), HOB_ORIGIN_BUILTIN);
    assert_str(source, "built-in");
    assert_int_equal(hob_config_warnings(c), 0);
    assert_str(hob_config_state_dir(c), "");
    hob_config_destroy(c);
}

/* Every order of setting the layers gives the same winner. */
static void test_config_layers__higher_origin_wins_in_any_order(void **state) {
    (void)state;
    static const struct {
        hob_origin origin;
        const char *json;
    } said[] = {{HOB_ORIGIN_ADMIN, "1"},
                {HOB_ORIGIN_USER, "2"},
                {HOB_ORIGIN_ENV, "3"},
                {HOB_ORIGIN_FLAG, "4"}};
    for (unsigned order = 0; order < 24; order++) {
        hob_config *c = hob_config_create();
        unsigned left = 0xf, o = order, highest = 0;
        for (unsigned n = 4; n > 0; n--) {
            unsigned skip = o % n, k = 0;
            o /= n;
            while (!(left & (1u << k)) || skip-- > 0) k++;
            left &= ~(1u << k);
            highest = HOB_MAX(highest, k);
            settings_set(c, "retry.cap_s", said[k].json, said[k].origin);
            assert_setting(c, "retry.cap_s", said[highest].json);
        }
        hob_config_destroy(c);
    }
}

static void test_config_layers__merges_objects_and_replaces_the_rest(void **state) {
    (void)state;
    hob_config *c = hob_config_create();
    settings_set(
        c, "",
        "{\"providers\":{\"lab\":{\"api\":\"openai-chat\",\"models\":{\"a\":{\"context\":1},"
        "\"b\":{\"cost\":null}}}},\"sandbox\":{\"read\":[\"/a\",\"/b\"]}}",
        HOB_ORIGIN_USER);
    settings_set(c, "",
                 "{\"providers\":{\"lab\":{\"models\":{\"a\":{\"output\":2},"
                 "\"b\":{\"cost\":{\"input\":1}}}}},\"sandbox\":{\"read\":[\"/c\"]}}",
                 HOB_ORIGIN_FLAG);
    assert_settings(c, "providers.lab.api = \"openai-chat\" (user, user)\n"
                       "providers.lab.models.a.context = 1 (user, user)\n"
                       "providers.lab.models.a.output = 2 (flag, flag)\n"
                       "providers.lab.models.b.cost.input = 1 (flag, flag)\n"
                       "sandbox.read = [\"/c\"] (flag, flag)\n");
    hob_config_destroy(c);
}

static void test_config_layers__joins_rules_of_all_layers(void **state) {
    (void)state;
    hob_config *c = hob_config_create();
    settings_set(c, "permissions.deny", "[\"a\"]", HOB_ORIGIN_ADMIN);
    settings_set(c, "permissions.deny", "[]", HOB_ORIGIN_USER);
    settings_set(c, "permissions.deny", "[\"b\",\"c\"]", HOB_ORIGIN_WORKSPACE);
    settings_set(c, "permissions.deny", "[\"d\"]", HOB_ORIGIN_FLAG);
    settings_set(c, "permissions.allow", "[\"x\"]", HOB_ORIGIN_USER);
    settings_set(c, "permissions.allow", "[\"y\"]", HOB_ORIGIN_FLAG);
    assert_settings(c, "permissions.allow = [\"x\",\"y\"] (flag, user, flag)\n"
                       "permissions.deny = [\"a\",\"b\",\"c\",\"d\"] "
                       "(flag, administrator, workspace, flag)\n");
    hob_config_destroy(c);
}

static void test_config_layers__setting_again_replaces_within_its_layer(void **state) {
    (void)state;
    hob_config *c = hob_config_create();
    settings_set(c, "permissions.deny", "[\"a\"]", HOB_ORIGIN_FLAG);
    settings_set(c, "permissions.deny", "[\"b\"]", HOB_ORIGIN_FLAG);
    assert_setting(c, "permissions.deny", "[\"b\"]");
    hob_config_destroy(c);
}

static void test_config_layers__quotes_keys_with_dots(void **state) {
    (void)state;
    hob_config *c = hob_config_create();
    settings_set(c, "providers.lab.models.\"gpt-4.1\".context", "5", HOB_ORIGIN_FLAG);
    settings_set(c, "providers.lab.models.\"a\\\" b\".context", "6", HOB_ORIGIN_FLAG);
    assert_int_equal(hob_config_int(c, "providers.lab.models.\"gpt-4.1\".context", 0), 5);
    assert_settings(c, "providers.lab.models.\"a\\\" b\".context = 6 (flag, flag)\n"
                       "providers.lab.models.\"gpt-4.1\".context = 5 (flag, flag)\n");
    settings_refused(c, "providers.lab.models.\"gpt", "1",
                     "\"providers.lab.models.\"gpt\" is not the name of a setting");
    settings_refused(c, "providers.lab.headers", "{\"a\\r\\nb\":\"c\"}",
                     "flag: providers.lab.headers.\"a\\r\\nb\" has a name that is empty or with "
                     "control characters");
    settings_refused(c, "a..b", "1", "\"a..b\" is not the name of a setting");
    hob_config_destroy(c);
}

static void test_config_layers__refuses_wrong_values_with_what_was_expected(void **state) {
    (void)state;
    hob_config *c = hob_config_create();
    settings_refused(c, "permissions.mode", "\"yollo\"",
                     "flag: permissions.mode must be one of ask, accept-edits, plan, yolo, not "
                     "\"yollo\"; did you mean yolo?");
    settings_refused(c, "thinking", "5",
                     "flag: thinking must be one of off, minimal, low, medium, high, xhigh, not 5");
    settings_refused(c, "retry.attempts", "1.5",
                     "flag: retry.attempts must be a whole number, at least 0 and at most 100, "
                     "not 1.5");
    settings_refused(c, "budget.tokens", "0",
                     "flag: budget.tokens must be a whole number, at least 1 or null, not 0");
    settings_refused(c, "sandbox.network", "\"no\"",
                     "flag: sandbox.network must be true or false, not \"no\"");
    settings_refused(c, "permissions.deny", "\"bash\"",
                     "flag: permissions.deny must be an array of strings, not \"bash\"");
    settings_refused(c, "providers.lab.base_url", "\"ftp://x\"",
                     "flag: providers.lab.base_url must be an http:// or https:// address, not "
                     "\"ftp://x\"");
    settings_refused(c, "providers.lab.base_url", "\"https://x/v1?key=secret\"",
                     "flag: providers.lab.base_url must be an address without a query");
    settings_refused(c, "store", "\"mysql\"",
                     "flag: store must be sqlite, sqlite:FILE, postgres://… or memory, not "
                     "\"mysql\"");
    settings_refused(c, "permissions", "[]", "flag: permissions must be an object");
    settings_refused(c, "model", "tru",
                     "the value of model is not JSON: line 1, column 4: the text ends before "
                     "the value does");
    settings_refused(c, "modle", "1", "flag: modle is not a setting; did you mean model?");
    settings_refused(c, "permissions.denny", "[]",
                     "flag: permissions.denny is not a setting; did you mean deny?");
    assert_settings(c, "");
    hob_config_destroy(c);
}

static void test_config_layers__never_prints_a_secret_in_an_error(void **state) {
    (void)state;
    hob_config *c = hob_config_create();
    settings_refused(c, "providers.lab.api_key", "\"sk-secret\\n\"",
                     "flag: providers.lab.api_key must be a string that is not empty and has no "
                     "control characters");
    settings_refused(c, "providers.lab.base_url", "\"ftp://me:secret@x\"",
                     "flag: providers.lab.base_url must be an http:// or https:// address");
    hob_config_destroy(c);
}

static void test_config_layers__shows_credentials_as_stars(void **state) {
    (void)state;
    hob_config *c = hob_config_create();
    settings_set(c, "",
                 "{\"providers\":{\"lab\":{\"api_key\":\"sk-1\",\"headers\":{\"x-key\":\"v\"},"
                 "\"base_url\":\"https://me:secret@host/v1\"}},"
                 "\"server\":{\"token\":\"t\"},\"store\":\"postgres://u:p@db/x\","
                 "\"net\":{\"https_proxy\":\"http://u:p@proxy:1\"},"
                 "\"mcp_servers\":{\"m\":{\"command\":\"x\",\"env\":{\"A\":\"1\",\"N\":[1]},"
                 "\"headers\":{\"Authorization\":\"b\"},\"authToken\":\"q\"}}}",
                 HOB_ORIGIN_USER);
    assert_settings(c,
                    "mcp_servers.m = {\"command\":\"x\",\"env\":{\"A\":\"***\",\"N\":[1]},"
                    "\"headers\":{\"Authorization\":\"***\"},\"authToken\":\"***\"} (user, user)\n"
                    "net.https_proxy = \"http://***@proxy:1\" (user, user)\n"
                    "providers.lab.api_key = \"***\" (user, user)\n"
                    "providers.lab.base_url = \"https://***@host/v1\" (user, user)\n"
                    "providers.lab.headers.x-key = \"***\" (user, user)\n"
                    "server.token = \"***\" (user, user)\n"
                    "store = \"postgres://***@db/x\" (user, user)\n");
    assert_setting(c, "providers.lab.api_key", "\"sk-1\"");
    hob_config_destroy(c);
}

static void test_config_layers__looks_up_by_type(void **state) {
    (void)state;
    hob_config *c = hob_config_create();
    settings_set(c, "model", "\"a\\u002fb\"", HOB_ORIGIN_FLAG);
    settings_set(c, "budget", "{\"cost_usd\":0.5,\"turns\":7,\"tokens\":null}", HOB_ORIGIN_FLAG);
    assert_str(hob_config_str(c, "model"), "a/b");
    assert_int_equal(hob_config_int(c, "budget.turns", 1), 7);
    assert_int_equal(hob_config_int(c, "budget.tokens", 1), 1);
    assert_true(hob_config_double(c, "budget.cost_usd", 0) == 0.5);
    assert_false(hob_config_bool(c, "sandbox.network", true));
    assert_true(hob_config_bool(c, "sandbox.nothing", true));
    assert_null(hob_config_json(c, "budget.none"));
    assert_setting(c, "budget.tokens", "null");
    assert_int_equal(hob_config_origin(c, "budget", NULL), HOB_ORIGIN_FLAG);
    hob_config_destroy(c);
}

static void test_config_layers__a_copy_is_independent(void **state) {
    (void)state;
    hob_config *c = hob_config_create();
    settings_set(c, "model", "\"a\"", HOB_ORIGIN_USER);
    hob_config *copy = hob_config_dup(c);
    settings_set(copy, "model", "\"b\"", HOB_ORIGIN_FLAG);
    assert_setting(c, "model", "\"a\"");
    assert_settings(copy, "model = \"b\" (flag, flag)\n");
    hob_config_destroy(c);
    assert_setting(copy, "model", "\"b\"");
    hob_config_destroy(copy);
}

static void test_config_layers__refuses_calls_that_make_no_sense(void **state) {
    (void)state;
    hob_config *c = hob_config_create();
    hob_str v = HOB_STR("\"x\"");
    assert_int_equal(hob_config_set(c, NULL, v, HOB_ORIGIN_FLAG, NULL), HOB_EINVAL);
    assert_int_equal(hob_config_set(c, "model", v, (hob_origin)17, NULL), HOB_EINVAL);
    assert_int_equal(hob_config_set(NULL, "model", v, HOB_ORIGIN_FLAG, NULL), HOB_EINVAL);
    hob_config_load_opts o = {0};
    assert_int_equal(hob_config_load(c, &o, NULL), HOB_EINVAL);
    hob_config_destroy(c);
    hob_config_destroy(NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_config_layers__has_the_documented_defaults),
        cmocka_unit_test(test_config_layers__higher_origin_wins_in_any_order),
        cmocka_unit_test(test_config_layers__merges_objects_and_replaces_the_rest),
        cmocka_unit_test(test_config_layers__joins_rules_of_all_layers),
        cmocka_unit_test(test_config_layers__setting_again_replaces_within_its_layer),
        cmocka_unit_test(test_config_layers__quotes_keys_with_dots),
        cmocka_unit_test(test_config_layers__refuses_wrong_values_with_what_was_expected),
        cmocka_unit_test(test_config_layers__never_prints_a_secret_in_an_error),
        cmocka_unit_test(test_config_layers__shows_credentials_as_stars),
        cmocka_unit_test(test_config_layers__looks_up_by_type),
        cmocka_unit_test(test_config_layers__a_copy_is_independent),
        cmocka_unit_test(test_config_layers__refuses_calls_that_make_no_sense),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
