/*
 * task_list.c - sub-agents as rows: what the log says of them, and what those at work do now.
 */
#include "session/task.h"

#include <hob/subagent.h>

enum { TAIL = 200 }; /* bytes of the newest text */

typedef struct listing {
    hob_op op;
    hob_page *page;
    hob_str id; /* "" = all */
    bool pending;
} listing;

/* ---- live ---------------------------------------------------------------------------------------------------- */

static void write_tool(const hob_session *s, hob_jsonw *w) {
    HOB_LIST_EACH (it, &s->strands) {
        const hob_run *r = HOB_CONTAINER(it, hob_strand, link)->run;
        for (size_t i = 0; i < r->ncalls && r->phase == HOB_PHASE_TOOLS; i++) {
            if (r->calls[i].state != HOB_CALL_STARTED) continue;
            hob_jsonw_kstr(w, "tool", r->calls[i].name);
            return;
        }
    }
}

/* The end of what is being said, else of what was said last. */
static void write_text(hob_session *s, hob_jsonw *w) {
    const hob_answer *a = s->own.answer;
    hob_str text = HOB_STR_NULL;
    hob_result *r = NULL;
    for (size_t i = 0; a && i < a->nblocks; i++)
        if (a->blocks[i].kind == HOB_BLOCK_TEXT) text = hob_buf_str(&a->blocks[i].text);
    if (!text.n) text = hob_result_text(r = hob_session_result(s));
    size_t n = hob_utf8_suffix(text, TAIL);
    hob_jsonw_kstr_opt(w, "text", hob_str_skip(text, text.n - n));
    hob_result_destroy(r);
}

static void write_live(hob_session *s, hob_jsonw *w) {
    const hob_spent *spent = &s->run.spent;
    hob_jsonw_kint(w, "turns", spent->turns);
    hob_jsonw_kint(w, "tool_calls", spent->tool_calls);
    hob_usage_write(w, "usage", &spent->usage);
    hob_jsonw_kint(w, "tokens", hob_usage_total(&spent->usage));
    write_tool(s, w);
    write_text(s, w);
}

static void write_past(const hob_kid *k, hob_jsonw *w) {
    hob_jsonw_kint(w, "turns", k->turns);
    hob_jsonw_kint(w, "tool_calls", k->tool_calls);
    hob_usage_write(w, "usage", &k->usage);
    hob_jsonw_key(w, "cost_usd");
    if (k->cost_known)
        hob_jsonw_double(w, k->cost_usd);
    else
        hob_jsonw_null(w);
    hob_jsonw_kstr_opt(w, "text", hob_str_z(k->text));
}

/* ---- rows ----------------------------------------------------------------------------------------------------- */

static const char *status_of(const hob_session *s, const hob_kid *k, const hob_task *t) {
    if (!k->open) return k->status;
    if (hob_tracked_cancelled(s, hob_str_z(k->id)) || (t && t->stopping)) return "cancelled";
    if (k->host && !hob_tracked_find(s, hob_str_z(k->id))) return "interrupted";
    return k->nasks ? "parked" : "running";
}

static void write_time(hob_jsonw *w, const char *key, int64_t ms) {
    char t[25];
    if (ms <= 0) return;
    hob_time_format(ms, t);
    hob_jsonw_kstr(w, key, hob_str_n(t, 24));
}

static void add_row(hob_session *s, const hob_kid *k, hob_page *page) {
    const hob_task *t = hob_task_find(s, hob_str_z(k->id));
    hob_buf b;
    hob_jsonw w;
    hob_buf_init(&b, 1u << 20);
    hob_jsonw_init(&w, &b);
    hob_jsonw_object(&w);
    hob_jsonw_kstr(&w, "id", hob_str_z(k->id));
    hob_jsonw_kstr(&w, "agent", hob_str_z(k->agent));
    hob_jsonw_kstr(&w, "status", hob_str_z(status_of(s, k, t)));
    hob_jsonw_kstr(&w, "prompt", hob_str_z(k->prompt));
    hob_jsonw_kint(&w, "depth", k->depth);
    hob_jsonw_kbool(&w, "background", k->background);
    hob_jsonw_kstr_opt(&w, "call", hob_str_z(k->call));
    write_time(&w, "started", k->started_ts);
    write_time(&w, "finished", k->open ? 0 : k->ended_ts);
    if (k->open && t && t->s)
        write_live(t->s, &w);
    else
        write_past(k, &w);
    hob_tracked_write_remarks(s, hob_str_z(k->id), &w);
    hob_jsonw_object_end(&w);
    hob_page_add(page, hob_buf_str(&b));
    hob_buf_finish(&b);
}

static bool is_wanted(const hob_session *s, const listing *l, const hob_kid *k) {
    if (l->id.n) return hob_str_eqz(l->id, k->id);
    if (k->orphan) return false;
    const hob_task *t = hob_task_find((hob_session *)s, hob_str_z(k->id));
    const char *status = status_of(s, k, t);
    return !l->pending || !strcmp(status, "running") || !strcmp(status, "parked");
}

static void start(hob_op *op) {
    listing *l = HOB_CONTAINER(op, listing, op);
    const hob_kids *kids = &op->s->view->kids;
    for (size_t i = 0; i < kids->n; i++)
        if (is_wanted(op->s, l, kids->at[i])) add_row(op->s, kids->at[i], l->page);
    hob_error err;
    int rc = HOB_OK;
    if (l->id.n && !hob_page_count(l->page))
        rc = hob_fail(&err, HOB_ENOENT, 0, "this session has no sub-agent %.*s", HOB_FMT(l->id));
    hob_op_done(op, rc, &err);
}

static int list(hob_session *s, listing *l, hob_page **out, hob_error *err) {
    l->op.start = start;
    l->page = hob_page_create();
    int rc = hob_session_run(s, &l->op, err);
    if (rc < 0)
        hob_page_destroy(l->page);
    else
        *out = l->page;
    return rc;
}

int hob_session_subagent_tasks(hob_session *s, hob_page **out, hob_error *err) {
    listing l = {.pending = false};
    return list(s, &l, out, err);
}

int hob_session_pending_subagent_tasks(hob_session *s, hob_page **out, hob_error *err) {
    listing l = {.pending = true};
    return list(s, &l, out, err);
}

int hob_session_subagent_task(hob_session *s, hob_str id, hob_page **out, hob_error *err) {
    listing l = {.id = id};
    if (!id.n) return hob_fail(err, HOB_EINVAL, 0, "which sub-agent? give its id");
    return list(s, &l, out, err);
}

/* ---- stopping one ------------------------------------------------------------------------------------------------ */

static void start_cancel(hob_op *op) {
    hob_str id = HOB_CONTAINER(op, listing, op)->id;
    hob_task *t = hob_task_find(op->s, id);
    bool told = t && !t->stopping && t->stage != HOB_TASK_ENDED;
    if (told) hob_task_stop(t, HOB_ENDING_CANCEL);
    if (!t) told = hob_tracked_cancel(op->s, id);
    hob_op_done(op, told, NULL);
}

int hob_session_cancel_subagent_task(hob_session *s, hob_str id, hob_error *err) {
    listing l = {.op = {.start = start_cancel}, .id = id};
    return hob_session_run(s, &l.op, err);
}
