/*
 * terminal.c - the editor's terminals for bash: the user sees the command at work, and can look back at it.
 *
 *     create -> wait for its exit (kill, when it is cancelled or takes too long) -> what it printed -> release
 *
 * A terminal is always released, whatever happened in between. It stays in the tool call that it belongs to.
 */
#include "acp/acp.h"

#include <signal.h>
#include <unistd.h>

typedef enum stage { CREATING, WAITING, LOOKING, RELEASING } stage;

typedef struct terminal {
    hob_acp_errand base;
    hob_acp_ask kill;
    stage stage;
    char *id; /* NULL until it is created */
    bool unwanted;
    int exit_code;
} terminal;

static void free_terminal(hob_acp_errand *e) {
    terminal *t = HOB_CONTAINER(e, terminal, base);
    hob_acp_drop_ask(e->s->acp, &t->kill);
    hob_acp_errand_finish(e);
    hob_free(t->id);
    hob_free(t);
}

/* ---- requests -------------------------------------------------------------------------------- */

static void on_answer(hob_acp_ask *a, const hob_json *result, const hob_error *err);

/* Nothing is to be done with its answer. */
static void on_killed(hob_acp_ask *a, const hob_json *result, const hob_error *err) {
    (void)a, (void)result;
    if (err) hob_log(HOB_LOG_WARN, "acp", "terminal/kill: %s", err->message);
}

static int send(terminal *t, hob_acp_ask *a, const char *method, hob_error *err) {
    hob_buf b;
    hob_jsonw w;
    hob_buf_init(&b, 64 * 1024);
    hob_jsonw_init(&w, &b);
    hob_jsonw_object(&w);
    hob_jsonw_kstr(&w, "sessionId", hob_str_z(t->base.s->id));
    hob_jsonw_kstr(&w, "terminalId", hob_str_z(t->id));
    hob_jsonw_object_end(&w);
    int code = hob_acp_send_ask(t->base.s->acp, a, method, &b, err);
    hob_buf_finish(&b);
    return code;
}

static void fail(terminal *t, const char *why) {
    if (t->base.reply) hob_reply_text(t->base.reply, HOB_OUTCOME_ERROR, hob_str_z(why));
    hob_acp_errand_done(&t->base);
}

/* The last thing that is asked, whatever came before. */
static void release(terminal *t) {
    hob_error err;
    t->stage = RELEASING;
    if (send(t, &t->base.ask, "terminal/release", &err) < 0) free_terminal(&t->base);
}

/* False: it is gone. */
static bool go_on(terminal *t, stage next, const char *method) {
    hob_error err;
    t->stage = next;
    if (send(t, &t->base.ask, method, &err) >= 0) return true;
    fail(t, err.message);
    free_terminal(&t->base);
    return false;
}

static void kill_it(terminal *t) {
    hob_error err;
    if (!t->id || t->stage != WAITING || t->kill.id) return;
    t->kill.answered = on_killed;
    if (send(t, &t->kill, "terminal/kill", &err) < 0)
        hob_log(HOB_LOG_WARN, "acp", "terminal/kill: %s", err.message);
}

/* ---- create ---------------------------------------------------------------------------------- */

static void write_create(hob_jsonw *w, const hob_acp_session *s, const hob_backend_call *c) {
    const char *shell = access("/bin/bash", X_OK) == 0 ? "/bin/bash" : "/bin/sh";
    hob_jsonw_object(w);
    hob_jsonw_kstr(w, "sessionId", hob_str_z(s->id));
    hob_jsonw_kstr(w, "command", hob_str_z(shell));
    hob_jsonw_key(w, "args");
    hob_jsonw_array(w);
    hob_jsonw_str(w, HOB_STR("-c"));
    hob_jsonw_str(w, c->command);
    hob_jsonw_array_end(w);
    hob_jsonw_kstr(w, "cwd", c->cwd);
    hob_jsonw_kint(w, "outputByteLimit", (int64_t)c->output_max);
    hob_jsonw_object_end(w);
}

