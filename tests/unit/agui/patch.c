/* JSON patches: RFC 6902 and its appendix, and differences that lead where they should. */
#include <hob/agui_input.h>

#include "base/base.h"
#include "support/check.h"

#define Z(text) hob_str_z(text)

static hob_error err;

static void applies(const char *doc, const char *patch, const char *after) {
    hob_agui_json *j;
    assert_ok(hob_agui_patch_apply(Z(doc), Z(patch), &j, &err), err);
    assert_str(hob_agui_json_text(j), after);
    hob_agui_json_destroy(j);
}

static void refused(const char *doc, const char *patch, int code) {
    hob_agui_json *j;
    assert_int_equal(hob_agui_patch_apply(Z(doc), Z(patch), &j, &err), code);
}

static void test_agui_patch__adds(void **state) {
    (void)state;
    applies("{\"foo\":\"bar\"}", "[{\"op\":\"add\",\"path\":\"/baz\",\"value\":\"qux\"}]",
            "{\"foo\":\"bar\",\"baz\":\"qux\"}");
    applies("[1,3]", "[{\"op\":\"add\",\"path\":\"/1\",\"value\":2}]", "[1,2,3]");
    applies("[1]", "[{\"op\":\"add\",\"path\":\"/-\",\"value\":[2]}]", "[1,[2]]");
    applies("[1]", "[{\"op\":\"add\",\"path\":\"/1\",\"value\":2}]", "[1,2]");
    applies("{\"a\":1}", "[{\"op\":\"add\",\"path\":\"\",\"value\":null}]", "null");
    applies("{\"a\":1,\"b\":2}", "[{\"op\":\"add\",\"path\":\"/a\",\"value\":3}]",
            "{\"a\":3,\"b\":2}");
    applies(
        "{}",
        "[{\"op\":\"add\",\"path\":\"/\",\"value\":1},{\"op\":\"add\",\"path\":\"/a~1b~0c\",\"value\":2}]",
        "{\"\":1,\"a/b~c\":2}");
    refused("{}", "[{\"op\":\"add\",\"path\":\"/a/b\",\"value\":1}]", HOB_EINVAL);
    refused("[1]", "[{\"op\":\"add\",\"path\":\"/3\",\"value\":1}]", HOB_EINVAL);
    refused("[1]", "[{\"op\":\"add\",\"path\":\"/01\",\"value\":1}]", HOB_EINVAL);
    refused("[1]", "[{\"op\":\"add\",\"path\":\"/+0\",\"value\":1}]", HOB_EINVAL);
    refused("1", "[{\"op\":\"add\",\"path\":\"/a\",\"value\":1}]", HOB_EINVAL);
}

static void test_agui_patch__removes_replaces_moves_copies_and_tests(void **state) {
    (void)state;
    applies("{\"a\":1,\"b\":[1,2]}", "[{\"op\":\"remove\",\"path\":\"/b/0\"}]",
            "{\"a\":1,\"b\":[2]}");
    refused("{\"a\":1}", "[{\"op\":\"remove\",\"path\":\"/b\"}]", HOB_EINVAL);
    refused("[1]", "[{\"op\":\"remove\",\"path\":\"/-\"}]", HOB_EINVAL);
    applies("{\"a\":1,\"b\":2}", "[{\"op\":\"replace\",\"path\":\"/a\",\"value\":{\"x\":[]}}]",
            "{\"a\":{\"x\":[]},\"b\":2}");
    refused("{}", "[{\"op\":\"replace\",\"path\":\"/a\",\"value\":1}]", HOB_EINVAL);
    applies("{\"foo\":{\"bar\":1},\"qux\":{}}",
            "[{\"op\":\"move\",\"from\":\"/foo/bar\",\"path\":\"/qux/thud\"}]",
            "{\"foo\":{},\"qux\":{\"thud\":1}}");
    applies("[1,2,3]", "[{\"op\":\"move\",\"from\":\"/0\",\"path\":\"/2\"}]", "[2,3,1]");
    refused("{\"a\":{\"b\":1}}", "[{\"op\":\"move\",\"from\":\"/a\",\"path\":\"/a/b\"}]",
            HOB_EINVAL);
    refused("{\"a\":1}", "[{\"op\":\"move\",\"from\":\"\",\"path\":\"/a\"}]", HOB_EINVAL);
    applies("{\"a\":[1]}",
            "[{\"op\":\"copy\",\"from\":\"/a\",\"path\":\"/b\"},"
            "{\"op\":\"add\",\"path\":\"/b/-\",\"value\":2}]",
            "{\"a\":[1],\"b\":[1,2]}");
    applies("{\"a\":{\"x\":1.0,\"y\":\"\\u0061\"}}",
            "[{\"op\":\"test\",\"path\":\"/a\",\"value\":{\"y\":\"a\",\"x\":1}}]",
            "{\"a\":{\"x\":1.0,\"y\":\"\\u0061\"}}");
    refused("{\"a\":\"10\"}", "[{\"op\":\"test\",\"path\":\"/a\",\"value\":10}]", HOB_EINVAL);
}

