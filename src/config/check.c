/*
 * check.c - does a value fit its setting? Says what was expected, never what a secret was.
 */
#include "config/known.h"

static int expected(hob_buf *why, const hob_known *k, const hob_json *v, const char *what) {
    hob_buf_addf(why, "must be %s", what);
    if (k->flags & HOB_KNOWN_NULLABLE) hob_buf_addz(why, " or null");
    hob_str raw = hob_json_raw(v);
    bool scalar = !hob_json_is(v, HOB_JSON_OBJECT) && !hob_json_is(v, HOB_JSON_ARRAY);
    bool private = (k->flags & HOB_KNOWN_SECRET) ||
                   hob_str_chr(raw, '@') >= 0 || /* user:password@ */
                   hob_str_chr(raw, '?') >= 0;   /* ?key= */
    if (scalar && !private && raw.n <= 64) hob_buf_addf(why, ", not %.*s", HOB_FMT(raw));
    return HOB_ECONFIG;
}

static int check_word(const hob_known *k, const hob_json *v, hob_buf *why) {
    hob_str word = hob_json_str(v);
    size_t n = 0;
    for (; k->words[n]; n++) {
        if (hob_json_is(v, HOB_JSON_STRING) && hob_str_eqz(word, k->words[n])) return HOB_OK;
    }
    hob_buf list;
    hob_buf_init(&list, 256);
    for (size_t i = 0; i < n; i++)
        hob_buf_addf(&list, "%s%s", i == 0 ? "one of " : ", ", k->words[i]);
    expected(why, k, v, hob_buf_z(&list));
    hob_buf_finish(&list);
    const char *nearest = hob_str_nearest(word, k->words, n);
    if (nearest) hob_buf_addf(why, "; did you mean %s?", nearest);
    return HOB_ECONFIG;
}

static int check_number(const hob_known *k, const hob_json *v, hob_buf *why) {
    int64_t whole;
    bool fits = hob_json_is(v, HOB_JSON_NUMBER);
    if (k->kind == HOB_KIND_INT) fits = fits && hob_json_int(v, &whole) == HOB_OK;
    double d = hob_json_double(v);
    if (fits && d >= k->min && d <= k->max) return HOB_OK;
    hob_buf text;
    hob_buf_init(&text, 96);
    hob_buf_addz(&text, k->kind == HOB_KIND_INT ? "a whole number" : "a number");
    hob_buf_addf(&text, ", at least %.10g", k->min);
    if (k->max < HOB_KNOWN_ANY) hob_buf_addf(&text, " and at most %.10g", k->max);
    expected(why, k, v, hob_buf_z(&text));
    hob_buf_finish(&text);
    return HOB_ECONFIG;
}

static bool has_control(hob_str s) {
    for (size_t i = 0; i < s.n; i++) {
        unsigned char c = (unsigned char)s.p[i];
        if (c < 0x20 || c == 0x7f) return true;
    }
    return false;
}

bool hob_url_valid(hob_str url) {
    hob_str rest = url;
    if (hob_str_starts(url, HOB_STR("https://")))
        rest = hob_str_skip(url, 8);
    else if (hob_str_starts(url, HOB_STR("http://")))
        rest = hob_str_skip(url, 7);
    else
        return false;
    if (rest.n == 0 || strchr("/:?#@", rest.p[0]) || has_control(url)) return false;
    return hob_str_chr(url, ' ') < 0 && hob_str_chr(url, '\\') < 0;
}

/* The path of a request is put behind the address: a query would swallow it. */
static bool has_query(hob_str url) {
    return hob_str_chr(url, '?') >= 0 || hob_str_chr(url, '#') >= 0;
}

static bool store_valid(hob_str s) {
    if (hob_str_eqz(s, "sqlite") || hob_str_eqz(s, "memory")) return true;
    static const char *const prefixes[] = {"sqlite:", "postgres://", "postgresql://"};
    for (size_t i = 0; i < HOB_ARRAY_LEN(prefixes); i++) {
        hob_str prefix = hob_str_z(prefixes[i]);
        if (hob_str_starts(s, prefix) && s.n > prefix.n) return !has_control(s);
    }
    return false;
}

static bool all_are(const hob_json *array, hob_json_type type) {
    for (const hob_json *v = hob_json_first(array); v; v = hob_json_next(v)) {
        if (!hob_json_is(v, type)) return false;
    }
    return hob_json_is(array, HOB_JSON_ARRAY);
}

int hob_known_check(const hob_known *k, const hob_json *v, hob_buf *why) {
    hob_str s = hob_json_str(v);
    bool string = hob_json_is(v, HOB_JSON_STRING);
    if ((k->flags & HOB_KNOWN_NULLABLE) && hob_json_is(v, HOB_JSON_NULL)) return HOB_OK;
    switch (k->kind) {
    case HOB_KIND_NAME:
        if (string && s.n > 0 && !has_control(s)) return HOB_OK;
        return expected(why, k, v, "a string that is not empty and has no control characters");
    case HOB_KIND_WORD: return check_word(k, v, why);
    case HOB_KIND_BOOL:
        return hob_json_is(v, HOB_JSON_BOOL) ? HOB_OK : expected(why, k, v, "true or false");
    case HOB_KIND_INT:
    case HOB_KIND_NUMBER: return check_number(k, v, why);
    case HOB_KIND_URL:
        if (string && has_query(s)) return expected(why, k, v, "an address without a query");
        return string && hob_url_valid(s) ? HOB_OK
                                          : expected(why, k, v, "an http:// or https:// address");
    case HOB_KIND_STORE:
        if (string && store_valid(s)) return HOB_OK;
        return expected(why, k, v, "sqlite, sqlite:FILE, postgres://… or memory");
    case HOB_KIND_STRINGS:
        return all_are(v, HOB_JSON_STRING) ? HOB_OK : expected(why, k, v, "an array of strings");
    case HOB_KIND_OBJECTS:
        return all_are(v, HOB_JSON_OBJECT) ? HOB_OK : expected(why, k, v, "an array of objects");
    case HOB_KIND_OBJECT:
        return hob_json_is(v, HOB_JSON_OBJECT) ? HOB_OK : expected(why, k, v, "an object");
    case HOB_KIND_NULL: return expected(why, k, v, "an object");
    }
    return HOB_ECONFIG;
}
