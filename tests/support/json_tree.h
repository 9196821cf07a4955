/*
 * json_tree.h - comparing JSON values, for unit tests and fuzz targets alike.
 */
#ifndef HOB_TESTS_JSON_TREE_H
#define HOB_TESTS_JSON_TREE_H

#include "base/json.h"

/* The same value: numbers by their text, strings decoded, members in order with all duplicates. */
static inline bool tree_equal(const hob_json *a, const hob_json *b) {
    if (!a || !b || hob_json_type_of(a) != hob_json_type_of(b)) {
        return a == b;
    }
    switch (hob_json_type_of(a)) {
    case HOB_JSON_NULL: return true;
    case HOB_JSON_BOOL: return hob_json_bool(a) == hob_json_bool(b);
    case HOB_JSON_NUMBER: return hob_str_eq(hob_json_raw(a), hob_json_raw(b));
    case HOB_JSON_STRING: return hob_str_eq(hob_json_str(a), hob_json_str(b));
    case HOB_JSON_ARRAY:
    case HOB_JSON_OBJECT: break;
    }
    const hob_json *x = hob_json_first(a), *y = hob_json_first(b);
    for (; x && y; x = hob_json_next(x), y = hob_json_next(y)) {
        if (!hob_str_eq(hob_json_key(x), hob_json_key(y)) || !tree_equal(x, y)) return false;
    }
    return x == y;
}

/* `part` is what may be known of `whole` when its text is cut off: children from the front, each
 * whole but the last, which is itself such a part; a string's beginning; nothing made up. */
static inline bool tree_is_prefix(const hob_json *part, const hob_json *whole) {
    if (!part) return true;
    if (!whole || hob_json_type_of(part) != hob_json_type_of(whole)) return false;
    if (hob_json_complete(part)) return tree_equal(part, whole);
    if (hob_json_is(part, HOB_JSON_STRING)) {
        return hob_str_starts(hob_json_str(whole), hob_json_str(part));
    }
    const hob_json *x = hob_json_first(part), *y = hob_json_first(whole);
    for (; x && y; x = hob_json_next(x), y = hob_json_next(y)) {
        if (!hob_str_eq(hob_json_key(x), hob_json_key(y))) return false;
        if (hob_json_next(x) ? !tree_equal(x, y) : !tree_is_prefix(x, y)) return false;
    }
    return !x && (hob_json_is(part, HOB_JSON_ARRAY) || hob_json_is(part, HOB_JSON_OBJECT));
}

/* Writes v anew through the writer, member by member. */
static inline void tree_write(hob_jsonw *w, const hob_json *v) {
    hob_json_type type = hob_json_type_of(v);
    if (type == HOB_JSON_STRING) {
        hob_jsonw_str(w, hob_json_str(v));
    } else if (type == HOB_JSON_BOOL) {
        hob_jsonw_bool(w, hob_json_bool(v));
    } else if (type != HOB_JSON_ARRAY && type != HOB_JSON_OBJECT) {
        hob_jsonw_raw(w, hob_json_raw(v));
    } else {
        bool object = type == HOB_JSON_OBJECT;
        object ? hob_jsonw_object(w) : hob_jsonw_array(w);
        for (const hob_json *m = hob_json_first(v); m; m = hob_json_next(m)) {
            if (object) hob_jsonw_key_n(w, hob_json_key(m));
            tree_write(w, m);
        }
        object ? hob_jsonw_object_end(w) : hob_jsonw_array_end(w);
    }
}

#endif