static void test_agui_patch__is_checked_whole_before_it_begins(void **state) {
    (void)state;
    refused("{}", "{}", HOB_EPARSE);
    refused("{}", "[1]", HOB_EPARSE);
    refused("{}", "[{\"path\":\"\"}]", HOB_EPARSE);
    refused("{}", "[{\"op\":\"add\",\"path\":\"a\",\"value\":1}]", HOB_EPARSE);
    refused("{}", "[{\"op\":\"add\",\"path\":\"/~2\",\"value\":1}]", HOB_EPARSE);
    refused("{}", "[{\"op\":\"add\",\"path\":\"/~\",\"value\":1}]", HOB_EPARSE);
    refused("{}", "[{\"op\":\"add\",\"path\":\"/a\"}]", HOB_EPARSE);
    refused("{}", "[{\"op\":\"copy\",\"path\":\"/a\"}]", HOB_EPARSE);
    refused("{}", "[{\"op\":\"spin\",\"path\":\"/a\"}]", HOB_EPARSE);
    refused("{}", "[", HOB_EPARSE);
    refused("", "[]", HOB_EPARSE);
}

static void test_agui_patch__a_value_cannot_grow_without_end(void **state) {
    (void)state;
    hob_buf patch;
    hob_agui_json *j;
    hob_buf_init(&patch, 1 << 20);
    hob_buf_addz(&patch, "[");
    for (int i = 0; i < 64; i++)
        hob_buf_addf(&patch, "%s{\"op\":\"copy\",\"from\":\"\",\"path\":\"/a\"}", i ? "," : "");
    hob_buf_addz(&patch, "]");
    assert_ok(hob_agui_patch_apply(Z("{\"b\":1}"), hob_buf_str(&patch), &j, &err), err);
    hob_agui_json_destroy(j);
    hob_buf_reset(&patch);
    hob_buf_addz(&patch, "[");
    for (int i = 0; i < 64; i++)
        hob_buf_addf(&patch, "%s{\"op\":\"copy\",\"from\":\"\",\"path\":\"/-\"}", i ? "," : "");
    hob_buf_addz(&patch, "]");
    assert_int_equal(hob_agui_patch_apply(Z("[\"12345678\"]"), hob_buf_str(&patch), &j, &err),
                     HOB_ETOOBIG);
    hob_buf_finish(&patch);
}

/* ---- differences ---------------------------------------------------------------------------------------------- */

static void differs(const char *from, const char *to, const char *patch) {
    hob_agui_json *j;
    assert_ok(hob_agui_patch_diff(Z(from), Z(to), &j, &err), err);
    assert_str(hob_agui_json_text(j), patch);
    applies(from, patch, to);
    hob_agui_json_destroy(j);
}

