/*
 * sessions.c - `hob sessions`: what is stored. Listing reads index rows only; showing reads one
 * log, in pages.
 */
#include "cli/sessions.h"

#include <stdio.h>

#define AT(member) offsetof(hob_sessions_opts, member)
static const hob_opt table[] = {
    {0, "json", HOB_OPT_FLAG, AT(json), NULL, "one JSON object a line"},
    {0, "all", HOB_OPT_FLAG, AT(all), NULL, "list: of every folder, and sub-agents"},
    {0, "limit", HOB_OPT_COUNT, AT(limit), "N", "list, search: rows at most (50, 20)"},
    {0, "cursor", HOB_OPT_TEXT, AT(cursor), "CURSOR", "list, search: go on from here"},
    {0, "app", HOB_OPT_TEXT, AT(app), "NAME", "only of this application"},
    {0, "user", HOB_OPT_TEXT, AT(user), "ID", "only of this user of it (--app, else hob)"},
    {0, "at", HOB_OPT_TEXT, AT(entry), "ENTRY", "fork: up to this message (e12; show -v has them)"},
    {0, "format", HOB_OPT_WORD, AT(format), "jsonl|markdown", "export: the whole log, or to read"},
    {'o', "output", HOB_OPT_TEXT, AT(file), "FILE", "export: into FILE"},
    {0, "session-id", HOB_OPT_TEXT, AT(session_id), "ID", "fork: the id of the copy"},
    HOB_COMMON_OPTS(hob_sessions_opts),
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

static int list(void *job, hob_error *err) {
    hob_sessions_job *j = job;
    hob_cli *cli = j->cli;
    const hob_sessions_opts *o = j->o;
    hob_page *page = NULL;
    hob_page_opts q = HOB_PAGE_OPTS_INIT;
    q.cwd = o->all ? NULL : cli->cwd;
    q.flags = o->all ? HOB_PAGE_ALL : 0;
    q.limit = (size_t)o->limit;
    q.cursor = o->cursor;
    q.app_name = j->of.app_name;
    q.user_id = j->of.user_id;
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

int hob_sessions_find(hob_sessions_job *j, const char *wanted, hob_page **out, hob_error *err) {
    hob_page_opts q = HOB_PAGE_OPTS_INIT;
    if (wanted) return hob_runtime_find_session_of(j->cli->rt, wanted, &j->of, out, err);
    q.app_name = j->of.app_name;
    q.user_id = j->of.user_id;
    q.cwd = j->cli->cwd;
    q.limit = 1;
    int code = hob_runtime_sessions(j->cli->rt, &q, out, err);
    if (code < 0 || hob_page_count(*out)) return code;
    hob_page_destroy(*out);
    return hob_fail(err, HOB_ENOENT, 0,
                    "there is no session of this folder; `hob sessions list --all` lists all");
}

int hob_sessions_find_id(hob_sessions_job *j, const char *wanted, char **out, hob_error *err) {
    hob_page *page = NULL;
    char id[160];
    int code = hob_sessions_find(j, wanted, &page, err);
    if (code < 0) return code;
    code = hob_json_field(hob_page_row(page, 0), "id", id, sizeof id);
    if (code >= 0) *out = hob_dupz(hob_str_z(id));
    hob_page_destroy(page);
    return code;
}

const char *hob_sessions_word(const hob_sessions_job *j, size_t i) {
    return i < j->words->n ? j->words->at[i] : NULL;
}

static void print_head(hob_cli *cli, const hob_json *r) {
    static const char *const keys[] = {"id",    "title", "cwd",         "model",
                                       "state", "owner", "forked_from", "parent",
                                       "app",   "user",  "created",     "updated"};
    for (size_t i = 0; i < HOB_ARRAY_LEN(keys); i++) {
        hob_str value = hob_json_get_str(r, keys[i]);
        if (!strcmp(keys[i], "state")) value = hob_row_state(r, "state");
        if (value.n) hob_cli_print_field(cli, keys[i], value);
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

static int show(void *job, hob_error *err) {
    hob_sessions_job *j = job;
    hob_page *page = NULL;
    const hob_json *row = NULL;
    int code = hob_sessions_find(j, hob_sessions_word(j, 0), &page, err);
    if (code < 0) return code;
    hob_arena *a = hob_arena_create(0);
    code = hob_json_parse(a, hob_page_row(page, 0), NULL, &row, err);
    if (code >= 0) {
        char *id = hob_dupz(hob_json_get_str(row, "id"));
        if (!j->o->json) print_head(j->cli, row);
        code = print_log(j->cli, id, j->o->json, err);
        hob_free(id);
    }
    hob_arena_destroy(a);
    hob_page_destroy(page);
    return code;
}

/* ---- the command ----------------------------------------------------------------------------- */

static const hob_verb verbs[] = {
    {"list", 0, 0, list},
    {"search", 1, SIZE_MAX, hob_sessions_search},
    {"show", 0, 1, show},
    {"state", 0, 1, hob_sessions_state},
    {"tree", 0, 1, hob_sessions_tree},
    {"fork", 0, 1, hob_sessions_fork},
    {"export", 0, 1, hob_sessions_export},
    {"import", 1, 1, hob_sessions_import},
    {"rename", 2, SIZE_MAX, hob_sessions_rename},
    {"delete", 1, SIZE_MAX, hob_sessions_delete},
};

static int dispatch(hob_cli *cli, const hob_sessions_opts *o, const hob_words *w, hob_error *err) {
    hob_words rest;
    const hob_verb *v = hob_verb_find(verbs, HOB_ARRAY_LEN(verbs), w, &rest);
    hob_sessions_job j = {.cli = cli, .o = o, .words = &rest, .of = HOB_TENANT_INIT};
    if (!v) return hob_command_misused(&hob_command_sessions, w, err);
    j.of.app_name = hob_cli_app(o->app, o->user);
    j.of.user_id = o->user;
    int code = hob_cli_start(cli, false, err);
    return code < 0 ? code : v->run(&j, err);
}

static int run(hob_cli *cli, char *const *argv) {
    hob_sessions_opts o = {.limit = 0};
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
    .usage =
        "sessions list | search WORDS | show [ID] | state [ID] | tree [ID] | fork [ID] | rename ID TITLE | export [ID] | "
        "import FILE | delete ID...",
    .summary = "stored sessions: what happened in one, copies, titles, an end",
    .opts = &opts,
    .run = run,
};
