/* Variables: which ones set what, and that a wrong one is never passed over. */
#include "support/settings.h"

static hob_config *load_env(const char *const *envp) {
    hob_config *c = hob_config_create();
    hob_config_load_opts o = HOB_CONFIG_LOAD_OPTS_INIT;
    hob_error err = {0};
    o.envp = envp;
    o.admin_file = "/dev/null";
    assert_ok(hob_config_load(c, &o, &err), err);
    return c;
}

static void env_fails(const char *variable, const char *message) {
    const char *envp[] = {variable, NULL};
    hob_config *c = hob_config_create();
    settings_set(c, "thinking", "\"low\"", HOB_ORIGIN_USER);
    hob_config_load_opts o = HOB_CONFIG_LOAD_OPTS_INIT;
    hob_error err = {0};
    o.envp = envp;
    o.admin_file = "/dev/null";
    assert_int_equal(hob_config_load(c, &o, &err), HOB_ECONFIG);
    assert_string_equal(err.message, message);
    assert_setting(c, "thinking", "\"low\""); /* and nothing configured was reset */
    hob_config_destroy(c);
}

static void test_config_env__sets_what_the_table_says(void **state) {
    (void)state;
    const char *envp[] = {"HOB_MODEL=openai/x",
                          "HOB_THINKING=high",
                          "HOB_STORE=sqlite:/tmp/x.db",
                          "HOB_PERMISSION_MODE=plan",
                          "HOB_SERVER_TOKEN=t",
                          "ANTHROPIC_API_KEY=a",
                          "ANTHROPIC_BASE_URL=http://a",
                          "OPENAI_API_KEY=o",
                          "OPENAI_BASE_URL=http://o",
                          "OPENROUTER_API_KEY=r",
                          "OPENROUTER_BASE_URL=http://r",
                          "GEMINI_API_KEY=g",
                          "GEMINI_BASE_URL=http://g",
                          "OLLAMA_HOST=box",
                          "HTTPS_PROXY=http://p:1",
                          "http_proxy=p:2",
                          "HTTP_PROXY=p:3",
                          "ALL_PROXY=socks5://p:4",
                          "NO_PROXY=localhost,.lan",
                          "SSL_CERT_FILE=/ca.pem",
                          "NO_COLOR=1",
                          NULL};
    hob_config *c = load_env(envp);
    assert_settings(c, "color = \"never\" (env, NO_COLOR)\n"
                       "model = \"openai/x\" (env, HOB_MODEL)\n"
                       "net.all_proxy = \"socks5://p:4\" (env, ALL_PROXY)\n"
                       "net.ca_file = \"/ca.pem\" (env, SSL_CERT_FILE)\n"
                       "net.http_proxy = \"p:2\" (env, http_proxy)\n"
                       "net.https_proxy = \"http://p:1\" (env, HTTPS_PROXY)\n"
                       "net.no_proxy = \"localhost,.lan\" (env, NO_PROXY)\n"
                       "permissions.mode = \"plan\" (env, HOB_PERMISSION_MODE)\n"
                       "providers.anthropic.api_key = \"***\" (env, ANTHROPIC_API_KEY)\n"
                       "providers.anthropic.base_url = \"http://a\" (env, ANTHROPIC_BASE_URL)\n"
                       "providers.gemini.api_key = \"***\" (env, GEMINI_API_KEY)\n"
                       "providers.gemini.base_url = \"http://g\" (env, GEMINI_BASE_URL)\n"
                       "providers.ollama.base_url = \"http://box:11434\" (env, OLLAMA_HOST)\n"
                       "providers.openai.api_key = \"***\" (env, OPENAI_API_KEY)\n"
                       "providers.openai.base_url = \"http://o\" (env, OPENAI_BASE_URL)\n"
                       "providers.openrouter.api_key = \"***\" (env, OPENROUTER_API_KEY)\n"
                       "providers.openrouter.base_url = \"http://r\" (env, OPENROUTER_BASE_URL)\n"
                       "server.token = \"***\" (env, HOB_SERVER_TOKEN)\n"
                       "store = \"sqlite:/tmp/x.db\" (env, HOB_STORE)\n"
                       "thinking = \"high\" (env, HOB_THINKING)\n");
    hob_config_destroy(c);
}

