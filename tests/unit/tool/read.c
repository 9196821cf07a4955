/* ctest: labels=threads */
#include "support/check.h"
#include "support/tools.h"

#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

static void put(hob_test_tools *t, const char *name, hob_str content) {
    char path[100];
    snprintf(path, sizeof(path), "proj/%s", name);
    hob_test_file(&t->folder, path, content);
}

/* "line 1\nline 2\n…". */
static hob_buf lines(int from, int to) {
    hob_buf b;
    hob_buf_init(&b, 64 << 20);
    for (int i = from; i <= to; i++) hob_buf_addf(&b, "line %d\n", i);
    return b;
}

static void put_lines(hob_test_tools *t, const char *name, int n) {
    hob_buf b = lines(1, n);
    put(t, name, hob_buf_str(&b));
    hob_buf_finish(&b);
}

/* The answer is lines from..to, then `note`. */
static void assert_lines(hob_str got, int from, int to, const char *note) {
    hob_buf b = lines(from, to);
    hob_buf_addz(&b, note);
    assert_int_equal(got.n, b.n);
    assert_memory_equal(got.p, b.p, b.n);
    hob_buf_finish(&b);
}

static void assert_answer(hob_test_tools *t, const char *args, hob_outcome outcome,
                          const char *text) {
    assert_str(hob_test_tool(t, "read", args), text);
    assert_int_equal(t->outcome, outcome);
}

static void test_tool_read__a_short_file_comes_whole(void **state) {
    hob_test_tools *t = *state;
    put(t, "a", HOB_STR("one\ntwo\n"));
    assert_answer(t, "{\"path\":\"a\"}", HOB_OUTCOME_OK, "one\ntwo\n");
    assert_false(t->truncated);
    put(t, "b", HOB_STR("one\r\ntwo"));
    assert_answer(t, "{\"path\":\"b\"}", HOB_OUTCOME_OK, "one\r\ntwo");
}

static void test_tool_read__2001_lines_are_2000_and_the_next_offset(void **state) {
    hob_test_tools *t = *state;
    put_lines(t, "a", 2001);
    assert_lines(hob_test_tool(t, "read", "{\"path\":\"a\"}"), 1, 2000,
                 "\n[lines 1-2000 of 2001; to go on: offset 2001]");
    assert_true(t->truncated);
    assert_answer(t, "{\"path\":\"a\",\"offset\":2001}", HOB_OUTCOME_OK, "line 2001\n");
    assert_false(t->truncated);
    put_lines(t, "b", 2000);
    assert_lines(hob_test_tool(t, "read", "{\"path\":\"b\"}"), 1, 2000, "");
}

static void test_tool_read__offset_and_limit_choose_lines(void **state) {
    hob_test_tools *t = *state;
    put_lines(t, "a", 100);
    assert_answer(t, "{\"path\":\"a\",\"offset\":7,\"limit\":2}", HOB_OUTCOME_OK,
                  "line 7\nline 8\n\n[lines 7-8 of 100; to go on: offset 9]");
    assert_answer(t, "{\"path\":\"a\",\"offset\":99,\"limit\":2}", HOB_OUTCOME_OK,
                  "line 99\nline 100\n");
    assert_answer(t, "{\"path\":\"a\",\"offset\":1e2,\"limit\":5.0}", HOB_OUTCOME_OK, "line 100\n");
}

static void test_tool_read__limit_does_not_lift_the_ceiling(void **state) {
    hob_test_tools *t = *state;
    put_lines(t, "a", 3000);
    assert_lines(hob_test_tool(t, "read", "{\"path\":\"a\",\"limit\":100000}"), 1, 2000,
                 "\n[lines 1-2000 of 3000; to go on: offset 2001]");
}

static void test_tool_read__an_offset_behind_the_end_is_an_error(void **state) {
    hob_test_tools *t = *state;
    put(t, "a", HOB_STR("one\ntwo"));
    assert_answer(t, "{\"path\":\"a\",\"offset\":3}", HOB_OUTCOME_ERROR,
                  "offset 3 is behind the end: a has 2 lines");
    assert_answer(t, "{\"path\":\"a\",\"offset\":1e300}", HOB_OUTCOME_ERROR,
                  "offset 9000000000000000 is behind the end: a has 2 lines");
    assert_string_equal(hob_test_tool_check(t, "read", "{\"path\":\"a\",\"offset\":0}"),
                        "wrong arguments for read: offset must be at least 1");
}

