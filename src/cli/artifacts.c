/*
 * artifacts.c - `hob artifacts`: what sessions have made and kept, from the outside.
 */
#include <hob/artifact.h>

#include "cli/sessions.h"

#include <stdio.h>

enum { FILE_MAX = 64 << 20 };

typedef struct artifact_opts {
    hob_common common; /* first: hob_cli_parse relies on it */
    bool json;
    int64_t limit;
    const char *cursor, *app, *user, *version, *out_file, *mime, *meta;
} artifact_opts;

#define AT(member) offsetof(artifact_opts, member)
static const hob_opt table[] = {
    {0, "json", HOB_OPT_FLAG, AT(json), NULL, "one JSON object a line"},
    {0, "version", HOB_OPT_TEXT, AT(version), "N", "get: this version (the newest)"},
    {'o', "output", HOB_OPT_TEXT, AT(out_file), "FILE", "get: into FILE, not to standard output"},
    {0, "mime", HOB_OPT_TEXT, AT(mime), "TYPE", "save: its media type (from what is in it)"},
    {0, "meta", HOB_OPT_TEXT, AT(meta), "JSON", "save: an object to keep with it"},
    {0, "limit", HOB_OPT_COUNT, AT(limit), "N", "list, versions: rows at most (50)"},
    {0, "cursor", HOB_OPT_TEXT, AT(cursor), "CURSOR", "list, versions: go on from here"},
    {0, "app", HOB_OPT_TEXT, AT(app), "NAME", "only of this application"},
    {0, "user", HOB_OPT_TEXT, AT(user), "ID", "only of this user of it (--app, else hob)"},
    HOB_COMMON_OPTS(artifact_opts),
};
static const hob_opts opts = {table, HOB_ARRAY_LEN(table)};

/* A command that is carried out. */
typedef struct doing {
    hob_cli *cli;
    const artifact_opts *o;
    const hob_words *words; /* behind the verb: the session comes first */
    hob_tenant of;
    char *session; /* its whole id */
} doing;

static hob_artifact_query query_of(const doing *d) {
    hob_artifact_query q = HOB_ARTIFACT_QUERY_INIT;
    q.session = d->session;
    q.of = &d->of;
    q.limit = (size_t)d->o->limit;
    q.cursor = d->o->cursor;
    if (d->words->n > 1) q.name = hob_str_z(d->words->at[1]);
    return q;
}

/* ---- showing --------------------------------------------------------------------------------- */

static void add_row(hob_table *t, const hob_json *r) {
    static const char *const numbers[] = {"version", "size"};
    char text[32];
    hob_table_add(t, hob_json_get_str(r, "name"));
    for (size_t i = 0; i < HOB_ARRAY_LEN(numbers); i++) {
        snprintf(text, sizeof text, "%lld", (long long)hob_json_get_int(r, numbers[i], 0));
        hob_table_add(t, hob_str_z(text));
    }
    hob_table_add(t, hob_str_first(hob_json_get_str(r, "created"), 16));
    hob_table_add(t, hob_json_get_str(r, "mime"));
}

static const char *const heads[] = {"NAME", "VERSION", "BYTES", "SAVED (UTC)", "TYPE"};
static const hob_columns columns = {heads, HOB_ARRAY_LEN(heads), add_row};

/* `hob artifacts list` and `versions`: the query has a name, or none. */
static int list(void *job, hob_error *err) {
    doing *d = job;
    hob_artifact_query q = query_of(d);
    hob_page *page = NULL;
    int code = hob_runtime_artifacts(d->cli->rt, &q, &page, err);
    if (code < 0) return code;
    if (d->o->json)
        hob_page_print_json(d->cli, page);
    else if (hob_page_count(page))
        hob_page_print_table(d->cli, page, &columns);
    else
        hob_tell_note(d->cli, "no artifacts in session %s", d->session);
    if (!d->o->json)
        hob_page_print_next(d->cli, page, q.name.n ? "artifacts versions" : "artifacts list");
    hob_page_destroy(page);
    return HOB_OK;
}

/* ---- getting --------------------------------------------------------------------------------- */

static int read_version(const char *text, int64_t *out, hob_error *err) {
    if (!text || (hob_str_int(hob_str_z(text), out) >= 0 && *out >= 0)) return HOB_OK;
    return hob_fail(err, HOB_EINVAL, 0, "\"%.40s\" is no version: they are numbers from 0", text);
}