static void test_config_env__an_empty_variable_is_none(void **state) {
    (void)state;
    const char *envp[] = {
        "HOB_MODEL=", "HOB_THINKING=", "OPENAI_API_KEY=", "NO_COLOR=", "HOB_HOME=", "HOB_CONFIG=",
        NULL};
    hob_config *c = load_env(envp);
    assert_settings(c, "");
    hob_config_destroy(c);
}

static void test_config_env__a_wrong_value_is_an_error_that_names_it(void **state) {
    (void)state;
    env_fails("HOB_THINKING=hgih", "HOB_THINKING: thinking must be one of off, minimal, low, "
                                   "medium, high, xhigh, not \"hgih\"; did you mean high?");
    env_fails("HOB_PERMISSION_MODE=none",
              "HOB_PERMISSION_MODE: permissions.mode must be one of ask, accept-edits, plan, yolo, "
              "not \"none\"");
    env_fails("HOB_STORE=mysql://x",
              "HOB_STORE: store must be sqlite, sqlite:FILE, postgres://… or memory, not "
              "\"mysql://x\"");
    env_fails("OPENAI_BASE_URL=localhost:1",
              "OPENAI_BASE_URL: providers.openai.base_url must be an http:// or https:// address, "
              "not \"localhost:1\"");
    env_fails("OPENAI_API_KEY=a\r\nb: c",
              "OPENAI_API_KEY: providers.openai.api_key must be a string that is not empty and has "
              "no control characters");
    env_fails("HOB_MODEL=\xff", "HOB_MODEL is not valid UTF-8");
}

static void test_config_env__keys_are_trimmed(void **state) {
    (void)state;
    const char *envp[] = {"ANTHROPIC_API_KEY= sk-1\n", NULL};
    hob_config *c = load_env(envp);
    assert_setting(c, "providers.anthropic.api_key", "\"sk-1\"");
    hob_config_destroy(c);
}

static void assert_ollama(const char *variable, const char *url) {
    const char *envp[] = {variable, NULL};
    hob_config *c = load_env(envp);
    assert_str(hob_config_str(c, "providers.ollama.base_url"), url);
    hob_config_destroy(c);
}

static void test_config_env__reads_ollama_host_as_ollama_does(void **state) {
    (void)state;
    assert_ollama("OLLAMA_HOST=10.0.0.1", "http://10.0.0.1:11434");
    assert_ollama("OLLAMA_HOST=10.0.0.1:99", "http://10.0.0.1:99");
    assert_ollama("OLLAMA_HOST=:99", "http://127.0.0.1:99");
    assert_ollama("OLLAMA_HOST=https://box/x", "https://box/x");
    assert_ollama("OLLAMA_HOST=[::1]", "http://[::1]:11434");
    assert_ollama("OLLAMA_HOST=[::1]:9", "http://[::1]:9");
    assert_ollama("OTHER=x", "http://127.0.0.1:11434");
}

static void test_config_env__knows_the_variable_of_a_key(void **state) {
    (void)state;
    assert_string_equal(hob_config_key_variable(HOB_STR("openai")), "OPENAI_API_KEY");
    assert_string_equal(hob_config_key_variable(HOB_STR("openrouter")), "OPENROUTER_API_KEY");
    assert_null(hob_config_key_variable(HOB_STR("ollama")));
    assert_null(hob_config_key_variable(HOB_STR("lab")));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_config_env__sets_what_the_table_says),
        cmocka_unit_test(test_config_env__an_empty_variable_is_none),
        cmocka_unit_test(test_config_env__a_wrong_value_is_an_error_that_names_it),
        cmocka_unit_test(test_config_env__keys_are_trimmed),
        cmocka_unit_test(test_config_env__reads_ollama_host_as_ollama_does),
        cmocka_unit_test(test_config_env__knows_the_variable_of_a_key),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
