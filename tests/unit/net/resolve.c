#include "net/resolve.h"
#include "support/check.h"

#include <stdio.h>

typedef struct fixture {
    hob_fake_clock clock;
    hob_loop *loop;
    hob_pool *pool;
    hob_resolver *resolver;
} fixture;

typedef struct asked {
    hob_lookup lookup;
    int calls;
    char addresses[256];
    hob_error err;
} asked;

static int setup(void **state) {
    fixture *f = HOB_NEW(fixture);
    *state = f;
    hob_fake_clock_init(&f->clock, 0);
    if (hob_loop_create(&f->clock.base, &f->loop, NULL) < 0) return -1;
    if (hob_pool_create(2, 128, &f->pool, NULL) < 0) return -1;
    f->resolver = hob_resolver_create(f->loop, f->pool);
    return 0;
}

static int teardown(void **state) {
    fixture *f = *state;
    hob_resolver_destroy(f->resolver);
    hob_pool_destroy(f->pool);
    hob_loop_destroy(f->loop);
    hob_free(f);
    return 0;
}

static void on_address(hob_lookup *k, const char *addresses, const hob_error *err) {
    asked *a = HOB_CONTAINER(k, asked, lookup);
    a->calls++;
    if (err) a->err = *err;
    snprintf(a->addresses, sizeof(a->addresses), "%s", addresses ? addresses : "");
}

static const char *ask(fixture *f, asked *a, const char *host) {
    *a = (asked){.calls = 0};
    hob_lookup_init(&a->lookup, on_address);
    return hob_resolver_lookup(f->resolver, hob_str_z(host), &a->lookup);
}

static void wait_for(fixture *f, const asked *a) {
    while (!a->calls) hob_loop_run_once(f->loop, -1);
}

static void test_net_resolve__answers_from_the_loop_and_remembers(void **state) {
    fixture *f = *state;
    asked a, b;
    assert_null(ask(f, &a, "localhost"));
    assert_int_equal(a.calls, 0);
    wait_for(f, &a);
    assert_int_equal(a.calls, 1);
    assert_non_null(strstr(a.addresses, "127.0.0.1"));
    assert_string_equal(ask(f, &b, "localhost"), a.addresses);
    hob_fake_clock_advance(&f->clock, 61000);
    assert_null(ask(f, &b, "localhost"));
    wait_for(f, &b);
    assert_string_equal(b.addresses, a.addresses);
}

static void test_net_resolve__failure_says_which_name(void **state) {
    fixture *f = *state;
    asked a;
    assert_null(ask(f, &a, "nobody.invalid"));
    wait_for(f, &a);
    assert_int_equal(a.err.code, HOB_ENET);
    assert_non_null(strstr(a.err.message, "cannot look up 'nobody.invalid'"));
    assert_string_equal(a.addresses, "");
    assert_null(ask(f, &a, "nobody.invalid")); /* a failure is not remembered */
    hob_lookup_cancel(&a.lookup);
}

static void test_net_resolve__many_wait_for_one_answer(void **state) {
    fixture *f = *state;
    asked a[3];
    for (int i = 0; i < 3; i++) assert_null(ask(f, &a[i], "localhost"));
    hob_lookup_cancel(&a[1].lookup);
    while (!a[2].calls) hob_loop_run_once(f->loop, -1);
    assert_int_equal(a[0].calls, 1);
    assert_int_equal(a[1].calls, 0);
    assert_string_equal(a[0].addresses, a[2].addresses);
}

static void test_net_resolve__destroyed_while_looking_up(void **state) {
    fixture *f = *state;
    asked a;
    assert_null(ask(f, &a, "localhost"));
    hob_resolver_destroy(f->resolver);
    f->resolver = NULL;
    hob_loop_run_once(f->loop, -1);
    assert_int_equal(a.calls, 0);
}

static void test_net_resolve__pinned_names_stay(void **state) {
    fixture *f = *state;
    asked a;
    hob_resolver_pin(f->resolver, HOB_STR("x"), "10.0.0.1,[::1]");
    assert_string_equal(ask(f, &a, "x"), "10.0.0.1,[::1]");
    hob_fake_clock_advance(&f->clock, INT64_C(1) << 40);
    assert_string_equal(ask(f, &a, "x"), "10.0.0.1,[::1]");
}

static void test_net_resolve__old_names_make_room(void **state) {
    fixture *f = *state;
    asked a;
    char host[16];
    hob_resolver_pin(f->resolver, HOB_STR("x"), "10.0.0.1");
    assert_null(ask(f, &a, "localhost"));
    wait_for(f, &a);
    for (int i = 0; i < 63; i++) {
        snprintf(host, sizeof(host), "h%d", i);
        hob_resolver_pin(f->resolver, hob_str_z(host), "10.0.0.2");
    }
    assert_non_null(ask(f, &a, "x"));
    assert_null(ask(f, &a, "localhost")); /* went first: it would have expired first */
    hob_lookup_cancel(&a.lookup);
}

#define T(name) cmocka_unit_test_setup_teardown(test_net_resolve__##name, setup, teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        T(answers_from_the_loop_and_remembers),
        T(failure_says_which_name),
        T(many_wait_for_one_answer),
        T(destroyed_while_looking_up),
        T(pinned_names_stay),
        T(old_names_make_room),
    };
    return cmocka_run_group_tests_name("net/resolve", tests, NULL, NULL);
}
