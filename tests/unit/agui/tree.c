/* Large objects: their index finds what a walk finds, in a number of steps that grows with the object only. */
#include "agui/tree.h"

#include "support/check.h"

#include <stdio.h>

enum { MANY = 60000 };

static hob_str key_of(hob_arena *a, unsigned i) {
    char text[16];
    snprintf(text, sizeof text, "k%u", i);
    return hob_arena_dup(a, hob_str_z(text));
}

static hob_tree *member(hob_arena *a, unsigned i) {
    hob_tree *t = HOB_ARENA_NEW(a, hob_tree);
    assert_non_null(t);
    t->raw = HOB_STR("null");
    t->key = key_of(a, i);
    return t;
}

/* What hob_tree_member has to find. */
static hob_tree *walked(const hob_tree *object, hob_str key) {
    for (hob_tree *c = object->first; c; c = c->next)
        if (hob_str_eq(c->key, key)) return c;
    return NULL;
}

static uint32_t next(uint32_t *seed) {
    *seed = *seed * 1664525u + 1013904223u;
    return *seed >> 8;
}

static hob_tree *child_at(const hob_tree *object, size_t i) {
    return object->n ? hob_tree_at(object, i % object->n) : NULL;
}

/* Keys of a small set, so that there are duplicates; children come and go anywhere. */
static void change(hob_arena *a, hob_tree *object, uint32_t *seed, unsigned keys) {
    uint32_t what = next(seed) % 8;
    hob_tree *at = child_at(object, next(seed));
    if (what < 3 && at)
        hob_tree_remove(object, at);
    else if (what < 5)
        hob_tree_insert(object, at, member(a, next(seed) % keys));
    else
        hob_tree_insert(object, NULL, member(a, next(seed) % keys));
}

static void test_agui_tree__an_index_finds_what_a_walk_finds(void **state) {
    (void)state;
    for (uint32_t round = 1; round <= 20; round++) {
        hob_arena *a = hob_arena_create(0);
        hob_tree *object = hob_tree_object(a);
        uint32_t seed = round;
        unsigned keys = round % 2 ? 40 : 5000;
        bool indexed = false;
        for (int i = 0; i < 1000; i++) {
            change(a, object, &seed, keys);
            hob_str key = key_of(a, next(&seed) % keys);
            assert_ptr_equal(hob_tree_member(object, key), walked(object, key));
            const hob_tree *there = child_at(object, next(&seed));
            if (there)
                assert_ptr_equal(hob_tree_member(object, there->key), walked(object, there->key));
            indexed |= object->index != NULL;
        }
        assert_true(indexed);
        hob_arena_destroy(a);
    }
}

/* Removing closes gaps: whatever was hashed behind one is found still. */
static void test_agui_tree__removing_hides_nothing(void **state) {
    hob_arena *a = hob_arena_create(0);
    hob_tree *object = hob_tree_object(a);
    (void)state;
    for (unsigned i = 0; i < 500; i++) hob_tree_insert(object, NULL, member(a, i));
    for (unsigned gone = 0; gone < 500; gone++) {
        hob_tree_remove(object, hob_tree_member(object, key_of(a, gone * 7 % 500)));
        for (unsigned i = 0; i < 500; i++) {
            hob_str key = key_of(a, i);
            assert_ptr_equal(hob_tree_member(object, key), walked(object, key));
        }
    }
    assert_int_equal(object->n, 0);
    assert_int_equal(object->index->n, 0);
    hob_arena_destroy(a);
}

static void test_agui_tree__without_an_arena_it_walks(void **state) {
    hob_arena *a = hob_arena_create(0);
    hob_tree *object = hob_tree_object(a);
    (void)state;
    object->arena = NULL;
    for (unsigned i = 0; i < 100; i++) hob_tree_insert(object, NULL, member(a, i));
    assert_ptr_equal(hob_tree_member(object, HOB_STR("k99")), object->last);
    assert_null(hob_tree_member(object, HOB_STR("k100")));
    assert_null(object->index);
    hob_arena_destroy(a);
}

static hob_tree *many(hob_arena *a, bool backwards) {
    hob_tree *object = hob_tree_object(a);
    for (unsigned i = 0; i < MANY; i++) {
        hob_tree *m = member(a, backwards ? MANY - 1 - i : i);
        assert_null(hob_tree_member(object, m->key));
        hob_tree_insert(object, NULL, m);
    }
    return object;
}

static void test_agui_tree__steps_grow_with_the_members_only(void **state) {
    hob_arena *a = hob_arena_create(0);
    (void)state;
    hob_tree *object = many(a, false), *other = many(a, true);
    assert_non_null(object->index);
    assert_in_range(object->index->steps, MANY, 20 * MANY);
    size_t before = other->index->steps;
    assert_true(hob_tree_same(object, other));
    assert_in_range(other->index->steps - before, MANY / 2, 10 * MANY);
    before = object->index->steps;
    for (unsigned i = 0; i < MANY; i++)
        hob_tree_remove(object, hob_tree_member(object, key_of(a, i)));
    assert_in_range(object->index->steps - before, MANY, 20 * MANY);
    assert_int_equal(object->n, 0);
    hob_arena_destroy(a);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_agui_tree__an_index_finds_what_a_walk_finds),
        cmocka_unit_test(test_agui_tree__removing_hides_nothing),
        cmocka_unit_test(test_agui_tree__without_an_arena_it_walks),
        cmocka_unit_test(test_agui_tree__steps_grow_with_the_members_only),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
