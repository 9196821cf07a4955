/*
 * scripted_read.c - reads a script.
 *
 * Everything is checked here, once, so that playing a reply can only fail for size. Every complaint
 * says where in the file and what was expected there.
 */
#include "model/scripted.h"

#include <stdio.h>

/* ---- complaints ----------------------------------------------------------------------------- */

/* Lines and columns count from 1, columns in characters, as in errors of the JSON reader. */
static void position(hob_str text, const char *at, size_t *line, size_t *column) {
    *line = *column = 1;
    for (const char *p = text.p; p < at; p++) {
        if (*p == '\n') {
            ++*line;
            *column = 1;
        } else if (((unsigned char)*p & 0xc0) != 0x80) {
            ++*column;
        }
    }
}

static bool inside(hob_str text, const char *p) {
    return (uintptr_t)p >= (uintptr_t)text.p && (uintptr_t)p < (uintptr_t)text.p + text.n;
}

static int complain(hob_script_reader *r, const char *at, const char *message) {
    size_t line, column;
    position(r->text, at, &line, &column);
    return hob_fail(r->err, HOB_ECONFIG, 0, "line %zu, column %zu: %s", line, column, message);
}

int hob_script_bad(hob_script_reader *r, const hob_json *at, const char *fmt, ...) {
    char message[400];
    va_list args;
    va_start(args, fmt);
    vsnprintf(message, sizeof(message), fmt, args);
    va_end(args);
    return complain(r, hob_json_raw(at).p, message);
}

/* A key without escapes is a slice of the script; one with escapes is found by its value. */
static int bad_key(hob_script_reader *r, const hob_json *member, const char *message) {
    hob_str key = hob_json_key(member);
    bool known = inside(r->text, key.p);
    return complain(r, known ? key.p - 1 : hob_json_raw(member).p, message);
}

static size_t count_words(const char *const *words) {
    size_t n = 0;
    while (words[n]) n++;
    return n;
}

static void list_words(hob_buf *out, const char *const *words) {
    for (size_t i = 0; words[i]; i++) hob_buf_addf(out, "%s\"%s\"", i ? ", " : "", words[i]);
}

/* unknown WHAT "word" [in "place"]; did you mean "near"? */
static void describe_unknown(hob_buf *out, const char *what, hob_str word, const char *place,
                             const char *const *known) {
    hob_str shown = hob_str_first(word, hob_utf8_prefix(word, 60));
    hob_buf_addf(out, "unknown %s \"%.*s\"", what, HOB_FMT(shown));
    if (place) hob_buf_addf(out, " in \"%s\"", place);
    const char *near = hob_str_nearest(word, known, count_words(known));
    if (near) {
        hob_buf_addf(out, "; did you mean \"%s\"?", near);
        return;
    }
    hob_buf_addz(out, "; expected one of ");
    list_words(out, known);
}

int hob_script_unknown(hob_script_reader *r, const hob_json *at, const char *what, hob_str word,
                       const char *const *known) {
    hob_buf b;
    hob_buf_init(&b, 4096);
    describe_unknown(&b, what, word, NULL, known);
    int code = complain(r, hob_json_raw(at).p, hob_buf_z(&b));
    hob_buf_finish(&b);
    return code;
}

/* ---- values --------------------------------------------------------------------------------- */

static int unknown_key(hob_script_reader *r, const hob_json *member, const char *place,
                       const char *const *keys) {
    hob_buf b;
    hob_buf_init(&b, 4096);
    describe_unknown(&b, "key", hob_json_key(member), place, keys);
    int code = bad_key(r, member, hob_buf_z(&b));
    hob_buf_finish(&b);
    return code;
}

int hob_script_keys(hob_script_reader *r, const hob_json *v, const char *what,
                    const char *const *keys) {
    if (!hob_json_is(v, HOB_JSON_OBJECT))
        return hob_script_bad(r, v, "\"%s\": expected an object", what);
    uint32_t seen = 0; /* no list of keys here is longer than 32 */
    for (const hob_json *m = hob_json_first(v); m; m = hob_json_next(m)) {
        size_t i = 0;
        while (keys[i] && !hob_str_eqz(hob_json_key(m), keys[i])) i++;
        if (!keys[i]) return unknown_key(r, m, what, keys);
        if (seen & (1u << i)) {
            char message[128];
            snprintf(message, sizeof(message), "\"%s\" is given twice in \"%s\"", keys[i], what);
            return bad_key(r, m, message);
        }
        seen |= 1u << i;
    }
    return HOB_OK;
}

int hob_script_string(hob_script_reader *r, const hob_json *v, const char *what, hob_str *out) {
    if (!hob_json_is(v, HOB_JSON_STRING))
        return hob_script_bad(r, v, "\"%s\": expected a string", what);
    *out = hob_json_str(v);
    return HOB_OK;
}

int hob_script_bool(hob_script_reader *r, const hob_json *v, const char *what, bool *out) {
    if (!hob_json_is(v, HOB_JSON_BOOL))
        return hob_script_bad(r, v, "\"%s\": expected true or false", what);
    *out = hob_json_bool(v);
    return HOB_OK;
}

int hob_script_int(hob_script_reader *r, const hob_json *v, const char *what, hob_script_range in,
                   int64_t *out) {
    int64_t n;
    if (hob_json_int(v, &n) < 0 || n < in.min || n > in.max)
        return hob_script_bad(r, v, "\"%s\": expected a whole number from %lld to %lld", what,
                              (long long)in.min, (long long)in.max);
    *out = n;
    return HOB_OK;
}

