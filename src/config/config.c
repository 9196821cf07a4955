/*
 * config.c - the object: layers, what follows from them, look-ups.
 */
#include "config/impl.h"

#include <assert.h>

#include "config/read.h"

#define TEXT_MAX ((size_t)16 << 20)

static void inforce_finish(hob_inforce *f) {
    hob_setting_destroy(f->tree);
    if (f->text.p) explicit_bzero(f->text.p, f->text.n);
    hob_buf_finish(&f->text);
    hob_arena_destroy(f->arena);
    hob_notes_finish(&f->notes);
}

static int inforce_init(hob_inforce *f, const hob_layers *layers, hob_error *err) {
    *f = (hob_inforce){.arena = hob_arena_create((size_t)256 << 20)};
    hob_buf_init(&f->text, TEXT_MAX);
    f->tree = hob_layers_merge(layers, &f->notes);
    hob_jsonw w;
    hob_jsonw_init(&w, &f->text);
    hob_setting_write(f->tree, &w);
    int code = f->text.err;
    if (code == HOB_OK)
        code = hob_json_parse(f->arena, hob_buf_str(&f->text), NULL, &f->document, err);
    else
        hob_fail(err, code, 0, "the settings together are larger than %zu bytes", TEXT_MAX);
    if (code < 0) inforce_finish(f);
    return code;
}

int hob_config_adopt(hob_config *c, const hob_layers *layers, hob_error *err) {
    hob_inforce next;
    int code = inforce_init(&next, layers, err);
    if (code < 0) return code;
    for (int i = 0; i < HOB_LAYERS; i++) {
        if (c->layers.of[i] != layers->of[i]) hob_setting_destroy(c->layers.of[i]);
    }
    c->layers = *layers;
    inforce_finish(&c->now);
    c->now = next;
    return HOB_OK;
}

hob_config *hob_config_create(void) {
    hob_config *c = HOB_NEW(hob_config);
    hob_layers layers = {0};
    for (int i = 0; i < HOB_LAYERS; i++) layers.of[i] = hob_setting_create(HOB_STR(""));
    hob_arena *a = hob_arena_create(0);
    hob_reading r = {.origin = HOB_ORIGIN_BUILTIN, .source = "built-in", .notes = &c->notes};
    const hob_json *v = NULL;
    hob_path root = {.n = 0};
    int code = hob_json_parse(a, hob_str_z(hob_builtin_settings), NULL, &v, NULL);
    if (code == HOB_OK) code = hob_setting_read(&r, v, &root, layers.of[HOB_ORIGIN_BUILTIN], NULL);
    hob_arena_destroy(a);
    if (code == HOB_OK) code = hob_config_adopt(c, &layers, NULL);
    assert(code == HOB_OK); /* a constant text */
    return c;
}

void hob_config_destroy(hob_config *c) {
    if (!c) return;
    for (int i = 0; i < HOB_LAYERS; i++) hob_setting_destroy(c->layers.of[i]);
    inforce_finish(&c->now);
    hob_notes_finish(&c->notes);
    hob_roots_finish(&c->roots);
    hob_free(c);
}

static char *dup_or_null(const char *z) {
    return z ? hob_dupz(hob_str_z(z)) : NULL;
}

hob_config *hob_config_dup(const hob_config *from) {
    hob_config *c = HOB_NEW(hob_config);
    const hob_roots *r = &from->roots;
    hob_layers layers = {.trusted = from->layers.trusted};
    for (int i = 0; i < HOB_LAYERS; i++) layers.of[i] = hob_setting_dup(from->layers.of[i]);
    for (size_t i = 0; i < from->notes.n; i++) hob_notes_add(&c->notes, "%s", from->notes.lines[i]);
    c->roots = (hob_roots){.home = dup_or_null(r->home),
                           .config_dir = dup_or_null(r->config_dir),
                           .state_dir = dup_or_null(r->state_dir),
                           .cache_dir = dup_or_null(r->cache_dir),
                           .file = dup_or_null(r->file),
                           .file_named = r->file_named};
    int code = hob_config_adopt(c, &layers, NULL);
    assert(code == HOB_OK); /* it fitted before */
    return c;
}

