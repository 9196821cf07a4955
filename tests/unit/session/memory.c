/* Memory as a host sees it: the calls, the tenants, which sessions have one. */
#include "session/session.h"
#include "support/check.h"
#include "support/host.h"

#include <stdio.h>
#include <sys/stat.h>

static const char talk[] = "{'otherwise':[{'text':'hello'}]}";

static host h;

static int set_up(void **state) {
    (void)state;
    host_init(&h, talk);
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    host_finish(&h);
    return 0;
}

/* "m1 text; m2 text": what was found, in its order. */
static const char *texts(hob_page *p) {
    static char out[4096];
    out[0] = 0;
    for (size_t i = 0; i < hob_page_count(p); i++) {
        char text[512] = "";
        size_t n = strlen(out);
        hob_json_field(hob_page_row(p, i), "text", text, sizeof text);
        snprintf(out + n, sizeof out - n, "%s%s", i ? "; " : "", text);
    }
    hob_page_destroy(p);
    return out;
}

static const char *recalled(hob_memory *m, const char *query) {
    hob_memory_query q = HOB_MEMORY_QUERY_INIT;
    hob_page *p = NULL;
    q.text = hob_str_z(query);
    assert_ok(hob_memory_recall(m, &q, &p, &h.err), h.err);
    return texts(p);
}

static int remember(hob_memory *m, const char *text, char *id) {
    hob_memory_item item = HOB_MEMORY_ITEM_INIT;
    item.text = hob_str_z(text);
    int rc = hob_memory_remember(m, &item, id, &h.err);
    if (rc < 0) fail_msg("%s", h.err.message);
    return rc;
}

static const char *field(hob_page *p, const char *path) {
    static char out[512];
    out[0] = 0;
    if (hob_json_field(hob_page_row(p, 0), path, out, sizeof out) < 0) strcpy(out, "(none)");
    return out;
}

/* ---- the calls ------------------------------------------------------------------------------------------------- */

static void test_session_memory__an_item_comes_back_with_its_origin(void **state) {
    (void)state;
    static const char *const tags[] = {"Drinks", "home ", NULL};
    char id[HOB_MEMORY_ID_SIZE], session[160];
    hob_page *p = NULL;
    hob_memory_item item = HOB_MEMORY_ITEM_INIT;
    host_open(&h);
    hob_memory *m = hob_session_memory(h.s);
    hob_session_id(h.s, session, sizeof session);
    item.text = hob_str_z("  Likes green tea\n");
    item.kind = "Preference";
    item.tags = tags;
    item.importance = 0.75;
    assert_int_equal(hob_memory_remember(m, &item, id, &h.err), 1);
    assert_ok(hob_memory_get(m, id, &p, &h.err), h.err);
    assert_string_equal(field(p, "id"), id);
    assert_string_equal(field(p, "text"), "Likes green tea");
    assert_string_equal(field(p, "kind"), "preference");
    assert_string_equal(field(p, "tags.0"), "drinks");
    assert_string_equal(field(p, "tags.1"), "home");
    assert_string_equal(field(p, "importance"), "0.75");
    assert_string_equal(field(p, "by"), "host");
    assert_string_equal(field(p, "session"), session);
    hob_page_destroy(p);
    p = NULL;
    assert_ok(hob_memory_recall(m, NULL, &p, &h.err), h.err);
    assert_string_equal(field(p, "relevance"), "1");
    assert_int_equal(hob_page_count(p), 1);
    hob_page_destroy(p);
}

static void test_session_memory__the_same_text_is_one_item(void **state) {
    (void)state;
    static const char *const a[] = {"a", NULL}, *const b[] = {"b", NULL};
    char first[HOB_MEMORY_ID_SIZE], second[HOB_MEMORY_ID_SIZE];
    hob_page *p = NULL;
    hob_memory_item item = HOB_MEMORY_ITEM_INIT;
    host_open(&h);
    hob_memory *m = hob_session_memory(h.s);
    item.text = hob_str_z("tea");
    item.tags = a;
    item.importance = 0.9;
    assert_int_equal(hob_memory_remember(m, &item, first, &h.err), 1);
    item.tags = b;
    item.importance = 0.1;
    assert_int_equal(hob_memory_remember(m, &item, second, &h.err), 0);
    assert_string_equal(first, second);
    assert_ok(hob_memory_get(m, first, &p, &h.err), h.err);
    assert_string_equal(field(p, "tags"), "[\"a\",\"b\"]");
    assert_string_equal(field(p, "importance"), "0.9");
    hob_page_destroy(p);
}

