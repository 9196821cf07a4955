/*
 * serve.c - `hob serve`: the server of hob/server.h, from its first line to its last signal.
 *
 * SIGTERM and SIGINT stop it: nothing new begins, runs under way stay resumable, at most ten seconds; the second one
 * ends it on the spot, which loses nothing either. SIGHUP reads the token file again.
 */
#include "cli/serve.h"

#include <hob/server.h>

#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

enum { DRAIN_MS = 10000 };

typedef struct serve_opts {
    hob_common common;
    const char *listen, *token_file, *log, *max_mode, *model;
    hob_words hosts, origins, dirs;
    bool insecure, no_console, json, trust;
} serve_opts;

#define AT(member) offsetof(serve_opts, member)
static const hob_opt table[] = {
    {0, "listen", HOB_OPT_TEXT, AT(listen), "ADDRESS:PORT",
     "default 127.0.0.1:4042; port 0: any free one; unix:PATH"},
    {0, "token-file", HOB_OPT_TEXT, AT(token_file), "FILE",
     "who may call, and what; else HOB_SERVER_TOKEN, or a token that is made"},
    {0, "allow-host", HOB_OPT_LIST, AT(hosts), "NAME[:PORT]", "a further name in Host, of a proxy"},
    {0, "allow-origin", HOB_OPT_LIST, AT(origins), "ORIGIN", "pages of that site may call"},
    {0, "insecure", HOB_OPT_FLAG, AT(insecure), NULL,
     "listen where other machines reach it, without TLS"},
    {0, "add-dir", HOB_OPT_LIST, AT(dirs), "DIR",
     "a further folder for sessions, besides this one"},
    {0, "max-permission-mode", HOB_OPT_WORD, AT(max_mode), "plan|ask|accept-edits|yolo",
     "the strongest that callers may ask for"},
    {'m', "model", HOB_OPT_TEXT, AT(model), "MODEL", "for sessions that name none"},
    {0, "no-console", HOB_OPT_FLAG, AT(no_console), NULL, "no page at /"},
    {0, "json", HOB_OPT_FLAG, AT(json), NULL, "one JSON line on stdout when ready"},
    {0, "log", HOB_OPT_TEXT, AT(log), "FILE|-", "requests as JSON lines; - is stdout"},
    {0, "trust", HOB_OPT_FLAG, AT(trust), NULL, "trust this folder's settings"},
    HOB_COMMON_OPTS(serve_opts),
};
static const hob_opts opts = {table, HOB_ARRAY_LEN(table)};

/* ---- ready ---------------------------------------------------------------------------------------------- */

static void print_ready(hob_cli *cli, const char *url, const hob_serve_token *token) {
    hob_buf b;
    hob_jsonw w;
    hob_buf_init(&b, 65536);
    hob_jsonw_init(&w, &b);
    hob_jsonw_object(&w);
    hob_jsonw_kstr(&w, "type", HOB_STR("ready"));
    hob_jsonw_kstr(&w, "url", hob_str_z(url));
    hob_jsonw_kint(&w, "pid", getpid());
    hob_jsonw_kstr_opt(&w, "token_file", hob_str_z(token->file));
    hob_jsonw_object_end(&w);
    hob_buf_addc(&b, '\n');
    hob_out_add(&cli->out, hob_buf_str(&b));
    hob_out_flush(&cli->out);
    hob_buf_finish(&b);
}

static void tell_ready(hob_cli *cli, const char *url, const hob_serve_token *token, bool page) {
    hob_tell_note(cli, "listening on %s", url);
    if (token->made && page)
        hob_tell_note(cli, "open %s#token=%s", url, token->text);
    else if (token->made)
        hob_tell_note(cli, "the token is %s", token->text);
    if (token->file[0])
        hob_tell_note(cli, token->made ? "shown this once; it is kept in %s" : "the token is in %s",
                      token->file);
}

/* ---- signals -------------------------------------------------------------------------------------------- */

/* Taken with sigwaitinfo() by this thread alone: all others block them. */
static void hold_signals(sigset_t *set) {
    sigemptyset(set);
    sigaddset(set, SIGINT);
    sigaddset(set, SIGTERM);
    sigaddset(set, SIGHUP);
    pthread_sigmask(SIG_BLOCK, set, NULL);
}

static void let_signals_kill(const sigset_t *set) {
    struct sigaction act = {.sa_handler = SIG_DFL};
    sigaction(SIGINT, &act, NULL);
    sigaction(SIGTERM, &act, NULL);
    pthread_sigmask(SIG_UNBLOCK, set, NULL);
}

static void reload(hob_cli *cli, hob_server *server) {
    hob_error err;
    if (hob_server_reload(server, &err) < 0)
        hob_tell_errorf(cli, "%s; the callers stay as they were", err.message);
}

static void serve_until_stopped(hob_cli *cli, hob_server *server, const sigset_t *set) {
    for (;;) {
        int number = sigwaitinfo(set, NULL);
        if (number == SIGHUP) reload(cli, server);
        if (number == SIGINT || number == SIGTERM) break;
    }
    hob_tell_note(cli, "stopping; what runs can be resumed");
    let_signals_kill(set);
    hob_server_stop(server, DRAIN_MS);
}

/* ---- start ---------------------------------------------------------------------------------------------- */

/* Connections are files; the default of a shell is a thousand. */
static void raise_file_limit(void) {
    struct rlimit files;
    if (getrlimit(RLIMIT_NOFILE, &files) < 0) return;
    files.rlim_cur = files.rlim_max;
    setrlimit(RLIMIT_NOFILE, &files);
}

