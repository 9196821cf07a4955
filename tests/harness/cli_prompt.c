/* What becomes the prompt: words, files, pictures, standard input. */
#include "support/cli.h"

#include "support/check.h"

#define ECHO "{'otherwise': [{'text': '{{user}}'}]}"
#define MODEL "-m", "scripted:echo.json"

static int setup(void **state) {
    hob_test_cli_setup(state);
    hob_test_quoted_file(*state, "echo.json", ECHO);
    return 0;
}

static void test_cli_prompt__standard_input_is_appended_as_a_block(void **state) {
    hob_test_cli *c = *state;
    assert_int_equal(HOB_RUN(c, "a\nb", "-p", MODEL, "review"), 0);
    assert_out(c, "review\n<stdin>\na\nb\n</stdin>\n");
}

static void test_cli_prompt__standard_input_alone_is_the_prompt(void **state) {
    hob_test_cli *c = *state;
    assert_int_equal(HOB_RUN(c, "just this", "-p", MODEL), 0);
    assert_out(c, "just this\n");
}

static void test_cli_prompt__broken_bytes_of_standard_input_are_repaired(void **state) {
    hob_test_cli *c = *state;
    assert_int_equal(HOB_RUN(c, "a\xff", "-p", MODEL), 0);
    assert_out(c, "a\xEF\xBF\xBD\n");
}

static void test_cli_prompt__a_file_is_a_labelled_block(void **state) {
    hob_test_cli *c = *state;
    hob_test_file(&c->folder, "notes.txt", HOB_STR("line\n"));
    assert_int_equal(HOB_RUN(c, NULL, "-p", MODEL, "read", "@notes.txt", "please"), 0);
    assert_out(c, "read please\n<file path=\"notes.txt\">\nline\n</file>\n");
}

static void test_cli_prompt__two_at_signs_are_a_plain_one(void **state) {
    hob_test_cli *c = *state;
    assert_int_equal(HOB_RUN(c, NULL, "-p", MODEL, "@@ada", "hi"), 0);
    assert_out(c, "@ada hi\n");
}

static void test_cli_prompt__a_file_that_cannot_be_read_is_named(void **state) {
    hob_test_cli *c = *state;
    assert_int_equal(HOB_RUN(c, NULL, "-p", MODEL, "@none.txt"), 2);
    assert_err_has(c, "hob: @none.txt: there is no such file; the plain word is @@none.txt");
    assert_int_equal(HOB_RUN(c, NULL, "-p", MODEL, "-i", "none.txt", "hi"), 2);
    assert_err_has(c, "hob: none.txt cannot be read");
    assert_int_equal(HOB_RUN(c, NULL, "-p", MODEL, "@home"), 2);
    assert_err_has(c, "home is a folder");
    hob_test_file(&c->folder, "bytes", HOB_STR("\xff\xfe\x00"));
    assert_int_equal(HOB_RUN(c, NULL, "-p", MODEL, "@bytes"), 2);
    assert_err_has(c, "neither UTF-8 text nor a picture");
}

static void test_cli_prompt__a_picture_is_an_image_block(void **state) {
    hob_test_cli *c = *state;
    hob_test_file(&c->folder, "dot.png", HOB_STR("\x89PNG\r\n\x1a\n"));
    assert_int_equal(HOB_RUN(c, NULL, "-p", "--json", MODEL, "-i", "dot.png", "look"), 0);
    const hob_json *content =
        hob_json_get(hob_json_get(hob_test_typed(c, "user_message", 0), "data"), "content");
    assert_str(hob_json_raw(content), "[{\"type\":\"text\",\"text\":\"look\"},{\"type\":\"image\","
                                      "\"media_type\":\"image/png\",\"data\":\"iVBORw0KGgo=\"}]");
    hob_test_file(&c->folder, "text.png", HOB_STR("no"));
    assert_int_equal(HOB_RUN(c, NULL, "-p", MODEL, "-i", "text.png", "look"), 2);
    assert_err_has(c, "text.png is not a png, jpeg, gif or webp picture");
}