static void test_session_memory__the_same_key_replaces(void **state) {
    (void)state;
    char first[HOB_MEMORY_ID_SIZE], second[HOB_MEMORY_ID_SIZE];
    hob_memory_item item = HOB_MEMORY_ITEM_INIT;
    host_open(&h);
    hob_memory *m = hob_session_memory(h.s);
    item.key = "editor";
    item.text = hob_str_z("uses vim");
    assert_int_equal(hob_memory_remember(m, &item, first, &h.err), 1);
    item.text = hob_str_z("uses emacs");
    assert_int_equal(hob_memory_remember(m, &item, second, &h.err), 0);
    assert_string_equal(first, second);
    assert_string_equal(recalled(m, "uses"), "uses emacs");
}

static void test_session_memory__forgetting(void **state) {
    (void)state;
    char id[HOB_MEMORY_ID_SIZE];
    host_open(&h);
    hob_memory *m = hob_session_memory(h.s);
    remember(m, "green tea", id);
    remember(m, "black tea", NULL);
    assert_ok(hob_memory_forget(m, id, &h.err), h.err);
    assert_int_equal(hob_memory_forget(m, id, &h.err), HOB_ENOENT);
    assert_int_equal(hob_memory_forget(m, "no such id!", &h.err), HOB_ENOENT);
    assert_int_equal(hob_memory_get(m, id, NULL, &h.err), HOB_ENOENT);
    assert_string_equal(recalled(m, "tea"), "black tea");
    assert_ok(hob_memory_clear(m, &h.err), h.err);
    assert_string_equal(recalled(m, ""), "");
}

static void test_session_memory__forgetting_by_tag_in_pieces(void **state) {
    (void)state;
    static const char *const old[] = {"old", NULL};
    char text[64];
    hob_memory_query q = HOB_MEMORY_QUERY_INIT;
    hob_memory_item item = HOB_MEMORY_ITEM_INIT;
    host_open(&h);
    hob_memory *m = hob_session_memory(h.s);
    item.tags = old;
    for (int i = 0; i < 230; i++) {
        snprintf(text, sizeof text, "number %d", i);
        item.text = hob_str_z(text);
        assert_int_equal(hob_memory_remember(m, &item, NULL, &h.err), 1);
    }
    remember(m, "stays", NULL);
    assert_int_equal(hob_memory_forget_where(m, &q, &h.err), HOB_EINVAL); /* what? */
    q.tags = old;
    assert_int_equal(hob_memory_forget_where(m, &q, &h.err), 230);
    assert_int_equal(hob_memory_forget_where(m, &q, &h.err), 0);
    assert_string_equal(recalled(m, ""), "stays");
}

static void test_session_memory__pages_and_stats(void **state) {
    (void)state;
    hob_memory_query q = HOB_MEMORY_QUERY_INIT;
    hob_page *p = NULL, *next = NULL;
    host_config(&h, "memory.max_items", "77");
    host_open(&h);
    hob_memory *m = hob_session_memory(h.s);
    assert_ok(hob_memory_stats(m, &p, &h.err), h.err);
    assert_string_equal(field(p, "items"), "0");
    assert_string_equal(field(p, "oldest"), "null");
    hob_page_destroy(p);
    remember(m, "one", NULL);
    remember(m, "two", NULL);
    remember(m, "three", NULL);
    q.order = HOB_MEMORY_RECENT;
    q.limit = 2;
    assert_ok(hob_memory_recall(m, &q, &p, &h.err), h.err);
    char cursor[64];
    snprintf(cursor, sizeof cursor, "%.*s", HOB_FMT(hob_page_next(p)));
    assert_string_equal(texts(p), "three; two");
    q.cursor = cursor;
    assert_ok(hob_memory_recall(m, &q, &next, &h.err), h.err);
    assert_string_equal(texts(next), "one");
    assert_ok(hob_memory_stats(m, &p, &h.err), h.err);
    assert_string_equal(field(p, "items"), "3");
    assert_string_equal(field(p, "bytes"), "11");
    assert_string_equal(field(p, "max_items"), "77");
    assert_string_equal(field(p, "app_name"), "hob");
    assert_string_equal(field(p, "user_id"), "local");
    hob_page_destroy(p);
}

