/* A history without its beginning: what it is, what it refuses, and how it becomes whole again. */
#include "log/history.h"
#include "support/check.h"

#include <stdio.h>

enum { EVENTS_MAX = 400 };

/* A log of messages, kept so that it can be folded again from anywhere. */
typedef struct logbook {
    hob_event *at[EVENTS_MAX]; /* [seq - 1] */
    size_t n;
    uint64_t leaf;
} logbook;

static void add(logbook *b, hob_event_type type, uint64_t parent, const char *fmt, ...)
    HOB_PRINTF(4, 5);
static void add(logbook *b, hob_event_type type, uint64_t parent, const char *fmt, ...) {
    char entry[24], data[400];
    hob_draft d;
    hob_error err;
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(data, sizeof data, fmt, ap);
    va_end(ap);
    for (char *p = data; *p; p++)
        if (*p == '\'') *p = '"';
    hob_draft_init(&d, type);
    hob_buf_addz(&d.data, data);
    d.is_entry = type == HOB_EVENT_USER_MESSAGE || type == HOB_EVENT_ASSISTANT_MESSAGE;
    snprintf(entry, sizeof entry, "e%llu", (unsigned long long)parent);
    if (d.is_entry && parent) d.parent_entry = hob_str_z(entry);
    assert_ok(hob_event_encode(&d, HOB_STR("s"), b->n + 1, 0, &b->at[b->n], &err), err);
    hob_draft_finish(&d);
    b->n++;
    if (type == HOB_EVENT_BRANCH_MOVED)
        b->leaf = parent;
    else if (hob_event_type_of(b->at[b->n - 1]) != HOB_EVENT_TOOL_FINISHED)
        b->leaf = b->n;
}

static void say(logbook *b) {
    add(b, HOB_EVENT_USER_MESSAGE, b->leaf, "{'content':[%zu]}", b->n);
}

/* An answer with calls, and their results. */
static void call(logbook *b, unsigned calls, const char *stop) {
    size_t m = b->n + 1;
    char content[300] = "";
    for (unsigned k = 0; k < calls; k++)
        snprintf(content + strlen(content), sizeof content - strlen(content),
                 "%s{'type':'tool_call','call':'m%zu.%u'}", k ? "," : "", m, k);
    add(b, HOB_EVENT_ASSISTANT_MESSAGE, b->leaf,
        "{'message':'m%zu','model':'a/b','stop':'%s','content':[%s]}", m, stop, content);
    for (unsigned k = calls; k-- > 0;)
        add(b, HOB_EVENT_TOOL_FINISHED, 0, "{'call':'m%zu.%u','outcome':'ok','content':['r%u']}", m,
            k, k);
}

static void move_to(logbook *b, uint64_t entry) {
    add(b, HOB_EVENT_BRANCH_MOVED, entry, "{'to':'e%llu'}", (unsigned long long)entry);
}

static void logbook_finish(logbook *b) {
    for (size_t i = 0; i < b->n; i++) hob_event_unref(b->at[i]);
}

static int apply(hob_history *h, const hob_event *e) {
    hob_arena *a = hob_arena_create(0);
    int rc = hob_history_apply(h, e, hob_event_parse(e, a), NULL);
    hob_arena_destroy(a);
    return rc;
}

static hob_history *fold(const logbook *b, uint64_t from, const hob_cold *cold) {
    hob_history *h = hob_history_create();
    if (cold) {
        h->cold = *cold;
        h->bytes = cold->bytes;
    }
    for (size_t i = (size_t)from - 1; i < b->n; i++) assert_int_equal(apply(h, b->at[i]), HOB_OK);
    return h;
}

