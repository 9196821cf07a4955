/*
 * api_views.c - what a session is: conversation, tree, tools, sub-agents; and what there is to choose from.
 *
 * What the store can say without opening the session is asked of the store, so that looking takes it from nobody.
 */
#include "serve/api.h"

#include <hob/subagent.h>

/* ---- the conversation ---------------------------------------------------------------------------------------------------- */

/* What only an open session knows. */
typedef int (*rows_fn)(hob_session *s, hob_page **out, hob_error *err);

static void answer_rows(hob_web_request *r, const char *key, rows_fn fn) {
    hob_page *page = NULL;
    hob_error err;
    hob_room *room = hob_api_open(r);
    if (!room) return;
    int rc = fn(hob_room_session(room), &page, &err);
    hob_hub_leave(room);
    hob_api_conclude(r, rc, key, page, &err);
}

void hob_api_tree(hob_web_request *r) {
    hob_page *page = NULL;
    hob_error err;
    if (!hob_api_is_there(r)) return;
    hob_room *room = hob_api_peek(r);
    int rc = room ? hob_session_tree(hob_room_session(room), &page, &err)
                  : hob_runtime_tree(hob_api_runtime(r), hob_api_z(r, hob_api_id(r)), &page, &err);
    if (room) hob_hub_leave(room);
    hob_api_conclude(r, rc, "entries", page, &err);
}

void hob_api_tools(hob_web_request *r) {
    answer_rows(r, "tools", hob_session_tools);
}

void hob_api_commands(hob_web_request *r) {
    answer_rows(r, "commands", hob_session_commands);
}

/* ---- sub-agents ---------------------------------------------------------------------------------------------------------- */

/* While it is open here: what they do now. Otherwise: the sessions that they are. */
void hob_api_subagents(hob_web_request *r) {
    hob_page_opts o = HOB_PAGE_OPTS_INIT;
    hob_page *page = NULL;
    hob_error err;
    if (!hob_api_is_there(r)) return;
    o.parent = hob_api_z(r, hob_api_id(r));
    o.limit = 1000;
    hob_room *room = hob_api_peek(r);
    int rc = room ? hob_session_subagent_tasks(hob_room_session(room), &page, &err)
                  : hob_runtime_sessions(hob_api_runtime(r), &o, &page, &err);
    if (room) hob_hub_leave(room);
    hob_api_conclude(r, rc, "subagents", page, &err);
}

void hob_api_subagent_cancel(hob_web_request *r) {
    hob_error err;
    hob_page *task;
    hob_str child = hob_web_param(r, "child");
    hob_room *room = hob_api_open(r);
    if (!room) return;
    hob_session *s = hob_room_session(room);
    int rc = hob_session_subagent_task(s, child, &task, &err);
    if (rc >= 0) {
        hob_page_destroy(task);
        rc = hob_session_cancel_subagent_task(s, child, &err);
    }
    hob_hub_leave(room);
    if (rc < 0)
        hob_web_fail_hob(r, rc, &err);
    else if (rc == 0)
        hob_web_fail(r, 409, "idle", "this sub-agent is not at work");
    else
        hob_web_answer(r, 204, NULL, HOB_STR_NULL);
}

/* ---- what there is --------------------------------------------------------------------------------------------------------- */

void hob_api_models(hob_web_request *r) {
    hob_page *page = NULL;
    hob_error err;
    int rc = hob_runtime_models(hob_api_runtime(r), &page, &err);
    hob_api_conclude(r, rc, "models", page, &err);
}

static void write_agent(hob_jsonw *w, const hob_definition *x) {
    hob_jsonw_object(w);
    hob_jsonw_kstr(w, "name", x->name);
    hob_jsonw_kstr(w, "description", x->description);
    hob_jsonw_kstr_opt(w, "model", x->model);
    hob_jsonw_kstr_opt(w, "workflow", x->workflow);
    hob_jsonw_object_end(w);
}

void hob_api_agents(hob_web_request *r) {
    const hob_definitions *d = hob_web_server(r)->definitions;
    hob_buf b;
    hob_jsonw w;
    hob_buf_init(&b, 16u << 20);
    hob_jsonw_init(&w, &b);
    hob_jsonw_object(&w);
    hob_jsonw_key(&w, "agents");
    hob_jsonw_array(&w);
    for (size_t i = 0; d && i < hob_definitions_count(d); i++) {
        const hob_definition *x = hob_definitions_at(d, i);
        if (x->kind == HOB_DEFINITION_AGENT && x->state == HOB_DEFINITION_LIVE) write_agent(&w, x);
    }
    hob_jsonw_array_end(&w);
    hob_jsonw_object_end(&w);
    hob_web_answer_json(r, 200, hob_buf_str(&b));
    hob_buf_finish(&b);
}
