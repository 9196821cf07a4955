/* A conversation as messages of one event, however large it is. */
#include <hob/agui_project.h>

#include "support/agui.h"
#include "support/check.h"

#include "session/session.h"

#include <stdio.h>

#define Z(text) hob_str_z(text)

static hob_error err;

/* What a user said, `n` bytes of it. */
static void add_said(hob_page *page, int i, size_t n) {
    hob_buf b;
    hob_buf_init(&b, n + 1000);
    hob_buf_addf(
        &b,
        "{\"v\":1,\"seq\":%d,\"ts\":\"2026-01-01T00:00:00.000Z\",\"type\":\"user_message\","
        "\"session_id\":\"s\",\"entry\":\"e%d\",\"data\":{\"content\":[{\"type\":\"text\","
        "\"text\":\"",
        i, i);
    memset(hob_buf_reserve(&b, n), 'x', n);
    b.n += n;
    hob_buf_addz(&b, "\"}]}}");
    hob_page_add(page, hob_buf_str(&b));
    hob_buf_finish(&b);
}

static hob_page *conversation(int messages, size_t each) {
    hob_page *page = hob_page_create();
    for (int i = 1; i <= messages; i++) add_said(page, i, each);
    return page;
}

static const hob_json *told(hob_arena *a, const hob_page *page, int wanted) {
    hob_agui_json *j;
    const hob_json *messages;
    assert_int_equal(hob_agui_messages(page, HOB_AGUI_1_0, &j, &err), wanted);
    assert_true(hob_agui_json_text(j).n < (10u << 20) - 1000);
    hob_str text = hob_arena_dup(a, hob_agui_json_text(j));
    hob_agui_json_destroy(j);
    assert_ok(hob_json_parse(a, text, NULL, &messages, &err), err);
    return messages;
}

static size_t length_of(const hob_json *messages, size_t i) {
    return hob_json_get_str(hob_json_at(messages, i), "content").n;
}

static void test_agui_thread__what_fits_is_told_whole(void **state) {
    (void)state;
    hob_arena *a = hob_arena_create(0);
    hob_page *page = conversation(9, 1 << 20);
    const hob_json *all = told(a, page, 0);
    assert_int_equal(hob_json_count(all), 9);
    assert_int_equal(length_of(all, 0), 1 << 20);
    hob_page_destroy(page);
    hob_arena_destroy(a);
}

static void test_agui_thread__what_is_old_is_told_in_brief(void **state) {
    (void)state;
    hob_arena *a = hob_arena_create(0);
    hob_page *page = conversation(12, 1 << 20);
    const hob_json *all = told(a, page, 1);
    assert_int_equal(hob_json_count(all), 12);
    assert_true(length_of(all, 0) < 10000);
    assert_str(hob_json_get_str(hob_json_at(all, 0), "id"), "e1");
    assert_int_equal(length_of(all, 11), 1 << 20);
    hob_page_destroy(page);
    hob_arena_destroy(a);
}

static void test_agui_thread__of_very_much_the_last_is_told(void **state) {
    (void)state;
    hob_arena *a = hob_arena_create(0);
    hob_page *page = conversation(3000, 8000);
    const hob_json *all = told(a, page, 1);
    size_t n = hob_json_count(all);
    assert_in_range(n, 100, 2000);
    assert_str(hob_json_get_str(hob_json_at(all, n - 1), "id"), "e3000");
    hob_page_destroy(page);
    hob_arena_destroy(a);
}

/* One that is larger than an event alone. */
static void test_agui_thread__a_huge_message_is_cut(void **state) {
    (void)state;
    hob_arena *a = hob_arena_create(0);
    hob_page *page = conversation(2, 12 << 20);
    const hob_json *all = told(a, page, 1);
    assert_int_equal(hob_json_count(all), 2);
    assert_true(length_of(all, 1) < 10000);
    hob_page_destroy(page);
    hob_arena_destroy(a);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_agui_thread__what_fits_is_told_whole),
        cmocka_unit_test(test_agui_thread__what_is_old_is_told_in_brief),
        cmocka_unit_test(test_agui_thread__of_very_much_the_last_is_told),
        cmocka_unit_test(test_agui_thread__a_huge_message_is_cut),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
