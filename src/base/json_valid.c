/*
 * json_valid.c - the strict check that builds nothing.
 *
 * The grammar of json_read.c without its values: what is open is a bit a level.
 */
#include "base/json_node.h"
#include "base/json_scan.h"

typedef struct checker {
    hob_scan scan;
    unsigned depth;
    uint8_t objects[HOB_JSON_MAX_DEPTH / 8]; /* bit d: level d is an object */
} checker;

static bool in_object(const checker *c) {
    return c->objects[(c->depth - 1) / 8] >> ((c->depth - 1) % 8) & 1;
}

static bool skip_space(checker *c) {
    return hob_scan_space(&c->scan) == HOB_SCAN_OK && c->scan.p < c->scan.end;
}

static bool string_ok(checker *c) {
    bool escaped;
    return *c->scan.p == '"' && hob_scan_string(&c->scan, &escaped) == HOB_SCAN_OK;
}

static bool key_ok(checker *c) {
    if (!skip_space(c) || !string_ok(c) || !skip_space(c) || *c->scan.p != ':') return false;
    c->scan.p++;
    return true;
}

static bool scalar_ok(checker *c) {
    switch (*c->scan.p) {
    case '"': return string_ok(c);
    case 't': return hob_scan_literal(&c->scan, HOB_STR("true")) == HOB_SCAN_OK;
    case 'f': return hob_scan_literal(&c->scan, HOB_STR("false")) == HOB_SCAN_OK;
    case 'n': return hob_scan_literal(&c->scan, HOB_STR("null")) == HOB_SCAN_OK;
    }
    bool number = *c->scan.p == '-' || (*c->scan.p >= '0' && *c->scan.p <= '9');
    return number && hob_scan_number(&c->scan) == HOB_SCAN_OK;
}

static bool open_container(checker *c, bool object) {
    if (c->depth == HOB_JSON_MAX_DEPTH) return false;
    uint8_t bit = (uint8_t)(1u << (c->depth % 8));
    uint8_t *byte = &c->objects[c->depth / 8];
    *byte = (uint8_t)(object ? *byte | bit : *byte & ~bit);
    c->depth++;
    c->scan.p++;
    return true;
}

/* A value up to where it is whole or its first child is due; *opened says which. */
static bool value_ok(checker *c, bool *opened) {
    *opened = false;
    if (!skip_space(c)) return false;
    bool object = *c->scan.p == '{';
    if (!object && *c->scan.p != '[') return scalar_ok(c);
    if (!open_container(c, object) || !skip_space(c)) return false;
    if (*c->scan.p == (object ? '}' : ']')) {
        c->scan.p++;
        c->depth--;
        return true;
    }
    *opened = true;
    return !object || key_ok(c);
}

/* Behind a value: closes what closes here, then either a comma or the end. */
static bool after_ok(checker *c, bool *done) {
    while (c->depth > 0) {
        if (!skip_space(c)) return false;
        bool object = in_object(c);
        char next = *c->scan.p++;
        if (next == ',') return !object || key_ok(c);
        if (next != (object ? '}' : ']')) return false;
        c->depth--;
    }
    *done = true;
    return !skip_space(c);
}

bool hob_json_valid(hob_str text) {
    if (text.n == 0 || text.n > HOB_JSON_MAX_BYTES) return false;
    checker c = {.scan = {.p = text.p, .end = text.p + text.n}};
    for (bool done = false; !done;) {
        bool opened;
        if (!value_ok(&c, &opened)) return false;
        if (!opened && !after_ok(&c, &done)) return false;
    }
    return true;
}
