/*
 * What the strict reader accepts and refuses. The cases follow the classes of the JSONTestSuite:
 * y_ must be accepted, n_ must be refused; where RFC 8259 leaves it open (i_) ours is written down.
 */
#include "base/json.h"
#include "base/json_scan.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
typedef struct text {
    const char *p;
    size_t n;
} text;

#define T(literal)                                                                                 \
    { literal, sizeof(literal) - 1 }

static const text accepted[] = {
    /* arrays */
    T("[[]   ]"),
    T("[\"\"]"),
    T("[]"),
    T("[\"a\"]"),
    T("[false]"),
    T("[null, 1, \"1\", {}]"),
    T("[null]"),
    T("[1\n]"),
    T(" [1]"),
    T("[1,null,null,null,2]"),
    T("[2] "),
    /* numbers */
    T("[123e65]"),
    T("[0e+1]"),
    T("[0e1]"),
    T("[ 4]"),
    T("[-0.000000000000000000000000000001]"),
    T("[20e1]"),
    T("[-0]"),
    T("[-123]"),
    T("[-1]"),
    T("[1E22]"),
    T("[1E-2]"),
    T("[1E+2]"),
    T("[123e45]"),
    T("[123.456e78]"),
    T("[1e-2]"),
    T("[1e+2]"),
    T("[123]"),
    T("[123.456789]"),
    T("[0]"),
    T("[0.5]"),
    T("[-0.0]"),
    T("[1e0]"),
    T("[0E0]"),
    /* objects */
    T("{\"asd\":\"sdf\", \"dfg\":\"fgh\"}"),
    T("{\"asd\":\"sdf\"}"),
    T("{\"a\":\"b\",\"a\":\"c\"}"),
    T("{\"a\":\"b\",\"a\":\"b\"}"),
    T("{}"),
    T("{\"\":0}"),
    T("{\"foo\\u0000bar\": 42}"),
    T("{ \"min\": -1.0e+28, \"max\": 1.0e+28 }"),
    T("{\"x\":[{\"id\": \"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\"}], \"id\": \"x\"}"),
    T("{\"a\":[]}"),
    T("{\"title\":\"\\u041f\\u043e\\u043b\\u0442\\u043e\\u0440\\u0430\" }"),
    T("{\n\"a\": \"b\"\n}"),
    /* strings */
    T("[\"\\u0060\\u012a\\u12AB\"]"),
    T("[\"\\uD801\\udc37\"]"),
    T("[\"\\ud83d\\ude39\\ud83d\\udc8d\"]"),
    T("[\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"]"),
    T("[\"\\\\u0000\"]"),
    T("[\"\\\"\"]"),
    T("[\"a/*b*/c/*d//e\"]"),
    T("[\"\\\\a\"]"),
    T("[\"\\\\n\"]"),
    T("[\"\\u0012\"]"),
    T("[\"\\uFFFF\"]"),
    T("[\"asd\"]"),
    T("[ \"asd\"]"),
    T("[\"\\uDBFF\\uDFFF\"]"),
    T("[\"new\\u00A0line\"]"),
    T("[\"\xf4\x8f\xbf\xbf\"]"),
    T("[\"\xef\xbf\xbf\"]"),
    T("[\"\\u0000\"]"),
    T("[\"\\u002c\"]"),
    T("[\"\xcf\x80\"]"),
    T("[\"\xf0\x9b\xbf\xbf\"]"),
    T("[\"asd \"]"),
    T("\" \""),
    T("[\"\\uD834\\uDd1e\"]"),
    T("[\"\\u0821\"]"),
    T("[\"\\u0123\"]"),
    T("[\"\xe2\x80\xa8\"]"),
    T("[\"\xe2\x80\xa9\"]"),
    T("[\"\\u0061\\u30af\\u30EA\\u30b9\"]"),
    T("[\"new\\u000Aline\"]"),
    T("[\"\x7f\"]"),
    T("[\"\\uA66D\"]"),
    T("[\"\\u005C\"]"),
    T("[\"\xe2\x8d\x82\xe3\x88\xb4\"]"),
    T("[\"\\u200B\"]"),
    T("[\"\\u2064\"]"),
    T("[\"\\uFDD0\"]"),
    T("[\"\\uFFFE\"]"),
    T("[\"\\u0022\"]"),
    T("[\"\xe2\x82\xac\xf0\x9d\x84\x9e\"]"),
    T("[\"a\x7f"
      "a\"]"),
    T("[\"\\uDBFF\\uDFFE\"]"),
    /* alone, and white space */
    T("false"),
    T("42"),
    T("-0.1"),
    T("null"),
    T("\"asd\""),
    T("true"),
    T("\"\""),
    T("[\"a\"]\n"),
    T("[true]"),
    T(" [] "),
    T(" \t\r\n[\t\r\n 1\r ,\t2 ]\r\n\t "),
    /* left open by the RFC: lone surrogates and numbers beyond any machine are text */
    T("[\"\\uDADA\"]"),
    T("[\"\\uD888\\u1234\"]"),
    T("[\"\\uD800\\n\"]"),
    T("[\"\\uDd1ea\"]"),
    T("[\"\\uD800\\uD800\\n\"]"),
    T("[\"\\ud800abc\"]"),
    T("[\"\\uDd1e\\uD834\"]"),
    T("[\"\\uDFAA\"]"),
    T("[1e400]"),
    T("[-1e9999]"),
    T("[1e-999999999999]"),
    T("[0.4e00669999999999999999999969999]"),
    T("[123123e100000]"),
    T("[100000000000000000000]"),
    T("[-237462374673276894279832749832423479]"),
};

