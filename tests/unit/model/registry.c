/* Which model a hint names, whose key it needs, what it costs. */
#include "model/registry.h"
#include "support/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static const char two_labs[] =
    "{\"providers\": {"
    " \"lab\": {\"api\": \"openai-chat\", \"base_url\": \"http://127.0.0.1:1/v1\","
    "  \"models\": {\"any-name\": {\"context\": 5000, \"output\": 700, \"images\": false, \"cost\": null},"
    "   \"x/y\": {}, \"shared-1\": {}, \"tagged:8b\": {},"
    "   \"paid\": {\"cost\": {\"input\": 2, \"output\": 4}}}},"
    " \"lab/two\": {\"api\": \"anthropic\", \"base_url\": \"http://127.0.0.1:2\","
    "  \"api_key\": \"k\", \"models\": {\"x/y\": {}, \"shared-2\": {}}}}}";

/* From a file and an environment, as a user has it. */
static hob_models *models(const char *json, const char *const *env) {
    char path[] = "/tmp/hob-config-XXXXXX", variable[64];
    const char *envp[8] = {variable};
    hob_config_load_opts o = HOB_CONFIG_LOAD_OPTS_INIT;
    hob_config *c = hob_config_create();
    hob_models *m = NULL;
    hob_error err;
    int fd = mkstemp(path);
    size_t n = json ? strlen(json) : 2;
    assert_true(fd >= 0 && write(fd, json ? json : "{}", n) == (ssize_t)n);
    close(fd);
    (void)snprintf(variable, sizeof variable, "HOB_CONFIG=%s", path);
    for (size_t i = 0; env[i]; i++) envp[i + 1] = env[i];
    o.envp = envp;
    o.admin_file = "/nonexistent/config.json";
    assert_ok(hob_config_load(c, &o, &err), err);
    unlink(path);
    assert_ok(hob_models_create(c, &m, &err), err);
    hob_config_destroy(c);
    return m;
}

#define HOME "HOB_HOME=/nonexistent/hob"
static const char *const no_env[] = {HOME, NULL};
static const char *const both_env[] = {HOME, "ANTHROPIC_API_KEY=sk-ant", "OPENAI_API_KEY=sk-oai",
                                       NULL};

/* provider/id:level, or the name of the error */
static void assert_resolves(hob_models *m, const char *hint, const char *expected) {
    hob_model_info info;
    hob_error err;
    char got[256];
    int rc = hob_models_resolve(m, hob_str_z(hint), &info, &err);
    if (rc < 0)
        (void)snprintf(got, sizeof got, "%s", hob_error_name(rc));
    else
        (void)snprintf(got, sizeof got, "%.*s/%.*s%s%s", HOB_FMT(info.provider), HOB_FMT(info.id),
                       info.thinking ? ":" : "",
                       info.thinking ? hob_thinking_name(info.thinking) : "");
    if (strcmp(got, expected) != 0) fail_msg("'%s' is %s, not %s", hint, got, expected);
}

static void assert_says(hob_models *m, const char *hint, int code, const char *words) {
    hob_model_info info;
    hob_error err;
    assert_int_equal(hob_models_resolve(m, hob_str_z(hint), &info, &err), code);
    if (!strstr(err.message, words)) fail_msg("'%s' is not in: %s", words, err.message);
}

static void test_model_registry__exact_names(void **state) {
    (void)state;
    hob_models *m = models(two_labs, no_env);
    assert_resolves(m, "anthropic/claude-sonnet-4-5", "anthropic/claude-sonnet-4-5");
    assert_resolves(m, "  anthropic/Claude-Sonnet-4-5 ", "anthropic/claude-sonnet-4-5");
    assert_resolves(m, "claude-opus-4-1", "anthropic/claude-opus-4-1");
    assert_resolves(m, "GPT-5", "openai/gpt-5");
    assert_resolves(m, "lab/any-name", "lab/any-name");
    assert_resolves(m, "lab/two/x/y", "lab/two/x/y");
    assert_resolves(m, "lab/x/y", "lab/x/y");
    hob_models_destroy(m);
}

