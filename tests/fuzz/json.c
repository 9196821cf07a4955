/*
 * Fuzz target of the JSON reader: strict, with comments, partial, and the way through the writer.
 *
 * Beyond not crashing: the checker agrees with the reader, what is written reads back equal, comments
 * only ever allow more, and no prefix of a valid text upsets partial mode.
 */
#include "base/json.h"
#include "support/json_tree.h"

#include <assert.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const hob_json *parse(hob_arena *a, hob_str text, bool comments) {
    const hob_json *v = NULL;
    hob_error err = {0};
    hob_json_opts opts = {.comments = comments};
    int r = hob_json_parse(a, text, &opts, &v, &err);
    assert((r == HOB_OK) == (v != NULL));
    assert(r == HOB_OK || err.code == r);
    assert(r == HOB_OK || hob_utf8_valid(hob_str_z(err.message)));
    return v;
}

/* value -> writer -> reader gives the same value, and so does its raw text. */
static void round_trip(hob_arena *a, const hob_json *v) {
    hob_buf out;
    hob_jsonw w;
    hob_buf_init(&out, (size_t)64 << 20);
    hob_jsonw_init(&w, &out);
    tree_write(&w, v);
    assert(out.err == 0);
    assert(tree_equal(v, parse(a, hob_buf_str(&out), false)));
    hob_buf_finish(&out);
}

static void numbers(const hob_json *v) {
    int64_t i;
    if (hob_json_int(v, &i) == HOB_OK && i > -(INT64_C(1) << 53) && i < INT64_C(1) << 53) {
        assert(hob_json_double(v) == (double)i);
    }
    for (const hob_json *m = hob_json_first(v); m; m = hob_json_next(m)) numbers(m);
}

static void prefixes(hob_arena *a, hob_str text, const hob_json *whole) {
    size_t step = 1 + text.n / 64;
    for (size_t n = 0; n <= text.n; n += step) {
        const hob_json *part = NULL;
        int r = hob_json_parse_partial(a, hob_str_first(text, n), &part);
        assert(r == HOB_OK && tree_is_prefix(part, whole));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    hob_str text = hob_str_n((const char *)data, size);
    hob_arena *a = hob_arena_create(0);
    const hob_json *strict = parse(a, text, false), *loose = parse(a, text, true), *part = NULL;
    assert(hob_json_valid(text) == (strict != NULL));
    if (strict) {
        assert(tree_equal(strict, loose));
        assert(tree_equal(strict, parse(a, hob_json_raw(strict), false)));
        round_trip(a, strict);
        numbers(strict);
        prefixes(a, text, strict);
    }
    if (loose) round_trip(a, loose);
    if (hob_json_parse_partial(a, text, &part) == HOB_OK && part) round_trip(a, part);
    hob_arena_destroy(a);
    return 0;
}
