/*
 * What every store promises of memory: remember, recall, forget, clear, tenants. Run on each of them.
 */
#include "store/request.h"
#include "support/stores.h"

#include <stdio.h>
#include <stdlib.h>

typedef struct opener {
    const char *name;
    hob_store *(*open)(rig *r, const char *owner_name);
    bool durable;
} opener;

static const opener openers[] = {
    {"memory", rig_memory, false},
    {"sqlite", rig_sqlite, true},
};

static const opener *using;
static rig r;
static hob_store *s;

static int set_up(void **state) {
    (void)state;
    rig_init_fast(&r);
    s = using->open(&r, "first");
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    s->ops->close(s);
    rig_finish(&r);
    return 0;
}

static const hob_store_memory_query of_u = {.app = {"app", 3}, .user = {"u", 1}, .now_ms = 1000};

/* The ids found, in their order. */
static void assert_found(const char *expected) {
    char got[4000] = "";
    if (r.last.code < 0) fail_msg("%s", r.last.err.message);
    for (size_t i = 0; i < r.last.n; i++) {
        size_t n = strlen(got);
        snprintf(got + n, sizeof(got) - n, "%s%.*s", i ? " " : "", HOB_FMT(r.last.memories[i].id));
    }
    assert_string_equal(got, expected);
}

static void assert_recalled(const char *query, const char *expected) {
    rig_recall_text(&r, s, query);
    assert_found(expected);
}

static void remember(const char *id, const char *text) {
    assert_int_equal(rig_remember_text(&r, s, id, text), 0);
}

static const hob_str two_tags[] = {{"Tea & Co", 8}, {"home", 4}};
static hob_store_memory full(void) {
    return (hob_store_memory){.id = HOB_STR("m1"),
                              .text = HOB_STR("Green tea at 80 degrees"),
                              .kind = HOB_STR("preference"),
                              .by = HOB_STR("model"),
                              .session = HOB_STR("s-1"),
                              .run = HOB_STR("r-1"),
                              .tags = two_tags,
                              .ntags = 2,
                              .importance = 0.8,
                              .created_ms = 500,
                              .updated_ms = 900};
}

/* ---- remembering --------------------------------------------------------------------------- */

static void test_store_recall__an_item_comes_back_whole(void **state) {
    (void)state;
    hob_store_memory m = full();
    assert_int_equal(rig_remember(&r, s, "u", &m), 0);
    hob_store_memory_query q = of_u;
    q.id = HOB_STR("m1");
    assert_int_equal(rig_memories(&r, s, &q), 0);
    const hob_store_memory *got = r.last.memories;
    assert_int_equal(r.last.n, 1);
    assert_str(got->id, "m1");
    assert_str(got->text, "Green tea at 80 degrees");
    assert_str(got->kind, "preference");
    assert_str(got->by, "model");
    assert_str(got->session, "s-1");
    assert_str(got->run, "r-1");
    assert_int_equal(got->ntags, 2);
    assert_str(got->tags[0], "Tea & Co");
    assert_str(got->tags[1], "home");
    assert_true(got->importance == 0.8);
    assert_int_equal(got->created_ms, 500);
    assert_int_equal(got->updated_ms, 900);
}

static void test_store_recall__the_same_id_replaces_and_keeps_its_birthday(void **state) {
    (void)state;
    hob_store_memory m = full();
    assert_int_equal(rig_remember(&r, s, "u", &m), 0);
    m.text = HOB_STR("Black coffee");
    m.created_ms = m.updated_ms = 2000;
    assert_int_equal(rig_remember(&r, s, "u", &m), 0);
    assert_recalled("tea", "");
    assert_recalled("coffee", "m1");
    assert_int_equal(r.last.memories[0].created_ms, 500);
    assert_int_equal(r.last.memories[0].updated_ms, 2000);
    assert_int_equal(r.last.stats.items, 1);
    assert_int_equal(r.last.stats.bytes, 12);
}

