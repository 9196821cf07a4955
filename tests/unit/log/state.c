/* State: scopes, keys, changes that happen whole, copies that do not change. */
#include "support/check.h"

#include "log/state.h"

#include <stdio.h>

static void put(hob_state *s, const char *key, const char *value) {
    hob_pair *p = hob_pair_create(hob_str_z(key), hob_str_z(value));
    hob_state_put(s, p);
    hob_pair_unref(p);
}

static const char *text_of(const hob_state *s) {
    static char line[4096];
    hob_buf b;
    hob_jsonw w;
    hob_buf_init(&b, sizeof line - 1);
    hob_jsonw_init(&w, &b);
    hob_state_write(s, HOB_SCOPE_ALL, &w);
    snprintf(line, sizeof line, "%.*s", HOB_FMT(hob_buf_str(&b)));
    hob_buf_finish(&b);
    return line;
}

/* Returns the code; the change is applied if it is good. */
static int change(hob_state *s, const char *delta, const char *removed, hob_error *err) {
    static const hob_state_limits limits = {4, 64};
    hob_arena *a = hob_arena_create(0);
    hob_change c;
    int rc = hob_change_init(&c, a, hob_str_z(delta), hob_str_z(removed), err);
    if (rc >= 0) {
        rc = hob_change_check(&c, s, &limits, err);
        if (rc >= 0) hob_change_apply(&c, s);
        hob_change_finish(&c);
    }
    hob_arena_destroy(a);
    return rc;
}

static void test_log_state__is_in_the_order_of_keys(void **state) {
    (void)state;
    hob_state s = {0};
    put(&s, "b", "1");
    put(&s, "user:x", "2");
    put(&s, "a", "[ 3 ]");
    put(&s, "app:y", "null");
    assert_string_equal(text_of(&s), "{\"a\":[ 3 ],\"app:y\":null,\"b\":1,\"user:x\":2}");
    assert_int_equal(s.count, 4);
    assert_int_equal(s.bytes, 1 + 6 + 1 + 5 + 1 + 1 + 5 + 4);
    hob_state_finish(&s);
}

static void test_log_state__a_copy_does_not_change(void **state) {
    (void)state;
    hob_state s = {0}, copy;
    put(&s, "a", "1");
    put(&s, "b", "2");
    hob_state_copy(&copy, &s);
    put(&s, "a", "9");
    put(&s, "c", "3");
    hob_state_remove(&s, HOB_STR("b"));
    assert_string_equal(text_of(&copy), "{\"a\":1,\"b\":2}");
    assert_string_equal(text_of(&s), "{\"a\":9,\"c\":3}");
    hob_state_finish(&s);
    assert_string_equal(text_of(&copy), "{\"a\":1,\"b\":2}");
    hob_state_finish(&copy);
}

/* Against an array as the model: ten thousand random operations with copies held on to. */
static void test_log_state__agrees_with_a_plain_array(void **state) {
    (void)state;
    enum { KEYS = 200, STEPS = 10000 };
    int model[KEYS], held_model[KEYS] = {0};
    hob_state s = {0}, held = {0};
    uint64_t x = 88172645463325252u;
    memset(model, 0, sizeof model);
    for (int i = 1; i <= STEPS; i++) {
        char key[16], value[16];
        x ^= x << 13, x ^= x >> 7, x ^= x << 17;
        int k = (int)(x % KEYS);
        snprintf(key, sizeof key, "k%03d", k);
        snprintf(value, sizeof value, "%d", i);
        if (x >> 40 & 1) {
            put(&s, key, value);
            model[k] = i;
        } else {
            assert_int_equal(hob_state_remove(&s, hob_str_z(key)), model[k] != 0);
            model[k] = 0;
        }
        if (i % 1000) continue;
        hob_str at = HOB_STR_NULL, got;
        for (int n = 0; n < KEYS; n++) {
            if (!held_model[n]) continue;
            assert_true(hob_state_next(&held, at, &at, &got));
            snprintf(key, sizeof key, "k%03d", n);
            snprintf(value, sizeof value, "%d", held_model[n]);
            assert_str(at, key);
            assert_str(got, value);
        }
        assert_false(hob_state_next(&held, at, &at, &got));
        hob_state_finish(&held);
        hob_state_copy(&held, &s);
        memcpy(held_model, model, sizeof model);
    }
    hob_state_finish(&held);
    hob_state_finish(&s);
}

