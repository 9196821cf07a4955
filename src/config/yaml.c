/*
 * yaml.c - libyaml's events written as JSON, which is then read by the one JSON reader.
 *
 * The parser is driven event by event, so that what is not wanted is refused before it is built:
 * aliases cannot multiply, depth and number of values are counted, and nothing here recurses.
 */
#include "config/yaml.h"

#include <yaml.h>

#define JSON_MAX ((size_t)HOB_YAML_MAX * 8) /* an escaped byte is six, and punctuation */

typedef struct frame {
    bool map, want_key;
    hob_map *seen; /* keys of a map */
} frame;

typedef struct reader {
    yaml_parser_t parser;
    hob_buf json;
    hob_jsonw w;
    frame stack[HOB_YAML_DEPTH];
    size_t depth, nodes, first_line, documents;
    hob_yaml *doc;
    size_t *line;
    hob_error *err;
} reader;

static int refuse(reader *r, const yaml_mark_t *at, const char *what) {
    *r->line = r->first_line + at->line;
    return hob_fail(r->err, HOB_EPARSE, 0, "%s", what);
}

static int parser_failed(reader *r) {
    const yaml_parser_t *p = &r->parser;
    const char *problem = p->problem ? p->problem : "not YAML";
    bool colon = strstr(problem, "mapping values are not allowed") != NULL;
    *r->line = r->first_line + p->problem_mark.line;
    return hob_fail(r->err, HOB_EPARSE, 0, "%s%s", problem,
                    colon ? "; put a value with \": \" in it between quotes, or below a |" : "");
}

static hob_str scalar_text(const yaml_event_t *e) {
    return hob_str_n((const char *)e->data.scalar.value, e->data.scalar.length);
}

static int take_key(reader *r, frame *f, const yaml_event_t *e) {
    hob_str key = scalar_text(e);
    if (hob_map_put(f->seen, key, f)) return refuse(r, &e->start_mark, "this key is there twice");
    if (r->depth == 1) {
        if (r->doc->n == HOB_YAML_KEYS) return refuse(r, &e->start_mark, "too many keys");
        r->doc->lines[r->doc->n++] = r->first_line + e->start_mark.line;
    }
    hob_jsonw_key_n(&r->w, key);
    f->want_key = false;
    return HOB_OK;
}

static bool is_number(hob_str s) {
    bool starts = s.n > 0 && s.n <= 32 && (s.p[0] == '-' || (s.p[0] >= '0' && s.p[0] <= '9'));
    return starts && hob_json_valid(s);
}

static void write_plain(hob_jsonw *w, hob_str s) {
    if (s.n == 0 || hob_str_eqz(s, "~") || hob_str_ieq(s, HOB_STR("null")))
        hob_jsonw_null(w);
    else if (hob_str_ieq(s, HOB_STR("true")) || hob_str_ieq(s, HOB_STR("false")))
        hob_jsonw_bool(w, s.n == 4);
    else if (is_number(s))
        hob_jsonw_raw(w, s);
    else
        hob_jsonw_str(w, s);
}

/* A value has come: its map waits for a key again. */
static void value_done(reader *r) {
    if (r->depth > 0) r->stack[r->depth - 1].want_key = r->stack[r->depth - 1].map;
}

static int on_scalar(reader *r, const yaml_event_t *e) {
    frame *f = r->depth ? &r->stack[r->depth - 1] : NULL;
    hob_str s = scalar_text(e);
    bool plain = e->data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
    if (e->data.scalar.anchor) return refuse(r, &e->start_mark, "anchors are not allowed");
    if (e->data.scalar.tag) return refuse(r, &e->start_mark, "tags are not allowed");
    if (memchr(s.p, 0, s.n)) return refuse(r, &e->start_mark, "a NUL is not allowed");
    if (!f && !(plain && s.n == 0))
        return refuse(r, &e->start_mark, "expected \"key: value\" lines");
    if (f && f->want_key) return take_key(r, f, e);
    if (plain)
        write_plain(&r->w, s);
    else
        hob_jsonw_str(&r->w, s);
    value_done(r);
    return HOB_OK;
}

static int on_open(reader *r, const yaml_event_t *e, bool map) {
    const void *anchor = map ? e->data.mapping_start.anchor : e->data.sequence_start.anchor;
    const void *tag = map ? e->data.mapping_start.tag : e->data.sequence_start.tag;
    if (anchor) return refuse(r, &e->start_mark, "anchors are not allowed");
    if (tag) return refuse(r, &e->start_mark, "tags are not allowed");
    if (!map && r->depth == 0)
        return refuse(r, &e->start_mark, "expected \"key: value\" lines, not a list");
    if (r->depth > 0 && r->stack[r->depth - 1].want_key)
        return refuse(r, &e->start_mark, "a key is a word, not a list or map");
    if (r->depth == HOB_YAML_DEPTH) return refuse(r, &e->start_mark, "nested too deep");
    r->stack[r->depth++] =
        (frame){.map = map, .want_key = map, .seen = map ? hob_map_create() : NULL};
    if (map)
        hob_jsonw_object(&r->w);
    else
        hob_jsonw_array(&r->w);
    return HOB_OK;
}

