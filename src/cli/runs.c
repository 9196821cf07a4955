/*
 * runs.c - `hob runs`: the runs of sessions, and taking up one that was left unfinished.
 */
#include <hob/stored.h>

#include "cli/ask.h"

typedef struct runs_opts {
    hob_common common;
    bool json, all, trust;
    int64_t limit;
    const char *cursor, *session, *status, *app, *user;
} runs_opts;

#define AT(member) offsetof(runs_opts, member)
static const hob_opt table[] = {
    {0, "json", HOB_OPT_FLAG, AT(json), NULL, "one JSON object a line; resume: stream-json"},
    {0, "session", HOB_OPT_TEXT, AT(session), "ID", "list: of this session"},
    {0, "status", HOB_OPT_WORD, AT(status),
     "running|parked|completed|failed|cancelled|interrupted|limit", "list: that ended so"},
    {0, "limit", HOB_OPT_COUNT, AT(limit), "N", "list: rows at most (50)"},
    {0, "cursor", HOB_OPT_TEXT, AT(cursor), "CURSOR", "list: go on from here"},
    {0, "app", HOB_OPT_TEXT, AT(app), "NAME", "list: of this application"},
    {0, "user", HOB_OPT_TEXT, AT(user), "ID", "list: of this user of it (--app, else hob)"},
    {0, "trust", HOB_OPT_FLAG, AT(trust), NULL,
     "resume: trust this folder's settings, for this run"},
    HOB_COMMON_OPTS(runs_opts),
};
static const hob_opts opts = {table, HOB_ARRAY_LEN(table)};

/* ---- list ------------------------------------------------------------------------------------ */

static void add_row(hob_table *t, const hob_json *r) {
    hob_table_add(t, hob_json_get_str(r, "id"));
    hob_table_add(t, hob_json_get_str(r, "session"));
    hob_table_add(t, hob_row_state(r, "status"));
    hob_table_add(t, hob_str_first(hob_json_get_str(r, "started"), 16));
    hob_table_add(t, hob_json_get_str(r, "prompt"));
}

static const char *const heads[] = {"RUN", "SESSION", "STATUS", "STARTED (UTC)", "PROMPT"};
static const hob_columns columns = {heads, HOB_ARRAY_LEN(heads), add_row};

/* The whole id of a session given by its beginning. The caller frees it. */
static int session_id(hob_cli *cli, const char *wanted, char **out, hob_error *err) {
    hob_page *page = NULL;
    const hob_json *row = NULL;
    int code = hob_runtime_find_session(cli->rt, wanted, &page, err);
    if (code < 0) return code;
    hob_arena *a = hob_arena_create(0);
    code = hob_json_parse(a, hob_page_row(page, 0), NULL, &row, err);
    if (code >= 0) *out = hob_dupz(hob_json_get_str(row, "id"));
    hob_arena_destroy(a);
    hob_page_destroy(page);
    return code;
}

/* A verb that is carried out. */
typedef struct doing {
    hob_cli *cli;
    const runs_opts *o;
    const char *wanted; /* the word behind it; NULL = none */
    hob_tenant of;
} doing;

static int list(void *job, hob_error *err) {
    doing *d = job;
    hob_cli *cli = d->cli;
    const runs_opts *o = d->o;
    hob_page *page = NULL;
    char *session = NULL;
    hob_page_opts q = HOB_PAGE_OPTS_INIT;
    int code = o->session ? session_id(cli, o->session, &session, err) : HOB_OK;
    q.session = session;
    q.status = o->status;
    q.cursor = o->cursor;
    q.limit = (size_t)o->limit;
    q.app_name = d->of.app_name;
    q.user_id = d->of.user_id;
    if (code >= 0) code = hob_runtime_runs(cli->rt, &q, &page, err);
    hob_free(session);
    if (code < 0) return code;
    if (o->json)
        hob_page_print_json(cli, page);
    else if (hob_page_count(page))
        hob_page_print_table(cli, page, &columns);
    else
        hob_tell_note(cli, "no runs");
    if (!o->json) hob_page_print_next(cli, page, "runs list");
    hob_page_destroy(page);
    return HOB_OK;
}

/* ---- one run --------------------------------------------------------------------------------- */

static void print_event(hob_cli *cli, hob_str row, bool json) {
    const hob_json *e = NULL;
    hob_arena *a = hob_arena_create(0);
    if (json) {
        hob_show_out(&cli->out, row);
        hob_out_add(&cli->out, HOB_STR("\n"));
    } else if (hob_json_parse(a, row, NULL, &e, NULL) >= 0) {
        hob_story_event(cli, e);
    }
    hob_arena_destroy(a);
}

static int print_log(doing *d, bool json, hob_error *err) {
    hob_cli *cli = d->cli;
    int64_t after = 0;
    for (;;) {
        hob_page *page = NULL;
        int code = hob_runtime_run_events(cli->rt, d->wanted, (uint64_t)after, 0, &page, err);
        if (code < 0) return code;
        for (size_t i = 0; i < hob_page_count(page); i++)
            print_event(cli, hob_page_row(page, i), json);
        hob_out_flush(&cli->out);
        bool more = hob_str_int(hob_page_next(page), &after) >= 0;
        hob_page_destroy(page);
        if (!more || cli->out.err || hob_signals_waiting()) return HOB_OK;
    }
}

