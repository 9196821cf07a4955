/* Values that are the same, however they are written; and as many members as an enemy likes. */
#include "base/json_equal.h"
#include "support/check.h"

static bool equal(hob_str a, hob_str b) {
    hob_arena *arena = hob_arena_create(0);
    const hob_json *x, *y;
    assert_int_equal(hob_json_parse(arena, a, NULL, &x, NULL), 0);
    assert_int_equal(hob_json_parse(arena, b, NULL, &y, NULL), 0);
    bool same = hob_json_equal(x, y);
    assert_int_equal(hob_json_equal(y, x), same);
    hob_arena_destroy(arena);
    return same;
}

#define EQUAL(a, b) equal(HOB_STR(a), HOB_STR(b))

static void test_base_json_equal__by_value(void **state) {
    (void)state;
    assert_true(EQUAL("1", "1.0"));
    assert_true(EQUAL("\"a\"", "\"\\u0061\""));
    assert_true(EQUAL("{\"a\":1,\"b\":[2]}", "{\"b\":[2],\"a\":1}"));
    assert_true(EQUAL("{\"a\":1,\"a\":2}", "{\"a\":2}"));
    assert_false(EQUAL("9007199254740993", "9007199254740992"));
    assert_false(EQUAL("0", "false"));
    assert_false(EQUAL("[1]", "[1,2]"));
    assert_false(EQUAL("{\"a\":1}", "{\"a\":1,\"b\":2}"));
    assert_false(EQUAL("{\"a\":1}", "{\"b\":1}"));
    assert_false(hob_json_equal(NULL, NULL));
}

enum { MANY = 300000 };

/* Each name with all others, or with itself all over again: that would be 10^11 steps. */
static void test_base_json_equal__of_many_members(void **state) {
    hob_buf up, down, again;
    (void)state;
    hob_buf_init(&up, 16 << 20);
    hob_buf_init(&down, 16 << 20);
    hob_buf_init(&again, 16 << 20);
    for (int i = 0; i < MANY; i++) {
        hob_buf_addf(&up, "%c\"%d\":0", i ? ',' : '{', i);
        hob_buf_addf(&down, "%c\"%d\":0", i ? ',' : '{', MANY - 1 - i);
        hob_buf_addf(&again, "%c\"0\":0", i ? ',' : '{');
    }
    hob_buf_addc(&up, '}');
    hob_buf_addc(&down, '}');
    hob_buf_addc(&again, '}');
    assert_true(equal(hob_buf_str(&up), hob_buf_str(&down)));
    assert_true(equal(hob_buf_str(&again), HOB_STR("{\"0\":0}")));
    assert_false(equal(hob_buf_str(&again), hob_buf_str(&up)));
    hob_buf_finish(&up);
    hob_buf_finish(&down);
    hob_buf_finish(&again);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_base_json_equal__by_value),
        cmocka_unit_test(test_base_json_equal__of_many_members),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
