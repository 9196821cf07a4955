#include "support/editor.h"

#include "support/check.h"

#include <poll.h>
#include <stdio.h>
#include <unistd.h>

/* ---- life ------------------------------------------------------------------------------------ */

void hob_test_editor_init(hob_test_editor *e, const char *script) {
    memset(e, 0, sizeof *e);
    host_init(&e->h, script);
    e->h.ro.loop = HOB_LOOP_HOST;
    e->h.ro.store = "sqlite";
    e->acp = (hob_acp_opts)HOB_ACP_OPTS_INIT;
    e->offers = "{}";
    e->option = "allow";
    hob_buf_init(&e->seen, 16u << 20);
    hob_buf_init(&e->rest, 16u << 20);
    e->arena = hob_arena_create(0);
}

static int on_folder(const char *cwd, hob_acp_folder *f, void *user, hob_error *err) {
    hob_test_editor *e = user;
    (void)cwd, (void)err;
    f->session = e->h.so;
    return HOB_OK;
}

static void *serve(void *user) {
    hob_test_editor *e = user;
    hob_runtime *rt = NULL;
    hob_error err = {.code = HOB_OK};
    e->served = hob_runtime_create(&e->h.ro, &rt, &err);
    if (e->served >= 0) e->served = hob_acp_serve(rt, &e->acp, &err);
    hob_runtime_destroy(rt);
    close(e->acp.in);
    close(e->acp.out);
    return NULL;
}

void hob_test_editor_start(hob_test_editor *e) {
    int in[2], out[2];
    char params[512];
    assert_int_equal(pipe(in), 0);
    assert_int_equal(pipe(out), 0);
    e->acp.in = in[0];
    e->to = in[1];
    e->from = out[0];
    e->acp.out = out[1];
    e->acp.folder = on_folder;
    e->acp.user = e;
    assert_int_equal(pthread_create(&e->thread, NULL, serve, e), 0);
    if (!e->offers) return;
    snprintf(params, sizeof params, "{'protocolVersion':1,'clientCapabilities':%s}", e->offers);
    hob_test_editor_call(e, "initialize", params);
    hob_test_editor_seen(e);
}

void hob_test_editor_stop(hob_test_editor *e) {
    close(e->to);
    while (hob_test_editor_next(e)) continue;
    pthread_join(e->thread, NULL);
    close(e->from);
    hob_buf_reset(&e->rest);
}

void hob_test_editor_finish(hob_test_editor *e) {
    host_finish(&e->h);
    hob_buf_finish(&e->seen);
    hob_buf_finish(&e->rest);
    hob_arena_destroy(e->arena);
}

/* ---- text that is the same every time ----------------------------------------------------------- */

static void replace(hob_buf *b, const char *what, const char *with) {
    hob_buf out;
    if (!*what) return;
    hob_buf_init(&out, b->max);
    hob_str rest = hob_buf_str(b);
    for (ptrdiff_t at; (at = hob_str_find(rest, hob_str_z(what))) >= 0;) {
        hob_buf_add(&out, hob_str_first(rest, (size_t)at));
        hob_buf_addz(&out, with);
        rest = hob_str_skip(rest, (size_t)at + strlen(what));
    }
    hob_buf_add(&out, rest);
    hob_buf_finish(b);
    *b = out;
}

static void quote(hob_buf *b, char from, char to) {
    for (size_t i = 0; i < b->n; i++)
        if (b->p[i] == from) b->p[i] = to;
}

static void note(hob_test_editor *e, hob_str line) {
    hob_buf b;
    hob_buf_init(&b, 16u << 20);
    hob_buf_add(&b, line);
    replace(&b, "\"jsonrpc\":\"2.0\",", "");
    replace(&b, e->ids[0], "S");
    replace(&b, e->ids[1], "T");
    replace(&b, e->h.dir, "D");
    quote(&b, '"', '\'');
    hob_buf_add(&e->seen, hob_buf_str(&b));
    hob_buf_addc(&e->seen, '\n');
    hob_buf_finish(&b);
}

/* ---- sending ------------------------------------------------------------------------------------ */

void hob_test_editor_send(hob_test_editor *e, const char *line) {
    hob_buf b;
    hob_buf_init(&b, 64u << 20);
    hob_buf_addz(&b, line);
    quote(&b, '\'', '"');
    replace(&b, "@S", e->ids[0]);
    replace(&b, "@T", e->ids[1]);
    replace(&b, "@D", e->h.dir);
    hob_buf_addc(&b, '\n');
    for (size_t at = 0; at < b.n;) {
        ssize_t n = write(e->to, b.p + at, b.n - at);
        if (n <= 0) fail_msg("the other end does not read");
        at += (size_t)n;
    }
    hob_buf_finish(&b);
}

