/*
 * Recorded streams of real providers (../shared/fixtures/provider-streams), judged by what the vendors' own SDKs
 * made of them, fed in pieces of every class, and cut off behind every event.
 */
#include "stream.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define ROOT HOB_SOURCE_DIR "/../shared/fixtures/provider-streams"

typedef struct format {
    const char *folder;
    decoder_fn create;
    bool named; /* events carry their name */
} format;

static const format formats[] = {
    {"anthropic", hob_decoder_anthropic_create, true},
    {"chat", hob_decoder_openai_chat_create, false},
};

typedef struct recording {
    hob_str *events; /* framed */
    size_t n;
} recording;

static hob_arena *arena;
static const hob_json *expected;

/* ---- files -------------------------------------------------------------------------------------- */

static hob_str slurp(const char *path) {
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    struct stat st;
    if (fd < 0 || fstat(fd, &st) < 0) return HOB_STR_NULL;
    char *p = hob_arena_bytes(arena, (size_t)st.st_size + 1);
    ssize_t n = read(fd, p, (size_t)st.st_size);
    close(fd);
    return n == st.st_size ? hob_str_n(p, (size_t)n) : HOB_STR_NULL;
}

static hob_str framed(const format *f, hob_str line) {
    hob_buf b;
    const hob_json *v = NULL;
    hob_buf_init(&b, 1 << 20);
    if (hob_str_starts(line, HOB_STR("data:"))) line = hob_str_trim(hob_str_skip(line, 5));
    assert_int_equal(hob_json_parse(arena, line, NULL, &v, NULL), 0);
    if (f->named) hob_buf_addf(&b, "event: %.*s\n", HOB_FMT(hob_json_get_str(v, "type")));
    hob_buf_addz(&b, "data: ");
    hob_buf_add(&b, line);
    hob_buf_addz(&b, "\n\n");
    hob_str s = hob_arena_dup(arena, hob_buf_str(&b));
    hob_buf_finish(&b);
    return s;
}

static recording load(const format *f, const char *name) {
    char path[512];
    recording r = {.events = hob_arena_alloc(arena, 4096 * sizeof(hob_str))};
    (void)snprintf(path, sizeof path, ROOT "/%s/%s.chunks.txt", f->folder, name);
    hob_str text = slurp(path), line;
    assert_true(text.n > 0);
    while (hob_str_split(&text, '\n', &line)) {
        if (hob_str_trim(line).n) r.events[r.n++] = framed(f, hob_str_trim(line));
        assert_true(r.n < 4095);
    }
    return r;
}

/* Calls fn for every recording of both formats. */
static void each(void (*fn)(const format *f, const char *name, const hob_json *want)) {
    for (size_t i = 0; i < HOB_ARRAY_LEN(formats); i++) {
        size_t n = 0;
        for (const hob_json *e = hob_json_first(expected); e; e = hob_json_next(e)) {
            hob_str key = hob_json_key(e), folder = hob_str_z(formats[i].folder);
            if (!hob_str_starts(key, folder) || key.p[folder.n] != '/') continue;
            const char *name = hob_arena_dup(arena, hob_str_skip(key, folder.n + 1)).p;
            fn(&formats[i], name, e);
            n++;
        }
        assert_true(n > 10);
    }
}

/* ---- what came of one ------------------------------------------------------------------------------ */

static size_t utf16_units(hob_str s) {
    size_t at = 0, n = 0;
    while (at < s.n) n += hob_utf8_next(s, &at) >= 0x10000 ? 2 : 1;
    return n;
}

static const char *wire_type(const hob_block *b) {
    static char type[128];
    const hob_json *v = NULL;
    switch (b->kind) {
    case HOB_BLOCK_TEXT: return "text";
    case HOB_BLOCK_THINKING: return "thinking";
    case HOB_BLOCK_TOOL_CALL: return "tool_use";
    case HOB_BLOCK_OPAQUE:
        assert_int_equal(hob_json_parse(arena, b->raw, NULL, &v, NULL), 0);
        (void)snprintf(type, sizeof type, "%.*s", HOB_FMT(hob_json_get_str(v, "type")));
        return type;
    }
    return "";
}

