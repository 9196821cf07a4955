/*
 * field.c - reading one value out of an event's data, for hosts without a JSON reader of their own.
 */
#include "log/event.h"

#include <limits.h>

/* Copies s into buf, NUL-terminated, cut at a whole character; returns the full length. */
static int copy_out(hob_str s, char *buf, size_t cap) {
    if (cap) {
        size_t n = hob_utf8_prefix(s, cap - 1);
        if (n) memcpy(buf, s.p, n);
        buf[n] = 0;
    }
    return s.n > INT_MAX ? HOB_ETOOBIG : (int)s.n;
}

static const hob_json *walk(const hob_json *v, hob_str path) {
    hob_str part;
    while (v && hob_str_split(&path, '.', &part)) {
        int64_t i;
        if (hob_json_is(v, HOB_JSON_ARRAY) && hob_str_int(part, &i) >= 0 && i >= 0)
            v = hob_json_at(v, (size_t)i);
        else
            v = hob_json_get_n(v, part);
    }
    return v;
}

int hob_event_field(const hob_event *e, const char *path, char *buf, size_t cap) {
    hob_arena *a = hob_arena_create(0);
    const hob_json *v = walk(hob_event_parse(e, a), hob_str_z(path));
    int rc = HOB_ENOENT;
    if (v)
        rc =
            copy_out(hob_json_is(v, HOB_JSON_STRING) ? hob_json_str(v) : hob_json_raw(v), buf, cap);
    hob_arena_destroy(a);
    return rc;
}

int hob_event_text(const hob_event *e, char *buf, size_t cap) {
    hob_arena *a = hob_arena_create(0);
    const hob_json *data = hob_event_parse(e, a), *content = hob_json_get(data, "content");
    hob_buf text;
    hob_buf_init(&text, HOB_EVENT_MAX);
    if (content) {
        for (const hob_json *b = hob_json_first(content); b; b = hob_json_next(b))
            if (hob_str_eqz(hob_json_get_str(b, "type"), "text"))
                hob_buf_add(&text, hob_json_get_str(b, "text"));
    } else {
        hob_buf_add(&text, hob_json_get_str(data, "text"));
    }
    int rc = copy_out(hob_buf_str(&text), buf, cap);
    hob_buf_finish(&text);
    hob_arena_destroy(a);
    return rc;
}
