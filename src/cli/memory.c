/*
 * memory.c - `hob memory`: what is remembered for this user, from the outside.
 */
#include <hob/memory.h>

#include "cli/cli.h"

#include <stdio.h>

typedef struct memory_opts {
    hob_common common;
    bool json, all;
    int64_t limit;
    double importance;
    const char *cursor, *kind, *session, *app, *user;
    hob_words tags;
} memory_opts;

#define AT(member) offsetof(memory_opts, member)
static const hob_opt table[] = {
    {0, "json", HOB_OPT_FLAG, AT(json), NULL, "one JSON object a line"},
    {0, "tag", HOB_OPT_LIST, AT(tags), "TAG", "only with this tag; add: give it this tag"},
    {0, "kind", HOB_OPT_TEXT, AT(kind), "KIND", "only of this kind; add: its kind (note)"},
    {0, "session", HOB_OPT_TEXT, AT(session), "ID", "only what came from this session"},
    {0, "importance", HOB_OPT_NUMBER, AT(importance), "N", "add: up to 1 (0.5)"},
    {0, "limit", HOB_OPT_COUNT, AT(limit), "N", "rows at most (list 50, search 10)"},
    {0, "cursor", HOB_OPT_TEXT, AT(cursor), "CURSOR", "list: go on from here"},
    {0, "all", HOB_OPT_FLAG, AT(all), NULL, "forget: everything"},
    {0, "app", HOB_OPT_TEXT, AT(app), "NAME", "of this application (hob)"},
    {0, "user", HOB_OPT_TEXT, AT(user), "ID", "of this user (local)"},
    HOB_COMMON_OPTS(memory_opts),
};
static const hob_opts opts = {table, HOB_ARRAY_LEN(table)};

/* A command that is carried out. */
typedef struct doing {
    hob_cli *cli;
    const memory_opts *o;
    const hob_words *words; /* behind the verb */
    hob_memory *m;
} doing;

/* ---- showing --------------------------------------------------------------------------------- */

static void join_tags(hob_buf *out, const hob_json *row) {
    const hob_json *tags = hob_json_get(row, "tags");
    for (const hob_json *t = hob_json_first(tags); t; t = hob_json_next(t)) {
        if (out->n) hob_buf_addz(out, ", ");
        hob_buf_add(out, hob_json_str(t));
    }
}

static void add_row(hob_table *t, const hob_json *r) {
    hob_buf tags;
    hob_buf_init(&tags, 4096);
    join_tags(&tags, r);
    hob_table_add(t, hob_json_get_str(r, "id"));
    hob_table_add(t, hob_str_first(hob_json_get_str(r, "updated"), 10));
    hob_table_add(t, hob_json_get_str(r, "by"));
    hob_table_add(t, hob_buf_str(&tags));
    hob_table_add(t, hob_json_get_str(r, "text"));
    hob_buf_finish(&tags);
}

static const char *const heads[] = {"ID", "DATE", "BY", "TAGS", "TEXT"};
static const hob_columns columns = {heads, HOB_ARRAY_LEN(heads), add_row};

static int print(doing *d, const hob_memory_query *q, hob_error *err) {
    hob_page *page = NULL;
    int code = hob_memory_recall(d->m, q, &page, err);
    if (code < 0) return code;
    if (d->o->json)
        hob_page_print_json(d->cli, page);
    else if (hob_page_count(page))
        hob_page_print_table(d->cli, page, &columns);
    else
        hob_tell_note(d->cli, "nothing is remembered%s", q->text.n ? " of that" : "");
    if (!d->o->json) hob_page_print_next(d->cli, page, "memory list");
    hob_page_destroy(page);
    return HOB_OK;
}

static hob_memory_query query_of(const memory_opts *o) {
    hob_memory_query q = HOB_MEMORY_QUERY_INIT;
    q.tags = o->tags.at;
    q.kind = o->kind;
    q.session = o->session;
    q.limit = (size_t)HOB_MIN(o->limit, (int64_t)HOB_MEMORY_LIMIT_MAX);
    return q;
}

/* ---- verbs ----------------------------------------------------------------------------------- */

static int list(void *job, hob_error *err) {
    doing *d = job;
    hob_memory_query q = query_of(d->o);
    q.order = HOB_MEMORY_RECENT;
    q.cursor = d->o->cursor;
    if (!q.limit) q.limit = 50;
    return print(d, &q, err);
}

static int search(void *job, hob_error *err) {
    doing *d = job;
    hob_memory_query q = query_of(d->o);
    hob_buf words;
    hob_buf_init(&words, 1u << 20);
    hob_words_join(&words, d->words, 0);
    q.text = hob_buf_str(&words);
    int code = print(d, &q, err);
    hob_buf_finish(&words);
    return code;
}

