/* State of sessions, changed and read from many threads at once. With HOB_LONG: 100 threads of 10,000 changes each. */
/* ctest: labels=threads timeout=900 */
#include "support/check.h"
#include "support/host.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

enum { WRITERS = 100 };

static const char *store;

typedef struct worker {
    pthread_t thread;
    hob_session *s;
    unsigned number, times;
    int failed, done;
    atomic_bool *stop;
} worker;

static void start_all(worker *w, size_t n, hob_session *s, void *(*run)(void *)) {
    for (size_t i = 0; i < n; i++) {
        w[i].s = s;
        w[i].number = (unsigned)i;
        assert_int_equal(pthread_create(&w[i].thread, NULL, run, &w[i]), 0);
    }
}

static void join_all(worker *w, size_t n) {
    for (size_t i = 0; i < n; i++) {
        pthread_join(w[i].thread, NULL);
        assert_int_equal(w[i].failed, 0);
    }
}

static void open_host(host *r) {
    host_init(r, "{'rules':[{'reply':[{'text':'to {{user}}'}]}]}");
    r->ro.store = store;
    host_open(r);
}

static int apply(hob_session *s, const char *delta) {
    return hob_session_apply_state_delta(s, hob_str_z(delta), hob_str_z(""), NULL);
}

static int64_t number_at(hob_session *s, const char *key) {
    char text[32] = "";
    int64_t n = -1;
    if (hob_session_state_get(s, hob_str_z(key), text, sizeof text) > 0)
        hob_str_int(hob_str_z(text), &n);
    return n;
}

/* ---- many children on one state ------------------------------------------------------------------ */

static void *count_up(void *arg) {
    worker *w = arg;
    char text[80];
    for (unsigned i = 1; i <= w->times; i++) {
        snprintf(text, sizeof text, "{\"w%u\":%u,\"last\":\"%u.%u\"}", w->number, i, w->number, i);
        w->failed += apply(w->s, text) < 0;
    }
    return NULL;
}

static void test_session_state_threads__no_delta_is_lost(void **state) {
    static worker w[WRITERS];
    hob_page *p;
    host r;
    char key[16], last[16];
    (void)state;
    unsigned times = getenv("HOB_LONG") && !strcmp(store, "memory") ? 10000 : 20;
    open_host(&r);
    for (size_t i = 0; i < WRITERS; i++) w[i] = (worker){.times = times};
    start_all(w, WRITERS, r.s, count_up);
    join_all(w, WRITERS);
    for (unsigned i = 0; i < WRITERS; i++) {
        snprintf(key, sizeof key, "w%u", i);
        assert_int_equal(number_at(r.s, key), times);
    }
    assert_ok(hob_session_info(r.s, &p, &r.err), r.err); /* session_opened, and one event each */
    assert_true(hob_json_field(hob_page_row(p, 0), "last_seq", last, sizeof last) > 0);
    assert_int_equal(strtoul(last, NULL, 10), 1 + WRITERS * times);
    hob_page_destroy(p);
    host_finish(&r);
}

static void *append_one(void *arg) {
    worker *w = arg;
    char text[32];
    snprintf(text, sizeof text, "{\"k%u\":1}", w->number);
    w->failed = apply(w->s, text) < 0;
    return NULL;
}

static void test_session_state_threads__case_15_fifty_appends_are_fifty_events(void **state) {
    static worker w[50];
    hob_state *all;
    host r;
    (void)state;
    open_host(&r);
    start_all(w, 50, r.s, append_one);
    join_all(w, 50);
    assert_ok(hob_session_state(r.s, &all, NULL, &r.err), r.err);
    assert_int_equal(hob_state_count(all), 50);
    hob_state_destroy(all);
    assert_int_equal(host_count(&r, "state_changed"), 50);
    host_finish(&r);
}

/* With a token, reading and writing are one step. */
static void *add_one(void *arg) {
    worker *w = arg;
    char text[64];
    for (unsigned i = 0; i < w->times; i++) {
        int rc = HOB_EBUSY;
        while (rc == HOB_EBUSY) {
            hob_state *now;
            hob_str value = hob_str_z("0");
            uint64_t revision;
            int64_t n = 0;
            if (hob_session_state(w->s, &now, &revision, NULL) < 0) break;
            hob_state_get(now, hob_str_z("sum"), &value);
            hob_str_int(value, &n);
            hob_state_destroy(now);
            snprintf(text, sizeof text, "{\"sum\":%lld}", (long long)n + 1);
            rc = hob_session_apply_state_delta_at(w->s, revision, hob_str_z(text), hob_str_z(""),
                                                  NULL);
        }
        w->failed += rc < 0;
    }
    return NULL;
}

