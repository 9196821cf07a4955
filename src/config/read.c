/*
 * read.c - a configuration text into a tree of settings.
 *
 * Unknown names are remarks, since an older hob may meet a newer file; but where a misread name means
 * that a limit does not hold (permissions, sandbox, budget) the whole text is refused, and so is a
 * name given twice: of two deny lists one would be lost.
 */
#include "config/read.h"

#include <stdio.h>

#include "config/env.h"
#include "config/known.h"

/* The line in which `at` stands. Callers come in document order. */
static size_t line_of(hob_reading *r, const char *at) {
    size_t to = (size_t)(at - r->text.p);
    for (; r->at < to; r->at++) r->line += r->text.p[r->at] == '\n';
    return r->line;
}

/* "FILE:LINE", or the words the reading started with. */
static void where(hob_reading *r, const hob_json *v, hob_buf *out) {
    hob_buf_addz(out, r->source);
    if (r->text.n) hob_buf_addf(out, ":%zu", line_of(r, hob_json_raw(v).p));
    if (r->in_policy) hob_buf_addz(out, " (policy)");
}

/* "FILE:LINE: permissions.mode" */
static void place(hob_reading *r, const hob_json *v, const hob_path *path, hob_buf *out) {
    where(r, v, out);
    hob_buf_addz(out, ": ");
    hob_path_print(path, out);
    if (path->n == 0) hob_buf_addz(out, "the configuration");
}

static int refuse(hob_reading *r, const hob_json *v, const hob_path *path, const char *why,
                  hob_error *err) {
    hob_buf text;
    hob_buf_init(&text, 4096);
    place(r, v, path, &text);
    hob_fail(err, HOB_ECONFIG, 0, "%s %s", hob_buf_z(&text), why);
    hob_buf_finish(&text);
    return HOB_ECONFIG;
}

static int unknown(hob_reading *r, const hob_json *v, const hob_path *path, hob_error *err) {
    const char *nearest = hob_known_nearest(path);
    char why[128];
    snprintf(why, sizeof(why), "is not a setting%s%s%s", nearest ? "; did you mean " : "",
             nearest ? nearest : "", nearest ? "?" : "");
    if (r->text.n == 0 || hob_known_guarded(path)) return refuse(r, v, path, why, err);
    hob_buf text;
    hob_buf_init(&text, 4096);
    place(r, v, path, &text);
    hob_notes_add(r->notes, "%s %s (ignored)", hob_buf_z(&text), why);
    hob_buf_finish(&text);
    return HOB_OK;
}

/* The text of a value with variables put in. A key that refers to nothing is empty: no key is better
 * than a wrong one. Anything else stays as written, so that it cannot mean some default. */
static int expand_value(hob_reading *r, const hob_known *k, const hob_json *v, hob_buf *json,
                        char **missing) {
    hob_buf text;
    hob_buf_init(&text, HOB_CONFIG_MAX_FILE);
    hob_str name;
    int code = hob_expand(hob_json_str(v), r->envp, &text, &name);
    bool key = hob_str_ends(hob_str_z(k->path), HOB_STR("api_key"));
    if (code == HOB_OK && name.n > 0) {
        *missing = hob_dupz(name);
        hob_json_quote(json, key ? HOB_STR("") : hob_json_str(v));
    } else if (code == HOB_OK) {
        hob_json_quote(json, hob_buf_str(&text));
    }
    hob_buf_finish(&text);
    return code;
}

/* Checks a value that was put together from variables as if it had been written so. */
static int check_again(const hob_known *k, hob_str json, hob_buf *why) {
    hob_arena *a = hob_arena_create(HOB_CONFIG_MAX_FILE * 2);
    const hob_json *v;
    int code = hob_json_parse(a, json, NULL, &v, NULL);
    if (code == HOB_OK) code = hob_known_check(k, v, why);
    hob_arena_destroy(a);
    return code;
}

static int leaf_value(hob_reading *r, const hob_known *k, const hob_json *v, hob_buf *json,
                      char **missing, hob_buf *why) {
    bool refers =
        r->expand && (k->flags & HOB_KNOWN_VARIABLE) && hob_str_chr(hob_json_str(v), '$') >= 0;
    if (!refers) {
        hob_jsonw w;
        hob_jsonw_init(&w, json);
        hob_value_write(v, &w);
        return hob_known_check(k, v, why);
    }
    if (expand_value(r, k, v, json, missing) < 0) {
        hob_buf_addz(why, "has a \"${\" without \"}\", or is too long (\"$$\" is a plain dollar)");
        return HOB_ECONFIG;
    }
    return *missing ? HOB_OK : check_again(k, hob_buf_str(json), why);
}

