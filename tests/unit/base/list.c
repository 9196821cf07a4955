/* The intrusive list. */
#include "base/base.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
typedef struct item {
    int value;
    hob_list link;
} item;

static int digits_of(hob_list *head) {
    int all = 0;
    HOB_LIST_EACH (it, head) {
        all = all * 10 + HOB_CONTAINER(it, item, link)->value;
    }
    return all;
}

static void test_base_list__keeps_order(void **state) {
    (void)state;
    hob_list head;
    hob_list_init(&head);
    assert_true(hob_list_empty(&head));
    item items[3] = {{.value = 1}, {.value = 2}, {.value = 3}};
    for (int i = 0; i < 3; i++) hob_list_push(&head, &items[i].link);
    assert_false(hob_list_empty(&head));
    assert_int_equal(digits_of(&head), 123);
    assert_int_equal(HOB_LIST_FIRST(&head, item, link)->value, 1);
}

static void test_base_list__removes_twice_without_harm(void **state) {
    (void)state;
    hob_list head;
    hob_list_init(&head);
    item items[3] = {{.value = 1}, {.value = 2}, {.value = 3}};
    for (int i = 0; i < 3; i++) hob_list_push(&head, &items[i].link);
    hob_list_remove(&items[1].link);
    hob_list_remove(&items[1].link);
    assert_int_equal(digits_of(&head), 13);
}

static void test_base_list__allows_removal_while_walking(void **state) {
    (void)state;
    hob_list head;
    hob_list_init(&head);
    item items[3] = {{.value = 1}, {.value = 2}, {.value = 3}};
    for (int i = 0; i < 3; i++) hob_list_push(&head, &items[i].link);
    HOB_LIST_EACH_SAFE (it, &head) {
        hob_list_remove(it);
    }
    assert_true(hob_list_empty(&head));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_base_list__keeps_order),
        cmocka_unit_test(test_base_list__removes_twice_without_harm),
        cmocka_unit_test(test_base_list__allows_removal_while_walking),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
