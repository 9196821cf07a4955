/*
 * observe.h - what the cases of hob have in common: observations as the ADK's side prints them, and short ways to look.
 */
#ifndef HOB_CONFORMANCE_OBSERVE_H
#define HOB_CONFORMANCE_OBSERVE_H

#include "support/agents.h"
#include "support/host.h"
#include "support/modeld.h"

typedef void (*case_fn)(void);
typedef struct case_row {
    const char *name;
    case_fn run;
    bool stores; /* once a store: `on` is its name */
} case_row;

extern const case_row store_cases[], contents_cases[], agent_cases[],
    run_cases[]; /* end: name NULL */

/* The store of the case that runs: "memory" or "sqlite". */
const char *on_store(void);
void observe_case(const char *name, const char *on);

/* One observation: a line on standard output. */
void see_json(const char *what, hob_str json);
void see_text(const char *what, const char *text);
void see_int(const char *what, int64_t n);
void see_bool(const char *what, bool yes);
void see_refused(const char *what, int code);       /* negative: "refused", else "accepted" */
void see_lines(const char *what, const char *text); /* an array of its lines */
void see_state(const char *what, hob_session *s);

/* "agent: text" of every answer with text, a line each. Static. */
const char *said(host *h);
/* Of the stored events of this type the texts in these fields of their data, a line each. Static. */
const char *fields_of(host *h, const char *type, const char *field);
/* Lines with these words. Static. */
const char *only(const char *lines, const char *words, bool at_start);

/* A host whose model is a server with these rules, and a team of one agent "a" unless it is given another. */
typedef struct trial {
    host h;
    modeld *m;
} trial;
void trial_init(trial *t, const modeld_rule *rules);
void trial_open(trial *t, hob_agent *team); /* takes the reference */
void trial_finish(trial *t);
hob_agent *am(const char *name); /* an agent whose instruction is "I am NAME" */

#endif