static void test_session_memory__limits_are_typed_errors(void **state) {
    (void)state;
    static char big[HOB_MEMORY_TEXT_MAX + 2];
    memset(big, 'x', sizeof big - 1);
    hob_memory_item item = HOB_MEMORY_ITEM_INIT;
    hob_memory_query q = HOB_MEMORY_QUERY_INIT;
    hob_page *p = NULL;
    host_config(&h, "memory.max_items", "1");
    host_open(&h);
    hob_memory *m = hob_session_memory(h.s);
    item.text = hob_str_z(big);
    assert_int_equal(hob_memory_remember(m, &item, NULL, &h.err), HOB_ETOOBIG);
    item.text = hob_str_z(" \n");
    assert_int_equal(hob_memory_remember(m, &item, NULL, &h.err), HOB_EINVAL);
    item.text = hob_str_z("bell \a");
    assert_int_equal(hob_memory_remember(m, &item, NULL, &h.err), HOB_EINVAL);
    item.text = hob_str_z("tea");
    item.importance = 2;
    assert_int_equal(hob_memory_remember(m, &item, NULL, &h.err), HOB_EINVAL);
    remember(m, "tea", NULL);
    item.text = hob_str_z("more");
    item.importance = 0;
    assert_int_equal(hob_memory_remember(m, &item, NULL, &h.err), HOB_ELIMIT);
    assert_int_equal(remember(m, "tea", NULL), 0);
    q.text = hob_str_n(big, HOB_MEMORY_QUERY_MAX + 1);
    assert_int_equal(hob_memory_recall(m, &q, &p, &h.err), HOB_ETOOBIG);
    q.text = hob_str_z("tea");
    q.order = HOB_MEMORY_RECENT;
    assert_int_equal(hob_memory_recall(m, &q, &p, &h.err), HOB_EINVAL);
    q.order = HOB_MEMORY_BEST;
    q.limit = HOB_MEMORY_LIMIT_MAX + 1;
    assert_int_equal(hob_memory_recall(m, &q, &p, &h.err), HOB_ETOOBIG);
}

/* ---- tenants ----------------------------------------------------------------------------------------------------- */

static void test_session_memory__sec_53_ids_of_another_tenant_are_not_found(void **state) {
    (void)state;
    char id[HOB_MEMORY_ID_SIZE];
    hob_memory *other = NULL;
    hob_page *p = NULL;
    host_open(&h);
    hob_memory *m = hob_session_memory(h.s);
    remember(m, "secret plan", id);
    assert_ok(hob_memory_open(h.rt, NULL, "mallory", &other, &h.err), h.err);
    assert_int_equal(hob_memory_get(other, id, &p, &h.err), HOB_ENOENT);
    assert_int_equal(hob_memory_forget(other, id, &h.err), HOB_ENOENT);
    assert_string_equal(recalled(other, "secret plan"), "");
    assert_ok(hob_memory_clear(other, &h.err), h.err);
    assert_string_equal(recalled(m, "plan"), "secret plan");
    hob_memory_close(other);
    assert_ok(hob_memory_open(h.rt, NULL, NULL, &other, &h.err), h.err); /* the session's own */
    assert_string_equal(recalled(other, "plan"), "secret plan");
    hob_memory_close(other);
    assert_int_equal(hob_memory_open(h.rt, "", NULL, &other, &h.err), HOB_EINVAL);
}

/* ---- which sessions have one ----------------------------------------------------------------------------------- */

static bool offers(const char *tool) {
    return hob_tools_find(h.s->tools, hob_str_z(tool)) != NULL;
}

static void assert_none(void) {
    char text[64];
    assert_null(hob_session_memory(h.s));
    assert_false(offers("recall") || offers("remember") || offers("forget"));
    assert_int_equal(hob_session_init_warning(h.s, text, sizeof text), 0);
}

