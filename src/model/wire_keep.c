/*
 * wire_keep.c - a wire as bytes, so that the next process goes on with it.
 *
 * Its text only grows, so it is kept in parts; each time what came to it follows, in pieces of PIECE bytes and a shorter
 * one, maybe empty, and then one with the call ids that came. The rest is small and written anew each time, with a sum
 * over all parts in their order. Bytes that come back are checked against it, so a part that is missing, doubled or
 * changed makes all of them worthless, and nothing else.
 */
#include "model/wire.h"

#include <endian.h>

enum { ID_BYTES = 16, PIECE = 64 << 10 };

static void add_number(hob_buf *out, uint64_t n) {
    n = htole64(n);
    hob_buf_add(out, hob_str_n((const char *)&n, sizeof n));
}

static uint64_t number_at(hob_str s, size_t at) {
    uint64_t n;
    memcpy(&n, s.p + at, sizeof n);
    return le64toh(n);
}

size_t hob_wire_parts(hob_wire *w, hob_arena *a, const hob_str **out) {
    hob_str text = hob_str_skip(hob_buf_str(&w->text), w->kept.text);
    size_t n = 0, pieces = text.n / PIECE + 1;
    hob_str *parts = hob_arena_alloc(a, (pieces + 1) * sizeof *parts);
    hob_buf ids;
    hob_buf_init(&ids, HOB_WIRE_MAX);
    for (; n < pieces; n++) parts[n] = hob_str_first(hob_str_skip(text, n * PIECE), PIECE);
    for (size_t i = w->kept.ids; i < w->ids.n; i++) {
        add_number(&ids, w->ids.at[i].id);
        add_number(&ids, w->ids.at[i].call);
    }
    parts[n++] = hob_arena_dup(a, hob_buf_str(&ids));
    hob_buf_finish(&ids);
    for (size_t i = 0; i < n; i++) w->kept.sum = hob_sum(w->kept.sum, parts[i]);
    w->kept.text = w->text.n;
    w->kept.ids = w->ids.n;
    w->kept.parts += (unsigned)n;
    *out = parts;
    return n;
}

void hob_wire_forget_parts(hob_wire *w) {
    memset(&w->kept, 0, sizeof w->kept);
}

void hob_wire_write(const hob_wire *w, hob_jsonw *out) {
    hob_jsonw_object(out);
    hob_jsonw_kstr(out, "api", hob_str_z(w->api));
    hob_jsonw_kstr(out, "key", hob_buf_str(&w->key));
    hob_jsonw_kint(out, "generation", (int64_t)w->generation);
    hob_jsonw_kint(out, "covered", (int64_t)w->covered);
    hob_jsonw_kint(out, "role", w->role);
    hob_jsonw_kbool(out, "thinks_first", w->thinks_first);
    hob_jsonw_kint(out, "text", (int64_t)w->kept.text);
    hob_jsonw_kint(out, "ids", (int64_t)w->kept.ids);
    hob_jsonw_kint(out, "parts", w->kept.parts);
    hob_jsonw_kint(out, "sum", (int64_t)w->kept.sum);
    hob_jsonw_object_end(out);
}

/* ---- reading ------------------------------------------------------------------------------------------- */

static const char *api_named(hob_str name) {
    static const char *const known[] = {"anthropic", "openai-chat"};
    for (size_t i = 0; i < HOB_ARRAY_LEN(known); i++)
        if (hob_str_eqz(name, known[i])) return known[i];
    return NULL;
}

static bool read_fields(hob_wire *w, const hob_json *v) {
    int64_t role = hob_json_get_int(v, "role", -2);
    w->api = api_named(hob_json_get_str(v, "api"));
    w->generation = (uint64_t)hob_json_get_int(v, "generation", 0);
    w->covered = (size_t)hob_json_get_int(v, "covered", 0);
    w->role = (int)role;
    w->thinks_first = hob_json_get_bool(v, "thinks_first", false);
    hob_buf_add(&w->key, hob_json_get_str(v, "key"));
    return w->api && role >= -1 && role <= HOB_ROLE_ASSISTANT && !w->key.err;
}

static bool add_ids(hob_wire *w, hob_str part) {
    for (size_t at = 0; at + ID_BYTES <= part.n; at += ID_BYTES) {
        hob_wire_id one = {number_at(part, at), number_at(part, at + 8)};
        if (hob_wire_ids_get(&w->ids, one.id)) return false;
        hob_wire_ids_add(&w->ids, one);
    }
    return part.n % ID_BYTES == 0;
}

static bool read_parts(hob_wire *w, const hob_json *v, const hob_str *parts, size_t n) {
    int64_t text = hob_json_get_int(v, "text", -1);
    if (text < 0 || text > HOB_WIRE_MAX || !hob_buf_reserve(&w->text, (size_t)text)) return false;
    bool is_text = true;
    for (size_t i = 0; i < n; i++) {
        w->kept.sum = hob_sum(w->kept.sum, parts[i]);
        if (is_text ? hob_buf_add(&w->text, parts[i]) < 0 : !add_ids(w, parts[i])) return false;
        is_text = !is_text || parts[i].n == PIECE;
    }
    w->kept.parts = (unsigned)n;
    w->kept.text = w->text.n;
    w->kept.ids = w->ids.n;
    return !w->text.err && n && is_text && (int64_t)w->text.n == text &&
           (int64_t)w->ids.n == hob_json_get_int(v, "ids", -1) &&
           (int64_t)n == hob_json_get_int(v, "parts", -1) &&
           (int64_t)w->kept.sum == hob_json_get_int(v, "sum", 0);
}

int hob_wire_read(const hob_json *v, const hob_str *parts, size_t n, hob_wire **out) {
    hob_wire *w = hob_wire_create();
    if (!read_fields(w, v) || !read_parts(w, v, parts, n)) {
        hob_wire_destroy(w);
        return HOB_EPARSE;
    }
    *out = w;
    return HOB_OK;
}
