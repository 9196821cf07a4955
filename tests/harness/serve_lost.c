/* ctest: timeout=300 */
/*
 * Peers that vanish: their packets are lost, and nothing says that they are gone (REL-17). A client of `hob serve` is let
 * go in bounded time, its run goes on, and it comes back to every event once; a model that vanishes in the middle of its
 * answer is asked again, or the run ends and the session goes on later.
 *
 * The kernel's waits are looked at and then cut short in the server's own sockets, so that nobody waits for a minute;
 * with HOB_LONG they stay.
 */
#include "support/check.h"
#include "support/cli.h"
#include "support/httpd.h"
#include "support/seen.h"
#include "support/wire.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define TOKEN "0123456789abcdef0123456789abcdef"

static const char script[] =
    "{'rules':[{'when':{'user':'work','step':{'max':20}},'reply':[{'text':'looking around now',"
    "'chunk':4,'delay_ms':20},{'tool':'read','args':{'path':'script.json'}}]}],"
    "'otherwise':[{'text':'done with it all'}]}";

static bool laid;

static int lay(void **state) {
    char why[200];
    const char *ci = getenv("CI");
    (void)state;
    laid = wire_lay(why, sizeof why);
    if (laid) return 0;
    print_message("serve_lost: skipped: this machine lacks %s\n", why);
    return ci && !strcmp(ci, "true") ? -1 : 0;
}

/* ---- clients ----------------------------------------------------------------------------------------------------- */

static void start(hob_test_cli *c, client *k) {
    char model[200], url[100];
    hob_test_quoted_file(c, "script.json", script);
    hob_test_env(c, "HOB_SERVER_TOKEN=" TOKEN);
    snprintf(model, sizeof model, "scripted:%s/script.json", c->folder.path);
    HOB_START(c, "serve", "--insecure", "--listen", "0.0.0.0:0", "--json", "-m", model);
    hob_test_until(c, "\"ready\"");
    snprintf(url, sizeof url, "%.*s",
             HOB_FMT(hob_json_get_str(hob_test_typed(c, "ready", 0), "url")));
    client_init(k, atoi(strrchr(url, ':') + 1), TOKEN);
    while (client_call(k, "GET", "/readyz", NULL) != 200) usleep(1000);
}

static void attach_far(client *k, seen *s) {
    wire_go(true);
    seen_attach(k, s);
    wire_go(false);
}

static int option(int fd, int level, int name) {
    int value = 0;
    socklen_t n = sizeof value;
    assert_int_equal(getsockopt(fd, level, name, &value, &n), 0);
    return value;
}

static void set(int fd, int name, int value) {
    assert_int_equal(setsockopt(fd, IPPROTO_TCP, name, &value, sizeof value), 0);
}

/* A dead peer is let go after a minute at most, whether there is something to send or not. */
static void shorten(hob_test_cli *c, const seen *s) {
    int fd = wire_other_end(c->pid, tail_fd(s->t));
    assert_true(option(fd, SOL_SOCKET, SO_KEEPALIVE));
    int asks = option(fd, IPPROTO_TCP, TCP_KEEPIDLE) +
               option(fd, IPPROTO_TCP, TCP_KEEPINTVL) * option(fd, IPPROTO_TCP, TCP_KEEPCNT);
    int unheard = option(fd, IPPROTO_TCP, TCP_USER_TIMEOUT);
    assert_in_range(asks, 1, 60);
    assert_in_range(unheard, 1, 60 * 1000);
    const char *longer = getenv("HOB_LONG");
    if (!longer || !*longer) {
        set(fd, TCP_KEEPIDLE, 1);
        set(fd, TCP_KEEPINTVL, 1);
        set(fd, TCP_USER_TIMEOUT, 500);
    }
    close(fd);
}

static int open_streams(client *k) {
    assert_int_equal(client_call(k, "GET", "/metrics", NULL), 200);
    const char *line = strstr(hob_buf_z(&k->body), "\nhob_http_streams ");
    assert_non_null(line);
    return atoi(line + strlen("\nhob_http_streams "));
}

/* ctest's own limit ends a wait that does not end. */
static void until_streams(client *k, int n) {
    while (open_streams(k) != n) usleep(20 * 1000);
}

static void test_harness_serve_lost__a_client_that_vanishes_is_let_go_and_comes_back(void **state) {
    hob_test_cli *c = *state;
    client k;
    seen lost = {.id = "one"}, stays = {.id = "one"};
    if (!laid) skip();
    start(c, &k);
    client_expect(&k, 201, "POST", "{'id':'one'}", "/api/sessions", "");
    attach_far(&k, &lost);
    seen_attach(&k, &stays);
    client_expect(&k, 202, "POST", "{'text':'work'}", "/api/sessions/%s/prompt", "one");
    while (strcmp(tail_event(lost.t), "tool_finished") != 0) {
        assert_int_equal(tail_next(lost.t), 1);
        seen_note(&lost);
    }
    shorten(c, &lost);
    assert_int_equal(open_streams(&k), 2);
    wire_cut();
    until_streams(&k, 1);
    seen_to_end(&stays); /* the run went on */
    seen_compare(&k, &stays);
    wire_mend();
    seen_drain(&lost); /* what was on its way */
    assert_false(lost.settled);
    tail_close(lost.t);
    attach_far(&k, &lost);
    seen_to_end(&lost);
    seen_compare(&k, &lost);
    tail_close(lost.t);
    tail_close(stays.t);
    client_finish(&k);
}