static void on_created(terminal *t, const hob_json *result) {
    hob_str id = hob_json_get_str(result, "terminalId");
    if (!id.n) {
        fail(t, "its answer has no `terminalId`");
        free_terminal(&t->base);
        return;
    }
    t->id = hob_dupz(id);
    hob_acp_call *c = t->base.reply ? hob_acp_call_expect(t->base.s, t->base.what) : NULL;
    if (c) {
        hob_free(c->terminal);
        c->terminal = hob_dupz(id);
        hob_acp_call_refresh(t->base.s, c);
    }
    if (go_on(t, WAITING, "terminal/wait_for_exit") && t->unwanted) kill_it(t);
}

static void create(hob_acp_errand *e) {
    terminal *t = HOB_CONTAINER(e, terminal, base);
    hob_buf b;
    hob_jsonw w;
    hob_error err;
    hob_buf_init(&b, 1u << 20);
    hob_jsonw_init(&w, &b);
    write_create(&w, e->s, e->what);
    if (hob_acp_send_ask(e->s->acp, &e->ask, "terminal/create", &b, &err) < 0) {
        fail(t, err.message);
        free_terminal(e);
    }
    hob_buf_finish(&b);
}

void hob_acp_terminal_run(const hob_backend_call *c, hob_reply *reply, void *user) {
    hob_acp_session *s = user;
    if (!s->acp->client.terminal) {
        hob_reply_pass(reply);
        return;
    }
    terminal *t = HOB_NEW(terminal);
    hob_acp_errand_init(&t->base, s, c, reply);
    t->base.free = free_terminal;
    t->base.ask.answered = on_answer;
    hob_acp_errand_begin(&t->base, create);
}

/* ---- its end ----------------------------------------------------------------------------------- */

/* "SIGTERM", "TERM" or "15"; a signal that nobody knows is still no success. */
static int signal_number(hob_str name) {
    int64_t n;
    if (hob_str_int(name, &n) >= 0 && n > 0 && n < 65) return (int)n;
    if (hob_str_starts(name, HOB_STR("SIG"))) name = hob_str_skip(name, 3);
    for (int i = 1; i < 65; i++) {
        const char *known = sigabbrev_np(i);
        if (known && hob_str_eqz(name, known)) return i;
    }
    return SIGKILL;
}

static int exit_code(const hob_json *status) {
    int64_t code;
    hob_str signal = hob_json_get_str(status, "signal");
    if (signal.n) return 128 + signal_number(signal);
    if (hob_json_int(hob_json_get(status, "exitCode"), &code) >= 0) return (int)(code & 0xff);
    return 1; /* it ended, and nobody says how */
}

static void on_exited(terminal *t, const hob_json *result) {
    t->exit_code = exit_code(result);
    go_on(t, LOOKING, "terminal/output");
}

static void on_output(terminal *t, const hob_json *result) {
    hob_command_end end = {.size = sizeof end,
                           .exit_code = t->exit_code,
                           .truncated = hob_json_get_bool(result, "truncated", false),
                           .output = hob_json_get_str(result, "output")};
    if (t->base.reply) hob_reply_command(t->base.reply, &end);
    hob_acp_errand_done(&t->base);
    release(t);
}

static void on_failed(terminal *t, const hob_error *err) {
    fail(t, err->message);
    if (t->id && t->stage != RELEASING)
        release(t);
    else
        free_terminal(&t->base);
}

static void on_answer(hob_acp_ask *a, const hob_json *result, const hob_error *err) {
    terminal *t = HOB_CONTAINER(HOB_CONTAINER(a, hob_acp_errand, ask), terminal, base);
    if (err) {
        on_failed(t, err);
        return;
    }
    switch (t->stage) {
    case CREATING: on_created(t, result); break;
    case WAITING: on_exited(t, result); break;
    case LOOKING: on_output(t, result); break;
    case RELEASING: free_terminal(&t->base); break;
    }
}

void hob_acp_terminal_cancel(const hob_backend_call *c, int hard, void *user) {
    hob_acp_session *s = user;
    (void)hard;
    HOB_LIST_EACH (it, &s->errands) {
        hob_acp_errand *e = HOB_CONTAINER(it, hob_acp_errand, link);
        if (e->free != free_terminal || e->what != c) continue;
        terminal *t = HOB_CONTAINER(e, terminal, base);
        t->unwanted = true;
        kill_it(t);
        return;
    }
}