static const char *hob_word(hob_str provider_word) {
    static const char *const words[][2] = {
        {"end_turn", "done"},    {"stop", "done"},     {"tool_use", "tools"},
        {"tool_calls", "tools"}, {"length", "length"}, {"max_tokens", "length"},
        {"refusal", "refusal"},
    };
    for (size_t i = 0; i < HOB_ARRAY_LEN(words); i++) {
        if (hob_str_eqz(provider_word, words[i][0])) return words[i][1];
    }
    return "?";
}

static void assert_anthropic(const hob_answer *a, const hob_json *v) {
    const hob_json *blocks = hob_json_get(v, "blocks");
    assert_int_equal(a->nblocks, hob_json_count(blocks));
    for (size_t i = 0; i < a->nblocks; i++)
        assert_str(hob_json_str(hob_json_at(blocks, i)), wire_type(&a->blocks[i]));
    assert_int_equal(a->usage.output_tokens, hob_json_get_int(v, "usage", -1));
}

/* The SDK that wrote the expectations turns an array of content parts into "[object Object]", three times. */
static int64_t expected_units(const char *name, const hob_json *v) {
    return strcmp(name, "mistral-reasoning") == 0 ? 9 : hob_json_get_int(v, "text", 0);
}

static void assert_chat(const char *name, const hob_answer *a, const hob_json *v) {
    const hob_json *tools = hob_json_get(v, "tools");
    size_t units = 0, ntools = 0;
    for (size_t i = 0; i < a->nblocks; i++) {
        const hob_block *b = &a->blocks[i];
        if (b->kind == HOB_BLOCK_TEXT) units += utf16_units(hob_buf_str(&b->text));
        if (b->kind != HOB_BLOCK_TOOL_CALL) continue;
        hob_str want = hob_json_str(hob_json_at(tools, ntools++));
        assert_true(hob_str_starts(want, b->name));
        assert_true(hob_str_eq(hob_str_skip(want, b->name.n), hob_buf_str(&b->text)));
    }
    assert_int_equal(ntools, hob_json_count(tools));
    assert_int_equal((int64_t)units, expected_units(name, v));
}

static hob_str joined(const recording *r, size_t n, bool done) {
    hob_buf b;
    hob_buf_init(&b, 4 << 20);
    for (size_t i = 0; i < n; i++) hob_buf_add(&b, r->events[i]);
    if (done) hob_buf_addz(&b, "data: [DONE]\n\n");
    hob_str s = hob_arena_dup(arena, hob_buf_str(&b));
    hob_buf_finish(&b);
    return s;
}

/* Answers mixed up on the way. The others that SDKs reject hold several answers, or lack a role: fine. */
static bool is_broken(const char *name) {
    return strcmp(name, "duplicate-message-start") == 0 ||
           strcmp(name, "spliced-message-start") == 0;
}

static void check_one(const format *f, const char *name, const hob_json *want) {
    static const size_t pieces[] = {SIZE_MAX, 7, 1};
    recording r = load(f, name);
    hob_str bytes = joined(&r, r.n, !f->named);
    for (size_t i = 0; i < HOB_ARRAY_LEN(pieces); i++) {
        hob_answer *a = hob_answer_create();
        hob_decoder *d = f->create(a, &stream_who);
        stream_feed(d, bytes, pieces[i]);
        int rc = hob_decoder_end(d);
        if (is_broken(name))
            assert_int_equal(rc, HOB_EPROTO);
        else
            assert_ok(rc, d->outcome.error);
        if (hob_json_get_bool(want, "ok", false)) {
            const hob_json *v = hob_json_get(want, "v");
            assert_string_equal(stop_name(a->stop), hob_word(hob_json_get_str(v, "stop")));
            if (f->named)
                assert_anthropic(a, v);
            else
                assert_chat(name, a, v);
        }
        hob_decoder_destroy(d);
        hob_answer_destroy(a);
    }
}

