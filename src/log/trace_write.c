/*
 * trace_write.c - spans as text, and the names of traces.
 */
#include "log/trace.h"

#include <stdio.h>
#include <string.h>

/* ---- names ------------------------------------------------------------------------------------------------------ */

/* The last bits of FNV change little between names that differ at their end. */
static uint64_t spread(uint64_t x) {
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

static uint64_t name_of(const char *what, hob_str session, hob_str rest) {
    uint64_t n = hob_str_hash(hob_str_z(what));
    n = spread(n ^ hob_str_hash(session));
    n = spread(n ^ hob_str_hash(rest));
    return n ? n : 1; /* all zeros is no id */
}

void hob_span_name(char out[17], hob_str session, uint64_t seq) {
    char number[24];
    snprintf(number, sizeof number, "%llu", (unsigned long long)seq);
    snprintf(out, 17, "%016llx", (unsigned long long)name_of("span", session, hob_str_z(number)));
}

void hob_trace_name(char out[33], hob_str session, hob_str run) {
    snprintf(out, 33, "%016llx%016llx", (unsigned long long)name_of("trace", session, run),
             (unsigned long long)name_of("run", session, run));
}

static bool is_hex(hob_str s) {
    bool zero = true;
    for (size_t i = 0; i < s.n; i++) {
        char c = s.p[i];
        if (!((c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'))) return false;
        zero = zero && c == '0';
    }
    return s.n && !zero;
}

bool hob_traceparent_read(hob_str text, char trace[33], char parent[17]) {
    if (text.n < 55 || text.p[2] != '-' || text.p[35] != '-' || text.p[52] != '-') return false;
    bool later = text.n > 55 && text.p[55] == '-' && !hob_str_starts(text, HOB_STR("00"));
    if ((text.n != 55 && !later) || hob_str_starts(text, HOB_STR("ff"))) return false;
    hob_str version = hob_str_first(text, 2), t = hob_str_n(text.p + 3, 32),
            p = hob_str_n(text.p + 36, 16), flags = hob_str_n(text.p + 53, 2);
    bool known = hob_str_eqz(version, "00") || is_hex(version);
    if (!known || !is_hex(t) || !is_hex(p) || (!is_hex(flags) && !hob_str_eqz(flags, "00")))
        return false;
    memcpy(trace, t.p, 32);
    memcpy(parent, p.p, 16);
    trace[32] = parent[16] = 0;
    return true;
}

void hob_traceparent_write(hob_str context, hob_str session, hob_str run, uint64_t seq,
                           char out[56]) {
    char trace[33], parent[17], id[17];
    if (!hob_traceparent_read(context, trace, parent)) hob_trace_name(trace, session, run);
    hob_span_name(id, session, seq);
    snprintf(out, 56, "00-%s-%s-01", trace, id);
}

/* ---- rows ------------------------------------------------------------------------------------------------------- */

static const char *kind_name(hob_span_kind k) {
    switch (k) {
    case HOB_SPAN_RUN: return "run";
    case HOB_SPAN_AGENT: return "agent";
    case HOB_SPAN_MODEL: return "model";
    case HOB_SPAN_TOOL: return "tool";
    case HOB_SPAN_WAIT: return "wait";
    case HOB_SPAN_CHILD: return "child";
    }
    return "";
}

static hob_buf attributes(const hob_span *s) {
    hob_buf object;
    hob_buf_init(&object, s->attrs.max + 2);
    hob_buf_addf(&object, "{%.*s}", HOB_FMT(hob_buf_str(&s->attrs)));
    return object;
}

void hob_span_write(const hob_span *s, hob_jsonw *w) {
    hob_jsonw_object(w);
    hob_jsonw_kstr(w, "kind", hob_str_z(kind_name(s->kind)));
    hob_jsonw_kstr(w, "name", hob_str_z(s->name));
    hob_jsonw_kstr(w, "trace_id", hob_str_z(s->trace));
    hob_jsonw_kstr(w, "span_id", hob_str_z(s->id));
    hob_jsonw_kstr_opt(w, "parent_id", hob_str_z(s->parent));
    hob_jsonw_kstr_opt(w, "run_id", hob_str_z(s->run));
    hob_jsonw_kstr_opt(w, "agent", hob_str_z(s->agent));
    hob_jsonw_kint(w, "seq", (int64_t)s->seq);
    hob_jsonw_kint(w, "start_ms", s->start);
    if (s->end) {
        hob_jsonw_kint(w, "end_ms", s->end);
        hob_jsonw_kint(w, "duration_ms", s->end - s->start);
    }
    hob_jsonw_kstr(w, "status", s->status ? hob_str_z(s->status) : HOB_STR("open"));
    hob_buf attrs = attributes(s);
    hob_jsonw_kraw(w, "attributes", hob_buf_str(&attrs));
    hob_buf_finish(&attrs);
    hob_jsonw_object_end(w);
}

/* ---- OTLP ------------------------------------------------------------------------------------------------------- */

static void otlp_value(hob_jsonw *w, const hob_json *v) {
    int64_t whole;
    hob_jsonw_object(w);
    if (hob_json_is(v, HOB_JSON_ARRAY)) {
        hob_jsonw_key(w, "arrayValue");
        hob_jsonw_object(w);
        hob_jsonw_key(w, "values");
        hob_jsonw_array(w);
        for (const hob_json *i = hob_json_first(v); i; i = hob_json_next(i)) {
            hob_jsonw_object(w);
            hob_jsonw_kstr(w, "stringValue", hob_json_str(i));
            hob_jsonw_object_end(w);
        }
        hob_jsonw_array_end(w);
        hob_jsonw_object_end(w);
    } else if (hob_json_is(v, HOB_JSON_NUMBER) && hob_json_int(v, &whole) >= 0 &&
               hob_str_chr(hob_json_raw(v), '.') < 0) {
        hob_jsonw_kstr(w, "intValue", hob_json_raw(v)); /* 64 bits are a string there */
    } else if (hob_json_is(v, HOB_JSON_NUMBER)) {
        hob_jsonw_kraw(w, "doubleValue", hob_json_raw(v));
    } else {
        hob_jsonw_kstr(w, "stringValue", hob_json_str(v));
    }
    hob_jsonw_object_end(w);
}

void hob_otlp_attributes(hob_jsonw *w, const hob_json *o) {
    hob_jsonw_key(w, "attributes");
    hob_jsonw_array(w);
    for (const hob_json *v = hob_json_first(o); v; v = hob_json_next(v)) {
        hob_jsonw_object(w);
        hob_jsonw_kstr(w, "key", hob_json_key(v));
        hob_jsonw_key(w, "value");
        otlp_value(w, v);
        hob_jsonw_object_end(w);
    }
    hob_jsonw_array_end(w);
}

static void otlp_time(hob_jsonw *w, const char *key, int64_t ms) {
    char text[32];
    snprintf(text, sizeof text, "%lld000000", (long long)ms);
    hob_jsonw_kstr(w, key, hob_str_z(text));
}

/* Kinds and codes are numbers of the protocol: INTERNAL 1, CLIENT 3; ERROR 2. */
void hob_span_write_otlp(const hob_span *s, hob_jsonw *w) {
    hob_arena *a = hob_arena_create(0);
    const hob_json *attrs = NULL;
    hob_buf object = attributes(s);
    if (hob_json_parse(a, hob_buf_str(&object), NULL, &attrs, NULL) < 0) attrs = NULL;
    hob_jsonw_object(w);
    hob_jsonw_kstr(w, "traceId", hob_str_z(s->trace));
    hob_jsonw_kstr(w, "spanId", hob_str_z(s->id));
    hob_jsonw_kstr_opt(w, "parentSpanId", hob_str_z(s->parent));
    hob_jsonw_kstr(w, "name", hob_str_z(s->name));
    hob_jsonw_kint(w, "kind", s->kind == HOB_SPAN_MODEL ? 3 : 1);
    otlp_time(w, "startTimeUnixNano", s->start);
    otlp_time(w, "endTimeUnixNano", s->end);
    hob_otlp_attributes(w, attrs);
    hob_jsonw_key(w, "status");
    hob_jsonw_object(w);
    if (s->failed) hob_jsonw_kint(w, "code", 2);
    if (s->failed && s->status) hob_jsonw_kstr(w, "message", hob_str_z(s->status));
    hob_jsonw_object_end(w);
    hob_jsonw_object_end(w);
    hob_buf_finish(&object);
    hob_arena_destroy(a);
}
