/*
 * schema_check.c - does a value fit a schema?
 *
 * The answer is for a model that will try again, so it names every problem it can, each with its path:
 *
 *     path is missing; limit must be an integer, not a string; unknown argument "pth" (did you mean
 *     "path"?)
 */
#include "base/json_equal.h"
#include "tool/schema_node.h"

#include <math.h>

#define MAX_WORDS 500 /* then the message is full and only the verdict counts */
#define MAX_RAW 200   /* of a constant in a message */

typedef struct checker {
    hob_buf *problems; /* NULL: only whether it fits */
    bool failed;
} checker;

/* The way from the root to a value; lives on the stack of the checks. */
typedef struct step {
    const struct step *up;
    hob_str name; /* of a member */
    size_t index; /* of an element, if name.p is NULL */
} step;

static void check_node(checker *c, const hob_schema_node *n, const hob_json *v, const step *at);

/* ---- words --------------------------------------------------------------------------------- */

static void write_path(hob_buf *out, const step *at) {
    if (!at) return;
    write_path(out, at->up);
    if (!at->name.p) {
        hob_buf_addf(out, "[%zu]", at->index);
        return;
    }
    if (at->up) hob_buf_addc(out, '.');
    hob_str name = hob_str_first(at->name, hob_utf8_prefix(at->name, 60));
    hob_utf8_repair(out, name);
}

/* "; PATH " in front of a problem. False when nobody wants to read it. */
static bool problem(checker *c, const step *at) {
    bool first = !c->failed;
    c->failed = true;
    if (!c->problems || c->problems->n > MAX_WORDS) return false;
    if (!first) hob_buf_addz(c->problems, "; ");
    if (!at)
        hob_buf_addz(c->problems, "the value");
    else
        write_path(c->problems, at);
    hob_buf_addc(c->problems, ' ');
    return true;
}

static void write_raw(hob_buf *out, const hob_json *v) {
    hob_str raw = hob_json_raw(v), shown = hob_str_first(raw, hob_utf8_prefix(raw, MAX_RAW));
    hob_buf_addf(out, "%.*s%s", HOB_FMT(shown), shown.n < raw.n ? "…" : "");
}

static unsigned type_of(const hob_json *v) {
    static const unsigned bits[] = {
        [HOB_JSON_NULL] = HOB_SCHEMA_NULL,     [HOB_JSON_BOOL] = HOB_SCHEMA_BOOLEAN,
        [HOB_JSON_NUMBER] = HOB_SCHEMA_NUMBER, [HOB_JSON_STRING] = HOB_SCHEMA_STRING,
        [HOB_JSON_ARRAY] = HOB_SCHEMA_ARRAY,   [HOB_JSON_OBJECT] = HOB_SCHEMA_OBJECT,
    };
    return bits[hob_json_type_of(v)];
}

static const char *article(const char *word) {
    return strchr("aeio", word[0]) ? "an" : "a";
}

static void write_types(hob_buf *out, unsigned types) {
    const char *between = "";
    for (unsigned bit = 1; bit <= HOB_SCHEMA_OBJECT; bit <<= 1) {
        if (!(types & bit)) continue;
        const char *name = hob_schema_type_name(bit);
        if (bit == HOB_SCHEMA_NULL)
            hob_buf_addf(out, "%snull", between);
        else
            hob_buf_addf(out, "%s%s %s", between, article(name), name);
        between = " or ";
    }
}

/* ---- values -------------------------------------------------------------------------------- */

static bool is_integer(const hob_json *v) {
    int64_t i;
    if (hob_json_int(v, &i) == HOB_OK) return true;
    double d = hob_json_double(v);
    return hob_json_is(v, HOB_JSON_NUMBER) && isfinite(d) && d == trunc(d);
}

static int64_t characters(hob_str s) {
    int64_t n = 0;
    for (size_t at = 0; at < s.n; n++) hob_utf8_next(s, &at);
    return n;
}

/* ---- checks, by kind of key ---------------------------------------------------------------- */

/* Returns false if it makes no sense to look further. */
static bool check_type(checker *c, const hob_schema_node *n, const hob_json *v, const step *at) {
    unsigned type = type_of(v);
    if (!n->types || (n->types & type)) return true;
    if (type == HOB_SCHEMA_NUMBER && (n->types & HOB_SCHEMA_INTEGER) && is_integer(v)) return true;
    if (!problem(c, at)) return false;
    hob_buf_addz(c->problems, "must be ");
    write_types(c->problems, n->types);
    hob_buf_addz(c->problems, ", not ");
    write_types(c->problems, type);
    return false;
}

static void check_values(checker *c, const hob_schema_node *n, const hob_json *v, const step *at) {
    if (n->constant && !hob_json_equal(n->constant, v) && problem(c, at)) {
        hob_buf_addz(c->problems, "must be ");
        write_raw(c->problems, n->constant);
    }
    if (!n->values) return;
    for (const hob_json *m = hob_json_first(n->values); m; m = hob_json_next(m))
        if (hob_json_equal(m, v)) return;
    if (!problem(c, at)) return;
    hob_buf_addz(c->problems, "must be one of ");
    write_raw(c->problems, n->values);
}

