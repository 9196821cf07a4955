/*
 * cli.h - what the commands of `hob` share.
 *
 * main.c finds the command; each command is one file and one row of its table. start.c opens what a
 * command needs (configuration, runtime), session.c the session, pump.c is the only place that
 * waits. What is printed goes through out.c (standard output, never blocking the run) and tell.c
 * (remarks on standard error).
 */
#ifndef HOB_SRC_CLI_H
#define HOB_SRC_CLI_H

#include <hob/session.h>

#include "base/json.h"
#include "cli/args.h"

/* ---- exit codes (docs/cli.md) ---------------------------------------------------------------- */
enum {
    HOB_EXIT_OK = 0,
    HOB_EXIT_FAILED = 1,
    HOB_EXIT_USAGE = 2,
    HOB_EXIT_AUTH = 3,
    HOB_EXIT_LIMIT = 4,
    HOB_EXIT_REFUSED = 5, /* a call was refused because nobody could be asked */
    HOB_EXIT_BUSY = 6,
    HOB_EXIT_ABSENT = 7,
    HOB_EXIT_SIGNAL = 128 /* + its number */
};
/* exit.c: what an error, and what the end of a run, means to the caller of the program. */
int hob_exit_of(int code);
int hob_exit_of_result(hob_str status, int code);

/* ---- out.c: standard output ------------------------------------------------------------------ */
/* Bytes wait here until the reader takes them: a reader that stands still never holds up the run,
 * since pump.c goes on driving the loop. Once writing failed, the rest is dropped and `err` says
 * why. */
typedef struct hob_out {
    int fd, err;
    bool tty;
    hob_buf pending;
    size_t done; /* bytes of pending already written */
} hob_out;
enum { HOB_OUT_FULL = 256 * 1024 }; /* over it no more events are read */
void hob_out_init(hob_out *o, int fd);
void hob_out_finish(hob_out *o);
void hob_out_add(hob_out *o, hob_str s);
void hob_out_addf(hob_out *o, const char *fmt, ...) HOB_PRINTF(2, 3);
size_t hob_out_waiting(const hob_out *o);
void hob_out_write(hob_out *o); /* as much as goes without waiting */
void hob_out_flush(hob_out *o); /* all of it; a signal ends the waiting */

/* ---- options that every command has ---------------------------------------------------------- */
typedef struct hob_common {
    const char *cd, *color, *debug_file;
    bool quiet, verbose, help;
} hob_common;
#define HOB_COMMON_OPTS(type)                                                                      \
    {'C', "cd", HOB_OPT_TEXT, offsetof(type, common.cd), "DIR", "work as if started in DIR"},      \
        {0,                                                                                        \
         "color",                                                                                  \
         HOB_OPT_WORD,                                                                             \
         offsetof(type, common.color),                                                             \
         "auto|always|never",                                                                      \
         "colours on standard error and in tables"},                                               \
        {'q', "quiet", HOB_OPT_FLAG, offsetof(type, common.quiet), NULL, "errors only"},           \
        {'v', "verbose", HOB_OPT_FLAG, offsetof(type, common.verbose), NULL, "say more"},          \
        {0,                                                                                        \
         "debug-file",                                                                             \
         HOB_OPT_TEXT,                                                                             \
         offsetof(type, common.debug_file),                                                        \
         "FILE",                                                                                   \
         "append the library's log to FILE"},                                                      \
    {                                                                                              \
        'h', "help", HOB_OPT_FLAG, offsetof(type, common.help), NULL, "this help"                  \
    }

/* ---- the program ----------------------------------------------------------------------------- */
typedef struct hob_cli {
    const char *const *envp;
    char cwd[4096];
    hob_config *config;
    hob_runtime *rt;
    hob_out out;
    const char *color_choice; /* as the command line says; NULL = not said */
    bool quiet, verbose;
    bool color, out_color; /* on standard error, on standard output */
} hob_cli;

/* ---- commands -------------------------------------------------------------------------------- */
typedef struct hob_command {
    const char *name, *usage, *summary;
    const hob_opts *opts;
    int (*run)(hob_cli *cli,
               char *const *argv); /* argv: what follows the name; returns the exit code */
} hob_command;
extern const hob_command hob_command_run; /* a prompt: has no name of its own */
extern const hob_command hob_command_sessions, hob_command_runs, hob_command_config,
    hob_command_models, hob_command_agents, hob_command_skills, hob_command_trust,
    hob_command_memory, hob_command_artifacts, hob_command_demo, hob_command_acp, hob_command_serve;