static void test_store_recall__a_repeated_change_changes_nothing(void **state) {
    (void)state;
    remember("a", "one fact");
    remember("a", "one fact");
    assert_recalled("fact", "a");
    assert_int_equal(r.last.stats.items, 1);
}

static void test_store_recall__the_same_text_is_found(void **state) {
    (void)state;
    remember("a", "one fact");
    remember("b", "one fact more");
    hob_store_memory_query q = of_u;
    q.same = HOB_STR("one fact");
    assert_int_equal(rig_memories(&r, s, &q), 0);
    assert_found("a");
    q.same = HOB_STR("one  fact");
    assert_int_equal(rig_memories(&r, s, &q), 0);
    assert_found("");
}

static void test_store_recall__wrong_and_too_large_is_refused(void **state) {
    (void)state;
    static char big[HOB_STORE_MEMORY_MAX + 1];
    memset(big, 'x', sizeof(big));
    hob_store_memory m = full();
    m.text = hob_str_n(big, sizeof(big));
    assert_int_equal(rig_remember(&r, s, "u", &m), HOB_ETOOBIG);
    m = full();
    m.text = HOB_STR("");
    assert_int_equal(rig_remember(&r, s, "u", &m), HOB_EINVAL);
    m.text = HOB_STR("a\xff");
    assert_int_equal(rig_remember(&r, s, "u", &m), HOB_EINVAL);
    m = full();
    m.id = HOB_STR("no id");
    assert_int_equal(rig_remember(&r, s, "u", &m), HOB_EINVAL);
    m = full();
    m.importance = 1.5;
    assert_int_equal(rig_remember(&r, s, "u", &m), HOB_EINVAL);
    m = full();
    m.ntags = 17;
    hob_str many[17];
    for (size_t i = 0; i < 17; i++) many[i] = HOB_STR("t");
    m.tags = many;
    assert_int_equal(rig_remember(&r, s, "u", &m), HOB_ETOOBIG);
    m = full();
    assert_int_equal(rig_remember(&r, s, "", &m), HOB_EINVAL);
    assert_recalled("", "");
}

static void test_store_recall__the_longest_text_is_found_by_its_last_word(void **state) {
    (void)state;
    static char big[HOB_STORE_MEMORY_MAX + 1];
    for (size_t i = 0; i < HOB_STORE_MEMORY_MAX; i++) big[i] = i % 2 ? ' ' : "abcdefgh"[i / 2 % 8];
    memcpy(big + HOB_STORE_MEMORY_MAX - 6, " zebra", 6);
    remember("a", big);
    assert_recalled("zebra", "a");
    assert_int_equal(rig_forget(&r, s, "u", "a"), 0);
    assert_recalled("zebra", "");
}

static void test_store_recall__a_full_memory_says_so(void **state) {
    (void)state;
    hob_store_memory_change c = {HOB_STORE_REMEMBER, HOB_STR("app"), HOB_STR("u"), full(),
                                 .max_items = 1};
    assert_int_equal(rig_change(&r, s, &c, 1), 0);
    assert_int_equal(rig_change(&r, s, &c, 1), 0); /* it is there already */
    c.item.id = HOB_STR("m2");
    assert_int_equal(rig_change(&r, s, &c, 1), HOB_ELIMIT);
    assert_non_null(strstr(r.last.err.message, "forget something"));
    assert_int_equal(rig_forget(&r, s, "u", "m1"), 0);
    assert_int_equal(rig_change(&r, s, &c, 1), 0);
}

/* ---- recalling ----------------------------------------------------------------------------- */

static void test_store_recall__any_shared_word_whatever_its_case(void **state) {
    (void)state;
    remember("a", "The user prefers Green tea");
    remember("b", "Deploys run on Friday");
    remember("c", "Le CAFÉ est à Zürich");
    assert_recalled("GREEN", "a");
    assert_recalled("friday or tea?", "b a");
    assert_recalled("cafe zurich", "c");
    assert_recalled("nothing of this", "");
}

