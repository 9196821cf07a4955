/* Slices: comparing, cutting, finding, numbers, suggestions. */
#include "base/base.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
static void assert_str(hob_str s, const char *want) {
    assert_int_equal(s.n, strlen(want));
    assert_true(hob_str_eqz(s, want));
}

static void test_base_str__compares_bytes(void **state) {
    (void)state;
    assert_true(hob_str_eq(HOB_STR("abc"), hob_str_n("abcd", 3)));
    assert_false(hob_str_eq(HOB_STR("abc"), HOB_STR("abd")));
    assert_false(hob_str_eq(HOB_STR("abc"), HOB_STR("ab")));
    assert_true(hob_str_eq(HOB_STR_NULL, HOB_STR("")));
    assert_true(hob_str_eqz(HOB_STR_NULL, NULL));
    assert_true(hob_str_eq(hob_str_n("a\0b", 3), hob_str_n("a\0b", 3)));
    assert_false(hob_str_eq(hob_str_n("a\0b", 3), hob_str_n("a\0c", 3)));
}

static void test_base_str__ignores_ascii_case_only(void **state) {
    (void)state;
    assert_true(hob_str_ieq(HOB_STR("Content-TYPE"), HOB_STR("content-type")));
    assert_false(hob_str_ieq(HOB_STR("a"), HOB_STR("b")));
    assert_false(hob_str_ieq(HOB_STR("\xc3\x89"), HOB_STR("\xc3\xa9")));
    assert_false(hob_str_ieq(HOB_STR("@"), HOB_STR("`"))); /* 32 apart, but no letters */
}

static void test_base_str__orders_bytewise(void **state) {
    (void)state;
    assert_true(hob_str_cmp(HOB_STR("a"), HOB_STR("b")) < 0);
    assert_true(hob_str_cmp(HOB_STR("b"), HOB_STR("a")) > 0);
    assert_true(hob_str_cmp(HOB_STR("a"), HOB_STR("ab")) < 0);
    assert_true(hob_str_cmp(HOB_STR("ab"), HOB_STR("a")) > 0);
    assert_true(hob_str_cmp(HOB_STR("\xff"), HOB_STR("a")) > 0);
    assert_int_equal(hob_str_cmp(HOB_STR_NULL, HOB_STR("")), 0);
}

static void test_base_str__knows_prefix_and_suffix(void **state) {
    (void)state;
    assert_true(hob_str_starts(HOB_STR("data: x"), HOB_STR("data:")));
    assert_false(hob_str_starts(HOB_STR("dat"), HOB_STR("data:")));
    assert_true(hob_str_starts(HOB_STR("x"), HOB_STR("")));
    assert_true(hob_str_ends(HOB_STR("a.json"), HOB_STR(".json")));
    assert_false(hob_str_ends(HOB_STR("json"), HOB_STR(".json")));
}

static void test_base_str__cuts_within_bounds(void **state) {
    (void)state;
    assert_str(hob_str_skip(HOB_STR("abc"), 1), "bc");
    assert_str(hob_str_skip(HOB_STR("abc"), 9), "");
    assert_str(hob_str_skip(HOB_STR_NULL, 9), "");
    assert_str(hob_str_first(HOB_STR("abc"), 2), "ab");
    assert_str(hob_str_first(HOB_STR("abc"), 9), "abc");
}

static void test_base_str__trims_ascii_space(void **state) {
    (void)state;
    assert_str(hob_str_trim(HOB_STR(" \t a b\r\n")), "a b");
    assert_str(hob_str_trim(HOB_STR("ab")), "ab");
    assert_str(hob_str_trim(HOB_STR(" \n ")), "");
    assert_str(hob_str_trim(HOB_STR_NULL), "");
}

static void test_base_str__finds(void **state) {
    (void)state;
    assert_int_equal(hob_str_find(HOB_STR("abcabc"), HOB_STR("ca")), 2);
    assert_int_equal(hob_str_find(HOB_STR("abc"), HOB_STR("abcd")), -1);
    assert_int_equal(hob_str_find(HOB_STR("abc"), HOB_STR("x")), -1);
    assert_int_equal(hob_str_find(HOB_STR_NULL, HOB_STR("")), 0);
    assert_int_equal(hob_str_chr(HOB_STR("a:b"), ':'), 1);
    assert_int_equal(hob_str_chr(HOB_STR("ab"), ':'), -1);
    assert_int_equal(hob_str_chr(HOB_STR_NULL, ':'), -1);
}