const hob_command *hob_command_find(hob_str name); /* main.c; NULL if there is none */
size_t hob_command_count(void);
const hob_command *hob_command_at(size_t i);
/* The verbs of a command: `hob sessions list`. */
typedef struct hob_verb {
    const char *name;
    size_t least, most; /* words behind it */
    int (*run)(void *job, hob_error *err);
} hob_verb;
/* The one that the first word names (the first of the table if there is none), with as many words behind it as it takes;
 * *rest: those. NULL: it is misused. */
const hob_verb *hob_verb_find(const hob_verb *table, size_t n, const hob_words *w, hob_words *rest);
/* help.c: made from the tables. */
void hob_help_print(hob_cli *cli, const hob_command *c);
/* HOB_EINVAL: these words are nothing that the command does. */
int hob_command_misused(const hob_command *c, const hob_words *words, hob_error *err);

/* ---- start.c --------------------------------------------------------------------------------- */
/* Folder, colours, log. HOB_EINVAL, HOB_ENOENT. */
int hob_cli_common(hob_cli *cli, const hob_common *c, hob_error *err);
/* Parses and does hob_cli_common(); prints the help or the error itself. Returns -1, or the exit
 * code. */
int hob_cli_parse(hob_cli *cli, const hob_command *c, char *const *argv, void *into,
                  hob_rest *rest);
int hob_cli_config(hob_cli *cli, bool trust, hob_error *err);
/* The runtime (and the configuration, if that was not loaded), signals watched. */
int hob_cli_start(hob_cli *cli, bool trust, hob_error *err);
/* The same with a loop of this kind; with its own thread signals are the command's business. */
int hob_cli_start_as(hob_cli *cli, hob_loop_mode loop, bool trust, hob_error *err);
/* Configuration and runtime, which reads it as long as it lives: both are made anew when they are needed again. */
void hob_cli_forget(hob_cli *cli);
void hob_cli_stop(hob_cli *cli);
int hob_cli_check_store(hob_cli *cli, hob_error *err); /* open.c: is there a place for sessions? */
/* A user without an application is one of hob's own. */
const char *hob_cli_app(const char *app, const char *user);

/* ---- tell.c: remarks on standard error ------------------------------------------------------- */
void hob_tell_error(hob_cli *cli, const hob_error *err); /* "hob: …" */
void hob_tell_errorf(hob_cli *cli, const char *fmt, ...) HOB_PRINTF(2, 3);
void hob_tell_note(hob_cli *cli, const char *fmt, ...) HOB_PRINTF(2, 3); /* not when quiet */
/* A line of activity, dimmed, after a mark in a colour; nothing when quiet. Text is made visible.
 * */
typedef enum hob_tint {
    HOB_TINT_NONE,
    HOB_TINT_DIM,
    HOB_TINT_RED,
    HOB_TINT_GREEN,
    HOB_TINT_YELLOW,
    HOB_TINT_BLUE,
    HOB_TINT_BOLD
} hob_tint;
void hob_tell_line(hob_cli *cli, hob_tint tint, const char *mark, hob_str text);
const char *hob_tint_on(bool color, hob_tint t);
const char *hob_tint_off(bool color);

/* ---- show.c: text of others on a terminal (SEC-80) ------------------------------------------- */
/* Appends s with every control character made visible: C0 and DEL as ^X, C1 and broken bytes as
 * U+FFFD, and so are the characters that turn text around or cannot be seen. Newline and tab stay. */
void hob_show_text(hob_buf *out, hob_str s);
/* The same on one line: newlines and tabs become blanks; cut at `columns` characters with … */
void hob_show_line(hob_buf *out, hob_str s, size_t columns);
/* What a call does, in a few words: its first argument, or all of them. */
void hob_show_call(hob_buf *out, hob_str tool, const hob_json *args, size_t columns);
/* Text as it should go to `o`: as it is into a pipe or file, made visible on a terminal. */
void hob_show_out(hob_out *o, hob_str s);

/* ---- table.c, story.c: what is stored, for people -------------------------------------------- */
typedef struct hob_table {
    size_t columns;
    hob_words cells; /* row by row; heap strings */
} hob_table;
void hob_table_init(hob_table *t, size_t columns);
void hob_table_finish(hob_table *t);
void hob_table_add(hob_table *t,
                   hob_str cell); /* made visible, on one line, cut at 80 characters */
