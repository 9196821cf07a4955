/*
 * callback.h - functions of the host, called and waited for.
 *
 * At a point of the work (before the model is asked, when a tool has answered…) up to two functions have a say: the
 * session's, then the agent's. They are called one after the other, until one of them speaks: answers with content, or
 * fails. What those before it asked for counts as well, and each sees the changes of state of those before it.
 *
 * A call is an effect like any other: it is told to stop, and dropped, by whoever started it. Its answer comes from the
 * loop, never from inside hob_callback_start().
 */
#ifndef HOB_SRC_CALLBACK_H
#define HOB_SRC_CALLBACK_H

#include <hob/agent.h>

#include "session/strand.h"

/* X(NAME, name) - members of hob_agent_callbacks */
#define HOB_HOOKS(X)                                                                               \
    X(BEFORE_AGENT, before_agent)                                                                  \
    X(AFTER_AGENT, after_agent)                                                                    \
    X(BEFORE_MODEL, before_model)                                                                  \
    X(AFTER_MODEL, after_model)                                                                    \
    X(BEFORE_TOOL, before_tool)                                                                    \
    X(AFTER_TOOL, after_tool)

typedef enum hob_hook {
#define HOB_X(NAME, name) HOB_HOOK_##NAME,
    HOB_HOOKS(HOB_X)
#undef HOB_X
} hob_hook;

enum { HOB_CALLBACK_FUNCTIONS = 2 };

/* What is called, and what it is told besides where it is. */
typedef struct hob_callback_plan {
    const char *what; /* for messages; lives for ever */
    struct {
        hob_agent_fn fn;
        void *user;
    } functions[HOB_CALLBACK_FUNCTIONS];
    size_t n;
    int64_t patience_ms;                                              /* with each of them */
    void (*cancel)(const hob_agent_call *call, int hard, void *user); /* NULL = they have none */
    hob_str content, tool, call, args;                                /* copied */
    const hob_state *changes; /* an overlay: what was asked for so far; copied. NULL = nothing */
} hob_callback_plan;

typedef struct hob_callback_answer {
    bool speaks;                /* one of them did: content, or it failed */
    hob_outcome outcome;        /* of the last one */
    hob_str content;            /* JSON array of blocks */
    const hob_actions *actions; /* of all of them, together; never NULL */
} hob_callback_answer;
typedef void (*hob_callback_done_fn)(void *user, const hob_callback_answer *a);

typedef struct hob_callback hob_callback;

/* The functions for a point; false = there are none. */
bool hob_callback_find(const hob_strand *st, hob_hook point, hob_callback_plan *out);
hob_callback *hob_callback_start(hob_strand *st, const hob_callback_plan *p,
                                 hob_callback_done_fn done, void *user);
/* It is no longer wanted, and gets some time to say what it did; then the answer is made up: `unknown`. */
void hob_callback_stop(hob_callback *c, bool hard);
void hob_callback_drop(hob_callback *c); /* nobody will take the answer any more; NULL is fine */

/* Writes what was changed, as an event of the strand's. It is committed with what comes next. */
int hob_strand_say_changes(hob_strand *st, const hob_state *changes, hob_error *err);
/* The words of an answer. */
void hob_content_words(hob_str content, hob_buf *out);

#endif
