/*
 * Sessions are found by the words of their messages and titles: on every store the same. And how SQLite keeps its index.
 */
#include "store/sqlite.h"
#include "support/stores.h"

#include <stdio.h>

static hob_store *(*open_store)(rig *r, const char *owner_name);
static rig r;
static hob_store *s;

static int set_up(void **state) {
    (void)state;
    rig_init(&r);
    s = open_store(&r, "finder");
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    s->ops->close(s);
    rig_finish(&r);
    return 0;
}

static void make(const char *id, const char *user, const char *title) {
    hob_store_session row = {.id = hob_str_z(id),
                             .app = HOB_STR("app"),
                             .user = hob_str_z(user),
                             .title = hob_str_z(title)};
    row.created_ms = row.updated_ms = 500;
    assert_int_equal(rig_own_row(&r, s, HOB_OWN_CREATE, &row), 0);
}

static int64_t minute = 0;

/* A message, a minute after the one before. */
static void say(const char *session, uint64_t seq, const char *type, const char *text) {
    char time[25], line[2000];
    hob_time_format(1000000 + 60000 * ++minute, time);
    snprintf(line, sizeof(line),
             "{\"v\":1,\"seq\":%llu,\"ts\":\"%.24s\",\"type\":\"%s\",\"session_id\":\"%s\","
             "\"entry\":\"e%llu\",\"data\":{\"content\":[{\"type\":\"text\",\"text\":\"%s\"}]}}",
             (unsigned long long)seq, time, type, session, (unsigned long long)seq, text);
    assert_int_equal(rig_append(&r, s, session, seq - 1, hob_str_z(line)), 0);
}

/* "SESSION:SEQ" of what is found, in pages. */
static void assert_found(const char *user, const char *words, const char *expected) {
    hob_store_search q = {
        .app = HOB_STR("app"), .user = hob_str_z(user), .query = hob_str_z(words), .limit = 2};
    hob_buf got;
    hob_buf_init(&got, 1 << 20);
    do {
        assert_int_equal(rig_search(&r, s, &q), 0);
        for (size_t i = 0; i < r.last.n; i++)
            hob_buf_addf(&got, " %.*s:%llu", (int)r.last.hits[i].session.id.n,
                         r.last.hits[i].session.id.p, (unsigned long long)r.last.hits[i].seq);
        q.cursor = r.last.next;
    } while (q.cursor.n);
    assert_string_equal(hob_buf_z(&got), expected);
    hob_buf_finish(&got);
}

static void talk(void) {
    make("a", "ann", "Fixing the boiler");
    say("a", 1, "user_message", "The boiler makes a strange noise");
    say("a", 2, "assistant_message", "Old boilers do that. Is there caf\\u00e9 nearby?");
    make("b", "ann", "");
    say("b", 1, "user_message", "Write a poem about noise");
    say("b", 2, "tool_finished", "the noise of tools is not looked at");
    say("b", 3, "steer_delivered", "about rain and noise, please");
}

static void test_store_search__all_words_in_one_message_newest_first(void **state) {
    (void)state;
    talk();
    assert_found("ann", "noise", " b:3 b:1 a:1");
    assert_found("ann", "strange NOISE", " a:1");
    assert_found("ann", "poem rain", "");          /* both, but not together */
    assert_found("ann", "boiler", " a:2 a:1 a:0"); /* plural, and the title */
    assert_found("ann", "cafe near", " a:2");      /* accents; the last word may go on */
    assert_found("ann", "caf nearby", "");         /* only the last */
    assert_found("ann", "tools", "");
}

static void test_store_search__what_is_shown(void **state) {
    (void)state;
    talk();
    hob_store_search q = {
        .app = HOB_STR("app"), .user = HOB_STR("ann"), .query = HOB_STR("strange")};
    assert_int_equal(rig_search(&r, s, &q), 0);
    assert_int_equal(r.last.n, 1);
    const hob_store_hit *h = r.last.hits;
    assert_str(h->role, "user");
    assert_str(h->snippet, "The boiler makes a strange noise");
    assert_str(h->session.title, "Fixing the boiler");
    assert_str(h->session.user, "ann");
    q.query = HOB_STR("fixing");
    assert_int_equal(rig_search(&r, s, &q), 0);
    assert_str(r.last.hits->role, "title");
    assert_int_equal(r.last.hits->seq, 0);
}

static void test_store_search__a_snippet_is_short_and_whole(void **state) {
    (void)state;
    char text[1500] = "";
    for (int i = 0; i < 60; i++) strcat(text, "Gr\xC3\xBC\xC3\x9F\x65 "); /* 8 bytes each */
    strcat(text, "needle\\n\\n");
    for (int i = 0; i < 60; i++) strcat(text, "\xE6\x97\xA5 ");
    make("a", "ann", "");
    say("a", 1, "user_message", text);
    hob_store_search q = {
        .app = HOB_STR("app"), .user = HOB_STR("ann"), .query = HOB_STR("needle")};
    assert_int_equal(rig_search(&r, s, &q), 0);
    hob_str snippet = r.last.hits->snippet;
    assert_true(snippet.n <= 210);
    assert_true(hob_utf8_valid(snippet));
    assert_true(hob_str_find(snippet, HOB_STR("needle")) > 0);
    assert_true(hob_str_starts(snippet, HOB_STR("…")) && hob_str_ends(snippet, HOB_STR("…")));
    assert_true(hob_str_find(snippet, HOB_STR("\n")) < 0);
}