int hob_script_no_room(hob_script_reader *r) {
    return hob_fail(r->err, HOB_ETOOBIG, 0,
                    "the script needs more memory than the %u MiB it may use",
                    HOB_SCRIPT_MEMORY >> 20);
}

void *hob_script_room(hob_script_reader *r, size_t n, size_t size) {
    void *p = hob_arena_alloc(r->arena, HOB_MAX(n, (size_t)1) * size);
    if (!p) hob_script_no_room(r);
    return p;
}

/* ---- the whole ------------------------------------------------------------------------------ */

static int read_defaults(hob_script_reader *r, const hob_json *v, hob_script *s) {
    static const char *const keys[] = {"chunk", "delay_ms", "usage", NULL};
    if (!v) return HOB_OK;
    int code = hob_script_keys(r, v, "defaults", keys);
    if (code < 0) return code;
    const hob_json *chunk = hob_json_get(v, "chunk"), *delay = hob_json_get(v, "delay_ms");
    int64_t n = HOB_SCRIPT_CHUNK;
    hob_script_range chunks = {0, HOB_SCRIPT_MAX}, delays = {0, HOB_SCRIPT_DELAY_MAX};
    if (chunk && (code = hob_script_int(r, chunk, "chunk", chunks, &n)) < 0) return code;
    r->chunk = (size_t)n;
    if (delay && (code = hob_script_int(r, delay, "delay_ms", delays, &r->delay_ms)) < 0)
        return code;
    const hob_json *usage = hob_json_get(v, "usage");
    return usage ? hob_script_usage_read(r, usage, &s->usage) : HOB_OK;
}

static int read_rule(hob_script_reader *r, const hob_json *v, hob_script_rule *rule) {
    static const char *const keys[] = {"when", "reply", NULL};
    int code = hob_script_keys(r, v, "rule", keys);
    if (code < 0) return code;
    const hob_json *when = hob_json_get(v, "when"), *reply = hob_json_get(v, "reply");
    if (!reply) return hob_script_bad(r, v, "a rule needs \"reply\"");
    if (when && (code = hob_script_when_read(r, when, &rule->when)) < 0) return code;
    return hob_script_reply_read(r, reply, "reply", &rule->reply);
}

static int read_rules(hob_script_reader *r, const hob_json *v, hob_script *s) {
    if (!v) return HOB_OK;
    if (!hob_json_is(v, HOB_JSON_ARRAY))
        return hob_script_bad(r, v, "\"rules\": expected an array of rules");
    s->rules = hob_script_room(r, hob_json_count(v), sizeof(hob_script_rule));
    if (!s->rules) return HOB_ETOOBIG;
    for (const hob_json *rule = hob_json_first(v); rule; rule = hob_json_next(rule)) {
        int code = read_rule(r, rule, &s->rules[s->nrules]);
        if (code < 0) return code;
        s->nrules++;
    }
    return HOB_OK;
}

static int read_otherwise(hob_script_reader *r, const hob_json *v, hob_script *s) {
    if (!v) return HOB_OK;
    hob_script_reply *reply = hob_script_room(r, 1, sizeof(hob_script_reply));
    if (!reply) return HOB_ETOOBIG;
    s->otherwise = reply;
    return hob_script_reply_read(r, v, "otherwise", reply);
}

static int read_script(hob_script_reader *r, hob_script *s) {
    static const char *const keys[] = {"defaults", "rules", "otherwise", NULL};
    hob_json_opts opts = {
        .max_bytes = HOB_SCRIPT_MAX, .max_depth = HOB_SCRIPT_DEPTH_MAX, .comments = true};
    const hob_json *root;
    int code = hob_json_parse(s->arena, r->text, &opts, &root, r->err);
    if (code == HOB_EPARSE && r->err) r->err->code = HOB_ECONFIG;
    if (code < 0) return code == HOB_EPARSE ? HOB_ECONFIG : code;
    code = hob_script_keys(r, root, "script", keys);
    if (code < 0) return code;
    const hob_json *rules = hob_json_get(root, "rules");
    const hob_json *otherwise = hob_json_get(root, "otherwise");
    if (!rules && !otherwise)
        return hob_script_bad(r, root, "a script needs \"rules\", \"otherwise\" or both");
    if ((code = read_defaults(r, hob_json_get(root, "defaults"), s)) < 0) return code;
    if ((code = read_rules(r, rules, s)) < 0) return code;
    return read_otherwise(r, otherwise, s);
}

int hob_script_create(hob_str text, hob_script **out, hob_error *err) {
    if (text.n > HOB_SCRIPT_MAX)
        return hob_fail(err, HOB_ETOOBIG, 0, "the script has %zu bytes, at most %u are read",
                        text.n, HOB_SCRIPT_MAX);
    hob_script *s = HOB_NEW(hob_script);
    s->arena = hob_arena_create(HOB_SCRIPT_MEMORY);
    s->usage = (hob_usage){-1, -1, -1, -1, -1};
    hob_script_reader r = {.arena = s->arena, .err = err, .chunk = HOB_SCRIPT_CHUNK};
    r.text = hob_arena_dup(s->arena, text);
    int code = r.text.p ? read_script(&r, s) : hob_script_no_room(&r);
    if (code < 0) {
        hob_script_destroy(s);
        return code;
    }
    *out = s;
    return HOB_OK;
}

void hob_script_destroy(hob_script *s) {
    if (!s) return;
    hob_arena_destroy(s->arena);
    hob_free(s);
}

const hob_script_reply *hob_script_find(const hob_script *s, hob_script_view *v) {
    for (size_t i = 0; i < s->nrules; i++) {
        if (hob_script_when_match(&s->rules[i].when, v)) return &s->rules[i].reply;
    }
    v->rest = v->user;
    return s->otherwise;
}