static void test_session_memory__it_is_there_by_default_and_can_be_turned_off(void **state) {
    (void)state;
    host_open(&h);
    assert_non_null(hob_session_memory(h.s));
    assert_true(offers("recall") && offers("remember") && offers("forget"));
    hob_session_close(h.s);
    h.so.flags = HOB_SESSION_NO_MEMORY;
    host_open(&h);
    assert_none();
    hob_session_close(h.s);
    h.so.flags = HOB_SESSION_NO_BUILTIN_TOOLS;
    host_open(&h);
    assert_non_null(hob_session_memory(h.s)); /* for the host alone */
    assert_false(offers("recall"));
    hob_session_close(h.s);
    h.so.flags = 0;
    h.so.choice = HOB_SESSION_IN_MEMORY; /* leaves nothing behind, and looks at nothing */
    host_open(&h);
    assert_none();
}

static void test_session_memory__the_configuration_turns_it_off(void **state) {
    (void)state;
    host_config(&h, "memory.enabled", "false");
    host_open(&h);
    assert_none();
}

static void test_session_memory__a_tool_of_the_host_keeps_its_name(void **state) {
    (void)state;
    int count = 0;
    hob_tool tool = host_tool("recall", HOB_TOOL_READ_ONLY, &count);
    h.so.tools = &tool;
    h.so.ntools = 1;
    host_open(&h);
    assert_ptr_equal(hob_tools_find(h.s->tools, HOB_STR("recall"))->user, &count);
    assert_true(offers("remember"));
}

static void test_session_memory__it_outlives_the_session_and_the_process(void **state) {
    (void)state;
    h.ro.store = "sqlite";
    host_open(&h);
    remember(hob_session_memory(h.s), "likes tea", NULL);
    host_close(&h);
    host_open(&h);
    assert_string_equal(recalled(hob_session_memory(h.s), "tea"), "likes tea");
}

static void test_session_memory__calls_inside_a_callback_are_refused(void **state) {
    (void)state;
    hob_memory_item item = HOB_MEMORY_ITEM_INIT;
    item.text = hob_str_z("tea");
    h.ro.loop = HOB_LOOP_HOST;
    host_open(&h);
    h.rt->depth++; /* as inside one */
    assert_int_equal(hob_memory_remember(hob_session_memory(h.s), &item, NULL, &h.err),
                     HOB_EDEADLK);
    h.rt->depth--;
    assert_int_equal(hob_memory_remember(hob_session_memory(h.s), &item, NULL, &h.err), 1);
}

/* ---- a memory that cannot be opened ------------------------------------------------------------------------------ */

static void test_session_memory__case_init_warning_the_session_works_without(void **state) {
    (void)state;
    char text[700], path[400], json[420];
    snprintf(path, sizeof path, "%s/folder.db", h.dir);
    assert_int_equal(mkdir(path, 0700), 0); /* a folder is no file */
    snprintf(json, sizeof json, "\"%s\"", path);
    host_config(&h, "memory.file", json);
    host_open(&h);
    assert_null(hob_session_memory(h.s));
    assert_true(hob_session_init_warning(h.s, text, sizeof text) > 0);
    assert_non_null(strstr(text, "this session has no memory"));
    assert_non_null(strstr(text, "folder.db"));
    assert_false(offers("recall"));
    assert_string_equal(host_prompt(&h, "go"), "completed");
    assert_string_equal(host_prompt(&h, "again"), "completed");
    assert_int_equal(host_count(&h, "warning"), 1);
}

static void test_session_memory__a_file_of_its_own(void **state) {
    (void)state;
    char json[420];
    snprintf(json, sizeof json, "\"%s/memory.db\"", h.dir);
    host_config(&h, "memory.file", json);
    host_open(&h); /* sessions are in memory and gone with the runtime */
    remember(hob_session_memory(h.s), "likes tea", NULL);
    host_close(&h);
    host_open(&h);
    assert_string_equal(recalled(hob_session_memory(h.s), "tea"), "likes tea");
}

#define T(name) cmocka_unit_test_setup_teardown(test_session_memory__##name, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        T(an_item_comes_back_with_its_origin),
        T(the_same_text_is_one_item),
        T(the_same_key_replaces),
        T(forgetting),
        T(forgetting_by_tag_in_pieces),
        T(pages_and_stats),
        T(limits_are_typed_errors),
        T(sec_53_ids_of_another_tenant_are_not_found),
        T(it_is_there_by_default_and_can_be_turned_off),
        T(the_configuration_turns_it_off),
        T(a_tool_of_the_host_keeps_its_name),
        T(it_outlives_the_session_and_the_process),
        T(calls_inside_a_callback_are_refused),
        T(case_init_warning_the_session_works_without),
        T(a_file_of_its_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
