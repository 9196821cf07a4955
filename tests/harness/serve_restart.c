/*
 * `hob serve` as a process that is killed or told to stop while many runs are under way and clients are attached: the
 * next one goes on with all of them, and each client sees every event once.
 */
#include "support/check.h"
#include "support/cli.h"
#include "support/client.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define TOKEN "0123456789abcdef0123456789abcdef"

enum { SOME = 16, MANY = 100, EVENTS = 256 };

static const char script[] =
    "{'rules':[{'when':{'user':'work','step':{'max':3}},'reply':[{'text':'looking around now',"
    "'chunk':4,'delay_ms':10},{'tool':'read','args':{'path':'script.json'}}]},"
    "{'when':{'user':'ask','step':1},'reply':[{'tool':'write','args':{'path':'a.txt','content':"
    "'b'}}]}],'otherwise':[{'text':'done with it all','chunk':4,'delay_ms':10}]}";

/* What one client has seen of one session. */
typedef struct seen {
    char id[32];
    tail *t;
    uint64_t last;
    uint64_t hash[EVENTS]; /* of each event, by its number */
    bool settled;
} seen;

static int how_many(void) {
    const char *longer = getenv("HOB_LONG");
    return longer && *longer ? MANY : SOME;
}

static int port_of(hob_test_cli *c) {
    const hob_json *ready = hob_test_typed(c, "ready", 0);
    char url[100];
    snprintf(url, sizeof url, "%.*s", HOB_FMT(hob_json_get_str(ready, "url")));
    return atoi(strrchr(url, ':') + 1);
}

static void start(hob_test_cli *c, client *k) {
    char model[200];
    snprintf(model, sizeof model, "scripted:%s/script.json", c->folder.path);
    hob_buf_reset(&c->out);
    hob_buf_reset(&c->err);
    HOB_START(c, "serve", "--listen", "127.0.0.1:0", "--json", "-m", model);
    hob_test_until(c, "\"ready\"");
    client_init(k, port_of(c), TOKEN);
    while (client_call(k, "GET", "/readyz", NULL) != 200) usleep(1000);
}

static void set_up(hob_test_cli *c, client *k) {
    hob_test_quoted_file(c, "script.json", script);
    hob_test_env(c, "HOB_SERVER_TOKEN=" TOKEN);
    start(c, k);
}

static void call(client *k, int wanted, const char *method, const char *body, const char *fmt,
                 const char *id) {
    char path[300];
    snprintf(path, sizeof path, fmt, id);
    int got = client_call(k, method, path, body);
    if (got != wanted) fail_msg("%s %s: %d %s", method, path, got, hob_buf_z(&k->body));
}

/* ---- clients ------------------------------------------------------------------------------------------------------- */

static void attach(client *k, seen *s) {
    char header[64], path[100];
    snprintf(path, sizeof path, "/api/sessions/%s/events", s->id);
    snprintf(header, sizeof header, "Last-Event-ID: %llu\r\n", (unsigned long long)s->last);
    s->t = tail_open(k->port, TOKEN, path, header);
    assert_int_equal(tail_status(s->t), 200);
}

static void note(seen *s) {
    uint64_t seq = tail_seq(s->t);
    if (!seq) return;
    if (seq != s->last + 1)
        fail_msg("%s: event %llu after %llu", s->id, (unsigned long long)seq,
                 (unsigned long long)s->last);
    assert_true(seq < EVENTS);
    s->last = seq;
    s->hash[seq] = hob_str_hash(tail_data(s->t));
    if (!strcmp(tail_event(s->t), "settled")) s->settled = true;
}

/* What is there already, and no more. */
static void drain(seen *s) {
    while (tail_next_within(s->t, 0)) note(s);
}

static void read_to_end(seen *s) {
    while (!s->settled && tail_next(s->t)) note(s);
    if (!s->settled)
        fail_msg("%s: the stream ended at event %llu", s->id, (unsigned long long)s->last);
}

/* Everything that was seen is in the log, as it was seen, and the log has no more than that. */
static void compare(client *k, const seen *s) {
    hob_arena *a = hob_arena_create(0);
    const hob_json *page;
    uint64_t n = 0;
    call(k, 200, "GET", NULL, "/api/sessions/%s/events?limit=1000", s->id);
    assert_true(hob_json_parse(a, hob_buf_str(&k->body), NULL, &page, NULL) >= 0);
    for (const hob_json *e = hob_json_first(hob_json_get(page, "events")); e;
         e = hob_json_next(e)) {
        n++;
        if (hob_str_hash(hob_json_raw(e)) != s->hash[n])
            fail_msg("%s: event %llu is another one in the log", s->id, (unsigned long long)n);
    }
    assert_int_equal(n, s->last);
    hob_arena_destroy(a);
}

static void begin_runs(client *k, seen *all, int n) {
    char body[64];
    for (int i = 0; i < n; i++) {
        seen *s = &all[i];
        memset(s, 0, sizeof *s);
        snprintf(s->id, sizeof s->id, "s%d", i);
        snprintf(body, sizeof body, "{'id':'%s'}", s->id);
        call(k, 201, "POST", body, "/api/sessions", "");
        attach(k, s);
    }
    for (int i = 0; i < n; i++)
        call(k, 202, "POST", "{'text':'work'}", "/api/sessions/%s/prompt", all[i].id);
}

static void leave(seen *all, int n) {
    for (int i = 0; i < n; i++) {
        drain(&all[i]);
        tail_close(all[i].t);
    }
}

