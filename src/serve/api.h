/*
 * api.h - handlers of /api, and what they share.
 *
 * Each handler is a straight line: find or open the session, one call of the library, answer. What the session is and
 * whose is decided in one place, hub_open.c, through hob_api_find and hob_api_open: a handler that uses neither of the
 * two has no session.
 */
#ifndef HOB_SRC_SERVE_API_H
#define HOB_SRC_SERVE_API_H

#include "serve/hub.h"

#include <hob/stored.h>

/* ---- shared ------------------------------------------------------------------------------------------------- */
hob_hub *hob_api_hub(const hob_web_request *r);
hob_runtime *hob_api_runtime(const hob_web_request *r);
hob_str hob_api_id(hob_web_request *r); /* of the session of the path (names.h); in the arena */
/* The session of the path: its row, or an answer. To be destroyed. */
bool hob_api_find(hob_web_request *r, hob_page **row);
/* The same where its row is of no interest: one that is open here is known without asking the store. */
bool hob_api_is_there(hob_web_request *r);
hob_room *hob_api_open(hob_web_request *r);    /* NULL: answered. hob_hub_leave */
hob_room *hob_api_peek(hob_web_request *r);    /* NULL: not open here, nothing was answered */
hob_tenant hob_api_tenant(hob_web_request *r); /* who calls; in the arena */
const char *hob_api_z(hob_web_request *r, hob_str s); /* NUL-terminated, in the arena */
enum { HOB_API_ANSWER_MAX = 256 << 20 };
/* 200 with this, which may have become too large; takes it. */
void hob_api_answer_large(hob_web_request *r, hob_buf *json);
/* {KEY: [rows…], "next": cursor or null}; takes the page. */
void hob_api_answer_page(hob_web_request *r, const char *key, hob_page *page);
void hob_api_answer_row(hob_web_request *r, int status, hob_page *page); /* its first; takes it */
/* Answers with what a call returned: a page (taken) or the failure. */
void hob_api_conclude(hob_web_request *r, int rc, const char *key, hob_page *page,
                      const hob_error *err);
/* False: the object has a member that is not in the list (ends with NULL), which was answered. */
bool hob_api_known(hob_web_request *r, const hob_json *body, const char *const *names);
/* A member that must be a string if it is there; false: it is another thing, which was answered. */
bool hob_api_text(hob_web_request *r, const hob_json *body, const char *key, hob_str *out);
/* The member "model". Files of the server are no models for callers: a script is only the one that the server itself
 * was given. False: answered. */
bool hob_api_model(hob_web_request *r, const hob_json *body, hob_str *out);
/* "text" or "content" of the body as content blocks, in the arena; false: answered. */
bool hob_api_content(hob_web_request *r, const hob_json *body, hob_str *out);

/* ---- api_sessions.c ------------------------------------------------------------------------------------------- */
void hob_api_sessions(hob_web_request *r);
void hob_api_create(hob_web_request *r);
void hob_api_show(hob_web_request *r);
bool hob_api_show_again(hob_web_request *r); /* inline */
void hob_api_change(hob_web_request *r);
void hob_api_delete(hob_web_request *r);
void hob_api_close(hob_web_request *r);
void hob_api_fork(hob_web_request *r);
void hob_api_search(hob_web_request *r);
/* ---- api_budget.c ---------------------------------------------------------------------------------------------- */
bool hob_api_budget(hob_web_request *r, const hob_json *body,
                    hob_session_opts *o); /* false: answered */
/* ---- api_list.c ------------------------------------------------------------------------------------------------ */
void hob_api_sessions_live(hob_web_request *r,
                           const hob_page_opts *first); /* the rows that come first */
/* ---- api_work.c ------------------------------------------------------------------------------------------------ */
typedef enum hob_when_busy {
    HOB_BUSY_REJECT,
    HOB_BUSY_ENQUEUE,
    HOB_BUSY_INTERRUPT,
    HOB_BUSY_STEER
} hob_when_busy;
typedef struct hob_api_message {
    hob_session *s;
    hob_str content; /* blocks */
    hob_when_busy policy;
    hob_str payer;
    char key[HOB_KEY_SIZE]; /* hob_key_make; "" = none */
    hob_receipt receipt;    /* what became of it */
    hob_send became;
} hob_api_message;
/* A prompt, or what the policy makes of it while the session is busy. */
int hob_api_send(hob_web_request *r, hob_room *room, hob_api_message *m, hob_error *err);
/* A policy by its name (NULL: as it is); false: there is none, which was answered. */
bool hob_api_when_busy(hob_web_request *r, hob_str word, hob_when_busy *out);
/* What stands for the request's Idempotency-Key; "" = it has none. False: answered. */
bool hob_api_key(hob_web_request *r, char out[HOB_KEY_SIZE]);
void hob_api_fail_reused(hob_web_request *r); /* 422: the key was another request's */
void hob_api_prompt(hob_web_request *r);
void hob_api_steer(hob_web_request *r);
void hob_api_follow_up(hob_web_request *r);
void hob_api_cancel(hob_web_request *r);
void hob_api_move(hob_web_request *r);
void hob_api_rewind(hob_web_request *r);
/* ---- api_runs.c ------------------------------------------------------------------------------------------------ */
void hob_api_runs(hob_web_request *r);
void hob_api_run(hob_web_request *r);
void hob_api_run_events(hob_web_request *r);
void hob_api_run_cancel(hob_web_request *r);
void hob_api_run_pause(hob_web_request *r);
void hob_api_run_resume(hob_web_request *r);
/* ---- api_events.c ----------------------------------------------------------------------------------------------- */
void hob_api_events(hob_web_request *r);
/* Is there such an event in the log of this row? False: answered. */
bool hob_api_check_cursor(hob_web_request *r, const hob_page *row, int64_t after);
/* ---- api_approvals.c --------------------------------------------------------------------------------------------- */
void hob_api_approvals(hob_web_request *r);
void hob_api_approve(hob_web_request *r);
void hob_api_calls(hob_web_request *r);
void hob_api_call_result(hob_web_request *r);
void hob_api_call_cancel(hob_web_request *r);
/* ---- api_state.c -------------------------------------------------------------------------------------------------- */
void hob_api_state(hob_web_request *r);
void hob_api_state_change(hob_web_request *r);
/* ---- api_messages.c ------------------------------------------------------------------------------------------------ */
void hob_api_messages(hob_web_request *r);
/* ---- api_views.c -------------------------------------------------------------------------------------------------- */
void hob_api_tree(hob_web_request *r);
void hob_api_tools(hob_web_request *r);
void hob_api_commands(hob_web_request *r);
void hob_api_subagents(hob_web_request *r);
void hob_api_subagent_cancel(hob_web_request *r);
void hob_api_models(hob_web_request *r);
void hob_api_agents(hob_web_request *r);
/* ---- api_artifacts.c ------------------------------------------------------------------------------------------------ */
void hob_api_artifacts(hob_web_request *r);
void hob_api_artifact(hob_web_request *r);
void hob_api_artifact_save(hob_web_request *r);
void hob_api_artifact_delete(hob_web_request *r);
/* ---- agui.c --------------------------------------------------------------------------------------------------------- */
void hob_agui_route_run(hob_web_request *r);
void hob_agui_route_connect(hob_web_request *r);
void hob_agui_route_cancel(hob_web_request *r);
void hob_agui_route_capabilities(hob_web_request *r);
/* ---- api_about.c -------------------------------------------------------------------------------------------------- */
void hob_api_server(hob_web_request *r);
void hob_api_trace(hob_web_request *r);

#endif