static void test_tool_read__fifty_kib_are_whole_lines(void **state) {
    hob_test_tools *t = *state;
    hob_buf file;
    hob_buf_init(&file, 1 << 20);
    for (int i = 0; i < 100; i++) /* 1001 bytes a line, of characters of two bytes */
        for (int j = 0; j <= 500; j++) hob_buf_addz(&file, j < 500 ? "ä" : "\n");
    put(t, "a", hob_buf_str(&file));
    hob_str got = hob_test_tool(t, "read", "{\"path\":\"a\"}");
    size_t shown = 51 * 1001;
    assert_memory_equal(got.p, file.p, shown);
    assert_str(hob_str_skip(got, shown), "\n[lines 1-51 of 100; to go on: offset 52]");
    hob_buf_finish(&file);
}

static void put_long_line(hob_test_tools *t, const char *name, const char *before, size_t n) {
    hob_buf file;
    hob_buf_init(&file, 1 << 20);
    hob_buf_addz(&file, before);
    memset(hob_buf_reserve(&file, n), 'x', n);
    file.n += n;
    hob_buf_addz(&file, "\nend\n");
    put(t, name, hob_buf_str(&file));
    hob_buf_finish(&file);
}

static void test_tool_read__a_line_that_is_too_long_is_explained(void **state) {
    hob_test_tools *t = *state;
    put_long_line(t, "a", "", 60 * 1024);
    assert_answer(t, "{\"path\":\"a\"}", HOB_OUTCOME_ERROR,
                  "line 1 is 61441 bytes long, and at most 51200 are shown at once; take a part of "
                  "it in bash: sed -n '1p' 'a' | cut -c 1-2000");
    put_long_line(t, "b", "short\n", 200 * 1024);
    assert_answer(t, "{\"path\":\"b\"}", HOB_OUTCOME_OK,
                  "short\n\n[lines 1-1 of 3; to go on: offset 2]");
    assert_answer(
        t, "{\"path\":\"b\",\"offset\":2}", HOB_OUTCOME_ERROR,
        "line 2 is 204801 bytes long, and at most 51200 are shown at once; take a part of "
        "it in bash: sed -n '2p' 'b' | cut -c 1-2000");
    assert_answer(t, "{\"path\":\"b\",\"offset\":3}", HOB_OUTCOME_OK, "end\n");
}

static void test_tool_read__a_big_file_is_not_read_to_its_end(void **state) {
    hob_test_tools *t = *state;
    put_lines(t, "a", 1500000);
    hob_str got = hob_test_tool(t, "read", "{\"path\":\"a\",\"limit\":1}");
    assert_true(hob_str_starts(got, HOB_STR("line 1\n\n[lines 1-1 of more than ")));
    assert_true(hob_str_ends(got, HOB_STR("; to go on: offset 2]")));
    assert_answer(t, "{\"path\":\"a\",\"offset\":1500000}", HOB_OUTCOME_OK, "line 1500000\n");
}

static void test_tool_read__an_empty_file_is_said_to_be(void **state) {
    hob_test_tools *t = *state;
    put(t, "a", HOB_STR(""));
    assert_answer(t, "{\"path\":\"a\"}", HOB_OUTCOME_OK, "(the file is empty)");
    assert_answer(t, "{\"path\":\"a\",\"offset\":2}", HOB_OUTCOME_ERROR,
                  "offset 2 is behind the end: a has 0 lines");
    put(t, "b", HOB_STR("\n"));
    assert_answer(t, "{\"path\":\"b\"}", HOB_OUTCOME_OK, "\n");
}

static void test_tool_read__bytes_that_are_not_utf8_are_shown_as_such(void **state) {
    hob_test_tools *t = *state;
    put(t, "a", HOB_STR("caf\xe9\n"));
    assert_answer(t, "{\"path\":\"a\"}", HOB_OUTCOME_OK,
                  "caf\xEF\xBF\xBD\n\n[bytes that are not UTF-8 are shown as \xEF\xBF\xBD; writing "
                  "this text back would lose them]");
}

