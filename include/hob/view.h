/*
 * hob/view.h - what an open session shows of itself. Part of hob/session.h, which includes it.
 *
 * Every call is [any]. Rows are JSON objects in a hob_page (hob/runtime.h); what they show is durable.
 */
#ifndef HOB_VIEW_H
#define HOB_VIEW_H

#include <hob/runtime.h>
#include <hob/tool.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct hob_session hob_session;

/* Copies, NUL-terminated, cut at cap; return the full length. */
HOB_API int hob_session_id(hob_session *s, char *buf, size_t cap);
HOB_API int hob_session_cwd(hob_session *s, char *buf, size_t cap);
HOB_API int hob_session_app_name(hob_session *s, char *buf, size_t cap);
HOB_API int hob_session_user_id(hob_session *s, char *buf, size_t cap);
HOB_API int hob_session_model(hob_session *s, char *buf, size_t cap); /* provider/model */
HOB_API int hob_session_thinking(hob_session *s, char *buf, size_t cap);
HOB_API const hob_config *hob_session_config(
    hob_session *s); /* the runtime's; NULL if it has none */
/* One JSON object: id, cwd, model, thinking, running, parked, unfinished, last_seq, usage, cost_usd, context_files… */
HOB_API int hob_session_info(hob_session *s, hob_page **out, hob_error *err);
/* While hob_session_is_parked: the last event before it came to a stand, behind which there is nothing; otherwise 0. */
HOB_API uint64_t hob_session_parked_at(hob_session *s);
/* The conversation as the model sees it: message events and results, oldest first. */
HOB_API int hob_session_history(hob_session *s, hob_page **out, hob_error *err);
/* What began and has not ended, as events (agent_started, child_started), oldest first: agents of a workflow, sub-agents. */
HOB_API int hob_session_under_way(hob_session *s, hob_page **out, hob_error *err);
/* The tools that the model is offered: rows {"name","description","schema","class","host"}. */
HOB_API int hob_session_tools(hob_session *s, hob_page **out, hob_error *err);
/* Tools of whoever speaks to the session now, in place of those of the last call. While a run is at work, its tools stay
 * beside them. A name that the session has stays what it is. Sub-agents do not get them. They are copied. Errors as with
 * hob_session_add_tool: then those before the refused one are there. */
HOB_API int hob_session_offer_tools(hob_session *s, const hob_tool *tools, size_t n,
                                    hob_error *err);
/* All messages as a tree: rows {"entry","parent","role","text","active"}. */
HOB_API int hob_session_tree(hob_session *s, hob_page **out, hob_error *err);
/* Stored events with seq > after: a durable cursor. */
HOB_API int hob_session_entries(hob_session *s, uint64_t after, hob_page **out, hob_error *err);
/* Continues from another entry ("e12"; "" = before the first); HOB_EBUSY while running. */
HOB_API int hob_session_move(hob_session *s, const char *entry, hob_error *err);
/* What a prompt may begin with, of the definitions that are live now: rows {"name","kind","description","usage"}, a
 * command before a skill of the same name. */
HOB_API int hob_session_commands(hob_session *s, hob_page **out, hob_error *err);
/* Goes back to before a run: the conversation goes on from there, and the session's own state is what it was (app: and
 * user: keys stay). Both are events; nothing is lost. A run that continues an interrupted one is rewound with it.
 * HOB_EBUSY while running, HOB_ENOENT. */
HOB_API int hob_session_rewind(hob_session *s, hob_str run_id, hob_error *err);
/* Roots of the file tools, one row each. */
HOB_API int hob_session_workspace(hob_session *s, hob_page **out, hob_error *err);

#ifdef __cplusplus
}
#endif

#endif
