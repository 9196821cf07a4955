/* Workers are few and handlers may block: no caller has all of them while there are others. */
#include "support/check.h"
#include "support/folder.h"
#include "support/webd.h"

#include <stdio.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#define OTHER "another-token-for-tests"

enum { MANY = 10 };

typedef struct scene {
    hob_test_folder f;
    webd *d;
    int fds[MANY];
} scene;

static void write_tokens(scene *s) {
    hob_test_folder_make(&s->f);
    hob_test_file(&s->f, "t",
                  HOB_STR("{\"tokens\":[{\"name\":\"a\",\"token\":\"" WEBD_TOKEN "\"},"
                          "{\"name\":\"b\",\"token\":\"" OTHER "\"}]}"));
    chmod(hob_test_path(&s->f, "t"), 0600);
}

/* Four workers; one caller has ten requests that wait for something. */
static void begin(scene *s) {
    hob_server_opts o = HOB_SERVER_OPTS_INIT;
    char text[400];
    write_tokens(s);
    o.token_file = hob_test_path(&s->f, "t");
    o.workers = 4;
    s->d = webd_start(&o);
    int n = snprintf(text, sizeof text, "GET /block HTTP/1.1\r\n%s" WEBD_AUTH "\r\n", s->d->host);
    for (int i = 0; i < MANY; i++) {
        s->fds[i] = webd_connect(s->d);
        assert_int_equal(send(s->fds[i], text, (size_t)n, MSG_NOSIGNAL), n);
    }
    webd_wait(webd_blocked() == 2);
}

static void end(scene *s) {
    for (int i = 0; i < MANY; i++) close(s->fds[i]);
    hob_test_folder_remove(&s->f);
}

static void test_serve_turns__others_are_served_meanwhile(void **state) {
    scene s;
    webd_answer a;
    (void)state;
    begin(&s);
    for (int i = 0; i < 50; i++) {
        webd_call(s.d, "GET /item/1/2", "Authorization: Bearer " OTHER "\r\n", NULL, &a);
        assert_int_equal(a.status, 200);
        webd_answer_finish(&a);
    }
    assert_int_equal(webd_blocked(), 2);
    webd_release(MANY); /* each of the ten has its turn */
    char text[16];
    for (int i = 0; i < MANY; i++) assert_true(recv(s.fds[i], text, 12, MSG_WAITALL) == 12);
    webd_free(s.d);
    end(&s);
}

static void test_serve_turns__what_waits_goes_with_its_client_or_the_server(void **state) {
    scene s;
    (void)state;
    begin(&s);
    for (int i = 5; i < MANY; i++) shutdown(s.fds[i], SHUT_RDWR);
    webd_release(2);
    webd_wait(webd_blocked() == 2);
    hob_server_stop(s.d->server, 0); /* the others never began */
    webd_release(MANY);
    webd_free(s.d);
    end(&s);
}

/* The rest of an answer after which the connection is closed. */
static void assert_says(int fd, const char *words) {
    char text[2000] = "";
    ssize_t n = recv(fd, text, sizeof text - 1, MSG_WAITALL);
    if (n <= 0 || !strstr(text, words)) fail_msg("%s is not in %s", words, text);
}

static void test_serve_turns__nobody_has_all_connections(void **state) {
    scene s = {.d = NULL};
    hob_server_opts o = HOB_SERVER_OPTS_INIT;
    webd_answer a;
    char text[400], status[16];
    (void)state;
    write_tokens(&s);
    o.token_file = hob_test_path(&s.f, "t");
    o.max_connections = 12;
    s.d = webd_start(&o);
    int n = snprintf(text, sizeof text, "GET /item/1/2 HTTP/1.1\r\n%s" WEBD_AUTH "\r\n", s.d->host);
    for (int i = 0; i < MANY; i++) {
        s.fds[i] = webd_connect(s.d);
        assert_int_equal(send(s.fds[i], text, (size_t)n, MSG_NOSIGNAL), n);
        assert_int_equal(recv(s.fds[i], status, 12, MSG_WAITALL), 12);
        assert_memory_equal(status + 9, i < 6 ? "200" : "429", 3);
        if (i == 6) assert_says(s.fds[i], "\"code\":\"limit\"");
    }
    webd_call(s.d, "GET /item/1/2", "Authorization: Bearer " OTHER "\r\n", NULL, &a);
    assert_int_equal(a.status, 200);
    webd_answer_finish(&a);
    status[9] = 0; /* and what is closed can be used again, as soon as that is known */
    for (int i = 0; i < 1000 && status[9] != '2'; i++) {
        close(s.fds[0]);
        webd_nap();
        s.fds[0] = webd_connect(s.d);
        assert_int_equal(send(s.fds[0], text, (size_t)n, MSG_NOSIGNAL), n);
        assert_int_equal(recv(s.fds[0], status, 12, MSG_WAITALL), 12);
    }
    assert_memory_equal(status + 9, "200", 3);
    webd_free(s.d);
    end(&s);
}

static void assert_served(int fd, const char *text) {
    webd_answer a;
    webd_send(fd, hob_str_z(text));
    webd_receive(fd, &a);
    assert_int_equal(a.status, 200);
    webd_answer_finish(&a);
}

/* All have spoken and are silent; the one that was silent first goes. */
static void test_serve_turns__idle_connections_make_room(void **state) {
    enum { ROOM = 8 };
    scene s = {.d = NULL, .fds = {[ROOM] = -1, [ROOM + 1] = -1}};
    hob_server_opts o = HOB_SERVER_OPTS_INIT;
    webd_answer a;
    char text[2][400];
    (void)state;
    write_tokens(&s);
    o.token_file = hob_test_path(&s.f, "t");
    o.max_connections = ROOM;
    s.d = webd_start(&o);
    snprintf(text[0], 400, "GET /tagged HTTP/1.1\r\n%s" WEBD_AUTH "\r\n", s.d->host);
    snprintf(text[1], 400, "GET /tagged HTTP/1.1\r\n%sAuthorization: Bearer " OTHER "\r\n\r\n",
             s.d->host);
    for (int i = 0; i < ROOM; i++) assert_served(s.fds[i] = webd_connect(s.d), text[i % 2]);
    webd_call(s.d, "GET /ping", NULL, NULL, &a);
    assert_int_equal(a.status, 200);
    webd_answer_finish(&a);
    assert_true(webd_closed(s.fds[0]));
    for (int i = 1; i < ROOM; i++) assert_served(s.fds[i], text[i % 2]);
    webd_free(s.d);
    end(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_serve_turns__others_are_served_meanwhile),
        cmocka_unit_test(test_serve_turns__idle_connections_make_room),
        cmocka_unit_test(test_serve_turns__nobody_has_all_connections),
        cmocka_unit_test(test_serve_turns__what_waits_goes_with_its_client_or_the_server),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
