/* A shared session used from many threads at once. */
/* ctest: labels=threads timeout=300 */
#include "shared_tools.h"

#include <pthread.h>
#include <stdatomic.h>

enum { WRITERS = 100, DELTAS = 10000, CASTS = 50 };

typedef struct worker {
    pthread_t thread;
    hob_shared *s;
    unsigned number;
    int failed;
    atomic_bool *stop;
} worker;

static void start_all(worker *w, size_t n, hob_shared *s, void *(*run)(void *)) {
    for (size_t i = 0; i < n; i++) {
        w[i] = (worker){.s = s, .number = (unsigned)i, .stop = w[i].stop};
        assert_int_equal(pthread_create(&w[i].thread, NULL, run, &w[i]), 0);
    }
}

static void join_all(worker *w, size_t n) {
    for (size_t i = 0; i < n; i++) {
        pthread_join(w[i].thread, NULL);
        assert_int_equal(w[i].failed, 0);
    }
}

/* ---- 100 children, 10,000 deltas each ------------------------------------------------------------ */

static void *count_up(void *arg) {
    worker *w = arg;
    char text[64];
    for (int i = 1; i <= DELTAS; i++) {
        int n = snprintf(text, sizeof text, "{\"w%u\":%d,\"last\":\"%u.%d\"}", w->number, i,
                         w->number, i);
        if (hob_shared_apply_state_delta(w->s, hob_str_n(text, (size_t)n), HOB_STR_NULL, NULL) < 0)
            w->failed++;
    }
    return NULL;
}

static void test_log_shared_threads__no_delta_is_lost(void **state) {
    (void)state;
    static worker w[WRITERS];
    char key[16], value[16];
    talk t;
    talk_init(&t, NULL);
    start_all(w, WRITERS, t.s, count_up);
    join_all(w, WRITERS);
    assert_int_equal(hob_shared_revision(t.s), (uint64_t)WRITERS * DELTAS);
    for (int i = 0; i < WRITERS; i++) {
        snprintf(key, sizeof key, "w%d", i);
        snprintf(value, sizeof value, "%d", DELTAS);
        assert_string_equal(value_of(&t, key), value);
    }
    talk_finish(&t);
}

/* ---- the revision as a lock: read, add one, write ------------------------------------------------- */

static void *add_one(void *arg) {
    worker *w = arg;
    for (int done = 0; done < 200;) {
        hob_shared_event e = HOB_SHARED_EVENT_INIT;
        hob_shared_snapshot *p;
        hob_str value;
        int64_t n = 0;
        char text[32];
        hob_shared_events_snapshot(w->s, &p);
        if (hob_shared_snapshot_get(p, HOB_STR("n"), &value) == HOB_OK) hob_str_int(value, &n);
        snprintf(text, sizeof text, "{\"n\":%lld}", (long long)n + 1);
        e.author = HOB_STR("a");
        e.state_delta = hob_str_z(text);
        int rc = hob_shared_append_event_at(w->s, hob_shared_snapshot_revision(p), &e, NULL, NULL);
        hob_shared_snapshot_unref(p);
        if (rc >= 0) done++;
        if (rc < 0 && rc != HOB_EBUSY) w->failed++;
    }
    return NULL;
}

static void test_log_shared_threads__a_revision_makes_read_and_write_one_step(void **state) {
    (void)state;
    worker w[4] = {0};
    talk t;
    talk_init(&t, NULL);
    start_all(w, 4, t.s, add_one);
    join_all(w, 4);
    assert_string_equal(value_of(&t, "n"), "800");
    assert_int_equal(hob_shared_events_len(t.s), 800);
    talk_finish(&t);
}

/* ---- 50 writers with stale copies ------------------------------------------------------------------ */

