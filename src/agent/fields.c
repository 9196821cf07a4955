/*
 * fields.c - values of the front matter, each checked where it is taken; every error knows its line.
 */
#include "agent/definition.h"

#include <stdio.h>

static size_t line_of(const hob_def_reader *r, const hob_json *v) {
    size_t i = 0;
    for (const hob_json *m = hob_json_first(r->front.root); m && i < r->front.n;
         m = hob_json_next(m), i++)
        if (m == v) return r->front.lines[i];
    return 0;
}

static char folded(char c) {
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

/* Without case, - and _ : people write disallowedTools, disallowed-tools and disallowed_tools. */
static bool same_key(hob_str a, hob_str b) {
    size_t i = 0, k = 0;
    for (;;) {
        while (i < a.n && (a.p[i] == '-' || a.p[i] == '_')) i++;
        while (k < b.n && (b.p[k] == '-' || b.p[k] == '_')) k++;
        if (i == a.n || k == b.n) return i == a.n && k == b.n;
        if (folded(a.p[i++]) != folded(b.p[k++])) return false;
    }
}

void hob_def_remark(hob_def_reader *r, size_t line, const char *fmt, ...) {
    char text[400], all[440];
    va_list ap;
    if (r->out->remarks.n == HOB_DEFINITION_REMARKS) return;
    va_start(ap, fmt);
    vsnprintf(text, sizeof(text), fmt, ap);
    va_end(ap);
    int n = snprintf(all, sizeof(all), "line %zu: %s", line, text);
    hob_str s = hob_str_n(all, HOB_MIN((size_t)n, sizeof(all) - 1));
    s.n = hob_utf8_complete(s);
    r->remarks[r->out->remarks.n++] = hob_arena_dup(r->a, s);
}

int hob_def_refuse(hob_def_reader *r, const char *key, const char *fmt, ...) {
    char text[400];
    const hob_json *v = NULL;
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof(text), fmt, ap);
    va_end(ap);
    if (key && hob_def_find(r, key, &v) == HOB_OK && v) *r->line = line_of(r, v);
    return hob_fail(r->err, HOB_EPARSE, 0, "%s", text);
}

int hob_def_find(hob_def_reader *r, const char *key, const hob_json **out) {
    const hob_json *found = NULL;
    for (const hob_json *m = hob_json_first(r->front.root); m; m = hob_json_next(m)) {
        if (!same_key(hob_json_key(m), hob_str_z(key))) continue;
        if (found) {
            *r->line = line_of(r, m);
            return hob_fail(r->err, HOB_EPARSE, 0, "%s is there twice", key);
        }
        found = m;
    }
    *out = found;
    return HOB_OK;
}

size_t hob_def_line(hob_def_reader *r, const char *key) {
    const hob_json *v = NULL;
    return hob_def_find(r, key, &v) == HOB_OK && v ? line_of(r, v) : 0;
}

static int too_long(hob_def_reader *r, const char *key, size_t max) {
    return hob_def_refuse(r, key, "%s is longer than %zu bytes", key, max);
}

int hob_def_get_text(hob_def_reader *r, const char *key, size_t max, hob_str *out) {
    const hob_json *v;
    int code = hob_def_find(r, key, &v);
    if (code < 0 || !v || hob_json_is(v, HOB_JSON_NULL)) return code;
    if (hob_json_is(v, HOB_JSON_ARRAY) || hob_json_is(v, HOB_JSON_OBJECT))
        return hob_def_refuse(r, key, "%s has to be text", key);
    bool string = hob_json_is(v, HOB_JSON_STRING);
    hob_str s = hob_str_trim(string ? hob_json_str(v) : hob_json_raw(v));
    if (s.n > max) return too_long(r, key, max);
    *out = s;
    return HOB_OK;
}

int hob_def_get_line(hob_def_reader *r, const char *key, size_t max, hob_str *out) {
    hob_str s = HOB_STR_NULL;
    int code = hob_def_get_text(r, key, max, &s);
    for (size_t i = 0; i < s.n; i++) {
        if ((unsigned char)s.p[i] < 0x20 || s.p[i] == 0x7f)
            return hob_def_refuse(r, key, "%s has a control character in it", key);
    }
    if (code == HOB_OK && s.n) *out = s;
    return code;
}

/* ---- lists ------------------------------------------------------------------------------------- */

typedef struct words {
    hob_str at[HOB_DEFINITION_WORDS];
    size_t n;
    bool bad;
} words;

static void add_word(words *w, hob_str s) {
    s = hob_str_trim(s);
    if (s.n == 0) return;
    for (size_t i = 0; i < s.n; i++) w->bad |= (unsigned char)s.p[i] < 0x20 || s.p[i] == 0x7f;
    w->bad |= s.n > 512 || w->n == HOB_DEFINITION_WORDS;
    if (!w->bad) w->at[w->n++] = s;
}