void hob_table_print(const hob_table *t, hob_out *o);
/* The rows of a page; `add` puts one cell a head. */
typedef struct hob_columns {
    const char *const *heads;
    size_t n;
    void (*add)(hob_table *t, const hob_json *row);
} hob_columns;
void hob_page_print_table(hob_cli *cli, const hob_page *p, const hob_columns *c);
void hob_cli_print_field(hob_cli *cli, const char *key, hob_str value); /* "key   value" */
/* The state (or status) of a row, in words for people. */
hob_str hob_row_state(const hob_json *row, const char *key);
/* One stored or printed event, as a few lines; most kinds say nothing. */
void hob_story_event(hob_cli *cli, const hob_json *event);
/* Rows of a page, or {"type":"next","cursor":…} after them. */
void hob_page_print_json(hob_cli *cli, const hob_page *p);
void hob_page_print_next(hob_cli *cli, const hob_page *p, const char *command);

/* ---- agents.c: what `hob agents` and `hob skills` share --------------------------------------- */
typedef struct hob_listing_opts {
    hob_common common;
    bool json, trust;
} hob_listing_opts;
/* What is defined for this folder and this user. `trust`: as if the folder were trusted. */
int hob_cli_definitions_open(hob_cli *cli, bool trust, hob_definitions **out, hob_error *err);
void hob_cli_tell_definition(hob_cli *cli, const hob_definition *x); /* kind, name, file */
/* Lists the definitions of which `wanted` has the bit (1 << kind). Returns the exit code. */
int hob_cli_definitions(hob_cli *cli, const hob_command *c, unsigned wanted, char *const *argv);

/* ---- trust.c --------------------------------------------------------------------------------- */
/* Does the user trust this folder, by what is remembered? For lists and for conversations: a run on its own takes only
 * --trust. */
bool hob_cli_trusts(hob_cli *cli);
/* Asks the person at the terminal if something here waits for it; remembers a yes. */
bool hob_cli_ask_trust(hob_cli *cli);

/* ---- signals.c ------------------------------------------------------------------------------- */
void hob_signals_watch(void);              /* SIGINT, SIGTERM, SIGHUP; SIGPIPE is ignored */
void hob_signals_runtime(hob_runtime *rt); /* is woken by them from now on; NULL = nobody */
int hob_signals_take(void);                /* the signal since the last call, 0 = none */
bool hob_signals_waiting(void);

/* ---- lines.c: standard input, line by line, without waiting ---------------------------------- */
typedef struct hob_lines {
    int fd;
    hob_buf buf;
    size_t taken; /* bytes of buf given out */
    bool ended, skipping;
} hob_lines;
enum { HOB_LINE_MAX = 16 << 20 };
void hob_lines_init(hob_lines *l, int fd);
void hob_lines_finish(hob_lines *l);
void hob_lines_read(hob_lines *l);        /* once, when poll said so */
bool hob_lines_ready(const hob_lines *l); /* a whole line, or the end */
/* 1 and a line without its newline (valid until the next call), 0 = the end, HOB_ETOOBIG (line left
 * out), HOB_EAGAIN. */
int hob_lines_take(hob_lines *l, hob_str *out);

/* ---- pump.c: the only place that waits ------------------------------------------------------- */
typedef enum hob_pumped {
    HOB_PUMP_END = 0, /* the session is settled and everything was read */
    HOB_PUMP_EVENT,
    HOB_PUMP_INPUT,  /* hob_lines_ready() */
    HOB_PUMP_SIGNAL, /* hob_signals_take() */
    HOB_PUMP_TIME    /* the time is over */
} hob_pumped;
typedef struct hob_wait {
    hob_session *s;   /* NULL: no events are wanted */
    hob_lines *lines; /* NULL: no input is wanted */
    int64_t ms;       /* < 0 = for ever */
} hob_wait;
/* Returns a hob_pumped, or why the session ended (HOB_ESTORE…). The event is the caller's to unref.
 * */
int hob_pump(hob_cli *cli, const hob_wait *w, hob_event **out);

/* ---- file.c ---------------------------------------------------------------------------------- */
enum { HOB_INPUT_MAX = 10 << 20 }; /* bytes of a file or of standard input that go into a prompt */
int hob_cli_file_read(const char *path, size_t max, hob_buf *out, hob_error *err);
/* Whole or not at all: written beside it, then renamed. */
int hob_cli_file_write(const char *path, hob_str text, hob_error *err);
int hob_cli_file_writable(const char *path, hob_error *err); /* before work is spent on it */

#endif