static void check_number(checker *c, const hob_schema_node *n, const hob_json *v, const step *at) {
    if (n->minimum && hob_json_compare_numbers(v, n->minimum) < 0 && problem(c, at))
        hob_buf_addf(c->problems, "must be at least %.*s", HOB_FMT(hob_json_raw(n->minimum)));
    if (n->maximum && hob_json_compare_numbers(v, n->maximum) > 0 && problem(c, at))
        hob_buf_addf(c->problems, "must be at most %.*s", HOB_FMT(hob_json_raw(n->maximum)));
}

static void check_size(checker *c, const step *at, int64_t size, int64_t min, int64_t max,
                       const char *unit) {
    if (min >= 0 && size < min && problem(c, at))
        hob_buf_addf(c->problems, "must have at least %lld %s", (long long)min, unit);
    if (max >= 0 && size > max && problem(c, at))
        hob_buf_addf(c->problems, "must have at most %lld %s", (long long)max, unit);
}

static void check_string(checker *c, const hob_schema_node *n, const hob_json *v, const step *at) {
    if (n->min_length < 0 && n->max_length < 0) return;
    check_size(c, at, characters(hob_json_str(v)), n->min_length, n->max_length, "characters");
}

static void check_array(checker *c, const hob_schema_node *n, const hob_json *v, const step *at) {
    step element = {.up = at};
    check_size(c, at, (int64_t)hob_json_count(v), n->min_items, n->max_items, "items");
    if (!n->items) return;
    for (const hob_json *m = hob_json_first(v); m; m = hob_json_next(m), element.index++)
        check_node(c, n->items, m, &element);
}

static const hob_schema_property *find(const hob_schema_node *n, hob_str name) {
    const hob_schema_property *p = n->properties;
    while (p && !hob_str_eq(p->name, name)) p = p->next;
    return p;
}

static void unknown_member(checker *c, const hob_schema_node *n, const step *at) {
    enum { MOST = 64 };
    hob_arena *arena = hob_arena_create(1 << 16);
    const char *names[MOST];
    size_t count = 0;
    if (problem(c, at)) {
        hob_buf_addz(c->problems, "is unknown");
        for (const hob_schema_property *p = n->properties; p && count < MOST; p = p->next) {
            hob_str name = hob_arena_dup(arena, p->name);
            if (name.p) names[count++] = name.p;
        }
        const char *near = hob_str_nearest(at->name, names, count);
        if (near) hob_buf_addf(c->problems, " (did you mean %s?)", near);
    }
    hob_arena_destroy(arena);
}

static void check_object(checker *c, const hob_schema_node *n, const hob_json *v, const step *at) {
    for (const hob_schema_property *p = n->properties; p; p = p->next) {
        step member = {.up = at, .name = p->name};
        if (p->required && !hob_json_get_n(v, p->name) && problem(c, &member))
            hob_buf_addz(c->problems, "is missing");
    }
    for (const hob_json *m = hob_json_first(v); m; m = hob_json_next(m)) {
        hob_str name = hob_json_key(m);
        step member = {.up = at, .name = name.p ? name : HOB_STR("")};
        const hob_schema_property *p = find(n, name);
        if (p && p->node)
            check_node(c, p->node, m, &member);
        else if (!p && n->additional)
            check_node(c, n->additional, m, &member);
        else if (!p && n->closed)
            unknown_member(c, n, &member);
    }
}

static void check_members(checker *c, const hob_schema_node *n, const hob_json *v, const step *at) {
    int fits = 0;
    for (const hob_schema_node *m = n->first_of; m; m = m->next_of) {
        checker one = {.problems = NULL};
        check_node(&one, m, v, at);
        fits += !one.failed;
        if (fits == 1 && !n->one_of) return;
    }
    if (fits == 1 || !problem(c, at)) return;
    hob_buf_addz(c->problems, fits ? "fits more than one of the allowed forms"
                                   : "fits none of the allowed forms");
}

static void check_node(checker *c, const hob_schema_node *n, const hob_json *v, const step *at) {
    if (!check_type(c, n, v, at)) return;
    check_values(c, n, v, at);
    switch (hob_json_type_of(v)) {
    case HOB_JSON_NULL:
    case HOB_JSON_BOOL: break;
    case HOB_JSON_NUMBER: check_number(c, n, v, at); break;
    case HOB_JSON_STRING: check_string(c, n, v, at); break;
    case HOB_JSON_ARRAY: check_array(c, n, v, at); break;
    case HOB_JSON_OBJECT: check_object(c, n, v, at); break;
    }
    if (n->first_of) check_members(c, n, v, at);
}

int hob_schema_check(const hob_schema *s, const hob_json *value, hob_error *err) {
    hob_buf problems;
    hob_buf_init(&problems, 64 * 1024);
    checker c = {.problems = err ? &problems : NULL};
    check_node(&c, s->root, value, NULL);
    int r = HOB_OK;
    if (c.failed) {
        hob_str words = hob_buf_str(&problems);
        hob_str shown = hob_str_first(words, hob_utf8_prefix(words, sizeof(err->message) - 8));
        r = hob_fail(err, HOB_EINVAL, 0, "%.*s%s", HOB_FMT(shown), shown.n < words.n ? "…" : "");
    }
    hob_buf_finish(&problems);
    return r;
}