static void assert_alike(const hob_history *a, const hob_history *b) {
    assert_int_equal(hob_history_count(a), hob_history_count(b));
    assert_int_equal(hob_history_leaf(a), hob_history_leaf(b));
    assert_int_equal(a->bytes, b->bytes);
    for (size_t i = a->cold.count; i < hob_history_count(a); i++) {
        assert_int_equal(hob_history_role(a, i), hob_history_role(b, i));
        assert_true(hob_str_eq(hob_history_content(a, i), hob_history_content(b, i)));
        assert_int_equal(hob_history_results(a, i), hob_history_results(b, i));
        for (size_t k = 0; k < hob_history_results(a, i); k++)
            assert_true(hob_str_eq(hob_history_result_content(a, i, k),
                                   hob_history_result_content(b, i, k)));
    }
}

static void long_talk(logbook *b) {
    say(b);
    for (unsigned i = 0; i < 12; i++) {
        call(b, i % 4, i % 5 == 4 ? "aborted" : "tools");
        if (i % 3 == 0) say(b);
    }
}

static void test_log_history_cold__the_rest_folds_to_the_same(void **state) {
    logbook b = {.n = 0};
    size_t cut = 0;
    (void)state;
    long_talk(&b);
    hob_history *whole = fold(&b, 1, NULL);
    for (size_t count = 1; count < hob_history_count(whole); count++) {
        hob_cold cold;
        uint64_t from = hob_history_prefix(whole, count, UINT64_MAX, &cold);
        if (!from) continue;
        assert_int_equal(cold.count, count);
        hob_history *rest = fold(&b, from, &cold);
        assert_alike(rest, whole);
        assert_int_equal(hob_history_content(rest, 0).n, 0); /* what is cold cannot be sent */
        hob_history_destroy(rest);
        cut++;
    }
    assert_true(cut + 1 >= hob_history_count(whole) - 1);
    hob_history_destroy(whole);
    logbook_finish(&b);
}

static void test_log_history_cold__is_cut_again_further_on(void **state) {
    logbook b = {.n = 0};
    hob_cold first, second, at_once;
    (void)state;
    long_talk(&b);
    hob_history *whole = fold(&b, 1, NULL);
    hob_history *rest = fold(&b, hob_history_prefix(whole, 4, UINT64_MAX, &first), &first);
    uint64_t from = hob_history_prefix(rest, 9, UINT64_MAX, &second);
    assert_int_equal(from, hob_history_prefix(whole, 9, UINT64_MAX, &at_once));
    assert_memory_equal(&second, &at_once, sizeof second);
    assert_int_equal(hob_history_prefix(rest, 3, UINT64_MAX, &second), 0);
    hob_history_destroy(rest);
    hob_history_destroy(whole);
    logbook_finish(&b);
}

static void test_log_history_cold__is_cut_before_what_is_still_needed(void **state) {
    logbook b = {.n = 0};
    hob_cold cold;
    (void)state;
    for (int i = 0; i < 8; i++) say(&b);
    hob_history *whole = fold(&b, 1, NULL);
    assert_int_equal(hob_history_prefix(whole, 6, 4, &cold), 4);
    assert_int_equal(cold.count, 3);
    assert_int_equal(hob_history_prefix(whole, 6, 1, &cold), 0); /* nothing would be gone */
    assert_int_equal(hob_history_prefix(whole, 8, UINT64_MAX, &cold), 0);
    hob_history_destroy(whole);
    logbook_finish(&b);
}

static void test_log_history_cold__is_not_cut_where_branches_cross(void **state) {
    logbook b = {.n = 0};
    hob_cold cold;
    (void)state;
    for (int i = 0; i < 4; i++) say(&b);
    move_to(&b, 2);
    say(&b); /* e6 hangs on e2: 1 2 6 */
    say(&b);
    hob_history *whole = fold(&b, 1, NULL);
    assert_int_equal(hob_history_prefix(whole, 2, UINT64_MAX, &cold), 6);
    assert_int_equal(cold.leaf, 2);
    assert_int_equal(hob_history_prefix(whole, 1, UINT64_MAX, &cold), 2);
    move_to(&b, 3);
    say(&b);
    hob_history_destroy(whole);
    whole = fold(&b, 1, NULL); /* 1 2 3 9, and 7 hangs on 6, which hangs on 2 */
    assert_int_equal(hob_history_prefix(whole, 3, UINT64_MAX, &cold), 9);
    assert_int_equal(hob_history_prefix(whole, 2, UINT64_MAX, &cold), 3);
    hob_history_destroy(whole);
    logbook_finish(&b);
}

