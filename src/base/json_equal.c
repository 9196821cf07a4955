#include "base/json_equal.h"

enum { FEW = 16 }; /* members that are searched one by one */

int hob_json_compare_numbers(const hob_json *a, const hob_json *b) {
    int64_t i, j;
    if (hob_json_int(a, &i) == HOB_OK && hob_json_int(b, &j) == HOB_OK) return (i > j) - (i < j);
    double x = hob_json_double(a), y = hob_json_double(b);
    return (x > y) - (x < y);
}

static bool equal_arrays(const hob_json *a, const hob_json *b) {
    const hob_json *x = hob_json_first(a), *y = hob_json_first(b);
    for (; x && y; x = hob_json_next(x), y = hob_json_next(y))
        if (!hob_json_equal(x, y)) return false;
    return !x && !y;
}

static bool contains_members(const hob_json *a, const hob_json *b) {
    for (const hob_json *m = hob_json_first(a); m; m = hob_json_next(m)) {
        hob_str key = hob_json_key(m);
        if (!hob_json_equal(hob_json_get_n(a, key), hob_json_get_n(b, key))) return false;
    }
    return true;
}

/* Members by name. False: there is one that is not among `known`, and no more was looked at. */
static bool add_members(const hob_json *o, const hob_map *known, hob_map *out) {
    for (const hob_json *m = hob_json_first(o); m; m = hob_json_next(m)) {
        hob_str key = hob_json_key(m);
        if (known && !hob_map_get(known, key)) return false;
        hob_map_put(out, key, (void *)(uintptr_t)m);
    }
    return true;
}

static bool equal_by_name(const hob_json *a, const hob_json *b) {
    hob_map *of_a = hob_map_create(), *of_b = hob_map_create();
    bool same = add_members(a, NULL, of_a) && add_members(b, of_a, of_b) &&
                hob_map_count(of_a) == hob_map_count(of_b);
    size_t at = 0;
    hob_str key;
    void *m;
    while (same && hob_map_next(of_a, &at, &key, &m))
        same = hob_json_equal(m, hob_map_get(of_b, key));
    hob_map_destroy(of_a);
    hob_map_destroy(of_b);
    return same;
}

static bool equal_objects(const hob_json *a, const hob_json *b) {
    if (hob_json_count(a) > FEW || hob_json_count(b) > FEW) return equal_by_name(a, b);
    return contains_members(a, b) && contains_members(b, a);
}

bool hob_json_equal(const hob_json *a, const hob_json *b) {
    hob_json_type type = hob_json_type_of(a);
    if (!a || !b || type != hob_json_type_of(b)) return false;
    switch (type) {
    case HOB_JSON_NULL: return true;
    case HOB_JSON_BOOL: return hob_json_bool(a) == hob_json_bool(b);
    case HOB_JSON_NUMBER: return hob_json_compare_numbers(a, b) == 0;
    case HOB_JSON_STRING: return hob_str_eq(hob_json_str(a), hob_json_str(b));
    case HOB_JSON_ARRAY: return equal_arrays(a, b);
    case HOB_JSON_OBJECT: return equal_objects(a, b);
    }
    return false;
}
