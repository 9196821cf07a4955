/*
 * acp.h - the Agent Client Protocol over sessions, from the inside.
 *
 * One thread, no callbacks of ours that wait: serve.c reads lines, dispatch.c finds the method (one row each), and what a
 * method does to a session is a public call of hob/session.h. Events of sessions become session/update messages
 * (event.c). Requests to the editor are `asks`: their answers come back through serve.c, never from inside a callback
 * of the runtime, so that they may use the session.
 *
 * Of an editor everything is data: what it sends is checked before it is used, and how much of it is kept has a
 * ceiling.
 */
#ifndef HOB_SRC_ACP_H
#define HOB_SRC_ACP_H

#include <hob/acp.h>
#include <hob/ext/backend.h>

#include "net/jsonrpc.h"

#define HOB_ACP_VERSION 1
#define HOB_ACP_SESSIONS 64           /* open at once */
#define HOB_ACP_ASKS 1024             /* requests to the editor under way */
#define HOB_ACP_ID_MAX (1u << 20)     /* bytes of the id of a request */
#define HOB_ACP_OUT_MAX (256u << 20)  /* bytes that wait for the editor; more: it is gone */
#define HOB_ACP_OUT_FULL (256 * 1024) /* over it no events are read */

/* Codes of the protocol beside those of JSON-RPC. */
enum { HOB_ACP_EAUTH = -32000, HOB_ACP_ENOENT = -32002 };

typedef struct hob_acp hob_acp;
typedef struct hob_acp_session hob_acp_session;
typedef struct hob_acp_request hob_acp_request;
typedef struct hob_acp_ask hob_acp_ask;

/* ---- the connection ------------------------------------------------------------------------ */

struct hob_acp {
    hob_acp_opts o;
    hob_tenant of; /* whose sessions there are */
    hob_runtime *rt;
    hob_rpc_lines lines;
    bool ended; /* the editor closed its end */
    hob_buf out;
    size_t written; /* bytes of out */
    int out_error;  /* errno */
    bool ready;     /* initialize was answered */
    struct {
        bool read, write, terminal, notices, forms;
    } client; /* what the editor offers */
    hob_list sessions;
    size_t nsessions;
    hob_list asks;
    size_t nasks;
    int64_t last_id;
};

/* ---- wire.c -------------------------------------------------------------------------------- */

void hob_acp_write(hob_acp *x); /* as much as goes without waiting */
void hob_acp_flush(
    hob_acp *x); /* all of it: waits for an editor that reads, not for one that does not */
size_t hob_acp_waiting(const hob_acp *x);
void hob_acp_result(hob_acp *x, hob_str id, hob_str result);
void hob_acp_refuse(hob_acp *x, hob_str id, const hob_error *err);
void hob_acp_notify(hob_acp *x, const char *method, const hob_buf *params);

/* A request to the editor; embedded in what it is for. `answered` is called once, with the result, or with NULL and
 * why: an error of the editor, or HOB_ECANCELLED when the connection ended. It may free the ask. */
struct hob_acp_ask {
    hob_list link;
    int64_t id;
    void (*answered)(hob_acp_ask *a, const hob_json *result, const hob_error *err);
};
/* HOB_ELIMIT, HOB_ETOOBIG: then nothing was sent, and `answered` is not called. */
int hob_acp_send_ask(hob_acp *x, hob_acp_ask *a, const char *method, const hob_buf *params,
                     hob_error *err);
void hob_acp_drop_ask(hob_acp *x, hob_acp_ask *a); /* its answer is not wanted any more */
void hob_acp_take_answer(hob_acp *x, const hob_rpc_message *m);

/* ---- dispatch.c ---------------------------------------------------------------------------- */

struct hob_acp_request {
    hob_acp *acp;
    hob_str id; /* "" = a notification */
    const hob_json *params;
    hob_acp_session *s; /* of the methods that name an open one */
};
void hob_acp_dispatch(hob_acp *x, const hob_rpc_message *m);

/* ---- methods: each answers itself, now or later, or returns why not ------------------------------ */

typedef int hob_acp_method(hob_acp_request *q, hob_error *err);
hob_acp_method hob_acp_initialize, hob_acp_authenticate;                          /* hello.c */
hob_acp_method hob_acp_session_new, hob_acp_session_load, hob_acp_session_resume; /* sessions.c */
hob_acp_method hob_acp_session_fork;
hob_acp_method hob_acp_session_list, hob_acp_session_close, hob_acp_session_delete; /* shelf.c */
hob_acp_method hob_acp_prompt, hob_acp_cancel, hob_acp_cancel_request;              /* prompt.c */
hob_acp_method hob_acp_set_mode, hob_acp_set_option;                                /* options.c */
hob_acp_method hob_acp_set_title;                                                   /* shelf.c */

