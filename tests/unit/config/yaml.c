/* The part of YAML that front matter is written in: what becomes of it, and what is refused where. */
#include "config/yaml.h"

#include "support/check.h"

static void assert_yaml(const char *text, const char *json) {
    hob_arena *a = hob_arena_create(0);
    hob_yaml y;
    size_t line;
    hob_error err = {0};
    assert_ok(hob_yaml_parse(a, hob_str_z(text), 1, &y, &line, &err), err);
    assert_str(hob_json_raw(y.root), json);
    hob_arena_destroy(a);
}

static void assert_refused(const char *text, size_t where, const char *what) {
    hob_arena *a = hob_arena_create(0);
    hob_yaml y;
    size_t line = 0;
    hob_error err = {0};
    assert_int_equal(hob_yaml_parse(a, hob_str_z(text), 1, &y, &line, &err), HOB_EPARSE);
    if (!strstr(err.message, what)) fail_msg("'%s' is not in '%s'", what, err.message);
    assert_int_equal(line, where);
    hob_arena_destroy(a);
}

static void test_config_yaml__scalars_are_what_they_look_like(void **state) {
    (void)state;
    assert_yaml(
        "a: word\nb: 12\nc: true\nd: ~\ne:\nf: '12'\ng: \"x\\ty\"\nh: 007\ni: 1.5\nj: yes\n",
        "{\"a\":\"word\",\"b\":12,\"c\":true,\"d\":null,\"e\":null,\"f\":\"12\","
        "\"g\":\"x\\ty\",\"h\":\"007\",\"i\":1.5,\"j\":\"yes\"}");
}

static void test_config_yaml__block_and_flow_lists_and_maps(void **state) {
    (void)state;
    assert_yaml("a: [x, 'y z', 3]\nb:\n  - x\n  - y\nc: {k: v}\nd:\n  k: v\n",
                "{\"a\":[\"x\",\"y z\",3],\"b\":[\"x\",\"y\"],\"c\":{\"k\":\"v\"},"
                "\"d\":{\"k\":\"v\"}}");
}

static void test_config_yaml__literal_and_folded_text(void **state) {
    (void)state;
    assert_yaml("a: |\n  one\n  two: x\nb: >\n  one\n  two\n",
                "{\"a\":\"one\\ntwo: x\\n\",\"b\":\"one two\\n\"}");
}

static void test_config_yaml__blank_is_an_empty_map(void **state) {
    (void)state;
    assert_yaml("", "{}");
    assert_yaml("# nothing\n\n", "{}");
}

static void test_config_yaml__refuses_what_can_multiply_or_mean_code(void **state) {
    (void)state;
    assert_refused("a: 1\nb: &x y\n", 2, "anchors");
    assert_refused("a: &x [1]\n", 1, "anchors");
    assert_refused("a: 1\nb: *x\n", 2, "aliases");
    assert_refused("a: !!str x\n", 1, "tags");
    assert_refused("a: 1\nb: !py {}\n", 2, "tags");
    assert_refused("%YAML 1.1\n---\na: 1\n", 1, "directives");
    assert_refused("a: 1\n---\nb: 1\n", 2, "second document");
}

static void test_config_yaml__refuses_what_is_not_a_plain_map(void **state) {
    (void)state;
    assert_refused("just words\n", 1, "key: value");
    assert_refused("- a\n", 1, "not a list");
    assert_refused("a: 1\n? [x]\n: y\n", 2, "a key is a word");
    assert_refused("a: 1\nb: 2\na: 3\n", 3, "twice");
    assert_refused("a: \"x\\0y\"\n", 1, "NUL");
    assert_refused("a: 1\nb: x: y\n", 2, "between quotes");
    assert_refused("a: [1,\n", 2, "");
}

static void test_config_yaml__has_ceilings(void **state) {
    (void)state;
    hob_arena *a = hob_arena_create(0);
    hob_buf b;
    hob_yaml y;
    size_t line;
    hob_error err = {0};
    assert_refused("a: [[[[[[[[1]]]]]]]]\n", 1, "too deep");
    hob_buf_init(&b, 1 << 20);
    hob_buf_addz(&b, "a: [");
    for (int i = 0; i < HOB_YAML_NODES; i++) hob_buf_addz(&b, "1,");
    assert_refused(hob_buf_z(&b), 1, "too many values");
    while (b.n <= HOB_YAML_MAX) hob_buf_addz(&b, "# filler\n");
    assert_int_equal(hob_yaml_parse(a, hob_buf_str(&b), 1, &y, &line, &err), HOB_ETOOBIG);
    assert_int_equal(hob_yaml_parse(a, HOB_STR("a: \xff"), 1, &y, &line, &err), HOB_EPARSE);
    hob_buf_finish(&b);
    hob_arena_destroy(a);
}

static void test_config_yaml__knows_the_lines_of_keys(void **state) {
    (void)state;
    hob_arena *a = hob_arena_create(0);
    hob_yaml y;
    size_t line;
    assert_int_equal(hob_yaml_parse(a, HOB_STR("a: 1\nb: |\n x\n y\nc: 2\n"), 2, &y, &line, NULL),
                     HOB_OK);
    assert_int_equal(hob_yaml_line(&y, "a"), 2);
    assert_int_equal(hob_yaml_line(&y, "c"), 6);
    assert_int_equal(hob_yaml_line(&y, "d"), 0);
    hob_arena_destroy(a);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_config_yaml__scalars_are_what_they_look_like),
        cmocka_unit_test(test_config_yaml__block_and_flow_lists_and_maps),
        cmocka_unit_test(test_config_yaml__literal_and_folded_text),
        cmocka_unit_test(test_config_yaml__blank_is_an_empty_map),
        cmocka_unit_test(test_config_yaml__refuses_what_can_multiply_or_mean_code),
        cmocka_unit_test(test_config_yaml__refuses_what_is_not_a_plain_map),
        cmocka_unit_test(test_config_yaml__has_ceilings),
        cmocka_unit_test(test_config_yaml__knows_the_lines_of_keys),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
