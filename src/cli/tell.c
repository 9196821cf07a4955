/*
 * tell.c - remarks on standard error: errors, notes, one line for each thing that happens.
 */
#include "cli/cli.h"

#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

#define LINE_MAX_BYTES 8192

const char *hob_tint_on(bool color, hob_tint t) {
    static const char *const codes[] = {
        [HOB_TINT_NONE] = "",          [HOB_TINT_DIM] = "\033[2m",     [HOB_TINT_RED] = "\033[31m",
        [HOB_TINT_GREEN] = "\033[32m", [HOB_TINT_YELLOW] = "\033[33m", [HOB_TINT_BLUE] = "\033[34m",
        [HOB_TINT_BOLD] = "\033[1m",
    };
    return color ? codes[t] : "";
}

const char *hob_tint_off(bool color) {
    return color ? "\033[0m" : "";
}

/* One write, so that lines of several processes do not mix. Nobody is left to be told when it
 * fails. */
static void write_all(hob_str s) {
    while (s.n) {
        ssize_t n = write(STDERR_FILENO, s.p, s.n);
        if (n <= 0) return;
        s = hob_str_skip(s, (size_t)n);
    }
}

/* The library speaks of what it is and of its settings; here is what that is on the command line. */
static void add_hint(hob_buf *b, const char *text) {
    static const struct {
        const char *words, *hint;
    } hints[] = {
        {"it counts once you trust this folder", "--trust, for one run"},
        {"is of a folder that is not trusted", "look at it, then give --trust"},
        {"is in use, perhaps by another server", "--listen 127.0.0.1:0: any free port"},
        {"and there is no TLS here", "--insecure, if it is meant"},
        {"max_mode is stronger than the server's",
         "--max-permission-mode MODE gives the server more"},
        {"one that is not in the list of models", "hob models"},
        {"no model is chosen, and no provider has a key",
         "or name a model with -m; \"hob demo\" needs none"},
        {"there is no session of ", NULL},
        {"there is no session ", "`hob sessions list` shows them"},
        {"there is no run ", "`hob runs list` shows them"},
    };
    for (size_t i = 0; i < HOB_ARRAY_LEN(hints); i++) {
        if (!strstr(text, hints[i].words)) continue;
        if (hints[i].hint && !strchr(text, '`')) hob_buf_addf(b, " (%s)", hints[i].hint);
        return;
    }
}

static void say(hob_cli *cli, const char *before, const char *fmt, va_list ap) {
    char text[4096];
    hob_buf b;
    hob_out_write(&cli->out); /* what was said before comes before */
    vsnprintf(text, sizeof text, fmt, ap);
    hob_buf_init(&b, LINE_MAX_BYTES * 2);
    hob_buf_addz(&b, before);
    hob_show_text(&b, hob_str_z(text));
    add_hint(&b, text);
    hob_buf_addc(&b, '\n');
    write_all(hob_buf_str(&b));
    hob_buf_finish(&b);
}

void hob_tell_errorf(hob_cli *cli, const char *fmt, ...) {
    va_list ap;
    va_start(ap, fmt);
    say(cli, "hob: ", fmt, ap);
    va_end(ap);
}

void hob_tell_error(hob_cli *cli, const hob_error *err) {
    const char *text = err->message[0] ? err->message : hob_error_text(err->code);
    hob_tell_errorf(cli, "%s", text);
}

void hob_tell_note(hob_cli *cli, const char *fmt, ...) {
    va_list ap;
    if (cli->quiet) return;
    va_start(ap, fmt);
    say(cli, "hob: ", fmt, ap);
    va_end(ap);
}

void hob_tell_line(hob_cli *cli, hob_tint tint, const char *mark, hob_str text) {
    hob_buf b;
    if (cli->quiet) return;
    hob_out_write(&cli->out);
    hob_buf_init(&b, LINE_MAX_BYTES);
    hob_buf_addf(&b, "%s%s%s ", hob_tint_on(cli->color, tint), mark, hob_tint_off(cli->color));
    hob_buf_addz(&b, hob_tint_on(cli->color, HOB_TINT_DIM));
    hob_show_line(&b, text, LINE_MAX_BYTES / 8);
    hob_buf_addf(&b, "%s\n", hob_tint_off(cli->color));
    write_all(hob_buf_str(&b));
    hob_buf_finish(&b);
}
