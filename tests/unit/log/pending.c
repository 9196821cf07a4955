/* A result that takes the place of a receipt. */
#include "log/history.h"
#include "support/check.h"

#include <stdio.h>

static void apply(hob_history *h, uint64_t seq, hob_event_type type, const char *data) {
    hob_error err;
    hob_event *e;
    hob_draft d;
    char parent[24];
    hob_draft_init(&d, type);
    d.is_entry = type == HOB_EVENT_USER_MESSAGE || type == HOB_EVENT_ASSISTANT_MESSAGE;
    snprintf(parent, sizeof parent, "e%llu", (unsigned long long)hob_history_leaf(h));
    if (d.is_entry && hob_history_leaf(h)) d.parent_entry = hob_str_z(parent);
    hob_buf_addz(&d.data, data);
    assert_ok(hob_event_encode(&d, HOB_STR("s"), seq, 1, &e, &err), err);
    hob_draft_finish(&d);
    hob_arena *a = hob_arena_create(0);
    assert_ok(hob_history_apply(h, e, hob_event_parse(e, a), &err), err);
    hob_arena_destroy(a);
    hob_event_unref(e);
}

#define CALL "{\"type\":\"tool_call\",\"call\":\"m2.0\",\"name\":\"t\",\"args\":{}}"
#define TEXT(x) "\"content\":[{\"type\":\"text\",\"text\":\"" x "\"}]"

/* A question, a call with a receipt, another question and its answer. */
static hob_history *begin(void) {
    hob_history *h = hob_history_create();
    apply(h, 1, HOB_EVENT_USER_MESSAGE, "{" TEXT("buy") "}");
    apply(h, 2, HOB_EVENT_ASSISTANT_MESSAGE, "{\"message\":\"m2\",\"content\":[" CALL "]}");
    apply(h, 3, HOB_EVENT_TOOL_FINISHED,
          "{\"call\":\"m2.0\",\"outcome\":\"ok\",\"pending\":true," TEXT("ticket") "}");
    apply(h, 4, HOB_EVENT_USER_MESSAGE, "{" TEXT("well?") "}");
    apply(h, 5, HOB_EVENT_ASSISTANT_MESSAGE, "{\"message\":\"m5\"," TEXT("soon") "}");
    return h;
}

static void update(hob_history *h, uint64_t seq, const char *final, const char *outcome,
                   const char *text) {
    char data[300];
    snprintf(data, sizeof data,
             "{\"call\":\"m2.0\",\"outcome\":\"%s\",\"final\":%s,"
             "\"content\":[{\"type\":\"text\",\"text\":\"%s\"}]}",
             outcome, final, text);
    apply(h, seq, HOB_EVENT_TOOL_UPDATED, data);
}

static void test_log_pending__takes_the_place_of_the_receipt(void **state) {
    hob_history *h = begin();
    uint64_t generation = h->generation;
    size_t bytes = h->bytes;
    (void)state;
    update(h, 6, "false", "ok", "half way");
    assert_str(hob_history_result_content(h, 1, 0), "[{\"type\":\"text\",\"text\":\"half way\"}]");
    assert_true(h->generation != generation); /* what was encoded of it is void */
    generation = h->generation;
    update(h, 7, "true", "error", "a longer story");
    assert_str(hob_history_result_content(h, 1, 0),
               "[{\"type\":\"text\",\"text\":\"a longer story\"}]");
    assert_true(h->generation != generation);
    assert_true(hob_history_result_failed(h, 1, 0));
    assert_int_equal(h->bytes, bytes + strlen("a longer story") - strlen("ticket"));
    assert_int_equal(hob_history_count(h), 4);
    hob_history_destroy(h);
}

static void test_log_pending__the_last_word_stands(void **state) {
    hob_history *h = begin();
    (void)state;
    update(h, 6, "true", "ok", "a parcel");
    uint64_t generation = h->generation;
    update(h, 7, "true", "ok", "another");
    assert_str(hob_history_result_content(h, 1, 0), "[{\"type\":\"text\",\"text\":\"a parcel\"}]");
    assert_true(h->generation == generation);
    hob_history_destroy(h);
}

static void test_log_pending__a_result_is_no_receipt(void **state) {
    hob_history *h = hob_history_create();
    const hob_node *n;
    hob_error err;
    (void)state;
    apply(h, 1, HOB_EVENT_USER_MESSAGE, "{" TEXT("buy") "}");
    apply(h, 2, HOB_EVENT_ASSISTANT_MESSAGE, "{\"message\":\"m2\",\"content\":[" CALL "]}");
    assert_int_equal(hob_history_pending(h, HOB_STR("m2.0"), &n, &err), HOB_ENOENT); /* at work */
    apply(h, 3, HOB_EVENT_TOOL_FINISHED, "{\"call\":\"m2.0\",\"outcome\":\"ok\"," TEXT("it") "}");
    assert_int_equal(hob_history_pending(h, HOB_STR("m2.0"), &n, &err), HOB_EEXIST);
    update(h, 4, "true", "ok", "another");
    assert_str(hob_history_result_content(h, 1, 0), "[{\"type\":\"text\",\"text\":\"it\"}]");
    hob_history_destroy(h);
}

static void test_log_pending__waits_only_on_the_path(void **state) {
    hob_history *h = begin();
    const hob_node *n;
    hob_error err;
    (void)state;
    assert_int_equal(hob_history_pending(h, HOB_STR("m2.0"), &n, &err), HOB_OK);
    assert_int_equal(n->seq, 2);
    assert_int_equal(hob_history_pending(h, HOB_STR("m2.1"), &n, &err), HOB_ENOENT);
    assert_int_equal(hob_history_pending(h, HOB_STR("m5.0"), &n, &err), HOB_ENOENT);
    apply(h, 6, HOB_EVENT_BRANCH_MOVED, "{\"to\":\"e1\"}");
    assert_int_equal(hob_history_pending(h, HOB_STR("m2.0"), &n, &err), HOB_ENOENT);
    hob_history_destroy(h);
}

/* An update needs the message of its call: it must not be among those that a snapshot leaves out. */
static void test_log_pending__stays_in_memory(void **state) {
    hob_history *h = begin();
    hob_cold cold;
    (void)state;
    assert_int_equal(hob_history_prefix(h, 3, UINT64_MAX, &cold), 0);
    update(h, 6, "true", "ok", "a parcel");
    assert_int_equal(hob_history_prefix(h, 3, UINT64_MAX, &cold), 0); /* folded behind the cut */
    apply(h, 7, HOB_EVENT_USER_MESSAGE, "{" TEXT("thanks") "}");
    assert_int_equal(hob_history_prefix(h, 4, UINT64_MAX, &cold), 7);
    hob_history_destroy(h);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_log_pending__takes_the_place_of_the_receipt),
        cmocka_unit_test(test_log_pending__the_last_word_stands),
        cmocka_unit_test(test_log_pending__a_result_is_no_receipt),
        cmocka_unit_test(test_log_pending__waits_only_on_the_path),
        cmocka_unit_test(test_log_pending__stays_in_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
