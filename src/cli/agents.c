/*
 * agents.c - `hob agents`: which definitions there are, where they come from, and why one does not
 * count. Nothing is run, whatever the files say.
 */
#include <hob/definitions.h>

#include "cli/cli.h"

#define AT(member) offsetof(hob_listing_opts, member)
static const hob_opt table[] = {
    {0, "json", HOB_OPT_FLAG, AT(json), NULL, "one JSON object a line"},
    {0, "trust", HOB_OPT_FLAG, AT(trust), NULL, "as if this folder were trusted"},
    HOB_COMMON_OPTS(hob_listing_opts),
};
static const hob_opts opts = {table, HOB_ARRAY_LEN(table)};

static const char *kind_name(hob_definition_kind k) {
    switch (k) {
    case HOB_DEFINITION_AGENT: return "agent";
    case HOB_DEFINITION_SKILL: return "skill";
    case HOB_DEFINITION_COMMAND: return "command";
    }
    return "?";
}

static void write_list(hob_jsonw *w, const char *key, hob_strs list) {
    if (!list.n) return;
    hob_jsonw_key(w, key);
    hob_jsonw_array(w);
    for (size_t i = 0; i < list.n; i++) hob_jsonw_str(w, list.at[i]);
    hob_jsonw_array_end(w);
}

static void write_limits(hob_jsonw *w, const hob_definition *x) {
    hob_jsonw_kstr_opt(w, "workflow", x->workflow);
    write_list(w, "agents", x->agents);
    hob_jsonw_kstr_opt(w, "model", x->model);
    hob_jsonw_kstr_opt(w, "permission_mode", x->permission_mode);
    if (x->flags & HOB_DEFINITION_TOOLS && !x->tools.n) hob_jsonw_kraw(w, "tools", HOB_STR("[]"));
    write_list(w, "tools", x->tools);
    write_list(w, "disallowed_tools", x->disallowed_tools);
    write_list(w, "skills", x->skills);
    if (x->max_turns) hob_jsonw_kint(w, "max_turns", x->max_turns);
    if (x->flags & HOB_DEFINITION_BACKGROUND) hob_jsonw_kbool(w, "background", true);
    if (x->flags & HOB_DEFINITION_WORKTREE) hob_jsonw_kstr(w, "isolation", HOB_STR("worktree"));
    if (x->flags & HOB_DEFINITION_USER_ONLY) hob_jsonw_kbool(w, "user_only", true);
    hob_jsonw_kstr_opt(w, "argument_hint", x->argument_hint);
}

static void print_json(hob_cli *cli, const hob_definition *x) {
    hob_buf b;
    hob_jsonw w;
    hob_buf_init(&b, 4u << 20);
    hob_jsonw_init(&w, &b);
    hob_jsonw_object(&w);
    hob_jsonw_kstr(&w, "kind", hob_str_z(kind_name(x->kind)));
    hob_jsonw_kstr(&w, "name", x->name);
    hob_jsonw_kstr_opt(&w, "description", x->description);
    hob_jsonw_kstr(&w, "state", hob_str_z(hob_definition_state_name(x->state)));
    hob_jsonw_kstr_opt(&w, "why", x->why);
    hob_jsonw_kstr(&w, "origin",
                   x->origin == HOB_ORIGIN_USER ? HOB_STR("user") : HOB_STR("workspace"));
    hob_jsonw_kstr(&w, "path", x->path);
    if (x->line) hob_jsonw_kint(&w, "line", (int64_t)x->line);
    write_limits(&w, x);
    write_list(&w, "remarks", x->remarks);
    hob_jsonw_object_end(&w);
    hob_buf_addc(&b, '\n');
    hob_out_add(&cli->out, hob_buf_str(&b));
    hob_buf_finish(&b);
}

/* As a person would write it: below the current folder without it. */
static hob_str shown_path(const hob_cli *cli, hob_str path) {
    hob_str cwd = hob_str_z(cli->cwd);
    bool inside = hob_str_starts(path, cwd) && path.n > cwd.n && path.p[cwd.n] == '/';
    return inside ? hob_str_skip(path, cwd.n + 1) : path;
}

static void add_row(hob_cli *cli, hob_table *t, const hob_definition *x) {
    hob_table_add(t, x->name);
    hob_table_add(t, hob_str_z(kind_name(x->kind)));
    hob_table_add(t, hob_str_z(hob_definition_state_name(x->state)));
    hob_table_add(t, shown_path(cli, x->path));
    hob_table_add(t, x->description);
}