static const char *origin_words(hob_origin o) {
    switch (o) {
    case HOB_ORIGIN_BUILTIN: return "built-in";
    case HOB_ORIGIN_ADMIN: return "administrator";
    case HOB_ORIGIN_USER: return "user";
    case HOB_ORIGIN_WORKSPACE: return "workspace";
    case HOB_ORIGIN_ENV: return "environment";
    case HOB_ORIGIN_FLAG: return "flag";
    }
    return "unknown";
}

/* The layer with the value in it: a copy, so that a refused value leaves no trace. */
static int layer_with(const hob_setting *layer, hob_path *path, const hob_json *v,
                      hob_origin origin, hob_setting **out, hob_error *err) {
    hob_setting *copy = hob_setting_dup(layer), *s = copy;
    for (size_t i = 0; i < path->n; i++) s = hob_setting_ensure(s, path->keys[i]);
    hob_notes none = {0};
    hob_reading r = {.origin = origin, .source = origin_words(origin), .notes = &none};
    int code = hob_setting_read(&r, v, path, s, err);
    hob_notes_finish(&none);
    if (code < 0)
        hob_setting_destroy(copy);
    else
        *out = copy;
    return code;
}

static int set_value(hob_config *c, const char *path, hob_str json, hob_origin origin, hob_arena *a,
                     hob_error *err) {
    hob_path p;
    const hob_json *v;
    hob_error why = {0};
    hob_json_opts opts = {HOB_CONFIG_MAX_DEPTH, HOB_CONFIG_MAX_FILE, false};
    if (hob_path_parse(&p, path, a) < 0)
        return hob_fail(err, HOB_ECONFIG, 0, "\"%s\" is not the name of a setting", path);
    if (hob_json_parse(a, json, &opts, &v, &why) < 0)
        return hob_fail(err, HOB_ECONFIG, 0, "the value of %s is not JSON: %s", path, why.message);
    hob_layers next = c->layers;
    int code = layer_with(c->layers.of[origin], &p, v, origin, &next.of[origin], err);
    if (code < 0) return code;
    code = hob_config_adopt(c, &next, err);
    if (code < 0) hob_setting_destroy(next.of[origin]);
    return code;
}

int hob_config_set(hob_config *c, const char *path, hob_str json, hob_origin origin,
                   hob_error *err) {
    if (!c || !path || origin < HOB_ORIGIN_BUILTIN || origin > HOB_ORIGIN_FLAG)
        return hob_fail(err, HOB_EINVAL, 0, "hob_config_set: no configuration, path or origin");
    hob_arena *a = hob_arena_create((size_t)64 << 20);
    int code = set_value(c, path, json, origin, a, err);
    hob_arena_destroy(a);
    return code;
}

size_t hob_config_warnings(const hob_config *c) {
    return c->notes.n + c->now.notes.n;
}

hob_str hob_config_warning(const hob_config *c, size_t i) {
    if (i < c->notes.n) return hob_str_z(c->notes.lines[i]);
    i -= c->notes.n;
    return i < c->now.notes.n ? hob_str_z(c->now.notes.lines[i]) : HOB_STR_NULL;
}

hob_str hob_config_state_dir(const hob_config *c) {
    return hob_str_z(c->roots.state_dir);
}

hob_str hob_config_cache_dir(const hob_config *c) {
    return hob_str_z(c->roots.cache_dir);
}

hob_str hob_config_file(const hob_config *c) {
    return hob_str_z(c->roots.file);
}

hob_str hob_config_dir(const hob_config *c) {
    return hob_str_z(c->roots.config_dir);
}

hob_str hob_config_home(const hob_config *c) {
    return hob_str_z(c->roots.home);
}
