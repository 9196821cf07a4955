#include "log/state.h"

#include <stdlib.h>

/* ---- from JSON --------------------------------------------------------------------------------- */

typedef struct item {
    hob_pair *pair;
    size_t order;
} item;

static int by_key(const void *a, const void *b) {
    const item *x = a, *y = b;
    int c = hob_str_cmp(x->pair->key, y->pair->key);
    return c ? c : (x->order > y->order) - (x->order < y->order);
}

static int parse(hob_arena *a, hob_str text, hob_json_type type, const hob_json **out,
                 hob_error *err) {
    *out = NULL;
    if (!text.n) return HOB_OK;
    int rc = hob_json_parse(a, text, NULL, out, err);
    if (rc < 0) return rc;
    if (hob_json_is(*out, type)) return HOB_OK;
    return hob_fail(err, HOB_EPARSE, 0, "a change of state needs %s",
                    type == HOB_JSON_OBJECT ? "an object of the keys to set"
                                            : "an array of the keys to remove");
}

static int add(item *items, size_t *n, hob_str key, hob_str value, hob_error *err) {
    int rc = hob_state_check_key(key, err);
    if (rc < 0) return rc;
    items[*n] = (item){hob_pair_create(key, value), *n};
    ++*n;
    return HOB_OK;
}

static int collect(item *items, size_t *n, const hob_json *delta, const hob_json *removed,
                   hob_error *err) {
    int rc = HOB_OK;
    for (const hob_json *v = hob_json_first(delta); v && rc >= 0; v = hob_json_next(v))
        rc = add(items, n, hob_json_key(v), hob_json_raw(v), err);
    for (const hob_json *v = hob_json_first(removed); v && rc >= 0; v = hob_json_next(v)) {
        if (hob_json_is(v, HOB_JSON_STRING))
            rc = add(items, n, hob_json_str(v), HOB_STR_NULL, err);
        else
            rc = hob_fail(err, HOB_EPARSE, 0, "a key to remove is not a string");
    }
    return rc;
}

static int fold(hob_change *c, item *items, size_t n, hob_error *err) {
    qsort(items, n, sizeof *items, by_key);
    for (size_t i = 0; i < n; i++) {
        hob_pair *p = items[i].pair, *q = i + 1 < n ? items[i + 1].pair : NULL;
        if (q && hob_str_eq(p->key, q->key)) {
            if (!p->value.p != !q->value.p)
                return hob_fail(err, HOB_EINVAL, 0,
                                "the state key '%.*s' is both set and removed: say one of them",
                                HOB_FMT(p->key));
            continue;
        }
        items[i].pair = NULL;
        c->pairs[c->n++] = p;
        c->temp |= hob_state_scope(p->key) == HOB_SCOPE_TEMP;
    }
    return HOB_OK;
}

int hob_change_init(hob_change *c, hob_arena *a, hob_str delta, hob_str removed, hob_error *err) {
    const hob_json *d, *r;
    *c = (hob_change){0};
    int rc = parse(a, delta, HOB_JSON_OBJECT, &d, err);
    if (rc >= 0) rc = parse(a, removed, HOB_JSON_ARRAY, &r, err);
    if (rc < 0) return rc;
    size_t max = hob_json_count(d) + hob_json_count(r), n = 0;
    if (!max) return HOB_OK;
    item *items = hob_alloc(max * sizeof *items);
    c->pairs = hob_alloc(max * sizeof(hob_pair *));
    rc = collect(items, &n, d, r, err);
    if (rc >= 0) rc = fold(c, items, n, err);
    for (size_t i = 0; i < n; i++) hob_pair_unref(items[i].pair);
    hob_free(items);
    if (rc < 0) hob_change_finish(c);
    return rc;
}

static void init_one(hob_change *c, hob_str key, hob_str value) {
    *c = (hob_change){.n = 1, .temp = hob_state_scope(key) == HOB_SCOPE_TEMP};
    c->pairs = hob_alloc(sizeof(hob_pair *));
    c->pairs[0] = hob_pair_create(key, value);
}

