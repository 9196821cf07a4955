/* UTF-8: what is valid, cutting between characters, repair. */
#include "base/base.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
static void test_base_utf8__accepts_the_edges_of_every_range(void **state) {
    (void)state;
    static const char *const good[] = {
        "",
        "plain ASCII, longer than one machine word",
        "\x7f",
        "\xc2\x80",         /* U+0080 */
        "\xdf\xbf",         /* U+07FF */
        "\xe0\xa0\x80",     /* U+0800 */
        "\xed\x9f\xbf",     /* U+D7FF */
        "\xee\x80\x80",     /* U+E000 */
        "\xef\xbf\xbf",     /* U+FFFF */
        "\xf0\x90\x80\x80", /* U+10000 */
        "\xf4\x8f\xbf\xbf", /* U+10FFFF */
        "\xef\xbb\xbf",     /* the byte order mark is a character */
        "ascii ascii \xc3\xa9 ascii ascii \xf0\x9f\x98\x80 ascii",
    };
    for (size_t i = 0; i < HOB_ARRAY_LEN(good); i++) {
        assert_true(hob_utf8_valid(hob_str_z(good[i])));
    }
    assert_true(hob_utf8_valid(hob_str_n("\0", 1)));
    assert_true(hob_utf8_valid(HOB_STR_NULL));
}

static const char *const bad[] = {
    "\x80",                 /* continuation alone */
    "\xbf",                 /* */
    "\xc0\x80",             /* overlong NUL */
    "\xc1\xbf",             /* overlong U+007F */
    "\xe0\x80\x80",         /* overlong in three */
    "\xe0\x9f\xbf",         /* overlong U+07FF */
    "\xf0\x80\x80\x80",     /* overlong in four */
    "\xf0\x8f\xbf\xbf",     /* overlong U+FFFF */
    "\xed\xa0\x80",         /* U+D800 */
    "\xed\xbf\xbf",         /* U+DFFF */
    "\xf4\x90\x80\x80",     /* U+110000 */
    "\xf5\x80\x80\x80",     /* */
    "\xf8\x88\x80\x80\x80", /* five bytes */
    "\xfe",                 /* */
    "\xff",                 /* */
    "\xc3",                 /* cut */
    "\xe2\x82",             /* */
    "\xf0\x9f\x98",         /* */
    "\xc3(",                /* broken off by ASCII */
    "\xe2\x82(",            /* */
    "\xe2(\xa1",            /* */
    "\xf0\x9f\x98(",        /* */
};

static void test_base_utf8__refuses_overlong_surrogate_and_cut(void **state) {
    (void)state;
    for (size_t i = 0; i < HOB_ARRAY_LEN(bad); i++) {
        assert_false(hob_utf8_valid(hob_str_z(bad[i])));
        hob_buf b;
        hob_buf_init(&b, 100);
        hob_buf_addz(&b, "some text before ");
        hob_buf_addz(&b, bad[i]);
        hob_buf_addz(&b, " and some behind");
        assert_false(hob_utf8_valid(hob_buf_str(&b)));
        hob_buf_finish(&b);
    }
}

static void test_base_utf8__accepts_exactly_the_scalar_values(void **state) {
    (void)state;
    for (uint32_t cp = 0; cp < 0x120000; cp++) {
        bool scalar = cp < 0xd800 || (cp > 0xdfff && cp < 0x110000);
        char text[4];
        size_t n = hob_utf8_put(text, cp), at = 0;
        assert_true(hob_utf8_valid(hob_str_n(text, n)));
        uint32_t back = hob_utf8_next(hob_str_n(text, n), &at);
        if (back != (scalar ? cp : 0xfffd) || at != n) fail_msg("U+%04X", cp);
    }
}

static void test_base_utf8__prefix_cuts_between_characters(void **state) {
    (void)state;
    hob_str s = HOB_STR("a\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80z"); /* 1 2 3 4 1 bytes */
    static const size_t want[] = {0, 1, 1, 3, 3, 3, 6, 6, 6, 6, 10, 11, 11};
    for (size_t max = 0; max < HOB_ARRAY_LEN(want); max++) {
        assert_int_equal(hob_utf8_prefix(s, max), want[max]);
    }
}

static void test_base_utf8__suffix_cuts_between_characters(void **state) {
    (void)state;
    hob_str s = HOB_STR("a\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80z");
    static const size_t want[] = {0, 1, 1, 1, 1, 5, 5, 5, 8, 8, 10, 11, 11};
    for (size_t max = 0; max < HOB_ARRAY_LEN(want); max++) {
        assert_int_equal(hob_utf8_suffix(s, max), want[max]);
    }
}

