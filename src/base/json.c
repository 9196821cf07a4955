/*
 * json.c - looking at values. All of these accept NULL and the wrong type.
 */
#include "base/json_node.h"
#include "base/json_number.h"

hob_json_type hob_json_type_of(const hob_json *v) {
    return v ? (hob_json_type)v->type : HOB_JSON_NULL;
}

bool hob_json_is(const hob_json *v, hob_json_type t) {
    return v && v->type == t;
}

bool hob_json_complete(const hob_json *v) {
    return v && !(v->flags & HOB_JSON_CUT);
}

hob_str hob_json_raw(const hob_json *v) {
    return v ? hob_str_n(v->raw, v->raw_n) : HOB_STR_NULL;
}

hob_str hob_json_str(const hob_json *v) {
    return hob_json_is(v, HOB_JSON_STRING) ? hob_str_n(v->u.str, v->n) : HOB_STR_NULL;
}

int hob_json_int(const hob_json *v, int64_t *out) {
    if (!hob_json_is(v, HOB_JSON_NUMBER)) return HOB_EINVAL;
    return hob_number_int(hob_json_raw(v), out);
}

double hob_json_double(const hob_json *v) {
    return hob_json_is(v, HOB_JSON_NUMBER) ? hob_number_double(hob_json_raw(v)) : 0;
}

bool hob_json_bool(const hob_json *v) {
    return hob_json_is(v, HOB_JSON_BOOL) && v->n;
}

static bool is_container(const hob_json *v) {
    return v && (v->type == HOB_JSON_ARRAY || v->type == HOB_JSON_OBJECT);
}

size_t hob_json_count(const hob_json *v) {
    return is_container(v) ? v->n : 0;
}

const hob_json *hob_json_first(const hob_json *container) {
    if (!is_container(container)) return NULL;
    return container->flags & HOB_JSON_INDEXED ? container->u.index[0] : container->u.child;
}

const hob_json *hob_json_next(const hob_json *v) {
    return v ? v->next : NULL;
}

const hob_json *hob_json_at(const hob_json *array, size_t i) {
    if (!hob_json_is(array, HOB_JSON_ARRAY) || i >= array->n) return NULL;
    if (array->flags & HOB_JSON_INDEXED) return array->u.index[i];
    const hob_json *v = array->u.child;
    while (i-- > 0) v = v->next;
    return v;
}

hob_str hob_json_key(const hob_json *member) {
    return member && member->key ? hob_str_n(member->key, member->key_n) : HOB_STR_NULL;
}

/* The first byte alone tells most keys of one length apart. */
static bool has_key(const hob_json *m, hob_str key) {
    if (m->key_n != key.n) return false;
    return key.n == 0 || (m->key[0] == key.p[0] && memcmp(m->key, key.p, key.n) == 0);
}

const hob_json *hob_json_get_n(const hob_json *object, hob_str key) {
    if (!hob_json_is(object, HOB_JSON_OBJECT)) return NULL;
    const hob_json *found = NULL; /* the last one wins */
    for (const hob_json *m = object->u.child; m; m = m->next) {
        if (has_key(m, key)) found = m;
    }
    return found;
}

const hob_json *hob_json_get(const hob_json *object, const char *key) {
    return hob_json_get_n(object, hob_str_z(key));
}

hob_str hob_json_get_str(const hob_json *object, const char *key) {
    return hob_json_str(hob_json_get(object, key));
}

int64_t hob_json_get_int(const hob_json *object, const char *key, int64_t otherwise) {
    int64_t v = otherwise;
    return hob_json_int(hob_json_get(object, key), &v) < 0 ? otherwise : v;
}

double hob_json_get_double(const hob_json *object, const char *key, double otherwise) {
    const hob_json *v = hob_json_get(object, key);
    return hob_json_is(v, HOB_JSON_NUMBER) ? hob_json_double(v) : otherwise;
}

bool hob_json_get_bool(const hob_json *object, const char *key, bool otherwise) {
    const hob_json *v = hob_json_get(object, key);
    return hob_json_is(v, HOB_JSON_BOOL) ? hob_json_bool(v) : otherwise;
}