static void *append_one(void *arg) {
    worker *w = arg;
    hob_shared_event e = HOB_SHARED_EVENT_INIT;
    char text[32];
    snprintf(text, sizeof text, "{\"k%u\":1}", w->number);
    e.author = HOB_STR("a");
    e.state_delta = hob_str_z(text);
    w->failed = hob_shared_append_event(w->s, &e, NULL, NULL) < 0;
    return NULL;
}

static int count_key(hob_str key, hob_str value, void *user) {
    (void)key;
    (void)value;
    ++*(int *)user;
    return 0;
}

static void test_log_shared_threads__adk_15_fifty_appends_are_fifty_events(void **state) {
    (void)state;
    worker w[CASTS] = {0};
    int keys = 0;
    talk t;
    talk_init(&t, NULL);
    start_all(w, CASTS, t.s, append_one);
    join_all(w, CASTS);
    hob_shared_state_iterate(t.s, HOB_SCOPE_ALL, count_key, &keys);
    assert_int_equal(keys, CASTS);
    assert_int_equal(hob_shared_events_len(t.s), CASTS);
    talk_finish(&t);
}

/* ---- readers see none or both, and the event with its delta --------------------------------------------- */

static void *look(void *arg) {
    worker *w = arg;
    while (!atomic_load(w->stop)) {
        hob_shared_snapshot *p;
        hob_str a = HOB_STR_NULL, b = HOB_STR_NULL;
        int64_t n = 0;
        hob_shared_events_snapshot(w->s, &p);
        int x = hob_shared_snapshot_get(p, HOB_STR("a"), &a);
        int y = hob_shared_snapshot_get(p, HOB_STR("b"), &b);
        if (x == HOB_OK) hob_str_int(a, &n);
        w->failed += x != y || !hob_str_eq(a, b) || (size_t)n != hob_shared_snapshot_len(p);
        hob_shared_history *h;
        if (hob_shared_snapshot_history(p, &(hob_shared_history_opts)HOB_SHARED_HISTORY_OPTS_INIT,
                                        &h, NULL) == HOB_OK) {
            w->failed += hob_shared_history_count(h) != (size_t)n;
            hob_shared_history_destroy(h);
        }
        hob_shared_snapshot_unref(p);
    }
    return NULL;
}

static void test_log_shared_threads__adk_25_a_reader_sees_none_or_both(void **state) {
    (void)state;
    worker w[3] = {0};
    atomic_bool stop = false;
    talk t;
    talk_init(&t, NULL);
    for (size_t i = 0; i < HOB_ARRAY_LEN(w); i++) w[i].stop = &stop;
    start_all(w, HOB_ARRAY_LEN(w), t.s, look);
    for (int i = 1; i <= 600; i++) {
        char text[64];
        hob_shared_event e = event_of(&t, "user", "[{'type':'text','text':'x'}]");
        snprintf(text, sizeof text, "{\"a\":%d,\"b\":%d}", i, i);
        e.state_delta = hob_str_z(text);
        must_append(&t, &e);
    }
    atomic_store(&stop, true);
    join_all(w, HOB_ARRAY_LEN(w));
    talk_finish(&t);
}

/* ---- three runs at once ------------------------------------------------------------------------------------ */

static void *one_turn(void *arg) {
    worker *w = arg;
    char name[16], content[64];
    hob_shared_event e = HOB_SHARED_EVENT_INIT;
    snprintf(name, sizeof name, "run%u", w->number);
    snprintf(content, sizeof content, "[{\"type\":\"text\",\"text\":\"%s\"}]", name);
    e.invocation = hob_str_z(name);
    e.content = hob_str_z(content);
    while (hob_shared_begin(w->s, e.invocation, NULL) == HOB_EBUSY) sched_yield();
    e.author = HOB_STR("user");
    w->failed += hob_shared_append_event(w->s, &e, NULL, NULL) < 0;
    e.author = HOB_STR("a");
    w->failed += hob_shared_append_event(w->s, &e, NULL, NULL) < 0;
    w->failed += hob_shared_end(w->s, e.invocation, NULL) < 0;
    return NULL;
}

