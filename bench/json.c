/*
 * bench/json.c - parsing and writing JSON, against jansson in the same run.
 *
 * Three documents: one delta of an Anthropic stream, one chunk of an OpenAI stream, a session log
 * of 10 MB. Each side frees what it built; both take turns and the best of several rounds counts,
 * since other work on the machine only ever makes a round slower.
 */
#include "base/json.h"

#include "table.h"

#include <stdio.h>
#include <time.h>

#ifdef HOB_HAVE_JANSSON
#include <jansson.h>
#endif

#define ROUNDS 7
#define LOG_BYTES ((size_t)10 << 20)

static const char delta[] =
    "{\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":"
    "\" a few words of text\"}}";

static const char chunk[] =
    "{\"id\":\"chatcmpl-9x7Kd02nQpLmWzVb\",\"object\":\"chat.completion.chunk\",\"created\":"
    "1730000000,\"model\":\"gpt-4o-2024-08-06\",\"service_tier\":\"default\","
    "\"system_fingerprint\":\"fp_a1b2c3d4e5\",\"choices\":[{\"index\":0,\"delta\":{\"content\":"
    "\" a few words\"},\"logprobs\":null,\"finish_reason\":null}],\"usage\":null}";

typedef struct side {
    hob_arena *arena;
    hob_str text;
    size_t times;
} side;

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static bool parse_hob(const side *s) {
    const hob_json *v = NULL;
    hob_arena_reset(s->arena);
    return hob_json_parse(s->arena, s->text, NULL, &v, NULL) == HOB_OK;
}

#ifdef HOB_HAVE_JANSSON
static bool parse_jansson(const side *s) {
    json_error_t e;
    json_t *v = json_loadb(s->text.p, s->text.n, 0, &e);
    json_decref(v);
    return v != NULL;
}
#else
static bool parse_jansson(const side *s) {
    (void)s;
    return false; /* the ratio will read 0 and miss its promise */
}
#endif

/* Seconds for one parse. */
static double time_of(const side *s, bool (*parse)(const side *s)) {
    double start = now();
    for (size_t i = 0; i < s->times; i++) {
        if (!parse(s)) {
            fprintf(stderr, "bench/json: a document was refused\n");
            return 0;
        }
    }
    return (now() - start) / (double)s->times;
}

static const char *named(const char *document, const char *what) {
    static char name[64];
    snprintf(name, sizeof(name), "json.%s.%s", document, what);
    return name;
}

static void compare(const char *name, hob_str text, size_t times) {
    side s = {.arena = hob_arena_create(0), .text = text, .times = times};
    double ours = 1e9, theirs = 1e9, bytes = (double)text.n;
    for (int i = 0; i < ROUNDS; i++) {
        double t = time_of(&s, parse_hob), u = time_of(&s, parse_jansson);
        ours = HOB_MIN(ours, t);
        theirs = HOB_MIN(theirs, u);
    }
    hob_arena_destroy(s.arena);
    bench_row((bench_line){.name = named(name, "parse"),
                           .value = bytes / ours / 1e6,
                           .unit = "MB/s",
                           .floor = bytes / theirs / 1e6});
    bench_row((bench_line){
        .name = named(name, "parse_over_jansson"), .value = theirs / ours, .unit = "x", .min = 4});
}

/* One tool result as agents see them: source code, quotes, some text that is not ASCII. */
static void write_event(hob_jsonw *w, int64_t seq) {
    static const char code[] = "static int add(int a, int b) {\n\treturn a + b; /* \"sum\" */\n}\n";
    static const char prose[] = "The function now checks its arguments first \xe2\x80\x93 as the "
                                "caf\xc3\xa9 example asks. ";
    hob_buf text;
    hob_buf_init(&text, 1 << 16);
    for (int64_t i = 0; i < 4 + seq % 23; i++) {
        hob_buf_addz(&text, (seq + i) % 3 ? code : prose);
    }
    hob_jsonw_object(w);
    hob_jsonw_kint(w, "v", 1);
    hob_jsonw_kint(w, "seq", seq);
    hob_jsonw_kstr(w, "id", HOB_STR("0192f0c1-7a2b-7c3d-8e4f-5a6b7c8d9e0f"));
    hob_jsonw_kstr(w, "at", HOB_STR("2026-01-02T03:04:05.678Z"));
    hob_jsonw_kstr(w, "type", HOB_STR("tool_result"));
    hob_jsonw_key(w, "data");
    hob_jsonw_object(w);
    hob_jsonw_kbool(w, "ok", true);
    hob_jsonw_kstr(w, "text", hob_buf_str(&text));
    hob_jsonw_key(w, "usage");
    hob_jsonw_array(w);
    hob_jsonw_int(w, seq * 17);
    hob_jsonw_double(w, (double)seq / 8);
    hob_jsonw_null(w);
    hob_jsonw_array_end(w);
    hob_jsonw_object_end(w);
    hob_jsonw_object_end(w);
    hob_buf_finish(&text);
}

static void write_log(hob_buf *out) {
    hob_jsonw w;
    hob_jsonw_init(&w, out);
    hob_jsonw_array(&w);
    for (int64_t seq = 1; out->n < LOG_BYTES; seq++) {
        write_event(&w, seq);
    }
    hob_jsonw_array_end(&w);
}

static void time_write(void) {
    hob_buf out;
    hob_buf_init(&out, LOG_BYTES * 2);
    write_log(&out); /* the memory is there now */
    double best = 1e9;
    for (int i = 0; i < ROUNDS; i++) {
        hob_buf_reset(&out);
        double start = now();
        write_log(&out);
        best = HOB_MIN(best, now() - start);
    }
    bench_row((bench_line){
        .name = named("log", "write"), .value = (double)out.n / best / 1e6, .unit = "MB/s"});
    hob_buf_finish(&out);
}

int main(int argc, char **argv) {
    bench_table_init(argc, argv);
    hob_buf log;
    hob_buf_init(&log, LOG_BYTES * 2);
    write_log(&log);
    compare("delta", hob_str_z(delta), 20000);
    compare("chunk", hob_str_z(chunk), 10000);
    compare("log", hob_buf_str(&log), 1);
    time_write();
    hob_buf_finish(&log);
    return bench_table_finish();
}