/* Broken text has no characters to keep together; nothing is lost that need not be. */
static void test_base_utf8__cuts_broken_text_anywhere(void **state) {
    (void)state;
    hob_str s = HOB_STR("\x80\x80\x80\x80\x80\x80");
    for (size_t max = 0; max <= s.n; max++) {
        assert_int_equal(hob_utf8_prefix(s, max), max);
        assert_int_equal(hob_utf8_suffix(s, max), max);
    }
    s = HOB_STR("a\xc3\xa9\x80"); /* a whole character, then a stray byte */
    assert_int_equal(hob_utf8_prefix(s, 3), 3);
    assert_int_equal(hob_utf8_suffix(s, 1), 1);
}

static void test_base_utf8__complete_holds_back_a_cut_character(void **state) {
    (void)state;
    hob_str s = HOB_STR("ab\xf0\x9f\x98\x80");
    static const size_t want[] = {0, 1, 2, 2, 2, 2, 6};
    for (size_t n = 0; n < HOB_ARRAY_LEN(want); n++) {
        assert_int_equal(hob_utf8_complete(hob_str_first(s, n)), want[n]);
    }
    assert_int_equal(hob_utf8_complete(HOB_STR("a\xff")), 2); /* wrong, but not unfinished */
    assert_int_equal(hob_utf8_complete(HOB_STR("a\xe0\x80")), 3);
    assert_int_equal(hob_utf8_complete(HOB_STR("\x80\x80\x80\x80")), 4);
}

static void assert_repaired(const char *from, const char *want) {
    hob_buf b;
    hob_buf_init(&b, 1000);
    assert_int_equal(hob_utf8_repair(&b, hob_str_z(from)), HOB_OK);
    assert_string_equal(hob_buf_z(&b), want);
    hob_buf_finish(&b);
}

#define FFFD "\xef\xbf\xbd"

/* One U+FFFD for the longest start of a character, as Unicode and the web do. */
static void test_base_utf8__repairs_each_broken_part_once(void **state) {
    (void)state;
    assert_repaired("good \xc3\xa9", "good \xc3\xa9");
    assert_repaired("a\xff"
                    "b",
                    "a" FFFD "b");
    assert_repaired("\xff\xfe", FFFD FFFD);
    assert_repaired("a\xe2\x82", "a" FFFD);
    assert_repaired("\xe2\x82(", FFFD "(");
    assert_repaired("\xf0\x9f\x98\xc3\xa9", FFFD "\xc3\xa9");
    assert_repaired("\xed\xa0\x80", FFFD FFFD FFFD);
    assert_repaired("\xc0\xaf", FFFD FFFD);
    assert_repaired("", "");
}

static void test_base_utf8__repair_makes_anything_valid(void **state) {
    (void)state;
    for (size_t i = 0; i < HOB_ARRAY_LEN(bad); i++) {
        hob_buf b;
        hob_buf_init(&b, 100);
        hob_utf8_repair(&b, hob_str_z(bad[i]));
        assert_true(hob_utf8_valid(hob_buf_str(&b)));
        assert_true(b.n >= 3);
        hob_buf_finish(&b);
    }
}

static void test_base_utf8__repair_reports_a_full_buffer(void **state) {
    (void)state;
    hob_buf b;
    hob_buf_init(&b, 4);
    assert_int_equal(hob_utf8_repair(&b, HOB_STR("ab\xff")), HOB_ETOOBIG);
    hob_buf_finish(&b);
}

static void test_base_utf8__next_moves_by_one_over_broken_bytes(void **state) {
    (void)state;
    hob_str s = HOB_STR("a\xe2\x82"
                        "b\xe2\x82\xac");
    static const uint32_t want[] = {'a', 0xfffd, 0xfffd, 'b', 0x20ac};
    size_t at = 0;
    for (size_t i = 0; i < HOB_ARRAY_LEN(want); i++) {
        assert_int_equal(hob_utf8_next(s, &at), want[i]);
    }
    assert_int_equal(at, s.n);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_base_utf8__accepts_the_edges_of_every_range),
        cmocka_unit_test(test_base_utf8__refuses_overlong_surrogate_and_cut),
        cmocka_unit_test(test_base_utf8__accepts_exactly_the_scalar_values),
        cmocka_unit_test(test_base_utf8__prefix_cuts_between_characters),
        cmocka_unit_test(test_base_utf8__suffix_cuts_between_characters),
        cmocka_unit_test(test_base_utf8__cuts_broken_text_anywhere),
        cmocka_unit_test(test_base_utf8__complete_holds_back_a_cut_character),
        cmocka_unit_test(test_base_utf8__repairs_each_broken_part_once),
        cmocka_unit_test(test_base_utf8__repair_makes_anything_valid),
        cmocka_unit_test(test_base_utf8__repair_reports_a_full_buffer),
        cmocka_unit_test(test_base_utf8__next_moves_by_one_over_broken_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
