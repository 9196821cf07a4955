/*
 * models.c - `hob models`: names that can be given with -m.
 */
#include "cli/cli.h"

#include <stdio.h>

typedef struct models_opts {
    hob_common common;
    bool json;
} models_opts;

static const hob_opt table[] = {
    {0, "json", HOB_OPT_FLAG, offsetof(models_opts, json), NULL, "one JSON object a line"},
    HOB_COMMON_OPTS(models_opts),
};
static const hob_opts opts = {table, HOB_ARRAY_LEN(table)};

static void add_number(hob_table *t, int64_t n) {
    char text[32] = "-";
    if (n > 0) snprintf(text, sizeof text, "%lld", (long long)n);
    hob_table_add(t, hob_str_z(text));
}

static void add_row(hob_table *t, const hob_json *r) {
    hob_table_add(t, hob_json_get_str(r, "name"));
    add_number(t, hob_json_get_int(r, "context", 0));
    add_number(t, hob_json_get_int(r, "output", 0));
    hob_table_add(t, hob_str_z(hob_json_get_bool(r, "priced", false) ? "known" : "unknown"));
    hob_table_add(t, hob_str_z(hob_json_get_bool(r, "key", false) ? "yes" : "no"));
}

static const char *const heads[] = {"MODEL", "CONTEXT", "OUTPUT", "PRICE", "KEY"};
static const hob_columns columns = {heads, HOB_ARRAY_LEN(heads), add_row};

static int print(hob_cli *cli, bool json, hob_error *err) {
    hob_page *page = NULL;
    int code = hob_cli_start(cli, false, err);
    if (code >= 0) code = hob_runtime_models(cli->rt, &page, err);
    if (code < 0) return code;
    if (json)
        hob_page_print_json(cli, page);
    else
        hob_page_print_table(cli, page, &columns);
    hob_page_destroy(page);
    return HOB_OK;
}

static int run(hob_cli *cli, char *const *argv) {
    models_opts o = {.json = false};
    hob_rest rest;
    hob_error err = {.code = HOB_OK};
    int code = hob_cli_parse(cli, &hob_command_models, argv, &o, &rest);
    if (code < 0) {
        code = rest.words.n
                   ? hob_fail(&err, HOB_EINVAL, 0,
                              "hob models takes no words; a prompt that begins so: hob -- models …")
                   : print(cli, o.json, &err);
        if (code < 0) hob_tell_error(cli, &err);
        code = hob_exit_of(code);
    }
    hob_words_finish(&rest.words);
    return code;
}

const hob_command hob_command_models = {
    .name = "models",
    .usage = "models",
    .summary = "models that can be named with -m",
    .opts = &opts,
    .run = run,
};