static void test_log_history_cold__a_call_without_result_stays(void **state) {
    logbook b = {.n = 0};
    hob_cold cold;
    (void)state;
    say(&b);
    add(&b, HOB_EVENT_ASSISTANT_MESSAGE, b.leaf,
        "{'message':'m2','model':'a/b','stop':'tools','content':[{'type':'tool_call','call':'m2.0'}]}");
    say(&b);
    say(&b);
    hob_history *whole = fold(&b, 1, NULL);
    assert_int_equal(hob_history_prefix(whole, 3, UINT64_MAX, &cold), 0);
    assert_int_equal(hob_history_prefix(whole, 1, UINT64_MAX, &cold), 2);
    hob_history_destroy(whole);
    logbook_finish(&b);
}

static void test_log_history_cold__refuses_what_needs_its_beginning(void **state) {
    logbook b = {.n = 0}, more = {.n = 0};
    hob_cold cold;
    (void)state;
    long_talk(&b);
    hob_history *whole = fold(&b, 1, NULL);
    hob_history *rest = fold(&b, hob_history_prefix(whole, 6, UINT64_MAX, &cold), &cold);
    more.n = b.n;
    add(&more, HOB_EVENT_USER_MESSAGE, 1, "{'content':[]}");
    add(&more, HOB_EVENT_USER_MESSAGE, 0, "{'content':[]}");
    add(&more, HOB_EVENT_TOOL_FINISHED, 0, "{'call':'m2.0','outcome':'ok','content':[]}");
    move_to(&more, 1);
    add(&more, HOB_EVENT_BRANCH_MOVED, 0, "{'to':''}");
    for (size_t i = b.n; i < more.n; i++) assert_int_equal(apply(rest, more.at[i]), HOB_ENOENT);
    assert_alike(rest, whole); /* and is what it was */
    hob_history_destroy(rest);
    hob_history_destroy(whole);
    for (size_t i = b.n; i < more.n; i++) hob_event_unref(more.at[i]);
    logbook_finish(&b);
}

static void test_log_history_cold__thaws_in_its_place(void **state) {
    logbook b = {.n = 0};
    hob_cold cold;
    (void)state;
    long_talk(&b);
    hob_history *whole = fold(&b, 1, NULL);
    hob_history *rest = fold(&b, hob_history_prefix(whole, 6, UINT64_MAX, &cold), &cold);
    rest->generation = 7;
    assert_true(hob_history_thaw(rest, fold(&b, 1, NULL)));
    assert_int_equal(rest->cold.count, 0);
    assert_int_equal(rest->generation, 7); /* what was encoded is still its beginning */
    assert_alike(rest, whole);
    assert_false(hob_history_thaw(rest, hob_history_create())); /* of another log */
    assert_alike(rest, whole);
    hob_history_destroy(rest);
    hob_history_destroy(whole);
    logbook_finish(&b);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_log_history_cold__the_rest_folds_to_the_same),
        cmocka_unit_test(test_log_history_cold__is_cut_again_further_on),
        cmocka_unit_test(test_log_history_cold__is_cut_before_what_is_still_needed),
        cmocka_unit_test(test_log_history_cold__is_not_cut_where_branches_cross),
        cmocka_unit_test(test_log_history_cold__a_call_without_result_stays),
        cmocka_unit_test(test_log_history_cold__refuses_what_needs_its_beginning),
        cmocka_unit_test(test_log_history_cold__thaws_in_its_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
