/* Every script that users are shown is one that loads. */
#include "model/scripted.h"

#include "support/check.h"

#include <glob.h>
#include <stdio.h>

static hob_str read_file(const char *path, hob_buf *out) {
    hob_buf_init(out, HOB_SCRIPT_MAX);
    FILE *f = fopen(path, "r");
    if (!f) fail_msg("cannot open %s", path);
    size_t n;
    do {
        char *room = hob_buf_reserve(out, 4096);
        assert_non_null(room);
        n = fread(room, 1, 4096, f);
        out->n += n;
    } while (n);
    fclose(f);
    return hob_buf_str(out);
}

static void assert_loads(hob_str script, const char *where) {
    hob_error err;
    hob_script *s;
    if (hob_script_create(script, &s, &err) < 0) fail_msg("%s: %s", where, err.message);
    hob_script_destroy(s);
}

static void test_model_scripted_docs__examples_in_the_manual_load(void **state) {
    (void)state;
    static const char open[] = "\n```jsonc file ", close[] = "\n```";
    hob_buf b;
    hob_str rest = read_file(HOB_SOURCE_DIR "/docs/scripted-model.md", &b);
    int seen = 0;
    for (ptrdiff_t at; (at = hob_str_find(rest, hob_str_z(open))) >= 0; seen++) {
        rest = hob_str_skip(rest, (size_t)at + 1);
        rest = hob_str_skip(rest, (size_t)hob_str_chr(rest, '\n'));
        ptrdiff_t end = hob_str_find(rest, hob_str_z(close));
        assert_true(end > 0);
        assert_loads(hob_str_first(rest, (size_t)end), "docs/scripted-model.md");
        rest = hob_str_skip(rest, (size_t)end + 1);
    }
    assert_int_equal(seen, 2);
    hob_buf_finish(&b);
}

static void test_model_scripted_docs__script_files_load(void **state) {
    (void)state;
    glob_t found;
    assert_int_equal(glob(HOB_SOURCE_DIR "/examples/*/*.script.json", 0, NULL, &found), 0);
    for (size_t i = 0; i < found.gl_pathc; i++) {
        hob_buf b;
        assert_loads(read_file(found.gl_pathv[i], &b), found.gl_pathv[i]);
        hob_buf_finish(&b);
    }
    globfree(&found);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_model_scripted_docs__examples_in_the_manual_load),
        cmocka_unit_test(test_model_scripted_docs__script_files_load),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