int hob_change_init_set(hob_change *c, hob_str key, hob_str value, hob_error *err) {
    int rc = hob_state_check_key(key, err);
    if (rc < 0) return rc;
    if (!hob_json_valid(value))
        return hob_fail(err, HOB_EPARSE, 0,
                        "the value of the state key '%.*s' is not JSON: quote a string",
                        HOB_FMT(key));
    init_one(c, key, value);
    return HOB_OK;
}

int hob_change_init_remove(hob_change *c, hob_str key, hob_error *err) {
    int rc = hob_state_check_key(key, err);
    if (rc >= 0) init_one(c, key, HOB_STR_NULL);
    return rc;
}

void hob_change_finish(hob_change *c) {
    for (size_t i = 0; i < c->n; i++) hob_pair_unref(c->pairs[i]);
    hob_free(c->pairs);
    *c = (hob_change){0};
}

/* ---- to the state ------------------------------------------------------------------------------- */

typedef struct weight {
    size_t count, bytes;
} weight;

static void reweigh(weight *w, const hob_state *s, hob_str key, hob_str value) {
    hob_str old;
    if (hob_state_find(s, key, &old)) {
        w->count--;
        w->bytes -= key.n + old.n;
    }
    if (!value.p) return;
    w->count++;
    w->bytes += key.n + value.n;
}

/* A state that is over a limit already may still be made smaller. */
static int judge(weight w, const hob_state *s, const hob_state_limits *limits, hob_error *err) {
    if (w.count > limits->keys && w.count > s->count)
        return hob_fail(err, HOB_ETOOBIG, 0,
                        "the state would have %zu keys, at most %zu: remove some", w.count,
                        limits->keys);
    if (w.bytes > limits->bytes && w.bytes > s->bytes)
        return hob_fail(err, HOB_ETOOBIG, 0,
                        "the state would have %zu bytes, at most %zu: keep large values elsewhere",
                        w.bytes, limits->bytes);
    return HOB_OK;
}

int hob_change_check(const hob_change *c, const hob_state *s, const hob_state_limits *limits,
                     hob_error *err) {
    weight w = {s->count, s->bytes};
    for (size_t i = 0; i < c->n; i++) reweigh(&w, s, c->pairs[i]->key, c->pairs[i]->value);
    return judge(w, s, limits, err);
}

int hob_overlay_check(const hob_state *o, const hob_state *s, const hob_state_limits *limits,
                      hob_error *err) {
    hob_str key = HOB_STR_NULL, value;
    weight w = {s->count, s->bytes};
    while (hob_state_next(o, key, &key, &value)) reweigh(&w, s, key, value);
    return judge(w, s, limits, err);
}

void hob_change_apply(const hob_change *c, hob_state *s) {
    for (size_t i = 0; i < c->n; i++) {
        if (c->pairs[i]->value.p)
            hob_state_put(s, c->pairs[i]);
        else
            hob_state_remove(s, c->pairs[i]->key);
    }
}

void hob_change_write(const hob_change *c, hob_buf *delta, hob_buf *removed) {
    hob_jsonw d, r;
    hob_jsonw_init(&d, delta);
    hob_jsonw_init(&r, removed);
    hob_jsonw_object(&d);
    hob_jsonw_array(&r);
    for (size_t i = 0; i < c->n; i++) {
        const hob_pair *p = c->pairs[i];
        if (hob_state_scope(p->key) == HOB_SCOPE_TEMP) continue;
        if (p->value.p) {
            hob_jsonw_key_n(&d, p->key);
            hob_jsonw_raw(&d, p->value);
        } else {
            hob_jsonw_str(&r, p->key);
        }
    }
    hob_jsonw_object_end(&d);
    hob_jsonw_array_end(&r);
    if (delta->n == 2) hob_buf_reset(delta);
    if (removed->n == 2) hob_buf_reset(removed);
}

void hob_state_assign(hob_state *s, hob_str key, hob_str value) {
    if (!value.p) {
        hob_state_remove(s, key);
        return;
    }
    hob_pair *p = hob_pair_create(key, value);
    hob_state_put(s, p);
    hob_pair_unref(p);
}