static const text refused[] = {
    /* arrays */
    T("[1 true]"),
    T("[a\xe5]"),
    T("[\"\": 1]"),
    T("[\"\"],"),
    T("[,1]"),
    T("[1,,2]"),
    T("[\"x\",,]"),
    T("[\"x\"]]"),
    T("[\"\",]"),
    T("[\"x\""),
    T("[x"),
    T("[3[4]]"),
    T("[\xff]"),
    T("[1:2]"),
    T("[,]"),
    T("[-]"),
    T("[   , \"\"]"),
    T("[\"a\",\n4\n,1,"),
    T("[1,]"),
    T("[1,,]"),
    T("[\"\va\"\\f]"),
    T("[*]"),
    T("[\"\""),
    T("[1,"),
    T("[1,\n1\n,1"),
    T("[{}"),
    T("["),
    T("]"),
    T("[fals]"),
    T("[nul]"),
    T("[tru]"),
    T("[True]"),
    T("[NULL]"),
    T("[falsey]"),
    /* numbers */
    T("123\0"),
    T("[++1234]"),
    T("[+1]"),
    T("[+Inf]"),
    T("[-01]"),
    T("[-1.0.]"),
    T("[-2.]"),
    T("[-NaN]"),
    T("[.-1]"),
    T("[.2e-3]"),
    T("[0.1.2]"),
    T("[0.3e+]"),
    T("[0.3e]"),
    T("[0.e1]"),
    T("[0E+]"),
    T("[0E]"),
    T("[0e+]"),
    T("[0e]"),
    T("[1.0e+]"),
    T("[1.0e-]"),
    T("[1.0e]"),
    T("[1 000.0]"),
    T("[1eE2]"),
    T("[2.e+3]"),
    T("[2.e-3]"),
    T("[2.e3]"),
    T("[9.e+]"),
    T("[Inf]"),
    T("[NaN]"),
    T("[\xef\xbc\x91]"),
    T("[1+2]"),
    T("[0x1]"),
    T("[0x42]"),
    T("[Infinity]"),
    T("[0e+-1]"),
    T("[-123.123foo]"),
    T("[123\xe5]"),
    T("[1e1\xe5]"),
    T("[0\xe5]"),
    T("[-Infinity]"),
    T("[-foo]"),
    T("[- 1]"),
    T("[-012]"),
    T("[-.123]"),
    T("[-1x]"),
    T("[1ea]"),
    T("[1e\xe5]"),
    T("[1.]"),
    T("[.123]"),
    T("[1.2a-3]"),
    T("[1.8011670033376514H-308]"),
    T("[012]"),
    T("[00]"),
    T("[-00]"),
    T("-"),
    T("1."),
    T("1e"),
    T("[1_000]"),
    T("[1,2.3.4]"),
    /* objects */
    T("[\"x\", truth]"),
    T("{[: \"x\"}\n"),
    T("{\"x\", null}"),
    T("{\"x\"::\"b\"}"),
    T("{\xf0\x9f\x87\xa8\xf0\x9f\x87\xad}"),
    T("{\"a\":\"a\" 123}"),
    T("{key: 'value'}"),
    T("{\"\xb9\":\"0\",}"),
    T("{\"a\" b}"),
    T("{:\"b\"}"),
    T("{\"a\" \"b\"}"),
    T("{\"a\":"),
    T("{\"a\""),
    T("{1:1}"),
    T("{9999E9999:1}"),
    T("{null:null,null:null}"),
    T("{\"id\":0,,,,,}"),
    T("{'a':0}"),
    T("{\"id\":0,}"),
    T("{\"a\":\"b\"}/**/"),
    T("{\"a\":\"b\"}/**//"),
    T("{\"a\":\"b\"}//"),
    T("{\"a\":\"b\"}/"),
    T("{\"a\":\"b\",,\"c\":\"d\"}"),
    T("{a: \"b\"}"),
    T("{\"a\":\"a"),
    T("{ \"foo\" : \"bar\", \"a\" }"),
    T("{\"a\":\"b\"}#"),
    T("{\"a\":1]"),
    T("[1}"),
    T("{\"a\":}"),
    T("{,}"),
    T("{\"a\":1,}"),
    T("{"),
    T("}"),
    T("{\"a\":1 \"b\":2}"),
    /* strings */
    T(" "),
    T(""),
    T("[\"\\uD800\\\"]"),
    T("[\"\\uD800\\u\"]"),
    T("[\"\\uD800\\u1\"]"),
    T("[\"\\uD800\\u1x\"]"),
    T("[\xc3\xa9]"),
    T("[\"\\\0\"]"),
    T("[\"\\\\\\\"]"),
    T("[\"\\x00\"]"),
    T("[\"\\\t\"]"),
    T("[\"\\\xf0\x9f\x8c\x80\"]"),
    T("[\"\\\"]"),
    T("[\"\\u00A\"]"),
    T("[\"\\uD834\\uDd\"]"),
    T("[\"\\uD800\\uD800\\x\"]"),
    T("[\"\\u\xe5\"]"),
    T("[\"\\a\"]"),
    T("[\"\\uqqqq\"]"),
    T("[\"\\\xe5\"]"),
    T("[\\u0020\"asd\"]"),
    T("[\\n]"),
    T("\""),
    T("['x']"),
    T("abc"),
    T("[\"\\"),
    T("[\"a\0a\"]"),
    T("[\"new\nline\"]"),
    T("[\"\t\"]"),
    T("[\"\x1f\"]"),
    T("\"\\UA66D\""),
    T("\"\"x"),
    T("\"abc"),
    T("\"\\u12"),
    T("[\"\\u 123\"]"),
    T("[\"\\v\"]"),
    /* UTF-8 inside strings */
    T("[\"\xff\"]"),
    T("[\"\xe0\xff\"]"),
    T("[\"\xfc\x80\x80\x80\x80\x80\"]"),
    T("[\"\xc0\xaf\"]"),
    T("[\"\xfc\x83\xbf\xbf\xbf\xbf\"]"),
    T("[\"\x81\"]"),
    T("[\"\xe9\"]"),
    T("[\"\xf4\xbf\xbf\xbf\"]"),
    T("[\"\xed\xa0\x80\"]"),
    T("[\"\xc3\"]"),
    T("{\"\xed\xbf\xbf\":1}"),
    T("[\"aaaaaaaaaaaaaaaaaaaaa\xe2\x82\"]"),
    /* the rest */
    T("<.>"),
    T("[<null>]"),
    T("[1]x"),
    T("[1]]"),
    T("[\"asd]"),
    T("a\xc3\xa5"),
    T("[True]"),
    T("1]"),
    T("{\"x\": true,"),
    T("[][]"),
    T("{}}"),
    T("2@"),
    T("{\"\":"),
    T("{\"a\":/*comment*/\"b\"}"),
    T("{\"a\": true} \"x\""),
    T("['"),
    T("[,"),
    T("[{"),
    T("[\"a"),
    T("[\"a\""),
    T("{{"),
    T("{,"),
    T("{'a'"),
    T("*"),
    T("[\f1]"),
    T("[\v1]"),
    T("[\xc2\xa0]"),
    T("[\xe2\x81\xa0]"),
    T("[\\u000A\"\"]"),
    T("[1"),
    T("[ false, nul"),
    T("[ true, fals"),
    T("[ false, tru"),
    T("{\"asd\":\"asd\""),
    T("//\n1"),
    T("\xef\xbb\xbf{}"),
    T("\xef\xbb\xbf"),
    T("\xef\xbb"),
    T("\xff\xfe[\0]\0"),
    T("\0[\0]"),
    T("[\0]"),
    T("[]\0"),
    T("\x1a"),
    T("\xe5"),
    T("nan"),
    T("undefined"),
    T("[nullnull]"),
};

