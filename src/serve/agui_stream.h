/*
 * agui_stream.h - a session's events as one AG-UI run to one client.
 *
 * The handler makes it, fills in what comes before the first event (RUN_STARTED, snapshots) and hands it over; from then
 * on it lives on the server's thread. A client that goes away ends the stream and nothing else, unless it wished so.
 */
#ifndef HOB_SRC_SERVE_AGUI_STREAM_H
#define HOB_SRC_SERVE_AGUI_STREAM_H

#include "serve/hub.h"

#include <hob/agui_project.h>

typedef struct hob_agui_stream hob_agui_stream;

/* RUN_STARTED is written. `after`: the last event that the run does not consist of. */
int hob_agui_stream_create(hob_hub *h, const hob_agui_input *in, hob_agui_encoding encoding,
                           hob_agui_stream **out, hob_error *err);
/* [handler] What is said before the events, and of whose session they are. */
hob_agui_session *hob_agui_stream_wire(hob_agui_stream *s);
hob_agui_view *hob_agui_stream_view(hob_agui_stream *s);
/* The id of the run under way; false: there is none. */
bool hob_agui_current_run(hob_session *s, char out[64]);
/* [handler] If the client leaves before the end, this run of the session is cancelled. */
void hob_agui_stream_ends_with_client(hob_agui_stream *s, const char *run);
/* [handler] Answers the request. With an empty session id nothing follows what was said: the run has ended. */
void hob_agui_stream_answer(hob_agui_stream *s, hob_web_request *r, hob_str session,
                            uint64_t after);
void hob_agui_stream_destroy(hob_agui_stream *s); /* instead of answering; NULL is fine */

#endif