static void test_tool_read__binary_files_are_refused_with_a_hint(void **state) {
    hob_test_tools *t = *state;
    put(t, "a",
        HOB_STR("\x7f"
                "ELF\0\1\2"));
    assert_answer(t, "{\"path\":\"a\"}", HOB_OUTCOME_ERROR,
                  "a is a binary file; look at it with file, xxd or strings in bash");
    put(t, "b", HOB_STR("\xff\xfeh\0i\0"));
    assert_answer(t, "{\"path\":\"b\"}", HOB_OUTCOME_ERROR,
                  "b is UTF-16; convert it first, for example with iconv in bash");
}

static void test_tool_read__a_nul_far_inside_is_binary_too(void **state) {
    hob_test_tools *t = *state;
    hob_buf b = lines(1, 1500);
    hob_buf_addc(&b, '\0');
    put(t, "a", hob_buf_str(&b));
    hob_buf_finish(&b);
    assert_answer(t, "{\"path\":\"a\"}", HOB_OUTCOME_ERROR,
                  "a is a binary file; look at it with file, xxd or strings in bash");
    assert_answer(t, "{\"path\":\"a\",\"limit\":1}", HOB_OUTCOME_OK,
                  "line 1\n\n[lines 1-1 of 1501; to go on: offset 2]");
}

static void assert_image(hob_test_tools *t, hob_str bytes, const char *content) {
    put(t, "image", bytes);
    hob_test_tool(t, "read", "{\"path\":\"image\"}");
    assert_int_equal(t->outcome, HOB_OUTCOME_OK);
    assert_str(hob_buf_str(&t->content), content);
}

static void test_tool_read__images_are_known_by_their_first_bytes(void **state) {
    hob_test_tools *t = *state;
    assert_image(t, HOB_STR("\x89PNG\r\n\x1a\n\0"),
                 "[{\"type\":\"image\",\"media_type\":\"image/png\",\"data\":\"iVBORw0KGgoA\"}]");
    assert_image(t, HOB_STR("\xff\xd8\xff\xe0"),
                 "[{\"type\":\"image\",\"media_type\":\"image/jpeg\",\"data\":\"/9j/4A==\"}]");
    assert_image(t, HOB_STR("GIF89a"),
                 "[{\"type\":\"image\",\"media_type\":\"image/gif\",\"data\":\"R0lGODlh\"}]");
    assert_image(t, HOB_STR("RIFF\0\0\0\0WEBPVP8 "),
                 "[{\"type\":\"image\",\"media_type\":\"image/webp\",\"data\":"
                 "\"UklGRgAAAABXRUJQVlA4IA==\"}]");
}

static void test_tool_read__images_have_a_ceiling(void **state) {
    hob_test_tools *t = *state;
    put(t, "a", HOB_STR("\x89PNG\r\n\x1a\n"));
    assert_int_equal(truncate(hob_test_path(&t->folder, "proj/a"), 5 << 20), 0);
    hob_test_tool(t, "read", "{\"path\":\"a\"}");
    assert_int_equal(t->outcome, HOB_OUTCOME_OK);
    assert_int_equal(truncate(hob_test_path(&t->folder, "proj/a"), (5 << 20) + 1), 0);
    assert_answer(t, "{\"path\":\"a\"}", HOB_OUTCOME_ERROR,
                  "a is an image of more than 5 MiB; make it smaller first");
}

static void test_tool_read__what_cannot_be_read_is_an_error(void **state) {
    hob_test_tools *t = *state;
    assert_answer(t, "{\"path\":\"none\"}", HOB_OUTCOME_ERROR, "no such file: none");
    assert_answer(t, "{\"path\":\".\"}", HOB_OUTCOME_ERROR, ". is a folder, not a file");
    assert_answer(t, "{\"path\":\"../x\"}", HOB_OUTCOME_ERROR,
                  "../x leads outside the workspace (by '..' or a symbolic link)");
    hob_str got = hob_test_tool(t, "read", "{\"path\":\"/etc/passwd\"}");
    assert_int_equal(t->outcome, HOB_OUTCOME_ERROR);
    assert_true(hob_str_starts(got, HOB_STR("/etc/passwd is outside the workspace ")));
    assert_int_equal(mkfifo(hob_test_path(&t->folder, "proj/fifo"), 0600), 0);
    assert_answer(t, "{\"path\":\"fifo\"}", HOB_OUTCOME_ERROR, "fifo is not a regular file");
}

