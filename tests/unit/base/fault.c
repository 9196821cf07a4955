/*
 * Memory that the outside world sizes may run out at any point: each such allocation is made to
 * fail in turn, and the work must end in a clean error or in success. Leaks are ASan's to find.
 */
#include "base/fault.h"

#include "base/json.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include "support/json_tree.h"
#include <cmocka.h>

static hob_buf source;

static int write_source(void **state) {
    (void)state;
    hob_buf_init(&source, 1 << 20);
    hob_jsonw w;
    hob_jsonw_init(&w, &source);
    hob_jsonw_array(&w);
    for (int i = 0; i < 300; i++) {
        hob_jsonw_object(&w);
        hob_jsonw_kint(&w, "number", i);
        hob_jsonw_kstr(&w, "text\n", HOB_STR("several words\nwith \"escapes\" and \xc3\xa9"));
        hob_jsonw_object_end(&w);
    }
    hob_jsonw_array_end(&w);
    return source.err;
}

static int free_source(void **state) {
    (void)state;
    hob_buf_finish(&source);
    return 0;
}

/* Reads the source, writes it anew, encodes and decodes it; HOB_OK or the first error. */
static int work(hob_buf *out) {
    hob_arena *a = hob_arena_create(0);
    hob_buf text;
    hob_buf_init(&text, 1 << 20);
    const hob_json *v = NULL;
    hob_error err = {0};
    int r = hob_json_parse(a, hob_buf_str(&source), NULL, &v, &err);
    if (r < 0) {
        assert_int_equal(err.code, r);
        assert_null(v);
        goto out;
    }
    hob_jsonw w;
    hob_jsonw_init(&w, &text);
    tree_write(&w, v);
    if (text.err) {
        r = text.err;
        goto out;
    }
    r = hob_base64_encode(out, hob_buf_str(&text));
    if (r == HOB_OK) r = hob_utf8_repair(out, hob_buf_str(&text));
out:
    hob_buf_finish(&text);
    hob_arena_destroy(a);
    return r;
}

static void test_base_fault__every_failed_allocation_is_a_clean_error(void **state) {
    (void)state;
    size_t n = 1;
    for (; n < 10000; n++) {
        hob_buf out;
        hob_buf_init(&out, 1 << 20);
        hob_fault_alloc_at(n);
        int r = work(&out);
        bool hit = hob_fault_alloc_hit();
        size_t seen = hob_fault_alloc_count();
        hob_fault_alloc_at(0);
        hob_buf_finish(&out);
        assert_int_equal(r, hit ? HOB_ETOOBIG : HOB_OK);
        if (!hit) {
            assert_int_equal(seen, n - 1); /* none was left out */
            break;
        }
    }
    print_message("fault: %zu allocations failed in turn\n", n - 1);
    assert_true(n > 10 && n < 10000);
}

static void test_base_fault__partial_reading_fails_cleanly(void **state) {
    (void)state;
    bool hit = true;
    for (size_t n = 1; hit && n < 10000; n++) {
        hob_arena *a = hob_arena_create(0);
        const hob_json *v = NULL;
        hob_fault_alloc_at(n);
        int r = hob_json_parse_partial(a, hob_str_first(hob_buf_str(&source), source.n - 20), &v);
        hit = hob_fault_alloc_hit();
        hob_fault_alloc_at(0);
        assert_int_equal(r, hit ? HOB_ETOOBIG : HOB_OK);
        assert_int_equal(v == NULL, hit);
        hob_arena_destroy(a);
    }
    assert_false(hit);
}

/* A buffer whose growth failed still holds what it held, and works again after a reset. */
static void test_base_fault__a_buffer_survives_failed_growth(void **state) {
    (void)state;
    hob_buf b;
    hob_buf_init(&b, 1000);
    hob_buf_addz(&b, "kept");
    char more[200];
    memset(more, 'x', sizeof(more));
    hob_fault_alloc_at(1);
    assert_int_equal(hob_buf_add(&b, hob_str_n(more, sizeof(more))), HOB_ETOOBIG);
    assert_true(hob_fault_alloc_hit());
    assert_string_equal(hob_buf_z(&b), "kept");
    hob_fault_alloc_at(0);
    hob_buf_reset(&b);
    assert_int_equal(hob_buf_add(&b, hob_str_n(more, sizeof(more))), HOB_OK);
    hob_buf_finish(&b);
}

static void test_base_fault__an_arena_survives_a_failed_chunk(void **state) {
    (void)state;
    hob_arena *a = hob_arena_create(0);
    hob_fault_alloc_at(1);
    assert_null(hob_arena_alloc(a, 10));
    assert_int_equal(hob_arena_used(a), 0);
    assert_non_null(hob_arena_alloc(a, 10));
    hob_fault_alloc_at(1);
    assert_null(hob_arena_alloc(a, 1 << 20));
    assert_int_equal(hob_arena_used(a), 10);
    assert_non_null(hob_arena_alloc(a, 10));
    hob_fault_alloc_at(0);
    hob_arena_destroy(a);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_base_fault__every_failed_allocation_is_a_clean_error),
        cmocka_unit_test(test_base_fault__partial_reading_fails_cleanly),
        cmocka_unit_test(test_base_fault__a_buffer_survives_failed_growth),
        cmocka_unit_test(test_base_fault__an_arena_survives_a_failed_chunk),
    };
    return cmocka_run_group_tests(tests, write_source, free_source);
}