/* At commas and blanks, but not in "Bash(git add:*)". */
static void split_words(words *w, hob_str s) {
    size_t start = 0, depth = 0;
    for (size_t i = 0; i < s.n; i++) {
        char c = s.p[i];
        if (c == '(') depth++;
        if (c == ')' && depth > 0) depth--;
        if (depth > 0 || !strchr(", \t\n", c)) continue;
        add_word(w, hob_str_first(hob_str_skip(s, start), i - start));
        start = i + 1;
    }
    add_word(w, hob_str_skip(s, start));
}

static int collect(hob_def_reader *r, const char *key, const hob_json *v, words *w) {
    if (hob_json_is(v, HOB_JSON_STRING)) split_words(w, hob_json_str(v));
    for (const hob_json *m = hob_json_is(v, HOB_JSON_ARRAY) ? hob_json_first(v) : NULL; m;
         m = hob_json_next(m)) {
        if (!hob_json_is(m, HOB_JSON_STRING))
            return hob_def_refuse(r, key, "%s has to be a list of names", key);
        add_word(w, hob_json_str(m));
    }
    if (!hob_json_is(v, HOB_JSON_STRING) && !hob_json_is(v, HOB_JSON_ARRAY))
        return hob_def_refuse(r, key, "%s has to be a list of names", key);
    if (w->bad)
        return hob_def_refuse(r, key, "%s has too many entries, or one that is not a name", key);
    return HOB_OK;
}

int hob_def_get_words(hob_def_reader *r, const char *key, bool *said, hob_strs *out) {
    const hob_json *v;
    int code = hob_def_find(r, key, &v);
    if (code < 0 || !v || hob_json_is(v, HOB_JSON_NULL)) return code;
    words *w = HOB_NEW(words);
    code = collect(r, key, v, w);
    if (code == HOB_OK) {
        hob_str *copy = hob_arena_alloc(r->a, (w->n + 1) * sizeof(hob_str));
        if (copy && w->n) memcpy(copy, w->at, w->n * sizeof(hob_str));
        *out = (hob_strs){copy, copy ? w->n : 0};
        *said = true;
    }
    hob_free(w);
    return code;
}

/* ---- the rest ---------------------------------------------------------------------------------- */

int hob_def_get_flag(hob_def_reader *r, const char *key, unsigned flag) {
    const hob_json *v;
    int code = hob_def_find(r, key, &v);
    if (code < 0 || !v || hob_json_is(v, HOB_JSON_NULL)) return code;
    if (!hob_json_is(v, HOB_JSON_BOOL))
        return hob_def_refuse(r, key, "%s has to be true or false", key);
    if (hob_json_bool(v)) r->out->flags |= flag;
    return HOB_OK;
}

int hob_def_get_count(hob_def_reader *r, const char *key, int64_t *out) {
    const hob_json *v;
    int64_t n = 0;
    int code = hob_def_find(r, key, &v);
    if (code < 0 || !v || hob_json_is(v, HOB_JSON_NULL)) return code;
    if (hob_json_int(v, &n) < 0 || n < 1 || n > 1000000)
        return hob_def_refuse(r, key, "%s has to be a number from 1 to 1000000", key);
    *out = n;
    return HOB_OK;
}

/* A limit under a wrong name would not hold. */
static bool is_limit(const char *key) {
    static const char *const limits[] = {"tools",    "allowed-tools",  "disallowedTools",
                                         "maxTurns", "permissionMode", "disable-model-invocation",
                                         "isolation"};
    for (size_t i = 0; i < HOB_ARRAY_LEN(limits); i++)
        if (!strcmp(key, limits[i])) return true;
    return false;
}

/* What people's files hold for other programs, and what takes nothing away when left out. */
static bool is_harmless(hob_str key) {
    static const char *const names[] = {"color",   "effort", "license", "metadata", "compatibility",
                                        "version", "tags",   "author",  "title",    "hidden",
                                        "native",  "memory", "context", "agent",    "homepage"};
    for (size_t i = 0; i < HOB_ARRAY_LEN(names); i++)
        if (same_key(key, hob_str_z(names[i]))) return true;
    return false;
}

int hob_def_check_keys(hob_def_reader *r, const char *const *known, size_t n) {
    for (const hob_json *m = hob_json_first(r->front.root); m; m = hob_json_next(m)) {
        hob_str key = hob_json_key(m);
        bool found = is_harmless(key);
        for (size_t i = 0; i < n && !found; i++) found = same_key(key, hob_str_z(known[i]));
        if (found) continue;
        const char *near = hob_str_nearest(key, known, n);
        if (near && is_limit(near)) {
            *r->line = line_of(r, m);
            return hob_fail(r->err, HOB_EPARSE, 0, "%.*s is not known; did you mean %s?",
                            HOB_FMT(hob_str_first(key, 64)), near);
        }
        hob_def_remark(r, line_of(r, m), "%.*s does not count here",
                       HOB_FMT(hob_str_first(key, hob_utf8_prefix(key, 64))));
    }
    return HOB_OK;
}
