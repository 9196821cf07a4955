/*
 * agui_thread.h - threads of AG-UI as sessions.
 *
 * The id of a thread's session follows from who calls, the agent and the thread's id: nothing has to be remembered, and
 * after a restart it is the same. A thread id that is the id of a session of the caller is that session.
 */
#ifndef HOB_SRC_SERVE_AGUI_THREAD_H
#define HOB_SRC_SERVE_AGUI_THREAD_H

#include "serve/hub.h"

#include <hob/agui_input.h>

/* The session's id in `out`, also if there is none yet: HOB_ENOENT. */
int hob_agui_find_thread(hob_web_request *r, hob_str thread, char out[130], hob_error *err);
/* The agent of the path: "default" and "hob" are hob itself (""), others stand in the definitions. NULL: no such agent,
 * which was answered. */
const char *hob_agui_agent_of(hob_web_request *r);
int hob_agui_make_thread(hob_web_request *r, const char *id, const char *agent, hob_room **out,
                         hob_error *err);

/* The state that the input shows: keys that differ were changed by the client. */
int hob_agui_take_state(hob_session *s, const hob_agui_input *in, hob_error *err);

#endif