/* There is nothing to send: the kernel asks. */
static void test_harness_serve_lost__a_client_that_vanishes_in_silence_is_let_go(void **state) {
    hob_test_cli *c = *state;
    client k;
    seen lost = {.id = "one"};
    if (!laid) skip();
    start(c, &k);
    client_expect(&k, 201, "POST", "{'id':'one'}", "/api/sessions", "");
    attach_far(&k, &lost);
    assert_int_equal(open_streams(&k), 1);
    shorten(c, &lost);
    wire_cut();
    until_streams(&k, 0);
    wire_mend();
    tail_close(lost.t);
    attach_far(&k, &lost);
    client_expect(&k, 202, "POST", "{'text':'hello'}", "/api/sessions/%s/prompt", "one");
    seen_to_end(&lost);
    seen_compare(&k, &lost);
    tail_close(lost.t);
    client_finish(&k);
}

/* ---- models -------------------------------------------------------------------------------------------------------- */

#define CHAT(delta, finish)                                                                        \
    "data: {\"id\":\"c1\",\"choices\":[{\"index\":0,\"delta\":{" delta                             \
    "},\"finish_reason\":" finish "}]}\n\n"

/* The first answer stops in the middle. */
static void answer(httpd_exchange *x, void *user) {
    (void)user;
    httpd_begin(x, 200, "Content-Type: text/event-stream\r\n");
    if (httpd_number(x) == 1) {
        httpd_send(x, HOB_STR(CHAT("\"content\":\"half an ans\"", "null")));
        httpd_hang(x);
        return;
    }
    httpd_send(x, HOB_STR(CHAT("\"content\":\"whole\"", "null") CHAT("", "\"stop\"")));
    httpd_send(x, HOB_STR("data: [DONE]\n\n"));
    httpd_end(x);
}

/* Asks the far model, and cuts the wire when the answer has begun. */
static httpd *ask_far(hob_test_cli *c, int attempts) {
    char text[1000];
    wire_go(true);
    httpd *d = httpd_start(answer, NULL);
    wire_go(false);
    snprintf(
        text, sizeof text,
        "{'model': 'lab/m', 'retry': {'attempts': %d, 'cap_s': 0.1}, 'timeouts': {'connect_s': 0.5, 'idle_s': 0.5},"
        " 'providers': {'lab': {'api': 'openai-chat', 'base_url': 'http://" WIRE_FAR
        ":%d/v1', 'api_key': 'k', 'models': {'m': {'context': 100000, 'output': 1000}}}}}",
        attempts, httpd_port(d));
    hob_test_quoted_file(c, "home/config.json", text);
    HOB_START(c, "-p", "--output-format", "stream-json", "hi");
    hob_test_close_in(c);
    hob_test_until(c, "half an ans");
    wire_cut();
    return d;
}

static void test_harness_serve_lost__a_model_that_vanishes_is_asked_again(void **state) {
    hob_test_cli *c = *state;
    if (!laid) skip();
    httpd *d = ask_far(c, 50);
    hob_test_until(c, "\"retry_scheduled\"");
    hob_test_until(c, "\"attempt\":2");
    wire_mend();
    assert_int_equal(hob_test_end(c), 0);
    assert_out_has(c, "whole");
    httpd_stop(d);
}

static void test_harness_serve_lost__without_a_model_the_run_ends_and_the_session_goes_on(
    void **state) {
    hob_test_cli *c = *state;
    if (!laid) skip();
    httpd *d = ask_far(c, 3);
    assert_int_equal(hob_test_end(c), 1);
    assert_err_has(c, "lab: no connection to " WIRE_FAR);
    wire_mend();
    assert_int_equal(HOB_RUN(c, NULL, "-p", "-c", "go on"), 0);
    assert_out(c, "whole\n");
    httpd_stop(d);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, hob_test_cli_setup, hob_test_cli_teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_harness_serve_lost__a_client_that_vanishes_is_let_go_and_comes_back),
        TEST(test_harness_serve_lost__a_client_that_vanishes_in_silence_is_let_go),
        TEST(test_harness_serve_lost__a_model_that_vanishes_is_asked_again),
        TEST(test_harness_serve_lost__without_a_model_the_run_ends_and_the_session_goes_on),
    };
    return cmocka_run_group_tests(tests, lay, NULL);
}