static void test_session_state_threads__case_16_a_token_makes_them_one_step(void **state) {
    static worker w[8];
    host r;
    (void)state;
    open_host(&r);
    for (size_t i = 0; i < 8; i++) w[i] = (worker){.times = 10};
    start_all(w, 8, r.s, add_one);
    join_all(w, 8);
    assert_int_equal(number_at(r.s, "sum"), 80);
    host_finish(&r);
}

static void *look_on(void *arg) {
    worker *w = arg;
    while (!atomic_load(w->stop)) {
        hob_state *now;
        hob_str a = hob_str_z("0"), b = hob_str_z("0");
        if (hob_session_state(w->s, &now, NULL, NULL) < 0) continue;
        hob_state_get(now, hob_str_z("a"), &a);
        hob_state_get(now, hob_str_z("b"), &b);
        w->failed += !hob_str_eq(a, b);
        w->done++;
        hob_state_destroy(now);
    }
    return NULL;
}

static void test_session_state_threads__case_25_a_reader_sees_none_or_both(void **state) {
    static worker w[4];
    atomic_bool stop = false;
    char text[64];
    host r;
    (void)state;
    open_host(&r);
    for (size_t i = 0; i < 4; i++) w[i] = (worker){.stop = &stop};
    start_all(w, 4, r.s, look_on);
    for (int i = 1; i <= 200; i++) {
        snprintf(text, sizeof text, "{\"a\":%d,\"b\":%d}", i, i);
        assert_int_equal(apply(r.s, text), 0);
    }
    atomic_store(&stop, true);
    join_all(w, 4);
    host_finish(&r);
}

/* ---- runs ------------------------------------------------------------------------------------------- */

static void *prompt(void *arg) {
    worker *w = arg;
    char text[16];
    snprintf(text, sizeof text, "q%u", w->number);
    int rc = hob_session_prompt(w->s, hob_str_z(text), NULL);
    w->done = rc == 0;
    w->failed = rc < 0 && rc != HOB_EBUSY;
    return NULL;
}

static void test_session_state_threads__case_17_runs_do_not_interleave(void **state) {
    static worker w[3];
    char want[400] = "";
    hob_page *p;
    host r;
    (void)state;
    open_host(&r);
    for (size_t i = 0; i < 3; i++) w[i] = (worker){.done = 0};
    start_all(w, 3, r.s, prompt);
    join_all(w, 3);
    host_wait(&r);
    int admitted = w[0].done + w[1].done + w[2].done;
    assert_true(admitted >= 1);
    assert_ok(hob_session_history(r.s, &p, &r.err), r.err);
    assert_int_equal(hob_page_count(p), 2 * admitted); /* each question with its answer behind it */
    for (size_t i = 0; i < hob_page_count(p); i += 2) {
        char question[32], answer[32];
        hob_json_field(hob_page_row(p, i), "data.content.0.text", question, sizeof question);
        hob_json_field(hob_page_row(p, i + 1), "data.content.0.text", answer, sizeof answer);
        snprintf(want, sizeof want, "to %s", question);
        assert_string_equal(answer, want);
    }
    hob_page_destroy(p);
    host_finish(&r);
}

/* ---- sessions that share ----------------------------------------------------------------------------- */

static void *set_shared(void *arg) {
    worker *w = arg;
    char text[64];
    for (unsigned i = 1; i <= 50; i++) {
        snprintf(text, sizeof text, "{\"app:k\":%u,\"user:k\":%u}", w->number * 1000 + i, i);
        w->failed += apply(w->s, text) < 0;
    }
    return NULL;
}