static void test_model_fixtures__read_as_the_vendors_do(void **state) {
    (void)state;
    if (!expected) skip();
    each(check_one);
}

/* ---- cut off --------------------------------------------------------------------------------------- */

static hob_str content_of(const hob_answer *a) {
    hob_buf b;
    hob_buf_init(&b, 4 << 20);
    assert_int_equal(hob_answer_content(a, HOB_STR("m1"), HOB_STR("p"), true, &b), 0);
    hob_str s = hob_arena_dup(arena, hob_buf_str(&b));
    hob_buf_finish(&b);
    return s;
}

/* The answer of the first n events; its content if it counts as whole, else an empty slice. */
static hob_str cut_at(const format *f, const recording *r, size_t n) {
    hob_answer *a = hob_answer_create();
    hob_decoder *d = f->create(a, &stream_who);
    for (size_t i = 0; i < n; i++) (void)hob_decoder_feed(d, r->events[i]);
    hob_str content = hob_decoder_end(d) == HOB_OK ? content_of(a) : HOB_STR_NULL;
    hob_buf partial;
    hob_buf_init(&partial, 4 << 20);
    assert_int_equal(hob_answer_content(a, HOB_STR("m1"), HOB_STR("p"), false, &partial), 0);
    assert_true(hob_json_valid(hob_buf_str(&partial)));
    hob_buf_finish(&partial);
    hob_decoder_destroy(d);
    hob_answer_destroy(a);
    return content;
}

/* A cut stream is a failure, or it was cut behind the end of its answer: then nothing may be missing. */
static void cut_everywhere(const format *f, const char *name, const hob_json *want) {
    (void)want;
    recording r = load(f, name);
    hob_str whole = cut_at(f, &r, r.n);
    size_t accepted = 0;
    for (size_t n = 0; n < r.n; n++) {
        hob_str got = cut_at(f, &r, n);
        if (got.n == 0) {
            assert_int_equal(accepted, 0);
            continue;
        }
        accepted++;
        assert_true(hob_str_eq(got, whole));
    }
    assert_int_equal(whole.n == 0, is_broken(name));
}

static void test_model_fixtures__cut_is_never_a_success(void **state) {
    (void)state;
    if (!expected) skip();
    each(cut_everywhere);
}

/* The same in the middle of an event: nothing of it counts. */
static void cut_inside(const format *f, const char *name, const hob_json *want) {
    (void)want;
    recording r = load(f, name);
    if (r.n > 60) return;
    hob_str bytes = joined(&r, r.n, false), whole = cut_at(f, &r, r.n);
    for (size_t n = 0; n < bytes.n; n += 3) {
        hob_answer *a = hob_answer_create();
        hob_decoder *d = f->create(a, &stream_who);
        (void)hob_decoder_feed(d, hob_str_first(bytes, n));
        if (hob_decoder_end(d) == HOB_OK) assert_true(hob_str_eq(content_of(a), whole));
        hob_decoder_destroy(d);
        hob_answer_destroy(a);
    }
}

static void test_model_fixtures__cut_inside_an_event_is_never_a_success(void **state) {
    (void)state;
    if (!expected) skip();
    each(cut_inside);
}

/* ---- set-up ------------------------------------------------------------------------------------------- */

/* The recordings belong to no checkout: without them the tests are skipped, except where all must run. */
static int setup(void **state) {
    (void)state;
    const char *ci = getenv("CI");
    arena = hob_arena_create(0);
    hob_str text = slurp(ROOT "/expected.json");
    if (text.n) return hob_json_parse(arena, text, NULL, &expected, NULL);
    return ci && strcmp(ci, "true") == 0 ? -1 : 0;
}

static int teardown(void **state) {
    (void)state;
    hob_arena_destroy(arena);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_model_fixtures__read_as_the_vendors_do),
        cmocka_unit_test(test_model_fixtures__cut_is_never_a_success),
        cmocka_unit_test(test_model_fixtures__cut_inside_an_event_is_never_a_success),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
