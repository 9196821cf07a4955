/*
 * The event stream reader: the same input in one piece, byte by byte, and cut at places that the
 * input chooses must give the same events and the same result, under a small ceiling and without.
 */
#include "net/sse.h"

#include <stdlib.h>

static int on_event(const hob_sse_event *e, void *user) {
    const hob_str parts[] = {e->event, e->data, e->id};
    for (size_t i = 0; i < HOB_ARRAY_LEN(parts); i++) {
        hob_buf_addf(user, "%zu:", parts[i].n);
        hob_buf_add(user, parts[i]);
    }
    return HOB_OK;
}

/* step: 0 = in one piece, 1 = byte by byte, else pieces of 1 to step bytes. */
static int read_all(hob_str in, size_t max, size_t step, hob_buf *out) {
    hob_sse s;
    int r = HOB_OK;
    hob_sse_init(&s, max, on_event, out);
    for (size_t at = 0; at < in.n && r == HOB_OK;) {
        size_t n = step ? 1 + (unsigned char)in.p[at] % step : in.n;
        n = HOB_MIN(n, in.n - at);
        r = hob_sse_feed(&s, hob_str_n(in.p + at, n));
        at += n;
    }
    hob_sse_finish(&s);
    return r;
}

static void compare(hob_str in, size_t max) {
    hob_buf whole, cut;
    hob_buf_init(&whole, 1 << 24);
    int expected = read_all(in, max, 0, &whole);
    for (size_t step = 1; step <= 17; step += 8) {
        hob_buf_init(&cut, 1 << 24);
        if (read_all(in, max, step, &cut) != expected) abort();
        if (!hob_str_eq(hob_buf_str(&cut), hob_buf_str(&whole))) abort();
        hob_buf_finish(&cut);
    }
    hob_buf_finish(&whole);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n) {
    hob_str in = hob_str_n((const char *)bytes, n);
    compare(in, 0);
    compare(in, 32);
    return 0;
}
