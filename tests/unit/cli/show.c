/* Text of others on a terminal: whatever it holds, no control character gets through (SEC-80). */
#include "cli/show.c"
#include "cli/out.c"
#include "cli/signals.c"

#include "support/check.h"

static const char *shown(hob_str s) {
    static hob_buf b;
    hob_buf_finish(&b);
    hob_buf_init(&b, 1u << 20);
    hob_show_text(&b, s);
    return hob_buf_z(&b);
}

static void test_cli_show__plain_text_newline_and_tab_stay(void **state) {
    (void)state;
    assert_string_equal(shown(HOB_STR("a\tb\nç 日 🙂")), "a\tb\nç 日 🙂");
}

static void test_cli_show__c0_and_delete_as_carets(void **state) {
    (void)state;
    assert_string_equal(shown(HOB_STR("\x1b[2J\a\r\x7f")), "^[[2J^G^M^?");
    assert_string_equal(shown(hob_str_n("\0", 1)), "^@");
}

static void test_cli_show__c1_and_broken_bytes_as_replacement(void **state) {
    (void)state;
    assert_string_equal(shown(HOB_STR("\xC2\x9B"
                                      "31m")),
                        "\xEF\xBF\xBD"
                        "31m");
    assert_string_equal(shown(HOB_STR("a\x9B\xFF")), "a\xEF\xBF\xBD\xEF\xBF\xBD");
}

static void test_cli_show__characters_that_turn_text_around(void **state) {
    (void)state;
    assert_string_equal(shown(HOB_STR("a\u202Eb\u2066c")), "a\xEF\xBF\xBD"
                                                           "b\xEF\xBF\xBD"
                                                           "c");
}

static void test_cli_show__characters_that_hide(void **state) {
    (void)state;
    assert_string_equal(shown(HOB_STR("r\u200Bm \U000E0041")), "r\xEF\xBF\xBDm \xEF\xBF\xBD");
    assert_string_equal(shown(HOB_STR("👩\u200D🔧 नी")), "👩\u200D🔧 नी");
}

/* Every byte, alone and after every other one. */
static void test_cli_show__no_pair_of_bytes_gets_through(void **state) {
    (void)state;
    for (int i = 0; i < 65536; i++) {
        char pair[2] = {(char)(i >> 8), (char)i};
        const char *out = shown(hob_str_n(pair, 2));
        assert_true(hob_utf8_valid(hob_str_z(out)));
        for (const unsigned char *p = (const unsigned char *)out; *p; p++) {
            bool plain = *p == '\n' || *p == '\t' || (*p >= 0x20 && *p != 0x7F);
            bool c1 = p[0] == 0xC2 && p[1] < 0xA0;
            if (!plain || c1) fail_msg("%02x %02x gets through", pair[0] & 255, pair[1] & 255);
        }
    }
}

static void test_cli_show__a_line_is_one_line(void **state) {
    (void)state;
    hob_buf b;
    hob_buf_init(&b, 1000);
    hob_show_line(&b, HOB_STR("  a\n\n b\tc   d"), 5);
    assert_str(hob_buf_str(&b), "a b c…");
    hob_buf_finish(&b);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cli_show__plain_text_newline_and_tab_stay),
        cmocka_unit_test(test_cli_show__c0_and_delete_as_carets),
        cmocka_unit_test(test_cli_show__c1_and_broken_bytes_as_replacement),
        cmocka_unit_test(test_cli_show__characters_that_turn_text_around),
        cmocka_unit_test(test_cli_show__characters_that_hide),
        cmocka_unit_test(test_cli_show__no_pair_of_bytes_gets_through),
        cmocka_unit_test(test_cli_show__a_line_is_one_line),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
