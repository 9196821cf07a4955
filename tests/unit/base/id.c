/* UUIDs of version 7, names, randomness. */
#include "base/base.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
/* The example of RFC 9562, appendix A.6. */
static void test_base_id__uuid7_has_the_fields_of_the_rfc(void **state) {
    (void)state;
    static const uint8_t rnd[10] = {0x0c, 0xc3, 0x18, 0xc4, 0xdc, 0x0c, 0x0c, 0x07, 0x39, 0x8f};
    char id[37];
    hob_uuid7(0x017f22e279b0, rnd, id);
    assert_string_equal(id, "017f22e2-79b0-7cc3-98c4-dc0c0c07398f");
}

static void test_base_id__uuid7_fixes_version_and_variant(void **state) {
    (void)state;
    uint8_t rnd[10];
    char id[37];
    memset(rnd, 0xff, sizeof(rnd));
    hob_uuid7(0, rnd, id);
    assert_string_equal(id, "00000000-0000-7fff-bfff-ffffffffffff");
    memset(rnd, 0, sizeof(rnd));
    hob_uuid7(0xffffffffffff, rnd, id);
    assert_string_equal(id, "ffffffff-ffff-7000-8000-000000000000");
}

static void test_base_id__uuid7_sorts_by_time(void **state) {
    (void)state;
    hob_fake_clock f;
    hob_fake_clock_init(&f, 1767323045000);
    char before[37], id[37];
    hob_uuid7_new(&f.base, before);
    for (int i = 0; i < 1000; i++) {
        hob_fake_clock_advance(&f, 1 + i);
        hob_uuid7_new(&f.base, id);
        assert_true(strcmp(before, id) < 0);
        memcpy(before, id, sizeof(id));
    }
}

static void test_base_id__uuid7_differs_within_a_millisecond(void **state) {
    (void)state;
    hob_fake_clock f;
    hob_fake_clock_init(&f, 1767323045000);
    hob_map *seen = hob_map_create();
    for (int i = 0; i < 1000; i++) {
        char id[37];
        hob_uuid7_new(&f.base, id);
        assert_true(hob_id_valid(hob_str_z(id)));
        assert_null(hob_map_put(seen, hob_str_z(id), seen));
    }
    hob_map_destroy(seen);
}

static void test_base_id__accepts_plain_names(void **state) {
    (void)state;
    static const char *const good[] = {"a", "Z9", "0", "a-b", "a.b_c-d", "a--b", "x..y"};
    for (size_t i = 0; i < HOB_ARRAY_LEN(good); i++) {
        assert_true(hob_id_valid(hob_str_z(good[i])));
    }
    char name[129];
    memset(name, 'a', sizeof(name));
    assert_true(hob_id_valid(hob_str_n(name, 128)));
    assert_false(hob_id_valid(hob_str_n(name, 129)));
}

static void test_base_id__refuses_what_a_path_or_url_would_change(void **state) {
    (void)state;
    static const char *const wrong[] = {"",    ".",   "..",  "-a",       "a-",         "_a",
                                        "a.",  "a/b", "a b", "a\\b",     "a\nb",       "a%20b",
                                        "a?b", "a:b", "~",   "\xc3\xa9", "a\xc3\xa9-x"};
    for (size_t i = 0; i < HOB_ARRAY_LEN(wrong); i++) {
        assert_false(hob_id_valid(hob_str_z(wrong[i])));
    }
    assert_false(hob_id_valid(hob_str_n("a\0b", 3)));
    assert_false(hob_id_valid(HOB_STR_NULL));
}

static void test_base_id__random_fills_every_byte(void **state) {
    (void)state;
    uint8_t seen[300] = {0}, bytes[300];
    for (int i = 0; i < 50; i++) {
        assert_int_equal(hob_random(bytes, sizeof(bytes)), HOB_OK);
        for (size_t j = 0; j < sizeof(bytes); j++) seen[j] |= bytes[j];
    }
    for (size_t j = 0; j < sizeof(seen); j++) assert_int_not_equal(seen[j], 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_base_id__uuid7_has_the_fields_of_the_rfc),
        cmocka_unit_test(test_base_id__uuid7_fixes_version_and_variant),
        cmocka_unit_test(test_base_id__uuid7_sorts_by_time),
        cmocka_unit_test(test_base_id__uuid7_differs_within_a_millisecond),
        cmocka_unit_test(test_base_id__accepts_plain_names),
        cmocka_unit_test(test_base_id__refuses_what_a_path_or_url_would_change),
        cmocka_unit_test(test_base_id__random_fills_every_byte),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