/* ---- a session ----------------------------------------------------------------------------- */

typedef enum hob_acp_state {
    HOB_ACP_IDLE,
    HOB_ACP_WORKING, /* session/prompt waits for its answer */
    HOB_ACP_CLOSING  /* session/close does */
} hob_acp_state;

typedef struct hob_acp_call hob_acp_call;

struct hob_acp_session {
    hob_list link;
    hob_acp *acp;
    hob_runtime *rt;
    hob_session *s;
    char id[129];
    char *cwd;
    hob_acp_state state;
    hob_buf waiting; /* id of the request that waits */
    bool begun;      /* its run has started */
    hob_list calls;  /* hob_acp_call: those without a result */
    size_t ncalls;
    hob_list permits; /* of permission.c: questions under way */
    hob_list errands; /* of editor.c and terminal.c: what the editor does for tools */

    /* how the run ended */
    char stop[24], status[16], limit[24];
    hob_error failure;
    hob_buf usage;   /* JSON */
    int64_t context; /* tokens that the model takes; 0 = not known */
    hob_buf remarks; /* to be told with the next prompt */
    bool titled;     /* the editor was told what it is called */
};

/* sessions.c */
hob_acp_session *hob_acp_find(hob_acp *x, hob_str id);
void hob_acp_session_free(hob_acp_session *s, bool detach);
/* event.c: reads what happened. */
void hob_acp_pump(hob_acp_session *s);
/* prompt.c: the session is settled, or failed. */
void hob_acp_prompt_end(hob_acp_session *s);
void hob_acp_prompt_cancelled(hob_acp_session *s); /* it will not be answered otherwise */
void hob_acp_close_end(hob_acp_session *s);        /* shelf.c */
/* shelf.c: HOB_ENOENT unless it is there, and theirs. */
int hob_acp_check_stored(hob_acp *x, hob_str id, hob_error *err);
/* replay.c: the conversation so far, as updates. */
int hob_acp_replay(hob_acp_session *s, hob_error *err);

/* ---- updates -------------------------------------------------------------------------------- */

typedef struct hob_acp_update {
    hob_acp_session *s;
    hob_buf buf;
    hob_jsonw w; /* inside the object of the update */
} hob_acp_update;
void hob_acp_update_begin(hob_acp_update *u, hob_acp_session *s, const char *kind);
void hob_acp_update_end(hob_acp_update *u);
void hob_acp_send_usage(hob_acp_session *s, const hob_json *usage); /* event.c: of an answer */
void hob_acp_send_title(hob_acp_session *s, hob_str title);
void hob_acp_send_text(hob_acp_session *s, const char *kind, hob_str message, hob_str text);
/* For the user: a notice where the editor shows such, else words of the agent. */
void hob_acp_tell(hob_acp_session *s, const char *severity, const char *text);
/* The same only where the editor shows notices. */
void hob_acp_notice(hob_acp_session *s, const char *severity, const char *text);

/* options.c */
void hob_acp_write_options(hob_acp_session *s, hob_jsonw *w); /* "modes" and "configOptions" */
void hob_acp_send_options(hob_acp_session *s);
void hob_acp_send_mode(hob_acp_session *s, hob_str mode);
bool hob_acp_is_paused(hob_acp_session *s);
void hob_acp_send_commands(hob_acp_session *s);
int64_t hob_acp_context(hob_acp_session *s); /* of the model in use */

/* ---- call.c: tool calls as the editor sees them ----------------------------------------------- */

/* change.c */
#define HOB_ACP_CHANGE_MAX (4u << 20) /* bytes of both texts; more is not shown */
typedef struct hob_acp_change {
    char *path;   /* absolute; NULL = none */
    char *before; /* NULL = there was no such file */
    char *after;
} hob_acp_change;
void hob_acp_change_set(hob_acp_change *c, hob_str path, const hob_str *before, hob_str after);
void hob_acp_change_finish(hob_acp_change *c);
void hob_acp_write_change(hob_jsonw *w, const hob_acp_change *c);

