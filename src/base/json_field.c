/*
 * json_field.c - reading one value out of JSON text, for hosts without a reader of their own.
 */
#include "base/json.h"

#include <limits.h>

int hob_str_out(hob_str s, char *buf, size_t cap) {
    if (cap) {
        size_t n = hob_utf8_prefix(s, cap - 1);
        if (n) memcpy(buf, s.p, n);
        buf[n] = 0;
    }
    return s.n > INT_MAX ? HOB_ETOOBIG : (int)s.n;
}

static const hob_json *walk(const hob_json *v, hob_str path) {
    hob_str part;
    while (v && hob_str_split(&path, '.', &part)) {
        int64_t i;
        if (hob_json_is(v, HOB_JSON_ARRAY) && hob_str_int(part, &i) >= 0 && i >= 0)
            v = hob_json_at(v, (size_t)i);
        else
            v = hob_json_get_n(v, part);
    }
    return v;
}

int hob_json_field(hob_str json, const char *path, char *buf, size_t cap) {
    hob_arena *a = hob_arena_create(0);
    const hob_json *v = NULL;
    int rc = hob_json_parse(a, json, NULL, &v, NULL);
    if (rc >= 0) v = walk(v, hob_str_z(path));
    if (rc >= 0 && !v) rc = HOB_ENOENT;
    if (rc >= 0)
        rc = hob_str_out(hob_json_is(v, HOB_JSON_STRING) ? hob_json_str(v) : hob_json_raw(v), buf,
                         cap);
    hob_arena_destroy(a);
    return rc;
}