/* The copy keeps the keys readable that are removed. */
void hob_state_drop(hob_state *s, unsigned which) {
    hob_str key = HOB_STR_NULL, value;
    hob_state all;
    hob_state_copy(&all, s);
    while (hob_state_next(&all, key, &key, &value))
        if (hob_state_scope(key) & which) hob_state_remove(s, key);
    hob_state_finish(&all);
}

void hob_state_drop_temp(hob_state *s) {
    hob_str key, value;
    while (hob_state_next(s, HOB_STR("temp:"), &key, &value) &&
           hob_state_scope(key) == HOB_SCOPE_TEMP)
        hob_state_remove(s, key);
}

void hob_state_write(const hob_state *s, unsigned which, hob_jsonw *w) {
    hob_str key = HOB_STR_NULL, value;
    hob_jsonw_object(w);
    while (hob_state_next(s, key, &key, &value)) {
        if (!(hob_state_scope(key) & which)) continue;
        hob_jsonw_key_n(w, key);
        hob_jsonw_raw(w, value);
    }
    hob_jsonw_object_end(w);
}

/* ---- overlays --------------------------------------------------------------------------------- */

void hob_overlay_add(hob_state *o, const hob_change *c) {
    for (size_t i = 0; i < c->n; i++) hob_state_put(o, c->pairs[i]);
}

void hob_overlay_merge(hob_state *o, const hob_state *later) {
    hob_str key = HOB_STR_NULL, value;
    while (hob_state_next(later, key, &key, &value)) {
        hob_pair *p = hob_pair_create(key, value);
        hob_state_put(o, p);
        hob_pair_unref(p);
    }
}

void hob_overlay_apply(const hob_state *o, unsigned which, hob_state *s) {
    hob_str key = HOB_STR_NULL, value;
    while (hob_state_next(o, key, &key, &value))
        if (hob_state_scope(key) & which) hob_state_assign(s, key, value);
}

static bool is_temp(hob_str key) {
    return hob_state_scope(key) == HOB_SCOPE_TEMP;
}

static void write_set(const hob_state *o, const char *name, hob_jsonw *w) {
    hob_str key = HOB_STR_NULL, value;
    size_t n = 0;
    while (hob_state_next(o, key, &key, &value)) {
        if (!value.p || is_temp(key)) continue;
        if (!n++) {
            hob_jsonw_key(w, name);
            hob_jsonw_object(w);
        }
        hob_jsonw_key_n(w, key);
        hob_jsonw_raw(w, value);
    }
    if (n) hob_jsonw_object_end(w);
}

static void write_names(const hob_state *o, const char *name, bool temp, hob_jsonw *w) {
    hob_str key = HOB_STR_NULL, value;
    size_t n = 0;
    while (hob_state_next(o, key, &key, &value)) {
        if (temp != is_temp(key) || (!temp && value.p)) continue;
        if (!n++) {
            hob_jsonw_key(w, name);
            hob_jsonw_array(w);
        }
        hob_jsonw_str(w, key);
    }
    if (n) hob_jsonw_array_end(w);
}

void hob_overlay_write(const hob_state *o, const char *name, hob_jsonw *w) {
    write_set(o, name, w);
    write_names(o, "removed", false, w);
    write_names(o, "temp", true, w);
}

void hob_overlay_diff(const hob_state *from, const hob_state *to, unsigned which, hob_state *out) {
    hob_str key = HOB_STR_NULL, value, old;
    while (hob_state_next(to, key, &key, &value)) {
        if (!(hob_state_scope(key) & which)) continue;
        if (hob_state_find(from, key, &old) && hob_str_eq(old, value)) continue;
        hob_state_assign(out, key, value);
    }
    for (key = HOB_STR_NULL; hob_state_next(from, key, &key, &value);) {
        if (!(hob_state_scope(key) & which) || hob_state_find(to, key, &old)) continue;
        hob_pair *p = hob_pair_create(key, HOB_STR_NULL);
        hob_state_put(out, p);
        hob_pair_unref(p);
    }
}
