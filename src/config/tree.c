/*
 * tree.c - the tree of settings. Depth is bounded by known.h, so walking it may recurse.
 */
#include "config/tree.h"

#include <stdio.h>

hob_setting *hob_setting_create(hob_str key) {
    hob_setting *s = HOB_NEW(hob_setting);
    s->key = hob_dupz(key);
    s->key_n = key.n;
    s->object = true;
    return s;
}

/* Leaves an object without children behind. */
static void clear(hob_setting *s) {
    for (hob_setting *c = s->first, *next; c; c = next) {
        next = c->next;
        hob_setting_destroy(c);
    }
    if (s->json) explicit_bzero(s->json, s->json_n);
    hob_free(s->json);
    hob_free(s->source);
    hob_free(s->missing);
    s->first = s->last = NULL;
    s->json = s->source = s->missing = NULL;
    s->json_n = 0;
    s->object = true;
}

void hob_setting_destroy(hob_setting *s) {
    if (!s) return;
    clear(s);
    hob_free(s->key);
    hob_free(s);
}

hob_setting *hob_setting_child(const hob_setting *s, hob_str key) {
    for (hob_setting *c = s->first; c; c = c->next) {
        if (hob_str_eq(hob_setting_key(c), key)) return c;
    }
    return NULL;
}

hob_setting *hob_setting_find(const hob_setting *root, const hob_path *p) {
    hob_setting *s = (hob_setting *)root;
    for (size_t i = 0; s && i < p->n; i++) s = hob_setting_child(s, p->keys[i]);
    return s;
}

hob_setting *hob_setting_find_z(const hob_setting *root, const char *dotted) {
    hob_setting *s = (hob_setting *)root;
    hob_str rest = hob_str_z(dotted), key;
    while (s && hob_str_split(&rest, '.', &key)) s = hob_setting_child(s, key);
    return s;
}

hob_setting *hob_setting_ensure(hob_setting *s, hob_str key) {
    if (!s->object) clear(s);
    hob_setting *c = hob_setting_child(s, key);
    if (c) return c;
    c = hob_setting_create(key);
    if (s->last)
        s->last->next = c;
    else
        s->first = c;
    s->last = c;
    return c;
}

void hob_setting_remove(hob_setting *s, hob_str key) {
    hob_setting *before = NULL;
    for (hob_setting *c = s->first; c; before = c, c = c->next) {
        if (!hob_str_eq(hob_setting_key(c), key)) continue;
        if (before)
            before->next = c->next;
        else
            s->first = c->next;
        if (s->last == c) s->last = before;
        hob_setting_destroy(c);
        return;
    }
}

void hob_setting_put(hob_setting *s, hob_str json, hob_origin origin, hob_str source) {
    char *value = hob_dupz(json), *words = hob_dupz(source); /* they may be those of s itself */
    clear(s);
    s->object = false;
    s->json = value;
    s->json_n = json.n;
    s->origin = origin;
    s->source = words;
}

void hob_setting_copy(hob_setting *s, const hob_setting *from) {
    if (!from->object) {
        hob_setting_put(s, hob_setting_json(from), from->origin, hob_str_z(from->source));
        s->missing = from->missing ? hob_dupz(hob_str_z(from->missing)) : NULL;
        return;
    }
    clear(s);
    for (const hob_setting *c = from->first; c; c = c->next)
        hob_setting_copy(hob_setting_ensure(s, hob_setting_key(c)), c);
}

hob_setting *hob_setting_dup(const hob_setting *from) {
    hob_setting *s = hob_setting_create(hob_setting_key(from));
    hob_setting_copy(s, from);
    return s;
}

const hob_setting *hob_setting_top(const hob_setting *s) {
    if (!s->object) return s;
    const hob_setting *top = NULL;
    for (const hob_setting *c = s->first; c; c = c->next) {
        const hob_setting *t = hob_setting_top(c);
        if (t && (!top || t->origin > top->origin)) top = t;
    }
    return top;
}

void hob_setting_write(const hob_setting *s, hob_jsonw *w) {
    if (!s->object) {
        hob_jsonw_raw(w, hob_setting_json(s));
        return;
    }
    hob_jsonw_object(w);
    for (const hob_setting *c = s->first; c; c = c->next) {
        hob_jsonw_key_n(w, hob_setting_key(c));
        hob_setting_write(c, w);
    }
    hob_jsonw_object_end(w);
}

void hob_value_write(const hob_json *v, hob_jsonw *w) {
    bool object = hob_json_is(v, HOB_JSON_OBJECT);
    if (hob_json_is(v, HOB_JSON_STRING)) {
        hob_jsonw_str(w, hob_json_str(v)); /* one spelling a value: they are compared as text */
        return;
    }
    if (!object && !hob_json_is(v, HOB_JSON_ARRAY)) {
        hob_jsonw_raw(w, hob_json_raw(v));
        return;
    }
    object ? hob_jsonw_object(w) : hob_jsonw_array(w);
    for (const hob_json *m = hob_json_first(v); m; m = hob_json_next(m)) {
        if (object) hob_jsonw_key_n(w, hob_json_key(m));
        hob_value_write(m, w);
    }
    object ? hob_jsonw_object_end(w) : hob_jsonw_array_end(w);
}

static bool has_line(const hob_notes *n, const char *line) {
    for (size_t i = 0; i < n->n; i++) {
        if (strcmp(n->lines[i], line) == 0) return true;
    }
    return false;
}

void hob_notes_add(hob_notes *n, const char *fmt, ...) {
    if (n->n == HOB_NOTES_MAX) return;
    char line[600];
    va_list args;
    va_start(args, fmt);
    vsnprintf(line, sizeof(line), fmt, args);
    va_end(args);
    if (n->n == HOB_NOTES_MAX - 1)
        snprintf(line, sizeof(line), "there are more remarks than are shown here");
    line[hob_utf8_complete(hob_str_z(line))] = '\0';
    if (!has_line(n, line)) n->lines[n->n++] = hob_dupz(hob_str_z(line));
}

void hob_notes_finish(hob_notes *n) {
    for (size_t i = 0; i < n->n; i++) hob_free(n->lines[i]);
    n->n = 0;
}