static void test_cli_prompt__none_at_all_is_wrong_usage(void **state) {
    hob_test_cli *c = *state;
    assert_int_equal(HOB_RUN(c, NULL, "-p", MODEL), 2);
    assert_err_has(c, "no prompt");
    assert_int_equal(HOB_RUN(c, " \n", "-p", MODEL), 2);
}

static void test_cli_prompt__silent_standard_input_is_left_alone(void **state) {
    hob_test_cli *c = *state;
    HOB_START(c, "-p", MODEL, "hi"); /* its input stays open */
    assert_int_equal(hob_test_end(c), 0);
    assert_out(c, "hi\n");
    assert_err_has(c, "standard input is open but silent");
}

static void test_cli_prompt__system_prompt_from_text_or_file(void **state) {
    hob_test_cli *c = *state;
    hob_test_quoted_file(
        c, "system.json",
        "{'rules': [{'when': {'system': {'equals': 'be brief'}}, 'reply': [{'text': 'ok'}]}],"
        "'otherwise': [{'text': 'other'}]}");
    hob_test_file(&c->folder, "brief.txt", HOB_STR("be brief"));
    assert_int_equal(
        HOB_RUN(c, NULL, "-p", "-m", "scripted:system.json", "--system-prompt", "be brief", "x"),
        0);
    assert_out(c, "ok\n");
    assert_int_equal(
        HOB_RUN(c, NULL, "-p", "-m", "scripted:system.json", "--system-prompt", "@brief.txt", "x"),
        0);
    assert_out(c, "ok\n");
    assert_int_equal(HOB_RUN(c, NULL, "-p", "-m", "scripted:system.json", "x"), 0);
    assert_out(c, "other\n");
}

static void test_cli_prompt__in_another_folder(void **state) {
    hob_test_cli *c = *state;
    hob_test_mkdir(&c->folder, "sub");
    hob_test_file(&c->folder, "sub/here.txt", HOB_STR("x"));
    assert_int_equal(
        HOB_RUN(c, NULL, "-C", "sub", "-p", "-m", "scripted:../echo.json", "@here.txt"), 0);
    assert_out_has(c, "<file path=\"here.txt\">");
    assert_int_equal(HOB_RUN(c, NULL, "-C", "nowhere", "-p", MODEL, "x"), 2);
    assert_err_has(c, "cannot work in nowhere");
}

static void test_cli_prompt__instructions_of_the_folder_are_read_and_named(void **state) {
    hob_test_cli *c = *state;
    hob_test_quoted_file(
        c, "system.json",
        "{'rules': [{'when': {'system': 'always be kind'}, 'reply': [{'text': 'ok'}]}],"
        "'otherwise': [{'text': 'other'}]}");
    hob_test_file(&c->folder, "AGENTS.md", HOB_STR("always be kind\n"));
    assert_int_equal(HOB_RUN(c, NULL, "-p", "-v", "-m", "scripted:system.json", "x"), 0);
    assert_out(c, "ok\n");
    assert_err_has(c, "AGENTS.md");
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, hob_test_cli_teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_cli_prompt__standard_input_is_appended_as_a_block),
        TEST(test_cli_prompt__standard_input_alone_is_the_prompt),
        TEST(test_cli_prompt__broken_bytes_of_standard_input_are_repaired),
        TEST(test_cli_prompt__a_file_is_a_labelled_block),
        TEST(test_cli_prompt__two_at_signs_are_a_plain_one),
        TEST(test_cli_prompt__a_file_that_cannot_be_read_is_named),
        TEST(test_cli_prompt__a_picture_is_an_image_block),
        TEST(test_cli_prompt__none_at_all_is_wrong_usage),
        TEST(test_cli_prompt__silent_standard_input_is_left_alone),
        TEST(test_cli_prompt__system_prompt_from_text_or_file),
        TEST(test_cli_prompt__in_another_folder),
        TEST(test_cli_prompt__instructions_of_the_folder_are_read_and_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
