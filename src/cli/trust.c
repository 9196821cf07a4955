/*
 * trust.c - `hob trust`, and the question at the beginning of a conversation: may what this folder defines act?
 *
 * Trust is given by a person at a terminal, for one folder, and remembered in the user's state folder. A run on its own
 * neither gives nor uses it: there --trust says it for that run.
 */
#include "cli/cli.h"

#include <stdio.h>
#include <unistd.h>

typedef struct trust_opts {
    hob_common common;
    bool list, remove;
} trust_opts;
#define AT(member) offsetof(trust_opts, member)
static const hob_opt table[] = {
    {0, "list", HOB_OPT_FLAG, AT(list), NULL, "the folders that you trust"},
    {0, "remove", HOB_OPT_FLAG, AT(remove), NULL, "trust it no longer"},
    HOB_COMMON_OPTS(trust_opts),
};
static const hob_opts opts = {table, HOB_ARRAY_LEN(table)};

/* The user's state folder, whatever the workspace's file says. */
static int state_dir(hob_cli *cli, char *out, size_t cap, hob_error *err) {
    hob_config_load_opts o = HOB_CONFIG_LOAD_OPTS_INIT;
    hob_config *c = hob_config_create();
    o.envp = cli->envp;
    int code = hob_config_load(c, &o, err);
    if (code >= 0) snprintf(out, cap, "%.*s", HOB_FMT(hob_config_state_dir(c)));
    hob_config_destroy(c);
    return code;
}

bool hob_cli_trusts(hob_cli *cli) {
    hob_error err = {.code = HOB_OK};
    char state[4096];
    if (state_dir(cli, state, sizeof state, &err) < 0 || !*state) return false;
    int code = hob_trust_check(state, cli->cwd, &err);
    if (code < 0) hob_tell_error(cli, &err);
    return code > 0;
}

/* ---- what waits for it ----------------------------------------------------------------------- */

/* What it would change: definitions that are not live for want of trust, and settings. */
static size_t tell_waiting(hob_cli *cli) {
    hob_definitions *d = NULL;
    size_t n = 0, shown = 0;
    if (hob_cli_definitions_open(cli, false, &d, NULL) < 0) return 0;
    for (size_t i = 0; i < hob_definitions_count(d); i++) {
        const hob_definition *x = hob_definitions_at(d, i);
        if (x->state != HOB_DEFINITION_UNTRUSTED) continue;
        if (shown++ < 10) hob_cli_tell_definition(cli, x);
        n++;
    }
    if (n > 10) hob_tell_errorf(cli, "  and %zu more: hob agents, hob skills", n - 10);
    hob_definitions_destroy(d);
    for (size_t i = 0; i < hob_config_warnings(cli->config); i++)
        n += hob_str_find(hob_config_warning(cli->config, i), HOB_STR("once you trust")) >= 0;
    return n;
}

static bool answered_yes(void) {
    char line[64];
    size_t n = 0;
    for (char c = 0; c != '\n' && read(STDIN_FILENO, &c, 1) == 1;)
        if (n < sizeof line) line[n++] = c;
    hob_str said = hob_str_trim(hob_str_n(line, n));
    return hob_str_ieq(said, HOB_STR("y")) || hob_str_ieq(said, HOB_STR("yes"));
}

static int remember(hob_cli *cli, const char *folder) {
    hob_error err = {.code = HOB_OK};
    char state[4096];
    int code = state_dir(cli, state, sizeof state, &err);
    if (code >= 0) code = hob_trust_add(state, folder, &err);
    if (code < 0) hob_tell_error(cli, &err);
    return code;
}

bool hob_cli_ask_trust(hob_cli *cli) {
    hob_error err = {.code = HOB_OK};
    if (hob_cli_config(cli, false, &err) < 0 || !tell_waiting(cli)) return false;
    hob_tell_errorf(cli, "it counts only if you trust this folder: %s", cli->cwd);
    hob_out_add(&cli->out, HOB_STR("trust it? [y/N] "));
    hob_out_flush(&cli->out);
    bool yes = answered_yes();
    if (yes && remember(cli, cli->cwd) >= 0) {
        hob_tell_note(cli, "remembered; hob trust --remove takes it back");
        return true;
    }
    return yes;
}

/* ---- the command ----------------------------------------------------------------------------- */

static void print_folder(hob_str folder, void *user) {
    hob_cli *cli = user;
    hob_show_out(&cli->out, folder);
    hob_out_add(&cli->out, HOB_STR("\n"));
}

static int add(hob_cli *cli, const char *folder, hob_error *err) {
    if (isatty(STDIN_FILENO) != 1 || isatty(STDOUT_FILENO) != 1)
        return hob_fail(err, HOB_EINVAL, 0,
                        "trust is given by a person at a terminal; for one run there is --trust");
    int code = remember(cli, folder);
    if (code >= 0) hob_tell_errorf(cli, "trusted: %s", folder);
    return code;
}

static int drop(hob_cli *cli, const char *state, const char *folder, hob_error *err) {
    int code = hob_trust_remove(state, folder, err);
    if (code == 0) hob_fail(err, HOB_ENOENT, 0, "%s was not trusted", folder);
    if (code > 0) hob_tell_note(cli, "not trusted any more: %s", folder);
    return code == 0 ? HOB_ENOENT : code;
}

static int work(hob_cli *cli, const trust_opts *o, const hob_words *words, hob_error *err) {
    char state[4096];
    const char *folder = words->n ? words->at[0] : cli->cwd;
    if (words->n > 1 || (o->list && (o->remove || words->n)))
        return hob_fail(err, HOB_EINVAL, 0, "hob trust [--list | [--remove] [DIR]]");
    int code = state_dir(cli, state, sizeof state, err);
    if (code < 0) return code;
    if (o->list) return hob_trust_list(state, print_folder, cli, err);
    return o->remove ? drop(cli, state, folder, err) : add(cli, folder, err);
}

static int run(hob_cli *cli, char *const *argv) {
    trust_opts o = {.list = false};
    hob_rest rest;
    hob_error err = {.code = HOB_OK};
    int code = hob_cli_parse(cli, &hob_command_trust, argv, &o, &rest);
    if (code < 0) {
        code = work(cli, &o, &rest.words, &err);
        if (err.code) hob_tell_error(cli, &err);
        code = hob_exit_of(code);
    }
    hob_words_finish(&rest.words);
    return code;
}

const hob_command hob_command_trust = {
    .name = "trust",
    .usage = "trust [--list | [--remove] [DIR]]",
    .summary = "the folders whose agents, skills and settings may act",
    .opts = &opts,
    .run = run,
};
