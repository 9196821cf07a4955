/* What values say about themselves: types, decoded strings, raw slices, look-ups, error places. */
#include "base/json.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>

static int set_up(void **state) {
    *state = hob_arena_create(0);
    return 0;
}

static int tear_down(void **state) {
    hob_arena_destroy(*state);
    return 0;
}

static const hob_json *read_n(void **state, hob_str text) {
    const hob_json *v = NULL;
    hob_error e = {0};
    if (hob_json_parse(*state, text, NULL, &v, &e) != HOB_OK) fail_msg("%s", e.message);
    return v;
}

static const hob_json *read_z(void **state, const char *text) {
    return read_n(state, hob_str_z(text));
}

static void assert_str(hob_str s, const char *want) {
    if (!hob_str_eqz(s, want)) fail_msg("%.*s is not %s", HOB_FMT(s), want);
}

static void test_base_json_read__tells_types(void **state) {
    const hob_json *v = read_z(state, "[null,true,1,\"s\",[],{}]");
    static const hob_json_type want[] = {HOB_JSON_NULL,   HOB_JSON_BOOL,  HOB_JSON_NUMBER,
                                         HOB_JSON_STRING, HOB_JSON_ARRAY, HOB_JSON_OBJECT};
    assert_int_equal(hob_json_count(v), HOB_ARRAY_LEN(want));
    for (size_t i = 0; i < HOB_ARRAY_LEN(want); i++) {
        assert_int_equal(hob_json_type_of(hob_json_at(v, i)), want[i]);
        for (size_t t = 0; t < HOB_ARRAY_LEN(want); t++) {
            assert_int_equal(hob_json_is(hob_json_at(v, i), (hob_json_type)t), t == want[i]);
        }
    }
}

static void test_base_json_read__decodes_strings(void **state) {
    static const struct {
        const char *text, *want;
    } cases[] = {
        {"\"\"", ""},
        {"\"plain\"", "plain"},
        {"\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"", "\"\\/\b\f\n\r\t"},
        {"\"\\u0041\\u00e9\\u20AC\"", "A\xc3\xa9\xe2\x82\xac"},
        {"\"\\ud83d\\ude00!\"", "\xf0\x9f\x98\x80!"},
        {"\"\\uDBFF\\uDFFF\"", "\xf4\x8f\xbf\xbf"},
        {"\"caf\xc3\xa9 \\n caf\xc3\xa9 and quite a few more bytes \\t behind\"",
         "caf\xc3\xa9 \n caf\xc3\xa9 and quite a few more bytes \t behind"},
    };
    for (size_t i = 0; i < HOB_ARRAY_LEN(cases); i++) {
        assert_str(hob_json_str(read_z(state, cases[i].text)), cases[i].want);
    }
}

#define FFFD "\xef\xbf\xbd"

static void test_base_json_read__lone_surrogates_become_fffd(void **state) {
    static const struct {
        const char *text, *want;
    } cases[] = {
        {"\"\\ud83d\"", FFFD},
        {"\"\\ude00\"", FFFD},
        {"\"\\ude00\\ud83d\"", FFFD FFFD},
        {"\"\\ud83d\\ud83d\\ude00\"", FFFD "\xf0\x9f\x98\x80"},
        {"\"\\ud83d\\n\"", FFFD "\n"},
        {"\"\\ud83dx\"", FFFD "x"},
        {"\"\\ud83d\\u0041\"", FFFD "A"},
        {"\"\\ud83d\\\\ude00\"", FFFD "\\ude00"},
    };
    for (size_t i = 0; i < HOB_ARRAY_LEN(cases); i++) {
        assert_str(hob_json_str(read_z(state, cases[i].text)), cases[i].want);
    }
}

static void test_base_json_read__keeps_an_escaped_nul(void **state) {
    const hob_json *v = read_z(state, "{\"a\\u0000b\":\"x\\u0000y\"}");
    const hob_json *m = hob_json_get_n(v, hob_str_n("a\0b", 3));
    assert_true(hob_str_eq(hob_json_str(m), hob_str_n("x\0y", 3)));
    assert_null(hob_json_get(v, "a"));
}

static void test_base_json_read__borrows_strings_without_escapes(void **state) {
    const char *text = "{\"key\":\"value\"}";
    const hob_json *v = read_z(state, text);
    assert_ptr_equal(hob_json_get_str(v, "key").p, text + 8);
    assert_ptr_equal(hob_json_key(hob_json_first(v)).p, text + 2);
}

static void test_base_json_read__raw_is_the_text_as_written(void **state) {
    const hob_json *v =
        read_z(state, " { \"a\" : [ 1.50 , {\"\\u0062\": \"\\u0041\"} ] , \"n\":-0.0e+00 } ");
    assert_str(hob_json_raw(v),
               "{ \"a\" : [ 1.50 , {\"\\u0062\": \"\\u0041\"} ] , \"n\":-0.0e+00 }");
    const hob_json *a = hob_json_get(v, "a");
    assert_str(hob_json_raw(a), "[ 1.50 , {\"\\u0062\": \"\\u0041\"} ]");
    assert_str(hob_json_raw(hob_json_at(a, 0)), "1.50");
    assert_str(hob_json_raw(hob_json_at(a, 1)), "{\"\\u0062\": \"\\u0041\"}");
    assert_str(hob_json_raw(hob_json_get(hob_json_at(a, 1), "b")), "\"\\u0041\"");
    assert_str(hob_json_raw(hob_json_get(v, "n")), "-0.0e+00");
}

