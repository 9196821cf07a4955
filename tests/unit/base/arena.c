/* Arenas: alignment, zeroing, ceiling, reset. */
#include "base/base.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
static bool all_zero(const char *p, size_t n) {
    for (size_t i = 0; i < n; i++) {
        if (p[i]) return false;
    }
    return true;
}

static void test_base_arena__hands_out_aligned_zeroed_memory(void **state) {
    (void)state;
    static const size_t sizes[] = {1, 3, 16, 17, 100, 4000, 4096, 5000, 70000, 2000000};
    hob_arena *a = hob_arena_create(0);
    for (int round = 0; round < 3; round++) {
        for (size_t i = 0; i < HOB_ARRAY_LEN(sizes); i++) {
            char *p = hob_arena_alloc(a, sizes[i]);
            assert_non_null(p);
            assert_int_equal((uintptr_t)p % 16, 0);
            assert_true(all_zero(p, sizes[i]));
            memset(p, 0xff, sizes[i]);
            hob_arena_bytes(a, 3); /* puts the next one off its alignment */
        }
        hob_arena_reset(a); /* the memory comes again, dirty */
    }
    hob_arena_destroy(a);
}

static void test_base_arena__objects_do_not_overlap(void **state) {
    (void)state;
    enum { COUNT = 2000 };
    static unsigned char *p[COUNT];
    hob_arena *a = hob_arena_create(0);
    for (size_t i = 0; i < COUNT; i++) {
        size_t n = 1 + i * 7 % 300;
        p[i] = i % 2 ? hob_arena_alloc(a, n) : hob_arena_bytes(a, n);
        memset(p[i], (int)(i % 251), n);
    }
    for (size_t i = 0; i < COUNT; i++) {
        for (size_t j = 0; j < 1 + i * 7 % 300; j++) {
            assert_int_equal(p[i][j], i % 251);
        }
    }
    hob_arena_destroy(a);
}

static void test_base_arena__stops_at_its_ceiling(void **state) {
    (void)state;
    hob_arena *a = hob_arena_create(1000);
    assert_non_null(hob_arena_bytes(a, 999));
    assert_null(hob_arena_alloc(a, 2));
    assert_null(hob_arena_bytes(a, 2));
    assert_null(hob_arena_bytes(a, SIZE_MAX));
    assert_non_null(hob_arena_bytes(a, 1));
    assert_null(hob_arena_bytes(a, 1));
    assert_int_equal(hob_arena_used(a), 1000);
    hob_arena_destroy(a);
}

static void test_base_arena__reset_gives_the_ceiling_back(void **state) {
    (void)state;
    hob_arena *a = hob_arena_create(100000);
    for (int i = 0; i < 5; i++) {
        assert_non_null(hob_arena_alloc(a, 90000));
        assert_null(hob_arena_alloc(a, 90000));
        hob_arena_reset(a);
        assert_int_equal(hob_arena_used(a), 0);
    }
    hob_arena_destroy(a);
}

static void test_base_arena__dup_copies_with_a_nul(void **state) {
    (void)state;
    hob_arena *a = hob_arena_create(100);
    hob_str s = hob_arena_dup(a, hob_str_n("abcdef", 3));
    assert_string_equal(s.p, "abc");
    assert_int_equal(s.n, 3);
    s = hob_arena_dup(a, HOB_STR_NULL);
    assert_string_equal(s.p, "");
    char large[200] = {0};
    assert_null(hob_arena_dup(a, hob_str_n(large, sizeof(large))).p);
    hob_arena_destroy(a);
}

static void test_base_arena__destroy_accepts_null(void **state) {
    (void)state;
    hob_arena_destroy(NULL);
    hob_arena *unused = hob_arena_create(0);
    hob_arena_reset(unused);
    hob_arena_destroy(unused);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_base_arena__hands_out_aligned_zeroed_memory),
        cmocka_unit_test(test_base_arena__objects_do_not_overlap),
        cmocka_unit_test(test_base_arena__stops_at_its_ceiling),
        cmocka_unit_test(test_base_arena__reset_gives_the_ceiling_back),
        cmocka_unit_test(test_base_arena__dup_copies_with_a_nul),
        cmocka_unit_test(test_base_arena__destroy_accepts_null),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
