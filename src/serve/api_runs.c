/*
 * api_runs.c - runs of a session: list, one, its events, stop, go on.
 */
#include "serve/api.h"

#include <stdio.h>

void hob_api_runs(hob_web_request *r) {
    hob_page_opts o = HOB_PAGE_OPTS_INIT;
    hob_page *page = NULL, *row;
    hob_error err;
    int64_t limit;
    if (!hob_web_query_int(r, "limit", (hob_web_range){1, 1000, 50}, &limit)) return;
    if (!hob_api_find(r, &row)) return;
    hob_page_destroy(row);
    o.limit = (size_t)limit;
    o.session = hob_api_z(r, hob_web_param(r, "id"));
    o.status = hob_api_z(r, hob_web_query(r, "status"));
    o.cursor = hob_api_z(r, hob_web_query(r, "cursor"));
    int rc = hob_runtime_runs(hob_api_runtime(r), &o, &page, &err);
    hob_api_conclude(r, rc, "runs", page, &err);
}

/* ---- one ------------------------------------------------------------------------------------------------------------ */

/* The row of the run of the path, if it is a run of the session of the path. */
static bool find_run(hob_web_request *r, hob_page **out) {
    const hob_caller *c = hob_web_caller(r);
    hob_str run = hob_web_param(r, "run"), id = hob_web_param(r, "id");
    hob_tenant of = HOB_TENANT_INIT;
    hob_page *row;
    char session[160];
    if (!hob_api_find(r, &row)) return false;
    hob_page_destroy(row);
    of.app_name = hob_api_z(r, c->tenant);
    of.user_id = hob_api_z(r, c->principal);
    int rc = hob_runtime_find_run(hob_api_runtime(r), hob_api_z(r, run), &of, out, NULL);
    if (rc >= 0) {
        hob_json_field(hob_page_row(*out, 0), "session", session, sizeof session);
        if (hob_str_eqz(id, session)) return true;
        hob_page_destroy(*out);
        rc = HOB_ENOENT;
    }
    hob_web_fail(r, rc == HOB_ENOENT ? 404 : 500, rc == HOB_ENOENT ? "HOB_ENOENT" : "HOB_ESTORE",
                 "there is no run %.*s in this session", HOB_FMT(run));
    return false;
}

void hob_api_run(hob_web_request *r) {
    hob_page *row;
    if (find_run(r, &row)) hob_api_answer_row(r, 200, row);
}

/* ---- its events ------------------------------------------------------------------------------------------------------- */

/* A run's id ends with the number of the event that began it. */
static uint64_t first_of(hob_str run) {
    size_t at = run.n;
    int64_t n = 0;
    while (at && run.p[at - 1] != '-') at--;
    hob_str_int(hob_str_skip(run, at), &n);
    return n > 0 ? (uint64_t)n - 1 : 0;
}

typedef struct gathering {
    hob_str run;
    uint64_t after;
    size_t limit, found;
    bool over;
    hob_buf out;
    hob_jsonw w;
} gathering;

static int take_event(gathering *g, hob_str line) {
    hob_event *e;
    int rc = hob_event_from_json(line, &e, NULL);
    if (rc < 0) return rc;
    g->after = hob_event_seq(e);
    if (hob_str_eq(hob_event_run(e), g->run)) {
        hob_jsonw_raw(&g->w, hob_event_json(e));
        g->found++;
        g->over = hob_event_type_of(e) == HOB_EVENT_RUN_FINISHED;
    }
    hob_event_unref(e);
    return rc;
}

/* Until the page is full, the run is over or the log ends. */
static int gather(hob_web_request *r, gathering *g, hob_error *err) {
    const char *id = hob_api_z(r, hob_web_param(r, "id"));
    bool more = true;
    int rc = HOB_OK;
    while (rc >= 0 && more && !g->over && g->found < g->limit) {
        hob_page *page;
        rc = hob_runtime_events(hob_api_runtime(r), id, g->after, 256, &page, err);
        if (rc < 0) break;
        more = hob_page_next(page).n > 0;
        size_t i = 0, n = hob_page_count(page);
        for (; rc >= 0 && i < n && !g->over && g->found < g->limit; i++)
            if ((rc = take_event(g, hob_page_row(page, i))) < 0)
                hob_fail(err, rc, 0, "an event cannot be read");
        more = more || i < n;
        hob_page_destroy(page);
    }
    g->over = g->over || !more;
    return rc;
}

void hob_api_run_events(hob_web_request *r) {
    gathering g = {.run = hob_web_param(r, "run")};
    hob_page *row;
    hob_error err;
    int64_t after, limit;
    if (!hob_web_query_int(r, "after", (hob_web_range){0, INT64_MAX, 0}, &after)) return;
    if (!hob_web_query_int(r, "limit", (hob_web_range){1, 1000, 200}, &limit)) return;
    if (!find_run(r, &row)) return;
    hob_page_destroy(row);
    g.after = HOB_MAX((uint64_t)after, first_of(g.run));
    g.limit = (size_t)limit;
    hob_buf_init(&g.out, 256u << 20);
    hob_jsonw_init(&g.w, &g.out);
    hob_jsonw_object(&g.w);
    hob_jsonw_key(&g.w, "events");
    hob_jsonw_array(&g.w);
    int rc = gather(r, &g, &err);
    hob_jsonw_array_end(&g.w);
    hob_jsonw_key(&g.w, "next");
    char next[24];
    snprintf(next, sizeof next, "%llu", (unsigned long long)g.after);
    if (g.over)
        hob_jsonw_null(&g.w);
    else
        hob_jsonw_str(&g.w, hob_str_z(next));
    hob_jsonw_object_end(&g.w);
    if (rc < 0)
        hob_web_fail_hob(r, rc, &err);
    else if (g.out.err)
        hob_web_fail(r, 413, "too_large", "the answer is too long: ask for less");
    else
        hob_web_answer_json(r, 200, hob_buf_str(&g.out));
    hob_buf_finish(&g.out);
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
    hob_web_fail(r, 409, "HOB_EIDLE", "the run is over: run %s came after it", run);
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
        hob_web_fail(r, 409, "HOB_EIDLE", "the run is over");
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
        int rc = hob_room_begin(room, hob_web_caller(r), &err);
        if (rc >= 0) {
            rc = hob_session_resume(hob_room_session(room), &err);
            if (rc < 0) hob_room_unbegin(room);
        }
        if (rc < 0)
            hob_web_fail_hob(r, rc, &err);
        else
            answer_run(r, room);
    }
    hob_hub_leave(room);
}
