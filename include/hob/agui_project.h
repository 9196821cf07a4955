/*
 * hob/agui_project.h - hob sessions as AG-UI sees them: their events as a run on the wire, their conversation as messages,
 * and what an input asks of them.
 *
 * Three pieces, none of which touches a session: whoever serves does that.
 *
 *   plan    input + conversation -> what is new in it: a prompt, results of the client's tools, answers to approvals.
 *   view    events of the session -> events of one AG-UI run, through a hob_agui_session. What the client has already (from
 *           its input, or a snapshot) is not sent again, so a reader may begin a little too early, never too late.
 *   messages  the conversation, for a client that has lost it or comes late.
 *
 * Ids come from the log and are the same live, in a snapshot and after a restart: block 1 of answer m14 is the message
 * "m14-1", its calls are those of the message "m14", the call m14.0 has the result "m14.0:result". A user's message keeps
 * the id that the client gave it ("message_id" in its first content block), otherwise it has that of its entry ("e12").
 *
 * A run on the wire is a segment: it ends when the session is settled, or when it waits for nothing but people
 * (hob_agui_view_park). The answer comes with the next input, which begins the next segment. docs/ag-ui.md is the tour.
 */
#ifndef HOB_AGUI_PROJECT_H
#define HOB_AGUI_PROJECT_H

#include <hob/agui.h>
#include <hob/session.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- the conversation -------------------------------------------------------------------------------------- */

/* Rows of hob_session_history or hob_runtime_history as a JSON array of messages, that fits into an event. 1: it did not,
 * so old images and long texts, or the oldest messages, were left out. */
HOB_API int hob_agui_messages(const hob_page *history, hob_agui_dialect dialect,
                              hob_agui_json **out, hob_error *err);
/* A session's state as a JSON object; without temp: keys. */
HOB_API int hob_agui_state_json(const hob_state *state, hob_agui_json **out, hob_error *err);

/* A paused run: id and reason of its interrupt. */
#define HOB_AGUI_PAUSED "hob:paused"

/* ---- a run ------------------------------------------------------------------------------------------------- */

typedef struct hob_agui_view hob_agui_view;

/* `out` has a run under way and outlives the view. Its sink must take everything: read the next event when the bytes of
 * the last one are on their way. */
HOB_API int hob_agui_view_create(hob_agui_session *out, hob_agui_view **view, hob_error *err);
HOB_API void hob_agui_view_destroy(hob_agui_view *v); /* NULL is fine */

/* The next event of the session, durable or not. 1: the run has ended with it; 0; or an error, after which the run is best
 * ended with hob_agui_run_error. A client that is gone is no error. */
HOB_API int hob_agui_view_event(hob_agui_view *v, const hob_event *e, hob_error *err);

/* What stood so before the first event: a row of hob_session_pending_confirmations; a row of hob_session_under_way;
 * hob_session_is_paused. */
HOB_API int hob_agui_view_asked(hob_agui_view *v, hob_str confirmation, hob_error *err);
HOB_API int hob_agui_view_began(hob_agui_view *v, hob_str row, hob_error *err);
HOB_API void hob_agui_view_paused(hob_agui_view *v);
/* Questions to people now: approvals, and whether a paused run is to go on. */
HOB_API size_t hob_agui_view_waiting(const hob_agui_view *v);
/* Ends the run with them as interrupts; their ids are those of the calls, and HOB_AGUI_PAUSED. Right when there is nothing
 * more to read and hob_session_is_parked. HOB_EIDLE: nothing waits. */
HOB_API int hob_agui_view_park(hob_agui_view *v, hob_error *err);

/* 1: something that was shown is not part of the conversation after all (an answer that broke off): send
 * hob_agui_messages_snapshot with hob_agui_messages, then it is 0 again. */
HOB_API int hob_agui_view_stale(hob_agui_view *v);

/* ---- what an input asks for ---------------------------------------------------------------------------------- */

typedef struct hob_agui_plan hob_agui_plan;

