/*
 * shape.c - walking a value by its tables.
 */
#include "agui/shape.h"

#include <stdio.h>

enum { TAKEN = 0, STRANGE = 1 }; /* besides negative errors */

void hob_shape_init(hob_shape_check *c, hob_arena *a, hob_buf *out, hob_error *err) {
    *c = (hob_shape_check){.arena = a, .err = err};
    hob_jsonw_init(&c->w, out);
    hob_buf_init(&c->path, 1 << 16);
}

void hob_shape_finish(hob_shape_check *c) {
    hob_buf_finish(&c->path);
}

void hob_shape_warn(hob_shape_check *c, const char *fmt, ...) {
    char text[400];
    va_list ap;
    if (c->nwarnings == HOB_SHAPE_WARNINGS) return;
    va_start(ap, fmt);
    int n = vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    hob_str s = hob_str_n(text, HOB_MIN((size_t)HOB_MAX(n, 0), sizeof text - 1));
    c->warnings[c->nwarnings++] = hob_arena_dup(c->arena, hob_str_first(s, hob_utf8_complete(s)));
}

static hob_str place(const hob_shape_check *c) {
    hob_str p = hob_buf_str(&c->path);
    return hob_str_first(p, hob_utf8_prefix(p, HOB_SHAPE_PATH));
}

static int wrong(hob_shape_check *c, const char *what) {
    return hob_fail(c->err, HOB_EPARSE, 0, "%.*s %s", HOB_FMT(place(c)), what);
}

static size_t enter(hob_shape_check *c, hob_str key) {
    size_t was = c->path.n;
    if (was) hob_buf_addc(&c->path, '.');
    hob_buf_add(&c->path, hob_str_first(key, hob_utf8_prefix(key, 60)));
    return was;
}

static void leave(hob_shape_check *c, size_t was) {
    c->path.n = was;
}

static const hob_shape *row_of(const hob_shape *table, hob_str key) {
    for (; table->key; table++)
        if (hob_str_eqz(key, table->key)) return table;
    return NULL;
}

static int check_value(hob_shape_check *c, const hob_shape *s, const hob_json *v);

static int take_raw(hob_shape_check *c, const hob_json *v) {
    hob_jsonw_raw(&c->w, hob_json_raw(v));
    return c->w.out->err ? hob_fail(c->err, HOB_ETOOBIG, 0, "the input is too large") : TAKEN;
}

/* Writes what `check` takes; forgets it if that is strange. */
static int attempt(hob_shape_check *c, const hob_shape *s, const hob_json *v,
                   int (*check)(hob_shape_check *, const hob_shape *, const hob_json *)) {
    hob_jsonw w = c->w;
    size_t n = c->w.out->n;
    int rc = check(c, s, v);
    if (rc == STRANGE && !c->w.out->err) {
        c->w = w;
        c->w.out->n = n;
    }
    return rc;
}

static int check_member(hob_shape_check *c, const hob_shape *row, const hob_json *m) {
    hob_jsonw_key_n(&c->w, hob_json_key(m));
    return check_value(c, row, m);
}

static int take_member(hob_shape_check *c, const hob_shape *row, const hob_json *m) {
    if (hob_json_is(m, HOB_JSON_NULL) && !row->required && row->kind != HOB_SHAPE_ANY) {
        if (!c->lenient) return wrong(c, "is null; leave it out instead");
        hob_shape_warn(c, "%.*s is null and was left out", HOB_FMT(place(c)));
        return TAKEN;
    }
    int rc = attempt(c, row, m, check_member);
    return rc == STRANGE && !row->required ? TAKEN : rc;
}

static void tell_strangers(hob_shape_check *c, const hob_shape *table, const hob_json *v) {
    for (const hob_json *m = hob_json_first(v); m; m = hob_json_next(m)) {
        if (c->nwarnings == HOB_SHAPE_WARNINGS) return;
        if (row_of(table, hob_json_key(m))) continue;
        size_t was = enter(c, hob_json_key(m));
        hob_shape_warn(c, "%.*s is not known and was left out", HOB_FMT(place(c)));
        leave(c, was);
    }
}

/* By the table, not by the members: an object with a million of them costs no more than reading it. */
static int check_members(hob_shape_check *c, const hob_shape *table, const hob_json *v) {
    for (const hob_shape *row = table; row->key; row++) {
        const hob_json *m = hob_json_get(v, row->key);
        if (!m && !row->required) continue;
        size_t was = enter(c, hob_str_z(row->key));
        int rc = m ? take_member(c, row, m) : wrong(c, "is missing");
        leave(c, was);
        if (rc != TAKEN) return rc;
    }
    tell_strangers(c, table, v);
    return TAKEN;
}

