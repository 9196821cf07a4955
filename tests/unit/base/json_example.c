/* The program of docs/json.md runs, and does what its page says. */
#include "base/json.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>

static void test_base_json_example__program_of_the_page_runs(void **state) {
    (void)state;
    hob_arena *arena = hob_arena_create(1 << 20);
    hob_str text = HOB_STR("{\"tool\":\"read\",\"args\":{\"path\":\"a.c\",\"limit\":10}}");
    const hob_json *call;
    hob_error err;
    if (hob_json_parse(arena, text, NULL, &call, &err) < 0) {
        print_error("%s\n", err.message); /* line 1, column 9: expected a value */
        return;
    }
    hob_str tool = hob_json_get_str(call, "tool");
    int64_t limit = hob_json_get_int(hob_json_get(call, "args"), "limit", 2000);
    hob_str args = hob_json_raw(hob_json_get(call, "args")); /* exactly as it was written */

    hob_buf out;
    hob_buf_init(&out, 4096);
    hob_jsonw w;
    hob_jsonw_init(&w, &out);
    hob_jsonw_object(&w);
    hob_jsonw_kstr(&w, "tool", tool);
    hob_jsonw_kint(&w, "limit", limit * 2);
    hob_jsonw_kraw(&w, "args", args);
    hob_jsonw_object_end(&w);
    int failed = out.err; /* checked once, at the end */

    assert_int_equal(failed, 0);
    assert_string_equal(hob_buf_z(&out), "{\"tool\":\"read\",\"limit\":20,"
                                         "\"args\":{\"path\":\"a.c\",\"limit\":10}}");
    hob_buf_finish(&out);
    hob_arena_destroy(arena);
}

/* Reads a file of the source tree, without the indentation of its lines. */
static void read_flat(hob_buf *out, const char *path) {
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    char line[512];
    while (fgets(line, sizeof(line), f)) {
        hob_buf_add(out, hob_str_trim(hob_str_z(line)));
        hob_buf_addc(out, '\n');
    }
    fclose(f);
    assert_int_equal(out->err, 0);
}

static void test_base_json_example__page_shows_this_program(void **state) {
    (void)state;
    hob_buf page, program;
    hob_buf_init(&page, 1 << 16);
    hob_buf_init(&program, 1 << 16);
    read_flat(&page, HOB_SOURCE_DIR "/docs/json.md");
    read_flat(&program, HOB_SOURCE_DIR "/tests/unit/base/json_example.c");
    hob_str block = hob_buf_str(&page);
    ptrdiff_t start = hob_str_find(block, HOB_STR("```c\n"));
    assert_true(start >= 0);
    block = hob_str_skip(block, (size_t)start + 5);
    block = hob_str_first(block, (size_t)hob_str_find(block, HOB_STR("```")));
    assert_true(block.n > 500);
    assert_true(hob_str_find(hob_buf_str(&program), block) >= 0);
    hob_buf_finish(&page);
    hob_buf_finish(&program);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_base_json_example__program_of_the_page_runs),
        cmocka_unit_test(test_base_json_example__page_shows_this_program),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