static void test_base_str__splits_every_part(void **state) {
    (void)state;
    static const char *const want[] = {"a", "", "bc", ""};
    hob_str rest = HOB_STR("a,,bc,"), part;
    size_t n = 0;
    while (hob_str_split(&rest, ',', &part)) {
        assert_true(n < HOB_ARRAY_LEN(want));
        assert_str(part, want[n++]);
    }
    assert_int_equal(n, HOB_ARRAY_LEN(want));
}

static void test_base_str__splits_an_empty_text_into_one_part(void **state) {
    (void)state;
    hob_str rest = HOB_STR(""), part;
    assert_true(hob_str_split(&rest, ',', &part));
    assert_str(part, "");
    assert_false(hob_str_split(&rest, ',', &part));
}

static void test_base_str__reads_whole_integers(void **state) {
    (void)state;
    static const struct {
        const char *text;
        int64_t value;
    } good[] = {
        {"0", 0},
        {"-0", 0},
        {"+7", 7},
        {"007", 7},
        {"9223372036854775807", INT64_MAX},
        {"-9223372036854775808", INT64_MIN},
    };
    for (size_t i = 0; i < HOB_ARRAY_LEN(good); i++) {
        int64_t v = 99;
        assert_int_equal(hob_str_int(hob_str_z(good[i].text), &v), HOB_OK);
        assert_true(v == good[i].value);
    }
}

static void test_base_str__refuses_what_is_no_integer(void **state) {
    (void)state;
    static const char *const bad[] = {
        "", "-", "+", " 1", "1 ", "1x", "0x1", "1.0", "9223372036854775808", "-9223372036854775809",
    };
    for (size_t i = 0; i < HOB_ARRAY_LEN(bad); i++) {
        int64_t v = 99;
        assert_int_equal(hob_str_int(hob_str_z(bad[i]), &v), HOB_EPARSE);
        assert_true(v == 99);
    }
}

/* The values of the FNV reference; they are stored in logs and may never change. */
static void test_base_str__hashes_with_fnv1a(void **state) {
    (void)state;
    assert_true(hob_str_hash(HOB_STR("")) == 0xcbf29ce484222325u);
    assert_true(hob_str_hash(HOB_STR("a")) == 0xaf63dc4c8601ec8cu);
    assert_true(hob_str_hash(HOB_STR("foobar")) == 0x85944171f73967e8u);
}

static const char *nearest(const char *word) {
    static const char *const names[] = {"model", "thinking", "session-id", "sandbox", "c"};
    return hob_str_nearest(hob_str_z(word), names, HOB_ARRAY_LEN(names));
}

static void test_base_str__suggests_the_nearest_name(void **state) {
    (void)state;
    assert_string_equal(nearest("modle"), "model");
    assert_string_equal(nearest("Model"), "model");
    assert_string_equal(nearest("thinkng"), "thinking");
    assert_string_equal(nearest("sesion_id"), "session-id");
    assert_string_equal(nearest("sandbox"), "sandbox");
}

static void test_base_str__suggests_nothing_far_away(void **state) {
    (void)state;
    assert_null(nearest("zebra"));
    assert_null(nearest(""));
    assert_null(nearest("x"));
    assert_null(nearest("madal")); /* two of five letters are no slip */
    char large[200];
    memset(large, 'm', sizeof(large) - 1);
    large[sizeof(large) - 1] = '\0';
    assert_null(nearest(large));
}

static void test_base_str__dupz_adds_the_nul(void **state) {
    (void)state;
    char *z = hob_dupz(hob_str_n("abcdef", 3));
    assert_string_equal(z, "abc");
    hob_free(z);
    z = hob_dupz(HOB_STR_NULL);
    assert_string_equal(z, "");
    hob_free(z);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_base_str__compares_bytes),
        cmocka_unit_test(test_base_str__ignores_ascii_case_only),
        cmocka_unit_test(test_base_str__orders_bytewise),
        cmocka_unit_test(test_base_str__knows_prefix_and_suffix),
        cmocka_unit_test(test_base_str__cuts_within_bounds),
        cmocka_unit_test(test_base_str__trims_ascii_space),
        cmocka_unit_test(test_base_str__finds),
        cmocka_unit_test(test_base_str__splits_every_part),
        cmocka_unit_test(test_base_str__splits_an_empty_text_into_one_part),
        cmocka_unit_test(test_base_str__reads_whole_integers),
        cmocka_unit_test(test_base_str__refuses_what_is_no_integer),
        cmocka_unit_test(test_base_str__hashes_with_fnv1a),
        cmocka_unit_test(test_base_str__suggests_the_nearest_name),
        cmocka_unit_test(test_base_str__suggests_nothing_far_away),
        cmocka_unit_test(test_base_str__dupz_adds_the_nul),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
