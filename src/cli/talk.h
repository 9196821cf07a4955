/*
 * talk.h - a conversation in a terminal, line by line; the terminal stays in its usual mode.
 *
 *   talk.c          what is waited for, and what a line, an event or a signal means in each state
 *   talk_ask.c      the question before a call; form.c: one that the model asks
 *   talk_command.c  lines that begin with a slash
 */
#ifndef HOB_SRC_CLI_TALK_H
#define HOB_SRC_CLI_TALK_H

#include "cli/ask.h"
#include "cli/form.h"

typedef enum hob_talk_state {
    HOB_TALK_IDLE,    /* a line is a prompt */
    HOB_TALK_RUNNING, /* a line steers */
    HOB_TALK_ASKING,  /* a line answers the question */
    HOB_TALK_LEAVING
} hob_talk_state;

typedef struct hob_talk {
    hob_cli *cli;
    const hob_ask *ask;
    hob_session *s;
    hob_text text;
    hob_lines lines;
    hob_talk_state state;
    bool ran;           /* something was done since the session was opened */
    bool no_input;      /* the terminal's end of file */
    int64_t last_break; /* when Ctrl-C was last pressed */
    char call[1024];    /* ASKING: which; a sub-agent's has the ids of all above it */
    char answered[1024];
    hob_form *form; /* ASKING: it is a question of the model's; NULL = whether a call may run */
    int exit_code;
} hob_talk;

/* Asks about the next call that waits; the state says whether there is one. */
void hob_talk_ask(hob_talk *t);
/* Something else was told meanwhile: what can be answered stands below it again. */
void hob_talk_remind(hob_talk *t);
void hob_talk_answer(hob_talk *t, hob_str line);
/* False: the line is not one of the known commands. */
bool hob_talk_command(hob_talk *t, hob_str line);
void hob_talk_steer(hob_talk *t, hob_str text);

#endif