static int check_object(hob_shape_check *c, const hob_shape *table, const hob_json *v) {
    if (!hob_json_is(v, HOB_JSON_OBJECT)) return wrong(c, "must be an object");
    hob_jsonw_object(&c->w);
    int rc = check_members(c, table, v);
    if (rc == TAKEN) hob_jsonw_object_end(&c->w);
    return rc;
}

static int check_union(hob_shape_check *c, const hob_shape *s, const hob_json *v) {
    if (!hob_json_is(v, HOB_JSON_OBJECT)) return wrong(c, "must be an object");
    const hob_json *tag = hob_json_get(v, s->tag);
    size_t was = enter(c, hob_str_z(s->tag));
    if (!hob_json_is(tag, HOB_JSON_STRING)) return wrong(c, "must be a string");
    const hob_shape *row = row_of(s->of, hob_json_str(tag));
    if (row && row->required && !c->lenient) row = NULL;
    if (!row) {
        hob_str word = hob_json_str(tag);
        hob_shape_warn(c, "%.*s: \"%.*s\" is not known; it was left out", HOB_FMT(place(c)),
                       HOB_FMT(hob_str_first(word, hob_utf8_prefix(word, 60))));
    }
    leave(c, was);
    return row ? check_object(c, row->of, v) : STRANGE;
}

static int check_element(hob_shape_check *c, const hob_shape *s, const hob_json *v) {
    return s->kind == HOB_SHAPE_LIST ? check_object(c, s->of, v) : check_union(c, s, v);
}

static int check_list(hob_shape_check *c, const hob_shape *s, const hob_json *v) {
    if (!hob_json_is(v, HOB_JSON_ARRAY)) return wrong(c, "must be an array");
    size_t i = 0, was = c->path.n;
    hob_jsonw_array(&c->w);
    for (const hob_json *e = hob_json_first(v); e; e = hob_json_next(e)) {
        hob_buf_addf(&c->path, "[%zu]", i++);
        int rc = attempt(c, s, e, check_element);
        if (rc < 0) return rc;
        leave(c, was);
    }
    hob_jsonw_array_end(&c->w);
    return TAKEN;
}

static int check_string(hob_shape_check *c, const hob_shape *s, const hob_json *v) {
    if (!hob_json_is(v, HOB_JSON_STRING)) return wrong(c, "must be a string");
    if (s->kind == HOB_SHAPE_WORD && !row_of(s->of, hob_json_str(v))) {
        hob_shape_warn(c, "%.*s has a word that is not known; it was left out", HOB_FMT(place(c)));
        return STRANGE;
    }
    hob_jsonw_str(&c->w, hob_json_str(v)); /* not raw: half a surrogate pair must not travel on */
    return c->w.out->err ? hob_fail(c->err, HOB_ETOOBIG, 0, "the input is too large") : TAKEN;
}

static int check_value(hob_shape_check *c, const hob_shape *s, const hob_json *v) {
    switch (s->kind) {
    case HOB_SHAPE_STRING:
    case HOB_SHAPE_WORD: return check_string(c, s, v);
    case HOB_SHAPE_ANY: return take_raw(c, v);
    case HOB_SHAPE_OPEN:
        return hob_json_is(v, HOB_JSON_OBJECT) ? take_raw(c, v) : wrong(c, "must be an object");
    case HOB_SHAPE_OBJECT: return check_object(c, s->of, v);
    case HOB_SHAPE_UNION: return check_union(c, s, v);
    case HOB_SHAPE_LIST:
    case HOB_SHAPE_UNIONS: return check_list(c, s, v);
    case HOB_SHAPE_CONTENT:
        if (hob_json_is(v, HOB_JSON_STRING)) return check_string(c, s, v);
        if (hob_json_is(v, HOB_JSON_ARRAY)) return check_list(c, s, v);
        return wrong(c, "must be a string or an array of parts");
    }
    return HOB_EINVAL;
}

int hob_shape_object(hob_shape_check *c, const hob_shape *table, const hob_json *v) {
    int rc = check_object(c, table, v);
    if (rc == STRANGE) return wrong(c, "has a part that is not known");
    return rc < 0 ? rc : c->w.out->err;
}