static void come_back(client *k, seen *all, int n) {
    for (int i = 0; i < n; i++) attach(k, &all[i]);
    for (int i = 0; i < n; i++) {
        read_to_end(&all[i]);
        compare(k, &all[i]);
        tail_close(all[i].t);
    }
}

static void check_runs(client *k, const seen *all, int n) {
    for (int i = 0; i < n; i++) {
        call(k, 200, "GET", NULL, "/api/sessions/%s/runs", all[i].id);
        assert_string_equal(client_field(k, "runs.0.status"), "completed");
    }
}

/* ---- tests --------------------------------------------------------------------------------------------------------- */

/* At some point of the runs: the first ones are further than the last. */
static void end_and_go_on(hob_test_cli *c, int sig) {
    client k;
    int n = how_many(), unfinished = 0;
    seen *all = hob_alloc((size_t)n * sizeof *all);
    set_up(c, &k);
    begin_runs(&k, all, n);
    while (strcmp(tail_event(all[0].t), "tool_finished") != 0) {
        assert_int_equal(tail_next(all[0].t), 1);
        note(&all[0]);
    }
    kill(c->pid, sig);
    int code = hob_test_end(c);
    assert_int_equal(code, sig == SIGKILL ? 128 + SIGKILL : 0);
    leave(all, n);
    for (int i = 0; i < n; i++) unfinished += !all[i].settled;
    assert_true(unfinished > 0);
    client_finish(&k);
    start(c, &k);
    come_back(&k, all, n);
    check_runs(&k, all, n);
    client_finish(&k);
    hob_free(all);
}

static void test_harness_serve_restart__killed_with_many_runs_under_way(void **state) {
    end_and_go_on(*state, SIGKILL);
}

static void test_harness_serve_restart__stopped_with_many_runs_under_way(void **state) {
    end_and_go_on(*state, SIGTERM);
}

static void test_harness_serve_restart__an_approval_is_answered_by_the_next_server(void **state) {
    hob_test_cli *c = *state;
    client k;
    seen s = {.id = "one"};
    char call_id[100], path[200];
    set_up(c, &k);
    call(&k, 201, "POST", "{'id':'one'}", "/api/sessions", "");
    attach(&k, &s);
    call(&k, 202, "POST", "{'text':'ask'}", "/api/sessions/%s/prompt", "one");
    while (strcmp(tail_event(s.t), "approval_requested") != 0) {
        assert_int_equal(tail_next(s.t), 1);
        note(&s);
    }
    hob_json_field(tail_data(s.t), "data.call", call_id, sizeof call_id);
    kill(c->pid, SIGKILL);
    hob_test_end(c);
    tail_close(s.t);
    client_finish(&k);
    start(c, &k);
    attach(&k, &s);
    snprintf(path, sizeof path, "/api/sessions/one/approvals/%s", call_id);
    assert_int_equal(client_call(&k, "POST", path, "{'approved':true}"), 204);
    read_to_end(&s);
    compare(&k, &s);
    tail_close(s.t);
    assert_str(hob_test_content(&c->folder, "a.txt"), "b");
    client_finish(&k);
}

/* The program itself, in the same home, without the server. */
static int run_hob(hob_test_cli *c, const char *const *argv) {
    char home[200], path[4096];
    const char *env[] = {home, path, NULL}, *args[16] = {HOB_BINARY_DIR "/hob-test"};
    int status;
    snprintf(home, sizeof home, "HOB_HOME=%s/home", c->folder.path);
    snprintf(path, sizeof path, "PATH=%s", getenv("PATH"));
    for (size_t i = 0; argv[i]; i++) args[i + 1] = argv[i];
    pid_t pid = fork();
    if (pid == 0) {
        freopen("/dev/null", "r", stdin);
        freopen("/dev/null", "w", stdout);
        if (chdir(c->folder.path) == 0)
            execve(args[0], (char *const *)(uintptr_t)args, (char *const *)(uintptr_t)env);
        _exit(99);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static void test_harness_serve_restart__a_terminal_writes_while_a_page_looks_on(void **state) {
    hob_test_cli *c = *state;
    client k;
    seen s = {.id = "one"};
    set_up(c, &k);
    call(&k, 201, "POST", "{'id':'one'}", "/api/sessions", "");
    attach(&k, &s);
    assert_int_equal(run_hob(c, (const char *const[]){"-p", "-r", "one", "work", NULL}), 6);
    call(&k, 204, "POST", NULL, "/api/sessions/%s/close", "one");
    assert_int_equal(run_hob(c, (const char *const[]){"-p", "-r", "one", "work", NULL}), 0);
    read_to_end(&s);
    s.settled = false;
    call(&k, 202, "POST", "{'text':'work'}", "/api/sessions/%s/prompt", "one");
    read_to_end(&s);
    compare(&k, &s);
    tail_close(s.t);
    client_finish(&k);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_harness_serve_restart__killed_with_many_runs_under_way,
                                        hob_test_cli_setup, hob_test_cli_teardown),
        cmocka_unit_test_setup_teardown(
            test_harness_serve_restart__stopped_with_many_runs_under_way, hob_test_cli_setup,
            hob_test_cli_teardown),
        cmocka_unit_test_setup_teardown(
            test_harness_serve_restart__an_approval_is_answered_by_the_next_server,
            hob_test_cli_setup, hob_test_cli_teardown),
        cmocka_unit_test_setup_teardown(
            test_harness_serve_restart__a_terminal_writes_while_a_page_looks_on, hob_test_cli_setup,
            hob_test_cli_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