static int get(void *job, hob_error *err) {
    doing *d = job;
    hob_artifact_query q = query_of(d);
    hob_artifact *a = NULL;
    int code = read_version(d->o->version, &q.version, err);
    if (code >= 0) code = hob_runtime_artifact_load(d->cli->rt, &q, &a, err);
    if (code < 0) return code;
    if (d->o->out_file)
        code = hob_cli_file_write(d->o->out_file, hob_artifact_bytes(a), err);
    else
        hob_show_out(&d->cli->out, hob_artifact_bytes(a));
    hob_artifact_destroy(a);
    return code;
}

/* ---- saving and deleting --------------------------------------------------------------------- */

static const char *guess_type(hob_str bytes) {
    bool text = hob_utf8_valid(bytes) && (!bytes.n || !memchr(bytes.p, '\0', bytes.n));
    return text ? "text/plain; charset=utf-8" : "application/octet-stream";
}

static int save(void *job, hob_error *err) {
    doing *d = job;
    hob_artifact_item item = HOB_ARTIFACT_ITEM_INIT;
    const char *path = d->words->at[2];
    hob_buf bytes;
    int code = hob_cli_file_read(strcmp(path, "-") ? path : "/dev/stdin", FILE_MAX, &bytes, err);
    if (code < 0) return code;
    item.name = hob_str_z(d->words->at[1]);
    item.bytes = hob_buf_str(&bytes);
    item.mime = d->o->mime ? d->o->mime : guess_type(item.bytes);
    item.meta = hob_str_z(d->o->meta);
    code = hob_runtime_artifact_save(d->cli->rt, d->session, &d->of, &item, err);
    hob_buf_finish(&bytes);
    if (code >= 0) hob_out_addf(&d->cli->out, "%d\n", code);
    return code < 0 ? code : HOB_OK;
}

static int delete_names(void *job, hob_error *err) {
    doing *d = job;
    int code = HOB_OK;
    for (size_t i = 1; i < d->words->n && code >= 0; i++)
        code = hob_runtime_artifact_delete(d->cli->rt, d->session, &d->of,
                                           hob_str_z(d->words->at[i]), err);
    return code;
}

/* ---- the command ----------------------------------------------------------------------------- */

static const hob_verb verbs[] = {
    {"list", 0, 1, list},
    {"versions", 2, 2, list},
    {"get", 2, 2, get},
    {"save", 3, 3, save},
    {"delete", 2, SIZE_MAX, delete_names},
};

/* One word that is no verb is a session whose artifacts are listed. */
static const hob_verb *choose(const hob_words *w, hob_words *rest) {
    const hob_verb *v = hob_verb_find(verbs, HOB_ARRAY_LEN(verbs), w, rest);
    for (size_t i = 0; i < HOB_ARRAY_LEN(verbs); i++)
        if (w->n && !strcmp(w->at[0], verbs[i].name)) return v;
    if (v || w->n != 1) return v;
    *rest = *w;
    return &verbs[0];
}

static int dispatch(hob_cli *cli, const artifact_opts *o, const hob_words *w, hob_error *err) {
    hob_words rest;
    const hob_verb *v = choose(w, &rest);
    doing d = {.cli = cli, .o = o, .words = &rest, .of = HOB_TENANT_INIT};
    if (!v) return hob_command_misused(&hob_command_artifacts, w, err);
    d.of.app_name = hob_cli_app(o->app, o->user);
    d.of.user_id = o->user;
    hob_sessions_job j = {.cli = cli, .words = &rest, .of = d.of};
    int code = hob_cli_start(cli, false, err);
    if (code >= 0) code = hob_sessions_find_id(&j, hob_sessions_word(&j, 0), &d.session, err);
    if (code >= 0) code = v->run(&d, err);
    hob_free(d.session);
    return code;
}

static int run(hob_cli *cli, char *const *argv) {
    artifact_opts o = {.limit = 0};
    hob_rest rest;
    hob_error err = {.code = HOB_OK};
    int code = hob_cli_parse(cli, &hob_command_artifacts, argv, &o, &rest);
    if (code < 0) {
        code = dispatch(cli, &o, &rest.words, &err);
        if (code < 0) hob_tell_error(cli, &err);
        code = hob_exit_of(code);
    }
    hob_words_finish(&rest.words);
    return code;
}

const hob_command hob_command_artifacts = {
    .name = "artifacts",
    .usage = "artifacts [list] [SESSION] | versions SESSION NAME | get SESSION NAME | "
             "save SESSION NAME FILE | delete SESSION NAME...",
    .summary = "files and other bytes that sessions made and keep",
    .opts = &opts,
    .run = run,
};
