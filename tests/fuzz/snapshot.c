/*
 * What stands in a store as a snapshot may be anything: it is taken or refused, nothing crashes, and what is taken is
 * written back as it was read.
 *
 * The first line is the head without its sum, or, after a w, that of a wire; each further line is a part. The sums, and
 * what else nobody could guess, are put right, so that the fuzzer gets past them.
 */
#include "log/keep.h"
#include "model/wire.h"
#include "run/run.h"

#include <stdlib.h>

enum { PARTS_MAX = 64 };

static const hob_json *parse(hob_arena *a, hob_str text) {
    const hob_json *v;
    return hob_json_parse(a, text, NULL, &v, NULL) < 0 ? NULL : v;
}

/* ---- views ------------------------------------------------------------------------------------------------- */

static void write_view(const void *v, hob_jsonw *w) {
    hob_view_write(v, w);
}

static void write_run(const void *r, hob_jsonw *w) {
    hob_run_write(r, w);
}

static hob_buf text_of(const void *state, void (*write)(const void *, hob_jsonw *)) {
    hob_buf out;
    hob_jsonw w;
    hob_buf_init(&out, 64u << 20);
    hob_jsonw_init(&w, &out);
    write(state, &w);
    return out;
}

static void read_view(hob_arena *a, const hob_json *o) {
    hob_view *v = hob_view_create(), *again = hob_view_create();
    if (hob_view_read(v, o) >= 0) {
        hob_buf one = text_of(v, write_view);
        if (hob_view_read(again, parse(a, hob_buf_str(&one))) < 0) abort();
        hob_buf two = text_of(again, write_view);
        if (!hob_str_eq(hob_buf_str(&one), hob_buf_str(&two))) abort();
        hob_buf_finish(&one);
        hob_buf_finish(&two);
    }
    hob_view_destroy(v);
    hob_view_destroy(again);
}

static void read_run(hob_arena *a, const hob_json *o) {
    hob_run r, again;
    hob_effect effects[HOB_EFFECTS_MAX];
    hob_run_init(&r, HOB_STR("s"));
    hob_run_init(&again, HOB_STR("s"));
    if (hob_run_read(&r, o) >= 0) {
        if (!hob_run_keeps(&r) || hob_run_active(&r) || hob_run_pending(&r, effects)) abort();
        hob_buf one = text_of(&r, write_run);
        if (hob_run_read(&again, parse(a, hob_buf_str(&one))) < 0) abort();
        hob_buf two = text_of(&again, write_run);
        if (!hob_str_eq(hob_buf_str(&one), hob_buf_str(&two))) abort();
        hob_buf_finish(&one);
        hob_buf_finish(&two);
    }
    hob_run_finish(&r);
    hob_run_finish(&again);
}

/* ---- the wire ------------------------------------------------------------------------------------------------ */

/* The last of equal members counts. */
static void put_right(hob_buf *head, const hob_str *parts, size_t n) {
    uint64_t sum = 0;
    size_t text = 0, ids = 0;
    for (size_t i = 0; i < n; i++) {
        sum = hob_sum(sum, parts[i]);
        if (i % 2)
            ids += parts[i].n / 16;
        else
            text += parts[i].n;
    }
    while (head->n && head->p[head->n - 1] != '}') head->n--;
    if (head->n) head->n--;
    hob_buf_addf(head, ",\"text\":%zu,\"ids\":%zu,\"parts\":%zu,\"sum\":%lld}", text, ids, n,
                 (long long)sum);
}

static void read_wire(hob_arena *a, hob_str line, hob_str rest) {
    hob_str parts[PARTS_MAX];
    size_t n = 0;
    hob_wire *w;
    hob_buf head;
    while (n < PARTS_MAX && hob_str_split(&rest, '\n', &parts[n])) n++;
    hob_buf_init(&head, line.n + 256);
    hob_buf_add(&head, line);
    put_right(&head, parts, n);
    if (hob_wire_read(parse(a, hob_buf_str(&head)), parts, n, &w) >= 0) {
        const hob_str *more;
        size_t known = w->text.n;
        if (hob_wire_parts(w, a, &more) != 2 || more[0].n || more[1].n) abort();
        if (w->kept.text != known || !w->api) abort();
        hob_wire_destroy(w);
    }
    hob_buf_finish(&head);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n) {
    hob_arena *a = hob_arena_create(0);
    hob_str rest = hob_str_n((const char *)bytes, n), line;
    if (n && hob_str_split(&rest, '\n', &line)) {
        if (line.n && line.p[0] == 'w') {
            read_wire(a, hob_str_skip(line, 1), rest);
        } else {
            const hob_json *o = parse(a, line);
            read_view(a, hob_json_get(o, "view"));
            read_run(a, hob_json_get(o, "run"));
        }
    }
    hob_arena_destroy(a);
    return 0;
}