/* On standard error: the table stays a table. */
static void tell_why(hob_cli *cli, const hob_definition *x) {
    hob_buf b;
    hob_str path = shown_path(cli, x->path);
    hob_buf_init(&b, 16384);
    hob_show_line(&b, path, 1024);
    if (x->line) hob_buf_addf(&b, ":%zu", x->line);
    size_t place = b.n;
    if (x->why.n) {
        hob_buf_addz(&b, ": ");
        hob_show_line(&b, x->why, 1024);
        hob_tell_note(cli, "%s", hob_buf_z(&b));
    }
    for (size_t i = 0; i < x->remarks.n; i++) {
        b.n = place;
        hob_buf_addz(&b, ": ");
        hob_show_line(&b, x->remarks.at[i], 1024);
        hob_tell_note(cli, "%s", hob_buf_z(&b));
    }
    hob_buf_finish(&b);
}

void hob_cli_tell_definition(hob_cli *cli, const hob_definition *x) {
    hob_buf b;
    hob_buf_init(&b, 8192);
    hob_show_line(&b, x->name, 64);
    hob_buf_addz(&b, " (");
    hob_show_line(&b, shown_path(cli, x->path), 200);
    hob_buf_addc(&b, ')');
    hob_tell_errorf(cli, "%s %s", kind_name(x->kind), hob_buf_z(&b));
    hob_buf_finish(&b);
}

static bool is_wanted(const hob_definition *x, unsigned wanted) {
    return (wanted >> x->kind) & 1;
}

static void print_table(hob_cli *cli, const hob_definitions *d, unsigned wanted) {
    static const char *const heads[] = {"NAME", "KIND", "STATE", "FILE", "DESCRIPTION"};
    hob_table t;
    size_t rows = 0;
    hob_table_init(&t, HOB_ARRAY_LEN(heads));
    for (size_t i = 0; i < HOB_ARRAY_LEN(heads); i++) hob_table_add(&t, hob_str_z(heads[i]));
    for (size_t i = 0; i < hob_definitions_count(d); i++) {
        const hob_definition *x = hob_definitions_at(d, i);
        if (!is_wanted(x, wanted)) continue;
        add_row(cli, &t, x);
        rows++;
    }
    if (rows)
        hob_table_print(&t, &cli->out);
    else
        hob_tell_note(cli, "none are defined; docs/agents.md says where they are looked for");
    hob_table_finish(&t);
    for (size_t i = 0; i < hob_definitions_count(d); i++)
        if (is_wanted(hob_definitions_at(d, i), wanted)) tell_why(cli, hob_definitions_at(d, i));
}

/* The mode in force is the widest that a file may ask for. */
int hob_cli_definitions_open(hob_cli *cli, bool trust, hob_definitions **out, hob_error *err) {
    hob_definitions_opts how = HOB_DEFINITIONS_OPTS_INIT;
    hob_discover_opts where = HOB_DISCOVER_OPTS_INIT;
    int code = hob_cli_config(cli, trust, err);
    if (code < 0) return code;
    hob_str mode = hob_config_get(cli->config, "permissions.mode"); /* JSON: a quoted word */
    char *word = mode.n > 2 ? hob_dupz(hob_str_n(mode.p + 1, mode.n - 2)) : NULL;
    how.permission_mode = word;
    code = hob_definitions_create(&how, out, err);
    hob_free(word);
    if (code < 0) return code;
    where.config = cli->config;
    where.cwd = cli->cwd;
    where.trusted = trust;
    code = hob_definitions_discover(*out, &where, err);
    if (code < 0) hob_definitions_destroy(*out);
    return code;
}

static int list(hob_cli *cli, const hob_listing_opts *o, unsigned wanted, hob_error *err) {
    hob_definitions *d;
    int code = hob_cli_definitions_open(cli, o->trust || hob_cli_trusts(cli), &d, err);
    if (code < 0) return code;
    if (!o->json) print_table(cli, d, wanted);
    for (size_t i = 0; i < hob_definitions_count(d) && o->json; i++)
        if (is_wanted(hob_definitions_at(d, i), wanted)) print_json(cli, hob_definitions_at(d, i));
    hob_definitions_destroy(d);
    return HOB_OK;
}

int hob_cli_definitions(hob_cli *cli, const hob_command *c, unsigned wanted, char *const *argv) {
    hob_listing_opts o = {.json = false};
    hob_rest rest;
    hob_error err = {.code = HOB_OK};
    int code = hob_cli_parse(cli, c, argv, &o, &rest);
    if (code < 0) {
        code = rest.words.n
                   ? hob_fail(&err, HOB_EINVAL, 0,
                              "hob %s takes no words; a prompt that begins so: hob -- %s …",
                              c->name, c->name)
                   : list(cli, &o, wanted, &err);
        if (code < 0) hob_tell_error(cli, &err);
        code = hob_exit_of(code);
    }
    hob_words_finish(&rest.words);
    return code;
}

static int run(hob_cli *cli, char *const *argv) {
    return hob_cli_definitions(cli, &hob_command_agents, 1u << HOB_DEFINITION_AGENT, argv);
}

const hob_command hob_command_agents = {
    .name = "agents",
    .usage = "agents",
    .summary = "agents defined in files, and why one does not count",
    .opts = &opts,
    .run = run,
};
