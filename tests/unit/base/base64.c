/* Base64: the vectors of RFC 4648, strictness, ceilings. */
#include "base/base.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
static const struct {
    const char *bytes, *text;
} vectors[] = {
    {"", ""},
    {"f", "Zg=="},
    {"fo", "Zm8="},
    {"foo", "Zm9v"},
    {"foob", "Zm9vYg=="},
    {"fooba", "Zm9vYmE="},
    {"foobar", "Zm9vYmFy"},
    {"\xfb\xff\xbf", "+/+/"},
};

static void test_base_base64__matches_the_rfc(void **state) {
    (void)state;
    for (size_t i = 0; i < HOB_ARRAY_LEN(vectors); i++) {
        hob_buf b;
        hob_buf_init(&b, 100);
        assert_int_equal(hob_base64_encode(&b, hob_str_z(vectors[i].bytes)), HOB_OK);
        assert_string_equal(hob_buf_z(&b), vectors[i].text);
        hob_buf_reset(&b);
        assert_int_equal(hob_base64_decode(&b, hob_str_z(vectors[i].text)), HOB_OK);
        assert_string_equal(hob_buf_z(&b), vectors[i].bytes);
        hob_buf_finish(&b);
    }
}

static void test_base_base64__refuses_other_texts(void **state) {
    (void)state;
    static const char *const wrong[] = {
        "Zg",   "Zg=",  "Zg===", "Z===", "====", "Zg==Zg==", "Zm9v\n",   "Zm 9v",
        "Zm9-", "Zm9_", "Zh==",  "Zm9=", "=Zg=", "Z=g=",     "Zm9vYg=x",
    };
    for (size_t i = 0; i < HOB_ARRAY_LEN(wrong); i++) {
        hob_buf b;
        hob_buf_init(&b, 100);
        hob_buf_addz(&b, "kept");
        assert_int_equal(hob_base64_decode(&b, hob_str_z(wrong[i])), HOB_EPARSE);
        assert_string_equal(hob_buf_z(&b), "kept");
        hob_buf_finish(&b);
    }
}

static void test_base_base64__round_trips_every_byte_at_every_length(void **state) {
    (void)state;
    char bytes[256];
    for (size_t i = 0; i < sizeof(bytes); i++) bytes[i] = (char)i;
    hob_buf text, back;
    hob_buf_init(&text, 1000);
    hob_buf_init(&back, 1000);
    for (size_t n = 0; n <= sizeof(bytes); n++) {
        hob_buf_reset(&text);
        hob_buf_reset(&back);
        assert_int_equal(hob_base64_encode(&text, hob_str_n(bytes, n)), HOB_OK);
        assert_int_equal(hob_base64_decode(&back, hob_buf_str(&text)), HOB_OK);
        assert_true(hob_str_eq(hob_buf_str(&back), hob_str_n(bytes, n)));
    }
    hob_buf_finish(&text);
    hob_buf_finish(&back);
}

static void test_base_base64__obeys_the_ceiling(void **state) {
    (void)state;
    hob_buf b;
    hob_buf_init(&b, 3);
    assert_int_equal(hob_base64_encode(&b, HOB_STR("f")), HOB_ETOOBIG);
    hob_buf_reset(&b);
    assert_int_equal(hob_base64_decode(&b, HOB_STR("Zm9v")), HOB_OK);
    assert_int_equal(hob_base64_decode(&b, HOB_STR("Zg==")), HOB_ETOOBIG);
    hob_buf_finish(&b);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_base_base64__matches_the_rfc),
        cmocka_unit_test(test_base_base64__refuses_other_texts),
        cmocka_unit_test(test_base_base64__round_trips_every_byte_at_every_length),
        cmocka_unit_test(test_base_base64__obeys_the_ceiling),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
