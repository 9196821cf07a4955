/*
 * The bytes of a request, whole and in pieces: the same answer; what is accepted lies within the input, has no control
 * characters and one way to be read.
 */
#include "serve/wire.h"

#include <stdlib.h>

static void check_slice(hob_str all, hob_str s) {
    if (s.n && (s.p < all.p || s.p + s.n > all.p + all.n)) abort();
    for (size_t i = 0; i < s.n; i++)
        if (s.p[i] == 0 || s.p[i] == '\r' || s.p[i] == '\n') abort();
}

static void check_head(hob_str bytes, size_t end) {
    hob_head h;
    hob_str all = hob_str_first(bytes, end);
    const hob_wire_error *why = hob_head_parse(all, &h);
    if (why) {
        if (why->status < 400 || !why->message[0]) abort();
        return;
    }
    check_slice(all, h.method);
    check_slice(all, h.path);
    check_slice(all, h.query);
    for (size_t i = 0; i < h.nfields; i++) {
        check_slice(all, h.fields[i].name);
        check_slice(all, h.fields[i].value);
        if (!hob_head_token(h.fields[i].name)) abort();
    }
    if (h.path.n == 0 || h.path.p[0] != '/' || h.length < 0 || (h.chunked && h.length)) abort();
}

static void check_pieces(hob_str bytes, ptrdiff_t end) {
    size_t scanned = 0;
    const hob_wire_error *why;
    ptrdiff_t got = 0;
    for (size_t n = 0; n <= bytes.n && got == 0; n++)
        got = hob_head_end(hob_str_first(bytes, n), &scanned, &why);
    if (got != end) abort();
}

static void check_chunks(hob_str bytes) {
    hob_buf whole, pieces;
    hob_chunked a = {.state = HOB_CHUNK_SIZE}, b = a;
    hob_str in = bytes;
    hob_buf_init(&whole, 1 << 16);
    hob_buf_init(&pieces, 1 << 16);
    hob_chunked_feed(&a, &in, &whole);
    for (size_t i = 0; i < bytes.n; i++) {
        hob_str one = hob_str_n(bytes.p + i, 1);
        hob_chunked_feed(&b, &one, &pieces);
    }
    if (a.state != b.state || !hob_str_eq(hob_buf_str(&whole), hob_buf_str(&pieces))) abort();
    hob_buf_finish(&whole);
    hob_buf_finish(&pieces);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n) {
    hob_str bytes = hob_str_n((const char *)data, n);
    size_t scanned = 0;
    const hob_wire_error *why = NULL;
    ptrdiff_t end = hob_head_end(bytes, &scanned, &why);
    if (end < 0 && !why) abort();
    if (end > 0) check_head(bytes, (size_t)end);
    if (n < 512) check_pieces(bytes, end);
    check_chunks(end > 0 ? hob_str_skip(bytes, (size_t)end) : bytes);
    return 0;
}
