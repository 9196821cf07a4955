#include "loop/loop.h"
#include "support/check.h"

typedef struct fixture {
    hob_fake_clock clock;
    hob_loop *loop;
    hob_buf log; /* one letter a timer that fired */
} fixture;

typedef struct lettered {
    hob_timer timer;
    fixture *f;
    char letter;
    int again; /* restarts itself so often, with no delay */
} lettered;

static int setup(void **state) {
    fixture *f = HOB_NEW(fixture);
    hob_fake_clock_init(&f->clock, 0);
    hob_buf_init(&f->log, 1024);
    *state = f;
    return hob_loop_create(&f->clock.base, &f->loop, NULL);
}

static int teardown(void **state) {
    fixture *f = *state;
    hob_loop_destroy(f->loop);
    hob_buf_finish(&f->log);
    hob_free(f);
    return 0;
}

static void on_fire(hob_timer *t) {
    lettered *x = HOB_CONTAINER(t, lettered, timer);
    hob_buf_addc(&x->f->log, x->letter);
    if (x->again-- > 0) hob_timer_start(t, hob_loop_now(t->loop));
}

static void init(lettered *x, fixture *f, char letter) {
    *x = (lettered){.f = f, .letter = letter};
    hob_timer_init(&x->timer, f->loop, on_fire);
}

static void test_loop_timer__fires_in_time_order(void **state) {
    fixture *f = *state;
    lettered x[3];
    const int64_t at[] = {30, 10, 20};
    for (int i = 0; i < 3; i++) {
        init(&x[i], f, (char)('a' + i));
        hob_timer_start(&x[i].timer, at[i]);
    }
    while (hob_loop_run_once(f->loop, 1000) > 0) {
    }
    assert_str(hob_buf_str(&f->log), "bca");
    assert_int_equal(f->clock.mono, 1030); /* the last call waited in vain for 1000 ms */
}

static void test_loop_timer__ties_fire_in_start_order(void **state) {
    fixture *f = *state;
    lettered x[8];
    for (int i = 0; i < 8; i++) {
        init(&x[i], f, (char)('a' + i));
        hob_timer_start(&x[i].timer, 5);
    }
    hob_timer_start(&x[0].timer, 5); /* again = behind the others */
    hob_loop_run_once(f->loop, -1);
    assert_str(hob_buf_str(&f->log), "bcdefgha");
}

static void test_loop_timer__stop_and_move(void **state) {
    fixture *f = *state;
    lettered a, b, c;
    init(&a, f, 'a');
    init(&b, f, 'b');
    init(&c, f, 'c');
    hob_timer_start(&a.timer, 10);
    hob_timer_start(&b.timer, 20);
    hob_timer_start(&c.timer, 30);
    hob_timer_stop(&b.timer);
    hob_timer_stop(&b.timer);
    hob_timer_start(&a.timer, 40);
    assert_true(hob_timer_started(&a.timer));
    assert_false(hob_timer_started(&b.timer));
    while (hob_loop_run_once(f->loop, 100) > 0) {
    }
    assert_str(hob_buf_str(&f->log), "ca");
    assert_false(hob_timer_started(&a.timer));
}

static void test_loop_timer__restart_waits_for_next_round(void **state) {
    fixture *f = *state;
    lettered a, b;
    init(&a, f, 'a');
    init(&b, f, 'b');
    a.again = 2;
    hob_timer_start(&a.timer, 5);
    hob_timer_start(&b.timer, 5);
    assert_int_equal(hob_loop_run_once(f->loop, -1), 2);
    assert_str(hob_buf_str(&f->log), "ab");
    hob_loop_run_once(f->loop, 0);
    hob_loop_run_once(f->loop, 0);
    assert_str(hob_buf_str(&f->log), "abaa");
}

static void test_loop_timer__never_early(void **state) {
    fixture *f = *state;
    lettered a;
    init(&a, f, 'a');
    f->clock.base.virtual_time = false; /* the test moves the clock */
    hob_timer_start(&a.timer, 10);
    hob_fake_clock_advance(&f->clock, 9);
    assert_int_equal(hob_loop_process(f->loop), 0);
    hob_fake_clock_advance(&f->clock, 1);
    assert_int_equal(hob_loop_process(f->loop), 1);
}

