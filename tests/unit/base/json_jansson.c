/*
 * Our reader against jansson: generated documents and mutations of them. Where jansson accepts, we
 * accept and read the same; where it refuses and we do not, it is for one of its known limits.
 *
 * Deterministic; HOB_SEED=n starts elsewhere, HOB_LONG=1 goes on for longer.
 */
#include "base/json.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <jansson.h>
#include <stdlib.h>

static uint64_t seed = 88172645463325252u;

static uint64_t rnd(uint64_t below) {
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return (seed >> 11) % below;
}

static int read_seed(void **state) {
    (void)state;
    int64_t v = 0;
    if (hob_str_int(hob_str_z(getenv("HOB_SEED")), &v) == HOB_OK) seed ^= (uint64_t)v << 20;
    return 0;
}

static uint64_t count_of(uint64_t usual) {
    return getenv("HOB_LONG") ? usual * 100 : usual;
}

/* ---- documents ----------------------------------------------------------------------------- */

static void add_any(hob_buf *b, const char *const *texts, size_t n) {
    hob_buf_addz(b, texts[rnd(n)]);
}

static void add_space(hob_buf *b) {
    static const char *const spaces[] = {"", "", "", "", " ", "\n", "\t ", "\r\n"};
    add_any(b, spaces, HOB_ARRAY_LEN(spaces));
}

static void add_string(hob_buf *b) {
    static const char *const pieces[] = {
        "a",
        "key",
        "some longer words of text",
        "\\n",
        "\\\"",
        "\\\\",
        "\\/",
        "\\u0041",
        "\\u00e9",
        "\\u20AC",
        "\xc3\xa9",
        "\\u0000",
        "\xe2\x82\xac",
        "\xf0\x9f\x98\x80",
        "\\ud83d\\ude00",
        "\\ud83d",
        "\\ude00",
        "\x7f",
        "\\b\\f\\r\\t",
        "//",
        "/*",
    };
    hob_buf_addc(b, '"');
    for (uint64_t n = rnd(6); n > 0; n--) add_any(b, pieces, HOB_ARRAY_LEN(pieces));
    hob_buf_addc(b, '"');
}

static void add_number(hob_buf *b) {
    static const char *const numbers[] = {
        "0",
        "-0",
        "1",
        "-1",
        "0.5",
        "1e5",
        "1E-5",
        "-2.50e+10",
        "9223372036854775807",
        "-9223372036854775808",
        "9223372036854775808",
        "9007199254740993",
        "0.1",
        "1.7976931348623157e308",
        "1e400",
        "5e-324",
        "123456789.123456789",
        "3.0",
    };
    add_any(b, numbers, HOB_ARRAY_LEN(numbers));
}

static void add_value(hob_buf *b, unsigned depth);

static void add_container(hob_buf *b, unsigned depth, bool object) {
    hob_buf_addc(b, object ? '{' : '[');
    for (uint64_t n = rnd(depth > 3 ? 2 : 5), i = 0; i < n; i++) {
        if (i) hob_buf_addc(b, ',');
        add_space(b);
        if (object) {
            add_string(b);
            add_space(b);
            hob_buf_addc(b, ':');
        }
        add_value(b, depth + 1);
        add_space(b);
    }
    hob_buf_addc(b, object ? '}' : ']');
}

static void add_value(hob_buf *b, unsigned depth) {
    static const char *const words[] = {"true", "false", "null"};
    add_space(b);
    switch (rnd(depth > 5 ? 4 : 8)) {
    case 0: add_any(b, words, HOB_ARRAY_LEN(words)); break;
    case 1: add_number(b); break;
    case 2:
    case 3: add_string(b); break;
    case 4:
    case 5: add_container(b, depth, false); break;
    case 6:
    case 7: add_container(b, depth, true); break;
    }
}

/* One small wound: a byte changed, put in, taken out, or the end cut off. */
static void mutate(hob_buf *b) {
    static const char bytes[] =
        "{}[],:\"\\/0123456789.eE+-tfnul \n\t\x01\x7f\x80\xc3\xe2\xed\xf0\xff";
    if (b->n == 0) return;
    size_t at = rnd(b->n);
    char c = bytes[rnd(sizeof(bytes))]; /* the NUL counts too */
    switch (rnd(4)) {
    case 0: b->p[at] = c; break;
    case 1:
        if (!hob_buf_reserve(b, 1)) return;
        memmove(b->p + at + 1, b->p + at, b->n - at);
        b->p[at] = c;
        b->n++;
        break;
    case 2:
        memmove(b->p + at, b->p + at + 1, b->n - at - 1);
        b->n--;
        break;
    case 3: b->n = at; break;
    }
}

/* ---- comparison ---------------------------------------------------------------------------- */

static bool same(const hob_json *ours, const json_t *theirs);