static int read_leaf(hob_reading *r, const hob_json *v, const hob_path *path, const hob_known *k,
                     hob_setting *into, hob_error *err) {
    if (++r->leaves > HOB_CONFIG_MAX_LEAVES)
        return refuse(r, v, path, "is one setting too many: 4096 are the limit", err);
    hob_buf json, why, source;
    hob_buf_init(&json, HOB_CONFIG_MAX_FILE * 2);
    hob_buf_init(&why, 1024);
    hob_buf_init(&source, 8192);
    char *missing = NULL;
    int code = leaf_value(r, k, v, &json, &missing, &why);
    if (code == HOB_OK) code = json.err;
    if (code < 0) {
        code = refuse(r, v, path, why.n ? hob_buf_z(&why) : "is too long", err);
    } else {
        where(r, v, &source);
        hob_setting_put(into, hob_buf_str(&json), r->origin, hob_buf_str(&source));
        into->missing = missing;
        missing = NULL;
    }
    hob_free(missing);
    if (json.p) explicit_bzero(json.p, json.n);
    hob_buf_finish(&json);
    hob_buf_finish(&why);
    hob_buf_finish(&source);
    return code;
}

static bool repeated(const hob_json *first, const hob_json *member) {
    for (const hob_json *m = first; m != member; m = hob_json_next(m)) {
        if (hob_str_eq(hob_json_key(m), hob_json_key(member))) return true;
    }
    return false;
}

/* Settings that bind above everything else; the same names as outside it. */
static int read_policy(hob_reading *r, const hob_json *v, hob_error *err) {
    hob_path root = {.n = 0};
    if (!r->policy) {
        hob_buf text;
        hob_buf_init(&text, 8192);
        where(r, v, &text);
        hob_notes_add(r->notes, "%s: policy counts only in the administrator's file (ignored)",
                      hob_buf_z(&text));
        hob_buf_finish(&text);
        return HOB_OK;
    }
    r->in_policy = true;
    int code = hob_setting_read(r, v, &root, r->policy, err);
    r->in_policy = false;
    return code;
}

static int read_member(hob_reading *r, const hob_json *member, hob_path *path, hob_setting *into,
                       hob_error *err) {
    if (path->n == 1 && hob_str_eqz(path->keys[0], "$schema")) return HOB_OK; /* editors want it */
    if (path->n == 1 && hob_str_eqz(path->keys[0], "policy") && !r->in_policy)
        return read_policy(r, member, err);
    if (!hob_known_find(path) && !hob_known_inside(path)) return unknown(r, member, path, err);
    return hob_setting_read(r, member, path, hob_setting_ensure(into, hob_json_key(member)), err);
}

static int read_object(hob_reading *r, const hob_json *v, hob_path *path, hob_setting *into,
                       hob_error *err) {
    const hob_json *first = hob_json_first(v);
    if (hob_json_count(v) > HOB_CONFIG_MAX_LEAVES)
        return refuse(r, v, path, "has more members than any configuration needs", err);
    for (const hob_json *m = first; m; m = hob_json_next(m)) {
        path->keys[path->n++] = hob_json_key(m);
        int code = repeated(first, m) ? refuse(r, m, path, "is there twice", err)
                                      : read_member(r, m, path, into, err);
        path->n--;
        if (code < 0) return code;
    }
    return HOB_OK;
}

/* Names end up in headers, messages and listings. */
static bool names_valid(const hob_path *path) {
    for (size_t i = 0; i < path->n; i++) {
        hob_str key = path->keys[i];
        for (size_t k = 0; k < key.n; k++) {
            if ((unsigned char)key.p[k] < 0x20 || key.p[k] == 0x7f) return false;
        }
        if (key.n == 0) return false;
    }
    return true;
}

int hob_setting_read(hob_reading *r, const hob_json *v, hob_path *path, hob_setting *into,
                     hob_error *err) {
    if (!names_valid(path))
        return refuse(r, v, path, "has a name that is empty or with control characters", err);
    bool inside = path->n < HOB_PATH_MAX && hob_known_inside(path);
    if (inside && hob_json_is(v, HOB_JSON_OBJECT)) return read_object(r, v, path, into, err);
    const hob_known *k = hob_known_find(path);
    if (!k && !inside) return unknown(r, v, path, err);
    return k ? read_leaf(r, v, path, k, into, err) : refuse(r, v, path, "must be an object", err);
}

static bool blank(hob_str text) {
    return hob_str_trim(text).n == 0;
}

int hob_setting_read_text(hob_reading *r, hob_setting *into, hob_error *err) {
    if (hob_str_starts(r->text, HOB_STR("\xef\xbb\xbf"))) r->text = hob_str_skip(r->text, 3);
    if (blank(r->text)) return HOB_OK;
    r->at = 0;
    r->line = 1;
    hob_arena *a = hob_arena_create((size_t)64 << 20);
    hob_json_opts opts = {HOB_CONFIG_MAX_DEPTH, HOB_CONFIG_MAX_FILE, true};
    hob_error e = {0};
    const hob_json *v;
    int code = hob_json_parse(a, r->text, &opts, &v, &e);
    size_t line, column;
    int skip = 0;
    hob_path path = {.n = 0};
    if (code == HOB_OK)
        code = hob_setting_read(r, v, &path, into, err);
    else if (sscanf(e.message, "line %zu, column %zu: %n", &line, &column, &skip) == 2 && skip)
        code = hob_fail(err, HOB_ECONFIG, 0, "%s:%zu:%zu: %s", r->source, line, column,
                        e.message + skip);
    else
        code = hob_fail(err, HOB_ECONFIG, 0, "%s: %s", r->source, e.message);
    hob_arena_destroy(a);
    return code;
}
