#include "support/check.h"
#include "tool/tool.h"

typedef struct row {
    size_t head, tail;
    const char *in, *out;
} row;

/* In one piece, and byte by byte. */
static void check_row(const row *w) {
    for (size_t step = strlen(w->in) + 1;; step = 1) {
        hob_capture c;
        hob_buf out;
        hob_buf_init(&out, 1 << 20);
        hob_capture_init(&c, w->head, w->tail);
        for (hob_str s = hob_str_z(w->in); s.n > 0;) {
            size_t n = HOB_MIN(step, s.n);
            hob_capture_add(&c, hob_str_first(s, n));
            s = hob_str_skip(s, n);
        }
        hob_capture_write(&c, &out);
        if (strcmp(hob_buf_z(&out), w->out))
            fail_msg("in %s:\ngot      %s\nexpected %s", w->in, hob_buf_z(&out), w->out);
        assert_int_equal(hob_capture_truncated(&c), strlen(w->in) > w->head + w->tail);
        hob_capture_finish(&c);
        hob_buf_finish(&out);
        if (step == 1) return;
    }
}

static void test_tool_capture__keeps_both_ends(void **state) {
    static const row rows[] = {
        {4, 4, "", ""},
        {4, 4, "abcd", "abcd"},
        {4, 4, "abcdefgh", "abcdefgh"},
        {4, 4, "abcdefghi", "abcd\n[… 1 bytes left out …]\nfghi"},
        {4, 4, "abcdefghijklmnopqrstuvwxyz", "abcd\n[… 18 bytes left out …]\nwxyz"},
        {0, 4, "abcdefgh", "[… 4 bytes left out …]\nefgh"},
        {4, 0, "abcdefgh", "abcd\n[… 4 bytes left out …]\n"},
    };
    (void)state;
    for (size_t i = 0; i < HOB_ARRAY_LEN(rows); i++) check_row(&rows[i]);
}

static void test_tool_capture__cuts_at_line_ends_that_are_near(void **state) {
    static const row rows[] = {
        {8, 8, "line 1\nxxxxxxxxxx\nline 9", "line 1\n[… 11 bytes left out …]\nline 9"},
        {8, 8, "l1\nxxxxxxxxxxxxxxxxxxxx\nl9", "l1\nxxxxx\n[… 10 bytes left out …]\nxxxxx\nl9"},
    };
    (void)state;
    for (size_t i = 0; i < HOB_ARRAY_LEN(rows); i++) check_row(&rows[i]);
}

static void test_tool_capture__never_cuts_a_character(void **state) {
    static const row rows[] = {
        /* four bytes each; the limits fall inside of one */
        {6, 6, "😀😀😀😀😀", "😀\n[… 12 bytes left out …]\n😀"},
        {5, 5, "ääääääää", "ää\n[… 8 bytes left out …]\nää"},
        /* a character across the border of head and tail, nothing left out */
        {3, 3, "a😀b", "a😀b"},
    };
    (void)state;
    for (size_t i = 0; i < HOB_ARRAY_LEN(rows); i++) check_row(&rows[i]);
}

static void test_tool_capture__repairs_what_is_not_utf8(void **state) {
    static const row rows[] = {
        {100, 100, "a\xff\xfe", "a\xEF\xBF\xBD\xEF\xBF\xBD"},
        {100, 100, "\xc3", "\xEF\xBF\xBD"},
    };
    hob_capture c;
    hob_buf out;
    (void)state;
    for (size_t i = 0; i < HOB_ARRAY_LEN(rows); i++) check_row(&rows[i]);
    hob_buf_init(&out, 100);
    hob_capture_init(&c, 10, 10);
    hob_capture_add(&c, HOB_STR("a\0b\0"));
    hob_capture_write(&c, &out);
    assert_str(hob_buf_str(&out), "a\xEF\xBF\xBD"
                                  "b\xEF\xBF\xBD");
    hob_capture_finish(&c);
    hob_buf_finish(&out);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tool_capture__keeps_both_ends),
        cmocka_unit_test(test_tool_capture__cuts_at_line_ends_that_are_near),
        cmocka_unit_test(test_tool_capture__never_cuts_a_character),
        cmocka_unit_test(test_tool_capture__repairs_what_is_not_utf8),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
