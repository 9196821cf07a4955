/*
 * host.h - a runtime and a session on a scripted model, as an embedding program would hold them.
 *
 * Only public headers are used. Scripts are written with ' for " so that they can be read in C.
 */
#ifndef HOB_TESTS_HOST_H
#define HOB_TESTS_HOST_H

#include <hob/hob.h>

#include "base/json.h"
#include "support/folder.h"

#include <pthread.h>

typedef struct host {
    hob_test_folder folder; /* workspace, script, store */
    const char *dir;        /* its path */
    char model[320];        /* scripted:FILE */
    hob_config *config;
    hob_runtime *rt;
    hob_session *s;
    hob_runtime_opts ro; /* change before host_open */
    hob_session_opts so;
    hob_error err;
    hob_result *result;
    char id[64];     /* host_reopen, host_run_and_kill */
    char log[65536]; /* host_log */
    char text[8192]; /* host_text */
} host;

void host_init(host *r,
               const char *script); /* folder, configuration and options; nothing is opened */
void host_open(host *r);            /* runtime and session; fails the test on error */
void host_close(host *r);           /* session (detached) and runtime; the folder stays */
void host_finish(host *r);          /* all, and the folder */
void host_config(host *r, const char *path, const char *json); /* before host_open */
void host_script(host *r, const char *script);                 /* replaces the script file */

/* Lets go of the session and opens it again in a new runtime. */
void host_reopen(host *r, hob_on_unfinished what);
/* Starts a run in a process of its own, which kills itself when it has seen the event; the options then say to open
 * that session. */
void host_run_and_kill(host *r, const char *prompt, hob_event_type when, const char *field,
                       const char *value);
void host_disk_full(bool full); /* no file of this process can grow */

/* prompt_and_wait; returns the status ("completed"), static until the next call. */
const char *host_prompt(host *r, const char *text);
const char *host_wait(host *r);
const char *host_text(host *r); /* the text of the last result */
/* Reads events until one of this kind (and, if given, this value of a data field) is found; unref is the caller's. */
hob_event *host_until(host *r, hob_event_type type, const char *field, const char *value);
/* All stored events as lines "type field…", the fields that matter for each kind. */
const char *host_log(host *r);
/* How many stored events have this type name. */
int host_count(host *r, const char *type);

/* A tool without arguments that answers at once ("quick result") and counts, or never answers. */
hob_tool host_tool(const char *name, hob_tool_class class_, int *count);
hob_tool host_silent_tool(const char *name, hob_tool_class class_);

/* A host tool that waits until the test lets it go. */
typedef struct gate {
    pthread_mutex_t lock;
    pthread_cond_t cond;
    hob_reply *reply;
    int started, cancelled;
    hob_tool tool;
} gate;
void gate_init(gate *g, const char *name, hob_tool_class class_);
void gate_wait_started(gate *g, int n); /* until it was started n times */
void gate_answer(gate *g, const char *text);
void gate_finish(gate *g);

#endif
