/*
 * run.c - a prompt: chooses between one run (print_run.c) and a conversation (talk.c).
 */
#include "cli/ask.h"

#include <unistd.h>

/* A conversation needs a person at both ends. */
static bool can_talk(const hob_ask *a) {
    return !a->print && !a->output_format && !a->input_format && isatty(STDIN_FILENO) == 1 &&
           isatty(STDOUT_FILENO) == 1;
}

int hob_ask_run(hob_cli *cli, hob_ask *a, const hob_rest *rest) {
    return can_talk(a) ? hob_ask_talk(cli, a, rest) : hob_ask_print(cli, a, rest);
}

static int wrong_usage(hob_cli *cli, const hob_ask *a, const hob_error *err) {
    hob_printer p;
    hob_printer_init(&p, cli, a);
    int code = hob_printer_failed(&p, "failed", err, NULL);
    hob_printer_finish(&p);
    return code;
}

static int run(hob_cli *cli, char *const *argv) {
    hob_ask a = {.print = false};
    hob_rest rest;
    hob_error err = {.code = HOB_OK};
    int result, code = hob_args_parse(hob_ask_opts, argv, &a, &rest, &err);
    if (a.common.help || a.version) {
        if (a.common.help)
            hob_help_print(cli, &hob_command_run);
        else
            hob_out_addf(&cli->out, "hob %s\n", hob_version());
        result = HOB_EXIT_OK;
        goto out;
    }
    if (code >= 0) code = hob_cli_common(cli, &a.common, &err);
    if (code >= 0) code = hob_ask_check(&a, &rest, &err);
    result = code < 0 ? wrong_usage(cli, &a, &err) : hob_ask_run(cli, &a, &rest);
out:
    hob_words_finish(&rest.words);
    hob_ask_finish(&a);
    return result;
}

const hob_command hob_command_run = {
    .name = "",
    .usage = "[options] [PROMPT | @FILE ...]",
    .summary = "a prompt",
    .opts = &hob_ask_opts,
    .run = run,
};
