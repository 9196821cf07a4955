/*
 * Changes of state. The input is a delta, a line end, and a list of keys to remove.
 *
 * Beyond not crashing: what is accepted happens whole; written as an event and folded again it leads to the same state,
 * but for temp: keys; and the difference of two states leads from one to the other.
 */
#include <assert.h>

#include "log/view.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool same(const hob_state *a, const hob_state *b) {
    hob_str key = HOB_STR_NULL, value, other;
    while (hob_state_next(a, key, &key, &value))
        if (!hob_state_find(b, key, &other) || !hob_str_eq(value, other)) return false;
    return a->count == b->count && a->bytes == b->bytes;
}

static void begin(hob_state *s) {
    hob_state_assign(s, HOB_STR("a"), HOB_STR("1"));
    hob_state_assign(s, HOB_STR("app:b"), HOB_STR("[2]"));
    hob_state_assign(s, HOB_STR("c"), HOB_STR("null"));
}

/* As the log keeps it. */
static void write_and_fold(const hob_state *overlay, hob_state *s) {
    hob_arena *a = hob_arena_create(0);
    const hob_json *event;
    hob_buf b;
    hob_jsonw w;
    hob_buf_init(&b, 64u << 20);
    hob_jsonw_init(&w, &b);
    hob_jsonw_object(&w);
    hob_overlay_write(overlay, "delta", &w);
    hob_jsonw_object_end(&w);
    assert(hob_json_parse(a, hob_buf_str(&b), NULL, &event, NULL) >= 0);
    hob_state_fold(s, event);
    hob_buf_finish(&b);
    hob_arena_destroy(a);
}

static void check(const hob_change *c) {
    hob_state overlay = {.count = 0}, direct = {.count = 0}, folded = {.count = 0},
              back = {.count = 0};
    begin(&direct);
    begin(&folded);
    hob_overlay_add(&overlay, c);
    assert(overlay.count == c->n);
    hob_change_apply(c, &direct);
    hob_state_drop_temp(&direct);
    write_and_fold(&overlay, &folded);
    assert(same(&direct, &folded));
    hob_state_finish(&folded);
    begin(&folded);
    hob_overlay_diff(&folded, &direct, HOB_SCOPE_STORED, &back);
    hob_overlay_apply(&back, HOB_SCOPE_ALL, &folded);
    assert(same(&direct, &folded));
    hob_state_finish(&overlay);
    hob_state_finish(&direct);
    hob_state_finish(&folded);
    hob_state_finish(&back);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    hob_str rest = hob_str_n(size ? (const char *)data : "", size), delta = HOB_STR_NULL;
    hob_arena *a = hob_arena_create(0);
    const hob_json *event;
    hob_change c;
    hob_error err = {.code = HOB_OK};
    hob_str_split(&rest, '\n', &delta);
    int rc = hob_change_init(&c, a, delta, rest, &err);
    assert(rc >= 0 || err.message[0]);
    if (rc >= 0) {
        check(&c);
        hob_change_finish(&c);
    }
    if (hob_json_parse(a, delta, NULL, &event, NULL) >= 0) { /* an event of somebody else's */
        hob_state s = {.count = 0};
        hob_state_fold(&s, event);
        hob_state_finish(&s);
    }
    hob_arena_destroy(a);
    return 0;
}
