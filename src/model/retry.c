/*
 * retry.c - when a provider wants to be asked again: retry-after-ms, retry-after in seconds or as a date.
 */
#include "model/failure.h"

static int two(const char *p) {
    return (p[0] - '0') * 10 + (p[1] - '0');
}

static int64_t days_before(int year, int month, int day) { /* since 1970, proleptic Gregorian */
    int64_t y = month <= 2 ? year - 1 : year;
    int64_t era = y / 400, yoe = y % 400;
    int64_t doy = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
    return era * 146097 + yoe * 365 + yoe / 4 - yoe / 100 + doy - 719468;
}

/* The preferred form only: "Sun, 06 Nov 1994 08:49:37 GMT". */
int hob_http_date(hob_str s, int64_t *out) {
    static const char months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
    static const char shape[] = "aaa, 99 aaa 9999 99:99:99 GMT";
    if (s.n != sizeof shape - 1) return HOB_EPARSE;
    for (size_t i = 0; i < s.n; i++) {
        bool digit = s.p[i] >= '0' && s.p[i] <= '9';
        bool ok = shape[i] == '9' ? digit : shape[i] == 'a' ? !digit : s.p[i] == shape[i];
        if (!ok) return HOB_EPARSE;
    }
    ptrdiff_t m = hob_str_find(hob_str_z(months), hob_str_n(s.p + 8, 3));
    if (m < 0 || m % 3) return HOB_EPARSE;
    int64_t days = days_before(two(s.p + 12) * 100 + two(s.p + 14), (int)m / 3 + 1, two(s.p + 5));
    int64_t secs = two(s.p + 17) * 3600 + two(s.p + 20) * 60 + two(s.p + 23);
    *out = (days * 86400 + secs) * 1000;
    return HOB_OK;
}

/* "12" or "1.5", times `unit` ms; -1 if it is no such number */
static int64_t decimal(hob_str s, int64_t unit) {
    ptrdiff_t dot = hob_str_chr(s, '.');
    hob_str whole = dot < 0 ? s : hob_str_first(s, (size_t)dot);
    int64_t n, part = 0;
    if (hob_str_int(whole, &n) < 0 || n < 0 || n > INT32_MAX) return -1;
    if (dot >= 0 && s.n > (size_t)dot + 1 && s.p[dot + 1] >= '0' && s.p[dot + 1] <= '9')
        part = (s.p[dot + 1] - '0') * unit / 10;
    return n * unit + part;
}

int64_t hob_retry_after(const hob_http_head *head, int64_t now) {
    hob_str ms = hob_str_trim(hob_http_header(head, "retry-after-ms"));
    hob_str after = hob_str_trim(hob_http_header(head, "retry-after"));
    int64_t at, wait = ms.n ? decimal(ms, 1) : -1;
    if (wait < 0 && after.n) wait = decimal(after, 1000);
    if (wait < 0 && after.n && hob_http_date(after, &at) == HOB_OK) wait = HOB_MAX(0, at - now);
    return wait;
}
