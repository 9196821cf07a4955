/*
 * What /metrics says: true counts, in a form that Prometheus reads.
 */
#include "support/check.h"
#include "support/desk.h"
#include "support/webd.h"

#include <stdio.h>
#include <stdlib.h>

static const char script[] =
    "{'rules':[{'when':{'user':'read','step':1},'reply':[{'tool':'read','args':{'path':'none'}}]},"
    "{'when':{'user':'hang'},'reply':[{'text':'so far'},{'wait':true}]},"
    "{'when':{'user':'write'},'reply':[{'tool':'write','args':{'path':'a','content':'b'}}]}],"
    "'otherwise':[{'text':'hello there'}]}";

static int setup(void **state) {
    desk *d = hob_alloc(sizeof *d);
    desk_init(d, script);
    d->ro.store = "memory";
    desk_start(d);
    *state = d;
    return 0;
}

/* The value of the sample that begins so; -1 if there is none. */
static double sample(desk *d, const char *name) {
    hob_str rest = hob_buf_str(&d->c.body), line, wanted = hob_str_z(name);
    while (hob_str_split(&rest, '\n', &line))
        if (hob_str_starts(line, wanted) && line.n > wanted.n && line.p[wanted.n] == ' ')
            return strtod(line.p + wanted.n, NULL);
    return -1;
}

static void test_serve_metrics__what_happened_is_counted(void **state) {
    desk *d = *state;
    desk_session(d, "one");
    desk_prompt(d, "one", "hello");
    desk_settle(d, "one");
    desk_prompt(d, "one", "read");
    desk_settle(d, "one");
    assert_int_equal(desk_get(d, "/no/such/path"), 404);
    assert_int_equal(desk_get(d, "/metrics"), 200);
    assert_true(sample(d, "hob_runs_started_total") == 2);
    assert_true(sample(d, "hob_runs_finished_total{status=\"completed\"}") == 2);
    assert_true(sample(d, "hob_runs_finished_total{status=\"failed\"}") == 0);
    assert_true(sample(d, "hob_model_calls_total") == 3);
    assert_true(sample(d, "hob_tool_calls_total{outcome=\"error\"}") == 1);
    assert_true(sample(d, "hob_model_tokens_total{kind=\"output_tokens\"}") > 0);
    assert_true(sample(d, "hob_sessions_open") == 1);
    assert_true(sample(d, "hob_events_total") > 10);
    assert_true(
        sample(
            d,
            "hob_http_requests_total{method=\"POST\",route=\"/api/sessions/{id}/prompt\",status=\"202\"}") ==
        2);
    assert_true(sample(d, "hob_http_requests_total{method=\"\",route=\"\",status=\"404\"}") == 1);
    assert_true(sample(d, "process_resident_memory_bytes") > 1e6);
}

static bool says(desk *d, const char *name, double wanted) {
    return desk_get(d, "/metrics") == 200 && sample(d, name) == wanted;
}

static void test_serve_metrics__sessions_at_work_and_those_that_wait(void **state) {
    desk *d = *state;
    desk_session(d, "idle");
    desk_session(d, "works");
    desk_session(d, "asks");
    desk_prompt(d, "works", "hang");
    desk_prompt(d, "asks", "write");
    webd_wait(says(d, "hob_sessions_waiting", 1));
    assert_true(says(d, "hob_sessions_working", 1));
    assert_true(says(d, "hob_sessions_open", 3));
}

/* Every sample has its TYPE before it, once; every line is a comment or NAME{…} NUMBER. */
static void test_serve_metrics__the_text_is_well_formed(void **state) {
    desk *d = *state;
    hob_map *types = hob_map_create();
    hob_str line;
    size_t samples = 0;
    assert_int_equal(desk_get(d, "/healthz"), 200);
    assert_int_equal(desk_get(d, "/metrics"), 200);
    assert_int_equal(desk_get(d, "/metrics"), 200);
    hob_str rest = hob_buf_str(&d->c.body);
    assert_true(rest.n && rest.p[rest.n - 1] == '\n');
    while (hob_str_split(&rest, '\n', &line)) {
        hob_str word = line;
        if (!line.n || hob_str_starts(line, HOB_STR("# HELP "))) continue;
        if (hob_str_starts(line, HOB_STR("# TYPE "))) {
            word = hob_str_skip(line, 7);
            word = hob_str_first(word, (size_t)hob_str_chr(word, ' '));
            assert_null(hob_map_put(types, word, types));
            continue;
        }
        word.n = 0;
        while (word.n < line.n &&
               (line.p[word.n] == '_' || (line.p[word.n] >= 'a' && line.p[word.n] <= 'z')))
            word.n++;
        static const char *const of_histogram[] = {"_bucket", "_sum", "_count"};
        for (size_t i = 0; i < 3 && !hob_map_get(types, word); i++)
            if (hob_str_ends(word, hob_str_z(of_histogram[i]))) word.n -= strlen(of_histogram[i]);
        if (!hob_map_get(types, word)) fail_msg("no type: %.*s", HOB_FMT(line));
        const char *value = memrchr(line.p, ' ', line.n);
        char *end;
        strtod(value + 1, &end);
        if (end != line.p + line.n) fail_msg("no number: %.*s", HOB_FMT(line));
        samples++;
    }
    assert_true(samples > 30);
    hob_map_destroy(types);
}

/* The trace that a client is in goes on in the run that it starts, and only in that one. */
static void test_serve_metrics__a_trace_goes_on_in_the_run(void **state) {
    desk *d = *state;
#define TRACE "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
    desk_session(d, "one");
    assert_int_equal(client_call_with(&d->c, "POST", "/api/sessions/one/prompt",
                                      "traceparent: " TRACE "\r\n", "{'text':'hello'}"),
                     202);
    desk_settle(d, "one");
    desk_prompt(d, "one", "hello");
    desk_settle(d, "one");
    size_t count = 0;
    assert_int_equal(desk_get(d, "/api/sessions/one/events"), 200);
    for (hob_str rest = hob_buf_str(&d->c.body);; count++) {
        ptrdiff_t at = hob_str_find(rest, HOB_STR("\"traceparent\":\"" TRACE "\""));
        if (at < 0) break;
        rest = hob_str_skip(rest, (size_t)at + 1);
    }
    assert_int_equal(count, 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_serve_metrics__what_happened_is_counted, setup,
                                        desk_teardown),
        cmocka_unit_test_setup_teardown(test_serve_metrics__sessions_at_work_and_those_that_wait,
                                        setup, desk_teardown),
        cmocka_unit_test_setup_teardown(test_serve_metrics__a_trace_goes_on_in_the_run, setup,
                                        desk_teardown),
        cmocka_unit_test_setup_teardown(test_serve_metrics__the_text_is_well_formed, setup,
                                        desk_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
