/*
 * ask.h - everything between the command line and a session: options, prompt, opening, printing.
 */
#ifndef HOB_SRC_CLI_ASK_H
#define HOB_SRC_CLI_ASK_H

#include "cli/cli.h"

/* ---- options.c ------------------------------------------------------------------------------- */
typedef struct hob_ask {
    hob_common common; /* first: hob_cli_parse relies on it */
    bool print, cont, fork, no_session, trust, offline, version;
    hob_maybe resume;
    const char *output_format, *input_format, *session_id, *model, *thinking;
    const char *permission_mode, *sandbox, *system_prompt, *append_system_prompt, *out_file, *agent;
    hob_words add_dirs, images, allow, deny;
    int64_t max_turns, max_tokens, max_tool_calls;
    double max_cost, timeout;
} hob_ask;
extern const hob_opts hob_ask_opts;
void hob_ask_finish(hob_ask *a);
/* Options that contradict each other or ask for what does not exist. HOB_EINVAL. */
int hob_ask_check(const hob_ask *a, const hob_rest *rest, hob_error *err);
bool hob_ask_continues(const hob_ask *a); /* an earlier session */

/* ---- prompt.c -------------------------------------------------------------------------------- */
/* The prompt as content blocks; has_text false = nothing was given. */
typedef struct hob_prompt {
    hob_buf content; /* a JSON array */
    bool given;
} hob_prompt;
typedef struct hob_prompt_from {
    const hob_rest *rest;
    const hob_words *images;
    bool use_stdin; /* what stands in standard input belongs to the prompt */
    bool optional;  /* a prompt is not necessary: standard input is not waited for without end */
} hob_prompt_from;
/* HOB_EINVAL; HOB_ECANCELLED when a signal came while standard input was read. */
int hob_prompt_read(hob_cli *cli, const hob_prompt_from *from, hob_prompt *out, hob_error *err);
void hob_prompt_finish(hob_prompt *p);
void hob_prompt_text(hob_prompt *p, hob_str text); /* a prompt of one text */

/* ---- open.c ---------------------------------------------------------------------------------- */
/* Configuration with what the options say of the sandbox, then the runtime. */
int hob_ask_start(hob_cli *cli, const hob_ask *a, hob_error *err);
int hob_ask_open(hob_cli *cli, const hob_ask *a, bool prompted, hob_approver approver,
                 hob_session **out, hob_error *err);
/* Says which AGENTS.md and the like were read, and which were cut or left out. */
void hob_ask_tell_context(hob_cli *cli, hob_session *s);
/* {"type":"session",…}, without a newline. */
void hob_ask_session_line(hob_session *s, hob_buf *out);

/* ---- text.c: events as text for people ------------------------------------------------------- */
typedef struct hob_text {
    hob_cli *cli;
    bool live;    /* print text as it streams; else each answer when it is whole */
    hob_buf held; /* text of the message that is being received */
    bool open_line;
    bool printed; /* an answer of the last run went to standard output */
    /* several agents, text_team.c */
    char message[32]; /* whose text is printed as it streams; "" = nobody's */
    char named[72];   /* the agent whose name stands above what was printed last */
    /* not live: the last answer, held until it is the run's, and which agent gave it */
    char answerer[72];
    bool told; /* as a remark, because something else was told since */
    hob_buf answer;
} hob_text;
void hob_text_init(hob_text *t, hob_cli *cli, bool live);
void hob_text_finish(hob_text *t);
void hob_text_event(hob_text *t, const hob_event *e);
void hob_text_end_line(hob_text *t);
void hob_text_give(hob_text *t); /* the answer that is held, if there is one */
/* Between the files: */
void hob_text_print(hob_text *t, hob_str s);
void hob_text_remark(hob_text *t, hob_tint tint, const char *mark, hob_str text);
/* The same with the agent's name before it, unless that is empty. */
void hob_text_tell(hob_text *t, hob_tint tint, const char *mark, hob_str agent, hob_str text);
void hob_text_hold(hob_text *t, hob_str agent, hob_str text); /* this is the answer, so far */
void hob_text_join(const hob_json *content, hob_buf *out, bool *calls);
/* text_team.c: an event of an agent of a workflow. False: it says the same whoever does it. */
bool hob_text_team(hob_text *t, hob_str agent, hob_event_type type, const hob_json *d);
void hob_text_team_finished(hob_text *t);

/* ---- print.c: the three output formats ------------------------------------------------------- */
typedef enum hob_format { HOB_FORMAT_TEXT, HOB_FORMAT_JSON, HOB_FORMAT_STREAM } hob_format;
typedef struct hob_printer {
    hob_cli *cli;
    hob_format format;
    hob_text text;
    bool refused;    /* a call was refused because nobody could be asked */
    bool unanswered; /* the model asked something, and nobody could answer */
} hob_printer;
void hob_printer_init(hob_printer *p, hob_cli *cli, const hob_ask *a);
void hob_printer_finish(hob_printer *p);
void hob_printer_session(hob_printer *p, hob_str line);
void hob_printer_event(hob_printer *p, hob_event *e);
/* The end; both return the exit code. */
int hob_printer_result(hob_printer *p, const hob_result *r);
int hob_printer_failed(hob_printer *p, const char *status, const hob_error *err,
                       const char *session);
/* One more line between events: {"type":"error",…}. */
void hob_printer_error(hob_printer *p, hob_str command, hob_str id, const hob_error *err);

/* ---- remote.c: commands on standard input ---------------------------------------------------- */
typedef enum hob_remote_did { HOB_REMOTE_NOTHING, HOB_REMOTE_PROMPTED } hob_remote_did;
/* One line; errors are printed and change nothing. */
hob_remote_did hob_remote_line(hob_session *s, hob_str line, hob_printer *p);

/* ---- print_run.c, talk.c --------------------------------------------------------------------- */
int hob_ask_print(hob_cli *cli, hob_ask *a, const hob_rest *rest);
int hob_ask_talk(hob_cli *cli, hob_ask *a, const hob_rest *rest);
/* run.c: chooses between the two. */
int hob_ask_run(hob_cli *cli, hob_ask *a, const hob_rest *rest);

#endif