static int parse(const text *t, hob_error *err) {
    hob_arena *a = hob_arena_create(0);
    const hob_json *v = NULL;
    /* An exact heap copy, so that reading one byte too many is seen by ASan. */
    char *copy = hob_alloc(t->n);
    memcpy(copy, t->p, t->n);
    int r = hob_json_parse(a, hob_str_n(copy, t->n), NULL, &v, err);
    assert_int_equal(hob_json_valid(hob_str_n(copy, t->n)), r == HOB_OK);
    assert_int_equal(v != NULL, r == HOB_OK);
    hob_free(copy);
    hob_arena_destroy(a);
    return r;
}

static void test_base_json_grammar__accepts_every_valid_text(void **state) {
    (void)state;
    for (size_t i = 0; i < HOB_ARRAY_LEN(accepted); i++) {
        hob_error e = {0};
        if (parse(&accepted[i], &e) != HOB_OK) {
            fail_msg("refused: %.*s: %s", (int)accepted[i].n, accepted[i].p, e.message);
        }
    }
}

static void test_base_json_grammar__refuses_every_invalid_text(void **state) {
    (void)state;
    for (size_t i = 0; i < HOB_ARRAY_LEN(refused); i++) {
        hob_error e = {0};
        if (parse(&refused[i], &e) != HOB_EPARSE) {
            fail_msg("accepted: %.*s", (int)refused[i].n, refused[i].p);
        }
        assert_true(hob_str_starts(hob_str_z(e.message), HOB_STR("line ")));
        assert_int_equal(e.code, HOB_EPARSE);
    }
}