static void test_store_search__tenants_see_their_own(void **state) {
    (void)state;
    talk();
    make("e", "eve", "noise");
    say("e", 1, "user_message", "my own noise");
    assert_found("eve", "noise", " e:1 e:0");
    assert_found("ann", "own", "");
    assert_found("nobody", "noise", "");
}

static void test_store_search__sees_what_was_said_before_it(void **state) {
    (void)state;
    talk();
    assert_found("ann", "noise", " b:3 b:1 a:1");
    say("a", 3, "user_message", "more noise");
    assert_found("ann", "noise", " a:3 b:3 b:1 a:1");
    hob_store_session title = {.title = HOB_STR("Silence")};
    title.created_ms = title.updated_ms = title.messages = -1;
    hob_store_append a = {.session = HOB_STR("a"), .epoch = 1, .after_seq = 3, .row = &title};
    assert_int_equal(rig_commit(&r, s, &a, 1), 0);
    assert_found("ann", "silence", " a:0");
    assert_found("ann", "fixing", ""); /* the title it had */
}

static void test_store_search__what_is_removed_is_not_found(void **state) {
    (void)state;
    talk();
    assert_found("ann", "noise", " b:3 b:1 a:1");
    assert_int_equal(rig_release(&r, s, "b", 1), 0);
    assert_int_equal(rig_remove(&r, s, "b"), 0);
    assert_found("ann", "noise", " a:1");
    make("b", "ann", ""); /* the id again */
    say("b", 1, "user_message", "quiet");
    assert_found("ann", "noise", " a:1");
    assert_found("ann", "quiet", " b:1");
}

static void test_store_search__wrong_questions(void **state) {
    (void)state;
    hob_store_search q = {.app = HOB_STR("app"), .user = HOB_STR("ann")};
    const char *empty[] = {"", " ", "!?\" * -- ()"};
    for (size_t i = 0; i < HOB_ARRAY_LEN(empty); i++) {
        q.query = hob_str_z(empty[i]);
        assert_int_equal(rig_search(&r, s, &q), HOB_EINVAL);
    }
    q.query = HOB_STR("x");
    q.cursor = HOB_STR("nonsense");
    assert_int_equal(rig_search(&r, s, &q), HOB_EINVAL);
    q.cursor = q.user = HOB_STR_NULL;
    assert_int_equal(rig_search(&r, s, &q), HOB_EINVAL);
    /* words of the index's own language are words */
    talk();
    assert_found("ann", "noise\" OR \"boiler", "");
    assert_found("ann", "NOT NEAR(noise) AND *", "");
}

static void test_store_search__events_that_cannot_be_read_are_passed_over(void **state) {
    (void)state;
    make("a", "ann", "");
    assert_int_equal(rig_append(&r, s, "a", 0, HOB_STR("no event at all, noise")), 0);
    say("a", 2, "user_message", "noise");
    assert_found("ann", "noise", " a:2");
}

static void test_store_search__many_events(void **state) {
    (void)state;
    hob_store_event *events = hob_alloc(5000 * sizeof(*events));
    make("a", "ann", "");
    for (size_t i = 0; i < 5000; i++) {
        char line[400];
        snprintf(line, sizeof(line),
                 "{\"v\":1,\"seq\":%zu,\"ts\":\"2026-01-01T00:%02zu:%02zu.000Z\",\"type\":"
                 "\"user_message\",\"session_id\":\"a\",\"data\":{\"content\":[{\"type\":\"text\","
                 "\"text\":\"common number%zu\"}]}}",
                 i + 1, i / 60 % 60, i % 60, i + 1);
        events[i] = (hob_store_event){i + 1, hob_str_z(hob_dupz(hob_str_z(line)))};
    }
    hob_store_append a = {.session = HOB_STR("a"), .epoch = 1, .events = events, .nevents = 5000};
    assert_int_equal(rig_commit(&r, s, &a, 1), 0);
    assert_found("ann", "number4711", " a:4711");
    hob_store_search q = {.app = HOB_STR("app"), .user = HOB_STR("ann"), .limit = 1000};
    q.query = HOB_STR("common");
    size_t n = 0;
    do {
        assert_int_equal(rig_search(&r, s, &q), 0);
        n += r.last.n;
        q.cursor = r.last.next;
    } while (q.cursor.n);
    assert_int_equal(n, 5000);
    for (size_t i = 0; i < 5000; i++) hob_free((void *)events[i].json.p);
    hob_free(events);
}

