/*
 * Two hundred calls at a time against a server that answers, stalls, cuts and resets at random, while
 * calls are cancelled at random: every call ends exactly once or was cancelled, and nothing is left.
 */
#include "net/http_internal.h"
#include "support/check.h"
#include "support/http_calls.h"

enum { AT_ONCE = 200, IN_ALL = 1500 };

typedef struct chaos {
    http_fixture *f;
    uint64_t seed;
    int started, done, cancelled, failed;
    struct chaotic {
        struct chaos *all;
        hob_http_call *call;
        bool head;
        size_t bytes;
    } calls[AT_ONCE];
} chaos;

static unsigned roll(uint64_t *seed, unsigned sides) {
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(*seed >> 33) % sides;
}

static void answer(httpd_exchange *x, void *user) {
    uint64_t seed = httpd_number(x) * 0x9E3779B97F4A7C15u;
    (void)user;
    switch (roll(&seed, 8)) {
    case 0: httpd_reset(x); return;
    case 1: httpd_close(x); return;
    case 2:
        httpd_begin(x, 200, NULL);
        httpd_send(x, HOB_STR("some bytes"));
        httpd_reset(x);
        return;
    case 3:
        httpd_raw(x, HOB_STR("HTTP/1.1 200 OK\r\nContent-Le"));
        httpd_close(x);
        return;
    case 4:
        httpd_begin(x, 200, NULL);
        httpd_send(x, HOB_STR("then silence"));
        httpd_hang(x);
        return;
    case 5: httpd_bytewise(x); break;
    default: break;
    }
    http_stream(x, NULL);
}

static void start_one(struct chaotic *c);

static void on_head(void *user, const hob_http_head *head) {
    struct chaotic *c = user;
    assert_non_null(c->call);
    assert_false(c->head);
    assert_int_equal(head->status, 200);
    c->head = true;
}

/* From inside libcurl: cancels itself, or any other. */
static void cancel_some(struct chaotic *c) {
    chaos *all = c->all;
    struct chaotic *victim = roll(&all->seed, 2) ? c : &all->calls[roll(&all->seed, AT_ONCE)];
    if (!victim->call) return;
    hob_http_cancel(victim->call);
    victim->call = NULL;
    all->cancelled++;
    start_one(victim);
}

static int on_data(void *user, hob_str chunk) {
    struct chaotic *c = user;
    assert_non_null(c->call);
    assert_true(c->head);
    c->bytes += chunk.n;
    if (roll(&c->all->seed, 100) == 0) cancel_some(c);
    return HOB_OK;
}

static void on_done(void *user, int code, const hob_error *err) {
    struct chaotic *c = user;
    assert_non_null(c->call);
    assert_int_equal(code < 0, err != NULL);
    if (code == HOB_OK) assert_int_equal(c->bytes, strlen(http_stream_text));
    c->all->done++;
    c->all->failed += code < 0;
    c->call = NULL;
    if (roll(&c->all->seed, 10) == 0) cancel_some(c);
    if (!c->call) start_one(c);
}

static void start_one(struct chaotic *c) {
    static const hob_http_handler handler = {on_head, on_data, on_done};
    chaos *all = c->all;
    static const hob_str body = {"some body", 9};
    char url[64];
    if (all->started >= IN_ALL) return;
    all->started++;
    c->head = false;
    c->bytes = 0;
    hob_http_request rq = {.method = "POST",
                           .body = &body,
                           .nbody = 1,
                           .idle_timeout_ms = 300 + roll(&all->seed, 200)};
    rq.url = hob_str_z(httpd_url(all->f->server, "/", url, sizeof(url)));
    assert_int_equal(hob_http_start(all->f->http, &rq, &handler, c, &c->call, NULL), 0);
}

static void test_net_http_chaos__every_call_ends_once(void **state) {
    http_fixture *f = *state;
    static chaos all;
    all = (chaos){.f = f, .seed = 4711};
    f->answer = answer;
    for (int i = 0; i < AT_ONCE; i++) {
        all.calls[i].all = &all;
        start_one(&all.calls[i]);
    }
    while (all.done + all.cancelled < IN_ALL) hob_loop_run_once(f->loop, -1);
    assert_int_equal(f->http->ncalls, 0);
    assert_int_equal(all.started, IN_ALL);
    assert_true(all.failed > 0 && all.cancelled > 0 && all.done > all.failed);
    print_message("%d done, %d of them failed, %d cancelled, %u connections\n", all.done,
                  all.failed, all.cancelled, httpd_connections(f->server));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_net_http_chaos__every_call_ends_once, http_setup,
                                        http_teardown),
    };
    return cmocka_run_group_tests_name("net/http_chaos", tests, NULL, NULL);
}
