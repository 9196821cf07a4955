/* What a host may ask a session about itself. */
#include "support/check.h"
#include "support/host.h"

#include <string.h>

static const char hello[] = "{'otherwise':[{'text':'hello'}]}";

static void test_session_look__folder_model_thinking_configuration(void **state) {
    host r;
    char text[400], small[4];
    (void)state;
    host_init(&r, hello);
    r.so.thinking = "low";
    host_open(&r);
    assert_int_equal(hob_session_cwd(r.s, text, sizeof text), (int)strlen(r.dir));
    assert_string_equal(text, r.dir);
    assert_true(hob_session_model(r.s, text, sizeof text) > 0);
    assert_non_null(strstr(text, "scripted:"));
    assert_int_equal(hob_session_thinking(r.s, small, sizeof small), 3);
    assert_string_equal(small, "low");
    assert_ptr_equal(hob_session_config(r.s), r.config);
    host_finish(&r);
}

/* A copy that does not fit is cut, and its whole length is told. */
static void test_session_look__a_small_room_is_filled_and_the_length_told(void **state) {
    host r;
    char small[5];
    (void)state;
    host_init(&r, hello);
    host_open(&r);
    assert_int_equal(hob_session_cwd(r.s, small, sizeof small), (int)strlen(r.dir));
    assert_int_equal(strlen(small), 4);
    assert_memory_equal(small, r.dir, 4);
    host_finish(&r);
}

static void test_session_look__commands_of_the_definitions(void **state) {
    host r;
    hob_page *page;
    (void)state;
    host_init(&r, hello);
    assert_ok(hob_definitions_create(NULL, &r.so.definitions, &r.err), r.err);
    hob_definitions *definitions = r.so.definitions;
    hob_test_mkdir(&r.folder, "commands");
    hob_test_file(&r.folder, "commands/greet.md",
                  hob_str_z("---\ndescription: says hello\n---\nSay hello to $1.\n"));
    assert_int_equal(
        hob_commands_register_dir(definitions, hob_test_path(&r.folder, "commands"), &r.err), 1);
    host_open(&r);
    assert_ok(hob_session_commands(r.s, &page, &r.err), r.err);
    assert_int_equal(hob_page_count(page), 1);
    hob_str row = hob_page_row(page, 0);
    assert_non_null(memmem(row.p, row.n, "\"name\":\"greet\"", 14));
    assert_non_null(memmem(row.p, row.n, "says hello", 10));
    hob_page_destroy(page);
    host_finish(&r);
    hob_definitions_destroy(definitions);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_session_look__folder_model_thinking_configuration),
        cmocka_unit_test(test_session_look__a_small_room_is_filled_and_the_length_told),
        cmocka_unit_test(test_session_look__commands_of_the_definitions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