static void test_model_registry__levels(void **state) {
    (void)state;
    hob_models *m = models(two_labs, no_env);
    assert_resolves(m, "anthropic/claude-sonnet-4-5:medium", "anthropic/claude-sonnet-4-5:medium");
    assert_resolves(m, "sonnet:off", "anthropic/claude-sonnet-4-6:off");
    assert_resolves(m, "lab/new-one:xhigh", "lab/new-one:xhigh");
    assert_resolves(m, "tagged:8b", "lab/tagged:8b");
    assert_resolves(m, "tagged:8b:high", "lab/tagged:8b:high");
    assert_resolves(m, "lab/other:7b", "lab/other:7b"); /* colons are part of names */
    assert_says(m, "anthropic/claude-sonnet-4-5:hihg", HOB_ENOENT,
                "'hihg' in 'anthropic/claude-sonnet-4-5");
    assert_says(m, "sonnet:hihg", HOB_ENOENT, "is no level of thinking: off, minimal, low");
    assert_says(m, "opus-4-1:hihg", HOB_ENOENT, "is no level of thinking");
    hob_models_destroy(m);
}

static void test_model_registry__aliases_and_parts(void **state) {
    (void)state;
    hob_models *m = models(two_labs, both_env);
    assert_resolves(m, "opus", "anthropic/claude-opus-4-6");
    assert_resolves(m, "Haiku", "anthropic/claude-haiku-4-5");
    assert_resolves(m, "anthropic/haiku", "anthropic/claude-haiku-4-5");
    assert_resolves(m, "openai/haiku", "openai/haiku"); /* not an alias there: a model not known */
    assert_resolves(m, "opus-4-1", "anthropic/claude-opus-4-1"); /* undated before dated */
    assert_resolves(m, "opus-4-2025", "anthropic/claude-opus-4-20250514");
    assert_resolves(m, "4.1-mini", "openai/gpt-4.1-mini");
    assert_resolves(m, "gpt-5-", "openai/gpt-5-nano"); /* then the last of the alphabet */
    assert_resolves(m, "o3", "openai/o3");
    assert_resolves(m, "ny-na", "lab/any-name");
    hob_models_destroy(m);
}

static void test_model_registry__ties_go_to_who_has_a_key(void **state) {
    (void)state;
    hob_models *m = models(
        "{\"providers\": {\"a\": {\"api\": \"openai-chat\", \"base_url\": \"http://h\", \"api_key\":"
        " \"$NOT_SET\", \"models\": {\"x/y\": {}, \"shared-1\": {}}}, \"b\": {\"api\": \"openai-chat\","
        " \"base_url\": \"http://h\", \"models\": {\"x/y\": {}, \"shared-2\": {}}}}}",
        no_env);
    assert_resolves(m, "x/y", "b/x/y");
    assert_resolves(m, "shared", "b/shared-2");
    assert_resolves(m, "shared-1", "a/shared-1");
    hob_models_destroy(m);
}

static void test_model_registry__ties_left_are_listed(void **state) {
    (void)state;
    hob_models *m = models(two_labs, no_env);
    assert_says(m, "x/y", HOB_EAMBIGUOUS, "several models match 'x/y': lab/x/y, lab/two/x/y");
    assert_says(m, "shared", HOB_EAMBIGUOUS, "lab/shared-1, lab/two/shared-2");
    hob_models_destroy(m);
}

static void test_model_registry__unknown_names_are_answered_with_near_ones(void **state) {
    (void)state;
    hob_models *m = models(two_labs, no_env);
    assert_says(m, "claude-sonet-4-5", HOB_ENOENT,
                "no model 'claude-sonet-4-5': did you mean claude-sonnet-4-5");
    assert_says(m, "sonet", HOB_ENOENT, "did you mean sonnet");
    assert_says(m, "antropic/claude-opus-4-6", HOB_ENOENT,
                "did you mean anthropic/claude-opus-4-6");
    assert_says(m, "zzzzzzzzzz", HOB_ENOENT,
                "named PROVIDER/MODEL (providers: anthropic, openai, openrouter");
    hob_models_destroy(m);
}

