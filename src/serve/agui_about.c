/*
 * agui_about.c - hob's own additions to AG-UI that are no streams: stopping a thread's run, and what an agent can do.
 */
#include "serve/agui_stream.h"
#include "serve/agui_thread.h"
#include "serve/api.h"

/* Did it come to its end? One that a restart cut off did not: it goes on under another id. */
static bool is_over(hob_room *room, const hob_web_request *r, const char *run) {
    hob_page *row;
    char now[64], status[32] = "";
    if (hob_agui_current_run(hob_room_session(room), now) && !strcmp(now, run)) return false;
    if (hob_runtime_find_run(hob_api_runtime(r), run, NULL, &row, NULL) < 0) return false;
    hob_json_field(hob_page_row(row, 0), "status", status, sizeof status);
    hob_page_destroy(row);
    return strcmp(status, "interrupted") && strcmp(status, "running") && strcmp(status, "parked");
}

/* Is it still that run, if the log has the client's name for it? Those that go on with an answer have none. */
static int check_run(hob_web_request *r, hob_room *room, hob_str run, hob_error *err) {
    char key[HOB_KEY_SIZE];
    hob_answer meant;
    if (!run.n) return HOB_OK;
    hob_key_of_run(run, key);
    int rc = hob_room_asked(room, key, &meant, err);
    if (rc == 0) hob_room_answered(room, key, NULL);
    if (rc != 1) return rc < 0 && rc != HOB_EBUSY ? rc : HOB_OK;
    if (!is_over(room, r, meant.run)) return HOB_OK;
    return hob_fail(err, HOB_EIDLE, 0, "the run %.*s is over",
                    HOB_FMT(hob_str_first(run, hob_utf8_prefix(run, 100))));
}

void hob_agui_route_cancel(hob_web_request *r) {
    const hob_json *body = hob_web_json(r);
    hob_room *room;
    hob_str thread, run;
    hob_error err;
    char id[130];
    if (!body || !hob_agui_agent_of(r) || !hob_api_text(r, body, "threadId", &thread) ||
        !hob_api_text(r, body, "runId", &run))
        return;
    if (!thread.n) {
        hob_web_fail(r, 400, "bad_request", "say which thread: {\"threadId\": …}");
        return;
    }
    int rc = hob_agui_find_thread(r, thread, id, &err);
    if (rc >= 0) rc = hob_hub_open(hob_api_hub(r), hob_web_caller(r), hob_str_z(id), &room, &err);
    if (rc >= 0) {
        rc = check_run(r, room, run, &err);
        if (rc >= 0) rc = hob_session_cancel(hob_room_session(room), HOB_QUEUED_RETURN, &err);
        hob_hub_leave(room);
    }
    if (rc < 0)
        hob_web_fail_hob(r, rc, &err);
    else
        hob_web_answer(r, 204, NULL, HOB_STR_NULL);
}

void hob_agui_route_capabilities(hob_web_request *r) {
    hob_buf b;
    const char *agent = hob_agui_agent_of(r);
    if (!agent) return;
    hob_buf_init(&b, 65536);
    hob_buf_addz(&b, "{\"identity\":{\"name\":");
    hob_json_quote(&b, *agent ? hob_str_z(agent) : HOB_STR("hob"));
    hob_buf_addf(&b, ",\"type\":\"hob\",\"version\":\"%s\"},", hob_version());
    hob_buf_addz(&b,
                 "\"transport\":{\"streaming\":true,\"resumable\":true,\"websocket\":false,"
                 "\"pushNotifications\":false,\"httpBinary\":true},"
                 "\"tools\":{\"supported\":true,\"clientProvided\":true,\"parallelCalls\":true},"
                 "\"state\":{\"snapshots\":true,\"deltas\":true,\"persistentState\":true},"
                 "\"reasoning\":{\"supported\":true,\"streaming\":true},"
                 "\"multimodal\":{\"input\":{\"image\":true}},"
                 "\"humanInTheLoop\":{\"supported\":true,\"approvals\":true,\"interrupts\":true,"
                 "\"approveWithEdits\":false}}");
    hob_web_answer_json(r, 200, hob_buf_str(&b));
    hob_buf_finish(&b);
}