/* ---- reading ------------------------------------------------------------------------------------ */

static bool read_more(hob_test_editor *e) {
    struct pollfd p = {.fd = e->from, .events = POLLIN};
    char piece[65536];
    if (poll(&p, 1, 60000) <= 0)
        fail_msg("no message within 60 s; so far:\n%s", hob_buf_z(&e->seen));
    ssize_t n = read(e->from, piece, sizeof piece);
    if (n <= 0) return false;
    hob_buf_add(&e->rest, hob_str_n(piece, (size_t)n));
    return true;
}

const hob_json *hob_test_editor_next(hob_test_editor *e) {
    const hob_json *m = NULL;
    ptrdiff_t end;
    while ((end = hob_str_chr(hob_buf_str(&e->rest), '\n')) < 0)
        if (!read_more(e)) return NULL;
    hob_str line = hob_arena_dup(e->arena, hob_str_first(hob_buf_str(&e->rest), (size_t)end));
    hob_buf_consume(&e->rest, (size_t)end + 1);
    note(e, line);
    if (hob_json_parse(e->arena, line, NULL, &m, NULL) < 0) fail_msg("not JSON: %s", line.p);
    return m;
}

static void answer(hob_test_editor *e, const hob_json *m) {
    char line[300];
    hob_str id = hob_json_raw(hob_json_get(m, "id"));
    if (!hob_str_eqz(hob_json_get_str(m, "method"), "session/request_permission")) return;
    if (!e->option) return;
    snprintf(
        line, sizeof line,
        "{'jsonrpc':'2.0','id':%.*s,'result':{'outcome':{'outcome':'selected','optionId':'%s'}}}",
        HOB_FMT(id), e->option);
    hob_test_editor_send(e, line);
}

const hob_json *hob_test_editor_until(hob_test_editor *e, const char *text) {
    for (;;) {
        size_t from = e->seen.n;
        const hob_json *m = hob_test_editor_next(e);
        if (!m) fail_msg("closed before %s came:\n%s", text, hob_buf_z(&e->seen));
        answer(e, m);
        if (hob_str_find(hob_str_skip(hob_buf_str(&e->seen), from), hob_str_z(text)) >= 0) return m;
    }
}

const hob_json *hob_test_editor_call(hob_test_editor *e, const char *method, const char *params) {
    hob_buf line;
    char mark[40];
    hob_buf_init(&line, 64u << 20);
    hob_buf_addf(&line, "{'jsonrpc':'2.0','id':'q%d','method':'%s','params':", ++e->last_id,
                 method);
    hob_buf_addz(&line, params);
    hob_buf_addc(&line, '}');
    hob_test_editor_send(e, hob_buf_z(&line));
    hob_buf_finish(&line);
    snprintf(mark, sizeof mark, "{'id':'q%d',", e->last_id);
    return hob_test_editor_until(e, mark);
}

const char *hob_test_editor_seen(hob_test_editor *e) {
    const char *text = hob_arena_dup(e->arena, hob_buf_str(&e->seen)).p;
    hob_buf_reset(&e->seen);
    return text;
}

void hob_test_editor_session(hob_test_editor *e) {
    const hob_json *m = hob_test_editor_call(e, "session/new", "{'cwd':'@D','mcpServers':[]}");
    hob_str id = hob_json_get_str(hob_json_get(m, "result"), "sessionId");
    if (!id.n) fail_msg("no session: %s", hob_buf_z(&e->seen));
    hob_str_out(id, e->ids[e->ids[0][0] ? 1 : 0], sizeof e->ids[0]);
    hob_test_editor_until(e, "available_commands_update");
    hob_test_editor_seen(e);
}

/* ---- for tests ----------------------------------------------------------------------------------------------- */

int hob_test_editor_setup(void **state, const char *script) {
    hob_test_editor *e = HOB_NEW(hob_test_editor);
    hob_test_editor_init(e, script);
    *state = e;
    return 0;
}

int hob_test_editor_teardown(void **state) {
    hob_test_editor_finish(*state);
    hob_free(*state);
    return 0;
}

hob_test_editor *hob_test_editor_ready(void **state) {
    hob_test_editor_start(*state);
    hob_test_editor_session(*state);
    return *state;
}

void hob_test_editor_begin(hob_test_editor *e, const char *text) {
    char line[300];
    snprintf(line, sizeof line,
             "{'jsonrpc':'2.0','id':77,'method':'session/prompt','params':"
             "{'sessionId':'@S','prompt':[{'type':'text','text':'%s'}]}}",
             text);
    hob_test_editor_send(e, line);
}
