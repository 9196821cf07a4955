/* Depth and size: what is too much is refused cleanly, what is large is read in one pass. */
#include "base/json.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#define MILLION ((size_t)1000000)

static int parse(hob_str text, const hob_json_opts *opts, hob_error *err) {
    hob_arena *a = hob_arena_create(0);
    const hob_json *v = NULL;
    int r = hob_json_parse(a, text, opts, &v, err);
    assert_int_equal(v != NULL, r == HOB_OK);
    hob_arena_destroy(a);
    return r;
}

static void nest(hob_buf *b, size_t depth) {
    hob_buf_reset(b);
    for (size_t i = 0; i < depth; i++) hob_buf_addz(b, i % 2 ? "{\"a\":" : "[");
    hob_buf_addz(b, "1");
    for (size_t i = depth; i-- > 0;) hob_buf_addc(b, i % 2 ? '}' : ']');
}

static void test_base_json_limits__depth_is_128_by_default(void **state) {
    (void)state;
    hob_buf b;
    hob_buf_init(&b, 10000);
    nest(&b, 128);
    assert_int_equal(parse(hob_buf_str(&b), NULL, NULL), HOB_OK);
    assert_true(hob_json_valid(hob_buf_str(&b)));
    nest(&b, 129);
    hob_error e = {0};
    assert_int_equal(parse(hob_buf_str(&b), NULL, &e), HOB_ETOOBIG);
    assert_string_equal(e.message, "the JSON text is nested too deeply");
    assert_false(hob_json_valid(hob_buf_str(&b)));
    hob_buf_finish(&b);
}

static void test_base_json_limits__depth_can_be_set(void **state) {
    (void)state;
    hob_buf b;
    hob_buf_init(&b, 10 * MILLION);
    nest(&b, 3);
    assert_int_equal(parse(hob_buf_str(&b), &(hob_json_opts){.max_depth = 3}, NULL), HOB_OK);
    assert_int_equal(parse(hob_buf_str(&b), &(hob_json_opts){.max_depth = 2}, NULL), HOB_ETOOBIG);
    nest(&b, MILLION / 2); /* nothing recurses, so even this is only memory */
    hob_json_opts deep = {.max_depth = (unsigned)MILLION};
    assert_int_equal(parse(hob_buf_str(&b), &deep, NULL), HOB_OK);
    hob_buf_finish(&b);
}

static void test_base_json_limits__a_million_brackets_are_refused(void **state) {
    (void)state;
    char *text = hob_alloc(MILLION);
    memset(text, '[', MILLION);
    assert_int_equal(parse(hob_str_n(text, MILLION), NULL, NULL), HOB_ETOOBIG);
    assert_false(hob_json_valid(hob_str_n(text, MILLION)));
    hob_arena *a = hob_arena_create(0);
    const hob_json *v = NULL;
    assert_int_equal(hob_json_parse_partial(a, hob_str_n(text, MILLION), &v), HOB_ETOOBIG);
    assert_null(v);
    hob_arena_destroy(a);
    hob_free(text);
}

static void test_base_json_limits__siblings_do_not_count_as_depth(void **state) {
    (void)state;
    hob_buf b;
    hob_buf_init(&b, MILLION);
    hob_buf_addc(&b, '[');
    for (int i = 0; i < 1000; i++) hob_buf_addz(&b, "[[]],{\"a\":{}},");
    hob_buf_addz(&b, "1]");
    assert_int_equal(parse(hob_buf_str(&b), NULL, NULL), HOB_OK);
    assert_true(hob_json_valid(hob_buf_str(&b)));
    hob_buf_finish(&b);
}

/* Size at the ceiling minus one, at it, above it. */
static void test_base_json_limits__size_ceiling_is_exact(void **state) {
    (void)state;
    hob_json_opts opts = {.max_bytes = 1000};
    for (size_t n = 998; n <= 1003; n++) {
        char text[1003];
        memset(text, 'x', n);
        text[0] = text[n - 1] = '"';
        hob_error e = {0};
        assert_int_equal(parse(hob_str_n(text, n), &opts, &e), n <= 1000 ? HOB_OK : HOB_ETOOBIG);
        if (n > 1000) {
            assert_string_equal(e.message, "the JSON text is larger than its limit of 1000 bytes");
        }
    }
}

