/*
 * `hob serve` as a process that is killed or told to stop while many runs are under way and clients are attached: the
 * next one goes on with all of them, and each client sees every event once.
 */
#include "support/check.h"
#include "support/cli.h"
#include "support/client.h"
#include "support/seen.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define TOKEN "0123456789abcdef0123456789abcdef"

enum { MANY = 100 };

static const char script[] =
    "{'rules':[{'when':{'user':'work','step':{'max':3}},'reply':[{'text':'looking around now',"
    "'chunk':4,'delay_ms':10},{'tool':'read','args':{'path':'script.json'}}]},"
    "{'when':{'user':'ask','step':1},'reply':[{'tool':'write','args':{'path':'a.txt','content':"
    "'b'}}]}],'otherwise':[{'text':'done with it all','chunk':4,'delay_ms':10}]}";

/* The same for the first server, but that no work comes to its end: all of it is under way when that server goes. */
static const char endless[] =
    "{'rules':[{'when':{'user':'work','step':{'max':2}},'reply':[{'text':'looking around now',"
    "'chunk':4,'delay_ms':10},{'tool':'read','args':{'path':'script.json'}}]}],"
    "'otherwise':[{'text':'looking'},{'wait':true}]}";

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

static void set_up(hob_test_cli *c, client *k, const char *with) {
    hob_test_quoted_file(c, "script.json", with);
    hob_test_env(c, "HOB_SERVER_TOKEN=" TOKEN);
    start(c, k);
}

/* ---- clients ------------------------------------------------------------------------------------------------------- */

static void begin_runs(client *k, seen *all, int n) {
    char body[64];
    for (int i = 0; i < n; i++) {
        seen *s = &all[i];
        memset(s, 0, sizeof *s);
        snprintf(s->id, sizeof s->id, "s%d", i);
        snprintf(body, sizeof body, "{'id':'%s'}", s->id);
        client_expect(k, 201, "POST", body, "/api/sessions", "");
        seen_attach(k, s);
    }
    for (int i = 0; i < n; i++)
        client_expect(k, 202, "POST", "{'text':'work'}", "/api/sessions/%s/prompt", all[i].id);
}

static void leave(seen *all, int n) {
    for (int i = 0; i < n; i++) {
        seen_drain(&all[i]);
        tail_close(all[i].t);
    }
}

static void come_back(client *k, seen *all, int n) {
    for (int i = 0; i < n; i++) seen_attach(k, &all[i]);
    for (int i = 0; i < n; i++) {
        seen_to_end(&all[i]);
        seen_compare(k, &all[i]);
        tail_close(all[i].t);
    }
}

static void check_runs(client *k, const seen *all, int n) {
    for (int i = 0; i < n; i++) {
        client_expect(k, 200, "GET", NULL, "/api/sessions/%s/runs", all[i].id);
        assert_string_equal(client_field(k, "runs.0.status"), "completed");
    }
}

/* ---- tests --------------------------------------------------------------------------------------------------------- */

/* At some point of the runs: the first ones are further than the last. */
static void end_and_go_on(hob_test_cli *c, int sig) {
    client k;
    int n = MANY, unfinished = 0;
    seen *all = hob_alloc((size_t)n * sizeof *all);
    set_up(c, &k, endless);
    begin_runs(&k, all, n);
    while (strcmp(tail_event(all[0].t), "tool_finished") != 0) {
        assert_int_equal(tail_next(all[0].t), 1);
        seen_note(&all[0]);
    }
    kill(c->pid, sig);
    int code = hob_test_end(c);
    assert_int_equal(code, sig == SIGKILL ? 128 + SIGKILL : 0);
    leave(all, n);
    for (int i = 0; i < n; i++) unfinished += !all[i].settled;
    assert_int_equal(unfinished, n);
    client_finish(&k);
    hob_test_quoted_file(c, "script.json", script);
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
    set_up(c, &k, script);
    client_expect(&k, 201, "POST", "{'id':'one'}", "/api/sessions", "");
    seen_attach(&k, &s);
    client_expect(&k, 202, "POST", "{'text':'ask'}", "/api/sessions/%s/prompt", "one");
    while (strcmp(tail_event(s.t), "approval_requested") != 0) {
        assert_int_equal(tail_next(s.t), 1);
        seen_note(&s);
    }
    hob_json_field(tail_data(s.t), "data.call", call_id, sizeof call_id);
    kill(c->pid, SIGKILL);
    hob_test_end(c);
    tail_close(s.t);
    client_finish(&k);
    start(c, &k);
    seen_attach(&k, &s);
    snprintf(path, sizeof path, "/api/sessions/one/approvals/%s", call_id);
    assert_int_equal(client_call(&k, "POST", path, "{'approved':true}"), 204);
    seen_to_end(&s);
    seen_compare(&k, &s);
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
    set_up(c, &k, script);
    client_expect(&k, 201, "POST", "{'id':'one'}", "/api/sessions", "");
    seen_attach(&k, &s);
    assert_int_equal(run_hob(c, (const char *const[]){"-p", "-r", "one", "work", NULL}), 6);
    client_expect(&k, 204, "POST", NULL, "/api/sessions/%s/close", "one");
    assert_int_equal(run_hob(c, (const char *const[]){"-p", "-r", "one", "work", NULL}), 0);
    seen_to_end(&s);
    s.settled = false;
    client_expect(&k, 202, "POST", "{'text':'work'}", "/api/sessions/%s/prompt", "one");
    seen_to_end(&s);
    seen_compare(&k, &s);
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
