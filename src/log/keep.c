#include "log/keep.h"

#include <math.h>

/* As run/apply.c and the others bound what they read from a log. */
static int64_t most_of(size_t size) {
    return size == 1 ? 1 : size <= 4 ? INT64_C(1000000000) : INT64_C(1000000000000000);
}

bool hob_keep_int(const hob_json *o, const char *key, size_t size, int64_t *out) {
    int64_t n, most = most_of(size);
    if (hob_json_int(hob_json_get(o, key), &n) < 0 || n > most || n < -most) return false;
    *out = n;
    return true;
}

bool hob_keep_double(const hob_json *o, const char *key, double *out) {
    const hob_json *v = hob_json_get(o, key);
    if (!hob_json_is(v, HOB_JSON_NUMBER) || !isfinite(hob_json_double(v))) return false;
    *out = hob_json_double(v);
    return true;
}

bool hob_keep_str(const hob_json *o, const char *key, hob_str *out) {
    const hob_json *v = hob_json_get(o, key);
    if (!hob_json_is(v, HOB_JSON_STRING)) return false;
    *out = hob_json_str(v);
    return true;
}

bool hob_keep_text(const hob_json *o, const char *key, char *out, size_t cap) {
    hob_str s;
    if (!hob_keep_str(o, key, &s) || s.n >= cap || (s.n && memchr(s.p, 0, s.n))) return false;
    if (s.n) memcpy(out, s.p, s.n);
    out[s.n] = 0;
    return true;
}