/* The default: 256 MiB. The text is never touched, so it need not exist beyond its address. */
static void test_base_json_limits__default_size_is_256_mib(void **state) {
    (void)state;
    char text[16] = "1";
    size_t over = ((size_t)256 << 20) + 1;
    hob_arena *a = hob_arena_create(0);
    const hob_json *v = NULL;
    assert_int_equal(hob_json_parse(a, hob_str_n(text, over), NULL, &v, NULL), HOB_ETOOBIG);
    assert_int_equal(hob_json_parse_partial(a, hob_str_n(text, over), &v), HOB_ETOOBIG);
    assert_false(hob_json_valid(hob_str_n(text, over)));
    assert_null(v);
    hob_arena_destroy(a);
}

static void test_base_json_limits__a_million_keys(void **state) {
    (void)state;
    hob_buf b;
    hob_buf_init(&b, 64 * MILLION);
    hob_buf_addc(&b, '{');
    for (size_t i = 0; i < MILLION; i++) hob_buf_addf(&b, "%s\"k%zu\":%zu", i ? "," : "", i, i);
    hob_buf_addc(&b, '}');
    hob_arena *a = hob_arena_create(0);
    const hob_json *v = NULL;
    assert_int_equal(hob_json_parse(a, hob_buf_str(&b), NULL, &v, NULL), HOB_OK);
    assert_int_equal(hob_json_count(v), MILLION);
    assert_int_equal(hob_json_get_int(v, "k0", -1), 0);
    assert_int_equal(hob_json_get_int(v, "k777777", -1), 777777);
    assert_int_equal(hob_json_get_int(v, "k999999", -1), 999999);
    assert_null(hob_json_get(v, "k1000000"));
    hob_arena_destroy(a);
    hob_buf_finish(&b);
}

/* Walking by number must not be quadratic: without an index this loop would take hours. */
static void test_base_json_limits__a_million_elements_by_number(void **state) {
    (void)state;
    hob_buf b;
    hob_buf_init(&b, 64 * MILLION);
    hob_buf_addc(&b, '[');
    for (size_t i = 0; i < MILLION; i++) hob_buf_addf(&b, "%s%zu", i ? "," : "", i);
    hob_buf_addc(&b, ']');
    hob_arena *a = hob_arena_create(0);
    const hob_json *v = NULL;
    assert_int_equal(hob_json_parse(a, hob_buf_str(&b), NULL, &v, NULL), HOB_OK);
    int64_t sum = 0, n;
    for (size_t i = 0; i < hob_json_count(v); i++) {
        assert_int_equal(hob_json_int(hob_json_at(v, i), &n), HOB_OK);
        sum += n;
    }
    assert_true(sum == (int64_t)(MILLION * (MILLION - 1) / 2));
    hob_arena_destroy(a);
    hob_buf_finish(&b);
}

/* Wherever the arena ends, the answer is HOB_ETOOBIG and no value. */
static void test_base_json_limits__the_arena_ceiling_is_clean(void **state) {
    (void)state;
    static const char text[] =
        "{\"a\\n\":[\"b\\tc\",1,true,null,[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,"
        "16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31,32,33]],\"d\":{}}";
    int r = HOB_ETOOBIG;
    size_t max = 1;
    for (; r != HOB_OK && max < 10000; max++) {
        hob_arena *a = hob_arena_create(max);
        const hob_json *v = NULL;
        hob_error e = {0};
        r = hob_json_parse(a, hob_str_z(text), NULL, &v, &e);
        assert_int_equal(v != NULL, r == HOB_OK);
        if (r != HOB_OK) {
            assert_int_equal(r, HOB_ETOOBIG);
            assert_string_equal(e.message,
                                "the JSON text needs more memory than its arena may use");
        }
        hob_arena_destroy(a);
    }
    assert_int_equal(r, HOB_OK);
    assert_true(max > 1000);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_base_json_limits__depth_is_128_by_default),
        cmocka_unit_test(test_base_json_limits__depth_can_be_set),
        cmocka_unit_test(test_base_json_limits__a_million_brackets_are_refused),
        cmocka_unit_test(test_base_json_limits__siblings_do_not_count_as_depth),
        cmocka_unit_test(test_base_json_limits__size_ceiling_is_exact),
        cmocka_unit_test(test_base_json_limits__default_size_is_256_mib),
        cmocka_unit_test(test_base_json_limits__a_million_keys),
        cmocka_unit_test(test_base_json_limits__a_million_elements_by_number),
        cmocka_unit_test(test_base_json_limits__the_arena_ceiling_is_clean),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
