/* The conversation: a tree, and the path through it. */
#include "support/check.h"
#include "support/tell.h"

#include <stdio.h>

#define CALLS                                                                                         \
    "{'message':'m2','model':'lab/one','stop':'tools','content':[{'type':'tool_call','call':'m2.0'}," \
    "{'type':'tool_call','call':'m2.1'}]}"

static void test_log_history__grows_with_each_message(void **state) {
    (void)state;
    tell t;
    tell_init(&t);
    tell_event(&t, "user_message", "", "{'content':[1]}");
    tell_event(&t, "assistant_message", "e1",
               "{'message':'m1','model':'lab/one','stop':'done','content':[2]}");
    tell_event(&t, "steer_delivered", "e2", "{'item':'q1','content':[3]}");
    assert_string_equal(tell_path(&t), "1:user [1] 2:assistant [2] 3:user [3]");
    assert_str(hob_history_model(t.view->history, 1), "lab/one");
    assert_int_equal(hob_history_generation(t.view->history), 0);
    assert_int_equal(hob_history_leaf(t.view->history), 3);
    tell_finish(&t);
}

static void test_log_history__results_stand_in_the_order_of_their_calls(void **state) {
    (void)state;
    tell t;
    tell_init(&t);
    tell_event(&t, "user_message", "", "{'content':[]}");
    tell_event(&t, "assistant_message", "e1", CALLS);
    tell_event(&t, "tool_finished", NULL, "{'call':'m2.1','outcome':'ok','content':['B']}");
    tell_event(&t, "tool_finished", NULL, "{'call':'m2.0','outcome':'denied','content':['A']}");
    assert_non_null(strstr(tell_path(&t), "'m2.1'}] !['A'] >['B']"));
    assert_int_equal(hob_history_generation(t.view->history), 0);
    tell_finish(&t);
}

static void test_log_history__first_result_of_a_call_counts(void **state) {
    (void)state;
    tell t;
    tell_init(&t);
    tell_event(&t, "assistant_message", "", CALLS);
    tell_event(&t, "tool_finished", NULL,
               "{'call':'m2.0','outcome':'unknown','content':['first']}");
    tell_event(&t, "tool_finished", NULL, "{'call':'m2.0','outcome':'ok','content':['second']}");
    assert_non_null(strstr(tell_path(&t), " !['first'] !["));
    tell_finish(&t);
}

static void test_log_history__results_of_no_call_are_passed_over(void **state) {
    (void)state;
    static const char *const calls[] = {
        "",      "m2", "m2.", "m2.2", "m2.-1", "m2.x", ".0", "m3.0", "m2.99999999999999999999",
        "m2.0.0"};
    tell t;
    tell_init(&t);
    tell_event(&t, "assistant_message", "", CALLS);
    for (size_t i = 0; i < HOB_ARRAY_LEN(calls); i++) {
        char data[120];
        snprintf(data, sizeof(data), "{'call':'%s','outcome':'ok','content':[]}", calls[i]);
        tell_event(&t, "tool_finished", NULL, data);
    }
    assert_null(t.view->history->nodes[0].results[0].event);
    assert_null(t.view->history->nodes[0].results[1].event);
    tell_finish(&t);
}

/* Nobody asks a model then; if somebody does, what it sees is valid. */
static void test_log_history__call_without_result_says_so(void **state) {
    (void)state;
    tell t;
    tell_init(&t);
    tell_event(&t, "assistant_message", "", CALLS);
    assert_non_null(strstr(tell_path(&t), " ![{'type':'text','text':'no result was recorded'}]"));
    tell_finish(&t);
}

static void test_log_history__cut_off_answer_is_not_seen_again(void **state) {
    (void)state;
    tell t;
    tell_init(&t);
    tell_event(&t, "user_message", "", "{'content':[1]}");
    tell_event(&t, "assistant_message", "e1", "{'message':'m1','stop':'aborted','content':[2]}");
    tell_event(&t, "user_message", "e2", "{'content':[3]}");
    assert_string_equal(tell_path(&t), "1:user [1] 3:user [3]");
    assert_int_equal(t.view->history->nnodes, 3);
    assert_int_equal(hob_history_find(t.view->history, 1)->seq, 1);
    assert_true(hob_history_find(t.view->history, 2)->aborted);
    assert_null(hob_history_find(t.view->history, 9));
    tell_finish(&t);
}