static void test_loop_timer__fires_on_the_real_clock(void **state) {
    fixture *f = *state;
    hob_loop *real;
    assert_int_equal(hob_loop_create(NULL, &real, NULL), 0);
    lettered a = {.f = f, .letter = 'a'};
    hob_timer_init(&a.timer, real, on_fire);
    int64_t at = hob_loop_now(real) + 3;
    hob_timer_start(&a.timer, at);
    assert_int_equal(hob_loop_run_once(real, -1), 1);
    assert_true(hob_loop_now(real) >= at);
    hob_loop_destroy(real);
}

/* The heap against the plainest model: sort by (time, start order). */
static void test_loop_timer__heap_matches_a_sorted_list(void **state) {
    fixture *f = *state;
    enum { N = 200 };
    static lettered x[N];
    uint64_t seed = 42;
    for (int round = 0; round < 20; round++) {
        for (int i = 0; i < N; i++) {
            seed = seed * 6364136223846793005u + 1442695040888963407u;
            if (round == 0) init(&x[i], f, '.');
            if (seed >> 62 == 0)
                hob_timer_stop(&x[i].timer);
            else
                hob_timer_start(&x[i].timer, f->clock.mono + 1 + (int64_t)(seed >> 33) % 50);
        }
    }
    size_t started = 0;
    for (int i = 0; i < N; i++) started += hob_timer_started(&x[i].timer);
    for (size_t fired = 0; fired < started;) {
        int64_t least = INT64_MAX;
        for (int i = 0; i < N; i++)
            if (hob_timer_started(&x[i].timer)) least = HOB_MIN(least, x[i].timer.at);
        size_t due = 0;
        for (int i = 0; i < N; i++) due += hob_timer_started(&x[i].timer) && x[i].timer.at == least;
        assert_int_equal(hob_loop_run_once(f->loop, -1), due);
        assert_int_equal(f->clock.mono, least);
        fired += due;
    }
    assert_int_equal(f->log.n, started);
}

static void on_fire_nested(hob_timer *t) {
    lettered *x = HOB_CONTAINER(t, lettered, timer);
    if (hob_loop_inside(t->loop) && hob_loop_run_once(t->loop, 0) == HOB_EDEADLK &&
        hob_loop_process(t->loop) == HOB_EDEADLK)
        hob_buf_addz(&x->f->log, "refused");
}

static void test_loop_timer__run_once_from_a_callback_is_refused(void **state) {
    fixture *f = *state;
    lettered a;
    init(&a, f, 'a');
    hob_timer_init(&a.timer, f->loop, on_fire_nested);
    hob_timer_start(&a.timer, 1);
    assert_int_equal(hob_loop_run_once(f->loop, -1), 1);
    assert_str(hob_buf_str(&f->log), "refused");
    assert_false(hob_loop_inside(f->loop));
}

static void test_loop_timer__zero_wait_does_not_move_virtual_time(void **state) {
    fixture *f = *state;
    lettered a;
    init(&a, f, 'a');
    hob_timer_start(&a.timer, 5);
    assert_int_equal(hob_loop_run_once(f->loop, 0), 0);
    assert_int_equal(f->clock.mono, 0);
    assert_int_equal(hob_loop_run_once(f->loop, 3), 0);
    assert_int_equal(f->clock.mono, 3);
}

#define T(name) cmocka_unit_test_setup_teardown(test_loop_timer__##name, setup, teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        T(fires_in_time_order),
        T(ties_fire_in_start_order),
        T(stop_and_move),
        T(restart_waits_for_next_round),
        T(never_early),
        T(fires_on_the_real_clock),
        T(heap_matches_a_sorted_list),
        T(run_once_from_a_callback_is_refused),
        T(zero_wait_does_not_move_virtual_time),
    };
    return cmocka_run_group_tests_name("loop/timer", tests, NULL, NULL);
}
