/*
 * schema.c - reading a schema: the subset that tools use, everything else refused.
 *
 * A key that is not understood is an error when the tool is registered, not ignored when it is called:
 * what a schema promises to keep out must be kept out. docs/tools.md lists the subset.
 */
#include "tool/schema_node.h"

#define MAX_BYTES (256 * 1024)
#define MAX_DEPTH 32
#define MAX_PROPERTIES 256 /* of one object; they are searched one by one */
#define MAX_MEMORY (8 * 1024 * 1024)

typedef struct reader {
    hob_arena *arena;
    hob_error *err;
    unsigned depth;
} reader;

static const char *const TYPES[] = {"null",   "boolean", "integer", "number",
                                    "string", "array",   "object"};

const char *hob_schema_type_name(unsigned bit) {
    size_t i = 0;
    while (bit >>= 1) i++;
    return TYPES[i];
}

static int read_node(reader *r, const hob_json *v, const hob_schema_node **out);

static int refuse(reader *r, const char *key, const char *what) {
    return hob_fail(r->err, HOB_EINVAL, 0, "the schema's \"%s\" %s", key, what);
}

/* ---- keys, one function each --------------------------------------------------------------- */

static int add_type(reader *r, const hob_json *v, hob_schema_node *n) {
    hob_str name = hob_json_str(v);
    for (size_t i = 0; i < HOB_ARRAY_LEN(TYPES); i++) {
        if (!hob_json_is(v, HOB_JSON_STRING) || !hob_str_eqz(name, TYPES[i])) continue;
        n->types |= 1u << i;
        return HOB_OK;
    }
    return hob_fail(r->err, HOB_EINVAL, 0, "the schema's \"type\" is unknown: %.*s",
                    HOB_FMT(hob_str_first(hob_json_raw(v), 50)));
}

static int read_type(reader *r, const hob_json *v, hob_schema_node *n) {
    if (!hob_json_is(v, HOB_JSON_ARRAY)) return add_type(r, v, n);
    if (hob_json_count(v) == 0) return refuse(r, "type", "is an empty list");
    for (const hob_json *t = hob_json_first(v); t; t = hob_json_next(t)) {
        int e = add_type(r, t, n);
        if (e < 0) return e;
    }
    return HOB_OK;
}

static hob_schema_property *property(reader *r, hob_schema_node *n, hob_str name) {
    hob_schema_property **at = &n->properties;
    int count = 0;
    for (; *at && !hob_str_eq((*at)->name, name); count++) at = &(*at)->next;
    if (*at || count >= MAX_PROPERTIES) return *at;
    hob_schema_property *p = HOB_ARENA_NEW(r->arena, hob_schema_property);
    if (p) p->name = name;
    *at = p;
    return p;
}

static int too_big(reader *r) {
    return hob_fail(r->err, HOB_ETOOBIG, 0, "the schema is too big");
}

static int read_properties(reader *r, const hob_json *v, hob_schema_node *n) {
    if (!hob_json_is(v, HOB_JSON_OBJECT)) return refuse(r, "properties", "must be an object");
    for (const hob_json *m = hob_json_first(v); m; m = hob_json_next(m)) {
        hob_schema_property *p = property(r, n, hob_json_key(m));
        if (!p) return too_big(r);
        int e = read_node(r, m, &p->node);
        if (e < 0) return e;
    }
    return HOB_OK;
}

static int read_required(reader *r, const hob_json *v, hob_schema_node *n) {
    if (!hob_json_is(v, HOB_JSON_ARRAY)) return refuse(r, "required", "must be a list of names");
    for (const hob_json *m = hob_json_first(v); m; m = hob_json_next(m)) {
        if (!hob_json_is(m, HOB_JSON_STRING)) return refuse(r, "required", "must list names");
        hob_schema_property *p = property(r, n, hob_json_str(m));
        if (!p) return too_big(r);
        p->required = true;
    }
    return HOB_OK;
}

static int read_additional(reader *r, const hob_json *v, hob_schema_node *n) {
    if (!hob_json_is(v, HOB_JSON_BOOL)) return read_node(r, v, &n->additional);
    n->closed = !hob_json_bool(v);
    return HOB_OK;
}

static int read_items(reader *r, const hob_json *v, hob_schema_node *n) {
    return read_node(r, v, &n->items);
}

static int read_enum(reader *r, const hob_json *v, hob_schema_node *n) {
    if (!hob_json_is(v, HOB_JSON_ARRAY) || hob_json_count(v) == 0)
        return refuse(r, "enum", "must be a list of values");
    n->values = v;
    return HOB_OK;
}

static int read_const(reader *r, const hob_json *v, hob_schema_node *n) {
    (void)r;
    n->constant = v;
    return HOB_OK;
}

static int read_minimum(reader *r, const hob_json *v, hob_schema_node *n) {
    n->minimum = v;
    return hob_json_is(v, HOB_JSON_NUMBER) ? HOB_OK : refuse(r, "minimum", "must be a number");
}

static int read_maximum(reader *r, const hob_json *v, hob_schema_node *n) {
    n->maximum = v;
    return hob_json_is(v, HOB_JSON_NUMBER) ? HOB_OK : refuse(r, "maximum", "must be a number");
}

static int read_count(reader *r, const hob_json *v, const char *key, int64_t *out) {
    if (hob_json_int(v, out) == HOB_OK && *out >= 0) return HOB_OK;
    return refuse(r, key, "must be an integer and not negative");
}

