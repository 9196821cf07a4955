/*
 * SEC-53: many clients at once, each with a word of its own in every call. Nobody ever gets what belongs to another.
 * HOB_LONG: 64 clients with 1,000 calls each; otherwise 16 with 200.
 */
#include "support/check.h"
#include "support/webd.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static webd *server;
static int calls;
static atomic_uint wrong, right;

static bool call_once(int fd, const char *nonce) {
    char body[128], text[600];
    webd_answer a;
    int n = snprintf(body, sizeof body, "{\"nonce\":\"%s\"}", nonce);
    int m = snprintf(text, sizeof text,
                     "POST /echo HTTP/1.1\r\n%s" WEBD_AUTH
                     "Content-Type: application/json\r\nContent-Length: %d\r\n\r\n%s",
                     server->host, n, body);
    webd_send(fd, hob_str_n(text, (size_t)m));
    webd_receive(fd, &a);
    bool mine = a.status == 200 && hob_str_eqz(a.body, body);
    webd_answer_finish(&a);
    return mine;
}

static void *client(void *arg) {
    int me = (int)(intptr_t)arg, fd = webd_connect(server);
    for (int i = 0; i < calls; i++) {
        char nonce[64];
        if (i % 50 == 49) { /* a fresh connection now and then */
            close(fd);
            fd = webd_connect(server);
        }
        snprintf(nonce, sizeof nonce, "client-%d-call-%d", me, i);
        atomic_fetch_add(call_once(fd, nonce) ? &right : &wrong, 1);
    }
    close(fd);
    return NULL;
}

static void test_serve_crowd__nobody_gets_the_answer_of_another(void **state) {
    (void)state;
    bool all = getenv("HOB_LONG") != NULL;
    int clients = all ? 64 : 16;
    pthread_t threads[64];
    calls = all ? 1000 : 200;
    server = webd_start(NULL);
    for (int i = 0; i < clients; i++)
        pthread_create(&threads[i], NULL, client, (void *)(intptr_t)i);
    for (int i = 0; i < clients; i++) pthread_join(threads[i], NULL);
    assert_int_equal(atomic_load(&wrong), 0);
    assert_int_equal(atomic_load(&right), clients * calls);
    webd_free(server);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_serve_crowd__nobody_gets_the_answer_of_another),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
