/* The string map: against a plain array, and its order. */
#include "base/base.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>

static void test_base_map__puts_gets_replaces_takes(void **state) {
    (void)state;
    int one, two;
    hob_map *m = hob_map_create();
    assert_null(hob_map_get(m, HOB_STR("a")));
    assert_null(hob_map_take(m, HOB_STR("a")));
    assert_null(hob_map_put(m, HOB_STR("a"), &one));
    assert_ptr_equal(hob_map_get(m, HOB_STR("a")), &one);
    assert_ptr_equal(hob_map_put(m, HOB_STR("a"), &two), &one);
    assert_int_equal(hob_map_count(m), 1);
    assert_ptr_equal(hob_map_take(m, HOB_STR("a")), &two);
    assert_null(hob_map_get(m, HOB_STR("a")));
    assert_int_equal(hob_map_count(m), 0);
    hob_map_destroy(m);
}

static void test_base_map__copies_its_keys(void **state) {
    (void)state;
    int v;
    char key[] = "key";
    hob_map *m = hob_map_create();
    hob_map_put(m, hob_str_z(key), &v);
    key[0] = 'x';
    assert_ptr_equal(hob_map_get(m, HOB_STR("key")), &v);
    assert_null(hob_map_get(m, HOB_STR("xey")));
    hob_map_destroy(m);
}

static void test_base_map__keys_may_be_empty_or_hold_nul(void **state) {
    (void)state;
    int empty, nul;
    hob_map *m = hob_map_create();
    hob_map_put(m, HOB_STR(""), &empty);
    hob_map_put(m, hob_str_n("\0", 1), &nul);
    assert_ptr_equal(hob_map_get(m, HOB_STR_NULL), &empty);
    assert_ptr_equal(hob_map_get(m, hob_str_n("\0", 1)), &nul);
    assert_int_equal(hob_map_count(m), 2);
    hob_map_destroy(m);
}

static void test_base_map__iterates_in_insertion_order(void **state) {
    (void)state;
    int v;
    char key[16];
    hob_map *m = hob_map_create();
    for (int i = 0; i < 500; i++) {
        snprintf(key, sizeof(key), "k%d", i);
        hob_map_put(m, hob_str_z(key), &v);
    }
    for (int i = 0; i < 500; i += 2) {
        snprintf(key, sizeof(key), "k%d", i);
        hob_map_take(m, hob_str_z(key));
    }
    hob_str got;
    void *value;
    int n = 0;
    for (size_t pos = 0; hob_map_next(m, &pos, &got, &value); n++) {
        snprintf(key, sizeof(key), "k%d", 2 * n + 1);
        assert_true(hob_str_eqz(got, key));
        assert_ptr_equal(value, &v);
    }
    assert_int_equal(n, 250);
    hob_map_destroy(m);
}

static void test_base_map__allows_take_while_iterating(void **state) {
    (void)state;
    int v;
    hob_map *m = hob_map_create();
    hob_map_put(m, HOB_STR("a"), &v);
    hob_map_put(m, HOB_STR("b"), &v);
    hob_map_put(m, HOB_STR("c"), &v);
    hob_str key;
    size_t pos = 0, n = 0;
    for (; hob_map_next(m, &pos, &key, NULL); n++) {
        assert_ptr_equal(hob_map_take(m, key), &v);
    }
    assert_int_equal(n, 3);
    assert_int_equal(hob_map_count(m), 0);
    hob_map_destroy(m);
}

enum { MODEL_KEYS = 200 };

/* Many random operations, compared with an array in which the key is the index. */
static void test_base_map__agrees_with_an_array(void **state) {
    (void)state;
    static int values[2];
    void *model[MODEL_KEYS] = {0};
    hob_map *m = hob_map_create();
    uint64_t random = 88172645463325252u;
    for (int i = 0; i < 20000; i++) {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        size_t k = random % MODEL_KEYS;
        char key[16];
        snprintf(key, sizeof(key), "key-%zu", k);
        hob_str s = hob_str_z(key);
        void *now = random >> 40 & 1 ? &values[random >> 41 & 1] : NULL;
        void *was = now ? hob_map_put(m, s, now) : hob_map_take(m, s);
        assert_ptr_equal(was, model[k]);
        model[k] = now;
        assert_ptr_equal(hob_map_get(m, s), now);
    }
    size_t count = 0;
    for (size_t k = 0; k < MODEL_KEYS; k++) count += model[k] != NULL;
    assert_int_equal(hob_map_count(m), count);
    hob_map_destroy(m);
}

static void test_base_map__destroy_accepts_null(void **state) {
    (void)state;
    hob_map_destroy(NULL);
    hob_map_destroy(hob_map_create());
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_base_map__puts_gets_replaces_takes),
        cmocka_unit_test(test_base_map__copies_its_keys),
        cmocka_unit_test(test_base_map__keys_may_be_empty_or_hold_nul),
        cmocka_unit_test(test_base_map__iterates_in_insertion_order),
        cmocka_unit_test(test_base_map__allows_take_while_iterating),
        cmocka_unit_test(test_base_map__agrees_with_an_array),
        cmocka_unit_test(test_base_map__destroy_accepts_null),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
