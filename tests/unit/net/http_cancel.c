/* Calls that are cancelled, from everywhere. */
#include "net/http_internal.h"
#include "support/check.h"
#include "support/http_calls.h"

/* ---- cancelling --------------------------------------------------------------------------------- */

static void test_net_http_cancel__cancel_is_silent(void **state) {
    http_fixture *f = *state;
    http_result r;
    f->answer = http_half_then_hang;
    http_init(&r, f);
    http_start(&r, (hob_http_request){.method = "GET"});
    while (r.body.n == 0) hob_loop_run_once(f->loop, -1);
    hob_http_cancel(r.call);
    httpd_stop(f->server); /* ends only if the connection is closed, or else hangs here */
    f->server = NULL;
    hob_loop_run_once(f->loop, 5);
    assert_int_equal(r.dones, 0);
    http_finish(&r);
}

static void test_net_http_cancel__cancel_before_libcurl_is_loaded(void **state) {
    http_fixture *f = *state;
    http_result r;
    f->answer = http_say_hello;
    http_init(&r, f);
    http_start(&r, (hob_http_request){.method = "GET"});
    assert_int_equal(r.call->state, HOB_CALL_PREPARING);
    hob_http_cancel(r.call);
    http_finish(&r);
    http_get(f, &r);
    http_assert_ok(&r);
    assert_int_equal(httpd_requests(f->server), 1);
    http_finish(&r);
}

static void test_net_http_cancel__cancel_itself_from_a_callback(void **state) {
    http_fixture *f = *state;
    f->answer = http_stream;
    for (http_place where = HTTP_IN_HEAD; where <= HTTP_IN_DATA; where++) {
        http_result r;
        http_init(&r, f);
        r.cancel_in = where;
        http_start(&r, (hob_http_request){.method = "GET"});
        while (r.call) hob_loop_run_once(f->loop, -1);
        hob_loop_run_once(f->loop, 5);
        assert_int_equal(r.dones, 0);
        assert_int_equal(f->http->ncalls, 0);
        http_finish(&r);
    }
}

static void test_net_http_cancel__cancel_in_on_done_does_nothing(void **state) {
    http_fixture *f = *state;
    http_result r;
    f->answer = http_say_hello;
    http_init(&r, f);
    r.cancel_in = HTTP_IN_DONE;
    http_start(&r, (hob_http_request){.method = "GET"});
    http_wait(&r);
    http_assert_ok(&r);
    http_finish(&r);
}

static void test_net_http_cancel__cancel_another_from_a_callback(void **state) {
    http_fixture *f = *state;
    f->answer = http_half_then_hang;
    for (http_place where = HTTP_IN_HEAD; where <= HTTP_IN_DATA; where++) {
        http_result a, b;
        http_init(&a, f);
        http_init(&b, f);
        a.cancel_in = where;
        a.victim = &b;
        http_start(&b, (hob_http_request){.method = "GET"});
        http_start(&a, (hob_http_request){.method = "GET", .idle_timeout_ms = 200});
        http_wait(&a);
        assert_null(b.call);
        assert_int_equal(b.dones, 0);
        assert_int_equal(a.code, HOB_ETIMEDOUT);
        http_finish(&a);
        http_finish(&b);
    }
}

static void test_net_http_cancel__start_from_a_callback(void **state) {
    http_fixture *f = *state;
    f->answer = http_say_hello;
    for (http_place where = HTTP_IN_HEAD; where <= HTTP_IN_DONE; where++) {
        http_result a, b;
        http_init(&a, f);
        http_init(&b, f);
        a.start_in = where;
        a.next = &b;
        http_start(&a, (hob_http_request){.method = "GET"});
        while (!a.dones || !b.dones) hob_loop_run_once(f->loop, -1);
        http_assert_ok(&a);
        http_assert_ok(&b);
        http_finish(&a);
        http_finish(&b);
    }
}

static void test_net_http_cancel__destroy_cancels_everything(void **state) {
    http_fixture *f = *state;
    http_result r[3];
    f->answer = http_hang;
    for (int i = 0; i < 3; i++) {
        http_init(&r[i], f);
        http_start(&r[i], (hob_http_request){.method = "GET"});
    }
    http_wait_requests(f, 3);
    hob_http_destroy(f->http);
    f->http = NULL;
    for (int i = 0; i < 3; i++) {
        assert_int_equal(r[i].dones, 0);
        http_finish(&r[i]);
    }
}

#define T(name)                                                                                    \
    cmocka_unit_test_setup_teardown(test_net_http_cancel__##name, http_setup, http_teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        T(cancel_is_silent),
        T(cancel_before_libcurl_is_loaded),
        T(cancel_itself_from_a_callback),
        T(cancel_in_on_done_does_nothing),
        T(cancel_another_from_a_callback),
        T(start_from_a_callback),
        T(destroy_cancels_everything),
    };
    return cmocka_run_group_tests_name("net/http_cancel", tests, NULL, NULL);
}