static void test_store_recall__more_and_rarer_words_come_first(void **state) {
    (void)state;
    remember("a", "build with make");
    remember("b", "build with make and ninja");
    remember("c", "build by hand");
    remember("d", "build again");
    assert_recalled("build ninja make", "b a d c");
    assert_true(r.last.memories[0].relevance == 1);
    assert_true(r.last.memories[1].relevance > r.last.memories[2].relevance);
}

static void test_store_recall__important_and_new_come_first(void **state) {
    (void)state;
    const int64_t day = 24 * 3600 * 1000;
    hob_store_memory m = {.text = HOB_STR("tea"), .importance = 0.5, .updated_ms = 100 * day};
    m.id = HOB_STR("new");
    rig_remember(&r, s, "u", &m);
    m.id = HOB_STR("old");
    m.text = HOB_STR("a tea");
    m.updated_ms = 1;
    rig_remember(&r, s, "u", &m);
    m.id = HOB_STR("important");
    m.text = HOB_STR("the tea");
    m.importance = 1;
    rig_remember(&r, s, "u", &m);
    hob_store_memory_query q = of_u;
    q.query = HOB_STR("tea");
    q.now_ms = 100 * day;
    assert_int_equal(rig_memories(&r, s, &q), 0);
    assert_found("important new old");
    q.query = HOB_STR("");
    assert_int_equal(rig_memories(&r, s, &q), 0);
    assert_found("important new old");
    q.limit = 2;
    assert_int_equal(rig_memories(&r, s, &q), 0);
    assert_found("important new");
}

static void test_store_recall__query_text_is_no_syntax(void **state) {
    (void)state;
    static const char *const queries[] = {
        "\"",
        "'",
        "*",
        "^",
        "te*",
        "NEAR(",
        "NOT",
        "AND OR NOT",
        "\"tea\" OR",
        "terms:tea",
        "tea\" OR \"coffee",
        "a AND (b",
        "-tea",
        "{tea}",
        "tea; DROP TABLE memory",
        "%",
        "\\",
        "0w",
        "1wtea",
        "tea + NEAR(x, 3)",
        ": : :",
        "\"\"\"\"",
        "~",
        "\x01\x02",
        "(",
        ")))",
    };
    remember("a", "tea");
    remember("b", "coffee");
    for (size_t i = 0; i < HOB_ARRAY_LEN(queries); i++) {
        bool tea = strstr(queries[i], "tea") && !strstr(queries[i], "1w");
        bool both = strstr(queries[i], "coffee") != NULL;
        assert_recalled(queries[i], both ? "b a" : tea ? "a" : "");
    }
}

static void test_store_recall__unicode_and_scripts_without_spaces(void **state) {
    (void)state;
    remember("a", "我喜欢喝咖啡");
    remember("b", "Он любит ЧАЙ 🍵");
    remember("c", "\xd9\x82\xd9\x87\xd9\x88\xd8\xa9"); /* Arabic */
    assert_recalled("咖啡", "a");
    assert_recalled("чай", "b");
    assert_recalled("\xd9\x82\xd9\x87\xd9\x88\xd8\xa9", "c");
    assert_recalled("🍵", "");
}

static void test_store_recall__a_query_may_be_empty_or_long(void **state) {
    (void)state;
    static char query[HOB_STORE_QUERY_MAX + 2];
    remember("a", "tea");
    memset(query, 0, sizeof(query));
    memset(query, 'x', HOB_STORE_QUERY_MAX);
    memcpy(query, "tea ", 4);
    assert_recalled(query, "a");
    for (size_t i = 0; i < HOB_STORE_QUERY_MAX; i++) query[i] = "q "[i % 2];
    memcpy(query, "tea ", 4);
    assert_recalled(query, "a");
    query[HOB_STORE_QUERY_MAX] = 'x';
    assert_int_equal(rig_recall_text(&r, s, query), HOB_ETOOBIG);
    assert_recalled("", "a");
    assert_recalled("  \n", "");
}

