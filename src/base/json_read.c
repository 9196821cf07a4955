/*
 * json_read.c - text to values, whole or cut off.
 *
 * One loop over a small state machine; nothing recurses. The stack of open containers is made of the
 * containers themselves: while one is open its `next` leads to the container around it, and its
 * children form a ring of which it holds the last, so that adding one is O(1) without a tail pointer.
 * Closing opens the ring and hangs the container into the one around it.
 *
 * Partial mode is the same machine: where strict mode says "unexpected end", it keeps what is whole
 * and closes what is open.
 */
#include "base/json_node.h"
#include "base/json_scan.h"

typedef enum state {
    FIRST_ITEM, /* behind '[': an element or ']' */
    FIRST_KEY,  /* behind '{': a key or '}' */
    VALUE,
    KEY,
    AFTER, /* behind a value */
    DONE,
    CUT,  /* the text ends before the value does */
    BAD,  /* scan.p and scan.why say where and what */
    FULL, /* out of depth or memory; scan.why says which */
} state;

typedef struct reader {
    hob_scan scan;
    hob_arena *arena;
    hob_json *open; /* innermost open container */
    hob_json *root;
    hob_str key; /* of the member whose value comes next */
    unsigned depth, max_depth;
} reader;

static state stop(reader *r, state st, const char *why) {
    r->scan.why = why;
    return st;
}

static state no_memory(reader *r) {
    return stop(r, FULL, "needs more memory than its arena may use");
}

static state after_scan(hob_scan_result result, state next) {
    switch (result) {
    case HOB_SCAN_OK: return next;
    case HOB_SCAN_BAD: return BAD;
    case HOB_SCAN_END: return CUT;
    }
    return BAD;
}

static hob_json *node_create(reader *r, hob_json_type type, const char *raw) {
    hob_json *v = hob_arena_alloc(r->arena, sizeof(*v));
    if (!v) return NULL;
    v->type = (uint8_t)type;
    v->raw = raw;
    v->key = r->key.p;
    v->key_n = (uint32_t)r->key.n;
    r->key = HOB_STR_NULL;
    return v;
}

/* v is whole: its raw text ends here, and it becomes the last child of the open container. */
static void attach(reader *r, hob_json *v) {
    v->raw_n = (uint32_t)(r->scan.p - v->raw);
    hob_json *parent = r->open;
    if (!parent) {
        r->root = v;
        return;
    }
    hob_json *last = parent->u.child;
    v->next = last ? last->next : v;
    if (last) last->next = v;
    parent->u.child = v;
    parent->n++;
}

static bool build_index(reader *r, hob_json *array) {
    hob_json **index = hob_arena_alloc(r->arena, array->n * sizeof(*index));
    if (!index) return false;
    size_t i = 0;
    for (hob_json *v = array->u.child; v; v = v->next) index[i++] = v;
    array->u.index = index;
    array->flags |= HOB_JSON_INDEXED;
    return true;
}

static state close_container(reader *r) {
    hob_json *v = r->open;
    r->open = v->next;
    r->depth--;
    v->next = NULL;
    hob_json *last = v->u.child;
    if (last) {
        v->u.child = last->next;
        last->next = NULL;
    }
    bool indexed = v->type == HOB_JSON_ARRAY && v->n >= HOB_JSON_INDEX_FROM;
    if (indexed && !build_index(r, v)) return no_memory(r);
    attach(r, v);
    return AFTER;
}

static state open_container(reader *r, hob_json_type type) {
    if (r->depth >= r->max_depth) return stop(r, FULL, "is nested too deeply");
    hob_json *v = node_create(r, type, r->scan.p);
    if (!v) return no_memory(r);
    v->next = r->open;
    r->open = v;
    r->depth++;
    r->scan.p++;
    return type == HOB_JSON_ARRAY ? FIRST_ITEM : FIRST_KEY;
}