/* Each control character has to be escaped, and each byte of the first 128 alone is or is not
 * white space, a digit, the start of something. */
static void test_base_json_grammar__refuses_raw_control_characters(void **state) {
    (void)state;
    for (int c = 0; c < 0x80; c++) {
        char in_string[] = {'"', 'a', (char)c, 'b', '"'};
        bool ok = c >= 0x20 && c != '"' && c != '\\';
        assert_int_equal(hob_json_valid(hob_str_n(in_string, 5)), ok || c == '\\');
        char in_long_string[48];
        memset(in_long_string, 'x', sizeof(in_long_string));
        in_long_string[0] = in_long_string[47] = '"';
        in_long_string[9] = (char)c;
        assert_int_equal(hob_json_valid(hob_str_n(in_long_string, 48)), ok);
        char before[] = {(char)c, '1'};
        ok = strchr(" \t\r\n-123456789", c) && c != 0;
        assert_int_equal(hob_json_valid(hob_str_n(before, 2)), ok);
    }
}

/* Long enough for the vector registers: every byte at every place, in both forms of the scan. */
static void test_base_json_grammar__scans_alike_with_and_without_vectors(void **state) {
    (void)state;
    for (size_t at = 0; at < 50; at++) {
        for (int c = 0; c < 256; c++) {
            char bytes[50];
            memset(bytes, 'x', sizeof(bytes));
            bytes[at] = (char)c;
            bool special = c < 0x20 || c >= 0x80 || c == '"' || c == '\\';
            const char *want = bytes + (special ? at : sizeof(bytes));
            assert_ptr_equal(hob_scan_plain(bytes, bytes + sizeof(bytes)), want);
            assert_ptr_equal(hob_scan_plain_portable(bytes, bytes + sizeof(bytes)), want);
        }
    }
}

static void test_base_json_grammar__knows_exactly_the_short_escapes(void **state) {
    (void)state;
    for (int c = 0; c < 256; c++) {
        char escape[] = {'"', '\\', (char)c, ' ', '"'};
        bool ok = c != 0 && c < 0x80 && strchr("\"\\/bfnrt", c);
        assert_int_equal(hob_json_valid(hob_str_n(escape, 5)), ok);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_base_json_grammar__accepts_every_valid_text),
        cmocka_unit_test(test_base_json_grammar__refuses_every_invalid_text),
        cmocka_unit_test(test_base_json_grammar__refuses_raw_control_characters),
        cmocka_unit_test(test_base_json_grammar__scans_alike_with_and_without_vectors),
        cmocka_unit_test(test_base_json_grammar__knows_exactly_the_short_escapes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