static void test_log_history__branch_moved_goes_on_from_another_entry(void **state) {
    (void)state;
    tell t;
    tell_init(&t);
    tell_event(&t, "user_message", "", "{'content':[1]}");
    tell_event(&t, "assistant_message", "e1", "{'message':'m1','stop':'done','content':[2]}");
    tell_event(&t, "user_message", "e2", "{'content':[3]}");
    uint64_t before = hob_history_generation(t.view->history);
    tell_event(&t, "branch_moved", NULL, "{'to':'e2','from':'e3'}");
    assert_string_equal(tell_path(&t), "1:user [1] 2:assistant [2]");
    assert_int_not_equal(hob_history_generation(t.view->history), before);
    tell_event(&t, "user_message", "e2", "{'content':[5]}");
    assert_string_equal(tell_path(&t), "1:user [1] 2:assistant [2] 5:user [5]");
    tell_event(&t, "branch_moved", NULL, "{'to':'e3'}");
    assert_string_equal(tell_path(&t), "1:user [1] 2:assistant [2] 3:user [3]");
    tell_event(&t, "branch_moved", NULL, "{'to':''}");
    assert_string_equal(tell_path(&t), "");
    assert_int_equal(hob_history_leaf(t.view->history), 0);
    tell_event(&t, "user_message", "", "{'content':[8]}");
    assert_string_equal(tell_path(&t), "8:user [8]");
    tell_finish(&t);
}

static void test_log_history__cannot_move_to_what_is_not_there(void **state) {
    (void)state;
    static const char *const wrong[] = {"{'to':'e9'}", "{'to':'1'}", "{'to':'e'}", "{'to':'e-1'}",
                                        "{'to':'e0'}"};
    tell t;
    tell_init(&t);
    tell_event(&t, "user_message", "", "{'content':[1]}");
    for (size_t i = 0; i < HOB_ARRAY_LEN(wrong); i++)
        assert_int_equal(tell_event(&t, "branch_moved", NULL, wrong[i]), HOB_ENOENT);
    assert_string_equal(tell_path(&t), "1:user [1]");
    tell_finish(&t);
}

static void test_log_history__only_messages_move_the_head(void **state) {
    (void)state;
    tell t;
    tell_init(&t);
    tell_event(&t, "user_message", "", "{'content':[1]}");
    tell_event(&t, "note", NULL, "{'kind':'k','text':'t'}");
    tell_event(&t, "label_set", NULL, "{'target':'e1','label':'l'}");
    tell_event(&t, "warning", NULL, "{'code':'c','text':'t'}");
    tell_event(&t, "run_finished", NULL, "{'status':'completed'}");
    assert_int_equal(hob_history_leaf(t.view->history), 1);
    tell_finish(&t);
}

/* What a newer version hung between two messages does not cut them apart. */
static void test_log_history__entries_of_unknown_kinds_keep_their_place(void **state) {
    (void)state;
    tell t;
    tell_init(&t);
    tell_event(&t, "user_message", "", "{'content':[1]}");
    tell_event(&t, "dream_dreamt", "e1", "{'content':[2]}");
    tell_event(&t, "user_message", "e2", "{'content':[3]}");
    assert_string_equal(tell_path(&t), "1:user [1] 3:user [3]");
    tell_event(&t, "branch_moved", NULL, "{'to':'e2'}");
    assert_string_equal(tell_path(&t), "1:user [1]");
    tell_finish(&t);
}

static void test_log_history__parent_that_is_not_there_makes_a_root(void **state) {
    (void)state;
    tell t;
    tell_init(&t);
    tell_event(&t, "user_message", "", "{'content':[1]}");
    tell_event(&t, "user_message", "e77", "{'content':[2]}");
    assert_string_equal(tell_path(&t), "2:user [2]");
    tell_finish(&t);
}

static void test_log_history__content_is_an_array_always(void **state) {
    (void)state;
    tell t;
    tell_init(&t);
    tell_event(&t, "user_message", "", "{}");
    tell_event(&t, "user_message", "e1", "{'content':'text'}");
    tell_event(&t, "user_message", "e2", "{'content':{'type':'text'}}");
    assert_string_equal(tell_path(&t), "1:user [] 2:user [] 3:user []");
    tell_finish(&t);
}

/* ---- weight ----------------------------------------------------------------------------------- */

static size_t weigh_path(const hob_history *h) {
    size_t sum = 0;
    for (size_t i = 0; i < h->npath; i++) {
        const hob_node *n = &h->nodes[h->path[i]];
        sum += n->weight;
        for (size_t k = 0; k < n->nresults; k++) sum += n->results[k].weight;
    }
    return sum;
}

