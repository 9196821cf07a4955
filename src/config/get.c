/*
 * get.c - looking at the settings in force.
 */
#include "config/impl.h"

#include <stdlib.h>

/* Most paths are plain: no arena for those. */
static int parse(hob_path *p, const char *text, hob_arena **a) {
    *a = strchr(text, '"') ? hob_arena_create((size_t)1 << 20) : NULL;
    return hob_path_parse(p, text, *a);
}

const hob_json *hob_config_json(const hob_config *c, const char *path) {
    hob_arena *a;
    hob_path p;
    const hob_json *v = parse(&p, path, &a) < 0 ? NULL : c->now.document;
    for (size_t i = 0; v && i < p.n; i++) v = hob_json_get_n(v, p.keys[i]);
    hob_arena_destroy(a);
    return v;
}

hob_str hob_config_get(const hob_config *c, const char *path) {
    return hob_json_raw(hob_config_json(c, path));
}

hob_str hob_config_str(const hob_config *c, const char *path) {
    return hob_json_str(hob_config_json(c, path));
}

int64_t hob_config_int(const hob_config *c, const char *path, int64_t otherwise) {
    int64_t v;
    return hob_json_int(hob_config_json(c, path), &v) == HOB_OK ? v : otherwise;
}

double hob_config_double(const hob_config *c, const char *path, double otherwise) {
    const hob_json *v = hob_config_json(c, path);
    return hob_json_is(v, HOB_JSON_NUMBER) ? hob_json_double(v) : otherwise;
}

bool hob_config_bool(const hob_config *c, const char *path, bool otherwise) {
    const hob_json *v = hob_config_json(c, path);
    return hob_json_is(v, HOB_JSON_BOOL) ? hob_json_bool(v) : otherwise;
}

/* The setting that says what stands at p: itself, or the leaf that p goes into. */
static const hob_setting *spoken_at(const hob_config *c, const hob_path *p) {
    const hob_setting *s = c->now.tree;
    for (size_t i = 0; s && s->object && i < p->n; i++) s = hob_setting_child(s, p->keys[i]);
    return s ? hob_setting_top(s) : NULL;
}

hob_origin hob_config_origin(const hob_config *c, const char *path, hob_str *source) {
    hob_arena *a;
    hob_path p;
    const hob_setting *s = parse(&p, path, &a) < 0 ? NULL : spoken_at(c, &p);
    hob_arena_destroy(a);
    if (source) *source = s ? hob_str_z(s->source) : HOB_STR_NULL;
    return s ? s->origin : HOB_ORIGIN_BUILTIN;
}

hob_str hob_config_missing(const hob_config *c, const char *path) {
    hob_arena *a;
    hob_path p;
    const hob_setting *s = parse(&p, path, &a) < 0 ? NULL : hob_setting_find(c->now.tree, &p);
    hob_arena_destroy(a);
    return s ? hob_str_z(s->missing) : HOB_STR_NULL;
}

/* ---- all of them ---------------------------------------------------------------------------- */

typedef struct visit {
    hob_config_fn fn;
    void *user;
    hob_path path;
    hob_buf name, shown;
} visit;

static int by_key(const void *a, const void *b) {
    return hob_str_cmp(hob_setting_key(*(hob_setting *const *)a),
                       hob_setting_key(*(hob_setting *const *)b));
}

static void visit_leaf(visit *v, const hob_setting *s) {
    hob_buf_reset(&v->name);
    hob_buf_reset(&v->shown);
    hob_path_print(&v->path, &v->name);
    hob_redact(hob_known_find(&v->path), hob_setting_json(s), &v->shown);
    v->fn(hob_buf_z(&v->name), hob_buf_str(&v->shown), s->origin, hob_str_z(s->source), v->user);
}

static void visit_all(visit *v, const hob_setting *s) {
    if (!s->first) {
        if (!s->object) visit_leaf(v, s);
        return;
    }
    size_t n = 0;
    for (const hob_setting *c = s->first; c; c = c->next) n++;
    hob_setting **sorted = hob_alloc(n * sizeof(hob_setting *)), **to = sorted;
    for (hob_setting *c = s->first; c; c = c->next) *to++ = c;
    qsort(sorted, n, sizeof(hob_setting *), by_key);
    for (size_t i = 0; i < n; i++) {
        v->path.keys[v->path.n++] = hob_setting_key(sorted[i]);
        visit_all(v, sorted[i]);
        v->path.n--;
    }
    hob_free(sorted);
}

void hob_config_each(const hob_config *c, hob_config_fn fn, void *user) {
    visit v = {.fn = fn, .user = user};
    hob_buf_init(&v.name, (size_t)8 << 20);
    hob_buf_init(&v.shown, (size_t)64 << 20);
    visit_all(&v, c->now.tree);
    hob_buf_finish(&v.name);
    hob_buf_finish(&v.shown);
}
