/* Opening a session of several pages: the next page is fetched while one is folded, also when folding fails. */
#include "store/sqlite.h"
#include "support/check.h"
#include "support/host.h"

#include <stdio.h>
#include <stdlib.h>

#define PROMPTS 350 /* of six events each: three pages */

static char id[64];

static void make_long_session(host *r) {
    host_init(r, "{'otherwise':[{'text':'hello there'}]}");
    r->ro.store = "sqlite";
    host_open(r);
    hob_session_id(r->s, id, sizeof id);
    for (int i = 0; i < PROMPTS; i++) assert_string_equal(host_prompt(r, "again"), "completed");
    host_close(r);
    r->so.choice = HOB_SESSION_OPEN;
    r->so.id = id;
}

/* Puts other text in the place of an event, as something outside hob might. */
static void replace_event(host *r, int seq, const char *json, bool with_sum) {
    sqlite3 *db;
    char sql[256];
    int sum = with_sum ? hob_sqlite_sum((uint64_t)seq, hob_str_z(json)) : 0;
    assert_int_equal(sqlite3_open(hob_test_path(&r->folder, "hob.db"), &db), SQLITE_OK);
    snprintf(sql, sizeof sql, "UPDATE event SET body = '%s', sum = %d WHERE seq = %d", json, sum,
             seq);
    assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_changes(db), 1);
    sqlite3_close(db);
}

static void assert_open_fails(host *r, int code) {
    assert_int_equal(hob_runtime_create(&r->ro, &r->rt, &r->err), HOB_OK);
    assert_int_equal(hob_session_create(r->rt, &r->so, &r->s, &r->err), code);
    assert_true(strlen(r->err.message) > 10);
}

static void test_session_load__pages_are_folded_in_order(void **state) {
    host r;
    hob_page *info;
    (void)state;
    make_long_session(&r);
    host_open(&r);
    assert_ok(hob_session_info(r.s, &info, &r.err), r.err);
    hob_arena *a = hob_arena_create(0);
    const hob_json *v;
    assert_int_equal(hob_json_parse(a, hob_page_row(info, 0), NULL, &v, NULL), HOB_OK);
    assert_int_equal(hob_json_get_int(v, "last_seq", 0), 1 + 6 * PROMPTS);
    hob_arena_destroy(a);
    hob_page_destroy(info);
    assert_string_equal(host_prompt(&r, "again"), "completed");
    host_finish(&r);
}

static void test_session_load__a_damaged_page_is_an_error(void **state) {
    host r;
    (void)state;
    make_long_session(&r);
    replace_event(&r, 1500, "{}", false);
    assert_open_fails(&r, HOB_ESTORE);
    host_finish(&r);
}

static void test_session_load__an_unreadable_event_is_an_error_while_a_page_is_on_its_way(
    void **state) {
    host r;
    (void)state;
    make_long_session(&r);
    replace_event(&r, 500, "{}", true);
    assert_open_fails(&r, HOB_EPARSE);
    host_finish(&r);
}

int main(void) {
    unsetenv("HOB_TEST_SNAPSHOTS"); /* what a snapshot stands for is not read */
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_session_load__pages_are_folded_in_order),
        cmocka_unit_test(test_session_load__a_damaged_page_is_an_error),
        cmocka_unit_test(
            test_session_load__an_unreadable_event_is_an_error_while_a_page_is_on_its_way),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
