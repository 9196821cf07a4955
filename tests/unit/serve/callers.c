/*
 * Callers: the token file, rights, quotas, rates.
 */
#include "serve/callers.h"
#include "support/check.h"
#include "support/folder.h"

#include <sys/stat.h>

#define SECRET "0123456789abcdef"

static hob_callers *callers(const char *text) {
    hob_callers *c = hob_callers_create(HOB_STR("accept-edits"));
    hob_error err;
    assert_ok(hob_callers_set_text(c, hob_str_z(text), &err), err);
    return c;
}

static void test_serve_callers__a_row_says_who_asks(void **state) {
    (void)state;
    hob_callers *c = callers(
        "{ // comment\n \"tokens\": [{\"name\":\"ci\",\"token\":\"" SECRET
        "\",\"tenant\":\"acme\",\"principal\":\"bot\",\"rights\":[\"read\",\"run\"],"
        "\"max_mode\":\"plan\",\"limits\":{\"runs\":2,\"per_minute\":60,\"cost_usd\":1.5}},]}");
    const hob_caller *k = hob_callers_find(c, HOB_STR(SECRET));
    assert_non_null(k);
    assert_str(k->name, "ci");
    assert_str(k->tenant, "acme");
    assert_str(k->principal, "bot");
    assert_str(k->max_mode, "plan");
    assert_true(hob_caller_may(k, HOB_RIGHT_RUN) && !hob_caller_may(k, HOB_RIGHT_APPROVE));
    assert_int_equal(k->limits[HOB_QUOTA_RUNS], 2);
    assert_int_equal(k->limits[HOB_QUOTA_COST], 1500000);
    assert_int_equal(k->limits[HOB_QUOTA_STREAMS], HOB_CALLER_STREAMS);
    assert_int_equal(k->per_minute, 60);
    hob_caller_unref(k);
    assert_null(hob_callers_find(c, HOB_STR("0123456789abcdeF")));
    assert_null(hob_callers_find(c, HOB_STR("")));
    hob_callers_destroy(c);
}

static void test_serve_callers__a_token_by_its_sum(void **state) {
    (void)state;
    hob_callers *c =
        callers("{\"tokens\":[{\"name\":\"a\",\"token_sha256\":"
                "\"9f9f5111f7b27a781f1f1ddde5ebc2dd2b796bfc7365c9c28b548e564176929f\"}]}");
    const hob_caller *k = hob_callers_find(c, HOB_STR(SECRET));
    assert_non_null(k);
    assert_str(k->tenant, "hob");
    assert_str(k->principal, "a");
    assert_str(k->max_mode, "accept-edits");
    assert_false(hob_caller_may(k, HOB_RIGHT_ADMIN));
    hob_caller_unref(k);
    hob_callers_destroy(c);
}

#define ROW(more) "{\"tokens\":[{\"name\":\"a\",\"token\":\"" SECRET "\"" more "}]}"

static void test_serve_callers__what_is_misspelt_is_refused(void **state) {
    (void)state;
    static const char *const bad[] = {
        "",
        "[]",
        "{}",
        "{\"tokens\":{}}",
        "{\"tokens\":[]}",
        "{\"tokens\":[1]}",
        "{\"tokens\":[{\"token\":\"" SECRET "\"}]}",
        "{\"tokens\":[{\"name\":\"a\"}]}",
        "{\"tokens\":[{\"name\":\"a\",\"token\":\"short\"}]}",
        "{\"tokens\":[{\"name\":\"a\",\"token\":\"with a blank in it\"}]}",
        "{\"tokens\":[{\"name\":\"a\",\"token_sha256\":\"beef\"}]}",
        "{\"tokens\":[{\"name\":\"a b\",\"token\":\"" SECRET "\"}]}",
        "{\"tokens\":[{\"name\":\"a\",\"token\":\"" SECRET "\"},{\"name\":\"b\",\"token\":\"" SECRET
        "\"}]}",
        "{\"tokens\":[{\"name\":\"a\",\"token\":\"" SECRET
        "\"},{\"name\":\"a\",\"token\":\"x" SECRET "\"}]}",
        ROW(",\"token_sha256\":\"beef\""),
        ROW(",\"rigths\":[]"),
        ROW(",\"rights\":\"read\""),
        ROW(",\"rights\":[\"root\"]"),
        ROW(",\"limits\":[]"),
        ROW(",\"limits\":{\"run\":1}"),
        ROW(",\"limits\":{\"runs\":0}"),
        ROW(",\"limits\":{\"runs\":-1}"),
        ROW(",\"limits\":{\"runs\":\"1\"}"),
        ROW(",\"limits\":{\"cost_usd\":0}"),
        ROW(",\"tenant\":\"\""),
        ROW(",\"tenant\":\"a\\u0000b\""),
        ROW(",\"max_mode\":\"yolo\""),
        ROW(",\"max_mode\":\"any\""),
        ROW("") " x",
    };
    hob_callers *c = callers(ROW(""));
    for (size_t i = 0; i < HOB_ARRAY_LEN(bad); i++) {
        hob_error err = {.code = 0};
        if (hob_callers_set_text(c, hob_str_z(bad[i]), &err) != HOB_ECONFIG) fail_msg("%s", bad[i]);
        assert_true(err.message[0]);
    }
    const hob_caller *k = hob_callers_find(c, HOB_STR(SECRET)); /* those there were stay */
    assert_non_null(k);
    hob_caller_unref(k);
    hob_callers_destroy(c);
}

