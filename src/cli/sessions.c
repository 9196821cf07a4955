/*
 * sessions.c - `hob sessions`: what is stored. Listing reads index rows only; showing reads one
 * log, in pages.
 */
#include "cli/cli.h"

#include <stdio.h>

typedef struct sessions_opts {
    hob_common common;
    bool json, all;
    int64_t limit;
    const char *cursor, *app, *user;
} sessions_opts;

#define AT(member) offsetof(sessions_opts, member)
static const hob_opt table[] = {
    {0, "json", HOB_OPT_FLAG, AT(json), NULL, "one JSON object a line"},
    {0, "all", HOB_OPT_FLAG, AT(all), NULL, "list: of every folder, and sub-agents"},
    {0, "limit", HOB_OPT_COUNT, AT(limit), "N", "list: rows at most (50)"},
    {0, "cursor", HOB_OPT_TEXT, AT(cursor), "CURSOR", "list: go on from here"},
    {0, "app", HOB_OPT_TEXT, AT(app), "NAME", "only of this application"},
    {0, "user", HOB_OPT_TEXT, AT(user), "ID", "only of this user of it (--app, else hob)"},
    HOB_COMMON_OPTS(sessions_opts),
};
static const hob_opts opts = {table, HOB_ARRAY_LEN(table)};

/* ---- list ------------------------------------------------------------------------------------ */

static void add_row(hob_table *t, const hob_json *r) {
    char messages[32];
    hob_str parent = hob_json_get_str(r, "parent");
    hob_buf title;
    snprintf(messages, sizeof messages, "%lld", (long long)hob_json_get_int(r, "messages", 0));
    hob_table_add(t, hob_json_get_str(r, "id"));
    hob_table_add(t, hob_str_first(hob_json_get_str(r, "updated"), 16));
    hob_table_add(t, hob_row_state(r, "state"));
    hob_table_add(t, hob_str_z(messages));
    hob_buf_init(&title, 8192);
    if (parent.n) hob_buf_addf(&title, "(for %.*s) ", HOB_FMT(hob_str_first(parent, 13)));
    hob_buf_add(&title, hob_json_get_str(r, "title"));
    hob_table_add(t, hob_buf_str(&title));
    hob_buf_finish(&title);
}

static const char *const heads[] = {"ID", "UPDATED (UTC)", "STATE", "MESSAGES", "TITLE"};
static const hob_columns columns = {heads, HOB_ARRAY_LEN(heads), add_row};

static int list(hob_cli *cli, const sessions_opts *o, hob_error *err) {
    hob_page *page = NULL;
    hob_page_opts q = HOB_PAGE_OPTS_INIT;
    q.cwd = o->all ? NULL : cli->cwd;
    q.flags = o->all ? HOB_PAGE_ALL : 0;
    q.limit = (size_t)o->limit;
    q.cursor = o->cursor;
    q.app_name = hob_cli_app(o->app, o->user);
    q.user_id = o->user;
    int code = hob_runtime_sessions(cli->rt, &q, &page, err);
    if (code < 0) return code;
    if (o->json)
        hob_page_print_json(cli, page);
    else if (hob_page_count(page))
        hob_page_print_table(cli, page, &columns);
    else
        hob_tell_note(cli, "no sessions%s",
                      o->all ? "" : " of this folder; --all lists every folder's");
    if (!o->json) hob_page_print_next(cli, page, o->all ? "sessions list --all" : "sessions list");
    hob_page_destroy(page);
    return HOB_OK;
}

/* ---- show ------------------------------------------------------------------------------------ */

/* The row of the session that is meant: by id or its beginning, else the newest of this folder. */
static int find(hob_cli *cli, const sessions_opts *o, const char *id, hob_page **out,
                hob_error *err) {
    hob_page_opts q = HOB_PAGE_OPTS_INIT;
    hob_tenant of = HOB_TENANT_INIT;
    of.app_name = q.app_name = hob_cli_app(o->app, o->user);
    of.user_id = q.user_id = o->user;
    if (id) return hob_runtime_find_session_of(cli->rt, id, &of, out, err);
    q.cwd = cli->cwd;
    q.limit = 1;
    int code = hob_runtime_sessions(cli->rt, &q, out, err);
    if (code < 0 || hob_page_count(*out)) return code;
    hob_page_destroy(*out);
    return hob_fail(err, HOB_ENOENT, 0,
                    "there is no session of this folder; `hob sessions list --all` lists all");
}

