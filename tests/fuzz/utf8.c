/*
 * Fuzz target of the UTF-8 functions and of the scan of strings in both its forms.
 */
#include "base/base.h"
#include "base/json_scan.h"

#include <assert.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void repair(hob_str s, bool valid) {
    hob_buf out;
    hob_buf_init(&out, s.n * 3);
    assert(hob_utf8_repair(&out, s) == HOB_OK);
    assert(hob_utf8_valid(hob_buf_str(&out)));
    assert(!valid || hob_str_eq(hob_buf_str(&out), s));
    hob_buf_finish(&out);
}

/* Walking by characters meets a broken one exactly when the text is invalid. */
static void walk(hob_str s, bool valid) {
    hob_buf again;
    hob_buf_init(&again, s.n * 3);
    size_t at = 0;
    while (at < s.n) {
        size_t before = at;
        char text[4];
        hob_buf_add(&again, hob_str_n(text, hob_utf8_put(text, hob_utf8_next(s, &at))));
        assert(at > before && at <= s.n);
    }
    assert(hob_str_eq(hob_buf_str(&again), s) == valid);
    hob_buf_finish(&again);
}

static void cut(hob_str s, size_t max, bool valid) {
    size_t head = hob_utf8_prefix(s, max), tail = hob_utf8_suffix(s, max);
    assert(head <= max && tail <= max);
    assert(s.n <= max || (head + 3 >= max && tail + 3 >= max));
    hob_str first = hob_str_first(s, head), last = hob_str_skip(s, s.n - tail);
    assert(!valid || (hob_utf8_valid(first) && hob_utf8_valid(last)));
    hob_str part = hob_str_first(s, max);
    size_t whole = hob_utf8_complete(part);
    assert(whole <= part.n && whole + 3 >= part.n);
    assert(!valid || hob_utf8_valid(hob_str_first(part, whole)));
}

static void scan(hob_str s) {
    const char *end = s.p + s.n;
    for (const char *p = s.p; p < end;) {
        const char *stop = hob_scan_plain(p, end);
        assert(stop == hob_scan_plain_portable(p, end));
        p = stop + 1;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    hob_str s = hob_str_n((const char *)data, size);
    bool valid = hob_utf8_valid(s);
    repair(s, valid);
    walk(s, valid);
    for (size_t max = 0; max <= size + 1; max += 1 + size / 32) cut(s, max, valid);
    scan(s);
    return 0;
}
