/* Numbers: exact integers, correctly rounded doubles, shortest text. */
#include "base/json_number.h"
#include "base/json.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <float.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static void test_base_json_number__reads_exact_integers(void **state) {
    (void)state;
    static const struct {
        const char *text;
        int64_t want;
    } good[] = {
        {"0", 0},
        {"-0", 0},
        {"1", 1},
        {"-1", -1},
        {"9007199254740993", 9007199254740993}, /* no double holds this one */
        {"9223372036854775807", INT64_MAX},
        {"-9223372036854775808", INT64_MIN},
        {"1.0", 1},
        {"100.000", 100},
        {"1e3", 1000},
        {"1.5e1", 15},
        {"1500e-2", 15},
        {"0.0", 0},
        {"-0.0e-5", 0},
        {"0e999999999999999999999", 0},
        {"92233720368547758.07e2", INT64_MAX},
        {"-922337203685477580.8E1", INT64_MIN},
        {"1e18", 1000000000000000000},
        {"1000000000000000000000000e-24", 1},
        {"0.000000000000000000000001e24", 1},
    };
    for (size_t i = 0; i < HOB_ARRAY_LEN(good); i++) {
        int64_t v = 7;
        if (hob_number_int(hob_str_z(good[i].text), &v) != HOB_OK || v != good[i].want) {
            fail_msg("%s gives %lld", good[i].text, (long long)v);
        }
    }
}

static void test_base_json_number__refuses_what_no_int64_is(void **state) {
    (void)state;
    static const char *const wrong[] = {
        "0.5",
        "1.01",
        "1e-1",
        "15e-2",
        "9223372036854775808",
        "-9223372036854775809",
        "92233720368547758080",
        "1e19",
        "1e400",
        "1e99999999999999999999",
        "1e-99999999999999999999",
        "10000000000000000000000000000000000000000",
    };
    for (size_t i = 0; i < HOB_ARRAY_LEN(wrong); i++) {
        int64_t v = 7;
        if (hob_number_int(hob_str_z(wrong[i]), &v) != HOB_EINVAL || v != 7) {
            fail_msg("%s gives %lld", wrong[i], (long long)v);
        }
    }
}

/* In the C locale strtod rounds correctly, so it is the oracle. */
static void test_base_json_number__doubles_agree_with_strtod(void **state) {
    (void)state;
    static const char *const texts[] = {
        "0",
        "0.1",
        "-0.1",
        "1e22",
        "1e23",
        "123456789012345678",
        "9007199254740993",
        "9007199254740992.9999999999999999999999999999",
        "1.7976931348623157e308",
        "1.7976931348623159e308",
        "1e308",
        "1e309",
        "-1e400",
        "5e-324",
        "2.4703282292062327e-324",
        "2.4703282292062328e-324",
        "1e-400",
        "2.2250738585072011e-308",
        "2.2250738585072014e-308",
        "0.000000000000000000000000000000000000000000000000000000000000001e63",
        "179769313486231580793728971405303415079934132710037826936173778980444968292764750946649017977587207096330286416692887910946555547851940402630657488671505820681908902000708383676273854845817711531764475730270069855571366959622842914819860834936475292719074168444365510704342711559699508093042880",
        "1.00000000000000011102230246251565404236316680908203125",
        "1.00000000000000011102230246251565404236316680908203124",
        "1.00000000000000011102230246251565404236316680908203126",
    };
    for (size_t i = 0; i < HOB_ARRAY_LEN(texts); i++) {
        double got = hob_number_double(hob_str_z(texts[i])), want = strtod(texts[i], NULL);
        if (got != want) fail_msg("%s: %.17g is not %.17g", texts[i], got, want);
    }
    assert_true(isinf(hob_number_double(HOB_STR("1e400"))));
    assert_true(signbit(hob_number_double(HOB_STR("-0.0"))));
}

/* A tail of digits far behind the last that a double can hold still breaks a tie. */
static void test_base_json_number__long_tails_break_ties(void **state) {
    (void)state;
    hob_buf b;
    hob_buf_init(&b, 10000);
    hob_buf_addz(&b, "1.00000000000000011102230246251565404236316680908203125");
    for (int i = 0; i < 2000; i++) hob_buf_addc(&b, '0');
    assert_true(hob_number_double(hob_buf_str(&b)) == 1.0);
    hob_buf_addc(&b, '1');
    assert_true(hob_number_double(hob_buf_str(&b)) == nextafter(1.0, 2));
    hob_buf_finish(&b);
}

static void assert_format(double v, const char *want) {
    char text[HOB_NUMBER_TEXT];
    size_t n = hob_number_format(v, text);
    if (!hob_str_eqz(hob_str_n(text, n), want)) fail_msg("%.*s is not %s", (int)n, text, want);
}