/* In order, either way: the worst case of a plain tree. */
static void fill_and_empty(int first, int step) {
    enum { ALL = 50000, LEFT = 1000 };
    hob_state s = {0};
    char key[16];
    for (int i = 0; i < ALL; i++) {
        snprintf(key, sizeof key, "%08d", first + i * step);
        put(&s, key, "1");
    }
    assert_int_equal(hob_state_height(&s), 16); /* as low as can be */
    for (int i = 0; i < ALL - LEFT; i++) {
        snprintf(key, sizeof key, "%08d", first + i * step);
        assert_true(hob_state_remove(&s, hob_str_z(key)));
    }
    assert_int_equal(s.count, LEFT);
    assert_in_range(hob_state_height(&s), 10, 14); /* 1.44 log2(n) */
    hob_state_finish(&s);
}

static void test_log_state__stays_balanced(void **state) {
    (void)state;
    fill_and_empty(0, 1);
    fill_and_empty(50000, -1);
}

static void test_log_state__scopes(void **state) {
    (void)state;
    assert_int_equal(hob_state_scope(HOB_STR("app:a")), HOB_SCOPE_APP);
    assert_int_equal(hob_state_scope(HOB_STR("user:a")), HOB_SCOPE_USER);
    assert_int_equal(hob_state_scope(HOB_STR("temp:a")), HOB_SCOPE_TEMP);
    assert_int_equal(hob_state_scope(HOB_STR("apple")), HOB_SCOPE_SESSION);
    assert_int_equal(hob_state_scope(HOB_STR("a:temp:")), HOB_SCOPE_SESSION);
}

static void test_log_state__a_change_is_whole_or_nothing(void **state) {
    (void)state;
    hob_state s = {0};
    hob_error err;
    assert_int_equal(change(&s, "{\"a\":1,\"b\":null}", "", &err), HOB_OK);
    assert_int_equal(change(&s, "{\"c\":1,\"d\":1,\"e\":1}", "", &err), HOB_ETOOBIG);
    assert_int_equal(change(&s, "{\"c\":1,\"x/y\":1}", "", &err), HOB_EINVAL);
    assert_int_equal(change(&s, "{\"c\":1}", "[\"c\"]", &err), HOB_EINVAL);
    assert_int_equal(change(&s, "{\"c\":1}", "[1]", &err), HOB_EPARSE);
    assert_int_equal(change(&s, "{\"c\":", "", &err), HOB_EPARSE);
    assert_int_equal(change(&s, "[]", "", &err), HOB_EPARSE);
    assert_int_equal(
        change(&s, "{\"c\":\"0123456789012345678901234567890123456789012345678901234567\"}", "",
               &err),
        HOB_ETOOBIG);
    assert_string_equal(text_of(&s), "{\"a\":1,\"b\":null}");
    hob_state_finish(&s);
}

static void test_log_state__removing_makes_room_in_the_same_change(void **state) {
    (void)state;
    hob_state s = {0};
    hob_error err;
    assert_int_equal(change(&s, "{\"a\":1,\"b\":2,\"c\":3,\"d\":4}", "", &err), HOB_OK);
    assert_int_equal(
        change(&s, "{\"e\":5,\"a\":{\"x\":[]},\"a\":{\"y\": 1}}", "[\"b\",\"b\",\"no\"]", &err),
        HOB_OK);
    assert_string_equal(text_of(&s), "{\"a\":{\"y\": 1},\"c\":3,\"d\":4,\"e\":5}");
    hob_state_finish(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_log_state__is_in_the_order_of_keys),
        cmocka_unit_test(test_log_state__a_copy_does_not_change),
        cmocka_unit_test(test_log_state__agrees_with_a_plain_array),
        cmocka_unit_test(test_log_state__stays_balanced),
        cmocka_unit_test(test_log_state__scopes),
        cmocka_unit_test(test_log_state__a_change_is_whole_or_nothing),
        cmocka_unit_test(test_log_state__removing_makes_room_in_the_same_change),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