static void print_head(hob_cli *cli, const hob_json *r) {
    static const char *const keys[] = {"id",    "title", "cwd",         "model",
                                       "state", "owner", "forked_from", "parent",
                                       "app",   "user",  "created",     "updated"};
    for (size_t i = 0; i < HOB_ARRAY_LEN(keys); i++) {
        hob_buf b;
        hob_str value = hob_json_get_str(r, keys[i]);
        if (!strcmp(keys[i], "state")) value = hob_row_state(r, "state");
        if (!value.n) continue;
        hob_buf_init(&b, 8192);
        hob_show_line(&b, value, 200);
        hob_out_addf(&cli->out, "%-11s %s\n", keys[i], hob_buf_z(&b));
        hob_buf_finish(&b);
    }
    hob_out_add(&cli->out, HOB_STR("\n"));
}

static void print_events(hob_cli *cli, const hob_page *page, bool json) {
    for (size_t i = 0; i < hob_page_count(page); i++) {
        const hob_json *e = NULL;
        hob_str row = hob_page_row(page, i);
        if (json) {
            hob_show_out(&cli->out, row);
            hob_out_add(&cli->out, HOB_STR("\n"));
            continue;
        }
        hob_arena *a = hob_arena_create(0);
        if (hob_json_parse(a, row, NULL, &e, NULL) >= 0) hob_story_event(cli, e);
        hob_arena_destroy(a);
    }
}

static int print_log(hob_cli *cli, const char *id, bool json, hob_error *err) {
    int64_t after = 0;
    for (;;) {
        hob_page *page = NULL;
        int code = hob_runtime_events(cli->rt, id, (uint64_t)after, 0, &page, err);
        if (code < 0) return code;
        print_events(cli, page, json);
        hob_out_flush(&cli->out);
        bool more = hob_str_int(hob_page_next(page), &after) >= 0;
        hob_page_destroy(page);
        if (!more || cli->out.err || hob_signals_waiting()) return HOB_OK;
    }
}

static int tree(hob_cli *cli, const sessions_opts *o, const char *wanted, hob_error *err) {
    hob_page *page = NULL;
    int code = find(cli, o, wanted, &page, err);
    if (code < 0) return code;
    code = hob_sessions_tree(cli, hob_page_row(page, 0), o->json, err);
    hob_page_destroy(page);
    return code;
}

/* Its log, or only its state. */
static int show(hob_cli *cli, const sessions_opts *o, const char *wanted, bool state,
                hob_error *err) {
    hob_page *page = NULL;
    const hob_json *row = NULL;
    int code = find(cli, o, wanted, &page, err);
    if (code < 0) return code;
    hob_arena *a = hob_arena_create(0);
    code = hob_json_parse(a, hob_page_row(page, 0), NULL, &row, err);
    if (code >= 0) {
        char *id = hob_dupz(hob_json_get_str(row, "id"));
        if (state)
            code = hob_sessions_state(cli, id, o->json, err);
        else if (!o->json)
            print_head(cli, row);
        if (!state) code = print_log(cli, id, o->json, err);
        hob_free(id);
    }
    hob_arena_destroy(a);
    hob_page_destroy(page);
    return code;
}

/* ---- the command ----------------------------------------------------------------------------- */

static int dispatch(hob_cli *cli, const sessions_opts *o, const hob_words *w, hob_error *err) {
    const char *what = w->n ? w->at[0] : "list";
    bool is_list = !strcmp(what, "list"), is_state = !strcmp(what, "state");
    bool is_tree = !strcmp(what, "tree");
    const char *id = w->n > 1 ? w->at[1] : NULL;
    bool known = is_list || is_state || is_tree || !strcmp(what, "show");
    if (!known || w->n > (is_list ? 1 : 2))
        return hob_command_misused(&hob_command_sessions, w, err);
    int code = hob_cli_start(cli, false, err);
    if (code < 0) return code;
    if (is_tree) return tree(cli, o, id, err);
    return is_list ? list(cli, o, err) : show(cli, o, id, is_state, err);
}

static int run(hob_cli *cli, char *const *argv) {
    sessions_opts o = {.limit = 0};
    hob_rest rest;
    hob_error err = {.code = HOB_OK};
    int code = hob_cli_parse(cli, &hob_command_sessions, argv, &o, &rest);
    if (code < 0) {
        code = dispatch(cli, &o, &rest.words, &err);
        if (code < 0) hob_tell_error(cli, &err);
        code = hob_exit_of(code);
    }
    hob_words_finish(&rest.words);
    return code;
}

const hob_command hob_command_sessions = {
    .name = "sessions",
    .usage = "sessions list | show [ID] | state [ID] | tree [ID]",
    .summary = "stored sessions, and what happened in one",
    .opts = &opts,
    .run = run,
};
