/*
 * turns.c - requests and workers: whose turn it is.
 *
 * Handlers may block, and workers are few. So a caller has at most half of them at a time, if there are other callers; its
 * further requests wait here, behind each other and in nobody's way, until one of its own is done.
 */
#include "serve/web.h"

enum { WAITING = 256 }; /* requests of one caller */

static unsigned most_at_once(const hob_web *w) {
    return hob_callers_count(w->server->callers) > 1 ? HOB_MAX(w->nworkers / 2, 1u) : UINT32_MAX;
}

static void run_handler(hob_work *work) {
    hob_web_request *r = HOB_CONTAINER(work, hob_web_request, work);
    r->route->handle(r);
}

/* Its answer can go out; a client that is gone gets none. */
static void end_turn(hob_web_request *r) {
    r->web->nworking--;
    r->done = true;
    if (r->conn) {
        hob_conn_run(r->conn);
        return;
    }
    hob_web_log_request(r);
    hob_request_destroy(r);
}

static bool refuse(hob_web_request *r, int status, const char *code, int waiting) {
    hob_web_answer_header(r, "Retry-After", HOB_STR("1"));
    hob_web_fail(r, status, code, "%d requests are waiting already; try again in a moment",
                 waiting);
    return false;
}

static void on_handled(hob_work *work);

static bool begin_turn(hob_web_request *r) {
    hob_web *w = r->web;
    r->work = (hob_work){.work = run_handler, .done = on_handled};
    if (hob_pool_submit(w->pool, w->loop, &r->work) < 0)
        return refuse(r, 503, "overloaded", HOB_WEB_QUEUE);
    if (r->caller) hob_caller_turns(r->caller)->working++;
    return true;
}

/* One of these turns is free: the next request that waits for one. */
static void call_next(hob_web *w, hob_caller_turn *turns) {
    if (!turns->waiting || w->over) return;
    HOB_LIST_EACH_SAFE (it, &w->waiting) {
        hob_web_request *r = HOB_CONTAINER(it, hob_web_request, waiting);
        if (hob_caller_turns(r->caller) != turns) continue;
        hob_list_remove(&r->waiting);
        turns->waiting--;
        if (begin_turn(r)) return;
        end_turn(r);
    }
}

static void on_handled(hob_work *work) {
    hob_web_request *r = HOB_CONTAINER(work, hob_web_request, work);
    hob_web *w = r->web;
    if (r->caller) {
        hob_caller_turns(r->caller)->working--;
        call_next(w, hob_caller_turns(r->caller));
    }
    end_turn(r);
}

bool hob_web_dispatch(hob_web_request *r) {
    hob_web *w = r->web;
    hob_caller_turn *turns = r->caller ? hob_caller_turns(r->caller) : NULL;
    if (!turns || turns->working < most_at_once(w)) {
        if (!begin_turn(r)) return false;
    } else if (turns->waiting >= WAITING) {
        return refuse(r, 429, "limit", WAITING);
    } else {
        turns->waiting++;
        hob_list_push(&w->waiting, &r->waiting);
    }
    w->nworking++;
    return true;
}

void hob_web_drop_waiting(hob_web *w) {
    w->over = true;
    HOB_LIST_EACH_SAFE (it, &w->waiting) {
        hob_web_request *r = HOB_CONTAINER(it, hob_web_request, waiting);
        hob_list_remove(&r->waiting);
        hob_request_destroy(r);
    }
}
