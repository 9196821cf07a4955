/*
 * json_write.c - values to text. Errors stick in the buffer; whoever writes checks once at the end.
 */
#include "base/json.h"
#include "base/json_number.h"
#include "base/json_scan.h"
#include "base/utf8.h"

#include <math.h>

void hob_jsonw_init(hob_jsonw *w, hob_buf *out) {
    *w = (hob_jsonw){.out = out, .first = true};
}

/* Before a value or a key: the comma, unless nothing precedes it here. */
static void separate(hob_jsonw *w) {
    if (!w->first && !w->after_key && w->depth > 0) hob_buf_addc(w->out, ',');
    w->first = false;
    w->after_key = false;
}

static void open_container(hob_jsonw *w, char c) {
    separate(w);
    hob_buf_addc(w->out, c);
    w->depth++;
    w->first = true;
}

static void close_container(hob_jsonw *w, char c) {
    hob_buf_addc(w->out, c);
    if (w->depth > 0) w->depth--;
    w->first = false; /* what was closed is a value of the container around it */
    w->after_key = false;
}

void hob_jsonw_object(hob_jsonw *w) {
    open_container(w, '{');
}

void hob_jsonw_object_end(hob_jsonw *w) {
    close_container(w, '}');
}

void hob_jsonw_array(hob_jsonw *w) {
    open_container(w, '[');
}

void hob_jsonw_array_end(hob_jsonw *w) {
    close_container(w, ']');
}

static void add_escape(hob_buf *out, unsigned char c) {
    static const char hex[] = "0123456789abcdef";
    static const char from[] = "\"\\\b\f\n\r\t", to[] = "\"\\bfnrt";
    const char *hit = c ? strchr(from, c) : NULL;
    char text[6] = {'\\', hit ? to[hit - from] : 'u', '0', '0', hex[c >> 4], hex[c & 15]};
    hob_buf_add(out, hob_str_n(text, hit ? 2 : 6));
}

/* Adds the characters at p that are not ASCII; returns what follows them. */
static const char *add_utf8(hob_buf *out, const char *p, const char *end) {
    const char *run = p;
    while (p < end && (unsigned char)*p >= 0x80) {
        hob_utf8_step step = hob_utf8_check(p, end);
        if (!step.valid) {
            hob_buf_add(out, hob_str_n(run, (size_t)(p - run)));
            hob_buf_add(out, HOB_STR("\xef\xbf\xbd"));
            run = p + step.n;
        }
        p += step.n;
    }
    hob_buf_add(out, hob_str_n(run, (size_t)(p - run)));
    return p;
}

int hob_json_quote(hob_buf *out, hob_str s) {
    hob_buf_addc(out, '"');
    const char *p = s.p, *end = s.n ? s.p + s.n : s.p;
    while (p < end && !out->err) {
        const char *stop = hob_scan_plain(p, end);
        hob_buf_add(out, hob_str_n(p, (size_t)(stop - p)));
        p = stop;
        if (p == end) break;
        if ((unsigned char)*p >= 0x80)
            p = add_utf8(out, p, end);
        else
            add_escape(out, (unsigned char)*p++);
    }
    return hob_buf_addc(out, '"');
}

void hob_jsonw_key_n(hob_jsonw *w, hob_str key) {
    separate(w);
    hob_json_quote(w->out, key);
    hob_buf_addc(w->out, ':');
    w->after_key = true;
}

void hob_jsonw_key(hob_jsonw *w, const char *key) {
    hob_jsonw_key_n(w, hob_str_z(key));
}

void hob_jsonw_str(hob_jsonw *w, hob_str s) {
    separate(w);
    hob_json_quote(w->out, s);
}

void hob_jsonw_int(hob_jsonw *w, int64_t v) {
    char text[24], *p = text + sizeof(text);
    uint64_t u = v < 0 ? 0 - (uint64_t)v : (uint64_t)v;
    do *--p = (char)('0' + u % 10);
    while (u /= 10);
    if (v < 0) *--p = '-';
    hob_jsonw_raw(w, hob_str_n(p, (size_t)(text + sizeof(text) - p)));
}

void hob_jsonw_double(hob_jsonw *w, double v) {
    if (!isfinite(v)) {
        hob_jsonw_null(w);
        return;
    }
    char text[HOB_NUMBER_TEXT];
    size_t n = hob_number_format(v, text);
    hob_jsonw_raw(w, hob_str_n(text, n));
}

void hob_jsonw_bool(hob_jsonw *w, bool v) {
    hob_jsonw_raw(w, v ? HOB_STR("true") : HOB_STR("false"));
}

void hob_jsonw_null(hob_jsonw *w) {
    hob_jsonw_raw(w, HOB_STR("null"));
}

void hob_jsonw_raw(hob_jsonw *w, hob_str json) {
    separate(w);
    hob_buf_add(w->out, json.n ? json : HOB_STR("null"));
}

void hob_jsonw_kstr(hob_jsonw *w, const char *key, hob_str s) {
    hob_jsonw_key(w, key);
    hob_jsonw_str(w, s);
}

void hob_jsonw_kstr_opt(hob_jsonw *w, const char *key, hob_str s) {
    if (s.n) hob_jsonw_kstr(w, key, s);
}

void hob_jsonw_kint(hob_jsonw *w, const char *key, int64_t v) {
    hob_jsonw_key(w, key);
    hob_jsonw_int(w, v);
}

void hob_jsonw_kbool(hob_jsonw *w, const char *key, bool v) {
    hob_jsonw_key(w, key);
    hob_jsonw_bool(w, v);
}

void hob_jsonw_kraw(hob_jsonw *w, const char *key, hob_str json) {
    hob_jsonw_key(w, key);
    hob_jsonw_raw(w, json);
}