/* The content of a scanned string: borrowed from the text, or decoded into the arena. */
static bool content_of(reader *r, hob_str content, bool escaped, hob_str *out) {
    *out = content;
    if (!escaped) return true;
    char *to = hob_arena_bytes(r->arena, content.n);
    if (!to) return false;
    *out = hob_str_n(to, hob_scan_unescape(to, content));
    return true;
}

static state read_string(reader *r) {
    const char *raw = r->scan.p;
    bool escaped;
    hob_scan_result result = hob_scan_string(&r->scan, &escaped);
    bool cut = result == HOB_SCAN_END && r->scan.more;
    if (result != HOB_SCAN_OK && !cut) return after_scan(result, AFTER);
    if (cut) r->scan.p = r->scan.end;
    const char *end = cut ? r->scan.safe : r->scan.p - 1;
    hob_str content;
    hob_json *v = node_create(r, HOB_JSON_STRING, raw);
    if (!v) return no_memory(r);
    if (!content_of(r, hob_str_n(raw + 1, (size_t)(end - raw - 1)), escaped, &content)) {
        return no_memory(r);
    }
    v->u.str = content.p;
    v->n = (uint32_t)content.n;
    if (cut) v->flags |= HOB_JSON_CUT;
    attach(r, v);
    return cut ? CUT : AFTER;
}

static state read_plain(reader *r, hob_json_type type, hob_str word) {
    const char *raw = r->scan.p;
    hob_scan_result result = word.n ? hob_scan_literal(&r->scan, word) : hob_scan_number(&r->scan);
    if (result != HOB_SCAN_OK) return after_scan(result, AFTER);
    hob_json *v = node_create(r, type, raw);
    if (!v) return no_memory(r);
    v->n = *raw == 't';
    attach(r, v);
    return AFTER;
}

static state read_value(reader *r) {
    switch (*r->scan.p) {
    case '{': return open_container(r, HOB_JSON_OBJECT);
    case '[': return open_container(r, HOB_JSON_ARRAY);
    case '"': return read_string(r);
    case 't': return read_plain(r, HOB_JSON_BOOL, HOB_STR("true"));
    case 'f': return read_plain(r, HOB_JSON_BOOL, HOB_STR("false"));
    case 'n': return read_plain(r, HOB_JSON_NULL, HOB_STR("null"));
    }
    if (*r->scan.p == '-' || (*r->scan.p >= '0' && *r->scan.p <= '9')) {
        return read_plain(r, HOB_JSON_NUMBER, HOB_STR_NULL);
    }
    return stop(r, BAD, "expected a value");
}

static state read_key(reader *r) {
    if (*r->scan.p != '"') return stop(r, BAD, "expected a key in double quotes");
    const char *raw = r->scan.p;
    bool escaped;
    hob_scan_result result = hob_scan_string(&r->scan, &escaped);
    if (result != HOB_SCAN_OK) return after_scan(result, VALUE);
    hob_str content = hob_str_n(raw + 1, (size_t)(r->scan.p - raw - 2));
    if (!content_of(r, content, escaped, &r->key)) return no_memory(r);
    if (hob_scan_space(&r->scan) != HOB_SCAN_OK) return BAD;
    if (r->scan.p == r->scan.end) return CUT;
    if (*r->scan.p != ':') return stop(r, BAD, "expected ':' after the key");
    r->scan.p++;
    return VALUE;
}

static state read_after(reader *r) {
    if (!r->open) return stop(r, BAD, "there is more text behind the value");
    bool array = r->open->type == HOB_JSON_ARRAY;
    char c = *r->scan.p;
    if (c == (array ? ']' : '}')) {
        r->scan.p++;
        return close_container(r);
    }
    if (c != ',') {
        return stop(r, BAD,
                    array ? "expected ',' or ']' after an element"
                          : "expected ',' or '}' after a member");
    }
    r->scan.p++;
    if (r->scan.comments) return array ? FIRST_ITEM : FIRST_KEY; /* a trailing comma is fine */
    return array ? VALUE : KEY;
}

