/*
 * clock.c - real and fake time, and RFC 3339 text.
 */
#include "base/base.h"

#include <stdio.h>
#include <time.h>

#define DAY_MS INT64_C(86400000)

static int64_t read_ms(clockid_t id) {
    struct timespec t;
    if (clock_gettime(id, &t) != 0) return 0;
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static int64_t real_mono(hob_clock *c) {
    (void)c;
    return read_ms(CLOCK_MONOTONIC);
}

static int64_t real_wall(hob_clock *c) {
    (void)c;
    return read_ms(CLOCK_REALTIME);
}

hob_clock *hob_clock_real(void) {
    static hob_clock real = {.mono_ms = real_mono, .wall_ms = real_wall};
    return &real;
}

static int64_t fake_mono(hob_clock *c) {
    return HOB_CONTAINER(c, hob_fake_clock, base)->mono;
}

static int64_t fake_wall(hob_clock *c) {
    return HOB_CONTAINER(c, hob_fake_clock, base)->wall;
}

void hob_fake_clock_init(hob_fake_clock *c, int64_t wall_ms) {
    *c = (hob_fake_clock){
        .base = {.mono_ms = fake_mono, .wall_ms = fake_wall, .virtual_time = true},
        .wall = wall_ms,
    };
}

void hob_fake_clock_advance(hob_fake_clock *c, int64_t ms) {
    c->mono += ms;
    c->wall += ms;
}

/* Days since 1970-01-01 in the proleptic Gregorian calendar. Years are counted from March, so that
 * the leap day is the last of its year; 400 years are 146097 days. */
static int64_t days_of(int64_t year, int month, int day) {
    year -= month <= 2;
    int64_t era = (year >= 0 ? year : year - 399) / 400;
    int64_t in_era = year - era * 400;
    int64_t in_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
    return era * 146097 + in_era * 365 + in_era / 4 - in_era / 100 + in_year - 719468;
}

static void civil_of(int64_t days, int64_t *year, int *month, int *day) {
    days += 719468;
    int64_t era = (days >= 0 ? days : days - 146096) / 146097;
    int64_t in_era = days - era * 146097;
    int64_t y = (in_era - in_era / 1460 + in_era / 36524 - in_era / 146096) / 365;
    int64_t in_year = in_era - (365 * y + y / 4 - y / 100);
    int64_t shifted = (5 * in_year + 2) / 153;
    *day = (int)(in_year - (153 * shifted + 2) / 5 + 1);
    *month = (int)(shifted < 10 ? shifted + 3 : shifted - 9);
    *year = era * 400 + y + (*month <= 2);
}

#define TIME_MIN INT64_C(-62167219200000) /* 0000-01-01 */
#define TIME_MAX INT64_C(253402300799999) /* 9999-12-31T23:59:59.999Z */

void hob_time_format(int64_t wall_ms, char out[25]) {
    wall_ms = HOB_MIN(HOB_MAX(wall_ms, TIME_MIN), TIME_MAX);
    int64_t days = wall_ms / DAY_MS - (wall_ms % DAY_MS < 0);
    int in_day = (int)(wall_ms - days * DAY_MS);
    int64_t year;
    int month, day;
    civil_of(days, &year, &month, &day);
    char text[64];
    snprintf(text, sizeof(text), "%04d-%02d-%02dT%02d:%02d:%02d.%03dZ", (int)year, month, day,
             in_day / 3600000, in_day / 60000 % 60, in_day / 1000 % 60, in_day % 1000);
    memcpy(out, text, 24);
    out[24] = '\0';
}

/* Every event of a log has a time: these are loops that the compiler sees through, not calls. */
static void drop(hob_str *s, size_t n) {
    s->p += n;
    s->n -= n;
}

/* Reads exactly n digits off *s. */
static bool take_digits(hob_str *s, size_t n, int *out) {
    if (s->n < n) return false;
    int v = 0;
    for (size_t i = 0; i < n; i++) {
        if (s->p[i] < '0' || s->p[i] > '9') return false;
        v = v * 10 + (s->p[i] - '0');
    }
    *out = v;
    drop(s, n);
    return true;
}

static bool take_char(hob_str *s, const char *any_of) {
    while (*any_of && (s->n == 0 || *any_of != s->p[0])) any_of++;
    if (!*any_of) return false;
    drop(s, 1);
    return true;
}

static bool take_date(hob_str *s, int64_t *days) {
    static const int lengths[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    int y, m, d;
    if (!take_digits(s, 4, &y) || !take_char(s, "-")) return false;
    if (!take_digits(s, 2, &m) || !take_char(s, "-") || !take_digits(s, 2, &d)) return false;
    bool leap = (y % 4 == 0 && y % 100 != 0) || y % 400 == 0;
    if (m < 1 || m > 12 || d < 1 || d > lengths[m - 1] + (leap && m == 2)) return false;
    *days = days_of(y, m, d);
    return true;
}

static bool take_time(hob_str *s, int64_t *ms) {
    int hour, minute, second, digit;
    if (!take_digits(s, 2, &hour) || !take_char(s, ":")) return false;
    if (!take_digits(s, 2, &minute) || !take_char(s, ":")) return false;
    if (!take_digits(s, 2, &second)) return false;
    if (hour > 23 || minute > 59 || second > 60) return false; /* 60: a leap second */
    *ms = ((hour * 60 + minute) * 60 + second) * INT64_C(1000);
    if (!take_char(s, ".")) return true;
    if (!take_digits(s, 1, &digit)) return false;
    int scale = 100;
    do {
        *ms += digit * scale;
        scale /= 10;
    } while (take_digits(s, 1, &digit));
    return true;
}

static bool take_zone(hob_str *s, int64_t *ms) {
    *ms = 0;
    if (take_char(s, "Zz")) return true;
    bool west = s->n > 0 && s->p[0] == '-';
    int hour, minute;
    if (!take_char(s, "+-") || !take_digits(s, 2, &hour)) return false;
    if (!take_char(s, ":") || !take_digits(s, 2, &minute)) return false;
    if (hour > 23 || minute > 59) return false;
    *ms = (hour * 60 + minute) * INT64_C(60000) * (west ? -1 : 1);
    return true;
}

int hob_time_parse(hob_str s, int64_t *wall_ms) {
    int64_t days, in_day, zone;
    if (!take_date(&s, &days) || !take_char(&s, "Tt ")) return HOB_EPARSE;
    if (!take_time(&s, &in_day) || !take_zone(&s, &zone) || s.n != 0) return HOB_EPARSE;
    *wall_ms = days * DAY_MS + in_day - zone;
    return HOB_OK;
}
