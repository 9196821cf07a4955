/* Names of runs: no two of any sessions are the same. */
#include "support/check.h"

#include "run/run.h"

#include <stdio.h>

static const char *id(const char *session, uint64_t seq) {
    static char out[2][64];
    static int at;
    at = !at;
    hob_run_id(hob_str_z(session), seq, out[at]);
    return out[at];
}

static void test_run_id__is_called_after_its_session(void **state) {
    (void)state;
    assert_string_equal(id("tour", 2), "run-tour-2");
    assert_string_equal(id("01890a5d-ac96-774b-bcce-b302099a8057", 12),
                        "run-01890a5d-ac96-774b-bcce-b302099a8057-12");
}

/* A name made of another session's name, as far as one can be made. */
static void test_run_id__nobody_can_take_anothers(void **state) {
    static const char *const sessions[] = {"a",
                                           "a-1",
                                           "a-1-2",
                                           "1",
                                           "run-a",
                                           "0123456789ab",
                                           "x.23456789ab-7",
                                           "0123456789012345678901234567890123456",
                                           "01234567890123456789012345678901234567",
                                           "012345678901234567890123456789012345678",
                                           "0123456789012345678901234567890123456789"};
    char all[HOB_ARRAY_LEN(sessions) * 4][64];
    size_t n = 0;
    (void)state;
    for (size_t i = 0; i < HOB_ARRAY_LEN(sessions); i++)
        for (uint64_t seq = 1; seq <= 4; seq++) hob_run_id(hob_str_z(sessions[i]), seq, all[n++]);
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < i; k++) assert_string_not_equal(all[i], all[k]);
}

/* A long id is there as a hash, and no id that is there itself looks like one. */
static void test_run_id__a_hash_is_longer_than_any_id(void **state) {
    char longest[129], name[64], copy[64];
    (void)state;
    memset(longest, 'x', 128);
    longest[128] = 0;
    hob_run_id(hob_str_z(longest), 7, name);
    assert_int_equal(strlen(name), 4 + 39 + 2);
    assert_true(hob_id_valid(hob_str_z(name)));
    name[strlen(name) - 2] = 0;
    hob_run_id(hob_str_z(name + 4), 7, copy); /* a session that is called like the hash */
    assert_string_not_equal(copy, id(longest, 7));
}

static void test_run_id__earlier_names_stay_free(void **state) {
    (void)state;
    assert_string_not_equal(id("0123456789ab", 3), "run-0123456789ab-3");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_run_id__is_called_after_its_session),
        cmocka_unit_test(test_run_id__nobody_can_take_anothers),
        cmocka_unit_test(test_run_id__a_hash_is_longer_than_any_id),
        cmocka_unit_test(test_run_id__earlier_names_stay_free),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
