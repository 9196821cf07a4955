/* Partial mode: every prefix of a valid text is readable and promises nothing false. */
#include "base/json.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include "support/json_tree.h"
#include <cmocka.h>

static const char *const corpus[] = {
    "{}",
    "[]",
    "{\"path\":\"src/main.c\",\"offset\":10,\"limit\":200}",
    "{\"command\":\"grep -n \\\"x\\\" *.c\\n\",\"timeout\":30.5,\"background\":false}",
    "{\"a\":{\"b\":{\"c\":[1,[2,[3,{\"d\":null}]]]}},\"e\":true}",
    " [ 1 , -2.5e+10 , true , false , null , \"x\" , { } , [ ] ] ",
    "{\"text\":\"caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80 end\"}",
    "{\"text\":\"\\u00e9 \\u20ac \\ud83d\\ude00 \\ud83dx \\ude00 \\ud83d\\n \\ud83d\\u0041\"}",
    "{\"\\u006b\\n\":\"v\",\"k\":\"1\",\"k\":\"2\"}",
    "{\"edits\":[{\"old\":\"a\\tb\",\"new\":\"a    b\"},{\"old\":\"\",\"new\":\"\\\\\"}]}",
    "[0,0.0,-0,1e5,1E-5,12345678901234567890]",
    "\"just a string with \\\\ and \\\" inside\"",
    "true",
    "null",
    "[[[[[[[[[[]]]]]]]]]]",
    "{\"a\" : 1 ,\n\t\"b\" : [ ] }\n",
    "[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31,32,33,34]",
};

static const hob_json *partial(hob_arena *a, hob_str text) {
    const hob_json *v = NULL;
    /* An exact heap copy in the arena's own memory, so that ASan sees reading past the prefix. */
    char *copy = hob_alloc(text.n);
    if (text.n) memcpy(copy, text.p, text.n);
    assert_int_equal(hob_json_parse_partial(a, hob_str_n(copy, text.n), &v), HOB_OK);
    /* A second time on memory that stays, for the caller to look at. */
    hob_free(copy);
    assert_int_equal(hob_json_parse_partial(a, text, &v), HOB_OK);
    return v;
}

static void test_base_json_partial__every_prefix_is_a_structural_prefix(void **state) {
    (void)state;
    for (size_t i = 0; i < HOB_ARRAY_LEN(corpus); i++) {
        hob_str text = hob_str_z(corpus[i]);
        hob_arena *a = hob_arena_create(0);
        const hob_json *whole = NULL;
        assert_int_equal(hob_json_parse(a, text, NULL, &whole, NULL), HOB_OK);
        for (size_t n = 0; n <= text.n; n++) {
            const hob_json *part = partial(a, hob_str_first(text, n));
            if (!tree_is_prefix(part, whole)) fail_msg("%.*s", (int)n, text.p);
        }
        hob_arena_destroy(a);
    }
}

static size_t known(const hob_json *v) {
    size_t n = 1 + hob_json_str(v).n;
    for (const hob_json *m = hob_json_first(v); m; m = hob_json_next(m)) n += known(m);
    return v ? n : 0;
}

/* What was shown once is never taken back as more text arrives. */
static void test_base_json_partial__knowledge_only_grows(void **state) {
    (void)state;
    for (size_t i = 0; i < HOB_ARRAY_LEN(corpus); i++) {
        hob_str text = hob_str_z(corpus[i]);
        hob_arena *a = hob_arena_create(0);
        const hob_json *before = NULL;
        for (size_t n = 0; n <= text.n; n++) {
            const hob_json *now = partial(a, hob_str_first(text, n));
            if (!tree_is_prefix(before, now)) fail_msg("%.*s", (int)n, text.p);
            assert_true(known(now) >= known(before));
            before = now;
        }
        hob_arena_destroy(a);
    }
}

static void test_base_json_partial__a_whole_text_is_whole(void **state) {
    (void)state;
    for (size_t i = 0; i < HOB_ARRAY_LEN(corpus); i++) {
        hob_arena *a = hob_arena_create(0);
        const hob_json *whole = NULL;
        hob_json_parse(a, hob_str_z(corpus[i]), NULL, &whole, NULL);
        const hob_json *part = partial(a, hob_str_z(corpus[i]));
        assert_true(hob_json_complete(part));
        assert_true(tree_equal(part, whole));
        assert_true(hob_str_eq(hob_json_raw(part), hob_json_raw(whole)));
        hob_arena_destroy(a);
    }
}

