/*
 * redact.c - values as they may be shown: credentials are "***", wherever they hide.
 */
#include "config/impl.h"

static bool secret_name(hob_str key) {
    static const char *const parts[] = {"key", "token", "secret", "password", "auth", "cookie"};
    char lower[64];
    size_t n = HOB_MIN(key.n, sizeof(lower));
    for (size_t i = 0; i < n; i++) {
        char c = key.p[i];
        lower[i] = c >= 'A' && c <= 'Z' ? (char)(c + 32) : c;
    }
    for (size_t i = 0; i < HOB_ARRAY_LEN(parts); i++) {
        if (hob_str_find(hob_str_n(lower, n), hob_str_z(parts[i])) >= 0) return true;
    }
    return hob_str_eqz(key, "env") || hob_str_eqz(key, "headers");
}

/* "scheme://user:password@host" without user and password. */
static void write_string(hob_jsonw *w, hob_str s) {
    ptrdiff_t scheme = hob_str_find(s, HOB_STR("://"));
    hob_str rest = hob_str_skip(s, scheme < 0 ? s.n : (size_t)scheme + 3);
    size_t host = 0;
    while (host < rest.n && !strchr("/?#", rest.p[host])) host++;
    const char *at = host ? memrchr(rest.p, '@', host) : NULL;
    if (!at) {
        hob_jsonw_str(w, s);
        return;
    }
    hob_buf shown;
    hob_buf_init(&shown, HOB_CONFIG_MAX_FILE * 2);
    hob_buf_add(&shown, hob_str_first(s, s.n - rest.n));
    hob_buf_addz(&shown, "***");
    hob_buf_add(&shown, hob_str_skip(rest, (size_t)(at - rest.p)));
    hob_jsonw_str(w, hob_buf_str(&shown));
    hob_buf_finish(&shown);
}

static void write_value(hob_jsonw *w, const hob_json *v, bool secret) {
    bool object = hob_json_is(v, HOB_JSON_OBJECT);
    if (object || hob_json_is(v, HOB_JSON_ARRAY)) {
        object ? hob_jsonw_object(w) : hob_jsonw_array(w);
        for (const hob_json *m = hob_json_first(v); m; m = hob_json_next(m)) {
            if (object) hob_jsonw_key_n(w, hob_json_key(m));
            write_value(w, m, secret || (object && secret_name(hob_json_key(m))));
        }
        object ? hob_jsonw_object_end(w) : hob_jsonw_array_end(w);
    } else if (secret && hob_json_raw(v).n > 2) { /* an empty one is shown: it is none */
        hob_jsonw_str(w, HOB_STR("***"));
    } else if (hob_json_is(v, HOB_JSON_STRING)) {
        write_string(w, hob_json_str(v));
    } else {
        hob_jsonw_raw(w, hob_json_raw(v));
    }
}

void hob_redact(const hob_known *k, hob_str json, hob_buf *out) {
    hob_arena *a = hob_arena_create((size_t)64 << 20);
    hob_jsonw w;
    hob_jsonw_init(&w, out);
    const hob_json *v;
    bool secret = !k || (k->flags & HOB_KNOWN_SECRET);
    if (hob_json_parse(a, json, NULL, &v, NULL) == HOB_OK) write_value(&w, v, secret);
    hob_arena_destroy(a);
}
