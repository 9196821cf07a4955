/*
 * condition.c - "key", "!key", "key == JSON", "key != JSON": small enough to be read at a glance in a file.
 */
#include "agent/value.h"

#include "base/json_equal.h"

typedef struct condition {
    hob_str key, value; /* value: JSON text; "" = is there something? */
    bool negated;
} condition;

/* Other operators than the two are mistakes, not parts of a key. */
static bool is_plain(hob_str key) {
    for (size_t i = 0; i < key.n; i++)
        if ((unsigned char)key.p[i] <= ' ' || strchr("!=<>&|()\"'", key.p[i])) return false;
    return key.n > 0;
}

static int read_condition(hob_str text, condition *c, hob_error *err) {
    ptrdiff_t eq = hob_str_find(text, HOB_STR("==")), ne = hob_str_find(text, HOB_STR("!="));
    ptrdiff_t at = eq >= 0 && (ne < 0 || eq < ne) ? eq : ne;
    *c = (condition){.key = hob_str_trim(text)};
    if (at >= 0) {
        c->key = hob_str_trim(hob_str_first(text, (size_t)at));
        c->value = hob_str_trim(hob_str_skip(text, (size_t)at + 2));
        c->negated = at == ne;
        if (!hob_json_valid(c->value))
            return hob_fail(
                err, HOB_EINVAL, 0,
                "condition \"%.*s\": what follows == or != is JSON (a text needs quotes)",
                HOB_FMT(text));
    } else if (c->key.n && c->key.p[0] == '!') {
        c->key = hob_str_trim(hob_str_skip(c->key, 1));
        c->negated = true;
    }
    if (is_plain(c->key)) return hob_state_check_key(c->key, err);
    return hob_fail(
        err, HOB_EINVAL, 0,
        "condition \"%.*s\": it is \"key\", \"!key\", \"key == JSON\" or \"key != JSON\"",
        HOB_FMT(text));
}

int hob_condition_check(hob_str text, hob_error *err) {
    condition c;
    return read_condition(text, &c, err) < 0 ? HOB_EINVAL : HOB_OK;
}

static bool is_something(const hob_json *v) {
    switch (hob_json_type_of(v)) {
    case HOB_JSON_NULL: return false;
    case HOB_JSON_BOOL: return hob_json_bool(v);
    case HOB_JSON_NUMBER: return hob_json_double(v) != 0;
    case HOB_JSON_STRING: return hob_json_str(v).n > 0;
    case HOB_JSON_ARRAY:
    case HOB_JSON_OBJECT: return hob_json_count(v) > 0;
    }
    return false;
}

bool hob_condition_holds(hob_str text, const hob_state *state) {
    condition c;
    hob_str value;
    const hob_json *is = NULL, *wanted = NULL;
    if (read_condition(text, &c, NULL) < 0) return false;
    hob_arena *a = hob_arena_create(0);
    if (hob_state_find(state, c.key, &value)) (void)hob_json_parse(a, value, NULL, &is, NULL);
    if (c.value.n) (void)hob_json_parse(a, c.value, NULL, &wanted, NULL);
    bool holds = c.value.n ? hob_json_equal(is, wanted) : is_something(is);
    hob_arena_destroy(a);
    return holds != c.negated;
}