static state step(reader *r, state st) {
    switch (st) {
    case FIRST_ITEM:
        if (*r->scan.p == ']') return read_after(r);
        return read_value(r);
    case FIRST_KEY:
        if (*r->scan.p == '}') return read_after(r);
        return read_key(r);
    case VALUE: return read_value(r);
    case KEY: return read_key(r);
    case AFTER: return read_after(r);
    case DONE:
    case CUT:
    case BAD:
    case FULL: break;
    }
    return st;
}

static state run(reader *r) {
    state st = VALUE;
    while (st < DONE) {
        if (hob_scan_space(&r->scan) != HOB_SCAN_OK) return BAD;
        if (r->scan.p == r->scan.end) return st == AFTER && !r->open ? DONE : CUT;
        st = step(r, st);
    }
    return st;
}

static void reader_init(reader *r, hob_arena *a, hob_str text, const hob_json_opts *opts) {
    *r = (reader){.arena = a, .max_depth = HOB_JSON_MAX_DEPTH};
    r->scan.p = text.p ? text.p : "";
    r->scan.end = r->scan.p + text.n;
    if (!opts) return;
    if (opts->max_depth) r->max_depth = opts->max_depth;
    r->scan.comments = opts->comments;
    /* Editors put a byte order mark before configuration files; RFC 8259 has none. */
    if (opts->comments && hob_str_starts(text, HOB_STR("\xef\xbb\xbf"))) r->scan.p += 3;
}

/* Lines and columns count from 1, columns in characters. */
static void position_of(hob_str text, const char *at, size_t *line, size_t *column) {
    *line = *column = 1;
    for (const char *p = text.p; p && p < at; p++) {
        if (*p == '\n') {
            ++*line;
            *column = 1;
        } else if (((unsigned char)*p & 0xc0) != 0x80) {
            ++*column;
        }
    }
}

static int fail_at(hob_error *err, hob_str text, const char *at, const char *why) {
    if (!err) return HOB_EPARSE;
    size_t line, column;
    position_of(text, at, &line, &column);
    return hob_fail(err, HOB_EPARSE, 0, "line %zu, column %zu: %s", line, column, why);
}

static int too_big(hob_error *err, size_t max) {
    return hob_fail(err, HOB_ETOOBIG, 0, "the JSON text is larger than its limit of %zu bytes",
                    max);
}

int hob_json_parse(hob_arena *a, hob_str text, const hob_json_opts *opts, const hob_json **out,
                   hob_error *err) {
    size_t max = opts && opts->max_bytes ? opts->max_bytes : HOB_JSON_MAX_BYTES;
    max = HOB_MIN(max, (size_t)UINT32_MAX); /* what a node can hold */
    if (text.n > max) return too_big(err, max);
    reader r;
    reader_init(&r, a, text, opts);
    switch (run(&r)) {
    case DONE: *out = r.root; return HOB_OK;
    case FULL: return hob_fail(err, HOB_ETOOBIG, 0, "the JSON text %s", r.scan.why);
    case CUT: return fail_at(err, text, r.scan.end, "the text ends before the value does");
    case FIRST_ITEM:
    case FIRST_KEY:
    case VALUE:
    case KEY:
    case AFTER:
    case BAD: break;
    }
    return fail_at(err, text, r.scan.p, r.scan.why);
}

int hob_json_parse_partial(hob_arena *a, hob_str text, const hob_json **out) {
    if (text.n > HOB_JSON_MAX_BYTES) return HOB_ETOOBIG;
    reader r;
    reader_init(&r, a, text, NULL);
    r.scan.more = true;
    state st = run(&r);
    if (st == BAD) return HOB_EPARSE;
    if (st == FULL) return HOB_ETOOBIG;
    r.scan.p = r.scan.end;
    while (r.open) {
        r.open->flags |= HOB_JSON_CUT;
        if (close_container(&r) == FULL) return HOB_ETOOBIG;
    }
    *out = r.root;
    return HOB_OK;
}
