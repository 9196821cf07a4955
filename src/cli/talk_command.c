/*
 * talk_command.c - lines that begin with a slash and name a known command. Any other line is a
 * prompt, also one that begins with a path.
 */
#include "cli/talk.h"

static void do_help(hob_talk *t, hob_str rest);

static void do_model(hob_talk *t, hob_str rest) {
    char model[512];
    hob_error err = {.code = HOB_OK};
    char *hint = hob_dupz(rest);
    if (rest.n && hob_session_set_model(t->s, hint, &err) < 0) hob_tell_error(t->cli, &err);
    hob_free(hint);
    hob_session_model(t->s, model, sizeof model);
    hob_tell_errorf(t->cli, "model %s", model);
}

static void show_session(hob_talk *t, hob_str row) {
    const hob_json *r = NULL;
    hob_buf title;
    hob_arena *a = hob_arena_create(0);
    hob_buf_init(&title, 4096);
    if (hob_json_parse(a, row, NULL, &r, NULL) >= 0) {
        hob_show_line(&title, hob_json_get_str(r, "title"), 60);
        hob_str updated = hob_str_first(hob_json_get_str(r, "updated"), 16);
        hob_out_addf(&t->cli->out, "%.*s  %.*s  %s\n", HOB_FMT(hob_json_get_str(r, "id")),
                     HOB_FMT(updated), hob_buf_z(&title));
    }
    hob_buf_finish(&title);
    hob_arena_destroy(a);
}

static void do_sessions(hob_talk *t, hob_str rest) {
    hob_error err = {.code = HOB_OK};
    hob_page *page = NULL;
    hob_page_opts o = HOB_PAGE_OPTS_INIT;
    (void)rest;
    o.cwd = t->cli->cwd;
    o.limit = 10;
    if (hob_runtime_sessions(t->cli->rt, &o, &page, &err) < 0) {
        hob_tell_error(t->cli, &err);
        return;
    }
    for (size_t i = 0; i < hob_page_count(page); i++) show_session(t, hob_page_row(page, i));
    hob_page_destroy(page);
}

static void do_steer(hob_talk *t, hob_str rest) {
    if (t->state != HOB_TALK_RUNNING)
        hob_tell_errorf(t->cli, "nothing is running; type the prompt itself");
    else if (!rest.n)
        hob_tell_errorf(t->cli, "steer where? /steer TEXT");
    else
        hob_talk_steer(t, rest);
}

static void do_follow(hob_talk *t, hob_str rest) {
    hob_error err = {.code = HOB_OK};
    if (!rest.n)
        hob_tell_errorf(t->cli, "with what? /follow TEXT");
    else if (hob_session_follow_up(t->s, rest, &err) < 0)
        hob_tell_error(t->cli, &err);
    else
        hob_tell_note(t->cli, "queued: delivered when all current work is done");
}

static void do_quit(hob_talk *t, hob_str rest) {
    (void)rest;
    t->no_input = true; /* a run under way is finished first */
    if (t->state == HOB_TALK_RUNNING)
        hob_tell_note(t->cli, "leaving when the run has ended; Ctrl-C cancels it");
    else
        t->state = HOB_TALK_LEAVING;
}

static const struct {
    const char *name, *arg, *help;
    void (*run)(hob_talk *t, hob_str rest);
} commands[] = {
    {"/help", "", "these commands", do_help},
    {"/model", " [MODEL]", "show the model, or change it from the next step on", do_model},
    {"/sessions", "", "the newest sessions of this folder", do_sessions},
    {"/steer", " TEXT", "change the direction of the run under way; so does any line typed then",
     do_steer},
    {"/follow", " TEXT", "a prompt for when the run under way is done", do_follow},
    {"/quit", "", "leave; so does Ctrl-D", do_quit},
};

static void help_defined(hob_talk *t, hob_str row) {
    const hob_json *r = NULL;
    hob_buf line;
    hob_arena *a = hob_arena_create(0);
    hob_buf_init(&line, 8192);
    if (hob_json_parse(a, row, NULL, &r, NULL) >= 0) {
        hob_show_line(&line, hob_json_get_str(r, "usage"), 40);
        while (line.n < 15) hob_buf_addc(&line, ' ');
        hob_buf_addc(&line, ' ');
        hob_show_line(&line, hob_json_get_str(r, "description"), 80);
        hob_out_addf(&t->cli->out, "%s\n", hob_buf_z(&line));
    }
    hob_buf_finish(&line);
    hob_arena_destroy(a);
}

static void do_help(hob_talk *t, hob_str rest) {
    hob_page *page = NULL;
    (void)rest;
    for (size_t i = 0; i < HOB_ARRAY_LEN(commands); i++)
        hob_out_addf(&t->cli->out, "%s%-*s %s\n", commands[i].name,
                     15 - (int)strlen(commands[i].name), commands[i].arg, commands[i].help);
    hob_out_addf(&t->cli->out, "%-15s %s\n", "Ctrl-C",
                 "cancels the run under way, twice aborts it");
    if (hob_session_commands(t->s, &page, NULL) < 0) return;
    for (size_t i = 0; i < hob_page_count(page); i++) help_defined(t, hob_page_row(page, i));
    hob_page_destroy(page);
}

bool hob_talk_command(hob_talk *t, hob_str line) {
    ptrdiff_t space = hob_str_chr(line, ' ');
    hob_str name = space < 0 ? line : hob_str_first(line, (size_t)space);
    for (size_t i = 0; i < HOB_ARRAY_LEN(commands); i++) {
        if (!hob_str_eqz(name, commands[i].name)) continue;
        commands[i].run(t, hob_str_trim(hob_str_skip(line, name.n)));
        return true;
    }
    return false;
}
