/*
 * hob/ext/backend.h - who does the work of the built-in tools, if not hob itself.
 *
 * read, write and bash work on this machine's files and processes. A host that has another view of them - an editor with
 * unsaved buffers, a container, a remote machine - gives a back end with a session's options (hob_session_opts.backend),
 * and the same tools, with the same names and results for the model, work there. Sub-agents have their parent's.
 *
 * What comes before the work stays: rules, modes, approvals, callbacks, budget. Paths are looked at first: a back end
 * is asked for files in the session's folders only, by an absolute path without links and dots.
 *
 * Every function is called on the loop thread, must not block, and is answered once through the hob_reply, now or later,
 * from any thread. A function that is NULL, and hob_reply_pass(), mean that hob does it itself.
 */
#ifndef HOB_EXT_BACKEND_H
#define HOB_EXT_BACKEND_H

#include <hob/tool.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What is to be done. It lives until the answer. */
typedef struct hob_backend_call {
    size_t size;
    hob_str session, call; /* of a sub-agent its own */
    hob_str path;          /* read, write */
    hob_str content;       /* write: the whole new text */
    hob_str before;        /* write: what is in the file now, on this machine */
    int existed;           /* write: 1 = that; 0 = there is none; -1 = too large, or not text */
    hob_str command;       /* run: for a shell */
    hob_str cwd;           /* run: absolute */
    int64_t timeout_ms;    /* run: then it is cancelled */
    size_t output_max;     /* run: bytes of output that are of use */
} hob_backend_call;

typedef struct hob_backend_ops {
    size_t size;
    const char *name; /* what the model is told: "the editor" */
    /* Answered with hob_reply_file. After any other answer hob reads the file itself and says so in the result. Images
     * and files that are not text are not asked for. */
    void (*read)(const hob_backend_call *c, hob_reply *reply, void *user);
    /* Answered with hob_reply_text: HOB_OUTCOME_OK = it is written; otherwise why not. */
    void (*write)(const hob_backend_call *c, hob_reply *reply, void *user);
    /* Answered with hob_reply_command; hob_reply_output before that as it comes, if it does. Commands that are given
     * input are not asked for. An outcome that is not ok: it could not be started, and why. */
    void (*run)(const hob_backend_call *c, hob_reply *reply, void *user);
    /* Of a run: end it, and answer with what it printed. `hard`: the answer is not waited for. May be NULL. */
    void (*cancel)(const hob_backend_call *c, int hard, void *user);
} hob_backend_ops;

/* The text of a file, at most 32 MiB. [any] */
HOB_API void hob_reply_file(hob_reply *r, hob_str text);

typedef struct hob_command_end {
    size_t size;
    int exit_code; /* 128 + its number for a signal */
    int truncated; /* some of the output is missing at the beginning */
    hob_str
        output; /* all of it; what was given by hob_reply_output before is not counted twice: it is left out if this is set */
} hob_command_end;
/* How a command ended. [any] */
HOB_API void hob_reply_command(hob_reply *r, const hob_command_end *end);

#ifdef __cplusplus
}
#endif

#endif
