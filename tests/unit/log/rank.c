/* The order of what is recalled. */
#include "log/rank.h"
#include "support/check.h"

#define assert_near(a, b, e) assert_true((a) - (b) < (e) && (b) - (a) < (e))
#define DAY ((int64_t)24 * 3600 * 1000)

static double relevance(const char *query, const char *text, size_t items, const size_t *having) {
    hob_rank r;
    hob_rank_init(&r, hob_str_z(query));
    for (size_t i = 0; i < r.n; i++) r.words[i].having = having[i];
    hob_rank_weigh(&r, items);
    return hob_rank_relevance(&r, hob_str_z(text));
}

static void test_log_rank__all_words_is_one_and_none_is_nothing(void **state) {
    (void)state;
    size_t two[] = {3, 4};
    assert_true(relevance("green tea", "Tea, if it is GREEN", 10, two) == 1);
    assert_true(relevance("green tea", "coffee", 10, two) == 0);
    assert_true(relevance("", "coffee", 10, two) == 1);
}

static void test_log_rank__a_rare_word_counts_more(void **state) {
    (void)state;
    size_t having[] = {900, 2};
    double common = relevance("the kettle", "the cup", 1000, having);
    double rare = relevance("the kettle", "a kettle", 1000, having);
    assert_true(common > 0 && common < 0.2);
    assert_true(rare > 0.8 && rare < 1);
}

static void test_log_rank__a_word_said_twice_counts_once(void **state) {
    (void)state;
    hob_rank r;
    hob_rank_init(&r, HOB_STR("tea Tea TEA teas tea cup"));
    assert_int_equal(r.n, 2);
}

/* a3s-code: 0.7 importance + 0.3 e^(-age in days / 30) */
static void test_log_rank__importance_and_age_make_the_score(void **state) {
    (void)state;
    assert_near(hob_rank_score(1, 0.5, 0), 0.65, 1e-9);
    assert_near(hob_rank_score(1, 0.5, 30 * DAY), 0.35 + 0.3 * 0.36787944, 1e-6);
    assert_near(hob_rank_score(0.5, 1, 0), 0.5, 1e-9);
    assert_true(hob_rank_score(1, 0.9, 365 * DAY) > hob_rank_score(1, 0.4, 0));
}

static void test_log_rank__what_is_from_the_future_is_new(void **state) {
    (void)state;
    assert_near(hob_rank_score(1, 0.5, -5 * DAY), 0.65, 1e-9);
    assert_near(hob_rank_score(1, 0, INT64_MAX), 0, 1e-9);
}

static void test_log_rank__words_beyond_the_limit_are_not_looked_at(void **state) {
    (void)state;
    hob_rank r;
    hob_buf b;
    hob_buf_init(&b, 1 << 16);
    for (int i = 0; i < 100; i++) hob_buf_addf(&b, "w%d ", i);
    hob_rank_init(&r, hob_buf_str(&b));
    assert_int_equal(r.n, HOB_RANK_WORDS);
    hob_buf_finish(&b);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_log_rank__all_words_is_one_and_none_is_nothing),
        cmocka_unit_test(test_log_rank__a_rare_word_counts_more),
        cmocka_unit_test(test_log_rank__a_word_said_twice_counts_once),
        cmocka_unit_test(test_log_rank__importance_and_age_make_the_score),
        cmocka_unit_test(test_log_rank__what_is_from_the_future_is_new),
        cmocka_unit_test(test_log_rank__words_beyond_the_limit_are_not_looked_at),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
