/*
 * api_views.c - what a session is: state, conversation, tree, tools, sub-agents; and what there is to choose from.
 *
 * What the store can say without opening the session is asked of the store, so that looking takes it from nobody.
 */
#include "serve/api.h"

#include <hob/artifact.h>
#include <hob/subagent.h>

/* ---- state ------------------------------------------------------------------------------------------------------------- */

static void answer_state(hob_web_request *r, const hob_state *s, const uint64_t *revision) {
    hob_str key = HOB_STR(""), value;
    hob_buf b;
    hob_jsonw w;
    hob_buf_init(&b, 160u << 20);
    hob_jsonw_init(&w, &b);
    hob_jsonw_object(&w);
    hob_jsonw_key(&w, "state");
    hob_jsonw_object(&w);
    while (hob_state_next(s, key, &key, &value)) {
        hob_jsonw_key_n(&w, key);
        hob_jsonw_raw(&w, value);
    }
    hob_jsonw_object_end(&w);
    hob_jsonw_key(&w, "revision");
    if (revision)
        hob_jsonw_int(&w, (int64_t)*revision);
    else
        hob_jsonw_null(&w);
    hob_jsonw_object_end(&w);
    if (b.err)
        hob_web_fail(r, 413, "too_large", "the state is too large to be sent");
    else
        hob_web_answer_json(r, 200, hob_buf_str(&b));
    hob_buf_finish(&b);
}

static void answer_room_state(hob_web_request *r, hob_room *room) {
    hob_state *s;
    uint64_t revision;
    hob_error err;
    int rc = hob_session_state(hob_room_session(room), &s, &revision, &err);
    if (rc < 0) {
        hob_web_fail_hob(r, rc, &err);
        return;
    }
    answer_state(r, s, &revision);
    hob_state_destroy(s);
}

void hob_api_state(hob_web_request *r) {
    hob_page *row;
    hob_state *s;
    hob_error err;
    if (!hob_api_find(r, &row)) return;
    hob_page_destroy(row);
    hob_room *room = hob_api_peek(r);
    if (room) {
        answer_room_state(r, room);
        hob_hub_leave(room);
        return;
    }
    const char *id = hob_api_z(r, hob_web_param(r, "id"));
    int rc = hob_runtime_session_state(hob_api_runtime(r), id, &s, &err);
    if (rc < 0) {
        hob_web_fail_hob(r, rc, &err);
        return;
    }
    answer_state(r, s, NULL);
    hob_state_destroy(s);
}

static bool take_change(hob_web_request *r, const hob_json *body, hob_str *delta,
                        hob_str *removed) {
    static const char *const known[] = {"delta", "removed", "revision", NULL};
    const hob_json *d = hob_json_get(body, "delta"), *x = hob_json_get(body, "removed");
    const hob_json *revision = hob_json_get(body, "revision");
    int64_t n;
    if (!hob_api_known(r, body, known)) return false;
    if ((d && !hob_json_is(d, HOB_JSON_OBJECT)) || (x && !hob_json_is(x, HOB_JSON_ARRAY)) ||
        (revision && (hob_json_int(revision, &n) < 0 || n < 0)) || (!d && !x)) {
        hob_web_fail(
            r, 400, "bad_request",
            "give \"delta\": an object of keys to set, or \"removed\": an array of keys, or "
            "both; \"revision\" is a number");
        return false;
    }
    *delta = hob_json_raw(d);
    *removed = hob_json_raw(x);
    return true;
}

void hob_api_state_change(hob_web_request *r) {
    const hob_json *body = hob_web_json(r);
    hob_str delta, removed;
    hob_error err;
    if (!body || !take_change(r, body, &delta, &removed)) return;
    hob_room *room = hob_api_open(r);
    if (!room) return;
    hob_session *s = hob_room_session(room);
    int64_t revision = hob_json_get_int(body, "revision", -1);
    int rc = revision < 0
                 ? hob_session_apply_state_delta(s, delta, removed, &err)
                 : hob_session_apply_state_delta_at(s, (uint64_t)revision, delta, removed, &err);
    if (rc < 0)
        hob_web_fail_hob(r, rc, &err);
    else
        answer_room_state(r, room);
    hob_hub_leave(room);
}

