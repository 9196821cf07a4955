/* What the log says of runs: one line each when it ends, whoever asked for it. */
#include "support/check.h"
#include "support/desk.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

static const char script[] =
    "{'rules':[{'when':{'user':'fail'},'reply':[{'error':{'code':'refused','message':'no'}}]},"
    "{'when':{'user':'hang'},'reply':[{'text':'so far'},{'wait':true}]}],"
    "'otherwise':[{'text':'hello there'}]}";

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static hob_buf lines;

static void take(hob_str line, void *user) {
    (void)user;
    pthread_mutex_lock(&lock);
    hob_buf_add(&lines, line);
    hob_buf_addc(&lines, '\n');
    pthread_mutex_unlock(&lock);
}

static int setup(void **state) {
    desk *d = hob_alloc(sizeof *d);
    hob_buf_init(&lines, 1 << 20);
    desk_init(d, script);
    d->so.on_log = take;
    desk_start(d);
    desk_session(d, "one");
    *state = d;
    return 0;
}

static int teardown(void **state) {
    hob_buf_finish(&lines);
    return desk_teardown(state);
}

static void run(desk *d, const char *text) {
    desk_prompt(d, "one", text);
    desk_settle(d, "one");
}

/* A field of the n-th line about a run. The server has stopped: there are all of them. */
static const char *said(int n, const char *field) {
    static char text[400];
    hob_str rest = hob_buf_str(&lines), line;
    text[0] = 0;
    while (hob_str_split(&rest, '\n', &line)) {
        if (hob_str_find(line, HOB_STR("\"event\":\"run\"")) < 0 || n-- > 0) continue;
        hob_json_field(line, field, text, sizeof text);
        break;
    }
    return text;
}

static void test_serve_log__a_run_that_ended_is_one_line(void **state) {
    desk *d = *state;
    run(d, "hi");
    run(d, "again");
    desk_stop(d);
    assert_string_equal(said(0, "session_id"), "one");
    assert_string_equal(said(0, "run_id"), "run-one-2");
    assert_string_equal(said(0, "status"), "completed");
    assert_string_equal(said(0, "level"), "info");
    assert_string_equal(said(0, "turns"), "1");
    assert_string_equal(said(0, "usage.output_tokens"), "3");
    assert_string_not_equal(said(0, "duration_ms"), "");
    assert_string_equal(said(1, "message"), "run run-one-8 of session one: completed");
    assert_string_equal(said(2, "run_id"), "");
}

static void test_serve_log__one_that_failed_says_why(void **state) {
    desk *d = *state;
    run(d, "fail");
    desk_stop(d);
    assert_string_equal(said(0, "level"), "error");
    assert_string_equal(said(0, "status"), "failed");
    assert_string_equal(said(0, "error.code"), "HOB_EREFUSED");
    assert_non_null(strstr(said(0, "message"), "run run-one-2 of session one: failed: "));
}

/* It is not over: the next server goes on with it. */
static void test_serve_log__one_that_is_parked_is_none(void **state) {
    desk *d = *state;
    desk_prompt(d, "one", "hang");
    desk_stop(d);
    assert_string_equal(said(0, "run_id"), "");
}

int main(void) {
#define T(name) cmocka_unit_test_setup_teardown(test_serve_log__##name, setup, teardown)
    const struct CMUnitTest tests[] = {
        T(a_run_that_ended_is_one_line),
        T(one_that_failed_says_why),
        T(one_that_is_parked_is_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