static void assert_partial(const char *text, const char *want) {
    hob_arena *a = hob_arena_create(0);
    const hob_json *v = partial(a, hob_str_z(text));
    hob_buf b;
    hob_jsonw w;
    hob_buf_init(&b, 1000);
    hob_jsonw_init(&w, &b);
    if (v) tree_write(&w, v);
    if (strcmp(hob_buf_z(&b), want) != 0) fail_msg("%s: %s", text, hob_buf_z(&b));
    hob_buf_finish(&b);
    hob_arena_destroy(a);
}

static void test_base_json_partial__closes_what_is_open(void **state) {
    (void)state;
    assert_partial("{\"a\":[1,{\"b\":\"c", "{\"a\":[1,{\"b\":\"c\"}]}");
    assert_partial("[", "[]");
    assert_partial("\"", "\"\"");
    assert_partial("{\"a\":\"", "{\"a\":\"\"}");
    assert_partial("{\"a\":1,", "{\"a\":1}");
}

static void test_base_json_partial__drops_what_may_still_change(void **state) {
    (void)state;
    assert_partial("", "");
    assert_partial("  ", "");
    assert_partial("tru", "");
    assert_partial("-", "");
    assert_partial("12", "");
    assert_partial("12 ", "12");
    assert_partial("[1,23", "[1]");
    assert_partial("[1,23 ", "[1,23]");
    assert_partial("[1,nul", "[1]");
    assert_partial("[1.", "[]");
    assert_partial("[1e+", "[]");
    assert_partial("{\"ke", "{}");
    assert_partial("{\"key\"", "{}");
    assert_partial("{\"key\":", "{}");
    assert_partial("{\"key\": ", "{}");
    assert_partial("{\"a\":1,\"key", "{\"a\":1}");
    assert_partial("{\"key\":t", "{}");
}

static void test_base_json_partial__holds_back_half_characters(void **state) {
    (void)state;
    assert_partial("\"a\\", "\"a\"");
    assert_partial("\"a\\u00e", "\"a\"");
    assert_partial("\"a\xe2\x82", "\"a\"");
    assert_partial("\"a\\ud83d", "\"a\"");
    assert_partial("\"a\\ud83d\\", "\"a\"");
    assert_partial("\"a\\ud83d\\u", "\"a\"");
    assert_partial("\"a\\ud83d\\ude0", "\"a\"");
    assert_partial("\"a\\ud83d\\ude00", "\"a\xf0\x9f\x98\x80\"");
    assert_partial("\"a\\ud83d\\n", "\"a\xef\xbf\xbd\\n\"");
}

static void test_base_json_partial__tells_cut_values_from_whole_ones(void **state) {
    (void)state;
    hob_arena *a = hob_arena_create(0);
    const hob_json *v = partial(a, HOB_STR("{\"a\":\"whole\",\"b\":[1],\"c\":[\"cut"));
    assert_false(hob_json_complete(v));
    assert_true(hob_json_complete(hob_json_get(v, "a")));
    assert_true(hob_json_complete(hob_json_get(v, "b")));
    const hob_json *c = hob_json_get(v, "c");
    assert_false(hob_json_complete(c));
    assert_false(hob_json_complete(hob_json_at(c, 0)));
    assert_true(hob_str_eqz(hob_json_raw(c), "[\"cut"));
    assert_false(hob_json_complete(NULL));
    hob_arena_destroy(a);
}

static void test_base_json_partial__refuses_what_no_text_can_complete(void **state) {
    (void)state;
    static const char *const wrong[] = {
        "x",          "]",   "[,",        "{1",    "[1 2",     "{\"a\" 1", "{\"a\":1 \"",
        "trx",        "[01", "[1.x",      "\"\\q", "\"\\u00x", "\"\n",     "\"\xff",
        "\"\xe0\x80", "[1}", "{\"a\":1]", "1 2",   "//",       "[1,]",     "{\"a\":1,}",
    };
    hob_arena *a = hob_arena_create(0);
    for (size_t i = 0; i < HOB_ARRAY_LEN(wrong); i++) {
        const hob_json *v = NULL;
        if (hob_json_parse_partial(a, hob_str_z(wrong[i]), &v) != HOB_EPARSE) {
            fail_msg("accepted: %s", wrong[i]);
        }
        assert_null(v);
    }
    hob_arena_destroy(a);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_base_json_partial__every_prefix_is_a_structural_prefix),
        cmocka_unit_test(test_base_json_partial__knowledge_only_grows),
        cmocka_unit_test(test_base_json_partial__a_whole_text_is_whole),
        cmocka_unit_test(test_base_json_partial__closes_what_is_open),
        cmocka_unit_test(test_base_json_partial__drops_what_may_still_change),
        cmocka_unit_test(test_base_json_partial__holds_back_half_characters),
        cmocka_unit_test(test_base_json_partial__tells_cut_values_from_whole_ones),
        cmocka_unit_test(test_base_json_partial__refuses_what_no_text_can_complete),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
