/*
 * help.c - help made from the option tables, so that it says what exists and nothing else.
 */
#include "cli/cli.h"

#include <stdio.h>

#define HELP_COLUMN 34

/* A left side that reaches into the right column gets a line of its own. */
static void add_row(hob_out *o, const char *left, const char *right) {
    if (strlen(left) >= HELP_COLUMN)
        hob_out_addf(o, "%s\n%*s%s\n", left, HELP_COLUMN, "", right);
    else
        hob_out_addf(o, "%-*s%s\n", HELP_COLUMN, left, right);
}

static void add_option(hob_out *o, const hob_opt *p) {
    char left[128];
    bool value = p->kind != HOB_OPT_FLAG && p->kind != HOB_OPT_SAME;
    const char *arg = value ? p->arg : "";
    const char *open = p->kind == HOB_OPT_MAYBE ? " [" : value ? " " : "";
    const char *shut = p->kind == HOB_OPT_MAYBE ? "]" : "";
    char letter[5] = "    ";
    if (p->letter) snprintf(letter, sizeof letter, "-%c, ", p->letter);
    snprintf(left, sizeof left, "  %s--%s%s%s%s", letter, p->name, open, arg, shut);
    add_row(o, left, p->help);
}

static void add_commands(hob_out *o) {
    hob_out_addf(o, "\ncommands (hob COMMAND --help says more)\n");
    for (size_t i = 0; i < hob_command_count(); i++) {
        const hob_command *c = hob_command_at(i);
        char left[256];
        snprintf(left, sizeof left, "  %s", c->usage);
        add_row(o, left, c->summary);
    }
}

static void add_front(hob_out *o) {
    hob_out_addf(
        o,
        "usage: hob [options] [PROMPT | @FILE ...]      a conversation in the terminal\n"
        "       hob -p [options] [PROMPT | @FILE ...]   one run, the answer on stdout\n"
        "       hob COMMAND ...\n\n"
        "An argument that starts with @ names a file to put into the prompt (@@ for a plain @).\n"
        "Standard input that is not a terminal is put into the prompt as well.\n"
        "-- ends the options: what follows is the prompt, as it stands.\n");
}

void hob_help_print(hob_cli *cli, const hob_command *c) {
    hob_out *o = &cli->out;
    if (c == &hob_command_run) {
        add_front(o);
        add_commands(o);
    } else {
        hob_out_addf(o, "usage: hob %s\n%s\n", c->usage, c->summary);
    }
    hob_out_addf(o, "\noptions\n");
    for (size_t i = 0; i < c->opts->n; i++) add_option(o, &c->opts->at[i]);
    if (c == &hob_command_run)
        hob_out_addf(
            o, "\nexit codes: 0 completed, 1 failed, 2 usage or configuration, 3 credentials,\n"
               "4 limit, 5 refused because nobody could be asked, 6 session busy,\n"
               "7 no such session or model, 130 and 143 stopped by a signal\n");
    hob_out_flush(o);
}

const hob_verb *hob_verb_find(const hob_verb *table, size_t n, const hob_words *w,
                              hob_words *rest) {
    const char *name = w->n ? w->at[0] : table[0].name;
    *rest = (hob_words){.at = w->n ? w->at + 1 : NULL, .n = w->n ? w->n - 1 : 0};
    for (size_t i = 0; i < n; i++) {
        const hob_verb *v = &table[i];
        if (!strcmp(v->name, name) && rest->n >= v->least && rest->n <= v->most) return v;
    }
    return NULL;
}

int hob_command_misused(const hob_command *c, const hob_words *words, hob_error *err) {
    hob_buf said;
    hob_buf_init(&said, 200);
    for (size_t i = 0; i < words->n; i++) hob_buf_addf(&said, " %.60s", words->at[i]);
    int code = hob_fail(err, HOB_EINVAL, 0,
                        "'hob %s%.*s' is nothing hob can do; use hob %s (a prompt: hob -- %s …)",
                        c->name, HOB_FMT(hob_buf_str(&said)), c->usage, c->name);
    hob_buf_finish(&said);
    return code;
}