static void test_store_recall__tags_kind_author_and_session_narrow(void **state) {
    (void)state;
    hob_store_memory m = full();
    rig_remember(&r, s, "u", &m);
    m.id = HOB_STR("m2");
    m.text = HOB_STR("Black tea");
    m.ntags = 1;
    m.kind = HOB_STR("fact");
    m.by = HOB_STR("host");
    m.session = HOB_STR("s-2");
    rig_remember(&r, s, "u", &m);
    hob_store_memory_query q = of_u;
    q.tags = two_tags;
    q.ntags = 1;
    rig_memories(&r, s, &q);
    assert_found("m2 m1");
    q.ntags = 2;
    rig_memories(&r, s, &q);
    assert_found("m1");
    q.query = HOB_STR("black tea");
    rig_memories(&r, s, &q);
    assert_found("m1");
    q = of_u;
    q.kind = HOB_STR("fact");
    rig_memories(&r, s, &q);
    assert_found("m2");
    q = of_u;
    q.by = HOB_STR("model");
    rig_memories(&r, s, &q);
    assert_found("m1");
    q = of_u;
    q.session = HOB_STR("s-2");
    rig_memories(&r, s, &q);
    assert_found("m2");
    q.kind = HOB_STR("preference");
    rig_memories(&r, s, &q);
    assert_found("");
}

static void test_store_recall__a_tag_is_no_word_and_a_word_no_tag(void **state) {
    (void)state;
    static const hob_str tea[] = {{"tea", 3}};
    hob_store_memory m = {.id = HOB_STR("a"), .text = HOB_STR("coffee"), .tags = tea, .ntags = 1};
    rig_remember(&r, s, "u", &m);
    remember("b", "tea");
    assert_recalled("tea", "b");
    hob_store_memory_query q = of_u;
    q.tags = tea;
    q.ntags = 1;
    rig_memories(&r, s, &q);
    assert_found("a");
}

static void test_store_recall__pages_from_the_newest(void **state) {
    (void)state;
    char id[16];
    for (int i = 0; i < 7; i++) {
        snprintf(id, sizeof(id), "m%d", i);
        remember(id, i % 2 ? "odd" : "even");
    }
    remember("m0", "even"); /* again: now it is the newest */
    hob_store_memory_query q = of_u;
    q.recent = 1;
    q.limit = 3;
    rig_memories(&r, s, &q);
    assert_found("m0 m6 m5");
    q.cursor = r.last.next;
    rig_memories(&r, s, &q);
    assert_found("m4 m3 m2");
    q.cursor = r.last.next;
    rig_memories(&r, s, &q);
    assert_found("m1");
    assert_int_equal(r.last.next.n, 0);
    q.cursor = HOB_STR("nonsense");
    assert_int_equal(rig_memories(&r, s, &q), HOB_EINVAL);
}

/* What is found among very many: the newest with a common word, and all with a rare one. */
static void test_store_recall__a_rare_word_is_found_among_many(void **state) {
    (void)state;
    enum { MANY = 3000 };
    static hob_store_memory_change c[MANY];
    static char ids[MANY][16], texts[MANY][40];
    for (int i = 0; i < MANY; i++) {
        snprintf(ids[i], sizeof(ids[i]), "m%d", i);
        snprintf(texts[i], sizeof(texts[i]), "common%s %d", i == 7 ? " rare" : "", i);
        c[i] = (hob_store_memory_change){HOB_STORE_REMEMBER, of_u.app, of_u.user, full(), 0};
        c[i].item.id = hob_str_z(ids[i]);
        c[i].item.text = hob_str_z(texts[i]);
    }
    assert_int_equal(rig_change(&r, s, c, MANY), 0);
    hob_store_memory_query q = of_u;
    q.query = HOB_STR("the common and rare");
    q.limit = 2;
    rig_memories(&r, s, &q);
    assert_found("m7 m2999");
    assert_int_equal(r.last.stats.items, MANY);
}

/* ---- forgetting ---------------------------------------------------------------------------- */

