/*
 * editor.h - the other end of hob_acp_serve: an editor, as far as a test needs one.
 *
 * The runtime and hob_acp_serve live on a thread of their own, as they would in a program of their own. The test sends
 * and reads lines. What came is kept as text that is the same in every run: the session is S (the second one T), its
 * folder D.
 */
#ifndef HOB_TESTS_EDITOR_H
#define HOB_TESTS_EDITOR_H

#include <hob/acp.h>

#include "support/host.h"

typedef struct hob_test_editor {
    host h; /* folder, script, options: change before hob_test_editor_start */
    hob_acp_opts acp;
    const char *offers; /* clientCapabilities, ' for "; NULL = it does not initialize */
    pthread_t thread;
    int to, from;
    int served;      /* what hob_acp_serve returned */
    hob_buf rest;    /* bytes read behind the last line */
    hob_buf seen;    /* messages since hob_test_editor_call, one a line, ' for " */
    char ids[2][64]; /* sessions, in the order in which they were made */
    int last_id;
    const char *option; /* what permission questions are answered with; NULL = not at all */
    hob_arena *arena;
} hob_test_editor;

void hob_test_editor_init(hob_test_editor *e, const char *script);
void hob_test_editor_start(hob_test_editor *e); /* and initializes */
void hob_test_editor_stop(hob_test_editor *e);  /* closes its end, waits; the folder stays */
void hob_test_editor_finish(hob_test_editor *e);

/* For a test's own setup and teardown. */
int hob_test_editor_setup(void **state, const char *script);
int hob_test_editor_teardown(void **state);
hob_test_editor *hob_test_editor_ready(void **state); /* started, with a session S */
/* A prompt to S that is not waited for: request 77. */
void hob_test_editor_begin(hob_test_editor *e, const char *text);

/* A request: sends it, reads until its answer, and returns that (it is the last line of `seen`, too). params with '
 * for ", S and T in '@S' for the sessions, '@D' for the folder. */
const hob_json *hob_test_editor_call(hob_test_editor *e, const char *method, const char *params);
void hob_test_editor_send(hob_test_editor *e, const char *line); /* the same, as it stands */
/* The next message, not answered; NULL = the other end is closed. */
const hob_json *hob_test_editor_next(hob_test_editor *e);
/* Reads until a message has this text (as in `seen`). */
const hob_json *hob_test_editor_until(hob_test_editor *e, const char *text);
const char *hob_test_editor_seen(hob_test_editor *e); /* and forgets it */
/* session/new in the folder; the first is S, the second T. */
void hob_test_editor_session(hob_test_editor *e);

#endif