static void test_base_json_read__last_duplicate_wins_all_stay_visible(void **state) {
    const hob_json *v = read_z(state, "{\"a\":1,\"b\":2,\"a\":3,\"\\u0061\":4}");
    assert_int_equal(hob_json_get_int(v, "a", 0), 4);
    assert_int_equal(hob_json_get_int(v, "b", 0), 2);
    assert_int_equal(hob_json_count(v), 4);
    static const int64_t want[] = {1, 2, 3, 4};
    size_t n = 0;
    for (const hob_json *m = hob_json_first(v); m; m = hob_json_next(m)) {
        int64_t i = 0;
        assert_int_equal(hob_json_int(m, &i), HOB_OK);
        assert_true(i == want[n++]);
    }
    assert_int_equal(n, 4);
}

static void test_base_json_read__iterates_members_with_keys(void **state) {
    const hob_json *v = read_z(state, "{\"\":0,\"x\":{\"y\":1},\"z\":[2]}");
    static const char *const want[] = {"", "x", "z"};
    size_t n = 0;
    for (const hob_json *m = hob_json_first(v); m; m = hob_json_next(m)) {
        assert_str(hob_json_key(m), want[n++]);
    }
    assert_int_equal(n, 3);
    assert_null(hob_json_key(hob_json_at(hob_json_get(v, "z"), 0)).p);
}

/* Arrays beyond a few elements have an index; both kinds have to agree. */
static void test_base_json_read__reaches_every_element(void **state) {
    for (size_t count = 0; count < 100; count++) {
        hob_buf b;
        hob_buf_init(&b, 10000);
        hob_buf_addc(&b, '[');
        for (size_t i = 0; i < count; i++) hob_buf_addf(&b, "%s%zu", i ? "," : "", i);
        hob_buf_addc(&b, ']');
        const hob_json *v = read_n(state, hob_buf_str(&b));
        assert_int_equal(hob_json_count(v), count);
        const hob_json *it = hob_json_first(v);
        for (size_t i = 0; i < count; i++, it = hob_json_next(it)) {
            assert_ptr_equal(hob_json_at(v, i), it);
            int64_t n = -1;
            assert_int_equal(hob_json_int(it, &n), HOB_OK);
            assert_true(n == (int64_t)i);
        }
        assert_null(it);
        assert_null(hob_json_at(v, count));
        assert_null(hob_json_at(v, SIZE_MAX));
        hob_buf_finish(&b);
    }
}

static void assert_is_nothing(const hob_json *v) {
    int64_t i = 7;
    assert_int_equal(hob_json_int(v, &i), HOB_EINVAL);
    assert_true(i == 7);
    assert_true(hob_json_double(v) == 0);
    assert_false(hob_json_bool(v));
    assert_null(hob_json_str(v).p);
    assert_int_equal(hob_json_count(v), 0);
    assert_null(hob_json_at(v, 0));
    assert_null(hob_json_first(v));
    assert_null(hob_json_get(v, "x"));
    assert_null(hob_json_get_str(v, "x").p);
    assert_true(hob_json_get_int(v, "x", 5) == 5);
    assert_true(hob_json_get_double(v, "x", 2.5) == 2.5);
    assert_true(hob_json_get_bool(v, "x", true));
}

static void test_base_json_read__accessors_accept_null_and_wrong_types(void **state) {
    assert_is_nothing(NULL);
    assert_is_nothing(read_z(state, "null"));
    assert_int_equal(hob_json_type_of(NULL), HOB_JSON_NULL);
    assert_false(hob_json_is(NULL, HOB_JSON_NULL));
    assert_null(hob_json_raw(NULL).p);
    assert_null(hob_json_next(NULL));
    assert_null(hob_json_key(NULL).p);
    const hob_json *v = read_z(state, "{\"x\":\"s\",\"y\":1.5,\"z\":false}");
    assert_true(hob_json_get_int(v, "x", 5) == 5);
    assert_true(hob_json_get_int(v, "y", 5) == 5);
    assert_true(hob_json_get_double(v, "y", 9) == 1.5);
    assert_false(hob_json_get_bool(v, "z", true));
    assert_null(hob_json_get_str(v, "y").p);
    assert_null(hob_json_at(v, 0));
}

static void assert_error(void **state, const char *text, bool comments, const char *want) {
    const hob_json *v = NULL;
    hob_error e = {0};
    hob_json_opts opts = {.comments = comments};
    assert_int_equal(hob_json_parse(*state, hob_str_z(text), &opts, &v, &e), HOB_EPARSE);
    assert_string_equal(e.message, want);
    assert_null(v);
}