static void test_store_recall__what_is_forgotten_is_not_found(void **state) {
    (void)state;
    remember("a", "green tea");
    remember("b", "black tea");
    assert_int_equal(rig_forget(&r, s, "u", "a"), 0);
    assert_int_equal(rig_forget(&r, s, "u", "a"), 0); /* twice is fine */
    assert_recalled("tea", "b");
    assert_int_equal(r.last.stats.items, 1);
    assert_int_equal(r.last.stats.bytes, 9);
    hob_store_memory_query q = of_u;
    q.id = HOB_STR("a");
    assert_int_equal(rig_memories(&r, s, &q), HOB_ENOENT);
}

static void test_store_recall__clear_takes_everything_of_one_tenant(void **state) {
    (void)state;
    char id[16];
    hob_store_memory m = full();
    for (int i = 0; i < 300; i++) {
        snprintf(id, sizeof(id), "m%d", i);
        remember(id, "tea");
    }
    rig_remember(&r, s, "v", &m);
    hob_store_memory_change c = {.op = HOB_STORE_CLEAR, .app = of_u.app, .user = of_u.user};
    assert_int_equal(rig_change(&r, s, &c, 1), 0);
    assert_recalled("tea", "");
    assert_int_equal(r.last.stats.items, 0);
    remember("m1", "new tea");
    assert_recalled("tea", "m1");
    hob_store_memory_query q = of_u;
    q.user = HOB_STR("v");
    q.query = HOB_STR("tea");
    rig_memories(&r, s, &q);
    assert_found("m1");
    assert_str(r.last.memories[0].text, "Green tea at 80 degrees");
}

/* ---- tenants ------------------------------------------------------------------------------- */

static void test_store_recall__sec_53_tenants_never_see_each_other(void **state) {
    (void)state;
    static const struct {
        const char *app, *user;
    } tenants[] = {{"app", "u"}, {"app", "v"}, {"other", "u"}, {"ap", "pu"}, {"app", "U"}};
    char text[64];
    for (size_t i = 0; i < HOB_ARRAY_LEN(tenants); i++) {
        snprintf(text, sizeof(text), "secret number %zu", i);
        hob_store_memory_change c = {HOB_STORE_REMEMBER, hob_str_z(tenants[i].app),
                                     hob_str_z(tenants[i].user), full(), 0};
        c.item.id = i ? HOB_STR("same") : HOB_STR("first");
        c.item.text = hob_str_z(text);
        assert_int_equal(rig_change(&r, s, &c, 1), 0);
    }
    for (size_t i = 0; i < HOB_ARRAY_LEN(tenants); i++) {
        hob_store_memory_query q = {.app = hob_str_z(tenants[i].app),
                                    .user = hob_str_z(tenants[i].user)};
        q.query = HOB_STR("secret number 0 1 2 3 4");
        assert_int_equal(rig_memories(&r, s, &q), 0);
        snprintf(text, sizeof(text), "secret number %zu", i);
        assert_int_equal(r.last.n, 1);
        assert_str(r.last.memories[0].text, text);
        assert_int_equal(r.last.stats.items, 1);
        q.id = i ? HOB_STR("first") : HOB_STR("same"); /* another tenant's */
        assert_int_equal(rig_memories(&r, s, &q), HOB_ENOENT);
    }
    assert_int_equal(rig_forget(&r, s, "v", "first"), 0); /* not its own: nothing happens */
    assert_recalled("secret", "first");
}

static void test_store_recall__nobody_has_remembered_anything(void **state) {
    (void)state;
    assert_recalled("tea", "");
    assert_recalled("", "");
    assert_int_equal(rig_forget(&r, s, "u", "a"), 0);
    hob_store_memory_change c = {.op = HOB_STORE_CLEAR, .app = of_u.app, .user = of_u.user};
    assert_int_equal(rig_change(&r, s, &c, 1), 0);
}