static bool same_array(const hob_json *ours, const json_t *theirs) {
    if (hob_json_count(ours) != json_array_size(theirs)) return false;
    size_t i = 0;
    for (const hob_json *v = hob_json_first(ours); v; v = hob_json_next(v)) {
        if (!same(v, json_array_get(theirs, i++))) return false;
    }
    return true;
}

/* Theirs has no duplicates: each of its keys must be what our look-up finds, and none be missing. */
static bool same_object(const hob_json *ours, const json_t *theirs) {
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)theirs, key, value) {
        if (!same(hob_json_get(ours, key), value)) return false;
    }
    for (const hob_json *m = hob_json_first(ours); m; m = hob_json_next(m)) {
        char *z = hob_dupz(hob_json_key(m));
        bool found = json_object_get(theirs, z) != NULL;
        hob_free(z);
        if (!found) return false;
    }
    return true;
}

static bool same(const hob_json *ours, const json_t *theirs) {
    int64_t i = 0;
    switch (json_typeof(theirs)) {
    case JSON_NULL: return hob_json_is(ours, HOB_JSON_NULL);
    case JSON_TRUE:
    case JSON_FALSE:
        return hob_json_is(ours, HOB_JSON_BOOL) && hob_json_bool(ours) == json_is_true(theirs);
    case JSON_INTEGER: return hob_json_int(ours, &i) == HOB_OK && i == json_integer_value(theirs);
    case JSON_REAL:
        return hob_json_is(ours, HOB_JSON_NUMBER) &&
               hob_json_double(ours) == json_real_value(theirs);
    case JSON_STRING:
        return hob_str_eq(hob_json_str(ours),
                          hob_str_n(json_string_value(theirs), json_string_length(theirs)));
    case JSON_ARRAY: return hob_json_is(ours, HOB_JSON_ARRAY) && same_array(ours, theirs);
    case JSON_OBJECT: return hob_json_is(ours, HOB_JSON_OBJECT) && same_object(ours, theirs);
    }
    return false;
}

/* What jansson refuses although RFC 8259 allows it: lone surrogates, \u0000 in keys, large numbers. */
static bool known_limit(const json_error_t *e) {
    enum json_error_code code = json_error_code(e);
    return code == json_error_numeric_overflow || code == json_error_null_byte_in_key ||
           hob_str_starts(hob_str_z(e->text), HOB_STR("invalid Unicode '\\u"));
}

static void compare(hob_str text, int *both) {
    hob_arena *a = hob_arena_create(0);
    const hob_json *ours = NULL;
    json_error_t e;
    json_t *theirs = json_loadb(text.p, text.n, JSON_DECODE_ANY | JSON_ALLOW_NUL, &e);
    int r = hob_json_parse(a, text, NULL, &ours, NULL);
    if (hob_json_valid(text) != (r == HOB_OK))
        fail_msg("checker and reader differ: %.*s", HOB_FMT(text));
    if (hob_str_chr(text, '\0') >= 0) {
        assert_int_not_equal(r, HOB_OK); /* jansson overlooks a NUL behind a number */
        goto out;
    }
    if (theirs && r != HOB_OK) fail_msg("only jansson accepts: %.*s", HOB_FMT(text));
    if (!theirs && r == HOB_OK && !known_limit(&e)) {
        fail_msg("only we accept: %.*s (%s)", HOB_FMT(text), e.text);
    }
    if (theirs && !same(ours, theirs)) fail_msg("read differently: %.*s", HOB_FMT(text));
    *both += theirs != NULL;
out:
    json_decref(theirs);
    hob_arena_destroy(a);
}

static void test_base_json_jansson__reads_generated_documents_alike(void **state) {
    (void)state;
    hob_buf b;
    hob_buf_init(&b, 1 << 20);
    int both = 0, count = (int)count_of(5000);
    for (int i = 0; i < count; i++) {
        hob_buf_reset(&b);
        add_value(&b, 0);
        add_space(&b);
        assert_true(hob_json_valid(hob_buf_str(&b)));
        compare(hob_buf_str(&b), &both);
    }
    assert_true(both > count / 3); /* the comparison has something to compare */
    hob_buf_finish(&b);
}

static void test_base_json_jansson__judges_mutations_alike(void **state) {
    (void)state;
    hob_buf b;
    hob_buf_init(&b, 1 << 20);
    int both = 0, count = (int)count_of(20000);
    for (int i = 0; i < count; i++) {
        hob_buf_reset(&b);
        add_value(&b, 0);
        for (uint64_t n = 1 + rnd(3); n > 0; n--) mutate(&b);
        compare(hob_buf_str(&b), &both);
    }
    assert_true(both > count / 50 && both < count * 3 / 4);
    hob_buf_finish(&b);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_base_json_jansson__reads_generated_documents_alike),
        cmocka_unit_test(test_base_json_jansson__judges_mutations_alike),
    };
    return cmocka_run_group_tests(tests, read_seed, NULL);
}
