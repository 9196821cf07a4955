/*
 * stream.h - feeds a decoder with a stream written down in a test, and shows what came of it as one text.
 */
#ifndef HOB_TESTS_MODEL_STREAM_H
#define HOB_TESTS_MODEL_STREAM_H

#include "model/decoder.h"
#include "support/check.h"

typedef hob_decoder *(*decoder_fn)(hob_answer *a, const hob_asked *who);

static const hob_asked stream_who = {
    .provider = {"lab", 3}, .model = {"m-1", 3}, .url = {"http://lab/v1", 13}};

static const char *stop_name(hob_stop s) {
    static const char *const names[] = {"none", "done", "tools", "length", "refusal", "continue"};
    return names[s];
}

/* One line: the outcome; on success also stop, usage and content. */
static inline void stream_show(hob_buf *out, const hob_decoder *d, int rc) {
    const hob_answer *a = d->answer;
    if (rc < 0) {
        hob_buf_addf(out, "%s%s %s", hob_error_name(rc), d->outcome.retryable ? " retryable" : "",
                     d->outcome.error.message);
        return;
    }
    hob_buf_addf(out, "%s in=%lld out=%lld read=%lld write=%lld think=%lld ", stop_name(a->stop),
                 (long long)a->usage.input_tokens, (long long)a->usage.output_tokens,
                 (long long)a->usage.cache_read_tokens, (long long)a->usage.cache_write_tokens,
                 (long long)a->usage.reasoning_tokens);
    hob_answer_content(a, HOB_STR("m1"), HOB_STR("lab"), true, out);
}

static void stream_feed(hob_decoder *d, hob_str bytes, size_t piece) {
    while (bytes.n) {
        (void)hob_decoder_feed(d, hob_str_first(bytes, piece));
        bytes = hob_str_skip(bytes, piece);
    }
}

/* Fed whole, in 7-byte and in 1-byte pieces: always the same. */
static inline void assert_stream(decoder_fn create, const char *stream, const char *expected) {
    static const size_t pieces[] = {SIZE_MAX, 7, 1};
    for (size_t i = 0; i < HOB_ARRAY_LEN(pieces); i++) {
        hob_answer *a = hob_answer_create();
        hob_decoder *d = create(a, &stream_who);
        hob_buf out;
        hob_buf_init(&out, 1 << 20);
        stream_feed(d, hob_str_z(stream), pieces[i]);
        stream_show(&out, d, hob_decoder_end(d));
        assert_string_equal(hob_buf_z(&out), expected);
        hob_buf_finish(&out);
        hob_decoder_destroy(d);
        hob_answer_destroy(a);
    }
}

#endif
