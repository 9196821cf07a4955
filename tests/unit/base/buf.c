/* Buffers: growth, ceiling, sticky error. */
#include "base/base.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
static void test_base_buf__appends_and_formats(void **state) {
    (void)state;
    hob_buf b;
    hob_buf_init(&b, 1000);
    hob_buf_add(&b, HOB_STR("one"));
    hob_buf_addz(&b, " two");
    hob_buf_addc(&b, ' ');
    hob_buf_addf(&b, "%d-%s", 3, "four");
    assert_int_equal(hob_buf_add(&b, HOB_STR_NULL), HOB_OK);
    assert_string_equal(hob_buf_z(&b), "one two 3-four");
    hob_buf_finish(&b);
}

static void test_base_buf__grows_while_formatting(void **state) {
    (void)state;
    hob_buf b;
    hob_buf_init(&b, 5000);
    assert_int_equal(hob_buf_addf(&b, "%4000d", 7), HOB_OK);
    assert_int_equal(b.n, 4000);
    assert_int_equal(b.p[3999], '7');
    hob_buf_finish(&b);
}

static void test_base_buf__fills_to_the_ceiling_and_no_further(void **state) {
    (void)state;
    hob_buf b;
    hob_buf_init(&b, 10);
    assert_int_equal(hob_buf_add(&b, HOB_STR("12345678")), HOB_OK);
    assert_int_equal(hob_buf_add(&b, HOB_STR("90")), HOB_OK);
    assert_string_equal(hob_buf_z(&b), "1234567890");
    assert_int_equal(hob_buf_addc(&b, 'x'), HOB_ETOOBIG);
    assert_string_equal(hob_buf_z(&b), "1234567890");
    assert_true(b.cap <= 10);
    hob_buf_finish(&b);
}

static void test_base_buf__formats_up_to_the_ceiling(void **state) {
    (void)state;
    hob_buf b;
    hob_buf_init(&b, 10);
    assert_int_equal(hob_buf_addf(&b, "%10d", 1), HOB_OK);
    hob_buf_reset(&b);
    assert_int_equal(hob_buf_addf(&b, "%11d", 1), HOB_ETOOBIG);
    assert_int_equal(b.n, 0);
    hob_buf_finish(&b);
}

static void test_base_buf__error_sticks_until_reset(void **state) {
    (void)state;
    hob_buf b;
    hob_buf_init(&b, 4);
    hob_buf_add(&b, HOB_STR("ab"));
    assert_int_equal(hob_buf_add(&b, HOB_STR("too long")), HOB_ETOOBIG);
    assert_int_equal(hob_buf_addc(&b, 'c'), HOB_ETOOBIG); /* would fit, but something is missing */
    assert_int_equal(hob_buf_add(&b, HOB_STR_NULL), HOB_ETOOBIG);
    assert_int_equal(hob_buf_addf(&b, "x"), HOB_ETOOBIG);
    assert_null(hob_buf_reserve(&b, 1));
    assert_int_equal(b.err, HOB_ETOOBIG);
    assert_string_equal(hob_buf_z(&b), "ab");
    hob_buf_reset(&b);
    assert_int_equal(b.err, 0);
    assert_int_equal(hob_buf_add(&b, HOB_STR("cdef")), HOB_OK);
    assert_string_equal(hob_buf_z(&b), "cdef");
    hob_buf_finish(&b);
}

static void test_base_buf__refuses_everything_when_zeroed(void **state) {
    (void)state;
    hob_buf b = {0};
    assert_int_equal(hob_buf_addc(&b, 'x'), HOB_ETOOBIG);
    assert_string_equal(hob_buf_z(&b), "");
    hob_buf_finish(&b);
}

static void test_base_buf__survives_absurd_sizes(void **state) {
    (void)state;
    hob_buf b;
    hob_buf_init(&b, SIZE_MAX);
    hob_buf_addc(&b, 'x');
    assert_null(hob_buf_reserve(&b, SIZE_MAX));
    assert_int_equal(b.err, HOB_ETOOBIG);
    hob_buf_finish(&b);
}

static void test_base_buf__reserves_room_to_write_into(void **state) {
    (void)state;
    hob_buf b;
    hob_buf_init(&b, 100);
    hob_buf_addz(&b, "ab");
    char *to = hob_buf_reserve(&b, 3);
    assert_non_null(to);
    memcpy(to, "cde", 3);
    b.n += 3;
    assert_string_equal(hob_buf_z(&b), "abcde");
    assert_non_null(hob_buf_reserve(&b, 95));
    assert_null(hob_buf_reserve(&b, 96));
    hob_buf_finish(&b);
}

static void test_base_buf__consumes_from_the_front(void **state) {
    (void)state;
    hob_buf b;
    hob_buf_init(&b, 100);
    hob_buf_addz(&b, "abcdef");
    hob_buf_consume(&b, 2);
    assert_string_equal(hob_buf_z(&b), "cdef");
    hob_buf_consume(&b, 0);
    assert_string_equal(hob_buf_z(&b), "cdef");
    hob_buf_consume(&b, 99);
    assert_int_equal(b.n, 0);
    hob_buf_finish(&b);
}

static void test_base_buf__appends_a_slice_of_itself(void **state) {
    (void)state;
    hob_buf b;
    hob_buf_init(&b, 1 << 12);
    hob_buf_addz(&b, "ab");
    for (int i = 0; i < 10; i++) hob_buf_add(&b, hob_buf_str(&b));
    assert_int_equal(b.n, 2048);
    for (size_t i = 0; i < b.n; i++) assert_int_equal(b.p[i], "ab"[i % 2]);
    hob_buf_finish(&b);
}

static void test_base_buf__can_be_used_after_finish(void **state) {
    (void)state;
    hob_buf b;
    hob_buf_init(&b, 3);
    hob_buf_addz(&b, "abc");
    hob_buf_finish(&b);
    hob_buf_finish(&b);
    assert_int_equal(hob_buf_addz(&b, "def"), HOB_OK);
    assert_string_equal(hob_buf_z(&b), "def");
    hob_buf_finish(&b);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_base_buf__appends_and_formats),
        cmocka_unit_test(test_base_buf__grows_while_formatting),
        cmocka_unit_test(test_base_buf__fills_to_the_ceiling_and_no_further),
        cmocka_unit_test(test_base_buf__formats_up_to_the_ceiling),
        cmocka_unit_test(test_base_buf__error_sticks_until_reset),
        cmocka_unit_test(test_base_buf__refuses_everything_when_zeroed),
        cmocka_unit_test(test_base_buf__survives_absurd_sizes),
        cmocka_unit_test(test_base_buf__reserves_room_to_write_into),
        cmocka_unit_test(test_base_buf__consumes_from_the_front),
        cmocka_unit_test(test_base_buf__appends_a_slice_of_itself),
        cmocka_unit_test(test_base_buf__can_be_used_after_finish),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
