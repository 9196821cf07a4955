/* The words of a text, as memory finds it again. */
#include "log/words.h"
#include "support/check.h"

static void assert_words(const char *text, const char *expected) {
    hob_word_scan w;
    hob_str word;
    hob_buf got;
    hob_buf_init(&got, 1 << 20);
    hob_word_scan_init(&w, hob_str_z(text));
    while (hob_word_scan_next(&w, &word)) {
        if (got.n) hob_buf_addc(&got, ' ');
        hob_buf_add(&got, word);
    }
    assert_string_equal(hob_buf_z(&got), expected);
    hob_buf_finish(&got);
}

static void test_log_words__part_at_what_is_no_letter(void **state) {
    (void)state;
    assert_words("", "");
    assert_words(" -- !? \n", "");
    assert_words("one,two  three", "one two three");
    assert_words("src/main.c: foo_bar(7)", "src main c foo bar 7");
    assert_words("\"quoted\" AND (NOT x*) NEAR", "quoted and not x near");
}

static void test_log_words__case_and_accents_are_folded(void **state) {
    (void)state;
    assert_words("ZÜRICH Zürich zurich", "zurich zurich zurich");
    assert_words("CAFÉ cafe\xcc\x81", "cafe cafe");
    assert_words("ŁÓDŹ ÆON æon Œuvre", "lodz æon æon œuvre");
    assert_words("МОСКВА Ёлка", "москва елка");
    assert_words("ΑΘΗΝΑ Αθήνα λόγος ΛΟΓΟΣ", "αθηνα αθηνα λογοσ λογοσ");
    assert_words("ＡＢＣ１２", "abc12");
}

static void test_log_words__plurals_are_found_by_the_singular(void **state) {
    (void)state;
    assert_words("cats cat files", "cat cat file");
    assert_words("class status this bus 100s gas", "class status this bus 100s gas");
}

static void test_log_words__scripts_without_spaces_have_a_word_a_character(void **state) {
    (void)state;
    assert_words("我喜欢tea和咖啡。", "我 喜 欢 tea 和 咖 啡");
    assert_words("コーヒー", "コ ー ヒ ー");
    assert_words("커피를 좋아", "커 피 를 좋 아");
}

static void test_log_words__what_is_not_seen_does_not_part_words(void **state) {
    (void)state;
    assert_words("pass\xe2\x80\x8bword", "password");
    assert_words("hid\xf3\xa0\x81\x81"
                 "den",
                 "hidden");
    assert_words("\xef\xbb\xbfstart", "start");
}

static void test_log_words__broken_bytes_part_words(void **state) {
    (void)state;
    assert_words("a\xff"
                 "b\xc3",
                 "a b");
}

static void test_log_words__a_long_word_is_cut_at_a_whole_character(void **state) {
    (void)state;
    char text[400] = "", expected[100] = "";
    for (int i = 0; i < 100; i++) strncat(text, "ж", sizeof(text) - strlen(text) - 1);
    for (int i = 0; i < HOB_WORD_MAX / 2; i++) strcat(expected, "ж");
    assert_words(text, expected);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_log_words__part_at_what_is_no_letter),
        cmocka_unit_test(test_log_words__case_and_accents_are_folded),
        cmocka_unit_test(test_log_words__plurals_are_found_by_the_singular),
        cmocka_unit_test(test_log_words__scripts_without_spaces_have_a_word_a_character),
        cmocka_unit_test(test_log_words__what_is_not_seen_does_not_part_words),
        cmocka_unit_test(test_log_words__broken_bytes_part_words),
        cmocka_unit_test(test_log_words__a_long_word_is_cut_at_a_whole_character),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
