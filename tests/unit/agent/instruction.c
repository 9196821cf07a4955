/* {key} in instructions. */
#include "agent/value.h"

#include "support/check.h"

static const struct {
    const char *key, *value;
} kept[] = {
    {"name", "\"Ada \\\"L\\\"\""},
    {"n", "42"},
    {"tree", "{\"a\":[1,2]}"},
    {"null", "null"},
    {"yes", "true"},
    {"app:x", "\"A\""},
    {"user:x", "\"U\""},
    {"temp:x", "\"T\""},
    {"x", "\"S\""},
    {"brace", "\"{n}\""},
    {"empty", "\"\""},
    {"bad-key", "1"},
};

static int expand(const char *text, hob_buf *out, hob_error *err) {
    hob_state state = {.count = 0};
    for (size_t i = 0; i < HOB_ARRAY_LEN(kept); i++)
        hob_state_assign(&state, hob_str_z(kept[i].key), hob_str_z(kept[i].value));
    int rc = hob_instruction_expand(hob_str_z(text), &state, out, err);
    hob_state_finish(&state);
    return rc;
}

static void becomes(const char *text, const char *wanted) {
    hob_buf out;
    hob_error err;
    hob_buf_init(&out, 1000);
    assert_ok(expand(text, &out, &err), err);
    assert_string_equal(hob_buf_z(&out), wanted);
    hob_buf_finish(&out);
}

static void test_agent_instruction__values_stand_in_the_place_of_keys(void **state) {
    (void)state;
    becomes("", "");
    becomes("plain", "plain");
    becomes("Hello {name}!", "Hello Ada \"L\"!");
    becomes("{n}{n} and {x}", "4242 and S");
    becomes("{ n }", "42");
    becomes("{app:x}{user:x}{temp:x}", "AUT");
    becomes("[{empty}]", "[]");
}

static void test_agent_instruction__case_48_a_missing_key_is_an_error(void **state) {
    static const char *const wrong[] = {"{missing}", "a {x} b {user:missing} c", "{{missing}}"};
    hob_error err;
    hob_buf out;
    (void)state;
    for (size_t i = 0; i < HOB_ARRAY_LEN(wrong); i++) {
        hob_buf_init(&out, 1000);
        assert_int_equal(expand(wrong[i], &out, &err), HOB_ENOENT);
        assert_non_null(strstr(err.message, "missing"));
        hob_buf_finish(&out);
    }
}

static void test_agent_instruction__case_49_optional_braces_objects(void **state) {
    (void)state;
    becomes("[{missing?}] [{n?}]", "[] [42]");
    becomes("{{name}} {{{n}}}", "Ada \"L\" 42");
    becomes("{tree} {yes} {null}", "{\"a\":[1,2]} true null");
    becomes("{bad-key} {1a} {} {a.b} {a b} {artifact.f}",
            "{bad-key} {1a} {} {a.b} {a b} {artifact.f}");
}

static void test_agent_instruction__other_braces_stay(void **state) {
    (void)state;
    becomes("{\"json\": {\"a\": 1}}", "{\"json\": {\"a\": 1}}");
    becomes("if (x) {\n  n\n}", "if (x) {\n  n\n}");
    becomes("{n", "{n");
    becomes("n}", "n}");
    becomes("{{n}", "42");
    becomes("{n}}", "42}");
    becomes("{a {n}", "{a 42");
    becomes("{{{", "{{{");
    becomes("{app:user:x} {other:x} {app:}", "{app:user:x} {other:x} {app:}");
    becomes("{n ?} {?}", "{n ?} {?}");
}

/* What a value says is not an instruction to look for more. */
static void test_agent_instruction__values_are_not_looked_into(void **state) {
    (void)state;
    becomes("{brace}", "{n}");
    becomes("{{brace}}", "{n}");
}

static void test_agent_instruction__has_a_ceiling(void **state) {
    hob_error err;
    hob_buf out;
    (void)state;
    hob_buf_init(&out, 4);
    assert_int_equal(expand("{name}", &out, &err), HOB_ETOOBIG);
    hob_buf_finish(&out);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_agent_instruction__values_stand_in_the_place_of_keys),
        cmocka_unit_test(test_agent_instruction__case_48_a_missing_key_is_an_error),
        cmocka_unit_test(test_agent_instruction__case_49_optional_braces_objects),
        cmocka_unit_test(test_agent_instruction__other_braces_stay),
        cmocka_unit_test(test_agent_instruction__values_are_not_looked_into),
        cmocka_unit_test(test_agent_instruction__has_a_ceiling),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