static void test_log_history__weighs_what_is_on_the_path(void **state) {
    (void)state;
    tell t;
    tell_init(&t);
    tell_event(&t, "user_message", "", "{'content':[{'type':'text','text':'abc'}]}");
    assert_int_equal(t.view->history->bytes, 2 + 28 + 1);
    tell_event(&t, "assistant_message", "e1", CALLS);
    size_t before = t.view->history->bytes;
    tell_event(&t, "tool_finished", NULL, "{'call':'m2.0','outcome':'ok','content':['A']}");
    assert_int_equal(t.view->history->bytes, before + 2 + 3 + 1);
    assert_int_equal(t.view->history->bytes, weigh_path(t.view->history));
    tell_event(&t, "branch_moved", NULL, "{'to':'e1'}");
    assert_int_equal(t.view->history->bytes, 2 + 28 + 1);
    tell_event(&t, "tool_finished", NULL, "{'call':'m2.1','outcome':'ok','content':['late']}");
    assert_int_equal(t.view->history->bytes, 2 + 28 + 1);
    tell_event(&t, "branch_moved", NULL, "{'to':'e2'}");
    assert_int_equal(t.view->history->bytes, weigh_path(t.view->history));
    tell_finish(&t);
}

static void test_log_history__weighs_an_image_by_what_models_make_of_it(void **state) {
    (void)state;
    tell t;
    tell_init(&t);
    tell_event(&t, "user_message", "",
               "{'content':[{'type':'image','media_type':'image/png','data':'QUJD'}]}");
    assert_int_equal(t.view->history->bytes, 2 + 6400);
    tell_finish(&t);
}

/* ---- a tree by chance against a plain walk ------------------------------------------------------ */

static void test_log_history__path_is_the_walk_from_the_leaf(void **state) {
    (void)state;
    uint64_t dice = 42;
    tell t;
    tell_init(&t);
    for (int i = 0; i < 3000; i++) {
        const hob_history *h = t.view->history;
        char parent[24] = "", data[80];
        dice = dice * 6364136223846793005u + 1442695040888963407u;
        unsigned roll = (unsigned)(dice >> 33);
        if (h->nnodes && roll % 16) {
            size_t back = roll % 4 ? 0 : (roll >> 8) % h->nnodes;
            uint64_t seq = roll % 4 ? hob_history_leaf(h) : h->nodes[back].seq;
            snprintf(parent, sizeof(parent), "e%llu", (unsigned long long)seq);
        }
        snprintf(data, sizeof(data), "{'content':[%d],'stop':'%s'}", i,
                 roll % 5 ? "done" : "aborted");
        tell_event(&t, roll % 2 ? "user_message" : "assistant_message", parent, data);
        size_t at = h->npath;
        for (ptrdiff_t n = h->leaf; n >= 0; n = h->nodes[n].parent) {
            if (h->nodes[n].aborted) continue;
            assert_true(at > 0);
            assert_int_equal(h->path[--at], n);
        }
        assert_int_equal(at, 0);
        assert_int_equal(h->bytes, weigh_path(h));
    }
    tell_finish(&t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_log_history__grows_with_each_message),
        cmocka_unit_test(test_log_history__results_stand_in_the_order_of_their_calls),
        cmocka_unit_test(test_log_history__first_result_of_a_call_counts),
        cmocka_unit_test(test_log_history__results_of_no_call_are_passed_over),
        cmocka_unit_test(test_log_history__call_without_result_says_so),
        cmocka_unit_test(test_log_history__cut_off_answer_is_not_seen_again),
        cmocka_unit_test(test_log_history__branch_moved_goes_on_from_another_entry),
        cmocka_unit_test(test_log_history__cannot_move_to_what_is_not_there),
        cmocka_unit_test(test_log_history__only_messages_move_the_head),
        cmocka_unit_test(test_log_history__entries_of_unknown_kinds_keep_their_place),
        cmocka_unit_test(test_log_history__parent_that_is_not_there_makes_a_root),
        cmocka_unit_test(test_log_history__content_is_an_array_always),
        cmocka_unit_test(test_log_history__weighs_what_is_on_the_path),
        cmocka_unit_test(test_log_history__weighs_an_image_by_what_models_make_of_it),
        cmocka_unit_test(test_log_history__path_is_the_walk_from_the_leaf),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