static void test_base_json_read__errors_say_where_and_what(void **state) {
    assert_error(state, NULL, false, "line 1, column 1: the text ends before the value does");
    assert_error(state, "", false, "line 1, column 1: the text ends before the value does");
    assert_error(state, "\xef\xbb\xbf{}", false, "line 1, column 1: expected a value");
    assert_error(state, "{\n  \"a\": 1\n  \"b\": 2\n}", false,
                 "line 3, column 3: expected ',' or '}' after a member");
    assert_error(state, "[1 2]", false, "line 1, column 4: expected ',' or ']' after an element");
    assert_error(state, "{\"\xc3\xa9\xe2\x82\xac\" x", false,
                 "line 1, column 7: expected ':' after the key");
    assert_error(state, "{a:1}", false, "line 1, column 2: expected a key in double quotes");
    assert_error(state, "[\n\n x]", false, "line 3, column 2: expected a value");
    assert_error(state, "[01]", false, "line 1, column 2: a number has a leading zero");
    assert_error(state, "[\"a\\qb\"]", false, "line 1, column 4: unknown escape");
    assert_error(state, "1 2", false, "line 1, column 3: there is more text behind the value");
    assert_error(state, "[\"\n\"]", false,
                 "line 1, column 3: a control character in a string must be escaped");
}

static const hob_json *read_commented(void **state, const char *text) {
    const hob_json *v = NULL;
    hob_error e = {0};
    hob_json_opts opts = {.comments = true};
    if (hob_json_parse(*state, hob_str_z(text), &opts, &v, &e) != HOB_OK) {
        fail_msg("%s: %s", text, e.message);
    }
    return v;
}

static void test_base_json_read__comments_and_trailing_commas(void **state) {
    const hob_json *v = read_commented(
        state, "\xef\xbb\xbf// first\n{ /* a \" b */ \"a\" /**/ : // x\n 1, \"b\": [1, 2, /***/ ],"
               "\"url\": \"http://x/*y*/\", } // end");
    assert_int_equal(hob_json_count(v), 3);
    assert_int_equal(hob_json_get_int(v, "a", 0), 1);
    assert_int_equal(hob_json_count(hob_json_get(v, "b")), 2);
    assert_str(hob_json_get_str(v, "url"), "http://x/*y*/");
    read_commented(state, "{} //");
    read_commented(state, "/**/1/**/");
    read_commented(state, "[ /* nothing */ ]");
}

static void test_base_json_read__comments_have_limits_too(void **state) {
    assert_error(state, "{\n /* open", true, "line 2, column 2: this comment is never closed");
    assert_error(state, "[1, /]", true, "line 1, column 5: unexpected '/'");
    assert_error(state, "/*/", true, "line 1, column 1: this comment is never closed");
    assert_error(state, "[,]", true, "line 1, column 2: expected a value");
    assert_error(state, "[1,,]", true, "line 1, column 4: expected a value");
    assert_error(state, "{,}", true, "line 1, column 2: expected a key in double quotes");
    assert_error(state, "1,", true, "line 1, column 2: there is more text behind the value");
    assert_error(state, "{\"a\":,}", true, "line 1, column 6: expected a value");
    assert_error(state, "// nothing", true,
                 "line 1, column 11: the text ends before the value does");
    assert_error(state, "[1] # no", true, "line 1, column 5: there is more text behind the value");
}

#define T(name) cmocka_unit_test_setup_teardown(test_base_json_read__##name, set_up, tear_down)

static void test_base_json_read__one_field_for_hosts(void **state) {
    char buf[8];
    hob_str json = hob_str_z("{\"a\":[{\"b\":\"x\\ny\"},{\"n\":1.50}],\"long\":\"0123456789\"}");
    (void)state;
    assert_int_equal(hob_json_field(json, "a.0.b", buf, sizeof buf), 3);
    assert_string_equal(buf, "x\ny");
    assert_int_equal(hob_json_field(json, "a.1.n", buf, sizeof buf), 4);
    assert_string_equal(buf, "1.50");
    assert_int_equal(hob_json_field(json, "long", buf, sizeof buf), 10);
    assert_string_equal(buf, "0123456");
    assert_int_equal(hob_json_field(json, "a.2", buf, sizeof buf), HOB_ENOENT);
    assert_int_equal(hob_json_field(hob_str_z("{"), "a", buf, sizeof buf), HOB_EPARSE);
    assert_int_equal(hob_json_field(json, "a", NULL, 0), 25);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        T(tells_types),
        T(one_field_for_hosts),
        T(decodes_strings),
        T(lone_surrogates_become_fffd),
        T(keeps_an_escaped_nul),
        T(borrows_strings_without_escapes),
        T(raw_is_the_text_as_written),
        T(last_duplicate_wins_all_stay_visible),
        T(iterates_members_with_keys),
        T(reaches_every_element),
        T(accessors_accept_null_and_wrong_types),
        T(errors_say_where_and_what),
        T(comments_and_trailing_commas),
        T(comments_have_limits_too),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