static void test_model_registry__models_nothing_is_known_of(void **state) {
    (void)state;
    hob_models *m = models(two_labs, no_env);
    hob_model_info info;
    assert_int_equal(hob_models_resolve(m, HOB_STR("anthropic/claude-x"), &info, NULL), 0);
    assert_false(info.known || info.priced);
    assert_int_equal(info.context, 200000);
    assert_int_equal(info.output, 16384);
    assert_int_equal(hob_models_resolve(m, HOB_STR("openrouter/z/w"), &info, NULL), 0);
    assert_str(info.id, "z/w");
    assert_str(info.api, "openai-chat");
    assert_int_equal(info.context, 128000);
    assert_true(hob_model_cost(&info, &(hob_usage){1, 1, 1, 1, 1}) < 0);
    hob_models_destroy(m);
}

static void test_model_registry__configured_models(void **state) {
    (void)state;
    hob_models *m = models(two_labs, no_env);
    hob_model_info info;
    assert_int_equal(hob_models_resolve(m, HOB_STR("any-name"), &info, NULL), 0);
    assert_true(info.known && !info.priced && !info.images);
    assert_int_equal(info.context, 5000);
    assert_int_equal(info.output, 700);
    assert_int_equal(hob_models_resolve(m, HOB_STR("paid"), &info, NULL), 0);
    assert_true(info.priced && info.images);
    /* 1M in, 1M out, 1M read from the cache at the price of input */
    hob_usage u = {.input_tokens = 1000000, .output_tokens = 1000000, .cache_read_tokens = 1000000};
    assert_true(hob_model_cost(&info, &u) == 8.0);
    hob_models_destroy(m);
}

static void test_model_registry__catalogue_prices(void **state) {
    (void)state;
    hob_models *m = models(NULL, no_env);
    hob_model_info info;
    assert_int_equal(hob_models_resolve(m, HOB_STR("claude-sonnet-4-5"), &info, NULL), 0);
    hob_usage u = {1000000, 1000000, 1000000, 1000000, 500000};
    double cost = hob_model_cost(&info, &u);
    assert_true(cost > 22.0499 && cost < 22.0501);
    hob_models_destroy(m);
}

static void test_model_registry__configuration_corrects_the_catalogue(void **state) {
    (void)state;
    hob_models *m = models("{\"providers\":{\"anthropic\":{\"models\":{\"claude-sonnet-4-5\":"
                           "{\"context\":1000000}}}}}",
                           no_env);
    hob_model_info info;
    assert_int_equal(hob_models_resolve(m, HOB_STR("claude-sonnet-4-5"), &info, NULL), 0);
    assert_int_equal(info.context, 1000000);
    assert_int_equal(info.output, 64000);
    assert_true(info.priced);
    hob_models_destroy(m);
}

static void test_model_registry__quirks_reach_the_provider(void **state) {
    (void)state;
    hob_models *m =
        models("{\"providers\":{\"lab\":{\"api\":\"openai-chat\",\"base_url\":\"http://h\","
               "\"max_tokens_field\":\"max_tokens\",\"headers\":{\"x-team\":\"blue\"},\"models\":"
               "{\"a\":{\"thinking\":\"none\",\"echo_reasoning\":true},\"b\":{}}}}}",
               no_env);
    const hob_provider_row *r = hob_models_row(m, HOB_STR("lab"));
    assert_true(r->old_max_tokens);
    assert_int_equal(r->nquirks, 2);
    assert_str(r->quirks[0].model, "a");
    assert_int_equal(r->quirks[0].thinking, HOB_THINKS_NOT);
    assert_true(r->quirks[0].echo_reasoning);
    assert_int_equal(r->quirks[1].thinking, HOB_THINKS_BY_NAME);
    assert_int_equal(r->nheaders, 1);
    assert_str(r->headers[0], "x-team: blue");
    hob_models_destroy(m);
}

/* ---- keys -------------------------------------------------------------------------------------------- */