struct hob_acp_call {
    hob_list link;
    char *id;
    char *child;           /* the sub-agent that asks; NULL = it is the session's own */
    bool shown;            /* the editor knows it */
    bool started;          /* and that it has begun */
    hob_buf output;        /* the end of what it printed so far */
    char *terminal;        /* id of the editor's; NULL = none */
    hob_acp_change change; /* that it makes */
};
hob_acp_call *hob_acp_call_find(hob_acp_session *s, hob_str id);
void hob_acp_call_begin(hob_acp_session *s, const hob_json *block); /* of an answer */
/* The same before its answer was read: tools start when that is durable. NULL: a call of a sub-agent, which is not
 * shown. */
hob_acp_call *hob_acp_call_expect(hob_acp_session *s, const hob_backend_call *c);
/* Does the editor not know yet that it has begun? What tools want of the editor waits for that. */
bool hob_acp_call_is_early(hob_acp_session *s, const hob_backend_call *c);
void hob_acp_call_free(hob_acp_session *s, hob_acp_call *c);
/* Title, kind, places and arguments: what a call is. */
void hob_acp_write_call(hob_acp_session *s, hob_jsonw *w, hob_str tool, const hob_json *args);
void hob_acp_call_started(hob_acp_session *s, const hob_json *data);
void hob_acp_call_output(hob_acp_session *s, hob_acp_call *c, hob_str text);
void hob_acp_call_finished(hob_acp_session *s, const hob_json *data);
void hob_acp_calls_end(hob_acp_session *s); /* of which nothing will come any more */
void hob_acp_call_asked(hob_acp_session *s, const hob_json *data); /* before the question */
void hob_acp_child_answered(hob_acp_session *s, const hob_json *data);
void hob_acp_child_finished(hob_acp_session *s, const hob_json *data);
void hob_acp_call_refresh(hob_acp_session *s, hob_acp_call *c); /* its content changed */

/* permission.c */
void hob_acp_permission_ask(hob_acp_session *s, const hob_json *data);
int hob_acp_permission_ask_all(hob_acp_session *s, hob_error *err); /* what waits since before */
void hob_acp_permissions_drop(hob_acp_session *s);

/* ---- question.c: what the model asks the user ------------------------------------------------------- */

typedef enum hob_acp_way { HOB_ACP_OPTIONS, HOB_ACP_FORM, HOB_ACP_NO_WAY } hob_acp_way;
/* How this editor can show a question whose answer has this schema; NULL = any text. */
hob_acp_way hob_acp_question_way(const hob_acp_session *s, const hob_json *schema);
void hob_acp_question_options(hob_jsonw *w, const hob_json *schema); /* elements of an array */
/* d: data of approval_requested, or a row of approvals. */
void hob_acp_question_form(hob_acp_session *s, const hob_json *d, hob_buf *params);
/* What the editor answered, as JSON; false = nothing. */
bool hob_acp_question_answer(const hob_json *schema, const hob_json *result, hob_buf *out);

/* ---- what the editor does for the built-in tools ------------------------------------------------ */

extern const hob_backend_ops hob_acp_backend; /* its user is the session */

/* One thing that it does. */
typedef struct hob_acp_errand hob_acp_errand;
struct hob_acp_errand {
    hob_acp_ask ask;
    hob_list link;
    hob_acp_session *s;
    hob_reply *reply; /* NULL = answered */
    void (*free)(hob_acp_errand *e);
    void (*go)(hob_acp_errand *e); /* what is still to be done; NULL = it is under way */
    const hob_backend_call *what;  /* lives as long as the reply */
};
static inline void hob_acp_errand_done(hob_acp_errand *e) {
    e->reply = NULL;
    e->what = NULL;
}
void hob_acp_errand_init(hob_acp_errand *e, hob_acp_session *s, const hob_backend_call *c,
                         hob_reply *reply);
/* Does it, now or when the editor knows of the call; `go` may free it. */
void hob_acp_errand_begin(hob_acp_errand *e, void (*go)(hob_acp_errand *e));
void hob_acp_errands_go(hob_acp_session *s, hob_str call); /* the editor knows of that call */
void hob_acp_errand_finish(hob_acp_errand *e); /* its answer from the editor is not wanted */
void hob_acp_errands_drop(hob_acp_session *s); /* after the session let go of its tools */
void hob_acp_terminal_run(const hob_backend_call *c, hob_reply *reply, void *user);
void hob_acp_terminal_cancel(const hob_backend_call *c, int hard, void *user);

#endif