static int show(void *job, hob_error *err) {
    doing *d = job;
    hob_page *page = NULL;
    const hob_json *row = NULL;
    int code = hob_memory_get(d->m, d->words->at[0], &page, err);
    if (code < 0) return code;
    hob_arena *a = hob_arena_create(0);
    if (d->o->json)
        hob_page_print_json(d->cli, page);
    else if (hob_json_parse(a, hob_page_row(page, 0), NULL, &row, NULL) >= 0) {
        hob_show_out(&d->cli->out, hob_json_get_str(row, "text"));
        hob_out_add(&d->cli->out, HOB_STR("\n"));
    }
    hob_arena_destroy(a);
    hob_page_destroy(page);
    return HOB_OK;
}

static int add(void *job, hob_error *err) {
    doing *d = job;
    hob_memory_item item = HOB_MEMORY_ITEM_INIT;
    char id[HOB_MEMORY_ID_SIZE];
    hob_buf words;
    hob_buf_init(&words, 1u << 20);
    hob_words_join(&words, d->words, 0);
    item.text = hob_buf_str(&words);
    item.kind = d->o->kind;
    item.tags = d->o->tags.at;
    item.importance = d->o->importance;
    item.by = "user";
    int code = hob_memory_remember(d->m, &item, id, err);
    hob_buf_finish(&words);
    if (code < 0) return code;
    hob_out_addf(&d->cli->out, "%s\n", id);
    if (code == 0) hob_tell_note(d->cli, "it was known already, and is renewed");
    return HOB_OK;
}

static int forget_many(doing *d, hob_error *err) {
    hob_memory_query q = query_of(d->o);
    int code = d->o->all ? hob_memory_clear(d->m, err) : hob_memory_forget_where(d->m, &q, err);
    if (code >= 0 && d->o->all)
        hob_tell_note(d->cli, "everything is forgotten");
    else if (code >= 0)
        hob_tell_note(d->cli, "%d forgotten", code);
    return code;
}

static int forget(void *job, hob_error *err) {
    doing *d = job;
    int code = HOB_OK;
    if (!d->words->n) return forget_many(d, err);
    for (size_t i = 0; i < d->words->n && code >= 0; i++)
        code = hob_memory_forget(d->m, d->words->at[i], err);
    return code;
}

static int stats(void *job, hob_error *err) {
    doing *d = job;
    static const char *const keys[] = {"app_name", "user_id", "items", "max_items",
                                       "bytes",    "oldest",  "newest"};
    hob_page *page = NULL;
    char value[512];
    int code = hob_memory_stats(d->m, &page, err);
    if (code < 0) return code;
    if (d->o->json) hob_page_print_json(d->cli, page);
    for (size_t i = 0; !d->o->json && i < HOB_ARRAY_LEN(keys); i++) {
        if (hob_json_field(hob_page_row(page, 0), keys[i], value, sizeof value) < 0) continue;
        hob_out_addf(&d->cli->out, "%-10s ", keys[i]);
        hob_show_out(&d->cli->out, hob_str_z(value));
        hob_out_add(&d->cli->out, HOB_STR("\n"));
    }
    hob_page_destroy(page);
    return HOB_OK;
}

/* ---- the command ----------------------------------------------------------------------------- */

static const hob_verb verbs[] = {
    {"list", 0, 0, list},      {"search", 1, SIZE_MAX, search}, {"show", 1, 1, show},
    {"add", 1, SIZE_MAX, add}, {"stats", 0, 0, stats},          {"forget", 0, SIZE_MAX, forget},
};

static bool says_what(const memory_opts *o, const hob_words *words) {
    return words->n > 1 || o->all || o->tags.n || o->kind || o->session;
}

static int dispatch(hob_cli *cli, const memory_opts *o, const hob_words *w, hob_error *err) {
    hob_words rest;
    const hob_verb *v = hob_verb_find(verbs, HOB_ARRAY_LEN(verbs), w, &rest);
    doing d = {.cli = cli, .o = o, .words = &rest};
    if (!v) return hob_command_misused(&hob_command_memory, w, err);
    if (v->run == forget && !says_what(o, w))
        return hob_fail(err, HOB_EINVAL, 0,
                        "what is to be forgotten? give an id, --tag, --kind, --session, or --all");
    int code = hob_cli_start(cli, false, err);
    if (code >= 0) code = hob_memory_open(cli->rt, o->app, o->user, &d.m, err);
    if (code < 0) return code;
    code = v->run(&d, err);
    hob_memory_close(d.m);
    return code;
}

static int run(hob_cli *cli, char *const *argv) {
    memory_opts o = {.limit = 0};
    hob_rest rest;
    hob_error err = {.code = HOB_OK};
    int code = hob_cli_parse(cli, &hob_command_memory, argv, &o, &rest);
    if (code < 0) {
        code = dispatch(cli, &o, &rest.words, &err);
        if (code < 0) hob_tell_error(cli, &err);
        code = hob_exit_of(code);
    }
    hob_words_finish(&rest.words);
    hob_words_finish(&o.tags);
    return code;
}

const hob_command hob_command_memory = {
    .name = "memory",
    .usage = "memory list | search WORDS | show ID | add TEXT | forget ID... | stats",
    .summary = "what is remembered from one session to the next",
    .opts = &opts,
    .run = run,
};
