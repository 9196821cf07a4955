/* The writer: commas, escapes, sticky errors, round trips. */
#include "base/json.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include "support/json_tree.h"
#include <cmocka.h>

#include <math.h>

static void test_base_json_write__puts_commas_and_colons(void **state) {
    (void)state;
    hob_buf b;
    hob_jsonw w;
    hob_buf_init(&b, 1000);
    hob_jsonw_init(&w, &b);
    hob_jsonw_object(&w);
    hob_jsonw_kstr(&w, "s", HOB_STR("x"));
    hob_jsonw_kstr_opt(&w, "none", HOB_STR(""));
    hob_jsonw_kstr_opt(&w, "some", HOB_STR("y"));
    hob_jsonw_kint(&w, "i", INT64_MIN);
    hob_jsonw_kbool(&w, "t", true);
    hob_jsonw_kraw(&w, "r", HOB_STR("[1, 2]"));
    hob_jsonw_kraw(&w, "e", HOB_STR(""));
    hob_jsonw_key(&w, "a");
    hob_jsonw_array(&w);
    hob_jsonw_array(&w);
    hob_jsonw_array_end(&w);
    hob_jsonw_object(&w);
    hob_jsonw_object_end(&w);
    hob_jsonw_int(&w, INT64_MAX);
    hob_jsonw_int(&w, 0);
    hob_jsonw_double(&w, 0.5);
    hob_jsonw_double(&w, NAN);
    hob_jsonw_double(&w, -INFINITY);
    hob_jsonw_null(&w);
    hob_jsonw_bool(&w, false);
    hob_jsonw_array_end(&w);
    hob_jsonw_key_n(&w, hob_str_n("k\0", 2));
    hob_jsonw_str(&w, HOB_STR_NULL);
    hob_jsonw_object_end(&w);
    assert_string_equal(hob_buf_z(&b),
                        "{\"s\":\"x\",\"some\":\"y\",\"i\":-9223372036854775808,\"t\":true,"
                        "\"r\":[1, 2],\"e\":null,\"a\":[[],{},9223372036854775807,0,0.5,null,null,"
                        "null,false],\"k\\u0000\":\"\"}");
    assert_true(hob_json_valid(hob_buf_str(&b)));
    hob_buf_finish(&b);
}

static void test_base_json_write__values_side_by_side_have_no_comma(void **state) {
    (void)state;
    hob_buf b;
    hob_jsonw w;
    hob_buf_init(&b, 1000);
    hob_jsonw_init(&w, &b);
    hob_jsonw_object(&w);
    hob_jsonw_object_end(&w);
    hob_buf_addc(&b, '\n');
    hob_jsonw_array(&w);
    hob_jsonw_array_end(&w);
    assert_string_equal(hob_buf_z(&b), "{}\n[]");
    hob_buf_finish(&b);
}

/* More levels than a machine word has bits. */
static void test_base_json_write__nests_without_limit(void **state) {
    (void)state;
    hob_buf b;
    hob_jsonw w;
    hob_buf_init(&b, 10000);
    hob_jsonw_init(&w, &b);
    for (int i = 0; i < 100; i++) {
        hob_jsonw_array(&w);
        hob_jsonw_int(&w, 1);
    }
    for (int i = 0; i < 100; i++) {
        hob_jsonw_array_end(&w);
        if (i < 99) hob_jsonw_int(&w, 2);
    }
    assert_true(hob_json_valid(hob_buf_str(&b)));
    assert_int_equal(b.n, 200 + 199 + 198); /* brackets, numbers, commas */
    hob_buf_finish(&b);
}

static void assert_quoted(hob_str s, const char *want) {
    hob_buf b;
    hob_buf_init(&b, 10000);
    assert_int_equal(hob_json_quote(&b, s), HOB_OK);
    assert_string_equal(hob_buf_z(&b), want);
    hob_buf_finish(&b);
}

static void test_base_json_write__escapes_only_what_it_must(void **state) {
    (void)state;
    assert_quoted(HOB_STR(""), "\"\"");
    assert_quoted(HOB_STR_NULL, "\"\"");
    assert_quoted(HOB_STR("a\"b\\c/d"), "\"a\\\"b\\\\c/d\"");
    assert_quoted(HOB_STR("\b\f\n\r\t"), "\"\\b\\f\\n\\r\\t\"");
    assert_quoted(hob_str_n("\0\x01\x1f\x7f", 4), "\"\\u0000\\u0001\\u001f\x7f\"");
    assert_quoted(HOB_STR("caf\xc3\xa9 \xf0\x9f\x98\x80"), "\"caf\xc3\xa9 \xf0\x9f\x98\x80\"");
}