typedef enum hob_agui_todo {
    HOB_AGUI_DO_NOTHING, /* nothing in it is new */
    HOB_AGUI_DO_PROMPT,  /* the steps, then content */
    HOB_AGUI_DO_UPDATE,  /* the steps are results of pending calls; the last one starts a run */
    HOB_AGUI_DO_ANSWER, /* the steps are verdicts on approvals; those it leaves out are asked again */
    HOB_AGUI_DO_ASK_AGAIN /* approvals wait, and the input answers none: park at once, act on nothing */
} hob_agui_todo;

typedef struct hob_agui_step {
    size_t size;
    hob_str call;
    hob_verdict verdict; /* ANSWER: hob_session_confirm_tool_use */
    hob_str reason;
    hob_update update; /* otherwise: hob_session_tool_update */
    hob_str content;   /* JSON array of blocks */
    hob_str answer;    /* ANSWER, to a question: hob_session_answer; "" = none */
} hob_agui_step;

/* Rows of the session's history, pending confirmations and pending calls; each may be NULL. The plan borrows from the
 * input. */
HOB_API int hob_agui_plan_create(const hob_agui_input *in, const hob_page *history,
                                 const hob_page *confirmations, const hob_page *pending_calls,
                                 hob_agui_plan **out, hob_error *err);
HOB_API void hob_agui_plan_destroy(hob_agui_plan *p); /* NULL is fine */

HOB_API hob_agui_todo hob_agui_plan_todo(const hob_agui_plan *p);
HOB_API size_t hob_agui_plan_step_count(const hob_agui_plan *p);
HOB_API int hob_agui_plan_step(const hob_agui_plan *p, size_t i, hob_agui_step *out);
/* What the input says to a run that is paused (hob_session_is_paused), besides the rest; STAY: nothing, ask again and leave
 * a prompt alone. */
typedef enum hob_agui_pause {
    HOB_AGUI_PAUSE_STAY,
    HOB_AGUI_PAUSE_GO_ON,  /* the steps, then hob_session_resume */
    HOB_AGUI_PAUSE_GIVE_UP /* hob_session_cancel */
} hob_agui_pause;
HOB_API hob_agui_pause hob_agui_plan_pause(const hob_agui_plan *p);
/* PROMPT: content blocks, the client's context among them. ANSWER: what was said along with the answers, to steer with
 * after them; "" = nothing. */
HOB_API hob_str hob_agui_plan_content(const hob_agui_plan *p);
/* PROMPT: 1 if the client goes on from an earlier place (an edit, another try): hob_session_move there first ("" = before
 * the first message). */
HOB_API int hob_agui_plan_moves(const hob_agui_plan *p, hob_str *entry);
/* 1: the client has nothing of a conversation that there is, or, without a prompt, not its end: send
 * hob_agui_messages_snapshot after what is to be done. 2: it shows things of another one under names that this one uses,
 * too: send an empty one ("[]") before that. */
HOB_API int hob_agui_plan_lost(const hob_agui_plan *p);
/* What was passed over, in words. */
HOB_API size_t hob_agui_plan_warning_count(const hob_agui_plan *p);
HOB_API hob_str hob_agui_plan_warning(const hob_agui_plan *p, size_t i);

/* ---- the client's tools ---------------------------------------------------------------------------------------- */

/* input.tools as tools of a session (hob_session_offer_tools): a call is answered with a receipt, so the
 * run ends, and the client's result comes with its next input. Schema words that hob does not know are left out; a tool
 * whose name hob cannot use is left out and named in a warning. The session copies them. */
typedef struct hob_agui_tools hob_agui_tools;
HOB_API int hob_agui_tools_create(const hob_agui_input *in, hob_agui_tools **out, hob_error *err);
HOB_API size_t hob_agui_tools_count(const hob_agui_tools *t);
HOB_API const hob_tool *hob_agui_tools_at(const hob_agui_tools *t, size_t i); /* an array */
HOB_API size_t hob_agui_tools_warning_count(const hob_agui_tools *t);
HOB_API hob_str hob_agui_tools_warning(const hob_agui_tools *t, size_t i);
HOB_API void hob_agui_tools_destroy(hob_agui_tools *t); /* NULL is fine */

#ifdef __cplusplus
}
#endif

#endif
