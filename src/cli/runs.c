/*
 * runs.c - `hob runs`: the runs of sessions, and taking up one that was left unfinished.
 */
#include "cli/ask.h"

typedef struct runs_opts {
    hob_common common;
    bool json, all;
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

static int list(hob_cli *cli, const runs_opts *o, hob_error *err) {
    hob_page *page = NULL;
    char *session = NULL;
    hob_page_opts q = HOB_PAGE_OPTS_INIT;
    int code = o->session ? session_id(cli, o->session, &session, err) : HOB_OK;
    q.session = session;
    q.status = o->status;
    q.cursor = o->cursor;
    q.limit = (size_t)o->limit;
    q.app_name = hob_cli_app(o->app, o->user);
    q.user_id = o->user;
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

/* ---- resume ---------------------------------------------------------------------------------- */

/* The session of a run. The caller frees it. */
static int session_of_run(hob_cli *cli, const char *run, char **out, hob_error *err) {
    hob_page *page = NULL;
    char session[160];
    int code = hob_runtime_find_run(cli->rt, run, NULL, &page, err);
    if (code == HOB_ENOENT)
        return hob_fail(err, HOB_ENOENT, 0,
                        "there is no run or session %.160s; `hob runs list` lists them", run);
    if (code < 0) return code;
    code = hob_json_field(hob_page_row(page, 0), "session", session, sizeof session);
    if (code >= 0) *out = hob_dupz(hob_str_z(session));
    hob_page_destroy(page);
    return code;
}

static int resume(hob_cli *cli, const runs_opts *o, const char *wanted, hob_error *err) {
    hob_rest none = {.literal = SIZE_MAX};
    hob_ask ask = {.common = o->common, .print = o->json, .cont = !wanted};
    char *session = NULL;
    int code = HOB_OK;
    if (wanted) code = session_id(cli, wanted, &session, err);
    if (code == HOB_ENOENT) code = session_of_run(cli, wanted, &session, err);
    if (code < 0) return code;
    ask.resume = (hob_maybe){wanted != NULL, session};
    if (o->json) ask.output_format = "stream-json";
    code = hob_ask_run(cli, &ask, &none);
    hob_free(session);
    return code;
}

/* ---- the command ----------------------------------------------------------------------------- */

static int run(hob_cli *cli, char *const *argv) {
    runs_opts o = {.limit = 0};
    hob_rest rest;
    hob_error err = {.code = HOB_OK};
    int code = hob_cli_parse(cli, &hob_command_runs, argv, &o, &rest);
    if (code >= 0) goto out;
    const hob_words *w = &rest.words;
    const char *what = w->n ? w->at[0] : "list";
    bool is_list = !strcmp(what, "list"), is_resume = !strcmp(what, "resume");
    if ((!is_list && !is_resume) || w->n > (is_list ? 1 : 2)) {
        hob_command_misused(&hob_command_runs, w, &err);
        hob_tell_error(cli, &err);
        code = HOB_EXIT_USAGE;
        goto out;
    }
    code = hob_cli_start(cli, false, &err);
    if (code >= 0)
        code = is_list ? list(cli, &o, &err) : resume(cli, &o, w->n > 1 ? w->at[1] : NULL, &err);
    if (code < 0) {
        hob_tell_error(cli, &err);
        code = hob_exit_of(code);
    }
out:
    hob_words_finish(&rest.words);
    return code;
}

const hob_command hob_command_runs = {
    .name = "runs",
    .usage = "runs list | resume [RUN | SESSION]",
    .summary = "runs of sessions; take up one that was left unfinished",
    .opts = &opts,
    .run = run,
};