static void assert_key(hob_models *m, const char *hint, const char *words) {
    hob_model_info info;
    hob_error err;
    assert_ok(hob_models_resolve(m, hob_str_z(hint), &info, &err), err);
    int rc = hob_models_check_key(m, &info, &err);
    if (!words) {
        assert_int_equal(rc, HOB_OK);
        return;
    }
    assert_int_equal(rc, HOB_EAUTH);
    if (!strstr(err.message, words)) fail_msg("'%s' is not in: %s", words, err.message);
}

static void test_model_registry__missing_keys_say_what_was_looked_for(void **state) {
    (void)state;
    hob_models *m =
        models("{\"providers\":{\"lab\":{\"api\":\"openai-chat\",\"base_url\":\"http://h\","
               "\"api_key\":\"$LAB_KEY\"},\"open\":{\"api\":\"openai-chat\",\"base_url\":"
               "\"http://h\"},\"cmd\":{\"api\":\"anthropic\",\"base_url\":\"http://h\","
               "\"api_key_cmd\":\"false\"}}}",
               no_env);
    assert_key(m, "sonnet", "ANTHROPIC_API_KEY");
    assert_key(m, "sonnet", "providers.anthropic.api_key");
    assert_key(m, "sonnet", "hob demo");
    assert_key(m, "gpt-5", "OPENAI_API_KEY");
    assert_key(m, "openrouter/x", "OPENROUTER_API_KEY");
    assert_key(m, "lab/x", "$LAB_KEY, and that variable is not set");
    assert_key(m, "open/x", NULL);
    assert_key(m, "cmd/x", NULL);
    hob_models_destroy(m);
    m = models(NULL, both_env);
    assert_key(m, "sonnet", NULL);
    hob_models_destroy(m);
}

static void test_model_registry__no_hint_takes_who_has_a_key(void **state) {
    (void)state;
    static const char *const openai[] = {HOME, "OPENAI_API_KEY=sk", NULL};
    static const char *const router[] = {HOME, "OPENROUTER_API_KEY=sk", NULL};
    hob_models *m = models(NULL, both_env);
    assert_resolves(m, "", "anthropic/claude-sonnet-4-6");
    hob_models_destroy(m);
    m = models(NULL, openai);
    assert_resolves(m, " ", "openai/gpt-5.1");
    hob_models_destroy(m);
    m = models(NULL, router);
    assert_resolves(m, "", "openrouter/anthropic/claude-sonnet-4.5");
    hob_models_destroy(m);
    m = models(two_labs, no_env);
    assert_resolves(m, "", "lab/any-name");
    hob_models_destroy(m);
    m = models(NULL, no_env);
    assert_says(
        m, "", HOB_EAUTH,
        "set one of ANTHROPIC_API_KEY, OPENAI_API_KEY, OPENROUTER_API_KEY, or in the configuration "
        "model or providers.NAME.api_key");
    hob_models_destroy(m);
}

static void test_model_registry__apis_of_later_versions(void **state) {
    (void)state;
    hob_models *m = models(NULL, no_env);
    assert_says(m, "gemini/gemini-3", HOB_ENOSYS, "does not speak gemini");
    hob_models_destroy(m);
}

/* ---- objects ------------------------------------------------------------------------------------------- */

static void test_model_registry__providers_are_made_once(void **state) {
    (void)state;
    hob_models *m = models(two_labs, both_env);
    hob_loop *loop = NULL;
    hob_provider_env env = {0};
    hob_model_info info;
    hob_error err;
    hob_provider *a = NULL, *b = NULL, *c = NULL;
    assert_ok(hob_loop_create(NULL, &loop, &err), err);
    env.loop = loop;
    assert_int_equal(hob_models_resolve(m, HOB_STR("sonnet"), &info, NULL), 0);
    assert_ok(hob_models_provider(m, &env, &info, &a, &err), err);
    assert_int_equal(hob_models_resolve(m, HOB_STR("haiku"), &info, NULL), 0);
    assert_ok(hob_models_provider(m, &env, &info, &b, &err), err);
    assert_ptr_equal(a, b);
    assert_string_equal(a->ops->name, "anthropic");
    assert_int_equal(hob_models_resolve(m, HOB_STR("any-name"), &info, NULL), 0);
    assert_ok(hob_models_provider(m, &env, &info, &c, &err), err);
    assert_string_equal(c->ops->name, "openai-chat");
    hob_models_destroy(m);
    hob_loop_destroy(loop);
}