static void print_head(hob_cli *cli, hob_str row) {
    static const char *const keys[] = {"id",    "session", "status", "reason",  "prompt",
                                       "owner", "app",     "user",   "started", "finished"};
    const hob_json *r = NULL;
    hob_arena *a = hob_arena_create(0);
    bool readable = hob_json_parse(a, row, NULL, &r, NULL) >= 0;
    for (size_t i = 0; readable && i < HOB_ARRAY_LEN(keys); i++) {
        hob_str value =
            !strcmp(keys[i], "status") ? hob_row_state(r, keys[i]) : hob_json_get_str(r, keys[i]);
        if (value.n) hob_cli_print_field(cli, keys[i], value);
    }
    hob_out_add(&cli->out, HOB_STR("\n"));
    hob_arena_destroy(a);
}

static int show(void *job, hob_error *err) {
    doing *d = job;
    hob_page *page = NULL;
    int code = hob_runtime_find_run(d->cli->rt, d->wanted, &d->of, &page, err);
    if (code < 0) return code;
    if (d->o->json)
        hob_page_print_json(d->cli, page);
    else
        print_head(d->cli, hob_page_row(page, 0));
    hob_page_destroy(page);
    return d->o->json ? HOB_OK : print_log(d, false, err);
}

static int events(void *job, hob_error *err) {
    doing *d = job;
    hob_page *page = NULL;
    int code = hob_runtime_find_run(d->cli->rt, d->wanted, &d->of, &page, err);
    if (code < 0) return code;
    hob_page_destroy(page);
    return print_log(d, true, err);
}

static int cancel(void *job, hob_error *err) {
    doing *d = job;
    int code = hob_runtime_cancel_run(d->cli->rt, d->wanted, &d->of, err);
    if (code == HOB_EIDLE) { /* what was wanted is so */
        hob_tell_note(d->cli, "%s", err->message);
        return HOB_OK;
    }
    return code;
}

/* ---- resume ---------------------------------------------------------------------------------- */

/* The session of a run. The caller frees it. */
static int session_of_run(doing *d, char **out, hob_error *err) {
    hob_page *page = NULL;
    char session[160];
    int code = hob_runtime_find_run(d->cli->rt, d->wanted, &d->of, &page, err);
    if (code == HOB_ENOENT)
        return hob_fail(err, HOB_ENOENT, 0,
                        "there is no run or session %.160s; `hob runs list` lists them", d->wanted);
    if (code < 0) return code;
    code = hob_json_field(hob_page_row(page, 0), "session", session, sizeof session);
    if (code >= 0) *out = hob_dupz(hob_str_z(session));
    hob_page_destroy(page);
    return code;
}

static int resume(void *job, hob_error *err) {
    doing *d = job;
    hob_rest none = {.literal = SIZE_MAX};
    hob_ask ask = {
        .common = d->o->common, .print = d->o->json, .cont = !d->wanted, .trust = d->o->trust};
    char *session = NULL;
    int code = HOB_OK;
    if (d->wanted) code = session_id(d->cli, d->wanted, &session, err);
    if (code == HOB_ENOENT) code = session_of_run(d, &session, err);
    if (code < 0) return code;
    ask.resume = (hob_maybe){d->wanted != NULL, session};
    if (d->o->json) ask.output_format = "stream-json";
    code = hob_ask_run(d->cli, &ask, &none);
    hob_free(session);
    return code;
}

/* ---- the command ----------------------------------------------------------------------------- */

static const hob_verb verbs[] = {
    {"list", 0, 0, list},     {"show", 1, 1, show},     {"events", 1, 1, events},
    {"cancel", 1, 1, cancel}, {"resume", 0, 1, resume},
};

static int dispatch(hob_cli *cli, const runs_opts *o, const hob_words *w, hob_error *err) {
    hob_words rest;
    const hob_verb *v = hob_verb_find(verbs, HOB_ARRAY_LEN(verbs), w, &rest);
    doing d = {.cli = cli, .o = o, .of = HOB_TENANT_INIT};
    if (!v) return hob_command_misused(&hob_command_runs, w, err);
    d.wanted = rest.n ? rest.at[0] : NULL;
    d.of.app_name = hob_cli_app(o->app, o->user);
    d.of.user_id = o->user;
    int code = hob_cli_start(cli, o->trust, err);
    return code < 0 ? code : v->run(&d, err);
}

/* Resuming ends with the exit code of the run. */
static int run(hob_cli *cli, char *const *argv) {
    runs_opts o = {.limit = 0};
    hob_rest rest;
    hob_error err = {.code = HOB_OK};
    int code = hob_cli_parse(cli, &hob_command_runs, argv, &o, &rest);
    if (code < 0) {
        code = dispatch(cli, &o, &rest.words, &err);
        if (code < 0) {
            hob_tell_error(cli, &err);
            code = hob_exit_of(code);
        }
    }
    hob_words_finish(&rest.words);
    return code;
}

const hob_command hob_command_runs = {
    .name = "runs",
    .usage = "runs list | show RUN | events RUN | cancel RUN | resume [RUN | SESSION]",
    .summary = "runs of sessions; take up or end one that was left unfinished",
    .opts = &opts,
    .run = run,
};