/* ---- the conversation ---------------------------------------------------------------------------------------------------- */

void hob_api_messages(hob_web_request *r) {
    hob_page *row, *page = NULL;
    hob_error err;
    if (!hob_api_find(r, &row)) return;
    hob_page_destroy(row);
    hob_room *room = hob_api_peek(r);
    int rc = room ? hob_session_history(hob_room_session(room), &page, &err)
                  : hob_runtime_history(hob_api_runtime(r), hob_api_z(r, hob_web_param(r, "id")),
                                        &page, &err);
    if (room) hob_hub_leave(room);
    hob_api_conclude(r, rc, "messages", page, &err);
}

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
    answer_rows(r, "entries", hob_session_tree);
}

void hob_api_tools(hob_web_request *r) {
    answer_rows(r, "tools", hob_session_tools);
}

void hob_api_commands(hob_web_request *r) {
    answer_rows(r, "commands", hob_session_commands);
}

/* ---- artifacts ------------------------------------------------------------------------------------------------------------ */

static hob_artifact_query artifact_query(hob_web_request *r, hob_tenant *of) {
    hob_artifact_query q = HOB_ARTIFACT_QUERY_INIT;
    *of = hob_api_tenant(r);
    q.session = hob_api_z(r, hob_web_param(r, "id"));
    q.of = of;
    return q;
}

void hob_api_artifacts(hob_web_request *r) {
    hob_tenant of;
    hob_artifact_query q = artifact_query(r, &of);
    hob_page *row, *page = NULL;
    hob_error err;
    int64_t limit;
    if (!hob_web_query_int(r, "limit", (hob_web_range){1, 1000, 50}, &limit)) return;
    if (!hob_api_find(r, &row)) return;
    hob_page_destroy(row);
    q.name = hob_web_query(r, "name");
    q.cursor = hob_api_z(r, hob_web_query(r, "cursor"));
    q.limit = (size_t)limit;
    int rc = hob_runtime_artifacts(hob_api_runtime(r), &q, &page, &err);
    hob_api_conclude(r, rc, "artifacts", page, &err);
}

/* Bytes that somebody made, with the type that they say they have: to be kept, never to be shown as a page of ours. */
void hob_api_artifact(hob_web_request *r) {
    hob_tenant of;
    hob_artifact_query q = artifact_query(r, &of);
    hob_artifact *a;
    hob_page *row;
    hob_error err;
    if (!hob_web_query_int(r, "version", (hob_web_range){0, INT64_MAX, HOB_ARTIFACT_NEWEST},
                           &q.version))
        return;
    if (!hob_api_find(r, &row)) return;
    hob_page_destroy(row);
    q.name = hob_web_query(r, "name").p ? hob_web_query(r, "name") : hob_web_param(r, "name");
    int rc = hob_runtime_artifact_load(hob_api_runtime(r), &q, &a, &err);
    if (rc < 0) {
        hob_web_fail_hob(r, rc, &err);
        return;
    }
    hob_web_answer_header(r, "Content-Disposition", HOB_STR("attachment"));
    hob_web_answer(r, 200, hob_api_z(r, hob_artifact_mime(a)), hob_artifact_bytes(a));
    hob_artifact_destroy(a);
}

/* ---- sub-agents ---------------------------------------------------------------------------------------------------------- */

/* While it is open here: what they do now. Otherwise: the sessions that they are. */
void hob_api_subagents(hob_web_request *r) {
    hob_page_opts o = HOB_PAGE_OPTS_INIT;
    hob_page *row, *page = NULL;
    hob_error err;
    if (!hob_api_find(r, &row)) return;
    hob_page_destroy(row);
    o.parent = hob_api_z(r, hob_web_param(r, "id"));
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
        hob_web_fail(r, 409, "HOB_EIDLE", "this sub-agent is not at work");
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
