/* What a schema lets one choose from, and how it is called. */
#include "base/choice.h"
#include "support/check.h"

static hob_arena *arena;

static int set_up(void **state) {
    (void)state;
    arena = hob_arena_create(0);
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    hob_arena_destroy(arena);
    return 0;
}

/* "value words|…", "-" if there is nothing to choose from. */
static const char *choices(const char *schema) {
    const hob_json *v;
    hob_buf b;
    assert_int_equal(hob_json_parse(arena, hob_str_z(schema), NULL, &v, NULL), 0);
    if (!hob_choices(v)) return "-";
    hob_buf_init(&b, 1000);
    for (const hob_json *c = hob_json_first(hob_choices(v)); c; c = hob_json_next(c))
        hob_buf_addf(&b, "%.*s %.*s|", HOB_FMT(hob_json_raw(hob_choice_value(v, c))),
                     HOB_FMT(hob_choice_words(v, c)));
    const char *out = hob_arena_dup(arena, hob_buf_str(&b)).p;
    hob_buf_finish(&b);
    return out;
}

static void test_base_choice__values_and_their_words(void **state) {
    (void)state;
    assert_string_equal(choices("{\"enum\":[\"a\",2,null]}"), "\"a\" a|2 2|null null|");
    assert_string_equal(
        choices("{\"oneOf\":[{\"const\":\"r\",\"title\":\"red\"},{\"const\":[1]}]}"),
        "\"r\" red|[1] [1]|");
    assert_string_equal(choices("{\"anyOf\":[{\"const\":\"r\"}]}"), "\"r\" r|");
}

static void test_base_choice__enum_counts_more(void **state) {
    (void)state;
    assert_string_equal(choices("{\"oneOf\":[{\"const\":1}],\"enum\":[\"a\"]}"), "\"a\" a|");
}

static void test_base_choice__other_schemas_have_none(void **state) {
    (void)state;
    assert_string_equal(choices("{\"type\":\"string\"}"), "-");
    assert_string_equal(choices("{\"oneOf\":[{\"const\":1},{\"type\":\"string\"}]}"), "-");
    assert_null(hob_choices(NULL));
}

#define T(name) cmocka_unit_test_setup_teardown(test_base_choice__##name, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        T(values_and_their_words),
        T(enum_counts_more),
        T(other_schemas_have_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