/* A terabyte without a byte in it. */
static void test_tool_read__a_sparse_file_is_no_trap(void **state) {
    hob_test_tools *t = *state;
    put(t, "a", HOB_STR("text\n"));
    if (truncate(hob_test_path(&t->folder, "proj/a"), (off_t)1 << 40) < 0) skip();
    assert_answer(t, "{\"path\":\"a\"}", HOB_OUTCOME_ERROR,
                  "a is a binary file; look at it with file, xxd or strings in bash");
}

static void test_tool_read__is_read_only(void **state) {
    hob_test_tools *t = *state;
    assert_int_equal(hob_tools_find(t->tools, HOB_STR("read"))->class_, HOB_TOOL_READ_ONLY);
}

static void test_tool_read__an_answer_nobody_waits_for_does_no_harm(void **state) {
    hob_test_tools *t = *state;
    put_lines(t, "a", 100000);
    for (int i = 0; i < 10; i++) {
        hob_test_tool_start(t, "read", "{\"path\":\"a\",\"offset\":90000}");
        hob_test_tool_cancel(t, 1);
        hob_reply_drop(t->reply);
    }
    put(t, "b", HOB_STR("still here"));
    assert_answer(t, "{\"path\":\"b\"}", HOB_OUTCOME_OK, "still here");
}

static void test_tool_read__a_full_queue_is_an_error(void **state) {
    hob_test_tools *t = *state;
    put_lines(t, "a", 100000);
    for (int i = 0; i < 40; i++) {
        hob_test_tool_start(t, "read", "{\"path\":\"a\",\"offset\":90000}");
        if (i < 39) hob_reply_drop(t->reply);
    }
    hob_test_tool_wait(t);
    assert_int_equal(t->outcome, HOB_OUTCOME_ERROR);
    assert_str(hob_buf_str(&t->text), "too much is going on at once; try again");
}

static void test_tool_read__work_may_outlive_the_tools(void **state) {
    hob_test_tools *t = *state;
    put_lines(t, "a", 100000);
    hob_test_tool_start(t, "read", "{\"path\":\"a\",\"offset\":90000}");
    hob_reply_drop(t->reply);
    hob_builtins_destroy(t->builtins);
    t->builtins = NULL; /* the workspace is closed by the teardown, before the pool ends */
}

#define T(name) cmocka_unit_test_setup_teardown(name, hob_test_tools_setup, hob_test_tools_teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        T(test_tool_read__a_short_file_comes_whole),
        T(test_tool_read__2001_lines_are_2000_and_the_next_offset),
        T(test_tool_read__offset_and_limit_choose_lines),
        T(test_tool_read__limit_does_not_lift_the_ceiling),
        T(test_tool_read__an_offset_behind_the_end_is_an_error),
        T(test_tool_read__fifty_kib_are_whole_lines),
        T(test_tool_read__a_line_that_is_too_long_is_explained),
        T(test_tool_read__a_big_file_is_not_read_to_its_end),
        T(test_tool_read__an_empty_file_is_said_to_be),
        T(test_tool_read__bytes_that_are_not_utf8_are_shown_as_such),
        T(test_tool_read__binary_files_are_refused_with_a_hint),
        T(test_tool_read__a_nul_far_inside_is_binary_too),
        T(test_tool_read__images_are_known_by_their_first_bytes),
        T(test_tool_read__images_have_a_ceiling),
        T(test_tool_read__what_cannot_be_read_is_an_error),
        T(test_tool_read__a_sparse_file_is_no_trap),
        T(test_tool_read__is_read_only),
        T(test_tool_read__an_answer_nobody_waits_for_does_no_harm),
        T(test_tool_read__a_full_queue_is_an_error),
        T(test_tool_read__work_may_outlive_the_tools),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
