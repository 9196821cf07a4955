/*
 * tool.h - the tool registry, replies, and the built-in tools.
 *
 * A refusal is a tool result, not a crash: unknown tools, arguments that do not fit the schema and failures of
 * the tool itself all become results the model can read.
 */
#ifndef HOB_SRC_TOOL_H
#define HOB_SRC_TOOL_H

#include <hob/ext/backend.h>
#include <hob/tool.h>

#include "base/json.h"
#include "exec/exec.h"
#include "loop/loop.h"
#include "policy/policy.h"
#include "tool/actions.h"

/* ---- registry.c ---------------------------------------------------------------------------- */
typedef struct hob_tools hob_tools;
hob_tools *hob_tools_create(void);
void hob_tools_destroy(hob_tools *t);
/* Copies the description. HOB_EEXIST, HOB_EINVAL (name, schema). */
int hob_tools_add(hob_tools *t, const hob_tool *tool, hob_error *err);
/* The same for a tool whose texts are constants of the program: nothing is copied. */
int hob_tools_add_lasting(hob_tools *t, const hob_tool *tool, hob_error *err);
/* A guest: gone with the next hob_tools_drop_guests. */
int hob_tools_add_guest(hob_tools *t, const hob_tool *tool, hob_error *err);
void hob_tools_drop_guests(hob_tools *t);
int hob_tools_remove(hob_tools *t, hob_str name); /* not while a call of it is under way */
const hob_tool *hob_tools_find(const hob_tools *t, hob_str name); /* borrowed; NULL if absent */
/* Tools that the policy does not offer are neither found nor told of, also those added later. Holds a reference. */
void hob_tools_narrow(hob_tools *t, hob_policy *p);
const hob_tool *hob_tools_at(const hob_tools *t, size_t i); /* in that order; NULL beyond the end */
bool hob_tools_shown(const hob_tools *t, const hob_tool *tool); /* the model is told of it */
/* Tools of the host are marked: what another session registers for itself is not handed on. */
void hob_tools_mark(hob_tools *t, hob_str name);
bool hob_tools_marked(const hob_tool *tool);
/* JSON array of {"name","description","schema"} in registration order, cached; for provider requests. */
hob_str hob_tools_json(hob_tools *t);
/* Changes with every add and remove. */
uint64_t hob_tools_version(const hob_tools *t);
/* Frees what can be made again from the tools' own text, until it is needed. */
void hob_tools_rest(hob_tools *t);
/* Checks arguments against the tool's schema. HOB_EINVAL with a message for the model. */
int hob_tools_check(const hob_tools *t, const hob_tool *tool, hob_str args, hob_error *err);
/* The nearest registered name, or NULL. */
const char *hob_tools_nearest(const hob_tools *t, hob_str name);

/* ---- schema.c: the subset of JSON schema that tools use (docs/tools.md lists it) -------------- */
typedef struct hob_schema hob_schema;
int hob_schema_create(hob_str json, hob_schema **out, hob_error *err);
void hob_schema_destroy(hob_schema *s);
int hob_schema_check(const hob_schema *s, const hob_json *value,
                     hob_error *err); /* path in the message */

/* ---- question.c: the tool ask_user, without whoever is asked ----------------------------------- */
/* Flags beside the public ones. A tool that is HIDDEN is found, but nobody is told of it. */
enum { HOB_TOOL_QUESTION = 1 << 16, HOB_TOOL_HIDDEN = 1 << 17 };
/* Arguments beyond what the tool's own schema says. HOB_EINVAL, HOB_ETOOBIG, with a message for the model. */
int hob_question_check(hob_str args, hob_error *err);
/* Does this JSON answer the call with these arguments? HOB_EINVAL (names what does not fit), HOB_ETOOBIG. */
int hob_answer_check(hob_str args, hob_str answer, hob_error *err);
void hob_answer_tell(hob_str answer, hob_reply *reply); /* as the result of the call */