static void test_base_json_write__repairs_invalid_utf8(void **state) {
    (void)state;
    assert_quoted(HOB_STR("a\xff"
                          "b"),
                  "\"a\xef\xbf\xbd"
                  "b\"");
    assert_quoted(HOB_STR("\xc3\xa9\xe2\x82"), "\"\xc3\xa9\xef\xbf\xbd\"");
    assert_quoted(HOB_STR("\xed\xa0\x80\n"), "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\\n\"");
}

/* Every byte, at every distance from the start, so that all paths of the scan are met. */
static void test_base_json_write__quotes_every_byte_everywhere(void **state) {
    (void)state;
    hob_arena *a = hob_arena_create(0);
    hob_buf b;
    hob_buf_init(&b, 1000);
    for (size_t at = 0; at < 40; at++) {
        for (int c = 0; c < 0x80; c++) {
            char text[40];
            memset(text, 'x', sizeof(text));
            text[at] = (char)c;
            hob_buf_reset(&b);
            hob_arena_reset(a);
            hob_json_quote(&b, hob_str_n(text, sizeof(text)));
            const hob_json *v = NULL;
            assert_int_equal(hob_json_parse(a, hob_buf_str(&b), NULL, &v, NULL), HOB_OK);
            assert_true(hob_str_eq(hob_json_str(v), hob_str_n(text, sizeof(text))));
        }
    }
    hob_buf_finish(&b);
    hob_arena_destroy(a);
}

static const char document[] =
    "{\"a\":[1,2.50,-0,1e400,true,false,null,\"\\\"\\\\\\n\xc3\xa9\"],\"\":{},\"a\":{\"b\":[[]]}}";

static void test_base_json_write__rewrites_what_was_read(void **state) {
    (void)state;
    hob_arena *a = hob_arena_create(0);
    const hob_json *v = NULL, *again = NULL;
    assert_int_equal(hob_json_parse(a, hob_str_z(document), NULL, &v, NULL), HOB_OK);
    hob_buf b;
    hob_jsonw w;
    hob_buf_init(&b, 1000);
    hob_jsonw_init(&w, &b);
    tree_write(&w, v);
    assert_string_equal(hob_buf_z(&b), document);
    assert_int_equal(hob_json_parse(a, hob_buf_str(&b), NULL, &again, NULL), HOB_OK);
    assert_true(tree_equal(v, again));
    hob_buf_finish(&b);
    hob_arena_destroy(a);
}

/* A full buffer stops everything, is seen once at the end, and never holds more than its ceiling. */
static void test_base_json_write__errors_stick_in_the_buffer(void **state) {
    (void)state;
    hob_arena *a = hob_arena_create(0);
    const hob_json *v = NULL;
    assert_int_equal(hob_json_parse(a, hob_str_z(document), NULL, &v, NULL), HOB_OK);
    for (size_t max = 0; max <= sizeof(document); max++) {
        hob_buf b;
        hob_jsonw w;
        hob_buf_init(&b, max);
        hob_jsonw_init(&w, &b);
        tree_write(&w, v);
        assert_int_equal(b.err, max < sizeof(document) - 1 ? HOB_ETOOBIG : HOB_OK);
        assert_true(b.n <= max);
        hob_buf_finish(&b);
    }
    hob_arena_destroy(a);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_base_json_write__puts_commas_and_colons),
        cmocka_unit_test(test_base_json_write__values_side_by_side_have_no_comma),
        cmocka_unit_test(test_base_json_write__nests_without_limit),
        cmocka_unit_test(test_base_json_write__escapes_only_what_it_must),
        cmocka_unit_test(test_base_json_write__repairs_invalid_utf8),
        cmocka_unit_test(test_base_json_write__quotes_every_byte_everywhere),
        cmocka_unit_test(test_base_json_write__rewrites_what_was_read),
        cmocka_unit_test(test_base_json_write__errors_stick_in_the_buffer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
