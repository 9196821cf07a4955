/* What may be remembered. */
#include "agent/memory.h"
#include "support/check.h"

static void assert_credential(const char *text, const char *name) {
    const char *got = hob_credential_in(hob_str_z(text));
    if (!got || strcmp(got, name)) fail_msg("%s: %s", text, got ? got : "nothing");
}

static void test_agent_memory__sec_82_credentials_are_known_by_their_shape(void **state) {
    (void)state;
    assert_credential("use sk-proj-aaaaaaaaaaaaaaaaaaaa", "an API key (sk-…)");
    assert_credential("(AKIAIOSFODNN7EXAMPLE)", "an AWS access key");
    assert_credential("https://x:ghp_abcdefghijklmnopqrstuvwxyz0123456789@github.com",
                      "a GitHub token");
    assert_credential(
        "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9P",
        "a signed token (JWT)");
    assert_credential("x\n-----BEGIN EC PRIVATE KEY-----\nMHc", "a private key");
    assert_credential("Password: 'correct4horse'", "a password or token");
    assert_credential("export MY_API_KEY=0123abcd4567", "a password or token");
    assert_credential("token = abc123def456", "a password or token");
}

static void test_agent_memory__words_about_credentials_are_none(void **state) {
    (void)state;
    static const char *const fine[] = {
        "",
        "The API key is kept in Vault",
        "password: ask Ada",
        "Tokens: rotated every 90 days",
        "secret: kubernetes/production/database", /* no digits: a path */
        "sk-learn is used",
        "the task-runner sk- prefix",
        "ghp_ is how tokens of GitHub begin",
        "-----BEGIN CERTIFICATE-----",
        "commit 0123456789abcdef0123456789abcdef01234567",
        "path/to/AKIA",
    };
    for (size_t i = 0; i < HOB_ARRAY_LEN(fine); i++) {
        const char *got = hob_credential_in(hob_str_z(fine[i]));
        if (got) fail_msg("%s: %s", fine[i], got);
    }
}

static void test_agent_memory__sec_81_what_nobody_sees_is_refused(void **state) {
    (void)state;
    static const char *const hidden[] = {"a\xf3\xa0\x80\xa0z", "a\xe2\x80\xaez", "a\xe2\x81\xa6z",
                                         "a\xe2\x80\x8bz"};
    hob_error err;
    for (size_t i = 0; i < HOB_ARRAY_LEN(hidden); i++)
        assert_int_equal(hob_memory_check_model(hob_str_z(hidden[i]), &err), HOB_EREFUSED);
    /* a family joined by U+200D, Hebrew, and a flag are text */
    assert_int_equal(
        hob_memory_check_model(hob_str_z("👩‍👩‍👧 שלום 🇫🇷"), &err), HOB_OK);
}

static void test_agent_memory__text_is_text(void **state) {
    (void)state;
    hob_error err;
    assert_int_equal(hob_memory_check_text(HOB_STR("two\n\tlines"), 100, &err), HOB_OK);
    assert_int_equal(hob_memory_check_text(HOB_STR(" \n"), 100, &err), HOB_EINVAL);
    assert_int_equal(hob_memory_check_text(HOB_STR("\033[2J"), 100, &err), HOB_EINVAL);
    assert_int_equal(hob_memory_check_text(HOB_STR("a\0b"), 100, &err), HOB_EINVAL);
    assert_int_equal(hob_memory_check_text(HOB_STR("\xc2\x9b"), 100, &err), HOB_EINVAL);
    assert_int_equal(hob_memory_check_text(HOB_STR("\xff"), 100, &err), HOB_EINVAL);
    assert_int_equal(hob_memory_check_text(HOB_STR("12345"), 4, &err), HOB_ETOOBIG);
}

static void test_agent_memory__tags_are_trimmed_and_small(void **state) {
    (void)state;
    hob_error err;
    hob_str tag;
    hob_arena *a = hob_arena_create(0);
    assert_int_equal(hob_memory_tag(a, HOB_STR("  Tea & ÄPFEL "), 64, &tag, &err), HOB_OK);
    assert_str(tag, "tea & Äpfel");
    assert_int_equal(hob_memory_tag(a, HOB_STR("  "), 64, &tag, &err), HOB_EINVAL);
    assert_int_equal(hob_memory_tag(a, HOB_STR("a\nb"), 64, &tag, &err), HOB_EINVAL);
    assert_int_equal(hob_memory_tag(a, HOB_STR("12345"), 4, &tag, &err), HOB_ETOOBIG);
    hob_arena_destroy(a);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_agent_memory__sec_82_credentials_are_known_by_their_shape),
        cmocka_unit_test(test_agent_memory__words_about_credentials_are_none),
        cmocka_unit_test(test_agent_memory__sec_81_what_nobody_sees_is_refused),
        cmocka_unit_test(test_agent_memory__text_is_text),
        cmocka_unit_test(test_agent_memory__tags_are_trimmed_and_small),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