/* ---- capture.c: the beginning and the end of an output of any length ------------------------- */
typedef struct hob_capture {
    hob_buf head;
    char *ring;
    size_t max_tail, ntail, at;
    size_t total; /* bytes that came */
} hob_capture;
void hob_capture_init(hob_capture *c, size_t max_head, size_t max_tail);
void hob_capture_finish(hob_capture *c);
void hob_capture_add(hob_capture *c, hob_str s);
bool hob_capture_truncated(const hob_capture *c);
/* Valid UTF-8, with "[… N bytes left out …]" in the middle if there was more. */
void hob_capture_write(const hob_capture *c, hob_buf *out);

/* ---- environment.c: what commands may see of hob's environment ------------------------------- */
/* The variables on the list in environment.c and those named in `more` (names, or "PREFIX_*"), never
 * HOB_* and *API_KEY; a PATH if there is none. NULL-terminated, one block: hob_free. */
char **hob_tool_environment(const char *const *envp, const hob_str *more, size_t nmore);

/* ---- reply.c: one answer, from any thread, delivered on the loop ------------------------------ */
typedef struct hob_tool_result {
    hob_outcome outcome;
    hob_str content; /* JSON array of blocks */
    int exit_code;   /* of a command; -1 = none */
    bool truncated;
    bool passed;                /* hob_reply_pass */
    const hob_actions *actions; /* answers only; NULL = none */
} hob_tool_result;
typedef struct hob_reply_handler {
    void (*output)(void *user,
                   hob_str chunk); /* UTF-8, a few times a second at most; may be NULL */
    /* Once, and the reply is gone; never after hob_reply_drop. */
    void (*done)(void *user, const hob_tool_result *r);
} hob_reply_handler;
hob_reply *hob_reply_create(hob_loop *l, const hob_reply_handler *h, void *user);
/* The receiver no longer wants the answer; the tool may still answer safely later. [loop] */
void hob_reply_drop(hob_reply *r);
/* The first half of it: nothing is handed over any more, and what is kept with it stays until it is dropped. */
void hob_reply_mute(hob_reply *r);
/* The reply destroys the arena when tool and receiver are both done with it: a tool may read its call until it
 * answers, whatever became of the receiver. */
void hob_reply_keep(hob_reply *r, hob_arena *a);
/* A copy of the state that lives as long as the reply, for the call. */
const hob_state *hob_reply_keep_state(hob_reply *r, const hob_state *s);
hob_actions *hob_reply_actions(hob_reply *r);
/* {"by","tools"[]}: until the run ends nothing else may be used. [any] */
void hob_reply_narrow(hob_reply *r, hob_str json);
/* For built-in tools: as hob_reply_content with exit code and truncation. [any] */
void hob_reply_result(hob_reply *r, const hob_tool_result *result);
/* The same with words instead of result->content. [any] */
void hob_reply_words(hob_reply *r, const hob_tool_result *result, hob_str text);

/* ---- built-in tools --------------------------------------------------------------------------- */
typedef struct hob_tool_env {
    hob_loop *loop;
    hob_pool *pool;
    hob_exec *exec;
    hob_workspace *workspace;
    const hob_policy *policy;       /* asked again about what a link leads to; NULL = nobody */
    const char *const *envp;        /* environment given to commands (already filtered) */
    size_t max_head, max_tail;      /* kept output of a command; 0 = 32 KiB each */
    int64_t timeout_ms;             /* of a command that names none; 0 = 120 s */
    const hob_backend_ops *backend; /* who does the work; NULL = we do */
    void *backend_user;
} hob_tool_env;
/* Adds read, write and bash; the env must outlive the registry's use. Returns an object that owns their
 * state. Destroying it kills commands that still run (they answer "cancelled"); file work that is
 * under way ends by itself and holds the workspace until then. */
typedef struct hob_builtins hob_builtins;
int hob_builtins_create(const hob_tool_env *env, hob_tools *t, hob_builtins **out, hob_error *err);
void hob_builtins_destroy(hob_builtins *b);
/* For the calls that start from now on; borrowed until the next one. */
void hob_builtins_set_policy(hob_builtins *b, const hob_policy *p);

#endif