static int read_min_length(reader *r, const hob_json *v, hob_schema_node *n) {
    return read_count(r, v, "minLength", &n->min_length);
}

static int read_max_length(reader *r, const hob_json *v, hob_schema_node *n) {
    return read_count(r, v, "maxLength", &n->max_length);
}

static int read_min_items(reader *r, const hob_json *v, hob_schema_node *n) {
    return read_count(r, v, "minItems", &n->min_items);
}

static int read_max_items(reader *r, const hob_json *v, hob_schema_node *n) {
    return read_count(r, v, "maxItems", &n->max_items);
}

static int read_members(reader *r, const hob_json *v, hob_schema_node *n, bool one_of) {
    const char *key = one_of ? "oneOf" : "anyOf";
    if (!hob_json_is(v, HOB_JSON_ARRAY) || hob_json_count(v) == 0)
        return refuse(r, key, "must be a list of schemas");
    if (n->first_of) return refuse(r, key, "stands beside another anyOf or oneOf");
    const hob_schema_node **at = &n->first_of;
    for (const hob_json *m = hob_json_first(v); m; m = hob_json_next(m)) {
        int e = read_node(r, m, at);
        if (e < 0) return e;
        at = &((hob_schema_node *)*at)->next_of; /* made just now, still ours to write */
    }
    n->one_of = one_of;
    return HOB_OK;
}

static int read_any_of(reader *r, const hob_json *v, hob_schema_node *n) {
    return read_members(r, v, n, false);
}

static int read_one_of(reader *r, const hob_json *v, hob_schema_node *n) {
    return read_members(r, v, n, true);
}

/* Words for people and models, no rules. */
static int read_nothing(reader *r, const hob_json *v, hob_schema_node *n) {
    (void)r, (void)v, (void)n;
    return HOB_OK;
}

static int read_pattern(reader *r, const hob_json *v, hob_schema_node *n) {
    (void)v, (void)n;
    return refuse(r, "pattern",
                  "is not supported: say it in the description and check in the tool");
}

static const struct {
    const char *name;
    int (*read)(reader *r, const hob_json *v, hob_schema_node *n);
} KEYS[] = {
    {"type", read_type},
    {"properties", read_properties},
    {"required", read_required},
    {"additionalProperties", read_additional},
    {"items", read_items},
    {"enum", read_enum},
    {"const", read_const},
    {"minimum", read_minimum},
    {"maximum", read_maximum},
    {"minLength", read_min_length},
    {"maxLength", read_max_length},
    {"minItems", read_min_items},
    {"maxItems", read_max_items},
    {"anyOf", read_any_of},
    {"oneOf", read_one_of},
    {"description", read_nothing},
    {"default", read_nothing},
    {"title", read_nothing},
    {"$schema", read_nothing},
    {"pattern", read_pattern},
};

/* ---- nodes --------------------------------------------------------------------------------- */

static int read_key(reader *r, const hob_json *v, hob_schema_node *n) {
    hob_str key = hob_json_key(v);
    for (size_t i = 0; i < HOB_ARRAY_LEN(KEYS); i++)
        if (hob_str_eqz(key, KEYS[i].name)) return KEYS[i].read(r, v, n);
    return hob_fail(r->err, HOB_EINVAL, 0,
                    "the schema uses \"%.*s\", which is not supported (docs/tools.md has the list)",
                    HOB_FMT(hob_str_first(key, hob_utf8_prefix(key, 50))));
}

static int read_node(reader *r, const hob_json *v, const hob_schema_node **out) {
    if (!hob_json_is(v, HOB_JSON_OBJECT))
        return hob_fail(r->err, HOB_EINVAL, 0, "a schema must be an object, not %.*s",
                        HOB_FMT(hob_str_first(hob_json_raw(v), 50)));
    hob_schema_node *n = HOB_ARENA_NEW(r->arena, hob_schema_node);
    if (!n || r->depth >= MAX_DEPTH) return too_big(r);
    n->min_length = n->max_length = n->min_items = n->max_items = -1;
    *out = n;
    r->depth++;
    for (const hob_json *m = hob_json_first(v); m; m = hob_json_next(m)) {
        int e = read_key(r, m, n);
        if (e < 0) return e;
    }
    r->depth--;
    return HOB_OK;
}

int hob_schema_create(hob_str json, hob_schema **out, hob_error *err) {
    hob_json_opts opts = {.max_bytes = MAX_BYTES, .max_depth = 2 * MAX_DEPTH};
    hob_arena *arena = hob_arena_create(MAX_MEMORY);
    reader r = {.arena = arena, .err = err};
    const hob_schema_node *root = NULL;
    const hob_json *v = NULL;
    hob_error why;
    int e = json.n > MAX_BYTES ? too_big(&r) : HOB_OK;
    if (e == HOB_OK && hob_json_parse(arena, hob_arena_dup(arena, json), &opts, &v, &why) < 0)
        e = hob_fail(err, HOB_EINVAL, 0, "the schema is not JSON: %s", why.message);
    if (e == HOB_OK) e = read_node(&r, v, &root);
    if (e < 0) {
        hob_arena_destroy(arena);
        return e;
    }
    hob_schema *s = HOB_ARENA_NEW(arena, hob_schema);
    if (!s) {
        hob_arena_destroy(arena);
        return too_big(&r);
    }
    s->arena = arena;
    s->root = root;
    *out = s;
    return HOB_OK;
}

void hob_schema_destroy(hob_schema *s) {
    if (s) hob_arena_destroy(s->arena);
}
