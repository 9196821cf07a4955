#include "support/desk.h"

#include "serve/server.h"
#include "support/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

void desk_init(desk *d, const char *script) {
    hob_buf text;
    memset(d, 0, sizeof *d);
    hob_test_folder_make(&d->folder);
    hob_buf_init(&text, 1u << 20);
    for (const char *p = script; *p; p++) hob_buf_addc(&text, *p == '\'' ? '"' : *p);
    hob_test_file(&d->folder, "script.json", hob_buf_str(&text));
    hob_buf_reset(&text);
    hob_buf_addf(&text, "\"scripted:%s/script.json\"", d->folder.path);
    d->config = hob_config_create();
    assert_ok(hob_config_set(d->config, "model", hob_buf_str(&text), HOB_ORIGIN_FLAG, &d->err),
              d->err);
    hob_buf_finish(&text);
    d->ro = (hob_runtime_opts)HOB_RUNTIME_OPTS_INIT;
    d->ro.config = d->config;
    d->ro.store = "sqlite";
    d->ro.state_dir = d->folder.path;
    d->so = (hob_server_opts)HOB_SERVER_OPTS_INIT;
    d->so.listen = "127.0.0.1:0";
    d->so.token = DESK_TOKEN;
    d->so.state_dir = d->folder.path;
    d->roots[0] = d->folder.path;
    d->so.roots = d->roots;
}

void desk_tokens(desk *d, const char *text) {
    hob_buf b;
    hob_buf_init(&b, 65536);
    for (const char *p = text; *p; p++) hob_buf_addc(&b, *p == '\'' ? '"' : *p);
    hob_test_file(&d->folder, "tokens.json", hob_buf_str(&b));
    hob_buf_finish(&b);
    assert_int_equal(chmod(hob_test_path(&d->folder, "tokens.json"), 0600), 0);
    hob_free(d->tokens);
    d->tokens = hob_dupz(hob_str_z(hob_test_path(&d->folder, "tokens.json")));
    d->so.token = NULL;
    d->so.token_file = d->tokens;
}

void desk_start(desk *d) {
    char url[200];
    assert_ok(hob_runtime_create(&d->ro, &d->rt, &d->err), d->err);
    hob_server_ground ground = {.idle_ms = d->idle_ms, .tick_ms = d->tick_ms};
    ground.routes = hob_routes(&ground.nroutes);
    assert_ok(hob_server_create_on(d->rt, &d->so, &ground, &d->server, &d->err), d->err);
    hob_server_url(d->server, url, sizeof url);
    d->port = atoi(strrchr(url, ':') + 1);
    client_init(&d->c, d->port, DESK_TOKEN);
}

void desk_stop(desk *d) {
    hob_server_stop(d->server, 5000);
    hob_server_destroy(d->server);
    hob_runtime_destroy(d->rt);
    client_finish(&d->c);
    d->server = NULL;
    d->rt = NULL;
}

void desk_finish(desk *d) {
    if (d->server) desk_stop(d);
    hob_config_destroy(d->config);
    hob_test_folder_remove(&d->folder);
    hob_free(d->tokens);
}

int desk_call(desk *d, const char *method, const char *body, const char *fmt, ...) {
    char path[2048];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(path, sizeof path, fmt, ap);
    va_end(ap);
    return client_call(&d->c, method, path, body);
}

static void expect(desk *d, int got, int wanted) {
    if (got != wanted) fail_msg("%d instead of %d: %s", got, wanted, hob_buf_z(&d->c.body));
}

void desk_session(desk *d, const char *id) {
    char body[200];
    snprintf(body, sizeof body, "{'id':'%s'}", id);
    expect(d, desk_post(d, body, "/api/sessions"), 201);
}

void desk_prompt(desk *d, const char *id, const char *text) {
    char body[400];
    snprintf(body, sizeof body, "{'text':'%s'}", text);
    expect(d, desk_post(d, body, "/api/sessions/%s/prompt", id), 202);
}

tail *desk_tail(desk *d, const char *id, uint64_t after, const char *query) {
    char path[400];
    snprintf(path, sizeof path, "/api/sessions/%s/events?after=%llu%s", id,
             (unsigned long long)after, query);
    tail *t = tail_open(d->port, d->c.token, path, NULL);
    assert_int_equal(tail_status(t), 200);
    return t;
}

void desk_settle(desk *d, const char *id) {
    tail *t = desk_tail(d, id, 0, "&until=settled");
    while (tail_next(t)) {
    }
    assert_string_equal(tail_event(t), "settled");
    tail_close(t);
}

int desk_setup(void **state, const char *script) {
    desk *d = hob_alloc(sizeof *d);
    desk_init(d, script);
    desk_start(d);
    *state = d;
    return 0;
}

int desk_teardown(void **state) {
    desk *d = *state;
    desk_finish(d);
    hob_free(d);
    return 0;
}
