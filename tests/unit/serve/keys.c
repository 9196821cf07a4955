/* Idempotency-Key: known as long as the documentation promises, 4,096 events; and from the first moment on. */
#include "serve/callers.h"
#include "serve/hub.h"
#include "support/check.h"
#include "support/desk.h"

#include <pthread.h>
#include <stdio.h>

static int setup(void **state) {
    return desk_setup(state, "{'otherwise':[{'text':'hi'}]}");
}

static void make_key(int i, char out[HOB_KEY_SIZE]) {
    char name[24];
    snprintf(name, sizeof name, "key-%d", i);
    hob_key_make(hob_str_z(name), HOB_STR("/route"), HOB_STR("{}"), out);
}

static void test_serve_keys__as_many_are_known_as_events_are_promised(void **state) {
    enum { PROMISED = 4096 };
    desk *d = *state;
    char key[HOB_KEY_SIZE];
    hob_answer a = {.seq = 0};
    hob_room *room;
    hob_error err;
    desk_session(d, "one");
    const hob_caller *c = hob_callers_named(d->server->callers, HOB_STR("default"));
    assert_ok(hob_hub_open(d->server->hub, c, HOB_STR("one"), &room, &err), err);
    for (int i = 0; i < PROMISED; i++) {
        make_key(i, key);
        a.seq = (uint64_t)i;
        assert_int_equal(hob_room_asked(room, key, &a, &err), 0);
        hob_room_answered(room, key, &a);
    }
    make_key(0, key);
    assert_int_equal(hob_room_asked(room, key, &a, &err), 1);
    assert_int_equal(a.seq, 0);
    make_key(PROMISED, key); /* and then the oldest is forgotten */
    assert_int_equal(hob_room_asked(room, key, &a, &err), 0);
    hob_room_answered(room, key, &a);
    make_key(0, key);
    assert_int_equal(hob_room_asked(room, key, &a, &err), 0);
    hob_room_answered(room, key, NULL);
    hob_hub_leave(room);
    hob_caller_unref(c);
}

enum { CLIENTS = 8, ROUNDS = 25 };

typedef struct maker {
    desk *d;
    char header[40], id[200];
    int status;
} maker;

static void *make_session(void *user) {
    maker *m = user;
    client c;
    client_init(&c, m->d->port, DESK_TOKEN);
    m->status = client_call_with(&c, "POST", "/api/sessions", m->header, "{'title':'x'}");
    snprintf(m->id, sizeof m->id, "%s", client_field(&c, "id"));
    client_finish(&c);
    return NULL;
}

static void test_serve_keys__who_comes_at_the_same_time_gets_the_same_session(void **state) {
    static maker m[CLIENTS];
    pthread_t threads[CLIENTS];
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < CLIENTS; i++) {
            m[i] = (maker){.d = *state};
            snprintf(m[i].header, sizeof m[i].header, "Idempotency-Key: round-%d\r\n", round);
            pthread_create(&threads[i], NULL, make_session, &m[i]);
        }
        for (int i = 0; i < CLIENTS; i++) pthread_join(threads[i], NULL);
        for (int i = 0; i < CLIENTS; i++) {
            assert_int_equal(m[i].status, 201);
            assert_string_equal(m[i].id, m[0].id);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_serve_keys__as_many_are_known_as_events_are_promised,
                                        setup, desk_teardown),
        cmocka_unit_test_setup_teardown(
            test_serve_keys__who_comes_at_the_same_time_gets_the_same_session, setup,
            desk_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
