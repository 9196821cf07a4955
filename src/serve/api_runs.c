/*
 * api_runs.c - runs of a session: list, one, its events, stop, go on.
 */
#include "serve/api.h"

#include <stdio.h>

void hob_api_runs(hob_web_request *r) {
    hob_page_opts o = HOB_PAGE_OPTS_INIT;
    hob_page *page = NULL;
    hob_error err;
    int64_t limit;
    if (!hob_web_query_int(r, "limit", (hob_web_range){1, 1000, 50}, &limit)) return;
    if (!hob_api_is_there(r)) return;
    o.limit = (size_t)limit;
    o.session = hob_api_z(r, hob_api_id(r));
    o.status = hob_api_z(r, hob_web_query(r, "status"));
    o.cursor = hob_api_z(r, hob_web_query(r, "cursor"));
    int rc = hob_runtime_runs(hob_api_runtime(r), &o, &page, &err);
    hob_api_conclude(r, rc, "runs", page, &err);
}

/* ---- one ------------------------------------------------------------------------------------------------------------ */

/* The row of the run of the path, if it is a run of the session of the path. */
static bool find_run(hob_web_request *r, hob_page **out) {
    hob_str run = hob_web_param(r, "run"), id = hob_api_id(r);
    hob_tenant of = hob_api_tenant(r);
    char session[160];
    if (!hob_api_is_there(r)) return false;
    int rc = hob_runtime_find_run(hob_api_runtime(r), hob_api_z(r, run), &of, out, NULL);
    if (rc >= 0) {
        hob_json_field(hob_page_row(*out, 0), "session", session, sizeof session);
        if (hob_str_eqz(id, session)) return true;
        hob_page_destroy(*out);
        rc = HOB_ENOENT;
    }
    hob_web_fail(r, rc == HOB_ENOENT ? 404 : 500, rc == HOB_ENOENT ? "not_found" : "store_failed",
                 "there is no run %.*s in this session", HOB_FMT(run));
    return false;
}

void hob_api_run(hob_web_request *r) {
    hob_tenant of = hob_api_tenant(r);
    hob_page *row;
    hob_error err;
    if (!find_run(r, &row)) return;
    hob_page_destroy(row);
    int rc = hob_runtime_run_result(hob_api_runtime(r), hob_api_z(r, hob_web_param(r, "run")), &of,
                                    &row, &err);
    if (rc < 0)
        hob_web_fail_hob(r, rc, &err);
    else
        hob_api_answer_row(r, 200, row);
}

/* ---- its events ------------------------------------------------------------------------------------------------------- */

void hob_api_run_events(hob_web_request *r) {
    hob_page *row, *page = NULL;
    hob_error err;
    int64_t after, limit;
    if (!hob_web_query_int(r, "after", (hob_web_range){0, INT64_MAX, 0}, &after)) return;
    if (!hob_web_query_int(r, "limit", (hob_web_range){1, 1000, 200}, &limit)) return;
    if (!find_run(r, &row)) return;
    hob_page_destroy(row);
    if (!hob_api_find(r, &row)) return;
    bool there = hob_api_check_cursor(r, row, after);
    hob_page_destroy(row);
    if (!there) return;
    const char *run = hob_api_z(r, hob_web_param(r, "run"));
    int rc = hob_runtime_run_events(hob_api_runtime(r), run, (uint64_t)after, (size_t)limit, &page,
                                    &err);
    hob_api_conclude(r, rc, "events", page, &err);
}

/* ---- stopping and going on ---------------------------------------------------------------------------------------------- */

/* Is it the run that the session has now? Otherwise that is answered: the run is over. */
static bool is_current(hob_web_request *r, hob_room *room, const char *word, bool *working) {
    hob_page *info;
    hob_error err;
    char run[80] = "", flag[8] = "";
    int rc = hob_session_info(hob_room_session(room), &info, &err);
    if (rc < 0) {
        hob_web_fail_hob(r, rc, &err);
        return false;
    }
    hob_json_field(hob_page_row(info, 0), "run_id", run, sizeof run);
    hob_json_field(hob_page_row(info, 0), word, flag, sizeof flag);
    hob_page_destroy(info);
    *working = !strcmp(flag, "true");
    if (hob_str_eqz(hob_web_param(r, "run"), run)) return true;
    hob_web_fail(r, 409, "idle", "the run is over: run %s came after it", run);
    return false;
}

static hob_room *open_for_run(hob_web_request *r) {
    hob_page *row;
    if (!find_run(r, &row)) return NULL;
    hob_page_destroy(row);
    hob_web_note(r, "run_id", hob_web_param(r, "run"));
    return hob_api_open(r);
}

static void cancel(hob_web_request *r, hob_room *room) {
    hob_error err;
    bool working, left;
    if (!is_current(r, room, "running", &working)) return;
    if (!is_current(r, room, "unfinished", &left)) return;
    if (!working && !left) {
        hob_web_fail(r, 409, "idle", "the run is over");
        return;
    }
    int rc = hob_session_cancel(hob_room_session(room), HOB_QUEUED_RETURN, &err);
    if (rc < 0)
        hob_web_fail_hob(r, rc, &err);
    else
        hob_web_answer(r, 204, NULL, HOB_STR_NULL);
}

void hob_api_run_cancel(hob_web_request *r) {
    hob_room *room = open_for_run(r);
    if (!room) return;
    cancel(r, room);
    hob_hub_leave(room);
}

void hob_api_run_pause(hob_web_request *r) {
    hob_room *room = open_for_run(r);
    hob_error err;
    bool working;
    if (!room) return;
    if (is_current(r, room, "running", &working)) {
        int rc = hob_session_pause(hob_room_session(room), &err);
        if (rc < 0)
            hob_web_fail_hob(r, rc, &err);
        else
            hob_web_answer(r, 204, NULL, HOB_STR_NULL);
    }
    hob_hub_leave(room);
}

static void answer_run(hob_web_request *r, hob_room *room) {
    hob_page *info;
    hob_error err;
    char run[80] = "";
    hob_buf b;
    hob_jsonw w;
    int rc = hob_session_info(hob_room_session(room), &info, &err);
    if (rc < 0) {
        hob_web_fail_hob(r, rc, &err);
        return;
    }
    hob_json_field(hob_page_row(info, 0), "run_id", run, sizeof run);
    hob_page_destroy(info);
    hob_buf_init(&b, 1024);
    hob_jsonw_init(&w, &b);
    hob_jsonw_object(&w);
    hob_jsonw_kstr(&w, "run_id", hob_str_z(run));
    hob_jsonw_object_end(&w);
    hob_web_answer_json(r, 202, hob_buf_str(&b));
    hob_buf_finish(&b);
}

void hob_api_run_resume(hob_web_request *r) {
    hob_room *room = open_for_run(r);
    hob_error err;
    bool left;
    if (!room) return;
    if (is_current(r, room, "unfinished", &left)) {
        int rc = hob_room_go_on(room, hob_web_caller(r), &err);
        if (rc >= 0) {
            rc = hob_session_resume(hob_room_session(room), &err);
            hob_room_begun(room, rc);
        }
        if (rc < 0)
            hob_web_fail_hob(r, rc, &err);
        else
            answer_run(r, room);
    }
    hob_hub_leave(room);
}