static void test_store_recall__stats_know_the_oldest_and_the_newest(void **state) {
    (void)state;
    hob_store_memory m = full();
    rig_remember(&r, s, "u", &m);
    remember("b", "tea");
    assert_recalled("", "m1 b");
    assert_int_equal(r.last.stats.items, 2);
    assert_int_equal(r.last.stats.bytes, 26);
    assert_int_equal(r.last.stats.oldest_ms, 900);
    assert_int_equal(r.last.stats.newest_ms, 1000);
}

/* ---- with events --------------------------------------------------------------------------- */

static int commit_both(uint64_t after, const char *id, size_t max_items) {
    hob_store_event e = {.seq = after + 1, .json = HOB_STR("{}")};
    hob_store_append a = {.session = HOB_STR("a"), .epoch = 1, .after_seq = after};
    hob_store_memory_change c = {HOB_STORE_REMEMBER, of_u.app, of_u.user, full(), max_items};
    c.item.id = hob_str_z(id);
    a.events = &e;
    a.nevents = 1;
    hob_store_batch b = {.appends = &a, .nappends = 1, .memory = &c, .nmemory = 1};
    answer_finish(&r.last);
    s->ops->commit(s, &b, on_done, &r.last);
    rig_wait(&r, &r.last);
    return r.last.code;
}

static void test_store_recall__a_commit_has_both_or_neither(void **state) {
    (void)state;
    rig_own(&r, s, "a", HOB_OWN_CREATE);
    assert_int_equal(commit_both(0, "m1", 0), 0);
    assert_int_equal(commit_both(7, "m2", 0), HOB_EEXIST); /* events do not fit: no memory */
    assert_recalled("tea", "m1");
    assert_int_equal(commit_both(1, "m3", 1), HOB_ELIMIT); /* no room: no event */
    assert_int_equal(rig_read(&r, s, "a", 0), 0);
    assert_int_equal(r.last.n, 1);
    assert_int_equal(commit_both(1, "m3", 2), 0);
    assert_recalled("tea", "m3 m1");
}

static void test_store_recall__removing_a_session_keeps_what_it_taught(void **state) {
    (void)state;
    rig_own(&r, s, "a", HOB_OWN_CREATE);
    assert_int_equal(commit_both(0, "m1", 0), 0);
    assert_int_equal(rig_release(&r, s, "a", 1), 0);
    assert_int_equal(rig_remove(&r, s, "a"), 0);
    assert_recalled("tea", "m1");
}

static void test_store_recall__survives_closing(void **state) {
    (void)state;
    if (!using->durable) return; /* it forgets by its nature */
    remember("a", "tea");
    s->ops->close(s);
    s = using->open(&r, "second");
    assert_recalled("tea", "a");
}

#define T(name) cmocka_unit_test_setup_teardown(test_store_recall__##name, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        T(an_item_comes_back_whole),
        T(the_same_id_replaces_and_keeps_its_birthday),
        T(a_repeated_change_changes_nothing),
        T(the_same_text_is_found),
        T(wrong_and_too_large_is_refused),
        T(the_longest_text_is_found_by_its_last_word),
        T(a_full_memory_says_so),
        T(any_shared_word_whatever_its_case),
        T(more_and_rarer_words_come_first),
        T(important_and_new_come_first),
        T(query_text_is_no_syntax),
        T(unicode_and_scripts_without_spaces),
        T(a_query_may_be_empty_or_long),
        T(tags_kind_author_and_session_narrow),
        T(a_tag_is_no_word_and_a_word_no_tag),
        T(pages_from_the_newest),
        T(a_rare_word_is_found_among_many),
        T(what_is_forgotten_is_not_found),
        T(clear_takes_everything_of_one_tenant),
        T(sec_53_tenants_never_see_each_other),
        T(nobody_has_remembered_anything),
        T(stats_know_the_oldest_and_the_newest),
        T(a_commit_has_both_or_neither),
        T(removing_a_session_keeps_what_it_taught),
        T(survives_closing),
    };
    int failed = 0;
    for (size_t i = 0; i < HOB_ARRAY_LEN(openers); i++) {
        using = &openers[i];
        failed += cmocka_run_group_tests_name(using->name, tests, NULL, NULL);
    }
    return failed;
}