static void test_serve_callers__quotas_outlive_a_reload(void **state) {
    (void)state;
    hob_error err;
    hob_callers *c = callers(ROW(",\"limits\":{\"runs\":2}"));
    const hob_caller *k = hob_callers_find(c, HOB_STR(SECRET));
    assert_int_equal(hob_caller_take(k, HOB_QUOTA_RUNS, 2, &err), HOB_OK);
    assert_int_equal(hob_caller_take(k, HOB_QUOTA_RUNS, 1, &err), HOB_ELIMIT);
    assert_ok(hob_callers_set_text(c, HOB_STR(ROW(",\"limits\":{\"runs\":3}")), &err), err);
    const hob_caller *again = hob_callers_find(c, HOB_STR(SECRET));
    assert_int_equal(hob_caller_taken(again, HOB_QUOTA_RUNS), 2);
    assert_int_equal(hob_caller_take(again, HOB_QUOTA_RUNS, 1, &err), HOB_OK);
    hob_caller_give(k, HOB_QUOTA_RUNS, 2);
    assert_int_equal(hob_caller_taken(again, HOB_QUOTA_RUNS), 1);
    assert_int_equal(hob_caller_take(again, HOB_QUOTA_SESSIONS, 1000000, &err),
                     HOB_OK); /* no limit */
    hob_caller_unref(k);
    hob_caller_unref(again);
    hob_callers_destroy(c);
}

static void test_serve_callers__a_rate_is_a_bucket_that_fills(void **state) {
    (void)state;
    hob_callers *c = callers(ROW(",\"limits\":{\"per_minute\":30}"));
    const hob_caller *k = hob_callers_find(c, HOB_STR(SECRET));
    for (int i = 0; i < 30; i++) assert_int_equal(hob_caller_rate(k, 1000), 0);
    assert_int_equal(hob_caller_rate(k, 1000), 3);
    assert_int_equal(hob_caller_rate(k, 2000), 2);
    assert_int_equal(hob_caller_rate(k, 3000), 0);
    assert_true(hob_caller_rate(k, 3000) > 0);
    for (int i = 0; i < 30; i++)
        assert_int_equal(hob_caller_rate(k, 1000000000), 0); /* never more than it holds */
    assert_true(hob_caller_rate(k, 1000000000) > 0);
    hob_caller_unref(k);
    hob_callers_destroy(c);
}

static void test_serve_callers__a_file_that_others_read_is_refused(void **state) {
    (void)state;
    hob_test_folder f;
    hob_error err;
    hob_test_folder_make(&f);
    hob_test_file(&f, "tokens.json", HOB_STR(ROW("")));
    const char *path = hob_test_path(&f, "tokens.json");
    hob_callers *c = hob_callers_create(HOB_STR("ask"));
    chmod(path, 0644);
    assert_int_equal(hob_callers_load(c, path, &err), HOB_EACCES);
    assert_non_null(strstr(err.message, "chmod 600"));
    chmod(path, 0600);
    assert_ok(hob_callers_load(c, path, &err), err);
    assert_int_equal(hob_callers_count(c), 1);
    assert_int_equal(hob_callers_load(c, f.path, &err), HOB_ECONFIG);
    hob_callers_destroy(c);
    hob_test_folder_remove(&f);
}

/* Whoever waited for its other end would take no signal any more. */
static void test_serve_callers__a_pipe_is_no_file(void **state) {
    (void)state;
    hob_test_folder f;
    hob_error err;
    hob_test_folder_make(&f);
    const char *path = hob_test_path(&f, "tokens.json");
    assert_int_equal(mkfifo(path, 0600), 0);
    hob_callers *c = hob_callers_create(HOB_STR("ask"));
    assert_int_equal(hob_callers_load(c, path, &err), HOB_ECONFIG);
    assert_non_null(strstr(err.message, "is not a file"));
    hob_callers_destroy(c);
    hob_test_folder_remove(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_serve_callers__a_row_says_who_asks),
        cmocka_unit_test(test_serve_callers__a_token_by_its_sum),
        cmocka_unit_test(test_serve_callers__what_is_misspelt_is_refused),
        cmocka_unit_test(test_serve_callers__quotas_outlive_a_reload),
        cmocka_unit_test(test_serve_callers__a_rate_is_a_bucket_that_fills),
        cmocka_unit_test(test_serve_callers__a_file_that_others_read_is_refused),
        cmocka_unit_test(test_serve_callers__a_pipe_is_no_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