static void test_log_shared_threads__adk_17_three_runs_are_three_whole_turns(void **state) {
    (void)state;
    worker w[3] = {0};
    hob_shared_snapshot *p;
    talk t;
    talk_init(&t, NULL);
    start_all(w, 3, t.s, one_turn);
    join_all(w, 3);
    hob_shared_events_snapshot(t.s, &p);
    assert_int_equal(hob_shared_snapshot_len(p), 6);
    for (size_t i = 0; i < 6; i += 2) {
        const hob_shared_event *q = hob_shared_snapshot_event(p, i),
                               *a = hob_shared_snapshot_event(p, i + 1);
        assert_str(q->author, "user");
        assert_str(a->author, "a");
        assert_true(hob_str_eq(q->invocation, a->invocation));
    }
    hob_shared_snapshot_unref(p);
    talk_finish(&t);
}

/* ---- a fixed schedule ---------------------------------------------------------------------------------------- */

typedef struct schedule {
    pthread_mutex_t lock;
    pthread_cond_t moved;
    unsigned turn, workers, rounds;
    hob_shared *s;
} schedule;

typedef struct player {
    pthread_t thread;
    schedule *plan;
    unsigned number;
} player;

/* Whose turn it is follows from the turn's number alone. */
static unsigned whose(unsigned turn, unsigned workers) {
    return turn * 7 % workers;
}

static void *play(void *arg) {
    player *me = arg;
    schedule *plan = me->plan;
    pthread_mutex_lock(&plan->lock);
    while (plan->turn < plan->rounds * plan->workers) {
        if (whose(plan->turn, plan->workers) != me->number) {
            pthread_cond_wait(&plan->moved, &plan->lock);
            continue;
        }
        hob_shared_event e = HOB_SHARED_EVENT_INIT;
        char text[64];
        snprintf(text, sizeof text, "{\"k%u\":%u,\"last\":%u}", plan->turn % 13, plan->turn,
                 me->number);
        e.author = HOB_STR("a");
        e.state_delta = hob_str_z(text);
        hob_shared_append_event(plan->s, &e, NULL, NULL);
        plan->turn++;
        pthread_cond_broadcast(&plan->moved);
    }
    pthread_mutex_unlock(&plan->lock);
    return NULL;
}

static void play_once(char *out, size_t cap) {
    player players[8];
    talk t;
    talk_init(&t, NULL);
    schedule plan = {.workers = 8, .rounds = 10, .s = t.s};
    pthread_mutex_init(&plan.lock, NULL);
    pthread_cond_init(&plan.moved, NULL);
    for (unsigned i = 0; i < 8; i++) {
        players[i] = (player){.plan = &plan, .number = i};
        assert_int_equal(pthread_create(&players[i].thread, NULL, play, &players[i]), 0);
    }
    for (unsigned i = 0; i < 8; i++) pthread_join(players[i].thread, NULL);
    snprintf(out, cap, "%s", exported(&t));
    pthread_cond_destroy(&plan.moved);
    pthread_mutex_destroy(&plan.lock);
    talk_finish(&t);
}

static void test_log_shared_threads__the_same_schedule_gives_the_same_log(void **state) {
    (void)state;
    static char first[16384], second[16384];
    play_once(first, sizeof first);
    play_once(second, sizeof second);
    assert_non_null(strstr(first, "'id':'s80'"));
    assert_string_equal(first, second);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_log_shared_threads__no_delta_is_lost),
        cmocka_unit_test(test_log_shared_threads__a_revision_makes_read_and_write_one_step),
        cmocka_unit_test(test_log_shared_threads__adk_15_fifty_appends_are_fifty_events),
        cmocka_unit_test(test_log_shared_threads__adk_25_a_reader_sees_none_or_both),
        cmocka_unit_test(test_log_shared_threads__adk_17_three_runs_are_three_whole_turns),
        cmocka_unit_test(test_log_shared_threads__the_same_schedule_gives_the_same_log),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