static void test_agui_patch__differences_are_small(void **state) {
    (void)state;
    differs("{\"a\":1}", "{\"a\":1}", "[]");
    differs("[1,2,3]", "[1,2,3,4]", "[{\"op\":\"add\",\"path\":\"/3\",\"value\":4}]");
    differs("[1,2,3]", "[2,3]", "[{\"op\":\"remove\",\"path\":\"/0\"}]");
    differs("[1,2,3]", "[1,9,2,3]", "[{\"op\":\"add\",\"path\":\"/1\",\"value\":9}]");
    differs("{\"l\":[{\"n\":1},{\"n\":2}]}", "{\"l\":[{\"n\":1},{\"n\":3}]}",
            "[{\"op\":\"replace\",\"path\":\"/l/1/n\",\"value\":3}]");
    differs("{\"a/b\":1,\"c\":2}", "{\"c\":2,\"d~\":null}",
            "[{\"op\":\"remove\",\"path\":\"/a~1b\"},"
            "{\"op\":\"add\",\"path\":\"/d~0\",\"value\":null}]");
    differs("1", "{}", "[{\"op\":\"replace\",\"path\":\"\",\"value\":{}}]");
    differs("{\"a\":{}}", "{\"a\":[]}", "[{\"op\":\"replace\",\"path\":\"/a\",\"value\":[]}]");
}

static uint64_t dice_state;
static unsigned dice(unsigned n) {
    dice_state = dice_state * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(dice_state >> 33) % n;
}

static void random_json(hob_buf *out, int depth) {
    static const char *const scalars[] = {"null", "true", "0",     "1",
                                          "1.5",  "\"\"", "\"x\"", "\"a/b~\""};
    static const char *const keys[] = {"a", "b", "c/d", "e~f", ""};
    unsigned kind = dice(depth > 3 ? 1 : 3), n = dice(5);
    if (kind == 0) {
        hob_buf_addz(out, scalars[dice(8)]);
        return;
    }
    hob_buf_addz(out, kind == 1 ? "[" : "{");
    for (unsigned i = 0; i < n; i++) {
        if (i) hob_buf_addz(out, ",");
        if (kind == 2) hob_buf_addf(out, "\"%s\":", keys[(i + n) % 5]);
        random_json(out, depth + 1);
    }
    hob_buf_addz(out, kind == 1 ? "]" : "}");
}

static void test_agui_patch__a_difference_always_leads_to_the_other(void **state) {
    (void)state;
    hob_buf from, to;
    hob_buf_init(&from, 1 << 20);
    hob_buf_init(&to, 1 << 20);
    dice_state = 42;
    for (int i = 0; i < 3000; i++) {
        hob_agui_json *patch, *after, *rest;
        hob_buf_reset(&from);
        hob_buf_reset(&to);
        random_json(&from, 0);
        random_json(&to, 0);
        assert_ok(hob_agui_patch_diff(hob_buf_str(&from), hob_buf_str(&to), &patch, &err), err);
        assert_ok(hob_agui_patch_apply(hob_buf_str(&from), hob_agui_json_text(patch), &after, &err),
                  err);
        assert_ok(hob_agui_patch_diff(hob_agui_json_text(after), hob_buf_str(&to), &rest, &err),
                  err);
        assert_str(hob_agui_json_text(rest), "[]");
        hob_agui_json_destroy(patch);
        hob_agui_json_destroy(after);
        hob_agui_json_destroy(rest);
    }
    hob_buf_finish(&from);
    hob_buf_finish(&to);
}

static void test_agui_patch__of_duplicate_keys_the_last_counts(void **state) {
    (void)state;
    applies("{\"a\":1,\"b\":0,\"a\":2}", "[]", "{\"b\":0,\"a\":2}");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_agui_patch__adds),
        cmocka_unit_test(test_agui_patch__removes_replaces_moves_copies_and_tests),
        cmocka_unit_test(test_agui_patch__is_checked_whole_before_it_begins),
        cmocka_unit_test(test_agui_patch__a_value_cannot_grow_without_end),
        cmocka_unit_test(test_agui_patch__differences_are_small),
        cmocka_unit_test(test_agui_patch__a_difference_always_leads_to_the_other),
        cmocka_unit_test(test_agui_patch__of_duplicate_keys_the_last_counts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
