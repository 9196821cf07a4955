/*
 * config.c - `hob config show`: the settings in force and who said so.
 */
#include "cli/cli.h"

typedef struct config_opts {
    hob_common common;
    bool json, origin, trust;
} config_opts;

#define AT(member) offsetof(config_opts, member)
static const hob_opt table[] = {
    {0, "origin", HOB_OPT_FLAG, AT(origin), NULL, "say where each value comes from"},
    {0, "json", HOB_OPT_FLAG, AT(json), NULL, "one JSON object a line"},
    {0, "trust", HOB_OPT_FLAG, AT(trust), NULL, "as if this folder were trusted"},
    HOB_COMMON_OPTS(config_opts),
};
static const hob_opts opts = {table, HOB_ARRAY_LEN(table)};

typedef struct listing {
    hob_cli *cli;
    const config_opts *o;
    hob_table table;
} listing;

static const char *origin_name(hob_origin origin) {
    switch (origin) {
    case HOB_ORIGIN_BUILTIN: return "builtin";
    case HOB_ORIGIN_ADMIN: return "admin";
    case HOB_ORIGIN_USER: return "user";
    case HOB_ORIGIN_WORKSPACE: return "workspace";
    case HOB_ORIGIN_ENV: return "env";
    case HOB_ORIGIN_FLAG: return "flag";
    }
    return "unknown";
}

static void print_json(listing *l, const char *path, hob_str json, hob_origin origin,
                       hob_str source) {
    hob_buf b;
    hob_jsonw w;
    hob_buf_init(&b, 4u << 20);
    hob_jsonw_init(&w, &b);
    hob_jsonw_object(&w);
    hob_jsonw_kstr(&w, "path", hob_str_z(path));
    hob_jsonw_kraw(&w, "value", json);
    hob_jsonw_kstr(&w, "origin", hob_str_z(origin_name(origin)));
    hob_jsonw_kstr_opt(&w, "source", source);
    hob_jsonw_object_end(&w);
    hob_buf_addc(&b, '\n');
    hob_out_add(&l->cli->out, hob_buf_str(&b));
    hob_buf_finish(&b);
}

static void on_leaf(const char *path, hob_str json, hob_origin origin, hob_str source, void *user) {
    listing *l = user;
    if (l->o->json) {
        print_json(l, path, json, origin, source);
        return;
    }
    hob_table_add(&l->table, hob_str_z(path));
    hob_table_add(&l->table, json);
    if (!l->o->origin) return;
    hob_buf b;
    hob_buf_init(&b, 8192);
    if (origin == HOB_ORIGIN_BUILTIN)
        hob_buf_addz(&b, "built-in");
    else if (source.n && !hob_str_eqz(source, origin_name(origin)))
        hob_buf_addf(&b, "%s (%.*s)", origin_name(origin), HOB_FMT(source));
    else
        hob_buf_addz(&b, origin_name(origin));
    hob_table_add(&l->table, hob_buf_str(&b));
    hob_buf_finish(&b);
}

/* One row a file, after the settings: what is taken of it stands where the value does. */
static void on_file(hob_str path, hob_str what, hob_origin origin, void *user) {
    char *name = hob_dupz(path);
    hob_buf json;
    hob_buf_init(&json, 65536);
    hob_json_quote(&json, what);
    on_leaf(name, hob_buf_str(&json), origin, HOB_STR("instructions"), user);
    hob_buf_finish(&json);
    hob_free(name);
}

static int run(hob_cli *cli, char *const *argv) {
    config_opts o = {.json = false};
    hob_rest rest;
    hob_error err = {.code = HOB_OK};
    int code = hob_cli_parse(cli, &hob_command_config, argv, &o, &rest);
    if (code >= 0) goto out;
    if (rest.words.n != 1 || strcmp(rest.words.at[0], "show")) {
        hob_command_misused(&hob_command_config, &rest.words, &err);
        hob_tell_error(cli, &err);
        code = HOB_EXIT_USAGE;
        goto out;
    }
    code = hob_cli_config(cli, o.trust, &err);
    if (code < 0) {
        hob_tell_error(cli, &err);
        code = hob_exit_of(code);
        goto out;
    }
    listing l = {.cli = cli, .o = &o};
    hob_table_init(&l.table, o.origin ? 3 : 2);
    hob_config_each(cli->config, on_leaf, &l);
    code = hob_config_context(cli->config, cli->cwd, on_file, &l, &err);
    if (code < 0) hob_tell_error(cli, &err);
    hob_table_print(&l.table, &cli->out);
    hob_table_finish(&l.table);
    code = hob_exit_of(code);
out:
    hob_words_finish(&rest.words);
    return code;
}

const hob_command hob_command_config = {
    .name = "config",
    .usage = "config show [--origin]",
    .summary = "the settings in force, and where they come from",
    .opts = &opts,
    .run = run,
};