static int set_model(hob_cli *cli, const char *model, hob_error *err) {
    hob_buf json;
    if (!model) return HOB_OK;
    hob_buf_init(&json, 65536);
    hob_json_quote(&json, hob_str_z(model));
    int r = hob_config_set(cli->config, "model", hob_buf_str(&json), HOB_ORIGIN_FLAG, err);
    hob_buf_finish(&json);
    return r;
}

/* What cannot be used is said now, not to the first who comes. Only what was asked for on the command line is a reason
 * not to start: sessions may name other models. */
static int try_model(hob_cli *cli, bool asked_for, hob_error *err) {
    hob_session_opts o = HOB_SESSION_OPTS_INIT;
    hob_session *s;
    o.flags = HOB_SESSION_IN_MEMORY;
    int r = hob_session_create(cli->rt, &o, &s, err);
    if (r >= 0) hob_session_detach(s);
    if (r >= 0 || asked_for) return r;
    hob_tell_note(cli, "%s. Until then sessions have to name a model", err->message);
    return HOB_OK;
}

static void fill(hob_cli *cli, const serve_opts *o, hob_words *roots, hob_server_opts *so) {
    hob_words_add(roots, cli->cwd);
    for (size_t i = 0; i < o->dirs.n; i++) hob_words_add(roots, o->dirs.at[i]);
    so->listen = o->listen;
    so->token_file = o->token_file;
    so->allow_hosts = o->hosts.at;
    so->allow_origins = o->origins.at;
    so->roots = roots->at;
    so->max_mode = o->max_mode;
    so->flags = (o->insecure ? HOB_SERVER_INSECURE : 0u) |
                (o->no_console ? HOB_SERVER_NO_CONSOLE : 0u) | HOB_SERVER_CONTEXT_FILES;
    so->on_log = hob_serve_log;
    so->user = cli;
}

static int start(hob_cli *cli, const serve_opts *o, hob_serve_token *token, hob_error *err) {
    int r = hob_cli_config(cli, o->trust || hob_cli_trusts(cli), err);
    if (r >= 0) r = set_model(cli, o->model, err);
    if (r >= 0) r = hob_serve_log_open(cli, o->log, err);
    if (!cli->verbose && !o->common.debug_file) hob_serve_log_warnings(cli);
    if (r >= 0 && !o->token_file) r = hob_serve_token_get(cli, token, err);
    if (o->token_file && hob_config_get(cli->config, "server.token").n)
        hob_tell_note(cli, "HOB_SERVER_TOKEN does not count: --token-file says who may call");
    return r < 0 ? r : hob_cli_start_as(cli, HOB_LOOP_OWN_THREAD, o->trust, err);
}

/* What callers needed for a moment is the machine's again. Left alone, malloc keeps large blocks once one was freed. */
static void give_back_memory(void) {
    mallopt(M_MMAP_THRESHOLD, 1 << 20);
}

static int serve(hob_cli *cli, const serve_opts *o, hob_serve_token *token, hob_error *err) {
    hob_server_opts so = HOB_SERVER_OPTS_INIT;
    hob_server *server = NULL;
    hob_words roots = {NULL, 0};
    hob_definitions *definitions = NULL;
    sigset_t set;
    char url[300];
    raise_file_limit();
    give_back_memory();
    int r = start(cli, o, token, err);
    if (r >= 0) r = try_model(cli, o->model != NULL, err);
    if (r >= 0)
        r = hob_cli_definitions_open(cli, o->trust || hob_cli_trusts(cli), &definitions, err);
    if (r < 0) return r;
    fill(cli, o, &roots, &so);
    so.token = o->token_file ? NULL : token->text;
    so.definitions = definitions;
    char *state = hob_dupz(hob_config_state_dir(cli->config));
    so.state_dir = state[0] ? state : NULL;
    hold_signals(&set);
    r = hob_server_create(cli->rt, &so, &server, err);
    hob_words_finish(&roots);
    hob_free(state);
    if (r >= 0) {
        hob_server_url(server, url, sizeof url);
        if (o->json) print_ready(cli, url, token);
        tell_ready(cli, url, token, !o->no_console);
        serve_until_stopped(cli, server, &set);
    }
    hob_server_destroy(server);
    hob_definitions_destroy(definitions);
    return r;
}

/* ---- the command ---------------------------------------------------------------------------------------- */

/* A token that was made for a start that failed was shown to nobody: the next one makes and shows another. */
static int serve_or_undo(hob_cli *cli, const serve_opts *o, hob_error *err) {
    hob_serve_token token = {.made = false};
    int r = serve(cli, o, &token, err);
    if (r < 0 && token.made) unlink(token.file);
    return r;
}

/* A busy port or a folder that is missing is no wrong usage. */
static int exit_of(int code) {
    if (code == HOB_EEXIST) return HOB_EXIT_BUSY;
    if (code == HOB_EACCES) return HOB_EXIT_USAGE;
    return hob_exit_of(code);
}

static int run(hob_cli *cli, char *const *argv) {
    serve_opts o = {.json = false};
    hob_rest rest;
    hob_error err = {.code = HOB_OK};
    int code = hob_cli_parse(cli, &hob_command_serve, argv, &o, &rest);
    if (code < 0) {
        code = rest.words.n ? hob_command_misused(&hob_command_serve, &rest.words, &err)
                            : serve_or_undo(cli, &o, &err);
        if (code < 0) hob_tell_error(cli, &err);
        code = exit_of(code);
    }
    hob_words_finish(&rest.words);
    hob_words_finish(&o.hosts);
    hob_words_finish(&o.origins);
    hob_words_finish(&o.dirs);
    return code;
}

const hob_command hob_command_serve = {
    .name = "serve",
    .usage = "serve [--listen ADDRESS:PORT]",
    .summary = "HTTP server: sessions, streams, AG-UI, a console page",
    .opts = &opts,
    .run = run,
};