/* Whoever came last in the store came last for everybody. */
static void test_session_state_threads__all_agree_about_what_they_share(void **state) {
    enum { N = 4 };
    static worker w[N];
    hob_session *s[N], *late;
    host r;
    (void)state;
    open_host(&r);
    for (size_t i = 0; i < N; i++) {
        assert_ok(hob_session_create(r.rt, &r.so, &s[i], &r.err), r.err);
        w[i] = (worker){.s = s[i], .number = (unsigned)i};
        assert_int_equal(pthread_create(&w[i].thread, NULL, set_shared, &w[i]), 0);
    }
    join_all(w, N);
    assert_ok(hob_session_create(r.rt, &r.so, &late, &r.err), r.err);
    int64_t stored = number_at(late, "app:k");
    assert_true(stored % 1000 == 50);
    for (size_t i = 0; i < N; i++) {
        assert_int_equal(number_at(s[i], "app:k"), stored);
        assert_int_equal(number_at(s[i], "user:k"), 50);
        hob_session_close(s[i]);
    }
    hob_session_close(late);
    host_finish(&r);
}

/* ---- a fixed schedule ----------------------------------------------------------------------------------- */

typedef struct schedule {
    pthread_mutex_t lock;
    pthread_cond_t moved;
    unsigned turn, workers, rounds;
    hob_session *s;
} schedule;

typedef struct player {
    pthread_t thread;
    schedule *plan;
    unsigned number;
} player;

/* Whose turn it is follows from the turn's number alone. */
static void *play(void *arg) {
    player *me = arg;
    schedule *plan = me->plan;
    char text[64];
    pthread_mutex_lock(&plan->lock);
    while (plan->turn < plan->rounds * plan->workers) {
        if (plan->turn * 7 % plan->workers != me->number) {
            pthread_cond_wait(&plan->moved, &plan->lock);
            continue;
        }
        snprintf(text, sizeof text, "{\"k%u\":%u,\"last\":%u}", plan->turn % 13, plan->turn,
                 me->number);
        apply(plan->s, text);
        plan->turn++;
        pthread_cond_broadcast(&plan->moved);
    }
    pthread_mutex_unlock(&plan->lock);
    return NULL;
}

static void play_once(hob_buf *out) {
    player players[8];
    hob_page *p;
    host r;
    open_host(&r);
    schedule plan = {.workers = 8, .rounds = 10, .s = r.s};
    pthread_mutex_init(&plan.lock, NULL);
    pthread_cond_init(&plan.moved, NULL);
    for (unsigned i = 0; i < 8; i++) {
        players[i] = (player){.plan = &plan, .number = i};
        assert_int_equal(pthread_create(&players[i].thread, NULL, play, &players[i]), 0);
    }
    for (unsigned i = 0; i < 8; i++) pthread_join(players[i].thread, NULL);
    assert_ok(hob_session_entries(r.s, 1, &p, &r.err), r.err);
    for (size_t i = 0; i < hob_page_count(p); i++) {
        hob_str row = hob_page_row(p, i);
        ptrdiff_t data = hob_str_find(row, HOB_STR("\"data\":"));
        hob_buf_add(out, hob_str_skip(row, (size_t)data));
    }
    hob_page_destroy(p);
    pthread_cond_destroy(&plan.moved);
    pthread_mutex_destroy(&plan.lock);
    host_finish(&r);
}

static void test_session_state_threads__the_same_schedule_gives_the_same_log(void **state) {
    hob_buf first, second;
    (void)state;
    hob_buf_init(&first, 1u << 20);
    hob_buf_init(&second, 1u << 20);
    play_once(&first);
    play_once(&second);
    assert_true(hob_str_find(hob_buf_str(&first), HOB_STR("{\"k1\":79,\"last\":1}")) > 0);
    assert_string_equal(hob_buf_z(&first), hob_buf_z(&second));
    hob_buf_finish(&first);
    hob_buf_finish(&second);
}

#define T(name) cmocka_unit_test(test_session_state_threads__##name)

int main(void) {
    const struct CMUnitTest tests[] = {
        T(no_delta_is_lost),
        T(case_15_fifty_appends_are_fifty_events),
        T(case_16_a_token_makes_them_one_step),
        T(case_25_a_reader_sees_none_or_both),
        T(case_17_runs_do_not_interleave),
        T(all_agree_about_what_they_share),
        T(the_same_schedule_gives_the_same_log),
    };
    store = "memory";
    int failed = cmocka_run_group_tests_name("memory", tests, NULL, NULL);
    store = "sqlite";
    return failed + cmocka_run_group_tests_name("sqlite", tests, NULL, NULL);
}