static void on_close(reader *r) {
    frame *f = &r->stack[--r->depth];
    if (f->map)
        hob_jsonw_object_end(&r->w);
    else
        hob_jsonw_array_end(&r->w);
    hob_map_destroy(f->seen);
    value_done(r);
}

static int on_document(reader *r, const yaml_event_t *e) {
    bool directive =
        e->data.document_start.version_directive ||
        e->data.document_start.tag_directives.start != e->data.document_start.tag_directives.end;
    if (directive) return refuse(r, &e->start_mark, "directives are not allowed");
    if (r->documents++) return refuse(r, &e->start_mark, "a second document is not allowed");
    return HOB_OK;
}

static int on_event(reader *r, const yaml_event_t *e) {
    if (++r->nodes > HOB_YAML_NODES) return refuse(r, &e->start_mark, "too many values");
    switch (e->type) {
    case YAML_NO_EVENT:
    case YAML_STREAM_START_EVENT:
    case YAML_STREAM_END_EVENT:
    case YAML_DOCUMENT_END_EVENT: return HOB_OK;
    case YAML_DOCUMENT_START_EVENT: return on_document(r, e);
    case YAML_ALIAS_EVENT: return refuse(r, &e->start_mark, "aliases are not allowed");
    case YAML_SCALAR_EVENT: return on_scalar(r, e);
    case YAML_SEQUENCE_START_EVENT: return on_open(r, e, false);
    case YAML_MAPPING_START_EVENT: return on_open(r, e, true);
    case YAML_SEQUENCE_END_EVENT:
    case YAML_MAPPING_END_EVENT: on_close(r); return HOB_OK;
    }
    return HOB_OK;
}

static int read_events(reader *r) {
    for (;;) {
        yaml_event_t e;
        if (!yaml_parser_parse(&r->parser, &e)) return parser_failed(r);
        bool end = e.type == YAML_STREAM_END_EVENT;
        int code = on_event(r, &e);
        yaml_event_delete(&e);
        if (code < 0 || end) return code;
    }
}

static int finish_json(reader *r, hob_arena *a, hob_yaml *out) {
    hob_str text = r->json.n ? hob_buf_str(&r->json) : HOB_STR("{}");
    if (r->json.err) return hob_fail(r->err, HOB_ETOOBIG, 0, "too large");
    text = hob_arena_dup(a, text);
    if (!text.p) return hob_fail(r->err, HOB_ETOOBIG, 0, "too large");
    return hob_json_parse(a, text, NULL, &out->root, r->err);
}

static int parse_text(reader *r, hob_arena *a, hob_str text, hob_yaml *out) {
    if (!yaml_parser_initialize(&r->parser))
        return hob_fail(r->err, HOB_ENOMEM, 0, "no memory for the YAML reader");
    hob_buf_init(&r->json, JSON_MAX);
    hob_jsonw_init(&r->w, &r->json);
    yaml_parser_set_encoding(&r->parser, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&r->parser, (const unsigned char *)text.p, text.n);
    int code = read_events(r);
    if (code == HOB_OK) code = finish_json(r, a, out);
    while (r->depth > 0) hob_map_destroy(r->stack[--r->depth].seen);
    yaml_parser_delete(&r->parser);
    hob_buf_finish(&r->json);
    return code;
}

int hob_yaml_parse(hob_arena *a, hob_str text, size_t first_line, hob_yaml *out, size_t *line,
                   hob_error *err) {
    *line = first_line;
    if (text.n > HOB_YAML_MAX)
        return hob_fail(err, HOB_ETOOBIG, 0, "is larger than %u bytes", HOB_YAML_MAX);
    if (!hob_utf8_valid(text)) return hob_fail(err, HOB_EPARSE, 0, "is not valid UTF-8");
    hob_yaml doc = {.n = 0};
    reader *r = HOB_NEW(reader);
    r->first_line = first_line;
    r->doc = &doc;
    r->line = line;
    r->err = err;
    int code = parse_text(r, a, text.p ? text : HOB_STR(""), &doc);
    hob_free(r);
    if (code == HOB_OK) *out = doc;
    return code;
}

size_t hob_yaml_line(const hob_yaml *y, const char *key) {
    size_t i = 0;
    for (const hob_json *m = hob_json_first(y->root); m && i < y->n; m = hob_json_next(m), i++) {
        if (hob_str_eqz(hob_json_key(m), key)) return y->lines[i];
    }
    return 0;
}