static void test_model_registry__scripts(void **state) {
    (void)state;
    char path[] = "/tmp/hob-script-XXXXXX", hint[64];
    hob_models *m = models(NULL, no_env);
    hob_loop *loop = NULL;
    hob_provider_env env = {0};
    hob_model_info info;
    hob_error err;
    hob_provider *p = NULL, *q = NULL;
    int fd = mkstemp(path);
    assert_true(fd >= 0 && write(fd, "{\"rules\":[}", 11) == 11);
    assert_ok(hob_loop_create(NULL, &loop, &err), err);
    env.loop = loop;
    (void)snprintf(hint, sizeof hint, "scripted:%s", path);
    assert_ok(hob_models_resolve(m, hob_str_z(hint), &info, &err), err);
    assert_str(info.provider, "scripted");
    assert_str(info.id, path + 5);
    assert_str(info.script, path);
    assert_int_equal(hob_models_check_key(m, &info, &err), HOB_OK);
    assert_true(hob_models_provider(m, &env, &info, &p, &err) < 0);
    assert_memory_equal(err.message, path, strlen(path)); /* the file, then where in it */
    const char good[] = "{\"rules\":[{\"reply\":[{\"text\":\"hi\"}]}]}";
    assert_true(ftruncate(fd, 0) == 0 && pwrite(fd, good, sizeof good - 1, 0) > 0);
    assert_ok(hob_models_provider(m, &env, &info, &p, &err), err);
    assert_ok(hob_models_provider(m, &env, &info, &q, &err), err);
    assert_ptr_equal(p, q);
    close(fd);
    unlink(path);
    assert_says(m, "scripted:/nonexistent/file", HOB_ENOENT,
                "cannot read the script /nonexistent/file");
    assert_says(m, "scripted:", HOB_EINVAL, "scripted:FILE");
    hob_models_destroy(m);
    hob_loop_destroy(loop);
}

static void test_model_registry__thinking_words(void **state) {
    (void)state;
    hob_thinking t;
    for (int i = HOB_THINKING_OFF; i <= HOB_THINKING_XHIGH; i++) {
        assert_int_equal(hob_thinking_from(hob_str_z(hob_thinking_name((hob_thinking)i)), &t), 0);
        assert_int_equal(t, i);
    }
    assert_int_equal(hob_thinking_from(HOB_STR("default"), &t), HOB_EINVAL);
    assert_int_equal(hob_thinking_from(HOB_STR(""), &t), HOB_EINVAL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_model_registry__exact_names),
        cmocka_unit_test(test_model_registry__levels),
        cmocka_unit_test(test_model_registry__aliases_and_parts),
        cmocka_unit_test(test_model_registry__ties_go_to_who_has_a_key),
        cmocka_unit_test(test_model_registry__ties_left_are_listed),
        cmocka_unit_test(test_model_registry__unknown_names_are_answered_with_near_ones),
        cmocka_unit_test(test_model_registry__models_nothing_is_known_of),
        cmocka_unit_test(test_model_registry__configured_models),
        cmocka_unit_test(test_model_registry__catalogue_prices),
        cmocka_unit_test(test_model_registry__configuration_corrects_the_catalogue),
        cmocka_unit_test(test_model_registry__quirks_reach_the_provider),
        cmocka_unit_test(test_model_registry__missing_keys_say_what_was_looked_for),
        cmocka_unit_test(test_model_registry__no_hint_takes_who_has_a_key),
        cmocka_unit_test(test_model_registry__apis_of_later_versions),
        cmocka_unit_test(test_model_registry__providers_are_made_once),
        cmocka_unit_test(test_model_registry__scripts),
        cmocka_unit_test(test_model_registry__thinking_words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
