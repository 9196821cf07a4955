/*
 * `hob serve` from outside: the ready line, the token that is made, signals, exit codes, logs.
 */
#include "support/check.h"
#include "support/cli.h"
#include "support/webd.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* The server that was started answers; webd.c is the client. */
static webd ready(hob_test_cli *c) {
    webd d = {.port = 0};
    hob_test_until(c, "}\n");
    const hob_json *line = hob_test_line(c, 0);
    assert_str(hob_json_get_str(line, "type"), "ready");
    assert_int_equal(hob_json_get_int(line, "pid", 0), c->pid);
    char url[100];
    hob_str_out(hob_json_get_str(line, "url"), url, sizeof url);
    d.port = (int)strtol(strrchr(url, ':') + 1, NULL, 10);
    snprintf(d.host, sizeof d.host, "Host: localhost:%d\r\n", d.port);
    return d;
}

static int status_with(const webd *d, const char *request, hob_str token) {
    webd_answer a;
    char field[300];
    snprintf(field, sizeof field, "Authorization: Bearer %.*s\r\n", HOB_FMT(token));
    webd_call(d, request, token.n ? field : NULL, NULL, &a);
    webd_answer_finish(&a);
    return a.status;
}

static void test_cli_serve__a_token_is_made_once(void **state) {
    hob_test_cli *c = *state;
    struct stat st;
    HOB_START(c, "serve", "--listen", "127.0.0.1:0", "--json");
    webd d = ready(c);
    assert_int_equal(stat(hob_test_path(&c->folder, "home/state/server-token"), &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600);
    char token[100];
    hob_str_out(hob_str_trim(hob_test_content(&c->folder, "home/state/server-token")), token,
                sizeof token);
    assert_int_equal(strlen(token), 64);
    assert_int_equal(status_with(&d, "GET /openapi.json", hob_str_z(token)), 200);
    assert_int_equal(status_with(&d, "GET /openapi.json", HOB_STR_NULL), 401);
    assert_int_equal(status_with(&d, "GET /healthz", HOB_STR_NULL), 200);
    webd_wait(status_with(&d, "GET /readyz", HOB_STR_NULL) == 200);
    assert_int_equal(status_with(&d, "GET /metrics", hob_str_z(token)), 200);
    assert_int_equal(status_with(&d, "GET /", HOB_STR_NULL), 200);
    kill(c->pid, SIGTERM);
    assert_int_equal(hob_test_end(c), 0);
    assert_err_has(c, token);
    HOB_START(c, "serve", "--listen", "127.0.0.1:0", "--json", "--no-console");
    d = ready(c);
    assert_int_equal(status_with(&d, "GET /openapi.json", hob_str_z(token)), 200);
    assert_int_equal(status_with(&d, "GET /", hob_str_z(token)), 404);
    kill(c->pid, SIGINT);
    assert_int_equal(hob_test_end(c), 0);
    assert_false(hob_test_err_has(c, token));
}

/* Whoever could not start was shown no token: the next start shows it. */
static void test_cli_serve__a_start_that_fails_leaves_the_token_to_the_next(void **state) {
    hob_test_cli *c = *state;
    assert_int_equal(HOB_RUN(c, NULL, "serve", "--listen", "nowhere"), 2);
    assert_int_equal(access(hob_test_path(&c->folder, "home/state/server-token"), F_OK), -1);
    HOB_START(c, "serve", "--listen", "127.0.0.1:0", "--json");
    ready(c);
    kill(c->pid, SIGTERM);
    assert_int_equal(hob_test_end(c), 0);
    assert_err_has(c, "#token=");
    assert_int_equal(HOB_RUN(c, NULL, "serve", "--listen", "nowhere"), 2); /* that was shown */
    assert_int_equal(access(hob_test_path(&c->folder, "home/state/server-token"), F_OK), 0);
}

static void test_cli_serve__says_at_once_that_it_has_no_model(void **state) {
    hob_test_cli *c = *state;
    HOB_START(c, "serve", "--listen", "127.0.0.1:0", "--json");
    ready(c);
    kill(c->pid, SIGTERM);
    assert_int_equal(hob_test_end(c), 0);
    assert_err_has(c, "set one of ANTHROPIC_API_KEY, OPENAI_API_KEY, OPENROUTER_API_KEY");
    assert_err_has(c, "sessions have to name a model");
    hob_test_quoted_file(c, "echo.json", "{'otherwise':[{'text':'{{user}}'}]}");
    HOB_START(c, "serve", "--listen", "127.0.0.1:0", "--json", "-m", "scripted:echo.json");
    ready(c);
    kill(c->pid, SIGTERM);
    assert_int_equal(hob_test_end(c), 0);
    assert_false(hob_test_err_has(c, "sessions have to name a model"));
}

static void test_cli_serve__the_environment_may_have_the_token(void **state) {
    hob_test_cli *c = *state;
    hob_test_env(c, "HOB_SERVER_TOKEN=from-the-environment");
    HOB_START(c, "serve", "--listen", "127.0.0.1:0", "--json", "--log", "log.jsonl");
    webd d = ready(c);
    assert_int_equal(status_with(&d, "GET /openapi.json", HOB_STR("from-the-environment")), 200);
    kill(c->pid, SIGTERM);
    assert_int_equal(hob_test_end(c), 0);
    assert_false(hob_test_err_has(c, "from-the-environment"));
    assert_int_equal(access(hob_test_path(&c->folder, "home/state/server-token"), F_OK), -1);
    hob_str log = hob_test_content(&c->folder, "log.jsonl");
    assert_true(hob_str_find(log, HOB_STR("\"path\":\"/openapi.json\"")) > 0);
    assert_true(hob_str_find(log, HOB_STR("from-the-environment")) < 0);
}

static void write_tokens(hob_test_cli *c, const char *text) {
    hob_test_quoted_file(c, "tokens.json", text);
    chmod(hob_test_path(&c->folder, "tokens.json"), 0600);
}

static void test_cli_serve__so_may_the_configuration(void **state) {
    hob_test_cli *c = *state;
    hob_test_quoted_file(c, "home/config.json", "{'server': {'token': 'from-the-configuration'}}");
    HOB_START(c, "serve", "--listen", "127.0.0.1:0", "--json");
    webd d = ready(c);
    assert_int_equal(status_with(&d, "GET /openapi.json", HOB_STR("from-the-configuration")), 200);
    kill(c->pid, SIGTERM);
    assert_int_equal(hob_test_end(c), 0);
    assert_int_equal(access(hob_test_path(&c->folder, "home/state/server-token"), F_OK), -1);
}

/* -c goes on with the newest session of the user, not with one of a caller of the server in the same folder. */
static void test_cli_serve__continue_leaves_other_tenants_alone(void **state) {
    hob_test_cli *c = *state;
    webd_answer a;
    hob_test_env(c, "HOB_MODEL=scripted:echo.json");
    hob_test_quoted_file(c, "echo.json", "{'otherwise':[{'text':'{{user}}'}]}");
    write_tokens(
        c, "{'tokens':[{'name':'one','token':'of-another-tenant','tenant':'acme','principal':'a',"
           "'rights':['read','run']}]}");
    assert_int_equal(HOB_RUN(c, NULL, "-p", "mine"), 0);
    HOB_START(c, "serve", "--listen", "127.0.0.1:0", "--json", "--token-file", "tokens.json");
    webd d = ready(c);
    static const char token[] = "Authorization: Bearer of-another-tenant\r\n"
                                "Content-Type: application/json\r\n";
    webd_call(&d, "POST /api/sessions", token, "{\"id\":\"theirs\"}", &a);
    assert_int_equal(a.status, 201);
    webd_answer_finish(&a);
    kill(c->pid, SIGTERM);
    assert_int_equal(hob_test_end(c), 0);
    assert_int_equal(HOB_RUN(c, NULL, "-p", "-c", "--json", "again"), 0);
    assert_false(hob_test_out_has(c, "\"theirs\""));
    assert_true(hob_test_out_has(c, "again"));
}

static const char by_environment[] = "Authorization: Bearer from-the-environment\r\n"
                                     "Content-Type: application/json\r\n";

static void say_hi(const webd *d) {
    webd_answer a;
    webd_call(d, "POST /api/sessions", by_environment, "{\"id\":\"one\"}", &a);
    webd_answer_finish(&a);
    webd_call(d, "POST /api/sessions/one/prompt", by_environment, "{\"text\":\"hi\"}", &a);
    assert_int_equal(a.status, 202);
    webd_answer_finish(&a);
}

/* Killed in the middle; the next one says that it goes on with it. */
static void test_cli_serve__says_what_goes_on(void **state) {
    hob_test_cli *c = *state;
    hob_test_env(c, "HOB_SERVER_TOKEN=from-the-environment");
    hob_test_env(c, "HOB_MODEL=scripted:hang.json");
    hob_test_quoted_file(c, "hang.json", "{'otherwise':[{'text':'so far'},{'wait':true}]}");
    HOB_START(c, "serve", "--listen", "127.0.0.1:0", "--json");
    webd d = ready(c);
    say_hi(&d);
    kill(c->pid, SIGKILL);
    hob_test_end(c);
    HOB_START(c, "serve", "--listen", "127.0.0.1:0", "--json");
    d = ready(c);
    hob_test_until_said(c, "1 session that was under way before goes on");
    kill(c->pid, SIGTERM);
    assert_int_equal(hob_test_end(c), 0);
}

static bool has_settled(const webd *d) {
    webd_answer a;
    webd_call(d, "GET /api/sessions/one/runs", by_environment, NULL, &a);
    bool yes = hob_str_find(a.body, HOB_STR("\"completed\"")) > 0;
    webd_answer_finish(&a);
    return yes;
}

/* A collector that is not there: whoever runs the server learns of it without asking. */
static void test_cli_serve__what_the_library_warns_of_is_said(void **state) {
    hob_test_cli *c = *state;
    hob_test_env(c, "HOB_SERVER_TOKEN=from-the-environment");
    hob_test_env(c, "HOB_MODEL=scripted:echo.json");
    hob_test_env(c, "OTEL_EXPORTER_OTLP_ENDPOINT=http://127.0.0.1:9");
    hob_test_quoted_file(c, "echo.json", "{'otherwise':[{'text':'{{user}}'}]}");
    HOB_START(c, "serve", "--listen", "127.0.0.1:0", "--json");
    webd d = ready(c);
    say_hi(&d);
    webd_wait(has_settled(&d));
    kill(c->pid, SIGTERM);
    assert_int_equal(hob_test_end(c), 0);
    assert_err_has(c, "not taken by http://127.0.0.1:9/v1/traces");
}

static void test_cli_serve__hangup_reads_the_token_file(void **state) {
    hob_test_cli *c = *state;
    write_tokens(c, "{'tokens':[{'name':'one','token':'the-first-of-them'}]}");
    hob_test_env(c, "HOB_SERVER_TOKEN=that-counts-for-nothing");
    HOB_START(c, "serve", "--listen", "127.0.0.1:0", "--json", "--token-file", "tokens.json");
    webd d = ready(c);
    assert_int_equal(status_with(&d, "GET /openapi.json", HOB_STR("the-first-of-them")), 200);
    assert_int_equal(status_with(&d, "GET /metrics", HOB_STR("the-first-of-them")), 403);
    write_tokens(c, "{'tokens':[{'name':'two','token':'the-second-of-them'}]}");
    kill(c->pid, SIGHUP);
    webd_wait(status_with(&d, "GET /openapi.json", HOB_STR("the-second-of-them")) == 200);
    assert_int_equal(status_with(&d, "GET /openapi.json", HOB_STR("the-first-of-them")), 401);
    write_tokens(c, "{'tokens':[{'name':'two','tokn':'the-second-of-them'}]}");
    kill(c->pid, SIGHUP);
    kill(c->pid, SIGTERM);
    assert_int_equal(hob_test_end(c), 0);
    assert_err_has(c, "the callers stay as they were");
    assert_err_has(c, "HOB_SERVER_TOKEN does not count: --token-file says who may call");
}

static void test_cli_serve__what_goes_wrong_has_an_exit_code(void **state) {
    hob_test_cli *c = *state;
    char where[64];
    assert_int_equal(HOB_RUN(c, NULL, "serve", "--listen", "0.0.0.0:0"), 2);
    assert_err_has(c, "--insecure");
    assert_int_equal(HOB_RUN(c, NULL, "serve", "--listen", "nowhere"), 2);
    assert_int_equal(HOB_RUN(c, NULL, "serve", "something"), 2);
    assert_int_equal(HOB_RUN(c, NULL, "serve", "--token-file", "absent.json"), 2);
    hob_test_quoted_file(c, "open.json", "{'tokens':[]}");
    chmod(hob_test_path(&c->folder, "open.json"), 0644);
    assert_int_equal(HOB_RUN(c, NULL, "serve", "--token-file", "open.json"), 2);
    assert_err_has(c, "chmod 600");
    write_tokens(c, "{'tokens':[{'name':'one','token':'0123456789abcdef','max_mode':'yolo'}]}");
    assert_int_equal(HOB_RUN(c, NULL, "serve", "--token-file", "tokens.json"), 2);
    assert_err_has(c, "--max-permission-mode");
    webd *d = webd_start(NULL); /* a port that is taken */
    snprintf(where, sizeof where, "127.0.0.1:%d", d->port);
    assert_int_equal(HOB_RUN(c, NULL, "serve", "--listen", where), 6);
    assert_err_has(c, "is in use");
    webd_free(d);
    assert_int_equal(HOB_RUN(c, NULL, "serve", "--port", "4042"), 2);
    assert_err_has(c, "did you mean --listen?");
    assert_int_not_equal(HOB_RUN(c, NULL, "serve", "-m", "scripted:missing.json"), 0);
    assert_err_has(c, "cannot read the script missing.json");
}

int main(void) {
#define T(name)                                                                                    \
    cmocka_unit_test_setup_teardown(test_cli_serve__##name, hob_test_cli_setup,                    \
                                    hob_test_cli_teardown)
    const struct CMUnitTest tests[] = {
        T(a_token_is_made_once),
        T(a_start_that_fails_leaves_the_token_to_the_next),
        T(says_at_once_that_it_has_no_model),
        T(says_what_goes_on),
        T(what_the_library_warns_of_is_said),
        T(the_environment_may_have_the_token),
        T(so_may_the_configuration),
        T(continue_leaves_other_tenants_alone),
        T(hangup_reads_the_token_file),
        T(what_goes_wrong_has_an_exit_code),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