static void test_base_json_number__writes_the_shortest_text(void **state) {
    (void)state;
    assert_format(0, "0");
    assert_format(-0.0, "-0");
    assert_format(1, "1");
    assert_format(-1.5, "-1.5");
    assert_format(0.1, "0.1");
    assert_format(0.1 + 0.2, "0.30000000000000004");
    assert_format(100, "100");
    assert_format(123456.789, "123456.789");
    assert_format(1e20, "100000000000000000000");
    assert_format(123456789012345680000.0, "123456789012345680000");
    assert_format(1e21, "1e21");
    assert_format(1.25e-5, "0.0000125");
    assert_format(1e-6, "0.000001");
    assert_format(1e-7, "1e-7");
    assert_format(1.5e-7, "1.5e-7");
    assert_format(9007199254740993.0, "9007199254740992");
    assert_format(5e-324, "5e-324");
    assert_format(DBL_MIN, "2.2250738585072014e-308");
    assert_format(DBL_MAX, "1.7976931348623157e308");
    assert_format(-DBL_MAX, "-1.7976931348623157e308");
    /* a power of two: its nearest decimal of 16 digits is another double */
    assert_format(ldexp(1, -44), "5.684341886080802e-14");
    assert_format(ldexp(1, -1074 + 52), "2.2250738585072014e-308");
}

static double double_of(uint64_t bits) {
    double v;
    memcpy(&v, &bits, sizeof(v));
    return v;
}

/* No text with one digit less reads back, and the one written does. */
static void assert_shortest(double v) {
    char text[HOB_NUMBER_TEXT], shorter[64];
    size_t n = hob_number_format(v, text);
    assert_true(n < HOB_NUMBER_TEXT);
    assert_true(hob_json_valid(hob_str_n(text, n)));
    if (hob_number_double(hob_str_n(text, n)) != v) fail_msg("%.17g came back wrong", v);
    size_t digits = 0, zeros = 0;
    for (size_t i = 0; i < n && text[i] != 'e'; i++) {
        if (text[i] < '0' || text[i] > '9' || (digits == 0 && text[i] == '0')) continue;
        digits++;
        zeros = text[i] == '0' ? zeros + 1 : 0;
    }
    digits -= zeros;
    if (digits < 2) return;
    snprintf(shorter, sizeof(shorter), "%.*e", (int)digits - 2, v);
    if (strtod(shorter, NULL) == v) fail_msg("%.*s: %s is shorter", (int)n, text, shorter);
}

static void test_base_json_number__random_doubles_round_trip_shortest(void **state) {
    (void)state;
    uint64_t random = 88172645463325252u;
    int count = getenv("HOB_LONG") ? 1000000 : 20000;
    for (int i = 0; i < count; i++) {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        double v = double_of(i % 4 ? random : random & 0x000fffffffffffffu); /* some subnormal */
        if (isfinite(v)) assert_shortest(v);
    }
    for (int e = -1074; e < 1024; e++) assert_shortest(ldexp(1, e));
}

/* Writes the one file that makes a locale with a decimal comma, in the format of glibc, so that the
 * test does not depend on the locales of the machine. */
static void write_comma_locale(const char *folder) {
    enum { STRINGS = 6, DATA = 8 + 4 * STRINGS };
    const uint32_t header[2 + STRINGS] = {0x20031115 ^ 1, STRINGS,  DATA,     DATA + 2,
                                          DATA + 2,       DATA + 4, DATA + 8, DATA + 12};
    const uint32_t wide[2] = {',', 0};
    char path[256];
    snprintf(path, sizeof(path), "%s/comma", folder);
    assert_int_equal(mkdir(path, 0700), 0);
    snprintf(path, sizeof(path), "%s/comma/LC_NUMERIC", folder);
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    fwrite(header, sizeof(header), 1, f);
    fwrite(",\0\0\0", 4, 1, f);
    fwrite(wide, sizeof(wide), 1, f);
    fwrite("UTF-8", 6, 1, f);
    assert_int_equal(fclose(f), 0);
}

static void remove_comma_locale(const char *folder) {
    char path[256];
    snprintf(path, sizeof(path), "%s/comma/LC_NUMERIC", folder);
    unlink(path);
    snprintf(path, sizeof(path), "%s/comma", folder);
    rmdir(path);
    rmdir(folder);
}

/* A host may have switched the process to a locale with a decimal comma. */
static void test_base_json_number__does_not_obey_the_locale(void **state) {
    (void)state;
    char folder[] = "/tmp/hob-locale-XXXXXX", printed[8], text[HOB_NUMBER_TEXT];
    assert_non_null(mkdtemp(folder));
    write_comma_locale(folder);
    setenv("LOCPATH", folder, 1);
    const char *set = setlocale(LC_NUMERIC, "comma");
    snprintf(printed, sizeof(printed), "%.1f", 0.5);
    size_t n = hob_number_format(1234.5678901234567, text);
    double v = hob_number_double(HOB_STR("1.7976931348623157e308"));
    double w = hob_number_double(HOB_STR("1234567890123456.7890123"));
    setlocale(LC_NUMERIC, "C");
    remove_comma_locale(folder);
    if (!set) skip(); /* another C library */
    assert_string_equal(printed, "0,5");
    assert_true(hob_str_eqz(hob_str_n(text, n), "1234.5678901234567"));
    assert_true(v == DBL_MAX);
    assert_true(w == 1234567890123456.7890123);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_base_json_number__reads_exact_integers),
        cmocka_unit_test(test_base_json_number__refuses_what_no_int64_is),
        cmocka_unit_test(test_base_json_number__doubles_agree_with_strtod),
        cmocka_unit_test(test_base_json_number__long_tails_break_ties),
        cmocka_unit_test(test_base_json_number__writes_the_shortest_text),
        cmocka_unit_test(test_base_json_number__random_doubles_round_trip_shortest),
        cmocka_unit_test(test_base_json_number__does_not_obey_the_locale),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