/* ---- SQLite -------------------------------------------------------------------------------- */

static int64_t sql(const char *text) {
    sqlite3 *db;
    sqlite3_stmt *st;
    int64_t n = -1;
    assert_int_equal(sqlite3_open(r.path, &db), SQLITE_OK);
    const char *rest = text;
    while (*rest) {
        if (sqlite3_prepare_v2(db, rest, -1, &st, &rest) != SQLITE_OK)
            fail_msg("%s: %s", text, sqlite3_errmsg(db));
        if (sqlite3_step(st) == SQLITE_ROW) n = sqlite3_column_int64(st, 0);
        sqlite3_finalize(st);
    }
    sqlite3_close(db);
    return n;
}

static void test_store_search__sqlite_writes_nothing_until_somebody_searches(void **state) {
    (void)state;
    talk();
    assert_int_equal(sql("SELECT count(*) FROM search_doc"), 0);
    assert_found("ann", "noise", " b:3 b:1 a:1");
    assert_int_equal(sql("SELECT count(*) FROM search_doc"), 5);
}

static void test_store_search__sqlite_clears_away_what_is_removed(void **state) {
    (void)state;
    talk();
    make("e", "eve", "kept");
    assert_found("eve", "kept", " e:0");
    assert_found("ann", "noise", " b:3 b:1 a:1");
    for (int i = 0; i < 2; i++) {
        assert_int_equal(rig_release(&r, s, i ? "b" : "a", 1), 0);
        assert_int_equal(rig_remove(&r, s, i ? "b" : "a"), 0);
    }
    s->ops->close(s);
    s = open_store(&r, "keeper"); /* clears away what is left */
    for (int i = 0; i < 2000 && sql("SELECT count(*) FROM trash"); i++)
        assert_int_equal(rig_own(&r, s, "e", HOB_OWN_READ), 0);
    assert_int_equal(sql("SELECT count(*) FROM search_doc"), 1);
    assert_int_equal(sql("SELECT count(*) FROM search_head"), 1);
    sql("INSERT INTO search_terms(search_terms) VALUES('integrity-check')");
    assert_int_equal(sql("SELECT count(*) FROM search_terms WHERE search_terms MATCH '1wnoise'"),
                     0);
}

static void test_store_search__sqlite_finds_what_an_older_file_has(void **state) {
    (void)state;
    talk();
    s->ops->close(s);
    sql(RIG_DROP_SEARCH "PRAGMA user_version = 7");
    s = open_store(&r, "newer");
    assert_found("ann", "noise", " b:3 b:1 a:1");
}

static void test_store_search__sqlite_uses_indices(void **state) {
    (void)state;
    const int reads[] = {HOB_SQL_SEARCH_TENANT,  HOB_SQL_SEARCH_BEHIND,    HOB_SQL_SEARCH_DOC,
                         HOB_SQL_SEARCH_DOCS_OF, HOB_SQL_SEARCH_TITLE_DOC, HOB_SQL_EVENT_ONE};
    sqlite3 *db;
    sqlite3_stmt *st;
    talk();
    assert_int_equal(sqlite3_open_v2(r.path, &db, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
    for (size_t i = 0; i < HOB_ARRAY_LEN(reads); i++) {
        char text[1500];
        snprintf(text, sizeof(text), "EXPLAIN QUERY PLAN %s", hob_sqlite_sql(reads[i]));
        assert_int_equal(sqlite3_prepare_v2(db, text, -1, &st, NULL), SQLITE_OK);
        while (sqlite3_step(st) == SQLITE_ROW) {
            const char *step = (const char *)sqlite3_column_text(st, 3);
            if (strstr(step, "SCAN") || strstr(step, "TEMP B-TREE")) fail_msg("%s: %s", text, step);
        }
        sqlite3_finalize(st);
    }
    sqlite3_close(db);
}

#define T(name) cmocka_unit_test_setup_teardown(test_store_search__##name, set_up, tear_down)
#define ALL                                                                                        \
    T(all_words_in_one_message_newest_first), T(what_is_shown), T(a_snippet_is_short_and_whole),   \
        T(tenants_see_their_own), T(sees_what_was_said_before_it),                                 \
        T(what_is_removed_is_not_found), T(wrong_questions),                                       \
        T(events_that_cannot_be_read_are_passed_over), T(many_events)

int main(void) {
    const struct CMUnitTest every[] = {ALL};
    const struct CMUnitTest sqlite[] = {ALL, T(sqlite_writes_nothing_until_somebody_searches),
                                        T(sqlite_clears_away_what_is_removed),
                                        T(sqlite_finds_what_an_older_file_has),
                                        T(sqlite_uses_indices)};
    open_store = rig_memory;
    int failed = cmocka_run_group_tests_name("memory", every, NULL, NULL);
    open_store = rig_sqlite;
    return failed + cmocka_run_group_tests_name("sqlite", sqlite, NULL, NULL);
}
