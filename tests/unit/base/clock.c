/* Clocks and RFC 3339 times. */
#include "base/base.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <time.h>

static void test_base_clock__real_time_runs(void **state) {
    (void)state;
    hob_clock *c = hob_clock_real();
    assert_false(c->virtual_time);
    int64_t before = c->mono_ms(c);
    assert_true(c->mono_ms(c) >= before);
    int64_t seconds = (int64_t)time(NULL) - c->wall_ms(c) / 1000;
    assert_true(seconds >= -1 && seconds <= 1);
}

static void test_base_clock__fake_time_moves_only_when_told(void **state) {
    (void)state;
    hob_fake_clock f;
    hob_fake_clock_init(&f, 1000);
    hob_clock *c = &f.base;
    assert_true(c->virtual_time);
    assert_true(c->mono_ms(c) == 0);
    assert_true(c->wall_ms(c) == 1000);
    hob_fake_clock_advance(&f, 25);
    assert_true(c->mono_ms(c) == 25);
    assert_true(c->wall_ms(c) == 1025);
    f.wall = 5; /* the wall clock may be set back, the monotonic one goes on */
    hob_fake_clock_advance(&f, 1);
    assert_true(c->mono_ms(c) == 26);
    assert_true(c->wall_ms(c) == 6);
}

static const struct {
    int64_t ms;
    const char *text;
} times[] = {
    {0, "1970-01-01T00:00:00.000Z"},
    {-1, "1969-12-31T23:59:59.999Z"},
    {951782400000, "2000-02-29T00:00:00.000Z"},
    {4107542399999, "2100-02-28T23:59:59.999Z"},
    {4107542400000, "2100-03-01T00:00:00.000Z"},
    {1767323045678, "2026-01-02T03:04:05.678Z"},
    {-62167219200000, "0000-01-01T00:00:00.000Z"},
    {253402300799999, "9999-12-31T23:59:59.999Z"},
};

static void test_base_clock__formats_and_parses_back(void **state) {
    (void)state;
    for (size_t i = 0; i < HOB_ARRAY_LEN(times); i++) {
        char text[25];
        hob_time_format(times[i].ms, text);
        assert_string_equal(text, times[i].text);
        int64_t ms = 7;
        assert_int_equal(hob_time_parse(hob_str_z(text), &ms), HOB_OK);
        assert_true(ms == times[i].ms);
    }
}

static void test_base_clock__agrees_with_gmtime_every_day(void **state) {
    (void)state;
    for (int64_t day = -200000; day < 200000; day += 13) {
        time_t t = (time_t)(day * 86400 + 3661);
        struct tm tm;
        char want[32], got[25];
        gmtime_r(&t, &tm);
        strftime(want, sizeof(want), "%Y-%m-%dT%H:%M:%S.000Z", &tm);
        hob_time_format((int64_t)t * 1000, got);
        assert_string_equal(got, want);
    }
}

static void test_base_clock__clamps_years_without_four_digits(void **state) {
    (void)state;
    char text[25];
    hob_time_format(INT64_MAX, text);
    assert_string_equal(text, "9999-12-31T23:59:59.999Z");
    hob_time_format(INT64_MIN, text);
    assert_string_equal(text, "0000-01-01T00:00:00.000Z");
}

static void test_base_clock__reads_other_forms_of_rfc3339(void **state) {
    (void)state;
    static const struct {
        const char *text;
        int64_t ms;
    } good[] = {
        {"1970-01-01T00:00:01Z", 1000},
        {"1970-01-01t00:00:01z", 1000},
        {"1970-01-01 00:00:01Z", 1000},
        {"1970-01-01T00:00:00.5Z", 500},
        {"1970-01-01T00:00:00.123456789Z", 123},
        {"1970-01-01T01:00:00+01:00", 0},
        {"1969-12-31T18:30:00-05:30", 0},
        {"1972-06-30T23:59:60Z", 78796800000}, /* a leap second is the next second */
    };
    for (size_t i = 0; i < HOB_ARRAY_LEN(good); i++) {
        int64_t ms = 7;
        assert_int_equal(hob_time_parse(hob_str_z(good[i].text), &ms), HOB_OK);
        assert_true(ms == good[i].ms);
    }
}

static void test_base_clock__refuses_malformed_times(void **state) {
    (void)state;
    static const char *const wrong[] = {
        "",
        "1970",
        "1970-01-01",
        "1970-01-01T00:00:00",
        "1970-1-01T00:00:00Z",
        "1970-00-01T00:00:00Z",
        "1970-13-01T00:00:00Z",
        "1970-04-31T00:00:00Z",
        "2100-02-29T00:00:00Z",
        "1970-01-00T00:00:00Z",
        "1970-01-01T24:00:00Z",
        "1970-01-01T00:60:00Z",
        "1970-01-01T00:00:61Z",
        "1970-01-01T00:00:00.Z",
        "1970-01-01T00:00:00+0100",
        "1970-01-01T00:00:00+24:00",
        "1970-01-01T00:00:00Z ",
        " 1970-01-01T00:00:00Z",
        "+970-01-01T00:00:00Z",
    };
    for (size_t i = 0; i < HOB_ARRAY_LEN(wrong); i++) {
        int64_t ms = 7;
        assert_int_equal(hob_time_parse(hob_str_z(wrong[i]), &ms), HOB_EPARSE);
        assert_true(ms == 7);
    }
    int64_t ms = 7;
    assert_int_equal(hob_time_parse(hob_str_n("1970-01-01T00:00:00\0", 20), &ms), HOB_EPARSE);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_base_clock__real_time_runs),
        cmocka_unit_test(test_base_clock__fake_time_moves_only_when_told),
        cmocka_unit_test(test_base_clock__formats_and_parses_back),
        cmocka_unit_test(test_base_clock__agrees_with_gmtime_every_day),
        cmocka_unit_test(test_base_clock__clamps_years_without_four_digits),
        cmocka_unit_test(test_base_clock__reads_other_forms_of_rfc3339),
        cmocka_unit_test(test_base_clock__refuses_malformed_times),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
