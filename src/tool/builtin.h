/*
 * builtin.h - what the built-in tools share.
 */
#ifndef HOB_SRC_TOOL_BUILTIN_H
#define HOB_SRC_TOOL_BUILTIN_H

#include "tool/tool.h"

#include <stdatomic.h>

struct hob_builtins {
    hob_tool_env env;
    const char *shell; /* /bin/bash, or /bin/sh where there is none */
    hob_list calls;    /* of hob_builtin_call.link: those under way */
};

/* A call under way. The slices of hob_tool_call may go before we are done, so it keeps copies. */
typedef struct hob_builtin_call hob_builtin_call;
struct hob_builtin_call {
    hob_list link;
    hob_arena *arena;
    hob_str session, id;
    const hob_json *args;
    hob_reply *reply;
    /* `gone`: the built-in tools are being destroyed; must unlink the call. */
    void (*cancel)(hob_builtin_call *c, bool hard, bool gone);
};

int hob_builtin_call_init(hob_builtin_call *c, hob_builtins *b, const hob_tool_call *call,
                          hob_reply *reply);
void hob_builtin_call_finish(hob_builtin_call *c);
/* An integer argument; 5.0 and 5e0 are integers, too. */
int64_t hob_builtin_call_int(const hob_builtin_call *c, const char *key, int64_t otherwise);

/* ---- backend.c: work that somebody else does (hob/ext/backend.h) ------------------------------ */
typedef struct hob_asked hob_asked;
struct hob_asked {
    hob_builtins *b;
    hob_backend_call *call;                      /* lives with the reply */
    hob_reply *reply;                            /* NULL = nothing is waited for */
    void (*output)(hob_asked *q, hob_str chunk); /* may be NULL */
    void (*answered)(hob_asked *q, const hob_tool_result *r);
};
typedef void hob_backend_fn(const hob_backend_call *c, hob_reply *reply, void *user);
/* Copies what is to be done, and asks. [loop] */
void hob_asked_start(hob_asked *q, hob_builtins *b, const hob_backend_call *what,
                     hob_backend_fn *fn);
void hob_asked_cancel(hob_asked *q, bool hard); /* the back end is told; its answer follows */
void hob_asked_drop(hob_asked *q);              /* its answer is not wanted any more */
hob_str hob_asked_text(const hob_tool_result *r, hob_arena *a); /* of its answer */

/* A call that is file work: run() is called on a worker and must answer, or set `next`, which is then called on the
 * loop and goes on with it. */
typedef struct hob_file_call {
    hob_builtin_call base;
    hob_work work;
    hob_workspace *workspace;
    hob_policy *policy;
    atomic_bool cancelled;
    void (*run)(struct hob_file_call *f);
    void (*next)(struct hob_file_call *f);
    hob_builtins *b; /* NULL = gone */
    hob_pool *pool;
    hob_loop *loop;
    hob_backend_ops backend; /* a copy; without functions if there is none */
    hob_asked asked;
    hob_backend_call what; /* to be asked for; slices in the arena */
    bool firm;             /* what was asked for cannot be taken back */
    bool told;             /* the back end was asked, and did not do it */
    hob_str answer;        /* what it said, or why not */
} hob_file_call;
/* On another worker: run() once more. [loop] */
void hob_file_call_again(hob_file_call *f, void (*run)(hob_file_call *f));
/* Asks the back end; then `answered` goes on (hob_file_call_again), or answers and ends the call. [loop] */
void hob_file_call_ask(hob_file_call *f, hob_backend_fn *fn,
                       void (*answered)(hob_asked *q, const hob_tool_result *r));
void hob_file_call_end(hob_file_call *f); /* it was answered. [loop] */
void hob_file_call_start(hob_builtins *b, const hob_tool_call *call, hob_reply *reply,
                         void (*run)(hob_file_call *f));

/* The path of the call, or where it leads if there are links on the way and the policy does not mind; in
 * the call's arena. false = refused, and answered. */
bool hob_file_call_path(hob_file_call *f, const hob_tool *tool, hob_str *out);

/* An answer in words that says it did not work. */
void hob_reply_error(hob_reply *r, const char *fmt, ...) HOB_PRINTF(2, 3);

extern const hob_tool hob_read_tool, hob_write_tool, hob_bash_tool;

#endif
